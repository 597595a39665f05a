"""Nonsmooth Newton for few contacts, in one kernel: the method of `newton` on a dense W, from scaling to residual.

    λ = D x,  û = Ŵ x + b̂,  Ŵ = D W D          (`scaling`)
    [A + B (Ŵ + ε)] d = −F(x, û)               (`newton`, `cones`)

A robot that stands has some ten contacts, and a step of it takes two or three of Newton's: what costs there is every call from Python, not
the arithmetic. Where contacts repeat each other and lie on the edges of their cones, steps go far in directions that change no velocity.
So the equations are those of a proximal problem, û + ε (x − o) in the place of û, whose centre o follows when it is solved. Where no step
along Newton's direction reduces ‖F‖ and ε is large, sweeps go on from there. The kernel gives up after `iterations` steps, or `failures` of
that kind; what then helps (convex problems, other methods) is the business of `contacts`.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact.cones import alart_curnier
from unibody.algebra.contact.newton import FALLING, FIRST_SWEEPS, HALVINGS, LARGEST, LEAST, SUFFICIENT, fill_matrix, through
from unibody.algebra.contact.pgs import CONVEX, COULOMB, LOCAL, natural_map, sweep_dense
from unibody.algebra.contact.pgs_scaling import diagonalise
from unibody.algebra.contact.scaling import AT_MOST, ROUND_OFF
from unibody.algebra.dense import solve_pivoted
from unibody.kernel import Floats, Ints, cut, device, kernel

COULOMB_FALLS, CONVEX_FALLS = FALLING[COULOMB], FALLING[CONVEX]

GROW, MOST, NEAR, MOST_INNER = 100.0, 1e-2, 1e-2, 20
"""Where a proximal problem is not solved in MOST_INNER steps ε grows so much, up to MOST, and falls as much where one is: where ‖F‖² is a
part NEAR of what it began with."""

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
def times(n, W, x, u_out):
    """u += W x, W symmetric: by its rows, so that several sums go on at once."""
    for j in range(n):
        if x[j] != 0.0:
            for i in range(n):
                u_out[i] += W[j * n + i] * x[j]


@device
def velocity(n, W, b, x, u_out):
    """û = Ŵ x + b̂."""
    for i in range(n):
        u_out[i] = b[i]
    times(n, W, x, u_out)


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
        if not abs(x[i]) < math.inf:  # maps clip what is no number, and would find no fault with it
            return math.inf
        worst = max(worst, abs(F_out[i]) / D[i])
    return worst


@device
def round_off(n, W, b, x, D, terms_out):
    """What round-off alone may leave in the residual's velocity; never more than a small part of the velocities given."""
    most, given = 0.0, 0.0
    for i in range(n):
        terms_out[i] = abs(b[i])
    for j in range(n):
        for i in range(n):
            terms_out[i] += abs(W[j * n + i] * x[j])
    for i in range(n):
        most = max(most, terms_out[i] / D[i])
        given = max(given, abs(b[i]) / D[i])
    return min(ROUND_OFF * most, AT_MOST * given)


@kernel
def fill_locals(law: int, n: int, start: Ints, V: Floats, table_out: Floats) -> None:
    """What sweeps read of the blocks' own matrices (`contact_units.local_tables`)."""
    own, axes = np.empty(9), np.empty(9)
    for k in range(start.size - 1):
        at, count = start[k], start[k + 1] - start[k] - 1
        normal, t = V[at * n + at], LOCAL * k
        for m in range(LOCAL):
            table_out[t + m] = 0.0
        table_out[t] = normal
        if count == 0:
            continue
        own[:] = 0.0
        for i in range(count):
            for j in range(count):
                own[3 * i + j] = V[(at + 1 + i) * n + at + 1 + j]
                if law == COULOMB and normal > 0.0:
                    own[3 * i + j] -= V[(at + 1 + i) * n + at] * V[(at + 1 + j) * n + at] / normal
        diagonalise(count, own, axes)
        for j in range(count):
            for i in range(count):
                table_out[t + 1 + j] += axes[3 * i + j] * V[(at + 1 + i) * n + at]
                table_out[t + 7 + 3 * i + j] = axes[3 * i + j]
            table_out[t + 4 + j] = max(own[4 * j], 0.0)


@device
def newton_room(m, blocks):
    """How many whole numbers and floats `newton_in_room` works on, of m rows in so many blocks."""
    return 2 * blocks + 1 + 2 * m, 2 * m * m + 14 * m + 50 * blocks


@kernel
def newton_small(
    law: int, tolerance: float, iterations: int, failures: int, rows: Ints, lower: Floats, upper: Floats, friction: Floats, W: Floats,
    b: Floats, warm: Floats, impulse_out: Floats, velocity_out: Floats, facts_out: Floats,
) -> None:  # fmt: skip
    """Impulses λ and velocities W λ + b from a warm start, W (m × m) flat and symmetric, laws as in `Blocks`; `facts_out`: see above."""
    ints, floats = newton_room(b.size, rows.size)
    newton_in_room(
        law, tolerance, iterations, failures, rows, lower, upper, friction, W, b, warm, np.empty(ints, np.int64), np.empty(floats),
        impulse_out, velocity_out, facts_out,
    )  # fmt: skip


