"""Linear-time Lagrange multipliers on a forest of planar bodies: Baraff's block LDLᵀ (paper 001, §3.3) with 3-dof blocks.

The problem, the symbols and the order of elimination are those of `baraff`, with 3 in place of 6::

    D = L d Lᵀ                     W = L⁻¹ Gcᵀ        V = d⁻¹ W
    S = Wᵀ V + C = Ls s Lsᵀ        Y = Ls⁻¹ Gp        D_parent += Yᵀ s⁻¹ Y
    z = L⁻¹ (f + Σ_{children} Yᵀ t),     t = s⁻¹ Ls⁻¹ (b − Vᵀ z)          leaves to root
    λ = Ls⁻ᵀ (t − s⁻¹ Y y_parent),       y = L⁻ᵀ (d⁻¹ z + V λ)            root to leaves

Flat arrays: M, Gc, Gp hold 9 numbers per body, row a of joint i at (3 i + a) 3; f, y, b, λ, C hold 3. The factor is one run per
body: L with 1/d on its diagonal (6, lower triangle by rows), then per joint row V_a (3), Y_a (3), 1/s_a, Ls_a0 … Ls_a,a−1. Each row
follows from the rows before it, so the code for r rows begins with the code for r − 1.

A thousand bodies live in the cache, a hundred thousand do not, and the work on a body (40 ns) is hardly longer than its way from
memory. So nothing far away is touched. A body whose children are being eliminated gathers its D and its f in a place at the factor's
start, of which there are only as many as bodies that gather at one time (depth first, the depth of the tree). Its own M and f come in
with its last child, which is its neighbour when bodies are numbered depth first. On the way down, where memory is the limit, the
numbers of a body are called for some bodies ahead.

A pivot below 1e-14 of its diagonal entry stops the kernels, which then return the body's index; −1 when all is well.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.block.sym6 import TINY, ldl3, load6, offset, store6
from unibody.algebra.saddle.forest import gathering_places
from unibody.kernel import Floats, Ints, device, kernel, prefetch

ZERO3 = (0.0,) * 3
ZERO6 = (0.0,) * 6
FIRST, LAST, PARENT = 4, 8, 16
"""Bits of a body's word in the plan: the first or the last child of its parent to be eliminated; a body with children."""
GATHERED = 9
"""Numbers in a gathering place: D (6), then f and what the children add to it (3)."""
AHEAD = 24
"""Bodies between the one that is being solved and the one whose numbers are called for."""


