"""The impulses of one step: rows of joints, limits, dry friction and contacts in one complementarity problem (paper 002, Eq. 41–54).

With W = J M⁻¹ Jᵀ over all rows, u the velocity along them at the end of the step, and b that of the motion that nothing holds,

    u = W λ + b,    b = J (v + h a) + h J̇ v

bilateral rows u = 0; limits and contacts u + C/h ≥ 0 ⟂ λ ≥ 0; dry friction |λ| ≤ bound·h; contacts Coulomb's cone.

Bilateral rows are eliminated first, by the closure that also knows redundant ones (least norm): W ← W − W_rb W_bb⁺ W_br. W stays in
factors, over islands of velocities that respond to each other; it is made whole for direct methods, where there are few rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unibody.algebra.contact.augmented import solve_augmented
from unibody.algebra.contact.cones import clip_to_cones
from unibody.algebra.contact.delassus import DelassusFactors, write_dense
from unibody.algebra.contact.newton import newton_small
from unibody.algebra.contact.pgs import solve_pgs
from unibody.algebra.contact.problem import CONVEX, COULOMB, Blocks, ContactProblem, Solution, bounded, contacts, join, unilateral
from unibody.algebra.contact.solve import solve_contacts
from unibody.coordinates.loop_closure import closure_null, invert_closure
from unibody.coordinates.workspace import CLOSURE, GRAM, MULTIPLIER, RANK, VIOLATION
from unibody.kernel import Floats, Ints, kernel
from unibody.stepping.impulse_dynamics import ConstraintRows

FEW_ROWS, FIRST_SWEEPS = 90, 64
"""Sweeps of "auto" before Newton's method; up to so many rows all other methods of the algebra are asked where that fails."""

FACE, FACE_STEPS, FACE_FAILURES = 4, 100, 3
"""From so many contacts on, up to FEW_ROWS rows, "auto" begins with so many steps of Newton's method on the whole W, begun again so often.
Faces that press on
each other leave open where they carry their load; these steps, of least norm, share it out. Sweeps put it on contacts that come first; a
block between two fingers may then turn about a corner."""

NEWTON_WORK, LEAST_STEPS, MOST_STEPS = 40_000, 25, 300
"""Newton's steps of "auto" (`algebra.contact.augmented`): as many as this many contacts allow, at most so many; fewer are not
worth it."""

WORK, LEAST_SWEEPS, MOST_SWEEPS = 480_000, 40, 400
"""Sweeps of "auto" where these are all: as many as this many contacts allow, within limits. A step's time is then bounded."""


WARM = "warm start"
"""Where the impulses to begin with were a solution already."""


@dataclass(frozen=True)
class ImpulseOptions:
    """How problems are solved."""

    method: str
    law: Any
    directions: int
    tolerance: float
    iterations: int


@dataclass
class ImpulseOutcome:
    """Impulses and velocities of the rows of a problem, and how they were found."""

    impulse: np.ndarray
    velocity: np.ndarray
    iterations: int = 0
    residual: float = 0.0
    method: str = "none"
    note: str = ""
    converged: bool = True


