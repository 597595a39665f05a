"""Blocks of rows in the order in which sweeps meet them: a card of whole numbers for each, and what a block costs in a sweep.

    û = b̂ + J m      (`along`),          m ← m + Y d      (`push`)

Nearly all blocks have three rows or one, on free bodies, that is islands of six. For these both are straight lines over triples
(`unibody.triple`). Where masses are unit (`Grouped.unit`), Y is J: there is J alone, row by row, and a sweep reads half as much, which in
large piles is what it waits for. Of other *quick* blocks J lies velocity by velocity, so that one velocity moves three rows at once, Y row
by row, so that one row moves three velocities at once. All others have J and Y row by row, the velocities of each island filled up with
zeros as in m, and go over fours of them.

Groups of six take eight places of m, the fourth and the eighth idle, so that triples of one body never overlap in memory; others take as
many fours as they need. What is left in idle places is finite, and nothing looks at it.

Arrays that triples are fetched from (b, and J of quick blocks) have one number more than they need.
"""

from __future__ import annotations

from unibody.kernel import Ints, device, inlined, kernel, prefetch
from unibody.triple import fetch, fetch_four, plus, put, put_four, spread_four, sums, total, total_four, totals, x_of, y_of, z_of

CARD = 8
AT, PLACE, ROWS, MANNER, A, SIZE_A, C, SIZE_C = range(CARD)
"""Where a block's rows and its numbers begin; its rows; its manner; where its islands begin in m, and their sizes, 0 for none."""
SLOW, TWOFOLD, UNIT = range(3)
"""Manners: not quick; quick with J and Y; quick with J alone."""


@inlined
def wide(size):
    """Places that an island takes in m."""
    return 8 if size == 6 else (size + 3) // 4 * 4


@inlined
def gap(size, i):
    """Idle places before velocity i of an island."""
    return 1 if size == 6 and i >= 3 else 0


@device
def extent(c, card):
    """How many numbers of J a block takes: fours, so that the next one begins with one."""
    n = card[c + SIZE_A] + card[c + SIZE_C] if card[c + MANNER] != SLOW else wide(card[c + SIZE_A]) + wide(card[c + SIZE_C])
    return (card[c + ROWS] * n + 3) // 4 * 4


@kernel
def lay_cards(order: Ints, first: Ints, unit: Ints, islands: Ints, start: Ints, begin_out: Ints, card_out: Ints) -> int:
    """The cards of all blocks in the given order, and where each island begins in m; how many places m has."""
    begin_out[0] = 0
    for g in range(first.size - 1):
        begin_out[g + 1] = begin_out[g] + wide(first[g + 1] - first[g])
    at, place = 0, 0
    for turn in range(order.size):
        k, c = order[turn], CARD * turn
        rows = start[k + 1] - start[k]
        a, b = islands[2 * k], islands[2 * k + 1]
        if a < 0:
            a, b = b, a
        card_out[c + AT], card_out[c + PLACE], card_out[c + ROWS] = at, place, rows
        size_a = first[a + 1] - first[a] if a >= 0 else 0
        size_b = first[b + 1] - first[b] if b >= 0 else 0
        quick = (rows == 3 or rows == 1) and size_a == 6 and (size_b == 6 or size_b == 0)
        light = quick and unit[a] == 1 and (b < 0 or unit[b] == 1)
        card_out[c + MANNER] = UNIT if light else (TWOFOLD if quick else SLOW)
        card_out[c + A], card_out[c + SIZE_A] = begin_out[a] if a >= 0 else 0, size_a
        card_out[c + C], card_out[c + SIZE_C] = begin_out[b] if b >= 0 else 0, size_b
        at += rows
        place += extent(c, card_out)
    return begin_out[first.size - 1]


@inlined
def ask_for(begin, end, unit, J, Y):
    """A block's numbers as `Grouped` has them, before they are needed; of unit masses J alone."""
    for q in range(begin, end, 8):
        prefetch(J, q)
    if not unit:
        for q in range(begin, end, 8):
            prefetch(Y, q)


