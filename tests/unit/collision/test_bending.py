"""Meshes that bend and touch themselves, and things without faces: candidates and contacts against comparing all with all."""

from __future__ import annotations

import numpy as np
import pytest
from soups import coordinates

import unibody as ub
from unibody.collision.broad import Broad, Filter
from unibody.collision.contact_search import ContactSearch
from unibody.collision.intersect import crossing
from unibody.collision.proximity import Proximity
from unibody.collision.stencils import edge_edge, point_triangle
from unibody.collision.surface import BendingMesh, Surface


def distance(which, *x):
    return np.linalg.norm(which(*(tuple(map(float, p)) for p in x))[1])


def sheet(n: int) -> tuple[np.ndarray, np.ndarray]:
    """n × n vertices of a flat square of the size 1, and its triangles."""
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    at = np.arange(n * n).reshape(n, n)
    a, b, c, d = (at[i : n - 1 + i, j : n - 1 + j].ravel() for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)))
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1), faces


def folded(x: np.ndarray, gap: float) -> np.ndarray:
    """A sheet folded to and fro between its columns of vertices; folds on one side are apart by `gap`."""
    column = np.searchsorted(np.unique(x[:, 0]), x[:, 0])
    return np.stack([0.25 * (column % 2), x[:, 1], 0.5 * gap * column], axis=1)


def scene(n: int, radius: float, itself: bool) -> tuple[Surface, Broad, np.ndarray]:
    """A box, a folded sheet beside it, and on its other side a free rod and a lone point; control points of all, flat."""
    b = ub.Builder()
    b.body("box", shape=ub.Box((0.3, 0.4, 0.5)), X_WB=ub.Pose.about((1, 0, 0), 0.4, p=(0.43, 0.5, 0.1)))
    model = b.build()
    rest, faces = sheet(n)
    rod = np.array([(-0.03, -0.5, 0), (-0.04, 0.5, 0.02), (-0.035, 1.5, 0.01), (0.1, 0.2, -0.04)])
    none = np.zeros((0, 2), int)
    surface = Surface.of(model).plus(BendingMesh(rest, faces, none, 8, radius))
    surface = surface.plus(BendingMesh(rod, none.reshape(0, 3), np.array([(0, 1), (1, 2)]), 8 + n * n, radius))
    flags, owners = np.array([0, 1, 1, 1]), np.array([2, 3] if itself else [], np.int64)
    rules = Filter(flags, np.zeros(4, np.int64), np.ones(4, np.int64), np.zeros(0, np.int64), owners)
    x = np.concatenate([coordinates(model).ravel(), folded(rest, 0.06).ravel(), rod.ravel()])
    return surface, Broad(surface, rules), x


def by_brute_force(s: Surface, x: np.ndarray, margin: float, itself: bool) -> tuple[set, set]:
    """(vertex, face) and (edge, edge) with gaps below the margin, without those that share a vertex."""
    points, edges = set(), set()
    for v in range(len(x)):
        for f, face in enumerate(s.faces):
            if v in face or (s.body[v] == s.body[face[0]] and (not itself or s.body[v] == 1)):
                continue
            if distance(point_triangle, x[v], *x[face]) - s.radius[v] - s.radius[face[0]] < margin:
                points.add((v, f))
    for e, one in enumerate(s.edges):
        for f in range(e + 1, len(s.edges)):
            other = s.edges[f]
            if set(one) & set(other) or (s.body[one[0]] == s.body[other[0]] and (not itself or s.body[one[0]] == 1)):
                continue
            if distance(edge_edge, *x[one], *x[other]) - s.radius[one[0]] - s.radius[other[0]] < margin:
                edges.add((e, f))
    return points, edges


@pytest.mark.parametrize("n", [4, 9])
@pytest.mark.parametrize("radius", [0.0, 0.01])
@pytest.mark.parametrize("itself", [True, False])
def test_nothing_near_is_missed_and_every_pair_comes_once(n, radius, itself):
    """With few primitives, compared all with all, and with many, found by trees; at an instant, and on a way."""
    surface, broad, X = scene(n, radius, itself)
    x0 = surface.positions(X)
    x1 = x0 + np.random.default_rng(1).uniform(-0.03, 0.03, x0.shape)
    points, edges = by_brute_force(surface, x0, 0.04, itself)
    for end in (x0, x1):
        found = broad.between(x0, end, 0.04)
        listed = [tuple(p) for p in found.points.tolist()], [tuple(sorted(e)) for e in found.edges.tolist()]
        assert all(len(set(some)) == len(some) for some in listed)
        assert points <= set(listed[0]) and edges <= set(listed[1])
        own = [(v, f) for v, f in listed[0] if surface.body[v] == surface.body[surface.faces[f, 0]]]
        assert bool(own) == itself and not any(v in surface.faces[f] for v, f in own)
        assert not any(set(surface.edges[e]) & set(surface.edges[f]) for e, f in listed[1])
    assert len(points) > 5 and len(edges) > 5
    later = by_brute_force(surface, x1, 0.04, itself)
    assert later[0] <= set(listed[0]) and later[1] <= set(listed[1])


