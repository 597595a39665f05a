"""Triangle meshes and terrain: the tree against all faces, balls and capsules against brute force, seams, valleys, insides, polyhedra."""

from __future__ import annotations

import numpy as np
import pytest
from touching import FEATURE, Pair, about, model_of, poses, rotation

import unibody as ub
from unibody.collision.rigid import RigidCollision
from unibody.collision.rigid.mesh_data import MeshData, edges_of

I = np.eye(3)


def bumpy(n: int = 7, height: float = 0.15, seed: int = 2) -> ub.HeightField:
    return ub.HeightField(height * np.random.default_rng(seed).normal(size=(n, n)), spacing=0.5)


def ground_at(field: ub.HeightField, x: float, y: float) -> float:
    """The highest corner of the cell at (x, y)."""
    rows, columns = field.heights.shape
    j, i = int(x / field.spacing[0] + 0.5 * (columns - 1)), int(y / field.spacing[1] + 0.5 * (rows - 1))
    return float(field.heights[i : i + 2, j : j + 2].max())


def to_triangle(x: np.ndarray, corners: np.ndarray) -> float:
    """Distance of a point to a triangle: the plane where the foot is inside, else the three segments."""
    a, b, c = corners
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n)
    foot = x - n * (n @ (x - a))
    if all(np.cross(q - p, foot - p) @ n >= 0.0 for p, q in ((a, b), (b, c), (c, a))):
        return abs(float(n @ (x - a)))
    ends = [(a, b), (b, c), (c, a)]
    return min(float(np.linalg.norm(p + np.clip((x - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1) * (q - p) - x)) for p, q in ends)


def test_boxes_of_the_tree_hold_their_branches_and_leaves_cover_all_faces():
    vertices, faces = bumpy(12).triangles()
    data = MeshData.of(vertices, faces, sided=True)
    corners = data.vertices[data.faces]
    seen = []
    for node, (first, count) in enumerate(data.leaves):
        inner = data.boxes[node : data.ends[node]]
        assert (inner[:, :3] >= data.boxes[node, :3]).all() and (inner[:, 3:] <= data.boxes[node, 3:]).all()
        seen += list(range(first, first + count))
        for f in range(first, first + count):
            assert (corners[f] >= data.boxes[node, :3]).all() and (corners[f] <= data.boxes[node, 3:]).all()
    assert sorted(seen) == list(range(len(faces)))
    assert {tuple(sorted(f)) for f in data.faces.tolist()} == {tuple(sorted(f)) for f in faces.tolist()}


@pytest.mark.parametrize("radius", [0.05, 0.4])
def test_the_nearest_contact_of_a_ball_over_terrain_is_the_distance_to_all_faces(radius):
    field = bumpy()
    vertices, faces = field.triangles()
    pair, rng = Pair(field, ub.Sphere(radius), 0.1), np.random.default_rng(0)
    seen = 0
    for _ in range(40):
        R, p = rotation(rng), rng.normal(size=3)
        c = np.array([*rng.uniform(-1.2, 1.2, 2), rng.uniform(0.2, 0.2 + radius)])
        if c[2] < 0.02 + ground_at(field, c[0], c[1]):
            continue
        distance = min(to_triangle(c, vertices[f]) for f in faces)
        found = pair.ours.find(poses((R, p), (I, p + R @ c)))
        if distance > radius + 0.1:
            assert len(found) == 0
            continue
        assert found.gap.min() == pytest.approx(distance - radius, abs=1e-12)
        seen += 1
    assert seen > (1 if radius < 0.1 else 8)


def test_a_ball_on_a_flat_floor_of_many_triangles_has_one_contact_and_one_normal():
    """Seams of the floor are no obstacles, wherever the ball is, also over edges and vertices."""
    pair, rng = Pair(ub.HeightField(np.zeros((9, 9)), spacing=0.25), ub.Sphere(0.3), 0.05), np.random.default_rng(0)
    places = [*rng.uniform(-0.9, 0.9, (40, 2)), (0.0, 0.0), (0.25, 0.125), (0.1, 0.0), (0.1, 0.1), (-0.25, 0.5)]
    for x, y in places:
        found = pair.ours.find(poses((I, (0, 0, 0)), (I, (x, y, 0.29))))
        assert len(found) == 1 and found.gap[0] == pytest.approx(-0.01) and found.normal[0] == pytest.approx([0, 0, 1])
        assert found.point_a[0] == pytest.approx([x, y, 0.0], abs=1e-12)


def test_a_ball_in_a_valley_touches_both_walls_and_on_a_ridge_its_edge():
    """Walls at 45°: normals (±1, 0, 1)/√2. The ridge is the valley turned over: one contact, straight up."""
    heights = np.abs(np.linspace(-1, 1, 5))[None, :] * np.ones((5, 1))
    found = Pair(ub.HeightField(heights, 0.5), ub.Sphere(0.2), 0.05).ours.find(poses((I, (0, 0, 0)), (I, (0, 0.1, 0.2 * np.sqrt(2)))))
    assert found.gap == pytest.approx([0.0, 0.0], abs=1e-12)
    assert sorted(found.normal[:, 0]) == pytest.approx([-np.sqrt(0.5), np.sqrt(0.5)])
    found = Pair(ub.HeightField(-heights, 0.5), ub.Sphere(0.2), 0.05).ours.find(poses((I, (0, 0, 0)), (I, (0, 0.1, 0.21))))
    assert found.gap == pytest.approx([0.01]) and found.normal[0] == pytest.approx([0, 0, 1])


@pytest.mark.parametrize("depth", [-0.29, -0.1, 1e-15, 0.1, 0.29])
def test_a_ball_is_pushed_out_of_solids_and_up_from_terrain_even_if_its_centre_is_below(depth):
    """The normal does not flip while the centre sinks through the surface."""
    for ground, top in ((ub.HeightField(np.zeros((5, 5)), 1.0), 0.0), (ub.Mesh(*ub.Box((4, 4, 2)).triangles()), 1.0)):
        found = Pair(ground, ub.Sphere(0.3), 0.05).ours.find(poses((I, (0, 0, 0)), (I, (0.2, 0.1, top - depth))))
        assert len(found) == 1 and found.normal[0] == pytest.approx([0, 0, 1]) and found.gap[0] == pytest.approx(-0.3 - depth, abs=1e-12)


def test_a_ball_beside_the_rim_of_terrain_is_not_lifted():
    found = Pair(ub.HeightField(np.zeros((3, 3)), 1.0), ub.Sphere(0.3), 0.05).ours.find(poses((I, (0, 0, 0)), (I, (1.2, 0.1, -0.2))))
    assert found.gap == pytest.approx([np.hypot(0.2, 0.2) - 0.3]) and found.normal[0] == pytest.approx([np.sqrt(0.5), 0, -np.sqrt(0.5)])


def test_a_sheet_without_inside_is_touched_from_both_sides():
    sheet = ub.OpenMesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    for side in (-1.0, 1.0):
        found = Pair(sheet, ub.Sphere(0.3), 0.05).ours.find(poses((I, (0, 0, 0)), (I, (0.2, 0.1, 0.28 * side))))
        assert found.gap == pytest.approx([-0.02]) and found.normal[0] == pytest.approx([0, 0, side])


@pytest.mark.parametrize("order", [(0, 1, 2, 0, 2, 3), (0, 2, 1, 0, 3, 2)])
@pytest.mark.parametrize("depth", [-1e-3, -1e-13, 0.0, 1e-13, 1e-9, 1e-6, 1e-3])
def test_corners_that_have_passed_a_sheet_belong_to_the_side_of_their_box(order, depth):
    """Whichever way the sheet's faces look, and however thin the box is: its upper corners have not passed from below."""
    sheet = ub.OpenMesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], np.reshape(order, (2, 3)))
    for thickness in (0.02, 0.4):
        pair = Pair(sheet, ub.Box((0.4, 0.4, thickness)), 0.01)
        for side in (-1.0, 1.0):
            found = pair.ours.find(poses((I, (0, 0, 0)), (I, (0.2, 0.1, side * (0.5 * thickness - depth)))))
            assert len(found) == 4 and np.allclose(found.normal, (0, 0, side)) and np.allclose(found.gap, -depth, rtol=0, atol=3e-13)


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-7, 1e-9, 1e-12])
@pytest.mark.parametrize("gap", [0.0, 1e-6, -1e-6])
def test_corners_over_a_needle_are_over_the_floor(width, gap):
    """Not beside its edges: normals of a flat floor with a needle through it look up."""
    x = [(-1, -1, 0), (0, -1, 0), (1, -1, 0), (1, 1, 0), (0.5 * width, 1, 0), (-0.5 * width, 1, 0), (-1, 1, 0)]
    floor = ub.OpenMesh(x, [(0, 1, 5), (0, 5, 6), (1, 4, 5), (1, 2, 4), (2, 3, 4)])
    found = Pair(floor, ub.Box((0.2, 0.2, 0.2)), 0.01).ours.find(poses((I, (0, 0, 0)), (I, (-0.1, 0.013, 0.1 + gap))))
    assert len(np.unique(np.round(found.point, 5), axis=0)) == 4
    assert np.allclose(found.normal, (0, 0, 1)) and np.abs(found.gap - gap).max() < 1.1e-7


