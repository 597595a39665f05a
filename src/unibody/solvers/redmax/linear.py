"""Ways to solve the linear system of a linearly implicit step: what stands behind RedMax's `linear=`. Called by address.

tree      no couplings: P is the matrix, and one solution is exact
pcg       fused conjugate gradients with the rows closed inside (`unibody.algebra.tree.pcg`)
plain     the paper's: l + 2 runs of plain conjugate gradients, products by J and Jᵀ in each iteration
direct    multifrontal elimination (`unibody.algebra.tree.multifrontal`): exact, with the rows as its border
auto      pcg while it needs fewer iterations than a direct solution is worth, which then does the next RETRY steps
kkt       Eq. 6 with multipliers that hold attached vertices, written out (`flesh_kkt`): for comparison
dense     A written out over the joints (`unibody.algebra.tree.joint_matrix`): for small mechanisms, and the reference
"""

from __future__ import annotations

from math import sqrt

from unibody.algebra.tree.aba import BODY
from unibody.algebra.tree.factor import factor_tree, pull_tree, push_tree, solve_tree
from unibody.algebra.tree.joint_matrix import factor_joint_matrix, fill_joint_matrix, solve_joint_matrix
from unibody.algebra.tree.multifrontal import factor_multifrontal
from unibody.algebra.tree.multifrontal_solve import recover_multifrontal, reduce_multifrontal
from unibody.algebra.tree.pcg import fill_residual, meet_rows, multiply_coupled, solve_fused, solve_plain
from unibody.arena import part
from unibody.coordinates.loop_closure import fill_reference, solve_closure, solve_closure_again
from unibody.coordinates.reduced.dynamics import spread_responses
from unibody.coordinates.reduced.products import twice_kinetic_energy
from unibody.solvers.redmax.matrix import fill_least, fill_terms
from unibody.solvers.redmax.rows import multiply_rows, respond

from unibody.coordinates.reduced.workspace import (  # isort: skip
    BLOCKS, BODIES, COLUMNS, CONTRACTED, COUNTDOWN, DEFINITE, DIAGONAL, IMPLICIT_CHOICE, IMPLICIT_CLASSES, ITERATION_LIMIT, LEAST, ROWS,
    SHIFT, SIDE, STATUS, STEP_LENGTH, SUMS, TOLERANCE, X_SOLVED,
)  # fmt: skip
from unibody.coordinates.workspace import (  # isort: skip
    CLOSURE, COMPLIANCE, ENTRY_BODY, ENTRY_W, GRAM, J, LOAD, MASSES, MULTIPLIER, RANK, RESPONSE_X, RESPONSE_Y, ROW_ENTRY, ROW_START,
    STEP, TARGET, VIOLATION, Y,
)  # fmt: skip
from unibody.solvers.redmax.workspace import (  # isort: skip
    ADDRESSES, BORDER, BORDER_VALUES, CONSTRAINT_LAYOUT, COUPLED, FRONTS, FRONT_SCRATCH, FRONT_STATE, INVERSE, OTHER_IMPLICIT, PAIRS,
    PAIR_ENDS, PAIR_FORCES, PLAN_LISTS, PLAN_RECORDS, PLAN_STEPS, SIDE_F, STEP_ROWS, VECTORS, V_OWN, WORLD_COUPLING,
)  # fmt: skip
from unibody.kernel import Floats, Ints, cut, device, kernel

TOO_MANY = -2
"""Returned in place of the number of iterations when there would be more than the limit."""

RETRY = 100
"""Steps that an automatic choice leaves to the direct solution before it tries to iterate again."""

ROUND_OFF = 1e-12
"""Part of the acceleration that the loads would give to free bodies, below which a residual is round-off."""


