"""Our model in Pinocchio: joint frames are our M frames, placements X_MF of the parent's M; joints are added depth first.

| ours | theirs | q | v |
|---|---|---|---|
| Revolute, Prismatic, Screw, Universal | the unaligned ones | same | same |
| Ball | Spherical | xyzw | same |
| Free | FreeFlyer | p, xyzw | linear first |
| Translational | Translation | same | same |
| Planar | Composite of PX, PY, RZ (their Planar has velocities in body axes) | same | same |
| Composite | Composite | part by part | part by part |
| Weld | no joint: the inertia joins the parent's | | |

Limits: no loops, constraints, kinematic bodies or forces other than gravity; effort limits are not applied. Their data hold
second derivatives, 32 n³ bytes: a model of 1000 degrees of freedom does not fit into ordinary memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import unibody as ub
from peers import CannotSay
from unibody.joints.base import Joint
from unibody.spatial.pose import Pose


@dataclass
class PinocchioPeer:
    """A Pinocchio model with its data and the permutations between our vectors and theirs: theirs = ours[index]."""

    model: Any
    data: Any
    q_index: np.ndarray
    v_index: np.ndarray

    def q(self, q: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(q[self.q_index])

    def v(self, v: np.ndarray) -> np.ndarray:
        """Velocities, accelerations and efforts."""
        return np.ascontiguousarray(v[self.v_index])

    def back(self, a: np.ndarray) -> np.ndarray:
        """Their velocities, accelerations or efforts as ours."""
        out = np.empty_like(a)
        out[self.v_index] = a
        return out

    def forward_dynamics(self, q: np.ndarray, v: np.ndarray, effort: np.ndarray) -> np.ndarray:
        import pinocchio as pin

        return self.back(np.array(pin.aba(self.model, self.data, self.q(q), self.v(v), self.v(effort))))

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M(q) in our order, armature included."""
        import pinocchio as pin

        upper = np.triu(pin.crba(self.model, self.data, self.q(q)))
        M = upper + np.triu(upper, 1).T
        out = np.empty_like(M)
        out[np.ix_(self.v_index, self.v_index)] = M
        return out


def to_pinocchio(model: ub.Model) -> PinocchioPeer:
    """The same tree in Pinocchio."""
    import pinocchio as pin

    if model.loop_joints or model.constraints:
        raise CannotSay("Pinocchio: loops and constraints stay here; give a tree")
    if model.forces:
        raise CannotSay(f"Pinocchio: forces {', '.join(n for n, _ in model.forces)} stay here; give a model with gravity only")
    theirs = pin.Model()
    theirs.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
    place: dict[int, tuple[int, Pose]] = {0: (0, Pose())}
    q_index: list[int] = []
    v_index: list[int] = []
    armature: list[float] = []
    for j in _depth_first(model):
        body = model.bodies[j.child]
        if body.kind == "kinematic":
            raise CannotSay(f"Pinocchio: body '{body.name}' follows a prescribed motion")
        at, X_JP = place[j.parent]
        if isinstance(j.element, ub.Weld):
            X_JB = X_JP @ j.X_PF @ j.X_BM.inverse()
        else:
            at = theirs.addJoint(at, _joint(j.element), _se3(X_JP @ j.X_PF), j.name)
            X_JB = j.X_BM.inverse()
            q_order, v_order = _order(j.element)
            q_index += [j.q_start + k for k in q_order]
            v_index += [j.v_start + k for k in v_order]
            armature += [j.armature[k] for k in v_order]
        place[j.child] = (at, X_JB)
        if body.kind == "dynamic":
            theirs.appendBodyToJoint(at, pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia)), _se3(X_JB))
    theirs.armature = np.array(armature)
    return PinocchioPeer(theirs, pin.Data(theirs), np.array(q_index, int), np.array(v_index, int))


def _depth_first(model: ub.Model) -> list[Any]:
    """The tree joints, each subtree in one piece, as their `crba` needs it."""
    children: dict[int, list[Any]] = {}
    for j in model.tree_joints:
        children.setdefault(j.parent, []).append(j)
    out, waiting = [], children.get(0, [])[::-1]
    while waiting:
        j = waiting.pop()
        out.append(j)
        waiting += children.get(j.child, [])[::-1]
    return out


def _se3(X: Pose) -> Any:
    import pinocchio as pin

    return pin.SE3(X.R, np.array(X.p))


def _joint(joint: Joint) -> Any:
    import pinocchio as pin

    if isinstance(joint, ub.Revolute):
        return pin.JointModelRevoluteUnaligned(*joint.axis)
    if isinstance(joint, ub.Prismatic):
        return pin.JointModelPrismaticUnaligned(*joint.axis)
    if isinstance(joint, ub.Screw):
        return pin.JointModelHelicalUnaligned(*joint.axis, joint.pitch)
    if isinstance(joint, ub.Universal):
        return _composite([pin.JointModelRevoluteUnaligned(*joint.axis1), pin.JointModelRevoluteUnaligned(*joint.axis2)])
    if isinstance(joint, ub.Planar):
        return _composite([pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()])
    if isinstance(joint, ub.Composite):
        return _composite([_joint(part) for part in joint.parts() if part.nv])
    if isinstance(joint, ub.Ball):
        return pin.JointModelSpherical()
    if isinstance(joint, ub.Free):
        return pin.JointModelFreeFlyer()
    if isinstance(joint, ub.Translational):
        return pin.JointModelTranslation()
    raise CannotSay(f"Pinocchio: no word for {type(joint).__name__}")


def _composite(parts: list[Any]) -> Any:
    import pinocchio as pin

    out = pin.JointModelComposite(len(parts))
    for part in parts:
        out.addJoint(part)
    return out


def _order(joint: Joint) -> tuple[list[int], list[int]]:
    """Which of our coordinates and velocities theirs are, in their order."""
    if isinstance(joint, ub.Ball):
        return [1, 2, 3, 0], [0, 1, 2]
    if isinstance(joint, ub.Free):
        return [0, 1, 2, 4, 5, 6, 3], [3, 4, 5, 0, 1, 2]
    if isinstance(joint, ub.Composite):
        q_order: list[int] = []
        v_order: list[int] = []
        q = v = 0
        for part in joint.parts():
            q_part, v_part = _order(part)
            q_order += [q + k for k in q_part]
            v_order += [v + k for k in v_part]
            q, v = q + part.nq, v + part.nv
        return q_order, v_order
    return list(range(joint.nq)), list(range(joint.nv))
