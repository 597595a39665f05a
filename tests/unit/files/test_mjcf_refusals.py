"""MJCF files that are wrong, hostile or ask for more than there is: one line that says so, and nothing in silence."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.files.mjcf import load_mjcf

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

GEOM = '<geom size=".1"/>'
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
BOMB = '<!DOCTYPE mujoco [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><mujoco model="&b;"/>'


def write(folder: Path, text: str, name: str = "robot.xml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def body(inside: str) -> str:
    return f"<mujoco><worldbody><body>{inside}</body></worldbody></mujoco>"


WRONG = {
    "truncated": ("<mujoco><worldbody><body>", "line 1: not well-formed XML"),
    "unknown joint": (body(f'<joint type="banana"/>{GEOM}'), "banana"),
    "missing mesh": ('<mujoco><asset><mesh file="none.obj"/></asset></mujoco>', "'none.obj' does not exist"),
    "missing include": ('<mujoco><include file="none.xml"/></mujoco>', "'none.xml' does not exist"),
    "negative mass": (body('<joint/><geom size=".1" mass="-1"/>'), "negative"),
    "no mass": (body("<joint/>"), "mass and inertia of moving bodies"),
    "unknown word": (body(f'<joint colour="red"/>{GEOM}'), "colour"),
    "entities": (BOMB, "DOCTYPE or entity"),
    "another root": ("<robot/>", "root is <robot>"),
    "seven in a row": (body("".join(f'<joint axis="{i} 1 0"/>' for i in range(7)) + GEOM), "more than 6 dofs"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_wrong_files_give_one_line(tmp_path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ub.ModelError) as caught:
        load_mjcf(path)
    line = str(caught.value)
    assert said in line and "robot.xml" in line and ";" in line and "\n" not in line


def test_a_file_that_is_not_there(tmp_path) -> None:
    with pytest.raises(ub.ModelError, match="does not exist"):
        load_mjcf(tmp_path / "none.xml")


ARM = """<mujoco><default><joint damping="1" armature=".1"/></default><worldbody><body pos="0 0 1"><joint name="a" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -1" size=".1"/><body pos="0 0 -1"><joint name="b" type="ball" stiffness="2"/>
<joint name="c" type="slide"/><geom type="box" size=".1 .2 .3" mass="2"/><site name="s"/></body></body></worldbody>
<tendon><fixed name="t"><joint joint="a" coef="2"/></fixed></tendon>
<actuator><position joint="a" kp="3" gear="2"/></actuator><equality><joint joint1="c" polycoef="1 0 0 0 0"/></equality></mujoco>"""


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path) -> None:
    """Attributes replaced by other words, numbers that are none, and texts that end too early."""
    rng = np.random.default_rng(0)
    spots = list(re.finditer(r'="([^"]*)"', ARM))
    refused = 0
    for _ in range(150):
        spot = spots[rng.integers(len(spots))]
        word = rng.choice(["-1", "0", "nan", "inf", "1e308", "ball", "free", "", "1 2", "world", "a", "999999999"])
        text = ARM[: spot.start(1)] + word + ARM[spot.end(1) :]
        path = write(tmp_path, text[: rng.integers(len(text))] if rng.random() < 0.1 else text)
        try:
            load_mjcf(path)
        except ub.ModelError as error:
            refused += 1
            assert str(error).startswith(f"file '{path}'") and "\n" not in str(error)
    assert 50 < refused < 150


def test_files_that_include_each_other(tmp_path) -> None:
    write(tmp_path, '<mujoco><include file="other.xml"/></mujoco>')
    write(tmp_path, '<mujoco><include file="robot.xml"/></mujoco>', "other.xml")
    with pytest.raises(ub.ModelError, match="robot.xml → other.xml → robot.xml"):
        load_mjcf(tmp_path / "robot.xml")


def test_entities_are_refused_in_included_files_too(tmp_path) -> None:
    write(tmp_path, BOMB, "other.xml")
    with pytest.raises(ub.ModelError, match="other.xml.*DOCTYPE or entity"):
        load_mjcf(write(tmp_path, '<mujoco><include file="other.xml"/></mujoco>'))


OUTSIDE = {
    "mesh": '<asset><mesh file="../t.obj"/></asset>',
    "mesh by meshdir": '<compiler meshdir=".."/><asset><mesh file="t.obj"/></asset>',
    "mesh by assetdir": '<compiler assetdir="../"/><asset><mesh file="t.obj"/></asset>',
    "absolute path": '<asset><mesh file="{tmp}/t.obj"/></asset>',
    "height field": '<asset><hfield file="../t.obj" size="1 1 1 1"/></asset>',
    "texture": '<asset><texture type="2d" file="../t.obj"/></asset>',
    "cube texture": '<asset><texture type="cube" fileright="../t.obj"/></asset>',
    "include": '<include file="../other.xml"/>',
    "attached model": '<asset><model name="m" file="../other.xml"/></asset>',
    "link": '<asset><mesh file="link.obj"/></asset>',
    "in an included file": '<include file="inner.xml"/>',
}


@pytest.mark.parametrize("text", OUTSIDE.values(), ids=OUTSIDE)
def test_no_file_is_opened_outside_the_folder(tmp_path, text: str) -> None:
    write(tmp_path, TETRAHEDRON, "t.obj")
    write(tmp_path, "<mujoco/>", "other.xml")
    write(tmp_path / "in", '<mujoco><asset><mesh file="../t.obj"/></asset></mujoco>', "inner.xml")
    os.symlink(tmp_path / "t.obj", tmp_path / "in" / "link.obj")
    path = write(tmp_path / "in", f"<mujoco>{text.format(tmp=tmp_path)}</mujoco>")
    with pytest.raises(ub.ModelError, match="outside the model's folder"):
        load_mjcf(path)


def test_outside_files_are_opened_when_asked(tmp_path) -> None:
    write(tmp_path, TETRAHEDRON, "t.obj")
    mesh = '<asset><mesh file="../t.obj"/></asset><worldbody><body><freejoint/><geom type="mesh" mesh="t"/></body></worldbody>'
    path = write(tmp_path / "in", f"<mujoco>{mesh}</mujoco>")
    assert load_mjcf(path, allow_outside=True).model.nv == load_mjcf(path, packages=(str(tmp_path),)).model.nv == 6


def test_includes_and_asset_folders_inside_are_followed(tmp_path) -> None:
    write(tmp_path / "parts" / "meshes", TETRAHEDRON, "t.obj")
    write(tmp_path / "parts", '<mujoco><asset><mesh file="t.obj"/></asset></mujoco>', "assets.xml")
    main = '<mujoco><compiler meshdir="parts/meshes"/><include file="parts/assets.xml"/><worldbody><body><freejoint/>'
    scene = load_mjcf(write(tmp_path, f'{main}<geom type="mesh" mesh="t"/></body></worldbody></mujoco>'))
    assert isinstance(scene.model.bodies[1].shapes[0].shape, ub.Mesh)


def test_unknown_keyframes_are_named(tmp_path) -> None:
    path = write(tmp_path, f"<mujoco><worldbody><body><joint/>{GEOM}</body></worldbody><keyframe><key name='home'/></keyframe></mujoco>")
    with pytest.raises(ub.ModelError, match="keyframe 'away' is unknown; keyframes are home"):
        load_mjcf(path, keyframe="away")


ODD = """<mujoco><option density="1.2" viscosity="1e-5" wind="1 0 0" integrator="RK4"/>
<asset><texture name="sky" type="skybox" builtin="flat" width="8" height="8"/></asset>
<custom><numeric name="lucky" data="7"/><text name="poem" data="x"/></custom>
<worldbody><light name="sun"/><camera name="eye"/><site name="here"/><geom name="post" type="cylinder" size=".1 .5"/>
  <body name="a"><joint name="p" range="-30 40" limited="true" margin=".01" frictionloss=".2" actuatorfrcrange="-1 2"/>
    <geom size=".1" pos=".5 0 0"/><site name="sa"/>
    <body name="b"><joint name="q" type="ball" range="0 50" limited="true"/><geom size=".1" pos=".5 0 0"/>
      <site name="sb" pos="0 0 1"/></body></body>
  <body name="c"><joint name="r" type="slide"/><geom size=".1"/><site name="sc"/></body></worldbody>