@kernel
def fill_implicit(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, project: int, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """The implicit terms of all forces."""
    fill_terms(part(ints, layout, IMPLICIT_CLASSES), layout, ints, constants, control, project, work_out, q_out, v_out)


@kernel
def factor_projected(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> int:
    """Eq. 3, Alg. 1: P by the tree."""
    fill_least(layout, ints, constants, work_out)
    return factor_tree(
        part(ints, layout, BODIES), part(work_out, layout, SHIFT), part(work_out, layout, DIAGONAL), part(work_out, layout, LEAST),
        part(work_out, layout, BLOCKS), part(work_out, layout, SUMS), part(work_out, layout, COLUMNS),
    )  # fmt: skip


@kernel
def solve_projected(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, work_out: Floats, f_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """P⁻¹ in two sweeps."""
    body = part(ints, layout, BODIES)
    solve_tree(body, part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), right, f_out, x_out, y_out)
    return 1


@kernel
def solve_plainly(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, work_out: Floats, f_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """One run of the paper's iteration."""
    body = part(ints, layout, BODIES)
    choice = part(constants, layout, IMPLICIT_CHOICE)
    b = part(work_out, layout, SUMS)[: y_out.size]
    for j in range(y_out.size):
        b[j] = right[j]
    pull_tree(body, part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), f_out, b)
    done = solve_plain(
        body, part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), part(work_out, layout, DIAGONAL),
        part(work_out, layout, BLOCKS), part(ints, layout, PAIRS), part(work_out, layout, WORLD_COUPLING), b, choice[TOLERANCE],
        int(choice[ITERATION_LIMIT]), part(work_out, layout, VECTORS), x_out, y_out,
    )  # fmt: skip
    return done if done <= int(choice[ITERATION_LIMIT]) else -1


@kernel
def solve_iteratively(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, work_out: Floats, f_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """One run of the fused iteration without rows, from the guess in y."""
    choice = part(constants, layout, IMPLICIT_CHOICE)
    nothing = part(work_out, layout, TARGET)[:0]
    vectors = part(work_out, layout, VECTORS)
    push_tree(part(ints, layout, BODIES), part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), y_out, x_out)
    leave_residual(layout, ints, right, f_out, work_out, x_out, y_out)
    done = solve_fused(
        part(ints, layout, BODIES), part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), part(ints, layout, PAIRS),
        part(ints, layout, COUPLED), part(work_out, layout, WORLD_COUPLING), part(ints, layout, CONSTRAINT_LAYOUT), nothing, nothing,
        nothing, nothing, nothing, choice[TOLERANCE], 0.0, 0.0, int(choice[ITERATION_LIMIT]), vectors, x_out, y_out, nothing,
    )  # fmt: skip
    for k in range(f_out.size):
        f_out[k] = 0.0
    return done if done <= int(choice[ITERATION_LIMIT]) else -1


@kernel
def leave_residual(layout: Ints, ints: Ints, right: Floats, f: Floats, work_out: Floats, x_out: Floats, y_out: Floats) -> None:
    """The residual of the guess y, x = J y, for the fused iteration."""
    fill_residual(
        part(ints, layout, BODIES), part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), part(work_out, layout, DIAGONAL),
        part(work_out, layout, BLOCKS), part(ints, layout, PAIRS), part(work_out, layout, WORLD_COUPLING), right, f, x_out, y_out,
        part(work_out, layout, VECTORS),
    )  # fmt: skip


@kernel
def solve_closed(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, f: Floats, work_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """The fused iteration with the rows inside."""
    choice = part(constants, layout, IMPLICIT_CHOICE)
    target = part(work_out, layout, TARGET)
    inverse = part(work_out, layout, INVERSE)
    multiplier = part(work_out, layout, MULTIPLIER)
    masses = part(constants, layout, MASSES)
    k = target.size
    if k > 0:
        respond(layout, ints, constants, part(ints, layout, ADDRESSES)[0], work_out)
        invert_gram(layout, work_out)
    h = choice[STEP_LENGTH]
    free = 0.0
    for i in range(1, f.size // 6):
        for m in range(3):
            free += f[6 * i + m] * f[6 * i + m] * masses[2 * i + 1] + f[6 * i + 3 + m] * f[6 * i + 3 + m] * masses[2 * i]
    moving = twice_kinetic_energy(layout, ints, constants, part(work_out, layout, V_OWN), work_out) / (h * h) if h > 0.0 else 0.0
    push_tree(part(ints, layout, BODIES), part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), y_out, x_out)
    if k > 0:
        meet_rows(
            part(ints, layout, CONSTRAINT_LAYOUT), part(work_out, layout, ENTRY_W), part(work_out, layout, J), inverse,
            part(work_out, layout, RESPONSE_X), part(work_out, layout, RESPONSE_Y), target, part(work_out, layout, STEP_ROWS), multiplier,
            x_out, y_out,
        )  # fmt: skip
    leave_residual(layout, ints, right, f, work_out, x_out, y_out)
    done = solve_fused(
        part(ints, layout, BODIES), part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), part(ints, layout, PAIRS),
        part(ints, layout, COUPLED), part(work_out, layout, WORLD_COUPLING), part(ints, layout, CONSTRAINT_LAYOUT),
        part(work_out, layout, ENTRY_W), part(work_out, layout, J), inverse, part(work_out, layout, RESPONSE_X),
        part(work_out, layout, RESPONSE_Y), choice[TOLERANCE], moving, ROUND_OFF * sqrt(free), int(choice[ITERATION_LIMIT]),
        part(work_out, layout, VECTORS), x_out, y_out, multiplier,
    )  # fmt: skip
    return done if done <= int(choice[ITERATION_LIMIT]) else TOO_MANY


