"""Newton's directions that turn bodies instead of stretching them: a second-order correction, as SQP has against the Maratos effect.

A direction p that turns a body by θ is straight in affine coordinates, so at its end the body is stretched by θ². The stiffer bodies
are, the shorter a line search would therefore cut their turns, and the more iterations a step would take. Newton's model foresees
the strain E + L with L = AᵀδA + δAᵀA; what is there beyond, D = (A + δA)ᵀ(A + δA) − 1 − E − L, is taken away by Gauss–Newton's method

    min ½ qᵀ G q + (c / 8) |D + ∂D q|²      p ← p + q

with G the rest of the matrix. The way to the corrected end stays straight, so collision detection goes along it as before. Every mechanism
is corrected by itself: what couples it to others may be left out of a correction.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unibody.algebra.block.cholesky import BlockMatrix
from unibody.algebra.block.direct import NewtonSolver
from unibody.arrays import inner
from unibody.solvers.barrier.affine_system import AffineSystem

ROUNDS = 3
ENOUGH = 0.01
"""Energy of D, in what Newton's model wins, below which nothing is corrected any more."""

Stretch = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[float, np.ndarray, np.ndarray]]
"""Energy of D at x + p, with the strains that derivatives at x tell of x + first; its gradient, and what it adds to the matrix."""


class RigidCorrection:
    """Of a direction `first` of all control points from x, with the gradient g by the unknowns and the matrix H of the moving bodies, which
    `linear` solves."""

    def __init__(
        self, system: AffineSystem, stretch: Stretch, x: np.ndarray, g: np.ndarray, first: np.ndarray, H: BlockMatrix, linear: NewtonSolver
    ):
        self._system, self._stretch, self._x, self._g, self._first, self._H, self._linear = system, stretch, x, g, first, H, linear
        self._slope = inner(g, self._own(first))
        self.matters = stretch(x, first, first)[0] > ENOUGH * abs(self._slope)

    def _own(self, p: np.ndarray) -> np.ndarray:
        return self._system.unknown(p)

    def turned(self, t: float) -> np.ndarray:
        """The part t of the direction, with the stretch taken away that H does not know of."""
        first = t * self._first
        p, best, least = first.copy(), first, np.inf
        for _ in range(ROUNDS + 1):
            excess, r, blocks = self._stretch(self._x, first, p)
            slope = inner(self._g, self._own(p))
            if not excess < least or not slope < 0.0:  # worse than before, or up
                break
            best, least = p.copy(), excess
            if excess <= ENOUGH * abs(slope):
                break
            H = self._H
            back = self._linear.solve_mechanisms(BlockMatrix(H.diagonal + blocks, H.rows, H.columns, H.between), r)
            if back is None:
                break
            self._system.bodies_of(p)[self._system.moving] -= back.reshape(-1, 4, 3)
            if self._system.vertices is not None:
                self._system.vertices.placed(p)
        return best

