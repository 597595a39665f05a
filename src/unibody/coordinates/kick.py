"""Semi-implicit steps of bodies that fly: velocities that turn with a body are carried over in axes that do not.

In body axes a velocity that stays as it is turns, v̇ = −ω × v, and v + h v̇ is longer than v: speed would grow as exp(h Ω² t/2).

    body alone      P⁺ = P + h f,  L⁺ = L + h τ about the centre of mass, in fixed axes;  R and x with the new velocities
    Free joint      u = R v_lin,  u⁺ = u + h R (v̇_lin + ω × v_lin),  ω⁺ = ω + h ω̇,  R⁺ = R exp(h[ω⁺]×),  p⁺ = p + h u⁺,  v_lin⁺ = R⁺ᵀ u⁺

The first keeps the momenta of a free body to round-off whatever h; the second, for a Free joint that carries more than one body, lets M's
origin fly straight, which circles around the centre of mass. A tree that floats is then shifted as a whole, and its velocities likewise,
so that its centre of mass goes as forces say:

    tree            P⁺ = P + h Σ ṗ_i(q, v, v̇),  x_c⁺ = x_c + h P⁺/m         ṗ_i: the rate of a body's momentum; what acts within cancels

A shift of all its bodies is a motion of its root joint alone, and does no more than that to forces and rows between them.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.tree.aba import RIGID, ROW, A, C, P, V
from unibody.arena import part
from unibody.coordinates.reduced.kinematics import sweep_at
from unibody.coordinates.reduced.products import carry_accelerations
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, FLOATING, FREE, MIDDLE_ROWS, MIDDLE_WIDTH, ROWS
from unibody.coordinates.workspace import CLASSES, GRAVITY, INDEX, NODE_CONSTANTS, PARAMETERS, STEP, Y
from unibody.joints.base import JOINT_CLASS, AdvanceJoints, Joint
from unibody.joints.free import Free
from unibody.joints.planar import Planar
from unibody.joints.translational import Translational
from unibody.kernel import Floats, Ints, cut, device, kernel
from unibody.model.model import BodyInfo, JointInfo, Model
from unibody.model.tables import JointTables

from unibody.spatial.devices import (  # isort: skip
    add3, cross, dot3, load3, load6, load9, rotate, rotate_back, rotation_of_quaternion, scale3, store3, sub3, times_symmetric,
    turned_quaternion,
)  # fmt: skip
from unibody.spatial.pose import spatial_inertia

NODE_NUMBERS = 27
"""Numbers of a body that is kicked: mass, centre of mass (3), inertia about it (6), its inverse (6), then about its origin: m, m c (3),
J (6); last how many steps its axes lead, see `kick_body`."""

ENTRY = 3
"""Numbers of a Free joint in the slot FREE, behind the number of its class: first coordinate, first velocity, and its place among the
bodies that fly alone or −1."""


@device
def kick_body(numbers, at, h, y, a, b, q_out, v_out):
    """A body with pose at q[a:], twist at v[b:] and accelerations at y[b:], by its momenta in fixed axes.

    R turns with the velocity that L⁺ gives in the old axes, or, of a body that flies alone, in those that it has half a step later, which
    makes torque-free turning of second order.
    """
    lead = h * numbers[at + NODE_NUMBERS - 1]
    mass = numbers[at]
    c = load3(numbers, at + 1)
    R = rotation_of_quaternion(q_out[a + 3], q_out[a + 4], q_out[a + 5], q_out[a + 6])
    o = load3(v_out, b)
    l = load3(v_out, b + 3)
    do = load3(y, b)
    dl = load3(y, b + 3)
    # momentum of the centre of mass and its rate, in world axes
    speed = add3(l, cross(o, c))
    pull = add3(add3(dl, cross(do, c)), cross(o, speed))
    P = scale3(mass, rotate(R, add3(speed, scale3(h, pull))))
    inertia = load6(numbers, at + 4)
    spin = times_symmetric(inertia, o)
    turn = add3(times_symmetric(inertia, do), cross(o, spin))
    L = rotate(R, add3(spin, scale3(h, turn)))
    inverse = load6(numbers, at + 10)
    spin = rotate_back(R, L)
    o = times_symmetric(inverse, spin)
    if lead > 0.0:
        o = add3(o, scale3(lead, times_symmetric(inverse, cross(spin, o))))
    x = add3(add3(load3(q_out, a), rotate(R, c)), scale3(h / mass, P))
    t = turned_quaternion(q_out[a + 3], q_out[a + 4], q_out[a + 5], q_out[a + 6], o[0], o[1], o[2], h)
    R = rotation_of_quaternion(t[0], t[1], t[2], t[3])
    store3(sub3(x, rotate(R, c)), a, q_out)
    for m in range(4):
        q_out[a + 3 + m] = t[m]
    o = times_symmetric(inverse, rotate_back(R, L))
    store3(o, b, v_out)
    store3(sub3(scale3(1.0 / mass, rotate_back(R, P)), cross(o, c)), b + 3, v_out)


@device
def kick_free(h, y, a, b, q_out, v_out):
    """A Free joint: its linear velocity in F's axes, the angular one as it is."""
    R = rotation_of_quaternion(q_out[a + 3], q_out[a + 4], q_out[a + 5], q_out[a + 6])
    o = load3(v_out, b)
    l = load3(v_out, b + 3)
    u = rotate(R, add3(l, scale3(h, add3(load3(y, b + 3), cross(o, l)))))
    o = add3(o, scale3(h, load3(y, b)))
    t = turned_quaternion(q_out[a + 3], q_out[a + 4], q_out[a + 5], q_out[a + 6], o[0], o[1], o[2], h)
    store3(add3(load3(q_out, a), scale3(h, u)), a, q_out)
    for m in range(4):
        q_out[a + 3 + m] = t[m]
    store3(o, b, v_out)
    store3(rotate_back(rotation_of_quaternion(t[0], t[1], t[2], t[3]), u), b + 3, v_out)


