"""Table 2 of the RedMax paper (Wang et al. 2019): time per step against degrees of freedom, for every way to solve the linear system.

    python benchmarks/redmax_table2.py [--quick] [--plot FILE.png] [--large] [--scene NAME]      (rigid, flexible, umbrella, loaded)

BRIDGE with rigid and with flexible towers and UMBRELLA, the authors' parameters, h = 0.01 s, rows held with their Baumgarte factor and
without projection. Methods by turns, each from the same state; processor time, the minimum counts. Then whole simulations (5 s of bridge,
1 s of umbrella)
beside the paper's PCG column and the authors' C++ program as it ran on a machine like this one. `--large` goes on to 10 000 and
100 000 degrees of freedom. The velocity error is the largest difference from the direct solution after one step from the same state, as a
part of the largest velocity. Of the direct way there are two columns: the whole step, and its linear system alone (factor and solution).

`loaded`: the bridges with a cable on every deck body and the authors' exaggerated weight (2.4e6 N) on the middle, cables all equal or
scaled so that together they stay as stiff.
"""

from __future__ import annotations

import gc
import sys
import time
from dataclasses import dataclass, field

import numpy as np
from common import machine, plot, table

import unibody as ub
import unibody.scenes as scenes
from unibody.coordinates.reduced.workspace import SIDE, X_SOLVED
from unibody.coordinates.workspace import Y
from unibody.solvers.redmax.linear import factor_contracted, solve_contracted
from unibody.solvers.redmax.workspace import SIDE_F

H = 0.01
GOAL_EXPONENT, GOAL_PAPER, GOAL_PROGRAM, GOAL_DIRECT_US, GOAL_AUTO = 1.05, 20.0, 5.0, 2.5, 1.2


@dataclass
class Case:
    """A scene of the paper: sizes n, steps of the whole simulation, seconds of the paper's PCG and of the authors' program, and τ [s]."""

    name: str
    sizes: tuple[int, ...]
    large: tuple[int, ...]
    steps: int
    paper: tuple[float, ...]
    program: tuple[float, ...]
    feedback: float
    given: dict[str, object] = field(default_factory=dict)
    """Further parameters of the scene."""

    def model(self, n: int) -> ub.Model:
        if self.name == "umbrella":
            return scenes.build("umbrella", n=n)
        return scenes.build("bridge", n=n, towers=self.name.split()[0], **self.given)


CASES = (
    Case("rigid", (80, 160, 320, 640, 1280), (10000, 100000), 500, (2.0, 3.4, 6.5, 12.7, 27.8), (0.24, 0.39, 0.86, 1.84, 4.65), 0.01),
    Case("flexible", (20, 40, 80, 160, 320), (3333, 33333), 500, (2.7, 5.6, 11.4, 28.3, 70.6), (), 0.01),
    Case("umbrella", (10, 16, 22, 32, 46), (417, 4167), 100, (1.8, 2.6, 3.4, 5.1, 8.4), (0.38, 0.60, 0.94, 1.58, 2.54), np.inf),
)
LOADED = tuple(
    Case(f"{towers} {cables}", sizes, (), 0, (), (), 0.01, {"weight": 2.4e6, "cables": "each", "cable_stiffness": cables})
    for towers, sizes in (("rigid", (80, 320, 1280)), ("flexible", (20, 80, 320)))
    for cables in ("equal", "scaled")
)


@dataclass
class Row:
    """One model: seconds per step by method, iterations, velocity errors, bytes."""

    n: int
    dof: int
    bodies: int
    seconds: dict[str, float] = field(default_factory=dict)
    iterations: dict[str, int] = field(default_factory=dict)
    error: dict[str, float] = field(default_factory=dict)
    memory: float = 0.0
    linear: float = np.inf
    """Seconds of the direct way's linear system alone."""


def methods(dof: int) -> list[str]:
    """Ways that are worth running at this size."""
    out = ["direct", "pcg", "auto"]
    if dof <= 5000:
        out.insert(0, "plain")
    if dof <= 700:
        out.insert(0, "dense")
    return out


def solver(case: Case, method: str) -> ub.solvers.RedMax:
    tolerance = 1e-6 if method == "plain" else 1e-7
    return ub.solvers.RedMax(linear=method, stabilisation_time=case.feedback, project=False, tolerance=tolerance)


