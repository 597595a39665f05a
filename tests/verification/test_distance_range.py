"""Slack ropes and telescopes: `DistanceRange` in every solver that takes it, against closed forms.

A mass on a slack rope falls freely; when the rope is taut the speed along it is lost (an impact without restitution) and the mass swings as
a pendulum of the rope's length, under the tension m g cos φ + m v²/l.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import unibody as ub
from unibody.solvers import REGISTRY

G, MASS, LENGTH = 9.81, 2.0, 1.0
WAYS = {
    "redmax": ("redmax", {}),
    "complementarity": ("complementarity", {}),
    "complementarity, maximal": ("complementarity", {"coordinates": "maximal"}),
    "impulse": ("impulse", {}),
    "penalty": ("penalty", {}),
}
"""Barriers keep away from a bound: tests/verification/test_barrier_ranges.py."""
WORLDS = {"spatial": False, "planar": True}
STEP, EVERY = 2e-3, 4

every_way = pytest.mark.parametrize("way", WAYS)
every_world = pytest.mark.parametrize("world", WORLDS)


@cache
def swung(way: str, world: str) -> ub.Recording:
    """A mass let go 0.6 m beside the nail of a rope of 1 m: taut 0.8 m below it."""
    b = ub.Builder(planar=WORLDS[world])
    bob = b.body("bob", mass=MASS, inertia=(0.01, 0.01, 0.01), X_WB=ub.Pose(p=(0.6, 0, 0)))
    b.add(ub.DistanceRange(bob.at(), b.world.at(), upper=LENGTH), name="rope")
    name, options = WAYS[way]
    return ub.Simulation(b.build(), REGISTRY[name](**options), dt=STEP).run(0.8, every=EVERY)


def speeds(run: ub.Recording) -> np.ndarray:
    return np.linalg.norm(run.twist("bob")[:, 3:], axis=1)


@every_way
@every_world
def test_a_mass_falls_freely_until_its_rope_is_taut(way: str, world: str) -> None:
    run = swung(way, world)
    falling = run.t < np.sqrt(2 * 0.8 / G) - STEP
    z, t = run.point("bob")[falling, 2], run.t[falling]
    # Rules of first order fall by g t h/2 too much or too little.
    assert abs(z + 0.5 * G * t**2).max() < 0.51 * G * t.max() * STEP
    assert abs(run.point("bob")[falling, 0] - 0.6).max() < 1e-9
    assert abs(run.multiplier("rope")[falling]).max() == 0.0


@every_way
@every_world
def test_a_taut_rope_keeps_its_length_and_takes_the_speed_along_it(way: str, world: str) -> None:
    run = swung(way, world)
    taut = run.t > np.sqrt(2 * 0.8 / G) + 5 * STEP
    apart = np.linalg.norm(run.point("bob"), axis=1)
    # A penalty stretches by what it needs, v/Ω of the impact; the others miss the length by (h v)²/2, the curvature of one step, at most.
    near = 1e-3 if way == "penalty" else 0.5 * (STEP * 4.0) ** 2
    assert apart.max() < LENGTH + near
    assert abs(apart[taut] - LENGTH).max() < near
    fallen = np.sqrt(2 * G * 0.8)
    energy = 0.5 * speeds(run) ** 2 + G * run.point("bob")[:, 2]
    lost = 0.5 * (0.8 * fallen) ** 2  # the rope stands at cos φ = 0.8 from the vertical
    # Energies of rules of first order are those of half a step apart, h g v/2 at most, and drift by as much: of 5 J/kg.
    assert energy[taut] == pytest.approx(-lost, abs=STEP * G * fallen)


@every_way
def test_the_tension_of_a_conical_pendulum_carries_weight_and_turn(way: str) -> None:
    """On a circle at the angle α the rope pulls with m g / cos α = m g cos α + m v²/l; a quarter of it turns the velocity."""
    alpha = np.pi / 6
    b = ub.Builder()
    speed = np.sqrt(G * LENGTH * np.sin(alpha) * np.tan(alpha))
    place = ub.Pose(p=(LENGTH * np.sin(alpha), 0, -LENGTH * np.cos(alpha)))
    bob = b.body("bob", mass=MASS, inertia=(0.01, 0.01, 0.01), X_WB=place, V_WB=(0, 0, 0, 0, speed, 0))
    b.add(ub.DistanceRange(bob.at(), b.world.at(), upper=LENGTH), name="rope")
    name, options = WAYS[way]
    run = ub.Simulation(b.build(), REGISTRY[name](**options), dt=STEP).run(0.4, every=EVERY)
    settled = run.t > 20 * STEP  # a penalty must first stretch
    pull = run.multiplier("rope")[settled, 0]
    # Of first order: within h ω of the part that turns, ω = √(g / l cos α).
    assert pull == pytest.approx(MASS * G / np.cos(alpha), rel=0.25 * STEP * np.sqrt(G / (LENGTH * np.cos(alpha))))


@every_way
@every_world
def test_a_telescope_stops_at_both_ends(way: str, world: str) -> None:
    """A mass flies past a nail at 0.3 m with 2 m/s: at 0.5 m the strut, at 1 m the rope takes the speed along it."""
    b = ub.Builder(gravity=None, planar=WORLDS[world])
    bob = b.body("bob", mass=MASS, inertia=(0.01, 0.01, 0.01), X_WB=ub.Pose(p=(-0.9, 0, 0.3)), V_WB=(0, 0, 0, 2, 0, 0))
    b.add(ub.DistanceRange(b.world.at(), bob.at(), lower=0.5, upper=1.0), name="telescope")
    name, options = WAYS[way]
    run = ub.Simulation(b.build(), REGISTRY[name](**options), dt=STEP).run(1.2, every=EVERY)
    apart = np.linalg.norm(run.point("bob"), axis=1)
    reach = 1e-3 if way == "penalty" else 2e-5  # as above; recorded is every fourth step
    assert 0.5 - reach < apart.min() < 0.5 + reach + 0.5 * (1.2 * EVERY * STEP) ** 2 / 0.5
    assert 1.0 - reach < apart.max() < 1.0 + reach
    # Along the strut's normal (−0.8, 0.6) speed is lost: 1.2 m/s are left. From there it goes straight to 1 m, 0.5²+s² = 1, and of that
    # speed the part across the rope is left: 1.2 · 0.5 (a penalty bounces by e⁻² of the rest at most).
    between, after = (run.t > 0.4) & (run.t < 0.85), run.t > 1.1
    soft = 0.03 if way == "penalty" else 5e-3
    assert speeds(run)[between] == pytest.approx(1.2, rel=soft)
    assert speeds(run)[after] == pytest.approx(0.6, rel=max(soft, 0.02))


@every_way
def test_two_free_bodies_on_a_rope_keep_their_momentum(way: str) -> None:
    """Flying apart at 3 m/s, 1 and 2 kg: taut, both go on with the velocity of their centre."""
    b = ub.Builder(gravity=None)
    one = b.body("one", mass=1.0, inertia=(0.01, 0.01, 0.01), X_WB=ub.Pose(p=(0, 0, 0)))
    two = b.body("bob", mass=2.0, inertia=(0.01, 0.01, 0.01), X_WB=ub.Pose(p=(0.5, 0, 0)), V_WB=(0, 0, 0, 3, 0, 0))
    b.add(ub.DistanceRange(one.at(), two.at(), upper=LENGTH), name="rope")
    name, options = WAYS[way]
    run = ub.Simulation(b.build(), REGISTRY[name](**options), dt=STEP).run(0.3, every=EVERY)
    v = np.stack([run.twist(k)[:, 3] for k in ("one", "bob")], axis=1)
    assert v @ [1.0, 2.0] == pytest.approx(6.0, rel=1e-9)
    bounce = 0.14 if way == "penalty" else 1e-9  # e⁻² of a critically damped spring that only pulls
    assert abs(v[-1, 1] - v[-1, 0]) <= 3.0 * bounce


def test_a_user_constraint_may_call_something_bounds() -> None:
    """A method of that name of an element is its own affair: no solver takes it for bounds of its multipliers."""

    class Rope(ub.DistanceRange):
        def bounds(self) -> list[tuple[float, float]]:
            return super().bounds()

    b = ub.Builder()
    bob = b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), X_WB=ub.Pose(p=(0, 0, -1.0)))
    b.add(Rope(bob.at(), b.world.at(), upper=1.0), name="rope")
    for solver in ("complementarity", "impulse"):
        run = ub.Simulation(b.build(), solver, dt=1e-3).run(0.05)
        assert run.multiplier("rope")[-1, 0] == pytest.approx(9.81, rel=1e-6)
