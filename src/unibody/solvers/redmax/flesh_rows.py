"""Rows on points of deformables (paper 000, Eq. 4 and 5): constraints and planes that vertices feel.

A row is a force μ g on free vertices and a wrench μ c on bodies. With attached vertices eliminated and x_b the motion of bodies,

    [H_ff  H_fb] [a_f]   [R_f + Gᵀ_f μ]          G_f a_f + G_b x_b = target
    [H_bf  S̃  ] [x_b] = [R_b + Gᵀ_b μ]

so to solve for a load (f on vertices, w on bodies) is: y = L⁻¹ f, w ← w − H_bf H_ff⁻¹ f, the bodies' own solution with w, then a_f from y
and x_b. Points on which elements act stand behind the bodies, in loads as in motions, so that every row sees them as it sees bodies:
responses A⁻¹ Gᵀ, Gram matrix, quadratic program and projections are those of any rows. The first solution with a new matrix is that of the
step itself, with what already stands in REDUCED.
"""

from __future__ import annotations

from unibody.algebra.supernodal.border import recover_border
from unibody.algebra.tree.aba import BODY, ROW, C, P
from unibody.arena import part
from unibody.coordinates.evaluate_rows import see_rows
from unibody.coordinates.loop_closure import solve_closure_again
from unibody.coordinates.maximal.projection import PROJECT_BELOW, PROJECT_ENOUGH, PROJECT_LIMIT
from unibody.coordinates.reduced.careful_projection import see_state
from unibody.coordinates.reduced.dynamics import SLOW
from unibody.coordinates.reduced.kinematics import advance_own, fill_bodies, wrench_at_joint
from unibody.coordinates.reduced.workspace import BODIES, FRAMES, ROWS
from unibody.coordinates.signals import FillSignals
from unibody.coordinates.stages import SIGNAL_STAGE, SolveMatrix
from unibody.kernel import Floats, Ints, cut, device, kernel
from unibody.solvers.redmax.matrix import twist_of_body
from unibody.spatial.devices import add3, cross, load3, load9, rotate, store3

from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, CLOSURE, COMPLIANCE, ENTRY_BODY, ENTRY_W, GRAM, GRAVITY, MULTIPLIER, RANK, RATE, RESIDUAL, RESPONSE_X, RESPONSE_Y, ROW_ENTRY,
    ROW_START, SIGNALS, STEP, TARGET, V_WB, X_WB, F, Y,
)  # fmt: skip
from unibody.solvers.redmax.flesh_matrix import reduce_forces
from unibody.solvers.redmax.flesh_vertices import classical_acceleration, place_vertices

from unibody.solvers.redmax.flesh_workspace import (  # isort: skip
    BORDER_BODY, COLUMN_FIRST, FACTOR, FACTOR_AT, FIRST_Q, FIRST_V, FLESH_ADDRESSES, FLESH_CHOICE, FREE_VERTEX, HELD, HELD_P, LOWER,
    LOWER_FIRST, ORDER, POINT_OF, POINT_START, POINT_WEIGHT, REDUCED, ROW_FORCE, ROW_MOTION, ROW_REDUCED, ROW_STATE, ROW_UNKNOWNS,
    ROW_WRENCH, SEEN_START, SEEN_VERTEX, SEEN_WEIGHT, SOLVE_SCRATCH, SUPPORTED, SUPPORT_WEIGHT, VERTEX_X,
)  # fmt: skip


