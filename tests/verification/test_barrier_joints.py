"""Joints of the barrier solver: exact rows, stiff remainders, ranges, loops, reactions."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.solvers import Articulated, Barrier
from unibody.solvers.barrier.constraint_rows import RemainderPotential
from unibody.solvers.barrier.element_loads import StepScales
from unibody.solvers.barrier.measure_potential import MeasurePotential

GRAVITY = 9.81
KINDS = {
    "weld": ub.Weld(), "revolute": ub.Revolute((0.2, 1, 0)), "prismatic": ub.Prismatic((1, 0, 1)), "ball": ub.Ball(),
    "universal": ub.Universal(), "screw": ub.Screw((0, 0, 1), 0.1), "translational": ub.Translational(), "planar": ub.Planar(),
    "composite": ub.Composite(ub.Prismatic((1, 0, 0)), ub.Revolute((0, 1, 0))),
    "gimbal": ub.Composite(ub.Revolute((0, 1, 0)), ub.Revolute((1, 0, 0)), ub.Revolute((0, 0, 1))),
}  # fmt: skip


def two_arms(kind: str) -> ub.Model:
    """A hinge to the world, then the joint in question between two bodies that move."""
    b = ub.Builder()
    arm = b.body("arm", mass=1.0, inertia=(0.05, 0.06, 0.02))
    hand = b.body("hand", mass=0.7, com=(0.02, 0, 0.05), inertia=(0.05, 0.04, 0.02))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, arm, X_BM=ub.Pose((0, 0, 0.4)), q=0.8, v=1.0)
    joint = KINDS[kind]
    v = np.array([0.4, -0.5, 0.6])[: joint.nv]
    b.joint("joint", joint, arm, hand, X_PF=ub.Pose((0.1, 0, -0.3)), X_BM=ub.Pose((0, 0.1, 0.2)), v=v, stiffness=0.0, damping=0.1)
    return b.build()


@pytest.mark.parametrize("kind", KINDS)
def test_exact_rows_hold_for_ten_seconds_and_the_rest_nearly(kind):
    """On material points, not on projected poses. Stiff potentials give way by a h²/10⁴, 10⁻⁶ m and more where
    a slide has run away and is swung around."""
    model = two_arms(kind)
    sim = ub.Simulation(model, Barrier(), dt=1e-1)
    system, worst = sim.bound.system, 0.0
    for _ in range(100):
        report = sim.step()
        worst = max(worst, report.violation)
        exact = np.abs(system.reduction.residual(system.affine.whole(sim.state.q, sim.state.t))).max()
        assert exact < 1e-12
    assert worst < (1e-12 if not system.reduction.missing else 2e-4)


@pytest.mark.parametrize("kind", ["screw", "composite"])
def test_remainders_are_gradients_of_their_value(kind, rng):
    model = two_arms(kind)
    bound = Barrier().bind(model)
    system = bound.system
    state, memory = bound.start()
    Q = system.affine.whole(state.q, 0.0)
    Q[1:] += 1e-3 * rng.normal(size=Q[1:].shape)
    q_near, scales, h, g = system.memory.view(memory).joint_q, StepScales(1e4, 1e-2, GRAVITY), 1e-6, np.zeros(Q.size)
    if kind == "screw":  # by poses
        assert len(system.remainders) == 1
        potential = RemainderPotential(system.view, system.remainders, q_near, scales, 1.0)
    else:  # by measures
        assert len(system.measured.joints) == 1
        potential = MeasurePotential(system.measured, Q, q_near, scales, 100.0, Q, 1.0)
    potential.add_gradient(Q.reshape(-1), g)
    g = g.reshape(Q.shape)
    for _ in range(6):
        d = rng.normal(size=Q.shape)
        d[0] = 0.0
        slope = (potential.value((Q + h * d).reshape(-1)) - potential.value((Q - h * d).reshape(-1))) / (2 * h)
        assert slope == pytest.approx(float((g * d).sum()), rel=1e-5, abs=1e-6 * np.abs(g).max())


def test_a_slide_on_the_ground_is_exact_and_named_notes_say_what_is_stiff():
    b = ub.Builder()
    box = b.body("box", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("slide", ub.Prismatic((1, 0, -1)), b.world, box)
    sim = ub.Simulation(b.build(), Barrier(rule="bdf2", tolerance=1e-9), dt=1e-2)
    rec = sim.run(1.0)
    assert not sim.report.notes[1:]
    along = rec.point("box") @ np.array([1, 0, -1]) / np.sqrt(2)
    assert along[-1] == pytest.approx(0.5 * GRAVITY / np.sqrt(2), rel=1e-2)
    assert np.abs(rec.point("box") @ np.array([[1, 0, 1], [0, 1, 0]]).T).max() < 1e-13
    assert any("joint" in n for n in ub.Simulation(two_arms("screw"), "barrier").bound.system.notes())


@pytest.mark.parametrize("joint", [ub.Prismatic((1, 0, 0)), ub.Composite(ub.Prismatic((1, 0, 0)), ub.Revolute((0, 0, 1)))], ids=["1", "2"])
def test_slides_between_moving_bodies_are_held_in_planar_worlds(joint):
    b = ub.Builder(planar=True, normal=(0, 0, 1), gravity=(0, -GRAVITY, 0))
    arm, hand = (b.body(n, mass=m, inertia=(0.05, 0.05, 0.05)) for n, m in (("arm", 1.0), ("hand", 0.7)))
    b.joint("hinge", ub.Revolute((0, 0, 1)), b.world, arm, X_BM=ub.Pose((0, 0.4, 0)), q=0.8, v=1.0)
    b.joint("joint", joint, arm, hand, X_PF=ub.Pose((0.1, -0.3, 0)), X_BM=ub.Pose((0, 0.2, 0)), v=np.full(joint.nv, 0.4))
    model = b.build()
    rec = ub.Simulation(model, Barrier(rule="bdf2"), dt=5e-3).run(0.3)
    exact = ub.Simulation(model, Articulated(rule="rk4"), dt=5e-3).run(0.3)
    np.testing.assert_allclose(rec.point("hand")[-1], exact.point("hand")[-1], atol=1e-3)
    assert rec.violation.max() < 1e-5


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_a_range_is_never_left_and_carries_the_weight_at_rest(rule):
    """A rod falls on its stop at 30° and rests there: the joint's torque is the moment of its weight."""
    b = ub.Builder()
    rod = b.body("rod", mass=2.0, inertia=(0.06, 0.06, 0.01))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, rod, X_BM=ub.Pose((0, 0, 0.3)), q=1.5, damping=0.5)
    b.add(ub.JointLimit("hinge", lower=np.pi / 6), name="stop")
    rec = ub.Simulation(b.build(), Barrier(rule=rule), dt=1e-2).run(4.0)
    q = rec.joint("hinge")[:, 0]
    assert q.min() > np.pi / 6
    assert q[-1] - np.pi / 6 < 0.01 and abs(rec.joint_velocity("hinge")[-1, 0]) < 1e-3
    moment = 2.0 * GRAVITY * 0.3 * np.sin(q[-1])
    assert rec.multiplier("stop")[-1, 0] == pytest.approx(moment, rel=1e-3)
    assert rec.reaction("hinge")[-1, 1] == pytest.approx(moment, rel=1e-3)
    assert abs(rec.constraint_wrench("hinge")[-1, 1]) < 1e-5
    assert rec.reaction("hinge")[-1, 5] == pytest.approx(2.0 * GRAVITY, rel=1e-3)


