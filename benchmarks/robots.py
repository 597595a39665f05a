"""Robots from files with contact, beside MuJoCo and PyBullet: processor time of a step, at the same dt, and the overlap that is left.

    python benchmarks/robots.py [--quick]

Gymnasium's humanoid and ant (MJCF, limp) and Bullet's A1 (URDF, held by a servo of 200 N m/rad and 5 N m s/rad on every joint), dt = 2 ms.
All fall, and come to rest; contenders take turns of 50 steps, and of the last turns the least time of a step counts. Before each turn a
contender takes a step that is not timed, so that nobody pays for whose turn it was before. MuJoCo runs the same files with its defaults
(Newton), and with contacts as hard as it takes (solref of two steps); the servos are its joints' own springs and dampers. PyBullet runs A1
with its position control and 50 sweeps. Overlap: the deepest contact at the end, by each engine's own word, less what margins ask for.
Goal: faster than both, with no larger overlap.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import machine, table

import unibody as ub
from peers.robots import BULLET, GYM, find, lowest

DT, TURN = 2e-3, 50
KP, KD = 200.0, 5.0
LEGS = ("FR", "FL", "RR", "RL")
POSE = {f"{leg}_upper_joint": 0.8 for leg in LEGS} | {f"{leg}_lower_joint": -1.6 for leg in LEGS}


class Ours:
    def __init__(self, model: ub.Model):
        self.bound = ub.solvers.Complementarity().bind(model)
        self.state, self.memory = self.bound.start()
        self.control = model.neutral_control()

    def step(self, steps: int) -> None:
        self.state, self.memory = self.bound.rollout(self.state, self.memory, self.control, DT, steps, steps, False)[:2]

    def overlap(self) -> float:
        seen = self.bound.observe(self.state, self.memory, self.control)
        return float(max(0.0, -seen.contacts.gaps.min(initial=0.0)))

    def contacts(self) -> int:
        return int((self.bound.observe(self.state, self.memory, self.control).contacts.normal_forces > 0.0).sum())


class MuJoCo:
    def __init__(self, m: Any, hard: bool):
        import mujoco

        self.mj, self.m = mujoco, m
        m.opt.timestep = DT
        if hard:
            m.geom_solref[:, 0] = 2.0 * DT
        self.d = mujoco.MjData(m)
        for i in range(m.njnt):
            if m.joint(i).name in POSE:
                self.d.qpos[m.jnt_qposadr[i]] = POSE[m.joint(i).name]

    def step(self, steps: int) -> None:
        self.mj.mj_step(self.m, self.d, nstep=steps)

    def overlap(self) -> float:
        return max([0.0, *(float(c.includemargin - c.dist) for c in self.d.contact[: self.d.ncon])])

    def contacts(self) -> int:
        return int(self.d.ncon)


class Bullet:
    def __init__(self, height: float):
        import pybullet as p
        import pybullet_data

        self.p = p
        p.connect(p.DIRECT)
        p.setGravity(0, 0, -9.81)
        p.setPhysicsEngineParameter(fixedTimeStep=DT, numSolverIterations=50)
        p.setAdditionalSearchPath(pybullet_data.getDataPath())
        p.loadURDF("plane.urdf")
        self.robot = p.loadURDF("a1/a1.urdf", [0, 0, height], flags=p.URDF_USE_INERTIA_FROM_FILE)
        for j in range(p.getNumJoints(self.robot)):
            name = p.getJointInfo(self.robot, j)[1].decode()
            p.resetJointState(self.robot, j, POSE.get(name, 0.0))
            p.setJointMotorControl2(self.robot, j, p.POSITION_CONTROL, POSE.get(name, 0.0), force=1e3)

    def step(self, steps: int) -> None:
        for _ in range(steps):
            self.p.stepSimulation()

    def overlap(self) -> float:
        return max([0.0, *(-c[8] for c in self.p.getContactPoints())])

    def contacts(self) -> int:
        return len(self.p.getContactPoints())


def a1() -> tuple[ub.Model, float]:
    b = ub.Builder.load(find(f"{BULLET}/a1/a1.urdf"), floating=True, floor=True)
    b.start(POSE)
    height = -lowest(b.build()) + 1e-3
    b.place("trunk", ub.Pose((0.0, 0.0, height)))
    b.motors(stiffness=KP, damping=KD)
    return b.build(), height


def a1_in_mujoco(height: float) -> Any:
    import mujoco

    spec = mujoco.MjSpec.from_file(str(find(f"{BULLET}/a1/a1.urdf")))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[9, 9, 1])
    root = spec.body("trunk")
    root.pos = [0, 0, height]
    root.add_freejoint()
    m = spec.compile()
    for i in range(m.njnt):
        if m.jnt_type[i] == int(mujoco.mjtJoint.mjJNT_HINGE):
            at = m.jnt_qposadr[i]
            m.qpos_spring[at] = POSE.get(m.joint(i).name, 0.0)
            m.jnt_stiffness[i], m.dof_damping[m.jnt_dofadr[i]] = KP, KD
    return m


def timed(contenders: dict[str, Any], turns: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(turns):
        for name, engine in contenders.items():
            engine.step(1)
            began = time.thread_time()
            engine.step(TURN)
            taken[name].append((time.thread_time() - began) / TURN)
    return {name: min(times[-turns // 3 :]) for name, times in taken.items()}


def main(arguments: list[str] | None = None) -> int:
    import mujoco

    turns = 12 if "--quick" in (sys.argv[1:] if arguments is None else arguments) else 40
    print(machine(), f"MuJoCo {mujoco.__version__}")
    rows = []
    cases: dict[str, Callable[[], dict[str, Any]]] = {}
    for name in ("humanoid", "ant"):
        path = find(f"{GYM}/{name}.xml")
        cases[name] = lambda path=path: {
            "ours": Ours(ub.load(path).model),
            **{f"MuJoCo{' hard' * hard}": MuJoCo(mujoco.MjModel.from_xml_path(str(path)), hard) for hard in (False, True)},
        }

    def legged() -> dict[str, Any]:
        model, height = a1()
        found: dict[str, Any] = {"ours": Ours(model)}
        found |= {f"MuJoCo{' hard' * hard}": MuJoCo(a1_in_mujoco(height), hard) for hard in (False, True)}
        return found | {"PyBullet": Bullet(height)}

    cases["A1"] = legged
    for name, build in cases.items():
        contenders = build()
        times = timed(contenders, turns)
        for who, seconds in times.items():
            ratio = "" if who == "ours" else f"{seconds / times['ours']:.2f} ×"
            rows.append([name, who, f"{1e6 * seconds:.0f}", ratio, f"{1e3 * contenders[who].overlap():.2g}", contenders[who].contacts()])
    print(table(["robot", "engine", "µs per step", "takes", "overlap mm", "contacts"], rows))
    return int(not np.isfinite([float(r[2]) for r in rows]).all())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
