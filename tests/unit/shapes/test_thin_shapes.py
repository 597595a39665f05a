"""Wires and point clouds: mass properties of rods and balls by closed forms, surfaces, pictures, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError
from unibody.files.scene_json import load_json, save_json

R, RHO = 0.01, 7800.0


def circle(n: int, radius: float) -> np.ndarray:
    angle = 2.0 * np.pi * np.arange(n) / n
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle], axis=1)


def test_a_straight_wire_weighs_as_a_cylinder():
    """Whatever its direction: the wire along (1, 2, 2)/3 against a Cylinder turned there."""
    end = np.array([1.0, 2.0, 2.0])
    wire, rod = ub.Wire([(0, 0, 0), end], radius=R).mass_properties(RHO), ub.Cylinder(R, 3.0).mass_properties(RHO)
    assert wire.mass == pytest.approx(rod.mass) and wire.com == pytest.approx(0.5 * end)
    z = end / 3.0
    axial, across = rod.inertia[2, 2], rod.inertia[0, 0]
    assert wire.inertia == pytest.approx(across * np.eye(3) + (axial - across) * np.outer(z, z), rel=1e-12)


def test_pieces_of_a_wire_are_one_wire():
    """A straight wire in seven pieces, in order or named by pairs, is the wire in one piece."""
    points = np.linspace(0.0, 1.0, 8)[:, None] * np.array([0.3, -0.2, 0.9])
    one = ub.Wire(points[[0, -1]], radius=R).mass_properties(RHO)
    named = ub.Wire(points[::-1], radius=R, pieces=[(k, k + 1) for k in range(7)])
    for wire in (ub.Wire(points, radius=R), named):
        found = wire.mass_properties(RHO)
        assert found.mass == pytest.approx(one.mass) and found.com == pytest.approx(one.com)
        assert found.inertia == pytest.approx(one.inertia, rel=1e-9, abs=1e-9 * one.inertia.max())


def test_a_ring_of_many_pieces_tends_to_a_hoop():
    """m = ρ 2 π a π r², I_zz = m a², of a thin one; the polygon's error is of the order (2 π/n)²."""
    a, n = 0.5, 400
    ring = ub.Wire(circle(n, a), radius=1e-3, closed=True)
    found, mass = ring.mass_properties(RHO), RHO * 2.0 * np.pi * a * np.pi * 1e-6
    assert found.mass == pytest.approx(mass, rel=1e-3) and found.inertia[2, 2] == pytest.approx(mass * a * a, rel=1e-3)
    assert found.inertia[0, 0] == pytest.approx(0.5 * mass * a * a, rel=1e-3) and np.allclose(found.com, 0.0, atol=1e-12)
    assert ring.length == pytest.approx(2.0 * n * a * np.sin(np.pi / n))


def test_a_cloud_weighs_as_its_balls():
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 2, 0)], float)
    cloud = ub.PointCloud(points, radius=0.1).mass_properties(RHO)
    ball = ub.Sphere(0.1).mass_properties(RHO)
    d = points - points.mean(axis=0)
    second = np.einsum("ni,nj->ij", d, d)
    assert cloud.mass == pytest.approx(3.0 * ball.mass) and cloud.com == pytest.approx(points.mean(axis=0))
    assert cloud.inertia == pytest.approx(3.0 * ball.inertia + ball.mass * (np.trace(second) * np.eye(3) - second))


def test_shares_of_the_surface():
    """Of edges and of points each the whole: 2 π r l; of lone points balls; of what is thinner than a thousandth of its size, that much."""
    for radius, counted in ((0.01, 0.01), (1e-9, 1e-3 * np.sqrt(2.0))):
        thin = ub.Wire([(0, 0, 0), (1, 0, 0), (1, 1, 0)], radius=radius).skeleton()
        points, edges = thin.areas()
        assert thin.radius == radius and edges == pytest.approx(np.full(2, 2.0 * np.pi * counted))
        assert points == pytest.approx(2.0 * np.pi * counted * np.array([0.5, 1.0, 0.5]))
    assert ub.PointCloud([(0, 0, 0), (1, 0, 0)], radius=0.1).skeleton().areas()[0] == pytest.approx(np.full(2, 4.0 * np.pi * 0.01))


