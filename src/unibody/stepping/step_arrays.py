"""The arrays of a step's problem, each group of them filled in one go: what contacts mean as rows, what constraint rows are to reach,
right sides and laws in the order of the problem, the order of sweeps, and the account of what impulses do.
"""

from __future__ import annotations

import numpy as np

from unibody.contact.pair_laws import look_up_laws
from unibody.kernel import Floats, Ints, device, kernel
from unibody.stepping.contact_rows import fill_directions, fill_moving_rows
from unibody.stepping.memory import recall

STEERED, SOFT, MOVED, PUSHED = range(4)
"""What a constraint row asks for: C̈ with feedback; C̈ as its compliance has it; Ċ (rolling, dry friction); Ċ ≥ 0 and a gap (limits)."""


@kernel
def meet(
    width: int, spin: int, n_bodies: int, h: float, scale: float, count: int, keys: Ints, classes: Ints, coefficients: Floats,
    plane_normal: Floats, wishes: Floats, bodies: Ints, points: Floats, normals: Floats, ids: Ints, centre: Floats, velocity: Floats,
    rate: Floats, table: Floats, which_out: Ints, wrenches_out: Floats, rows_out: Floats,
) -> None:  # fmt: skip
    """Contacts that were found as rows: their laws by `keys` of pairs and `classes` of shapes, wrenches, and one after the other as
    `row_parts` has them friction by its `coefficients` (3 a law), directions, velocities before and free, and impulses to start with, by
    the first `count` rows of the memory `table`."""
    n = which_out.size
    at, size = 3 * n + 3 * width * n, width * n
    friction, directions = rows_out[: 3 * n], rows_out[3 * n : at]
    before, free, guess = rows_out[at : at + size], rows_out[at + size : at + 2 * size], rows_out[at + 2 * size :]
    look_up_laws(bodies, ids, n_bodies, keys, classes, which_out)
    for k in range(n):
        for m in range(3):
            friction[3 * k + m] = coefficients[3 * which_out[k] + m]
    fill_directions(width, normals, plane_normal, wishes, directions)
    fill_moving_rows(width, spin, bodies, points, directions, centre, velocity, rate, h, wrenches_out, before, free)
    guess[:] = 0.0
    if count > 0:
        recall(scale, count, table, ids, width, guess)


