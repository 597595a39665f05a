"""Solids of tetrahedra.

A linear tetrahedron has four corners 0 1 2 3, with det(x₁ − x₀, x₂ − x₀, x₃ − x₀) > 0; a quadratic one six vertices more, at the middles of
its edges 01, 12, 02, 03, 13, 23 in this order, which is that of VTK and Gmsh's first eight (Gmsh changes the last two).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.meshes import lattice
from unibody.meshes.checking import (
    FLATTEST,
    as_cells,
    as_vertices,
    check_one_piece,
    counted_sides,
    longest_edges,
    sides_of,
    tet_volumes,
)  # fmt: skip

__all__ = ["TetMesh"]

SIDES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
"""The faces of a tetrahedron, seen counter-clockwise from outside."""
EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
"""Its edges, in the order of the middle vertices of a quadratic one."""
MIDDLES = {frozenset(edge): 4 + k for k, edge in enumerate(EDGES)}


@dataclass(frozen=True, eq=False)
class TetMesh:
    """A solid of tetrahedra, in one piece, none of them flat or turned inside out.

    >>> mesh = TetMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2, 3)])
    >>> round(6 * mesh.volume, 12), mesh.order, len(mesh.surface())
    (1.0, 1, 4)
    """

    vertices: np.ndarray
    """(n, 3) [m]"""
    tets: np.ndarray
    """(m, 4) vertices of each, or (m, 10)."""

    def __post_init__(self) -> None:
        what = type(self).__name__
        vertices = as_vertices(what, self.vertices)
        tets = as_cells(what, "tets", self.tets, (4, 10), len(vertices))
        self._check_sizes(what, vertices, tets)
        _, counts = counted_sides(sides_of(tets, SIDES))
        if (counts > 2).any():
            raise ModelError(f"{what}: {int((counts > 2).sum())} faces are in more than two tets; no solid is like that, mend the mesh")
        self._check_whole(what, tets)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "tets", tets)

    @staticmethod
    def _check_sizes(what: str, vertices: np.ndarray, tets: np.ndarray) -> None:
        """Refuse flat and inverted tetrahedra, by number; of quadratic ones, by their Jacobian at all ten vertices."""
        volumes, longest = tet_volumes(vertices, tets), longest_edges(vertices[tets[:, :4]])
        wrong = np.flatnonzero(~(volumes > FLATTEST * longest**3))
        if wrong.size:
            k = int(wrong[0])
            said = "is turned inside out" if volumes[k] < -FLATTEST * longest[k] ** 3 else "is flat"
            remedy = "swap two of its vertices" if said.startswith("is turned") else "mend the mesh"
            raise ModelError(f"{what}: tets[{k}] {tets[k].tolist()} {said} (volume {volumes[k]:.3g} m³; {wrong.size} such); {remedy}")
        if tets.shape[1] == 10:
            J = np.min([np.linalg.det(np.einsum("kai,aj->kij", vertices[tets], slopes(at))) for at in _NATURAL], axis=0)
            if (J <= FLATTEST * longest**3).any():
                k = int(np.argmin(J))
                raise ModelError(f"{what}: tets[{k}] {tets[k].tolist()} folds over itself at a vertex; put its middle vertices straighter")

    @staticmethod
    def _check_whole(what: str, tets: np.ndarray) -> None:
        """Refuse tetrahedra that hang together by edges or corners only."""
        sides = sides_of(tets, SIDES)
        inverse, counts = counted_sides(sides)
        check_one_piece(what, "tets", inverse.reshape(-1, 4), len(counts))
        outer = sides[counts[inverse] == 1]
        edges = sides_of(outer, ((0, 1), (1, 2), (2, 0)))
        inverse, counts = counted_sides(edges)
        if (counts > 2).any():
            a, b = edges[int(np.argmax(counts[inverse] > 2))]
            raise ModelError(f"{what}: the surface meets itself along edge ({a}, {b}); give each part vertices of its own, or join them")

    @staticmethod
    def box(size: Any, cells: Any) -> TetMesh:
        """A box of these sides about the origin, of cells (nx, ny, nz), each six tetrahedra.

        >>> len(TetMesh.box((1.0, 0.1, 0.1), cells=(20, 2, 2)).tets)
        480
        """
        return TetMesh(*lattice.box_tets(size, cells))

    @staticmethod
    def cylinder(radius: float, length: float, cells: Any) -> TetMesh:
        """A cylinder about the z axis; `cells`: how many across and how many along, or one number for both."""
        return TetMesh(*lattice.cylinder_tets(radius, length, cells))

    @staticmethod
    def ball(radius: float, cells: int) -> TetMesh:
        """A ball about the origin, of so many cells across."""
        return TetMesh(*lattice.ball_tets(radius, cells))

    @staticmethod
    def cage(surface: Any, cells: int) -> TetMesh:
        """The cubes of a lattice that a surface (a TriMesh, a Mesh or another shape) touches or bounds; so many cells along its longest
        side. What is simulated is the cage, mass and stiffness too; `embed` shows the surface in it."""
        from unibody.meshes.cage import cage_tets

        return TetMesh(*cage_tets(surface, cells))

    @staticmethod
    def fill(surface: Any, edge: Any = None, tolerance: Any = None) -> TetMesh:
        """What is within a surface (a TriMesh, a Mesh or another shape), in tetrahedra with edges of about this length [m] (None: a
        twentieth of its diagonal), whose boundary keeps to the surface within `tolerance` [m] (None: a thousandth). The extra `tetrahedra`
        does it; the surface may be open or cross itself a little."""
        from unibody.meshes.filling import fill_tets

        return TetMesh(*fill_tets(surface, edge, tolerance))

    @staticmethod
    def load(path: Any, scale: float = 1.0) -> TetMesh:
        """The tetrahedra of a .msh, .vtk, .vtu or other file that meshio reads; `scale` turns the file's unit into metres."""
        from unibody.meshes.loading import load_tets

        return load_tets(path, scale)

    @property
    def order(self) -> int:
        """1 of linear tetrahedra, 2 of quadratic ones."""
        return 1 if self.tets.shape[1] == 4 else 2

    @cached_property
    def volumes(self) -> np.ndarray:
        """(m,) of the tetrahedra [m³]."""
        if self.order == 1:
            return tet_volumes(self.vertices, self.tets)
        return sum(
            w * np.linalg.det(np.einsum("kai,aj->kij", self.vertices[self.tets], slopes(at))) / 6.0 for at, w in _RULE
        )

    @property
    def volume(self) -> float:
        """[m³]"""
        return float(self.volumes.sum())

    def surface(self) -> np.ndarray:
        """(k, 3) the triangles of its surface, counter-clockwise from outside; four to each side of a quadratic tetrahedron."""
        inverse, counts = counted_sides(sides_of(self.tets, SIDES))
        outer = np.flatnonzero(counts[inverse] == 1)
        if self.order == 1:
            return sides_of(self.tets, SIDES)[outer]
        out = []
        for cell, side in zip(outer // 4, outer % 4, strict=True):
            a, b, c = SIDES[side]
            ab, bc, ca = (MIDDLES[frozenset(edge)] for edge in ((a, b), (b, c), (c, a)))
            out += [self.tets[cell, list(t)] for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        return np.array(out)

    def quadratic(self) -> TetMesh:
        """The same solid of quadratic tetrahedra, with vertices at the middles of all edges."""
        if self.order == 2:
            return self
        edges = sides_of(self.tets, EDGES)
        inverse, _ = counted_sides(edges)
        first = np.unique(inverse, return_index=True)[1]
        middles = 0.5 * (self.vertices[edges[first, 0]] + self.vertices[edges[first, 1]])
        tets = np.concatenate([self.tets, len(self.vertices) + inverse.reshape(-1, 6)], axis=1)
        return TetMesh(np.concatenate([self.vertices, middles]), tets)

    def quality(self) -> np.ndarray:
        """(m,) of the tetrahedra, by their corners: 12 (3 V)²ᐟ³ / Σ d², 1 for a regular one, towards 0 for a flat one."""
        X = self.vertices[self.tets[:, :4]]
        squares = np.sum([np.sum((X[:, i] - X[:, j]) ** 2, axis=1) for i in range(4) for j in range(i)], axis=0)
        return 12.0 * np.cbrt((3.0 * tet_volumes(self.vertices, self.tets)) ** 2) / squares

    def moved(self, X: Any) -> TetMesh:
        """The same mesh at a pose (anything with `R` and `p`)."""
        return TetMesh(self.vertices @ np.asarray(X.R).T + np.asarray(X.p), self.tets)


def slopes(L: tuple[float, ...]) -> np.ndarray:
    """(10, 3) ∂N/∂ξ of the ten shape functions at barycentric coordinates L: corners N = L (2 L − 1), middles N = 4 Lᵢ Lⱼ."""
    dL = np.array([[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    corners = [(4.0 * L[i] - 1.0) * dL[i] for i in range(4)]
    return np.array([*corners, *(4.0 * (L[i] * dL[j] + L[j] * dL[i]) for i, j in EDGES)])


_NATURAL = [*map(tuple, np.eye(4)), *(tuple(0.5 * (np.eye(4)[i] + np.eye(4)[j])) for i, j in EDGES)]
"""Barycentric coordinates of the ten vertices."""
_A, _B = 0.5854101966249685, 0.1381966011250105
_C, _D, _E = 1.0 / 6.0, 0.5, 0.25
_RULE = [((_E,) * 4, -0.8), *((tuple(_D if i == k else _C for i in range(4)), 0.45) for k in range(4))]
"""Points and weights of a quadrature that is exact to degree 3, which det of a quadratic map has."""
