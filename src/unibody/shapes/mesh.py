"""A solid bounded by triangles, with exact mass properties by signed tetrahedra.

Every face (a, b, c) spans a tetrahedron with the origin, of signed volume V = a · (b × c) / 6. By the divergence theorem the
integrals over the solid are the sums over these tetrahedra of

∫ 1 = V,      ∫ x = V s / 4,      ∫ x xᵀ = V (a aᵀ + b bᵀ + c cᵀ + s sᵀ) / 20,      s = a + b + c,

and the inertia about the centre of mass is tr(C) 1 − C with C = ∫ (x − c)(x − c)ᵀ. The sums run about the mean vertex, so that
a solid far from the origin loses no digits.

A mesh is a solid when each directed edge occurs once and its reverse occurs once (watertight), and when faces are seen
counter-clockwise from outside. Several closed components are one solid; a component that is inside out is a cavity, and must
lie inside another. Components that overlap count twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from unibody.errors import ModelError
from unibody.shapes.base import Shape
from unibody.shapes.mass import MassProperties
from unibody.shapes.mesh_files import read_obj, read_stl

FLAT = 1e-14
"""A face is degenerate when its area is below this fraction of its longest edge squared: only round-off is left of it. So is a solid
whose volume is below this fraction of the cube of its longest side."""
FARTHEST = 1e50
"""A coordinate [m] whose fifth power, of which moments of inertia are made, is still a number."""


@dataclass(frozen=True, eq=False)
class Mesh(Shape):
    """A watertight triangle mesh, faces counter-clockwise from outside.

    >>> tetrahedron = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    >>> round(6 * tetrahedron.volume, 12)
    1.0
    """

    vertices: np.ndarray
    """In the shape's frame [m], (n, 3)."""
    faces: np.ndarray
    """Indices of vertices, (m, 3)."""

    def __post_init__(self) -> None:
        vertices, faces = as_arrays(self.vertices, self.faces)
        _check_faces(vertices, faces)
        _check_watertight(faces)
        _check_orientation(vertices, faces)
        vertices.flags.writeable = False
        faces.flags.writeable = False
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)

    @classmethod
    def read(cls, path: str | Path, scale: float = 1.0) -> Mesh:
        """The mesh in an OBJ or STL file; `scale` turns the file's unit into metres. A negative one mirrors it."""
        vertices, faces = read_triangles(path)
        try:
            return cls(vertices * float(scale), faces[:, ::-1] if scale < 0.0 else faces)
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from None

    @property
    def volume(self) -> float:
        return self._integrals[0]

    def mass_properties(self, density: float) -> MassProperties:
        volume, com, second = self._integrals
        return MassProperties(density * volume, com, density * (np.trace(second) * np.eye(3) - second))

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        return self.vertices.copy(), self.faces.copy()

    @cached_property
    def _integrals(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Volume, centre of mass, and the second moments about it."""
        centre = self.vertices.mean(axis=0)
        corners = (self.vertices - centre)[self.faces]
        V = _signed_volumes(corners)
        s = corners.sum(axis=1)
        volume = V.sum()
        com = V @ s / (4.0 * volume)
        second = np.einsum("f,fki,fkj->ij", V, corners, corners) + np.einsum("f,fi,fj->ij", V, s, s)
        return float(volume), com + centre, second / 20.0 - volume * np.outer(com, com)


def read_triangles(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3), in the file's unit, and faces (m, 3) of an OBJ or STL file."""
    path = Path(path)
    readers = {".obj": read_obj, ".stl": read_stl}
    if path.suffix.lower() not in readers:
        raise ModelError(f"{path}: meshes with the ending '{path.suffix}' are not read; give an .obj or .stl file")
    if not path.is_file():
        raise ModelError(f"{path}: no such file; check the path")
    return readers[path.suffix.lower()](path)


def as_arrays(vertices: object, faces: object, what: str = "Mesh") -> tuple[np.ndarray, np.ndarray]:
    try:
        points = np.array(vertices, dtype=float)
        corners = np.array(faces)
    except (TypeError, ValueError):
        raise ModelError(f"{what}: vertices or faces are not a table of numbers; give (n, 3) vertices and (m, 3) faces") from None
    if points.ndim != 2 or points.shape[1] != 3:
        raise ModelError(f"{what}: vertices have shape {points.shape}; give (n, 3)")
    if corners.ndim != 2 or corners.shape[1] != 3 or len(corners) == 0:
        raise ModelError(f"{what}: faces have shape {corners.shape}; give (m, 3) with m > 0")
    if not np.issubdtype(corners.dtype, np.integer):
        raise ModelError(f"{what}: faces are {corners.dtype}, not vertex indices; give integers")
    if not np.isfinite(points).all():
        bad = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise ModelError(f"{what}: vertex {bad} is {tuple(points[bad].tolist())}; give finite coordinates")
    if np.abs(points).max() > FARTHEST:
        bad = int(np.flatnonzero((np.abs(points) > FARTHEST).any(axis=1))[0])
        raise ModelError(f"{what}: vertex {bad} is {tuple(points[bad].tolist())}; give coordinates below {FARTHEST:g} m")
    if corners.min() < 0 or corners.max() >= len(points):
        bad = int(np.flatnonzero(((corners < 0) | (corners >= len(points))).any(axis=1))[0])
        last = len(points) - 1
        raise ModelError(f"{what}: face {bad} is {tuple(corners[bad].tolist())}, but vertices are 0 … {last}; correct the indices")
    return points, corners.astype(np.int64)


def _check_faces(vertices: np.ndarray, faces: np.ndarray) -> None:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.max([((b - a) ** 2).sum(axis=1), ((c - b) ** 2).sum(axis=1), ((a - c) ** 2).sum(axis=1)], axis=0)
    flat = np.flatnonzero(~(area > FLAT * longest))
    if len(flat):
        bad = int(flat[0])
        raise ModelError(
            f"Mesh: face {bad} with vertices {tuple(faces[bad].tolist())} has no area ({len(flat)} such faces); "
            "remove degenerate faces and merge their corners"
        )


def _check_watertight(faces: np.ndarray) -> None:
    n = int(faces.max()) + 1  # the edge from i to j is the number i n + j
    directed = np.concatenate([faces[:, 0] * n + faces[:, 1], faces[:, 1] * n + faces[:, 2], faces[:, 2] * n + faces[:, 0]])
    once, counts = np.unique(directed, return_counts=True)
    if counts.max() > 1:
        i, j = divmod(int(once[counts.argmax()]), n)
        raise ModelError(
            f"Mesh: edge ({i}, {j}) runs the same way in {counts.max()} faces; "
            "orient all faces counter-clockwise from outside, and let no edge be shared by more than two"
        )
    open_edges = once[~np.isin(once % n * n + once // n, once, assume_unique=True)]
    if len(open_edges):
        i, j = divmod(int(open_edges[0]), n)
        raise ModelError(f"Mesh: edge ({i}, {j}) belongs to one face only ({len(open_edges)} such edges); close the surface")


def _check_orientation(vertices: np.ndarray, faces: np.ndarray) -> None:
    corners = (vertices - vertices.mean(axis=0))[faces]
    component = _components(faces, len(vertices))
    V = _signed_volumes(corners)
    volumes = np.bincount(component, weights=V)
    if not volumes.sum() > FLAT * np.ptp(vertices, axis=0).max() ** 3:
        raise ModelError(
            f"Mesh: its volume is {volumes.sum():g}: it is inside out or empty; reverse the order of the vertices in every face"
        )
    for index in np.flatnonzero(volumes < 0.0):
        point = corners[component == index][0, 0]
        if not any(winding(corners[component == other], point) > 0.5 for other in np.flatnonzero(volumes > 0.0)):
            raise ModelError(
                f"Mesh: the component of vertex {int(faces[component == index].min())} is inside out (volume {volumes[index]:g}) "
                "and no cavity of another; reverse the order of the vertices in its faces"
            )


def _components(faces: np.ndarray, n: int) -> np.ndarray:
    """Which connected component each face belongs to: the smallest vertex index spreads along faces, halving paths."""
    label = np.arange(n)
    while True:
        smallest = label[faces].min(axis=1)
        spread = label.copy()
        np.minimum.at(spread, faces.ravel(), np.repeat(smallest, 3))
        spread = spread[spread]
        if np.array_equal(spread, label):
            return np.unique(label[faces[:, 0]], return_inverse=True)[1]
        label = spread


def _signed_volumes(corners: np.ndarray) -> np.ndarray:
    return np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0


def winding(corners: np.ndarray, point: np.ndarray) -> float:
    """How often the surface encloses `point`: its solid angle over 4π (Van Oosterom and Strackee 1983)."""

    def dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.einsum("fi,fi->f", x, y)

    a, b, c = (corners[:, k] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    numerator = dot(a, np.cross(b, c))
    denominator = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return float(np.arctan2(numerator, denominator).sum() / (2.0 * np.pi))
