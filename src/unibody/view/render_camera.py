"""A camera with perspective: world points to columns, rows and nearness.

With axes right, up, towards (rows of a rotation), a target and a distance D, a point has c = axes (x − target) and lies D − c₃ before the
eye; its pixel is the middle of the picture plus f c₁,₂ / (D − c₃), its nearness 1 / (D − c₃), which is linear across a drawn triangle.
Points fit into the picture if D ≥ c₃ + |c₁,₂| / tan: `fitted` takes the least such D, and moves the target until both sides touch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ANGLE = np.radians(26.0)
"""From the lower to the upper edge of a picture."""
MARGIN = 0.86
"""Part of the picture that fitted things fill."""
NEAREST = 0.02
"""Things nearer than this part of the distance are cut off."""
BESIDE = 0.5
"""Part of a given distance; if things are nearer, no shift centres them: what it does to them is more than twice what it is made for."""


@dataclass(frozen=True)
class View:
    """Where a picture is taken from, and how many pixels it has."""

    axes: np.ndarray
    """(3, 3) rows: right, up, towards the viewer."""
    target: np.ndarray
    distance: float
    """From the target to the eye [m]."""
    size: tuple[int, int]
    """Columns and rows of pixels."""

    @property
    def eye(self) -> np.ndarray:
        return self.target + self.distance * self.axes[2]

    @property
    def focal(self) -> float:
        """Pixels per tangent."""
        return float(0.5 * self.size[1] / np.tan(0.5 * ANGLE))

    @property
    def nearest(self) -> float:
        """Depth [m] of the plane before which nothing is drawn."""
        return NEAREST * self.distance

    def depth(self, x: np.ndarray) -> np.ndarray:
        """(…,) how far before the eye points lie [m]."""
        return self.distance - (x - self.target) @ self.axes[2]

    def pixels(self, x: np.ndarray) -> np.ndarray:
        """(…, 3) column and row (from the upper left corner) and nearness [1/m] of world points (…, 3) before the eye."""
        c = (x - self.target) @ self.axes.T
        near = 1.0 / (self.distance - c[..., 2])
        column = 0.5 * self.size[0] + self.focal * c[..., 0] * near
        return np.stack([column, 0.5 * self.size[1] - self.focal * c[..., 1] * near, near], axis=-1)

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the rays through the middles of pixels: to the right (columns,) and up (rows,) per metre of depth."""
        width, height = self.size
        return (np.arange(width) + 0.5 - 0.5 * width) / self.focal, (0.5 * height - np.arange(height) - 0.5) / self.focal

    def rays(self) -> np.ndarray:
        """(rows, columns, 3) from the eye through the middle of each pixel, one metre deep."""
        right, up = self.slopes()
        return right[None, :, None] * self.axes[0] + up[:, None, None] * self.axes[1] - self.axes[2]


def turned(azimuth: float, elevation: float) -> np.ndarray:
    """Axes of a camera at these angles [rad] around z, from x, and above the horizon."""
    ca, sa, ce, se = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
    right, towards = np.array([-sa, ca, 0.0]), np.array([ca * ce, sa * ce, se])
    return np.array([right, np.cross(towards, right), towards])


def facing(plane: tuple[np.ndarray, np.ndarray, np.ndarray], elevation: float, aside: float) -> np.ndarray:
    """Axes of a camera before a plane (right, up, out), raised by an angle and turned to its right by another [rad]."""
    right, up, out = plane
    right, out = np.cos(aside) * right - np.sin(aside) * out, np.cos(aside) * out + np.sin(aside) * right
    return np.array([right, np.cos(elevation) * up - np.sin(elevation) * out, np.cos(elevation) * out + np.sin(elevation) * up])


def beside(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Axes of a three-quarter view of things between two corners: more from the side the longer they are."""
    dx, dy = np.maximum((high - low)[:2], 1e-9)
    aside = np.radians(30.0) * min(1.0, 3.0 * min(dx, dy) / max(dx, dy) + 0.45)
    return turned(-0.5 * np.pi + aside if dx >= dy else -aside, np.radians(18.0))


def fitted(axes: np.ndarray, points: np.ndarray, size: tuple[int, int], distance: float | None = None) -> View:
    """The nearest camera with these axes that sees all points (n, 3); a given distance is kept, and the view centred on the points unless
    the eye is among them: then it looks at their middle."""
    target = 0.5 * (points.min(axis=0) + points.max(axis=0))
    tangent = MARGIN * np.tan(0.5 * ANGLE) * np.array([size[0] / size[1], 1.0])
    away = distance or 1.0
    if distance is not None and (away - (points - target) @ axes[2]).min() < BESIDE * away:
        return View(axes, target, away, size)
    for _ in range(12):
        c = (points - target) @ axes.T
        if distance is None:
            away = max(float((c[:, 2] + np.abs(c[:, :2] / tangent).max(axis=1)).max()), 1e-6)
        slope = c[:, :2] / np.maximum(away - c[:, 2:], 1e-9)
        shift = 0.5 * (slope.min(axis=0) + slope.max(axis=0)) * away
        target = target + shift @ axes[:2]
    return View(axes, target, away, size)
