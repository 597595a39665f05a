"""The impulses of one step: rows of joints, limits, dry friction and contacts in one complementarity problem (paper 002, Eq. 41–54).

With W = J M⁻¹ Jᵀ over all rows, u the velocity along them at the end of the step, and b that of the motion that nothing holds,

    u = W λ + b,    b = J (v + h a) + h J̇ v

held rows u = 0; limits and contacts u + C/h ≥ 0 ⟂ λ ≥ 0; dry friction |λ| ≤ bound·h; contacts Coulomb's cone.

Held rows are eliminated first, by the closure that also knows redundant ones (least norm): W ← W − W_rb W_bb⁺ W_br. Where no body hangs on
another, W is never made: it stays in factors, 6×6 blocks of M⁻¹ and rows on two bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unibody.algebra.contact_problem import Blocks, ContactProblem, Dense, Factored, Solution, bounded, contacts, join, unilateral
from unibody.algebra.contacts import solve_contacts
from unibody.coordinates.closure import solve_closure, solve_closure_again
from unibody.coordinates.held import BookRows
from unibody.coordinates.slots import CLOSURE, GRAM, MULTIPLIER, RANK

FEW_ROWS, SWEEPS, NEWTON_STEPS = 90, 400, 15
"""Up to so many rows "auto" is that of the algebra; above, so many sweeps, then so many of Newton's steps."""

DENSE_ROWS = 400
"""Up to so many rows W is made whole even where it need not be: direct methods are then the faster ones."""


@dataclass(frozen=True)
class Options:
    """How problems are solved."""

    method: str
    law: Any
    directions: int
    tolerance: float
    iterations: int


@dataclass
class Outcome:
    """Impulses and velocities of the rows of a problem, and how they were found."""

    impulse: np.ndarray
    velocity: np.ndarray
    iterations: int = 0
    residual: float = 0.0
    method: str = "none"
    note: str = ""
    converged: bool = True


def solve(W: Dense | Factored, b: np.ndarray, blocks: Blocks, options: Options, warm: np.ndarray | None) -> Outcome:
    """Solve a problem; where no row acts without impulses there is nothing to do."""
    first = np.cumsum(blocks.rows) - blocks.rows
    if options.law == "coulomb" and not (blocks.lower < 0.0).any() and (b[first] >= 0.0).all():
        return Outcome(np.zeros(b.size), b.copy())
    problem = ContactProblem(W, b, blocks, law=options.law, directions=options.directions)
    if options.method == "auto" and not options.directions and b.size > FEW_ROWS:
        found = swept_first(problem, options, warm)
    else:
        limit = options.iterations or None
        found = solve_contacts(problem, method=options.method, warm=warm, tolerance=options.tolerance, iterations=limit)
    return Outcome(found.impulse, found.velocity, found.iterations, found.residual.velocity, found.method, found.note, found.converged)


def swept_first(problem: ContactProblem, options: Options, warm: np.ndarray | None) -> Solution:
    """Many rows: sweeps from the last step's impulses; if these do not reach the tolerance, a bounded number of Newton's steps. The better
    one, whose residual the report tells: to insist on the last digits would take seconds a step."""
    swept = solve_contacts(problem, "pgs", warm=warm, tolerance=options.tolerance, iterations=options.iterations or SWEEPS)
    if swept.converged:
        return swept
    limit = options.iterations or NEWTON_STEPS
    found = solve_contacts(problem, "newton", warm=swept.impulse, tolerance=options.tolerance, iterations=limit)
    best = found if found.residual.velocity <= swept.residual.velocity else swept
    return replace(best, iterations=swept.iterations + found.iterations)


@dataclass
class Closure:
    """Held rows of the book, eliminated: their W⁺, and what couples them to the rest."""

    held: np.ndarray
    inverse: np.ndarray
    coupling: np.ndarray
    b: np.ndarray

    def impulses(self, rest: np.ndarray) -> np.ndarray:
        """Of the held rows, from those of the rest."""
        return -self.inverse @ (self.b + self.coupling @ rest)


def close_held(system: Any, W: np.ndarray, rows: BookRows, held: np.ndarray, compliance: np.ndarray) -> np.ndarray:
    """W_bb⁺ of the held rows (indices) out of all rows of the book; the system keeps the factors."""
    k = len(rows.rate)
    keep = np.zeros(k, bool)
    keep[held] = True
    gram, closure, multiplier, rank = (system.view(slot) for slot in (GRAM, CLOSURE, MULTIPLIER, RANK))
    gram[:] = np.where(np.outer(keep, keep), W + np.diag(compliance), np.eye(k)).ravel()
    closure[2 + k : 2 + 2 * k] = np.where(keep, closure[2 + k : 2 + 2 * k], 1.0)
    inverse = np.zeros((held.size, held.size))
    for column, r in enumerate(held):
        target = np.zeros(k)
        target[r] = 1.0
        if column == 0:
            solve_closure(gram, target, np.where(keep, rows.residual, 0.0), closure, multiplier, rank)
        else:
            solve_closure_again(gram, target, closure, multiplier, rank)
        inverse[:, column] = multiplier[held]
    return 0.5 * (inverse + inverse.T)


__all__ = [
    "DENSE_ROWS", "SWEEPS", "Blocks", "Closure", "ContactProblem", "Dense", "Factored", "Options", "Outcome", "bounded", "close_held",
    "contacts", "join", "solve", "unilateral",
]  # fmt: skip
