"""Each kind of joint, tendon, actuator and equality of MJCF on a small file: MuJoCo's own accelerations and positions decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.files.mjcf import load_mjcf

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

OFF = '<option gravity="1 -2 -9.81"><flag contact="disable" limit="disable" frictionloss="disable"/></option>'
BALL = '<geom type="box" size=".1 .2 .3" pos=".1 .05 -.2" euler="20 30 40"/>'


def read(tmp_path: Path, body: str, **options: Any) -> tuple[Any, ub.scenes.Scene]:
    """MuJoCo's model and our scene of the same file."""
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco>{OFF}{body}</mujoco>")
    return mujoco.MjModel.from_xml_path(str(path)), load_mjcf(path, **options)


def tree(model: ub.Model) -> list[Any]:
    return [j for j in model.tree_joints if j.nv]


def to_ours(model: ub.Model, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For files whose bodies stand in our order: only free bodies' velocities change."""
    q, v = np.array(qpos), np.array(qvel)
    for j in tree(model):
        if isinstance(j.element, ub.Free):
            R = ub.Pose(wxyz=q[j.q_start + 3 : j.q_start + 7]).R
            v[j.v_start : j.v_start + 6] = np.concatenate([v[j.v_start + 3 : j.v_start + 6], R.T @ v[j.v_start : j.v_start + 3]])
    return q, v


def accelerations_agree(
    m: Any, model: ub.Model, rng: np.random.Generator, ctrl: float = 0.0, tolerance: float = 1e-11, usable: Any = None
) -> None:
    d, bound = mujoco.MjData(m), ub.solvers.Articulated().bind(model)
    for _ in range(3):
        d.qpos[:] = m.qpos0
        mujoco.mj_integratePos(m, d.qpos, rng.standard_normal(m.nv), 0.7)
        d.qvel[:], d.ctrl[:] = rng.standard_normal(m.nv), ctrl
        mujoco.mj_forward(m, d)
        if usable is not None and not usable(d):
            continue
        q, v = to_ours(model, d.qpos, d.qvel)
        expected = np.array(d.qacc)
        for j in tree(model):
            if isinstance(j.element, ub.Free):
                at, dofs = j.q_start, slice(j.v_start, j.v_start + 6)
                R, own = ub.Pose(wxyz=q[at + 3 : at + 7]).R, v[dofs]
                expected[dofs] = np.concatenate([expected[dofs][3:], R.T @ expected[dofs][:3] - np.cross(own[:3], own[3:])])
        found = bound.forward_dynamics(q, v, np.zeros(model.nv))
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


def positions_agree(m: Any, model: ub.Model, qpos: Any) -> None:
    """Every body of ours stands at the start where MuJoCo puts it."""
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    mujoco.mj_kinematics(m, d)
    for body in model.bodies[1:]:
        if body.name != "ground":
            i = m.body(body.name).id
            np.testing.assert_allclose(body.X_WB.p, d.xpos[i], atol=1e-12)
            np.testing.assert_allclose(body.X_WB.R, d.xmat[i].reshape(3, 3), atol=1e-12)


ONE_BODY = {
    "hinge": '<joint name="a" axis="1 2 3" pos=".1 .2 .3" ref="35" springref="20" stiffness="3" damping=".4" armature=".2"/>',
    "slide": '<joint name="a" type="slide" axis="1 2 3" pos=".1 .2 .3" ref=".4" springref=".2" stiffness="3" damping=".4" armature=".2"/>',
    "ball": '<joint name="a" type="ball" pos=".1 .2 .3" stiffness="3" damping=".4" armature=".2"/>',
    "free": '<freejoint name="a"/>',
    "free damped": '<joint name="a" type="free" damping=".6"/>',
    "free with springs and armature": '<joint name="a" type="free" damping=".6" stiffness="4" armature=".3"/>',
    "two hinges that miss each other": '<joint name="a" axis="1 0 0" pos="0 .1 0"/><joint name="b" axis="0 1 0" pos=".3 0 .2"/>',
    "slides and hinges, referenced": (
        '<joint name="a" type="slide" axis="1 1 0" ref=".3" stiffness="2"/>'
        '<joint name="b" axis="0 1 1" pos=".1 0 0" ref="40" springref="10" stiffness="5"/>'
        '<joint name="c" type="slide" axis="0 1 0" ref="-.2"/><joint name="d" axis="1 0 1" pos="0 .2 .1" ref="-25" damping=".3"/>'
    ),
    "hinge before a ball": '<joint name="a" axis="1 1 0" pos=".2 0 .1" ref="50"/><joint name="b" type="ball" pos="0 .1 .1" damping=".1"/>',
    "slides before a ball": (
        '<joint name="a" type="slide" axis="1 0 0" ref=".5"/><joint name="b" type="slide" axis="0 1 0"/>'
        '<joint name="c" type="ball" pos=".1 .2 0" stiffness="2" armature=".1"/>'
    ),
}


@pytest.mark.parametrize("joints", ONE_BODY.values(), ids=ONE_BODY)
def test_joints_of_one_body(tmp_path, joints: str, rng) -> None:
    body = f'<worldbody><body name="one" pos=".3 .1 .2" euler="10 20 30">{joints}{BALL}</body></worldbody>'
    m, scene = read(tmp_path, body)
    names = "+".join(m.joint(i).name for i in range(m.njnt))
    assert [j.name for j in tree(scene.model)] == [names] and scene.model.nv == m.nv
    np.testing.assert_array_equal(scene.model.start_q(), m.qpos0)
    positions_agree(m, scene.model, m.qpos0)
    accelerations_agree(m, scene.model, rng)


def test_bodies_below_bodies(tmp_path, rng) -> None:
    """A static frame, a welded child, one without mass, one that gets its mass from what is welded to it, gravity compensation."""
    m, scene = read(
        tmp_path,
        f"""<worldbody><body name="shelf" pos="0 0 1" euler="0 30 0"><body name="hook" pos=".2 0 0" euler="15 0 0">
          <body name="arm" pos="0 .1 0"><joint axis="0 1 1"/>{BALL}
            <body name="lid" pos="0 0 -.4" euler="0 0 50" gravcomp=".5">{BALL}</body>
            <body name="frame" pos=".1 .1 -.3" euler="40 0 0"><body name="hand" gravcomp="1.2"><joint axis="1 0 0"/>{BALL}</body></body>
            <body name="cage" pos="0 .3 0"><joint axis="1 1 0" pos=".1 0 0"/>
              <body name="stone" pos=".2 0 .1" euler="0 0 20">{BALL}</body></body>
          </body></body></body></worldbody>""",
    )
    kinds = {b.name: b.kind for b in scene.model.bodies[1:]}
    assert kinds == {"shelf": "static", "hook": "static", "arm": "dynamic", "lid": "dynamic", "hand": "dynamic", "cage": "dynamic"}
    assert any("'frame', 'stone'" in line for line in scene.left_out)
    np.testing.assert_allclose(scene.model.total_mass, m.body_mass.sum())
    positions_agree(m, scene.model, m.qpos0)
    accelerations_agree(m, scene.model, rng)


def test_mocap_bodies_are_kinematic_and_carry_what_hangs_on_them(tmp_path, rng) -> None:
    m, scene = read(
        tmp_path,
        f"""<worldbody><body name="hand" mocap="true" pos="0 0 1" euler="0 40 0"><body name="glove" pos=".1 0 0">
        <body name="tool" pos=".2 0 0"><joint axis="0 1 0"/>{BALL}</body></body></body></worldbody>
        <keyframe><key name="up" mpos="1 2 3" mquat="0 1 0 0" qpos=".3" qvel=".7"/></keyframe>""",
    )
    assert {b.name: b.kind for b in scene.model.bodies[1:]} == {"hand": "kinematic", "tool": "dynamic"}
    positions_agree(m, scene.model, m.qpos0)
    accelerations_agree(m, scene.model, rng)
    started = load_mjcf(tmp_path / "robot.xml", keyframe="up").model
    assert started.bodies[started.body("hand")].X_WB.p == (1.0, 2.0, 3.0)
    np.testing.assert_allclose(started.joint("joint 0").v0, 0.7)


def test_gravity_is_the_files_and_off_when_the_file_says_so(tmp_path, rng) -> None:
    flag = '<option><flag gravity="disable"/></option>'
    m, scene = read(tmp_path, f'{flag}<worldbody><body name="a"><joint damping="9"/>{BALL}</body></worldbody>')
    assert not scene.model.gravity.any()
    accelerations_agree(m, scene.model, rng)


TENDONS = {
    "spring": 'stiffness="30" springlength=".4"',
    "spring with damper": 'stiffness="30" damping="2" springlength=".4"',
    "at its first length": 'stiffness="30"',
    "damper": 'damping="3"',
    "string": 'stiffness="30" springlength="0 .3"',
    "string with damper": 'stiffness="30" damping="2" springlength="0 .3"',
}
TWO = f"""<worldbody><site name="s" pos="0 .2 .1"/><body name="a"><joint axis="0 1 0"/>{BALL}<site name="t" pos=".3 0 .1"/>
  <body name="b" pos="0 0 -.5"><joint axis="1 0 1"/>{BALL}<site name="u" pos="0 -.2 -.3"/></body></body></worldbody>"""


@pytest.mark.parametrize("law", TENDONS.values(), ids=TENDONS)
def test_tendons_between_two_sites(tmp_path, law: str, rng) -> None:
    m, scene = read(tmp_path, f'{TWO}<tendon><spatial name="cord" {law}><site site="s"/><site site="u"/></spatial></tendon>')
    assert any(name.startswith("cord") for name, _ in scene.model.forces) and not any("cord" in line for line in scene.left_out)
    accelerations_agree(m, scene.model, rng)


def test_a_string_through_several_sites_is_a_cable(tmp_path, rng) -> None:
    cord = '<spatial name="cord" stiffness="40" springlength="0 .5"><site site="s"/><site site="t"/><site site="u"/></spatial>'
    m, scene = read(tmp_path, f"{TWO}<tendon>{cord}</tendon>")
    assert isinstance(dict(scene.model.forces)["cord"], ub.Cable) and not any("cord" in line for line in scene.left_out)
    accelerations_agree(m, scene.model, rng)


SITES = '<site site="s"/>{}<site site="t"/><site site="u"/>'
COURSES = {
    "sphere": SITES.format('<geom geom="ball"/>'),
    "cylinder": SITES.format('<geom geom="tube"/>'),
    "cylinder beside": SITES.format('<geom geom="tube" sidesite="over"/>'),
    "sphere beside": SITES.format('<geom geom="ball" sidesite="left"/>'),
    "on a moving body": '<site site="s"/><geom geom="knuckle"/><site site="u"/>',
    "on a moving body, beside": '<site site="s"/><geom geom="knuckle" sidesite="t"/><site site="u"/>',
    "branches": '<site site="s"/><geom geom="tube"/><site site="t"/><pulley divisor="2"/><site site="t"/><site site="u"/>'
    '<pulley divisor="3"/><site site="s"/><geom geom="ball"/><site site="u"/>',
    "straight": '<site site="s"/><site site="t"/><site site="u"/>',
}
LAWS = {
    "spring": 'stiffness="40" springlength=".5"', "string with damper": 'stiffness="40" damping="2" springlength="0 .5"',
    "dead band": 'stiffness="40" damping="1" springlength=".4 1.5"', "damper": 'damping="2"',
}  # fmt: skip
FIELD = f"""<worldbody><site name="s" pos="-.5 .1 .1"/><site name="over" pos="0 0 .5"/><site name="left" pos="0 .6 0"/>
  <geom name="ball" type="sphere" size=".12" pos="-.05 0 .05"/>
  <geom name="tube" type="cylinder" size=".1 .3" pos="-.1 0 .02" euler="80 10 0"/>
  <body name="a"><freejoint/>{BALL}<site name="t" pos=".5 0 .1"/><geom name="knuckle" type="cylinder" size=".05 .1" euler="90 0 20"/>
  <body name="b" pos="0 0 -.5"><joint axis="1 0 1"/>{BALL}<site name="u" pos="0.1 -.2 -.3"/></body></body></worldbody>"""


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("course", COURSES.values(), ids=COURSES)
def test_tendons_around_geoms_and_over_pulleys(tmp_path, course: str, law: str, rng) -> None:
    """MuJoCo's lengths and accelerations in states near and far from the start; some of them touch, some do not."""
    m, scene = read(tmp_path, f'{FIELD}<tendon><spatial name="cord" {law}>{course}</spatial></tendon>')
    assert not any("cord" in line for line in scene.left_out)
    cord = dict(scene.model.forces)["cord"]

    def usable(d: Any) -> bool:
        return "sidesite" not in course or not passes_on_the_wrong_side(placed(scene.model, d), *cord.branches[0][:3])

    accelerations_agree(m, scene.model, rng, tolerance=1e-9, usable=usable)


def placed(model: ub.Model, d: Any) -> Any:
    """What our elements are shown of MuJoCo's poses of the bodies a and b."""
    from unibody.view.look import at_poses

    ours = [b.name in ("a", "b") for b in model.bodies]
    R = [d.body(b.name).xmat.reshape(3, 3) if own else np.eye(3) for b, own in zip(model.bodies, ours, strict=True)]
    p = [d.body(b.name).xpos if own else np.zeros(3) for b, own in zip(model.bodies, ours, strict=True)]
    return at_poses(model, np.array(R), np.array(p))


def passes_on_the_wrong_side(at: Any, first: Any, wrap: Any, second: Any) -> bool:
    """Whether the straight line misses the geom on the side that its site is not on: there versions of MuJoCo differ, some of which let it
    go straight."""
    c, x, y, side = (at.position(p) for p in (wrap.center, first, second, wrap.side))
    axis = np.zeros(3) if wrap.axis is None else at.pose(wrap.center.body)[0] @ np.array(wrap.axis)
    x, y, side = (p - c - ((p - c) @ axis) * axis for p in (x, y, side))
    near = x + np.clip(-(x @ (y - x)) / ((y - x) @ (y - x)), 0.0, 1.0) * (y - x)
    return bool(np.linalg.norm(near) > wrap.radius and near @ side < 0.0)


@pytest.mark.parametrize("course", [c for k, c in COURSES.items() if k != "straight"], ids=[k for k in COURSES if k != "straight"])
def test_lengths_of_tendons_are_mujocos(tmp_path, course: str, rng) -> None:
    """In fifty random states, among which it touches its geom in some and does not in others."""
    m, scene = read(tmp_path, f'{FIELD}<tendon><spatial name="cord" stiffness="1" damping="1">{course}</spatial></tendon>')
    d, cord = mujoco.MjData(m), dict(scene.model.forces)["cord"]
    touched = set()
    for _ in range(50):
        d.qpos[:] = m.qpos0
        mujoco.mj_integratePos(m, d.qpos, rng.standard_normal(m.nv), 0.5)
        mujoco.mj_forward(m, d)
        at = placed(scene.model, d)
        if "sidesite" in course and passes_on_the_wrong_side(at, *cord.branches[0][:3]):
            continue
        assert cord.length(at) == pytest.approx(d.ten_length[0], rel=1e-12)
        touched.add(int(d.ten_wrapnum[0]))
    assert len(touched) > 1


def test_a_tendon_of_one_joint_is_its_spring(tmp_path, rng) -> None:
    cord = '<fixed name="cord" stiffness="7" damping=".5" springlength=".3"><joint joint="p" coef="-1.7"/></fixed>'
    m, scene = read(tmp_path, f'<worldbody><body><joint name="p" axis="0 1 0"/>{BALL}</body></worldbody><tendon>{cord}</tendon>')
    accelerations_agree(m, scene.model, rng)


ACTUATORS = {
    "motor": '<motor name="m" joint="p" gear="3"/>',
    "position": '<position name="m" joint="p" gear="3" kp="20" kv="2"/>',
    "position, within a force range": '<position name="m" joint="p" gear="3" kp="20" kv="2" forcerange="-1.5 1.5"/>',
    "velocity": '<velocity name="m" joint="p" gear="-2" kv="4"/>',
    "damper at work": '<general name="m" joint="p" gear="2" biastype="affine" biasprm="1 -3 -.5" gainprm="5"/>',
    "with armature and damping": '<general name="m" joint="p" gear="2" armature=".3" damping=".7"/>',
    "in a range": '<motor name="m" joint="p" gear="3" ctrlrange="-.4 .4"/>',
}


@pytest.mark.parametrize("actuator", ACTUATORS.values(), ids=ACTUATORS)
def test_actuators_on_joints(tmp_path, actuator: str, rng) -> None:
    """The control is that of the keyframe."""
    world = f'<worldbody><body><joint name="o"/><joint name="p" axis="0 1 0"/>{BALL}</body></worldbody>'
    m, scene = read(tmp_path, f'{world}<actuator>{actuator}</actuator><keyframe><key ctrl=".6"/></keyframe>', keyframe=0)
    assert isinstance(dict(scene.model.forces)["m"], ub.Motor)
    accelerations_agree(m, scene.model, rng, ctrl=0.6)


def test_what_a_motor_can_give_limits_the_effort_of_its_joint(tmp_path) -> None:
    motors = '<motor joint="p" gear="3" ctrlrange="-.4 .4"/><motor joint="p" gear="-2" ctrlrange="-1 1" forcerange="-.5 .5"/>'
    _, scene = read(tmp_path, f'<worldbody><body><joint name="p"/>{BALL}</body></worldbody><actuator>{motors}</actuator>')
    assert scene.model.joint("p").effort_limit == pytest.approx(3 * 0.4 + 2 * 0.5)


LINKS = f"""<worldbody><site name="w" pos=".1 0 .6" euler="0 20 0"/>
  <body name="a" pos="0 0 1"><joint name="p" axis="0 1 0" ref="10"/>{BALL}<site name="sa" pos=".1 .1 0" euler="30 0 0"/></body>
  <body name="b" pos=".5 0 1"><joint name="o" type="slide" axis="1 0 0" ref=".1"/><joint name="q" axis="0 1 1"/>{BALL}
    <site name="sb" pos="-.3 0 .1"/><site name="sc" pos="-.4 .1 0" euler="30 0 0"/>
    <body name="c" pos="0 0 -.6"><joint name="r" type="ball"/>{BALL}</body></body>
  <body name="f" pos="1 0 1" euler="0 0 70"><freejoint name="z"/>{BALL}</body></worldbody>
  <tendon><fixed name="t1"><joint joint="p" coef="2"/><joint joint="o" coef="-1"/></fixed>
  <fixed name="t2"><joint joint="q" coef="3"/></fixed><spatial name="rod"><site site="sa"/><site site="sb"/></spatial></tendon>"""
EQUALITIES = {
    "connect": '<connect body1="a" body2="b" anchor=".2 .1 -.3"/>',
    "connect to the world": '<connect body1="c" anchor=".2 .1 -.3"/>',
    "connect sites": '<connect site1="sa" site2="sc"/>',
    "weld sites": '<weld site1="sa" site2="sc"/>',
    "weld": '<weld body1="f" body2="c"/>',
    "weld to the world": '<weld body1="f"/>',
    "weld at an anchor": '<weld body1="c" body2="f" anchor=".1 .2 .3"/>',
    "weld without torque": '<weld body1="f" body2="a" anchor=".1 .2 .3" torquescale="0"/>',
    "joint": '<joint joint1="p" joint2="q" polycoef="0 2 0 0 0"/>',
    "joint alone": '<joint joint1="p"/>',
    "joint, curved": '<joint joint1="p" joint2="q" polycoef="0 2 1.5 -.3 .2"/>',
    "tendon": '<tendon tendon1="t1" tendon2="t2" polycoef="0 .5 0 0 0"/>',
    "tendon alone": '<tendon tendon1="t1"/>',
    "rod": '<tendon tendon1="rod"/>',
}


@pytest.mark.parametrize("equality", EQUALITIES.values(), ids=EQUALITIES)
def test_equalities_hold_as_mujocos_rows_ask(tmp_path, equality: str) -> None:
    """At rest: a = a₀ + M⁻¹ Jᵀ λ with J a = 0, from MuJoCo's mass matrix, free accelerations a₀ and rows J."""
    m, scene = read(tmp_path, f'<option jacobian="dense"/>{LINKS}<equality>{equality}</equality>')
    assert not scene.model.start_v().any()
    d, M = mujoco.MjData(m), np.zeros((m.nv, m.nv))
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, M)
    J = np.array(d.efc_J).reshape(-1, m.nv)
    assert len(J) and np.abs(d.efc_pos).max() < 1e-12
    free = np.linalg.solve(M, d.qfrc_smooth)
    expected = free - np.linalg.solve(M, J.T @ np.linalg.lstsq(J @ np.linalg.solve(M, J.T), J @ free, rcond=None)[0])
    model = scene.model
    assert len(model.loop_joints) + len(model.constraints) == 1
    found = ub.solvers.Articulated().bind(model).forward_dynamics(model.start_q()[: model.nq], np.zeros(model.nv))
    body = model.joint("z").v_start
    back = found.copy()
    back[body : body + 6] = np.concatenate([model.bodies[model.body("f")].X_WB.R @ found[body + 3 : body + 6], found[body : body + 3]])
    np.testing.assert_allclose(back, expected, atol=1e-8 * np.abs(expected).max())


