"""Every number of the pages can be measured again: the benchmarks that they name exist and start as `unibody bench` starts them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(p for p in (ROOT / "benchmarks").glob("*.py") if "\ndef main(" in p.read_text(encoding="utf-8"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_main_can_be_called_without_arguments(file: Path) -> None:
    """`unibody bench` calls `main()` and gives arguments by `sys.argv`."""
    (main,) = [n for n in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(n, ast.FunctionDef) and n.name == "main"]
    given = main.args
    assert len(given.defaults) == len(given.posonlyargs) + len(given.args)
    assert None not in given.kw_defaults


def test_benchmarks_named_on_pages_exist() -> None:
    text = {page: page.read_text(encoding="utf-8") for page in PAGES}
    named = {(page.name, name) for page in PAGES for name in re.findall(r"unibody bench ([a-z]\w*)", text[page])}
    named |= {(page.name, name) for page in PAGES for name in re.findall(r"benchmarks/(\w+)\.py", text[page])}
    assert len(named) > 5  # the pattern still finds them
    assert {(page, name) for page, name in named if name not in {f.stem for f in FILES}} == set()
