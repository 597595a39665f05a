"""The frame of `compiled_step`: where its kernels and arrays stand, and the signatures by which kernels are called.

Kernels of other packages keep their own names here in capitals, as a place in the frame, and as a prototype: `Meet(frame[MEET], …)`.
"""

from __future__ import annotations

from unibody.algebra.contact.delassus import gather, spread, write_dense
from unibody.algebra.contact.newton import newton_small
from unibody.collision.rigid.contacts import arrange_touches
from unibody.collision.rigid.touching_pairs import find_pairs
from unibody.coordinates.kick import keep_courses, kick_reduced, mark_touched
from unibody.coordinates.reduced.kinematics import advance_joints
from unibody.kernel import prototype_of
from unibody.stepping.constraint_responses import respond_to_constraints
from unibody.stepping.contact_margin import pace
from unibody.stepping.contact_rows import add_up
from unibody.stepping.depenetration import leave_held, part_overlaps
from unibody.stepping.impulse_reduced import fill_motion_reduced, is_finite, push_by_impulses
from unibody.stepping.impulses import FEW_ROWS, clip_to_cones
from unibody.stepping.memory import begin_memory, write_step
from unibody.stepping.midpoint_coriolis import foretell
from unibody.stepping.step_arrays import add_works, fill_targets, lay_problem, meet, order_upwards, without_shift
from unibody.stepping.tree_delassus import lay_wrenches, respond_threes, respond_wrenches

(
    EVALUATE, FILL_MOTION, RESPOND_TO_CONSTRAINTS, FIND_PAIRS, MEET, LAY_WRENCHES, RESPOND, NEWTON, PUSH, KICK, FORETELL, PART, IS_FINITE,
    TARGETS, PACE, ARRANGE, LAY_PROBLEM, CLIP, DENSE, SPREAD, GATHER, SHIFT, WORKS, LEAVE, UPWARDS, ADD_UP, TOUCHED, ADVANCE, COURSES,
    BEGIN, WRITE, FIND_NEAR, TAKE, SOLVE, PUSH_ALL, PART_ALL, STEP,
) = range(37)  # fmt: skip
KERNELS = 37
"""Kernels of a frame; PART, PART_ALL, LEAVE and UPWARDS are 0 until something has overlapped."""

(
    LAYOUT, INTS, CONSTANTS, WORK, CLOCK, STAGES, SPOTS, TABLE, NUMBERS, SWEEP, INVERSES, SHAPES, MOVING, FLAGS, SIZES, REST, ROLE, KEYS,
    LAW_CLASSES, COEFFICIENTS, PLANE_NORMAL, NO_WISHES, RADII, COM, CONSTRAINT_PLACE, FRONT_ROWS, BOUND, ROW_SIZES, TIED, LIGHT, AGILE, UP,
    HALVES, ROOM_FLOATS, ROOM_INTS, ROOM_ROWS,
) = range(KERNELS, KERNELS + 2 * 36, 2)  # fmt: skip
ARRAYS = 36
"""Arrays of a frame: those of the system (`coordinates.workspace`), of its islands, of collision, and of the rule; and room for a
step, for its whole numbers, and for its rows (`room_for_steps`). Arrays cut out of these count no references."""

BODIES, ROW_WIDTH, SPIN, LAW, PUSHES, ROOM, LEANS, FLIES, LOOSE, ALL_ALONE, CONSTRAINT_SIZE, FEW = range(12)
"""FLAGS: numbers of bodies, of rows of a contact, of limits, of contacts that memory holds, of velocities with terms in the middle of a
step, of numbers in the constraint rows; FEW: the most shapes that are sorted along an axis; and what holds or does not (1, 0)."""
FLAG_COUNT = 12

TOLERANCE, RADIUS, DEEPEST, FARTHEST, NEAREST, FIXED, OFFSET, THIN, GAIN = range(9)
"""SIZES: of impulses [m/s]; of the smallest body; overlaps looked at; the largest and least margin, the one that is given (or −1); what
surfaces rest apart; what a mesh is thick [m]; the part of the work at contacts that may come from nowhere."""
SIZE_COUNT = 9

DEEP, DEPTH, ONE, OTHER, WHY, NEEDED = range(6)
"""What a step tells of its deepest overlap: twice its number plus 1 if joints hold it, or −1; how deep it is; its bodies. And why the last
step was not made, as a number of REASONS; and, where arrays are small, how many numbers those of islands need."""
TOLD = 6

REASONS = (
    "made", "first", "not finite", "fast or unknown pairs", "many rows", "small arrays", "not solved", "first overlap", "not finite after"
)  # fmt: skip
MADE, FIRST_STEP, NOT_FINITE, UNSEEN, MANY, SMALL, UNSOLVED, OVERLAPS, NOT_FINITE_AFTER = range(9)
UNANSWERED = 9
"""Of rows: some act whose answers are not known yet."""

Respond, RespondToConstraints, RespondWide, FillMotion = (
    prototype_of(k) for k in (respond_threes, respond_to_constraints, respond_wrenches, fill_motion_reduced)
)
FindPairs, Foretell, KickTree, LayWrenches = (prototype_of(k) for k in (find_pairs, foretell, kick_reduced, lay_wrenches))
Meet, Newton, Part, Push, IsFinite = (prototype_of(k) for k in (meet, newton_small, part_overlaps, push_by_impulses, is_finite))
Targets, Pace, Arrange, LayProblem = (prototype_of(k) for k in (fill_targets, pace, arrange_touches, lay_problem))
Clip, Dense, Spread, Gather, Shift = (prototype_of(k) for k in (clip_to_cones, write_dense, spread, gather, without_shift))
Works, Leave, Upwards, AddUp = (prototype_of(k) for k in (add_works, leave_held, order_upwards, add_up))
Touched, Advance, Courses = (prototype_of(k) for k in (mark_touched, advance_joints, keep_courses))
Begin, Write = (prototype_of(k) for k in (begin_memory, write_step))


def room_for_steps(nq: int, nv: int, bodies: int, rows: int, constraint_size: int, leans: int, width: int) -> tuple[int, int, int]:
    """How much of ROOM_FLOATS, ROOM_INTS and ROOM_ROWS steps take at most: of a system with so many rows of constraints, and FEW_ROWS in
    all."""
    step = nq + nv + 2 * leans + 15 * bodies + 2 * nv + 2 * constraint_size + 4 * rows + 7
    contacts = (7 + 4 + 19 * width + 2) * FEW_ROWS + 2 * FEW_ROWS * nv
    return step + contacts, (3 + 1 + 5 + 6) * FEW_ROWS + 4, 17 * FEW_ROWS + nv + 3 + FEW_ROWS * FEW_ROWS
