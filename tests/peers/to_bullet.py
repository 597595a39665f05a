"""Our model in PyBullet, through a URDF file: trees of hinges and slides on a fixed base, link frames at our M frames.

Limits: Revolute, Prismatic and Weld only; no forces, armature, loops, constraints or kinematic bodies. Damping and the motors that
PyBullet gives every joint are switched off; inertias are those of the file.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import unibody as ub
from peers import CannotSay
from unibody.spatial.pose import Pose


@dataclass
class BulletPeer:
    """A PyBullet client (direct mode) with one multibody; `joints` are the numbers of its moving joints in our order."""

    bullet: Any
    client: int
    body: int
    joints: list[int]

    def set_state(self, q: np.ndarray, v: np.ndarray) -> None:
        for k, joint in enumerate(self.joints):
            self.bullet.resetJointState(self.body, joint, float(q[k]), float(v[k]), physicsClientId=self.client)

    def q(self) -> np.ndarray:
        states = self.bullet.getJointStates(self.body, self.joints, physicsClientId=self.client)
        return np.array([s[0] for s in states])

    def step(self, steps: int) -> None:
        step, client = self.bullet.stepSimulation, self.client
        for _ in range(steps):
            step(client)

    def close(self) -> None:
        self.bullet.disconnect(self.client)


def to_bullet(model: ub.Model, dt: float = 1e-3) -> BulletPeer:
    """The same tree in PyBullet."""
    import pybullet as bullet

    text = urdf(model)
    client = bullet.connect(bullet.DIRECT)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.urdf"
        path.write_text(text)
        flags = bullet.URDF_USE_INERTIA_FROM_FILE | bullet.URDF_MAINTAIN_LINK_ORDER
        body = bullet.loadURDF(str(path), useFixedBase=True, flags=flags, physicsClientId=client)
    bullet.setGravity(*model.gravity, physicsClientId=client)
    bullet.setTimeStep(dt, physicsClientId=client)
    number_of = {}
    for k in range(bullet.getNumJoints(body, physicsClientId=client)):
        number_of[bullet.getJointInfo(body, k, physicsClientId=client)[1].decode()] = k
    joints = [number_of[j.name] for j in model.tree_joints if j.nv]
    for k in range(-1, len(number_of)):
        nothing = {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0}
        bullet.changeDynamics(body, k, maxJointVelocity=1e6, physicsClientId=client, **nothing)
    for k in joints:
        bullet.setJointMotorControl2(body, k, bullet.VELOCITY_CONTROL, force=0.0, physicsClientId=client)
    return BulletPeer(bullet, client, body, joints)


def urdf(model: ub.Model) -> str:
    """The tree as URDF."""
    if model.loop_joints or model.constraints or model.forces:
        raise CannotSay("URDF: loops, constraints and forces stay here; give a tree with gravity only")
    lines = ['<robot name="model">', '<link name="world"/>']
    for j in model.tree_joints:
        body = model.bodies[j.child]
        if body.kind != "dynamic" or j.armature.any():
            raise CannotSay(f"URDF: body '{body.name}' is {body.kind}, or its joint has armature")
        X_MB = j.X_BM.inverse()
        X_PF = j.X_PF if j.parent == 0 else model.tree_joints[j.parent - 1].X_BM.inverse() @ j.X_PF
        J, com = X_MB.R @ body.inertia @ X_MB.R.T, X_MB.apply(body.com)
        names = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), J[np.triu_indices(3)], strict=True)
        tensor = " ".join(f'{n}="{x:.17g}"' for n, x in names)
        lines += [
            f'<link name="{body.name}"><inertial>{_origin(Pose(com))}<mass value="{body.mass:.17g}"/><inertia {tensor}/></inertial></link>',
            f'<joint name="{j.name}" type="{_kind(j)}"><parent link="{model.bodies[j.parent].name}"/><child link="{body.name}"/>',
            f'{_origin(X_PF)}{_axis(j)}<limit lower="1" upper="-1" effort="1e9" velocity="1e9"/></joint>',
        ]
    return "\n".join([*lines, "</robot>"])


def _kind(j: Any) -> str:
    kinds = {ub.Revolute: "continuous", ub.Prismatic: "prismatic", ub.Weld: "fixed"}
    if type(j.element) not in kinds:
        raise CannotSay(f"URDF: no word for joint '{j.name}', a {type(j.element).__name__}")
    return kinds[type(j.element)]


def _axis(j: Any) -> str:
    return f'<axis xyz="{" ".join(f"{x:.17g}" for x in j.element.axis)}"/>' if j.nv else ""


def _origin(X: Pose) -> str:
    """xyz and roll, pitch, yaw."""
    R = X.R
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) > 1e-9:
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    else:
        roll, yaw = 0.0, np.arctan2(-R[0, 1], R[1, 1])
    xyz = " ".join(f"{x:.17g}" for x in X.p)
    return f'<origin xyz="{xyz}" rpy="{roll:.17g} {pitch:.17g} {yaw:.17g}"/>'
