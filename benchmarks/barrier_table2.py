"""Table 2 of paper 003 for its scenes of rigid bodies, and its n × n nunchakus: contacts, iterations per step, ms per iteration, by part.

    python benchmarks/barrier_table2.py [--quick] [--large] [--plot FILE.png]

Each scene in the paper's size and dt (--quick: smaller), over the whole of it: the windmill through its impact, the fall of the ragdolls
into a heap, so that many minutes go by. Free nodes are the four control points of each moving body; the slowest step is told in units of
the median. Times are processor time of this process, so that neighbours on a shared machine count little; each part's share is without
that of the parts it calls. The paper's own: an i9-10920X with an RTX 3090 for collision detection. Nunchakus: two sticks on a joint, n² of
them fall on the ground; the slope is that of log time per step over log bodies, with the memory per body (--large: n = 20 … 100, as in the
paper). --scene NAME: only that one.
"""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass, field

import numpy as np
from barrier_pile import PARTS, watched
from common import machine, plot, table

import unibody.scenes as scenes

GOAL_SLOPE = 1.05


@dataclass
class Case:
    """A scene with the paper's size, or a small one; steps before the stretch and in it; the paper's iterations per step and ms."""

    name: str
    full: dict[str, object]
    small: dict[str, object]
    first: int
    steps: int
    paper: tuple[float, float]
    dt: float = field(default=0.01)


CASES = (
    Case("windmill", {"levels": 6, "columns": 13}, {"levels": 2}, 1, 359, (14.3, 89.6), 1.0 / 240.0),
    Case("terrain-vehicle", {"cells": 260}, {}, 1, 95, (26.3, 39.4), 1.0 / 24.0),
    Case("unicycle", {"sides": 1900}, {}, 1, 719, (3.5, 16.0), 1.0 / 240.0),
    Case("ragdolls", {"n": 60, "friction": 0.2, "across": 3}, {"n": 4, "across": 1}, 1, 259, (43.1, 1072.9), 0.01),
)


def measure(case: Case, quick: bool) -> list[object]:
    model = scenes.build(case.name, **(case.small if quick else case.full))
    r = watched(model, case.dt, case.first, case.steps if not quick else max(5, case.steps // 6))
    total = max(1, r["iterations"].sum())
    each = 1e3 * r["seconds"] / total
    shares = [f"{100 * r['spent'][part] / r['seconds']:.0f}" for part in PARTS]
    count, most = r["contacts"].mean(), r["contacts"].max()
    paper_count, paper_ms = case.paper
    return [
        case.name, r["bodies"], 4 * r["bodies"], most, f"{count:.0f}", f"{r['iterations'].mean():.1f}", paper_count, f"{each:.1f}",
        paper_ms, f"{paper_ms / each:.2f}", f"{r['each'].max() / np.median(r['each']):.1f}", *shares,
    ]  # fmt: skip


def nunchakus(sizes: tuple[int, ...]) -> list[tuple[str, float, float]]:
    rows, drawn = [], []
    for n in sizes:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        r = watched(scenes.build("nunchakus", n=n), 0.01, 25, 10)
        step = r["seconds"] / 10
        rows.append([n, r["bodies"], r["contacts"].max(), f"{r['iterations'].mean():.1f}", f"{1e3 * step:.0f}"])
        rows[-1].append(f"{1e3 * r['seconds'] / max(1, r['iterations'].sum()):.1f}")
        rows[-1].append(f"{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / r['bodies']:.0f}")
        drawn.append(("per step", float(r["bodies"]), step))
    print(table(["n", "bodies", "contacts", "iterations per step", "ms per step", "ms per iteration", "KB per body"], rows))
    slope = np.polyfit(np.log([d[1] for d in drawn]), np.log([d[2] for d in drawn]), 1)[0]
    print(f"time per step grows as bodies^{slope:.2f} (goal ≤ {GOAL_SLOPE})")
    return drawn


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    quick, large = "--quick" in arguments, "--large" in arguments
    scene = arguments[arguments.index("--scene") + 1] if "--scene" in arguments else None
    if scene != "nunchakus":
        rows = [measure(case, quick) for case in CASES if scene in (None, case.name)]
        head = ["scene", "bodies", "free nodes", "most contacts", "mean", "its/step", "paper", "ms/it", "paper", "paper / ours"]
        head.append("slowest / median")
        print(table([*head, *(f"{part} %" for part in PARTS)], rows))
    if scene in (None, "nunchakus"):
        drawn = nunchakus((5, 7, 10) if quick else (20, 40, 60, 80, 100) if large else (10, 14, 20))
        print(plot(drawn, "Barrier: n × n nunchakus"))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
