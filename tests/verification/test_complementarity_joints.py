"""Complementarity: joints, limits, loops, dry friction, velocity constraints and overlaps, beside other solvers and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G = 9.81


def test_pendulum_rests_on_its_stop() -> None:
    """A rod of length 1 held at 30° by its limit: the multiplier is m g/2 sin 30°, and it neither sinks nor bounces."""
    b = ub.Builder()
    rod = b.body("rod", shape=ub.Box((0.05, 0.05, 1.0)), mass=2.0)
    b.joint("hinge", ub.Revolute((0, -1, 0)), b.world, rod, X_BM=ub.Pose((0, 0, 0.5)), q=0.8)
    b.add(ub.JointLimit("hinge", lower=np.pi / 6), name="stop")
    recording = ub.Simulation(b.build(), "complementarity", dt=5e-3).run(1.0)
    angle = recording.joint("hinge")[:, 0]
    assert angle.min() > np.pi / 6 - 1e-9 and angle[-1] == pytest.approx(np.pi / 6, abs=1e-9)
    assert recording.multiplier("stop")[-1, 0] == pytest.approx(2.0 * G * 0.5 * np.sin(np.pi / 6), rel=1e-9)
    assert recording.reaction("hinge")[-1, 3:] == pytest.approx([0.0, 0.0, 2.0 * G], abs=1e-7)
    assert recording.multiplier("stop")[0, 0] == 0.0


def test_what_limits_carried_is_where_the_next_step_begins() -> None:
    """Two flaps against their stops: from the second step on nothing is left to be found, whatever the length of the steps."""
    b = ub.Builder()
    for k in range(2):
        flap = b.body(f"flap{k}", shape=ub.Box((0.2, 0.1, 0.02)), mass=1.0 + k, X_WB=ub.Pose((0.1, 0.0, k)))
        hinge = b.joint(f"hinge{k}", ub.Revolute(axis=(0, 1, 0)), b.world, flap, X_PF=ub.Pose((0, 0, k)), X_BM=ub.Pose((-0.1, 0, 0)))
        b.add(ub.JointLimit(hinge, lower=-1.0, upper=0.0), name=f"stop{k}")
    bound = ub.solvers.Complementarity(method="pgs").bind(model := b.build())
    state, memory = bound.start()
    iterations = []
    for dt in (2e-3, 2e-3, 1e-3, 5e-3):
        made = bound.step(state, memory, model.neutral_control(), dt)
        state, memory = made.state, made.memory
        iterations.append(made.report.iterations)
        assert abs(state.v).max() < 1e-9
    assert iterations[0] > 0 and not any(iterations[1:]), iterations


def test_dry_friction_sticks_below_its_bound_and_slides_above() -> None:
    """A slider under a force of 3 N: held for good by a bound of 3.5 N, moved with (3 − 2.5)/m by one of 2.5 N; it also stops by itself."""
    for bound, push, speed, expected in ((3.5, 3.0, 0.0, 0.0), (2.5, 3.0, 0.0, 0.25), (2.0, 0.0, 1.0, 0.0)):
        b = ub.Builder(gravity=None)
        sled = b.body("sled", mass=2.0, inertia=(1, 1, 1))
        b.joint("slide", ub.Prismatic((1, 0, 0)), b.world, sled, v=speed)
        b.add(ub.AppliedWrench(sled, force=(push, 0, 0)))
        b.add(ub.DryFriction("slide", bound=bound), name="rub")
        recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(2.0, every=10)
        v = recording.joint_velocity("slide")[:, 0]
        assert v[-1] == pytest.approx(2.0 * expected, abs=1e-12)
        if speed:
            assert recording.joint("slide")[-1, 0] == pytest.approx(0.5 * speed**2 * 2.0 / bound, rel=0.02)


def leg(friction: float = 0.5) -> ub.Model:
    """Two links on a slide, with a loop and a limit, the foot on the ground."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    hip = b.body("hip", mass=2.0, inertia=(0.1, 0.1, 0.1))
    thigh = b.body("thigh", shape=ub.Box((0.05, 0.05, 0.5)), mass=1.0)
    shin = b.body("shin", shape=ub.Capsule(0.05, 0.4), mass=0.8)
    bar = b.body("bar", mass=0.2, inertia=(0.01, 0.01, 0.001))
    b.joint("lift", ub.Prismatic((0, 0, 1)), b.world, hip, q=0.797, v=-0.6)
    b.joint("swing", ub.Revolute((0, 1, 0)), hip, thigh, X_BM=ub.Pose((0, 0, 0.25)), q=0.6, v=0.3)
    b.joint("knee", ub.Universal(), thigh, shin, X_PF=ub.Pose((0, 0, -0.25)), X_BM=ub.Pose((0, 0, 0.2)), q=(0.0, -0.9), v=(0.1, 0.4))
    b.joint("pin", ub.Ball(), hip, bar, X_PF=ub.Pose((-0.1, 0, 0)), X_BM=ub.Pose((0, 0, 0.15)))
    b.add(ub.Distance(bar.at(0, 0, -0.15), thigh.at(0, 0, 0)), name="link")
    b.add(ub.JointLimit("swing", upper=0.6), name="stop")
    b.add(ub.DryFriction("knee", bound=0.05))
    b.add(ub.Contact(friction=friction))
    return b.build()


