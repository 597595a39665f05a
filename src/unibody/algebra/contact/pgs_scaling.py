"""Rows in islands brought to units in which every cone is ‖x_t‖ ≤ x_n, and to the axes of a block's tangents.

The tangents' own part of a block of W is brought to its axes (by Jacobi's rotations; of two tangents one is enough), so that a sweep finds
the friction of a contact that slides from one equation.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact.pgs_cards import (  # isort: skip
    AT, CARD, MANNER, PLACE, ROWS, SIZE_A, SIZE_C, SLOW, TWOFOLD, UNIT, ask_for, extent, gap, push, wide,
)  # fmt: skip
from unibody.algebra.contact.island_scaling import AXES, INVERSE, LOWER, PACE, TABLE, UPPER, begin_at, turn_in
from unibody.algebra.contact.pgs import COULOMB, TINY, four
from unibody.algebra.contact.pgs_slots import AXES_OWN, B_OWN, D_OWN, J_OWN, MOTION, TABLES, Y_OWN, X
from unibody.arena import part
from unibody.kernel import Floats, Ints, device, inlined, kernel
from unibody.triple import across_x, across_y, across_z, fetch, join, minus, plus, put, put_four, put_only, spread, swap, x_of, y_of, z_of

JACOBI = 12
TOGETHER = 8
"""Blocks that are weighed, one after the other, before they are laid out: the roots of one do not wait for those of another."""


@inlined
def rotation(a, b, c):
    """cos, sin, tan of the turn that makes the symmetric (a c; c b) diagonal."""
    if abs(c) <= 1e-17 * (abs(a) + abs(b)):
        return 1.0, 0.0, 0.0
    tau = (b - a) / (2.0 * c)
    t = (1.0 if tau >= 0.0 else -1.0) / (abs(tau) + math.sqrt(1.0 + tau * tau))
    cosine = 1.0 / math.sqrt(1.0 + t * t)
    return cosine, t * cosine, t


@kernel
def diagonalise(n: int, A_out: Floats, V_out: Floats) -> None:
    """Axes V (3×3, columns) and eigenvalues (left on the diagonal of A, 3×3) of the first n ≤ 3 rows, by Jacobi's rotations."""
    for i in range(3):
        for j in range(3):
            V_out[3 * i + j] = 1.0 if i == j else 0.0
    for _ in range(1 if n == 2 else JACOBI):
        off = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                c, s, _ = rotation(A_out[4 * p], A_out[4 * q], A_out[3 * p + q])
                off += abs(s)
                for k in range(n):
                    x, y = A_out[3 * k + p], A_out[3 * k + q]
                    A_out[3 * k + p], A_out[3 * k + q] = c * x - s * y, s * x + c * y
                for k in range(n):
                    x, y = A_out[3 * p + k], A_out[3 * q + k]
                    A_out[3 * p + k], A_out[3 * q + k] = c * x - s * y, s * x + c * y
                for k in range(n):
                    x, y = V_out[3 * k + p], V_out[3 * k + q]
                    V_out[3 * k + p], V_out[3 * k + q] = c * x - s * y, s * x + c * y
        if off == 0.0:
            break


