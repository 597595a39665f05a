"""H x = b over blocks 12×12, x = N z: a supernodal factor of A = NᵀHN, and the choice between it and conjugate gradients.

    A = Σ_b N_bᵀ H_bb N_b + Σ_{a<b} (N_aᵀ H_ab N_b + N_bᵀ H_abᵀ N_a)

N_b are the rows of N of body b, of which most numbers are zero. Every block of H gives a dense block over the columns of its bodies, added
up in the fronts; which they are depends on the pairs of bodies only, so the plan is made once for the same pairs. Unknowns z on which the
same bodies depend are one node of the graph. Without N, A is H.

*Counted work* decides between the two (`auto`). A factorisation takes `plan.flops`, mostly products of dense blocks. Iterations take a
product with H and a preconditioner each, which come from memory: EXPENSIVE times as long per flop. How many there will be is not known
before; EXPECTED is what piles and heaps of mechanisms took. No clock is asked, so that runs can be repeated.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix, W, factor_blocks, solve_diagonal, solve_sparse
from unibody.algebra.block.reduced_pcg import DENSE, ChangeOfVariables, solve_reduced, solve_reduced_directly
from unibody.algebra.supernodal.entries import block_entries
from unibody.algebra.supernodal.plan import SupernodalPlan, Workspace
from unibody.kernel import Floats, Ints, device, kernel

EXPECTED = 30
"""Iterations of conjugate gradients that are expected of a solution."""
EXPENSIVE = 4.0
"""Time of a flop of an iteration, in flops of a factorisation (3 to 5 where bodies are free, more where joints connect them)."""
ALONE = 150
"""Blocks up to which nothing is counted: their factors take less time than the question."""


@device
def reduce_block(starts, local, data, wide, a, b, H, at, to, X_out):
    """X = N_aᵀ H N_b, row by row from `to`, `wide` columns; H (12×12) at `at`."""
    for i in range(W):
        for e in range(starts[W * a + i], starts[W * a + i + 1]):
            row = to + wide * local[e]
            for l in range(W):
                f = data[e] * H[at + W * i + l]
                for g in range(starts[W * b + l], starts[W * b + l + 1]):
                    X_out[row + local[g]] += f * data[g]


@kernel
def reduce_blocks(
    first: Ints, columns: Ints, starts: Ints, local: Ints, data: Floats, diagonal: Floats, rows: Ints, others: Ints, between: Floats,
    X_out: Floats,
) -> None:  # fmt: skip
    """Blocks N_bᵀ H_bb N_b of all bodies, then N_aᵀ H_ab N_b of all pairs, one after the other; numbers of a pair that come to stand on the
    diagonal of A count twice, since the transposed block has them too."""
    for i in range(X_out.size):
        X_out[i] = 0.0
    to = 0
    for b in range(first.size - 1):
        wide = first[b + 1] - first[b]
        reduce_block(starts, local, data, wide, b, b, diagonal, W * W * b, to, X_out)
        to += wide * wide
    for k in range(rows.size):
        a = rows[k]
        b = others[k]
        wide = first[b + 1] - first[b]
        reduce_block(starts, local, data, wide, a, b, between, W * W * k, to, X_out)
        for p in range(first[a], first[a + 1]):
            for q in range(first[b], first[b + 1]):
                if columns[p] == columns[q]:
                    X_out[to] *= 2.0
                to += 1


@kernel
def reduced_entries(first: Ints, columns: Ints, rows: Ints, others: Ints, row_out: Ints, column_out: Ints, take_out: Ints) -> int:
    """Unknowns of the numbers of `reduce_blocks`, and their places there; how many. Of blocks of one body the lower half counts."""
    count = 0
    at = 0
    for b in range(first.size - 1):
        for p in range(first[b], first[b + 1]):
            for q in range(first[b], first[b + 1]):
                if q <= p:
                    row_out[count] = columns[p]
                    column_out[count] = columns[q]
                    take_out[count] = at
                    count += 1
                at += 1
    for k in range(rows.size):
        for p in range(first[rows[k]], first[rows[k] + 1]):
            for q in range(first[others[k]], first[others[k] + 1]):
                row_out[count] = columns[p]
                column_out[count] = columns[q]
                take_out[count] = at
                count += 1
                at += 1
    return count


@kernel
def pick(values: Floats, take: Ints, picked_out: Floats) -> None:
    """picked = values[take]"""
    for k in range(take.size):
        picked_out[k] = values[take[k]]


class DirectPlan:
    """A factorisation of A for blocks of H at given pairs of bodies, with a change of variables or without."""

    def __init__(self, m: int, rows: np.ndarray, columns: np.ndarray, change: ChangeOfVariables | None):
        self._change, edges = change, None
        if change is None:
            every = np.arange(m)
            pattern = block_entries(np.full(m, W), np.concatenate([every, rows]), np.concatenate([every, columns]))
            self._size, (row, column, self._take, node), n, edges = W * W * (m + len(rows)), pattern, W * m, (rows, columns)
        else:
            k = np.diff(change.first)
            self._size = int((k * k).sum() + (k[rows] * k[columns]).sum())
            row, column, self._take = (np.empty(self._size, np.int64) for _ in range(3))
            count = reduced_entries(change.first, change.columns, rows, columns, row, column, self._take)
            row, column, self._take = row[:count], column[:count], self._take[:count]
            node, n = change.node_of_z, change.N.shape[1]
        self.factors = SupernodalPlan.of(n, row, column, node, edges=edges)
        self._spare: list[tuple[np.ndarray, np.ndarray, Workspace]] = []

    @cached_property
    def flops(self) -> float:
        """Of assembly, factorisation and one solution."""
        return self.factors.flops + 4.0 * self.factors.factor_size + 2.0 * self._size

    def solve(self, H: BlockMatrix, b: np.ndarray) -> np.ndarray | None:
        """x = N z with NᵀHN z = Nᵀb; None if that matrix is not positive definite."""
        # arrays of an earlier solution, if no other thread has them
        try:
            room = self._spare.pop()
        except IndexError:
            room = np.empty(self._size), np.empty(len(self._take)), self.factors.workspace()
        blocks, values, workspace = room
        c = self._change
        if c is None:
            half = H.diagonal.size
            blocks[:half], blocks[half:] = H.diagonal.ravel(), H.between.ravel()
        else:
            flat = np.ascontiguousarray(H.diagonal).ravel(), np.ascontiguousarray(H.between).ravel()
            starts, _, data = c.by_row
            reduce_blocks(c.first, c.columns, starts, c.local, data, flat[0], H.rows, H.columns, flat[1], blocks)
        pick(blocks, self._take, values)
        factor = self.factors.factor(values, workspace)
        found = None
        if factor.bad < 0:
            found = factor.solve(np.ascontiguousarray(b)) if c is None else c.spread(factor.solve(c.gather(b)))
        self._spare.append(room)
        return found


class NewtonSolver:
    """H x = b, x = N z if there is a change of variables, by factors or by conjugate gradients as `way` says."""

    def __init__(self, way: str, change: ChangeOfVariables | None):
        self.way, self.change = way, change
        self._plans: dict[bool, tuple[np.ndarray, np.ndarray, int, DirectPlan]] = {}
        """The last ones: for mechanisms by themselves (True), or for all together."""

    def plan(self, H: BlockMatrix, apart: bool = False) -> DirectPlan:
        """That of the pairs of H; the last one is kept, and depends on nothing but them."""
        last = self._plans.get(apart)
        if last is None or last[2] != len(H.diagonal) or not (np.array_equal(last[0], H.rows) and np.array_equal(last[1], H.columns)):
            last = H.rows, H.columns, len(H.diagonal), DirectPlan(len(H.diagonal), H.rows, H.columns, self.change)
            self._plans[apart] = last
        return last[3]

    def direct(self, H: BlockMatrix) -> bool:
        """Whether H is to be factored: decided by counted work alone."""
        if self.way != "auto":
            return self.way == "direct"
        return len(H.diagonal) <= ALONE or self.plan(H).flops <= EXPENSIVE * self.iterations_flops(H)

    def iterations_flops(self, H: BlockMatrix) -> float:
        """Of conjugate gradients, as many as are expected, and of making their preconditioner."""
        m, c = len(H.diagonal), self.change
        size = np.full(m, float(W)) if c is None else np.minimum(np.diff(c.z_first), DENSE).astype(float)
        each = 2.0 * W * W * (m + 2 * len(H.rows)) + 2.0 * float((size * size).sum()) + (0.0 if c is None else 4.0 * c.N.nnz)
        return EXPECTED * each + float((size**3).sum()) / 3.0

    def solve(self, H: BlockMatrix, b: np.ndarray, careful: bool) -> tuple[np.ndarray | None, bool]:
        """x, or None if H is not positive on N; whether it was factored. A `careful` matrix, which is positive but for round-off, is solved
        by LU factors where Cholesky's do not exist."""
        direct = self.direct(H)
        if direct:
            found = self.plan(H).solve(H, b)
        else:
            found = H.solve(b) if self.change is None else solve_reduced(H, self.change, b, whole=lambda H, b: self.plan(H).solve(H, b))
        if found is None and careful:
            found = solve_sparse(H.sparse().tocsc(), b) if self.change is None else solve_reduced_directly(H, self.change, b)
        return found, direct

    def solve_mechanisms(self, H: BlockMatrix, b: np.ndarray) -> np.ndarray | None:
        """x of every mechanism by itself, without what couples it to others; None if one of them is not positive."""
        if self.change is None:
            diagonal, x = np.ascontiguousarray(H.diagonal).ravel(), np.empty(b.size)
            factor = np.empty(diagonal.size)
            if factor_blocks(diagonal, factor) > 0:
                return None
            solve_diagonal(factor, b, x)
            return x
        own = self.change.mechanism[H.rows] == self.change.mechanism[H.columns]
        alone = BlockMatrix(H.diagonal, H.rows[own], H.columns[own], H.between[own])
        return self.plan(alone, True).solve(alone, b)
