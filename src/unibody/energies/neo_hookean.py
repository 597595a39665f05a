"""NeoHookean: rubber, which resists being squeezed to nothing without bound.

    ψ = μ/2 (|F|² − 3) − μ ln J + λ/2 (ln J)²,  J = det F;   infinite where J ≤ 0
    P = μ F − m F⁻ᵀ,    dP = μ dF + m F⁻ᵀ dFᵀ F⁻ᵀ + λ (F⁻ᵀ : dF) F⁻ᵀ,    m = μ − λ ln J

In principal stretches  P̂ₐ = μ σₐ − m/σₐ,  Aₐₐ = μ + (m + λ)/σₐ²,  Aₐ_b = λ/σₐσ_b,  p = μ + m/σₐσ_b,  q = μ − m/σₐσ_b.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import ClassVar

import numpy as np

from unibody.energies.base import EXACT, PROJECTED, VALUE
from unibody.energies.principal_stretches import clear, positive_law, singular_values
from unibody.energies.solid import Solid
from unibody.energies.tet_points import (
    LINEAR_ROW,
    QUADRATIC_ROW,
    add_linear_forces,
    add_quadratic_forces,
    add_spread_blocks,
    linear_gradient,
    mirror_blocks,
    put_corner_blocks,
    quadratic_gradient,
)  # fmt: skip
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import load9

__all__ = ["NeoHookean"]


@device
def neo_hookean_stress(F, mu, lam):
    """ψ and P."""
    # cofactors: F⁻ᵀ = C / J
    C = (
        F[4] * F[8] - F[5] * F[7], F[5] * F[6] - F[3] * F[8], F[3] * F[7] - F[4] * F[6],
        F[2] * F[7] - F[1] * F[8], F[0] * F[8] - F[2] * F[6], F[1] * F[6] - F[0] * F[7],
        F[1] * F[5] - F[2] * F[4], F[2] * F[3] - F[0] * F[5], F[0] * F[4] - F[1] * F[3],
    )  # fmt: skip
    J = F[0] * C[0] + F[1] * C[1] + F[2] * C[2]
    if J <= 0.0:
        return (inf, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    l = log(J)
    square = (
        F[0] * F[0] + F[1] * F[1] + F[2] * F[2] + F[3] * F[3] + F[4] * F[4] + F[5] * F[5] + F[6] * F[6] + F[7] * F[7] + F[8] * F[8]
    )
    k = (mu - lam * l) / J
    P = (
        mu * F[0] - k * C[0], mu * F[1] - k * C[1], mu * F[2] - k * C[2], mu * F[3] - k * C[3], mu * F[4] - k * C[4],
        mu * F[5] - k * C[5], mu * F[6] - k * C[6], mu * F[7] - k * C[7], mu * F[8] - k * C[8],
    )  # fmt: skip
    return (0.5 * mu * (square - 3.0) - mu * l + 0.5 * lam * l * l, P)


@device
def neo_hookean_law(s, mu, lam):
    """A, p and q; nothing where J ≤ 0."""
    J = s[0] * s[1] * s[2]
    if J <= 0.0:
        return ((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    m = mu - lam * log(J)
    a, b, c = 1.0 / s[0], 1.0 / s[1], 1.0 / s[2]
    A = (mu + (m + lam) * a * a, lam * a * b, lam * a * c, mu + (m + lam) * b * b, lam * b * c, mu + (m + lam) * c * c)
    return (A, (mu + m * a * b, mu + m * a * c, mu + m * b * c), (mu - m * a * b, mu - m * a * c, mu - m * b * c))


@kernel
def add_neo_hookean(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    """On linear tetrahedra."""
    for e in range(index.size // 4):
        at = LINEAR_ROW * e
        w, mu, lam = parameters[at + 9], parameters[at + 10], parameters[at + 11]
        F = linear_gradient(index, parameters, x, e)
        density, P = neo_hookean_stress(F, mu, lam)
        value_out[0] += w * density
        if ask == VALUE:
            continue
        add_linear_forces(index, parameters, e, P, gradient_out)
        # second derivatives in principal axes
        if ask >= EXACT:
            U, s, V = singular_values(F)
            A, p, q = neo_hookean_law(s, mu, lam)
            if ask == PROJECTED:
                A, p, q = positive_law(A, p, q)
            put_corner_blocks(load9(parameters, at), w, U, V, A, p, q, 144 * e, blocks_out)


@kernel
def add_quadratic_neo_hookean(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    """On quadratic tetrahedra, point by point."""
    K = np.empty(144)
    for e in range(index.size // 10):
        row = QUADRATIC_ROW * e
        mu, lam = parameters[row + 40], parameters[row + 41]
        if ask >= EXACT:
            clear(900 * e, 900, blocks_out)
        for n in range(4):
            w = parameters[row + 10 * n + 9]
            F = quadratic_gradient(index, parameters, x, e, n)
            density, P = neo_hookean_stress(F, mu, lam)
            value_out[0] += w * density
            if ask == VALUE:
                continue
            add_quadratic_forces(index, parameters, e, n, P, gradient_out)
            # a linear tetrahedron's matrix in principal axes, spread over ten vertices
            if ask >= EXACT:
                U, s, V = singular_values(F)
                A, p, q = neo_hookean_law(s, mu, lam)
                if ask == PROJECTED:
                    A, p, q = positive_law(A, p, q)
                put_corner_blocks(load9(parameters, row + 10 * n), w, U, V, A, p, q, 0, K)
                add_spread_blocks(K, n, 900 * e, blocks_out)
        if ask >= EXACT:
            mirror_blocks(900 * e, blocks_out)


@dataclass(frozen=True)
class NeoHookean(Solid):
    """`young` [Pa], `poisson`, `damping` [s].

    >>> rubber = NeoHookean(young=1e6, poisson=0.45)
    >>> bool(rubber.density(np.eye(3)) == 0.0), rubber.density(-np.eye(3))
    (True, inf)
    """

    add_kernel = add_neo_hookean
    quadratic_kernel: ClassVar = add_quadratic_neo_hookean
    upright: ClassVar = True

    def density(self, F: np.ndarray) -> float:
        (mu, lam), J = self.lame, np.linalg.det(F)
        if J <= 0.0:
            return np.inf
        return float(0.5 * mu * (np.sum(F * F) - 3.0) - mu * np.log(J) + 0.5 * lam * np.log(J) ** 2)

    def stress(self, F: np.ndarray) -> np.ndarray:
        mu, lam = self.lame
        return mu * F - (mu - lam * np.log(np.linalg.det(F))) * np.linalg.inv(F).T

    def tangent(self, F: np.ndarray) -> np.ndarray:
        (mu, lam), G = self.lame, np.linalg.inv(F).T
        m = mu - lam * np.log(np.linalg.det(F))
        D = m * np.einsum("ad,cb->abcd", G, G) + lam * np.einsum("ab,cd->abcd", G, G)
        return D.reshape(9, 9) + mu * np.eye(9)
