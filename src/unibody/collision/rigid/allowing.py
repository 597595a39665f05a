"""Which bodies may touch, as the search asks pair by pair, and pairs as numbers."""

from __future__ import annotations

import numpy as np

from unibody.kernel import device


@device
def allowed(a, b, moving, group, mask, excluded):
    """Whether two bodies may touch. `excluded` begins with where the partners of each body begin that it may not touch, which are larger
    than itself and sorted; see `partners`."""
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


def partners(n: int, keys: np.ndarray) -> np.ndarray:
    """Sorted pairs a n + b, a < b, of n bodies as `allowed` reads them."""
    counts = np.bincount(keys // n, minlength=n)
    return np.concatenate([n + 1 + np.concatenate([[0], np.cumsum(counts)]), keys % n]).astype(np.int64)


@device
def note(i, j, found, keys_out):
    """Write a pair down as one number."""
    if found < keys_out.size:
        keys_out[found] = (min(i, j) << 31) + max(i, j)
    return found + 1
