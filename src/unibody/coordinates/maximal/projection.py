"""Holding maximal coordinates on their constraints: after a step by projection, or within it by correcting its accelerations.

The first brings q back along M⁻¹ Gᵀ whatever the rule did; the second is constrained symplectic Euler, whose multipliers are chosen for
the end of the step. Both then settle the velocities.
"""

from __future__ import annotations

from unibody.arena import part
from unibody.arrays import largest_of
from unibody.coordinates.maximal.dynamics import fill_node_rows, see_bodies_and_rows
from unibody.coordinates.maximal.workspace import NODE_B, NODE_F, NODE_JOINT, SAVED_Y
from unibody.coordinates.reduced.kinematics import advance_own
from unibody.coordinates.relative_joints import JOINT
from unibody.coordinates.signals import FillSignals

from unibody.coordinates.workspace import (  # isort: skip
    COMPLIANCE, COUNTS, JOINTS, PRIMARY, RATE, RESIDUAL, SIGNALS, TARGET, VIOLATION, WIDTH, Y as Y_SLOT,
)  # fmt: skip
from unibody.coordinates.stages import AGAIN_STAGE, CLOSE_STAGE, KICK_STAGE, SIGNAL_STAGE, Kick, Stage
from unibody.kernel import Floats, Ints, kernel

PROJECT_BELOW = 1e-2
"""Violations (parts of the size of what the rows hold, or rad) above this are not drift but a start that is still assembling itself:
feedback alone works on those."""

PROJECT_ENOUGH = 1e-11
PROJECT_LIMIT = 3

CORRECTIONS = 5
"""Corrections of a step for its constraints before it is taken as it is."""


@kernel
def project_maximal(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Post-stabilisation: q ← q ⊕ y with M y = Gᵀ λ, G y = −C(q), by the factors of the last evaluation; then v onto the constraints at the
    new q."""
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, part(work_out, layout, SIGNALS))
    residual = part(work_out, layout, RESIDUAL)
    y = part(work_out, layout, Y_SLOT)
    f = part(work_out, layout, NODE_F)
    for j in range(f.size):
        f[j] = 0.0
    for _ in range(PROJECT_LIMIT):
        see_bodies_and_rows(layout, ints, constants, False, work_out, q_out, v_out)
        largest = largest_of(part(work_out, layout, VIOLATION))
        if not largest < PROJECT_BELOW:
            return
        if not largest > PROJECT_ENOUGH:
            break
        aim_rows(layout, ints, constants, 1.0, residual, work_out)
        Stage(stages[AGAIN_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
        advance_own(layout, ints, constants, q_out, y, 1.0, q_out)
    settle_velocities(layout, ints, constants, stages, control, 0, work_out, q_out, v_out)


@kernel
def settle_velocities(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, again: int, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """v ← v + y with M y = Gᵀ λ, G y = −Ċ for the rows as they were just seen: by new factors, or `again` by those at hand."""
    y = part(work_out, layout, Y_SLOT)
    f = part(work_out, layout, NODE_F)
    for j in range(f.size):
        f[j] = 0.0
    if again == 0:
        fill_node_rows(layout, ints, constants, work_out)
    aim_rows(layout, ints, constants, 1.0, part(work_out, layout, RATE), work_out)
    Stage(stages[CLOSE_STAGE if again == 0 else AGAIN_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
    for j in range(y.size):
        v_out[j] += y[j]


@kernel
def correct_maximal(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float,
    work_out: Floats, q_out: Floats, v_out: Floats,
) -> bool:  # fmt: skip
    """One step of Newton's method with the factors of the step's start: y/h² with G y = −C(q⁺) corrects the accelerations. True where
    there is nothing (more) to correct, and the velocities are settled."""
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, part(work_out, layout, SIGNALS))
    residual = part(work_out, layout, RESIDUAL)
    y = part(work_out, layout, Y_SLOT)
    saved = part(work_out, layout, SAVED_Y)
    f = part(work_out, layout, NODE_F)
    see_bodies_and_rows(layout, ints, constants, False, work_out, q_out, v_out)
    largest = largest_of(part(work_out, layout, VIOLATION))
    if not largest < PROJECT_BELOW:
        return True
    if not largest > PROJECT_ENOUGH:
        settle_velocities(layout, ints, constants, stages, control, 0, work_out, q_out, v_out)
        return True
    for j in range(f.size):
        f[j] = 0.0
    aim_rows(layout, ints, constants, 1.0 / (h * h), residual, work_out)
    for j in range(y.size):
        saved[j] = y[j]
    Stage(stages[AGAIN_STAGE], layout, ints, constants, control, work_out, q_out, v_out)
    for j in range(y.size):
        y[j] += saved[j]
    return False


@kernel
def kick_onto_rows(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, h: float,
    work_out: Floats, scratch_out: Floats, q_out: Floats, v_out: Floats,
) -> None:  # fmt: skip
    """Constrained symplectic Euler (Hairer, Lubich and Wanner, Geometric Numerical Integration, §VII.1.3): the multipliers along G(q)ᵀ are
    chosen so that C(q⁺) = 0, then v⁺ is projected along G(q⁺)ᵀ.

    The semi-implicit step is made again with corrected accelerations until its end satisfies the constraints."""
    nq = q_out.size
    for j in range(nq):
        scratch_out[j] = q_out[j]
    for j in range(v_out.size):
        scratch_out[nq + j] = v_out[j]
    for _ in range(CORRECTIONS):
        Kick(stages[KICK_STAGE], layout, ints, constants, h, work_out, q_out, v_out)
        if correct_maximal(layout, ints, constants, stages, control, t + h, h, work_out, q_out, v_out):
            return
        for j in range(nq):
            q_out[j] = scratch_out[j]
        for j in range(v_out.size):
            v_out[j] = scratch_out[nq + j]
    Kick(stages[KICK_STAGE], layout, ints, constants, h, work_out, q_out, v_out)


@kernel
def aim_rows(layout: Ints, ints: Ints, constants: Floats, factor: float, values: Floats, work_out: Floats) -> None:
    """Right sides −factor × values for all rows without compliance, 0 for the others."""
    width = part(ints, layout, COUNTS)[WIDTH]
    first = part(ints, layout, COUNTS)[PRIMARY]
    joints = part(ints, layout, JOINTS)
    node_joint = part(ints, layout, NODE_JOINT)
    right = part(work_out, layout, NODE_B)
    target = part(work_out, layout, TARGET)
    compliance = part(constants, layout, COMPLIANCE)
    for k in range(right.size):
        right[k] = 0.0
    for i in range(node_joint.size // 2):
        k = node_joint[2 * i]
        if k >= 0:
            for r in range(joints[JOINT * k + 5]):
                right[width * i + r] = -factor * values[joints[JOINT * k + 4] + r]
    for r in range(target.size):
        target[r] = -factor * values[first + r] if compliance[r] == 0.0 else 0.0
