"""One linearly implicit step in reduced coordinates (paper 000, Eq. 2), written for the acceleration a with v⁺ = v + h a:

    (Jᵀ (M − h D − h² K) J − h D_r − h² K_r) a  =  f_r + Jᵀ (f − M J̇ v) + h (K_r v + Jᵀ K J v)

with D and K the derivatives of the forces (negative where they resist), so that all forces are those of (q, v) and the implicit terms
vanish with h. Forces give their blocks in body axes at the body's origin; here they are carried to world axes at the joint frame's origin,
where the tree lives: the 6×6 diagonal blocks join the bodies' inertias, the others stay couplings of pairs of bodies.

Rows are held at the velocity level by A a = b + Gᵀ μ, G a = g (Eq. 4 and 7; μ is the force that holds the row [N or N m]), with g from

    G v⁺ = −(C(t + h) − C(t)) / h − C / τ         as the paper has it (C's own change with time, at the present q)
    Ċ + h C̈ = −C / τ                              if q and v are put onto the rows after the step: then G turns, and μ must turn v with it

either from the responses A⁻¹ Gᵀ or inside the iteration. Afterwards, if asked for, F holds the wrenches that acted over the step, implicit
parts and multipliers included, so that M a + … = F balances on every body and reactions follow as for any other solver.
"""

from __future__ import annotations

from math import nan

from unibody.algebra.coupled_tree import add_product

from unibody.algebra.tree import (  # isort: skip
    BODY, COLUMN, RIGID, ROW, A, C, V, W, add_blocks, dot6, fill_shifts, load21, rigid_block, shifted_block, store21, times_block,
)  # fmt: skip
from unibody.arena import part
from unibody.coordinates.closure import close_rows, fill_reference
from unibody.coordinates.projection import PROJECT_BELOW
from unibody.coordinates.reduced import fill_joint_table, sweep_reduced, wrench_at_joint
from unibody.coordinates.reduced_products import carry_accelerations, fill_wrenches, gather_wrenches
from unibody.coordinates.relative import SEEN as SEEN_SIZE
from unibody.coordinates.relative import add_joint_efforts, wrench_back
from unibody.coordinates.signals import FillSignals

from unibody.coordinates.slots import (  # isort: skip
    ACTIVE, AHEAD, ARMATURE, BIAS, BLOCKS, BODIES, CLASSES, CLOSURE, COLUMNS, COMPLIANCE, CONSTANTS, COUPLING, DIAGONAL, DOF_INDEX,
    DOF_START, DRIFT, DUAL, ENTRY_BODY, ENTRY_W, F, G, GRAM, GRAVITY, HELD_PAIRS, IMPLICIT_CHOICE, IMPLICIT_EFFORT, IMPLICIT_F, INDEX, J,
    JOINTS, LEAST, LOAD, LOOP_COUPLINGS, MASSES, MULTIPLIER, NODE_OF, OWN, PAIRS, PARAMETERS, PARTS, RANK, RATE, RESIDUAL, RESPONSE_X,
    RESPONSE_Y, RIGHT, ROWS, ROW_ENTRY, ROW_START, SCRATCH, SEEN, SHIFT, SIDE, SIDE_F, SIGNALS, STATUS, STEP, STEP_ROWS, TABLE_C, TABLE_S,
    TABLE_X, TARGET, UNILATERAL, V_OWN, WORLD_COUPLING, X_SOLVED, X_WB, Y,
)  # fmt: skip
from unibody.coordinates.stages import (  # isort: skip
    FACTOR_STAGE, FORCE_STAGE, FUSED_STAGE, IMPLICIT_STAGE, MULTIPLIER_STAGE, SEE_STAGE, SIGNAL_STAGE, SOLVE_STAGE, FactorMatrix, Implicit,
    SolveFused, SolveMatrix, SolveMultipliers, Stage,
)  # fmt: skip
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, compose_rotations, cross, load3, load6, load9, rotate_back, rotate_symmetric, sub3

STEP_LENGTH, FEEDBACK, TOLERANCE, LIMIT, ANTICIPATE, SETTLE, DEFINITE, CURVED = range(8)
"""What IMPLICIT_CHOICE holds: h [s], 1/τ [1/s] of the rows, the relative error of the velocity, the most iterations, whether unilateral
rows are held before they are violated (1) or only afterwards (0), whether the loads that acted are wanted afterwards, whether implicit
terms are the definite ones from the start, and whether rows are aimed along their curves."""

