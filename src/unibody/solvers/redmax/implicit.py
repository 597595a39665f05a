"""Fully implicit rules by Newton's method: implicit Euler (order 1) and BDF2 (order 2, started by one step of SDIRK2).

Every stage of them is the same problem: find v, and with it

    q = q₀ ⊕ (d + g v),     a = (v − v₀) / g,     inverse dynamics(q, v, a) = forces(t, q, v) + Gᵀ μ,     C(q, t) = aim

    implicit Euler     g = h            q₀ = q_k      d = 0                            v₀ = v_k
    BDF2               g = ⅔ h          q₀ = q_k      d = ⅓ (q_k ⊖ q_{k−1})            v₀ = (4 v_k − v_{k−1}) / 3
    SDIRK2, first      g = α h          q₀ = q_k      d = 0                            v₀ = v_k               α = 1 − 1/√2
    SDIRK2, second     g = α h          q₀ = q_k      d = (1 − α) h v₁                 v₀ = v_k + (1 − α) h a₁

**Starts.** C = 0 at both ends of a step holds mean velocities over steps: with b = C̈ without accelerations, C(q₀ ⊕ g v) = 0 asks for
G v = −½ g b, where v at the end of g has G v = −g b + … . Steps of equal length make the same error in v each, and differences of v are
right; but the first step's a would have half of what G a = −b asks for. So a step without steps before it counts from velocities that such
steps would have left, by the part n of the accelerations that keeps bodies on their rows,

    M n = Gᵀ ν,  G n = −b:     implicit Euler     v₀ = v_k − ½ (h − h_{k−1}) n                       (h_{k−1} = 0 at the start)
                               SDIRK2, first      v₀ = v_k − ½ α h n
                               SDIRK2, second     v₀ = v_k + (1 − α) h a₁ + κ h n,   and at its end   v ← v − κ h n = v_k + h Σ bᵢ aᵢ

where κ = (1 − α (1 − α)) / 2α − 1 = √2/4: C = 0 after both stages makes G v = −(1 + κ) h b in the second. n does not push along the rows
(uᵀ M n = 0 where G u = 0), so that motion and order are those of the rule, momenta change by forces in the rows alone, and
trees without rows know nothing of it. BDF2 then takes v_k and v_{k−1} that are right to h², and accelerations right to h; from its third
step on to h². An impact has no n: BDF2 that starts anew after it starts as it is.

The corrections come from RedMax's own matrix, A y = residual, δv = g y. It leaves out how inertial forces change with q and v (of the
order of g against the rest); Anderson's mixing of the last corrections makes up for it. A correction that grows is halved.

Free vertices of deformables are unknowns like joints, with q₀ ⊕ d = x₀ + d and weights of their masses; a correction is one factorisation
over them, and what attaches them to bodies is eliminated (`flesh_step`).

A stiff spring that the guess stretches by s pulls with k s across the motion as well, and corrections then leap between stretched and
unstretched guesses. Where they do not settle, the stage is grown: solved for a small g first, where s, of the order of (g v)², is
harmless, then for larger ones, each from the line through the last two solutions v(g).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unibody.algebra.anderson import Anderson

MIXED, CUTOFF = 6, 1e-12
"""Anderson's mixing: earlier corrections that take part in the next, and the part of the largest singular value that counts as zero."""

ENOUGH, ACCEPTABLE = 1e-11, 1e-8
"""Corrections, as a part of the velocity, at which the iteration ends; and at which an iteration that falls no more is good enough."""

ROUND_OFF = 16.0 * np.finfo(float).eps
"""Part of q (of 1 m or rad at least) that is not told apart: corrections that move q by less are none."""

MOST = 40
"""Corrections of one iteration."""

SHORT, RATIO, LEAST_RATIO, MOST_LENGTHS = 1024.0, 4.0, 1.1, 24
"""How a stage is grown: from g / SHORT, each g RATIO times the last, or the root of that (and so on) where that was too much."""

ALPHA = 1.0 - np.sqrt(0.5)
"""Of SDIRK2: L-stable, order 2."""

KAPPA = np.sqrt(0.125)
"""By how much its second stage's velocity across rows is ahead of that at the end of the step, as a part of h n."""


@dataclass
class ImplicitStage:
    """What defines a stage: time, q₀, d, v₀, g."""

    t: float
    q: np.ndarray
    d: np.ndarray
    v: np.ndarray
    g: float


@dataclass
class Solved:
    """A stage's end: q of all, v and accelerations of the unknowns, and the corrections it took."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    corrections: int


Correct = Callable[[ImplicitStage, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""(stage, v, a) → q of all, the correction y, and the weight of each velocity."""


def solve_stage(stage: ImplicitStage, guess: np.ndarray, correct: Correct) -> Solved | None:
    """v by Newton's method from a guess (own velocities), or else by growing g; None if neither converges."""
    return iterate(stage, guess, correct) or grow(stage, correct)


def grow(stage: ImplicitStage, correct: Correct) -> Solved | None:
    """The stage's solution from those for smaller g."""
    lengths, found, ratio, g, taken = [0.0], [stage.v], RATIO, stage.g / SHORT, MOST
    for _ in range(MOST_LENGTHS):
        guess = found[-1]
        if len(found) > 1:
            guess = guess + (guess - found[-2]) * ((g - lengths[-1]) / (lengths[-1] - lengths[-2]))
        solved = iterate(ImplicitStage(stage.t - stage.g + g, stage.q, (g / stage.g) * stage.d, stage.v, g), guess, correct)
        taken += MOST if solved is None else solved.corrections
        if solved is None:
            ratio = ratio**0.5
        elif g == stage.g:
            return Solved(solved.q, solved.v, solved.a, taken)
        else:
            lengths, found = [*lengths, g], [*found, solved.v]
        if ratio < LEAST_RATIO:
            return None
        g = min(stage.g, ratio * lengths[-1]) if len(found) > 1 else g / SHORT
    return None


def iterate(stage: ImplicitStage, guess: np.ndarray, correct: Correct) -> Solved | None:
    """Newton's iteration from a guess of v; None if it does not converge."""
    v, mixing = guess.copy(), Anderson(MIXED, CUTOFF)
    best, last, step = np.inf, v, np.zeros(v.size)
    for k in range(1, MOST + 1):
        a = (v - stage.v) / stage.g
        q, y, weight = correct(stage, v, a)
        delta = stage.g * y
        size = float(np.linalg.norm(weight * delta)) if np.isfinite(y).all() else np.inf
        scale = float(np.linalg.norm(weight * v) + np.linalg.norm(weight * stage.v)) + float(np.linalg.norm(weight * (v - stage.v)))
        unseen = ROUND_OFF * max(1.0, float(np.abs(q).max(initial=0.0))) / stage.g * float(np.linalg.norm(weight))
        if size <= ENOUGH * scale + unseen or (size <= ACCEPTABLE * scale and size > 0.5 * best and k > 3):
            return Solved(q, v, a, k)
        if not np.isfinite(size) or (size > 2.0 * best and k > 2):
            if np.linalg.norm(weight * step) <= ENOUGH * scale:
                return None
            step = 0.5 * step
            mixing.restart()
            v = last + step
            continue
        best, last = size, v
        step = delta - mixing.correction(delta, v, weight=weight)
        v = v + step
    return None
