"""StrainLimit: a barrier that no direction in a sheet is ever stretched beyond a limit.

    ψ = κ Σₐ b(σₐ),  b(σ) = −y² ln(1 − y),  y = (σ − 1)/(s − 1),  for σ > 1, else 0;  infinite from σ = s on;   W = area · thickness · ψ

with the principal stretches σₐ, of which the larger is the largest stretch of any direction, and s = 1 + limit. b grows like y³ at first,
so it is twice continuously differentiable, and small strains hardly feel it. b′ and b″ are positive: P̂ₐ = κ b′(σₐ), Aₐₐ = κ b″(σₐ),
p the divided difference of P̂, q = (P̂₀ + P̂₁)/(σ₀ + σ₁), along the normal P̂ₐ/σₐ: always positive semidefinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import numpy as np

from unibody.element import number
from unibody.energies.base import EXACT, VALUE
from unibody.energies.principal_stretches import clear, singular_values_sheet
from unibody.energies.sheet import Sheet, thickness_of
from unibody.energies.triangle_points import SHEET_HEAD, add_sheet_forces, put_sheet_blocks, sheet_gradient, stress_from_axes
from unibody.kernel import Floats, Ints, device, kernel

__all__ = ["StrainLimit"]

ROW = SHEET_HEAD + 2
EQUAL = 1e-6
"""Of the limit: stretches that differ by less share their derivative."""


@device
def limit_barrier(s, limit):
    """b, b′ and b″."""
    y = (s - 1.0) / limit
    if y <= 0.0:
        return (0.0, 0.0, 0.0)
    if y >= 1.0:
        return (inf, 0.0, 0.0)
    l = log(1.0 - y)
    r = 1.0 / (1.0 - y)
    first = -2.0 * y * l + y * y * r
    second = -2.0 * l + 4.0 * y * r + y * y * r * r
    return (-y * y * l, first / limit, second / (limit * limit))


@kernel
def add_strain_limits(
    index: Ints, parameters: Floats, x: Floats, ask: int, value_out: Floats, gradient_out: Floats, blocks_out: Floats
) -> None:
    for e in range(index.size // 3):
        at = ROW * e
        w, stiffness, limit = parameters[at + 4], parameters[at + 5], parameters[at + 6]
        F = sheet_gradient(index, parameters, at, x, e)
        if ask >= EXACT:
            clear(81 * e, 81, blocks_out)
        # no stretch is beyond the norm of F: below 1 nothing is to be done
        norm = F[0] * F[0] + F[1] * F[1] + F[2] * F[2] + F[3] * F[3] + F[4] * F[4] + F[5] * F[5]
        if norm <= 1.0:
            continue
        Q, s, r = singular_values_sheet(F)
        a, b = limit_barrier(s[0], limit), limit_barrier(s[1], limit)
        value_out[0] += w * stiffness * (a[0] + b[0])
        if ask == VALUE or (a[2] == 0.0 and b[2] == 0.0):
            continue
        f0, f1 = stiffness * a[1], stiffness * b[1]
        add_sheet_forces(index, parameters, at, e, stress_from_axes(Q, r, f0, f1), gradient_out)
        if ask >= EXACT:
            gap = s[0] - s[1]
            p = (f0 - f1) / gap if abs(gap) > EQUAL * limit else 0.5 * stiffness * (a[2] + b[2])
            o0 = f0 / s[0] if f0 > 0.0 else 0.0
            o1 = f1 / s[1] if f1 > 0.0 else 0.0
            A = (stiffness * a[2], 0.0, stiffness * b[2])
            put_sheet_blocks(parameters, at, Q, r, A, p, (f0 + f1) / (s[0] + s[1]), (o0, o1), 81 * e, blocks_out)


@dataclass(frozen=True)
class StrainLimit(Sheet):
    """`limit`: no direction gets longer than 1 + limit; `stiffness` κ [Pa]; `thickness` [m].

    >>> barrier = StrainLimit(limit=0.1, stiffness=1.0, thickness=1e-3)
    >>> barrier.density(np.eye(3)[:, :2]), barrier.density(1.1 * np.eye(3)[:, :2])
    (0.0, inf)
    """

    limit: float
    stiffness: float
    thickness: float

    add_kernel = add_strain_limits

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", number(self.limit, "StrainLimit limit", positive=True))
        object.__setattr__(self, "stiffness", number(self.stiffness, "StrainLimit stiffness", positive=True))
        object.__setattr__(self, "thickness", thickness_of(self.thickness, "StrainLimit"))

    def constants(self) -> tuple[float, ...]:
        return self.stiffness, self.limit

    def depth(self) -> float:
        return self.thickness

    def density(self, F: np.ndarray) -> float:
        y = (np.linalg.svd(F, compute_uv=False) - 1.0) / self.limit
        if y.max() >= 1.0:
            return np.inf
        return self.stiffness * float(np.sum(np.where(y > 0.0, -(y**2) * np.log1p(-y), 0.0)))

    def _derivatives(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """κ b′ and κ b″."""
        y = np.maximum((s - 1.0) / self.limit, 0.0)
        l, r = np.log1p(-y), 1.0 / (1.0 - y)
        first = (y * y * r - 2.0 * y * l) / self.limit
        return self.stiffness * first, self.stiffness * (4.0 * y * r - 2.0 * l + (y * r) ** 2) / self.limit**2

    def stress(self, F: np.ndarray) -> np.ndarray:
        U, s, Vt = np.linalg.svd(F, full_matrices=False)
        return (U * self._derivatives(s)[0]) @ Vt

    def tangent(self, F: np.ndarray) -> np.ndarray:
        """Σ λ m mᵀ over the eigenvalues λ and their moves m of F: along the stretches, in shear, in turns, out of the plane."""
        U, s, Vt = np.linalg.svd(F)
        first, second = self._derivatives(s)
        gap = s[0] - s[1]
        p = (first[0] - first[1]) / gap if gap > EQUAL * self.limit else second.mean()
        q = first.sum() / s.sum()

        def move(i: int, j: int) -> np.ndarray:
            return np.outer(U[:, i], Vt[j]).ravel()

        moves = [move(0, 0), move(1, 1), (move(0, 1) + move(1, 0)) / 2**0.5, (move(0, 1) - move(1, 0)) / 2**0.5, move(2, 0), move(2, 1)]
        values = [*second, p, q, *(np.divide(first, s, out=np.zeros(2), where=first > 0.0))]
        return sum((value * np.outer(m, m) for value, m in zip(values, moves)), np.zeros((6, 6)))
