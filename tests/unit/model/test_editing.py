"""A Builder that holds a loaded model: the same model again, and everything in it can be looked up, changed, removed, posed and saved.

Expected values: the model itself (same bits), rigid-body mechanics by hand, MuJoCo's own keyframes.
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.files.scene_json import scene_to_json

MJCF = """
<mujoco model="two legs">
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="torso" pos="0 0 1">
      <freejoint name="root"/>
      <geom type="capsule" fromto="0 -0.1 0 0 0.1 0" size="0.07"/>
      <body name="thigh" pos="0 0.1 -0.1">
        <joint name="hip_x" type="hinge" axis="1 0 0" damping="5" stiffness="10" range="-25 5"/>
        <joint name="hip_z" type="hinge" axis="0 0 1" armature="0.02" damping="5" range="-60 35"/>
        <joint name="hip_y" type="hinge" axis="0 1 0" frictionloss="0.1" range="-110 20"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/>
        <body name="shin" pos="0 0 -0.35">
          <joint name="knee" type="hinge" axis="0 1 0" range="-160 -2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="pull" joint="knee" gear="100"/></actuator>
  <keyframe><key name="squat" qpos="0.1 0.2 0.7 1 0 0 0 0.05 0.1 -0.6 -1.2" qvel="0 0 0.3 0 0 0 0 0.2 0 0"/></keyframe>
</mujoco>
"""

URDF = """
<robot name="gripper">
  <link name="base"><inertial><mass value="2"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><inertial><origin xyz="0 0 0.1"/><mass value="0.2"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><origin xyz="0 0 0.1"/><mass value="0.2"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="left"/><origin xyz="0 0.01 0.1"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.05" effort="20" velocity="1"/><dynamics damping="0.3"/></joint>
  <joint name="follow" type="prismatic"><parent link="base"/><child link="right"/><origin xyz="0 -0.01 0.1"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.05" effort="20" velocity="1"/><mimic joint="slide" multiplier="0.5" offset="0.01"/></joint>
</robot>
"""

PYTHON = """
import unibody as ub

def build(length: float = 1.0):
    b = ub.Builder()
    rod = b.body("rod", shape=ub.Box((0.1, 0.1, length)))
    b.joint("pivot", ub.Revolute(axis=(0, 1, 0)), b.world, rod, X_BM=ub.Pose((0, 0, length / 2)), q=0.3, stiffness=2.0, limits=(-1, 1))
    return b.build()
