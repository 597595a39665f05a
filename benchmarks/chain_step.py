"""A whole semi-implicit step of a chain of 100 hinges against MuJoCo's `mj_step` and PyBullet's `stepSimulation`, µs per step.

    python benchmarks/chain_step.py [--quick]

Ours is `Simulation.run`, recording every 1000th and every 10th state. MuJoCo steps inside its own loop (`nstep`), with its Euler rule
and without implicit damping; PyBullet is called once per step, there is no other way. Same dt, no contact, no geoms, no damping. One
process, by turns, each from the same start; making the models ready is not counted. Then how far apart the chains are after one second.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from common import Time, machine, table, verdict

import unibody as ub

GOAL_MUJOCO, GOAL_PYBULLET = 5.0, 8.0
LINKS, DT, STEPS = 100, 1e-3, 1000


def main(arguments: list[str] | None = None) -> int:
    import mujoco

    import zoo
    from peers.to_bullet import to_bullet
    from peers.to_mujoco import to_mujoco

    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    model = zoo.chain(LINKS)
    start, rest = 0.02 * np.random.default_rng(3).standard_normal(model.nq), np.zeros(model.nv)
    state = ub.State(0.0, start, rest)
    peer, bullet = to_mujoco(model, DT), to_bullet(model, DT)

    def ours(every: int) -> float:
        sim = ub.Simulation(model, "articulated", dt=DT, state=state)
        began = time.perf_counter()
        sim.run(STEPS * DT, every=every)
        return time.perf_counter() - began

    def mujoco_run() -> float:
        peer.set_state(start, rest)
        began = time.perf_counter()
        mujoco.mj_step(peer.model, peer.data, nstep=STEPS)
        return time.perf_counter() - began

    def bullet_run() -> float:
        bullet.set_state(start, rest)
        began = time.perf_counter()
        bullet.step(STEPS)
        return time.perf_counter() - began

    contenders = {"every 1000": lambda: ours(1000), "every 10": lambda: ours(10), "MuJoCo": mujoco_run, "PyBullet": bullet_run}
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for k in range(4 if quick else 21):
        for name, run in contenders.items():
            spent = run() / STEPS
            taken[name] += [spent] if k else []  # the first turn only warms up
    times = {name: Time(min(t), float(np.median(t))) for name, t in taken.items()}
    rows = []
    for name, spent in times.items():
        against = [""] * 2
        if name.startswith("every"):
            against = [verdict(times[p].least / spent.least, g) for p, g in (("MuJoCo", GOAL_MUJOCO), ("PyBullet", GOAL_PYBULLET))]
        rows.append([f"ours, recording {name}" if name.startswith("every") else name, spent, *against])
    print(table(["chain of 100", "µs per step", "MuJoCo / ours", "PyBullet / ours"], rows))
    end = ub.Simulation(model, "articulated", dt=DT, state=state).run(STEPS * DT, every=STEPS).q[-1]
    mujoco_run()
    bullet_run()
    apart = [np.abs(end - other).max() for other in (peer.data.qpos, bullet.q())]
    print(f"\nafter {STEPS * DT:g} s: {apart[0]:.1e} rad from MuJoCo, {apart[1]:.1e} rad from PyBullet. {machine()}")
    bullet.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
