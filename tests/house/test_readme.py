"""What the README tells people to do exists. Its Python runs with that of the other pages, in test_pages.py."""

from __future__ import annotations

import re
from pathlib import Path


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
