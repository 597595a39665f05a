"""One linearly implicit step in reduced coordinates (paper 000, Eq. 2), written for the acceleration a with v⁺ = v + h a:

    (Jᵀ (M − h D − h² K) J − h D_r − h² K_r) a  =  f_r + Jᵀ (f − M J̇ v) + h (K_r v + Jᵀ K J v)

with D and K the derivatives of the forces (negative where they resist), so that all forces are those of (q, v) and the implicit terms
vanish with h (`matrix`). Rows are held at the velocity level by A a = b + Gᵀ μ, G a = g (Eq. 4 and 7; `rows`), either from
the responses A⁻¹ Gᵀ or inside the solution; μ is the force that holds the row [N or N m]. Afterwards, if asked for, F holds the wrenches
that acted over the step, implicit parts and multipliers included, so that M a + … = F balances on every body and reactions follow as
for any other solver.
"""

from __future__ import annotations

from math import inf, nan

from unibody.algebra.tree.aba import BODY, ROW, A, C
from unibody.arena import part
from unibody.solvers.redmax.matrix import add_implicit_loads, fill_matrix, fill_right, fill_wrenches_beside

from unibody.solvers.redmax.rows import (  # isort: skip
    ASLEEP, add_responses, aim_rows_ahead, load_multipliers, multiply_rows, respond_to, row_acceleration, row_of,
)  # fmt: skip
from unibody.coordinates.reduced.kinematics import sweep_at
from unibody.coordinates.reduced.products import carry_accelerations, fill_wrenches, gather_wrenches
from unibody.coordinates.reduced.row_responses import close_responses, forget_response
from unibody.coordinates.signals import FillSignals

from unibody.coordinates.reduced.workspace import (  # isort: skip
    ANTICIPATE, BODIES, COLUMNS, DEFINITE, DIAGONAL, FAILED, IMPLICIT_CHOICE, IMPLICIT_EFFORT, IMPLICIT_F, ITERATIONS, OWN, PROJECTED,
    ROWS, SETTLE, SIDE, STATUS, STEP_LENGTH, X_SOLVED,
)  # fmt: skip
from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, ARMATURE, COMPLIANCE, F, GRAVITY, LOAD, MULTIPLIER, RANK, RATE, RESIDUAL, RIGHT, SCRATCH, SIGNALS,
    TARGET, X_WB, Y,
)  # fmt: skip
from unibody.solvers.redmax.workspace import AHEAD, NONHOLONOMIC, SIDE_F, STEP_ROWS, UNILATERAL, V_OWN

from unibody.coordinates.stages import (  # isort: skip
    FACTOR_STAGE, FORCE_STAGE, FUSED_STAGE, IMPLICIT_STAGE, MULTIPLIER_STAGE, PAIR_STAGE, SEE_STAGE, SIGNAL_STAGE, SOLVE_STAGE,
    FactorMatrix, Implicit, PairBlocks, SolveFused, SolveMatrix, Stage,
)  # fmt: skip
from unibody.kernel import Floats, Ints, kernel