@kernel
def newton_in_room(
    law: int, tolerance: float, iterations: int, failures: int, rows: Ints, lower: Floats, upper: Floats, friction: Floats, W: Floats,
    b: Floats, warm: Floats, whole_out: Ints, room_out: Floats, impulse_out: Floats, velocity_out: Floats, facts_out: Floats,
) -> None:  # fmt: skip
    """The same in room that is given, as `newton_room` says."""
    m, blocks = b.size, rows.size
    start, keep = cut(whole_out, 0, blocks + 1), cut(whole_out, blocks + 1, m)
    pressing, owned = cut(whole_out, blocks + 1 + m, blocks), cut(whole_out, 2 * blocks + 1 + m, m)
    low, high = cut(room_out, 0, blocks), cut(room_out, blocks, blocks)
    A, B, table = cut(room_out, 2 * blocks, 16 * blocks), cut(room_out, 18 * blocks, 16 * blocks), cut(room_out, 34 * blocks, 16 * blocks)
    at = 50 * blocks
    # the problem in units
    n = scale_rows(rows, lower, upper, friction, W, b, start, keep, cut(room_out, at, m), cut(room_out, at + m, m), low, high)
    D, c, x, u = cut(room_out, at, n), cut(room_out, at + m, n), cut(room_out, at + 2 * m, n), cut(room_out, at + 3 * m, n)
    F, best, d, moved = (
        cut(room_out, at + 4 * m, n), cut(room_out, at + 5 * m, n), cut(room_out, at + 6 * m, n), cut(room_out, at + 7 * m, n)
    )  # fmt: skip
    coupled, right, trial = cut(room_out, at + 8 * m, n), cut(room_out, at + 9 * m, n), cut(room_out, at + 10 * m, n)
    ahead, centre, pulled = cut(room_out, at + 11 * m, n), cut(room_out, at + 12 * m, n), cut(room_out, at + 13 * m, n)
    V, G = cut(room_out, at + 14 * m, n * n), cut(room_out, at + 14 * m + m * m, n * n)
    for i in range(n):
        x[i] = warm[keep[i]] / D[i]
        for j in range(n):
            V[i * n + j] = D[i] * W[keep[i] * m + keep[j]] * D[j]
    velocity(n, V, c, x, u)
    # where it begins: kept as the best while nothing is better
    found = missed_by(n, law, start, low, high, x, u, D, F)
    for i in range(n):
        best[i] = centre[i] = x[i]
    enough = max(tolerance, round_off(n, V, c, x, D, trial))
    falls = COULOMB_FALLS if law == COULOMB else CONVEX_FALLS
    steps, failed, sweeps, more = 0, 0, FIRST_SWEEPS, 1.0
    epsilon, begun, inner = 0.0, 0.0, 0
    while found > enough and steps < iterations:
        for i in range(n):
            pulled[i] = u[i] + epsilon * (x[i] - centre[i])
        alart_curnier(law, start, low, high, x, pulled, F, A, B)
        merit = square(n, F)
        if inner == 0:
            begun, epsilon = merit, min(more * max(min(LARGEST, falls[failed % 3] * math.sqrt(merit)), LEAST), MOST)
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
        moved[:] = 0.0
        times(n, V, d, moved)
        through(start, B, moved, coupled)
        fill_matrix(n, epsilon, start, A, B, V, cut(pressing, 0, presses), cut(owned, 0, size), cut(G, 0, size * size))
        for i in range(size):
            right[i] = -F[owned[i]] - coupled[owned[i]]
        steps += 1
        solved = solve_pivoted(size, G, right)
        for i in range(size):
            d[owned[i]] = right[i]
            solved = solved and abs(right[i]) < math.inf
        moved[:] = 0.0
        times(n, V, d, moved)
        # the first of t = 1, ½, ¼, … that reduces ‖F‖² enough
        t, shorter = 1.0, False
        for _ in range(HALVINGS if solved else 0):
            for i in range(n):
                trial[i] = x[i] + t * d[i]
                ahead[i] = pulled[i] + t * (moved[i] + epsilon * d[i])
            alart_curnier(law, start, low, high, trial, ahead, F, A, B)
            if square(n, F) <= (1.0 - 2.0 * SUFFICIENT * t) * merit:
                shorter = True
                break
            t *= 0.5
        inner += 1
        if shorter:
            for i in range(n):
                x[i] = trial[i]
            if square(n, F) <= NEAR * begun:  # this proximal problem is solved: the next one from here
                inner, more = 0, max(1.0, more / GROW)
            elif inner == MOST_INNER:
                inner, more = 0, more * GROW
        elif epsilon < MOST and solved:  # an easier one, from here
            inner, more = 0, more * GROW
        else:  # no step does: sweeps from here
            inner, more = 0, 1.0
            failed += 1
            if failed > failures:
                break
            if failed == 1:
                fill_locals(law, n, start, V, table)
            velocity(n, V, c, x, u)
            sweep_dense(law, sweeps, 1.0, 0, 0.0, start, low, high, table, V, u, x)
            sweeps *= 2
        if inner == 0:
            for i in range(n):
                centre[i] = x[i]
        velocity(n, V, c, x, u)
        now = missed_by(n, law, start, low, high, x, u, D, F)
        if now < found:
            found = now
            for i in range(n):
                best[i] = x[i]
            enough = max(tolerance, round_off(n, V, c, best, D, trial))
    # back to the problem's own units and rows
    for i in range(m):
        impulse_out[i] = 0.0
    for i in range(n):
        impulse_out[keep[i]] = D[i] * best[i]
    velocity(m, W, b, impulse_out, velocity_out)
    facts_out[RESIDUAL], facts_out[STEPS], facts_out[CONVERGED] = found, float(steps), 1.0 if found <= enough else 0.0
