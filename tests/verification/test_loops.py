"""Closed loops stay closed, redundant constraints are named, and a start that violates its constraints assembles itself."""

from __future__ import annotations

import numpy as np
import pytest
from running import SOLVERS, run

import unibody as ub

solvers = pytest.mark.parametrize("solver", SOLVERS)

LOOPS = {
    "four-bar": {"rate": 4.0},
    "spatial-four-bar": {"rate": 4.0},
    "n-four-bar": {},
    "closed-ring": {},
    "slider-crank": {"rate": 5.0},
    "catenary": {},
    "peaucellier": {},
    "bennett": {},
    "bricard": {},
}


@solvers
@pytest.mark.parametrize("name", LOOPS)
def test_loop_is_closed_to_a_micrometre_after_ten_seconds(name, solver):
    """At 1 ms with the stabilisation that a user gets without asking."""
    rec = ub.Simulation(ub.scenes.build(name, **LOOPS[name]), solver=solver, dt=1e-3).run(10.0, every=500)
    # The project's bound for loops; feedback alone leaves h² times accelerations of some 10 m/s², projection leaves round-off.
    assert rec.violation.max() < 1e-6
    assert np.isfinite(rec.q).all()


@solvers
@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "peaucellier", "bennett", "bricard", "catenary", "closed-ring"])
def test_loop_keeps_its_energy_while_it_moves(name, solver):
    given = {"slider-crank": {"rate": 5.0}, "catenary": {"start": "vee"}}.get(name, {})
    rec = run(ub.scenes.build(name, **given), solver, "rk4", 1e-3, 2.0, every=100)
    moved = np.ptp(rec.energy.kinetic)
    # Order 4 at 1 ms and some rad/s (a whipping chain: some tens); `moved` went from potential to kinetic energy.
    assert moved > 0.1 and np.ptp(rec.energy.total) < (1e-3 if name == "catenary" else 1e-5) * moved


@solvers
@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "spatial-four-bar"])
def test_semi_implicit_euler_feeds_loops_no_energy(name, solver):
    """Ten seconds of turning over at 1 ms: the energy may swing about the truth by some h ω, and must not gain h ω² a second."""
    rec = run(ub.scenes.build(name, rate=5.0), solver, "semi-implicit", 1e-3, 10.0, every=100)
    # h max|V'| ω / 2 ≈ 1e-3 · 10 W: some percent of the kinetic energy, and not growing.
    assert np.abs(rec.energy.total - rec.energy.total[0]).max() < 0.1 * rec.energy.kinetic.max()


@solvers
@pytest.mark.parametrize("name", ["bennett", "bricard"])
def test_overconstrained_loop_follows_its_closed_form(name, solver):
    scene = ub.scenes.make(name)
    rec = run(scene.model, solver, "rk4", 1e-3, 1.0, every=100)
    coordinate, _ = scene.exact.motion.solve(rec.t)
    angles = np.unwrap([scene.exact.shape.angles(x) for x in coordinate], axis=0)
    for k in range(angles.shape[1] - 1):
        # Order 4 at some rad/s and 1 ms; the reference is good to 1e-9.
        np.testing.assert_allclose(np.unwrap(rec.joint(f"R{k + 1}")[:, 0]), angles[:, k], atol=1e-6)


@solvers
@pytest.mark.parametrize(
    ("name", "mobility"),
    [("four-bar", 1), ("slider-crank", 1), ("peaucellier", 1), ("closed-ring", 6), ("spatial-four-bar", 1), ("bennett", 1), ("bricard", 1)],
)
def test_redundant_rows_follow_from_mobility(name, mobility, solver):
    """Freedoms of the open tree − independent rows = mobility, so redundant = rows − (freedoms − mobility), and they belong to the loop."""
    model = ub.scenes.build(name)
    moves = 3 if model.planar else 6
    rows = sum(moves - j.nv for j in model.loop_joints)
    expected = rows - (model.nv - mobility)
    report = ub.Simulation(model, solver=solver, dt=1e-3).run(0.01, every=10).reports[-1]
    assert report.redundant == expected
    assert bool(report.redundant_names) == (expected > 0)
    # Every joint of such a loop takes part in what is forbidden twice; a solver whose tree joints are no constraints names the closing one.
    around = {j.name for j in model.joints}
    assert set(report.redundant_names) <= around
    if expected:
        assert {j.name for j in model.loop_joints} <= set(report.redundant_names)


@pytest.mark.parametrize(("name", "given"), [("binary-tree", {"height": 3}), ("closed-ring", {"n": 8})])
@pytest.mark.parametrize("planar", [True, False])
def test_blocks_at_one_place_assemble_themselves(name, given, planar):
    """Paper 001 §5: all blocks start at the origin, joints violated by up to 4 m, dt = 0.01 s; a few hundred steps pull them together."""
    model = ub.scenes.build(name, start="zero", planar=planar, **given)
    rec = ub.Simulation(model, solver="lagrange", dt=0.01, assemble=False).run(5.0, every=50)
    assert rec.violation[0] > 1.0
    # From metres to the bound for closed loops.
    assert rec.violation[-1] < 1e-6
    assert np.isfinite(rec.energy.total).all()


@solvers
def test_four_bar_started_off_its_loop_is_pulled_together(solver):
    """The rocker starts 0.05 rad off: the loop closes, and the crank's motion goes on."""
    scene = ub.scenes.make("four-bar")
    b = ub.Builder(planar=True)
    bars = {name: b.body(name, mass=1.0, inertia=(0.01, 0.05, 0.05)) for name in ("crank", "coupler", "rocker")}
    lengths = {"crank": 0.3, "coupler": 0.9, "rocker": 0.7}
    A, B, D = scene.exact.shape.points(1.0)
    hinge = ub.Revolute(axis=(0, -1, 0))
    end = {name: ub.Pose(p=(0.5 * length, 0, 0)) for name, length in lengths.items()}
    foot = {name: ub.Pose(p=(-0.5 * length, 0, 0)) for name, length in lengths.items()}
    along = float(np.arctan2(*(B - A)[[2, 0]]))
    b.joint("O", hinge, b.world, bars["crank"], X_BM=foot["crank"], q=1.0)
    b.joint("A", hinge, bars["crank"], bars["coupler"], end["crank"], foot["coupler"], q=along - 1.0)
    b.joint("D", hinge, b.world, bars["rocker"], ub.Pose(p=D), foot["rocker"], q=float(np.arctan2(*(B - D)[[2, 0]])) + 0.05)
    b.joint("B", hinge, bars["coupler"], bars["rocker"], end["coupler"], end["rocker"])
    rec = ub.Simulation(b.build(), solver=solver, dt=1e-3, assemble=False).run(1.0, every=100)
    assert rec.violation[0] == pytest.approx(0.7 * 0.05, rel=0.1)  # an arc of the rocker
    assert rec.violation[-1] < 1e-6
