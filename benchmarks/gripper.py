"""A block pinched by two fingers: how fast it creeps out of them, over a minute, here and in MuJoCo and PyBullet at equal dt.

Friction alone carries the block: two fingers press with 12 N each, μ = 0.6, on a block of 1 kg (up to 1.47 kg would hold). After two
seconds to settle, creep is the way of the block against the fingers over the time, in m/s; exact friction has none. The others are
given what is best for holding: MuJoCo the elliptic cone with implicitfast, impratio 1 and 100, and with its noslip post-processing;
PyBullet 50 and 500 iterations, with its friction anchors too.

    python benchmarks/gripper.py [--quick]        # --quick: 6 s instead of 60
"""

from __future__ import annotations

import sys
import time

import numpy as np
from common import machine, table

import unibody as ub

DT, FORCE, MASS, MU, EDGE, PAD = 1e-2, 12.0, 1.0, 0.6, 0.06, 0.02
SETTLE = 2.0
"""[s] before creep is measured."""


def pinched() -> ub.Model:
    """The block in the air between two fingers on slides, geared to each other."""
    b = ub.Builder()
    b.body("block", shape=ub.Box((EDGE,) * 3), mass=MASS)
    for name, side in (("left", -1.0), ("right", 1.0)):
        finger = b.body(name, shape=ub.Box((PAD, 0.04, 0.08)), mass=0.1)
        at = ub.Pose(p=(side * 0.5 * (EDGE + PAD), 0, 0))
        b.joint(f"{name}.slide", ub.Prismatic(axis=(-side, 0, 0)), b.world, finger, X_PF=at)
        b.add(ub.Motor(f"{name}.slide", effort=FORCE, kd=3.0))
    b.add(ub.JointCoupling(["left.slide", "right.slide"], (1.0, -1.0)))
    b.add(ub.Contact(friction=MU))
    return b.build()


def ours(duration: float) -> tuple[float, float, float]:
    """Creep [m/s], the block's fall since the start [m], milliseconds a step."""
    sim = ub.Simulation(pinched(), "complementarity", dt=DT)
    sim.run(SETTLE, every=round(SETTLE / DT), progress=False)
    began, first = time.perf_counter(), sim.observe().poses[1, 2]
    sim.run(duration, every=round(duration / DT), progress=False)
    spent, last = time.perf_counter() - began, sim.observe().poses[1, 2]
    return abs(last - first) / duration, -last, 1e3 * spent / (duration / DT)


MJCF = """<mujoco>
<option timestep="{dt}" integrator="implicitfast" cone="elliptic" impratio="{ratio}" noslip_iterations="{noslip}"/><worldbody>
<body name="block"><freejoint/><geom type="box" size="{h} {h} {h}" mass="{mass}" friction="{mu} 0 0" condim="{condim}"/></body>
{fingers}</worldbody>
<equality><joint joint1="left" joint2="right" polycoef="0 1 0 0 0"/></equality>
<actuator><motor joint="left"/><motor joint="right"/></actuator></mujoco>"""
FINGER = """<body pos="{x} 0 0"><joint name="{name}" type="slide" axis="{axis} 0 0" damping="3"/>
<geom type="box" size="{p} 0.02 0.04" mass="0.1" friction="{mu} 0 0" condim="3"/></body>"""


def mujoco_creep(duration: float, ratio: float, noslip: int) -> tuple[float, float, float]:
    import mujoco

    fingers = "".join(
        FINGER.format(x=s * 0.5 * (EDGE + PAD), name=n, axis=-s, p=0.5 * PAD, mu=MU) for n, s in (("left", -1), ("right", 1))
    )
    text = MJCF.format(dt=DT, ratio=ratio, noslip=noslip, h=0.5 * EDGE, mass=MASS, mu=MU, condim=3, fingers=fingers)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.ctrl[:] = FORCE
    for _ in range(round(SETTLE / DT)):
        mujoco.mj_step(model, data)
    began, first = time.perf_counter(), data.qpos[2]
    for _ in range(round(duration / DT)):
        mujoco.mj_step(model, data)
    spent = time.perf_counter() - began
    return abs(data.qpos[2] - first) / duration, -data.qpos[2], 1e3 * spent / (duration / DT)


