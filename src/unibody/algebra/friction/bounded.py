"""Friction whose bounds are known: the projection that staggered projections repeat (paper 000, Eq. 12).

    minimise ½ uᵀ H u + sᵀ u,   |u_k| ≤ b_k

over blocks u_k of one number, or of two (a disc). Single numbers are found exactly, by guesses at which of them are at their bounds:
compiled, else by least squares, else by an interior point. Discs are swept over.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from unibody.algebra.dense import factor_cholesky, solve_cholesky
from unibody.kernel import Floats, Ints, device, kernel

EXACT = 1e-12
"""Part of the bounds by which a friction may miss its conditions to count as solved."""

ROUGH = 1e-7
"""The same where the exact solution was not found: beyond this it is not solved."""

ACTIVE_TURNS = 30
"""Most guesses at what is free."""

SWEEPS = 5000
"""Most sweeps of Gauss–Seidel."""

SHIFT, REFINEMENTS = 1e-9, 4
"""Where H is singular for what is free: the part of its largest diagonal that is added to all, and how often what that spoils is mended,
which leads to the least change that stops the slip."""


def solve_friction(H: np.ndarray, s: np.ndarray, widths: np.ndarray, bounds: np.ndarray, u: np.ndarray) -> np.ndarray:
    """minimise ½ uᵀ H u + sᵀ u with |u_k| ≤ b_k, from the guess u: exactly where all blocks are single numbers, else by Gauss–Seidel."""
    if not u.size:
        return np.array(u)
    if (widths == 1).all():
        x, scratch = np.array(u, float), np.empty(singles_scratch(u.size))
        flat = np.ascontiguousarray(H, float).ravel()
        if solve_single_rows(np.ascontiguousarray(bounds, float), flat, np.ascontiguousarray(s, float), scratch, x):
            return x
        x = _active_set(H, s, bounds, u)
        if friction_residual(H, s, bounds, x) <= EXACT:
            return x
        inner = _interior_point(H, s, bounds)
        candidates = [x, inner, _active_set(H, s, bounds, inner)]
        x = min(candidates, key=lambda y: friction_residual(H, s, bounds, y))
        if friction_residual(H, s, bounds, x) <= ROUGH:
            return x
    else:
        x = np.array(u)
    start = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    sweep_friction(start, np.ascontiguousarray(bounds, float), np.ascontiguousarray(H, float).ravel(), s, EXACT, SWEEPS, x)
    return x


def singles_scratch(m: int) -> int:
    """Numbers that `solve_single_rows` needs besides, for m unknowns."""
    return m * m + 4 * m


@kernel
def solve_single_rows(bounds: Floats, H: Floats, s: Floats, scratch_out: Floats, u_out: Floats) -> bool:
    """Single numbers, from the guess u, H as it is or, where that does not do, with the slight shift. False, with some u, if neither
    leads to a solution."""
    m = u_out.size
    first = scratch_out[m * m + 3 * m : m * m + 4 * m]
    for k in range(m):
        first[k] = u_out[k]
    if guess_sides(bounds, H, s, 0.0, scratch_out, u_out):
        return True
    largest = 0.0
    for k in range(m):
        u_out[k] = first[k]
        largest = max(largest, H[m * k + k])
    return guess_sides(bounds, H, s, SHIFT * largest, scratch_out, u_out)


@kernel
def guess_sides(bounds: Floats, H: Floats, s: Floats, shift: float, scratch_out: Floats, u_out: Floats) -> bool:
    """What is free, at its lower or at its upper bound by the last guess, then the free ones so that their slip stops, until nothing
    changes. False if that is no solution."""
    m = u_out.size
    A = scratch_out[: m * m]
    x = scratch_out[m * m : m * m + m]
    side = scratch_out[m * m + m : m * m + 2 * m]
    numbers = scratch_out[m * m + 2 * m : m * m + 3 * m]
    largest = 0.0
    for k in range(m):
        largest = max(largest, bounds[k])
        u_out[k] = min(max(u_out[k], -bounds[k]), bounds[k])
    # the guess: a number whose aim is beyond its bound is held there, the others are free
    for turn in range(ACTIVE_TURNS):
        changed = turn == 0
        for k in range(m):
            aim = aim_of(k, H, s, u_out)
            x[k] = 1.0 if aim > bounds[k] else -1.0 if aim < -bounds[k] else 0.0
            if x[k] != side[k]:
                changed = True
        if not changed:
            break
        # what is held goes to its bound, what is free is numbered
        free = 0
        for k in range(m):
            side[k] = x[k]
            if side[k] != 0.0:
                u_out[k] = side[k] * bounds[k]
            else:
                numbers[free] = k
                free += 1
        # the free ones: H_ff Δu = −slip, refined where H was shifted
        for a in range(free):
            row = m * int(numbers[a])
            for b in range(a, free):
                A[free * a + b] = H[row + int(numbers[b])]
            A[free * a + a] += shift
        if factor_cholesky(free, A) >= 0:
            return False
        for _ in range(REFINEMENTS if shift > 0.0 else 1):
            for a in range(free):
                x[a] = slip_of(int(numbers[a]), H, s, u_out)
            solve_cholesky(free, A, x)
            for a in range(free):
                u_out[int(numbers[a])] -= x[a]
    # the conditions u = clip(aim), judged by the largest bound
    wrong = 0.0
    for k in range(m):
        u_out[k] = min(max(u_out[k], -bounds[k]), bounds[k])
    for k in range(m):
        wrong = max(wrong, abs(u_out[k] - min(max(aim_of(k, H, s, u_out), -bounds[k]), bounds[k])))
    return wrong <= EXACT * (largest if largest > 0.0 else 1.0)


@device
def slip_of(k, H, s, u):
    """Row k of s + H u."""
    total = s[k]
    for j in range(u.size):
        total += H[u.size * k + j] * u[j]
    return total


@device
def aim_of(k, H, s, u):
    """Where the number k would go to stop its own slip."""
    own = H[u.size * k + k]
    return u[k] - slip_of(k, H, s, u) / (own if own > 0.0 else 1.0)


def _active_set(H: np.ndarray, s: np.ndarray, b: np.ndarray, u: np.ndarray) -> np.ndarray:
    """What is free, at its lower or at its upper bound by the last guess; then the least change of the free ones that stops their slip;
    until nothing changes. Where H is singular it may miss bounds, which is for the caller to see."""
    scale = np.diag(H).copy()
    scale[scale <= 0.0] = 1.0
    u = np.clip(u, -b, b)
    side = np.zeros(u.size, int)
    for turn in range(ACTIVE_TURNS):
        aim = u - (s + H @ u) / scale
        new = np.where(aim > b, 1, np.where(aim < -b, -1, 0))
        if turn > 0 and (new == side).all():
            break
        side = new
        u = np.where(side == 0, u, side * b)
        free = side == 0
        if free.any():
            u[free] -= np.linalg.lstsq(H[np.ix_(free, free)], (s + H @ u)[free], rcond=1e-12)[0]
    return np.clip(u, -b, b)


def friction_residual(H: np.ndarray, s: np.ndarray, b: np.ndarray, u: np.ndarray) -> float:
    """How far single numbers u are from u = clip(u − slip / H_kk), as a part of the largest bound."""
    scale = np.diag(H).copy()
    scale[scale <= 0.0] = 1.0
    return float(np.abs(u - np.clip(u - (s + H @ u) / scale, -b, b)).max(initial=0.0)) / (float(b.max(initial=0.0)) or 1.0)


def _interior_point(H: np.ndarray, s: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By PIQP, in units of the bounds."""
    import piqp

    solver = piqp.DenseSolver()
    solver.settings.verbose = False
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-12
    scaled, right = H * np.outer(b, b), s * b
    size = max(float(np.abs(scaled).max(initial=0.0)), float(np.abs(right).max(initial=0.0))) or 1.0
    solver.setup(np.ascontiguousarray(scaled / size), right / size, x_l=-np.ones(b.size), x_u=np.ones(b.size))
    solver.solve()
    x = np.array(solver.result.x)
    return b * np.clip(np.where(np.isfinite(x), x, 0.0), -1.0, 1.0)


