"""What `unibody verify` runs: the tests that compare with a number from outside, as the fixture `published` tells them, and the tests
that `docs/numbers.toml` names for a number of a page.
"""

from __future__ import annotations

import importlib.util
import re
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OVER = "beyond the time of --quick"


@dataclass
class Found:
    """What was compared, and what was not."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    """Subject, quantity, value, measured, error, tolerance, test, seconds."""
    passed: int = 0
    wrong: dict[str, str] = field(default_factory=dict)
    """Test → the last line of what it says."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Test → why."""
    seconds: float = 0.0

    @property
    def beyond(self) -> int:
        return sum(not e["error"] <= e["tolerance"] for e in self.entries)

    def reasons(self) -> dict[str, list[str]]:
        """Why → which tests did not run."""
        out: dict[str, list[str]] = {}
        for test, why in self.skipped.items():
            out.setdefault(why, []).append(test)
        return out

    def plain(self) -> dict[str, Any]:
        told = {"entries": self.entries, "passed": self.passed, "wrong": self.wrong, "not run": self.skipped}
        return told | {"beyond": self.beyond, "seconds": self.seconds}


def verify(root: Path, only: str | None, budget: float | None, tell: Callable[[str], Any] | None) -> Found:
    """Run the tests; with a budget [s], the cheapest first and none begun when it is spent."""
    import pytest

    words = [*_files(root), "--rootdir", str(root), "-c", str(root / "pyproject.toml"), "-p", "no:cacheprovider"]
    words += ["-o", "addopts=--import-mode=importlib", "-p", "no:terminal"]
    if only is not None:
        words += ["-k", only]
    found, began = Found(), time.perf_counter()
    pytest.main(words, plugins=[_Chosen(root, budget), _Told(found, tell)])
    found.seconds = time.perf_counter() - began
    return found


def _files(root: Path) -> list[str]:
    """Files of tests that can have such a test; to read all others takes longer than many of these run."""
    names = "|".join(["published", *(re.escape(entry["test"]) for entry in claims(root) if "test" in entry)])
    word = re.compile(rf"\b({names})\b")
    return [str(p) for p in sorted((root / "tests").rglob("test_*.py")) if word.search(p.read_text(encoding="utf-8"))]


def claims(root: Path) -> list[dict[str, Any]]:
    """Entries of docs/numbers.toml: numbers of pages and what makes them again."""
    return list(tomllib.loads((root / "docs" / "numbers.toml").read_text(encoding="utf-8"))["number"])


def write_page(root: Path, found: Found, place: Path) -> None:
    """The page of verification, by the checkout's tools/make_dossier.py."""
    spec = importlib.util.spec_from_file_location("make_dossier", root / "tools" / "make_dossier.py")
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    entries = sorted(found.entries, key=lambda e: (e["test"], e["subject"], e["quantity"]))
    place.write_text(maker.page(entries), encoding="utf-8")


def name_of(nodeid: str) -> str:
    """The function of a test, without file and parameters.

    >>> name_of("tests/verification/test_x.py::test_y[a-b]")
    'test_y'
    """
    return re.sub(r"\[.*$", "", nodeid, flags=re.DOTALL).split("::")[-1]


class _Chosen:
    """Leaves out tests that compare with no number from outside; within a budget, cheap ones come first."""

    def __init__(self, root: Path, budget: float | None):
        self._named = {entry["test"] for entry in claims(root) if "test" in entry}
        self._seconds = _known_seconds(root) if budget is not None else {}
        self._until = None if budget is None else time.perf_counter() + budget

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        kept = [item for item in items if "published" in getattr(item, "fixturenames", ()) or name_of(item.nodeid) in self._named]
        if self._until is not None:  # those of unknown cost after those of known, slow ones last
            kept.sort(key=lambda item: (item.get_closest_marker("slow") is not None, self._seconds.get(name_of(item.nodeid), 1e3)))
        items[:] = kept

    def pytest_runtest_setup(self, item: Any) -> None:
        import pytest

        if self._until is not None and time.perf_counter() > self._until:
            pytest.skip(OVER)


class _Told:
    """Says each number as soon as its test has run."""

    def __init__(self, found: Found, tell: Callable[[str], Any] | None):
        self._found, self._tell, self._subject = found, tell or (lambda line: None), ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        entries = [e for kind, e in report.user_properties if kind == "published"] if report.when == "call" else []
        for entry in entries:
            self._found.entries.append({**entry, "seconds": report.duration})
            self._say(entry)
        if entries:
            self._tell(f"       unibody verify -k {name_of(report.nodeid)}: {report.duration:.1f} s")
        if report.failed:
            last = next((line for line in reversed(str(report.longrepr).splitlines()) if line.strip()), "failed")
            crash = getattr(getattr(report.longrepr, "reprcrash", None), "message", last)
            self._found.wrong[report.nodeid] = str(crash).strip().splitlines()[0]
        elif report.skipped:
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._found.skipped[report.nodeid] = why.removeprefix("Skipped: ")
        elif report.when == "call":
            self._found.passed += 1
            if not entries:
                self._tell(f"ok     within what it allows\n       unibody verify -k {name_of(report.nodeid)}: {report.duration:.1f} s")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._found.wrong[report.nodeid] = str(report.longrepr).strip().splitlines()[-1]

    def _say(self, e: dict[str, Any]) -> None:
        if e["subject"] != self._subject:
            self._subject = e["subject"]
            self._tell(f"\n{self._subject}")
        good = "ok   " if e["error"] <= e["tolerance"] else "WRONG"
        unit = f" [{e['unit']}]" if e["unit"] else ""
        self._tell(
            f"{good}  {e['quantity']}{unit}: {_values(e['measured'], e['count'])}, reference {_values(e['value'], e['count'])}, "
            f"off {e['error']:.1e} of {e['tolerance']:.1e} allowed"
        )


def _values(values: list[float], count: int) -> str:
    shown = ", ".join(f"{x:.7g}" for x in values[:3])
    return shown if count <= 3 else f"{shown}, … ({count})"


def _known_seconds(root: Path) -> dict[str, float]:
    """Test → seconds that it took when the page was made."""
    out: dict[str, float] = {}
    page = root / "docs" / "verification.md"
    for line in page.read_text(encoding="utf-8").splitlines() if page.is_file() else []:
        row = re.search(r"\| ([\d.]+) \| `(test_\w+)` \|$", line)
        if row is not None:
            out[row[2]] = max(out.get(row[2], 0.0), float(row[1]))
    return out
