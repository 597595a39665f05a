"""Anderson's mixing of a fixed-point iteration x ← g(x): the step that would have been best in the span of the last ones.

With f = g(x) − x, and ΔF, ΔG the differences of the last few f and g(x), each to the newest or each to the one after it (the same span),

    γ = argmin ‖w (f − ΔF γ)‖,      x⁺ = g(x) − ΔG γ

so that differences of the last few iterates predict where f is zero. With one unknown it is the secant method.
"""

from __future__ import annotations

import numpy as np


class Anderson:
    """memory: how many earlier iterates take part; cutoff: singular values of ΔF below this part of the largest count as zero; successive:
    whether differences are those of successive iterates."""

    def __init__(self, memory: int = 3, cutoff: float = 1e-10, successive: bool = False):
        self.memory, self.cutoff, self.successive = memory, cutoff, successive
        self.restart()

    def restart(self) -> None:
        """Forget the earlier iterates."""
        self.f: list[np.ndarray] = []
        self.known: list[np.ndarray] = []

    def correction(
        self, f: np.ndarray, x: np.ndarray | None = None, g: np.ndarray | None = None, weight: np.ndarray | None = None
    ) -> np.ndarray:
        """ΔG γ, to be taken from g(x), after f = g(x) − x: with ΔG of the g given, or ΔX + ΔF of the x given (always the same one of them).
        weight: w, of the components of f.

        >>> mixing, x = Anderson(), np.array([1.0])
        >>> for _ in range(2):
        ...     g = 4.0 - 0.9 * x
        ...     x = g - mixing.correction(g - x, g=g)
        >>> round(float(x[0]), 9)
        2.105263158
        """
        known = g if x is None else x
        assert known is not None
        if self.f:
            dF, dG = self._differences(self.f, f), self._differences(self.known, known)
            if x is not None:
                dG = dG + dF
            weighted, right = (dF, f) if weight is None else (weight[:, None] * dF, weight * f)
            out = dG @ np.linalg.lstsq(weighted, right, rcond=self.cutoff)[0]
        else:
            out = np.zeros_like(f)
        self.f, self.known = [*self.f, f][-self.memory :], [*self.known, known][-self.memory :]
        return out

    def _differences(self, earlier: list[np.ndarray], newest: np.ndarray) -> np.ndarray:
        """As columns."""
        if self.successive:
            return np.diff(np.stack([*earlier, newest]), axis=0).T
        return np.stack([newest - old for old in earlier], axis=1)


class DampedAnderson(Anderson):
    """For x = g(x) ≥ 0: where mixing has made matters worse, ‖f‖ being more than twice the last, half a step from x alone and anew."""

    def next(self, x: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Where to evaluate g next, after g = g(x)."""
        f = g - x
        if self.f and np.linalg.norm(f) > 2.0 * np.linalg.norm(self.f[-1]):
            self.restart()
            return np.maximum(x + 0.5 * f, 0.0)
        return np.maximum(g - self.correction(f, x), 0.0)
