"""Linear-time Lagrange multipliers on a forest of 6-dof bodies: Baraff's block LDLᵀ (paper 001, §3.3).

The saddle problem of §3 for n bodies numbered parents first, each with one joint of r ≤ 6 rows to its parent or to the ground::

    M_i y_i − Gc_iᵀ λ_i − Σ_{children c} Gp_cᵀ λ_c = f_i            (each body)
    Gc_i y_i + Gp_i y_parent(i) + diag(C_i) λ_i    = b_i            (each joint; C ≥ 0 is compliance)

From leaves to root (§3.1), every body is eliminated, then its joint. With D_i = M_i + Σ_{children c} Gp_cᵀ S_c⁻¹ Gp_c::

    D = L d Lᵀ                     W = L⁻¹ Gcᵀ        V = d⁻¹ W
    S = Wᵀ V + C = Ls s Lsᵀ        Y = Ls⁻¹ Gp        D_parent += Yᵀ s⁻¹ Y

D and S are positive definite, so no pivot is searched for, and each off-diagonal block of the factor is as sparse as that of H.
The solve::

    z = L⁻¹ (f + Σ_{children} Yᵀ t),     t = s⁻¹ Ls⁻¹ (b − Vᵀ z)          leaves to root
    λ = Ls⁻ᵀ (t − s⁻¹ Y y_parent),       y = L⁻ᵀ (d⁻¹ z + V λ)            root to leaves

Flat arrays: M, Gc, Gp hold 36 numbers per body, row-major, row a of joint i at (6 i + a) 6; f, y, b, λ, C hold 6 per body. Rows from
r_i on are not used and their λ is 0; `Gp` is not used where parent is −1, but must be finite. The factor is one contiguous run per
body: L with 1/d on its diagonal (21 numbers, lower triangle by rows; until body i is eliminated, its D grows there), then per joint
row V_a (6), Y_a (6), 1/s_a, Ls_a0 … Ls_a,a−1.

A pivot that cancels to less than 1e-14 of its diagonal entry is round-off. Then the kernels stop and return the index of that
body: its mass block is not positive definite or the rows of its joint are dependent. They return −1 when all is well.

Three things decide the speed. Joints of 5 and of 3 rows, the commonest, are written out on scalars (other counts take the loop
over rows, about 1.4 times the price). Each load then has the same stride from body to body, which the hardware prefetches. And no
array goes into a device function that branches, because numba would count references to it, body by body.
"""

from __future__ import annotations

from unibody.algebra.block.sym6 import (
    TINY,
    add_outer6,
    add_scaled6,
    dot6,
    ldl3,
    ldl5,
    ldl6,
    load6,
    load21,
    lower6,
    offset,
    over_pivots6,
    solve_lower6,
    solve_upper6,
    store6,
    store21,
)
from unibody.algebra.saddle.forest import make_plan
from unibody.kernel import Floats, Ints, kernel

ZERO6 = (0.0,) * 6
ZERO21 = (0.0,) * 21