@kernel
def scale_blocks(
    law: int, warm: int, order: Ints, start: Ints, place: Ints, card: Ints, friction: Floats, lower: Floats, upper: Floats, J: Floats,
    Y: Floats, b: Floats, impulse: Floats, layout: Ints, work_out: Floats,
) -> None:  # fmt: skip
    """D of all rows; J, Y and b times D, tangents turned into the axes of the block's own S; and its table. Blocks come in the order of
    their cards (`pgs_cards`). x to begin with, from the impulses if these are warm, and its motion, while all of a block is
    at hand."""
    own, S, V = np.zeros(16), np.zeros(9), np.zeros(9)
    J_out, Y_out, b_out = part(work_out, layout, J_OWN), part(work_out, layout, Y_OWN), part(work_out, layout, B_OWN)
    D_out, table_out, axes_out = part(work_out, layout, D_OWN), part(work_out, layout, TABLES), part(work_out, layout, AXES_OWN)
    x_out, motion_out = part(work_out, layout, X), part(work_out, layout, MOTION)
    motion_out[:] = 0.0
    for i in range(1, 5):
        J_out[J_out.size - i] = Y_out[Y_out.size - i] = 0.0
    b_out[b.size] = 0.0
    for begin in range(0, order.size, TOGETHER):
        end = min(begin + TOGETHER, order.size)
        for l in range(begin, end):
            k, c = order[l], CARD * l
            if l + TOGETHER < order.size:
                ahead = order[l + TOGETHER]
                ask_for(place[ahead], place[ahead + 1], card[CARD * (l + TOGETHER) + MANNER] == UNIT, J, Y)
            if card[c + ROWS] == 3:
                mu1, mu2, unit = friction[3 * k], friction[3 * k + 1], card[c + MANNER] == UNIT
                weigh_three(law, unit, card[c + AT], l, place[k], place[k + 1], mu1, mu2, J, Y, D_out, table_out, axes_out)
        for l in range(begin, end):
            k, c, rows = order[l], CARD * l, card[CARD * l + ROWS]
            of, at = start[k], card[c + AT]
            if rows == 1:
                one_row(c, TABLE * l, card, place[k], lower[k], upper[k], b[of], J, Y, J_out, Y_out, b_out, D_out, table_out)
            elif rows == 3 and place[k + 1] < J.size:
                lay_three(c, AXES * l, card, place[k], of, J, Y, b, D_out, axes_out, J_out, Y_out, b_out)
            else:  # two or four, or three where fetching the last triple would reach beyond the end
                some_rows(
                    law, k, l, card, place[k], of, friction, J, Y, b, own, S, V, J_out, Y_out, b_out, D_out, table_out, axes_out
                )  # fmt: skip
            begin_at(l, c, of, card, D_out, table_out, axes_out, warm, impulse, x_out)
            x0, x1, x2, x3 = four(rows, at, x_out)
            if x0 != 0.0 or x1 != 0.0 or x2 != 0.0 or x3 != 0.0:
                push(c, card, J_out, Y_out, x0, x1, x2, x3, motion_out)


@device
def some_rows(law, k, l, card, old, start, friction, J, Y, b, own_out, S_out, V_out, J_out, Y_out, b_out, D_out, table_out, axes_out):
    """All of it for any number of rows."""
    c, t, v = CARD * l, TABLE * l, AXES * l
    at, rows, n = card[c + AT], card[c + ROWS], card[c + SIZE_A] + card[c + SIZE_C]
    for i in range(16):
        own_out[i] = 0.0
    for i in range(n):
        for r in range(rows):
            for q in range(rows):
                own_out[4 * r + q] += J[old + rows * i + r] * Y[old + rows * i + q]
    largest = 0.0
    for r in range(rows):
        D_out[at + r] = 1.0 if r == 0 else friction[3 * k + r - 1]
        largest = max(largest, own_out[5 * r] * D_out[at + r] * D_out[at + r])
    scale = 1.0 / math.sqrt(largest) if largest > 1e-300 else 1.0
    for r in range(rows):
        D_out[at + r] *= scale
        b_out[at + r] = b[start + r] * D_out[at + r]
    for r in range(rows):
        for q in range(rows):
            own_out[4 * r + q] *= D_out[at + r] * D_out[at + q]
    tangents = rows - 1
    for i in range(TABLE):
        table_out[t + i] = 0.0
    for i in range(AXES):
        axes_out[v + i] = 0.0
    normal = own_out[0]
    table_out[t] = normal
    table_out[t + INVERSE] = 1.0 / normal if normal > TINY else 0.0
    table_out[t + PACE] = 1.0 / (scale * scale)
    for i in range(tangents):
        for j in range(tangents):
            S_out[3 * i + j] = 0.5 * (own_out[4 * i + j + 5] + own_out[4 * j + i + 5])
            if law == COULOMB and normal > 0.0:
                S_out[3 * i + j] -= own_out[4 * i + 4] * own_out[4 * j + 4] / normal
    diagonalise(tangents, S_out, V_out)
    for j in range(tangents):
        side = 0.0
        for i in range(tangents):
            side += V_out[3 * i + j] * own_out[4 * i + 4]
        for i in range(3):
            axes_out[v + 3 * i + j] = V_out[3 * i + j]
        d = max(S_out[4 * j], TINY)
        table_out[t + 1 + j] = side
        table_out[t + 4 + j] = d
        table_out[t + INVERSE + 1 + j] = 1.0 / d
    turn_in(tangents, axes_out, v, 1, 3, at + 1, b_out)
    lay_some(c, v, card, old, J, D_out, axes_out, card[c + MANNER] == UNIT, S_out, J_out)
    if card[c + MANNER] != UNIT:
        lay_some(c, v, card, old, Y, D_out, axes_out, True, S_out, Y_out)


