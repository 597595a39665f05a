"""Friction in joints within Complementarity: floor contact loads joints, both solvers and both coordinates meet as dt → 0, and what is
reported."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G, MU, R, L, MASS = 9.81, 0.4, 0.02, 0.05, 1.5


def arm(mu=0.3):
    """Slide, elbow about a crooked axis and wrist: every kind of joint that rubs."""
    b = ub.Builder()
    cart, upper, bob = (b.body(n, mass=1.0, inertia=(0.02, 0.03, 0.04)) for n in ("cart", "upper", "bob"))
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, cart, v=1.0)
    b.joint("elbow", ub.Revolute(axis=(1, 2, 3)), cart, upper, ub.Pose(p=(0, 0, -0.1)), ub.Pose(p=(0, 0, 0.3)), q=1.0)
    b.joint("wrist", ub.Ball(), upper, bob, ub.Pose(p=(0, 0, -0.3)), ub.Pose(p=(0, 0.1, 0.2)), v=(3.0, 2.0, 1.0))
    b.add(ub.JointFriction("slide", 0.2, width=0.05, height=0.1), name="slide rub")
    b.add(ub.JointFriction("elbow", mu, radius=0.03, height=L), name="elbow rub")
    b.add(ub.JointFriction("wrist", 0.4, radius=0.03, points=8), name="wrist rub")
    return b.build()


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_moves_as_redmax_as_steps_shrink(coordinates):
    """Both are of order 1: half the step, half the gap."""
    gaps = []
    for dt in (8e-3, 4e-3, 2e-3):
        ours = ub.Simulation(arm(), ub.solvers.Complementarity(coordinates=coordinates), dt=dt).run(0.08)
        other = ub.Simulation(arm(), ub.solvers.RedMax(inertia="explicit"), dt=dt).run(0.08)
        gaps.append(float(np.abs(ours.pose("bob")[-1] - other.pose("bob")[-1]).max()))
        assert all("did not" not in note for o in ours.observations for note in o.notes)
    assert gaps[-1] < 1e-3
    assert gaps[-1] < 0.7 * gaps[-2] < 0.49 * gaps[-3] or max(gaps) < 1e-6


def test_friction_stays_within_what_the_points_carry():
    rec = ub.Simulation(arm(), "complementarity", dt=1e-2).run(0.2)
    for name, mu in (("slide rub", 0.2), ("elbow rub", 0.3), ("wrist rub", 0.4)):
        rub = rec.joint_friction(name)
        pushed = np.linalg.norm(rub.friction, axis=2)
        assert (pushed <= mu * rub.normal_forces + 1e-6 * rub.normal_forces.max()).all()
        assert rub.sliding.any()
        np.testing.assert_allclose(np.abs(rub.multipliers).sum(axis=2), rub.normal_forces, rtol=1e-9, atol=1e-12)
    assert (np.diff(rec.energy.damper_work) <= 1e-12).all()


def press(mu, foot=0.0):
    """A wheel on a lever that leans on the floor with its other end, a foot at a fifth of the lever: the floor carries, the pin less."""
    b = ub.Builder()
    b.body("floor", shape=ub.Plane(), kind="static")
    lever = b.body("lever", shape=ub.Placed(ub.Sphere(0.05), ub.Pose((1.0, 0, 0))), mass=MASS, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    b.joint("pin", ub.Revolute(axis=(0, 1, 0)), b.world, lever, ub.Pose((0, 0, 0.05)))
    b.add(ub.JointFriction("pin", mu, radius=R, height=L), name="rub")
    b.add(ub.Contact(friction=foot))
    return b


def test_floor_takes_its_share_of_what_a_joint_carries():
    """A beam on a pin and on the floor, loaded in the middle: the pin carries half the weight, and its points two quarters each of that;
    friction is not unique at rest, so the floor has m g / 2 up to what the pin's friction holds."""
    rec = ub.Simulation(press(MU).build(), "complementarity", dt=1e-2).run(0.1)
    rub, floor = rec.joint_friction("rub"), rec.contacts[-1].normal_forces.sum()
    assert rub.reaction[-1, 5] == pytest.approx(MASS * G - floor, rel=1e-9)
    assert abs(floor - 0.5 * MASS * G) <= MU * R * MASS * G
    assert rub.normal_forces[-1].sum() == pytest.approx(rub.reaction[-1, 5], rel=1e-6)  # the load lies along points of the rims
    np.testing.assert_allclose(rec.v, 0.0, atol=1e-9)


