"""Scenes and measures of studies, importable by name in other processes."""

from __future__ import annotations

import os
import signal
import time

import numpy as np

import unibody as ub


def pendulum(length: float = 1.0, mass: float = 1.0, angle: float = 0.3) -> ub.Model:
    b = ub.Builder()
    bob = b.body("bob", mass=mass, inertia=(0.01 * mass,) * 3, com=(0, 0, -length))
    b.joint("hinge", ub.Revolute(axis=(0, 1, 0)), b.world, bob, q=angle)
    return b.build()


def last_angle(rec: ub.Recording) -> dict[str, float]:
    return {"angle": rec.joint("hinge")[-1, 0], "swing": rec.joint("hinge")[:, 0]}


def bouncing(height: float = 0.3, friction: float = 0.5) -> ub.Model:
    """Two boxes that fall on the ground, one above the other and turned."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    box = ub.Box((0.2, 0.2, 0.2))
    b.body("low", shape=box, X_WB=ub.Pose((0, 0, 0.1 + height)))
    b.body("high", shape=box, X_WB=ub.Pose((0.05, 0, 0.5 + height), wxyz=(np.cos(0.1), 0, np.sin(0.1), 0)))
    b.add(ub.Contact(friction=friction, restitution=0.3))
    return b.build()


def last_poses(rec: ub.Recording) -> dict[str, np.ndarray]:
    return {"end": np.concatenate([rec.states[-1].q, rec.states[-1].v])}


def deadly(length: float, folder: str) -> ub.Model:
    """The first run of 0.7 kills its own process; later ones do not."""
    mark = os.path.join(folder, "killed")
    if length == 0.7 and not os.path.exists(mark):
        with open(mark, "w"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return pendulum(length)


def slow(length: float, folder: str) -> ub.Model:
    """Leaves a line for every run that begins."""
    with open(os.path.join(folder, "begun"), "a") as file:
        file.write(f"{length!r}\n")
    time.sleep(0.002)
    return pendulum(length)


def linkage(rate: float) -> ub.Model:
    """A four-bar of thin rods in a plane, with the speed of its crank."""
    b, rod = ub.Builder(), dict(mass=1.0, inertia=(0.1, 0.1, 0.01))
    crank, coupler, rocker = (b.body(name, **rod) for name in ("crank", "coupler", "rocker"))
    hinge = ub.Revolute(axis=(0, 1, 0))
    b.joint("A", hinge, b.world, crank, X_BM=ub.Pose((0, 0, -0.5)), v=rate)
    b.joint("B", hinge, crank, coupler, X_PF=ub.Pose((0, 0, 0.5)), X_BM=ub.Pose((-1.0, 0, 0)), v=-rate)
    b.joint("D", hinge, b.world, rocker, X_PF=ub.Pose((2.0, 0, 0)), X_BM=ub.Pose((0, 0, -0.5)), v=rate)
    b.joint("C", hinge, rocker, coupler, X_PF=ub.Pose((0, 0, 0.5)), X_BM=ub.Pose((1.0, 0, 0)))
    return b.build()


def crank(rec: ub.Recording) -> dict[str, np.ndarray]:
    return {"end": np.concatenate([rec.states[-1].q, rec.states[-1].v])}


def thrown(speed: float, friction: float) -> ub.Model:
    """Three boxes on each other, of which the uppermost lands a millimetre above the others with `speed`."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    box = ub.Box((0.2, 0.2, 0.2))
    for k in range(2):
        b.body(f"box {k}", shape=box, X_WB=ub.Pose((0.02 * k, 0, 0.1 + 0.2 * k)))
    b.body("stone", shape=box, X_WB=ub.Pose((0.05, 0, 0.501)), V_WB=(0, 0, 0, 0.1, 0, -speed))
    b.add(ub.Contact(friction=friction, restitution=0.3))
    return b.build()
