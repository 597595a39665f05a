"""Reduced coordinates: the generalised vectors are the coordinates and velocities of the tree joints.

One fill of the joint table by class, of pure rotations by their angles; then type-free sweeps on triples (`unibody.triple`). Root to
leaves, with everything of body i in world axes at the origin of its joint frame M (shifts only; inertias are rotated once):

    X_WM = X_WM_parent X_FM…,   S ← X_WM S,   V_i = V_parent + S v,   c_i = V_i × S v + X_WM (Ṡ v)
    B_i = the rigid inertia,    w_i = V_i ×* B_i V_i − F_i

ζ is the acceleration that the bodies would have with all joint accelerations zero, J̇ v, started from that of the ground, −g.
`unibody.algebra.tree.aba` then gives what the joint accelerations add (the articulated-body algorithm), and any other product with M⁻¹.
"""

from __future__ import annotations

from math import cos, sin

from unibody.algebra.block.sym6 import offset
from unibody.algebra.tree.aba import BODY, COLUMN, GENERAL, LOOSE, RIGID, ROTATION, ROW, SLIDE, WELD, C, P, V, W
from unibody.arena import part

from unibody.coordinates.reduced.workspace import (  # isort: skip
    BODIES, COLUMNS, CONSTANTS as BODY_CONSTANTS, PARTS, ROWS, TABLE_C, TABLE_S, TABLE_X, TURNS,
)  # fmt: skip
from unibody.coordinates.workspace import CLASSES, INDEX, PARAMETERS, SIGNALS
from unibody.joints.table import advance_joints, fill_joint_table, rate_joints
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, load3, load9, rotate, store3, sub3

from unibody.spatial.triples import (  # isort: skip
    FAR, composed, crossed, fetch_columns, mixed, put_columns, rotated, rotated_symmetric, sines_cosines, times_diagonals,
)  # fmt: skip
from unibody.triple import across_x, across_y, across_z, fetch, join, minus, plus, put, put_four, put_only, spread, sums, x_of, y_of, z_of

CONSTANTS = 22
"""Numbers of a body: X of F in the parent's M (12), then mass, m c_M (3), inertia about M's origin in M's axes (6). The frames F and M of a
body that hangs on a pure rotation are turned so that its axis is their z: all it needs of its joint are a cosine and a sine."""


