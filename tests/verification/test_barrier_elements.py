"""Elements that the barrier solver honours, one by one, against closed forms or articulated bodies: motions that are prescribed, points on
lines and planes, couplings, cables, friction in joints, motors at their limits, drag, planar worlds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import unibody as ub
from unibody.element import Point
from unibody.solvers import Articulated, Barrier, Lagrange, RedMax

GRAVITY = 9.81
Y = (0, 1, 0)


def run(model, duration=0.5, n=100, every=1, **options):
    return ub.Simulation(model, Barrier(**{"rule": "bdf2", "tolerance": 1e-7, **options}), dt=duration / n).run(duration, every=every)


def arm(b, name="arm", parent=None, at=(0, 0, 0), q=0.4, v=0.0, **more):
    """A rod of 0.5 m on a hinge about y."""
    body = b.body(name, mass=1.0, inertia=(0.02, 0.021, 0.004))
    b.joint(f"{name}.hinge", ub.Revolute(Y), parent or b.world, body, X_PF=ub.Pose(at), X_BM=ub.Pose((0, 0, 0.25)), q=q, v=v, **more)
    return body


def agree(model, reference, duration=0.3, n=120, within=2e-4, bodies=None):
    """Ends of both runs, on a point away from each body's origin, and the order of what is left."""
    exact = ub.Simulation(model, reference, dt=duration / 600).run(duration, every=600)
    names = bodies or [b.name for b in model.bodies[1:] if b.kind == "dynamic"]
    errors = []
    for steps in (n // 2, n):
        rec = run(model, duration, steps, every=steps)
        errors.append(max(np.abs(rec.point(b, (0.1, 0.2, 0.1))[-1] - exact.point(b, (0.1, 0.2, 0.1))[-1]).max() for b in names))
    assert errors[1] < within, errors
    assert errors[1] < 0.6 * errors[0] or errors[1] < 1e-5, errors


def test_a_prescribed_joint_goes_where_it_is_told():
    """A rod at q = 0.3 sin 4t: the drive's effort is I q̈ + m g d sin q."""
    b = ub.Builder()
    arm(b, q=0.0, v=1.2)
    b.add(ub.PrescribedJoint("arm.hinge", lambda t: 0.3 * math.sin(4 * t)), name="drive")
    rec = run(b.build(), 0.5, 200)
    q = 0.3 * np.sin(4 * rec.t)
    assert np.abs(rec.joint("arm.hinge")[:, 0] - q).max() < 1e-5
    inertia = 0.021 + 0.25**2
    effort = -16.0 * inertia * q + GRAVITY * 0.25 * np.sin(q)
    assert rec.multiplier("drive")[20:, 0] == pytest.approx(effort[20:], abs=0.05)


def test_a_prescribed_point_and_frame_go_where_they_are_told():
    b = ub.Builder()
    b.body("kite", mass=1.0, inertia=(0.1, 0.1, 0.1), V_WB=(0, 0, 0, 1, 0, 0))
    b.add(ub.PrescribedPoint(Point("kite", (0, 0, 0.2)), lambda t: (t, 0.1 * math.sin(3 * t), 0.2)), name="string")
    b.body("tray", mass=1.0, inertia=(0.1, 0.1, 0.1), X_WB=ub.Pose((0, 3, 0)), V_WB=(0, 0, 1, 0, 0, 0))
    b.add(ub.PrescribedFrame("tray", lambda t: ub.Pose.about((0, 0, 1), t, p=(0, 3, 0))), name="hand")
    rec = run(b.build(), 0.4, 100)
    way = np.stack([rec.t, 0.1 * np.sin(3 * rec.t), np.full(len(rec), 0.2)], axis=1)
    assert np.abs(rec.point("kite", (0, 0, 0.2)) - way).max() < 2e-5
    assert np.abs(rec.point("tray") - (0, 3, 0)).max() < 2e-5
    assert np.abs(rec.point("tray", (1, 0, 0)) - np.stack([np.cos(rec.t), 3 + np.sin(rec.t), 0 * rec.t], axis=1)).max() < 5e-5
    assert rec.multiplier("hand")[-1, 5] == pytest.approx(GRAVITY, rel=0.02)


def test_a_prescribed_motion_agrees_with_articulated_bodies():
    b = ub.Builder()
    upper = arm(b, "upper", q=0.0, v=0.9)
    arm(b, "lower", upper, (0, 0, -0.25))
    b.add(ub.PrescribedJoint("upper.hinge", lambda t: 0.3 * math.sin(3 * t)))
    agree(b.build(), Articulated(rule="rk4"))


def test_a_point_stays_above_its_plane_and_rests_on_it():
    """A body whose bottom point falls on z = 0 with 1 m/s comes to rest within a hundredth of its radius of gyration; the plane carries
    its weight."""
    b = ub.Builder()
    b.body("drop", mass=2.0, inertia=(0.1, 0.1, 0.1), X_WB=ub.Pose((0, 0, 0.25)), V_WB=(0, 0, 0, 0, 0, -1.0))
    b.add(ub.PointPlane(Point("drop", (0, 0, -0.2)), (0, 0, 0), (0, 0, 1)), name="floor")
    rec = run(b.build(), 1.0, 100, rule="implicit")
    z = rec.point("drop", (0, 0, -0.2))[:, 2]
    assert z.min() > 0.0 and z[-1] < 0.01
    assert rec.multiplier("floor")[-1, 0] == pytest.approx(2.0 * GRAVITY, rel=1e-3)


def test_a_point_on_a_line():
    """A bead's hole on a wire at 30°, free to turn; centre of mass in the hole: it slides with g sin 30°."""
    b = ub.Builder()
    b.body("bead", mass=1.0, inertia=(0.01, 0.01, 0.01), V_WB=(0, 3, 0, 0, 0, 0))
    along = np.array([math.cos(math.pi / 6), 0, -math.sin(math.pi / 6)])
    b.add(ub.PointOnLine(Point("bead"), Point("world"), along), name="wire")
    rec = run(b.build(), 0.5, 100)
    p = rec.point("bead")
    assert p @ along == pytest.approx(0.25 * GRAVITY * rec.t**2, abs=2e-3)
    assert np.abs(p - np.outer(p @ along, along)).max() < 1e-5
    c = ub.Builder()
    upper = arm(c, "upper", q=0.8)
    c.body("ring", mass=0.5, inertia=(0.01, 0.01, 0.01), X_WB=ub.Pose((-0.25 * math.sin(0.8), 0, -0.25 * math.cos(0.8))))
    c.add(ub.PointOnLine(Point("ring"), Point(upper.name), (0, 0, 1)))
    agree(c.build(), Lagrange(rule="rk4"))


@pytest.mark.parametrize("kind", ["matrix", "function", "joint"])
def test_couplings(kind):
    """Two rods whose second angle is twice the first, or its square."""
    b = ub.Builder()
    upper = arm(b, "upper", q=0.4)
    arm(b, "lower", upper, (0, 0, -0.25), q=0.16 if kind == "function" else 0.8)
    couple = {
        "matrix": ub.Coupling(["lower.hinge"], ["upper.hinge"], [[2.0]]),
        "joint": ub.JointCoupling(["lower.hinge", "upper.hinge"], (1.0, -2.0)),
        "function": ub.Coupling(["lower.hinge"], ["upper.hinge"], function=np.square),
    }  # fmt: skip
    b.add(couple[kind])
    model = b.build()
    agree(model, Articulated(rule="rk4"))
    rec = run(model, 0.3, 60)
    first, second = rec.joint("upper.hinge")[:, 0], rec.joint("lower.hinge")[:, 0]
    assert np.abs(second - (first**2 if kind == "function" else 2 * first)).max() < 1e-4
    assert np.ptp(first) > 0.1


def test_a_distance():
    """A mass on a massless rod of 0.5 m is a pendulum."""
    b = ub.Builder()
    b.body("bob", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), X_WB=ub.Pose((0.3, 0, -0.4)))
    b.add(ub.Distance(Point("bob"), Point("world")), name="rod")
    agree(b.build(), Lagrange(rule="rk4"))


