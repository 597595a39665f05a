"""Reduced coordinates: accelerations of the tree, loops by anticipation, and the way back onto constraints after a step.

`evaluate_reduced` goes from (q, v) to the accelerations; what a scene does not need (forces, loops, functions of time) is neither run nor
compiled: those stages are called by address, 0 meaning none. Loops are auxiliary constraints by anticipation (paper 001 §4): with the
tree's response M⁻¹ kᵢ to every row kᵢ at hand,

    A μ = −(K a + bias) − (2/τ) Ċ − C/τ²,     A = K M⁻¹ Kᵀ (k×k, perhaps singular),     a ← a + M⁻¹ Kᵀ μ

at O(nk + k³).
"""

from __future__ import annotations

from math import inf

from unibody.algebra.tree.aba import BODY, ROW, A, eliminate_tree, fill_shifts
from unibody.algebra.tree.factor import solve_tree
from unibody.arena import part
from unibody.coordinates.evaluate_rows import see_rows
from unibody.coordinates.external_forces import load_forces
from unibody.coordinates.loop_closure import close_rows, fill_reference, solve_closure, solve_closure_again
from unibody.coordinates.maximal.projection import PROJECT_BELOW, PROJECT_ENOUGH, PROJECT_LIMIT
from unibody.coordinates.reduced.careful_projection import project_carefully, see_state
from unibody.coordinates.reduced.kinematics import advance_own, fill_bodies, load_wrenches, place_entries, sweep_at
from unibody.coordinates.reduced.products import twice_kinetic_energy
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, FRAMES, MOVING, ROWS, SHIFT, STATUS, UNPROJECTED
from unibody.coordinates.relative_joints import add_joint_efforts
from unibody.coordinates.signals import FillSignals
from unibody.coordinates.stages import AGAIN_STAGE, CLOSE_STAGE, FORCE_STAGE, SEE_STAGE, SIGNAL_STAGE, Stage
from unibody.kernel import Floats, Ints, cut, device, kernel
from unibody.spatial.devices import load3

from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, ARMATURE, BIAS, CLOSURE, COMPLIANCE, COUNTS, DOF_INDEX, DOF_START, DUAL, EFFORT, ENTRY_BODY, ENTRY_W, FORCE_CLASSES,
    FORCE_INDEX, FORCE_PARAMETERS, GRAM, GRAVITY, JOINTS, LEDGER, LIMIT, LOAD, MASSES, MULTIPLIER, NODE_OF, RANK, RATE, RESIDUAL,
    RESPONSE_X, RESPONSE_Y, RIGHT, ROW_COUNT, ROW_ENTRY, ROW_START, SEEN, SIGNALS, STABILISER, STEP, TARGET, VIOLATION, V_WB, X_WB, F,
    G, J, Y,
)  # fmt: skip


