"""The paper's study of restitution (003, §6.2): a falling box with κ = 10⁵ Pa, d̂ = 0.064 m, Y = 10⁹ Pa, g = 8 m/s², 1 m above the ground.

Only the bounce is stepped: the box starts 0.1 m above the ground with the speed that the fall gave it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import unibody as ub
from unibody.contact.restitution import bounce
from unibody.solvers import Barrier

GRAVITY, FALL, ABOVE = 8.0, 1.0, 0.1
AREA = 3.0
"""Of the cube's lower four corners: half its surface."""


def falling_box(dt: float, rule: str, damping: float = 0.0, pressure: float = 1e5, reach: float = 0.064, modulus: float = 1e9):
    """A recording from just above the ground until after the bounce, and energies above rest on the ground, in units of the fall's."""
    b = ub.Builder(gravity=(0, 0, -GRAVITY))
    speed = math.sqrt(2.0 * GRAVITY * (FALL - ABOVE))
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("box", shape=ub.Box((1, 1, 1)), X_WB=ub.Pose(p=(0, 0, 0.5 + ABOVE)), V_WB=(0, 0, 0, 0, 0, -speed))
    b.add(ub.Contact(damping=damping, reach=reach, pressure=pressure))
    steps = max(10, math.ceil(0.08 / dt))
    rec = ub.Simulation(b.build(), Barrier(rule=rule, modulus=modulus, tolerance=1e-7), dt=dt).run(steps * dt)
    mass = rec.model.bodies[2].mass
    return rec, (rec.energy.total - mass * GRAVITY * 0.5) / (mass * GRAVITY * FALL)


@pytest.mark.parametrize(
    ("rule", "dt", "low", "high"),
    [
        ("implicit", 1e-1, 0.0, 0.1), ("implicit", 1e-2, 0.02, 0.2), ("implicit", 1e-3, 0.5, 0.8), ("implicit", 1e-4, 0.9, 0.98),
        ("bdf2", 1e-2, 0.5, 0.8), ("bdf2", 1e-3, 0.99, 1.0), ("bdf2", 1e-4, 0.9999, 1.0001),
    ],
)  # fmt: skip
def test_energy_kept_over_a_bounce(rule, dt, low, high):
    """Figure 14: implicit Euler loses nearly nine tenths at 10⁻², BDF-2 a third; BDF-2 keeps 99 % at 10⁻³."""
    rec, energy = falling_box(dt, rule)
    assert rec.twist("box")[-1, 5] > -1e-6 or rule == "implicit"
    assert low <= energy[-1] <= high


def test_damping_orders_the_losses():
    """Figure 19."""
    kept = [falling_box(1e-3, "bdf2", damping=kd)[1][-1] for kd in (0.0, 1e-4, 3e-4, 1e-3, 3e-3)]
    assert (np.diff(kept) < -0.01).all()


def test_reach_improves_monotonically_and_pressure_has_an_optimum():
    """Figure 16."""
    by_reach = [falling_box(1e-3, "bdf2", reach=d)[1][-1] for d in (0.008, 0.016, 0.064)]
    assert by_reach[0] < by_reach[1] < by_reach[2]
    by_pressure = [falling_box(1e-3, "bdf2", pressure=k)[1][-1] for k in (1e2, 1e5, 1e9)]
    assert by_pressure[1] > max(by_pressure[0], by_pressure[2]) + 0.01


def test_soft_bodies_keep_energy_but_not_height():
    """Figure 15: with Y = 10⁵ Pa much of the energy stays in vibration, with Y = 10⁷ hardly any."""
    heights = []
    for modulus in (1e5, 1e7, 1e9):
        rec, energy = falling_box(1e-3, "bdf2", modulus=modulus)
        assert energy[-1] > 0.9
        up, z = rec.twist("box")[-1, 5], rec.point("box")[-1, 2] - 0.5
        heights.append(z + up**2 / (2.0 * GRAVITY))
    assert heights[0] < 0.9 < heights[1]
    assert heights[2] == pytest.approx(heights[1], abs=0.05)


@pytest.mark.parametrize("gravity_speed", [1.0, 2.0, 4.0])
def test_slower_impacts_bounce_with_the_same_numbers(gravity_speed):
    """Figure 18: what is right for 4 m/s is right below it."""
    law = {"mass": 1000.0, "area": AREA, "dt": 1e-3, "reach": 0.064, "pressure": 1e5, "damping": 0.0, "rule": "bdf2"}
    assert bounce(gravity_speed, **law) > 0.98


def test_one_dimension_says_what_the_box_does():
    _, energy = falling_box(1e-3, "implicit")
    e = bounce(4.0, mass=1000.0, area=AREA, dt=1e-3, reach=0.064, pressure=1e5, damping=0.0, rule="implicit")
    assert energy[-1] == pytest.approx(e**2, abs=0.05)


