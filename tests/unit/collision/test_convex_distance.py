"""Convex shapes that just touch, nearly touch or overlap always have a distance, and it is the right one.

Judged without a program for distances: polyhedra that overlap by separating axes in NumPy (all normals of faces, all pairs of edges); those
apart by a proof, two points inside the half-spaces of the shapes no farther apart than their normal separates them.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from touching import SHAPES, hull, model_of, poses, random_poses, rotation

import unibody as ub
from unibody.collision.rigid import RigidCollision
from unibody.collision.rigid.by_coal import UNKNOWN, CoalPairs

OFFSETS = (0.0, 1e-16, -1e-16, 1e-13, -1e-13, 1e-10, -1e-10, 1e-9, -1e-9, -1e-3, -0.03, 0.02)


class Solid:
    """A convex hull as points, outward normals with offsets, and edges."""

    def __init__(self, points: np.ndarray):
        self.mesh = hull(points)
        self.points = np.asarray(self.mesh.triangles()[0])
        found = ConvexHull(self.points)
        self.normals, self.offsets, s = found.equations[:, :3], -found.equations[:, 3], found.simplices
        pairs = np.unique(np.sort(np.concatenate([s[:, [0, 1]], s[:, [1, 2]], s[:, [2, 0]]]), axis=1), axis=0)
        self.edges = self.points[pairs[:, 1]] - self.points[pairs[:, 0]]

    def holds(self, x: np.ndarray, R: np.ndarray, p: np.ndarray, slack: float) -> bool:
        return bool((self.normals @ (R.T @ (x - p)) <= self.offsets + slack).all())


def separation(a: Solid, b: Solid, X, n: np.ndarray) -> np.ndarray:
    """Of the directions n (k, 3)."""
    (R, p), (S, q) = X
    return ((b.points @ S.T + q) @ n.T).min(axis=0) - ((a.points @ R.T + p) @ n.T).max(axis=0)


def separating_axes(a: Solid, b: Solid, X) -> tuple[float, np.ndarray]:
    """The greatest separation along normals of faces and across pairs of edges, and where."""
    (R, _), (S, _) = X
    across = np.cross((a.edges @ R.T)[:, None], (b.edges @ S.T)[None]).reshape(-1, 3)
    size = (np.linalg.norm(a.edges, axis=1)[:, None] * np.linalg.norm(b.edges, axis=1)).ravel()
    length = np.linalg.norm(across, axis=1)
    across = across[length > 1e-7 * size] / length[length > 1e-7 * size, None]
    n = np.concatenate([a.normals @ R.T, -b.normals @ S.T, across, -across])
    s = separation(a, b, X, n)
    return float(s.max()), n[s.argmax()]


def turned_onto(m: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The shortest rotation from m to n."""
    v, c = np.cross(m, n), float(m @ n)
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + K + K @ K / (1.0 + c) if c > -0.999 else rotation(np.random.default_rng(0))


def cloud(rng: np.random.Generator) -> np.ndarray:
    """Points of a hull: round ones, flat ones, needles, and such with many faces in one plane."""
    x = rng.normal(size=(rng.integers(4, 20), 3))
    form = rng.integers(4)
    if form == 0:
        return x * (1.0, 1.0, 10.0 ** rng.uniform(-4, 0))
    if form == 1:
        return x * (1.0, 10.0 ** rng.uniform(-3, 0), 10.0 ** rng.uniform(-3, 0))
    if form == 2:
        return np.concatenate([0.3 * np.round(x), np.indices((2, 2, 2)).reshape(3, -1).T - 0.5])
    return x


def placed(a: Solid, b: Solid, rng: np.random.Generator):
    """Poses at which two hulls touch up to one of the OFFSETS, with faces, edges or corners, whichever is nearest."""
    R, S = rotation(rng), rotation(rng)
    how = rng.integers(3)
    if how == 0:  # two faces
        m = S @ b.normals[rng.integers(len(b.normals))]
        S = turned_onto(m, -R @ a.normals[rng.integers(len(a.normals))]) @ S
    if how == 1:  # axes along each other, as scenes written by hand have
        R = S = np.eye(3)
    q = 0.1 * rng.normal(size=3)
    for _ in range(3):
        s, n = separating_axes(a, b, ((R, np.zeros(3)), (S, q)))
        q = q + (rng.choice(OFFSETS) - s) * n
    return (R, np.zeros(3)), (S, q)


@pytest.mark.parametrize("seed", range(8))
def test_touching_polyhedra_have_their_exact_distance(seed):
    rng = np.random.default_rng(seed)
    judge(Solid(cloud(rng)), Solid(cloud(rng)), rng)


@pytest.mark.parametrize("names", [("ball", "ball"), ("ball", "prism"), ("prism", "prism"), ("wedge", "ball")], ids="-".join)
def test_touching_polyhedra_of_many_corners_have_their_exact_distance(names):
    """Farthest corners of these are found by climbing: their faces have more corners than are asked one by one."""
    k, turn = np.arange(44), np.pi * (1.0 + 5.0**0.5) * np.arange(28)
    z = 1.0 - (2.0 * np.arange(28) + 1.0) / 28
    r = np.sqrt(1.0 - z * z)
    ball = np.column_stack([r * np.cos(turn), 0.7 * r * np.sin(turn), 0.5 * z])
    prism = np.column_stack([np.cos(k * np.pi / 11), np.sin(k * np.pi / 11), np.where(k < 22, 0.3, -0.3)])
    clouds = {"ball": ball, "prism": prism, "wedge": prism * (1.0, 0.4, 1.0) + (0.0, 0.0, 0.3) * prism[:, :1]}
    a, b = (Solid(clouds[name]) for name in names)
    collision = RigidCollision(model_of(a.mesh, b.mesh), 0.3)
    assert collision._coal._polygons[0][-2:].all()  # where their tables for climbing are
    judge(a, b, np.random.default_rng(3))


