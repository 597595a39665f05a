"""The workspace of block Gauss–Seidel: how blocks of rows are laid out for sweeps, and the two products that a sweep makes of a block.

    û = b̂ + J m      (`block_velocity`),          m ← m + Y d      (`apply_impulse`)

Blocks lie in the order in which sweeps meet them, each with a record of whole numbers. Nearly all have three rows or one, on free bodies,
that is islands of six velocities. For these both products are straight lines over triples (`unibody.triple`). Where masses are unit
(`DelassusFactors.unit`), Y is J: there is J alone, row by row, and a sweep reads half as much, which in large piles is what it waits for.
Of other blocks on bodies J lies velocity by velocity, so that one velocity moves three rows at once, Y row by row, so that one row moves
three velocities at once. General blocks have J and Y row by row, the velocities of each island padded with zeros as in m, and go over
fours.

Islands of six take eight places of m, the fourth and the eighth being padding, so that triples of one body never overlap in memory; others
take as many fours as they need. What is left in the padding is finite, and nothing reads it. Arrays that triples are fetched from (b, and J
of blocks on bodies) have one number more than they need.

The workspace itself stays from call to call (`Scratch`): memory that is asked for anew at every step comes in pages that the system has to
clear, which costs more than the sweeps of a large pile. Its slots (`unibody.arena`) begin at multiples of four numbers.
"""

from __future__ import annotations

import threading

import numpy as np

from unibody.algebra.contact.local_solve import TABLE
from unibody.kernel import Ints, device, inlined, kernel, prefetch
from unibody.triple import fetch, fetch_four, plus, put, put_four, spread_four, sums, total, total_four, totals, x_of, y_of, z_of

RECORD = 8
ROW, DATA, ROWS, STORAGE, FIRST, FIRST_SIZE, SECOND, SECOND_SIZE = range(RECORD)
"""A block's record: where its rows begin, and its numbers of J; its rows; how these are stored; where its islands begin in m, and their
sizes, 0 for none."""
GENERAL, BODIES, UNIT_BODIES = range(3)
"""Storage: islands of any sizes; bodies, with J and Y; bodies of unit mass, with J alone."""

AXES = 9
"""Numbers of a block's axes (3×3, as columns)."""

SLOTS = 14
J_OWN, Y_OWN, TABLES, AXES_OWN, B_OWN, D_OWN, X, LAST, BEST, MOTION, MOTION_LAST, MOTION_BEST, MOTION_FREE, MOVED = range(SLOTS)
"""The workspace: J, Y, b and D, scaled; tables and axes; x, the last one and the best one; motions m likewise, and one to work in; the best
motion without padding."""

LINE = 8
"""Numbers in a line of the cache."""


