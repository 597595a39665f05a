"""Joints: one or several of MuJoCo's between a body and its parent become one of ours, with the same coordinates in the same order.

MuJoCo moves a body from its place X₀ in the parent by one joint after the other, each in the body frame that the ones before leave:

    X_PB = X₀ E₁(q₁ − r₁) E₂(q₂ − r₂) …,     E_i a turn about an axis a through a point c, or a slide along a

with r the coordinates of the reference position. E(q − r) = E(q) E(−r), and constants C wander past a joint by moving its axis,
C E = E′ C, E′ having the axis C a through C c. Those before the first turning joint go left into X_PF, those after it right into X_BM,
and its point becomes the common origin. Turns about axes that miss this origin are `Hinge`s, all others `Revolute`s.

A free joint has no such constants. With springs, armature or friction, which MuJoCo counts along world axes, it is
Composite(Translational, Ball), whose velocities are MuJoCo's; else Free, whose velocities are those of the body, in its axes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unibody.constraints import JointLimit
from unibody.files.mjcf_actuators import ActuatorLoads, actuator_loads
from unibody.files.mjcf_reading import JointPlace, Reading, frame, listed
from unibody.forces import DryFriction, TorsionSpring
from unibody.joints import Ball, Composite, Free, Hinge, Joint, Prismatic, Revolute, Translational, Weld
from unibody.spatial.pose import Pose

NEAR = 1e-12
"""Axes that miss the origin by less [m] go through it."""


@dataclass(frozen=True)
class JointMotion:
    """An elementary joint: `hinge`, `slide` or `ball`, its axis, its point and the reference of its coordinate."""

    kind: str
    axis: np.ndarray
    at: np.ndarray
    reference: float

    def back(self) -> Pose:
        """E(−r)."""
        if self.kind == "hinge" and self.reference:
            turned = Pose.about(self.axis.tolist(), -self.reference)
            return Pose(self.at - turned.apply(self.at), turned.wxyz)
        return Pose(-self.reference * self.axis) if self.kind == "slide" else Pose()

    def seen(self, X: Pose) -> JointMotion:
        """E′ with X E = E′ X."""
        return replace(self, axis=X.R @ self.axis, at=X.apply(self.at))

    def joint(self) -> Joint:
        if self.kind == "ball":
            return Ball()
        if self.kind == "slide":
            return Prismatic(tuple(self.axis))
        missed = np.linalg.norm(np.cross(self.axis, self.at)) > NEAR
        return Hinge(tuple(self.axis), tuple(self.at)) if missed else Revolute(tuple(self.axis))


def add_joints(r: Reading) -> None:
    """The joint of every dynamic body, with what acts in it, and `r.joints`."""
    m = r.m
    loads = actuator_loads(r)
    for b in range(1, m.nbody):
        first, count = int(m.body_jntadr[b]), int(m.body_jntnum[b])
        if count:
            _add_joint(r, b, list(range(first, first + count)), loads)
        elif r.bodies[b].X == Pose() and _hangs(r, b):
            above = r.bodies[int(m.body_parentid[b])]
            name = r.joint_name(f"{r.bodies[b].name}.weld")
            r.builder.joint(name, Weld(), parent=above.name, child=r.bodies[b].name, X_PF=above.X @ frame(m.body_pos[b], m.body_quat[b]))
    _leave_out(r)


def _hangs(r: Reading, b: int) -> bool:
    """Whether a body without a joint is a body of ours that moves with the one above it."""
    m, above = r.m, int(r.m.body_parentid[b])
    return m.body_weldid[b] not in (0, b) and r.bodies[b].name != r.bodies[above].name


def _add_joint(r: Reading, b: int, ids: list[int], loads: ActuatorLoads) -> None:
    m = r.m
    above = r.bodies[int(m.body_parentid[b])]
    free = r.joint_kind(ids[0]) == "free"
    if free:
        joint, X_PF, X_BM = _free(r, ids[0]), Pose(), Pose()
    else:
        X_0 = above.X @ frame(m.body_pos[b], m.body_quat[b])
        parts, X_PF, X_BM = normal_form([_motion(r, j) for j in ids], X_0)
        joint = parts[0] if len(parts) == 1 else Composite(*parts)
    name = r.joint_name("+".join(r.name("joint", j) for j in ids))
    named = [r.joint_name(r.name("joint", j)) for j in ids] if len(ids) > 1 else []
    q = v = 0
    for j in ids:
        r.joints[j] = JointPlace(name, q, v)
        nq, nv = SIZES[r.joint_kind(j)]
        q, v = q + nq, v + nv
    r.order[name] = ids
    dofs = slice(int(m.jnt_dofadr[ids[0]]), int(m.jnt_dofadr[ids[0]]) + joint.nv)
    start_q, start_v = joint_state(r, name, joint, r.qpos, r.qvel)
    parent = "world" if free else above.name
    r.builder.joint(
        name, joint, parent=parent, child=r.bodies[b].name, X_PF=X_PF, X_BM=X_BM, q=start_q, v=start_v,
        armature=(np.array(m.dof_armature[dofs]) + loads.armature[dofs]).tolist(), effort_limit=loads.limit[dofs].tolist(),
        parts=named,
    )  # fmt: skip
    for j in ids:
        _add_passive(r, j, joint, loads)


SIZES = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}
"""Numbers of coordinates and velocities."""


def _free(r: Reading, j: int) -> Joint:
    m = r.m
    at = int(m.jnt_dofadr[j])
    own = m.jnt_stiffness[j] or m.dof_armature[at : at + 6].any() or m.dof_frictionloss[at : at + 6].any()
    return Composite(Translational(), Ball()) if own else Free()


def _motion(r: Reading, j: int) -> JointMotion:
    m, kind = r.m, r.joint_kind(j)
    reference = 0.0 if kind == "ball" else float(m.qpos0[m.jnt_qposadr[j]])
    at = np.zeros(3) if kind == "slide" else np.array(m.jnt_pos[j])
    return JointMotion(kind, np.array(m.jnt_axis[j]), at, reference)


def normal_form(motions: list[JointMotion], X_0: Pose) -> tuple[list[Joint], Pose, Pose]:
    """Joints that share one origin, X_PF and X_BM."""
    balls = [i for i, e in enumerate(motions) if e.kind == "ball"]
    turns = [i for i, e in enumerate(motions) if e.kind == "hinge"]
    pivot = (balls or turns or [0])[0]
    origin = Pose(motions[pivot].at)
    out: list[JointMotion] = []
    left = origin
    for e in reversed(motions[:pivot]):
        left = e.back() @ left
        out.insert(0, e.seen(left.inverse()))
    centred = motions[pivot].seen(origin.inverse())
    out.append(centred)
    right = centred.back() @ origin.inverse()
    for e in motions[pivot + 1 :]:
        out.append(e.seen(right))
        right = right @ e.back()
    return [e.joint() for e in out], X_0 @ left, right.inverse()


def joint_state(r: Reading, name: str, joint: Joint, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Our q and v of a joint from MuJoCo's state. Only the velocity of a Free differs: world axes there, the body's here."""
    m, first = r.m, r.order[name][0]
    q_at, v_at = int(m.jnt_qposadr[first]), int(m.jnt_dofadr[first])
    q, v = np.array(qpos[q_at : q_at + joint.nq]), np.array(qvel[v_at : v_at + joint.nv])
    if isinstance(joint, Free):
        v = np.concatenate([v[3:], frame(q[:3], q[3:]).R.T @ v[:3]])
    return q, v


