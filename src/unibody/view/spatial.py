"""A mechanism in space: shaded bodies with shadows on a floor with a grid in metres, traces, springs and cables, in a matplotlib axes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from unibody.model import Model
from unibody.simulation import Recording
from unibody.view import motion
from unibody.view.raster import Camera, Canvas, RasterSolid, tube
from unibody.view.style import INK, PALE, STATIC, body_colours, mixed

RESOLUTION = 28
PIXELS = 900
"""Of the longer side of the drawn window."""
SUN = np.array([0.25, -0.2, 1.0])
"""Towards the sun, which throws the shadows."""


class SpatialView:
    """Draws recordings of one model into one axes."""

    def __init__(self, axes: Any, model: Model, azimuth: float = -1.05, elevation: float = 0.36):
        from matplotlib.colors import to_rgb

        self._axes, self._model = axes, model
        self._camera = Camera.looking(azimuth, elevation)
        moving = [i for i, b in enumerate(model.bodies) if b.kind != "static"]
        colours = dict(zip(moving, body_colours(len(moving)), strict=True))
        bodies = [colours.get(i, np.array(to_rgb(STATIC))) for i in range(model.n_bodies)]
        self._colours = np.array([*bodies, to_rgb("#56616c")])
        self._solids = [(i, RasterSolid.of(*placed.triangles(RESOLUTION))) for i, b in enumerate(model.bodies) for placed in b.shapes]
        self._low, self._high = np.full(3, np.inf), np.full(3, -np.inf)
        self._seen: list[np.ndarray] = []

    def extent(self, recording: Recording, rows: list[int], traces: list[motion.Trace]) -> tuple[float, float]:
        """Width and height [m] of the picture plane that the drawn things need."""
        R, p = motion.poses(recording)
        for row in rows:
            for i, solid in self._solids:
                self._include(solid.vertices @ R[row, i].T + p[row, i])
            self._include(p[row, 1:])
            for line in motion.lines(self._model):
                self._include(motion.line_positions(self._model, line, R[row], p[row]))
        for trace in traces:
            self._include(trace.x)
        self._lay_floor()
        left, right, bottom, top = self._window
        return right - left, top - bottom

    def _include(self, x: np.ndarray) -> None:
        x = np.asarray(x).reshape(-1, 3)
        if len(x):
            self._low, self._high = np.minimum(self._low, x.min(axis=0)), np.maximum(self._high, x.max(axis=0))
            seen = self._camera.seen(x)[:, :2]
            self._seen += [seen.min(axis=0), seen.max(axis=0)]

    def _lay_floor(self) -> None:
        span = float((self._high - self._low).max()) or 1.0
        self._span = span
        low = self._low[2]
        self._floor = 0.0 if -0.02 * span <= low <= 0.35 * span else low - 0.12 * span
        self._step = nice(span / 4.0)
        self._first = np.floor((self._low[:2] - 0.02 * span) / self._step) * self._step
        self._last = np.ceil((self._high[:2] + 0.02 * span) / self._step) * self._step
        x0, y0, x1, y1 = *self._first, *self._last
        floor = np.array([(x, y, self._floor) for x in (x0, x1) for y in (y0, y1)])
        scale = (x0, y0, self._high[2])
        seen = np.concatenate([self._camera.seen(np.array([*floor, scale]))[:, :2], self._seen])
        margin = 0.03 * span
        (left, bottom), (right, top) = seen.min(axis=0) - margin, seen.max(axis=0) + margin
        self._window = (float(left), float(right), float(bottom), float(top))

    def show(self, recording: Recording, rows: list[int], traces: list[motion.Trace]) -> None:
        """The mechanism at the given rows, the last one in full colour with its shadow, and the traces up to it."""
        R, p = motion.poses(recording)
        left, right, bottom, top = self._window
        canvas = Canvas(self._camera, self._window, PIXELS / max(right - left, top - bottom))
        self._draw_floor()
        self._shadow(canvas, R[rows[-1]], p[rows[-1]])
        now, since = float(recording.t[rows[-1]]), float(recording.t[rows[0]])
        for trace in traces:
            self._trace(trace, since, now)
        for k, row in enumerate(rows[:-1]):
            picture = self._picture(canvas, R[row], p[row], moving_only=True)
            picture[..., 3] *= 0.10 + 0.30 * (k + 1) / len(rows)
            self._lay(picture, 3.0 + 0.01 * k)
        self._lay(self._picture(canvas, R[rows[-1]], p[rows[-1]]), 4.0)

    def overlay(self, recording: Recording, row: int, colour: str, style: str, traces: list[motion.Trace]) -> None:
        """Edges of the bodies alone, on top of what is there."""
        from matplotlib.collections import LineCollection

        R, p = motion.poses(recording)
        for i, body in enumerate(self._model.bodies):
            for placed in body.shapes if body.kind != "static" else ():
                vertices, pairs = placed.edges(RESOLUTION)
                flat = self._camera.seen(vertices @ R[row, i].T + p[row, i])[:, :2]
                self._axes.add_collection(LineCollection(list(flat[pairs]), colors=[colour], linewidths=0.8, linestyles=style, zorder=6.0))
        for trace in traces:
            self._axes.plot(*self._camera.seen(trace.x)[:, :2].T, color=colour, lw=0.8, ls=style, alpha=0.8, zorder=3.6)

    def finish(self) -> None:
        left, right, bottom, top = self._window
        pad = 0.05 * self._span
        self._axes.set_xlim(left - 2 * pad, right + pad)
        self._axes.set_ylim(bottom - 1.6 * pad, top + pad)
        self._axes.set_aspect("equal")
        self._axes.set_axis_off()

    def _picture(self, canvas: Canvas, R: np.ndarray, p: np.ndarray, moving_only: bool = False) -> np.ndarray:
        canvas.clear()
        for i, solid in self._solids:
            if not (moving_only and self._model.bodies[i].kind == "static"):
                canvas.draw(solid.moved(R[i], p[i]), i)
        for i, body in enumerate(self._model.bodies):
            if i and not body.shapes:
                canvas.draw(_dot(p[i] + R[i] @ body.com, 0.02 * self._span), i)
        lines = motion.lines(self._model)
        thick = (0.004 if len(lines) <= motion.COILS else 0.0015) * self._span
        for line in lines:
            x = motion.line_positions(self._model, line, R, p)
            path = motion.coil(x[0], x[-1], 0.022 * self._span, 9) if line.kind == "spring" else x
            for piece in [path] if line.kind == "spring" else pairwise(x):
                canvas.draw(tube(np.array(piece), thick), len(self._colours) - 1)
        return canvas.picture(self._colours)

    def _shadow(self, canvas: Canvas, R: np.ndarray, p: np.ndarray) -> None:
        canvas.clear()
        for i, solid in self._solids:
            x = solid.vertices @ R[i].T + p[i]
            x = x - (x[:, 2:] - self._floor) / SUN[2] * SUN
            both = np.concatenate([solid.faces, solid.faces[:, ::-1]])
            canvas.draw(RasterSolid(x, both, np.zeros((len(both), 3, 3))), i)
        grey = canvas.silhouette()
        picture = np.zeros((*grey.shape, 4))
        picture[..., :3] = (0.13, 0.19, 0.24)
        picture[..., 3] = 0.16 * grey
        self._lay(picture, 2.0)

    def _lay(self, picture: np.ndarray, zorder: float) -> None:
        self._axes.imshow(picture, extent=self._window, zorder=zorder, interpolation="antialiased")

    def _trace(self, trace: motion.Trace, since: float, now: float) -> None:
        from matplotlib.collections import LineCollection

        keep = trace.t <= now + 1e-12
        flat, times = self._camera.seen(trace.x)[keep, :2], trace.t[keep]
        colour = mixed(self._colours[trace.body], INK, 0.1)
        self._axes.plot(*flat.T, color=mixed(colour, "white", 0.6), lw=0.8, zorder=2.5)
        x = flat[times >= since]
        if len(x) > 1:
            shades = [(*colour, s) for s in np.linspace(0.15, 1.0, len(x) - 1)]
            self._axes.add_collection(LineCollection(list(np.stack([x[:-1], x[1:]], axis=1)), colors=shades, linewidths=1.7, zorder=3.5))

    def _draw_floor(self) -> None:
        """A pale floor, a grid, numbers in metres along its two near edges, and a height scale at the left."""
        x0, y0, x1, y1 = *self._first, *self._last
        z = self._floor

        def at(*point: float) -> np.ndarray:
            return self._camera.seen(np.array(point))[:2]

        quad = np.array([at(x0, y0, z), at(x1, y0, z), at(x1, y1, z), at(x0, y1, z)])
        self._axes.fill(*quad.T, facecolor="#f6f8fa", edgecolor=PALE, lw=0.8, zorder=0.5)
        xs, ys = ticks(x0, x1, self._step), ticks(y0, y1, self._step)
        for x in xs:
            self._axes.plot(*np.array([at(x, y0, z), at(x, y1, z)]).T, color="#dde3e9", lw=0.7, zorder=0.6)
        for y in ys:
            self._axes.plot(*np.array([at(x0, y, z), at(x1, y, z)]).T, color="#dde3e9", lw=0.7, zorder=0.6)
        off = 0.035 * self._span
        label = dict(fontsize=7.5, color=INK, zorder=0.7)
        every = max(1, len(xs) // 5)
        for x in xs[::every]:
            self._axes.text(*at(x, y0 - off, z), f"{x:g}", ha="center", va="top", **label)
        middle = at(0.5 * (x0 + x1), y0, z)
        self._axes.text(middle[0] - 0.6 * off, middle[1] - 2.6 * off, "x [m]", ha="center", va="top", **{**label, "fontsize": 8.5})
        every = max(1, len(ys) // 4)
        for y in ys[::every]:
            self._axes.text(*at(x1 + off, y, z), f"{y:g}", ha="left", va="center", **label)
        middle = at(x1, 0.5 * (y0 + y1), z)
        self._axes.text(middle[0] + 2.6 * off, middle[1] - 1.2 * off, "y [m]", ha="left", va="center", **{**label, "fontsize": 8.5})
        heights = ticks(z, self._high[2], self._step)
        if len(heights):
            self._axes.plot(*np.array([at(x0, y0, z), at(x0, y0, max(heights[-1], z))]).T, color=PALE, lw=0.9, zorder=0.6)
        for h in heights:
            a = at(x0, y0, h)
            self._axes.plot([a[0] - 0.5 * off, a[0]], [a[1]] * 2, color=PALE, lw=0.9, zorder=0.6)
            self._axes.text(a[0] - 0.8 * off, a[1], f"{h:g}", ha="right", va="center", **label)
        if len(heights):
            top = at(x0, y0, heights[-1])
            self._axes.text(top[0], top[1] + 0.8 * off, "z [m]", ha="center", va="bottom", **{**label, "fontsize": 8.5})


def nice(step: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten at or above `step`."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= step * 0.999))


def ticks(low: float, high: float, step: float) -> np.ndarray:
    """Multiples of `step` from low to high."""
    return np.round(np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step, 9) + 0.0


def _dot(centre: np.ndarray, radius: float) -> RasterSolid:
    from unibody.shapes import Sphere

    return RasterSolid.of(*Sphere(radius).triangles(16)).moved(np.eye(3), centre)
