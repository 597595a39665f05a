"""What a triangle mesh consists of: half-edges, components, the signed volumes of its faces, what it encloses."""

from __future__ import annotations

import numpy as np

FLAT = 1e-14
"""A face is degenerate when its area is below this fraction of its longest edge squared: only round-off is left of it. So is a solid
whose volume is below this fraction of the cube of its longest side."""


def halves(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tail and head of half-edge 3 f + k, which runs from corner k of face f to the next."""
    return faces.ravel(), np.roll(faces, -1, axis=1).ravel()


def components(faces: np.ndarray, n: int) -> np.ndarray:
    """Which connected component each face belongs to: the smallest vertex index spreads along faces, halving paths."""
    label = np.arange(n)
    while True:
        smallest = label[faces].min(axis=1)
        spread = label.copy()
        np.minimum.at(spread, faces.ravel(), np.repeat(smallest, 3))
        spread = spread[spread]
        if np.array_equal(spread, label):
            return np.unique(label[faces[:, 0]], return_inverse=True)[1]
        label = spread


def signed_volumes(corners: np.ndarray) -> np.ndarray:
    return np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0


def winding(corners: np.ndarray, point: np.ndarray) -> float:
    """How often the surface encloses `point`: its solid angle over 4π (Van Oosterom and Strackee 1983)."""

    def dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.einsum("fi,fi->f", x, y)

    a, b, c = (corners[:, k] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    numerator = dot(a, np.cross(b, c))
    denominator = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return float(np.arctan2(numerator, denominator).sum() / (2.0 * np.pi))
