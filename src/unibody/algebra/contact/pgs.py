"""Projected (block) Gauss–Seidel with Nesterov's acceleration: PGS over W in factors, and plain sweeps over a dense W.

In scaled variables (`scaling`: λ = D x, û = D u, every cone ‖x_t‖ ≤ x_n) a sweep x⁺ = S(x) solves each block exactly in its turn
(`local_solve`); the motion m = Y x of the islands follows at once. Sweeps alone creep where loads have far to go, as down a pile. So one
sweep is taken for the step of a gradient method, and the next begins from an extrapolation, as Nesterov's does:

    x⁺ = S(y),    y⁺ = x⁺ + β (x⁺ − x),    β = min((t − 1) / t⁺, FASTEST),    t⁺ = (1 + √(1 + 4 t²)) / 2

It restarts, t = 1, where x⁺ − y turns against x⁺ − x, or has grown. Where it does harm all the same (friction that slides is no gradient),
it pauses, twice as long each time. A sweep extrapolates each block itself where it meets it, so that x and what it was before pass through
memory once; motions, which every block reads, are extrapolated before.

What is returned comes from the end of a sweep, so that every impulse lies in its cone; the residual is that of velocities computed afresh
from the impulses, or, of less than CHECK sweeps, in which little round-off gathers, as these leave them. A residual costs as much as a
sweep. It is computed every CHECK sweeps, where a sweep itself says that it has nearly nothing left to do, and at the end; before the first
sweep only where more sweeps than these are allowed.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact.cones import cone_residual, interval_residual, load_block
from unibody.algebra.contact.delassus import DelassusFactors, gather
from unibody.algebra.contact.local_solve import INVERSE, LOWER, PACE, TABLE, UPPER, solve_block, solve_packed_convex, solve_packed_coulomb
from unibody.algebra.contact.pgs_packing import pack_blocks, unpack_impulses
from unibody.algebra.contact.problem import CONVEX, LAWS, Blocks, Law, Residual, Solution
from unibody.algebra.contact.scaling import AT_MOST, ROUND_OFF, ScaledProblem, given_speed

from unibody.algebra.contact.pgs_layout import (  # isort: skip
    AXES, AXES_OWN, B_OWN, BEST, BODIES, D_OWN, DATA, FIRST, FIRST_SIZE, GENERAL, J_OWN, LAST, MOTION, MOTION_BEST, MOTION_FREE,
    MOTION_LAST, MOVED, RECORD, ROW, ROWS, SLOTS, STORAGE, TABLES, UNIT_BODIES, X, Y_OWN, apply_impulse, block_velocity, lay_out_blocks,
    lay_out_workspace, padded, padding, row_length, scratch, stored,
)  # fmt: skip
from unibody.arena import part
from unibody.kernel import Floats, Ints, device, inlined, kernel

FASTEST, GROWS = 0.9, 1.5
"""The largest β; by how much ‖x⁺ − y‖² may grow before acceleration restarts."""
HARM = 2.0
"""By how much the residual may grow from check to check before acceleration pauses."""
CHECK = 16
"""Sweeps between two residuals, at most."""
FACTS = 5
RESIDUAL, CONVERGED, IMPULSE_RESIDUAL, LARGEST, AGREEMENT = range(FACTS)
"""What kernels tell besides: the residual in units of velocity, whether it is small enough, the residual in units of impulse; the largest
of what the last function looked at; (x⁺ − y) · (x⁺ − x)."""


@device
def nesterov_momentum(size, agreement, smallest, speed):
    """After a sweep that changed x by ‖x⁺ − y‖² = size, with (x⁺ − y) · (x⁺ − x) = agreement: the smallest size, t, and β of the next."""
    if size > GROWS * smallest or agreement < 0.0:
        speed, smallest = 1.0, size
    faster = 0.5 + math.sqrt(0.25 + speed * speed)
    return min(smallest, size), faster, min((speed - 1.0) / faster, FASTEST)


@device
def extrapolate(beta, now_out, last_out):
    """`now` is kept as the last one, and goes on by β times what it has changed."""
    for i in range(now_out.size):
        now = now_out[i]
        if beta > 0.0:
            now_out[i] = now + beta * (now - last_out[i])
        last_out[i] = now


@kernel
def motion_of(record: Ints, J: Floats, Y: Floats, x: Floats, motion_out: Floats) -> None:
    """m = Y x."""
    motion_out[:] = 0.0
    for c in range(0, record.size, RECORD):
        x0, x1, x2, x3 = load_block(record[c + ROWS], record[c + ROW], x)
        if x0 != 0.0 or x1 != 0.0 or x2 != 0.0 or x3 != 0.0:
            apply_impulse(c, record, J, Y, x0, x1, x2, x3, motion_out)


@kernel
def residual(
    law: int, record: Ints, D: Floats, table: Floats, axes: Floats, J: Floats, b: Floats, x: Floats, motion: Floats, facts_out: Floats
) -> float:
    """The residual, in units of velocity, at x with its motion. The LARGEST fact: the residual in units of impulse."""
    worst, most = 0.0, 0.0
    for k in range(record.size // RECORD):
        c, t = RECORD * k, TABLE * k
        at, rows = record[c + ROW], record[c + ROWS]
        u0, u1, u2, u3 = block_velocity(c, record, J, b, motion)
        x0, x1, x2, x3 = load_block(rows, at, x)
        if rows == 1:
            f0 = abs(interval_residual(x0, u0, table[t + LOWER], table[t + UPPER]))
            worst, most = max(worst, f0 / D[at]), max(most, f0 * D[at])
            continue
        f0, f1, f2, f3 = cone_residual(law, x0, x1, x2, x3, u0, u1, u2, u3)
        f0 = abs(f0)
        worst, most = max(worst, f0 / D[at]), max(most, f0 * D[at])
        if f1 == 0.0 and f2 == 0.0 and f3 == 0.0:
            continue
        for r in range(1, rows):
            v = AXES * k + 3 * (r - 1)
            f = abs(axes[v] * f1 + axes[v + 1] * f2 + axes[v + 2] * f3)
            if D[at + r] > 0.0:
                worst, most = max(worst, f / D[at + r]), max(most, f * D[at + r])
    facts_out[LARGEST] = most
    return worst


@kernel
def largest_asked(record: Ints, D: Floats, table: Floats, b: Floats) -> float:
    """The largest velocity that the laws have to deal with (`scaling.given_speed`)."""
    most = 0.0
    for k in range(record.size // RECORD):
        at, rows = record[RECORD * k + ROW], record[RECORD * k + ROWS]
        one_sided = rows > 1 or table[TABLE * k + LOWER] >= 0.0
        for r in range(rows):
            if D[at + r] > 0.0:
                most = max(most, given_speed(b[at + r], one_sided and r == 0) / D[at + r])
    return most


@kernel
def round_off(record: Ints, D: Floats, J: Floats, Y: Floats, b: Floats, x: Floats, given: float, motion_out: Floats) -> float:
    """What round-off alone may leave in the residual; never more than a small part of the velocities given."""
    # Σ |Y x| of the islands
    motion_out[:] = 0.0
    for c in range(0, record.size, RECORD):
        at, rows, p, on_bodies = record[c + ROW], record[c + ROWS], record[c + DATA], record[c + STORAGE] != GENERAL
        response = J if record[c + STORAGE] == UNIT_BODIES else Y
        n = row_length(c, record)
        for side in range(2):
            begin, size = record[c + FIRST + 2 * side], record[c + FIRST_SIZE + 2 * side]
            for i in range(size):
                q = p + i + (0 if on_bodies else padding(size, i))
                for r in range(rows):
                    motion_out[begin + i + padding(size, i)] += abs(response[q + n * r] * x[at + r])
            p += size if on_bodies else padded(size)
    # Σ |J| |Y x| + |b̂| of the rows
    worst = 0.0
    for c in range(0, record.size, RECORD):
        at, rows, on_bodies = record[c + ROW], record[c + ROWS], record[c + STORAGE] != GENERAL
        n = row_length(c, record)
        by_row, by_velocity = (1, rows) if record[c + STORAGE] == BODIES else (n, 1)
        for r in range(rows):
            if D[at + r] <= 0.0:
                continue
            total = abs(b[at + r])
            p = record[c + DATA] + by_row * r
            for side in range(2):
                begin, size = record[c + FIRST + 2 * side], record[c + FIRST_SIZE + 2 * side]
                for i in range(size):
                    total += abs(J[p + by_velocity * (i if on_bodies else i + padding(size, i))]) * motion_out[begin + i + padding(size, i)]
                p += by_velocity * (size if on_bodies else padded(size))
            worst = max(worst, total / D[at + r])
    return min(ROUND_OFF * worst, AT_MOST * given)


@kernel
def sweep(
    law: int, beta: float, record: Ints, table: Floats, J: Floats, Y: Floats, b: Floats, motion_out: Floats, x_out: Floats,
    last_out: Floats, facts_out: Floats,
) -> float:  # fmt: skip
    """One sweep over all blocks, each of which is first extrapolated by β: ‖Δx‖². `last`: what they were, and become x. The LARGEST fact:
    about the square of the largest velocity that it took away."""
    change, fastest, agreement = 0.0, 0.0, 0.0
    for k in range(record.size // RECORD):
        c, t = RECORD * k, TABLE * k
        at, rows = record[c + ROW], record[c + ROWS]
        u0, u1, u2, u3 = block_velocity(c, record, J, b, motion_out)
        # y = x + β (x − last)
        x0, x1, x2, x3 = w0, w1, w2, w3 = load_block(rows, at, x_out)
        if beta > 0.0:
            v0, v1, v2, v3 = load_block(rows, at, last_out)
            x0, x1, x2, x3 = w0 + beta * (w0 - v0), w1 + beta * (w1 - v1), w2 + beta * (w2 - v2), w3 + beta * (w3 - v3)
        store_block(rows, at, w0, w1, w2, w3, last_out)
        # the local solve
        s1, s2, s3 = 0.0, 0.0, 0.0
        if rows == 1:
            l = min(max(x0 - u0 * table[t + INVERSE], table[t + LOWER]), table[t + UPPER])
        elif law == CONVEX:
            l, s1, s2, s3 = solve_packed_convex(t, table, x0, x1, x2, x3, u0, u1, u2, u3)
        elif x0 == 0.0 and u0 >= 0.0 and x1 == 0.0 and x2 == 0.0 and x3 == 0.0:
            l = 0.0
        else:
            l, s1, s2, s3 = solve_packed_coulomb(t, table, x0, x1, x2, x3, u0, u1, u2, u3)
        # what it changes, m += Y d, and what acceleration asks of it
        d0, d1, d2, d3 = l - x0, s1 - x1, s2 - x2, s3 - x3
        size = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        store_block(rows, at, l, s1, s2, s3, x_out)
        if size == 0.0:
            continue
        change += size
        agreement += d0 * (l - w0) + d1 * (s1 - w1) + d2 * (s2 - w2) + d3 * (s3 - w3)
        fastest = max(fastest, size * table[t + PACE])
        apply_impulse(c, record, J, Y, d0, d1, d2, d3, motion_out)
    facts_out[LARGEST], facts_out[AGREEMENT] = fastest, agreement
    return change


@inlined
def store_block(rows, at, x0, x1, x2, x3, x_out):
    """What `load_block` reads."""
    x_out[at] = x0
    if rows > 1:
        x_out[at + 1] = x1
    if rows > 2:
        x_out[at + 2] = x2
    if rows > 3:
        x_out[at + 3] = x3


@kernel
def iterate(law: int, most: int, tolerance: float, record: Ints, layout: Ints, work_out: Floats, facts_out: Floats) -> int:
    """Up to `most` sweeps from x and its motion, fewer where the residual is within the tolerance or round-off; x becomes the best one
    whose residual was computed, with its motion. The number done. The facts: both residuals, and whether they are small enough."""
    J, Y, b = part(work_out, layout, J_OWN), part(work_out, layout, Y_OWN), part(work_out, layout, B_OWN)
    x, last, best = part(work_out, layout, X), part(work_out, layout, LAST), part(work_out, layout, BEST)
    D, table, axes = part(work_out, layout, D_OWN), part(work_out, layout, TABLES), part(work_out, layout, AXES_OWN)
    motion, motion_last = part(work_out, layout, MOTION), part(work_out, layout, MOTION_LAST)
    best_motion, spare = part(work_out, layout, MOTION_BEST), part(work_out, layout, MOTION_FREE)
    best[:] = 0.0
    best_motion[:] = 0.0
    # the largest velocity given
    limit, given = most, largest_asked(record, D, table, b)
    least, found_last, done, size, smallest, speed, good = math.inf, math.inf, 0, 0.0, math.inf, 1.0, False
    accelerated, waits, pause, left, per_left, agreement = True, 0, 1, 0.0, 1.0, 0.0
    soon = limit if limit < CHECK else 0
    while True:
        # the residual, where it is due; the best x is kept
        if done == soon or done >= limit:
            if done > 0 and most >= CHECK:
                motion_of(record, J, Y, x, motion)
            found = residual(law, record, D, table, axes, J, b, x, motion, facts_out)
            if found < least:
                least = found
                best[:] = x
                best_motion[:] = motion
                facts_out[IMPULSE_RESIDUAL] = facts_out[LARGEST]
            # within the tolerance, or within round-off
            good = least <= tolerance
            if not good and least <= AT_MOST * given:
                good = least <= round_off(record, D, J, Y, b, best, given, spare)
            # acceleration pauses where the residual has grown, twice as long each time
            if not accelerated:
                waits -= 1
                accelerated = waits == 0
            elif found >= HARM * found_last:
                accelerated, pause = False, 2 * pause
                waits = pause
            found_last = found
            per_left = found * found / left if left > 0.0 else 1.0
            soon = done + CHECK
            if good or done >= limit:
                break
        # β, the extrapolated motion, and a sweep
        beta = 0.0
        if not accelerated or done == 0:
            speed, smallest = 1.0, math.inf
        else:
            smallest, speed, beta = nesterov_momentum(size, agreement, smallest, speed)
        extrapolate(beta, motion, motion_last)
        size = sweep(law, beta, record, table, J, Y, b, motion, x, last, facts_out)
        left, agreement = facts_out[LARGEST], facts_out[AGREEMENT]
        done += 1
        # nothing changed: the end; little left to do, by what the last residual was to its sweep: a residual is due
        if size == 0.0:
            limit = min(limit, done)
        elif left * per_left <= tolerance * tolerance:
            soon = done
    x[:] = best
    facts_out[RESIDUAL] = least
    facts_out[CONVERGED] = 1.0 if good else 0.0
    return done


@kernel
def without_padding(first: Ints, begin: Ints, motion: Floats, motion_out: Floats) -> None:
    """m without padding."""
    for g in range(first.size - 1):
        size = first[g + 1] - first[g]
        for i in range(size):
            motion_out[first[g] + i] = motion[begin[g] + i + padding(size, i)]


@kernel
def solve_packed(
    law: int, most: int, tolerance: float, warm: int, order: Ints, first: Ints, unit: Ints, islands: Ints, start: Ints,
    place: Ints, J: Floats, Y: Floats, friction: Floats, lower: Floats, upper: Floats, ints_out: Ints, work_out: Floats,
    impulse_out: Floats, velocity_out: Floats, facts_out: Floats,
) -> int:  # fmt: skip
    """Sweeps over blocks as they lie in `DelassusFactors`, from the impulses given if these are warm: how many. Where there is too little
    to work on, minus the number of floats that it takes. velocity: b, and then what it has become. The facts: as
    `iterate` says, and the LARGEST impulse."""
    count, islands_end = order.size, RECORD * order.size + first.size
    record, begin = ints_out[: RECORD * count], ints_out[RECORD * count : islands_end]
    layout = ints_out[islands_end : islands_end + 2 * SLOTS]
    # where everything lies
    places = lay_out_blocks(order, first, unit, islands, start, begin, record)
    last = RECORD * (count - 1)
    numbers = record[last + DATA] + stored(last, record) if count > 0 else 0
    need = lay_out_workspace(numbers, count, velocity_out.size, places, first[first.size - 1], layout)
    if work_out.size < need:
        return -need
    pack_blocks(
        law, warm, order, start, place, record, friction, lower, upper, J, Y, velocity_out, impulse_out, layout, work_out
    )  # fmt: skip
    done = iterate(law, most, tolerance, record, layout, work_out, facts_out)
    # λ = D (1; V) x, u = b + J m
    D, axes, x = part(work_out, layout, D_OWN), part(work_out, layout, AXES_OWN), part(work_out, layout, X)
    moved, spare = part(work_out, layout, MOVED), part(work_out, layout, LAST)
    facts_out[LARGEST] = unpack_impulses(order, start, record, D, axes, x, spare, impulse_out)
    without_padding(first, begin, part(work_out, layout, MOTION_BEST), moved)
    gather(first, islands, start, place, J, moved, velocity_out)
    return done


def solve_pgs(
    W: DelassusFactors, b: np.ndarray, blocks: Blocks, law: Law, warm: np.ndarray | None, tolerance: float, limit: int,
    order: np.ndarray | None = None,
) -> Solution:  # fmt: skip
    """Impulses by at most `limit` sweeps over the blocks in the given order (None: theirs), from `warm`."""
    count, done = len(W.rows), -1
    impulse, velocity, facts = np.empty(W.size) if warm is None else warm.copy(), b.copy(), np.zeros(FACTS)
    order, friction = np.arange(count) if order is None else order, blocks.friction.ravel()
    while done < 0:
        scratch.reserve(-done, RECORD * count + W.first.size + 2 * SLOTS)
        done = solve_packed(
            LAWS.index(law), limit, tolerance, int(warm is not None), order, W.first, W.unit, W.flat_islands, W.start, W.place, W.J, W.Y,
            friction, blocks.lower, blocks.upper, scratch.ints, scratch.floats, impulse, velocity, facts,
        )  # fmt: skip
    missed, good = Residual.of(float(facts[RESIDUAL]), float(facts[IMPULSE_RESIDUAL]), float(facts[LARGEST])), bool(facts[CONVERGED])
    note = f"{done} sweeps" if good else f"{done} sweeps; no solution within {tolerance:g}: the residual is {missed.velocity:.1e}"
    return Solution(impulse, velocity, missed, done, "pgs", note, good)


@kernel
def sweep_dense(
    law: int, count: int, start: Ints, lower: Floats, upper: Floats, table: Floats, W: Floats, u_out: Floats, x_out: Floats
) -> int:
    """Up to `count` sweeps over a dense W; u = W x + b is kept along. The number done: fewer where one changed nothing."""
    m = x_out.size
    for turn in range(count):
        changed = False
        for k in range(start.size - 1):
            at, rows = start[k], start[k + 1] - start[k]
            xn, x1, x2, x3 = load_block(rows, at, x_out)
            un, u1, u2, u3 = load_block(rows, at, u_out)
            new = solve_block(law, k, rows, lower[k], upper[k], table, xn, x1, x2, x3, un, u1, u2, u3)
            step = (new[0] - xn, new[1] - x1, new[2] - x2, new[3] - x3)
            for r in range(rows):
                dx = step[r]
                if dx != 0.0:
                    changed = True
                    x_out[at + r] = new[r]
                    row = (at + r) * m
                    for j in range(m):
                        u_out[j] += W[row + j] * dx
        if not changed:
            return turn + 1
    return count


def sweep_scaled(scaled: ScaledProblem, x: np.ndarray, count: int) -> int:
    """Sweeps from x, in place: at most `count`; the number done."""
    u = scaled.velocity(x)
    return sweep_dense(scaled.law, count, scaled.start, scaled.lower, scaled.upper, scaled.local, scaled.W.ravel(), u, x)
