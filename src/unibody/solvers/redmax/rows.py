"""Rows in a linearly implicit step: what each asks of the accelerations, its response A⁻¹ Gᵀ, and multipliers.

    G v⁺ = −(C(t + h) − C(t)) / h − C / τ         as the paper has it (C's own change with time, at the present q)
    Ċ + h C̈ = −C / τ                              if q and v are put onto the rows after the step: then G turns, and μ must turn v with it

The second where motion along the rows is resolved. Near a singular configuration G a = −Ġ v asks for accelerations of any size; a step
whose rows would do more than a small part of the kinetic energy in work (`linearly_implicit`) is made again with the first.

A unilateral row that is not reached within the step sleeps.
"""

from __future__ import annotations

from unibody.algebra.block.sym6 import dot6
from unibody.algebra.tree.aba import ROW, A, C
from unibody.arena import part
from unibody.coordinates.maximal.projection import PROJECT_BELOW
from unibody.coordinates.reduced.kinematics import place_entries
from unibody.coordinates.reduced.row_responses import close_responses, load_row
from unibody.coordinates.reduced.workspace import ANTICIPATE, CURVED, FEEDBACK, FLAT, IMPLICIT_CHOICE, ROWS, STATUS, STEP_LENGTH

from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, BIAS, CLOSURE, COMPLIANCE, DOF_INDEX, DOF_START, DRIFT, ENTRY_BODY, ENTRY_W, F, G, GRAM, GRAVITY, J, LOAD, MULTIPLIER, RANK,
    RATE, RESIDUAL, RESPONSE_X, RESPONSE_Y, ROW_ENTRY, ROW_START, STEP, TARGET, VIOLATION, X_WB, Y,
)  # fmt: skip
from unibody.coordinates.stages import SolveMatrix, SolveMultipliers
from unibody.kernel import Floats, Ints, kernel
from unibody.solvers.redmax.workspace import AHEAD, UNILATERAL
from unibody.spatial.devices import load6

ASLEEP = -1e100
"""The target of a unilateral row that takes no part."""

CLOSE = 1e-9
"""Distance (as a part of the size of what the row holds, or rad) at which a unilateral row counts as touched at an instant."""


