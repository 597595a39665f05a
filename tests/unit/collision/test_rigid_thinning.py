"""Of feet with many corners few contacts are kept: they span nearly all of the foot, nothing is lower, and the choice is steady.

Areas and lowest corners come from Qhull and from the corners themselves.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from touching import about, hull, model_of, poses

import unibody as ub
from unibody.collision.rigid import RigidCollision

MOST = 16
"""Contacts of one pair along one normal."""


def foot(outline: np.ndarray, heights: np.ndarray | float = 0.0) -> ub.Mesh:
    """A convex block over the corners (n, 2), whose lower ends are at these heights."""
    low = np.column_stack([outline, np.broadcast_to(heights, len(outline))])
    return hull(np.concatenate([low, np.column_stack([0.9 * outline, np.full(len(outline), 0.3)])]))


def ring(n: int, a: float = 1.0, b: float = 1.0, turn: float = 0.0) -> np.ndarray:
    t = 2.0 * np.pi * np.arange(n) / n
    c, s = np.cos(turn), np.sin(turn)
    return np.column_stack([a * np.cos(t), b * np.sin(t)]) @ np.array([[c, s], [-s, c]])


def kept(shape: ub.Mesh, R: np.ndarray, height: float = 0.0, margin: float = 1e-3):
    return RigidCollision(model_of(ub.Plane(), shape, static=(0,)), margin).find(poses((np.eye(3), (0, 0, 0)), (R, (0, 0, height)))).copy()


@pytest.mark.parametrize("aspect", [1.0, 3.0, 20.0])
@pytest.mark.parametrize("n", [6, 12, 13, 17, 24, 40, 100, 200])
def test_what_is_kept_of_a_polygon_spans_nearly_all_of_it(n, aspect):
    """Twelve corners span at least 3/π of an ellipse if they are evenly spread; corners beside the azimuths cost up to 2 % of that."""
    outline = ring(n, 1.0, 1.0 / aspect, 0.4)
    found = kept(foot(outline), np.eye(3))
    assert len(found) <= MOST
    assert ConvexHull(found.point[:, :2]).volume > 0.98 * 3.0 / np.pi * ConvexHull(outline).volume


@pytest.mark.parametrize("bulge", [1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
def test_no_corner_that_is_left_out_is_lower_than_those_kept(bulge, rng):
    """To 10⁻⁶ of the foot's size, however it is tilted: what is asked for with the least slope."""
    outline = rng.uniform(-1.0, 1.0, (150, 2))
    shape = foot(outline, bulge * (outline**2).sum(axis=1))
    for _ in range(20):
        tilt = 10.0 ** rng.uniform(-7, -3.5)
        R = about((*rng.normal(size=2), 0.0), tilt) @ about((0, 0, 1), rng.uniform(0, 6))
        lowest = (shape.vertices @ R.T)[:, 2].min()
        found = kept(shape, R, -lowest)
        assert len(found) <= MOST
        assert abs(found.gap.min()) < 2e-6


def test_what_may_be_reached_soon_is_kept_before_what_lies_farther_out():
    """A mug: a ring on the floor, and wider ones 0.4 and 1.5 mm above it (as in pybullet_data, where 22° lie between two rings)."""
    rings = [(39.46e-3, 0.0), (40.55e-3, 0.447e-3), (41.0e-3, 1.527e-3)]
    outline = np.concatenate([ring(24, r, r) for r, _ in rings])
    found = kept(foot(outline, np.repeat([z for _, z in rings], 24)), np.eye(3), margin=5e-3)
    assert (abs(found.gap) < 1e-12).all() and len(found) >= 12


@pytest.mark.parametrize("n", [17, 24, 60, 200])
def test_a_flat_foot_keeps_its_contacts_as_it_slides_turns_and_trembles(n, rng):
    shape = foot(ring(n, 1.0, 0.8))
    ids = set(kept(shape, np.eye(3)).id)
    for _ in range(20):
        R = about((*rng.normal(size=2), 0.0), 1e-9 * rng.uniform()) @ about((0, 0, 1), rng.uniform(0, 6))
        assert set(kept(shape, R, 1e-8 * rng.normal()).id) == ids
