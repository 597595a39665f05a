"""Mesh files that trimesh reads (extra `import`): PLY, glTF and GLB here; `unibody.files.mesh_loading` adds colours and DAE.

Nothing but the file itself is opened, except for the colours (.mtl) beside an OBJ and the numbers (.bin) beside a glTF; textures are not.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError

LARGEST_BESIDE = {".mtl": 10_000_000, ".bin": 512_000_000}
"""Bytes of what a mesh may ask for."""


def read_scene(data: bytes, kind: str, path: Path) -> list[tuple[np.ndarray, Any]]:
    """The triangle meshes of a file with the 4×4 matrices that place them; raises whatever a broken file makes trimesh trip over."""
    import trimesh

    beside: Any = Beside(path)
    with quiet():
        scene = trimesh.load_scene(io.BytesIO(data), file_type=kind[1:], resolver=beside, process=False)
    found = [scene.graph[name] for name in scene.graph.nodes_geometry]
    placed = [(np.asarray(matrix), scene.geometry[geometry]) for matrix, geometry in found]
    return [(matrix, mesh) for matrix, mesh in placed if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces)]


def read_placed(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and faces (m, 3) of a PLY, glTF or GLB file, all its meshes at their places as one."""
    try:
        meshes = read_scene(path.read_bytes(), path.suffix.lower(), path)
    except ImportError as error:
        raise ModelError(f"{path}: such meshes need {error.name}, which is not installed; pip install unibody[import]") from None
    except Exception as error:  # trimesh raises whatever a broken file makes it trip over
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ModelError(f"{path}: cannot be read ({said}); export it again") from error
    if not meshes:
        raise ModelError(f"{path}: no triangles in it; export the mesh again")
    points, corners, count = [], [], 0
    for matrix, mesh in meshes:
        faces = np.asarray(mesh.faces)
        corners.append((faces[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0.0 else faces) + count)
        points.append(np.asarray(mesh.vertices, float) @ matrix[:3, :3].T + matrix[:3, 3])
        count += len(points[-1])
    return np.concatenate(points), np.concatenate(corners)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without trimesh's own log, which prints every texture that it was not given."""
    log = logging.getLogger("trimesh")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


class Beside:
    """What a mesh may ask for: .mtl and .bin files beside it, the former without the lines that name textures."""

    def __init__(self, path: Path):
        self.folder = path.resolve().parent
        self.file_name = path.name

    def get(self, name: str) -> bytes:
        other = (self.folder / str(name).strip()).resolve()
        most = LARGEST_BESIDE.get(other.suffix.lower(), 0)
        if other.parent != self.folder or not other.is_file() or other.stat().st_size > most:
            raise KeyError(name)
        data = other.read_bytes()
        return re.sub(rb"(?mi)^\s*(map_|bump|disp|decal|refl).*$", b"", data) if other.suffix.lower() == ".mtl" else data

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)

    def keys(self) -> list[str]:
        return []
