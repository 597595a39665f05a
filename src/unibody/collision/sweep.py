"""Candidates that hold for a while: found for a way from x₀ to x₁ with some slack, and used again for every way within.

With boxes widened by the slack on each side, whatever comes nearer than the reach while each vertex stays within the slack of the first
way is among them. The order is that of `broad`, so what is picked from them does not depend on how long they were kept. A body that goes
far has more slack, for its ways are followed by others in all directions.

A long way through a dense scene passes by everything, so it is taken in parts: each so short that its candidates are not many times those
of an instant. Memory so is linear in what is near.

A sweep may have an elder, `KeptCandidates`, which lasts from step to step and is asked first. There the slack of a body grows with how
often the body leaves it.
"""

from __future__ import annotations

import numpy as np

from unibody.collision.broad import UNLIMITED, Broad, Candidates
from unibody.kernel import Floats, Ints, kernel

SHARE = 0.1
"""Of a body's way: slack beyond what is given."""
FEW, MANY = 1 << 14, 8
"""Candidates of a part: as many as that, or so many times those of an instant if that is more."""
SHORTER = 0.25
"""A part that has too many is cut to this."""
GROWS, WIDEST = 4.0, 32.0
"""The slack of a body that has left it, in units of the last, and at most in units of the one that is given."""
OWN = 0.25
"""The same of what touches itself, at most in units of its edges: with more, everything around each vertex would be a candidate."""


@kernel
def within(x0: Floats, x1: Floats, low: Floats, high: Floats) -> bool:
    """Whether all numbers of x0 and x1 lie between low and high."""
    for i in range(x0.size):
        if not (min(x0[i], x1[i]) >= low[i] and max(x0[i], x1[i]) <= high[i]):
            return False
    return True


@kernel
def fill_ways(x0: Floats, x1: Floats, body: Ints, way_out: Floats) -> None:
    """Of every body the largest component of its vertices' ways."""
    for b in range(way_out.size):
        way_out[b] = 0.0
    for v in range(body.size):
        for k in range(3):
            way_out[body[v]] = max(way_out[body[v]], abs(x1[3 * v + k] - x0[3 * v + k]))


@kernel
def fill_boxes(x0: Floats, x1: Floats, body: Ints, slack: Floats, low_out: Floats, high_out: Floats) -> None:
    """Of every vertex the box of its way, widened by the slack of its body."""
    for v in range(body.size):
        for k in range(3 * v, 3 * v + 3):
            low_out[k] = min(x0[k], x1[k]) - slack[body[v]]
            high_out[k] = max(x0[k], x1[k]) + slack[body[v]]


@kernel
def mark_left(x0: Floats, x1: Floats, body: Ints, low: Floats, high: Floats, left_out: Floats) -> None:
    """1 for every body of which a vertex leaves its box."""
    for v in range(body.size):
        for k in range(3 * v, 3 * v + 3):
            if not (min(x0[k], x1[k]) >= low[k] and max(x0[k], x1[k]) <= high[k]):
                left_out[body[v]] = 1.0


class KeptCandidates:
    """Candidates nearer than `reach`, kept from step to step; each body has a slack of its own, at least the one that is given."""

    def __init__(self, broad: Broad, reach: float, slack: float):
        self._broad, self._reach, self._slack = broad, reach, slack
        self._body = broad.body_of_vertex
        self._slacks = np.where(broad.moves, slack, 0.0)
        self._low, self._high = (np.zeros(3 * len(self._body)) for _ in range(2))
        self._found: Candidates | None = None

    def known(self, x0: np.ndarray, x1: np.ndarray) -> Candidates | None:
        """What is kept, if it is enough for the straight ways from x0 to x1 (V, 3)."""
        return self._found if self._found is not None and within(x0.ravel(), x1.ravel(), self._low, self._high) else None

    def near(self, x: np.ndarray) -> Candidates:
        """Everything that may be nearer than the reach at x (V, 3)."""
        if (found := self.known(x, x)) is not None:
            return found
        flat = np.ascontiguousarray(x).ravel()
        if self._found is not None:
            left = np.zeros(len(self._slacks))
            mark_left(flat, flat, self._body, self._low, self._high, left)
            most = np.minimum(WIDEST * self._slack, np.maximum(self._slack, OWN * self._broad.own_spacing(x)))
            more = np.minimum(np.maximum(GROWS * self._slacks, self._slack), most)
            less = np.minimum(self._slacks, np.maximum(0.5 * self._slacks, self._slack))
            self._slacks = np.where(left > 0.0, more, less)
        fill_boxes(flat, flat, self._body, self._slacks, self._low, self._high)
        self._found = self._broad.between(self._low.reshape(-1, 3), self._high.reshape(-1, 3), self._reach)
        return self._found


class Sweep:
    """Candidates nearer than `reach`, found with at least the slack that is given."""

    def __init__(self, broad: Broad, reach: float, slack: float, elder: KeptCandidates | None = None):
        self._broad, self._reach, self._slack, self._elder = broad, reach, slack, elder
        self._body, self._moves = broad.body_of_vertex, broad.moves
        self._low = self._high = np.zeros(0)
        self._found: Candidates | None = None
        self._instant = -1
        self.searches = 0
        """How often candidates were looked for."""
        self.largest = 0
        """How many were kept at most."""

    def at(self, x: np.ndarray) -> Candidates:
        """Everything that may be nearer than the reach at x (V, 3)."""
        if (found := self._known(x, x)) is not None:
            return found
        if self._elder is not None:
            return self._elder.near(x)
        self._look(x, x, UNLIMITED)
        self._instant = len(self._kept)
        return self._kept

    def ahead(self, x0: np.ndarray, x1: np.ndarray) -> tuple[Candidates, float]:
        """Everything that may come nearer than the reach on the first part of the straight ways from x0 to x1, (V, 3) each; which part."""
        if (found := self._known(x0, x1)) is not None:
            return found, 1.0
        if self._instant < 0:
            self._instant = len(self.at(x0))
        most, part, longest = max(FEW, MANY * self._instant), 1.0, float(np.abs(x1 - x0).max(initial=0.0))
        # Ways as short as the slack have as many as an instant has, or the scene has become denser: then no limit holds.
        while not self._look(x0, x0 + part * (x1 - x0), most if part * longest > self._slack else UNLIMITED):
            part *= SHORTER
        return self._kept, part

    def _known(self, x0: np.ndarray, x1: np.ndarray) -> Candidates | None:
        """What is kept here or by the elder, if it is enough for the ways from x0 to x1."""
        if self._found is not None and within(x0.ravel(), x1.ravel(), self._low, self._high):
            return self._found
        return self._elder.known(x0, x1) if self._elder is not None else None

    @property
    def _kept(self) -> Candidates:
        assert self._found is not None
        return self._found

    def _look(self, x0: np.ndarray, x1: np.ndarray, most: int) -> bool:
        """Find and keep candidates of a way; whether there are not more than `most`."""
        self.searches += 1
        flat0, flat1 = np.ascontiguousarray(x0).ravel(), np.ascontiguousarray(x1).ravel()
        slack = np.empty(len(self._moves))
        fill_ways(flat0, flat1, self._body, slack)
        slack = np.where(self._moves, np.maximum(SHARE * slack, self._slack), SHARE * slack)
        low, high = np.empty(flat0.size), np.empty(flat0.size)
        fill_boxes(flat0, flat1, self._body, slack, low, high)
        found = self._broad.at_most(most, low.reshape(-1, 3), high.reshape(-1, 3), self._reach)
        if found is None:
            return False
        self._found, self.largest = found, max(self.largest, len(found))
        self._low, self._high = low, high
        return True