"""


def numbers_of(model: ub.Model) -> bytes:
    """All numbers of the bodies, joints and start."""
    parts = [model.gravity, model.parent, model.start_q(), model.start_v(), model.signals]
    for b in model.bodies:
        parts += [np.array([b.mass]), b.com, b.inertia, np.array(b.X_WB.p), np.array(b.X_WB.wxyz), np.array(b.V_WB)]
    for j in model.joints:
        parts += [np.array([*x.p, *x.wxyz]) for x in (j.X_PF, j.X_BM)] + [j.armature, j.effort_limit]
    return b"".join(np.ascontiguousarray(x, float).tobytes() for x in parts)


def text_of(model: ub.Model) -> str:
    return scene_to_json(ub.scenes.Scene(model, 1.0, 1e-3))


def same(a: ub.Model, b: ub.Model) -> None:
    assert numbers_of(a) == numbers_of(b)
    assert text_of(a) == text_of(b)


def stepped(model: ub.Model, solver: str = "articulated", steps: int = 3) -> bytes:
    sim = ub.Simulation(model, solver, dt=1e-3)
    sim.run(steps * 1e-3)
    return sim.state.q.tobytes() + sim.state.v.tobytes()


@pytest.fixture
def legs(tmp_path) -> Path:
    pytest.importorskip("mujoco")
    path = tmp_path / "legs.xml"
    path.write_text(MJCF)
    return path


@pytest.fixture
def gripper(tmp_path) -> Path:
    pytest.importorskip("yourdfpy")
    path = tmp_path / "gripper.urdf"
    path.write_text(URDF)
    return path


def arm() -> ub.Builder:
    """Three links in a row, a motor, a spring, a contact among lists."""
    b = ub.Builder()
    above = b.world
    for k, name in enumerate(("upper", "lower", "hand")):
        link = b.body(name, shape=ub.Box((0.1, 0.1, 0.4)), mass=1.0 + k)
        at = ub.Pose((0, 0, -0.2 if k else 0))
        b.joint(f"j{k}", ub.Revolute(axis=(0, 1, 0)), above, link, X_PF=at, X_BM=ub.Pose((0, 0, 0.2)), q=0.1 * (k + 1))
        above = link
    b.body("floor", kind="static", shape=ub.Plane(), X_WB=ub.Pose((0, 0, -3)))
    b.add(ub.Motor("j1", kp=10.0, kd=1.0, target=0.2), name="j1.motor")
    b.add(ub.SpringDamper(b.bodies["hand"].at(0, 0, -0.2), b.world.at(1, 0, 0), stiffness=5.0), name="cord")
    b.add(ub.Contact(between=(["upper", "hand"], ["floor"]), friction=0.4), name="touch")
    return b


# the same model again


def test_every_kind_of_file_gives_the_same_model_again(legs, gripper, tmp_path):
    python = tmp_path / "rod.py"
    python.write_text(PYTHON)
    json = tmp_path / "rod.json"
    ub.Builder.load(python, length=2.0).save(json)
    for source, parameters in ((legs, {}), (legs, {"keyframe": "squat"}), (gripper, {}), (python, {"length": 2.0}), (json, {})):
        model = ub.load(source, **parameters).model
        again = ub.Builder.load(str(source), **parameters).build()
        same(model, again)


def test_the_same_model_takes_the_same_step(legs, gripper):
    for source in (legs, gripper):
        model = ub.load(source, limits=False).model
        assert stepped(model) == stepped(ub.Builder.load(source, limits=False).build())


@pytest.mark.parametrize("name", ub.scenes.names())
def test_every_scene_gives_the_same_model_again(name):
    scene = ub.scenes.make(name)
    again = ub.Builder.load(scene).build()
    assert numbers_of(scene.model) == numbers_of(again)
    assert [n for n, _ in scene.model.forces] == [n for n, _ in again.forces]
    assert [n for n, _ in scene.model.constraints] == [n for n, _ in again.constraints]


ROBOTS = [
    ("pybullet_data", "a1/a1.urdf"), ("pybullet_data", "r2d2.urdf"), ("pybullet_data", "kuka_iiwa/model.urdf"),
    ("gymnasium", "envs/mujoco/assets/humanoid.xml"), ("gymnasium", "envs/mujoco/assets/ant.xml"), ("dm_control", "suite/dog.xml"),
]  # fmt: skip


@pytest.mark.parametrize(("package", "file"), ROBOTS)
def test_imported_robots_are_the_same_again_and_after_saving(package, file, tmp_path):
    path = Path(pytest.importorskip(package).__file__).parent / file
    pytest.importorskip("yourdfpy" if file.endswith("urdf") else "mujoco")
    scene = ub.load(path)
    b = ub.Builder.load(scene)
    same(scene.model, b.build())
    b.save(tmp_path / "robot.json")
    again = ub.Builder.load(tmp_path / "robot.json")
    same(scene.model, again.build())
    assert again.left_out == scene.left_out == b.left_out and again.keyframes == tuple(scene.keyframes)
    kept = ub.load(tmp_path / "robot.json").keyframes
    assert all(kept[k][i].tobytes() == scene.keyframes[k][i].tobytes() for k in scene.keyframes for i in (0, 1))


def test_a_model_is_not_changed_by_what_becomes_of_its_builder(legs):
    model = ub.load(legs).model
    before = numbers_of(model), text_of(model)
    b = ub.Builder.load(model)
    b.change_body("thigh", mass=3.0)
    b.start({"knee": -1.0})
    b.remove_body("shin")
    assert (numbers_of(model), text_of(model)) == before
    other = ub.Builder.load(b)
    other.change_body("thigh", mass=4.0)
    assert b.bodies["thigh"].mass == 3.0


def test_planar_worlds_stay_in_their_plane():
    b = ub.Builder(planar=True, normal=(0.3, -1.0, 0.2), gravity=None)
    b.body("a", shape=ub.Sphere(0.1), X_WB=ub.Pose((1.0, 0.3, 0.0)), V_WB=(0, 0, 0, 1.0, 0.3, 0.0))
    same(b.build(), ub.Builder.load(b.build()).build())


# look up


def test_bodies_joints_and_elements_are_found_by_name(legs):
    b = ub.Builder.load(legs)
    assert {"torso", "thigh", "shin"} <= set(b.bodies) and "world" not in list(b.bodies)
    assert list(b.joints) == [j.name for j in b.build().joints if not j.implicit]
    assert b.joints["knee"].parent == "thigh" and b.joints["knee"].child == "shin"
    assert b.joints["hip_z"].armature.tolist() == [0.02] and isinstance(b.joints["hip_z"].element, ub.Revolute)
    assert isinstance(b.elements["knee.limit"], ub.JointLimit) and b.elements.get("nobody") is None
    assert b.bodies["shin"].at(0, 0, 1) == b.bodies[b.bodies["shin"]].at(0, 0, 1)
    with pytest.raises(TypeError):
        b.bodies["shin"] = None  # type: ignore[index]


@pytest.mark.parametrize(
    ("act", "complaint"),
    [
        (lambda b: b.bodies["shins"], "body 'shins' is unknown; did you mean 'shin'?"),
        (lambda b: b.joints["hip_w"], "did you mean 'hip_"),
        (lambda b: b.elements["knee.limits"], "did you mean 'knee.limit'"),
        (lambda b: b.change_body("thig", mass=1.0), "did you mean 'thigh'"),
        (lambda b: b.change_body("world", mass=1.0), "body 'world' is the ground"),
        (lambda b: b.change_body("thigh", mass=-1.0), "body 'thigh' mass: -1.0 is not positive"),
        (lambda b: b.change_body("thigh", density=100.0, mass=1.0), "both density 100.0 and mass given"),
        (lambda b: b.change_body("thigh", inertia=(1.0, 1.0, 9.0)), "body 'thigh'"),
        (lambda b: b.change_body("thigh", X_WB=ub.Pose()), "joint 'hip_x+hip_z+hip_y' places it"),
        (lambda b: b.change_body("thigh", kind="rubber"), "kind 'rubber' is unknown"),
        (lambda b: b.change_joint("kne", q=1.0), "did you mean 'knee'"),
        (lambda b: b.change_joint("knee", q=(1.0, 2.0)), "joint 'knee' q"),
        (lambda b: b.change_joint("hip_y", X_PF=ub.Pose()), "X_PF belongs to joint 'hip_x+hip_z+hip_y'"),
        (lambda b: b.change_joint("hip_y", q=(1.0, 2.0)), "joint 'hip_y' q: shape (2,); give 1 number"),
        (lambda b: b.change_joint("hip_x+hip_z+hip_y", stiffness=3.0), "its spring is 'hip_x.spring'"),
        (lambda b: b.change_joint("hip_x+hip_z+hip_y", joint=ub.Ball()), "its parts are hip_x, hip_z, hip_y"),
        (lambda b: b.change("knee.limit", uper=1.0), "field 'uper' is unknown; did you mean 'upper'"),
        (lambda b: b.change("knee.limit", upper=-9.0), "'knee.limit': JointLimit on joint 'knee': lower"),
        (lambda b: b.replace("knee.limit", 3), "3 is neither a force nor a constraint"),
        (lambda b: b.rename(joints={"knee": "hip_y"}), "joint 'hip_y' exists already"),
        (lambda b: b.rename(bodies={"world": "earth"}), "keeps its name"),
        (lambda b: b.remove("nothing"), "body, joint or element 'nothing' is unknown"),
        (lambda b: b.remove_body("thigh"), "body 'thigh' carries 'shin', left without it; give with_children=True"),
        (lambda b: b.remove_joint("hip_z"), "joint 'hip_z' is a part of"),
        (lambda b: b.start({"kneee": 1.0}), "joint 'kneee' is unknown; did you mean 'knee'?"),
        (lambda b: b.start({"knee": (1.0, 2.0)}), "start of joint 'knee' q"),
        (lambda b: b.start({"knee": np.nan}), "start of joint 'knee' q"),
        (lambda b: b.start(keyframe="squad"), "keyframe 'squad' is unknown; did you mean 'squat'?"),
        (lambda b: b.place("shin", ub.Pose()), "Revolute 'knee' holds it to body 'thigh', which moves"),
        (lambda b: b.place("world", ub.Pose()), "the world stays"),
        (lambda b: b.motors(stiffness=1.0), "'pull' drives these joints already; give replace=True"),
        (lambda b: b.motors(stiffness=1.0, joints=["root"]), "joint 'root' of Free has no scalar degree of freedom"),
        (lambda b: b.motors(stiffness={"elbow": 1.0}, joints=["hip_y"]), "motors stiffness: joint 'elbow' is unknown"),
        (lambda b: b.motors(stiffness=1.0, joints=["hip_y"], target="end"), "target 'end' is unknown"),
        (lambda b: b.save("robot.urdf"), "does not end in .json"),
        (lambda b: ub.Builder.load(3), "3 is no model"),
        (lambda b: ub.Builder.load(b, floating=True), "parameters floating are for files"),
        (lambda b: ub.Builder.load("no-such-scene"), "no scene 'no-such-scene'"),
        (lambda b: ub.Builder.load("nothing.urdf"), "does not exist"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line_and_changes_nothing(act, complaint, legs):
    b = ub.Builder.load(legs)
    before = text_of(b.build())
    with pytest.raises(ub.ModelError) as error:
        act(b)
    assert complaint in str(error.value) and "\n" not in str(error.value)
    assert text_of(b.build()) == before


# change


def test_mass_alone_scales_the_inertia():
    b = arm()
    J, com = np.array(b.bodies["lower"].inertia), b.bodies["lower"].com
    b.change_body("lower", mass=5.0)
    assert b.bodies["lower"].mass == 5.0 and np.array_equal(b.bodies["lower"].com, com)
    assert np.allclose(b.bodies["lower"].inertia, J * 5.0 / 2.0, rtol=1e-15)  # one product each


def test_other_changes_of_a_body_do_what_they_say():
    b = arm()
    J = np.array(b.bodies["hand"].inertia)
    b.change_body("hand", com=(0, 0, 0.1))
    assert b.bodies["hand"].com.tolist() == [0, 0, 0.1] and np.array_equal(b.bodies["hand"].inertia, J)
    b.change_body("hand", density=500.0)
    assert np.isclose(b.bodies["hand"].mass, 500.0 * 0.1 * 0.1 * 0.4, rtol=1e-14) and not b.bodies["hand"].com.any()
    b.change_body("hand", shape=ub.Sphere(0.1))
    assert np.isclose(b.bodies["hand"].mass, 2.0, rtol=1e-14) and isinstance(b.bodies["hand"].shapes[0].shape, ub.Sphere)
    b.change_body("hand", shape=ub.Sphere(0.2), mass=3.0)
    assert np.allclose(b.bodies["hand"].inertia, 0.4 * 3.0 * 0.2**2 * np.eye(3), rtol=1e-14)  # ⅖ m r²
    b.change_body("floor", X_WB=ub.Pose((0, 0, -4)))
    assert b.build().bodies[b.build().body("floor")].X_WB.p == (0, 0, -4)
    with pytest.raises(ub.ModelError, match="no mass"):
        b.change_body("floor", shape=[], kind="dynamic")
    with pytest.raises(ub.ModelError, match="joint 'j0' armature: 'a' is not numeric"):
        b.change_joint("j0", armature="a")


def test_a_body_that_is_made_static_stands_where_it_started():
    b = arm()
    before = b.build().bodies
    b.change_body("lower", kind="static")
    after = b.build()
    lower, hand = (after.bodies[after.body(n)] for n in ("lower", "hand"))
    assert lower.kind == "static" and lower.X_WB == before[2].X_WB
    assert np.allclose(hand.X_WB.matrix(), before[3].X_WB.matrix(), atol=1e-15)


def test_a_changed_joint_is_that_joint():
    b = arm()
    b.change_joint("j1", q=0.5, v=2.0, armature=0.1, effort_limit=7.0, stiffness=3.0, damping=0.2, rest=0.1, limits=(-1.0, 1.0))
    j = b.joints["j1"]
    assert (j.q.tolist(), j.v.tolist(), j.armature.tolist(), j.effort_limit.tolist()) == ([0.5], [2.0], [0.1], [7.0])
    assert b.elements["j1.spring"] == ub.TorsionSpring("j1", 3.0, 0.2, 0.1)
    assert b.elements["j1.limit"] == ub.JointLimit("j1", -1.0, 1.0)
    b.change_joint("j1", stiffness=4.0)
    assert b.elements["j1.spring"] == ub.TorsionSpring("j1", 4.0, 0.2, 0.1)
    b.change_joint("j1", stiffness=0.0, damping=0.0)
    assert "j1.spring" not in b.elements
    b.change_joint("j1", joint=ub.Revolute(axis=(1, 0, 0)))
    assert b.joints["j1"].q.tolist() == [0.5] and list(b.joints) == ["j0", "j1", "j2"]
    with pytest.raises(ub.ModelError, match="means something else in Prismatic; give q="):
        b.change_joint("j1", joint=ub.Prismatic(axis=(1, 0, 0)))
    b.change_joint("j1", joint=ub.Ball(), q=(1, 0, 0, 0), v=(0, 0, 0), limits={"angle": 0.5})
    assert b.joints["j1"].armature.tolist() == [0.1] * 3


def test_a_part_of_a_joint_is_changed_alone(legs):
    b = ub.Builder.load(legs)
    b.change_joint("hip_z", q=0.2, v=1.0, armature=0.5, effort_limit=3.0, limits=(-0.5, 0.5), damping=7.0)
    whole = b.joints["hip_x+hip_z+hip_y"]
    assert (whole.q.tolist(), whole.v.tolist(), whole.armature.tolist()) == ([0, 0.2, 0], [0, 1.0, 0], [0, 0.5, 0])
    assert whole.effort_limit.tolist() == [np.inf, 3.0, np.inf]
    model = b.build()
    spring, limit = dict(model.forces)["hip_z.spring"], dict(model.constraints)["hip_z.limit"]
    assert spring.joint == whole.name and spring.damping == (0, 7.0, 0) and spring.stiffness == (0, 0, 0)
    assert (limit.joint, limit.dof, limit.lower, limit.upper) == (whole.name, (1,), (-0.5,), (0.5,))
    b.change_joint("hip_x", stiffness=20.0)
    spring = dict(b.build().forces)["hip_x.spring"]
    assert spring.stiffness == (20.0, 0, 0) and spring.damping == (5.0, 0, 0)


def test_elements_change_by_their_fields():
    b = arm()
    b.change("touch", friction=0.9)
    assert b.elements["touch"] == ub.Contact(between=(["upper", "hand"], ["floor"]), friction=0.9)
    b.change("gravity", g=(0, 0, -1.62))
    assert b.build().gravity.tolist() == [0, 0, -1.62]
    b.replace("cord", ub.Distance(b.bodies["hand"].at(), b.world.at(0, 0, 1)))
    assert list(b.elements).index("cord") == 2 and isinstance(b.elements["cord"], ub.Distance)


def test_names_follow_everywhere():
    b = arm()
    b.rename(bodies={"upper": "hand", "hand": "upper"}, joints={"j1": "elbow"}, elements={"cord": "string"})
    model = b.build()
    names = {name: element for name, element in (*model.forces, *model.constraints)}
    assert names["string"].a.body == "upper" and names["touch"].between == (("hand", "upper"), "floor")
    assert names["elbow.motor"].joint == "elbow" and model.joint("elbow").name == "elbow"
    assert [b.joints[n].child for n in ("j0", "elbow", "j2")] == ["hand", "lower", "upper"]
    old = arm()
    assert numbers_of(model) == numbers_of(old.build())
    for x in (b, old):
        x.remove_element("touch")
    assert stepped(b.build()) == stepped(old.build())


# remove


def test_a_removed_body_takes_its_joints_and_elements_along():
    b = arm()
    gone = b.remove_body("lower", with_children=True)
    assert gone.bodies == ("lower", "hand") and set(gone.joints) == {"j1", "j2"} and set(gone.elements) == {"j1.motor", "cord"}
    assert b.elements["touch"].between == ("upper", "floor")
    left = b.build()
    assert [x.name for x in left.bodies] == ["world", "upper", "floor"]
    short = ub.Builder()
    link = short.body("upper", shape=ub.Box((0.1, 0.1, 0.4)), mass=1.0)
    short.joint("j0", ub.Revolute(axis=(0, 1, 0)), short.world, link, X_PF=ub.Pose((0, 0, 0)), X_BM=ub.Pose((0, 0, 0.2)), q=0.1)
    short.body("floor", kind="static", shape=ub.Plane(), X_WB=ub.Pose((0, 0, -3)))
    b.remove("touch")
    assert stepped(b.build()) == stepped(short.build())


def test_a_body_whose_joint_is_gone_stays_where_it_was():
    b = arm()
    b.start(v={"j0": 1.0})
    before = b.build()
    gone = b.remove("j1")
    assert (gone.bodies, gone.joints, gone.elements) == ((), ("j1",), ("j1.motor",))
    after = b.build()
    for name in ("upper", "lower", "hand"):
        old, new = (m.bodies[m.body(name)] for m in (before, after))
        assert np.allclose(old.X_WB.matrix(), new.X_WB.matrix(), atol=1e-14) and np.allclose(old.V_WB, new.V_WB, atol=1e-14)  # round-off
    assert after.joint("lower").implicit


def test_a_loop_that_loses_its_tree_joint_carries_on():
    """Two rods hinged to the world and to each other; without the second pin the joint between them carries the second rod."""
    b = ub.Builder()
    first, second = (b.body(n, shape=ub.Box((1.0, 0.05, 0.05))) for n in ("first", "second"))
    b.joint("left", ub.Revolute(axis=(0, 1, 0)), b.world, first, X_BM=ub.Pose((-0.5, 0, 0)), q=-np.pi / 3)
    b.joint("right", ub.Revolute(axis=(0, 1, 0)), b.world, second, X_PF=ub.Pose((1, 0, 0)), X_BM=ub.Pose((0.5, 0, 0)), q=np.pi / 3)
    b.joint("top", ub.Revolute(axis=(0, 1, 0)), first, second, X_PF=ub.Pose((0.5, 0, 0)), X_BM=ub.Pose((-0.5, 0, 0)))
    before = b.build()
    b.remove_joint("right")
    after = b.build()
    old, new = (m.bodies[m.body("second")].X_WB for m in (before, after))
    assert not after.loop_joints and np.allclose(old.matrix(), new.matrix(), atol=1e-12)  # the fit of the loop ends at 1e-13
    assert np.isclose(b.joints["top"].q[0], 2 * np.pi / 3, atol=1e-12)


def test_a_name_of_two_things_is_asked_back():
    b = ub.Builder()
    b.joint("knob", ub.Revolute(axis=(0, 0, 1)), b.world, b.body("knob", shape=ub.Sphere(0.1)))
    with pytest.raises(ub.ModelError, match="'knob' is the name of a body and of a joint; say which: remove_body or remove_joint"):
        b.remove("knob")
    assert b.remove_body("knob").joints == ("knob",)


# start


def test_a_keyframe_of_the_file_is_where_mujoco_has_it(legs):
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_path(str(legs))
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    b = ub.Builder.load(legs)
    b.start(keyframe="squat")
    model = b.build()
    for name in ("torso", "thigh", "shin"):
        ours = model.bodies[model.body(name)].X_WB
        assert np.allclose(ours.p, d.body(name).xpos, atol=1e-12) and np.allclose(ours.R, d.body(name).xmat.reshape(3, 3), atol=1e-12)
    same(model, ub.load(legs, keyframe="squat").model)
    b.start({"hip_y": -0.4}, v={"hip_z": 0.7}, keyframe="squat")
    whole = b.joints["hip_x+hip_z+hip_y"]
    assert whole.q.tolist() == [0.05, 0.1, -0.4] and whole.v.tolist() == [0, 0.7, 0]


def test_coordinates_that_follow_others_follow_them_at_the_start(gripper):
    b = ub.Builder.load(gripper)
    b.start({"slide": 0.03}, v={"slide": 0.2})
    assert np.isclose(b.joints["follow"].q[0], 0.5 * 0.03 + 0.01, rtol=1e-15) and np.isclose(b.joints["follow"].v[0], 0.1, rtol=1e-15)
    b.start({"slide": 0.02, "follow": 0.0})
    assert b.joints["follow"].q[0] == 0.0


def test_roots_are_placed_floating_welded_or_hinged(gripper, legs):
    X = ub.Pose.about((1.0, 2.0, 0.5), 0.8, (1.0, -2.0, 3.0))
    V = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    for source, root, options in ((gripper, "base", {"floating": True}), (gripper, "base", {}), (legs, "torso", {})):
        b = ub.Builder.load(source, **options)
        b.place(root, X)
        model = b.build()
        assert np.allclose(model.bodies[model.body(root)].X_WB.matrix(), X.matrix(), atol=1e-14)  # round-off of three products
    for b, root in ((ub.Builder.load(gripper, floating=True), "base"), (ub.Builder.load(legs), "torso")):
        b.place(root, X, V)
        model = b.build()
        assert np.allclose(model.bodies[model.body(root)].V_WB, V, atol=1e-14)
    b = arm()
    q = b.joints["j0"].q
    b.place("upper", X)
    model = b.build()
    assert np.allclose(model.bodies[model.body("upper")].X_WB.matrix(), X.matrix(), atol=1e-14) and np.array_equal(b.joints["j0"].q, q)
    with pytest.raises(ub.ModelError, match="is no motion of Revolute 'j0'"):
        b.place("upper", X, V)


def test_a_placed_root_of_translations_and_a_ball_keeps_its_coordinates():
    b = ub.Builder()
    b.joint("root", ub.Composite(ub.Translational(), ub.Ball()), b.world, b.body("box", shape=ub.Box((1, 2, 3))))
    X = ub.Pose.about((1.0, 2.0, 0.5), 0.8, (1.0, -2.0, 3.0))
    b.place("box", X, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    model = b.build()
    assert np.allclose(model.bodies[1].X_WB.matrix(), X.matrix(), atol=1e-12) and b.joints["root"].X_PF == ub.Pose()
    assert np.allclose(b.joints["root"].q[:3], X.p, atol=1e-12) and np.allclose(model.bodies[1].V_WB, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6))


# motors


def test_motors_hold_the_start(legs):
    b = ub.Builder.load(legs, limits=False)
    b.start({"hip_x": -0.1, "knee": -0.5})
    names = b.motors(stiffness=400.0, damping={"knee": 4.0, "hip_x+hip_z+hip_y": 8.0}, limit={"knee": 50.0}, replace=True)
    assert names == ["hip_x.motor", "hip_z.motor", "hip_y.motor", "knee.motor"] and "pull" not in b.elements
    model = b.build()
    motors = {n: f for n, f in model.forces if isinstance(f, ub.Motor)}
    assert [motors[n].target for n in names] == [-0.1, 0.0, 0.0, -0.5] and [motors[n].dof for n in names] == [0, 1, 2, 0]
    assert [motors[n].kd for n in names] == [8.0, 8.0, 8.0, 4.0] and [motors[n].limit for n in names] == [np.inf] * 3 + [50.0]
    assert {motors[n].joint for n in names[:3]} == {"hip_x+hip_z+hip_y"}
    control = ub.Control(model)
    control.set_target("hip_y.motor", 0.3)
    assert "'hip_y.motor' 0.3" in repr(control)


def test_motors_leave_out_what_has_no_freedom_of_its_own(gripper):
    b = ub.Builder.load(gripper, floating=True)
    assert b.motors(stiffness=10.0, target={"slide": 0.02}) == ["slide.motor"]
    assert b.elements["slide.motor"].target == 0.02
    b = ub.Builder()
    b.joint("both", ub.Universal((1, 0, 0), (0, 1, 0)), b.world, b.body("a", shape=ub.Sphere(0.1)), q=(0.1, 0.2))
    assert b.motors(stiffness=1.0) == ["both.motor[0]", "both.motor[1]"]
    with pytest.raises(ub.ModelError, match=r"'both.motor\[0\]', 'both.motor\[1\]' drive these joints already"):
        b.motors(stiffness=2.0)


# save


def test_what_was_changed_is_saved_and_loaded_bit_for_bit(legs, tmp_path):
    b = ub.Builder.load(legs)
    b.remove_body("shin")
    b.motors(stiffness=100.0, damping=2.0, joints=["hip_y"])
    b.change_body("thigh", mass=7.0)
    b.rename(joints={"hip_y": "hip_pitch"})
    b.start({"hip_pitch": -0.3})
    b.save(tmp_path / "robot.json")
    again = ub.Builder.load(tmp_path / "robot.json")
    same(b.build(), again.build())
    assert again.joints["hip_pitch"].q.tolist() == [-0.3] and again.keyframes == ("squat",)
    again.start(keyframe="squat")
    assert again.joints["hip_pitch"].q.tolist() == [-0.6]


def test_copies_of_an_edited_model_are_the_same(legs):
    b = ub.Builder.load(legs)
    b.motors(stiffness=100.0, joints=["hip_y"])
    model = b.build()
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert numbers_of(twin) == numbers_of(model)
        same(ub.Builder.load(twin).build(), model)
