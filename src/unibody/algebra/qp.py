"""Small quadratic programs with bounds, by the interior-point method of PIQP, made exact on the constraints it finds active.

    minimise ½ xᵀ A x − bᵀ x,   x_i ≥ 0 where `bounded`        (A symmetric, positive semidefinite)

that is: A x = b where x is free or positive, A x ≥ b where it is zero. The interior point tells which is which; the equations of what is
held are then solved directly, with the least norm if A is singular, so that the answer is good to round-off.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Equations = Callable[[np.ndarray], np.ndarray]
"""held (bool) → x with A x = b on the rows held, 0 elsewhere."""

SLACK = 1e-9
"""Part of the largest term by which a solution may miss an inequality."""

ROUGH = 1e-4
"""The same for the interior point's own answer, where no exact one was found: beyond this there is none. And for equations that
repeat others, which agree with them only as far as the bodies' positions do."""


class Infeasible(ValueError):
    """The constraints contradict each other; `rows` are those with the largest multipliers, for which there is no end."""

    def __init__(self, rows: np.ndarray):
        super().__init__("the constraints contradict each other")
        self.rows = rows


def solve_bounded(
    A: np.ndarray, b: np.ndarray, bounded: np.ndarray, solve: Equations, usual: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """x, and which rows are held. `usual`: what the diagonal is where no row is implied; those whose own is but round-off go by it."""
    size = np.sqrt(np.maximum(np.diag(A), 0.0 if usual is None else usual))
    size[size == 0.0] = 1.0
    scaled, right = A / np.outer(size, size), b / size
    held = ~bounded | (right > 0.0)
    for _ in range(3):
        x = solve(held)
        if _is_solution(scaled, right, bounded, held, size * x):
            return x, held
        rest = right - scaled @ (size * x)
        held = ~bounded | (held & (x > 0.0)) | (~held & (rest > 0.0))
    y = _interior_point(scaled, right, bounded)
    rest = right - scaled @ y
    held = ~bounded | (y > np.abs(rest))
    x = solve(held)
    if _is_solution(scaled, right, bounded, held, size * x):
        return x, held
    if not _is_solution(scaled, right, bounded, held, y, ROUGH):
        raise Infeasible(np.flatnonzero(np.abs(y) >= 0.1 * np.abs(y).max(initial=0.0)))
    return np.where(bounded, np.maximum(y, 0.0), y) / size, held


def _is_solution(A: np.ndarray, b: np.ndarray, bounded: np.ndarray, held: np.ndarray, y: np.ndarray, slack: float = SLACK) -> bool:
    rest = A @ y - b
    if slack == ROUGH:
        return bool((np.abs(rest[~bounded]) <= slack * np.abs(b).max()).all() and (rest[bounded] >= -slack * np.abs(b).max()).all())
    scale = slack * max(float(np.abs(b).max(initial=0.0)), float((np.abs(A) @ np.abs(y)).max(initial=0.0)))
    allowed = np.where(bounded, scale, scale / slack * ROUGH)
    return bool((np.abs(rest) <= allowed)[held].all() and (rest[~held] >= -scale).all() and (y[held & bounded] >= -scale).all())


def _interior_point(A: np.ndarray, b: np.ndarray, bounded: np.ndarray) -> np.ndarray:
    import piqp

    solver = piqp.DenseSolver()
    solver.settings.verbose = False
    solver.settings.eps_abs = 1e-10
    solver.settings.eps_rel = 1e-10
    lower = np.where(bounded, 0.0, -np.inf)
    scale = float(np.abs(b).max(initial=0.0)) or 1.0
    solver.setup(np.ascontiguousarray(A), -b / scale, x_l=lower, x_u=np.full(b.size, np.inf))
    status = solver.solve()
    x = np.array(solver.result.x) * scale
    if status not in (piqp.PIQP_SOLVED, piqp.PIQP_MAX_ITER_REACHED) or not np.isfinite(x).all():
        worst = np.abs(np.where(np.isfinite(x), x, np.inf))
        raise Infeasible(np.flatnonzero(worst >= 0.1 * worst.max(initial=0.0)))
    return x
