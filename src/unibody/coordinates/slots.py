"""Slots: where the arrays of a bound system stand in its three arenas (integers, constants, work). See `unibody.arena`.

The three arenas share one numbering, so that one layout describes them all.
"""

from __future__ import annotations

(
    BODIES, CLASSES, INDEX, PARTS, FORCE_CLASSES, FORCE_INDEX, JOINTS, JOINT_CLASSES, JOINT_INDEX, JOINT_PARTS,
    ROW_CLASSES, ROW_INDEX, ROW_START, ROW_ENTRY, ENTRY_BODY, DOF_START, DOF_INDEX, BORROWED, COUNTS,
    NODE_PARENT, NODE_ROWS, NODE_PLAN, NODE_BODY, NODE_JOINT, NODE_OF, DRIVEN,
) = range(26)  # fmt: skip
"""Integers."""

(
    CONSTANTS, FRAMES, PARAMETERS, FORCE_PARAMETERS, JOINT_FRAMES, JOINT_PARAMETERS, ROW_PARAMETERS, ARMATURE, LIMIT, GRAVITY, STABILISER,
    MASSES, COMPLIANCE, JOINT_PLANES, NODE_M, NODE_CONSTANTS, PLANES, WORLD_PLANE,
) = range(26, 44)  # fmt: skip
"""Constants."""

(
    SIGNALS, TABLE_X, TABLE_S, TABLE_C, ROWS, COLUMNS, X_WB, V_WB, F, EFFORT, RIGHT, LEDGER, Y,
    JOINT_X, JOINT_S, JOINT_C, SCRATCH, STEP, SEEN, T, DUAL, G, J, RESIDUAL, RATE, BIAS,
    RESPONSE_X, RESPONSE_Y, GRAM, TARGET, MULTIPLIER, CLOSURE, RANK, LOAD, ENTRY_W,
    NODE_G, NODE_P, NODE_C, NODE_B, NODE_F, NODE_Y, NODE_L, FACTOR, A_WB, HELD_Y,
) = range(44, 89)  # fmt: skip
"""Work."""

LAST = 89

PRIMARY, JOINT_ROW_COUNT, ROW_COUNT, ENTRY_COUNT, ELEMENT_ROWS, WIDTH, OWN_Q = range(7)
"""What COUNTS holds: primary rows, rows of joints, all rows, all entries, rows of elements, velocities of a body (6, in a plane 3), own
coordinates."""
