"""Where bodies gather what their children leave: every sum complete when it is used, in few places."""

import numpy as np
import pytest
from forests import parents

from unibody.algebra.saddle.forest import gathering_places


@pytest.mark.parametrize("shape", ["chain", "star", "binary", "random"])
def test_every_body_finds_the_sum_over_its_subtree(shape):
    parent = parents(shape, 60, 4)
    own = np.random.default_rng(0).integers(1, 1000, 60)
    gathers, adds_to, first, last, places = gathering_places(parent)
    expected = own.copy()
    for i in range(59, 0, -1):
        if parent[i] >= 0:
            expected[parent[i]] += expected[i]
    place = np.full(places, -(10**9))
    for i in range(59, -1, -1):
        found = place[gathers[i]] if gathers[i] else own[i]
        assert found == expected[i]
        place[adds_to[i]] = found + (0 if first[i] else place[adds_to[i]]) + (own[parent[i]] if last[i] else 0)


def test_depth_first_numbers_need_one_place_for_each_open_branch():
    depth = 9
    parent = np.full(2**depth - 1, -1)
    subtrees = [(0, parent.size)]
    while subtrees:
        root, size = subtrees.pop()
        if size > 1:
            for child in (root + 1, root + 1 + size // 2):
                parent[child] = root
                subtrees.append((child, size // 2))
    assert gathering_places(parent)[-1] <= depth + 1
    assert gathering_places(parents("chain", 100))[-1] == 2
    assert gathering_places(parents("star", 100))[-1] == 2
