"""A step that ends on its rows: the impulses of joints, loops and elements chosen for where the step ends.

    q⁺ = q ⊕ h v′,     M (v′ − v) = h f + Jᵀ λ,     C(q⁺) = C(q)          J of the beginning (SHAKE; Ryckaert et al. 1977)

With the acceleration Ċ = 0 of an instant instead, λ does work h λ J̇ v / 2 in each step, of one sign, and a projection of q alone leaves it
in the velocities. Newton's method with the factors of the beginning: G y = −(C(q⁺) − C(q))/h², M y = Gᵀ μ, v̇ ← v̇ + y, again from q. What
C was at the beginning is left to the projection that follows: it is no motion. So is all where the factors do not serve.
"""

from __future__ import annotations

import numpy as np

from unibody.arena import part
from unibody.coordinates.kick import kick_reduced
from unibody.coordinates.loop_closure import solve_closure_again
from unibody.coordinates.maximal.projection import PROJECT_BELOW
from unibody.coordinates.reduced.careful_projection import see_state
from unibody.coordinates.reduced.workspace import COLUMNS, FLOATING, ROWS
from unibody.coordinates.signals import FillSignals
from unibody.coordinates.stages import AGAIN_STAGE, SIGNAL_STAGE, Stage
from unibody.coordinates.workspace import ACTIVE, CLOSURE, COMPLIANCE, GRAM, MULTIPLIER, RANK, RESIDUAL, SIGNALS, STEP, TARGET, VIOLATION, Y
from unibody.kernel import Floats, Ints, kernel

LIMIT, SHRINK, CLOSED, SLIGHT = 8, 0.5, 1e-12, 1e-9
"""The most corrections; the part of what is open that each has to leave at most; how little is nothing, since velocities are 1/h of it; and
how little may stay open where corrections do not serve any more."""


@kernel
def kick_onto_rows(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float, work_out: Floats, q_out: Floats,
    v_out: Floats,
) -> int:  # fmt: skip
    """`kick_reduced` by a time h to t, with accelerations (slot Y) that carry the active rows along; how many corrections that took, −1 if
    it is a step without any."""
    y = part(work_out, layout, Y)
    step = part(work_out, layout, STEP)
    target = part(work_out, layout, TARGET)
    active = part(work_out, layout, ACTIVE)
    violation = part(work_out, layout, VIOLATION)
    residual = part(work_out, layout, RESIDUAL)
    compliance = part(constants, layout, COMPLIANCE)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    floats = part(work_out, layout, FLOATING).size > 0
    # what a correction begins with; the sweep is asked for by what floats only
    q, v, free = q_out.copy(), v_out.copy(), y.copy()
    residual_0, violation_0 = residual.copy(), violation.copy()
    swept_rows = rows.copy() if floats else np.empty(0)
    swept_columns = columns.copy() if floats else np.empty(0)
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, part(work_out, layout, SIGNALS))
    before = np.inf
    for k in range(LIMIT):
        # how far the rows have gone by then
        kick_reduced(layout, ints, constants, h, work_out, q_out, v_out)
        see_state(layout, ints, constants, stages, control, work_out, q_out, v_out)
        largest = 0.0
        for r in range(active.size):
            if compliance[r] == 0.0:
                largest = max(largest, active[r] * abs(violation[r] - violation_0[r]))
        if largest <= CLOSED:
            return k
        serves = largest < PROJECT_BELOW and largest < SHRINK * before and k < LIMIT - 1
        if not serves and largest < SLIGHT:
            return k
        before = largest
        # again from the beginning, with a correction or, if these do not help, without any
        for j in range(q.size):
            q_out[j] = q[j]
        for j in range(v.size):
            v_out[j] = v[j]
        if floats:
            rows[:] = swept_rows
            columns[:] = swept_columns
        if not serves:
            break
        # K M⁻¹ Kᵀ μ = −(C(q⁺) − C(q)) / h², a ← a + M⁻¹ Kᵀ μ
        for r in range(target.size):
            target[r] = -active[r] * (residual[r] - residual_0[r]) / (h * h) if compliance[r] == 0.0 else 0.0
        solve_closure_again(
            part(work_out, layout, GRAM), target, part(work_out, layout, CLOSURE), part(work_out, layout, MULTIPLIER),
            part(work_out, layout, RANK),
        )  # fmt: skip
        Stage(stages[AGAIN_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
        for j in range(y.size):
            y[j] += step[j]
    y[:] = free
    kick_reduced(layout, ints, constants, h, work_out, q_out, v_out)
    return -1
