"""Reduced coordinates: the generalised vectors are the coordinates and velocities of the tree joints.

One fill of the joint table by class, then type-free sweeps. Root to leaves, with everything of body i in world axes at the origin of
its joint frame M (shifts only; inertias are rotated once):

    X_WM = X_WM_parent X_FM…,   S ← X_WM S,   V_i = V_parent + S v,   c_i = V_i × S v + X_WM (Ṡ v)
    B_i = the rigid inertia,    w_i = V_i ×* B_i V_i − F_i

ζ is the acceleration that the bodies would have with all joint accelerations zero, J̇ v, started from that of the ground, −g.
`unibody.algebra.tree` then gives what the joint accelerations add (the articulated-body algorithm), and any other product with M⁻¹.
"""

from __future__ import annotations

from unibody.algebra.blocks6 import offset
from unibody.algebra.tree import BODY, COLUMN, RIGID, ROTATION, ROW, SLIDE, C, P, V, W
from unibody.joints.base import JOINT_CLASS, PART, AdvanceJoints, FillJoints, RateJoints
from unibody.kernel import Floats, Ints, device, kernel

from unibody.spatial.devices import (  # isort: skip
    add3, compose_rotations, cross, load3, load6, load9, rotate, rotate_back, rotate_symmetric, scale3, store3, store9, sub3,
    times_symmetric,
)  # fmt: skip

CONSTANTS = 25
"""Numbers of a body: X of F in the parent's M (12), then mass, m c_M (3), inertia about M's origin in M's axes (6), then, for a body that
hangs on a pure rotation, its axis (3). The frames F and M of such a body are turned so that this axis is their z."""

DRIVE = 24
"""Numbers of a prescribed motion: X_FM (12), V and A of M in F in M's axes (6 + 6)."""


