"""Solids: hyperelastic laws on tetrahedra, linear (4 vertices) or quadratic (10: corners, then middles of the edges 01 12 02 03 13 23).

A law is a density ψ(F) with its first and second derivatives; where it is integrated, and how that is spread over vertices, is written in
`tet_points`. Linear tetrahedra lock: a bar with two of them across bends half as far as it should (see `docs/howto/materials.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unibody.energies.base import Energy, Stencils
from unibody.energies.continuum import Continuum, Points
from unibody.energies.elastic_constants import damping_time, lame_solid, poisson_ratio, young_modulus
from unibody.energies.tet_points import FAR, FIRST, NEAR, SECOND
from unibody.errors import ModelError
from unibody.kernel import Kernel

FLAT = 1e-12
"""Of the cube of a tetrahedron's longest edge: below it, it has no volume."""


def corner_weights(point: int) -> np.ndarray:
    """(10, 4) c of ten vertices on four corners at a point of a quadratic tetrahedron."""
    coordinate = np.where(np.arange(4) == point, NEAR, FAR)
    c = np.zeros((10, 4))
    for i, (a, b) in enumerate(zip(FIRST, SECOND)):
        c[i, a] += 4.0 * coordinate[b] - (1.0 if i < 4 else 0.0)
        c[i, b] += 4.0 * coordinate[a] if i >= 4 else 0.0
    return c


CORNER_WEIGHTS = np.stack([corner_weights(q) for q in range(4)])
SLOPES = np.array([[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
"""Barycentric coordinates by the edges from corner 0."""


def point_rows(X: np.ndarray, corners: np.ndarray, part: float, what: str) -> np.ndarray:
    """(n, 10) Λ and w at a point whose virtual corners are at rest at `corners` (n, 4, 3); tetrahedra without volume are refused."""
    D = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    volume = np.linalg.det(D) / 6.0
    longest = np.linalg.norm(X[:, :4, None] - X[:, None, :4], axis=-1).max(axis=(1, 2))
    wrong = np.flatnonzero(~(volume > FLAT * longest**3))
    if wrong.size:
        k = wrong[0]
        remedy = "swap two of its vertices" if volume[k] < -FLAT * longest[k] ** 3 and X.shape[1] == 4 else "mend the mesh"
        if X.shape[1] == 10:
            remedy = "its middle vertices are those of the edges 01, 12, 02, 03, 13, 23; mend the mesh"
        raise ModelError(f"{what}: tet {k} has the volume {volume[k]:.3g} m³ at rest; {remedy}")
    return np.concatenate([np.linalg.inv(D).reshape(-1, 9), (part * volume)[:, None]], axis=1)


def material_rows(points: np.ndarray, constants: Sequence[float]) -> np.ndarray:
    """Rows of points with the same constants behind each."""
    return np.concatenate([points, np.broadcast_to(np.asarray(constants, float), (len(points), len(constants)))], axis=1)


@dataclass(frozen=True)
class Solid(Continuum):
    """Base of laws of solids: `young` [Pa], `poisson`, Rayleigh's `damping` [s]. A class gives `density`, `stress` and `tangent`, and for
    speed `add_kernel` for linear tetrahedra and `quadratic_kernel`, both made of two devices by `solid_kernels`."""

    young: float
    poisson: float
    damping: float = 0.0

    vertices: ClassVar[int] = 4
    quadratic_kernel: ClassVar[Kernel | None] = None
    upright: ClassVar[bool] = False
    """Whether ψ is infinite where J ≤ 0: searches then stop before any tetrahedron loses its volume."""

    def __post_init__(self) -> None:
        what = type(self).__name__
        object.__setattr__(self, "young", young_modulus(self.young, what))
        object.__setattr__(self, "poisson", poisson_ratio(self.poisson, what))
        object.__setattr__(self, "damping", damping_time(self.damping, what))

    @property
    def lame(self) -> tuple[float, float]:
        """μ and λ [Pa]."""
        return lame_solid(self.young, self.poisson)

    def rest(self, X: np.ndarray) -> np.ndarray:
        return material_rows(point_rows(X, X, 1.0, type(self).__name__), self.lame)

    def points(self, parameters: np.ndarray) -> Points:
        return [(SLOPES @ parameters[:9].reshape(3, 3), parameters[9])]

    def stencils(self, mesh: Any) -> Sequence[Stencils]:
        tets, what = np.asarray(mesh.tets, np.int64), type(self).__name__
        if tets.ndim != 2 or tets.shape[1] not in (4, 10):
            raise ModelError(f"{what}: tets of shape {tets.shape}; give (m, 4) vertices of linear or (m, 10) of quadratic tetrahedra")
        energy: Energy = self if tets.shape[1] == 4 else QuadraticSolid(self)
        return [Stencils(energy, tets, energy.rest(np.asarray(mesh.vertices, float)[tets]), self.damping)]


@dataclass(frozen=True)
class QuadraticSolid(Continuum):
    """A law of solids on quadratic tetrahedra."""

    law: Solid

    vertices: ClassVar[int] = 10

    @property
    def add_kernel(self) -> Kernel | None:  # type: ignore[override]
        return self.law.quadratic_kernel

    @property
    def upright(self) -> bool:
        """That of its law."""
        return self.law.upright

    def rest(self, X: np.ndarray) -> np.ndarray:
        what = type(self.law).__name__
        corners = np.einsum("qia,nic->qnac", CORNER_WEIGHTS, X)
        points = np.concatenate([point_rows(X, corners[q], 0.25, what) for q in range(4)], axis=1)
        return material_rows(points, self.law.lame)

    def points(self, parameters: np.ndarray) -> Points:
        rows = parameters[:40].reshape(4, 10)
        return [(c @ SLOPES @ row[:9].reshape(3, 3), row[9]) for c, row in zip(CORNER_WEIGHTS, rows)]

    def density(self, F: np.ndarray) -> float:
        return self.law.density(F)

    def stress(self, F: np.ndarray) -> np.ndarray:
        return self.law.stress(F)

    def tangent(self, F: np.ndarray) -> np.ndarray:
        return self.law.tangent(F)

    def positive_tangent(self, F: np.ndarray) -> np.ndarray:
        return self.law.positive_tangent(F)
