"""Contacts over control points: derivatives by differences on free vertices, and equality with the path of two bodies."""

from __future__ import annotations

import numpy as np
import pytest
from pairs import Pair, dense, difference

import unibody as ub
from unibody.collision.broad import Candidates
from unibody.collision.proximity import ContactSet, Proximity
from unibody.collision.surface import BendingMesh, Surface
from unibody.contact.barrier import contact_forces
from unibody.contact.friction import LaggedFriction
from unibody.contact.node_blocks import EXACT, POSITIVE, NodeBarrier, NodeFriction
from unibody.solvers.barrier.contact_potential import (
    add_barrier_blocks,
    add_barrier_gradient,
    add_exact_blocks,
    add_friction_blocks,
    add_friction_gradient,
    barrier_value,
    friction_value,
)  # fmt: skip
from unibody.solvers.barrier.incremental_potential import pair_places

KAPPA, REACH = 1e5, 0.3
TRIANGLE = [(0, 0, 0), (1, 0, 0), (0.2, 0.9, 0)]
POINTS = {
    "over the face": (0.4, 0.3, 0.15),
    "beside an edge": (0.5, -0.1, 0.1),
    "beside another edge": (-0.1, 0.5, 0.1),
    "beside a corner": (-0.08, -0.1, 0.1),
    "beside the last corner": (0.2, 1.05, 0.1),
}
EDGES = {
    "crossing": [(-1, 0, 0.15), (1, 0.1, 0.15), (0, -1, 0), (0.1, 1, 0)],
    "an end over an edge": [(0.1, 0, 0.2), (1, 0, 0.3), (0, -1, 0), (0, 1, 0)],
    "end to end": [(0.1, 0.1, 0.1), (1, 1, 0.4), (0, 0, 0), (-1, 0.3, 0)],
    "nearly parallel": [(-1, 0, 0.15), (1, 0.02, 0.15), (-0.9, 0, 0), (1.2, 0, 0.01)],
    "nearly parallel, one ends": [(-1, 0, 0.15), (1, 0.02, 0.15), (0.5, 0, 0), (3.2, 0, 0.01)],
}


def no_bodies() -> Surface:
    return Surface.of(ub.Builder().build())


class Free:
    """Free vertices x: a point and a triangle (or what is left of one), or two edges; the world's body has the control points 0 … 3."""

    def __init__(self, kind: str, x: list, corners=(1, 2, 3), radius: float = 0.0):
        self.x = np.concatenate([np.zeros(12), np.ravel(np.array(x, float))])
        none, rest = np.zeros((0, 3), int), np.array(x, float)
        if kind == "point":
            lone = BendingMesh(rest[:1], none, none[:, :2], 4, radius)
            face = np.array([corners]) - 1
            thin = face[0, 1] == face[0, 2]
            other = BendingMesh(rest[1:], none if thin else face, face[:, :2] if face[0, 0] != face[0, 1] else none[:, :2], 5, radius)
            self.surface = no_bodies().plus(lone).plus(other)
            faces = self.surface.faces[self.surface.face_start[-2] :]
            mine = [f for f, face in enumerate(faces) if set(face - 1) == {c - 1 for c in corners}]
            touched = np.array([[0, self.surface.face_start[-2] + mine[0]]])
            self.candidates = Candidates(touched, np.zeros((0, 2), int), np.zeros((0, 2), int))
        else:
            pair = [BendingMesh(rest[k : k + 2], none, np.array([[0, 1]]), 4 + k, radius) for k in (0, 2)]
            self.surface = no_bodies().plus(pair[0]).plus(pair[1])
            self.candidates = Candidates(np.zeros((0, 2), int), np.array([[0, 1]]), np.zeros((0, 2), int))
        self.proximity = Proximity(self.surface)

    def contacts(self, x: np.ndarray) -> ContactSet:
        return self.proximity.contacts(self.candidates, x, self.surface.positions(x), REACH, np.ones(len(self.surface.vertex_start)))

    def barrier(self, x: np.ndarray) -> NodeBarrier:
        return NodeBarrier(self.contacts(x), KAPPA, REACH)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        out = np.zeros(x.size)
        self.barrier(x).add_gradient(1.0, out)
        return out


CASES = {f"point {name}": ("point", [p, *TRIANGLE]) for name, p in POINTS.items()}
BESIDE = [name for name in POINTS if "edge" in name or "a corner" in name]
CASES |= {f"point and edge, {name}": ("point", [POINTS[name], *TRIANGLE[:2]], (1, 2, 2)) for name in BESIDE}
CASES |= {"two points": ("point", [(0.1, 0.05, 0.2), (0, 0, 0)], (1, 1, 1))}
CASES |= {f"edges {name}": ("edge", x) for name, x in EDGES.items()}


