"""Blocks packed for sweeps: scaled (λ = D x, û = D u, `scaling`), the tangents rotated into the axes of the block's own matrix, laid out as
`pgs_layout` says; and impulses into these variables and out of them.

With V the axes of S = W_t − w wᵀ / w_n (Coulomb) or of W_t (convex), found by Jacobi's rotations, of two tangents by one,

    Ĵ = (1; Vᵀ) D J,    Ŷ = (1; Vᵀ) D Y,    b̂ = (1; Vᵀ) D b,    λ = D (1; V) x

so that the local solve (`local_solve`) of a contact that slides is one equation for one number.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact.cones import load_block
from unibody.algebra.contact.local_solve import INVERSE, LOWER, PACE, TABLE, TINY, UPPER, diagonalise, rotation
from unibody.algebra.contact.problem import COULOMB
from unibody.algebra.contact.scaling import block_scale

from unibody.algebra.contact.pgs_layout import (  # isort: skip
    AXES, AXES_OWN, B_OWN, BODIES, D_OWN, DATA, FIRST_SIZE, GENERAL, J_OWN, MOTION, RECORD, ROW, ROWS, SECOND_SIZE, STORAGE, TABLES,
    UNIT_BODIES, X, Y_OWN, apply_impulse, padded, padding, prefetch_block, row_length, stored,
)  # fmt: skip
from unibody.arena import part
from unibody.kernel import Floats, Ints, device, inlined, kernel
from unibody.triple import across_x, across_y, across_z, fetch, join, minus, plus, put, put_four, put_only, spread, swap, x_of, y_of, z_of

BATCH = 8
"""Blocks that are scaled, one after the other, before they are packed: the roots of one do not wait for those of another."""


@kernel
def pack_blocks(
    law: int, warm: int, order: Ints, start: Ints, place: Ints, record: Ints, friction: Floats, lower: Floats, upper: Floats, J: Floats,
    Y: Floats, b: Floats, impulse: Floats, layout: Ints, work_out: Floats,
) -> None:  # fmt: skip
    """All blocks in the order of their records: D, tables and axes; J, Y and b scaled and rotated; x to begin with, from the impulses if
    these are warm, and its motion m = Y x, while all of a block is at hand."""
    own, S, V = np.zeros(16), np.zeros(9), np.zeros(9)
    J_out, Y_out, b_out = part(work_out, layout, J_OWN), part(work_out, layout, Y_OWN), part(work_out, layout, B_OWN)
    D_out, table_out, axes_out = part(work_out, layout, D_OWN), part(work_out, layout, TABLES), part(work_out, layout, AXES_OWN)
    x_out, motion_out = part(work_out, layout, X), part(work_out, layout, MOTION)
    motion_out[:] = 0.0
    # what is fetched beyond the last numbers is zero
    for i in range(1, 5):
        J_out[J_out.size - i] = Y_out[Y_out.size - i] = 0.0
    b_out[b.size] = 0.0
    for begin in range(0, order.size, BATCH):
        end = min(begin + BATCH, order.size)
        # D, tables and axes of contacts of three rows; the numbers of the next batch are asked for
        for l in range(begin, end):
            k, c = order[l], RECORD * l
            if l + BATCH < order.size:
                ahead = order[l + BATCH]
                prefetch_block(place[ahead], place[ahead + 1], record[RECORD * (l + BATCH) + STORAGE] == UNIT_BODIES, J, Y)
            if record[c + ROWS] == 3:
                mu1, mu2, unit = friction[3 * k], friction[3 * k + 1], record[c + STORAGE] == UNIT_BODIES
                scale_three(law, unit, record[c + ROW], l, place[k], place[k + 1], mu1, mu2, J, Y, D_out, table_out, axes_out)
        # Ĵ, Ŷ, b̂ of all blocks, those of other sizes with their D and tables
        for l in range(begin, end):
            k, c, rows = order[l], RECORD * l, record[RECORD * l + ROWS]
            of, at = start[k], record[c + ROW]
            if rows == 1:
                pack_single(c, TABLE * l, record, place[k], lower[k], upper[k], b[of], J, Y, J_out, Y_out, b_out, D_out, table_out)
            elif rows == 3 and place[k + 1] < J.size:
                pack_three(c, AXES * l, record, place[k], of, J, Y, b, D_out, axes_out, J_out, Y_out, b_out)
            else:  # two or four, or three where fetching the last triple would reach beyond the end
                pack_any(
                    law, k, l, record, place[k], of, friction, J, Y, b, own, S, V, J_out, Y_out, b_out, D_out, table_out, axes_out
                )  # fmt: skip
            # x and m += Y x
            start_block(l, c, of, record, D_out, table_out, axes_out, warm, impulse, x_out)
            x0, x1, x2, x3 = load_block(rows, at, x_out)
            if x0 != 0.0 or x1 != 0.0 or x2 != 0.0 or x3 != 0.0:
                apply_impulse(c, record, J_out, Y_out, x0, x1, x2, x3, motion_out)


@device
def pack_any(law, k, l, record, old, start, friction, J, Y, b, own_out, S_out, V_out, J_out, Y_out, b_out, D_out, table_out, axes_out):
    """D, table, axes, Ĵ, Ŷ and b̂ of block l of any number of rows."""
    c, t, v = RECORD * l, TABLE * l, AXES * l
    at, rows, n = record[c + ROW], record[c + ROWS], record[c + FIRST_SIZE] + record[c + SECOND_SIZE]
    # the block's own matrix J Yᵀ
    for i in range(16):
        own_out[i] = 0.0
    for i in range(n):
        for r in range(rows):
            for q in range(rows):
                own_out[4 * r + q] += J[old + rows * i + r] * Y[old + rows * i + q]
    # D, and the matrix scaled by it
    largest = 0.0
    for r in range(rows):
        D_out[at + r] = 1.0 if r == 0 else friction[3 * k + r - 1]
        largest = max(largest, own_out[5 * r] * D_out[at + r] * D_out[at + r])
    scale = block_scale(largest)
    for r in range(rows):
        D_out[at + r] *= scale
        b_out[at + r] = b[start + r] * D_out[at + r]
    for r in range(rows):
        for q in range(rows):
            own_out[4 * r + q] *= D_out[at + r] * D_out[at + q]
    # the normal's part of the table
    tangents = rows - 1
    for i in range(TABLE):
        table_out[t + i] = 0.0
    for i in range(AXES):
        axes_out[v + i] = 0.0
    normal = own_out[0]
    table_out[t] = normal
    table_out[t + INVERSE] = 1.0 / normal if normal > TINY else 0.0
    table_out[t + PACE] = 1.0 / (scale * scale)
    # S, its axes V and eigenvalues d, and w in these axes
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
    # b̂, Ĵ and Ŷ
    rotate_tangents(tangents, axes_out, v, 1, 3, at + 1, b_out)
    pack_rows(c, v, record, old, J, D_out, axes_out, record[c + STORAGE] == UNIT_BODIES, S_out, J_out)
    if record[c + STORAGE] != UNIT_BODIES:
        pack_rows(c, v, record, old, Y, D_out, axes_out, True, S_out, Y_out)


@inlined
def pack_single(c, t, record, old, lower, upper, b, J, Y, J_out, Y_out, b_out, D_out, table_out):
    """D, table, Ĵ, Ŷ and b̂ of a single row, which has bounds instead of friction."""
    at, p, Z = record[c + ROW], record[c + DATA], J if record[c + STORAGE] == UNIT_BODIES else Y
    normal = 0.0
    for q in range(old, old + record[c + FIRST_SIZE] + record[c + SECOND_SIZE]):
        normal += J[q] * Z[q]
    scale = block_scale(normal)
    D_out[at] = scale
    b_out[at] = b * scale
    normal *= scale * scale
    table_out[t] = normal
    table_out[t + INVERSE] = 1.0 / normal if normal > TINY else 0.0
    table_out[t + LOWER] = lower / scale
    table_out[t + UPPER] = upper / scale
    table_out[t + PACE] = 1.0 / (scale * scale)
    if record[c + STORAGE] != GENERAL:
        n = record[c + FIRST_SIZE] + record[c + SECOND_SIZE]
        for i in range(n):
            J_out[p + i] = J[old + i] * scale
        for q in range(p + n, p + stored(c, record)):
            J_out[q] = 0.0
        if record[c + STORAGE] == BODIES:
            for i in range(n):
                Y_out[p + i] = Y[old + i] * scale
            for q in range(p + n, p + stored(c, record)):
                Y_out[q] = 0.0
        return
    for side in range(2):
        size = record[c + FIRST_SIZE + 2 * side]
        pack_row(J, old, 1, size, scale, p, J_out)
        pack_row(Y, old, 1, size, scale, p, Y_out)
        old += size
        p += padded(size)


@inlined
def pack_row(A, old, step, size, scale, p, A_out):
    """One row, one island: numbers `step` apart, times a scale, in the places that they have in m, zeros in the padding."""
    for i in range(size, padded(size)):
        A_out[p + i] = 0.0
    if size == 6:
        A_out[p + 3] = 0.0
    for i in range(size):
        A_out[p + i + padding(size, i)] = A[old + step * i] * scale


@device
def pack_rows(c, v, record, old, A, D, axes, by_row, S_out, A_out):
    """J or Y of two, three or four rows, scaled and rotated; by_row: whether it lies row by row in blocks on bodies too."""
    at, p, rows, on_bodies = record[c + ROW], record[c + DATA], record[c + ROWS], record[c + STORAGE] != GENERAL
    n = row_length(c, record)
    along, across = (n, 1) if by_row or not on_bodies else (1, rows)
    for q in range(p, p + stored(c, record)):
        A_out[q] = 0.0
    for side in range(2):
        size = record[c + FIRST_SIZE + 2 * side]
        for i in range(size):
            for r in range(rows):
                S_out[r] = A[old + r] * D[at + r]
            rotate_tangents(rows - 1, axes, v, 1, 3, 1, S_out)
            to = p + across * (i if on_bodies else i + padding(size, i))
            for r in range(rows):
                A_out[to + along * r] = S_out[r]
            old += rows
        p += across * (size if on_bodies else padded(size))


@inlined
def scale_three(law, unit, at, l, old, end, mu1, mu2, J, Y, D_out, table_out, axes_out):
    """D, table and axes of block l of three rows, whose numbers end before `end` and whose axes are one rotation."""
    if end == J.size:  # fetching the last triple would reach beyond the end
        return
    # the columns of the block's own matrix J Yᵀ
    c0, c1, c2 = spread(0.0), spread(0.0), spread(0.0)
    Z = J if unit else Y
    for q in range(old, end, 3):
        j = fetch(J, q)
        c0, c1, c2 = plus(c0, j, Z[q]), plus(c1, j, Z[q + 1]), plus(c2, j, Z[q + 2])
    # D = g^(−½) (1; μ₁; μ₂), and w_n, w of the scaled matrix
    largest = max(x_of(c0), y_of(c1) * mu1 * mu1, z_of(c2) * mu2 * mu2)
    D0 = block_scale(largest)
    D1, D2 = mu1 * D0, mu2 * D0
    nn, n1, n2 = x_of(c0) * D0 * D0, y_of(c0) * D1 * D0, z_of(c0) * D2 * D0
    # S = W_t − w wᵀ / w_n (convex law: W_t), its axes and eigenvalues
    through = 1.0 / nn if nn > 0.0 else 0.0
    lean = through if law == COULOMB else 0.0
    s11, s22 = y_of(c1) * D1 * D1 - n1 * n1 * lean, z_of(c2) * D2 * D2 - n2 * n2 * lean
    s12 = 0.5 * (y_of(c2) + z_of(c1)) * D1 * D2 - n1 * n2 * lean
    cosine, sine, tangent = rotation(s11, s22, s12)
    d1, d2 = max(s11 - tangent * s12, TINY), max(s22 + tangent * s12, TINY)
    # w_n; w in the axes; d; their inverses
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
def pack_three(c, v, record, old, start, J, Y, b, D, axes, J_out, Y_out, b_out):
    """J, Y and b of a block of three rows, scaled and rotated; v: where its axes are."""
    at, p, n = record[c + ROW], record[c + DATA], record[c + FIRST_SIZE] + record[c + SECOND_SIZE]
    D0, D1, D2, cosine, sine = D[at], D[at + 1], D[at + 2], axes[v], axes[v + 1]
    own, other = join(D0, cosine * D1, cosine * D2), join(0.0, -sine * D2, sine * D1)
    put(rotated(own, other, join(b[start], b[start + 1], b[start + 2])), at, b_out)
    if record[c + STORAGE] == GENERAL:
        one, two = padded(record[c + FIRST_SIZE]), padded(record[c + SECOND_SIZE])
        for side in range(2):
            size = record[c + FIRST_SIZE + 2 * side]
            pack_three_padded(D0, D1, D2, cosine, sine, J, old, size, p, one + two, J_out)
            pack_three_padded(D0, D1, D2, cosine, sine, Y, old, size, p, one + two, Y_out)
            old += 3 * size
            p += one
        return
    if record[c + STORAGE] == UNIT_BODIES:
        pack_three_by_row(D0, D1, D2, cosine, sine, J, old, n, p, J_out)
        return
    for i in range(0, 3 * n, 3):
        put(rotated(own, other, fetch(J, old + i)), p + i, J_out)
    for q in range(p + 3 * n, p + stored(c, record)):
        J_out[q] = 0.0
    pack_three_by_row(D0, D1, D2, cosine, sine, Y, old, n, p, Y_out)


@inlined
def pack_three_by_row(D0, D1, D2, cosine, sine, A, old, n, p, A_out):
    """Three rows of n numbers, scaled and rotated, row by row; what is left of their fours is zero."""
    for i in range(0, n, 3):
        q = old + 3 * i
        x, y, z = fetch(A, q), fetch(A, q + 3), fetch(A, q + 6)
        first, second, third = rotated_rows(D0, D1, D2, cosine, sine, x, y, z, z)
        put_only(first, p + i, A_out)
        put_only(second, p + n + i, A_out)
        put_only(third, p + n + n + i, A_out)
    for q in range(p + 3 * n, p + (3 * n + 3) // 4 * 4):
        A_out[q] = 0.0


@inlined
def pack_three_padded(D0, D1, D2, cosine, sine, A, old, size, p, n, A_out):
    """Three rows of one island, scaled and rotated, row by row in the places that velocities have in m."""
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
        first, second, third = rotated_rows(D0, D1, D2, cosine, sine, x, y, z, w)
        put_four(first, p, A_out)
        put_four(second, p + n, A_out)
        put_four(third, p + n + n, A_out)
        i += have
        p += 4
        old += 3 * have


@inlined
def rotated(own, other, x):
    """The three rows of one velocity, scaled and rotated: of each its own part, and what comes from the other tangent."""
    return plus(x * own, swap(x), other)


@inlined
def rotated_rows(D0, D1, D2, cosine, sine, x, y, z, w):
    """The three rows of four velocities, scaled and rotated, each as a four."""
    one, two = across_y(x, y, z, w), across_z(x, y, z, w)
    return across_x(x, y, z, w) * D0, minus(one * (cosine * D1), two, sine * D2), plus(one * (sine * D1), two, cosine * D2)


@inlined
def start_block(l, c, of, record, D, table, axes, warm, impulse, x_out):
    """x of block l, whose rows begin at `of` among those given: of given impulses, in the axes; if these are not warm, as near to zero as
    bounds allow."""
    at, rows = record[c + ROW], record[c + ROWS]
    if warm == 0:
        for r in range(rows):
            x_out[at + r] = 0.0
        if rows == 1:
            x_out[at] = min(max(0.0, table[TABLE * l + LOWER]), table[TABLE * l + UPPER])
        return
    if rows == 3:
        x1 = impulse[of + 1] / D[at + 1] if D[at + 1] > 0.0 else 0.0
        x2 = impulse[of + 2] / D[at + 2] if D[at + 2] > 0.0 else 0.0
        v = AXES * l
        x_out[at] = impulse[of] / D[at]
        x_out[at + 1], x_out[at + 2] = axes[v] * x1 + axes[v + 3] * x2, axes[v + 1] * x1 + axes[v + 4] * x2
        return
    for r in range(rows):
        x_out[at + r] = impulse[of + r] / D[at + r] if D[at + r] > 0.0 else 0.0
    if rows > 1:
        rotate_tangents(rows - 1, axes, AXES * l, 1, 3, at + 1, x_out)


@kernel
def unpack_impulses(
    order: Ints, start: Ints, record: Ints, D: Floats, axes: Floats, x: Floats, scratch_out: Floats, impulse_out: Floats
) -> float:
    """λ = D x, out of the axes, in the order of the rows as they came; the largest. A scratch of four numbers."""
    largest = 0.0
    for l in range(order.size):
        to, at, rows = start[order[l]], record[RECORD * l + ROW], record[RECORD * l + ROWS]
        if rows == 3:
            x1, x2, v = x[at + 1], x[at + 2], AXES * l
            f0 = D[at] * x[at]
            f1, f2 = D[at + 1] * (axes[v] * x1 + axes[v + 1] * x2), D[at + 2] * (axes[v + 3] * x1 + axes[v + 4] * x2)
            impulse_out[to], impulse_out[to + 1], impulse_out[to + 2] = f0, f1, f2
            largest = max(largest, abs(f0), abs(f1), abs(f2))
            continue
        for r in range(rows):
            scratch_out[r] = x[at + r]
        if rows > 1:
            rotate_tangents(rows - 1, axes, AXES * l, 3, 1, 1, scratch_out)
        for r in range(rows):
            impulse_out[to + r] = D[at + r] * scratch_out[r]
            largest = max(largest, abs(impulse_out[to + r]))
    return largest


@inlined
def rotate_tangents(n, axes, v, along, across, at, x_out):
    """x_i ← Σ_j axes[v + along i + across j] x_j of n tangents: along 1, across 3 into the axes, the other way around out of them."""
    x0 = x_out[at]
    x1 = x_out[at + 1] if n > 1 else 0.0
    x2 = x_out[at + 2] if n > 2 else 0.0
    for i in range(n):
        w = v + along * i
        x_out[at + i] = axes[w] * x0 + axes[w + across] * x1 + axes[w + 2 * across] * x2
