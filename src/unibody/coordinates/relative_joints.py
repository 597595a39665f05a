"""Joints seen from outside: coordinates fitted to where the bodies are, and constraint rows as the complement of S.

A joint that is not part of the coordinates (a loop in reduced ones, every joint in maximal ones) is evaluated from the poses of its two
bodies:

    X_FM = X_WF⁻¹ X_WM;  q_j fits it (Gauss–Newton on pose and motion, from the last q_j);  e = X_FM(q_j)⁻¹ X_FM as (turn, displacement)
    V_FM = Ad(X_MB) V_B − Ad(X_MP) V_P,    v_j = S⁺ V_FM
    rows t ⟂ S:   t·e = 0,   t·V_FM = 0,   t·(Ad(X_MB) V̇_B − Ad(X_MP) V̇_P) + t·(V_FM × Ad(X_MP) V_P − Ṡ v_j) = 0

The rows t are an orthonormal basis of the complement of S in M's axes, so a multiplier is a wrench at M's origin and its norm does
not depend on the choice. An effort τ in such a joint acts as the wrench (S⁺)ᵀ τ on the child and its opposite on the parent.
"""

from __future__ import annotations

from math import sqrt

from unibody.constraints.base import FillRows
from unibody.joints.table import advance_joints, fill_joint_table
from unibody.kernel import Floats, Ints, cut, device, kernel

from unibody.spatial.devices import (  # isort: skip
    add3, compose_back, compose_rotations, cross, cross_motion, dot3, load3, load6, load9, rotate, rotate_back, rotation_vector,
    seen_from, store3, store9, sub3, twist_across,
)  # fmt: skip

JOINT = 6
"""Integers of a relative joint: parent, child, first v, number of v, first row, number of rows."""

FRAMES = 24
"""Numbers of a relative joint: X_PF, X_BM."""

SEEN = 42
"""What is computed of a relative joint: X_MP 0–11, X_MB 12–23, V_FM 24–29, V_P in M 30–35, e 36–41."""

ONLY_SLIDES = 1e-24
"""The part that turns have in the square of a column of S, below which it is round-off and the motion a slide."""

FIT_LIMIT = 8
FIT_ENOUGH = 1e-11

ROW_CLASS = 5


@device
def fit_error(X, R, p, k):
    """(turn, displacement) from the table's pose at row k to the actual one (R, p), in the table's M axes."""
    R_0 = load9(X, 12 * k)
    turn = rotation_vector(compose_back(R_0, R))
    way = rotate_back(R_0, sub3(p, load3(X, 12 * k + 9)))
    return (turn[0], turn[1], turn[2], way[0], way[1], way[2])


@device
def relative_pose(frames, X_WB, parent, child, k):
    """X_FM, X_MP of joint k from the poses of its bodies."""
    R_P = load9(X_WB, 12 * parent)
    R_B = load9(X_WB, 12 * child)
    R_F = compose_rotations(R_P, load9(frames, FRAMES * k))
    p_F = add3(load3(X_WB, 12 * parent + 9), rotate(R_P, load3(frames, FRAMES * k + 9)))
    R_M = compose_rotations(R_B, load9(frames, FRAMES * k + 12))
    p_M = add3(load3(X_WB, 12 * child + 9), rotate(R_B, load3(frames, FRAMES * k + 21)))
    R_FM = compose_back(R_F, R_M)
    p_FM = rotate_back(R_F, sub3(p_M, p_F))
    R_MP = compose_back(R_M, R_P)
    p_MP = rotate_back(R_M, sub3(load3(X_WB, 12 * parent + 9), p_M))
    return R_FM, p_FM, R_MP, p_MP


