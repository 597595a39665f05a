"""How the shape of a joint turns its load into friction: closed forms for bending, jamming, balls and axes of any direction.

Forces of least norm at the points of a pin of radius r and height L that carries F across its axis, along its points, at a distance e from
its middle: with D = (L/2)² + r² they sum up to max(F, (L/2) F e / D) + r F e / D. A slide of height L that is pushed along itself at a
distance a from its axis is held by 2 F a / L, so that it jams, whatever the push, where 2 μ a ≥ L.
"""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G, MU, R, MASS = 9.81, 0.3, 0.02, 2.0
both = pytest.mark.parametrize("solver", ["redmax", "complementarity"])


def run(b, solver, duration=1e-2, dt=1e-3):
    return ub.Simulation(b.build(), solver, dt=dt).run(duration)


@both
@pytest.mark.parametrize(("height", "arm"), [(0.05, 0.0), (0.05, 0.01), (0.05, 0.2), (0.4, 0.2), (0.01, 0.03)])
def test_overhung_wheel_bends_its_axle(solver, height, arm):
    """The longer the bearing, the less its ends carry of the bending moment."""
    b = ub.Builder()
    wheel = b.body("wheel", mass=MASS, inertia=(0.05, 0.05, 0.05), com=(0, arm, 0))
    b.joint("axle", ub.Revolute(axis=(0, 1, 0)), b.world, wheel, v=1.0)
    b.add(ub.JointFriction("axle", MU, radius=R, height=height), name="rub")
    rub = run(b, solver, 1e-3).joint_friction("rub")
    F, D = MASS * G, (0.5 * height) ** 2 + R**2
    carried = max(F, 0.5 * height * F * arm / D) + R * F * arm / D
    assert rub.normal_forces[1].sum() == pytest.approx(carried, rel=1e-6)
    assert rub.effort[1, 0] == pytest.approx(-MU * R * carried, rel=1e-6)


@both
@pytest.mark.parametrize("push", [1.0, 1e4])
@pytest.mark.parametrize("part", [0.5, 0.99, 1.01])
def test_drawer_jams_where_it_is_pushed_too_far_aside(solver, push, part):
    mu, height = 0.25, 0.1
    aside = part * height / (2.0 * mu)
    b = ub.Builder(gravity=(0, 0, 0))
    drawer = b.body("drawer", mass=MASS, inertia=(0.05, 0.05, 0.05))
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, drawer)
    b.add(ub.JointFriction("slide", mu, width=0.3, height=height), name="rub")
    b.add(ub.AppliedWrench(drawer, force=(push, 0, 0), at=(0, aside, 0)))
    rec = run(b, solver)
    if part > 1.0:
        np.testing.assert_allclose(rec.q, 0.0, atol=1e-12)
        assert not rec.joint_friction("rub").sliding.any()
    else:
        np.testing.assert_allclose(rec.v[:, 0], push * (1.0 - part) / MASS * rec.t, rtol=1e-6)


@both
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, -1), (1, 2, 3), (-3, 1, 0.5), (1e-3, 1, 1)])
def test_thrust_bearing_rubs_alike_whatever_its_axis(solver, axis):
    """Also where the joint's frames are turned in their bodies."""
    way = np.array(axis) / np.linalg.norm(axis)
    turned = ub.Pose.about((1, -1, 2), 0.7)
    b = ub.Builder(gravity=tuple(-G * (turned.R @ way)))
    wheel = b.body("wheel", mass=MASS, inertia=(0.05, 0.05, 0.05))
    b.joint("axle", ub.Revolute(axis=axis), b.world, wheel, turned, turned, v=1.0)
    b.add(ub.JointFriction("axle", MU, radius=R, height=0.05), name="rub")
    rec = run(b, solver)
    np.testing.assert_allclose(rec.v[:, 0], 1.0 - MU * R * MASS * G / 0.05 * rec.t, rtol=1e-9)