def test_needles_and_faces_without_area_give_finite_contacts():
    thin = ub.OpenMesh([(0, 0, 0), (1, 0, 0), (0.5, 1e-13, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)], [(0, 1, 2), (3, 4, 5)])
    pair = Pair(thin, ub.Sphere(0.1), 0.05)
    for x in (0.3, 0.5, 2.5, 3.3):
        found = pair.ours.find(poses((I, (0, 0, 0)), (I, (x, 0.0, 0.12))))
        assert len(found) == 1 and found.gap[0] == pytest.approx(0.02) and found.normal[0] == pytest.approx([0, 0, 1])
        assert np.isfinite(pair.ours.find(poses((I, (0, 0, 0)), (I, (x, 0.0, 0.0)))).normal).all()


def test_capsules_over_terrain_have_the_distance_of_their_segment():
    """Dense samples of the segment against all faces; the sampling error is second order in its spacing."""
    field = bumpy()
    vertices, faces = field.triangles()
    pair, rng, seen = Pair(field, ub.Capsule(0.1, 0.8), 0.1), np.random.default_rng(1), 0
    for _ in range(10):
        R = rotation(rng)
        c = np.array([*rng.uniform(-0.8, 0.8, 2), rng.uniform(0.4, 0.7)])
        near = [f for f in faces if np.linalg.norm(vertices[f].mean(axis=0) - c) < 1.2]
        points = c + np.linspace(-0.4, 0.4, 41)[:, None] * R[:, 2]
        distance = min(to_triangle(x, vertices[f]) for x in points for f in near)
        below = any(x[2] < 0.3 for x in points) and distance < 0.02
        if below or distance > 0.19:
            continue
        found = pair.ours.find(poses((I, (0, 0, 0)), (R, c)))
        assert found.gap.min() == pytest.approx(distance - 0.1, abs=2e-3) and found.gap.min() <= distance - 0.1 + 1e-9
        seen += 1
    assert seen >= 3