@device
def solve_normal(S, first, count, e, scratch_out, x_out):
    """x = (SᵀS)⁻¹ Sᵀ e for the columns of one joint, by Cholesky with a whiff of damping where S loses rank."""
    trace = 0.0
    for i in range(count):
        for j in range(i + 1):
            total = 0.0
            for m in range(6):
                total += S[6 * (first + i) + m] * S[6 * (first + j) + m]
            scratch_out[6 * i + j] = total
        trace += scratch_out[6 * i + i]
        total = 0.0
        for m in range(6):
            total += S[6 * (first + i) + m] * e[m]
        x_out[first + i] = total
    for i in range(count):
        for j in range(i + 1):
            total = scratch_out[6 * i + j]
            for m in range(j):
                total -= scratch_out[6 * i + m] * scratch_out[6 * j + m]
            if i == j:
                scratch_out[6 * i + i] = sqrt(max(total, 1e-14 * trace))
            else:
                scratch_out[6 * i + j] = total / scratch_out[6 * j + j]
    for i in range(count):
        total = x_out[first + i]
        for m in range(i):
            total -= scratch_out[6 * i + m] * x_out[first + m]
        x_out[first + i] = total / scratch_out[6 * i + i]
    for i in range(count - 1, -1, -1):
        total = x_out[first + i]
        for m in range(i + 1, count):
            total -= scratch_out[6 * m + i] * x_out[first + m]
        x_out[first + i] = total / scratch_out[6 * i + i]


