"""The saddle problem of a bound system, handed to one of the three algorithms of paper 001.

    tree     O(n) block LDLᵀ of the primary rows, auxiliary rows by anticipation (§3.3, §4) at O(nk + k³)
    schur    A λ = b with A = G M⁻¹ Gᵀ (§2.2)
    dense    LDLᵀ of the whole H, as if it had no zeros, O(n³) (§3.2)

Each is a stage over the same slots: node blocks in, accelerations Y (in the order of the state), multipliers NODE_L and MULTIPLIER out.
"""

from __future__ import annotations

from unibody.algebra.saddle import baraff, baraff_planar
from unibody.algebra.saddle.schur import solve_dense, solve_schur
from unibody.arena import part
from unibody.coordinates.loop_closure import close_rows, fill_reference, rank_tolerance, solve_closure, solve_closure_again

from unibody.coordinates.maximal.workspace import (  # isort: skip
    FACTOR, NODE_B, NODE_BODY, NODE_C, NODE_F, NODE_G, NODE_L, NODE_M, NODE_P, NODE_PARENT, NODE_PLAN, NODE_ROWS, NODE_Y,
)  # fmt: skip
from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, CLOSURE, COMPLIANCE, COUNTS, DOF_INDEX, DOF_START, ENTRY_BODY, ENTRY_W, G, GRAM, J, LOAD, MASSES, MULTIPLIER, NODE_OF, RANK,
    RESPONSE_X, RESPONSE_Y, ROW_ENTRY, ROW_START, TARGET, VIOLATION, WIDTH, Y,
)  # fmt: skip
from unibody.kernel import Floats, Ints, device, kernel

factor_solve_6, solve_many_6 = baraff.factor_solve_tree, baraff.solve_tree_many
factor_solve_3, solve_many_3 = baraff_planar.factor_solve_tree, baraff_planar.solve_tree_many


@kernel
def fill_loads(layout: Ints, ints: Ints, work_out: Floats) -> None:
    """The auxiliary rows as wrenches on the nodes, one dense vector after the other."""
    width = part(ints, layout, COUNTS)[WIDTH]
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    place = part(ints, layout, NODE_OF)
    entries = part(work_out, layout, ENTRY_W)
    load = part(work_out, layout, LOAD)
    size = part(work_out, layout, NODE_Y).size
    for k in range(load.size):
        load[k] = 0.0
    for r in range(row_start.size - 1):
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            if place[e] >= 0:
                for m in range(width):
                    load[size * r + place[e] + m] += entries[width * e + m]


@kernel
def aim_at_rest(layout: Ints, ints: Ints, work_out: Floats) -> None:
    """Take off the targets of the auxiliary rows what the primary solution already gives them."""
    width = part(ints, layout, COUNTS)[WIDTH]
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    place = part(ints, layout, NODE_OF)
    entries = part(work_out, layout, ENTRY_W)
    target = part(work_out, layout, TARGET)
    y = part(work_out, layout, NODE_Y)
    for r in range(target.size):
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            if place[e] >= 0:
                for m in range(width):
                    target[r] -= entries[width * e + m] * y[place[e] + m]


@kernel
def add_responses(layout: Ints, ints: Ints, work_out: Floats) -> None:
    """Add the responses to the auxiliary multipliers to y and λ."""
    multiplier = part(work_out, layout, MULTIPLIER)
    y = part(work_out, layout, NODE_Y)
    primary = part(work_out, layout, NODE_L)
    response_x = part(work_out, layout, RESPONSE_X)
    response_y = part(work_out, layout, RESPONSE_Y)
    n = y.size
    for r in range(multiplier.size):
        mu = multiplier[r]
        for k in range(n):
            y[k] += mu * response_x[n * r + k]
            primary[k] += mu * response_y[n * r + k]


