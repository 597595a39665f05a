"""The tree: factor and solve of  Jᵀ blkdiag(B) J + D  from parents, columns S and symmetric 6×6 blocks B, in O(n).

Node i hangs on its parent by the columns S_i; with x_i the 6-vectors of the nodes (world axes, at the node's own point p_i)

    x_i = T_i x_parent + S_i y_i,        T_i: the shift of a twist from p_parent to p_i
    f_i = B_i x_i + w_i,    S_iᵀ (f_i + Σ of the subtree) + d_i y_i = u_i

Leaves to root, the columns of a node are eliminated one after the other as scalar pivots on the same symmetric block

    U = B S,  D = Sᵀ U + d,  B ← B − U Uᵀ / D,  w ← w + U (u − Sᵀ w) / D

so that there are no small inverses and no joint types; then the node is added to its parent, shifted. Root to leaves,
y = (u − Sᵀ w − Uᵀ x) / D in the opposite order. With B the rigid inertias this is the articulated-body algorithm (Featherstone 1983); with
other blocks it is a preconditioner or the inverse for contact.

A node's row holds ROW numbers: R 0–8 by columns, p 9–11 (of which only p is read here), V 12–17, ζ 18–23, w 24–29, the node's own block as
a rigid inertia 30–39 (m, h, xx yy zz yz zx xy of J; see `rigid_block`), the sum of its children's blocks 40–60 (as `sym6_triples` keeps
them), x + ζ 61–66, 67 unused. ζ is an offset that the caller wants added to x. A column's row holds COLUMN numbers: S 0–5, U 6–11, 1/D 12,
(u − Sᵀ w) 13.

Nodes with a single column that is a pure rotation (S = (s, 0)) are common enough to have their own path through the elimination, which
works on triples (`unibody.triple`); a block is seven of them and stays in registers. Indices go through `offset`, which tells the compiler
that they are not negative; arrays go only into device functions without branches, so that no references are counted on the way. Along a
chain (parent i − 1) sums are handed over in registers, not through memory.
"""

from __future__ import annotations

from unibody.algebra.block.sym6 import add6, dot6, offset, store6
from unibody.algebra.block.sym6_triples import (
    fetch_block,
    no_block,
    plus_block,
    plus_rigid,
    put_block,
    shifted,
    shifted_wrench,
    times_angular,
    times_motion,
    without,
)  # fmt: skip
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import cross, load3, load6, store3, sub3
from unibody.spatial.triples import crossed, times_diagonals
from unibody.triple import back, fetch, join, minus, plus, put, put_only, spread, total, turn

ROW = 68
P, V, C, W, RIGID, B, A = 9, 12, 18, 24, 30, 40, 61
COLUMN = 14
U, INVERSE, RIGHT = 6, 12, 13
BODY = 6
"""Integers of a node: parent, first column, number of columns, slot of its prescribed motion or −1, kind, role.

Kind: ROTATION if it has one column, a pure rotation about its own point, that never changes in its own axes; SLIDE if one that is a pure
translation; LOOSE if it is a rigid body on the ground with six columns, three pure rotations and then three pure translations along the
same axes, at right angles to each other, with nothing on it and no diagonal; WELD if it has no column and stays where it is on its parent;
else GENERAL. Role: 1 if it has children, plus 2 if it is the
child of its parent that is eliminated first."""
GENERAL, ROTATION, SLIDE, LOOSE, WELD = 0, 1, 2, 3, 4

ZERO6 = (0.0,) * 6
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


