"""Ways through the tree of an island: from a node to the ground, J of wrenches on it; up and down all members, Y = M⁻¹ J of rows.

One row at a time with tuples of numbers, three at a time with tuples of triples (`unibody.triple`): a wrench or a twist of three rows is
six triples.
"""

from __future__ import annotations

from unibody.algebra.block.sym6 import add6, dot6, offset, store6
from unibody.algebra.tree.aba import BODY, COLUMN, INVERSE, ROW, ZERO6, P, U
from unibody.kernel import Floats, Ints, inlined, kernel
from unibody.spatial.devices import add3, cross, load3, load6, load9, rotate, sub3
from unibody.triple import fetch, join, minus, plus, put, put_only, spread, x_of, y_of, z_of


@inlined
def arm(X, com, rows, i):
    """From a node's point to the centre of mass of its body, in world axes."""
    return sub3(add3(load3(X, 12 * i + 9), rotate(load9(X, 12 * i), load3(com, 3 * i))), load3(rows, ROW * i + P))


@inlined
def along(columns, e, x):
    """Six numbers of a column times six triples."""
    return plus(plus(columns[e] * x[0], columns[e + 1], x[1]), columns[e + 2], x[2]) + plus(
        plus(columns[e + 3] * x[3], columns[e + 4], x[4]), columns[e + 5], x[5]
    )


@inlined
def less(x, columns, e, y):
    """Six triples without y times six numbers of a column."""
    return (
        minus(x[0], columns[e], y), minus(x[1], columns[e + 1], y), minus(x[2], columns[e + 2], y), minus(x[3], columns[e + 3], y),
        minus(x[4], columns[e + 4], y), minus(x[5], columns[e + 5], y),
    )  # fmt: skip


@inlined
def more(x, columns, e, y):
    """Six triples and y times six numbers of a column."""
    return (
        plus(x[0], columns[e], y), plus(x[1], columns[e + 1], y), plus(x[2], columns[e + 2], y), plus(x[3], columns[e + 3], y),
        plus(x[4], columns[e + 4], y), plus(x[5], columns[e + 5], y),
    )  # fmt: skip


@inlined
def pulled(shift, k, f):
    """Three wrenches on a node as its parent feels them: t + r × f with r at shift[k]."""
    r0, r1, r2 = shift[k], shift[k + 1], shift[k + 2]
    return (
        minus(plus(f[0], r1, f[5]), r2, f[4]), minus(plus(f[1], r2, f[3]), r0, f[5]), minus(plus(f[2], r0, f[4]), r1, f[3]), f[3], f[4],
        f[5],
    )  # fmt: skip


@inlined
def pushed(x, shift, k):
    """Three twists of a parent at its child: v + ω × r with r at shift[k]."""
    r0, r1, r2 = shift[k], shift[k + 1], shift[k + 2]
    return (
        x[0], x[1], x[2], minus(plus(x[3], r2, x[1]), r1, x[2]), minus(plus(x[4], r0, x[2]), r2, x[0]),
        minus(plus(x[5], r1, x[0]), r0, x[1]),
    )  # fmt: skip


@inlined
def fetch_six(a, k):
    return (fetch(a, k), fetch(a, k + 3), fetch(a, k + 6), fetch(a, k + 9), fetch(a, k + 12), fetch(a, k + 15))


@inlined
def put_six(x, k, a_out):
    put(x[0], k, a_out)
    put(x[1], k + 3, a_out)
    put(x[2], k + 6, a_out)
    put(x[3], k + 9, a_out)
    put(x[4], k + 12, a_out)
    put_only(x[5], k + 15, a_out)


