"""Rows on trees in velocities in which masses are one: M = L D Lᵀ by the tree's own factors, so that W = J M⁻¹ Jᵀ = A Aᵀ with

    A = J L⁻ᵀ D^−½,     m = Aᵀ λ,     M⁻¹ Jᵀ λ = L⁻ᵀ D^−½ m

L⁻¹ is the way up of a solution with the factored tree (`algebra.tree.aba`), L⁻ᵀ the way down, column by column

    up:  ρ = Sᵀ f,  a = ρ / √D,  f ← f − U ρ / D          down:  y = m / √D − Uᵀ x / D,  x ← x + S y

A wrench is felt only between its node and the ground: that is where A has numbers, and all that has to be walked. So a row costs the depth
of its nodes, not the size of its tree (`tree_delassus`); only the motion that comes of all impulses goes down the whole tree, once.
"""

from __future__ import annotations

from math import sqrt

from unibody.algebra.block.sym6 import add6, dot6, offset, store6
from unibody.algebra.tree.aba import BODY, COLUMN, INVERSE, ZERO6, U, fill_shifts
from unibody.arena import part
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, ROWS, SHIFT, X_SOLVED
from unibody.coordinates.workspace import LOAD, X_WB
from unibody.kernel import Floats, Ints, inlined, kernel
from unibody.spatial.devices import add3, cross, load3, load6
from unibody.stepping.island_sweeps import along, arm, less, pulled, sum_six, three_wrenches
from unibody.stepping.islands import FIRST, MEMBER_START, MEMBERS, OF_BODY, PLACE
from unibody.triple import put_only, spread


@kernel
def begin_roots(layout: Ints, ints: Ints, work_out: Floats, roots_out: Floats) -> None:
    """What all rows read of a factored tree: shifts between its nodes, 1/√D of its columns; no loads."""
    columns = part(work_out, layout, COLUMNS)
    fill_shifts(part(ints, layout, BODIES), part(work_out, layout, ROWS), part(work_out, layout, SHIFT))
    for j in range(roots_out.size):
        roots_out[j] = sqrt(columns[offset(COLUMN * j + INVERSE)])
    part(work_out, layout, LOAD)[:] = 0.0


@inlined
def climb_three(body, shift, columns, roots, place, origin, base, i, f, j, g, A_out):
    """A of three wrenches f on node i and three g on node j (0: on none), where their ways to the ground meet of both."""
    while i > 0 or j > 0:
        if i == j:
            f = sum_six(f, g)
            j = 0
        elif j > i:
            i, j = j, i
            f, g = g, f
        o = offset(BODY * i)
        for step in range(body[o + 2] - 1, -1, -1):
            c = offset(body[o + 1] + step)
            e = offset(COLUMN * c)
            rest = along(columns, e, f)
            put_only(rest * roots[c], offset(base + 3 * (place[c] - origin)), A_out)
            f = less(f, columns, e + U, rest * columns[e + INVERSE])
        f = pulled(shift, offset(3 * i), f)
        i = body[o]


@inlined
def climb_one(body, shift, columns, roots, place, origin, base, stride, i, f, j, g, A_out):
    """The same of one wrench each; numbers lie `stride` apart."""
    while i > 0 or j > 0:
        if i == j:
            f = add6(f, g)
            j = 0
        elif j > i:
            i, j = j, i
            f, g = g, f
        o = offset(BODY * i)
        for step in range(body[o + 2] - 1, -1, -1):
            c = offset(body[o + 1] + step)
            e = offset(COLUMN * c)
            rest = dot6(load6(columns, e), f)
            A_out[offset(base + stride * (place[c] - origin))] = rest * roots[c]
            t = rest * columns[e + INVERSE]
            u = load6(columns, e + U)
            f = (f[0] - t * u[0], f[1] - t * u[1], f[2] - t * u[2], f[3] - t * u[3], f[4] - t * u[4], f[5] - t * u[5])
        lever = cross(load3(shift, offset(3 * i)), (f[3], f[4], f[5]))
        f = (f[0] + lever[0], f[1] + lever[1], f[2] + lever[2], f[3], f[4], f[5])
        i = body[o]


