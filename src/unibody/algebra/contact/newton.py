"""Nonsmooth Newton for contact with friction: Newton's method on a map that is zero exactly at solutions and smooth in pieces.

    F(x, û(x)) = 0,    û = Ŵ x + b̂                 (scaled variables, `scaling`)

in the form of Alart and Curnier (`cones`). With the slopes A = ∂F/∂x and B = ∂F/∂û a step solves

    [A + B (Ŵ + ε)] d = −F

on the rows of the blocks that press (elsewhere B = 0, A = 1, d = −F), and is shortened until ½‖F‖² falls enough. ε > 0 makes the
matrix regular where contacts repeat each other: it is a step of the proximal-point method, and falls with ‖F‖, so that convergence stays
fast. Where no length of step reduces ‖F‖ (the pieces still change), sweeps of Gauss–Seidel take over, then Newton's method is tried again.

`newton` is this method with LAPACK. `newton_small` is it in one kernel, from scaling to residual. A robot that stands has some ten
contacts, and a step of it takes two or three of Newton's: what costs there is every call from Python, not the arithmetic. Where contacts
repeat each other and lie on the edges of their cones, steps go far in directions that change no velocity. So the kernel's equations are
those of a proximal problem, û + ε (x − o) in the place of û, whose centre o follows when it is solved; sweeps go on where no step along
Newton's direction reduces ‖F‖ and ε is large. It gives up after `iterations` steps, or `failures` of that kind; what then helps (convex
problems, other methods) is the business of `solve`.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact.cones import alart_curnier, natural_map
from unibody.algebra.contact.local_solve import fill_local_tables
from unibody.algebra.contact.pgs import sweep_dense, sweep_scaled
from unibody.algebra.contact.problem import CONVEX, COULOMB
from unibody.algebra.contact.scaling import AT_MOST, ROUND_OFF, Progress, ScaledProblem, largest_given, scale_dense
from unibody.algebra.dense import solve_pivoted
from unibody.kernel import Floats, Ints, cut, device, kernel

HALVINGS, SUFFICIENT = 12, 1e-4
"""Of a step's length, at most; and the part of what the slope of ½‖F‖² promises that it has to fall by."""
LARGEST, LEAST = 1e-3, 1e-8
FALLING = {COULOMB: (1e-4, 1e-6, 1e-2), CONVEX: (1e-2, 1e-3, 1e-4)}
"""ε: its limits, and the part of ‖F‖ that it is between them, at first and after each failure (as tried on towers and piles). Round-off, of
which ε lets 1 / ε through where contacts repeat each other, moves the loads under a face that lands by 1e-8 of them, and not by 1e-4."""
COULOMB_FALLS, CONVEX_FALLS = FALLING[COULOMB], FALLING[CONVEX]
FIRST_SWEEPS, MOST_SWEEPS, FAILURES = 12, 512, 16
"""Sweeps before the first step, the most between two, and how often Newton's method may be resumed."""

GROW, MOST, NEAR, MOST_INNER = 100.0, 1e-2, 1e-2, 20
"""The kernel's proximal problems: where one is not solved in MOST_INNER steps ε grows so much, up to MOST, and falls as much where one is:
where ‖F‖² is a part NEAR of what it began with."""

RESIDUAL, STEPS, CONVERGED = range(3)
"""What `facts_out` holds: the residual's velocity, Newton's steps, and whether the laws hold."""


@kernel
def fill_matrix(size: int, epsilon: float, start: Ints, A: Floats, B: Floats, W: Floats, pressing: Ints, rows: Ints, G_out: Floats) -> None:
    """A + B (Ŵ + ε) on the rows of the pressing blocks; `size`: of Ŵ."""
    n = rows.size
    i = 0
    for b in range(pressing.size):
        k = pressing[b]
        at, count = start[k], start[k + 1] - start[k]
        first = i
        for r in range(count):
            for j in range(n):
                G_out[i * n + j] = 0.0
            for c in range(count):
                s = B[16 * k + 4 * r + c]
                if s != 0.0:
                    row = (at + c) * size
                    for j in range(n):
                        G_out[i * n + j] += s * W[row + rows[j]]
                G_out[i * n + first + c] += A[16 * k + 4 * r + c] + s * epsilon
            i += 1


