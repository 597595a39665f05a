"""Inertias from shapes by closed forms, and broken URDFs that are mended and told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.files import load_urdf

pytest.importorskip("yourdfpy")

SOLID = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.25"/></inertial>'
BOX = '<collision><geometry><box size="0.4 0.3 0.2"/></geometry></collision>'
OF_BOX = np.array([0.3**2 + 0.2**2, 0.4**2 + 0.2**2, 0.4**2 + 0.3**2]) / 12.0
"""Inertia of the box per kilogram."""


def robot(folder: Path, *parts: str, **options: object) -> ub.scenes.Scene:
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">\n{"".join(parts)}\n</robot>\n')
    return load_urdf(path, **options)


def link(name: str, inside: str = SOLID) -> str:
    return f'<link name="{name}">{inside}</link>\n'


def hinge(inside: str = "", name: str = "j", parent: str = "base", child: str = "a", kind: str = "continuous") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>\n'


def body(scene: ub.scenes.Scene, name: str):
    return scene.model.bodies[scene.model.body(name)]


def inertial(mass: float, A: float, B: float, C: float, origin: str = "") -> str:
    return f'<inertial>{origin}<mass value="{mass}"/><inertia ixx="{A}" iyy="{B}" izz="{C}"/></inertial>'


@pytest.mark.parametrize("given", [(0, 0, 0), (0.1, 0.1, 0.3), (-0.1, 0.1, 0.1), (1e-9, 1e-9, 1e-9), (1e3, 1e3, 1e3)])
def test_an_inertia_that_is_none_impossible_or_absurd_is_that_of_the_shapes(tmp_path: Path, given: tuple[float, ...]) -> None:
    """Of a box at the given mass, about the given centre of mass."""
    at = '<origin xyz="0.01 0.02 0.03"/>'
    parts = (link("base"), link("a", inertial(5.0, *given, at) + BOX), hinge())
    scene = robot(tmp_path, *parts)
    np.testing.assert_allclose(body(scene, "a").inertia, np.diag(5.0 * OF_BOX), atol=1e-15)
    np.testing.assert_allclose(body(scene, "a").com, (0.01, 0.02, 0.03))
    (line,) = [line for line in scene.left_out if line.startswith("link 'a': inertia")]
    assert "of 5 kg" in line and "that of its collision shapes at that mass" in line and "0.05417" in line  # 5 (0.3² + 0.2²) / 12


def test_sound_inertias_stay(tmp_path: Path) -> None:
    """Within 1000 times of the box's, above and below, nothing is touched; nor is a link without shapes."""
    for factor in (0.002, 1.0, 900.0):
        given = 5.0 * OF_BOX * factor
        scene = robot(tmp_path, link("base"), link("a", inertial(5.0, *given) + BOX), hinge())
        np.testing.assert_allclose(np.diag(body(scene, "a").inertia), given, rtol=1e-12)
        assert scene.left_out == ()
    bare = robot(tmp_path, link("base"), link("a", inertial(5.0, 1e-9, 1e-9, 1e-9)), hinge())
    np.testing.assert_allclose(np.diag(body(bare, "a").inertia), 1e-9)


def test_dummy_shapes_tell_nothing(tmp_path: Path) -> None:
    """A ball of 1 mm that is touched, beside a box that is seen: 0.5 kg in it would weigh 10⁸ kg/m³. And what was not read may be large."""
    given = 0.5 * OF_BOX
    dot, seen = '<collision><geometry><sphere radius="0.001"/></geometry></collision>', BOX.replace("collision", "visual")
    for shapes in (dot, dot + seen):
        scene = robot(tmp_path, link("base"), link("a", inertial(0.5, *given) + shapes), hinge())
        np.testing.assert_allclose(np.diag(body(scene, "a").inertia), given, rtol=1e-12)
    scene = robot(tmp_path, link("base"), link("a", inertial(0.5, 0, 0, 0) + dot + seen), hinge())
    np.testing.assert_allclose(np.diag(body(scene, "a").inertia), given, rtol=1e-12)
    hidden = '<visual><geometry><mesh filename="large.stl"/></geometry></visual>' + BOX
    for options in ({"meshes": False}, {"meshes": "skip"}):
        scene = robot(tmp_path, link("base"), link("a", inertial(5.0, 1e3, 1e3, 1e3) + hidden), hinge(), **options)
        assert body(scene, "a").inertia[0, 0] == 1e3


