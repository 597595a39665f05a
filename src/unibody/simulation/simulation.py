"""`Simulation`: a model, a solver, a step length, and the state that moves."""

from __future__ import annotations

import copy
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unibody.coordinates.observation import Observation
from unibody.element import number, step_length, whole_number
from unibody.errors import Busy, ModelError, StepFailed, UnibodyError, UnibodyWarning
from unibody.memory import MemoryView
from unibody.model import Control, Model, State
from unibody.model.plane import check_wrenches
from unibody.model.values import shown
from unibody.simulation import advice
from unibody.simulation.ahead import compile_for
from unibody.simulation.consistent import begin
from unibody.simulation.derived import kinematics_of
from unibody.simulation.energy_watch import EnergyWatch
from unibody.simulation.files import checked_rows, read_npz, write_npz
from unibody.simulation.inputs import chosen_solver, scene_of
from unibody.simulation.recording import MOST_STEPS, Recording
from unibody.solvers import Bound, Choice, Report, Solver
from unibody.solvers.blame import element_of
from unibody.turn import Turn

Feedback = Callable[[float, State, Control], Any]

LOST = ("not finite", "not converged", "singular")
"""States of a report in which an element may know more."""
CHUNK_SECONDS = 0.2
"""Wall-clock time of one compiled stretch: how often the progress bar moves and Ctrl-C is heard."""