@kernel
def fill_joint_table(
    classes: Ints, index: Ints, parameters: Floats, parts: Ints, q: Floats, v: Floats, X_out: Floats, S_out: Floats, c_out: Floats
) -> None:
    """X_FM, S and Ṡ v of every joint, class by class; then composites from their parts."""
    for k in range(classes.size // JOINT_CLASS):
        at = JOINT_CLASS * k
        mine = index[classes[at + 3] : classes[at + 4]]
        numbers = parameters[classes[at + 5] : classes[at + 6]]
        FillJoints(classes[at], mine, numbers, q, v, X_out, S_out, c_out)
    if parts.size > 0:
        compose_parts(parts, v, X_out, S_out, c_out)


@device
def compose_parts(parts, v, X_out, S_out, c_out):
    """Composite joints: X = X₁ X₂ …, columns and bias of earlier parts carried to the last frame."""
    start = 0
    twist = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(parts.size // PART):
        joint = parts[PART * k]
        row = parts[PART * k + 1]
        v0 = parts[PART * k + 2]
        nv = parts[PART * k + 3]
        R = load9(X_out, 12 * row)
        p = load3(X_out, 12 * row + 9)
        own = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for j in range(v0, v0 + nv):
            s = load6(S_out, 6 * j)
            own = (
                own[0] + s[0] * v[j], own[1] + s[1] * v[j], own[2] + s[2] * v[j],
                own[3] + s[3] * v[j], own[4] + s[4] * v[j], own[5] + s[5] * v[j],
            )  # fmt: skip
        if parts[PART * k + 4] == 1:
            start = v0
            for j in range(12):
                X_out[12 * joint + j] = X_out[12 * row + j]
            for j in range(6):
                c_out[6 * joint + j] = c_out[6 * row + j]
            twist = own
        else:
            R_0 = load9(X_out, 12 * joint)
            p_0 = load3(X_out, 12 * joint + 9)
            store9(compose_rotations(R_0, R), 12 * joint, X_out)
            store3(add3(p_0, rotate(R_0, p)), 12 * joint + 9, X_out)
            for j in range(start, v0):
                s = seen_from(R, p, load6(S_out, 6 * j))
                for i in range(6):
                    S_out[6 * j + i] = s[i]
            twist = seen_from(R, p, twist)
            c = seen_from(R, p, load6(c_out, 6 * joint))
            d = cross_motion(own, twist)
            for i in range(6):
                c_out[6 * joint + i] = c[i] - d[i] + c_out[6 * row + i]
            twist = (twist[0] + own[0], twist[1] + own[1], twist[2] + own[2], twist[3] + own[3], twist[4] + own[4], twist[5] + own[5])


@device
def seen_from(R, p, s):
    """Ad(X⁻¹) s for the pose X = (R, p)."""
    t = rotate_back(R, (s[0], s[1], s[2]))
    f = rotate_back(R, sub3((s[3], s[4], s[5]), cross(p, (s[0], s[1], s[2]))))
    return (t[0], t[1], t[2], f[0], f[1], f[2])


@device
def cross_motion(a, b):
    """a × b for twists."""
    t = cross((a[0], a[1], a[2]), (b[0], b[1], b[2]))
    f = add3(cross((a[0], a[1], a[2]), (b[3], b[4], b[5])), cross((a[3], a[4], a[5]), (b[0], b[1], b[2])))
    return (t[0], t[1], t[2], f[0], f[1], f[2])


@kernel
def sweep_reduced(
    body: Ints, constants: Floats, X: Floats, S: Floats, c: Floats, v: Floats, signals: Floats, rows_out: Floats, columns_out: Floats
) -> None:
    """Poses, twists, columns, bias accelerations, rigid inertias and gyroscopic wrenches of all bodies; row 0 is given."""
    R = load9(rows_out, 0)
    p = load3(rows_out, P)
    o = load3(rows_out, V)
    l = load3(rows_out, V + 3)
    zo = load3(rows_out, C)
    zl = load3(rows_out, C + 3)
    for i in range(1, body.size // BODY):
        at = offset(BODY * i)
        k = offset(ROW * i)
        m = offset(ROW * body[at])
        g = offset(CONSTANTS * i)
        x = offset(12 * (i - 1))
        first, count, slot, kind = offset(body[at + 1]), body[at + 2], body[at + 3], body[at + 4]
        if body[at] != i - 1 or i == 1:
            R = load9(rows_out, m)
            p = load3(rows_out, m + P)
            o = load3(rows_out, m + V)
            l = load3(rows_out, m + V + 3)
            zo = load3(rows_out, m + C)
            zl = load3(rows_out, m + C + 3)
        R_P = R
        p_P = p
        R_F = compose_rotations(R_P, load9(constants, g))
        p = add3(p_P, rotate(R_P, load3(constants, g + 9)))
        a = (0.0, 0.0, 0.0)
        b = (0.0, 0.0, 0.0)
        d = (0.0, 0.0, 0.0)
        e = (0.0, 0.0, 0.0)
        if kind == ROTATION:
            # a turn about z by the angle of the joint's rotation: its trace is 1 + 2 cos, its skew part sin times the axis
            turn = 0.5 * (X[x] + X[x + 4] + X[x + 8] - 1.0)
            lift = 0.5 * (
                constants[g + 22] * (X[x + 7] - X[x + 5])
                + constants[g + 23] * (X[x + 2] - X[x + 6])
                + constants[g + 24] * (X[x + 3] - X[x + 1])
            )
            R = (
                R_F[0] * turn + R_F[1] * lift, R_F[1] * turn - R_F[0] * lift, R_F[2],
                R_F[3] * turn + R_F[4] * lift, R_F[4] * turn - R_F[3] * lift, R_F[5],
                R_F[6] * turn + R_F[7] * lift, R_F[7] * turn - R_F[6] * lift, R_F[8],
            )  # fmt: skip
            s = (R[2], R[5], R[8])
            store3(s, offset(COLUMN * first), columns_out)
            a = scale3(v[first], s)
        elif kind == SLIDE:
            R = R_F
            p = add3(p, rotate(R_F, load3(X, x + 9)))
            t = rotate(R, load3(S, offset(6 * first) + 3))
            store3((0.0, 0.0, 0.0), offset(COLUMN * first), columns_out)
            store3(t, offset(COLUMN * first) + 3, columns_out)
            b = scale3(v[first], t)
        elif slot < 0:
            R = compose_rotations(R_F, load9(X, x))
            p = add3(p, rotate(R_F, load3(X, x + 9)))
            for step in range(count):
                j = offset(first + step)
                s = rotate(R, load3(S, offset(6 * j)))
                t = rotate(R, load3(S, offset(6 * j) + 3))
                store3(s, offset(COLUMN * j), columns_out)
                store3(t, offset(COLUMN * j) + 3, columns_out)
                a = add3(a, scale3(v[j], s))
                b = add3(b, scale3(v[j], t))
            d = rotate(R, load3(c, offset(6 * (i - 1))))
            e = rotate(R, load3(c, offset(6 * (i - 1)) + 3))
        else:
            z = offset(slot)
            R = compose_rotations(R_F, load9(signals, z))
            p = add3(p, rotate(R_F, load3(signals, z + 9)))
            a = rotate(R, load3(signals, z + 12))
            b = rotate(R, load3(signals, z + 15))
            d = rotate(R, load3(signals, z + 18))
            e = rotate(R, load3(signals, z + 21))
        store9(R, k, rows_out)
        store3(p, k + P, rows_out)
        # twist and ζ of the parent at this point; in V × (S v) the part of V that is S v itself gives nothing
        r = sub3(p, p_P)
        l = add3(l, cross(o, r))
        zl = add3(add3(zl, cross(zo, r)), add3(e, add3(cross(o, b), cross(l, a))))
        zo = add3(zo, add3(d, cross(o, a)))
        store3(zo, k + C, rows_out)
        store3(zl, k + C + 3, rows_out)
        o = add3(o, a)
        l = add3(l, b)
        store3(o, k + V, rows_out)
        store3(l, k + V + 3, rows_out)
        # rigid inertia about M's origin in world axes: m, h = m c, J; momentum and its gyroscopic rate
        mass = constants[g + 12]
        h = rotate(R, load3(constants, g + 13))
        J = rotate_symmetric(R, load6(constants, g + 16))
        n = add3(times_symmetric(J, o), cross(h, l))
        f = add3(scale3(mass, l), cross(o, h))
        store3(add3(add3(times_symmetric(J, zo), cross(h, zl)), add3(cross(o, n), cross(l, f))), k + W, rows_out)
        store3(add3(add3(scale3(mass, zl), cross(zo, h)), cross(o, f)), k + W + 3, rows_out)
        rows_out[k + RIGID] = mass
        store3(h, k + RIGID + 1, rows_out)
        store3((J[0], J[1], J[2]), k + RIGID + 4, rows_out)
        store3((J[3], J[4], J[5]), k + RIGID + 7, rows_out)


@kernel
def fill_bodies(frames: Floats, rows: Floats, X_out: Floats, V_out: Floats) -> None:
    """X_WB and V_WB_B of all bodies from the sweep; `frames` holds X_MB (12 a body)."""
    for i in range(frames.size // 12):
        k = ROW * i
        R_M = load9(rows, k)
        R = compose_rotations(R_M, load9(frames, 12 * i))
        d = rotate(R_M, load3(frames, 12 * i + 9))
        store9(R, 12 * i, X_out)
        store3(add3(load3(rows, k + P), d), 12 * i + 9, X_out)
        o = load3(rows, k + V)
        store3(rotate_back(R, o), 6 * i, V_out)
        store3(rotate_back(R, add3(load3(rows, k + V + 3), cross(o, d))), 6 * i + 3, V_out)


@device
def wrench_at_joint(X, rows, i, t, f):
    """A wrench (t, f) on body i, in body axes at its origin, in world axes at M's origin."""
    R = load9(X, 12 * i)
    f_W = rotate(R, f)
    t_W = add3(rotate(R, t), cross(sub3(load3(X, 12 * i + 9), load3(rows, ROW * i + P)), f_W))
    return t_W, f_W


@device
def place_entries(entry_body, blocks, X, rows, world_out):
    """Wrenches (6 an entry, body axes, at the bodies' origins) on the bodies of entries, in world axes at M's origins."""
    for e in range(entry_body.size):
        t, f = wrench_at_joint(X, rows, entry_body[e], load3(blocks, 6 * e), load3(blocks, 6 * e + 3))
        store3(t, 6 * e, world_out)
        store3(f, 6 * e + 3, world_out)


@kernel
def load_wrenches(X: Floats, F: Floats, rows_out: Floats) -> None:
    """Take the wrenches F (body axes, at the bodies' origins) off w."""
    for i in range(1, X.size // 12):
        t, f = wrench_at_joint(X, rows_out, i, load3(F, 6 * i), load3(F, 6 * i + 3))
        k = ROW * i + W
        for j in range(3):
            rows_out[k + j] -= t[j]
            rows_out[k + 3 + j] -= f[j]


@kernel
def advance_joints(classes: Ints, index: Ints, parameters: Floats, q: Floats, v: Floats, h: float, q_out: Floats) -> None:
    """q moved along v for h, class by class (q and q_out may be the same)."""
    for k in range(classes.size // JOINT_CLASS):
        at = JOINT_CLASS * k
        mine = index[classes[at + 3] : classes[at + 4]]
        AdvanceJoints(classes[at + 1], mine, parameters[classes[at + 7] : classes[at + 8]], q, v, h, q_out)


@kernel
def rate_joints(classes: Ints, index: Ints, parameters: Floats, q: Floats, v: Floats, qdot_out: Floats) -> None:
    """q̇, class by class."""
    for k in range(classes.size // JOINT_CLASS):
        at = JOINT_CLASS * k
        mine = index[classes[at + 3] : classes[at + 4]]
        RateJoints(classes[at + 2], mine, parameters[classes[at + 7] : classes[at + 8]], q, v, qdot_out)
