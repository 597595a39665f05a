"""Contact by penalty forces against closed forms: depth, creep, sliding, rolling, what hinges carry beside it, and what is conserved."""

from __future__ import annotations

import numpy as np
import pytest
from running import momenta

import unibody as ub
from unibody.solvers import Penalty
from unibody.solvers.penalty.solver import RULES

G, THETA = 9.81, 0.4
rules = pytest.mark.parametrize("rule", RULES)


def on_slope(friction: float, shape: ub.Shape | None = None) -> ub.Model:
    b = ub.Builder(gravity=(G * np.sin(THETA), 0, -G * np.cos(THETA)))
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("block", shape=shape or ub.Box((0.2, 0.2, 0.2)), mass=2.0, X_WB=ub.Pose((0, 0, 0.1)))
    b.add(ub.Contact(friction=friction))
    return b.build()


@rules
def test_a_block_that_sticks_creeps_as_fast_as_is_said(rule: str) -> None:
    """Slip speed times tan θ/μ; and it is as deep as its weight over α Ω², a quarter at each corner."""
    rec = ub.Simulation(on_slope(0.8), Penalty(rule=rule, alpha=3.0, omega=200.0, slip_speed=2e-3), dt=2e-3).run(0.2, every=50)
    assert rec.v[-1, 3] == pytest.approx(2e-3 * np.tan(THETA) / 0.8, rel=1e-5)
    weight = 2.0 * G * np.cos(THETA)
    assert rec.pose("block")[-1, 2] == pytest.approx(0.1 - weight / 4.0 / (3.0 * 200.0**2), rel=1e-6)
    last = rec.contacts[-1]
    assert last.normal_forces == pytest.approx(np.full(4, weight / 4.0), rel=0.5) and last.normal_forces.sum() == pytest.approx(weight)
    assert not last.sliding.any() and last.friction.sum(axis=0) == pytest.approx([-2.0 * G * np.sin(THETA), 0, 0], abs=1e-5)
    assert "creeps" in rec.reports[-1].notes[-1]


@rules
def test_a_block_slides_with_coulombs_acceleration(rule: str) -> None:
    """After n steps of this rule v = n h a, to round-off once it has settled; |f| = μ p at every contact."""
    sim = ub.Simulation(on_slope(0.2), Penalty(rule=rule), dt=2e-3)
    rec = sim.run(0.2, every=50)
    a = G * (np.sin(THETA) - 0.2 * np.cos(THETA))
    assert np.diff(rec.v[:, 3])[1:] == pytest.approx(0.1 * a, rel=1e-6) and rec.v[-1, 3] == pytest.approx(0.2 * a, rel=5e-3)
    last = rec.contacts[-1]
    assert np.linalg.norm(last.friction, axis=1) == pytest.approx(0.2 * last.normal_forces, rel=1e-6) and last.sliding.all()
    e = rec.energy
    assert e.total - e.damper_work == pytest.approx(np.full(3, e.total[0]), abs=0.05 * abs(e.damper_work[-1]))


@rules
def test_a_ball_rolls(rule: str) -> None:
    rec = ub.Simulation(on_slope(0.5, ub.Sphere(0.1)), Penalty(rule=rule), dt=2e-3).run(0.2, every=100)
    assert rec.twist("block")[-1, 3:] == pytest.approx([5 / 7 * G * np.sin(THETA) * 0.2, 0, 0], rel=5e-3, abs=1e-3)


@rules
def test_a_rod_rests_on_its_hinge_and_on_the_ground(rule: str) -> None:
    """Half of its weight on either, whatever α; the reaction is that of the step that ended."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    rod = b.body("rod", mass=3.0, inertia=(0.3, 0.3, 0.3), shape=ub.Sphere(0.1), X_WB=ub.Pose((1.0, 0, 0.1)), com=(-0.5, 0, 0))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, rod, X_PF=ub.Pose((0, 0, 0.1)), X_BM=ub.Pose((-1.0, 0, 0)))
    b.add(ub.Contact())
    rec = ub.Simulation(b.build(), Penalty(rule=rule), dt=2e-3).run(0.1, every=25)
    assert rec.contacts[-1].normal_forces == pytest.approx([1.5 * G], rel=1e-4)
    assert rec.constraint_wrench("hinge")[-1, 3:] == pytest.approx([0, 0, 1.5 * G], abs=1e-3)


@rules
def test_limits_loops_and_contact_act_together(rule: str) -> None:
    """A flap between its stop and nothing, a ball held twice on a line, a third on the ground: each as if alone, and nothing pulls."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.1), mass=2.0, X_WB=ub.Pose((3, 0, 0.101)))
    flap = b.body("flap", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, flap, X_PF=ub.Pose((0, 0, 2)), X_BM=ub.Pose((-0.5, 0, 0)), q=0.29, limits=(-1.0, 0.3))
    held = b.body("held", mass=1.0, inertia=(1, 1, 1), X_WB=ub.Pose((0, 3, 1)))
    b.add(ub.FixedPoint(held.at(), (0, 3, 1)), name="pin")
    b.add(ub.Contact())
    rec = ub.Simulation(b.build(), Penalty(rule=rule, alpha=4.0, omega=100.0), dt=2e-3).run(0.3, every=10)
    assert rec.pose("ball")[-1, 2] == pytest.approx(0.1 - 2.0 * G / 4e4, abs=1e-6)
    assert min(c.normal_forces.min(initial=0.0) for c in rec.contacts) >= 0.0 and rec.multiplier("hinge.limit").min() >= 0.0
    assert rec.multiplier("hinge.limit")[-1].max() == pytest.approx(0.5 * G * np.cos(0.3), rel=1e-2)
    assert rec.multiplier("pin")[-1] == pytest.approx([0, 0, G], abs=1e-4)


