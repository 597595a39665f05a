"""Files of `recorded_numbers.py`: a header, then one line of JSON per pair.

A pair that was begun leaves a line too, so that one that kills its process is known. A line without an end was cut off, and is not read.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parent
VERSIONS = ("numpy", "scipy", "numba", "llvmlite", "piqp")

Entry = dict[str, Any]


def of_text(value: Any) -> str:
    """SHA-256 of what `plain` gives: JSON writes numbers so that every bit comes back."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def sources_of(checkout: Path) -> str:
    """SHA-256 of all sources of the package, in the order of their paths."""
    return of_files(checkout, (checkout / "src" / "unibody").rglob("*.py"))


def of_files(folder: Path, paths: Iterable[Path]) -> str:
    """SHA-256 of files with their names below a folder."""
    out = hashlib.sha256()
    for path in sorted(paths):
        out.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return out.hexdigest()


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def header_of(checkout: Path) -> Entry:
    """Where numbers come from."""
    from importlib.metadata import PackageNotFoundError, version

    def told(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "none"

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(checkout), *words], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    versions = {"python": platform.python_version(), **{name: told(name) for name in VERSIONS}}
    changed = bool(git("status", "--porcelain", "--", "src"))
    return {
        "commit": git("rev-parse", "HEAD") + (" and changes" if changed else ""), "sources": sources_of(checkout), "versions": versions,
        "scenes": of_files(TOOLS, TOOLS.glob("recorded_*.py")), "processor": processor(), "system": platform.platform(),
    }  # fmt: skip


def lines_of(path: Path) -> Iterator[Entry]:
    """The lines of a file, without one that was not finished."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                yield json.loads(line)


def read(path: Path) -> tuple[Entry, dict[str, Entry]]:
    """The header and the pairs of a file."""
    header: Entry = {}
    pairs: dict[str, Entry] = {}
    for line in lines_of(path):
        if "header" in line:
            header = line["header"]
        elif "pair" in line:
            pairs[line["pair"]] = line
    return header, pairs


def append(path: Path, entry: Entry) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def like(pairs: Iterable[str], pattern: str | None) -> list[str]:
    """The pairs that are like a pattern, or have it as a part.

    >>> like(["arch | barrier", "stack | impulse"], "arch"), like(["arch | barrier", "stack | impulse"], "*impulse")
    (['arch | barrier'], ['stack | impulse'])
    """
    whole = pattern if pattern is None or set(pattern) & set("*?[") else f"*{pattern}*"
    return [pair for pair in pairs if whole is None or fnmatch.fnmatchcase(pair, whole)]
