"""Sheets: densities of the 3 × 2 deformation gradient of triangles, times area and thickness.

At rest a triangle lies in its plane with the first axis along the warp: the direction of x of the rest shape, laid into the plane. A mesh
may give flat rest coordinates (u, v) instead (`flat`), a pattern: then the warp is u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unibody.element import number
from unibody.energies.base import Stencils
from unibody.energies.continuum import Continuum, Points
from unibody.errors import ModelError

FLAT = 1e-9
"""Of the square of a triangle's longest edge: below it, it has no area."""
STEEP = 0.05
"""A plane to which x is as perpendicular as that (sine) has no warp of its own."""


THICKEST = 1e15
"""[m] Up to which powers of it are numbers."""


def thickness_of(value: Any, what: str) -> float:
    """A thickness > 0 [m], or a ModelError that says so."""
    t = number(value, f"{what} thickness", positive=True)
    if t > THICKEST:
        raise ModelError(f"{what} thickness: {value!r} is more than {THICKEST:g} m; give metres")
    return t


def rest_triangles(X: np.ndarray, what: str, directed: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2, 2) edges U₁ − U₀, U₂ − U₀ as columns in the planes of triangles (n, 3, 3) at rest, and their areas; triangles without area
    are refused by number, and if they are `directed` those without a warp."""
    e, f = X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]
    normal = np.cross(e, f)
    area = 0.5 * np.linalg.norm(normal, axis=1)
    longest = np.linalg.norm(np.stack([e, f, f - e]), axis=2).max(axis=0)
    wrong = np.flatnonzero(~(area > FLAT * longest**2))
    if wrong.size:
        raise ModelError(f"{what}: triangle {wrong[0]} has the area {area[wrong[0]]:.3g} m² at rest; mend the mesh")
    n = normal / (2.0 * area)[:, None]
    warp = np.array([1.0, 0.0, 0.0]) - n[:, :1] * n
    length = np.linalg.norm(warp, axis=1)
    if directed and (length < STEEP).any():
        remedy = "give the mesh flat coordinates (u, v), whose u is the warp"
        raise ModelError(f"{what}: triangle {int(np.argmin(length))} is perpendicular to x and has no warp direction; {remedy}")
    along = np.where((length >= STEEP)[:, None], warp, e)
    along = along / np.linalg.norm(along, axis=1)[:, None]
    across = np.cross(n, along)
    axes = np.stack([along, across], axis=1)
    return np.einsum("nac,nbc->nab", axes, np.stack([e, f], axis=1)), area


def flat_vertices(mesh: Any) -> np.ndarray:
    """(n, 3) rest vertices of a mesh of triangles: its pattern laid flat if it has one."""
    flat = getattr(mesh, "flat", None)
    if flat is None:
        return np.asarray(mesh.vertices, float)
    flat = np.asarray(flat, float)
    return np.concatenate([flat, np.zeros((len(flat), 1))], axis=1)


@dataclass(frozen=True)
class Sheet(Continuum):
    """Base of energies of triangles: a class gives `density`, `stress` and `tangent` of F (3 × 2), and the `constants` of its kernel."""

    vertices: ClassVar[int] = 3
    directed: ClassVar[bool] = False
    """Whether it matters which way the warp lies."""

    def constants(self) -> tuple[float, ...]:
        """What stands behind Λ and w in a row of parameters."""
        return ()

    def depth(self) -> float:
        """[m] The thickness."""
        raise NotImplementedError(f"{type(self).__name__} must give depth()")

    def rest(self, X: np.ndarray) -> np.ndarray:
        U, area = rest_triangles(X, type(self).__name__, self.directed)
        constants = np.broadcast_to(np.asarray(self.constants(), float), (len(X), len(self.constants())))
        return np.concatenate([np.linalg.inv(U).reshape(-1, 4), (self.depth() * area)[:, None], constants], axis=1)

    def points(self, parameters: np.ndarray) -> Points:
        L = parameters[:4].reshape(2, 2)
        return [(np.concatenate([-L.sum(axis=0, keepdims=True), L]), parameters[4])]

    def stencils(self, mesh: Any) -> list[Stencils]:
        faces = np.asarray(mesh.faces, np.int64)
        return [Stencils(self, faces, self.rest(flat_vertices(mesh)[faces]))]
