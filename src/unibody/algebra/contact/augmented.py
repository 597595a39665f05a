"""The augmented method: proximal steps by Newton's method (`proximal_newton`), restarted by convex problems where they stall.

Under Coulomb's law nothing is minimised, and ‖G‖ can have minima that are no solutions; at kinks between sticking, sliding and parting
Newton's steps then grow short. With De Saxcé's term held at the slips of the moment (`de_saxce`) the problem is convex, and the
same steps minimise something. Its solution is near, often with the right contacts pressing and sliding, and from there a few steps under
Coulomb's law mostly end at round-off. Where bodies roll or still settle, many rounds may not be enough. The numbers below were chosen on
problems of the scenes dominoes, ragdoll-pile and terrain-vehicle and of piles, on which docs/design tells what they gain.

W comes in factors over islands of velocities, and is never made; or dense, which is one island with the factor of Cholesky's method with
pivots, as far as the rank of W goes. Everything is in scaled variables (`scaling`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unibody.algebra.block.lu import Plan, plan_of
from unibody.algebra.contact.de_saxce import Rounds, Slips
from unibody.algebra.contact.delassus import DelassusFactors, gather, spread
from unibody.algebra.contact.local_solve import local_tables
from unibody.algebra.contact.problem import CONVEX, COULOMB, LAWS, Blocks, Law, Solution
from unibody.algebra.contact.proximal_newton import NEARLY, evaluate_residual, proximal_steps, round_off
from unibody.algebra.contact.scaling import (
    AT_MOST,
    ROUND_OFF,
    Progress,
    ScaledProblem,
    largest_given,
    scale_factors,
    scaled_residual,
)  # fmt: skip

ENDLESS = 10**6
"""Failures, where these are not counted."""
FAILURES = 1
"""Of proximal steps under Coulomb's law, after which rounds begin."""
ROUND, POLISH = 60, 25
"""Newton's steps for a convex problem, and under Coulomb's law after it; where round-off is near at first, all rounds together get as many
as one."""
RANK = 1e-14
"""Part of the largest diagonal below which what is left of a dense W is round-off."""


@dataclass(frozen=True)
class RowLaws:
    """The laws of the rows, scaled: start, lower and upper of the blocks, b̂ and D of the rows, and the blocks' own parts of Ŵ (k, 4, 4)."""

    law: int
    start: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    b: np.ndarray
    D: np.ndarray
    own: np.ndarray

    @cached_property
    def table(self) -> np.ndarray:
        """The tables of the blocks' local solves."""
        return local_tables(self.law, np.diff(self.start), self.own)


@dataclass(frozen=True)
class ScaledFactors:
    """Ŵ = J Yᵀ, laid out as in `DelassusFactors`, islands numbered in the order of elimination. first: (islands + 1,) where the velocities
    of each island begin; islands: (2 k,) that each block touches, −1 for none; place: (k + 1,) where its numbers begin in J and Y."""

    first: np.ndarray
    islands: np.ndarray
    place: np.ndarray
    J: np.ndarray
    Y: np.ndarray
    plan: Plan

    @classmethod
    def of(cls, sizes: np.ndarray, islands: np.ndarray, place: np.ndarray, J: np.ndarray, Y: np.ndarray) -> ScaledFactors:
        """From islands of these sizes, numbered as one likes, (k, 2) of them touched by blocks."""
        plan, both = plan_of(sizes, islands)
        first = np.concatenate([[0], np.cumsum(sizes[np.argsort(plan.position)])]).astype(np.int64)
        return cls(first, both, place, J, Y, plan)

    @classmethod
    def from_dense(cls, scaled: ScaledProblem) -> ScaledFactors:
        """Ŵ = L Lᵀ by Cholesky's method with pivots; all velocities are one island."""
        from scipy.linalg.lapack import dpstrf

        m = scaled.size
        if not m:
            return cls.of(np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros(1, np.int64), np.zeros(0), np.zeros(0))
        found, pivots, rank, _ = dpstrf(scaled.W, tol=RANK * max(float(np.diag(scaled.W).max()), 1e-300), lower=1)
        L = np.zeros((m, rank))
        L[pivots - 1] = np.tril(found)[:, :rank]
        numbers = np.concatenate([L[i:j].T.ravel() for i, j in zip(scaled.start[:-1], scaled.start[1:], strict=True)])
        return cls.of(np.array([rank], np.int64), np.tile([0, -1], (scaled.rows.size, 1)), rank * scaled.start, numbers, numbers)


def advance(laws: RowLaws, W: ScaledFactors, x: np.ndarray, tolerance: float, iterations: int, failures: int = ENDLESS) -> Progress:
    """Proximal steps from x; at most so many of Newton's steps, but for the proximal step that is under way then, and of its failures."""
    plan, best, result = W.plan, Progress(np.ascontiguousarray(x, float).copy()), np.zeros(3)
    best.iterations = proximal_steps(
        laws.law, iterations, failures, tolerance, laws.start, W.first, W.islands, W.place, plan.in_one, laws.lower, laws.upper, W.J, W.Y,
        laws.b, laws.D, laws.table, np.zeros(plan.size + 1), best.x, result,
    )  # fmt: skip
    best.velocity = float(result[0])
    vain = f", {int(result[2])} in vain" if result[2] else ""
    best.notes.append(f"{best.iterations} Newton steps in {int(result[1])} proximal ones{vain}")
    return best


