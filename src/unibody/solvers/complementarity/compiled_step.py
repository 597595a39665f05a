"""Steps of few contacts in one kernel: what `time_stepping` does, from the motion that nothing holds to memory.

    M (v⁺ − v) = h f + Jᵀ λ,     laws of the rows on J v⁺,     q⁺ = q ⊕ h v⁺

A robot that stands has some ten contacts, and the arithmetic of its step takes some ten microseconds; forty kernels called one by one from
Python take twenty times that. Here they call each other, by address (`arena.CallFrame`), so that none is compiled twice.

The kernel makes the usual step of a tree with limits, dry friction and up to FEW_ROWS rows, solved by Newton's method. It leaves a step
that is not of this kind as it found it, and says so: something is fast enough to pass through others or to turn within the step, pairs of
shapes need coal, Newton's method does not end, numbers are not finite. `time_stepping` then makes that step.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact.newton import RESIDUAL as MISSED
from unibody.algebra.contact.newton import STEPS
from unibody.arena import floats_in, ints_in, part
from unibody.arrays import all_finite, copy_to, largest_of
from unibody.collision.rigid import touching_pairs as pairs_at
from unibody.coordinates.reduced.workspace import FLOATING, FREE, MIDDLE_ROWS
from unibody.coordinates.stages import Evaluate
from unibody.coordinates.workspace import CLASSES, INDEX, LEDGER, NODE_CONSTANTS, PARAMETERS, RATE, RESIDUAL, STABILISER, X_WB, Y
from unibody.kernel import Floats, Ints, cut, kernel, long_kernel, prototype_of
from unibody.rules.base import DAMPER_WORK, TIME, write_record
from unibody.solvers.complementarity.compiled_impulses import PartOverlaps, SolveRows
from unibody.stepping.islands import CONSTRAINT_ISLANDS, FIRST, OF_BODY, PLACE
from unibody.stepping.workspace import MIDDLE

from unibody.solvers.complementarity.compiled_layout import (  # isort: skip
    ADVANCE, RESPOND_TO_CONSTRAINTS, ARRANGE, Advance, RespondToConstraints, Arrange, BEGIN, BEGIN_ROOTS, BODIES, CONSTRAINT_PLACE,
    CONSTRAINT_SIZE, Begin, BeginRoots, CHANGE, CLOCK, COEFFICIENTS, COM, CONSTANTS, COURSES, Courses, DEEP, EVALUATE, FARTHEST, FEW,
    FILL_MOTION, FIND_NEAR, FIND_PAIRS, FIRST_OVERLAP, FIRST_PAIRS, FIRST_STEP, FIXED, FLAGS, FLIES, PREDICT, FRONT_ROWS, FillMotion,
    FindPairs, Predict, GAIN, HALVES, INTS, KEYS, KICK, KickTree, LAW_CLASSES, LAYOUT, LAY_BLOCKS, MIDPOINTS, LOOSE,
    LayBlocks, MADE, MANY, MEET, MOVING, Meet, NEAREST, NOT_FINITE, NOT_FINITE_AFTER, NO_WISHES, OFFSET, PACE, PART_ALL, PLANE_NORMAL,
    PUSHES, Pace, RADII, RADIUS, REST, ROLE, ROOM, ROOM_FLOATS, ROOM_INTS, ROOTS, ROOT_WRENCHES, ROW_SIZES, ROW_WIDTH, RootWrenches,
    SHAPES, SHIFT, SIZES, SOLVE, SPIN, SPOTS, STAGES, STEP, STRUCK, Shift, Struck, TABLE, TARGETS, THIN, Targets, UNSEEN, UNSOLVED, WHY,
    WORK, WORKS, WRITE, Works, Write,
)  # fmt: skip
from unibody.stepping.depenetration import OVERLAP
from unibody.stepping.impulses import FEW_ROWS
from unibody.stepping.memory import BEGUN_Q, COUNT, LENGTH, METHODS, WIDTH

NEWTON_METHOD, WARM_METHOD, NO_METHOD = METHODS.index("newton"), METHODS.index("warm start"), METHODS.index("none")


@kernel
def find_near(frame: Ints, h: float, X: Floats, velocity: Floats, rate: Floats) -> int:
    """Contacts as records of the collision's arrays, as far ahead as the fastest body may come in a step; −1 where this is not the place
    to look at them, or what `find_pairs` says."""
    flags, sizes, fast = ints_in(frame, FLAGS), floats_in(frame, SIZES), np.empty(3, np.int64)
    way = Pace(frame[PACE], velocity, rate, floats_in(frame, RADII), h, sizes[FARTHEST], fast)
    if way > sizes[THIN] or fast[0] >= 0 or fast[1] >= 0 or (fast[2] >= 0 and flags[LOOSE] == 1):
        return -1
    margin = sizes[FIXED] if sizes[FIXED] >= 0.0 else min(max(2.0 * way, sizes[NEAREST]), sizes[FARTHEST])
    return FindPairs(frame[FIND_PAIRS], ints_in(frame, SHAPES), X, flags[FEW], margin, margin + sizes[OFFSET])


FindNear = prototype_of(find_near)


@kernel
def step_contacts(
    frame: Ints, control: Floats, t: float, h: float, q_out: Floats, v_out: Floats, memory_out: Floats, told_out: Floats
) -> int:
    """One step from t: MADE, or why it is not for this kernel; q, v and memory are as they were then."""
    layout, ints = ints_in(frame, LAYOUT), ints_in(frame, INTS)
    constants, work = floats_in(frame, CONSTANTS), floats_in(frame, WORK)
    flags, sizes = ints_in(frame, FLAGS), floats_in(frame, SIZES)
    spots, table = ints_in(frame, SPOTS), ints_in(frame, TABLE)
    y, width, midpoints, k = part(work, layout, Y), flags[ROW_WIDTH], flags[MIDPOINTS], ints_in(frame, REST).size
    begun = memory_out[LENGTH]
    if k + width * memory_out[COUNT] > FEW_ROWS:
        return MANY
    room, whole = floats_in(frame, ROOM_FLOATS), ints_in(frame, ROOM_INTS)
    q, v, top = cut(room, 0, q_out.size), cut(room, q_out.size, v_out.size), q_out.size + v_out.size
    change, next_change, top = cut(room, top, midpoints), cut(room, top + midpoints, midpoints), top + 2 * midpoints
    copy_to(q_out, q)
    copy_to(v_out, v)
    # the motion that nothing holds, with its own terms in the middle of the step
    next_change_at = BEGUN_Q + q.size + v.size + midpoints  # in the order of `SteppingMemory`
    constraints_at = next_change_at + midpoints
    if midpoints > 0:
        if not begun > 0.0:
            return FIRST_STEP
        middle = part(work, layout, MIDDLE)
        for j in range(midpoints):
            change[j] = memory_out[next_change_at + j] if begun == h else h / begun * memory_out[next_change_at + j]
            middle[j] = change[j]
    else:
        part(work, layout, MIDDLE_ROWS)[:1] = 0.0
    floats_in(frame, CLOCK)[0] = t
    Evaluate(frame[EVALUATE], layout, ints, constants, ints_in(frame, STAGES), control, t, work, q, v)
    if not all_finite(y):
        return NOT_FINITE
    # how bodies move, and the rows of limits and dry friction
    count, nv, size_constraints = flags[BODIES], y.size, flags[CONSTRAINT_SIZE]
    centre, velocity, rate = cut(room, top, 3 * count), cut(room, top + 3 * count, 6 * count), cut(room, top + 9 * count, 6 * count)
    top += 15 * count
    way, J, top = cut(room, top, nv), cut(room, top + nv, size_constraints), top + nv + size_constraints
    b, begin, acceleration, total = cut(room, top, k), cut(room, top + k, k), cut(room, top + 2 * k, k), cut(room, top + 3 * k, k)
    facts, sums, top = cut(room, top + 4 * k, 3), cut(room, top + 4 * k + 3, 4), top + 4 * k + 7
    com, X = floats_in(frame, COM), part(work, layout, X_WB)
    FillMotion(frame[FILL_MOTION], layout, constants, work, com, centre, velocity, rate)
    scale = h / begun if begun > 0.0 else 0.0
    residual, speeds = part(work, layout, RESIDUAL), part(work, layout, RATE)
    if k > 0:
        feedback = part(constants, layout, STABILISER)
        RespondToConstraints(
            frame[RESPOND_TO_CONSTRAINTS], layout, ints, constants, spots, table, ints_in(frame, CONSTRAINT_PLACE), False, work, way,
            acceleration, J, J
        )
        Targets(frame[TARGETS], ints_in(frame, ROLE), h, feedback[0], feedback[1], -1.0, residual, speeds, acceleration, b)
        for r in range(k):
            begin[r] = scale * memory_out[constraints_at + r]
    # what is near
    found = FindNear(frame[FIND_NEAR], frame, h, X, velocity, rate)
    if found < 0:
        return FIRST_PAIRS if found == pairs_at.UNPREPARED else UNSEEN
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
    which, rows, islands = cut(whole, its, n), cut(whole, its + n, blocks), cut(whole, its + n + blocks, 2 * blocks)
    its += n + 3 * blocks
    start, place = cut(whole, its, blocks + 1), cut(whole, its + blocks + 1, blocks + 1)
    Meet(
        frame[MEET], width, flags[SPIN], flags[BODIES], h, scale, min(int(memory_out[COUNT]), flags[ROOM]), ints_in(frame, KEYS),
        ints_in(frame, LAW_CLASSES), floats_in(frame, COEFFICIENTS), floats_in(frame, PLANE_NORMAL), floats_in(frame, NO_WISHES), bodies,
        points, normals, ids, centre, velocity, rate, cut(memory_out, constraints_at + k, WIDTH * flags[ROOM]), which, wrenches, rows_of,
    )  # fmt: skip
    friction, before = cut(rows_of, 0, 3 * n), cut(rows_of, 3 * n + 3 * wide, wide)
    free, guess = cut(rows_of, 3 * n + 4 * wide, wide), cut(rows_of, 3 * n + 5 * wide, wide)
    # contacts in velocities in which masses are one
    LayBlocks(
        frame[LAY_BLOCKS], part(table, spots, OF_BODY), part(table, spots, FIRST), ints_in(frame, FRONT_ROWS),
        part(table, spots, CONSTRAINT_ISLANDS), bodies, width, rows, islands, start, place,
    )  # fmt: skip
    roots, changed, A = floats_in(frame, ROOTS), floats_in(frame, CHANGE), cut(room, top, place[blocks] + 1)
    if size > 0:
        BeginRoots(frame[BEGIN_ROOTS], layout, ints, work, roots)
        RootWrenches(
            frame[ROOT_WRENCHES], layout, ints, spots, table, cut(place, k, n + 1), bodies, width, wrenches, com, work, roots, A
        )  # fmt: skip
    # impulses
    facts[:] = 0.0
    if size > 0:
        made = SolveRows(
            frame[SOLVE], frame, h, start, place, islands, rows, J, b, free, gaps, begin, guess, friction, A, impulse, reached, facts
        )
        if made != MADE:
            return UNSOLVED
    # their account
    total[:] = 0.0
    sums[:] = 0.0
    for c in range(n):
        shift[c] = max(gaps[c], 0.0) / h
    Shift(frame[SHIFT], k, reached, shift, after)
    Works(frame[WORKS], flags[PUSHES], h, impulse, reached, ints_in(frame, REST), residual, speeds, before, free, after, none, total, sums)
    gained = 0.5 * min(sums[0], sums[1])
    # what overlaps
    told_out[DEEP] = -1.0
    lowest, deepest, apart, row_sizes = np.inf if flags[PUSHES] > 0 else 0.0, 0.0, 0, floats_in(frame, ROW_SIZES)
    for r in range(flags[PUSHES]):
        lowest = min(lowest, residual[r] / row_sizes[r])
    deepest = min(deepest, lowest * sizes[RADIUS])
    for c in range(n):
        deepest = min(deepest, gaps[c])
    if deepest < -OVERLAP * sizes[RADIUS]:
        if frame[PART_ALL] == 0:
            return FIRST_OVERLAP
        apart = PartOverlaps(
            frame[PART_ALL], frame, h, lowest, bodies, points, gaps, wrenches, after, reached, rows, islands, start, place, J, A, way,
            told_out,
        )  # fmt: skip
    # velocities and positions
    acts = False
    for i in range(size):
        acts = acts or impulse[i] != 0.0
    where, rate_of = part(table, spots, PLACE), 1.0 / h
    for j in range(nv if acts else 0):
        y[j] += rate_of * changed[where[j]]
    Struck(frame[STRUCK], width, bodies, cut(impulse, k, wide), part(work, layout, FLOATING))
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
    if midpoints > 0:
        Predict(frame[PREDICT], layout, ints, h if acts else 0.0, v_out, v, change, floats_in(frame, HALVES), work, next_change)
    method = NO_METHOD if not size or facts[MISSED] < 0.0 else NEWTON_METHOD if facts[STEPS] > 0.0 else WARM_METHOD
    contacts = memory_out[COUNT]
    Begin(frame[BEGIN], memory_out, part(work, layout, LEDGER), h, memory_out)
    memory_out[COUNT] = contacts  # as many rows of contacts are to be cleared
    added = gained if gained > sizes[GAIN] * sums[3] else 0.0
    Write(
        frame[WRITE], h, int(facts[STEPS]), max(facts[MISSED], 0.0), method, added, 1, flags[ROOM], width, ids, gaps,
        cut(impulse, k, wide), before, after, none, q_out, v_out, change, next_change, total, none, 0, memory_out,
    )  # fmt: skip
    memory_out[DAMPER_WORK] += 0.5 * sums[2]
    memory_out[TIME] = t + h
    copy_to(q, q_out)
    copy_to(v, v_out)
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
        if largest_of(v_out) > speed_limit:
            break
    return done