@inlined
def three_along(J, p, m, i):
    """J m of three rows, one body."""
    one = plus(plus(fetch(J, p) * m[i], fetch(J, p + 3), m[i + 1]), fetch(J, p + 6), m[i + 2])
    two = plus(plus(fetch(J, p + 9) * m[i + 4], fetch(J, p + 12), m[i + 5]), fetch(J, p + 15), m[i + 6])
    return one + two


@inlined
def one_along(J, p, m, i):
    """J m of one row, one body, as a triple whose total it is."""
    return plus(fetch(J, p) * fetch(m, i), fetch(J, p + 3), fetch(m, i + 4))


@inlined
def rows_of_three(J, p, n, m, i):
    """J m of three rows, one body, as triples whose totals they are; n: how many numbers a row has."""
    v, w = fetch(m, i), fetch(m, i + 4)
    x, y = plus(fetch(J, p) * v, fetch(J, p + 3), w), plus(fetch(J, p + n) * v, fetch(J, p + n + 3), w)
    return x, y, plus(fetch(J, p + n + n) * v, fetch(J, p + n + n + 3), w)


@inlined
def quickly_along(c, card, J, b, m):
    """û of a quick block's rows, zeros where it has fewer than four."""
    at, p, i = card[c + AT], card[c + PLACE], card[c + A]
    if card[c + ROWS] == 3 and card[c + MANNER] == UNIT:
        n = 6 + card[c + SIZE_C]
        x, y, z = rows_of_three(J, p, n, m, i)
        if n > 6:
            f, g, h = rows_of_three(J, p + 6, n, m, card[c + C])
            x, y, z = x + f, y + g, z + h
        u = sums(x, y, z) + fetch(b, at)
        return x_of(u), y_of(u), z_of(u), 0.0
    if card[c + ROWS] == 3:
        u = three_along(J, p, m, i) + fetch(b, at)
        if card[c + SIZE_C] > 0:
            u = u + three_along(J, p + 18, m, card[c + C])
        return x_of(u), y_of(u), z_of(u), 0.0
    w = one_along(J, p, m, i)
    if card[c + SIZE_C] > 0:
        w = w + one_along(J, p + 6, m, card[c + C])
    return x_of(fetch(b, at)) + total(w), 0.0, 0.0, 0.0


@inlined
def row_along(J, p, m, i, size):
    """J m of one row, one island, as a four whose total it is; size: places of the island."""
    s = spread_four(0.0)
    for l in range(0, size, 4):
        s = plus(s, fetch_four(J, p + l), fetch_four(m, i + l))
    return s


@inlined
def rows_along(J, p, n, m, i, size):
    """The same of three rows; n: how many numbers a row has."""
    x, y, z = spread_four(0.0), spread_four(0.0), spread_four(0.0)
    for q in range(p, p + size, 4):
        v = fetch_four(m, i + q - p)
        x, y, z = plus(x, fetch_four(J, q), v), plus(y, fetch_four(J, q + n), v), plus(z, fetch_four(J, q + n + n), v)
    return x, y, z


@inlined
def slowly_along(c, card, J, b, m):
    """û of the rows of one that is not quick."""
    at, p, i, k = card[c + AT], card[c + PLACE], card[c + A], card[c + C]
    one, two = wide(card[c + SIZE_A]), wide(card[c + SIZE_C])
    if card[c + ROWS] == 3:
        x, y, z = rows_along(J, p, one + two, m, i, one)
        f, g, h = rows_along(J, p + one, one + two, m, k, two)
        u = totals(x + f, y + g, z + h) + fetch(b, at)
        return x_of(u), y_of(u), z_of(u), 0.0
    if card[c + ROWS] == 1:
        return b[at] + total_four(row_along(J, p, m, i, one) + row_along(J, p + one, m, k, two)), 0.0, 0.0, 0.0
    return seldom_along(c, card, J, b, m)


