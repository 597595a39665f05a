"""CONTRIBUTING has a section for every kind of addition, with an example that runs (test_pages.py) and the tests that judge it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KINDS = ("joint", "force", "constraint", "shape", "measure", "time rule", "solver", "algorithm in algebra", "file format", "scene")
WITHOUT_EXAMPLE = {"measure"}
"""Kinds that have no contract yet."""


def sections(root: Path) -> dict[str, str]:
    """The sections of `Add one more` by their kinds."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = text.split("\n## Add one more\n")[1].split("\n## ")[0]
    heads = re.split(r"^### An? (.+)$", part, flags=re.MULTILINE)[1:]
    return dict(zip(heads[::2], heads[1::2], strict=True))


def test_every_kind_of_addition_has_a_section(root: Path) -> None:
    assert tuple(sections(root)) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_section_has_an_example_and_says_how_it_is_tested(kind: str, root: Path) -> None:
    text = sections(root)[kind]
    assert ("```python" in text and "assert" in text) != (kind in WITHOUT_EXAMPLE)
    tests = re.findall(r"`(tests/[\w/.]+)`", text)
    assert kind in WITHOUT_EXAMPLE or tests
    assert [path for path in tests if not (root / path).exists()] == []