def test_a_cable_pulls_and_never_pushes():
    """A mass under a spring string: stretched by x₀ it swings as x₀ cos ωt until it is slack; then it flies."""
    b = ub.Builder(gravity=None)
    b.body("mass", mass=1.0, inertia=(0.1, 0.1, 0.1), X_WB=ub.Pose((0, 0, -1.1)))
    b.add(ub.Cable([Point("mass"), Point("world")], stiffness=100.0, rest_length=1.0))
    rec = run(b.build(), 0.4, 160)
    quarter = 0.05 * math.pi
    z = np.where(rec.t < quarter, -1.0 - 0.1 * np.cos(10 * rec.t), -1.0 + (rec.t - quarter))
    assert rec.point("mass")[:, 2] == pytest.approx(z, abs=1e-3)


def test_a_cable_over_a_pulley_agrees_with_articulated_bodies():
    b = ub.Builder()
    one = arm(b, "one", q=0.6)
    two = arm(b, "two", at=(0.5, 0, 0), q=-0.2)
    b.add(ub.Cable([one.at(0, 0, -0.2), b.world.at(0.2, 0, 0.3), two.at(0, 0, -0.2)], stiffness=40.0, damping=1.0, rest_length=0.6))
    agree(b.build(), Articulated(rule="rk4"), within=1e-3)


