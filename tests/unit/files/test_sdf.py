"""SDF: poses against matrices, joints against a URDF of the same robot, loops against a closed form, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.files.sdf import load_sdf
from unibody.files.sdf_frames import rpy

INERTIAL = "<inertial><mass>{m}</mass>{pose}<inertia><ixx>.2</ixx><iyy>.3</iyy><izz>.4</izz><ixy>.01</ixy></inertia></inertial>"


def link(name: str, pose: str = "", m: float = 2.0, more: str = "", inertial_pose: str = "") -> str:
    own = f"<pose>{pose}</pose>" if pose else ""
    return f'<link name="{name}">{own}{INERTIAL.format(m=m, pose=inertial_pose)}{more}</link>'


def model(body: str, version: str = "1.9", name: str = "robot", top: str = "") -> str:
    return f'<sdf version="{version}"><model name="{name}">{top}{body}</model></sdf>'


def load(tmp_path: Path, text: str, **options) -> ub.scenes.Scene:
    path = tmp_path / "robot.sdf"
    path.write_text(text)
    return ub.load(path, **options)


def test_frames_are_resolved_as_matrices_say(tmp_path) -> None:
    """Relative to the model, a link, a joint, a frame that is attached, in degrees and as quaternions."""
    text = model(
        link("a", "1 2 3 .1 .2 .3")
        + '<link name="b"><pose relative_to="a">.5 0 0 .4 0 0</pose></link>'
        + '<link name="c"><pose relative_to="hinge" degrees="true">0 1 0 0 0 90</pose></link>'
        + '<frame name="tool" attached_to="b"><pose>0 0 .2 0 0 0</pose></frame>'
        + '<link name="d"><pose relative_to="tool" rotation_format="quat_xyzw">0 0 1  0 0 .6 .8</pose></link>'
        + '<joint name="hinge" type="revolute"><pose>0 .1 0 0 .7 0</pose><parent>a</parent><child>b</child>'
        + "<axis><xyz>0 0 1</xyz></axis></joint>",
        top="<pose>10 0 0 0 0 .5</pose>",
    )
    model_ = load(tmp_path, text, gravity="0,0,0").model

    def matrix(p, angles) -> np.ndarray:
        r, t, y = angles
        X = np.eye(4)
        cx, sx, cy, sy, cz, sz = np.cos(r), np.sin(r), np.cos(t), np.sin(t), np.cos(y), np.sin(y)
        Rx, Ry, Rz = (
            np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]]),
            np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]]),
            np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]]),
        )
        X[:3, :3], X[:3, 3] = Rz @ Ry @ Rx, p
        return X

    M = matrix((10, 0, 0), (0, 0, 0.5))
    a = M @ matrix((1, 2, 3), (0.1, 0.2, 0.3))
    b = a @ matrix((0.5, 0, 0), (0.4, 0, 0))
    c = b @ matrix((0, 0.1, 0), (0, 0.7, 0)) @ matrix((0, 1, 0), (0, 0, np.pi / 2))
    d = b @ matrix((0, 0, 0.2), (0, 0, 0)) @ matrix((0, 0, 1), (0, 0, 2.0 * np.arctan2(0.6, 0.8)))
    for name, X in (("a", a), ("b", b), ("c", c), ("d", d)):
        found = model_.bodies[model_.body(name)].X_WB
        np.testing.assert_allclose(np.array(found.R), X[:3, :3], atol=1e-12)
        np.testing.assert_allclose(found.p, X[:3, 3], atol=1e-12)


SDF_ARM = model(
    link("base") + link("upper", "0 0 1 0 .3 0", 3.0, inertial_pose="<pose>.1 .2 .3 .4 .5 .6</pose>") + link("lower", "0 .2 1.5 0 0 0")
    + '<joint name="fix" type="fixed"><parent>world</parent><child>base</child></joint>'
    + '<joint name="shoulder" type="revolute"><pose>0 0 -.1 0 0 0</pose><parent>base</parent><child>upper</child><axis><xyz>0 1 0</xyz>'
    "<limit><lower>-1</lower><upper>2</upper><effort>7</effort></limit><dynamics><damping>.5</damping><friction>.1</friction>"
    "<spring_stiffness>3</spring_stiffness><spring_reference>.2</spring_reference></dynamics></axis></joint>"
    + '<joint name="slide" type="prismatic"><parent>upper</parent><child>lower</child>'
    '<axis><xyz expressed_in="__model__">1 0 1</xyz></axis>'
    "</joint>"
)  # fmt: skip


def urdf_arm() -> str:
    """The same by hand: a URDF's links have the frames of their joints, so that SDF's poses are written relative to these."""
    s, c = np.sin(0.3), np.cos(0.3)
    # joint frame of the shoulder: 0.1 below the origin of `upper` along its z; X_upper = (0 0 1; Ry 0.3)
    shoulder = np.array([0, 0, 1.0]) + np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) @ [0, 0, -0.1]
    com, R = np.array([0.1, 0.2, 0.3]) + [0, 0, 0.1], ub.Pose(wxyz=rpy(np.array([0.4, 0.5, 0.6]))).R
    inertia = np.array([[0.2, 0.01, 0], [0.01, 0.3, 0], [0, 0, 0.4]])
    I = R @ inertia @ R.T
    names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    moments = " ".join(f'{k}="{float(I[i])!r}"' for k, i in names.items())
    plain = '<inertia ixx=".2" iyy=".3" izz=".4" ixy=".01" ixz="0" iyz="0"/>'
    at = np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) @ (np.array([0, 0.2, 1.5]) - shoulder)
    axis = np.array([1, 0, 1.0])

    def words(x) -> str:
        return " ".join(repr(float(v)) for v in x)

    return f"""<robot name="robot"><link name="base"><inertial><mass value="2"/>{plain}</inertial></link>
      <link name="upper"><inertial><origin xyz="{words(com)}"/><mass value="3"/><inertia {moments}/></inertial></link>
      <link name="lower"><inertial><mass value="2"/>{plain}</inertial></link>
      <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="{words(shoulder)}" rpy="0 .3 0"/>
        <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="7" velocity="0"/><dynamics damping=".5" friction=".1"/></joint>
      <joint name="slide" type="prismatic"><parent link="upper"/><child link="lower"/><origin xyz="{words(at)}" rpy="0 -.3 0"/>
        <axis xyz="{words(axis)}"/><limit lower="0" upper="0" effort="0" velocity="0"/></joint></robot>"""


def test_a_robot_moves_as_the_same_urdf(tmp_path) -> None:
    """Accelerations in random states, but for the spring, which URDF has not."""
    pytest.importorskip("yourdfpy", reason="yourdfpy is not installed; pip install yourdfpy")
    (tmp_path / "arm.urdf").write_text(urdf_arm())
    without = SDF_ARM.replace("<spring_stiffness>3</spring_stiffness>", "")
    ours = load(tmp_path, without, gravity="0,0,-9.81", limits=False).model
    theirs = ub.load(tmp_path / "arm.urdf", limits=False).model
    a, b = (ub.solvers.Articulated().bind(m) for m in (ours, theirs))
    rng = np.random.default_rng(1)
    assert ours.nv == theirs.nv == 2
    for _ in range(5):
        q, v, u = rng.normal(size=2), rng.normal(size=2), rng.normal(size=2)
        np.testing.assert_allclose(a.forward_dynamics(q, v, u), b.forward_dynamics(q, v, u), rtol=1e-10, atol=1e-10)


def test_elements_of_a_joint(tmp_path) -> None:
    scene = load(tmp_path, SDF_ARM)
    elements = {**dict(scene.model.forces), **dict(scene.model.constraints)}
    spring, limit = elements["shoulder.spring"], elements["shoulder.limit"]
    assert (spring.stiffness, spring.rest, spring.damping) == ((3.0,), (0.2,), (0.5,))
    assert (np.ravel(limit.lower), np.ravel(limit.upper)) == (-1.0, 2.0)
    assert elements["shoulder.friction"].bound == 0.1
    assert scene.model.joint("shoulder").effort_limit.tolist() == [7.0]
    assert not scene.left_out


def test_a_loop_of_joints_is_closed(tmp_path) -> None:
    """A parallelogram of massless-looking cranks: its coupler does not turn, so that it swings as a pendulum of the cranks' length."""
    bar = "<inertial><mass>{m}</mass><pose>{p}</pose><inertia><ixx>{i}</ixx><iyy>{i}</iyy><izz>{i}</izz></inertia></inertial>"
    text = model(
        '<link name="left">' + bar.format(m=1, p="0 0 -.25 0 0 0", i="1e-9") + "</link>"
        '<link name="right"><pose>1 0 0 0 0 0</pose>' + bar.format(m=1, p="0 0 -.25 0 0 0", i="1e-9") + "</link>"
        '<link name="coupler"><pose>0 0 -.5 0 0 0</pose>' + bar.format(m=2, p=".5 0 0 0 0 0", i=".1") + "</link>"
        '<joint name="p1" type="revolute"><parent>world</parent><child>left</child><axis><xyz>0 1 0</xyz></axis></joint>'
        '<joint name="p2" type="revolute"><parent>world</parent><child>right</child><axis><xyz>0 1 0</xyz></axis></joint>'
        '<joint name="c1" type="revolute"><parent>left</parent><child>coupler</child><axis><xyz>0 1 0</xyz></axis></joint>'
        '<joint name="c2" type="revolute"><pose relative_to="right">0 0 -.5 0 0 0</pose><parent>right</parent><child>coupler</child>'
        "<axis><xyz>0 1 0</xyz></axis></joint>"
    )
    scene = load(tmp_path, text, gravity="0,0,-9.81")
    assert [j.name for j in scene.model.loop_joints] == ["c2"]
    b = ub.Builder()
    # two cranks of 1 kg with their mass at 0.25 m, the coupler's 2 kg at 0.5 m: as one mass m at l with the same m l² and m l
    inertia, moment = 2 * 1.0 * 0.25**2 + 2.0 * 0.5**2, 2 * 1.0 * 0.25 + 2.0 * 0.5
    bob = b.body("bob", mass=moment**2 / inertia, inertia=(1e-9,) * 3)
    b.joint("pivot", ub.Revolute((0, 1, 0)), b.world, bob, X_BM=ub.Pose((0, 0, inertia / moment)))
    sim = ub.Simulation(scene.model, ub.solvers.Articulated(rule="rk4"), dt=1e-3)
    free = ub.Simulation(b.build(), ub.solvers.Articulated(rule="rk4"), dt=1e-3)
    # started by a push: a constant torque on the crank for the whole time
    for s, name in ((sim, "p1"), (free, "pivot")):
        s.control.flat[s.model.joint(name).v_start] = 2.0
    ours, pendulum = sim.run(1.0, every=100), free.run(1.0, every=100)
    np.testing.assert_allclose(ours.joint("p1")[:, 0], pendulum.joint("pivot")[:, 0], atol=1e-8)
    assert ours.violation.max() < 1e-9
    np.testing.assert_allclose(ours.pose("coupler")[:, 3], 1.0, atol=1e-9)


