"""Projected Newton with a line search that never leaves the feasible set and never goes up.

A `MinimisationProblem` gives its value, a direction of descent (gradient and positive definite matrix are its own business) and the largest
feasible part of a motion. Each iteration: direction p with slope gᵀp < 0, then the largest of t, t/2, t/4, … with f(x + t p) ≤ f(x) + 10⁻⁴
t gᵀp; where that cannot be seen any more for round-off, the first that does not go up by more than round-off. It ends when p is shorter
than the tolerance, in the problem's own measure, and changes no distance to what must not be crossed by more than a tenth: near a barrier's
wall steps are short, however far off its force is.

A problem may know two curvatures: the exact one, by which Newton's method converges fast near the end but may overshoot or fail before, and
a careful one that errs on the large side. After an exact direction that had to be halved, a careful one is asked for.

A direction of which only a part is feasible may have another in its stead, `outward`: Newton's step of a barrier −μ ln d at most doubles d,
so a point beside a wall of radius R that wants to go along it must turn off after √(2 R d). The other direction leaves the wall first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

SUFFICIENT = 1e-4
HALVINGS = 40
ROUND_OFF = 1e-13
FLOOR = 8
CHANGE = 0.1
"""Of a distance, by the last step."""
SHORT = 0.25
"""A feasible part below which another direction is tried."""


@dataclass(frozen=True)
class Direction:
    """A direction p, its slope gᵀp ≤ 0, how long it is in the problem's measure, what round-off values near here have,
    whether its curvature is the careful one, and by which part of itself it changes a distance at most."""

    p: np.ndarray
    slope: float
    length: float
    noise: float = 0.0
    careful: bool = False
    change: float = 0.0
    bent: Callable[[float], np.ndarray] | None = None
    """Where the feasible set is curved: the motion to take for a part t < 1 of p, feasible like t p and of the same slope."""
    outward: Callable[[], Direction | None] | None = None
    """Gives a direction of descent that leads away from what is near, if there is one."""


class MinimisationProblem(Protocol):
    def value(self, x: np.ndarray) -> float:
        """f(x), infinite outside the feasible set."""
        ...

    def direction(self, x: np.ndarray, careful: bool) -> Direction: ...

    def reach(self, x: np.ndarray, p: np.ndarray) -> float:
        """The largest t ≤ 1 for which everything between x and x + t p is feasible."""
        ...


@dataclass
class Minimum:
    """Where the search ended. `steps` are the accepted t of the iterations."""

    x: np.ndarray
    value: float
    length: float
    iterations: int
    converged: bool
    steps: list[float]
    why: str = ""


def minimise(
    problem: MinimisationProblem, x: np.ndarray, tolerance: float, iterations: int, finish: Any = None, scale: float = 0.0
) -> Minimum:
    """From a feasible x. `finish(x)` may forbid to end (something still has to move). `scale`: how large values are away from a good start;
    round-off is relative to that."""
    value, steps, careful = problem.value(x), [], False
    length, below = np.inf, 0
    if not np.isfinite(value):
        return Minimum(x, value, length, 0, False, steps, "the start is not feasible")
    for k in range(iterations):
        d = problem.direction(x, careful)
        length = d.length
        if not np.isfinite(d.p).all():
            return Minimum(x, value, length, k, False, steps, "the direction is not finite")
        if length <= tolerance and d.change <= CHANGE and (finish is None or finish(x)):
            return Minimum(x, value, length, k, True, steps)
        t = problem.reach(x, d.p)
        if t < SHORT and d.outward is not None and (other := d.outward()) is not None:
            further = problem.reach(x, other.p)
            if further * other.slope < t * d.slope:
                t, d = further, other
        noise = max(ROUND_OFF * abs(value), ROUND_OFF * scale, d.noise)
        below = below + 1 if abs(d.slope) < noise else 0
        if below > FLOOR and d.change <= CHANGE and (finish is None or finish(x)):
            return Minimum(x, value, length, k, True, steps, "ended where round-off hides what is left")
        for halvings in range(HALVINGS):  # noqa: B007
            trial = x + (t * d.p if d.bent is None or t == 1.0 else d.bent(t))
            found = problem.value(trial)
            # Near the end even the slope is round-off, and may have the wrong sign; then nothing but the value counts.
            if found <= value + SUFFICIENT * t * min(d.slope, 0.0) or (abs(t * d.slope) < noise and found <= value + noise):
                break
            t *= 0.5
        else:
            return Minimum(x, value, length, k, False, steps, "no descent along the direction")
        # A careful step leads away from where the exact one failed; then the exact one may try again.
        x, value, careful = trial, found, halvings > 0 and not d.careful
        steps.append(t)
    return Minimum(x, value, length, iterations, False, steps, f"not converged in {iterations} iterations")
