"""J and Y = M⁻¹ Jᵀ of wrenches on trees, island by island, each in the time of the trees that it touches.

J of a wrench on a node is found on the way from the node to the ground; Y by one sweep up and one down the factored tree (`island_sweeps`)
over the members of the island alone, or, where enough rows meet a small island, from its M⁻¹ (`island_inverses`). A free body that no other
row touches has a root of its own, M⁻¹ = R Rᵀ: in velocities y of which its twist is R y its mass is 1, and Y is J, which is Rᵀ times the
wrench. Blocks of three rows go through all of it as triples (`unibody.triple`).
"""

from __future__ import annotations

import math

import numpy as np

from unibody.algebra.block.sym6 import dot6, offset
from unibody.algebra.tree.aba import BODY, COLUMN, INVERSE, LOOSE, RIGID, ROW, U, fill_shifts
from unibody.arena import part
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, ROWS, SHIFT, X_SOLVED
from unibody.coordinates.workspace import LOAD, X_WB
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, load3, load6
from unibody.spatial.triples import crossed
from unibody.stepping.island_inverses import body_numbers, invert_islands, respond_one, respond_three
from unibody.stepping.island_sweeps import add_path, along, arm, lay_path, solve_island, solve_island_three_rows, three_wrenches
from unibody.triple import fetch, minus, plus, put, put_only, total

from unibody.stepping.islands import (  # isort: skip
    ALONE, FIRST, INVERSE_AT, MEMBERS, MEMBER_START, OF_BODY, PLACE, SEAT, inverse_size, lay_blocks, worth_inverting,
)  # fmt: skip


def sweep_size(bodies: int, lonely: bool) -> int:
    """The numbers that sweeps of three rows pass through; more if some island is a body alone."""
    return 2 * (18 * bodies + 1) + (36 * bodies if lonely else 0)


@device
def loose_root(rows, k, columns, e, at, root_out):
    """The root of a node that is LOOSE: of I⁻¹ = Σ s d⁻¹ sᵀ about the centre of mass, at c from the node's point, columns (s, c × s) √d⁻¹;
    and those of 1/m."""
    inverse = 1.0 / rows[k]
    c = fetch(rows, k + 1) * inverse
    x, y, z = fetch(columns, e), fetch(columns, e + COLUMN), fetch(columns, e + 2 * COLUMN)
    v, w = fetch(columns, e + COLUMN + U), fetch(columns, e + 2 * COLUMN + U)
    b, d = columns[e + COLUMN + INVERSE], columns[e + 2 * COLUMN + INVERSE]
    x = minus(x, total(x * w) * d, z)
    y = minus(y, total(y * w) * d, z)
    x = minus(x, total(x * v) * b, y)
    x, y, z = x * math.sqrt(columns[e + INVERSE]), y * math.sqrt(b), z * math.sqrt(d)
    put(x, at, root_out)
    put(crossed(c, x), at + 3, root_out)
    put(y, at + 6, root_out)
    put(crossed(c, y), at + 9, root_out)
    put(z, at + 12, root_out)
    put_only(crossed(c, z), at + 15, root_out)
    for m in range(18):
        root_out[at + 18 + m] = math.sqrt(inverse) if m % 7 == 3 else 0.0