ASLEEP = -1e100
"""The target of a unilateral row that takes no part."""

HUGE = 1e300

CLOSE = 1e-9
"""Distance [m, rad] at which a unilateral row counts as touched at an instant."""

ITERATIONS, PROJECTED, FAILED, COUNTDOWN, CONTRACTED = range(5)
"""What STATUS holds of the last step: iterations of the linear solution, whether indefinite terms were left out, the node that failed, the
steps for which an automatic choice stays with the direct solution, and whether that was used."""

SINGLE, SEVERAL = 0.05, 1e-3
"""Part of a body's own inertia along a column below which a pivot says that implicit terms make the matrix indefinite."""


@device
def transpose9(R):
    return (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])


@device
def turned9(R_a, M, R_b):
    """R_a M R_bᵀ."""
    return compose_rotations(compose_rotations(R_a, M), transpose9(R_b))


@device
def block_at_joint(own, k, R, d):
    """A symmetric block in body axes at the body's origin, in world axes at the joint frame's origin, d before the former."""
    a = rotate_symmetric(R, load6(own, k))
    m = turned9(R, load9(own, k + 6), R)
    c = rotate_symmetric(R, load6(own, k + 15))
    return shifted_block(
        (a[0], a[1], a[2], a[3], a[4], a[5], m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], c[0], c[1], c[2], c[3], c[4], c[5]), d
    )


@device
def quarter(n, k):
    """A 3×3 part of a 6×6 block."""
    return (n[k], n[k + 1], n[k + 2], n[k + 6], n[k + 7], n[k + 8], n[k + 12], n[k + 13], n[k + 14])


@device
def store_quarter(m, k, n_out):
    n_out[k], n_out[k + 1], n_out[k + 2] = m[0], m[1], m[2]
    n_out[k + 6], n_out[k + 7], n_out[k + 8] = m[3], m[4], m[5]
    n_out[k + 12], n_out[k + 13], n_out[k + 14] = m[6], m[7], m[8]


@device
def add9(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5], a[6] + b[6], a[7] + b[7], a[8] + b[8])


@device
def skew_times(d, m):
    """[d]× M."""
    return (
        d[1] * m[6] - d[2] * m[3], d[1] * m[7] - d[2] * m[4], d[1] * m[8] - d[2] * m[5],
        d[2] * m[0] - d[0] * m[6], d[2] * m[1] - d[0] * m[7], d[2] * m[2] - d[0] * m[8],
        d[0] * m[3] - d[1] * m[0], d[0] * m[4] - d[1] * m[1], d[0] * m[5] - d[1] * m[2],
    )  # fmt: skip


@device
def times_skew(m, d):
    """−M [d]×."""
    return (
        m[2] * d[1] - m[1] * d[2], m[0] * d[2] - m[2] * d[0], m[1] * d[0] - m[0] * d[1],
        m[5] * d[1] - m[4] * d[2], m[3] * d[2] - m[5] * d[0], m[4] * d[0] - m[3] * d[1],
        m[8] * d[1] - m[7] * d[2], m[6] * d[2] - m[8] * d[0], m[7] * d[0] - m[6] * d[1],
    )  # fmt: skip


@device
def coupling_at_joints(n, k, R_a, d_a, R_b, d_b, n_out):
    """A coupling in body axes at the bodies' origins, in world axes at the joint frames' origins."""
    aa = turned9(R_a, quarter(n, k), R_b)
    al = turned9(R_a, quarter(n, k + 3), R_b)
    la = turned9(R_a, quarter(n, k + 18), R_b)
    ll = turned9(R_a, quarter(n, k + 21), R_b)
    # columns: v at b's origin is v + ω × d; rows: the torque about a's joint gains d × f
    aa = add9(aa, times_skew(al, d_b))
    la = add9(la, times_skew(ll, d_b))
    aa = add9(aa, skew_times(d_a, la))
    al = add9(al, skew_times(d_a, ll))
    store_quarter(aa, k, n_out)
    store_quarter(al, k + 3, n_out)
    store_quarter(la, k + 18, n_out)
    store_quarter(ll, k + 21, n_out)