WORLD = """<sdf version="1.8"><world name="yard"><gravity>0 0 -5</gravity><physics type="ode"/><light name="sun" type="point"/>
  <model name="ground"><static>true</static><link name="floor"><collision name="c">
    <geometry><plane><normal>0 0 1</normal></plane></geometry>
    <surface><friction><ode><mu>.7</mu><mu2>.2</mu2></ode></friction></surface></collision></link></model>
  <model name="box"><pose>0 0 2 0 0 0</pose><link name="body"><inertial><mass>3</mass><inertia>
    <ixx>.5</ixx><iyy>.5</iyy><izz>.5</izz></inertia>
    </inertial><collision name="c"><geometry><box><size>1 1 1</size></box></geometry></collision>
    <visual name="v"><geometry><sphere><radius>.5</radius></sphere></geometry><material><diffuse>1 0 0 1</diffuse></material></visual>
    <sensor name="eye" type="camera"/></link><plugin name="p" filename="x"/></model></world></sdf>"""


def test_a_world_with_contact(tmp_path) -> None:
    """The box falls under the file's gravity and rests on its half side."""
    scene = load(tmp_path, WORLD)
    model_ = scene.model
    assert [b.name for b in model_.bodies[1:]] == ["ground::floor", "box::body"]
    assert model_.bodies[1].shapes[0].material.friction == 0.7
    said = " ".join(scene.left_out)
    for word in ("physics", "light", "mu2", "sensor", "plugin"):
        assert word in said
    rec = ub.Simulation(model_, "complementarity", dt=1e-2).run(1.5)
    assert rec.pose("box::body")[10, 2] == pytest.approx(2.0 - 0.5 * 5 * 0.1**2, rel=3e-2)  # semi-implicit Euler: + ½ g t h
    assert rec.pose("box::body")[-1, 2] == pytest.approx(0.5, abs=1e-6)


