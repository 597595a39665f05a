"""A model in reduced coordinates, ready for linearly implicit steps: reduced tables, the implicit terms of its forces, and a way to solve.

`linear` names the solution; "auto" decides by the structure:

    no couplings of moving bodies    "tree": the preconditioner is the matrix, one solution is exact
    couplings                        "pcg" until it needs more iterations than a direct solution costs, then "direct"
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.algebra.coupled_tree import BOOK, vector_size
from unibody.coordinates.closure import solve_closure

from unibody.coordinates.redmax import (  # isort: skip
    FAILED, FEEDBACK, ITERATIONS, LIMIT, PROJECTED, STEP_LENGTH, TOLERANCE, correct_redmax, evaluate_redmax, look_around,
)  # fmt: skip

from unibody.coordinates.redmax_linear import (  # isort: skip
    factor_densely, factor_projected, fill_implicit, solve_closed, solve_densely, solve_iteratively, solve_plainly, solve_projected,
)  # fmt: skip
from unibody.coordinates.projection import PROJECT_BELOW
from unibody.coordinates.reduced_system import FEEDBACK_STEPS, ReducedSystem

from unibody.coordinates.slots import (  # isort: skip
    AHEAD, BLOCKS, COUPLED, COUPLING, DIAGONAL, FRONTS, IMPLICIT_CHOICE, IMPLICIT_CLASSES, IMPLICIT_EFFORT, IMPLICIT_F, IMPLICIT_INDEX,
    IMPLICIT_PARAMETERS, IMPLICIT_PLACES, INVERSE, LEAST, LOOP_COUPLINGS, OWN, PAIRS, RESIDUAL, ROW_BOOK, SIDE, SIDE_F, STATUS, STEP_ROWS,
    SUMS, TREE_SOLVE, VECTORS, V_OWN, WORLD_COUPLING, X_SOLVED, Y,
)  # fmt: skip
from unibody.coordinates.stages import EVALUATE_STAGE, FACTOR_STAGE, FUSED_STAGE, IMPLICIT_STAGE, MULTIPLIER_STAGE, SOLVE_STAGE
from unibody.model.implicit_tables import ImplicitTables, moving_bodies
from unibody.model.model import Model

LINEAR = ("auto", "pcg", "direct", "dense", "plain")

MOST_ITERATIONS = 2000


class RedMaxSystem(ReducedSystem):
    """Tables and work space of a model for RedMax."""

    def __init__(self, model: Model, linear: str, explicit: frozenset[str], tolerance: float, stabilisation_time: float | None):
        self.linear = linear
        self.explicit = explicit
        self.stabilisation_time = stabilisation_time
        super().__init__(model)
        self.view(IMPLICIT_CHOICE)[TOLERANCE] = tolerance
        self.view(IMPLICIT_CHOICE)[LIMIT] = MOST_ITERATIONS

    def extend(self, slots: list[Any]) -> None:
        model, book = self.model, self.book
        n, nv, nvj, k = model.n_bodies, model.nv, model.nv_joints, book.rows
        tables = ImplicitTables(model, self.trouble, self.clock, self.explicit)
        self.implicit_names = tables.names
        self.python_classes = sorted({*self.python_classes, *tables.python_classes})
        pairs = [tuple(p) for p in tables.couplings.tolist()]
        loop_couplings = self._loop_couplings(tables.joint_velocities, pairs)
        self.pairs = np.array(pairs, np.int64).reshape(-1, 2)
        coupled = sorted({body for pair in pairs for body in pair})
        place = {body: i for i, body in enumerate(coupled)}
        self.method = self.choose()
        implicit = bool(tables.names)
        slots[IMPLICIT_CLASSES], slots[IMPLICIT_INDEX], slots[IMPLICIT_PLACES] = tables.classes, tables.index, tables.places
        slots[IMPLICIT_PARAMETERS], slots[IMPLICIT_CHOICE] = tables.parameters, np.zeros(4)
        slots[PAIRS] = self.pairs
        slots[COUPLED] = np.array([place[body] for pair in pairs for body in pair] + coupled, np.int64)
        slots[LOOP_COUPLINGS] = np.array(loop_couplings, np.int64)
        slots[ROW_BOOK] = self._row_book()
        slots[TREE_SOLVE] = np.array([solve_projected.address if k else 0], np.int64)
        sizes = {
            IMPLICIT_F: 6 * n if implicit else 0, IMPLICIT_EFFORT: nvj if implicit else 0, OWN: 21 * n if implicit else 0,
            COUPLING: 36 * len(pairs), DIAGONAL: nvj, BLOCKS: 21 * n, WORLD_COUPLING: 36 * len(pairs), SUMS: max(21 * n, nv),
            VECTORS: vector_size(n, nv, len(coupled), k), FRONTS: nv * nv if self.method == "dense" else 0, STATUS: 3, AHEAD: k, LEAST: nv,
            X_SOLVED: 6 * n, SIDE: nv, SIDE_F: 6 * n, INVERSE: k * k, STEP_ROWS: k, V_OWN: nv,
        }  # fmt: skip
        for slot, size in sizes.items():
            slots[slot] = size

    def choose(self) -> str:
        """The way to solve, by the structure."""
        if self.linear in ("auto", "pcg", "direct") and not len(self.pairs):
            return "tree"
        return "pcg" if self.linear == "auto" else self.linear

    def _row_book(self) -> np.ndarray:
        """The rows' integers as `unibody.algebra.coupled_tree` reads them."""
        book = self.book
        parts = [book.row_start, book.row_entry, book.entry_body, book.dof_start, book.dof_index]
        return np.concatenate([BOOK + np.cumsum([p.size for p in parts]), *parts])

    def _loop_couplings(self, velocities: list[int], pairs: list[tuple[int, int]]) -> list[int]:
        """(loop joint, v, place) of every loop joint's velocity with implicit terms; its bodies become a new pair if both can move."""
        moving = moving_bodies(self.model)
        out: list[int] = []
        for joint, j in enumerate(self.model.loop_joints):
            mine = [v for v in velocities if j.v_start <= v < j.v_start + j.nv]
            place = -1
            if mine and j.parent in moving and j.child in moving:
                place = len(pairs)
                pairs.append((j.child, j.parent))
            for v in mine:
                out += [joint, v, place]
        return out

    def stages(self, control: np.ndarray, loads: bool = False) -> np.ndarray:
        return super().stages(control, loads=True)

    def set_method(self, stages: np.ndarray) -> None:
        stages[EVALUATE_STAGE] = evaluate_redmax.address
        stages[IMPLICIT_STAGE] = fill_implicit.address if self.implicit_names else 0
        stages[FACTOR_STAGE] = factor_densely.address if self.method == "dense" else factor_projected.address
        if self.method == "pcg":
            stages[FUSED_STAGE] = solve_closed.address
            return
        solve = {"tree": solve_projected, "dense": solve_densely, "plain": solve_plainly, "iterate": solve_iteratively}[self.method]
        stages[SOLVE_STAGE] = solve.address
        stages[MULTIPLIER_STAGE] = solve_closure.address if self.has_loops else 0

    def prepare(self, dt: float) -> None:
        super().prepare(dt)
        choice = self.view(IMPLICIT_CHOICE)
        time = FEEDBACK_STEPS * dt if self.stabilisation_time is None else self.stabilisation_time
        choice[STEP_LENGTH], choice[FEEDBACK] = dt, 1.0 / time

    def evaluate(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, loads: bool = False) -> None:
        """Fill the work space at a state: a step of no length, which is the acceleration at that instant."""
        choice = self.view(IMPLICIT_CHOICE)
        length, choice[STEP_LENGTH] = choice[STEP_LENGTH], 0.0
        self.advance_from(t, q, v, control)
        choice[STEP_LENGTH] = length

    def advance_from(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> np.ndarray:
        """Accelerations over a step of the prepared length from (t, q, v), without a guess."""
        self.clock[0] = t
        self.view(Y)[:] = 0.0
        evaluate_redmax(self.layout, self.ints, self.constants, self.stages(control), control, t, self.work, q, v)
        return self.view(Y)

    def look(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> None:
        """Poses, rows and loads at a state, nothing solved."""
        self.clock[0] = t
        look_around(self.layout, self.ints, self.constants, self.stages(control), control, t, self.work, q, v)

    def aim(self, dt: float) -> np.ndarray:
        """What a fully implicit step of length dt brings each row's C to: 0, or, while a start still assembles itself, less than now."""
        residual = self.view(RESIDUAL)
        time = FEEDBACK_STEPS * dt if self.stabilisation_time is None else self.stabilisation_time
        left = max(0.0, 1.0 - dt / time) if np.abs(residual).max(initial=0.0) > PROJECT_BELOW else 0.0
        return np.where(self.book.unilateral, 0.0, left * residual)

    def correct(
        self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray, aim: np.ndarray | None, control: np.ndarray
    ) -> np.ndarray:
        """The Newton correction of a fully implicit stage of the prepared length; without an aim rows stay where they are."""
        self.clock[0] = t
        stages = self.stages(control)
        if aim is None:
            self.look(t, q, v, control)
            aim = self.view(RESIDUAL).copy()
        correct_redmax(self.layout, self.ints, self.constants, stages, control, t, a, aim, self.work, q, v)
        return self.view(Y)

    @property
    def iterations(self) -> int:
        """Of the linear solution of the last step."""
        return int(self.view(STATUS)[ITERATIONS])

    def notes(self) -> tuple[str, ...]:
        notes = [*super().notes(), f"linear: {self.method}"]
        if self.view(STATUS)[PROJECTED]:
            notes.append("indefinite implicit terms were projected")
        if self.view(STATUS)[FAILED]:
            notes.append(f"not positive definite near body '{self.model.bodies[int(self.view(STATUS)[FAILED])].name}'")
        return tuple(notes)
