"""One joint of 1 … 6 rows in the tree LDLᵀ of 6-dof bodies: its elimination and its two substitutions.

The symbols and the order of the rows in a body's run of the factor are those of `tree_ldl`. Loops over rows of memory defeat the
hardware's prefetch and the pipelining of pivots, so the two commonest joints, of 5 and of 3 rows, are written out on scalars:
2.5 times as fast at 100 000 bodies. Every other count takes the loop.
"""

from __future__ import annotations

from unibody.algebra.blocks6 import (
    TINY,
    add_outer6,
    add_scaled6,
    dot6,
    ldl3,
    ldl5,
    load6,
    offset,
    over_pivots6,
    solve_lower6,
    store6,
)
from unibody.kernel import device


@device
def factor_joint(i, r, at, L, Gc, Gp, C, D, factor_out):
    """V, Y, Ls, 1/s into the run at `at`; D + Yᵀ s⁻¹ Y, and whether the rows are independent."""
    o6, o36, first = offset(6 * i), offset(36 * i), offset(at) + 21
    row = first
    for a in range(r):
        w = solve_lower6(L, load6(Gc, o36 + 6 * a))
        v = over_pivots6(L, w)
        y = load6(Gp, o36 + 6 * a)
        diagonal = dot6(w, v) + C[o6 + a]
        before = first
        for k in range(a):
            c = dot6(w, load6(factor_out, before))
            for j in range(k):
                c -= factor_out[before + 13 + j] * factor_out[row + 13 + j]
            factor_out[row + 13 + k] = c
            before += 13 + k
        s = diagonal
        before = first
        for k in range(a):
            c = factor_out[row + 13 + k]
            l_ak = c * factor_out[before + 12]
            factor_out[row + 13 + k] = l_ak
            s -= l_ak * c
            y = add_scaled6(y, -l_ak, load6(factor_out, before + 6))
            before += 13 + k
        if not s > TINY * diagonal:
            return D, False
        store6(v, row, factor_out)
        store6(y, row + 6, factor_out)
        factor_out[row + 12] = 1.0 / s
        D = add_outer6(D, 1.0 / s, y)
        row += 13 + a
    return D, True


@device
def factor_joint5(i, at, L, Gc, Gp, C, D, factor_out):
    """`factor_joint` for 5 rows: hinges and sliders."""
    o6, o36, at = offset(6 * i), offset(36 * i), offset(at)
    w0 = solve_lower6(L, load6(Gc, o36))
    w1 = solve_lower6(L, load6(Gc, o36 + 6))
    w2 = solve_lower6(L, load6(Gc, o36 + 12))
    w3 = solve_lower6(L, load6(Gc, o36 + 18))
    w4 = solve_lower6(L, load6(Gc, o36 + 24))
    v0 = over_pivots6(L, w0)
    v1 = over_pivots6(L, w1)
    v2 = over_pivots6(L, w2)
    v3 = over_pivots6(L, w3)
    v4 = over_pivots6(L, w4)
    S, sound = ldl5(
        (
            dot6(w0, v0) + C[o6],
            dot6(w1, v0), dot6(w1, v1) + C[o6 + 1],
            dot6(w2, v0), dot6(w2, v1), dot6(w2, v2) + C[o6 + 2],
            dot6(w3, v0), dot6(w3, v1), dot6(w3, v2), dot6(w3, v3) + C[o6 + 3],
            dot6(w4, v0), dot6(w4, v1), dot6(w4, v2), dot6(w4, v3), dot6(w4, v4) + C[o6 + 4],
        )
    )  # fmt: skip
    if not sound:
        return D, False
    y0 = load6(Gp, o36)
    y1 = load6(Gp, o36 + 6)
    y1 = add_scaled6(y1, -S[1], y0)
    y2 = load6(Gp, o36 + 12)
    y2 = add_scaled6(y2, -S[3], y0)
    y2 = add_scaled6(y2, -S[4], y1)
    y3 = load6(Gp, o36 + 18)
    y3 = add_scaled6(y3, -S[6], y0)
    y3 = add_scaled6(y3, -S[7], y1)
    y3 = add_scaled6(y3, -S[8], y2)
    y4 = load6(Gp, o36 + 24)
    y4 = add_scaled6(y4, -S[10], y0)
    y4 = add_scaled6(y4, -S[11], y1)
    y4 = add_scaled6(y4, -S[12], y2)
    y4 = add_scaled6(y4, -S[13], y3)
    store6(v0, at + 21, factor_out)
    store6(y0, at + 27, factor_out)
    factor_out[at + 33] = S[0]
    store6(v1, at + 34, factor_out)
    store6(y1, at + 40, factor_out)
    factor_out[at + 46] = S[2]
    factor_out[at + 47] = S[1]
    store6(v2, at + 48, factor_out)
    store6(y2, at + 54, factor_out)
    factor_out[at + 60] = S[5]
    factor_out[at + 61] = S[3]
    factor_out[at + 62] = S[4]
    store6(v3, at + 63, factor_out)
    store6(y3, at + 69, factor_out)
    factor_out[at + 75] = S[9]
    factor_out[at + 76] = S[6]
    factor_out[at + 77] = S[7]
    factor_out[at + 78] = S[8]
    store6(v4, at + 79, factor_out)
    store6(y4, at + 85, factor_out)
    factor_out[at + 91] = S[14]
    factor_out[at + 92] = S[10]
    factor_out[at + 93] = S[11]
    factor_out[at + 94] = S[12]
    factor_out[at + 95] = S[13]
    D = add_outer6(D, S[0], y0)
    D = add_outer6(D, S[2], y1)
    D = add_outer6(D, S[5], y2)
    D = add_outer6(D, S[9], y3)
    D = add_outer6(D, S[14], y4)
    return D, True