def test_nested_and_included_models(tmp_path) -> None:
    (tmp_path / "wheel.sdf").write_text(model(link("rim", "0 0 .1 0 0 0"), name="wheel"))
    text = model(
        link("body") + "<include><uri>wheel.sdf</uri><name>left</name><pose>0 1 0 0 0 0</pose></include>"
        '<model name="right"><pose>0 -1 0 0 0 0</pose>' + link("rim") + "</model>"
        '<joint name="l" type="revolute"><parent>body</parent><child>left::rim</child><axis><xyz>0 1 0</xyz></axis></joint>'
        '<joint name="r" type="continuous"><parent>body</parent><child>right::rim</child><axis><xyz>0 1 0</xyz></axis></joint>',
        name="cart",
    )
    found = load(tmp_path, text).model
    assert [b.name for b in found.bodies[1:]] == ["cart::body", "cart::right::rim", "cart::left::rim"]
    assert found.bodies[3].X_WB.p == pytest.approx((0, 1, 0.1)) and found.bodies[2].X_WB.p == pytest.approx((0, -1, 0))
    assert found.nv == 8


def test_axes_of_old_files_are_in_the_models_frame(tmp_path) -> None:
    """Before SDF 1.5; since then in the joint's."""
    body = link("a") + link("b", "0 0 0 0 0 1.5707963267948966") + (
        '<joint name="j" type="prismatic"><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz></axis></joint>')  # fmt: skip
    for version, wanted in (("1.4", (1, 0, 0)), ("1.6", (0, 1, 0))):
        found = load(tmp_path, model(body, version)).model.joint("j")
        np.testing.assert_allclose(found.X_PF.R @ np.array(found.element.axis), wanted, atol=1e-12)


