"""Bodies thrown together at random, for tests of what is near what."""

from __future__ import annotations

import numpy as np

import unibody as ub
from unibody.collision.broad import Broad, Filter
from unibody.collision.surface import Surface
from unibody.coordinates.affine.body import affine_of_pose

TETRAHEDRON = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
TETRAHEDRON_FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def tetrahedron(scale: float = 1.0) -> ub.Mesh:
    return ub.Mesh(scale * TETRAHEDRON, TETRAHEDRON_FACES)


def soup(count: int, spread: float, seed: int, kind: str = "dynamic") -> ub.Model:
    """Boxes and tetrahedra at random places and attitudes in a cube of the size `spread`."""
    rng = np.random.default_rng(seed)
    b = ub.Builder()
    for k in range(count):
        w, v = rng.standard_normal(3), rng.uniform(0.0, spread, 3)
        shape = ub.Box(tuple(rng.uniform(0.3, 1.2, 3))) if k % 2 else tetrahedron(rng.uniform(0.5, 1.5))
        b.body(f"b{k}", shape=shape, X_WB=ub.Pose.about(w, np.linalg.norm(w), p=v), kind=kind)
    return b.build()


def everyone(n: int, excluded: list[tuple[int, int]] | None = None) -> Filter:
    keys = sorted(min(p) * n + max(p) for p in excluded or [])
    return Filter(np.ones(n, np.int64), np.zeros(n, np.int64), np.ones(n, np.int64), np.array(keys, np.int64))


def coordinates(model: ub.Model) -> np.ndarray:
    """Q (bodies, 4, 3)."""
    return affine_of_pose(np.array([b.X_WB.R for b in model.bodies]), np.array([b.X_WB.p for b in model.bodies]))


def parts(model: ub.Model, excluded: list[tuple[int, int]] | None = None) -> tuple[Surface, Broad, np.ndarray]:
    surface = Surface.of(model)
    return surface, Broad(surface, everyone(model.n_bodies, excluded)), surface.positions(coordinates(model))
