"""Triangles out of OBJ and STL files.

OBJ: `v x y z` and `f i j k …` lines; indices from 1, negative ones from the end, `v/vt/vn` keeps v; polygons become fans;
everything else is skipped. STL, text or binary: equal corners become one vertex.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from unibody.errors import ModelError

_STL_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_obj(path: Path, lenient: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and faces (m, 3) of an OBJ file; `lenient`: faces of two corners are skipped."""
    vertices, objects = read_obj_objects(path, lenient)
    return vertices, np.concatenate(objects)


def read_obj_objects(path: Path, lenient: bool = False) -> tuple[np.ndarray, list[np.ndarray]]:
    """Vertices (n, 3), and the faces (m, 3) of each object or group (`o`, `g`) that has some."""
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    starts = [0]
    text = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        try:
            if words[:1] == ["v"]:
                x, y, z = map(float, words[1:4])
                vertices.append([x, y, z])
            elif words[:1] == ["f"]:
                corners = [_corner(word, len(vertices)) for word in words[1:]]
                if len(corners) < 3 and not lenient:
                    raise ValueError
                faces += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
            elif words[:1] in (["o"], ["g"]):
                starts.append(len(faces))
        except ValueError:
            raise ModelError(f"{path}, line {number}: '{line.strip()}' is not a vertex or face; correct the line") from None
    if not faces:
        raise ModelError(f"{path}: no faces ('f' lines) in it; export the mesh with faces")
    table = np.array(faces)
    parts = [table[a:b] for a, b in zip(starts, [*starts[1:], len(faces)], strict=True) if b > a]
    return np.array(vertices).reshape(-1, 3), parts


def read_obj_lines(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and edges (m, 2) of the `l` lines of an OBJ file without faces; no edges if it has points only."""
    vertices: list[list[float]] = []
    edges: list[tuple[int, int]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ").splitlines(), start=1):
        words = line.partition("#")[0].split()
        try:
            if words[:1] == ["v"]:
                x, y, z = map(float, words[1:4])
                vertices.append([x, y, z])
            elif words[:1] == ["l"]:
                corners = [_corner(word, len(vertices)) for word in words[1:]]
                if len(corners) < 2:
                    raise ValueError
                edges += list(pairwise(corners))
            elif words[:1] == ["f"]:
                raise ValueError
        except ValueError:
            raise ModelError(f"{path}, line {number}: '{line.strip()}' is not a vertex or line; correct the line") from None
    table = np.array(edges, dtype=int).reshape(-1, 2)
    if not vertices or table.max(initial=-1) >= len(vertices):
        raise ModelError(f"{path}: {len(vertices)} vertices ('v' lines) are too few for its lines; export it again")
    return np.array(vertices).reshape(-1, 3), table


def _corner(word: str, n: int) -> int:
    """Index from 0 of an OBJ face corner such as `7`, `7/1/2`, `7//2` or `-1`."""
    index = int(word.split("/")[0])
    if index == 0 or index < -n:
        raise ValueError
    return index - 1 if index > 0 else n + index


def read_stl(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and faces (m, 3) of an STL file, equal corners merged."""
    data = path.read_bytes()
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    # Some binary files begin with "solid" too; only the length tells them apart.
    if len(data) == 84 + 50 * count:
        corners = np.frombuffer(data, _STL_RECORD, count, offset=84)["corners"].astype(float)
    elif data.lstrip()[:5].lower() == b"solid":
        corners = _ascii_corners(path, data.decode("utf-8", errors="replace"))
    else:
        raise ModelError(f"{path}: {len(data)} bytes are no STL file of {count} triangles; export it again")
    if len(corners) == 0:
        raise ModelError(f"{path}: no triangles in it; export the mesh again")
    # Adding 0 turns −0 into 0, which are equal corners.
    vertices, index = np.unique(corners.reshape(-1, 3) + 0.0, axis=0, return_inverse=True)
    return vertices, index.reshape(-1, 3)


def _ascii_corners(path: Path, text: str) -> np.ndarray:
    corners = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words[:1] == ["vertex"]:
            try:
                x, y, z = map(float, words[1:4])
            except ValueError:
                raise ModelError(f"{path}, line {number}: '{line.strip()}' is not a vertex; give three numbers") from None
            corners.append((x, y, z))
    if len(corners) % 3:
        raise ModelError(f"{path}: {len(corners)} vertices do not make whole triangles; export it again")
    return np.array(corners).reshape(-1, 3, 3)
