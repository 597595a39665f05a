"""Block Gauss–Seidel on rows in groups: sweeps, momentum and an honest residual in one kernel.

In the units of `contact_group_units` (λ = D x, û = D u, every cone ‖x_t‖ ≤ x_n) each block is solved exactly in its turn, and
the motion of the groups follows at once. Sweeps x ← S(x) alone creep where loads have far to go, as down a pile. With momentum a sweep
is taken for the step of a gradient method and joined with the last direction, as nonlinear conjugate gradients do (Silcowitz, Niebe,
Erleben 2010):

    g = S(x) − x,    β = ‖g‖² / ‖g_last‖²,    x ← S(x) + β p,    p ← β p + g        (β > 1: begin anew, p = g)

Where it does harm (friction that slides is no gradient), it rests for a while, twice as long each time.

What is returned comes from the end of a plain sweep, so that every impulse lies in its cone; the residual is that of velocities computed
afresh from the impulses.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact_group_units import INVERSE, TABLE, scale_blocks, turn_all
from unibody.algebra.contact_groups import Grouped, gather, spread
from unibody.algebra.contact_problem import Blocks, Residual, Solution
from unibody.algebra.contact_sweeps import CONVEX, COULOMB, four, natural_map, norm3, single_convex
from unibody.kernel import Floats, Ints, device, kernel

ROUND_OFF, AT_MOST = 64 * 2.0**-52, 1e-6
LOOK = 16
"""Sweeps between two looks at the residual, after those at 0, 1 and 4."""
NEARLY = 1e-14
"""Of the impulse: how exactly the friction of a contact that slides is found."""


@device
def single(law, k, table, xn, x1, x2, x3, un, u1, u2, u3):
    """A contact's new x, in its own axes, from its old one and its velocity."""
    t = TABLE * k
    wn, w1, w2, w3 = table[t], table[t + 1], table[t + 2], table[t + 3]
    d1, d2, d3 = table[t + 4], table[t + 5], table[t + 6]
    inverse = table[t + INVERSE]
    side = w1 * x1 + w2 * x2 + w3 * x3
    qn = un - wn * xn - side
    if law == CONVEX:
        q1, q2, q3 = u1 - w1 * xn - d1 * x1, u2 - w2 * xn - d2 * x2, u3 - w3 * xn - d3 * x3
        return single_convex(qn, q1, q2, q3, wn, w1, w2, w3, d1, d2, d3)
    if qn >= 0.0 or inverse == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    through = xn + side * inverse
    q1, q2, q3 = u1 - w1 * through - d1 * x1, u2 - w2 * through - d2 * x2, u3 - w3 * through - d3 * x3
    pressed = -qn * inverse
    c1, c2, c3 = q1 + w1 * pressed, q2 + w2 * pressed, q3 + w3 * pressed
    s1 = -c1 * table[t + INVERSE + 1] if c1 != 0.0 else 0.0
    s2 = -c2 * table[t + INVERSE + 2] if c2 != 0.0 else 0.0
    s3 = -c3 * table[t + INVERSE + 3] if c3 != 0.0 else 0.0
    l = pressed - (w1 * s1 + w2 * s2 + w3 * s3) * inverse
    if l >= 0.0 and s1 * s1 + s2 * s2 + s3 * s3 <= l * l:
        return l, s1, s2, s3
    slip, grip = norm3(u1, u2, u3), norm3(x1, x2, x3)
    guess = slip / grip if grip > 0.0 else norm3(c1, c2, c3) / pressed
    return slide(pressed, c1, c2, c3, inverse, w1, w2, w3, d1, d2, d3, guess)


@device
def slide(pressed, c1, c2, c3, inverse, w1, w2, w3, d1, d2, d3, guess):
    """(ℓ, s₁, s₂, s₃) with u_t = −α s, ‖s‖ = ℓ: the root of ℓ(α) / ‖s(α)‖ − 1 by Newton's method within a bracket that widens."""
    low, high = 0.0, 1e300
    alpha = min(max(guess, 1e-12), 1e12)
    r, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for _ in range(100):
        g1, g2 = 1.0 / (d1 + alpha), 1.0 / (d2 + alpha)
        s1, s2 = -c1 * g1, -c2 * g2
        e1, e2, e3 = s1 * g1, s2 * g2, 0.0
        if c3 != 0.0:
            g3 = 1.0 / (d3 + alpha)
            s3 = -c3 * g3
            e3 = s3 * g3
        l = pressed - (w1 * s1 + w2 * s2 + w3 * s3) * inverse
        r = norm3(s1, s2, s3)
        if r == 0.0 or abs(l - r) <= NEARLY * r:
            break
        if l > r:
            high = alpha
        else:
            low = alpha
        if high - low <= NEARLY * high:
            break
        slope = (w1 * e1 + w2 * e2 + w3 * e3) * inverse / r + l * (s1 * e1 + s2 * e2 + s3 * e3) / (r * r * r)
        step = alpha - (l / r - 1.0) / slope if slope > 0.0 else -1.0
        if not low < step < high:
            step = 4.0 * alpha if high == 1e300 else 0.5 * (low + high)
        alpha = step
    return r, s1, s2, s3