@pytest.mark.parametrize(("kind", "more", "nv"), [
    ("ball", "", 3), ("universal", "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>", 2),
    ("screw", "<axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>.02</screw_thread_pitch>", 1), ("fixed", "", 0),
    ("revolute2", "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>", 2),
])  # fmt: skip
def test_kinds_of_joints(tmp_path, kind: str, more: str, nv: int) -> None:
    body = link("a") + link("b") + f'<joint name="j" type="{kind}"><parent>a</parent><child>b</child>{more}</joint>'
    found = load(tmp_path, model(body)).model.joint("j")
    assert found.nv == nv
    if kind == "screw":
        assert found.element.pitch == pytest.approx(0.02 / (2 * np.pi))


def test_mimic_holds(tmp_path) -> None:
    body = link("a") + link("b") + link("c") + (
        '<joint name="lead" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>'
        '<joint name="follow" type="revolute"><parent>a</parent><child>c</child><axis><xyz>0 0 1</xyz>'
        '<mimic joint="lead" axis="axis"><multiplier>-2</multiplier><offset>0</offset><reference>0</reference></mimic></axis>'
        "</joint>")  # fmt: skip
    scene = load(tmp_path, model(body), gravity="0,0,0")
    sim = ub.Simulation(scene.model, dt=1e-3)
    sim.control.flat[scene.model.joint("lead").v_start] = 1.0
    rec = sim.run(0.5)
    assert abs(rec.joint("lead")[-1, 0]) > 0.05
    np.testing.assert_allclose(rec.joint("follow"), -2.0 * rec.joint("lead"), atol=1e-6)


