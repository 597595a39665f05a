"""Candidates: nothing near is missed, at an instant or on a way; filters; order."""

from __future__ import annotations

import numpy as np
import pytest
from soups import everyone, parts, soup

import unibody as ub
from unibody.collision.broad import Broad, Filter
from unibody.collision.stencils import edge_edge, point_triangle
from unibody.collision.surface import Surface, sharp_edges


def distance(which, *x):
    return np.linalg.norm(which(*(tuple(map(float, p)) for p in x))[1])


def near_by_brute_force(surface, x, margin, n):
    """Sets of (vertex, face) and (edge, edge) of different bodies that are nearer than the margin."""
    points, edges = set(), set()
    face_body, edge_body = surface.body[surface.faces[:, 0]], surface.body[surface.edges[:, 0]]
    for v in range(len(x)):
        for f, face in enumerate(surface.faces):
            if face_body[f] != surface.body[v] and distance(point_triangle, x[v], *x[face]) < margin:
                points.add((v, f))
    for e in range(len(surface.edges)):
        for f in range(e + 1, len(surface.edges)):
            if edge_body[f] != edge_body[e] and distance(edge_edge, *x[surface.edges[e]], *x[surface.edges[f]]) < margin:
                edges.add((e, f))
    return points, edges


def listed(candidates):
    return {tuple(p) for p in candidates.points.tolist()}, {tuple(sorted(e)) for e in candidates.edges.tolist()}


@pytest.mark.parametrize("margin", [0.08, 0.3])
def test_nothing_near_is_missed_at_an_instant(margin):
    surface, broad, x = parts(soup(6, 1.6, 1))
    points, edges = near_by_brute_force(surface, x, margin, 6)
    found = listed(broad.between(x, x, margin))
    assert len(points) > 3 and points <= found[0] and edges <= found[1]


def test_nothing_near_is_missed_on_a_way():
    rng = np.random.default_rng(2)
    surface, broad, x0 = parts(soup(5, 3.0, 4))
    x1 = x0 + rng.uniform(-2.0, 2.0, (6, 3))[surface.body]
    found, seen = listed(broad.between(x0, x1, 0.05)), 0
    for t in (0.0, 0.33, 0.71, 1.0):
        points, edges = near_by_brute_force(surface, x0 + t * (x1 - x0), 0.05, 5)
        seen += len(points) + len(edges)
        assert points <= found[0] and edges <= found[1]
    assert seen > 2


def test_bodies_far_from_each_other_have_no_candidates():
    surface, broad, x = parts(soup(8, 1.0, 3))
    far = x + 100.0 * surface.body[:, None]
    found = broad.between(far, far, 0.1)
    assert len(found.points) == len(found.edges) == 0


def test_pairs_excluded_resting_or_in_other_groups_are_left_out():
    model = soup(4, 0.5, 5)
    surface, broad, x = parts(model)
    pairs = {tuple(p) for p in broad.body_pairs(x, x, 0.1).tolist()}
    n = model.n_bodies
    assert (1, 2) in pairs and (2, 3) in pairs
    without = Broad(surface, everyone(n, [(2, 1)])).body_pairs(x, x, 0.1).tolist()
    assert {tuple(p) for p in without} == pairs - {(1, 2)}
    still = Filter(np.zeros(n, np.int64), np.zeros(n, np.int64), np.ones(n, np.int64), np.zeros(0, np.int64))
    assert len(Broad(surface, still).body_pairs(x, x, 0.1)) == 0
    group = np.array([0, 1, 0, 0, 0])[:n]
    apart = Filter(np.ones(n, np.int64), group, np.ones(n, np.int64), np.zeros(0, np.int64))
    assert {tuple(p) for p in Broad(surface, apart).body_pairs(x, x, 0.1).tolist()} == {p for p in pairs if 1 not in p}


def test_lists_are_the_same_every_time_and_sorted():
    _, broad, x = parts(soup(12, 1.5, 6))
    first, second = broad.between(x, x, 0.2), broad.between(x, x, 0.2)
    assert (first.points == second.points).all() and (first.edges == second.edges).all()
    pairs = broad.body_pairs(x, x, 0.2)
    assert (np.lexsort((pairs[:, 1], pairs[:, 0])) == np.arange(len(pairs))).all()


def test_vertices_are_held_against_half_spaces():
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("box", shape=ub.Box((1, 1, 1)), X_WB=ub.Pose(p=(0, 0, 2)))
    model = b.build()
    surface = Surface.of(model)
    moving = np.array([body.kind == "dynamic" for body in model.bodies], np.int64)
    rules = Filter(moving, np.zeros(3, np.int64), np.ones(3, np.int64), np.zeros(0, np.int64))
    assert sorted(Broad(surface, rules).plane_pairs.tolist()) == [[v, 0] for v in range(8)]


