"""Triangles to pixels, many at a time: a z-buffer in NumPy.

A triangle covers in each row the span between its left and its right edges. All spans of all triangles are computed at once, then all
their pixels (the nearness is linear along a span), and `maximum.at` keeps the nearest. Colours come afterwards, only for what is seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

AT_ONCE = 3_000_000
"""Pixels of spans in one go; bounds the memory."""


@dataclass(frozen=True)
class Spans:
    """Runs of pixels: of which triangle, in which row, from which column, how many."""

    face: np.ndarray
    row: np.ndarray
    first: np.ndarray
    count: np.ndarray


def spans(corners: np.ndarray, width: int, height: int) -> Spans:
    """Which pixel centres lie in triangles (F, 3, ≥ 2) of columns and rows."""
    x, y = corners[:, :, 0], corners[:, :, 1]
    top = np.maximum(np.ceil(y.min(axis=1) - 0.5), 0.0).astype(np.int64)
    rows = np.minimum(np.ceil(y.max(axis=1) - 0.5), height).astype(np.int64) - top
    rows = np.where((x.max(axis=1) < 0.0) | (x.min(axis=1) > width), 0, np.maximum(rows, 0))
    face = np.repeat(np.arange(len(corners)), rows)
    row = np.arange(len(face)) - np.repeat(np.cumsum(rows) - rows - top, rows)
    middle = row + 0.5
    left, right = np.full(len(face), -np.inf), np.full(len(face), np.inf)
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    for a, b in ((0, 1), (1, 2), (2, 0)):
        rise = np.where(area > 0.0, 1.0, -1.0) * (y[:, b] - y[:, a])
        slope = np.divide(x[:, b] - x[:, a], y[:, b] - y[:, a], out=np.zeros(len(x)), where=rise != 0.0)
        offset = x[:, a] - slope * y[:, a]
        edge = slope[face] * middle
        left = np.maximum(left, edge + np.where(rise < 0.0, offset, -np.inf)[face])
        right = np.minimum(right, edge + np.where(rise > 0.0, offset, np.inf)[face])
    first = np.ceil(np.clip(left, 0.0, width) - 0.5).astype(np.int64)
    count = np.ceil(np.clip(right, 0.0, width) - 0.5).astype(np.int64) - first
    some = count > 0
    return Spans(face[some], row[some], first[some], count[some])


class Pixels:
    """For each pixel the nearest triangle's number, or −1, and its nearness. `behind` is the nearness of what hides things farther away."""

    def __init__(self, width: int, height: int, behind: np.ndarray | float = 0.0):
        self.width, self.height, self._behind = width, height, behind
        self.near = np.empty(width * height, np.float32)
        self.face = np.empty(width * height, np.int32)
        self.clear()

    def clear(self) -> None:
        self.near[:] = self._behind
        self.face.fill(-1)

    def draw(self, corners: np.ndarray, numbers: np.ndarray) -> None:
        """Triangles (F, 3, 3) of column, row and nearness; `numbers` (F,) are what is remembered of them."""
        found = spans(corners, self.width, self.height)
        if not len(found.face):
            return
        across, down = gradient(corners, corners[:, :, 2])
        f = found.face
        start = corners[f, 0, 2] + across[f] * (found.first + 0.5 - corners[f, 0, 0]) + down[f] * (found.row + 0.5 - corners[f, 0, 1])
        base = found.row * self.width + found.first
        ends = np.cumsum(found.count)
        cuts = np.searchsorted(ends, np.arange(AT_ONCE, ends[-1] + AT_ONCE, AT_ONCE))
        begin = 0
        for cut in np.minimum(cuts + 1, len(f)):
            if cut > begin:
                piece = slice(begin, cut)
                self._fill(base[piece], found.count[piece], start[piece], across[f[piece]], numbers[f[piece]])
            begin = cut

    def _fill(self, base: np.ndarray, count: np.ndarray, start: np.ndarray, across: np.ndarray, numbers: np.ndarray) -> None:
        along = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        pixel = np.repeat(base, count)
        pixel += along
        near = np.repeat(start.astype(np.float32), count)
        near += np.repeat(across.astype(np.float32), count) * along.astype(np.float32)
        np.maximum.at(self.near, pixel, near)
        wins = near >= self.near[pixel]
        self.face[pixel[wins]] = np.repeat(numbers.astype(np.int32), count)[wins]


def gradient(corners: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How values (F, 3) at the corners of triangles change per column and per row."""
    d1, d2 = corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2]
    area = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    scale = np.divide(1.0, area, out=np.zeros(len(area)), where=np.abs(area) > 1e-9)
    v1, v2 = value[:, 1] - value[:, 0], value[:, 2] - value[:, 0]
    return (v1 * d2[:, 1] - v2 * d1[:, 1]) * scale, (v2 * d1[:, 0] - v1 * d2[:, 0]) * scale


def covered(corners: np.ndarray, width: int, height: int) -> np.ndarray:
    """(height, width) whether any triangle covers a pixel: spans begin with +1 and end with −1."""
    found = spans(corners, width, height)
    line = width + 1
    change = np.bincount(found.row * line + found.first, minlength=line * height)
    change = change - np.bincount(found.row * line + found.first + found.count, minlength=line * height)
    return np.cumsum(change.reshape(height, line), axis=1)[:, :width] > 0


def cut(x: np.ndarray, depth: np.ndarray, values: np.ndarray, nearest: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triangles (F, 3, 3) with values (F, 3), kept where their depth (F, 3) is at least `nearest`; and which each piece comes from."""
    inside = depth >= nearest
    whole = inside.all(axis=1)
    out, kept, origin = [x[whole]], [values[whole]], [np.flatnonzero(whole)]
    for f in np.flatnonzero(inside.any(axis=1) & ~whole):
        ring, lights = [], []
        for a in range(3):
            b = (a + 1) % 3
            if inside[f, a]:
                ring.append(x[f, a])
                lights.append(values[f, a])
            if inside[f, a] != inside[f, b]:
                s = (nearest - depth[f, a]) / (depth[f, b] - depth[f, a])
                ring.append(x[f, a] + s * (x[f, b] - x[f, a]))
                lights.append(values[f, a] + s * (values[f, b] - values[f, a]))
        for k in range(1, len(ring) - 1):
            out.append(np.array([[ring[0], ring[k], ring[k + 1]]]))
            kept.append(np.array([[lights[0], lights[k], lights[k + 1]]]))
            origin.append(np.array([f]))
    return np.concatenate(out), np.concatenate(kept), np.concatenate(origin)
