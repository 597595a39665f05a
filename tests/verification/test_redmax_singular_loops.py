"""Loops at and near singular configurations in RedMax: they hold and gain no energy, or the step fails and names the loop.

Every model starts at rest or with a velocity on its rows, nothing drives or damps it: its energy stays what it is. The rule is of first
order, so that energy comes and goes by a part O(h) of what moves; what it must not do is grow."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody import scenes

G = 9.81
HINGE = ub.Revolute(axis=(0, -1, 0))


def chain(lengths, angles, rates=None, planar=True, scale=1.0):
    """Bars in the x-z plane at the given angles from x, the last one pinned to the world where it ends."""
    b = ub.Builder(planar=planar, gravity=(0, 0, -G * scale))
    before, at, last = b.world, ub.Pose(), 0.0
    for i, (length, angle) in enumerate(zip(scale * np.asarray(lengths), angles, strict=True)):
        bar = b.body(f"bar{i}", shape=ub.Box((length, 0.05 * scale, 0.05 * scale)), mass=1.0)
        rate = 0.0 if rates is None else rates[i]
        b.joint(f"pin{i}", HINGE, before, bar, X_PF=at, X_BM=ub.Pose((-length / 2, 0, 0)), q=angle - last, v=rate)
        before, at, last = bar, ub.Pose((length / 2, 0, 0)), angle
    end = sum(length * np.array([np.cos(a), 0, np.sin(a)]) for length, a in zip(scale * np.asarray(lengths), angles, strict=True))
    b.joint("loop", HINGE, before, b.world, X_PF=at, X_BM=ub.Pose(tuple(end)))
    return b.build()


def slider_crank(theta, crank, rod, rate):
    """θ from the inner dead centre on; velocities follow from those of the closed linkage."""
    b = ub.Builder(planar=True)
    names, sizes = ("crank", "rod", "slider"), (crank, rod, 0.1)
    bodies = [b.body(n, shape=ub.Box((s, 0.03, 0.03)), mass=1.0) for n, s in zip(names, sizes, strict=True)]
    phi = np.arcsin(-crank * np.sin(theta) / rod)
    turn = -rate * crank * np.cos(theta) / (rod * np.cos(phi))
    x, speed = crank * np.cos(theta) + rod * np.cos(phi), -crank * np.sin(theta) * rate - rod * np.sin(phi) * turn
    b.joint("A", HINGE, b.world, bodies[0], X_BM=ub.Pose((-crank / 2, 0, 0)), q=theta, v=rate)
    b.joint("B", HINGE, bodies[0], bodies[1], X_PF=ub.Pose((crank / 2, 0, 0)), X_BM=ub.Pose((-rod / 2, 0, 0)), q=phi - theta, v=turn - rate)
    b.joint("slide", ub.Prismatic((1, 0, 0)), b.world, bodies[2], q=x, v=speed)
    b.joint("loop", HINGE, bodies[1], bodies[2], X_PF=ub.Pose((rod / 2, 0, 0)))
    return b.build()


def run(model, dt, duration, every=10):
    """The recording, up to a failure that names the loop."""
    try:
        return ub.Simulation(model, "redmax", dt).run(duration, every=every), None
    except ub.StepFailed as failed:
        assert "near 'loop'" in str(failed) and failed.element == "loop" and "\n" not in str(failed)
        return failed.recording, failed


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
@pytest.mark.parametrize("bars", [2, 3, 4, 5])
@pytest.mark.parametrize("planar", [True, False])
def test_a_taut_chain_between_two_walls_stays_where_it_is(bars, dt, planar):
    """It has nowhere to go: a bar of 1 m that hangs through by √(2 × 1e-11) is what rows to 1e-11 of their size allow."""
    rec, _ = run(chain(np.linspace(0.4, 1.2, bars), np.zeros(bars), planar=planar), dt, 0.5)
    weight = bars * G * 1.2
    assert rec.energy.total.max() < 1e-4 * weight
    assert rec.energy.kinetic.max() < 1e-4 * weight
    assert rec.violation.max() < 1e-8


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
@pytest.mark.parametrize("slack", [1e-9, 1e-6, 1e-4])
def test_an_almost_taut_chain_gains_nothing(slack, dt):
    dip = np.sqrt(2.0 * slack)
    for angles in ([dip, -dip], [dip, 0.0, -dip], [-dip, 0.0, dip], [dip, -2.0 * dip, dip, 0.0]):
        rec, _ = run(chain(np.ones(len(angles)), angles), dt, 0.5)
        # four bars rattle at some 100 rad/s: a few hundredths of what moves, of first order
        assert rec.energy.total.max() - rec.energy.total[0] < 1e-3 * G + 0.03 * rec.energy.kinetic.max()
        assert rec.violation.max() < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_random_chains_folded_near_a_line_gain_nothing(seed):
    chance = np.random.default_rng(seed)
    bars = int(chance.integers(3, 6))
    angles = 1e-3 * chance.standard_normal(bars) + np.pi * chance.integers(0, 2, bars)
    rec, _ = run(chain(chance.uniform(0.3, 1.0, bars), angles), 2e-3, 1.0)
    # first order: h ω of what moves, ω² = g / 0.3 m or so
    moved = rec.energy.kinetic.max() + 1e-3 * G
    assert rec.energy.total.max() - rec.energy.total[0] < 0.02 * moved
    assert rec.violation.max() < 1e-5


@pytest.mark.parametrize("rate", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("angle", [0.0, 0.5])
def test_a_parallelogram_passes_its_change_points(angle, rate):
    """All four bars in line: the loop may go on as a parallelogram or crossed."""
    rec, _ = run(chain([0.3, 1.0, 0.3], [angle, 0.0, angle + np.pi], rates=[rate, -rate, rate]), 1e-3, 3.0)
    assert rec.energy.total.max() - rec.energy.total[0] < 0.01 * rec.energy.kinetic.max()
    assert rec.violation.max() < 1e-6


@pytest.mark.parametrize("crank, rod", [(0.3, 0.5), (0.5, 0.5)])
@pytest.mark.parametrize("theta", [0.0, 1e-6, np.pi])
def test_a_slider_crank_passes_its_dead_centres(theta, crank, rod):
    """With equal arms the slider may also stay in the middle, and the crank turn with the rod."""
    rec, _ = run(slider_crank(theta, crank, rod, 4.0), 1e-3, 3.0)
    assert rec.energy.total.max() - rec.energy.total[0] < 0.01 * rec.energy.kinetic.max()
    assert rec.violation.max() < 1e-6


@pytest.mark.parametrize("name", ["four-bar", "spatial-four-bar"])
def test_a_four_bar_never_gains_a_hundredth_of_its_energy(name):
    """Five minutes of the planar one, in which the crank's errors add up over some 200 swings; less of the other."""
    duration = 300.0 if name == "four-bar" else 60.0
    rec = ub.Simulation(scenes.make(name).model, "redmax", 1e-3).run(duration, every=250)
    assert rec.energy.total.max() < 1.01 * rec.energy.total[0]
    assert rec.energy.total.min() > 0.9 * rec.energy.total[0]
    assert rec.violation.max() < 1e-8


