"""The matrix and the right side of a linearly implicit step, from the implicit terms of forces.

Forces give their blocks in body axes at the body's origin; here they are carried to world axes at the joint frame's origin, where the tree
lives: the 6×6 diagonal blocks join the bodies' inertias, the others stay couplings of pairs of bodies. Afterwards, if asked for, what
the implicit terms contributed is added to the loads.
"""

from __future__ import annotations

from unibody.algebra.block.sym6 import dot6
from unibody.algebra.tree.aba import BODY, COLUMN, RIGID, ROW, W, fill_shifts
from unibody.algebra.tree.factor import add_blocks, load21, rigid_block, shifted_block, store21, times_block
from unibody.algebra.tree.pcg import add_product
from unibody.arena import part
from unibody.coordinates.external_forces import add_implicit
from unibody.coordinates.reduced.kinematics import wrench_at_joint
from unibody.coordinates.relative_joints import SEEN as SEEN_SIZE
from unibody.coordinates.relative_joints import add_joint_efforts, wrench_back

from unibody.coordinates.reduced.workspace import (  # isort: skip
    BLOCKS, BODIES, COLUMNS, COUPLING, DIAGONAL, IMPLICIT_CHOICE, IMPLICIT_EFFORT, IMPLICIT_F, IMPLICIT_INDEX, IMPLICIT_PARAMETERS,
    IMPLICIT_PLACES, LEAST, OWN, ROWS, SHIFT, STEP_LENGTH,
)  # fmt: skip
from unibody.coordinates.workspace import ARMATURE, DUAL, JOINTS, LIMIT, LOAD, RIGHT, SEEN, SIGNALS, V_WB, X_WB, F, Y
from unibody.kernel import Floats, Ints, device, kernel
from unibody.solvers.redmax.workspace import GROUND_PAIRS, LOOP_COUPLINGS, PAIRS, WORLD_COUPLING
from unibody.spatial.devices import add3, compose_rotations, cross, load3, load6, load9, rotate_back, rotate_symmetric, sub3

SINGLE, SEVERAL = 0.05, 1e-3
"""Part of a body's own inertia along a column below which a pivot says that implicit terms make the matrix indefinite."""


@device
def transpose9(R):
    return (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])


@device
def turned9(R_a, M, R_b):
    """R_a M R_bᵀ."""
    return compose_rotations(compose_rotations(R_a, M), transpose9(R_b))


@device
def block_at_joint(own, k, R, d):
    """A symmetric block in body axes at the body's origin, in world axes at the joint frame's origin, d before the former."""
    a = rotate_symmetric(R, load6(own, k))
    m = turned9(R, load9(own, k + 6), R)
    c = rotate_symmetric(R, load6(own, k + 15))
    return shifted_block(
        (a[0], a[1], a[2], a[3], a[4], a[5], m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], c[0], c[1], c[2], c[3], c[4], c[5]), d
    )


@device
def quarter(n, k):
    """A 3×3 part of a 6×6 block."""
    return (n[k], n[k + 1], n[k + 2], n[k + 6], n[k + 7], n[k + 8], n[k + 12], n[k + 13], n[k + 14])


@device
def store_quarter(m, k, n_out):
    n_out[k], n_out[k + 1], n_out[k + 2] = m[0], m[1], m[2]
    n_out[k + 6], n_out[k + 7], n_out[k + 8] = m[3], m[4], m[5]
    n_out[k + 12], n_out[k + 13], n_out[k + 14] = m[6], m[7], m[8]


@device
def add9(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5], a[6] + b[6], a[7] + b[7], a[8] + b[8])


@device
def skew_times(d, m):
    """[d]× M."""
    return (
        d[1] * m[6] - d[2] * m[3], d[1] * m[7] - d[2] * m[4], d[1] * m[8] - d[2] * m[5],
        d[2] * m[0] - d[0] * m[6], d[2] * m[1] - d[0] * m[7], d[2] * m[2] - d[0] * m[8],
        d[0] * m[3] - d[1] * m[0], d[0] * m[4] - d[1] * m[1], d[0] * m[5] - d[1] * m[2],
    )  # fmt: skip