@kernel
def look(
    law: int, first: Ints, groups: Ints, start: Ints, place: Ints, lower: Floats, upper: Floats, D: Floats, table: Floats, J: Floats,
    Y: Floats, b: Floats, x: Floats, motion_out: Floats, u_out: Floats, F_out: Floats,
) -> float:  # fmt: skip
    """The residual, in units of velocity, at x; motion and û as they follow from x, and F in the axes of the rows as they came."""
    motion_out[:] = 0.0
    spread(first, groups, start, place, Y, x, motion_out)
    for i in range(b.size):
        u_out[i] = b[i]
    gather(first, groups, start, place, J, motion_out, u_out)
    natural_map(law, start, lower, upper, x, u_out, F_out)
    turn_all(1, start, table, F_out)
    worst = 0.0
    for i in range(b.size):
        if D[i] > 0.0:
            worst = max(worst, abs(F_out[i]) / D[i])
    return worst


@kernel
def round_off(
    first: Ints, groups: Ints, start: Ints, place: Ints, D: Floats, J: Floats, Y: Floats, b: Floats, x: Floats, motion_out: Floats
) -> float:
    """What round-off alone may leave in the residual; never more than a small part of the velocities given."""
    motion_out[:] = 0.0
    for k in range(start.size - 1):
        at, rows, p = start[k], start[k + 1] - start[k], place[k]
        for side in range(2):
            g = groups[2 * k + side]
            if g < 0:
                continue
            for i in range(first[g], first[g + 1]):
                for r in range(rows):
                    motion_out[i] += abs(Y[p + r] * x[at + r])
                p += rows
    worst, given = 0.0, 0.0
    for k in range(start.size - 1):
        at, rows = start[k], start[k + 1] - start[k]
        for r in range(rows):
            if D[at + r] <= 0.0:
                continue
            total = abs(b[at + r])
            given = max(given, total / D[at + r])
            p = place[k] + r
            for side in range(2):
                g = groups[2 * k + side]
                if g < 0:
                    continue
                for i in range(first[g], first[g + 1]):
                    total += abs(J[p]) * motion_out[i]
                    p += rows
            worst = max(worst, total / D[at + r])
    return min(ROUND_OFF * worst, AT_MOST * given)


@kernel
def sweep_groups(
    law: int, order: Ints, first: Ints, groups: Ints, start: Ints, place: Ints, lower: Floats, upper: Floats, table: Floats, J: Floats,
    Y: Floats, b: Floats, motion_out: Floats, x_out: Floats,
) -> float:  # fmt: skip
    """One sweep in the given order; ‖Δx‖²."""
    change = 0.0
    for turn in range(order.size):
        k = order[turn]
        at, rows = start[k], start[k + 1] - start[k]
        p = place[k]
        un = b[at]
        u1 = b[at + 1] if rows > 1 else 0.0
        u2 = b[at + 2] if rows > 2 else 0.0
        u3 = b[at + 3] if rows > 3 else 0.0
        a, c = groups[2 * k], groups[2 * k + 1]
        for side in range(2):
            g = a if side == 0 else c
            if g < 0:
                continue
            if rows == 3:
                for i in range(first[g], first[g + 1]):
                    m = motion_out[i]
                    un += J[p] * m
                    u1 += J[p + 1] * m
                    u2 += J[p + 2] * m
                    p += 3
            elif rows == 1:
                for i in range(first[g], first[g + 1]):
                    un += J[p] * motion_out[i]
                    p += 1
            else:
                for i in range(first[g], first[g + 1]):
                    m = motion_out[i]
                    un += J[p] * m
                    u1 += J[p + 1] * m
                    if rows == 4:
                        u2 += J[p + 2] * m
                        u3 += J[p + 3] * m
                    p += rows
        xn, x1, x2, x3 = four(rows, at, x_out)
        if xn == 0.0 and un >= 0.0 and lower[k] == 0.0 and law == COULOMB and x1 == 0.0 and x2 == 0.0 and x3 == 0.0:
            continue
        if rows > 1:
            new = single(law, k, table, xn, x1, x2, x3, un, u1, u2, u3)
        else:
            new = (min(max(xn - un * table[TABLE * k + INVERSE], lower[k]), upper[k]), 0.0, 0.0, 0.0)
        d0, d1, d2, d3 = new[0] - xn, new[1] - x1, new[2] - x2, new[3] - x3
        size = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        if size == 0.0:
            continue
        change += size
        for r in range(rows):
            x_out[at + r] = new[r]
        p = place[k]
        for side in range(2):
            g = a if side == 0 else c
            if g < 0:
                continue
            if rows == 3:
                for i in range(first[g], first[g + 1]):
                    motion_out[i] += Y[p] * d0 + Y[p + 1] * d1 + Y[p + 2] * d2
                    p += 3
            elif rows == 1:
                for i in range(first[g], first[g + 1]):
                    motion_out[i] += Y[p] * d0
                    p += 1
            else:
                for i in range(first[g], first[g + 1]):
                    motion_out[i] += Y[p] * d0 + Y[p + 1] * d1
                    if rows == 4:
                        motion_out[i] += Y[p + 2] * d2 + Y[p + 3] * d3
                    p += rows
    return change


