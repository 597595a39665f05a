"""Proximal steps (`augmented`) that do not give up: where Newton's method stalls under Coulomb's law, a convex problem moves on.

Under Coulomb's law nothing is minimised, and ‖G‖ can have minima that are no solutions; at kinks between sticking, sliding and parting
Newton's steps then grow short. With De Saxcé's term held at the slips of the moment (`de_saxce`) the problem is convex, and the
same steps minimise something. Its solution is near, often with the right contacts pressing and sliding, and from there a few steps under
Coulomb's law mostly end at round-off. Where bodies roll or still settle, many rounds may not be enough. The numbers below were chosen on
problems of the scenes dominoes, ragdoll-pile and terrain-vehicle and of piles, on which docs/design tells what they gain.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unibody.algebra.contact.augmented import NEARLY, RowLaws, advance, looked, round_off_of
from unibody.algebra.contact.de_saxce import Rounds, Slips
from unibody.algebra.contact.newton import Progress
from unibody.algebra.contact.pgs import CONVEX, COULOMB
from unibody.algebra.contact.scaled_delassus import ScaledVelocities
from unibody.algebra.contact.scaling import Units

FAILURES = 1
"""Of proximal steps under Coulomb's law, after which rounds begin."""
ROUND, POLISH = 60, 25
"""Newton's steps for a convex problem, and under Coulomb's law after it; where round-off is near at first, all rounds together get as many
as one."""


def settle(laws: RowLaws, motion: ScaledVelocities, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
    """From x, in units, by at most so many of Newton's steps, but for the round that is under way then."""
    if laws.law != COULOMB or not (np.diff(laws.start) > 1).any():
        return advance(laws, motion, x, tolerance, iterations)
    first = advance(laws, motion, x, tolerance, iterations, FAILURES)
    if first.velocity <= tolerance:
        return first
    m = first.x.size
    still, D = laws.rows, laws.rows[2 * m :]
    slips = Slips(laws.start, D)
    convex, held = replace(laws, law=CONVEX, rows=still.copy()), m + slips.normal
    moved, u, F = np.empty(motion.first[-1]), np.empty(m), np.empty(m)
    where = (laws.start, motion.first, motion.islands, motion.place)

    def look(x: np.ndarray) -> tuple[np.ndarray, float]:
        found = looked(laws.law, *where, laws.lower, laws.upper, motion.J, motion.Y, laws.rows, x, moved, u, F)
        return u.copy(), found

    def enough(x: np.ndarray) -> float:
        return round_off_of(*where, motion.J, motion.Y, laws.rows, x, moved, u)

    def relaxed(s: np.ndarray, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
        convex.rows[held] = still[held] + s
        return advance(convex, motion, x, tolerance, min(iterations, ROUND))

    def polish(x: np.ndarray) -> Progress:
        return advance(laws, motion, x, tolerance, POLISH, FAILURES)

    left = iterations - first.iterations
    if first.velocity <= NEARLY * float((np.abs(still[m : 2 * m]) / D).max(initial=0.0)):
        left = min(left, ROUND)
    found = Rounds(look, enough, relaxed, polish, slips).run(first.x, tolerance, left)
    found.iterations += first.iterations
    found.notes = first.notes if found.notes[-1].startswith("0 ") else first.notes + found.notes
    return found


def augmented(units: Units, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
    """From x, in units."""
    R = units.R if units.dense is None else np.zeros(units.size)
    laws = RowLaws(units.law, units.start, units.lower, units.upper, np.concatenate([R, units.b, units.D]), units.own)
    return settle(laws, ScaledVelocities.of(units), x, tolerance, iterations)
