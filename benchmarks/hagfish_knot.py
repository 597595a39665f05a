"""The whole knot of the scene "hagfish" under RedMax: is the body tied, how far do its limits and its skin hold, how long does a step take.

    python benchmarks/hagfish_knot.py [--quick] [--picture FILE]

The body's centres are led on at both ends and their determinant is taken: 1 is not tied, 3 is a trefoil. Gaps are those of the rows of
contact at every tenth step: below 0 the skin is pressed in. --quick takes fewer and longer steps.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import unibody as ub
from unibody import scenes
from unibody.spatial.pose import rotation_from_quaternion

DEEPEST = 1e-6
"""How far the skin may be pressed in [m]: closest points slide within a step, and rows know them only at its start."""


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    made = scenes.make("hagfish", duration=6.0 if "--quick" in given else 10.0)
    dt = 0.02 if "--quick" in given else made.dt
    skin = next(c for _, c in made.model.constraints if isinstance(c, ub.SplineContact))
    began = time.perf_counter()
    rec = ub.Simulation(made.model, ub.solvers.RedMax(), dt=dt).run(made.duration, every=10)
    seconds = time.perf_counter() - began
    poses = {p.body: rec.pose(p.body) for p in skin.points}
    print(f"{'t [s]':>7} {'determinant':>12} {'least gap [m]':>14} {'farthest from the muscles’ aim [rad]':>38}")
    tied, deepest = [], np.inf
    for row, t in enumerate(rec.t):
        at = [poses[p.body][row] for p in skin.points]
        centres = np.array([x[:3] + rotation_from_quaternion(x[3:]) @ p.p for x, p in zip(at, skin.points, strict=True)])
        gap = float(skin.closest(centres, 0.0 * centres, 0.0 * centres)[0].min())
        tied.append(made.exact.determinant(centres))
        deepest = min(deepest, gap)
        if row % max(1, len(rec) // 20) == 0 or row == len(rec) - 1:
            bends = np.array([rec.joint(f"joint{k}")[row] for k in range(1, 100, 2)])
            print(f"{t:7.2f} {tied[-1]:12d} {gap:14.3g} {np.abs(bends - made.exact.bends(t)).max():38.3g}")
    over = max(float(np.abs(rec.joint(f"joint{k}")).max()) - (0.8 if k % 2 else 0.5) for k in range(100))
    print(
        f"{rec.steps} steps of {dt:g} s, {1e3 * seconds / rec.steps:.0f} ms each; limits kept by {-over:.3g} rad; deepest {deepest:.3g} m"
    )
    if "--picture" in given:
        from unibody.view.pictures import draw_motion

        draw_motion(rec, given[given.index("--picture") + 1], frames=1)
    good = tied[0] == 1 and tied[-1] == 3 and deepest > -DEEPEST and over <= 1e-9
    print("tied" if good else "NOT as it should be")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
