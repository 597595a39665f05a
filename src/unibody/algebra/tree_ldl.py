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
r_i on are not read and their λ is 0; `Gp` is not used where parent is −1. The factor is one contiguous run per body: L with 1/d on its
diagonal (21 numbers, lower triangle by rows; until body i is eliminated, the sum over its children waits there), then per joint
row V_a (6), Y_a (6), 1/s_a, Ls_a0 … Ls_a,a−1.

A pivot that cancels to less than 1e-14 of its diagonal entry is round-off. Then the kernels stop and return the index of that
body: its mass block is not positive definite or the rows of its joint are dependent. They return −1 when all is well.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.blocks6 import (
    add6,
    add21,
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
from unibody.algebra.tree_joints6 import (
    backward_joint,
    backward_joint3,
    backward_joint5,
    factor_joint,
    factor_joint3,
    factor_joint5,
    forward_joint,
    forward_joint3,
    forward_joint5,
)
from unibody.algebra.tree_plan import make_plan
from unibody.kernel import Floats, Ints, device, kernel

ZERO6 = (0.0,) * 6
ZERO21 = (0.0,) * 21


def plan_tree(parent: Ints, rows: Ints) -> Ints:
    """What the kernels need to know of the topology (`make_plan`); its last number is the length of the factor.

    >>> plan_tree(np.array([-1, 0]), np.array([0, 5]))
    array([  0,   1,  21,   2, 117])
    """
    return make_plan(parent, 21 + 13 * rows + rows * (rows - 1) // 2)


@device
def factor_body(i, p, r, plan, M, Gc, Gp, C, factor_out):
    """Eliminate body i and its joint; whether every pivot was sound."""
    at, role = offset(plan[2 * i]), plan[2 * i + 1]
    D = lower6(M, offset(36 * i))
    if role & 1:
        D = add21(D, load21(factor_out, at))
    L, sound = ldl6(D)
    if not sound:
        return False
    store21(L, at, factor_out)
    at_p = offset(plan[offset(2 * p)]) if p >= 0 else 0
    D = ZERO21 if p < 0 or role & 2 else load21(factor_out, at_p)
    if r == 5:
        D, sound = factor_joint5(i, at, L, Gc, Gp, C, D, factor_out)
    elif r == 3:
        D, sound = factor_joint3(i, at, L, Gc, Gp, C, D, factor_out)
    else:
        D, sound = factor_joint(i, r, at, L, Gc, Gp, C, D, factor_out)
    if p >= 0:
        store21(D, at_p, factor_out)
    return sound


@device
def forward_body(i, p, r, plan, factor, f, b, y_out, lambda_out):
    """Leaves to root: leaves d⁻¹ z in y and t in λ, and adds Yᵀ t to what waits in y of the parent."""
    at, role, o, o_p = offset(plan[2 * i]), plan[2 * i + 1], offset(6 * i), offset(6 * p)
    L = load21(factor, at)
    x = load6(f, o)
    if role & 1:
        x = add6(x, load6(y_out, o))
    z = solve_lower6(L, x)
    store6(over_pivots6(L, z), o, y_out)
    g = ZERO6 if p < 0 or role & 2 else load6(y_out, o_p)
    if r == 5:
        lambda_out[o + 5] = 0.0
        g = forward_joint5(i, at, z, g, factor, b, lambda_out)
    elif r == 3:
        lambda_out[o + 3] = lambda_out[o + 4] = lambda_out[o + 5] = 0.0
        g = forward_joint3(i, at, z, g, factor, b, lambda_out)
    else:
        for a in range(r, 6):
            lambda_out[o + a] = 0.0
        g = forward_joint(i, r, at, z, g, factor, b, lambda_out)
    if p >= 0:
        store6(g, o_p, y_out)


@device
def backward_body(i, p, r, plan, factor, y_out, lambda_out):
    """Root to leaves: y of the body and λ of its joint from y of the parent."""
    at, o = offset(plan[2 * i]), offset(6 * i)
    y_p = ZERO6 if p < 0 else load6(y_out, offset(6 * p))
    x = load6(y_out, o)
    if r == 5:
        x = backward_joint5(i, at, x, y_p, factor, lambda_out)
    elif r == 3:
        x = backward_joint3(i, at, x, y_p, factor, lambda_out)
    else:
        x = backward_joint(i, r, at, x, y_p, factor, lambda_out)
    store6(solve_upper6(load21(factor, at), x), o, y_out)


@kernel
def factor_tree(
    parent: Ints, rows: Ints, plan: Ints, M: Floats, Gc: Floats, Gp: Floats, C: Floats, factor_out: Floats
) -> int:
    """H = L D Lᵀ. The index of the body whose pivot failed, or −1."""
    for i in range(parent.size - 1, -1, -1):
        if not factor_body(i, parent[i], rows[i], plan, M, Gc, Gp, C, factor_out):
            return i
    return -1


@kernel
def solve_tree(
    parent: Ints, rows: Ints, plan: Ints, factor: Floats, f: Floats, b: Floats, y_out: Floats, lambda_out: Floats
) -> None:
    """H (y, λ) = (f, b) by the factor."""
    n = parent.size
    for i in range(n - 1, -1, -1):
        forward_body(i, parent[i], rows[i], plan, factor, f, b, y_out, lambda_out)
    for i in range(n):
        backward_body(i, parent[i], rows[i], plan, factor, y_out, lambda_out)


@kernel
def factor_solve_tree(
    parent: Ints,
    rows: Ints,
    plan: Ints,
    M: Floats,
    Gc: Floats,
    Gp: Floats,
    C: Floats,
    f: Floats,
    b: Floats,
    factor_out: Floats,
    y_out: Floats,
    lambda_out: Floats,
) -> int:
    """`factor_tree` and `solve_tree` in two sweeps instead of three: faster by what one reading of the factor costs."""
    n = parent.size
    for i in range(n - 1, -1, -1):
        if not factor_body(i, parent[i], rows[i], plan, M, Gc, Gp, C, factor_out):
            return i
        forward_body(i, parent[i], rows[i], plan, factor_out, f, b, y_out, lambda_out)
    for i in range(n):
        backward_body(i, parent[i], rows[i], plan, factor_out, y_out, lambda_out)
    return -1
