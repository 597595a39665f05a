"""Piles in MuJoCo and PyBullet: spheres, boxes and trees of hinges with ranges that touch; their own contact and solvers.

MuJoCo runs with its defaults (soft contacts, pyramidal cones; Newton's method, or conjugate gradients where asked, which it recommends for
many bodies); PyBullet with its 50 sweeps, no damping and no motors.
Both give the poses of our bodies in our order, so that all are measured alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import unibody as ub


def words(x: Any) -> str:
    return " ".join(f"{v:.17g}" for v in np.atleast_1d(x))


class Mujoco:
    """Free bodies and trees of hinges, every body's frame at its centre; `hard`: contacts with a time constant of two steps, the least that
    MuJoCo takes for stable (its default is 20 ms)."""

    def __init__(self, model: ub.Model, friction: float, dt: float, solver: str = "Newton", hard: bool = False):
        import mujoco

        self._mujoco, self._names = mujoco, [b.name for b in model.bodies]
        self._children: dict[int, list[Any]] = {}
        for j in model.tree_joints:
            self._children.setdefault(j.parent, []).append(j)
        self._model, self._ranges = model, ranges(model)
        world = "".join(self._body(j) for j in self._children[0])
        text = (
            f'<mujoco><compiler angle="radian"/><size memory="4G"/><option timestep="{dt}" solver="{solver}"/>'
            f'<default><geom friction="{friction} 0 0" condim="3"/></default><worldbody>{world}</worldbody></mujoco>'
        )
        self.m = mujoco.MjModel.from_xml_string(text)
        if hard:
            self.m.geom_solref[:, 0] = 2.0 * dt
        self.d = mujoco.MjData(self.m)
        self._order = [self.m.body(name).id for name in self._names[1:]]

    def _body(self, j: Any) -> str:
        model, body = self._model, self._model.bodies[j.child]
        X = body.X_WB if j.parent == 0 else model.bodies[j.parent].X_WB.inverse() @ body.X_WB
        joint = "<freejoint/>" if isinstance(j.element, ub.Free) else ""
        if isinstance(j.element, ub.Revolute):
            low, high = self._ranges[j.name]
            joint = f'<joint type="hinge" pos="{words(j.X_BM.p)}" axis="{words(j.element.axis)}" limited="true" range="{low} {high}"/>'
        inner = "".join(self._body(k) for k in self._children.get(j.child, []))
        return f'<body name="{body.name}" pos="{words(X.p)}" quat="{words(X.wxyz)}">{joint}{self._geom(body)}{inner}</body>'

    @staticmethod
    def _geom(body: Any) -> str:
        shape = body.shapes[0].shape
        if isinstance(shape, ub.Plane):
            return '<geom type="plane" size="99 99 1"/>'
        if isinstance(shape, ub.Sphere):
            return f'<geom type="sphere" size="{shape.radius}" mass="{body.mass}"/>'
        return f'<geom type="box" size="{words(0.5 * np.asarray(shape.sides))}" mass="{body.mass}"/>'

    def step(self, steps: int) -> None:
        for _ in range(steps):
            self._mujoco.mj_step(self.m, self.d)

    def poses(self) -> np.ndarray:
        own = np.concatenate([self.d.xmat[self._order], self.d.xpos[self._order]], axis=1)
        return np.concatenate([np.r_[np.eye(3).ravel(), 0, 0, 0][None], own])

    def contacts(self) -> int:
        return int(self.d.ncon)


class Bullet:
    """The same in PyBullet; trees come as URDF texts."""

    def __init__(self, model: ub.Model, friction: float, dt: float, folder: str):
        import pybullet

        self.p, self._model = pybullet, model
        if pybullet.isConnected():
            pybullet.disconnect()
        pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(*model.gravity)
        pybullet.setPhysicsEngineParameter(fixedTimeStep=dt, numSolverIterations=50)
        self._where: list[tuple[int, int]] = [(-1, -1)] * model.n_bodies
        self._children: dict[int, list[Any]] = {}
        self._shapes: dict[Any, int] = {}
        self._ranges, self._folder = ranges(model), folder
        for j in model.tree_joints:
            self._children.setdefault(j.parent, []).append(j)
        for j in self._children[0]:
            self._tree(j)
        nothing = {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0, "restitution": 0.0}
        for body, link in self._where[1:]:
            pybullet.changeDynamics(body, link, lateralFriction=friction**0.5, spinningFriction=0.0, rollingFriction=0.0, **nothing)
            if link >= 0:
                pybullet.setJointMotorControl2(body, link, pybullet.VELOCITY_CONTROL, force=0.0)

    def _tree(self, j: Any) -> None:
        body = self._model.bodies[j.child]
        w, *v = body.X_WB.wxyz
        if j.child in self._children:
            names = [j.child]
            path = f"{self._folder}/tree.urdf"
            with open(path, "w") as file:
                file.write(self._urdf(j, names))
            p = self.p
            flags = p.URDF_USE_INERTIA_FROM_FILE | p.URDF_USE_SELF_COLLISION | p.URDF_USE_SELF_COLLISION_EXCLUDE_PARENT
            number = p.loadURDF(path, list(body.X_WB.p), [*v, w], flags=flags | p.URDF_MAINTAIN_LINK_ORDER)
            for link, name in enumerate(names):
                self._where[name] = (number, link - 1)
            return
        key = repr(body.shapes[0].shape)
        if key not in self._shapes:
            self._shapes[key] = self._shape(body.shapes[0].shape)
        mass = 0.0 if body.kind == "static" else body.mass
        number = self.p.createMultiBody(mass, self._shapes[key], basePosition=list(body.X_WB.p), baseOrientation=[*v, w])
        self._where[j.child] = (number, -1)

    def _shape(self, shape: Any) -> int:
        p = self.p
        if isinstance(shape, ub.Plane):
            return p.createCollisionShape(p.GEOM_PLANE)
        if isinstance(shape, ub.Sphere):
            return p.createCollisionShape(p.GEOM_SPHERE, radius=shape.radius)
        return p.createCollisionShape(p.GEOM_BOX, halfExtents=list(0.5 * np.asarray(shape.sides)))

    def _urdf(self, root: Any, names: list[int]) -> str:
        """A tree of hinges; every link's frame at its joint, the root's at its centre."""
        lines = ['<robot name="tree">', self._link(root.child, np.zeros(3))]
        waiting = list(self._children[root.child])
        at = {root.child: np.zeros(3)}
        while waiting:
            j = waiting.pop(0)
            waiting += self._children.get(j.child, [])
            names.append(j.child)
            at[j.child] = -np.asarray(j.X_BM.p)  # from the joint to the centre
            low, high = self._ranges[j.name]
            origin = at[j.parent] + np.asarray(j.X_PF.p)
            lines += [
                self._link(j.child, at[j.child]),
                f'<joint name="j{j.child}" type="revolute"><parent link="l{j.parent}"/><child link="l{j.child}"/>'
                f'<origin xyz="{words(origin)}"/><axis xyz="{words(j.element.axis)}"/>'
                f'<limit lower="{low}" upper="{high}" effort="1e9" velocity="1e9"/></joint>',
            ]
        return "\n".join([*lines, "</robot>"])

    def _link(self, number: int, centre: np.ndarray) -> str:
        body = self._model.bodies[number]
        x, y, z = np.diag(body.inertia)
        size = words(body.shapes[0].shape.sides)
        return (
            f'<link name="l{number}"><inertial><origin xyz="{words(centre)}"/><mass value="{body.mass}"/><inertia ixx="{x}" iyy="{y}" '
            f'izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="{words(centre)}"/><geometry><box size="{size}"/>'
            "</geometry></collision></link>"
        )

    def step(self, steps: int) -> None:
        for _ in range(steps):
            self.p.stepSimulation()

    def poses(self) -> np.ndarray:
        out = np.zeros((len(self._where), 12))
        out[0, [0, 4, 8]] = 1.0
        for i, (body, link) in enumerate(self._where[1:], 1):
            place, turn = self.p.getBasePositionAndOrientation(body) if link < 0 else self.p.getLinkState(body, link)[:2]
            out[i, :9], out[i, 9:] = self.p.getMatrixFromQuaternion(turn), place
        return out

    def contacts(self) -> int:
        return len(self.p.getContactPoints())


def ranges(model: ub.Model) -> dict[str, tuple[float, float]]:
    """Of every hinge with a JointLimit."""
    limits = (c for _, c in model.constraints if isinstance(c, ub.JointLimit))
    return {model.joint(c.joint).name: (float(np.ravel(c.lower)[0]), float(np.ravel(c.upper)[0])) for c in limits}
