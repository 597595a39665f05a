"""Springs, dampers and servos of joints that a step could not follow, taken at its end (linearly implicit).

The effort of a joint's spring, damper or servo at the end of a step, to first order, is f − (d + h k)(v⁺ − v) − h k v. In

    M (v⁺ − v) = h f⁺ + Jᵀ λ    ⟹    (M + h d + h² k)(v⁺ − v) = h (f − h k v) + Jᵀ λ

h d + h² k stands on the diagonal of M, as the armature of the joint does: the elimination of the tree, the response to contacts and the
rest of a step stay as they are, and a damper, however strong, only damps. What this costs is accuracy of what swings: so it is done where
a step that takes all efforts at its beginning might not be stable, and not elsewhere. With A the diagonal of M⁻¹, the largest eigenvalue of
M⁻¹ (h D + h² K) is at most Σ A_j (h d_j + h² k_j). Where that sum is at most 1 everything stays at the beginning; else the terms
that make it up, the largest first, go to the end, until what remains is at most a tenth.

Implicit terms come from the kernels that `redmax` asks (`AddImplicit`): a servo at its limit has none.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.tree.aba import eliminate_tree
from unibody.arena import part
from unibody.coordinates.external_forces import add_implicit
from unibody.coordinates.reduced.dynamics import see_and_load
from unibody.coordinates.stages import CLOSE_STAGE, Stage

from unibody.coordinates.reduced.workspace import (  # isort: skip
    BODIES, COLUMNS, COUPLING, IMPLICIT_CHOICE, IMPLICIT_CLASSES, IMPLICIT_EFFORT, IMPLICIT_F, IMPLICIT_INDEX, IMPLICIT_PARAMETERS,
    IMPLICIT_PLACES, OWN, ROWS, STEP_LENGTH,
)  # fmt: skip
from unibody.coordinates.workspace import ARMATURE, LIMIT, RIGHT, SIGNALS, V_WB, X_WB, Y
from unibody.kernel import Floats, Ints, kernel
from unibody.model.model import Model
from unibody.stepping.workspace import STIFF

FOLLOWED, LEFT = 1.0, 0.1
"""Σ A_j (h d_j + h² k_j) up to which efforts are taken at the beginning of a step, and what of it may stay there otherwise."""
NAMED = 3
"""Joints that a report names."""


@kernel
def stiffen(
    layout: Ints, ints: Ints, constants: Floats, control: Floats, project: int, q: Floats, v: Floats, work_out: Floats
) -> None:  # fmt: skip
    """STIFF: (chosen or not, of each joint velocity), then armature + h d + h² k where it is chosen; −h k v there goes to RIGHT."""
    stiff = part(work_out, layout, STIFF)
    n = stiff.size // 2
    effort = part(work_out, layout, IMPLICIT_EFFORT)
    right = part(work_out, layout, RIGHT)
    armature = part(constants, layout, ARMATURE)
    add_implicit(
        part(ints, layout, IMPLICIT_CLASSES), part(ints, layout, IMPLICIT_INDEX), part(constants, layout, IMPLICIT_PARAMETERS),
        part(ints, layout, IMPLICIT_PLACES), part(constants, layout, LIMIT), part(work_out, layout, SIGNALS), part(work_out, layout, X_WB),
        part(work_out, layout, V_WB), q, v, control, part(constants, layout, IMPLICIT_CHOICE)[STEP_LENGTH], project,
        part(work_out, layout, IMPLICIT_F), effort, part(work_out, layout, OWN), part(work_out, layout, COUPLING), stiff[n:],
    )  # fmt: skip
    for j in range(n):
        if stiff[j] > 0.0:
            stiff[n + j] += armature[j]
            right[j] += effort[j]
        else:
            stiff[n + j] = armature[j]


@kernel
def evaluate_stiff(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """`evaluate_reduced` with the efforts that are chosen at the end of the step."""
    see_and_load(layout, ints, constants, stages, control, t, work_out, q_out, v_out)
    stiffen(layout, ints, constants, control, 1, q_out, v_out, work_out)
    stiff = part(work_out, layout, STIFF)
    eliminate_tree(
        part(ints, layout, BODIES), stiff[stiff.size // 2 :], part(work_out, layout, RIGHT), part(work_out, layout, ROWS),
        part(work_out, layout, COLUMNS), part(work_out, layout, Y),
    )  # fmt: skip
    if stages[CLOSE_STAGE] != 0:
        Stage(stages[CLOSE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)


def joint_efforts(model: Model) -> list[str]:
    """Forces that act in joints alone and have compiled implicit terms: springs, dampers and servos."""
    return [name for name, f in model.forces if f.joints() and not f.bodies() and type(f).implicit_kernel is not None and not f.explicit]


def chosen_terms(inverse: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Which joint velocities (nv,) take their efforts at the end of a step: A (diagonal of M⁻¹) and h d + h² k of each."""
    shares = inverse * terms
    out = np.zeros(terms.size, bool)
    left = float(shares.sum())
    if left <= FOLLOWED:
        return out
    for j in np.argsort(-shares):
        if left <= LEFT:
            break
        out[j] = True
        left -= float(shares[j])
    return out


def implicit_notes(model: Model, chosen: np.ndarray, dt: float) -> tuple[str, ...]:
    """What a report says of the velocities (nv,) that were chosen: one line, or none."""
    names = [f"'{j.name}'" for j in model.tree_joints if chosen[j.v_start : j.v_start + j.nv].any()]
    if not names:
        return ()
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    joints = "joint" if len(names) == 1 else "joints"
    return (f"springs, dampers and servos of {joints} {', '.join(names[:NAMED])}{more} are implicit: dt = {dt:g} s cannot follow them",)
