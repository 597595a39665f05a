"""Broken and hostile URDF files: one line that names the file, the place and the remedy, and exit code 2 from the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import unibody as ub
from unibody.cli.app import app
from unibody.files import load_urdf

pytest.importorskip("yourdfpy")

SOLID = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
TWO = f'<link name="a">{SOLID}</link>\n<link name="b">{SOLID}</link>\n'


def hinge(name: str = "j", kind: str = "continuous", parent: str = "a", child: str = "b", inside: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>\n'


def pair(inside: str) -> str:
    return f"<robot>{TWO}{hinge(inside=inside)}</robot>"


def mesh(name: str) -> str:
    return f'<link name="a">{SOLID}<visual><geometry><mesh filename="{name}"/></geometry></visual></link>'


BROKEN = {
    "truncated": ("<robot><link name='a'>", "line 1: not well-formed"),
    "bomb": ('<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"/>', "line 1: a DOCTYPE"),
    "no robot": ("<model/>", "root element is <model>"),
    "no links": ("<robot/>", "no <link>"),
    "unknown joint type": (f"<robot>{TWO}{hinge(kind='hinge')}</robot>", "joint 'j' is of the unknown type 'hinge'"),
    "no joint type": (f"<robot>{TWO}{hinge(kind='')}</robot>", "<joint> of joint 'j' has no type"),
    "missing link": (f"<robot>{TWO}{hinge(child='c')}</robot>", "joint 'j': link 'c' is unknown"),
    "no child": (f'<robot>{TWO}<joint name="j" type="fixed"><parent link="a"/></joint></robot>', "joint 'j' has no <child>"),
    "joined to itself": (f"<robot>{TWO}{hinge(child='a')}</robot>", "joins link 'a' to itself"),
    "cycle": (f"<robot>{TWO}{hinge()}{hinge('k', parent='b', child='a')}</robot>", "joints 'k', 'j' form a circle"),
    "cycle beside a root": (f'<robot><link name="r"/>{TWO}{hinge()}{hinge("k", parent="b", child="a")}</robot>', "form a circle"),
    "two parents": (f'<robot><link name="c"/>{TWO}{hinge()}{hinge("k", parent="c")}</robot>', "link 'b' is the child of two joints"),
    "two roots": (f"<robot>{TWO}</robot>", "several links have no parent: 'a', 'b'"),
    "link twice": (f'<robot>{TWO}<link name="a"/>{hinge()}</robot>', "two links are called 'a'"),
    "xacro in a number": (pair('<axis xyz="0 ${up} 1"/>'), "is for xacro to fill in; run `xacro"),
    "an argument of xacro in a number": (pair('<origin xyz="0 0 $(arg height)"/>'), "is for xacro to fill in; run `xacro"),
    "a macro of xacro": (f'<robot xmlns:xacro="http://ros.org/wiki/xacro">{TWO}{hinge()}<xacro:leg side="1"/></robot>',
                         "<xacro:leg> in <robot> of robot: the file is for xacro"),
    "xacro in a path": (f"<robot>{mesh('${folder}/a.stl')}</robot>", "is for xacro to fill in"),
    "link without name": ("<robot><link/></robot>", "<link> of robot has no name"),
    "negative mass": ('<robot><link name="a">' + SOLID.replace('"1"', '"-1"', 1) + "</link></robot>", "link 'a': mass -1 is negative"),
    "half an inertia": ('<robot><link name="a"><inertial><mass value="1"/><inertia ixx="1"/></inertial></link></robot>', "has no iyy"),
    "no number": ('<robot><link name="a">' + SOLID.replace('"1"', '"one"', 1) + "</link></robot>", 'value="one" is not numeric'),
    "nan": ('<robot><link name="a">' + SOLID.replace('"1"', '"nan"', 1) + "</link></robot>", 'value="nan" is not finite'),
    "two numbers": (pair('<axis xyz="0 1"/>'), 'xyz="0 1" has 2 numbers; give 3'),
    "no axis": (pair('<axis xyz="0 0 0"/>'), "joint 'j': axis .* has no direction"),
    "second origin": (pair('<origin xyz="0 0 1"/><origin xyz="0 0 2"/>'), "a second <origin> in <joint> of joint 'j'"),
    "negative damping": (pair('<dynamics damping="-1"/>'), "joint 'j': damping -1 is negative"),
    "mimics nothing": (pair('<mimic joint="k"/>'), "joint 'j' mimic: joint 'k' is unknown"),
    "mimics itself": (pair('<mimic joint="j"/>'), "joint 'j' dof 0 is both dependent and independent"),
    "missing mesh": (f"<robot>{mesh('no.stl')}</robot>", "mesh in the visual of link 'a': 'no.stl' does not exist"),
    "missing package": (f"<robot>{mesh('package://arm/no.stl')}</robot>", "no package 'arm' near the file.*give packages="),
    "mesh outside": (f"<robot>{mesh('../../secret.stl')}</robot>", "lies outside the model's folder"),
    "mesh by address": (f"<robot>{mesh('http://localhost/a.stl')}</robot>", "address, which is not opened"),
    "mesh of no kind": (f"<robot>{mesh('broken.urdf')}</robot>", "meshes with the ending '.urdf' are not read"),
    "broken mesh": (f"<robot>{mesh('junk.stl')}</robot>", "junk.stl'"),
    "bomb in a mesh": (f"<robot>{mesh('bomb.dae')}</robot>", "bomb.dae' line 1: a DOCTYPE"),
    "negative size": (f'<robot><link name="a">{SOLID}<collision><geometry><sphere radius="-1"/></geometry></collision></link></robot>',
                      "collision of link 'a': sphere with the size -1"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_one_line_names_the_place(tmp_path: Path, case: str) -> None:
    text, message = BROKEN[case]
    (tmp_path / "junk.stl").write_bytes(bytes(range(200)))
    (tmp_path / "bomb.dae").write_text('<!DOCTYPE c [<!ENTITY a "b">]><COLLADA>&a;</COLLADA>')
    path = tmp_path / "broken.urdf"
    path.write_text(text)
    with pytest.raises(ub.ModelError) as caught:
        load_urdf(path)
    said = str(caught.value)
    assert said.startswith(f"file '{path}'") and re.search(message, said) and "\n" not in said and ";" in said


@pytest.mark.parametrize("case", ["truncated", "unknown joint type", "missing mesh", "cycle", "negative mass", "bomb"])
def test_the_command_line_says_it_in_one_line_with_code_2(tmp_path: Path, case: str) -> None:
    text, message = BROKEN[case]
    path = tmp_path / "broken.urdf"
    path.write_text(text)
    result = CliRunner().invoke(app, ["info", str(path)])
    assert result.exit_code == 2
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and re.search(message, lines[0])