@kernel
def times_blocks(start: Ints, B: Floats, v: Floats, y_out: Floats) -> None:
    """B v."""
    for k in range(start.size - 1):
        at, count = start[k], start[k + 1] - start[k]
        for r in range(count):
            y = 0.0
            for c in range(count):
                y += B[16 * k + 4 * r + c] * v[at + c]
            y_out[at + r] = y


def newton_direction(scaled: ScaledProblem, F: np.ndarray, A: np.ndarray, B: np.ndarray, epsilon: float) -> np.ndarray:
    """d with [A + B (Ŵ + ε)] d = −F; not finite where the equations have no solution."""
    acts = B.reshape(-1, 16).any(axis=1)
    pressing, rows = np.flatnonzero(acts), np.flatnonzero(acts[scaled.owner])
    # blocks that do not press: d = −F; what that moves goes to the right-hand side
    d = -F
    if not rows.size:
        return d
    d[rows] = 0.0
    coupled, G = np.empty(scaled.size), np.empty(rows.size**2)
    times_blocks(scaled.start, B, scaled.W @ d, coupled)
    right = -F[rows] - coupled[rows]
    fill_matrix(scaled.size, epsilon, scaled.start, A, B, scaled.W.ravel(), pressing, rows, G)
    try:
        d[rows] = np.linalg.solve(G.reshape(rows.size, -1), right)
    except np.linalg.LinAlgError:
        d[rows] = np.nan
    return d


def newton(
    scaled: ScaledProblem, x: np.ndarray, tolerance: float, iterations: int, failures: int = FAILURES, first: int = FIRST_SWEEPS
) -> Progress:
    """From x, after the first sweeps; given up after so many failures of the line search."""
    best = Progress(x.copy())
    F, A, B = np.empty(scaled.size), np.empty(16 * scaled.rows.size), np.empty(16 * scaled.rows.size)
    swept, failed, sweeps = 0, 0, FIRST_SWEEPS
    u = scaled.velocity(x)
    if best.offer(scaled, x, u) > tolerance and first:
        swept += sweep_scaled(scaled, x, first)
        u = scaled.velocity(x)
        best.offer(scaled, x, u)
    while best.iterations < iterations and best.velocity > max(tolerance, scaled.round_off(best.x)):
        # a step of Newton's method, with ε of the present ‖F‖
        alart_curnier(scaled.law, scaled.start, scaled.lower, scaled.upper, x, u, F, A, B)
        merit = float(F @ F)
        d = newton_direction(scaled, F, A, B, max(min(LARGEST, FALLING[scaled.law][failed % 3] * np.sqrt(merit)), LEAST))
        best.iterations += 1
        moved = shortened(scaled, x, u, d, merit, F, A, B) if np.isfinite(d).all() else None
        if moved is not None:
            x, u = moved, scaled.velocity(moved)
            best.offer(scaled, x, u)
            continue
        # no length of step does: sweeps, more of them each time
        failed += 1
        if failed > failures:
            break
        swept += sweep_scaled(scaled, x, sweeps)
        sweeps = min(2 * sweeps, MOST_SWEEPS)
        u = scaled.velocity(x)
        best.offer(scaled, x, u)
    best.notes.append(f"{best.iterations} Newton steps, {swept} sweeps")
    return best


def shortened(
    scaled: ScaledProblem, x: np.ndarray, u: np.ndarray, d: np.ndarray, merit: float, F: np.ndarray, A: np.ndarray, B: np.ndarray
) -> np.ndarray | None:
    """x + t d for the first of t = 1, ½, ¼, … that reduces ‖F‖² enough, or None. F, A and B are written."""
    Wd, t = scaled.W @ d, 1.0
    for _ in range(HALVINGS):
        trial = x + t * d
        alart_curnier(scaled.law, scaled.start, scaled.lower, scaled.upper, trial, u + t * Wd, F, A, B)
        if float(F @ F) <= (1.0 - 2.0 * SUFFICIENT * t) * merit:
            return trial
        t *= 0.5
    return None


