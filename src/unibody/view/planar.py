"""A mechanism that moves in a plane, seen from the side: outlines of bodies, pins, supports, springs and traces in a matplotlib axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.joints import Weld
from unibody.model import Model
from unibody.shapes import Mesh
from unibody.simulation import Recording
from unibody.view import motion
from unibody.view.style import INK, PALE, STATIC, body_colours, mixed

Plane = tuple[np.ndarray, np.ndarray, np.ndarray]


class PlanarView:
    """Draws recordings of one model into one axes."""

    def __init__(self, axes: Any, model: Model, plane: Plane):
        self._axes, self._model = axes, model
        self._flat = np.stack(plane[:2], axis=1)
        moving = [i for i, b in enumerate(model.bodies) if b.kind != "static"]
        colours = dict(zip(moving, body_colours(len(moving)), strict=True))
        self._colours = [colours.get(i, STATIC) for i in range(model.n_bodies)]
        self._names = motion.axis_names(plane)
        self._reach: list[np.ndarray] = []

    def show(self, recording: Recording, rows: list[int], traces: list[motion.Trace]) -> None:
        """The mechanism at the given rows, the last one in full colour, and the traces up to it."""
        R, p = motion.poses(recording)
        now = recording.t[rows[-1]]
        for trace in traces:
            self._trace(trace, float(recording.t[rows[0]]), float(now))
        for k, row in enumerate(rows[:-1]):
            self._bodies(R[row], p[row], 0.9 - 0.45 * (k + 1) / len(rows), 2.0 + 0.1 * k)
        last = rows[-1]
        self._bodies(R[last], p[last], 0.0, 4.0)
        self._lines(R[last], p[last])
        self._pins(R[last], p[last])

    def overlay(self, recording: Recording, row: int, colour: str, style: str, traces: list[motion.Trace]) -> None:
        """Outlines alone, on top of what is there."""
        R, p = motion.poses(recording)
        for polygon, _ in self._polygons(R[row], p[row]):
            closed = np.concatenate([polygon, polygon[:1]])
            self._axes.plot(*closed.T, color=colour, lw=1.3, ls=style, zorder=6.0)
        for trace in traces:
            self._axes.plot(*(trace.x @ self._flat).T, color=colour, lw=1.1, ls=style, alpha=0.9, zorder=1.6)

    def finish(self) -> None:
        """Equal aspect, limits with a margin, names of the axes."""
        points = np.concatenate(self._reach)
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.06 * float((high - low).max()) + 1e-3
        self._axes.set_xlim(low[0] - margin, high[0] + margin)
        self._axes.set_ylim(low[1] - margin, high[1] + margin)
        self._axes.set_aspect("equal")
        self._axes.set_xlabel(f"{self._names[0]} [m]")
        self._axes.set_ylabel(f"{self._names[1]} [m]")

    def extent(self, recording: Recording, rows: list[int], traces: list[motion.Trace]) -> tuple[float, float]:
        """Width and height [m] of what will be drawn; also remembered for the limits."""
        R, p = motion.poses(recording)
        for row in rows:
            self._reach += [polygon for polygon, _ in self._polygons(R[row], p[row])] + [(p[row, 1:] @ self._flat)]
            self._reach += [motion.line_positions(self._model, line, R[row], p[row]) @ self._flat for line in motion.lines(self._model)]
        self._reach += [trace.x @ self._flat for trace in traces]
        self._reach += [np.atleast_2d(np.array(j.X_PF.p) @ self._flat) for j in self._model.joints if j.parent == 0 and not j.implicit]
        points = np.concatenate(self._reach)
        width, height = np.ptp(points, axis=0)
        return float(width), float(height)

    def _polygons(self, R: np.ndarray, p: np.ndarray) -> list[tuple[np.ndarray, int]]:
        out = []
        for i, body in enumerate(self._model.bodies):
            for placed in body.shapes:
                vertices, faces = placed.triangles(32)
                flat = (vertices @ R[i].T + p[i]) @ self._flat
                pieces = [flat[f] for f in faces] if isinstance(placed.shape, Mesh) else [hull(flat)]
                out += [(piece, i) for piece in pieces]
        return out

    def _bodies(self, R: np.ndarray, p: np.ndarray, fade: float, zorder: float) -> None:
        from matplotlib.collections import PolyCollection

        polygons = self._polygons(R, p)
        if polygons:
            fill = [mixed(mixed(self._colours[i], "white", 0.12), "white", fade) for _, i in polygons]
            edge = [mixed(mixed(self._colours[i], INK, 0.55), "white", fade) for _, i in polygons]
            outlines = [polygon for polygon, _ in polygons]
            shown = PolyCollection(outlines, facecolors=fill, edgecolors=edge, linewidths=0.9, zorder=zorder, joinstyle="round")
            self._axes.add_collection(shown)
        bare = [i for i, b in enumerate(self._model.bodies) if i and not b.shapes]
        if bare:
            x = p[bare] @ self._flat
            colours = [mixed(self._colours[i], "white", fade) for i in bare]
            self._axes.scatter(*x.T, s=40, color=colours, edgecolors=INK, linewidths=0.6, zorder=zorder)

    def _trace(self, trace: motion.Trace, since: float, now: float) -> None:
        from matplotlib.collections import LineCollection

        flat = (trace.x @ self._flat)[trace.t <= now + 1e-12]
        times = trace.t[trace.t <= now + 1e-12]
        colour = mixed(self._colours[trace.body], INK, 0.15)
        self._axes.plot(*flat.T, color=mixed(colour, "white", 0.72), lw=0.8, zorder=1.0)
        x = flat[times >= since]
        if len(x) > 1:
            shades = [(*colour, s) for s in np.linspace(0.15, 1.0, len(x) - 1)]
            self._axes.add_collection(LineCollection(list(np.stack([x[:-1], x[1:]], axis=1)), colors=shades, linewidths=1.8, zorder=3.5))

    def _lines(self, R: np.ndarray, p: np.ndarray) -> None:
        scale = 0.022 * self._span()
        for line in motion.lines(self._model):
            x = motion.line_positions(self._model, line, R, p)
            if line.kind == "spring":
                x = motion.coil(x[0], x[-1], scale, 8)
            self._axes.plot(*(x @ self._flat).T, color=INK, lw=1.1, zorder=5.0)

    def _pins(self, R: np.ndarray, p: np.ndarray) -> None:
        span = self._span()
        for joint in self._model.joints:
            if joint.implicit or isinstance(joint.element, Weld):
                continue
            x, z = (p[joint.parent] + R[joint.parent] @ np.array(joint.X_PF.p)) @ self._flat
            if self._model.bodies[joint.parent].kind == "static":
                self._support(x, z, 0.028 * span)
            if len(self._model.joints) <= 60:
                self._axes.scatter([x], [z], s=16, color="white", edgecolors=INK, linewidths=1.0, zorder=7.0)

    def _support(self, x: float, z: float, s: float) -> None:
        """The triangle on hatched ground that stands for a fixed pivot."""
        grey = mixed(PALE, "white", 0.3)
        self._axes.fill([x, x - 0.8 * s, x + 0.8 * s], [z, z - 1.3 * s, z - 1.3 * s], facecolor=grey, edgecolor=INK, lw=0.9, zorder=3.8)
        self._axes.plot([x - 1.3 * s, x + 1.3 * s], [z - 1.3 * s] * 2, color=INK, lw=1.1, zorder=3.8)
        for k in np.linspace(-1.1, 1.3, 6):
            self._axes.plot([x + k * s, x + (k - 0.4) * s], [z - 1.3 * s, z - 1.75 * s], color=INK, lw=0.6, zorder=3.7)

    def _span(self) -> float:
        points = np.concatenate(self._reach)
        return float(np.ptp(points, axis=0).max())


def hull(points: np.ndarray) -> np.ndarray:
    """The convex hull of points (n, 2), counter-clockwise (monotone chain)."""
    ordered = sorted(map(tuple, np.round(points, 12)))

    def chain(sequence: Any) -> list[tuple[float, float]]:
        out: list[tuple[float, float]] = []
        for c in sequence:
            while len(out) > 1 and (out[-1][0] - out[-2][0]) * (c[1] - out[-2][1]) <= (out[-1][1] - out[-2][1]) * (c[0] - out[-2][0]):
                out.pop()
            out.append(c)
        return out[:-1]

    return np.array(chain(ordered) + chain(reversed(ordered)) or ordered[:1])