@inlined
def one_row(c, t, card, old, lower, upper, b, J, Y, J_out, Y_out, b_out, D_out, table_out):
    """The same for a single row, which has bounds instead of friction."""
    at, p, Z = card[c + AT], card[c + PLACE], J if card[c + MANNER] == UNIT else Y
    normal = 0.0
    for q in range(old, old + card[c + SIZE_A] + card[c + SIZE_C]):
        normal += J[q] * Z[q]
    scale = 1.0 / math.sqrt(normal) if normal > 1e-300 else 1.0
    D_out[at] = scale
    b_out[at] = b * scale
    normal *= scale * scale
    table_out[t] = normal
    table_out[t + INVERSE] = 1.0 / normal if normal > TINY else 0.0
    table_out[t + LOWER] = lower / scale
    table_out[t + UPPER] = upper / scale
    table_out[t + PACE] = 1.0 / (scale * scale)
    if card[c + MANNER] != SLOW:
        n = card[c + SIZE_A] + card[c + SIZE_C]
        for i in range(n):
            J_out[p + i] = J[old + i] * scale
        for q in range(p + n, p + extent(c, card)):
            J_out[q] = 0.0
        if card[c + MANNER] == TWOFOLD:
            for i in range(n):
                Y_out[p + i] = Y[old + i] * scale
            for q in range(p + n, p + extent(c, card)):
                Y_out[q] = 0.0
        return
    for side in range(2):
        size = card[c + SIZE_A + 2 * side]
        lay_row(J, old, 1, size, scale, p, J_out)
        lay_row(Y, old, 1, size, scale, p, Y_out)
        old += size
        p += wide(size)


@inlined
def lay_row(A, old, step, size, scale, p, A_out):
    """One row, one island: numbers `step` apart, times a scale, in the places that they have in m, zeros in idle ones."""
    for i in range(size, wide(size)):
        A_out[p + i] = 0.0
    if size == 6:
        A_out[p + 3] = 0.0
    for i in range(size):
        A_out[p + i + gap(size, i)] = A[old + step * i] * scale


@device
def lay_some(c, v, card, old, A, D, axes, by_row, S_out, A_out):
    """J or Y of two, three or four rows, scaled and turned; by_row: whether it lies row by row in quick blocks too."""
    at, p, rows, quick = card[c + AT], card[c + PLACE], card[c + ROWS], card[c + MANNER] != SLOW
    n = card[c + SIZE_A] + card[c + SIZE_C] if quick else wide(card[c + SIZE_A]) + wide(card[c + SIZE_C])
    along, across = (n, 1) if by_row or not quick else (1, rows)
    for q in range(p, p + extent(c, card)):
        A_out[q] = 0.0
    for side in range(2):
        size = card[c + SIZE_A + 2 * side]
        for i in range(size):
            for r in range(rows):
                S_out[r] = A[old + r] * D[at + r]
            turn_in(rows - 1, axes, v, 1, 3, 1, S_out)
            to = p + across * (i if quick else i + gap(size, i))
            for r in range(rows):
                A_out[to + along * r] = S_out[r]
            old += rows
        p += across * (size if quick else wide(size))


@inlined
def weigh_three(law, unit, at, l, old, end, mu1, mu2, J, Y, D_out, table_out, axes_out):
    """D, table and axes of block l of three rows, whose numbers end before `end` and whose axes are one rotation."""
    if end == J.size:  # fetching the last triple would reach beyond the end
        return
    c0, c1, c2 = spread(0.0), spread(0.0), spread(0.0)
    Z = J if unit else Y
    for q in range(old, end, 3):
        j = fetch(J, q)
        c0, c1, c2 = plus(c0, j, Z[q]), plus(c1, j, Z[q + 1]), plus(c2, j, Z[q + 2])
    largest = max(x_of(c0), y_of(c1) * mu1 * mu1, z_of(c2) * mu2 * mu2)
    D0 = 1.0 / math.sqrt(largest) if largest > 1e-300 else 1.0
    D1, D2 = mu1 * D0, mu2 * D0
    nn, n1, n2 = x_of(c0) * D0 * D0, y_of(c0) * D1 * D0, z_of(c0) * D2 * D0
    through = 1.0 / nn if nn > 0.0 else 0.0
    lean = through if law == COULOMB else 0.0
    s11, s22 = y_of(c1) * D1 * D1 - n1 * n1 * lean, z_of(c2) * D2 * D2 - n2 * n2 * lean
    s12 = 0.5 * (y_of(c2) + z_of(c1)) * D1 * D2 - n1 * n2 * lean
    cosine, sine, tangent = rotation(s11, s22, s12)
    d1, d2 = max(s11 - tangent * s12, TINY), max(s22 + tangent * s12, TINY)
    t, v = TABLE * l, AXES * l
    table_out[t] = nn
    table_out[t + 1] = cosine * n1 - sine * n2
    table_out[t + 2] = sine * n1 + cosine * n2
    table_out[t + 3] = 0.0
    table_out[t + 4] = d1
    table_out[t + 5] = d2
    table_out[t + 6] = 0.0
    table_out[t + INVERSE] = through if nn > TINY else 0.0
    table_out[t + INVERSE + 1] = 1.0 / d1
    table_out[t + INVERSE + 2] = 1.0 / d2
    table_out[t + INVERSE + 3] = 0.0
    table_out[t + PACE] = 1.0 / (D0 * D0)
    axes_out[v], axes_out[v + 1], axes_out[v + 2] = cosine, sine, 0.0
    axes_out[v + 3], axes_out[v + 4], axes_out[v + 5] = -sine, cosine, 0.0
    axes_out[v + 6], axes_out[v + 7], axes_out[v + 8] = 0.0, 0.0, 0.0
    D_out[at], D_out[at + 1], D_out[at + 2] = D0, D1, D2