@kernel
def fit_joints(
    joints: Ints, frames: Floats, classes: Ints, index: Ints, parameters: Floats, parts: Ints, X_WB: Floats, V_WB: Floats, biased: bool,
    X_out: Floats, S_out: Floats, c_out: Floats, scratch_out: Floats, step_out: Floats, seen_out: Floats, q_out: Floats, v_out: Floats,
) -> None:  # fmt: skip
    """Fit coordinates and velocities of all relative joints to the poses and twists of their bodies; q_out holds the guess on entry.

    X, S and what is seen of the joints are those of the end; so is Ṡ v where `biased`, which asks for the table once more at these v."""
    # q: Gauss–Newton on the pose error
    for _ in range(FIT_LIMIT):
        fill_joint_table(classes, index, parameters, parts, q_out, v_out, X_out, S_out, c_out)
        largest = 0.0
        for k in range(joints.size // JOINT):
            first = joints[JOINT * k + 2]
            count = joints[JOINT * k + 3]
            R, p, _, _ = relative_pose(frames, X_WB, joints[JOINT * k], joints[JOINT * k + 1], k)
            solve_normal(S_out, first, count, fit_error(X_out, R, p, k), scratch_out, step_out)
            for j in range(first, first + count):
                largest = max(largest, abs(step_out[j]))
        if not largest > FIT_ENOUGH:
            break
        advance_joints(classes, index, parameters, q_out, step_out, 1.0, q_out)
    # v = S⁺ V_FM, with relative twists and what the fit leaves
    for k in range(joints.size // JOINT):
        parent = joints[JOINT * k]
        child = joints[JOINT * k + 1]
        R_FM, p_FM, R_MP, p_MP = relative_pose(frames, X_WB, parent, child, k)
        R_BM = load9(frames, FRAMES * k + 12)
        p_BM = load3(frames, FRAMES * k + 21)
        at = SEEN * k
        store9(R_MP, at, seen_out)
        store3(p_MP, at + 9, seen_out)
        store9((R_BM[0], R_BM[3], R_BM[6], R_BM[1], R_BM[4], R_BM[7], R_BM[2], R_BM[5], R_BM[8]), at + 12, seen_out)
        p_MB = rotate_back(R_BM, p_BM)
        store3((-p_MB[0], -p_MB[1], -p_MB[2]), at + 21, seen_out)
        V_B = seen_from(R_BM, p_BM, load6(V_WB, 6 * child))
        V_P = twist_across(R_MP, p_MP, load6(V_WB, 6 * parent))
        e = fit_error(X_out, R_FM, p_FM, k)
        for i in range(6):
            seen_out[at + 24 + i] = V_B[i] - V_P[i]
            seen_out[at + 30 + i] = V_P[i]
            seen_out[at + 36 + i] = e[i]
        first = joints[JOINT * k + 2]
        solve_normal(S_out, first, joints[JOINT * k + 3], load6(seen_out, at + 24), scratch_out, v_out)
    if biased:
        fill_joint_table(classes, index, parameters, parts, q_out, v_out, X_out, S_out, c_out)


@device
def wrench_back(seen, at, t):
    """Adᵀ t: what the wrench t at M is on the body whose pose in M stands at `at` (body axes, at its origin)."""
    R = load9(seen, at)
    p = load3(seen, at + 9)
    f = (t[3], t[4], t[5])
    n = rotate_back(R, add3((t[0], t[1], t[2]), cross(f, p)))
    f = rotate_back(R, f)
    return (n[0], n[1], n[2], f[0], f[1], f[2])


@device
def first_free(taken, start, end):
    """The first of the places start … end − 1 that no bit of `taken` holds; `end` if there is none."""
    m = start
    while m < end and (taken >> m) & 1 == 1:
        m += 1
    return m


@device
def complement(size, turns, count, at, columns_out, T_out):
    """size − count orthonormal rows (6 numbers apart) across `count` columns of length `size`, `turns` of which are turns and come first,
    by Householder reflections.

    A column that only slides is reflected onto a slide, so that its reflection leaves turns alone: rows of joints whose motions are turns
    and slides are turns [rad] and slides [m] as well, however axes lie. columns_out holds the columns, 6 numbers apart, and is used up
    for the reflectors.
    """
    taken = 0
    for i in range(count):
        turned = 0.0
        norm = 0.0
        for m in range(size):
            norm += columns_out[6 * i + m] * columns_out[6 * i + m]
            if m < turns:
                turned = norm
        # the axis onto which this column is reflected: a slide for a column that only slides
        pivot = first_free(taken, 0 if turned > ONLY_SLIDES * norm else turns, size)
        if pivot == size:
            pivot = first_free(taken, 0, size)
        # the earlier reflections act on it; what lies along their axes is done with
        for j in range(i):
            total = 0.0
            for m in range(size):
                total += columns_out[6 * j + m] * columns_out[6 * i + m]
            for m in range(size):
                columns_out[6 * i + m] -= 2.0 * total * columns_out[6 * j + m]
        norm = 0.0
        for m in range(size):
            if (taken >> m) & 1 == 1:
                columns_out[6 * i + m] = 0.0
            norm += columns_out[6 * i + m] * columns_out[6 * i + m]
        # the reflector u = (x ± |x| e) / |…|, with the sign that does not cancel
        taken |= 1 << pivot
        norm = sqrt(norm)
        head = columns_out[6 * i + pivot]
        columns_out[6 * i + pivot] = head + (norm if head >= 0.0 else -norm)
        norm = 0.0
        for m in range(size):
            norm += columns_out[6 * i + m] * columns_out[6 * i + m]
        norm = 1.0 / sqrt(norm) if norm > 0.0 else 0.0
        for m in range(size):
            columns_out[6 * i + m] *= norm
    # the axes that are left, reflected back: T = H₁ H₂ … e
    place = 0
    for r in range(size - count):
        k = at + 6 * r
        place = first_free(taken, place, size)
        for m in range(size):
            T_out[k + m] = 1.0 if m == place else 0.0
        place += 1
        for i in range(count - 1, -1, -1):
            total = 0.0
            for m in range(size):
                total += columns_out[6 * i + m] * T_out[k + m]
            for m in range(size):
                T_out[k + m] -= 2.0 * total * columns_out[6 * i + m]


@device
def fill_complement(S, planes, k, first, count, at, scratch_out, T_out):
    """Rows T of joint k: the complement of S, in a planar world that within the plane (`planes`: n, e₁, e₂ in M's axes)."""
    if planes.size == 0:
        for i in range(count):
            for m in range(6):
                scratch_out[6 * i + m] = S[6 * (first + i) + m]
        complement(6, 3, count, at, scratch_out, T_out)
    else:
        n = load3(planes, 9 * k)
        e1 = load3(planes, 9 * k + 3)
        e2 = load3(planes, 9 * k + 6)
        for i in range(count):
            slide = load3(S, 6 * (first + i) + 3)
            scratch_out[6 * i] = dot3(n, load3(S, 6 * (first + i)))
            scratch_out[6 * i + 1] = dot3(e1, slide)
            scratch_out[6 * i + 2] = dot3(e2, slide)
        complement(3, 1, count, at, scratch_out, T_out)
        for r in range(3 - count):
            t = load3(T_out, at + 6 * r)
            for m in range(3):
                T_out[at + 6 * r + m] = t[0] * n[m]
                T_out[at + 6 * r + 3 + m] = t[1] * e1[m] + t[2] * e2[m]


@kernel
def fill_joint_rows(
    joints: Ints, planes: Floats, S: Floats, c: Floats, seen: Floats, scratch_out: Floats, T_out: Floats, G_out: Floats,
    residual_out: Floats, rate_out: Floats, bias_out: Floats,
) -> None:  # fmt: skip
    """The rows of all relative joints: T (6 a row, M's axes), blocks G (child then parent, 6 each a row), residual, rate, bias."""
    for k in range(joints.size // JOINT):
        row = joints[JOINT * k + 4]
        rows = joints[JOINT * k + 5]
        if rows == 0:
            continue
        fill_complement(S, planes, k, joints[JOINT * k + 2], joints[JOINT * k + 3], 6 * row, scratch_out, T_out)
        at = SEEN * k
        V = load6(seen, at + 24)
        turned = cross_motion(V, load6(seen, at + 30))
        for r in range(row, row + rows):
            t = load6(T_out, 6 * r)
            on_child = wrench_back(seen, at + 12, t)
            on_parent = wrench_back(seen, at, t)
            residual = 0.0
            rate = 0.0
            bias = 0.0
            for m in range(6):
                G_out[12 * r + m] = on_child[m]
                G_out[12 * r + 6 + m] = -on_parent[m]
                residual += t[m] * seen[at + 36 + m]
                rate += t[m] * V[m]
                bias += t[m] * (turned[m] - c[6 * k + m])
            residual_out[r] = residual
            rate_out[r] = rate
            bias_out[r] = bias


@kernel
def fill_duals(joints: Ints, S: Floats, scratch_out: Floats, dual_out: Floats) -> None:
    """S⁺ of all relative joints, 6 numbers a degree of freedom: v_j = S⁺ V_FM, and an effort τ is the wrench (S⁺)ᵀ τ."""
    for k in range(joints.size // JOINT):
        first = joints[JOINT * k + 2]
        count = joints[JOINT * k + 3]
        for m in range(6):
            unit = (
                1.0 if m == 0 else 0.0, 1.0 if m == 1 else 0.0, 1.0 if m == 2 else 0.0,
                1.0 if m == 3 else 0.0, 1.0 if m == 4 else 0.0, 1.0 if m == 5 else 0.0,
            )  # fmt: skip
            solve_normal(S, first, count, unit, scratch_out[0:36], scratch_out[36:])
            for j in range(first, first + count):
                dual_out[6 * j + m] = scratch_out[36 + j]


@kernel
def add_joint_efforts(joints: Ints, dual: Floats, seen: Floats, effort: Floats, F_out: Floats) -> None:
    """Efforts of relative joints as wrenches on their two bodies (body axes, at the origins)."""
    for k in range(joints.size // JOINT):
        parent = joints[JOINT * k]
        child = joints[JOINT * k + 1]
        w = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for j in range(joints[JOINT * k + 2], joints[JOINT * k + 2] + joints[JOINT * k + 3]):
            t = effort[j]
            s = load6(dual, 6 * j)
            w = (w[0] + t * s[0], w[1] + t * s[1], w[2] + t * s[2], w[3] + t * s[3], w[4] + t * s[4], w[5] + t * s[5])
        on_child = wrench_back(seen, SEEN * k + 12, w)
        on_parent = wrench_back(seen, SEEN * k, w)
        for m in range(6):
            F_out[6 * child + m] += on_child[m]
            F_out[6 * parent + m] -= on_parent[m]


@kernel
def fill_element_rows(
    classes: Ints, index: Ints, parameters: Floats, X: Floats, V: Floats, q: Floats, v: Floats, signals: Floats,
    G_out: Floats, J_out: Floats, residual_out: Floats, bias_out: Floats, drift_out: Floats,
) -> None:  # fmt: skip
    """The rows of constraint elements, class by class; drift_out is zero on entry."""
    for k in range(classes.size // ROW_CLASS):
        at = ROW_CLASS * k
        mine = cut(index, classes[at + 1], classes[at + 2] - classes[at + 1])
        own = cut(parameters, classes[at + 3], classes[at + 4] - classes[at + 3])
        FillRows(classes[at], mine, own, X, V, q, v, signals, G_out, J_out, residual_out, bias_out, drift_out)
