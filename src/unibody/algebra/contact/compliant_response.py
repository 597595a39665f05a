"""How rows with compliance answer together: one linear equation in the smallest space there is, dense if it is small and else sparse.

Forces λ follow the motion u = W λ of their rows with slopes Φ, a block for every contact: asked is Δλ with

    Δλ = δ + Φ W Δλ,      W = J Yᵀ,     Y = (M⁻¹ Jᵀ)ᵀ

In rows it is (1 − Φ W) Δλ = δ; in velocities, Δm = Yᵀ Δλ, it is (1 − Yᵀ Φ J) Δm = Yᵀ δ and then Δλ = δ + Φ J Δm. The latter is as sparse
as bodies touch each other, six by six, whatever the number of contacts between two of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unibody.algebra.contact.delassus import DelassusFactors

DENSE = 150
"""Rows or velocities up to which a dense matrix is the faster one."""


class ComplianceSlopes(NamedTuple):
    """Φ: of the first rows, alone (m,), and of contacts (n, w, w)."""

    single: np.ndarray
    blocks: np.ndarray

    def times(self, x: np.ndarray) -> np.ndarray:
        """Φ x of x (rows,) or (rows, k)."""
        m, (n, w, _) = len(self.single), self.blocks.shape
        tail = x.shape[1:]
        several = self.blocks @ x[m:].reshape(n, w, int(np.prod(tail)))
        return np.concatenate([self.single.reshape(m, *(1,) * len(tail)) * x[:m], several.reshape(n * w, *tail)])


class InRows:
    """W as an array."""

    def __init__(self, J: np.ndarray, Y: np.ndarray):
        self.W = J @ Y.T

    def motion(self, force: np.ndarray) -> np.ndarray:
        """u = W λ."""
        return self.W @ force

    def solve(self, slopes: ComplianceSlopes, missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Δλ and W Δλ."""
        force = np.linalg.solve(np.eye(len(missing)) - slopes.times(self.W), missing)
        return force, self.W @ force


class InVelocities:
    """J and Y as arrays, of the velocities that rows touch."""

    def __init__(self, J: np.ndarray, Y: np.ndarray):
        self.J, self.Yt = J, np.ascontiguousarray(Y.T)

    def motion(self, force: np.ndarray) -> np.ndarray:
        """u = W λ."""
        return self.J @ (self.Yt @ force)

    def solve(self, slopes: ComplianceSlopes, missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Δλ and W Δλ."""
        matrix = np.eye(len(self.Yt)) - self.Yt @ slopes.times(self.J)
        u = self.J @ np.linalg.solve(matrix, self.Yt @ missing)
        return missing + slopes.times(u), u


class Sparsely:
    """The same with sparse arrays and factors."""

    def __init__(self, J: Any, Y: Any, slopes: tuple[int, int, int]):
        self.J, self.Yt = J, Y.T.tocsr()
        m, n, w = slopes
        self._starts = np.concatenate([np.arange(m), m + w * np.arange(n * w + 1)])
        inside = (m + w * np.arange(n))[:, None, None] + np.zeros((w, 1), int) + np.arange(w)
        self._columns = np.concatenate([np.arange(m), inside.ravel()])

    def motion(self, force: np.ndarray) -> np.ndarray:
        """u = W λ."""
        return self.J @ (self.Yt @ force)

    def solve(self, slopes: ComplianceSlopes, missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Δλ and W Δλ."""
        import scipy.sparse as sp
        from scipy.sparse.linalg import splu

        size = len(missing)
        values = np.concatenate([slopes.single, slopes.blocks.ravel()])
        slope = sp.csr_array((values, self._columns.copy(), self._starts.copy()), shape=(size, size))
        slope.eliminate_zeros()  # changes all three arrays
        matrix = (sp.eye_array(self.Yt.shape[0], format="csr") - self.Yt @ (slope @ self.J)).tocsc()
        factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01, options={"SymmetricMode": True})
        u = self.J @ factors.solve(self.Yt @ missing)
        return missing + slopes.times(u), u


def soft_answers(rows: DelassusFactors, singles: int, width: int, dense: int = DENSE) -> InRows | InVelocities | Sparsely:
    """Of `singles` rows by themselves and then contacts of `width` rows; `dense`: the largest dense matrix."""
    touched = np.zeros(len(rows.first), bool)
    touched[rows.islands] = True  # the last is that of none
    columns = np.repeat(touched[:-1], np.diff(rows.first))
    velocities = int(columns.sum())
    if min(rows.size, velocities) > dense:
        J, Y = rows.sparse_parts()
        return Sparsely(J, Y, (singles, len(rows.rows) - singles, width))
    J, Y = rows.wholes()
    if rows.size <= velocities:
        return InRows(J, Y)
    return InVelocities(J, Y) if velocities == len(columns) else InVelocities(J[:, columns], Y[:, columns])