def solve(
    W: np.ndarray | DelassusFactors,
    b: np.ndarray,
    blocks: Blocks,
    options: ImpulseOptions,
    warm: np.ndarray | None,
    order: np.ndarray | None = None,
) -> ImpulseOutcome:
    """Solve a problem; where no row acts without impulses there is nothing to do. `order`: in which sweeps go over the blocks."""
    if not b.size or (options.law == "coulomb" and nothing_acts(blocks.rows, blocks.lower, b)):
        return ImpulseOutcome(np.zeros(b.size), b.copy())
    if options.directions or options.method not in ("auto", "pgs", "augmented") or isinstance(W, np.ndarray):
        return made(solve_whole(W, b, blocks, options, warm))
    count, asked = len(blocks.rows), options.iterations
    spent, evenly, begun = 0, False, None
    if options.method == "auto" and not asked and count >= FACE and b.size <= FEW_ROWS:
        begun = few(W, b, blocks, options, warm)
        if begun.converged:
            return begun
        found = solve_whole(W, b, blocks, replace(options, method="newton", iterations=FACE_STEPS), warm, first=0)
        spent, evenly = found.iterations, found.converged
        warm = inside(found.impulse, blocks) if evenly else warm
    steps = asked or (MOST_STEPS if options.method == "augmented" else min(NEWTON_WORK // count, MOST_STEPS))
    exact = options.method == "augmented" or (options.method == "auto" and steps >= min(LEAST_STEPS, asked or LEAST_STEPS))
    limit = asked or (FIRST_SWEEPS if exact else min(max(WORK // count, LEAST_SWEEPS), MOST_SWEEPS))
    best = solve_pgs(W, b, blocks, options.law, warm, options.tolerance, limit, order)
    if spent or evenly:
        best = replace(best, iterations=spent + best.iterations, method="newton" if evenly and best.iterations == 0 else best.method)
    if exact and not best.converged:
        best = better(best, solve_augmented(W, b, blocks, options.law, best.impulse, options.tolerance, steps))
    if options.method == "auto" and b.size <= FEW_ROWS and not best.converged:
        best = better(best, solve_whole(W, b, blocks, options, best.impulse))
    if begun is not None and not best.converged and not best.residual.velocity <= begun.residual:
        return replace(begun, iterations=begun.iterations + best.iterations)  # none did better
    return made(best, WARM if best.method == "pgs" and not best.iterations and warm is not None else "")


def few(W: DelassusFactors, b: np.ndarray, blocks: Blocks, options: ImpulseOptions, warm: np.ndarray | None) -> ImpulseOutcome:
    """Newton's method on the whole W in one kernel, as far as it goes by itself."""
    law = COULOMB if options.law == "coulomb" else CONVEX
    start = np.zeros(b.size) if warm is None else inside(warm, blocks)
    impulse, velocity, facts, whole = np.empty(b.size), np.empty(b.size), np.empty(3), np.empty(b.size**2)
    write_dense(W.first, W.flat_islands, W.start, W.place, W.J, W.Y, whole)
    newton_small(
        law, options.tolerance, FACE_STEPS, FACE_FAILURES, blocks.rows, blocks.lower, blocks.upper,
        np.ascontiguousarray(blocks.friction).ravel(), whole, b, start, impulse, velocity, facts,
    )  # fmt: skip
    speed, steps, converged = facts.tolist()
    if steps:
        clip_to_cones(blocks.rows, np.ascontiguousarray(blocks.friction).ravel(), impulse)
    return ImpulseOutcome(impulse, velocity, int(steps), speed, "newton" if steps else WARM, "", converged > 0.0)


@kernel
def nothing_acts(rows: Ints, lower: Floats, b: Floats) -> bool:
    """Whether no block has a velocity that is forbidden, nor an impulse that is wanted, where there are no impulses."""
    at = 0
    for k in range(rows.size):
        if lower[k] < 0.0 or not b[at] >= 0.0:
            return False
        at += rows[k]
    return True


def inside(impulse: np.ndarray, blocks: Blocks) -> np.ndarray:
    """Impulses whose friction does not leave its cone by round-off."""
    out = impulse.copy()
    clip_to_cones(blocks.rows, np.ascontiguousarray(blocks.friction).ravel(), out)
    return out


def better(one: Solution, other: Solution) -> Solution:
    """The one with the smaller residual, as the work of both."""
    best = other if other.residual.velocity <= one.residual.velocity else one
    return replace(best, iterations=one.iterations + other.iterations)


def made(found: Solution, method: str = "") -> ImpulseOutcome:
    """A solution as a step keeps it, by its own method or under another name."""
    name, speed = method or found.method, found.residual.velocity
    return ImpulseOutcome(found.impulse, found.velocity, found.iterations, speed, name, found.note, found.converged)


def solve_whole(
    W: np.ndarray | DelassusFactors, b: np.ndarray, blocks: Blocks, options: ImpulseOptions, warm: np.ndarray | None, **more: int
) -> Solution:
    """By the methods of the algebra, W whole; `more` are options of `solve_contacts`."""
    problem = ContactProblem(W if isinstance(W, np.ndarray) else W.dense(), b, blocks, law=options.law, directions=options.directions)
    return solve_contacts(
        problem, method=options.method, warm=warm, tolerance=options.tolerance, iterations=options.iterations or None, **more
    )


@dataclass
class Closure:
    """Bilateral constraint rows, eliminated: which, their W⁺, themselves and their b."""

    bilateral: np.ndarray
    inverse: np.ndarray
    rows: DelassusFactors
    b: np.ndarray

    def impulses(self, load: np.ndarray, moving: bool = True) -> np.ndarray:
        """Of the bilateral rows, from what the rest loads the islands with (Jᵀ λ); `moving`: against their b as well."""
        return -self.inverse @ (self.rows.responses(load) + (self.b if moving else 0.0))


def close_bilateral(system: Any, W: np.ndarray, rows: ConstraintRows, bilateral: np.ndarray, compliance: np.ndarray) -> np.ndarray:
    """W_bb⁺ of the bilateral rows (indices) out of all constraint rows; the system keeps the factors."""
    k = len(rows.rate)
    keep = np.zeros(k, bool)
    keep[bilateral] = True
    gram, closure, multiplier, rank = (system.view(slot) for slot in (GRAM, CLOSURE, MULTIPLIER, RANK))
    gram[:] = np.where(np.outer(keep, keep), W + np.diag(compliance), np.eye(k)).ravel()
    closure[2 + k : 2 + 2 * k] = np.where(keep, closure[2 + k : 2 + 2 * k], 1.0)
    inverse = np.empty((bilateral.size, bilateral.size))
    invert_closure(bilateral, gram, np.where(keep, system.view(VIOLATION)[-k:], 0.0), closure, multiplier, rank, inverse.ravel())
    inverse = 0.5 * (inverse + inverse.T)
    if rank[0] < k:  # unit targets contradict each other where rows repeat: W A W = W is all that is known of A, and W⁺ = P A P
        null = closure_null(closure, k, int(rank[0]))[:, bilateral]
        apart = np.eye(bilateral.size) - null.T @ null
        inverse = apart @ inverse @ apart
    return inverse


__all__ = [
    "Blocks", "Closure", "ContactProblem", "DelassusFactors", "ImpulseOptions", "ImpulseOutcome", "bounded", "close_bilateral",
    "contacts", "join", "solve", "unilateral",
]  # fmt: skip
