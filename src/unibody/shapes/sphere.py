"""A ball: m = ρ 4/3 π r³, I = 2/5 m r²."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.shapes.base import Shape, positive, segments, solid_of_revolution
from unibody.shapes.mass import MassProperties
from unibody.shapes.surface import circle, join, revolve

__all__ = ["Sphere"]


@dataclass(frozen=True)
class Sphere(Shape):
    """A solid sphere about the origin.

    >>> round(Sphere(1).volume, 6)
    4.18879
    """

    radius: float
    """[m]"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("Sphere", "radius", self.radius))

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * math.pi * self.radius**3

    def mass_properties(self, density: float) -> MassProperties:
        mass = density * self.volume
        inertia = 0.4 * mass * self.radius**2
        return solid_of_revolution(mass, inertia, inertia)

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        around = segments("Sphere", resolution)
        latitude = np.linspace(-0.5 * np.pi, 0.5 * np.pi, max(around // 2, 2) + 1)
        return revolve(self.radius * np.cos(latitude), self.radius * np.sin(latitude), around)

    def edges(self, resolution: int = 32) -> tuple[np.ndarray, np.ndarray]:
        return join([circle(self.radius, segments("Sphere", resolution), axis) for axis in range(3)])