@kernel
def invert_gram(layout: Ints, work_out: Floats) -> None:
    """The (pseudo-)inverse of the rows' Gram matrix, from its factor; the factor stays for projections."""
    gram = part(work_out, layout, GRAM)
    closure = part(work_out, layout, CLOSURE)
    rank = part(work_out, layout, RANK)
    inverse = part(work_out, layout, INVERSE)
    violation = part(work_out, layout, VIOLATION)
    multiplier = part(work_out, layout, MULTIPLIER)
    unit = part(work_out, layout, STEP_ROWS)
    k = unit.size
    for s in range(k):
        for r in range(k):
            unit[r] = 1.0 if r == s else 0.0
        if s == 0:
            solve_closure(gram, unit, violation, closure, multiplier, rank)
        else:
            solve_closure_again(gram, unit, closure, multiplier, rank)
        for r in range(k):
            inverse[k * r + s] = multiplier[r]


@kernel
def fill_dense(layout: Ints, ints: Ints, work_out: Floats, A_out: Floats) -> None:
    """A, written out column by column."""
    vectors = part(work_out, layout, VECTORS)
    body = part(ints, layout, BODIES)
    nv = part(work_out, layout, Y).size
    n = body.size // BODY
    x = vectors[: 6 * n]
    f = vectors[6 * n : 12 * n]
    unit = vectors[12 * n : 12 * n + nv]
    for k in range(12 * n + nv):
        vectors[k] = 0.0
    for j in range(nv):
        unit[j] = 1.0
        multiply_coupled(
            body, part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), part(ints, layout, PAIRS), part(work_out, layout, BLOCKS),
            part(work_out, layout, WORLD_COUPLING), part(work_out, layout, DIAGONAL), unit, x, f, A_out[nv * j : nv * (j + 1)],
        )  # fmt: skip
        unit[j] = 0.0