def plan_tree(parent: Ints, rows: Ints) -> Ints:
    """What the kernels need to know of the topology (`make_plan`); its last number is the length of the factor.

    >>> import numpy as np
    >>> plan_tree(np.array([-1, 0]), np.array([0, 5]))
    array([  0,   1,  21,   2, 117])
    """
    return make_plan(parent, 21 + 13 * rows + rows * (rows - 1) // 2)


@kernel
def factor_tree(parent: Ints, rows: Ints, plan: Ints, M: Floats, Gc: Floats, Gp: Floats, C: Floats, factor_out: Floats) -> int:
    """H = L D Lᵀ. The index of the body whose pivot failed, or −1."""
    for i in range(parent.size - 1, -1, -1):
        p, r, at, role, o6, o36 = parent[i], rows[i], offset(plan[2 * i]), plan[2 * i + 1], offset(6 * i), offset(36 * i)
        # D = L d Lᵀ; with children D stands where they gathered it
        L, sound = ldl6(load21(factor_out, at) if role & 1 else lower6(M, o36))
        if not sound:
            return i
        store21(L, at, factor_out)
        # D of the parent so far
        at_p = offset(plan[offset(2 * p)]) if p >= 0 else 0
        D = ZERO21
        if p >= 0:
            D = lower6(M, offset(36 * p)) if role & 2 else load21(factor_out, at_p)
        # five rows, written out
        if r == 5:
            # W = L⁻¹ Gcᵀ, V = d⁻¹ W, S = Wᵀ V + C = Ls s Lsᵀ
            w0 = solve_lower6(L, load6(Gc, o36))
            w1 = solve_lower6(L, load6(Gc, o36 + 6))
            w2 = solve_lower6(L, load6(Gc, o36 + 12))
            w3 = solve_lower6(L, load6(Gc, o36 + 18))
            w4 = solve_lower6(L, load6(Gc, o36 + 24))
            v0, v1, v2 = over_pivots6(L, w0), over_pivots6(L, w1), over_pivots6(L, w2)
            v3, v4 = over_pivots6(L, w3), over_pivots6(L, w4)
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
                return i
            # Y = Ls⁻¹ Gp
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
            # V_a, Y_a, 1/s_a and the row of Ls; D_parent += Yᵀ s⁻¹ Y
            store6(v0, at + 21, factor_out)
            store6(y0, at + 27, factor_out)
            factor_out[at + 33] = S[0]
            store6(v1, at + 34, factor_out)
            store6(y1, at + 40, factor_out)
            factor_out[at + 46], factor_out[at + 47] = S[2], S[1]
            store6(v2, at + 48, factor_out)
            store6(y2, at + 54, factor_out)
            factor_out[at + 60], factor_out[at + 61], factor_out[at + 62] = S[5], S[3], S[4]
            store6(v3, at + 63, factor_out)
            store6(y3, at + 69, factor_out)
            factor_out[at + 75], factor_out[at + 76], factor_out[at + 77] = S[9], S[6], S[7]
            factor_out[at + 78] = S[8]
            store6(v4, at + 79, factor_out)
            store6(y4, at + 85, factor_out)
            factor_out[at + 91], factor_out[at + 92], factor_out[at + 93] = S[14], S[10], S[11]
            factor_out[at + 94], factor_out[at + 95] = S[12], S[13]
            D = add_outer6(D, S[0], y0)
            D = add_outer6(D, S[2], y1)
            D = add_outer6(D, S[5], y2)
            D = add_outer6(D, S[9], y3)
            D = add_outer6(D, S[14], y4)
        # three rows, written out: the same
        elif r == 3:
            # W, V and S
            w0 = solve_lower6(L, load6(Gc, o36))
            w1 = solve_lower6(L, load6(Gc, o36 + 6))
            w2 = solve_lower6(L, load6(Gc, o36 + 12))
            v0, v1, v2 = over_pivots6(L, w0), over_pivots6(L, w1), over_pivots6(L, w2)
            S, sound = ldl3(
                (
                    dot6(w0, v0) + C[o6],
                    dot6(w1, v0), dot6(w1, v1) + C[o6 + 1],
                    dot6(w2, v0), dot6(w2, v1), dot6(w2, v2) + C[o6 + 2],
                )
            )  # fmt: skip
            if not sound:
                return i
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
            factor_out[at + 46], factor_out[at + 47] = S[2], S[1]
            store6(v2, at + 48, factor_out)
            store6(y2, at + 54, factor_out)
            factor_out[at + 60], factor_out[at + 61], factor_out[at + 62] = S[5], S[3], S[4]
            D = add_outer6(D, S[0], y0)
            D = add_outer6(D, S[2], y1)
            D = add_outer6(D, S[5], y2)
        else:
            # any number, row by row: W_a and V_a, then Ls_a and s_a from the rows before, Y_a, D_parent += Y_aᵀ Y_a / s_a
            row = at + 21
            for a in range(r):
                w = solve_lower6(L, load6(Gc, o36 + 6 * a))
                v = over_pivots6(L, w)
                y = load6(Gp, o36 + 6 * a)
                s_aa = dot6(w, v) + C[o6 + a]
                before = at + 21
                for k in range(a):
                    c = dot6(w, load6(factor_out, before))
                    for j in range(k):
                        c -= factor_out[before + 13 + j] * factor_out[row + 13 + j]
                    factor_out[row + 13 + k] = c
                    before += 13 + k
                s = s_aa
                before = at + 21
                for k in range(a):
                    c = factor_out[row + 13 + k]
                    l_ak = c * factor_out[before + 12]
                    factor_out[row + 13 + k] = l_ak
                    s -= l_ak * c
                    y = add_scaled6(y, -l_ak, load6(factor_out, before + 6))
                    before += 13 + k
                if not s > TINY * s_aa:
                    return i
                store6(v, row, factor_out)
                store6(y, row + 6, factor_out)
                factor_out[row + 12] = 1.0 / s
                D = add_outer6(D, 1.0 / s, y)
                row += 13 + a
        if p >= 0:
            store21(D, at_p, factor_out)
    return -1


@kernel
def solve_tree_many(
    k: int, parent: Ints, rows: Ints, plan: Ints, factor: Floats, f: Floats, b: Floats, y_out: Floats, lambda_out: Floats,
) -> None:  # fmt: skip
    """k systems H (y, λ) = (f, b), stored one after the other; an empty `b` is zero. Each body's run is read twice for all k."""
    n = parent.size
    biased = b.size > 0
    for i in range(n - 1, -1, -1):
        p, r, at, role = parent[i], rows[i], offset(plan[2 * i]), plan[2 * i + 1]
        # leaves to root: z = L⁻¹ (f + Σ Yᵀ t), kept as d⁻¹ z; g: what the parent has gathered
        L = load21(factor, at)
        for j in range(k):
            o, o_p = offset(6 * (j * n + i)), offset(6 * (j * n + p))
            z = solve_lower6(L, load6(y_out, o) if role & 1 else load6(f, o))
            store6(over_pivots6(L, z), o, y_out)
            g = ZERO6
            if p >= 0:
                g = load6(f, o_p) if role & 2 else load6(y_out, o_p)
            # t = s⁻¹ Ls⁻¹ (b − Vᵀ z), g += Yᵀ t; five, three or any number of rows
            if r == 5:
                e0 = (b[o] if biased else 0.0) - dot6(load6(factor, at + 21), z)
                e1 = (b[o + 1] if biased else 0.0) - dot6(load6(factor, at + 34), z)
                e1 -= factor[at + 47] * e0
                e2 = (b[o + 2] if biased else 0.0) - dot6(load6(factor, at + 48), z)
                e2 -= factor[at + 61] * e0 + factor[at + 62] * e1
                e3 = (b[o + 3] if biased else 0.0) - dot6(load6(factor, at + 63), z)
                e3 -= factor[at + 76] * e0 + factor[at + 77] * e1 + factor[at + 78] * e2
                e4 = (b[o + 4] if biased else 0.0) - dot6(load6(factor, at + 79), z)
                e4 -= factor[at + 92] * e0 + factor[at + 93] * e1 + factor[at + 94] * e2 + factor[at + 95] * e3
                t0, t1, t2 = e0 * factor[at + 33], e1 * factor[at + 46], e2 * factor[at + 60]
                t3, t4 = e3 * factor[at + 75], e4 * factor[at + 91]
                g = add_scaled6(g, t0, load6(factor, at + 27))
                g = add_scaled6(g, t1, load6(factor, at + 40))
                g = add_scaled6(g, t2, load6(factor, at + 54))
                g = add_scaled6(g, t3, load6(factor, at + 69))
                g = add_scaled6(g, t4, load6(factor, at + 85))
                store6((t0, t1, t2, t3, t4, 0.0), o, lambda_out)
            elif r == 3:
                e0 = (b[o] if biased else 0.0) - dot6(load6(factor, at + 21), z)
                e1 = (b[o + 1] if biased else 0.0) - dot6(load6(factor, at + 34), z)
                e1 -= factor[at + 47] * e0
                e2 = (b[o + 2] if biased else 0.0) - dot6(load6(factor, at + 48), z)
                e2 -= factor[at + 61] * e0 + factor[at + 62] * e1
                t0, t1, t2 = e0 * factor[at + 33], e1 * factor[at + 46], e2 * factor[at + 60]
                g = add_scaled6(g, t0, load6(factor, at + 27))
                g = add_scaled6(g, t1, load6(factor, at + 40))
                g = add_scaled6(g, t2, load6(factor, at + 54))
                store6((t0, t1, t2, 0.0, 0.0, 0.0), o, lambda_out)
            else:
                # e = Ls⁻¹ (b − Vᵀ z) row by row, then t = s⁻¹ e
                store6(ZERO6, o, lambda_out)
                row = at + 21
                for a in range(r):
                    e = (b[o + a] if biased else 0.0) - dot6(load6(factor, row), z)
                    for c in range(a):
                        e -= factor[row + 13 + c] * lambda_out[o + c]
                    lambda_out[o + a] = e
                    row += 13 + a
                row = at + 21
                for a in range(r):
                    t = lambda_out[o + a] * factor[row + 12]
                    lambda_out[o + a] = t
                    g = add_scaled6(g, t, load6(factor, row + 6))
                    row += 13 + a
            if p >= 0:
                store6(g, o_p, y_out)
    for i in range(n):
        p, r, at = parent[i], rows[i], offset(plan[2 * i])
        # root to leaves: λ = Ls⁻ᵀ (t − s⁻¹ Y y_parent), x = d⁻¹ z + V λ
        L = load21(factor, at)
        for j in range(k):
            o, o_p = offset(6 * (j * n + i)), offset(6 * (j * n + p))
            y_p = ZERO6 if p < 0 else load6(y_out, o_p)
            x = load6(y_out, o)
            # λ from the last row to the first: row a of Lsᵀ needs the λ of the rows after it; x += V λ on the way
            if r == 5:
                t4 = lambda_out[o + 4] - factor[at + 91] * dot6(load6(factor, at + 85), y_p)
                t3 = lambda_out[o + 3] - factor[at + 75] * dot6(load6(factor, at + 69), y_p)
                t3 -= factor[at + 95] * t4
                t2 = lambda_out[o + 2] - factor[at + 60] * dot6(load6(factor, at + 54), y_p)
                t2 -= factor[at + 94] * t4 + factor[at + 78] * t3
                t1 = lambda_out[o + 1] - factor[at + 46] * dot6(load6(factor, at + 40), y_p)
                t1 -= factor[at + 93] * t4 + factor[at + 77] * t3 + factor[at + 62] * t2
                t0 = lambda_out[o] - factor[at + 33] * dot6(load6(factor, at + 27), y_p)
                t0 -= factor[at + 92] * t4 + factor[at + 76] * t3 + factor[at + 61] * t2 + factor[at + 47] * t1
                x = add_scaled6(x, t4, load6(factor, at + 79))
                x = add_scaled6(x, t3, load6(factor, at + 63))
                x = add_scaled6(x, t2, load6(factor, at + 48))
                x = add_scaled6(x, t1, load6(factor, at + 34))
                x = add_scaled6(x, t0, load6(factor, at + 21))
                lambda_out[o], lambda_out[o + 1], lambda_out[o + 2] = t0, t1, t2
                lambda_out[o + 3], lambda_out[o + 4] = t3, t4
            elif r == 3:
                t2 = lambda_out[o + 2] - factor[at + 60] * dot6(load6(factor, at + 54), y_p)
                t1 = lambda_out[o + 1] - factor[at + 46] * dot6(load6(factor, at + 40), y_p)
                t1 -= factor[at + 62] * t2
                t0 = lambda_out[o] - factor[at + 33] * dot6(load6(factor, at + 27), y_p)
                t0 -= factor[at + 61] * t2 + factor[at + 47] * t1
                x = add_scaled6(x, t2, load6(factor, at + 48))
                x = add_scaled6(x, t1, load6(factor, at + 34))
                x = add_scaled6(x, t0, load6(factor, at + 21))
                lambda_out[o], lambda_out[o + 1], lambda_out[o + 2] = t0, t1, t2
            else:
                # t − s⁻¹ Y y_parent for all rows, then Ls⁻ᵀ from the last row on
                row = at + 21
                for a in range(r):
                    lambda_out[o + a] -= factor[row + 12] * dot6(load6(factor, row + 6), y_p)
                    row += 13 + a
                for a in range(r - 1, -1, -1):
                    row -= 13 + a
                    t = lambda_out[o + a]
                    x = add_scaled6(x, t, load6(factor, row))
                    for c in range(a):
                        lambda_out[o + c] -= factor[row + 13 + c] * t
            # y = L⁻ᵀ x
            store6(solve_upper6(L, x), o, y_out)


@kernel
def solve_tree(parent: Ints, rows: Ints, plan: Ints, factor: Floats, f: Floats, b: Floats, y_out: Floats, lambda_out: Floats) -> None:
    """H (y, λ) = (f, b) by the factor."""
    solve_tree_many(1, parent, rows, plan, factor, f, b, y_out, lambda_out)


@kernel
def factor_solve_tree(
    parent: Ints, rows: Ints, plan: Ints, M: Floats, Gc: Floats, Gp: Floats, C: Floats, f: Floats, b: Floats, factor_out: Floats, y_out:
    Floats, lambda_out: Floats,
) -> int:  # fmt: skip
    """`factor_tree`, then `solve_tree`, in one call. (One sweep for both was tried: not faster.)"""
    failed = factor_tree(parent, rows, plan, M, Gc, Gp, C, factor_out)
    if failed < 0:
        solve_tree_many(1, parent, rows, plan, factor_out, f, b, y_out, lambda_out)
    return failed
