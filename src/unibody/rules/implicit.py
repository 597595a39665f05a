"""Fully implicit rules by Newton's method: implicit Euler (order 1) and BDF2 (order 2, started by one step of SDIRK2).

Every stage of them is the same problem: find v, and with it

    q = q₀ ⊕ (d + g v),     a = (v − v₀) / g,     inverse dynamics(q, v, a) = forces(t, q, v) + Gᵀ μ,     C(q, t) = aim

    implicit Euler     g = h            q₀ = q_k      d = 0                            v₀ = v_k
    BDF2               g = ⅔ h          q₀ = q_k      d = ⅓ (q_k ⊖ q_{k−1})            v₀ = (4 v_k − v_{k−1}) / 3
    SDIRK2, first      g = α h          q₀ = q_k      d = 0                            v₀ = v_k               α = 1 − 1/√2
    SDIRK2, second     g = α h          q₀ = q_k      d = (1 − α) h v₁                 v₀ = v_k + (1 − α) h a₁

The corrections come from RedMax's own matrix, A y = residual, δv = g y. It leaves out how inertial forces change with q and v (of the
order of g against the rest); Anderson's mixing of the last corrections makes up for it. A correction that grows is halved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MIXED = 6
"""Earlier corrections that take part in the next."""

ENOUGH, ACCEPTABLE = 1e-11, 1e-8
"""Corrections, as a part of the velocity, at which the iteration ends; and at which an iteration that falls no more is good enough."""

MOST = 60

ALPHA = 1.0 - np.sqrt(0.5)
"""Of SDIRK2: L-stable, order 2."""


@dataclass
class Stage:
    """What defines a stage: time, q₀, d, v₀, g."""

    t: float
    q: np.ndarray
    d: np.ndarray
    v: np.ndarray
    g: float


@dataclass
class Solved:
    """A stage's end: q and v of all joints, accelerations of the own ones, and the corrections it took."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    corrections: int


Correct = Callable[[Stage, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""(stage, v, a) → q of all joints, the correction y, and the weight of each velocity."""


class Mixing:
    """Anderson's method: of the fixed-point residual δ(v), the step that would have been best in the span of the last ones."""

    def __init__(self) -> None:
        self.v: list[np.ndarray] = []
        self.delta: list[np.ndarray] = []

    def step(self, v: np.ndarray, delta: np.ndarray, weight: np.ndarray) -> np.ndarray:
        out = delta
        if self.v:
            dv = np.stack([v - w for w in self.v], axis=1)
            dd = np.stack([delta - w for w in self.delta], axis=1)
            share = np.linalg.lstsq(weight[:, None] * dd, weight * delta, rcond=1e-12)[0]
            out = delta - (dv + dd) @ share
        self.v, self.delta = [*self.v, v][-MIXED:], [*self.delta, delta][-MIXED:]
        return out


def solve_stage(stage: Stage, guess: np.ndarray, correct: Correct) -> Solved | None:
    """Newton's iteration from a guess of v (own velocities); None if it does not converge."""
    v, mixing = guess.copy(), Mixing()
    n = v.size
    best, last, step = np.inf, v, np.zeros(n)
    for k in range(1, MOST + 1):
        a = (v - stage.v) / stage.g
        q, y, weight = correct(stage, v, a)
        delta = stage.g * y
        size = float(np.linalg.norm(weight * delta)) if np.isfinite(y).all() else np.inf
        scale = float(np.linalg.norm(weight * v) + np.linalg.norm(weight * stage.v)) + float(np.linalg.norm(weight * (v - stage.v)))
        if size <= ENOUGH * scale or size == 0.0 or (size <= ACCEPTABLE * scale and size > 0.5 * best and k > 3):
            return Solved(q, v, a, k)
        if not np.isfinite(size) or (size > 2.0 * best and k > 2):
            if np.linalg.norm(weight * step) <= ENOUGH * scale:
                return None
            step = 0.5 * step
            mixing = Mixing()
            v = last + step
            continue
        best, last = size, v
        step = mixing.step(v, delta, weight)
        v = v + step
    return None