# What is said of rows that repeat each other.


def spatial_four_bar(rate, free_base):
    b, axis = ub.Builder(), ub.Revolute(axis=(0, 1, 0))
    base = b.world
    if free_base:
        base = b.body("base", mass=1.0, inertia=(1e-2,) * 3)
        b.joint("base", axis, b.world, base)
    crank, coupler, rocker = (b.body(n, mass=1.0, inertia=(2e-3,) * 3) for n in ("crank", "coupler", "rocker"))
    b.joint("A", axis, base, crank, ub.Pose((-0.1, 0, 0)), ub.Pose((-0.04, 0, 0)))
    b.joint("B", axis, crank, coupler, ub.Pose((0.04, 0, 0)), ub.Pose((-0.06, 0, -0.1)))
    b.joint("C", axis, coupler, rocker, ub.Pose((0.06, 0, 0.1)), ub.Pose((0, 0, 0.1)))
    b.joint("loop", axis, base, rocker, ub.Pose((0.1, 0, 0)), ub.Pose((0, 0, -0.1)))
    if rate:
        b.add(ub.PrescribedJoint("A", lambda t: rate * t, rate=lambda t: rate, acceleration=lambda t: 0.0), name="drive")
    return b.build()


@pytest.mark.parametrize("rule", ["linearly-implicit", "implicit", "bdf2"])
@pytest.mark.parametrize("free_base", [False, True])
@pytest.mark.parametrize("rate", [0.0, 1.0, 12.0])
def test_a_sound_linkage_with_redundant_rows_is_not_said_to_contradict_itself(rate, free_base, rule):
    rec = ub.Simulation(spatial_four_bar(rate, free_base), ub.solvers.RedMax(rule=rule), dt=5e-3).run(0.05)
    assert rec.reports[-1].redundant == 3
    assert rec.violation.max() < 1e-7
    assert not [note for report in rec.reports for note in report.notes if "contradict" in note]


@pytest.mark.parametrize("name", ["bennett", "spatial-four-bar"])
def test_overconstrained_mechanisms_that_move_are_sound(name):
    rec = ub.Simulation(scenes.make(name).model, "redmax", dt=2e-3).run(0.1)
    assert rec.reports[-1].redundant > 0
    assert not [note for report in rec.reports for note in report.notes if "contradict" in note]


@pytest.mark.parametrize("rate", [1e-3, 1.0])
def test_drives_that_contradict_a_linkage_are_named(rate):
    """Crank and rocker of one degree of freedom, each told its own angle: the one turns, the other stands still."""
    b_model = spatial_four_bar(0.0, False)
    b, axis = ub.Builder(), ub.Revolute(axis=(0, 1, 0))
    bodies = [b.body(n, mass=1.0, inertia=(2e-3,) * 3) for n in ("crank", "coupler", "rocker")]
    frames = [(j.X_PF, j.X_BM) for j in b_model.joints]
    b.joint("A", axis, b.world, bodies[0], *frames[0])
    b.joint("B", axis, bodies[0], bodies[1], *frames[1])
    b.joint("C", axis, bodies[1], bodies[2], *frames[2])
    b.joint("loop", axis, b.world, bodies[2], *frames[3])
    b.add(ub.PrescribedJoint("A", lambda t: rate * t), name="turning")
    b.add(ub.PrescribedJoint("B", 0.0), name="still")
    b.add(ub.PrescribedJoint("C", 0.0), name="too")
    rec = ub.Simulation(b.build(), "redmax", dt=1e-3).run(0.003)
    assert any("contradict each other" in note and "turning" in note for note in rec.reports[-1].notes)
