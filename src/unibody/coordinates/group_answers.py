"""J and Y = M⁻¹ Jᵀ of rows on trees, group by group, each in the time of the trees that it touches.

J of a wrench on a node is found on the way from the node to the ground; Y by one sweep up and one down the factored tree (`algebra.tree`)
over the members of the group alone. A free body that no other row touches has 6×6 numbers of M⁻¹ of its own.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.blocks6 import offset, store6
from unibody.algebra.tree import BODY, COLUMN, INVERSE, ROW, ZERO6, P, U, add6, dot6, fill_shifts
from unibody.arena import part
from unibody.coordinates.closure import fill_reference
from unibody.coordinates.redmax_rows import row_acceleration
from unibody.coordinates.reduced import place_entries

from unibody.coordinates.slots import (  # isort: skip
    BODIES, CLOSURE, COLUMNS, DOF_INDEX, DOF_START, ENTRY_BODY, ENTRY_W, G, J, LOAD, MASSES, ROWS, ROW_ENTRY, ROW_START, SHIFT, X_SOLVED,
    X_WB, Y,
)  # fmt: skip
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, load3, load6, load9, rotate, sub3


@device
def arm(X, com, rows, i):
    """From a node's point to the centre of mass of its body, in world axes."""
    return sub3(add3(load3(X, 12 * i + 9), rotate(load9(X, 12 * i), load3(com, 3 * i))), load3(rows, ROW * i + P))


@kernel
def add_path(
    body: Ints, shift: Floats, columns: Floats, place: Ints, node: int, origin: int, base: int, stride: int, t0: float, t1: float,
    t2: float, f0: float, f1: float, f2: float, J_out: Floats,
) -> None:  # fmt: skip
    """Add S · f of all columns between a node and the ground; column j of the group that begins at `origin` goes to base + stride (its
    number in the group)."""
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