def plan_tree(parent: Ints, rows: Ints) -> Ints:
    """Per body a word with its run's start, its bits and rows; then per body where it gathers and where it adds to; the factor's length.

    >>> import numpy as np
    >>> plan = plan_tree(np.array([-1, 0]), np.array([0, 2]))
    >>> plan[:2] >> 5, plan[:2] & 31, plan[2:4] >> 32, plan[2:4] & 0xFFFFFFFF, plan[4]
    (array([18, 24]), array([20, 14]), array([9, 0]), array([0, 9]), np.int64(45))
    """
    gathers, adds_to, first, last, places = gathering_places(parent)
    starts = np.cumsum(np.concatenate([[GATHERED * places], 6 + 7 * rows + rows * (rows - 1) // 2]))
    words = starts[:-1] << 5 | PARENT * (gathers > 0) | LAST * last | FIRST * first | rows
    return np.concatenate([words, GATHERED * gathers << 32 | GATHERED * adds_to, starts[-1:]])


@device
def load3(x, at):
    return (x[at], x[at + 1], x[at + 2])


@device
def store3(a, at, x_out):
    x_out[at], x_out[at + 1], x_out[at + 2] = a[0], a[1], a[2]


@device
def lower3(M, at):
    """The lower triangle of the full row-major block at `at`."""
    return (M[at], M[at + 3], M[at + 4], M[at + 6], M[at + 7], M[at + 8])


@device
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@device
def add_dot3(s, a, b):
    """s + a · b, the last component last: it is what the factorisation waits for."""
    return s + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@device
def add_scaled3(a, s, b):
    """a + s b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@device
def sum3(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@device
def sum6(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@device
def solve_lower3(l10, l20, l21, x):
    """L⁻¹ x."""
    x1 = x[1] - l10 * x[0]
    return (x[0], x1, x[2] - l20 * x[0] - l21 * x1)


@device
def add_outer3(A, s, y):
    """A + s y yᵀ, lower triangles by rows."""
    return (
        A[0] + s * (y[0] * y[0]),
        A[1] + s * (y[1] * y[0]), A[2] + s * (y[1] * y[1]),
        A[3] + s * (y[2] * y[0]), A[4] + s * (y[2] * y[1]), A[5] + s * (y[2] * y[2]),
    )  # fmt: skip


@kernel
def eliminate(
    solving: bool, parent: Ints, plan: Ints, M: Floats, Gc: Floats, Gp: Floats, C: Floats, f: Floats, b: Floats, factor_out: Floats, y_out:
    Floats, lambda_out: Floats,
) -> int:  # fmt: skip
    """Leaves to root: the factor and, if `solving`, d⁻¹ z in y and t in λ, in the shadow of the pivots' divisions."""
    n = parent.size
    for i in range(n - 1, -1, -1):
        word, places, p, o, o9 = plan[i], plan[offset(n + i)], parent[i], offset(3 * i), offset(9 * i)
        r, at, own, to = word & 3, offset(word >> 5), offset(places >> 32), places & 0xFFFFFFFF
        # D and f of the body, gathered where it has children; D = L d Lᵀ
        if word & PARENT:
            H, x = load6(factor_out, own), load3(factor_out, own + 6)
        else:
            H, x = lower3(M, o9), load3(f, o)
        (i0, l10, i1, l20, l21, i2), sound = ldl3(H)
        if not sound:
            return i
        store3((i0, l10, i1), at, factor_out)
        store3((l20, l21, i2), at + 3, factor_out)
        # D and f of the parent so far; its own come in with the last child
        if word & LAST:
            D, g = lower3(M, offset(9 * p)), load3(f, offset(3 * p))
            if not word & FIRST:
                D, g = sum6(D, load6(factor_out, to)), sum3(g, load3(factor_out, to + 6))
        elif word & FIRST:
            D, g = ZERO6, ZERO3
        else:
            D, g = load6(factor_out, to), load3(factor_out, to + 6)
        # z = L⁻¹ f, kept as d⁻¹ z
        z = e = ZERO3
        t0 = t1 = t2 = 0.0
        if solving:
            z = solve_lower3(l10, l20, l21, x)
            store3((i0 * z[0], i1 * z[1], i2 * z[2]), o, y_out)
            e = load3(b, o)
        # first row: W_0, V_0, s_0, Y_0 = Gp_0; D_parent += Y_0ᵀ Y_0 / s_0, t_0 = (b_0 − V_0ᵀ z) / s_0, g += Y_0ᵀ t_0
        if r > 0:
            w0 = solve_lower3(l10, l20, l21, load3(Gc, o9))
            v0 = (i0 * w0[0], i1 * w0[1], i2 * w0[2])
            y0 = load3(Gp, o9)
            s0 = add_dot3(C[o], w0, v0)
            if not s0 > 0.0:
                return i
            j0 = 1.0 / s0
            store3(v0, at + 6, factor_out)
            store3(y0, at + 9, factor_out)
            factor_out[at + 12] = j0
            D = add_outer3(D, j0, y0)
            e0 = e[0] - dot3(v0, z)
            t0 = j0 * e0
            g = add_scaled3(g, t0, y0)
            # second row, with Ls_10 and s_1 from the 2×2 determinant
            if r > 1:
                w1 = solve_lower3(l10, l20, l21, load3(Gc, o9 + 3))
                v1 = (i0 * w1[0], i1 * w1[1], i2 * w1[2])
                c10 = dot3(w1, v0)
                k10 = c10 * j0
                s11 = add_dot3(C[o + 1], w1, v1)
                determinant = s0 * s11 - c10 * c10
                if not determinant > TINY * s0 * s11:
                    return i
                j1 = s0 / determinant
                y1 = add_scaled3(load3(Gp, o9 + 3), -k10, y0)
                store3(v1, at + 13, factor_out)
                store3(y1, at + 16, factor_out)
                factor_out[at + 19], factor_out[at + 20] = j1, k10
                D = add_outer3(D, j1, y1)
                e1 = e[1] - dot3(v1, z) - k10 * e0
                t1 = j1 * e1
                g = add_scaled3(g, t1, y1)
                # third row, with Ls_20, Ls_21
                if r > 2:
                    w2 = solve_lower3(l10, l20, l21, load3(Gc, o9 + 6))
                    v2 = (i0 * w2[0], i1 * w2[1], i2 * w2[2])
                    c20 = dot3(w2, v0)
                    k20 = c20 * j0
                    c21 = dot3(w2, v1) - k10 * c20
                    k21 = c21 * j1
                    s22 = add_dot3(C[o + 2], w2, v2)
                    s2 = s22 - k20 * c20 - k21 * c21
                    if not s2 > TINY * s22:
                        return i
                    j2 = 1.0 / s2
                    y2 = add_scaled3(add_scaled3(load3(Gp, o9 + 6), -k20, y0), -k21, y1)
                    store3(v2, at + 21, factor_out)
                    store3(y2, at + 24, factor_out)
                    store3((j2, k20, k21), at + 27, factor_out)
                    D = add_outer3(D, j2, y2)
                    t2 = j2 * (e[2] - dot3(v2, z) - k20 * e0 - k21 * e1)
                    g = add_scaled3(g, t2, y2)
        # hand D and g to the parent
        store6(D, to, factor_out)
        if solving:
            store3((t0, t1, t2), o, lambda_out)
            store3(g, to + 6, factor_out)
    return -1


@kernel
def substitute_back(k: int, parent: Ints, plan: Ints, factor: Floats, y_out: Floats, lambda_out: Floats) -> None:
    """Root to leaves, for k systems: y and λ from d⁻¹ z and t."""
    n = parent.size
    for i in range(n):
        p, r, at = parent[i], plan[i] & 3, offset(plan[i] >> 5)
        prefetch(factor, at + 21 * AHEAD)
        prefetch(factor, at + 21 * AHEAD + 8)
        prefetch(factor, at + 21 * AHEAD + 16)
        for j in range(k):
            o, o_p = offset(3 * (j * n + i)), offset(3 * (j * n + p))
            prefetch(y_out, o + 3 * AHEAD)
            prefetch(lambda_out, o + 3 * AHEAD)
            y_p = ZERO3 if p < 0 else load3(y_out, o_p)
            x = load3(y_out, o)
            if r > 0:
                t0 = lambda_out[o] - factor[at + 12] * dot3(load3(factor, at + 9), y_p)
                if r > 1:
                    t1 = lambda_out[o + 1] - factor[at + 19] * dot3(load3(factor, at + 16), y_p)
                    if r > 2:
                        t2 = lambda_out[o + 2] - factor[at + 27] * dot3(load3(factor, at + 24), y_p)
                        lambda_out[o + 2] = t2
                        t1 -= factor[at + 29] * t2
                        t0 -= factor[at + 28] * t2
                        x = add_scaled3(x, t2, load3(factor, at + 21))
                    lambda_out[o + 1] = t1
                    t0 -= factor[at + 20] * t1
                    x = add_scaled3(x, t1, load3(factor, at + 13))
                lambda_out[o] = t0
                x = add_scaled3(x, t0, load3(factor, at + 6))
            x1 = x[1] - factor[at + 4] * x[2]
            store3((x[0] - factor[at + 3] * x[2] - factor[at + 1] * x1, x1, x[2]), o, y_out)


@kernel
def solve_tree_many(
    k: int, parent: Ints, rows: Ints, plan: Ints, factor: Floats, f: Floats, b: Floats, y_out: Floats, lambda_out: Floats,
) -> None:  # fmt: skip
    """k systems H (y, λ) = (f, b), stored one after the other; an empty `b` is zero. Each body's run is read twice for all k."""
    n = parent.size
    biased = b.size > 0
    for i in range(n - 1, -1, -1):
        p, word = parent[i], plan[i]
        r, at = word & 3, offset(word >> 5)
        for j in range(k):
            o, o_p = offset(3 * (j * n + i)), offset(3 * (j * n + p))
            # leaves to root: z = L⁻¹ (f + Σ Yᵀ t), kept as d⁻¹ z; g: what the parent has gathered
            x = load3(y_out, o) if word & PARENT else load3(f, o)
            z = solve_lower3(factor[at + 1], factor[at + 3], factor[at + 4], x)
            store3((factor[at] * z[0], factor[at + 2] * z[1], factor[at + 5] * z[2]), o, y_out)
            g = ZERO3
            if p >= 0:
                g = load3(f, o_p) if word & FIRST else load3(y_out, o_p)
            # t = s⁻¹ Ls⁻¹ (b − Vᵀ z), g += Yᵀ t
            b0, b1, b2 = load3(b, o) if biased else ZERO3
            t0 = t1 = t2 = 0.0
            if r > 0:
                e0 = b0 - dot3(load3(factor, at + 6), z)
                t0 = e0 * factor[at + 12]
                g = add_scaled3(g, t0, load3(factor, at + 9))
                if r > 1:
                    e1 = b1 - dot3(load3(factor, at + 13), z) - factor[at + 20] * e0
                    t1 = e1 * factor[at + 19]
                    g = add_scaled3(g, t1, load3(factor, at + 16))
                    if r > 2:
                        e2 = b2 - dot3(load3(factor, at + 21), z) - factor[at + 28] * e0 - factor[at + 29] * e1
                        t2 = e2 * factor[at + 27]
                        g = add_scaled3(g, t2, load3(factor, at + 24))
            store3((t0, t1, t2), o, lambda_out)
            if p >= 0:
                store3(g, o_p, y_out)
    substitute_back(k, parent, plan, factor, y_out, lambda_out)


@kernel
def factor_tree(parent: Ints, rows: Ints, plan: Ints, M: Floats, Gc: Floats, Gp: Floats, C: Floats, factor_out: Floats) -> int:
    """H = L D Lᵀ. The index of the body whose pivot failed, or −1."""
    return eliminate(False, parent, plan, M, Gc, Gp, C, C, C, factor_out, factor_out, factor_out)


@kernel
def solve_tree(parent: Ints, rows: Ints, plan: Ints, factor: Floats, f: Floats, b: Floats, y_out: Floats, lambda_out: Floats) -> None:
    """H (y, λ) = (f, b) by the factor."""
    solve_tree_many(1, parent, rows, plan, factor, f, b, y_out, lambda_out)


@kernel
def factor_solve_tree(
    parent: Ints, rows: Ints, plan: Ints, M: Floats, Gc: Floats, Gp: Floats, C: Floats, f: Floats, b: Floats, factor_out: Floats, y_out:
    Floats, lambda_out: Floats,
) -> int:  # fmt: skip
    """`factor_tree` and `solve_tree` in two sweeps instead of three."""
    failed = eliminate(True, parent, plan, M, Gc, Gp, C, f, b, factor_out, y_out, lambda_out)
    if failed < 0:
        substitute_back(1, parent, plan, factor_out, y_out, lambda_out)
    return failed