def test_dry_friction_stops_a_wheel_after_the_right_angle():
    """ω² I / (2 b), and holds it there."""
    b = ub.Builder(gravity=None)
    wheel = b.body("wheel", mass=1.0, inertia=(0.15, 0.2, 0.15))
    b.joint("axle", ub.Revolute(Y), b.world, wheel, v=2.0)
    b.add(ub.DryFriction("axle", bound=0.5, slip_speed=1e-3))
    rec = run(b.build(), 1.2, 240)
    assert rec.joint("axle")[-1, 0] == pytest.approx(0.2 * 4.0 / (2.0 * 0.5), rel=0.01)
    assert abs(rec.joint_velocity("axle")[-1, 0]) < 1e-3


def test_a_motor_at_its_limit():
    """It asks for 4000 N m and gives 2: α = 2 / I; then, near its target, it holds."""
    b = ub.Builder(gravity=None)
    wheel = b.body("wheel", mass=1.0, inertia=(0.15, 0.2, 0.15))
    b.joint("axle", ub.Revolute(Y), b.world, wheel)
    b.add(ub.Motor("axle", kp=400.0, kd=20.0, target=10.0, limit=2.0))
    rec = run(b.build(), 0.5, 200)
    assert rec.joint("axle")[:, 0] == pytest.approx(0.5 * (2.0 / 0.2) * rec.t**2, abs=5e-3)
    c = ub.Builder()
    upper = arm(c, "upper", q=0.4, effort_limit=0.8)
    arm(c, "lower", upper, (0, 0, -0.25))
    c.add(ub.Motor("upper.hinge", kp=100.0, kd=2.0, target=0.2))
    agree(c.build(), Articulated(rule="rk4"), within=1e-3)


def test_drag_on_a_body():
    """v e^{−t d / m} and ω e^{−t d / I}."""
    b = ub.Builder(gravity=None)
    b.body("puck", mass=2.0, inertia=(0.2, 0.2, 0.4), V_WB=(0, 0, 3.0, 1.0, 0, 0))
    b.add(ub.BodyDamping("puck", angular=0.4, linear=1.0))
    rec = run(b.build(), 1.0, 200)
    assert rec.twist("puck")[-1, 2] == pytest.approx(3.0 * math.exp(-1.0), rel=2e-3)
    assert np.linalg.norm(rec.twist("puck")[-1, 3:]) == pytest.approx(math.exp(-0.5), rel=2e-3)


def test_planar_worlds_stay_in_their_plane():
    b = ub.Builder(planar=True)
    rod = b.body("rod", mass=1.0, inertia=(0.02, 0.02, 0.02), X_WB=ub.Pose((0, 0, 1)), V_WB=(0, 2.0, 0, 1.0, 0, 0.5))
    tail = b.body("tail", mass=0.5, inertia=(0.02, 0.02, 0.02))
    b.joint("hinge", ub.Revolute(Y), rod, tail, X_PF=ub.Pose((0.2, 0, 0)), X_BM=ub.Pose((-0.2, 0, 0)), q=0.5)
    model = b.build()
    agree(model, Articulated(rule="rk4"))
    rec = run(model, 0.3, 60)
    for body in ("rod", "tail"):
        assert np.abs(rec.point(body)[:, 1]).max() < 1e-12
        assert np.abs(rec.twist(body)[:, [0, 2, 4]]).max() < 1e-9


def test_contact_in_a_planar_world():
    """A box on the ground carries its weight, and stays in its plane."""
    b = ub.Builder(planar=True)
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("box", shape=ub.Box((0.2, 0.2, 0.2)), X_WB=ub.Pose((0, 0, 0.102)))
    b.add(ub.Contact(friction=0.5, reach=2e-3))
    rec = run(b.build(), 0.5, 50, rule="implicit")
    assert rec.contacts[-1].on(2)[2] == pytest.approx(8.0 * GRAVITY, rel=1e-2)
    assert np.abs(rec.point("box")[:, 1]).max() < 1e-12


def test_a_plane_on_a_moving_body():
    """A body runs into a stop on another: the gap never closes, the momentum is kept, and the other moves on at least as fast."""
    b = ub.Builder(gravity=None)
    for name, x, v in (("one", 0.0, 1.0), ("two", 0.3, 0.0)):
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.01), X_WB=ub.Pose((x, 0, 0)), V_WB=(0, 0, 0, v, 0, 0))
    b.add(ub.PointPlane(Point("one", (0.1, 0, 0)), Point("two", (-0.1, 0, 0)), (-1, 0, 0)), name="stop")
    rec = run(b.build(), 0.3, 300)
    gap = rec.point("two")[:, 0] - rec.point("one")[:, 0] - 0.2
    assert gap.min() > 0.0
    total = rec.twist("one")[:, 3] + rec.twist("two")[:, 3]
    assert np.abs(total - 1.0).max() < 1e-5
    there = ub.Simulation(rec.model, RedMax(), dt=1e-3).run(0.3)
    assert there.twist("two")[-1, 3] >= 0.5 - 1e-3 and rec.twist("two")[-1, 3] >= 0.5 - 1e-3