VIOLATED = {
    "connect sites": '<connect site1="sa" site2="sb"/>',
    "weld sites": '<weld site1="sa" site2="sb"/>',
    "weld in a given pose": '<weld body1="a" body2="f" anchor=".1 .2 .3" relpose=".4 .5 .6 .5 .5 .5 .5"/>',
    "weld to the world in a given pose": '<weld body1="f" relpose=".4 .5 .6 0 1 0 0"/>',
}


@pytest.mark.parametrize("equality", VIOLATED.values(), ids=VIOLATED)
def test_equalities_start_as_violated_as_in_mujoco(tmp_path, equality: str) -> None:
    """The gap between the frames is MuJoCo's; so is the sine of half the angle between them."""
    m, scene = read(tmp_path, f"{LINKS}<equality>{equality}</equality>")
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    (joint,) = scene.model.loop_joints
    F, M = (scene.model.bodies[i].X_WB @ X for i, X in ((joint.parent, joint.X_PF), (joint.child, joint.X_BM)))
    np.testing.assert_allclose(np.linalg.norm(np.subtract(F.p, M.p)), np.linalg.norm(d.efc_pos[:3]), rtol=1e-12)
    assert np.linalg.norm(d.efc_pos[:3]) > 0.05
    if len(d.efc_pos) == 6:
        turned = (F.inverse() @ M).wxyz[1:]
        np.testing.assert_allclose(np.linalg.norm(turned), np.linalg.norm(d.efc_pos[3:]), rtol=1e-9)


