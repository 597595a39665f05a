"""The RedMax authors' regression scenes, built through the public face from the numbers of `redmax_tight.json` and `redmax_suite.json`.

Units are cm, g, s. E_ab maps b-coordinates to a-coordinates; a joint's frame moves by E_pj0 Q(q), and its body sits in it at E_ji.
`JointSphericalExp` and `JointFree3D` count rotations by exponential maps, `JointSpherical` by angles about x, y, z in turn; ours are a
`Ball` and a `Free`. `ConstraintLoop` holds two points together across the hinge's axis in a planar loop, which a closing hinge does as
well; `ConstraintMultQ` is q_B = factor q_A. `SpringPointPoint` and `ForcePointPoint` have no rest length; `ForceSpringDamper` pulls with
k (l − L)/L + d l̇/L, a spring of k/L and d/L, and its energy ½ k ((l − L)/L)² L is that spring's. What is scripted in time is not in the
numbers: the tests give it.
"""

from __future__ import annotations

import numpy as np

import unibody as ub
from unibody.spatial.pose import rotation_from_vector


def placed(E):
    """A pose from the rows of [R p]."""
    return ub.Pose.from_matrix(np.vstack([np.reshape(E, (3, 4)), (0, 0, 0, 1)]))


def rotation_from_angles(q):
    """Rx(q₁) Ry(q₂) Rz(q₃)."""
    x, y, z = (rotation_from_vector(angle * axis) for angle, axis in zip(q, np.eye(3), strict=True))
    return x @ y @ z


TURNS = {"JointSphericalExp": rotation_from_vector, "JointFree3D": rotation_from_vector, "JointSpherical": rotation_from_angles}
"""How the last three coordinates of joints that count rotations in charts of their own turn."""


def body_rate(turn, q, v):
    """ω in body axes of a rotation turn(q): Rᵀ dR/dt, by central differences of fourth order."""
    q, v, h = np.array(q), np.array(v), 1e-3
    samples = [turn(q + k * h * v) for k in (-2, -1, 1, 2)]
    slope = (samples[0] - 8 * samples[1] + 8 * samples[2] - samples[3]) / (12 * h)
    W = turn(q).T @ slope
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


def start(joint):
    """The joint, its q and v from the recorded coordinates."""
    q, v, axis = joint["q0"], joint["qdot0"], joint.get("axis")
    match joint["type"]:
        case "JointFixed":
            return ub.Weld(), None, None
        case "JointRevolute":
            return ub.Revolute(axis=axis), q, v
        case "JointPrismatic":
            return ub.Prismatic(axis=axis), q, v
        case "JointUniversal":
            return ub.Universal(), q, v
        case "JointTranslational":
            return ub.Translational(), q, v
        case "JointSphericalExp" | "JointSpherical":
            turn = TURNS[joint["type"]]
            return ub.Ball(), ub.Pose.from_rotation(turn(q)).wxyz, body_rate(turn, q, v)
        case "JointFree3D":
            assert not np.any(q)
            return ub.Free(), (0, 0, 0, 1, 0, 0, 0), (*v[3:], *v[:3])
    raise AssertionError(joint["type"])


def add_constraint(b, constraint, name, bodies):
    match constraint["type"]:
        case "ConstraintLoop":
            A, B = bodies[constraint["bodyA"]], bodies[constraint["bodyB"]]
            b.joint(name, ub.Revolute(axis=(0, 1, 0)), B, A, ub.Pose(p=constraint["xB"]), ub.Pose(p=constraint["xA"]))
        case "ConstraintMultQ":
            pair = [f"joint{constraint['jointB']}", f"joint{constraint['jointA']}"]
            b.add(ub.JointCoupling(pair, (1.0, -constraint["factor"])))
        case "ConstraintJointLimit":
            b.add(ub.JointLimit(f"joint{constraint['joint']}", lower=constraint["limit_lower"], upper=constraint["limit_upper"]))
        case "ConstraintPrescJoint" | "ConstraintPrescBody":
            pass
        case other:
            raise AssertionError(other)


def builder_of(scene):
    """The scene in a builder: bodies body1 …, joints joint1 …, loops loop0 …"""
    b = ub.Builder(gravity=scene["gravity"])
    own = [b.body(f"body{k}", mass=body["inertia"][3], inertia=body["inertia"][:3]) for k, body in enumerate(scene["bodies"], 1)]
    bodies = [b.world, *own]
    inside = [ub.Pose(), *(placed(body["E_ji"]).inverse() for body in scene["bodies"])]
    for k, joint in enumerate(scene["joints"], 1):
        parent = joint["parent"]
        element, q, v = start(joint)
        spring = {"stiffness": joint.get("stiffness", 0.0), "damping": joint.get("damping", 0.0)}
        b.joint(f"joint{k}", element, bodies[parent], bodies[k], inside[parent] @ placed(joint["E_pj0"]), inside[k], q=q, v=v, **spring)
    for k, constraint in enumerate(scene["constraints"]):
        add_constraint(b, constraint, f"loop{k}", bodies)
    for spring in scene["springs"]:
        ends = (bodies[spring["body1"]].at(*spring["x_1"]), bodies[spring["body2"]].at(*spring["x_2"]))
        rest = spring.get("rest_length", 0.0)
        law = {"stiffness": spring["stiffness"] / (rest or 1.0), "damping": spring.get("damping", 0.0) / (rest or 1.0)}
        b.add(ub.SpringDamper(*ends, **law, rest_length=rest))
    return b


def recorded_rotations(scene, order, samples, joint):
    """Q(q) at the samples of a joint that counts rotations in a chart of its own (numbered from 1)."""
    columns = [k for k, (j, component) in enumerate(order) if j == joint][-3:]
    turn = TURNS[scene["joints"][joint - 1]["type"]]
    return np.array([turn(np.array(q)[columns]) for q in samples])
