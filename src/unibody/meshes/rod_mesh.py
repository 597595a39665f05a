"""Rods: a line of vertices, open or closed, with the edges between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.meshes.checking import FLATTEST, THICKEST, as_vertices
from unibody.spatial.rod_frames import directors

__all__ = ["RodMesh"]


@dataclass(frozen=True, eq=False)
class RodMesh:
    """A rod along points, of one radius; a closed one goes on from its last point to its first.

    >>> RodMesh([(0, 0, 0), (1, 0, 0), (1, 1, 0)], radius=0.01, closed=True).edges.tolist()
    [[0, 1], [1, 2], [2, 0]]
    """

    vertices: np.ndarray
    """(n, 3) at rest [m]."""
    radius: float
    """[m]"""
    closed: bool = False
    directors: bool = False
    """Whether the last vertices, one for each edge, are directors: points that go with edges and tell how these are turned (`framed`)."""

    def __post_init__(self) -> None:
        what = type(self).__name__
        vertices = as_vertices(what, self.vertices)
        for word in ("closed", "directors"):
            if not isinstance(getattr(self, word), bool | np.bool_):
                raise ModelError(f"{what}: {word} {getattr(self, word)!r} is neither True nor False; give one of them")
        fewest = 3 if self.closed else 2
        if len(vertices) < fewest:
            raise ModelError(f"{what}: {len(vertices)} points are no {'ring' if self.closed else 'rod'}; give {fewest} or more")
        try:
            radius = float(self.radius)
        except (TypeError, ValueError, OverflowError):
            radius = np.nan
        if not 0.0 < radius <= THICKEST:
            said = "a positive number" if not radius > THICKEST else f"below {THICKEST:g}"
            raise ModelError(f"{what}: radius {self.radius!r} is not {said}; give metres > 0")
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "closed", bool(self.closed))
        object.__setattr__(self, "directors", bool(self.directors))
        if self.directors and len(vertices) != self.points + len(self.edges):
            raise ModelError(f"{what}: {len(vertices)} vertices are not points and one director for each edge; give RodMesh(…).framed()")
        short = np.flatnonzero(~(self.lengths > FLATTEST * np.ptp(self.axis, axis=0).max()))
        if short.size:
            a, b = self.edges[short[0]]
            raise ModelError(f"{what}: points {a} and {b} are the same ({short.size} such pairs); leave one out")

    @cached_property
    def edges(self) -> np.ndarray:
        """(k, 2) from each point to the next."""
        n = self.points
        first = np.arange(n if self.closed else n - 1)
        out = np.stack([first, (first + 1) % n], axis=1)
        out.flags.writeable = False
        return out

    @property
    def points(self) -> int:
        """How many vertices are points of the rod's axis; directors stand behind them."""
        n = len(self.vertices)
        return n if not self.directors else n // 2 if self.closed else (n + 1) // 2

    @property
    def axis(self) -> np.ndarray:
        """(n, 3) its points."""
        return self.vertices[: self.points]

    def framed(self) -> RodMesh:
        """The same rod with directors, so that it can resist twist; straight or bent as it is, it is not twisted.

        >>> RodMesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], radius=0.01).framed().vertices[3:].tolist()
        [[0.5, 0.01, 0.0], [1.5, 0.01, 0.0]]
        """
        return self if self.directors else RodMesh(self._with(self.vertices, 0.0), self.radius, self.closed, True)

    def places(self, points: Any, twist: float = 0.0) -> np.ndarray:
        """(n, 3) of all vertices with the points elsewhere, of a framed rod turned about itself by `twist` [rad] from its first edge to its
        last: where it may start."""
        given = as_vertices("RodMesh.places", points)
        if len(given) != self.points:
            raise ModelError(f"RodMesh.places: {len(given)} points; give {self.points}")
        return self._with(given, twist) if self.directors else given

    def _with(self, points: np.ndarray, twist: float) -> np.ndarray:
        return np.concatenate([points, directors(points, self.closed, self.radius, twist)])

    @cached_property
    def lengths(self) -> np.ndarray:
        """(k,) of its edges [m]."""
        return np.linalg.norm(self.vertices[self.edges[:, 1]] - self.vertices[self.edges[:, 0]], axis=1)

    @property
    def length(self) -> float:
        """[m]"""
        return float(self.lengths.sum())

    @staticmethod
    def line(start: Any, end: Any, edges: int, radius: float, clamped: tuple[bool, bool] = (False, False)) -> RodMesh:
        """A straight rod between two places, of edges of equal length. An end that is `clamped` lies at the middle of its edge: the rod
        reaches half an edge into what holds it, so that what is free of it has the length between the places.

        >>> RodMesh.line((0, 0, 0), (1, 0, 0), 4, 0.01, clamped=(True, False)).vertices[:2, 0].round(4).tolist()
        [-0.1429, 0.1429]
        """
        a, b = as_vertices("RodMesh.line", [start, end])
        first, last = (bool(x) for x in clamped)
        count = int(edges) - 0.5 * (first + last)
        if int(edges) != edges or count < 0.5:
            raise ModelError(f"RodMesh.line: {edges!r} edges; give a whole number, {1 + first + last} or more")
        s = (np.arange(int(edges) + 1) - 0.5 * first) / count
        return RodMesh(a + s[:, None] * (b - a), radius)

    def moved(self, X: Any) -> RodMesh:
        """The same mesh at a pose (anything with `R` and `p`)."""
        return RodMesh(self.vertices @ np.asarray(X.R).T + np.asarray(X.p), self.radius, self.closed, self.directors)
