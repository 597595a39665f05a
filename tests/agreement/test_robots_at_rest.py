"""Robots from other projects' wheels, dropped on a floor with their joints held (`peers.held_robots`), come to rest, and the floor carries
their weight; MuJoCo, which reads the same files, is put where ours rests and stays there.

Where a robot rests is a matter of shapes, joints, limits, servos, margins, friction and, less, of masses, all of which MuJoCo reads for
itself (but for inertias that it refuses, which are ours). In half a second what nothing holds falls by 1.2 m. Joints are held so stiffly
that a trunk half as heavy again moves by 1 mm only: of masses the sum is compared. Inertias do not matter at rest.

Left out, and why:

- dm_control: jumping_ball, boxhead are hinged to the world, stacker, manipulator, finger, reacher, ball_in_cup stand on or hang from it;
  fish, swimmer, point_mass touch nothing;
- gymnasium: point slides at a height that the file gives it, pusher, reacher and pendulums stand on the world, swimmer touches nothing;
- pybullet_data: of its MJCF MuJoCo refuses half_cheetah, hopper, walker2d, humanoid_symmetric and humanoid_fixed, and the torsos of ant
  and humanoid are fixed to the world; MuJoCo refuses numbers in the URDF of husky and bicycle; laikago's chassis is a mesh of 48 parts, of
  which MuJoCo makes one hull, so that legs begin inside it; pr2_gripper tilts and rolls on the rim of its pole, which nothing damps;
- example-robot-data: hyq, icub, romeo, tiago, anymal-kinova have meshes in formats that MuJoCo does not read; z1, ur5, xarm7 are fixed to
  the world; talos takes half a minute; finger_edu still rolls over after six seconds.
"""

from __future__ import annotations

from typing import Any

import pytest

import unibody as ub
from peers.held_robots import QUIET, heights_after, held, in_mujoco, run_to_rest
from peers.robots import BULLET, DATA, GYM, SUITE, find, force_from_ground, on_floor, speeds, stiffened, weight

pytestmark = pytest.mark.peers

ROBOTS = [
    *(f"{GYM}/{name}.xml" for name in ("ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "walker2d", "walker2d_v5")),
    *(f"{SUITE}/{name}.xml" for name in ("cheetah", "hopper", "humanoid", "quadruped", "walker")),
    *(f"{BULLET}/mjcf/{name}.xml" for name in ("capsule", "capsule_fromtoX", "cylinder", "hello_mjcf")),
    *(f"{BULLET}/{name}.urdf" for name in ("a1/a1", "aliengo/aliengo", "mini_cheetah/mini_cheetah", "r2d2", "racecar/racecar", "cube")),
    *(f"{BULLET}/{name}.urdf" for name in ("cube_small", "sphere2", "duck_vhacd", "teddy_vhacd", "jenga/jenga", "domino/domino")),
    *(f"{BULLET}/{name}.urdf" for name in ("lego/lego", "block", "random_urdfs/000/000", "random_urdfs/001/001")),
    f"{BULLET}/objects/mug.urdf",
    *(f"{BULLET}/quadruped/{name}.urdf" for name in ("minitaur", "spirit40", "vision60", "quadruped")),
    *(f"{BULLET}/{name}.urdf" for name in ("kuka_iiwa/model", "kuka_iiwa/model_free_base", "franka_panda/panda")),
    *(f"{DATA}/{name}.urdf" for name in ("a1", "go1", "b1", "anymal", "laikago", "solo", "solo12", "quadruped", "bolt", "go2")),
    *(f"{DATA}/{name}.urdf" for name in ("g1_29dof_rev_1_0", "centauro", "iris", "quadrotor_base", "so100", "double_pendulum")),
]  # fmt: skip
SECONDS = 9.0
"""The longest that one takes to rest: most need one or two, gymnasium's hopper, which rocks on its one foot, all of it."""
NEAR = 2e-3
"""[m] Between heights of a body in the two engines."""
FINER = {f"{DATA}/go2.urdf": 1e-4}
"""[s] MuJoCo's step where its own, of 2 ms, is too long: landing on the many corners of its feet, go2 is thrown up by 2.5 mm there."""


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_held_robot_rests_with_its_weight_where_mujoco_has_it(robot: str) -> None:
    held_robot = held(robot)
    model = held_robot.builder.build()
    m = in_mujoco(held_robot, model)
    # links that MuJoCo refuses for their inertia may have next to none
    assert float(m.body_subtreemass[0]) == pytest.approx(sum(b.mass for b in model.bodies if b.kind == "dynamic"), rel=1e-6)
    recording = run_to_rest(model, SECONDS)
    assert speeds(recording) < QUIET
    assert abs(force_from_ground(recording)[2] / weight(model) - 1.0) < 1e-6
    m.opt.timestep = FINER.get(robot, m.opt.timestep)
    theirs = heights_after(m, model, recording.q[-1])
    ours = {b.name: float(recording.pose(b.name)[-1, 2]) for b in model.bodies if b.kind == "dynamic"}
    known = theirs.keys() & ours.keys()
    moves = sum(j.nv > 0 and model.bodies[j.child].kind == "dynamic" for j in model.tree_joints)
    assert len(known) >= moves - 1  # a massless root has another name here
    assert max(abs(theirs[name] - ours[name]) for name in known) < NEAR


def test_at_least_forty_are_compared() -> None:
    assert len(set(ROBOTS)) >= 40


LIMP = {
    # robots that stand or lie still within some seconds by their files' own friction and damping
    f"{GYM}/ant.xml": 3.0, f"{SUITE}/hopper.xml": 3.0, f"{BULLET}/mjcf/cylinder.xml": 2.0,
}  # fmt: skip


@pytest.mark.parametrize("robot", LIMP)
def test_what_rests_limp_presses_with_its_weight_and_lies_where_mujoco_has_it(robot: str) -> None:
    import mujoco

    model = on_floor(robot).build()
    recording = ub.Simulation(model, "complementarity", dt=5e-3).run(LIMP[robot], every=20)
    assert speeds(recording) < 1e-6
    assert abs(force_from_ground(recording)[2] / weight(model) - 1.0) < 1e-6
    theirs = heights_after(stiffened(mujoco.MjModel.from_xml_path(str(find(robot)))), model, recording.q[-1])
    for body in model.bodies:
        if body.kind == "dynamic":
            assert abs(theirs[body.name] - recording.pose(body.name)[-1, 2]) < NEAR, body.name


def test_a_robot_read_wrongly_is_seen() -> None:
    """The comparison can fail: a leg that is 5 mm shorter, or a joint that is held 0.1 rad off, moves MuJoCo by more than is allowed."""
    held_robot = held(f"{BULLET}/aliengo/aliengo.urdf")
    model = held_robot.builder.build()
    recording = run_to_rest(model, SECONDS)
    ours = {b.name: float(recording.pose(b.name)[-1, 2]) for b in model.bodies if b.kind == "dynamic"}

    def away(m: Any) -> float:
        theirs = heights_after(m, model, recording.q[-1])
        return max(abs(theirs[name] - ours[name]) for name in theirs.keys() & ours.keys())

    short, off = in_mujoco(held_robot, model), in_mujoco(held_robot, model)
    short.geom_pos[short.geom_bodyid == short.body("FL_lower").id, 2] += 5e-3
    off.qpos_spring[off.joint("FL_lower_joint").qposadr[0]] += 0.1
    assert away(in_mujoco(held_robot, model)) < NEAR
    assert away(short) > NEAR
    assert away(off) > NEAR
