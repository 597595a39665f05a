"""A broken file of any kind ends every command with exit code 2 and one line that names it, never with a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unibody.cli.app import app

BROKEN = {
    "empty.json": b"",
    "half.json": b'{"unibody": {"scene": 1}, "bodies": [',
    "deep.json": b"[" * 100_000,
    "odd.json": b'{"unibody": {"scene": 1}, "name": "\\ud800", "bodies": [{"name": "a\\nb", "mass": NaN}]}',
    "bytes.json": bytes(range(128, 256)),
    "ipc.json": b'{"rigid_body_problem": {"rigid_bodies": [{"mesh": "none.obj"}]}}',
    "half.urdf": b"<robot><link name='a'>",
    "massless.urdf": b"<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='continuous'><parent link='a'/>"
    b"<child link='b'/></joint></robot>",
    "bomb.urdf": b'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><robot name="&b;"/>',
    "half.xml": b"<mujoco><worldbody>",
    "unknown.xml": b"<mujoco><worldbody><ghost/></worldbody></mujoco>",
    "mesh.urdf": b"<robot name='r'><link name='a'><visual><geometry><mesh filename='junk.stl'/></geometry></visual></link></robot>",
    "half.npz": b"PK\x03\x04 half an archive",
    "empty.npz": b"",
    "words.npz": b"t,q\n0,1\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in BROKEN.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "junk.stl").write_bytes(bytes(range(200)))
    return tmp_path


def commands(path: Path, out: Path) -> list[list[str]]:
    if path.suffix == ".npz":
        return [["plot", str(path), "--out", str(out / "a.png")], ["export", str(path), "--csv", str(out / "a.csv")], ["view", str(path)]]
    return [["info", str(path)], ["run", str(path)], ["check", str(path)], ["export", str(path), "--scene", str(out / "a.json")]]


@pytest.mark.parametrize("name", BROKEN)
def test_commands_end_with_two_and_one_line(folder: Path, name: str) -> None:
    if name.endswith((".urdf", ".xml")):
        pytest.importorskip("mujoco" if name.endswith(".xml") else "yourdfpy")
    for words in commands(folder / name, folder):
        said = CliRunner().invoke(app, words)
        assert said.exit_code == 2 and isinstance(said.exception, SystemExit), (words, said.exception)
        lines = said.stderr.splitlines()
        assert len(lines) == 1 and lines[0].startswith("unibody: ") and name in lines[0], (words, said.stderr)
        told = CliRunner().invoke(app, [*words, "--json"])
        assert told.exit_code == 2 and json.loads(told.stdout)["status"] == "bad input"


def test_the_process_itself_says_one_line(folder: Path) -> None:
    command = [sys.executable, "-m", "unibody.cli", "info", str(folder / "odd.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1, done.stderr


def test_names_that_no_terminal_shows_end_no_command(tmp_path: Path) -> None:
    """Half a character in a note and in a word that nobody knows."""
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"rigid_body_problem": {"rigid_bodies": [{"mesh": "t.obj", "\ud800\n": 1}]}}))
    for words in (["info", str(path)], ["info", str(path), "--json"]):
        said = CliRunner().invoke(app, words)
        assert said.exit_code == 0 and "'\\ud800\\n' is not known" in said.stdout.replace("\\\\", "\\")