@device
def see_and_load(layout, ints, constants, stages, control, t, work_out, q_out, v_out):
    """Poses, velocities and loads of the tree at (t, q, v); the coordinates and velocities of loop joints are fitted on the way."""
    right = part(work_out, layout, RIGHT)
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, part(work_out, layout, SIGNALS))
    sweep_at(layout, ints, constants, q_out, v_out, work_out)
    if stages[SEE_STAGE] != 0:
        Stage(stages[SEE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
    if stages[FORCE_STAGE] != 0:
        Stage(stages[FORCE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
    else:
        limit = part(constants, layout, LIMIT)
        for j in range(right.size):
            right[j] = min(max(control[j], -limit[j]), limit[j])


@kernel
def evaluate_reduced(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Accelerations (slot Y) of the tree joints at (t, q, v)."""
    see_and_load(layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    eliminate_tree(
        part(ints, layout, BODIES), part(constants, layout, ARMATURE), part(work_out, layout, RIGHT), part(work_out, layout, ROWS),
        part(work_out, layout, COLUMNS), part(work_out, layout, Y),
    )  # fmt: skip
    if stages[CLOSE_STAGE] != 0:
        Stage(stages[CLOSE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)


@kernel
def see_loops(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """Where the bodies are; loop joints fitted; the rows of loops and constraint elements."""
    fill_bodies(part(constants, layout, FRAMES), part(work_out, layout, ROWS), part(work_out, layout, X_WB), part(work_out, layout, V_WB))
    see_rows(layout, ints, constants, True, work_out, q_out, v_out)


@kernel
def load_bodies(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """All forces, as wrenches in the sweep's rows and efforts in RIGHT. Points of deformables may stand behind the bodies, and velocities
    of vertices behind those of joints."""
    if part(ints, layout, JOINTS).size == 0 and part(ints, layout, COUNTS)[ROW_COUNT] == 0:  # else they were seen with the rows
        X, V = part(work_out, layout, X_WB), part(work_out, layout, V_WB)
        fill_bodies(part(constants, layout, FRAMES), part(work_out, layout, ROWS), X, V)
    load_by(part(ints, layout, FORCE_CLASSES), layout, ints, constants, control, work_out, q_out, v_out)


@device
def load_by(classes, layout, ints, constants, control, work_out, q_out, v_out):
    """Forces of some classes, where bodies have been seen."""
    n = part(ints, layout, BODIES).size // BODY
    X = part(work_out, layout, X_WB)
    wrenches = part(work_out, layout, F)
    right = part(work_out, layout, RIGHT)
    joints = part(ints, layout, JOINTS)
    load_forces(
        classes, part(ints, layout, FORCE_INDEX), part(constants, layout, FORCE_PARAMETERS),
        part(constants, layout, LIMIT), part(work_out, layout, SIGNALS), X, part(work_out, layout, V_WB), q_out,
        cut(v_out, 0, right.size), control, n, wrenches, part(work_out, layout, EFFORT), part(work_out, layout, LEDGER), right,
    )  # fmt: skip
    if joints.size > 0:
        add_joint_efforts(joints, part(work_out, layout, DUAL), part(work_out, layout, SEEN), right, wrenches)
    load_wrenches(cut(X, 0, 12 * n), wrenches, part(work_out, layout, ROWS))


@kernel
def close_loops(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """The auxiliary constraints by anticipation; corrects Y, the accelerations in ROWS, and F."""
    # the tree, the rows K on bodies and on joint velocities, and where responses and multipliers go
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    X = part(work_out, layout, X_WB)
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    entry_body = part(ints, layout, ENTRY_BODY)
    dof_start = part(ints, layout, DOF_START)
    dof_index = part(ints, layout, DOF_INDEX)
    blocks = part(work_out, layout, G)
    joint_numbers = part(work_out, layout, J)
    world = part(work_out, layout, ENTRY_W)
    load = part(work_out, layout, LOAD)
    shift = part(work_out, layout, SHIFT)
    step = part(work_out, layout, STEP)
    response_x = part(work_out, layout, RESPONSE_X)
    response_y = part(work_out, layout, RESPONSE_Y)
    y = part(work_out, layout, Y)
    target = part(work_out, layout, TARGET)
    multiplier = part(work_out, layout, MULTIPLIER)
    wrenches = part(work_out, layout, F)
    gravity = load3(part(constants, layout, GRAVITY), 0)
    stabiliser = part(constants, layout, STABILISER)
    n = body.size // BODY
    count = row_start.size - 1
    nv = y.size
    first = part(ints, layout, COUNTS)[0]
    # every row as a load on the tree: its right side −(K a + bias) − k_v Ċ − k_q C, and the response M⁻¹ kᵢ
    place_entries(entry_body, blocks, X, rows, world)
    fill_shifts(body, rows, shift)
    for k in range(load.size):
        load[k] = 0.0
    for r in range(count):
        for k in range(step.size):
            step[k] = 0.0
        moved = part(work_out, layout, BIAS)[first + r]
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            b = entry_body[e]
            for m in range(6):
                load[6 * b + m] += world[6 * e + m]
                moved += world[6 * e + m] * rows[ROW * b + A + m]
            for m in range(3):
                moved += world[6 * e + 3 + m] * gravity[m]
        for k in range(dof_start[r], dof_start[r + 1]):
            step[dof_index[2 * k + 1]] += joint_numbers[dof_index[2 * k]]
            moved += joint_numbers[dof_index[2 * k]] * y[dof_index[2 * k + 1]]
        # rows with compliance have no feedback
        if part(constants, layout, COMPLIANCE)[r] > 0.0:
            target[r] = -moved
        else:
            rate, residual = part(work_out, layout, RATE)[first + r], part(work_out, layout, RESIDUAL)[first + r]
            target[r] = -moved - stabiliser[0] * rate - stabiliser[1] * residual
        solve_tree(body, shift, columns, step, load, response_x[6 * n * r : 6 * n * (r + 1)], response_y[nv * r : nv * (r + 1)])
    # A = K M⁻¹ Kᵀ, and A μ = target
    close_rows(
        6, row_start, row_entry, part(ints, layout, NODE_OF), dof_start, dof_index, world, joint_numbers,
        part(constants, layout, COMPLIANCE), response_x, response_y, nv, part(work_out, layout, GRAM),
    )  # fmt: skip
    fill_reference(row_start, row_entry, entry_body, world, part(constants, layout, MASSES), part(work_out, layout, CLOSURE))
    solve_closure(
        part(work_out, layout, GRAM), target, part(work_out, layout, VIOLATION), part(work_out, layout, CLOSURE),
        multiplier, part(work_out, layout, RANK),
    )  # fmt: skip
    # a ← a + M⁻¹ Kᵀ μ of joints and bodies, and Kᵀ μ among the wrenches
    for r in range(count):
        mu = multiplier[r]
        for j in range(nv):
            y[j] += mu * response_y[nv * r + j]
        for i in range(1, n):
            for m in range(6):
                rows[ROW * i + A + m] += mu * response_x[6 * n * r + 6 * i + m]
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            for m in range(6):
                wrenches[6 * entry_body[e] + m] += mu * blocks[6 * e + m]


SLOW, SLIGHT, SMALL = 0.5, 1e-9, 0.05
"""What the factors of a step's beginning must do to serve at its end: bring violations down to this part an iteration, or to this size, and
take no more than this part of the kinetic energy."""


@kernel
def project_reduced(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Post-stabilisation: q ← q ⊕ M⁻¹ Kᵀ μ with A μ = −C(q), then v ← v + M⁻¹ Kᵀ μ with A μ = −Ċ, by the factors of the last evaluation;
    where these do not serve, near singular configurations, with those of every iterate (`careful_projection`)."""
    target = part(work_out, layout, TARGET)
    multiplier = part(work_out, layout, MULTIPLIER)
    step = part(work_out, layout, STEP)
    residual = part(work_out, layout, RESIDUAL)
    rate = part(work_out, layout, RATE)
    active = part(work_out, layout, ACTIVE)
    gram = part(work_out, layout, GRAM)
    closure = part(work_out, layout, CLOSURE)
    rank = part(work_out, layout, RANK)
    assembled = closure[closure.size - 1] < PROJECT_BELOW
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, part(work_out, layout, SIGNALS))
    begun = part(work_out, layout, UNPROJECTED)
    for j in range(begun.size):
        begun[j] = q_out[j]
    # positions, by the factors of the step's beginning, as long as these bring violations down
    serves = True
    before = 0.0
    for k in range(PROJECT_LIMIT):
        largest = see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
        if not largest < PROJECT_BELOW:
            if not (assembled and largest < inf):
                return
            serves = False
        elif k > 0 and largest > max(SLIGHT, SLOW * before):
            serves = False
        if not serves or not largest > PROJECT_ENOUGH:
            break
        before = largest
        for r in range(target.size):
            target[r] = -active[r] * residual[r]
        solve_closure_again(gram, target, closure, multiplier, rank)
        Stage(stages[AGAIN_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
        advance_own(layout, ints, constants, q_out, step, 1.0, q_out)
    # velocities; a projection that takes much of the motion says that rows have turned since
    if serves:
        for r in range(target.size):
            target[r] = -active[r] * rate[r] if part(constants, layout, COMPLIANCE)[r] == 0.0 else 0.0
        solve_closure_again(gram, target, closure, multiplier, rank)
        taken = 0.0
        for r in range(target.size):
            taken += target[r] * multiplier[r]
        status = part(work_out, layout, STATUS)
        moving = status[MOVING] if status.size > 0 else twice_kinetic_energy(layout, ints, constants, v_out, work_out)
        serves = not taken > SMALL * moving
    if serves:
        Stage(stages[AGAIN_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
        for j in range(part(work_out, layout, Y).size):
            v_out[j] += step[j]
    else:  # from where it began, with the factors of every iterate
        for j in range(begun.size):
            q_out[j] = begun[j]
        project_carefully(layout, ints, constants, stages, control, work_out, q_out, v_out)


@kernel
def spread_responses(layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """M⁻¹ Kᵀ μ of the multipliers at hand, into STEP, from the rows' responses."""
    multiplier = part(work_out, layout, MULTIPLIER)
    response_y = part(work_out, layout, RESPONSE_Y)
    step = part(work_out, layout, STEP)
    nv = part(work_out, layout, Y).size
    for j in range(nv):
        total = 0.0
        for r in range(multiplier.size):
            total += multiplier[r] * response_y[nv * r + j]
        step[j] = total
