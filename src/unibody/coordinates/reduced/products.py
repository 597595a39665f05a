"""Products in reduced coordinates, each O(n): J v, Jᵀ F, J̇ v, inverse dynamics, wrenches through joints, energies; and the mass matrix.

All read the rows and columns that `sweep_reduced` left: poses, twists, S in world axes at each joint frame's origin.

    J v    twists of the bodies for joint velocities v            Jᵀ F   efforts that balance wrenches F on the bodies
    J̇ v    their bias accelerations (the sweep's c, carried out)   RNEA   f_i = B_i a_i + w_i − F_i + Σ children,  τ = Sᵀ f + armature a
    CRBA   M[i, j] = S_jᵀ (composite inertia of the subtree of i) S_i
"""

from __future__ import annotations

from unibody.algebra.block.sym6 import dot6, offset
from unibody.algebra.tree.aba import BODY, COLUMN, RIGID, ROW, A, C, P, V
from unibody.algebra.tree.factor import add_shifted_block, load21, rigid_block, times_block
from unibody.arena import part
from unibody.coordinates.reduced.kinematics import wrench_at_joint
from unibody.coordinates.reduced.workspace import BODIES, MIDDLE_ROWS, MIDDLE_WIDTH, ROWS
from unibody.coordinates.workspace import ARMATURE, Y
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load6, store3, sub3
from unibody.spatial.triples import crossed, times_diagonals
from unibody.triple import fetch, plus
from unibody.triple import total as sum_of


