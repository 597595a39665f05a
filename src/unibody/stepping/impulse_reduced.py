"""Reduced coordinates for time stepping with impulses: the free motion of the tree, and its response to any row, each O(n).

The evaluation leaves loops, constraint elements and contacts alone; they come as rows J of one complementarity problem. A row's response
Y = M⁻¹ Jᵀ is a sweep with the factors of the trees it touches (`tree_delassus`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.algebra.contact.delassus import DelassusFactors
from unibody.algebra.tree.aba import BODY
from unibody.arrays import finite
from unibody.coordinates.kick import free_joints, keep_courses, kick_reduced, mark_touched
from unibody.coordinates.maximal.projection import PROJECT_BELOW, PROJECT_ENOUGH, PROJECT_LIMIT
from unibody.coordinates.observation import Observation, Reactions
from unibody.coordinates.reduced.careful_projection import project_assembled
from unibody.coordinates.reduced.dynamics import evaluate_reduced, spread_responses
from unibody.coordinates.reduced.observe import observe_reduced, reactions_reduced
from unibody.coordinates.reduced.products import carry_accelerations, fill_mass_matrix
from unibody.coordinates.reduced.system import ReducedSystem
from unibody.coordinates.reduced.tables import ReducedTables
from unibody.coordinates.stages import AGAIN_STAGE, EVALUATE_STAGE, FORCE_STAGE, SIGNAL_STAGE
from unibody.coordinates.system import SystemAround
from unibody.kernel import Kernel
from unibody.model.implicit_tables import ImplicitTables
from unibody.model.model import Model
from unibody.stepping.body_motion import BodyMotion, centres_in_bodies, fill_motion_reduced
from unibody.stepping.carried_rows import kick_onto_rows
from unibody.stepping.constraint_responses import add_loads, push_by_impulses, respond_to_constraints, twists_at_centres
from unibody.stepping.implicit_joints import chosen_terms, evaluate_stiff, implicit_notes, joint_efforts, stiffen
from unibody.stepping.impulse_dynamics import ConstraintRows, holding_rows
from unibody.stepping.islands import make_islands
from unibody.stepping.midpoint_coriolis import along_rows, load_at_middle, predict_change
from unibody.stepping.stiction import Stiction, least_motion
from unibody.stepping.tree_delassus import lay_wrenches, respond_three_rows, respond_wrenches, sweep_size
from unibody.stepping.workspace import IMPULSE_REDUCED, MIDDLE, STIFF

from unibody.coordinates.reduced.workspace import (  # isort: skip
    BODIES, COLUMNS, FLOATING, FREE, IMPLICIT_CHOICE, IMPLICIT_CLASSES, IMPLICIT_EFFORT, IMPLICIT_INDEX, IMPLICIT_PARAMETERS,
    IMPLICIT_PLACES, MIDDLE_ROWS, MIDDLE_WIDTH, ROWS, SIDE, STEP_LENGTH, X_SOLVED,
)  # fmt: skip
from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, ARMATURE, CLOSURE, ENTRY_BODY, GRAM, MULTIPLIER, NODE_CONSTANTS, RANK, RATE, RESIDUAL, RESPONSE_X, RESPONSE_Y, VIOLATION,
    X_WB, F, G, Y,
)  # fmt: skip

NO_NUMBERS = np.zeros(0)


class ImpulseReduced(SystemAround[ReducedSystem]):
    """A model in reduced coordinates whose rows are solved elsewhere: its tree, and how it responds to impulses."""

    def __init__(self, model: Model):
        # the tree, which rows are held by it, and which velocities have Coriolis terms
        tables = ReducedTables(model, loose=True)
        self._holds = holding_rows(model, tables.constraints)
        self.coriolis = np.ones(model.nv, bool)
        """Which velocities have terms that depend on the middle of a step: all but those of bodies that fly alone."""
        for _, at, body, _ in free_joints(model):
            if body is not None:
                self.coriolis[at : at + 6] = False
        self.halves = 0.5 * self.coriolis
        super().__init__(ReducedSystem(tables, self._slots(model, tables), IMPULSE_REDUCED))
        # views of the workspace that every step reads
        self._com = centres_in_bodies(model)
        self.flat_com, self._y, self._poses = self._com.ravel(), self.view(Y), self.view(X_WB).reshape(-1, 12)
        self._floats = self.view(FLOATING).size > 0
        self.flies = self.view(FREE).size > 0 or self._floats
        self._kept_stages: np.ndarray | None = None
        self._midpoint_stages: np.ndarray | None = None
        self._steered_at: float | None = None
        """[s] When functions of time were asked last, if that was not by a look."""
        self._settled = False
        """Whether the last projection has left its factors."""
        self.stiff = False
        """Whether some efforts of joints are taken at the end of steps of the prepared length."""
        self._stiff_at: float | None = None
        self._chosen = (0.0, np.zeros(0, bool))
        """For which step length that was asked last, and which velocities it is."""
        self._implicit_notes: tuple[str, ...] = ()
        """What a report says of them."""
        # which bodies are moved by joints, and which velocities form islands
        counts = self.view(BODIES).reshape(-1, BODY)
        moving = np.zeros(len(counts), bool)
        for i in range(1, len(counts)):
            moving[i] = moving[counts[i, 0]] or counts[i, 2] > 0
        self.moving = moving
        owner = np.repeat(np.arange(len(counts)), counts[:, 2])[np.argsort(np.concatenate([c[1] + np.arange(c[2]) for c in counts]))]
        self.islands = make_islands(counts[:, 0], moving, owner, self.constraints, self._holds)
        self._room = DelassusFactors.zeros(self.islands.first, self.islands.singles, self.islands.rows)
        self._residual, self._rate = self.view(RESIDUAL), self.view(RATE)
        self._no_rows = ConstraintRows(np.zeros(0), np.zeros(0), np.zeros(0), self._room, self.islands)
        # M⁻¹ of islands, kept as long as the system looks at one state
        self._numbers = np.zeros(int(self.islands.inverse_at[-1]) + 1)
        self.all_alone = bool(self.islands.alone.all())
        self._inverse_at = np.zeros(len(self.islands.alone), np.int64)
        self.sweep_room = np.zeros(sweep_size(len(counts), bool(self.islands.alone.any())))
        self._inverted = -1
        """At which look the constraint rows' responses were last found: what `_numbers` holds of them is of that."""
        if not self._holds.any():
            self.view(RANK)[:] = self.constraints.rows

    def _slots(self, model: Model, tables: ReducedTables) -> dict[int, Any]:
        """What is added to the tables of the tree, or is empty here."""
        out: dict[int, Any] = {X_SOLVED: 6 * model.n_bodies, SIDE: model.nv}
        if self.coriolis.any():
            out[MIDDLE], out[MIDDLE_ROWS] = model.nv_joints, MIDDLE_WIDTH * model.n_bodies
        if efforts := joint_efforts(model):
            others = frozenset(name for name, _ in model.forces) - frozenset(efforts)
            terms = ImplicitTables(model, tables.callback_errors, tables.clock, others)
            out |= {
                IMPLICIT_CLASSES: terms.classes, IMPLICIT_INDEX: terms.index, IMPLICIT_PLACES: terms.places,
                IMPLICIT_PARAMETERS: terms.parameters, IMPLICIT_CHOICE: 8, IMPLICIT_EFFORT: model.nv_joints, STIFF: 2 * model.nv_joints,
            }  # fmt: skip
        if not self._holds.any():  # nothing is projected
            out |= dict.fromkeys((RESPONSE_X, RESPONSE_Y, GRAM, CLOSURE), 0)
        return out

    def prepare(self, dt: float) -> None:
        """Before steps of length dt: also which efforts of joints they take at their end (`implicit_joints`); none where dt is infinite."""
        self.dynamics.prepare(dt)
        stiff = self.view(STIFF)
        if stiff.size and self._stiff_at != dt:
            self._stiff_at, self.stiff = dt, False
            if 0.0 < dt < np.inf:
                if self._chosen[0] != dt:
                    self._chosen = dt, self._choose_stiff(dt)
                    self._implicit_notes = implicit_notes(self.model, self._chosen[1], dt)
                stiff[: self.model.nv] = self._chosen[1]
                self.view(IMPLICIT_CHOICE)[STEP_LENGTH] = dt
                self.stiff = bool(self._chosen[1].any())

    def notes(self) -> tuple[str, ...]:
        """What a report should say of this model, implicit joints included."""
        return (*self.callback_notes, *self._implicit_notes)

    def _choose_stiff(self, dt: float) -> np.ndarray:
        """(nv,) which velocities take their efforts at the end of a step, as the start of the model tells."""
        n, stiff = self.model.nv, self.view(STIFF)
        q, v = self.start()
        self.evaluate(0.0, q, v, self.model.neutral_control(), loads=True)
        self.callback_errors.error = None  # of users' functions: the step itself tells
        M = np.zeros(n * n)
        self.dynamics.sweep(q, v)
        fill_mass_matrix(self.view(BODIES), self.view(ARMATURE), self.view(ROWS), self.view(COLUMNS), np.zeros(21 * self.model.n_bodies), M)
        self.view(IMPLICIT_CHOICE)[STEP_LENGTH] = dt
        stiff[:] = 1.0  # all of them
        stiffen(self.layout, self.ints, self.constants, self.model.neutral_control(), 1, q, v, self.work)
        half = stiff.size // 2
        terms = stiff[half : half + n] - self.view(ARMATURE)[:n]
        stiff[:] = 0.0
        with np.errstate(all="ignore"):
            try:
                inverse = np.diag(np.linalg.inv(M.reshape(n, n)))
            except np.linalg.LinAlgError:
                return terms > 0.0
        return chosen_terms(inverse, terms)

    def stages(self, control: np.ndarray, loads: bool = False) -> np.ndarray:
        """Addresses of the stages: the tree by elimination, and nothing that closes rows."""
        out = self.dynamics.shared_stages(control, loads)
        out[EVALUATE_STAGE] = evaluate_reduced.address
        if self.constraints.rows:
            out[AGAIN_STAGE] = spread_responses.address
        return out

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, loads: bool = False) -> None:
        """Fill the work space at a state with the motion that nothing holds."""
        self.dynamics.evaluate_by(self.stages(control, loads), t, q, v, control)

    def observe(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state."""
        self.evaluate(t, q, v, control, loads=True)
        return observe_reduced(self.dynamics, t, q, v)

    def look(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, change: np.ndarray | None = None) -> bool:
        """Evaluate the motion that nothing holds; whether it is finite. `change`: by how much (nv,) velocities will have changed in the
        middle of the step, where their own terms are taken (`midpoint_coriolis`)."""
        self.dynamics.evaluations += 1
        self.dynamics.clock[0], self._steered_at = t, None
        if change is None:
            self.view(MIDDLE_ROWS)[:1] = 0.0
        else:
            self.view(MIDDLE)[: change.size] = change
        stages = self.stages_of_steps(change is not None)
        self.evaluation(self.layout, self.ints, self.constants, stages, control, t, self.work, q, v)
        return finite(self._y, NO_NUMBERS)

    @property
    def evaluation(self) -> Kernel:
        """What evaluates the motion for a step of the prepared length."""
        return evaluate_stiff if self.stiff else evaluate_reduced

    def stages_of_steps(self, midpoint: bool) -> np.ndarray:
        """The stages of such an evaluation; `midpoint`: with terms in the middle of the step."""
        if self._kept_stages is None:
            self._kept_stages = self.stages(self.model.neutral_control(), loads=True)
        if not midpoint:
            return self._kept_stages
        if self._midpoint_stages is None:
            self._midpoint_stages = self._kept_stages.copy()
            self._midpoint_stages[FORCE_STAGE] = load_at_middle.address
        return self._midpoint_stages

    def looked_elsewhere(self) -> None:
        """The arrays hold another motion than that of the last look here."""
        self.dynamics.evaluations += 1
        self._steered_at = None

    @property
    def constraint_room(self) -> DelassusFactors:
        """Where the numbers of the constraint rows stand."""
        return self._room

    def poses(self) -> np.ndarray:
        """(n, 12) X_WB at the last evaluation."""
        return self._poses

    def motion(self) -> BodyMotion:
        """How bodies move, with the accelerations of the last evaluation."""
        out = BodyMotion.room(self.model.n_bodies)
        flat = (out.centre.ravel(), out.velocity.ravel(), out.rate.ravel())
        fill_motion_reduced(self.layout, self.constants, self.work, self.flat_com, *flat)
        return out

    def turning(self) -> np.ndarray:
        """(bodies, 6) J̇ v: the rates of bodies whose joints do not accelerate."""
        rows = self.view(ROWS)
        kept = rows.copy()
        carry_accelerations(self.view(BODIES), np.zeros(self.view(Y).size), self.view(COLUMNS), rows)
        rate = self.motion().rate
        rows[:] = kept
        return rate

    def constraint_rows(self) -> ConstraintRows:
        """Rows of loops and constraint elements."""
        g, room = self.islands, self._room
        if not self.constraints.rows:
            return self._no_rows
        size, acceleration = room.J.size, np.empty(self.constraints.rows)
        J, Y = np.empty(size), np.empty(size)
        respond_to_constraints(
            self.layout, self.ints, self.constants, *g.tables, room.place, True, self.work, self._numbers, acceleration, J, Y
        )
        self._inverted = self.dynamics.evaluations
        rows = DelassusFactors(room.first, room.rows, room.islands, J, Y, room.start, room.place, room.unit)
        return ConstraintRows(self._residual.copy(), self._rate.copy(), acceleration, rows, g)

    def respond(self, front: DelassusFactors, bodies: np.ndarray, wrenches: np.ndarray) -> DelassusFactors:
        """The blocks of `front`, and then those of rows that are wrenches (k, rows, 2, 6) on pairs of bodies (k, 2), in world axes at their
        centres of mass."""
        g, k, (n, width) = self.islands, len(front.rows), wrenches.shape[:2]
        if not n:
            return front
        rows, islands = np.empty(k + n, np.int64), np.empty((k + n, 2), np.int64)
        start, place = np.empty(k + n + 1, np.int64), np.empty(k + n + 1, np.int64)
        flat, at = bodies.ravel(), self._inverse_at
        needed = lay_wrenches(*g.tables, front.rows, front.flat_islands, True, flat, width, rows, islands.ravel(), start, place, at)
        self.have_numbers(needed)
        size = int(place[-1])
        J = np.empty(size)
        Y = J if self.all_alone else np.empty(size)
        if k:
            J[: front.J.size], Y[: front.Y.size] = front.J, front.Y
        fresh = g.inverse_at[-1] if self._inverted == self.dynamics.evaluations else 0
        given = (self.layout, self.ints, *g.tables, at, fresh, place[k:], flat)
        if width == 3:
            respond_three_rows(*given, self.all_alone, wrenches.ravel(), self.flat_com, self.work, self._numbers, self.sweep_room, J, Y)
        else:
            respond_wrenches(*given, width, wrenches.ravel(), self.flat_com, self.work, self._numbers, J, Y)
        return DelassusFactors(g.first, rows, islands, J, Y, start, place, g.alone)

    def have_numbers(self, needed: int) -> None:
        """Have room for so many numbers of islands; those that are there stay."""
        if needed >= self._numbers.size:
            self._numbers = np.concatenate([self._numbers[:-1], np.zeros(needed + needed // 2 + 2 - self._numbers.size)])

    def change(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray) -> np.ndarray:
        """(nv,) what impulses do to the velocities: those of the constraint rows, and wrenches (n, 6) on bodies (world axes, at centres of
        mass)."""
        out = np.empty(self._y.size)
        push_by_impulses(
            self.layout, self.ints, *self.islands.tables, self.flat_com, wrenches.ravel(), impulses, constraints.rows.place,
            constraints.rows.J, self.work, out,
        )  # fmt: skip
        return out

    def carried(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray) -> np.ndarray:
        """(n, 6) what the same impulses do to the twists of bodies, in world axes at centres of mass."""
        self.change(impulses, constraints, wrenches)
        out = np.empty((self.model.n_bodies, 6))
        twists_at_centres(self.layout, self.flat_com, self.work, out.ravel())
        return out

    def apply_impulses(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray, h: float) -> None:
        """Add what impulses over a step h do to the accelerations that `kick` reads, and to nothing else."""
        self._y += (1.0 / h) * self.change(impulses, constraints, wrenches)
        if self._floats:
            mark_touched(wrenches.ravel(), self.view(FLOATING))

    def accelerate(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray, h: float) -> None:
        """Add what impulses over a step h do to the accelerations, and to the loads."""
        self.apply_impulses(impulses, constraints, wrenches, h)
        carry_accelerations(self.view(BODIES), self.view(Y), self.view(COLUMNS), self.view(ROWS))
        self.enter_loads(impulses / h, wrenches / h)

    def enter_loads(self, multipliers: np.ndarray, wrenches: np.ndarray) -> None:
        """Enter multipliers of constraints and wrenches on bodies among the loads, for reactions."""
        self.view(MULTIPLIER)[:] = multipliers
        constraints = self.constraints
        add_loads(
            self.view(X_WB), self.flat_com, wrenches.ravel(), constraints.row_start, constraints.row_entry, self.view(ENTRY_BODY),
            self.view(G), multipliers, self.view(F),
        )  # fmt: skip

    def through(self) -> Reactions:
        """Reactions from the accelerations and loads of the last evaluation."""
        return reactions_reduced(self.dynamics)

    def kick(self, h: float, q: np.ndarray, v: np.ndarray) -> None:
        """v by h times the accelerations, q along the new v; in place."""
        if self.flies:
            kick_reduced(self.layout, self.ints, self.constants, h, self.work, q, v)
            return
        v[: self.model.nv] += h * self._y
        self.advance(q, v, h)

    def kick_onto(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, projected: np.ndarray, constraints: ConstraintRows,
        stiction: Stiction | None = None,
    ) -> None:  # fmt: skip
        """The same, to t, carrying the rows that are `projected` along (`carried_rows`), with the factors that `close` left; in place. What
        sticks does so by its own velocity, but for what corrections do to it, which `project` takes back."""
        if not self.view(CLOSURE)[-1] < PROJECT_BELOW:
            self.kick(h, q, v)
            return
        self.view(ACTIVE)[:] = projected
        self.view(RESPONSE_Y)[:] = constraints.Y.ravel()
        kick_onto_rows(self.layout, self.ints, self.constants, self._stages_at(t, control), control, t, h, self.work, q, v)

    def _stages_at(self, t: float, control: np.ndarray) -> np.ndarray:
        """Stages of a look at t; functions of time are asked once."""
        stages = self.stages(control, True)
        if self._steered_at == t:
            stages[SIGNAL_STAGE] = 0
        self.dynamics.clock[0] = self._steered_at = t
        return stages

    def move_apart(self, q: np.ndarray, v: np.ndarray, way: np.ndarray, h: float) -> None:
        """q along pseudo-velocities (nv,) for a time h, in which bodies that fly keep their courses; in place."""
        before = q.copy()
        self.advance(q, np.concatenate([way, np.zeros(v.size - way.size)]), h)
        if self.flies:
            keep_courses(self.view(FREE)[1:], self.view(NODE_CONSTANTS), before, q, v)

    def project(
        self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, projected: np.ndarray, constraints: ConstraintRows, stiction:
        Stiction | None = None,
    ) -> None:  # fmt: skip
        """Bring q and v back onto the rows that are `projected`; what sticks, to where it was."""
        self._settled = False
        if stiction is not None:
            self._project_sticking(t, q, v, control, np.flatnonzero(projected), stiction)
            return
        self.view(ACTIVE)[:] = projected
        self.dynamics.evaluations += 1
        stages = self._stages_at(t, control)
        self._settled = bool(project_assembled(self.layout, self.ints, self.constants, stages, control, t, self.work, q, v))

    def next_change(
        self, t: float, h: float, q: np.ndarray, v_0: np.ndarray, v: np.ndarray, control: np.ndarray, change: np.ndarray,
        projected: np.ndarray | None,
    ) -> np.ndarray:  # fmt: skip
        """(nv,) by how much velocities will have changed in the middle of the next step, after one to (t, q, v) from velocities v_0 that
        took `change` for that; along the rows that are `projected` at q, where `project` has ended. h: its length, or 0 if nothing
        struck."""
        begun = v_0
        if projected is not None and not self._settled:
            return np.zeros(self._y.size)
        if projected is not None:
            begun = v_0.copy()
            self.view(ACTIVE)[:] = projected
            along_rows(self.layout, self.ints, self.constants, self._stages_at(t, control), control, self.work, q.copy(), begun)
        out = np.empty(self._y.size)
        predict_change(self.layout, self.ints, h, begun, v, change, self.halves, self.work, out)
        return out

    def _project_sticking(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, rows: np.ndarray, stiction: Stiction) -> None:
        """The same with rows that stick, and with the responses of each state on the way."""
        rest, still = np.zeros(v.size - self._y.size), np.zeros(self._y.size)
        for _ in range(PROJECT_LIMIT):
            if not self.look(t, q, v, control):
                return
            off, away = self._residual[rows], stiction.away(q)
            largest = np.abs(self.view(VIOLATION)[rows]).max(initial=0.0)
            if not largest < PROJECT_BELOW:
                return
            if not largest > PROJECT_ENOUGH and Stiction.enough(away):
                break
            constraints = self.constraint_rows()
            self.advance(q, np.concatenate([least_motion(still, constraints.J, constraints.Y, rows, off, stiction.rows, away), rest]), 1.0)
        constraints = self.constraint_rows()
        v[: self._y.size] += least_motion(
            still, constraints.J, constraints.Y, rows, self._rate[rows], stiction.rows, self._rate[stiction.rows]
        )
