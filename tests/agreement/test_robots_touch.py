"""Robots from other projects' wheels, as their files are, on a floor: they land, touch and rest; beside MuJoCo on the same files."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from peers.robots import BULLET, DATA, GYM, SUITE, WALKERS, find, force_from_ground, on_floor, qpos_of, speeds, weight

pytestmark = pytest.mark.peers

MJCF = [
    *(f"{GYM}/{name}.xml" for name in ("ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "walker2d", "walker2d_v5")),
    *(f"{SUITE}/{name}.xml" for name in ("ball_in_cup", "cheetah", "hopper", "humanoid", "quadruped", "stacker", "manipulator", "walker")),
    f"{WALKERS}/jumping_ball/jumping_ball_with_head.xml", "dm_control/locomotion/soccer/assets/boxhead/boxhead.xml",
    f"{BULLET}/mjcf/capsule.xml", f"{BULLET}/mjcf/cylinder.xml",
]  # fmt: skip
URDF = [
    *(f"{BULLET}/{name}.urdf" for name in ("a1/a1", "aliengo/aliengo", "laikago/laikago", "mini_cheetah/mini_cheetah", "r2d2")),
    *(f"{BULLET}/{name}.urdf" for name in ("husky/husky", "racecar/racecar", "cube", "sphere2", "duck_vhacd", "jenga/jenga")),
    *(f"{BULLET}/{name}.urdf" for name in ("domino/domino", "lego/lego")),
    *(f"{BULLET}/{name}.urdf" for name in ("quadruped/minitaur", "teddy_vhacd", "block", "kuka_iiwa/model", "franka_panda/panda")),
    *(f"{DATA}/{name}.urdf" for name in ("a1", "go1", "go2", "anymal", "solo", "solo12", "hyq_no_sensors", "quadruped", "bolt")),
]  # fmt: skip
STEPS = {1e-3: 150, 2e-3: 150, 5e-3: 120, 1e-2: 80}
"""Of each step length: through the first impact and on."""
DEEPEST = 2e-3
"""[m] Overlap that may be left at an instant: anticipated contacts leave none, starts inside the floor are taken out step by step."""


@pytest.mark.parametrize("robot", [*MJCF, *URDF])
def test_a_robot_lands_without_exploding_at_any_usual_step(robot: str) -> None:
    model = on_floor(robot).build()
    touched = 0
    for dt, steps in STEPS.items():
        recording = ub.Simulation(model, "complementarity", dt=dt).run(steps * dt, every=steps // 4)
        fall = 2.0 + 9.81 * steps * dt  # what falls freely, and some for limbs that swing
        assert speeds(recording) < 20.0 * fall
        touched = max(touched, max(len(c) for c in recording.contacts))
        assert float(recording.contacts[-1].gaps.min(initial=0.0)) > -DEEPEST
    assert touched > 0


RESTING = {
    # robots that stand or lie still within some seconds by their own friction and damping
    f"{GYM}/ant.xml": 3.0, f"{SUITE}/hopper.xml": 3.0, f"{BULLET}/mjcf/cylinder.xml": 2.0,
}  # fmt: skip


@pytest.mark.parametrize("robot", RESTING)
def test_what_rests_presses_with_its_weight_and_lies_where_mujoco_has_it(robot: str) -> None:
    """MuJoCo, put into our state of rest with contacts as hard as it takes, stays there: heights of all bodies within 2 mm (its soft
    contacts give way by some tenths of a millimetre)."""
    import mujoco

    model = on_floor(robot).build()
    recording = ub.Simulation(model, "complementarity", dt=5e-3).run(RESTING[robot], every=20)
    assert speeds(recording) < 1e-6
    assert abs(force_from_ground(recording)[2] / weight(model) - 1.0) < 1e-6
    m = mujoco.MjModel.from_xml_path(str(find(robot)))
    m.opt.timestep = 1e-3
    m.geom_solref[:, 0] = 2e-3
    d = mujoco.MjData(m)
    d.qpos[:] = qpos_of(m, model, recording.q[-1])
    for _ in range(500):
        mujoco.mj_step(m, d)
    for body in model.bodies:
        if body.kind == "dynamic" and mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, body.name) > 0:
            assert abs(d.body(body.name).xpos[2] - recording.pose(body.name)[-1][2]) < 2e-3, body.name


def test_the_ant_rests_from_the_pose_that_gymnasium_starts_in() -> None:
    """Ours lies on its margin to round-off; MuJoCo's, with its own soft contacts, sinks into it."""
    import mujoco

    path = find(f"{GYM}/ant.xml")
    m = mujoco.MjModel.from_xml_path(str(path))
    start = next(np.array(m.numeric_data[m.numeric_adr[i] : m.numeric_adr[i] + m.numeric_size[i]]) for i in range(m.nnumeric)
                 if m.numeric(i).name == "init_qpos")  # fmt: skip
    b = on_floor(f"{GYM}/ant.xml")
    joints = [m.joint(i).name for i in range(1, m.njnt)]
    b.start({name: float(start[m.jnt_qposadr[m.joint(name).id]]) for name in joints})
    recording = ub.Simulation(b.build(), "complementarity", dt=5e-3).run(3.0, every=100)
    assert speeds(recording) < 1e-6
    assert float(recording.contacts[-1].gaps.min()) > -1e-6
    d = mujoco.MjData(m)
    d.qpos[:] = qpos_of(m, recording.model, recording.q[-1])
    for _ in range(300):
        mujoco.mj_step(m, d)
    sunk = min(float(c.dist) - float(c.includemargin) for c in d.contact[: d.ncon])
    assert sunk < -1e-5