@kernel
def sweep_friction(start: Ints, bounds: Floats, H: Floats, s: Floats, tolerance: float, most: int, u_out: Floats) -> int:
    """Projected Gauss–Seidel over blocks of one or two numbers; returns the sweeps taken."""
    m = u_out.size
    largest = 0.0
    for k in range(bounds.size):
        largest = max(largest, bounds[k])
    for sweep in range(most):
        moved = 0.0
        for k in range(bounds.size):
            a = start[k]
            two = start[k + 1] - a == 2
            g0 = s[a]
            g1 = s[a + 1] if two else 0.0
            for j in range(m):
                g0 += H[m * a + j] * u_out[j]
                if two:
                    g1 += H[m * (a + 1) + j] * u_out[j]
            if two:
                h00, h01, h11 = H[m * a + a], H[m * a + a + 1], H[m * (a + 1) + a + 1]
                step = 0.5 * (h00 + h11) + sqrt(0.25 * (h00 - h11) * (h00 - h11) + h01 * h01)
            else:
                step = H[m * a + a]
            old0 = u_out[a]
            old1 = u_out[a + 1] if two else 0.0
            new0 = old0 - g0 / step if step > 0.0 else -g0
            new1 = old1 - g1 / step if step > 0.0 else -g1
            size = sqrt(new0 * new0 + new1 * new1)
            if size > bounds[k] or (step <= 0.0 and size > 0.0):  # what nothing moves pushes as hard as it may
                new0 *= bounds[k] / size
                new1 *= bounds[k] / size
            u_out[a] = new0
            if two:
                u_out[a + 1] = new1
            moved = max(moved, abs(new0 - old0), abs(new1 - old1))
        if moved <= tolerance * largest:
            return sweep + 1
    return most