@pytest.mark.parametrize(("second", "axis", "sign"), [("<parent>a</parent><child>c</child>", "0 0 1", -1.0),
    ("<parent>c</parent><child>a</child>", "0 0 1", 1.0), ("<parent>a</parent><child>c</child>", "0 0 -1", 1.0)])  # fmt: skip
def test_a_gearbox_turns_the_other_way_by_its_ratio(tmp_path, second: str, axis: str, sign: float) -> None:
    """θ₂ = −3 θ₁ about z, whichever way the second joint is written: τ = (I + 9 I) α, and the second wheel's angle in its own sense."""
    body = link("a") + link("b") + link("c") + (
        '<joint name="hold" type="fixed"><parent>world</parent><child>a</child></joint>'
        '<joint name="in" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>'
        f'<joint name="out" type="revolute">{second}<axis><xyz>{axis}</xyz></axis></joint>'
        '<joint name="box" type="gearbox"><parent>b</parent><child>c</child><gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>a'
        "</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>")  # fmt: skip
    scene = load(tmp_path, model(body), gravity="0,0,0")
    assert not any("gearbox" in line for line in scene.left_out)
    sim = ub.Simulation(scene.model, ub.solvers.Articulated(rule="rk4"), dt=1e-3)
    sim.control.flat[scene.model.joint("in").v_start] = 1.0
    rec = sim.run(0.5, every=50)
    np.testing.assert_allclose(rec.joint("in")[:, 0], 0.5 * rec.t**2 / (0.4 + 9.0 * 0.4), atol=1e-9)
    np.testing.assert_allclose(rec.joint("out"), 3.0 * sign * rec.joint("in"), atol=1e-9)


def test_a_gearbox_without_its_joints_is_listed(tmp_path) -> None:
    body = link("a") + link("b") + (
        '<joint name="box" type="gearbox"><parent>a</parent><child>b</child><gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>world'
        "</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>")  # fmt: skip
    assert any("'box' of type 'gearbox'" in line for line in load(tmp_path, model(body)).left_out)


@pytest.mark.parametrize(("text", "says"), [
    ("<robot/>", "first element is <robot>"),
    ('<sdf version="2.0"><model name="m"><link name="a"/></model></sdf>', "version '2.0'"),
    (model(""), "no <link>"),
    (model(link("a") + link("a")), "taken by another"),
    (model(link("a", "1 2 3")), "3 numbers; give 6"),
    (model(link("a", "1 2 3 x 0 0")), "not a number"),
    (model('<link name="a"><pose relative_to="b"/></link><link name="b"><pose relative_to="a"/></link>'), "in a circle"),
    (model('<link name="a"><pose relative_to="nobody"/></link>'), "nobody"),
    (model(link("a", m=-1.0)), "not positive"),
    (model(link("a") + link("b") + '<joint name="j" type="hinge"><parent>a</parent><child>b</child></joint>'), "type.*hinge"),
    (model(link("a") + link("b") + '<joint name="j" type="revolute"><parent>a</parent><child>b</child></joint>'), "no <axis>"),
    (model(link("a") + link("b") + '<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 0</xyz></axis>'
           "</joint>"),
     "no direction"),
    (model(link("a") + '<joint name="j" type="fixed"><parent>a</parent><child>nobody</child></joint>'), "nobody"),
    (model(link("a") + "<include><uri>model://missing</uri></include>"), "missing"),
])  # fmt: skip
def test_refusals_are_one_line_with_the_place(tmp_path, text: str, says: str) -> None:
    with pytest.raises(ub.ModelError, match=says) as found:
        load(tmp_path, text)
    assert "robot.sdf" in str(found.value) and "\n" not in str(found.value)


def test_the_reader_is_called_directly_too(tmp_path) -> None:
    path = tmp_path / "robot.sdf"
    path.write_text(SDF_ARM)
    assert load_sdf(path, limits=False).left_out == ("limits of joints 'shoulder': left out, since limits=false",)
