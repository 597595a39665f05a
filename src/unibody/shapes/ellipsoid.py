"""A solid ellipsoid: m = ρ 4/3 π a b c, Iₓₓ = m (b² + c²) / 5 and cyclically."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.shapes.base import Shape, positive_triple
from unibody.shapes.mass import MassProperties
from unibody.shapes.sphere import Sphere

__all__ = ["Ellipsoid"]


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """A solid ellipsoid with the semi-axes along x, y, z.

    >>> Ellipsoid((1, 1, 1)).volume == Sphere(1).volume
    True
    """

    semi_axes: tuple[float, float, float]
    """Half the extents along x, y, z [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "semi_axes", positive_triple("Ellipsoid", "semi_axes", self.semi_axes))

    @property
    def volume(self) -> float:
        a, b, c = self.semi_axes
        return 4.0 / 3.0 * math.pi * a * b * c

    def mass_properties(self, density: float) -> MassProperties:
        a, b, c = self.semi_axes
        mass = density * self.volume
        return MassProperties(mass, np.zeros(3), mass / 5.0 * np.array([b * b + c * c, c * c + a * a, a * a + b * b]))

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        vertices, faces = Sphere(1.0).triangles(resolution)
        return vertices * self.semi_axes, faces

    def edges(self, resolution: int = 32) -> tuple[np.ndarray, np.ndarray]:
        vertices, pairs = Sphere(1.0).edges(resolution)
        return vertices * self.semi_axes, pairs
