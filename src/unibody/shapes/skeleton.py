"""Lines and points without faces, as what can be touched of thin things: everything within a radius of them.

A line of length l has the surface 2 π r l, a lone point 4 π r². Where r is next to nothing, surfaces and pictures count with a thousandth
of the size of the whole (of a single point: 1 mm), so that there is something to press on and to look at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.shapes.surface import join_meshes, revolve

THIN = 1e-3
"""Of the size: the least radius of surfaces and pictures."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Points (n, 3) [m], edges (m, 2) between some of them, and how far the matter reaches around them [m]."""

    points: np.ndarray
    edges: np.ndarray
    radius: float

    def moved(self, R: Any, p: Any) -> Skeleton:
        """At another place, x → R x + p."""
        return Skeleton(self.points @ np.asarray(R).T + np.asarray(p), self.edges, self.radius)

    @cached_property
    def lone(self) -> np.ndarray:
        """Numbers of the points that no edge has."""
        return np.setdiff1d(np.arange(len(self.points)), self.edges)

    @property
    def girth(self) -> float:
        """The radius of surfaces and pictures [m]."""
        size = float(np.linalg.norm(np.ptp(self.points, axis=0)))
        return max(self.radius, THIN * (size or 1.0))

    def areas(self) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the surface: of points (n,), half of that of each of their edges, or of a ball around a lone one; of edges (m,)."""
        of_point, r = np.zeros(len(self.points)), self.girth
        of_edge = 2.0 * np.pi * r * np.linalg.norm(self.points[self.edges[:, 1]] - self.points[self.edges[:, 0]], axis=1)
        np.add.at(of_point, self.edges, 0.5 * of_edge[:, None])
        of_point[self.lone] = 4.0 * np.pi * r * r
        return of_point, of_edge

    def triangles(self, resolution: int) -> tuple[np.ndarray, np.ndarray]:
        """A picture: a capsule around every edge, a ball around every lone point."""
        r, around = self.girth, max(6, resolution // 2)
        latitude = np.linspace(0.0, 0.5 * np.pi, 3)
        ring, rise = r * np.cos(latitude), r * np.sin(latitude)
        parts = []
        for i, j in [*self.edges.tolist(), *((k, k) for k in self.lone.tolist())]:
            way = self.points[j] - self.points[i]
            length = float(np.linalg.norm(way))
            radii, heights = np.concatenate([ring[::-1], ring]), np.concatenate([-rise[::-1], rise + length])
            if length == 0.0:
                radii, heights = np.delete(radii, 3), np.delete(heights, 3)
            x, faces = revolve(radii, heights, around)
            parts.append((self.points[i] + x @ axis_frame(way).T, faces))
        return join_meshes(parts)


def axis_frame(axis: np.ndarray) -> np.ndarray:
    """A rotation whose third column is the axis; any if that has no length."""
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        return np.eye(3)
    z = axis / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def point_rows(shape: str, given: Any, least: int) -> np.ndarray:
    """At least so many finite points (n, 3), or ModelError."""
    try:
        points = np.array(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        points = np.zeros(0)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < least:
        raise ModelError(f"{shape}: points have shape {points.shape}; give at least {least}, each three numbers in metres")
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise ModelError(f"{shape}: point {row} {points[row].tolist()} is not finite; give three finite numbers")
    points.flags.writeable = False
    return points
