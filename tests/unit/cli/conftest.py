"""A runner of commands in a folder of its own, and small files to give them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from unibody.cli import app


@dataclass
class Answer:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def unibody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Run a command in an empty folder; an exception that escapes is an error of the test."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Answer:
        result = CliRunner().invoke(app, list(words))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run


EXPLODING = """
import unibody as ub

def build(*, stiffness: float = 1e9):
    b = ub.Builder(gravity=None)
    bob = b.body("bob", shape=ub.Sphere(0.1), mass=1.0)
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, bob, q=0.1, stiffness=stiffness)
    return ub.scenes.Scene(b.build(), 1.0, 1e-2)
"""


@pytest.fixture
def exploding(tmp_path: Path) -> Path:
    """A mass on a spring so stiff that dt √(k/m) = 316: an explicit rule multiplies the motion by 1e5 in every step."""
    path = tmp_path / "exploding_spring.py"
    path.write_text(EXPLODING)
    return path
