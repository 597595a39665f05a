"""The fully implicit rules of `redmax` with deformables: order, energy, momentum, stability, what is held, agreement with `barrier`."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import unibody as ub
from verification.soft_meshes import block
from verification.test_redmax_deformables import FLESH, RUBBER, G, limb, machine, mixed, momenta, run, shaken, spinning

RULES = {"implicit": 1, "bdf2": 2}
"""And their orders."""

rules = pytest.mark.parametrize("rule", RULES)
SOFT = ub.CoRotated(young=1e4, poisson=0.3, damping=2e-3)
"""Whose slowest and loudest waves steps of 2 ms resolve."""


@rules
def test_a_solid_without_bodies_falls_as_the_rule_says(rule: str) -> None:
    """BDF2, started by SDIRK2, is exact for a motion of second degree; implicit Euler is ahead of it by −g h t / 2."""
    b = ub.Builder()
    b.soft("cube", block((0.1, 0.1, 0.1), (1, 1, 1)), RUBBER, density=1000.0, V_WB=(1.0, 2.0, 3.0, 0.5, 0.0, 0.0))
    rec = run(b, 0.2, 0.01, rule=rule)
    m, t = rec.model.deformable("cube").mass, rec.t
    centre = np.einsum("n,tni->ti", m / m.sum(), rec.vertices("cube"))
    late = 0.01 * t if rule == "implicit" else 0.0
    exact = 0.5 * t[:, None] * np.array([1.0, 0.0, 0.0]) - 0.5 * G * (t**2 + late)[:, None] * np.array([0.0, 0.0, 1.0])
    assert np.abs(centre - exact).max() < 1e-12


@rules
def test_momentum_of_a_solid_alone_is_kept(rule: str) -> None:
    """Linear momentum to round-off of a thousand steps' sums; angular momentum in the order of the rule: (ω h)^p is 7e-3 and 5e-5."""
    b = ub.Builder(gravity=None)
    b.soft("bar", ub.TetMesh.box((0.4, 0.1, 0.1), cells=(4, 1, 1)), FLESH, density=1000.0, V_WB=(1.0, 2.0, 3.0, 0.5, 0.0, 0.0))
    model, lost = b.build(), []
    for dt in (2e-3, 1e-3):
        linear, angular = momenta(run(model, 0.1, dt, rule=rule))
        assert np.abs(linear - linear[0]).max() < 1e-12
        lost.append(np.linalg.norm(angular[-1] - angular[0]) / np.linalg.norm(angular[0]))
    assert lost[1] < (0.6, 0.35)[RULES[rule] - 1] * lost[0] < (4e-3, 1e-4)[RULES[rule] - 1]


@rules
def test_momentum_of_a_limb_that_floats_is_kept_in_the_order_of_the_rule(rule: str) -> None:
    """Joint velocities are the unknowns, whose differences are those of momenta in the order of the rule only: half the step leaves a half
    or a quarter of the error, with springs between flesh and bones as well."""
    lost = []
    for dt in (2e-3, 1e-3):
        linear, angular = momenta(run(spinning(True), 0.1, dt, rule=rule))
        scale = np.linalg.norm(angular[0])
        lost.append([np.abs(linear - linear[0]).max(), np.linalg.norm(angular[-1] - angular[0]) / scale])
    assert (np.array(lost[1]) < (0.6, 0.35)[RULES[rule] - 1] * np.array(lost[0])).all()


@rules
def test_order_of_the_rule_on_a_limb(rule: str) -> None:
    """Half the step leaves a half, or a quarter, of the difference from steps of 1/8 ms by BDF2, at all times; 1/8 ms itself takes
    (1/4)² of the last difference from BDF2, so that its ratio seems up to 4.3."""
    model = limb(SOFT, springs=True, cells=(4, 2, 2)).build()

    def course(dt: float, rule: str) -> np.ndarray:
        return run(model, 0.08, dt, rule=rule).vertices("arm")[:: round(4e-3 / dt)]

    reference = course(1.25e-4, "bdf2")
    off = np.array([np.abs(course(dt, rule) - reference).max() for dt in (2e-3, 1e-3, 5e-4)])
    order = np.log2(off[:-1] / off[1:])
    assert (np.abs(order - RULES[rule]) < 0.15).all()
    assert off[0] < (2e-3, 5e-5)[RULES[rule] - 1]


@rules
def test_the_rules_of_barrier_agree_in_their_order(rule: str) -> None:
    """Rotations of bodies are discretised otherwise there, damping takes the stiffness of the last step: differences fall in the order."""
    model, apart = limb(SOFT, springs=True, cells=(4, 2, 2)).build(), []
    for dt in (2e-3, 1e-3):
        theirs = ub.Simulation(model, ub.solvers.Barrier(rule=rule, tolerance=1e-9), dt=dt).run(0.08)
        apart.append(np.abs(run(model, 0.08, dt, rule=rule).vertices("arm") - theirs.vertices("arm")).max())
    assert apart[1] < (0.55, 0.3)[RULES[rule] - 1] * apart[0] and apart[1] < 2e-5


