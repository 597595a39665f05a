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

CRAWLS = 0.5
"""Part of the last change above which the next bounds are averaged with the last: iterations that swing or crawl."""


@dataclass(frozen=True)
class FrictionPoint:
    """What a contact problem gave: `load`, what is compared between iterations; `bounds`, one a block; `slip` at the friction that was
    asked about; `response` H (m×m)."""

    load: np.ndarray
    bounds: np.ndarray
    slip: np.ndarray
    response: np.ndarray


@dataclass(frozen=True)
class Staggered:
    """Friction u, the contact problem's point that it was found from, how many times friction was solved for, and the last relative change
    of the load; `converged`: whether that is below the tolerance."""

    friction: np.ndarray
    contact: FrictionPoint
    iterations: int
    change: float
    converged: bool


def stagger(
    contact: Callable[[np.ndarray], FrictionPoint], widths: np.ndarray, friction: np.ndarray, tolerance: float = 1e-8, most: int = 100,
    crawls_above: float = CRAWLS,
) -> Staggered:  # fmt: skip
    """Alternate between contact and friction, from a warm start. `widths`: 1 or 2 a block; `crawls_above`: part of the last change above
    which bounds are averaged (infinite: never, as in the paper)."""
    u = np.array(friction, float)
    point = contact(u)
    bounds, last, change = point.bounds, np.zeros_like(point.load), np.inf
    for k in range(most):
        size = float(np.linalg.norm(point.load))
        moved = float(np.linalg.norm(point.load - last)) / size if size > 0.0 else 0.0
        if k > 0 and moved <= tolerance:
            return Staggered(u, point, k, moved, True)
        crawls = k > 1 and moved > crawls_above * change
        bounds = 0.5 * (bounds + point.bounds) if crawls else point.bounds
        last, change = point.load, moved
        u = solve_friction(point.response, point.slip - point.response @ u, widths, bounds, u)
        point = contact(u)
    size = float(np.linalg.norm(point.load))
    change = float(np.linalg.norm(point.load - last)) / size if size > 0.0 else 0.0
    return Staggered(u, point, most, change, change <= tolerance)