def row_parts(numbers: np.ndarray, n: int, w: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of n contacts of w rows: friction (n, 3), directions (n, w, 3), velocities before and free (n, w), impulses to start with (n, w)."""
    at, size = 3 * n + 3 * w * n, w * n
    return (
        numbers[: 3 * n].reshape(n, 3), numbers[3 * n : at].reshape(n, w, 3), numbers[at : at + size].reshape(n, w),
        numbers[at + size : at + 2 * size].reshape(n, w), numbers[at + 2 * size :].reshape(n, w),
    )  # fmt: skip


@kernel
def fill_targets(
    role: Ints, h: float, k_v: float, k_q: float, close: float, residual: Floats, rate: Floats, acceleration: Floats, b_out: Floats
) -> None:
    """b of the constraint rows; close ≥ 0: at an instant, at which limits farther away, or parting faster, ask for nothing (infinite)."""
    for r in range(role.size):
        a = h * acceleration[r]
        if role[r] == STEERED:
            b_out[r] = h * (acceleration[r] + k_v * rate[r] + k_q * residual[r])
        elif role[r] == SOFT:
            b_out[r] = a
        elif role[r] == MOVED:
            b_out[r] = rate[r] + a
        elif close < 0.0:
            b_out[r] = rate[r] + a + max(residual[r], 0.0) / h
        else:
            b_out[r] = np.inf if residual[r] > close or rate[r] > close else a


@kernel
def lay_problem(
    width: int, push: int, h: float, b: Floats, u: Floats, shift: Floats, begin: Floats, guess: Floats, bound: Floats, had: Floats,
    friction: Floats, stick: Floats, right_out: Floats, warm_out: Floats, lower_out: Floats, upper_out: Floats, friction_out: Floats,
) -> None:  # fmt: skip
    """Right sides, impulses to start with and laws: the constraint rows (the first `push` one-sided, the others within h times their
    `bound`, less what they `had` of it), then contacts with `shift` added to their normal velocities and friction times how they `stick`;
    begin, had, stick may be empty for 0, 0 and 1."""
    k = b.size
    for r in range(k):
        right_out[r] = b[r]
        warm_out[r] = begin[r] if begin.size > 0 else 0.0
        lower_out[r] = 0.0
        upper_out[r] = np.inf
        if r >= push:
            most, done = bound[r - push] * h, had[r - push] if had.size > 0 else 0.0
            lower_out[r] = -most - done
            upper_out[r] = most - done
        for m in range(3):
            friction_out[3 * r + m] = 0.0
    for i in range(u.size):
        right_out[k + i] = u[i]
        warm_out[k + i] = guess[i]
    for c in range(shift.size):
        right_out[k + width * c] += shift[c]
        lower_out[k + c] = 0.0
        upper_out[k + c] = np.inf
        times = stick[c] if stick.size > 0 else 1.0
        for m in range(3):
            friction_out[3 * (k + c) + m] = friction[3 * c + m] * times


@kernel
def without_shift(first: int, velocity: Floats, shift: Floats, after_out: Floats) -> None:
    """The velocities of contacts, from `first` on, without what their law adds to normals."""
    width = after_out.size // max(shift.size, 1)
    for k in range(shift.size):
        for r in range(width):
            after_out[width * k + r] = velocity[first + width * k + r] - (shift[k] if r == 0 else 0.0)


@device
def digit_of(bits, turn):
    """The eight bits number `turn` of the bits of a float, such that floats are in order if these are, the last ones first."""
    key = bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)
    return (key >> 56) + 128 if turn == 7 else (key >> (8 * turn)) & 255


@kernel
def order_upwards(first: int, up: Floats, points: Floats, order_out: Ints) -> None:
    """0 … first − 1, then the points by their heights, first + their numbers; of the same height as they come. By counting, eight bits of
    the heights at a time."""
    n = points.size // 3
    height = np.empty(n)
    one, two = np.empty(n, np.int64), np.empty(n, np.int64)
    bits, start = height.view(np.int64), np.zeros(8 * 257, np.int64)
    for i in range(n):
        height[i] = points[3 * i] * up[0] + points[3 * i + 1] * up[1] + points[3 * i + 2] * up[2] + 0.0
        one[i] = i
        for turn in range(8):
            start[257 * turn + digit_of(bits[i], turn) + 1] += 1
    for turn in range(8):
        at = 257 * turn
        if n == 0 or start[at + digit_of(bits[0], turn) + 1] == n:
            continue
        for d in range(256):
            start[at + d + 1] += start[at + d]
        for i in range(n):
            d = at + digit_of(bits[one[i]], turn)
            two[start[d]] = one[i]
            start[d] += 1
        one, two = two, one
    for i in range(first):
        order_out[i] = i
    for i in range(n):
        order_out[first + i] = first + one[i]


@kernel
def add_works(
    push: int, h: float, impulse: Floats, velocity: Floats, rest: Ints, residual: Floats, rate: Floats, before: Floats, free: Floats,
    after: Floats, turn: Floats, total_out: Floats, sums_out: Floats,
) -> None:  # fmt: skip
    """Twice the work of the impulses of contacts: on the motion that nothing holds, on the one before; of all rows over the step; and what
    contacts turn over. Impulses act at the beginning of the step, and do their work on the velocities there: without what they have from
    its middle (`turn`, or nothing). Impulses of the `rest` of the constraint rows come first, and go to their places in total."""
    k = rest.size
    for r in range(k):
        row = rest[r]
        reached = velocity[r] - (max(residual[row], 0.0) / h if r < push else 0.0)
        total_out[row] = impulse[r]
        sums_out[2] += impulse[r] * (rate[row] + reached)
    for i in range(before.size):
        x, more = impulse[k + i], turn[i] if turn.size > 0 else 0.0
        began, ended = free[i] - more, after[i] - more
        sums_out[0] += x * (began + ended)
        sums_out[1] += x * (2.0 * before[i] + ended - began)
        sums_out[2] += x * (before[i] + ended)
        sums_out[3] += abs(x * began)
