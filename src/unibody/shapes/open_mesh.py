"""A surface of triangles that need not close: the covers of a robot, a terrain. It has no inside, hence no volume and no mass."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unibody.errors import ModelError
from unibody.shapes.base import Shape
from unibody.shapes.mass import MassProperties
from unibody.shapes.mesh import as_arrays, load_triangles, read_triangles
from unibody.shapes.mesh_mending import clean

__all__ = ["OpenMesh"]


@dataclass(frozen=True, eq=False)
class OpenMesh(Shape):
    """Triangles as they come, degenerate ones included; give the body mass= and inertia=.

    >>> OpenMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]).volume
    0.0
    """

    vertices: np.ndarray
    """In the shape's frame [m], (n, 3)."""
    faces: np.ndarray
    """Indices of vertices, (m, 3)."""
    mended: ClassVar[str] = ""
    """Of a surface from `load` what was changed."""

    def __post_init__(self) -> None:
        vertices, faces = as_arrays(self.vertices, self.faces, "OpenMesh")
        vertices.flags.writeable = False
        faces.flags.writeable = False
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)

    @classmethod
    def read(cls, path: str | Path, scale: float = 1.0) -> OpenMesh:
        """The surface in an OBJ or STL file; `scale` turns the file's unit into metres."""
        vertices, faces = read_triangles(path)
        return cls(vertices * float(scale), faces)

    @classmethod
    def load(cls, path: str | Path, scale: Any = 1.0) -> OpenMesh:
        """The surface in an OBJ, STL, PLY, glTF or GLB file, equal vertices merged, degenerate and double faces dropped; `scale`, one
        number or three, turns the file's unit into metres, a negative one mirrors."""
        vertices, faces, said = clean(*as_arrays(*load_triangles(path, scale), f"{path}: OpenMesh"))
        surface = cls(vertices, faces)
        object.__setattr__(surface, "mended", "; ".join(said))
        return surface

    @property
    def volume(self) -> float:
        return 0.0

    def mass_properties(self, density: float) -> MassProperties:
        raise ModelError("OpenMesh: an open surface has no volume and no mass; give the body mass= and inertia=, or a closed Mesh")

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        return self.vertices.copy(), self.faces.copy()
