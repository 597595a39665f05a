"""Terrain over a grid: z = heights[i, j] at x = (j − (columns − 1)/2) Δx, y = (i − (rows − 1)/2) Δy, two triangles in each cell.

Columns run along x and rows along y; the grid's middle is the origin of the shape's frame. Its triangles look upwards, and what is below
them is ground: a ball whose centre has sunk under the surface is pushed up, not down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.shapes.base import Shape, positive
from unibody.shapes.mass import MassProperties

__all__ = ["HeightField"]


@dataclass(frozen=True, eq=False)
class HeightField(Shape):
    """Ground given by heights over a regular grid, for static bodies: it has no end below, hence no mass.

    >>> HeightField([[0, 0, 0], [0, 1, 0], [0, 0, 0]], spacing=0.5).triangles()[0][4]
    array([0., 0., 1.])
    """

    heights: np.ndarray
    """(rows, columns) [m]; rows along y, columns along x."""
    spacing: tuple[float, float] = (1.0, 1.0)
    """Between columns (x) and between rows (y) [m]; one number for both."""

    def __post_init__(self) -> None:
        try:
            heights = np.array(self.heights, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise ModelError("HeightField: heights are not a table of numbers; give (rows, columns) in metres") from None
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise ModelError(f"HeightField: heights have shape {heights.shape}; give (rows, columns), two of each or more")
        if not np.isfinite(heights).all():
            i, j = (int(k) for k in np.argwhere(~np.isfinite(heights))[0])
            raise ModelError(f"HeightField: height ({i}, {j}) is {heights[i, j]}; give finite heights")
        heights.flags.writeable = False
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "spacing", _spacing(self.spacing))

    @property
    def volume(self) -> float:
        return 0.0

    def mass_properties(self, density: float) -> MassProperties:
        raise ModelError("HeightField: terrain has no end below and no mass; put it on a static body, or give a closed Mesh")

    def triangles(self, resolution: int = 16) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = self.heights.shape
        x = (np.arange(columns) - 0.5 * (columns - 1)) * self.spacing[0]
        y = (np.arange(rows) - 0.5 * (rows - 1)) * self.spacing[1]
        grid_y, grid_x = np.meshgrid(y, x, indexing="ij")
        corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        right, up, across = corner + 1, corner + columns, corner + columns + 1
        faces = np.stack([np.stack([corner, right, across], axis=1), np.stack([corner, across, up], axis=1)], axis=1).reshape(-1, 3)
        return np.stack([grid_x.ravel(), grid_y.ravel(), self.heights.ravel()], axis=1), faces


def _spacing(value: Any) -> tuple[float, float]:
    try:
        along_x, along_y = (value, value) if np.ndim(value) == 0 else value
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"HeightField: spacing {value!r} is neither a number nor a pair; give metres along x and y") from None
    return positive("HeightField", "spacing", along_x), positive("HeightField", "spacing", along_y)
