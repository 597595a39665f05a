"""Staggered projections as paper 000 has them (Alg. 2), in impulses and in NumPy: what the tests of friction compare with, or run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unibody.algebra.friction.staggered import FrictionPoint, Staggered, stagger
from unibody.algebra.qp import solve_bounded

LOST = 1e-12
"""Part of the largest eigenvalue below which rows repeat others."""


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