@kernel
def carry_accelerations(body: Ints, y: Floats, columns: Floats, rows_out: Floats) -> None:
    """Spatial accelerations ζ + J y of all bodies (slot A of the rows) for joint accelerations y."""
    for m in range(6):
        rows_out[A + m] = rows_out[C + m]
    for i in range(1, body.size // BODY):
        k = ROW * i
        m = ROW * body[BODY * i]
        o = sub3(load3(rows_out, m + A), load3(rows_out, m + C))
        r = sub3(load3(rows_out, k + P), load3(rows_out, m + P))
        t = add3(sub3(load3(rows_out, m + A + 3), load3(rows_out, m + C + 3)), cross(o, r))
        x = (o[0], o[1], o[2], t[0], t[1], t[2])
        first = body[BODY * i + 1]
        for j in range(first, first + body[BODY * i + 2]):
            s = load6(columns, COLUMN * j)
            x = (x[0] + s[0] * y[j], x[1] + s[1] * y[j], x[2] + s[2] * y[j], x[3] + s[3] * y[j], x[4] + s[4] * y[j], x[5] + s[5] * y[j])
        for j in range(6):
            rows_out[k + A + j] = x[j] + rows_out[k + C + j]


@kernel
def fill_wrenches(body: Ints, rows: Floats, X: Floats, F: Floats, gravity: Floats, f_out: Floats, energy_out: Floats) -> None:
    """f = B a + V ×* B V − F of every body by itself (world axes, at M's origin); kinetic and gravity energy [J]."""
    energy_out[0] = 0.0
    energy_out[1] = 0.0
    for m in range(6):
        f_out[m] = 0.0
    g = load3(gravity, 0)
    for i in range(1, body.size // BODY):
        k = ROW * i
        o = load3(rows, k + V)
        l = load3(rows, k + V + 3)
        a = load3(rows, k + A)
        b = load3(rows, k + A + 3)
        mass = rows[k + RIGID]
        h = load3(rows, k + RIGID + 1)
        block = rigid_block(rows, k + RIGID)
        p = times_block(block, (o[0], o[1], o[2], l[0], l[1], l[2]))
        w = times_block(block, (a[0], a[1], a[2], b[0], b[1], b[2]))
        n = (p[0], p[1], p[2])
        q = (p[3], p[4], p[5])
        energy_out[0] += 0.5 * (dot3(n, o) + dot3(q, l))
        energy_out[1] -= mass * dot3(g, load3(rows, k + P)) + dot3(g, h)
        t, f = wrench_at_joint(X, rows, i, load3(F, 6 * i), load3(F, 6 * i + 3))
        gyro = add3(cross(o, n), cross(l, q))
        rate = cross(o, q)
        for m in range(3):
            f_out[6 * i + m] = w[m] + gyro[m] - t[m]
            f_out[6 * i + 3 + m] = w[3 + m] + rate[m] - f[m]


@kernel
def gather_wrenches(body: Ints, rows: Floats, columns: Floats, f_out: Floats, effort_out: Floats) -> None:
    """Sum the wrenches of subtrees: f_out becomes the wrench through each body's joint, effort_out its part along S."""
    for i in range(body.size // BODY - 1, 0, -1):
        parent = body[BODY * i]
        f = load6(f_out, 6 * i)
        first = body[BODY * i + 1]
        for j in range(first, first + body[BODY * i + 2]):
            effort_out[j] = dot6(load6(columns, COLUMN * j), f)
        r = sub3(load3(rows, ROW * i + P), load3(rows, ROW * parent + P))
        t = cross(r, (f[3], f[4], f[5]))
        for m in range(3):
            f_out[6 * parent + m] += f[m] + t[m]
            f_out[6 * parent + 3 + m] += f[3 + m]


@kernel
def push_velocities(body: Ints, rows: Floats, columns: Floats, v: Floats, V_out: Floats) -> None:
    """J v: twists (world axes, at M's origin) of all bodies for joint velocities v."""
    for m in range(6):
        V_out[m] = 0.0
    for i in range(1, body.size // BODY):
        parent = body[BODY * i]
        o = load3(V_out, 6 * parent)
        l = add3(load3(V_out, 6 * parent + 3), cross(o, sub3(load3(rows, ROW * i + P), load3(rows, ROW * parent + P))))
        first = body[BODY * i + 1]
        for j in range(first, first + body[BODY * i + 2]):
            o = (o[0] + columns[COLUMN * j] * v[j], o[1] + columns[COLUMN * j + 1] * v[j], o[2] + columns[COLUMN * j + 2] * v[j])
            l = (l[0] + columns[COLUMN * j + 3] * v[j], l[1] + columns[COLUMN * j + 4] * v[j], l[2] + columns[COLUMN * j + 5] * v[j])
        store3(o, 6 * i, V_out)
        store3(l, 6 * i + 3, V_out)


@kernel
def fill_mass_matrix(body: Ints, armature: Floats, rows: Floats, columns: Floats, composite_out: Floats, M_out: Floats) -> None:
    """The joint-space mass matrix (dense, nv×nv) by composite rigid bodies; the rows hold rigid inertias as the sweep left them."""
    n = body.size // BODY
    nv = body[BODY * (n - 1) + 1] + body[BODY * (n - 1) + 2] if n > 1 else 0
    for k in range(nv * nv):
        M_out[k] = 0.0
    for i in range(n):
        block = rigid_block(rows, ROW * i + RIGID)
        for k in range(21):
            composite_out[21 * i + k] = block[k]
    for i in range(n - 1, 0, -1):
        parent = body[BODY * i]
        block = load21(composite_out, 21 * i)
        if parent > 0:
            add_shifted_block(block, sub3(load3(rows, ROW * i + P), load3(rows, ROW * parent + P)), 21 * parent, composite_out)
        first = body[BODY * i + 1]
        for j in range(first, first + body[BODY * i + 2]):
            f = times_block(block, load6(columns, COLUMN * j))
            at = i
            while at > 0:
                start = body[BODY * at + 1]
                for c in range(start, start + body[BODY * at + 2]):
                    value = dot6(load6(columns, COLUMN * c), f)
                    M_out[nv * j + c] = value
                    M_out[nv * c + j] = value
                above = body[BODY * at]
                t = cross(sub3(load3(rows, ROW * at + P), load3(rows, ROW * above + P)), (f[3], f[4], f[5]))
                f = (f[0] + t[0], f[1] + t[1], f[2] + t[2], f[3], f[4], f[5])
                at = above
            M_out[nv * j + j] += armature[j]


@device
def momentum(rows, k, o, l):
    """B (o, l) of the rigid inertia at k, in triples."""
    h = fetch(rows, k + 1)
    n = times_diagonals(fetch(rows, k + 4), fetch(rows, k + 7), o) + crossed(h, l)
    return n, plus(crossed(o, h), rows[k], l)


@kernel
def twice_kinetic_energy(layout: Ints, ints: Ints, constants: Floats, v: Floats, work_out: Floats) -> float:
    """vᵀ M v [J]."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    armature = part(constants, layout, ARMATURE)
    total = 0.0
    for i in range(1, body.size // BODY):
        k = offset(ROW * i)
        o = fetch(rows, k + V)
        l = fetch(rows, k + V + 3)
        n, p = momentum(rows, k + RIGID, o, l)
        total += sum_of(plus(o * n, l, p))
    for j in range(part(work_out, layout, Y).size):
        total += armature[j] * v[j] * v[j]
    return total


@kernel
def copy_in_middle(layout: Ints, ints: Ints, work: Floats, rows_out: Floats) -> None:
    """The rows with V, ζ and accelerations as they are at v̄, where loads and momenta balance."""
    kept = part(work, layout, MIDDLE_ROWS)
    rows_out[:] = part(work, layout, ROWS)
    for i in range(1, part(ints, layout, BODIES).size // BODY):
        k = ROW * i
        for m in range(6):
            rows_out[k + V + m] = kept[MIDDLE_WIDTH * i + m]
            rows_out[k + A + m] += kept[MIDDLE_WIDTH * i + 6 + m] - rows_out[k + C + m]
            rows_out[k + C + m] = kept[MIDDLE_WIDTH * i + 6 + m]
