"""Contacts and safe steps of affine bodies during one step of time: the two questions that a minimisation asks again and again.

Candidates are kept while they suffice (`sweep`).
"""

from __future__ import annotations

import numpy as np

from unibody.collision.broad import Broad, Candidates
from unibody.collision.ccd import ITERATIONS, safe_step, safe_step_over_planes
from unibody.collision.proximity import ContactSet, Proximity
from unibody.collision.surface import Surface
from unibody.collision.sweep import KeptCandidates, Sweep

PARTS = 16
"""Of a way, that are looked at; the rest waits for the next direction."""
TINY = 0.5
"""Of the gap between two things, and of the reach: what both may move without a look at anything else. Collision detection would allow 0.9
of it."""


class ContactSearch:
    """What is nearer than `reach`; `part` (bodies,) of the barrier's stiffness that a body asks for, `share` of the reach (all of it,
    unless given). `elder`: candidates of earlier steps."""

    def __init__(
        self, surface: Surface, broad: Broad, proximity: Proximity, reach: float, part: np.ndarray, share: np.ndarray | None = None,
        elder: KeptCandidates | None = None,
    ):  # fmt: skip
        self._surface, self._proximity, self._reach, self._part, self._share = surface, proximity, reach, part, share
        self._sweep, self._planes = Sweep(broad, reach, reach, elder), broad.plane_pairs.ravel()

    def contacts(self, Q: np.ndarray) -> ContactSet:
        """Everything nearer than the reach at coordinates Q of all control points, flat."""
        x = self._surface.positions(Q)
        return self._proximity.contacts(self._sweep.at(x), Q, x, self._reach, self._part, self._share)

    def safe_step(
        self, Q: np.ndarray, dQ: np.ndarray, ahead: bool, begun: tuple[ContactSet, np.ndarray] | None = None
    ) -> tuple[float, ContactSet | None]:
        """A part t ≤ 1 of the motion dQ on which nothing touches, the largest unless the way is very long, and with `ahead` the contacts at
        its end: whoever goes there asks for them next. `begun`: the contacts at Q, and how far points of each thing move at most, where
        half-spaces rest; they tell at once that a tiny motion is free."""
        t = 1.0 if begun is not None and self._tiny(*begun) else self._free_part(Q, dQ)
        return t, self.contacts(Q + t * dQ) if ahead else None

    def _tiny(self, begun: ContactSet, way: np.ndarray) -> bool:
        """Whether no two things move by more than a part of the gap between them: then nothing can touch on the way."""
        if not 2.0 * way.max(initial=0.0) < TINY * self._reach:
            return False
        return bool((way[begun.pair].sum(axis=1) < TINY * begun.distance).all())

    def _free_part(self, Q: np.ndarray, dQ: np.ndarray) -> float:
        """The part of a motion that collision detection leaves."""
        s = self._surface
        x, dx = s.positions(Q), s.positions(dQ)
        # Half-spaces first: what they leave of the way is all that must be swept.
        t, clear = 1.0, 0.0
        if len(self._planes):
            frames, motion = s.plane_frames(Q).ravel(), s.plane_frames(dQ).ravel()
            t = safe_step_over_planes(self._planes, frames, motion, x.ravel(), dx.ravel(), s.radius, s.plane_radius, t)
        # What is near at the beginning ends most ways soon; then part after part, until one is not free or the end is reached.
        first = self._sweep.at(x)
        t = self._safe(first, x, dx, t)
        for _ in range(PARTS):
            near, part = self._sweep.ahead(x + clear * dx, x + t * dx)
            end = t if part == 1.0 else clear + part * (t - clear)
            clear = self._safe(near, x, dx, end) if near is not first else end
            if clear < end or end >= t:
                break
        return clear

    def _safe(self, near: Candidates, x: np.ndarray, dx: np.ndarray, most: float) -> float:
        """The part of dx that these candidates allow."""
        s = self._surface
        return safe_step(
            near.points.ravel(), near.edges.ravel(), s.faces.ravel(), s.edges.ravel(), x.ravel(), dx.ravel(), s.radius, self._reach, most,
            ITERATIONS,
        )  # fmt: skip

    def first_hit(self, Q: np.ndarray, dQ: np.ndarray) -> tuple[int, int] | None:
        """The bodies that end the motion dQ first; None if nothing does."""
        s, most, hit = self._surface, 1.0, None
        x, dx = s.positions(Q), s.positions(dQ)
        near, part = self._sweep.ahead(x, x + dx)
        most = part
        # Half-spaces, each with each body by itself; then pairs of bodies with all that they may touch each other with.
        frames, motion = s.plane_frames(Q).ravel(), s.plane_frames(dQ).ravel()
        planes = near.planes
        of = np.stack([s.body[planes[:, 0]], s.plane_body[planes[:, 1]]], axis=1)
        for pair in np.unique(of, axis=0):
            own = planes[(of == pair).all(axis=1)].ravel()
            t = safe_step_over_planes(own, frames, motion, x.ravel(), dx.ravel(), s.radius, s.plane_radius, most)
            most, hit = (t, pair) if t < most else (most, hit)
        points = np.sort(np.stack([s.body[near.points[:, 0]], s.body[s.faces[near.points[:, 1], 0]]], axis=1), axis=1)
        edges = np.sort(s.body[s.edges[near.edges, 0]], axis=1)
        for pair in np.unique(np.concatenate([points, edges]), axis=0):
            mine = near.points[(points == pair).all(axis=1)].ravel(), near.edges[(edges == pair).all(axis=1)].ravel()
            t = safe_step(*mine, s.faces.ravel(), s.edges.ravel(), x.ravel(), dx.ravel(), s.radius, self._reach, most, ITERATIONS)
            most, hit = (t, pair) if t < most else (most, hit)
        return (int(hit[0]), int(hit[1])) if hit is not None else None