@device
def factor_joint3(i, at, L, Gc, Gp, C, D, factor_out):
    """`factor_joint` for 3 rows: balls and planar joints."""
    o6, o36, at = offset(6 * i), offset(36 * i), offset(at)
    w0 = solve_lower6(L, load6(Gc, o36))
    w1 = solve_lower6(L, load6(Gc, o36 + 6))
    w2 = solve_lower6(L, load6(Gc, o36 + 12))
    v0 = over_pivots6(L, w0)
    v1 = over_pivots6(L, w1)
    v2 = over_pivots6(L, w2)
    S, sound = ldl3(
        (
            dot6(w0, v0) + C[o6],
            dot6(w1, v0), dot6(w1, v1) + C[o6 + 1],
            dot6(w2, v0), dot6(w2, v1), dot6(w2, v2) + C[o6 + 2],
        )
    )  # fmt: skip
    if not sound:
        return D, False
    y0 = load6(Gp, o36)
    y1 = load6(Gp, o36 + 6)
    y1 = add_scaled6(y1, -S[1], y0)
    y2 = load6(Gp, o36 + 12)
    y2 = add_scaled6(y2, -S[3], y0)
    y2 = add_scaled6(y2, -S[4], y1)
    store6(v0, at + 21, factor_out)
    store6(y0, at + 27, factor_out)
    factor_out[at + 33] = S[0]
    store6(v1, at + 34, factor_out)
    store6(y1, at + 40, factor_out)
    factor_out[at + 46] = S[2]
    factor_out[at + 47] = S[1]
    store6(v2, at + 48, factor_out)
    store6(y2, at + 54, factor_out)
    factor_out[at + 60] = S[5]
    factor_out[at + 61] = S[3]
    factor_out[at + 62] = S[4]
    D = add_outer6(D, S[0], y0)
    D = add_outer6(D, S[2], y1)
    D = add_outer6(D, S[5], y2)
    return D, True


@device
def forward_joint(i, r, at, z, g, factor, b, lambda_out):
    """t = s⁻¹ Ls⁻¹ (b − Vᵀ z) into lambda_out; g + Yᵀ t."""
    o, first = offset(6 * i), offset(at) + 21
    row = first
    for a in range(r):
        e = b[o + a] - dot6(load6(factor, row), z)
        for k in range(a):
            e -= factor[row + 13 + k] * lambda_out[o + k]
        lambda_out[o + a] = e
        row += 13 + a
    row = first
    for a in range(r):
        t = lambda_out[o + a] * factor[row + 12]
        lambda_out[o + a] = t
        g = add_scaled6(g, t, load6(factor, row + 6))
        row += 13 + a
    return g


@device
def forward_joint5(i, at, z, g, factor, b, lambda_out):
    """`forward_joint` for 5 rows."""
    o, at = offset(6 * i), offset(at)
    e0 = b[o] - dot6(load6(factor, at + 21), z)
    e1 = b[o + 1] - dot6(load6(factor, at + 34), z)
    e1 -= factor[at + 47] * e0
    e2 = b[o + 2] - dot6(load6(factor, at + 48), z)
    e2 -= factor[at + 61] * e0 + factor[at + 62] * e1
    e3 = b[o + 3] - dot6(load6(factor, at + 63), z)
    e3 -= factor[at + 76] * e0 + factor[at + 77] * e1 + factor[at + 78] * e2
    e4 = b[o + 4] - dot6(load6(factor, at + 79), z)
    e4 -= factor[at + 92] * e0 + factor[at + 93] * e1 + factor[at + 94] * e2 + factor[at + 95] * e3
    t0 = e0 * factor[at + 33]
    t1 = e1 * factor[at + 46]
    t2 = e2 * factor[at + 60]
    t3 = e3 * factor[at + 75]
    t4 = e4 * factor[at + 91]
    lambda_out[o] = t0
    lambda_out[o + 1] = t1
    lambda_out[o + 2] = t2
    lambda_out[o + 3] = t3
    lambda_out[o + 4] = t4
    g = add_scaled6(g, t0, load6(factor, at + 27))
    g = add_scaled6(g, t1, load6(factor, at + 40))
    g = add_scaled6(g, t2, load6(factor, at + 54))
    g = add_scaled6(g, t3, load6(factor, at + 69))
    g = add_scaled6(g, t4, load6(factor, at + 85))
    return g


