"""The tree: factor and solve of  Jᵀ blkdiag(B) J + D  from parents, columns S and symmetric 6×6 blocks B, in O(n).

Node i hangs on its parent by the columns S_i; with x_i the 6-vectors of the nodes (world axes, at the node's own point p_i)

    x_i = T_i x_parent + c_i + S_i y_i,        T_i: the shift of a twist from p_parent to p_i
    f_i = B_i x_i + w_i,    S_iᵀ (f_i + Σ of the subtree) + d_i y_i = u_i

Leaves to root, the columns of a node are eliminated one after the other as scalar pivots on the same symmetric block

    U = B S,  D = Sᵀ U + d,  B ← B − U Uᵀ / D,  w ← w + U (u − Sᵀ w) / D

so that there are no small inverses and no joint types; then the node is added to its parent, shifted. Root to leaves,
y = (u − Sᵀ w − Uᵀ x) / D in the opposite order. With B the rigid inertias this is the articulated-body algorithm (Featherstone 1983); with
other blocks it is a preconditioner or the inverse for contact.

A node's row holds ROW numbers: R 0–8, p 9–11 (of which only p is read here), V 12–17, c 18–23, w 24–29, B 30–50 (xx xy xz yy yz zz of the angular block, nine
of the angular–linear one, six of the linear one), x 51–56. B and w stay as they were before the node's own elimination, so that
B x + w is the wrench through its joint. A column's row holds COLUMN numbers: S 0–5, U 6–11, 1/D 12, (u − Sᵀ w) 13.
"""

from __future__ import annotations

from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import cross, load3, load6, sub3

