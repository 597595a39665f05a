"""Every code block of the README and the documentation runs: Python in order in one process per page, console lines one by one.

A console line `$ unibody …` runs in a folder that holds the files of docs/files, after the lines above it on the page.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str) -> list[tuple[str, int, list[str]]]:
    """Language, line number of the first line, and lines of every fenced block."""
    out: list[tuple[str, int, list[str]]] = []
    language: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            if language is None:
                language = line.removeprefix("```").strip() or "text"
                out.append((language, number + 1, []))
            else:
                language = None
        elif language is not None:
            out[-1][2].append(line)
    return out


def python_of(page: Path) -> str:
    """The python blocks of a page, each at its own line number, everything else blank: tracebacks name the page's lines."""
    lines = [""] * len(page.read_text(encoding="utf-8").splitlines())
    for language, first, block in blocks(page.read_text(encoding="utf-8")):
        if language.split()[0] == "python":
            lines[first - 1 : first - 1 + len(block)] = block
    return "\n".join(lines) + "\n"


def console_of(page: Path) -> list[str]:
    return [
        line.removeprefix("$ ") for language, _, block in blocks(page.read_text(encoding="utf-8")) if language == "console"
        for line in block if line.startswith("$ ")
    ]  # fmt: skip


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the files that pages speak of."""
    for file in (ROOT / "docs" / "files").iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("page", [p for p in PAGES if python_of(p).strip()], ids=name)
def test_python_of_the_page_runs(page: Path, desk: Path) -> None:
    script = desk / f"{page.stem.replace('-', '_')}_page.py"
    script.write_text(python_of(page), encoding="utf-8")
    result = run([str(script)], desk)
    assert result.returncode == 0, f"{name(page)}:\n{result.stderr}"


@pytest.mark.parametrize("page", [p for p in PAGES if console_of(p)], ids=name)
def test_commands_of_the_page_run(page: Path, desk: Path) -> None:
    for line in console_of(page):
        program, *arguments = shlex.split(line, comments=True)
        assert program == "unibody", f"{name(page)}: '{line}' is not a command of unibody; show others in a block of sh"
        result = run(["-m", "unibody.cli", *arguments], desk)
        assert result.returncode == 0, f"{name(page)}: {line}\n{result.stdout}\n{result.stderr}"


def test_pages_mark_what_runs() -> None:
    """A block of Python is python, not py or Python; so that none escapes."""
    odd = [(name(p), language) for p in PAGES for language, _, _ in blocks(p.read_text(encoding="utf-8")) if language.split()[0] not in
           ("python", "console", "sh", "text", "json", "xml", "toml", "yaml")]  # fmt: skip
    assert odd == []
