"""The small dense system of the auxiliary constraints: A = K M⁻¹ Kᵀ from the responses, and its solution where rows may be redundant.

A is scaled by the response of free bodies and factored by Cholesky, the largest pivot first; where a pivot gets small, rows may repeat each
other and the minimum-norm least-squares solution of `unibody.algebra.saddle.auxiliary` takes over. The choice, the factor and the rank
stay for further right sides.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from unibody.algebra.dense import solve_cholesky
from unibody.algebra.saddle.auxiliary import solve_semidefinite
from unibody.arrays import largest_of
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import dot3, load3

REDUNDANT, REDUNDANT_AT_MOST = 1e-11, 1e-6
"""Rows whose own response, beside those of the rows before, is below this part of that of free bodies count as repeated."""

DOUBTFUL = 1e3
"""Pivots above this many tolerances are beyond doubt; below, eigenvalues decide."""

BLUR = 100.0
"""Where constraints are violated by e (a part of their size), rows that repeat each other seem to differ by angles of order e: responses up
to BLUR e² of that of free bodies say nothing (between the two limits above)."""


@device
def rank_tolerance(violation):
    """The tolerance of the rank at these violations."""
    largest = largest_of(violation)
    return min(max(REDUNDANT, BLUR * largest * largest), REDUNDANT_AT_MOST)


def closure_size(k: int) -> int:
    """Numbers of memory for k rows: a flag, the tolerance, scales, reference, factor, null space, scratch, the order of pivots; last
    the largest violation there was."""
    return 3 + 2 * k + 2 * k * k + 4 * k


def closure_null(closure: np.ndarray, k: int, rank: int) -> np.ndarray:
    """An orthonormal basis (k − rank, k) of the null space at the last solution."""
    start = 2 + 2 * k + k * k
    return np.array(closure[start : start + k * (k - rank)]).reshape(k - rank, k)


@kernel
def close_rows(
    width: int, row_start: Ints, row_entry: Ints, place: Ints, dof_start: Ints, dof_index: Ints, entries: Floats, J: Floats,
    compliance: Floats, response_x: Floats, response_y: Floats, nv: int, gram_out: Floats,
) -> None:  # fmt: skip
    """A[r, s] = row r applied to the response to row s, made symmetric; compliance on the diagonal.

    Entry e has `width` numbers and meets each response at place[e] (−1: a body that does not move); joint velocities meet `response_y`, nv
    a row.
    """
    count = row_start.size - 1
    nx = response_x.size // count
    for r in range(count):
        for s in range(count):
            total = 0.0
            for k in range(row_start[r], row_start[r + 1]):
                e = row_entry[k]
                if place[e] >= 0:
                    for m in range(width):
                        total += entries[width * e + m] * response_x[nx * s + place[e] + m]
            for k in range(dof_start[r], dof_start[r + 1]):
                total += J[dof_index[2 * k]] * response_y[nv * s + dof_index[2 * k + 1]]
            gram_out[count * r + s] = total
    for r in range(count):
        gram_out[count * r + r] += compliance[r]
        for s in range(r):
            mean = 0.5 * (gram_out[count * r + s] + gram_out[count * s + r])
            gram_out[count * r + s] = mean
            gram_out[count * s + r] = mean


@kernel
def fill_reference(row_start: Ints, row_entry: Ints, entry_body: Ints, entries: Floats, masses: Floats, closure_out: Floats) -> None:
    """What each diagonal of A would be for free bodies: rows far below it are implied by the tree. `masses`: 1/m and 3/trace J a body.

    `entries` are 6 wide."""
    count = row_start.size - 1
    for r in range(count):
        total = 0.0
        for k in range(row_start[r], row_start[r + 1]):
            e = row_entry[k]
            t = load3(entries, 6 * e)
            f = load3(entries, 6 * e + 3)
            total += dot3(f, f) * masses[2 * entry_body[e]] + dot3(t, t) * masses[2 * entry_body[e] + 1]
        closure_out[2 + count + r] = total


@device
def pivoted_cholesky(k, gram, closure_out):
    """P Â Pᵀ = Uᵀ U of the scaled A, largest diagonal first, into the closure's memory; False where a pivot says that rows repeat
    others."""
    factor = 2 + 2 * k
    order = factor + 2 * k * k + 3 * k
    # scale by the response of free bodies: Â = D A D
    for i in range(k):
        if not gram[k * i + i] > closure_out[1] * closure_out[2 + k + i]:
            return False
        closure_out[2 + i] = 1.0 / sqrt(closure_out[2 + k + i])
        closure_out[order + i] = i
    for i in range(k):
        for j in range(k):
            closure_out[factor + k * i + j] = gram[k * i + j] * closure_out[2 + i] * closure_out[2 + j]
    for p in range(k):
        # the largest diagonal that is left comes next: exchange rows and columns
        best = p
        for i in range(p + 1, k):
            if closure_out[factor + k * i + i] > closure_out[factor + k * best + best]:
                best = i
        if best != p:
            swap = closure_out[order + p]
            closure_out[order + p] = closure_out[order + best]
            closure_out[order + best] = swap
            for j in range(k):
                swap = closure_out[factor + k * p + j]
                closure_out[factor + k * p + j] = closure_out[factor + k * best + j]
                closure_out[factor + k * best + j] = swap
            for i in range(k):
                swap = closure_out[factor + k * i + p]
                closure_out[factor + k * i + p] = closure_out[factor + k * i + best]
                closure_out[factor + k * i + best] = swap
        # a small pivot says that this row may repeat those before
        d = closure_out[factor + k * p + p]
        if not d > DOUBTFUL * closure_out[1]:
            return False
        # row p of U, and what it takes from the rest
        inverse = 1.0 / sqrt(d)
        for j in range(p, k):
            closure_out[factor + k * p + j] *= inverse
        for i in range(p + 1, k):
            u = closure_out[factor + k * p + i]
            for j in range(p + 1, k):
                closure_out[factor + k * i + j] -= u * closure_out[factor + k * p + j]
    return True


@kernel
def solve_closure(gram: Floats, target: Floats, violation: Floats, closure_out: Floats, multiplier_out: Floats, rank_out: Floats) -> None:
    """Factor A and solve A μ = target; the closure's memory keeps the factor, rank_out[0] the rank."""
    k = target.size
    for i in range(k):
        if closure_out[2 + k + i] == 0.0:  # a row of joint coordinates alone: its own response is the measure
            closure_out[2 + k + i] = gram[k * i + i] if gram[k * i + i] > 0.0 else 1.0
    closure_out[1] = rank_tolerance(violation)
    closure_out[closure_out.size - 1] = largest_of(violation)
    closure_out[0] = 1.0 if pivoted_cholesky(k, gram, closure_out) else 0.0
    solve_closure_again(gram, target, closure_out, multiplier_out, rank_out)


