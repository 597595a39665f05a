"""A model in reduced coordinates, ready for linearly implicit steps: reduced tables, the implicit terms of its forces, and a way to solve.

`linear` names the solution; "auto" decides by the structure:

    no couplings of moving bodies    "tree": the preconditioner is the matrix, one solution is exact
    couplings, few velocities        "dense" where writing the matrix out costs less than eliminating
    couplings                        "pcg" until it needs more iterations than a direct solution costs, then "direct"
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.algebra.tree.joint_matrix import scratch_size, stride_of, ways_and_moves
from unibody.algebra.tree.multifrontal_plan import MultifrontalPlan
from unibody.algebra.tree.pcg import TABLE_SIZE, vector_size
from unibody.solvers.redmax.step import accelerate_along_rows, correct_redmax, evaluate_redmax, look_around

from unibody.solvers.redmax.linear import (  # isort: skip
    factor_automatically, factor_contracted, factor_densely, factor_densely_apart, factor_inside, factor_projected, fill_implicit,
    multiply_bilateral, solve_automatically, solve_closed, solve_contracted, solve_densely, solve_densely_alone, solve_inside,
    solve_iteratively, solve_plainly, solve_projected, spread_automatically, spread_contracted,
)  # fmt: skip
from unibody.coordinates.loop_closure import FEEDBACK_STEPS
from unibody.coordinates.maximal.projection import PROJECT_BELOW
from unibody.coordinates.observation import Observation
from unibody.coordinates.reduced.dynamics import spread_responses
from unibody.coordinates.reduced.kinematics import advance_own
from unibody.coordinates.reduced.observe import observe_reduced
from unibody.coordinates.reduced.system import ReducedSystem
from unibody.coordinates.reduced.tables import ReducedTables
from unibody.coordinates.system import SystemAround
from unibody.solvers.redmax.rows import CLOSE, aim_rows_ahead, row_of

from unibody.coordinates.reduced.workspace import (  # isort: skip
    ANTICIPATE, BLOCKS, BODIES, CONTRACTED, COUPLING, CURVED, DEFINITE, DIAGONAL, FAILED, FEEDBACK, IMPLICIT_CHOICE,
    IMPLICIT_CLASSES, IMPLICIT_EFFORT, IMPLICIT_F, IMPLICIT_INDEX, IMPLICIT_PARAMETERS, IMPLICIT_PLACES, ITERATIONS, ITERATION_LIMIT,
    LEAST, OWN, PROJECTED, SETTLE, SIDE, STATUS, STEP_LENGTH, SUMS, TOLERANCE, X_SOLVED,
)  # fmt: skip
from unibody.coordinates.workspace import DRIFT, ENTRY_W, FORCE_CLASSES, MULTIPLIER, RATE, RESIDUAL, ROW_SIZE, TARGET, VIOLATION, J, Y

from unibody.solvers.redmax.workspace import (  # isort: skip
    ADDRESSES, AHEAD, BORDER, BORDER_VALUES, CONSTRAINT_LAYOUT, COUPLED, FRONTS, FRONT_SCRATCH, FRONT_STATE, GROUND_PAIRS, INVERSE,
    LOOP_COUPLINGS, NONHOLONOMIC, OTHER_FORCES, OTHER_IMPLICIT, PAIRS, PAIR_CLASSES, PAIR_ENDS, PAIR_FORCES, PLAN_LISTS,
    PLAN_RECORDS, PLAN_STEPS, REDMAX, SIDE_F, STEP_ROWS, UNILATERAL, VECTORS, V_OWN, WORLD_COUPLING,
)  # fmt: skip

from unibody.coordinates.stages import (  # isort: skip
    AGAIN_STAGE, EVALUATE_STAGE, FACTOR_STAGE, FORCE_STAGE, FUSED_STAGE, IMPLICIT_STAGE, MULTIPLIER_STAGE, PAIR_STAGE, SOLVE_STAGE,
)  # fmt: skip
from unibody.forces.base import PAIR
from unibody.model.implicit_tables import ImplicitTables, is_implicit, moving_bodies
from unibody.model.model import JointInfo, Model
from unibody.solvers.base import needs_reaction
from unibody.solvers.redmax.costs import FEWEST, RESPONSE_NS, direct_ns, iteration_ns, written_ns
from unibody.solvers.redmax.displacement import difference_own
from unibody.solvers.redmax.point_pairs import END, PairTables, add_pair_blocks, fill_apart, load_apart
from unibody.solvers.redmax.unilateral import multiplier_callback

LINEAR = ("auto", "pcg", "direct", "dense", "plain", "kkt")

ALONE = {
    "tree": solve_projected, "dense": solve_densely, "plain": solve_plainly, "iterate": solve_iteratively, "contract": solve_inside,
}  # fmt: skip
"""Ways that know no rows."""

MOST_ITERATIONS = 2000

CONTRADICTION = 1e-6
"""Part of the accelerations that rows ask for and are made of by which dependent ones may be missed before they are said to contradict
each other; in fully implicit steps, violation."""

CLOSED = 1e-9
"""Violation (a part of the size of what a row holds) that is round-off of a start, not a contradiction."""


class RedMaxSystem(SystemAround[ReducedSystem]):
    """A model for RedMax: its tree, with the implicit terms of forces and a way to solve Eq. 2 of paper 000."""

    def __init__(
        self, model: Model, linear: str, explicit: frozenset[str], tolerance: float, stabilisation_time: float | None, anticipate: bool,
        definite: bool,
    ):  # fmt: skip
        self.linear, self.explicit, self.stabilisation_time = linear, explicit, stabilisation_time
        self._corrected, self._definite = False, definite
        tables = self._tables(model)
        self.model, self.constraints = model, tables.constraints
        super().__init__(ReducedSystem(tables, self._slots(tables), self.block))
        self.has_loops = self.dynamics.has_loops
        choice = self.view(IMPLICIT_CHOICE)
        choice[TOLERANCE], choice[ITERATION_LIMIT] = tolerance, min(MOST_ITERATIONS, int(self.break_even))
        choice[ANTICIPATE], choice[DEFINITE] = anticipate, definite

    block = REDMAX
    """Where its slots are declared."""
    always_implicit = False
    """Whether there are implicit terms without forces."""
    row_by_row = False
    """Whether rows act on more than bodies, so that each is solved for by itself."""

    def _tables(self, model: Model) -> ReducedTables:
        return ReducedTables(model)

    def _coupled(self, tables: ReducedTables) -> list[tuple[int, int]]:
        """Pairs of bodies that are coupled by others than forces."""
        return []

    def _slots(self, tables: ReducedTables) -> dict[int, Any]:
        """What is added to the tables of the tree, or is larger here."""
        model, constraints = self.model, self.constraints
        n, nv, nvj, k = model.n_bodies, model.nv, model.nv_joints, constraints.rows
        # implicit forces, and which bodies they couple
        sprung = self._sprung_loops()
        reserved = [(j.child, j.parent) for j in sprung if {j.child, j.parent} <= moving_bodies(model)]
        reserved += self._coupled(tables)
        self.terms = terms = ImplicitTables(model, tables.callback_errors, tables.clock, self.explicit, reserved)
        tables.python_classes |= set(terms.python_classes)
        self.implicit_names, self.pairs = terms.names, terms.couplings[: terms.moving]
        implicit = bool(terms.names) or self.always_implicit
        pairs = [tuple(p) for p in self.pairs.tolist()]
        coupled = sorted({body for pair in pairs for body in pair})
        place = {body: i for i, body in enumerate(coupled)}
        # forces between two points, apart from the others
        apart = PairTables(model, terms, tables.slots[FORCE_CLASSES], self.explicit)
        if self.always_implicit:  # points may be those of deformables, which have places among the couplings
            apart.ends, apart.classes = apart.ends[:0], apart.classes[:0]
        looked_at = any(needs_reaction(force) for _, force in model.forces)
        self._apart = self._definite and not self.always_implicit and apart.ends.size > 0 and not looked_at
        self._others = apart.other_implicit.size > 0
        self._ends = [(a, b) for a, b, _ in apart.ends.reshape(-1, END).tolist()] if self._apart else []
        # the way to solve
        self.break_even = float(MOST_ITERATIONS)
        out: dict[int, Any] = {}
        self.method = self._choose(tables.slots[BODIES], out)
        self.unilateral = bool(constraints.unilateral.any())
        self._multiply = 0
        if k:
            callback = self.unilateral
            self._multiply = multiplier_callback(constraints, tables.callback_errors) if callback else multiply_bilateral.address
        on_velocities = {name for name, c in model.constraints if c.nonholonomic}
        nonholonomic = [r >= constraints.joint_rows and name in on_velocities for r, name in enumerate(constraints.names)]
        # the slots
        out |= {
            IMPLICIT_CLASSES: terms.classes, IMPLICIT_INDEX: terms.index, IMPLICIT_PLACES: terms.places,
            IMPLICIT_PARAMETERS: terms.parameters, IMPLICIT_CHOICE: 8, PAIRS: self.pairs,
            GROUND_PAIRS: terms.couplings[terms.moving : terms.of_bodies],
            COUPLED: np.array([place[body] for pair in pairs for body in pair] + coupled, np.int64),
            LOOP_COUPLINGS: np.array(self._loop_couplings(sprung, terms.joint_velocities, pairs), np.int64),
            CONSTRAINT_LAYOUT: self._constraint_layout(), UNILATERAL: constraints.unilateral.astype(np.int64),
            NONHOLONOMIC: np.array(nonholonomic, np.int64),
            ADDRESSES: np.array([solve_projected.address if k and self.method in ("pcg", "auto") else 0, self._multiply], np.int64),
            PAIR_CLASSES: apart.classes, PAIR_ENDS: apart.ends, PAIR_FORCES: PAIR * (apart.ends.size // END),
            OTHER_FORCES: apart.other_forces, OTHER_IMPLICIT: apart.other_implicit,
            IMPLICIT_F: 6 * n if implicit else 0, IMPLICIT_EFFORT: nvj if implicit else 0, OWN: 21 * n if implicit else 0,
            COUPLING: 36 * len(terms.couplings), WORLD_COUPLING: 36 * len(terms.couplings), DIAGONAL: nvj, BLOCKS: 21 * n,
            SUMS: max(21 * n, nv), VECTORS: vector_size(n, nv, len(coupled), k), STATUS: 8, AHEAD: k, LEAST: nv,
            X_SOLVED: 6 * n, SIDE: nv, SIDE_F: 6 * n, INVERSE: k * k, STEP_ROWS: k, V_OWN: nv,
        }  # fmt: skip
        if self.method == "dense":
            out[FRONTS], out[FRONT_STATE] = stride_of(nv) * nv, nv + stride_of(nv)
            out[PLAN_LISTS] = ways_and_moves(tables.slots[BODIES], self._ends)
            out[FRONT_SCRATCH] = scratch_size(n, nv, out[PLAN_LISTS])
        return out

    def _plan(self, bodies: np.ndarray, rows: int, slots: dict[int, Any]) -> None:
        """The order of a direct solution, with the rows as its border, or none of them."""
        constraints = self.constraints
        nodes = [
            (r, constraints.entry_body[e])
            for r in range(rows)
            for e in constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]
        ]
        index = constraints.dof_index.reshape(-1, 2)
        columns = [(r, index[k, 1]) for r in range(rows) for k in range(constraints.dof_start[r], constraints.dof_start[r + 1])]
        self.plan = plan = MultifrontalPlan(bodies, self.pairs, nodes, columns, rows)
        slots[PLAN_STEPS], slots[PLAN_LISTS], slots[PLAN_RECORDS] = plan.steps, plan.lists, plan.records
        slots[BORDER] = index[: len(columns), 0]
        slots[FRONTS], slots[FRONT_SCRATCH], slots[FRONT_STATE] = plan.factor_size, plan.scratch_size, plan.state_size
        slots[BORDER_VALUES] = 6 * len(nodes) + len(columns)

    def _choose(self, bodies: np.ndarray, slots: dict[int, Any]) -> str:
        """The way to solve, by the structure and by what iterating, eliminating and writing A out cost; its plan goes into the slots."""
        if self.linear in ("auto", "pcg", "direct") and not len(self.pairs):
            return "tree"
        if (self.constraints.unilateral.any() or self.row_by_row) and self.linear in ("auto", "pcg", "direct"):
            if self.linear == "pcg":
                return "iterate"
            self._plan(bodies, 0, slots)
            return "dense" if self.linear == "auto" and self._written_ns(bodies) < direct_ns(self.plan, len(bodies)) else "contract"
        if self.linear == "pcg" and self.constraints.compliance.any():  # the fused iteration knows rigid rows only
            return "iterate"
        if self.linear in ("auto", "direct"):
            self._plan(bodies, self.constraints.rows, slots)
        if self.linear != "auto":
            return self.linear
        n, rows = self.model.n_bodies, self.constraints.rows
        direct, iteration = direct_ns(self.plan, n), iteration_ns(n, len(self.pairs), rows)
        self.break_even = (direct - RESPONSE_NS * rows * n) / iteration
        if self._written_ns(bodies) < min(direct, FEWEST * iteration):
            return "dense"
        return "direct" if self.break_even < FEWEST or self.constraints.compliance.any() else "auto"

    def _written_ns(self, bodies: np.ndarray) -> float:
        """What it costs to write the matrix out."""
        return written_ns(bodies, self._ends, [] if self._apart else self.pairs.tolist(), self.constraints.rows)

    def _constraint_layout(self) -> np.ndarray:
        """The rows' integers as `unibody.algebra.tree.pcg` reads them."""
        constraints = self.constraints
        parts = [constraints.row_start, constraints.row_entry, constraints.entry_body, constraints.dof_start, constraints.dof_index]
        return np.concatenate([TABLE_SIZE + np.cumsum([p.size for p in parts]), *parts])

    def _sprung_loops(self) -> list[JointInfo]:
        """The loop joints that implicit forces act in."""
        model = self.model
        forces = [force for name, force in model.forces if name not in self.explicit and is_implicit(force)]
        named = {model.joint(j).name for force in forces for j in force.joints()}
        return [j for j in model.loop_joints if j.name in named]

    def _loop_couplings(self, sprung: list[JointInfo], velocities: list[int], pairs: list[tuple[int, ...]]) -> list[int]:
        """(loop joint, v, place of its two bodies or −1) of every loop joint's velocity with implicit terms."""
        out: list[int] = []
        for j in sprung:
            pair = (j.child, j.parent)
            for v in (v for v in velocities if j.v_start <= v < j.v_start + j.nv):
                out += [self.model.loop_joints.index(j), v, pairs.index(pair) if pair in pairs else -1]
        return out

    def stages(self, control: np.ndarray, apart: bool = True) -> np.ndarray:
        """Addresses of the stages: those of the tree with loads, and the ways to factor and to solve that were chosen. `apart`: forces
        between points apart from the others (`point_pairs`), which leaves no loads to look at."""
        stages = self.dynamics.shared_stages(control, loads=True)
        stages[EVALUATE_STAGE] = evaluate_redmax.address
        stages[IMPLICIT_STAGE] = fill_implicit.address if self.implicit_names else 0
        if apart and self._apart:
            stages[FORCE_STAGE], stages[PAIR_STAGE] = load_apart.address, add_pair_blocks.address
            stages[IMPLICIT_STAGE] = fill_apart.address if self._others else 0
        factors = {"dense": factor_densely, "direct": factor_contracted, "contract": factor_inside, "auto": factor_automatically}
        factor = factors.get(self.method, factor_projected)
        if self.method == "dense" and stages[PAIR_STAGE]:
            factor, stages[PAIR_STAGE] = factor_densely_apart, 0
        stages[FACTOR_STAGE], stages[MULTIPLIER_STAGE] = factor.address, self._multiply
        if self.has_loops:
            stages[AGAIN_STAGE] = {"direct": spread_contracted, "auto": spread_automatically}.get(self.method, spread_responses).address
        closed = {"pcg": solve_closed, "direct": solve_contracted, "auto": solve_automatically}
        if not self.constraints.rows and not self.row_by_row:
            closed["dense"] = solve_densely_alone
        if self.method in closed:
            stages[FUSED_STAGE] = closed[self.method].address
        else:
            stages[SOLVE_STAGE] = ALONE.get(self.method, solve_projected).address
        return stages

    def prepare(self, dt: float) -> None:
        """Before steps of length dt; feedback of rows within `stabilisation_time`."""
        self.dynamics.prepare(dt)
        choice = self.view(IMPLICIT_CHOICE)
        time = FEEDBACK_STEPS * dt if self.stabilisation_time is None else self.stabilisation_time
        choice[STEP_LENGTH], choice[FEEDBACK] = dt, 1.0 / max(time, dt)

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, loads: bool = False) -> None:
        """Fill the work space at a state: a step of no length, which is the acceleration at that instant."""
        choice = self.view(IMPLICIT_CHOICE)
        length, choice[STEP_LENGTH] = choice[STEP_LENGTH], 0.0
        self.advance_from(t, q, v, control)
        choice[STEP_LENGTH] = length

    def advance_from(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> np.ndarray:
        """Accelerations over a step of the prepared length from (t, q, v), without a guess; and the loads that act over it."""
        self.dynamics.clock[0] = t
        self.view(Y)[:] = 0.0
        self.view(IMPLICIT_CHOICE)[SETTLE] = 1.0
        self._corrected = False
        evaluate_redmax(self.layout, self.ints, self.constants, self.stages(control, False), control, t, self.work, q, v)
        self.view(IMPLICIT_CHOICE)[SETTLE] = 0.0
        return self.view(Y)

    def observe(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> Observation:
        """Everything derived at a state."""
        self.evaluate(t, q, v, control)
        return observe_reduced(self.dynamics, t, q, v)

    def set_projection(self, on: bool) -> None:
        """Whether q is brought back onto the constraints after every step, and rows are aimed along their curves."""
        self.dynamics.set_projection(on)
        self.view(IMPLICIT_CHOICE)[CURVED] = on and self.has_loops

    def look(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> None:
        """Poses, rows and loads at a state, nothing solved."""
        self.dynamics.clock[0] = t
        look_around(self.layout, self.ints, self.constants, self.stages(control, False), control, t, self.work, q, v)

    def aim(self, dt: float) -> np.ndarray:
        """What a fully implicit step of length dt brings each row's C to: 0, or, while a start still assembles itself, less than now."""
        residual, size = self.view(RESIDUAL), self.view(ROW_SIZE)
        time = FEEDBACK_STEPS * dt if self.stabilisation_time is None else self.stabilisation_time
        off = np.where(self.constraints.unilateral, np.minimum(0.0, residual), residual)
        left = max(0.0, 1.0 - dt / time) if np.abs(off / size).max(initial=0.0) > PROJECT_BELOW else 0.0
        return left * off

    # the unknowns of fully implicit rules

    @property
    def own(self) -> np.ndarray:
        """Places of their velocities among all."""
        return np.arange(self.model.nv)

    def move(self, q: np.ndarray, v: np.ndarray, h: float, q_out: np.ndarray) -> None:
        """q ⊕ h v."""
        advance_own(self.layout, self.ints, self.constants, q, v, h, q_out)

    def difference(self, q_0: np.ndarray, q_1: np.ndarray) -> np.ndarray:
        """q_1 ⊖ q_0."""
        return difference_own(self.model, q_0, q_1)

    def weights(self) -> np.ndarray:
        """√mass of each, for norms."""
        return np.sqrt(self.view(LEAST))

    def correct(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray, aim: np.ndarray | None, control: np.ndarray) -> np.ndarray:
        """The Newton correction of a fully implicit stage of the prepared length; without an aim rows stay where they are."""
        self.dynamics.clock[0] = t
        stages = self.stages(control, False)
        if aim is None:
            self.look(t, q, v, control)
            residual = self.view(RESIDUAL)
            aim = np.where(self.constraints.unilateral & (self.view(VIOLATION) > CLOSE), -np.inf, residual)
        self._corrected = True
        carried = int(self.always_implicit)
        correct_redmax(self.layout, self.ints, self.constants, stages, control, t, a, aim, carried, self.work, q, v)
        return self.view(Y)

    def normal_acceleration(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> np.ndarray:
        """n of `implicit`: the part of the accelerations at a state that keeps bodies on their rows. Rows on velocities, rows with
        compliance and rows that are not met do not ask for any; ranges only if they carry a force at that instant."""
        constraints, size, choice = self.constraints, self.view(ROW_SIZE), self.view(IMPLICIT_CHOICE)
        self.evaluate(t, q, v, control)
        met = (self.view(NONHOLONOMIC) == 0) & (constraints.compliance == 0.0) & (np.abs(self.view(RESIDUAL) / size) < PROJECT_BELOW)
        met &= ~constraints.unilateral | (self.view(MULTIPLIER) > 0.0)
        length, choice[STEP_LENGTH] = choice[STEP_LENGTH], 0.0
        self._accelerate_along_rows(t, q, v, control, met.astype(np.int64))
        choice[STEP_LENGTH] = length
        return self.view(Y).copy()

    def _accelerate_along_rows(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, met: np.ndarray) -> None:
        """Into Y what the rows that are met ask for by themselves."""
        accelerate_along_rows(self.layout, self.ints, self.constants, self.stages(control, False), control, t, met, self.work, q, v)

    def pushes(self) -> bool:
        """Whether some unilateral row carried a force in the last solution."""
        return self.unilateral and bool((self.limit_forces() > 0.0).any())

    def limit_forces(self) -> np.ndarray:
        """The multipliers of the last solution, of unilateral rows only."""
        return np.where(self.constraints.unilateral, self.view(MULTIPLIER), 0.0)

    def row_velocities(self) -> np.ndarray:
        """G v of all rows at the state that was looked at last."""
        return self.view(RATE) - self.view(DRIFT)

    @property
    def iterations(self) -> int:
        """Of the linear solution of the last step."""
        return int(self.view(STATUS)[ITERATIONS])

    def _reason(self) -> str:
        """What was chosen, and why."""
        if self.linear != "auto":
            return {"iterate": "pcg, row by row", "contract": "direct, row by row"}.get(self.method, self.method)
        if self.method == "tree":
            return "tree, since no force couples two moving bodies"
        if self.method == "dense":
            return f"dense, since the tree has only {self.model.nv} velocities"
        if self.method == "contract":
            return f"direct, since some rows {'act on vertices' if self.row_by_row else 'are unilateral'}"
        price = f"a direct solution costs {max(self.break_even, 0.0):.0f} iterations"
        if self.method == "direct":
            return f"direct, since {price}"
        return f"direct, since {price} and more were needed" if self.view(STATUS)[CONTRACTED] else f"pcg, since {price}"

    def contradictions(self) -> list[str]:
        """The elements whose rows the last step could not satisfy, because others repeat and contradict them.

        A row is missed if its acceleration is off by more than round-off of what it is a sum of and of what rows ask for, and by more than
        a violation of CLOSED would make it ask for."""
        constraints, choice = self.constraints, self.view(IMPLICIT_CHOICE)
        h = float(choice[STEP_LENGTH])
        if not constraints.rows or not 0.0 < h < np.inf or self.rank()[0] == constraints.rows:
            return []
        size, rigid = self.view(ROW_SIZE), ~constraints.unilateral & (constraints.compliance == 0.0)
        if self._corrected:  # the end of a fully implicit step: C = 0 there, or, of a start that assembles itself, less than before
            violation = self.view(VIOLATION)
            grows = self.view(RATE) * self.view(RESIDUAL) >= 0.0
            missed = rigid & (np.abs(violation) > CONTRADICTION) & (grows | (np.abs(violation[rigid]).max(initial=0.0) < PROJECT_BELOW))
        else:
            x, y = self.view(X_SOLVED), self.view(Y)
            aim_rows_ahead(self.layout, self.ints, self.constants, self.work)  # again: the solution has used the targets up
            asked = np.where(rigid, self.view(TARGET), 0.0) / size
            found = np.array([row_of(self.layout, self.ints, r, x, y, self.work) for r in range(constraints.rows)]) / size
            scale = self._row_sums(x.reshape(-1, 6), y) / size + np.abs(asked).max()
            missed = rigid & (np.abs(found - asked) > CONTRADICTION * scale + CLOSED * choice[FEEDBACK] / h)
        return list(dict.fromkeys(constraints.names[r] for r in np.flatnonzero(missed)))

    def _row_sums(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Of every row the sum of the magnitudes that its product with motions of bodies x and of joints y is made of."""
        constraints, entries, numbers, out = (
            self.constraints,
            self.view(ENTRY_W).reshape(-1, 6),
            self.view(J),
            np.zeros(self.constraints.rows),
        )
        index = constraints.dof_index.reshape(-1, 2)
        for r in range(constraints.rows):
            mine = constraints.row_entry[constraints.row_start[r] : constraints.row_start[r + 1]]
            dofs = index[constraints.dof_start[r] : constraints.dof_start[r + 1]]
            out[r] = np.sum(np.abs(entries[mine] * x[constraints.entry_body[mine]])) + np.sum(np.abs(numbers[dofs[:, 0]] * y[dofs[:, 1]]))
        return out

    def notes(self) -> tuple[str, ...]:
        notes = [*self.callback_notes, f"linear: {self._reason()}"]
        if self.view(STATUS)[PROJECTED]:
            notes.append("indefinite implicit terms were projected")
        if self.view(STATUS)[FAILED]:
            notes.append(f"not positive definite near body '{self.model.bodies[int(self.view(STATUS)[FAILED])].name}'")
        if names := self.contradictions():
            notes.append(f"constraints contradict each other: {', '.join(names)}")
        return tuple(notes)
