"""Spinning bodies under the barrier solver against closed forms: torque-free bodies and the heavy top, to the order of the time rule."""

from __future__ import annotations

import numpy as np
import pytest
from running import rotations

import unibody as ub
from unibody.solvers import Barrier

ORDERS = [("implicit", 1), ("bdf2", 2)]


def orders(error, steps) -> float:
    coarse, fine = (error(n) for n in steps)
    return float(np.log2(coarse / fine))


@pytest.mark.parametrize(("rule", "expected"), ORDERS)
def test_a_symmetric_body_wobbles_as_poinsot_says(rule, expected):
    """R(t) = exp(t L / I₁) exp(t (1 − I₃ / I₁) ω₃ e₃)."""
    made = ub.scenes.make("spinning-body", inertia=(1.0, 1.0, 0.5), omega=(1.0, 0.0, 2.0))

    def error(n):
        rec = ub.Simulation(made.model, Barrier(rule=rule, tolerance=1e-9), dt=1.0 / n).run(1.0, every=n)
        return np.abs(rotations(rec, "body")[-1] - made.exact.rotation(1.0)).max()

    assert orders(error, (100, 200)) == pytest.approx(expected, abs=0.2)
    assert error(200) < (0.03 if rule == "implicit" else 1e-3)


def test_an_asymmetric_body_turns_as_jacobi_says():
    made = ub.scenes.make("spinning-body", inertia=(1.0, 2.0, 2.5), omega=(1.0, 1.5, 0.5))
    rec = ub.Simulation(made.model, Barrier(rule="bdf2", tolerance=1e-9), dt=5e-3).run(1.0)
    body = np.einsum("tji,tj->ti", rotations(rec, "body"), rec.twist("body")[:, :3])
    assert np.abs(body - made.exact.omega(rec.t)).max() < 2e-3


def test_a_gyroscope_precesses_at_its_rate():
    """A Ω² cos θ − C ω₃ Ω + m g d = 0, over a twentieth of a turn. (Implicit Euler brakes a spin by ω² h / 2 of it a second.)"""
    made = ub.scenes.make("precessing-top", spin=120.0)
    duration = made.exact.period / 20.0
    rec = ub.Simulation(made.model, Barrier(rule="bdf2", tolerance=1e-6), dt=duration / 300).run(duration, every=15)
    axis = rotations(rec, "top")[:, :, 2]
    phase = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    assert np.polyfit(rec.t, phase, 1)[0] == pytest.approx(made.exact.precession, rel=2e-3)
    assert np.abs(np.arccos(axis[:, 2]) - made.exact.tilt).max() < 5e-3


def test_bdf2_follows_the_top_at_second_order():
    made = ub.scenes.make("precessing-top", spin=120.0)
    duration = made.exact.period / 40.0

    def error(n):
        rec = ub.Simulation(made.model, Barrier(rule="bdf2", tolerance=1e-9), dt=duration / n).run(duration, every=n)
        return np.abs(rotations(rec, "top")[-1] - made.exact.rotation(duration)).max()

    assert orders(error, (200, 400)) == pytest.approx(2.0, abs=0.3)
