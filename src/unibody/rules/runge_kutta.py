"""The classical Runge–Kutta rule of order 4 (paper 002 §4.1), on q and v as vectors; q returns to its manifold at the end of a step.

Work is integrated with the same weights.
"""

from __future__ import annotations

import numpy as np

from unibody.arena import part
from unibody.arrays import all_finite
from unibody.coordinates.reduced.kinematics import advance_own, rate_own
from unibody.coordinates.stages import EVALUATE_STAGE, PROJECT_STAGE, Evaluate, Project
from unibody.coordinates.workspace import COUNTS, OWN_Q, Y
from unibody.element import DAMPER_POWER
from unibody.kernel import Floats, Ints, long_kernel
from unibody.rules.base import LAST_STEP, WORK, finish_step, ledger_of
from unibody.rules.time_rule import TimeRule


@long_kernel
def roll_runge_kutta(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t0: float, h: float, steps: int, every: int, explicit: int,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats, memory_out: Floats, record_out: Floats,
) -> int:  # fmt: skip
    """Take steps; returns how many succeeded. A step whose accelerations are not finite leaves q and v as they were."""
    y = part(work_out, layout, Y)
    ledger = ledger_of(layout, work_out)
    nq = q_out.size
    nv = v_out.size
    own = part(ints, layout, COUNTS)[OWN_Q]
    # coordinates beyond `own` are fitted by Evaluate: they are taken over from the last stage
    q_stage = scratch_out[0:nq]
    qdot = scratch_out[nq : 2 * nq]
    q_sum = scratch_out[2 * nq : 3 * nq]
    v_stage = scratch_out[3 * nq : 3 * nq + nv]
    v_sum = scratch_out[3 * nq + nv : 3 * nq + 2 * nv]
    t = t0
    for k in range(steps):
        work0 = 0.0
        work1 = 0.0
        work2 = 0.0
        for j in range(nq):
            q_stage[j] = q_out[j]
            q_sum[j] = 0.0
            qdot[j] = 0.0
        for j in range(nv):
            v_stage[j] = v_out[j]
            v_sum[j] = 0.0
        # stages at 0, h/2, h/2, h with weights h/6, h/3, h/3, h/6; the next begins at y + ahead · k
        for s in range(4):
            ahead = 0.0 if s == 0 else (h if s == 3 else 0.5 * h)
            weight = h / 6.0 if s == 0 or s == 3 else h / 3.0
            Evaluate(stages[EVALUATE_STAGE], layout, ints, constants, stages, control, t + ahead, work_out, q_stage, v_stage)
            if not all_finite(y):
                return k
            rate_own(layout, ints, constants, q_stage, v_stage, qdot)
            work0 += weight * ledger[DAMPER_POWER]
            work1 += weight * ledger[DAMPER_POWER + 1]
            work2 += weight * ledger[DAMPER_POWER + 2]
            # q̇ and a of this stage into the sums, and the next stage
            following = h if s == 2 else 0.5 * h
            for j in range(nq):
                q_sum[j] += weight * qdot[j]
                if s < 3 and j < own:
                    q_stage[j] = q_out[j] + following * qdot[j]
            for j in range(y.size):
                v_sum[j] += weight * y[j]
                if s < 3:
                    v_stage[j] = v_out[j] + following * y[j]
        # y⁺ = y + Σ weight · k, then q back onto its manifold (quaternions)
        for j in range(nq):
            q_out[j] = q_out[j] + q_sum[j] if j < own else q_stage[j]
        for j in range(y.size):
            v_out[j] += v_sum[j]
        for j in range(y.size, nv):
            v_out[j] = v_stage[j]
        advance_own(layout, ints, constants, q_out, v_out, 0.0, q_out)
        memory_out[WORK] += work0
        memory_out[WORK + 1] += work1
        memory_out[WORK + 2] += work2
        memory_out[LAST_STEP] = 0.0
        if stages[PROJECT_STAGE] != 0:
            Project(stages[PROJECT_STAGE], layout, ints, constants, stages, control, t + h, work_out, q_out, v_out)
        t = t + h
        if finish_step(layout, k, every, t, q_out, v_out, work_out, memory_out, record_out):
            return k + 1
    return steps


class RungeKutta(TimeRule):
    """Four evaluations a step."""

    name = "rk4"
    order = 4
    roll = roll_runge_kutta

    @classmethod
    def scratch_size(cls, nq: int, nv: int) -> int:
        """Stage q and v, q̇, and the two weighted sums."""
        return 3 * nq + 2 * nv

    @staticmethod
    def amplification(z: np.ndarray) -> np.ndarray:
        """μ(z) = 1 + z + z²/2 + z³/6 + z⁴/24."""
        return 1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)))