def measure(case: Case, n: int, rounds: int) -> Row:
    """All methods by turns on one model, ten steps after the start."""
    model = case.model(n)
    row = Row(n, model.nv, model.n_bodies)
    control = model.neutral_control()
    steps = max(2, min(50, 20000 // model.nv))
    bounds = {name: solver(case, name).bind(model) for name in methods(model.nv)}
    state, memory = bounds["direct"].start()
    state, memory, _, _ = bounds["direct"].rollout(state, memory, control, H, 10, record=False)
    ends = {}
    for name, bound in bounds.items():
        ends[name] = bound.step(state, memory, control, H).state.v
        row.iterations[name] = bound.system.iterations
        row.seconds[name] = np.inf
    scale = np.abs(ends["direct"]).max()
    row.error = {name: float(np.abs(v - ends["direct"]).max() / scale) for name, v in ends.items()}
    for _ in range(rounds):
        for name, bound in bounds.items():
            began = time.thread_time()
            done = bound.rollout(state, memory, control, H, steps, record=False)[3]
            row.seconds[name] = min(row.seconds[name], (time.thread_time() - began) / done)
            if name == "direct":
                row.linear = min(row.linear, linear_only(bound.system, steps))
    auto = bounds["auto"].system
    row.memory = (auto.work.nbytes + auto.ints.nbytes + auto.constants.nbytes) / model.nv
    return row


def linear_only(system: object, times: int) -> float:
    """Seconds of one factor and one solution of the matrix that the last step left; infinite where a tree alone is solved."""
    if system.method != "direct":
        return np.inf
    tables = system.layout, system.ints, system.constants
    began = time.thread_time()
    for _ in range(times):
        factor_contracted(*tables, system.work)
        solve_contracted(*tables, system.view(SIDE), system.view(SIDE_F), system.work, system.view(X_SOLVED), system.view(Y))
    return (time.thread_time() - began) / times


def exponent(rows: list[Row], name: str) -> float:
    """The slope of log time against log dof."""
    x = [(r.dof, r.seconds[name]) for r in rows if name in r.seconds]
    return float(np.polyfit(*np.log(np.array(x).T), 1)[0]) if len(x) > 2 else np.nan


def whole(case: Case, n: int, rounds: int) -> float:
    """Seconds of `Simulation.run` for the whole scene with linear="auto", after a first run that warms up."""
    model = case.model(n)
    best = np.inf
    for _ in range(rounds + 1):
        sim = ub.Simulation(model, solver(case, "auto"), dt=H, assemble=False)  # the first steps close the loop, as the authors' do
        began = time.thread_time()
        sim.run(case.steps * H, every=case.steps)
        spent = time.thread_time() - began
        best = spent if best is np.inf else min(best, spent)
    return best


def show(case: Case, quick: bool, large: bool) -> list[tuple[str, float, float]]:
    sizes = case.sizes[:3] if quick else case.sizes
    rows = []
    for n in (*sizes, *(case.large if large else ())):
        rows.append(measure(case, n, 3 if quick else 7))
        gc.collect()
    names = ["dense", "plain", "direct", "pcg", "auto"]
    body = []
    for r in rows:
        best = min(s for name, s in r.seconds.items() if name != "auto")
        body.append([
            r.dof, *(f"{1e6 * r.seconds[m]:.0f}" if m in r.seconds else "" for m in names), r.iterations.get("plain", ""),
            r.iterations["pcg"], f"{1e6 * r.seconds['direct'] / r.bodies:.2f}",
            f"{1e6 * r.linear / r.bodies:.2f}" if np.isfinite(r.linear) else "", f"{r.seconds['auto'] / best:.2f}",
            f"{r.error['pcg']:.0e}", f"{r.memory:.0f}",
        ])  # fmt: skip
    body.append(["exponent", *(f"{exponent(rows, m):.2f}" for m in names), *[""] * 7])
    head = ["DOF", *(f"{m} µs" for m in names), "plain its", "pcg its", "step µs/body", "linear µs/body", "auto/best", "pcg error"]
    head.append("bytes/DOF")
    print(f"\n{case.name}: time per step\n{table(head, body)}")
    points = [(f"{case.name}, {m}", float(r.dof), r.seconds[m]) for m in ("dense", "auto") for r in rows if m in r.seconds]
    if not case.paper:
        return points
    body = []
    for k, n in enumerate(sizes):
        spent = whole(case, n, 1 if quick else 3)
        program = f"{case.program[k] / spent:.1f}" if case.program else ""
        body.append([rows[k].dof, f"{spent:.3f}", case.paper[k], f"{case.paper[k] / spent:.0f}", program])
    print(f"\n{case.name}: {case.steps * H:g} s of motion\n{table(['DOF', 'ours s', 'paper s', 'paper / ours', 'program / ours'], body)}")
    return points


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    quick, large = "--quick" in arguments, "--large" in arguments
    only = arguments[arguments.index("--scene") + 1] if "--scene" in arguments else None
    points = [p for case in CASES if only in (None, case.name) for p in show(case, quick, large)]
    for case in LOADED if only in (None, "loaded") else ():
        show(case, quick, False)
    print(f"\ngoals: exponent of auto ≤ {GOAL_EXPONENT}, paper ≥ {GOAL_PAPER:g}×, program ≥ {GOAL_PROGRAM:g}×,", end=" ")
    print(f"linear system, direct ≤ {GOAL_DIRECT_US} µs/body, auto ≤ {GOAL_AUTO} × the best. {machine()}")
    print(f"log–log plot: {plot(points, 'RedMax, Table 2: seconds per step', size_label='degrees of freedom')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
