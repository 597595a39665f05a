"""The tree in one elimination: solves with  Jᵀ blkdiag(B) J + D  from parents, columns S and symmetric 6×6 blocks B, in O(n). What is found
is kept by `factor`.

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

from unibody.algebra.block.sym6 import offset
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import load3, store3, sub3
from unibody.spatial.triples import crossed, times_diagonals
from unibody.triple import back, fetch, minus, plus, put, put_only, spread, total, turn

from unibody.algebra.block.sym6_triples import (  # isort: skip
    fetch_block, no_block, plus_block, plus_rigid, put_block, shifted, shifted_wrench, times_angular, times_motion, without,
)  # fmt: skip

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
def fill_shifts(body, rows, shift_out):
    """p_i − p_parent of every node (3 a node), close together for repeated solves."""
    for i in range(1, body.size // BODY):
        store3(sub3(load3(rows, ROW * i + P), load3(rows, ROW * body[BODY * i] + P)), 3 * i, shift_out)
