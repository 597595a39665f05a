"""StVK: Saint Venant and Kirchhoff's law, Hooke's in Green's strain. Right for large turns and small strains.

    ψ = μ |E|² + λ/2 (tr E)²,  E = (FᵀF − 1)/2,    P = F S,  S = 2μ E + λ tr(E) 1,    dP = dF S + F dS

In principal stretches, with e = λ tr E − μ,
    Aₐₐ = 3μ σₐ² + λ σₐ² + e,  Aₐ_b = λ σₐσ_b,  p = μ (σₐ² + σₐσ_b + σ_b²) + e,  q = μ (σₐ² − σₐσ_b + σ_b²) + e.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unibody.energies.solid import Solid
from unibody.energies.solid_kernels import add_on_linear, add_on_quadratic
from unibody.kernel import device
from unibody.spatial.devices import compose_rotations

__all__ = ["StVK"]


@device
def stvk_stress(F, mu, lam):
    """ψ and P."""
    # Green's strain E = (FᵀF − 1)/2
    e00 = 0.5 * (F[0] * F[0] + F[3] * F[3] + F[6] * F[6] - 1.0)
    e01 = 0.5 * (F[0] * F[1] + F[3] * F[4] + F[6] * F[7])
    e02 = 0.5 * (F[0] * F[2] + F[3] * F[5] + F[6] * F[8])
    e11 = 0.5 * (F[1] * F[1] + F[4] * F[4] + F[7] * F[7] - 1.0)
    e12 = 0.5 * (F[1] * F[2] + F[4] * F[5] + F[7] * F[8])
    e22 = 0.5 * (F[2] * F[2] + F[5] * F[5] + F[8] * F[8] - 1.0)
    trace = e00 + e11 + e22
    density = mu * (e00 * e00 + e11 * e11 + e22 * e22 + 2.0 * (e01 * e01 + e02 * e02 + e12 * e12)) + 0.5 * lam * trace * trace
    # P = F S
    m = 2.0 * mu
    S = (m * e00 + lam * trace, m * e01, m * e02, m * e01, m * e11 + lam * trace, m * e12, m * e02, m * e12, m * e22 + lam * trace)
    return (density, compose_rotations(F, S))


@device
def stvk_law(s, mu, lam):
    """A, p and q."""
    a, b, c = s[0] * s[0], s[1] * s[1], s[2] * s[2]
    e = 0.5 * lam * (a + b + c - 3.0) - mu
    ab, ac, bc = s[0] * s[1], s[0] * s[2], s[1] * s[2]
    k = 3.0 * mu + lam
    A = (k * a + e, lam * ab, lam * ac, k * b + e, lam * bc, k * c + e)
    p = (mu * (a + ab + b) + e, mu * (a + ac + c) + e, mu * (b + bc + c) + e)
    q = (mu * (a - ab + b) + e, mu * (a - ac + c) + e, mu * (b - bc + c) + e)
    return (A, p, q)


add_stvk = add_on_linear.filled("add_stvk", stress=stvk_stress, law=stvk_law)
add_quadratic_stvk = add_on_quadratic.filled("add_quadratic_stvk", stress=stvk_stress, law=stvk_law)


@dataclass(frozen=True)
class StVK(Solid):
    """`young` [Pa], `poisson`, `damping` [s].

    >>> round(StVK(young=2.0, poisson=0.0).density(np.diag([np.sqrt(3.0), 1.0, 1.0])), 9)  # E₁₁ = 1, μ = 1
    1.0
    """

    add_kernel = add_stvk
    quadratic_kernel: ClassVar = add_quadratic_stvk

    def density(self, F: np.ndarray) -> float:
        (mu, lam), E = self.lame, 0.5 * (F.T @ F - np.eye(3))
        return mu * float(np.sum(E * E)) + 0.5 * lam * float(np.trace(E)) ** 2

    def stress(self, F: np.ndarray) -> np.ndarray:
        (mu, lam), E = self.lame, 0.5 * (F.T @ F - np.eye(3))
        return F @ (2.0 * mu * E + lam * np.trace(E) * np.eye(3))

    def tangent(self, F: np.ndarray) -> np.ndarray:
        """dP = dF S + μ F (dFᵀ F + Fᵀ dF) + λ (F : dF) F."""
        (mu, lam), E = self.lame, 0.5 * (F.T @ F - np.eye(3))
        S = 2.0 * mu * E + lam * np.trace(E) * np.eye(3)
        D = np.einsum("ac,bd->abcd", np.eye(3), S) + mu * np.einsum("ad,cb->abcd", F, F)
        D += mu * np.einsum("ac,bd->abcd", F @ F.T, np.eye(3)) + lam * np.einsum("ab,cd->abcd", F, F)
        return D.reshape(9, 9)
