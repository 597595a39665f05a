"""Maximal coordinates for time stepping with impulses: the joints of a spanning forest hold by themselves, everything else comes as rows.

    (M  −Gᵀ) (y)   (Jᵀ)
    (G   C ) (λ) = ( 0 )          the response of a row J: bodies respond with their joints held, in O(n) by the factors of the forest

so that W = J y is the matrix that reduced coordinates find for the same row. Vectors over bodies run in the order of the forest's nodes
here, and in the order of the state where they leave.

Islands do not feel each other, so that unit wrenches on one body of every island are one load on the forest: six loads for every body of
the largest island, whatever the number of islands and of rows. A wrench on a body responds with the sum of its units' responses.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact.delassus import DelassusFactors
from unibody.coordinates.kick import keep_courses
from unibody.coordinates.loop_closure import fill_reference
from unibody.coordinates.maximal.forest import solve_primary
from unibody.coordinates.maximal.projection import PROJECT_BELOW, PROJECT_ENOUGH, PROJECT_LIMIT
from unibody.coordinates.maximal.system import MaximalSystem
from unibody.coordinates.maximal.tables import MaximalTables
from unibody.coordinates.maximal.workspace import NODE_JOINT, NODE_L, NODE_PARENT
from unibody.kernel import Floats, Ints, kernel
from unibody.model.model import Model
from unibody.stepping.body_motion import cross_rows
from unibody.stepping.carried_rows import CLOSED, LIMIT, SHRINK, SLIGHT
from unibody.stepping.forest_system import ForestSystem
from unibody.stepping.impulse_dynamics import ConstraintRows, holding_rows
from unibody.stepping.predicted_rows import see_ahead
from unibody.stepping.stiction import Stiction, least_motion

from unibody.coordinates.workspace import (  # isort: skip
    BIAS, CLOSURE, ENTRY_BODY, G, MASSES, MULTIPLIER, NODE_CONSTANTS, RANK, RATE, RESIDUAL, RESPONSE_Y,
    ROW_ENTRY, ROW_START, VIOLATION, Y,
)  # fmt: skip

NO_ROWS, NO_MOTION = np.zeros(0, np.int64), np.zeros(0)


def unit_loads(seat: np.ndarray, T: np.ndarray) -> np.ndarray:
    """(loads, 6n) unit wrenches of all nodes, node i's at 6 seat[i] … 6 seat[i] + 5; T: (n, 6, 6) from wrenches at centres of mass, in
    world axes, to those at origins, in the bodies' own."""
    n = len(seat)
    out = np.zeros((6 * (int(seat.max(initial=-1)) + 1), n, 6))
    out[6 * seat[:, None] + np.arange(6), np.arange(n)[:, None]] = T.transpose(0, 2, 1)
    return out.reshape(len(out), 6 * n)


