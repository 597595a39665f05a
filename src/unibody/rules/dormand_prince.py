"""Dormand and Prince's embedded pair of orders 5 and 4 with dense output of order 4 (Hairer, Nørsett and Wanner, Solving ODEs I, §II.5–6).

The step is chosen by the error estimate, scaled by atol + rtol |y|, with exponent 1/5; steps run past the times asked for and the
interpolant

    y(θ) = r₁ + θ (r₂ + (1 − θ) (r₃ + θ (r₄ + (1 − θ) r₅)))

gives the state there, so that recording does not shorten steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unibody.rules.time_rule import TimeRule

NODES = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
STAGES = (
    np.array([]),
    np.array([1 / 5]),
    np.array([3 / 40, 9 / 40]),
    np.array([44 / 45, -56 / 15, 32 / 9]),
    np.array([19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]),
    np.array([9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]),
    np.array([35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]),
)
ERROR = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
DENSE = np.array(
    [
        -12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072, 701980252875 / 199316789632,
        -1453857185 / 822651844, 69997945 / 29380423,
    ]
)  # fmt: skip
SAFETY, SMALLEST, LARGEST = 0.9, 0.2, 5.0
SHRINK_LIMIT = 60
"""Rejections in a row after which the step is given up."""

Derivative = Callable[[float, np.ndarray], np.ndarray]


@dataclass
class Stretch:
    """One accepted step from `start` to `end` with its interpolant (5, n), and the step to try next."""

    start: float
    end: float
    coefficients: np.ndarray
    following: float

    def at(self, t: float) -> np.ndarray:
        """y at a time within the stretch."""
        theta = (t - self.start) / (self.end - self.start)
        r = self.coefficients
        return r[0] + theta * (r[1] + (1 - theta) * (r[2] + theta * (r[3] + (1 - theta) * r[4])))


QUIET = np.errstate(over="ignore", invalid="ignore", divide="ignore")
"""A trial that overflows is rejected, without a warning."""


@QUIET
def first_step(f: Derivative, t: float, y: np.ndarray, scale: np.ndarray, longest: float) -> float:
    """A cautious guess: a step whose explicit Euler increment changes y and its rate by a hundredth of their scale."""
    rate = f(t, y)
    d0, d1 = _norm(y / scale), _norm(rate / scale)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, longest)
    d2 = _norm((f(t + h, y + h * rate) - rate) / scale) / h
    finer = max(1e-6, 1e-3 * h) if max(d1, d2) <= 1e-15 else (0.01 / max(d1, d2)) ** 0.2
    return min(100 * h, finer, longest)


@QUIET
def take_step(f: Derivative, t: float, y: np.ndarray, h: float, rtol: float, atol: float, weight: np.ndarray) -> tuple[Stretch, int] | None:
    """An accepted step from (t, y) trying h first, and how often it was shortened; None if no step length is accepted.

    `weight` (0 or 1) says which components the error control watches.
    """
    for rejected in range(SHRINK_LIMIT):
        if not t + 0.1 * h > t:  # before a wall that no step crosses, ever shorter ones would be accepted without end
            return None
        k = np.empty((7, y.size))
        k[0] = f(t, y)
        for s in range(1, 7):
            k[s] = f(t + NODES[s] * h, y + h * (STAGES[s] @ k[:s]))
        ahead = y + h * (STAGES[6] @ k[:6])
        scale = atol + rtol * np.maximum(np.abs(y), np.abs(ahead))
        error = _norm(h * (ERROR @ k) / scale * weight)
        if np.isfinite(error) and error <= 1.0:
            grow = min(LARGEST if rejected == 0 else 1.0, max(SMALLEST, SAFETY * max(error, 1e-10) ** -0.2))
            step = ahead - y
            r3 = h * k[0] - step
            return Stretch(t, t + h, np.array([y, step, r3, step - h * k[6] - r3, h * (DENSE @ k)]), h * grow), rejected
        h *= max(SMALLEST, SAFETY * error**-0.2) if np.isfinite(error) else 0.1
    return None


def _norm(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x * x))) if x.size else 0.0


class DormandPrince(TimeRule):
    """A rule that chooses its own steps. It has no compiled loop: `solvers.articulated` takes its steps in Python."""

    name = "dopri5"
    order = None
    coordinates = ("reduced",)
    roll = None
