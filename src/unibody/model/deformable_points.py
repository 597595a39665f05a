"""Handles to deformables, and the names of their points.

    flag.vertex[3]                      a vertex
    flag.face[12](0.2, 0.3, 0.5)        Σ wₖ xₖ over the vertices of a face; of tet[k] of a solid, of edge[k] of a rod

Such a name stands where the name of a body does: a `Point` with it is told to springs, cables and constraints like one of a body. The
weights are written with all their digits, so that a file holds the point bit for bit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from unibody.element import Point
from unibody.errors import ModelError
from unibody.meshes.tet_mesh import EDGES
from unibody.model.deformable import AskedDeformable

POINT = re.compile(r"(?P<name>.+)\.(?P<cell>vertex|face|tet|edge)\[(?P<k>\d+)\](?:\((?P<weights>[^()]*)\))?", re.DOTALL)
CELLS = {"soft": ("tet", "tets"), "cloth": ("face", "faces"), "rod": ("edge", "edges")}
"""Of a kind the word for its cells, and the field of its mesh that holds them."""
EXAMPLES = {"soft": "NeoHookean(young=1e5, poisson=0.4)", "cloth": "Fabric(…)", "rod": "RodMaterial(young=1e7)"}
"""Of a kind a material."""
UNIT = 1e-9
"""How far the sum of weights may be from 1."""


@dataclass(frozen=True)
class Vertices:
    """Some vertices of a deformable."""

    deformable: str
    index: np.ndarray
    """(n,)"""
    end: tuple[int, ...] | None = None
    """Of the end of a rod: its vertex and the next, and the director of the edge between them."""

    def __len__(self) -> int:
        return len(self.index)


class VertexHandles:
    """All vertices of a deformable, to be chosen from as an array is: by numbers, slices, masks, lists of numbers."""

    def __init__(self, asked: AskedDeformable, directors: bool = False):
        points = points_of(asked.mesh)
        self._asked, self._own = asked, range(points, len(asked.mesh.vertices)) if directors else range(points)

    @property
    def x(self) -> np.ndarray:
        """(n, 3) where they start, in the world [m]."""
        return start_places(self._asked)[self._own.start : self._own.stop]

    def __len__(self) -> int:
        return len(self._own)

    def __getitem__(self, which: Any) -> Vertices:
        what, n = f"'{self._asked.name}' vertices", len(self)
        try:
            index = np.atleast_1d(np.arange(n)[which if isinstance(which, slice) else np.asarray(which)]).ravel()
        except (IndexError, TypeError, ValueError):
            raise ModelError(f"{what}: {shortly(which)} names none of 0 … {n - 1}; give numbers, a slice or a mask") from None
        if not index.size:
            raise ModelError(f"{what}: {shortly(which)} chooses none; give at least one")
        return Vertices(self._asked.name, self._own.start + index)


class DeformableHandle:
    """A handle to a deformable under construction."""

    def __init__(self, name: str, asked: Callable[[], AskedDeformable], embed: Callable[[Any], None]):
        self.name, self._told, self._embed = name, asked, embed

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}')"

    @property
    def vertices(self) -> VertexHandles:
        """All vertices: `flag.vertices[[0, 99]]`, `flag.vertices[flag.vertices.x[:, 2] > 1.0]`."""
        return VertexHandles(self._told())

    @property
    def directors(self) -> VertexHandles:
        """The directors of a rod that resists twist, one for each edge: points beside the middles of edges that turn with them."""
        asked = self._told()
        if not getattr(asked.mesh, "directors", False):
            raise ModelError(f"'{self.name}' has no directors; a rod of RodMaterial(twist=True) has")
        return VertexHandles(asked, directors=True)

    def vertex(self, i: int) -> Point:
        """One vertex, as a point that elements act on."""
        k = _whole(i, f"'{self.name}' vertex")
        return Point(f"{self.name}.vertex[{self.vertices[k].index[0]}]")

    def at(self, tet: int | None = None, face: int | None = None, edge: int | None = None, weights: Any = None) -> Point:
        """The point Σ wₖ xₖ over the vertices of a tetrahedron of a solid, a face of cloth, an edge of a rod; weights None: its middle."""
        asked = self._told()
        given = {word: k for word, k in (("tet", tet), ("face", face), ("edge", edge)) if k is not None}
        word, field = CELLS[asked.kind]
        if list(given) != [word]:
            raise ModelError(f"'{self.name}': at({', '.join(given) or 'nothing'}=…) is no place in a {asked.kind}; give {word}=")
        cells = getattr(asked.mesh, field)
        corners = min(cells.shape[1], 4)
        try:
            w = [1.0 / corners] * corners if weights is None else np.ravel(np.asarray(weights, float)).tolist()
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"'{self.name}': weights {shortly(weights)} are no numbers; give {corners}, one a corner") from None
        k = _whole(given[word], f"'{self.name}' {word}")
        if not 0 <= k < len(cells):
            raise ModelError(f"'{self.name}' has no {word} {k}; it has 0 … {len(cells) - 1}")
        name = f"{self.name}.{word}[{k}]({', '.join(map(repr, w))})"
        point_of_name(name, {self.name: asked})
        return Point(name)

    def end(self, k: int) -> Vertices:
        """The first (0) or last (1) point of a rod; clamped where `attach` says so."""
        asked = self._told()
        if asked.kind != "rod" or asked.mesh.closed:
            kind = "a closed rod" if asked.kind == "rod" else f"a {asked.kind}"
            raise ModelError(f"'{self.name}': {kind} has no ends; choose from vertices")
        if k not in (0, 1):
            raise ModelError(f"'{self.name}': end {k!r} is unknown; give 0, the first point, or 1, the last")
        last = points_of(asked.mesh) - 1
        pair = (0, 1) if k == 0 else (last, last - 1)
        turning = (last + 1 if k == 0 else len(asked.mesh.vertices) - 1,) if getattr(asked.mesh, "directors", False) else ()
        return Vertices(self.name, np.array(pair[:1]), pair + turning)

    def embed(self, surface: Any) -> None:
        """Show this surface (a TriMesh or a Mesh, in the axes of the mesh) in its stead; it moves with the cells around it."""
        self._embed(surface)


def _whole(value: Any, what: str) -> int:
    try:
        return index(value)
    except TypeError:
        raise ModelError(f"{what} {shortly(value)} is no whole number; give one") from None


def shortly(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}…"


def points_of(mesh: Any) -> int:
    """How many vertices are matter: all but the directors of a rod."""
    return getattr(mesh, "points", len(mesh.vertices))


def start_places(asked: AskedDeformable) -> np.ndarray:
    """(n, 3) where vertices start, in the world."""
    x = asked.mesh.vertices if asked.start is None else asked.start
    return x @ asked.X_WB.R.T + np.array(asked.X_WB.p)


def split_name(name: str) -> tuple[str, str, int, tuple[float, ...] | None] | None:
    """Deformable, cell, its number and weights of the name of a point; None of other names."""
    found = POINT.fullmatch(name)
    if found is None:
        return None
    try:
        weights = None if found["weights"] is None else tuple(float(w) for w in found["weights"].split(","))
    except ValueError:
        return None
    if (found["cell"] == "vertex") != (weights is None):
        return None
    return found["name"], found["cell"], int(found["k"]), weights


def joined_name(deformable: str, cell: str, k: int, weights: Sequence[float] | None) -> str:
    """The name of a point."""
    return f"{deformable}.{cell}[{k}]" + ("" if weights is None else f"({', '.join(map(repr, weights))})")


def point_of_name(name: str, deformables: Mapping[str, AskedDeformable]) -> tuple[str, np.ndarray, np.ndarray] | None:
    """The deformable of a point, vertices within it, and their weights; None where the name is that of no point of these."""
    parts = split_name(name)
    if parts is None or parts[0] not in deformables:
        return None
    owner, cell, k, weights = parts
    asked = deformables[owner]
    n = len(asked.mesh.vertices)
    if cell == "vertex":
        if k >= n:
            raise ModelError(f"'{owner}' has no vertex {k}; it has 0 … {n - 1}")
        return owner, np.array([k]), np.ones(1)
    word, field = CELLS[asked.kind]
    if cell != word:
        raise ModelError(f"'{owner}' is a {asked.kind} and has no {cell} {k}; give a {word}")
    cells = getattr(asked.mesh, field)
    if k >= len(cells):
        raise ModelError(f"'{owner}' has no {cell} {k}; it has 0 … {len(cells) - 1}")
    corners = min(cells.shape[1], 4)
    w = np.array(weights)
    if w.shape != (corners,) or not np.isfinite(w).all():
        raise ModelError(f"'{owner}' {cell} {k}: {w.size} weights; give {corners} finite numbers, one a corner")
    if abs(w.sum() - 1.0) > UNIT:
        raise ModelError(f"'{owner}' {cell} {k}: weights add up to {w.sum():g}; give weights that add up to 1")
    if cells.shape[1] == 10:  # of a quadratic tetrahedron: corners L (2 L − 1), middles 4 Lᵢ Lⱼ
        return owner, cells[k], np.concatenate([w * (2.0 * w - 1.0), [4.0 * w[i] * w[j] for i, j in EDGES]])
    return owner, cells[k, :corners], w