@pytest.fixture(params=[(name, radius) for name in CASES for radius in (0.0, 0.02)], ids=lambda p: f"{p[0]}, radius {p[1]}")
def free(request):
    name, radius = request.param
    kind, x, *corners = CASES[name]
    if name == "point and edge, beside another edge":
        x = [(-0.1, 0.1, 0.1), *x[1:]]
    return Free(kind, x, *corners, radius=radius)


def test_gradient_and_hessian_of_free_vertices(free):
    """Value, gradient and exact blocks against central differences; those made positive are."""
    x, n = free.x, free.x.size // 3
    contacts = free.contacts(x)
    assert len(contacts) == 1 and (contacts.nodes[0] >= 0).sum() in (2, 4)
    g, fd = free.gradient(x), difference(lambda y: free.barrier(y).value(), x, 1e-7)
    assert np.abs(g).max() > 0.1 and np.allclose(g, fd, rtol=2e-5, atol=2e-5 * np.abs(g).max())
    H, fd = free.barrier(x).blocks(1.0, EXACT).dense(n), difference(free.gradient, x, 1e-8)
    assert np.allclose(H, fd, rtol=1e-4, atol=2e-5 * np.abs(H).max())
    values = np.linalg.eigvalsh(free.barrier(x).blocks(1.0, POSITIVE).dense(n))
    assert values.max() > 0.0 and values.min() > -1e-9 * values.max()


def test_forces_balance(free):
    g = free.gradient(free.x).reshape(-1, 3)
    torque = np.cross(free.x.reshape(-1, 3), g).sum(axis=0)
    assert np.abs(g.sum(axis=0)).max() < 1e-9 * np.abs(g).max() and np.abs(torque).max() < 1e-9 * np.abs(g).max()


def test_radii_shift_the_distance(free):
    """The gap is the distance of the closest points less both radii."""
    c, radius = free.contacts(free.x), free.surface.radius[0]
    p = free.surface.positions(free.x)
    assert c.distance[0] == pytest.approx(c.record[0, 30] - 2.0 * radius, abs=1e-15)
    r = sum(w * free.x.reshape(-1, 3)[node] for w, node in zip(c.u[0].ravel(), c.nodes[0], strict=True) if node >= 0)
    assert np.linalg.norm(r) == pytest.approx(c.record[0, 30]) and len(p) in (2, 3, 4)


def test_change_of_gaps(free):
    rng = np.random.default_rng(2)
    p, h = rng.standard_normal(free.x.size), 1e-7
    gaps = [free.contacts(free.x + s * h * p).distance[0] for s in (-1.0, 1.0)]
    slope = abs(gaps[1] - gaps[0]) / (2 * h) / free.contacts(free.x).distance[0]
    assert free.barrier(free.x).change(p) == pytest.approx(slope, rel=1e-5)


