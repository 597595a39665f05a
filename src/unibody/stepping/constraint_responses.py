"""The rows of loops and constraint elements on islands of velocities: C̈ of the free motion, J, and Y = M⁻¹ Jᵀ; and what impulses along
them, beside wrenches on bodies, do to a tree."""

from __future__ import annotations

from unibody.algebra.block.sym6 import dot6, offset
from unibody.algebra.tree.aba import ROW, A, fill_shifts
from unibody.algebra.tree.factor import solve_tree
from unibody.arena import part
from unibody.coordinates.loop_closure import fill_reference
from unibody.coordinates.reduced.kinematics import place_entries
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, ROWS, SHIFT, SIDE, X_SOLVED
from unibody.kernel import Floats, Ints, kernel
from unibody.spatial.devices import add3, cross, load3, load6, load9, rotate_back, store3
from unibody.stepping.island_inverses import body_numbers, invert_islands, respond_one
from unibody.stepping.island_sweeps import add_path, arm, solve_island
from unibody.stepping.islands import COLUMN_OF, CONSTRAINT_ISLANDS, FIRST, INVERSE_AT, MEMBER_START, MEMBERS, OF_BODY, PLACE, SEAT

from unibody.coordinates.workspace import (  # isort: skip
    BIAS, CLOSURE, DOF_INDEX, DOF_START, ENTRY_BODY, ENTRY_W, GRAVITY, LOAD, MASSES, ROW_ENTRY, ROW_START, X_WB, G, J, Y,
)  # fmt: skip


