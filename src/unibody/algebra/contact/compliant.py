"""Compliant contacts, whose forces are functions of their penetration: convex problems with friction bounded by what pressed last, and
Newton's method at their end.

All forces are functions of the motion u = W λ of their rows, changes of accelerations over a step h,

    p = max(0, (right − u)/soft)                    of rows that push: one-sided ones and normals
    f = −b w / max(|w|, w_s),   w = free + h u      of the tangents of a contact, b = m p with Coulomb's coefficient m

so that λ = φ(W λ) is to be solved. With bounds b kept, φ(u) is minus the slope of a convex function ψ(u), and λ makes ½ λᵀ W λ + ψ(W λ)
least: Newton's method, each step as long as that falls, finds it from anywhere. Then b follows p, as far as it does good; near the end
whole steps of Newton's method on φ itself, in which f follows p as well, finish within a few, or are given up for another turn.

A step of Newton's method asks for Δλ = δ + Φ W Δλ, with W = J Yᵀ, Y = (M⁻¹ Jᵀ)ᵀ and Φ = φ′, a block for every contact. In rows it is
(1 − Φ W) Δλ = δ; in velocities, Δm = Yᵀ Δλ, it is (1 − Yᵀ Φ J) Δm = Yᵀ δ and then Δλ = δ + Φ J Δm. The latter is as sparse as bodies touch
each other, six by six, whatever the number of contacts between two of them. The smaller space is taken, dense if it is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unibody.algebra.contact.delassus import DelassusFactors

ITERATIONS, TOLERANCE = 300, 1e-9
"""The most solutions of a step, and how far forces may be from their law, of the largest force."""

ROUND_OFF = 1e-14

DENSE = 150
"""Rows or velocities up to which a dense matrix is the faster one."""

PART = 0.1
"""A convex problem is solved to this part of what the bounds changed last."""

NEAR, NEARER = 0.2, 0.3
"""The part of the largest bound by which bounds change when Newton's method is tried, and what becomes of it when that fails."""

WORSE, CUT, MORE, LEAST = 1.1, 0.6, 1.3, 0.1
"""Bounds take a share of the way to what presses: it is cut where they want to change by so much more than last time, and grows again."""

STEPS = 12
"""Of Newton's method at a time."""

EXACT, LONGEST, TRIES, INSIDE = 0.1, 64.0, 30, 0.05
"""Of the length of a step: how much slope may be left, the longest, how often it is asked, how far from the ends of an interval."""


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


