"""What two files of `recorded_numbers.py` do not have in common, and how much it is.

A difference of a quantity is the largest of its numbers' differences over the largest number in it, at least FLOOR.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from recorded_files import Entry, like, of_text, read

FLOOR = 1e-3
"""The least number [SI] that differences are measured by."""
PATH_ONLY = ("iterations", "residual")
"""What tells of the way to a solution."""


def apart(a: Any, b: Any) -> float:
    """How far two numbers or lists of them are apart, relative to the largest; infinite if they are not of the same kind.

    >>> apart([1.0, 4.0], [1.5, 4.0]), apart([0.0], [1e-9]), apart("ok", "ok"), apart([1.0], [1.0, 2.0])
    (0.125, 1e-06, 0.0, inf)
    """
    if a == b:
        return 0.0
    if isinstance(a, dict) and isinstance(b, dict):  # of very many numbers
        return max(apart(a["sums"][k], b["sums"][k]) for k in (0, 1)) if a["shape"] == b["shape"] else math.inf
    try:
        x, y = np.asarray(a, float), np.asarray(b, float)
    except (TypeError, ValueError):  # words, or lists of other lengths
        return math.inf
    if x.shape != y.shape:
        return math.inf
    moved = ~((x == y) | (np.isnan(x) & np.isnan(y)))
    if not np.isfinite(x[moved]).all() or not np.isfinite(y[moved]).all():
        return math.inf
    scale = max(np.abs(z[np.isfinite(z)]).max(initial=FLOOR) for z in (x, y))
    return float(np.abs(x[moved] - y[moved]).max(initial=0.0) / scale)


@dataclasses.dataclass(frozen=True)
class Difference:
    """Of one quantity of a pair."""

    name: str
    size: float
    judged: bool = True
    """Whether `--within` looks at its size."""
    where: str = ""

    def __str__(self) -> str:
        words = "otherwise" if self.size == math.inf else f"{self.size:.1e}" if self.size > 0.0 else "bits only"
        return f"{self.name} {words}{self.where}"


def differences(a: Entry, b: Entry, without: list[str]) -> list[Difference]:
    """What two records of a pair do not have in common."""
    out = [Difference(key, math.inf) for key in ("outcome", "message", "dt", "steps", "rolled") if a.get(key) != b.get(key)]
    for name in a["step digests"]:
        ours, theirs = a["step digests"][name], b["step digests"][name]
        if ours != theirs:
            first = next((k for k, (x, y) in enumerate(zip(ours, theirs)) if x != y), min(len(ours), len(theirs)))
            size = max(apart(a["norms"][name], b["norms"][name]), apart(a["numbers"].get(name), b["numbers"].get(name)))
            out.append(Difference(name, size, where=f" from step {first} on" if first else " from the start on"))
    for where in sorted({*a["digests"], *b["digests"]}):
        if a["digests"].get(where) == b["digests"].get(where):
            continue
        for key in sorted(key for key in {*a["numbers"], *b["numbers"]} if key.startswith(f"{where}.")):
            ours, theirs = a["numbers"].get(key), b["numbers"].get(key)
            if of_text(ours) != of_text(theirs):
                out.append(Difference(key, apart(ours, theirs), key.split(".")[-1] not in PATH_ONLY))
    for key in sorted({name for report in (*a["reports"], *b["reports"]) for name in report}):
        ours, theirs = ([report.get(key) for report in entry["reports"]] for entry in (a, b))
        if of_text(ours) != of_text(theirs):
            out.append(Difference(f"report.{key}", apart(ours, theirs), key not in PATH_ONLY))
    return [d for d in out if not any(fnmatch.fnmatchcase(d.name, pattern) for pattern in without)]


def compare(one: Path, other: Path, within: float | None, without: list[str], only: str | None = None) -> int:
    """Tell what is the same and what is not; 1 if something differs that may not."""
    for path in (one, other):
        if not path.exists():
            print(f"recorded_numbers: there is no file {path}", file=sys.stderr)
            return 2
    (a_header, a), (b_header, b) = read(one), read(other)
    for key in ("commit", "versions", "scenes", "processor", "system"):  # scenes: recorded by another version of these tools
        if a_header.get(key) != b_header.get(key):
            print(f"{key}: {a_header.get(key)} and {b_header.get(key)}")
    a, b = ({pair: pairs[pair] for pair in like(pairs, only)} for pairs in (a, b))
    same: dict[str, list[str]] = {}
    near, beyond = [], [f"{pair}: only in {one if pair in a else other}" for pair in {**a, **b} if pair not in a or pair not in b]
    for pair in (pair for pair in a if pair in b):
        found = differences(a[pair], b[pair], without)
        if not found:
            scene, solver = pair.split(" | ")
            same.setdefault(scene, []).append(solver)
            continue
        line = f"{pair}: {'; '.join(map(str, found))}"
        (near if within is not None and all(d.size <= within or not d.judged for d in found) else beyond).append(line)
    count = sum(map(len, same.values()))
    for title, lines in (
        (f"{count} pairs are the same bit for bit", [f"{scene}: {', '.join(solvers)}" for scene, solvers in same.items()]),
        (f"{len(near)} pairs differ, within {within}", near),
        (f"{len(beyond)} pairs differ" + (f" by more than {within}" if within is not None else ""), beyond),
    ):
        if lines:
            print(f"== {title}", *lines, sep="\n  ")
    words = f"{count} the same, {len(near)} within, {len(beyond)} beyond" if within is not None else f"{count} the same, {len(beyond)} not"
    print(f"recorded_numbers: {words}, of {len({**a, **b})} pairs")
    return 1 if beyond or not (a or b) else 0
