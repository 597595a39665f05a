"""Euler's two rules (paper 002 §4.1).

    semi-implicit   v⁺ = v + h a(t, q, v),   q⁺ = q ⊕ h v⁺      order 1; symplectic where a does not depend on v
    explicit        v⁺ = v + h a(t, q, v),   q⁺ = q ⊕ h v       order 1; the rule of paper 001
"""

from __future__ import annotations

import numpy as np

from unibody.arena import part
from unibody.coordinates.workspace import Y

from unibody.coordinates.stages import (  # isort: skip
    EVALUATE_STAGE, KICK_ONTO_ROWS_STAGE, KICK_STAGE, PROJECT_STAGE, Evaluate, Kick, KickOntoRows, Project,
)  # fmt: skip
from unibody.arrays import all_finite
from unibody.coordinates.reduced.kinematics import advance_own
from unibody.kernel import Floats, Ints, long_kernel
from unibody.rules.base import book_work, finish_step, ledger_of
from unibody.rules.time_rule import TimeRule


@long_kernel
def roll_euler(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t0: float, h: float, steps: int, every: int, explicit: int,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    """Take steps; returns how many succeeded. A step whose accelerations are not finite leaves q and v as they were."""
    y = part(work_out, layout, Y)
    ledger = ledger_of(layout, work_out)
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
        elif stages[KICK_ONTO_ROWS_STAGE] != 0:
            KickOntoRows(
                stages[KICK_ONTO_ROWS_STAGE], layout, ints, constants, stages, control, t, h, work_out, scratch_out, q_out, v_out
            )
        elif stages[KICK_STAGE] != 0:
            Kick(stages[KICK_STAGE], layout, ints, constants, h, work_out, q_out, v_out)
        else:
            for j in range(y.size):
                v_out[j] += h * y[j]
            advance_own(layout, ints, constants, q_out, v_out, h, q_out)
        if stages[PROJECT_STAGE] != 0:
            Project(stages[PROJECT_STAGE], layout, ints, constants, stages, control, t + h, work_out, q_out, v_out)
        t = t + h
        if finish_step(layout, k, every, t, q_out, v_out, work_out, memory_out, record_out):
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
