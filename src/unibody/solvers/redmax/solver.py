"""RedMax: linearly implicit dynamics in reduced coordinates, with stiff forces between any bodies (paper 000).

    (Jᵀ (M + h D − h² K) J + h D_r − h² K_r) v⁺ = Jᵀ M J v + h (f_r + Jᵀ (f − M J̇ v))        (Eq. 2, with rows as in Eq. 4, 5 and 7)

Forces that give stiffness and damping blocks enter implicitly, unless they are named in `explicit`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unibody.algebra.tree.aba import BODY
from unibody.constraints.base import Constraint
from unibody.contact.joint_friction_variables import TOLERANCE
from unibody.coordinates.observation import Observation
from unibody.coordinates.reduced.observe import reactions_reduced
from unibody.coordinates.reduced.workspace import APART, BODIES, COUNTDOWN, FLAT, STATUS
from unibody.coordinates.workspace import LEDGER, RESIDUAL
from unibody.element import is_word, number, several
from unibody.errors import ModelError, StepFailed
from unibody.forces.base import Force
from unibody.joints.base import Joint
from unibody.memory import Field
from unibody.model import Model, State
from unibody.model.deformable import DeformableInfo
from unibody.rules.base import DAMPER_WORK, begun_fields
from unibody.shapes import Shape
from unibody.solvers.base import Bound, Solver, Step, needs_reaction
from unibody.solvers.redmax.flesh_bound import CarriesVertices, CarriesVerticesImplicitly
from unibody.solvers.redmax.flesh_system import FleshSystem
from unibody.solvers.redmax.friction_steps import JointFrictionSteps
from unibody.solvers.redmax.implicit import ALPHA, KAPPA, ImplicitStage, solve_stage
from unibody.solvers.redmax.joint_friction import AN_INSTANT, JointFrictions, Moment
from unibody.solvers.redmax.linearly_implicit import BEGINNING, SUDDEN, book_implicit_work, mean_power, roll_linearly_implicit
from unibody.solvers.redmax.system import LINEAR, RedMaxSystem

RULES = ("linearly-implicit", "implicit", "bdf2")
LIMITS = ("anticipate", "violated")
GEOMETRIC = ("definite", "exact")
INERTIA = ("bounded", "explicit")

DRIVEN = 3
"""Of a node's integers: where its prescribed motion is."""


