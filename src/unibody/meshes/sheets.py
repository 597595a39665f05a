"""Flat and rolled sheets of near-equilateral triangles.

    rows        a strip of height h = (√3/2) s between rows of points that lie half a spacing s apart, odd rows shifted by half a spacing
    disc        rings k = 0, 1, 2 … of 6 k points: six sectors, each a triangle of rows
    outline     a triangular lattice within a polygon, its rim cut into pieces of the spacing, joined by Delaunay's triangulation
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.meshes.checking import triangle_areas
from unibody.meshes.lattice import few_enough, lengths_of

PATTERNS = ("equilateral", "regular", "alternating")
STEEP = np.sqrt(0.75)


def grid_triangles(size: Any, spacing: Any, pattern: str) -> tuple[np.ndarray, np.ndarray]:
    """A rectangle about the origin in the plane z = 0, seen from above; rows of points along x, the lowest y first."""
    a, b = lengths_of("TriMesh.grid: size", size, 2)
    s = spacing_of("TriMesh.grid", spacing, min(a, b))
    few_enough(f"TriMesh.grid: {a:g} × {b:g} m by {s:g} m", 2.0 * (a / s) * (b / s))
    if pattern not in PATTERNS:
        raise ModelError(f"TriMesh.grid: pattern {pattern!r} is unknown; give one of {', '.join(PATTERNS)}")
    nx = max(1, round(a / s))
    if pattern == "equilateral":
        ny = max(1, round(b / (STEEP * s)))
        rows = [_row(a, nx, j % 2) for j in range(ny + 1)]
        x = [np.stack([row - 0.5 * a, np.full(len(row), b * (j / ny - 0.5))], axis=1) for j, row in enumerate(rows)]
        starts = np.cumsum([0, *map(len, rows)])
        faces = [_strip(starts[j], rows[j], starts[j + 1], rows[j + 1]) for j in range(ny)]
        return _flat(np.concatenate(x)), np.concatenate(faces)
    ny = max(1, round(b / s))
    u, v = np.meshgrid(np.linspace(-0.5 * a, 0.5 * a, nx + 1), np.linspace(-0.5 * b, 0.5 * b, ny + 1))
    number = np.arange((nx + 1) * (ny + 1)).reshape(ny + 1, nx + 1)
    p, q, r, t = (number[j : ny + j, i : nx + i].ravel() for j, i in ((0, 0), (0, 1), (1, 1), (1, 0)))
    other = (np.add.outer(np.arange(ny), np.arange(nx)).ravel() % 2 == 1) if pattern == "alternating" else np.zeros(nx * ny, bool)
    first = np.where(other[:, None], np.stack([p, q, t], axis=1), np.stack([p, q, r], axis=1))
    second = np.where(other[:, None], np.stack([q, r, t], axis=1), np.stack([p, r, t], axis=1))
    return _flat(np.stack([u.ravel(), v.ravel()], axis=1)), np.stack([first, second], axis=1).reshape(-1, 3)


def _flat(x: np.ndarray) -> np.ndarray:
    return np.column_stack([x, np.zeros(len(x))])


def spacing_of(what: str, spacing: Any, least: float) -> float:
    """A spacing no wider than the sheet."""
    s, = lengths_of(f"{what}: spacing", spacing, 1)
    if s > least * (1.0 + 1e-9):
        raise ModelError(f"{what}: spacing {s:g} m is more than the {least:g} m of the sheet; give less")
    few_enough(f"{what}: spacing {s:g} m", (least / s) ** 2)
    return float(s)


def _row(length: float, n: int, odd: int) -> np.ndarray:
    """Places along a row: n + 1 of them, or shifted by half a spacing with both ends."""
    if not odd:
        return np.linspace(0.0, length, n + 1)
    return np.concatenate([[0.0], (np.arange(n) + 0.5) * length / n, [length]])


def _strip(i: int, low: np.ndarray, j: int, high: np.ndarray) -> np.ndarray:
    """Triangles between two rows of points, the first at numbers i … and j …: always the shorter diagonal."""
    out, a, b = [], 0, 0
    while a < len(low) - 1 or b < len(high) - 1:
        up = a == len(low) - 1 or (b < len(high) - 1 and abs(high[b + 1] - low[a]) <= abs(low[a + 1] - high[b]))
        if up:
            out.append((i + a, j + b + 1, j + b))
            b += 1
        else:
            out.append((i + a, i + a + 1, j + b))
            a += 1
    return np.array(out)


def disc_triangles(radius: Any, spacing: Any) -> tuple[np.ndarray, np.ndarray]:
    """A disc about the origin in the plane z = 0, seen from above; the middle first, then rings outwards."""
    r, = lengths_of("TriMesh.disc: radius", radius, 1)
    n = max(1, round(r / spacing_of("TriMesh.disc", spacing, r)))
    x, faces, start = [np.zeros((1, 2))], [], [0]
    for k in range(1, n + 1):
        angle = np.arange(6 * k) * np.pi / (3 * k)
        x.append(r * k / n * np.stack([np.cos(angle), np.sin(angle)], axis=1))
        start.append(start[-1] + max(1, 6 * (k - 1)))
    for k in range(1, n + 1):
        for sector in range(6):
            for m in range(k):  # an outer edge and the point within; an inner edge and the point without
                inner = start[k - 1] + (0 if k == 1 else (sector * (k - 1) + m) % (6 * (k - 1)))
                outer, after = (start[k] + (sector * k + m + d) % (6 * k) for d in (0, 1))
                faces.append((inner, outer, after))
                if m < k - 1:
                    faces.append((inner, after, start[k - 1] + (sector * (k - 1) + m + 1) % (6 * (k - 1))))
    return _flat(np.concatenate(x)), np.array(faces)


def cylinder_triangles(radius: Any, length: Any, spacing: Any) -> tuple[np.ndarray, np.ndarray]:
    """An open cylinder about the z axis, seen from outside; rings upwards from z = −length/2."""
    r, = lengths_of("TriMesh.cylinder: radius", radius, 1)
    l, = lengths_of("TriMesh.cylinder: length", length, 1)
    s = spacing_of("TriMesh.cylinder", spacing, min(l, 2.0 * np.pi * r / 3.0))
    n, rows = max(3, round(2.0 * np.pi * r / s)), max(1, round(l / (STEEP * s)))
    j, i = np.divmod(np.arange((rows + 1) * n), n)
    angle = (i + 0.5 * (j % 2)) * 2.0 * np.pi / n
    x = np.stack([r * np.cos(angle), r * np.sin(angle), l * (j / rows - 0.5)], axis=1)
    faces = []
    for row in range(rows):
        low, high, k = row * n, (row + 1) * n, np.arange(n)
        after = (k + 1) % n
        if row % 2 == 0:  # the points above lie half a spacing further round
            faces += [np.stack([low + k, low + after, high + k], axis=1), np.stack([low + after, high + after, high + k], axis=1)]
        else:
            faces += [np.stack([low + k, low + after, high + after], axis=1), np.stack([low + k, high + after, high + k], axis=1)]
    return x, np.concatenate(faces)


def outline_triangles(outline: Any, spacing: Any) -> tuple[np.ndarray, np.ndarray]:
    """What a polygon (n, 2) bounds, in the plane z = 0, seen from above; the points of the rim first, in their order."""
    from scipy.spatial import Delaunay

    what = "TriMesh.from_outline"
    corners = np.asarray(outline, float)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
        raise ModelError(f"{what}: outline of shape {corners.shape}; give three or more points (n, 2) in metres")
    after = np.roll(corners, -1, axis=0)
    area = 0.5 * float(np.sum(corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]))
    if area < 0.0:
        corners = corners[::-1]
    s = spacing_of(what, spacing, float(np.ptp(corners, axis=0).max()))
    rim = np.concatenate([_cut(a, b, s) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    rows = np.arange(low[1], high[1] + s, STEEP * s)
    places = [np.arange(low[0] + 0.5 * s * (j % 2), high[0] + s, s) for j in range(len(rows))]
    lattice = np.concatenate([np.stack([p, np.full(len(p), y)], axis=1) for p, y in zip(places, rows, strict=True)])
    within = lattice[inside(corners, lattice) & (distance_to(rim, lattice) > 0.6 * s)]
    x = np.concatenate([rim, within])
    for _ in range(5):  # points within move to the middle of their neighbours
        faces = _kept(corners, x, Delaunay(x).simplices)
        x = _evened(x, faces, len(rim))
    faces = _kept(corners, x, Delaunay(x).simplices)
    X = _flat(x)
    found = float(triangle_areas(X, faces).sum())
    if abs(found - abs(area)) > 1e-6 * abs(area) or len(np.unique(faces)) < len(x):
        said = f"triangles of {s:g} m do not follow the outline (area {found:g} of {abs(area):g} m²)"
        raise ModelError(f"{what}: {said}; give a smaller spacing, or an outline that does not cross itself")
    return X, faces


def _cut(a: np.ndarray, b: np.ndarray, s: float) -> np.ndarray:
    """Points from a towards b, without b, about a spacing apart."""
    n = max(1, round(float(np.linalg.norm(b - a)) / s))
    return a + np.arange(n)[:, None] / n * (b - a)


def inside(corners: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Which points lie in a polygon: a ray to the right crosses its sides an odd number of times."""
    out = np.zeros(len(x), bool)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        crosses = (a[1] > x[:, 1]) != (b[1] > x[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            at = a[0] + (x[:, 1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
        out ^= crosses & (x[:, 0] < at)
    return out


def distance_to(rim: np.ndarray, x: np.ndarray) -> np.ndarray:
    """From each point to the sides of a polygon."""
    out = np.full(len(x), np.inf)
    for a, b in zip(rim, np.roll(rim, -1, axis=0), strict=True):
        along = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        out = np.minimum(out, np.linalg.norm(x - a - along[:, None] * (b - a), axis=1))
    return out


def _kept(corners: np.ndarray, x: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Triangles within the polygon that are not lines, counter-clockwise."""
    a, b, c = (x[faces[:, k]] for k in range(3))
    twice = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    size = np.ptp(x, axis=0).max()
    faces = np.where((twice < 0.0)[:, None], faces[:, ::-1], faces)
    return faces[inside(corners, (a + b + c) / 3.0) & (np.abs(twice) > 1e-9 * size**2 / len(x))]


def _evened(x: np.ndarray, faces: np.ndarray, fixed: int) -> np.ndarray:
    total, count = np.zeros_like(x), np.zeros(len(x))
    for k in range(3):
        for other in (faces[:, (k + 1) % 3], faces[:, (k + 2) % 3]):
            np.add.at(total, faces[:, k], x[other])
            np.add.at(count, faces[:, k], 1.0)
    out = x.copy()
    moved = np.flatnonzero(count > 0.0)
    moved = moved[moved >= fixed]
    out[moved] = total[moved] / count[moved, None]
    return out
