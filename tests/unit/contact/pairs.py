"""Two bodies near each other, their contacts among all pairs of points, edges and faces, and derivatives by central differences."""

from __future__ import annotations

import numpy as np

import unibody as ub
from unibody.collision.broad import Broad, Candidates, Filter
from unibody.collision.proximity import ContactSet, Proximity
from unibody.collision.surface import Surface
from unibody.coordinates.affine.body import affine_of_pose


class Pair:
    """Bodies 1 and 2 of a model (0 is the world)."""

    def __init__(self, first: ub.Shape, second: ub.Shape, X_first: ub.Pose, X_second: ub.Pose, reach: float):
        b = ub.Builder()
        b.body("first", shape=first, X_WB=X_first, kind="static" if isinstance(first, ub.Plane) else "dynamic")
        b.body("second", shape=second, X_WB=X_second)
        model = b.build()
        self.surface, self.reach = Surface.of(model), reach
        rules = Filter(np.array([0, 1, 1]), np.zeros(3, np.int64), np.ones(3, np.int64), np.zeros(0, np.int64))
        s, broad = self.surface, Broad(self.surface, rules)
        v, f, e = s.vertex_start, s.face_start, s.edge_start
        across = [(p, q) for a, b in ((1, 2), (2, 1)) for p in range(v[a], v[a + 1]) for q in range(f[b], f[b + 1])]
        edges = [(p, q) for p in range(e[1], e[2]) for q in range(e[2], e[3])]
        self.all = Candidates(np.array(across, np.int64).reshape(-1, 2), np.array(edges, np.int64).reshape(-1, 2), broad.plane_pairs)
        self.nearness = Proximity(s)
        self.Q = affine_of_pose(np.array([b.X_WB.R for b in model.bodies]), np.array([b.X_WB.p for b in model.bodies]))

    def contacts(self, Q: np.ndarray) -> ContactSet:
        return self.nearness.contacts(self.all, Q, self.surface.positions(Q), self.reach, np.ones(3))


def difference(f, Q: np.ndarray, h: float) -> np.ndarray:
    """∂f/∂Q by central differences, the shape of f behind that of Q, flat: (Q.size, …)."""
    out = []
    for k in range(Q.size):
        step = np.zeros(Q.size)
        step[k] = h
        out.append((np.asarray(f(Q + step.reshape(Q.shape))) - np.asarray(f(Q - step.reshape(Q.shape)))) / (2 * h))
    return np.array(out)


def dense(own: np.ndarray, between: np.ndarray, keys: np.ndarray, n: int) -> np.ndarray:
    """The whole matrix of n bodies from its blocks."""
    H = np.zeros((n, 12, n, 12))
    for b in range(n):
        H[b, :, b] = own.reshape(-1, 12, 12)[b]
    for k, key in enumerate(keys):
        a, b = key // n, key % n
        H[a, :, b] += between.reshape(-1, 12, 12)[k]
        H[b, :, a] += between.reshape(-1, 12, 12)[k].T
    return H.reshape(12 * n, 12 * n)
