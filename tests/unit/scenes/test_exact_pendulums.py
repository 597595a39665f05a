"""The exact solutions of pendulums and rotors satisfy their own equations and known values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unibody.scenes.parts import pendulum_body
from unibody.scenes.pendulums import DoublePendulum, HungPendulum, PendulumSolution, SteadyTurn
from unibody.scenes.rotors import SteadyPrecession, TorqueFree

STEP = 1e-3
"""Of fourth-order central differences: truncation about STEP⁴ = 1e-12 times the fifth derivative, round-off 1e-13."""


def derivative(function, t):
    return (8.0 * (function(t + STEP) - function(t - STEP)) - function(t + 2 * STEP) + function(t - 2 * STEP)) / (12.0 * STEP)


@pytest.mark.parametrize(
    ("theta0", "rate0"),
    [(0.1, 0.0), (1.5, 0.0), (3.1, 0.0), (-2.0, 1.0), (1.0, -2.0), (0.0, 7.0), (2.0, -9.0), (7.0, 0.3), (-5.0, -0.4), (3.0, 6.0)],
)
def test_pendulum_solution_satisfies_its_equation_and_start(theta0, rate0):
    solution = PendulumSolution(3.13, theta0, rate0)
    t = np.linspace(0.0, 6.0, 61)
    assert solution.angle(np.array(0.0)) == pytest.approx(theta0, abs=1e-13)
    assert solution.rate(np.array(0.0)) == pytest.approx(rate0, abs=1e-13)
    np.testing.assert_allclose(derivative(solution.angle, t), solution.rate(t), atol=1e-8)
    np.testing.assert_allclose(derivative(solution.rate, t), solution.acceleration(t), atol=1e-7)
    energy = 0.5 * solution.rate(t) ** 2 - 3.13**2 * np.cos(solution.angle(t))
    np.testing.assert_allclose(energy, energy[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("theta0", "rate0", "turn"), [(1.5, 0.0, 0.0), (1.0, -2.0, 0.0), (0.0, 7.0, 2 * math.pi), (2.0, -9.0, -2 * math.pi)]
)
def test_pendulum_repeats_after_its_period(theta0, rate0, turn):
    solution = PendulumSolution(3.13, theta0, rate0)
    t = np.linspace(0.0, 2.0, 11)
    np.testing.assert_allclose(solution.angle(t + solution.period), solution.angle(t) + turn, atol=1e-11)


def test_pendulum_at_the_separatrix_never_arrives():
    solution = PendulumSolution(1.0, 0.0, 2.0)
    # θ = 4 atan(eᵗ) − π, the classical limit.
    t = np.linspace(0.0, 5.0, 11)
    np.testing.assert_allclose(solution.angle(t), 4.0 * np.arctan(np.exp(t)) - math.pi, atol=1e-9)
    assert math.isinf(solution.period)


def test_pendulum_matches_iftomm_a01():
    """Published specification, values by an independent evaluation: period and (x, z) at 0.5, 1, 10 s from the horizontal."""
    solution = HungPendulum(math.sqrt(9.81), 0.5 * math.pi)
    assert solution.period == pytest.approx(2.367841947576237, rel=1e-14)
    expected = {
        0.5: (0.3910487915505459, -0.9203699487851924),
        1.0: (-0.9862917511318754, -0.165010853125541),
        10.0: (0.275087462576117, -0.961419205099125),
    }
    for t, (x, z) in expected.items():
        np.testing.assert_allclose(solution.com(np.array(t)), (x, 0.0, z), atol=1e-12)


@pytest.mark.parametrize(("kind", "at_bottom", "at_release"), [("point", 3.0, 0.0), ("rod", 2.5, 0.25)])
def test_pendulum_reactions_are_the_textbook_ones(kind, at_bottom, at_release):
    _, properties = pendulum_body(kind, 1.0, 2.0)
    lever = -properties.com[2]
    w = math.sqrt(2.0 * 9.81 * lever / properties.about((0, 0, 0))[1, 1])
    solution = HungPendulum(w, 0.5 * math.pi, mass=2.0, lever=lever)
    weight = 2.0 * 9.81
    # The point's radius of gyration of 1e-6 leaves a relative 1e-12.
    np.testing.assert_allclose(solution.reaction(np.array(0.0)) / weight, (0, 0, at_release), atol=1e-11)
    np.testing.assert_allclose(solution.reaction(np.array(0.25 * solution.period)) / weight, (0, 0, at_bottom), atol=1e-11)


def test_double_pendulum_matches_reference_values():
    """Independent double-precision integration, two tolerances agreeing to 1.4e-10 at t = 10."""
    release = DoublePendulum((1.0, 1.0), (1.0, 1.0), 9.81, (0.5 * math.pi, 0.5 * math.pi), (0.0, 0.0))
    solution = release.solve([0.0, 0.5, 5.0])
    np.testing.assert_allclose(solution[1], (0.5704720512329774, 1.203875111158257, -2.7896457661674026, -3.188062746651213), atol=1e-9)
    np.testing.assert_allclose(solution[2], (-0.6271867050668949, -1.3013155502091573, 2.1254086738449396, 3.8818887272623805), atol=1e-8)
    energy = [release.energy(row[:2], row[2:]) for row in solution]
    np.testing.assert_allclose(energy, energy[0], atol=1e-10)


def test_double_pendulum_small_swings_have_the_known_frequencies():
    slow = DoublePendulum((1.0, 1.0), (1.0, 1.0), 9.81, (0.0, 0.0), (0.0, 0.0))
    step = 1e-6
    K = -np.stack([slow.acceleration(step * e, np.zeros(2)) / step for e in np.eye(2)], axis=1)
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(K)), 9.81 * (2.0 + np.array([-1.0, 1.0]) * math.sqrt(2.0)), rtol=1e-9)


@pytest.mark.parametrize(
    ("inertia", "omega"),
    [
        ((1, 2, 3), (0.01, 1, 0)),
        ((1, 2, 3), (0.5, 0.3, 1.0)),
        ((3, 2, 1.5), (0.5, 0.3, 1.0)),
        ((2, 3, 1.5), (-0.5, 0.3, -1.0)),
        ((2, 1.2, 3), (1.5, -0.3, 0.1)),
        ((1, 2, 2.5), (0.0, 1.0, -0.2)),
        ((0.04, 0.04, 0.02), (1.0, 0.5, 3.0)),
        ((0.02, 0.04, 0.04), (1.0, 0.5, 3.0)),
        ((0.02, 0.03, 0.02), (-1.0, 0.5, 3.0)),
        ((2, 2, 2), (0.3, 0.4, 0.5)),
        ((1, 2, 2.5), (0.0, 1.0, 0.0)),
        ((1, 2, 2.5), (0.0, 0.0, -1.0)),
        ((1, 2, 2), (0.0, 1.0, 1.0)),
    ],
)
def test_torque_free_motion_satisfies_eulers_equations(inertia, omega):
    body, J = TorqueFree(inertia, omega), np.array(inertia, dtype=float)
    np.testing.assert_allclose(body.omega(np.array(0.0)), omega, atol=1e-14)
    t = np.linspace(0.0, 20.0, 81)
    w = body.omega(t)
    np.testing.assert_allclose(J * derivative(body.omega, t), np.cross(J * w, w), atol=1e-9)
    np.testing.assert_allclose(0.5 * (w * w) @ J, body.kinetic_energy, rtol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(J * w, axis=1), np.linalg.norm(body.angular_momentum), rtol=1e-13)


def test_middle_axis_spin_matches_reference_values():
    """Landau §37; values by an independent integration."""
    body = TorqueFree((1, 2, 3), (0.01, 1, 0))
    assert body.period == pytest.approx(41.50921952930714, rel=1e-12)
    np.testing.assert_allclose(body.omega(np.array(10.0)), (0.9767826163386859, 0.21446612883748264, -0.5639161520360534), atol=1e-10)
    np.testing.assert_allclose(body.omega(np.array(20.0)), (0.010964160605428947, -0.9999898935400345, -0.0025956898749841866), atol=1e-10)


def test_axisymmetric_body_precesses_at_the_closed_form_rate_and_orientation():
    body = TorqueFree((0.04, 0.04, 0.02), (1.0, 0.5, 3.0))
    assert body.period == pytest.approx(2 * math.pi / (0.5 * 3.0), rel=1e-14)  # |1 − J/I| ω₃
    for t in (0.3, 2.0):
        R = body.rotation(t)
        np.testing.assert_allclose(R @ (np.array(body.inertia) * body.omega(np.array(t))), body.angular_momentum, atol=1e-15)
        W = R.T @ derivative(body.rotation, t)
        np.testing.assert_allclose((W[2, 1], W[0, 2], W[1, 0]), body.omega(np.array(t)), atol=1e-9)
    with pytest.raises(ValueError, match="two equal"):
        TorqueFree((1, 2, 3), (1, 0, 0)).rotation(1.0)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_steady_precession_balances_the_torque_of_gravity(sign):
    A, C, weight, tilt, spin = 2.0, 1.2, 3.0, 0.5, 9.0
    rate = (C * spin + sign * math.sqrt((C * spin) ** 2 - 4 * A * weight * math.cos(tilt))) / (2 * A * math.cos(tilt))
    top = SteadyPrecession(rate, spin - rate * math.cos(tilt), tilt)

    def momentum(t):
        R = top.rotation(t)
        return R @ (np.array([A, A, C]) * (R.T @ top.omega(t)))

    for t in (0.0, 0.7):
        W = derivative(top.rotation, t) @ top.rotation(t).T
        np.testing.assert_allclose((W[2, 1], W[0, 2], W[1, 0]), top.omega(t), atol=1e-8)
        np.testing.assert_allclose(derivative(momentum, t), np.cross(top.axis(np.array(t)), (0, 0, -weight)), atol=1e-7)
        np.testing.assert_allclose(top.rotation(t)[:, 2], top.axis(np.array(t)), atol=1e-14)


def test_conical_pendulum_has_the_textbook_rate():
    _, properties = pendulum_body("point", 1.0, 1.0)
    about = properties.about((0, 0, 0))
    omega = math.sqrt(9.81 / ((about[0, 0] - about[2, 2]) * math.cos(math.pi / 6)))
    assert omega == pytest.approx(3.365651836049067, rel=1e-11)
    turn = SteadyTurn(omega, np.array([0.5, 0.0, -math.cos(math.pi / 6)]))
    acceleration = derivative(lambda t: derivative(turn.com, t), np.array(0.4))
    tension = acceleration + (0, 0, 9.81)
    np.testing.assert_allclose(np.cross(tension, turn.com(np.array(0.4))), 0.0, atol=1e-7)  # along the rod
