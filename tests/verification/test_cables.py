"""Cables over pulleys against closed forms: Atwood's machine, the capstan equation, block and tackle, winches; stiff ones in long steps.

Weights hang on vertical slides, so that every span is vertical and stays so: tensions and accelerations are then constant, and cables that
start with the tension of that motion, by their rest length, give it from the first step. Elastic cables of 1e6 N/m and more stretch by less
than 1e-5 of what moves; with damping their ringing is gone before the first row that is looked at. Tolerances are 1e-6 of the closed form.
"""

from __future__ import annotations

from math import atanh, exp, log, pi

import numpy as np
import pytest

import unibody as ub

G = 9.81
R = 0.1


def weight(b: ub.Builder, name: str, mass: float, x: float, z: float = -1.0) -> ub.model.builder.Body:
    body = b.body(name, mass=mass, inertia=(1, 1, 1))
    b.joint(f"{name} slide", ub.Prismatic((0, 0, 1)), b.world, body, X_PF=ub.Pose((x, 0, z)))
    return body


def speed(rec: ub.Recording, name: str) -> np.ndarray:
    return rec.joint_velocity(f"{name} slide")[:, 0]


def atwood(grip: bool, stiffness: float, damping: float, inertia: float = 0.005, **cable) -> ub.Model:
    b = ub.Builder()
    wheel = b.body("wheel", mass=1.0, inertia=(inertia,) * 3)
    b.joint("axle", ub.Revolute((0, 1, 0)), b.world, wheel)
    left, right = weight(b, "left", 1.0, -R), weight(b, "right", 1.2, R)
    over = ub.Pulley(wheel.at(0, 0, 0), R, axis=(0, 1, 0), side=1, grip=grip)
    b.add(ub.Cable([left.at(0, 0, 0), over, right.at(0, 0, 0)], stiffness, damping, **cable), name="rope")
    return b.build()


@pytest.mark.parametrize("grip", [False, True])
@pytest.mark.parametrize(("solver", "dt", "stiffness", "damping"), [
    ("articulated", 1e-4, 1e5, 400.0), ("lagrange", 1e-4, 1e5, 400.0), ("redmax", 1e-2, 1e8, 0.0), ("redmax", 1e-2, 1e6, 0.0),
])  # fmt: skip
def test_atwood_with_the_inertia_of_the_wheel(grip: bool, solver: str, dt: float, stiffness: float, damping: float) -> None:
    """a = (m₂ − m₁) g / (m₁ + m₂ + I/r²), and T on either side, where the cable turns the wheel; without I where it slips."""
    rec = ub.Simulation(atwood(grip, stiffness, damping), solver, dt=dt).run(0.4, every=max(1, round(0.1 / dt)))
    a = 0.2 * G / (2.2 + (0.5 if grip else 0.0))
    late = slice(2, None)
    gain = np.diff(speed(rec, "right")[late]) / np.diff(rec.t[late])
    np.testing.assert_allclose(gain, -a, rtol=1e-6)
    tension = rec.tension("rope")
    wanted = (1.0 * (G + a), 1.2 * (G - a)) if grip else (1.0 * (G + a),)
    np.testing.assert_allclose(tension.reshape(len(rec), -1)[late], np.tile(wanted, (len(rec) - 2, 1)), rtol=1e-6)
    turned = rec.joint_velocity("axle")[-1, 0]
    if grip:  # about y by the right hand the top goes to +x, where the heavier weight is
        assert turned == pytest.approx(-speed(rec, "right")[-1] / R, rel=1e-4)
    else:
        assert abs(turned) < 1e-15  # nothing grips it


