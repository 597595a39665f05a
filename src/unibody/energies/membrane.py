"""Membrane: an isotropic sheet that resists stretch and shear in its plane, neo-Hookean.

    ψ = μ/2 (|F|² − 2) − μ ln J + λ/2 (ln J)²,  J = √det FᵀF,  λ = E ν/(1 − ν²);   W = area · thickness · ψ
    P = μ F − m G,    G = F (FᵀF)⁻¹,    m = μ − λ ln J

In principal stretches P̂ₐ = μ σₐ − m/σₐ,  Aₐₐ = μ + (m + λ)/σₐ²,  A₀₁ = λ/J,  p = μ + m/J,  q = μ − m/J,  and along the normal μ − m/σₐ².
For small strains that is a plate's tension E/(1 − ν²), without stress across it. A triangle without area costs infinitely much.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import numpy as np

from unibody.energies.base import EXACT, PROJECTED, VALUE
from unibody.energies.elastic_constants import lame_sheet, poisson_ratio, young_modulus
from unibody.energies.principal_stretches import singular_values_sheet
from unibody.energies.sheet import Sheet, thickness_of
from unibody.energies.triangle_points import (
    SHEET_HEAD,
    add_sheet_forces,
    positive_sheet_law,
    put_sheet_blocks,
    sheet_gradient,
    stress_from_axes,
)  # fmt: skip
from unibody.kernel import Floats, Ints, kernel

__all__ = ["Membrane"]

ROW = SHEET_HEAD + 2


@kernel
def add_membranes(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    for e in range(index.size // 3):
        at = ROW * e
        w, mu, lam = parameters[at + 4], parameters[at + 5], parameters[at + 6]
        F = sheet_gradient(index, parameters, at, x, e)
        # J = |F₀ × F₁|, and ψ
        n0, n1, n2 = F[2] * F[5] - F[4] * F[3], F[4] * F[1] - F[0] * F[5], F[0] * F[3] - F[2] * F[1]
        square = n0 * n0 + n1 * n1 + n2 * n2
        if square <= 0.0:
            value_out[0] += inf
            if ask >= EXACT:
                for k in range(81 * e, 81 * e + 81):
                    blocks_out[k] = 0.0
            continue
        l = 0.5 * log(square)
        trace = F[0] * F[0] + F[1] * F[1] + F[2] * F[2] + F[3] * F[3] + F[4] * F[4] + F[5] * F[5]
        value_out[0] += w * (0.5 * mu * (trace - 2.0) - mu * l + 0.5 * lam * l * l)
        if ask == VALUE:
            continue
        # stress in principal axes
        Q, s, r = singular_values_sheet(F)
        m = mu - lam * l
        a, b = 1.0 / s[0], 1.0 / s[1]
        f0, f1 = mu * s[0] - m * a, mu * s[1] - m * b
        add_sheet_forces(index, parameters, at, e, stress_from_axes(Q, r, f0, f1), gradient_out)
        if ask >= EXACT:
            A = (mu + (m + lam) * a * a, lam * a * b, mu + (m + lam) * b * b)
            p, q, o = mu + m * a * b, mu - m * a * b, (f0 * a, f1 * b)
            if ask == PROJECTED:
                A, p, q, o = positive_sheet_law(A, p, q, o)
            put_sheet_blocks(parameters, at, Q, r, A, p, q, o, 81 * e, blocks_out)


@dataclass(frozen=True)
class Membrane(Sheet):
    """`young` [Pa], `poisson` (−1 … 1), `thickness` [m].

    >>> round(Membrane(young=2.0, poisson=0.0, thickness=1e-3).density(np.eye(3)[:, :2]), 12)
    0.0
    """

    young: float
    poisson: float
    thickness: float

    add_kernel = add_membranes

    def __post_init__(self) -> None:
        object.__setattr__(self, "young", young_modulus(self.young, "Membrane"))
        object.__setattr__(self, "poisson", poisson_ratio(self.poisson, "Membrane", 1.0))
        object.__setattr__(self, "thickness", thickness_of(self.thickness, "Membrane"))

    @property
    def lame(self) -> tuple[float, float]:
        """μ and λ [Pa] without stress across the sheet."""
        return lame_sheet(self.young, self.poisson)

    def constants(self) -> tuple[float, ...]:
        return self.lame

    def depth(self) -> float:
        return self.thickness

    def density(self, F: np.ndarray) -> float:
        (mu, lam), square = self.lame, np.linalg.det(F.T @ F)
        if square <= 0.0:
            return np.inf
        l = 0.5 * np.log(square)
        return float(0.5 * mu * (np.sum(F * F) - 2.0) - mu * l + 0.5 * lam * l**2)

    def stress(self, F: np.ndarray) -> np.ndarray:
        (mu, lam), C = self.lame, F.T @ F
        return mu * F - (mu - 0.5 * lam * np.log(np.linalg.det(C))) * F @ np.linalg.inv(C)

    def tangent(self, F: np.ndarray) -> np.ndarray:
        """dP = μ dF − m dG + λ (G : dF) G,    dG = dF C⁻¹ − G (dFᵀ F + Fᵀ dF) C⁻¹."""
        (mu, lam), C = self.lame, F.T @ F
        inverse = np.linalg.inv(C)
        G, m = F @ inverse, mu - 0.5 * lam * np.log(np.linalg.det(C))
        dG = np.einsum("ac,db->abcd", np.eye(3) - G @ F.T, inverse) - np.einsum("ad,cb->abcd", G, G)
        D = lam * np.einsum("ab,cd->abcd", G, G) - m * dG
        return D.reshape(6, 6) + mu * np.eye(6)