@kernel
def solve_members(
    body: Ints, shift: Floats, columns: Floats, place: Ints, of_body: Ints, members: Ints, lo: int, hi: int, origin: int, base: int,
    stride: int, J: Floats, f_out: Floats, x_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """Y = M⁻¹ J of one row on the group of bodies members[lo:hi]; f_out (6 a node) is zero before and after."""
    group = of_body[members[lo]]
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
        if of_body[parent] == group:
            t3 = cross(load3(shift, offset(3 * i)), (f[3], f[4], f[5]))
            k = offset(6 * parent)
            store6(add6(load6(f_out, k), (f[0] + t3[0], f[1] + t3[1], f[2] + t3[2], f[3], f[4], f[5])), k, f_out)
    for m in range(lo, hi):
        i = members[m]
        o = offset(BODY * i)
        first, count, parent = body[o + 1], body[o + 2], body[o]
        x = ZERO6
        if of_body[parent] == group:
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
def fill_local_inverses(body: Ints, of_body: Ints, alone: Ints, columns: Floats, inverse_out: Floats) -> None:
    """How each node that is alone answers to wrenches on it (36 numbers): S (Sᵀ B S + D)⁻¹ Sᵀ = Σ t d⁻¹ tᵀ over its columns, with t what
    is left of s when those after it have answered."""
    t = np.zeros(36)
    for i in range(body.size // BODY):
        if of_body[i] < 0 or alone[of_body[i]] == 0:
            continue
        first, count = body[BODY * i + 1], body[BODY * i + 2]
        for k in range(36):
            inverse_out[36 * i + k] = 0.0
        for c in range(count - 1, -1, -1):
            e = COLUMN * (first + c)
            s = load6(columns, e)
            left = s
            for d in range(c + 1, count):
                o = COLUMN * (first + d)
                x = dot6(s, load6(columns, o + U)) * columns[o + INVERSE]
                y = load6(t, 6 * d)
                left = (
                    left[0] - x * y[0], left[1] - x * y[1], left[2] - x * y[2], left[3] - x * y[3], left[4] - x * y[4], left[5] - x * y[5],
                )  # fmt: skip
            store6(left, 6 * c, t)
            for m in range(6):
                x = left[m] * columns[e + INVERSE]
                for k in range(6):
                    inverse_out[36 * i + 6 * m + k] += x * left[k]


@kernel
def answer_wrenches(
    layout: Ints, ints: Ints, of_body: Ints, alone: Ints, first: Ints, place: Ints, members: Ints, member_start: Ints, groups: Ints,
    begin: Ints, nodes: Ints, rows: int, wrenches: Floats, com: Floats, work_out: Floats, J_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """J and Y, zero before, of blocks of `rows` wrenches on two nodes each, in world axes at centres of mass; block k begins at
    begin[k]. Velocities of groups that are `alone` are twists at the node's point."""
    body = part(ints, layout, BODIES)
    columns = part(work_out, layout, COLUMNS)
    shift = part(work_out, layout, SHIFT)
    load = part(work_out, layout, LOAD)
    solved = part(work_out, layout, X_SOLVED)
    nodes_rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    fill_shifts(body, nodes_rows, shift)
    load[:] = 0.0
    lone = False
    for g in range(alone.size):
        lone = lone or alone[g] == 1
    inverse = np.zeros(6 * load.size if lone else 0)
    if lone:
        fill_local_inverses(body, of_body, alone, columns, inverse)
    for k in range(begin.size - 1):
        a = groups[2 * k]
        behind = rows * (first[a + 1] - first[a]) if a >= 0 else 0
        for side in range(2):
            node = nodes[2 * k + side]
            g = of_body[node]
            if g < 0:
                continue
            base = begin[k] + (0 if g == a else behind)
            r = arm(X, com, nodes_rows, node)
            for row in range(rows):
                w = offset(12 * (rows * k + row) + 6 * side)
                t = load3(wrenches, w)
                f = load3(wrenches, w + 3)
                c = cross(r, f)
                if alone[g] == 1:
                    n = add3(t, c)
                    for m in range(6):
                        e = offset(36 * node + 6 * m)
                        J_out[offset(base + rows * m + row)] = n[m] if m < 3 else f[m - 3]
                        Y_out[offset(base + rows * m + row)] = (
                            inverse[e] * n[0] + inverse[e + 1] * n[1] + inverse[e + 2] * n[2]
                            + inverse[e + 3] * f[0] + inverse[e + 4] * f[1] + inverse[e + 5] * f[2]
                        )  # fmt: skip
                    continue
                add_path(
                    body, shift, columns, place, node, first[g], base + row, rows, t[0] + c[0], t[1] + c[1], t[2] + c[2], f[0], f[1], f[2],
                    J_out,
                )  # fmt: skip
        for side in range(2):
            g = groups[2 * k + side]
            if g < 0 or alone[g] == 1:
                continue
            base = begin[k] + (0 if side == 0 else behind)
            for row in range(rows):
                solve_members(
                    body, shift, columns, place, of_body, members, member_start[g], member_start[g + 1], first[g], base + row, rows,
                    J_out, load, solved, Y_out,
                )  # fmt: skip


@kernel
def answer_book(
    layout: Ints, ints: Ints, constants: Floats, of_body: Ints, first: Ints, place: Ints, members: Ints, member_start: Ints, groups: Ints,
    begin: Ints, work_out: Floats, acceleration_out: Floats, J_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """C̈ of the free motion, and J and Y, zero before, of all rows of the book."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    world = part(work_out, layout, ENTRY_W)
    entry_body = part(ints, layout, ENTRY_BODY)
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    dof_start = part(ints, layout, DOF_START)
    dof_index = part(ints, layout, DOF_INDEX)
    numbers = part(work_out, layout, J)
    shift = part(work_out, layout, SHIFT)
    load = part(work_out, layout, LOAD)
    solved = part(work_out, layout, X_SOLVED)
    closure = part(work_out, layout, CLOSURE)
    y = part(work_out, layout, Y)
    place_entries(entry_body, part(work_out, layout, G), part(work_out, layout, X_WB), rows, world)
    fill_shifts(body, rows, shift)
    load[:] = 0.0
    for r in range(acceleration_out.size):
        acceleration_out[r] = row_acceleration(layout, ints, constants, r, y, work_out)
        a, c = groups[2 * r], groups[2 * r + 1]
        behind = first[a + 1] - first[a] if a >= 0 else 0
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            node = entry_body[e]
            g = of_body[node]
            if g < 0:
                continue
            w = load6(world, offset(6 * e))
            base = begin[r] + (0 if g == a else behind)
            add_path(body, shift, columns, place, node, first[g], base, 1, w[0], w[1], w[2], w[3], w[4], w[5], J_out)
        for k in range(dof_start[r], dof_start[r + 1]):
            at = place[dof_index[2 * k + 1]]
            inside = a >= 0 and first[a] <= at < first[a + 1]
            J_out[begin[r] + (at - first[a] if inside else behind + at - first[c])] += numbers[dof_index[2 * k]]
        for side in range(2):
            g = a if side == 0 else c
            if g < 0:
                continue
            solve_members(
                body, shift, columns, place, of_body, members, member_start[g], member_start[g + 1], first[g],
                begin[r] + (0 if side == 0 else behind), 1, J_out, load, solved, Y_out,
            )  # fmt: skip
    if closure.size > 0:
        fill_reference(row_start, row_entry, entry_body, world, part(constants, layout, MASSES), closure)
