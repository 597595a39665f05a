"""Sheets of triangles: cloth and shells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.meshes import sheets
from unibody.meshes.checking import (
    FLATTEST,
    as_cells,
    as_vertices,
    check_one_piece,
    counted_sides,
    longest_edges,
    sides_of,
    triangle_areas,
)  # fmt: skip

__all__ = ["TriMesh"]

ROUND = ((0, 1), (1, 2), (2, 0))
"""The edges of a triangle, in the direction in which it goes round."""


@dataclass(frozen=True, eq=False)
class TriMesh:
    """A sheet of triangles in one piece: no edge belongs to more than two, and neighbours go round the same way.

    >>> mesh = TriMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    >>> mesh.area, mesh.boundary().tolist()
    (0.5, [[0, 1], [1, 2], [2, 0]])
    """

    vertices: np.ndarray
    """(n, 3) at rest [m]."""
    faces: np.ndarray
    """(m, 3)"""
    flat: np.ndarray | None = None
    """(n, 2) where vertices lie in the flat piece that the sheet was cut as: warp along its first axis, weft along its second. None: the
    sheet has no other shape than `vertices`."""

    def __post_init__(self) -> None:
        what = type(self).__name__
        vertices = as_vertices(what, self.vertices)
        faces = as_cells(what, "faces", self.faces, (3,), len(vertices))
        check_areas(what, vertices, faces)
        edges = sides_of(faces, ROUND)
        inverse, counts = counted_sides(edges)
        if (counts > 2).any():
            a, b = edges[int(np.argmax(counts[inverse] > 2))]
            raise ModelError(f"{what}: edge ({a}, {b}) belongs to {counts.max()} faces, where cloth has two at most; mend the mesh")
        directed = edges[:, 0] * len(vertices) + edges[:, 1]
        _, first, times = np.unique(directed, return_index=True, return_counts=True)
        if (times > 1).any():
            a, b = edges[int(first[np.argmax(times > 1)])]
            raise ModelError(f"{what}: the faces at edge ({a}, {b}) go round it the same way; turn one of them over")
        check_one_piece(what, "faces", inverse.reshape(-1, 3), len(counts))
        self._check_fans(what, faces, edges, len(vertices))
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)
        if self.flat is not None:
            object.__setattr__(self, "flat", self._checked_flat(what, faces, len(vertices)))

    @staticmethod
    def grid(size: Any, spacing: float, pattern: str = "equilateral") -> TriMesh:
        """A rectangle about the origin in the plane z = 0, rows of points along x. `pattern`: "equilateral" (nearly); "regular", squares
        cut by the same diagonal; or "alternating", by one and the other.

        >>> TriMesh.grid((2.0, 1.0), spacing=0.5, pattern="regular").area
        2.0
        """
        return TriMesh(*sheets.grid_triangles(size, spacing, pattern))

    @staticmethod
    def disc(radius: float, spacing: float) -> TriMesh:
        """A disc about the origin in the plane z = 0: its middle, then rings outwards."""
        return TriMesh(*sheets.disc_triangles(radius, spacing))

    @staticmethod
    def cylinder(radius: float, length: float, spacing: float) -> TriMesh:
        """The side of a cylinder about the z axis, open at both ends."""
        return TriMesh(*sheets.cylinder_triangles(radius, length, spacing))

    @staticmethod
    def from_outline(outline: Any, spacing: float) -> TriMesh:
        """What a polygon (n, 2) bounds, in the plane z = 0; the points of its rim first."""
        return TriMesh(*sheets.outline_triangles(outline, spacing))

    @staticmethod
    def load(path: Any, scale: float = 1.0) -> TriMesh:
        """The triangles of an .obj, .stl or .ply file, or of one that meshio reads; `scale` turns the file's unit into metres."""
        from unibody.meshes.loading import load_sheet

        return load_sheet(path, scale)

    @staticmethod
    def _check_fans(what: str, faces: np.ndarray, edges: np.ndarray, n: int) -> None:
        """Refuse vertices at which several fans of faces meet: (edges at a vertex) − (faces at it) is 0 inside and 1 at a rim."""
        ends = np.unique(np.sort(edges, axis=1), axis=0)
        spare = np.bincount(ends.ravel(), minlength=n) - np.bincount(faces.ravel(), minlength=n)
        inverse, counts = counted_sides(edges)
        rim = np.bincount(np.unique(edges[counts[inverse] == 1].ravel()), minlength=n)
        wrong = np.flatnonzero(spare > np.minimum(rim, 1))
        if wrong.size:
            raise ModelError(f"{what}: at vertex {wrong[0]} pieces of the sheet meet in a point only; give each a vertex of its own")

    def _checked_flat(self, what: str, faces: np.ndarray, n: int) -> np.ndarray:
        try:
            flat = np.array(self.flat, float)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"{what}: flat is not numeric; give ({n}, 2) in metres") from None
        if flat.shape != (n, 2) or not np.isfinite(flat).all():
            raise ModelError(f"{what}: flat of shape {flat.shape}; give ({n}, 2) finite numbers, one row a vertex")
        check_areas(f"{what} flat", np.column_stack([flat, np.zeros(n)]), faces)
        flat.flags.writeable = False
        return flat

    @cached_property
    def areas(self) -> np.ndarray:
        """(m,) of the faces at rest [m²]: of the flat piece, where there is one."""
        X = self.vertices if self.flat is None else np.column_stack([self.flat, np.zeros(len(self.flat))])
        return triangle_areas(X, self.faces)

    @property
    def area(self) -> float:
        """[m²]"""
        return float(self.areas.sum())

    def edges(self) -> np.ndarray:
        """(k, 2) every edge once, the lower number first."""
        return np.unique(np.sort(sides_of(self.faces, ROUND), axis=1), axis=0)

    def boundary(self) -> np.ndarray:
        """(k, 2) the edges with a face on one side only, in the direction in which that face goes round."""
        edges = sides_of(self.faces, ROUND)
        inverse, counts = counted_sides(edges)
        return edges[counts[inverse] == 1]

    @property
    def closed(self) -> bool:
        """Whether it has no boundary."""
        return not len(self.boundary())

    def quality(self) -> np.ndarray:
        """(m,) of the faces: 4√3 A / Σ d², 1 for an equilateral one, towards 0 for a flat one."""
        X = self.vertices[self.faces]
        squares = sum(np.sum((X[:, i] - X[:, j]) ** 2, axis=1) for i, j in ROUND)
        return 4.0 * np.sqrt(3.0) * triangle_areas(self.vertices, self.faces) / squares

    def moved(self, X: Any) -> TriMesh:
        """The same mesh at a pose (anything with `R` and `p`)."""
        return TriMesh(self.vertices @ np.asarray(X.R).T + np.asarray(X.p), self.faces, self.flat)


def check_areas(what: str, vertices: np.ndarray, faces: np.ndarray) -> None:
    """Refuse triangles that are lines or points, by number."""
    areas, longest = triangle_areas(vertices, faces), longest_edges(vertices[faces])
    wrong = np.flatnonzero(~(areas > FLATTEST * longest**2))
    if wrong.size:
        k = int(wrong[0])
        said = f"has no area ({areas[k]:.3g} m²; {wrong.size} such)"
        raise ModelError(f"{what}: faces[{k}] {faces[k].tolist()} {said}; mend the mesh")