@device
def times_skew(m, d):
    """−M [d]×."""
    return (
        m[2] * d[1] - m[1] * d[2], m[0] * d[2] - m[2] * d[0], m[1] * d[0] - m[0] * d[1],
        m[5] * d[1] - m[4] * d[2], m[3] * d[2] - m[5] * d[0], m[4] * d[0] - m[3] * d[1],
        m[8] * d[1] - m[7] * d[2], m[6] * d[2] - m[8] * d[0], m[7] * d[0] - m[6] * d[1],
    )  # fmt: skip


@device
def coupling_at_joints(n, k, R_a, d_a, R_b, d_b, n_out):
    """A coupling in body axes at the bodies' origins, in world axes at the joint frames' origins."""
    aa = turned9(R_a, quarter(n, k), R_b)
    al = turned9(R_a, quarter(n, k + 3), R_b)
    la = turned9(R_a, quarter(n, k + 18), R_b)
    ll = turned9(R_a, quarter(n, k + 21), R_b)
    # columns: v at b's origin is v + ω × d; rows: the torque about a's joint gains d × f
    aa = add9(aa, times_skew(al, d_b))
    la = add9(la, times_skew(ll, d_b))
    aa = add9(aa, skew_times(d_a, la))
    al = add9(al, skew_times(d_a, ll))
    store_quarter(aa, k, n_out)
    store_quarter(al, k + 3, n_out)
    store_quarter(la, k + 18, n_out)
    store_quarter(ll, k + 21, n_out)


