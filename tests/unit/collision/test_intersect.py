"""Crossing surfaces are found and named, whatever passes through what; touching or apart ones are not."""

from __future__ import annotations

import numpy as np
import pytest
from soups import coordinates, parts, soup, tetrahedron

import unibody as ub
from unibody.collision.intersect import crossing
from unibody.shapes.mesh import winding


def check(*bodies):
    b = ub.Builder()
    for k, (shape, pose) in enumerate(bodies):
        b.body(f"b{k}", shape=shape, X_WB=pose, kind="static" if isinstance(shape, ub.Plane) else "dynamic")
    model = b.build()
    surface, broad, x = parts(model)
    return crossing(surface, broad, x, surface.planes(coordinates(model)))


BOX = ub.Box((1.0, 1.0, 1.0))


def test_apart_and_overlapping_boxes():
    assert check((BOX, ub.Pose()), (BOX, ub.Pose(p=(1.001, 0.0, 0.0)))) is None
    assert check((BOX, ub.Pose()), (BOX, ub.Pose.about((0.3, 1, 0.2), 0.7, p=(0.6, 0.1, 0.05)))) == (1, 2)


def test_a_rod_through_a_plate_without_any_vertex_inside():
    assert check((ub.Box((2.0, 2.0, 0.1)), ub.Pose()), (ub.Box((0.1, 0.1, 3.0)), ub.Pose(p=(0.123, 0.077, 0.0)))) == (1, 2)


def test_a_body_within_another():
    assert check((ub.Box((3.0, 3.0, 3.0)), ub.Pose()), (tetrahedron(0.2), ub.Pose(p=(0.1, 0.1, 0.1)))) == (1, 2)


def test_below_a_half_space():
    assert check((ub.Plane(), ub.Pose()), (BOX, ub.Pose(p=(0.0, 0.0, 0.51)))) is None
    assert check((ub.Plane(), ub.Pose()), (BOX, ub.Pose(p=(0.0, 0.0, 0.49)))) == (1, 2)


def test_axis_aligned_boxes_that_cross_edge_on_edge():
    """Equal boxes shifted along an axis share planes: no edge passes a face transversally, yet they overlap."""
    assert check((BOX, ub.Pose()), (BOX, ub.Pose(p=(0.5, 0.0, 0.0)))) == (1, 2)
    assert check((BOX, ub.Pose()), (BOX, ub.Pose())) == (1, 2)


def test_solid_angle():
    box = ub.Box((1.0, 1.0, 1.0))
    x, f = box.triangles()
    assert winding(x[f], np.array([0.2, -0.3, 0.4])) == pytest.approx(1.0) and abs(winding(x[f], np.array([0.2, -0.3, 0.6]))) < 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_same_verdict_as_ipctk(seed):
    ipctk = pytest.importorskip("ipctk")
    model = soup(4, 2.6, seed)
    surface, broad, x = parts(model)
    pair = crossing(surface, broad, x, surface.planes(coordinates(model)))
    mesh = ipctk.CollisionMesh(x, ipctk.edges(surface.faces), surface.faces.astype(np.int32))
    assert (pair is not None) == ipctk.has_intersections(mesh, x)
