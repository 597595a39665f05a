"""A factor of the tree that is kept, for many right sides:  Jᵀ blkdiag(B) J + D  with any symmetric 6×6 blocks B.

What `aba` does in one go, in two: leaves to root `factor_tree` leaves U and 1/D of every column

    U = B S,  D = Sᵀ U + d,  B ← B − U Uᵀ / D

and `solve_tree` takes loads and efforts through it, up and down. `push_tree` and `pull_tree` are x = J y and u = Jᵀ f. A block
(A M; Mᵀ C), angular first, is 21 numbers: A's upper triangle by rows, M, C's; nodes and columns have the rows that `aba` describes.
"""

from __future__ import annotations

from unibody.algebra.block.sym6 import add6, dot6, offset, store6
from unibody.algebra.tree.aba import BODY, COLUMN, INVERSE, LOOSE, ZERO6, U
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import cross, load3, load6
from unibody.triple import fetch, join, minus, plus, put, put_only, total

ZERO21 = (0.0,) * 21


@device
def times_block(b, x):
    """B x for a symmetric 6×6 block stored as 21 numbers."""
    return (
        b[0] * x[0] + b[1] * x[1] + b[2] * x[2] + b[6] * x[3] + b[7] * x[4] + b[8] * x[5],
        b[1] * x[0] + b[3] * x[1] + b[4] * x[2] + b[9] * x[3] + b[10] * x[4] + b[11] * x[5],
        b[2] * x[0] + b[4] * x[1] + b[5] * x[2] + b[12] * x[3] + b[13] * x[4] + b[14] * x[5],
        b[6] * x[0] + b[9] * x[1] + b[12] * x[2] + b[15] * x[3] + b[16] * x[4] + b[17] * x[5],
        b[7] * x[0] + b[10] * x[1] + b[13] * x[2] + b[16] * x[3] + b[18] * x[4] + b[19] * x[5],
        b[8] * x[0] + b[11] * x[1] + b[14] * x[2] + b[17] * x[3] + b[19] * x[4] + b[20] * x[5],
    )


@device
def load21(a, k):
    return (
        a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5], a[k + 6], a[k + 7], a[k + 8], a[k + 9], a[k + 10],
        a[k + 11], a[k + 12], a[k + 13], a[k + 14], a[k + 15], a[k + 16], a[k + 17], a[k + 18], a[k + 19], a[k + 20],
    )  # fmt: skip


@device
def without_direction(b, g, s):
    """B − s g gᵀ."""
    a0 = s * g[0]
    a1 = s * g[1]
    a2 = s * g[2]
    a3 = s * g[3]
    a4 = s * g[4]
    a5 = s * g[5]
    return (
        b[0] - a0 * g[0], b[1] - a0 * g[1], b[2] - a0 * g[2], b[3] - a1 * g[1], b[4] - a1 * g[2], b[5] - a2 * g[2],
        b[6] - a0 * g[3], b[7] - a0 * g[4], b[8] - a0 * g[5],
        b[9] - a1 * g[3], b[10] - a1 * g[4], b[11] - a1 * g[5],
        b[12] - a2 * g[3], b[13] - a2 * g[4], b[14] - a2 * g[5],
        b[15] - a3 * g[3], b[16] - a3 * g[4], b[17] - a3 * g[5], b[18] - a4 * g[4], b[19] - a4 * g[5], b[20] - a5 * g[5],
    )  # fmt: skip


@device
def shifted_block(b, r):
    """Tᵀ B T, with T the shift of a twist by r: v_i = v − r × ω."""
    rx, ry, rz = r
    # M' = B_al + [r] C, with C the linear block
    m0 = b[6] + ry * b[17] - rz * b[16]
    m1 = b[7] + ry * b[19] - rz * b[18]
    m2 = b[8] + ry * b[20] - rz * b[19]
    m3 = b[9] + rz * b[15] - rx * b[17]
    m4 = b[10] + rz * b[16] - rx * b[19]
    m5 = b[11] + rz * b[17] - rx * b[20]
    m6 = b[12] + rx * b[16] - ry * b[15]
    m7 = b[13] + rx * b[18] - ry * b[16]
    m8 = b[14] + rx * b[19] - ry * b[17]
    # A' = A − B_al [r] + [r] M'ᵀ
    return (
        b[0] + (b[8] * ry - b[7] * rz) + (ry * m2 - rz * m1),
        b[1] + (b[6] * rz - b[8] * rx) + (ry * m5 - rz * m4),
        b[2] + (b[7] * rx - b[6] * ry) + (ry * m8 - rz * m7),
        b[3] + (b[9] * rz - b[11] * rx) + (rz * m3 - rx * m5),
        b[4] + (b[10] * rx - b[9] * ry) + (rz * m6 - rx * m8),
        b[5] + (b[13] * rx - b[12] * ry) + (rx * m7 - ry * m6),
        m0, m1, m2, m3, m4, m5, m6, m7, m8, b[15], b[16], b[17], b[18], b[19], b[20],
    )  # fmt: skip