class Scratch(threading.local):
    """Arrays that a thread's kernels work in; their numbers mean nothing before a call or after it."""

    def __init__(self) -> None:
        self.floats, self.ints = aligned(1024, np.float64), aligned(256, np.int64)

    def reserve(self, floats: int, ints: int) -> None:
        """Be at least so large."""
        if self.floats.size < floats:
            self.floats = aligned(floats + floats // 4, np.float64)
        if self.ints.size < ints:
            self.ints = aligned(ints + ints // 4, np.int64)


def aligned(size: int, dtype: type) -> np.ndarray:
    """So many numbers from the beginning of a line on."""
    whole = np.empty(size + LINE, dtype)
    shift = -(whole.ctypes.data // 8) % LINE
    return whole[shift : shift + size]


scratch = Scratch()


@device
def lay_slot(slot, size, layout_out):
    """The slot begins after the one before."""
    begin = (layout_out[2 * slot - 1] + 3) // 4 * 4 if slot > 0 else 0
    layout_out[2 * slot] = begin
    layout_out[2 * slot + 1] = begin + size


@device
def lay_out_workspace(numbers, count, rows, places, velocities, layout_out):
    """Where the slots begin; how many floats they are in all."""
    lay_slot(J_OWN, numbers + 4, layout_out)
    lay_slot(Y_OWN, numbers + 4, layout_out)
    lay_slot(TABLES, TABLE * count, layout_out)
    lay_slot(AXES_OWN, AXES * count, layout_out)
    lay_slot(B_OWN, rows + 1, layout_out)
    for slot in range(D_OWN, MOTION):
        lay_slot(slot, rows, layout_out)
    for slot in range(MOTION, MOVED):
        lay_slot(slot, places, layout_out)
    lay_slot(MOVED, velocities, layout_out)
    return layout_out[2 * MOVED + 1]


@inlined
def padded(size):
    """Places that an island takes in m."""
    return 8 if size == 6 else (size + 3) // 4 * 4


@inlined
def padding(size, i):
    """Places of padding before velocity i of an island."""
    return 1 if size == 6 and i >= 3 else 0


@inlined
def row_length(c, record):
    """Numbers of a row of J or Y that lies row by row."""
    one, two = record[c + FIRST_SIZE], record[c + SECOND_SIZE]
    return one + two if record[c + STORAGE] != GENERAL else padded(one) + padded(two)


@device
def stored(c, record):
    """How many numbers of J a block takes: fours, so that the next one begins with one."""
    return (record[c + ROWS] * row_length(c, record) + 3) // 4 * 4


@kernel
def lay_out_blocks(order: Ints, first: Ints, unit: Ints, islands: Ints, start: Ints, begin_out: Ints, record_out: Ints) -> int:
    """The records of all blocks in the given order, and where each island begins in m; how many places m has."""
    begin_out[0] = 0
    for g in range(first.size - 1):
        begin_out[g + 1] = begin_out[g] + padded(first[g + 1] - first[g])
    at, place = 0, 0
    for turn in range(order.size):
        k, c = order[turn], RECORD * turn
        rows = start[k + 1] - start[k]
        a, b = islands[2 * k], islands[2 * k + 1]
        if a < 0:
            a, b = b, a
        record_out[c + ROW], record_out[c + DATA], record_out[c + ROWS] = at, place, rows
        size_a = first[a + 1] - first[a] if a >= 0 else 0
        size_b = first[b + 1] - first[b] if b >= 0 else 0
        on_bodies = (rows == 3 or rows == 1) and size_a == 6 and (size_b == 6 or size_b == 0)
        unit_mass = on_bodies and unit[a] == 1 and (b < 0 or unit[b] == 1)
        record_out[c + STORAGE] = UNIT_BODIES if unit_mass else (BODIES if on_bodies else GENERAL)
        record_out[c + FIRST], record_out[c + FIRST_SIZE] = begin_out[a] if a >= 0 else 0, size_a
        record_out[c + SECOND], record_out[c + SECOND_SIZE] = begin_out[b] if b >= 0 else 0, size_b
        at += rows
        place += stored(c, record_out)
    return begin_out[first.size - 1]


@inlined
def prefetch_block(begin, end, unit, J, Y):
    """Ask the cache for a block's numbers as `DelassusFactors` has them, before they are needed; of unit masses for J alone."""
    for q in range(begin, end, 8):
        prefetch(J, q)
    if not unit:
        for q in range(begin, end, 8):
            prefetch(Y, q)


@inlined
def three_rows(J, p, m, i):
    """J m of three rows, one body."""
    one = plus(plus(fetch(J, p) * m[i], fetch(J, p + 3), m[i + 1]), fetch(J, p + 6), m[i + 2])
    two = plus(plus(fetch(J, p + 9) * m[i + 4], fetch(J, p + 12), m[i + 5]), fetch(J, p + 15), m[i + 6])
    return one + two


@inlined
def one_row(J, p, m, i):
    """J m of one row, one body, as a triple whose total it is."""
    return plus(fetch(J, p) * fetch(m, i), fetch(J, p + 3), fetch(m, i + 4))


@inlined
def three_rows_by_row(J, p, n, m, i):
    """J m of three rows, one body, as triples whose totals they are; n: how many numbers a row has."""
    v, w = fetch(m, i), fetch(m, i + 4)
    x, y = plus(fetch(J, p) * v, fetch(J, p + 3), w), plus(fetch(J, p + n) * v, fetch(J, p + n + 3), w)
    return x, y, plus(fetch(J, p + n + n) * v, fetch(J, p + n + n + 3), w)


@inlined
def body_velocity(c, record, J, b, m):
    """û of the rows of a block on bodies, zeros where it has fewer than four."""
    at, p, i = record[c + ROW], record[c + DATA], record[c + FIRST]
    if record[c + ROWS] == 3 and record[c + STORAGE] == UNIT_BODIES:
        n = 6 + record[c + SECOND_SIZE]
        x, y, z = three_rows_by_row(J, p, n, m, i)
        if n > 6:
            f, g, h = three_rows_by_row(J, p + 6, n, m, record[c + SECOND])
            x, y, z = x + f, y + g, z + h
        u = sums(x, y, z) + fetch(b, at)
        return x_of(u), y_of(u), z_of(u), 0.0
    if record[c + ROWS] == 3:
        u = three_rows(J, p, m, i) + fetch(b, at)
        if record[c + SECOND_SIZE] > 0:
            u = u + three_rows(J, p + 18, m, record[c + SECOND])
        return x_of(u), y_of(u), z_of(u), 0.0
    w = one_row(J, p, m, i)
    if record[c + SECOND_SIZE] > 0:
        w = w + one_row(J, p + 6, m, record[c + SECOND])
    return x_of(fetch(b, at)) + total(w), 0.0, 0.0, 0.0


@inlined
def dot_row(J, p, m, i, size):
    """J m of one row, one island, as a four whose total it is; size: places of the island."""
    s = spread_four(0.0)
    for l in range(0, size, 4):
        s = plus(s, fetch_four(J, p + l), fetch_four(m, i + l))
    return s


@inlined
def dot_rows(J, p, n, m, i, size):
    """J m of three rows, one island, as fours whose totals they are; n: how many numbers a row has."""
    x, y, z = spread_four(0.0), spread_four(0.0), spread_four(0.0)
    for q in range(p, p + size, 4):
        v = fetch_four(m, i + q - p)
        x, y, z = plus(x, fetch_four(J, q), v), plus(y, fetch_four(J, q + n), v), plus(z, fetch_four(J, q + n + n), v)
    return x, y, z


@inlined
def general_velocity(c, record, J, b, m):
    """û of the rows of a general block."""
    at, p, i, k = record[c + ROW], record[c + DATA], record[c + FIRST], record[c + SECOND]
    one, two = padded(record[c + FIRST_SIZE]), padded(record[c + SECOND_SIZE])
    if record[c + ROWS] == 3:
        x, y, z = dot_rows(J, p, one + two, m, i, one)
        f, g, h = dot_rows(J, p + one, one + two, m, k, two)
        u = totals(x + f, y + g, z + h) + fetch(b, at)
        return x_of(u), y_of(u), z_of(u), 0.0
    if record[c + ROWS] == 1:
        return b[at] + total_four(dot_row(J, p, m, i, one) + dot_row(J, p + one, m, k, two)), 0.0, 0.0, 0.0
    return two_or_four_rows(c, record, J, b, m)


@device
def two_or_four_rows(c, record, J, b, m):
    """û of a general block of two or four rows."""
    at, p, i, k = record[c + ROW], record[c + DATA], record[c + FIRST], record[c + SECOND]
    one, two = padded(record[c + FIRST_SIZE]), padded(record[c + SECOND_SIZE])
    u0, u1, u2, u3 = b[at], b[at + 1], 0.0, 0.0
    for r in range(record[c + ROWS]):
        u = total_four(dot_row(J, p, m, i, one) + dot_row(J, p + one, m, k, two))
        p += one + two
        if r == 0:
            u0 += u
        elif r == 1:
            u1 += u
        elif r == 2:
            u2 = b[at + 2] + u
        else:
            u3 = b[at + 3] + u
    return u0, u1, u2, u3


@inlined
def add_three_rows(Y, p, n, d0, d1, d2, i, m_out):
    """m += Y d of three rows, one body; n: how many numbers a row has."""
    put(plus(plus(plus(fetch(m_out, i), d0, fetch(Y, p)), d1, fetch(Y, p + n)), d2, fetch(Y, p + n + n)), i, m_out)
    p += 3
    put(plus(plus(plus(fetch(m_out, i + 4), d0, fetch(Y, p)), d1, fetch(Y, p + n)), d2, fetch(Y, p + n + n)), i + 4, m_out)


@inlined
def add_one_row(Y, p, d, i, m_out):
    """m += Y d of one row, one body."""
    put(plus(fetch(m_out, i), d, fetch(Y, p)), i, m_out)
    put(plus(fetch(m_out, i + 4), d, fetch(Y, p + 3)), i + 4, m_out)


@inlined
def apply_to_bodies(c, record, Y, d0, d1, d2, m_out):
    """m += Y d of a block on bodies."""
    p, i, n = record[c + DATA], record[c + FIRST], 6 + record[c + SECOND_SIZE]
    if record[c + ROWS] == 3:
        add_three_rows(Y, p, n, d0, d1, d2, i, m_out)
        if n > 6:
            add_three_rows(Y, p + 6, n, d0, d1, d2, record[c + SECOND], m_out)
        return
    add_one_row(Y, p, d0, i, m_out)
    if n > 6:
        add_one_row(Y, p + 6, d0, record[c + SECOND], m_out)


@inlined
def add_row(Y, p, d, i, size, m_out):
    """m += Y d of one row, one island."""
    for l in range(0, size, 4):
        put_four(plus(fetch_four(m_out, i + l), d, fetch_four(Y, p + l)), i + l, m_out)


@inlined
def add_rows(Y, p, n, d0, d1, d2, i, size, m_out):
    """m += Y d of three rows, one island."""
    for q in range(p, p + size, 4):
        m = plus(plus(fetch_four(m_out, i), d0, fetch_four(Y, q)), d1, fetch_four(Y, q + n))
        put_four(plus(m, d2, fetch_four(Y, q + n + n)), i, m_out)
        i += 4


@inlined
def apply_general(c, record, Y, d0, d1, d2, d3, m_out):
    """m += Y d of a general block."""
    p, rows, i, k = record[c + DATA], record[c + ROWS], record[c + FIRST], record[c + SECOND]
    one, two = padded(record[c + FIRST_SIZE]), padded(record[c + SECOND_SIZE])
    if rows == 3:
        add_rows(Y, p, one + two, d0, d1, d2, i, one, m_out)
        add_rows(Y, p + one, one + two, d0, d1, d2, k, two, m_out)
        return
    d = d0
    for r in range(rows):
        add_row(Y, p, d, i, one, m_out)
        add_row(Y, p + one, d, k, two, m_out)
        p += one + two
        d = d1 if r == 0 else (d2 if r == 1 else d3)


@inlined
def block_velocity(c, record, J, b, m):
    """û of a block's rows, zeros where it has fewer than four."""
    if record[c + STORAGE] != GENERAL:
        return body_velocity(c, record, J, b, m)
    return general_velocity(c, record, J, b, m)


@inlined
def apply_impulse(c, record, J, Y, d0, d1, d2, d3, m_out):
    """m += Y d of a block."""
    if record[c + STORAGE] == UNIT_BODIES:
        apply_to_bodies(c, record, J, d0, d1, d2, m_out)
    elif record[c + STORAGE] == BODIES:
        apply_to_bodies(c, record, Y, d0, d1, d2, m_out)
    else:
        apply_general(c, record, Y, d0, d1, d2, d3, m_out)