def pybullet_creep(duration: float, iterations: int, anchors: bool) -> tuple[float, float, float]:
    """Fingers are boxes on sliders of the world, each pushed with its force."""
    import pybullet as p

    client = p.connect(p.DIRECT)
    p.setGravity(0, 0, -9.81, physicsClientId=client)
    p.setPhysicsEngineParameter(fixedTimeStep=DT, numSolverIterations=iterations, numSubSteps=0, physicsClientId=client)
    cube = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.5 * EDGE] * 3, physicsClientId=client)
    pad = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.5 * PAD, 0.02, 0.04], physicsClientId=client)
    block = p.createMultiBody(MASS, cube, basePosition=[0, 0, 0], physicsClientId=client)
    fingers = []
    for side in (-1, 1):
        at = [side * 0.5 * (EDGE + PAD), 0, 0]
        finger = p.createMultiBody(
            0, -1, basePosition=at, linkMasses=[0.1], linkCollisionShapeIndices=[pad], linkVisualShapeIndices=[-1],
            linkPositions=[[0, 0, 0]], linkOrientations=[[0, 0, 0, 1]], linkInertialFramePositions=[[0, 0, 0]],
            linkInertialFrameOrientations=[[0, 0, 0, 1]], linkParentIndices=[0], linkJointTypes=[p.JOINT_PRISMATIC],
            linkJointAxis=[[-side, 0, 0]], physicsClientId=client,
        )  # fmt: skip
        p.setJointMotorControl2(finger, 0, p.VELOCITY_CONTROL, force=0, physicsClientId=client)
        fingers.append(finger)
    for body, link in ((block, -1), *((f, 0) for f in fingers)):
        p.changeDynamics(
            body, link, lateralFriction=MU**0.5, restitution=0.0, linearDamping=0.0, angularDamping=0.0, jointDamping=3.0 * (link == 0),
            frictionAnchor=int(anchors), physicsClientId=client,
        )  # fmt: skip

    def advance(seconds: float) -> None:
        for _ in range(round(seconds / DT)):
            for finger in fingers:
                p.setJointMotorControl2(finger, 0, p.TORQUE_CONTROL, force=FORCE, physicsClientId=client)
            p.stepSimulation(physicsClientId=client)

    def height() -> float:
        return p.getBasePositionAndOrientation(block, physicsClientId=client)[0][2]

    advance(SETTLE)
    began, first = time.perf_counter(), height()
    advance(duration)
    spent, last = time.perf_counter() - began, height()
    p.disconnect(physicsClientId=client)
    return abs(last - first) / duration, -last, 1e3 * spent / (duration / DT)


def main() -> None:
    duration = 6.0 if "--quick" in sys.argv else 60.0
    contenders = {"unibody complementarity": lambda: ours(duration)}
    for ratio, noslip in ((1, 0), (100, 0), (1, 10)):
        contenders[f"MuJoCo impratio {ratio}, noslip {noslip}"] = lambda ratio=ratio, noslip=noslip: mujoco_creep(duration, ratio, noslip)
    for iterations, anchors in ((50, False), (500, False), (50, True)):
        label = f"PyBullet {iterations} iterations{', anchors' if anchors else ''}"
        contenders[label] = lambda iterations=iterations, anchors=anchors: pybullet_creep(duration, iterations, anchors)
    rows = []
    for name, measure in contenders.items():
        try:
            creep, fall, spent = measure()
        except ImportError as error:
            rows.append((name, f"not installed ({error.name})", "", ""))
            continue
        rows.append((name, f"{creep:.1e}" if np.isfinite(creep) else "lost", f"{1e3 * fall:.2g}", f"{spent:.3f}"))
    print(f"pinched block, dt = {DT:g} s, {duration:g} s after {SETTLE:g} s to settle")
    print(table(("", "creep [m/s]", "lower than at the start [mm]", "ms a step"), rows))
    print(machine())


if __name__ == "__main__":
    main()
