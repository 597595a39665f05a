"""Where the minimisation of a step begins: everything goes on turning and gliding, as long as nothing is in the way and Ψ falls.

    A₀ = exp(h [ω]) A,   t₀ = t + h v      with v, ω of ẋ⁺ = 2 ẋ − ẋ₋₁ (as the last step changed them), else of ẋ

Straight ways of the affine coordinates, x + h ẋ, stretch a body by (h ω)²/2, which Newton's method has to undo while contacts of what turns
are pressed together by it. Along the arc, teeth and pins keep their distances to second order. It is followed in one chord or in a few,
each filtered by collision detection; every point on them is free of intersections, so any may be the start, and that with the least Ψ is.
Vertices go straight on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.incremental_potential import IncrementalPotential

CHORDS = 4
"""Of an arc whose one chord is not free."""


def turned(Q: np.ndarray, V: np.ndarray, h: float) -> np.ndarray:
    """Q (n, 4, 3) after the time h, with constant velocities of the origins and constant ω, that of what is skew in Ȧ A⁻¹.

    >>> Q, V = np.zeros((1, 4, 3)), np.zeros((1, 4, 3))
    >>> Q[0, 1:], V[0, 1:] = np.eye(3), [(0, 1, 0), (-1, 0, 0), (0, 0, 0)]
    >>> (turned(Q, V, np.pi / 2)[0, 1:] + 0.0).round(12).tolist()
    [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    # Rows are the axes a, with ȧ = a W; of W = [ω]ᵀ the angular velocity is ω = (W₁₂, W₂₀, W₀₁).
    axes = Q[:, 1:]
    W = np.linalg.solve(axes, V[:, 1:])
    spin = 0.5 * np.stack([W[:, 1, 2] - W[:, 2, 1], W[:, 2, 0] - W[:, 0, 2], W[:, 0, 1] - W[:, 1, 0]], axis=1)
    speed = np.linalg.norm(spin, axis=1)
    n = spin / np.maximum(speed, 1e-300)[:, None]
    # Rodrigues: a cos θ + n × a sin θ + n (n·a) (1 − cos θ)
    c, s = np.cos(h * speed)[:, None, None], np.sin(h * speed)[:, None, None]
    out = Q.copy()
    out[:, 0] += h * V[:, 0]
    out[:, 1:] = c * axes + s * np.cross(n[:, None], axes) + (1.0 - c) * (axes @ n[:, :, None]) * n[:, None]
    return out


def start_iterate(problem: IncrementalPotential, x: np.ndarray, rates: Sequence[np.ndarray], h: float, still: float) -> np.ndarray:
    """x of all control points, or a better start: the first of the rates (of the unknowns, flat) along which Ψ falls is followed over the
    time h, if any is above `still`: what only trembles starts from where it is."""
    system, Q, put = problem.system, problem.system.bodies_of(x), problem.system.reduction.put
    best, least = x, problem.value(x)
    m = 12 * len(system.moving)
    for v, chords in ((v, chords) for v in rates if np.abs(v).max(initial=0.0) > still for chords in (1, CHORDS)):
        at, V = x, v[:m].reshape(-1, 4, 3)
        for k in range(chords):
            to = Q.copy()
            to[system.moving] = turned(Q[system.moving], V, (k + 1) / chords * h)
            to = put(to) if len(system.reduction.equations) else to
            p = to.ravel() - at if system.vertices is None else _ahead(system, x, to, v[m:], (k + 1) / chords * h) - at
            if problem.reach(at, p) < 1.0:
                break
            at = at + p
            if (value := problem.value(at)) < least:
                best, least = at, value
        if best is not x:
            break
    return best


def _ahead(system: AffineSystem, x: np.ndarray, Q: np.ndarray, speed: np.ndarray, h: float) -> np.ndarray:
    """x with bodies at Q and free vertices, with these speeds, the time h later."""
    assert system.vertices is not None
    out, v = x.copy(), system.vertices
    system.bodies_of(out)[:] = Q
    v.of(out)[v.free] += h * speed.reshape(-1, 3)
    return v.placed(out)
