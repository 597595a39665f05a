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

from unibody.energies.solid import Solid
from unibody.energies.solid_kernels import add_on_linear, add_on_quadratic
from unibody.kernel import device

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


add_neo_hookean = add_on_linear.filled("add_neo_hookean", stress=neo_hookean_stress, law=neo_hookean_law)
add_quadratic_neo_hookean = add_on_quadratic.filled("add_quadratic_neo_hookean", stress=neo_hookean_stress, law=neo_hookean_law)


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
