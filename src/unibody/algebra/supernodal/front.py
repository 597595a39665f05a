"""Partial Cholesky factorisation of a dense symmetric matrix, a *front*, in one thread and with the same bits on every run.

    F = [F₁₁ F₂₁ᵀ]        F₁₁ = L₁₁ L₁₁ᵀ,   L₂₁ = F₂₁ L₁₁⁻ᵀ,   U = F₂₂ − L₂₁ L₂₁ᵀ
        [F₂₁ F₂₂ ]

Columns are contiguous, `stride` numbers apart, and only the lower triangle counts. Pivots are taken twelve at a time within panels of 96:
a block of twelve columns changes its panel only, a whole panel the rest of the front. Every change is a sum of products A Bᵀ of *slivers*,
twelve rows of a panel packed column after column; one tile of 12×4 numbers stays in registers while it is summed. Sums run over pivots in
their order whatever the sizes, so there is no decision by threads or by the address of an array.

A sliver may reach eleven rows beyond the front, and a tile three columns: those hold zeros, so a front needs `front_size` numbers.
"""

from __future__ import annotations

from math import sqrt

from unibody.kernel import device, inlined
from unibody.triple import fetch_four, minus, plus, put_four, spread_four

TALL, WIDE, PANEL = 12, 4, 96
"""Rows of a sliver, columns of a tile, pivots of a panel."""