def test_a_capsule_lies_on_a_floor_with_both_ends_and_across_a_ridge_with_its_middle():
    lying = about((0, 1, 0), np.pi / 2)
    floor = Pair(ub.HeightField(np.zeros((9, 9)), 0.25), ub.Capsule(0.1, 0.8), 0.02)
    found = floor.ours.find(poses((I, (0, 0, 0)), (lying, (0, 0.03, 0.11))))
    assert sorted(found.point[:, 0]) == pytest.approx([-0.4, 0.4]) and found.gap == pytest.approx([0.01, 0.01])
    ridge = ub.HeightField(-np.abs(np.linspace(-1, 1, 5))[None, :] * np.ones((5, 1)), 0.5)
    pair = Pair(ridge, ub.Capsule(0.1, 0.8), 0.02)
    for gap in (0.01, -0.01, -0.1, -0.15):
        found = pair.ours.find(poses((I, (0, 0, 0)), (lying, (0, 0.03, 0.1 + gap))))
        k = found.gap.argmin()
        assert found.gap[k] == pytest.approx(gap) and found.normal[k] == pytest.approx([0, 0, 1]), gap


BLOCK = ub.Box((0.6, 0.4, 0.3))
SKIN = BLOCK.triangles()


@pytest.mark.parametrize(("box", "gap"), [(BLOCK, 0.005), (BLOCK, -0.003), (ub.Mesh(*SKIN), -0.003), (ub.OpenMesh(*SKIN), 0.005)])
def test_a_box_on_flat_terrain_rests_on_its_corners(box, gap):
    """On cells that its corners do not meet; the floor's own vertices under it are contacts of the same height."""
    pair = Pair(ub.HeightField(np.zeros((9, 9)), 0.25), box, 0.02)
    R = about((0, 0, 1), 0.4)
    found = pair.ours.find(poses((I, (0, 0, 0)), (R, (0.05, 0.03, 0.15 + gap))))
    corners = np.array([(x, y) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]) @ R[:2, :2].T + (0.05, 0.03)
    assert len(found) == 8 and found.gap == pytest.approx([gap] * 8, abs=1e-12)
    np.testing.assert_allclose(found.normal, [[0, 0, 1.0]] * 8, atol=1e-9)
    for corner in corners:
        assert np.linalg.norm(found.point[:, :2] - corner, axis=1).min() < 1e-9


def test_boxes_over_bumpy_terrain_have_the_distance_of_the_two_surfaces():
    """Separated: vertices against faces both ways and edges against edges, all of them, by the stencils of the barrier."""
    from unibody.collision.stencils import edge_edge

    field, box = bumpy(), ub.Box((0.5, 0.4, 0.3))
    (x, f), (y, g) = field.triangles(), box.triangles()
    pair, rng, seen = Pair(field, box, 0.2), np.random.default_rng(5), 0
    for _ in range(14):
        R, c = rotation(rng), np.array([*rng.uniform(-0.7, 0.7, 2), rng.uniform(0.45, 0.7)])
        z = y @ R.T + c
        near = [k for k in range(len(f)) if np.linalg.norm(x[f[k]].mean(axis=0) - c) < 1.1]
        least = min(to_triangle(v, x[f[k]]) for v in z for k in near)
        least = min(least, min(to_triangle(v, z[t]) for v in x[np.unique(f[near])] for t in g))
        for i, j in edges_of(f[near]):
            for k, m in edges_of(g):
                least = min(least, float(np.linalg.norm(edge_edge(*(tuple(q) for q in (x[i], x[j], z[k], z[m])))[1])))
        if least > 0.19 or least < 1e-3:
            continue
        found = pair.ours.find(poses((I, (0, 0, 0)), (R, c)))
        assert found.gap.min() == pytest.approx(least, abs=1e-9)
        seen += 1
    assert seen >= 3