@rules
def test_collisions_keep_momentum_and_take_energy(rule: str) -> None:
    b = ub.Builder(gravity=None)
    for k, x in enumerate((-0.15, 0.0, 0.16)):
        b.body(f"ball{k}", shape=ub.Sphere(0.07), mass=1.0 + k, X_WB=ub.Pose((x, 0.02 * k, 0)), V_WB=(0, 3.0, 1.0, 1.0 - k, 0, 0.1))
    b.add(ub.Contact(friction=0.4))
    rec = ub.Simulation(b.build(), Penalty(rule=rule), dt=1e-3).run(0.1, every=5)
    assert sum(len(c) > 0 for c in rec.contacts) > 2
    for momentum in momenta(rec):
        assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert rec.energy.kinetic[-1] < 0.95 * rec.energy.kinetic[0]
    for c in rec.contacts:
        assert (np.linalg.norm(c.friction, axis=1) <= 0.4 * c.normal_forces * (1.0 + 1e-6)).all()


def test_steps_depend_on_their_inputs_only() -> None:
    model = on_slope(0.5)
    runs = [ub.Simulation(model, Penalty(), dt=2e-3) for _ in range(2)]
    runs[0].run(0.02)
    for _ in range(10):
        runs[1].step()
    assert runs[0].state.q.tobytes() == runs[1].state.q.tobytes() and runs[0].state.v.tobytes() == runs[1].state.v.tobytes()


def resting_ball(mu: float, turn: float, steps: int) -> tuple[float, ub.Recording]:
    """Where a ball that rests goes under the explicit rule with Ω h = turn; and the largest step that is said, times Ω."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 0.1)))
    b.add(ub.Contact())
    omega = 100.0
    model, solver = b.build(), Penalty(rule="semi-implicit", omega=omega, mu=mu)
    return omega * solver.bind(model).largest_dt(), ub.Simulation(model, solver, dt=turn / omega).run(steps * turn / omega)


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
def test_contact_limits_the_explicit_step_as_a_limit_does(mu: float) -> None:
    """Ω h < 2 (√(1 + μ²) − μ): a ball at rest stays within half of that (damped enough; else it hops by some g h²), and is thrown up
    beyond."""
    limit = 2.0 * (np.sqrt(1.0 + mu**2) - mu)
    said, rec = resting_ball(mu, 0.5 * limit, 200)
    assert said == pytest.approx(limit, rel=1e-12)
    rest = G / (1000.0 * 100.0**2)  # m g over α Ω² with α = 1000 m
    hops = 0.0 if mu >= 1.0 else 2.0 * G * (0.5 * limit / 100.0) ** 2
    assert rec.pose("ball")[-1, 2] == pytest.approx(0.1 - rest, abs=1e-3 * rest + hops)
    assert "exceeds" not in rec.reports[-1].notes[0]
    try:
        _, rec = resting_ball(mu, 1.5 * limit, 50)
    except ub.StepFailed as failed:  # nothing explains its energy
        assert failed.report.status == "unexplained energy"
        rec = failed.recording
    else:
        assert rec.pose("ball")[:, 2].max() > 0.1 + 100.0 * rest
    assert "which this step exceeds" in rec.reports[-1].notes[0]


def test_a_ball_settles_up_to_the_step_at_which_an_impact_would_not_slow_it() -> None:
    """An impact that ends the step θ w h deep turns a speed w into (2 Ω h μ − 1 + θ (Ω h)²) w, less than w for all θ ≤ 1 while
    Ω h < √(2 + μ²) − μ; beyond, it hops by some g h²."""
    least = np.sqrt(3.0) - 1.0
    rest = G / (1000.0 * 100.0**2)
    assert resting_ball(1.0, 0.98 * least, 200)[1].pose("ball")[-1, 2] == pytest.approx(0.1 - rest, abs=1e-3 * rest)
    hopping = resting_ball(1.0, 1.02 * least, 400)[1].pose("ball")[-20:, 2] - 0.1
    assert rest < np.abs(hopping).max() < 5.0 * G * (1.02 * least / 100.0) ** 2


@pytest.mark.parametrize("law", [{"restitution": 0.5}, {"damping": 0.1}, {"torsion": 0.01}, {"friction": 0.1, "static": 0.2}])
def test_laws_that_are_no_penalties_are_refused_by_name(law: dict) -> None:
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("block", shape=ub.Box((0.2, 0.2, 0.2)), mass=2.0, X_WB=ub.Pose((0, 0, 0.1)))
    b.add(ub.Contact(**law), name="rough")
    with pytest.raises(ub.Unsupported, match=f"'rough'.*{list(law)[-1]}"):
        Penalty().bind(b.build())