@kernel
def root_three_rows(
    layout: Ints, ints: Ints, spots: Ints, table: Ints, begin: Ints, nodes: Ints, width: int, wrenches: Floats, com: Floats, work: Floats,
    roots: Floats, A_out: Floats,
) -> None:  # fmt: skip
    """A of blocks of three wrenches on two nodes each, in world axes at centres of mass; block k begins at begin[k]."""
    body = part(ints, layout, BODIES)
    columns = part(work, layout, COLUMNS)
    shift = part(work, layout, SHIFT)
    rows = part(work, layout, ROWS)
    X = part(work, layout, X_WB)
    of_body = part(table, spots, OF_BODY)
    first = part(table, spots, FIRST)
    place = part(table, spots, PLACE)
    zero = spread(0.0)
    nothing = (zero, zero, zero, zero, zero, zero)
    for p in range(begin[0], begin[begin.size - 1]):
        A_out[p] = 0.0
    for k in range(begin.size - 1):
        a, b = nodes[2 * k], nodes[2 * k + 1]
        one, two = of_body[a], of_body[b]
        f = three_wrenches(wrenches, offset(36 * k), arm(X, com, rows, a))
        g = three_wrenches(wrenches, offset(36 * k + 6), arm(X, com, rows, b))
        if one >= 0:
            together = b if two == one else 0
            climb_three(body, shift, columns, roots, place, first[one], begin[k], a, f, together, g, A_out)
        if two >= 0 and two != one:
            behind = 3 * (first[one + 1] - first[one]) if one >= 0 else 0
            climb_three(body, shift, columns, roots, place, first[two], begin[k] + behind, b, g, 0, nothing, A_out)


@kernel
def root_wrenches(
    layout: Ints, ints: Ints, spots: Ints, table: Ints, begin: Ints, nodes: Ints, width: int, wrenches: Floats, com: Floats, work: Floats,
    roots: Floats, A_out: Floats,
) -> None:  # fmt: skip
    """What `root_three_rows` finds, for blocks of any number of rows, row by row."""
    body = part(ints, layout, BODIES)
    columns = part(work, layout, COLUMNS)
    shift = part(work, layout, SHIFT)
    rows = part(work, layout, ROWS)
    X = part(work, layout, X_WB)
    of_body = part(table, spots, OF_BODY)
    first = part(table, spots, FIRST)
    place = part(table, spots, PLACE)
    for p in range(begin[0], begin[begin.size - 1]):
        A_out[p] = 0.0
    for k in range(begin.size - 1):
        a, b = nodes[2 * k], nodes[2 * k + 1]
        one, two = of_body[a], of_body[b]
        r, s = arm(X, com, rows, a), arm(X, com, rows, b)
        behind = width * (first[one + 1] - first[one]) if one >= 0 else 0
        for row in range(width):
            w = offset(12 * (width * k + row))
            f, g = load3(wrenches, w + 3), load3(wrenches, w + 9)
            t, u = add3(load3(wrenches, w), cross(r, f)), add3(load3(wrenches, w + 6), cross(s, g))
            f6, g6 = (t[0], t[1], t[2], f[0], f[1], f[2]), (u[0], u[1], u[2], g[0], g[1], g[2])
            if one >= 0:
                together = b if two == one else 0
                climb_one(body, shift, columns, roots, place, first[one], begin[k] + row, width, a, f6, together, g6, A_out)
            if two >= 0 and two != one:
                climb_one(body, shift, columns, roots, place, first[two], begin[k] + behind + row, width, b, g6, 0, ZERO6, A_out)