@kernel
def eliminate_tree(body: Ints, diagonal: Floats, right: Floats, rows_out: Floats, columns_out: Floats, y_out: Floats) -> None:
    """Factor and solve. Node 0 is the ground, x = 0. Fills U, 1/D, x + ζ of all nodes and y; uses up w.

    What a node waits for, from its children to its parent, is kept short: a pure rotation has D = Σ d s² + 2 o s_{i+1} s_{i+2} by itself,
    and the block is shifted while D is divided by, Tᵀ (B − U Uᵀ / D) T = Tᵀ B T − (Tᵀ U) (Tᵀ U)ᵀ / D. Downwards, Uᵀ T x = (Tᵀ U)ᵀ x.
    """
    n = body.size // BODY
    zero = spread(0.0)
    handed = False
    b = no_block()
    t = zero
    f = zero
    # leaves to root
    for i in range(n - 1, 0, -1):
        at = offset(BODY * i)
        k = offset(ROW * i)
        parent, first, count, kind, role = body[at], offset(body[at + 1]), body[at + 2], body[at + 4], body[at + 5]
        m = offset(ROW * parent)
        if kind == LOOSE:
            eliminate_loose(right, first, rows_out, k, columns_out)
            handed = False
            continue
        # what the children left: in registers along a chain, else in memory; and the node's own block and bias wrench
        if not handed:
            b = no_block()
            if role & 1:
                b = fetch_block(rows_out, k + B)
            t = zero
            f = zero
        b = plus_rigid(b, rows_out, k + RIGID)
        t = t + fetch(rows_out, k + W)
        f = f + fetch(rows_out, k + W + 3)
        r = fetch(rows_out, k + P) - fetch(rows_out, m + P)
        # D = Sᵀ B S + d, U = B S, rest = u − Sᵀ w; the block and the wrench, shifted to the parent, without the column's direction
        if kind == ROTATION:
            e = offset(COLUMN * first)
            s = fetch(columns_out, e)
            pivot = total(plus(b[0] * (s * s), b[1], 2.0 * (turn(s) * back(s)))) + diagonal[first]
            inverse = 1.0 / pivot
            ua, ul = times_angular(b, s)
            rest = right[first] - total(s * t)
            put_pivot(ua, ul, inverse, rest, e + U, columns_out)
            move = rest * inverse
            ua = shifted_wrench(ua, ul, r)
            b = without(shifted(b, r), ua, ul, inverse)
            t = plus(shifted_wrench(t, f, r), move, ua)
            f = plus(f, move, ul)
        else:
            # U = B S, D = Sᵀ U + d, B ← B − U Uᵀ / D, w ← w + U rest / D, last column first
            for step in range(count):
                j = offset(first + count - 1 - step)
                e = offset(COLUMN * j)
                s = fetch(columns_out, e)
                d = fetch(columns_out, e + 3)
                ua, ul = times_motion(b, s, d)
                inverse = 1.0 / (total(plus(s * ua, d, ul)) + diagonal[j])
                rest = right[j] - total(plus(s * t, d, f))
                put_pivot(ua, ul, inverse, rest, e + U, columns_out)
                move = rest * inverse
                b = without(b, ua, ul, inverse)
                t = plus(t, move, ua)
                f = plus(f, move, ul)
            b = shifted(b, r)
            t = shifted_wrench(t, f, r)
        # add to the parent
        handed = parent == i - 1
        if parent > 0:
            if not role & 2:
                b = plus_block(b, fetch_block(rows_out, m + B))
            if not handed:
                put_block(b, m + B, rows_out)
                t = t + fetch(rows_out, m + W)
                f = f + fetch(rows_out, m + W + 3)
                put(t, m + W, rows_out)
                put_only(f, m + W + 3, rows_out)
    # root to leaves
    xo = zero
    xl = zero
    for i in range(1, n):
        at = offset(BODY * i)
        k = offset(ROW * i)
        parent, first, count = body[at], offset(body[at + 1]), body[at + 2]
        m = offset(ROW * parent)
        # x of the parent, without its offset ζ
        if parent != i - 1:
            xo = fetch(rows_out, m + A) - fetch(rows_out, m + C)
            xl = fetch(rows_out, m + A + 3) - fetch(rows_out, m + C + 3)
        r = fetch(rows_out, k + P) - fetch(rows_out, m + P)
        # y = (rest − (Tᵀ U)ᵀ x_parent) / D, x = T x_parent + S y
        if body[at + 4] == ROTATION:
            e = offset(COLUMN * first)
            inverse = columns_out[e + INVERSE]
            ul = fetch(columns_out, e + U + 3)
            ua = shifted_wrench(fetch(columns_out, e + U), ul, r)
            y = columns_out[e + RIGHT] * inverse - total(plus((inverse * ua) * xo, inverse * ul, xl))
            y_out[first] = y
            xl = xl + crossed(xo, r)
            xo = plus(xo, y, fetch(columns_out, e))
        else:
            xl = xl + crossed(xo, r)
            # y = (rest − Uᵀ x) / D, x ← x + S y, first column first
            for step in range(count):
                j = offset(first + step)
                e = offset(COLUMN * j)
                ux = total(plus(fetch(columns_out, e + U) * xo, fetch(columns_out, e + U + 3), xl))
                y = (columns_out[e + RIGHT] - ux) * columns_out[e + INVERSE]
                y_out[j] = y
                xo = plus(xo, y, fetch(columns_out, e))
                xl = plus(xl, y, fetch(columns_out, e + 3))
        # x + ζ
        put(xo + fetch(rows_out, k + C), k + A, rows_out)
        put(xl + fetch(rows_out, k + C + 3), k + A + 3, rows_out)


