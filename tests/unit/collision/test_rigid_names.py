"""Names of contacts of convex shapes: each once, and the same whichever of the two faces that lie on each other is the reference."""

from __future__ import annotations

import numpy as np
import pytest
from touching import FEATURE, SHAPES, Pair, about, hull, poses, random_poses

import unibody as ub
from unibody.collision.rigid.hull_features import RIMS, corner_tag

HEXAGON = np.array([(np.cos(t), np.sin(t), 0.0) for t in np.arange(6) * np.pi / 3.0])
PRISM = hull(np.concatenate([0.5 * HEXAGON - (0, 0, 0.3), 0.5 * HEXAGON + (0, 0, 0.3)]))
BOX, CYLINDER = ub.Box((0.9, 0.7, 0.6)), ub.Cylinder(0.4, 0.6)
RIM = {corner_tag(RIMS + end, of_b) for end in (0, 1) for of_b in (False, True)}


@pytest.mark.parametrize("a, b", [(PRISM, PRISM), (BOX, PRISM), (PRISM, BOX), (CYLINDER, BOX), (PRISM, CYLINDER)])
def test_names_stay_when_the_reference_changes(a, b):
    """b on a, face on face, tilted this way and that: what is found at the same place has the same name, but for a rim's lowest point
    and corners that the tilt moves over an edge."""
    pytest.importorskip("coal")
    pair, rng, leaning, kept = Pair(a, b, 0.02), np.random.default_rng(3), set(), []
    for _ in range(12):
        turn, shift = about((0, 0, 1), rng.uniform(0.0, 6.0)), np.r_[rng.uniform(-0.2, 0.2, 2), 0.601]
        before = {}
        for _ in range(6):
            tilt = about(np.r_[rng.normal(size=2), 0.0], 1e-3 * rng.uniform(0.2, 1.0))
            found = pair.ours.find(poses((np.eye(3), np.zeros(3)), (tilt @ turn, shift)))
            leaning.update(np.abs(found.normal[:, 2]) < 1.0 - 1e-12)
            names = [int(name) & FEATURE for name in found.id]
            assert len(set(names)) == len(names)
            now = {name: x for name, x in zip(names, found.point, strict=True) if name not in RIM}
            for name, x in now.items():
                near = [other for other, y in before.items() if np.linalg.norm(x - y) < 2e-3]
                kept += [name in near] if near else []
            before = now
    assert leaning == {False, True} and len(kept) > 100 and np.mean(kept) > 0.97


@pytest.mark.parametrize("shape", ["box", "cylinder", "convex", "capsule"])
def test_names_of_a_pair_differ(shape):
    pytest.importorskip("coal")
    pair, rng, seen = Pair(SHAPES["convex"], SHAPES[shape], 0.05), np.random.default_rng(4), 0
    for _ in range(200):
        names = pair.ours.find(random_poses(rng, 0.4, 0.9)).id
        assert len(set(names.tolist())) == len(names)
        seen += len(names)
    assert seen > 100
