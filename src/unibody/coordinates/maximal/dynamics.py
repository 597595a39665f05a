"""Maximal coordinates: every moving body has its own pose and twist, and every joint is rows (paper 001).

    M_i V̇_i = F_i − V_i ×* M_i V_i + Σ Gᵀ λ,      G V̇ + bias = −(2/τ) Ċ − C/τ²

with V the body-fixed twist at the body's origin, so that M_i is constant. A spanning forest of the joints gives the primary rows, one joint
per body (node); what closes loops, and constraint elements, are auxiliary rows. In a plane the same equations are narrowed to three
velocities per body, (ω, v₁, v₂) in body axes: a 6-vector (a, b) becomes (n·a, e₁·b, e₂·b).

The armature I of a joint is a row along S with compliance 1/I: its multiplier is the effort −I v̇_j.
"""

from __future__ import annotations

from math import cos, sin

from unibody.arena import part
from unibody.coordinates.evaluate_rows import see_rows
from unibody.coordinates.external_forces import load_forces
from unibody.coordinates.kick import NODE_NUMBERS, kick_body
from unibody.coordinates.relative_joints import JOINT, SEEN, add_joint_efforts, wrench_back
from unibody.coordinates.signals import FillSignals

from unibody.coordinates.maximal.workspace import (  # isort: skip
    A_WB, DRIVEN, NODE_B, NODE_BODY, NODE_C, NODE_F, NODE_G, NODE_JOINT, NODE_P, NODE_ROWS, PLANES, WORLD_PLANE,
)  # fmt: skip
from unibody.coordinates.workspace import (  # isort: skip
    ARMATURE, BIAS, COMPLIANCE, COUNTS, DUAL, EFFORT, ENTRY_BODY, ENTRY_W, F, FORCE_CLASSES, FORCE_INDEX, FORCE_PARAMETERS, G, GRAVITY,
    JOINTS, JOINT_C, LEDGER, LIMIT, NODE_CONSTANTS, PRIMARY, RATE, RESIDUAL, RIGHT, ROW_ENTRY, ROW_START, SEEN as SEEN_SLOT, SIGNALS,
    STABILISER, TARGET, V_WB, WIDTH, X_WB, Y as Y_SLOT,
)  # fmt: skip
from unibody.coordinates.stages import CLOSE_STAGE, SIGNAL_STAGE, Stage
from unibody.joints.free import screw_displacement
from unibody.kernel import Floats, Ints, cut, device, kernel

from unibody.spatial.devices import (  # isort: skip
    add3, compose_rotations, cross, cross_motion, dot3, load3, load6, load9, rotate_back, rotation_about, rotation_of_quaternion, scale3,
    store3, store9, sub3,
)  # fmt: skip

PLANE_NUMBERS = 21
"""Numbers of a body in a plane: n, e₁, e₂ in its axes (9), R_WB at angle 0 (9), its distance from the plane times n (3)."""


