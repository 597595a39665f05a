"""How stiff bodies are where no modulus is given: as rigid as the step can see, and never strained beyond a goal.

    c_b = K m ℓ² / h² · 2ᵉ,   P = (c / 8) |AᵀA − 1|²

ℓ is the radius of gyration, or the distance from the centre of mass of the farthest joint or point of the surface: the lever of what
may pull. A body that accelerates by a is strained by about a h² / (K ℓ), one that turns with ω by (ω h)² / K: with c ∝ 1/h² the error
is of second order in the step like that of BDF-2, and far below it. What else a body carries (others that rest or hang on it, an impact)
is not known before: after a minimisation that ends with |AᵀA − 1| above the goal, e is raised by what would have kept it below, and the
step goes on from where it is until the goal is met. The numbers e are memory. Where the step becomes shorter, c stays as it was (e falls
below 0 then), since strains of which c were raised would throw what carries something; where it becomes longer, c falls with it, though
not below what the longer step asks for. A virtual link carries the loads of its neighbours and is as stiff as the stiffer one. A modulus Y
that is given holds always: c = Y V.
"""

from __future__ import annotations

import numpy as np

from unibody.coordinates.affine.body import radius, strain
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.memory import MOST

RIGIDITY = 1e5
"""K: c in units of m ℓ² / step²."""
STRAIN = 5e-5
"""The goal for the largest component of AᵀA − 1."""


class BodyStiffness:
    """c = Y V [J] of the moving bodies and links; `modulus` Y [Pa], or "auto"."""

    def __init__(self, system: AffineSystem, modulus: float | str):
        self._given = None if isinstance(modulus, str) else modulus * system.stiffness_volumes
        bodies, joints = system.model.bodies, system.model.joints
        # ℓ² of every body: its gyration, its joints, its surface
        square = np.array([radius(body) ** 2 for body in bodies])
        com = np.array([body.com for body in bodies], float).reshape(-1, 3)
        for part in system.parts:
            for i, X in ((part.parent, part.X_PF), (part.child, part.X_BM)):
                if i < len(bodies):
                    square[i] = max(square[i], float(((X.p - com[i]) ** 2).sum()))
        points = system.points
        np.maximum.at(square, points.body, ((points.w[:, 1:] - com[points.body]) ** 2).sum(axis=1))
        size = {i: bodies[i].mass * square[i] for i in system.own}
        ends = [(joints[link.joint].parent, joints[link.joint].child) for link in system.links]
        self._size = np.array([*size.values(), *(max(size.get(i, 0.0) for i in pair) for pair in ends)])
        """m ℓ² [kg m²]"""

    def of(self, h: float, doubled: np.ndarray) -> np.ndarray:
        """In steps of length h, with the numbers e."""
        if self._given is not None:
            return self._given
        return RIGIDITY / h**2 * self._size * 2.0**doubled

    def carried(self, doubled: np.ndarray, before: float, h: float) -> np.ndarray:
        """The numbers e in a step of length h after one of length `before`."""
        same = doubled + 2.0 * np.log2(h / before)
        return np.clip(np.minimum(same, np.maximum(doubled, 0.0)), -MOST, MOST)

    def raised(self, doubled: np.ndarray, Q: np.ndarray) -> np.ndarray | None:
        """The numbers e after a step that ended with coordinates Q of the moving ones; None if they stay."""
        if self._given is not None:
            return None
        most = np.abs(strain(Q)).max(axis=(1, 2), initial=0.0)
        if not (most > STRAIN).any():
            return None
        more = np.where(most > STRAIN, np.ceil(np.log2(np.maximum(most, STRAIN) / STRAIN)) + 1.0, 0.0)
        return np.minimum(doubled + more, MOST)
