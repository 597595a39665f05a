"""The frame of `compiled_step`: where its kernels and arrays stand, and the signatures by which kernels are called.

Kernels of other packages keep their own names here in capitals, as a place in the frame, and as a prototype: `Meet(frame[MEET], …)`.
"""

from __future__ import annotations

from unibody.algebra.contact.cones import clip_to_cones
from unibody.algebra.contact.delassus import spread, write_gram
from unibody.algebra.contact.newton import newton_in_workspace, newton_workspace
from unibody.collision.rigid.contacts import arrange_touches
from unibody.collision.rigid.touching_pairs import find_pairs
from unibody.coordinates.kick import keep_courses, kick_reduced, mark_struck
from unibody.joints.table import advance_joints
from unibody.kernel import prototype_of
from unibody.stepping.body_motion import fill_motion_reduced
from unibody.stepping.constraint_responses import respond_to_constraints
from unibody.stepping.contact_margin import pace
from unibody.stepping.depenetration import find_separable, part_overlaps
from unibody.stepping.impulses import FEW_ROWS
from unibody.stepping.island_roots import begin_roots, leave_roots, root_row, root_three_rows
from unibody.stepping.islands import lay_blocks
from unibody.stepping.memory import begin_memory, write_step
from unibody.stepping.midpoint_coriolis import predict_change
from unibody.stepping.step_arrays import add_works, fill_targets, lay_problem, meet, order_upwards, without_shift

(
    EVALUATE, FILL_MOTION, RESPOND_TO_CONSTRAINTS, FIND_PAIRS, MEET, LAY_BLOCKS, BEGIN_ROOTS, ROOT_WRENCHES, ROOT_ROW, LEAVE_ROOTS, NEWTON,
    KICK, PREDICT, PART, TARGETS, PACE, ARRANGE, LAY_PROBLEM, CLIP, GRAM, SPREAD, SHIFT, WORKS, LEAVE, UPWARDS, STRUCK,
    ADVANCE, COURSES, BEGIN, WRITE, FIND_NEAR, TAKE, SOLVE, PART_ALL, STEP,
) = range(35)  # fmt: skip
KERNELS = 35
"""Kernels of a frame; PART, PART_ALL, LEAVE and UPWARDS are 0 until something has overlapped."""

(
    LAYOUT, INTS, CONSTANTS, WORK, CLOCK, STAGES, SPOTS, TABLE, SHAPES, MOVING, FLAGS, SIZES, REST, ROLE, KEYS, LAW_CLASSES, COEFFICIENTS,
    PLANE_NORMAL, NO_WISHES, RADII, COM, CONSTRAINT_PLACE, FRONT_ROWS, BOUND, ROW_SIZES, TIED, LIGHT, AGILE, UP, HALVES, ROOTS, CHANGE,
    ROOM_FLOATS, ROOM_INTS, ROOM_ROWS,
) = range(KERNELS, KERNELS + 2 * 35, 2)  # fmt: skip
ARRAYS = 35
"""Arrays of a frame: those of the system (`coordinates.workspace`), of its islands (`islands`), of collision, and of the rule; 1/√D of the
tree's columns (`island_roots`) and what impulses change velocities by, in the order of islands; and room for a step, for its whole numbers,
and for its rows (`room_for_steps`). Arrays cut out of these count no references."""

BODIES, ROW_WIDTH, SPIN, LAW, PUSHES, ROOM, MIDPOINTS, FLIES, LOOSE, CONSTRAINT_SIZE, FEW = range(11)
"""FLAGS: numbers of bodies, of rows of a contact, of limits, of contacts that memory holds, of velocities with terms in the middle of a
step, of numbers in the constraint rows; FEW: the most shapes that are sorted along an axis; and what holds or does not (1, 0)."""
FLAG_COUNT = 11

TOLERANCE, RADIUS, DEEPEST, FARTHEST, NEAREST, FIXED, OFFSET, THIN, GAIN = range(9)
"""SIZES: of impulses [m/s]; of the smallest body; overlaps looked at; the largest and least margin, the one that is given (or −1); what
surfaces rest apart; what a mesh is thick [m]; the part of the work at contacts that may come from nowhere."""
SIZE_COUNT = 9

DEEP, DEPTH, ONE, OTHER, WHY = range(5)
"""What a step tells of its deepest overlap: twice its number plus 1 if joints hold it, or −1; how deep it is; its bodies. And why the last
step was not made, as a number of REASONS."""
TOLD = 5

REASONS = (
    "made", "first", "not finite", "fast or unknown pairs", "many rows", "not solved", "first overlap", "not finite after", "first pairs"
)  # fmt: skip
MADE, FIRST_STEP, NOT_FINITE, UNSEEN, MANY, UNSOLVED, FIRST_OVERLAP, NOT_FINITE_AFTER, FIRST_PAIRS = range(9)
"""FIRST_OVERLAP and FIRST_PAIRS are said once: kernels or room were missing, and are there when the step is tried again. All others follow
from the state and the memory of the step alone, so that it is made the same way whoever makes it."""

RespondToConstraints, FillMotion, FindPairs, Predict, KickTree = (
    prototype_of(k) for k in (respond_to_constraints, fill_motion_reduced, find_pairs, predict_change, kick_reduced)
)
LayBlocks, BeginRoots, RootWrenches = (prototype_of(k) for k in (lay_blocks, begin_roots, root_three_rows))
RootRow, LeaveRoots, Gram, Spread = (prototype_of(k) for k in (root_row, leave_roots, write_gram, spread))
Meet, Newton, Part = (prototype_of(k) for k in (meet, newton_in_workspace, part_overlaps))
Targets, Pace, Arrange, LayProblem = (prototype_of(k) for k in (fill_targets, pace, arrange_touches, lay_problem))
Clip, Shift, Works, Leave, Upwards = (prototype_of(k) for k in (clip_to_cones, without_shift, add_works, find_separable, order_upwards))
Struck, Advance, Courses = (prototype_of(k) for k in (mark_struck, advance_joints, keep_courses))
Begin, Write = (prototype_of(k) for k in (begin_memory, write_step))


def room_for_steps(nq: int, nv: int, bodies: int, rows: int, constraint_size: int, midpoints: int, width: int) -> tuple[int, int, int]:
    """How much of ROOM_FLOATS, ROOM_INTS and ROOM_ROWS steps take at most: of a system with so many rows of constraints, and FEW_ROWS in
    all."""
    step = nq + nv + 2 * midpoints + 15 * bodies + nv + constraint_size + 4 * rows + 7
    contacts = (7 + 4 + 19 * width + 2) * FEW_ROWS + FEW_ROWS * nv + 1
    newton = newton_workspace(FEW_ROWS, FEW_ROWS)
    problem = 17 * FEW_ROWS + nv + 3 + FEW_ROWS * FEW_ROWS
    return step + contacts, (3 + 1 + 5 + 6) * FEW_ROWS + 4 + nv + newton[0], problem + newton[1]
