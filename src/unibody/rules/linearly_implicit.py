"""Linearly implicit Euler (paper 000, Eq. 2): order 1, stable for stiff springs and dampers.

    a from the linearised forces of the end of the step,     v⁺ = v + h a,     q⁺ = q ⊕ h v⁺

Behind the ledger, memory keeps how the last step began (its length, q and v): the guess of the next solution is the last a, and what acted
over a recorded step can be computed again from where it began. An automatic choice of the linear solution keeps its countdown there.
"""

from __future__ import annotations

from math import sqrt

from unibody.arena import part
from unibody.coordinates.slots import COUNTDOWN, ITERATIONS, STATUS, Y
from unibody.coordinates.stages import EVALUATE_STAGE, PROJECT_STAGE, Evaluate, Project
from unibody.element import DAMPER_POWER
from unibody.kernel import Floats, Ints, device, kernel
from unibody.rules.base import LAST_STEP, MEMORY, TIME, advance_own, all_finite, ledger_of, write_record

BEGUN = MEMORY
"""Where memory keeps the length of the last step, 0 before the first; then the countdown; the iterations; the q and v it began with."""

BEGUN_Q = BEGUN + 3


@device
def mean_power(before, after):
    """The power of a step whose forces are those of its end: f(v⁺)·(v + v⁺)/2, with f(v⁺)·v as √(f(v)·v f(v⁺)·v⁺), right for one damper.

    The power at the beginning alone would be that of forces which an implicit step does not apply."""
    return 0.5 * (after + (sqrt(before * after) if after > 0.0 else -sqrt(before * after))) if before * after > 0.0 else 0.5 * after


@device
def book_implicit_work(ledger, h, memory_out):
    """Complete the work of the last step and start that of a step of length h."""
    for k in range(3):
        power = ledger[DAMPER_POWER + k]
        memory_out[k] += memory_out[LAST_STEP] * mean_power(memory_out[3 + k], power)
        memory_out[3 + k] = power
    memory_out[LAST_STEP] = h


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
        book_implicit_work(ledger, h, memory_out)
        memory_out[BEGUN] = h
        memory_out[BEGUN + 1] = status[COUNTDOWN]
        memory_out[BEGUN + 2] = status[ITERATIONS]
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
