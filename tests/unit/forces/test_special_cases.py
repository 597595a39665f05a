"""Slack cables, springs without length, turns by half a revolution, clamps and overrides, and starts."""

from __future__ import annotations

import numpy as np
import pytest

from unibody.element import DAMPER_POWER, SPRING_ENERGY, Point
from unibody.forces import AppliedWrench, Cable, Motor, SpringDamper, TorsionSpring
from unibody.spatial.pose import quaternion_from_rotation, rotation_from_vector

A, B = Point("a", (0.3, -0.2, 0.5)), Point("b", (0.1, 0.7, -0.3))


def put_ball(world, phi) -> None:
    j = world.joint("ball")
    world.kinematics.q[j.q_start : j.q_start + 4] = quaternion_from_rotation(rotation_from_vector(phi))


def test_slack_cable_is_not_there(world):
    cable = Cable([A, Point("world"), B], 1e3, 10.0, rest_length=100.0)
    for loads in (world.loads(cable), world.kernel_loads([cable])):
        assert not loads.F.any() and not loads.ledger.any()
    assert cable.energy(world.kinematics) == 0.0
    assert cable.stiffness_blocks(world.kinematics) == cable.damping_blocks(world.kinematics) == {}


def test_cable_that_shortens_fast_does_not_push_and_gives_its_energy_to_the_damper(world):
    k = world.kinematics
    towards = k.position(B) - k.position(A)
    k.V[1] = k.V[2] = 0.0
    k.V[1, 3:] = k.pose("a")[0].T @ towards
    length = np.linalg.norm(towards)
    cable = Cable([A, B], 10.0, 1e4, rest_length=0.5 * length)
    for loads in (world.loads(cable), world.kernel_loads([cable])):
        assert np.abs(loads.F).max() == 0.0
        assert loads.ledger[SPRING_ENERGY] == pytest.approx(0.5 * 10.0 * (0.5 * length) ** 2)
        assert loads.ledger[DAMPER_POWER] == pytest.approx(-10.0 * 0.5 * length * length)  # k (L − L₀) L̇, L̇ = −length
    assert cable.stiffness_blocks(k) == cable.damping_blocks(k) == {}


def test_cable_between_two_points_is_a_spring_while_taut(world):
    spring, cable = SpringDamper(A, B, 30.0, 0.1, 0.2), Cable([A, B], 30.0, 0.1, 0.2)
    np.testing.assert_allclose(world.loads(cable).F, world.loads(spring).F, rtol=1e-13)
    K, same = cable.stiffness_blocks(world.kinematics), spring.stiffness_blocks(world.kinematics)
    for key in same:
        np.testing.assert_allclose(K[key], same[key], rtol=1e-12, atol=1e-12)


def test_cable_runs_through_coinciding_points(world):
    plain, doubled = Cable([A, Point("world"), B], 30.0, 0.1, 0.2), Cable([A, Point("world"), Point("world"), B], 30.0, 0.1, 0.2)
    np.testing.assert_allclose(world.loads(doubled).F, world.loads(plain).F, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(world.kernel_loads([doubled]).F, world.loads(plain).F, rtol=1e-13, atol=1e-13)
    K, same = doubled.stiffness_blocks(world.kinematics), plain.stiffness_blocks(world.kinematics)
    np.testing.assert_allclose(K["a", "b"], same["a", "b"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rest", [0.0, 0.5])
def test_spring_without_length_pulls_nowhere(world, rest):
    k = world.kinematics
    here = Point("world", k.position(Point("a")))
    spring = SpringDamper(Point("a"), here, 40.0, 3.0, rest)
    for loads in (world.loads(spring), world.kernel_loads([spring])):
        assert not loads.F.any()
        assert loads.ledger[SPRING_ENERGY] == pytest.approx(0.5 * 40.0 * rest**2, abs=1e-30)
        assert loads.ledger[DAMPER_POWER] == 0.0
    expected = np.zeros((6, 6))
    expected[3:, 3:] = -(40.0 if rest == 0.0 else 0.0) * np.eye(3)
    np.testing.assert_allclose(spring.stiffness_blocks(k)["a", "a"], expected, atol=1e-12)
    np.testing.assert_array_equal(spring.damping_blocks(k)["a", "a"], np.zeros((6, 6)))


def test_lengths_at_the_start_are_rest_lengths(world):
    k = world.kinematics
    apart = np.linalg.norm(k.position(A) - k.position(B))
    assert SpringDamper(A, B, 1.0).started(world, "s").rest_length == pytest.approx(apart)
    assert Cable([A, B, A], 1.0).started(world, "c").rest_length == pytest.approx(2 * apart)
    assert SpringDamper(A, B, 1.0, rest_length=0.0).started(world, "s").rest_length == 0.0


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-8, 1e-6, 1e-3])
def test_ball_spring_stays_finite_up_to_half_a_turn(world, gap):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    put_ball(world, (np.pi - gap) * axis)
    springs = [TorsionSpring("ball", 5.0), TorsionSpring("ball", (1.0, 4.0, 9.0), 0.3)]
    for spring in springs:
        numpy, kernel = world.loads(spring), world.kernel_loads([spring])
        assert np.isfinite(numpy.effort).all() and np.isfinite(spring.stiffness_blocks(world.kinematics)["ball", "ball"]).all()
        # At the half turn itself round-off decides between φ and −φ, between kernel and NumPy too.
        sign = 1.0 if gap > 1e-7 else np.sign(numpy.effort @ kernel.effort)
        if sign > 0:
            np.testing.assert_allclose(kernel.effort, numpy.effort, rtol=1e-9, atol=1e-9)
        assert kernel.ledger[SPRING_ENERGY] == pytest.approx(numpy.ledger[SPRING_ENERGY], rel=1e-9)
    # An isotropic spring pulls straight back: 5 (π − gap) about the axis.
    assert np.linalg.norm(world.loads(springs[0]).effort) == pytest.approx(5.0 * (np.pi - gap), rel=1e-7)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 0.00999, 0.01001, 0.0999, 0.1001])
