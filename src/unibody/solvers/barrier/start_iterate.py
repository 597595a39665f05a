"""Where the minimisation of a step begins: everything goes on turning and gliding, as long as nothing is in the way and Ψ falls.

    A₀ = exp [φ] A,   t₀ = t + s

The turn φ and the way s of the step are those of the last one and as much more as rates have changed, φ = φ₋₁ + h (ω − ω₋₁) and
s = s₋₁ + h (v − v₋₁), which errs by the third order in h; else those of constant rates, h ω and h v. Straight ways of the affine
coordinates, x + h ẋ, stretch a body by (h ω)²/2, which Newton's method has to undo while contacts of what turns are pressed together by
it. Along the arc, teeth and pins keep their distances to second order, and what rolls slips by less than friction's slip speed. It is
followed in one chord or in a few, each filtered by collision detection; every point on them is free of intersections, so any may be the
start, and that with the least Ψ is. Vertices go straight on in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import IncrementalPotential

CHORDS = 4
"""Of an arc whose one chord is not free."""

Motion = tuple[np.ndarray, ...]
"""Ways of origins [m] and turns [rad] of bodies in a step, (n, 3) each; with vertices the ways of the free ones (m, 3), too."""


def skew_part(B: np.ndarray) -> np.ndarray:
    """(n, 3) w of the skew part [w]ᵀ of B (n, 3, 3), whose rows are images of axes."""
    return 0.5 * np.stack([B[:, 1, 2] - B[:, 2, 1], B[:, 2, 0] - B[:, 0, 2], B[:, 0, 1] - B[:, 1, 0]], axis=1)


def steady(Q: np.ndarray, V: np.ndarray, h: float) -> Motion:
    """Of bodies at Q (n, 4, 3) with constant rates V for the time h; ω is what is skew in Ȧ A⁻¹."""
    return h * V[:, 0], h * skew_part(np.linalg.solve(Q[:, 1:], V[:, 1:]))


def made(Q_last: np.ndarray, Q: np.ndarray) -> Motion:
    """From Q_last to Q: of B = A A₋₁⁻¹ the skew part is n sin φ, the trace 1 + 2 cos φ."""
    B = np.linalg.solve(Q_last[:, 1:], Q[:, 1:])
    w = skew_part(B)
    sine = np.linalg.norm(w, axis=1)
    angle = np.arctan2(sine, 0.5 * (np.einsum("naa->n", B) - 1.0))
    return Q[:, 0] - Q_last[:, 0], w * np.where(sine > 0.0, angle / np.maximum(sine, 1e-300), 1.0)[:, None]


def carried_on(Q_last: np.ndarray, V_last: np.ndarray, Q: np.ndarray, V: np.ndarray, h: float) -> Motion:
    """The step after one of length h from Q_last with rates V_last to Q with V."""
    motions = made(Q_last, Q), steady(Q, V, h), steady(Q_last, V_last, h)
    way, turn = (last + now - before for last, now, before in zip(*motions, strict=True))
    return way, turn


def turned(Q: np.ndarray, way: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Q (n, 4, 3) after a motion.

    >>> Q = np.concatenate([np.zeros((1, 1, 3)), np.eye(3)[None]], axis=1)
    >>> (turned(Q, np.zeros((1, 3)), np.array([[0.0, 0.0, np.pi / 2]]))[0, 1:] + 0.0).round(12).tolist()
    [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    axes, angle = Q[:, 1:], np.linalg.norm(turn, axis=1)
    n = turn / np.maximum(angle, 1e-300)[:, None]
    # Rodrigues: a cos φ + n × a sin φ + n (n·a) (1 − cos φ)
    c, s = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    out = Q.copy()
    out[:, 0] += way
    out[:, 1:] = c * axes + s * np.cross(n[:, None], axes) + (1.0 - c) * (axes @ n[:, :, None]) * n[:, None]
    return out


def start_iterate(problem: IncrementalPotential, x: np.ndarray, motions: Sequence[Motion], least_way: float) -> np.ndarray:
    """x of all control points, or a better start: the first of the motions along which Ψ falls, if any of its ways or turns is
    above `least_way`: what only trembles starts from where it is."""
    system, Q, put = problem.system, problem.system.bodies_of(x), problem.system.reduction.put
    best, least = x, problem.value(x)
    moved = [m for m in motions if max(np.abs(part).max(initial=0.0) for part in m) > least_way]
    for (way, turn, *ways), chords in ((m, chords) for m in moved for chords in (1, CHORDS)):
        at = x
        for k in range(chords):
            to, part = Q.copy(), (k + 1) / chords
            to[system.moving] = turned(Q[system.moving], part * way, part * turn)
            to = put(to) if len(system.reduction.equations) else to
            p = to.ravel() - at if system.vertices is None else _ahead(system, x, to, part * ways[0]) - at
            if problem.reach(at, p) < 1.0:
                break
            at = at + p
            if (value := problem.value(at)) < least:
                best, least = at, value
        if best is not x:
            break
    return best


def _ahead(system: AffineSystem, x: np.ndarray, Q: np.ndarray, way: np.ndarray) -> np.ndarray:
    """x with bodies at Q, and free vertices further by their ways (n, 3)."""
    assert system.vertices is not None
    out, v = x.copy(), system.vertices
    system.bodies_of(out)[:] = Q
    v.of(out)[v.free] += way
    return v.placed(out)
