"""Block Gauss–Seidel on rows in groups: sweeps, momentum and an honest residual in one kernel.

In the units of `contact_group_units` (λ = D x, û = D u, every cone ‖x_t‖ ≤ x_n) each block is solved exactly in its turn, and
the motion of the groups follows at once. Sweeps x ← S(x) alone creep where loads have far to go, as down a pile. With momentum a sweep
is taken for the step of a gradient method, and goes on from there as Nesterov's does:

    x⁺ = S(y),    y⁺ = x⁺ + β (x⁺ − x),    β = min((t − 1) / t⁺, FASTEST),    t⁺ = (1 + √(1 + 4 t²)) / 2

t is 1 again where x⁺ − y turns against x⁺ − x, or has grown. Where momentum does harm all the same (friction that slides is no gradient),
it rests for a while, twice as long each time.

What is returned comes from the end of a plain sweep, so that every impulse lies in its cone; the residual is that of velocities computed
afresh from the impulses.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact_group_cards import AT, CARD, PLACE, QUICK, ROWS, SIZE_A, SIZE_C, A, along, gap, lay_cards, push
from unibody.algebra.contact_group_single import single, single_of_convex_law
from unibody.algebra.contact_group_units import AXES, INVERSE, LOWER, TABLE, UPPER, begin_anew, begin_at, impulses_of, scale_blocks
from unibody.algebra.contact_groups import Grouped
from unibody.algebra.contact_problem import Blocks, Residual, Solution
from unibody.algebra.contact_sweeps import CONVEX, COULOMB, four, miss, missed
from unibody.kernel import Floats, Ints, device, kernel

ROUND_OFF, AT_MOST = 64 * 2.0**-52, 1e-6
FASTEST, GROWS = 0.9, 1.5
"""The largest β; by how much ‖x⁺ − y‖² may grow before momentum begins anew."""
HARM = 2.0
"""By how much the residual may grow from look to look before momentum rests."""
LOOK = 16
"""Sweeps between two looks at the residual, after those at 0, 1 and 4."""


@kernel
def look(
    law: int, card: Ints, D: Floats, table: Floats, J: Floats, Y: Floats, b: Floats, x: Floats, motion_out: Floats, info_out: Floats
) -> float:
    """The residual, in units of velocity, at x; the motion as it follows from x. info[3]: the residual in units of impulse."""
    motion_out[:] = 0.0
    worst, most = 0.0, 0.0
    for c in range(0, card.size, CARD):
        x0, x1, x2, x3 = four(card[c + ROWS], card[c + AT], x)
        if x0 != 0.0 or x1 != 0.0 or x2 != 0.0 or x3 != 0.0:
            push(c, card, Y, x0, x1, x2, x3, motion_out)
    for k in range(card.size // CARD):
        c, t = CARD * k, TABLE * k
        at, rows = card[c + AT], card[c + ROWS]
        u0, u1, u2, u3 = along(c, card, J, b, motion_out)
        x0, x1, x2, x3 = four(rows, at, x)
        if rows == 1:
            f0 = abs(miss(x0, u0, table[t + LOWER], table[t + UPPER]))
            worst, most = max(worst, f0 / D[at]), max(most, f0 * D[at])
            continue
        f0, f1, f2, f3 = missed(law, x0, x1, x2, x3, u0, u1, u2, u3)
        f0 = abs(f0)
        worst, most = max(worst, f0 / D[at]), max(most, f0 * D[at])
        if f1 == 0.0 and f2 == 0.0 and f3 == 0.0:
            continue
        for r in range(1, rows):
            v = t + AXES + 3 * (r - 1)
            f = abs(table[v] * f1 + table[v + 1] * f2 + table[v + 2] * f3)
            if D[at + r] > 0.0:
                worst, most = max(worst, f / D[at + r]), max(most, f * D[at + r])
    info_out[3] = most
    return worst


@kernel
def round_off(card: Ints, D: Floats, J: Floats, Y: Floats, b: Floats, x: Floats, motion_out: Floats) -> float:
    """What round-off alone may leave in the residual; never more than a small part of the velocities given."""
    motion_out[:] = 0.0
    for c in range(0, card.size, CARD):
        at, rows, p, n = card[c + AT], card[c + ROWS], card[c + PLACE], card[c + SIZE_A] + card[c + SIZE_C]
        by_row, by_velocity = (n, 1) if card[c + QUICK] == 1 else (1, rows)
        for side in range(2):
            begin, size = card[c + A + 2 * side], card[c + SIZE_A + 2 * side]
            for i in range(size):
                for r in range(rows):
                    motion_out[begin + i + gap(size, i)] += abs(Y[p + by_row * r] * x[at + r])
                p += by_velocity
    worst, given = 0.0, 0.0
    for c in range(0, card.size, CARD):
        at, rows = card[c + AT], card[c + ROWS]
        for r in range(rows):
            if D[at + r] <= 0.0:
                continue
            total = abs(b[at + r])
            given = max(given, total / D[at + r])
            p = card[c + PLACE] + r
            for side in range(2):
                begin, size = card[c + A + 2 * side], card[c + SIZE_A + 2 * side]
                for i in range(size):
                    total += abs(J[p]) * motion_out[begin + i + gap(size, i)]
                    p += rows
            worst = max(worst, total / D[at + r])
    return min(ROUND_OFF * worst, AT_MOST * given)


@kernel
def sweep(law: int, card: Ints, table: Floats, J: Floats, Y: Floats, b: Floats, motion_out: Floats, x_out: Floats) -> float:
    """One sweep over all blocks; ‖Δx‖²."""
    change = 0.0
    for k in range(card.size // CARD):
        c, t = CARD * k, TABLE * k
        at, rows = card[c + AT], card[c + ROWS]
        u0, u1, u2, u3 = along(c, card, J, b, motion_out)
        x0, x1, x2, x3 = four(rows, at, x_out)
        s1, s2, s3 = 0.0, 0.0, 0.0
        if rows == 1:
            l = min(max(x0 - u0 * table[t + INVERSE], table[t + LOWER]), table[t + UPPER])
        elif law == CONVEX:
            l, s1, s2, s3 = single_of_convex_law(t, table, x0, x1, x2, x3, u0, u1, u2, u3)
        elif x0 == 0.0 and u0 >= 0.0 and x1 == 0.0 and x2 == 0.0 and x3 == 0.0:
            continue
        else:
            l, s1, s2, s3 = single(t, table, x0, x1, x2, x3, u0, u1, u2, u3)
        d0, d1, d2, d3 = l - x0, s1 - x1, s2 - x2, s3 - x3
        size = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        if size == 0.0:
            continue
        change += size
        x_out[at] = l
        if rows > 1:
            x_out[at + 1] = s1
        if rows > 2:
            x_out[at + 2] = s2
        if rows > 3:
            x_out[at + 3] = s3
        push(c, card, Y, d0, d1, d2, d3, motion_out)
    return change


@device
def agreement(now, last, way):
    """(now − last − way) · (now − last): below zero where a sweep turns back from where the way led."""
    total = 0.0
    for i in range(now.size):
        step = now[i] - last[i]
        total += (step - way[i]) * step
    return total


@device
def carry_on(beta, now_out, last_out, way_out):
    """`now` is kept, and goes on by β times what it has changed."""
    for i in range(now_out.size):
        now = now_out[i]
        way = beta * (now - last_out[i])
        way_out[i] = way
        last_out[i] = now
        now_out[i] = now + way


@kernel
def settle(
    law: int, most: int, tolerance: float, momentum: int, card: Ints, D: Floats, table: Floats, J: Floats, Y: Floats, b: Floats,
    x_out: Floats, best_motion_out: Floats, info_out: Floats,
) -> int:  # fmt: skip
    """Up to `most` sweeps from x, fewer where the residual is within the tolerance or round-off; x becomes the best one looked at, with
    its motion. The number done; info: the residual, whether it was good enough, and the residual in units of impulse."""
    m, n, limit = D.size, best_motion_out.size, most
    motion, motion_last, motion_way, scratch = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    last, way, best = np.zeros(m), np.zeros(m), np.zeros(m)
    given = 0.0
    for i in range(m):
        if D[i] > 0.0:
            given = max(given, abs(b[i]) / D[i])
    least, found_last, done, soon, size, smallest, speed, good = math.inf, math.inf, 0, 0, 0.0, math.inf, 1.0, False
    going, waits, pause = momentum, 0, 1
    while True:
        if done == soon or done >= limit:
            found = look(law, card, D, table, J, Y, b, x_out, motion, info_out)
            if found < least:
                least = found
                best[:] = x_out
                best_motion_out[:] = motion
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
            soon = 1 if done == 0 else (4 * done if done < LOOK else done + LOOK)
            if good or done >= limit:
                break
        if going == 0 or done == 0:
            speed, smallest = 1.0, math.inf
            last[:] = x_out
            motion_last[:] = motion
            way[:] = 0.0
        else:
            if size > GROWS * smallest or agreement(x_out, last, way) < 0.0:
                speed, smallest = 1.0, size
            smallest = min(smallest, size)
            faster = 0.5 + math.sqrt(0.25 + speed * speed)
            beta = min((speed - 1.0) / faster, FASTEST)
            speed = faster
            carry_on(beta, x_out, last, way)
            carry_on(beta, motion, motion_last, motion_way)
        size = sweep(law, card, table, J, Y, b, motion, x_out)
        done += 1
        if size == 0.0:
            soon = done
            limit = min(limit, done)
    x_out[:] = best
    info_out[0] = least
    info_out[1] = 1.0 if good else 0.0
    return done


@kernel
def in_groups(first: Ints, begin: Ints, motion: Floats, motion_out: Floats) -> None:
    """m without idle places."""
    for g in range(first.size - 1):
        size = first[g + 1] - first[g]
        for i in range(size):
            motion_out[first[g] + i] = motion[begin[g] + i + gap(size, i)]


def sweep_grouped(
    W: Grouped, b: np.ndarray, blocks: Blocks, law: str, warm: np.ndarray | None, tolerance: float, limit: int,
    order: np.ndarray | None = None, momentum: bool = True,
) -> Solution:  # fmt: skip
    """Impulses by at most `limit` sweeps over the blocks in the given order (None: theirs), from `warm`."""
    number, size, count = COULOMB if law == "coulomb" else CONVEX, W.size, len(W.rows)
    order = np.arange(count) if order is None else order
    card, begin = np.empty(CARD * count, np.int64), np.empty(len(W.first), np.int64)
    places = lay_cards(order, W.first, W.flat_groups, W.start, begin, card)
    J, Y, b_scaled, D, table = (np.empty(n) for n in (W.J.size + 1, W.Y.size + 1, size + 1, size, TABLE * count))
    J[-1] = Y[-1] = b_scaled[-1] = 0.0
    friction = blocks.friction.reshape(-1)
    scale_blocks(number, order, W.start, W.place, card, friction, blocks.lower, blocks.upper, W.J, W.Y, b, J, Y, b_scaled, D, table)
    x, motion, info = np.empty(size), np.empty(places), np.zeros(4)
    if warm is None:
        begin_anew(card, table, x)
    else:
        begin_at(order, W.start, card, D, table, warm, x)
    done = settle(number, limit, tolerance, int(momentum), card, D, table, J, Y, b_scaled, x, motion, info)
    impulse, moved = np.empty(size), np.empty(W.first[-1])
    impulses_of(order, W.start, card, D, table, x, np.zeros(4), impulse)
    in_groups(W.first, begin, motion, moved)
    largest = float(np.abs(impulse).max(initial=0.0))
    residual = Residual(float(info[0]), float(info[2]) / largest if largest else float(info[2] > 0.0))
    good = bool(info[1])
    note = f"{done} sweeps" if good else f"{done} sweeps; no solution within {tolerance:g}: the residual is {info[0]:.1e}"
    return Solution(impulse, W.along(moved) + b, residual, done, "pgs", note, good)