class DenseRows:
    """The equation in rows, W as an array."""

    def __init__(self, J: np.ndarray, Y: np.ndarray):
        self.W = J @ Y.T

    def motion(self, force: np.ndarray) -> np.ndarray:
        """u = W λ."""
        return self.W @ force

    def solve(self, slopes: ComplianceSlopes, missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Δλ and W Δλ."""
        force = np.linalg.solve(np.eye(len(missing)) - slopes.times(self.W), missing)
        return force, self.W @ force


class DenseVelocities:
    """The equation in velocities, J and Y as arrays, of the velocities that rows touch."""

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


class SparseVelocities:
    """The equation in velocities, with sparse arrays and factors."""

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


def response_of(rows: DelassusFactors, singles: int, width: int, dense: int = DENSE) -> DenseRows | DenseVelocities | SparseVelocities:
    """The equation in the smaller space, of `singles` rows by themselves and then contacts of `width` rows; `dense`: the largest dense
    matrix."""
    touched = np.zeros(len(rows.first), bool)
    touched[rows.islands] = True  # the last is that of none
    columns = np.repeat(touched[:-1], np.diff(rows.first))
    velocities = int(columns.sum())
    if min(rows.size, velocities) > dense:
        J, Y = rows.sparse_parts()
        return SparseVelocities(J, Y, (singles, len(rows.rows) - singles, width))
    J, Y = rows.wholes()
    if rows.size <= velocities:
        return DenseRows(J, Y)
    return DenseVelocities(J, Y) if velocities == len(columns) else DenseVelocities(J[:, columns], Y[:, columns])


@dataclass(frozen=True)
class CompliantContacts:
    """rows: m by themselves, then n blocks of w, the normal first; right: (m + n,) of rows that push, soft: (m + n,) their compliances;
    coefficient: (n,); free: (n, w − 1) slip without forces."""

    rows: DelassusFactors
    right: np.ndarray
    soft: np.ndarray
    coefficient: np.ndarray
    free: np.ndarray
    slip_speed: float
    h: float

    @property
    def singles(self) -> int:
        """m."""
        return len(self.right) - len(self.free)

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of rows: (m + n,) of those that push, (n, w − 1) of tangents."""
        m, (n, w) = self.singles, self.free.shape
        contacts = x[m:].reshape(n, w + 1)
        return np.concatenate([x[:m], contacts[:, 0]]), contacts[:, 1:]

    def merged(self, pushes: np.ndarray, across: np.ndarray) -> np.ndarray:
        """The reverse of `split`."""
        m = self.singles
        return np.concatenate([pushes[:m], np.concatenate([pushes[m:, None], across], axis=1).ravel()])

    def pushes(self, u: np.ndarray) -> np.ndarray:
        """(m + n,) p."""
        return np.maximum((self.right - self.split(u)[0]) / self.soft, 0.0)

    def bounds(self, pushes: np.ndarray) -> np.ndarray:
        """(n,) b = m p."""
        return self.coefficient * pushes[self.singles :]

    def law(self, u: np.ndarray, bound: np.ndarray | None = None) -> np.ndarray:
        """φ(u), with b of p or with these bounds."""
        push, w = self.pushes(u), self.free + self.h * self.split(u)[1]
        b = self.bounds(push) if bound is None else bound
        return self.merged(push, -(b / np.maximum(lengths(w), self.slip_speed))[:, None] * w)

    def slopes(self, u: np.ndarray, bound: np.ndarray, follow: float) -> ComplianceSlopes:
        """φ′(u); `follow`: 1 if f follows p, 0 if bounds are kept."""
        along, across = self.split(u)
        steep, w = np.where(self.right > along, -1.0 / self.soft, 0.0), self.free + self.h * across
        (n, k), length = w.shape, lengths(w)
        slow, slides = np.maximum(length, self.slip_speed), length > self.slip_speed
        way = w * np.where(slides, over(np.ones(n), length), 0.0)[:, None]
        blocks = np.zeros((n, k + 1, k + 1))
        blocks[:, 0, 0] = steep[self.singles :]
        blocks[:, 1:, 1:] = (-self.h * bound / slow)[:, None, None] * (np.eye(k) - way[:, :, None] * way[:, None, :])
        blocks[:, 1:, 0] = (-follow * self.coefficient * steep[self.singles :] / slow)[:, None] * w
        return ComplianceSlopes(steep[: self.singles], blocks)


@dataclass(frozen=True)
class CompliantForces:
    """λ and W λ, the number of solutions, and how far λ is from its law, of the largest force."""

    forces: np.ndarray
    motion: np.ndarray
    iterations: int
    residual: float


def lengths(x: np.ndarray) -> np.ndarray:
    """|x| of rows."""
    return np.sqrt(np.einsum("nk,nk->n", x, x))


def over(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, 0 where b is not positive."""
    return np.where(b > 0.0, a / np.where(b > 0.0, b, 1.0), 0.0)


def missing(law: np.ndarray, force: np.ndarray) -> float:
    """How far forces are from their law, of the largest one."""
    largest = max(np.abs(law).max(initial=0.0), np.abs(force).max(initial=0.0))
    return float(np.abs(law - force).max(initial=0.0) / largest) if largest > 0.0 else 0.0


class CompliantSearch:
    """Forces and their motion on the way to the solution."""

    def __init__(self, problem: CompliantContacts, dense: int):
        self.problem = problem
        self.responses = response_of(problem.rows, problem.singles, problem.free.shape[1] + 1, dense)
        self.force, self.motion, self.count = np.zeros(problem.rows.size), np.zeros(problem.rows.size), 0

    @property
    def residual(self) -> float:
        """How far the forces are from their law."""
        return missing(self.problem.law(self.motion), self.force)

    def recompute_motion(self) -> None:
        """The motion without the round-off of what was added up, which a steep law makes large."""
        self.motion = self.responses.motion(self.force)

    def solve_convex(self, bound: np.ndarray, tolerance: float) -> None:
        """The convex problem of these bounds."""
        while self.count < ITERATIONS:
            law = self.problem.law(self.motion, bound)
            if missing(law, self.force) < tolerance:
                return
            change, moved = self._step(law, bound, 0.0)
            length = self._length(change, moved, bound)
            self.force, self.motion = self.force + length * change, self.motion + length * moved

    def _step(self, law: np.ndarray, bound: np.ndarray, follow: float) -> tuple[np.ndarray, np.ndarray]:
        """Newton's step, and how it moves the rows."""
        self.count += 1
        return self.responses.solve(self.problem.slopes(self.motion, bound, follow), law - self.force)

    def _length(self, change: np.ndarray, moved: np.ndarray, bound: np.ndarray) -> float:
        """How long a step is best: where the slope of what is to be least, which only grows, is a tenth of what it was."""

        def slope(x: float) -> float:
            return float(moved @ (self.force + x * change - self.problem.law(self.motion + x * moved, bound)))

        low, high, at_low, at_high = 0.0, 1.0, slope(0.0), slope(1.0)
        enough, x, here = EXACT * abs(at_low), 1.0, at_high
        while here < -enough and high < LONGEST:
            low, at_low, high = high, here, 2.0 * high
            x, at_high = high, slope(high)
            here = at_high
        for _ in range(TRIES):
            if abs(here) <= enough:
                break
            x = low - at_low * (high - low) / (at_high - at_low)
            x = min(max(x, low + INSIDE * (high - low)), high - INSIDE * (high - low))
            here = slope(x)
            if here < 0.0:
                low, at_low = x, here
            else:
                high, at_high = x, here
        return x

    def finish(self) -> bool:
        """Whole steps on the law itself, while they help; if they do not lead to the end, all is as it was before them."""
        kept, left = (self.force, self.motion), self.residual
        for turn in range(STEPS):
            push = self.problem.pushes(self.motion)
            change, _ = self._step(self.problem.law(self.motion), self.problem.bounds(push), 1.0)
            self.force = self.force + change
            self.recompute_motion()
            before, left = left, self.residual
            if left <= TOLERANCE:
                return True
            if left > 2.0 * before or (turn > 1 and left > 0.5 * before) or self.count >= ITERATIONS:
                break
        self.force, self.motion = kept
        return False


def compliant_forces(problem: CompliantContacts, dense: int = DENSE) -> CompliantForces:
    """All forces of a step; `dense`: the largest dense matrix."""
    size = problem.rows.size
    if not (problem.right > 0.0).any():
        return CompliantForces(np.zeros(size), np.zeros(size), 0, 0.0)
    search, bound, change, near, share = CompliantSearch(problem, dense), np.zeros(len(problem.free)), 1.0, NEAR, 1.0
    while search.count < ITERATIONS:
        search.solve_convex(bound, max(PART * share * change, 0.01 * TOLERANCE))
        search.recompute_motion()
        wanted, before = problem.bounds(problem.pushes(search.motion)), change
        change = float(np.abs(wanted - bound).max(initial=0.0) / max(wanted.max(initial=0.0), 1e-300))
        share = max(LEAST, CUT * share) if change > WORSE * before else min(1.0, MORE * share)
        bound = bound + share * (wanted - bound)
        if search.residual <= TOLERANCE:
            break
        if change < near:
            if search.finish():
                break
            near *= NEARER
    return CompliantForces(allowed(problem, search.force), search.motion, search.count, search.residual)


def allowed(problem: CompliantContacts, force: np.ndarray) -> np.ndarray:
    """The forces without what pulls, and without what exceeds Coulomb's bound where it is but round-off of the largest force. (To cut off
    more would be felt: the law turns a change of forces into thousands of times as much.)"""
    pushes, across = problem.split(force)
    pushes, size = np.maximum(pushes, 0.0), lengths(across)
    bound = problem.coefficient * pushes[problem.singles :]
    cut = (size > bound) & (size < ROUND_OFF * np.abs(force).max())
    return problem.merged(pushes, across * np.where(cut, over(bound, size), 1.0)[:, None])
