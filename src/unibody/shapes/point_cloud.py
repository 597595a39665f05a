"""Points that belong together: equal balls of radius r, m = ρ 4/3 π r³ and I = 2/5 m r² each. They touch as balls do, by points without
faces, which solvers must know (`barrier` does)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.shapes.base import Shape, positive, segments
from unibody.shapes.mass import MassProperties, combine
from unibody.shapes.skeleton import Skeleton, point_rows

__all__ = ["PointCloud"]


@dataclass(frozen=True, eq=False)
class PointCloud(Shape):
    """A rigid cloud of small balls at `points`; those that overlap count twice.

    >>> PointCloud([(0, 0, -1), (0, 0, 1)], radius=0.1).mass_properties(1000.0).com
    array([0., 0., 0.])
    """

    points: np.ndarray
    """Centres in the shape's frame [m], (n, 3)."""
    radius: float
    """[m]"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", point_rows("PointCloud", self.points, 1))
        object.__setattr__(self, "radius", positive("PointCloud", "radius", self.radius))

    @property
    def volume(self) -> float:
        return len(self.points) * 4.0 / 3.0 * math.pi * self.radius**3

    def mass_properties(self, density: float) -> MassProperties:
        mass = density * 4.0 / 3.0 * math.pi * self.radius**3
        inertia = 0.4 * mass * self.radius**2
        return combine([MassProperties(mass, p, (inertia, inertia, inertia)) for p in self.points])

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        return self.skeleton().triangles(segments("PointCloud", resolution))

    def skeleton(self) -> Skeleton:
        return Skeleton(self.points, np.zeros((0, 2), np.int64), self.radius)