@inlined
def sum_six(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@inlined
def three_wrenches(wrenches, w, r):
    """Wrenches of three rows, 12 numbers apart from w on, at a point r before their own."""
    f0 = join(wrenches[w + 3], wrenches[w + 15], wrenches[w + 27])
    f1 = join(wrenches[w + 4], wrenches[w + 16], wrenches[w + 28])
    f2 = join(wrenches[w + 5], wrenches[w + 17], wrenches[w + 29])
    return (
        minus(plus(join(wrenches[w], wrenches[w + 12], wrenches[w + 24]), r[1], f2), r[2], f1),
        minus(plus(join(wrenches[w + 1], wrenches[w + 13], wrenches[w + 25]), r[2], f0), r[0], f2),
        minus(plus(join(wrenches[w + 2], wrenches[w + 14], wrenches[w + 26]), r[0], f1), r[1], f0),
        f0, f1, f2,
    )  # fmt: skip


@kernel
def add_path(
    body: Ints, shift: Floats, columns: Floats, place: Ints, node: int, origin: int, base: int, stride: int, t0: float, t1: float,
    t2: float, f0: float, f1: float, f2: float, J_out: Floats,
) -> None:  # fmt: skip
    """Add S · f of all columns between a node and the ground; column j of the island that begins at `origin` goes to base + stride (its
    number in the island)."""
    f = (t0, t1, t2, f0, f1, f2)
    i = node
    while i > 0:
        o = offset(BODY * i)
        for step in range(body[o + 2]):
            j = offset(body[o + 1] + step)
            J_out[offset(base + stride * (place[j] - origin))] += dot6(load6(columns, offset(COLUMN * j)), f)
        t3 = cross(load3(shift, offset(3 * i)), (f[3], f[4], f[5]))
        f = (f[0] + t3[0], f[1] + t3[1], f[2] + t3[2], f[3], f[4], f[5])
        i = body[o]


@inlined
def lay_path(body, shift, columns, place, node, origin, base, f, again, J_out):
    """S · f of all columns between a node and the ground, of three wrenches; `again`: added to what is there."""
    i = node
    while i > 0:
        o = offset(BODY * i)
        for step in range(body[o + 2]):
            j = offset(body[o + 1] + step)
            p = offset(base + 3 * (place[j] - origin))
            x = along(columns, offset(COLUMN * j), f)
            if again:
                J_out[p] += x_of(x)
                J_out[p + 1] += y_of(x)
                J_out[p + 2] += z_of(x)
            else:
                put_only(x, p, J_out)
        f = pulled(shift, offset(3 * i), f)
        i = body[o]


@kernel
def solve_island(
    body: Ints, shift: Floats, columns: Floats, place: Ints, of_body: Ints, members: Ints, lo: int, hi: int, origin: int, base: int,
    stride: int, J: Floats, f_out: Floats, x_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """Y = M⁻¹ J of one row on the island of bodies members[lo:hi]; f_out (6 a node) is zero before and after."""
    island = of_body[members[lo]]
    # up: ρ = J + Sᵀ f, f ← f − U ρ / D, and Tᵀ f to the parent
    for m in range(hi - 1, lo - 1, -1):
        i = members[m]
        o = offset(BODY * i)
        first, count, parent = body[o + 1], body[o + 2], body[o]
        f = load6(f_out, offset(6 * i))
        store6(ZERO6, offset(6 * i), f_out)
        for step in range(count):
            j = offset(first + count - 1 - step)
            e = offset(COLUMN * j)
            at = offset(base + stride * (place[j] - origin))
            rest = J[at] + dot6(load6(columns, e), f)
            Y_out[at] = rest
            t = rest * columns[e + INVERSE]
            u = load6(columns, e + U)
            f = (f[0] - t * u[0], f[1] - t * u[1], f[2] - t * u[2], f[3] - t * u[3], f[4] - t * u[4], f[5] - t * u[5])
        if of_body[parent] == island:
            t3 = cross(load3(shift, offset(3 * i)), (f[3], f[4], f[5]))
            k = offset(6 * parent)
            store6(add6(load6(f_out, k), (f[0] + t3[0], f[1] + t3[1], f[2] + t3[2], f[3], f[4], f[5])), k, f_out)
    # down: x = T x_parent, y = (ρ − Uᵀ x) / D, x ← x + S y
    for m in range(lo, hi):
        i = members[m]
        o = offset(BODY * i)
        first, count, parent = body[o + 1], body[o + 2], body[o]
        x = ZERO6
        if of_body[parent] == island:
            x = load6(x_out, offset(6 * parent))
            t3 = cross((x[0], x[1], x[2]), load3(shift, offset(3 * i)))
            x = (x[0], x[1], x[2], x[3] + t3[0], x[4] + t3[1], x[5] + t3[2])
        for step in range(count):
            j = offset(first + step)
            e = offset(COLUMN * j)
            at = offset(base + stride * (place[j] - origin))
            y = (Y_out[at] - dot6(load6(columns, e + U), x)) * columns[e + INVERSE]
            Y_out[at] = y
            s = load6(columns, e)
            x = (x[0] + s[0] * y, x[1] + s[1] * y, x[2] + s[2] * y, x[3] + s[3] * y, x[4] + s[4] * y, x[5] + s[5] * y)
        store6(x, offset(6 * i), x_out)


@kernel
def solve_island_three_rows(
    body: Ints, shift: Floats, columns: Floats, place: Ints, of_body: Ints, members: Ints, lo: int, hi: int, origin: int, base: int,
    J: Floats, f_out: Floats, x_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """Y = M⁻¹ J of three rows on the island of bodies members[lo:hi]; f_out and x_out have 18 numbers a node and one more."""
    island = of_body[members[lo]]
    zero = spread(0.0)
    nothing = (zero, zero, zero, zero, zero, zero)
    # up: ρ = J + Sᵀ f, f ← f − U ρ / D, and Tᵀ f to the parent; the first child writes, others add
    for m in range(hi - 1, lo - 1, -1):
        i = members[m]
        o = offset(BODY * i)
        parent, first, count, role = body[o], body[o + 1], body[o + 2], body[o + 5]
        f = nothing
        if role & 1:
            f = fetch_six(f_out, offset(18 * i))
        for step in range(count - 1, -1, -1):
            j = offset(first + step)
            e = offset(COLUMN * j)
            p = offset(base + 3 * (place[j] - origin))
            rest = join(J[p], J[p + 1], J[p + 2]) + along(columns, e, f)
            put_only(rest, p, Y_out)
            f = less(f, columns, e + U, rest * columns[e + INVERSE])
        if of_body[parent] == island:
            f = pulled(shift, offset(3 * i), f)
            k = offset(18 * parent)
            if not role & 2:
                f = sum_six(f, fetch_six(f_out, k))
            put_six(f, k, f_out)
    # down: x = T x_parent, y = (ρ − Uᵀ x) / D, x ← x + S y
    for m in range(lo, hi):
        i = members[m]
        o = offset(BODY * i)
        parent, first, count = body[o], body[o + 1], body[o + 2]
        x = nothing
        if of_body[parent] == island:
            x = pushed(fetch_six(x_out, offset(18 * parent)), shift, offset(3 * i))
        for step in range(count):
            j = offset(first + step)
            e = offset(COLUMN * j)
            p = offset(base + 3 * (place[j] - origin))
            rest = join(Y_out[p], Y_out[p + 1], Y_out[p + 2])
            y = (rest - along(columns, e + U, x)) * columns[e + INVERSE]
            put_only(y, p, Y_out)
            x = more(x, columns, e, y)
        put_six(x, offset(18 * i), x_out)
