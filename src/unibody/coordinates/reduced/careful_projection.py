"""Projection onto rows near singular configurations: with the rows of where it is, step by step, and never further than it helps.

    q ← q ⊕ α y,    M y = Kᵀ μ,  K y = −C(q)        α = 1, ½, ¼, … until the largest violation falls
    v ← v + y,      M y = Kᵀ μ,  K y = −Ċ           at the last q

Factors of the step's beginning serve as long as rows turn little within a step (`project_reduced`). Near a dead centre or a taut chain a
row's response K M⁻¹ Kᵀ goes to zero and changes by multiples of itself: the quotient of a violation by the response of another place may
be of any size. There M and K are taken anew at every iterate. K y = −C makes every norm of C fall for small α, so that a step that is
not taken says that no motion helps; and v goes along M⁻¹ Kᵀ of its own place, onto the nearest velocity in the norm of kinetic energy,
which never grows by that. Where rows leave no way to go though K v = 0 (a chain that is taut at once), q comes back and v would stay, and
forces would go on adding to it: if the way back δ takes most of the motion out, v ← v + δ/h, it is taken out.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.tree.aba import BODY, RIGID, ROW, fill_shifts
from unibody.algebra.tree.factor import factor_tree, rigid_block, solve_tree, store21
from unibody.arena import part
from unibody.coordinates.loop_closure import solve_closure, solve_closure_again
from unibody.coordinates.maximal.projection import PROJECT_BELOW, PROJECT_ENOUGH
from unibody.coordinates.reduced.kinematics import advance_own, place_entries, sweep_at
from unibody.coordinates.reduced.products import twice_kinetic_energy
from unibody.coordinates.reduced.row_responses import close_responses, forget_response, load_row
from unibody.coordinates.reduced.workspace import BLOCKS, BODIES, COLUMNS, DIAGONAL, IMPLICIT_CHOICE, LEAST, ROWS, SHIFT, STEP_LENGTH, SUMS
from unibody.coordinates.signals import FillSignals
from unibody.coordinates.stages import SEE_STAGE, SIGNAL_STAGE, Stage
from unibody.kernel import Floats, Ints, kernel

from unibody.coordinates.workspace import (  # isort: skip
    ACTIVE, ARMATURE, CLOSURE, COMPLIANCE, ENTRY_BODY, ENTRY_W, GRAM, LOAD, MULTIPLIER, RANK, RATE, RESIDUAL, RESPONSE_X, RESPONSE_Y,
    SIGNALS, STEP, TARGET, VIOLATION, X_WB, G, Y,
)  # fmt: skip

MOST, HALVINGS = 30, 12
"""Steps of a projection, and halvings of each. Where two branches meet, violations fall by a factor of four a step only."""

MOSTLY = 0.5
"""Part of the kinetic energy that is left, at most, where the way back takes the motion out."""

FALL = 0.1
"""Part of what its linear model promises by which the largest violation must fall for a step to be taken."""


@kernel
def see_state(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> float:
    """Poses, columns and rows at (q, v); the largest violation of the rows that are active."""
    active = part(work_out, layout, ACTIVE)
    violation = part(work_out, layout, VIOLATION)
    sweep_at(layout, ints, constants, q_out, v_out, work_out)
    Stage(stages[SEE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
    largest = 0.0
    for r in range(active.size):
        largest = max(largest, active[r] * abs(violation[r]))
    return largest


@kernel
def close_by_masses(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> int:
    """M of the state that was seen last, factored; M⁻¹ Kᵀ of the active rows, and their Gram matrix. 0, or the body whose pivot failed."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    shift = part(work_out, layout, SHIFT)
    blocks = part(work_out, layout, BLOCKS)
    diagonal = part(work_out, layout, DIAGONAL)
    least = part(work_out, layout, LEAST)
    armature = part(constants, layout, ARMATURE)
    active = part(work_out, layout, ACTIVE)
    gram = part(work_out, layout, GRAM)
    closure = part(work_out, layout, CLOSURE)
    load = part(work_out, layout, LOAD)
    step = part(work_out, layout, STEP)
    nv, nx, k = part(work_out, layout, Y).size, load.size, active.size
    place_entries(
        part(ints, layout, ENTRY_BODY), part(work_out, layout, G), part(work_out, layout, X_WB), rows, part(work_out, layout, ENTRY_W)
    )  # fmt: skip
    # M = Σ Jᵀ I J + armature, factored along the tree
    fill_shifts(body, rows, shift)
    for i in range(1, body.size // BODY):
        store21(rigid_block(rows, ROW * i + RIGID), 21 * i, blocks)
    for j in range(nv):
        diagonal[j] = armature[j]
        least[j] = 0.0
    failed = factor_tree(body, shift, diagonal, least, blocks, part(work_out, layout, SUMS), columns)
    if failed != 0:
        return failed
    # M⁻¹ kᵢ of the active rows, two sweeps each, and A = K M⁻¹ Kᵀ
    for r in range(k):
        if active[r] == 0.0:
            forget_response(layout, r, work_out)
            continue
        load[:] = 0.0
        step[:] = 0.0
        load_row(layout, ints, r, 1.0, work_out, load, step)
        x = part(work_out, layout, RESPONSE_X)[nx * r : nx * (r + 1)]
        solve_tree(body, shift, columns, step, load, x, part(work_out, layout, RESPONSE_Y)[nv * r : nv * (r + 1)])
    close_responses(layout, ints, constants, work_out)
    # rows that take no part stand apart: μ = 0 for a target of 0
    for r in range(k):
        if active[r] == 0.0:
            for s in range(k):
                gram[k * r + s] = 0.0
                gram[k * s + r] = 0.0
            gram[k * r + r] = 1.0
            closure[2 + k + r] = 1.0
    return 0


@kernel
def least_response(layout: Ints, values: Floats, constants: Floats, again: int, work_out: Floats, y_out: Floats) -> None:
    """y with M y = Kᵀ μ, K y = −values, from what `close_by_masses` left; rows that give way (armature) ask for nothing. `again` (1): with
    the factor at hand."""
    target = part(work_out, layout, TARGET)
    active = part(work_out, layout, ACTIVE)
    compliance = part(constants, layout, COMPLIANCE)
    multiplier = part(work_out, layout, MULTIPLIER)
    response_y = part(work_out, layout, RESPONSE_Y)
    for r in range(target.size):
        target[r] = -active[r] * values[r] if compliance[r] == 0.0 else 0.0
    gram = part(work_out, layout, GRAM)
    closure = part(work_out, layout, CLOSURE)
    rank = part(work_out, layout, RANK)
    if again == 1:
        solve_closure_again(gram, target, closure, multiplier, rank)
    else:
        solve_closure(gram, target, part(work_out, layout, VIOLATION), closure, multiplier, rank)
    nv = y_out.size
    for j in range(nv):
        y_out[j] = 0.0
        for r in range(target.size):
            y_out[j] += multiplier[r] * response_y[nv * r + j]


@kernel
def project_carefully(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """q, then v onto the active rows, from a state whose signals are at hand."""
    nv = part(work_out, layout, Y).size
    # rarely needed, and not small: kept nowhere between steps
    way = np.zeros(v_out.size)
    before = np.empty(q_out.size)
    back = np.zeros(nv)
    # positions: steps of Newton's method, halved until the largest violation falls
    largest = see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
    for _ in range(MOST):
        if not largest > PROJECT_ENOUGH or close_by_masses(layout, ints, constants, work_out) != 0:
            break
        least_response(layout, part(work_out, layout, RESIDUAL), constants, 0, work_out, way[:nv])
        for j in range(q_out.size):
            before[j] = q_out[j]
        part_of_it = 1.0
        better = False
        for _ in range(HALVINGS):
            for j in range(q_out.size):
                q_out[j] = before[j]
            advance_own(layout, ints, constants, q_out, way, part_of_it, q_out)
            tried = see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
            better = tried < (1.0 - FALL * part_of_it) * largest
            if better:
                largest = tried
                for j in range(nv):
                    back[j] += part_of_it * way[j]
                break
            part_of_it *= 0.5
        if not better:
            for j in range(q_out.size):
                q_out[j] = before[j]
            see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
            break
    # velocities: without what the way back takes out, if that is most of the motion
    choice = part(constants, layout, IMPLICIT_CHOICE)
    h = choice[STEP_LENGTH] if choice.size > 0 else 0.0
    if h > 0.0:
        energy = twice_kinetic_energy(layout, ints, constants, v_out, work_out)
        for j in range(nv):
            v_out[j] += back[j] / h
        see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
        if not twice_kinetic_energy(layout, ints, constants, v_out, work_out) < MOSTLY * energy:
            for j in range(nv):
                v_out[j] -= back[j] / h
            see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
    # and onto the rows at the last q
    if close_by_masses(layout, ints, constants, work_out) == 0:
        least_response(layout, part(work_out, layout, RATE), constants, 0, work_out, way[:nv])
        for j in range(nv):
            v_out[j] += way[j]


@kernel
def project_assembled(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> bool:
    """`project_carefully` at t, unless the rows were apart at the start already and still are; whether it was done."""
    closure = part(work_out, layout, CLOSURE)
    assembled = closure[closure.size - 1] < PROJECT_BELOW
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, part(work_out, layout, SIGNALS))
    largest = see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
    if not (largest < PROJECT_BELOW or (assembled and largest < np.inf)):
        return False
    project_carefully(layout, ints, constants, stages, control, work_out, q_out, v_out)
    return True
