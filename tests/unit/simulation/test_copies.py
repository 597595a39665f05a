"""Copies and pickles of models, simulations, recordings and reports go on bit for bit, in this process and in others, in every solver and
time rule; a bound solver holds addresses, which never travel."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulation_parts import crane, gust, swing

import unibody as ub
from unibody.solvers import REGISTRY, Solver

cloudpickle = pytest.importorskip("cloudpickle")
HERE = Path(__file__).parent
DT = 2e-3


def all_choices() -> list[Solver]:
    """Every solver with every rule it knows."""
    return [made for cls in REGISTRY.values() for made in ([cls(rule=r) for r in cls.choices("rule")] or [cls()])]


def label(solver: Any) -> str:
    return f"{solver.name}:{getattr(solver, 'rule', 'default')}"


def rubbing_ball() -> ub.Model:
    """A ball that hits the ground with spin, beside a pendulum."""
    b = ub.Builder()
    ground = b.body("ground", shape=ub.Plane(), kind="static")
    ball = b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose(p=(0, 0, 0.1004)), V_WB=(0, 20.0, 0, 0.3, 0, -0.2))
    rod = b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("pin", ub.Revolute((0, 1, 0)), b.world, rod, ub.Pose(p=(2, 0, 2)), ub.Pose(p=(0, 0, 0.5)), q=1.0)
    b.add(ub.Contact(friction=0.4, between=(ball, ground)))
    return b.build()


def rubbing_joint() -> ub.Model:
    b = ub.Builder()
    rod = b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("pin", ub.Revolute((0, 1, 0)), b.world, rod, X_BM=ub.Pose(p=(0, 0, 0.5)), q=1.0, v=1.0)
    b.add(ub.JointFriction("pin", 0.2, radius=0.05, height=0.1))
    return b.build()


@cache
def begun(solver: Solver, make: Callable[[], ub.Model]) -> ub.Simulation | None:
    """A simulation that has gone some steps and remembers them, under a control; None where the solver refuses the model."""
    model = make()
    try:
        sim = ub.Simulation(model, solver, DT)
    except ub.Unsupported:
        return None
    sim.control.set_wrench(model.bodies[-1].name, (0.0, 0.01, 0.0, 0.1, 0.0, 0.0))
    sim.run(4 * DT)
    return sim


def both(solver: Solver) -> list[ub.Simulation]:
    sims = [begun(solver, make) for make in (crane, rubbing_ball, rubbing_joint)]
    return [sim for sim in sims if sim is not None]


def bits(recording: ub.Recording) -> tuple[Any, ...]:
    arrays = (recording.t, recording.q, recording.v, recording.energy.total, recording.energy.damper_work, recording.violation)
    last = [m.tobytes() for _, m in recording._rows]
    return *(a.tobytes() for a in arrays), *last, [r.notes for r in recording.reports]


WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "cloudpickle": lambda thing: pickle.loads(cloudpickle.dumps(thing)),
}

choices = pytest.mark.parametrize("solver", all_choices(), ids=label)


@choices
def test_copies_go_on_bit_for_bit_and_leave_the_original_alone(solver):
    for sim in both(solver):
        state, memory, control = sim.state, sim._memory.copy(), sim.control.flat.copy()
        results = {}
        for way, make in WAYS.items():
            twin = make(sim)
            twin.report = None  # an attribute of the copy alone
            results[way] = bits(twin.run(5 * DT))
            twin.control.flat[:] = np.nan
        assert sim.state is state and sim.report is not None
        np.testing.assert_array_equal(sim._memory, memory)
        np.testing.assert_array_equal(sim.control.flat, control)
        original = copy.deepcopy(sim)  # `sim` is shared between tests, so another twin goes on in its place, then it itself
        expected = bits(ub.Simulation.run(original, 5 * DT))
        assert all(found == expected for found in results.values()), [way for way, found in results.items() if found != expected]
        straight = ub.Simulation(sim.model, solver, DT)  # and all of that is what one run without any copy gives
        straight.control.flat[:] = sim.control.flat
        straight.run(4 * DT)
        assert bits(straight.run(5 * DT)) == expected


IN_ANOTHER_PROCESS = """
import pickle, sys
sims = pickle.load(open(sys.argv[1], "rb"))
done = [(sim.run(5 * sim.dt), sim) for sim in sims]
pickle.dump(done, open(sys.argv[2], "wb"))
"""


@pytest.mark.processes
def test_a_fresh_process_goes_on_bit_for_bit(tmp_path):
    """By pickle and by cloudpickle, in all solvers; the recordings come back the same way and derive the same."""
    sims = [sim for solver in all_choices() for sim in both(solver)]
    for way, dump in (("pickle", pickle.dumps), ("cloudpickle", cloudpickle.dumps)):
        sent, back = tmp_path / f"{way}.sent", tmp_path / f"{way}.back"
        sent.write_bytes(dump(sims if way == "pickle" else sims[::6]))
        done = subprocess.run([sys.executable, "-c", IN_ANOTHER_PROCESS, sent, back], cwd=HERE, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        for sim, (recording, there) in zip(sims if way == "pickle" else sims[::6], pickle.loads(back.read_bytes()), strict=True):
            twin = copy.copy(sim)
            assert bits(twin.run(5 * DT)) == bits(recording), (way, label(sim.solver))
            assert there.state.t == twin.state.t and there._memory.tobytes() == twin._memory.tobytes()


def work(name: str) -> ub.Recording:
    return ub.Simulation(rubbing_ball(), name, DT).run(3 * DT)


def fails(name: str) -> None:
    ub.Simulation(crane(force=too_late), name, DT).run(1.0)


def too_late(t: float) -> tuple[float, float, float]:
    if t > 2.5 * DT:
        raise RuntimeError("too late")
    return 0.0, 0.0, 0.0


@pytest.mark.processes
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools_of_processes_return_recordings_and_failures(method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.map(work, ["complementarity", "penalty"])
        with pytest.raises(ub.StepFailed, match="too late") as failed:
            pool.apply(fails, ("articulated",))
    for name, recording in zip(("complementarity", "penalty"), found, strict=True):
        assert bits(recording) == bits(work(name))
    assert failed.value.recording.t[-1] == pytest.approx(3 * DT) and failed.value.report.status != "ok"


def mutable_parts(thing: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """Arrays that can be written, lists, dictionaries and objects with attributes, as far as attributes and items lead."""
    if id(thing) in seen or isinstance(thing, type | str | bytes | float | int | bool | None) or callable(thing):
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        if thing.flags.writeable:
            yield thing
    elif isinstance(thing, tuple | list | dict):
        if not isinstance(thing, tuple):
            yield thing
        for item in thing.values() if isinstance(thing, dict) else thing:
            yield from mutable_parts(item, seen)
    elif hasattr(thing, "__dict__"):
        if not (is_dataclass(thing) and type(thing).__dataclass_params__.frozen):
            yield thing
        for item in vars(thing).values():
            yield from mutable_parts(item, seen)


@pytest.mark.parametrize("name", list(REGISTRY))
def test_a_deep_copy_shares_nothing_that_can_be_changed(name):
    sim = next(iter(both(REGISTRY[name]())))
    ours, theirs = {}, {}
    first, second = list(mutable_parts(sim, ours)), list(mutable_parts(copy.deepcopy(sim), theirs))
    assert len(first) > 20 and not {id(x) for x in first} & {id(x) for x in second}
    arrays = [x for x in second if isinstance(x, np.ndarray) and x.size]
    assert not any(np.may_share_memory(x, y) for x in first if isinstance(x, np.ndarray) and x.size for y in arrays)


def test_a_copied_model_is_read_only_and_builds_the_same(rng):
    model = ub.scenes.make("gripper").model  # its drive is a function of time, of which the model holds what elements made
    assert copy.copy(model) is model
    for make in list(WAYS.values())[1:]:
        twin = make(model)
        assert twin is not model and [j.name for j in twin.joints] == [j.name for j in model.joints]
        for body in twin.bodies:
            assert not body.com.flags.writeable and not body.inertia.flags.writeable
        assert not twin.gravity.flags.writeable and not twin.signals.flags.writeable
        first, second = (ub.Simulation(m, "complementarity", 1e-3).run(5 * DT) for m in (model, twin))
        assert bits(first) == bits(second)


def test_every_scene_of_the_house_pickles():
    for name in ub.scenes.names():
        model = ub.scenes.make(name).model
        twin = pickle.loads(pickle.dumps(model))
        assert [b.name for b in twin.bodies] == [b.name for b in model.bodies] and twin.nv == model.nv
        assert [f[:2] for f in twin.signal_functions] == [f[:2] for f in model.signal_functions]


def test_recordings_and_reports_survive():
    sim = copy.copy(begun(REGISTRY["complementarity"](), rubbing_ball))
    recording = sim.run(5 * DT)
    recording.run_by = "somebody"
    for way, make in WAYS.items():
        twin = make(recording)
        assert (twin.dt, twin.steps, twin.seconds) == (recording.dt, recording.steps, recording.seconds), way
        assert bits(twin) == bits(recording) and repr(twin) == repr(recording)
        assert make(sim.report) == sim.report and make(recording.reports[-1]) == recording.reports[-1]
        assert len(twin.contacts[-1]) == len(recording.contacts[-1]) > 0
        twin.append(twin.states[-1], twin._rows[-1][1], sim.control.flat)
        assert len(twin) == len(recording) + 1
    state = pickle.loads(pickle.dumps(sim.state))
    assert not state.q.flags.writeable and not copy.deepcopy(sim.state).v.flags.writeable
    seen = pickle.loads(pickle.dumps(sim.observe()))
    np.testing.assert_array_equal(seen.poses, sim.observe().poses)


def test_a_lambda_is_named_with_a_remedy_and_cloudpickle_takes_it():
    for target, force, name in ((lambda t: 0.1 * t, gust, "winch"), (swing, lambda t: (t, 0.0, 0.0), "AppliedWrench")):
        sim = ub.Simulation(crane(target, force), "articulated", DT)
        for thing in (sim, sim.model, sim.bound, sim.run(2 * DT), sim.control, [sim]):
            with pytest.raises(ub.ModelError, match=rf"{name}.*cannot be pickled.*Table.*cloudpickle") as error:
                pickle.dumps(thing)
            assert "\n" not in str(error.value)
        for make in (copy.copy, copy.deepcopy, WAYS["cloudpickle"]):
            twin = make(sim)
            assert bits(twin.run(3 * DT)) == bits(copy.copy(sim).run(3 * DT))
    table = ub.Table((0.0, 1.0), (0.0, 0.1))
    sim = ub.Simulation(crane(table), "articulated", DT)
    assert bits(WAYS["pickle"](sim).run(3 * DT)) == bits(sim.run(3 * DT))


def test_bodies_and_classes_that_cannot_go_are_named():
    b = ub.Builder()
    b.body("lift", kind="kinematic", motion=lambda t: ub.Pose(p=(0, 0, t)))
    with pytest.raises(ub.ModelError, match="body 'lift' cannot be pickled"):
        pickle.dumps(b.build())

    @dataclass(frozen=True)
    class Local(ub.Force):
        def bodies(self):
            return []

        def joints(self):
            return []

        def apply(self, kinematics, loads):
            pass

    b = ub.Builder()
    b.body("ball", mass=1.0, inertia=(1, 1, 1))
    b.add(Local(), name="mine")
    with pytest.raises(ub.ModelError, match="'mine' .Local. cannot be pickled.*top level"):
        pickle.dumps(b.build())
    assert len(copy.deepcopy(b.build()).forces) == 1


@dataclass(frozen=True)
class Guarded(ub.Force):
    lock: Any

    def bodies(self):
        return []

    def joints(self):
        return []

    def apply(self, kinematics, loads):
        pass


def test_what_no_copy_can_hold_is_named():
    b = ub.Builder()
    b.body("ball", mass=1.0, inertia=(1, 1, 1))
    b.add(Guarded(threading.Lock()), name="guarded")
    with pytest.raises(ub.ModelError, match="'guarded' .Guarded. cannot be pickled.*lock"):
        pickle.dumps(b.build())
    with pytest.raises(ub.ModelError, match="'guarded' .Guarded. cannot be copied.*lock"):
        copy.deepcopy(b.build())


@pytest.mark.parametrize("name", list(REGISTRY))
def test_addresses_never_travel(name):
    """A bound solver binds anew; the arrays and addresses within it refuse by name."""
    sim = next(iter(both(REGISTRY[name]())))
    for make in WAYS.values():
        twin = make(sim.bound)
        assert twin is not sim.bound and twin.system is not sim.bound.system
        step = twin.step(sim.state, sim._memory, sim.control.flat, DT)
        assert step.state.q.tobytes() == sim.bound.step(sim.state, sim._memory, sim.control.flat, DT).state.q.tobytes()
        with pytest.raises(ub.ModelError, match="holds addresses of this process.*bind anew"):
            make(sim.bound.system)


def test_forward_dynamics_are_copied_with_their_own_solver():
    bound = ub.Simulation(crane(), "articulated").bound
    f = bound.forward_dynamics_function()
    q, v = bound.model.start_q()[: bound.nq], np.ones(bound.nv)
    expected = f(q, v, 0.1).copy()
    for make in WAYS.values():
        twin = make(f)
        np.testing.assert_array_equal(twin.acceleration, expected)
        np.testing.assert_array_equal(twin.v, v)
        np.testing.assert_array_equal(twin(q, 2.0 * v, 0.3), bound.forward_dynamics(q, 2.0 * v, 0.3 * np.ones(bound.nv)))
        f(q, v, 0.1)
        twin(q, 0.0 * v)
        np.testing.assert_array_equal(f.acceleration, expected)


def test_fields_of_the_model_are_all_carried():
    """A field added later must travel too."""
    model = crane()
    twin = copy.deepcopy(model)
    for field in fields(model):
        mine, theirs = getattr(model, field.name), getattr(twin, field.name)
        assert type(mine) is type(theirs)
        if isinstance(mine, np.ndarray):
            np.testing.assert_array_equal(mine, theirs)