@pytest.mark.parametrize("turns", [0, 1])
@pytest.mark.parametrize(("solver", "dt"), [("articulated", 1e-4), ("redmax", 1e-3), ("lagrange", 1e-4)])
def test_capstan_while_it_slips(solver: str, dt: float, turns: int) -> None:
    """T₂ = T₁ exp(μ θ), θ = π or 3 π; both weights accelerate by it."""
    b = ub.Builder()
    left, right = weight(b, "left", 1.0, -R), weight(b, "right", 9.0, R)
    over = ub.Pulley(b.world.at(0, 0, 0), R, side=1, turns=turns)
    b.add(ub.Cable([left.at(0, 0, 0), over, right.at(0, 0, 0)], 1e5, 600.0, friction=0.2), name="rope")
    rec = ub.Simulation(b.build(), solver, dt=dt).run(0.3, every=round(0.05 / dt))
    ratio = exp(0.2 * (pi + 2.0 * pi * turns))
    late = slice(3, None)
    pulls = rec.tension("rope")[late]
    np.testing.assert_allclose(pulls[:, 1] / pulls[:, 0], ratio, rtol=1e-9)
    a = G * (9.0 - ratio) / (9.0 + ratio)
    # RedMax takes the chord of friction: v⁺ feels ΔT v⁺/v, an error of the first order that fades as h/t; the others have none
    gain = np.diff(speed(rec, "right")[late]) / np.diff(rec.t[late])
    np.testing.assert_allclose(gain, -a, rtol=1e-6 if solver != "redmax" else 3.0 * ratio * dt / rec.t[3])


def test_capstan_that_sticks_creeps_as_said() -> None:
    """Below exp(μ θ) it holds, but for a creep of ε artanh(ln(T₂/T₁) / (μ θ))."""
    b = ub.Builder()
    left, right = weight(b, "left", 1.0, -R), weight(b, "right", 1.5, R)
    over = ub.Pulley(b.world.at(0, 0, 0), R, side=1, friction=0.2)
    b.add(ub.Cable([left.at(0, 0, 0), over, right.at(0, 0, 0)], 1e6, 100.0, slip_speed=1e-5), name="rope")
    rec = ub.Simulation(b.build(), "redmax", dt=1e-2).run(2.0, every=50)
    assert speed(rec, "right")[-1] == pytest.approx(-1e-5 * atanh(log(1.5) / (0.2 * pi)), rel=1e-6)
    assert rec.tension("rope")[-1] == pytest.approx([G, 1.5 * G], rel=1e-6)


@pytest.mark.parametrize("solver", ["redmax", "barrier"])
def test_block_and_tackle_multiplies(solver: str) -> None:
    """Two wheels above, two below, four falls: a counterweight of M/4 holds M; each fall carries M g / 4, wheels of different radii."""
    b = ub.Builder()
    block = weight(b, "block", 8.0, 0.0, -2.0)
    # all falls vertical: the cable arrives at each wheel and leaves it straight up or down
    path = [
        b.world.at(-0.1, 0, -0.5),
        ub.Pulley(block.at(0, 0, 0), 0.1, side=-1),
        ub.Pulley(b.world.at(0.15, 0, 0), 0.05, side=1),
        ub.Pulley(block.at(0.25, 0, 0.3), 0.05, side=-1),
        ub.Pulley(b.world.at(0.4, 0, 0), 0.1, side=1),
    ]
    counter = weight(b, "counter", 2.0, 0.5, -1.0)
    b.add(ub.Cable([*path, counter.at(0, 0, 0)], 1e6, 3e3), name="rope")
    b.add(ub.BodyDamping(block, linear=40.0))
    rec = ub.Simulation(b.build(), solver, dt=1e-2).run(3.0, every=20)
    assert rec.tension("rope")[-1] == pytest.approx(2.0 * G, rel=1e-6)
    # at rest, and where it was but for the stretch T/k of the cable, a quarter of which the block sinks
    assert abs(speed(rec, "block")[-1]) < 1e-6
    moved = rec.joint("block slide")[:, 0], rec.joint("counter slide")[:, 0]
    assert 4.0 * moved[0][-1] + moved[1][-1] == pytest.approx(-2.0 * G / 1e6, rel=1e-3)