def advance_restarted(laws: RowLaws, W: ScaledFactors, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
    """From x, with rounds of convex problems where steps stall; at most so many of Newton's steps, but for the round that is under way
    then."""
    if laws.law != COULOMB or not (np.diff(laws.start) > 1).any():
        return advance(laws, W, x, tolerance, iterations)
    first = advance(laws, W, x, tolerance, iterations, FAILURES)
    if first.velocity <= tolerance:
        return first
    m, slips = first.x.size, Slips(laws.start, laws.D)
    convex, normal = replace(laws, law=CONVEX, b=laws.b.copy()), slips.normal
    moved, u, F = np.empty(W.first[-1]), np.empty(m), np.empty(m)
    where = (laws.start, W.first, W.islands, W.place)

    def evaluate(x: np.ndarray) -> tuple[np.ndarray, float]:
        found = evaluate_residual(laws.law, *where, laws.lower, laws.upper, W.J, W.Y, laws.b, laws.D, x, moved, u, F)
        return u.copy(), found

    def enough(x: np.ndarray) -> float:
        return round_off(*where, laws.lower, W.J, W.Y, laws.b, laws.D, x, moved, u)

    def relaxed(s: np.ndarray, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
        convex.b[normal] = laws.b[normal] + s
        return advance(convex, W, x, tolerance, min(iterations, ROUND))

    def polish(x: np.ndarray) -> Progress:
        return advance(laws, W, x, tolerance, POLISH, FAILURES)

    left = iterations - first.iterations
    if first.velocity <= NEARLY * float((np.abs(laws.b) / laws.D).max(initial=0.0)):
        left = min(left, ROUND)
    found = Rounds(evaluate, enough, relaxed, polish, slips).run(first.x, tolerance, left)
    found.iterations += first.iterations
    found.notes = first.notes if found.notes[-1].startswith("0 ") else first.notes + found.notes
    return found


def augmented(scaled: ScaledProblem, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
    """From x, on a dense W."""
    laws = RowLaws(scaled.law, scaled.start, scaled.lower, scaled.upper, scaled.b, scaled.D, scaled.own)
    return advance_restarted(laws, ScaledFactors.from_dense(scaled), x, tolerance, iterations)


def solve_augmented(
    W: DelassusFactors, b: np.ndarray, blocks: Blocks, law: Law, warm: np.ndarray | None, tolerance: float, iterations: int
) -> Solution:
    """Impulses from `warm` by at most so many of Newton's steps, W in factors. Tangents without friction stay, as rows of zeros."""
    number, m = LAWS.index(law), b.size
    # the scaling, and x of the warm start
    D, own, J, Y, b_scaled = np.empty(m), np.empty(16 * len(W.rows)), W.J.copy(), W.Y.copy(), np.array(b, float)
    scale_factors(W.start, W.place, np.ascontiguousarray(blocks.friction, float).ravel(), b_scaled, J, Y, D, own)
    divisor = np.where(D > 0.0, D, 1.0)
    normal = W.start[:-1]
    lower, upper = blocks.lower / D[normal], blocks.upper / D[normal]
    if warm is None:
        x = np.clip(np.zeros(m), np.repeat(lower, W.rows), np.repeat(upper, W.rows))
    else:
        x = np.where(D > 0.0, np.asarray(warm, float) / divisor, 0.0)
    laws = RowLaws(number, W.start, lower, upper, b_scaled, divisor, own.reshape(-1, 4, 4))
    best = advance_restarted(laws, ScaledFactors.of(np.diff(W.first), W.islands, W.place, J, Y), x, tolerance, iterations)
    # λ, u and the residual of velocities computed afresh
    impulse = D * best.x
    velocity = W.times(impulse) + b
    residual = scaled_residual(number, W.start, lower, upper, D, best.x, D * velocity)
    largest = float(np.abs(b).max(initial=0.0))
    given = largest_given(W.start, lower, b_scaled, D)
    slack = min(ROUND_OFF * (largest_term(J, Y, W, best.x, divisor) + largest), AT_MOST * given)
    good = residual.velocity <= max(tolerance, slack)
    told = "; ".join(best.notes)
    note = told if good else f"{told}; no solution within {tolerance:g}: the residual is {residual.velocity:.1e}"
    return Solution(impulse, velocity, residual, best.iterations, "augmented", note, bool(good))


def largest_term(J: np.ndarray, Y: np.ndarray, W: DelassusFactors, x: np.ndarray, D: np.ndarray) -> float:
    """The largest sum of the sizes of the terms that make up a row's velocity."""
    islands, motion, u = np.ascontiguousarray(W.islands, np.int64).ravel(), np.zeros(W.first[-1]), np.zeros(x.size)
    spread(W.first, islands, W.start, W.place, np.abs(Y), np.abs(x), motion)
    gather(W.first, islands, W.start, W.place, np.abs(J), motion, u)
    return float((u / D).max(initial=0.0))
