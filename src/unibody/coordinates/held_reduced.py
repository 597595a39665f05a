"""Reduced coordinates for time stepping with impulses: the free motion of the tree, and its response to any row, each O(n).

The evaluation leaves loops, constraint elements and contacts alone; they come as rows J of one complementarity problem. A row's response
Y = M⁻¹ Jᵀ is a sweep with the factors of the tree, and where every moving body hangs on the ground alone, a 6×6 block per body.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.algebra.tree import BODY, COLUMN, INVERSE, ROW, A, P, U, V, dot6, fill_shifts, pull_tree, solve_tree
from unibody.arena import part
from unibody.coordinates.closure import fill_reference
from unibody.coordinates.held import BookRows, Motion, centres_in_bodies, cross_rows, motion_of
from unibody.coordinates.kick import kick_reduced
from unibody.coordinates.observe_reduced import Held, reactions_reduced
from unibody.coordinates.redmax_rows import load_row, row_acceleration
from unibody.coordinates.reduced import advance_joints, place_entries
from unibody.coordinates.reduced_products import carry_accelerations
from unibody.coordinates.reduced_system import ReducedSystem, evaluate_reduced, project_reduced, spread_responses

from unibody.coordinates.slots import (  # isort: skip
    ACTIVE, BODIES, CLASSES, CLOSURE, COLUMNS, ENTRY_BODY, ENTRY_W, F, FREE, G, GRAVITY, INDEX, LOAD, MASSES, MULTIPLIER, PARAMETERS, RATE,
    RESIDUAL, RESPONSE_Y, ROWS, ROW_ENTRY, ROW_START, SHIFT, SIDE, X_SOLVED, X_WB, Y,
)  # fmt: skip
from unibody.coordinates.stages import AGAIN_STAGE, EVALUATE_STAGE
from unibody.kernel import Floats, Ints, kernel
from unibody.model.model import Model
from unibody.spatial.devices import load6


@kernel
def respond_to_book(
    layout: Ints, ints: Ints, constants: Floats, work_out: Floats, acceleration_out: Floats, J_out: Floats, Y_out: Floats
) -> None:
    """C̈ of the free motion, J and M⁻¹ Jᵀ of all rows of the book."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    X = part(work_out, layout, X_WB)
    blocks = part(work_out, layout, G)
    world = part(work_out, layout, ENTRY_W)
    entry_body = part(ints, layout, ENTRY_BODY)
    shift = part(work_out, layout, SHIFT)
    load = part(work_out, layout, LOAD)
    y = part(work_out, layout, Y)
    nv = y.size
    place_entries(entry_body, blocks, X, rows, world)
    fill_shifts(body, rows, shift)
    for k in range(load.size):
        load[k] = 0.0
    for k in range(J_out.size):
        J_out[k] = 0.0
    for r in range(acceleration_out.size):
        acceleration_out[r] = row_acceleration(layout, ints, constants, r, y, work_out)
        mine = J_out[nv * r : nv * (r + 1)]
        load_row(layout, ints, r, 1.0, work_out, load, mine)
        pull_tree(body, shift, columns, load, mine)
        solve_tree(body, shift, columns, mine, load, part(work_out, layout, X_SOLVED), Y_out[nv * r : nv * (r + 1)])
    fill_reference(
        part(ints, layout, ROW_START), part(ints, layout, ROW_ENTRY), entry_body, world, part(constants, layout, MASSES),
        part(work_out, layout, CLOSURE),
    )  # fmt: skip


