"""Which bodies may touch, as the search asks pair by pair, and pairs as numbers."""

from __future__ import annotations

import numpy as np

from unibody.collision.broad import Filter
from unibody.kernel import device


@device
def allowed(a, b, moving, group, mask, excluded):
    """Whether two bodies may touch. `excluded` begins with where the partners of each body begin that it may not touch, which are larger
    than itself and sorted; see `rights_of`."""
    if a == b or moving[a] + moving[b] == 0:
        return False
    if (mask[a] >> group[b]) & 1 == 0 or (mask[b] >> group[a]) & 1 == 0:
        return False
    first, second = min(a, b), max(a, b)
    low, end = excluded[first], excluded[first + 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if excluded[middle] < second:
            low = middle + 1
        else:
            high = middle
    return low == end or excluded[low] != second


def rights_of(filter: Filter) -> np.ndarray:
    """Of n bodies, one after the other: moving (n,), group (n,), mask (n,), and what is excluded as `allowed` reads it."""
    n = len(filter.moving)
    starts = n + 1 + np.concatenate([[0], np.cumsum(np.bincount(filter.excluded // n, minlength=n))])
    return np.concatenate([filter.moving, filter.group, filter.mask, starts, filter.excluded % n]).astype(np.int64)


@device
def note(i, j, found, keys_out):
    """Write a pair down as one number."""
    if found < keys_out.size:
        keys_out[found] = (min(i, j) << 31) + max(i, j)
    return found + 1
