"""What a shell is offered after TAB, asked for the way the installed completion asks."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

import unibody as ub
from unibody.cli import app
from unibody.solvers import REGISTRY


def offers(line: str) -> list[str]:
    """The words that zsh would be offered at the end of the line."""
    asked = {"_UNIBODY_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    result = CliRunner().invoke(app, [], env=asked, prog_name="unibody")
    assert result.exit_code == 0
    found = re.findall(r'"((?:[^"\\]|\\.)*)":"', result.output)
    return [word.replace("\\\\:", ":") for word in found]


def test_scenes_and_files(tmp_path, monkeypatch):
    (tmp_path / "mine.py").touch()
    (tmp_path / "notes.txt").touch()
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "arm.urdf").touch()
    monkeypatch.chdir(tmp_path)
    everything = offers("unibody run ")
    assert {*ub.scenes.names(), "mine.py", "robots/"} == set(everything)
    assert offers("unibody info pend") == ["pendulum"]
    assert offers("unibody check robots/") == ["robots/arm.urdf"]


@pytest.mark.parametrize("flag", ["-s", "--solver"])
def test_solvers_and_their_options(flag):
    assert set(offers(f"unibody run pendulum {flag} ")) == {"auto", *REGISTRY}
    assert offers(f"unibody run pendulum {flag} art") == ["articulated"]
    assert offers(f"unibody run pendulum {flag} articulated:ru") == ["articulated:rule="]
    assert offers(f"unibody check pendulum {flag} articulated:rule=r") == ["articulated:rule=rk4"]


def test_lists_of_solvers_complete_the_last():
    assert offers("unibody compare pendulum -s articulated,lag") == ["articulated,lagrange"]


def test_parameters_of_the_scene_that_is_named():
    assert set(offers("unibody run pendulum -p ")) == {f"{p.name}=" for p in ub.scenes.get("pendulum").parameters}
    assert offers("unibody run pendulum --param kind=r") == ["kind=rod"]
    assert offers("unibody run no-such-scene -p ") == []


def test_options_of_the_solver_that_is_named():
    assert "method=" in offers("unibody run pendulum -s lagrange -o ")
    assert offers("unibody run pendulum -s lagrange -o method=d") == ["method=dense"]


def test_commands_themselves():
    assert offers("unibody che") == ["check"]
