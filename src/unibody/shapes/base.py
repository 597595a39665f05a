"""What every shape gives, and the checks that refuse bad sizes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.shapes.mass import MassProperties
from unibody.shapes.skeleton import Skeleton
from unibody.shapes.surface import sharp_edges

__all__ = ["Shape"]


class Shape(ABC):
    """A closed solid in its own frame S. Lengths in metres."""

    @property
    @abstractmethod
    def volume(self) -> float:
        """[m³]"""

    @abstractmethod
    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it, in S, of the solid at uniform `density` [kg/m³]."""

    @abstractmethod
    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        """A closed, outward-oriented surface: vertices (n, 3) [m] in S, faces (m, 3) as vertex indices.

        `resolution` is the number of segments around a full circle; flat-sided shapes ignore it.
        """

    def edges(self, resolution: int = 32) -> tuple[np.ndarray, np.ndarray]:
        """Lines that draw the shape: vertices (n, 3) [m] in S, segments (m, 2) as vertex indices."""
        return sharp_edges(*self.triangles(resolution))

    def skeleton(self) -> Skeleton | None:
        """Of a thin thing the lines and points that touch for it; None: its surface touches."""
        return None


SMALLEST, LARGEST = 1e-15, 1e9
"""[m] Sizes beyond these are slips: volumes and moments, third and fifth powers of them, no longer go well with what is about them."""


def positive(shape: str, field: str, value: Any) -> float:
    """`value` as a length within the scales of mechanics, or ModelError."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and number > 0.0):
        raise ModelError(f"{shape}: {field} {_shown(value)} is not a positive number; give metres > 0")
    if not SMALLEST <= number <= LARGEST:
        raise ModelError(f"{shape}: {field} {number:g} m is beyond the scales of mechanics; give {SMALLEST:g} … {LARGEST:g} m")
    return number


def positive_triple(shape: str, field: str, value: Any) -> tuple[float, float, float]:
    """`value` as three lengths within the scales of mechanics, or ModelError."""
    try:
        x, y, z = (float(entry) for entry in value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{shape}: {field} {_shown(value)} are not three numbers; give (x, y, z) in metres") from None
    if not all(math.isfinite(entry) and entry > 0.0 for entry in (x, y, z)):
        raise ModelError(f"{shape}: {field} {_shown((x, y, z))} are not all positive; give three lengths > 0 in metres")
    return positive(shape, field, x), positive(shape, field, y), positive(shape, field, z)


def segments(shape: str, resolution: int) -> int:
    """Number of segments around a circle, or ModelError below three."""
    if int(resolution) < 3:
        raise ModelError(f"{shape}: resolution {resolution} is less than 3 segments around a circle; give 3 or more")
    return int(resolution)


def solid_of_revolution(mass: float, axial: float, transverse: float) -> MassProperties:
    """Mass properties of a solid symmetric about its z axis and its x–y plane."""
    return MassProperties(mass, np.zeros(3), (transverse, transverse, axial))


def _shown(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "(" + ", ".join(f"{entry:g}" if isinstance(entry, (int, float)) else repr(entry) for entry in value) + ")"
    return " ".join(repr(value).split())
