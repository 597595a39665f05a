"""Robots of other people's wheels fall on their floors and rest there, as in MuJoCo.

MuJoCo's contacts and limits are soft: it is given stiff ones (solref 2 ms, solimp up to 0.9999), so that it sags by micrometres, an
elliptic cone, as here, and friction ten times as stiff as normals (impratio), or feet that stick creep. Starts are moved into the joints'
limits: MuJoCo throws a joint that begins outside, here it only goes back.

How a robot falls is chaotic, where it rests is not: MuJoCo has to rest where we do. Only of those that land on their feet the whole fall
is compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub
from peers.robots import GYM, SUITE, find, stiffened
from unibody.files.mjcf import load_mjcf, scene_of

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

NEAR = 2e-3
"""[m] Between heights of bodies."""
INSIDE = 0.02
"""Of a joint's range: how far inside its limits it starts."""
SECONDS = 3.0


def started(path: Path) -> Any:
    """MuJoCo's model with a keyframe within all limits."""
    spec = mujoco.MjSpec.from_file(str(path))
    m = spec.compile()
    q = np.array(m.qpos0)
    for j in range(m.njnt):
        if m.jnt_limited[j] and m.jnt_type[j] in (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)):
            low, high = m.jnt_range[j]
            at = m.jnt_qposadr[j]
            q[at] = np.clip(q[at], low + INSIDE * (high - low), high - INSIDE * (high - low))
    spec.add_key(name="begin", qpos=q)
    return spec.compile()


def run_on(m: Any, d: Any, seconds: float) -> dict[str, float]:
    """Heights of MuJoCo's bodies by name, after so long."""
    while d.time < seconds:
        mujoco.mj_step(m, d)
    return {m.body(i).name: float(d.xpos[i, 2]) for i in range(m.nbody)}


def put(m: Any, model: ub.Model, q: np.ndarray) -> Any:
    """MuJoCo at rest in our coordinates, which are its own joint by joint."""
    d = mujoco.MjData(m)
    for j in model.joints:
        at = j.q_start
        for name in j.name.split("+") if not j.implicit and j.nv else ():
            own = m.joint(name)
            count = {0: 7, 1: 4}.get(int(own.type[0]), 1)
            first = int(m.jnt_qposadr[own.id])
            d.qpos[first : first + count] = q[at : at + count]
            at += count
    return d


@pytest.mark.parametrize(
    ("robot", "lands"),
    ((f"{GYM}/ant.xml", True), (f"{GYM}/half_cheetah.xml", True), (f"{SUITE}/cheetah.xml", True), (f"{SUITE}/humanoid.xml", False),
     (f"{GYM}/hopper.xml", False)),
    ids=("ant", "half_cheetah", "cheetah", "humanoid", "hopper"),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:compiler attribute")
def test_a_robot_rests_where_it_rests_in_mujoco(robot: str, lands: bool) -> None:
    m = started(find(robot))
    model = scene_of(m, keyframe="begin").model
    recording = ub.Simulation(model, "complementarity", dt=2e-3).run(SECONDS)
    ours = {b.name: float(recording.pose(b.name)[-1, 2]) for b in model.bodies if b.kind == "dynamic"}
    begun = {b.name: float(recording.pose(b.name)[0, 2]) for b in model.bodies if b.kind == "dynamic"}
    stiffened(m)
    known = {m.body(i).name for i in range(m.nbody)} & set(ours)
    assert max(begun[name] - ours[name] for name in known) > 0.02  # it did fall
    stays = run_on(m, put(m, model, recording.q[-1]), 1.0)
    assert max(abs(stays[name] - ours[name]) for name in known) < NEAR
    if lands:
        d = mujoco.MjData(m)
        mujoco.mj_resetDataKeyframe(m, d, 0)
        falls = run_on(m, d, SECONDS)
        assert max(abs(falls[name] - ours[name]) for name in known) < NEAR


@pytest.mark.parametrize(
    ("robot", "seconds", "dt"),
    ((f"{SUITE}/humanoid.xml", 4.0, 2e-3), pytest.param(f"{GYM}/humanoid.xml", 14.0, 4e-3, marks=pytest.mark.slow)),
    ids=("suite", "gymnasium"),
)  # fmt: skip
def test_the_floor_carries_the_weight_of_a_humanoid(robot: str, seconds: float, dt: float) -> None:
    """Once it lies still, which gymnasium's softer joints take long for: Σ normal forces of the floor = m g, and nothing is below it."""
    model = load_mjcf(find(robot)).model
    recording = ub.Simulation(model, "complementarity", dt=dt).run(seconds)
    last = recording.contacts[-1]
    floor = (last.bodies == model.body("ground")).any(axis=1)
    weight = model.total_mass * float(np.linalg.norm(model.gravity))
    assert last.normal_forces[floor].sum() == pytest.approx(weight, rel=1e-6)
    assert last.gaps.min() > -1e-5  # of the smallest geom, 4 cm, a part of 10⁻⁵ is left alone; 10 times that
    lowest = min(recording.vertices(b.name)[-1, :, 2].min() for b in model.bodies if b.kind == "dynamic" and b.shapes)
    assert lowest > -1e-5
