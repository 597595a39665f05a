"""Linear systems over bodies and points (`mixed`) by sparse Cholesky factors with nested dissection.

    H = ( B  X )      x = ( N z ),      A = ( NᵀBN  NᵀX )
        ( Xᵀ V )          (  y  )           ( XᵀN    V  )

Large sheets are left to conjugate gradients in one respect: bending couples the vertices across a hinge, a second ring around each, and
factors without that ring have a third of the fill and less. They precondition the whole matrix, a handful of iterations a solution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from unibody.algebra.block.cholesky import W
from unibody.algebra.block.direct import pick, reduce_blocks, reduced_entries
from unibody.algebra.block.mixed import MixedMatrix, MixedPattern, diagonal_keys
from unibody.algebra.block.reduced_pcg import ChangeOfVariables
from unibody.algebra.supernodal.entries import block_entries
from unibody.algebra.supernodal.plan import SupernodalPlan, Workspace
from unibody.arrays import inner
from unibody.kernel import Floats, Ints, kernel

LITTLE = 1e-12
"""Of the diagonal, that a matrix gets more whose factors are not there for round-off."""
LEAST = 12000
"""Couplings across hinges from which on iterations are cheaper than the fill of factors: sheets of some 2000 vertices."""
ACCURATE, ROUGH, MOST = 1e-3, 0.1, 40
"""Of conjugate gradients: by how much the error, in the norm of the preconditioner, gets smaller; the same far from the end; iterations at
most."""

Found = TypeVar("Found")


@kernel
def reduce_across(first: Ints, starts: Ints, local: Ints, data: Floats, bodies: Ints, across: Floats, X_out: Floats) -> None:
    """N_bᵀ X of every block of a body and a point, one after the other, 3 columns each."""
    for i in range(X_out.size):
        X_out[i] = 0.0
    to = 0
    for k in range(bodies.size):
        b = bodies[k]
        for i in range(12):
            for e in range(starts[12 * b + i], starts[12 * b + i + 1]):
                for j in range(3):
                    X_out[to + 3 * local[e] + j] += data[e] * across[36 * k + 3 * i + j]
        to += 3 * (first[b + 1] - first[b])


@kernel
def fill_across_entries(first: Ints, columns: Ints, bodies: Ints, points: Ints, count: int, row_out: Ints, column_out: Ints) -> None:
    """Unknowns of the numbers of `reduce_across`; points begin behind `count` others."""
    to = 0
    for k in range(bodies.size):
        for p in range(first[bodies[k]], first[bodies[k] + 1]):
            for j in range(3):
                row_out[to] = columns[p]
                column_out[to] = count + 3 * points[k] + j
                to += 1


class Thinning:
    """Matrices without the couplings of points that `far` names (keys f n + g, f < g), each lumped onto the diagonals of its two points: as
    large for motions that both share. Bending couples a sheet's vertices across hinges, a second ring around each, and factors without that
    ring have a fraction of the fill. A bent sheet pushes vertices across a hinge the same way, so what is lumped errs on the large side."""

    def __init__(self, far: np.ndarray):
        self._far = np.unique(far)
        self._last: tuple[MixedPattern, MixedPattern, np.ndarray, np.ndarray] | None = None

    def thinner(self, H: MixedMatrix) -> MixedMatrix:
        p = H.pattern
        if self._last is None or self._last[0] is not p:
            dropped = np.isin(p.pairs, self._far, assume_unique=True)
            thin = MixedPattern(p.m, p.n, p.between, p.across, p.pairs[~dropped])
            if self._last is not None and thin.same(self._last[1]):
                thin = self._last[1]
            self._last = p, thin, np.flatnonzero(~dropped), np.flatnonzero(dropped)
        _, thin, kept, dropped = self._last
        at = p.starts[2]
        blocks, out = H.values[at:].reshape(-1, 9), np.empty(thin.starts[3])
        out[:at] = H.values[:at]
        out[at:].reshape(-1, 9)[:] = blocks[kept]
        rows, columns = p.points
        own = np.searchsorted(thin.pairs, diagonal_keys(p.n))
        lump(dropped, own[rows[dropped]], own[columns[dropped]], H.values[at:], out[at:])
        return MixedMatrix(thin, out)


@kernel
def lump(which: Ints, one: Ints, other: Ints, blocks: Floats, blocks_out: Floats) -> None:
    """Symmetric parts of some blocks are added to two others each."""
    for k in range(which.size):
        at = 9 * which[k]
        for i in range(3):
            for j in range(3):
                half = 0.5 * (blocks[at + 3 * i + j] + blocks[at + 3 * j + i])
                blocks_out[9 * one[k] + 3 * i + j] += half
                blocks_out[9 * other[k] + 3 * i + j] += half


def preconditioned(
    product: Callable[[np.ndarray], np.ndarray], solved: Callable[[np.ndarray], np.ndarray], b: np.ndarray, accurate: float = ACCURATE
) -> tuple[np.ndarray | None, bool]:
    """x of H x = b by conjugate gradients with H `product` and a preconditioner that is `solved`; None if there are too many iterations, or
    (then True) if H is not positive along one of the directions."""
    x, r = np.zeros(b.size), b.copy()
    z = solved(r)
    p, rz = z, inner(r, z)
    goal = accurate**2 * rz
    if not rz > 0.0:
        return (x, True) if rz == 0.0 else (None, False)
    for _ in range(MOST):
        Hp = product(p)
        bent = inner(p, Hp)
        if not bent > 0.0:
            return None, True
        x += rz / bent * p
        r -= rz / bent * Hp
        z = solved(r)
        before, rz = rz, inner(r, z)
        if rz <= goal:
            return x, True
        p = z + rz / before * p
    return None, False


class MixedPlan:
    """A factorisation of A for matrices of one pattern. `positions` (m + n, 3) of bodies and points."""

    def __init__(self, pattern: MixedPattern, change: ChangeOfVariables | None, positions: np.ndarray):
        self.pattern, self._change = pattern, change
        m, n = pattern.m, pattern.n
        bodies, points = pattern.body_points
        if change is None:
            rows = np.concatenate([np.arange(m), pattern.bodies[0], bodies, m + pattern.points[0]])
            columns = np.concatenate([np.arange(m), pattern.bodies[1], m + points, m + pattern.points[1]])
            row, column, self._take, node = block_entries(np.repeat([W, 3], [m, n]), rows, columns)
            places = positions
        else:
            # numbers of NᵀBN, of NᵀX, then of V
            k, count = np.diff(change.first), change.N.shape[1]
            of_bodies = int((k * k).sum() + (k[pattern.bodies[0]] * k[pattern.bodies[1]]).sum())
            of_across = int(3 * k[bodies].sum())
            row, column, take = (np.empty(of_bodies, np.int64) for _ in range(3))
            found = reduced_entries(change.first, change.columns, *pattern.bodies, row, column, take)
            row_x, column_x = np.empty(of_across, np.int64), np.empty(of_across, np.int64)
            fill_across_entries(change.first, change.columns, bodies, points, count, row_x, column_x)
            row_v, column_v, take_v, _ = block_entries(np.full(n, 3), *pattern.points)
            row = np.concatenate([row[:found], row_x, count + row_v])
            column = np.concatenate([column[:found], column_x, count + column_v])
            self._take = np.concatenate([take[:found], of_bodies + np.arange(of_across), of_bodies + of_across + take_v])
            self._sizes = of_bodies, of_across
            # nodes of z, at the middle of the bodies that depend on them
            of_z = change.node_of_z
            nodes = int(of_z.max(initial=-1)) + 1
            node = np.concatenate([of_z, nodes + np.repeat(np.arange(n), 3)])
            owner = np.repeat(np.arange(len(change.first) - 1), np.diff(change.first))
            share = np.bincount(of_z[change.columns], minlength=nodes)
            middle = [np.bincount(of_z[change.columns], positions[owner, r], nodes) / np.maximum(share, 1) for r in range(3)]
            places = np.concatenate([np.stack(middle, axis=1).reshape(-1, 3), positions[m:]])
        self._unknowns = len(node)
        self.factors = SupernodalPlan.of(len(node), row, column, node, places)
        self._spare: list[tuple[np.ndarray, Workspace]] = []

    def solve(self, H: MixedMatrix, b: np.ndarray) -> np.ndarray | None:
        """x = (N z, y) of A (z, y) = (Nᵀ, 1) b; None if A is not positive definite."""
        return self.with_factors(H, lambda solved: solved(b))

    def with_factors(self, H: MixedMatrix, use: Callable[[Callable[[np.ndarray], np.ndarray]], Found]) -> Found | None:
        """What `use` makes of b ↦ x; None if A is not positive definite."""
        try:
            values, workspace = self._spare.pop()
        except IndexError:
            values, workspace = np.empty(len(self._take)), self.factors.workspace()
        c, at = self._change, W * self.pattern.m
        pick(H.values if c is None else self._reduced(H, c), self._take, values)
        factor = self.factors.factor(values, workspace)

        def solved(b: np.ndarray) -> np.ndarray:
            right = np.ascontiguousarray(b) if c is None else np.concatenate([c.gather(b[:at]), b[at:]])
            found = factor.solve(right)
            return found if c is None else np.concatenate([c.spread(found[: c.N.shape[1]]), found[c.N.shape[1] :]])

        found = use(solved) if factor.bad < 0 else None
        self._spare.append((values, workspace))
        return found

    def _reduced(self, H: MixedMatrix, c: ChangeOfVariables) -> np.ndarray:
        p = self.pattern
        b, x, v, end = p.starts
        of_bodies, of_across = self._sizes
        out = np.empty(of_bodies + of_across + end - v)
        starts, _, data = c.by_row
        reduce_blocks(c.first, c.columns, starts, c.local, data, H.values[:b], *p.bodies, H.values[b:x], out[:of_bodies])
        reduce_across(c.first, starts, c.local, data, p.body_points[0], H.values[x:v], out[of_bodies : of_bodies + of_across])
        out[of_bodies + of_across :] = H.values[v:]
        return out


class MixedSolver:
    """H x = b, x = (N z, y), by factors; the plan of the last pattern is kept, and depends on nothing but the pattern. `far`: keys of
    couplings of points that factors of large sheets leave to iterations (`Thinning`)."""

    def __init__(self, change: ChangeOfVariables | None, positions: np.ndarray, far: np.ndarray | None = None, least: int = LEAST):
        self._change, self._positions = change, positions
        self._plan: MixedPlan | None = None
        self._thin_plan: MixedPlan | None = None
        self._thinning = Thinning(far) if far is not None and len(far) >= least else None

    def solve(self, H: MixedMatrix, b: np.ndarray, careful: bool = False, rough: bool = False) -> np.ndarray | None:
        """None if H is not positive definite on the unknowns. A `careful` matrix, which is positive but for round-off, gets a little of its
        diagonal more where it has no factors. `rough`: what iterations find need not be accurate."""
        if self._thinning is not None:
            found, certain = self._iterated(self._thinning, H, b, ROUGH if rough else ACCURATE)
            if found is not None or (certain and not careful):
                return found
        return self._factored(H, b, careful)

    def _iterated(self, thinning: Thinning, H: MixedMatrix, b: np.ndarray, accurate: float) -> tuple[np.ndarray | None, bool]:
        """x by conjugate gradients on factors of the thinner matrix; else None, and whether H is surely not positive."""
        M = thinning.thinner(H)
        if self._thin_plan is None or not self._thin_plan.pattern.same(M.pattern):
            self._thin_plan = MixedPlan(M.pattern, self._change, self._positions)
        found = self._thin_plan.with_factors(M, lambda solved: preconditioned(H.product, solved, b, accurate))
        return (None, False) if found is None else found

    def _factored(self, H: MixedMatrix, b: np.ndarray, careful: bool) -> np.ndarray | None:
        if self._plan is None or not self._plan.pattern.same(H.pattern):
            self._plan = MixedPlan(H.pattern, self._change, self._positions)
        found = self._plan.solve(H, b)
        more = LITTLE
        while found is None and careful and more < 1e-3:
            found, more = self._plan.solve(H.lifted(more), b), 1e3 * more
        return found