@device
def front_stride(n):
    """Numbers from one column to the next; not a multiple of 64, whose columns would share few lines of the cache."""
    stride = 4 * ((n + TALL + 2) // 4)
    return stride + 4 if stride % 64 == 0 else stride


@device
def front_size(n):
    return front_stride(n) * (n + WIDE)


@device
def packed_size(n):
    """Numbers of the slivers of a panel, and of a tile's columns that are put aside."""
    return (n + TALL) * PANEL + TALL * WIDE


@inlined
def subtract_tile(packed, a, b, depth, at, stride, F_out):
    """F (12×4, at `at`) −= A Bᵀ: A the sliver at `a`, B four rows of the one at `b`."""
    zero = spread_four(0.0)
    c00, c10, c20, c01, c11, c21 = zero, zero, zero, zero, zero, zero
    c02, c12, c22, c03, c13, c23 = zero, zero, zero, zero, zero, zero
    for _ in range(depth):
        x, y, z = fetch_four(packed, a), fetch_four(packed, a + 4), fetch_four(packed, a + 8)
        f = packed[b]
        c00, c10, c20 = plus(c00, f, x), plus(c10, f, y), plus(c20, f, z)
        f = packed[b + 1]
        c01, c11, c21 = plus(c01, f, x), plus(c11, f, y), plus(c21, f, z)
        f = packed[b + 2]
        c02, c12, c22 = plus(c02, f, x), plus(c12, f, y), plus(c22, f, z)
        f = packed[b + 3]
        c03, c13, c23 = plus(c03, f, x), plus(c13, f, y), plus(c23, f, z)
        a += TALL
        b += TALL
    put_four(fetch_four(F_out, at) - c00, at, F_out)
    put_four(fetch_four(F_out, at + 4) - c10, at + 4, F_out)
    put_four(fetch_four(F_out, at + 8) - c20, at + 8, F_out)
    at += stride
    put_four(fetch_four(F_out, at) - c01, at, F_out)
    put_four(fetch_four(F_out, at + 4) - c11, at + 4, F_out)
    put_four(fetch_four(F_out, at + 8) - c21, at + 8, F_out)
    at += stride
    put_four(fetch_four(F_out, at) - c02, at, F_out)
    put_four(fetch_four(F_out, at + 4) - c12, at + 4, F_out)
    put_four(fetch_four(F_out, at + 8) - c22, at + 8, F_out)
    at += stride
    put_four(fetch_four(F_out, at) - c03, at, F_out)
    put_four(fetch_four(F_out, at + 4) - c13, at + 4, F_out)
    put_four(fetch_four(F_out, at + 8) - c23, at + 8, F_out)


@device
def update_columns(first, end, n, depth, stride, packed_out, F_out):
    """Columns first … end of F −= L Lᵀ, L the slivers of rows first … n, `depth` columns each. A tile that reaches beyond `end` gives the
    columns there back."""
    aside = packed_out.size - TALL * WIDE
    slivers = (n - first + TALL - 1) // TALL
    for s in range(slivers):
        for t in range(s + 1):
            for q in range(TALL // WIDE):
                row, column = first + TALL * s, first + TALL * t + WIDE * q
                if column >= end:
                    break
                at = row + stride * column
                kept = max(0, column + WIDE - end) if end < n else 0
                for j in range(WIDE - kept, WIDE):
                    for i in range(TALL):
                        packed_out[aside + TALL * j + i] = F_out[at + stride * j + i]
                subtract_tile(packed_out, TALL * depth * s, TALL * depth * t + WIDE * q, depth, at, stride, F_out)
                for j in range(WIDE - kept, WIDE):
                    for i in range(TALL):
                        F_out[at + stride * j + i] = packed_out[aside + TALL * j + i]


@device
def factor_diagonal(first, width, stride, F_out):
    """L₁₁ of a block on the diagonal; −1, or the first column whose pivot is not positive."""
    for j in range(first, first + width):
        column = stride * j
        pivot = F_out[column + j]
        for l in range(first, j):
            pivot -= F_out[stride * l + j] * F_out[stride * l + j]
        if not pivot > 0.0:
            return j
        pivot = sqrt(pivot)
        F_out[column + j] = pivot
        for l in range(first, j):
            f = F_out[stride * l + j]
            for i in range(j + 1, first + width):
                F_out[column + i] -= F_out[stride * l + i] * f
        for i in range(j + 1, first + width):
            F_out[column + i] /= pivot
    return -1


@device
def solve_slivers(first, width, n, stride, packed_out, F_out):
    """L₂₁ = F₂₁ L₁₁⁻ᵀ of a block of columns, into F and packed in slivers of the rows below it."""
    below = first + width
    for s in range((n - below + TALL - 1) // TALL):
        base = TALL * width * s
        row = below + TALL * s
        for j in range(width):
            at = stride * (first + j) + row
            x, y, z = fetch_four(F_out, at), fetch_four(F_out, at + 4), fetch_four(F_out, at + 8)
            for l in range(j):
                f, b = F_out[stride * (first + l) + first + j], base + TALL * l
                x = minus(x, f, fetch_four(packed_out, b))
                y = minus(y, f, fetch_four(packed_out, b + 4))
                z = minus(z, f, fetch_four(packed_out, b + 8))
            f = 1.0 / F_out[stride * (first + j) + first + j]
            x, y, z = x * f, y * f, z * f
            put_four(x, at, F_out)
            put_four(y, at + 4, F_out)
            put_four(z, at + 8, F_out)
            b = base + TALL * j
            put_four(x, b, packed_out)
            put_four(y, b + 4, packed_out)
            put_four(z, b + 8, packed_out)


@device
def pack_slivers(first, width, below, n, stride, F, packed_out):
    """Rows below … n of the columns from `first` on as slivers."""
    for s in range((n - below + TALL - 1) // TALL):
        for j in range(width):
            at, b = stride * (first + j) + below + TALL * s, TALL * (width * s + j)
            put_four(fetch_four(F, at), b, packed_out)
            put_four(fetch_four(F, at + 4), b + 4, packed_out)
            put_four(fetch_four(F, at + 8), b + 8, packed_out)


@device
def factor_front(n, pivots, stride, packed_out, F_out):
    """L₁₁, L₂₁ and U over F (n×n, of which the first columns are pivots); −1, or the first column whose pivot is not positive."""
    for begin in range(0, pivots, PANEL):
        end = min(begin + PANEL, pivots)
        for first in range(begin, end, TALL):
            width = min(TALL, end - first)
            bad = factor_diagonal(first, width, stride, F_out)
            if bad >= 0:
                return bad
            solve_slivers(first, width, n, stride, packed_out, F_out)
            update_columns(first + width, end, n, width, stride, packed_out, F_out)
        # the rest of the front; the slivers of a single block are still there
        if end < n:
            if end - begin > TALL:
                pack_slivers(begin, end - begin, end, n, stride, F_out, packed_out)
            update_columns(end, n, n, end - begin, stride, packed_out, F_out)
    return -1