@device
def add_product(n, W, x, u_out):
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
    add_product(n, W, x, u_out)


@device
def square_of(n, F):
    found = 0.0
    for i in range(n):
        found += F[i] * F[i]
    return found


@device
def residual_velocity(n, law, start, lower, upper, x, u, D, F_out):
    """The residual's velocity: the largest of the natural map, divided by D."""
    natural_map(law, start, lower, upper, x, u, F_out)
    worst = 0.0
    for i in range(n):
        if not abs(x[i]) < math.inf:  # maps clip what is no number, and would find no fault with it
            return math.inf
        worst = max(worst, abs(F_out[i]) / D[i])
    return worst


@device
def round_off(n, W, b, x, D, given, terms_out):
    """What round-off alone may leave in the residual's velocity; never more than a small part of the velocities given."""
    most = 0.0
    for i in range(n):
        terms_out[i] = abs(b[i])
    for j in range(n):
        for i in range(n):
            terms_out[i] += abs(W[j * n + i] * x[j])
    for i in range(n):
        most = max(most, terms_out[i] / D[i])
    return min(ROUND_OFF * most, AT_MOST * given)


@device
def newton_workspace(m, blocks):
    """How many whole numbers and floats `newton_in_workspace` works on, of m rows in so many blocks."""
    return 2 * blocks + 1 + 2 * m, 2 * m * m + 14 * m + 50 * blocks


@kernel
def newton_small(
    law: int, tolerance: float, iterations: int, failures: int, rows: Ints, lower: Floats, upper: Floats, friction: Floats, W: Floats,
    b: Floats, warm: Floats, impulse_out: Floats, velocity_out: Floats, facts_out: Floats,
) -> None:  # fmt: skip
    """Impulses λ and velocities W λ + b from a warm start, W (m × m) flat and symmetric, laws as in `Blocks`; `facts_out`: see above."""
    ints, floats = newton_workspace(b.size, rows.size)
    newton_in_workspace(
        law, tolerance, iterations, failures, rows, lower, upper, friction, W, b, warm, np.empty(ints, np.int64), np.empty(floats),
        impulse_out, velocity_out, facts_out,
    )  # fmt: skip