def test_without_repair_they_are_refused_or_kept(tmp_path: Path) -> None:
    none = (link("base"), link("a", inertial(5.0, 0, 0, 0) + BOX), hinge())
    with pytest.raises(ub.ModelError, match="no inertia about some axis; correct <inertia>, or load with repair=true"):
        robot(tmp_path, *none, repair=False)
    kept = robot(tmp_path, link("base"), link("a", inertial(5.0, 1e3, 1e3, 1e3) + BOX), hinge(), repair=False)
    assert body(kept, "a").inertia[0, 0] == 1e3
    with pytest.raises(ub.ModelError, match="mass 1 without <inertia>"):
        robot(tmp_path, link("a", '<inertial><mass value="1"/></inertial>'), repair=False)


def test_digits_that_a_file_lacks_are_no_shape(tmp_path: Path) -> None:
    """0.1 + 0.2 < 0.30001: the second moments' smallest, −5e-6, is raised to that of a ball of 1 mm, and the rest stays."""
    scene = robot(tmp_path, link("base"), link("a", inertial(5.0, 0.1, 0.2, 0.30001) + BOX), hinge())
    np.testing.assert_allclose(np.diag(body(scene, "a").inertia), (0.1, 0.2, 0.30001), rtol=1e-3)
    assert "the nearest possible" in scene.left_out[0]


def test_no_inertial_on_what_moves_is_the_density_of_water(tmp_path: Path) -> None:
    """A cylinder of radius 0.1 and length 0.5 at 1000 kg/m³; m r² / 2 about its axis, m (3 r² + l²) / 12 across."""
    look = '<visual><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.1" length="0.5"/></geometry></visual>'
    scene = robot(tmp_path, link("base"), link("a", look), hinge())
    m = 1000.0 * np.pi * 0.01 * 0.5
    assert body(scene, "a").mass == pytest.approx(m)
    np.testing.assert_allclose(body(scene, "a").com, (0, 0, 0.2), atol=1e-15)
    across = m * (0.03 + 0.25) / 12.0
    np.testing.assert_allclose(np.diag(body(scene, "a").inertia), (across, across, 0.005 * m), rtol=1e-12)
    assert "no mass, and it moves" in scene.left_out[0] and "visual shapes at 1000 kg/m³" in scene.left_out[0]


def test_a_mass_without_inertia_and_without_shapes_is_a_ball(tmp_path: Path) -> None:
    """Of water: r³ = 3 m / (4 π ρ), I = 2 m r² / 5."""
    scene = robot(tmp_path, link("base"), link("a", inertial(5.0, 0, 0, 0)), hinge())
    r = (3.0 * 5.0 / (4.0 * np.pi * 1000.0)) ** (1.0 / 3.0)
    np.testing.assert_allclose(np.diag(body(scene, "a").inertia), 0.4 * 5.0 * r**2)
    assert "a ball of 1000 kg/m³" in scene.left_out[0]


def test_laikagos_trunk_has_the_inertia_of_its_shapes() -> None:
    """13.7 kg within the box around its collision hulls: at most three times the inertia of a full box, which has all mass at its ends."""
    data = Path(pytest.importorskip("pybullet_data").getDataPath())
    scene = load_urdf(data / "laikago" / "laikago_toes.urdf", floating=True)
    trunk = body(scene, "chassis")
    sides = np.ptp(np.concatenate([s.triangles()[0] for s in trunk.shapes if s.solid]), axis=0)
    A, _, C = np.linalg.eigvalsh(trunk.inertia)
    block = trunk.mass / 12.0 * np.sort([sides[1] ** 2 + sides[2] ** 2, sides[0] ** 2 + sides[2] ** 2, sides[0] ** 2 + sides[1] ** 2])
    assert trunk.mass == pytest.approx(13.715) and 0.2 * block[0] < A < 3 * block[0] and 0.2 * block[2] < C < 3 * block[2]


TWO = link("base") + link("a")
MENDED = {
    "a blank line before the declaration": '\n<?xml version="1.0"?><robot name="r">{}</robot>',
    "a comment with two dashes": '<robot name="r"><!-- a -- b -->{}</robot>',
    "a zero at the end": '<robot name="r">{}</robot>\r\n\0',
    "a byte order mark": '\ufeff<?xml version="1.0" encoding="utf-8"?><robot name="r">{}</robot>',
    "a prefix without a namespace": '<robot name="r">{}<controller:plugin name="p"/></robot>',
    "xacro's definitions": '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:property name="p" value="1"/>{}</robot>',
    "xacro in harmless places": '<robot name="r">{}<gazebo><plugin filename="$(find p)/q"/></gazebo><transmission name="${{t}}"/></robot>',
    "a comment before the declaration": '<!-- made by hand -->\n<?xml version="1.0"?><robot name="r">{}</robot>',
}


@pytest.mark.parametrize("case", MENDED)
def test_texts_that_people_have(tmp_path: Path, case: str) -> None:
    path = tmp_path / "r.urdf"
    path.write_bytes(MENDED[case].format(TWO + hinge()).encode())
    assert [b.name for b in load_urdf(path).model.bodies] == ["world", "base", "a"]


