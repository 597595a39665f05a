"""A step after which kinetic energy is larger than anything explains fails, names a body and loses nothing; sound motions pass."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.forces.base import Force
from unibody.solvers import REGISTRY

SOLVERS = sorted(REGISTRY)


def sprung(stiffness=1e5):
    """A mass of 1 kg on a spring, stretched by 0.1 m: ω = √k, energy k 0.1²/2."""
    b = ub.Builder(gravity=(0, 0, 0))
    m = b.body("bob", mass=1.0, inertia=(1, 1, 1), X_WB=ub.Pose(p=(0, 0, 1.1)))
    b.add(ub.SpringDamper(m.at(), b.world.at(), stiffness=stiffness, damping=0.0, rest_length=1.0))
    return b.build()


EXPLICIT = [
    ub.solvers.Articulated(), ub.solvers.Articulated(rule="rk4"), ub.solvers.Lagrange(), ub.solvers.Lagrange(rule="euler"),
    ub.solvers.Penalty(rule="semi-implicit"), ub.solvers.Complementarity(), ub.solvers.Impulse(),
]  # fmt: skip


@pytest.mark.parametrize("solver", EXPLICIT, ids=repr)
def test_an_explicit_rule_beyond_its_stable_step_fails_by_name_and_keeps_the_last_good_state(solver):
    """h ω = 3.5 is beyond 2 and 2.83, the limits of symplectic Euler and of RK4."""
    model, stiffness = sprung(), 1e5
    sim = ub.Simulation(model, solver, dt=3.5 / sqrt(stiffness))
    with pytest.raises(ub.StepFailed, match="near 'bob': kinetic energy is .* where forces, impacts and contact explain") as caught:
        sim.run(10.0)
    failed = caught.value
    assert failed.element == "bob" and failed.report.status == "unexplained energy"
    assert failed.recording.t[-1] <= failed.time + 1e-12
    # what is kept has at most EXCESS times the energy that is in the spring
    assert sim.observe().kinetic <= 100.0 * 0.5 * stiffness * 0.1**2
    assert failed.recording.steps == len(failed.recording.t) - 1


@pytest.mark.parametrize("solver, turn", [(ub.solvers.Articulated(rule="rk4"), 2.9), (ub.solvers.Lagrange(rule="euler"), 0.3)], ids=repr)
def test_a_compiled_run_ends_at_the_same_step_as_single_steps(solver, turn):
    """At h ω = 2.9 RK4 multiplies energies by 1.27 a step, at 0.3 explicit Euler by 1.09: the failure comes within a stretch."""
    model, dt = sprung(), turn / sqrt(1e5)
    run, alone = ub.Simulation(model, solver, dt), ub.Simulation(model, solver, dt)
    with pytest.raises(ub.StepFailed) as caught:
        run.run(10.0)
    with pytest.raises(ub.StepFailed) as again:
        for _ in range(10000):
            alone.step()
    assert caught.value.time == again.value.time > 5 * dt
    assert (run.state.q == alone.state.q).all() and (run.state.v == alone.state.v).all()


@pytest.mark.parametrize("solver", [ub.solvers.Articulated(), ub.solvers.Lagrange()], ids=repr)
def test_rough_but_stable_motion_passes(solver):
    """At h ω = 1.8 symplectic Euler's energy swings by (1 + hω/2)/(1 − hω/2) = 19, for ever; no more than that."""
    stiffness = 1e5
    rec = ub.Simulation(sprung(), solver, dt=1.8 / sqrt(stiffness)).run(20.0, every=10)
    assert rec.energy.total.max() <= 19.01 * 0.5 * stiffness * 0.1**2


@pytest.mark.parametrize("name", SOLVERS)
def test_a_step_that_makes_everything_faster_fails_in_every_solver(name, monkeypatch):
    """As if a method were wrong: after ten sound steps of a thrown body one multiplies its velocity by 16, its energy by 256."""
    b = ub.Builder()
    b.body("stone", mass=2.0, inertia=(0.1, 0.1, 0.1), V_WB=(0, 0, 1, 3, 0, 4))
    sim = ub.Simulation(b.build(), name, dt=1e-3)
    for _ in range(10):
        sim.step()
    before = sim.state
    bound, sound = sim.bound, sim.bound.step

    def wrong(*arguments):
        made = sound(*arguments)
        state = ub.State(made.state.t, made.state.q, 16.0 * made.state.v, made.state.coordinates)
        return type(made)(state, made.memory, made.report)

    monkeypatch.setattr(bound, "step", wrong)
    for _ in range(2):  # a failed step leaves no trace: it fails again
        with pytest.raises(ub.StepFailed, match="'stone'"):
            sim.step()
        assert sim.state is before
    monkeypatch.setattr(bound, "step", sound)
    assert sim.step().status == "ok"


