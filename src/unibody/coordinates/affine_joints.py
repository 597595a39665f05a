"""The change of variables that holds linear equations in affine coordinates exactly (paper 003, §4.1).

All equations C x = s are solved for pivot coordinates, chosen by pivoted QR within each connected group of bodies:
x_dep = C_dep⁻¹ (s − C_free x_free), so x = x₀(s) + N z with z the free coordinates. Equations that repeat others are dropped and named;
those that contradict them, or a start that does not obey them, are refused.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from unibody.coordinates.affine_rows import equations
from unibody.errors import ModelError
from unibody.model import Model

RANK = 1e-9
"""Relative size below which a pivot is round-off."""
FITS = 1e-6
"""How far the start may be from the equations, relative to the size of the scene."""


class Reduction:
    """x = x₀ + N z over the moving bodies, 12 numbers each in the order of `moving`."""

    def __init__(self, model: Model, moving: list[int], Q: np.ndarray):
        self.model, self.moving = model, moving
        self._place = {b: k for k, b in enumerate(moving)}
        own, self.missing, planes = equations(model)
        self.equations = [*planes, *own]
        self.names = [e.owner for e in self.equations for _ in range(len(e))]
        """Of every row."""
        self.joint = np.array([e.joint for e in self.equations for _ in range(len(e))], int)
        self.child = np.array([e.child for e in self.equations for _ in range(len(e))], int)
        self.parent = np.array([e.parent for e in self.equations for _ in range(len(e))], int)
        empty = np.zeros((0, 4, 3))
        self.on_child = np.concatenate([empty, *(e.on_child for e in self.equations)])
        self.on_parent = np.concatenate([empty, *(e.on_parent for e in self.equations)])
        self.right = np.concatenate([np.zeros(0), *(e.right for e in self.equations)])
        self.redundant: list[str] = []
        self.dropped = 0
        self._change_variables(Q)

    @property
    def rows(self) -> int:
        return len(self.right)

    def _change_variables(self, Q: np.ndarray) -> None:
        n = 12 * len(self.moving)
        self.C = C = self._matrix()
        self._dependent, self._rows, self._solvers, columns = [], [], [], []
        free, repeated = np.ones(n, bool), []
        for rows in self._groups():
            used = np.unique(C[rows].indices)
            dense = C[rows][:, used].toarray()
            dependent, independent = pivots(dense)
            inner = dense[np.ix_(independent, dependent)]
            factor = scipy.linalg.lu_factor(inner)
            other = np.setdiff1d(np.arange(len(used)), dependent)
            block = -scipy.linalg.lu_solve(factor, dense[np.ix_(independent, other)])
            block[np.abs(block) < 1e-13] = 0.0
            free[used[dependent]] = False
            self._dependent.append(used[dependent])
            self._rows.append(rows[independent])
            self._solvers.append(factor)
            columns.append((used[dependent], used[other], block))
            repeated.append(np.setdiff1d(rows, rows[independent]))
        self._judge(np.concatenate([np.zeros(0, int), *repeated]), Q)
        self.free = np.flatnonzero(free)
        number = np.full(n, -1)
        number[self.free] = np.arange(len(self.free))
        i, j, a = [self.free], [np.arange(len(self.free))], [np.ones(len(self.free))]
        for rows, others, block in columns:
            at = np.nonzero(block)
            i.append(rows[at[0]])
            j.append(number[others[at[1]]])
            a.append(block[at])
        self.N = sp.csr_matrix((np.concatenate(a), (np.concatenate(i), np.concatenate(j))), shape=(n, len(self.free)))

    def _judge(self, repeated: np.ndarray, Q: np.ndarray) -> None:
        """Names rows that repeat others; refuses a start that disobeys, and rows that no motion could obey together."""
        self.dropped = len(repeated)
        self.redundant = list(dict.fromkeys(self.names[r] for r in repeated))
        if not self.rows:
            return
        if len(repeated):
            after, allowed = np.abs(self.residual(self.put(Q)))[repeated], self._allowed(Q)
            if after.max() > allowed:
                wrong = ", ".join(dict.fromkeys(f"'{self.names[r]}'" for r in repeated[after > allowed]))
                raise ModelError(f"{wrong}: contradict the other joints by {after.max():.3g} m; correct frames or the start")
        self.refuse_open(Q)

    def _allowed(self, Q: np.ndarray) -> float:
        return FITS * max(1.0, float(np.abs(Q[:, 0]).max()))

    def refuse_open(self, Q: np.ndarray) -> None:
        """A start (bodies, 4, 3) that disobeys the equations."""
        start, allowed = np.abs(self.residual(Q)), self._allowed(Q)
        if start.max(initial=0.0) > allowed:
            wrong = ", ".join(dict.fromkeys(f"'{self.names[r]}'" for r in np.flatnonzero(start > allowed)))
            raise ModelError(f"{wrong}: open by {start.max():.3g} m at the start; stiff bodies cannot be pulled together; close them")

    def _matrix(self) -> sp.csr_matrix:
        shape = (self.rows, 12 * len(self.moving))
        out = sp.csr_matrix(shape)
        places = np.array([self._place.get(b, -1) for b in range(self.model.n_bodies)])
        for body, values in ((self.child, self.on_child), (self.parent, self.on_parent)):
            rows = np.flatnonzero(places[body] >= 0) if self.rows else np.zeros(0, int)
            columns = 12 * places[body[rows]][:, None] + np.arange(12)
            out = out + sp.csr_matrix((values[rows].ravel(), (np.repeat(rows, 12), columns.ravel())), shape=shape)
        out.eliminate_zeros()
        return out.tocsr()

    def _groups(self) -> list[np.ndarray]:
        """Rows by connected group of moving bodies."""
        if not self.rows:
            return []
        where = [[self._place.get(b, -1) for b in (e.child, e.parent)] for e in self.equations]
        both = np.array([w for w in where if min(w) >= 0], int).reshape(-1, 2)
        n = len(self.moving)
        _, label = sp.csgraph.connected_components(sp.coo_matrix((np.ones(len(both)), both.T), shape=(n, n)), directed=False)
        group = np.array([label[max(w)] for w, e in zip(where, self.equations, strict=True) for _ in range(len(e))])
        return [np.flatnonzero(group == g) for g in np.unique(group)]

    def residual(self, Q: np.ndarray) -> np.ndarray:
        """(rows,) C x − s [m]; Q of all bodies."""
        if not self.rows:
            return np.zeros(0)
        return (self.on_child * Q[self.child]).sum(axis=(1, 2)) + (self.on_parent * Q[self.parent]).sum(axis=(1, 2)) - self.right

    def put(self, Q: np.ndarray) -> np.ndarray:
        """Q of all bodies with the dependent coordinates solved for, from the free ones and the bodies that do not move freely."""
        return self._solved(Q, self.residual(Q))

    def put_rates(self, V: np.ndarray) -> np.ndarray:
        """The same for velocities."""
        return self._solved(V, self.residual(V) + self.right)

    def _solved(self, Q: np.ndarray, error: np.ndarray) -> np.ndarray:
        out = Q.copy()
        flat = out[self.moving].reshape(-1)
        for dependent, rows, factor in zip(self._dependent, self._rows, self._solvers, strict=True):
            flat[dependent] -= scipy.linalg.lu_solve(factor, error[rows])
        out[self.moving] = flat.reshape(-1, 4, 3)
        return out

    @property
    def kept(self) -> np.ndarray:
        """The rows that are solved for, the others repeat them."""
        return np.concatenate([np.zeros(0, int), *self._rows])

    def multipliers(self, gradient: np.ndarray) -> np.ndarray:
        """λ (rows,) with gradient + Cᵀ λ = 0 on the dependent coordinates; of dropped equations 0."""
        out = np.zeros(self.rows)
        for dependent, rows, factor in zip(self._dependent, self._rows, self._solvers, strict=True):
            out[rows] = scipy.linalg.lu_solve(factor, -gradient[dependent], trans=1)
        return out

    def wrenches(self, Q: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """(rows, 6) torque about the child's origin and force on the child, world axes, of each row: forces F_k = λ C_k at the material
        vectors of its frame."""
        F = multipliers[:, None, None] * self.on_child
        return np.concatenate([np.cross(Q[self.child, 1:], F[:, 1:]).sum(axis=1), F[:, 0]], axis=1)


def pivots(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns to solve for and rows to solve of C x = s; the other rows repeat these."""
    scaled = dense / np.linalg.norm(dense, axis=1)[:, None]
    _, R, order = scipy.linalg.qr(scaled, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > RANK * size[0]).sum())
    dependent = np.sort(order[:rank])
    _, _, by_row = scipy.linalg.qr(scaled[:, dependent].T, mode="economic", pivoting=True)
    return dependent, np.sort(by_row[:rank])
