"""Contacts and safe steps of affine bodies during one step of time: the two questions that a minimisation asks again and again.

Candidates are kept while they suffice (`sweep`).
"""

from __future__ import annotations

import numpy as np

from unibody.collision.broad import Broad
from unibody.collision.ccd import ITERATIONS, safe_step, safe_step_over_planes
from unibody.collision.proximity import ContactSet, Proximity
from unibody.collision.surface import Surface
from unibody.collision.sweep import Sweep


class ContactSearch:
    """What is nearer than `reach`; `part` (bodies,) of the barrier's stiffness that a body asks for."""

    def __init__(self, surface: Surface, broad: Broad, proximity: Proximity, reach: float, part: np.ndarray):
        self._surface, self._proximity, self._reach, self._part = surface, proximity, reach, part
        self._sweep = Sweep(broad, reach, reach)

    def contacts(self, Q: np.ndarray) -> ContactSet:
        """Everything nearer than the reach at coordinates Q (bodies, 4, 3)."""
        x = self._surface.positions(Q)
        return self._proximity.contacts(self._sweep.between(x, x), Q, x, self._reach, self._part)

    def safe_step(self, Q: np.ndarray, dQ: np.ndarray, ahead: bool) -> tuple[float, ContactSet | None]:
        """The largest part t ≤ 1 of the motion dQ on which nothing touches, and with `ahead` the contacts at its end: whoever goes there
        asks for them next."""
        s = self._surface
        x, dx = s.positions(Q), s.positions(dQ)
        near, t = self._sweep.between(x, x + dx), 1.0
        if len(near.planes):
            frames, motion = s.plane_frames(Q).ravel(), s.plane_frames(dQ).ravel()
            t = safe_step_over_planes(near.planes.ravel(), frames, motion, x.ravel(), dx.ravel(), s.radius, s.plane_radius, t)
        t = safe_step(
            near.points.ravel(), near.edges.ravel(), s.faces.ravel(), s.edges.ravel(), x.ravel(), dx.ravel(), s.radius, self._reach,
            t, ITERATIONS,
        )  # fmt: skip
        return t, self.contacts(Q + t * dQ) if ahead else None
