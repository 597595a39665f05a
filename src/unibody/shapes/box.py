"""A box: m = ρ a b c, Iₓₓ = m (b² + c²) / 12 and cyclically."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.shapes.base import Shape, positive_triple
from unibody.shapes.mass import MassProperties

__all__ = ["Box"]

_CORNERS = np.array([(x, y, z) for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
_QUADS = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
_FACES = np.array([triangle for i, j, k, n in _QUADS for triangle in ((i, j, k), (i, k, n))])


@dataclass(frozen=True)
class Box(Shape):
    """A box with the full side lengths `sides`, centred at the origin, along the axes.

    >>> Box((1, 2, 3)).volume
    6.0
    """

    sides: tuple[float, float, float]
    """Full side lengths along x, y, z [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sides", positive_triple("Box", "sides", self.sides))

    @property
    def volume(self) -> float:
        a, b, c = self.sides
        return a * b * c

    def mass_properties(self, density: float) -> MassProperties:
        a, b, c = self.sides
        mass = density * self.volume
        return MassProperties(mass, np.zeros(3), mass / 12.0 * np.array([b * b + c * c, c * c + a * a, a * a + b * b]))

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        return _CORNERS * self.sides, _FACES.copy()
