"""What a sweep costs beside the simulations themselves, and what a second thread brings.

    python benchmarks/sweeps.py [--quick]

*Overhead*: runs that take no steps worth the name, by `ub.sweep(executor="threads", workers=1)` and by a loop over `Simulation.run`, by
turns; the difference of the least times, per run. *Scaling*: runs of half a second of processor time each, on one thread and on two.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from common import machine, table

import unibody as ub


def model(angle: float) -> ub.Model:
    b = ub.Builder()
    bob = b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), com=(0, 0, -1))
    b.joint("hinge", ub.Revolute(axis=(0, 1, 0)), b.world, bob, q=angle)
    return b.build()


def end(rec: ub.Recording) -> dict[str, float]:
    return {"end": float(rec.q[-1, 0])}


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    rounds, runs, steps = (2, 50, 20_000) if quick else (7, 300, 400_000)
    angles = [float(x) for x in np.linspace(0.1, 1.0, runs)]
    alone, swept = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        for angle in angles:
            end(ub.Simulation(model(angle)).run(0.002))
        alone.append((time.perf_counter() - began) / runs)
        began = time.perf_counter()
        ub.sweep(model, {"angle": angles}, duration=0.002, measure=end, workers=1)
        swept.append((time.perf_counter() - began) / runs)
    one, two = [], []
    for _ in range(rounds):
        for workers, times in ((1, one), (2, two)):
            began = time.perf_counter()
            ub.sweep(model, {"angle": angles[:8]}, duration=steps * 1e-3, every=steps, measure=end, workers=workers)
            times.append(time.perf_counter() - began)
    rows = [
        ["a run alone", f"{1e3 * min(alone):.2f} ms"],
        ["a run of a sweep", f"{1e3 * min(swept):.2f} ms"],
        ["overhead", f"{1e3 * (min(swept) - min(alone)):.2f} ms"],
        ["two threads, of one", f"{min(one) / min(two):.2f} ×"],
    ]
    print(machine())
    print(table(["what", "least"], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