def test_a_curved_coupling_has_the_derivatives_of_its_polynomial(tmp_path, rng) -> None:
    _, scene = read(tmp_path, f"{LINKS}<equality>{EQUALITIES['joint, curved']}</equality>")
    ((_, coupling),) = scene.model.constraints
    q, qdot, step = rng.standard_normal(1), rng.standard_normal(1), 1e-5
    assert coupling.follow(q)[0] == pytest.approx(np.deg2rad(10) + 2 * q[0] + 1.5 * q[0] ** 2 - 0.3 * q[0] ** 3 + 0.2 * q[0] ** 4)
    difference = (coupling.follow(q + step) - coupling.follow(q - step)) / (2 * step)
    np.testing.assert_allclose(coupling.slope(q)[0], difference, rtol=1e-8)
    turn = (coupling.slope(q + step * qdot) - coupling.slope(q - step * qdot)) / (2 * step)
    np.testing.assert_allclose(coupling.slope_rate(q, qdot), turn, rtol=1e-8)


def test_keyframes_are_states_in_our_coordinates(tmp_path) -> None:
    """Where bodies are and how fast they move, against MuJoCo's."""
    world = f"""<worldbody><body name="f"><freejoint/>{BALL}
        <body name="g" pos="0 0 -.5"><joint type="ball" pos=".1 0 0"/>{BALL}</body></body>
      <body name="h"><joint name="x" type="slide" ref=".2"/><joint name="y" axis="1 0 0" pos="0 .1 0"/>{BALL}</body></worldbody>"""
    qpos, qvel = "1 2 3 .5 .5 -.5 .5 .8 0 .6 0 .3 -.4", "1 -2 3 .4 .5 .6 -.7 .8 .9 1.1 -1.2"
    m, scene = read(tmp_path, f'{world}<keyframe><key name="thrown" qpos="{qpos}" qvel="{qvel}"/><key/></keyframe>', keyframe="thrown")
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    positions_agree(m, scene.model, d.qpos)
    velocity = np.zeros(6)
    for body in scene.model.bodies[1:]:
        mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, m.body(body.name).id, velocity, 0)
        np.testing.assert_allclose(body.V_WB, velocity, atol=1e-12)
    assert list(scene.keyframes) == ["thrown", "key 1"]
    q, v = scene.keyframes["thrown"]
    np.testing.assert_array_equal(q, scene.model.start_q())
    np.testing.assert_array_equal(v, scene.model.start_v())
    np.testing.assert_array_equal(scene.keyframes["key 1"][0], load_mjcf(tmp_path / "robot.xml").model.start_q())


