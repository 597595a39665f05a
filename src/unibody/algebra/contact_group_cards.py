"""Blocks of rows in the order in which sweeps meet them: a card of whole numbers for each, and what a block costs in a sweep.

    û = b̂ + J m      (`along`),          m ← m + Y d      (`push`)

Nearly all blocks have three rows or one, on free bodies, that is groups of six. For these both are straight lines over triples
(`unibody.triple`): J lies velocity by velocity, so that one velocity moves three rows at once, Y row by row, so that one row moves three
velocities at once. Such *quick* blocks have Y as [row][velocity], all others as [velocity][row], like J. Groups of six take eight places of
m, the fourth and the eighth idle, so that triples of one body never overlap in memory.

Arrays that triples are fetched from (J, Y, b) have one number more than they need.
"""

from __future__ import annotations

from unibody.kernel import Ints, device, kernel
from unibody.triple import fetch, plus, put, total, x_of, y_of, z_of

CARD = 8
AT, PLACE, ROWS, QUICK, A, SIZE_A, C, SIZE_C = range(CARD)
"""Where a block's rows and its numbers begin; its rows; whether it is quick; where its groups begin in m, and their sizes, 0 for none."""


@device
def wide(size):
    """Places that a group takes in m."""
    return 8 if size == 6 else size


@device
def gap(size, i):
    """Idle places before velocity i of a group."""
    return 1 if size == 6 and i >= 3 else 0


@kernel
def lay_cards(order: Ints, first: Ints, groups: Ints, start: Ints, begin_out: Ints, card_out: Ints) -> int:
    """The cards of all blocks in the given order, and where each group begins in m; how many places m has."""
    begin_out[0] = 0
    for g in range(first.size - 1):
        begin_out[g + 1] = begin_out[g] + wide(first[g + 1] - first[g])
    at, place = 0, 0
    for turn in range(order.size):
        k, c = order[turn], CARD * turn
        rows = start[k + 1] - start[k]
        a, b = groups[2 * k], groups[2 * k + 1]
        if a < 0:
            a, b = b, a
        card_out[c + AT], card_out[c + PLACE], card_out[c + ROWS] = at, place, rows
        size_a = first[a + 1] - first[a] if a >= 0 else 0
        size_b = first[b + 1] - first[b] if b >= 0 else 0
        card_out[c + QUICK] = 1 if (rows == 3 or rows == 1) and size_a == 6 and (size_b == 6 or size_b == 0) else 0
        card_out[c + A], card_out[c + SIZE_A] = begin_out[a] if a >= 0 else 0, size_a
        card_out[c + C], card_out[c + SIZE_C] = begin_out[b] if b >= 0 else 0, size_b
        at += rows
        place += rows * (size_a + size_b)
    return begin_out[first.size - 1]


@device
def three_along(J, p, m, i):
    """J m of three rows, one body."""
    turning, moving = fetch(m, i), fetch(m, i + 4)
    one = plus(plus(fetch(J, p) * x_of(turning), fetch(J, p + 3), y_of(turning)), fetch(J, p + 6), z_of(turning))
    two = plus(plus(fetch(J, p + 9) * x_of(moving), fetch(J, p + 12), y_of(moving)), fetch(J, p + 15), z_of(moving))
    return one + two


@device
def one_along(J, p, m, i):
    """J m of one row, one body, as a triple whose total it is."""
    return plus(fetch(J, p) * fetch(m, i), fetch(J, p + 3), fetch(m, i + 4))


@device
def quickly_along(c, card, J, b, m):
    """û of a quick block's rows, zeros where it has fewer than four."""
    at, p, i = card[c + AT], card[c + PLACE], card[c + A]
    if card[c + ROWS] == 3:
        u = three_along(J, p, m, i) + fetch(b, at)
        if card[c + SIZE_C] > 0:
            u = u + three_along(J, p + 18, m, card[c + C])
        return x_of(u), y_of(u), z_of(u), 0.0
    w = one_along(J, p, m, i)
    if card[c + SIZE_C] > 0:
        w = w + one_along(J, p + 6, m, card[c + C])
    return x_of(fetch(b, at)) + total(w), 0.0, 0.0, 0.0


@device
def slowly_along(c, card, J, b, m):
    """The same of one that is not quick."""
    at, p, rows = card[c + AT], card[c + PLACE], card[c + ROWS]
    if rows == 3:
        u = fetch(b, at)
        for side in range(2):
            begin, size = card[c + A + 2 * side], card[c + SIZE_A + 2 * side]
            for l in range(size):
                u = plus(u, fetch(J, p), m[begin + l + gap(size, l)])
                p += 3
        return x_of(u), y_of(u), z_of(u), 0.0
    u0 = b[at]
    u1 = b[at + 1] if rows > 1 else 0.0
    u2 = b[at + 2] if rows > 2 else 0.0
    u3 = b[at + 3] if rows > 3 else 0.0
    for side in range(2):
        begin, size = card[c + A + 2 * side], card[c + SIZE_A + 2 * side]
        for l in range(size):
            v = m[begin + l + gap(size, l)]
            u0 += J[p] * v
            if rows > 1:
                u1 += J[p + 1] * v
            if rows > 2:
                u2 += J[p + 2] * v
            if rows > 3:
                u3 += J[p + 3] * v
            p += rows
    return u0, u1, u2, u3


@device
def push_three(Y, p, n, d0, d1, d2, i, m_out):
    """m += Y d of three rows, one body; n: how many numbers a row has."""
    put(plus(plus(plus(fetch(m_out, i), d0, fetch(Y, p)), d1, fetch(Y, p + n)), d2, fetch(Y, p + n + n)), i, m_out)
    p += 3
    put(plus(plus(plus(fetch(m_out, i + 4), d0, fetch(Y, p)), d1, fetch(Y, p + n)), d2, fetch(Y, p + n + n)), i + 4, m_out)


@device
def push_one(Y, p, d, i, m_out):
    """m += Y d of one row, one body."""
    put(plus(fetch(m_out, i), d, fetch(Y, p)), i, m_out)
    put(plus(fetch(m_out, i + 4), d, fetch(Y, p + 3)), i + 4, m_out)


@device
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


@device
def push_slowly(c, card, Y, d0, d1, d2, d3, m_out):
    """The same of one that is not quick."""
    p, rows = card[c + PLACE], card[c + ROWS]
    for side in range(2):
        begin, size = card[c + A + 2 * side], card[c + SIZE_A + 2 * side]
        if rows == 3:
            for l in range(size):
                m_out[begin + l + gap(size, l)] += Y[p] * d0 + Y[p + 1] * d1 + Y[p + 2] * d2
                p += 3
            continue
        for l in range(size):
            t = Y[p] * d0
            if rows > 1:
                t += Y[p + 1] * d1
            if rows > 2:
                t += Y[p + 2] * d2
            if rows > 3:
                t += Y[p + 3] * d3
            m_out[begin + l + gap(size, l)] += t
            p += rows


@device
def along(c, card, J, b, m):
    """û of a block's rows, zeros where it has fewer than four."""
    if card[c + QUICK] == 1:
        return quickly_along(c, card, J, b, m)
    return slowly_along(c, card, J, b, m)


@device
def push(c, card, Y, d0, d1, d2, d3, m_out):
    """m += Y d of a block."""
    if card[c + QUICK] == 1:
        push_quickly(c, card, Y, d0, d1, d2, m_out)
    else:
        push_slowly(c, card, Y, d0, d1, d2, d3, m_out)
