"""A stack of boxes at rest over 10⁵ steps: how far it has moved, how fast it still is, and what its lowest contacts carry.

    python benchmarks/standing_stack.py [--quick]        # --quick: 2000 steps
"""

from __future__ import annotations

import sys
import time

import numpy as np
from common import machine, table

import unibody as ub

BOXES, DT, PARTS = 5, 1e-2, 10


def main() -> None:
    steps = 2_000 if "--quick" in sys.argv else 100_000
    scene = ub.scenes.make("stack", n=BOXES)
    sim = ub.Simulation(scene.model, "complementarity", dt=DT)
    sim.step()
    first, ground, rows = sim.observe().poses.copy(), scene.model.body("ground"), []
    for part in range(1, PARTS + 1):
        began = time.perf_counter()
        recording = sim.run(steps // PARTS * DT, every=steps // PARTS, progress=False)
        spent = 1e3 * (time.perf_counter() - began) / (steps // PARTS)
        seen = recording.observe(len(recording) - 1)
        moved, speed = np.abs(seen.poses - first).max(), np.abs(recording.v[-1]).max()
        load = -recording.contacts[-1].on(ground)[2] / scene.exact.force(0) - 1.0
        rows.append((part * steps // PARTS, f"{moved:.1e}", f"{speed:.1e}", f"{load:.0e}", f"{spent:.2f}"))
    print(f"{BOXES} boxes of 0.2 m and 4 kg, dt = {DT:g} s")
    print(table(("steps", "moved [m]", "speed [m/s]", "load / weight - 1", "ms a step"), rows))
    print(machine())


if __name__ == "__main__":
    main()