def test_pictures_close_and_hold_what_they_show():
    """Around a straight piece of wire, and around a lone point: closed surfaces whose volumes tend to those of a capsule and a ball."""
    for shape, volume in (
        (ub.Wire([(0, 0, 0), (0.3, 0.4, 0)], radius=0.1), np.pi * 0.01 * 0.5 + 4.0 / 3.0 * np.pi * 1e-3),
        (ub.PointCloud([(1, 2, 3)], radius=0.1), 4.0 / 3.0 * np.pi * 1e-3),
    ):
        x, faces = shape.triangles(64)
        assert 0.8 * volume < ub.Mesh(x, faces).volume < volume
    wire = ub.Wire([(0, 0, 0), (1, 0, 0), (1, 1, 0)], radius=0.1)
    assert wire.edges()[1].tolist() == [[0, 1], [1, 2]]
    assert np.ptp(wire.triangles()[0], axis=0) == pytest.approx([1.2, 1.2, 0.2], abs=0.03)


def test_a_placed_wire_is_moved():
    placed = ub.Placed(ub.Wire([(0, 0, 0), (1, 0, 0)], radius=R), ub.Pose.about((0, 0, 1), 0.5 * np.pi, p=(0, 0, 2)))
    assert placed.skeleton().points == pytest.approx(np.array([(0, 0, 2), (0, 1, 2)], float))
    assert ub.Placed(ub.Sphere(1.0), ub.Pose()).skeleton() is None


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ub.Wire([(0, 0, 0)], radius=R), r"^Wire: points have shape \(1, 3\); give at least 2"),
        (lambda: ub.Wire("abc", radius=R), r"^Wire: points have shape"),
        (lambda: ub.Wire([(0, 0, 0), (np.nan, 0, 0)], radius=R), r"^Wire: point 1 \[nan, 0.0, 0.0\] is not finite"),
        (lambda: ub.Wire([(0, 0, 0), (0, 0, 0)], radius=R), r"^Wire: points 0 and 1 are joined and at one place"),
        (lambda: ub.Wire([(0, 0, 0), (1, 0, 0)], radius=0), r"^Wire: radius 0 is not a positive number"),
        (lambda: ub.Wire([(0, 0, 0), (1, 0, 0)], radius=R, pieces=[(0, 2)]), r"^Wire: piece 0 joins points \[0.0, 2.0\]; give whole"),
        (lambda: ub.Wire([(0, 0, 0), (1, 0, 0)], radius=R, pieces=[0, 1]), r"^Wire: pieces have shape \(2,\)"),
        (lambda: ub.Wire(np.eye(3), radius=R, pieces=[(0, 1)]), r"^Wire: point 2 is in no piece"),
        (lambda: ub.Wire(np.eye(3), radius=R, closed=True, pieces=[(0, 1), (1, 2)]), r"^Wire: both pieces and closed"),
        (lambda: ub.PointCloud([], radius=R), r"^PointCloud: points have shape \(0,\); give at least 1"),
        (lambda: ub.PointCloud([(0, 0, 0)], radius=-1), r"^PointCloud: radius -1 is not a positive number"),
    ],
)
def test_bad_shapes_are_refused_in_one_line(make, said):
    with pytest.raises(ModelError, match=said) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_scene_files_keep_them(tmp_path):
    b = ub.Builder()
    b.body("wire", shape=ub.Wire([(0, 0, 0), (1, 0, 0), (1, 1, 0)], radius=R, pieces=[(0, 1), (1, 2)]))
    b.body("ring", shape=ub.Wire(circle(6, 0.2), radius=R, closed=True), X_WB=ub.Pose((0, 0, 3)))
    b.body("cloud", shape=ub.PointCloud([(0, 0, 0)], radius=R), X_WB=ub.Pose((0, 0, 2)))
    b.add(ub.Contact(thickness=1e-3))
    save_json(b.build(), tmp_path / "thin.json")
    model = load_json(tmp_path / "thin.json").model
    wire, ring, cloud = (model.bodies[k].shapes[0].shape for k in (1, 2, 3))
    assert wire.pieces.tolist() == [[0, 1], [1, 2]] and ring.closed and ring.points == pytest.approx(circle(6, 0.2))
    assert cloud.radius == R and model.constraints[0][1].thickness == 1e-3
