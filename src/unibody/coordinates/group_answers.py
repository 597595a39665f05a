"""J and Y = M⁻¹ Jᵀ of wrenches on trees, group by group, each in the time of the trees that it touches.

J of a wrench on a node is found on the way from the node to the ground; Y by one sweep up and one down the factored tree (`group_walks`)
over the members of the group alone, or, where enough rows meet a small group, from its M⁻¹ (`group_inverses`). A free body that no other
row touches has 6×6 numbers of M⁻¹ of its own. Blocks of three rows go through all of it as triples (`unibody.triple`).
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.blocks6 import offset
from unibody.algebra.tree import BODY, COLUMN, INVERSE, LOOSE, RIGID, ROW, U, dot6, fill_shifts
from unibody.arena import part
from unibody.coordinates.group_inverses import answer_one, answer_three, body_numbers, invert_groups
from unibody.coordinates.group_walks import add_path, along, arm, lay_path, solve_members, solve_threes, three_wrenches

from unibody.coordinates.grouping import (  # isort: skip
    ALONE, FIRST, INVERSE_AT, MEMBERS, MEMBER_START, OF_BODY, PLACE, SEAT, inverse_size, worth_inverting,
)  # fmt: skip
from unibody.coordinates.slots import BODIES, COLUMNS, LOAD, ROWS, SHIFT, X_SOLVED, X_WB
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, load3, load6
from unibody.spatial.triples import crossed
from unibody.triple import fetch, join, minus, plus, put, put_only, spread, total, x_of, y_of, z_of


def sweep_size(bodies: int, lonely: bool) -> int:
    """The numbers that sweeps of three rows pass through; more if some group is a body alone."""
    return 2 * (18 * bodies + 1) + (36 * bodies if lonely else 0)


@device
def loose_inverse(rows, k, columns, e):
    """How a node that is LOOSE answers to wrenches: rows of I⁻¹, c × those, and c × the columns of these + 1/m, with I the inertia about
    the centre of mass, at c from the node's point."""
    inverse = 1.0 / rows[k]
    c = fetch(rows, k + 1) * inverse
    x, y, z = fetch(columns, e), fetch(columns, e + COLUMN), fetch(columns, e + 2 * COLUMN)
    v, w = fetch(columns, e + COLUMN + U), fetch(columns, e + 2 * COLUMN + U)
    b, d = columns[e + COLUMN + INVERSE], columns[e + 2 * COLUMN + INVERSE]
    x = minus(x, total(x * w) * d, z)
    y = minus(y, total(y * w) * d, z)
    x = minus(x, total(x * v) * b, y)
    g, v, w = x * columns[e + INVERSE], y * b, z * d
    a0 = plus(plus(g * x_of(x), v, x_of(y)), w, x_of(z))
    a1 = plus(plus(g * y_of(x), v, y_of(y)), w, y_of(z))
    a2 = plus(plus(g * z_of(x), v, z_of(y)), w, z_of(z))
    b0, b1, b2 = crossed(c, a0), crossed(c, a1), crossed(c, a2)
    d0, d1, d2 = join(x_of(b0), x_of(b1), x_of(b2)), join(y_of(b0), y_of(b1), y_of(b2)), join(z_of(b0), z_of(b1), z_of(b2))
    c0 = crossed(c, d0) + join(inverse, 0.0, 0.0)
    c1 = crossed(c, d1) + join(0.0, inverse, 0.0)
    c2 = crossed(c, d2) + join(0.0, 0.0, inverse)
    return (a0, a1, a2), (b0, b1, b2), (c0, c1, c2)


