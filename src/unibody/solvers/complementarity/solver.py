"""Complementarity: contact, friction, impacts, limits and joints as one problem per step on velocities (paper 002 §3.1, Eq. 41–54).

    M (v⁺ − v) = h (f − c(q, (v + v⁺)/2)) + Jᵀ λ,     joints and loops C(q⁺) = 0,     0 ≤ λ ⟂ C/h + J v⁺ ≥ 0,     friction in its cone

Steps pass through impacts without events. The cone is round, and friction dissipates as much as it can at the end of the step: what
sticks does not creep. A step in order: look at (q, v), with Coriolis terms c in its middle; solve for all impulses; move bodies with
those of loops corrected for where they end; move overlaps apart; bring positions and velocities onto the joints.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from unibody.arrays import finite, largest
from unibody.collision.shape_rights import given_materials
from unibody.constraints.base import Constraint
from unibody.constraints.contact import Contact
from unibody.contact.joint_friction_variables import TOLERANCE
from unibody.coordinates.observation import Observation
from unibody.coordinates.workspace import LEDGER, Y
from unibody.element import is_word, number
from unibody.errors import ModelError
from unibody.forces.base import Force
from unibody.joints.ball import Ball
from unibody.joints.base import Joint
from unibody.model import Model, State
from unibody.rules.base import DAMPER_WORK, TIME
from unibody.shapes import Shape
from unibody.solvers.base import Bound, Solver, Step, needs_reaction, refuse_thin_contact
from unibody.solvers.complementarity.compiled_frame import ContactSteps
from unibody.stepping.contact_margin import contact_margin_of, radii
from unibody.stepping.impulse_dynamics import ImpulseDynamics
from unibody.stepping.impulse_maximal import ImpulseMaximal
from unibody.stepping.impulse_reduced import ImpulseReduced
from unibody.stepping.impulses import ImpulseOptions
from unibody.stepping.memory import COUNT, LENGTH, METHODS, SteppingMemory, room_for
from unibody.stepping.step_solution import StepSolution, touching_of
from unibody.stepping.time_stepping import INSTANT, Stepping, with_friction_rows

if TYPE_CHECKING:
    from unibody.solvers.complementarity.instant import ContactInstant

COORDINATES = ("auto", "reduced", "maximal")
RELAXATIONS = ("none", "anitescu-potra")

@dataclass(frozen=True)
class Complementarity(Solver):
    """Options: `coordinates`; `relaxation` "anitescu-potra" makes the problem convex, at the price that what slides lifts off by μ h times
    its slip; `directions` of a polyhedral cone (0: the round one); `method` of the algebra with its `tolerance` [m/s] and most
    `iterations` (0: the method's own); `margin` [m] within which contacts are found (None: by speed, at least the Contact's reach);
    `bounce_above` [m/s]: slower impacts do not bounce; `clip`: where Newton's or Poisson's law would add kinetic energy, restitution is
    made smaller; `feedback_time` [s] and `project` for loops, as in Articulated."""

    coordinates: str = "auto"
    relaxation: str = "none"
    directions: int = 0
    method: str = "auto"
    tolerance: float = 1e-10
    iterations: int = 0
    margin: float | None = None
    bounce_above: float = 1e-3
    clip: bool = False
    feedback_time: float | None = None
    project: bool = True

    name = "complementarity"
    rank = 3
    forces = "explicit"
    parts_overlaps = True
    impacts = True
    start_deeds = ("impact", "closes if small", "creeps back")

    def __post_init__(self) -> None:
        for value, known, what in (
            (self.coordinates, COORDINATES, "coordinates"),
            (self.relaxation, RELAXATIONS, "relaxation"),
            (self.method, ("auto", "lemke", "pgs", "newton", "proximal", "augmented"), "method"),
        ):
            if not is_word(value, known):
                raise ModelError(f"Complementarity: {what} {value!r} is unknown; give one of {', '.join(known)}")
        number(self.tolerance, "Complementarity tolerance", positive=True)
        number(self.bounce_above, "Complementarity bounce_above", minimum=0.0)
        number(self.iterations, "Complementarity iterations", minimum=0)
        for what in ("iterations", "directions"):
            if not float(number(getattr(self, what), f"Complementarity {what}")).is_integer():
                raise ModelError(f"Complementarity {what}: {getattr(self, what)!r} is not whole; give a whole number")
        if self.directions != 0:
            number(self.directions, "Complementarity directions", minimum=3)
            if self.method not in ("auto", "lemke"):
                raise ModelError(f"Complementarity: method {self.method!r} solves the round cone; with directions give 'lemke'")
        for given, what in ((self.margin, "margin"), (self.feedback_time, "feedback_time")):
            if given is not None:
                number(given, f"Complementarity {what}", positive=True)

    def handles(self, element: Any, model: Model) -> str | None:
        if needs_reaction(element) and self.relaxation != "none" and isinstance(model.joint(element.joint).element, Ball):
            return f"{type(element).__name__} in a Ball is not part of relaxation '{self.relaxation}'"
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
        if isinstance(element, Constraint) and element.barred:
            return f"{type(element).__name__} asks for a barrier, which needs a solver with barriers"
        if isinstance(element, Joint | Force | Constraint | Shape):
            return None
        return f"{type(element).__name__} is no element that this solver knows"

    def bind(self, model: Model) -> BoundComplementarity:
        self.check(model)
        maximal = self.coordinates == "maximal"
        with_rows = with_friction_rows(model)
        system: ImpulseMaximal | ImpulseReduced = ImpulseMaximal(with_rows) if maximal else ImpulseReduced(with_rows)
        system.dynamics.feedback_time = self.feedback_time
        law = "convex" if self.relaxation == "anitescu-potra" else "coulomb"
        options = ImpulseOptions(self.method, law, int(self.directions), self.tolerance, int(self.iterations))
        near = contact_margin_of(model, self.margin)
        rule = Stepping(model, system, options, self.bounce_above, self.clip, near)
        layout = SteppingMemory(
            system.nq_all, system.nv_all, len(rule.unilateral), room_for(model, near is not None), model.nv if system.coriolis.any() else 0,
            rule.friction.kept if rule.friction is not None else None,
        )  # fmt: skip
        nq, nv = (7 * system.n, 6 * system.n) if isinstance(system, ImpulseMaximal) else (model.nq, model.nv)
        coordinates = "maximal" if maximal else "reduced"
        quick = ContactSteps(rule, system, layout) if isinstance(system, ImpulseReduced) and ContactSteps.suit(rule) else None
        return BoundComplementarity(
            model, self, coordinates, system, nq, nv, None, kept=layout.fields, rule=rule, arrangement=layout, quick=quick
        )


NO_RECORDS = np.zeros(0)


@dataclass
class BoundComplementarity(Bound):
    """`Complementarity` on a model; memory as `SteppingMemory` describes it."""

    system: ImpulseDynamics
    rule: Any = None
    arrangement: Any = None
    quick: ContactSteps | None = None
    """Steps of the usual kind in one kernel."""
    _long = False
    """Whether the next step is known to be of another kind."""

    @cached_property
    def _fits(self) -> bool:
        """Whether memory has coordinates of fitted joints."""
        return self.memory_schema.size > self._fitted[0]

    def step(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float) -> Step:
        began = time.perf_counter()
        if self.quick is not None and not (self._fits or self._long) and self.quick.may(memory):
            q, v, kept = np.array(state.q), np.array(state.v), np.array(memory)
            self.system.prepare(dt)
            if self.quick.roll(state.t, dt, control, 1, 0, 2, np.inf, q, v, kept, NO_RECORDS):
                return self.stepped(State.of_own(state.t + dt, q, v, self.coordinates), kept, began)
        return self._long_step(state, memory, control, dt, began)

    def _long_step(self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, began: float) -> Step:
        """A step of any kind, kernel by kernel."""
        q, v, kept = self._begin(state, memory)
        system, rule, layout = self.system, self.rule, self.arrangement
        system.prepare(dt)
        # the motion that nothing holds, with Coriolis terms in the middle of the step
        change = self._change(kept, dt)
        if not system.look(state.t, q, v, control, change):
            raise self.failure(state, memory, control, state.t)
        after = layout.fresh(kept, system.view(LEDGER), dt)
        # impulses of all rows at once (Eq. 41–54)
        q_0, v_0 = q.copy(), v.copy()
        solution = rule.solve_step(dt, layout.warm(kept, dt), joint_friction=layout.friction(kept))
        if change is None and layout.midpoints:  # the first step predicts its own middle
            system.apply_impulses(solution.constraint_impulse, solution.constraints, solution.on_bodies(self.model.n_bodies), dt)
            change = np.where(system.coriolis, 0.5 * dt * system.view(Y), 0.0)
            system.look(state.t, q, v, control, change)
            solution = rule.solve_step(dt, layout.warm(kept, dt), joint_friction=layout.friction(kept))
        if rule.near is not None:
            self.refuse_contact(state.t, rule.near.crossing())
        # v⁺ and q⁺; rows that hold are carried along, what overlaps is parted, and the rest is put back onto the rows
        system.apply_impulses(solution.constraint_impulse, solution.constraints, solution.on_bodies(self.model.n_bodies), dt)
        projects = self.solver.project and rule.projects
        if projects:
            stiction = rule.stuck_joints(solution, q_0, dt)
            system.kick_onto(state.t + dt, dt, q, v, control, rule.projected, solution.constraints, stiction)
        else:
            system.kick(dt, q, v)
        if solution.apart is not None:
            system.move_apart(q, v, solution.apart, dt)
        if projects:
            system.project(state.t + dt, q, v, control, rule.projected, solution.constraints, stiction)
        if not finite(q, v):
            raise self.failure(state, memory, control, state.t)
        # memory: how the step began, its impulses, and what is predicted of the middle of the next one
        if layout.midpoints:
            assert isinstance(system, ImpulseReduced)
            length, rows = dt if rule.acted(solution) else 0.0, rule.projected if projects else None
            ahead = system.next_change(state.t + dt, length, q, v_0, v, control, change, rows)
            layout.keep(solution, dt, q_0, v_0, after, change, ahead)
        else:
            layout.keep(solution, dt, q_0, v_0, after)
        after[DAMPER_WORK] += solution.work
        after[TIME] = state.t + dt
        ended, memory = self._end(state.t + dt, q, v, after)
        if rule.near is not None:
            self.refuse_contact(state.t, rule.near.passage(ended))
        return self.stepped(ended, memory, began)

    def _change(self, kept: np.ndarray, dt: float) -> np.ndarray | None:
        """By how much velocities will have changed in the middle of the next step, as far as the last one tells."""
        length = kept.item(LENGTH)
        if not (self.arrangement.midpoints and length > 0.0):
            return None
        change = self.arrangement.view(kept).next_change
        return change if length == dt else dt / length * change

    def _begin(self, state: State, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `_unpack`, but where no joint is fitted memory itself, which is only read."""
        if self._fits:
            return self._unpack(state, memory)
        return np.array(state.q), np.array(state.v), memory

    def _end(self, t: float, q: np.ndarray, v: np.ndarray, kept: np.ndarray) -> tuple[State, np.ndarray]:
        """As `_pack`; where no joint is fitted, what was kept becomes memory itself."""
        if self._fits:
            return self._pack(t, q, v, kept)
        return State.of_own(t, q, v, self.coordinates), kept

    def _push(self, solution: StepSolution, h: float) -> None:
        """Put the impulses of a step among the accelerations and loads at which the system looked last."""
        self.system.accelerate(solution.constraint_impulse, solution.constraints, solution.on_bodies(self.model.n_bodies), h)

    def rollout(
        self, state: State, memory: np.ndarray, control: np.ndarray, dt: float, steps: int, every: int = 1, record: bool = True
    ) -> tuple[State, np.ndarray, np.ndarray, int]:
        """Steps of the usual kind in one kernel, others one by one. Where functions of the user take part all are made one by one, so that
        what they raise ends the step that it belongs to."""
        if self.quick is None or self._fits or self.quick.system.dynamics.signal_address or self.system.python_classes:
            return self.roll_by_steps(state, memory, control, dt, steps, every, record)
        q, v, kept = np.array(state.q), np.array(state.v), np.array(memory)
        rows, done, t, often = np.zeros((steps // every if record else 0, 1 + q.size + v.size + kept.size)), 0, state.t, steps + 1
        while done < steps:
            self.system.prepare(dt)
            made = done
            if self.quick.may(kept):
                made = self.quick.roll(t, dt, control, steps, done, every if record else often, self.speed_limit, q, v, kept, rows.ravel())
            if made > done:
                done, t = made, float(kept[TIME])
            if largest(v) > self.speed_limit and made:
                break
            if done < steps:  # a step of another kind
                self._long = True
                after, memory, _, made = self.roll_by_steps(State(t, q, v, self.coordinates), kept, control, dt, 1, 1, False)
                self._long = False
                if not made:
                    break
                q, v, kept, t, done = np.array(after.q), np.array(after.v), np.array(memory), after.t, done + 1
                if record and done % every == 0:
                    rows[done // every - 1] = np.concatenate([[t], q, v, kept])
                if largest(v) > self.speed_limit:
                    break
        return State.of_own(t, q, v, self.coordinates), kept, rows[: done // every] if record else rows, done

    def step_facts(self, memory: np.ndarray | None = None) -> dict[str, Any]:
        if memory is None:
            return {**super().step_facts(), "notes": self.system.notes()}
        return {"redundant": self.redundant(), **self._solution_facts(memory)}

    def _solution_facts(self, memory: np.ndarray) -> dict[str, Any]:
        """What a report says of the problem of a step."""
        kept, notes = self.arrangement.facts(memory), list(self.system.notes())
        if kept.contact_count:
            notes.append(f"{int(kept.contact_count)} contacts, least gap {kept.least_gap:.3g} m")
        if kept.iterations:
            notes.append(f"impulses by {METHODS[int(kept.method)]} to {kept.residual:.2g} m/s")
        notes += [said for said in (self.rule.speed_warning, self.rule.deep.warning) if said]
        if not kept.converged:
            notes.append("the impulses did not reach the tolerance; allow more iterations or give another method")
        if self.rule.friction is not None:
            found = self.arrangement.view(memory).joint_friction
            notes.append(f"joint friction in {int(found.iterations)} iterations to {found.change:.1g} of its bounds")
            if found.change > TOLERANCE:
                notes.append("joint friction did not settle; a smaller dt may help")
        if kept.gained > 0.0:
            what = "would have added, but for clipping," if self.solver.clip else "added"
            notes.append(f"impacts {what} {kept.gained:.3g} J of kinetic energy (steps so far in which they do: {int(kept.gains)})")
        least = kept.least_gap if kept.contact_count else float("inf")
        return {"iterations": int(kept.iterations), "residual": kept.residual, "minimum_distance": least, "notes": tuple(notes)}

    def observe(self, state: State, memory: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state; reactions, multipliers and contacts are impulse / h of the step that ended there, at the start
        those of the instant."""
        q, v, flat = self._unpack(state, memory)
        system, layout, kept = self.system, self.arrangement, self.arrangement.view(flat)
        h = kept.step_length
        if h > 0.0:
            system.prepare(h)
            change = kept.change.copy() if layout.midpoints else None
            system.look(state.t - h, kept.begun_q.copy(), kept.begun_v.copy(), control, change)
            solution = self._again(flat, h)
            gaps, slips = solution.touches.gaps + h * solution.after[:, 0], np.linalg.norm(solution.after[:, 1:3], axis=1)
        else:
            h = INSTANT
            system.prepare(np.inf)
            system.look(state.t, q.copy(), v.copy(), control)
            solution = self.rule.solve_step(h, instant=True)
            gaps, slips = solution.touches.gaps, np.linalg.norm(solution.after[:, 1:3], axis=1)
        self._push(solution, h)
        through, friction = system.through(), self.rule.friction
        stepped = kept.step_length > 0.0
        kept_friction = layout.friction(flat) if stepped else solution.joint_friction
        frictions = {} if friction is None else friction.seen(through.reactions, kept_friction)
        out = super().observe(state, memory, control)
        out.joint_friction = frictions
        out.take_reactions(through)
        if self.rule.near is not None:
            out.contacts = touching_of(solution, gaps, slips, h, self.solver.bounce_above)
        if stepped:
            out.take_facts(**self._solution_facts(flat))
        return out

    def contact_instant(
        self, state: State | None = None, control: Any = None, touching: float = 1e-6, resting: bool = True
    ) -> ContactInstant:
        """Which forces and accelerations the laws of contact allow at a state, the start unless given (paper 002, CP1): one solution,
        several, or none (Painlevé), and by which contacts. `touching` [m]: what is nearer touches. `resting`: False leaves it at one
        solution where nothing slides, which is faster."""
        from unibody.solvers.complementarity.instant import contact_instant  # few programs ask for it

        refused = [name for name, f in self.model.forces if needs_reaction(f)]
        if refused:
            raise ModelError(f"contact_instant: '{refused[0]}' depends on reactions, which is no part of this problem; leave it out")
        begun, memory = self.start(state)
        q, v, _ = self._unpack(begun, memory)
        flat = self.model.neutral_control() if control is None else getattr(control, "flat", control)

        def look() -> None:
            self.system.prepare(np.inf)
            if not self.system.look(begun.t, q.copy(), v.copy(), flat):
                raise self.failure(begun, memory, flat, begun.t)

        find = None
        if self.rule.near is not None:
            from unibody.collision.rigid import RigidCollision  # as in ContactMargin

            size = radii(self.model)
            smallest = float(size[size > 0.0].min(initial=1.0))
            find = RigidCollision(self.model, max(2.0 * touching, 0.01 * smallest)).find
        return contact_instant(self.rule, find, look, number(touching, "contact_instant touching", positive=True), resting)

    def _again(self, kept: np.ndarray, h: float) -> StepSolution:
        """The impulses of the step that memory describes, at whose beginning the system has looked."""
        layout, last, count = self.arrangement, self.arrangement.view(kept), int(kept[COUNT])
        known = self.rule.remembered(h, last.constraint_impulse, last.contacts[:count], count) if layout.whole(kept) else None
        return self.rule.solve_step(h, joint_friction=layout.friction(kept)) if known is None else known
