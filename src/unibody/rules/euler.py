"""Euler's two rules (paper 002 §4.1).

    semi-implicit   v⁺ = v + h a(t, q, v),   q⁺ = q ⊕ h v⁺      order 1; symplectic where a does not depend on v
    explicit        v⁺ = v + h a(t, q, v),   q⁺ = q ⊕ h v       order 1; the rule of paper 001
"""

from __future__ import annotations

import numpy as np

from unibody.arena import part
from unibody.coordinates.workspace import Y

from unibody.coordinates.stages import (  # isort: skip
    CORRECT_STAGE, EVALUATE_STAGE, KICK_STAGE, PROJECT_STAGE, SATISFIED, Correct, Evaluate, Kick, Project,
)  # fmt: skip
from unibody.kernel import Floats, Ints, kernel, long_kernel
from unibody.rules.base import TIME, advance_own, all_finite, book_work, ledger_of, outruns, write_record
from unibody.rules.time_rule import TimeRule

CORRECTIONS = 5
"""Corrections of a step for its constraints before it is taken as it is."""


@kernel
def kick_and_correct(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float, work_out: Floats, scratch_out: Floats,
    q_out: Floats, v_out: Floats,
) -> None:  # fmt: skip
    """One semi-implicit step the system's own way, made again with corrected accelerations until its end satisfies the constraints."""
    nq = q_out.size
    for j in range(nq if stages[CORRECT_STAGE] != 0 else 0):
        scratch_out[j] = q_out[j]
    for j in range(v_out.size if stages[CORRECT_STAGE] != 0 else 0):
        scratch_out[nq + j] = v_out[j]
    for k in range(CORRECTIONS):
        Kick(stages[KICK_STAGE], layout, ints, constants, h, work_out, q_out, v_out)
        if stages[CORRECT_STAGE] == 0:
            break
        if Correct(stages[CORRECT_STAGE], layout, ints, constants, stages, control, t + h, h, work_out, q_out, v_out) == SATISFIED:
            break
        for j in range(nq):
            q_out[j] = scratch_out[j]
        for j in range(v_out.size):
            v_out[j] = scratch_out[nq + j]
        if k == CORRECTIONS - 1:
            Kick(stages[KICK_STAGE], layout, ints, constants, h, work_out, q_out, v_out)


@long_kernel
def roll_euler(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t0: float, h: float, steps: int, every: int, explicit: int,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    """Take steps; returns how many succeeded. A step whose accelerations are not finite leaves q and v as they were."""
    y = part(work_out, layout, Y)
    ledger = ledger_of(layout, work_out)
    rows = 0
    t = t0
    for k in range(steps):
        Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t, work_out, q_out, v_out)
        if not (all_finite(y) and all_finite(v_out)):
            return k
        book_work(ledger, h, memory_out)
        if explicit == 1:
            advance_own(layout, ints, constants, q_out, v_out, h, q_out)
            for j in range(y.size):
                v_out[j] += h * y[j]
        elif stages[KICK_STAGE] != 0:
            kick_and_correct(layout, ints, constants, stages, control, t, h, work_out, scratch_out, q_out, v_out)
        else:
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
        if outruns(layout, y, v_out, work_out):
            return k + 1
    return steps


class SemiImplicitEuler(TimeRule):
    """v first, then q along the new v."""

    name = "semi-implicit"
    momenta = True
    roll = roll_euler


class ExplicitEuler(TimeRule):
    """q along the old v."""

    name = "euler"
    coordinates = ("maximal",)
    roll = roll_euler
    variant = 1

    @staticmethod
    def amplification(z: np.ndarray) -> np.ndarray:
        """μ(z) = 1 + z."""
        return 1.0 + z
