"""Semi-implicit steps of bodies that fly: velocities that turn with a body are carried over in axes that do not.

In body axes a velocity that stays as it is turns, v̇ = −ω × v, and v + h v̇ is longer than v: speed would grow as exp(h Ω² t/2).

    body alone      P⁺ = P + h f,  L⁺ = L + h τ about the centre of mass, in fixed axes;  R and x with the new velocities
    Free joint      u = R v_lin,  u⁺ = u + h R (v̇_lin + ω × v_lin),  ω⁺ = ω + h ω̇,  R⁺ = R exp(h[ω⁺]×),  p⁺ = p + h u⁺,  v_lin⁺ = R⁺ᵀ u⁺

The first keeps the momenta of a free body to round-off whatever h; the second, for a Free joint that carries more than one body, lets it
fly straight and errs by a bounded O(h) where M's origin circles around a centre of mass.
"""

from __future__ import annotations

import numpy as np

from unibody.arena import part
from unibody.coordinates.slots import CLASSES, FREE, INDEX, NODE_CONSTANTS, PARAMETERS, STEP, Y
from unibody.joints.base import JOINT_CLASS, AdvanceJoints
from unibody.joints.free import Free
from unibody.kernel import Floats, Ints, device, kernel
from unibody.model.model import BodyInfo, JointInfo, Model
from unibody.model.tables import JointTables

from unibody.spatial.devices import (  # isort: skip
    add3, cross, load3, load6, rotate, rotate_back, rotation_of_quaternion, scale3, store3, sub3, times_symmetric, turned_quaternion,
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
        if k != free[0]:
            mine = index[classes[at + 3] : classes[at + 4]]
            AdvanceJoints(classes[at + 1], mine, parameters[classes[at + 7] : classes[at + 8]], q_out, v_out, h, q_out)


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
