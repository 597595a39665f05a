"""The scaling of contact problems: variables in which every cone is ‖x_t‖ ≤ x_n and every block's diagonal is about one.

    λ = D x,  û = D u = Ŵ x + b̂,  Ŵ = D W D,   D = g^(−½) (1; μ) for a contact, g^(−½) for a single row

with g the largest diagonal of the block with the coefficients multiplied in: impulses of light and heavy bodies become numbers of one size.
The natural map F = x − P(x − û) of these variables, divided by D, is the residual in units of velocity; times D, in units of impulse.

All methods use this D: on a dense W (`scale_dense`; tangents without friction are left out, their λ is zero, their u whatever comes of it),
on W in factors over islands (`scale_factors`; such tangents stay, with D = 0) and on blocks packed for sweeps (`pgs_packing`, which also
rotates the tangents into the axes of their block).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from unibody.algebra.contact.cones import natural_map
from unibody.algebra.contact.local_solve import local_tables
from unibody.algebra.contact.problem import LAWS, ContactProblem, Residual
from unibody.kernel import Floats, Ints, inlined, kernel

ROUND_OFF, AT_MOST = 64 * 2.0**-52, 1e-6
"""What round-off may leave in the residual, as a part of the terms it is a sum of; and of the velocities given at the most."""


@inlined
def given_speed(b, one_sided):
    """Of the velocity b of a row without impulses, what its law has to deal with: of a normal, or of a row that only pushes, nothing where
    it parts. A limit that is a turn away parts with a turn per step; against that, nothing that is left over would count."""
    return max(-b, 0.0) if one_sided else abs(b)


@inlined
def block_scale(largest):
    """g^(−½) of a block in factors; 1 where nothing moves it."""
    return 1.0 / math.sqrt(largest) if largest > 1e-300 else 1.0


@kernel
def scale_dense(
    rows: Ints, lower: Floats, upper: Floats, friction: Floats, W: Floats, b: Floats, start_out: Ints, keep_out: Ints, D_out: Floats,
    b_out: Floats, lower_out: Floats, upper_out: Floats,
) -> int:  # fmt: skip
    """D, b̂ and the bounds of x for W (m × m); which rows are kept (tangents without friction are not), and where blocks begin among
    them. The number of rows kept."""
    m, n, at, usual = b.size, 0, 0, 0.0
    for k in range(rows.size):
        # g, the largest diagonal of the block with the coefficients multiplied in, stands in the place of its bound for now
        start_out[k] = n
        largest = 0.0
        for r in range(rows[k]):
            factor = 1.0 if r == 0 else friction[3 * k + r - 1]
            if factor > 0.0:
                keep_out[n] = at + r
                D_out[n] = factor
                largest = max(largest, factor * factor * W[(at + r) * m + at + r])
                n += 1
        lower_out[k] = largest
        usual = max(usual, largest)
        at += rows[k]
    start_out[rows.size] = n
    if usual == 0.0:
        usual = 1.0
    # D = g^(−½) (1; μ); a block that nothing moves gets the largest g
    for k in range(rows.size):
        g = lower_out[k] if lower_out[k] > 1e-30 * usual else usual
        for i in range(start_out[k], start_out[k + 1]):
            D_out[i] /= math.sqrt(g)
            b_out[i] = D_out[i] * b[keep_out[i]]
        first = D_out[start_out[k]]
        lower_out[k], upper_out[k] = lower[k] / first, upper[k] / first
    return n


@kernel
def scale_factors(
    start: Ints, place: Ints, friction: Floats, b_out: Floats, J_out: Floats, Y_out: Floats, D_out: Floats, own_out: Floats
) -> None:
    """D of all rows of W in factors (`delassus`); J, Y and b times D; and each block's own part of Ŵ (4×4)."""
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
        scale = block_scale(largest)
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


@kernel
def largest_given(start: Ints, lower: Floats, b: Floats, D: Floats) -> float:
    """The largest velocity that the laws of a scaled problem have to deal with, in its own units; D may be zero in tangents without
    friction."""
    most = 0.0
    for k in range(start.size - 1):
        first, one_sided = start[k], start[k + 1] - start[k] > 1 or lower[k] >= 0.0
        for i in range(first, start[k + 1]):
            if D[i] > 0.0:
                most = max(most, given_speed(b[i], one_sided and i == first) / D[i])
    return most


