"""Triangles to shaded pixels: an orthographic z-buffer with smooth normals and drawn outlines.

A picture of a mechanism needs correct overlaps where bars meet in a hinge, which painters' algorithms do not give. Pixels remember the
depth, the normal and the body they show; light falls on them once, at the end; where the body or the normal jumps, a dark line is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SMOOTH = 0.75
"""Faces whose normals have a larger product than this belong to one curved surface."""
LIGHT = np.array([-0.35, 0.75, 0.6])
"""Towards the light, in the picture's axes: right, up, towards the viewer."""


@dataclass(frozen=True)
class Camera:
    """Orthographic, looking from an azimuth and an elevation [rad]; rows of `axes`: right, up, towards the viewer."""

    axes: np.ndarray

    @staticmethod
    def looking(azimuth: float, elevation: float) -> Camera:
        ca, sa, ce, se = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
        towards = np.array([ca * ce, sa * ce, se])
        right = np.array([-sa, ca, 0.0])
        return Camera(np.array([right, np.cross(towards, right), towards]))

    def seen(self, x: np.ndarray) -> np.ndarray:
        """World points (…, 3) as right, up [m] and nearness [m]."""
        return np.asarray(x) @ self.axes.T


@dataclass(frozen=True)
class RasterSolid:
    """A closed mesh with a normal per corner: vertices (n, 3), faces (m, 3), normals (m, 3, 3)."""

    vertices: np.ndarray
    faces: np.ndarray
    normals: np.ndarray

    @staticmethod
    def of(vertices: np.ndarray, faces: np.ndarray) -> RasterSolid:
        corners = vertices[faces]
        flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.linalg.norm(flat, axis=1, keepdims=True)
        unit = flat / np.maximum(area, 1e-300)
        around: list[list[int]] = [[] for _ in vertices]
        for f, face in enumerate(faces):
            for v in face:
                around[v].append(f)
        normals = np.empty((len(faces), 3, 3))
        for f, face in enumerate(faces):
            for c, v in enumerate(face):
                near = np.array(around[v])
                near = near[unit[near] @ unit[f] > SMOOTH]
                normals[f, c] = flat[near].sum(axis=0) if near.size else unit[f]
        normals /= np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-300)
        return RasterSolid(vertices, faces, normals)

    def moved(self, R: np.ndarray, p: np.ndarray) -> RasterSolid:
        return RasterSolid(self.vertices @ R.T + p, self.faces, self.normals @ R.T)


def tube(path: np.ndarray, radius: float, sides: int = 8) -> RasterSolid:
    """A thin tube along a polyline (n, 3), open at its ends."""
    step = np.gradient(path, axis=0)
    step /= np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-300)
    first = np.cross(step[0], np.eye(3)[np.argmin(np.abs(step[0]))])
    rings, side = [], first / np.linalg.norm(first)
    for x, u in zip(path, step, strict=True):
        side = side - u * (side @ u)
        side = side / max(float(np.linalg.norm(side)), 1e-300)
        angles = 2.0 * np.pi * np.arange(sides) / sides
        rings.append(x + radius * (np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * np.cross(u, side)))
    n, k = len(path), np.arange(sides)
    quads = [(r * sides + k, r * sides + (k + 1) % sides, (r + 1) * sides + (k + 1) % sides, (r + 1) * sides + k) for r in range(n - 1)]
    faces = np.concatenate([np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]) for a, b, c, d in quads])
    return RasterSolid.of(np.concatenate(rings), faces)