ROW = 57
P, V, C, W, B, A = 9, 12, 18, 24, 30, 51
COLUMN = 14
U, INVERSE, RIGHT = 6, 12, 13
BODY = 4
"""Integers of a node: parent, first column, number of columns, slot of its prescribed motion or −1."""


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
def dot6(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


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
def add_shifted_block(b, r, k, rows_out):
    """Add Tᵀ B T to the block at k, with T the shift of a twist by r: v_i = v − r × ω."""
    rx, ry, rz = r
    # n = B_al + [r] C  (rows), C the linear block
    m0 = b[6] + ry * b[17] - rz * b[16]
    m1 = b[7] + ry * b[19] - rz * b[18]
    m2 = b[8] + ry * b[20] - rz * b[19]
    m3 = b[9] + rz * b[15] - rx * b[17]
    m4 = b[10] + rz * b[16] - rx * b[19]
    m5 = b[11] + rz * b[17] - rx * b[20]
    m6 = b[12] + rx * b[16] - ry * b[15]
    m7 = b[13] + rx * b[18] - ry * b[16]
    m8 = b[14] + rx * b[19] - ry * b[17]
    # A' = A − B_al [r] + [r] M'ᵀ with M' = B_al + [r] C
    rows_out[k] += b[0] + (b[8] * ry - b[7] * rz) + (ry * m2 - rz * m1)
    rows_out[k + 1] += b[1] + (b[6] * rz - b[8] * rx) + (ry * m5 - rz * m4)
    rows_out[k + 2] += b[2] + (b[7] * rx - b[6] * ry) + (ry * m8 - rz * m7)
    rows_out[k + 3] += b[3] + (b[9] * rz - b[11] * rx) + (rz * m3 - rx * m5)
    rows_out[k + 4] += b[4] + (b[10] * rx - b[9] * ry) + (rz * m6 - rx * m8)
    rows_out[k + 5] += b[5] + (b[13] * rx - b[12] * ry) + (rx * m7 - ry * m6)
    rows_out[k + 6] += m0
    rows_out[k + 7] += m1
    rows_out[k + 8] += m2
    rows_out[k + 9] += m3
    rows_out[k + 10] += m4
    rows_out[k + 11] += m5
    rows_out[k + 12] += m6
    rows_out[k + 13] += m7
    rows_out[k + 14] += m8
    rows_out[k + 15] += b[15]
    rows_out[k + 16] += b[16]
    rows_out[k + 17] += b[17]
    rows_out[k + 18] += b[18]
    rows_out[k + 19] += b[19]
    rows_out[k + 20] += b[20]


@device
def eliminate_columns(first, count, diagonal, right, b, w, columns_out):
    """Scalar pivots on the columns of one node, last first; returns the reduced block and wrench."""
    for j in range(first + count - 1, first - 1, -1):
        s = load6(columns_out, COLUMN * j)
        u = times_block(b, s)
        inverse = 1.0 / (dot6(s, u) + diagonal[j])
        e = right[j] - dot6(s, w)
        b = without_direction(b, u, inverse)
        t = e * inverse
        w = (w[0] + t * u[0], w[1] + t * u[1], w[2] + t * u[2], w[3] + t * u[3], w[4] + t * u[4], w[5] + t * u[5])
        k = COLUMN * j + U
        columns_out[k] = u[0]
        columns_out[k + 1] = u[1]
        columns_out[k + 2] = u[2]
        columns_out[k + 3] = u[3]
        columns_out[k + 4] = u[4]
        columns_out[k + 5] = u[5]
        columns_out[k + 6] = inverse
        columns_out[k + 7] = e
    return b, w


@kernel
def eliminate_tree(body: Ints, diagonal: Floats, right: Floats, rows_out: Floats, columns_out: Floats, y_out: Floats) -> None:
    """Factor and solve. Node 0 is the ground: its row's x is given. Fills U, 1/D, x of all nodes and y."""
    n = body.size // BODY
    for i in range(n - 1, 0, -1):
        k = ROW * i
        parent = body[BODY * i]
        b = load21(rows_out, k + B)
        w = load6(rows_out, k + W)
        b, w = eliminate_columns(body[BODY * i + 1], body[BODY * i + 2], diagonal, right, b, w, columns_out)
        if parent > 0:
            m = ROW * parent
            c = load6(rows_out, k + C)
            w0, w1, w2, w3, w4, w5 = times_block(b, c)
            f = (w[3] + w3, w[4] + w4, w[5] + w5)
            r = sub3(load3(rows_out, k + P), load3(rows_out, m + P))
            t = cross(r, f)
            rows_out[m + W] += w[0] + w0 + t[0]
            rows_out[m + W + 1] += w[1] + w1 + t[1]
            rows_out[m + W + 2] += w[2] + w2 + t[2]
            rows_out[m + W + 3] += f[0]
            rows_out[m + W + 4] += f[1]
            rows_out[m + W + 5] += f[2]
            add_shifted_block(b, r, m + B, rows_out)
    for i in range(1, n):
        k = ROW * i
        m = ROW * body[BODY * i]
        r = sub3(load3(rows_out, k + P), load3(rows_out, m + P))
        x = load6(rows_out, m + A)
        c = load6(rows_out, k + C)
        t = cross((x[0], x[1], x[2]), r)
        x = (x[0] + c[0], x[1] + c[1], x[2] + c[2], x[3] + t[0] + c[3], x[4] + t[1] + c[4], x[5] + t[2] + c[5])
        first = body[BODY * i + 1]
        for j in range(first, first + body[BODY * i + 2]):
            e = COLUMN * j
            u = load6(columns_out, e + U)
            y = (columns_out[e + RIGHT] - dot6(u, x)) * columns_out[e + INVERSE]
            y_out[j] = y
            s = load6(columns_out, e)
            x = (x[0] + s[0] * y, x[1] + s[1] * y, x[2] + s[2] * y, x[3] + s[3] * y, x[4] + s[4] * y, x[5] + s[5] * y)
        rows_out[k + A] = x[0]
        rows_out[k + A + 1] = x[1]
        rows_out[k + A + 2] = x[2]
        rows_out[k + A + 3] = x[3]
        rows_out[k + A + 4] = x[4]
        rows_out[k + A + 5] = x[5]


@kernel
def solve_tree(body: Ints, rows: Floats, columns: Floats, right: Floats, f_out: Floats, x_out: Floats, y_out: Floats) -> None:
    """Solve again with another right side, c = 0 and the ground at rest: f_out (6 a node) holds the wrenches −w on entry and is used up.

    x_out (6 a node) and y_out become the response.
    """
    n = body.size // BODY
    for i in range(n - 1, 0, -1):
        parent = body[BODY * i]
        f = load6(f_out, 6 * i)
        first = body[BODY * i + 1]
        for j in range(first + body[BODY * i + 2] - 1, first - 1, -1):
            s = load6(columns, COLUMN * j)
            u = load6(columns, COLUMN * j + U)
            e = right[j] + dot6(s, f)
            y_out[j] = e
            t = e * columns[COLUMN * j + INVERSE]
            f = (f[0] - t * u[0], f[1] - t * u[1], f[2] - t * u[2], f[3] - t * u[3], f[4] - t * u[4], f[5] - t * u[5])
        if parent > 0:
            r = sub3(load3(rows, ROW * i + P), load3(rows, ROW * parent + P))
            t3 = cross(r, (f[3], f[4], f[5]))
            for k in range(3):
                f_out[6 * parent + k] += f[k] + t3[k]
                f_out[6 * parent + 3 + k] += f[3 + k]
    for k in range(6):
        x_out[k] = 0.0
    for i in range(1, n):
        parent = body[BODY * i]
        r = sub3(load3(rows, ROW * i + P), load3(rows, ROW * parent + P))
        x = load6(x_out, 6 * parent)
        t3 = cross((x[0], x[1], x[2]), r)
        x = (x[0], x[1], x[2], x[3] + t3[0], x[4] + t3[1], x[5] + t3[2])
        first = body[BODY * i + 1]
        for j in range(first, first + body[BODY * i + 2]):
            u = load6(columns, COLUMN * j + U)
            y = (y_out[j] - dot6(u, x)) * columns[COLUMN * j + INVERSE]
            y_out[j] = y
            s = load6(columns, COLUMN * j)
            x = (x[0] + s[0] * y, x[1] + s[1] * y, x[2] + s[2] * y, x[3] + s[3] * y, x[4] + s[4] * y, x[5] + s[5] * y)
        for k in range(6):
            x_out[6 * i + k] = x[k]