def test_cones_twists_and_slides_stay_in_their_ranges():
    b = ub.Builder()
    arm = b.body("arm", mass=1.0, inertia=(0.05, 0.05, 0.02))
    b.joint("ball", ub.Ball(), b.world, arm, X_BM=ub.Pose((0, 0, 0.3)), v=(3.0, 2.0, 6.0))
    b.add(ub.JointLimit("ball", angle=0.5, twist=(-0.4, 0.4)), name="cone")
    car = b.body("car", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("slide", ub.Prismatic((1, 0, 0)), b.world, car, v=2.0)
    b.add(ub.JointLimit("slide", lower=-0.2, upper=0.2), name="stops")
    sim = ub.Simulation(b.build(), Barrier(rule="bdf2"), dt=1e-2)
    for _ in range(200):
        assert sim.step().violation < 1e-12
    rec = sim.run(0.01)
    assert np.abs(rec.joint("slide")).max() < 0.2


def test_reactions_at_the_start_are_those_of_articulated_bodies():
    for kind in KINDS:
        model = two_arms(kind)
        here, there = (ub.Simulation(model, solver, dt=1e-3).run(0.0) for solver in (Barrier(), Articulated()))
        for joint in ("hinge", "joint"):
            np.testing.assert_allclose(here.reaction(joint), there.reaction(joint), atol=1e-9)
            np.testing.assert_allclose(here.constraint_wrench(joint), there.constraint_wrench(joint), atol=1e-9)


@pytest.mark.parametrize("kind", ["revolute", "ball", "universal", "gimbal", "prismatic"])
def test_reactions_move_every_body(kind):
    """Newton for each body over a step of implicit Euler, in third-law pairs."""
    model, h = two_arms(kind), 1e-2
    rec = ub.Simulation(model, Barrier(tolerance=1e-8), dt=h).run(5 * h)
    v = rec.v.reshape(len(rec), -1, 4, 3)[:, : model.n_bodies - 1]  # virtual links come after the bodies
    com = np.array([np.append(1.0, b.com) for b in model.bodies[1:]])
    velocity = np.einsum("na,tnai->tni", com, v)
    mass = np.array([b.mass for b in model.bodies[1:]])
    force = mass[:, None] * ((velocity[-1] - velocity[-2]) / h + np.array([0, 0, GRAVITY]))
    hinge, joint = rec.reaction("hinge")[-1, 3:], rec.reaction("joint")[-1, 3:]
    # A stiff potential of 10⁸ N/m is as exact as its coordinates, of which Newton's method leaves the last 10⁻¹² m.
    np.testing.assert_allclose(joint, force[1], atol=1e-3 if kind == "prismatic" else 1e-4)
    np.testing.assert_allclose(hinge - joint, force[0], atol=1e-4)


def test_a_fixed_point_is_exact_and_its_multiplier_carries():
    b = ub.Builder()
    b.body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.add(ub.FixedPoint(ub.model.builder.Body("bob").at(0, 0, 0.5)), name="pin")
    rec = ub.Simulation(b.build(), Barrier(tolerance=1e-8), dt=1e-2).run(0.5)
    assert rec.violation.max() < 1e-14
    # The body stretches by a part in 10⁸ when its weight comes on: the first steps feel it.
    np.testing.assert_allclose(rec.multiplier("pin")[5:], np.tile([0, 0, 2.0 * GRAVITY], (len(rec) - 5, 1)), atol=1e-4)


def test_a_crank_that_is_driven_takes_its_rod_along():
    """The crank's pin at radius 0.2 turns at 2 rad/s; the slider's way is known."""
    b = ub.Builder(gravity=None)
    crank = b.body("crank", kind="kinematic", V_WB=(0, 2.0, 0, 0, 0, 0))
    rod = b.body("rod", mass=1.0, inertia=(0.01, 0.05, 0.05), X_WB=ub.Pose((0.2, 0, 0)))
    car = b.body("car", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("pin", ub.Revolute((0, 1, 0)), crank, rod, X_PF=ub.Pose((0.2, 0, 0)), v=-2.0)
    b.joint("wrist", ub.Revolute((0, 1, 0)), rod, car, X_PF=ub.Pose((0.6, 0, 0)))
    b.joint("slide", ub.Prismatic((1, 0, 0)), b.world, car, X_PF=ub.Pose((0.8, 0, 0)))
    rec = ub.Simulation(b.build(), Barrier(), dt=1e-2).run(3.0)
    angle = 2.0 * rec.t
    exact = 0.2 * np.cos(angle) + np.sqrt(0.6**2 - (0.2 * np.sin(angle)) ** 2)
    np.testing.assert_allclose(rec.point("car")[:, 0], exact, atol=1e-6)
    assert rec.violation.max() < 1e-8


def apart(rec: ub.Recording) -> float:
    """How far material points drift apart that every hinge (two on its axis, a body's size away) and ball (one) should hold together,
    in units of the bodies' size."""
    worst = 0.0
    for j in rec.model.joints:
        bodies = [rec.model.bodies[i].name for i in (j.parent, j.child)]
        size = max(float(np.abs(s.triangles()[0]).max()) for i in (j.parent, j.child) for s in rec.model.bodies[i].shapes)
        points = {"Revolute": (-1.0, 1.0), "Ball": (0.0,)}.get(type(j.element).__name__, ())
        for s in points:
            offset = s * size * np.asarray(getattr(j.element, "axis", (0, 0, 0)), float)
            there, here = (rec.point(b, X.apply(offset)) for b, X in zip(bodies, (j.X_PF, j.X_BM), strict=True))
            worst = max(worst, float(np.abs(there - here).max()) / size)
    return worst


@pytest.mark.parametrize(
    ("name", "parameters", "redundant"),
    [
        ("triple-rod-pendulum", {}, 0), ("serial-arm", {"n": 4, "planar": False, "bend": 0.4}, 0), ("spatial-four-bar", {"rate": 3.0}, 3),
        ("closed-ring", {"n": 5, "planar": False}, 3),
    ],
)  # fmt: skip
def test_points_of_joints_stay_together_for_ten_seconds(name, parameters, redundant):
    """Below 10⁻⁹ of the bodies' size, also where a loop repeats rows: parallel hinges in a ring repeat three, their axes' equality."""
    rec = ub.Simulation(ub.scenes.build(name, **parameters), Barrier(), dt=0.02).run(10.0, every=5)
    assert apart(rec) < 1e-9
    assert np.ptp(rec.point(rec.model.bodies[-1].name)[:, 0]) > 0.1
    report = rec.reports[-1]
    assert report.redundant == redundant and bool(report.redundant_names) == bool(redundant)


def test_ranges_are_never_exceeded():
    """Every range of a swinging ragdoll's arm of three cone twists, and of a slide, at each recorded step."""
    b = ub.Builder()
    twist = ub.Composite(ub.Revolute((0, 1, 0)), ub.Revolute((1, 0, 0)), ub.Revolute((0, 0, 1)))
    last, lower, upper = b.world, np.radians((-100.0, -5.0, -10.0)), np.radians((15.0, 5.0, 10.0))
    for k in range(2):
        rod = b.body(f"rod{k}", shape=ub.Box((0.05, 0.08, 0.4)))
        b.joint(f"twist{k}", twist, last, rod, X_PF=ub.Pose((0, 0, -0.25 * k)), X_BM=ub.Pose((0, 0, 0.25)), q=(-1, 0, 0), v=(0, 1, 3))
        b.add(ub.JointLimit(f"twist{k}", lower=lower.tolist(), upper=upper.tolist()))
        last = rod
    rec = ub.Simulation(b.build(), Barrier(), dt=1e-2).run(1.0)
    for k in range(2):
        q = rec.joint(f"twist{k}")
        assert (q > lower).all() and (q < upper).all()
        assert (q.max(axis=0) > 0.8 * upper).any()
