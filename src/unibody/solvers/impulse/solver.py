"""Impulse: impulse-based simulation in maximal coordinates (paper 002 §3.2.1).

Every body flies by itself for a step; what its joints would then be apart, d(t + h), gives the impulses that prevent it,

    J M⁻¹ Jᵀ Δp = −d(t + h) / h        again and again, until |d| ≤ tolerance

so that joints hold at the level of positions and nothing drifts; a last impulse makes velocities fit. method="tree" solves for all joints
together, in O(n) by the factors of the spanning forest, loops and constraint elements as auxiliary rows; "local" goes from joint to joint.
Joints alone run compiled; contact, limits and dry friction take part in every preview, each a problem of impulses of its own.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.arrays import finite
from unibody.collision.shape_rights import given_materials
from unibody.constraints.base import Constraint
from unibody.constraints.contact import Contact
from unibody.coordinates.maximal.block_gauss_seidel import SWEEPS
from unibody.coordinates.maximal.system import MaximalSystem
from unibody.coordinates.maximal.tables import MaximalTables
from unibody.coordinates.observation import Observation
from unibody.coordinates.workspace import LEDGER
from unibody.element import is_word, number
from unibody.errors import ModelError, StepFailed
from unibody.forces.base import Force
from unibody.forces.dry_friction import DryFriction
from unibody.joints.base import Joint
from unibody.model import Model, State
from unibody.rules.base import DAMPER_WORK, book_work
from unibody.shapes import Shape
from unibody.solvers.base import Bound, Solver, Step, refuse_reaction, refuse_thin_contact
from unibody.solvers.impulse.contacts import Previewing
from unibody.stepping.contact_margin import contact_margin_of
from unibody.stepping.impulse_maximal import ImpulseMaximal
from unibody.stepping.impulses import ImpulseOptions
from unibody.stepping.memory import SteppingMemory, room_for
from unibody.stepping.step_solution import touching_of
from unibody.stepping.time_stepping import INSTANT, with_friction_rows

from unibody.solvers.impulse.step import (  # isort: skip
    BY, DIRECT, LIMIT, NOT_REACHED, NOT_SETTLED, PREVIEW_FACTS, TOLERANCE, WHERE, WRONG, roll_impulses, scratch_size,
)  # fmt: skip

METHODS = ("tree", "local")
PREVIEW_LIMIT = {"tree": 100, "local": 20_000}
CLOSE = 1e-11
"""The tolerance, as a part of the model's size."""


@dataclass(frozen=True)
class Impulse(Solver):
    """Options: `method`; `tolerance` [m, rad] of joints and constraints at the end of a step (None: 1e-11 times the model's size);
    `iterations`: the most previews of a step (0: the method's own); `coordinates` "auto" (planar worlds without contact, limits and dry
    friction: "planar", else "maximal"). Of contacts: `contact_tolerance` [m/s]; `margin` [m] within which they are found (None: by speed);
    `bounce_above` [m/s]: slower impacts do not bounce."""

    method: str = "tree"
    tolerance: float | None = None
    iterations: int = 0
    coordinates: str = "auto"
    contact_tolerance: float = 1e-10
    margin: float | None = None
    bounce_above: float = 1e-3

    name = "impulse"
    rank = 4
    forces = "explicit"
    parts_overlaps = True
    impacts = True
    start_deeds = ("impact", "closes", "creeps back")

    def __post_init__(self) -> None:
        for value, known, what in ((self.method, METHODS, "method"), (self.coordinates, ("auto", "maximal", "planar"), "coordinates")):
            if not is_word(value, known):
                raise ModelError(f"Impulse: {what} {value!r} is unknown; give one of {', '.join(known)}")
        for given, what in ((self.tolerance, "tolerance"), (self.contact_tolerance, "contact_tolerance"), (self.margin, "margin")):
            if given is not None:
                number(given, f"Impulse {what}", positive=True)
        number(self.iterations, "Impulse iterations", minimum=0)
        number(self.bounce_above, "Impulse bounce_above", minimum=0.0)

    def handles(self, element: Any, model: Model) -> str | None:
        name = type(element).__name__
        if (reason := refuse_reaction(element)) is not None:
            return reason
        if self.method == "local" and one_sided(element):
            return f"{name} needs method='tree'"
        if isinstance(element, Contact):
            if (reason := refuse_thin_contact(element, model)) is not None:
                return reason
            if element.damping > 0.0 or element.pressure is not None:
                return "damping and pressure of a Contact belong to a barrier; give restitution"
            if model.planar and (element.torsion > 0.0 or element.across is not None):
                return "torsion and across of a Contact have no meaning in a planar world"
            if model.planar and any((m.torsion or 0.0) > 0.0 for m in given_materials(model)):
                return "torsion of a ContactMaterial has no meaning in a planar world; leave it out"
            return None
        if isinstance(element, Joint):
            armed = any(j.element is element and j.armature.any() for j in model.joints)
            return "armature needs method='tree'" if armed and self.method == "local" else None
        if isinstance(element, Constraint) and element.barred:
            return f"{name} asks for a barrier, which needs a solver with barriers"
        if isinstance(element, Force | Constraint | Shape):
            return None
        return f"{name} is no element that maximal coordinates know"

    def bind(self, model: Model) -> Bound:
        self.check(model)
        if self.coordinates == "planar" and not model.planar:
            raise ModelError("Impulse: coordinates 'planar' need a planar world; give Builder(planar=True) or coordinates='maximal'")
        sided = [n for n, e in (*model.constraints, *model.forces) if one_sided(e)]
        tolerance = CLOSE * size_of(model) if self.tolerance is None else self.tolerance
        limit = int(self.iterations) or PREVIEW_LIMIT[self.method]
        if sided:
            if self.coordinates == "planar":
                raise ModelError(f"Impulse: '{sided[0]}' needs coordinates 'maximal', in a planar world too")
            return self._bind_sided(model, tolerance, limit)
        planar = model.planar and self.coordinates != "maximal"
        system = MaximalSystem(MaximalTables(model, planar, self.method))
        system.set_projection(True)
        system.momenta = True
        scratch = np.zeros(scratch_size(system.nq_all, system.nv_all))
        scratch[TOLERANCE], scratch[LIMIT], scratch[DIRECT] = tolerance, limit, float(self.method == "tree")
        return BoundImpulse(
            model, self, "planar" if planar else "maximal", system, system.q_width * system.n, system.width * system.n, roll_impulses,
            scratch=scratch, kept=PREVIEW_FACTS,
        )  # fmt: skip

    def _bind_sided(self, model: Model, tolerance: float, limit: int) -> BoundSided:
        system = ImpulseMaximal(with_friction_rows(model))
        near = contact_margin_of(model, self.margin)
        rule = Previewing(model, system, ImpulseOptions("auto", "coulomb", 0, self.contact_tolerance, 0), self.bounce_above, False, near)
        rule.begin(tolerance, limit)
        layout = SteppingMemory(system.nq_all, system.nv_all, len(rule.unilateral), room_for(model, near is not None))
        kept = (*layout.fields, *PREVIEW_FACTS)
        return BoundSided(model, self, "maximal", system, 7 * system.n, 6 * system.n, None, kept=kept, rule=rule, arrangement=layout)