@kernel
def respond_to_constraints(
    layout: Ints, ints: Ints, constants: Floats, spots: Ints, table: Ints, begin: Ints, responses: bool, work_out: Floats,
    numbers_out: Floats, acceleration_out: Floats, J_out: Floats, Y_out: Floats,
) -> None:  # fmt: skip
    """C̈ of the free motion, and J and Y of all constraint rows; without `responses` no Y."""
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
    closure = part(work_out, layout, CLOSURE)
    y = part(work_out, layout, Y)
    bias = part(work_out, layout, BIAS)
    gravity = load3(part(constants, layout, GRAVITY), 0)
    of_body = part(table, spots, OF_BODY)
    first = part(table, spots, FIRST)
    place = part(table, spots, PLACE)
    start = part(table, spots, MEMBER_START)
    seat = part(table, spots, SEAT)
    islands = part(table, spots, CONSTRAINT_ISLANDS)
    at = part(table, spots, INVERSE_AT)
    # rows in world axes at the nodes; M⁻¹ of islands that enough rows meet
    place_entries(entry_body, part(work_out, layout, G), part(work_out, layout, X_WB), rows, world)
    if responses or entry_body.size > 0:
        fill_shifts(body, rows, shift)
    J_out[:] = 0.0
    if responses:
        invert_islands(layout, ints, spots, table, at, 0, work_out, numbers_out)
        load[:] = 0.0
        Y_out[:] = 0.0
    # of each row J on the way from its nodes to the ground, C̈ = J a + bias, and Y where an inverse is at hand
    for r in range(acceleration_out.size):
        moved = bias[r]
        a, c = islands[2 * r], islands[2 * r + 1]
        behind = first[a + 1] - first[a] if a >= 0 else 0
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            node = entry_body[e]
            g = of_body[node]
            w = load6(world, offset(6 * e))
            moved += dot6(w, load6(rows, offset(ROW * node + A))) + (w[3] * gravity[0] + w[4] * gravity[1] + w[5] * gravity[2])
            if g < 0:
                continue
            base = begin[r] + (0 if g == a else behind)
            add_path(body, shift, columns, place, node, first[g], base, 1, w[0], w[1], w[2], w[3], w[4], w[5], J_out)
            if responses and at[g] >= 0:
                respond_one(numbers_out, body_numbers(first, start, seat, at, g, node), first[g + 1] - first[g], w, base, 1, Y_out)
        # what it has on joint velocities themselves
        for k in range(dof_start[r], dof_start[r + 1]):
            spot = place[dof_index[2 * k + 1]]
            g = a if a >= 0 and first[a] <= spot < first[a + 1] else c
            base = begin[r] + (0 if g == a else behind)
            x = numbers[dof_index[2 * k]]
            moved += x * y[dof_index[2 * k + 1]]
            J_out[base + spot - first[g]] += x
            if responses and at[g] >= 0:
                n = first[g + 1] - first[g]
                line = offset(at[g] + 3 * ((n + 2) // 3) * (spot - first[g]))
                for v in range(n):
                    Y_out[offset(base + v)] += x * numbers_out[line + v]
        acceleration_out[r] = moved
        # Y of the other islands by a sweep over their members
        for side in range(2 if responses else 0):
            g = a if side == 0 else c
            if g >= 0 and at[g] < 0:
                solve_island(
                    body, shift, columns, place, of_body, part(table, spots, MEMBERS), start[g], start[g + 1], first[g],
                    begin[r] + (0 if side == 0 else behind), 1, J_out, load, part(work_out, layout, X_SOLVED), Y_out,
                )  # fmt: skip
    if closure.size > 0:
        fill_reference(row_start, row_entry, entry_body, world, part(constants, layout, MASSES), closure)


@kernel
def push_by_impulses(
    layout: Ints, ints: Ints, spots: Ints, table: Ints, com: Floats, wrenches: Floats, impulses: Floats, begin: Ints, J: Floats,
    work_out: Floats, y_out: Floats,
) -> None:  # fmt: skip
    """y = M⁻¹ Jᵀ of wrenches (6 a body; world axes, at centres of mass) on all bodies and of impulses along the constraint rows, whose J
    begin at `begin`."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    shift = part(work_out, layout, SHIFT)
    f = part(work_out, layout, LOAD)
    right = part(work_out, layout, SIDE)
    first = part(table, spots, FIRST)
    islands = part(table, spots, CONSTRAINT_ISLANDS)
    column = part(table, spots, COLUMN_OF)
    right[:] = 0.0
    for r in range(impulses.size):
        if impulses[r] != 0.0:
            p = begin[r]
            for side in range(2):
                g = islands[2 * r + side]
                if g >= 0:
                    for v in range(first[g], first[g + 1]):
                        right[column[v]] += J[p] * impulses[r]
                        p += 1
    for i in range(com.size // 3):
        force = load3(wrenches, 6 * i + 3)
        store3(add3(load3(wrenches, 6 * i), cross(arm(X, com, rows, i), force)), 6 * i, f)
        store3(force, 6 * i + 3, f)
    for m in range(6):
        f[m] = 0.0
    fill_shifts(body, rows, shift)
    solve_tree(body, shift, part(work_out, layout, COLUMNS), right, f, part(work_out, layout, X_SOLVED), y_out)


@kernel
def twists_at_centres(layout: Ints, com: Floats, work: Floats, twist_out: Floats) -> None:
    """Twists of bodies in world axes, at centres of mass, as the last solution of the tree left them at its points."""
    rows = part(work, layout, ROWS)
    X = part(work, layout, X_WB)
    x = part(work, layout, X_SOLVED)
    for i in range(com.size // 3):
        w = load3(x, 6 * i)
        store3(w, 6 * i, twist_out)
        store3(add3(load3(x, 6 * i + 3), cross(w, arm(X, com, rows, i))), 6 * i + 3, twist_out)


@kernel
def add_loads(
    X: Floats, com: Floats, wrenches: Floats, row_start: Ints, row_entry: Ints, entry_body: Ints, blocks: Floats, multipliers: Floats,
    F_out: Floats,
) -> None:  # fmt: skip
    """Add wrenches (6 a body; world axes, at centres of mass) and rows times their multipliers to the bodies' own."""
    for i in range(F_out.size // 6):
        R = load9(X, 12 * i)
        f = rotate_back(R, load3(wrenches, 6 * i + 3))
        t = add3(rotate_back(R, load3(wrenches, 6 * i)), cross(load3(com, 3 * i), f))
        for m in range(3):
            F_out[6 * i + m] += t[m]
            F_out[6 * i + 3 + m] += f[m]
    for r in range(multipliers.size):
        if multipliers[r] != 0.0:
            for k in range(row_start[r], row_start[r + 1]):
                e = row_entry[k]
                for m in range(6):
                    F_out[6 * entry_body[e] + m] += multipliers[r] * blocks[6 * e + m]
