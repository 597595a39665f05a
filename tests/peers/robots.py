"""Robots inside other people's wheels, put on a floor; and MuJoCo in a state of ours.

`on_floor(robot)` is the robot as a Builder with a floor below it: its file's own, or a plane a little below its lowest point.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub

SUITE, WALKERS, GYM, BULLET = "dm_control/suite", "dm_control/locomotion/walkers/assets", "gymnasium/envs/mujoco/assets", "pybullet_data"
DATA = "example-robot-data"
CLEARANCE = 0.02
"""[m] Between the floor and a robot whose file has none."""


def find(robot: str) -> Path:
    """The file inside the installed package, without importing it; those of example-robot-data by the ends of their paths."""
    package, _, rest = robot.partition("/")
    if package == DATA:
        import site

        for place in site.getsitepackages():
            found = sorted(Path(place).glob(f"cmeel.prefix/share/example-robot-data/robots/**/{rest}"))
            if found:
                return found[0]
        pytest.skip("example-robot-data is not installed")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    return Path(spec.submodule_search_locations[0]) / rest


def on_floor(robot: str, **options: Any) -> ub.Builder:
    path = find(robot)
    if path.suffix == ".urdf":
        return ub.Builder.load(path, floating=True, floor=True, height="on floor", **options)
    b = ub.Builder.load(path, **options)
    model = b.build()
    if not any(body.kind == "static" and body.shapes for body in model.bodies[1:]):
        b.body("floor below", shape=ub.Plane(), kind="static", X_WB=ub.Pose((0, 0, lowest(model) - CLEARANCE)))
    if not any(isinstance(e, ub.Contact) for e in b.elements.values()):
        b.add(ub.Contact(friction=1.0))
    return b


def lowest(model: ub.Model) -> float:
    """Height of the lowest solid vertex of what moves, at the start [m]."""
    found = np.inf
    for body in model.bodies:
        for placed in body.shapes if body.kind == "dynamic" else ():
            if placed.solid:
                points = placed.triangles()[0] @ np.asarray(body.X_WB.R).T + np.asarray(body.X_WB.p)
                found = min(found, float(points[:, 2].min()))
    return found


def weight(model: ub.Model) -> float:
    """[N] of all that moves."""
    return float(np.linalg.norm(model.gravity) * sum(body.mass for body in model.bodies if body.kind == "dynamic"))


def force_from_ground(recording: ub.Recording, row: int = -1) -> np.ndarray:
    """(3,) [N] the sum of contact forces of what does not move on what does."""
    touching, out = recording.contacts[row], np.zeros(3)
    for i, body in enumerate(recording.model.bodies):
        if body.kind != "dynamic":
            out -= touching.on(i)
    return out


def speeds(recording: ub.Recording, row: int = -1) -> float:
    """[m/s, rad/s] the largest number in any twist."""
    names = [body.name for body in recording.model.bodies if body.kind == "dynamic"]
    return max(float(np.abs(recording.twist(name)[row]).max()) for name in names)


def qpos_of(m: Any, model: ub.Model, q: np.ndarray) -> np.ndarray:
    """MuJoCo's coordinates of ours; several joints of one body stand in a row in both."""
    qpos = np.array(m.qpos0)
    for j in model.tree_joints:
        if j.nv:
            first = j.name.split("+")[0]
            i = int(first.removeprefix("joint ")) if first.startswith("joint ") else m.joint(first).id
            at = int(m.jnt_qposadr[i])
            qpos[at : at + j.nq] = q[j.q_start : j.q_start + j.nq]
    return qpos


def stiffened(m: Any) -> Any:
    """MuJoCo's model with contacts and limits so stiff that it sags by micrometres, an elliptic cone, as here, and friction ten times as
    stiff as normals, or feet that stick creep."""
    import mujoco

    m.opt.timestep, m.opt.cone, m.opt.impratio = 5e-4, int(mujoco.mjtCone.mjCONE_ELLIPTIC), 10.0
    m.geom_solref[:], m.jnt_solref[:] = (0.002, 1.0), (0.002, 1.0)
    m.geom_solimp[:, :3], m.jnt_solimp[:, :3] = (0.999, 0.9999, 1e-4), (0.999, 0.9999, 1e-4)
    return m