@kernel
def respond_to_wrenches(layout: Ints, ints: Ints, nodes: Ints, wrenches: Floats, work_out: Floats, J_out: Floats, Y_out: Floats) -> None:
    """J and M⁻¹ Jᵀ of rows that are wrenches on two bodies each: nodes (2 a row), wrenches (12 a row; world axes, at the nodes' points)."""
    body = part(ints, layout, BODIES)
    columns = part(work_out, layout, COLUMNS)
    shift = part(work_out, layout, SHIFT)
    load = part(work_out, layout, LOAD)
    nv = part(work_out, layout, Y).size
    fill_shifts(body, part(work_out, layout, ROWS), shift)
    for k in range(load.size):
        load[k] = 0.0
    for k in range(J_out.size):
        J_out[k] = 0.0
    for r in range(nodes.size // 2):
        for s in range(2):
            for m in range(6):
                load[6 * nodes[2 * r + s] + m] += wrenches[12 * r + 6 * s + m]
        mine = J_out[nv * r : nv * (r + 1)]
        pull_tree(body, shift, columns, load, mine)
        for m in range(6):
            load[m] = 0.0
        solve_tree(body, shift, columns, mine, load, part(work_out, layout, X_SOLVED), Y_out[nv * r : nv * (r + 1)])


@kernel
def fill_local_inverses(body: Ints, columns: Floats, inverse_out: Floats) -> None:
    """S (Sᵀ B S + D)⁻¹ Sᵀ of every node by itself (36 numbers): how it answers to wrenches on it if nothing hangs on it."""
    x = np.zeros(6)
    f = np.zeros(6)
    rest = np.zeros(6)
    for i in range(body.size // BODY):
        first, count = body[BODY * i + 1], body[BODY * i + 2]
        for k in range(6):
            for m in range(6):
                f[m] = 1.0 if m == k else 0.0
                x[m] = 0.0
            for step in range(count):
                c = count - 1 - step
                e = COLUMN * (first + c)
                rest[c] = dot6(load6(columns, e), load6(f, 0))
                for m in range(6):
                    f[m] -= rest[c] * columns[e + INVERSE] * columns[e + U + m]
            for c in range(count):
                e = COLUMN * (first + c)
                y = (rest[c] - dot6(load6(columns, e + U), load6(x, 0))) * columns[e + INVERSE]
                for m in range(6):
                    x[m] += columns[e + m] * y
            for m in range(6):
                inverse_out[36 * i + 6 * m + k] = x[m]


@kernel
def push_by_wrenches(layout: Ints, ints: Ints, right: Floats, work_out: Floats, f_out: Floats, y_out: Floats) -> None:
    """y = M⁻¹ (right + Jᵀ f) with wrenches f on all bodies (world axes, at the nodes' points), which are zero afterwards."""
    body = part(ints, layout, BODIES)
    shift = part(work_out, layout, SHIFT)
    fill_shifts(body, part(work_out, layout, ROWS), shift)
    solve_tree(body, shift, part(work_out, layout, COLUMNS), right, f_out, part(work_out, layout, X_SOLVED), y_out)


class HeldReduced(ReducedSystem):
    """A model in reduced coordinates whose rows are solved elsewhere."""

    def __init__(self, model: Model):
        super().__init__(model)
        self.momenta = True
        self._com = centres_in_bodies(model)
        counts = self.view(BODIES).reshape(-1, BODY)
        moving = np.zeros(len(counts), bool)
        self.local = True
        """Whether no moving body hangs on another."""
        for i in range(1, len(counts)):
            above = moving[counts[i, 0]]
            moving[i] = above or counts[i, 2] > 0
            self.local = self.local and not above
        self.moving = moving

    def extend(self, slots: list[Any]) -> None:
        slots[X_SOLVED], slots[SIDE] = 6 * self.model.n_bodies, self.model.nv

    def set_method(self, stages: np.ndarray) -> None:
        stages[EVALUATE_STAGE] = evaluate_reduced.address
        if self.has_loops:
            stages[AGAIN_STAGE] = spread_responses.address

    def look(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray) -> bool:
        """Evaluate the motion that nothing holds; whether it is finite."""
        self.evaluate(t, q, v, control, loads=True)
        return bool(np.isfinite(self.view(Y)).all())

    def poses(self) -> np.ndarray:
        """(n, 12) X_WB at the last evaluation."""
        return self.view(X_WB).reshape(-1, 12)

    def motion(self) -> Motion:
        """How bodies move, with the accelerations of the last evaluation."""
        rows = self.view(ROWS).reshape(-1, ROW)
        acceleration = rows[:, A : A + 6].copy()
        acceleration[:, 3:] += self.view(GRAVITY)
        return motion_of(self.poses(), self._com, rows[:, P : P + 3], rows[:, V : V + 6], acceleration)

    def book_rows(self) -> BookRows:
        """Rows of loops and constraint elements."""
        k, nv = self.book.rows, self.model.nv
        acceleration, J, Y_rows = np.zeros(k), np.zeros((k, nv)), np.zeros((k, nv))
        if k:
            respond_to_book(self.layout, self.ints, self.constants, self.work, acceleration, J.reshape(-1), Y_rows.reshape(-1))
        return BookRows(self.view(RESIDUAL).copy(), self.view(RATE).copy(), acceleration, J, Y_rows)

    def respond(self, bodies: np.ndarray, wrenches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J and Y (m, nv) of rows that are wrenches (m, 2, 6) on pairs of bodies (m, 2), in world axes at their centres of mass."""
        m, nv = len(bodies), self.model.nv
        J, Y_rows = np.zeros((m, nv)), np.zeros((m, nv))
        nodes = np.ascontiguousarray(bodies, np.int64)
        at_nodes = self._at_nodes(nodes, wrenches)
        respond_to_wrenches(self.layout, self.ints, nodes.reshape(-1), at_nodes.reshape(-1), self.work, J.reshape(-1), Y_rows.reshape(-1))
        return J, Y_rows

    def _at_nodes(self, bodies: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        """Wrenches at centres of mass as wrenches at the nodes' points."""
        out = np.array(wrenches)
        X = self.poses()
        centre = X[:, 9:] + np.einsum("nij,nj->ni", X[:, :9].reshape(-1, 3, 3), self._com)
        r = (centre - self.view(ROWS).reshape(-1, ROW)[:, P : P + 3])[bodies]
        out[..., :3] += cross_rows(r, out[..., 3:])
        return out

    def local_inverses(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, 6, 6) how each body by itself answers to wrenches at its centre of mass, and groups (n,): −1 for those that never move."""
        X = self.poses()
        n = len(X)
        inverse = np.zeros(36 * n)
        fill_local_inverses(self.view(BODIES), self.view(COLUMNS), inverse)
        centre = X[:, 9:] + np.einsum("nij,nj->ni", X[:, :9].reshape(-1, 3, 3), self._com)
        r = centre - self.view(ROWS).reshape(-1, ROW)[:, P : P + 3]
        T = np.tile(np.eye(6), (n, 1, 1))  # twists at the node's point to twists at the centre: v_c = v + ω × r
        T[:, 3, 1], T[:, 3, 2] = r[:, 2], -r[:, 1]
        T[:, 4, 0], T[:, 4, 2] = -r[:, 2], r[:, 0]
        T[:, 5, 0], T[:, 5, 1] = r[:, 1], -r[:, 0]
        return T @ inverse.reshape(n, 6, 6) @ T.transpose(0, 2, 1), np.where(self.moving, np.arange(n), -1)

    def change(self, impulses: np.ndarray, J: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        """(nv,) what impulses do to the velocities: those of the book's rows, along J, and wrenches (n, 6) on bodies (world axes, at
        centres of mass)."""
        f = self._at_nodes(np.arange(len(wrenches)), wrenches)
        f[0] = 0.0
        right = J.T @ impulses if len(impulses) else np.zeros(self.model.nv)
        out = np.zeros(self.model.nv)
        push_by_wrenches(self.layout, self.ints, right, self.work, f.reshape(-1), out)
        return out

    def accelerate(self, impulses: np.ndarray, J: np.ndarray, wrenches: np.ndarray, h: float) -> None:
        """Add what impulses over a step h do to the accelerations, and to the loads."""
        self.view(Y)[:] += self.change(impulses, J, wrenches) / h
        carry_accelerations(self.view(BODIES), self.view(Y), self.view(COLUMNS), self.view(ROWS))
        self.enter_loads(impulses / h, wrenches / h)

    def enter_loads(self, multipliers: np.ndarray, wrenches: np.ndarray) -> None:
        """Enter multipliers of the book and wrenches on bodies among the loads, for reactions."""
        self.view(MULTIPLIER)[:] = multipliers
        X, F_all = self.poses(), self.view(F).reshape(-1, 6)
        R = X[:, :9].reshape(-1, 3, 3)
        F_all[:, 3:] += np.einsum("nji,nj->ni", R, wrenches[:, 3:])
        F_all[:, :3] += np.einsum("nji,nj->ni", R, wrenches[:, :3]) + cross_rows(self._com, np.einsum("nji,nj->ni", R, wrenches[:, 3:]))
        book, blocks, bodies = self.book, self.view(G).reshape(-1, 6), self.view(ENTRY_BODY)
        if multipliers.any():
            entries, of_rows = book.row_entry, np.repeat(multipliers, np.diff(book.row_start))
            np.add.at(F_all, bodies[entries], of_rows[:, None] * blocks[entries])

    def through(self) -> Held:
        """Reactions from the accelerations and loads of the last evaluation."""
        return reactions_reduced(self)

    def kick(self, h: float, q: np.ndarray, v: np.ndarray) -> None:
        """v by h times the accelerations, q along the new v; in place."""
        if self.view(FREE).size:
            kick_reduced(self.layout, self.ints, self.constants, h, self.work, q, v)
            return
        v[: self.model.nv] += h * self.view(Y)
        self.shift(q, v, h)

    def shift(self, q: np.ndarray, v: np.ndarray, h: float) -> None:
        """q along v for a time h; in place."""
        advance_joints(self.view(CLASSES), self.view(INDEX), self.view(PARAMETERS), q, v, h, q)

    def project(self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, held: np.ndarray, Y_rows: np.ndarray) -> None:
        """Bring q and v back onto the rows that are `held`, with the factors that `close` left."""
        self.view(ACTIVE)[:] = held
        self.view(RESPONSE_Y)[:] = Y_rows.ravel()
        self.clock[0] = t
        project_reduced(self.layout, self.ints, self.constants, self.stages(control, True), control, t, self.work, q, v)