def one_sided(element: Any) -> bool:
    """Whether an element's impulses are bounded: contact, limits, dry friction."""
    return isinstance(element, DryFriction) or (isinstance(element, Constraint) and element.unilateral)


def size_of(model: Model) -> float:
    """How far a model's bodies and joints reach at the start [m]; 1 where they are all in one place."""
    points = [b.X_WB.p for b in model.bodies] + [model.bodies[j.parent].X_WB.apply(j.X_PF.p) for j in model.joints]
    spread = np.ptp(np.array(points), axis=0)
    return float(np.linalg.norm(spread)) or 1.0


@dataclass
class BoundImpulse(Bound):
    """`Impulse` on a model of equations alone."""

    system: MaximalSystem | ImpulseMaximal

    def _aim(self, dt: float) -> None:
        """First impulses of a step aim at C + h Ċ + h² C̈ = 0."""
        self.bodies.k_v, self.bodies.k_q = 1.0 / dt, 1.0 / dt**2

    @property
    def bodies(self) -> MaximalSystem:
        """The bodies and joints in maximal or planar coordinates."""
        assert isinstance(self.system, MaximalSystem)
        return self.system

    def rollout(
        self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int, every: int = 1, record: bool = True
    ) -> tuple[State, np.ndarray, np.ndarray, int]:
        self._aim(dt)
        return super().rollout(state, memory, control, dt, steps, every, record)

    def step_facts(self, memory: np.ndarray | None = None) -> dict[str, Any]:
        facts = super().step_facts()
        if self.solver.method == "local":
            notes = (*facts["notes"], f"{SWEEPS} sweeps from joint to joint after every preview")
            facts |= {"notes": notes, "redundant": 0}
        return facts if memory is None else facts | self._solution_facts(memory)

    def _solution_facts(self, memory: np.ndarray) -> dict[str, Any]:
        """What a report says of the previews of a step."""
        kept = self.memory_schema.view(memory)
        return {"iterations": int(kept.previews), "residual": kept.left, "violation": kept.left}

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state; reactions and multipliers are those of the instant."""
        out = super().observe(state, memory, control)
        kept = self.memory_schema.view(memory)
        out.iterations, out.residual = int(kept.previews), kept.left
        return out

    def failure(self, state: State, memory: np.ndarray, control: np.ndarray, t: float) -> StepFailed:
        wrong = int(self.scratch[WRONG])
        if wrong not in (NOT_REACHED, NOT_SETTLED):
            return super().failure(state, memory, control, t)
        return self._not_closed(t, int(self.scratch[WHERE]), float(self.scratch[BY]), int(self.scratch[LIMIT]), wrong == NOT_SETTLED)

    def _not_closed(self, t: float, row: int, left: float, previews: int, rate: bool = False) -> StepFailed:
        """The error for a step whose joints do not close."""
        element = self.system.constraints.names[row]
        what = f"parting at {left:.3g} m/s or rad/s" if rate else f"apart by {left:.3g} m or rad"
        why = f"after {previews} previews it is still {what}; try a smaller dt, more iterations or a larger tolerance"
        return self.failed_step(t, "not converged", element, why, iterations=previews, residual=left, **self.step_facts())


@dataclass
class BoundSided(BoundImpulse):
    """`Impulse` on a model with contact, limits or dry friction; memory as `SteppingMemory` describes it, then the same facts."""

    system: ImpulseMaximal
    rule: Any = None
    arrangement: Any = None

    @property
    def bodies(self) -> MaximalSystem:
        return self.system.dynamics

    def step(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float) -> Step:
        began = time.perf_counter()
        q, v, flat = self._unpack(state, memory)
        system, rule, layout, kept = self.system, self.rule, self.arrangement, self.memory_schema.view(flat)
        self._aim(dt)
        system.prepare(dt)
        if not system.look(state.t, q, v, control):
            raise Bound.failure(self, state, memory, control, state.t)
        book_work(system.view(LEDGER), dt, flat)
        ahead = rule.advance(state.t, q, v, dt, layout.warm(flat, dt))
        if rule.near is not None:
            self.refuse_contact(state.t, rule.near.crossing())
        left, row, rate = rule.settle(state.t + dt, ahead, control, dt)
        if not finite(ahead.q, ahead.v):
            raise Bound.failure(self, state, memory, control, state.t)
        if left > rule.tolerance:
            raise self._not_closed(state.t, row, left, ahead.previews)
        layout.keep(ahead.solution, dt, q, v, flat)
        kept.previews, kept.left, kept.left_rate, kept.time = ahead.previews, ahead.left, rate, state.t + dt
        flat[DAMPER_WORK] += ahead.solution.work
        after, memory = self._pack(state.t + dt, ahead.q, ahead.v, flat)
        if rule.near is not None:
            self.refuse_contact(state.t, rule.near.passage(after))
        return self.stepped(after, memory, began, violation=left)

    def rollout(
        self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int, every: int = 1, record: bool = True
    ) -> tuple[State, np.ndarray, np.ndarray, int]:
        """Single steps one after the other."""
        return self.roll_by_steps(state, memory, control, dt, steps, every, record)

    def step_facts(self, memory: np.ndarray | None = None) -> dict[str, Any]:
        facts = super().step_facts(memory)
        return facts if self.rule.bilateral.size else {**facts, "redundant": 0}

    def failure(self, state: State, memory: np.ndarray, control: np.ndarray, t: float) -> StepFailed:
        return Bound.failure(self, state, memory, control, t)

    def _solution_facts(self, memory: np.ndarray) -> dict[str, Any]:
        """What a report says of the problem of a step."""
        kept, notes = self.memory_schema.view(memory), list(self.system.notes())
        if kept.left > self.rule.tolerance:
            notes.append(f"previews left joints {kept.left:.2g} m or rad apart; positions were put right without impulses")
        if kept.contact_count:
            notes.append(f"{int(kept.contact_count)} contacts, least gap {kept.least_gap:.3g} m, impulses to {kept.residual:.2g} m/s")
        if self.rule.deep.warning:
            notes.append(self.rule.deep.warning)
        if not kept.converged:
            notes.append("the impulses of contacts did not reach their tolerance")
        if kept.gained > 0.0:
            notes.append(f"impacts added {kept.gained:.3g} J of kinetic energy")
        distance = kept.least_gap if kept.contact_count else float("inf")
        return {"iterations": int(kept.previews), "residual": kept.left, "minimum_distance": distance, "notes": tuple(notes)}

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state; reactions, multipliers and contacts are impulse / h of the step that ended there, at the start
        those of the instant."""
        q, v, flat = self._unpack(state, memory)
        system, rule, kept = self.system, self.rule, self.memory_schema.view(flat)
        h = kept.step_length
        if h > 0.0:
            self._aim(h)
            system.prepare(h)
            system.look(state.t - h, kept.begun_q.copy(), kept.begun_v.copy(), control)
            solution = rule.advance(state.t - h, kept.begun_q.copy(), kept.begun_v.copy(), h, self.arrangement.warm(flat, h)).solution
            gaps = solution.touches.gaps + h * solution.after[:, 0]
        else:
            h = INSTANT
            system.prepare(np.inf)
            system.look(state.t, q.copy(), v.copy(), control)
            rule.fresh()
            solution = rule.solve_step(h, instant=True)
            rule.push(solution, h)
            gaps = solution.touches.gaps
        slips = np.linalg.norm(solution.after[:, 1:3], axis=1)
        through = system.through()
        out = Bound.observe(self, state, memory, control)
        out.take_reactions(through)
        if not rule.bilateral.size:
            out.redundant, out.redundant_names = 0, ()
        if rule.near is not None:
            out.contacts = touching_of(solution, gaps, slips, h, self.solver.bounce_above)
        if kept.step_length > 0.0:
            out.take_facts(**self._solution_facts(flat))
        return out
