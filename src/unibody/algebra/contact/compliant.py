"""Forces of contacts that give way: convex problems with friction bounded by what pressed last, and Newton's method at their end.

All forces are functions of the motion u = W λ of their rows, changes of accelerations over a step h,

    p = max(0, (right − u)/soft)                    of rows that push: one-sided ones and normals
    f = −b w / max(|w|, w_s),   w = free + h u      of the tangents of a contact, b = m p with Coulomb's coefficient m

so that λ = φ(W λ) is to be solved. With bounds b kept, φ(u) is minus the slope of a convex function ψ(u), and λ makes ½ λᵀ W λ + ψ(W λ)
least: Newton's method, each step as long as that falls, finds it from anywhere. Then b follows p, as far as it does good; near the end
whole steps of Newton's method on φ itself, in which f follows p as well, finish within a few, or are given up for another turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.algebra.contact.compliant_response import DENSE, ComplianceSlopes, soft_answers
from unibody.algebra.contact.delassus import DelassusFactors

ITERATIONS, TOLERANCE = 300, 1e-9
"""The most solutions of a step, and how far forces may be from their law, of the largest force."""

ROUND_OFF = 1e-14

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


@dataclass(frozen=True)
class SoftContacts:
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

    def joined(self, pushes: np.ndarray, across: np.ndarray) -> np.ndarray:
        """The reverse."""
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
        return self.joined(push, -(b / np.maximum(lengths(w), self.slip_speed))[:, None] * w)

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
class SoftForces:
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


class Search:
    """Forces and their motion on the way to the solution."""

    def __init__(self, problem: SoftContacts, dense: int):
        self.problem = problem
        self.responses = soft_answers(problem.rows, problem.singles, problem.free.shape[1] + 1, dense)
        self.force, self.motion, self.count = np.zeros(problem.rows.size), np.zeros(problem.rows.size), 0

    @property
    def residual(self) -> float:
        """How far the forces are from their law."""
        return missing(self.problem.law(self.motion), self.force)

    def tidy(self) -> None:
        """The motion without the round-off of what was added up, which a steep law makes large."""
        self.motion = self.responses.motion(self.force)

    def settle(self, bound: np.ndarray, tolerance: float) -> None:
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
            self.tidy()
            before, left = left, self.residual
            if left <= TOLERANCE:
                return True
            if left > 2.0 * before or (turn > 1 and left > 0.5 * before) or self.count >= ITERATIONS:
                break
        self.force, self.motion = kept
        return False


def soft_forces(problem: SoftContacts, dense: int = DENSE) -> SoftForces:
    """All forces of a step; `dense`: the largest dense matrix."""
    size = problem.rows.size
    if not (problem.right > 0.0).any():
        return SoftForces(np.zeros(size), np.zeros(size), 0, 0.0)
    search, bound, change, near, share = Search(problem, dense), np.zeros(len(problem.free)), 1.0, NEAR, 1.0
    while search.count < ITERATIONS:
        search.settle(bound, max(PART * share * change, 0.01 * TOLERANCE))
        search.tidy()
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
    return SoftForces(allowed(problem, search.force), search.motion, search.count, search.residual)


def allowed(problem: SoftContacts, force: np.ndarray) -> np.ndarray:
    """The same without what pulls, and without what exceeds Coulomb's bound where it is but round-off of the largest force. (To cut off
    more would be felt: the law answers to a change of forces with thousands of times as much.)"""
    pushes, across = problem.split(force)
    pushes, size = np.maximum(pushes, 0.0), lengths(across)
    bound = problem.coefficient * pushes[problem.singles :]
    cut = (size > bound) & (size < ROUND_OFF * np.abs(force).max())
    return problem.joined(pushes, across * np.where(cut, over(bound, size), 1.0)[:, None])