def test_friction_of_free_vertices(free):
    rng = np.random.default_rng(4)
    c = free.contacts(free.x)
    lagged = LaggedFriction.of(c, contact_forces(c, KAPPA, REACH), np.full(len(c), 0.4))
    for size in (1e-4, 3e-2):
        friction, x = NodeFriction(lagged, np.full(len(lagged.bound), 1e-3), free.x), free.x + size * rng.standard_normal(free.x.size)

        def gradient(y, friction=friction):
            out = np.zeros(y.size)
            friction.add_gradient(y, 1.0, out)
            return out

        g, H = gradient(x), friction.blocks(x, 1.0, False).dense(x.size // 3)
        assert np.allclose(g, difference(friction.value, x, 1e-8), rtol=1e-4, atol=1e-4 * np.abs(g).max())
        assert np.allclose(H, difference(gradient, x, 1e-9), rtol=1e-3, atol=1e-3 * np.abs(H).max())


BOX = ub.Box((1.0, 0.8, 0.6))


@pytest.mark.parametrize("second", [ub.Pose(p=(0.1, 0.07, 0.63)), ub.Pose.about((0.3, 1.0, 0.2), 0.02, p=(0.1, 0.07, 0.64))])
def test_equal_to_the_path_of_two_bodies(second):
    """With control points 4 b … 4 b + 3 the same numbers come out as in 12×12 blocks: equal to round-off of sums."""
    pair = Pair(BOX, BOX, ub.Pose(), second, 0.1)
    Q = pair.Q + 1e-3 * np.random.default_rng(0).standard_normal(pair.Q.shape)
    c, x = pair.contacts(Q), np.ascontiguousarray(Q).ravel()
    nodes = NodeBarrier(c, KAPPA, 0.1)
    flat, n = (c.pair.ravel(), c.record.ravel()), len(Q)
    assert len(c) > 10 and (c.nodes == np.concatenate([4 * c.pair[:, :1] + np.arange(4), 4 * c.pair[:, 1:] + np.arange(4)], axis=1)).all()
    assert nodes.value() == barrier_value(flat[1], KAPPA, 0.1)
    g, h = np.zeros(x.size), np.zeros(x.size)
    nodes.add_gradient(0.7, g)
    add_barrier_gradient(*flat, KAPPA, 0.1, 0.7, h)
    assert np.allclose(g, h, rtol=1e-12, atol=1e-12 * np.abs(h).max())
    keys, places = pair_places([c.pair], n)
    ways = (EXACT, [add_exact_blocks]), (POSITIVE, [add_barrier_blocks])
    for way, adds in ways:
        own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
        for add in adds:
            add(flat[0], places[0], flat[1], KAPPA, 0.1, 0.7, own, between)
        H = dense(own, between, keys, n)
        blocks = nodes.blocks(0.7, way)
        once = blocks.summed()
        places_once = set(zip(once.rows, once.columns, strict=True))
        assert (blocks.rows <= blocks.columns).all() and len(places_once) == len(once.rows) < len(blocks.rows)
        for found in (blocks, once):
            assert np.allclose(found.dense(4 * n), H, rtol=1e-11, atol=1e-11 * np.abs(H).max())
    lagged = LaggedFriction.of(c, contact_forces(c, KAPPA, 0.1), np.full(len(c), 0.3))
    moved, at = x + 1e-3 * np.random.default_rng(1).standard_normal(x.size), (lagged.contacts.pair.ravel(), lagged.contacts.record.ravel())
    friction, slips = NodeFriction(lagged, np.full(len(lagged.bound), 1e-3), x), np.full(len(lagged.bound), 1e-3)
    assert friction.value(moved) == pytest.approx(friction_value(*at, lagged.bound, slips, moved, x), rel=1e-12)
    g, h = np.zeros(x.size), np.zeros(x.size)
    friction.add_gradient(moved, 1.0, g)
    add_friction_gradient(*at, lagged.bound, slips, 1.0, moved, x, h)
    assert np.allclose(g, h, rtol=1e-12, atol=1e-12 * np.abs(h).max())
    keys, places = pair_places([lagged.contacts.pair], n)
    own, between = np.zeros(144 * n), np.zeros(144 * len(keys))
    add_friction_blocks(at[0], places[0], at[1], lagged.bound, slips, 1.0, moved, x, True, own, between)
    H = dense(own, between, keys, n)
    assert np.allclose(friction.blocks(moved, 1.0, True).dense(4 * n), H, rtol=1e-11, atol=1e-11 * np.abs(H).max())


def test_a_free_vertex_over_a_body_and_over_a_half_space():
    """One side of a body, one of free vertices: derivatives by differences in all control points that may move."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static", X_WB=ub.Pose(p=(0, 0, -0.42)))
    b.body("box", shape=BOX, X_WB=ub.Pose.about((1, 2, 3), 0.02))
    model = b.build()
    from unibody.coordinates.affine.body import affine_of_pose

    Q = affine_of_pose(np.array([body.X_WB.R for body in model.bodies]), np.array([body.X_WB.p for body in model.bodies]))
    free = np.array([(0.2, 0.1, 0.38), (0.7, 0.1, 0.36), (0.3, 0.55, 0.37)])
    surface = Surface.of(model).plus(BendingMesh(free, np.array([[0, 1, 2]]), np.zeros((0, 2), int), 12, 0.01))
    x = np.concatenate([Q.ravel(), free.ravel()])
    s, v, f, e = surface, surface.vertex_start, surface.face_start, surface.edge_start
    points = [(p, q) for p in range(v[2], v[3]) for q in range(f[3], f[4])] + [(p, q) for p in range(v[3], v[4]) for q in range(f[2], f[3])]
    lines = [(p, q) for p in range(e[2], e[3]) for q in range(e[3], e[4])]
    every = Candidates(np.array(points), np.array(lines), np.array([(p, 0) for p in range(len(s.w))]))
    proximity = Proximity(surface)

    def at(y):
        return NodeBarrier(proximity.contacts(every, y, surface.positions(y), 0.2, np.ones(4)), KAPPA, 0.2)

    def gradient(y):
        out = np.zeros(y.size)
        at(y).add_gradient(1.0, out)
        return out

    kinds = {tuple(sorted(p)) for p in at(x).contacts.pair.tolist()}
    assert {(1, 2), (2, 3)} <= kinds
    moving, g = slice(24, x.size), gradient(x)  # world and ground are known
    assert np.allclose(g[moving], difference(lambda y: at(y).value(), x, 1e-7)[moving], rtol=2e-5, atol=2e-5 * np.abs(g).max())
    H, fd = at(x).blocks(1.0, EXACT).dense(x.size // 3), difference(gradient, x, 1e-8)
    assert np.allclose(H[moving, moving], fd[moving, moving], rtol=1e-4, atol=2e-5 * np.abs(H).max())
