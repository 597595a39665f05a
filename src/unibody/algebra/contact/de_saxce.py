"""Coulomb's law through a sequence of convex problems: De Saxcé's term is held, and taken anew from each solution.

    s ← g(s) = ‖û_t‖ at the solution of:  û = Ŵ x + b̂ + s e_n in K*, orthogonal to x in K

A fixed point satisfies Coulomb's law exactly. Each problem is convex, so that the methods with a proof apply to it. Successive s are
mixed (Anderson: the combination of the last few whose changes g(s) − s nearly cancel), which turns a slow linear approach into a fast
one; where the change has grown instead, mixing begins again. Rounds need not converge (several solutions may be near each other).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unibody.algebra.contact.newton import Progress
from unibody.algebra.contact.scaling import Units

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


@dataclass(frozen=True)
class Rounds:
    """What rounds need: `look` at x, which gives û and the residual's velocity; below which residual it is `enough`, at x; `relaxed`, the
    convex problem with s from x; `polish`, which tries the whole one from x; and s from û by the rows."""

    look: Callable[[np.ndarray], tuple[np.ndarray, float]]
    enough: Callable[[np.ndarray], float]
    relaxed: Callable[[np.ndarray, np.ndarray, float, int], Progress]
    polish: Callable[[np.ndarray], Progress] | None
    slips: Slips

    def run(self, x: np.ndarray, tolerance: float, iterations: int, trust: bool = True) -> Progress:
        """From x, `iterations` in all. Unless x is to be trusted, s begins at zero: sticking."""
        u, velocity = self.look(x)
        best, mixing, rounds = Progress(x.copy(), velocity), Mixing(), 0

        def offer(found: Progress) -> np.ndarray:
            """û there; kept, if it is the best."""
            best.iterations += max(found.iterations, 1)
            u, velocity = self.look(found.x)
            if velocity < best.velocity:
                best.x, best.velocity = found.x.copy(), velocity
            return u

        s, change = self.slips.of(u) if trust else np.zeros(self.slips.count), np.inf
        while best.iterations < iterations and best.velocity > max(tolerance, self.enough(best.x)):
            # No better than the next change of s will spoil; a little better than asked for in the end.
            good = max(0.3 * tolerance, 0.1 * min(change, best.velocity))
            found = self.relaxed(s, x, good, iterations - best.iterations)
            rounds += 1
            x = found.x
            g = self.slips.of(offer(found))
            change = float((np.abs(g - s) / self.slips.D).max(initial=0.0))
            had = best.velocity
            if self.polish is not None and had > tolerance:
                u = offer(self.polish(x))
                if best.velocity < had:
                    x, s, mixing = best.x, self.slips.of(u), Mixing()
                    continue
            s = mixing.next(s, g)
        best.notes.append(f"{rounds} rounds of De Saxcé's term")
        return best


class Slips:
    """‖û_t‖ of contacts: `normal`, their normal rows, with D there."""

    def __init__(self, start: np.ndarray, D: np.ndarray):
        rows = np.diff(start)
        contact = rows > 1
        self.normal = start[:-1][contact]
        self.D, self.count = D[self.normal], int(contact.sum())
        owner = np.repeat(np.arange(rows.size), rows)
        self._tangent = np.flatnonzero((np.arange(start[-1]) != start[owner]) & contact[owner])
        self._cone = (np.cumsum(contact) - 1)[owner[self._tangent]]

    def of(self, u: np.ndarray) -> np.ndarray:
        return np.sqrt(np.bincount(self._cone, u[self._tangent] ** 2, minlength=self.count))


def fixed_point(
    units: Units, x: np.ndarray, inner: Inner, tolerance: float, iterations: int, polish: Inner | None = None, trust: bool = True
) -> Progress:
    """From x, in units of Coulomb's law; `iterations` in all, of the inner method. `polish` is tried on the whole problem after each
    round. Unless x is to be trusted, s begins at zero: sticking."""
    convex = Units(replace(units.problem, law="convex"))
    still, slips = convex.b.copy(), Slips(units.start, units.D)

    def relaxed(s: np.ndarray, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
        convex.b[slips.normal] = still[slips.normal] + s
        return inner(convex, x.copy(), tolerance, iterations)

    def look(x: np.ndarray) -> tuple[np.ndarray, float]:
        u = units.velocity(x)
        return u, units.residual(x, u).velocity

    def tried(x: np.ndarray) -> Progress:
        assert polish is not None
        return polish(units, x.copy(), tolerance, 6)

    return Rounds(look, units.round_off, relaxed, None if polish is None else tried, slips).run(x, tolerance, iterations, trust)