@pytest.mark.parametrize("solver", ["articulated", "redmax"])
def test_a_winch_lifts_by_what_it_hauls_in(solver: str) -> None:
    """p = −t²/4, a = ½: the load rises by p, T = m (g + a), and the winch has done the work T |p|."""
    b = ub.Builder()
    load = weight(b, "load", 5.0, R)
    over = ub.Pulley(b.world.at(0, 0, 0), R, side=1)
    haul = ub.spatial.table.Table.of(lambda t: -0.25 * t * t, np.linspace(0.0, 2.0, 201)) if solver == "redmax" else hauled
    b.add(ub.Cable([b.world.at(-R, 0, -1), over, load.at(0, 0, 0)], 1e6, 0.0 if solver == "redmax" else 2e3, winch=haul), name="rope")
    rec = ub.Simulation(b.build(), solver, dt=1e-4).run(1.0, every=1000)
    # RedMax extrapolates p by its rate: k h² p̈/2 = 2.5e-3 N too much, of 51.55 N
    assert rec.tension("rope")[-1] == pytest.approx(5.0 * (G + 0.5), rel=1e-6 if solver != "redmax" else 1e-4)
    gain = np.diff(speed(rec, "load")[5:]) / np.diff(rec.t[5:])
    # without damping some micrometres of ringing are left of the start, over 0.1 s and at 450 rad/s
    np.testing.assert_allclose(gain, 0.5, rtol=1e-5 if solver != "redmax" else 1e-3)
    e = rec.energy
    lost = e.total[-1] - e.total[0] - (e.motor_work[-1] + e.damper_work[-1])
    assert abs(lost) < 1e-3 * e.motor_work[-1]  # works are sums over steps, of the first order


def hauled(t: float) -> float:
    return -0.25 * t * t


@pytest.mark.parametrize("solver", ["articulated", "redmax"])
def test_a_drum_that_a_motor_turns_lifts(solver: str) -> None:
    """A constant torque τ on a drum of I and r: a = (τ r − m g r²) / (I + m r²), through many turns of the drum."""
    b = ub.Builder()
    drum = b.body("drum", mass=2.0, inertia=(0.02,) * 3)
    b.joint("shaft", ub.Revolute((0, 1, 0)), b.world, drum)
    load = weight(b, "load", 3.0, R, -20.0)
    b.add(ub.Motor("shaft", effort=-6.0))
    b.add(ub.Cable([ub.Pulley(drum.at(0, 0, 0), R, side=1, grip=True), load.at(0, 0, 0)], 1e5, 600.0), name="rope")
    rec = ub.Simulation(b.build(), solver, dt=1e-3 if solver == "redmax" else 2e-4).run(1.6, every=100 if solver == "redmax" else 500)
    a = (6.0 * R - 3.0 * G * R * R) / (0.02 + 3.0 * R * R)
    assert abs(rec.joint("shaft")[-1, 0]) > 2.0 * 2.0 * pi
    np.testing.assert_allclose(np.diff(speed(rec, "load")[5:]) / np.diff(rec.t[5:]), a, rtol=1e-6)
    np.testing.assert_allclose(rec.tension("rope").reshape(len(rec), -1)[5:, 0], 3.0 * (G + a), rtol=1e-6)


def test_a_wheel_that_moves_and_turns_pulls_with_both_falls() -> None:
    """A moving wheel with 180° of cable: 2 T holds it; a swing of the wheel's body about its axis changes nothing."""
    b = ub.Builder()
    block = weight(b, "block", 4.0, 0.0)
    sheave = b.body("sheave", mass=1e-3, inertia=(1e-6,) * 3, V_WB=(0, 5.0, 0, 0, 0, 0))
    b.joint("pin", ub.Revolute((0, 1, 0)), block, sheave, v=5.0)
    under = ub.Pulley(sheave.at(0, 0, 0), R, side=-1)
    b.add(ub.Cable([b.world.at(-R, 0, 0), under, b.world.at(R, 0, 0)], 1e6, 3e3), name="sling")
    rec = ub.Simulation(b.build(), "redmax", dt=1e-2).run(2.0, every=50)
    assert rec.tension("sling")[-1] == pytest.approx(0.5 * 4.001 * G, rel=1e-6)
    assert rec.joint_velocity("pin")[-1, 0] == pytest.approx(5.0, rel=1e-9)


def test_slack_is_slack() -> None:
    """A load thrown up falls freely until the cable is taut again."""
    b = ub.Builder()
    load = b.body("load", mass=1.0, inertia=(1, 1, 1))
    b.joint("load slide", ub.Prismatic((0, 0, 1)), b.world, load, X_PF=ub.Pose((R, 0, -1)), v=2.0)
    b.add(ub.Cable([b.world.at(-R, 0, -1), ub.Pulley(b.world.at(0, 0, 0), R, side=1), load.at(0, 0, 0)], 1e8, 1e3), name="rope")
    rec = ub.Simulation(b.build(), "redmax", dt=1e-3).run(0.4, every=10)
    assert (rec.tension("rope") == 0.0).all()
    np.testing.assert_allclose(speed(rec, "load"), 2.0 - G * rec.t, atol=1e-9)


