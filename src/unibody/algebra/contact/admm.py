"""Contact with friction by proximal iterations (ADMM): one factorisation of Ŵ + ρ, then projections onto the exact cones.

    x = (Ŵ + ρ)⁻¹ (ρ (y − w) − b̂ − s e_n),     y ← P(x + w),     w ← w + x − y,     û = −ρ w

with over-relaxation of x, and De Saxcé's s held while the convex problem is solved (`de_saxce`; none under the convex law).
ρ weighs the two ways in which an iterate may be wrong, x ≠ y and y still moving, and is changed when one is much larger. Ŵ is factored into
its eigenvectors, so that another ρ costs nothing. Neither conditioning nor repeated contacts stop it; they slow it down.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact.cones import natural_map
from unibody.algebra.contact.de_saxce import fixed_point
from unibody.algebra.contact.problem import CONVEX, COULOMB
from unibody.algebra.contact.scaling import Progress, ScaledProblem

OVER = 1.6
CHECK = 10
"""Iterations after which the residual and ρ are looked at."""
APART = 10.0
"""Ratio of the two errors beyond which ρ changes, by its square root."""
RHO, RANGE = 0.5, (1e-6, 10.0)
"""The first ρ and its limits: in these units the diagonal of Ŵ is one."""


class Admm:
    """The iteration for a convex problem; its state outlives a change of b̂."""

    def __init__(self, scaled: ScaledProblem):
        values, self.Q = np.linalg.eigh(scaled.W)
        self.values, self.Qt = np.maximum(values, 0.0), np.ascontiguousarray(self.Q.T)
        self.rho, self.changes = RHO, 0
        self.w: np.ndarray | None = None

    def solve(self, r: np.ndarray) -> np.ndarray:
        """(Ŵ + ρ)⁻¹ r."""
        return self.Q @ ((self.Qt @ r) / (self.values + self.rho))

    def __call__(self, scaled: ScaledProblem, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
        best, y = Progress(x.copy()), x.copy()
        u = scaled.velocity(x)
        best.offer(scaled, x, u)
        w = -u / self.rho if self.w is None else self.w
        F, zero = np.empty(scaled.size), np.zeros(scaled.size)
        for k in range(1, iterations + 1):
            if best.velocity <= max(tolerance, scaled.round_off(best.x)):
                break
            # x of the quadratic part, over-relaxed; y by projection (w = 0 outside the cone); w, the scaled multiplier
            x = self.solve(self.rho * (y - w) - scaled.b)
            before, x = y, OVER * x + (1.0 - OVER) * y
            natural_map(CONVEX, scaled.start, scaled.lower, scaled.upper, x + w, zero, F)
            y, w = x + w - F, F.copy()
            best.iterations = k
            if k % CHECK == 0:
                best.offer(scaled, y, scaled.velocity(y))
                w = self._adapt(x, y, before, w, k)
        self.w = w
        return best

    def _adapt(self, x: np.ndarray, y: np.ndarray, before: np.ndarray, w: np.ndarray, k: int) -> np.ndarray:
        """Another ρ if the two errors are far apart; w to go with it."""
        ratio = float(np.linalg.norm(x - y) / max(self.rho * np.linalg.norm(y - before), 1e-300))
        if 1.0 / APART < ratio < APART or k % (CHECK << min(self.changes, 8)):
            return w
        rho = float(np.clip(self.rho * np.clip(np.sqrt(ratio), 0.3, 3.0), *RANGE))
        if rho == self.rho:
            return w
        w, self.rho, self.changes = w * self.rho / rho, rho, self.changes + 1
        return w


def proximal(scaled: ScaledProblem, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
    """From x."""
    step = Admm(scaled)
    coulomb = scaled.law == COULOMB and (scaled.rows > 1).any()
    best = fixed_point(scaled, x, step, tolerance, iterations) if coulomb else step(scaled, x, tolerance, iterations)
    best.notes.append(f"{best.iterations} proximal iterations, {1 + step.changes} values of ρ")
    return best