KIND, FIRST_Q, FIRST_V, COUNT, AXES, COURSE, CENTRE, TOUCHED, MEMBERS = 0, 1, 2, 3, 4, 13, 16, 19, 20
"""Numbers of a tree that floats in the slot FLOATING: how its root moves; its first coordinate and velocity; how many bodies it has; R_WF
(9); then what a step finds: P⁺/m (3) and x_c⁺ (3), and whether something touches it, which may hold a body of it in its place (1) or not
(0): then it does not float; last the bodies."""

IN_M, IN_F, IN_PLANE = range(3)
"""How the linear velocity of a root joint is told: in the axes of M (Free), of F (a composite that begins with Translational), or in F's
x–y plane (Planar)."""


@device
def course_of(rows, at, gravity, h, middle, floating):
    """(P + h Ṗ)/m and x_c of a tree that floats, from twists and accelerations of its bodies; Ṗ with the twists of the middle of a step
    where these accelerations belong to them."""
    mass = 0.0
    course = (0.0, 0.0, 0.0)
    centre = (0.0, 0.0, 0.0)
    for e in range(int(floating[at + COUNT])):
        k = ROW * int(floating[at + MEMBERS + e])
        m = rows[k + RIGID]
        arm = load3(rows, k + RIGID + 1)
        o = load3(rows, k + V)
        p = add3(scale3(m, load3(rows, k + V + 3)), cross(o, arm))
        if h > 0.0:
            turn = load3(rows, k + A)
            pull = add3(load3(rows, k + A + 3), gravity)
            swing = p
            if middle.size > 0 and middle[0] == 1.0:
                b = MIDDLE_WIDTH * int(floating[at + MEMBERS + e])
                o = load3(middle, b)
                swing = add3(scale3(m, load3(middle, b + 3)), cross(o, arm))
                turn = add3(turn, sub3(load3(middle, b + 6), load3(rows, k + C)))
                pull = add3(pull, sub3(load3(middle, b + 9), load3(rows, k + C + 3)))
            p = add3(p, scale3(h, add3(add3(scale3(m, pull), cross(turn, arm)), cross(o, swing))))
        course = add3(course, p)
        centre = add3(centre, add3(scale3(m, load3(rows, k + P)), arm))
        mass += m
    return scale3(1.0 / mass, course), scale3(1.0 / mass, centre)


@kernel
def set_courses(layout: Ints, ints: Ints, constants: Floats, h: float, work_out: Floats) -> None:
    """Where the trees that float are to be after a step, from its accelerations."""
    floating = part(work_out, layout, FLOATING)
    rows = part(work_out, layout, ROWS)
    gravity = load3(part(constants, layout, GRAVITY), 0)
    carry_accelerations(part(ints, layout, BODIES), part(work_out, layout, Y), part(work_out, layout, COLUMNS), rows)
    at = 0
    while at < floating.size:
        course, centre = course_of(rows, at, gravity, h, part(work_out, layout, MIDDLE_ROWS), floating)
        store3(course, at + COURSE, floating)
        store3(add3(centre, scale3(h, course)), at + CENTRE, floating)
        at += MEMBERS + int(floating[at + COUNT])


