"""Which bodies and shapes may touch, as the search asks pair by pair, and pairs as numbers."""

from __future__ import annotations

import numpy as np

from unibody.collision.shape_rights import ASKED, ASKED_OF_NEIGHBOURS, BY_BODIES, FORBIDDEN, ShapeRights, partners
from unibody.kernel import device


@device
def listed(a, b, lists):
    """Whether b is a partner of a < b, as `partners` lists them."""
    low, end = lists[a], lists[a + 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if lists[middle] < b:
            low = middle + 1
        else:
            high = middle
    return low != end and lists[low] == b


@device
def allowed(a, b, moving, group, mask, excluded):
    """Whether two bodies may touch. `excluded`: partners that each may not touch."""
    if a == b or moving[a] + moving[b] == 0:
        return False
    if (mask[a] >> group[b]) & 1 == 0 or (mask[b] >> group[a]) & 1 == 0:
        return False
    return not listed(min(a, b), max(a, b), excluded)


@device
def may_touch(i, j, body, moving, group, mask, excluded, classes):
    """Whether two shapes may touch; `classes`: as `ShapeRights.flat` has them, empty where bodies alone decide."""
    a, b = body[i], body[j]
    if classes.size == 0:
        return allowed(a, b, moving, group, mask, excluded)
    if a == b or moving[a] + moving[b] == 0:
        return False
    state = classes[classes[1] + classes[0] * classes[5 + i] + classes[5 + j]]
    if state == FORBIDDEN:
        return False
    first, second = min(a, b), max(a, b)
    if state == ASKED_OF_NEIGHBOURS:
        return not listed(first, second, classes[classes[2] :])
    if state == ASKED:
        return not listed(first, second, classes[classes[3] :])
    if not allowed(a, b, moving, group, mask, excluded):
        return False
    return state == BY_BODIES or listed(first, second, classes[classes[4] :])


def rights_of(rights: ShapeRights) -> np.ndarray:
    """Of n bodies, one after the other: moving (n,), group (n,), mask (n,), what is excluded, and what shapes of classes may do."""
    filter = rights.filter
    n = len(filter.moving)
    return np.concatenate([filter.moving, filter.group, filter.mask, partners(n, filter.excluded), rights.flat()]).astype(np.int64)


@device
def note(i, j, found, keys_out):
    """Write a pair down as one number."""
    if found < keys_out.size:
        keys_out[found] = (min(i, j) << 31) + max(i, j)
    return found + 1
