"""Candidates that hold for a while: found for a way from x₀ to x₁ with some slack, and used again for every way within.

With boxes widened by the slack on each side, whatever comes nearer than the reach while each vertex stays within the slack of the first
way is among them. The order is that of `broad`, so what is picked from them does not depend on how long they were kept.
"""

from __future__ import annotations

import numpy as np

from unibody.collision.broad import Broad, Candidates


class Sweep:
    """Candidates nearer than `reach`, found with the slack that is given."""

    def __init__(self, broad: Broad, reach: float, slack: float):
        self._broad, self._reach, self._slack = broad, reach, slack
        self._low = self._high = np.zeros((0, 3))
        self._found: Candidates | None = None
        self.searches = 0
        """How often candidates were looked for."""

    def between(self, x0: np.ndarray, x1: np.ndarray) -> Candidates:
        """Everything that may come nearer than the reach on the straight ways from x0 to x1, (V, 3) each."""
        low, high = (x0, x0) if x1 is x0 else (np.minimum(x0, x1), np.maximum(x0, x1))
        if self._found is None or not (low >= self._low).all() or not (high <= self._high).all():
            self._found = self._broad.between(x0, x1, self._reach + 2.0 * self._slack)
            self._low, self._high = low - self._slack, high + self._slack
            self.searches += 1
        return self._found