def test_a_stool_of_one_mesh_stands_on_its_three_feet_on_another_mesh():
    """A surface that is not convex: three separate blocks in one mesh."""
    block, faces = ub.Box((0.1, 0.1, 0.4)).triangles()
    feet = np.array([(0.5, 0.0, 0.0), (-0.25, 0.43, 0.0), (-0.25, -0.43, 0.0)])
    stool = ub.Mesh(np.concatenate([block + foot for foot in feet]), np.concatenate([faces + 8 * k for k in range(3)]))
    bowl = ub.HeightField(np.zeros((5, 5)), 0.8)
    found = Pair(bowl, stool, 0.01).ours.find(poses((I, (0, 0, 0)), (I, (0.1, 0.1, 0.199))))
    assert len(found) == 12 and found.gap == pytest.approx([-0.001] * 12, abs=1e-12)
    nearest = np.linalg.norm(found.point[:, None, :2] - (feet[:, :2] + 0.1), axis=2)
    assert (nearest.min(axis=1) < 0.08).all() and set(nearest.argmin(axis=1)) == {0, 1, 2}


def test_an_ellipsoid_on_terrain_touches_where_its_support_point_is():
    pytest.importorskip("coal")
    e = ub.Ellipsoid((0.3, 0.5, 0.4))
    R = about((1, 2, 3), 0.7)
    low = np.linalg.norm(np.array(e.semi_axes) * R[2])
    pair = Pair(ub.HeightField(np.zeros((9, 9)), 0.25), e, 0.05)
    for gap in (0.01, -0.02):
        found = pair.ours.find(poses((I, (0, 0, 0)), (R, (0.11, 0.07, low + gap))))
        assert len(found) == 1 and found.gap == pytest.approx([gap]) and found.normal[0] == pytest.approx([0, 0, 1])
    ridge = Pair(ub.HeightField(-np.abs(np.linspace(-1, 1, 5))[None, :] * np.ones((5, 1)), 0.5), ub.Ellipsoid((0.3, 0.3, 0.2)), 0.05)
    found = ridge.ours.find(poses((I, (0, 0, 0)), (I, (0.0, 0.1, 0.21))))
    # At an edge the normal is coal's, good to 1e-4 or so.
    assert found.gap.min() == pytest.approx(0.01, abs=1e-6) and found.normal[found.gap.argmin()] == pytest.approx([0, 0, 1], abs=1e-2)


def test_features_persist_while_a_box_slides_over_a_floor():
    pair = Pair(ub.HeightField(np.zeros((9, 9)), 0.25), ub.Box((0.1, 0.1, 0.1)), 0.01)
    first: dict = {}
    for x in np.linspace(0.06, 0.19, 14):  # between two lines of the grid, over one diagonal
        found = pair.ours.find(poses((I, (0, 0, 0)), (I, (x, 0.1, 0.05))))
        corners = {tuple(np.round(p - (x, 0.1), 9)): int(k & FEATURE) for p, k in zip(found.point_a[:, :2], found.id, strict=True)}
        first = first or corners
        assert corners == first and len(corners) == 4


def test_a_mesh_that_many_bodies_share_is_made_ready_once():
    mesh = ub.Mesh(*ub.Sphere(0.3).triangles(16))
    rigid = RigidCollision(model_of(*[mesh] * 5, bumpy(4)), 0.01)
    assert set(rigid.table.mesh.tolist()) == {0, 1}


def test_a_shape_of_ones_own_takes_part_with_its_triangles():
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Wedge(ub.Box):
        def triangles(self, resolution=16):
            x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
            return x, np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])

    class Own(ub.OpenMesh.__mro__[1]):
        volume = 1.0 / 6.0

        def mass_properties(self, density):
            return ub.Mesh(*self.triangles()).mass_properties(density)

        def triangles(self, resolution=16):
            return Wedge((1, 1, 1)).triangles()

    found = Pair(Own(), ub.Sphere(0.2), 0.05).ours.find(poses((I, (0, 0, 0)), (I, (0.2, 0.2, -0.21))))
    assert found.gap == pytest.approx([0.01]) and found.normal[0] == pytest.approx([0, 0, -1])
