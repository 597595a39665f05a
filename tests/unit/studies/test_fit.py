"""Fits recover what made the data; their intervals hold the truth as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError

T = np.linspace(0.0, 2.0, 25)


def swing(frequency, decay):
    return np.exp(-decay * T) * np.cos(frequency * T)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """400 sets of data with normal errors: the 95 % interval of each parameter holds the truth in 95 % of them, within what chance allows
    (three standard deviations of a binomial share, 3 √(0.95 · 0.05 / 400) = 3.3 %)."""
    rng, truth, held = np.random.default_rng(1), {"frequency": 3.0, "decay": 0.4}, {"frequency": 0, "decay": 0}
    for _ in range(400):
        data = swing(**truth) + 0.02 * rng.standard_normal(len(T))
        found = ub.fit(data, swing, {"frequency": 2.9, "decay": 0.3})
        for name, x in truth.items():
            held[name] += found.intervals[name][0] <= x <= found.intervals[name][1]
    for name, count in held.items():
        assert abs(count / 400 - 0.95) < 0.033, name


def test_covariance_of_a_straight_line_is_that_of_the_book():
    """y = a + b t with errors of 0.1: cov = s² (XᵀX)⁻¹."""
    rng = np.random.default_rng(2)
    y = 1.0 + 2.0 * T + 0.1 * rng.standard_normal(len(T))
    found = ub.fit(y, lambda a, b: a + b * T, {"a": 0.0, "b": 1.0})
    X = np.stack([np.ones_like(T), T], axis=1)
    best, rest = np.linalg.lstsq(X, y, rcond=None)[:2]
    s2 = rest[0] / (len(T) - 2)
    np.testing.assert_allclose(list(found.values.values()), best, rtol=1e-7)
    np.testing.assert_allclose(found.covariance, s2 * np.linalg.inv(X.T @ X), rtol=1e-6)  # J by differences of third order


def test_given_deviations_count_as_they_are_when_asked_to():
    y = 1.0 + 2.0 * T
    found = ub.fit(y, lambda a, b: a + b * T, {"a": 0.0, "b": 1.0}, sigma=0.5, absolute=True)
    X = np.stack([np.ones_like(T), T], axis=1)
    np.testing.assert_allclose(found.covariance, 0.25 * np.linalg.inv(X.T @ X), rtol=1e-6)


def test_a_damper_and_a_length_are_found_from_a_simulated_swing(tmp_path):
    def model(length, damping):
        b = ub.Builder()
        bob = b.body("bob", mass=1.0, inertia=(0.01,) * 3, com=(0, 0, -length))
        b.joint("hinge", ub.Revolute(axis=(0, 1, 0)), b.world, bob, q=0.4, damping=damping)
        return ub.Simulation(b.build(), "articulated:rule=rk4", dt=5e-3).run(1.0, every=10).joint("hinge")[:, 0]

    found = ub.fit(model(0.83, 0.21), model, {"length": (0.5, 0.1, 2.0), "damping": (0.05, 0.0, 1.0)})
    assert found.converged
    np.testing.assert_allclose([found.values["length"], found.values["damping"]], [0.83, 0.21], rtol=1e-6)
    page = found.report(tmp_path / "fit.html").read_text()
    assert "length" in page and "Correlations" in page


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ub.fit([1.0, 2.0], lambda a, b: np.array([a + b] * 2), {"a": 1.0, "b": 1.0}), "2 data for 2 parameters"),
        (lambda: ub.fit([1.0, 2.0, 3.0], lambda a, b: np.full(3, a + b), {"a": 1.0, "b": 1.0}), "do not tell a, b apart"),
        (lambda: ub.fit([1.0, 2.0, 3.0], lambda a: np.zeros(2), {"a": 1.0}), r"array of shape \(2,\)"),
        (lambda: ub.fit([1.0, 2.0, 3.0], lambda a: np.full(3, np.nan), {"a": 1.0}), "not finite at a=1"),
        (lambda: ub.fit([1.0, np.nan], lambda a: np.zeros(2), {"a": 1.0}), "not finite"),
        (lambda: ub.fit([1.0, 2.0], lambda a: np.full(2, a), {"a": (5.0, 0.0, 1.0)}), "the guess 5 is not within 0 … 1"),
        (lambda: ub.fit([1.0, 2.0], lambda a: np.full(2, a), {}), "give a mapping"),
        (lambda: ub.fit([1.0, 2.0], lambda a: np.full(2, a), {"a": 1.0}, confidence=1.0), "not below 1"),
        (lambda: ub.fit([1.0, 2.0], lambda a: np.full(2, a), {"a": 1.0}, sigma=0.0), "sigma is not positive"),
    ],
)
def test_fits_that_make_no_sense_are_refused(call, words):
    with pytest.raises(ModelError, match=words):
        call()
