"""Steps of few contacts in one kernel: what `time_stepping` does, from the motion that nothing holds to memory.

    M (v⁺ − v) = h f + Jᵀ λ,     laws of the rows on J v⁺,     q⁺ = q ⊕ h v⁺

A robot that stands has some ten contacts, and the arithmetic of its step takes some ten microseconds; forty kernels called one by one from
Python take twenty times that. Here they call each other, by address (`unibody.frame`), so that none is compiled twice.

The kernel makes the usual step of a tree with limits, dry friction and up to FEW_ROWS rows, solved by Newton's method. It leaves a step
that is not of this kind as it found it, and says so: something is fast enough to pass through others or to turn within the step, pairs of
shapes need coal, arrays are too small, Newton's method does not end, numbers are not finite. `time_stepping` then makes that step.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact_group_parting import LEAF, PARTING_SLOTS
from unibody.algebra.contact_groups import gather, spread, write_dense
from unibody.algebra.contact_newton_small import CONVERGED as SOLVED
from unibody.algebra.contact_newton_small import RESIDUAL as MISSED
from unibody.algebra.contact_newton_small import STEPS, newton_small
from unibody.algebra.contact_sweeps import COULOMB
from unibody.arena import part
from unibody.collision.rigid import touching_pairs as pairs_at
from unibody.collision.rigid.contacts import arrange_touches
from unibody.collision.rigid.touching_pairs import find_pairs
from unibody.contact.contact_rows import add_up
from unibody.coordinates.group_answers import answer_threes, answer_wrenches, lay_wrenches
from unibody.coordinates.group_book import answer_book
from unibody.coordinates.grouping import ALONE, BOOK_GROUPS, FIRST, INVERSE_AT
from unibody.coordinates.held_reduced import fill_motion_reduced, is_finite, push_by_impulses
from unibody.coordinates.kick import keep_courses, kick_reduced, mark_touched
from unibody.coordinates.middle import foretell
from unibody.coordinates.reduced import advance_joints
from unibody.coordinates.stages import Evaluate
from unibody.frame import floats_in, ints_in
from unibody.kernel import Floats, Ints, cut, kernel, long_kernel, prototype_of
from unibody.rules.base import MEMORY, TIME, all_finite, largest, write_record
from unibody.rules.impulses import FACE_FAILURES, FACE_STEPS, FEW_ROWS, clip_to_cones
from unibody.rules.nearness import pace
from unibody.rules.overlaps import OVERLAP, leave_held, part_overlaps
from unibody.rules.step_arrays import add_works, fill_targets, lay_problem, meet, order_upwards, without_shift
from unibody.rules.stepping_memory import COUNT, FACTS, LENGTH, METHODS, WIDTH, begin_memory, write_step

from unibody.coordinates.slots import (  # isort: skip
    CLASSES, FLOATING, FREE, INDEX, LEDGER, MIDDLE, MIDDLE_ROWS, NODE_CONSTANTS, PARAMETERS, RATE, RESIDUAL, STABILISER, X_WB, Y,
)  # fmt: skip

(
    EVALUATE, FILL_MOTION, ANSWER_BOOK, FIND_PAIRS, MEET, LAY_WRENCHES, ANSWER, NEWTON, PUSH, KICK, FORETELL, PART, IS_FINITE, TARGETS,
    PACE, ARRANGE, LAY_PROBLEM, CLIP, DENSE, SPREAD, GATHER, SHIFT, WORKS, LEAVE, UPWARDS, ADD_UP, TOUCHED, ADVANCE, COURSES, BEGIN, WRITE,
    FIND_NEAR, TAKE, SOLVE, PUSH_ALL, PART_ALL, STEP,
) = range(37)  # fmt: skip
KERNELS = 37
"""Kernels of a frame; PART, PART_ALL, LEAVE and UPWARDS are 0 until something has overlapped."""

(
    LAYOUT, INTS, CONSTANTS, WORK, CLOCK, STAGES, SPOTS, TABLE, NUMBERS, SWEEP, INVERSES, SHAPES, MOVING, FLAGS, SIZES, REST, ROLE, KEYS,
    LAW_CLASSES, COEFFICIENTS, PLANE_NORMAL, NO_WISHES, RADII, COM, BOOK_PLACE, FRONT_ROWS, BOUND, ROW_SIZES, TIED, LIGHT, AGILE, UP,
    HALVES, ROOM_FLOATS, ROOM_INTS, ROOM_ROWS,
) = range(KERNELS, KERNELS + 2 * 36, 2)  # fmt: skip
ARRAYS = 36
"""Arrays of a frame: those of the system (`coordinates.slots`), of its groups (`grouping`), of collision, and of the rule; and room for a
step, for its whole numbers, and for its rows (`room_for_steps`). Arrays cut out of these count no references."""

BODIES, ROW_WIDTH, SPIN, LAW, PUSHES, ROOM, LEANS, FLIES, LOOSE, ALL_ALONE, BOOK_SIZE, FEW = range(12)
"""FLAGS: numbers of bodies, of rows of a contact, of limits, of contacts that memory holds, of velocities with terms in the middle of a
step, of numbers in the rows of the book; FEW: the most shapes that are sorted along an axis; and what holds or does not (1, 0)."""
FLAG_COUNT = 12

TOLERANCE, RADIUS, DEEPEST, FARTHEST, NEAREST, FIXED, OFFSET, THIN, GAIN = range(9)
"""SIZES: of impulses [m/s]; of the smallest body; overlaps looked at; the largest and least margin, the one that is given (or −1); what
surfaces rest apart; what a mesh is thick [m]; the part of the work at contacts that may come from nowhere."""
SIZE_COUNT = 9

DEEP, DEPTH, ONE, OTHER, WHY, NEEDED = range(6)
"""What a step tells of its deepest overlap: twice its number plus 1 if joints hold it, or −1; how deep it is; its bodies. And why the last
step was not made, as a number of REASONS; and, where arrays are small, how many numbers those of groups need."""
TOLD = 6

REASONS = (
    "made", "first", "not finite", "fast or unknown pairs", "many rows", "small arrays", "not solved", "first overlap", "not finite after"
)  # fmt: skip
MADE, FIRST_STEP, NOT_FINITE, UNSEEN, MANY, SMALL, UNSOLVED, OVERLAPS, NOT_FINITE_AFTER = range(9)
UNANSWERED = 9
"""Of rows: some act whose answers are not known yet."""

Answer, AnswerBook, AnswerWide, FillMotion = (prototype_of(k) for k in (answer_threes, answer_book, answer_wrenches, fill_motion_reduced))
FindPairs, Foretell, KickTree, LayWrenches = (prototype_of(k) for k in (find_pairs, foretell, kick_reduced, lay_wrenches))
Meet, Newton, Part, Push, IsFinite = (prototype_of(k) for k in (meet, newton_small, part_overlaps, push_by_impulses, is_finite))
Targets, Pace, Arrange, LayProblem = (prototype_of(k) for k in (fill_targets, pace, arrange_touches, lay_problem))
Clip, Dense, Spread, Gather, Shift = (prototype_of(k) for k in (clip_to_cones, write_dense, spread, gather, without_shift))
Works, Leave, Upwards, AddUp = (prototype_of(k) for k in (add_works, leave_held, order_upwards, add_up))
Touched, Advance, Courses = (prototype_of(k) for k in (mark_touched, advance_joints, keep_courses))
Begin, Write = (prototype_of(k) for k in (begin_memory, write_step))

NEWTON_METHOD, WARM_METHOD, NO_METHOD = METHODS.index("newton"), METHODS.index("warm start"), METHODS.index("none")


def room_for_steps(nq: int, nv: int, bodies: int, rows: int, book_size: int, leans: int, width: int) -> tuple[int, int, int]:
    """How much of ROOM_FLOATS, ROOM_INTS and ROOM_ROWS steps take at most: of a system with so many rows in its book, and FEW_ROWS in
    all."""
    step = nq + nv + 2 * leans + 15 * bodies + 2 * nv + 2 * book_size + 4 * rows + 7
    contacts = (7 + 4 + 19 * width + 2) * FEW_ROWS + 2 * FEW_ROWS * nv
    return step + contacts, (3 + 1 + 5 + 6) * FEW_ROWS + 4, 17 * FEW_ROWS + nv + 3 + FEW_ROWS * FEW_ROWS


@kernel
def find_near(frame: Ints, h: float, X: Floats, velocity: Floats, rate: Floats) -> int:
    """Contacts as records of the collision's arrays, as far ahead as the fastest body may come in a step; −1 where this is not the place
    to look at them."""
    flags, sizes, hasty = ints_in(frame, FLAGS), floats_in(frame, SIZES), np.empty(3, np.int64)
    way = Pace(frame[PACE], velocity, rate, floats_in(frame, RADII), h, sizes[FARTHEST], hasty)
    if way > sizes[THIN] or hasty[0] >= 0 or hasty[1] >= 0 or (hasty[2] >= 0 and flags[LOOSE] == 1):
        return -1
    margin = sizes[FIXED] if sizes[FIXED] >= 0.0 else min(max(2.0 * way, sizes[NEAREST]), sizes[FARTHEST])
    return FindPairs(frame[FIND_PAIRS], ints_in(frame, SHAPES), X, flags[FEW], margin, margin + sizes[OFFSET])


FindNear = prototype_of(find_near)


@kernel
def take_blocks(
    taken: Ints, start: Ints, place: Ints, groups: Ints, rows: Ints, lower: Floats, upper: Floats, friction: Floats, right: Floats,
    warm: Floats, ints_out: Ints, floats_out: Floats,
) -> int:  # fmt: skip
    """The blocks that are taken, one kind of array after the other: of `ints_out` start, place (one more than there are), rows, groups; of
    `floats_out` bounds below and above, friction, right sides, impulses to start with. How many."""
    blocks, size, at = taken.size, right.size, 0
    top = 0
    for k in range(blocks):
        if taken[k] == 0:
            continue
        ints_out[at], ints_out[blocks + 1 + at], ints_out[2 * blocks + 2 + at] = top, place[k], rows[k]
        ints_out[3 * blocks + 2 + 2 * at], ints_out[3 * blocks + 3 + 2 * at] = groups[2 * k], groups[2 * k + 1]
        floats_out[at], floats_out[blocks + at] = lower[k], upper[k]
        for m in range(3):
            floats_out[2 * blocks + 3 * at + m] = friction[3 * k + m]
        for r in range(rows[k]):
            floats_out[5 * blocks + top + r], floats_out[5 * blocks + size + top + r] = right[start[k] + r], warm[start[k] + r]
        top += rows[k]
        at += 1
    ints_out[at] = top
    return at


TakeBlocks = prototype_of(take_blocks)


@kernel
def solve_rows(
    frame: Ints, h: float, answered: bool, start: Ints, place: Ints, groups: Ints, rows: Ints, J: Floats, Y: Floats, b: Floats,
    free: Floats, gaps: Floats, begin: Floats, guess: Floats, friction: Floats, impulse_out: Floats, velocity_out: Floats,
    facts_out: Floats,
) -> int:  # fmt: skip
    """Impulses λ and velocities u = W λ + b of all rows by Newton's method, from those of the last step: MADE, UNSOLVED, or UNANSWERED
    where Y of the book's rows is needed but not known (`answered`). Of facts: see `contact_newton_small`; a residual below zero where
    nothing acts.

    Limits and contacts that the motion without impulses keeps, and that had none in the last step, are left out at first; where the others
    would break them they are taken in, and the problem is solved again."""
    flags, sizes = ints_in(frame, FLAGS), floats_in(frame, SIZES)
    first = part(ints_in(frame, TABLE), ints_in(frame, SPOTS), FIRST)
    n, size, blocks = gaps.size, start[start.size - 1], rows.size
    # room for all arrays at once
    ints, room, nv = ints_in(frame, ROOM_INTS), floats_in(frame, ROOM_ROWS), first[first.size - 1]
    top = ints.size - 6 * blocks - 2
    taken, some = cut(ints, top, blocks), cut(ints, top + blocks, 5 * blocks + 2)
    lower, upper, coefficients, top = cut(room, 0, blocks), cut(room, blocks, blocks), cut(room, 2 * blocks, 3 * blocks), 5 * blocks
    numbers, top = cut(room, top, 5 * blocks + 2 * size), top + 5 * blocks + 2 * size
    right, warm, top = cut(room, top, size), cut(room, top + size, size), top + 2 * size
    shift, motion, facts, top = cut(room, top, n), cut(room, top + n, nv), cut(room, top + n + nv, 3), top + n + nv + 3
    none = cut(room, top, 0)
    # right sides and laws
    for c in range(n):
        shift[c] = max(gaps[c], 0.0) / h
    LayProblem(
        frame[LAY_PROBLEM], flags[ROW_WIDTH], flags[PUSHES], h, b, free, shift, begin, guess, floats_in(frame, BOUND), none, friction, none,
        right, warm, lower, upper, coefficients,
    )  # fmt: skip
    Clip(frame[CLIP], rows, coefficients, warm)
    # what acts
    acting = 0
    for i in range(blocks):
        acts = flags[LAW] != COULOMB or lower[i] < 0.0 or warm[start[i]] > 0.0 or not right[start[i]] >= 0.0
        taken[i] = 1 if acts else 0
        acting += taken[i]
    impulse_out[:] = 0.0
    velocity_out[:] = right
    facts_out[MISSED], facts_out[STEPS], facts_out[SOLVED] = -1.0, 0.0, 1.0
    while acting > 0:
        count = TakeBlocks(frame[TAKE], taken, start, place, groups, rows, lower, upper, coefficients, right, warm, some, numbers)
        m = some[count]
        W, x, u = cut(room, top, m * m), cut(room, top + m * m, m), cut(room, top + m * m + m, m)
        its_start, its_place = cut(some, 0, count + 1), cut(some, blocks + 1, count + 1)
        its_rows, its_groups = cut(some, 2 * blocks + 2, count), cut(some, 3 * blocks + 2, 2 * count)
        its_friction = cut(numbers, 2 * blocks, 3 * count)
        Dense(frame[DENSE], first, its_groups, its_start, its_place, J, Y, W)
        Newton(
            frame[NEWTON], flags[LAW], sizes[TOLERANCE], FACE_STEPS, FACE_FAILURES, its_rows, cut(numbers, 0, count),
            cut(numbers, blocks, count), its_friction, W, cut(numbers, 5 * blocks, m), cut(numbers, 5 * blocks + size, m), x, u, facts,
        )  # fmt: skip
        facts_out[MISSED], facts_out[SOLVED] = facts[MISSED], facts[SOLVED]
        facts_out[STEPS] += facts[STEPS]
        if not facts[SOLVED] > 0.0:
            return UNSOLVED
        if facts[STEPS] > 0.0:
            Clip(frame[CLIP], its_rows, its_friction, x)
        # all velocities, and who was wrongly left out
        motion[:] = 0.0
        velocity_out[:] = right
        Spread(frame[SPREAD], first, its_groups, its_start, its_place, Y, x, motion)
        Gather(frame[GATHER], first, groups, start, place, J, motion, velocity_out)
        acting, at = 0, 0
        for i in range(blocks):
            if taken[i] == 1:
                for r in range(rows[i]):
                    impulse_out[start[i] + r], velocity_out[start[i] + r] = x[at + r], u[at + r]
                    warm[start[i] + r] = x[at + r]
                at += rows[i]
            elif velocity_out[start[i]] < 0.0:
                taken[i] = 1
                acting += 1
                if i < b.size and not answered:
                    return UNANSWERED
    return MADE


SolveRows = prototype_of(solve_rows)


@kernel
def push_rows(
    frame: Ints, strikes: bool, bodies: Ints, wrenches: Floats, book: Floats, impulse: Floats, place: Ints, J: Floats, change_out: Floats
) -> None:
    """M⁻¹ Jᵀ λ of impulses of the book's rows and of contacts; `strikes`: trees that float are told which of them have some."""
    flags = ints_in(frame, FLAGS)
    on_bodies = np.zeros(6 * flags[BODIES])
    AddUp(frame[ADD_UP], flags[ROW_WIDTH], bodies, wrenches, impulse, on_bodies)
    layout, work = ints_in(frame, LAYOUT), floats_in(frame, WORK)
    Push(
        frame[PUSH], layout, ints_in(frame, INTS), ints_in(frame, SPOTS), ints_in(frame, TABLE), floats_in(frame, COM), on_bodies, book,
        place, J, work, change_out,
    )  # fmt: skip
    if strikes:
        Touched(frame[TOUCHED], on_bodies, part(work, layout, FLOATING))


