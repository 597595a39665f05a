"""Impulses of few contacts within compiled steps (`compiled_step`): their rows solved, what they do, and what overlaps.

u = W λ + b,     W = J M⁻¹ Jᵀ,     the laws of `impulses` on u and λ
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact.depenetration import DEPENETRATION_SLOTS, ROW_RECORD
from unibody.algebra.contact.newton import CONVERGED as SOLVED
from unibody.algebra.contact.newton import RESIDUAL as MISSED
from unibody.algebra.contact.newton import STEPS
from unibody.algebra.contact.problem import COULOMB
from unibody.arena import part
from unibody.coordinates.reduced.workspace import FLOATING
from unibody.coordinates.workspace import RESIDUAL
from unibody.frame import floats_in, ints_in
from unibody.kernel import Floats, Ints, cut, kernel, prototype_of
from unibody.stepping.islands import ALONE, FIRST

from unibody.solvers.complementarity.compiled_layout import (  # isort: skip
    ADD_UP, AGILE, AddUp, BODIES, BOUND, CLIP, COM, Clip, DEEP, DEEPEST, DENSE, DEPTH, Dense, FLAGS, GATHER, Gather, INTS, LAW, LAYOUT,
    LAY_PROBLEM, LEAVE, LIGHT, LayProblem, Leave, MADE, NEWTON, Newton, ONE, OTHER, PART, PUSH, PUSHES, PUSH_ALL, Part, Push, RADII,
    RADIUS, ROOM_INTS, ROOM_ROWS, ROW_WIDTH, SIZES, SPOTS, SPREAD, Spread, TABLE, TAKE, TIED, TOLERANCE, TOUCHED, Touched, UNANSWERED,
    UNSOLVED, UP, UPWARDS, Upwards, WORK,
)  # fmt: skip
from unibody.stepping.impulses import FACE_FAILURES, FACE_STEPS


@kernel
def take_blocks(
    taken: Ints, start: Ints, place: Ints, islands: Ints, rows: Ints, lower: Floats, upper: Floats, friction: Floats, right: Floats,
    warm: Floats, ints_out: Ints, floats_out: Floats,
) -> int:  # fmt: skip
    """The blocks that are taken, one kind of array after the other: of `ints_out` start, place (one more than there are), rows, islands; of
    `floats_out` bounds below and above, friction, right sides, impulses to start with. How many."""
    blocks, size, at = taken.size, right.size, 0
    top = 0
    for k in range(blocks):
        if taken[k] == 0:
            continue
        ints_out[at], ints_out[blocks + 1 + at], ints_out[2 * blocks + 2 + at] = top, place[k], rows[k]
        ints_out[3 * blocks + 2 + 2 * at], ints_out[3 * blocks + 3 + 2 * at] = islands[2 * k], islands[2 * k + 1]
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
    frame: Ints, h: float, responded: bool, start: Ints, place: Ints, islands: Ints, rows: Ints, J: Floats, Y: Floats, b: Floats,
    free: Floats, gaps: Floats, begin: Floats, guess: Floats, friction: Floats, impulse_out: Floats, velocity_out: Floats,
    facts_out: Floats,
) -> int:  # fmt: skip
    """Impulses λ and velocities u = W λ + b of all rows by Newton's method, from those of the last step: MADE, UNSOLVED, or UNANSWERED
    where Y of the constraint rows is needed but not known (`responded`). Of facts: see `algebra.contact.newton`; a residual below
    zero where nothing acts.

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
        count = TakeBlocks(frame[TAKE], taken, start, place, islands, rows, lower, upper, coefficients, right, warm, some, numbers)
        m = some[count]
        W, x, u = cut(room, top, m * m), cut(room, top + m * m, m), cut(room, top + m * m + m, m)
        its_start, its_place = cut(some, 0, count + 1), cut(some, blocks + 1, count + 1)
        its_rows, its_islands = cut(some, 2 * blocks + 2, count), cut(some, 3 * blocks + 2, 2 * count)
        its_friction = cut(numbers, 2 * blocks, 3 * count)
        Dense(frame[DENSE], first, its_islands, its_start, its_place, J, Y, W)
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
        Spread(frame[SPREAD], first, its_islands, its_start, its_place, Y, x, motion)
        Gather(frame[GATHER], first, islands, start, place, J, motion, velocity_out)
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
                if i < b.size and not responded:
                    return UNANSWERED
    return MADE


SolveRows = prototype_of(solve_rows)


@kernel
def push_rows(
    frame: Ints,
    strikes: bool,
    bodies: Ints,
    wrenches: Floats,
    constraints: Floats,
    impulse: Floats,
    place: Ints,
    J: Floats,
    change_out: Floats,
) -> None:
    """M⁻¹ Jᵀ λ of impulses of the constraint rows and of contacts; `strikes`: trees that float are told which of them have some."""
    flags = ints_in(frame, FLAGS)
    on_bodies = np.zeros(6 * flags[BODIES])
    AddUp(frame[ADD_UP], flags[ROW_WIDTH], bodies, wrenches, impulse, on_bodies)
    layout, work = ints_in(frame, LAYOUT), floats_in(frame, WORK)
    Push(
        frame[PUSH], layout, ints_in(frame, INTS), ints_in(frame, SPOTS), ints_in(frame, TABLE), floats_in(frame, COM), on_bodies,
        constraints, place, J, work, change_out,
    )  # fmt: skip
    if strikes:
        Touched(frame[TOUCHED], on_bodies, part(work, layout, FLOATING))


PushRows = prototype_of(push_rows)


@kernel
def part_what_overlaps(
    frame: Ints, h: float, lowest: float, bodies: Ints, points: Floats, gaps: Floats, wrenches: Floats, after: Floats, velocity: Floats,
    rows: Ints, islands: Ints, start: Ints, place: Ints, J: Floats, Y: Floats, way_out: Floats, told_out: Floats,
) -> int:  # fmt: skip
    """Pseudo-velocities that take a part of what overlaps away (`depenetration`): 1 where there are any, 0 where nothing is to be moved;
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
    parting, numbers = np.empty(ROW_RECORD * (push + n) + first.size + 2 * DEPENETRATION_SLOTS, np.int64), np.empty(0)
    done = Part(
        frame[PART], h, width, k, 0, sizes[RADIUS], lowest, residual[:push], velocity[:push], partable, after, order, first, alone, islands,
        start, place, J, Y, parting, numbers, wish, impulse,
    )  # fmt: skip
    if done < 0:  # it has said how much room it takes
        numbers = np.empty(-done)
        done = Part(
            frame[PART], h, width, k, 0, sizes[RADIUS], lowest, residual[:push], velocity[:push], partable, after, order, first, alone,
            islands, start, place, J, Y, parting, numbers, wish, impulse,
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