@pytest.mark.parametrize("rests", ["on the floor", "on a stop"])
def test_axle_of_a_wheel_on_the_floor_carries_the_carriage_only(rests):
    """A wheel turns on smooth ground under its carriage: its axle rubs with the carriage's weight. If instead the carriage rests on a stop
    and the wheel hangs from it, with the wheel's own."""
    b, a, carriage_mass = ub.Builder(), 0.1, 0.6
    height = a if rests == "on the floor" else 2.0 * a
    b.body("floor", shape=ub.Plane(), kind="static")
    carriage = b.body("carriage", mass=carriage_mass, inertia=(0.1, 0.1, 0.1))
    wheel = b.body("wheel", shape=ub.Sphere(a), mass=MASS, inertia=(0.01, 0.01, 0.01))
    b.joint("guide", ub.Prismatic(axis=(0, 0, 1)), b.world, carriage, ub.Pose((0, 0, height)))
    b.joint("axle", ub.Revolute(axis=(0, 1, 0)), carriage, wheel, v=5.0)
    if rests == "on a stop":
        b.add(ub.JointLimit("guide", lower=0.0))
    b.add(ub.JointFriction("axle", MU, radius=R, height=L, points=32), name="rub")
    b.add(ub.Contact(friction=0.0))
    rec = ub.Simulation(b.build(), "complementarity", dt=1e-3).run(0.05)
    carried = carriage_mass * G if rests == "on the floor" else MASS * G
    assert rec.v[-1, 1] == pytest.approx(5.0 - 4.0 / np.pi * MU * R * carried / 0.01 * 0.05, rel=3e-3)
    np.testing.assert_allclose(np.abs(rec.joint_friction("rub").reaction[:, 3:]).max(axis=1), carried, rtol=0.03)


def test_axle_rubs_more_in_the_step_of_an_impact():
    """A spinning wheel on an axle, whose carriage drops onto a stop: the axle passes on m (v + g h) in that step."""
    b = ub.Builder()
    carriage = b.body("carriage", mass=1.0, inertia=(1, 1, 1))
    wheel = b.body("wheel", mass=MASS, inertia=(0.01, 0.01, 0.01))
    b.joint("guide", ub.Prismatic(axis=(0, 0, 1)), b.world, carriage, v=-1.0)
    b.joint("axle", ub.Revolute(axis=(0, 0, 1)), carriage, wheel, v=50.0)
    b.add(ub.JointLimit("guide", lower=0.0))
    b.add(ub.JointFriction("axle", MU, radius=R, height=L), name="rub")
    rec = ub.Simulation(b.build(), "complementarity", dt=1e-3).run(3e-3)
    lost = MU * R * MASS * (1.0 + G * 1e-3) / 0.01
    assert rec.v[1, 1] == pytest.approx(50.0 - lost, rel=1e-9)
    assert rec.v[2, 1] == pytest.approx(50.0 - lost - MU * R * MASS * G * 1e-3 / 0.01, rel=1e-9)


def test_single_steps_and_checkpoints_go_on_as_a_run_does(tmp_path):
    whole = ub.Simulation(arm(), "complementarity", dt=1e-2).run(0.06)
    sim = ub.Simulation(arm(), "complementarity", dt=1e-2)
    sim.run(0.03)
    again = ub.Simulation.load(sim.save(tmp_path / "half.npz"))
    for _ in range(3):
        again.step()
    np.testing.assert_array_equal(again.state.v, whole.v[-1])
    assert any("joint friction in" in note for note in again.step().notes)


def test_relaxed_cones_refuse_balls():
    with pytest.raises(ub.Unsupported, match="JointFriction in a Ball is not part of relaxation"):
        ub.Simulation(arm(), ub.solvers.Complementarity(relaxation="anitescu-potra"), dt=1e-2)


@pytest.mark.parametrize("speed", [2.0, -2.0])
def test_drive_pays_for_dry_friction_in_its_joint(speed):
    """Friction of constant bound where the motion leaves it no choice: at its bound, against the motion."""
    b = ub.Builder(gravity=(0, 0, 0))
    wheel = b.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("axle", ub.Revolute(axis=(0, 0, 1)), b.world, wheel, v=speed)
    b.add(ub.DryFriction("axle", 0.7))
    b.add(ub.PrescribedJoint("axle", lambda t: speed * t, rate=lambda t: speed, acceleration=lambda t: 0.0), name="drive")
    rec = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(0.05)
    np.testing.assert_allclose(rec.multiplier("drive")[1:, 0], 0.7 * np.sign(speed), rtol=1e-9)