@pytest.mark.parametrize(("wanted", "rule"), [(0.9, "bdf2"), (0.5, "bdf2"), (0.2, "bdf2"), (0.6, "implicit")])
def test_contact_for_a_wanted_restitution(wanted, rule):
    """A cube of 0.2 m thrown flat at the ground with 2 m/s, without gravity."""
    size, speed, dt = 0.2, 2.0, 1e-3
    contact = ub.contact_for_restitution(wanted, speed=speed, mass=8.0, area=3.0 * size**2, dt=dt, rule=rule, gravity=0.0)
    ratios = []
    for phase in (0.0, 0.3, 0.6):
        b = ub.Builder(gravity=None)
        b.body("ground", shape=ub.Plane(), kind="static")
        height = 0.5 * size + contact.reach + speed * dt * (1.5 + phase)
        b.body("cube", shape=ub.Box((size,) * 3), X_WB=ub.Pose(p=(0, 0, height)), V_WB=(0, 0, 0, 0, 0, -speed))
        b.add(contact)
        rec = ub.Simulation(b.build(), Barrier(rule=rule, tolerance=1e-7), dt=dt).run(round(20 * contact.reach / speed / dt) * dt)
        ratios.append(rec.twist("cube")[-1, 5] / speed)
    assert np.mean(ratios) == pytest.approx(wanted, rel=5e-3)


@pytest.mark.parametrize(("wanted", "rule", "dt"), [(0.8, "bdf2", 1e-3), (0.5, "bdf2", 1e-3), (0.5, "bdf2", 2e-3), (0.5, "implicit", 1e-3)])
def test_a_cube_that_falls_rebounds_as_wanted(wanted, rule, dt):
    """With its weight, which acts all the while that it is in the barrier: 2 m/s down and e of it up where the barrier begins, so that it
    rises to e² of its height, within half a percent of e."""
    size, speed, g = 0.2, 2.0, 9.81
    contact = ub.contact_for_restitution(wanted, speed=speed, mass=8.0, area=3.0 * size**2, dt=dt, rule=rule)
    ratios = []
    for phase in (0.0, 0.25, 0.5, 0.75):
        b = ub.Builder(gravity=(0, 0, -g))
        b.body("ground", shape=ub.Plane(), kind="static")
        above = speed * dt * (1.5 + phase)
        start, down = 0.5 * size + contact.reach, (0, 0, 0, 0, 0, -math.sqrt(speed**2 - 2.0 * g * above))
        b.body("cube", shape=ub.Box((size,) * 3), X_WB=ub.Pose(p=(0, 0, start + above)), V_WB=down)
        b.add(contact)
        rec = ub.Simulation(b.build(), Barrier(rule=rule, tolerance=1e-7), dt=dt).run(0.15)
        z, v = rec.pose("cube")[:, 2] - start, rec.twist("cube")[:, 5]
        k = int(np.argmax((z > 0.0) & (v > 0.0))) + 5  # BDF2 comes to free flight in a few steps
        ratios.append(math.sqrt(v[k] ** 2 + 2.0 * g * z[k]) / speed)
    assert np.mean(ratios) == pytest.approx(wanted, rel=5e-3)


def test_what_equation_23_forbids_is_said():
    with pytest.raises(ub.ModelError, match="Eq. 23"):
        ub.contact_for_restitution(0.9, speed=4.0, mass=1.0, area=1.0, dt=0.01, reach=0.03)
    with pytest.raises(ub.ModelError, match="out of reach"):
        ub.contact_for_restitution(0.95, speed=4.0, mass=1.0, area=1.0, dt=0.01, reach=0.05, rule="implicit")
    with pytest.raises(ub.ModelError, match="more than came in"):
        ub.contact_for_restitution(1.2, speed=4.0, mass=1.0, area=1.0, dt=0.01)


def test_a_cradle_of_boxes_passes_its_momentum_on():
    """Four equal boxes in a row, without gravity: the first hits the second, the last leaves with its speed."""
    size, speed, dt, n = 0.1, 1.0, 1e-3, 4
    contact = ub.contact_for_restitution(0.999, speed=speed, mass=0.5, area=2.0 * size**2, dt=dt, gravity=0.0)
    b = ub.Builder(gravity=None)
    gap = 1.2 * contact.reach
    for k in range(n):
        b.body(f"box{k}", shape=ub.Box((size,) * 3), X_WB=ub.Pose(p=(k * (size + gap), 0, 0)), V_WB=(0, 0, 0, speed * (k == 0), 0, 0))
    b.add(contact)
    rec = ub.Simulation(b.build(), Barrier(rule="bdf2", tolerance=1e-7), dt=dt).run(round(3 * n * gap / speed / dt) * dt)
    speeds = [rec.twist(f"box{k}")[-1, 3] for k in range(n)]
    assert speeds[-1] == pytest.approx(speed, rel=0.02)
    assert np.abs(speeds[:-1]).max() < 0.02 * speed
    assert sum(speeds) == pytest.approx(speed, rel=1e-6)


def test_a_moving_wall_is_damped_by_its_relative_speed():
    """The same impact seen from the wall and from the box: a wall at −v against a box at rest, and a box at v against a wall at rest."""
    outcomes = []
    for wall, box in ((0.0, -1.0), (1.0, 0.0)):
        b = ub.Builder(gravity=None)
        b.body("wall", shape=ub.Box((0.1, 0.4, 0.4)), kind="kinematic", V_WB=(0, 0, 0, wall, 0, 0))
        b.body("box", shape=ub.Box((0.2,) * 3), X_WB=ub.Pose(p=(0.17, 0, 0)), V_WB=(0, 0, 0, box, 0, 0))
        b.add(ub.Contact(reach=0.01, pressure=5e3, damping=5e-4))
        rec = ub.Simulation(b.build(), Barrier(rule="bdf2", tolerance=1e-8), dt=1e-3).run(0.06)
        outcomes.append(rec.twist("box")[-1, 3] - wall)
    assert outcomes[0] == pytest.approx(outcomes[1], abs=1e-3)
    assert 0.05 < outcomes[0] < 0.95
