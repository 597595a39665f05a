"""The half-space z ≤ 0 of its own frame: the ground. It has no end, hence no mass; pictures show a square of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.errors import ModelError
from unibody.shapes.base import Shape, positive
from unibody.shapes.mass import MassProperties

__all__ = ["Plane"]


@dataclass(frozen=True)
class Plane(Shape):
    """Everything below z = 0 in the shape's frame, for static bodies.

    >>> float(Plane(size=2.0).triangles()[0].max())
    1.0
    """

    size: float = 10.0
    """Side of the square that pictures show [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", positive("Plane", "size", self.size))

    @property
    def volume(self) -> float:
        return float("inf")

    def mass_properties(self, density: float) -> MassProperties:
        raise ModelError("Plane: a half-space has no end and no mass; put it on a static body, or give the body mass= and inertia=")

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        h = 0.5 * self.size
        return np.array([(-h, -h, 0.0), (h, -h, 0.0), (h, h, 0.0), (-h, h, 0.0)]), np.array([(0, 1, 2), (0, 2, 3)])
