"""No tracked file names a folder of somebody's machine or the address of a package registry."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# Spelled in pieces, so that this file is not a finding.
FOLDERS = ("wo" + "rk", "ro" + "ot", "ho" + r"me/\w+", "Use" + r"rs/\w+", "op" + "t")
REGISTRIES = ("py" + r"pi\.org", "python" + r"hosted\.org", "conda" + r"\.anaconda\.org", "--(?:extra-)?index" + "-url", "find-" + "links")
TRACE = re.compile(rf"(?<![\w.~$}}<>)*-])/(?:{'|'.join(FOLDERS)})/|{'|'.join(REGISTRIES)}")


def tracked_files(root: Path) -> list[Path]:
    result = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True)
    if result.returncode != 0:
        pytest.skip("not a git checkout: nothing says which files are ours")
    return [path for name in result.stdout.split("\0") if name and (path := root / name).is_file()]


def test_tracked_files_name_no_machine_and_no_registry(root: Path) -> None:
    found = []
    for path in tracked_files(root):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        name = path.relative_to(root)
        found += [f"{name}:{number}: {line.strip()[:120]}" for number, line in enumerate(lines, 1) if TRACE.search(line)]
    assert found == []


@pytest.mark.parametrize("line", ["see /wo" + "rk/a.md", "'/ro" + "ot/.cache'", "https://py" + "pi.org/simple", "--index" + "-url x"])
def test_pattern_catches(line: str) -> None:
    assert TRACE.search(line)


@pytest.mark.parametrize("line", ["energy: net wo" + "rk/time", "docs/wo" + "rk/x.md", "#!/usr/bin/env bash", "a ** 2 / root / 3"])
def test_pattern_lets_pass(line: str) -> None:
    assert not TRACE.search(line)