@kernel
def fill_turns(turns: Ints, q: Floats, X_out: Floats) -> None:
    """Cosine and sine of the angles of joints that are pure rotations, in the first two places of their rows of the table.

    `turns` holds the place of an angle in q and that of its row for every such joint, three joints at a time."""
    for k in range(turns.size // 6):
        i = offset(6 * k)
        f, g, h = q[offset(turns[i])], q[offset(turns[i + 1])], q[offset(turns[i + 2])]
        x, y, z = offset(turns[i + 3]), offset(turns[i + 4]), offset(turns[i + 5])
        if abs(f) < FAR and abs(g) < FAR and abs(h) < FAR:
            sines, cosines = sines_cosines(join(f, g, h))
            X_out[x], X_out[y], X_out[z] = x_of(cosines), y_of(cosines), z_of(cosines)
            X_out[x + 1], X_out[y + 1], X_out[z + 1] = x_of(sines), y_of(sines), z_of(sines)
        else:
            X_out[x], X_out[y], X_out[z] = cos(f), cos(g), cos(h)
            X_out[x + 1], X_out[y + 1], X_out[z + 1] = sin(f), sin(g), sin(h)


@device
def put_column(s, t, k, columns_out):
    put(s, k, columns_out)
    put_only(t, k + 3, columns_out)


@kernel
def sweep_reduced(
    body: Ints, constants: Floats, X: Floats, S: Floats, c: Floats, v: Floats, signals: Floats, rows_out: Floats, columns_out: Floats
) -> None:
    """Poses, twists, columns, bias accelerations, rigid inertias and gyroscopic wrenches of all bodies; row 0 is given."""
    zero = spread(0.0)
    R = fetch_columns(rows_out, 0)
    p = fetch(rows_out, P)
    o = fetch(rows_out, V)
    l = fetch(rows_out, V + 3)
    zo = fetch(rows_out, C)
    zl = fetch(rows_out, C + 3)
    for i in range(1, body.size // BODY):
        at = offset(BODY * i)
        k = offset(ROW * i)
        g = offset(CONSTANTS * i)
        x = offset(12 * (i - 1))
        parent, first, count, slot, kind = body[at], offset(body[at + 1]), body[at + 2], body[at + 3], body[at + 4]
        # what the parent left in the registers, or in memory where the last body was another
        if parent != i - 1 or i == 1:
            m = offset(ROW * parent)
            R = fetch_columns(rows_out, m)
            p = fetch(rows_out, m + P)
            o = fetch(rows_out, m + V)
            l = fetch(rows_out, m + V + 3)
            zo = fetch(rows_out, m + C)
            zl = fetch(rows_out, m + C + 3)
        # F on the parent; then M = F X_FM, S v = (a, b) and Ṡ v = (d, e) in world axes, by what the joint's class promises
        F = composed(R, constants, g)
        r = rotated(R, constants, g + 9)
        a = zero
        b = zero
        d = zero
        e = zero
        if kind == ROTATION:
            cosine, sine = X[x], X[x + 1]
            R = (plus(F[0] * cosine, F[1], sine), minus(F[1] * cosine, F[0], sine), F[2])
            put(F[2], offset(COLUMN * first), columns_out)
            columns_out[offset(COLUMN * first) + 3] = 0.0
            a = v[first] * F[2]
        elif kind == SLIDE:
            R = F
            r = r + rotated(F, X, x + 9)
            t = rotated(F, S, offset(6 * first) + 3)
            put(zero, offset(COLUMN * first), columns_out)
            put_only(t, offset(COLUMN * first) + 3, columns_out)
            b = v[first] * t
        elif kind == LOOSE:
            R = composed(F, X, x)
            r = r + rotated(F, X, x + 9)
            z = offset(COLUMN * first)
            put_column(R[0], zero, z, columns_out)
            put_column(R[1], zero, z + COLUMN, columns_out)
            put_column(R[2], zero, z + 2 * COLUMN, columns_out)
            put_column(zero, R[0], z + 3 * COLUMN, columns_out)
            put_column(zero, R[1], z + 4 * COLUMN, columns_out)
            put_column(zero, R[2], z + 5 * COLUMN, columns_out)
            a = mixed(R, v[first], v[first + 1], v[first + 2])
            b = mixed(R, v[first + 3], v[first + 4], v[first + 5])
        elif kind == WELD and slot < 0:
            R = F
        elif slot < 0:  # any joint
            R = composed(F, X, x)
            r = r + rotated(F, X, x + 9)
            for step in range(count):
                j = offset(first + step)
                s = rotated(R, S, offset(6 * j))
                t = rotated(R, S, offset(6 * j) + 3)
                put_column(s, t, offset(COLUMN * j), columns_out)
                a = plus(a, v[j], s)
                b = plus(b, v[j], t)
            d = rotated(R, c, offset(6 * (i - 1)))
            e = rotated(R, c, offset(6 * (i - 1)) + 3)
        else:  # driven: pose, twist and its rate are told
            z = offset(slot)
            R = composed(F, signals, z)
            r = r + rotated(F, signals, z + 9)
            a = rotated(R, signals, z + 12)
            b = rotated(R, signals, z + 15)
            d = rotated(R, signals, z + 18)
            e = rotated(R, signals, z + 21)
        p = p + r
        # twist and ζ of the parent at this point; in V × (S v) the part of V that is S v itself gives nothing
        l = l + crossed(o, r)
        zl = (zl + crossed(zo, r)) + (e + (crossed(o, b) + crossed(l, a)))
        zo = zo + (d + crossed(o, a))
        o = o + a
        l = l + b
        # rigid inertia about M's origin in world axes: m, h = m c, J; momentum and its gyroscopic rate
        mass = constants[g + 12]
        h = rotated(R, constants, g + 13)
        diagonal, beside = rotated_symmetric(R, constants, g + 16)
        n = times_diagonals(diagonal, beside, o) + crossed(h, l)
        f = plus(crossed(o, h), mass, l)
        put_columns(R, k, rows_out)
        put(p, k + P, rows_out)
        put(o, k + V, rows_out)
        put(l, k + V + 3, rows_out)
        put(zo, k + C, rows_out)
        put(zl, k + C + 3, rows_out)
        put((times_diagonals(diagonal, beside, zo) + crossed(h, zl)) + (crossed(o, n) + crossed(l, f)), k + W, rows_out)
        put(plus(crossed(zo, h) + crossed(o, f), mass, zl), k + W + 3, rows_out)
        rows_out[k + RIGID] = mass
        put(h, k + RIGID + 1, rows_out)
        put(diagonal, k + RIGID + 4, rows_out)
        put(beside, k + RIGID + 7, rows_out)


@device
def sweep_at(layout, ints, constants, q, v, work_out):
    """The joint table and the sweep of a bound system at (q, v) and the signals at hand."""
    table_X = part(work_out, layout, TABLE_X)
    table_S = part(work_out, layout, TABLE_S)
    table_c = part(work_out, layout, TABLE_C)
    fill_joint_table(
        part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), part(ints, layout, PARTS), q, v,
        table_X, table_S, table_c,
    )  # fmt: skip
    fill_turns(part(ints, layout, TURNS), q, table_X)
    sweep_reduced(
        part(ints, layout, BODIES), part(constants, layout, BODY_CONSTANTS), table_X, table_S, table_c, v, part(work_out, layout, SIGNALS),
        part(work_out, layout, ROWS), part(work_out, layout, COLUMNS),
    )  # fmt: skip


@kernel
def sweep_velocities(
    body: Ints, c: Floats, v: Floats, signals: Floats, columns: Floats, width: int, kept_out: Floats, rows_out: Floats
) -> None:
    """What `sweep_reduced` finds for other velocities v at the same coordinates: V and ζ of each body go to kept_out, `width` numbers a
    body, gyroscopic wrenches to the rows, of which all else stays."""
    zero = spread(0.0)
    o = fetch(rows_out, V)
    l = fetch(rows_out, V + 3)
    zo = fetch(rows_out, C)
    zl = fetch(rows_out, C + 3)
    for i in range(1, body.size // BODY):
        at = offset(BODY * i)
        k = offset(ROW * i)
        parent, first, count, slot, kind = body[at], offset(body[at + 1]), body[at + 2], body[at + 3], body[at + 4]
        m = offset(ROW * parent)
        # V and ζ of the parent, along a chain in registers
        if parent == 0:
            o = fetch(rows_out, V)
            l = fetch(rows_out, V + 3)
            zo = fetch(rows_out, C)
            zl = fetch(rows_out, C + 3)
        elif parent != i - 1:
            above = offset(width * parent)
            o = fetch(kept_out, above)
            l = fetch(kept_out, above + 3)
            zo = fetch(kept_out, above + 6)
            zl = fetch(kept_out, above + 9)
        # S v and Ṡ v of the joint, by its columns; of a driven body by signals
        r = fetch(rows_out, k + P) - fetch(rows_out, m + P)
        a = zero
        b = zero
        d = zero
        e = zero
        if kind == ROTATION:
            a = v[first] * fetch(columns, offset(COLUMN * first))
        elif slot < 0:
            for step in range(count):
                j = offset(first + step)
                a = plus(a, v[j], fetch(columns, offset(COLUMN * j)))
                b = plus(b, v[j], fetch(columns, offset(COLUMN * j) + 3))
            if kind == GENERAL:
                R = fetch_columns(rows_out, k)
                d = rotated(R, c, offset(6 * (i - 1)))
                e = rotated(R, c, offset(6 * (i - 1)) + 3)
        else:
            R = fetch_columns(rows_out, k)
            z = offset(slot)
            a = rotated(R, signals, z + 12)
            b = rotated(R, signals, z + 15)
            d = rotated(R, signals, z + 18)
            e = rotated(R, signals, z + 21)
        # as in `sweep_reduced`
        l = l + crossed(o, r)
        zl = (zl + crossed(zo, r)) + (e + (crossed(o, b) + crossed(l, a)))
        zo = zo + (d + crossed(o, a))
        o = o + a
        l = l + b
        # w = B ζ + V ×* B V
        mass = rows_out[k + RIGID]
        h = fetch(rows_out, k + RIGID + 1)
        diagonal = fetch(rows_out, k + RIGID + 4)
        beside = fetch(rows_out, k + RIGID + 7)
        n = times_diagonals(diagonal, beside, o) + crossed(h, l)
        f = plus(crossed(o, h), mass, l)
        place = offset(width * i)
        put(o, place, kept_out)
        put(l, place + 3, kept_out)
        put(zo, place + 6, kept_out)
        put_only(zl, place + 9, kept_out)
        put((times_diagonals(diagonal, beside, zo) + crossed(h, zl)) + (crossed(o, n) + crossed(l, f)), k + W, rows_out)
        put_only(plus(crossed(zo, h) + crossed(o, f), mass, zl), k + W + 3, rows_out)


@kernel
def fill_bodies(frames: Floats, rows: Floats, X_out: Floats, V_out: Floats) -> None:
    """X_WB and V_WB_B of all bodies from the sweep; `frames` holds X_MB (12 a body)."""
    for i in range(frames.size // 12):
        k, g = offset(ROW * i), offset(12 * i)
        R_M = fetch_columns(rows, k)
        x, y, z = composed(R_M, frames, g)
        d = rotated(R_M, frames, g + 9)
        o = fetch(rows, k + V)
        l = fetch(rows, k + V + 3) + crossed(o, d)
        put_four(across_x(x, y, z, z), g, X_out)
        put_four(across_y(x, y, z, z), g + 3, X_out)
        put_four(across_z(x, y, z, z), g + 6, X_out)
        put_only(fetch(rows, k + P) + d, g + 9, X_out)
        put(sums(x * o, y * o, z * o), offset(6 * i), V_out)
        put_only(sums(x * l, y * l, z * l), offset(6 * i) + 3, V_out)


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
        idle = True
        for j in range(6 * i, 6 * i + 6):
            idle = idle and F[j] == 0.0
        if idle:
            continue
        t, f = wrench_at_joint(X, rows_out, i, load3(F, 6 * i), load3(F, 6 * i + 3))
        k = ROW * i + W
        for j in range(3):
            rows_out[k + j] -= t[j]
            rows_out[k + 3 + j] -= f[j]


@kernel
def advance_own(layout: Ints, ints: Ints, constants: Floats, q: Floats, v: Floats, h: float, q_out: Floats) -> None:
    """The system's own q moved along v for h (q and q_out may be the same array)."""
    advance_joints(part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), q, v, h, q_out)


@kernel
def rate_own(layout: Ints, ints: Ints, constants: Floats, q: Floats, v: Floats, qdot_out: Floats) -> None:
    """The time derivative of the system's own q."""
    rate_joints(part(ints, layout, CLASSES), part(ints, layout, INDEX), part(constants, layout, PARAMETERS), q, v, qdot_out)