@inlined
def lay_three(c, v, card, old, start, J, Y, b, D, axes, J_out, Y_out, b_out):
    """J, Y and b of a block of three rows, scaled and turned; v: where its axes are."""
    at, p, n = card[c + AT], card[c + PLACE], card[c + SIZE_A] + card[c + SIZE_C]
    D0, D1, D2, cosine, sine = D[at], D[at + 1], D[at + 2], axes[v], axes[v + 1]
    own, other = join(D0, cosine * D1, cosine * D2), join(0.0, -sine * D2, sine * D1)
    put(turned(own, other, join(b[start], b[start + 1], b[start + 2])), at, b_out)
    if card[c + MANNER] == SLOW:
        one, two = wide(card[c + SIZE_A]), wide(card[c + SIZE_C])
        for side in range(2):
            size = card[c + SIZE_A + 2 * side]
            lay_by_rows(D0, D1, D2, cosine, sine, J, old, size, p, one + two, J_out)
            lay_by_rows(D0, D1, D2, cosine, sine, Y, old, size, p, one + two, Y_out)
            old += 3 * size
            p += one
        return
    if card[c + MANNER] == UNIT:
        lay_rows_of_three(D0, D1, D2, cosine, sine, J, old, n, p, J_out)
        return
    for i in range(0, 3 * n, 3):
        put(turned(own, other, fetch(J, old + i)), p + i, J_out)
    for q in range(p + 3 * n, p + extent(c, card)):
        J_out[q] = 0.0
    lay_rows_of_three(D0, D1, D2, cosine, sine, Y, old, n, p, Y_out)


@inlined
def lay_rows_of_three(D0, D1, D2, cosine, sine, A, old, n, p, A_out):
    """Three rows of n numbers, scaled and turned, row by row; what is left of their fours is zero."""
    for i in range(0, n, 3):
        q = old + 3 * i
        x, y, z = fetch(A, q), fetch(A, q + 3), fetch(A, q + 6)
        first, second, third = rows_turned(D0, D1, D2, cosine, sine, x, y, z, z)
        put_only(first, p + i, A_out)
        put_only(second, p + n + i, A_out)
        put_only(third, p + n + n + i, A_out)
    for q in range(p + 3 * n, p + (3 * n + 3) // 4 * 4):
        A_out[q] = 0.0


@inlined
def lay_by_rows(D0, D1, D2, cosine, sine, A, old, size, p, n, A_out):
    """Three rows of one island, scaled and turned, row by row in the places that velocities have in m."""
    step, i = 3 if size == 6 else 4, 0
    while i < size:
        have = min(step, size - i)
        x, y, z, w = fetch(A, old), spread(0.0), spread(0.0), spread(0.0)
        if have > 1:
            y = fetch(A, old + 3)
        if have > 2:
            z = fetch(A, old + 6)
        if have > 3:
            w = fetch(A, old + 9)
        first, second, third = rows_turned(D0, D1, D2, cosine, sine, x, y, z, w)
        put_four(first, p, A_out)
        put_four(second, p + n, A_out)
        put_four(third, p + n + n, A_out)
        i += have
        p += 4
        old += 3 * have


@inlined
def turned(own, other, x):
    """The three rows of one velocity, scaled and turned: of each its own part, and what comes from the other tangent."""
    return plus(x * own, swap(x), other)


@inlined
def rows_turned(D0, D1, D2, cosine, sine, x, y, z, w):
    """The rows of four velocities, scaled and turned, each as a four."""
    one, two = across_y(x, y, z, w), across_z(x, y, z, w)
    return across_x(x, y, z, w) * D0, minus(one * (cosine * D1), two, sine * D2), plus(one * (sine * D1), two, cosine * D2)
