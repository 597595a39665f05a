"""Bodies at rest under loads: meshes and a Newton method that know energies only, for tests.

    min_x  Σ W(x) − f · x   over the vertices that are free
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from unibody.energies import Stencils
from unibody.energies.base import EXACT, PROJECTED, VALUE
from unibody.energies.evaluate import EnergyTables

EDGES_OF_TETS = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))


def stiffness(tables: EnergyTables) -> sp.csr_matrix:
    """The blocks of the last evaluation, added up."""
    rows, columns, values = [], [], []
    for batch in tables.batches:
        places = (3 * batch.vertices[:, :, None] + np.arange(3)).reshape(len(batch.vertices), -1)
        rows.append(np.repeat(places, places.shape[1], axis=1).ravel())
        columns.append(np.tile(places, places.shape[1]).ravel())
        values.append(batch.blocks.ravel())
    return sp.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), (tables.x.size, tables.x.size))


@dataclass
class Statics:
    """A body of stencils; `fixed` (n, 3) says which coordinates of vertices are held."""

    stencils: Sequence[Stencils]
    fixed: np.ndarray

    def __post_init__(self) -> None:
        self.tables = EnergyTables(self.stencils, len(self.fixed))
        self.free = np.flatnonzero(~np.asarray(self.fixed).ravel())

    def matrix(self, x: np.ndarray, ask: int = EXACT) -> sp.csc_matrix:
        """∂²W of the free coordinates."""
        self.tables.evaluate(x, ask)
        return stiffness(self.tables)[self.free][:, self.free].tocsc()

    def linear(self, x: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Small displacements (n, 3) from x, which is at rest, under forces (n, 3)."""
        u = np.zeros(self.tables.x.size)
        u[self.free] = splu(self.matrix(x)).solve(f.ravel()[self.free])
        return u.reshape(-1, 3)

    def settled(self, x: np.ndarray, f: np.ndarray, tolerance: float = 1e-9, most: int = 200) -> np.ndarray:
        """Positions (n, 3) at rest, from x: Newton's method with exact matrices while they lead downhill, else with positive ones, and
        steps halved until the energy falls. `tolerance`: of forces left over, relative to the largest."""
        x = x.astype(float).copy()
        for _ in range(most):
            value = self.tables.evaluate(x, EXACT) - np.sum(f * x)
            forces = (self.tables.gradient - f.ravel())[self.free]
            scale = max(np.abs(f).max(), np.abs(self.tables.gradient).max())
            if np.abs(forces).max() <= tolerance * scale:
                return x
            step = self._spread(-splu(stiffness(self.tables)[self.free][:, self.free].tocsc()).solve(forces))
            if not step.ravel()[self.free] @ forces < 0.0 or not self._falls(x + step, f, value):
                step = self._spread(-splu(self.matrix(x, PROJECTED) + 1e-9 * scale * sp.identity(len(self.free))).solve(forces))
            t = 1.0
            while t > 1e-10 and not self._falls(x + t * step, f, value):
                t *= 0.5
            x += t * step
        raise AssertionError(f"not at rest after {most} steps: {np.abs(forces).max() / scale:.1e} of the largest force is left over")

    def _spread(self, free: np.ndarray) -> np.ndarray:
        """(n, 3) from the free coordinates."""
        out = np.zeros(self.tables.x.size)
        out[self.free] = free
        return out.reshape(-1, 3)

    def _falls(self, x: np.ndarray, f: np.ndarray, value: float) -> bool:
        """Whether the energy at x is no more than this, up to round-off."""
        return bool(self.tables.evaluate(x, VALUE) - np.sum(f * x) <= value + 1e-14 * abs(value))


