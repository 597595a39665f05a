"""Numeric factorisation and solution, supernode by supernode.

    front(s) = entries of the matrix in its columns  +  updates of its children, row by row where they stand in it
    L(s), update(s) = partial Cholesky factorisation of the front                                                      `front`

Columns of L are kept, (columns + rows below) numbers each; an update is a lower triangle by columns on a stack. A matrix that is not
positive definite ends at the first pivot that is not positive.

    L y = b:  from children to parents,    Lᵀ x = y:  from parents to children

One right side takes L four rows at a time, several take four right sides at a time.
"""

from __future__ import annotations

from unibody.algebra.supernodal.front import factor_front, front_stride
from unibody.kernel import Floats, Ints, device, long_kernel
from unibody.triple import fetch_four, minus, plus, put_four, spread_four, total_four


@long_kernel
def factor(
    column_first: Ints, lower_first: Ints, factor_at: Ints, update_at: Ints, child: Ints, sibling: Ints, relative: Ints, entry_first: Ints,
    source: Ints, target: Ints, values: Floats, stack_out: Floats, packed_out: Floats, front_out: Floats, factor_out: Floats,
) -> int:  # fmt: skip
    """L of a matrix given by the values of its entries; −1, or the place of the first pivot that is not positive."""
    for s in range(column_first.size - 1):
        width = column_first[s + 1] - column_first[s]
        below = lower_first[s + 1] - lower_first[s]
        n = width + below
        stride = front_stride(n)
        for j in range(n):
            for i in range(j, stride):
                front_out[stride * j + i] = 0.0
        # entries of the matrix
        for k in range(entry_first[s], entry_first[s + 1]):
            front_out[target[k]] += values[source[k]]
        # updates of the children
        c = child[s]
        while c >= 0:
            at = update_at[c]
            for j in range(lower_first[c], lower_first[c + 1]):
                column = stride * relative[j]
                for i in range(j, lower_first[c + 1]):
                    front_out[column + relative[i]] += stack_out[at]
                    at += 1
            c = sibling[c]
        bad = factor_front(n, width, stride, packed_out, front_out)
        if bad >= 0:
            return column_first[s] + bad
        # columns to keep, and the update
        at = factor_at[s]
        for j in range(width):
            for i in range(j, n):
                factor_out[at + n * j + i] = front_out[stride * j + i]
        at = update_at[s]
        for j in range(width, n):
            for i in range(j, n):
                stack_out[at] = front_out[stride * j + i]
                at += 1
    return -1


@device
def dot_column(factor, at, count, work):
    """column · work, in eight sums"""
    a, b = spread_four(0.0), spread_four(0.0)
    whole = count - count % 8
    for i in range(0, whole, 8):
        a = plus(a, fetch_four(factor, at + i), fetch_four(work, i))
        b = plus(b, fetch_four(factor, at + i + 4), fetch_four(work, i + 4))
    s = total_four(a + b)
    for i in range(whole, count):
        s = plus(s, factor[at + i], work[i])
    return s


@long_kernel
def solve_one(
    column_first: Ints, lower_first: Ints, lower: Ints, factor_at: Ints, order: Ints, factor: Floats, b: Floats, work_out: Floats,
    y_out: Floats, x_out: Floats,
) -> None:  # fmt: skip
    """x of L Lᵀ x = b; unknown order[k] has place k. `y` holds as many numbers as b, `work` as many as a front has rows."""
    for k in range(order.size):
        y_out[k] = b[order[k]]
    # L y = b
    for s in range(column_first.size - 1):
        low = column_first[s]
        width = column_first[s + 1] - low
        below = lower_first[s + 1] - lower_first[s]
        n = width + below
        for i in range(width):
            work_out[i] = y_out[low + i]
        for i in range(width, n):
            work_out[i] = 0.0
        for j in range(width):
            at = factor_at[s] + n * j
            f = work_out[j] / factor[at + j]
            y_out[low + j] = f
            for i in range(j + 1, n):
                work_out[i] -= f * factor[at + i]
        for i in range(below):
            y_out[lower[lower_first[s] + i]] += work_out[width + i]
    # Lᵀ x = y
    for s in range(column_first.size - 2, -1, -1):
        low = column_first[s]
        width = column_first[s + 1] - low
        below = lower_first[s + 1] - lower_first[s]
        n = width + below
        for i in range(below):
            work_out[i] = y_out[lower[lower_first[s] + i]]
        for j in range(width - 1, -1, -1):
            at = factor_at[s] + n * j
            f = y_out[low + j] - dot_column(factor, at + width, below, work_out)
            for i in range(j + 1, width):
                f -= factor[at + i] * y_out[low + i]
            y_out[low + j] = f / factor[at + j]
    for k in range(order.size):
        x_out[order[k]] = y_out[k]


@long_kernel
def solve_four(
    column_first: Ints, lower_first: Ints, lower: Ints, factor_at: Ints, order: Ints, factor: Floats, b: Floats, work_out: Floats,
    y_out: Floats, x_out: Floats,
) -> None:  # fmt: skip
    """X of L Lᵀ X = B with four right sides, four numbers per unknown; scratch as in `solve_one`, four times as much."""
    for k in range(order.size):
        put_four(fetch_four(b, 4 * order[k]), 4 * k, y_out)
    # L Y = B
    for s in range(column_first.size - 1):
        low = column_first[s]
        width = column_first[s + 1] - low
        below = lower_first[s + 1] - lower_first[s]
        n = width + below
        for i in range(4 * width):
            work_out[i] = y_out[4 * low + i]
        for i in range(4 * width, 4 * n):
            work_out[i] = 0.0
        for j in range(width):
            at = factor_at[s] + n * j
            f = fetch_four(work_out, 4 * j) * (1.0 / factor[at + j])
            put_four(f, 4 * (low + j), y_out)
            for i in range(j + 1, n):
                put_four(minus(fetch_four(work_out, 4 * i), factor[at + i], f), 4 * i, work_out)
        for i in range(below):
            k = 4 * lower[lower_first[s] + i]
            put_four(fetch_four(y_out, k) + fetch_four(work_out, 4 * (width + i)), k, y_out)
    # Lᵀ X = Y
    for s in range(column_first.size - 2, -1, -1):
        low = column_first[s]
        width = column_first[s + 1] - low
        n = width + lower_first[s + 1] - lower_first[s]
        for i in range(width, n):
            put_four(fetch_four(y_out, 4 * lower[lower_first[s] + i - width]), 4 * i, work_out)
        for j in range(width - 1, -1, -1):
            at = factor_at[s] + n * j
            f = fetch_four(y_out, 4 * (low + j))
            for i in range(j + 1, n):
                f = minus(f, factor[at + i], fetch_four(work_out, 4 * i))
            f = f * (1.0 / factor[at + j])
            put_four(f, 4 * j, work_out)
            put_four(f, 4 * (low + j), y_out)
    for k in range(order.size):
        put_four(fetch_four(y_out, 4 * k), 4 * order[k], x_out)
