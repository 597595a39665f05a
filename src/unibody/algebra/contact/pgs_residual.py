"""What is left of the laws, seen afresh: velocities from impulses, the residual of every block, and how much of it may be round-off."""

from __future__ import annotations

from unibody.algebra.contact.pgs_cards import (  # isort: skip
    AT, CARD, MANNER, PLACE, ROWS, SIZE_A, SIZE_C, SLOW, TWOFOLD, UNIT, A, along, gap, push, wide,
)  # fmt: skip
from unibody.algebra.contact.island_scaling import AXES, LOWER, TABLE, UPPER
from unibody.algebra.contact.pgs import four, miss, missed
from unibody.kernel import Floats, Ints, kernel

ROUND_OFF, AT_MOST = 64 * 2.0**-52, 1e-6


@kernel
def move(card: Ints, J: Floats, Y: Floats, x: Floats, motion_out: Floats) -> None:
    """The motion as it follows from x."""
    motion_out[:] = 0.0
    for c in range(0, card.size, CARD):
        x0, x1, x2, x3 = four(card[c + ROWS], card[c + AT], x)
        if x0 != 0.0 or x1 != 0.0 or x2 != 0.0 or x3 != 0.0:
            push(c, card, J, Y, x0, x1, x2, x3, motion_out)


@kernel
def look(
    law: int, card: Ints, D: Floats, table: Floats, axes: Floats, J: Floats, b: Floats, x: Floats, motion: Floats, info_out: Floats
) -> float:
    """The residual, in units of velocity, at x with its motion. info[3]: the residual in units of impulse."""
    worst, most = 0.0, 0.0
    for k in range(card.size // CARD):
        c, t = CARD * k, TABLE * k
        at, rows = card[c + AT], card[c + ROWS]
        u0, u1, u2, u3 = along(c, card, J, b, motion)
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
            v = AXES * k + 3 * (r - 1)
            f = abs(axes[v] * f1 + axes[v + 1] * f2 + axes[v + 2] * f3)
            if D[at + r] > 0.0:
                worst, most = max(worst, f / D[at + r]), max(most, f * D[at + r])
    info_out[3] = most
    return worst


@kernel
def round_off(card: Ints, D: Floats, J: Floats, Y: Floats, b: Floats, x: Floats, motion_out: Floats) -> float:
    """What round-off alone may leave in the residual; never more than a small part of the velocities given."""
    motion_out[:] = 0.0
    for c in range(0, card.size, CARD):
        at, rows, p, quick = card[c + AT], card[c + ROWS], card[c + PLACE], card[c + MANNER] != SLOW
        answer = J if card[c + MANNER] == UNIT else Y
        n = card[c + SIZE_A] + card[c + SIZE_C] if quick else wide(card[c + SIZE_A]) + wide(card[c + SIZE_C])
        for side in range(2):
            begin, size = card[c + A + 2 * side], card[c + SIZE_A + 2 * side]
            for i in range(size):
                q = p + i + (0 if quick else gap(size, i))
                for r in range(rows):
                    motion_out[begin + i + gap(size, i)] += abs(answer[q + n * r] * x[at + r])
            p += size if quick else wide(size)
    worst, given = 0.0, 0.0
    for c in range(0, card.size, CARD):
        at, rows, quick = card[c + AT], card[c + ROWS], card[c + MANNER] != SLOW
        n = card[c + SIZE_A] + card[c + SIZE_C] if quick else wide(card[c + SIZE_A]) + wide(card[c + SIZE_C])
        by_row, by_velocity = (1, rows) if card[c + MANNER] == TWOFOLD else (n, 1)
        for r in range(rows):
            if D[at + r] <= 0.0:
                continue
            total = abs(b[at + r])
            given = max(given, total / D[at + r])
            p = card[c + PLACE] + by_row * r
            for side in range(2):
                begin, size = card[c + A + 2 * side], card[c + SIZE_A + 2 * side]
                for i in range(size):
                    total += abs(J[p + by_velocity * (i if quick else i + gap(size, i))]) * motion_out[begin + i + gap(size, i)]
                p += by_velocity * (size if quick else wide(size))
            worst = max(worst, total / D[at + r])
    return min(ROUND_OFF * worst, AT_MOST * given)