def box(size: tuple[float, float, float], cells: tuple[int, int, int], order: int = 1) -> Any:
    """A box from the origin, six tetrahedra around a diagonal of each cell, mirrored from cell to cell, linear or quadratic."""
    n = np.array(cells)
    at = np.stack(np.meshgrid(*[np.arange(k + 1) for k in n], indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(at)).reshape(n + 1)
    corners = np.stack(np.meshgrid(*[np.arange(k) for k in n], indexing="ij"), axis=-1).reshape(-1, 3)
    tets = []
    for order_of_axes in permutations(range(3)):
        # from one corner of the cell to the opposite one, along one axis after the other; odd cells begin at their other side
        path = [corners + corners % 2]
        for axis in order_of_axes:
            path.append(path[-1] + (1 - 2 * (corners % 2)) * np.eye(3, dtype=int)[axis])
        t = np.stack([number[tuple(p.T)] for p in path], axis=1)
        X = at[t]
        odd = np.linalg.det(X[:, 1:] - X[:, :1]) < 0.0
        tets.append(np.where(odd[:, None], t[:, [0, 2, 1, 3]], t))
    mesh = SimpleNamespace(vertices=at * (np.array(size) / n), tets=np.concatenate(tets))
    return quadratic(mesh) if order == 2 else mesh


def quadratic(mesh: Any) -> Any:
    """The same tetrahedra with vertices at the middles of their edges."""
    ends = np.sort(mesh.tets[:, EDGES_OF_TETS].reshape(-1, 2), axis=1)
    edges, which = np.unique(ends, axis=0, return_inverse=True)
    vertices = np.concatenate([mesh.vertices, mesh.vertices[edges].mean(axis=1)])
    return SimpleNamespace(vertices=vertices, tets=np.concatenate([mesh.tets, len(mesh.vertices) + which.reshape(-1, 6)], axis=1))


def sheet(size: tuple[float, float], cells: tuple[int, int], kind: str = "one-diagonal") -> Any:
    """A rectangle from the origin: `one-diagonal`, `other-diagonal`, `alternating`, `crossed` (four triangles a cell), `random`, or `rows`
    and `columns` (rows of triangles, shifted by half a cell: a grid of squares at 45° if cells are twice as long as rows are apart)."""
    nx, ny = cells
    x, y = np.linspace(0.0, size[0], nx + 1), np.linspace(0.0, size[1], ny + 1)
    if kind == "rows":
        return shifted_rows(x, y)
    if kind == "columns":
        turned = shifted_rows(y, x)
        return SimpleNamespace(vertices=turned.vertices[:, [1, 0, 2]], faces=turned.faces[:, ::-1])
    points = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    i, j = (g.ravel() for g in np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij"))
    a, b, c, d = (ny + 1) * i + j, (ny + 1) * (i + 1) + j, (ny + 1) * (i + 1) + j + 1, (ny + 1) * i + j + 1
    first = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    other = np.concatenate([np.stack([a, b, d], axis=1), np.stack([b, c, d], axis=1)])
    even = np.tile((i + j) % 2 == 0, 2)[:, None]
    faces = {"one-diagonal": first, "other-diagonal": other, "alternating": np.where(even, first, other)}.get(kind)
    if kind == "crossed":
        middle = len(points) + np.arange(nx * ny)
        points = np.concatenate([points, 0.25 * (points[a] + points[b] + points[c] + points[d])])
        faces = np.concatenate([np.stack([p, q, middle], axis=1) for p, q in ((a, b), (b, c), (c, d), (d, a))])
    if kind == "random":
        from scipy.spatial import Delaunay

        inner = ((points > 1e-9) & (points < np.array(size) - 1e-9)).all(axis=1)
        points = points + inner[:, None] * np.random.default_rng(1).uniform(-0.3, 0.3, points.shape) * (x[1], y[1])
        faces = Delaunay(points).simplices
        doubled = np.linalg.det(np.stack([points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]]], axis=1))
        faces = np.where(doubled[:, None] > 0.0, faces, faces[:, ::-1])[np.abs(doubled) > 1e-9 * x[1] * y[1]]
    return SimpleNamespace(vertices=np.concatenate([points, np.zeros((len(points), 1))], axis=1), faces=faces)


def shifted_rows(x: np.ndarray, y: np.ndarray) -> Any:
    """Every other row lies half a cell farther, with half a cell at its ends."""
    rows, points, faces = [], [], []
    for j, height in enumerate(y):
        places = x if j % 2 == 0 else np.concatenate([x[:1], 0.5 * (x[1:] + x[:-1]), x[-1:]])
        rows.append(np.arange(len(points), len(points) + len(places)))
        points += [(p, height, 0.0) for p in places]
    at = np.array(points)
    for low, high in pairwise(rows):
        i = k = 0
        while i < len(low) - 1 or k < len(high) - 1:
            if k == len(high) - 1 or (i < len(low) - 1 and at[low[i + 1], 0] <= at[high[k + 1], 0]):
                faces.append((low[i], low[i + 1], high[k]))
                i += 1
            else:
                faces.append((low[i], high[k + 1], high[k]))
                k += 1
    return SimpleNamespace(vertices=at, faces=np.array(faces))


def vertex_areas(mesh: Any) -> np.ndarray:
    """(n,) a third of the triangles at each vertex."""
    X = mesh.vertices[mesh.faces]
    area = 0.5 * np.linalg.norm(np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]), axis=1)
    return np.bincount(mesh.faces.ravel(), np.repeat(area / 3.0, 3), len(mesh.vertices))


def line(points: np.ndarray, radius: float, closed: bool = False) -> Any:
    """A rod through points."""
    k = np.arange(len(points))
    edges = np.stack([k, (k + 1) % len(points)], axis=1)
    return SimpleNamespace(vertices=points, edges=edges if closed else edges[:-1], radius=radius, closed=closed)


def end_load(mesh: Any, at_end: np.ndarray) -> np.ndarray:
    """(n,) shares of a uniform load on the end face of a solid by its faces there: thirds of linear ones, thirds at the middles of
    quadratic ones."""
    tets, share = mesh.tets, np.zeros(len(mesh.vertices))
    for face in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)):
        there = at_end[tets[:, face]].all(axis=1)
        corners = tets[there][:, face]
        X = mesh.vertices[corners]
        area = 0.5 * np.linalg.norm(np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]), axis=1)
        loaded = corners
        if tets.shape[1] == 10:
            middles = [4 + k for k, edge in enumerate(EDGES_OF_TETS) if set(edge) <= set(face)]
            loaded = tets[there][:, middles]
        share += np.bincount(loaded.ravel(), np.repeat(area / 3.0, 3), len(share))
    return share / share.sum()

