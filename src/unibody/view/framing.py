"""What a camera frames: all that moves, and what stands still unless it is vast (a floor, a terrain), whose near part is in view anyway."""

from __future__ import annotations

import numpy as np

VAST = 8.0
"""Something at rest is vast if it is so many times as large as all that moves, which it would leave an eighth of the picture."""
FAR_BELOW = 1.0
"""A ground farther below things than this, in parts of their size, is not framed."""


def vast(boxes: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(n,) whether things at rest, by the corners (n, 8, 3) of the boxes around them, are vast beside things between two corners.

    >>> floor = np.array([[(x, y, z) for x in (-50.0, 50.0) for y in (-50.0, 50.0) for z in (-1.0, 0.0)]])
    >>> vast(floor, np.zeros(3), np.ones(3)).tolist(), vast(floor, np.zeros(3), 20.0 * np.ones(3)).tolist()
    ([True], [False])
    """
    return np.ptp(boxes, axis=1).max(axis=1) > VAST * max(float((high - low).max()), 1e-9)


def near(boxes: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """(k, 3) points to frame of things at rest (n, 8, 3) beside points (m, 3) of what moves: all but vast ones."""
    if not len(boxes) or not len(moving):
        return boxes.reshape(-1, 3)
    return boxes[~vast(boxes, moving.min(axis=0), moving.max(axis=0))].reshape(-1, 3)


def under(height: float, boxes: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """A height for a ground under things between two corners, lower where vast things at rest (n, 8, 3) are their ground."""
    if not len(boxes):
        return height
    deepest = boxes[vast(boxes, low, high), :, 2].min(initial=np.inf)
    return min(height, float(deepest))


def on_floor(low: np.ndarray, high: np.ndarray, floor: float) -> np.ndarray:
    """(4, 3) where things between two corners stand above the ground, or none if it is far below them."""
    if low[2] - floor > FAR_BELOW * float((high - low).max()):
        return np.zeros((0, 3))
    return np.array([(x, y, floor) for x in (low[0], high[0]) for y in (low[1], high[1])])
