"""Nonsmooth Newton for few contacts, in one kernel: the method of `contact_newton` on a dense W, from scaling to residual.

    λ = D x,  û = Ŵ x + b̂,  Ŵ = D W D          (`contact_units`)
    [A + B (Ŵ + ε)] d = −F(x, û)               (`contact_newton`, `contact_maps`)

A robot that stands has some ten contacts, and a step of it takes two or three of Newton's: what costs there is every call from Python, not
the arithmetic. The kernel does the usual case and gives up where it ends: where a step is not shorter than its line search allows, or after
`iterations`. What then helps (sweeps, convex problems, other methods) is the business of `contacts`.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact_maps import alart_curnier
from unibody.algebra.contact_newton import FALLING, HALVINGS, LARGEST, LEAST, SUFFICIENT, fill_matrix, through
from unibody.algebra.contact_sweeps import CONVEX, COULOMB, natural_map
from unibody.algebra.contact_units import AT_MOST, ROUND_OFF
from unibody.algebra.dense import solve_pivoted
from unibody.kernel import Floats, Ints, device, kernel

COULOMB_FALLS, CONVEX_FALLS = FALLING[COULOMB][0], FALLING[CONVEX][0]

RESIDUAL, STEPS, CONVERGED = range(3)
"""What `facts_out` holds: the residual's velocity, Newton's steps, and whether the laws hold."""


@device
def scale_rows(rows, lower, upper, friction, W, b, start_out, keep_out, D_out, b_out, lower_out, upper_out):
    """D, b̂, bounds, and which rows are kept (tangents without friction are not); gives how many."""
    m, n, at, usual = b.size, 0, 0, 0.0
    for k in range(rows.size):
        # g, the largest diagonal of the block with the coefficients multiplied in, stands in its first D for now
        start_out[k] = n
        largest = 0.0
        for r in range(rows[k]):
            factor = 1.0 if r == 0 else friction[3 * k + r - 1]
            if factor > 0.0:
                keep_out[n] = at + r
                D_out[n] = factor
                largest = max(largest, factor * factor * W[(at + r) * m + at + r])
                n += 1
        lower_out[k] = largest
        usual = max(usual, largest)
        at += rows[k]
    start_out[rows.size] = n
    if usual == 0.0:
        usual = 1.0
    for k in range(rows.size):
        g = lower_out[k] if lower_out[k] > 1e-30 * usual else usual
        for i in range(start_out[k], start_out[k + 1]):
            D_out[i] /= math.sqrt(g)
            b_out[i] = D_out[i] * b[keep_out[i]]
        first = D_out[start_out[k]]
        lower_out[k], upper_out[k] = lower[k] / first, upper[k] / first
    return n


@device
def velocity(n, W, b, x, u_out):
    """û = Ŵ x + b̂."""
    for i in range(n):
        found = b[i]
        for j in range(n):
            found += W[i * n + j] * x[j]
        u_out[i] = found


@device
def square(n, F):
    found = 0.0
    for i in range(n):
        found += F[i] * F[i]
    return found


@device
def missed_by(n, law, start, lower, upper, x, u, D, F_out):
    """The residual's velocity: the largest of the natural map, divided by D."""
    natural_map(law, start, lower, upper, x, u, F_out)
    worst = 0.0
    for i in range(n):
        worst = max(worst, abs(F_out[i]) / D[i])
    return worst


@device
def round_off(n, W, b, x, D):
    """What round-off alone may leave in the residual's velocity; never more than a small part of the velocities given."""
    most, given = 0.0, 0.0
    for i in range(n):
        terms = abs(b[i])
        for j in range(n):
            terms += abs(W[i * n + j] * x[j])
        most = max(most, terms / D[i])
        given = max(given, abs(b[i]) / D[i])
    return min(ROUND_OFF * most, AT_MOST * given)


