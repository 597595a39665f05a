"""What benchmarks share: interleaved timing, tables, and the folder of tests with its zoo of models and peers.

On a shared machine only ratios from one run mean anything, so contenders take turns: A B C A B C …, each turn a block of a few
milliseconds or less: the busier the machine, the more and the shorter. The minimum over the turns is the least disturbed, the median
says how disturbed the others were.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1] / "tests"
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))


@dataclass(frozen=True)
class Time:
    """Seconds per call."""

    least: float
    median: float

    def __str__(self) -> str:
        return f"{1e6 * self.least:.2f} ({1e6 * self.median:.2f})"


def interleaved(contenders: dict[str, Callable[[int], None]], rounds: int = 15, block: float = 4e-3) -> dict[str, Time]:
    """Time contenders by turns. Each is called with a number of repetitions, to be done in its own tightest loop."""
    counts = {}
    for name, run in contenders.items():
        run(1)
        count, spent = 1, 0.0
        while spent < 0.25 * block:
            began = time.perf_counter()
            run(count)
            spent = time.perf_counter() - began
            count = count if spent >= 0.25 * block else 2 * count
        counts[name] = max(1, round(count * block / spent))
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            began = time.perf_counter()
            run(counts[name])
            taken[name].append((time.perf_counter() - began) / counts[name])
    return {name: Time(min(t), float(np.median(t))) for name, t in taken.items()}


def repeated(function: Callable[[], object]) -> Callable[[int], None]:
    """A function called from Python as often as asked."""

    def run(times: int) -> None:
        for _ in range(times):
            function()

    return run


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of equal width, numbers to the right."""
    cells = [list(map(str, head)), *(list(map(str, row)) for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    lines = ["  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))) for row in cells]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(lines)


def verdict(ratio: float, goal: float) -> str:
    """A ratio and whether it meets its goal."""
    return f"{ratio:.1f}× {'✓' if ratio >= goal else f'< {goal:g}'}"


def machine() -> str:
    """Where the numbers come from."""
    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    for module in ("numba", "pinocchio", "mujoco"):
        loaded = sys.modules.get(module)
        if loaded is not None:
            versions.append(f"{module} {loaded.__version__}")
    return f"{platform.machine()}, {os.cpu_count()} cores; {', '.join(versions)}"


def plot(rows: Sequence[tuple[str, float, float]], title: str, fit_from: float = 0.0, size_label: str = "bodies") -> str:
    """A log–log plot of (label, size, seconds) with fitted slopes in the file after `--plot`; says where it is, or how to get one.

    A benchmark whose times grow with a size calls this once; by that `unibody bench NAME --plot FILE` knows that it can be drawn.
    """
    if "--plot" not in sys.argv:
        return "--plot FILE.png draws it"
    from unibody.view import draw_scaling

    name = sys.argv[sys.argv.index("--plot") + 1]
    return str(draw_scaling(rows, name, title=title, fit_from=fit_from, size_label=size_label))
