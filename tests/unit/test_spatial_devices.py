"""Device functions on twists beside the matrices that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from unibody.spatial.devices import cross_motion, seen_from, twist_across
from unibody.spatial.pose import ad, adjoint, rotation_from_vector


@pytest.mark.parametrize("seed", range(3))
def test_twists_across_a_pose_and_back_are_products_with_its_adjoint(seed: int) -> None:
    rng = np.random.default_rng(seed)
    R, p, V, W = rotation_from_vector(rng.normal(size=3)), rng.normal(size=3), rng.normal(size=6), rng.normal(size=6)
    pose = tuple(R.ravel()), tuple(p)
    assert np.allclose(twist_across(*pose, tuple(V)), adjoint(R, p) @ V, rtol=0.0, atol=1e-14)  # sums of six numbers of size one
    assert np.allclose(seen_from(*pose, tuple(V)), np.linalg.solve(adjoint(R, p), V), rtol=0.0, atol=1e-13)
    assert np.allclose(cross_motion(tuple(V), tuple(W)), ad(V) @ W, rtol=0.0, atol=1e-14)
