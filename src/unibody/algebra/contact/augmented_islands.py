"""Proximal steps by Newton's method (`augmented`) for rows on islands of velocities of any sizes, W = J Yᵀ never made.

Units are those of `scaling`: λ = D x, û = D u, every cone ‖x_t‖ ≤ x_n. Tangents without friction stay as rows of zeros.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from unibody.algebra.contact.augmented import RowLaws
from unibody.algebra.contact.augmented_restart import settle
from unibody.algebra.contact.delassus import gather, spread
from unibody.algebra.contact.pgs import CONVEX, COULOMB, natural_map
from unibody.algebra.contact.problem import Blocks, Residual, Solution
from unibody.algebra.contact.scaled_delassus import ScaledVelocities
from unibody.algebra.contact.scaling import AT_MOST, ROUND_OFF
from unibody.kernel import Floats, Ints, kernel


class RowOperator(Protocol):
    """first: (islands + 1,) where the velocities of each island begin; rows: (k,) of each block, from start on (k + 1,); islands: (k, 2),
    −1 for none; J, Y: from place on (k + 1,), velocity by velocity, rows next to each other."""

    first: np.ndarray
    rows: np.ndarray
    islands: np.ndarray
    start: np.ndarray
    place: np.ndarray
    J: np.ndarray
    Y: np.ndarray

    def times(self, x: np.ndarray) -> np.ndarray:
        """W x."""


@kernel
def scale_rows(
    start: Ints, place: Ints, friction: Floats, b_out: Floats, J_out: Floats, Y_out: Floats, D_out: Floats, own_out: Floats
) -> None:
    """D of all rows; J, Y and b times D; and each block's own part of Ŵ (4×4)."""
    own_out[:] = 0.0
    for k in range(start.size - 1):
        at, rows, o = start[k], start[k + 1] - start[k], 16 * k
        for p in range(place[k], place[k + 1], rows):
            for r in range(rows):
                for c in range(rows):
                    own_out[o + 4 * r + c] += J_out[p + r] * Y_out[p + c]
        largest = 0.0
        for r in range(rows):
            D_out[at + r] = 1.0 if r == 0 else friction[3 * k + r - 1]
            largest = max(largest, own_out[o + 5 * r] * D_out[at + r] ** 2)
        scale = 1.0 / np.sqrt(largest) if largest > 1e-300 else 1.0
        for r in range(rows):
            D_out[at + r] *= scale
            b_out[at + r] *= D_out[at + r]
        for r in range(rows):
            for c in range(rows):
                own_out[o + 4 * r + c] *= D_out[at + r] * D_out[at + c]
        for p in range(place[k], place[k + 1], rows):
            for r in range(rows):
                J_out[p + r] *= D_out[at + r]
                Y_out[p + r] *= D_out[at + r]


def augmented_islands(
    W: RowOperator, b: np.ndarray, blocks: Blocks, law: str, warm: np.ndarray | None, tolerance: float, iterations: int
) -> Solution:
    """Impulses from `warm` by at most so many of Newton's steps."""
    number, m = COULOMB if law == "coulomb" else CONVEX, b.size
    D, own, J, Y, b_scaled = np.empty(m), np.empty(16 * len(W.rows)), W.J.copy(), W.Y.copy(), np.array(b, float)
    scale_rows(W.start, W.place, np.ascontiguousarray(blocks.friction, float).ravel(), b_scaled, J, Y, D, own)
    divisor = np.where(D > 0.0, D, 1.0)
    normal = W.start[:-1]
    lower, upper = blocks.lower / D[normal], blocks.upper / D[normal]
    if warm is None:
        x = np.clip(np.zeros(m), np.repeat(lower, W.rows), np.repeat(upper, W.rows))
    else:
        x = np.where(D > 0.0, np.asarray(warm, float) / divisor, 0.0)
    laws = RowLaws(number, W.start, lower, upper, np.concatenate([np.zeros(m), b_scaled, divisor]), own.reshape(-1, 4, 4))
    best = settle(laws, ScaledVelocities.grouped(W.first, W.islands, W.place, J, Y), x, tolerance, iterations)
    impulse = D * best.x
    velocity, F = W.times(impulse) + b, np.empty(m)
    natural_map(number, W.start, lower, upper, best.x, D * velocity, F)
    largest = float(np.abs(impulse).max(initial=0.0))
    missed = float(np.abs(F / divisor).max(initial=0.0))
    part = float(np.abs(D * F).max(initial=0.0))
    residual = Residual(missed, part / largest if largest else float(part > 0.0))
    given = float(np.abs(b).max(initial=0.0))
    slack = min(ROUND_OFF * (largest_term(J, Y, W, best.x, divisor) + given), AT_MOST * given)
    good = residual.velocity <= max(tolerance, slack)
    told = "; ".join(best.notes)
    note = told if good else f"{told}; no solution within {tolerance:g}: the residual is {residual.velocity:.1e}"
    return Solution(impulse, velocity, residual, best.iterations, "augmented", note, bool(good))


def largest_term(J: np.ndarray, Y: np.ndarray, W: RowOperator, x: np.ndarray, D: np.ndarray) -> float:
    """The largest sum of the sizes of the terms that make up a row's velocity."""
    islands, motion, u = np.ascontiguousarray(W.islands, np.int64).ravel(), np.zeros(W.first[-1]), np.zeros(x.size)
    spread(W.first, islands, W.start, W.place, np.abs(Y), np.abs(x), motion)
    gather(W.first, islands, W.start, W.place, np.abs(J), motion, u)
    return float((u / D).max(initial=0.0))
