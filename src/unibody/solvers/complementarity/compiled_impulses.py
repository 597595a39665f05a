"""Impulses of few contacts within compiled steps (`compiled_step`): their rows solved, what they do, and what overlaps.

    u = W λ + b,     W = J M⁻¹ Jᵀ = A Aᵀ,     the laws of `impulses` on u and λ

A are the rows in velocities in which masses are one (`stepping.island_roots`). Of contacts it is known before; of a limit or of dry
friction it is found when that begins to act.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.block.sym6 import offset
from unibody.algebra.contact.depenetration import DEPENETRATION_SLOTS, ROW_RECORD
from unibody.algebra.contact.newton import CONVERGED as SOLVED
from unibody.algebra.contact.newton import RESIDUAL as MISSED
from unibody.algebra.contact.newton import STEPS, newton_workspace
from unibody.algebra.contact.problem import COULOMB
from unibody.arena import floats_in, ints_in, part
from unibody.arrays import copy_to
from unibody.coordinates.workspace import DOF_INDEX, DOF_START, RESIDUAL, ROW_START
from unibody.coordinates.workspace import J as NUMBERS
from unibody.kernel import Floats, Ints, cut, inlined, kernel, prototype_of
from unibody.stepping.islands import ALONE, COLUMN_OF, FIRST, PLACE

from unibody.solvers.complementarity.compiled_layout import (  # isort: skip
    AGILE, BOUND, CHANGE, CLIP, Clip, DEEP, DEEPEST, DEPTH, FLAGS, GRAM, Gram, INTS, LAW, LAYOUT, LAY_PROBLEM, LEAVE, LEAVE_ROOTS, LIGHT,
    LayProblem, Leave, LeaveRoots, MADE, NEWTON, Newton, ONE, OTHER, PART, PUSHES, Part, RADII, RADIUS, ROOM_INTS, ROOM_ROWS, ROOTS,
    ROOT_ROW, ROW_WIDTH, RootRow, SIZES, SPOTS, SPREAD, Spread, TABLE, TAKE, TIED, TOLERANCE, UNSOLVED, UP, UPWARDS, Upwards, WORK,
)  # fmt: skip
from unibody.stepping.impulses import FACE_FAILURES, FACE_STEPS
from unibody.triple import fetch_four, spread_four, total_four


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


@inlined
def along_row(A, p, rows, size, motion, at):
    """One row, whose numbers lie `rows` apart from p on, times `size` velocities."""
    found, i = 0.0, 0
    if rows == 1:  # side by side: four sums at once
        sums = spread_four(0.0)
        while i + 4 <= size:
            sums = sums + fetch_four(A, offset(p + i)) * fetch_four(motion, offset(at + i))
            i += 4
        found = total_four(sums)
    while i < size:
        found += A[offset(p + rows * i)] * motion[offset(at + i)]
        i += 1
    return found


@kernel
def reach_contacts(
    taken: Ints, known: int, first: Ints, islands: Ints, start: Ints, place: Ints, A: Floats, motion: Floats, velocity_out: Floats
) -> None:
    """Add what contacts, the blocks from `known` on, feel of the others where they are not taken: by A, in velocities in which masses are
    one."""
    for k in range(known, taken.size):
        if taken[k] == 1:
            continue
        p, rows = place[k], start[k + 1] - start[k]
        for side in range(2):
            g = islands[2 * k + side]
            if g < 0:
                continue
            size = first[g + 1] - first[g]
            for r in range(rows):
                velocity_out[start[k] + r] += along_row(A, p + r, rows, size, motion, first[g])
            p += rows * size


@kernel
def reach_limits(
    taken: Ints, known: int, row_start: Ints, dof_start: Ints, dof_index: Ints, numbers: Floats, where: Ints, first: Ints, islands: Ints,
    place: Ints, J: Floats, change: Floats, velocity_out: Floats,
) -> None:  # fmt: skip
    """The same for the constraint rows, by the change of velocities: of rows on joints alone by their own few numbers, of others by J."""
    for k in range(known):
        if taken[k] == 1:
            continue
        if row_start[k] == row_start[k + 1]:
            for e in range(dof_start[k], dof_start[k + 1]):
                velocity_out[k] += numbers[dof_index[2 * e]] * change[where[dof_index[2 * e + 1]]]
            continue
        p = place[k]
        for side in range(2):
            g = islands[2 * k + side]
            if g >= 0:
                size = first[g + 1] - first[g]
                velocity_out[k] += along_row(J, p, 1, size, change, first[g])
                p += size


@kernel
def solve_rows(
    frame: Ints, h: float, start: Ints, place: Ints, islands: Ints, rows: Ints, J: Floats, b: Floats, free: Floats, gaps: Floats,
    begin: Floats, guess: Floats, friction: Floats, A_out: Floats, impulse_out: Floats, velocity_out: Floats, facts_out: Floats,
) -> int:  # fmt: skip
    """Impulses λ and velocities u = W λ + b of all rows by Newton's method, from those of the last step: MADE or UNSOLVED; CHANGE of the
    frame has what they change velocities by. Of facts: see `algebra.contact.newton`; a residual below zero where nothing acts.

    Limits and contacts that the motion without impulses keeps, and that had none in the last step, are left out at first; where the others
    would break them they are taken in, and the problem is solved again."""
    flags, sizes = ints_in(frame, FLAGS), floats_in(frame, SIZES)
    layout, system, work = ints_in(frame, LAYOUT), ints_in(frame, INTS), floats_in(frame, WORK)
    spots, table, roots, change = ints_in(frame, SPOTS), ints_in(frame, TABLE), floats_in(frame, ROOTS), floats_in(frame, CHANGE)
    first = part(table, spots, FIRST)
    n, size, blocks, nv = gaps.size, start[start.size - 1], rows.size, change.size
    # room for all arrays at once
    ints, room = ints_in(frame, ROOM_INTS), floats_in(frame, ROOM_ROWS)
    spare = newton_workspace(size, blocks)
    whole, felt = cut(ints, ints.size - spare[0], spare[0]), cut(ints, ints.size - spare[0] - nv, nv)
    top = ints.size - spare[0] - nv - 6 * blocks - 2
    taken, some = cut(ints, top, blocks), cut(ints, top + blocks, 5 * blocks + 2)
    lower, upper, coefficients, top = cut(room, 0, blocks), cut(room, blocks, blocks), cut(room, 2 * blocks, 3 * blocks), 5 * blocks
    numbers, top = cut(room, top, 5 * blocks + 2 * size), top + 5 * blocks + 2 * size
    right, warm, top = cut(room, top, size), cut(room, top + size, size), top + 2 * size
    shift, motion, facts, top = cut(room, top, n), cut(room, top + n, nv), cut(room, top + n + nv, 3), top + n + nv + 3
    more, top, none = cut(room, top, spare[1]), top + spare[1], cut(room, top, 0)
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
        if acts and i < b.size:
            RootRow(
                frame[ROOT_ROW], layout, system, spots, table, place[i], islands[2 * i], islands[2 * i + 1], J, roots, work, A_out
            )  # fmt: skip
    impulse_out[:] = 0.0
    copy_to(right, velocity_out)
    change[:] = 0.0
    facts_out[MISSED], facts_out[STEPS], facts_out[SOLVED] = -1.0, 0.0, 1.0
    while acting > 0:
        # W = A Aᵀ of what acts, and its impulses
        count = TakeBlocks(frame[TAKE], taken, start, place, islands, rows, lower, upper, coefficients, right, warm, some, numbers)
        m = some[count]
        W, x, u = cut(room, top, m * m), cut(room, top + m * m, m), cut(room, top + m * m + m, m)
        its_start, its_place = cut(some, 0, count + 1), cut(some, blocks + 1, count + 1)
        its_rows, its_islands = cut(some, 2 * blocks + 2, count), cut(some, 3 * blocks + 2, 2 * count)
        its_friction = cut(numbers, 2 * blocks, 3 * count)
        Gram(frame[GRAM], first, its_islands, its_start, its_place, A_out, felt, W)
        Newton(
            frame[NEWTON], flags[LAW], sizes[TOLERANCE], FACE_STEPS, FACE_FAILURES, its_rows, cut(numbers, 0, count),
            cut(numbers, blocks, count), its_friction, W, cut(numbers, 5 * blocks, m), cut(numbers, 5 * blocks + size, m), whole, more, x,
            u, facts,
        )  # fmt: skip
        facts_out[MISSED], facts_out[SOLVED] = facts[MISSED], facts[SOLVED]
        facts_out[STEPS] += facts[STEPS]
        if not facts[SOLVED] > 0.0:
            return UNSOLVED
        if facts[STEPS] > 0.0:
            Clip(frame[CLIP], its_rows, its_friction, x)
        # all velocities, and who was wrongly left out
        motion[:] = 0.0
        Spread(frame[SPREAD], first, its_islands, its_start, its_place, A_out, x, motion)
        copy_to(motion, change)
        LeaveRoots(frame[LEAVE_ROOTS], layout, system, spots, table, roots, work, change)
        copy_to(right, velocity_out)
        reach_contacts(taken, b.size, first, islands, start, place, A_out, motion, velocity_out)
        reach_limits(
            taken, b.size, part(system, layout, ROW_START), part(system, layout, DOF_START), part(system, layout, DOF_INDEX),
            part(work, layout, NUMBERS), part(table, spots, PLACE), first, islands, place, J, change, velocity_out,
        )  # fmt: skip
        # impulses to their rows; what would be broken takes part in the next round
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
                if i < b.size:
                    RootRow(
                        frame[ROOT_ROW], layout, system, spots, table, place[i], islands[2 * i], islands[2 * i + 1], J, roots, work, A_out
                    )  # fmt: skip
    return MADE


SolveRows = prototype_of(solve_rows)


@kernel
def part_what_overlaps(
    frame: Ints, h: float, lowest: float, bodies: Ints, points: Floats, gaps: Floats, wrenches: Floats, after: Floats, velocity: Floats,
    rows: Ints, islands: Ints, start: Ints, place: Ints, J: Floats, A_out: Floats, way_out: Floats, told_out: Floats,
) -> int:  # fmt: skip
    """Pseudo-velocities that take a part of what overlaps away (`depenetration`): 1 where there are any, 0 where nothing is to be moved;
    `lowest`: the least residual of limits, in terms of its row's size."""
    flags, sizes = ints_in(frame, FLAGS), floats_in(frame, SIZES)
    layout, work = ints_in(frame, LAYOUT), floats_in(frame, WORK)
    push, k, n, width = flags[PUSHES], rows.size - gaps.size, gaps.size, flags[ROW_WIDTH]
    residual, spots, table = part(work, layout, RESIDUAL), ints_in(frame, SPOTS), ints_in(frame, TABLE)
    # where something overlaps all limits stand in its way
    system, roots = ints_in(frame, INTS), floats_in(frame, ROOTS)
    for r in range(k):
        RootRow(frame[ROOT_ROW], layout, system, spots, table, place[r], islands[2 * r], islands[2 * r + 1], J, roots, work, A_out)
    # what joints do not hold
    separable = np.empty(n)
    found = Leave(
        frame[LEAVE], width, k, sizes[DEEPEST], gaps, bodies, wrenches, floats_in(frame, RADII), ints_in(frame, TIED),
        floats_in(frame, LIGHT), floats_in(frame, AGILE), rows, place, A_out, A_out, separable,
    )  # fmt: skip
    if found >= 0:
        worst = found // 2
        told_out[DEEP], told_out[DEPTH] = found, -gaps[worst]
        told_out[ONE], told_out[OTHER] = bodies[2 * worst], bodies[2 * worst + 1]
    # impulses of the rows that overlap, normals alone
    first, alone = part(table, spots, FIRST), part(table, spots, ALONE)
    order, wish, impulse = np.empty(k + n, np.int64), np.empty(push + n), np.empty(push + n)
    Upwards(frame[UPWARDS], k, floats_in(frame, UP), points, order)
    parting, numbers = np.empty(ROW_RECORD * (push + n) + first.size + 2 * DEPENETRATION_SLOTS, np.int64), np.empty(0)
    done = Part(
        frame[PART], h, width, k, 0, sizes[RADIUS], lowest, residual[:push], velocity[:push], separable, after, order, first, alone,
        islands, start, place, A_out, A_out, parting, numbers, wish, impulse,
    )  # fmt: skip
    if done < 0:  # it has said how much room it takes
        numbers = np.empty(-done)
        done = Part(
            frame[PART], h, width, k, 0, sizes[RADIUS], lowest, residual[:push], velocity[:push], separable, after, order, first, alone,
            islands, start, place, A_out, A_out, parting, numbers, wish, impulse,
        )  # fmt: skip
    if done == 0:
        return 0
    # what they do
    every, motion, column = np.zeros(start[start.size - 1]), np.zeros(way_out.size), part(table, spots, COLUMN_OF)
    for r in range(push):
        every[r] = impulse[r]
    for c in range(n):
        every[k + width * c] = impulse[push + c]
    Spread(frame[SPREAD], first, islands, start, place, A_out, every, motion)
    LeaveRoots(frame[LEAVE_ROOTS], layout, system, spots, table, roots, work, motion)
    for v in range(motion.size):
        way_out[column[v]] = motion[v]
    return 1


PartOverlaps = prototype_of(part_what_overlaps)