@kernel
def newton_small(
    law: int, tolerance: float, iterations: int, rows: Ints, lower: Floats, upper: Floats, friction: Floats, W: Floats, b: Floats,
    warm: Floats, impulse_out: Floats, velocity_out: Floats, facts_out: Floats,
) -> None:  # fmt: skip
    """Impulses λ and velocities W λ + b from a warm start, W (m × m) flat, laws as in `Blocks`; `facts_out`: see above."""
    m, blocks = b.size, rows.size
    # the problem in units
    start, keep = np.empty(blocks + 1, np.int64), np.empty(m, np.int64)
    D, c, low, high = np.empty(m), np.empty(m), np.empty(blocks), np.empty(blocks)
    n = scale_rows(rows, lower, upper, friction, W, b, start, keep, D, c, low, high)
    D, c = D[:n], c[:n]
    V, x, u = np.empty(n * n), np.empty(n), np.empty(n)
    for i in range(n):
        x[i] = warm[keep[i]] / D[i]
        for j in range(n):
            V[i * n + j] = D[i] * W[keep[i] * m + keep[j]] * D[j]
    velocity(n, V, c, x, u)
    # where it begins: kept as the best while nothing is better
    F, A, B = np.empty(n), np.empty(16 * blocks), np.empty(16 * blocks)
    best, found = x.copy(), missed_by(n, law, start, low, high, x, u, D, F)
    enough = max(tolerance, round_off(n, V, c, x, D))
    d, moved, coupled, right = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    trial, ahead, G = np.empty(n), np.empty(n), np.empty(n * n)
    pressing, owned = np.empty(blocks, np.int64), np.empty(n, np.int64)
    falls = COULOMB_FALLS if law == COULOMB else CONVEX_FALLS
    steps = 0
    while found > enough and steps < iterations:
        alart_curnier(law, start, low, high, x, u, F, A, B)
        merit = square(n, F)
        # rows of blocks that press; the others are solved at once, d = −F
        presses, size = 0, 0
        for k in range(blocks):
            acts = False
            for i in range(16 * k, 16 * k + 16):
                acts = acts or B[i] != 0.0
            for i in range(start[k], start[k + 1]):
                d[i] = 0.0 if acts else -F[i]
                if acts:
                    owned[size] = i
                    size += 1
            if acts:
                pressing[presses] = k
                presses += 1
        for i in range(n):
            moved[i] = 0.0
            for j in range(n):
                moved[i] += V[i * n + j] * d[j]
        through(start, B, moved, coupled)
        epsilon = max(min(LARGEST, falls * math.sqrt(merit)), LEAST)
        fill_matrix(n, epsilon, start, A, B, V, pressing[:presses], owned[:size], G[: size * size])
        for i in range(size):
            right[i] = -F[owned[i]] - coupled[owned[i]]
        steps += 1
        if not solve_pivoted(size, G, right):
            break
        for i in range(size):
            d[owned[i]] = right[i]
        for i in range(n):
            moved[i] = 0.0
            for j in range(n):
                moved[i] += V[i * n + j] * d[j]
        # the first of t = 1, ½, ¼, … that reduces ‖F‖² enough
        t, shorter = 1.0, False
        for _ in range(HALVINGS):
            for i in range(n):
                trial[i] = x[i] + t * d[i]
                ahead[i] = u[i] + t * moved[i]
            alart_curnier(law, start, low, high, trial, ahead, F, A, B)
            if square(n, F) <= (1.0 - 2.0 * SUFFICIENT * t) * merit:
                shorter = True
                break
            t *= 0.5
        if not shorter:
            break
        for i in range(n):
            x[i] = trial[i]
        velocity(n, V, c, x, u)
        now = missed_by(n, law, start, low, high, x, u, D, F)
        if now < found:
            found = now
            for i in range(n):
                best[i] = x[i]
            enough = max(tolerance, round_off(n, V, c, best, D))
    # back to the problem's own units and rows
    for i in range(m):
        impulse_out[i] = 0.0
    for i in range(n):
        impulse_out[keep[i]] = D[i] * best[i]
    for i in range(m):
        speed = b[i]
        for j in range(m):
            speed += W[i * m + j] * impulse_out[j]
        velocity_out[i] = speed
    facts_out[RESIDUAL], facts_out[STEPS], facts_out[CONVERGED] = found, float(steps), 1.0 if found <= enough else 0.0
