"""Closed forms, their limits, and the tessellations that must converge to them."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from unibody.errors import ModelError
from unibody.shapes import Box, Capsule, Cylinder, Ellipsoid, MassProperties, Mesh, Placed, Sphere, combine

ROUND = [Sphere(0.7), Capsule(0.3, 1.1), Cylinder(0.4, 0.9), Ellipsoid((0.5, 0.8, 1.3))]
ALL = [Box((1.0, 2.0, 3.0)), *ROUND]


def rotation(seed: int) -> np.ndarray:
    Q, R = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def pose(seed: int) -> SimpleNamespace:
    return SimpleNamespace(R=rotation(seed), p=np.random.default_rng(seed).normal(size=3))


def assert_same(a: MassProperties, b: MassProperties, rtol: float) -> None:
    size = np.abs(b.inertia).max()
    assert a.mass == pytest.approx(b.mass, rel=rtol)
    np.testing.assert_allclose(a.com, b.com, atol=rtol * (1.0 + np.abs(b.com).max()))
    np.testing.assert_allclose(a.inertia, b.inertia, atol=rtol * size)


def test_box_and_its_mesh_are_the_same_solid():
    box = Box((1.0, 2.0, 3.0))
    mesh = Mesh(*box.triangles())
    assert mesh.volume == pytest.approx(6.0, rel=1e-14)
    assert_same(mesh.mass_properties(7.0), box.mass_properties(7.0), 1e-14)
    np.testing.assert_allclose(np.diag(box.mass_properties(2.0).inertia), [13.0, 10.0, 5.0], rtol=1e-15)


def test_sphere_is_an_ellipsoid_with_equal_axes_and_a_capsule_without_length():
    sphere = Sphere(0.7).mass_properties(3.0)
    assert_same(Ellipsoid((0.7, 0.7, 0.7)).mass_properties(3.0), sphere, 1e-15)
    assert_same(Capsule(0.7, 1e-13).mass_properties(3.0), sphere, 1e-12)
    assert sphere.mass == pytest.approx(3.0 * 4.0 / 3.0 * math.pi * 0.343, rel=1e-15)
    assert sphere.inertia[0, 0] == pytest.approx(0.4 * sphere.mass * 0.49, rel=1e-15)


def test_thin_capsule_and_cylinder_are_rods():
    for shape in (Capsule(1e-7, 2.0), Cylinder(1e-7, 2.0)):
        properties = shape.mass_properties(1.0)
        # The caps add a relative length of order radius/length = 5e-8.
        assert properties.inertia[0, 0] == pytest.approx(properties.mass * 4.0 / 12.0, rel=1e-6)


def test_capsule_is_a_cylinder_and_two_half_balls():
    """The half-balls come from the formula of a solid of revolution, integrated by Gauss–Legendre, exact for polynomials."""
    r, length = 0.3, 1.1
    z, w = np.polynomial.legendre.leggauss(8)
    z, w = 0.5 * r * (z + 1.0), 0.5 * r * w
    area = math.pi * (r * r - z * z)
    half = MassProperties(w @ area, (0, 0, w @ (area * z) / (w @ area)), np.ones(3))
    second_z = w @ (area * z * z)
    second_x = w @ (area * (r * r - z * z) / 4.0)
    transverse = second_x + second_z - half.mass * half.com[2] ** 2
    half = MassProperties(half.mass, half.com, (transverse, transverse, 2.0 * second_x))
    top = half.moved(np.eye(3), (0, 0, length / 2))
    bottom = half.moved(np.diag([1.0, -1.0, -1.0]), (0, 0, -length / 2))
    whole = combine([Cylinder(r, length).mass_properties(1.0), top, bottom])
    assert_same(Capsule(r, length).mass_properties(1.0), whole, 1e-14)


@pytest.mark.parametrize("shape", ROUND, ids=lambda s: type(s).__name__)
def test_tessellation_converges_to_the_closed_form_at_second_order(shape):
    exact = shape.mass_properties(1.0)
    errors = []
    for resolution in (32, 64, 128):
        mesh = Mesh(*shape.triangles(resolution)).mass_properties(1.0)
        errors.append([abs(mesh.mass - exact.mass), *np.abs(np.diag(mesh.inertia - exact.inertia))])
        np.testing.assert_allclose(mesh.com, 0.0, atol=1e-14)
    order = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(order, 2.0, atol=0.05)  # the next term of the expansion is of relative order 1/32²


@pytest.mark.parametrize("shape", ALL, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("resolution", [3, 5, 16])
def test_surface_is_closed_and_outward_at_every_resolution(shape, resolution):
    vertices, faces = shape.triangles(resolution)
    mesh = Mesh(vertices, faces)  # refuses open and inside-out surfaces
    assert 0.0 < mesh.volume <= shape.volume * (1.0 + 1e-14)  # inscribed in a convex solid
    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("fi,fi->f", normal, corners.mean(axis=1)) > 0.0).all()  # convex about the origin


@pytest.mark.parametrize("shape", ALL, ids=lambda s: type(s).__name__)
def test_edges_are_segments_on_the_surface(shape):
    vertices, pairs = shape.edges()
    assert pairs.ndim == 2 and pairs.shape[1] == 2 and len(pairs) >= 12
    assert pairs.min() >= 0 and pairs.max() < len(vertices)
    bound = np.abs(shape.triangles(64)[0]).max(axis=0)
    assert (np.abs(vertices) <= bound * (1 + 1e-12)).all()


@pytest.mark.parametrize("shape", ALL, ids=lambda s: type(s).__name__)
def test_placing_a_shape_moves_its_mass_as_it_moves_its_mesh(shape):
    placed = Placed(shape, pose(4))
    mesh = Mesh(*placed.triangles(24)).mass_properties(2.0)
    assert_same(mesh, Mesh(*shape.triangles(24)).mass_properties(2.0).moved(placed.X_BS.R, placed.X_BS.p), 1e-13)
    assert_same(placed.mass_properties(2.0), shape.mass_properties(2.0).moved(placed.X_BS.R, placed.X_BS.p), 1e-15)
    assert placed.volume == shape.volume
    np.testing.assert_array_equal(placed.edges()[1], shape.edges()[1])


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "wide", None, (1.0, 2.0)])
def test_bad_radius_is_refused_by_name_and_value(bad):
    for make in (lambda: Sphere(bad), lambda: Capsule(bad, 1.0), lambda: Cylinder(1.0, bad)):
        with pytest.raises(ModelError, match=r"^(Sphere|Capsule|Cylinder): (radius|length) .* is not a positive number; give") as caught:
            make()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", [(1, 2), (1, 2, 3, 4), (1, 2, 0), (1, -2, 3), (1, math.nan, 3), 5.0, ("a", "b", "c")])
def test_bad_triples_are_refused_by_name_and_value(bad):
    with pytest.raises(ModelError, match=r"^Box: sides .*; give"):
        Box(bad)
    with pytest.raises(ModelError, match=r"^Ellipsoid: semi_axes .*; give"):
        Ellipsoid(bad)


def test_bad_placements_and_resolutions_are_refused():
    with pytest.raises(ModelError, match="is not a shape"):
        Placed(1.0, pose(0))
    with pytest.raises(ModelError, match="is not a pose"):
        Placed(Sphere(1.0), (0, 0, 1))
    with pytest.raises(ModelError, match="not a rotation matrix"):
        Placed(Sphere(1.0), SimpleNamespace(R=2.0 * np.eye(3), p=np.zeros(3)))
    with pytest.raises(ModelError, match="resolution 2"):
        Sphere(1.0).triangles(2)


def test_shapes_are_frozen_and_comparable():
    assert Box([1, 2, 3]) == Box((1.0, 2.0, 3.0))
    with pytest.raises(AttributeError):
        Sphere(1.0).radius = 2.0