@kernel
def couple_loops(layout: Ints, ints: Ints, work_out: Floats) -> None:
    """The implicit terms of springs and motors in loop joints, which are no coordinates here, as couplings of their two bodies."""
    table = part(ints, layout, LOOP_COUPLINGS)
    joints = part(ints, layout, JOINTS)
    seen = part(work_out, layout, SEEN)
    dual = part(work_out, layout, DUAL)
    diagonal = part(work_out, layout, DIAGONAL)
    own = part(work_out, layout, OWN)
    coupling = part(work_out, layout, COUPLING)
    for e in range(table.size // 3):
        joint, v, place = table[3 * e], table[3 * e + 1], table[3 * e + 2]
        parent, child = joints[6 * joint], joints[6 * joint + 1]
        s = load6(dual, 6 * v)
        a = wrench_back(seen, SEEN_SIZE * joint + 12, s)
        b = wrench_back(seen, SEEN_SIZE * joint, s)
        d = diagonal[v]
        add_square(d, a, 21 * child, own)
        add_square(d, b, 21 * parent, own)
        if place >= 0:
            for i in range(6):
                for j in range(6):
                    coupling[36 * place + 6 * i + j] -= d * a[i] * b[j]
    add_joint_efforts(joints, dual, seen, part(work_out, layout, IMPLICIT_EFFORT), part(work_out, layout, IMPLICIT_F))


@device
def fill_terms(classes, layout, ints, constants, control, project, work_out, q_out, v_out):
    """The implicit terms of the forces of these classes."""
    h = part(constants, layout, IMPLICIT_CHOICE)[STEP_LENGTH]
    add_implicit(
        classes, part(ints, layout, IMPLICIT_INDEX), part(constants, layout, IMPLICIT_PARAMETERS), part(ints, layout, IMPLICIT_PLACES),
        part(constants, layout, LIMIT), part(work_out, layout, SIGNALS), part(work_out, layout, X_WB), part(work_out, layout, V_WB),
        q_out, v_out, control, h, project, part(work_out, layout, IMPLICIT_F), part(work_out, layout, IMPLICIT_EFFORT),
        part(work_out, layout, OWN), part(work_out, layout, COUPLING), part(work_out, layout, DIAGONAL),
    )  # fmt: skip
    if part(ints, layout, LOOP_COUPLINGS).size > 0:
        couple_loops(layout, ints, work_out)


@device
def add_square(d, a, k, own_out):
    """Add d a aᵀ to a block of 21 numbers."""
    for i in range(3):
        for j in range(3):
            own_out[k + 6 + 3 * i + j] += d * a[i] * a[3 + j]
    at = 0
    for i in range(3):
        for j in range(i, 3):
            own_out[k + at] += d * a[i] * a[j]
            own_out[k + 15 + at] += d * a[3 + i] * a[3 + j]
            at += 1


@kernel
def fill_matrix(layout: Ints, ints: Ints, constants: Floats, implicit: int, work_out: Floats) -> None:
    """The tree's blocks and couplings in world axes, the diagonal (armature added), and shifts; without implicit terms if there are none
    (`implicit` 0)."""
    body = part(ints, layout, BODIES)
    pairs = part(ints, layout, PAIRS)
    rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    own = part(work_out, layout, OWN)
    blocks = part(work_out, layout, BLOCKS)
    diagonal = part(work_out, layout, DIAGONAL)
    armature = part(constants, layout, ARMATURE)
    coupling = part(work_out, layout, COUPLING)
    placed = part(work_out, layout, WORLD_COUPLING)
    fill_shifts(body, rows, part(work_out, layout, SHIFT))
    for j in range(part(work_out, layout, Y).size):
        diagonal[j] += armature[j]
    for i in range(1, body.size // BODY):
        rigid = rigid_block(rows, ROW * i + RIGID)
        if implicit != 0 and own.size > 0:
            d = sub3(load3(X, 12 * i + 9), load3(rows, ROW * i + 9))
            rigid = add_blocks(rigid, block_at_joint(own, 21 * i, load9(X, 12 * i), d))
        store21(rigid, 21 * i, blocks)
    if implicit != 0:
        place_couplings(pairs, 0, X, rows, coupling, placed)


@kernel
def fill_least(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """What pivots of the tree are to be above."""
    body = part(ints, layout, BODIES)
    rows = part(work_out, layout, ROWS)
    columns = part(work_out, layout, COLUMNS)
    armature = part(constants, layout, ARMATURE)
    least = part(work_out, layout, LEAST)
    for i in range(1, body.size // BODY):
        rigid = rigid_block(rows, ROW * i + RIGID)
        first, count = body[BODY * i + 1], body[BODY * i + 2]
        for j in range(first, first + count):
            s = load6(columns, COLUMN * j)
            least[j] = (SINGLE if count == 1 else SEVERAL) * (dot6(s, times_block(rigid, s)) + armature[j])


@device
def place_couplings(pairs, first, X, rows, coupling, placed_out):
    """Couplings, from number `first` on, in world axes at the joint frames' origins."""
    for e in range(pairs.size // 2):
        a, b = pairs[2 * e], pairs[2 * e + 1]
        d_a = sub3(load3(X, 12 * a + 9), load3(rows, ROW * a + 9))
        d_b = sub3(load3(X, 12 * b + 9), load3(rows, ROW * b + 9))
        coupling_at_joints(coupling, 36 * (first + e), load9(X, 12 * a), d_a, load9(X, 12 * b), d_b, placed_out)


@kernel
def fill_right(layout: Ints, ints: Ints, constants: Floats, implicit: int, work_out: Floats, f_out: Floats, right_out: Floats) -> None:
    """The right side: wrenches at the joint frames and efforts, implicit terms included where there are any."""
    rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    extra = part(work_out, layout, IMPLICIT_F)
    effort = part(work_out, layout, IMPLICIT_EFFORT)
    given = part(work_out, layout, RIGHT)
    for i in range(1, part(ints, layout, BODIES).size // BODY):
        if implicit != 0 and extra.size > 0:
            t, f = wrench_at_joint(X, rows, i, load3(extra, 6 * i), load3(extra, 6 * i + 3))
        else:
            t, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for m in range(3):
            f_out[6 * i + m] = t[m] - rows[ROW * i + W + m]
            f_out[6 * i + 3 + m] = f[m] - rows[ROW * i + W + 3 + m]
    for j in range(right_out.size):
        right_out[j] = given[j] + (effort[j] if implicit != 0 and effort.size > 0 else 0.0)


@kernel
def fill_wrenches_beside(layout: Ints, ints: Ints, work_out: Floats, f_out: Floats) -> None:
    """IMPLICIT_F as wrenches at the joint frames, world axes."""
    rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    beside = part(work_out, layout, IMPLICIT_F)
    for i in range(1, part(ints, layout, BODIES).size // BODY):
        t, f = wrench_at_joint(X, rows, i, load3(beside, 6 * i), load3(beside, 6 * i + 3))
        for m in range(3):
            f_out[6 * i + m] = t[m]
            f_out[6 * i + 3 + m] = f[m]


@device
def twist_of_body(X, rows, i, x):
    """Of x (6 a body: world axes, at the joint frame's origin) the part of body i in its axes at its origin."""
    R = load9(X, 12 * i)
    o = load3(x, 6 * i)
    l = add3(load3(x, 6 * i + 3), cross(o, sub3(load3(X, 12 * i + 9), load3(rows, ROW * i + 9))))
    o = rotate_back(R, o)
    l = rotate_back(R, l)
    return (o[0], o[1], o[2], l[0], l[1], l[2])


@kernel
def add_implicit_loads(layout: Ints, ints: Ints, x: Floats, work_out: Floats) -> None:
    """h K v + (h D + h² K) a as wrenches in body axes, into F."""
    rows = part(work_out, layout, ROWS)
    X = part(work_out, layout, X_WB)
    wrenches = part(work_out, layout, F)
    extra = part(work_out, layout, IMPLICIT_F)
    load = part(work_out, layout, LOAD)
    body = part(ints, layout, BODIES)
    blocks = part(work_out, layout, BLOCKS)
    table = part(ints, layout, LOOP_COUPLINGS)
    joints = part(ints, layout, JOINTS)
    right = part(work_out, layout, RIGHT)
    # joints that close loops: the implicit effort and its part −(h D + h² K) S⁺ (x_child − x_parent)
    for e in range(table.size // 3):
        joint, v = table[3 * e], table[3 * e + 1]
        s = load6(part(work_out, layout, DUAL), 6 * v)
        on_child = wrench_back(part(work_out, layout, SEEN), SEEN_SIZE * joint + 12, s)
        on_parent = wrench_back(part(work_out, layout, SEEN), SEEN_SIZE * joint, s)
        moved = dot6(on_child, twist_of_body(X, rows, joints[6 * joint + 1], x))
        moved -= dot6(on_parent, twist_of_body(X, rows, joints[6 * joint], x))
        right[v] += part(work_out, layout, IMPLICIT_EFFORT)[v] - part(work_out, layout, DIAGONAL)[v] * moved
    # forces between two bodies: their coupling blocks times x
    for k in range(load.size):
        load[k] = 0.0
    pairs = part(ints, layout, PAIRS)
    ground = part(ints, layout, GROUND_PAIRS)
    placed = part(work_out, layout, WORLD_COUPLING)
    place_couplings(ground, pairs.size // 2, X, rows, part(work_out, layout, COUPLING), placed)
    add_product(-1.0, pairs, blocks[:0], placed, x, load)
    add_product(-1.0, ground, blocks[:0], placed[18 * pairs.size :], x, load)
    # the implicit part of each block is B − M, so −(B − M) x; then into body axes, at the origin of the body
    for i in range(1, body.size // BODY):
        at = load6(x, 6 * i)
        mine = times_block(load21(blocks, 21 * i), at)
        rigid = times_block(rigid_block(rows, ROW * i + RIGID), at)
        w = (
            load[6 * i] - mine[0] + rigid[0], load[6 * i + 1] - mine[1] + rigid[1], load[6 * i + 2] - mine[2] + rigid[2],
            load[6 * i + 3] - mine[3] + rigid[3], load[6 * i + 4] - mine[4] + rigid[4], load[6 * i + 5] - mine[5] + rigid[5],
        )  # fmt: skip
        R = load9(X, 12 * i)
        t = cross(sub3(load3(rows, ROW * i + 9), load3(X, 12 * i + 9)), (w[3], w[4], w[5]))
        for m in range(3):
            torque = R[m] * (w[0] + t[0]) + R[3 + m] * (w[1] + t[1]) + R[6 + m] * (w[2] + t[2])
            force = R[m] * w[3] + R[3 + m] * w[4] + R[6 + m] * w[5]
            wrenches[6 * i + m] += extra[6 * i + m] + torque
            wrenches[6 * i + 3 + m] += extra[6 * i + 3 + m] + force
    for k in range(load.size):
        load[k] = 0.0
