"""Manifolds: faces on faces as polygons with the right area and middle, standing cylinders, tilted and separated boxes."""

from __future__ import annotations

import numpy as np
import pytest
from touching import Pair, about, hull, model_of, poses, rotation

import unibody as ub
from unibody.collision.rigid import RigidCollision


def area_and_middle(points: np.ndarray) -> tuple[float, np.ndarray]:
    """Of the convex polygon of points in the plane (n, 2)."""
    from scipy.spatial import ConvexHull

    ring = points[ConvexHull(points).vertices]
    x, y = ring.T
    x1, y1 = np.roll(ring, -1, axis=0).T
    c = x * y1 - x1 * y
    return float(0.5 * c.sum()), np.array([((x + x1) * c).sum(), ((y + y1) * c).sum()]) / (3.0 * c.sum())


@pytest.mark.parametrize("gap", [0.003, 0.0, -0.002])
@pytest.mark.parametrize("shift", [(0.0, 0.0), (0.3, 0.1), (-0.2, 0.4)])
def test_face_on_face_is_the_rectangle_of_their_overlap(gap, shift):
    a, b = ub.Box((1.0, 1.0, 0.2)), ub.Box((0.6, 0.8, 0.4))
    rng = np.random.default_rng(4)
    R = rotation(rng)
    p = np.array([*shift, 0.3 + gap])
    found = Pair(a, b, 0.01).ours.find(poses((R, (1, 2, 3)), (R, np.array([1, 2, 3]) + R @ p)))
    assert len(found) == 4 and found.gap == pytest.approx([gap] * 4, abs=1e-12)
    np.testing.assert_allclose(found.normal, np.tile(R[:, 2], (4, 1)), atol=1e-12)
    low = np.maximum([-0.5, -0.5], np.array(shift) - [0.3, 0.4])
    high = np.minimum([0.5, 0.5], np.array(shift) + [0.3, 0.4])
    area, middle = area_and_middle(((found.point - [1, 2, 3]) @ R)[:, :2])
    assert area == pytest.approx(np.prod(high - low)) and middle == pytest.approx(0.5 * (low + high))


