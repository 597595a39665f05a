"""No reader drops anything in silence: what a file asks for is honoured, named in `left_out`, or refused; commands say what was named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import unibody as ub
from unibody.cli.app import app
from unibody.files.scene_json import scene_to_json

URDF = """<robot name="r">
<material name="red"><color rgba="1 0 0 1"/></material>
<link name="base"/>
<link name="arm">
<inertial><origin xyz="0 0 0" rpy="0 0 0"/><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<visual name="v"><origin xyz="0 0 1"/><geometry><box size="1 1 1"/></geometry><material name="red"/></visual>
<collision name="c"><geometry><cylinder radius="1" length="2"/></geometry></collision>
</link>
<joint name="j" type="revolute"><origin xyz="0 0 1"/><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="10"/><dynamics damping="0.1" friction="0.2"/></joint>
</robot>"""
WORDS = [match.span(1) for match in re.finditer(r"[<\s]([a-z_]+)(?==|[\s/>])", URDF)]


@pytest.mark.parametrize("place", WORDS, ids=lambda place: f"{URDF[slice(*place)]}@{place[0]}")
def test_a_misspelt_word_of_urdf_is_refused_or_named(tmp_path: Path, place: tuple[int, int]) -> None:
    """Each element's and attribute's name in turn, with its end tag."""
    pytest.importorskip("yourdfpy")
    begin, end = place
    word = URDF[begin:end]
    text = f"{URDF[:begin]}{word}x{URDF[end:]}"
    if URDF[begin - 1] == "<" and not re.match(r"[^<>]*/>", URDF[end:]):
        closing = text.index(f"</{word}>", end)
        text = f"{text[:closing]}</{word}x>{text[closing + len(word) + 3 :]}"
    path = tmp_path / "r.urdf"
    path.write_text(text)
    try:
        scene = ub.load(path)
    except ub.ModelError as error:
        assert "\n" not in str(error)
    else:
        assert any(f"{word}x" in line for line in scene.left_out), scene.left_out


def test_urdf_names_shapes_without_geometry_and_materials_without_colour(tmp_path: Path) -> None:
    pytest.importorskip("yourdfpy")
    path = tmp_path / "r.urdf"
    path.write_text(URDF.replace('<box size="1 1 1"/>', "").replace('<material name="red"/>', '<material name="blue"/>'))
    assert any("<visual> of 'arm'" in line for line in ub.load(path).left_out)
    path.write_text(URDF.replace('<material name="red"/></visual>', '<material name="blue"/></visual>'))
    assert any("materials of links 'arm'" in line for line in ub.load(path).left_out)
    path.write_text(URDF)
    assert ub.load(path).left_out == ()


def test_deformable_parts_are_named_that_are_not_read(tmp_path: Path) -> None:
    pytest.importorskip("yourdfpy")
    pytest.importorskip("mujoco")
    path = tmp_path / "r.urdf"
    torus = '<deformable name="torus"><neohookean mu="60" lambda="200" damping="0.01"/></deformable>'
    path.write_text(URDF.replace("</robot>", f"{torus}</robot>"))
    assert any("<deformable> of 'torus'" in line for line in ub.load(path).left_out)
    path = tmp_path / "m.xml"
    flex = '<flexcomp name="f" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1"><elasticity young="1e5" poisson="0.3"/></flexcomp>'
    path.write_text(f'<mujoco><worldbody><body><joint type="free"/><geom size="0.1"/></body>{flex}</worldbody></mujoco>')
    said = "\n".join(ub.load(path).left_out)
    assert "flexible parts: 'f': not read" in said and "loose bodies" in said


def test_mjcf_names_options_that_are_not_the_usual_ones(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "m.xml"
    parts = '<joint name="hinge" range="-1 1" limited="true"/><geom size="0.1" contype="0" conaffinity="0"/>'
    body = f"<worldbody><body>{parts}</body></worldbody>"
    path.write_text(f"<mujoco>{body}</mujoco>")
    plain = ub.load(path)
    assert plain.left_out == () and len(plain.model.constraints) == 1
    flags = '<flag constraint="disable" energy="enable" warmstart="disable"/>'
    path.write_text(f'<mujoco><option iterations="7" cone="elliptic">{flags}</option><visual><map znear="0.1"/></visual>{body}</mujoco>')
    scene = ub.load(path)
    said = "\n".join(scene.left_out)
    assert all(word in said for word in ("cone, iterations", "flags warmstart off", "flags energy on", "visual: map"))
    assert not scene.model.constraints, "all constraints are switched off, and the limit still holds"


def test_our_own_scenes_refuse_a_misspelt_word(tmp_path: Path) -> None:
    text = scene_to_json(ub.scenes.make("double-pendulum"))
    words = sorted(set(re.findall(r'"([a-zA-Z_]+)":', text)) - {"$schema"})
    assert len(words) > 15
    for word in words:
        path = tmp_path / "s.json"
        path.write_text(re.sub(f'"{word}":', f'"{word}x":', text, count=1))
        with pytest.raises(ub.ModelError) as error:
            ub.load(path)
        assert "\n" not in str(error.value)


def tetrahedron() -> str:
    return "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize("factors", [(-1, 1, 1), (-2, -1, -1), (1, -1, -1)])
def test_mirrored_meshes_have_positive_volume_in_every_reader(tmp_path: Path, factors: tuple[int, ...]) -> None:
    """A corner of the unit cube: |product of factors| / 6."""
    (tmp_path / "t.obj").write_text(tetrahedron())
    size = abs(float(np.prod(factors))) / 6.0
    scale = " ".join(map(str, factors))
    if pytest.importorskip("yourdfpy") and pytest.importorskip("trimesh"):
        touched = f'<collision><geometry><mesh filename="t.obj" scale="{scale}"/></geometry></collision>'
        (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{touched}</link></robot>')
        shape = next(b for b in ub.load(tmp_path / "r.urdf").model.bodies if b.shapes).shapes[0].shape
        assert isinstance(shape, ub.Mesh) and shape.volume == pytest.approx(size)
    if pytest.importorskip("mujoco"):
        asset = f'<asset><mesh name="t" file="t.obj" scale="{scale}"/></asset>'
        geom = '<worldbody><body><freejoint/><geom type="mesh" mesh="t"/></body></worldbody>'
        (tmp_path / "m.xml").write_text(f"<mujoco>{asset}{geom}</mujoco>")
        shape = next(b for b in ub.load(tmp_path / "m.xml").model.bodies if b.shapes).shapes[0].shape
        assert isinstance(shape, ub.Mesh) and shape.volume == pytest.approx(size, rel=1e-6)  # MuJoCo keeps meshes in single precision


def test_mesh_read_mirrored_has_positive_volume(tmp_path: Path) -> None:
    (tmp_path / "t.obj").write_text(tetrahedron())
    assert ub.Mesh.read(tmp_path / "t.obj", scale=-2.0).volume == pytest.approx(8.0 / 6.0)


@pytest.fixture
def dropping(tmp_path: Path) -> Path:
    """A scene that asks for more than it gets."""
    (tmp_path / "t.obj").write_text(tetrahedron())
    body = {"mesh": "t.obj", "type": "kinematic", "force": [1, 0, 0]}
    problem = {"rigid_bodies": [body, {"mesh": "t.obj", "position": [0, 3, 0]}], "wind": 3}
    path = tmp_path / "scene.json"
    path.write_text(json.dumps({"rigid_body_problem": problem, "max_time": 0.02}))
    return path


LINES = ("body 't0' is kinematic: force [1, 0, 0] without effect", "rigid_body_problem: 'wind' is not known")


def test_run_says_what_was_left_out(dropping: Path) -> None:
    said = CliRunner().invoke(app, ["run", str(dropping), "-s", "penalty"])
    assert said.exit_code == 0 and all(f"left out     {line}" in said.stdout for line in LINES), said.stdout
    told = CliRunner().invoke(app, ["run", str(dropping), "-s", "penalty", "--json"])
    assert told.exit_code == 0 and json.loads(told.stdout)["left_out"] == list(LINES)


def test_other_commands_say_it_on_standard_error(dropping: Path, tmp_path: Path) -> None:
    for words in (["compare", str(dropping), "--solvers", "penalty"], ["export", str(dropping), "--scene", str(tmp_path / "out.json")]):
        said = CliRunner().invoke(app, words)
        assert said.exit_code == 0 and all(f"unibody: left out: {line}" in said.stderr for line in LINES), said.output
