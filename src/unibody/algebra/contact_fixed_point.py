"""Coulomb's law through a sequence of convex problems: De Saxcé's term is held, and taken anew from each solution.

    s ← g(s) = ‖û_t‖ at the solution of:  û = Ŵ x + b̂ + s e_n in K*, orthogonal to x in K

A fixed point satisfies Coulomb's law exactly. Each problem is convex, so that the methods with a proof apply to it. Successive s are
mixed (Anderson: the combination of the last few whose changes g(s) − s nearly cancel), which turns a slow linear approach into a fast
one; where the change has grown instead, mixing begins again. Rounds need not converge (several solutions may be near each other).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from unibody.algebra.contact_newton import Progress
from unibody.algebra.contact_units import Units

MEMORY = 6
GROWN = 2.0

Inner = Callable[[Units, np.ndarray, float, int], Progress]
"""(convex units, x, tolerance, iterations) → progress."""


class Mixing:
    """Anderson's mixing of s ← g(s), restarted where it does harm."""

    def __init__(self) -> None:
        self.changes: list[np.ndarray] = []
        self.values: list[np.ndarray] = []
        self.least = np.inf

    def next(self, s: np.ndarray, g: np.ndarray) -> np.ndarray:
        f = g - s
        size = float(np.abs(f).max(initial=0.0))
        if size > GROWN * self.least:
            self.changes, self.values, self.least = [], [], size
        self.least = min(self.least, size)
        self.changes.append(f)
        self.values.append(g)
        del self.changes[:-MEMORY], self.values[:-MEMORY]
        if len(self.changes) < 2:
            return g
        differences = np.diff(np.stack(self.changes), axis=0)
        weights = np.linalg.lstsq(differences.T, f, rcond=1e-8)[0]
        return np.maximum(g - weights @ np.diff(np.stack(self.values), axis=0), 0.0)


def fixed_point(
    units: Units, x: np.ndarray, inner: Inner, tolerance: float, iterations: int, polish: Inner | None = None, trust: bool = True
) -> Progress:
    """From x, in units of Coulomb's law; `iterations` in all, of the inner method. `polish` is tried on the whole problem after each
    round. Unless x is to be trusted, s begins at zero: sticking."""
    convex = Units(replace(units.problem, law="convex"))
    still = convex.b.copy()
    contact = units.rows > 1
    normal = units.start[:-1][contact]
    at = np.cumsum(contact) - 1
    tangent = np.flatnonzero((np.arange(units.size) != units.start[units.owner]) & contact[units.owner])
    cone = at[units.owner[tangent]]

    def slip(u: np.ndarray) -> np.ndarray:
        return np.sqrt(np.bincount(cone, u[tangent] ** 2, minlength=normal.size))

    best, mixing, rounds = Progress(x.copy()), Mixing(), 0
    u = units.velocity(x)
    best.offer(units, x, u)
    s, change = slip(u) if trust else np.zeros(normal.size), np.inf
    while best.iterations < iterations and best.velocity > max(tolerance, units.round_off(best.x)):
        convex.b[normal] = still[normal] + s
        # No better than the next change of s will spoil; a little better than asked for in the end.
        found = inner(convex, x.copy(), max(0.3 * tolerance, 0.1 * min(change, best.velocity)), iterations - best.iterations)
        best.iterations += max(found.iterations, 1)
        rounds += 1
        x, u = found.x, units.velocity(found.x)
        best.offer(units, x, u)
        g = slip(u)
        change = float((np.abs(g - s) / units.D[normal]).max(initial=0.0))
        if polish is not None and best.velocity > tolerance:
            tried = polish(units, x.copy(), tolerance, 6)
            best.iterations += tried.iterations
            best.offer(units, tried.x, units.velocity(tried.x))
        s = mixing.next(s, g)
    best.notes.append(f"{rounds} rounds of De Saxcé's term")
    return best