def test_keyframes_of_a_closed_loop_fit_its_joint(tmp_path) -> None:
    key = '<keyframe><key name="k" qpos=".3 .2 .1 1 0 0 0 0 0 0 1 0 0 0" qvel="0 0 1 0 0 0 0 0 0 0 0 0"/></keyframe>'
    _, scene = read(tmp_path, f"{LINKS}<equality>{EQUALITIES['connect']}</equality>{key}")
    q, v = scene.keyframes["k"]
    assert q.size == scene.model.nq_joints == scene.model.nq + 4 and v.size == scene.model.nv_joints
    np.testing.assert_array_equal(q[:3], [0.3, 0.2, 0.1])
    np.testing.assert_allclose(np.linalg.norm(q[-4:]), 1.0)


@pytest.mark.parametrize("solver", ["articulated", "lagrange"])
def test_a_body_welded_to_a_mocap_body_hangs_still(tmp_path, solver: str) -> None:
    m, scene = read(
        tmp_path,
        f"""<worldbody><body name="hand" mocap="true" pos="0 0 1" euler="0 40 0"/>
        <body name="load" pos=".3 0 1"><freejoint/>{BALL}</body></worldbody>
        <equality><weld name="grip" body1="hand" body2="load"/></equality>""",
    )
    recording = ub.Simulation(scene.model, solver, dt=1e-3).run(0.01)
    weight = -float(m.body_mass[2]) * np.array([1.0, -2.0, -9.81])
    np.testing.assert_allclose(recording.reaction("grip")[-1][3:], weight, rtol=1e-8)
    np.testing.assert_allclose(recording.q[-1][:3], (0.3, 0.0, 1.0), atol=1e-10)
