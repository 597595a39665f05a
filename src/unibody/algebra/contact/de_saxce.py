"""Coulomb's law through a sequence of convex problems: De Saxcé's term is held, and taken anew from each solution.

    s ← g(s) = ‖û_t‖ at the solution of:  û = Ŵ x + b̂ + s e_n in K*, orthogonal to x in K

A fixed point satisfies Coulomb's law exactly. Each problem is convex, so that the methods with a proof apply to it. Successive s are mixed
(`algebra.anderson`), which turns a slow linear approach into a fast one; where the change has grown instead, mixing restarts. Rounds need
not converge (several solutions may be near each other).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unibody.algebra.anderson import Anderson
from unibody.algebra.contact.scaling import Progress, ScaledProblem

MEMORY, CUTOFF = 5, 1e-8
"""Anderson's mixing: earlier s that take part, and the part of the largest singular value that counts as zero."""
GROWN = 2.0
"""Mixing restarts where the change of s is so many times the least one."""

Inner = Callable[[ScaledProblem, np.ndarray, float, int], Progress]
"""(convex problem, x, tolerance, iterations) → progress."""


@dataclass(frozen=True)
class Rounds:
    """What rounds need: `evaluate` at x, which gives û and the residual's velocity; the residual that is small `enough` at x; `relaxed`,
    the convex problem with s from x; `polish`, which tries the whole one from x; and s from û by the rows."""

    evaluate: Callable[[np.ndarray], tuple[np.ndarray, float]]
    enough: Callable[[np.ndarray], float]
    relaxed: Callable[[np.ndarray, np.ndarray, float, int], Progress]
    polish: Callable[[np.ndarray], Progress] | None
    slips: Slips

    def run(self, x: np.ndarray, tolerance: float, iterations: int, trust: bool = True) -> Progress:
        """From x, `iterations` in all. Unless x is to be trusted, s begins at zero: sticking."""
        u, velocity = self.evaluate(x)
        best, mixing, least, rounds = Progress(x.copy(), velocity), Anderson(MEMORY, CUTOFF, successive=True), np.inf, 0

        def offer(found: Progress) -> np.ndarray:
            """û there; kept, if it is the best."""
            best.iterations += max(found.iterations, 1)
            u, velocity = self.evaluate(found.x)
            if velocity < best.velocity:
                best.x, best.velocity = found.x.copy(), velocity
            return u

        s, change = self.slips.of(u) if trust else np.zeros(self.slips.count), np.inf
        while best.iterations < iterations and best.velocity > max(tolerance, self.enough(best.x)):
            # no better than the next change of s will spoil; a little better than asked for in the end
            good = max(0.3 * tolerance, 0.1 * min(change, best.velocity))
            # the convex problem with s held, and s anew from its solution
            found = self.relaxed(s, x, good, iterations - best.iterations)
            rounds += 1
            x = found.x
            g = self.slips.of(offer(found))
            change = float((np.abs(g - s) / self.slips.D).max(initial=0.0))
            # the whole problem from there; where that helps, s is taken from it
            had = best.velocity
            if self.polish is not None and had > tolerance:
                u = offer(self.polish(x))
                if best.velocity < had:
                    x, s, least = best.x, self.slips.of(u), np.inf
                    mixing.restart()
                    continue
            # Anderson's mixing of s ← g(s) ≥ 0
            size = float(np.abs(g - s).max(initial=0.0))
            if size > GROWN * least:
                mixing.restart()
                least = size
            least = min(least, size)
            s = np.maximum(g - mixing.correction(g - s, g=g), 0.0)
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
    scaled: ScaledProblem, x: np.ndarray, inner: Inner, tolerance: float, iterations: int, polish: Inner | None = None, trust: bool = True
) -> Progress:
    """From x, under Coulomb's law; `iterations` in all, of the inner method. `polish` is tried on the whole problem after each
    round. Unless x is to be trusted, s begins at zero: sticking."""
    convex = ScaledProblem(replace(scaled.problem, law="convex"))
    still, slips = convex.b.copy(), Slips(scaled.start, scaled.D)

    def relaxed(s: np.ndarray, x: np.ndarray, tolerance: float, iterations: int) -> Progress:
        convex.b[slips.normal] = still[slips.normal] + s
        return inner(convex, x.copy(), tolerance, iterations)

    def evaluate(x: np.ndarray) -> tuple[np.ndarray, float]:
        u = scaled.velocity(x)
        return u, scaled.residual(x, u).velocity

    def tried(x: np.ndarray) -> Progress:
        assert polish is not None
        return polish(scaled, x.copy(), tolerance, 6)

    return Rounds(evaluate, scaled.round_off, relaxed, None if polish is None else tried, slips).run(x, tolerance, iterations, trust)