@device
def any_floats(floating):
    """Whether there is a tree that floats, and that nothing touches."""
    at = 0
    while at < floating.size:
        if floating[at + TOUCHED] == 0.0:
            return True
        at += MEMBERS + int(floating[at + COUNT])
    return False


@kernel
def mark_touched(wrenches: Floats, floating_out: Floats) -> None:
    """Which trees that float have wrenches (6 a body) of contacts on them."""
    at = 0
    while at < floating_out.size:
        touched = 0.0
        for e in range(int(floating_out[at + COUNT])):
            k = 6 * int(floating_out[at + MEMBERS + e])
            for m in range(6):
                if wrenches[k + m] != 0.0:
                    touched = 1.0
        floating_out[at + TOUCHED] = touched
        at += MEMBERS + int(floating_out[at + COUNT])


@kernel
def mark_struck(width: int, bodies: Ints, impulse: Floats, floating_out: Floats) -> None:
    """The same by impulses of contacts, `width` numbers each, between pairs of bodies."""
    at = 0
    while at < floating_out.size:
        touched = 0.0
        for c in range(bodies.size // 2):
            acts = False
            for r in range(width):
                acts = acts or impulse[width * c + r] != 0.0
            for e in range(int(floating_out[at + COUNT]) if acts and touched == 0.0 else 0):
                member = int(floating_out[at + MEMBERS + e])
                if member == bodies[2 * c] or member == bodies[2 * c + 1]:
                    touched = 1.0
        floating_out[at + TOUCHED] = touched
        at += MEMBERS + int(floating_out[at + COUNT])


@kernel
def keep_to_courses(layout: Ints, ints: Ints, constants: Floats, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """Shift the trees that float to where `set_courses` said, and their velocities; the sweep is at (q, v) before that."""
    floating = part(work_out, layout, FLOATING)
    rows = part(work_out, layout, ROWS)
    none = (0.0, 0.0, 0.0)
    sweep_at(layout, ints, constants, q_out, v_out, work_out)
    at = 0
    while at < floating.size:
        kind, a, b = int(floating[at + KIND]), int(floating[at + FIRST_Q]), int(floating[at + FIRST_V])
        if floating[at + TOUCHED] == 1.0:
            at += MEMBERS + int(floating[at + COUNT])
            continue
        course, centre = course_of(rows, at, none, 0.0, part(work_out, layout, MIDDLE_ROWS), floating)
        R = load9(floating, at + AXES)
        faster = rotate_back(R, sub3(load3(floating, at + COURSE), course))
        further = rotate_back(R, sub3(load3(floating, at + CENTRE), centre))
        if kind == IN_M:
            faster = rotate_back(rotation_of_quaternion(q_out[a + 3], q_out[a + 4], q_out[a + 5], q_out[a + 6]), faster)
            b += 3
        for m in range(2 if kind == IN_PLANE else 3):
            q_out[a + m] += further[m]
            v_out[b + m] += faster[m]
        at += MEMBERS + int(floating[at + COUNT])


@kernel
def energy_of_courses(layout: Ints, ints: Ints, constants: Floats, v: Floats, work: Floats) -> float:
    """Σ ½ m |v_c|² of bodies that fly alone and of trees that float [J]: what their momenta do not let go, at the last evaluation."""
    floating = part(work, layout, FLOATING)
    free = part(ints, layout, FREE)
    numbers = part(constants, layout, NODE_CONSTANTS)
    rows = part(work, layout, ROWS)
    total = 0.0
    for k in range(free.size // ENTRY):
        at = NODE_NUMBERS * free[3 + ENTRY * k]
        if at >= 0:
            b = free[2 + ENTRY * k]
            u = add3(load3(v, b + 3), cross(load3(v, b), load3(numbers, at + 1)))
            total += 0.5 * numbers[at] * dot3(u, u)
    at = 0
    while at < floating.size:
        u, _ = course_of(rows, at, (0.0, 0.0, 0.0), 0.0, part(work, layout, MIDDLE_ROWS), floating)
        for e in range(int(floating[at + COUNT])):
            total += 0.5 * rows[ROW * int(floating[at + MEMBERS + e]) + RIGID] * dot3(u, u)
        at += MEMBERS + int(floating[at + COUNT])
    return total


@kernel
def slow_down(layout: Ints, ints: Ints, constants: Floats, factor: float, work: Floats, q: Floats, v_out: Floats) -> None:
    """v times a factor, but for the courses of centres of mass of what flies and floats, at the state of the last evaluation."""
    floating = part(work, layout, FLOATING)
    free = part(ints, layout, FREE)
    numbers = part(constants, layout, NODE_CONSTANTS)
    for j in range(part(work, layout, Y).size):
        v_out[j] *= factor
    for k in range(free.size // ENTRY):
        at = NODE_NUMBERS * free[3 + ENTRY * k]
        if at >= 0:
            b = free[2 + ENTRY * k]
            u = add3(load3(v_out, b + 3), cross(load3(v_out, b), load3(numbers, at + 1)))
            store3(add3(load3(v_out, b + 3), scale3(1.0 / factor - 1.0, u)), b + 3, v_out)
    at = 0
    while at < floating.size:
        kind, a, b = int(floating[at + KIND]), int(floating[at + FIRST_Q]), int(floating[at + FIRST_V])
        u, _ = course_of(part(work, layout, ROWS), at, (0.0, 0.0, 0.0), 0.0, part(work, layout, MIDDLE_ROWS), floating)
        u = rotate_back(load9(floating, at + AXES), u)
        if kind == IN_M:
            u = rotate_back(rotation_of_quaternion(q[a + 3], q[a + 4], q[a + 5], q[a + 6]), u)
            b += 3
        for m in range(2 if kind == IN_PLANE else 3):
            v_out[b + m] += (1.0 - factor) * u[m]
        at += MEMBERS + int(floating[at + COUNT])


@kernel
def kick_reduced(layout: Ints, ints: Ints, constants: Floats, h: float, work_out: Floats, q_out: Floats, v_out: Floats) -> None:
    """A semi-implicit step of a tree with Free joints; all others by v⁺ = v + h v̇, q⁺ = q ⊕ h v⁺."""
    y = part(work_out, layout, Y)
    after = part(work_out, layout, STEP)
    free = part(ints, layout, FREE)
    numbers = part(constants, layout, NODE_CONSTANTS)
    classes = part(ints, layout, CLASSES)
    index = part(ints, layout, INDEX)
    parameters = part(constants, layout, PARAMETERS)
    floats = any_floats(part(work_out, layout, FLOATING))
    kicked = free[0] if free.size > 0 else -1
    if floats:
        set_courses(layout, ints, constants, h, work_out)
    for j in range(y.size):
        after[j] = v_out[j] + h * y[j]
    for k in range(free.size // ENTRY):
        a = free[1 + ENTRY * k]
        b = free[2 + ENTRY * k]
        alone = free[3 + ENTRY * k]
        if alone < 0:
            kick_free(h, y, a, b, q_out, v_out)
        else:
            kick_body(numbers, NODE_NUMBERS * alone, h, y, a, b, q_out, v_out)
        for j in range(b, b + 6):
            after[j] = v_out[j]
    for j in range(y.size):
        v_out[j] = after[j]
    for k in range(classes.size // JOINT_CLASS):
        at = JOINT_CLASS * k
        if k != kicked:
            mine = cut(index, classes[at + 3], classes[at + 4] - classes[at + 3])
            own = cut(parameters, classes[at + 7], classes[at + 8] - classes[at + 7])
            AdvanceJoints(classes[at + 1], mine, own, q_out, v_out, h, q_out)
    if floats:
        keep_to_courses(layout, ints, constants, work_out, q_out, v_out)


@kernel
def keep_courses(places: Ints, numbers: Floats, before: Floats, q: Floats, v_out: Floats) -> None:
    """Of bodies that were turned without time passing, from `before` to q, the velocities of their centres of mass as they were in the
    world; angular ones stay as they are in body axes, hence the kinetic energy. places: `ENTRY` numbers a body, as in FREE."""
    for k in range(places.size // ENTRY):
        a, b, at = places[ENTRY * k], places[ENTRY * k + 1], NODE_NUMBERS * places[ENTRY * k + 2]
        c = load3(numbers, at + 1) if at >= 0 else (0.0, 0.0, 0.0)
        swing = cross(load3(v_out, b), c)
        R = rotation_of_quaternion(before[a + 3], before[a + 4], before[a + 5], before[a + 6])
        u = rotate(R, add3(load3(v_out, b + 3), swing))
        R = rotation_of_quaternion(q[a + 3], q[a + 4], q[a + 5], q[a + 6])
        store3(sub3(rotate_back(R, u), swing), b + 3, v_out)


def free_joints(model: Model) -> list[tuple[int, int, BodyInfo | None, JointInfo]]:
    """First coordinate and velocity of every Free joint of the tree, also as part of a composite; the body if it flies alone (one rigid
    body in the world, with no other body and no armature on it); and the joint."""
    found = []
    parents = {joint.parent for joint in model.tree_joints}
    for joint in model.tree_joints:
        q, v, body = joint.q_start, joint.v_start, model.bodies[joint.child]
        rigid = body.kind == "dynamic" and joint.child not in parents and not joint.armature.any()
        alone = body if type(joint.element) is Free and joint.parent == 0 and rigid else None
        for piece in joint.element.parts():
            if type(piece) is Free:
                found.append((q, v, alone, joint))
            q, v = q + piece.nq, v + piece.nv
    return found


def floating_table(model: Model, rows: list[set[int]], dofs: set[int]) -> np.ndarray:
    """What FLOATING holds: the trees whose root may go anywhere in the world, or in its plane, with no row that ties them to anything
    else. Bodies that fly alone are not among them: `kick_body` knows their momenta. `rows`: the bodies of every row, one alone being tied
    to the world; `dofs`: the joint velocities that rows hold."""
    alone = {joint.child for _, _, body, joint in free_joints(model) if body is not None}
    root = {0: 0} | {i: i for i in range(model.n_bodies, model.n_frames)}
    for joint in model.tree_joints:
        root[joint.child] = root[joint.parent] if joint.parent and root[joint.parent] else joint.child
    tied = {root[i] for bodies in rows for i in bodies if len(bodies) == 1 or len({root[j] for j in bodies}) > 1}
    tied |= {j.child for j in model.tree_joints if dofs.intersection(range(j.v_start, j.v_start + j.nv))}
    trees: dict[int, list[int]] = {}
    for i, top in root.items():  # points of deformables are trees of their own
        trees.setdefault(top, []).append(i)
    held, out = alone | tied, list[float]()
    for joint in model.tree_joints:
        kind = root_kind(joint.element)
        if joint.parent != 0 or kind < 0 or joint.child in held or joint.armature.any():
            continue
        members = trees[joint.child]
        if all(model.bodies[i].kind == "dynamic" for i in members):
            out += [kind, joint.q_start, joint.v_start, len(members), *joint.X_PF.R.ravel(), *np.zeros(7), *members]
    return np.array(out, float)


def root_kind(joint: Joint) -> int:
    """How a joint tells a shift of all that hangs on it, or −1 if it cannot make every such shift."""
    first = joint.parts()[0] if joint.parts() else joint
    if type(joint) is Free:
        return IN_M
    return IN_PLANE if type(joint) is Planar else IN_F if type(first) is Translational else -1


def free_table(model: Model, tables: JointTables) -> tuple[np.ndarray, np.ndarray]:
    """What `kick_reduced` needs in the slots FREE and NODE_CONSTANTS; both are empty if no tree joint is Free."""
    entries: list[int] = []
    numbers: list[np.ndarray] = []
    for q, v, body, joint in free_joints(model):
        entries += [q, v, -1 if body is None else len(numbers)]
        if body is not None:
            X_MB = joint.X_BM.inverse()
            numbers.append(kicked_numbers(body.mass, X_MB.apply(body.com), X_MB.R @ body.inertia @ X_MB.R.T, 0.5))
    if not entries:
        return np.zeros(0, np.int64), np.zeros(0)
    return np.array([tables.types.index(Free), *entries], np.int64), np.array(numbers)


def kicked_numbers(mass: float, com: np.ndarray, inertia: np.ndarray, lead: float) -> np.ndarray:
    """The NODE_NUMBERS of a body from its inertia about its centre of mass."""
    upper = np.triu_indices(3)
    about_com = [[mass], com, inertia[upper], np.linalg.inv(inertia)[upper]]
    return np.concatenate([*about_com, [mass], mass * com, spatial_inertia(mass, com, inertia)[:3, :3][upper], [lead]])
