"""Depenetration: single rows that may only push, 0 ≤ λ ⟂ W λ + b ≥ 0, by projected Gauss–Seidel with Nesterov's acceleration (`pgs`).

Rows are packed once, one after the other as sweeps meet them, J and Y of each side by side (where masses are unit they are one), scaled
by √d, d = J · Y, so that the row's own response is one (x = λ √d), the velocities of its islands padded with zeros as in `pgs_layout`. With
û = b̂ + J m a row is then x ← max(0, x − û). Sweeps end where none has changed a velocity by more than the tolerance.
"""

from __future__ import annotations

import math

from unibody.algebra.contact.pgs import extrapolate, nesterov_momentum
from unibody.algebra.contact.pgs_layout import add_row, dot_row, lay_slot, padded, prefetch_block
from unibody.arena import part
from unibody.kernel import Floats, Ints, device, inlined, kernel
from unibody.triple import fetch_four, join_four, put_four, total_four

ROW_RECORD = 7
DATA, FIRST, FIRST_PLACES, SECOND, SECOND_PLACES, ROW, SPLIT = range(ROW_RECORD)
"""A row's record: where it is packed; where its islands begin in m, and their places there; which row it is; how far Y is from J."""
B, ROOT, ROW_J = 0, 1, 4
"""Of what is packed: b̂; √d; J, and then Y where it is another."""
AHEAD = 6
"""So many rows before it is packed, the cache is asked for a row."""
DEPENETRATION_SLOTS = 6
PACKED, X, LAST, MOTION, MOTION_LAST, FACTS = range(DEPENETRATION_SLOTS)
"""Rows; x and the last one; motions likewise; what a sweep tells."""


@device
def lay_out_rows(pushes, origin, order, first, unit, islands, begin_out, record_out):
    """Where rows are packed: the first `pushes` blocks, and the first rows of those from `origin` on. How many numbers it takes."""
    begin_out[0] = 0
    for g in range(first.size - 1):
        begin_out[g + 1] = begin_out[g] + padded(first[g + 1] - first[g])
    at, c = 0, 0
    for turn in range(order.size):
        k = order[turn]
        if pushes <= k < origin:
            continue
        record_out[c + DATA], record_out[c + ROW] = at, k if k < pushes else k - origin + pushes
        n, same = 0, True
        for side in range(2):
            g = islands[2 * k + side]
            size = padded(first[g + 1] - first[g]) if g >= 0 else 0
            record_out[c + FIRST + 2 * side], record_out[c + FIRST_PLACES + 2 * side] = begin_out[g] if g >= 0 else 0, size
            same = same and (g < 0 or unit[g] == 1)
            n += size
        record_out[c + SPLIT] = 0 if same else n
        at += ROW_J + n + record_out[c + SPLIT]
        c += ROW_RECORD
    return at


@inlined
def copy_row(A, old, rows, size, to, packed_out):
    """One row, one island: numbers that lie `rows` apart, in the places that velocities have in m."""
    step, i = 3 if size == 6 else 4, 0
    while i < size:
        have = min(step, size - i)
        f, g, h, e = A[old], 0.0, 0.0, 0.0
        if have > 1:
            g = A[old + rows]
        if have > 2:
            h = A[old + 2 * rows]
        if have > 3:
            e = A[old + 3 * rows]
        put_four(join_four(f, g, h, e), to, packed_out)
        i += have
        to += 4
        old += have * rows


@inlined
def pack(old, rows, size_a, size_b, split, b, J, Y, p, packed_out):
    """A row: numbers that lie `rows` apart from `old` on."""
    one, n, to = padded(size_a), padded(size_a) + padded(size_b), p + ROW_J
    copy_row(J, old, rows, size_a, to, packed_out)
    copy_row(J, old + rows * size_a, rows, size_b, to + one, packed_out)
    if split > 0:
        copy_row(Y, old, rows, size_a, to + split, packed_out)
        copy_row(Y, old + rows * size_a, rows, size_b, to + split + one, packed_out)
    d = total_four(dot_row(packed_out, to, packed_out, to + split, n))
    root = math.sqrt(d) if d > 1e-300 else 0.0
    scale = 1.0 / root if root > 0.0 else 0.0
    packed_out[p + B], packed_out[p + ROOT] = b * scale, root
    for q in range(to, to + split + n, 4):
        put_four(fetch_four(packed_out, q) * scale, q, packed_out)


