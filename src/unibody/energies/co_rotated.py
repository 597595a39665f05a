"""CoRotated: Hooke's law in axes that turn with the matter; also for matter turned inside out, which it turns back.

    ψ = μ |F − R|² + λ/2 tr(RᵀF − 1)²,    F = R S with the rotation R that is nearest
    P = 2μ (F − R) + λ t R,    t = tr S − 3

In principal stretches  P̂ₐ = 2μ (σₐ − 1) + λ t,  Aₐₐ = 2μ + λ,  Aₐ_b = λ,  p = 2μ,  q = 2μ + (2λt − 4μ)/(σₐ + σ_b).
R is not defined where two stretches add up to nothing; q is cut there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unibody.energies.principal_stretches import singular_values
from unibody.energies.solid import Solid
from unibody.energies.solid_kernels import add_on_linear, add_on_quadratic
from unibody.kernel import device

__all__ = ["CoRotated"]

LEAST = 1e-9
"""Sums of two stretches count as at least this."""


@device
def co_rotated_stress(F, mu, lam):
    """ψ and P."""
    U, s, V = singular_values(F)
    t = s[0] + s[1] + s[2] - 3.0
    d0, d1, d2 = s[0] - 1.0, s[1] - 1.0, s[2] - 1.0
    a, b, c = 2.0 * mu * d0 + lam * t, 2.0 * mu * d1 + lam * t, 2.0 * mu * d2 + lam * t
    P = (
        a * U[0] * V[0] + b * U[1] * V[1] + c * U[2] * V[2], a * U[0] * V[3] + b * U[1] * V[4] + c * U[2] * V[5],
        a * U[0] * V[6] + b * U[1] * V[7] + c * U[2] * V[8], a * U[3] * V[0] + b * U[4] * V[1] + c * U[5] * V[2],
        a * U[3] * V[3] + b * U[4] * V[4] + c * U[5] * V[5], a * U[3] * V[6] + b * U[4] * V[7] + c * U[5] * V[8],
        a * U[6] * V[0] + b * U[7] * V[1] + c * U[8] * V[2], a * U[6] * V[3] + b * U[7] * V[4] + c * U[8] * V[5],
        a * U[6] * V[6] + b * U[7] * V[7] + c * U[8] * V[8],
    )  # fmt: skip
    return (mu * (d0 * d0 + d1 * d1 + d2 * d2) + 0.5 * lam * t * t, P)


@device
def co_rotated_law(s, mu, lam):
    """A, p and q."""
    k = 2.0 * lam * (s[0] + s[1] + s[2] - 3.0) - 4.0 * mu
    a, b = 2.0 * mu + lam, 2.0 * mu
    q = (b + k / max(s[0] + s[1], LEAST), b + k / max(s[0] + s[2], LEAST), b + k / max(s[1] + s[2], LEAST))
    return ((a, lam, lam, a, lam, a), (b, b, b), q)


add_co_rotated = add_on_linear.filled("add_co_rotated", stress=co_rotated_stress, law=co_rotated_law)
add_quadratic_co_rotated = add_on_quadratic.filled("add_quadratic_co_rotated", stress=co_rotated_stress, law=co_rotated_law)


@dataclass(frozen=True)
class CoRotated(Solid):
    """`young` [Pa], `poisson`, `damping` [s].

    >>> round(CoRotated(young=1e6, poisson=0.0).density(np.diag([1.01, 1.0, 1.0])), 9)  # ½ E ε²
    50.0
    """

    add_kernel = add_co_rotated
    quadratic_kernel: ClassVar = add_quadratic_co_rotated

    def _axes(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """U, σ, Vᵀ; U and V rotations, the last σ with the sign of det F."""
        U, s, Vt = np.linalg.svd(F)
        for M in (U.T, Vt):
            if np.linalg.det(M) < 0.0:
                M[2] *= -1.0
                s[2] *= -1.0
        return U, s, Vt

    def density(self, F: np.ndarray) -> float:
        (mu, lam), s = self.lame, self._axes(F)[1]
        return mu * float(np.sum((s - 1.0) ** 2)) + 0.5 * lam * float(np.sum(s) - 3.0) ** 2

    def stress(self, F: np.ndarray) -> np.ndarray:
        (mu, lam), (U, s, Vt) = self.lame, self._axes(F)
        return 2.0 * mu * F + (lam * (s.sum() - 3.0) - 2.0 * mu) * U @ Vt

    def tangent(self, F: np.ndarray) -> np.ndarray:
        """dP = 2μ dF + λ (R : dF) R + (λ t − 2μ) dR;  Uᵀ dR V = Σ (dF̂ₐ_b − dF̂_bₐ)/(σₐ + σ_b) in all planes of two axes."""
        (mu, lam), (U, s, Vt) = self.lame, self._axes(F)
        R, k = U @ Vt, lam * (s.sum() - 3.0) - 2.0 * mu
        D = 2.0 * mu * np.eye(9) + lam * np.outer(R, R)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            turn = np.outer(U[:, a], Vt[b]) - np.outer(U[:, b], Vt[a])
            D += k / max(s[a] + s[b], LEAST) * np.outer(turn, turn)
        return D
