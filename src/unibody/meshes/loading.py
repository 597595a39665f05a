"""Meshes out of files. OBJ, STL and PLY are read as shapes are, Gmsh's .msh 2.2 and 4.1 by `gmsh`; all others by meshio (the extra `mesh`).

Vertices in no cell are left out. Tetrahedra that are all turned inside out, as some programs write them, are turned over; some of them
among others are an error of the file.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.meshes.checking import tet_volumes
from unibody.meshes.gmsh import VERSIONS, msh_version, read_msh
from unibody.meshes.tet_mesh import TetMesh
from unibody.meshes.tri_mesh import TriMesh
from unibody.shapes.mesh import load_triangles

SURFACES = (".obj", ".stl", ".ply", ".glb", ".gltf")
TURNED = np.array([0, 2, 1, 3, 6, 5, 4, 7, 9, 8])
"""The vertices of a tetrahedron with 1 and 2 exchanged."""


def load_tets(path: Any, scale: Any = 1.0) -> TetMesh:
    """The tetrahedra of a file."""
    x, tets = read_tets(path, scale)
    try:
        return TetMesh(x, tets)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def read_tets(path: Any, scale: Any = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """The vertices and tetrahedra of a file, which may be of several pieces."""
    source, factor = _existing(path), _scale(path, scale)
    cells = _read(source)
    points, blocks = cells.points, cells.cells_dict
    kinds = [kind for kind in ("tetra10", "tetra") if len(blocks.get(kind, ()))]
    if len(kinds) != 1:
        held = ", ".join(blocks) or "nothing"
        said = "both linear and quadratic tetrahedra" if kinds else f"no tetrahedra, it holds {held}"
        raise ModelError(f"{source}: {said}; export it again with one kind of them")
    x, tets = _used(np.asarray(points, float) * factor, np.asarray(blocks[kinds[0]], np.int64))
    if (tet_volumes(x, tets) < 0.0).all():
        tets = turned(tets)
    return x, tets


def turned(tets: np.ndarray) -> np.ndarray:
    """Tetrahedra the other way out."""
    return tets[:, TURNED[: tets.shape[1]]]


def load_sheet(path: Any, scale: Any = 1.0) -> TriMesh:
    """The triangles of a file."""
    source, factor = _existing(path), _scale(path, scale)
    if source.suffix.lower() in SURFACES:
        x, faces = load_triangles(source, factor)
    else:
        cells = _read(source)
        x, faces = np.asarray(cells.points, float) * factor, np.asarray(cells.cells_dict.get("triangle", ()), np.int64)
        if not len(faces):
            raise ModelError(f"{source}: no triangles, it holds {', '.join(cells.cells_dict) or 'nothing'}; export it again")
    x, faces = _used(x, faces)
    try:
        return TriMesh(x, faces)
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None


def _existing(path: Any) -> Path:
    source = Path(path)
    if not source.is_file():
        raise ModelError(f"{source}: no such file; check the path")
    return source


def _scale(path: Any, scale: Any) -> float:
    try:
        factor = float(scale)
    except (TypeError, ValueError, OverflowError):
        factor = np.nan
    if not 0.0 < factor < np.inf:
        raise ModelError(f"{path}: scale {scale!r} is no scale; give a number above 0")
    return factor


def _read(source: Path) -> Any:
    """Points and cells of a file, as meshio gives them."""
    if source.suffix.lower() == ".msh" and msh_version(source) in VERSIONS:
        points, cells = read_msh(source)
        return SimpleNamespace(points=points, cells_dict=cells)
    try:
        import meshio
    except ImportError:
        remedy = "pip install 'unibody[mesh]'"
        raise ModelError(f"{source}: files '{source.suffix}' are read by meshio, which is not installed; {remedy}") from None
    try:
        return meshio.read(source)
    except (Exception, SystemExit) as error:  # its readers raise whatever they like, and some of them leave
        raise ModelError(f"{source}: meshio cannot read it ({' '.join(str(error).split())[:200]}); export it again") from None


def _used(x: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Without vertices that are in no cell; those that are keep their order."""
    used, index = np.unique(cells, return_inverse=True)
    points = np.column_stack([x, np.zeros(len(x))]) if x.shape[1] == 2 else x
    return points[used], index.reshape(cells.shape)
