"""Symmetric positive definite matrices of blocks 12×12: on the diagonal, and between pairs a < b; products, Cholesky factors, solutions.

Small systems are solved by Cholesky factors (`supernodal`). Large ones by conjugate gradients, preconditioned by the inverse of the
diagonal blocks: each holds the stiffness of its body, which is what makes the matrix ill-conditioned, so few iterations are left for the
coupling. They end when the residual, in the norm of the preconditioner, has fallen to the part `accuracy`; any iterate is a direction of
descent. If they do not end, the matrix is factored. A matrix that is not positive has no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from unibody.algebra.supernodal.entries import block_entries
from unibody.algebra.supernodal.plan import SupernodalPlan
from unibody.arrays import distinct, dot
from unibody.kernel import Floats, Ints, kernel

W = 12
DIRECT = 150
"""Blocks up to which the direct solution is used."""
ITERATIONS = 400


@kernel
def factor_blocks(diagonal: Floats, factor_out: Floats) -> int:
    """Cholesky factors of the diagonal blocks; the number of those that are not positive."""
    bad = 0
    for k in range(diagonal.size // (W * W)):
        at = W * W * k
        for i in range(W):
            for j in range(i + 1):
                s = diagonal[at + W * i + j]
                for l in range(j):
                    s -= factor_out[at + W * i + l] * factor_out[at + W * j + l]
                if i > j:
                    factor_out[at + W * i + j] = s / factor_out[at + W * j + j]
                else:
                    bad += 1 if s <= 0.0 else 0
                    factor_out[at + W * i + i] = sqrt(s) if s > 0.0 else 1.0
    return bad


@kernel
def solve_diagonal(factor: Floats, b: Floats, x_out: Floats) -> None:
    """x of L Lᵀ x = b, block by block."""
    for k in range(b.size // W):
        at = W * W * k
        for i in range(W):
            s = b[W * k + i]
            for j in range(i):
                s -= factor[at + W * i + j] * x_out[W * k + j]
            x_out[W * k + i] = s / factor[at + W * i + i]
        for m in range(W):
            i = W - 1 - m
            s = x_out[W * k + i]
            for j in range(i + 1, W):
                s -= factor[at + W * j + i] * x_out[W * k + j]
            x_out[W * k + i] = s / factor[at + W * i + i]


@kernel
def multiply(diagonal: Floats, rows: Ints, columns: Ints, between: Floats, transposed: Floats, x: Floats, y_out: Floats) -> None:
    """y = H x; `transposed` are the transposes of the blocks between, so that both products run along rows."""
    for i in range(x.size):
        y_out[i] = 0.0
    for k in range(x.size // W):
        for j in range(W):
            f = x[W * k + j]
            for i in range(W):
                y_out[W * k + i] += diagonal[W * W * k + W * j + i] * f
    for k in range(rows.size):
        a = W * rows[k]
        b = W * columns[k]
        for i in range(W):
            f = x[a + i]
            for j in range(W):
                y_out[b + j] += between[W * W * k + W * i + j] * f
        for j in range(W):
            f = x[b + j]
            for i in range(W):
                y_out[a + i] += transposed[W * W * k + W * j + i] * f


@kernel
def conjugate_gradients(
    diagonal: Floats, factor: Floats, rows: Ints, columns: Ints, between: Floats, transposed: Floats, b: Floats, accuracy: float, most: int,
    r_out: Floats, z_out: Floats, p_out: Floats, q_out: Floats, x_out: Floats,
) -> int:  # fmt: skip
    """x of H x = b from x = 0; the number of iterations, −1 if they were not enough, −2 if H is not positive."""
    for i in range(b.size):
        x_out[i] = 0.0
        r_out[i] = b[i]
    solve_diagonal(factor, r_out, z_out)
    for i in range(b.size):
        p_out[i] = z_out[i]
    rz = dot(r_out, z_out)
    end = accuracy * accuracy * rz
    for k in range(most):
        if rz <= end:
            return k
        multiply(diagonal, rows, columns, between, transposed, p_out, q_out)
        bend = dot(p_out, q_out)
        if bend <= 0.0:
            return -2
        alpha = rz / bend
        for i in range(b.size):
            x_out[i] += alpha * p_out[i]
            r_out[i] -= alpha * q_out[i]
        solve_diagonal(factor, r_out, z_out)
        new = dot(r_out, z_out)
        for i in range(b.size):
            p_out[i] = z_out[i] + (new / rz) * p_out[i]
        rz = new
    return -1


@dataclass(frozen=True)
class BlockMatrix:
    """Diagonal blocks (m, 12, 12), and blocks (k, 12, 12) at (rows, columns), rows < columns, whose transposes stand at (columns, rows)."""

    diagonal: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    between: np.ndarray

    def between_this_and(self, other: BlockMatrix, share: float) -> BlockMatrix:
        """This matrix moved by a share of the way to another with blocks at the same places."""
        diagonal, between = ((1.0 - share) * a + share * b for a, b in ((self.diagonal, other.diagonal), (self.between, other.between)))
        return BlockMatrix(diagonal, self.rows, self.columns, between)

    def sparse(self) -> sp.bsr_matrix:
        m = len(self.diagonal)
        row, column = np.concatenate([np.arange(m), self.rows, self.columns]), np.concatenate([np.arange(m), self.columns, self.rows])
        data = np.concatenate([self.diagonal, self.between, np.swapaxes(self.between, 1, 2)])
        order = np.lexsort((column, row))
        pointer = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m))])
        return sp.bsr_matrix((data[order], column[order], pointer), shape=(W * m, W * m))

    def product(self, x: np.ndarray) -> np.ndarray:
        """H x"""
        out = np.empty(x.size)
        multiply(self._flat[0], self.rows, self.columns, self._flat[1], self._flat[2], np.ascontiguousarray(x), out)
        return out

    @cached_property
    def _flat(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Diagonal blocks, those between, and their transposes."""
        given = self.diagonal, self.between, np.swapaxes(self.between, 1, 2)
        return tuple(np.ascontiguousarray(B, float).ravel() for B in given)  # type: ignore[return-value]

    def plus(self, factor: float, other: BlockMatrix) -> BlockMatrix:
        """self + factor · other"""
        m = len(self.diagonal)
        keys = [self.rows * m + self.columns, other.rows * m + other.columns]
        known = distinct(np.concatenate(keys))
        between = np.zeros((len(known), W, W))
        between[np.searchsorted(known, keys[0])] = self.between
        between[np.searchsorted(known, keys[1])] += factor * other.between
        return BlockMatrix(self.diagonal + factor * other.diagonal, known // m, known % m, between)

    def solve(self, b: np.ndarray, accuracy: float = 1e-3) -> np.ndarray | None:
        """H⁻¹ b, with iterations to the accuracy if the matrix is large; None if H turns out not to be positive."""
        flat, between, transposed = self._flat
        factor, x = np.zeros(flat.size), np.empty(b.size)
        if factor_blocks(flat, factor) > 0:
            return None
        if not len(self.rows):
            solve_diagonal(factor, b, x)
            return x
        if len(self.diagonal) > DIRECT:
            work = [np.empty(b.size) for _ in range(4)]
            taken = conjugate_gradients(flat, factor, self.rows, self.columns, between, transposed, b, accuracy, ITERATIONS, *work, x)
            if taken >= 0:
                return x
            if taken == -2:
                return None
        return self.solve_factored(b)

    def solve_factored(self, b: np.ndarray) -> np.ndarray | None:
        """H⁻¹ b by Cholesky factors of the whole; None if H is not positive definite."""
        m = len(self.diagonal)
        at = (np.concatenate([np.arange(m), places]) for places in (self.rows, self.columns))
        rows, columns, take, node = block_entries(np.full(m, W), *at)
        factor = SupernodalPlan.of(W * m, rows, columns, node).factor(np.concatenate(self._flat[:2])[take])
        return factor.solve(b) if factor.bad < 0 else None


def solve_sparse(A: sp.csc_matrix, b: np.ndarray) -> np.ndarray:
    """A⁻¹ b of a symmetric matrix, which need not be positive, by sparse LU."""
    return spl.splu(A, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(b)
