"""Running: what is recorded, what callbacks may do, what failures keep, and where work goes."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from simulation_parts import crane

import unibody as ub

SOLVERS = [name for name in ("articulated", "lagrange") if name in ub.solvers.REGISTRY]
solvers = pytest.mark.parametrize("solver", SOLVERS)


def wheel(**joint):
    """1 kg m² about y, without gravity."""
    b = ub.Builder(gravity=(0, 0, 0))
    body = b.body("wheel", mass=1.0, inertia=(1.0, 1.0, 1.0))
    b.joint("axle", ub.Revolute(axis=(0, 1, 0)), b.world, body, **joint)
    return b


@solvers
@pytest.mark.parametrize("every", [1, 3, 10, 1000])
def test_every_records_the_start_and_each_nth_step(every, solver):
    sim = ub.Simulation(wheel(v=1.0).build(), solver=solver, dt=1e-3)
    rec = sim.run(0.1, every=every)
    assert len(rec) == 1 + 100 // every
    np.testing.assert_allclose(rec.t, 1e-3 * every * np.arange(len(rec)), atol=1e-14)
    assert sim.state.t == pytest.approx(0.1, abs=1e-14) and rec.steps == 100
    assert len(rec.reports) == len(rec) and rec.reports[0].seconds == 0.0


@solvers
def test_stretches_single_steps_and_callbacks_give_the_same_bits(solver):
    model = crane()
    whole = ub.Simulation(model, solver=solver, dt=2e-3)
    rec = whole.run(0.1, every=10)
    pieces = ub.Simulation(model, solver=solver, dt=2e-3)
    for _ in range(20):
        pieces.step()
    pieces.run(0.02, every=7)
    asked = pieces.run(0.04, control=lambda t, state, control: None)
    np.testing.assert_array_equal(whole.state.q, pieces.state.q)
    np.testing.assert_array_equal(whole.state.v, pieces.state.v)
    assert whole.state.t == pieces.state.t
    np.testing.assert_array_equal(rec.v[-1], asked.v[-1])


@solvers
def test_control_function_is_called_before_every_step_with_the_state_of_that_time(solver):
    """v̇ = u, u = −10 v asked every 10 ms and held: v is multiplied by 1 − 10 h each step."""
    calls = []

    def brake(t, state, control):
        calls.append((t, float(sim.bound.observe(state, sim._memory, control.flat).joint_v[0])))
        control.set_effort("axle", -10.0 * calls[-1][1])

    sim = ub.Simulation(wheel(v=2.0).build(), solver=solver, dt=1e-2)
    rec = sim.run(0.2, control=brake, every=5)
    np.testing.assert_allclose([t for t, _ in calls], 1e-2 * np.arange(20), atol=1e-14)
    np.testing.assert_allclose(rec.joint_velocity("axle")[:, 0], 2.0 * 0.9 ** np.arange(0, 21, 5), rtol=1e-12)  # round-off


@solvers
def test_control_function_may_return_another_control(solver):
    def answer(t, state, control):
        out = control.copy()
        out.set_effort("axle", 3.0)
        return out

    rec = ub.Simulation(wheel().build(), solver=solver, dt=1e-2).run(0.1, control=answer)
    assert rec.joint_velocity("axle")[-1, 0] == pytest.approx(0.3, abs=1e-12)


@solvers
def test_motor_target_set_by_control_replaces_the_motors_own(solver):
    b = wheel()
    b.add(ub.Motor("axle", kp=100.0, kd=20.0, target=0.2), name="servo")
    sim = ub.Simulation(b.build(), solver=solver, dt=1e-3)
    # Critically damped at 10 rad/s: after 2 s only e⁻²⁰ · 21 of the way is left.
    assert sim.run(2.0, every=2000).joint("axle")[-1, 0] == pytest.approx(0.2, abs=1e-6)
    sim.control.set_target("servo", -0.7)
    assert sim.run(2.0, every=2000).joint("axle")[-1, 0] == pytest.approx(-0.7, abs=1e-6)


def test_exception_of_a_control_function_reaches_the_user():
    def broken(t, state, control):
        raise KeyError("my own fault")

    with pytest.raises(KeyError, match="my own fault"):
        ub.Simulation(wheel().build()).run(0.1, control=broken)


def explosion(t):
    """Finite at first, then not."""
    return 1.0 if t < 0.05 else math.inf


@solvers
def test_failed_step_keeps_the_recording_and_the_last_good_state(solver):
    b = wheel()
    b.add(ub.Motor("axle", effort=explosion), name="bomb")
    sim = ub.Simulation(b.build(), solver=solver, dt=1e-2)
    with pytest.raises(ub.StepFailed) as failure:
        sim.run(1.0, every=1)
    failed = failure.value
    assert failed.time == pytest.approx(0.05, abs=0.011) and failed.recording is not None
    assert len(failed.recording) in (5, 6) and np.isfinite(failed.recording.q).all()
    np.testing.assert_array_equal(sim.state.q, failed.recording.q[-1])
    assert failed.report.status != "ok" and sim.report is failed.report
    assert "\n" not in str(failed) and "bomb" in str(failed)


@solvers
def test_failed_step_of_diverging_numbers_names_an_element(solver):
    """A spring far too stiff for the step: the amplitude grows until numbers end."""
    b = ub.Builder(gravity=(0, 0, 0))
    body = b.body("block", mass=1.0, inertia=(1, 1, 1))
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, body, q=1.0, stiffness=1e12)
    with pytest.raises(ub.StepFailed) as failure:
        ub.Simulation(b.build(), solver=solver, dt=1e-2).run(10.0)
    failed = failure.value
    assert failed.element and failed.element in str(failed)
    assert failed.recording is not None and np.isfinite(failed.recording.v).all()


def test_progress_bar_is_silent_unless_on_a_terminal(capsys, monkeypatch):
    sim = ub.Simulation(wheel(v=1.0).build(), dt=1e-3)
    sim.run(0.1)
    assert capsys.readouterr() == ("", "")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    sim.run(0.1)
    assert "%" in screen.getvalue() and screen.getvalue().endswith("\r")  # drawn, then wiped
    silent = Terminal()
    monkeypatch.setattr("sys.stderr", silent)
    sim.run(0.1, progress=False)
    assert silent.getvalue() == ""


@solvers
@pytest.mark.parametrize(("rule", "order"), [("semi-implicit", 1), ("rk4", 4)])
def test_energy_changes_by_the_work_of_motors_dampers_and_applied_wrenches(solver, rule, order):
    """E(t) − E(0) = W_motor + W_damper + W_applied, to the order of the rule."""
    b = ub.Builder()
    upper = b.body("upper", mass=1.0, com=(0, 0, -0.4), inertia=(0.05, 0.06, 0.02))
    lower = b.body("lower", mass=0.8, com=(0, 0, -0.3), inertia=(0.04, 0.03, 0.02))
    b.joint("shoulder", ub.Universal(), b.world, upper, q=(0.4, 0.2), damping=0.1)
    b.joint("elbow", ub.Ball(), upper, lower, ub.Pose(p=(0, 0, -0.8)), v=(0.5, 1.0, -0.3), stiffness=0.5, damping=0.05)
    b.add(ub.Motor("shoulder", effort=0.8, kd=0.2, dof=1))
    b.add(ub.SpringDamper(lower.at(0, 0, -0.6), b.world.at(1, 0, -1), stiffness=8.0, damping=0.4, rest_length=0.5))
    b.add(ub.BodyDamping(lower, angular=0.02, linear=0.1))
    b.add(ub.AppliedWrench(lower, force=(0.5, -0.3, 0.2), torque=(0, 0.05, 0), at=(0, 0.1, -0.5), axes="body"))
    model = b.build()
    base = 4e-3 if order == 1 else 2e-2
    errors, sizes = [], None
    for h in (base, base / 2, base / 4):
        rec = ub.Simulation(model, solver=ub.solvers.REGISTRY[solver](rule=rule), dt=h).run(1.0, every=round(0.1 / h))
        e = rec.energy
        errors.append(np.abs(e.total - e.total[0] - e.motor_work - e.damper_work - e.applied_work).max())
        sizes = [np.ptp(w) for w in (e.motor_work, e.damper_work, e.applied_work)]
    assert sizes is not None and min(sizes) > 0.05  # each of the three matters
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    # Higher terms bend the slope at the coarsest step; a rule may do better than it promises.
    assert (slopes > order - 0.5).all(), errors
    assert errors[-1] < (0.02 if order == 1 else 1e-6)


@solvers
def test_dampers_only_take_and_work_of_control_is_counted(solver):
    sim = ub.Simulation(wheel(v=3.0, damping=0.5).build(), solver=ub.solvers.REGISTRY[solver](rule="rk4"), dt=1e-3)
    sim.control.set_effort("axle", 0.7)
    sim.control.set_wrench("wheel", (0, 0.2, 0, 0, 0, 0))
    e = sim.run(1.0, every=100).energy
    assert (np.diff(e.damper_work) < 0.0).all()
    # ω̇ = 0.9 − 0.5 ω: exact ω, and the works from it, ∫ 0.7 ω dt and ∫ 0.2 ω dt.
    t = np.linspace(0.0, 1.0, 11)
    angle = 1.8 * t + (3.0 - 1.8) * 2.0 * (1.0 - np.exp(-0.5 * t))
    np.testing.assert_allclose(e.motor_work, 0.7 * angle, atol=1e-9)
    np.testing.assert_allclose(e.applied_work, 0.2 * angle, atol=1e-9)
    np.testing.assert_allclose(e.total - e.total[0], e.motor_work + e.damper_work + e.applied_work, atol=1e-9)


def test_simulation_starts_from_a_given_state_of_any_coordinates():
    model = ub.scenes.build("double-pendulum")
    first = ub.Simulation(model, dt=1e-3)
    first.run(0.2, every=200)
    for solver in SOLVERS:
        # Coordinates are converted to round-off; the memory of works starts anew.
        there = ub.Simulation(model, solver=solver, dt=1e-3, state=first.state)
        assert there.state.t == first.state.t
        back = ub.Simulation(model, dt=1e-3, state=there.state)
        np.testing.assert_allclose(back.state.q, first.state.q, atol=1e-12)
        np.testing.assert_allclose(back.state.v, first.state.v, atol=1e-12)


def test_reprs_say_what_they_are():
    sim = ub.Simulation(ub.scenes.build("four-bar"), dt=1e-3)
    rec = sim.run(0.01)
    assert "articulated" in repr(sim) and "1 loop" in repr(sim.model) and "11 states" in repr(rec)
