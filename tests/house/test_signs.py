"""Every room has a sign at its door, short enough to be read, and the map shows them all."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "unibody"
PACKAGES = sorted(p.parent.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("__init__.py"))
LONGEST_SIGN = 12
NAMES_OF_NOTHING = {"utils", "core", "common", "helpers", "manager"}


@pytest.mark.parametrize("package", PACKAGES)
def test_package_opens_with_a_sign_of_at_most_a_dozen_lines(package: str) -> None:
    sign = ast.get_docstring(ast.parse((PACKAGE / package / "__init__.py").read_text(encoding="utf-8")))
    assert sign, f"{package}/__init__.py has no docstring: say what lives here, what it may import and write, how to add one more"
    assert len(sign.splitlines()) <= LONGEST_SIGN


def test_folders_with_code_are_packages() -> None:
    folders = {p.parent for p in PACKAGE.rglob("*.py")}
    assert [str(f.relative_to(PACKAGE)) for f in sorted(folders) if not (f / "__init__.py").exists()] == []


def test_rooms_have_names_that_mean_something() -> None:
    names = {part for p in PACKAGE.rglob("*.py") for part in p.relative_to(PACKAGE).with_suffix("").parts}
    assert names & NAMES_OF_NOTHING == set()


def test_map_is_up_to_date(root: Path) -> None:
    result = subprocess.run([sys.executable, str(root / "tools" / "make_map.py"), "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
