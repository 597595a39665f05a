"""The documentation as people read it, from a folder: search finds words, tables fit, the reference has every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import unibody as ub

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed; pip install unibody[docs]")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


def test_search_works_from_a_folder(site: Path, page, shots, pixels) -> None:
    """Without a server a browser starts no worker and fetches no index: both come by scripts. A word finds its page, a click opens it."""
    page.goto((site / "howto" / "cables.html").as_uri())
    page.click("input.md-search__input")
    page.keyboard.type("Freudenstein")
    page.wait_for_selector(".md-search-result__link", state="attached")
    page.wait_for_timeout(500)  # of the panel that slides open
    found = [link.get_attribute("href") for link in page.locator(".md-search-result__link").all()]
    assert any("verification.html" in href for href in found), found
    pixels(page, shots / "site-search.png")
    page.locator(".md-search-result__link").first.click()
    page.wait_for_url(re.compile(r"verification\.html"))
    assert page.errors == []


def test_tables_of_capabilities_fit_the_page(site: Path, page, shots, pixels) -> None:
    page.goto((site / "capabilities.html").as_uri())
    page.wait_for_selector("table")
    pixels(page, shots / "site-capabilities.png")
    wider = page.evaluate(
        "[...document.querySelectorAll('article table')]"
        ".filter(t => t.offsetParent && t.scrollWidth > t.closest('article').clientWidth).length"
    )
    assert wider == 0


def test_the_reference_has_every_public_name(site: Path) -> None:
    text = "".join(p.read_text(encoding="utf-8") for p in (site / "api").glob("*.html"))
    missing = [n for n in ub.__all__ if isinstance(getattr(ub, n), type) and not re.search(rf'id="{n.lower()}(_\d+)?"', text)]
    assert missing == []
    assert 'id="builderjoint"' in text and 'id="recordingto_csv"' in text  # methods, too
