"""StVK: Saint Venant and Kirchhoff's law, Hooke's in Green's strain. Right for large turns and small strains.

    ψ = μ |E|² + λ/2 (tr E)²,  E = (FᵀF − 1)/2,    P = F S,  S = 2μ E + λ tr(E) 1,    dP = dF S + F dS

In principal stretches, with e = λ tr E − μ,
    Aₐₐ = 3μ σₐ² + λ σₐ² + e,  Aₐ_b = λ σₐσ_b,  p = μ (σₐ² + σₐσ_b + σ_b²) + e,  q = μ (σₐ² − σₐσ_b + σ_b²) + e.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from unibody.spatial.devices import compose_rotations, load9

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


@kernel
def add_stvk(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    """On linear tetrahedra."""
    for e in range(index.size // 4):
        at = LINEAR_ROW * e
        w, mu, lam = parameters[at + 9], parameters[at + 10], parameters[at + 11]
        F = linear_gradient(index, parameters, x, e)
        density, P = stvk_stress(F, mu, lam)
        value_out[0] += w * density
        if ask == VALUE:
            continue
        add_linear_forces(index, parameters, e, P, gradient_out)
        # second derivatives in principal axes
        if ask >= EXACT:
            U, s, V = singular_values(F)
            A, p, q = stvk_law(s, mu, lam)
            if ask == PROJECTED:
                A, p, q = positive_law(A, p, q)
            put_corner_blocks(load9(parameters, at), w, U, V, A, p, q, 144 * e, blocks_out)


@kernel
def add_quadratic_stvk(
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
            density, P = stvk_stress(F, mu, lam)
            value_out[0] += w * density
            if ask == VALUE:
                continue
            add_quadratic_forces(index, parameters, e, n, P, gradient_out)
            # a linear tetrahedron's matrix in principal axes, spread over ten vertices
            if ask >= EXACT:
                U, s, V = singular_values(F)
                A, p, q = stvk_law(s, mu, lam)
                if ask == PROJECTED:
                    A, p, q = positive_law(A, p, q)
                put_corner_blocks(load9(parameters, row + 10 * n), w, U, V, A, p, q, 0, K)
                add_spread_blocks(K, n, 900 * e, blocks_out)
        if ask >= EXACT:
            mirror_blocks(900 * e, blocks_out)


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
