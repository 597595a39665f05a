"""DryFriction in motion: it holds below its bound, slides above it, and brings a spinning wheel to rest in the time Coulomb says."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

BOUND, INERTIA = 0.5, 0.2


def wheel(speed: float = 0.0, torque: float = 0.0, slip: float = 1e-3) -> ub.Model:
    """A wheel on an axle with friction, turned by a motor."""
    b = ub.Builder(gravity=None)
    b.body("wheel", mass=1.0, inertia=(INERTIA, INERTIA, INERTIA))
    b.joint("axle", ub.Revolute(axis=(0, 0, 1)), parent=b.world, child="wheel", v=speed)
    b.add(ub.DryFriction("axle", BOUND, slip_speed=slip))
    b.add(ub.Motor("axle", effort=torque))
    return b.build()


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_a_load_below_the_bound_only_creeps(dt: float) -> None:
    """Under half the bound the steady speed is s artanh(½), whatever the step of the implicit method."""
    rec = ub.Simulation(wheel(torque=0.5 * BOUND), "redmax", dt=dt).run(50 * dt, every=50)
    assert rec.v[-1, 0] == pytest.approx(1e-3 * np.arctanh(0.5), rel=1e-3)


def test_a_load_above_the_bound_accelerates_by_the_difference() -> None:
    """I a = 2 b − b once it slides: at v ≫ s, v = (t b) / I less what was lost below s."""
    rec = ub.Simulation(wheel(torque=2.0 * BOUND), "redmax", dt=1e-3).run(0.1, every=50)
    assert (rec.v[-1, 0] - rec.v[1, 0]) / (rec.t[-1] - rec.t[1]) == pytest.approx(BOUND / INERTIA, rel=1e-9)


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_fully_implicit_rules_come_to_rest_at_steps_far_above_the_explicit_bound(rule: str) -> None:
    """h = 10 ms is twelve times 2 I s / b; the wheel stops after 0.085 s and stays."""
    rec = ub.Simulation(wheel(speed=0.2137), ub.solvers.RedMax(rule=rule), dt=1e-2).run(0.2)
    assert np.abs(rec.v[rec.t > 0.12]).max() < 1e-6 and rec.v[4, 0] == pytest.approx(0.2137 - 0.04 * BOUND / INERTIA, abs=1e-6)


def test_a_wheel_comes_to_rest_and_its_energy_is_the_work_of_friction() -> None:
    """v falls by b/I until it rests at t = I v₀ / b = 0.08 s; the kinetic energy ½ I v₀² is what the friction took."""
    v0 = 0.2
    rec = ub.Simulation(wheel(speed=v0, slip=5e-3), "articulated", dt=5e-4).run(0.12, every=10)
    sliding = rec.t < 0.06
    np.testing.assert_allclose(rec.v[sliding, 0], v0 - BOUND / INERTIA * rec.t[sliding], rtol=1e-6)
    assert abs(rec.v[-1, 0]) < 1e-5
    assert -rec.energy.damper_work[-1] == pytest.approx(0.5 * INERTIA * v0**2, rel=1e-2)