@kernel
def fill_roots(body: Ints, of_body: Ints, alone: Ints, rows: Floats, columns: Floats, root_out: Floats) -> None:
    """Of each node that is alone a root R of how it responds to wrenches on it (36 numbers, column by column), S (Sᵀ B S + D)⁻¹ Sᵀ =
    Σ t d⁻¹ tᵀ = R Rᵀ over its columns, with t what is left of s when those after it have responded: column by column t √d⁻¹."""
    t = np.zeros(37)
    for i in range(body.size // BODY):
        if of_body[i] < 0 or alone[of_body[i]] == 0:
            continue
        first, count, at = body[BODY * i + 1], body[BODY * i + 2], offset(36 * i)
        if body[BODY * i + 4] == LOOSE:
            loose_root(rows, offset(ROW * i + RIGID), columns, offset(COLUMN * first), at, root_out)
            continue
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
            root = math.sqrt(columns[e + INVERSE])
            put_only(x * root, at + 6 * m, root_out)
            put_only(y * root, at + 6 * m + 3, root_out)


@kernel
def lay_wrenches(
    spots: Ints, table: Ints, front_rows: Ints, front_islands: Ints, responded: bool, nodes: Ints, rows: int, rows_out: Ints,
    islands_out: Ints, start_out: Ints, place_out: Ints, at_out: Ints,
) -> int:  # fmt: skip
    """`lay_blocks`, and where the numbers of `island_inverses` begin, −1 for an island that is to be swept, and how many they are.
    `responded`: whether those of the constraint rows are known."""
    of_body = part(table, spots, OF_BODY)
    first = part(table, spots, FIRST)
    start = part(table, spots, MEMBER_START)
    alone = part(table, spots, ALONE)
    kept = part(table, spots, INVERSE_AT)
    lay_blocks(of_body, first, front_rows, front_islands, nodes, rows, rows_out, islands_out, start_out, place_out)
    # how many blocks of wrenches each island has
    for g in range(at_out.size):
        at_out[g] = 0
    for k in range(front_rows.size, rows_out.size):
        for side in range(2):
            if islands_out[2 * k + side] >= 0:
                at_out[islands_out[2 * k + side]] += 1
    end = kept[at_out.size]
    for g in range(at_out.size):
        n, members, sweeps = first[g + 1] - first[g], start[g + 1] - start[g], at_out[g] if rows == 3 else rows * at_out[g]
        at_out[g] = kept[g] if responded else -1
        if at_out[g] < 0 and alone[g] == 0 and worth_inverting(n, members, sweeps):
            at_out[g] = end
            end += inverse_size(n, members)
    return end


@kernel
def respond_three_rows(
    layout: Ints, ints: Ints, spots: Ints, table: Ints, at: Ints, fresh: int, begin: Ints, nodes: Ints, all_alone: bool, wrenches: Floats,
    com: Floats, work_out: Floats, numbers_out: Floats, sweep_out: Floats, J_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """J and Y of blocks of three wrenches on two nodes each, in world axes at centres of mass; block k begins at begin[k]. Groups that are
    `alone` have unit masses, and if they are `all_alone`, nothing is written to Y. Of `numbers`, those before `fresh` are known;
    `sweep_out` has `sweep_size`."""
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
    # what all blocks share: shifts, M⁻¹ of islands worth inverting, roots of bodies that are alone
    fill_shifts(body, rows, shift)
    invert_islands(layout, ints, spots, table, at, fresh, work_out, numbers_out)
    once = 18 * of_body.size + 1
    f_out, x_out, root = sweep_out[:once], sweep_out[once : 2 * once], sweep_out[2 * once :]
    fill_roots(body, of_body, alone, rows, columns, root)
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
            # the wrenches at the point of the node; a body alone has J = Y = Rᵀ f
            f = three_wrenches(wrenches, offset(36 * k + 6 * side), arm(X, com, rows, node))
            if alone[g] == 1:
                for m in range(6):
                    p, x = offset(base + 3 * m), along(root, offset(36 * node + 6 * m), f)
                    put_only(x, p, J_out)
                    if not all_alone:
                        put_only(x, p, Y_out)
                continue
            # J on the way to the ground; Y from M⁻¹, or by a sweep when both sides of the block are in J
            n = first[g + 1] - first[g]
            if not again:
                for p in range(base, base + 3 * n):
                    J_out[p] = 0.0
            lay_path(body, shift, columns, place, node, first[g], base, f, again, J_out)
            if at[g] >= 0:
                respond_three(numbers_out, body_numbers(first, start, seat, at, g, node), n, f, base, again, Y_out)
            elif side == 1 or of_body[nodes[2 * k + 1]] != g:
                lo, hi = start[g], start[g + 1]
                solve_island_three_rows(body, shift, columns, place, of_body, members, lo, hi, first[g], base, J_out, f_out, x_out, Y_out)


@kernel
def respond_wrenches(
    layout: Ints, ints: Ints, spots: Ints, table: Ints, at: Ints, fresh: int, begin: Ints, nodes: Ints, rows: int, wrenches: Floats,
    com: Floats, work_out: Floats, numbers_out: Floats, J_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """What `respond_three_rows` finds, for blocks of any number of rows, row by row."""
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
    # what all blocks share: shifts, M⁻¹ of islands worth inverting, roots of bodies that are alone
    fill_shifts(body, nodes_rows, shift)
    invert_islands(layout, ints, spots, table, at, fresh, work_out, numbers_out)
    load[:] = 0.0
    root = np.zeros(6 * load.size)
    fill_roots(body, of_body, alone, nodes_rows, columns, root)
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
                # the wrench at the point of the node; a body alone has J = Y = Rᵀ f
                f = load3(wrenches, w + 3)
                t = add3(load3(wrenches, w), cross(r, f))
                if alone[g] == 1:
                    for m in range(6):
                        x, p = dot6(load6(root, offset(36 * node + 6 * m)), (t[0], t[1], t[2], f[0], f[1], f[2])), base + rows * m + row
                        J_out[offset(p)] = x
                        Y_out[offset(p)] = x
                    continue
                # J on the way to the ground; Y from M⁻¹, or by a sweep when both sides of the block are in J
                add_path(body, shift, columns, place, node, first[g], base + row, rows, t[0], t[1], t[2], f[0], f[1], f[2], J_out)
                if at[g] >= 0:
                    mine = body_numbers(first, start, seat, at, g, node)
                    respond_one(
                        numbers_out, mine, first[g + 1] - first[g], (t[0], t[1], t[2], f[0], f[1], f[2]), base + row, rows, Y_out
                    )  # fmt: skip
                elif last:
                    solve_island(
                        body, shift, columns, place, of_body, members, start[g], start[g + 1], first[g], base + row, rows, J_out, load,
                        solved, Y_out,
                    )  # fmt: skip
