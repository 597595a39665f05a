"""A solid cylinder about z: m = ρ π r² l, I_zz = m r² / 2, Iₓₓ = m (3 r² + l²) / 12."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.shapes.base import Shape, positive, segments, solid_of_revolution
from unibody.shapes.mass import MassProperties
from unibody.shapes.surface import circle, join, revolve

__all__ = ["Cylinder"]


@dataclass(frozen=True)
class Cylinder(Shape):
    """A solid cylinder about z, from z = −length/2 to +length/2.

    >>> round(Cylinder(radius=1, length=2).volume, 6)
    6.283185
    """

    radius: float
    """[m]"""
    length: float
    """Along z [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("Cylinder", "radius", self.radius))
        object.__setattr__(self, "length", positive("Cylinder", "length", self.length))

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * self.length

    def mass_properties(self, density: float) -> MassProperties:
        r, length = self.radius, self.length
        mass = density * self.volume
        return solid_of_revolution(mass, 0.5 * mass * r * r, mass * (3.0 * r * r + length * length) / 12.0)

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        half = 0.5 * self.length
        radius = np.array([0.0, self.radius, self.radius, 0.0])
        return revolve(radius, np.array([-half, -half, half, half]), segments("Cylinder", resolution))

    def edges(self, resolution: int = 32) -> tuple[np.ndarray, np.ndarray]:
        half, around = 0.5 * self.length, segments("Cylinder", resolution)
        rims = [circle(self.radius, around, 2, (0.0, 0.0, z)) for z in (-half, half)]
        return join(rims + mantle_lines(self.radius, self.length))


def mantle_lines(radius: float, length: float) -> list[np.ndarray]:
    """Four lines along the side of a cylinder about z."""
    half = 0.5 * length
    feet = ((radius, 0.0), (0.0, radius), (-radius, 0.0), (0.0, -radius))
    return [np.array([(x, y, -half), (x, y, half)]) for x, y in feet]