<contact><exclude name="apart" body1="a" body2="c"/></contact>
<tendon><spatial name="round" stiffness="1"><site site="here"/><geom geom="post" sidesite="sa"/><site site="sa"/></spatial>
  <spatial name="within" stiffness="1"><site site="here"/><geom geom="post" sidesite="here"/><site site="sa"/></spatial>
  <spatial name="leash" range="0 1" limited="true"><site site="here"/><site site="sc"/></spatial>
  <fixed name="pair" stiffness="3"><joint joint="p" coef="1"/><joint joint="r" coef="1"/></fixed></tendon>
<actuator><motor name="winch" tendon="pair"/><muscle name="biceps" joint="p" lengthrange="0 1"/><motor name="thrust" site="sa"/>
  <position name="servo" joint="p" kp="3" ctrlrange="0 1"/>
  <general name="slow" joint="r" dyntype="filter" dynprm=".1" ctrlrange="0 1"/></actuator>
<equality><weld name="loose" body1="a" body2="c" active="false"/><connect name="pin" body1="a" body2="c" anchor="0 0 0"/></equality>
<keyframe><key name="later" time="2" ctrl="0 0 0 .5 0" act="0 .2"/></keyframe>
<sensor><gyro name="feel" site="sa"/></sensor></mujoco>"""
SAID = [
    ("'q'", "angle of the whole rotation"), ("'p'", "margin"), ("'p'", "dry friction is smooth"), ("'p'", "actfrcrange"),
    ("'round'", "site of another body"), ("'within'", "run inside a geom"), ("'leash'", "limits on length"),
    ("'pair'", "several joints together"), ("'winch'", "drive a tendon"), ("'biceps'", "muscles"), ("'thrust'", "drive a site"),
    ("'servo'", "ctrlrange"), ("'slow'", "lag"), ("'slow'", "not the same both ways"), ("'loose'", "not active"), ("'pin'", "exactly"),
    ("'feel'", "sensors"), ("'sun'", "lights"), ("'eye'", "cameras"), ("'sky'", "textures"),
    ("'lucky'", "custom numbers"), ("'poem'", "custom texts"), ("fluid", "1.2"), ("wind", "no element"), ("rk4", "integrator"),
    ("contact of 4 geoms", "softness"), ("'later'", "controls"), ("'later'", "activations"), ("'later'", "time"),
]  # fmt: skip


@pytest.mark.parametrize("words", SAID, ids=lambda w: f"{w[0]} {w[1]}")
def test_what_is_left_out_is_listed(tmp_path, words: tuple[str, str]) -> None:
    scene = load_mjcf(write(tmp_path, ODD))
    assert [line for line in scene.left_out if all(word in line for word in words)], "\n".join(scene.left_out)


def test_names_that_meet_stay_apart(tmp_path) -> None:
    """A joint called as a static body, an actuator as an equality, a body called ground, and things without names."""
    path = write(
        tmp_path,
        f"""<mujoco><worldbody><geom size=".1"/><body name="base">{GEOM}</body><body name="ground"><joint name="base"/>{GEOM}</body>
        <body><joint/>{GEOM}</body></worldbody><actuator><motor name="x" joint="base"/></actuator>
        <equality><joint name="x" joint1="base"/></equality></mujoco>""",
    )
    model = load_mjcf(path).model
    assert [b.name for b in model.bodies] == ["world", "base", "ground", "body 3", "ground (body)"]
    assert [j.name for j in model.joints] == ["base", "base (joint)", "joint 1", "ground (body)"]
    assert [n for n, _ in model.forces] == ["x"] and [n for n, _ in model.constraints] == ["x (equality)", "contact"]


def test_limits_are_kept_or_left_out_as_asked(tmp_path) -> None:
    path = write(tmp_path, body(f'<joint name="a" range="-30 40"/><joint name="b" type="slide" range="1 2"/>{GEOM}'))
    kept = dict(load_mjcf(path).model.constraints)
    assert list(kept) == ["a.limit", "b.limit"]
    assert kept["b.limit"].lower == (1.0,) and kept["b.limit"].upper == (2.0,) and tuple(kept["b.limit"].dof) == (1,)
    bare = load_mjcf(path, limits=False)
    assert not bare.model.constraints and any("as asked" in line for line in bare.left_out)