@kernel
def combine_units(
    first: Ints, column: Ints, island: Ints, seat: Ints, node: Ints, islands: Ints, place: Ints, bodies: Ints, rows: int, wrenches: Floats,
    T: Floats, responses: Floats, J_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """Blocks of `rows` wrenches (rows, 2, 6) on pairs of bodies, added to zeros. island, seat: of nodes, 6n numbers a row of
    `responses`."""
    width = 6 * seat.size
    for k in range(bodies.size // 2):
        p = place[k]
        for side in range(2):
            g = islands[2 * k + side]
            if g < 0:
                continue
            size = first[g + 1] - first[g]
            for s in range(2):
                i = node[bodies[2 * k + s]]
                if i < 0 or island[i] != g:
                    continue
                for r in range(rows):
                    w = 12 * (rows * k + r) + 6 * s
                    for j in range(size):
                        c = column[first[g] + j]
                        at = 6 * width * seat[i] + c
                        total = 0.0
                        for b in range(6):
                            total += wrenches[w + b] * responses[at + width * b]
                        Y_out[p + rows * j + r] += total
                        if c // 6 == i:
                            own = 0.0
                            for b in range(6):
                                own += T[36 * i + 6 * (c % 6) + b] * wrenches[w + b]
                            J_out[p + rows * j + r] += own
            p += rows * size


class ImpulseMaximal(ForestSystem):
    """A model in maximal coordinates whose rows beyond the forest's joints are solved elsewhere."""

    coriolis = np.zeros(0, bool)
    """Bodies by themselves have no terms in velocities that depend on the middle of a step."""

    def __init__(self, model: Model):
        dynamics = MaximalSystem(MaximalTables(model, False, "tree"), solve=solve_primary)
        holds = holding_rows(model, dynamics.constraints)
        super().__init__(dynamics, holds)
        self._courses = np.stack([7 * self._state, 6 * self._state, np.arange(self.n)], axis=1).ravel()
        self._alone = bool((self.view(NODE_PARENT) < 0).all())  # no moving body hangs on another
        constraints = self.constraints
        self._rows_of_entries = np.repeat(np.arange(constraints.auxiliary), np.diff(constraints.row_start))
        of_node = self.islands.of_body[self._body]
        order = np.argsort(of_node, kind="stable")
        begins = np.searchsorted(of_node[order], of_node[order])
        self._seat = np.zeros(self.n, np.int64)
        self._seat[order] = np.arange(self.n) - begins  # the place of each node within its island
        if not holds.any():
            self.view(RANK)[:] = constraints.auxiliary

    def constraint_rows(self) -> ConstraintRows:
        """Rows of loops and constraint elements, and how bodies respond to them."""
        constraints, k, first = self.constraints, self.constraints.auxiliary, self.constraints.primary_rows
        bodies = self.view(ENTRY_BODY)[constraints.row_entry]
        blocks = self.view(G).reshape(-1, 6)[constraints.row_entry]
        acceleration = self.view(BIAS)[first:].copy()
        np.add.at(acceleration, self._rows_of_entries, np.einsum("ei,ei->e", blocks, self._rates()[bodies]))
        J = np.zeros((k, self.n, 6))
        moves = self._node[bodies] >= 0
        np.add.at(J, (self._rows_of_entries[moves], self._node[bodies[moves]]), blocks[moves])
        Y_rows, multipliers = self.response(J.reshape(k, 6 * self.n))
        if k:
            self.view(RESPONSE_Y)[:] = multipliers.ravel()
            fill_reference(
                self.view(ROW_START), self.view(ROW_ENTRY), self.view(ENTRY_BODY), self.view(G), self.view(MASSES), self.view(CLOSURE)
            )  # fmt: skip
        g = self.islands
        rows = DelassusFactors.from_whole(g.first, g.singles, g.rows, J.reshape(k, 6 * self.n), Y_rows, g.column)
        return ConstraintRows(self.view(RESIDUAL)[first:].copy(), self.view(RATE)[first:].copy(), acceleration, rows, g)

    def _respond(self, bodies: np.ndarray, wrenches: np.ndarray) -> DelassusFactors:
        """By the cheapest way: every body an island, unit wrenches on the largest island, or row by row."""
        g, (k, width) = self.islands, wrenches.shape[:2]
        islands = g.pairs(bodies)
        if self._alone and not self.constraints.auxiliary:
            return self._respond_alone(bodies, islands, wrenches)
        if 6 * (int(self._seat.max()) + 1) <= k * width:
            return self._respond_by_units(bodies, islands, wrenches)
        J = self.wrench_rows(np.repeat(bodies, width, axis=0), wrenches.reshape(-1, 2, 6))
        return DelassusFactors.from_whole(g.first, np.full(k, width, np.int64), islands, J, self.response(J)[0], g.column)

    def _respond_alone(self, bodies: np.ndarray, islands: np.ndarray, wrenches: np.ndarray) -> DelassusFactors:
        """The same where every body is an island of its own, in twists at centres of mass in world axes, which are as good as any."""
        k, width = wrenches.shape[:2]
        inverse, nodes = self.local_inverses()
        out = DelassusFactors.zeros(self.islands.first, np.full(k, width, np.int64), islands)
        moves = islands >= 0
        J = wrenches.transpose(0, 2, 3, 1)[moves]  # (sides that move, 6, rows): as blocks lie
        out.J[:], out.Y[:] = J.ravel(), (inverse[nodes[bodies[moves]]] @ J).ravel()
        return out

    def _respond_by_units(self, bodies: np.ndarray, islands: np.ndarray, wrenches: np.ndarray) -> DelassusFactors:
        """The same where rows are more than the unit wrenches on the bodies of the largest island."""
        g, (k, width), T = self.islands, wrenches.shape[:2], self._to_origins()
        responses = self.response(unit_loads(self._seat, T))[0]
        out = DelassusFactors.zeros(g.first, np.full(k, width, np.int64), islands)
        combine_units(
            g.first, g.column, g.of_body[self._body], self._seat, self._node, out.flat_islands, out.place,
            np.ascontiguousarray(bodies, np.int64).ravel(), width, np.ascontiguousarray(wrenches).ravel(), T.ravel(),
            responses.ravel(), out.J, out.Y,
        )  # fmt: skip
        return out

    def _to_origins(self) -> np.ndarray:
        """(nodes, 6, 6) from wrenches at centres of mass in world axes to those at origins in body axes."""
        X = self.poses()[self._body]
        R, com = X[:, :9].reshape(-1, 3, 3), self._com[self._body]
        T = np.zeros((self.n, 6, 6))
        T[:, :3, :3] = T[:, 3:, 3:] = R.transpose(0, 2, 1)
        T[:, :3, 3:] = cross_rows(com[:, None, :], R).transpose(0, 2, 1)
        return T

    def local_inverses(self) -> tuple[np.ndarray, np.ndarray]:
        """(nodes, 6, 6) how each body by itself responds to wrenches at its centre of mass, and islands (bodies,): −1 for the unmoved."""
        n, T = self.n, self._to_origins()
        responses = self.response(T.transpose(2, 0, 1).reshape(6, -1))[0].reshape(6, n, 6)
        return np.einsum("nji,knj->nik", T, responses), self._node

    def change(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray) -> np.ndarray:
        """(6n,) what impulses do to the velocities: those of the constraint rows, and wrenches (bodies, 6), world axes, at centres."""
        return self.ordered(self.response(self._loads(constraints.load(impulses), wrenches))[0][0])

    def carried(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray) -> np.ndarray:
        """(bodies, 6) what the same impulses do to the twists of bodies, in world axes at centres of mass."""
        y = self.response(self._loads(constraints.load(impulses), wrenches))[0][0].reshape(-1, 6)
        out, R = np.zeros((len(wrenches), 6)), self.poses()[self._body, :9].reshape(-1, 3, 3)
        out[self._body, :3] = np.einsum("nij,nj->ni", R, y[:, :3])
        out[self._body, 3:] = np.einsum("nij,nj->ni", R, y[:, 3:] + cross_rows(y[:, :3], self._com[self._body]))
        return out

    def accelerate(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray, h: float) -> None:
        """Add what impulses over a step h do to the accelerations, and to the multipliers."""
        y, multipliers = self.response(self._loads(constraints.load(impulses), wrenches))
        self.view(Y)[:] += self.ordered(y[0]) / h
        self.view(NODE_L)[:] += multipliers[0] / h
        self.view(MULTIPLIER)[:] = impulses / h

    def apply_impulses(self, impulses: np.ndarray, constraints: ConstraintRows, wrenches: np.ndarray, h: float) -> None:
        """Add what impulses over a step h do to the accelerations that `kick` reads."""
        self.view(Y)[:] += self.change(impulses, constraints, wrenches) / h

    def kick_onto(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, projected: np.ndarray, constraints: ConstraintRows,
        stiction: Stiction | None = None,
    ) -> None:  # fmt: skip
        """The same, to t, carrying the joints, those constraint rows that are `projected` and what sticks along (`carried_rows`); in
        place."""
        first, rows, found = self.constraints.primary_rows, np.flatnonzero(projected), np.zeros(4)
        sticking = NO_ROWS if stiction is None else stiction.rows
        q_0, v_0, y, stages = q.copy(), v.copy(), self.view(Y), self.stages(control)
        residual, violation, free = self.view(RESIDUAL).copy(), self.view(VIOLATION).copy(), y.copy()
        before = np.inf
        if not np.abs(np.concatenate([violation[:first], violation[first:][rows]])).max(initial=0.0) < PROJECT_BELOW:
            self.kick(h, q, v)
            return
        for count in range(LIMIT):
            self.kick(h, q, v)
            see_ahead(self.layout, self.ints, self.constants, stages, t, self.work, q, v, found)
            apart = np.abs(self.view(VIOLATION) - violation)
            away = NO_MOTION if stiction is None else stiction.away(q[7 * self.n :])
            largest = np.concatenate([apart[:first], apart[first:][rows], np.abs(away)]).max(initial=0.0)
            serves = largest < PROJECT_BELOW and largest < SHRINK * before and count < LIMIT - 1
            if largest <= CLOSED or (not serves and largest < SLIGHT):
                return
            before = largest
            q[:], v[:] = q_0, v_0
            if not serves:
                break
            y += self._onto(self.view(RESIDUAL) - residual, rows, sticking, away, constraints) / (h * h)
        y[:] = free
        self.kick(h, q, v)

    def move_apart(self, q: np.ndarray, v: np.ndarray, way: np.ndarray, h: float) -> None:
        """q along pseudo-velocities (nv,) for a time h, in which bodies keep their courses; in place."""
        before = q.copy()
        self.advance(q, np.concatenate([way, np.zeros(v.size - way.size)]), h)
        keep_courses(self._courses, self.view(NODE_CONSTANTS), before, q, v)

    def project(
        self, t: float, q: np.ndarray, v: np.ndarray, control: np.ndarray, projected: np.ndarray, constraints: ConstraintRows, stiction:
        Stiction | None = None,
    ) -> None:  # fmt: skip
        """Bring q and v back onto the joints and those constraint rows that are `projected`, and what sticks to where it was."""
        first, rows = self.constraints.primary_rows, np.flatnonzero(projected)
        sticking = NO_ROWS if stiction is None else stiction.rows
        for _ in range(PROJECT_LIMIT):
            if not self.look(t, q, v, control):
                return
            residual, violation = self.view(RESIDUAL), self.view(VIOLATION)
            largest = np.abs(np.concatenate([violation[:first], violation[first:][rows]])).max(initial=0.0)
            if not largest < PROJECT_BELOW:
                return
            away = NO_MOTION if stiction is None else stiction.away(q[7 * self.n :])
            if not largest > PROJECT_ENOUGH and Stiction.enough(away):
                break
            self.advance(q, np.concatenate([self._onto(residual, rows, sticking, away), np.zeros(v.size - 6 * self.n)]), 1.0)
        rate = self.view(RATE)
        v[: 6 * self.n] += self._onto(rate, rows, sticking, rate[first:][sticking])

    def _onto(
        self, values: np.ndarray, rows: np.ndarray, sticking: np.ndarray, away: np.ndarray, found: ConstraintRows | None = None
    ) -> np.ndarray:
        """The least motion that takes `values` off the primary rows and the given ones of the others (as they are, unless given), then
        `away` off those that are sticking, in the order of the state."""
        constraints, right = self.constraints, np.zeros((self.n, 6))
        for i, (k, _) in enumerate(self.view(NODE_JOINT).reshape(-1, 2)):
            if k >= 0:
                row, count = constraints.joints[6 * k + 4 : 6 * k + 6]
                right[i, :count] = -values[row : row + count]
        y = self.response(np.zeros((1, 6 * self.n)), right.ravel())[0][0]
        if rows.size or sticking.size:
            found = self.constraint_rows() if found is None else found
            y = least_motion(y, found.J, found.Y, rows, values[constraints.primary_rows :][rows], sticking, away)
        return self.ordered(y)