@device
def rigid_block(rows, k):
    """The rigid inertia m, h = m c, J (about the node's point) as a symmetric block."""
    m, hx, hy, hz = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
    return (
        rows[k + 4], rows[k + 9], rows[k + 8], rows[k + 5], rows[k + 7], rows[k + 6], 0.0, -hz, hy, hz, 0.0, -hx, -hy, hx, 0.0, m, 0.0, 0.0,
        m, 0.0, m,
    )  # fmt: skip


@device
def add_blocks(a, b):
    return (
        a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5], a[6] + b[6], a[7] + b[7], a[8] + b[8], a[9] + b[9],
        a[10] + b[10], a[11] + b[11], a[12] + b[12], a[13] + b[13], a[14] + b[14], a[15] + b[15], a[16] + b[16], a[17] + b[17],
        a[18] + b[18], a[19] + b[19], a[20] + b[20],
    )  # fmt: skip


@device
def store21(b, k, a_out):
    a_out[k], a_out[k + 1], a_out[k + 2], a_out[k + 3], a_out[k + 4], a_out[k + 5], a_out[k + 6] = b[0], b[1], b[2], b[3], b[4], b[5], b[6]
    a_out[k + 7], a_out[k + 8], a_out[k + 9], a_out[k + 10], a_out[k + 11], a_out[k + 12] = b[7], b[8], b[9], b[10], b[11], b[12]
    a_out[k + 13], a_out[k + 14], a_out[k + 15], a_out[k + 16], a_out[k + 17], a_out[k + 18] = b[13], b[14], b[15], b[16], b[17], b[18]
    a_out[k + 19], a_out[k + 20] = b[19], b[20]


@device
def solve_loose(columns, right, i, first, f_out, x_out, y_out):
    """A node that is LOOSE, up and down at once."""
    e = offset(COLUMN * first)
    k = offset(6 * i)
    x = fetch(columns, e)
    y = fetch(columns, e + COLUMN)
    z = fetch(columns, e + 2 * COLUMN)
    ux = fetch(columns, e + 3 * COLUMN + U)
    uy = fetch(columns, e + 4 * COLUMN + U)
    uz = fetch(columns, e + 5 * COLUMN + U)
    v = fetch(columns, e + COLUMN + U)
    w = fetch(columns, e + 2 * COLUMN + U)
    inverse = columns[e + 3 * COLUMN + INVERSE]
    a, b, c = columns[e + INVERSE], columns[e + COLUMN + INVERSE], columns[e + 2 * COLUMN + INVERSE]
    t = join(f_out[k], f_out[k + 1], f_out[k + 2])
    f = join(f_out[k + 3], f_out[k + 4], f_out[k + 5])
    store6(ZERO6, k, f_out)
    rest_x = right[first + 3] + total(x * f)
    rest_y = right[first + 4] + total(y * f)
    rest_z = right[first + 5] + total(z * f)
    t = minus(t, inverse, plus(plus(ux * rest_x, uy, rest_y), uz, rest_z))
    turn_z = right[first + 2] + total(z * t)
    t = minus(t, turn_z * c, w)
    turn_y = right[first + 1] + total(y * t)
    t = minus(t, turn_y * b, v)
    y_x = (right[first] + total(x * t)) * a
    o = x * y_x
    y_y = (turn_y - total(v * o)) * b
    o = plus(o, y_y, y)
    y_z = (turn_z - total(w * o)) * c
    o = plus(o, y_z, z)
    l_x = (rest_x - total(ux * o)) * inverse
    l_y = (rest_y - total(uy * o)) * inverse
    l_z = (rest_z - total(uz * o)) * inverse
    y_out[first], y_out[first + 1], y_out[first + 2] = y_x, y_y, y_z
    y_out[first + 3], y_out[first + 4], y_out[first + 5] = l_x, l_y, l_z
    put(o, k, x_out)
    put_only(plus(plus(x * l_x, y, l_y), z, l_z), k + 3, x_out)