def new_velocities(model: ub.Model, coordinates: str, h: float) -> tuple[np.ndarray, int]:
    """Velocities of all centres of mass at the end of a step, and how many contacts push."""
    sim = ub.Simulation(model, ub.solvers.Complementarity(coordinates=coordinates, tolerance=1e-13), dt=h)
    bound, system = sim.bound, sim.bound.system
    q, v, _ = bound._unpack(*bound.start())
    system.prepare(h)
    assert system.look(0.0, q, v, sim.control.flat)
    held = bound.rule.solve_step(h)
    bound._push(held, h)
    motion = system.motion()
    return motion.velocity + h * motion.rate, int((held.impulse[:, 0] > 0).sum())


@pytest.mark.parametrize("friction", [0.0, 0.6])
def test_reduced_and_maximal_coordinates_give_the_same_new_velocities(friction: float) -> None:
    """A step of 20 ms in which a foot hits the ground beside a limit at its bound, a loop and dry friction: to 1e-9 m/s."""
    model = leg(friction)
    reduced, touching = new_velocities(model, "reduced", 2e-2)
    maximal, also = new_velocities(model, "maximal", 2e-2)
    assert touching == also and touching >= 1
    assert np.abs(reduced - maximal).max() < 1e-9
    assert np.abs(reduced).max() > 0.1


def test_mechanisms_without_contact_move_as_in_articulated() -> None:
    """As `articulated` moves them by a rule of order four, loops included, to order one."""
    b = ub.Builder()
    links = [b.body(f"link{k}", mass=1.0 + k, inertia=(0.05, 0.06, 0.02)) for k in range(3)]
    b.joint("a", ub.Revolute((0, 1, 0)), b.world, links[0], X_BM=ub.Pose((-0.5, 0, 0)), q=-1.0)
    b.joint("b", ub.Revolute((0, 1, 0)), links[0], links[1], X_PF=ub.Pose((0.5, 0, 0)), X_BM=ub.Pose((-0.5, 0, 0)), q=1.0)
    b.joint("c", ub.Revolute((0, 1, 0)), links[1], links[2], X_PF=ub.Pose((0.5, 0, 0)), X_BM=ub.Pose((-0.5, 0, 0)), q=1.0)
    b.joint("d", ub.Revolute((0, 1, 0)), b.world, links[2], X_PF=ub.Pose((2.0 * np.cos(1.0) + 1.0, 0, 0)), X_BM=ub.Pose((0.5, 0, 0)))
    model = b.build()
    exact = ub.Simulation(model, ub.solvers.Articulated(rule="rk4"), dt=5e-4).run(0.2, every=40)
    errors = []
    for every in (10, 20, 40):
        ours = ub.Simulation(model, "complementarity", dt=0.02 / every).run(0.2, every=every)
        errors.append((np.abs(ours.q - exact.q).max(), np.abs(ours.v - exact.v).max()))
        assert ours.violation.max() < 1e-10
    for first, last in zip(errors[0], errors[-1], strict=True):
        assert last < 0.3 * first
    assert errors[-1][0] < 5e-4 and errors[-1][1] < 5e-4


def test_overlaps_are_taken_apart_without_speed() -> None:
    """A ball that starts 1 cm inside the ground comes out of it, and does not jump."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 0.09)))
    b.add(ub.Contact())
    recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(0.5)
    z = recording.pose("ball")[:, 2]
    assert z[-1] == pytest.approx(0.1, abs=2e-6) and (np.diff(z) >= -1e-12).all()
    assert recording.energy.kinetic.max() < 1e-12


def test_sledge_on_a_knife_edge_runs_in_a_circle() -> None:
    """Without forces a skate that turns at ω and runs at v keeps both: a circle of radius v/ω, side force m v ω."""
    b = ub.Builder(gravity=None)
    sledge = b.body("sledge", mass=3.0, inertia=(0.3, 0.3, 0.5), V_WB=(0, 0, 2.0, 1.0, 0, 0))
    b.add(ub.KnifeEdge(sledge.at(), (0, 1, 0)), name="edge")
    for solver in ("complementarity", "articulated"):
        recording = ub.Simulation(b.build(), solver, dt=2e-3).run(np.pi, every=100)
        p, along = recording.pose("sledge")[:, :3], recording.twist("sledge")
        assert np.linalg.norm(along[:, 3:], axis=1) == pytest.approx(1.0, rel=0.02)  # order 1
        assert np.linalg.norm(p[:, :2] - [0.0, 0.5], axis=1) == pytest.approx(0.5, rel=0.03)
        assert np.abs(recording.multiplier("edge")[1:, 0]) == pytest.approx(3.0 * 1.0 * 2.0, rel=0.03)


def test_rolling_ball_on_a_slope_has_five_sevenths() -> None:
    """Rolling as an equation: 5/7 g sin θ down a slope, its height held by a plane, with the friction 2/7 m g sin θ as multiplier."""
    theta = 0.3
    b = ub.Builder(gravity=(G * np.sin(theta), 0, -G * np.cos(theta)))
    ball = b.body("ball", shape=ub.Sphere(0.2), mass=2.0, X_WB=ub.Pose((0, 0, 0.2)))
    b.add(ub.PointPlane(ball.at(), (0, 0, 0.2), (0, 0, 1)))
    b.add(ub.Rolling(ball.at(), 0.2), name="roll")
    recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(0.5, every=10)
    assert recording.twist("ball")[-1, 3] / 0.5 == pytest.approx(5.0 / 7.0 * G * np.sin(theta), rel=1e-9)
    assert np.linalg.norm(recording.multiplier("roll")[-1]) == pytest.approx(2.0 / 7.0 * 2.0 * G * np.sin(theta), rel=1e-9)