@both
@pytest.mark.parametrize("part", [0.97, 1.03])
def test_ball_holds_its_pendulum_up_to_the_friction_angle(solver, part):
    """Points at the corners of an octahedron, turned by θ with the bob: arm sin θ ≤ μ r (cos θ + sin θ)."""
    mu, radius, arm = 0.4, 0.1, 0.5
    angle = part * np.arctan(mu * radius / (arm - mu * radius))
    b = ub.Builder()
    bob = b.body("bob", mass=MASS, inertia=(0.01, 0.01, 0.01))
    b.joint("pivot", ub.Ball(), b.world, bob, X_BM=ub.Pose(p=(0, 0, arm)), q=ub.Pose.about((1, 0, 0), angle).wxyz)
    b.add(ub.JointFriction("pivot", mu, radius=radius), name="rub")
    rec = run(b, solver, 0.1, dt=1e-2)
    if part < 1.0:
        np.testing.assert_allclose(rec.v, 0.0, atol=1e-8)
        assert rec.joint_friction("rub").effort[-1, 0] == pytest.approx(MASS * G * arm * np.sin(angle), rel=1e-5)
    else:
        assert np.abs(rec.v[-1]).max() > 1e-3


@both
def test_each_of_several_joints_on_one_body_rubs_with_its_own_load(solver):
    """Two wheels turn on thrust bearings of one carriage, which hangs on a third: each bearing carries what hangs on it."""
    b = ub.Builder()
    carriage = b.body("carriage", mass=3.0, inertia=(0.5, 0.5, 0.5))
    b.joint("king", ub.Revolute(axis=(0, 0, 1)), b.world, carriage, v=4.0)
    loads = {"king": 3.0}
    for name, mass, x, v in (("left", 1.0, -0.2, 9.0), ("right", 2.0, 0.1, -7.0)):
        wheel = b.body(name, mass=mass, inertia=(0.02, 0.02, 0.02))
        b.joint(f"{name} axle", ub.Revolute(axis=(0, 0, 1)), carriage, wheel, ub.Pose((x, 0, 0)), v=v)
        loads[f"{name} axle"] = mass
        loads["king"] += mass
    for name in loads:
        b.add(ub.JointFriction(name, MU, radius=R, height=1e6), name=f"{name} rub")  # tall: no share in what bends and pulls aside
    rec = run(b, solver, 1e-3, dt=1e-3)
    for name, mass in loads.items():
        rub = rec.joint_friction(f"{name} rub")
        assert np.abs(rub.multipliers[1, :, 1]).sum() == pytest.approx(mass * G, rel=1e-6)
        assert rub.reaction[1, 5] == pytest.approx(mass * G, rel=1e-9)


def press(kind):
    """A beam on a pin at one end and on the floor with the other, or where `kind` is "point" with a point of it on a plane."""
    b = ub.Builder()
    foot = ub.Placed(ub.Sphere(0.05), ub.Pose((1.0, 0, 0)))
    lever = b.body("lever", shape=foot, mass=MASS, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    b.joint("pin", ub.Revolute(axis=(0, 1, 0)), b.world, lever, ub.Pose((0, 0, 0.05)))
    b.add(ub.JointFriction("pin", 0.01, radius=R, height=0.05), name="rub")
    if kind == "point":
        b.add(ub.PointPlane(lever.at(1.0, 0, -0.05), normal=(0, 0, 1)), name="stop")
    else:
        b.body("floor", shape=ub.Plane(), kind="static")
        b.add(ub.Contact(friction=0.0))
    return b


@pytest.mark.parametrize(("solver", "kind"), [("redmax", "point"), ("complementarity", "point"), ("complementarity", "floor")])
def test_what_the_environment_carries_is_missing_in_the_joint(solver, kind):
    """Half the weight each, up to what the pin's friction can hold at rest, μ r F."""
    rec = run(press(kind), solver, 0.05, dt=1e-2)
    floor = rec.multiplier("stop")[-1, 0] if kind == "point" else rec.contacts[-1].normal_forces.sum()
    rub = rec.joint_friction("rub")
    assert floor == pytest.approx(0.5 * MASS * G, abs=0.01 * R * MASS * G)
    assert rub.reaction[-1, 5] == pytest.approx(MASS * G - floor, rel=1e-9)
    assert rub.normal_forces[-1].sum() == pytest.approx(rub.reaction[-1, 5], rel=1e-4)
