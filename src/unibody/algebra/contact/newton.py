"""Nonsmooth Newton for contact with friction: Newton's method on a map that is zero exactly at solutions and smooth in pieces.

    F(x, û(x)) = 0,    û = Ŵ x + b̂

in the form of Alart and Curnier or of Fischer and Burmeister (`cones`). With the slopes A = ∂F/∂x and B = ∂F/∂û a step solves

    [A + B (Ŵ + ε)] d = −F

on the rows of the blocks that press (elsewhere B = 0, A = 1, d = −F), and is shortened until ½‖F‖² falls enough. ε > 0 makes the
matrix regular where contacts repeat each other: it is a step of the proximal-point method, and falls with ‖F‖, so that convergence stays
fast. Where no length of step reduces ‖F‖ (the pieces still change), sweeps of Gauss–Seidel take over, then Newton's method is tried again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from unibody.algebra.contact.cones import alart_curnier, fischer_burmeister
from unibody.algebra.contact.pgs import CONVEX, COULOMB
from unibody.algebra.contact.scaling import Units
from unibody.kernel import Floats, Ints, kernel

FUNCTIONS = ("alart-curnier", "fischer-burmeister")
DENSE = 450
"""Pressing rows up to which the equations are solved as a dense matrix."""
HALVINGS = 12
LARGEST, LEAST = 1e-3, 1e-8
FALLING = {COULOMB: (1e-4, 1e-6, 1e-2), CONVEX: (1e-2, 1e-3, 1e-4)}
"""ε: its limits, and the part of ‖F‖ that it is between them, at first and after each failure (as tried on towers and piles). Round-off, of
which ε lets 1 / ε through where contacts repeat each other, moves the loads under a face that lands by 1e-8 of them, and not by 1e-4."""
SUFFICIENT = 1e-4
FIRST_SWEEPS = 12
MOST_SWEEPS = 512
FAILURES = 16
"""Sweeps before the first step, the most between two, and how often Newton's method may be resumed."""


@dataclass
class Progress:
    """Where an algorithm stands, in units: the best x so far and what it took."""

    x: np.ndarray
    velocity: float = np.inf
    iterations: int = 0
    notes: list[str] = field(default_factory=list)

    def offer(self, units: Units, x: np.ndarray, u: np.ndarray) -> float:
        """The residual's velocity at x, which is kept if it is the best."""
        found = units.residual(x, u).velocity
        if found < self.velocity:
            self.x, self.velocity = x.copy(), found
        return found


@kernel
def fill_matrix(size: int, epsilon: float, start: Ints, A: Floats, B: Floats, W: Floats, pressing: Ints, rows: Ints, G_out: Floats) -> None:
    """A + B (Ŵ + ε) on the rows of the pressing blocks; `size`: of Ŵ."""
    n = rows.size
    i = 0
    for b in range(pressing.size):
        k = pressing[b]
        at, count = start[k], start[k + 1] - start[k]
        first = i
        for r in range(count):
            for j in range(n):
                G_out[i * n + j] = 0.0
            for c in range(count):
                s = B[16 * k + 4 * r + c]
                if s != 0.0:
                    row = (at + c) * size
                    for j in range(n):
                        G_out[i * n + j] += s * W[row + rows[j]]
                G_out[i * n + first + c] += A[16 * k + 4 * r + c] + s * epsilon
            i += 1


@kernel
def through(start: Ints, B: Floats, v: Floats, y_out: Floats) -> None:
    """B v."""
    for k in range(start.size - 1):
        at, count = start[k], start[k + 1] - start[k]
        for r in range(count):
            y = 0.0
            for c in range(count):
                y += B[16 * k + 4 * r + c] * v[at + c]
            y_out[at + r] = y


