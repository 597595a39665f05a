"""Vertices of deformables from control points: four of each body, t and the columns a₁ a₂ a₃ of A, then one of each free vertex.

    free         x = its own point
    attached     x = t + A p of a body,  or  Σ wₖ xₖ over free vertices
    prescribed   x = x(t), no control point

so that x = W c + x_p(t) with a sparse constant matrix W: velocities go through it as they are, forces through Wᵀ. The free vertices stand
in rising order, behind the numbers of the bodies, in q as in v: 12 numbers a body, then 3 a free vertex.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from unibody.model.deformed import rate_of
from unibody.model.model import Model


class VertexMap:
    """The vertices of all deformables of a model, over control points of all its bodies and its free vertices."""

    def __init__(self, model: Model):
        self.n_bodies, self.n = model.n_bodies, model.n_vertices
        self.free = model.free_vertices
        """(f,) numbers of the vertices that have control points of their own."""
        self.x0 = np.concatenate([np.zeros((0, 3)), *(d.x0 for d in model.deformables)])
        self.v0 = np.concatenate([np.zeros((0, 3)), *(d.v0 for d in model.deformables)])
        self.mass = np.concatenate([np.zeros(0), *(d.mass for d in model.deformables)])
        self.prescribed = model.prescribed
        self.attachments = model.attachments

    @cached_property
    def matrix(self) -> Any:
        """W: a scipy CSR array (n, 4 n_bodies + f)."""
        from scipy.sparse import coo_array

        own = np.full(self.n, -1)
        own[self.free] = 4 * self.n_bodies + np.arange(len(self.free))
        rows, columns, weights = [self.free], [own[self.free]], [np.ones(len(self.free))]
        for a in self.attachments:
            if a.body >= 0:
                rows.append(np.repeat(a.vertices, 4))
                columns.append(np.tile(4 * a.body + np.arange(4), len(a.vertices)))
                weights.append(np.column_stack([np.ones(len(a.p)), a.p]).ravel())
            else:
                used = a.support >= 0
                rows.append(np.broadcast_to(a.vertices[:, None], a.support.shape)[used])
                columns.append(own[a.support[used]])
                weights.append(a.weights[used])
        entries = np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))
        return coo_array(entries, shape=(self.n, 4 * self.n_bodies + len(self.free))).tocsr()

    def positions(self, frames: np.ndarray, free: np.ndarray, t: float) -> np.ndarray:
        """(n, 3) from frames (n_bodies, 4, 3) — t, a₁, a₂, a₃ — and the free vertices (f, 3)."""
        x = self.matrix @ np.concatenate([np.reshape(frames, (-1, 3)), np.reshape(free, (-1, 3))])
        for p in self.prescribed:
            x[p.vertices] = self.x0[p.vertices] if p.motion is None else p.motion(t)
        return x

    def velocities(self, rates: np.ndarray, free: np.ndarray, t: float) -> np.ndarray:
        """(n, 3) from rates of frames (n_bodies, 4, 3) and velocities of the free vertices (f, 3)."""
        v = self.matrix @ np.concatenate([np.reshape(rates, (-1, 3)), np.reshape(free, (-1, 3))])
        for p in self.prescribed:
            v[p.vertices] = 0.0 if p.motion is None else rate_of(p.motion, t)
        return v

    def pull(self, forces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces on vertices (n, 3) as forces on frames (n_bodies, 4, 3) and on free vertices (f, 3)."""
        c = self.matrix.T @ forces
        return c[: 4 * self.n_bodies].reshape(-1, 4, 3), c[4 * self.n_bodies :]


def frames_of(X: np.ndarray) -> np.ndarray:
    """(n, 4, 3) t and the columns of R, from rows R (by rows), p (n, 12)."""
    X = np.reshape(X, (-1, 12))
    return np.concatenate([X[:, None, 9:], X[:, :9].reshape(-1, 3, 3).transpose(0, 2, 1)], axis=1)
