"""Energies as users write them: NumPy only, in a file that the package does not know.

    QuarticSpring   W = k/4L² (|x₁ − x₀|² − L²)²             two vertices, its Hessian written out
    Gum             ψ = c/4 |FᵀF − 1|² + c/2 (J − 1)²       a law of solids, by density, stress and tangent
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import unibody as ub
from unibody.energies import Stencils
from unibody.energies.solid import Solid


@dataclass(frozen=True)
class QuarticSpring(ub.Energy):
    """`stiffness` [N/m] of edges."""

    stiffness: float = 3.0

    vertices = 2

    def rest(self, X: np.ndarray) -> np.ndarray:
        square = np.sum((X[:, 1] - X[:, 0]) ** 2, axis=1)
        return np.stack([np.full(len(X), self.stiffness) / square, square], axis=1)

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        d = x[1] - x[0]
        return 0.25 * parameters[0] * (d @ d - parameters[1]) ** 2

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        d = x[1] - x[0]
        f = parameters[0] * (d @ d - parameters[1]) * d
        return np.stack([-f, f])

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        d = x[1] - x[0]
        pull = d @ d - parameters[1]
        S = parameters[0] * (2.0 * np.outer(d, d) + (max(pull, 0.0) if project else pull) * np.eye(3))
        return np.block([[S, -S], [-S, S]])

    def stencils(self, mesh: Any) -> Sequence[Stencils]:
        return [Stencils(self, mesh.edges, self.rest(mesh.vertices[mesh.edges]))]


@dataclass(frozen=True)
class Gum(Solid):
    """A law that no file of the package knows; it is refused where J ≤ 0."""

    def density(self, F: np.ndarray) -> float:
        c, J, E = self.young, np.linalg.det(F), F.T @ F - np.eye(3)
        return 0.25 * c * np.sum(E * E) + 0.5 * c * (J - 1.0) ** 2 if J > 0.0 else np.inf

    def stress(self, F: np.ndarray) -> np.ndarray:
        c, J = self.young, np.linalg.det(F)
        return c * F @ (F.T @ F - np.eye(3)) + c * (J - 1.0) * J * np.linalg.inv(F).T

    def tangent(self, F: np.ndarray) -> np.ndarray:
        c, J, G = self.young, np.linalg.det(F), np.linalg.inv(F).T
        D = c * (np.einsum("ac,bd->abcd", np.eye(3), F.T @ F - np.eye(3)) + np.einsum("ad,cb->abcd", F, F))
        D += c * np.einsum("ac,bd->abcd", F @ F.T, np.eye(3)) + c * J * (2.0 * J - 1.0) * np.einsum("ab,cd->abcd", G, G)
        return (D - c * (J - 1.0) * J * np.einsum("ad,cb->abcd", G, G)).reshape(9, 9)
