"""6-vectors and symmetric 6×6 blocks as tuples of scalars, for kernels.

A 6-vector is a tuple of 6; a symmetric block, or the factor of one, is its lower triangle by rows, a tuple of 21:
(00, 10, 11, 20, 21, 22, …). A factor A = L d Lᵀ keeps 1/d where L has its unit diagonal. In these forms a block never
touches memory between its load and its store, which is what makes small algebra fast in compiled kernels.
"""

from __future__ import annotations

from unibody.kernel import device

TINY = 1e-14
"""A pivot below this fraction of its diagonal entry is round-off."""


@device
def offset(k):
    """k, which is not negative: the mask lets the compiler see it and drop the wrap-around of negative indices."""
    return k & 0x7FFFFFFFFFFF


@device
def load6(x, at):
    return (x[at], x[at + 1], x[at + 2], x[at + 3], x[at + 4], x[at + 5])


@device
def store6(a, at, x_out):
    x_out[at], x_out[at + 1], x_out[at + 2] = a[0], a[1], a[2]
    x_out[at + 3], x_out[at + 4], x_out[at + 5] = a[3], a[4], a[5]


@device
def load21(x, at):
    return (
        x[at],
        x[at + 1], x[at + 2],
        x[at + 3], x[at + 4], x[at + 5],
        x[at + 6], x[at + 7], x[at + 8], x[at + 9],
        x[at + 10], x[at + 11], x[at + 12], x[at + 13], x[at + 14],
        x[at + 15], x[at + 16], x[at + 17], x[at + 18], x[at + 19], x[at + 20],
    )  # fmt: skip


@device
def store21(a, at, x_out):
    x_out[at] = a[0]
    x_out[at + 1], x_out[at + 2] = a[1], a[2]
    x_out[at + 3], x_out[at + 4], x_out[at + 5] = a[3], a[4], a[5]
    x_out[at + 6], x_out[at + 7], x_out[at + 8], x_out[at + 9] = a[6], a[7], a[8], a[9]
    x_out[at + 10], x_out[at + 11], x_out[at + 12], x_out[at + 13] = a[10], a[11], a[12], a[13]
    x_out[at + 14], x_out[at + 15], x_out[at + 16], x_out[at + 17] = a[14], a[15], a[16], a[17]
    x_out[at + 18], x_out[at + 19], x_out[at + 20] = a[18], a[19], a[20]


@device
def lower6(M, at):
    """The lower triangle of the full row-major block at `at`."""
    return (
        M[at],
        M[at + 6], M[at + 7],
        M[at + 12], M[at + 13], M[at + 14],
        M[at + 18], M[at + 19], M[at + 20], M[at + 21],
        M[at + 24], M[at + 25], M[at + 26], M[at + 27], M[at + 28],
        M[at + 30], M[at + 31], M[at + 32], M[at + 33], M[at + 34], M[at + 35],
    )  # fmt: skip


@device
def dot6(a, b):
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])