@dataclass(frozen=True)
class Thruster(Force):
    """A user's force that books no work: along x of the body, growing with the speed if `gain` is positive."""

    body: Any
    push: float
    gain: float = 0.0

    def bodies(self):
        return [self.body]

    def apply(self, kinematics, loads):
        V = kinematics.twist(self.body)
        loads.add_wrench(self.body, np.zeros(3), np.array([self.push + self.gain * V[3], 0.0, 0.0]))


def rocket(**options):
    b = ub.Builder(gravity=(0, 0, 0))
    b.body("rocket", mass=1.0, inertia=(1, 1, 1))
    b.add(Thruster("rocket", **options))
    return b.build()


@pytest.mark.parametrize("solver", ["articulated", "lagrange", "redmax", "complementarity"])
def test_a_force_of_a_users_own_may_supply_any_energy(solver):
    """It has no books; v = F t / m = 5000 m/s."""
    rec = ub.Simulation(rocket(push=5e4), solver, dt=1e-3).run(0.1, every=100)
    assert rec.twist("rocket")[-1, 3] == pytest.approx(5e3, rel=1e-9)


@pytest.mark.parametrize("solver", ["articulated", "complementarity"])
def test_growth_that_no_step_resolves_is_seen_without_books(solver):
    """v̇ = λ v with h λ = 1: each step doubles it."""
    sim = ub.Simulation(rocket(push=1.0, gain=1e3), solver, dt=1e-3)
    with pytest.raises(ub.StepFailed, match="near 'rocket': velocities doubled"):
        sim.run(1.0)
    assert np.isfinite(sim.state.v).all() and abs(sim.state.v).max() < 1e6


def test_growth_that_steps_resolve_is_a_motion_like_any_other():
    """v̇ = λ v with h λ = 0.05 over 40 e-folds: the rule's own (1 + hλ)ⁿ."""
    rec = ub.Simulation(rocket(push=1.0, gain=50.0), "articulated", dt=1e-3).run(0.8, every=800)
    assert rec.twist("rocket")[-1, 3] == pytest.approx((1.05**800 - 1.0) / 50.0, rel=1e-9)


def test_what_is_driven_may_start_with_any_speed():
    """A crank at rest that its drive turns with 200 rad/s from the first step on."""
    b = ub.Builder()
    crank = b.body("crank", shape=ub.Box((1, 0.1, 0.1)), density=1000.0)
    b.joint("pin", ub.Revolute(axis=(0, 1, 0)), b.world, crank, X_BM=ub.Pose(p=(-0.5, 0, 0)))
    b.add(ub.PrescribedJoint("pin", lambda t: 200.0 * t, rate=lambda t: 200.0, acceleration=lambda t: 0.0))
    rec = ub.Simulation(b.build(), "redmax", dt=1e-3).run(0.05)
    assert rec.joint("pin")[-1] == pytest.approx(10.0, abs=1e-6)


@pytest.mark.parametrize("solver", ["articulated", "redmax", "complementarity"])
def test_motors_and_wrenches_explain_what_they_do(solver):
    """A hinge under a constant effort: ω = τ t / I."""
    b = ub.Builder(gravity=(0, 0, 0))
    wheel = b.body("wheel", mass=1.0, inertia=(0.5, 0.5, 0.5))
    b.joint("axle", ub.Revolute(axis=(0, 0, 1)), b.world, wheel)
    b.add(ub.Motor("axle", effort=500.0))
    rec = ub.Simulation(b.build(), solver, dt=1e-3).run(0.5, every=500)
    assert rec.twist("wheel")[-1, 2] == pytest.approx(500.0, rel=1e-9)


def test_what_was_parted_at_the_start_may_fall_from_where_it_then_stands():
    """A block begins a metre inside a pillar and is taken out at its top without speed, then a push lets it fall beside it."""
    b = ub.Builder()
    b.body("pillar", shape=ub.Box((1.0, 1.0, 4.0)), kind="static", X_WB=ub.Pose(p=(0, 0, 2.0)))
    b.body("block", shape=ub.Box((0.4, 0.4, 0.4)), density=500.0, X_WB=ub.Pose(p=(0.45, 0, 4.0)), V_WB=(0, 0, 0, 1.0, 0, 0))
    b.add(ub.Contact(friction=0.0))
    rec = ub.Simulation(b.build(), "complementarity", dt=5e-3).run(1.0, every=10)
    assert rec.pose("block")[-1, 2] < 2.0