def test_bytes_of_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_bytes(f'<robot name="Roboter für Köln"><!-- ü -->{TWO}{hinge()}</robot>'.encode("cp1252"))
    scene = load_urdf(path)
    assert scene.name == "Roboter für Köln" and "not well-formed XML" in scene.left_out[0]
    path.write_bytes(f'<?xml version="1.0" encoding="utf-16"?><robot name="r">{TWO}{hinge()}</robot>'.encode("utf-16"))
    assert load_urdf(path).model.n_bodies == 3


JOINTS = {
    "more numbers than three": ('<origin xyz="0 0 1" rpy="0 0 0 0"/>', "the first 3 numbers were taken"),
    "commas": ('<origin xyz="0, 0, 1"/>', None),
    "a default of the environment": ('<origin xyz="$(optenv HEIGHT 0 0 1)"/>', "its default was taken"),
    "an axis twice": ('<origin xyz="0 0 1"/><axis xyz="0 1 0"/><axis xyz="0 1 0"/>', "it says the same, and was left out"),
    "no axis": ('<origin xyz="0 0 1"/>', None),
}


@pytest.mark.parametrize("case", JOINTS)
def test_slips_that_leave_no_doubt_are_mended_and_told(tmp_path: Path, case: str) -> None:
    inside, told = JOINTS[case]
    scene = robot(tmp_path, TWO, hinge(inside))
    assert body(scene, "a").X_WB.p == (0.0, 0.0, 1.0)
    assert any(told in line for line in scene.left_out) if told else scene.left_out == ()


def test_limits_the_wrong_way_round_and_none_at_all(tmp_path: Path) -> None:
    scene = robot(tmp_path, TWO, hinge('<limit lower="1" upper="-1" effort="1" velocity="1"/>', kind="revolute"))
    assert not scene.model.constraints and any("lower and an upper end in this order of joints 'j'" in line for line in scene.left_out)
    scene = robot(tmp_path, TWO, hinge(kind="revolute"))
    assert any("a missing <limit> of joints 'j': such joints were taken without limits" in line for line in scene.left_out)
    assert scene.model.joint("j").element.axis == (1.0, 0.0, 0.0)  # the format's default


def test_names_that_occur_twice(tmp_path: Path) -> None:
    scene = robot(tmp_path, TWO, link("b"), link("b"), hinge(), hinge(child="b"))
    assert [j.name for j in scene.model.joints] == ["base", "j", "j_2"] and scene.model.n_bodies == 4
    said = "\n".join(scene.left_out)
    assert "two joints are called 'j': the one of link 'b' is 'j_2' here" in said and "link 'b' occurs twice" in said


def test_names_that_xacro_has_not_filled_in_are_taken_as_they_are(tmp_path: Path) -> None:
    scene = robot(tmp_path, link("${p}base"), link("a"), hinge(parent="${p}base"))
    assert scene.model.body("${p}base") == 1 and any("names '${p}base'" in line for line in scene.left_out)


def test_several_roots_hang_on_the_world_if_asked(tmp_path: Path) -> None:
    with pytest.raises(ub.ModelError, match="several links have no parent: 'base', 'a'; .*roots=join"):
        robot(tmp_path, TWO)
    welded = robot(tmp_path, TWO, roots="join")
    assert welded.model.nv == 0 and "several links have no parent" in welded.left_out[0]
    free = robot(tmp_path, TWO, roots="join", floating=True)
    assert free.model.nv == 12 and isinstance(free.model.joint("a").element, ub.Free)


def test_followers_of_unknown_joints_can_be_left_out(tmp_path: Path) -> None:
    parts = (TWO, hinge('<mimic joint="q1"/>', name="left_q1"))
    with pytest.raises(ub.ModelError, match="joint 'q1' is unknown; did you mean 'left_q1'.*mimic=false"):
        robot(tmp_path, *parts)
    scene = robot(tmp_path, *parts, mimic=False)
    assert not scene.model.constraints
    assert any("<mimic> of joints 'left_q1': left out, since mimic=false" in line for line in scene.left_out)


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def touched(file: str, attributes: str = "") -> str:
    return f'{SOLID}<collision{attributes}><geometry><mesh filename="{file}"/></geometry></collision>'


@pytest.mark.parametrize("reference", ["$(find arm)/meshes/t.obj", "file://$(find arm)/meshes/t.obj", "package://arm/meshes/t.obj"])
def test_paths_into_the_package_around_the_file(tmp_path: Path, reference: str) -> None:
    """arm/urdf/robot.urdf and arm/meshes/t.obj, without a package.xml; and by name=folder from elsewhere."""
    for folder in ("arm/urdf", "arm/meshes", "else"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "arm/meshes/t.obj").write_text(TETRAHEDRON)
    assert len(body(robot(tmp_path / "arm/urdf", link("a", touched(reference))), "a").shapes) == 1
    with pytest.raises(ub.ModelError, match="no package 'arm' near the file"):
        robot(tmp_path / "else", link("a", touched(reference)))
    assert len(body(robot(tmp_path / "else", link("a", touched(reference)), packages=(f"arm={tmp_path / 'arm'}",)), "a").shapes) == 1