@kernel
def fill_local_inverses(body: Ints, of_body: Ints, alone: Ints, rows: Floats, columns: Floats, inverse_out: Floats) -> None:
    """How each node that is alone answers to wrenches on it (36 numbers, by rows): S (Sᵀ B S + D)⁻¹ Sᵀ = Σ t d⁻¹ tᵀ over its columns, with
    t what is left of s when those after it have answered."""
    t = np.zeros(37)
    for i in range(body.size // BODY):
        if of_body[i] < 0 or alone[of_body[i]] == 0:
            continue
        first, count = body[BODY * i + 1], body[BODY * i + 2]
        zero = spread(0.0)
        a, b, c = (zero, zero, zero), (zero, zero, zero), (zero, zero, zero)
        if body[BODY * i + 4] == LOOSE:
            a, b, c = loose_inverse(rows, offset(ROW * i + RIGID), columns, offset(COLUMN * first))
        else:
            for m in range(count - 1, -1, -1):
                e = offset(COLUMN * (first + m))
                s, l = fetch(columns, e), fetch(columns, e + 3)
                x, y = s, l
                for d in range(m + 1, count):
                    o = offset(COLUMN * (first + d))
                    met = total(plus(s * fetch(columns, o + U), l, fetch(columns, o + U + 3))) * columns[o + INVERSE]
                    x = minus(x, met, fetch(t, 6 * d))
                    y = minus(y, met, fetch(t, 6 * d + 3))
                put(x, 6 * m, t)
                put_only(y, 6 * m + 3, t)
                u, v = x * columns[e + INVERSE], y * columns[e + INVERSE]
                a = plus(a[0], x_of(x), u), plus(a[1], y_of(x), u), plus(a[2], z_of(x), u)
                b = plus(b[0], x_of(x), v), plus(b[1], y_of(x), v), plus(b[2], z_of(x), v)
                c = plus(c[0], x_of(y), v), plus(c[1], y_of(y), v), plus(c[2], z_of(y), v)
        at = offset(36 * i)
        put(a[0], at, inverse_out)
        put(b[0], at + 3, inverse_out)
        put(a[1], at + 6, inverse_out)
        put(b[1], at + 9, inverse_out)
        put(a[2], at + 12, inverse_out)
        put(b[2], at + 15, inverse_out)
        put(join(x_of(b[0]), x_of(b[1]), x_of(b[2])), at + 18, inverse_out)
        put(c[0], at + 21, inverse_out)
        put(join(y_of(b[0]), y_of(b[1]), y_of(b[2])), at + 24, inverse_out)
        put(c[1], at + 27, inverse_out)
        put(join(z_of(b[0]), z_of(b[1]), z_of(b[2])), at + 30, inverse_out)
        put_only(c[2], at + 33, inverse_out)


@kernel
def lay_wrenches(
    spots: Ints, table: Ints, front_rows: Ints, front_groups: Ints, nodes: Ints, rows: int, rows_out: Ints, groups_out: Ints,
    start_out: Ints, place_out: Ints, at_out: Ints,
) -> int:  # fmt: skip
    """Where the rows and numbers of all blocks begin: those in front, then blocks of `rows` wrenches on two nodes each. Where the numbers
    of `group_inverses` begin, −1 for a group that is to be swept, and how many they are."""
    of_body = part(table, spots, OF_BODY)
    first = part(table, spots, FIRST)
    start = part(table, spots, MEMBER_START)
    alone = part(table, spots, ALONE)
    kept = part(table, spots, INVERSE_AT)
    before = front_rows.size
    for g in range(at_out.size):
        at_out[g] = 0
    start_out[0] = 0
    place_out[0] = 0
    for k in range(rows_out.size):
        if k < before:
            rows_out[k], groups_out[2 * k], groups_out[2 * k + 1] = front_rows[k], front_groups[2 * k], front_groups[2 * k + 1]
        else:
            a, b = of_body[nodes[2 * (k - before)]], of_body[nodes[2 * (k - before) + 1]]
            rows_out[k], groups_out[2 * k], groups_out[2 * k + 1] = rows, a, -1 if a == b else b
        size = 0
        for side in range(2):
            g = groups_out[2 * k + side]
            if g >= 0:
                size += first[g + 1] - first[g]
                if k >= before:
                    at_out[g] += 1
        start_out[k + 1] = start_out[k] + rows_out[k]
        place_out[k + 1] = place_out[k] + rows_out[k] * size
    end = kept[at_out.size]
    for g in range(at_out.size):
        n, members, sweeps = first[g + 1] - first[g], start[g + 1] - start[g], at_out[g] if rows == 3 else rows * at_out[g]
        at_out[g] = kept[g]
        if kept[g] < 0 and alone[g] == 0 and worth_inverting(n, members, sweeps):
            at_out[g] = end
            end += inverse_size(n, members)
    return end


@kernel
def answer_threes(
    layout: Ints, ints: Ints, spots: Ints, table: Ints, at: Ints, fresh: int, begin: Ints, nodes: Ints, wrenches: Floats, com: Floats,
    work_out: Floats, numbers_out: Floats, sweep_out: Floats, J_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """J and Y of blocks of three wrenches on two nodes each, in world axes at centres of mass; block k begins at begin[k]. Velocities of
    groups that are `alone` are twists at the node's point. Of `numbers`, those before `fresh` are known; `sweep_out` has `sweep_size`."""
    body = part(ints, layout, BODIES)
    columns = part(work_out, layout, COLUMNS)
    shift = part(work_out, layout, SHIFT)
    rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    of_body = part(table, spots, OF_BODY)
    alone = part(table, spots, ALONE)
    first = part(table, spots, FIRST)
    place = part(table, spots, PLACE)
    members = part(table, spots, MEMBERS)
    start = part(table, spots, MEMBER_START)
    seat = part(table, spots, SEAT)
    fill_shifts(body, rows, shift)
    invert_groups(layout, ints, spots, table, at, fresh, work_out, numbers_out)
    once = 18 * of_body.size + 1
    f_out, x_out, inverse = sweep_out[:once], sweep_out[once : 2 * once], sweep_out[2 * once :]
    fill_local_inverses(body, of_body, alone, rows, columns, inverse)
    for k in range(begin.size - 1):
        a = of_body[nodes[2 * k]]
        behind = 3 * (first[a + 1] - first[a]) if a >= 0 else 0
        for side in range(2):
            node = nodes[2 * k + side]
            g = of_body[node]
            if g < 0:
                continue
            again = side == 1 and g == a
            base = begin[k] + (behind if side == 1 and not again else 0)
            f = three_wrenches(wrenches, offset(36 * k + 6 * side), arm(X, com, rows, node))
            if alone[g] == 1:
                for m in range(6):
                    e = offset(36 * node + 6 * m)
                    p = offset(base + 3 * m)
                    put_only(along(inverse, e, f), p, Y_out)
                p = offset(base)
                put(f[0], p, J_out)
                put(f[1], p + 3, J_out)
                put(f[2], p + 6, J_out)
                put(f[3], p + 9, J_out)
                put(f[4], p + 12, J_out)
                put_only(f[5], p + 15, J_out)
                continue
            n = first[g + 1] - first[g]
            if not again:
                for p in range(base, base + 3 * n):
                    J_out[p] = 0.0
            lay_path(body, shift, columns, place, node, first[g], base, f, again, J_out)
            if at[g] >= 0:
                answer_three(numbers_out, body_numbers(first, start, seat, at, g, node), n, f, base, again, Y_out)
            elif side == 1 or of_body[nodes[2 * k + 1]] != g:
                lo, hi = start[g], start[g + 1]
                solve_threes(body, shift, columns, place, of_body, members, lo, hi, first[g], base, J_out, f_out, x_out, Y_out)


@kernel
def answer_wrenches(
    layout: Ints, ints: Ints, spots: Ints, table: Ints, at: Ints, fresh: int, begin: Ints, nodes: Ints, rows: int, wrenches: Floats,
    com: Floats, work_out: Floats, numbers_out: Floats, J_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """What `answer_threes` finds, for blocks of any number of rows, row by row."""
    body = part(ints, layout, BODIES)
    columns = part(work_out, layout, COLUMNS)
    shift = part(work_out, layout, SHIFT)
    load = part(work_out, layout, LOAD)
    solved = part(work_out, layout, X_SOLVED)
    nodes_rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    of_body = part(table, spots, OF_BODY)
    alone = part(table, spots, ALONE)
    first = part(table, spots, FIRST)
    place = part(table, spots, PLACE)
    members = part(table, spots, MEMBERS)
    start = part(table, spots, MEMBER_START)
    seat = part(table, spots, SEAT)
    fill_shifts(body, nodes_rows, shift)
    invert_groups(layout, ints, spots, table, at, fresh, work_out, numbers_out)
    load[:] = 0.0
    inverse = np.zeros(6 * load.size)
    fill_local_inverses(body, of_body, alone, nodes_rows, columns, inverse)
    for p in range(begin[0], begin[begin.size - 1]):
        J_out[p] = 0.0
        Y_out[p] = 0.0
    for k in range(begin.size - 1):
        a = of_body[nodes[2 * k]]
        behind = rows * (first[a + 1] - first[a]) if a >= 0 else 0
        for side in range(2):
            node = nodes[2 * k + side]
            g = of_body[node]
            if g < 0:
                continue
            base = begin[k] + (0 if g == a else behind)
            r = arm(X, com, nodes_rows, node)
            last = side == 1 or of_body[nodes[2 * k + 1]] != g
            for row in range(rows):
                w = offset(12 * (rows * k + row) + 6 * side)
                f = load3(wrenches, w + 3)
                t = add3(load3(wrenches, w), cross(r, f))
                if alone[g] == 1:
                    for m in range(6):
                        e = offset(36 * node + 6 * m)
                        J_out[offset(base + rows * m + row)] = t[m] if m < 3 else f[m - 3]
                        Y_out[offset(base + rows * m + row)] = dot6(load6(inverse, e), (t[0], t[1], t[2], f[0], f[1], f[2]))
                    continue
                add_path(body, shift, columns, place, node, first[g], base + row, rows, t[0], t[1], t[2], f[0], f[1], f[2], J_out)
                if at[g] >= 0:
                    mine = body_numbers(first, start, seat, at, g, node)
                    answer_one(
                        numbers_out, mine, first[g + 1] - first[g], (t[0], t[1], t[2], f[0], f[1], f[2]), base + row, rows, Y_out
                    )  # fmt: skip
                elif last:
                    solve_members(
                        body, shift, columns, place, of_body, members, start[g], start[g + 1], first[g], base + row, rows, J_out, load,
                        solved, Y_out,
                    )  # fmt: skip
