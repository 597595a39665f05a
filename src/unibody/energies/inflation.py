"""Inflation: a pressure p within closed cloth, which does the work p dV as the volume V grows.

    W = −p V,     V = Σ_faces (a − o) · ((b − o) × (c − o)) / 6

with a vertex o of the cloth itself, so that every stencil (a, b, c, o) stays what it is in rigid motion; faces at o span no volume. With
A = a − o and so on,

    ∂W/∂a = −p/6 B × C,    ∂W/∂b = −p/6 C × A,    ∂W/∂c = −p/6 A × B,    ∂W/∂o = −(their sum)
    ∂²W/∂a∂b = p/6 [C]×,   ∂²W/∂b∂c = p/6 [A]×,   ∂²W/∂c∂a = p/6 [B]×,   and o takes the opposite of what each row adds up to
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unibody.energies.base import Energy, Stencils


@dataclass(frozen=True)
class Inflation(Energy):
    """A constant `pressure` [Pa] within closed cloth; below 0 it sucks."""

    pressure: float

    vertices: ClassVar[int] = 4

    def rest(self, X: np.ndarray) -> np.ndarray:
        return np.full((len(X), 1), float(self.pressure))

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        A, B, C = x[:3] - x[3]
        return float(-parameters[0] / 6.0 * (A @ np.cross(B, C)))

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        A, B, C = x[:3] - x[3]
        g = -parameters[0] / 6.0 * np.array([np.cross(B, C), np.cross(C, A), np.cross(A, B)])
        return np.concatenate([g, -g.sum(axis=0)[None]])

    def hessian(self, parameters: np.ndarray, x: np.ndarray, project: bool) -> np.ndarray:
        A, B, C = (parameters[0] / 6.0 * _cross(d) for d in x[:3] - x[3])
        H = np.zeros((4, 3, 4, 3))
        for i, j, block in ((0, 1, C), (1, 2, A), (2, 0, B)):
            H[i, :, j], H[j, :, i] = block, block.T
        H[:3, :, 3] = -H[:3, :, :3].sum(axis=2)
        H[3, :, :3] = H[:3, :, 3].transpose(2, 0, 1)
        H[3, :, 3] = -H[:3, :, 3].sum(axis=0)
        whole = H.reshape(12, 12)
        if not project:
            return whole
        values, axes = np.linalg.eigh(whole)
        return (axes * np.maximum(values, 0.0)) @ axes.T

    def stencils(self, mesh: Any) -> Sequence[Stencils]:
        faces = np.asarray(mesh.faces)
        o = int(np.argmax(np.bincount(faces.ravel())))
        faces = faces[(faces != o).all(axis=1)]
        index = np.column_stack([faces, np.full(len(faces), o)])
        return [Stencils(self, index, self.rest(np.asarray(mesh.vertices)[index]))]


def _cross(d: np.ndarray) -> np.ndarray:
    """[d]×"""
    return np.array([[0.0, -d[2], d[1]], [d[2], 0.0, -d[0]], [-d[1], d[0], 0.0]])
