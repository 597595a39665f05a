"""Which bodies that may touch are inside each other at given poses, and how deep: what contact has to part, or refuses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unibody.collision.rigid.find import RigidCollision
from unibody.constraints.contact import Contact
from unibody.model import Model

TOUCHING = 1e-6
"""Overlaps below this part of the smaller shape's size are contact."""


class Overlap(NamedTuple):
    """Two bodies by name, and how deep they are inside each other, or nearer than their margins let them rest [m]."""

    one: str
    other: str
    depth: float


def overlaps(model: Model, X: np.ndarray) -> list[Overlap]:
    """Of all bodies between which a Contact is, at the poses X (bodies, 12), the deepest first.

    >>> import unibody as ub
    >>> b = ub.Builder()
    >>> for x in (0.0, 0.9): _ = b.body(f"ball at {x}", shape=ub.Sphere(0.5), X_WB=ub.Pose(p=(x, 0, 0)))
    >>> _ = b.add(ub.Contact())
    >>> X = np.tile(np.r_[np.eye(3).ravel(), 0, 0, 0], (3, 1))
    >>> X[2, 9] = 0.9
    >>> [(o.one, o.other, round(o.depth, 9)) for o in overlaps(b.build(), X)]
    [('ball at 0.0', 'ball at 0.9', 0.1)]
    """
    if not any(isinstance(c, Contact) for _, c in model.constraints):
        return []
    collision = RigidCollision(model, 0.0)
    found = collision.find(X)
    half = collision.table.hull.reshape(-1, 6)[:, 3:].max(axis=1, initial=0.0)
    moved = np.array([i > 0 and b.kind == "dynamic" for i, b in enumerate(model.bodies)])
    deep = (-found.gap > TOUCHING * half[found.shape].min(axis=1)) & moved[found.body].any(axis=1)
    depth: dict[tuple[int, int], float] = {}
    for a, b, gap in zip(*found.body[deep].T.tolist(), found.gap[deep].tolist(), strict=True):
        depth[a, b] = max(depth.get((a, b), 0.0), -gap)
    named = [Overlap(model.bodies[a].name, model.bodies[b].name, d) for (a, b), d in depth.items()]
    return sorted(named, key=lambda o: (-o.depth, o.one, o.other))
