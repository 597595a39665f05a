"""DryFriction in motion: it holds below its bound, slides above it, and brings a spinning wheel to rest in the time Coulomb says."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.element import Kinematics
from unibody.model.tables import Names

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
    rec = ub.Simulation(wheel(torque=2.0 * BOUND), ub.solvers.RedMax(rule="implicit"), dt=1e-3).run(0.1, every=50)
    assert (rec.v[-1, 0] - rec.v[1, 0]) / (rec.t[-1] - rec.t[1]) == pytest.approx(BOUND / INERTIA, rel=1e-9)


@pytest.mark.parametrize("rule, error", [("linearly-implicit", 0.02), ("implicit", 1e-6), ("bdf2", 1e-6)])
def test_implicit_rules_come_to_rest_at_steps_far_above_the_explicit_bound(rule: str, error: float) -> None:
    """h = 10 ms is twelve times 2 I s / b; the wheel stops after 0.085 s and stays; the rules of order 1 do not turn it back. The
    linearly implicit one takes the friction of a step as b v⁺/v, an error of the order of h."""
    rec = ub.Simulation(wheel(speed=0.2137), ub.solvers.RedMax(rule=rule), dt=1e-2).run(0.3)
    assert np.abs(rec.v[-5:]).max() < 1e-9 and (rule == "bdf2" or rec.v.min() > -1e-9)
    assert rec.v[4, 0] == pytest.approx(0.2137 - 0.04 * BOUND / INERTIA, abs=error)


def test_the_linearly_implicit_rule_slides_with_an_error_of_first_order() -> None:
    speeds = [ub.Simulation(wheel(speed=0.2137), "redmax", dt=h).run(0.05, every=round(0.05 / h)).v[-1, 0] for h in (2e-3, 1e-3)]
    errors = np.array(speeds) - (0.2137 - 0.05 * BOUND / INERTIA)
    assert 1.8 < errors[0] / errors[1] < 2.2 and errors[1] < 3e-3


def test_implicit_methods_take_the_chord_from_rest() -> None:
    """D v is the effort itself, and |D| is never below the slope."""
    model = wheel(slip=0.05)
    friction = model.forces[0][1]
    for v in (-3.0, -0.04, 1e-7, 0.02, 0.3):
        at = Kinematics(0.0, np.zeros((2, 12)), np.zeros((2, 6)), np.zeros(1), np.array([v]), np.zeros(0), np.zeros(0), Names(model))
        D = friction.damping_blocks(at)["axle", "axle"][0, 0]
        assert D * v == pytest.approx(-BOUND * np.tanh(v / 0.05), rel=1e-12)
        assert -D >= BOUND / 0.05 * (1.0 - np.tanh(v / 0.05) ** 2) * (1.0 - 1e-12)


def test_a_wheel_comes_to_rest_and_its_energy_is_the_work_of_friction() -> None:
    """v falls by b/I until it rests at t = I v₀ / b = 0.08 s; the kinetic energy ½ I v₀² is what the friction took."""
    v0 = 0.2
    rec = ub.Simulation(wheel(speed=v0, slip=5e-3), "articulated", dt=5e-4).run(0.12, every=10)
    sliding = rec.t < 0.06
    np.testing.assert_allclose(rec.v[sliding, 0], v0 - BOUND / INERTIA * rec.t[sliding], rtol=1e-6)
    assert abs(rec.v[-1, 0]) < 1e-5
    assert -rec.energy.damper_work[-1] == pytest.approx(0.5 * INERTIA * v0**2, rel=1e-2)
