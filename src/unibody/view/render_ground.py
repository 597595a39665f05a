"""What lies behind and below: a pale backdrop, a ground with a grid that fades into it, and shadows on the ground.

A pixel's ray from the eye e along r meets the ground z = h at e + r (h − e_z) / r_z. A grid line is as dark as the part of the pixel it
covers, from the distance to it and the change of that distance from pixel to pixel. A shadow is what covers the ground as the sun sees it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.view.render_camera import View
from unibody.view.render_pixels import covered, cut

SKY, HORIZON, FLOOR, LINE, SHADE = ((0.87, 0.91, 0.95), (0.985, 0.99, 0.995), (0.93, 0.942, 0.955), (0.74, 0.785, 0.83), (0.30, 0.35, 0.42))
DARKNESS = 0.5
"""Part of the light that a shadow takes."""
BLUR = 0.0035
"""Softness of shadows in parts of the picture's height."""


@dataclass(frozen=True)
class Ground:
    """The backdrop with the ground as the camera sees it: the same in every picture of a film."""

    view: View
    height: float
    picture: np.ndarray
    """(rows, columns, 3)"""
    weight: np.ndarray
    """(rows, columns) how much of the ground a pixel shows, 0 … 1."""

    def shaded(self, triangles: np.ndarray, sun: np.ndarray) -> np.ndarray:
        """(rows, columns, 3): the backdrop with the shadows of triangles (F, 3, 3) under a sun in direction `sun`."""
        from scipy.ndimage import gaussian_filter

        out = self.picture.copy()
        triangles = triangles[(triangles[:, :, 2] > self.height).any(axis=1)]
        if not len(triangles) or not self.weight.any():
            return out
        x = triangles - np.maximum(triangles[:, :, 2:] - self.height, 0.0) / sun[2] * sun
        depth = self.view.depth(x)
        x, _, _ = cut(x, depth, depth, self.view.nearest)
        dark = covered(self.view.pixels(x), *self.view.size)
        rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
        if not len(rows):
            return out
        sigma = BLUR * self.view.size[1]
        pad = int(3.0 * sigma) + 1
        window = (slice(max(rows[0] - pad, 0), rows[-1] + pad + 1), slice(max(columns[0] - pad, 0), columns[-1] + pad + 1))
        soft = gaussian_filter(dark[window].astype(np.float32), sigma, truncate=3.0) * (DARKNESS * self.weight[window])
        out[window] += soft[..., None] * (np.array(SHADE, np.float32) - out[window])
        return out


def ground(view: View, height: float, step: float, radius: float) -> Ground:
    """A ground at `height` with lines every `step` [m], which fades between one and three times `radius` [m] from the target."""
    rays = view.rays()
    width, rows = view.size
    level = np.linspace(0.0, 1.0, rows)[:, None, None]
    backdrop = np.broadcast_to(np.array(SKY) + level * (np.array(HORIZON) - np.array(SKY)), (rows, width, 3))
    down = view.eye[2] - height
    below = (rays[..., 2] < -1e-6) & (down > 0.0)
    away = np.where(below, down / np.where(below, -rays[..., 2], 1.0), 0.0)
    x = view.eye[:2] + rays[..., :2] * away[..., None]
    from_target = np.linalg.norm(x - view.target[:2], axis=2)
    weight = np.where(below, np.clip(1.5 - 0.5 * from_target / radius, 0.0, 1.0), 0.0)
    weight = weight * weight * (3.0 - 2.0 * weight)
    lines = np.maximum(_lines(x[..., 0], step), _lines(x[..., 1], step))
    strong = np.maximum(_lines(x[..., 0], 5.0 * step), _lines(x[..., 1], 5.0 * step))
    ink = np.maximum(0.55 * lines, 0.95 * strong)[..., None]
    floor = np.array(FLOOR) + ink * (np.array(LINE) - np.array(FLOOR))
    picture = backdrop + weight[..., None] * (floor - backdrop)
    return Ground(view, height, picture.astype(np.float32), weight.astype(np.float32))


def _lines(x: np.ndarray, step: float) -> np.ndarray:
    """(rows, columns) part of each pixel covered by lines 1.2 pixels thick at multiples of `step`, 0 where they are too dense to see."""
    across, down = np.abs(np.diff(x, axis=1, append=x[:, -1:])), np.abs(np.diff(x, axis=0, append=x[-1:]))
    change = np.maximum(np.hypot(across, down), 1e-12)
    distance = np.abs(x - step * np.round(x / step))
    return np.clip(1.1 - distance / change, 0.0, 1.0) * np.clip(1.3 - 4.0 * change / step, 0.0, 1.0)
