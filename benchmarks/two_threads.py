"""Humanoids with contact, many at once on two threads: steps per second beside `mujoco.rollout`.

    python benchmarks/two_threads.py [--quick]

Gymnasium's humanoid (MJCF, limp), dt = 2 ms, from eight starts that differ in height and speed, each followed for the same simulated time:
it falls and comes to rest. Ours: compiled rollouts of solver `complementarity` in a pool of Python threads, which release Python's lock.
Theirs: `mujoco.rollout` with its own pool of as many threads (`Rollout(nthread=…)`), which is their fastest way: Newton with MuJoCo's
defaults, PGS, CG, elliptic cones, and contacts as hard as it takes; the fastest of them counts. Both keep every state. Contenders take
turns, and the least time of each counts. `scaling` is the clock's time on one thread over that on two. Where others use the processors,
the clock tells little: processor time per step, of all threads together, is told beside it. Goal: 2 × MuJoCo's fastest, and scaling 1.8.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from common import machine, table

import unibody as ub
from peers.robots import GYM, find

DT, RUNS = 2e-3, 8
HEIGHTS = np.linspace(0.0, 0.5, RUNS)
SPEEDS = np.linspace(-1.0, 1.0, RUNS)


class Ours:
    """Eight bound solvers; each begins again from its start."""

    def __init__(self, path: Any):
        self.runs = []
        for height, speed in zip(HEIGHTS, SPEEDS, strict=True):
            model = ub.load(path).model
            bound = ub.solvers.Complementarity().bind(model)
            state, _ = bound.start()
            root = model.joints[0]
            q, v = state.q.copy(), state.v.copy()
            q[root.q_start + 2] += height
            v[root.v_start + 3] += speed
            state = ub.State(0.0, q, v)
            self.runs.append((bound, *bound.start(state), model.neutral_control()))

    def run(self, steps: int, threads: int) -> np.ndarray:
        """Seconds by the clock and of processors."""
        with ThreadPoolExecutor(threads) as pool:
            began = clocks()
            done = list(pool.map(lambda run: run[0].rollout(*run[1:], DT, steps, 1, True)[3], self.runs))
            taken = clocks() - began
        assert done == [steps] * RUNS, done
        return taken


class MuJoCo:
    """The same starts by `mujoco.rollout`."""

    def __init__(self, path: Any, **options: Any):
        import mujoco

        self.mj, self.m = mujoco, mujoco.MjModel.from_xml_path(str(path))
        self.m.opt.timestep = DT
        if options.pop("hard", False):
            self.m.geom_solref[:, 0] = 2.0 * DT
        for name, value in options.items():
            setattr(self.m.opt, name, value)
        d = mujoco.MjData(self.m)
        self.starts = []
        for height, speed in zip(HEIGHTS, SPEEDS, strict=True):
            mujoco.mj_resetData(self.m, d)
            d.qpos[2] += height
            d.qvel[0] += speed
            full = np.empty(mujoco.mj_stateSize(self.m, mujoco.mjtState.mjSTATE_FULLPHYSICS))
            mujoco.mj_getState(self.m, d, full, mujoco.mjtState.mjSTATE_FULLPHYSICS)
            self.starts.append(full)

    def run(self, steps: int, threads: int) -> np.ndarray:
        from mujoco import rollout

        data = [self.mj.MjData(self.m) for _ in range(threads)]
        with rollout.Rollout(nthread=threads) as pool:
            began = clocks()
            pool.rollout(self.m, data, np.array(self.starts), nstep=steps, chunk_size=1)
            return clocks() - began


def clocks() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])


def main(arguments: list[str] | None = None) -> int:
    import mujoco

    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    steps, turns = (200, 2) if quick else (1500, 7)
    path = find(f"{GYM}/humanoid.xml")
    solvers, cones = mujoco.mjtSolver, mujoco.mjtCone
    contenders: dict[str, Any] = {
        "ours": Ours(path),
        "MuJoCo": MuJoCo(path),
        "MuJoCo hard": MuJoCo(path, hard=True),
        "MuJoCo PGS": MuJoCo(path, solver=solvers.mjSOL_PGS),
        "MuJoCo CG": MuJoCo(path, solver=solvers.mjSOL_CG),
        "MuJoCo elliptic": MuJoCo(path, cone=cones.mjCONE_ELLIPTIC),
    }
    times: dict[tuple[str, int], np.ndarray] = {}
    for _ in range(turns):
        for name, engine in contenders.items():
            for threads in (1, 2):
                taken = engine.run(steps, threads)
                times[name, threads] = np.minimum(taken, times.get((name, threads), np.inf))
    print(machine(), f"MuJoCo {mujoco.__version__}, {RUNS} humanoids, {steps} steps each")
    total = RUNS * steps
    rows = []
    for name in contenders:
        one, two = times[name, 1], times[name, 2]
        ratios = ["", ""] if name == "ours" else [f"{x:.2f} ×" for x in two / times["ours", 2]]
        rates = [f"{total / one[0]:.0f}", f"{total / two[0]:.0f}", f"{one[0] / two[0]:.2f}"]
        rows.append([name, *rates, ratios[0], *(f"{1e6 * x[1] / total:.1f}" for x in (one, two)), ratios[1]])
    clock = ["steps per second, one thread", "two threads", "scaling", "takes, two threads"]
    print(table(["engine", *clock, "processor µs a step, one thread", "two threads", "takes of processors"], rows))
    return int(not all(np.isfinite(x).all() for x in times.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
