"""RedMax with deformables: a step of the starfish, and how a step grows with the number of bones at constant flesh per bone.

    python benchmarks/redmax_flesh.py [--quick]

Starfish: 21 bodies, 20 hinges, rows that prescribe joints and points by Python functions, co-rotated flesh; processor time of a step in a
rollout, the least of several. Bones: a hanging chain of links on hinges, a sleeve of flesh around every joint (36 vertices, 60 tetrahedra),
each tied to the two links; per step, and the exponent between neighbouring sizes. One deformable around all bones would couple each bone
with every other: its cost grows with the square of their number, which is not measured here.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from common import machine, table, verdict

import unibody as ub

GOAL_MS, GOAL_EXPONENT = 2.0, 1.05
LINK = 0.1


def chain(bones: int) -> ub.Model:
    """Links of 10 cm along x on hinges about y, with a sleeve around every joint between two of them."""
    b = ub.Builder()
    flesh, mesh = ub.CoRotated(young=2e4, poisson=0.3, damping=2e-3), ub.TetMesh.box((0.06, 0.03, 0.03), cells=(3, 2, 2))
    parent = b.world
    for k in range(bones):
        bone = b.body(f"bone{k}", shape=ub.Box((0.09, 0.01, 0.01)), mass=0.05, X_WB=ub.Pose(((k + 0.5) * LINK, 0, 0)))
        at = ub.Pose((0.5 * LINK, 0, 0)) if k else ub.Pose()
        b.joint(f"hinge{k}", ub.Revolute(axis=(0, 1, 0)), parent, bone, X_PF=at, X_BM=ub.Pose((-0.5 * LINK, 0, 0)))
        if k:
            sleeve = b.soft(f"sleeve{k}", mesh, flesh, density=1000.0, X_WB=ub.Pose((k * LINK, 0, 0)))
            x = mesh.vertices
            b.attach(sleeve.vertices[x[:, 0] < -0.029], parent)
            b.attach(sleeve.vertices[x[:, 0] > 0.029], bone)
        parent = bone
    return b.build()


def step_time(model: ub.Model, dt: float, steps: int, turns: int) -> float:
    """Processor seconds of a step, the least of several stretches from the start."""
    bound = ub.solvers.RedMax().bind(model)
    state, memory = bound.start()
    control, taken = model.neutral_control(), []
    for _ in range(turns + 1):  # the first only warms up
        began = time.process_time()
        *_, done = bound.rollout(state, memory, control, dt, steps, steps + 1, False)
        taken.append((time.process_time() - began) / steps)
        assert done == steps, f"only {done} steps"
    return min(taken[1:])


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    star = ub.scenes.make("starfish")
    free, tets = len(star.model.free_vertices), len(star.model.deformable("flesh").mesh.tets)
    spent = 1e3 * step_time(star.model, star.dt, 20 if quick else 200, 2 if quick else 6)
    rows = [["starfish", f"{star.model.n_vertices} ({free} free)", tets, f"{spent:.2f}", verdict(GOAL_MS / spent, 1.0)]]
    print(table(["scene", "vertices", "tetrahedra", "ms per step", "goal 2 ms"], rows))
    rows, before = [], None
    for bones in (10, 30) if quick else (10, 100, 1000, 10_000):
        model = chain(bones)
        spent = step_time(model, 2e-3, 5 if quick else max(3, 2000 // bones), 2 if quick else 4)
        exponent = np.log(spent / before[1]) / np.log(bones / before[0]) if before else None
        rows.append([bones, f"{1e3 * spent:.3f}", f"{1e6 * spent / bones:.1f}", "" if exponent is None else f"{exponent:.3f}"])
        before = (bones, spent)
    print(table(["bones", "ms per step", "µs per bone", f"exponent (goal {GOAL_EXPONENT})"], rows))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
