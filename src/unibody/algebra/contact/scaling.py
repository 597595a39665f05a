"""A contact problem in units in which every cone is ‖x_t‖ ≤ x_n and every block's diagonal is about one.

    λ = D x,  û = D u = Ŵ x + b̂,  Ŵ = D W D,   D = g^(−½) (1; μ) for a contact, g^(−½) for a single row

with g the largest diagonal of the block with the coefficients multiplied in: impulses of light and heavy bodies become numbers of one
size. Tangents without friction are left out (their λ is zero, their u whatever comes of it). The natural map F = x − P(x − û) of these
units, divided by D, is the residual in units of velocity; times D, in units of impulse.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from unibody.algebra.contact.pgs import CONVEX, COULOMB, LOCAL, natural_map, sweep_dense, sweep_factored
from unibody.algebra.contact.problem import ContactProblem, Residual

ROUND_OFF, AT_MOST = 64 * np.finfo(float).eps, 1e-6


class Units:
    """The arrays that kernels read. start: (k + 1,) first row of each block; lower, upper: (k,)."""

    def __init__(self, problem: ContactProblem):
        self.problem = problem
        self.law = COULOMB if problem.law == "coulomb" else CONVEX
        blocks, W = problem.blocks, problem.W
        place = _place_in_block(blocks.rows)
        owner = np.repeat(np.arange(blocks.rows.size), blocks.rows)
        factor = np.where(place == 0, 1.0, blocks.friction[owner, np.maximum(place - 1, 0)])
        self.keep = np.flatnonzero(factor > 0.0)
        factor, self.owner = factor[self.keep], owner[self.keep]
        self.rows = np.bincount(self.owner, minlength=blocks.rows.size)
        self.start = np.concatenate([[0], np.cumsum(self.rows)]).astype(np.int64)
        self.size = self.keep.size
        diagonal = factor**2 * (np.diag(W.dense)[self.keep] if W.dense is not None else self._diagonal())
        g = np.zeros(self.rows.size)
        np.maximum.at(g, self.owner, diagonal)
        usual = g.max(initial=0.0) or 1.0
        g[g <= 1e-30 * usual] = usual
        self.D = factor / np.sqrt(g)[self.owner]
        self.b = self.D * problem.b[self.keep]
        at = self.D[self.start[:-1]]
        self.lower, self.upper = blocks.lower / at, blocks.upper / at
        self.dense: np.ndarray | None = None
        if W.dense is not None:
            self.dense = W.dense[np.ix_(self.keep, self.keep)] * self.D[:, None] * self.D
        else:
            self.J = (W.J[self.keep] * self.D[:, None, None]).reshape(-1, 12)
            self.islands = np.ascontiguousarray(W.islands[self.keep[self.start[:-1]]]) if self.size else np.zeros((0, 2), np.int64)
            self.Y = self._responses(self.J.reshape(-1, 2, 6)).reshape(-1, 12)
            self.R = self.D**2 * W.R[self.keep]

    def _responses(self, J: np.ndarray) -> np.ndarray:
        """M⁻¹ Jᵀ of each row, where the row touches."""
        W = self.problem.W
        return np.einsum("rgij,rgj->rgi", W.inverse_mass[W.islands[self.keep]], J) if len(W.inverse_mass) else np.zeros_like(J)

    def _diagonal(self) -> np.ndarray:
        W = self.problem.W
        J = W.J[self.keep]
        return np.einsum("rgi,rgi->r", J, self._responses(J)) + W.R[self.keep]

    def _own_blocks(self, first: np.ndarray, d: int) -> np.ndarray:
        """The d×d diagonal blocks of Ŵ that begin at these rows."""
        rows = first[:, None] + np.arange(d)
        if self.dense is not None:
            return self.dense[rows[:, :, None], rows[:, None, :]]
        found = np.einsum("kia,kja->kij", self.J[rows], self.Y[rows])
        found[:, np.arange(d), np.arange(d)] += self.R[rows]
        return found

    @cached_property
    def own(self) -> np.ndarray:
        """(k, 4, 4) each block's own matrix."""
        own = np.zeros((self.rows.size, 4, 4))
        for d in range(1, 5):
            which = np.flatnonzero(self.rows == d)
            if which.size:
                own[which, :d, :d] = self._own_blocks(self.start[which], d)
        return own

    @cached_property
    def local(self) -> np.ndarray:
        """What a sweep needs of each block's own matrix: see `pgs`."""
        return local_tables(self.law, self.rows, self.own)

    def dense_matrix(self) -> np.ndarray:
        """Ŵ as an array."""
        if self.dense is not None:
            return self.dense
        islands = self.problem.W.islands[self.keep]
        n = 6 * (len(self.problem.W.inverse_mass) + 1)  # the last six are the ground's, where J is zero
        at = (islands[:, :, None] % (n // 6) * 6 + np.arange(6)).reshape(-1, 12) + n * np.arange(self.size)[:, None]
        J, Y = np.zeros(self.size * n), np.zeros(self.size * n)
        np.add.at(J, at.ravel(), self.J.ravel())
        np.add.at(Y, at.ravel(), self.Y.ravel())
        W = J.reshape(-1, n) @ Y.reshape(-1, n).T
        W[np.arange(self.size), np.arange(self.size)] += self.R
        return W

    def sparse_matrix(self):
        """Ŵ as a SciPy matrix."""
        import scipy.sparse as sp

        D = sp.diags_array(self.D)
        return (D @ self.problem.W.sparse()[self.keep][:, self.keep] @ D).tocsr()

    def velocity(self, x: np.ndarray) -> np.ndarray:
        """û = Ŵ x + b̂."""
        if self.dense is not None:
            return self.dense @ x + self.b
        return self.D * self.problem.W.times(self.impulse(x))[self.keep] + self.b

    def impulse(self, x: np.ndarray) -> np.ndarray:
        """λ in the problem's own units and rows."""
        found = np.zeros(self.problem.blocks.size)
        found[self.keep] = self.D * x
        return found

    def start_from(self, warm: np.ndarray | None) -> np.ndarray:
        """x of a λ to begin with, or of none."""
        if warm is None:
            return np.clip(np.zeros(self.size), np.repeat(self.lower, self.rows), np.repeat(self.upper, self.rows))
        warm = np.asarray(warm, float)
        if warm.shape != (self.problem.blocks.size,) or not np.isfinite(warm).all():
            raise ValueError(f"a warm start must be {self.problem.blocks.size} finite impulses, got shape {warm.shape}")
        return warm[self.keep] / self.D

    def natural(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """F = x − P(x − û), zero exactly at solutions."""
        F = np.empty(self.size)
        natural_map(self.law, self.start, self.lower, self.upper, x, u, F)
        return F

    def residual(self, x: np.ndarray, u: np.ndarray) -> Residual:
        """In the problem's own units."""
        F = self.natural(x, u)
        largest = np.abs(self.D * x).max(initial=0.0)
        impulse = np.abs(self.D * F).max(initial=0.0)
        return Residual(float(np.abs(F / self.D).max(initial=0.0)), float(impulse / largest) if largest else float(impulse > 0.0))

    def round_off(self, x: np.ndarray) -> float:
        """What round-off alone may leave in the residual's velocity; never more than a small part of the velocities given."""
        if self.dense is not None:
            terms = np.abs(self.dense) @ np.abs(x)
        else:
            W = self.problem.W
            motion = np.zeros((len(W.inverse_mass) + 1, 6))
            both = W.islands[self.keep]
            np.add.at(motion, both.ravel(), np.abs(self.Y * x[:, None]).reshape(-1, 6))
            terms = np.einsum("rgi,rgi->r", np.abs(self.J.reshape(-1, 2, 6)), motion[both]) + self.R * np.abs(x)
        given = np.abs(self.b)
        return float(min(ROUND_OFF * ((terms + given) / self.D).max(initial=0.0), AT_MOST * (given / self.D).max(initial=0.0)))

    def sweep(self, x: np.ndarray, count: int, relaxation: float = 1.0, symmetric: bool = False, stop: float = 0.0) -> int:
        """Gauss–Seidel from x, in place: at most `count` sweeps, fewer if one moves nothing by more than `stop`."""
        if self.dense is not None:
            u = self.velocity(x)
            return sweep_dense(
                self.law, count, relaxation, int(symmetric), stop, self.start, self.lower, self.upper, self.local, self.dense.ravel(), u, x
            )
        motion = np.zeros((len(self.problem.W.inverse_mass) + 1, 6))
        np.add.at(motion, self.problem.W.islands[self.keep].ravel(), (self.Y * x[:, None]).reshape(-1, 6))
        motion = motion[:-1].ravel()
        return sweep_factored(
            self.law, count, relaxation, int(symmetric), stop, self.start, self.lower, self.upper, self.local, self.islands.ravel(),
            self.J.ravel(), self.Y.ravel(), self.R, self.b, motion, x,
        )  # fmt: skip


def local_tables(law: int, rows: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """The tables of sweeps from the blocks' own matrices (k, 4, 4) of so many rows each."""
    table = np.zeros((rows.size, LOCAL))
    for d in range(1, 5):
        which = np.flatnonzero(rows == d)
        if not which.size:
            continue
        own = blocks[which, :d, :d]
        normal, side = own[:, 0, 0], own[:, 1:, 0]
        table[which, 0] = normal
        if d == 1:
            continue
        tangent = own[:, 1:, 1:]
        if law == COULOMB:
            safe = np.where(normal > 0.0, normal, 1.0)
            tangent = tangent - side[:, :, None] * side[:, None, :] / safe[:, None, None]
        values, vectors = np.linalg.eigh(0.5 * (tangent + tangent.transpose(0, 2, 1)))
        table[which, 1:d] = np.einsum("kij,ki->kj", vectors, side)
        table[which, 4 : 3 + d] = np.maximum(values, 0.0)
        axes = np.zeros((which.size, 3, 3))
        axes[:, : d - 1, : d - 1] = vectors
        table[which, 7:16] = axes.reshape(-1, 9)
    return table.ravel()


def _place_in_block(rows: np.ndarray) -> np.ndarray:
    """0, 1, 2, … within each block."""
    first = np.concatenate([[0], np.cumsum(rows)[:-1]]) if rows.size else np.zeros(0, np.int64)
    return np.arange(rows.sum()) - np.repeat(first, rows)
