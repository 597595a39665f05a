"""Linearly implicit Euler (paper 000, Eq. 2): order 1, stable for stiff springs and dampers.

    a from the linearised forces of the end of the step,     v⁺ = v + h a,     q⁺ = q ⊕ h v⁺

Behind the ledger, memory keeps how the last step began (its length, q and v): the guess of the next solution is the last a, and what acted
over a recorded step can be computed again from where it began. An automatic choice of the linear solution keeps its countdown there.

Inertial forces are explicit, so that a motion which the steps do not resolve (a whip, a fast spin) creates kinetic energy. A book is kept
of it (`redmax_energy`), T − (T at the beginning of the last step + W) added up, losses not counted beyond the gains before them. Once a
step adds more than SUDDEN, or the book holds more than SHARE, of the largest T that forces explained so far, the next step begins slower,
v ← s v, by what the book holds: O(h²) a step, as is the error. T then stays below (1 + SHARE) times what forces explain, but for the gain
of the last step. A motion that is driven by rows keeps no book.

What limits and planes take when something meets them stands among the work of dampers.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from unibody.arena import part
from unibody.coordinates.redmax_energy import kinetic_energy, work_of_step
from unibody.coordinates.redmax_rows import row_of
from unibody.coordinates.slots import AHEAD, COUNTDOWN, DRIFT, ITERATIONS, MULTIPLIER, RATE, RESIDUAL, STATUS, UNILATERAL, X_SOLVED, Y
from unibody.coordinates.stages import EVALUATE_STAGE, PROJECT_STAGE, Evaluate, Project
from unibody.element import DAMPER_POWER
from unibody.kernel import Floats, Ints, device, kernel, long_kernel
from unibody.rules.base import LAST_STEP, MEMORY, TIME, advance_own, all_finite, ledger_of, outruns, write_record

BEGUN = MEMORY
"""Where memory keeps the length of the last step, 0 before the first; then the countdown; the iterations; what follows; and the q and v
that the step began with."""

EXPLAINED, UNEXPLAINED, PEAK, CURBED = BEGUN + 3, BEGUN + 4, BEGUN + 5, BEGUN + 6
"""T that the forces of the last step lead to, the book, the largest T less the book so far [J], and how many steps began slower."""

BEGUN_Q = BEGUN + 7

SHARE, SUDDEN = 1.0, 0.1
"""Parts of the largest kinetic energy so far that may come from nowhere, in all and in one step. Resolved motions gain some 0.01 a step."""


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
def work_of_limits(layout: Ints, ints: Ints, h: float, work_out: Floats) -> float:
    """What unilateral rows do over the step just solved, h μ G (v + v⁺)/2: less than 0 where something meets a limit."""
    unilateral = part(ints, layout, UNILATERAL)
    multiplier = part(work_out, layout, MULTIPLIER)
    x = part(work_out, layout, X_SOLVED)
    y = part(work_out, layout, Y)
    total = 0.0
    for r in range(unilateral.size):
        if unilateral[r] != 0 and multiplier[r] != 0.0:
            rate = part(work_out, layout, RATE)[r] - part(work_out, layout, DRIFT)[r]
            total += h * multiplier[r] * (rate + 0.5 * h * row_of(layout, ints, r, x, y, work_out))
    return total


@device
def slower(energy, last, driven, memory):
    """At the beginning of a step: s² by which kinetic energy is to be multiplied, and what the book then holds."""
    gain = energy - memory[EXPLAINED] if last > 0.0 and not driven else 0.0
    book = max(0.0, memory[UNEXPLAINED] + gain)
    peak = max(memory[PEAK], energy - book)
    if energy > 0.0 and (gain > SUDDEN * peak or book > SHARE * peak):
        return max(0.0, 1.0 - book / energy), max(0.0, book - energy)
    return 1.0, 0.0 if driven else book


@kernel
def is_driven(layout: Ints, work: Floats) -> bool:
    """Whether some row changes with time."""
    drift = part(work, layout, DRIFT)
    residual = part(work, layout, RESIDUAL)
    ahead = part(work, layout, AHEAD)
    for r in range(drift.size):
        if drift[r] != 0.0 or ahead[r] != residual[r]:
            return True
    return False


@kernel
def step_linearly_implicit(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float, explicit: int, work_out: Floats,
    before_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats,
) -> bool:  # fmt: skip
    """One step; false, with q, v and memory as they were, if its accelerations are not finite. `before_out`: as many numbers as Y has."""
    y = part(work_out, layout, Y)
    first_v = BEGUN_Q + q_out.size
    status = part(work_out, layout, STATUS)
    last = memory_out[BEGUN]
    for j in range(y.size):
        y[j] = (v_out[j] - memory_out[first_v + j]) / last if last > 0.0 else 0.0
    Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    if not (all_finite(y) and all_finite(v_out)):
        return False
    if explicit == 0:
        energy = kinetic_energy(layout, ints, constants, v_out, work_out)
        left, book = slower(energy, last, is_driven(layout, work_out), memory_out)
        if left < 1.0:
            for j in range(y.size):
                before_out[j] = v_out[j]
                v_out[j] *= sqrt(left)
                y[j] = 0.0
            Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
            if not all_finite(y):
                for j in range(y.size):
                    v_out[j] = before_out[j]
                return False
            memory_out[CURBED] += 1.0
        memory_out[UNEXPLAINED] = book
        memory_out[PEAK] = max(memory_out[PEAK], left * energy - book)
        memory_out[EXPLAINED] = left * energy + work_of_step(layout, ints, constants, h, v_out, work_out)
    book_implicit_work(ledger_of(layout, work_out), h, memory_out)
    memory_out[0] += work_of_limits(layout, ints, h, work_out)
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
    memory_out[TIME] = t + h
    return True


@long_kernel
def roll_linearly_implicit(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t0: float, h: float, steps: int, every: int, explicit: int,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    """Take steps; returns how many succeeded. A step whose accelerations are not finite leaves q, v and memory as they were. `explicit`: no
    book is kept."""
    part(work_out, layout, STATUS)[COUNTDOWN] = memory_out[BEGUN + 1]
    before = np.empty(part(work_out, layout, Y).size)
    rows = 0
    t = t0
    for k in range(steps):
        if not step_linearly_implicit(
            layout, ints, constants, stages, control, t, h, explicit, work_out, before, q_out, v_out, memory_out
        ):  # fmt: skip
            return k
        t = t + h
        if (k + 1) % every == 0:
            write_record(rows, t, q_out, v_out, memory_out, record_out)
            rows += 1
        if outruns(layout, part(work_out, layout, Y), v_out, work_out):
            return k + 1
    return steps