@kernel
def solve_closure_again(gram: Floats, target: Floats, closure_out: Floats, multiplier_out: Floats, rank_out: Floats) -> None:
    """Another right side with the factor at hand."""
    k = target.size
    factor = 2 + 2 * k
    null = factor + k * k
    scratch = null + k * k
    if closure_out[0] == 1.0:
        order = scratch + 3 * k
        for i in range(k):
            at = int(closure_out[order + i])
            closure_out[scratch + i] = target[at] * closure_out[2 + at]
        solve_cholesky(k, closure_out[factor:null], closure_out[scratch : scratch + k])
        for i in range(k):
            at = int(closure_out[order + i])
            multiplier_out[at] = closure_out[scratch + i] * closure_out[2 + at]
        rank_out[0] = k
    else:
        rank_out[0] = solve_semidefinite(
            k, gram, target, closure_out[2 + k : 2 + 2 * k], closure_out[1], multiplier_out,
            closure_out[null:scratch], closure_out[scratch : scratch + 3 * k],
        )  # fmt: skip

@kernel
def invert_closure(
    chosen: Ints, gram: Floats, violation: Floats, closure_out: Floats, multiplier_out: Floats, rank_out: Floats, inverse_out: Floats
) -> None:
    """Factor A; its inverse, or what stands for it where rows repeat others, of the `chosen` rows (count², by columns)."""
    count = chosen.size
    target = np.zeros(multiplier_out.size)
    for c in range(count):
        target[chosen[c]] = 1.0
        if c == 0:
            solve_closure(gram, target, violation, closure_out, multiplier_out, rank_out)
        else:
            solve_closure_again(gram, target, closure_out, multiplier_out, rank_out)
        target[chosen[c]] = 0.0
        for i in range(count):
            inverse_out[count * c + i] = multiplier_out[chosen[i]]


FEEDBACK_STEPS = 10.0
"""The default time of the feedback, in steps."""


def feedback_gains(dt: float, time: float | None, k_v: float | None = None, k_q: float | None = None) -> tuple[float, float]:
    """k_v, k_q of C̈ = −k_v Ċ − k_q C: critically damped within `time` (None: FEEDBACK_STEPS steps) unless given; 0 for an infinite dt."""
    if np.isinf(dt):
        return 0.0, 0.0
    time = FEEDBACK_STEPS * dt if time is None else time
    k_q = 1.0 / time**2 if k_q is None else k_q
    return 2.0 * float(np.sqrt(k_q)) if k_v is None else k_v, k_q