class Simulation:
    """Run a model, a scene, a scene by its name, or a file (URDF, MJCF, .json, .py) with a solver.

    `solver`: a name, also with options ("redmax:rule=bdf2"), an instance, or "auto": the one a scene is made for, else the cheapest that
    honours everything (`unibody.solvers.choice`); `notes` tells which and why, and what is probably not meant. `dt` [s]: the scene's, or
    1e-3 of a model.

    >>> import unibody as ub
    >>> sim = ub.Simulation("pendulum")
    >>> sim.notes
    ("solver 'articulated' chosen: it takes every element, in the least time per step",)

    Simulations may run in several threads at once, one thread each: they share the model, which nobody writes, and give what they give
    alone. `step` and `run` of one that another thread is running raise `unibody.errors.Busy`.

    A start that violates rows or drives is assembled by the least change (`unibody.assemble`), and a warning and `notes` say so;
    `assemble=False` keeps it as it is.
    """

    _moving: Turn
    """Held by the thread that moves it."""
    _assemble = True

    def __new__(cls, *args: Any, **kwargs: Any) -> Simulation:
        made = super().__new__(cls)
        made._moving = Turn()
        return made

    notes: tuple[str, ...] = ()
    """What is worth knowing, one line each: how the start was assembled, which solver was chosen and why, what is probably not meant."""
    _choice: Choice | None = None
    _told_of_fall = False

    def __init__(
        self, model: Any, solver: str | Solver = "auto", dt: float | None = None, state: State | None = None,
        control: Control | None = None, assemble: bool = True,
    ):  # fmt: skip
        scene = None if isinstance(model, Model) else scene_of(model)
        built = model if scene is None else scene.model
        if not isinstance(built, Model):
            raise ModelError(f"Simulation: {model!r} is not a Model; call Builder.build() first, or give a Scene, its name or a file")
        self.dt = step_length(dt if dt is not None else scene.dt if scene is not None else 1e-3, "dt")
        model, chosen = built, solver
        try:
            chosen, self._choice = chosen_solver(solver, (), model, self.dt, scene.solver if scene is not None else "")
            compile_for(model, chosen)
            self._bound: Bound = chosen.bind(model)
        except UnibodyError:
            raise
        except Exception as error:  # of an element's code, which binding may ask
            element, why = element_of(error, model) or "model", " ".join(str(error).split())
            name = getattr(chosen, "name", chosen)
            raise ModelError(f"solver '{name}' cannot take '{element}': {type(error).__name__}: {why}; mend its code") from error
        if control is not None and not isinstance(control, Control):
            raise ModelError(f"Simulation: control {shown(control)} is not a Control; make one by Control(model)")
        self.control = Control(model) if control is None else control.copy()
        if not isinstance(assemble, bool):
            raise ModelError(f"Simulation: assemble {shown(assemble)} is neither True nor False; give one of them")
        self._assemble = assemble
        self._check_state(state)
        self._go_to(state)
        self._check_control()
        self._begin("start")
        self._tell(meant=scene is not None and scene.ours)

    def _tell(self, meant: bool) -> None:
        """Notes on the choice of a solver and on what is probably not meant."""
        model, choice = self.model, self._choice
        for line in () if meant else self.report.notes:  # of the start
            warnings.warn(line, UnibodyWarning, stacklevel=3)
        told = [] if meant else advice.before_run(model)
        if self.solver.parts_overlaps and any(getattr(c, "surfaces", False) for _, c in model.constraints):
            told += [line for line in (advice.overlap_line(model, self._state),) if line is not None]
        if choice is None and not meant:
            told += [stiff for stiff in (advice.stiff_line(model, self.solver, self.dt),) if stiff is not None]
        if choice is not None and choice.warning:
            told.append(choice.line)
        elif choice is not None:
            self.notes = (*self.notes, choice.line)
        for line in told:
            self._warn(line, 4)

    def _warn(self, line: str, level: int) -> None:
        """A note that is also a warning."""
        self.notes = (*self.notes, line)
        warnings.warn(line, UnibodyWarning, stacklevel=level)

    def _go_to(self, state: State | None) -> None:
        """Stand at a state, or at the model's start, with nothing remembered; assembled first where it violates rows."""
        self._state, self._memory, lines = begin(self._bound, state, self._assemble)
        self.notes = (*(note for note in self.notes if not note.startswith("start: ")), *lines)

    def _begin(self, status: str) -> None:
        """At a state with nothing behind it."""
        self._watch = EnergyWatch(self._bound, self._state, self._memory, self.control.flat)
        self._begun = self._state
        self.report = Report(status=status, time=self._state.t, notes=tuple(n for n in self.notes if n.startswith("start: ")))

    @property
    def model(self) -> Model:
        return self._bound.model

    @property
    def assemble(self) -> bool:
        """Whether starts that violate rows are assembled."""
        return self._assemble

    @property
    def solver(self) -> Solver:
        return self._bound.solver

    @property
    def dt(self) -> float:
        """The length of a step [s]."""
        return self._dt

    @dt.setter
    def dt(self, dt: float) -> None:
        self._dt = step_length(dt, "dt")

    @property
    def control(self) -> Control:
        """Efforts, wrenches and targets that act in the next steps."""
        return self._control

    @control.setter
    def control(self, control: Control) -> None:
        if not isinstance(control, Control):
            raise ModelError(f"control {shown(control)} is not a Control; make one by Control(model), or change sim.control")
        self._control = control

    @property
    def state(self) -> State:
        """The last good state. Another one may be given, of any coordinates: steps go on from it, with nothing remembered."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        if state is None:
            raise ModelError("state None is not a State; give one, or call reset()")
        self._check_state(state)
        self._go_to(state)
        self._begin("start")

    @property
    def bound(self) -> Bound:
        """The solver bound to this model: dynamics without steps."""
        return self._bound

    def __copy__(self) -> Simulation:
        """A simulation of the same model that goes on by itself. Deep copies and pickles follow from their parts: the bound solver of a
        copy is bound anew, and state, memory and control hold all that a step depends on."""
        twin = type(self).__new__(type(self))
        bound = copy.copy(self._bound)
        twin.__dict__.update(self.__dict__, _bound=bound, _watch=self._watch.on(bound), _moving=Turn(), _control=self._control.copy())
        return twin

    def reset(self, state: State | None = None) -> None:
        """Back to the model's start, or to a given state, with nothing remembered and no control."""
        self._check_state(state)
        turn = self._mine("reset")
        try:
            self._go_to(state)
            self.control = Control(self.model)
            self._begin("start")
        finally:
            turn.release()

    def _mine(self, verb: str) -> Turn:
        """Taken: one thread at a time moves a simulation, and another that tries is told. Give it back."""
        if not self._moving.at_once():
            raise Busy(f"Simulation.{verb}: another thread is running this simulation; give every thread a Simulation of its own")
        return self._moving

    def observe(self) -> Observation:
        """Everything derived at the state at hand: poses, energies, reactions, joint coordinates."""
        with self._bound.turn:
            return self._bound.observe(self._state, self._memory, self.control.flat)

    @property
    def memory(self) -> MemoryView:
        """What the solver keeps from step to step, to look at: `print(sim.memory)` lists fields, units and meaning; `sim.memory.time`
        reads one."""
        numbers = self._memory.view()
        numbers.flags.writeable = False
        return self._bound.memory_schema.view(numbers)

    def step(self) -> Report:
        """One step of length dt."""
        self._check_control()
        flat, dt = self.control.flat, self.dt
        turn = self._mine("step")
        try:
            with self._bound.turn:
                result = self._bound.step(self._state, self._memory, flat, dt)
                failed = self._watch.check(result.state, result.memory, flat, dt)
                if failed is not None:
                    raise failed
                self._state, self._memory, self.report = result.state, result.memory, result.report
            return result.report
        except StepFailed as failed:
            raise self._explained(failed) from failed.__cause__
        finally:
            turn.release()

    def run(self, duration: float, control: Feedback | None = None, every: int = 1, progress: bool | None = None) -> Recording:
        """Run for `duration` [s]; record the start and every `every`-th step. `control(t, state, control)` is called before every step."""
        duration = number(duration, "run duration", minimum=0.0)
        every = whole_number(every, "run every")
        if not (progress is None or isinstance(progress, bool)):
            raise ModelError(f"run progress {shown(progress)} is neither True nor False; give one of them, or None")
        if control is not None and not callable(control):
            raise ModelError(f"run control {shown(control)} is not a function; give control(t, state, control), or set sim.control")
        check_count(duration, self.dt)
        steps = round(duration / self.dt)
        every = min(every, steps + 1)
        if abs(steps * self.dt - duration) > 1e-6 * max(self.dt, duration) and steps < 1:
            raise ModelError(f"run duration {duration:g} s is shorter than dt = {self.dt:g} s; give at least one step")
        self._check_control()
        recording = Recording(self._bound, self.dt)
        began = time.perf_counter()
        turn = self._mine("run")
        bar = _Bar(steps, sys.stderr.isatty() if progress is None else progress)
        try:
            if control is None and self._bound.roll is not None:
                self._run_compiled(recording, steps, every, bar)
            else:
                self._run_stepwise(recording, steps, every, control, bar)
        except StepFailed as raised:
            failed = self._explained(raised)
            failed.recording = recording
            self.report = failed.report
            raise failed from raised.__cause__
        finally:
            turn.release()
            bar.close()
            recording.seconds = time.perf_counter() - began
        if not self._told_of_fall and (line := advice.after_run(self.model, self._begun, self._state)) is not None:
            self._told_of_fall = True
            self._warn(line, 3)
        return recording

    def _explained(self, failed: StepFailed) -> StepFailed:
        """The same failure, by the element that knows why, if one does."""
        asked = [(name, force) for name, force in self.model.forces if hasattr(force, "trouble") and name != failed.element]
        if not asked or failed.report is None or (failed.report.status not in LOST and failed.element != "model"):
            return failed
        here = kinematics_of(self.model, self._bound.observe(self._state, self._memory, self._control.flat))
        for name, force in asked:
            why = force.trouble(here)
            if why is not None:
                t = self._state.t
                return StepFailed(
                    f"step at t = {t:.6g} s failed near '{name}': {why}", time=t, element=name, report=replace(failed.report, element=name)
                )
        return failed

    def _run_compiled(self, recording: Recording, steps: int, every: int, bar: _Bar) -> None:
        """Stretches of compiled steps. One pauses where velocities have grown so much that energies must be looked at."""
        flat = self.control.flat.copy()
        recording.append(self._state, self._memory, flat)
        done, stretch = 0, every
        while done < steps:
            # after a pause, first up to the next state to be recorded
            left = every - done % every
            count, apart = min(stretch if left == every else left, steps - done), min(left, every)
            before = time.perf_counter()
            with self._bound.turn:
                self._bound.speed_limit = self._watch.limit(self.dt)
                state, memory, rows, good = self._bound.rollout(self._state, self._memory, flat, self.dt, count, apart)
                self._bound.speed_limit = float("inf")
                paused = good > 0 and self._watch.suspects(state, self.dt)
                failed = self._bound.failure(state, memory, flat, state.t) if good < count and not paused else None
                unexplained = self._watch.check(state, memory, flat, self.dt, good) if good else None
                if unexplained is not None:
                    # the last step does not count
                    state, memory, rows, good = self._bound.rollout(self._state, self._memory, flat, self.dt, good - 1, apart)
                for row in rows:
                    recording.append(*self._bound.split_record(row), flat)
                self._state, self._memory = state, memory
                done += good
                recording.steps = done
                bar.show(done)
                ended = unexplained or failed
                if ended is not None:
                    raise ended
            spent = time.perf_counter() - before
            stretch = max(every, int(count * CHUNK_SECONDS / max(spent, 1e-9)) // every * every)
            stretch = min(stretch, 16 * max(every, count))

    def _run_stepwise(self, recording: Recording, steps: int, every: int, control: Feedback | None, bar: _Bar) -> None:
        if control is None or steps == 0:
            recording.append(self._state, self._memory, self.control.flat.copy())
        for k in range(steps):
            if control is not None:
                self._ask(control)
                if k == 0:
                    recording.append(self._state, self._memory, self.control.flat.copy())
            self.step()
            recording.steps = k + 1
            if (k + 1) % every == 0:
                recording.append(self._state, self._memory, self.control.flat.copy())
            bar.show(k + 1)

    def _ask(self, control: Feedback) -> None:
        answer = control(self._state.t, self._state, self.control)
        if isinstance(answer, Control):
            self.control = answer
        self._check_control()

    @staticmethod
    def _check_state(state: State | None) -> None:
        if state is None:
            return
        if not isinstance(state, State):
            raise ModelError(f"Simulation: state {shown(state)} is not a State; give State(t, q, v)")
        number(state.t, "Simulation: t of the given state")
        if not (np.isfinite(state.q).all() and np.isfinite(state.v).all()):
            raise ModelError(f"Simulation: the given state (t = {state.t!r}) is not finite; give finite t, q and v")

    def _check_control(self) -> None:
        flat, model = self._control.flat, self._bound.model
        needed = self._bound.control_length
        if type(flat) is not np.ndarray or flat.shape != (needed,) or flat.dtype != np.float64:
            raise ModelError(f"control holds {np.size(flat)} numbers, this model needs {needed}; make it by Control(model)")
        targets = model.nv_joints + 6 * len(model.bodies)
        if not np.isfinite(flat[:targets]).all():
            raise ModelError(f"control at t = {self._state.t:.6g} s is not finite; return finite efforts and wrenches")
        if model.motor_targets and np.isinf(flat[targets:]).any():
            raise ModelError(f"control at t = {self._state.t:.6g} s has a target that is not finite; give a finite one, or NaN for none")
        if model.plane is not None and self._control.wrench.any():
            check_wrenches(model, self._control.wrench)

    def save(self, path: str | Path) -> Path:
        """Write everything needed to go on, bit for bit; the old file stays whole until the new one is."""
        arrays = {
            "t": np.array([self._state.t]), "q": self._state.q, "v": self._state.v, "memory": self._memory, "control": self.control.flat,
            "run": np.array([self.dt]),
        }  # fmt: skip
        return write_npz(path, "simulation", self._bound, arrays)

    @staticmethod
    def load(path: str | Path, model: Model | None = None, trust: bool | Sequence[str] = ()) -> Simulation:
        """Read a file written by `save`. `model` is needed only if it holds functions that cannot be written down; `trust` names modules
        whose code the file may use, beside your own that are imported already (True: all)."""
        bound, archive = read_npz(path, "simulation", model, trust)
        rows = checked_rows(archive, bound, None)
        sim = Simulation.__new__(Simulation)
        sim.dt = step_length(archive.array("run", (1,)).tolist()[0], f"file '{path}': dt")
        sim._bound = bound
        sim.control = Control(bound.model)
        sim.control.flat[:] = rows["control"][0]
        sim._state = State(float(rows["t"][0]), rows["q"][0], rows["v"][0], bound.coordinates)
        sim._memory = rows["memory"][0].copy()
        sim._check_control()
        sim._begin("loaded")
        return sim

    def __repr__(self) -> str:
        failed = "" if self.report.status in ("ok", "start", "loaded") else f", {self.report.status}"
        rule = getattr(self.solver, "rule", None)
        method = f"solver '{self.solver.name}'" + (f" ({rule})" if rule else "")
        method += f" chosen: {self._choice.reason}" if self._choice is not None else ""
        return f"Simulation(t = {self._state.t:g} s, dt = {self.dt:g} s{failed}, {method}, {self.model!r})"


def check_count(duration: float, dt: float) -> None:
    """Refuse a number of steps that nobody can mean."""
    if duration / dt > MOST_STEPS:
        raise ModelError(f"{duration:g} s in steps of {dt:g} s are {duration / dt:.1e} steps; give a shorter time or a larger dt")


class _Bar:
    """A progress bar of one line on a terminal, nothing elsewhere."""

    def __init__(self, total: int, on: bool):
        self._total, self._on, self._shown, self._last = max(1, total), on, -1, 0.0

    def show(self, done: int) -> None:
        if not self._on:
            return
        tick = int(40 * done / self._total)
        now = time.perf_counter()
        if tick != self._shown and now - self._last > 0.05:
            self._shown, self._last = tick, now
            sys.stderr.write(f"\r[{'#' * tick}{'.' * (40 - tick)}] {100 * done // self._total:3d} %")
            sys.stderr.flush()

    def close(self) -> None:
        if self._on and self._shown >= 0:
            sys.stderr.write("\r" + " " * 50 + "\r")
            sys.stderr.flush()
