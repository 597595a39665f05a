"""WovenMembrane: a sheet with two directions, warp and weft: Hooke's orthotropic law in Green's strain.

    ψ = ½ (c₁₁ E₁₁² + 2 c₁₂ E₁₁E₂₂ + c₂₂ E₂₂²) + 2 G E₁₂²,  E = (FᵀF − 1)/2;   W = area · thickness · ψ
    c₁₁ = E₁/(1 − ν²E₂/E₁),  c₂₂ = E₂/(1 − ν²E₂/E₁),  c₁₂ = ν E₂/(1 − ν²E₂/E₁)      (ν: how much a pull along the warp narrows the weft)
    P = F S,    dP = dF S + F dS,    S = ∂ψ/∂E

Made positive semidefinite, S loses its negative eigenvalues in the first term; the second is definite. Along the normal the first term is
all there is, so nothing else can make the matrix indefinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.element import number
from unibody.energies.base import EXACT, PROJECTED, VALUE
from unibody.energies.elastic_constants import poisson_ratio
from unibody.energies.principal_stretches import positive_pair, put_first_vertex, put_pair
from unibody.energies.sheet import Sheet, thickness_of
from unibody.energies.triangle_points import SHEET_HEAD, add_sheet_forces, sheet_gradient
from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, device, kernel

__all__ = ["WovenMembrane"]

ROW = SHEET_HEAD + 4


@device
def woven_block(F, S, c11, c12, c22, G, h, k):
    """(h · S k) 1 + Σ C of the strains that moves along h and k make: B_hᵀ C B_k with B_h = (h₀F₀, h₁F₁, h₁F₀ + h₀F₁) of columns of F."""
    s = S[0] * h[0] * k[0] + S[1] * (h[0] * k[1] + h[1] * k[0]) + S[2] * h[1] * k[1]
    # coefficients of F₀F₀ᵀ, F₀F₁ᵀ, F₁F₀ᵀ, F₁F₁ᵀ
    a = c11 * h[0] * k[0] + G * h[1] * k[1]
    b = c12 * h[0] * k[1] + G * h[1] * k[0]
    c = c12 * h[1] * k[0] + G * h[0] * k[1]
    d = c22 * h[1] * k[1] + G * h[0] * k[0]
    # rows of a F₀ + c F₁ and b F₀ + d F₁ against F₀ and F₁
    x0, x1, x2 = a * F[0] + c * F[1], a * F[2] + c * F[3], a * F[4] + c * F[5]
    y0, y1, y2 = b * F[0] + d * F[1], b * F[2] + d * F[3], b * F[4] + d * F[5]
    return (
        s + x0 * F[0] + y0 * F[1], x0 * F[2] + y0 * F[3], x0 * F[4] + y0 * F[5],
        x1 * F[0] + y1 * F[1], s + x1 * F[2] + y1 * F[3], x1 * F[4] + y1 * F[5],
        x2 * F[0] + y2 * F[1], x2 * F[2] + y2 * F[3], s + x2 * F[4] + y2 * F[5],
    )  # fmt: skip


@kernel
def add_woven_membranes(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    for e in range(index.size // 3):
        at = ROW * e
        w = parameters[at + 4]
        c11, c12, c22, G = parameters[at + 5], parameters[at + 6], parameters[at + 7], parameters[at + 8]
        F = sheet_gradient(index, parameters, at, x, e)
        e11 = 0.5 * (F[0] * F[0] + F[2] * F[2] + F[4] * F[4] - 1.0)
        e22 = 0.5 * (F[1] * F[1] + F[3] * F[3] + F[5] * F[5] - 1.0)
        e12 = 0.5 * (F[0] * F[1] + F[2] * F[3] + F[4] * F[5])
        value_out[0] += w * (0.5 * (c11 * e11 * e11 + c22 * e22 * e22) + c12 * e11 * e22 + 2.0 * G * e12 * e12)
        if ask == VALUE:
            continue
        S = (c11 * e11 + c12 * e22, 2.0 * G * e12, c12 * e11 + c22 * e22)
        P = (
            F[0] * S[0] + F[1] * S[1], F[0] * S[1] + F[1] * S[2], F[2] * S[0] + F[3] * S[1], F[2] * S[1] + F[3] * S[2],
            F[4] * S[0] + F[5] * S[1], F[4] * S[1] + F[5] * S[2],
        )  # fmt: skip
        add_sheet_forces(index, parameters, at, e, P, gradient_out)
        if ask >= EXACT:
            if ask == PROJECTED:
                S = positive_pair(S[0], S[1], S[2])
            h = (parameters[at], parameters[at + 1])
            k = (parameters[at + 2], parameters[at + 3])
            put_pair(woven_block(F, S, c11, c12, c22, G, h, h), w, 81 * e, 1, 1, 9, blocks_out)
            put_pair(woven_block(F, S, c11, c12, c22, G, h, k), w, 81 * e, 1, 2, 9, blocks_out)
            put_pair(woven_block(F, S, c11, c12, c22, G, k, k), w, 81 * e, 2, 2, 9, blocks_out)
            put_first_vertex(3, 81 * e, 9, blocks_out)


@dataclass(frozen=True)
class WovenMembrane(Sheet):
    """`warp` and `weft` [Pa]: Young's moduli along both; `poisson`; `thickness` [m]; `shear` [Pa] (None: √(warp weft)/2(1 + poisson)).

    >>> WovenMembrane(warp=4.0, weft=1.0, poisson=0.0, thickness=1e-3).moduli
    (4.0, 0.0, 1.0, 1.0)
    """

    warp: float
    weft: float
    poisson: float
    thickness: float
    shear: float | None = None

    add_kernel = add_woven_membranes
    directed = True

    def __post_init__(self) -> None:
        what = "WovenMembrane"
        object.__setattr__(self, "warp", number(self.warp, f"{what} warp", positive=True))
        object.__setattr__(self, "weft", number(self.weft, f"{what} weft", positive=True))
        object.__setattr__(self, "poisson", poisson_ratio(self.poisson, what, 1.0))
        object.__setattr__(self, "thickness", thickness_of(self.thickness, what))
        if self.shear is not None:
            object.__setattr__(self, "shear", number(self.shear, f"{what} shear", positive=True))
        if self.poisson**2 * self.weft >= self.warp:
            most = (self.warp / self.weft) ** 0.5
            raise ModelError(f"{what} poisson: {self.poisson:g} with these moduli gives energy away; give less than {most:.3g}")

    @property
    def moduli(self) -> tuple[float, float, float, float]:
        """c₁₁, c₁₂, c₂₂, G [Pa]."""
        k = 1.0 / (1.0 - self.poisson**2 * self.weft / self.warp)
        shear = (self.warp * self.weft) ** 0.5 / (2.0 * (1.0 + self.poisson)) if self.shear is None else self.shear
        return k * self.warp, k * self.poisson * self.weft, k * self.weft, shear

    def constants(self) -> tuple[float, ...]:
        return self.moduli

    def depth(self) -> float:
        return self.thickness

    def _stress(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """E and S."""
        c11, c12, c22, G = self.moduli
        E = 0.5 * (F.T @ F - np.eye(2))
        off = 2.0 * G * E[0, 1]
        return E, np.array([[c11 * E[0, 0] + c12 * E[1, 1], off], [off, c12 * E[0, 0] + c22 * E[1, 1]]])

    def density(self, F: np.ndarray) -> float:
        E, S = self._stress(F)
        return 0.5 * float(np.sum(E * S))

    def stress(self, F: np.ndarray) -> np.ndarray:
        return F @ self._stress(F)[1]

    def tangent(self, F: np.ndarray) -> np.ndarray:
        return self._tangent(F, self._stress(F)[1])

    def positive_tangent(self, F: np.ndarray) -> np.ndarray:
        values, axes = np.linalg.eigh(self._stress(F)[1])
        return self._tangent(F, (axes * np.maximum(values, 0.0)) @ axes.T)

    def _tangent(self, F: np.ndarray, S: np.ndarray) -> np.ndarray:
        c11, c12, c22, G = self.moduli
        C = np.zeros((2, 2, 2, 2))
        C[0, 0, 0, 0], C[1, 1, 1, 1], C[0, 0, 1, 1], C[1, 1, 0, 0] = c11, c22, c12, c12
        C[0, 1, 0, 1] = C[0, 1, 1, 0] = C[1, 0, 0, 1] = C[1, 0, 1, 0] = G
        D = np.einsum("ac,bd->abcd", np.eye(3), S) + np.einsum("ae,ebfd,cf->abcd", F, C, F)
        return D.reshape(6, 6)
