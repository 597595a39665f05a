"""Block Gauss–Seidel on rows in islands: sweeps, momentum and an honest residual in one kernel.

In the units of `island_scaling` (λ = D x, û = D u, every cone ‖x_t‖ ≤ x_n) each block is solved exactly in its turn, and the motion
of the islands follows at once. Sweeps x ← S(x) alone creep where loads have far to go, as down a pile; momentum (`pgs_momentum`)
carries them on. Where it does harm all the same (friction that slides is no gradient), it rests for a while, twice as long each time.

What is returned comes from the end of a plain sweep, so that every impulse lies in its cone; the residual is that of velocities computed
afresh from the impulses, or, of less than LOOK sweeps, in which little round-off gathers, as these leave them. Such looks cost as much as
sweeps. They are taken every LOOK sweeps, where a sweep itself says that it has nearly nothing left to do, and at the end; of what is given
only where more sweeps than these are allowed.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact.pgs_cards import AT, CARD, PLACE, ROWS, along, extent, gap, lay_cards, push
from unibody.algebra.contact.pgs_local import single, single_of_convex_law
from unibody.algebra.contact.pgs_momentum import carry_on, nesterov_momentum
from unibody.algebra.contact.pgs_residual import AT_MOST, look, move, round_off
from unibody.algebra.contact.pgs_scaling import scale_blocks
from unibody.algebra.contact.scratch import room

from unibody.algebra.contact.pgs_slots import (  # isort: skip
    AXES_OWN, B_OWN, BEST, D_OWN, J_OWN, LAST, MOTION, MOTION_BEST, MOTION_FREE, MOTION_LAST, MOVED, SLOTS, TABLES, Y_OWN, X, lay_slots,
)  # fmt: skip
from unibody.algebra.contact.delassus import DelassusFactors, gather
from unibody.algebra.contact.island_scaling import INVERSE, LOWER, PACE, TABLE, UPPER, impulses_of
from unibody.algebra.contact.pgs import CONVEX, COULOMB, four
from unibody.algebra.contact.problem import Blocks, Residual, Solution
from unibody.arena import part
from unibody.kernel import Floats, Ints, inlined, kernel

HARM = 2.0
"""By how much the residual may grow from look to look before momentum rests."""
LOOK = 16
"""Sweeps between two looks at the residual, at most."""


@kernel
def sweep(
    law: int, beta: float, card: Ints, table: Floats, J: Floats, Y: Floats, b: Floats, motion_out: Floats, x_out: Floats, last_out: Floats,
    info_out: Floats,
) -> float:  # fmt: skip
    """One sweep over all blocks, each of which is first carried on by β: ‖Δx‖². `last`: what they were, and become x. info[3]: about the
    square of the largest velocity that it took away; info[4]: Δx · (x⁺ − x)."""
    change, fastest, agreement = 0.0, 0.0, 0.0
    for k in range(card.size // CARD):
        c, t = CARD * k, TABLE * k
        at, rows = card[c + AT], card[c + ROWS]
        u0, u1, u2, u3 = along(c, card, J, b, motion_out)
        x0, x1, x2, x3 = w0, w1, w2, w3 = four(rows, at, x_out)
        if beta > 0.0:
            v0, v1, v2, v3 = four(rows, at, last_out)
            x0, x1, x2, x3 = w0 + beta * (w0 - v0), w1 + beta * (w1 - v1), w2 + beta * (w2 - v2), w3 + beta * (w3 - v3)
        store(rows, at, w0, w1, w2, w3, last_out)
        s1, s2, s3 = 0.0, 0.0, 0.0
        if rows == 1:
            l = min(max(x0 - u0 * table[t + INVERSE], table[t + LOWER]), table[t + UPPER])
        elif law == CONVEX:
            l, s1, s2, s3 = single_of_convex_law(t, table, x0, x1, x2, x3, u0, u1, u2, u3)
        elif x0 == 0.0 and u0 >= 0.0 and x1 == 0.0 and x2 == 0.0 and x3 == 0.0:
            l = 0.0
        else:
            l, s1, s2, s3 = single(t, table, x0, x1, x2, x3, u0, u1, u2, u3)
        d0, d1, d2, d3 = l - x0, s1 - x1, s2 - x2, s3 - x3
        size = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        store(rows, at, l, s1, s2, s3, x_out)
        if size == 0.0:
            continue
        change += size
        agreement += d0 * (l - w0) + d1 * (s1 - w1) + d2 * (s2 - w2) + d3 * (s3 - w3)
        fastest = max(fastest, size * table[t + PACE])
        push(c, card, J, Y, d0, d1, d2, d3, motion_out)
    info_out[3], info_out[4] = fastest, agreement
    return change


@inlined
def store(rows, at, x0, x1, x2, x3, x_out):
    """What `four` reads."""
    x_out[at] = x0
    if rows > 1:
        x_out[at + 1] = x1
    if rows > 2:
        x_out[at + 2] = x2
    if rows > 3:
        x_out[at + 3] = x3


@kernel
def settle(law: int, most: int, tolerance: float, momentum: int, card: Ints, layout: Ints, work_out: Floats, info_out: Floats) -> int:
    """Up to `most` sweeps from x and its motion, fewer where the residual is within the tolerance or round-off; x becomes the best one
    looked at, with its motion. The number done; info: the residual, whether it was good enough, and the residual in units of impulse."""
    J, Y, b = part(work_out, layout, J_OWN), part(work_out, layout, Y_OWN), part(work_out, layout, B_OWN)
    x, last, best = part(work_out, layout, X), part(work_out, layout, LAST), part(work_out, layout, BEST)
    D, table, axes = part(work_out, layout, D_OWN), part(work_out, layout, TABLES), part(work_out, layout, AXES_OWN)
    motion, motion_last = part(work_out, layout, MOTION), part(work_out, layout, MOTION_LAST)
    best_motion, scratch = part(work_out, layout, MOTION_BEST), part(work_out, layout, MOTION_FREE)
    best[:] = 0.0
    best_motion[:] = 0.0
    limit, given = most, 0.0
    for i in range(D.size):
        if D[i] > 0.0:
            given = max(given, abs(b[i]) / D[i])
    least, found_last, done, size, smallest, speed, good = math.inf, math.inf, 0, 0.0, math.inf, 1.0, False
    going, waits, pause, left, per_left, agreement = momentum, 0, 1, 0.0, 1.0, 0.0
    soon = limit if limit < LOOK else 0
    while True:
        if done == soon or done >= limit:
            if done > 0 and most >= LOOK:
                move(card, J, Y, x, motion)
            found = look(law, card, D, table, axes, J, b, x, motion, info_out)
            if found < least:
                least = found
                best[:] = x
                best_motion[:] = motion
                info_out[2] = info_out[3]
            good = least <= tolerance
            if not good and least <= AT_MOST * given:
                good = least <= round_off(card, D, J, Y, b, best, scratch)
            if momentum == 1:
                if going == 0:
                    waits -= 1
                    going = 1 if waits == 0 else 0
                elif found >= HARM * found_last:
                    going, pause = 0, 2 * pause
                    waits = pause
                found_last = found
            per_left = found * found / left if left > 0.0 else 1.0
            soon = done + LOOK
            if good or done >= limit:
                break
        beta = 0.0
        if going == 0 or done == 0:
            speed, smallest = 1.0, math.inf
        else:
            smallest, speed, beta = nesterov_momentum(size, agreement, smallest, speed)
        carry_on(beta, motion, motion_last)
        size = sweep(law, beta, card, table, J, Y, b, motion, x, last, info_out)
        left, agreement = info_out[3], info_out[4]
        done += 1
        if size == 0.0:
            limit = min(limit, done)
        elif left * per_left <= tolerance * tolerance:
            soon = done
    x[:] = best
    info_out[0] = least
    info_out[1] = 1.0 if good else 0.0
    return done


@kernel
def in_islands(first: Ints, begin: Ints, motion: Floats, motion_out: Floats) -> None:
    """m without idle places."""
    for g in range(first.size - 1):
        size = first[g + 1] - first[g]
        for i in range(size):
            motion_out[first[g] + i] = motion[begin[g] + i + gap(size, i)]


@kernel
def sweep_blocks(
    law: int, most: int, tolerance: float, momentum: int, warm: int, order: Ints, first: Ints, unit: Ints, islands: Ints, start: Ints,
    place: Ints, J: Floats, Y: Floats, friction: Floats, lower: Floats, upper: Floats, ints_out: Ints, work_out: Floats,
    impulse_out: Floats, velocity_out: Floats, info_out: Floats,
) -> int:  # fmt: skip
    """Sweeps over blocks as they lie in `DelassusFactors`, from the impulses given if these are warm: how many. Where there is too little
    to work on, minus the number of floats that it takes. velocity: b, and then what it has become. info: as `settle` says, and then the
    largest impulse."""
    count, islands_end = order.size, CARD * order.size + first.size
    card, begin, layout = ints_out[: CARD * count], ints_out[CARD * count : islands_end], ints_out[islands_end : islands_end + 2 * SLOTS]
    places = lay_cards(order, first, unit, islands, start, begin, card)
    last = CARD * (count - 1)
    numbers = card[last + PLACE] + extent(last, card) if count > 0 else 0
    need = lay_slots(numbers, count, velocity_out.size, places, first[first.size - 1], layout)
    if work_out.size < need:
        return -need
    scale_blocks(
        law, warm, order, start, place, card, friction, lower, upper, J, Y, velocity_out, impulse_out, layout, work_out
    )  # fmt: skip
    done = settle(law, most, tolerance, momentum, card, layout, work_out, info_out)
    D, axes, x = part(work_out, layout, D_OWN), part(work_out, layout, AXES_OWN), part(work_out, layout, X)
    moved, scratch = part(work_out, layout, MOVED), part(work_out, layout, LAST)
    info_out[3] = impulses_of(order, start, card, D, axes, x, scratch, impulse_out)
    in_islands(first, begin, part(work_out, layout, MOTION_BEST), moved)
    gather(first, islands, start, place, J, moved, velocity_out)
    return done


def sweep_grouped(
    W: DelassusFactors, b: np.ndarray, blocks: Blocks, law: str, warm: np.ndarray | None, tolerance: float, limit: int,
    order: np.ndarray | None = None, momentum: bool = True,
) -> Solution:  # fmt: skip
    """Impulses by at most `limit` sweeps over the blocks in the given order (None: theirs), from `warm`."""
    count, done = len(W.rows), -1
    impulse, velocity, info = np.empty(W.size) if warm is None else warm.copy(), b.copy(), np.zeros(5)
    order, friction = np.arange(count) if order is None else order, blocks.friction.ravel()
    while done < 0:
        room.have(-done, CARD * count + W.first.size + 2 * SLOTS)
        done = sweep_blocks(
            COULOMB if law == "coulomb" else CONVEX, limit, tolerance, int(momentum), int(warm is not None), order, W.first, W.unit,
            W.flat_islands, W.start, W.place, W.J, W.Y, friction, blocks.lower, blocks.upper, room.ints, room.floats, impulse, velocity,
            info,
        )  # fmt: skip
    speed, part_of, largest = float(info[0]), float(info[2]), float(info[3])
    residual = Residual(speed, part_of / largest if largest else float(part_of > 0.0))
    good = bool(info[1])
    note = f"{done} sweeps" if good else f"{done} sweeps; no solution within {tolerance:g}: the residual is {speed:.1e}"
    return Solution(impulse, velocity, residual, done, "pgs", note, good)