@kernel
def factor_densely(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> int:
    """A written out and factored, all couplings in place."""
    if part(constants, layout, IMPLICIT_CHOICE)[DEFINITE] == 0.0:  # exact implicit terms are judged as the tree judges them
        doubtful = factor_projected(layout, ints, constants, work_out)
        if doubtful != 0:
            return doubtful
    none = cut(part(ints, layout, PAIR_ENDS), 0, 0)
    return factor_written(layout, ints, part(ints, layout, PAIRS), none, work_out)


@kernel
def factor_densely_apart(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> int:
    """A written out and factored, with forces between points apart from the couplings of others."""
    pairs = part(ints, layout, PAIRS)
    others = pairs.size if part(ints, layout, OTHER_IMPLICIT).size > 0 else 0
    return factor_written(layout, ints, cut(pairs, 0, others), part(ints, layout, PAIR_ENDS), work_out)


@device
def factor_written(layout, ints, pairs, ends, work_out):
    """0, or the body of the pivot that failed."""
    A = part(work_out, layout, FRONTS)
    body = part(ints, layout, BODIES)
    nv = part(work_out, layout, Y).size
    fill_joint_matrix(
        body, part(work_out, layout, ROWS), part(work_out, layout, COLUMNS), part(work_out, layout, BLOCKS),
        cut(part(work_out, layout, DIAGONAL), 0, nv), pairs, part(work_out, layout, WORLD_COUPLING), ends, part(ints, layout, PLAN_LISTS),
        part(work_out, layout, PAIR_FORCES), part(work_out, layout, FRONT_SCRATCH), A,
    )  # fmt: skip
    failed = factor_joint_matrix(nv, A, part(work_out, layout, FRONT_STATE))
    if failed < 0:
        return 0
    for i in range(1, body.size // BODY):
        if body[BODY * i + 1] <= failed < body[BODY * i + 1] + body[BODY * i + 2]:
            return i
    return 1


@kernel
def solve_densely(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, work_out: Floats, f_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """With these factors."""
    solve_written(layout, ints, right, work_out, f_out, x_out, y_out)
    return 1


@kernel
def solve_densely_alone(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, f: Floats, work_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """The same where there are no rows."""
    used = part(work_out, layout, LOAD)
    for k in range(used.size):
        used[k] = f[k]
    solve_written(layout, ints, right, work_out, used, x_out, y_out)
    return 1


@device
def solve_written(layout, ints, right, work_out, f_out, x_out, y_out):
    """A y = right + Jᵀ f, x = J y; f is used up."""
    body = part(ints, layout, BODIES)
    shift = part(work_out, layout, SHIFT)
    columns = part(work_out, layout, COLUMNS)
    state = part(work_out, layout, FRONT_STATE)
    nv = y_out.size
    padded = cut(state, nv, state.size - nv)
    for j in range(nv):
        padded[j] = right[j]
    for j in range(nv, padded.size):
        padded[j] = 0.0
    pull_tree(body, shift, columns, f_out, padded)
    solve_joint_matrix(nv, part(work_out, layout, FRONTS), state, padded)
    for j in range(nv):
        y_out[j] = padded[j]
    push_tree(body, shift, columns, y_out, x_out)


@kernel
def multiply_bilateral(
    target: Floats, violation: Floats, gram_out: Floats, active_out: Floats, closure_out: Floats, multiplier_out: Floats, rank_out: Floats
) -> None:
    """Multipliers of rows that all hold both ways."""
    solve_closure(gram_out, target, violation, closure_out, multiplier_out, rank_out)


@kernel
def factor_contracted(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> int:
    """A by multifrontal elimination, with the rows' Gram matrix."""
    order = part(ints, layout, BORDER)
    world = part(work_out, layout, ENTRY_W)
    numbers = part(work_out, layout, J)
    gram = part(work_out, layout, GRAM)
    compliance = part(constants, layout, COMPLIANCE)
    row_entry = part(ints, layout, ROW_ENTRY)
    values = part(work_out, layout, BORDER_VALUES)
    k = compliance.size
    count = row_entry.size
    for e in range(count):
        for m in range(6):
            values[6 * e + m] = world[6 * row_entry[e] + m]
    for e in range(order.size):
        values[6 * count + e] = numbers[order[e]]
    failed = contract(layout, ints, constants, values[: 6 * count], values[6 * count :], work_out, gram)
    for r in range(k):
        gram[k * r + r] += compliance[r]
    if k > 0:
        fill_reference(
            part(ints, layout, ROW_START), row_entry, part(ints, layout, ENTRY_BODY), world, part(constants, layout, MASSES),
            part(work_out, layout, CLOSURE),
        )  # fmt: skip
    return failed


@kernel
def contract(layout: Ints, ints: Ints, constants: Floats, border: Floats, columns: Floats, work_out: Floats, gram_out: Floats) -> int:
    """The contracted factor, with a border or none; exact implicit terms are judged as the tree judges them."""
    if part(constants, layout, IMPLICIT_CHOICE)[DEFINITE] == 0.0:
        failed = factor_projected(layout, ints, constants, work_out)
        if failed != 0:
            return failed
    return factor_multifrontal(
        part(ints, layout, PLAN_STEPS), part(ints, layout, PLAN_LISTS), part(ints, layout, PLAN_RECORDS), part(ints, layout, BODIES),
        part(work_out, layout, SHIFT), part(work_out, layout, COLUMNS), part(work_out, layout, BLOCKS),
        part(work_out, layout, WORLD_COUPLING), part(work_out, layout, DIAGONAL), border, columns, part(work_out, layout, FRONTS),
        part(work_out, layout, FRONT_SCRATCH), gram_out,
    )  # fmt: skip


@kernel
def factor_inside(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> int:
    """A by multifrontal elimination, without the rows."""
    none = part(work_out, layout, TARGET)[:0]
    return contract(layout, ints, constants, none, none, work_out, none)


@kernel
def reduce_side(layout: Ints, ints: Ints, right: Floats, f: Floats, work_out: Floats, reduced_out: Floats) -> None:
    """The first half of a solution with the contracted factor."""
    reduce_multifrontal(
        part(ints, layout, PLAN_STEPS), part(ints, layout, PLAN_LISTS), part(ints, layout, BODIES), part(work_out, layout, SHIFT),
        part(work_out, layout, COLUMNS), part(work_out, layout, FRONTS), right, f, part(work_out, layout, FRONT_STATE), reduced_out,
    )  # fmt: skip


@kernel
def recover_side(layout: Ints, ints: Ints, mu: Floats, work_out: Floats, x_out: Floats, y_out: Floats) -> None:
    """The second half; their border takes multipliers with the opposite sign."""
    recover_multifrontal(
        part(ints, layout, PLAN_STEPS), part(ints, layout, PLAN_LISTS), part(ints, layout, BODIES), part(work_out, layout, SHIFT),
        part(work_out, layout, COLUMNS), part(work_out, layout, FRONTS), mu, part(work_out, layout, FRONT_STATE), x_out, y_out,
    )  # fmt: skip


@kernel
def solve_inside(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, work_out: Floats, f_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """With the contracted factor, without the rows."""
    none = part(work_out, layout, TARGET)[:0]
    reduce_side(layout, ints, right, f_out, work_out, none)
    recover_side(layout, ints, none, work_out, x_out, y_out)
    for k in range(f_out.size):
        f_out[k] = 0.0
    return 1


@kernel
def solve_contracted(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, f: Floats, work_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """One solution with the contracted factor and the rows' multipliers."""
    reduced = part(work_out, layout, STEP_ROWS)
    target = part(work_out, layout, TARGET)
    multiplier = part(work_out, layout, MULTIPLIER)
    reduce_side(layout, ints, right, f, work_out, reduced)
    if target.size > 0:
        for r in range(target.size):
            target[r] -= reduced[r]
        multiply_rows(layout, part(ints, layout, ADDRESSES)[1], work_out)
    for r in range(target.size):
        reduced[r] = -multiplier[r]
    recover_side(layout, ints, reduced, work_out, x_out, y_out)
    return 1


@kernel
def spread_contracted(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """A⁻¹ Gᵀ μ of the multipliers at hand, into STEP."""
    reduced = part(work_out, layout, STEP_ROWS)
    multiplier = part(work_out, layout, MULTIPLIER)
    right = part(work_out, layout, SIDE)
    f = part(work_out, layout, SIDE_F)
    right[:] = 0.0
    f[:] = 0.0
    reduce_side(layout, ints, right, f, work_out, reduced)
    for r in range(multiplier.size):
        reduced[r] = -multiplier[r]
    recover_side(layout, ints, reduced, work_out, part(work_out, layout, X_SOLVED), part(work_out, layout, STEP)[: right.size])


@kernel
def factor_automatically(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> int:
    """What the present choice needs."""
    if part(work_out, layout, STATUS)[COUNTDOWN] > 0.0:
        return factor_contracted(layout, ints, constants, work_out)
    return factor_projected(layout, ints, constants, work_out)


@kernel
def solve_automatically(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, f: Floats, work_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """The iteration; if it takes too long, or for RETRY steps after it did, the direct solution."""
    status = part(work_out, layout, STATUS)
    status[CONTRACTED] = 0.0
    spent = 0
    if status[COUNTDOWN] > 0.0:
        status[COUNTDOWN] -= 1.0
    else:
        done = solve_closed(layout, ints, constants, right, f, work_out, x_out, y_out)
        if done != TOO_MANY:
            return done
        spent = int(part(constants, layout, IMPLICIT_CHOICE)[ITERATION_LIMIT])
        status[COUNTDOWN] = RETRY
        if factor_contracted(layout, ints, constants, work_out) != 0:
            return -1
    status[CONTRACTED] = 1.0
    return spent + solve_contracted(layout, ints, constants, right, f, work_out, x_out, y_out)


@kernel
def spread_automatically(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """A⁻¹ Gᵀ μ, or P⁻¹ Gᵀ μ, by what the last solution left."""
    if part(work_out, layout, STATUS)[CONTRACTED] > 0.0:
        spread_contracted(layout, ints, constants, control, work_out, q_out, v_out)
    else:
        spread_responses(layout, ints, constants, control, work_out, q_out, v_out)
