"""A wire: straight pieces of round rod from point to point, of radius r.

A piece of length l has the mass m = ρ π r² l, I = m r²/2 about its axis and m (3 r² + l²)/12 across it; what overlaps or is missing where
pieces meet at an angle is left as it is. A wire touches with everything within r of its centre line, by edges and points without
faces, which solvers must know (`barrier` does).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.shapes.base import Shape, positive, segments
from unibody.shapes.mass import MassProperties, combine
from unibody.shapes.skeleton import Skeleton, axis_frame, point_rows

__all__ = ["Wire"]


@dataclass(frozen=True, eq=False)
class Wire(Shape):
    """Round wire through `points` one after the other, back to the first if `closed`; or between those pairs of points that `pieces` names.

    >>> round(Wire([(0, 0, 0), (1, 0, 0), (1, 1, 0)], radius=0.01).volume * 1e4, 6)
    6.283185
    """

    points: np.ndarray
    """In the shape's frame [m], (n, 3)."""
    radius: float
    """[m]"""
    closed: bool = False
    """Whether a last piece leads from the last point to the first."""
    pieces: Any = None
    """Pairs of numbers of points that are joined, (m, 2); None: each with the next."""

    def __post_init__(self) -> None:
        points = point_rows("Wire", self.points, 2)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "radius", positive("Wire", "radius", self.radius))
        if not isinstance(self.closed, bool | np.bool_):
            raise ModelError(f"Wire: closed {self.closed!r} is neither True nor False; give one of them")
        if self.pieces is not None:
            object.__setattr__(self, "pieces", self._checked_pieces())
        ends = self._ends
        length = np.linalg.norm(points[ends[:, 1]] - points[ends[:, 0]], axis=1)
        if not length.all():
            i, j = ends[int(np.argmin(length))]
            raise ModelError(f"Wire: points {i} and {j} are joined and at one place {points[i].tolist()}; leave one out")

    def _checked_pieces(self) -> np.ndarray:
        try:
            pieces = np.array(self.pieces, dtype=float)
        except (TypeError, ValueError, OverflowError):
            pieces = np.zeros(0)
        if pieces.ndim != 2 or pieces.shape[1] != 2 or not len(pieces):
            raise ModelError(f"Wire: pieces have shape {pieces.shape}; give pairs of numbers of points, or None")
        if self.closed:
            raise ModelError("Wire: both pieces and closed given; let the pieces close it")
        wrong = (pieces != np.floor(pieces)) | (pieces < 0) | (pieces >= len(self.points))
        if wrong.any():
            row = int(np.flatnonzero(wrong.any(axis=1))[0])
            raise ModelError(f"Wire: piece {row} joins points {pieces[row].tolist()}; give whole numbers from 0 to {len(self.points) - 1}")
        out = pieces.astype(np.int64)
        lone = np.setdiff1d(np.arange(len(self.points)), out)
        if len(lone):
            raise ModelError(f"Wire: point {lone[0]} is in no piece; leave it out, or put a PointCloud beside the wire")
        out.flags.writeable = False
        return out

    @property
    def _ends(self) -> np.ndarray:
        """(m, 2) numbers of the points that are joined."""
        if self.pieces is not None:
            return self.pieces
        first = np.arange(len(self.points) - (0 if self.closed else 1))
        return np.stack([first, (first + 1) % len(self.points)], axis=1)

    @property
    def length(self) -> float:
        """Of all pieces [m]."""
        ends = self.points[self._ends]
        return float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum())

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * self.length

    def mass_properties(self, density: float) -> MassProperties:
        r, parts = self.radius, []
        for a, b in self.points[self._ends]:
            length = float(np.linalg.norm(b - a))
            mass = density * math.pi * r * r * length
            across = mass * (3.0 * r * r + length * length) / 12.0
            rod = MassProperties(mass, np.zeros(3), (across, across, 0.5 * mass * r * r))
            parts.append(rod.moved(axis_frame(b - a), 0.5 * (a + b)))
        return combine(parts)

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        return self.skeleton().triangles(segments("Wire", resolution))

    def edges(self, resolution: int = 32) -> tuple[np.ndarray, np.ndarray]:
        return self.points.copy(), self._ends.copy()

    def skeleton(self) -> Skeleton:
        return Skeleton(self.points, self._ends, self.radius)
