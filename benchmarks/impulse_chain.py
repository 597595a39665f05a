"""Impulse-based simulation of chains: all joints together by the tree, and one joint after the other, to the same tolerance.

    python benchmarks/impulse_chain.py [--quick] [--plot FILE.png]

Hinged chains stretched out level, let go; dt = 1 ms, joints closed to 1e-9 m and rad at the end of every step by both. Time per step in
compiled loops, least of some turns, and previews per step (after each, "local" sweeps ten times over all joints). The slope of log time
over log bodies is that of the larger half of the sizes; goal for the tree: at most 1.1.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from common import machine, plot, table

import unibody as ub

DT, TOLERANCE, GOAL = 1e-3, 1e-9, 1.1


def measured(n: int, method: str, steps: int, turns: int) -> tuple[float, float]:
    """Seconds and previews of a step."""
    import zoo

    bound = ub.solvers.Impulse(method=method, tolerance=TOLERANCE, iterations=10**6).bind(zoo.chain(n))
    state, memory = bound.start()
    control = bound.model.neutral_control()
    state, memory, _, _ = bound.rollout(state, memory, control, DT, steps, record=False)
    least, previews = np.inf, 0
    for _ in range(turns):
        began = time.perf_counter()
        after, kept, _, done = bound.rollout(state, memory, control, DT, steps, record=False)
        least = min(least, (time.perf_counter() - began) / steps)
        assert done == steps
        previews = bound.step(after, kept, control, DT).report.iterations
    return least, previews


def slope(sizes: list[int], seconds: list[float]) -> float:
    """Of the larger half."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(seconds[half:]), 1)[0])


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    sizes = {"tree": [10, 100, 1000, 3000], "local": [5, 10, 20]}
    if not quick:
        sizes = {"tree": [10, 30, 100, 300, 1000, 3000, 10_000], "local": [5, 10, 20, 40]}
    print(machine())
    rows, drawn, slopes = [], [], {}
    for method, chosen in sizes.items():
        taken = []
        for n in chosen:
            seconds, previews = measured(n, method, 20 if n <= 1000 and method == "tree" else 5, 3 if quick else 5)
            taken.append(seconds)
            rows.append([method, n, f"{1e6 * seconds:.1f}", f"{1e6 * seconds / n:.2f}", previews])
            drawn.append((method, float(n), seconds))
        slopes[method] = slope(chosen, taken)
    print(table(["method", "bodies", "µs a step", "µs a body", "previews"], rows))
    print(f"slope: tree {slopes['tree']:.2f} (goal ≤ {GOAL}), local {slopes['local']:.2f}")
    print(plot(drawn, "Impulse: chains, time per step"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