PushRows = prototype_of(push_rows)


@kernel
def part_what_overlaps(
    frame: Ints, h: float, lowest: float, bodies: Ints, points: Floats, gaps: Floats, wrenches: Floats, after: Floats, velocity: Floats,
    rows: Ints, groups: Ints, start: Ints, place: Ints, J: Floats, Y: Floats, way_out: Floats, told_out: Floats,
) -> int:  # fmt: skip
    """Pseudo-velocities that take a part of what overlaps away (`overlaps`): 1 where there are any, 0 where nothing is to be moved;
    `lowest`: the least residual of limits, in terms of its row's size."""
    flags, sizes = ints_in(frame, FLAGS), floats_in(frame, SIZES)
    layout, work = ints_in(frame, LAYOUT), floats_in(frame, WORK)
    push, k, n, width = flags[PUSHES], rows.size - gaps.size, gaps.size, flags[ROW_WIDTH]
    residual = part(work, layout, RESIDUAL)
    # what joints do not hold
    partable = np.empty(n)
    found = Leave(
        frame[LEAVE], width, k, sizes[DEEPEST], gaps, bodies, wrenches, floats_in(frame, RADII), ints_in(frame, TIED),
        floats_in(frame, LIGHT), floats_in(frame, AGILE), rows, place, J, Y, partable,
    )  # fmt: skip
    if found >= 0:
        worst = found // 2
        told_out[DEEP], told_out[DEPTH] = found, -gaps[worst]
        told_out[ONE], told_out[OTHER] = bodies[2 * worst], bodies[2 * worst + 1]
    # impulses of the rows that overlap, normals alone
    spots, table = ints_in(frame, SPOTS), ints_in(frame, TABLE)
    first, alone = part(table, spots, FIRST), part(table, spots, ALONE)
    order, wish, impulse = np.empty(k + n, np.int64), np.empty(push + n), np.empty(push + n)
    Upwards(frame[UPWARDS], k, floats_in(frame, UP), points, order)
    parting, numbers = np.empty(LEAF * (push + n) + first.size + 2 * PARTING_SLOTS, np.int64), np.empty(0)
    done = Part(
        frame[PART], h, width, k, 0, sizes[RADIUS], lowest, residual[:push], velocity[:push], partable, after, order, first, alone, groups,
        start, place, J, Y, parting, numbers, wish, impulse,
    )  # fmt: skip
    if done < 0:  # it has said how much room it takes
        numbers = np.empty(-done)
        done = Part(
            frame[PART], h, width, k, 0, sizes[RADIUS], lowest, residual[:push], velocity[:push], partable, after, order, first, alone,
            groups, start, place, J, Y, parting, numbers, wish, impulse,
        )  # fmt: skip
    if done == 0:
        return 0
    # what they do
    total, normals = np.zeros(k), np.zeros(width * n)
    for r in range(push):
        total[r] = impulse[r]
    for c in range(n):
        normals[width * c] = impulse[push + c]
    PushRows(frame[PUSH_ALL], frame, False, bodies, wrenches, total, normals, place, J, way_out)
    return 1


