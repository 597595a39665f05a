"""Thin bodies on meshes: far sides do not count as crossed, and what has crossed counts, whatever its angle."""

from __future__ import annotations

import numpy as np
import pytest
from tests.zoo import angle_plate
from touching import Pair, about, poses

import unibody as ub

I = np.eye(3)


ROWS = ub.HeightField(np.where(np.arange(9) % 2, 0.1, 0.0) * np.ones((9, 1)), spacing=0.5)
GROUNDS = {"field": (ROWS, 0.1), "open": (ub.OpenMesh(*ROWS.triangles()), 0.1)}


@pytest.mark.parametrize("turn", [0.0, 0.3, 1.2])
@pytest.mark.parametrize("thickness", [0.002, 0.02, 0.3])
@pytest.mark.parametrize("ground", ["field", "open", 0.002, 0.02, 0.3])
def test_a_board_on_ridges_and_plates_is_touched_from_one_side(ground, thickness, turn):
    """With its height over the ridges (a number: an L of that thickness), above and below."""
    mesh, top = GROUNDS[ground] if isinstance(ground, str) else (angle_plate(ground), 0.5 * ground)
    pair = Pair(mesh, ub.Box((2.5, 0.5, thickness)), 0.01)
    for gap in (1e-3, 0.0, -1e-9, -1e-6, -2e-4):
        for side in (1.0, -1.0) if ground != "field" else (1.0,):
            R = about((1, 0, 0), np.pi) if side < 0.0 else I
            found = pair.ours.find(poses((R, (0, 0, 0)), (about((0, 0, 1), turn), (0.0, -0.2, side * (top + 0.5 * thickness + gap)))))
            flat = found.gap < gap + 1e-9  # slopes between the ridges are near, too
            assert flat.any() and (found.gap > gap - 1e-9).all() and (side * found.normal[:, 2] > 0.5).all()
            np.testing.assert_allclose(found.normal[flat], np.tile((0, 0, side), (flat.sum(), 1)), atol=1e-9)


@pytest.mark.parametrize("thickness", [0.005, 0.02])
def test_the_rim_of_a_sheet_in_a_board_is_pushed_out_through_the_nearer_side(thickness):
    """A rim bulges either way; the board's far edges are across it as well."""
    sheet = ub.OpenMesh([(-1, -1, 0), (0, -1, 0), (0, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    pair = Pair(sheet, ub.Box((1.0, 0.4, thickness)), 0.01)
    for side in (1.0, -1.0):
        found = pair.ours.find(poses((I, (0, 0, 0)), (I, (0.1, 0.03, side * (0.5 * thickness - 1e-3)))))
        rim = np.abs(found.point[:, 0]) < 1e-9
        assert rim.sum() == 2 and np.allclose(found.gap, -1e-3) and np.allclose(found.normal, (0, 0, side))


def roofs(angle: float) -> ub.Mesh:
    """Two closed prisms along x, one far from the other (so that they are not convex), with ridges of this inner angle at z = 0."""
    w = np.tan(0.5 * angle)
    one = np.array([(x, y, z) for x in (-1.0, 1.0) for y, z in ((0.0, 0.0), (-0.5 * w, -0.5), (0.5 * w, -0.5))])
    faces = np.array([(0, 1, 2), (3, 5, 4), (0, 3, 4), (0, 4, 1), (1, 4, 5), (1, 5, 2), (2, 5, 3), (2, 3, 0)])
    normal = np.cross(one[faces[0]][1] - one[faces[0]][0], one[faces[0]][2] - one[faces[0]][0])
    faces = faces[:, ::-1] if normal[0] > 0.0 else faces
    return ub.Mesh(np.concatenate([one, one + (0, 20.0, 0)]), np.concatenate([faces, faces + 6]))


@pytest.mark.parametrize("angles", [(20, 20), (20, 140), (60, 90), (90, 90), (140, 170)])
@pytest.mark.parametrize("turn", [0.2, 1.0, np.pi / 2])
def test_ridges_that_have_crossed_have_the_depth_along_their_common_normal(angles, turn):
    """However sharp or blunt they are."""
    a, b = (roofs(np.radians(angle)) for angle in angles)
    pair, over = Pair(a, b, 0.01), about((0, 0, 1), turn) @ about((1, 0, 0), np.pi)
    for gap in (1e-3, -1e-9, -1e-6, -1e-3, -2e-2):
        found = pair.ours.find(poses((I, (0, 0, 0)), (over, (0.02, 0.0, gap))))
        k = found.gap.argmin()
        assert found.gap[k] == pytest.approx(gap, abs=1e-12) and found.normal[k] == pytest.approx([0, 0, 1], abs=1e-12)
        assert (found.normal[:, 2] > 0.9).all() and (len(found) == 1 or gap == -2e-2)  # corners of blunt ones may be as deep


@pytest.mark.parametrize("thickness", [0.002, 0.02])
def test_a_capsule_across_the_rim_of_a_thin_plate_is_touched_from_its_own_side(thickness):
    """Deeper than the plate is thick, and still not from below: gaps are heights of the segment over the top."""
    plate = ub.Mesh(*ub.Box((1.0, 1.0, thickness)).triangles())
    pair = Pair(plate, ub.Capsule(0.05, 0.4), 0.01)
    for side in (1.0, -1.0):
        for depth in (-1e-3, 0.0, 1e-3, 3e-3, 0.03, 0.049):
            for turn in (0.0, 0.4):
                R = about((0, 0, 1), turn) @ about((0, 1, 0), np.pi / 2)
                found = pair.ours.find(poses((I, (0, 0, 0)), (R, (0.45, 0.0, side * (0.5 * thickness + 0.05 - depth)))))
                assert len(found) >= 2 and found.gap == pytest.approx([-depth] * len(found), abs=1e-12)
                np.testing.assert_allclose(found.normal, np.tile((0, 0, side), (len(found), 1)), atol=1e-9)


def test_a_capsule_whose_segment_is_inside_is_pushed_out_over_the_ridge():
    """By the segment's depth and its radius."""
    roof = roofs(np.pi / 2)
    found = Pair(roof, ub.Capsule(0.05, 0.8), 0.01).ours.find(poses((I, (0, 0, 0)), (about((1, 0, 0), np.pi / 2), (0.1, 0.0, -0.02))))
    k = found.gap.argmin()
    assert found.gap[k] == pytest.approx(-0.07) and found.normal[k] == pytest.approx([0, 0, 1])