def test_a_turned_face_on_a_face_is_an_octagon():
    """Two unit squares at 45°: the regular octagon of width 1, area 2 (√2 − 1)."""
    box = ub.Box((1, 1, 1))
    found = Pair(box, box, 0.01).ours.find(poses((np.eye(3), (0, 0, 0)), (about((0, 0, 1), np.pi / 4), (0, 0, 1.001))))
    assert len(found) == 8 and len(set(found.id.tolist())) == 8
    area, middle = area_and_middle(found.point[:, :2])
    assert area == pytest.approx(2.0 * (np.sqrt(2.0) - 1.0)) and middle == pytest.approx([0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("tilt", [1e-9, 1e-5, 1e-3, 0.03])
def test_a_tilted_box_keeps_four_corners_with_their_heights(tilt):
    a, b = ub.Box((2, 2, 1)), ub.Box((1, 1, 1))
    R = about((0.6, 0.8, 0.0), tilt)
    found = Pair(a, b, 0.1).ours.find(poses((np.eye(3), (0, 0, 0)), (R, (0.1, 0.2, 1.01))))
    corners = np.array([(x, y, -0.5) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]) @ R.T + (0.1, 0.2, 1.01)
    assert len(found) == 4 and sorted(found.gap) == pytest.approx(sorted(corners[:, 2] - 0.5), abs=1e-12)


def test_ids_of_aligned_boxes_survive_round_off_and_sliding():
    box = ub.Box((1, 1, 1))
    pair, rng = Pair(box, box, 0.01), np.random.default_rng(0)
    first = set(pair.ours.find(poses((np.eye(3), (0, 0, 0)), (np.eye(3), (0, 0, 1.0)))).id.tolist())
    for _ in range(20):
        R = about(rng.normal(size=3), 1e-13)
        assert set(pair.ours.find(poses((np.eye(3), (0, 0, 0)), (R, 1e-13 * rng.normal(size=3) + (0, 0, 1.0)))).id.tolist()) == first
    slid = set(pair.ours.find(poses((np.eye(3), (0, 0, 0)), (np.eye(3), (0.1, 0.05, 1.0)))).id.tolist())
    again = set(pair.ours.find(poses((np.eye(3), (0, 0, 0)), (np.eye(3), (0.2, 0.07, 1.0)))).id.tolist())
    assert slid == again and len(slid) == 4


def test_the_normal_is_continuous_while_a_box_tips_over_an_edge():
    """From face to edge: the normal of the deepest contact turns by no more than the box does, up to the 8° where a face takes over."""
    a, b = ub.Box((2, 2, 1)), ub.Box((1, 1, 1))
    pair, before = Pair(a, b, 0.05), None
    for tilt in np.linspace(0.0, 0.7, 141):
        R = about((0, 1, 0), tilt)
        low = 0.5 * (np.sin(tilt) + np.cos(tilt))
        found = pair.ours.find(poses((np.eye(3), (0, 0, 0)), (R, (0, 0, 0.5 + low - 1e-4))))
        normal = found.normal[found.gap.argmin()]
        assert found.gap.min() == pytest.approx(-1e-4, abs=1e-9)
        assert before is None or normal @ before > 1.0 - 1e-9
        before = normal.copy()


def test_boxes_corner_to_corner_and_edge_to_edge_have_their_true_distance():
    """Separated along no face: corner (½, ½, ½) to corner, √3 d; parallel edges, √2 d; crossed edges at right angles, d."""
    box, d = ub.Box((1, 1, 1)), 0.01
    pair = Pair(box, box, 0.1)
    I = np.eye(3)
    found = pair.ours.find(poses((I, (0, 0, 0)), (I, (1 + d, 1 + d, 1 + d))))
    assert found.gap.min() == pytest.approx(np.sqrt(3) * d) and found.normal[0] == pytest.approx(np.ones(3) / np.sqrt(3))
    found = pair.ours.find(poses((I, (0, 0, 0)), (I, (1 + d, 1 + d, 0.2))))
    assert found.gap.min() == pytest.approx(np.sqrt(2) * d)
    A, B = about((1, 0, 0), np.pi / 4), about((0, 1, 0), np.pi / 4)
    found = pair.ours.find(poses((A, (0, 0, 0)), (B, (0, 0, np.sqrt(2) + d))))
    assert len(found) == 1 and found.gap[0] == pytest.approx(d) and found.normal[0] == pytest.approx([0, 0, 1])
    found = pair.ours.find(poses((A, (0, 0, 0)), (A, (0.3, 0, np.sqrt(2) + d))))
    assert found.gap.min() == pytest.approx(d)


def test_a_capsule_lies_on_a_box_with_two_points_and_overhangs_at_the_rim():
    pair = Pair(ub.Capsule(0.1, 1.0), ub.Box((0.8, 2.0, 0.5)), 0.01)
    lying = about((0, 1, 0), np.pi / 2)
    found = pair.ours.find(poses((lying, (0, 0, 0.351)), (np.eye(3), (0, 0, 0))))
    assert sorted(found.point[:, 0]) == pytest.approx([-0.4, 0.4]) and found.gap == pytest.approx([0.001, 0.001])
    np.testing.assert_allclose(found.normal, [[0, 0, -1.0]] * 2, atol=1e-12)
    found = pair.ours.find(poses((lying, (0.3, 0, 0.351)), (np.eye(3), (0, 0, 0))))
    assert sorted(found.point[:, 0]) == pytest.approx([-0.2, 0.4])


@pytest.mark.parametrize("ground", [ub.Plane(), ub.Box((4, 4, 1)), ub.Mesh(*ub.Box((4, 4, 1)).triangles())], ids=["plane", "box", "mesh"])
def test_a_cylinder_stands_on_a_ring_and_lies_on_a_line(ground):
    if not isinstance(ground, ub.Plane):
        pytest.importorskip("coal")
    height = 0.0 if isinstance(ground, ub.Plane) else 0.5
    pair = Pair(ground, ub.Cylinder(0.3, 0.8), 0.01)
    found = pair.ours.find(poses((np.eye(3), (0, 0, 0)), (np.eye(3), (0.1, 0.2, height + 0.401))))
    assert 8 <= len(found) <= 12 and found.gap == pytest.approx([0.001] * len(found), abs=1e-9)
    np.testing.assert_allclose(np.linalg.norm(found.point[:, :2] - (0.1, 0.2), axis=1), 0.3, atol=1e-9)
    # no less than a regular octagon
    assert area_and_middle(found.point[:, :2])[0] > (1.0 - 1e-9) * 0.5 * 8 * 0.09 * np.sin(np.pi / 4)
    found = pair.ours.find(poses((np.eye(3), (0, 0, 0)), (about((1, 0, 0), np.pi / 2) @ about((0, 0, 1), 0.3), (0, 0, height + 0.299))))
    assert len(found) == 2 and found.gap == pytest.approx([-0.001] * 2, abs=1e-9)
    assert sorted(found.point[:, 1]) == pytest.approx([-0.4, 0.4], abs=1e-6)


def test_a_tipping_cylinder_touches_with_its_lowest_point():
    pair = Pair(ub.Plane(), ub.Cylinder(0.3, 0.8), 0.05)
    for tilt in (1e-6, 1e-3, 0.2):
        for turn in np.linspace(0.0, 6.0, 7):
            R = about((np.cos(turn), np.sin(turn), 0.0), tilt)
            found = pair.ours.find(poses((np.eye(3), (0, 0, 0)), (R, (0, 0, 0.4))))
            assert found.gap.min() == pytest.approx(0.4 - 0.4 * np.cos(tilt) - 0.3 * np.sin(tilt), abs=1e-14)


def test_convex_meshes_rest_on_faces_with_all_their_corners():
    """A box as a mesh on a box as a mesh: the same rectangle as of two boxes."""
    pytest.importorskip("coal")
    a, b = (ub.Mesh(*ub.Box(s).triangles()) for s in ((1.0, 1.0, 0.2), (0.6, 0.8, 0.4)))
    found = Pair(a, b, 0.01).ours.find(poses((np.eye(3), (0, 0, 0)), (np.eye(3), (0.3, 0.1, 0.301))))
    assert len(found) == 4 and found.gap == pytest.approx([0.001] * 4, abs=1e-9)
    area, middle = area_and_middle(found.point[:, :2])
    assert area == pytest.approx(0.5 * 0.8) and middle == pytest.approx([0.25, 0.1])
    wedge = hull(np.array([(x, y, z) for z in (-0.3, 0.3) for x, y in ((0.5, 0.0), (-0.25, 0.4), (-0.25, -0.4))]))
    found = Pair(ub.Box((2, 2, 1)), wedge, 0.01).ours.find(poses((np.eye(3), (0, 0, 0)), (np.eye(3), (0, 0, 0.799))))
    assert len(found) == 3 and area_and_middle(found.point[:, :2])[0] == pytest.approx(0.5 * 0.75 * 0.8)


def test_faces_of_many_triangles_are_one_polygon():
    """A slab whose sides are cut into many triangles, with vertices within and along them: the same rectangle as of its box."""
    pytest.importorskip("coal")
    x, faces = (np.array(part) for part in ub.Box((1.0, 1.0, 0.2)).triangles())
    for _ in range(3):
        middles = [0.5 * (x[faces[:, k]] + x[faces[:, (k + 1) % 3]]) for k in range(3)]
        n, f = len(x) + len(faces) * np.arange(3)[:, None] + np.arange(len(faces)), faces.T
        faces = np.concatenate([np.stack(c, axis=1) for c in ((f[0], n[0], n[2]), (n[0], f[1], n[1]), (n[2], n[1], f[2]), tuple(n))])
        x, again = np.unique(np.round(np.concatenate([x, *middles]), 12), axis=0, return_inverse=True)
        faces = again.ravel()[faces]
    pair = Pair(ub.Mesh(x, faces), ub.Box((0.6, 0.8, 0.4)), 0.01)
    found = pair.ours.find(poses((np.eye(3), (0, 0, 0)), (np.eye(3), (0.3, 0.1, 0.301))))
    assert len(found) == 4 and found.gap == pytest.approx([0.001] * 4, abs=1e-9)
    area, middle = area_and_middle(found.point[:, :2])
    assert area == pytest.approx(0.5 * 0.8) and middle == pytest.approx([0.25, 0.1])


def test_thinning_keeps_the_deepest_and_at_most_sixteen():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-0.5, 0.5, (200, 2)), np.full((200, 1), -0.2)], axis=1)
    x[:, 2] += 1e-3 * rng.uniform(size=200)
    block = hull(np.concatenate([x, x + (0, 0, 0.5)]))
    found = RigidCollision(model_of(ub.Plane(), block, static=(0,)), 0.01).find(poses((np.eye(3), (0, 0, 0)), (np.eye(3), (0, 0, 0.2))))
    assert len(found) <= 16 and found.gap.min() == pytest.approx(block.vertices[:, 2].min() + 0.2, abs=1e-15)