@kernel
def aim_rows_ahead(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """What each row asks of a: (−Ċ − C's change with time − C/τ) / h; rows with compliance (armature) ask for none.

    With h = 0 it is the acceleration-level condition, C̈ = 0."""
    choice = part(constants, layout, IMPLICIT_CHOICE)
    h = choice[STEP_LENGTH]
    target = part(work_out, layout, TARGET)
    residual = part(work_out, layout, RESIDUAL)
    violation = part(work_out, layout, VIOLATION)
    rate = part(work_out, layout, RATE)
    drift = part(work_out, layout, DRIFT)
    ahead = part(work_out, layout, AHEAD)
    compliance = part(constants, layout, COMPLIANCE)
    blocks = part(work_out, layout, G)
    X = part(work_out, layout, X_WB)
    rows = part(work_out, layout, ROWS)
    world = part(work_out, layout, ENTRY_W)
    entry_body = part(ints, layout, ENTRY_BODY)
    no_y = part(work_out, layout, Y)[:0]
    unilateral = part(ints, layout, UNILATERAL)
    place_entries(entry_body, blocks, X, rows, world)
    curved = choice[CURVED] > 0.0 and part(work_out, layout, STATUS)[FLAT] == 0.0
    for r in range(target.size):
        if unilateral[r] == 0 and not abs(violation[r]) < PROJECT_BELOW:
            curved = False  # still assembling: not projected either
    for r in range(target.size):
        if unilateral[r] != 0 and violation[r] > (CLOSE if h == 0.0 else 0.0):
            # free, unless it would be reached within the step
            reach = drift[r] - rate[r] - ahead[r] / h if h > 0.0 and choice[ANTICIPATE] > 0.0 else ASLEEP
            target[r] = reach / h if reach > ASLEEP else ASLEEP
            if curved and reach > ASLEEP:
                target[r] -= row_acceleration(layout, ints, constants, r, no_y, work_out)
        elif h == 0.0:
            leaving = unilateral[r] != 0 and rate[r] > 0.0
            target[r] = ASLEEP if leaving else -row_acceleration(layout, ints, constants, r, no_y, work_out)
        elif compliance[r] > 0.0:
            target[r] = 0.0
        else:
            target[r] = (drift[r] - rate[r] - (ahead[r] - residual[r]) / h - choice[FEEDBACK] * residual[r]) / h
            if curved:
                target[r] = -(rate[r] + choice[FEEDBACK] * residual[r]) / h - row_acceleration(layout, ints, constants, r, no_y, work_out)


@kernel
def row_acceleration(layout: Ints, ints: Ints, constants: Floats, r: int, a: Floats, work_out: Floats) -> float:
    """C̈ of row r: for joint accelerations a that stand in the rows as well, or, if a is empty, for none (J̇ v alone)."""
    rows = part(work_out, layout, ROWS)
    world = part(work_out, layout, ENTRY_W)
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    entry_body = part(ints, layout, ENTRY_BODY)
    dof_start = part(ints, layout, DOF_START)
    dof_index = part(ints, layout, DOF_INDEX)
    gravity = part(constants, layout, GRAVITY)
    moved = part(work_out, layout, BIAS)[r]
    for k in range(row_start[r], row_start[r + 1]):
        e = row_entry[k]
        moved += dot6(load6(world, 6 * e), load6(rows, ROW * entry_body[e] + (A if a.size > 0 else C)))
        for m in range(3):
            moved += world[6 * e + 3 + m] * gravity[m]
    for k in range(dof_start[r], dof_start[r + 1] if a.size > 0 else dof_start[r]):
        moved += part(work_out, layout, J)[dof_index[2 * k]] * a[dof_index[2 * k + 1]]
    return moved


@kernel
def respond(layout: Ints, ints: Ints, constants: Floats, solve: int, work_out: Floats) -> int:
    """A⁻¹ Gᵀ of all rows by the given solution (its address), then their Gram matrix. The number of iterations, or −1."""
    total = 0
    for r in range(part(work_out, layout, TARGET).size):
        done = respond_to(layout, ints, constants, solve, r, work_out)
        if done < 0:
            return -1
        total += done
    close_responses(layout, ints, constants, work_out)
    return total


@kernel
def respond_to(layout: Ints, ints: Ints, constants: Floats, solve: int, r: int, work_out: Floats) -> int:
    """A⁻¹ Gᵀ of one row."""
    load = part(work_out, layout, LOAD)
    step = part(work_out, layout, STEP)
    nv = part(work_out, layout, Y).size
    nx = load.size
    y = part(work_out, layout, RESPONSE_Y)[nv * r : nv * (r + 1)]
    for k in range(nx):
        load[k] = 0.0
    for k in range(step.size):
        step[k] = 0.0
    for k in range(nv):
        y[k] = 0.0
    load_row(layout, ints, r, 1.0, work_out, load, step)
    x = part(work_out, layout, RESPONSE_X)[nx * r : nx * (r + 1)]
    return SolveMatrix(solve, layout, ints, constants, step, work_out, load, x, y)


@kernel
def multiply_rows(layout: Ints, multiply: int, work_out: Floats) -> None:
    """Multipliers for the targets at hand, by the given address."""
    SolveMultipliers(
        multiply, part(work_out, layout, TARGET), part(work_out, layout, VIOLATION), part(work_out, layout, GRAM),
        part(work_out, layout, ACTIVE), part(work_out, layout, CLOSURE), part(work_out, layout, MULTIPLIER), part(work_out, layout, RANK),
    )  # fmt: skip


@kernel
def row_of(layout: Ints, ints: Ints, r: int, x: Floats, y: Floats, work_out: Floats) -> float:
    """Row r of G times y, with x = J y."""
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    entry_body = part(ints, layout, ENTRY_BODY)
    dof_start = part(ints, layout, DOF_START)
    dof_index = part(ints, layout, DOF_INDEX)
    world = part(work_out, layout, ENTRY_W)
    numbers = part(work_out, layout, J)
    moved = 0.0
    for k in range(row_start[r], row_start[r + 1]):
        e = row_entry[k]
        moved += dot6(load6(world, 6 * e), load6(x, 6 * entry_body[e]))
    for k in range(dof_start[r], dof_start[r + 1]):
        moved += numbers[dof_index[2 * k]] * y[dof_index[2 * k + 1]]
    return moved


@kernel
def add_responses(layout: Ints, sign: float, work_out: Floats, x_out: Floats, y_out: Floats) -> None:
    """y += sign A⁻¹ Gᵀ μ for the multipliers at hand; x likewise."""
    multiplier = part(work_out, layout, MULTIPLIER)
    response_x = part(work_out, layout, RESPONSE_X)
    response_y = part(work_out, layout, RESPONSE_Y)
    nx, nv = x_out.size, y_out.size
    for r in range(multiplier.size):
        mu = sign * multiplier[r]
        if mu != 0.0:
            for k in range(nx):
                x_out[k] += mu * response_x[nx * r + k]
            for k in range(nv):
                y_out[k] += mu * response_y[nv * r + k]


@kernel
def load_multipliers(layout: Ints, ints: Ints, work_out: Floats) -> None:
    """Add the wrenches Gᵀ μ of the rows to F."""
    wrenches = part(work_out, layout, F)
    blocks = part(work_out, layout, G)
    multiplier = part(work_out, layout, MULTIPLIER)
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    entry_body = part(ints, layout, ENTRY_BODY)
    for r in range(multiplier.size):
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            for m in range(6):
                wrenches[6 * entry_body[e] + m] += multiplier[r] * blocks[6 * e + m]