class Canvas:
    """A window (left, right, bottom, top) [m] of the camera's plane, `scale` pixels per metre, drawn twice as fine as asked."""

    FINER = 2

    def __init__(self, camera: Camera, window: tuple[float, float, float, float], scale: float):
        self.camera, self.window, self._scale = camera, window, scale * self.FINER
        left, right, bottom, top = window
        self.width = max(2, int(np.ceil((right - left) * scale))) * self.FINER
        self.height = max(2, int(np.ceil((top - bottom) * scale))) * self.FINER
        self.clear()

    def clear(self) -> None:
        self._depth = np.full((self.height, self.width), -np.inf, np.float32)
        self._normal = np.zeros((self.height, self.width, 3), np.float32)
        self._body = np.full((self.height, self.width), -1, np.int32)

    def draw(self, solid: RasterSolid, body: int) -> None:
        """Put a solid into the picture; `body` selects its colour."""
        seen = self.camera.seen(solid.vertices)
        x = (seen[:, 0] - self.window[0]) * self._scale
        y = (self.window[3] - seen[:, 1]) * self._scale
        corners = np.stack([x, y, seen[:, 2]], axis=1)[solid.faces]
        normals = self.camera.seen(solid.normals)
        d1, d2 = corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2]
        doubled = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
        low = np.maximum(np.floor(corners[:, :, :2].min(axis=1)), 0).astype(int)
        high = np.minimum(np.ceil(corners[:, :, :2].max(axis=1)), (self.width - 1, self.height - 1)).astype(int)
        # Rows run downwards, so a face towards the viewer has a negative area.
        for f in np.flatnonzero((doubled < -1e-12) & (low <= high).all(axis=1)):
            self._fill(corners[f], normals[f], low[f], high[f], doubled[f], body)

    def _fill(self, corner: np.ndarray, normal: np.ndarray, low: np.ndarray, high: np.ndarray, doubled: float, body: int) -> None:
        xs = np.arange(low[0], high[0] + 1) + 0.5
        ys = (np.arange(low[1], high[1] + 1) + 0.5)[:, None]
        (x0, y0, z0), (x1, y1, z1), (x2, y2, z2) = corner
        w1 = ((xs - x0) * (y2 - y0) - (ys - y0) * (x2 - x0)) / doubled
        w2 = ((x1 - x0) * (ys - y0) - (y1 - y0) * (xs - x0)) / doubled
        w0 = 1.0 - w1 - w2
        z = w0 * z0 + w1 * z1 + w2 * z2
        window = (slice(low[1], high[1] + 1), slice(low[0], high[0] + 1))
        depth = self._depth[window]
        hit = (w0 >= -1e-9) & (w1 >= -1e-9) & (w2 >= -1e-9) & (z > depth)
        if hit.any():
            depth[hit] = z[hit]
            self._normal[window][hit] = w0[hit, None] * normal[0] + w1[hit, None] * normal[1] + w2[hit, None] * normal[2]
            self._body[window][hit] = body

    def picture(self, colours: np.ndarray) -> np.ndarray:
        """(rows, columns, 4) colour and coverage; `colours` (bodies, 3)."""
        covered = self._body >= 0
        n = self._normal[covered]
        n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-12)
        light = LIGHT / np.linalg.norm(LIGHT)
        half = light + np.array([0.0, 0.0, 1.0])
        gloss = np.maximum(n @ (half / np.linalg.norm(half)), 0.0) ** 40
        shade = 0.42 + 0.66 * (0.5 + 0.5 * (n @ light))
        shade[self._outline()[covered]] *= 0.45
        out = np.zeros((self.height, self.width, 4), np.float32)
        out[covered, :3] = np.clip(colours[self._body[covered]] * shade[:, None] + 0.18 * gloss[:, None], 0.0, 1.0)
        out[covered, 3] = 1.0
        k = self.FINER
        small = np.mean([out[i::k, j::k] for i in range(k) for j in range(k)], axis=0)
        small[..., :3] /= np.maximum(small[..., 3:], 1e-6)
        return small

    def _outline(self) -> np.ndarray:
        """Where the body changes, or the surface breaks."""
        edge = np.zeros(self._body.shape, bool)
        x, y, z = np.moveaxis(self._normal, 2, 0)
        everything = slice(None)
        for before, after in (
            ((slice(None, -1), everything), (slice(1, None), everything)),
            ((everything, slice(None, -1)), (everything, slice(1, None))),
        ):
            crease = x[before] * x[after] + y[before] * y[after] + z[before] * z[after] < 0.5
            here = (self._body[before] != self._body[after]) | crease
            edge[before] |= here
            edge[after] |= here
        return edge

    def silhouette(self) -> np.ndarray:
        """(rows, columns) coverage alone, softened: for shadows."""
        covered = (self._body >= 0).astype(float)
        k = self.FINER
        small = np.mean([covered[i::k, j::k] for i in range(k) for j in range(k)], axis=0)
        weights = np.hanning(11)[1:-1]
        weights /= weights.sum()
        for axis in (0, 1):
            small = np.sum([w * np.roll(small, shift, axis) for shift, w in enumerate(weights, start=-4)], axis=0)
        return small
