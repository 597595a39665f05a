"""What the README tells people to do works, and so do the examples of the conventions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def targets(root: Path) -> set[str]:
    return set(re.findall(r"^([a-z][\w-]*):", (root / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


def shell_lines(text: str) -> list[str]:
    """Lines of shell blocks and `code spans`, prompts removed."""
    blocks = re.findall(r"^```(?:sh|bash|shell|console)?\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()] + spans


def test_readme_says_how_to_see_and_how_to_test(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text and "make test" in text


def test_commands_of_the_readme_exist(root: Path) -> None:
    lines = shell_lines((root / "README.md").read_text(encoding="utf-8"))
    words = [word for line in lines if line.startswith("make ") for word in line.split("#")[0].split()[1:]]
    made = {word for word in words if re.fullmatch(r"[a-z][\w-]*", word)}
    assert made - targets(root) == set()
    assert {"demo", "test"} <= targets(root)


def python_with_the_lines_of(text: str) -> str:
    """The python blocks of a page, each at its own line number, everything else blank: tracebacks name the page's lines."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside and line.removeprefix("```").split()[:1] == ["python"]
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", ["README.md", "docs/conventions.md"])
def test_python_blocks_run(page: str, root: Path, tmp_path: Path) -> None:
    """In order, in one process: a block may use what the blocks above it made."""
    source = python_with_the_lines_of((root / page).read_text(encoding="utf-8"))
    assert source.strip(), f"{page} shows no Python"
    script = tmp_path / Path(page).with_suffix(".py").name
    script.write_text(source, encoding="utf-8")
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    result = subprocess.run([sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, f"{page}:\n{result.stderr}"