def test_missing_meshes_are_left_out_if_asked(tmp_path: Path) -> None:
    inside = touched("no.stl") + BOX
    with pytest.raises(ub.ModelError, match="'no.stl' does not exist .*; or load with meshes=skip"):
        robot(tmp_path, link("a", inside))
    scene = robot(tmp_path, link("a", inside), meshes="skip")
    assert [type(s.shape) for s in body(scene, "a").shapes] == [ub.Box] and "'no.stl'" in scene.left_out[0]
    with pytest.raises(ub.ModelError, match="outside the model's folder"):
        robot(tmp_path, link("a", touched("../../secret.stl")), meshes="skip")


def notched() -> str:
    """A unit cube without its corner cube of side ½: volume 7/8, hull with the volume 1 − 1/48 (the corner tetrahedron of side ½)."""
    v = [(x, y, z) for x in (0, 1, 2) for y in (0, 1, 2) for z in (0, 1, 2)]
    cubes = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1) if (x, y, z) != (1, 1, 1)]
    quads = []
    for c in cubes:
        for axis in range(3):
            for side in (0, 1):
                beside = tuple(c[k] + (2 * side - 1) * (k == axis) for k in range(3))
                if beside in cubes:
                    continue
                one, two = [(axis + 1) % 3, (axis + 2) % 3] if side else [(axis + 2) % 3, (axis + 1) % 3]
                corners = []
                for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    p = list(c)
                    p[axis] += side
                    p[one] += a
                    p[two] += b
                    corners.append(1 + v.index(tuple(p)))
                quads.append(corners)
    return "".join(f"v {x / 2} {y / 2} {z / 2}\n" for x, y, z in v) + "".join("f " + " ".join(map(str, q)) + "\n" for q in quads)


def test_collision_meshes_are_hulls_or_exact(tmp_path: Path) -> None:
    (tmp_path / "n.obj").write_text(notched())
    volume = {m: body(robot(tmp_path, link("a", touched("n.obj")), meshes=m), "a").shapes[0].volume for m in ("convex", "exact")}
    assert volume["exact"] == pytest.approx(7 / 8) and volume["convex"] == pytest.approx(1 - 1 / 48)
    asked = robot(tmp_path, link("a", touched("n.obj", ' concave="yes"')))
    assert body(asked, "a").shapes[0].volume == pytest.approx(7 / 8)
    assert "convex hulls of 1 files" in robot(tmp_path, link("a", touched("n.obj"))).notes


def test_each_object_of_an_obj_is_a_hull_of_its_own(tmp_path: Path) -> None:
    """As files of convex pieces have them: two tetrahedra of 1/6, three metres apart."""
    second = "".join(f"v {x + 3} {y} {z}\n" for x, y, z in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)))
    faces = "f 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n"
    (tmp_path / "two.obj").write_text(f"o one\n{TETRAHEDRON}o two\n{second}{faces}")
    shapes = body(robot(tmp_path, link("a", touched("two.obj"))), "a").shapes
    assert [s.volume for s in shapes] == pytest.approx([1 / 6, 1 / 6])


def test_open_meshes_of_exact_robots(tmp_path: Path) -> None:
    """What stands still keeps its open surface, what moves gets its hull, and that is said."""
    lid = "".join(line + "\n" for line in TETRAHEDRON.splitlines()[:-1])
    (tmp_path / "open.obj").write_text(lid)
    parts = (link("base", touched("open.obj")), link("a", touched("open.obj")), hinge())
    scene = robot(tmp_path, *parts, meshes="exact")
    assert isinstance(body(scene, "base").shapes[0].shape, ub.OpenMesh) and isinstance(body(scene, "a").shapes[0].shape, ub.Mesh)
    assert any("collision meshes 'open.obj': they do not close" in line for line in scene.left_out)


def test_bullets_planes_stand_still(tmp_path: Path) -> None:
    plane = '<collision><geometry><plane normal="0 1 0"/></geometry></collision>'
    placed = body(robot(tmp_path, link("ground", plane)), "ground").shapes[0]
    np.testing.assert_allclose(placed.X_BS.R @ (0, 0, 1), (0, 1, 0), atol=1e-15)
    scene = robot(tmp_path, link("base"), link("a", SOLID + plane), hinge())
    assert not body(scene, "a").shapes and any("half-spaces do not move" in line for line in scene.left_out)
