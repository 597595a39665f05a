"""Mutated files of all kinds: each is loaded or refused in one line; none ends a process, hangs it, or brings in numbers like NaN.

`UNIBODY_FUZZ` is the number of cases (default 3500), `UNIBODY_FUZZ_FIRST` the number of the first; `make fuzz` runs many.
A case is its number: `python tests/fuzz/worker.py FOLDER 17 18 keep` runs case 17 again and leaves its file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CASES, FIRST = int(os.environ.get("UNIBODY_FUZZ", "3500")), int(os.environ.get("UNIBODY_FUZZ_FIRST", "0"))
PROCESSES = 2
SILENCE = 600.0
"""Seconds for a process to do its share, per thousand cases, on a busy machine; a hang that no signal interrupts ends here."""
KINDS = (
    "scene", "deformables", "urdf", "loops", "sdf", "mjcf", "rigid-ipc", "polyfem", "mesh", "tetrahedra", "recording", "checkpoint",
)  # fmt: skip
"""As in `worker`."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="limits of memory and time are those of POSIX"),
]


def batch(folder: Path, first: int, last: int) -> list[str]:
    """The lines of cases first … last − 1; a process that dies is a failed case, and another goes on behind it."""
    lines: list[str] = []
    folder.mkdir()
    while first < last:
        command = [sys.executable, str(HERE / "worker.py"), str(folder), str(first), str(last)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SILENCE * (1.0 + (last - first) / 1000.0), check=False)
            said, how, code = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired as error:
            said, how, code = (error.stdout or b"").decode(), "", None
        lines += said.splitlines()
        if code == 0:
            break
        begun = [int(line.split()[1]) for line in said.splitlines() if line.startswith("begin")]
        assert begun, f"no case began: {how[-2000:]}"
        reason = "hung" if code is None else f"ended with {code}"
        lines.append(f"end {begun[-1]} FAILED: the process {reason}: {' '.join(how.split())[:500]!r}")
        first = begun[-1] + 1
    return lines


def ended(place: Path) -> dict[int, str]:
    """Verdict and words of every case."""
    share = -(-CASES // PROCESSES)
    parts = [(place / str(k), FIRST + k * share, min(FIRST + CASES, FIRST + (k + 1) * share)) for k in range(PROCESSES)]
    with ThreadPoolExecutor(PROCESSES) as pool:
        lines = [line for part in pool.map(lambda part: batch(*part), parts) for line in part]
    return {int(line.split()[1]): line.split(maxsplit=2)[2] for line in lines if line.startswith("end")}


def shallow(own: list[str]) -> str | None:
    """Why a suite with these verdicts of one kind would find little: all refused, all harmless, or refused for few reasons; or None."""
    verdicts = Counter(words.partition(":")[0] for words in own)
    through = verdicts["loaded"] + verdicts["ran"] + verdicts["failed in a step"]
    said = [json.loads(words.split(": ", 2)[2]) for words in own if words.startswith("refused")]
    reasons = {" ".join(re.findall(r"[a-z]{3,}", re.sub(r"""'[^']*'|"[^"]*"|\([^)]*\)""", "", line)))[-60:] for line in said}
    if through < 0.05 * len(own) or verdicts["refused"] < 0.1 * len(own) or len(reasons) < 10:
        return f"{dict(verdicts)}, {len(reasons)} reasons"
    return None


def test_files_are_loaded_or_refused_in_one_line(tmp_path: Path) -> None:
    """One test, since one run of all cases serves it."""
    for package in ("yourdfpy", "trimesh", "mujoco"):
        pytest.importorskip(package, reason=f"{package} is not installed; pip install unibody[import]")
    found = ended(tmp_path)
    assert sorted(found) == list(range(FIRST, FIRST + CASES))
    bad = [f"case {n} ({KINDS[n % len(KINDS)]}): {words}" for n, words in sorted(found.items()) if words.startswith("FAILED")]
    assert not bad, f"{len(bad)} of {CASES}:\n" + "\n".join(bad[:100])
    ran = sum(words.startswith("ran") for words in found.values())
    assert ran >= 0.02 * CASES, f"only {ran} of {CASES} ran"
    if CASES >= 3000:
        for k, kind in enumerate(KINDS):
            why = shallow([words for n, words in found.items() if n % len(KINDS) == k])
            assert why is None, f"{kind}: {why}"
