"""Masses of vertices: lumped, or the consistent matrix M of shape functions N, M_ij = ∫ ρ N_i N_j.

Lumped, of a cell of mass m a vertex gets

    tetrahedron m / 4,   triangle m / 3,   edge m / 2;   quadratic tetrahedron: corners m / 36, middles 4 m / 27

the last being the diagonal of its consistent matrix, scaled (Hinton, Rock and Zienkiewicz 1976). The consistent matrix of a linear cell of
k vertices is m (1 + δ_ij) / k (k + 1); that of a quadratic one follows from

    ∫ λ₀ᵃ λ₁ᵇ λ₂ᶜ λ₃ᵈ = 6 V a! b! c! d! / (a + b + c + d + 3)!,    N = λₐ (2 λₐ − 1) at corners, 4 λₐ λ_b at middles.

Its row sums ∫ ρ N_i are what weight acts on: −m/20 at corners and m/5 at middles of a quadratic tetrahedron. Momentum is Σ M v.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from math import factorial, prod
from typing import Any

import numpy as np

from unibody.kernel import Floats, Ints, kernel
from unibody.meshes.tet_mesh import EDGES

CORNER, MIDDLE = 1.0 / 36.0, 4.0 / 27.0


@kernel
def add_mass_products(rows: Ints, columns: Ints, values: Floats, v: Floats, p_out: Floats) -> None:
    """p += M v, 3 numbers a vertex, of a symmetric M at rows ≤ columns."""
    for k in range(rows.size):
        a, b, m = 3 * rows[k], 3 * columns[k], values[k]
        for i in range(3):
            p_out[a + i] += m * v[b + i]
            if a != b:
                p_out[b + i] += m * v[a + i]


@dataclass(frozen=True, eq=False)
class MassMatrix:
    """A symmetric matrix over vertices, at rows ≤ columns, every place once [kg]."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    @staticmethod
    def of_cells(cells: np.ndarray, matrices: np.ndarray) -> MassMatrix:
        """The sum of matrices (n, k, k) of cells (n, k)."""
        k = cells.shape[1]
        i, j = np.triu_indices(k)
        a, b = cells[:, i].ravel(), cells[:, j].ravel()
        return MassMatrix.summed(np.minimum(a, b), np.maximum(a, b), matrices[:, i, j].ravel())

    @staticmethod
    def summed(rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> MassMatrix:
        """Those of one place added up."""
        wide = int(columns.max(initial=0)) + 1
        keys, place = np.unique(rows * wide + columns, return_inverse=True)
        sums = np.bincount(place, values, len(keys))
        made = MassMatrix(keys // wide, keys % wide, sums)
        for array in (made.rows, made.columns, made.values):
            array.flags.writeable = False
        return made

    def plus(self, other: MassMatrix) -> MassMatrix:
        """The sum of two."""
        pairs = ((self.rows, other.rows), (self.columns, other.columns), (self.values, other.values))
        return MassMatrix.summed(*(np.concatenate(pair) for pair in pairs))

    def product(self, v: np.ndarray) -> np.ndarray:
        """M v, of (…, n, 3)."""
        flat = np.ascontiguousarray(v, float).reshape(-1, v.shape[-2] * 3)
        out = np.zeros_like(flat)
        for one, its in zip(flat, out, strict=True):
            add_mass_products(self.rows, self.columns, self.values, one, its)
        return out.reshape(v.shape)

    def sums(self, n: int) -> np.ndarray:
        """(n,) of its rows."""
        apart = self.rows != self.columns
        return np.bincount(self.rows, self.values, n) + np.bincount(self.columns[apart], self.values[apart], n)


def cell_masses(asked: Any) -> tuple[np.ndarray, np.ndarray]:
    """Cells of a deformable (n, k) and their masses (n,) [kg]."""
    mesh, rho = asked.mesh, asked.density
    if asked.kind == "soft":
        return mesh.tets, rho * mesh.volumes
    if asked.kind == "cloth":
        return mesh.faces, rho * float(asked.material.thickness) * mesh.areas
    return mesh.edges, rho * np.pi * mesh.radius**2 * mesh.lengths


def lumped(asked: Any) -> np.ndarray:
    """(n,) masses of vertices [kg]."""
    cells, masses = cell_masses(asked)
    k = cells.shape[1]
    shares = np.full(k, 1.0 / k) if k < 10 else np.array([CORNER] * 4 + [MIDDLE] * 6)
    return np.bincount(cells.ravel(), weights=np.outer(masses, shares).ravel(), minlength=len(asked.mesh.vertices))


def consistent(asked: Any) -> MassMatrix:
    """M of a deformable."""
    cells, masses = cell_masses(asked)
    k = cells.shape[1]
    shares = (np.eye(k) + 1.0) / (k * (k + 1)) if k < 10 else quadratic_shares()
    M = MassMatrix.of_cells(np.asarray(cells, np.int64), masses[:, None, None] * shares)
    return M.plus(spin_inertia(asked)) if getattr(asked.mesh, "directors", False) else M


def spinning(asked: Any) -> MassMatrix:
    """M of a rod with directors whose masses are lumped."""
    every, mass = np.arange(asked.mesh.points), lumped(asked)[: asked.mesh.points]
    return MassMatrix(every, every, mass).plus(spin_inertia(asked))


def spin_inertia(asked: Any) -> MassMatrix:
    """Of directors d at distances R beside the middles x̄ of edges of mass m: T = ½ (I/R²) |ḋ − dx̄/dt|² with I = m r²/2 about the axis. It
    has no weight, and no momentum."""
    mesh, (cells, masses) = asked.mesh, cell_masses(asked)
    R = np.linalg.norm(mesh.vertices[mesh.points :] - mesh.vertices[cells].mean(axis=1), axis=1)
    w = np.array([-0.5, -0.5, 1.0])
    corners = np.concatenate([cells, mesh.points + np.arange(len(cells))[:, None]], axis=1)
    return MassMatrix.of_cells(corners.astype(np.int64), (0.5 * masses * (mesh.radius / R) ** 2)[:, None, None] * np.outer(w, w))


@cache
def quadratic_shares() -> np.ndarray:
    """(10, 10) ∫ N_i N_j / V of a quadratic tetrahedron with straight edges."""
    unit = np.eye(4, dtype=int)
    shapes = [[(2.0, 2 * unit[a]), (-1.0, unit[a])] for a in range(4)] + [[(4.0, unit[a] + unit[b])] for a, b in EDGES]
    out = np.zeros((10, 10))
    for (i, one), (j, other) in product(enumerate(shapes), enumerate(shapes)):
        for (c, p), (d, q) in product(one, other):
            powers = (p + q).tolist()
            out[i, j] += c * d * 6.0 * prod(factorial(n) for n in powers) / factorial(sum(powers) + 3)
    out.flags.writeable = False
    return out