def _add_passive(r: Reading, j: int, joint: Joint, loads: ActuatorLoads) -> None:
    """Spring, damper, friction and limit of one of MuJoCo's joints, under its own name."""
    m = r.m
    place, own = r.joints[j], r.name("joint", j)
    nq, nv = SIZES[r.joint_kind(j)]
    at, q_at = int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
    span = slice(place.v, place.v + nv)
    stiffness, damping, friction = np.zeros(joint.nv), np.zeros(joint.nv), np.zeros(joint.nv)
    if not r.off("spring"):
        stiffness[span] = m.jnt_stiffness[j]
    if not r.off("damper"):
        damping[span] = np.array(m.dof_damping[at : at + nv]) + loads.damping[at : at + nv]
    if stiffness.any() or damping.any():
        rest = None
        if stiffness.any():
            rest = np.array(joint.neutral(), float)
            rest[place.q : place.q + nq] = m.qpos_spring[q_at : q_at + nq]
        r.builder.add(TorsionSpring(place.name, stiffness.tolist(), damping.tolist(), rest), name=r.element(f"{own}.spring", "spring"))
    friction[span] = 0.0 if r.off("frictionloss") else m.dof_frictionloss[at : at + nv]
    if friction.any():
        r.builder.add(DryFriction(place.name, bound=friction.tolist()), name=r.element(f"{own}.friction", "friction"))
    if m.jnt_limited[j] and r.limits and not r.off("limit") and r.joint_kind(j) in ("hinge", "slide"):
        low, high = (float(x) for x in m.jnt_range[j])
        r.builder.add(JointLimit(place.name, low, high, dof=place.v), name=r.element(f"{own}.limit", "limit"))


def _leave_out(r: Reading) -> None:
    m = r.m
    joints = range(m.njnt)
    limited = [j for j in joints if m.jnt_limited[j]]
    balls = [j for j in limited if r.joint_kind(j) in ("ball", "free")]
    r.leave_all("joints", "joint", balls, "the limit is on the angle of the whole rotation; ours are on swing and twist")
    if not r.limits:
        r.leave_all("joints", "joint", [j for j in limited if j not in balls], "limits are left out as asked (limits=False)")
    r.leave_all("joints", "joint", [j for j in limited if m.jnt_margin[j]], "the margin of the limit")
    r.leave_all("joints", "joint", [j for j in joints if m.jnt_stiffnesspoly[j].any()], "stiffness beyond the linear term")
    r.leave_all("joints", "joint", [j for j in joints if m.dof_dampingpoly[m.jnt_dofadr[j]].any()], "damping beyond the linear term")
    r.leave_all("joints", "joint", [j for j in joints if m.jnt_springyield[j]], "springs that yield")
    if any(m.dof_frictionloss) and not r.off("frictionloss"):
        rubbed = sorted({r.name("joint", j) for j in m.dof_jntid[np.array(m.dof_frictionloss) > 0.0]})
        r.leave(f"joints: {listed(rubbed)}: dry friction is smooth below a slip speed here; MuJoCo's is a soft constraint (solref, solimp)")