@device
def add_shifted_block(b, r, k, rows_out):
    """Add Tᵀ B T to the block at k."""
    c = shifted_block(b, r)
    rows_out[k] += c[0]
    rows_out[k + 1] += c[1]
    rows_out[k + 2] += c[2]
    rows_out[k + 3] += c[3]
    rows_out[k + 4] += c[4]
    rows_out[k + 5] += c[5]
    rows_out[k + 6] += c[6]
    rows_out[k + 7] += c[7]
    rows_out[k + 8] += c[8]
    rows_out[k + 9] += c[9]
    rows_out[k + 10] += c[10]
    rows_out[k + 11] += c[11]
    rows_out[k + 12] += c[12]
    rows_out[k + 13] += c[13]
    rows_out[k + 14] += c[14]
    rows_out[k + 15] += c[15]
    rows_out[k + 16] += c[16]
    rows_out[k + 17] += c[17]
    rows_out[k + 18] += c[18]
    rows_out[k + 19] += c[19]
    rows_out[k + 20] += c[20]


@device
def store_pivot(u, inverse, rest, k, columns_out):
    columns_out[k] = u[0]
    columns_out[k + 1] = u[1]
    columns_out[k + 2] = u[2]
    columns_out[k + 3] = u[3]
    columns_out[k + 4] = u[4]
    columns_out[k + 5] = u[5]
    columns_out[k + 6] = inverse
    columns_out[k + 7] = rest


@kernel
def factor_tree(
    body: Ints, shift: Floats, diagonal: Floats, least: Floats, blocks: Floats, sums_out: Floats, columns_out: Floats
) -> int:
    """Factor only, with any symmetric blocks (21 numbers a node): fills U and 1/D of the columns.

    Returns 0, or the first node with a pivot that is not above `least` (one number a column). `sums_out` (21 a node) is scratch."""
    n = body.size // BODY
    handed = False
    sum_b = ZERO21
    for i in range(n - 1, 0, -1):
        o = offset(BODY * i)
        first, count, role = offset(body[o + 1]), body[o + 2], body[o + 5]
        # the node's own block and those that its children left
        b = load21(blocks, offset(21 * i))
        if handed:
            b = add_blocks(b, sum_b)
        elif role & 1:
            b = add_blocks(b, load21(sums_out, offset(21 * i)))
        # U = B S, D = Sᵀ U + d, B ← B − U Uᵀ / D, last column first
        for step in range(count):
            j = offset(first + count - 1 - step)
            e = offset(COLUMN * j)
            s = load6(columns_out, e)
            u = times_block(b, s)
            pivot = dot6(s, u) + diagonal[j]
            if not pivot > least[j]:
                return i
            inverse = 1.0 / pivot
            b = without_direction(b, u, inverse)
            store_pivot(u, inverse, 0.0, e + U, columns_out)
        handed = False
        # Tᵀ B T goes to the parent, along a chain in registers
        if body[o] > 0:
            sum_b = shifted_block(b, load3(shift, offset(3 * i)))
            m = offset(21 * body[o])
            if not role & 2:
                sum_b = add_blocks(sum_b, load21(sums_out, m))
            if body[o] == i - 1:
                handed = True
            else:
                store21(sum_b, m, sums_out)
    return 0


