"""URDF: what each element becomes, by numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.files import load_urdf
from unibody.files.urdf_links import repaired
from unibody.shapes import MassProperties

pytest.importorskip("yourdfpy")

INERTIA = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/>'
SOLID = f'<inertial><mass value="2"/>{INERTIA}</inertial>'


def robot(folder: Path, *parts: str, name: str = "robot.urdf", **options: object) -> ub.scenes.Scene:
    path = folder / name
    path.write_text(f'<?xml version="1.0"?>\n<robot name="r">\n{"".join(parts)}\n</robot>\n')
    return load_urdf(path, **options)


def link(name: str, inside: str = SOLID) -> str:
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>\n'


def body(model: ub.Model, name: str):
    return model.bodies[model.body(name)]


def test_inertial_frame_and_root_weld(tmp_path: Path) -> None:
    """A quarter turn about z swaps the x and y inertias; the centre of mass is where the origin says."""
    turned = f'<inertial><origin xyz="1 2 3" rpy="0 0 {np.pi / 2}"/><mass value="2"/>{INERTIA}</inertial>'
    scene = robot(tmp_path, link("base"), link("arm", turned), joint("hinge", "continuous", "base", "arm", '<origin xyz="0 0 1"/>'))
    arm = body(scene.model, "arm")
    np.testing.assert_allclose(arm.com, (1, 2, 3))
    np.testing.assert_allclose(arm.inertia, np.diag([0.2, 0.1, 0.25]), atol=1e-15)
    assert isinstance(scene.model.joint("base").element, ub.Weld) and scene.model.nv == 1
    assert scene.name == "r" and scene.left_out == ()
    np.testing.assert_allclose(scene.model.joint("hinge").X_PF.p, (0, 0, 1))


def test_every_type_of_joint(tmp_path: Path) -> None:
    kinds = {"fixed": ub.Weld, "revolute": ub.Revolute, "continuous": ub.Revolute, "prismatic": ub.Prismatic, "planar": ub.Planar,
             "floating": ub.Free, "spherical": ub.Ball}  # fmt: skip
    parts = [link(name) for name in ("base", *kinds)]
    limit = '<axis xyz="0 2 0"/><limit lower="-1" upper="2" effort="7" velocity="3"/>'
    parts += [joint(f"to {k}", k, "base", k, limit if k in ("revolute", "prismatic") else "") for k in kinds]
    scene = robot(tmp_path, *parts, floating=True)
    for kind, element in kinds.items():
        assert type(scene.model.joint(f"to {kind}").element) is element
    assert isinstance(scene.model.joint("base").element, ub.Free)
    hinge = scene.model.joint("to revolute")
    assert hinge.element.axis == (0, 1, 0) and hinge.effort_limit == (7.0,)
    limits = dict(scene.model.constraints)["to revolute.limit"]
    assert (np.ravel(limits.lower), np.ravel(limits.upper)) == (-1.0, 2.0)
    assert scene.left_out == ("velocity limits of joints 'to revolute', 'to prismatic': no solver bounds speeds",)


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (0, 1, 0), (1, -2, 0.5)])
def test_planar_joint_moves_in_the_plane_across_its_axis(tmp_path: Path, axis: tuple[float, ...]) -> None:
    words = " ".join(map(str, axis))
    model = robot(tmp_path, link("base"), link("puck"), joint("slide", "planar", "base", "puck", f'<axis xyz="{words}"/>')).model
    n = np.array(axis) / np.linalg.norm(axis)
    j = model.joint("slide")
    for q in np.eye(3):
        R, p = j.element.pose(q)
        X = j.X_PF @ ub.Pose.from_rotation(R, p) @ j.X_BM.inverse()
        assert abs(n @ np.array(X.p)) < 1e-15
        np.testing.assert_allclose(X.R @ n, n, atol=1e-15)
    assert j.X_PF.R @ (0, 0, 1) == pytest.approx(n)


def test_dynamics_and_mimic(tmp_path: Path) -> None:
    model = robot(
        tmp_path, link("base"), link("a"), link("b"), link("c"),
        joint("follow", "continuous", "base", "a", '<mimic joint="lead" multiplier="-2" offset="0.5"/>'),
        joint("lead", "continuous", "base", "b", '<dynamics damping="0.3" friction="0.4"/>'),
        joint("third", "continuous", "base", "c", '<mimic joint="follow"/>'),
    ).model  # fmt: skip
    forces, constraints = dict(model.forces), dict(model.constraints)
    assert forces["lead.spring"].damping in (0.3, (0.3,)) and forces["lead.friction"].bound == 0.4
    assert constraints["follow.mimic"].matrix == ((-2.0,),) and constraints["follow.mimic"].offset == (0.5,)
    start = {n: float(model.joint(n).q0[0]) for n in ("lead", "follow", "third")}
    assert start == {"lead": 0.0, "follow": 0.5, "third": 0.5}


def test_start_lies_within_the_limits(tmp_path: Path) -> None:
    limit = '<limit lower="0.5" upper="2" effort="1" velocity="0"/>'
    parts = (link("base"), link("a"), joint("j", "revolute", "base", "a", limit))
    assert robot(tmp_path, *parts).model.joint("j").q0 == (0.5,)
    free = robot(tmp_path, *parts, limits=False)
    assert free.model.joint("j").q0 == (0.0,) and not free.model.constraints and "limits of joints 'j'" in free.left_out[0]


def test_links_without_mass_become_part_of_their_neighbours(tmp_path: Path) -> None:
    """foot (no mass) – shin (2 kg) – a point of 2 kg one metre along x – tool; what hangs on them keeps its place."""
    point = '<inertial><mass value="2"/><inertia ixx="0" iyy="0" izz="0"/></inertial>'
    at = '<origin xyz="1 0 0"/>'
    scene = robot(
        tmp_path, link("base"), link("foot", ""), link("shin"), link("weight", point), link("tool", ""), link("toe"),
        joint("ankle", "continuous", "base", "foot", at), joint("f1", "fixed", "foot", "shin", at),
        joint("f2", "fixed", "shin", "weight", at), joint("f3", "fixed", "weight", "tool", at),
        joint("last", "continuous", "tool", "toe", at),
    )  # fmt: skip
    model = scene.model
    assert [b.name for b in model.bodies] == ["world", "base", "shin", "toe"]
    shin = body(model, "shin")
    assert shin.mass == 4.0
    np.testing.assert_allclose(shin.com, (0.5, 0, 0))
    np.testing.assert_allclose(shin.inertia, np.diag([0.1, 0.2 + 1.0, 0.25 + 1.0]))  # two masses of 2 kg, each half a metre from the middle
    np.testing.assert_allclose(model.joint("ankle").X_BM.p, (-1, 0, 0))
    np.testing.assert_allclose(body(model, "toe").X_WB.p, (5, 0, 0))
    assert "'tool' of 'shin'" in scene.notes and "'foot' of 'shin'" in scene.notes


def test_moving_links_without_mass(tmp_path: Path) -> None:
    links = (link("base"), link("cross", ""), link("arm"))
    parts = (*links, joint("u1", "continuous", "base", "cross"), joint("u2", "continuous", "cross", "arm"))
    scene = robot(tmp_path, *parts)
    assert body(scene.model, "cross").mass == 1e-6 and "link 'cross': moves by joint 'u1' without mass" in scene.left_out[0]
    with pytest.raises(ub.ModelError, match="link 'end': moves by joint 'u3', and nothing on it has mass; .*massless="):
        robot(tmp_path, *parts, link("end", ""), joint("u3", "continuous", "arm", "end"))
    assert body(robot(tmp_path, *parts, massless=0.5).model, "cross").mass == 0.5


def test_ground_and_world(tmp_path: Path) -> None:
    """A root without mass is ground; a root called world is the world; what is fixed to it and weighs nothing is ground too."""
    seen = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    model = robot(tmp_path, link("base", seen), link("arm"), joint("j", "continuous", "base", "arm")).model
    assert body(model, "base").kind == "static" and len(body(model, "base").shapes) == 1
    model = robot(tmp_path, link("world", ""), link("arm"), joint("j", "continuous", "world", "arm")).model
    assert [b.name for b in model.bodies] == ["world", "arm"] and model.joint("j").parent == 0
    scene = robot(tmp_path, link("world", seen), link("arm"), joint("j", "continuous", "world", "arm"))
    assert [b.name for b in scene.model.bodies] == ["world", "world_link", "arm"] and "'world' to 'world_link'" in scene.left_out[0]


def test_impossible_inertias(tmp_path: Path) -> None:
    flat = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.3"/></inertial>'
    parts = (link("base"), link("plate", flat), joint("j", "continuous", "base", "plate"))
    with pytest.raises(ub.ModelError, match="link 'plate': no body has the principal inertias .*0.1 \\+ 0.1 < 0.3; .*repair_inertia=true"):
        robot(tmp_path, *parts, repair=False)
    scene = robot(tmp_path, *parts, repair=False, repair_inertia=True)
    A, B, C = np.diag(body(scene.model, "plate").inertia)
    assert A + B >= C and "link 'plate'" in scene.left_out[0]
    fixed = robot(tmp_path, *parts, link("block"), joint("k", "fixed", "plate", "block", '<origin xyz="0 0 1"/>'), repair=False)
    np.testing.assert_allclose(np.diag(body(fixed.model, "block").inertia), (1.2, 1.3, 0.55))  # 2 kg each, half a metre from the middle
    assert "it is part of 'block'" in fixed.left_out[0]


def test_repair_is_the_nearest_possible_inertia() -> None:
    """Second moments of (0.1, 0.1, 0.3) are (0.15, 0.15, −0.05); with the last raised to 0 the inertia is (0.15, 0.15, 0.3)."""
    made = repaired(MassProperties(1e-9, np.zeros(3), (0.1, 0.1, 0.3)))
    np.testing.assert_allclose(np.diag(made.inertia), (0.15, 0.15, 0.3), rtol=1e-12)
    sound = MassProperties(2.0, np.ones(3), (0.1, 0.2, 0.25))
    np.testing.assert_allclose(repaired(sound).inertia, sound.inertia, atol=1e-15)


def test_shapes_colours_and_capsules(tmp_path: Path) -> None:
    look = (
        '<visual><origin xyz="0 0 1" rpy="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>'
        '<visual><geometry><cylinder radius="0.1" length="2"/></geometry><material name="own"><color rgba="0 0 1 0.5"/></material></visual>'
        '<collision><geometry><capsule radius="0.1" length="2"/></geometry></collision>'
        '<collision><geometry><sphere radius="0.3"/></geometry></collision>'
    )
    scene = robot(tmp_path, '<material name="red"><color rgba="1 0 0 1"/></material>', link("a", SOLID + look))
    box, pole, capsule, ball = body(scene.model, "a").shapes
    assert box.shape.sides == (1, 2, 3) and box.colour == (1, 0, 0, 1) and box.visible and not box.solid
    np.testing.assert_allclose(box.X_BS.p, (0, 0, 1))
    assert isinstance(pole.shape, ub.Cylinder) and (pole.shape.radius, pole.shape.length) == (0.1, 2.0) and pole.colour == (0, 0, 1, 0.5)
    assert isinstance(capsule.shape, ub.Capsule) and capsule.solid and not capsule.visible
    assert isinstance(ball.shape, ub.Sphere) and ball.shape.radius == 0.3


def test_meshes_from_packages_with_scale(tmp_path: Path) -> None:
    """A tetrahedron of volume 1/6 scaled by (2, 1, −1): a third, not inside out. With a face missing it has a hull all the same."""
    package = tmp_path / "my_robot"
    (package / "meshes").mkdir(parents=True)
    (package / "urdf").mkdir()
    (package / "package.xml").write_text("<package/>")
    vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    (package / "meshes" / "t.obj").write_text(vertices + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (package / "meshes" / "open.obj").write_text(vertices + "f 1 3 2\nf 1 2 4\n")
    shapes = "".join(
        f'<{tag}><geometry><mesh filename="{file}.obj" scale="2 1 -1"/></geometry></{tag}>'
        for tag, file in (("visual", "package://my_robot/meshes/t"), ("collision", "../meshes/t"), ("collision", "../meshes/open"))
    )
    seen, closed, opened = body(robot(package / "urdf", link("a", SOLID + shapes)).model, "a").shapes
    assert isinstance(seen.shape, ub.OpenMesh) and isinstance(closed.shape, ub.Mesh) and isinstance(opened.shape, ub.Mesh)
    assert closed.shape.volume == pytest.approx(1.0 / 3.0) and opened.shape.volume == pytest.approx(1.0 / 3.0)
    bare = robot(package / "urdf", link("a", SOLID + shapes), meshes=False)
    assert not body(bare.model, "a").shapes and "meshes of links 'a' (3 times): not read" in bare.left_out[0]


def test_what_has_no_meaning_is_listed(tmp_path: Path) -> None:
    scene = robot(
        tmp_path, link("base", SOLID + '<contact><stiffness value="1"/></contact>'), link("a"),
        joint("j", "continuous", "base", "a", '<safety_controller k_velocity="1"/><calibration/><limit effort="0" velocity="9"/>'),
        '<transmission name="t1"/>', '<gazebo reference="a"/>', '<gazebo/>', '<sensor name="eye"/>',
        '<material name="m"><texture filename="t.png"/></material>',
    )  # fmt: skip
    said = "\n".join(scene.left_out)
    for word in ("<transmission> of 't1'", "<gazebo> of 'a', 'robot'", "<sensor> of 'eye'", "<link/contact> of 'base'",
                 "<joint/safety_controller> of 'j'", "<joint/calibration> of 'j'", "velocity limits of joints 'j'",
                 "effort limits that are not above 0 of joints 'j'", "textures of materials 'm'"):  # fmt: skip
        assert word in said
    assert len(scene.left_out) == 9


def test_bullets_xml_version_and_namespaces(tmp_path: Path) -> None:
    path = tmp_path / "old.urdf"
    path.write_text(f'<?xml version="0.0" ?>\n<robot xmlns:xacro="http://x/y"><link name="a">{SOLID}</link><xacro:macro name="m"/></robot>')
    scene = load_urdf(path)
    assert scene.name == "old" and len(scene.left_out) == 1


def test_ground_and_a_joint_of_one_name(tmp_path: Path) -> None:
    scene = robot(tmp_path, link("base", ""), link("arm"), joint("base", "continuous", "base", "arm"))
    assert [b.name for b in scene.model.bodies] == ["world", "base_link", "arm"] and "'base' to 'base_link'" in scene.left_out[0]