@kernel
def place_bodies(layout: Ints, ints: Ints, constants: Floats, q: Floats, v: Floats, work_out: Floats) -> None:
    """X_WB and V_WB_B of all bodies from the coordinates of the moving ones and the signals of the driven ones."""
    X = part(work_out, layout, X_WB)
    V = part(work_out, layout, V_WB)
    A = part(work_out, layout, A_WB)
    signals = part(work_out, layout, SIGNALS)
    driven = part(ints, layout, DRIVEN)
    for k in range(driven.size // 2):
        i = driven[2 * k]
        s = driven[2 * k + 1]
        for m in range(12):
            X[12 * i + m] = signals[s + m]
        for m in range(6):
            V[6 * i + m] = signals[s + 12 + m]
            A[6 * i + m] = signals[s + 18 + m]
    bodies = part(ints, layout, NODE_BODY)
    if part(ints, layout, COUNTS)[WIDTH] == 6:
        for k in range(bodies.size // 2):
            i = bodies[2 * k]
            m = bodies[2 * k + 1]
            store9(rotation_of_quaternion(q[7 * m + 3], q[7 * m + 4], q[7 * m + 5], q[7 * m + 6]), 12 * i, X)
            store3(load3(q, 7 * m), 12 * i + 9, X)
            for j in range(6):
                V[6 * i + j] = v[6 * m + j]
    else:
        planes = part(constants, layout, PLANES)
        world = part(constants, layout, WORLD_PLANE)
        n = load3(world, 0)
        e1 = load3(world, 3)
        e2 = load3(world, 6)
        for k in range(bodies.size // 2):
            i = bodies[2 * k]
            m = bodies[2 * k + 1]
            at = PLANE_NUMBERS * i
            angle = q[3 * m + 2]
            store9(compose_rotations(rotation_about(n, sin(angle), cos(angle)), load9(planes, at + 9)), 12 * i, X)
            p = add3(load3(planes, at + 18), add3(scale3(q[3 * m], e1), scale3(q[3 * m + 1], e2)))
            store3(p, 12 * i + 9, X)
            store3(scale3(v[3 * m], load3(planes, at)), 6 * i, V)
            store3(add3(scale3(v[3 * m + 1], load3(planes, at + 3)), scale3(v[3 * m + 2], load3(planes, at + 6))), 6 * i + 3, V)


@kernel
def narrow_entries(width: int, planes: Floats, entry_body: Ints, G6: Floats, entries_out: Floats) -> None:
    """Entries as they meet the velocities of nodes: 6 wide, or narrowed to the plane."""
    for e in range(entry_body.size):
        if width == 6:
            for m in range(6):
                entries_out[6 * e + m] = G6[6 * e + m]
        else:
            at = PLANE_NUMBERS * entry_body[e]
            a = load3(G6, 6 * e)
            b = load3(G6, 6 * e + 3)
            entries_out[3 * e] = dot3(load3(planes, at), a)
            entries_out[3 * e + 1] = dot3(load3(planes, at + 3), b)
            entries_out[3 * e + 2] = dot3(load3(planes, at + 6), b)


@device
def narrow(width, planes, body, w, at, node_out):
    """A 6-vector on a body as `width` numbers of a node."""
    if width == 6:
        for m in range(6):
            node_out[at + m] = w[m]
    else:
        p = PLANE_NUMBERS * body
        a = (w[0], w[1], w[2])
        b = (w[3], w[4], w[5])
        node_out[at] = dot3(load3(planes, p), a)
        node_out[at + 1] = dot3(load3(planes, p + 3), b)
        node_out[at + 2] = dot3(load3(planes, p + 6), b)


@device
def motion_of_driven(G6, e, A, body):
    """G times the given acceleration of a body that is driven (0 for all others)."""
    total = 0.0
    for m in range(6):
        total += G6[6 * e + m] * A[6 * body + m]
    return total


@kernel
def fill_node_rows(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """Blocks and right sides of the primary rows and armatures, and the targets of the auxiliary rows, at acceleration level."""
    # the topology, the rows as they were evaluated, and where blocks and right sides go
    width = part(ints, layout, COUNTS)[WIDTH]
    planes = part(constants, layout, PLANES)
    joints = part(ints, layout, JOINTS)
    node_joint = part(ints, layout, NODE_JOINT)
    node_rows = part(ints, layout, NODE_ROWS)
    entry_body = part(ints, layout, ENTRY_BODY)
    stabiliser = part(constants, layout, STABILISER)
    armature = part(constants, layout, ARMATURE)
    G6 = part(work_out, layout, G)
    entries = part(work_out, layout, ENTRY_W)
    A = part(work_out, layout, A_WB)
    residual = part(work_out, layout, RESIDUAL)
    rate = part(work_out, layout, RATE)
    bias = part(work_out, layout, BIAS)
    dual = part(work_out, layout, DUAL)
    seen = part(work_out, layout, SEEN_SLOT)
    c = part(work_out, layout, JOINT_C)
    own = part(work_out, layout, NODE_G)
    other = part(work_out, layout, NODE_P)
    compliance = part(work_out, layout, NODE_C)
    right = part(work_out, layout, NODE_B)
    narrow_entries(width, planes, entry_body, G6, entries)
    # primary rows: blocks on the node and on its parent, G V̇ = −bias − k_v Ċ − k_q C; driven bodies go to the right
    for i in range(node_rows.size):
        k = node_joint[2 * i]
        if k < 0:
            continue
        flipped = node_joint[2 * i + 1]
        at = JOINT * k
        row = joints[at + 4]
        count = joints[at + 5]
        for r in range(count):
            e = 2 * (row + r)
            a = e + 1 if flipped == 1 else e
            b = e if flipped == 1 else e + 1
            for m in range(width):
                own[(width * i + r) * width + m] = entries[width * a + m]
                other[(width * i + r) * width + m] = entries[width * b + m]
            moved = bias[row + r] + motion_of_driven(G6, e, A, entry_body[e]) + motion_of_driven(G6, e + 1, A, entry_body[e + 1])
            right[width * i + r] = -moved - stabiliser[0] * rate[row + r] - stabiliser[1] * residual[row + r]
            compliance[width * i + r] = 0.0
        # armatures: a row along S⁺ with compliance 1/I
        if node_rows[i] > count:
            parent = joints[at]
            child = joints[at + 1]
            turned = cross_motion(load6(seen, SEEN * k + 24), load6(seen, SEEN * k + 30))
            r = count
            for j in range(joints[at + 2], joints[at + 2] + joints[at + 3]):
                if armature[j] > 0.0:
                    # S⁺ on the child and, with a minus sign, on the parent; the known part of its acceleration goes to the right
                    s = load6(dual, 6 * j)
                    on_child = wrench_back(seen, SEEN * k + 12, s)
                    w = wrench_back(seen, SEEN * k, s)
                    on_parent = (-w[0], -w[1], -w[2], -w[3], -w[4], -w[5])
                    moved = 0.0
                    for m in range(6):
                        moved += s[m] * (turned[m] - c[6 * k + m]) + on_child[m] * A[6 * child + m] + on_parent[m] * A[6 * parent + m]
                    start = (width * i + r) * width
                    if flipped == 1:
                        narrow(width, planes, parent, on_parent, start, own)
                        narrow(width, planes, child, on_child, start, other)
                    else:
                        narrow(width, planes, child, on_child, start, own)
                        narrow(width, planes, parent, on_parent, start, other)
                    right[width * i + r] = -moved
                    compliance[width * i + r] = 1.0 / armature[j]
                    r += 1
    # targets of the auxiliary rows; those with compliance have no feedback
    row_start = part(ints, layout, ROW_START)
    row_entry = part(ints, layout, ROW_ENTRY)
    target = part(work_out, layout, TARGET)
    first = part(ints, layout, COUNTS)[PRIMARY]
    for r in range(target.size):
        moved = bias[first + r]
        for k in range(row_start[r], row_start[r + 1]):
            moved += motion_of_driven(G6, row_entry[k], A, entry_body[row_entry[k]])
        if part(constants, layout, COMPLIANCE)[r] > 0.0:
            target[r] = -moved
        else:
            target[r] = -moved - stabiliser[0] * rate[first + r] - stabiliser[1] * residual[first + r]


@kernel
def fill_node_forces(layout: Ints, ints: Ints, constants: Floats, work_out: Floats) -> None:
    """f of every node: applied wrenches, gravity and the gyroscopic wrench −V ×* M V, in body axes at the origin."""
    width = part(ints, layout, COUNTS)[WIDTH]
    planes = part(constants, layout, PLANES)
    bodies = part(ints, layout, NODE_BODY)
    numbers = part(constants, layout, NODE_CONSTANTS)
    g = load3(part(constants, layout, GRAVITY), 0)
    X = part(work_out, layout, X_WB)
    V = part(work_out, layout, V_WB)
    wrenches = part(work_out, layout, F)
    f = part(work_out, layout, NODE_F)
    for k in range(bodies.size // 2):
        i = bodies[2 * k]
        at = NODE_NUMBERS * k
        mass = numbers[at]
        c = load3(numbers, at + 1)
        o = load3(V, 6 * i)
        l = load3(V, 6 * i + 3)
        J = load6(numbers, at + 20)
        h = load3(numbers, at + 17)
        hl = cross(h, l)
        n = (
            J[0] * o[0] + J[1] * o[1] + J[2] * o[2] + hl[0],
            J[1] * o[0] + J[3] * o[1] + J[4] * o[2] + hl[1],
            J[2] * o[0] + J[4] * o[1] + J[5] * o[2] + hl[2],
        )
        p = add3(scale3(mass, l), cross(o, h))
        weight = rotate_back(load9(X, 12 * i), scale3(mass, g))
        turn = sub3(cross(c, weight), add3(cross(o, n), cross(l, p)))
        push = sub3(weight, cross(o, p))
        w = load6(wrenches, 6 * i)
        total = (w[0] + turn[0], w[1] + turn[1], w[2] + turn[2], w[3] + push[0], w[4] + push[1], w[5] + push[2])
        narrow(width, planes, i, total, width * k, f)


@device
def see_bodies_and_rows(layout, ints, constants, biased, work_out, q_out, v_out):
    """Bodies at (q, v) and all rows there (`see_rows`); q and v of joints, behind the bodies' own, are fitted."""
    width = part(ints, layout, COUNTS)[WIDTH]
    n = part(ints, layout, NODE_BODY).size // 2
    first_q, first_v = n * (7 if width == 6 else 3), n * width
    place_bodies(layout, ints, constants, q_out, v_out, work_out)
    joint_q, joint_v = cut(q_out, first_q, q_out.size - first_q), cut(v_out, first_v, v_out.size - first_v)
    see_rows(layout, ints, constants, biased, work_out, joint_q, joint_v)


@kernel
def evaluate_maximal(
    layout: Ints, ints: Ints, constants: Floats, stages: Ints, control: Floats, t: float, work_out: Floats, q_out: Floats, v_out: Floats
) -> None:
    """Accelerations (slot Y) of the moving bodies at (t, q, v); the joints' coordinates behind the bodies' own are fitted on the way."""
    if stages[SIGNAL_STAGE] != 0:
        FillSignals(stages[SIGNAL_STAGE], t, part(work_out, layout, SIGNALS))
    see_bodies_and_rows(layout, ints, constants, True, work_out, q_out, v_out)
    n = part(ints, layout, NODE_BODY).size // 2
    width = part(ints, layout, COUNTS)[WIDTH]
    joint_q = q_out[n * (7 if width == 6 else 3) :]
    joint_v = v_out[n * width :]
    right = part(work_out, layout, RIGHT)
    wrenches = part(work_out, layout, F)
    load_forces(
        part(ints, layout, FORCE_CLASSES), part(ints, layout, FORCE_INDEX), part(constants, layout, FORCE_PARAMETERS),
        part(constants, layout, LIMIT), part(work_out, layout, SIGNALS), part(work_out, layout, X_WB), part(work_out, layout, V_WB),
        joint_q, joint_v, control, part(work_out, layout, X_WB).size // 12, wrenches, part(work_out, layout, EFFORT),
        part(work_out, layout, LEDGER), right,
    )  # fmt: skip
    add_joint_efforts(part(ints, layout, JOINTS), part(work_out, layout, DUAL), part(work_out, layout, SEEN_SLOT), right, wrenches)
    fill_node_rows(layout, ints, constants, work_out)
    fill_node_forces(layout, ints, constants, work_out)
    Stage(stages[CLOSE_STAGE], layout, ints, constants, control, work_out, q_out, v_out)


@kernel
def kick_maximal(layout: Ints, ints: Ints, constants: Floats, h: float, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """Semi-implicit Euler in world momenta: P⁺ = P + h f, L⁺ = L + h τ about the centre of mass, then R and x with the new velocities.

    Internal forces cancel in P and L, so a free system keeps both to round-off, whatever h.
    """
    bodies = part(ints, layout, NODE_BODY)
    numbers = part(constants, layout, NODE_CONSTANTS)
    y = part(work_out, layout, Y_SLOT)
    for k in range(bodies.size // 2):
        kick_body(numbers, NODE_NUMBERS * k, h, y, 7 * bodies[2 * k + 1], 6 * bodies[2 * k + 1], q_out, v_out)


@kernel
def kick_planar(layout: Ints, ints: Ints, constants: Floats, h: float, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """The same in a plane: the velocity of the centre of mass in the plane's axes, and ω."""
    bodies = part(ints, layout, NODE_BODY)
    numbers = part(constants, layout, NODE_CONSTANTS)
    planes = part(constants, layout, PLANES)
    y = part(work_out, layout, Y_SLOT)
    for k in range(bodies.size // 2):
        a = 3 * bodies[2 * k + 1]
        at = PLANE_NUMBERS * bodies[2 * k]
        com = load3(numbers, NODE_NUMBERS * k + 1)
        c1 = dot3(load3(planes, at + 3), com)
        c2 = dot3(load3(planes, at + 6), com)
        o = v_out[a]
        s = sin(q_out[a + 2])
        c = cos(q_out[a + 2])
        u1 = v_out[a + 1] - o * c2
        u2 = v_out[a + 2] + o * c1
        a1 = y[a + 1] - y[a] * c2 - o * u2
        a2 = y[a + 2] + y[a] * c1 + o * u1
        w1 = c * (u1 + h * a1) - s * (u2 + h * a2)
        w2 = s * (u1 + h * a1) + c * (u2 + h * a2)
        o += h * y[a]
        x1 = q_out[a] + c * c1 - s * c2 + h * w1
        x2 = q_out[a + 1] + s * c1 + c * c2 + h * w2
        q_out[a + 2] += h * o
        s = sin(q_out[a + 2])
        c = cos(q_out[a + 2])
        q_out[a] = x1 - (c * c1 - s * c2)
        q_out[a + 1] = x2 - (s * c1 + c * c2)
        v_out[a] = o
        v_out[a + 1] = c * w1 + s * w2 + o * c2
        v_out[a + 2] = -s * w1 + c * w2 - o * c1


@kernel
def advance_plane(index: Ints, parameters: Floats, q: Floats, v: Floats, h: float, q_out: Floats) -> None:
    """Planar bodies along a constant body-fixed twist (ω, v₁, v₂)."""
    for k in range(index.size // 3):
        a = index[3 * k + 1]
        b = index[3 * k + 2]
        way = screw_displacement((0.0, 0.0, h * v[b]), (h * v[b + 1], h * v[b + 2], 0.0))
        s = sin(q[a + 2])
        c = cos(q[a + 2])
        x = q[a] + c * way[0] - s * way[1]
        z = q[a + 1] + s * way[0] + c * way[1]
        q_out[a + 2] = q[a + 2] + h * v[b]
        q_out[a] = x
        q_out[a + 1] = z


@kernel
def rate_plane(index: Ints, parameters: Floats, q: Floats, v: Floats, qdot_out: Floats) -> None:
    """The rates of planar bodies' positions and angle."""
    for k in range(index.size // 3):
        a = index[3 * k + 1]
        b = index[3 * k + 2]
        s = sin(q[a + 2])
        c = cos(q[a + 2])
        qdot_out[a] = c * v[b + 1] - s * v[b + 2]
        qdot_out[a + 1] = s * v[b + 1] + c * v[b + 2]
        qdot_out[a + 2] = v[b]
