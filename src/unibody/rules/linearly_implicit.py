"""Linearly implicit Euler (paper 000, Eq. 2): order 1, stable for stiff springs and dampers.

    a from the linearised forces of the end of the step,     v⁺ = v + h a,     q⁺ = q ⊕ h v⁺

Behind the ledger, memory keeps how the last step began (its length, q and v): the guess of the next solution is the last a, and what acted
over a recorded step can be computed again from where it began. An automatic choice of the linear solution keeps its countdown there.
"""

from __future__ import annotations

from unibody.arena import part
from unibody.coordinates.redmax import COUNTDOWN
from unibody.coordinates.slots import STATUS, Y
from unibody.coordinates.stages import EVALUATE_STAGE, PROJECT_STAGE, Evaluate, Project
from unibody.kernel import Floats, Ints, kernel
from unibody.rules.base import MEMORY, TIME, advance_own, all_finite, book_work, ledger_of, write_record

BEGUN = MEMORY
"""Where memory keeps the length of the last step, 0 before the first; then the countdown; then the q and v it began with."""

BEGUN_Q = BEGUN + 2


@kernel
def roll_linearly_implicit(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t0: float, h: float, steps: int, every: int, explicit: int,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    """Take steps; returns how many succeeded. A step whose accelerations are not finite leaves q, v and memory as they were."""
    y = part(work_out, layout, Y)
    ledger = ledger_of(layout, work_out)
    first_v = BEGUN_Q + q_out.size
    status = part(work_out, layout, STATUS)
    status[COUNTDOWN] = memory_out[BEGUN + 1]
    rows = 0
    t = t0
    for k in range(steps):
        last = memory_out[BEGUN]
        for j in range(y.size):
            y[j] = (v_out[j] - memory_out[first_v + j]) / last if last > 0.0 else 0.0
        Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
        if not all_finite(y):
            return k
        book_work(ledger, h, memory_out)
        memory_out[BEGUN] = h
        memory_out[BEGUN + 1] = status[COUNTDOWN]
        for j in range(q_out.size):
            memory_out[BEGUN_Q + j] = q_out[j]
        for j in range(v_out.size):
            memory_out[first_v + j] = v_out[j]
        for j in range(y.size):
            v_out[j] += h * y[j]
        advance_own(layout, ints, constants, q_out, v_out, h, q_out)
        if stages[PROJECT_STAGE] != 0:
            Project(stages[PROJECT_STAGE], layout, ints, constants, stages, control, t + h, work_out, q_out, v_out)
        t = t + h
        memory_out[TIME] = t
        if (k + 1) % every == 0:
            write_record(rows, t, q_out, v_out, memory_out, record_out)
            rows += 1
    return steps