@device
def hand_over(layout, ints, work_out):
    """y of the nodes in the order of the state."""
    width = part(ints, layout, COUNTS)[WIDTH]
    bodies = part(ints, layout, NODE_BODY)
    y = part(work_out, layout, NODE_Y)
    out = part(work_out, layout, Y)
    for k in range(bodies.size // 2):
        for m in range(width):
            out[width * bodies[2 * k + 1] + m] = y[width * k + m]


@device
def leave_out(active, closure, gram_out, target_out):
    """Take rows that do not act out of the system; `active` is empty where all do."""
    k = active.size
    for r in range(k):
        if active[r] < 1.0:
            for s in range(k):
                gram_out[k * r + s] = 0.0
                gram_out[k * s + r] = 0.0
            gram_out[k * r + r] = closure[2 + k + r] if closure[2 + k + r] > 0.0 else 1.0
            target_out[r] = 0.0


@kernel
def close_forest(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """A = K M̂⁻¹ Kᵀ from the responses, its solution, and its effect on y and λ."""
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    closure = part(work_out, layout, CLOSURE)
    response = part(work_out, layout, RESPONSE_X)
    gram = part(work_out, layout, GRAM)
    close_rows(
        part(ints, layout, COUNTS)[WIDTH], row_start, row_entry, part(ints, layout, NODE_OF), part(ints, layout, DOF_START),
        part(ints, layout, DOF_INDEX), part(work_out, layout, ENTRY_W), part(work_out, layout, J), part(constants, layout, COMPLIANCE),
        response, response, 0, gram,
    )  # fmt: skip
    entry_body = part(ints, layout, ENTRY_BODY)
    fill_reference(row_start, row_entry, entry_body, part(work_out, layout, G), part(constants, layout, MASSES), closure)
    aim_at_rest(layout, ints, work_out)
    leave_out(part(work_out, layout, ACTIVE), closure, gram, part(work_out, layout, TARGET))
    solve_closure(
        gram, part(work_out, layout, TARGET), part(work_out, layout, VIOLATION), closure,
        part(work_out, layout, MULTIPLIER), part(work_out, layout, RANK),
    )  # fmt: skip
    add_responses(layout, ints, work_out)


@kernel
def close_forest_again(layout: Ints, ints: Ints, work_out: Floats) -> None:
    """Solve the closed forest again for another right side, with the factors of `close_forest`."""
    aim_at_rest(layout, ints, work_out)
    solve_closure_again(
        part(work_out, layout, GRAM), part(work_out, layout, TARGET), part(work_out, layout, CLOSURE), part(work_out, layout, MULTIPLIER),
        part(work_out, layout, RANK),
    )  # fmt: skip
    add_responses(layout, ints, work_out)


@device
def factor_primary(factor_solve, layout, ints, constants, work_out):
    """Accelerations and multipliers of the primary rows alone, by the kernel of a width; its factors stay."""
    y = part(work_out, layout, NODE_Y)
    failed = factor_solve(
        part(ints, layout, NODE_PARENT), part(ints, layout, NODE_ROWS), part(ints, layout, NODE_PLAN), part(constants, layout, NODE_M),
        part(work_out, layout, NODE_G), part(work_out, layout, NODE_P), part(work_out, layout, NODE_C), part(work_out, layout, NODE_F),
        part(work_out, layout, NODE_B), part(work_out, layout, FACTOR), y, part(work_out, layout, NODE_L),
    )  # fmt: skip
    if failed >= 0:
        y[part(ints, layout, COUNTS)[WIDTH] * failed] = 1e400


@device
def solve_forest(factor_solve, solve_many, layout, ints, constants, work_out):
    """Accelerations and multipliers by the kernels of a width: primary rows, then auxiliary ones by anticipation."""
    factor_primary(factor_solve, layout, ints, constants, work_out)
    target = part(work_out, layout, TARGET)
    if target.size > 0:
        load = part(work_out, layout, LOAD)
        fill_loads(layout, ints, work_out)
        solve_many(
            target.size, part(ints, layout, NODE_PARENT), part(ints, layout, NODE_ROWS), part(ints, layout, NODE_PLAN),
            part(work_out, layout, FACTOR), load, load[0:0], part(work_out, layout, RESPONSE_X), part(work_out, layout, RESPONSE_Y),
        )  # fmt: skip
        close_forest(layout, ints, constants, work_out)
    hand_over(layout, ints, work_out)


@device
def solve_forest_again(solve_many, layout, ints, work_out):
    """Another right side (NODE_F, NODE_B, TARGET) with the factors at hand."""
    solve_many(
        1, part(ints, layout, NODE_PARENT), part(ints, layout, NODE_ROWS), part(ints, layout, NODE_PLAN), part(work_out, layout, FACTOR),
        part(work_out, layout, NODE_F), part(work_out, layout, NODE_B), part(work_out, layout, NODE_Y), part(work_out, layout, NODE_L),
    )  # fmt: skip
    if part(work_out, layout, TARGET).size > 0:
        close_forest_again(layout, ints, work_out)
    hand_over(layout, ints, work_out)


@kernel
def solve_by_tree(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """The tree, bodies in space."""
    solve_forest(factor_solve_6, solve_many_6, layout, ints, constants, work_out)


@kernel
def solve_primary(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """The tree with its own joints alone, bodies in space."""
    factor_primary(factor_solve_6, layout, ints, constants, work_out)
    hand_over(layout, ints, work_out)


@kernel
def solve_by_planar_tree(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """The tree, bodies in a plane."""
    solve_forest(factor_solve_3, solve_many_3, layout, ints, constants, work_out)


@kernel
def solve_by_tree_again(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Another right side with the factors of `solve_by_tree`."""
    solve_forest_again(solve_many_6, layout, ints, work_out)


@kernel
def solve_by_planar_tree_again(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Another right side with the factors of `solve_by_planar_tree`."""
    solve_forest_again(solve_many_3, layout, ints, work_out)


@device
def solve_saddle(solve, layout, ints, constants, work_out):
    """Accelerations and all multipliers at once, by a kernel that takes auxiliary rows as dense vectors."""
    fill_loads(layout, ints, work_out)
    y = part(work_out, layout, NODE_Y)
    memory = part(work_out, layout, FACTOR)
    failed = solve(
        part(ints, layout, COUNTS)[WIDTH], part(work_out, layout, TARGET).size, part(ints, layout, NODE_PARENT),
        part(ints, layout, NODE_ROWS), part(constants, layout, NODE_M), part(work_out, layout, NODE_G), part(work_out, layout, NODE_P),
        part(work_out, layout, NODE_C), part(work_out, layout, LOAD), part(work_out, layout, NODE_F), part(work_out, layout, NODE_B),
        part(work_out, layout, TARGET), rank_tolerance(part(work_out, layout, VIOLATION)), memory, y, part(work_out, layout, NODE_L),
        part(work_out, layout, MULTIPLIER),
    )  # fmt: skip
    part(work_out, layout, RANK)[0] = memory[0]
    if failed >= 0:
        y[0] = 1e400
    hand_over(layout, ints, work_out)


@kernel
def solve_by_schur(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """The Schur complement, one dense system for all multipliers."""
    solve_saddle(solve_schur, layout, ints, constants, work_out)


@kernel
def solve_by_dense(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """Dense LDLᵀ of the whole saddle matrix."""
    solve_saddle(solve_dense, layout, ints, constants, work_out)
