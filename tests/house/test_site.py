"""The documentation builds as a site: every page, no broken link, formulas drawn, search, and nothing fetched from elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed; pip install unibody[docs]")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    pages = [p.relative_to(ROOT / "docs") for p in (ROOT / "docs").rglob("*.md")]
    missing = [str(p) for p in pages if not (site / p.with_suffix(".html")).exists() and not (site / p.parent / "index.html").exists()]
    assert missing == []


def test_search_finds_words_of_the_pages(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    for word, page in (("Freudenstein", "verification.html"), ("tension", "howto/cables.html")):
        found = {d["location"].split("#")[0] for d in index["docs"] if word in d["text"] or word in d["title"]}
        assert page in found


def test_formulas_are_mathml(site: Path) -> None:
    text = (site / "solvers" / "redmax.html").read_text(encoding="utf-8")
    assert text.count("<math") >= 4 and "arithmatex" not in text


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r'<(?:script|img|iframe)[^>]+src="https?://', text) == [], page
        assert re.findall(r'<link[^>]+rel="(?:stylesheet|preconnect)"[^>]+href="https?://', text) == [], page
