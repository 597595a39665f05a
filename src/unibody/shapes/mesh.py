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

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unibody.errors import ModelError
from unibody.shapes.base import Shape
from unibody.shapes.hull import hull_of
from unibody.shapes.mass import MassProperties
from unibody.shapes.mesh_files import read_obj, read_stl
from unibody.shapes.mesh_formats import read_placed
from unibody.shapes.mesh_mending import LARGEST_HOLE, Mended, clean, mend
from unibody.shapes.mesh_parts import FLAT, components, signed_volumes, winding

__all__ = ["Mesh"]

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
    mended: ClassVar[str] = ""
    """Of a mesh from `load` what was changed to close it; of one from `convex_hull` how far points reach out of it."""

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

    @classmethod
    def load(cls, path: str | Path, scale: Any = 1.0, fill_holes: bool | float = True) -> Mesh:
        """The solid in an OBJ, STL, PLY, glTF or GLB file, mended where it is broken; `mended` says how.

        Equal vertices are merged, degenerate and double faces dropped, faces turned outwards, holes filled: those up to a quarter of the
        longest side, or up to `fill_holes` of it if that is a number. `scale`, one number or three, turns the file's unit into metres; a
        negative one mirrors. What cannot be closed is refused.

        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "tetrahedron without a face.obj"
        >>> _ = path.write_text("v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nv 0 0 1\\nf 1 3 2\\nf 1 2 4\\nf 1 4 3\\n")
        >>> mesh = Mesh.load(path, fill_holes=2.0)
        >>> round(6 * mesh.volume, 12), mesh.mended
        (1.0, '1 hole filled')
        """
        vertices, faces = load_triangles(path, scale)
        try:
            return cls.closing(vertices, faces, fill_holes)
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from None

    @classmethod
    def closing(cls, vertices: Any, faces: Any, fill_holes: bool | float = True) -> Mesh:
        """The solid that triangles enclose, mended as `load` does."""
        x, f = as_arrays(vertices, faces)
        largest = LARGEST_HOLE if fill_holes is True else float(fill_holes)
        if not 0.0 <= largest < np.inf:
            raise ModelError(f"Mesh: fill_holes {fill_holes!r} is no part of a size; give True, False, or a number such as 0.5")
        with contextlib.suppress(ModelError):  # most files are sound but for vertices that occur several times
            points, corners, said = clean(x, f)
            return cls._with(points, corners, "; ".join(said))
        made = mend(x, f, largest)
        if made.faults:
            raise ModelError(_open(made, largest))
        solid = cls(made.vertices, made.faces)
        doubled = solid.volume > (1.0 + 1e-6) * solid.hull().volume
        told = [*made.said, *(["its pieces overlap, and what they share counts twice"] if doubled else [])]
        object.__setattr__(solid, "mended", "; ".join(told))
        return solid

    @classmethod
    def convex_hull(cls, points: Any, most: int | None = None, tolerance: float = 0.0) -> Mesh:
        """The convex hull of points (n, 3), of at most `most` vertices, leaving out what reaches less than `tolerance` (a part of the
        longest side) out of it; `mended` says how far that is.

        >>> round(Mesh.convex_hull([(x, y, z) for x in (0, 1, 2) for y in (0, 1) for z in (0, 1)]).volume, 12)
        2.0
        """
        x, _ = as_arrays(points, [(0, 0, 0)])
        if most is not None and int(most) < 4:
            raise ModelError(f"Mesh: a convex hull of {most} vertices has no volume; give 4 or more")
        vertices, faces, short = hull_of(x, most, float(tolerance))
        size = float(np.ptp(x, axis=0).max())
        return cls._with(vertices, faces, f"{len(vertices)} vertices; points reach up to {short:.2g} m out" if short > 1e-8 * size else "")

    def hull(self, most: int | None = None, tolerance: float = 0.0) -> Mesh:
        """Its convex hull; see `convex_hull`."""
        return type(self).convex_hull(self.vertices, most, tolerance)

    @classmethod
    def _with(cls, vertices: np.ndarray, faces: np.ndarray, mended: str) -> Mesh:
        mesh = cls(vertices, faces)
        object.__setattr__(mesh, "mended", mended)
        return mesh

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
        V = signed_volumes(corners)
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
    if not os.path.isfile(path):
        raise ModelError(f"{path}: no such file; check the path")
    return readers[path.suffix.lower()](path)


def load_triangles(path: str | Path, scale: Any = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) [m] and faces (m, 3) of an OBJ, STL, PLY, glTF or GLB file."""
    path = Path(path)
    readers: dict[str, Callable[[Path], tuple[np.ndarray, np.ndarray]]] = {
        ".obj": partial(read_obj, lenient=True),
        ".stl": read_stl,
        ".ply": read_placed,
        ".glb": read_placed,
        ".gltf": read_placed,
    }
    if path.suffix.lower() not in readers:
        raise ModelError(f"{path}: meshes with the ending '{path.suffix}' are not read; give one of {', '.join(readers)}")
    if not os.path.isfile(path):
        raise ModelError(f"{path}: no such file; check the path")
    try:
        factors = np.broadcast_to(np.asarray(scale, float), 3)
    except (TypeError, ValueError, OverflowError):
        factors = np.zeros(3)
    if not (np.isfinite(factors).all() and factors.all()):
        raise ModelError(f"{path}: scale {scale!r} is no scale; give one number or three, none of them 0")
    vertices, faces = readers[path.suffix.lower()](path)
    return vertices * factors, faces[:, ::-1] if np.prod(factors) < 0.0 else faces


def _open(made: Mended, largest: float) -> str:
    """Why a surface cannot be a solid."""
    remedy = "take OpenMesh.load, or Mesh.convex_hull of its vertices"
    if not made.open_edges:
        return f"Mesh: {made.thin} faces without area remain; {remedy}"
    wide = f"a hole {made.widest:.3g} m wide" if made.widest else "faces that end within others"
    return f"Mesh: {made.open_edges} open edges remain, {wide} (up to {largest:g} of the longest side is filled); {remedy}"


def as_arrays(vertices: object, faces: object, what: str = "Mesh") -> tuple[np.ndarray, np.ndarray]:
    try:
        points = np.array(vertices, dtype=float)
        corners = np.array(faces)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: vertices or faces are not a table of numbers; give (n, 3) vertices and (m, 3) faces") from None
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise ModelError(f"{what}: vertices have shape {points.shape}; give (n, 3) with n > 0")
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
    component = components(faces, len(vertices))
    V = signed_volumes(corners)
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