@device
def seldom_along(c, card, J, b, m):
    """The same, of two or four rows."""
    at, p, i, k = card[c + AT], card[c + PLACE], card[c + A], card[c + C]
    one, two = wide(card[c + SIZE_A]), wide(card[c + SIZE_C])
    u0, u1, u2, u3 = b[at], b[at + 1], 0.0, 0.0
    for r in range(card[c + ROWS]):
        u = total_four(row_along(J, p, m, i, one) + row_along(J, p + one, m, k, two))
        p += one + two
        if r == 0:
            u0 += u
        elif r == 1:
            u1 += u
        elif r == 2:
            u2 = b[at + 2] + u
        else:
            u3 = b[at + 3] + u
    return u0, u1, u2, u3


@inlined
def push_three(Y, p, n, d0, d1, d2, i, m_out):
    """m += Y d of three rows, one body; n: how many numbers a row has."""
    put(plus(plus(plus(fetch(m_out, i), d0, fetch(Y, p)), d1, fetch(Y, p + n)), d2, fetch(Y, p + n + n)), i, m_out)
    p += 3
    put(plus(plus(plus(fetch(m_out, i + 4), d0, fetch(Y, p)), d1, fetch(Y, p + n)), d2, fetch(Y, p + n + n)), i + 4, m_out)


@inlined
def push_one(Y, p, d, i, m_out):
    """m += Y d of one row, one body."""
    put(plus(fetch(m_out, i), d, fetch(Y, p)), i, m_out)
    put(plus(fetch(m_out, i + 4), d, fetch(Y, p + 3)), i + 4, m_out)


@inlined
def push_quickly(c, card, Y, d0, d1, d2, m_out):
    """m += Y d of a quick block."""
    p, i, n = card[c + PLACE], card[c + A], 6 + card[c + SIZE_C]
    if card[c + ROWS] == 3:
        push_three(Y, p, n, d0, d1, d2, i, m_out)
        if n > 6:
            push_three(Y, p + 6, n, d0, d1, d2, card[c + C], m_out)
        return
    push_one(Y, p, d0, i, m_out)
    if n > 6:
        push_one(Y, p + 6, d0, card[c + C], m_out)


@inlined
def push_row(Y, p, d, i, size, m_out):
    """m += Y d of one row, one island."""
    for l in range(0, size, 4):
        put_four(plus(fetch_four(m_out, i + l), d, fetch_four(Y, p + l)), i + l, m_out)


@inlined
def push_rows(Y, p, n, d0, d1, d2, i, size, m_out):
    """The same of three rows."""
    for q in range(p, p + size, 4):
        m = plus(plus(fetch_four(m_out, i), d0, fetch_four(Y, q)), d1, fetch_four(Y, q + n))
        put_four(plus(m, d2, fetch_four(Y, q + n + n)), i, m_out)
        i += 4


@inlined
def push_slowly(c, card, Y, d0, d1, d2, d3, m_out):
    """m += Y d of one that is not quick."""
    p, rows, i, k = card[c + PLACE], card[c + ROWS], card[c + A], card[c + C]
    one, two = wide(card[c + SIZE_A]), wide(card[c + SIZE_C])
    if rows == 3:
        push_rows(Y, p, one + two, d0, d1, d2, i, one, m_out)
        push_rows(Y, p + one, one + two, d0, d1, d2, k, two, m_out)
        return
    d = d0
    for r in range(rows):
        push_row(Y, p, d, i, one, m_out)
        push_row(Y, p + one, d, k, two, m_out)
        p += one + two
        d = d1 if r == 0 else (d2 if r == 1 else d3)


@inlined
def along(c, card, J, b, m):
    """û of a block's rows, zeros where it has fewer than four."""
    if card[c + MANNER] != SLOW:
        return quickly_along(c, card, J, b, m)
    return slowly_along(c, card, J, b, m)


@inlined
def push(c, card, J, Y, d0, d1, d2, d3, m_out):
    """m += Y d of a block."""
    if card[c + MANNER] == UNIT:
        push_quickly(c, card, J, d0, d1, d2, m_out)
    elif card[c + MANNER] == TWOFOLD:
        push_quickly(c, card, Y, d0, d1, d2, m_out)
    else:
        push_slowly(c, card, Y, d0, d1, d2, d3, m_out)