@kernel
def root_row(
    layout: Ints, ints: Ints, spots: Ints, table: Ints, p: int, one: int, two: int, J: Floats, roots: Floats, work_out: Floats,
    A_out: Floats,
) -> None:  # fmt: skip
    """A of one row on the islands `one` and `two` (−1: none) whose J stands from p on, at the same place."""
    body = part(ints, layout, BODIES)
    columns = part(work_out, layout, COLUMNS)
    shift = part(work_out, layout, SHIFT)
    load = part(work_out, layout, LOAD)
    of_body = part(table, spots, OF_BODY)
    first = part(table, spots, FIRST)
    place = part(table, spots, PLACE)
    members = part(table, spots, MEMBERS)
    start = part(table, spots, MEMBER_START)
    for side in range(2):
        island = one if side == 0 else two
        if island < 0:
            continue
        # from the leaves: A = (J + Sᵀ f) D^-1/2, and what is left of f goes to the parent
        for m in range(start[island + 1] - 1, start[island] - 1, -1):
            i = members[m]
            o = offset(BODY * i)
            parent = body[o]
            f = load6(load, offset(6 * i))
            store6(ZERO6, offset(6 * i), load)
            felt = f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0 or f[3] != 0.0 or f[4] != 0.0 or f[5] != 0.0
            for step in range(body[o + 2] - 1, -1, -1):
                c = offset(body[o + 1] + step)
                e = offset(COLUMN * c)
                at = offset(p + place[c] - first[island])
                rest = J[at] + (dot6(load6(columns, e), f) if felt else 0.0)
                A_out[at] = rest * roots[c]
                if rest != 0.0:
                    felt = True
                    t = rest * columns[e + INVERSE]
                    u = load6(columns, e + U)
                    f = (f[0] - t * u[0], f[1] - t * u[1], f[2] - t * u[2], f[3] - t * u[3], f[4] - t * u[4], f[5] - t * u[5])
            # f at the parent's frame
            if felt and of_body[parent] == island:
                lever = cross(load3(shift, offset(3 * i)), (f[3], f[4], f[5]))
                k = offset(6 * parent)
                store6(add6(load6(load, k), (f[0] + lever[0], f[1] + lever[1], f[2] + lever[2], f[3], f[4], f[5])), k, load)
        p += first[island + 1] - first[island]


@kernel
def leave_roots(layout: Ints, ints: Ints, spots: Ints, table: Ints, roots: Floats, work_out: Floats, motion_out: Floats) -> None:
    """From m to L⁻ᵀ D^−½ m, in place, both in the order of islands."""
    body = part(ints, layout, BODIES)
    columns = part(work_out, layout, COLUMNS)
    shift = part(work_out, layout, SHIFT)
    twist = part(work_out, layout, X_SOLVED)
    place = part(table, spots, PLACE)
    store6(ZERO6, 0, twist)
    x = ZERO6
    for i in range(1, body.size // BODY):
        o = offset(BODY * i)
        parent, count, role = body[o], body[o + 2], body[o + 5]
        # what nothing hangs on, and what hangs by no column, is not asked how it moves
        if count == 0 and role & 1 == 0:
            continue
        x = load6(twist, offset(6 * parent))
        lever = cross((x[0], x[1], x[2]), load3(shift, offset(3 * i)))
        x = (x[0], x[1], x[2], x[3] + lever[0], x[4] + lever[1], x[5] + lever[2])
        for step in range(count):
            c = offset(body[o + 1] + step)
            e = offset(COLUMN * c)
            at = offset(place[c])
            y = motion_out[at] * roots[c] - dot6(load6(columns, e + U), x) * columns[e + INVERSE]
            motion_out[at] = y
            s = load6(columns, e)
            x = (x[0] + s[0] * y, x[1] + s[1] * y, x[2] + s[2] * y, x[3] + s[3] * y, x[4] + s[4] * y, x[5] + s[5] * y)
        if role & 1:
            store6(x, offset(6 * i), twist)