@dataclass(frozen=True)
class RedMax(Solver):
    """Options: `rule`; `linear`, the way to solve; `tolerance` of iterations, as a part of the velocity; `explicit`, names of forces that
    are not to be implicit; `stabilisation_time` τ [s] in which violated rows are brought back (None: ten steps); `project`, whether q is
    put onto the rows after every step; `limits`: unilateral rows are held so that they are not violated ("anticipate"), or once they are
    ("violated", as the authors do); `geometric`: of the stiffness of the linearly implicit rule either what is positive semidefinite
    ("definite": along a spring, and across it while it pulls), or the exact derivatives made symmetric ("exact", as the authors);
    `inertia`: whether the linearly implicit rule takes out kinetic energy that its explicit inertial forces create where steps do not
    resolve the motion ("bounded"), or leaves it ("explicit", as the authors)."""

    rule: str = "linearly-implicit"
    linear: str = "auto"
    tolerance: float = 1e-7
    explicit: tuple[str, ...] = ()
    stabilisation_time: float | None = None
    project: bool = True
    limits: str = "anticipate"
    geometric: str = "definite"
    inertia: str = "bounded"

    name = "redmax"
    rank = 2
    forces = "implicit"
    compromises = True
    deformables = True
    deformable_rank = 6.5  # behind "barrier", which never turns matter inside out and resolves what turns fast
    start_deeds = ("impact", "closes if small", "shoots back")

    def __post_init__(self) -> None:
        if not is_word(self.rule, RULES):
            raise ModelError(f"RedMax: rule {self.rule!r} is unknown; give one of {', '.join(RULES)}")
        if not is_word(self.linear, LINEAR):
            raise ModelError(f"RedMax: linear {self.linear!r} is unknown; give one of {', '.join(LINEAR)}")
        if not is_word(self.limits, LIMITS):
            raise ModelError(f"RedMax: limits {self.limits!r} is unknown; give one of {', '.join(LIMITS)}")
        if not is_word(self.geometric, GEOMETRIC):
            raise ModelError(f"RedMax: geometric {self.geometric!r} is unknown; give one of {', '.join(GEOMETRIC)}")
        if not is_word(self.inertia, INERTIA):
            raise ModelError(f"RedMax: inertia {self.inertia!r} is unknown; give one of {', '.join(INERTIA)}")
        if number(self.tolerance, "RedMax tolerance", positive=True) > 0.1:
            raise ModelError(f"RedMax: tolerance {self.tolerance!r} is no small part of the velocity; give 0.1 or less")
        if self.stabilisation_time is not None:
            number(self.stabilisation_time, "RedMax stabilisation_time", positive=True, infinite=True)
        if not isinstance(self.project, bool):
            raise ModelError(f"RedMax: project {self.project!r} is neither True nor False")
        names = (self.explicit,) if isinstance(self.explicit, str) or not several(self.explicit) else self.explicit
        if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
            raise ModelError(f"RedMax: explicit {self.explicit!r} are no names; give those of forces, such as ('spring',)")
        object.__setattr__(self, "explicit", tuple(names))

    def handles(self, element: Any, model: Model) -> str | None:
        if getattr(element, "surfaces", False):
            return "contact of surfaces needs a solver that knows them"
        if isinstance(element, Constraint) and element.barred:
            return f"damping, reach and stiffness of a {type(element).__name__} are those of a barrier, which this solver does not have"
        if needs_reaction(element) and self.rule != "linearly-implicit":
            return f"{type(element).__name__} acts in rule 'linearly-implicit' only, not in '{self.rule}'"
        if (reason := flesh_reason(element, model)) is not None:
            return reason
        if isinstance(element, Joint | Force | Constraint | Shape | DeformableInfo):
            return None
        return f"{type(element).__name__} is no element that reduced coordinates know"

    def bind(self, model: Model) -> BoundRedMax:
        self.check(model)
        known = [name for name, _ in model.forces]
        for name in self.explicit:
            if name not in known:
                raise ModelError(f"RedMax explicit: no force is named {name!r}; the forces are {', '.join(known) or 'none'}")
        if self.linear == "kkt" and not model.deformables:
            raise ModelError("RedMax: linear='kkt' is a form of steps with deformables, and this model has none; give linear='direct'")
        anticipate = self.limits == "anticipate"
        definite = self.geometric == "definite" and self.rule == "linearly-implicit"
        system = (FleshSystem if model.deformables else RedMaxSystem)(
            model, self.linear, frozenset(self.explicit), self.tolerance, self.stabilisation_time, anticipate, definite
        )  # fmt: skip
        system.set_projection(self.project)
        system.dynamics.momenta = self.rule == "linearly-implicit"
        kept = (*BEGINNING, *begun_fields(system.nq_all, system.nv_all))
        more = 3 * len(model.free_vertices)
        nq, nv = model.nq + more, model.nv + more
        common: dict[str, Any] = dict(model=model, solver=self, coordinates="reduced", system=system, nq=nq, nv=nv)
        if self.rule == "linearly-implicit":
            driven = bool((system.view(BODIES).reshape(-1, BODY)[1:, DRIVEN] >= 0).any())
            common |= dict(roll=roll_linearly_implicit, explicit=int(self.inertia == "explicit" or driven))
            if any(needs_reaction(force) for _, force in model.forces):
                steps = JointFrictionSteps(JointFrictions(system, model))
                return BoundFriction(**common | dict(roll=steps), kept=steps.kept, steps=steps)
            return (BoundFlesh if model.deformables else BoundRedMax)(**common, kept=kept)
        end = Field("acceleration", (nv,), "m/s², rad/s²", "at the end of the last step")
        if isinstance(system, FleshSystem):
            system.at_ends = True
        return (BoundImplicitFlesh if model.deformables else BoundImplicit)(**common, roll=None, kept=(*kept, end))


