"""Penalty: joints and constraints as penalty forces in maximal coordinates (paper 002 §3.2.1).

    F = −α Jᵀ (C̈ + 2 Ω μ Ċ + Ω² C)      of rows C = 0; C ≥ 0 where rows only push
    F = −α Jᵀ (C̈ + ν Ċ)                 of rows on velocities alone (nonholonomic)

A row C under a steady load λ gives way by λ / (α Ω²). α, like a mass, says how little a row yields at first; it does not make the motion
faster: C̈ + 2 Ω μ s Ċ + Ω² s C = 0 with s = α/(m + α) < 1, so that stability asks for small Ω h, whatever α. Without Ω being given it
follows the step, and as the step goes to 0, joints hold exactly. Joints alone run compiled; contact comes in steps that run in Python.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import Any

import numpy as np

from unibody.algebra.contact.compliant import TOLERANCE
from unibody.arrays import finite
from unibody.collision.shape_rights import given_materials
from unibody.constraints.base import Constraint
from unibody.constraints.contact import Contact
from unibody.coordinates.observation import Observation
from unibody.coordinates.workspace import LEDGER, Y
from unibody.element import is_word, number
from unibody.errors import ModelError
from unibody.forces.base import Force
from unibody.joints.base import Joint
from unibody.memory import Field
from unibody.model import Model, State
from unibody.rules.base import DAMPER_WORK, LAST_STEP, begun_fields, book_work
from unibody.rules.euler import roll_euler
from unibody.shapes import Shape
from unibody.solvers.base import Bound, Solver, Step, refuse_reaction, refuse_thin_contact
from unibody.solvers.penalty.contacts import PenaltyContacts, Pushes
from unibody.solvers.penalty.dynamics import PenaltyDynamics
from unibody.solvers.penalty.system import Gains, PenalisedSystem, PenaltyParameters
from unibody.stepping.contact_margin import contact_margin_of

RULES = ("linearly-implicit", "semi-implicit")

INSTANT = 1e-6
"""[s] The step that stands for an instant."""

RATIO = 1e3
"""α as a multiple of the mass that a row feels."""


def stable_turn(mu: float) -> float:
    """Ω h up to which the semi-implicit rule is stable, whatever mass a row feels (s → 1)."""
    return 2.0 * (sqrt(1.0 + mu * mu) - mu)


def turn(rule: str, mu: float) -> float:
    """Ω h where Ω follows the step: half of what the semi-implicit rule is stable up to; 1 where nothing limits it."""
    return 1.0 if rule == "linearly-implicit" else 0.5 * stable_turn(mu)


@dataclass(frozen=True)
class Penalty(Solver):
    """Options: `rule` ("semi-implicit": explicit forces, in world momenta; "linearly-implicit": the penalties, and only they, are those of
    the end of the step); `alpha` α [kg; kg m² of rows in rad], None: `ratio` times the mass that each row feels; `omega` Ω [rad/s], None:
    from the step; `mu` damping ratio [1]; `rate` ν [1/s] of nonholonomic rows, None: 2 Ω μ; `coordinates` as in Lagrange. Of contacts:
    `slip_speed` [m/s], below which friction is a damper and creeps; `margin` [m] within which they are found (None: by speed)."""

    rule: str = "linearly-implicit"
    alpha: float | None = None
    omega: float | None = None
    mu: float = 1.0
    rate: float | None = None
    ratio: float = RATIO
    coordinates: str = "auto"
    slip_speed: float = 1e-3
    margin: float | None = None

    name = "penalty"
    rank = 5
    forces = "explicit"
    gives_way = True
    compromises = True
    parts_overlaps = True
    start_deeds = ("forces", "pulls", "shoots back")

    def __post_init__(self) -> None:
        for value, known, what in ((self.rule, RULES, "rule"), (self.coordinates, ("auto", "maximal", "planar"), "coordinates")):
            if not is_word(value, known):
                raise ModelError(f"Penalty: {what} {value!r} is unknown; give one of {', '.join(known)}")
        for what in ("alpha", "omega", "rate", "ratio", "slip_speed", "margin"):
            if getattr(self, what) is not None:
                number(getattr(self, what), f"Penalty {what}", positive=True)
        number(self.mu, "Penalty mu", minimum=0.0)

    def handles(self, element: Any, model: Model) -> str | None:
        if (reason := refuse_reaction(element)) is not None:
            return reason
        if isinstance(element, Contact):
            if (reason := refuse_thin_contact(element, model)) is not None:
                return reason
            if element.damping > 0.0 or element.pressure is not None:
                return "damping and pressure of a Contact belong to a barrier; here Ω and μ of the solver say how it gives way"
            if element.restitution > 0.0:
                return "restitution is no law of penalty forces, whose bounce follows from Ω and μ of the solver"
            if any((m.torsion or 0.0) > 0.0 or (m.restitution or 0.0) > 0.0 for m in given_materials(model)):
                return "torsion and restitution of a ContactMaterial are no laws of penalty forces; leave them out"
            return None if element.plain else "static, torsion and across of a Contact are not among this solver's friction"
        if isinstance(element, Constraint) and element.barred:
            return f"{type(element).__name__} asks for a barrier, which needs a solver with barriers"
        if isinstance(element, Joint | Force | Constraint | Shape):
            return None
        return f"{type(element).__name__} is no element that maximal coordinates know"

    def bind(self, model: Model) -> BoundPenalty:
        self.check(model)
        if self.coordinates == "planar" and not model.planar:
            raise ModelError("Penalty: coordinates 'planar' need a planar world; give Builder(planar=True) or coordinates='maximal'")
        touches = any(isinstance(c, Contact) for _, c in model.constraints)
        if touches and self.coordinates == "planar":
            raise ModelError("Penalty: contact needs maximal coordinates; leave coordinates at 'auto' or give 'maximal'")
        choice = PenaltyParameters(self.alpha, self.ratio, self.gains, self.rule == "linearly-implicit")
        if touches:
            system = PenaltyDynamics(model, choice)
            contacts = PenaltyContacts(model, system, contact_margin_of(model, self.margin), self.slip_speed)
            length = Field("step_length", (), "s", "of the last step, 0 before the first", low=0.0)
            kept = (length, *begun_fields(system.nq_all, system.nv_all))
            return BoundTouching(model, self, "maximal", system, 7 * system.n, 6 * system.n, None, kept=kept, contacts=contacts)
        planar = model.planar and self.coordinates != "maximal"
        system = PenalisedSystem(model, planar, choice)
        bodies = system.dynamics
        return BoundPenalty(
            model=model, solver=self, coordinates="planar" if planar else "maximal", system=system, nq=bodies.q_width * bodies.n,
            nv=bodies.width * bodies.n, roll=roll_euler, scratch=np.zeros(system.nq_all + system.nv_all),
        )  # fmt: skip

    def gains(self, dt: float) -> Gains:
        """Ω, μ and ν for steps of length dt; where none is given and there is no step (0), Ω and ν are 0."""
        omega = self.omega if self.omega is not None else turn(self.rule, self.mu) / dt if dt > 0.0 else 0.0
        return Gains(omega, self.mu, self.rate if self.rate is not None else 2.0 * omega * self.mu)


@dataclass
class BoundPenalty(Bound):
    """`Penalty` on a model."""

    system: Any

    @cached_property
    def _stable(self) -> float:
        explicit = self.solver.rule == "semi-implicit"
        return self.system.rows.stable_step(self.solver.gains(0.0)) if explicit else inf

    def largest_dt(self) -> float:
        """The largest step [s] at which the penalty forces, as they are at the start, are stable (inf: where Ω
        follows the step, or is implicit; contacts count as if what they touch were light, for they come later); of other forces
        `unibody check` tells."""
        return self._stable

    def accelerations(self, state: State, dt: float = 0.0, effort: Any = None) -> np.ndarray:
        """Rates of the bodies' velocities (bodies in motion, 6 or 3) at a state of any coordinates, with the gains of steps dt."""
        q, v = self.system.start()
        q[: self.nq], v[: self.nv] = self.system.convert(state)
        control = self.model.neutral_control()
        if effort is not None:
            control[: len(effort)] = effort
        self.system.rows.soften(self.solver.gains(dt), 0.0)
        self.system.evaluate(state.t, q, v, control)
        return self.system.view(Y).reshape(self.system.dynamics.n, self.system.dynamics.width).copy()

    def _begin_steps(self, t: float, q: np.ndarray, v: np.ndarray, kept: np.ndarray, control: np.ndarray, dt: float) -> None:
        """Steps of another length than the last one begin with the velocities that steps of theirs would have left."""
        last = float(kept[LAST_STEP])
        if last != dt:
            self.system.rows.follow(t, q, v, control, dt - last)
        self.system.prepare(dt)

    def _prepare_look(self, memory: np.ndarray) -> None:
        """Penalty forces have the gains of the last step."""
        h = float(memory[LAST_STEP])
        self.system.rows.soften(self.solver.gains(h), h)

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state. Reactions and multipliers are the penalty forces there, with the gains of the last step; before
        the first, without springs and dampers that follow the step."""
        out = super().observe(state, memory, control)
        out.notes = (*self.system.notes(), *self._said(float(memory[LAST_STEP])))
        return out

    def step_facts(self, memory: np.ndarray | None = None) -> dict[str, Any]:
        facts = super().step_facts(memory)
        return {**facts, "notes": (*facts["notes"], *self._said(self.system.rows.step_length))}

    def _said(self, h: float) -> tuple[str, ...]:
        limit = self.largest_dt()
        said = f"largest stable dt of the penalty forces: {limit:.4g} s"
        return (said + (", which this step exceeds" if h > limit else ""),) if limit < inf else ()


@dataclass
class BoundTouching(BoundPenalty):
    """`Penalty` on a model with contact. Memory also holds how the last step began."""

    contacts: Any = None

    @cached_property
    def _stable(self) -> float:
        omega = self.solver.gains(0.0).omega
        if self.solver.rule != "semi-implicit" or omega == 0.0:
            return super()._stable
        return min(super()._stable, stable_turn(self.solver.mu) / omega)

    def step(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float) -> Step:
        began = time.perf_counter()
        q, v, flat = self._unpack(state, memory)
        self._begin_steps(state.t, q, v, flat, control, dt)
        q_0, v_0, kept = q.copy(), v.copy(), self.memory_schema.view(flat)
        if not self.system.look(state.t, q, v, control):
            raise self.failure(state, memory, control, state.t)
        if kept.step_length == 0.0:
            self.contacts.refuse_start(self.solver.gains(dt), dt)
        book_work(self.system.view(LEDGER), dt, flat)
        acts = self._act(dt)
        near = self.contacts.near
        if near is not None:
            self.refuse_contact(state.t, near.crossing())
        self.system.kick(dt, q, v)
        if not finite(q, v):
            raise self.failure(state, memory, control, state.t)
        flat[DAMPER_WORK] += acts.work
        kept.step_length, kept.begun_q, kept.begun_v, kept.time = dt, q_0, v_0, state.t + dt
        after, memory = self._pack(state.t + dt, q, v, flat)
        if near is not None:
            self.refuse_contact(state.t, near.passage(after))
        return self.stepped(after, memory, began, **self._facts(acts))

    def _act(self, h: float) -> Pushes:
        """Find what pushes, over a step or at an instant (0), and let it act on the accelerations at hand."""
        acts = self.contacts.act(self.solver.gains(h), h or INSTANT, self.system.rows.choice.implicit)
        self.system.add_forces(acts.one_sided, acts.wrenches)
        return acts

    def _facts(self, acts: Pushes) -> dict[str, Any]:
        notes = [*self.system.notes(), *self._said(self.system.rows.step_length)]
        if len(acts.touches.gaps):
            notes.append(f"{len(acts.touches.gaps)} contacts; friction below {self.solver.slip_speed:.2g} m/s creeps")
        if acts.change > TOLERANCE:
            notes.append(f"contact forces did not settle: they miss their law by {acts.change:.1e} of the largest")
        distance = float((acts.touches.gaps).min(initial=inf))
        return {"iterations": acts.iterations, "residual": acts.change, "minimum_distance": distance, "notes": tuple(notes)}

    def rollout(
        self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int, every: int = 1, record: bool = True
    ) -> tuple[State, np.ndarray, np.ndarray, int]:
        """Single steps one after the other."""
        return self.roll_by_steps(state, memory, control, dt, steps, every, record)

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """As without contact; but reactions, multipliers and contacts are those of the step that ended there."""
        q, v, flat = self._unpack(state, memory)
        out, kept = super().observe(state, memory, control), self.memory_schema.view(flat)
        h = kept.step_length
        if h > 0.0:
            q, v = kept.begun_q.copy(), kept.begun_v.copy()
        self.system.prepare(h if h > 0.0 else inf)
        self.system.look(state.t - h, q, v, control)
        acts = self._act(h)
        out.take_reactions(self.system.through())
        out.contacts = acts.touching(h, self.solver.slip_speed)
        out.take_facts(**self._facts(acts))
        return out