def cantilever() -> ub.Model:
    """A beam of 0.4 m, one end of which is held."""
    b = ub.Builder(gravity=None)
    matter = ub.CoRotated(young=1e6, poisson=0.3)
    beam = b.soft("beam", ub.TetMesh.box((0.4, 0.1, 0.1), cells=(8, 2, 2)), matter, density=1000.0, X_WB=ub.Pose((0.2, 0, 0)))
    b.prescribe(beam.vertices[beam.vertices.x[:, 0] < 1e-9])
    return b.build()


def plucked(model: ub.Model, solver: ub.solvers.Solver) -> ub.Recording:
    """The beam set swinging along z with velocities in x², for 0.4 s."""
    state = ub.Simulation(model, solver, dt=2e-3).state
    x, v = model.deformable("beam").x0[model.free_vertices], np.array(state.v)
    swing = np.zeros_like(x)
    swing[:, 2] = 0.5 * (x[:, 0] / 0.4) ** 2
    v[v.size - swing.size :] = swing.ravel()
    return ub.Simulation(model, solver, dt=2e-3, state=replace(state, v=v)).run(0.4)


def test_a_swinging_cantilever_keeps_its_energy_by_bdf2() -> None:
    """A period of 0.24 s, ω h = 0.052. Implicit Euler leaves (1 + ω² h²)⁻²⁰⁰ = 0.58 of the energy of that mode, and less of higher ones;
    BDF2 takes ω⁴ h⁴ / 2 a step or so, 0.1 % of that mode, and what higher modes have: 4 %. Without bodies that turn and without damping
    `barrier` solves the same equations of implicit Euler."""
    model = cantilever()
    kept, courses = {}, {}
    for rule in RULES:
        rec = plucked(model, ub.solvers.RedMax(rule=rule))
        energy = rec.energy.kinetic + rec.energy.elastic
        kept[rule], courses[rule] = energy[-1] / energy[0], rec.vertices("beam")
    assert 0.5 < kept["implicit"] < 0.58 and 0.94 < kept["bdf2"] < 1.0
    theirs = plucked(model, ub.solvers.Barrier(rule="implicit", tolerance=1e-9))
    assert np.abs(courses["implicit"] - theirs.vertices("beam")).max() < 1e-8


@rules
@pytest.mark.parametrize("law", [ub.CoRotated, ub.NeoHookean, ub.StVK])
def test_any_stiffness_is_stable_at_a_hundredth_of_a_second(law: type, rule: str) -> None:
    """1e3 … 1e12 Pa, a limb that falls and swings for half a second: what there is of energy never exceeds that of the start by more than
    what BDF2 may gain while it damps (1 % of the weight's work), and stiff flesh keeps its length of 0.4 m and half its height."""
    for young in (1e3, 1e5, 1e7, 1e12):
        rec = run(limb(law(young=young, poisson=0.3)), 0.5, 1e-2, rule=rule)
        e = rec.energy
        total = e.kinetic + e.gravity + e.elastic
        assert (total < total[0] + 0.01 * np.ptp(e.gravity)).all()
        assert np.abs(rec.vertices("arm")).max() < (0.42 if young > 1e4 else 0.8)


@rules
def test_reactions_carry_what_hangs_on_them(rule: str) -> None:
    """The joint at the world bears the rate of all momentum less all weight, the attachments together that of the flesh, at the ends of
    steps: differences of momenta tell these rates to first order (backwards, implicit Euler) or second (central, BDF2)."""
    off = []
    for dt in (1e-3, 5e-4):
        rec, alone = run(limb(SOFT, springs=True), 0.05, dt, rule=rule), run(limb(SOFT), 0.05, dt, rule=rule)
        gravity, flesh = rec.model.gravity, rec.model.deformable("arm").mass
        joint, (whole, _) = rec.reaction("shoulder")[:, 3:], momenta(rec)
        held = alone.reaction("on upper").sum(axis=1) + alone.reaction("on lower").sum(axis=1)
        made = []
        for borne, p, mass in ((joint, whole, rec.model.total_mass), (held, flesh @ alone.velocities("arm"), flesh.sum())):
            rate = np.gradient(p, dt, axis=0) if rule == "bdf2" else np.diff(p, axis=0, prepend=p[:1]) / dt
            needed = rate - mass * gravity
            made.append(np.abs(borne - needed)[2:-1].max() / np.abs(needed).max())
        off.append(made)
    assert max(off[0]) < 2e-3
    assert (np.array(off[1]) < (0.6, 0.4)[RULES[rule] - 1] * np.array(off[0])).all()


