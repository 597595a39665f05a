"""Robots from other projects' wheels, as their files are, on a floor: they land and touch at any usual step (`test_robots_at_rest`:
where they rest, beside MuJoCo on the same files)."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from peers.robots import BULLET, DATA, GYM, SUITE, WALKERS, find, on_floor, qpos_of, speeds

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
