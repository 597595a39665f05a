"""Friction in joints: bilateral staggered projections in reduced coordinates beside staggered projections in maximal ones, on one chain.

    python benchmarks/joint_friction.py [--quick]

The chain of paper 000, Fig. 5: hinges at 45°, eight contact points a pin, h = 0.01 s, both to the same tolerance and from the last step's
friction. The maximal formulation (Alg. 2, with multipliers of either sign) solves two dense problems over all contact points; its time is
that of the projections alone, without the bodies' motion. That of the reduced one is a whole step, called from Python (`sim.step()`) or in
a run. Both solve for friction in the same compiled code; the rest of the maximal one is NumPy. CPU time on one thread, least of the steps;
the velocities of the last step are compared. The paper does not say how many links its chain has; scene `friction-chain` has five. Then
the walking machine of scene `klann`, on its floor (Complementarity) and with its frame held (RedMax), which runs in real time if a step
costs less than its 10 ms, and what its drives take.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

import numpy as np
from common import TESTS, machine, table

import unibody as ub
from unibody.contact.joint_friction_variables import TOLERANCE

H, GOAL, MOST = 0.01, 10.0, 3000

ALONE, SECONDS = "OPENBLAS_NUM_THREADS", 10.0
"""What keeps NumPy on one thread, from before it is loaded; and seconds after which a chain's maximal formulation takes no more steps."""

sys.path.insert(0, str(TESTS / "verification"))


def reduced(case: dict, steps: int) -> tuple[float, float, float, np.ndarray]:
    """Seconds of a step, seconds of one in a run, iterations of a step, and the last velocities."""
    from paper_friction import rubbed

    sim = ub.Simulation(rubbed(case).build(), ub.solvers.RedMax(inertia="explicit"), dt=H)
    seconds, iterations = [], []
    sim.step()
    sim.reset()
    for _ in range(steps):
        began = time.process_time()
        iterations.append(sim.step().iterations)
        seconds.append(time.process_time() - began)
    v, runs = sim.state.v, []
    for _ in range(5):
        sim.reset()
        began = time.process_time()
        sim.run(100 * H)
        runs.append((time.process_time() - began) / 100)
    return min(seconds), min(runs), float(np.mean(iterations)), v


def maximal(case: dict, steps: int) -> tuple[float, float, np.ndarray, int]:
    """Seconds and iterations of a step, the last velocities, and how many steps there was time for."""
    from paper_friction import Paper

    bodies, seconds, iterations = Paper(case), [], []
    while len(seconds) < steps and sum(seconds) < SECONDS:
        iterations.append(bodies.staggered_step(bilateral=True, tolerance=TOLERANCE, most=MOST))
        seconds.append(bodies.seconds)
    return min(seconds), float(np.mean(iterations)), bodies.v, len(seconds)


def main(arguments: list[str] | None = None) -> None:
    arguments = sys.argv[1:] if arguments is None else arguments
    if ALONE not in os.environ:
        sys.stdout.flush()
        print(subprocess.run(
            [sys.executable, __file__, *arguments], env=os.environ | {ALONE: "1"}, check=True, stdout=subprocess.PIPE, text=True
        ).stdout, end="")  # fmt: skip
        return
    from paper_friction import chain

    print(machine())
    sizes = (2, 4) if "--quick" in arguments else (2, 4, 5, 8, 16)
    rows = []
    for n in sizes:
        case = chain(n, 0.3, H)
        theirs = maximal(case, max(5, 60 // n))
        ours = reduced(case, theirs[3])
        gap = float(np.abs(ours[3] - theirs[2]).max() / max(np.abs(theirs[2]).max(), 1e-12))
        milliseconds = [f"{1e3 * x:.3f}" for x in (ours[0], ours[1], theirs[0])]
        ratios = [f"{theirs[0] / x:.1f}" for x in ours[:2]]
        rows.append([n, *milliseconds[:2], f"{ours[2]:.1f}", milliseconds[2], f"{theirs[1]:.1f}", *ratios, f"{gap:.1e}"])
    heads = ["links", "BISP ms", "in a run", "iterations", "SP ms", "iterations", f"ratio (goal {GOAL:g})", "in a run", "velocity gap"]
    print(table(heads, rows), flush=True)
    steps = 20 if "--quick" in arguments else 200
    walks = [walk(floor, mu, steps) for floor in (True, False) for mu in ((0.0, 0.8) if "--quick" in arguments else (0.0, 0.2, 0.4, 0.8))]
    print(table(["klann", "μ", "ms a step (real time: 10)", "slowest tenth", "iterations", "mean torque N m", "way m"], walks))


def walk(floor: bool, mu: float, steps: int) -> list:
    """One row of the table: the walking machine over so many steps, after a tenth of a second."""
    scene = ub.scenes.make("klann", floor=floor, coefficient=mu)
    sim = ub.Simulation(scene.model, "complementarity" if floor else "redmax", dt=scene.dt)
    sim.run(0.1)
    states, seconds, turns = [], [], []
    for _ in range(steps):
        began = time.process_time()
        report = sim.step()
        seconds.append(time.process_time() - began)
        told = [re.search(r"joint friction in (\d+) iterations", note) for note in report.notes]
        turns.append(int(next((found[1] for found in told if found), report.iterations)))
        if len(states) % 10 == 0:
            torque = sim.observe().multipliers
            states.append(0.5 * float(torque["left drive"][0] + torque["right drive"][0]))
        else:
            states.append(np.nan)
    way = float(sim.state.q[0]) if floor else 0.0
    times = [f"{1e3 * np.median(seconds):.2f}", f"{1e3 * np.percentile(seconds, 90):.2f}"]
    return ["floor" if floor else "held", mu, *times, f"{np.mean(turns):.1f}", f"{np.nanmean(states):.3f}", f"{way:.2f}"]


if __name__ == "__main__":
    main()