@kernel
def solve_tree(body: Ints, shift: Floats, columns: Floats, right: Floats, f_out: Floats, x_out: Floats, y_out: Floats) -> None:
    """Solve with a factored tree:  y = (Jᵀ blkdiag(B) J + D)⁻¹ (right + Jᵀ f),  x = J y.

    f_out (6 a node) holds the wrenches f on entry and zeros on return; x_out (6 a node) and y_out become the response.
    """
    n = body.size // BODY
    handed = False
    g = ZERO6
    for i in range(n - 1, 0, -1):
        o = offset(BODY * i)
        first, count = offset(body[o + 1]), body[o + 2]
        # a body that flies alone has no parent to pass anything to: it is solved at once
        if body[o + 4] == LOOSE:
            solve_loose(columns, right, i, first, f_out, x_out, y_out)
            handed = False
            continue
        # leaves to root: rest = right + Sᵀ f per column, f ← f − U rest / D, and Tᵀ f goes to the parent
        f = load6(f_out, offset(6 * i))
        store6(ZERO6, offset(6 * i), f_out)
        if handed:
            f = add6(f, g)
        for step in range(count):
            j = offset(first + count - 1 - step)
            e = offset(COLUMN * j)
            rest = right[j] + dot6(load6(columns, e), f)
            y_out[j] = rest
            t = rest * columns[e + INVERSE]
            u = load6(columns, e + U)
            f = (f[0] - t * u[0], f[1] - t * u[1], f[2] - t * u[2], f[3] - t * u[3], f[4] - t * u[4], f[5] - t * u[5])
        handed = False
        if body[o] > 0:
            # Tᵀ f: the torque moves by r × f; along a chain the sum stays in registers
            t3 = cross(load3(shift, offset(3 * i)), (f[3], f[4], f[5]))
            g = (f[0] + t3[0], f[1] + t3[1], f[2] + t3[2], f[3], f[4], f[5])
            if body[o] == i - 1:
                handed = True
            else:
                m = offset(6 * body[o])
                store6(add6(load6(f_out, m), g), m, f_out)
    # root to leaves: y = (rest − Uᵀ x) / D, x = T x_parent + S y
    x = ZERO6
    store6(ZERO6, 0, x_out)
    for i in range(1, n):
        o = offset(BODY * i)
        first, count = offset(body[o + 1]), body[o + 2]
        if body[o + 4] == LOOSE:
            continue
        if body[o] != i - 1 or i == 1:
            x = load6(x_out, offset(6 * body[o]))
        t3 = cross((x[0], x[1], x[2]), load3(shift, offset(3 * i)))
        x = (x[0], x[1], x[2], x[3] + t3[0], x[4] + t3[1], x[5] + t3[2])
        for step in range(count):
            j = offset(first + step)
            e = offset(COLUMN * j)
            y = (y_out[j] - dot6(load6(columns, e + U), x)) * columns[e + INVERSE]
            y_out[j] = y
            s = load6(columns, e)
            x = (x[0] + s[0] * y, x[1] + s[1] * y, x[2] + s[2] * y, x[3] + s[3] * y, x[4] + s[4] * y, x[5] + s[5] * y)
        store6(x, offset(6 * i), x_out)


@kernel
def push_tree(body: Ints, shift: Floats, columns: Floats, y: Floats, x_out: Floats) -> None:
    """x = J y (6 a node), the ground at rest."""
    store6(ZERO6, 0, x_out)
    x = ZERO6
    for i in range(1, body.size // BODY):
        o = offset(BODY * i)
        if body[o] != i - 1:
            x = load6(x_out, offset(6 * body[o]))
        t3 = cross((x[0], x[1], x[2]), load3(shift, offset(3 * i)))
        x = (x[0], x[1], x[2], x[3] + t3[0], x[4] + t3[1], x[5] + t3[2])
        for step in range(body[o + 2]):
            j = offset(body[o + 1] + step)
            s = load6(columns, offset(COLUMN * j))
            x = (x[0] + s[0] * y[j], x[1] + s[1] * y[j], x[2] + s[2] * y[j], x[3] + s[3] * y[j], x[4] + s[4] * y[j], x[5] + s[5] * y[j])
        store6(x, offset(6 * i), x_out)


@kernel
def pull_tree(body: Ints, shift: Floats, columns: Floats, f_out: Floats, u_out: Floats) -> None:
    """u += Jᵀ f; f_out (6 a node) is used up and zero on return."""
    handed = False
    g = ZERO6
    for i in range(body.size // BODY - 1, 0, -1):
        o = offset(BODY * i)
        f = load6(f_out, offset(6 * i))
        store6(ZERO6, offset(6 * i), f_out)
        if handed:
            f = add6(f, g)
        for step in range(body[o + 2]):
            j = offset(body[o + 1] + step)
            u_out[j] += dot6(load6(columns, offset(COLUMN * j)), f)
        # Tᵀ f goes to the parent, along a chain in registers
        handed = body[o] == i - 1
        if body[o] > 0:
            t3 = cross(load3(shift, offset(3 * i)), (f[3], f[4], f[5]))
            g = (f[0] + t3[0], f[1] + t3[1], f[2] + t3[2], f[3], f[4], f[5])
            if not handed:
                m = offset(6 * body[o])
                store6(add6(load6(f_out, m), g), m, f_out)