PartOverlaps = prototype_of(part_what_overlaps)


@kernel
def step_contacts(
    frame: Ints, control: Floats, t: float, h: float, q_out: Floats, v_out: Floats, memory_out: Floats, told_out: Floats
) -> int:
    """One step from t: MADE, or why it is not for this kernel; q, v and memory are as they were then."""
    layout, ints = ints_in(frame, LAYOUT), ints_in(frame, INTS)
    constants, work = floats_in(frame, CONSTANTS), floats_in(frame, WORK)
    flags, sizes = ints_in(frame, FLAGS), floats_in(frame, SIZES)
    spots, table = ints_in(frame, SPOTS), ints_in(frame, TABLE)
    y, width, leans, k = part(work, layout, Y), flags[ROW_WIDTH], flags[LEANS], ints_in(frame, REST).size
    begun = memory_out[LENGTH]
    if k + width * memory_out[COUNT] > FEW_ROWS:
        return MANY
    room, whole = floats_in(frame, ROOM_FLOATS), ints_in(frame, ROOM_INTS)
    q, v, top = cut(room, 0, q_out.size), cut(room, q_out.size, v_out.size), q_out.size + v_out.size
    change, next_change, top = cut(room, top, leans), cut(room, top + leans, leans), top + 2 * leans
    q[:], v[:] = q_out, v_out
    # the motion that nothing holds, with its own terms in the middle of the step
    at = MEMORY + FACTS + q.size + v.size
    if leans > 0:
        if not begun > 0.0:
            return FIRST_STEP
        middle = part(work, layout, MIDDLE)
        for j in range(leans):
            change[j] = memory_out[at + leans + j] if begun == h else h / begun * memory_out[at + leans + j]
            middle[j] = change[j]
    else:
        part(work, layout, MIDDLE_ROWS)[:1] = 0.0
    floats_in(frame, CLOCK)[0] = t
    Evaluate(frame[EVALUATE], layout, ints, constants, ints_in(frame, STAGES), control, t, work, q, v)
    if not IsFinite(frame[IS_FINITE], y):
        return NOT_FINITE
    # how bodies move, and the rows of limits and dry friction
    count, nv, size_book = flags[BODIES], y.size, flags[BOOK_SIZE]
    centre, velocity, rate = cut(room, top, 3 * count), cut(room, top + 3 * count, 6 * count), cut(room, top + 9 * count, 6 * count)
    top += 15 * count
    way, kicked, top = cut(room, top, nv), cut(room, top + nv, nv), top + 2 * nv
    J_book, Y_book, top = cut(room, top, size_book), cut(room, top + size_book, size_book), top + 2 * size_book
    b, begin, acceleration, total = cut(room, top, k), cut(room, top + k, k), cut(room, top + 2 * k, k), cut(room, top + 3 * k, k)
    facts, sums, top = cut(room, top + 4 * k, 3), cut(room, top + 4 * k + 3, 4), top + 4 * k + 7
    com, X = floats_in(frame, COM), part(work, layout, X_WB)
    FillMotion(frame[FILL_MOTION], layout, constants, work, com, centre, velocity, rate)
    book_place, numbers = ints_in(frame, BOOK_PLACE), floats_in(frame, NUMBERS)
    scale = h / begun if begun > 0.0 else 0.0
    residual, speeds, answered = part(work, layout, RESIDUAL), part(work, layout, RATE), False
    if k > 0:
        feedback, lowest = part(constants, layout, STABILISER), flags[PUSHES]
        AnswerBook(
            frame[ANSWER_BOOK], layout, ints, constants, spots, table, book_place, False, work, numbers, acceleration, J_book, Y_book
        )
        Targets(frame[TARGETS], ints_in(frame, ROLE), h, feedback[0], feedback[1], -1.0, residual, speeds, acceleration, b)
        for r in range(k):
            begin[r] = scale * memory_out[at + 2 * leans + r]
            # of limits far away, what others do to them is looked at when these are solved
            answered = answered or r >= lowest or begin[r] > 0.0 or not b[r] >= 0.0 or residual[r] < 0.0
    if k > 0 and (answered or flags[LAW] != COULOMB):
        answered = True
        AnswerBook(
            frame[ANSWER_BOOK], layout, ints, constants, spots, table, book_place, True, work, numbers, acceleration, J_book, Y_book
        )
    # what is near
    found = FindNear(frame[FIND_NEAR], frame, h, X, velocity, rate)
    if found < 0:
        return UNSEEN
    if found > FEW_ROWS:
        return MANY
    points, normals, gaps = cut(room, top, 3 * found), cut(room, top + 3 * found, 3 * found), cut(room, top + 6 * found, found)
    shapes, bodies, ids, n = ints_in(frame, SHAPES), cut(whole, 0, 2 * found), cut(whole, 2 * found, found), 0
    top += 7 * found
    if found > 0:
        n = Arrange(
            frame[ARRANGE], found, ints_in(shapes, pairs_at.TAGS), floats_in(shapes, pairs_at.RECORDS), ints_in(shapes, pairs_at.PAIRS),
            ints_in(shapes, pairs_at.BODY), ints_in(shapes, pairs_at.FOUND)[0], ints_in(frame, MOVING), bodies, points, normals, gaps, ids,
        )  # fmt: skip
    size = k + width * n
    if size > FEW_ROWS:
        return MANY
    bodies, ids = cut(bodies, 0, 2 * n), cut(ids, 0, n)
    points, normals, gaps = cut(points, 0, 3 * n), cut(normals, 0, 3 * n), cut(gaps, 0, n)
    # contacts as rows, in the order of `step_arrays.row_parts`
    wide, blocks, its = width * n, k + n, 3 * found
    wrenches, rows_of, top = cut(room, top, 12 * wide), cut(room, top + 12 * wide, 3 * n + 6 * wide), top + 3 * n + 18 * wide
    impulse, reached, after, top = cut(room, top, size), cut(room, top + size, size), cut(room, top + 2 * size, wide), top + 2 * size + wide
    shift, none, top = cut(room, top, n), cut(room, top, 0), top + n
    which, rows, groups = cut(whole, its, n), cut(whole, its + n, blocks), cut(whole, its + n + blocks, 2 * blocks)
    its += n + 3 * blocks
    start, place = cut(whole, its, blocks + 1), cut(whole, its + blocks + 1, blocks + 1)
    first_table = memory_out.size - WIDTH * flags[ROOM]
    Meet(
        frame[MEET], width, flags[SPIN], flags[BODIES], h, scale, min(int(memory_out[COUNT]), flags[ROOM]), ints_in(frame, KEYS),
        ints_in(frame, LAW_CLASSES), floats_in(frame, COEFFICIENTS), floats_in(frame, PLANE_NORMAL), floats_in(frame, NO_WISHES), bodies,
        points, normals, ids, centre, velocity, rate, cut(memory_out, first_table, WIDTH * flags[ROOM]), which, wrenches, rows_of,
    )  # fmt: skip
    friction, before = cut(rows_of, 0, 3 * n), cut(rows_of, 3 * n + 3 * wide, wide)
    free, guess = cut(rows_of, 3 * n + 4 * wide, wide), cut(rows_of, 3 * n + 5 * wide, wide)
    # J and Y = M⁻¹ Jᵀ of all rows; where something overlaps all limits stand in its way
    deep = False
    for c in range(n):
        deep = deep or gaps[c] < -OVERLAP * sizes[RADIUS]
    if k > 0 and deep and not answered:
        answered = True
        AnswerBook(
            frame[ANSWER_BOOK], layout, ints, constants, spots, table, book_place, True, work, numbers, acceleration, J_book, Y_book
        )
    inverses = ints_in(frame, INVERSES)
    needed = LayWrenches(
        frame[LAY_WRENCHES], spots, table, ints_in(frame, FRONT_ROWS), part(table, spots, BOOK_GROUPS), answered, bodies, width, rows,
        groups, start, place, inverses,
    )  # fmt: skip
    if needed >= numbers.size:
        told_out[NEEDED] = needed
        return SMALL
    J, Y_all = cut(room, top, place[blocks]), cut(room, top + (0 if flags[ALL_ALONE] == 1 else place[blocks]), place[blocks])
    for i in range(J_book.size):
        J[i] = J_book[i]
        Y_all[i] = Y_book[i]
    kept = part(table, spots, INVERSE_AT)
    fresh = kept[kept.size - 1] if answered else 0
    if n > 0 and width == 3:
        Answer(
            frame[ANSWER], layout, ints, spots, table, inverses, fresh, cut(place, k, n + 1), bodies, flags[ALL_ALONE] == 1, wrenches, com,
            work, numbers, floats_in(frame, SWEEP), J, Y_all,
        )  # fmt: skip
    elif n > 0:
        AnswerWide(
            frame[ANSWER], layout, ints, spots, table, inverses, fresh, cut(place, k, n + 1), bodies, width, wrenches, com, work, numbers,
            J, Y_all,
        )  # fmt: skip
    # impulses
    facts[:] = 0.0
    if size > 0:
        made = SolveRows(
            frame[SOLVE], frame, h, answered, start, place, groups, rows, J, Y_all, b, free, gaps, begin, guess, friction, impulse, reached,
            facts,
        )  # fmt: skip
        if made == UNANSWERED:
            AnswerBook(
                frame[ANSWER_BOOK], layout, ints, constants, spots, table, book_place, True, work, numbers, acceleration, J_book, Y_book
            )
            for i in range(size_book):
                Y_all[i] = Y_book[i]
            made = SolveRows(
                frame[SOLVE], frame, h, True, start, place, groups, rows, J, Y_all, b, free, gaps, begin, guess, friction, impulse, reached,
                facts,
            )  # fmt: skip
        if made != MADE:
            return UNSOLVED
    # their account
    total[:] = 0.0
    sums[:] = 0.0
    for c in range(n):
        shift[c] = max(gaps[c], 0.0) / h
    Shift(frame[SHIFT], k, reached, shift, after)
    Works(
        frame[WORKS], flags[PUSHES], h, impulse, reached, ints_in(frame, REST), residual, speeds, before, free, after, none, total, sums
    )
    gained = 0.5 * min(sums[0], sums[1])
    # what overlaps
    told_out[DEEP] = -1.0
    lowest, deepest, apart = np.inf if flags[PUSHES] > 0 else 0.0, 0.0, 0
    for r in range(flags[PUSHES]):
        lowest = min(lowest, residual[r] / floats_in(frame, ROW_SIZES)[r])
    deepest = min(deepest, lowest * sizes[RADIUS])
    for c in range(n):
        deepest = min(deepest, gaps[c])
    if deepest < -OVERLAP * sizes[RADIUS]:
        if frame[PART_ALL] == 0:
            return OVERLAPS
        apart = PartOverlaps(
            frame[PART_ALL], frame, h, lowest, bodies, points, gaps, wrenches, after, reached, rows, groups, start, place, J, Y_all, way,
            told_out,
        )  # fmt: skip
    # velocities and positions
    acts = False
    for i in range(size):
        acts = acts or impulse[i] != 0.0
    PushRows(frame[PUSH_ALL], frame, True, bodies, wrenches, total, cut(impulse, k, wide), place, J, kicked)
    for j in range(nv):
        y[j] += 1.0 / h * kicked[j]
    if flags[FLIES] == 1:
        KickTree(frame[KICK], layout, ints, constants, h, work, q, v)
    else:
        for j in range(y.size):
            v[j] += h * y[j]
        Advance(frame[ADVANCE], part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), q, v, h, q)
    if apart > 0:
        q_before = q.copy()
        Advance(frame[ADVANCE], part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), q, way, h, q)
        if flags[FLIES] == 1:
            Courses(frame[COURSES], part(ints, layout, FREE)[1:], part(constants, layout, NODE_CONSTANTS), q_before, q, v)
    if not (all_finite(q) and all_finite(v)):
        return NOT_FINITE_AFTER
    # memory
    if leans > 0:
        Foretell(frame[FORETELL], layout, ints, h if acts else 0.0, v_out, v, change, floats_in(frame, HALVES), work, next_change)
    method = NO_METHOD if not size or facts[MISSED] < 0.0 else NEWTON_METHOD if facts[STEPS] > 0.0 else WARM_METHOD
    held = memory_out[COUNT]
    Begin(frame[BEGIN], memory_out, part(work, layout, LEDGER), h, memory_out)
    memory_out[COUNT] = held  # as many rows of contacts are to be cleared
    added = gained if gained > sizes[GAIN] * sums[3] else 0.0
    Write(
        frame[WRITE], h, int(facts[STEPS]), max(facts[MISSED], 0.0), method, added, 1, flags[ROOM], width, ids, gaps,
        cut(impulse, k, wide), before, after, none, q_out, v_out, change, next_change, total, none, 0, memory_out,
    )  # fmt: skip
    memory_out[0] += 0.5 * sums[2]
    memory_out[TIME] = t + h
    q_out[:], v_out[:] = q, v
    return MADE


StepContacts = prototype_of(step_contacts)


@long_kernel
def roll_contacts(
    frame: Ints, control: Floats, t: float, h: float, steps: int, done: int, every: int, speed_limit: float, q_out: Floats, v_out: Floats,
    memory_out: Floats, records_out: Floats, told_out: Floats,
) -> int:  # fmt: skip
    """Steps from number `done` on up to number `steps`, or to the first that is not for this kernel, or that leaves a velocity beyond the
    speed limit: the number of the last one made. Each `every`-th is recorded."""
    while done < steps:
        why = StepContacts(frame[STEP], frame, control, t, h, q_out, v_out, memory_out, told_out)
        told_out[WHY] = why
        if why != MADE:
            break
        done += 1
        t = memory_out[TIME]
        if done % every == 0:
            write_record(done // every - 1, t, q_out, v_out, memory_out, records_out)
        if largest(v_out) > speed_limit:
            break
    return done