@pytest.mark.parametrize("radius", [0.0, 0.01])
def test_contacts_are_all_that_is_near(radius):
    """One contact for every pair of primitives with a gap below the reach: distances of brute force, and the control points of them."""
    surface, broad, X = scene(5, radius, True)
    x, reach = surface.positions(X), 0.045
    points, edges = by_brute_force(surface, x, reach, True)
    search = ContactSearch(surface, broad, Proximity(surface), reach, np.ones(4))
    found = search.contacts(X)
    # flat sides of the box are one patch, touched once: brute force counts a point and a patch once, too, at its least distance
    gaps: dict[tuple, float] = {}
    for v, f in points:
        if surface.vertex_area[v] > 0.0:
            key, face = (v, int(surface.patch[f])), surface.faces[f]
            gap = distance(point_triangle, x[v], *x[face]) - surface.radius[v] - surface.radius[face[0]]
            gaps[key] = min(gap, gaps.get(key, np.inf))
    radii = surface.radius[surface.edges[:, 0]]
    lines = [distance(edge_edge, *x[surface.edges[e]], *x[surface.edges[f]]) - radii[e] - radii[f] for e, f in edges]
    assert len(found) == len(gaps) + len(lines) > 30
    assert np.sort(found.distance) == pytest.approx(np.sort([*gaps.values(), *lines]), abs=1e-12)
    nodes, pairs = found.nodes, found.pair
    control = X.reshape(-1, 3)[np.maximum(nodes, 0)] * (nodes >= 0)[:, :, None]
    r = np.einsum("nk,nki->ni", found.record[:, :8], control)
    assert np.linalg.norm(r, axis=1) == pytest.approx(found.record[:, 30]) and (found.u.reshape(-1, 8)[nodes < 0] == 0.0).all()
    assert {(2, 2), (1, 2)} <= {tuple(sorted(p)) for p in pairs.tolist()}


def test_a_safe_step_leaves_gaps():
    """Random motions of all control points, the sheet against itself included: at the end of the safe part nothing touches."""
    surface, broad, X = scene(5, 0.005, True)
    rng, stopped = np.random.default_rng(3), 0
    for _ in range(10):
        dX = rng.uniform(-0.1, 0.1, X.size)
        dX[:12] = 0.0
        search = ContactSearch(surface, broad, Proximity(surface), 0.02, np.ones(4))
        t, _ = search.safe_step(X, dX, False)
        stopped += t < 1.0
        points, edges = by_brute_force(surface, surface.positions(X + t * dX), 0.0, True)
        assert t > 0.0 and not points and not edges
    assert stopped > 5


def test_meshes_that_bend_keep_all_edges_and_share_their_area():
    rest, faces = sheet(4)
    s = Surface.of(ub.Builder().build()).plus(BendingMesh(rest, faces, np.zeros((0, 2), int), 4))
    assert len(s.edges) == 16 + 18 - 1  # V − E + F = 1 of a disc
    assert (s.patch == np.arange(18)).all() and s.vertex_area.sum() == pytest.approx(1.0) and s.edge_area.sum() == pytest.approx(1.0)
    assert (s.vertex_area > 0.0).all() and (s.edge_area > 0.0).all()


def test_a_sheet_through_itself_is_found():
    rest, faces = sheet(5)
    for shift, crosses in ((0.0, False), (1.2, True)):
        bent = folded(rest, 0.06)
        bent[-1, 2] -= shift * 0.1  # a corner of the last fold is pushed through those below
        s = Surface.of(ub.Builder().build()).plus(BendingMesh(rest, faces, np.zeros((0, 2), int), 4))
        rules = Filter(np.array([0, 1]), np.zeros(2, np.int64), np.ones(2, np.int64), np.zeros(0, np.int64), np.array([1]))
        X = np.concatenate([np.zeros(12), bent.ravel()])
        pair = crossing(s, Broad(s, rules), s.positions(X), s.planes(X))
        assert (pair == (1, 1)) == crosses


def test_wires_are_found_as_edges_and_as_faces_without_area():
    """Near wires, points and boxes of bodies: candidates hold what brute force finds."""
    b = ub.Builder()
    b.body("wire", shape=ub.Wire([(0, 0, 0), (1, 0.1, 0), (1, 1, 0.2)], radius=0.02, closed=True))
    b.body("box", shape=ub.Box((0.3, 0.3, 0.3)), X_WB=ub.Pose((0.5, 0.5, 0.2)))
    dots = np.random.default_rng(0).uniform(0, 1, (6, 3)) * [1, 1, 0.1]
    b.body("dots", shape=ub.PointCloud(dots, radius=0.03), X_WB=ub.Pose((0, 0, 0.05)))
    model = b.build()
    s = Surface.of(model, thickness=0.01)
    x = s.positions(coordinates(model))
    rules = Filter(np.array([0, 1, 1, 1]), np.zeros(4, np.int64), np.ones(4, np.int64), np.zeros(0, np.int64))
    found = Broad(s, rules).between(x, x, 0.1)
    points, edges = by_brute_force(s, x, 0.1, False)
    assert points <= {tuple(p) for p in found.points.tolist()} and edges <= {tuple(sorted(e)) for e in found.edges.tolist()}
    kinds = {len(set(s.faces[f].tolist())) for _, f in points}
    assert kinds == {1, 2, 3} and s.radius.tolist() == pytest.approx([0.025] * 3 + [0.005] * 8 + [0.035] * 6) and s.plane_radius == 0.005
    # on the surfaces the two points are apart by the gap, and what has no radius stays where it is
    Q = coordinates(model)
    contacts = Proximity(s).contacts(found, Q, x, 0.1, np.ones(4))
    moved, X = contacts.at_surfaces(Q.ravel()), Q.reshape(-1, 3)
    r = np.einsum("nk,nki->ni", moved.record[:, :8], X[moved.nodes])
    assert len(contacts) > 10 and np.abs(r - contacts.distance[:, None] * contacts.normal).max() < 1e-14
    thin = Surface.of(model, thickness=0.0)
    bare = Proximity(thin).contacts(found, Q, x, 0.1, np.ones(4))
    on_box = np.flatnonzero((bare.pair == 2).any(axis=1))
    side = np.argmax(bare.pair[on_box] == 2, axis=1)
    assert len(on_box) and (bare.at_surfaces(Q.ravel()).u[on_box, side] == bare.u[on_box, side]).all()