@kernel
def newton_in_workspace(
    law: int, tolerance: float, iterations: int, failures: int, rows: Ints, lower: Floats, upper: Floats, friction: Floats, W: Floats,
    b: Floats, warm: Floats, ints_out: Ints, work_out: Floats, impulse_out: Floats, velocity_out: Floats, facts_out: Floats,
) -> None:  # fmt: skip
    """What `newton_small` does, on arrays that are given, as large as `newton_workspace` says."""
    m, blocks = b.size, rows.size
    start, keep = cut(ints_out, 0, blocks + 1), cut(ints_out, blocks + 1, m)
    pressing, owned = cut(ints_out, blocks + 1 + m, blocks), cut(ints_out, 2 * blocks + 1 + m, m)
    low, high = cut(work_out, 0, blocks), cut(work_out, blocks, blocks)
    A, B, table = cut(work_out, 2 * blocks, 16 * blocks), cut(work_out, 18 * blocks, 16 * blocks), cut(work_out, 34 * blocks, 16 * blocks)
    at = 50 * blocks
    # the problem in scaled variables
    n = scale_dense(rows, lower, upper, friction, W, b, start, keep, cut(work_out, at, m), cut(work_out, at + m, m), low, high)
    D, c, x, u = cut(work_out, at, n), cut(work_out, at + m, n), cut(work_out, at + 2 * m, n), cut(work_out, at + 3 * m, n)
    F, best, d, moved = (
        cut(work_out, at + 4 * m, n), cut(work_out, at + 5 * m, n), cut(work_out, at + 6 * m, n), cut(work_out, at + 7 * m, n)
    )  # fmt: skip
    coupled, right, trial = cut(work_out, at + 8 * m, n), cut(work_out, at + 9 * m, n), cut(work_out, at + 10 * m, n)
    ahead, centre, pulled = cut(work_out, at + 11 * m, n), cut(work_out, at + 12 * m, n), cut(work_out, at + 13 * m, n)
    V, G = cut(work_out, at + 14 * m, n * n), cut(work_out, at + 14 * m + m * m, n * n)
    for i in range(n):
        x[i] = warm[keep[i]] / D[i]
        for j in range(n):
            V[i * n + j] = D[i] * W[keep[i] * m + keep[j]] * D[j]
    velocity(n, V, c, x, u)
    # where it begins is kept as the best while nothing is better
    found = residual_velocity(n, law, start, low, high, x, u, D, F)
    for i in range(n):
        best[i] = centre[i] = x[i]
    given = largest_given(start, low, c, D)
    enough = max(tolerance, round_off(n, V, c, x, D, given, trial))
    falls = COULOMB_FALLS if law == COULOMB else CONVEX_FALLS
    steps, failed, sweeps, more = 0, 0, FIRST_SWEEPS, 1.0
    epsilon, begun, inner = 0.0, 0.0, 0
    while found > enough and steps < iterations:
        # F of the proximal problem, û + ε (x − o), and a new ε where one begins
        for i in range(n):
            pulled[i] = u[i] + epsilon * (x[i] - centre[i])
        alart_curnier(law, start, low, high, x, pulled, F, A, B)
        merit = square_of(n, F)
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
        # [A + B (Ŵ + ε)] d = −F − B Ŵ d of the others
        moved[:] = 0.0
        add_product(n, V, d, moved)
        times_blocks(start, B, moved, coupled)
        fill_matrix(n, epsilon, start, A, B, V, cut(pressing, 0, presses), cut(owned, 0, size), cut(G, 0, size * size))
        for i in range(size):
            right[i] = -F[owned[i]] - coupled[owned[i]]
        steps += 1
        solved = solve_pivoted(size, G, right)
        for i in range(size):
            d[owned[i]] = right[i]
            solved = solved and abs(right[i]) < math.inf
        moved[:] = 0.0
        add_product(n, V, d, moved)
        # the first of t = 1, ½, ¼, … that reduces ‖F‖² enough
        t, shorter = 1.0, False
        for _ in range(HALVINGS if solved else 0):
            for i in range(n):
                trial[i] = x[i] + t * d[i]
                ahead[i] = pulled[i] + t * (moved[i] + epsilon * d[i])
            alart_curnier(law, start, low, high, trial, ahead, F, A, B)
            if square_of(n, F) <= (1.0 - 2.0 * SUFFICIENT * t) * merit:
                shorter = True
                break
            t *= 0.5
        inner += 1
        if shorter:
            for i in range(n):
                x[i] = trial[i]
            if square_of(n, F) <= NEAR * begun:  # this proximal problem is solved: the next one from here
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
                fill_local_tables(law, n, start, V, table)
            velocity(n, V, c, x, u)
            sweep_dense(law, sweeps, start, low, high, table, V, u, x)
            sweeps *= 2
        # the centre follows; the best x is kept
        if inner == 0:
            for i in range(n):
                centre[i] = x[i]
        velocity(n, V, c, x, u)
        now = residual_velocity(n, law, start, low, high, x, u, D, F)
        if now < found:
            found = now
            for i in range(n):
                best[i] = x[i]
            enough = max(tolerance, round_off(n, V, c, best, D, given, trial))
    # λ = D x in the problem's own rows
    for i in range(m):
        impulse_out[i] = 0.0
    for i in range(n):
        impulse_out[keep[i]] = D[i] * best[i]
    velocity(m, W, b, impulse_out, velocity_out)
    facts_out[RESIDUAL], facts_out[STEPS], facts_out[CONVERGED] = found, float(steps), 1.0 if found <= enough else 0.0