@kernel
def settle_loads(layout: Ints, ints: Ints, constants: Floats, x: Floats, y: Floats, work_out: Floats) -> None:
    """After the solution: accelerations of the bodies into ROWS, and into F and RIGHT the loads that acted over the step."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    right = part(work_out, layout, RIGHT)
    own = part(work_out, layout, OWN)
    effort = part(work_out, layout, IMPLICIT_EFFORT)
    diagonal = part(work_out, layout, DIAGONAL)
    armature = part(constants, layout, ARMATURE)
    for i in range(1, body.size // BODY):
        for m in range(6):
            rows[ROW * i + A + m] = x[6 * i + m] + rows[ROW * i + C + m]
    if own.size > 0:
        add_implicit_loads(layout, ints, x, work_out)
        for j in range(y.size):
            right[j] += effort[j] - (diagonal[j] - armature[j]) * y[j]
    load_multipliers(layout, ints, work_out)


@kernel
def look_around(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Poses, twists, columns, rows and loads at (t, q, v)."""
    signals = part(work_out, layout, SIGNALS)
    residual = part(work_out, layout, RESIDUAL)
    ahead = part(work_out, layout, AHEAD)
    own_v = part(work_out, layout, V_OWN)
    h = part(constants, layout, IMPLICIT_CHOICE)[STEP_LENGTH]
    for j in range(own_v.size):
        own_v[j] = v_out[j]
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, signals)
    sweep_at(layout, ints, constants, q_out, v_out, work_out)
    if stages[SEE_STAGE] != 0:
        timed = stages[SIGNAL_STAGE] != 0 and residual.size > 0
        if timed:
            FillSignals(stages[SIGNAL_STAGE], t + h, signals)
            Stage(stages[SEE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
            for r in range(residual.size):
                ahead[r] = residual[r]
            FillSignals(stages[SIGNAL_STAGE], t, signals)
        Stage(stages[SEE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
        for r in range(0 if timed else residual.size):
            ahead[r] = residual[r]
    Stage(stages[FORCE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)


@kernel
def evaluate_redmax(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Accelerations (slot Y) over a step from (t, q, v); Y holds a guess on entry. NaN where the matrix is not positive definite."""
    look_around(layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    solve_matrix(layout, ints, constants, stages, control, 0, work_out, q_out, v_out)


@kernel
def solve_matrix(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, correct: int, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Fill the matrix and solve it for Y: for a step, or (`correct`) for the right side and targets at hand, a Newton correction; `correct`
    2: with what the implicit terms leave on bodies (IMPLICIT_F) beside that right side.

    If the matrix is not positive definite with exact implicit terms, it is made again with projected ones."""
    status = part(work_out, layout, STATUS)
    y = part(work_out, layout, Y)
    x = part(work_out, layout, X_SOLVED)
    side = part(work_out, layout, SIDE)
    side_f = part(work_out, layout, SIDE_F)
    definite = part(constants, layout, IMPLICIT_CHOICE)[DEFINITE] > 0.0
    status[PROJECTED] = 0.0
    for attempt in range(1 if definite else 0, 2):
        # A = P + couplings, with exact implicit terms at first, then with definite ones
        implicit = 1 if stages[IMPLICIT_STAGE] != 0 else 0
        if implicit != 0:
            Implicit(stages[IMPLICIT_STAGE], layout, ints, constants, control, attempt, work_out, q_out, v_out)
        else:
            diagonal = part(work_out, layout, DIAGONAL)
            for j in range(diagonal.size):
                diagonal[j] = 0.0
        fill_matrix(layout, ints, constants, implicit, work_out)
        if stages[PAIR_STAGE] != 0:
            PairBlocks(stages[PAIR_STAGE], layout, ints, implicit, work_out)
        if correct == 0:
            fill_right(layout, ints, constants, implicit, work_out, side_f, side)
            if part(work_out, layout, TARGET).size > 0:
                aim_rows_ahead(layout, ints, constants, work_out)
        elif correct == 2:
            fill_wrenches_beside(layout, ints, work_out, side_f)
        # A y = b + Gᵀ μ, G y = target: at once, or by the Schur complement of the rows
        failed = FactorMatrix(stages[FACTOR_STAGE], layout, ints, constants, work_out)
        done = -1
        if failed == 0 and stages[FUSED_STAGE] != 0:
            done = SolveFused(stages[FUSED_STAGE], layout, ints, constants, side, side_f, work_out, x, y)
        elif failed == 0:
            done = solve_dual(layout, ints, constants, stages, work_out, x, y)
        status[FAILED] = failed
        if failed == 0 and done >= 0:
            status[ITERATIONS] = done
            if correct == 0 and part(constants, layout, IMPLICIT_CHOICE)[SETTLE] > 0.0:
                settle_loads(layout, ints, constants, x, y, work_out)
            return
        status[PROJECTED] = 1.0
        if stages[IMPLICIT_STAGE] == 0:
            break
        for j in range(y.size):
            y[j] = 0.0
    for j in range(y.size):
        y[j] = nan


@kernel
def correct_redmax(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, a: Floats, aim: Floats,
    carried: int, work_out: Floats, q_out: Floats, v_out: Floats,
) -> None:  # fmt: skip
    """The Newton correction of a fully implicit stage at (t, q, v) with joint accelerations a: Y from

        A y = f − inverse dynamics(q, v, a) + Gᵀ μ,     G y = (aim − C) / h²,     A as in Eq. 2 for the stage's h
                                                        G y = −Ċ / h              of rows on velocities alone

    so that v + h y is the next guess. The loads F and RIGHT stay those at (t, q, v), multipliers added to F. `carried`: the implicit terms
    carry unknowns of their own, and leave what is missing of their balance on bodies (`flesh_step`), which F gains as well."""
    look_around(layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    side = part(work_out, layout, SIDE)
    side_f = part(work_out, layout, SIDE_F)
    right = part(work_out, layout, RIGHT)
    armature = part(constants, layout, ARMATURE)
    y = part(work_out, layout, Y)
    h = part(constants, layout, IMPLICIT_CHOICE)[STEP_LENGTH]
    # the right side: what forces leave of inverse dynamics at a
    carry_accelerations(body, a, columns, rows)
    fill_wrenches(
        body, rows, part(work_out, layout, X_WB), part(work_out, layout, F), part(constants, layout, GRAVITY), side_f,
        part(work_out, layout, SCRATCH),
    )  # fmt: skip
    gather_wrenches(body, rows, columns, side_f, side)
    for j in range(y.size):
        side[j] = right[j] - side[j] - armature[j] * a[j]
        y[j] = 0.0
    for k in range(side_f.size):
        side_f[k] = 0.0
    # what rows ask of the correction
    if aim.size > 0:
        aim_rows_ahead(layout, ints, constants, work_out)
        target = part(work_out, layout, TARGET)
        residual = part(work_out, layout, RESIDUAL)
        rate = part(work_out, layout, RATE)
        on_velocities = part(ints, layout, NONHOLONOMIC)
        for r in range(target.size):
            if part(constants, layout, COMPLIANCE)[r] == 0.0:
                target[r] = -rate[r] / h if on_velocities[r] != 0 else (aim[r] - residual[r]) / (h * h)
                late = part(constants, layout, IMPLICIT_CHOICE)[ANTICIPATE] == 0.0
                if late and part(ints, layout, UNILATERAL)[r] != 0 and residual[r] > 0.0:
                    target[r] = ASLEEP
            else:
                target[r] = -row_acceleration(layout, ints, constants, r, a, work_out)
    solve_matrix(layout, ints, constants, stages, control, 2 if carried != 0 else 1, work_out, q_out, v_out)
    load_multipliers(layout, ints, work_out)
    if carried != 0:
        wrenches = part(work_out, layout, F)
        beside = part(work_out, layout, IMPLICIT_F)
        for k in range(body.size // BODY * 6):
            wrenches[k] += beside[k]


@kernel
def accelerate_along_rows(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, met: Ints, work_out: Floats, q_out: Floats,
    v_out: Floats,
) -> None:  # fmt: skip
    """What rows alone ask of the accelerations at (t, q, v), for a step of no length: Y from

    M n = Gᵀ μ,     G n = −(C̈ without accelerations)     of rows that are met,     G n = 0     of the others (of ranges: none)
    """
    look_around(layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    aim_rows_ahead(layout, ints, constants, work_out)
    target = part(work_out, layout, TARGET)
    y = part(work_out, layout, Y)
    side = part(work_out, layout, SIDE)
    side_f = part(work_out, layout, SIDE_F)
    unilateral = part(ints, layout, UNILATERAL)
    for r in range(target.size):
        if met[r] == 0:
            target[r] = ASLEEP if unilateral[r] != 0 else 0.0
    for j in range(y.size):
        side[j] = 0.0
        y[j] = 0.0
    for k in range(side_f.size):
        side_f[k] = 0.0
    solve_matrix(layout, ints, constants, stages, control, 1, work_out, q_out, v_out)


@kernel
def solve_dual(layout: Ints, ints: Ints, constants: Floats, stages: Ints, work_out: Floats, x_out: Floats, y_out: Floats) -> int:
    """Eq. 4 and 5: the solution without rows, the rows' responses, then the multipliers. The number of iterations in all, or −1.

    Unilateral rows take part from when the motion found so far violates them: most limits never do, and cost nothing."""
    side = part(work_out, layout, SIDE)
    side_f = part(work_out, layout, SIDE_F)
    load = part(work_out, layout, LOAD)
    target = part(work_out, layout, TARGET)
    wanted = part(work_out, layout, STEP_ROWS)
    multiplier = part(work_out, layout, MULTIPLIER)
    unilateral = part(ints, layout, UNILATERAL)
    # Eq. 4 without rows: x₀ = A⁻¹ b
    for k in range(load.size):
        load[k] = side_f[k]
    total = SolveMatrix(stages[SOLVE_STAGE], layout, ints, constants, side, work_out, load, x_out, y_out)
    if total < 0:
        return -1
    # bilateral rows are active from the start: response A⁻¹ gᵢ and what is missing, gᵢ − G x₀; unilateral rows wait
    count = target.size
    bilateral = 0
    part(work_out, layout, ACTIVE)[:] = 0.0
    part(work_out, layout, RANK)[0] = count
    for r in range(count):
        wanted[r] = target[r]
        multiplier[r] = 0.0
        if unilateral[r] != 0:
            target[r] = ASLEEP
            forget_response(layout, r, work_out)
        else:
            done = respond_to(layout, ints, constants, stages[SOLVE_STAGE], r, work_out)
            if done < 0:
                return -1
            total += done
            target[r] = wanted[r] - row_of(layout, ints, r, x_out, y_out, work_out)
            part(work_out, layout, ACTIVE)[r] = 1.0
            bilateral += 1
    # unilateral rows that the motion violates become active
    for turn in range(count + 1 if count > 0 else 0):
        woken = 0
        for r in range(count):
            if unilateral[r] != 0 and target[r] == ASLEEP and wanted[r] > ASLEEP:
                if row_of(layout, ints, r, x_out, y_out, work_out) < wanted[r]:
                    done = respond_to(layout, ints, constants, stages[SOLVE_STAGE], r, work_out)
                    if done < 0:
                        return -1
                    total += done
                    woken += 1
                    target[r] = 0.0
        if woken == 0 and (turn > 0 or bilateral == 0):
            break
        # Eq. 5 for all active rows: G A⁻¹ Gᵀ μ = g − G x₀, then x = x₀ + A⁻¹ Gᵀ μ
        add_responses(layout, -1.0, work_out, x_out, y_out)
        for r in range(count):
            if target[r] > ASLEEP:
                target[r] = wanted[r] - row_of(layout, ints, r, x_out, y_out, work_out)
        close_responses(layout, ints, constants, work_out)
        multiply_rows(layout, stages[MULTIPLIER_STAGE], work_out)
        add_responses(layout, 1.0, work_out, x_out, y_out)
        if not abs(multiplier[0]) < inf:  # what a callback that failed leaves behind
            return total
    return total