@rules
def test_solids_cloth_and_rods_on_bodies_of_all_kinds_agree_with_barrier(rule: str) -> None:
    """A rod on a welded plate has the same equations there (implicit Euler); of the others, and by BDF2, which starts otherwise there,
    differences fall with the step, and so does that of what the driven body bears."""
    model, apart, borne = mixed(), [], []
    for dt in (2e-3, 1e-3):
        ours = run(model, 0.1, dt, rule=rule)
        theirs = ub.Simulation(model, ub.solvers.Barrier(rule=rule, tolerance=1e-9), dt=dt).run(0.1)
        apart.append([np.abs(ours.vertices(d.name)[-1] - theirs.vertices(d.name)[-1]).max() for d in model.deformables])
        borne.append(np.abs(ours.reaction("on hull")[-1].sum(axis=0) - theirs.reaction("on hull")[-1].sum(axis=0)).max())
        assert np.abs(ours.reaction("weld")[-1] - theirs.reaction("weld")[-1]).max() < (1e-9, 1e-4)[RULES[rule] - 1]
    assert (np.array(apart[1][:2]) < 0.5 * np.array(apart[0][:2])).all() and borne[1] < 0.5 * borne[0] < 0.5
    assert apart[1][0] < 5e-5 and apart[1][1] < 1e-2 and apart[1][2] < (1e-10, 1e-5)[RULES[rule] - 1]


@rules
def test_what_holds_vertices_holds_them_exactly_in_rollouts_steps_and_copies_alike(rule: str, tmp_path) -> None:
    """Prescribed vertices are where they are told to be, attached ones are points of their bodies; many steps, single ones, copies and
    checkpoints agree bit for bit."""
    b, side, motion = shaken()
    model, solver = b.build(), ub.solvers.RedMax(rule=rule)
    rolled, stepped = (ub.Simulation(model, solver, dt=1e-3) for _ in range(2))
    rec = rolled.run(0.04)
    assert all(np.array_equal(x[side], motion(t)) for t, x in zip(rec.t, rec.vertices("block"), strict=True))
    n = model.deformable("arm").n
    for a in (a for a in model.attachments if a.vertices.max() < n):
        poses = [ub.Pose(p[:3], p[3:]) for p in rec.pose(model.bodies[a.body].name)]
        there = np.array([p.p + a.p @ p.R.T for p in poses])
        assert np.abs(rec.vertices("arm")[:, a.vertices] - there).max() < 1e-14
    for _ in range(20):
        stepped.step()
    twin = copy(stepped)
    for sim in (stepped, twin):
        sim.run(0.02)
        assert np.array_equal(sim.state.q, rolled.state.q) and np.array_equal(sim.state.v, rolled.state.v)
    rec.save(tmp_path / "limb.npz")
    kept = ub.Recording.load(tmp_path / "limb.npz", model)
    assert np.array_equal(kept.vertices("arm"), rec.vertices("arm")) and np.array_equal(kept.reaction("shake"), rec.reaction("shake"))


@pytest.mark.parametrize("linear", ["direct", "pcg", "dense", "plain"])
def test_every_way_to_solve_gives_the_same(linear: str) -> None:
    """Corrections end at 1e-11 of the velocities, whoever solves for them."""
    model = limb(springs=True).build()
    ours, reference = (run(model, 0.02, rule="bdf2", linear=way) for way in (linear, "auto"))
    assert np.abs(ours.vertices("arm") - reference.vertices("arm")).max() < 1e-11


@rules
def test_loops_limits_drives_and_couplings_hold_with_flesh_on_them(rule: str) -> None:
    """The loop is closed, the tip follows the knuckle twice, the knuckle stops at its limit, the drive is where it is told to be: rows are
    held at the ends of steps, to where Newton's iteration ends."""
    rec = run(machine(), 0.3, 2e-3, rule=rule)
    drive, knuckle = rec.joint("drive")[:, 0], rec.joint("knuckle")[:, 0]
    assert np.abs(drive - 0.5 * np.sin(6.0 * rec.t) ** 2).max() < 1e-9
    assert np.abs(rec.joint("tip")[:, 0] - 2.0 * knuckle).max() < 1e-9
    assert 0.0999 < knuckle.max() < 0.1 + 1e-9
    assert rec.violation.max() < 1e-9


@rules
def test_an_iteration_without_end_is_told_by_name_and_loses_nothing(rule: str) -> None:
    """Rubber of which one side is pushed through the other within a step."""
    b = ub.Builder(gravity=None)
    cube = b.soft("cube", block((0.1, 0.1, 0.1), (2, 1, 1)), RUBBER, density=1000.0)
    x = cube.vertices.x[cube.vertices.x[:, 0] < -0.04]
    b.prescribe(cube.vertices[cube.vertices.x[:, 0] < -0.04], lambda t: x + (3.0 * t, 0.0, 0.0))
    b.prescribe(cube.vertices[cube.vertices.x[:, 0] > 0.04])
    sim = ub.Simulation(b.build(), ub.solvers.RedMax(rule=rule), dt=0.1)
    before = sim.state.q.copy()
    with pytest.raises(ub.StepFailed, match="'cube'.*inside out"):
        sim.step()
    assert sim.state.t == 0.0 and np.array_equal(sim.state.q, before)
    sim.dt = 1e-3
    sim.step()
    assert sim.state.t == 1e-3 and np.isfinite(sim.state.q).all()