@device
def forward_joint3(i, at, z, g, factor, b, lambda_out):
    """`forward_joint` for 3 rows."""
    o, at = offset(6 * i), offset(at)
    e0 = b[o] - dot6(load6(factor, at + 21), z)
    e1 = b[o + 1] - dot6(load6(factor, at + 34), z)
    e1 -= factor[at + 47] * e0
    e2 = b[o + 2] - dot6(load6(factor, at + 48), z)
    e2 -= factor[at + 61] * e0 + factor[at + 62] * e1
    t0 = e0 * factor[at + 33]
    t1 = e1 * factor[at + 46]
    t2 = e2 * factor[at + 60]
    lambda_out[o] = t0
    lambda_out[o + 1] = t1
    lambda_out[o + 2] = t2
    g = add_scaled6(g, t0, load6(factor, at + 27))
    g = add_scaled6(g, t1, load6(factor, at + 40))
    g = add_scaled6(g, t2, load6(factor, at + 54))
    return g


@device
def backward_joint(i, r, at, x, y_p, factor, lambda_out):
    """λ = Ls⁻ᵀ (t − s⁻¹ Y y_p) into lambda_out; x + V λ."""
    o, row = offset(6 * i), offset(at) + 21
    for a in range(r):
        lambda_out[o + a] -= factor[row + 12] * dot6(load6(factor, row + 6), y_p)
        row += 13 + a
    for a in range(r - 1, -1, -1):
        row -= 13 + a
        t = lambda_out[o + a]
        x = add_scaled6(x, t, load6(factor, row))
        for k in range(a):
            lambda_out[o + k] -= factor[row + 13 + k] * t
    return x


@device
def backward_joint5(i, at, x, y_p, factor, lambda_out):
    """`backward_joint` for 5 rows."""
    o, at = offset(6 * i), offset(at)
    t4 = lambda_out[o + 4] - factor[at + 91] * dot6(load6(factor, at + 85), y_p)
    t3 = lambda_out[o + 3] - factor[at + 75] * dot6(load6(factor, at + 69), y_p)
    t3 -= factor[at + 95] * t4
    t2 = lambda_out[o + 2] - factor[at + 60] * dot6(load6(factor, at + 54), y_p)
    t2 -= factor[at + 94] * t4 + factor[at + 78] * t3
    t1 = lambda_out[o + 1] - factor[at + 46] * dot6(load6(factor, at + 40), y_p)
    t1 -= factor[at + 93] * t4 + factor[at + 77] * t3 + factor[at + 62] * t2
    t0 = lambda_out[o] - factor[at + 33] * dot6(load6(factor, at + 27), y_p)
    t0 -= factor[at + 92] * t4 + factor[at + 76] * t3 + factor[at + 61] * t2 + factor[at + 47] * t1
    lambda_out[o] = t0
    lambda_out[o + 1] = t1
    lambda_out[o + 2] = t2
    lambda_out[o + 3] = t3
    lambda_out[o + 4] = t4
    x = add_scaled6(x, t4, load6(factor, at + 79))
    x = add_scaled6(x, t3, load6(factor, at + 63))
    x = add_scaled6(x, t2, load6(factor, at + 48))
    x = add_scaled6(x, t1, load6(factor, at + 34))
    x = add_scaled6(x, t0, load6(factor, at + 21))
    return x


@device
def backward_joint3(i, at, x, y_p, factor, lambda_out):
    """`backward_joint` for 3 rows."""
    o, at = offset(6 * i), offset(at)
    t2 = lambda_out[o + 2] - factor[at + 60] * dot6(load6(factor, at + 54), y_p)
    t1 = lambda_out[o + 1] - factor[at + 46] * dot6(load6(factor, at + 40), y_p)
    t1 -= factor[at + 62] * t2
    t0 = lambda_out[o] - factor[at + 33] * dot6(load6(factor, at + 27), y_p)
    t0 -= factor[at + 61] * t2 + factor[at + 47] * t1
    lambda_out[o] = t0
    lambda_out[o + 1] = t1
    lambda_out[o + 2] = t2
    x = add_scaled6(x, t2, load6(factor, at + 48))
    x = add_scaled6(x, t1, load6(factor, at + 34))
    x = add_scaled6(x, t0, load6(factor, at + 21))
    return x
