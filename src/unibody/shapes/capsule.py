"""A capsule about z: a cylinder of radius r and length l between two half-balls.

m_c = ρ π r² l, m_s = ρ 4/3 π r³. A half-ball's centre of mass lies 3/8 r from its flat side and its transverse inertia about
the ball's centre is that of the ball, halved; moved to the capsule's centre, both halves together give

I_zz = m_c r²/2 + m_s 2/5 r²
Iₓₓ  = m_c (3 r² + l²)/12 + m_s (2/5 r² + l²/4 + 3/8 r l).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unibody.shapes.base import Shape, positive, segments, solid_of_revolution
from unibody.shapes.cylinder import mantle_lines
from unibody.shapes.mass import MassProperties
from unibody.shapes.surface import circle, join, revolve

__all__ = ["Capsule"]


@dataclass(frozen=True)
class Capsule(Shape):
    """A capsule about z; `length` is that of its cylindrical part.

    >>> Capsule(radius=0.1, length=1.0).mass_properties(1000.0).com
    array([0., 0., 0.])
    """

    radius: float
    """[m]"""
    length: float
    """Of the cylindrical part, along z [m]; the whole capsule is `length + 2 radius` long."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("Capsule", "radius", self.radius))
        object.__setattr__(self, "length", positive("Capsule", "length", self.length))

    @property
    def volume(self) -> float:
        r = self.radius
        return math.pi * r * r * self.length + 4.0 / 3.0 * math.pi * r**3

    def mass_properties(self, density: float) -> MassProperties:
        r, length = self.radius, self.length
        m_c = density * math.pi * r * r * length
        m_s = density * 4.0 / 3.0 * math.pi * r**3
        axial = m_c * r * r / 2.0 + m_s * 0.4 * r * r
        transverse = m_c * (3.0 * r * r + length * length) / 12.0
        transverse += m_s * (0.4 * r * r + 0.25 * length * length + 0.375 * r * length)
        return solid_of_revolution(m_c + m_s, axial, transverse)

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        around = segments("Capsule", resolution)
        latitude = np.linspace(0.0, 0.5 * np.pi, max(around // 4, 1) + 1)
        radius = self.radius * np.cos(latitude)
        height = self.radius * np.sin(latitude) + 0.5 * self.length
        return revolve(np.concatenate([radius[::-1], radius]), np.concatenate([-height[::-1], height]), around)

    def edges(self, resolution: int = 32) -> tuple[np.ndarray, np.ndarray]:
        half, around = 0.5 * self.length, segments("Capsule", resolution)
        lines = [circle(self.radius, around, 2, (0.0, 0.0, z)) for z in (-half, half)]
        angle = np.linspace(0.0, np.pi, around // 2 + 1)
        arc, zero = np.stack([self.radius * np.cos(angle), self.radius * np.sin(angle)], axis=1), np.zeros(len(angle))
        for sign in (-1.0, 1.0):
            z = sign * (half + arc[:, 1])
            lines += [np.stack([arc[:, 0], zero, z], axis=1), np.stack([zero, arc[:, 0], z], axis=1)]
        return join(lines + mantle_lines(self.radius, self.length))
