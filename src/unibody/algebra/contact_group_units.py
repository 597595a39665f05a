"""The units of `contact_units` (λ = D x, û = D u, every cone ‖x_t‖ ≤ x_n) for rows in groups, and the axes of a block's tangents.

The tangents' own 3×3 part of a block of W is brought to its axes (by Jacobi's rotations), so that a sweep finds the friction of a contact
that slides from one equation.
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.contact_sweeps import COULOMB, TINY
from unibody.kernel import Floats, Ints, device, kernel

JACOBI = 12
TABLE, INVERSE, AXES = 20, 7, 11
"""Numbers of a block: w_n, w (3) and d (3) as in `contact_sweeps`; 1 / w_n and 1 / d (3); the axes (3×3, as columns)."""


@device
def rotation(a, b, c):
    """cos, sin of the turn that makes the symmetric (a c; c b) diagonal."""
    if abs(c) <= 1e-17 * (abs(a) + abs(b)):
        return 1.0, 0.0
    tau = (b - a) / (2.0 * c)
    t = (1.0 if tau >= 0.0 else -1.0) / (abs(tau) + math.sqrt(1.0 + tau * tau))
    cosine = 1.0 / math.sqrt(1.0 + t * t)
    return cosine, t * cosine


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
                c, s = rotation(A_out[4 * p], A_out[4 * q], A_out[3 * p + q])
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
    law: int, start: Ints, place: Ints, friction: Floats, b_out: Floats, J_out: Floats, Y_out: Floats, D_out: Floats, table_out: Floats
) -> None:
    """D of all rows; J, Y and b times D, tangents turned into the axes of the block's own S; and its table."""
    own = np.zeros(16)
    S = np.zeros(9)
    V = np.zeros(9)
    for k in range(start.size - 1):
        at, rows, t = start[k], start[k + 1] - start[k], TABLE * k
        for i in range(16):
            own[i] = 0.0
        for p in range(place[k], place[k + 1], rows):
            for r in range(rows):
                for c in range(rows):
                    own[4 * r + c] += J_out[p + r] * Y_out[p + c]
        largest = 0.0
        for r in range(rows):
            factor = 1.0 if r == 0 else friction[3 * k + r - 1]
            D_out[at + r] = factor
            largest = max(largest, own[5 * r] * factor * factor)
        scale = 1.0 / math.sqrt(largest) if largest > 1e-300 else 1.0
        for r in range(rows):
            D_out[at + r] *= scale
            b_out[at + r] *= D_out[at + r]
        for r in range(rows):
            for c in range(rows):
                own[4 * r + c] *= D_out[at + r] * D_out[at + c]
        for p in range(place[k], place[k + 1], rows):
            for r in range(rows):
                J_out[p + r] *= D_out[at + r]
                Y_out[p + r] *= D_out[at + r]
        for i in range(TABLE):
            table_out[t + i] = 0.0
        normal = own[0]
        table_out[t] = normal
        table_out[t + INVERSE] = 1.0 / normal if normal > TINY else 0.0
        if rows == 1:
            continue
        n = rows - 1
        for i in range(n):
            for j in range(n):
                S[3 * i + j] = 0.5 * (own[4 * i + j + 5] + own[4 * j + i + 5])
                if law == COULOMB and normal > 0.0:
                    S[3 * i + j] -= own[4 * i + 4] * own[4 * j + 4] / normal
        diagonalise(n, S, V)
        for j in range(n):
            side = 0.0
            for i in range(n):
                side += V[3 * i + j] * own[4 * i + 4]
            for i in range(3):
                table_out[t + AXES + 3 * i + j] = V[3 * i + j]
            d = max(S[4 * j], TINY)
            table_out[t + 1 + j] = side
            table_out[t + 4 + j] = d
            table_out[t + INVERSE + 1 + j] = 1.0 / d
        turn(n, table_out, t + AXES, 1, 3, at + 1, b_out)
        for p in range(place[k] + 1, place[k + 1], rows):
            turn(n, table_out, t + AXES, 1, 3, p, J_out)
            turn(n, table_out, t + AXES, 1, 3, p, Y_out)


@device
def turn(n, table, v, along, across, at, x_out):
    """x_i ← Σ_j table[v + along i + across j] x_j of n tangents: along 1, across 3 into the axes V, the other way around out of them."""
    x0 = x_out[at]
    x1 = x_out[at + 1] if n > 1 else 0.0
    x2 = x_out[at + 2] if n > 2 else 0.0
    for i in range(n):
        w = v + along * i
        x_out[at + i] = table[w] * x0 + table[w + across] * x1 + table[w + 2 * across] * x2


@kernel
def turn_all(back: int, start: Ints, table: Floats, x_out: Floats) -> None:
    """Tangents of all blocks into their axes, or out of them."""
    along, across = (3, 1) if back == 1 else (1, 3)
    for k in range(start.size - 1):
        n = start[k + 1] - start[k] - 1
        if n > 0:
            turn(n, table, TABLE * k + AXES, along, across, start[k] + 1, x_out)
