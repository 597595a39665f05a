"""Impulse: joints hold at the level of positions, without drift, and the motion is that of other solvers as steps shrink."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G = 9.81


def springy_tree() -> ub.Model:
    """A random tree of six bodies with springs, dampers and armatures."""
    rng = np.random.default_rng(3)
    b = ub.Builder()
    kinds = (ub.Ball(), ub.Revolute((1, 0.2, 0)), ub.Universal(), ub.Prismatic((0, 0.3, 1)), ub.Ball(), ub.Revolute((0, 1, 0)))
    for i, joint in enumerate(kinds):
        body = b.body(f"body{i}", mass=rng.uniform(1, 2), com=(0.05, 0, 0.02), inertia=rng.uniform(0.2, 0.3, 3))
        parent = f"body{rng.integers(i)}" if i else b.world
        b.joint(
            f"joint{i}", joint, parent, body, X_PF=ub.Pose(rng.uniform(-0.3, 0.3, 3)), X_BM=ub.Pose((0, 0, 0.3)),
            v=rng.uniform(-1, 1, joint.nv), stiffness=8.0, damping=0.3, armature=0.05,
        )  # fmt: skip
    b.add(ub.SpringDamper(body.at(0.1, 0, 0), b.world.at(1, 1, 0), stiffness=10.0, damping=0.4, rest_length=0.5))
    return b.build()


MODELS = {name: (lambda name=name: ub.scenes.make(name).model) for name in ("pendulum", "double-pendulum", "four-bar", "bennett")}


@pytest.mark.parametrize("name", [*MODELS, "tree"])
def test_order_one_to_articulated(name: str) -> None:
    """Where a point of every body is after 0.4 s, beside Articulated with rk4: errors halve with the step (±15 %)."""
    model = springy_tree() if name == "tree" else MODELS[name]()
    length, coarse = 0.4, 400

    def places(solver: ub.solvers.Solver, steps: int) -> np.ndarray:
        recording = ub.Simulation(model, solver, dt=length / steps).run(length, every=steps)
        return np.array([recording.point(b.name, (0.1, 0.2, -0.1))[-1] for b in model.bodies[1:]])

    exact = places(ub.solvers.Articulated(rule="rk4"), 4000)
    errors = [float(np.abs(places(ub.solvers.Impulse(), coarse * 2**k) - exact).max()) for k in range(3)]
    assert errors[-1] < 2e-2
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.3), errors


@pytest.mark.parametrize("name", ["four-bar", "n-four-bar", "peaucellier", "bennett", "bricard", "spatial-four-bar", "closed-ring"])
def test_loops_do_not_drift(name: str) -> None:
    """10⁴ steps: no joint is apart by more than 1e-9 m or rad at any time that is recorded, nor parts by more than 1e-7."""
    scene = ub.scenes.make(name)
    sim = ub.Simulation(scene.model, "impulse", dt=scene.dt)
    recording = sim.run(10_000 * scene.dt, every=500)
    assert recording.violation.max() < 1e-9
    assert recording.reports[-1].residual < 1e-9 and recording.reports[-1].iterations >= 1


def chain(n: int, floating: bool = False) -> ub.Model:
    """Rods of 1 m and 1 kg on balls and hinges, in motion."""
    rng = np.random.default_rng(n)
    b = ub.Builder(gravity=None) if floating else ub.Builder()
    parent, X_PF = b.world, ub.Pose()
    for k in range(n):
        rod = b.body(f"rod{k}", mass=1.0 + 0.1 * k % 3, inertia=(0.08, 0.09, 0.01))
        joint = ub.Free() if floating and k == 0 else (ub.Ball() if k % 2 else ub.Revolute((0, 1, 0)))
        b.joint(f"joint{k}", joint, parent, rod, X_PF=X_PF, X_BM=ub.Pose((0, 0, 0.5)), v=rng.uniform(-1, 1, joint.nv))
        parent, X_PF = rod, ub.Pose((0, 0, -0.5))
    return b.build()


def test_previews_do_not_grow_with_the_chain() -> None:
    """Solved together, 200 links need hardly more previews than 10: the time of a step is linear. One after the other, they need many."""

    def previews(n: int, method: str) -> float:
        sim = ub.Simulation(chain(n), ub.solvers.Impulse(method=method, tolerance=1e-8), dt=1e-3)
        return float(np.mean([sim.step().iterations for _ in range(20)]))

    few, many = previews(10, "tree"), previews(200, "tree")
    assert few <= 5 and many <= 10
    assert previews(20, "local") > 4 * previews(5, "local")


@pytest.mark.parametrize("method", ["tree", "local"])
def test_momenta_of_a_floating_chain_are_kept(method: str) -> None:
    """Linear and angular momentum about the origin, from poses and twists, over 500 steps."""
    model = chain(5, floating=True)
    recording = ub.Simulation(model, ub.solvers.Impulse(method=method), dt=2e-3).run(1.0, every=100)
    P, L = np.zeros((len(recording), 3)), np.zeros((len(recording), 3))
    for body in model.bodies[1:]:
        pose, twist = recording.pose(body.name), recording.twist(body.name)
        R = np.array([ub.Pose(tuple(p[:3]), tuple(p[3:])).R for p in pose])
        P += body.mass * twist[:, 3:]
        spin = np.einsum("tij,jk,tlk,tl->ti", R, body.inertia, R, twist[:, :3])
        L += spin + np.cross(pose[:, :3], body.mass * twist[:, 3:])
    assert np.abs(P - P[0]).max() < 1e-11 * np.abs(P[0]).max() + 1e-12
    assert np.abs(L - L[0]).max() < 1e-10 * np.abs(L[0]).max()
    assert np.abs(L[0]).max() > 0.1


def test_both_ways_reach_the_same_motion() -> None:
    model = chain(6)
    ends = [ub.Simulation(model, ub.solvers.Impulse(method=m, tolerance=1e-12), dt=2e-3).run(0.3, every=150) for m in ("tree", "local")]
    assert np.abs(ends[0].q[-1] - ends[1].q[-1]).max() < 1e-7
    assert ends[1].violation.max() < 1e-11


def test_planar_and_spatial_coordinates_move_alike() -> None:
    model = ub.scenes.make("four-bar").model
    flat, spatial = (ub.Simulation(model, ub.solvers.Impulse(coordinates=c), dt=1e-3).run(0.5, every=50) for c in ("planar", "maximal"))
    for body in ("crank", "rocker"):
        assert np.abs(flat.pose(body)[:, :3] - spatial.pose(body)[:, :3]).max() < 1e-9
    assert spatial.reports[-1].redundant == 3 and spatial.reports[-1].redundant_names


def test_hanging_chain_carries_what_hangs_below() -> None:
    b = ub.Builder()
    parent, X_PF = b.world, ub.Pose()
    masses = (1.0, 2.0, 0.5, 3.0)
    for k, mass in enumerate(masses):
        rod = b.body(f"rod{k}", mass=mass, inertia=(0.1, 0.1, 0.01))
        b.joint(f"pin{k}", ub.Ball(), parent, rod, X_PF=X_PF, X_BM=ub.Pose((0, 0, 0.5)))
        parent, X_PF = rod, ub.Pose((0, 0, -0.5))
    recording = ub.Simulation(b.build(), "impulse", dt=1e-2).run(1.0, every=50)
    for k in range(4):
        assert recording.reaction(f"pin{k}")[-1] == pytest.approx([0, 0, 0, 0, 0, G * sum(masses[k:])], abs=1e-8)


def test_pendulum_pulls_with_its_speed_at_the_bottom() -> None:
    """m g + m v²/l at the bottom, there at the start and after a swing, where v is what the energy says."""
    b = ub.Builder()
    bob = b.body("bob", mass=2.0, inertia=(1e-3, 1e-3, 1e-3))
    b.joint("pin", ub.Revolute((0, 1, 0)), b.world, bob, X_BM=ub.Pose((0, 0, 1.5)), v=1.0)
    recording = ub.Simulation(b.build(), "impulse", dt=2e-4).run(1.4, every=10)
    force, z = recording.reaction("pin")[:, 5], recording.pose("bob")[:, 2]
    assert force[0] == pytest.approx(2.0 * G + 2.0 * 1.5, rel=1e-9)
    later = 100 + int(np.argmin(z[100:]))
    speed = np.linalg.norm(recording.twist("bob")[later, 3:])
    assert speed == pytest.approx(1.5, rel=1e-3)
    assert force[later] == pytest.approx(2.0 * G + 2.0 * speed**2 / 1.5, rel=1e-3)


def test_knife_edge_runs_in_a_circle() -> None:
    """A skate that turns at 2 rad/s and slides at 3 m/s: a circle of radius 1.5 m, pressed sideways by m v ω."""
    b = ub.Builder(gravity=None, planar=True)
    skate = b.body("skate", mass=2.0, inertia=(1, 1, 1), V_WB=(0, -2.0, 0, 3.0, 0, 0))
    b.add(ub.KnifeEdge(skate.at(), (0, 0, 1)), name="blade")
    recording = ub.Simulation(b.build(), "impulse", dt=1e-3).run(1.0, every=10)
    t, p = recording.t, recording.pose("skate")[:, :3]
    centre = p[0] + np.array([0, 0, 1.5])
    assert np.abs(np.linalg.norm(p - centre, axis=1) - 1.5).max() < 3e-3
    assert np.linalg.norm(recording.twist("skate")[-1, 3:]) == pytest.approx(3.0, rel=2.5e-3)  # order 1: it grows by h ω² t / 2
    assert np.abs(recording.multiplier("blade")[:, 0]) == pytest.approx(np.full(t.size, 12.0), rel=2.5e-3)


def test_ball_rolls_without_a_contact() -> None:
    """Rolling holds two velocities: pulled along its plane by g sin θ, the ball speeds up with 5/7 of it."""
    angle, r = np.radians(20.0), 0.1
    b = ub.Builder(gravity=(G * np.sin(angle), 0, 0))
    ball = b.body("ball", shape=ub.Sphere(r), mass=1.0, X_WB=ub.Pose((0, 0, r)))
    b.add(ub.Rolling(ball.at(), radius=r))
    recording = ub.Simulation(b.build(), "impulse", dt=5e-3).run(0.2, every=20)
    speed = 0.2 * 5 / 7 * G * np.sin(angle)
    assert recording.twist("ball")[-1] == pytest.approx([0, speed / r, 0, speed, 0, 0], abs=1e-9)


def test_prescribed_motion_is_followed() -> None:
    b = ub.Builder()
    arm = b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    hand = b.body("hand", mass=0.5, inertia=(0.01, 0.01, 0.01))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, arm, X_BM=ub.Pose((0, 0, 0.5)))
    b.joint("wrist", ub.Ball(), arm, hand, X_PF=ub.Pose((0, 0, -0.5)), X_BM=ub.Pose((0, 0, 0.2)))
    b.add(ub.PrescribedJoint("hinge", np.sin))
    recording = ub.Simulation(b.build(), "impulse", dt=2e-3).run(2.0, every=50)
    assert np.abs(recording.joint("hinge")[:, 0] - np.sin(recording.t)).max() < 1e-10
    assert np.abs(recording.joint_velocity("hinge")[1:, 0] - np.cos(recording.t[1:])).max() < 1e-9


def test_step_that_does_not_close_is_refused_and_named() -> None:
    """Two rods of different length between the same two points: no impulse closes both."""
    b = ub.Builder()
    ball = b.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), X_WB=ub.Pose((0, 0, -1)))
    b.add(ub.Distance(ball.at(), b.world.at(), length=1.0), name="short")
    b.add(ub.Distance(ball.at(), b.world.at(), length=1.1), name="long")
    sim = ub.Simulation(b.build(), "impulse", dt=1e-2, assemble=False)
    with pytest.raises(ub.StepFailed, match="still apart by") as caught:
        sim.run(0.1)
    assert caught.value.element in ("short", "long") and caught.value.report.status == "not converged"
    assert sim.state.t == 0.0 and np.isfinite(sim.state.q).all()


def test_too_few_previews_are_told() -> None:
    sim = ub.Simulation(chain(3), ub.solvers.Impulse(iterations=1, tolerance=1e-13), dt=1e-2)
    with pytest.raises(ub.StepFailed, match="after 1 previews"):
        sim.step()
    with pytest.raises(ub.ModelError, match="tolerance"):
        ub.solvers.Impulse(tolerance=0.0)
    with pytest.raises(ub.ModelError, match="tree, local"):
        ub.solvers.Impulse(method="jacobi")


def test_bodies_that_start_apart_come_together() -> None:
    """A joint 5 cm open at the start is closed by the first step; energy is that of the closed one to the second order."""
    b = ub.Builder(gravity=None)
    one = b.body("one", mass=1.0, inertia=(0.1, 0.1, 0.1))
    two = b.body("two", mass=1.0, inertia=(0.1, 0.1, 0.1), X_WB=ub.Pose((1.05, 0, 0)))
    b.add(ub.Distance(one.at(), two.at(), length=1.0))
    recording = ub.Simulation(b.build(), "impulse", dt=1e-2, assemble=False).run(0.1)
    assert recording.violation[1:].max() < 1e-10
    assert recording.energy.kinetic[1:].max() < 1e-12
