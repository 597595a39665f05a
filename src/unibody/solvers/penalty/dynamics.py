"""Penalised bodies in maximal coordinates as contact sees them: how everything moves, and how it responds to wrenches.

Constraint rows respond by themselves, with their compliance: of the forest's joints through its factors, of the others through the small
system A that the last evaluation left,

    y = y_f − X A⁻¹ K y_f,          y_f the forest's response, K the other rows, X the forest's responses to them

One-sided constraint rows are left to whoever finds contact forces.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact.delassus import DelassusFactors
from unibody.coordinates.maximal.workspace import NODE_L, NODE_Y
from unibody.coordinates.workspace import GRAM, LOAD, MULTIPLIER, RATE, RESPONSE_X, RESPONSE_Y, Y
from unibody.model.model import Model
from unibody.solvers.penalty.system import ELSEWHERE, ROW, PenaltyParameters, PenaltyRows, penalised_bodies
from unibody.solvers.penalty.workspace import AIM, PENALTY
from unibody.stepping.forest_system import ForestSystem


def run_indices(first: np.ndarray, end: np.ndarray) -> np.ndarray:
    """first[0], …, end[0] − 1, first[1], … one after the other."""
    counts = end - first
    return np.arange(counts.sum()) + np.repeat(first - (np.cumsum(counts) - counts), counts)


class PenaltyDynamics(ForestSystem):
    """Penalised bodies beside contact. Rows that are bounded respond by themselves as well; those that only push do not."""

    def __init__(self, model: Model, choice: PenaltyParameters):
        bodies = penalised_bodies(model, False)
        one_sided = bodies.constraints.unilateral[bodies.constraints.primary_rows :]
        super().__init__(bodies, ~one_sided)
        self.one_sided = np.flatnonzero(one_sided)
        self.rows = PenaltyRows(bodies, choice, ELSEWHERE)
        self._alone_body = np.append(self.islands.alone == 1, True)[self.islands.of_body]
        self._units = np.tile(np.eye(6)[:, None, :], (1, self.n, 1)).reshape(6, 6 * self.n)

    def prepare(self, dt: float) -> None:
        """Before steps of length dt: gains that follow the step; no other feedback."""
        self.rows.prepare(dt)

    def _loading(self) -> np.ndarray:
        """(k, 6n) the rows beyond the forest's, as wrenches on nodes."""
        return self.view(LOAD).reshape(self.constraints.auxiliary, 6 * self.n)

    def _through_all(self, loads: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Velocities (m, 6n), and multipliers of the forest's joints (m, 6n) and of all other rows (m, k), for loads (m, 6n)."""
        y, multipliers = self.response(loads)
        k = self.constraints.auxiliary
        mu = np.zeros((len(loads), k))
        acts = np.setdiff1d(np.arange(k), self.one_sided)
        if acts.size:
            A = self.view(GRAM).reshape(k, k)[np.ix_(acts, acts)]
            mu[:, acts] = -np.linalg.lstsq(A, self._loading()[acts] @ y.T, rcond=1e-12)[0].T
            y = y + mu @ self.view(RESPONSE_X).reshape(k, -1)
            multipliers = multipliers + mu @ self.view(RESPONSE_Y).reshape(k, -1)
        return y, multipliers, mu

    def pushing_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of the one-sided constraint rows: J (m, 6n), how far the law's right side exceeds J V̇ of the last evaluation (m,), their
        compliances (m,) and rates (m,)."""
        J = self._loading()[self.one_sided]
        first = self.constraints.primary_rows
        table = self.view(PENALTY).reshape(-1, ROW)[first:][self.one_sided]
        return J, self.view(AIM)[self.one_sided] - J @ self.view(NODE_Y), table[:, 0].copy(), self.view(RATE)[first:][self.one_sided].copy()

    def responses(self, J: np.ndarray) -> np.ndarray:
        """Y (m, 6n) of rows J (m, 6n)."""
        return self._through_all(J)[0]

    def pushing_islands(self, J: np.ndarray) -> DelassusFactors:
        """The one-sided constraint rows, J (m, 6n), in islands."""
        g = self.islands
        return DelassusFactors.from_whole(g.first, g.singles[self.one_sided], g.rows[self.one_sided], J, self.responses(J), g.column)

    def _respond(self, bodies: np.ndarray, wrenches: np.ndarray) -> DelassusFactors:
        """Rows on bodies that respond alone in the time of their number; those on others through everything that hangs together."""
        g, (k, width) = self.islands, wrenches.shape[:2]
        out = DelassusFactors.zeros(g.first, np.full(k, width, np.int64), g.pairs(bodies))
        through = np.flatnonzero(~self._alone_body[bodies].all(axis=1))
        direct = np.flatnonzero(self._alone_body[bodies].all(axis=1))
        if direct.size:
            self._respond_directly(out, direct, bodies, wrenches)
        if through.size:
            J = self.wrench_rows(np.repeat(bodies[through], width, axis=0), wrenches[through].reshape(-1, 2, 6))
            part = DelassusFactors.from_whole(g.first, out.rows[through], out.islands[through], J, self.responses(J), g.column)
            place = run_indices(out.place[through], out.place[through + 1])
            out.J[place], out.Y[place] = part.J, part.Y
        return out

    def _respond_directly(self, out: DelassusFactors, which: np.ndarray, bodies: np.ndarray, wrenches: np.ndarray) -> None:
        """Fill in those blocks of which every body responds alone."""
        inverse = self.response(self._units)[0].reshape(6, self.n, 6).transpose(1, 2, 0)
        pairs = bodies[which]
        moves = out.islands[which] >= 0
        local = self._in_bodies(np.repeat(pairs[:, None, :], wrenches.shape[1], axis=1), wrenches[which])
        J = local.transpose(0, 2, 3, 1)[moves]  # (sides that move, 6, rows): as blocks lie
        place = run_indices(out.place[which], out.place[which + 1])
        out.J[place], out.Y[place] = J.ravel(), (inverse[self._node[pairs[moves]]] @ J).ravel()

    def add_forces(self, forces: np.ndarray, wrenches: np.ndarray) -> None:
        """Add what forces of the one-sided rows and wrenches on bodies (bodies, 6), world axes, at centres of mass, do to accelerations and
        multipliers."""
        y, multipliers, mu = self._through_all(self._loads(self._loading()[self.one_sided].T @ forces, wrenches))
        self.view(Y)[:] += self.ordered(y[0])
        self.view(NODE_Y)[:] += y[0]
        self.view(NODE_L)[:] += multipliers[0]
        self.view(MULTIPLIER)[:] += mu[0]
        self.view(MULTIPLIER)[self.one_sided] += forces