def test_falls_out_of_plane_keep_energy() -> None:
    """A wheel on a swinging arm, ends off its plane, undamped: rk4 loses what it does where the cable goes slack and taut, some 1e-7."""
    b = ub.Builder()
    arm = b.body("arm", mass=1.0, inertia=(0.1,) * 3)
    b.joint("ball", ub.Ball(), b.world, arm, X_BM=ub.Pose((0, 0, 0.5)), v=(0.3, 0.5, 0.4))
    bob = b.body("bob", mass=0.5, inertia=(0.01,) * 3, X_WB=ub.Pose((0.4, 0.1, -1.6)), V_WB=(0, 0, 0, 0.2, 0.4, 0.1))
    over = ub.Pulley(arm.at(0, 0, -0.2), R, axis=(0, 1, 0), side=1)
    other = ub.Pulley(b.world.at(-0.8, 0.2, -0.5), 0.07, axis=(0.3, 1, 0.2), side=-1)
    b.add(ub.Cable([b.world.at(-1.5, 0, 0), other, over, bob.at(0, 0, 0.05)], 500.0, rest_length=2.816), name="rope")
    rec = ub.Simulation(b.build(), ub.solvers.Articulated(rule="rk4"), dt=1e-3).run(1.0, every=50)
    assert rec.tension("rope").max() > 5.0
    np.testing.assert_allclose(rec.energy.total, rec.energy.total[0], atol=2e-6 * np.ptp(rec.energy.kinetic))


def leaving(z: float, v: float, **cable) -> ub.Model:
    """A wheel on a slide, beside a cable between two points 2 m apart."""
    b = ub.Builder(gravity=None)
    wheel = b.body("wheel", mass=1.0, inertia=(1, 1, 1))
    b.joint("slide", ub.Prismatic((0, 0, 1)), b.world, wheel, q=z, v=v)
    b.add(ub.Cable([b.world.at(-1, 0, 0), ub.Pulley(wheel.at(0, 0, 0), 0.15, side=1), b.world.at(1, 0, 0)], **cable), name="rope")
    return b.build()


@pytest.mark.parametrize("solver", ["articulated", "redmax", "barrier", "lagrange", "impulse"])
def test_a_wheel_that_goes_far_off_is_no_wheel_wrapped_by_a_turn(solver: str) -> None:
    """It leaves a cable of tension T = k 0.1, which stays straight; 90° off, a turn more looks alike: refused by name."""
    sim = ub.Simulation(leaving(0.3, -2.0, stiffness=1.0, rest_length=1.9), solver, dt=5e-3)
    with pytest.raises(ub.StepFailed, match="'rope': on pulley 1 on 'wheel' the cable turns by -.* look alike.*turns=") as found:
        sim.run(1.5)
    rec = found.value.recording
    z = rec.joint("slide")[:, 0]
    straight = (z < -0.15) & (z > -0.6)
    assert straight.sum() > 30 and z.min() < -0.7
    np.testing.assert_allclose(rec.tension("rope")[straight], 0.1, rtol=1e-12)
    assert np.ptp(rec.joint_velocity("slide")[straight]) < 1e-12 if solver != "barrier" else 1e-6


def test_a_wheel_that_leaves_and_comes_back_gives_back_what_it_took() -> None:
    """A wheel on a spring swings through a taut cable's line: it leaves it, flies free, and meets it again; energy is kept throughout.

    Where the cable is left, a spring of K = 4 T/ℓ = 80 N/m ends: a step across errs by at most ½ K (v h)² = 1.3e-4 J, v = 1.8 m/s."""
    b = ub.Builder(gravity=None)
    wheel = b.body("wheel", mass=1.0, inertia=(1, 1, 1))
    b.joint("slide", ub.Prismatic((0, 0, 1)), b.world, wheel, q=0.1, stiffness=30.0)
    over = ub.Pulley(wheel.at(0, 0, 0), 0.05, side=1)
    b.add(ub.Cable([b.world.at(-1, 0, 0), over, b.world.at(1, 0, 0)], 200.0, rest_length=1.9), name="rope")
    rec = ub.Simulation(b.build(), ub.solvers.Articulated(rule="rk4"), dt=1e-3).run(6.0, every=10)
    off = rec.joint("slide")[:, 0] < -0.05
    assert np.count_nonzero(np.diff(off.astype(int)) == 1) >= 3
    np.testing.assert_allclose(rec.tension("rope")[off], 200.0 * 0.1, rtol=1e-12)
    np.testing.assert_allclose(rec.energy.total, rec.energy.total[0], atol=1.3e-4)