@device
def add6(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@device
def add_scaled6(a, s, b):
    """a + s b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3], a[4] + s * b[4], a[5] + s * b[5])


@device
def add_outer6(A, s, y):
    """A + s y yᵀ."""
    t0, t1, t2, t3, t4, t5 = s * y[0], s * y[1], s * y[2], s * y[3], s * y[4], s * y[5]
    return (
        A[0] + t0 * y[0],
        A[1] + t1 * y[0], A[2] + t1 * y[1],
        A[3] + t2 * y[0], A[4] + t2 * y[1], A[5] + t2 * y[2],
        A[6] + t3 * y[0], A[7] + t3 * y[1], A[8] + t3 * y[2], A[9] + t3 * y[3],
        A[10] + t4 * y[0], A[11] + t4 * y[1], A[12] + t4 * y[2], A[13] + t4 * y[3], A[14] + t4 * y[4],
        A[15] + t5 * y[0], A[16] + t5 * y[1], A[17] + t5 * y[2], A[18] + t5 * y[3], A[19] + t5 * y[4],
        A[20] + t5 * y[5],
    )  # fmt: skip


@device
def pivot_pair(a00, a10, a11):
    """1/d0, 1/d1 and the determinant d0 d1 of a 2×2 block: the two divisions do not wait for each other."""
    determinant = a00 * a11 - a10 * a10
    return 1.0 / a00, a00 / determinant, determinant


@device
def ldl3(A):
    """A = L d Lᵀ, and whether every pivot is positive beyond round-off; L is of no use if not."""
    a00, a10, a11, a20, a21, a22 = A
    i0, i1, d01 = pivot_pair(a00, a10, a11)
    l10, l20 = a10 * i0, a20 * i0
    a21, a22 = a21 - l20 * a10, a22 - l20 * a20
    l21 = a21 * i1
    a22 -= l21 * a21
    i2 = 1.0 / a22
    sound = a00 > TINY * A[0] and d01 > TINY * a00 * A[2]
    sound = sound and a22 > TINY * A[5]
    return (i0, l10, i1, l20, l21, i2), sound


@device
def ldl5(A):
    """A = L d Lᵀ, and whether every pivot is positive beyond round-off; L is of no use if not."""
    a00, a10, a11, a20, a21, a22, a30, a31, a32, a33, a40, a41, a42, a43, a44 = A
    i0, i1, d01 = pivot_pair(a00, a10, a11)
    l10, l20, l30, l40 = a10 * i0, a20 * i0, a30 * i0, a40 * i0
    a21, a22 = a21 - l20 * a10, a22 - l20 * a20
    a31, a32, a33 = a31 - l30 * a10, a32 - l30 * a20, a33 - l30 * a30
    a41, a42, a43, a44 = a41 - l40 * a10, a42 - l40 * a20, a43 - l40 * a30, a44 - l40 * a40
    l21, l31, l41 = a21 * i1, a31 * i1, a41 * i1
    a22 -= l21 * a21
    a32, a33 = a32 - l31 * a21, a33 - l31 * a31
    a42, a43, a44 = a42 - l41 * a21, a43 - l41 * a31, a44 - l41 * a41
    i2, i3, d23 = pivot_pair(a22, a32, a33)
    l32, l42 = a32 * i2, a42 * i2
    a43, a44 = a43 - l42 * a32, a44 - l42 * a42
    l43 = a43 * i3
    a44 -= l43 * a43
    i4 = 1.0 / a44
    sound = a00 > TINY * A[0] and d01 > TINY * a00 * A[2]
    sound = sound and a22 > TINY * A[5] and d23 > TINY * a22 * A[9]
    sound = sound and a44 > TINY * A[14]
    return (i0, l10, i1, l20, l21, i2, l30, l31, l32, i3, l40, l41, l42, l43, i4), sound


@device
def ldl6(A):
    """A = L d Lᵀ, and whether every pivot is positive beyond round-off; L is of no use if not."""
    (a00, a10, a11, a20, a21, a22, a30, a31, a32, a33, a40, a41, a42, a43, a44, a50, a51, a52, a53, a54, a55) = A
    i0, i1, d01 = pivot_pair(a00, a10, a11)
    l10, l20, l30, l40, l50 = a10 * i0, a20 * i0, a30 * i0, a40 * i0, a50 * i0
    a21, a22 = a21 - l20 * a10, a22 - l20 * a20
    a31, a32, a33 = a31 - l30 * a10, a32 - l30 * a20, a33 - l30 * a30
    a41, a42, a43, a44 = a41 - l40 * a10, a42 - l40 * a20, a43 - l40 * a30, a44 - l40 * a40
    a51, a52, a53, a54 = a51 - l50 * a10, a52 - l50 * a20, a53 - l50 * a30, a54 - l50 * a40
    a55 -= l50 * a50
    l21, l31, l41, l51 = a21 * i1, a31 * i1, a41 * i1, a51 * i1
    a22 -= l21 * a21
    a32, a33 = a32 - l31 * a21, a33 - l31 * a31
    a42, a43, a44 = a42 - l41 * a21, a43 - l41 * a31, a44 - l41 * a41
    a52, a53, a54, a55 = a52 - l51 * a21, a53 - l51 * a31, a54 - l51 * a41, a55 - l51 * a51
    i2, i3, d23 = pivot_pair(a22, a32, a33)
    l32, l42, l52 = a32 * i2, a42 * i2, a52 * i2
    a43, a44 = a43 - l42 * a32, a44 - l42 * a42
    a53, a54, a55 = a53 - l52 * a32, a54 - l52 * a42, a55 - l52 * a52
    l43, l53 = a43 * i3, a53 * i3
    a44 -= l43 * a43
    a54, a55 = a54 - l53 * a43, a55 - l53 * a53
    i4, i5, d45 = pivot_pair(a44, a54, a55)
    l54 = a54 * i4
    sound = a00 > TINY * A[0] and d01 > TINY * a00 * A[2]
    sound = sound and a22 > TINY * A[5] and d23 > TINY * a22 * A[9]
    sound = sound and a44 > TINY * A[14] and d45 > TINY * a44 * A[20]
    L = (i0, l10, i1, l20, l21, i2, l30, l31, l32, i3, l40, l41, l42, l43, i4, l50, l51, l52, l53, l54, i5)
    return L, sound


@device
def solve_lower6(L, x):
    """L⁻¹ x."""
    x0 = x[0]
    x1 = x[1] - L[1] * x0
    x2 = x[2] - L[3] * x0 - L[4] * x1
    x3 = x[3] - L[6] * x0 - L[7] * x1 - L[8] * x2
    x4 = x[4] - L[10] * x0 - L[11] * x1 - L[12] * x2 - L[13] * x3
    x5 = x[5] - L[15] * x0 - L[16] * x1 - L[17] * x2 - L[18] * x3 - L[19] * x4
    return (x0, x1, x2, x3, x4, x5)


@device
def solve_upper6(L, x):
    """L⁻ᵀ x."""
    x5 = x[5]
    x4 = x[4] - L[19] * x5
    x3 = x[3] - L[18] * x5 - L[13] * x4
    x2 = x[2] - L[17] * x5 - L[12] * x4 - L[8] * x3
    x1 = x[1] - L[16] * x5 - L[11] * x4 - L[7] * x3 - L[4] * x2
    x0 = x[0] - L[15] * x5 - L[10] * x4 - L[6] * x3 - L[3] * x2 - L[1] * x1
    return (x0, x1, x2, x3, x4, x5)


@device
def over_pivots6(L, x):
    """d⁻¹ x."""
    return (x[0] * L[0], x[1] * L[2], x[2] * L[5], x[3] * L[9], x[4] * L[14], x[5] * L[20])