class NewtonStep:
    """Newton's equations at a point, dense or sparse."""

    def __init__(self, units: Units):
        self.units = units
        whole = units.dense is not None or units.size <= DENSE
        self.W = units.dense_matrix() if whole else None
        self.sparse = None if whole else units.sparse_matrix()
        self.flat = None if self.W is None else np.ascontiguousarray(self.W).ravel()

    def times(self, d: np.ndarray) -> np.ndarray:
        return self.W @ d if self.W is not None else self.sparse @ d

    def solve(self, F: np.ndarray, A: np.ndarray, B: np.ndarray, epsilon: float) -> np.ndarray:
        """d, not finite where the equations have no solution."""
        units = self.units
        blocks = B.reshape(-1, 16)
        pressing = np.flatnonzero(blocks.any(axis=1))
        rows = np.flatnonzero(blocks.any(axis=1)[units.owner])
        d = -F
        if not rows.size:
            return d
        d[rows] = 0.0
        coupled = np.empty(units.size)
        through(units.start, B, self.times(d), coupled)
        right = -F[rows] - coupled[rows]
        if self.flat is not None:
            G = np.empty(rows.size**2)
            fill_matrix(units.size, epsilon, units.start, A, B, self.flat, pressing, rows, G)
            try:
                d[rows] = np.linalg.solve(G.reshape(rows.size, -1), right)
            except np.linalg.LinAlgError:
                d[rows] = np.nan
            return d
        d[rows] = self._sparse(A, B, rows, right, epsilon)
        return d

    def _block_diagonal(self, slope: np.ndarray):
        import scipy.sparse as sp

        units = self.units
        place = np.arange(units.size) - units.start[units.owner]
        width = units.rows[units.owner]
        i = np.repeat(np.arange(units.size), width)
        c = np.arange(i.size) - np.repeat(np.cumsum(width) - width, width)
        return sp.csr_array((slope[16 * units.owner[i] + 4 * place[i] + c], (i, units.start[units.owner[i]] + c)), shape=(units.size,) * 2)

    def _sparse(self, A: np.ndarray, B: np.ndarray, rows: np.ndarray, right: np.ndarray, epsilon: float) -> np.ndarray:
        import scipy.sparse as sp
        import scipy.sparse.linalg as spl

        left, right_slope = (self._block_diagonal(part)[rows][:, rows] for part in (A, B))
        G = left + right_slope @ (self.sparse[rows][:, rows] + epsilon * sp.eye_array(rows.size))
        try:
            return spl.splu(G.tocsc()).solve(right)
        except RuntimeError:
            return np.full(rows.size, np.nan)


def newton(
    units: Units, x: np.ndarray, tolerance: float, iterations: int, failures: int = FAILURES, first: int = FIRST_SWEEPS,
    function: str = FUNCTIONS[0],
) -> Progress:  # fmt: skip
    """From x, in units, after the first sweeps; given up after so many failures of the line search."""
    step, best, map_of = NewtonStep(units), Progress(x.copy()), fischer_burmeister if function == FUNCTIONS[1] else alart_curnier
    F, A, B = np.empty(units.size), np.empty(16 * units.rows.size), np.empty(16 * units.rows.size)
    swept, failed, sweeps = 0, 0, FIRST_SWEEPS
    u = units.velocity(x)
    if best.offer(units, x, u) > tolerance and first:
        swept += units.sweep(x, first)
        u = units.velocity(x)
        best.offer(units, x, u)
    while best.iterations < iterations and best.velocity > max(tolerance, units.round_off(best.x)):
        map_of(units.law, units.start, units.lower, units.upper, x, u, F, A, B)
        merit = float(F @ F)
        d = step.solve(F, A, B, max(min(LARGEST, FALLING[units.law][failed % 3] * np.sqrt(merit)), LEAST))
        best.iterations += 1
        moved = (
            _shorten(partial(map_of, units.law, units.start, units.lower, units.upper), x, u, d, step.times(d), F, A, B, merit)
            if np.isfinite(d).all()
            else None
        )
        if moved is not None:
            x, u = moved, units.velocity(moved)
            best.offer(units, x, u)
            continue
        failed += 1
        if failed > failures:
            break
        swept += units.sweep(x, sweeps)
        sweeps = min(2 * sweeps, MOST_SWEEPS)
        u = units.velocity(x)
        best.offer(units, x, u)
    best.notes.append(f"{best.iterations} Newton steps, {swept} sweeps")
    return best


def _shorten(
    evaluate: Callable[..., None], x: np.ndarray, u: np.ndarray, d: np.ndarray, Wd: np.ndarray, F: np.ndarray, A: np.ndarray, B: np.ndarray,
    merit: float,
) -> np.ndarray | None:  # fmt: skip
    """x + t d for the first of t = 1, ½, ¼, … that reduces ‖F‖² enough, or None."""
    t = 1.0
    for _ in range(HALVINGS):
        trial = x + t * d
        evaluate(trial, u + t * Wd, F, A, B)
        if float(F @ F) <= (1.0 - 2.0 * SUFFICIENT * t) * merit:
            return trial
        t *= 0.5
    return None