def test_a_string_that_winds_up_on_a_post_is_refused_before_it_is_a_turn_short() -> None:
    b = ub.Builder(gravity=None)
    ball = b.body("ball", mass=1.0, inertia=(0.01,) * 3, X_WB=ub.Pose((2.0, 0, 0.1)), V_WB=(0, 0, 0, 0, 0, 3.0))
    b.add(ub.Cable([b.world.at(-1, 0, 0.1), ub.Pulley(b.world.at(0, 0, 0), 0.1, side=-1), ball.at(0, 0, 0)], 1e5, 50.0), name="rope")
    with pytest.raises(ub.StepFailed, match="'rope': on pulley 1 on 'world'") as found:
        ub.Simulation(b.build(), "redmax", dt=1e-3).run(6.0, every=10)
    p = found.value.recording.pose("ball")[:, :3]
    wound = np.unwrap(np.arctan2(p[:, 2], p[:, 0]))[-1]
    assert 3.3 < wound < 5.0                                        # more than half a turn
    # until then the tangent's length and the arc are the string's: involute of a circle
    tangent = np.sqrt(p[:, 0] ** 2 + p[:, 2] ** 2 - 0.01)
    assert tangent[-1] < 2.0 - 0.1 * 2.8


def test_a_differential_hoist_turns_little_into_much() -> None:
    """Drums of R and r on one shaft, a moving wheel between: the block falls by (R − r)/2 a radian and a = g m / (m + 4 I/(R − r)²)."""
    R_1, R_2, m, inertia = 0.2, 0.15, 10.0, 0.05
    b = ub.Builder()
    drum = b.body("drum", mass=1.0, inertia=(inertia,) * 3)
    b.joint("shaft", ub.Revolute((0, 1, 0)), b.world, drum)
    block = weight(b, "block", m, 0.5 * (R_1 - R_2), -2.0)
    ends = [ub.Pulley(drum.at(0, 0, 0), r, side=1, grip=True) for r in (R_1, R_2)]
    b.add(ub.Cable([ends[0], ub.Pulley(block.at(0, 0, 0), 0.5 * (R_1 + R_2), side=1), ends[1]], 1e6, 2e3), name="chain")
    rec = ub.Simulation(b.build(), "redmax", dt=1e-3).run(0.6, every=50)
    a = G * m / (m + 4.0 * inertia / (R_1 - R_2) ** 2)
    late = slice(4, None)
    np.testing.assert_allclose(np.diff(speed(rec, "block")[late]) / np.diff(rec.t[late]), -a, rtol=1e-6)
    np.testing.assert_allclose(rec.tension("chain")[late], 0.5 * m * (G - a), rtol=1e-6)
    assert speed(rec, "block")[-1] / rec.joint_velocity("shaft")[-1, 0] == pytest.approx(-0.5 * (R_1 - R_2), rel=1e-6)