@kernel
def see_rows_with_points(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Bodies, vertices and points where they are; then all rows."""
    fill_bodies(part(constants, layout, FRAMES), part(work_out, layout, ROWS), part(work_out, layout, X_WB), part(work_out, layout, V_WB))
    place_vertices(layout, ints, constants, q_out, v_out, work_out)
    bend_points(layout, ints, constants, work_out)
    see_rows(layout, ints, constants, True, work_out, q_out, v_out)


@kernel
def bend_points(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """Behind the bodies in ROWS: the places of points, and their accelerations at joint accelerations 0, less that of gravity."""
    rows = part(work_out, layout, ROWS)
    x = part(work_out, layout, VERTEX_X)
    X = part(work_out, layout, X_WB)
    bend = part(work_out, layout, ROW_MOTION)
    g = load3(part(constants, layout, GRAVITY), 0)
    for k in range(bend.size):
        bend[k] = 0.0
    held = part(ints, layout, HELD)
    for k in range(held.size // 2):
        i = 3 * held[2 * k]
        store3(classical_acceleration(rows, g, held[2 * k + 1], load3(x, i), C), i, bend)
    # vertices on others
    supported = part(ints, layout, SUPPORTED)
    weights = part(constants, layout, SUPPORT_WEIGHT)
    for k in range(supported.size // 5):
        for j in range(4):
            s = supported[5 * k + 1 + j]
            for m in range(3 if s >= 0 else 0):
                bend[3 * supported[5 * k] + m] += weights[4 * k + j] * bend[3 * s + m]
    # points
    start = part(ints, layout, SEEN_START)
    seen = part(ints, layout, SEEN_VERTEX)
    shares = part(constants, layout, SEEN_WEIGHT)
    n = part(ints, layout, BODIES).size // BODY
    for k in range(start.size - 1):
        at = ROW * (n + k)
        for m in range(3):
            total = 0.0
            for j in range(start[k], start[k + 1]):
                total += shares[j] * bend[3 * seen[j] + m]
            rows[at + P + m] = X[12 * (n + k) + 9 + m]
            rows[at + C + m] = 0.0
            rows[at + C + 3 + m] = total - g[m]


@device
def reduce_point_loads(layout, ints, constants, f, work_out, y_out):
    """Forces on points (6 each, the last three count) as y = L⁻¹ f and wrenches on bodies, ROW_WRENCH (body axes, at origins)."""
    force = part(work_out, layout, ROW_FORCE)
    wrench = part(work_out, layout, ROW_WRENCH)
    start = part(ints, layout, SEEN_START)
    seen = part(ints, layout, SEEN_VERTEX)
    shares = part(constants, layout, SEEN_WEIGHT)
    for k in range(force.size):
        force[k] = 0.0
    for k in range(wrench.size):
        wrench[k] = 0.0
    for k in range(start.size - 1):
        for j in range(start[k], start[k + 1]):
            for m in range(3):
                force[3 * seen[j] + m] += shares[j] * f[6 * k + 3 + m]
    reduce_forces(layout, ints, constants, force, work_out, part(work_out, layout, ROW_UNKNOWNS), y_out, wrench)


@device
def recover_points(layout, ints, constants, x, work_out, y_out, points_out):
    """ROW_UNKNOWNS from y, which is used up, and the motion x of bodies; the motions of points (6 each)."""
    X = part(work_out, layout, X_WB)
    rows = part(work_out, layout, ROWS)
    border = part(ints, layout, BORDER_BODY)
    free = part(ints, layout, FREE_VERTEX).size
    unknowns = part(work_out, layout, ROW_UNKNOWNS)
    for k in range(border.size):
        twist = twist_of_body(X, rows, border[k], x)
        for m in range(6):
            y_out[3 * free + 6 * k + m] = twist[m]
    recover_border(
        part(ints, layout, COLUMN_FIRST), part(ints, layout, LOWER_FIRST), part(ints, layout, LOWER), part(ints, layout, FACTOR_AT),
        part(ints, layout, ORDER), part(work_out, layout, FACTOR), part(work_out, layout, SOLVE_SCRATCH), y_out, unknowns,
    )  # fmt: skip
    # points, by what the vertices that they are seen by stand for
    held = part(ints, layout, HELD)
    place = part(constants, layout, HELD_P)
    begin = part(ints, layout, POINT_START)
    of = part(ints, layout, POINT_OF)
    weight = part(constants, layout, POINT_WEIGHT)
    start = part(ints, layout, SEEN_START)
    seen = part(ints, layout, SEEN_VERTEX)
    shares = part(constants, layout, SEEN_WEIGHT)
    for k in range(start.size - 1):
        total = (0.0, 0.0, 0.0)
        for j in range(start[k], start[k + 1]):
            for e in range(begin[seen[j]], begin[seen[j] + 1]):
                w = shares[j] * weight[e]
                if of[e] < free:
                    a = load3(unknowns, 3 * of[e])
                else:
                    on = of[e] - free
                    body = held[2 * on + 1]
                    t = twist_of_body(X, rows, body, x)
                    a = rotate(load9(X, 12 * body), add3((t[3], t[4], t[5]), cross((t[0], t[1], t[2]), load3(place, 3 * on))))
                total = (total[0] + w * a[0], total[1] + w * a[1], total[2] + w * a[2])
        store3((0.0, 0.0, 0.0), 6 * k, points_out)
        store3(total, 6 * k + 3, points_out)


@kernel
def solve_with_points(
    layout: Ints, ints: Ints, constants: Floats, right: Floats, work_out: Floats, f_out: Floats, x_out: Floats, y_out: Floats
) -> int:
    """A solution whose loads and motions have points behind bodies, by that of bodies alone."""
    n = part(ints, layout, BODIES).size // BODY
    y = part(work_out, layout, ROW_REDUCED)
    state = part(work_out, layout, ROW_STATE)
    if state[0] > 0.0:  # the step's own: its loads are reduced already
        state[0] = 0.0
        reduced = part(work_out, layout, REDUCED)
        for k in range(y.size):
            y[k] = reduced[k]
    else:
        reduce_point_loads(layout, ints, constants, cut(f_out, 6 * n, f_out.size - 6 * n), work_out, y)
        X, rows = part(work_out, layout, X_WB), part(work_out, layout, ROWS)
        wrench = part(work_out, layout, ROW_WRENCH)
        for i in range(1, n):
            t, f = wrench_at_joint(X, rows, i, load3(wrench, 6 * i), load3(wrench, 6 * i + 3))
            for m in range(3):
                f_out[6 * i + m] += t[m]
                f_out[6 * i + 3 + m] += f[m]
    inner = part(ints, layout, FLESH_ADDRESSES)[1]
    done = SolveMatrix(inner, layout, ints, constants, right, work_out, cut(f_out, 0, 6 * n), cut(x_out, 0, 6 * n), y_out)
    for k in range(6 * n, f_out.size):
        f_out[k] = 0.0
    recover_points(layout, ints, constants, x_out, work_out, y, cut(x_out, 6 * n, x_out.size - 6 * n))
    return done


@device
def load_points_by_multipliers(layout, ints, work, f_out):
    """Gᵀ μ on points (6 each), for the multipliers at hand."""
    first = part(ints, layout, BODIES).size // BODY
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    entry_body = part(ints, layout, ENTRY_BODY)
    world = part(work, layout, ENTRY_W)
    multiplier = part(work, layout, MULTIPLIER)
    for k in range(f_out.size):
        f_out[k] = 0.0
    for r in range(multiplier.size):
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            if entry_body[e] >= first:
                for m in range(6):
                    f_out[6 * (entry_body[e] - first) + m] += multiplier[r] * world[6 * e + m]


@kernel
def add_rows_to_reduced(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """What multipliers do to free vertices, into REDUCED."""
    loads = part(work_out, layout, ROW_MOTION)
    points = part(ints, layout, SEEN_START).size - 1
    load_points_by_multipliers(layout, ints, work_out, cut(loads, 0, 6 * points))
    y = part(work_out, layout, ROW_REDUCED)
    reduce_point_loads(layout, ints, constants, cut(loads, 0, 6 * points), work_out, y)
    reduced = part(work_out, layout, REDUCED)
    for k in range(3 * part(ints, layout, FREE_VERTEX).size):
        reduced[k] += y[k]


@kernel
def load_rows_on_bodies(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """What multipliers do to bodies by way of vertices, into F."""
    loads = part(work_out, layout, ROW_MOTION)
    points = part(ints, layout, SEEN_START).size - 1
    load_points_by_multipliers(layout, ints, work_out, cut(loads, 0, 6 * points))
    reduce_point_loads(layout, ints, constants, cut(loads, 0, 6 * points), work_out, part(work_out, layout, ROW_REDUCED))
    wrench = part(work_out, layout, ROW_WRENCH)
    f = part(work_out, layout, F)
    for k in range(wrench.size):
        f[k] += wrench[k]


@device
def spread_to_vertices(layout, ints, constants, work_out):
    """A⁻¹ Gᵀ μ of the multipliers at hand: of joints into STEP, of free vertices into ROW_UNKNOWNS."""
    multiplier = part(work_out, layout, MULTIPLIER)
    response_x = part(work_out, layout, RESPONSE_X)
    response_y = part(work_out, layout, RESPONSE_Y)
    step = part(work_out, layout, STEP)
    n = part(ints, layout, BODIES).size // BODY
    points = part(ints, layout, SEEN_START).size - 1
    nv = part(work_out, layout, Y).size
    nx = 6 * (n + points)
    for j in range(step.size):
        step[j] = 0.0
    for j in range(nv):
        for r in range(multiplier.size):
            step[j] += multiplier[r] * response_y[nv * r + j]
    # scratch: loads of points, then motions of bodies behind them, then those of points
    scratch = part(work_out, layout, ROW_MOTION)
    loads, x, moved = cut(scratch, 0, 6 * points), cut(scratch, 6 * points, 6 * n), cut(scratch, 6 * (points + n), 6 * points)
    load_points_by_multipliers(layout, ints, work_out, loads)
    y = part(work_out, layout, ROW_REDUCED)
    reduce_point_loads(layout, ints, constants, loads, work_out, y)
    for k in range(x.size):
        x[k] = 0.0
        for r in range(multiplier.size):
            x[k] += multiplier[r] * response_x[nx * r + k]
    recover_points(layout, ints, constants, x, work_out, y, moved)


@kernel
def project_with_points(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Joints and free vertices onto the rows, as far as the factors of the step's beginning bring them; then their velocities. What is left
    is for the feedback of the next step."""
    target = part(work_out, layout, TARGET)
    residual = part(work_out, layout, RESIDUAL)
    rate = part(work_out, layout, RATE)
    active = part(work_out, layout, ACTIVE)
    compliance = part(constants, layout, COMPLIANCE)
    gram = part(work_out, layout, GRAM)
    closure = part(work_out, layout, CLOSURE)
    multiplier = part(work_out, layout, MULTIPLIER)
    rank = part(work_out, layout, RANK)
    step = part(work_out, layout, STEP)
    moved = part(work_out, layout, ROW_UNKNOWNS)
    choice = part(constants, layout, FLESH_CHOICE)
    first_q, first_v = int(choice[FIRST_Q]), int(choice[FIRST_V])
    free = 3 * part(ints, layout, FREE_VERTEX).size
    # the functions of time at the end of the step
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, part(work_out, layout, SIGNALS))
    # positions, as long as corrections bring violations down: G A⁻¹ Gᵀ μ = −C
    before = 0.0
    for k in range(PROJECT_LIMIT):
        largest = see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
        if not largest < PROJECT_BELOW:
            return
        if not largest > PROJECT_ENOUGH or (k > 0 and largest > SLOW * before):
            break
        before = largest
        for r in range(target.size):
            target[r] = -active[r] * residual[r]
        solve_closure_again(gram, target, closure, multiplier, rank)
        spread_to_vertices(layout, ints, constants, work_out)
        advance_own(layout, ints, constants, q_out, step, 1.0, q_out)
        for j in range(free):
            q_out[first_q + j] += moved[j]
    # velocities: G A⁻¹ Gᵀ μ = −Ċ
    for r in range(target.size):
        target[r] = -active[r] * rate[r] if compliance[r] == 0.0 else 0.0
    solve_closure_again(gram, target, closure, multiplier, rank)
    spread_to_vertices(layout, ints, constants, work_out)
    for j in range(part(work_out, layout, Y).size):
        v_out[j] += step[j]
    for j in range(free):
        v_out[first_v + j] += moved[j]
