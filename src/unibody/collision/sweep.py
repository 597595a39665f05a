"""Candidates that hold for a while: found for a way from x₀ to x₁ with some slack, and used again for every way within.

With boxes widened by the slack on each side, whatever comes nearer than the reach while each vertex stays within the slack of the first
way is among them. The order is that of `broad`, so what is picked from them does not depend on how long they were kept.
"""

from __future__ import annotations

import numpy as np

from unibody.collision.broad import Broad, Candidates
from unibody.kernel import Floats, kernel

SHARE = 0.1
"""Of the longest way: slack beyond what is given, for ways that long are followed by others in all directions."""


@kernel
def within(x0: Floats, x1: Floats, low: Floats, high: Floats) -> bool:
    """Whether all numbers of x0 and x1 lie between low and high."""
    for i in range(x0.size):
        if not (min(x0[i], x1[i]) >= low[i] and max(x0[i], x1[i]) <= high[i]):
            return False
    return True


class Sweep:
    """Candidates nearer than `reach`, found with at least the slack that is given."""

    def __init__(self, broad: Broad, reach: float, slack: float):
        self._broad, self._reach, self._slack = broad, reach, slack
        self._low = self._high = np.zeros(0)
        self._found: Candidates | None = None
        self.searches = 0
        """How often candidates were looked for."""

    def between(self, x0: np.ndarray, x1: np.ndarray) -> Candidates:
        """Everything that may come nearer than the reach on the straight ways from x0 to x1, (V, 3) each."""
        if self._found is None or not within(x0.ravel(), x1.ravel(), self._low, self._high):
            slack = max(self._slack, SHARE * float(np.abs(x1 - x0).max(initial=0.0)))
            self._found = self._broad.between(x0, x1, self._reach + 2.0 * slack)
            self._low, self._high = np.minimum(x0, x1).ravel() - slack, np.maximum(x0, x1).ravel() + slack
            self.searches += 1
        return self._found
