"""Articulated: the articulated-body algorithm in reduced coordinates (paper 002 §3.2.2, §4.1).

    M(q) a = τ − c(q, v)        solved in O(n) by the elimination of `unibody.algebra.tree.aba`; loops and constraints as auxiliary rows

Time rules: semi-implicit Euler, Runge–Kutta 4, adaptive Dormand–Prince 5(4). The joint coordinates are the state, so tree joints cannot
drift; rows are held by feedback (critically damped, within `feedback_time`) and, unless `project=False`, by bringing q back after each
step.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from unibody.algebra.tree.aba import C
from unibody.constraints.base import Constraint
from unibody.coordinates.reduced.dynamics import evaluate_reduced
from unibody.coordinates.reduced.kinematics import advance_own, rate_own
from unibody.coordinates.reduced.products import carry_accelerations, fill_mass_matrix, fill_wrenches, gather_wrenches
from unibody.coordinates.reduced.system import ReducedSystem
from unibody.coordinates.reduced.tables import ReducedTables
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, ROWS
from unibody.coordinates.workspace import ARMATURE, EFFORT, GRAVITY, LEDGER, V_WB, X_WB, F, Y
from unibody.element import DAMPER_POWER, number
from unibody.errors import ModelError
from unibody.forces.base import Force
from unibody.joints.base import Joint
from unibody.memory import Field
from unibody.model import Model, State
from unibody.rules.dormand_prince import Stretch, first_step, take_step
from unibody.rules.time_rule import RULES, TimeRule, rule_name, rules_for, smooth
from unibody.shapes import Shape
from unibody.solvers.articulated.prebound_call import framed
from unibody.solvers.base import SMOOTH_FEEDBACK, Bound, Solver, Step, refuse_reaction

WORKS = 3
"""Of dampers, motors, applied wrenches, integrated with the motion by the adaptive rule."""


@dataclass(frozen=True)
class Articulated(Solver):
    """Options: `rule`, by its name or as a class; `rtol`, `atol` of "dopri5"; `feedback_time` [s] and `project` for loops

    (`feedback_time` None: ten steps of "semi-implicit", 0.1 s of the others)."""

    rule: str | type[TimeRule] = "semi-implicit"
    rtol: float = 1e-8
    atol: float = 1e-10
    feedback_time: float | None = None
    project: bool = True

    name = "articulated"
    rank = 1
    forces = "explicit"
    start_deeds = ("impact", "closes if small", "")

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", rule_name(self.rule, "reduced", "Articulated"))
        number(self.rtol, "Articulated rtol", positive=True)
        number(self.atol, "Articulated atol", positive=True)
        if self.feedback_time is not None:
            number(self.feedback_time, "Articulated feedback_time", positive=True)

    @classmethod
    def choices(cls, option: str) -> tuple[str, ...]:
        return rules_for("reduced") if option == "rule" else super().choices(option)

    def handles(self, element: Any, model: Model) -> str | None:
        if (reason := refuse_reaction(element)) is not None:
            return reason
        if isinstance(element, Constraint) and element.unilateral:
            return f"{type(element).__name__} is unilateral; this solver holds equalities only"
        if isinstance(element, Joint | Force | Constraint | Shape):
            return None
        return f"{type(element).__name__} is no element that reduced coordinates know"

    def bind(self, model: Model) -> BoundArticulated:
        self.check(model)
        system = ReducedSystem(ReducedTables(model))
        rule = RULES[str(self.rule)]
        system.feedback_time = SMOOTH_FEEDBACK if self.feedback_time is None and smooth(rule.name) else self.feedback_time
        system.set_projection(self.project)
        system.momenta = rule.momenta
        common: dict[str, Any] = dict(model=model, solver=self, coordinates="reduced", system=system, nq=model.nq, nv=model.nv)
        if rule.order is None:
            size, controls = model.nq + model.nv + WORKS, model.neutral_control().size
            return BoundAdaptive(**common, roll=None, kept=(
                Field("stretch_start", (), "s", "time at which the current stretch begins"),
                Field("stretch_end", (), "s", "time at which it ends"),
                Field("following_step", (), "s", "length of the stretch to try next"),
                Field("interpolant", (5, size), "as q, v, J", "coefficients by which q, v and work are interpolated within the stretch"),
                Field("stretch_control", (controls,), "as Control", "the control that the stretch was made with", missing=True),
            ))  # fmt: skip
        return BoundArticulated(**common, **rule.binding(system.nq_all, system.nv_all))


@dataclass(frozen=True)
class ForwardDynamics:
    """Forward dynamics on arrays of its own: `evaluate()` makes `acceleration` from `q`, `v` and `effort`, all of them overwritten in
    place."""

    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray
    acceleration: np.ndarray
    evaluate: Callable[[], None]
    bound: BoundArticulated = field(repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """`evaluate` holds addresses: a copy is made of the bound solver's copy, with the same numbers."""
        return arrived_dynamics, (self.bound, self.q, self.v, self.effort, self.acceleration)

    def __copy__(self) -> ForwardDynamics:
        return arrived_dynamics(copy.copy(self.bound), self.q, self.v, self.effort, self.acceleration)

    def __call__(self, q: Any, v: Any, effort: Any = 0.0) -> np.ndarray:
        self.q[:] = q
        self.v[:] = v
        self.effort[:] = effort
        self.evaluate()
        return self.acceleration


