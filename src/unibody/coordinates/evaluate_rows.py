"""Relative joints and all rows at once, from poses and twists: what reduced coordinates do for loops and maximal ones for every joint."""

from __future__ import annotations

from unibody.arena import part
from unibody.coordinates.constraint_layout import finish_rows
from unibody.coordinates.relative_joints import fill_duals, fill_element_rows, fill_joint_rows, fit_joints

from unibody.coordinates.workspace import (  # isort: skip
    BIAS, COUNTS, DRIFT, DUAL, ELEMENT_ROWS, G, J, JOINTS, JOINT_C, JOINT_CLASSES, JOINT_FRAMES, JOINT_INDEX, JOINT_PARAMETERS,
    JOINT_PARTS, JOINT_PLANES, JOINT_ROW_COUNT, JOINT_S, JOINT_X, RATE, RESIDUAL, ROW_CLASSES, ROW_INDEX, ROW_PARAMETERS, ROW_SIZE,
    SCRATCH, SEEN, SIGNALS, STEP, T, VIOLATION, V_WB, X_WB,
)  # fmt: skip
from unibody.kernel import Floats, Ints, kernel


@kernel
def see_rows(layout: Ints, ints: Ints, constants: Floats, biased: bool, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """Fit the relative joints (q_out, v_out: coordinates of all joints), then fill every row: G, J, residual, rate, bias,
    drift, violation (residual by size), at the time of the signals. Not `biased`: for positions and velocities only, without the bias of
    joints, which asks for their tables once more at the velocities just found."""
    X = part(work_out, layout, X_WB)
    V = part(work_out, layout, V_WB)
    joints = part(ints, layout, JOINTS)
    S = part(work_out, layout, JOINT_S)
    c = part(work_out, layout, JOINT_C)
    scratch = part(work_out, layout, SCRATCH)
    seen = part(work_out, layout, SEEN)
    residual = part(work_out, layout, RESIDUAL)
    rate = part(work_out, layout, RATE)
    bias = part(work_out, layout, BIAS)
    drift = part(work_out, layout, DRIFT)
    blocks = part(work_out, layout, G)
    dual = part(work_out, layout, DUAL)
    numbers = part(work_out, layout, J)
    counts = part(ints, layout, COUNTS)
    joint_rows = counts[JOINT_ROW_COUNT]
    # joints that the coordinates do not contain: fitted to poses and twists, then their rows across S
    if joints.size > 0:
        frames = part(constants, layout, JOINT_FRAMES)
        joint_X = part(work_out, layout, JOINT_X)
        classes = part(ints, layout, JOINT_CLASSES)
        index = part(ints, layout, JOINT_INDEX)
        parameters = part(constants, layout, JOINT_PARAMETERS)
        parts = part(ints, layout, JOINT_PARTS)
        step = part(work_out, layout, STEP)
        fit_joints(joints, frames, classes, index, parameters, parts, X, V, biased, joint_X, S, c, scratch, step, seen, q_out, v_out)
        planes = part(constants, layout, JOINT_PLANES)
        fill_joint_rows(joints, planes, S, c, seen, scratch, part(work_out, layout, T), blocks, residual, rate, bias)
        fill_duals(joints, S, scratch, dual)
    # rows of constraint elements, class by class; rows of armatures have neither residual nor bias yet
    for r in range(drift.size):
        drift[r] = 0.0
    if part(ints, layout, ROW_CLASSES).size > 0:
        fill_element_rows(
            part(ints, layout, ROW_CLASSES), part(ints, layout, ROW_INDEX), part(constants, layout, ROW_PARAMETERS), X, V, q_out, v_out,
            part(work_out, layout, SIGNALS), blocks[12 * joint_rows :], numbers, residual[joint_rows:], bias[joint_rows:],
            drift[joint_rows:],
        )  # fmt: skip
    for r in range(joint_rows + counts[ELEMENT_ROWS], rate.size):
        residual[r] = 0.0
        bias[r] = 0.0
    # violations as parts of the size of what the rows hold: a metre is much or little only beside that
    size = part(work_out, layout, ROW_SIZE)
    violation = part(work_out, layout, VIOLATION)
    for r in range(violation.size):
        violation[r] = residual[r] / size[r]
    finish_rows(layout, ints, v_out, work_out)
