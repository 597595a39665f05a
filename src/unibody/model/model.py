"""`Model`: the frozen description that solvers bind to.

Bodies are numbered parents before children, body 0 being the world; every other body hangs on its parent by one tree joint
(welds for static bodies, implicit free joints for bodies without any). Joint coordinates run through the tree joints in the order
of the bodies, then through the joints that close loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.model import summary
from unibody.model.contents import BodyInfo, Contents, JointInfo
from unibody.model.deformable import DeformableInfo
from unibody.model.parts import views_of
from unibody.model.travel import caller, deep_copied_model, pickled_model
from unibody.spatial.pose import Pose, adjoint


@dataclass(frozen=True)
class Model(Contents):
    """Built by `Builder.build()`; every array is read-only."""

    @cached_property
    def _body_index(self) -> dict[str, int]:
        points = {p.name: len(self.bodies) + k for k, p in enumerate(self.vertex_points)}
        return {**{b.name: i for i, b in enumerate(self.bodies)}, **points}

    @cached_property
    def _deformable_index(self) -> dict[str, DeformableInfo]:
        return {d.name: d for d in self.deformables}

    @cached_property
    def _joint_index(self) -> dict[str, JointInfo]:
        return with_parts(self.joints)

    def body(self, name: Any) -> int:
        """The number of a body, by name or handle; of a point of a deformable that elements act on: n_bodies and more."""
        return look_up(getattr(name, "name", name), self._body_index, "body")

    def joint(self, name: Any) -> JointInfo:
        """A joint, by name or handle; or the part of one that has this name, as a joint of its own (`JointInfo.whole` names the joint)."""
        return look_up(getattr(name, "name", name), self._joint_index, "joint")

    def deformable(self, name: Any) -> DeformableInfo:
        """A deformable, by name or handle."""
        return look_up(getattr(name, "name", name), self._deformable_index, "deformable")

    def neutral_control(self) -> np.ndarray:
        """No efforts, no wrenches, no targets."""
        flat = np.zeros(self.nv_joints + 6 * self.n_bodies + 2 * len(self.motor_targets))
        flat[self.nv_joints + 6 * self.n_bodies :] = np.nan
        return flat

    def start_q(self) -> np.ndarray:
        """Coordinates of all joints at the start."""
        return np.concatenate([j.q0 for j in self.joints]) if self.joints else np.zeros(0)

    def start_v(self) -> np.ndarray:
        """Velocities of all joints at the start."""
        return np.concatenate([j.v0 for j in self.joints]) if self.joints else np.zeros(0)

    def summary(self) -> str:
        """A page of text: what there is, the tree, and the elements with what they touch."""
        return summary.page(self)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return pickled_model(self, caller())

    def __copy__(self) -> Model:
        return self  # nothing of it can be changed

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return deep_copied_model(self, memo)

    def __repr__(self) -> str:
        return summary.line(self)

    def _repr_html_(self) -> str:
        """Tables of bodies, joints and elements, in notebooks."""
        return summary.tables(self)


def with_parts(joints: Sequence[JointInfo]) -> dict[str, JointInfo]:
    """Joints by name, then the parts that have names."""
    return {**{j.name: j for j in joints}, **{name: part for j in joints for name, part in views_of(j).items()}}


def look_up(name: Any, table: Mapping[str, Any], what: str) -> Any:
    """table[name], or an error that offers near matches."""
    if isinstance(name, str) and name in table:
        return table[name]
    import difflib

    near = difflib.get_close_matches(str(name), list(table), 3, 0.5)
    hint = f"did you mean {' or '.join(repr(n) for n in near)}?" if near else f"known: {', '.join(list(table)[:8]) or 'none'}"
    raise ModelError(f"{what} '{name}' is unknown; {hint}")


def start_poses(bodies: Sequence[BodyInfo], joints: Sequence[JointInfo]) -> list[Pose]:
    """X_WB of every body at the start, by the tree joints (in the order of the bodies)."""
    poses = [Pose()]
    across: dict[tuple[int, bytes], Pose] = {}  # links of a chain are often told by the same objects
    back: dict[int, Pose] = {}
    for body, joint in zip(bodies[1:], joints, strict=False):
        if body.kind != "dynamic":
            poses.append(body.X_WB)
            continue
        same = (id(joint.element), joint.q0.tobytes())
        if same not in across:
            across[same] = Pose.from_rotation(*joint.element.pose(joint.q0))
        if id(joint.X_BM) not in back:
            back[id(joint.X_BM)] = joint.X_BM.inverse()
        poses.append(poses[joint.parent] @ joint.X_PF @ across[same] @ back[id(joint.X_BM)])
    return poses


def start_twists(bodies: Sequence[BodyInfo], joints: Sequence[JointInfo], poses: Sequence[Pose]) -> list[np.ndarray]:
    """V_WB_B of every body at the start."""
    twists = [np.zeros(6)]
    for i, (body, joint) in enumerate(zip(bodies[1:], joints, strict=False), start=1):
        if body.kind == "static":
            twists.append(np.zeros(6))
        elif body.kind == "kinematic":
            R = body.X_WB.R
            twists.append(np.concatenate([R.T @ np.array(body.V_WB[:3]), R.T @ np.array(body.V_WB[3:])]))
        else:
            if not (joint.v0.any() or twists[joint.parent].any()):
                twists.append(np.zeros(6))
                continue
            X_BP = poses[i].inverse() @ poses[joint.parent]
            across = joint.element.motion(joint.q0) @ joint.v0
            twists.append(adjoint(X_BP.R, np.array(X_BP.p)) @ twists[joint.parent] + adjoint(joint.X_BM.R, np.array(joint.X_BM.p)) @ across)
    return twists
