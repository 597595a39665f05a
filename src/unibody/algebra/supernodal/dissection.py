"""Geometric nested dissection (George, 1973): an order of elimination from positions of the nodes of a graph.

A set of nodes is cut at the median of one coordinate. The nodes of one half with a neighbour in the other *separate* the two: they come
last, and the halves before them are cut in the same way, so that nothing couples them but their separators. Of the axes along which the set
is long and of the two halves the cut with the lightest separator is taken. Where positions tie, the lower number goes first: the order
depends on nothing but the arguments.
"""

from __future__ import annotations

from unibody.kernel import Floats, Ints, device, kernel

LEAF = 4
"""Nodes that are left in the order of their numbers."""
LONG = 0.7
"""An axis is tried if the set is at least so long along it, as a part of its longest one."""


@device
def before(positions, axis, a, b):
    """Whether node a comes before node b along an axis."""
    x, y = positions[3 * a + axis], positions[3 * b + axis]
    return x < y or (x == y and a < b)


@device
def select(positions, axis, low, high, middle, order_out):
    """Reorder order[low : high] so that the nodes before place `middle` are those that come first along the axis (quickselect)."""
    while high - low > 1:
        pivot = order_out[(low + high) // 2]
        i = low
        j = high - 1
        while i <= j:
            while before(positions, axis, order_out[i], pivot):
                i += 1
            while before(positions, axis, pivot, order_out[j]):
                j -= 1
            if i <= j:
                order_out[i], order_out[j] = order_out[j], order_out[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j + 1
        elif middle >= i:
            low = i
        else:
            return


@device
def extent(positions, axis, low, high, order):
    """How long a set of nodes is along an axis."""
    least = positions[3 * order[low] + axis]
    most = least
    for k in range(low + 1, high):
        x = positions[3 * order[k] + axis]
        least = min(least, x)
        most = max(most, x)
    return most - least


@device
def boundary_weight(start, neighbours, weights, side, own, other, low, high, order):
    """The weight of the nodes of order[low : high], on side `own`, that have a neighbour on side `other`."""
    total = 0
    for k in range(low, high):
        v = order[k]
        for e in range(start[v], start[v + 1]):
            if side[neighbours[e]] == other:
                total += weights[v]
                break
    return total


@kernel
def dissect(
    start: Ints, neighbours: Ints, weights: Ints, positions: Floats, side_out: Ints, stack_out: Ints, aside_out: Ints, order_out: Ints
) -> None:
    """The order of elimination of nodes at positions (3 each) with neighbours[start[v] : start[v + 1]]. Scratch: `side` and `aside` as many
    as nodes, `stack` twice as many."""
    n = order_out.size
    for v in range(n):
        order_out[v] = v
        side_out[v] = -1
    stack_out[0] = 0
    stack_out[1] = n
    depth = 1
    stamp = 0
    while depth > 0:
        depth -= 1
        low = stack_out[2 * depth]
        high = stack_out[2 * depth + 1]
        if high - low <= LEAF:
            continue
        middle = (low + high) // 2
        longest = 0.0
        for axis in range(3):
            longest = max(longest, extent(positions, axis, low, high, order_out))
        # the lightest separator over axes and halves; 2 axis + half names it
        best = -1
        lightest = 0
        last = -1
        for axis in range(3):
            if extent(positions, axis, low, high, order_out) < LONG * longest:
                continue
            select(positions, axis, low, high, middle, order_out)
            last = axis
            stamp += 2
            for k in range(low, high):
                side_out[order_out[k]] = stamp + (1 if k >= middle else 0)
            left = boundary_weight(start, neighbours, weights, side_out, stamp, stamp + 1, low, middle, order_out)
            right = boundary_weight(start, neighbours, weights, side_out, stamp + 1, stamp, middle, high, order_out)
            if best < 0 or min(left, right) < lightest:
                best = 2 * axis + (1 if right < left else 0)
                lightest = min(left, right)
        # back to that cut, if another one was made after it
        if best // 2 != last:
            select(positions, best // 2, low, high, middle, order_out)
            stamp += 2
            for k in range(low, high):
                side_out[order_out[k]] = stamp + (1 if k >= middle else 0)
        # the separator goes last; a half keeps what is left of it
        own = stamp + best % 2
        count = 0
        place = low
        first = 0
        for k in range(low, high):
            v = order_out[k]
            cut = False
            if side_out[v] == own:
                for e in range(start[v], start[v + 1]):
                    cut = cut or side_out[neighbours[e]] == stamp + 1 - best % 2
            if cut:
                aside_out[count] = v
                count += 1
            else:
                order_out[place] = v
                place += 1
                first += 1 if side_out[v] == stamp else 0
        for k in range(count):
            order_out[place + k] = aside_out[k]
        # halves of a set that is not connected further, or all separator, still get shorter
        stack_out[2 * depth] = low
        stack_out[2 * depth + 1] = low + first
        stack_out[2 * depth + 2] = low + first
        stack_out[2 * depth + 3] = place
        depth += 2
