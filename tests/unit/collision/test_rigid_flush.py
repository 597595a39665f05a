"""Flush faces: beside a tile with whose top they are level, shapes have no sideways normal; steps are steps."""

from __future__ import annotations

import numpy as np
import pytest
from touching import Pair, about, poses, rotation

import unibody as ub

I = np.eye(3)
TILE = ub.Box((1.0, 1.0, 0.2))
LYING, CROSSWISE = about((0, 1, 0), np.pi / 2), about((1, 0, 0), np.pi / 2)
SLIDERS = {
    "box": (ub.Box((0.2, 0.2, 0.2)), I, 0.1, 0.1),
    "turned box": (ub.Box((0.2, 0.2, 0.2)), about((0, 0, 1), 0.3), 0.1 * (np.cos(0.3) + np.sin(0.3)), 0.1),
    "sphere": (ub.Sphere(0.1), I, 0.0, 0.1),
    "capsule along": (ub.Capsule(0.1, 0.3), LYING, 0.15, 0.1),
    "capsule across": (ub.Capsule(0.1, 0.3), CROSSWISE, 0.0, 0.1),
    "cylinder upright": (ub.Cylinder(0.1, 0.2), I, 0.1, 0.1),
    "cylinder across": (ub.Cylinder(0.1, 0.2), CROSSWISE, 0.0, 0.1),
}
"""Shape, attitude, how far its lowest part reaches to the front, height of its middle."""


def beside(name: str, distance: float, height: float, R: np.ndarray = I, margin: float = 0.05):
    """Contacts with the tile's top edge at x = 0, z = 0, the lowest part of the shape that far before it and above it; and the axes x, z,
    all turned by R."""
    shape, S, front, middle = SLIDERS[name]
    if "cylinder" in name:
        pytest.importorskip("coal")
    place = np.array([-distance - front, 0.03, middle + height])
    return Pair(TILE, shape, margin).ours.find(poses((R, R @ [0.5, 0.0, -0.1]), (R @ S, R @ place))), R[:, 0], R[:, 2]


@pytest.mark.parametrize("name", SLIDERS)
@pytest.mark.parametrize("height", [0.0, 1e-9, -1e-9, 1e-6, -1e-6])
def test_what_is_level_with_a_tile_meets_it_from_above_or_not_at_all(name, height):
    """Before it, at the seam and over it, turned any way; gaps allow what is level to pass: n · Δx = 0 ≥ −gap up to the height itself."""
    rng = np.random.default_rng(0)
    for distance in (0.04, 0.01, 1e-3, 1e-6, 1e-9, 0.0, -1e-9, -1e-6, -1e-3, -0.04):
        found, _, z = beside(name, distance, height, rotation(rng))
        assert np.abs(found.normal - z).max(initial=0.0) < 1e-7, distance
        assert (found.gap > min(height, 0.0) - 1e-9).all(), distance
    assert len(found) > 0


@pytest.mark.parametrize("name", ["sphere", "capsule along", "capsule across", "cylinder across"])
def test_what_is_round_keeps_its_distance_from_the_edge_it_is_level_with(name):
    """√(r² + d²) − r: as far as it may fall."""
    for distance in (0.02, 0.005):
        found, _, z = beside(name, distance, 0.0)
        expected = [np.hypot(0.1, distance) - 0.1] * len(found)
        assert found.gap == pytest.approx(expected, abs=1e-7 if "cylinder" in name else 1e-12)  # coal's points are good to 1e-8
        assert len(found) > 0 and found.normal @ z == pytest.approx(np.ones(len(found)))


@pytest.mark.parametrize("name", ["box", "turned box", "cylinder upright"])
@pytest.mark.parametrize("step", [2e-5, 1e-3, 1e-2])
def test_a_step_is_met_with_its_side(name, step):
    for distance in (0.01, 1e-3, 0.0, -1e-5):
        found, x, _ = beside(name, distance, -step)
        assert found.gap.min() == pytest.approx(distance, abs=1e-7), distance  # coal is good to 1e-8 of the size
        np.testing.assert_allclose(found.normal, np.tile(-x, (len(found), 1)), atol=1e-6)


@pytest.mark.parametrize("step", [2e-5, 1e-3, 1e-2])
def test_a_ball_before_a_step_has_the_normal_of_its_edge(step):
    found, x, z = beside("sphere", 0.02, -step)
    r = np.array([0.02, 0.1 - step])
    assert found.gap == pytest.approx(np.linalg.norm(r) - 0.1, abs=1e-12)
    np.testing.assert_allclose(found.normal[0], (-r[0] * x + r[1] * z) / np.linalg.norm(r), atol=1e-12)


def test_boxes_corner_to_corner_on_a_floor_of_tiles_have_no_contact():
    """A box over the tile next but one, diagonally."""
    box = ub.Box((0.2, 0.2, 0.2))
    for aside in (0.0, 0.01):
        found = Pair(TILE, box, 0.05).ours.find(poses((I, (0, 0, 0)), (I, (0.6 + aside, 0.6 + 2 * aside, 0.2))))
        assert len(found) == 0


def test_boxes_of_a_tenth_of_a_millimetre_know_a_micrometre():
    """What is flush shrinks with the shapes: 1e-2 of the least half side."""
    small = ub.Box((1e-4, 1e-4, 1e-4))
    pair = Pair(small, small, 1e-5)
    found = pair.ours.find(poses((I, (0, 0, 0)), (I, (1.01e-4, 0, 1e-4 - 1e-6))))
    assert found.gap == pytest.approx([1e-6] * 4) and np.allclose(found.normal, (1, 0, 0))
    assert len(pair.ours.find(poses((I, (0, 0, 0)), (I, (1.01e-4, 0, 1e-4 - 1e-8))))) == 0