class BoundRedMax(Bound):
    """`RedMax` on a model."""

    system: RedMaxSystem

    def _look_at(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> None:
        self.system.look(t, q, v, control)  # nothing needs to be solved

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state; reactions and multipliers are those of the step that ended there (its impulses over h)."""
        out = self._look(state, memory, control)
        kept = self.memory_schema.view(memory)
        h = kept.step_length
        if h > 0.0:
            self.system.prepare(h)
            self.system.view(STATUS)[FLAT] = kept.flattened
            self.system.advance_from(state.t - h, kept.begun_q.copy(), kept.begun_v.copy(), control)
            out.take_reactions(reactions_reduced(self.system.dynamics))
            out.iterations, out.notes = int(kept.iterations), self.system.notes()
            self.system.view(STATUS)[FLAT] = 0.0
            if kept.taken > SUDDEN * kept.peak:
                curbed = "kinetic energy that no force explains was taken out; a smaller dt resolves the motion"
                out.notes = (*out.notes, f"{curbed} ({kept.taken:.3g} J so far, in {int(kept.curbed)} steps)")
        return out

    def _look(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """What can be said of the state alone, and the work done up to it."""
        out = super().observe(state, memory, control)
        kept = self.memory_schema.view(memory)
        last = [mean_power(float(a), float(b)) for a, b in zip(kept.power, out.powers, strict=True)]
        out.work = kept.work + kept.last_step * np.array(last)
        return out

    def step_facts(self, memory: np.ndarray | None = None) -> dict[str, Any]:
        return {**super().step_facts(memory), "iterations": self.system.iterations, "notes": self.system.notes()}

    def failure(self, state: State, memory: np.ndarray, control: np.ndarray, t: float) -> StepFailed:
        """A step that pulled a loop apart names it."""
        system = self.system
        row = int(system.view(STATUS)[APART]) - 1
        if row < 0 or self.failed is not None or system.callback_errors.error is not None:
            return super().failure(state, memory, control, t)
        system.view(STATUS)[APART] = 0.0
        element, unit = system.constraints.names[row], system.constraints.units[row]
        off = float(abs(system.view(RESIDUAL)[row]))
        why = f"its rows cannot be met after the step, which leaves them open by {off:.3g} {unit}; is it taut or locked? Try a smaller dt"
        return self.failed_step(t, "pulled apart", element, why, **self.step_facts())


class BoundFlesh(CarriesVertices, BoundRedMax):
    """The linearly implicit rule with deformables."""


@dataclass
class BoundFriction(BoundRedMax):
    """The linearly implicit rule with friction in joints: every step finds its friction first (`JointFrictionSteps`)."""

    steps: JointFrictionSteps = field(kw_only=True)

    def step_facts(self, memory: np.ndarray | None = None) -> dict[str, Any]:
        found = self.steps.kept_friction(self.steps.last)
        return {**super().step_facts(memory), "iterations": int(found.iterations), "residual": found.change}

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """As without friction, and friction in every joint; at the start, over an instant."""
        q, v, flat = self._unpack(state, memory)
        kept, frictions = self.memory_schema.view(flat), self.steps.frictions
        h, t, found = kept.step_length, state.t - kept.step_length, kept.joint_friction
        if h > 0.0:
            q, v = kept.begun_q.copy(), kept.begun_v.copy()
        else:
            h = AN_INSTANT
            self.steps.find(Moment(t, q, v, control, h), found.friction.copy(), flat)
        u = found.friction
        frictions.act(u)
        out = super().observe(state, memory, control)
        y = frictions.evaluate(Moment(t, q, v, control, h), u)
        reactions = reactions_reduced(self.system.dynamics)
        out.take_reactions(reactions)
        out.joint_friction = frictions.seen(reactions, u, v, y, h)
        out.iterations, out.residual = int(found.iterations), found.change
        if out.residual > TOLERANCE:
            out.notes = (*out.notes, f"joint friction did not settle: what it carries still changed by {out.residual:.1e}")
        return out


class BoundImplicit(BoundRedMax):
    """The fully implicit rules. Memory also holds the accelerations at the end of the last step; the length of a step after which BDF2
    is to start anew is kept with a minus sign."""

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state; reactions and multipliers are those of the end of the step that ended there."""
        out = self._look(state, memory, control)
        q, v, flat = self._unpack(state, memory)
        kept, system = self.memory_schema.view(flat), self.system
        h = abs(kept.step_length)
        if h > 0.0:
            system.prepare(h)
            system.correct(state.t, q, v, kept.acceleration.copy(), None, control)
            out.take_reactions(reactions_reduced(system.dynamics))
            out.iterations, out.notes = int(kept.iterations), system.notes()
        return out

    def step(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float) -> Step:
        began = time.perf_counter()
        q, v, flat = self._unpack(state, memory)
        system, own, h, kept = self.system, self.system.own, dt, self.memory_schema.view(flat)
        # the beginning of the step: what the rows aim at, their velocities, and the work of implicit forces
        system.prepare(dt)
        status = system.view(STATUS)
        status[COUNTDOWN] = kept.countdown
        q_all, v_all = q.copy(), v.copy()
        system.look(state.t, q_all, v_all, control)
        aim, rate = system.aim(dt), system.row_velocities()
        book_implicit_work(system.view(LEDGER), dt, flat)
        lost: list[tuple[float, np.ndarray, np.ndarray]] = []

        # one Newton correction of the stage v = stage.v + g a, q = stage.q ⊕ (g v + d): q, the correction y, and the weights of velocities
        def correct(stage: ImplicitStage, guess: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            system.prepare(stage.g)
            v_all[own] = guess
            moved = v_all.copy()
            moved[own] += stage.d / stage.g
            system.move(stage.q, moved, stage.g, q_all)
            y = system.correct(stage.t, q_all, v_all, a, aim, control).copy()
            if not np.isfinite(y).all():
                lost.append((stage.t, q_all.copy(), v_all.copy()))
            return q_all.copy(), y, system.weights()

        # implicit Euler; BDF2 with v = (4 v − v₋₁)/3 + (2 h/3) a; or, without history, the first stage of SDIRK2 with α = 1 − 1/√2
        t, none = state.t + h, np.zeros(own.size)
        v_own, last = v[own], kept.step_length
        fresh = last != h if self.solver.rule == "implicit" else last != h and last >= 0.0
        n = self.normal_acceleration(state.t, q, v, control, h) if fresh else none
        if self.solver.rule == "implicit":
            stages = [ImplicitStage(t, q, none, v_own - 0.5 * (h - last) * n, h)]
        elif last == h:
            turned = system.difference(kept.begun_q, q)
            stages = [ImplicitStage(t, q, turned / 3.0, (4.0 * v_own - kept.begun_v[own]) / 3.0, 2.0 * h / 3.0)]
        else:
            stages = [ImplicitStage(state.t + ALPHA * h, q, none, v_own - 0.5 * ALPHA * h * n, ALPHA * h)]
        solved = solve_stage(stages[0], stages[0].v + stages[0].g * kept.acceleration, correct)
        pushed = self.solver.rule == "bdf2" and system.pushes()
        # the second stage of SDIRK2: v = v + (1 − α) h a₁ + α h a₂
        if solved is not None and not pushed and self.solver.rule == "bdf2" and last != h:
            rest = (1.0 - ALPHA) * h
            second = ImplicitStage(t, q, rest * solved.v, v_own + rest * solved.a + KAPPA * h * n, ALPHA * h)
            solved = solve_stage(second, solved.v, correct)
            if solved is not None:
                solved.v = solved.v - KAPPA * h * n
            pushed = system.pushes()
        if pushed:  # an impact has no history to extrapolate: implicit Euler, and a fresh start afterwards
            solved = solve_stage(ImplicitStage(t, q, none, v_own, h), v_own, correct)
        if solved is None:
            raise self.not_converged(state, memory, control, lost)
        # the work of limits, and what the next step needs
        flat[DAMPER_WORK] += h * float(system.limit_forces() @ (0.5 * (rate + system.row_velocities())))
        kept.step_length, kept.countdown, kept.iterations = -h if pushed else h, status[COUNTDOWN], solved.corrections
        kept.begun_q, kept.begun_v, kept.acceleration, kept.time = q, v, solved.a, t
        v_all[own] = solved.v
        made = self.stepped(*self._pack(t, solved.q, v_all, flat), began, iterations=solved.corrections)
        if isinstance(system.callback_errors.error, Exception):  # of a trial, or also where the step ends
            system.callback_errors.error = None
            system.look(t, np.array(solved.q), np.array(v_all), control)
        return made

    def normal_acceleration(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, h: float) -> np.ndarray:
        """n of a start (`implicit`); 0 without rows, and where a step does not resolve it: rows near a singular configuration ask for
        accelerations of any size. It is resolved if a step does not turn velocities by more than themselves; or, where a drive sets off
        what is at rest, if the velocities that it gives within the step do not change n by more than itself."""
        system, own = self.system, self.system.own
        if not system.constraints.rows:
            return np.zeros(own.size)
        countdown = float(system.view(STATUS)[COUNTDOWN])
        n = system.normal_acceleration(t, q.copy(), v.copy(), control)
        weight = system.weights()
        resolved = np.linalg.norm(weight * n) * h <= np.linalg.norm(weight * v[own])
        if not resolved and np.isfinite(n).all():
            ahead = v.copy()
            ahead[own] += h * n
            changed = system.normal_acceleration(t, q.copy(), ahead, control) - n
            resolved = np.linalg.norm(weight * changed) <= np.linalg.norm(weight * n)  # not if it is no number
        system.view(STATUS)[COUNTDOWN] = countdown
        return n if np.isfinite(n).all() and resolved else np.zeros(own.size)

    def not_converged(
        self, state: State, memory: np.ndarray, control: np.ndarray, lost: list[tuple[float, np.ndarray, np.ndarray]]
    ) -> StepFailed:
        """The error for a Newton iteration without end, near what was not finite where the iteration was lost, if it was."""
        if self.system.callback_errors.error is not None:
            return self.failure(state, memory, control, state.t)
        q, v, _ = self._unpack(state, memory)
        element = self.system.culprit(*(lost[-1] if lost else (state.t, q, v)), control)
        why = "Newton's iteration did not converge; try a smaller dt or rule='linearly-implicit'"
        return self.failed_step(state.t, "not converged", element, why, **self.step_facts())

    def rollout(
        self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int, every: int = 1, record: bool = True
    ) -> tuple[State, np.ndarray, np.ndarray, int]:
        """Single steps one after the other: Newton's iteration runs in Python."""
        return self.roll_by_steps(state, memory, control, dt, steps, every, record)


class BoundImplicitFlesh(CarriesVerticesImplicitly, BoundImplicit):
    """The fully implicit rules with deformables."""


def flesh_reason(element: Any, model: Model) -> str | None:
    """Why an element cannot stand in a model with deformables, if it cannot."""
    if not model.deformables:
        return None
    if isinstance(element, DeformableInfo) and element.inertia is not None:
        return "material frames, and masses that are not lumped, need solver 'barrier'"
    if needs_reaction(element):
        return f"{type(element).__name__} does not act in models with deformables"
    if not isinstance(element, Constraint):
        return None
    points = [model.vertex_points[i - model.n_bodies] for i in map(model.body, element.bodies()) if i >= model.n_bodies]
    known = {int(i) for p in model.prescribed for i in p.vertices}
    if any(known & supports(model, int(i)) for p in points for i in p.vertices):
        return f"{type(element).__name__} would hold prescribed vertices, which follow their motion alone; take others"
    return None


def supports(model: Model, vertex: int) -> set[int]:
    """A vertex and those that it is attached to."""
    out = {vertex}
    for a in model.attachments:
        if a.body < 0:
            for i, on in zip(a.vertices.tolist(), a.support.tolist(), strict=True):
                out |= {int(s) for s in on if i == vertex and s >= 0}
    return out
