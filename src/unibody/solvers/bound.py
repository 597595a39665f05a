"""What binding a solver to a model gives: arrays, addresses and the four verbs

    start() → State, Memory          step(state, memory, control, dt) → Step
    rollout(…) many steps in one compiled loop, bit for bit the same as single ones
    observe(state, memory, control) → Observation: everything derived at a state

A `Bound` has one set of arrays, so that one thread works with it at a time; whoever calls a verb holds its `turn`. Two `Bound`s share
nothing that is written.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any

import numpy as np

from unibody.arrays import finite, largest
from unibody.coordinates.convert import to_reduced
from unibody.coordinates.energy_balance import EnergyBalance, Masses
from unibody.coordinates.observation import Observation
from unibody.coordinates.system import System
from unibody.coordinates.workspace import ARMATURE, LEDGER, SPEED_LIMIT, V_WB, X_WB
from unibody.element import DAMPER_POWER, LONGEST, SHORTEST, SPRING_ENERGY, step_length
from unibody.errors import ModelError, StartRefused, StepFailed
from unibody.joints import Ball, Free
from unibody.memory import Field, MemorySchema
from unibody.model import Model, State
from unibody.model.interruptions import deferred
from unibody.rules.base import COMMON, LAST_STEP, TIME, trapezoidal_work
from unibody.solvers.blame import element_of
from unibody.solvers.report import Report
from unibody.solvers.stiffness import STIFF, stiffness
from unibody.turn import Turn

UNIT = 1e-6
"""By how much quaternions of a state may not be unit."""


@dataclass
class Step:
    """What a step returns."""

    state: State
    memory: np.ndarray
    report: Report


def bound_anew(solver: Any, model: Model) -> Bound:
    """A bound solver that arrives in a copy or in another process."""
    return solver.bind(model)


Method = Callable[..., Any]


FLOAT = np.dtype(float)
VERBS = ("step", "rollout", "observe")


def guarded(method: Method) -> Method:
    """A verb of a bound solver, whose arguments are looked at before kernels read them, and out of which nothing comes but what it returns,
    `StepFailed`, or an interruption."""
    name = method.__name__

    @wraps(method)
    def verb(self: Bound, state: State, memory: np.ndarray, control: np.ndarray, *rest: Any, **named: Any) -> Any:
        if getattr(type(self), name) is not verb or (self._stepping and name == "rollout"):  # called by super(), or by a step
            return method(self, state, memory, control, *rest, **named)
        self.check_call(state, memory, control, *rest, **named)
        callback_errors = getattr(self.system, "callback_errors", None)
        if callback_errors is not None:
            callback_errors.error = None
        self._stepping = name == "step"
        try:
            if callback_errors is None or not callback_errors.guards:
                made = method(self, state, memory, control, *rest, **named)
            else:
                with deferred(callback_errors.pending):
                    made = method(self, state, memory, control, *rest, **named)
        except (StepFailed, StartRefused):
            raise
        except Exception as error:
            raise self.broken(state, error) from error
        finally:
            self._stepping = False
        if callback_errors is None or callback_errors.error is None:
            return made
        if not isinstance(callback_errors.error, Exception):  # Ctrl-C within a callback
            raise callback_errors.error
        if name == "step":
            raise self.failure(state, memory, control, state.t)
        if name == "rollout" and made[-1] and self.roll is not None:
            return self.before_callback_error(method, made[2], state, memory, control, *rest, **named)
        if isinstance(made, Observation):
            made.notes = (
                *made.notes,
                f"'{callback_errors.blamed}' failed: {type(callback_errors.error).__name__}: {callback_errors.error}",
            )
        return made

    return verb


@dataclass
class Bound:
    """A solver bound to a model; `kept`: the fields that its rule adds to memory."""

    model: Model
    solver: Any
    coordinates: str
    system: System
    nq: int
    nv: int
    roll: Callable[..., int] | None
    explicit: int = 0
    scratch: np.ndarray = field(default_factory=lambda: np.zeros(0))
    kept: tuple[Field, ...] = ()
    failed: StepFailed | None = None
    """What ended the last rollout by single steps."""
    speed_limit: float = float("inf")
    """A rollout pauses after a step that leaves some velocity beyond it, so that somebody looks at it."""
    turn: Turn = field(default_factory=Turn, repr=False, compare=False)
    """Held by the thread that uses the arrays."""
    _stepping = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in VERBS:
            if name in cls.__dict__:
                setattr(cls, name, guarded(cls.__dict__[name]))

    def check_call(
        self, state: State, memory: np.ndarray, control: np.ndarray, dt: float = 1.0, steps: int = 0, every: int = 1, record: bool = True
    ) -> None:
        """Refuse arrays of other sizes than this solver's on this model, and steps that cannot be."""
        q, v, m, c = self._sizes
        if (
            type(memory) is type(control) is np.ndarray and memory.shape == m and control.shape == c and state.q.shape == q
            and state.v.shape == v and memory.dtype is FLOAT and control.dtype is FLOAT and state.coordinates == self.coordinates
            and SHORTEST <= dt <= LONGEST and steps >= 0 and every >= 1
        ):  # fmt: skip
            return
        if state.coordinates != self.coordinates:
            raise ModelError(f"solver '{self.solver.name}': a state in {state.coordinates} coordinates; give start(state) first")
        for array, shape, what in ((state.q, q, "q"), (state.v, v, "v"), (memory, m, "memory"), (control, c, "control")):
            if type(array) is not np.ndarray or array.shape != shape or array.dtype != np.float64:
                remedy = "give what start() and step() of the same bound solver return, and a Control of its model"
                raise ModelError(f"solver '{self.solver.name}': {what} of shape {np.shape(array)}, not {shape[0]} numbers; {remedy}")
        step_length(dt, "dt")
        if steps >= 0 and every >= 1:  # numbers of another description of float64
            return
        raise ModelError(f"rollout: {steps!r} steps, every {every!r}; give whole numbers, none below 0 and 1")

    @cached_property
    def _sizes(self) -> tuple[tuple[int], tuple[int], tuple[int], tuple[int]]:
        """Shapes of q, v, memory and control."""
        return (self.nq,), (self.nv,), (self.memory_schema.size,), (self.control_length,)

    def broken(self, state: State, error: Exception) -> StepFailed:
        """The error for a step out of which an exception came: of an element's code, or of equations that have no solution."""
        element = getattr(error, "element", None) or element_of(error, self.model) or "model"
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
        singular = isinstance(error, np.linalg.LinAlgError | ZeroDivisionError | FloatingPointError)
        why = f"its equations have no solution here ({said}); try another solver or a smaller dt" if singular else said
        return self.failed_step(state.t, "singular" if singular else "error in an element", element, why)

    def before_callback_error(
        self, method: Method, rows: np.ndarray, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int,
        every: int = 1, record: bool = True,
    ) -> tuple[State, np.ndarray, np.ndarray, int]:  # fmt: skip
        """A rollout again, up to the step in which an element failed though all numbers that the step needs stayed finite."""
        callback_errors, done = self.system.callback_errors, 0
        while done < steps:
            callback_errors.error = None
            after, kept, _, good = method(self, state, memory, control, dt, 1, 1, False)
            if callback_errors.error is not None or not good:
                break
            state, memory, done = after, kept, done + 1
        return state, memory, rows[: done // every] if record else rows, done

    @cached_property
    def control_length(self) -> int:
        """Numbers of a control."""
        return self.model.neutral_control().size

    @property
    def nq_all(self) -> int:
        """Own coordinates and those of fitted joints."""
        return self.system.nq_all

    @property
    def nv_all(self) -> int:
        return self.system.nv_all

    @cached_property
    def memory_schema(self) -> MemorySchema:
        """What a memory holds, as `start` and `step` return it: what is common to all solvers, what the rule keeps, fitted joints."""
        return COMMON.followed_by(
            *self.kept,
            Field("fitted_q", (self.nq_all - self.nq,), "m, rad, 1", "coordinates of joints that are fitted to the bodies' poses"),
            Field("fitted_v", (self.nv_all - self.nv,), "m/s, rad/s", "their velocities"),
        )

    @cached_property
    def _fitted(self) -> tuple[int, ...]:
        """Where memory holds fitted joints: what comes before is memory while a rule runs."""
        return self.memory_schema.at("fitted_q", "fitted_v")

    def __reduce__(self) -> tuple[Any, ...]:
        """Addresses and scratch do not travel: a copy is bound anew, and what steps remember is in their memory."""
        return bound_anew, (self.solver, self.model)

    def memory_fault(self, times: np.ndarray, memory: np.ndarray) -> str | None:
        """Why memories (rows, size of the schema) of states at these times cannot be a solver's own, or None."""
        kept = self.memory_schema.view(memory)
        if ((kept.last_step > 0.0) & (kept.time != times)).any():
            return "its memory is that of another time"
        why = self.memory_schema.fault(memory)
        return None if why is None else f"its memory holds {why}"

    def state_fault(self, q: np.ndarray) -> str | None:
        """Why coordinates (rows, nq) cannot be, or None: quaternions are unit."""
        for name, first in self._quaternions():
            off = np.abs(np.linalg.norm(q[:, first : first + 4], axis=1) - 1.0).max(initial=0.0)
            if not off < UNIT:
                return f"the quaternion of '{name}' is not unit (by {off:.3g})"
        return None

    def _quaternions(self) -> list[tuple[str, int]]:
        """The bodies or joints with quaternions among the coordinates, and where these begin."""
        out = []
        if self.coordinates == "maximal":
            names = [b.name for b in self.model.bodies if b.kind == "dynamic"]
            out = [(name, 7 * k + 3) for k, name in enumerate(names)] if self.nq == 7 * len(names) else []
        elif self.coordinates == "reduced":
            for j in self.model.tree_joints:
                first = j.q_start
                for part in j.element.parts():
                    if isinstance(part, Ball | Free):
                        out.append((j.name, first + part.nq - 4))
                    first += part.nq
        return out

    def start(self, state: State | None = None) -> tuple[State, np.ndarray]:
        """The model's start (or a given state) in this solver's coordinates, and fresh memory."""
        q, v = self.system.start()
        if state is not None:
            q[: self.nq], v[: self.nv] = self.system.convert(state)
            if self.coordinates != "reduced":
                q[self.nq : self.nq + self.model.nq], v[self.nv : self.nv + self.model.nv] = to_reduced(self.model, state)
        return self._pack(0.0 if state is None else state.t, q, v, np.zeros(self._fitted[0]))

    def _unpack(self, state: State, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q and v with fitted joints behind, and a copy of what comes before these in memory, for a rule to write."""
        first_q, first_v = self._fitted
        q, v = np.concatenate([state.q, memory[first_q:first_v]]), np.concatenate([state.v, memory[first_v:]])
        return q, v, memory[:first_q].copy()

    def _pack(self, t: float, q: np.ndarray, v: np.ndarray, kept: np.ndarray) -> tuple[State, np.ndarray]:
        """State and memory of what `_unpack` gave."""
        memory = np.concatenate([kept, q[self.nq :], v[self.nv :]])
        return State(t, q[: self.nq], v[: self.nv], self.coordinates), memory

    @guarded
    def step(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float) -> Step:
        """One step; the inputs stay as they are."""
        began = time.perf_counter()
        after, kept, _, done = self.rollout(state, memory, control, dt, 1, 1, record=False)
        if done < 1:
            raise self.failure(state, memory, control, state.t)
        return self.stepped(after, kept, began)

    def stepped(self, state: State, memory: np.ndarray, began: float, **facts: Any) -> Step:
        """A step that was made, with its report: what `step_facts` say, and further facts of it. `began`: by `time.perf_counter`."""
        said = self.step_facts(memory) | facts
        return Step(state, memory, Report("ok", state.t, seconds=time.perf_counter() - began, **said))

    def failed_step(self, t: float, status: str, element: str, why: str, **facts: Any) -> StepFailed:
        """The error for a step from t that was not made, near an element, with its report."""
        report = Report(status, t, element=element, **facts)
        return StepFailed(f"step at t = {t:.6g} s failed near '{element}': {why}", time=t, element=element, report=report)

    @guarded
    def rollout(
        self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int, every: int = 1, record: bool = True
    ) -> tuple[State, np.ndarray, np.ndarray, int]:
        """Many steps in one compiled loop: the last good state and memory, records of every `every`-th state, and the steps done, fewer
        where a step failed or velocities passed the speed limit."""
        assert self.roll is not None
        q, v, kept = self._unpack(state, memory)
        self._begin_steps(state.t, q, v, kept, control, dt)
        self.system.view(SPEED_LIMIT)[0] = self.speed_limit
        stages = self.system.stages(control)
        width = 1 + q.size + v.size + kept.size
        rows = np.zeros((steps // every if record else 0, width))
        done = self.roll(
            self.system.layout, self.system.ints, self.system.constants, stages, control, state.t, dt, steps,
            every if record else steps + 1, self.explicit, self.system.work, self.scratch, q, v, kept, rows.ravel(),
        )  # fmt: skip
        if done and not finite(q, v):  # the last step overflowed: up to the one before
            callback_errors = self.system.callback_errors
            error, blamed = callback_errors.error, callback_errors.blamed
            out = self.rollout(state, memory, control, dt, done - 1, every, record)
            if callback_errors.error is None:
                callback_errors.error, callback_errors.blamed = error, blamed
            return out
        if not done:
            return state, memory, rows[:0], 0
        after, memory = self._pack(float(kept[TIME]), q, v, kept)
        return after, memory, rows[: done // every] if record else rows, done

    def _begin_steps(self, t: float, q: np.ndarray, v: np.ndarray, kept: np.ndarray, control: np.ndarray, dt: float) -> None:
        """Before steps of length dt from what `_unpack` gave; v may be changed."""
        self.system.prepare(dt)

    def roll_by_steps(
        self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int, every: int, record: bool
    ) -> tuple[State, np.ndarray, np.ndarray, int]:
        """`rollout` for rules whose steps run in Python: single steps one after the other."""
        rows = []
        for k in range(steps):
            try:
                made = self.step(state, memory, control, dt)
            except StepFailed as failed:
                self.failed = failed
                return state, memory, np.array(rows), k
            state, memory = made.state, made.memory
            if record and (k + 1) % every == 0:
                rows.append(np.concatenate([[state.t], *self._unpack(state, memory)]))
            if largest(state.v) > self.speed_limit:
                return state, memory, np.array(rows), k + 1
        return state, memory, np.array(rows), steps

    def split_record(self, row: np.ndarray) -> tuple[State, np.ndarray]:
        """State and memory from a row of a record."""
        q = row[1 : 1 + self.nq_all]
        v = row[1 + self.nq_all : 1 + self.nq_all + self.nv_all]
        return self._pack(float(row[0]), q, v, row[1 + self.nq_all + self.nv_all :])

    def step_facts(self, memory: np.ndarray | None = None) -> dict[str, Any]:
        """What the report of a step can say without further work, of one that was made also by its memory."""
        return {"redundant": self.redundant(), "notes": self._notes}

    def redundant(self) -> int:
        """How many of the rows that the last step closed repeat others."""
        if not self._closed_rows:
            return 0
        rank, rows = self.system.rank()
        return rows - rank

    @cached_property
    def _closed_rows(self) -> int:
        """Rows whose rank a step finds."""
        return self.system.constraints.auxiliary

    @cached_property
    def _notes(self) -> tuple[str, ...]:
        """What every report says of the model, whatever the step."""
        return self.system.notes()

    @guarded
    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """Poses, twists, energies, reactions, violation at a state; reactions are those of the motion, without feedback that shrinks with
        the step."""
        q, v, kept = self._unpack(state, memory)
        self._prepare_look(kept)
        out = self.system.observe(state.t, q, v, control)
        out.work = trapezoidal_work(kept, out.powers)
        return out

    @cached_property
    def masses(self) -> Masses:
        return Masses(self.model)

    def _prepare_look(self, memory: np.ndarray) -> None:
        """Before the system is evaluated at a state and not for a step: no feedback that shrinks with the step."""
        self.system.prepare(np.inf)

    def _look_at(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> None:
        """Have the system find poses, twists and the ledger at a state."""
        self.system.evaluate(t, q, v, control, loads=True)

    def energies(self, state: State, memory: np.ndarray, control: np.ndarray) -> EnergyBalance:
        """Kinetic and stored energy at a state and the work done up to it: the part of `observe` that asks for no reactions."""
        q, v, kept = self._unpack(state, memory)
        self._prepare_look(kept)
        self._look_at(state.t, q, v, control)
        entries = self.system.view(LEDGER)
        kinetic, gravity = self.masses.energies(self.system.view(X_WB), self.system.view(V_WB))
        rotors = 0.5 * float(np.sum(self.system.view(ARMATURE) * self._joint_velocities(v) ** 2))
        work = trapezoidal_work(kept, entries[DAMPER_POWER : DAMPER_POWER + 3])
        return EnergyBalance(kinetic, rotors, gravity, float(entries[SPRING_ENERGY]), float(work[1] + work[2]))

    def _joint_velocities(self, v: np.ndarray) -> np.ndarray:
        """Of all joints, in what `_unpack` gave."""
        return v[self.nv_all - self.model.nv_joints :]

    def remedy(self, dt: float) -> str:
        """What to try after steps of dt that blew up: where springs are stiff for a solver that takes them explicitly, what they need."""
        stiff = stiffness(self.model, dt, self.solver.name) if dt > 0.0 and self.solver.forces == "explicit" else None
        if stiff is None or stiff.load < STIFF:
            return "try a smaller dt or another solver"
        able = [f"solver='{name}'" for name in self.solver.implicit_others(self.model)]
        return (
            f"'{stiff.element}' is stiff for solver '{self.solver.name}', stable up to about dt = {stiff.largest_dt:.2g} s;"
            f" try {' or '.join([*able[:1], 'a smaller dt'])}"
        )

    def refuse_contact(self, t: float, crossing: tuple[str, str] | None) -> None:
        """Let the step that began at t fail if surfaces crossed: the body to blame, and why."""
        if crossing is None:
            return
        raise self.failed_step(t, "crossing", *crossing, **self.step_facts())

    def failure(self, state: State, memory: np.ndarray, control: np.ndarray, t: float) -> StepFailed:
        """The error for a step that did not come out finite, naming the element nearest the trouble."""
        if self.failed is not None:
            failed, self.failed = self.failed, None
            return failed
        error = self.system.callback_errors.error
        if error is not None and not isinstance(error, Exception):
            self.system.callback_errors.error = None
            raise error
        q, v, kept = self._unpack(state, memory)
        element = self.system.callback_errors.blamed if error is not None else self.system.culprit(t, q, v, control)
        said = "" if error is None else f"{type(error).__name__}: {error}"
        why = said or f"accelerations are not finite; {self.remedy(float(kept[LAST_STEP]))}"
        status = "not finite" if error is None else "error in an element"
        failed = self.failed_step(t, status, element, why, **self.step_facts())
        failed.__cause__ = error
        self.system.callback_errors.error = None
        return failed
