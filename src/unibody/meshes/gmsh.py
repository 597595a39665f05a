"""Gmsh's .msh, versions 2.2 and 4.1, text and binary: points, and cells by kind.

Points are numbered in any order in a file (tags), here from 0 on. Of a quadratic tetrahedron Gmsh numbers the middles of the edges 01 12
02 03 23 13; here, as in VTK, the last two stand the other way round.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unibody.errors import ModelError

NAMES = {1: "line", 2: "triangle", 4: "tetra", 8: "line3", 9: "triangle6", 11: "tetra10", 15: "vertex"}
"""Of Gmsh's kinds of cells, those that have a name here."""
CORNERS = {1: 2, 2: 3, 3: 4, 4: 4, 5: 8, 6: 6, 7: 5, 8: 3, 9: 6, 10: 9, 11: 10, 12: 27, 13: 18, 14: 14, 15: 1, 16: 8, 17: 20, 18: 15}
"""Vertices of a cell of each kind."""
VERSIONS = ("2.2", "4.1")
LARGEST = 2.0**53
"""Of numbers that are read as text, up to which they are exact."""
TO_VTK = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]


def msh_version(path: Path) -> str:
    """What a file says its version is; '' if nothing."""
    with path.open("rb") as file:
        words = file.read(200).split()
    return words[1].decode("ascii", "replace") if len(words) > 1 and words[0] == b"$MeshFormat" else ""


def read_msh(path: Path) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Points (n, 3), and cells (m, k) by the names that meshio gives them, too."""
    data = path.read_bytes()
    version = msh_version(path)
    if version not in VERSIONS:
        said = f"version '{version}'" if version else "no $MeshFormat"
        raise ModelError(f"{path}: {said}; export it as Gmsh {' or '.join(VERSIONS)}")
    try:
        binary = data.split(b"\n", 2)[1].split()[1] == b"1"
        if binary and data.split(b"\n", 2)[2][:4] != np.int32(1).astype("<i4").tobytes():
            raise ModelError(f"{path}: binary of the other byte order; export it as text")
        nodes, elements = _section(data, b"Nodes"), _section(data, b"Elements")
        if version == "2.2":
            tags, points = _nodes_2(nodes, binary)
            blocks = _cells_2(elements, binary)
        else:
            tags, points = _nodes_4(nodes, binary)
            blocks = _cells_4(elements, binary)
        return points, _numbered(path, tags, blocks)
    except (ValueError, IndexError, KeyError) as error:
        if isinstance(error, ModelError):
            raise
        said = f"a cell of kind {error}" if isinstance(error, KeyError) else "cut off or not as its version says"
        raise ModelError(f"{path}: not readable ({said}); export it again as Gmsh 4.1") from None


def _section(data: bytes, name: bytes) -> bytes:
    """What stands between $Name and the last $EndName."""
    first = data.index(b"$" + name)
    return data[data.index(b"\n", first) + 1 : data.rindex(b"$End" + name)]


def _numbered(path: Path, tags: np.ndarray, blocks: list[tuple[int, np.ndarray]]) -> dict[str, np.ndarray]:
    """Cells by name, their vertices by rows of the points."""
    order = np.argsort(tags, kind="stable")
    found: dict[str, list[np.ndarray]] = {}
    for kind, cells in blocks:
        rows = np.searchsorted(tags, cells, sorter=order)
        index = order[np.minimum(rows, len(tags) - 1)]
        if (tags[index] != cells).any():
            raise ModelError(f"{path}: a cell has vertex {cells[tags[index] != cells][0]}, which $Nodes does not hold; export it again")
        if kind in NAMES:
            found.setdefault(NAMES[kind], []).append(index[:, TO_VTK] if kind == 11 else index)
    return {name: np.concatenate(parts).astype(np.int64) for name, parts in found.items()}


class _Cursor:
    """A place in a section of numbers, text or binary."""

    def __init__(self, data: bytes, binary: bool):
        self.data, self.at, self.binary = data, 0, binary
        self.words = np.zeros(0) if binary else np.array(data.split(), float)

    def take(self, count: int, kind: str) -> np.ndarray:
        """The next `count` numbers; `kind` is that of a binary file."""
        if self.binary:
            out = np.frombuffer(self.data, kind, count, self.at)
            self.at += out.nbytes
        else:
            out = self.words[self.at : self.at + count]
            if len(out) < count:
                raise ValueError("cut off")
            self.at += count
        return out if kind == "<f8" else whole(out)


def whole(x: np.ndarray) -> np.ndarray:
    """Counts, tags and kinds as integers; a ValueError where they are none."""
    if x.dtype.kind == "f" and not ((np.abs(x) < LARGEST) & (x == np.rint(np.where(np.isfinite(x), x, 0.0)))).all():
        raise ValueError("not whole")
    return x.astype(np.int64)


def _nodes_4(data: bytes, binary: bool) -> tuple[np.ndarray, np.ndarray]:
    """Blocks of one entity each: all tags, then all points, with parameters behind each where the block has them."""
    here = _Cursor(data, binary)
    tags, points = [np.zeros(0, np.int64)], [np.zeros((0, 3))]
    for _ in range(int(here.take(4, "<u8")[0])):
        dimension, _, parametric = here.take(3, "<i4")
        count = int(here.take(1, "<u8")[0])
        tags.append(here.take(count, "<u8"))
        width = 3 + (int(dimension) if parametric else 0)
        points.append(here.take(width * count, "<f8").reshape(count, width)[:, :3])
    return np.concatenate(tags), np.concatenate(points)


def _cells_4(data: bytes, binary: bool) -> list[tuple[int, np.ndarray]]:
    """Blocks of one kind each: tag, vertices."""
    here, out = _Cursor(data, binary), []
    for _ in range(int(here.take(4, "<u8")[0])):
        kind = int(here.take(3, "<i4")[2])
        count, width = int(here.take(1, "<u8")[0]), 1 + CORNERS[kind]
        out.append((kind, here.take(width * count, "<u8").reshape(count, width)[:, 1:]))
    return out


def _nodes_2(data: bytes, binary: bool) -> tuple[np.ndarray, np.ndarray]:
    """A count, then tag and point of each."""
    head, _, rest = data.lstrip().partition(b"\n")
    count = int(head)
    if binary:
        rows = np.frombuffer(rest, np.dtype([("tag", "<i4"), ("x", "<f8", 3)]), count)
        return rows["tag"].astype(np.int64), np.array(rows["x"])
    rows = np.array(rest.split(), float)[: 4 * count].reshape(count, 4)
    return whole(rows[:, 0]), rows[:, 1:]


def _cells_2(data: bytes, binary: bool) -> list[tuple[int, np.ndarray]]:
    """A count; text: tag, kind, number of labels, labels, vertices of each. Binary: kind, count and labels before the cells of a block."""
    head, _, rest = data.lstrip().partition(b"\n")
    total, out, done = int(head), [], 0
    here = _Cursor(rest, binary)
    while done < total:
        first, second, labels = (int(k) for k in here.take(3, "<i4"))
        kind, count = (first, second) if binary else (second, 1)
        width = labels + CORNERS[kind] + (1 if binary else 0)
        cells = here.take(width * count, "<i4").reshape(count, width)
        out.append((kind, cells[:, width - CORNERS[kind] :]))
        done += max(count, 1)
    return out