def arrived_dynamics(bound: BoundArticulated, *numbers: np.ndarray) -> ForwardDynamics:
    """The forward dynamics of a bound solver, which hold these q, v, efforts and accelerations."""
    made = bound.forward_dynamics_function()
    for own, given in zip((made.q, made.v, made.effort, made.acceleration), numbers, strict=True):
        own[:] = given
    return made


class BoundArticulated(Bound):
    """`Articulated` on a model: steps, and the dynamics at any (q, v) without a simulation."""

    system: ReducedSystem
    _forward: ForwardDynamics | None = None

    def _full(self, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        q_all, v_all = self.system.start()
        q_all[: self.nq] = q
        v_all[: self.nv] = 0.0 if v is None else v
        return q_all, v_all

    def _control(self, effort: Any) -> np.ndarray:
        control = self.model.neutral_control()
        if effort is not None:
            control[: self.nv] = effort
        return control

    def forward_dynamics(self, q: Any, v: Any, effort: Any = None) -> np.ndarray:
        """Accelerations (nv) under the model's forces and the given joint efforts."""
        return self.forward_dynamics_function()(q, v, 0.0 if effort is None else effort).copy()

    def forward_dynamics_function(self) -> ForwardDynamics:
        """`forward_dynamics` without overhead, for loops: f(q, v, effort) returns the same array every time, overwritten by the next
        call. Fastest: write into f.q, f.v and f.effort, call f.evaluate(), and read f.acceleration."""
        if self._forward is None:
            s = self.system
            q_all, v_all = s.start()
            control = self.model.neutral_control()
            evaluate = framed(evaluate_reduced, s.layout, s.ints, s.constants, s.stages(control), control, s.work, q_all, v_all)
            self._forward = ForwardDynamics(q_all[: self.nq], v_all[: self.nv], control[: self.nv], s.view(Y), evaluate, self)
        return self._forward

    def inverse_dynamics(self, q: Any, v: Any, a: Any) -> np.ndarray:
        """The joint efforts (nv) that, beside the model's forces, give the accelerations a (recursive Newton–Euler, O(n)); loops are left
        open."""
        s = self.system
        q_all, v_all = self._full(q, v)
        s.evaluate(0.0, q_all, v_all, self.model.neutral_control(), loads=True)
        if s.has_loops:
            raise ModelError("inverse_dynamics: the model has loops or constraints, so efforts are not unique; open them first")
        a = np.ascontiguousarray(a, float)
        rows, columns = s.view(ROWS), s.view(COLUMNS)
        carry_accelerations(s.view(BODIES), a, columns, rows)
        f, effort = np.zeros(6 * self.model.n_bodies), np.zeros(self.nv)
        fill_wrenches(s.view(BODIES), rows, s.view(X_WB), s.view(F), s.view(GRAVITY), f, np.zeros(2))
        gather_wrenches(s.view(BODIES), rows, columns, f, effort)
        passive = s.view(EFFORT)[: self.nv] + s.view(EFFORT)[self.model.nv_joints : self.model.nv_joints + self.nv]
        return effort + s.view(ARMATURE)[: self.nv] * a - passive

    def mass_matrix(self, q: Any) -> np.ndarray:
        """M(q), nv×nv, by composite rigid bodies; armature on the diagonal."""
        s = self.system
        q_all, v_all = self._full(q, None)
        s.evaluate(0.0, q_all, v_all, self.model.neutral_control())
        M = np.zeros(self.nv * self.nv)
        if self.nv:
            s.sweep(q_all, v_all)
            fill_mass_matrix(s.view(BODIES), s.view(ARMATURE), s.view(ROWS), s.view(COLUMNS), np.zeros(21 * self.model.n_bodies), M)
        return M.reshape(self.nv, self.nv)

    def _placed(self, q: Any) -> np.ndarray:
        """All joint coordinates; what is driven stands where it does at t = 0."""
        q_all, v_all = self._full(q, None)
        self.system.evaluate(0.0, q_all, v_all, self.model.neutral_control(), loads=True)
        return q_all

    def push(self, q: Any, v: Any) -> np.ndarray:
        """J v: twists V_WB_B (bodies, 6), in body axes at the origins, of joint velocities v."""
        return self.system.push(self._placed(q), np.asarray(v, float))

    def pull(self, q: Any, F_B: Any) -> np.ndarray:
        """Jᵀ F: efforts (nv) of wrenches (bodies, 6) given in body axes at the origins."""
        return self.system.pull(self._placed(q), np.asarray(F_B, float))

    def bias(self, q: Any, v: Any) -> np.ndarray:
        """J̇ v: the rates of V_WB_B (bodies, 6) when the joint accelerations are zero."""
        s = self.system
        q_all, v_all = self._full(q, v)
        s.evaluate(0.0, q_all, v_all, self.model.neutral_control(), loads=True)
        rest = s.view(ROWS).reshape(self.model.n_bodies, -1)[:, C : C + 6].copy()
        rest[:, 3:] += self.model.gravity
        return s.in_bodies(rest)

    def reactions(self, q: Any, v: Any, effort: Any = None) -> dict[str, np.ndarray]:
        """The wrench (6) through every joint: torque then force on the child at M, world axes."""
        q_all, v_all = self._full(q, v)
        seen = self.system.observe(0.0, q_all, v_all, self._control(effort))
        return {j.name: w for j, w in zip(self.model.joints, seen.reactions, strict=True)}

    def velocities(self) -> np.ndarray:
        """V_WB_B (bodies, 6) at the last evaluation."""
        return self.system.view(V_WB).reshape(-1, 6).copy()


class BoundAdaptive(BoundArticulated):
    """The adaptive rule: y = (q, v, works); memory also holds the current stretch with its interpolant and the control it was made with."""

    @cached_property
    def _weight(self) -> np.ndarray:
        """Of the parts of y in the error of a step: works follow the motion."""
        return np.repeat([1.0, 0.0], [self.nq + self.nv, WORKS])

    def _derivative(self, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Callable[[float, np.ndarray], np.ndarray]:
        """ẏ(t, y); q and v, fitted joints included, are those of its last call."""
        s = self.system
        stages = s.stages(control, loads=True)
        qdot = np.zeros_like(q)

        def f(t: float, y: np.ndarray) -> np.ndarray:
            q[: self.nq], v[: self.nv] = y[: self.nq], y[self.nq : self.nq + self.nv]
            evaluate_reduced(s.layout, s.ints, s.constants, stages, control, t, s.work, q, v)
            rate_own(s.layout, s.ints, s.constants, q, v, qdot)
            return np.concatenate([qdot[: self.nq], s.view(Y), s.view(LEDGER)[DAMPER_POWER : DAMPER_POWER + WORKS]])

        return f

    def step(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float) -> Step:
        began = time.perf_counter()
        self.system.prepare(dt)
        q, v, flat = self._unpack(state, memory)
        f, options, kept = self._derivative(q, v, control), self.solver, self.memory_schema.view(flat)
        here = np.concatenate([state.q, state.v, kept.work])
        start, end = kept.stretch_start, kept.stretch_end
        if start < end and start <= state.t <= end and np.array_equal(kept.stretch_control, control, equal_nan=True):
            stretch = Stretch(start, end, kept.interpolant, kept.following_step)
        else:
            first = first_step(f, state.t, here, options.atol + options.rtol * np.abs(here), dt)
            stretch = Stretch(state.t, state.t, np.array([here, *np.zeros((4, here.size))]), first)
        target = state.t + dt
        steps = rejected = 0
        while stretch.end < target:
            y = stretch.coefficients[0] + stretch.coefficients[1]
            made = take_step(f, stretch.end, self._on_manifold(y), stretch.following, options.rtol, options.atol, self._weight)
            if made is None:
                raise self.failure(state, memory, control, state.t)
            stretch, again = made
            steps, rejected = steps + 1, rejected + again
        y = self._on_manifold(stretch.at(target))
        self.system.callback_errors.error = (
            None if isinstance(self.system.callback_errors.error, Exception) else self.system.callback_errors.error
        )  # of trials
        f(target, y)
        kept.work, kept.power, kept.last_step, kept.time = y[-WORKS:], 0.0, 0.0, target
        if steps:  # a new stretch
            kept.stretch_start, kept.stretch_end, kept.following_step = stretch.start, stretch.end, stretch.following
            kept.interpolant, kept.stretch_control = stretch.coefficients, control
        return self.stepped(*self._pack(target, q, v, flat), began, iterations=steps + rejected)

    def _on_manifold(self, y: np.ndarray) -> np.ndarray:
        """y with its quaternions made unit."""
        s = self.system
        out = np.array(y)
        q, v = np.concatenate([y[: self.nq], np.zeros(self.nq_all - self.nq)]), np.zeros(self.nv_all)
        advance_own(s.layout, s.ints, s.constants, q, v, 0.0, q)
        out[: self.nq] = q[: self.nq]
        return out

    def rollout(
        self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int, every: int = 1, record: bool = True
    ) -> tuple[State, np.ndarray, np.ndarray, int]:
        """Single steps one after the other; an adaptive rule has no compiled loop."""
        return self.roll_by_steps(state, memory, control, dt, steps, every, record)