@kernel
def sweep_rows(
    beta: float, record: Ints, packed: Floats, motion_out: Floats, x_out: Floats, last_out: Floats, facts_out: Floats
) -> float:
    """One sweep over all rows, each of which is first extrapolated by β: ‖Δx‖². `last`: what they were, and become x. facts: the largest
    change of a velocity, and Δx · (x⁺ − x)."""
    change, fastest, agreement = 0.0, 0.0, 0.0
    for k in range(x_out.size):
        c = ROW_RECORD * k
        p, i, one, l, two = record[c + DATA], record[c + FIRST], record[c + FIRST_PLACES], record[c + SECOND], record[c + SECOND_PLACES]
        q = p + ROW_J
        u = packed[p + B] + total_four(dot_row(packed, q, motion_out, i, one) + dot_row(packed, q + one, motion_out, l, two))
        was = x_out[k]
        y = was + beta * (was - last_out[k]) if beta > 0.0 else was
        x = max(y - u, 0.0)
        x_out[k], last_out[k] = x, was
        d = x - y
        if d == 0.0:
            continue
        change += d * d
        agreement += d * (x - was)
        fastest = max(fastest, abs(d) * packed[p + ROOT])
        q += record[c + SPLIT]
        add_row(packed, q, d, i, one, motion_out)
        add_row(packed, q + one, d, l, two, motion_out)
    facts_out[0], facts_out[1] = fastest, agreement
    return change


@kernel
def depenetrate_rows(
    pushes: int, origin: int, most: int, tolerance: float, order: Ints, first: Ints, unit: Ints, islands: Ints, start: Ints, place: Ints,
    J: Floats, Y: Floats, b: Floats, ints_out: Ints, work_out: Floats, impulse_out: Floats,
) -> int:  # fmt: skip
    """λ of the first `pushes` blocks, which are single rows, and of the first rows of the blocks from `origin` on, of all blocks in their
    order, by at most so many sweeps: how many. Where there is too little to work on, minus the number of floats that it takes."""
    count, ends = b.size, ROW_RECORD * b.size + first.size
    record, begin = ints_out[: ROW_RECORD * count], ints_out[ROW_RECORD * count : ends]
    layout = ints_out[ends : ends + 2 * DEPENETRATION_SLOTS]
    # the workspace
    lay_slot(PACKED, lay_out_rows(pushes, origin, order, first, unit, islands, begin, record), layout)
    for slot in range(X, MOTION):
        lay_slot(slot, count, layout)
    for slot in range(MOTION, FACTS):
        lay_slot(slot, begin[first.size - 1], layout)
    lay_slot(FACTS, 2, layout)
    if work_out.size < layout[2 * FACTS + 1]:
        return -layout[2 * FACTS + 1]
    packed, facts = part(work_out, layout, PACKED), part(work_out, layout, FACTS)
    x, last = part(work_out, layout, X), part(work_out, layout, LAST)
    motion, motion_last = part(work_out, layout, MOTION), part(work_out, layout, MOTION_LAST)
    # rows packed and scaled
    for l in range(count):
        row = record[ROW_RECORD * l + ROW]
        k = row if row < pushes else row + origin - pushes
        if l + AHEAD < count:
            row_ahead = record[ROW_RECORD * (l + AHEAD) + ROW]
            ahead = row_ahead if row_ahead < pushes else row_ahead + origin - pushes
            prefetch_block(place[ahead], place[ahead + 1], record[ROW_RECORD * (l + AHEAD) + SPLIT] == 0, J, Y)
        g, h = islands[2 * k], islands[2 * k + 1]
        size_a = first[g + 1] - first[g] if g >= 0 else 0
        size_b = first[h + 1] - first[h] if h >= 0 else 0
        rows, split = start[k + 1] - start[k], record[ROW_RECORD * l + SPLIT]
        pack(place[k], rows, size_a, size_b, split, b[row], J, Y, record[ROW_RECORD * l + DATA], packed)
    # accelerated sweeps from no impulses
    x[:] = 0.0
    motion[:] = 0.0
    done, smallest, speed, size, beta = 0, math.inf, 1.0, 0.0, 0.0
    while done < most:
        if done > 0:
            smallest, speed, beta = nesterov_momentum(size, facts[1], smallest, speed)
        extrapolate(beta, motion, motion_last)
        size = sweep_rows(beta, record, packed, motion, x, last, facts)
        done += 1
        if facts[0] <= tolerance:
            break
    # λ = x / √d
    for l in range(count):
        root = packed[record[ROW_RECORD * l + DATA] + ROOT]
        impulse_out[record[ROW_RECORD * l + ROW]] = x[l] / root if root > 0.0 else 0.0
    return done
