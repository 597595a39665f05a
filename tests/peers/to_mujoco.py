"""Our model in MuJoCo: their body frames are our M frames, so that hinges turn about the body's origin.

| ours | theirs |
|---|---|
| Revolute, Prismatic | hinge, slide |
| Universal | two hinges |
| Planar | slide x, slide y, hinge z |
| Translational | three slides |
| Ball | ball |
| Free, on the world | free: position and linear velocity in world axes, so states, efforts and accelerations are converted |
| Composite | the joints of its parts in a row |
| Weld | a body without a joint |
| SpringDamper | a spatial tendon through two sites, with stiffness, damping and spring length |
| TorsionSpring | joint damping and stiffness; on a ball, the same stiffness for all three axes, at rest in the neutral position |
| PointOnLine, with `closed` | an equality between two sites, which also holds the point along the line; soft, as theirs are |

Limits: no screws (they have none), no turning joint after a ball on the same body, no armature on a free joint (theirs resists
accelerations in world axes), no other forces, loops, constraints or kinematic bodies; effort limits are not applied. No geoms,
no contact, no constraint solver; damping explicit (`eulerdamp` off).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import unibody as ub
from peers import CannotSay
from unibody.joints.base import Joint
from unibody.spatial.pose import Pose, rotation_from_quaternion

AXES = np.eye(3)


@dataclass
class MujocoPeer:
    """A MuJoCo model with its data, and the way there and back.

    They number bodies depth first: theirs = ours[index]. `free` lists (q, v, X_WF) of the joints whose vectors differ, in our numbering.
    """

    model: Any
    data: Any
    q_index: np.ndarray
    v_index: np.ndarray
    free: list[tuple[int, int, Pose]]

    def q(self, q: np.ndarray) -> np.ndarray:
        out = np.array(q, float)
        for at, _, X_WF in self.free:
            X = X_WF @ Pose(q[at : at + 3], q[at + 3 : at + 7])
            out[at : at + 7] = (*X.p, *X.wxyz)
        return out[self.q_index]

    def v(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Velocities; efforts too, since these change the same way under a rotation."""
        out = np.array(v, float)
        for at, k, X_WF in self.free:
            R = X_WF.R @ rotation_from_quaternion(q[at + 3 : at + 7])
            out[k : k + 3], out[k + 3 : k + 6] = R @ v[k + 3 : k + 6], v[k : k + 3]
        return out[self.v_index]

    def back(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Their accelerations as ours: d/dt (R v) = R (v̇ + ω × v)."""
        out = np.empty_like(a)
        out[self.v_index] = a
        for at, k, X_WF in self.free:
            R = X_WF.R @ rotation_from_quaternion(q[at + 3 : at + 7])
            slide, turn = out[k : k + 3].copy(), out[k + 3 : k + 6].copy()
            out[k : k + 3] = turn
            out[k + 3 : k + 6] = R.T @ slide - np.cross(v[k : k + 3], v[k + 3 : k + 6])
        return out

    def set_state(self, q: np.ndarray, v: np.ndarray, effort: np.ndarray | None = None) -> None:
        self.data.qpos[:] = self.q(q)
        self.data.qvel[:] = self.v(q, v)
        self.data.qfrc_applied[:] = 0.0 if effort is None else self.v(q, effort)

    def forward_dynamics(self, q: np.ndarray, v: np.ndarray, effort: np.ndarray) -> np.ndarray:
        import mujoco

        self.set_state(q, v, effort)
        mujoco.mj_forward(self.model, self.data)
        return self.back(q, v, np.array(self.data.qacc))


def to_mujoco(model: ub.Model, dt: float = 1e-3, closed: bool = False) -> MujocoPeer:
    """The same tree in MuJoCo, with semi-implicit Euler steps of dt; `closed`: with points on lines that close loops."""
    import mujoco

    if model.loop_joints or not all(closed and isinstance(c, ub.PointOnLine) for _, c in model.constraints):
        raise CannotSay("MuJoCo: loops and constraints stay here; give a tree")
    spec = mujoco.MjSpec()
    spec.option.gravity = model.gravity
    spec.option.timestep = dt
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    off = mujoco.mjtDisableBit
    rows = 0 if model.constraints else off.mjDSBL_CONSTRAINT
    spec.option.disableflags = int(off.mjDSBL_CONTACT | rows | off.mjDSBL_EULERDAMP | off.mjDSBL_AUTORESET)
    springs = _joint_springs(model)
    bodies = [spec.worldbody]
    free: list[tuple[int, int, Pose]] = []
    pieces: list[tuple[str, int, int, int, int]] = []
    for j in model.tree_joints:
        body = model.bodies[j.child]
        if body.kind == "kinematic":
            raise CannotSay(f"MuJoCo: body '{body.name}' follows a prescribed motion")
        X_MB = j.X_BM.inverse()
        X_PF = j.X_PF if j.parent == 0 else model.tree_joints[j.parent - 1].X_BM.inverse() @ j.X_PF
        made = bodies[j.parent].add_body(name=body.name, pos=X_PF.p, quat=X_PF.wxyz)
        if body.kind == "dynamic":
            J = X_MB.R @ body.inertia @ X_MB.R.T
            made.mass, made.ipos, made.explicitinertial = body.mass, X_MB.apply(body.com), True
            made.fullinertia = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
        bodies.append(made)
        if isinstance(j.element, ub.Free):
            if j.parent != 0:
                raise CannotSay(f"MuJoCo: free joint '{j.name}' hangs on a body, theirs only on the world")
            if j.armature.any():
                raise CannotSay(f"MuJoCo: armature of free joint '{j.name}', theirs resists accelerations in world axes; give none")
            free.append((j.q_start, j.v_start, X_PF))
        pieces += _add_joints(made, j, springs.get(j.name))
    for name, force in model.forces:
        if isinstance(force, ub.SpringDamper):
            _add_tendon(spec, bodies, model, name, force)
    for name, constraint in model.constraints:
        ends = [_add_site(bodies, model, f"{name}.{end}", point) for end, point in (("a", constraint.point), ("b", constraint.on))]
        spec.add_equality(name=name, type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE, name1=ends[0], name2=ends[1])
    compiled = spec.compile()
    q_index, v_index = np.zeros(model.nq, int), np.zeros(model.nv, int)
    for name, q, nq, v, nv in pieces:
        joint = compiled.joint(name)
        q_index[joint.qposadr[0] : joint.qposadr[0] + nq] = np.arange(q, q + nq)
        v_index[joint.dofadr[0] : joint.dofadr[0] + nv] = np.arange(v, v + nv)
    return MujocoPeer(compiled, mujoco.MjData(compiled), q_index, v_index, free)


def _add_tendon(spec: Any, bodies: list[Any], model: ub.Model, name: str, force: ub.SpringDamper) -> None:
    """A spring between two points as a tendon between two sites."""
    tendon = spec.add_tendon(name=name, stiffness=force.stiffness, damping=force.damping, springlength=[force.rest_length] * 2)
    for end, point in (("a", force.a), ("b", force.b)):
        tendon.wrap_site(_add_site(bodies, model, f"{name}.{end}", point))


def _add_site(bodies: list[Any], model: ub.Model, name: str, point: ub.Point) -> str:
    """A point of a body as a site; its name."""
    at = model.body(point.body)
    X_MB = model.tree_joints[at - 1].X_BM.inverse() if at else Pose()
    bodies[at].add_site(name=name, pos=X_MB.apply(point.p))
    return name


@dataclass
class _Springs:
    stiffness: np.ndarray
    damping: np.ndarray
    rest: np.ndarray


def _joint_springs(model: ub.Model) -> dict[str, _Springs]:
    """The springs of each joint, per degree of freedom."""
    out: dict[str, _Springs] = {}
    for name, force in model.forces:
        if isinstance(force, ub.SpringDamper):
            continue
        if not isinstance(force, ub.TorsionSpring) or force.joint in out or force.dof is not None:
            raise CannotSay(f"MuJoCo: force '{name}' stays here; one TorsionSpring per joint is all that is said")
        j = model.joint(force.joint)
        rest = j.element.neutral() if force.rest is None else np.atleast_1d(force.rest)
        out[j.name] = _Springs(np.zeros(j.nv) + force.stiffness, np.zeros(j.nv) + force.damping, rest)
    return out


def _add_joints(body: Any, info: Any, springs: _Springs | None) -> list[tuple[str, int, int, int, int]]:
    """Their joints for one of ours, in a row; the name, first q, number of q, first v, number of v of each."""
    q = v = 0
    made = []
    turned_freely = False
    for part in info.element.parts():
        for kind, axis, nq, nv in _words(part):
            turns = kind in ("hinge", "ball")
            if turns and turned_freely:
                raise CannotSay(f"MuJoCo: joint '{info.name}' turns after a ball on the same body")
            turned_freely = turned_freely or kind == "ball"
            armature = info.armature[v : v + nv]
            if kind == "ball" and np.ptp(armature):
                raise CannotSay(f"MuJoCo: joint '{info.name}': a ball has one armature")
            options: dict[str, Any] = {"armature": float(armature[0])}
            if springs is not None:
                options |= _spring_options(kind, info, springs, q, q + nq, v, v + nv)
            name = f"{info.name}.{v}"
            _add_joint(body, kind, axis, options, name)
            made.append((name, info.q_start + q, nq, info.v_start + v, nv))
            q, v = q + nq, v + nv
    return made


def _spring_options(kind: str, info: Any, springs: _Springs, q0: int, q1: int, v0: int, v1: int) -> dict[str, Any]:
    k, c, rest = springs.stiffness[v0:v1], springs.damping[v0:v1], springs.rest[q0:q1]
    if kind in ("ball", "free"):
        if np.ptp(k) or np.ptp(c) or (k.any() and np.abs(rest - ub.Ball().neutral()).max() > 0.0):
            raise CannotSay(f"MuJoCo: springs of joint '{info.name}' must be the same about all axes and rest in the neutral position")
        return {"stiffness": [float(k[0]), 0.0, 0.0], "damping": [float(c[0]), 0.0, 0.0]}
    return {"stiffness": [float(k[0]), 0.0, 0.0], "damping": [float(c[0]), 0.0, 0.0], "springref": float(rest[0])}


def _add_joint(body: Any, kind: str, axis: Any, options: dict[str, Any], name: str) -> None:
    import mujoco

    types = mujoco.mjtJoint
    kinds = {"hinge": types.mjJNT_HINGE, "slide": types.mjJNT_SLIDE, "ball": types.mjJNT_BALL, "free": types.mjJNT_FREE}
    joint = body.add_joint(name=name, type=kinds[kind], **options)
    if axis is not None:
        joint.axis = axis


def _words(joint: Joint) -> list[tuple[str, Any, int, int]]:
    """Their joints for one of our elementary ones: type, axis, number of q, number of v."""
    if isinstance(joint, ub.Weld):
        return []
    if isinstance(joint, ub.Revolute):
        return [("hinge", joint.axis, 1, 1)]
    if isinstance(joint, ub.Prismatic):
        return [("slide", joint.axis, 1, 1)]
    if isinstance(joint, ub.Universal):
        return [("hinge", joint.axis1, 1, 1), ("hinge", joint.axis2, 1, 1)]
    if isinstance(joint, ub.Planar):
        return [("slide", AXES[0], 1, 1), ("slide", AXES[1], 1, 1), ("hinge", AXES[2], 1, 1)]
    if isinstance(joint, ub.Translational):
        return [("slide", axis, 1, 1) for axis in AXES]
    if isinstance(joint, ub.Ball):
        return [("ball", None, 4, 3)]
    if isinstance(joint, ub.Free):
        return [("free", None, 7, 6)]
    raise CannotSay(f"MuJoCo: no word for {type(joint).__name__}")
