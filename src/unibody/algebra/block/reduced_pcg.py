"""H x = b for bodies that joints connect, x = N z: conjugate gradients on NᵀHN, preconditioned by exact factors of each
mechanism's own part. Reduced PCG: z are the reduced coordinates.

A mechanism is what joints connect: a ragdoll, a chain, or a single free body. Its diagonal part of NᵀHN is built from blocks, N_aᵀ H_ab N_b
with N_b the few columns of N that body b has, and factored: dense Cholesky up to DENSE unknowns, sparse beyond (`supernodal`; its fill
follows the mechanism: linear for chains with local coordinates). Nothing but contacts and forces between mechanisms is left to the
iterations, and a single mechanism is solved directly. If a mechanism is not positive, there is no answer; if iterations do not end, the
whole is factored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt

import numpy as np
import scipy.sparse as sp

from unibody.algebra.block.cholesky import DIRECT, ITERATIONS, BlockMatrix, W, solve_sparse
from unibody.algebra.supernodal.entries import csc_entries
from unibody.algebra.supernodal.plan import SupernodalFactor, SupernodalPlan
from unibody.arrays import inner
from unibody.kernel import Floats, Ints, device, kernel

DENSE = 400
"""Unknowns of a mechanism up to which its factor is dense."""
EXACT = 1e-10
"""Accuracy of iterations for systems that are small enough for a direct solution."""


WholeSolve = Callable[[BlockMatrix, np.ndarray], np.ndarray | None]


@device
def add_product(first, columns, values, starts, entries, data, a, b, H, at, transposed, shift, width, to, A_out):
    """A += N_aᵀ H N_b on and above the diagonal, row-major from `to`, with H (12×12) at `at` (or its transpose) and columns counted from
    `shift`; N_a by its rows, of which most entries are zero."""
    kb = first[b + 1] - first[b]
    for j in range(kb):
        column = columns[first[b] + j] - shift
        for i in range(W):
            s = 0.0
            for l in range(W):
                f = values[W * first[b] + kb * l + j]
                if f != 0.0:
                    s += (H[at + W * l + i] if transposed else H[at + W * i + l]) * f
            for e in range(starts[W * a + i], starts[W * a + i + 1]):
                row = entries[e] - shift
                if row <= column:
                    A_out[to + width * row + column] += data[e] * s


@kernel
def add_mechanisms(
    first: Ints, columns: Ints, values: Floats, starts: Ints, entries: Ints, data: Floats, mechanism: Ints, z_first: Ints, place: Ints,
    diagonal: Floats, rows: Ints, others: Ints, between: Floats, A_out: Floats,
) -> int:  # fmt: skip
    """Diagonal parts of NᵀHN of the mechanisms with place ≥ 0, row-major at their places, on and above the diagonal; the number of blocks
    between mechanisms."""
    apart = 0
    for b in range(mechanism.size):
        g = mechanism[b]
        if place[g] >= 0:
            width = z_first[g + 1] - z_first[g]
            add_product(first, columns, values, starts, entries, data, b, b, diagonal, W * W * b, False, z_first[g], width, place[g], A_out)
    for k in range(rows.size):
        g = mechanism[rows[k]]
        if mechanism[others[k]] != g:
            apart += 1
        elif place[g] >= 0:
            width = z_first[g + 1] - z_first[g]
            a = rows[k]
            b = others[k]
            add_product(first, columns, values, starts, entries, data, a, b, between, W * W * k, False, z_first[g], width, place[g], A_out)
            add_product(first, columns, values, starts, entries, data, b, a, between, W * W * k, True, z_first[g], width, place[g], A_out)
    return apart


@kernel
def spread(first: Ints, columns: Ints, values: Floats, z: Floats, x_out: Floats) -> None:
    """x = N z"""
    for b in range(first.size - 1):
        k = first[b + 1] - first[b]
        for i in range(W):
            s = 0.0
            for j in range(k):
                s += values[W * first[b] + k * i + j] * z[columns[first[b] + j]]
            x_out[W * b + i] = s


@kernel
def gather(first: Ints, columns: Ints, values: Floats, x: Floats, z_out: Floats) -> None:
    """z = Nᵀ x"""
    for j in range(z_out.size):
        z_out[j] = 0.0
    for b in range(first.size - 1):
        k = first[b + 1] - first[b]
        for i in range(W):
            f = x[W * b + i]
            for j in range(k):
                z_out[columns[first[b] + j]] += values[W * first[b] + k * i + j] * f


@kernel
def factor_mechanisms(z_first: Ints, place: Ints, used_out: Ints, A_out: Floats) -> int:
    """Upper factors A = UᵀU of the mechanisms, over A, zeros left alone; −1, or the first mechanism that is not positive. Coordinates of
    bodies that hang on others come first, so a tree fills nothing in."""
    for g in range(place.size):
        if place[g] < 0:
            continue
        n = z_first[g + 1] - z_first[g]
        for k in range(n):
            row = place[g] + n * k
            if not A_out[row + k] > 0.0:
                return g
            pivot = sqrt(A_out[row + k])
            A_out[row + k] = pivot
            count = 0
            for j in range(k + 1, n):
                if A_out[row + j] != 0.0:
                    A_out[row + j] /= pivot
                    used_out[count] = j
                    count += 1
            for m in range(count):
                i = used_out[m]
                f = A_out[row + i]
                to = place[g] + n * i
                if 4 * count > n - k:
                    for j in range(i, n):
                        A_out[to + j] -= f * A_out[row + j]
                else:
                    for l in range(m, count):
                        A_out[to + used_out[l]] -= f * A_out[row + used_out[l]]
    return -1


@kernel
def solve_mechanisms(z_first: Ints, place: Ints, factor: Floats, b: Floats, z_out: Floats) -> None:
    """z of UᵀU z = b, mechanism by mechanism."""
    for g in range(place.size):
        if place[g] < 0:
            continue
        start = z_first[g]
        n = z_first[g + 1] - start
        for i in range(n):
            z_out[start + i] = b[start + i]
        for i in range(n):
            row = place[g] + n * i
            f = z_out[start + i] / factor[row + i]
            z_out[start + i] = f
            for j in range(i + 1, n):
                z_out[start + j] -= factor[row + j] * f
        for m in range(n):
            i = n - 1 - m
            row = place[g] + n * i
            s = z_out[start + i]
            for j in range(i + 1, n):
                s -= factor[row + j] * z_out[start + j]
            z_out[start + i] = s / factor[row + i]


@dataclass(frozen=True)
class ChangeOfVariables:
    """x = N z body by body: body b has the columns `columns[first[b] : first[b + 1]]`, and N_b (12, its columns) in `values`; its
    mechanism, and the range of z of each mechanism."""

    first: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    mechanism: np.ndarray
    z_first: np.ndarray
    N: sp.csr_matrix
    _large: dict[int, tuple[np.ndarray, slice, sp.csr_matrix]] = field(default_factory=dict)

    @staticmethod
    def of(N: sp.csr_matrix, mechanism: np.ndarray, mechanism_of_z: np.ndarray) -> ChangeOfVariables:
        """`mechanism_of_z` ascends."""
        m = N.shape[0] // W
        columns, values = [np.zeros(0, np.int64)], [np.zeros(0)]
        for b in range(m):
            low, high = N.indptr[W * b], N.indptr[W * b + W]
            mine, at = np.unique(N.indices[low:high], return_inverse=True)
            block = np.zeros((W, len(mine)))
            block[np.repeat(np.arange(W), np.diff(N.indptr[W * b : W * b + W + 1])), at] = N.data[low:high]
            columns.append(mine.astype(np.int64))
            values.append(block.ravel())
        first = np.concatenate([[0], np.cumsum([len(c) for c in columns[1:]])]).astype(np.int64)
        z_first = np.searchsorted(mechanism_of_z, np.arange(int(mechanism.max(initial=-1)) + 2)).astype(np.int64)
        return ChangeOfVariables(first, np.concatenate(columns), np.concatenate(values), mechanism.astype(np.int64), z_first, N)

    @cached_property
    def by_row(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where rows of N begin, columns of their entries, and the entries."""
        return self.N.indptr.astype(np.int64), self.N.indices.astype(np.int64), np.ascontiguousarray(self.N.data, float)

    @cached_property
    def local(self) -> np.ndarray:
        """For every entry of N, by rows, the place of its column among those of its body."""
        starts, entries, _ = self.by_row
        count = self.N.shape[1]
        body = np.repeat(np.arange(len(starts) - 1) // W, np.diff(starts))
        owner = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        return (np.searchsorted(owner * count + self.columns, body * count + entries) - self.first[body]).astype(np.int64)

    @cached_property
    def node_of_z(self) -> np.ndarray:
        """The same number for unknowns z on which the same bodies depend."""
        if not self.N.shape[1]:  # joints leave nothing free
            return np.zeros(0, np.int64)
        owner = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        order = np.argsort(self.columns, kind="stable")
        ends = np.cumsum(np.bincount(self.columns, minlength=self.N.shape[1]))[:-1]
        known: dict[bytes, int] = {}
        return np.array([known.setdefault(bodies.tobytes(), len(known)) for bodies in np.split(owner[order], ends)], np.int64)

    def large(self, g: int) -> tuple[np.ndarray, slice, sp.csr_matrix]:
        """Bodies and range of z of a mechanism, and N of it alone."""
        if g not in self._large:
            bodies, mine = np.flatnonzero(self.mechanism == g), slice(int(self.z_first[g]), int(self.z_first[g + 1]))
            self._large[g] = bodies, mine, self.N[(W * bodies[:, None] + np.arange(W)).ravel()][:, mine]
        return self._large[g]

    def spread(self, z: np.ndarray) -> np.ndarray:
        out = np.empty(W * (len(self.first) - 1))
        spread(self.first, self.columns, self.values, z, out)
        return out

    def gather(self, x: np.ndarray) -> np.ndarray:
        out = np.empty(self.N.shape[1])
        gather(self.first, self.columns, self.values, np.ascontiguousarray(x), out)
        return out


class MechanismFactors:
    """Factors of the mechanisms' own parts. `positive`: whether all of them are; `apart`: blocks of H between mechanisms."""

    def __init__(self, H: BlockMatrix, change: ChangeOfVariables):
        self._change = change
        size = np.diff(change.z_first)
        dense = size <= DENSE
        ends = np.cumsum(np.where(dense, size * size, 0))
        self._place = np.where(dense, ends - size * size, -1).astype(np.int64)
        self._factor = np.zeros(int(ends[-1]) if len(ends) else 0)
        c = change
        flat = np.ascontiguousarray(H.diagonal).ravel(), np.ascontiguousarray(H.between).ravel()
        self.apart = add_mechanisms(
            c.first, c.columns, c.values, *c.by_row, c.mechanism, c.z_first, self._place, flat[0], H.rows, H.columns, flat[1], self._factor
        )
        self.positive = factor_mechanisms(c.z_first, self._place, np.zeros(DENSE, np.int64), self._factor) < 0
        self._sparse: list[tuple[slice, SupernodalFactor]] = []
        for g in np.flatnonzero(~dense):
            bodies, mine, N = c.large(int(g))
            A = (N.T @ submatrix(H, bodies) @ N).tocsc()
            rows, columns, take = csc_entries(A)
            factor = SupernodalPlan.of(A.shape[0], rows, columns).factor(A.data[take])
            self.positive = self.positive and factor.bad < 0
            self._sparse.append((mine, factor))

    def solve(self, b: np.ndarray) -> np.ndarray:
        out = np.zeros(b.size)
        solve_mechanisms(self._change.z_first, self._place, self._factor, b, out)
        for mine, factor in self._sparse:
            out[mine] = factor.solve(b[mine])
        return out


def submatrix(H: BlockMatrix, bodies: np.ndarray) -> sp.bsr_matrix:
    """H of some bodies alone."""
    place = np.full(len(H.diagonal), -1)
    place[bodies] = np.arange(len(bodies))
    both = (place[H.rows] >= 0) & (place[H.columns] >= 0)
    return BlockMatrix(H.diagonal[bodies], place[H.rows[both]], place[H.columns[both]], H.between[both]).sparse()


def solve_reduced(
    H: BlockMatrix, change: ChangeOfVariables, b: np.ndarray, accuracy: float = 1e-3, whole: WholeSolve | None = None
) -> np.ndarray | None:
    """x = N z with NᵀHN z = Nᵀb; None if a mechanism, or the whole as far as it is seen, is not positive. `whole(H, b)` solves where
    iterations do not end; LU factors unless given."""
    mechanisms, right = MechanismFactors(H, change), change.gather(b)
    if not mechanisms.positive:
        return None
    if not mechanisms.apart:
        return change.spread(mechanisms.solve(right))
    if len(H.diagonal) <= DIRECT:
        accuracy = min(accuracy, EXACT)
    z, positive = iterate(lambda z: change.gather(H.product(change.spread(z))), mechanisms.solve, right, accuracy)
    if not positive:
        return None
    if z is not None:
        return change.spread(z)
    return whole(H, b) if whole is not None else solve_reduced_directly(H, change, b)


def solve_reduced_directly(H: BlockMatrix, change: ChangeOfVariables, b: np.ndarray) -> np.ndarray:
    """x = N z with NᵀHN z = Nᵀb by sparse LU of the whole, which need not be positive."""
    A = (change.N.T @ H.sparse() @ change.N).tocsc()
    return change.spread(solve_sparse(A, change.gather(b)))


def iterate(
    product: Callable[[np.ndarray], np.ndarray], solve: Callable[[np.ndarray], np.ndarray], b: np.ndarray, accuracy: float
) -> tuple[np.ndarray | None, bool]:
    """Conjugate gradients from 0; None if they do not end, and whether the matrix seemed positive."""
    x, r = np.zeros(b.size), b.copy()
    z = solve(r)
    p, rz = z.copy(), inner(r, z)
    end = accuracy**2 * rz
    for _ in range(ITERATIONS):
        if rz <= end:
            return x, True
        q = product(p)
        bend = inner(p, q)
        if not bend > 0.0:
            return None, False
        x += (rz / bend) * p
        r -= (rz / bend) * q
        z = solve(r)
        new = inner(r, z)
        p = z + (new / rz) * p
        rz = new
    return None, True
