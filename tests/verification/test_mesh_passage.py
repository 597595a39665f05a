"""Meshes never go through each other in silence: rings stay linked, what is too fast for its step fails by name, what lies still goes on.

Whether rings are linked is told by Gauss's integral over their middle circles, which no program for contact has a part in.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import unibody as ub
from unibody.collision.rigid import RigidCollision

SOLVERS = ("complementarity", "impulse", "penalty")
RING, WIRE = 0.4, 0.1


def torus(ring: float = RING, wire: float = WIRE, around: int = 20, across: int = 10) -> ub.Mesh:
    """About z."""
    u, v = (2.0 * np.pi * np.arange(n) / n for n in (around, across))
    rho = ring + wire * np.cos(v)
    x = np.stack([np.outer(np.cos(u), rho), np.outer(np.sin(u), rho), np.outer(np.ones(around), wire * np.sin(v))], axis=2).reshape(-1, 3)
    k = np.arange(around * across).reshape(around, across)
    a, b, c, d = k, np.roll(k, -1, 0), np.roll(np.roll(k, -1, 0), -1, 1), np.roll(k, -1, 1)
    return ub.Mesh(x, np.concatenate([np.stack(f, axis=2).reshape(-1, 3) for f in ((a, b, c), (a, c, d))]))


def linking_number(one: np.ndarray, other: np.ndarray) -> float:
    """Gauss's integral (1/4π) ∮∮ (x − y) · (dx × dy) / |x − y|³ over two closed polygons (n, 3)."""
    dx, dy = np.roll(one, -1, 0) - one, np.roll(other, -1, 0) - other
    r = (one + 0.5 * dx)[:, None] - (other + 0.5 * dy)[None]
    return float((np.einsum("nmk,nmk->nm", r, np.cross(dx[:, None], dy[None])) / np.linalg.norm(r, axis=2) ** 3).sum() / (4.0 * np.pi))


def circle(pose: np.ndarray) -> np.ndarray:
    """The middle of a ring at a pose (p, wxyz)."""
    s = 2.0 * np.pi * np.arange(400) / 400
    return RING * np.stack([np.cos(s), np.sin(s), 0.0 * s], axis=1) @ np.asarray(ub.Pose(p=pose[:3], wxyz=pose[3:]).R).T + pose[:3]


def chain(links: int, turn: float = 0.0) -> ub.Model:
    """Rings in each other side by side, of which the first is held."""
    b, mesh = ub.Builder(gravity=(0, -9.81, 0)), torus()
    for k in range(links):
        at = ub.Pose.about((1, 0, 0), 0.5 * np.pi * (k % 2) + turn, p=(0.5 * k, 0, 0))
        b.body(f"ring {k}", shape=mesh, density=1000.0, X_WB=at, kind="dynamic" if k else "static")
    b.add(ub.Contact(friction=0.3))
    return b.build()