def test_ball_spring_is_smooth_near_rest(world, angle):
    """The stiffness at small angles is −K + O(θ), continuous across the switch between series and closed form."""
    k = np.array([1.0, 4.0, 9.0])
    put_ball(world, angle * np.array([0.6, 0.0, 0.8]))
    block = TorsionSpring("ball", tuple(k)).stiffness_blocks(world.kinematics)["ball", "ball"]
    assert np.abs(block + np.diag(k)).max() <= 8.0 * angle + 1e-12
    effort = world.kernel_loads([TorsionSpring("ball", tuple(k))]).effort[world.joint("ball").v_start :][:3]
    np.testing.assert_allclose(effort, -k * angle * np.array([0.6, 0.0, 0.8]), atol=8.0 * angle**2 + 1e-12)


def test_isotropic_ball_spring_pulls_along_the_rotation_vector(world):
    phi = np.array([0.7, -1.1, 0.4])
    put_ball(world, phi)
    effort = world.loads(TorsionSpring("ball", 3.0)).effort[world.joint("ball").v_start :][:3]
    np.testing.assert_allclose(effort, -3.0 * phi, rtol=1e-13)


def test_control_overrides_a_motors_target(world):
    k = world.kinematics
    own = Motor("hinge", kp=3.0, kd=0.5, target=1.0, target_rate=2.0).started(world, "force0")
    asked = Motor("hinge", kp=3.0, kd=0.5, target=-4.0, target_rate=7.0)
    np.testing.assert_allclose(world.kernel_loads([own]).actuation, world.loads(own).actuation, rtol=1e-14)
    k.control[world.motor_target("force0") :][:2] = -4.0, 7.0
    for loads in (world.loads(own), world.kernel_loads([own])):
        np.testing.assert_allclose(loads.actuation, world.loads(asked).actuation, rtol=1e-14)
        assert not loads.effort.any()


def test_motor_is_clamped(world):
    at = world.joint("hinge").v_start
    for target, effort in ((1e3, 1.5), (-1e3, -1.5)):
        motor = Motor("hinge", kp=10.0, kd=1.0, target=target, limit=1.5)
        assert world.loads(motor).actuation[at] == effort
        assert not motor.stiffness_blocks(world.kinematics)["hinge", "hinge"].any()
        assert not motor.damping_blocks(world.kinematics)["hinge", "hinge"].any()


def test_function_of_time_is_called_once_for_three_components(world):
    calls = []

    def force(t):
        calls.append(t)
        return (t, 2 * t, 3 * t)

    AppliedWrench("a", force=force).row(world, "w")
    assert [s(0.5) for s in world.signals[3:]] == [0.5, 1.0, 1.5]
    assert [s(0.6) for s in world.signals[3:]] == pytest.approx([0.6, 1.2, 1.8])
    assert calls == [0.5, 0.6]
