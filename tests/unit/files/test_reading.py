"""One door for all files: the ending and the root element choose the reader, words become its options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import unibody as ub
from unibody.cli.app import app
from unibody.files import load, save_json
from unibody.files.reading import root_element

URDF = (
    '<?xml version="1.0"?>\n<!-- <mujoco> -->\n<robot name="r"><link name="a"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1"/></inertial></link><gazebo/></robot>'
)
MJCF = '<mujoco model="m"><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
PYTHON = """
import unibody as ub


def build(n: int = 2):
    b = ub.Builder()
    for i in range(n):
        b.body(f"ball {i}", ub.Sphere(0.1), mass=1.0)
    return b.build()
"""


def test_every_ending_finds_its_reader(tmp_path: Path) -> None:
    pytest.importorskip("yourdfpy")
    for name, text in (("a.urdf", URDF), ("b.xml", URDF), ("c.py", PYTHON)):
        (tmp_path / name).write_text(text)
    assert load(tmp_path / "a.urdf").name == load(tmp_path / "b.xml").name == "r"
    assert load(tmp_path / "c.py", {"n": "3"}).model.nv == 18
    scene = ub.scenes.make("pendulum")
    save_json(scene, tmp_path / "d.json")
    assert load(tmp_path / "d.json").model.nv == scene.model.nv
    assert ub.load(tmp_path / "a.urdf", floating=True).model.nv == 6


def test_mjcf_by_its_root(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "m.xml").write_text(MJCF)
    assert load(tmp_path / "m.xml").model.nv == 6


@pytest.mark.parametrize("text, root", [
    (URDF, "robot"), (MJCF, "mujoco"), ("<!--\n<a>\n--><?x <b> ?>\n<c:d/>", "c:d"), ("", ""), ("no xml", ""),
])  # fmt: skip
def test_root_element(tmp_path: Path, text: str, root: str) -> None:
    (tmp_path / "x.xml").write_text(text)
    assert root_element(tmp_path / "x.xml") == root


def test_words_become_options(tmp_path: Path) -> None:
    pytest.importorskip("yourdfpy")
    path = tmp_path / "a.urdf"
    path.write_text(URDF)
    scene = load(path, {"floating": "true", "packages": f"{tmp_path},x={tmp_path}", "gravity": "0,0,-1.62", "massless": "none"})
    assert scene.model.nv == 6 and scene.model.gravity.tolist() == [0.0, 0.0, -1.62]
    for given, message in (({"floating": "maybe"}, "floating='maybe' is not bool"), ({"float": "1"}, "no parameter 'float'")):
        with pytest.raises(ub.ModelError, match=message):
            load(path, given)
    with pytest.raises(ub.ModelError, match="no reader for '.txt' files"):
        (tmp_path / "a.txt").write_text("")
        load(tmp_path / "a.txt")
    with pytest.raises(ub.ModelError, match="'none.urdf' does not exist"):
        load("none.urdf")


def test_info_prints_what_was_left_out(tmp_path: Path) -> None:
    pytest.importorskip("yourdfpy")
    path = tmp_path / "a.urdf"
    path.write_text(URDF)
    text = CliRunner().invoke(app, ["info", str(path), "-p", "floating=true"])
    assert text.exit_code == 0 and "left out\n  <gazebo> of 'robot'" in text.stdout
    data = json.loads(CliRunner().invoke(app, ["info", str(path), "--json"]).stdout)
    assert data["left_out"] == ["<gazebo> of 'robot': settings of another simulator"]