@device
def put_pivot(ua, ul, inverse, rest, k, columns_out):
    put(ua, k, columns_out)
    put(ul, k + 3, columns_out)
    columns_out[k + 6] = inverse
    columns_out[k + 7] = rest


@device
def eliminate_loose(right, first, rows, k, columns_out):
    """A node that is LOOSE: its translations take the mass m of the block and leave the inertia about the centre of mass to the rest."""
    mass = rows[k + RIGID]
    inverse = 1.0 / mass
    h = fetch(rows, k + RIGID + 1)
    t = fetch(rows, k + W)
    f = fetch(rows, k + W + 3)
    e = offset(COLUMN * first)
    x = fetch(columns_out, e)
    y = fetch(columns_out, e + COLUMN)
    z = fetch(columns_out, e + 2 * COLUMN)
    rest_x = right[first + 3] - total(x * f)
    rest_y = right[first + 4] - total(y * f)
    rest_z = right[first + 5] - total(z * f)
    t = plus(t, inverse, crossed(h, plus(plus(x * rest_x, y, rest_y), z, rest_z)))
    put_pivot(crossed(h, x), mass * x, inverse, rest_x, e + 3 * COLUMN + U, columns_out)
    put_pivot(crossed(h, y), mass * y, inverse, rest_y, e + 4 * COLUMN + U, columns_out)
    put_pivot(crossed(h, z), mass * z, inverse, rest_z, e + 5 * COLUMN + U, columns_out)
    c = h * inverse
    d = plus(fetch(rows, k + RIGID + 4), c, h) - total(c * h)
    o = plus(fetch(rows, k + RIGID + 7), turn(c), back(h))
    d, o, t = eliminate_turn(d, o, t, z, right[first + 2], e + 2 * COLUMN + U, columns_out)
    d, o, t = eliminate_turn(d, o, t, y, right[first + 1], e + COLUMN + U, columns_out)
    eliminate_turn(d, o, t, x, right[first], e + U, columns_out)


@device
def eliminate_turn(d, o, t, s, right, k, columns_out):
    """A pure rotation about s on a symmetric 3×3 block, its diagonal d and what is beside it."""
    u = times_diagonals(d, o, s)
    inverse = 1.0 / total(s * u)
    rest = right - total(s * t)
    put_pivot(u, spread(0.0), inverse, rest, k, columns_out)
    g = u * inverse
    return minus(d, g, u), minus(o, turn(g), back(u)), plus(t, rest, g)


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


@device
def fill_shifts(body, rows, shift_out):
    """p_i − p_parent of every node (3 a node), close together for repeated solves."""
    for i in range(1, body.size // BODY):
        store3(sub3(load3(rows, ROW * i + P), load3(rows, ROW * body[BODY * i] + P)), 3 * i, shift_out)


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