@kernel
def settle(
    law: int, limit: int, tolerance: float, momentum: int, order: Ints, first: Ints, groups: Ints, start: Ints, place: Ints, lower: Floats,
    upper: Floats, D: Floats, table: Floats, J: Floats, Y: Floats, b: Floats, x_out: Floats, info_out: Floats,
) -> int:  # fmt: skip
    """Up to `limit` sweeps from x, fewer where the residual is within the tolerance or round-off; x becomes the best one looked at. The
    number done; info: the residual, whether it was good enough, and the residual in units of impulse."""
    m, n = x_out.size, first[first.size - 1]
    motion, motion_last, motion_way = np.zeros(n), np.zeros(n), np.zeros(n)
    last, way, best, u, F = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    given = 0.0
    for i in range(m):
        if D[i] > 0.0:
            given = max(given, abs(b[i]) / D[i])
    turn_all(0, start, table, x_out)
    least, found_last, done, soon, size_last, good = 1e300, 1e300, 0, 0, 0.0, False
    going, waits, pause = momentum, 0, 1
    while True:
        if done == soon or done >= limit:
            found = look(law, first, groups, start, place, lower, upper, D, table, J, Y, b, x_out, motion, u, F)
            if found < least:
                least = found
                best[:] = x_out
                info_out[2] = 0.0
                for i in range(m):
                    info_out[2] = max(info_out[2], abs(D[i] * F[i]))
            good = least <= tolerance
            if not good and least <= AT_MOST * given:
                good = least <= round_off(first, groups, start, place, D, J, Y, b, best, motion_last)
            if momentum == 1:
                if going == 0:
                    waits -= 1
                    going = 1 if waits == 0 else 0
                elif found >= found_last:
                    going, pause = 0, 2 * pause
                    waits = pause
                found_last = found
            soon = 1 if done == 0 else (4 * done if done < LOOK else done + LOOK)
            if good or done >= limit:
                break
        if going == 0:
            size_last = 0.0
        elif done > 0:
            # the sweep before this one has moved x by g = x − last
            size, beta = 0.0, 0.0
            for i in range(m):
                u[i] = x_out[i] - last[i]
                size += u[i] * u[i]
            if size_last > 0.0 and size < size_last:
                beta = size / size_last
            size_last = size
            for i in range(m):
                x_out[i] += beta * way[i]
                way[i] = beta * way[i] + u[i]
            for i in range(n):
                g = motion[i] - motion_last[i]
                motion[i] += beta * motion_way[i]
                motion_way[i] = beta * motion_way[i] + g
        last[:] = x_out
        motion_last[:] = motion
        change = sweep_groups(law, order, first, groups, start, place, lower, upper, table, J, Y, b, motion, x_out)
        done += 1
        if change == 0.0:
            soon = done
            limit = min(limit, done)
    turn_all(1, start, table, best)
    x_out[:] = best
    info_out[0] = least
    info_out[1] = 1.0 if good else 0.0
    return done


def sweep_grouped(
    W: Grouped, b: np.ndarray, blocks: Blocks, law: str, warm: np.ndarray | None, tolerance: float, limit: int,
    order: np.ndarray | None = None, momentum: bool = True,
) -> Solution:  # fmt: skip
    """Impulses by at most `limit` sweeps over the blocks in the given order (None: theirs), from `warm`."""
    number = COULOMB if law == "coulomb" else CONVEX
    D, table, J, Y, b_scaled = np.empty(W.size), np.empty(TABLE * len(W.rows)), W.J.copy(), W.Y.copy(), b.copy()
    scale_blocks(number, W.start, W.place, blocks.friction.reshape(-1), b_scaled, J, Y, D, table)
    begin = W.start[:-1]
    lower, upper = blocks.lower / D[begin], blocks.upper / D[begin]
    if warm is None:
        x = np.clip(np.zeros(W.size), np.repeat(lower, W.rows), np.repeat(upper, W.rows))
    else:
        x = np.where(D > 0.0, warm / np.where(D > 0.0, D, 1.0), 0.0)
    info = np.zeros(3)
    order = np.arange(len(W.rows)) if order is None else order
    done = settle(
        number, limit, tolerance, int(momentum), order, W.first, W.flat_groups, W.start, W.place, lower, upper, D, table, J, Y, b_scaled, x,
        info,
    )  # fmt: skip
    impulse = D * x
    largest = float(np.abs(impulse).max(initial=0.0))
    residual = Residual(float(info[0]), float(info[2]) / largest if largest else float(info[2] > 0.0))
    good = bool(info[1])
    note = f"{done} sweeps" if good else f"{done} sweeps; no solution within {tolerance:g}: the residual is {info[0]:.1e}"
    return Solution(impulse, W.times(impulse) + b, residual, done, "pgs", note, good)
