"""What a camera frames: all that moves, and what stands still, of vast things (a floor, a terrain) only the part that is near."""

from __future__ import annotations

import numpy as np

VAST = 8.0
"""Something at rest is vast if it is so many times as large as all that moves, which it would leave an eighth of the picture."""
AROUND = 0.5
"""How far vast things are framed beyond what moves, in parts of its size."""
FAR_BELOW = 1.0
"""A ground farther below things than this, in parts of their size, is not framed."""


def near(boxes: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """(k, 3) points to frame of things at rest, by the corners (n, 8, 3) of the boxes around them, beside points (m, 3) of what moves.

    >>> floor = np.array([[(x, y, z) for x in (-50.0, 50.0) for y in (-50.0, 50.0) for z in (-1.0, 0.0)]])
    >>> near(floor, np.array([[0.0, 0.0, 0.0], [0.4, 0.2, 0.2]])).max(axis=0).round(9).tolist()
    [0.6, 0.4, 0.0]
    """
    if not len(boxes) or not len(moving):
        return boxes.reshape(-1, 3)
    low, high = moving.min(axis=0), moving.max(axis=0)
    size = float((high - low).max())
    vast = np.ptp(boxes, axis=1).max(axis=1) > VAST * max(size, 1e-9)
    low, high = low - AROUND * size, high + AROUND * size
    reached = (boxes.min(axis=1) <= high).all(axis=1) & (boxes.max(axis=1) >= low).all(axis=1)
    clipped = np.clip(boxes[vast & reached], low, high)
    return np.concatenate([boxes[~vast].reshape(-1, 3), clipped.reshape(-1, 3)])


def on_floor(low: np.ndarray, high: np.ndarray, floor: float) -> np.ndarray:
    """(4, 3) where things between two corners stand above the ground, or none if it is far below them."""
    if low[2] - floor > FAR_BELOW * float((high - low).max()):
        return np.zeros((0, 3))
    return np.array([(x, y, floor) for x in (low[0], high[0]) for y in (low[1], high[1])])
