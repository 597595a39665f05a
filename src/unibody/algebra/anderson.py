"""Anderson's mixing of a fixed-point iteration x ← g(x): the step that would have been best in the span of the last ones.

With f = g(x) − x, and ΔX, ΔF the differences of the newest x and f to earlier ones,

    γ = argmin ‖w (f − ΔF γ)‖,      x⁺ = g(x) − (ΔX + ΔF) γ

so that differences of the last few iterates foretell where f is zero. With one unknown it is the secant method.
"""

from __future__ import annotations

import numpy as np


class Anderson:
    """memory: how many earlier iterates take part; cutoff: singular values of ΔF below this part of the largest count as zero."""

    def __init__(self, memory: int = 3, cutoff: float = 1e-10):
        self.memory, self.cutoff = memory, cutoff
        self.restart()

    def restart(self) -> None:
        """Forget the earlier iterates."""
        self.x: list[np.ndarray] = []
        self.f: list[np.ndarray] = []

    def correction(self, x: np.ndarray, f: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """(ΔX + ΔF) γ, to be taken from g(x), after f = g(x) − x; weight: w, of the components of f.

        >>> mixing, x = Anderson(memory=3, cutoff=1e-10), np.array([1.0])
        >>> for _ in range(2):
        ...     g = 4.0 - 0.9 * x
        ...     x = g - mixing.correction(x, g - x)
        >>> round(float(x[0]), 9)
        2.105263158
        """
        out = np.zeros_like(f)
        if self.f:
            dF = np.stack([f - old for old in self.f], axis=1)
            dX = np.stack([x - old for old in self.x], axis=1)
            weighted, right = (dF, f) if weight is None else (weight[:, None] * dF, weight * f)
            out = (dX + dF) @ np.linalg.lstsq(weighted, right, rcond=self.cutoff)[0]
        self.x, self.f = [*self.x, x][-self.memory :], [*self.f, f][-self.memory :]
        return out


class DampedAnderson(Anderson):
    """For x = g(x) ≥ 0: where mixing has made matters worse, ‖f‖ being more than twice the last, half a step from x alone and anew."""

    def next(self, x: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Where to evaluate g next, after g = g(x)."""
        f = g - x
        if self.f and np.linalg.norm(f) > 2.0 * np.linalg.norm(self.f[-1]):
            self.restart()
            return np.maximum(x + 0.5 * f, 0.0)
        return np.maximum(g - self.correction(x, f), 0.0)