def test_surface_of_a_box():
    """8 corners, 12 edges (the diagonals of the sides are none), 12 faces; areas of vertices and of edges both add up to the surface."""
    b = ub.Builder()
    b.body("box", shape=ub.Box((1.0, 2.0, 3.0)))
    s = Surface.of(b.build())
    assert (len(s.w), len(s.edges), len(s.faces)) == (8, 12, 12)
    assert s.vertex_area.sum() == pytest.approx(22.0) and s.edge_area.sum() == pytest.approx(22.0)
    assert s.size == pytest.approx(np.sqrt(14.0))


def test_edges_that_are_left_out_are_flat():
    """Of a tetrahedron none; of an L-shaped block the diagonals, not the inner corner; of an open sheet its border stays."""
    tetrahedron = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float), np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    assert len(sharp_edges(*tetrahedron)[0]) == 6
    sheet = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], float), np.array([(0, 1, 2), (0, 2, 3)])
    assert sorted(map(tuple, sharp_edges(*sheet)[0])) == [(0, 1), (0, 3), (1, 2), (2, 3)]
    for bend, kept in ((0.0, 4), (1e-9, 5)):
        x = sheet[0] + np.array([(0, 0, 0), (0, 0, bend), (0, 0, 0), (0, 0, 0)])
        assert len(sharp_edges(x, sheet[1])[0]) == kept
    folded = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.5, 0)], float), np.array([(0, 1, 2), (2, 1, 3)])  # one over the other
    assert len(sharp_edges(*folded)[0]) == 5


def test_patches_are_the_sides():
    b = ub.Builder()
    b.body("box", shape=ub.Box((1.0, 2.0, 3.0)))
    b.body("can", shape=ub.Cylinder(1.0, 2.0), X_WB=ub.Pose(p=(5, 0, 0)))
    s = Surface.of(b.build(), 12)
    sides = [len(set(s.patch[s.face_start[k] : s.face_start[k + 1]])) for k in (1, 2)]
    assert sides == [6, 14]
    assert all((s.patch[k] <= k) and s.patch[s.patch[k]] == s.patch[k] for k in range(len(s.patch)))


def boxes_of(x0, x1, members, margin):
    both = np.concatenate([x0[members], x1[members]], axis=1)
    return both.min(axis=1) - 0.5 * margin, both.max(axis=1) + 0.5 * margin


def meeting(one, other):
    """Pairs of two lists of boxes that share a point, by comparing all."""
    low, high = one[0][:, None] <= other[1][None], other[0][None] <= one[1][:, None]
    return set(map(tuple, np.argwhere((low & high).all(axis=2)).tolist()))


def test_trees_find_what_comparing_all_boxes_finds():
    """Round bodies of hundreds of faces, near each other, first at rest, then on the way; and a static one among them, moved in between."""
    rng, b = np.random.default_rng(7), ub.Builder()
    for k, shape in enumerate((ub.Sphere(1.0), ub.Cylinder(0.5, 2.0), ub.Capsule(0.4, 1.0), ub.Box((1, 1, 1)))):
        b.body(f"b{k}", shape=shape, X_WB=ub.Pose.about(rng.normal(size=3), k, p=tuple(0.5 * rng.normal(size=3))))
    model = b.build()
    surface, _, x = parts(model)
    moving = np.array([0, 0, 1, 1, 1], np.int64)
    broad = Broad(surface, Filter(moving, np.zeros(5, np.int64), np.ones(5, np.int64), np.zeros(0, np.int64)))
    assert len(surface.faces) > 500
    face_body, edge_body = surface.body[surface.faces[:, 0]], surface.body[surface.edges[:, 0]]
    ways = [np.zeros((5, 3)), rng.normal(size=(5, 3)) * [[1], [0], [1], [1], [1]], rng.normal(size=(5, 3))]
    for shift, margin in ((0.0, 0.05), (0.0, 0.05), (0.3, 0.05), (0.3, 0.1)):
        for way in ways:
            x0 = x + shift
            x1 = x0 + way[surface.body]
            vertices = boxes_of(x0, x1, np.arange(len(x))[:, None], margin)
            edges, faces = boxes_of(x0, x1, surface.edges, margin), boxes_of(x0, x1, surface.faces, margin)
            points = {(v, f) for v, f in meeting(vertices, faces) if surface.body[v] != face_body[f]}
            pairs = {(e, f) for e, f in meeting(edges, edges) if edge_body[e] < edge_body[f]}
            found = broad.between(x0, x1, margin)
            assert len(found.points) == len(points) > 100 and set(map(tuple, found.points.tolist())) == points
            assert len(found.edges) == len(pairs) and set(map(tuple, found.edges.tolist())) == pairs
