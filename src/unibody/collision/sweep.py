"""Candidates that hold for a while: found for a way from x₀ to x₁ with some slack, and used again for every way within.

With boxes widened by the slack on each side, whatever comes nearer than the reach while each vertex stays within the slack of the first
way is among them. The order is that of `broad`, so what is picked from them does not depend on how long they were kept.

A long way through a dense scene passes by everything, so it is taken in parts: each so short that its candidates are not many times those
of an instant. Memory so is linear in what is near.

A sweep may have an elder, `KeptCandidates`, which lasts from step to step: that is asked first for instants, and for ways no longer than the
slack, whose answers do not depend on what was before. It has a slack for every body, which grows with how often the body leaves it.
"""

from __future__ import annotations

import numpy as np

from unibody.collision.broad import UNLIMITED, Broad, Candidates
from unibody.kernel import Floats, kernel

SHARE = 0.1
"""Of the longest way: slack beyond what is given, for ways that long are followed by others in all directions."""
FEW, MANY = 1 << 14, 8
"""Candidates of a part: as many as that, or so many times those of an instant if that is more."""
SHORTER = 0.25
"""A part that has too many is cut to this."""
GROWS, WIDEST = 4.0, 32.0
"""The slack of a body that has left it, in units of the last, and at most in units of the one that is given."""


@kernel
def within(x0: Floats, x1: Floats, low: Floats, high: Floats) -> bool:
    """Whether all numbers of x0 and x1 lie between low and high."""
    for i in range(x0.size):
        if not (min(x0[i], x1[i]) >= low[i] and max(x0[i], x1[i]) <= high[i]):
            return False
    return True


class Sweep:
    """Candidates nearer than `reach`, found with at least the slack that is given."""

    def __init__(self, broad: Broad, reach: float, slack: float, elder: KeptCandidates | None = None):
        self._broad, self._reach, self._slack, self._elder = broad, reach, slack, elder
        self._low = self._high = np.zeros(0)
        self._found: Candidates | None = None
        self._instant = -1
        self.searches = 0
        """How often candidates were looked for."""
        self.largest = 0
        """How many were kept at most."""

    def at(self, x: np.ndarray) -> Candidates:
        """Everything that may be nearer than the reach at x (V, 3)."""
        return self.near(x, x)

    def near(self, x0: np.ndarray, x1: np.ndarray) -> Candidates:
        """Everything that may come nearer than the reach on the straight ways from x0 to x1, however many that are."""
        if self._holds(x0, x1):
            return self._kept
        if self._elder is not None:
            return self._elder.near(x0, x1)
        self._look(x0, x1, UNLIMITED)
        return self._kept

    def ahead(self, x0: np.ndarray, x1: np.ndarray) -> tuple[Candidates, float]:
        """Everything that may come nearer than the reach on the first part of the straight ways from x0 to x1, (V, 3) each; which part."""
        part, longest = 1.0, float(np.abs(x1 - x0).max(initial=0.0))
        # Ways as short as the slack have as many as an instant has, or the scene has become denser: then no limit holds.
        if longest <= self._slack or self._holds(x0, x1):
            return self.near(x0, x1), 1.0
        if self._look(x0, x1, FEW):
            return self._kept, 1.0
        if self._instant < 0:
            self._look(x0, x0, UNLIMITED)
            self._instant = len(self._kept)
        most = max(FEW, MANY * self._instant)
        while not self._look(x0, x0 + part * (x1 - x0), most if part * longest > self._slack else UNLIMITED):
            part *= SHORTER
        return self._kept, part

    def _holds(self, x0: np.ndarray, x1: np.ndarray) -> bool:
        """Whether what is kept is enough for the ways from x0 to x1."""
        return self._found is not None and within(x0.ravel(), x1.ravel(), self._low, self._high)

    @property
    def _kept(self) -> Candidates:
        assert self._found is not None
        return self._found

    def _look(self, x0: np.ndarray, x1: np.ndarray, most: int) -> bool:
        """Find and keep candidates of a way; whether there are not more than `most`."""
        self.searches += 1
        slack = max(self._slack, SHARE * float(np.abs(x1 - x0).max(initial=0.0)))
        found = self._broad.at_most(most, x0, x1, self._reach + 2.0 * slack)
        if found is None:
            return False
        self._found, self.largest = found, max(self.largest, len(found))
        self._low, self._high = np.minimum(x0, x1).ravel() - slack, np.maximum(x0, x1).ravel() + slack
        return True


class KeptCandidates:
    """Candidates nearer than `reach`, kept from step to step; each body has a slack of its own, at least the one that is given."""

    def __init__(self, broad: Broad, reach: float, slack: float):
        self._broad, self._reach, self._slack = broad, reach, slack
        self._body = broad.body_of_vertex
        self._slacks = np.where(broad.moves, slack, 0.0)
        self._low = self._high = np.zeros((0, 3))
        self._found: Candidates | None = None

    def near(self, x0: np.ndarray, x1: np.ndarray) -> Candidates:
        """Everything that may come nearer than the reach on the straight ways from x0 to x1 (V, 3)."""
        if self._found is None or not within(x0.ravel(), x1.ravel(), self._low.ravel(), self._high.ravel()):
            low, high = np.minimum(x0, x1), np.maximum(x0, x1)
            if self._found is not None:
                left = np.zeros(len(self._slacks), bool)
                left[self._body[((low < self._low) | (high > self._high)).any(axis=1)]] = True
                more = np.maximum(GROWS * self._slacks, self._slack)
                less = np.minimum(self._slacks, np.maximum(0.5 * self._slacks, self._slack))
                self._slacks = np.where(left, np.minimum(more, WIDEST * self._slack), less)
            own = self._slacks[self._body][:, None]
            self._low, self._high = low - own, high + own
            self._found = self._broad.between(self._low, self._high, self._reach)
        return self._found