@pytest.mark.parametrize(("nodes", "says"), [
    # up and over the one, down and under the other, which cuts into it
    (lambda w: [ub.Pulley(w.at(0, 0, 0), 0.1, side=1), ub.Pulley(w.at(0.15, 0, 0), 0.1, side=-1)], "no tangent between 1 and 2"),
    # one inside the other
    (lambda w: [ub.Pulley(w.at(0, 0, 0), 0.1, side=1), ub.Pulley(w.at(0.01, 0, 0), 0.02, side=1)], "no tangent between 1 and 2"),
    (lambda w: [ub.Pulley(w.at(-0.1, 0, -1.05), 0.1, side=1)], "point 0 lies within pulley 1"),
    (lambda w: [ub.Pulley(w.at(0, 0, 0), 0.1, side=1, turns=10**30)], r"turns 1e\+30.*at most 1000"),
])  # fmt: skip
def test_courses_without_a_tangent_are_refused(nodes, says: str) -> None:
    with pytest.raises(ub.ModelError, match=says) as found:
        b = ub.Builder()
        left = weight(b, "left", 1.0, -R)
        b.add(ub.Cable([left.at(0, 0, 0), *nodes(b.world), b.world.at(0.25, 0, 1)], 1e6), name="rope")
        b.build()
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("solver", ["articulated", "redmax", "barrier"])
def test_a_hook_that_is_hauled_into_the_wheel_is_told(solver: str) -> None:
    """A winch that does not stop draws the load into its wheel: the step fails by the cable's name."""
    b = ub.Builder()
    load = b.body("load", mass=1.0, inertia=(1, 1, 1))
    b.joint("slide", ub.Prismatic((0, 0, 1)), b.world, load, X_PF=ub.Pose((0.05, 0, -0.5)))
    path = [b.world.at(-0.1, 0, -1), ub.Pulley(b.world.at(0, 0, 0), R, side=1), load.at(0, 0, 0)]
    b.add(ub.Cable(path, 1e4, 0.0 if solver == "barrier" else 50.0, winch=lambda t: -0.5 * t), name="rope")
    with pytest.raises(ub.StepFailed, match="'rope': point 2 came within pulley 1 on 'world'") as found:
        ub.Simulation(b.build(), solver, dt=1e-3).run(2.0, every=10)
    assert found.value.recording.point("load", (0, 0, 0))[-1, 2] > -0.2


def wound(solver: str, dt: float, damping: float, friction: float) -> tuple[float, np.ndarray]:
    """Height of a load on a winch after 0.3 s, and its tensions."""
    b = ub.Builder()
    load = weight(b, "load", 1.0, R, -0.5)
    path = [b.world.at(-R, 0, -1), ub.Pulley(b.world.at(0, 0, 0), R, side=1), load.at(0, 0, 0)]
    b.add(ub.Cable(path, 1e3, damping, friction=friction, winch=ub.Table((0.0, 2.0), (0.0, -0.4))), name="rope")
    rec = ub.Simulation(b.build(), solver, dt=dt).run(0.3)
    return rec.joint("load slide")[-1, 0], np.atleast_1d(rec.tension("rope")[-1])


@pytest.mark.parametrize(("damping", "friction"), [(0.0, 0.0), (20.0, 0.0), (20.0, 0.2)])
def test_solvers_agree_on_a_winch_or_refuse_it_by_name(damping: float, friction: float) -> None:
    """As steps shrink: errors of the first order, extrapolated from two step lengths; the fourth-order rule is the judge."""
    truth, pulls = wound("articulated:rule=rk4", 5e-4, damping, friction)
    for solver in ("articulated", "lagrange", "redmax", "redmax:rule=bdf2", "penalty", "impulse", "complementarity", "barrier"):
        if solver == "barrier" and damping + friction > 0.0:
            with pytest.raises(ub.UnibodyError, match="'rope': a winch with damping or friction.*drum"):
                wound(solver, 1e-3, damping, friction)
            continue
        (coarse, _), (fine, T) = wound(solver, 2e-3, damping, friction), wound(solver, 1e-3, damping, friction)
        assert abs(fine - truth) < 0.05 * abs(truth), solver
        assert abs(2.0 * fine - coarse - truth) < max(0.35 * abs(fine - truth), 4e-5), solver
        np.testing.assert_allclose(T, pulls, rtol=0.12)


def hoist(unit: float) -> ub.Model:
    """A motor's drum, a wheel askew and a block in three dimensions, in units of 1/unit metres."""
    b = ub.Builder(gravity=(0, 0, -G * unit))
    block = b.body("block", mass=80.0, inertia=np.ones(3) * unit**2, X_WB=ub.Pose((0.1 * unit, 0.02 * unit, -2 * unit)))
    drum = b.body("drum", mass=10.0, inertia=0.2 * np.ones(3) * unit**2)
    b.joint("shaft", ub.Revolute((0, 1, 0)), b.world, drum, X_PF=ub.Pose((-unit, 0, -unit)))
    b.add(ub.Motor("shaft", kp=4e3 * unit**2, kd=4e2 * unit**2, target=-1.0))
    over, under = ub.Pulley(b.world.at(0, 0, 0), R * unit, axis=(0.1, 1, 0.05)), ub.Pulley(block.at(0, 0, 0.2 * unit), R * unit)
    path = [ub.Pulley(drum.at(0, 0, 0), R * unit, side=1, grip=True), over, under, b.world.at(0.2 * unit, 0.05 * unit, 0)]
    b.add(ub.Cable(path, 1e5, 2e3, friction=0.05, slip_speed=1e-3 * unit), name="hoist")
    return b.build()


