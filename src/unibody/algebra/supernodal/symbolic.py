"""Symbolic factorisation: which numbers of L are not zero, and in which dense fronts they are computed.

Nodes are eliminated in an order. The *elimination tree* (Liu 1986) has the first node below v in column v of L as its parent; node k stands
in row i of L exactly if k lies on a path from a neighbour of i, up the tree, to i. Counted so, columns whose structure is that of their
parent and the parent itself become one *supernode*; a supernode whose merging with its parent adds few zeros does too (relaxed
amalgamation, with the bounds of CHOLMOD). The columns of a supernode are contiguous in the final order, and children come before parents.

    rows(s) = columns(s) ∪ (⋃ neighbours of columns(s) ∪ ⋃_{children c} rows(c)),   above its columns

Everything here counts nodes and their widths; `plan` expands them into unknowns.
"""

from __future__ import annotations

from unibody.kernel import Ints, kernel

ALWAYS, OFTEN, SELDOM = 4, 16, 48
"""Columns of a merged supernode up to which zeros do not count, may be 80 % and 10 % of its numbers; 5 % beyond."""


@kernel
def eliminate(start: Ints, neighbours: Ints, order: Ints, rank_out: Ints, ancestor_out: Ints, parent_out: Ints) -> None:
    """The elimination tree over places in the order: parent[k], −1 of roots. `rank` becomes the place of every node."""
    n = order.size
    for k in range(n):
        rank_out[order[k]] = k
    for k in range(n):
        parent_out[k] = -1
        ancestor_out[k] = -1
        for e in range(start[order[k]], start[order[k] + 1]):
            i = rank_out[neighbours[e]]
            # up to the root of the tree that i is in, which becomes a child of k; paths get shorter on the way
            while i < k:
                above = ancestor_out[i]
                ancestor_out[i] = k
                if above < 0:
                    parent_out[i] = k
                    break
                i = above


@kernel
def postorder(parent: Ints, child_out: Ints, sibling_out: Ints, stack_out: Ints, post_out: Ints) -> None:
    """Places of a forest such that every subtree is contiguous and ends with its root; children by their numbers."""
    n = parent.size
    for k in range(n):
        child_out[k] = -1
    for k in range(n - 1, -1, -1):
        if parent[k] >= 0:
            sibling_out[k] = child_out[parent[k]]
            child_out[parent[k]] = k
    count = 0
    for root in range(n):
        if parent[root] >= 0:
            continue
        depth = 1
        stack_out[0] = root
        while depth > 0:
            k = stack_out[depth - 1]
            if child_out[k] >= 0:
                stack_out[depth] = child_out[k]
                child_out[k] = sibling_out[child_out[k]]
                depth += 1
            else:
                post_out[count] = k
                count += 1
                depth -= 1


@kernel
def count_rows(
    start: Ints, neighbours: Ints, weights: Ints, order: Ints, rank: Ints, parent: Ints, mark_out: Ints, nodes_out: Ints, rows_out: Ints
) -> None:
    """Nodes and their widths in every column of L, the diagonal among them."""
    for k in range(order.size):
        mark_out[k] = -1
        nodes_out[k] = 1
        rows_out[k] = weights[order[k]]
    for k in range(order.size):
        mark_out[k] = k
        for e in range(start[order[k]], start[order[k] + 1]):
            i = rank[neighbours[e]]
            while i < k and mark_out[i] != k:
                mark_out[i] = k
                nodes_out[i] += 1
                rows_out[i] += weights[order[k]]
                i = parent[i]


@kernel
def find_supernodes(
    weights: Ints, order: Ints, parent: Ints, nodes: Ints, rows: Ints, of_out: Ints, width_out: Ints, height_out: Ints, above_out: Ints,
) -> int:  # fmt: skip
    """Supernodes of a postordered tree: that of every column; their columns and rows in unknowns, and their parents. Their number."""
    n, count = order.size, 0
    for k in range(n):
        if k == 0 or parent[k - 1] != k or nodes[k - 1] != nodes[k] + 1:
            width_out[count] = 0
            height_out[count] = rows[k]
            count += 1
        of_out[k] = count - 1
        width_out[count - 1] += weights[order[k]]
    for k in range(n):
        above_out[of_out[k]] = of_out[parent[k]] if parent[k] >= 0 else -1
    return count


@kernel
def amalgamate(count: int, above: Ints, zeros_out: Ints, width_out: Ints, height_out: Ints, into_out: Ints) -> None:
    """into[s]: the supernode that s is merged into (its parent, or s itself). Children are tried from the last to the first; numbers of
    a merged one stand at the parent."""
    for s in range(count):
        into_out[s] = s
        zeros_out[s] = 0
    # a parent has a higher number than its children, so all that is below s is settled when s is tried
    for s in range(count):
        p = above[s]
        if p < 0:
            continue
        width = width_out[s] + width_out[p]
        height = width_out[s] + height_out[p]
        zeros = zeros_out[s] + zeros_out[p] + width_out[s] * (height - height_out[s])
        size = width * height
        share = 1.0 if width <= ALWAYS else 0.8 if width <= OFTEN else 0.1 if width <= SELDOM else 0.05
        if zeros <= share * size:
            into_out[s] = p
            width_out[p] = width
            height_out[p] = height
            zeros_out[p] = zeros


@kernel
def gather_rows(
    start: Ints, neighbours: Ints, order: Ints, rank: Ints, first_node: Ints, above: Ints, row_first: Ints, child_out: Ints,
    sibling_out: Ints, mark_out: Ints, rows_out: Ints,
) -> int:  # fmt: skip
    """Places of the nodes below the columns of every supernode, ascending, at rows[row_first[s] : row_first[s + 1]]; −1, or a supernode
    for which that was the wrong size. Columns of s are the places first_node[s] … first_node[s + 1]."""
    count = first_node.size - 1
    for s in range(count):
        child_out[s] = -1
    for k in range(order.size):
        mark_out[k] = -1
    for s in range(count):
        at = row_first[s]
        end = first_node[s + 1]
        # neighbours of its columns
        for k in range(first_node[s], end):
            for e in range(start[order[k]], start[order[k] + 1]):
                i = rank[neighbours[e]]
                if i >= end and mark_out[i] != s:
                    mark_out[i] = s
                    if at >= row_first[s + 1]:
                        return s
                    rows_out[at] = i
                    at += 1
        # rows of its children
        c = child_out[s]
        while c >= 0:
            for k in range(row_first[c], row_first[c + 1]):
                i = rows_out[k]
                if i >= end and mark_out[i] != s:
                    mark_out[i] = s
                    if at >= row_first[s + 1]:
                        return s
                    rows_out[at] = i
                    at += 1
            c = sibling_out[c]
        if at != row_first[s + 1]:
            return s
        # ascending, as parents look for them; then it is a child itself
        rows_out[row_first[s] : at].sort()
        if above[s] >= 0:
            sibling_out[s] = child_out[above[s]]
            child_out[above[s]] = s
    return -1