def scaled_residual(
    law: int, start: np.ndarray, lower: np.ndarray, upper: np.ndarray, D: np.ndarray, x: np.ndarray, u: np.ndarray
) -> Residual:
    """By how much x and û miss the laws, in the problem's own units; D may be zero in tangents without friction."""
    F = np.empty(x.size)
    natural_map(law, start, lower, upper, x, u, F)
    largest, impulse = np.abs(D * x).max(initial=0.0), np.abs(D * F).max(initial=0.0)
    return Residual.of(float(np.abs(F / np.where(D > 0.0, D, 1.0)).max(initial=0.0)), float(impulse), float(largest))


class ScaledProblem:
    """A problem with a dense W in scaled variables. size: the number of rows kept; keep: (size,) which; owner: (size,) their blocks; rows:
    (k,) of each block; start: (k + 1,) first row of each; lower, upper: (k,); W: Ŵ; b: b̂."""

    def __init__(self, problem: ContactProblem):
        self.problem, self.law = problem, LAWS.index(problem.law)
        blocks, m, k = problem.blocks, problem.b.size, problem.blocks.rows.size
        self.start, keep, D, b = np.empty(k + 1, np.int64), np.empty(m, np.int64), np.empty(m), np.empty(m)
        self.lower, self.upper = np.empty(k), np.empty(k)
        self.size = scale_dense(
            np.ascontiguousarray(blocks.rows, np.int64), np.ascontiguousarray(blocks.lower, float),
            np.ascontiguousarray(blocks.upper, float), np.ascontiguousarray(blocks.friction, float).ravel(), problem.W.ravel(), problem.b,
            self.start, keep, D, b, self.lower, self.upper,
        )  # fmt: skip
        self.keep, self.D, self.b = keep[: self.size], D[: self.size], b[: self.size]
        self.rows = np.diff(self.start)
        self.owner = np.repeat(np.arange(k), self.rows)
        self.W = problem.W[np.ix_(self.keep, self.keep)] * self.D[:, None] * self.D

    @cached_property
    def given(self) -> float:
        """The largest velocity that the laws have to deal with, in the problem's own units."""
        return largest_given(self.start, self.lower, self.b, self.D)

    @cached_property
    def own(self) -> np.ndarray:
        """(k, 4, 4) each block's own matrix."""
        own = np.zeros((self.rows.size, 4, 4))
        for d in range(1, 5):
            which = np.flatnonzero(self.rows == d)
            if which.size:
                rows = self.start[which][:, None] + np.arange(d)
                own[which, :d, :d] = self.W[rows[:, :, None], rows[:, None, :]]
        return own

    @cached_property
    def local(self) -> np.ndarray:
        """The tables of the blocks' local solves."""
        return local_tables(self.law, self.rows, self.own)

    def velocity(self, x: np.ndarray) -> np.ndarray:
        """û = Ŵ x + b̂."""
        return self.W @ x + self.b

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

    def residual(self, x: np.ndarray, u: np.ndarray) -> Residual:
        """Of x and û, in the problem's own units."""
        return scaled_residual(self.law, self.start, self.lower, self.upper, self.D, x, u)

    def round_off(self, x: np.ndarray) -> float:
        """What round-off alone may leave in the residual's velocity; never more than a small part of the velocities given."""
        terms = np.abs(self.W) @ np.abs(x) + np.abs(self.b)
        return float(min(ROUND_OFF * (terms / self.D).max(initial=0.0), AT_MOST * self.given))


@dataclass
class Progress:
    """Where a method stands, in scaled variables: the best x so far, the residual's velocity there, and the work it took."""

    x: np.ndarray
    velocity: float = np.inf
    iterations: int = 0
    notes: list[str] = field(default_factory=list)

    def offer(self, scaled: ScaledProblem, x: np.ndarray, u: np.ndarray) -> float:
        """The residual's velocity at x, which is kept if it is the best."""
        found = scaled.residual(x, u).velocity
        if found < self.velocity:
            self.x, self.velocity = x.copy(), found
        return found