def test_gauss_integral_tells_linked_rings_from_others():
    still = np.array((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    turned = np.array((0.5, 0.0, 0.0, np.cos(np.pi / 4), np.sin(np.pi / 4), 0.0, 0.0))
    assert abs(linking_number(circle(still), circle(turned))) == pytest.approx(1.0, abs=1e-2)
    assert linking_number(circle(still), circle(turned + (0.5, 0, 0, 0, 0, 0, 0))) == pytest.approx(0.0, abs=1e-2)


@pytest.mark.parametrize(("solver", "dt", "turn"), [("complementarity", 1e-2, 0.0), ("complementarity", 4e-3, 0.1), ("impulse", 1e-2, 0.0),
                                                    ("penalty", 5e-3, 0.1)])  # fmt: skip
def test_linked_rings_stay_linked(solver, dt, turn):
    """Three rings fall and swing: at every instant each holds the next. Middles are never farther apart than two rings that hang in each
    other, 2 (R − r), up to what penalties and a step of the swing give (r / 4)."""
    rec = ub.Simulation(chain(3, turn), solver, dt=dt).run(0.8, every=4)
    rings = [rec.pose(f"ring {k}") for k in range(3)]
    for one, other in pairwise(rings):
        assert all(abs(linking_number(circle(x), circle(y))) > 0.9 for x, y in zip(one, other, strict=True))
        assert np.linalg.norm(one[:, :3] - other[:, :3], axis=1).max() < 2.0 * (RING - WIRE) + 0.25 * WIRE


def wall(thick: float) -> ub.Mesh:
    """Two plates at a right angle, which are no convex solid: the one across y from 0 to `thick`."""
    P = np.array([(0, 0), (2, 0), (2, thick), (thick, thick), (thick, 2), (0, 2)], float)
    x = np.array([(a, b, z) for z in (-1, 1) for a, b in P])
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    sides = [f for i in range(6) for f in ((i, (i + 1) % 6, (i + 1) % 6 + 6), (i, (i + 1) % 6 + 6, i + 6))]
    return ub.Mesh(x, [(a, c, b) for a, b, c in caps] + [(a + 6, b + 6, c + 6) for a, b, c in caps] + sides)


def ball(radius: float) -> ub.Mesh:
    x = np.random.default_rng(1).normal(size=(40, 3))
    x *= radius / np.linalg.norm(x, axis=1)[:, None]
    faces = ConvexHull(x).simplices
    return ub.Mesh(x, [f if np.linalg.det(x[f]) > 0.0 else f[::-1] for f in faces])


BULLETS = {"sphere": ub.Sphere(0.03), "hull": ball(0.03), "box": ub.Box((0.05, 0.05, 0.05)), "ring": torus(0.04, 0.01)}


def shot(bullet: str, speed: float, solid=None) -> ub.Model:
    b = ub.Builder(gravity=None)
    b.body("wall", shape=wall(0.02) if solid is None else solid, kind="static")
    b.body("bullet", shape=BULLETS[bullet], mass=0.01, inertia=1e-5 * np.ones(3), X_WB=ub.Pose(p=(1.0, 0.6, 0.1)),
           V_WB=(0, 0, 0, 0.1, -speed, 0))  # fmt: skip
    b.add(ub.Contact())
    return b.build()


@pytest.mark.parametrize("bullet", BULLETS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_bullet_is_stopped_by_a_thin_mesh_or_its_step_fails(solver, bullet):
    """At 300 m/s it goes 1.5 m in a step, 75 times as far as the wall is thick; at 2 m/s any solver can stop it."""
    with pytest.raises(ub.StepFailed, match="'wall' and 'bullet' go through each other") as failed:
        ub.Simulation(shot(bullet, 300.0), solver, dt=5e-3).run(0.02)
    assert failed.value.element == "wall" and failed.value.recording.pose("bullet")[-1, 1] > 0.02
    rec = ub.Simulation(shot(bullet, 2.0), solver, dt=5e-3).run(0.5)
    assert rec.pose("bullet")[:, 1].min() > 0.02


def test_convex_walls_and_surfaces_without_inside_are_not_passed_either():
    sheet = ub.OpenMesh(np.array([(0, 0.01, -1), (2, 0.01, -1), (2, 0.01, 1), (0, 0.012, 1)], float), [(0, 1, 2), (0, 2, 3)])
    for solid in (ub.Box((4, 0.02, 4)), sheet):
        with pytest.raises(ub.StepFailed, match="'wall' and 'bullet' go through each other"):
            ub.Simulation(shot("hull", 300.0, solid), "complementarity", dt=5e-3).run(0.02)


def test_a_fast_body_that_misses_flies_on():
    """Past the wall's end at 300 m/s, and away from it."""
    for at, velocity in (((2.1, 0.6, 0.1), (0, -300.0, 0)), ((1.0, 0.6, 0.1), (0, 300.0, 0)), ((1.0, 0.1, 0.1), (200.0, 0.0, 0.0))):
        b = ub.Builder(gravity=None)
        b.body("wall", shape=wall(0.02), kind="static")
        b.body("bullet", shape=BULLETS["hull"], mass=0.01, X_WB=ub.Pose(p=at), V_WB=(0, 0, 0, *velocity))
        b.add(ub.Contact())
        rec = ub.Simulation(b.build(), "complementarity", dt=5e-3).run(0.02)
        assert rec.pose("bullet")[-1, :3] == pytest.approx(np.array(at) + 0.02 * np.array(velocity), abs=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_bar_through_a_plate_is_no_contact_and_fails_by_name(solver):
    """A bar sticks through one plate of the wall, with all of its corners outside: there is no way out that anybody knows."""
    b = ub.Builder(gravity=None)
    b.body("wall", shape=wall(0.05), kind="static")
    b.body("bar", shape=ub.Box((0.1, 1.0, 0.1)), mass=1.0, X_WB=ub.Pose.about((0, 0, 1), 0.1, p=(1.0, 0.0, 0.1)))
    b.add(ub.Contact())
    with pytest.raises(ub.UnibodyError, match="'wall' and 'bar' (cross so far that no contact parts|overlap at the start)"):
        ub.Simulation(b.build(), solver, dt=5e-3).run(0.05)


def test_crossing_rings_are_parted_along_the_way_of_least_volume():
    """Two rings whose wires cross at right angles by d: no vertex need be inside, but there is one contact of depth d along the line of
    their middles, up to the corners of a wire of ten sides."""
    b = ub.Builder(gravity=None)
    fine = torus(around=60, across=40)
    for name in ("one", "other"):
        b.body(name, shape=fine, density=1000.0)
    b.add(ub.Contact())
    collision = RigidCollision(b.build(), 0.0)
    R = np.asarray(ub.Pose.about((1, 0, 0), 0.5 * np.pi).R)
    for depth in (1e-3, 5e-3, 2e-2):
        # inside of the right of one against inside of the left of the other: middles 2 (R − r) apart, and farther
        still = np.r_[np.eye(3).ravel(), 0, 0, 0]
        X = np.array([still, still, np.r_[R.ravel(), 2 * (RING - WIRE) + depth, 0, 0]])
        found = collision.find(X)
        deepest = int(np.argmin(found.gap))
        assert found.gap[deepest] == pytest.approx(-depth, abs=0.1 * depth + 1e-3)
        assert found.normal[deepest] == pytest.approx((-1.0, 0.0, 0.0), abs=0.1)
        assert collision.crossed is None


def test_a_ring_lies_on_a_mesh_without_being_refused():
    """False alarms are failures too: a ring and a bar on it come to rest on a plate, and stay there."""
    b = ub.Builder(gravity=(-2.0, -9.81, 0))
    b.body("wall", shape=wall(0.1), kind="static")
    b.body("ring", shape=torus(0.2, 0.05), density=500.0, X_WB=ub.Pose.about((1, 0, 0), 0.5 * np.pi, p=(0.6, 0.2, 0.0)))
    b.body("bar", shape=ub.Box((0.2, 0.1, 0.4)), density=500.0, X_WB=ub.Pose.about((0, 0, 1), 0.2, p=(0.6, 0.5, 0.05)))
    b.add(ub.Contact(friction=0.5))
    rec = ub.Simulation(b.build(), "complementarity", dt=5e-3).run(2.0)
    for name in ("ring", "bar"):
        assert np.abs(rec.twist(name)[-1]).max() < 0.05
        assert rec.vertices(name)[-1][:, :2].min() > 0.1 - 2e-3
