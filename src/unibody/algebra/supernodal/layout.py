"""Supernodes in unknowns: where rows of a front stand in that of its parent, and where the entries of the matrix go."""

from __future__ import annotations

from unibody.algebra.supernodal.front import front_stride
from unibody.kernel import Ints, kernel


@kernel
def expand_rows(offset: Ints, row_first: Ints, rows: Ints, lower_first_out: Ints, lower_out: Ints) -> None:
    """Unknowns of the nodes at rows[row_first[s] : row_first[s + 1]]; a node at place k has offset[k] … offset[k + 1]."""
    count = 0
    for s in range(row_first.size - 1):
        lower_first_out[s] = count
        for k in range(row_first[s], row_first[s + 1]):
            for i in range(offset[rows[k]], offset[rows[k] + 1]):
                lower_out[count] = i
                count += 1
    lower_first_out[row_first.size - 1] = count


@kernel
def place_in_parent(above: Ints, column_first: Ints, lower_first: Ints, lower: Ints, relative_out: Ints) -> None:
    """For every row below the columns of a supernode its row in the front of the parent."""
    for s in range(above.size):
        p = above[s]
        if p < 0:
            continue
        low = column_first[p]
        width = column_first[p + 1] - low
        at = lower_first[p]
        for k in range(lower_first[s], lower_first[s + 1]):
            if lower[k] < low + width:
                relative_out[k] = lower[k] - low
            else:
                while lower[at] != lower[k]:
                    at += 1
                relative_out[k] = width + at - lower_first[p]


@kernel
def place_entries(
    rows: Ints, columns: Ints, place: Ints, supernode: Ints, column_first: Ints, lower_first: Ints, lower: Ints, local_out: Ints,
    entry_first_out: Ints, source_out: Ints, target_out: Ints,
) -> None:  # fmt: skip
    """Entries source[entry_first[s] : entry_first[s + 1]] of the matrix go to the places `target` of the front of s."""
    count = column_first.size - 1
    for s in range(count + 1):
        entry_first_out[s] = 0
    for e in range(rows.size):
        entry_first_out[supernode[min(place[rows[e]], place[columns[e]])] + 1] += 1
    for s in range(count):
        entry_first_out[s + 1] += entry_first_out[s]
    # entries of each supernode together, in the order in which they are given
    for s in range(count):
        local_out[s] = entry_first_out[s]
    for e in range(rows.size):
        s = supernode[min(place[rows[e]], place[columns[e]])]
        source_out[local_out[s]] = e
        local_out[s] += 1
    # row and column in the front
    for s in range(count):
        low = column_first[s]
        width = column_first[s + 1] - low
        for k in range(lower_first[s], lower_first[s + 1]):
            local_out[lower[k]] = width + k - lower_first[s]
        stride = front_stride(width + lower_first[s + 1] - lower_first[s])
        for k in range(entry_first_out[s], entry_first_out[s + 1]):
            a = place[rows[source_out[k]]]
            b = place[columns[source_out[k]]]
            far = max(a, b)
            row = far - low if far < low + width else local_out[far]
            target_out[k] = row + stride * (min(a, b) - low)


@kernel
def place_updates(above: Ints, child: Ints, sibling: Ints, lower_first: Ints, update_at_out: Ints) -> int:
    """Where the update of each supernode lies on a stack, over those of its children, whose place it takes; the height of the stack."""
    top = 0
    highest = 0
    for s in range(above.size):
        c = child[s]
        while c >= 0:
            top = min(top, update_at_out[c])
            c = sibling[c]
        update_at_out[s] = top
        m = lower_first[s + 1] - lower_first[s]
        top += m * (m + 1) // 2
        highest = max(highest, top)
    return highest
