"""The units of `contact_units` (λ = D x, û = D u, every cone ‖x_t‖ ≤ x_n) for rows in groups, and the axes of a block's tangents.

The tangents' own 3×3 part of a block of W is brought to its axes (by Jacobi's rotations), so that a sweep finds the friction of a contact
that slides from one equation.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact_group_cards import AT, CARD, PLACE, QUICK, ROWS, SIZE_A, SIZE_C
from unibody.algebra.contact_sweeps import COULOMB, TINY
from unibody.kernel import Floats, Ints, device, kernel
from unibody.triple import back, fetch, join, plus, put, put_only, spread, turn, x_of, y_of, z_of

JACOBI = 12
TABLE, INVERSE, AXES = 20, 7, 11
"""Numbers of a block: w_n, w (3) and d (3) as in `contact_sweeps`; 1 / w_n and 1 / d (3); the axes (3×3, as columns)."""
LOWER, UPPER = 1, 2
"""Of a single row, instead of w: the bounds of x."""


@device
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
    law: int, order: Ints, start: Ints, place: Ints, card: Ints, friction: Floats, lower: Floats, upper: Floats, J: Floats, Y: Floats,
    b: Floats, J_out: Floats, Y_out: Floats, b_out: Floats, D_out: Floats, table_out: Floats,
) -> None:  # fmt: skip
    """D of all rows; J, Y and b times D, tangents turned into the axes of the block's own S; and its table. Blocks come in the order of
    their cards (`contact_group_cards`), Y of quick ones row by row."""
    own, S, V = np.zeros(16), np.zeros(9), np.zeros(9)
    for l in range(order.size):
        k, c, t = order[l], CARD * l, TABLE * l
        old, p, at, rows = place[k], card[c + PLACE], card[c + AT], card[c + ROWS]
        n = card[c + SIZE_A] + card[c + SIZE_C]
        for i in range(TABLE):
            table_out[t + i] = 0.0
        if rows == 1:
            normal = 0.0
            for i in range(n):
                normal += J[old + i] * Y[old + i]
            scale = 1.0 / math.sqrt(normal) if normal > 1e-300 else 1.0
            for i in range(n):
                J_out[p + i] = J[old + i] * scale
                Y_out[p + i] = Y[old + i] * scale
            D_out[at] = scale
            b_out[at] = b[start[k]] * scale
            normal *= scale * scale
            table_out[t] = normal
            table_out[t + INVERSE] = 1.0 / normal if normal > TINY else 0.0
            table_out[t + LOWER] = lower[k] / scale
            table_out[t + UPPER] = upper[k] / scale
            continue
        if rows == 3 and old + 3 * n < J.size:  # not where fetching the last triple would reach beyond the end
            three_rows(law, k, n, old, start[k], at, p, t, card[c + QUICK], friction, J, Y, b, J_out, Y_out, b_out, D_out, table_out)
            continue
        for i in range(16):
            own[i] = 0.0
        for i in range(n):
            for r in range(rows):
                for q in range(rows):
                    own[4 * r + q] += J[old + rows * i + r] * Y[old + rows * i + q]
        largest = 0.0
        for r in range(rows):
            D_out[at + r] = 1.0 if r == 0 else friction[3 * k + r - 1]
            largest = max(largest, own[5 * r] * D_out[at + r] * D_out[at + r])
        scale = 1.0 / math.sqrt(largest) if largest > 1e-300 else 1.0
        for r in range(rows):
            D_out[at + r] *= scale
            b_out[at + r] = b[start[k] + r] * D_out[at + r]
        for r in range(rows):
            for q in range(rows):
                own[4 * r + q] *= D_out[at + r] * D_out[at + q]
        normal = own[0]
        table_out[t] = normal
        table_out[t + INVERSE] = 1.0 / normal if normal > TINY else 0.0
        tangents = rows - 1
        for i in range(tangents):
            for j in range(tangents):
                S[3 * i + j] = 0.5 * (own[4 * i + j + 5] + own[4 * j + i + 5])
                if law == COULOMB and normal > 0.0:
                    S[3 * i + j] -= own[4 * i + 4] * own[4 * j + 4] / normal
        diagonalise(tangents, S, V)
        for j in range(tangents):
            side = 0.0
            for i in range(tangents):
                side += V[3 * i + j] * own[4 * i + 4]
            for i in range(3):
                table_out[t + AXES + 3 * i + j] = V[3 * i + j]
            d = max(S[4 * j], TINY)
            table_out[t + 1 + j] = side
            table_out[t + 4 + j] = d
            table_out[t + INVERSE + 1 + j] = 1.0 / d
        turn_in(tangents, table_out, t + AXES, 1, 3, at + 1, b_out)
        along, across = (n, 1) if card[c + QUICK] == 1 else (1, rows)
        for i in range(n):
            for r in range(rows):
                J_out[p + rows * i + r] = J[old + rows * i + r] * D_out[at + r]
                S[r] = Y[old + rows * i + r] * D_out[at + r]
            turn_in(tangents, table_out, t + AXES, 1, 3, p + rows * i + 1, J_out)
            turn_in(tangents, table_out, t + AXES, 1, 3, 1, S)
            for r in range(rows):
                Y_out[p + along * r + across * i] = S[r]


@device
def three_rows(law, k, n, old, start, at, p, t, quick, friction, J, Y, b, J_out, Y_out, b_out, D_out, table_out):
    """The same for a block of three rows, whose axes are one rotation."""
    c0, c1, c2 = spread(0.0), spread(0.0), spread(0.0)
    for q in range(old, old + 3 * n, 3):
        j, y = fetch(J, q), fetch(Y, q)
        c0, c1, c2 = plus(c0, j, x_of(y)), plus(c1, j, y_of(y)), plus(c2, j, z_of(y))
    mu1, mu2 = friction[3 * k], friction[3 * k + 1]
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
    table_out[t] = nn
    table_out[t + 1] = cosine * n1 - sine * n2
    table_out[t + 2] = sine * n1 + cosine * n2
    table_out[t + 4] = d1
    table_out[t + 5] = d2
    table_out[t + INVERSE] = through if nn > TINY else 0.0
    table_out[t + INVERSE + 1] = 1.0 / d1
    table_out[t + INVERSE + 2] = 1.0 / d2
    table_out[t + AXES], table_out[t + AXES + 1] = cosine, sine
    table_out[t + AXES + 3], table_out[t + AXES + 4] = -sine, cosine
    D_out[at], D_out[at + 1], D_out[at + 2] = D0, D1, D2
    own, after, before = join(D0, cosine * D1, cosine * D2), join(0.0, -sine * D2, 0.0), join(0.0, 0.0, sine * D1)
    put(turned(own, after, before, join(b[start], b[start + 1], b[start + 2])), at, b_out)
    for i in range(0, 3 * n, 3):
        put(turned(own, after, before, fetch(J, old + i)), p + i, J_out)
    if quick == 0:
        for i in range(0, 3 * n, 3):
            put(turned(own, after, before, fetch(Y, old + i)), p + i, Y_out)
        return
    for i in range(0, n, 3):
        q = old + 3 * i
        x = turned(own, after, before, fetch(Y, q))
        y = turned(own, after, before, fetch(Y, q + 3))
        z = turned(own, after, before, fetch(Y, q + 6))
        put_only(join(x_of(x), x_of(y), x_of(z)), p + i, Y_out)
        put_only(join(y_of(x), y_of(y), y_of(z)), p + n + i, Y_out)
        put_only(join(z_of(x), z_of(y), z_of(z)), p + n + n + i, Y_out)


@device
def turned(own, after, before, x):
    """Three rows, scaled and turned: own of each, and what comes from the rows after and before it."""
    return plus(plus(x * own, turn(x), after), back(x), before)


@kernel
def begin_at(order: Ints, start: Ints, card: Ints, D: Floats, table: Floats, impulse: Floats, x_out: Floats) -> None:
    """x of given impulses, in the axes."""
    for l in range(order.size):
        of, at, rows = start[order[l]], card[CARD * l + AT], card[CARD * l + ROWS]
        for r in range(rows):
            x_out[at + r] = impulse[of + r] / D[at + r] if D[at + r] > 0.0 else 0.0
        if rows > 1:
            turn_in(rows - 1, table, TABLE * l + AXES, 1, 3, at + 1, x_out)


@kernel
def begin_anew(card: Ints, table: Floats, x_out: Floats) -> None:
    """x as near to zero as bounds allow."""
    x_out[:] = 0.0
    for t in range(card.size // CARD):
        if card[CARD * t + ROWS] == 1:
            x_out[card[CARD * t + AT]] = min(max(0.0, table[TABLE * t + LOWER]), table[TABLE * t + UPPER])


@kernel
def impulses_of(
    order: Ints, start: Ints, card: Ints, D: Floats, table: Floats, x: Floats, scratch_out: Floats, impulse_out: Floats
) -> None:
    """λ = D x, out of the axes, in the order of the rows as they came."""
    for l in range(order.size):
        to, at, rows = start[order[l]], card[CARD * l + AT], card[CARD * l + ROWS]
        for r in range(rows):
            scratch_out[r] = x[at + r]
        if rows > 1:
            turn_in(rows - 1, table, TABLE * l + AXES, 3, 1, 1, scratch_out)
        for r in range(rows):
            impulse_out[to + r] = D[at + r] * scratch_out[r]


@device
def turn_in(n, table, v, along, across, at, x_out):
    """x_i ← Σ_j table[v + along i + across j] x_j of n tangents: along 1, across 3 into the axes V, the other way around out of them."""
    x0 = x_out[at]
    x1 = x_out[at + 1] if n > 1 else 0.0
    x2 = x_out[at + 2] if n > 2 else 0.0
    for i in range(n):
        w = v + along * i
        x_out[at + i] = table[w] * x0 + table[w + across] * x1 + table[w + 2 * across] * x2
