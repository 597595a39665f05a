"""Rows that only push: multipliers from a quadratic program (paper 000, Eq. 5), solved for the multipliers.

    minimise ½ μᵀ (G A⁻¹ Gᵀ) μ − targetᵀ μ,   μ ≥ 0 where rows are unilateral

Rows that are not held are taken out of the Gram matrix, so that what follows (projection, null vectors) sees only the others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unibody.algebra.qp import Infeasible, solve_bounded
from unibody.coordinates.constraint_layout import ConstraintLayout
from unibody.coordinates.loop_closure import solve_closure
from unibody.coordinates.stages import SolveMultipliers
from unibody.errors import ModelError
from unibody.model.tables import CallbackErrors
from unibody.solvers.redmax.rows import ASLEEP


def multiplier_callback(constraints: ConstraintLayout, callback_errors: CallbackErrors) -> int:
    """The address of a `SolveMultipliers` for rows some of which are unilateral."""
    return SolveMultipliers.callback(callback_errors.guard(_multiply(constraints, callback_errors), 5))


def _multiply(constraints: ConstraintLayout, callback_errors: CallbackErrors) -> Callable[..., None]:
    def multiply(target, violation, gram, active, closure, multiplier, rank):
        k = target.size
        A, b = gram.reshape(k, k).copy(), target.copy()
        awake = ~(constraints.unilateral & (b <= 0.5 * ASLEEP))
        reference = closure[2 + k : 2 + 2 * k].copy()

        def solve(held: np.ndarray) -> np.ndarray:
            keep = np.zeros(k, bool)
            keep[np.flatnonzero(awake)[held]] = True
            gram[:] = np.where(np.outer(keep, keep), A, np.eye(k)).ravel()
            closure[2 + k : 2 + 2 * k] = np.where(keep, reference, 1.0)
            active[:] = keep
            solve_closure(gram, np.where(keep, b, 0.0), np.where(keep, violation, 0.0), closure, multiplier, rank)
            return multiplier[awake].copy()

        try:
            x, _ = solve_bounded(A[np.ix_(awake, awake)], b[awake], constraints.unilateral[awake], solve, reference[awake])
        except Infeasible as error:
            rows = np.flatnonzero(awake)[error.rows]
            names = ", ".join(f"'{n}'" for n in dict.fromkeys(constraints.names[r] for r in rows))
            callback_errors.element = constraints.names[rows[0]] if rows.size else "model"
            raise ModelError(f"constraints {names} contradict each other; remove one of them or give it room") from None
        multiplier[:] = 0.0
        multiplier[awake] = x

    return multiply
