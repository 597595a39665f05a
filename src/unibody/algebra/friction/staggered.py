"""Staggered projections: friction whose bounds depend on contact forces that in turn depend on it (paper 000 §5, Alg. 2 and 3).

Two problems are solved in turn until the contact forces no longer change:

    contact     forces α for the friction u at hand, and from them bounds b(α) ≥ 0 and the slip velocity s(u)
    friction    minimise ½ (u⁺ − u)ᵀ H (u⁺ − u) + s(u)ᵀ u⁺,   |u⁺_k| ≤ b_k         (Eq. 12; H: slip per friction)

so that friction of a block k (one number, or two across a normal: a disc) either stops its slip or opposes it at its bound. The two
algorithms differ in the contact problem only. Staggered projections (SP) solve a quadratic program for α ≥ 0 (Eq. 11), or for α of either
sign where contacts hold both ways. Bilateral staggered projections (BISP) need none: where coordinates satisfy the contacts by themselves,
whoever calls `stagger` evaluates the motion, reads the reactions and distributes them (Eq. 15, 16).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unibody.algebra.friction.bounded import solve_friction
from unibody.algebra.qp import solve_bounded

LOST = 1e-12
"""Part of the largest eigenvalue below which rows repeat others."""

SETTLED = 0.5
"""Part of the last change above which the next bounds are averaged with the last: iterations that swing or crawl."""


@dataclass(frozen=True)
class FrictionPoint:
    """Answer of a contact problem: `load`, what is compared between iterations; `bounds`, one a block; `slip` at the friction that was
    asked about; `response` H (m×m)."""

    load: np.ndarray
    bounds: np.ndarray
    slip: np.ndarray
    response: np.ndarray


@dataclass(frozen=True)
class Staggered:
    """Friction u, the contact answer that it was found from, how many times friction was solved for, and the last relative change of the
    load; `converged`: whether that is below the tolerance."""

    friction: np.ndarray
    contact: FrictionPoint
    iterations: int
    change: float
    converged: bool


def stagger(
    contact: Callable[[np.ndarray], FrictionPoint], widths: np.ndarray, friction: np.ndarray, tolerance: float = 1e-8, most: int = 100,
    settled: float = SETTLED,
) -> Staggered:  # fmt: skip
    """Alternate between contact and friction, from a warm start. `widths`: 1 or 2 a block; `settled`: part of the last change above which
    bounds are averaged (infinite: never, as in the paper)."""
    u = np.array(friction, float)
    answer = contact(u)
    bounds, last, change = answer.bounds, np.zeros_like(answer.load), np.inf
    for k in range(most):
        size = float(np.linalg.norm(answer.load))
        moved = float(np.linalg.norm(answer.load - last)) / size if size > 0.0 else 0.0
        if k > 0 and moved <= tolerance:
            return Staggered(u, answer, k, moved, True)
        crawls = k > 1 and moved > settled * change
        bounds = 0.5 * (bounds + answer.bounds) if crawls else answer.bounds
        last, change = answer.load, moved
        u = solve_friction(answer.response, answer.slip - answer.response @ u, widths, bounds, u)
        answer = contact(u)
    size = float(np.linalg.norm(answer.load))
    change = float(np.linalg.norm(answer.load - last)) / size if size > 0.0 else 0.0
    return Staggered(u, answer, most, change, change <= tolerance)


class Mixing:
    """Iterates x of a fixed point x = g(x) ≥ 0 mixed so that the differences of the last few foretell where g(x) − x is none (Anderson's
    method); where that has made matters worse, half a step from g alone, and anew."""

    def __init__(self, depth: int = 4):
        self.depth = depth
        self._x: list[np.ndarray] = []
        self._f: list[np.ndarray] = []

    def next(self, x: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Where to look next, after g = g(x).

        >>> mixing, x = Mixing(), np.array([1.0])
        >>> for _ in range(2): x = mixing.next(x, 4.0 - 0.9 * x)
        >>> round(float(x[0]), 9)
        2.105263158
        """
        f = g - x
        if self._f and np.linalg.norm(f) > 2.0 * np.linalg.norm(self._f[-1]):
            self._x, self._f = [], []
            return np.maximum(x + 0.5 * f, 0.0)
        self._x, self._f = [*self._x, x][-self.depth :], [*self._f, f][-self.depth :]
        if len(self._f) < 2:
            return g
        dF = np.stack([f - old for old in self._f[:-1]], axis=1)
        dG = dF + np.stack([x - old for old in self._x[:-1]], axis=1)
        return np.maximum(g - dG @ np.linalg.lstsq(dF, f, rcond=1e-10)[0], 0.0)


def staggered_projections(
    inverse: Callable[[np.ndarray], np.ndarray], N: np.ndarray, T: np.ndarray, v: np.ndarray,
    bounds: Callable[[np.ndarray], np.ndarray], widths: np.ndarray, friction: np.ndarray, *, bilateral: bool = False,
    tolerance: float = 1e-8, most: int = 100,
) -> tuple[np.ndarray, np.ndarray, Staggered]:  # fmt: skip
    """Alg. 2 in impulses: v⁺ = v + M⁻¹ (Nᵀ α + Tᵀ β) with N v⁺ ≥ 0, α ≥ 0 (`bilateral`: N v⁺ = 0, α of least norm) and |β| ≤ bounds(α).

    `inverse` gives M⁻¹ X of a matrix. Returns v⁺, α, and what became of the friction β."""
    to_normal, to_tangent = inverse(N.T), inverse(T.T)
    normal, across, response = N @ to_normal, N @ to_tangent, T @ to_tangent
    values, vectors = np.linalg.eigh(normal)
    kept = values > LOST * values.max(initial=0.0)
    root = np.sqrt(values[kept])[:, None] * vectors.T[kept]  # |root α| is the norm of Nᵀ α in the metric of M⁻¹
    least = (vectors[:, kept] / values[kept]) @ vectors.T[kept]
    alpha = np.zeros(len(N))

    def equations(b: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        def solve(held: np.ndarray) -> np.ndarray:
            x = np.zeros(b.size)
            x[held] = np.linalg.lstsq(normal[np.ix_(held, held)], b[held], rcond=1e-12)[0]
            return x

        return solve

    def contact(beta: np.ndarray) -> FrictionPoint:
        b = -(N @ v + across @ beta)
        alpha[:] = least @ b if bilateral else solve_bounded(normal, b, np.ones(b.size, bool), equations(b))[0]
        slip = T @ v + across.T @ alpha + response @ beta
        return FrictionPoint(root @ alpha, bounds(alpha), slip, response)

    found = stagger(contact, widths, friction, tolerance, most)
    return v + to_normal @ alpha + to_tangent @ found.friction, alpha, found
