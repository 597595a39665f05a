"""What the tree factorisations need to know of a forest's topology, computed once."""

from __future__ import annotations

import numpy as np

from unibody.kernel import Ints


def make_plan(parent: Ints, sizes: Ints) -> Ints:
    """Per body where its run of `sizes[i]` numbers starts in the factor, and its role; then the factor's length.

    The role is 1 for a body that has children, plus 2 for the body whose joint is the first of its parent's to be eliminated:
    that one starts the parent's sums from the parent's own M and f, so that no sum needs to be cleared.
    """
    n = parent.size
    plan = np.zeros(2 * n + 1, np.int64)
    plan[2::2] = np.cumsum(sizes)
    last_child = np.full(n + 1, -1)
    np.maximum.at(last_child, parent, np.arange(n))
    plan[1::2] += last_child[:n] >= 0
    plan[1::2] += 2 * ((parent >= 0) & (last_child[parent] == np.arange(n)))
    return plan


def gathering_places(parent: Ints) -> tuple[Ints, Ints, Ints, Ints, int]:
    """Where bodies that are eliminated from the last to the first add up what their children leave them.

    Per body the place where it gathers (0 if it has no children) and the one of its parent, where it adds (0, which nobody reads, if
    it has none); whether it is the first and whether it is the last child to come; then the number of places. A place is free for
    another body as soon as its own is eliminated, and the place that was freed last is taken first, because it is still in the cache.
    """
    n = parent.size
    gathers, adds_to, first, last = [0] * n, [0] * n, [1] * n, [0] * n
    latest = [-1] * n
    free: list[int] = []
    places = 1
    for i, p in zip(range(n - 1, -1, -1), parent[::-1].tolist(), strict=True):
        if gathers[i]:
            free.append(gathers[i])
            last[latest[i]] = 1
        if p < 0:
            continue
        if gathers[p]:
            first[i] = 0
        elif free:
            gathers[p] = free.pop()
        else:
            gathers[p] = places
            places += 1
        adds_to[i], latest[p] = gathers[p], i
    return np.array(gathers), np.array(adds_to), np.array(first), np.array(last), places