def judge(a: Solid, b: Solid, rng: np.random.Generator) -> None:
    """Ours beside separating axes, in poses at which the two touch or nearly do."""
    proven, overlapping = 0, 0
    collision, size = RigidCollision(model_of(a.mesh, b.mesh), 0.3), np.ptp(a.points, axis=0).max() + np.ptp(b.points, axis=0).max()
    coal = collision._coal
    for _ in range(40):
        X = placed(a, b, rng)
        s, _ = separating_axes(a, b, X)
        collision.find(poses(*X))  # answers, whatever the manifold makes of it
        record = answer(coal, collision)
        point, n, gap = record[:3], record[3:6], record[6]
        # every direction is a lower bound, so that the best of them all can only be missed
        assert abs(n @ n - 1.0) < 1e-12 and abs(separation(a, b, X, n[None])[0] - gap) < 1e-12 * size
        assert gap >= s - 1e-12 * size
        if s < 0.0:
            # convex hulls by two programs differ by their round-off, which thin ones magnify
            assert gap <= s + 1e-9 * size
            overlapping += 1
        else:
            # its two points are inside, to what the faces are flat to, hence the distance is no less
            assert a.holds(point, *X[0], 1e-8 * size) and b.holds(point + gap * n, *X[1], 1e-6 * size)
            proven += 1
    assert proven > 5 and overlapping > 5


def answer(coal: CoalPairs, collision: RigidCollision) -> np.ndarray:
    """Point, normal and distance of the only pair, as the narrow phase has them before they become a manifold."""
    from unibody.collision.rigid.convex_distance import convex_distances

    t, touching, one = collision.table, np.zeros(7), np.zeros(1, np.int64)
    convex_distances(
        one, one, np.array([0, 1]), t.kind, collision._frames, t.size, *coal._polygons[:4], *coal._edges, coal._ours, touching
    )
    return touching


@pytest.mark.parametrize("names", [("box", "convex"), ("convex", "convex")], ids="-".join)
def test_boxes_are_polyhedra_too_and_shapes_may_change_places(names):
    a, b = (SHAPES[n] for n in names)
    ours, turned, rng, seen = RigidCollision(model_of(a, b), 0.3), RigidCollision(model_of(b, a), 0.3), np.random.default_rng(5), 0
    for _ in range(40):
        X = random_poses(rng, 0.2, 1.3)
        one, two = ours.find(X).copy(), turned.find(X[[0, 2, 1]]).copy()
        assert len(one) == len(two)
        if len(one):
            assert abs(one.gap.min() - two.gap.min()) < 1e-12
            seen += 1
    assert seen > 20


CURVED = [("capsule", "cylinder"), ("box", "cylinder"), ("box", "ellipsoid"), ("cylinder", "cylinder"), ("ellipsoid", "ellipsoid"),
          ("cylinder", "convex"), ("ellipsoid", "convex"), ("capsule", "ellipsoid")]  # fmt: skip


@pytest.mark.parametrize("names", CURVED, ids="-".join)
def test_where_coal_has_no_answer_another_gives_the_same(names, monkeypatch):
    """coal's own answers, where it has them, to what its iterations leave (1e-6)."""
    pytest.importorskip("coal")
    pair = RigidCollision(model_of(*(SHAPES[n] for n in names)), 0.3)
    rng, seen = np.random.default_rng(11), 0
    for _ in range(30):
        X = random_poses(rng, 0.3, 1.2)
        theirs = pair.find(X).copy()
        with monkeypatch.context() as patch:
            patch.setattr(CoalPairs, "_distance", lambda *_: UNKNOWN)
            ours = pair.find(X).copy()
        if len(theirs) and theirs.gap.min() > -0.15:  # deeper, two directions may be equally good
            assert ours.gap.min() >= theirs.gap.min() - 2e-6 and ours.gap.min() <= theirs.gap.min() + 2e-4
            seen += 1
    assert seen > 8


@pytest.mark.parametrize("solver", ["complementarity", "impulse", "penalty"])
def test_stones_of_an_arch_that_touch_along_a_face_take_a_step(solver):
    """Two stones cut from one ring, at poses with round-off: faces that are one plane up to 1e-16."""
    count, thick = 25, 0.12

    def stone(i: int) -> ub.Mesh:
        angles, radii = np.pi * np.array([i, i + 1]) / count, (1.0 - 0.5 * thick, 1.0 + 0.5 * thick)
        corners = ((radii[0], angles[0]), (radii[1], angles[0]), (radii[1], angles[1]), (radii[0], angles[1]))
        x = np.array([(r * np.cos(t), y, r * np.sin(t)) for y in (-0.15, 0.15) for r, t in corners])
        return hull(x - x.mean(axis=0))

    places = {17: ((-0.5866253923638484, 1.1573945223036669e-16, 0.8074205841389026), (1.0, 8.3e-17, 6.8e-15, 6.9e-17)),
              18: ((-0.6831963085850564, 6.536929469545785e-17, 0.7275301743522407), (1.0, -1.1e-16, 4.5e-15, -1.2e-16))}  # fmt: skip
    b = ub.Builder(gravity=None)
    for i, (p, wxyz) in places.items():
        b.body(f"stone {i}", shape=stone(i), density=2000.0, X_WB=ub.Pose(p=p, wxyz=wxyz))
    b.add(ub.Contact(friction=0.8))
    rec = ub.Simulation(b.build(), solver, dt=5e-3).run(5e-3)
    assert np.abs(rec.v[-1]).max() < 1e-6
