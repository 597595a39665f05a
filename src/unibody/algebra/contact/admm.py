"""Contact with friction by proximal iterations (ADMM): one factorisation of Ŵ + ρ, then projections onto the exact cones.

    x = (Ŵ + ρ)⁻¹ (ρ (y − w) − b̂ − s e_n),     y ← P(x + w),     w ← w + x − y,     û = −ρ w

with over-relaxation of x, and De Saxcé's s held while the convex problem is solved (`de_saxce`; none under the convex law).
ρ weighs the two ways in which an iterate may be wrong, x ≠ y and y still moving, and is changed when one is much larger. A dense Ŵ is
factored into its eigenvectors, so that another ρ costs nothing; a sparse one is factored again. Neither conditioning nor repeated
contacts stop it; they slow it down.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unibody.algebra.contact.de_saxce import fixed_point
from unibody.algebra.contact.newton import DENSE, Progress
from unibody.algebra.contact.pgs import CONVEX, COULOMB, natural_map
from unibody.algebra.contact.scaling import Units
from unibody.algebra.contact.schur import IslandBlocks

OVER = 1.6
LOOK = 10
"""Iterations between two looks at the residual and at ρ."""
APART = 10.0
"""Ratio of the two errors beyond which ρ changes, by its square root."""
RHO, RANGE = 0.5, (1e-6, 10.0)
"""The first ρ and its limits: in these units the diagonal of Ŵ is one."""


def solver_of(units: Units) -> Callable[[float], Callable[[np.ndarray], np.ndarray]]:
    """ρ → (r → (Ŵ + ρ)⁻¹ r)."""
    if units.dense is not None or units.size <= DENSE:
        values, Q = np.linalg.eigh(units.dense_matrix())
        values = np.maximum(values, 0.0)
        back = np.ascontiguousarray(Q.T)
        return lambda rho: lambda r: Q @ ((back @ r) / (values + rho))
    import scipy.sparse as sp
    import scipy.sparse.linalg as spl

    islands = IslandBlocks.of(units)
    if islands is not None:
        return lambda rho: islands.solver(sp.diags_array(units.R + rho), sp.diags_array(1.0 / (units.R + rho)))
    W = units.sparse_matrix()
    return lambda rho: spl.splu((W + rho * sp.eye_array(units.size)).tocsc()).solve


class Proximal:
    """The iteration for a convex problem; its state outlives a change of b̂."""

    def __init__(self, units: Units):
        self.factored = solver_of(units)
        self.rho, self.changes = RHO, 0
        self.solve = self.factored(RHO)
        self.w: np.ndarray | None = None

    def __call__(self, units: Units, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
        best, y = Progress(x.copy()), x.copy()
        u = units.velocity(x)
        best.offer(units, x, u)
        w = -u / self.rho if self.w is None else self.w
        F, zero = np.empty(units.size), np.zeros(units.size)
        for k in range(1, iterations + 1):
            if best.velocity <= max(tolerance, units.round_off(best.x)):
                break
            x = self.solve(self.rho * (y - w) - units.b)
            before, x = y, OVER * x + (1.0 - OVER) * y
            natural_map(CONVEX, units.start, units.lower, units.upper, x + w, zero, F)
            y, w = x + w - F, F.copy()
            best.iterations = k
            if k % LOOK == 0:
                best.offer(units, y, units.velocity(y))
                w = self._weigh(x, y, before, w, k)
        self.w = w
        return best

    def _weigh(self, x: np.ndarray, y: np.ndarray, before: np.ndarray, w: np.ndarray, k: int) -> np.ndarray:
        """Another ρ if the two errors are far apart; w to go with it."""
        ratio = float(np.linalg.norm(x - y) / max(self.rho * np.linalg.norm(y - before), 1e-300))
        if 1.0 / APART < ratio < APART or k % (LOOK << min(self.changes, 8)):
            return w
        rho = float(np.clip(self.rho * np.clip(np.sqrt(ratio), 0.3, 3.0), *RANGE))
        if rho == self.rho:
            return w
        w, self.rho, self.changes = w * self.rho / rho, rho, self.changes + 1
        self.solve = self.factored(rho)
        return w


def proximal(units: Units, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
    """From x, in units."""
    if units.law == COULOMB and (units.rows > 1).any():
        step = Proximal(units)
        best = fixed_point(units, x, step, tolerance, iterations)
    else:
        step = Proximal(units)
        best = step(units, x, tolerance, iterations)
    best.notes.append(f"{best.iterations} proximal iterations, {1 + step.changes} values of ρ")
    return best
