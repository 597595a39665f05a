"""Slots: where the arrays of a bound system stand in its three arenas (integers, constants, work). See `unibody.arena`.

The three arenas share one numbering, so that one layout describes them all.
"""

from __future__ import annotations

(
    BODIES, CLASSES, INDEX, PARTS, FORCE_CLASSES, FORCE_INDEX, JOINTS, JOINT_CLASSES, JOINT_INDEX, JOINT_PARTS,
    ROW_CLASSES, ROW_INDEX, ROW_START, ROW_ENTRY, ENTRY_BODY, DOF_START, DOF_INDEX, BORROWED, COUNTS,
    NODE_PARENT, NODE_ROWS, NODE_PLAN, NODE_BODY, NODE_JOINT, NODE_OF, DRIVEN,
    IMPLICIT_CLASSES, IMPLICIT_INDEX, IMPLICIT_PLACES, PAIRS, COUPLED, LOOP_COUPLINGS, PLAN_STEPS, PLAN_LISTS, PLAN_RECORDS, BORDER,
    ADDRESSES, CONSTRAINT_LAYOUT, UNILATERAL, HELD_PAIRS, FREE, GROUPS, TURNS, NONHOLONOMIC,
) = range(44)  # fmt: skip
"""Integers."""

(
    CONSTANTS, FRAMES, PARAMETERS, FORCE_PARAMETERS, JOINT_FRAMES, JOINT_PARAMETERS, ROW_PARAMETERS, ARMATURE, LIMIT, GRAVITY, STABILISER,
    MASSES, COMPLIANCE, JOINT_PLANES, NODE_M, NODE_CONSTANTS, PLANES, WORLD_PLANE, IMPLICIT_PARAMETERS, IMPLICIT_CHOICE,
    PENALTY,
) = range(44, 65)  # fmt: skip
"""Constants."""

(
    SIGNALS, TABLE_X, TABLE_S, TABLE_C, ROWS, COLUMNS, X_WB, V_WB, F, EFFORT, RIGHT, LEDGER, Y,
    JOINT_X, JOINT_S, JOINT_C, SCRATCH, STEP, SEEN, T, DUAL, G, J, RESIDUAL, RATE, BIAS,
    RESPONSE_X, RESPONSE_Y, GRAM, TARGET, MULTIPLIER, CLOSURE, RANK, LOAD, ENTRY_W,
    NODE_G, NODE_P, NODE_C, NODE_B, NODE_F, NODE_Y, NODE_L, FACTOR, A_WB, HELD_Y, DRIFT,
    IMPLICIT_F, IMPLICIT_EFFORT, OWN, COUPLING, DIAGONAL, SHIFT, BLOCKS, WORLD_COUPLING, SUMS, VECTORS, FRONTS, STATUS, AHEAD,
    LEAST, X_SOLVED, SIDE, SIDE_F, INVERSE, STEP_ROWS, V_OWN, ACTIVE, FRONT_SCRATCH, FRONT_STATE, BORDER_VALUES,
    AIM, ROW_SIZE, VIOLATION, UNPROJECTED, FLOATING, SPEED_LIMIT, MIDDLE, MIDDLE_ROWS, STIFF,
) = range(65, 144)  # fmt: skip
"""Work."""

LAST = 144

MIDDLE_WIDTH = 15
"""Numbers of a body in MIDDLE_ROWS: its twist and ζ in the middle of a step, and room for how they are found
(`stepping.midpoint_coriolis`). The first of the world's is 1 where the last evaluation took them there."""

PRIMARY, JOINT_ROW_COUNT, ROW_COUNT, ENTRY_COUNT, ELEMENT_ROWS, WIDTH, OWN_Q = range(7)
"""What COUNTS holds: primary rows, rows of joints, all rows, all entries, rows of elements, velocities of a body (6, in a plane 3), own
coordinates."""

STEP_LENGTH, FEEDBACK, TOLERANCE, ITERATION_LIMIT, ANTICIPATE, SETTLE, DEFINITE, CURVED = range(8)
"""What IMPLICIT_CHOICE holds: h [s], 1/τ [1/s] of the rows, the relative error of the velocity, the most iterations, whether unilateral
rows are held before they are violated (1) or only afterwards (0), whether the loads that acted are wanted afterwards, whether implicit
terms are the definite ones from the start, and whether rows are aimed along their curves."""

ITERATIONS, PROJECTED, FAILED, COUNTDOWN, CONTRACTED, FLAT, APART, MOVING = range(8)
"""What STATUS holds of the last step: iterations of the linear solution, whether indefinite terms were left out, the node that failed, the
steps for which an automatic choice stays with the direct solution, and whether that was used; whether rows are not to be aimed along their
curves; 1 + the row that the step pulled apart, or 0; and twice the kinetic energy of the step [J]."""
