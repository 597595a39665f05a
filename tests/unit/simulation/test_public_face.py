"""Whatever is given to a Simulation by mistake is refused in one line, before anything moves; what it held before stays."""

from __future__ import annotations

import numpy as np
import pytest
from test_copies import DT, begun, crane, rubbing_ball

import unibody as ub
from unibody.solvers import REGISTRY

NO_STEP = (-1e-3, 0.0, -0.0, np.nan, np.inf, -np.inf, 1e-300, 1e300, "fast", None, [1e-3, 1e-3], 1j, 10**400, {}, object())

solvers = pytest.mark.parametrize("name", list(REGISTRY))


def fresh(name: str) -> ub.Simulation:
    """One that may be spoilt: the solver is bound once for all tests."""
    sim = begun(REGISTRY[name](), crane)
    assert sim is not None
    twin = ub.Simulation.__new__(ub.Simulation)
    twin.__dict__.update(sim.__dict__, _control=sim.control.copy())
    return twin


def one_line(error: pytest.ExceptionInfo) -> None:
    assert "\n" not in str(error.value) and len(str(error.value)) < 500


@solvers
def test_step_lengths_are_checked_wherever_they_come_from(name):
    sim = fresh(name)
    for dt in NO_STEP:
        with pytest.raises(ub.ModelError, match="dt") as error:
            sim.dt = dt
        one_line(error)
        if dt is not None:  # which asks a new simulation for its own
            with pytest.raises(ub.ModelError, match="dt") as error:
                ub.Simulation(sim.model, name, dt)
            one_line(error)
        if isinstance(dt, float):
            with pytest.raises(ub.ModelError):
                sim.bound.step(sim.state, sim._memory, sim.control.flat, dt)
    assert sim.dt == DT
    t = sim.state.t
    for dt in (1, np.float64(1e-3), "0.001"):
        sim.dt = dt
        assert type(sim.dt) is float
    sim.step()
    assert sim.state.t == t + 1e-3


@solvers
def test_single_steps_look_at_the_control_as_runs_do(name):
    for spoil, says in (
        (lambda c: c.effort.__setitem__(0, np.nan), "not finite"), (lambda c: c.wrench.__setitem__((1, 2), np.inf), "not finite"),
        (lambda c: setattr(c, "flat", np.zeros(3)), "this model needs"), (lambda c: setattr(c, "flat", [0.0] * 3), "this model needs"),
        (lambda c: setattr(c, "flat", np.zeros(c.flat.size, np.float32)), "this model needs"),
        (lambda c: setattr(c, "flat", np.zeros((c.flat.size, 1))), "this model needs"), (lambda c: c.set_target("winch", np.inf), "finite"),
    ):  # fmt: skip
        for act in (lambda sim: sim.step(), lambda sim: sim.run(2 * DT), lambda sim: sim.run(2 * DT, control=lambda t, s, c: None)):
            sim = fresh(name)
            state, memory = sim.state, sim._memory
            with pytest.raises(ub.ModelError, match=says) as error:
                spoil(sim.control)
                act(sim)
            one_line(error)
            assert sim.state is state and sim._memory is memory
    sim = fresh(name)
    for wrong in (None, 5, "control", np.zeros(4), {"effort": 1.0}):
        with pytest.raises(ub.ModelError, match="is not a Control"):
            sim.control = wrong
        if wrong is not None:
            with pytest.raises(ub.ModelError, match="is not a Control"):
                ub.Simulation(sim.model, name, DT, control=wrong)
    sim.control = ub.Control(ub.scenes.build("pendulum"))
    with pytest.raises(ub.ModelError, match="this model needs"):
        sim.step()


@solvers
def test_states_are_checked_and_steps_go_on_from_them(name):
    sim = fresh(name)
    good = sim.state
    q, v, how = good.q, good.v, good.coordinates
    for state, says in (
        (ub.State(0.0, q * np.nan, v, how), "finite"), (ub.State(np.nan, q, v, how), "finite"),
        (ub.State(0.0, q, np.full(v.shape, np.inf), how), "finite"),
        (ub.State(0.0, q[:-1], v, how), ""), (ub.State(0.0, q, np.zeros(0), how), ""), (ub.State(0.0, np.zeros((2, 2)), v, how), ""),
        (ub.State(0.0, np.zeros(99), v, "maximal"), ""), (ub.State("now", q, v, how), "not a number"),
        (ub.State(None, q, v, how), "not a number"),
        ("start", "not a State"), (5, "not a State"), ((0.0, q, v), "not a State"),
    ):  # fmt: skip
        for act in (lambda s: setattr(sim, "state", s), sim.reset, lambda s: ub.Simulation(sim.model, name, DT, state=s)):
            with pytest.raises(ub.ModelError, match=says) as error:
                act(state)
            one_line(error)
        assert sim.state is good
    with pytest.raises(ub.ModelError, match="reset"):
        sim.state = None
    sim = ub.Simulation(sim.model, name, DT, assemble=False)  # at 3 s drives are elsewhere
    sim.state = ub.State(3.0, q, v, how)
    assert sim.state.t == 3.0 and sim.report.status == "start"
    np.testing.assert_allclose(sim.state.q, q, atol=1e-9)
    sim.step()
    assert sim.state.t == 3.0 + DT
    for wrong in ({"q": q}, "abc", object()):
        with pytest.raises(ub.ModelError):
            ub.State(0.0, wrong, v, how)


def test_durations_and_strides_are_checked():
    sim = fresh("articulated")
    for duration in (-1.0, np.nan, np.inf, "long", None, 1e300, 10**400, 1e-4, [1.0, 2.0]):
        with pytest.raises(ub.ModelError) as error:
            sim.run(duration)
        one_line(error)
    for every in (0, -1, 1.5, np.nan, np.inf, "two", None, 1e300, [1, 2]):
        with pytest.raises(ub.ModelError, match="every") as error:
            sim.run(2 * DT, every=every)
        one_line(error)
    for control in (5, "push", np.zeros(3), ub.Control(sim.model)):
        with pytest.raises(ub.ModelError, match="is not a function"):
            sim.run(2 * DT, control=control)
    assert len(sim.run(4 * DT, every=2**40)) == 1 and len(sim.run(4 * DT, every=2.0)) == 3 and len(sim.run(0.0)) == 1


@solvers
def test_bound_solvers_refuse_arrays_of_other_sizes(name):
    """Kernels would read beyond their ends."""
    sim = fresh(name)
    bound, state, memory, control = sim.bound, sim.state, sim._memory, sim.control.flat
    good = (state, memory, control)
    other = begun(REGISTRY["penalty"](), rubbing_ball).state
    for args in (
        (state, memory[:-1], control), (state, np.zeros(0), control), (state, memory, control[:-1]), (state, memory, np.zeros(0)),
        (state, memory.astype(np.float32), control), (state, list(memory), control), (state, memory, list(control)),
        (other, memory, control),
        (ub.State(0.0, state.q[1:], state.v, state.coordinates), memory, control),
    ):  # fmt: skip
        for act in (lambda a: bound.step(*a, DT), lambda a: bound.rollout(*a, DT, 2), bound_observe(bound)):
            with pytest.raises(ub.ModelError) as error:
                act(args)
            one_line(error)
    for steps, every in ((-1, 1), (2, 0), (2, -1)):
        with pytest.raises(ub.ModelError, match="rollout"):
            bound.rollout(*good, DT, steps, every)
    assert bound.rollout(*good, DT, 2, 1)[3] == 2


def bound_observe(bound):
    return lambda args: bound.observe(*args)
