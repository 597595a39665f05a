"""Points that ride on affine bodies, x = t + X a₁ + Y a₂ + Z a₃: with w = (1, X, Y, Z) a point is x = Σ wₖ xₖ over the body's four."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.kernel import device
from unibody.model import Model
from unibody.shapes import Plane


@device
def placed_point(Q, w, v, body):
    """x = Qᵀ w of point v on a body."""
    k = 12 * body
    u = 4 * v
    return (
        w[u] * Q[k] + w[u + 1] * Q[k + 3] + w[u + 2] * Q[k + 6] + w[u + 3] * Q[k + 9],
        w[u] * Q[k + 1] + w[u + 1] * Q[k + 4] + w[u + 2] * Q[k + 7] + w[u + 3] * Q[k + 10],
        w[u] * Q[k + 2] + w[u + 1] * Q[k + 5] + w[u + 2] * Q[k + 8] + w[u + 3] * Q[k + 11],
    )


@dataclass(frozen=True)
class PointMap:
    """Points of bodies by their weights."""

    w: np.ndarray
    """(V, 4) homogeneous material coordinates in the body's frame."""
    body: np.ndarray
    """(V,) body of a point."""

    @staticmethod
    def of_shapes(model: Model, resolution: int) -> PointMap:
        """The corners of all solid shapes but planes; round ones have so many segments around a circle."""
        corners, owner = [np.zeros((0, 3))], []
        for i, body in enumerate(model.bodies):
            for placed in body.shapes:
                if placed.solid and not isinstance(placed.shape, Plane):
                    x, faces = placed.triangles(resolution)
                    corners.append(np.unique(x[faces.ravel()], axis=0))
                    owner += [i] * len(corners[-1])
        X = np.concatenate(corners)
        return PointMap(np.concatenate([np.ones((len(X), 1)), X], axis=1), np.array(owner, np.int64))