@pytest.mark.parametrize(("solver", "dt"), [("articulated", 5e-4), ("redmax", 5e-3), ("barrier", 5e-3)])
def test_metres_centimetres_and_millimetres_move_alike(solver: str, dt: float) -> None:
    """From the first step, in which the cable has just the length that it has; barrier stops at 1e-8 of what moves."""
    recs = [ub.Simulation(hoist(unit), solver, dt=dt).run(0.1, every=4) for unit in (1.0, 100.0, 1000.0)]
    assert np.ptp(recs[0].pose("block")[:, 2]) > 1e-3
    for rec, unit in zip(recs[1:], (100.0, 1000.0), strict=True):
        tolerance = 1e-7 if solver == "barrier" else 1e-11
        np.testing.assert_allclose(rec.pose("block")[:, :3] / unit, recs[0].pose("block")[:, :3], atol=tolerance)
        np.testing.assert_allclose(rec.tension("hoist") / unit, recs[0].tension("hoist"), atol=1e5 * tolerance)  # k times that


@pytest.mark.parametrize("solver", ["articulated", "redmax", "lagrange", "complementarity"])
def test_checkpoints_files_and_single_steps_go_on_bit_for_bit(solver: str, tmp_path) -> None:
    from unibody.files.scene_json import load_json, save_json

    model, step = hoist(1.0), 5e-4
    sim = ub.Simulation(model, solver, dt=step)
    sim.run(0.03)
    sim.save(tmp_path / "here.npz")
    went = sim.run(0.03)
    again = ub.Simulation.load(tmp_path / "here.npz").run(0.03)
    assert np.array_equal(went.q, again.q) and np.array_equal(went.v, again.v)
    save_json(model, tmp_path / "hoist.json")
    read = ub.Simulation(load_json(tmp_path / "hoist.json").model, solver, dt=step)
    for _ in range(120):
        read.step()
    assert np.array_equal(read.state.q, went.q[-1]) and np.array_equal(read.state.v, went.v[-1])


@pytest.mark.parametrize("solver", ["articulated:rule=rk4", "lagrange", "redmax"])
def test_a_free_cable_keeps_momentum_and_its_books(solver: str) -> None:
    """Two weights on a wheel in free space, a cable that rubs: momenta are kept (to round-off, RedMax by its rows' 1e-10), and what is lost
    stands in the damper's book, to the first order of its sums."""
    b = ub.Builder(gravity=None)
    wheel = b.body("wheel", mass=2.0, inertia=(0.3, 0.2, 0.4), V_WB=(0, 0, 0, 0, 0, 0.1))
    left = b.body("left", mass=1.0, inertia=(0.1,) * 3, X_WB=ub.Pose((-1, 0.1, -1)), V_WB=(0, 0, 0, 0.2, 0, -0.3))
    right = b.body("right", mass=1.5, inertia=(0.1,) * 3, X_WB=ub.Pose((1, -0.1, -1)), V_WB=(0, 0.1, 0, -0.1, 0, -0.4))
    over = ub.Pulley(wheel.at(0, 0.1, 0), 0.2, axis=(0.1, 1, 0), side=1)
    b.add(ub.Cable([left.at(0.1, 0, 0), over, right.at(0, 0.1, 0)], 300.0, 5.0, rest_length=2.6, friction=0.1), name="rope")
    rec = ub.Simulation(b.build(), solver, dt=5e-4).run(0.2, every=40)
    assert rec.tension("rope").max() > 10.0
    p = rec.momentum
    np.testing.assert_allclose(p[:, :3], np.broadcast_to(p[0, :3], p[:, :3].shape), atol=1e-9)
    e = rec.energy
    lost = e.total[-1] - e.total[0]
    assert lost < -1e-3 and abs(lost - e.damper_work[-1]) < 0.05 * abs(lost)