@kernel
def couple_loops(layout: Ints, ints: Ints, work_out: Floats) -> None:
    """The implicit terms of springs and motors in loop joints, which are no coordinates here, as couplings of their two bodies."""
    table = part(ints, layout, LOOP_COUPLINGS)
    joints = part(ints, layout, JOINTS)
    seen = part(work_out, layout, SEEN)
    dual = part(work_out, layout, DUAL)
    diagonal = part(work_out, layout, DIAGONAL)
    own = part(work_out, layout, OWN)
    coupling = part(work_out, layout, COUPLING)
    for e in range(table.size // 3):
        joint, v, place = table[3 * e], table[3 * e + 1], table[3 * e + 2]
        parent, child = joints[6 * joint], joints[6 * joint + 1]
        s = load6(dual, 6 * v)
        a = wrench_back(seen, SEEN_SIZE * joint + 12, s)
        b = wrench_back(seen, SEEN_SIZE * joint, s)
        d = diagonal[v]
        add_square(d, a, 21 * child, own)
        add_square(d, b, 21 * parent, own)
        if place >= 0:
            for i in range(6):
                for j in range(6):
                    coupling[36 * place + 6 * i + j] -= d * a[i] * b[j]
    add_joint_efforts(joints, dual, seen, part(work_out, layout, IMPLICIT_EFFORT), part(work_out, layout, IMPLICIT_F))


@device
def add_square(d, a, k, own_out):
    """Add d a aᵀ to a block of 21 numbers."""
    for i in range(3):
        for j in range(3):
            own_out[k + 6 + 3 * i + j] += d * a[i] * a[3 + j]
    at = 0
    for i in range(3):
        for j in range(i, 3):
            own_out[k + at] += d * a[i] * a[j]
            own_out[k + 15 + at] += d * a[3 + i] * a[3 + j]
            at += 1


@kernel
def fill_matrix(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """The tree's blocks and couplings in world axes, the diagonal (armature added), least pivots, and shifts."""
    body = part(ints, layout, BODIES)
    pairs = part(ints, layout, PAIRS)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    X = part(work_out, layout, X_WB)
    own = part(work_out, layout, OWN)
    blocks = part(work_out, layout, BLOCKS)
    diagonal = part(work_out, layout, DIAGONAL)
    least = part(work_out, layout, LEAST)
    armature = part(constants, layout, ARMATURE)
    coupling = part(work_out, layout, COUPLING)
    placed = part(work_out, layout, WORLD_COUPLING)
    fill_shifts(body, rows, part(work_out, layout, SHIFT))
    for i in range(1, body.size // BODY):
        rigid = rigid_block(rows, ROW * i + RIGID)
        first, count = body[BODY * i + 1], body[BODY * i + 2]
        for j in range(first, first + count):
            s = load6(columns, COLUMN * j)
            least[j] = (SINGLE if count == 1 else SEVERAL) * (dot6(s, times_block(rigid, s)) + armature[j])
            diagonal[j] += armature[j]
        if own.size > 0:
            d = sub3(load3(X, 12 * i + 9), load3(rows, ROW * i + 9))
            rigid = add_blocks(rigid, block_at_joint(own, 21 * i, load9(X, 12 * i), d))
        store21(rigid, 21 * i, blocks)
    place_couplings(pairs, 0, X, rows, coupling, placed)


@device
def place_couplings(pairs, first, X, rows, coupling, placed_out):
    """Couplings, from number `first` on, in world axes at the joint frames' origins."""
    for e in range(pairs.size // 2):
        a, b = pairs[2 * e], pairs[2 * e + 1]
        d_a = sub3(load3(X, 12 * a + 9), load3(rows, ROW * a + 9))
        d_b = sub3(load3(X, 12 * b + 9), load3(rows, ROW * b + 9))
        coupling_at_joints(coupling, 36 * (first + e), load9(X, 12 * a), d_a, load9(X, 12 * b), d_b, placed_out)


@kernel
def fill_right(layout: Ints, ints: Ints, constants: Floats, work_out: Floats, f_out: Floats, right_out: Floats) -> None:
    """The right side: wrenches at the joint frames and efforts, implicit terms included."""
    rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    extra = part(work_out, layout, IMPLICIT_F)
    effort = part(work_out, layout, IMPLICIT_EFFORT)
    given = part(work_out, layout, RIGHT)
    for i in range(1, part(ints, layout, BODIES).size // BODY):
        if extra.size > 0:
            t, f = wrench_at_joint(X, rows, i, load3(extra, 6 * i), load3(extra, 6 * i + 3))
        else:
            t, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for m in range(3):
            f_out[6 * i + m] = t[m] - rows[ROW * i + W + m]
            f_out[6 * i + 3 + m] = f[m] - rows[ROW * i + W + 3 + m]
    for j in range(right_out.size):
        right_out[j] = given[j] + (effort[j] if effort.size > 0 else 0.0)


@kernel
def aim_rows_ahead(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """What each row asks of a: (−Ċ − C's change with time − C/τ) / h; rows with compliance (armature) ask for none.

    With h = 0 it is the acceleration-level condition, C̈ = 0."""
    choice = part(constants, layout, IMPLICIT_CHOICE)
    h = choice[STEP_LENGTH]
    target = part(work_out, layout, TARGET)
    residual = part(work_out, layout, RESIDUAL)
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
    for e in range(entry_body.size):
        t, f = wrench_at_joint(X, rows, entry_body[e], load3(blocks, 6 * e), load3(blocks, 6 * e + 3))
        for m in range(3):
            world[6 * e + m] = t[m]
            world[6 * e + 3 + m] = f[m]
    curved = choice[CURVED] > 0.0
    for r in range(target.size):
        if unilateral[r] == 0 and not abs(residual[r]) < PROJECT_BELOW:
            curved = False  # still assembling: not projected either
    for r in range(target.size):
        if unilateral[r] != 0 and residual[r] > (CLOSE if h == 0.0 else 0.0):
            # free, unless it would be reached within the step
            reach = drift[r] - rate[r] - ahead[r] / h if h > 0.0 and choice[ANTICIPATE] > 0.0 else ASLEEP
            target[r] = reach / h if reach > ASLEEP else ASLEEP
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
def load_row(layout: Ints, ints: Ints, r: int, scale: float, work_out: Floats, f_out: Floats, right_out: Floats) -> None:
    """Add scale times row r of G, as wrenches on nodes and efforts on columns."""
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    entry_body = part(ints, layout, ENTRY_BODY)
    dof_start = part(ints, layout, DOF_START)
    dof_index = part(ints, layout, DOF_INDEX)
    world = part(work_out, layout, ENTRY_W)
    numbers = part(work_out, layout, J)
    for k in range(row_start[r], row_start[r + 1]):
        e = row_entry[k]
        for m in range(6):
            f_out[6 * entry_body[e] + m] += scale * world[6 * e + m]
    for k in range(dof_start[r], dof_start[r + 1]):
        right_out[dof_index[2 * k + 1]] += scale * numbers[dof_index[2 * k]]


@kernel
def close_responses(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """The Gram matrix of the rows from their responses, and what free bodies would give."""
    close_rows(
        6, part(ints, layout, ROW_START), part(ints, layout, ROW_ENTRY), part(ints, layout, NODE_OF), part(ints, layout, DOF_START),
        part(ints, layout, DOF_INDEX), part(work_out, layout, ENTRY_W), part(work_out, layout, J), part(constants, layout, COMPLIANCE),
        part(work_out, layout, RESPONSE_X), part(work_out, layout, RESPONSE_Y), part(work_out, layout, Y).size,
        part(work_out, layout, GRAM),
    )  # fmt: skip
    fill_reference(
        part(ints, layout, ROW_START), part(ints, layout, ROW_ENTRY), part(ints, layout, ENTRY_BODY), part(work_out, layout, ENTRY_W),
        part(constants, layout, MASSES), part(work_out, layout, CLOSURE),
    )  # fmt: skip


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
def forget_response(layout: Ints, r: int, work_out: Floats) -> None:
    """A row that takes no part answers nothing."""
    nx, nv = part(work_out, layout, LOAD).size, part(work_out, layout, Y).size
    part(work_out, layout, RESPONSE_X)[nx * r : nx * (r + 1)] = 0.0
    part(work_out, layout, RESPONSE_Y)[nv * r : nv * (r + 1)] = 0.0


@kernel
def multiply_rows(layout: Ints, multiply: int, work_out: Floats) -> None:
    """Multipliers for the targets at hand, by the given address."""
    SolveMultipliers(
        multiply, part(work_out, layout, TARGET), part(work_out, layout, RESIDUAL), part(work_out, layout, GRAM),
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


@device
def twist_of_body(X, rows, i, x):
    """Of x (6 a body: world axes, at the joint frame's origin) the part of body i in its axes at its origin."""
    R = load9(X, 12 * i)
    o = load3(x, 6 * i)
    l = add3(load3(x, 6 * i + 3), cross(o, sub3(load3(X, 12 * i + 9), load3(rows, ROW * i + 9))))
    o = rotate_back(R, o)
    l = rotate_back(R, l)
    return (o[0], o[1], o[2], l[0], l[1], l[2])


@kernel
def add_implicit_loads(layout: Ints, ints: Ints, x: Floats, work_out: Floats) -> None:
    """h K v + (h D + h² K) a as wrenches in body axes, into F."""
    rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    wrenches = part(work_out, layout, F)
    extra = part(work_out, layout, IMPLICIT_F)
    load = part(work_out, layout, LOAD)
    body = part(ints, layout, BODIES)
    blocks = part(work_out, layout, BLOCKS)
    table = part(ints, layout, LOOP_COUPLINGS)
    joints = part(ints, layout, JOINTS)
    right = part(work_out, layout, RIGHT)
    for e in range(table.size // 3):
        joint, v = table[3 * e], table[3 * e + 1]
        s = load6(part(work_out, layout, DUAL), 6 * v)
        on_child = wrench_back(part(work_out, layout, SEEN), SEEN_SIZE * joint + 12, s)
        on_parent = wrench_back(part(work_out, layout, SEEN), SEEN_SIZE * joint, s)
        moved = dot6(on_child, twist_of_body(X, rows, joints[6 * joint + 1], x))
        moved -= dot6(on_parent, twist_of_body(X, rows, joints[6 * joint], x))
        right[v] += part(work_out, layout, IMPLICIT_EFFORT)[v] - part(work_out, layout, DIAGONAL)[v] * moved
    for k in range(load.size):
        load[k] = 0.0
    pairs = part(ints, layout, PAIRS)
    held = part(ints, layout, HELD_PAIRS)
    placed = part(work_out, layout, WORLD_COUPLING)
    place_couplings(held, pairs.size // 2, X, rows, part(work_out, layout, COUPLING), placed)
    add_product(-1.0, pairs, blocks[:0], placed, x, load)
    add_product(-1.0, held, blocks[:0], placed[18 * pairs.size :], x, load)
    for i in range(1, body.size // BODY):
        at = load6(x, 6 * i)
        mine = times_block(load21(blocks, 21 * i), at)
        rigid = times_block(rigid_block(rows, ROW * i + RIGID), at)
        w = (
            load[6 * i] - mine[0] + rigid[0], load[6 * i + 1] - mine[1] + rigid[1], load[6 * i + 2] - mine[2] + rigid[2],
            load[6 * i + 3] - mine[3] + rigid[3], load[6 * i + 4] - mine[4] + rigid[4], load[6 * i + 5] - mine[5] + rigid[5],
        )  # fmt: skip
        R = load9(X, 12 * i)
        t = cross(sub3(load3(rows, ROW * i + 9), load3(X, 12 * i + 9)), (w[3], w[4], w[5]))
        for m in range(3):
            torque = R[m] * (w[0] + t[0]) + R[3 + m] * (w[1] + t[1]) + R[6 + m] * (w[2] + t[2])
            force = R[m] * w[3] + R[3 + m] * w[4] + R[6 + m] * w[5]
            wrenches[6 * i + m] += extra[6 * i + m] + torque
            wrenches[6 * i + 3 + m] += extra[6 * i + 3 + m] + force
    for k in range(load.size):
        load[k] = 0.0


@kernel
def twice_kinetic_energy(layout: Ints, ints: Ints, constants: Floats, v: Floats, work_out: Floats) -> float:
    """vᵀ M v [J]."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    armature = part(constants, layout, ARMATURE)
    total = 0.0
    for i in range(1, body.size // BODY):
        twist = load6(rows, ROW * i + V)
        total += dot6(twist, times_block(rigid_block(rows, ROW * i + RIGID), twist))
    for j in range(part(work_out, layout, Y).size):
        total += armature[j] * v[j] * v[j]
    return total


@kernel
def look_around(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Poses, twists, columns, rows and loads at (t, q, v)."""
    table_X = part(work_out, layout, TABLE_X)
    table_S = part(work_out, layout, TABLE_S)
    table_c = part(work_out, layout, TABLE_C)
    signals = part(work_out, layout, SIGNALS)
    residual = part(work_out, layout, RESIDUAL)
    ahead = part(work_out, layout, AHEAD)
    own_v = part(work_out, layout, V_OWN)
    h = part(constants, layout, IMPLICIT_CHOICE)[STEP_LENGTH]
    for j in range(own_v.size):
        own_v[j] = v_out[j]
    fill_joint_table(
        part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), part(ints, layout, PARTS), q_out,
        v_out, table_X, table_S, table_c,
    )  # fmt: skip
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, signals)
    sweep_reduced(
        part(ints, layout, BODIES), part(constants, layout, CONSTANTS), table_X, table_S, table_c, v_out, signals,
        part(work_out, layout, ROWS), part(work_out, layout, COLUMNS),
    )  # fmt: skip
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
    """Fill the matrix and solve it for Y: for a step, or (`correct`) for the right side and targets at hand, a Newton correction.

    If the matrix is not positive definite with exact implicit terms, it is made again with projected ones."""
    status = part(work_out, layout, STATUS)
    y = part(work_out, layout, Y)
    x = part(work_out, layout, X_SOLVED)
    side = part(work_out, layout, SIDE)
    side_f = part(work_out, layout, SIDE_F)
    definite = part(constants, layout, IMPLICIT_CHOICE)[DEFINITE] > 0.0
    status[PROJECTED] = 0.0
    for attempt in range(1 if definite else 0, 2):
        if stages[IMPLICIT_STAGE] != 0:
            Implicit(stages[IMPLICIT_STAGE], layout, ints, constants, control, attempt, work_out, q_out, v_out)
        else:
            part(work_out, layout, DIAGONAL)[:] = 0.0
        fill_matrix(layout, ints, constants, work_out)
        if correct == 0:
            fill_right(layout, ints, constants, work_out, side_f, side)
            if part(work_out, layout, TARGET).size > 0:
                aim_rows_ahead(layout, ints, constants, work_out)
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
    work_out: Floats, q_out: Floats, v_out: Floats,
) -> None:  # fmt: skip
    """The Newton correction of a fully implicit stage at (t, q, v) with joint accelerations a: Y from

        A y = f − inverse dynamics(q, v, a) + Gᵀ μ,     G y = (aim − C) / h²,     A as in Eq. 2 for the stage's h

    so that v + h y is the next guess. The loads F and RIGHT stay those at (t, q, v), multipliers added to F."""
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
    if aim.size > 0:
        aim_rows_ahead(layout, ints, constants, work_out)
        target = part(work_out, layout, TARGET)
        residual = part(work_out, layout, RESIDUAL)
        for r in range(target.size):
            if part(constants, layout, COMPLIANCE)[r] == 0.0:
                target[r] = (aim[r] - residual[r]) / (h * h)
                late = part(constants, layout, IMPLICIT_CHOICE)[ANTICIPATE] == 0.0
                if late and part(ints, layout, UNILATERAL)[r] != 0 and residual[r] > 0.0:
                    target[r] = ASLEEP
            else:
                target[r] = -row_acceleration(layout, ints, constants, r, a, work_out)
    solve_matrix(layout, ints, constants, stages, control, 1, work_out, q_out, v_out)
    load_multipliers(layout, ints, work_out)


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
    for k in range(load.size):
        load[k] = side_f[k]
    total = SolveMatrix(stages[SOLVE_STAGE], layout, ints, constants, side, work_out, load, x_out, y_out)
    if total < 0:
        return -1
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
        add_responses(layout, -1.0, work_out, x_out, y_out)
        for r in range(count):
            if target[r] > ASLEEP:
                target[r] = wanted[r] - row_of(layout, ints, r, x_out, y_out, work_out)
        close_responses(layout, ints, constants, work_out)
        multiply_rows(layout, stages[MULTIPLIER_STAGE], work_out)
        add_responses(layout, 1.0, work_out, x_out, y_out)
        if not abs(multiplier[0]) < HUGE:  # what a callback that failed leaves behind
            return total
    return total
