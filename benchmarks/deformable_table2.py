"""Table 2 of paper 003 for its scenes with deformables: contacts, iterations per step and ms per iteration, by part (Fig. 24).

    python benchmarks/deformable_table2.py [--scene NAME] [--steps N] [--quick] [--breakdown FILE.png]

Each scene at the paper's dt and with about as many vertices: "nodes" counts those of surfaces and deformables, as the paper does, "free"
the unknown points: the vertices of deformables that nothing holds, and the four control points of each moving body. Whole scenes take long:
--steps N ends each after N steps, and the table says which share of the scene that is. Times are processor time of this process; each
part's share is without that of the parts it calls. The paper's own times: an i9-10920X with an RTX 3090 for collision detection.
--quick: small sizes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from barrier_pile import Clock
from common import machine, table

import unibody as ub
import unibody.scenes as scenes
from unibody.algebra.block.mixed_solver import MixedSolver
from unibody.collision.broad import Broad
from unibody.collision.proximity import Proximity
from unibody.solvers.barrier.incremental_potential import IncrementalPotential

PARTS: dict[str, tuple[Any, str]] = {
    "broad": (Broad, "between"), "contacts": (Proximity, "contacts"), "CCD": (IncrementalPotential, "reach"),
    "Hessian": (IncrementalPotential, "matrix"), "gradient": (IncrementalPotential, "gradient"),
    "line search": (IncrementalPotential, "value"), "solve": (MixedSolver, "solve"),
}  # fmt: skip


@dataclass
class Case:
    """A scene, the paper's size and a small one; the paper's nodes, iterations per step and ms per iteration; the goal of this engine
    [ms]."""

    name: str
    scene: str
    full: dict[str, object]
    small: dict[str, object]
    paper: tuple[float, float, float]
    goal: float


CASES = (
    Case("bridge", "rope-bridge", {"boards": 40, "hangers": 3}, {"boards": 10, "hangers": 3}, (2300, 10.3, 18.6), 6.0),
    # with the paper's contacts, and with its nodes: wheels of so many sides touch ropes everywhere
    Case("pulley", "pulleys", {"sides": 60, "spacing": 4e-3}, {}, (16000, 9.5, 36.2), 12.0),
    Case("pulley, fine", "pulleys", {"sides": 960, "spacing": 1.5e-3}, {}, (16000, 9.5, 36.2), 12.0),
    Case("umbrella", "cloth-umbrella", {"rows": 99}, {}, (30000, 10.2, 1269.1), 600.0),
    Case("lying flat", "lying-flat", {"across": 4, "spacing": 6e-3}, {}, (18000, 26.2, 22.35), 22.0),
    Case("lying flat, fine", "lying-flat", {"across": 4, "fine": 3, "spacing": 6e-3}, {}, (18000, 26.2, 22.35), 22.0),
    Case("candy", "candy", {"spacing": 1.45e-3}, {}, (17000, 8.1, 722.9), 360.0),
)
DT = 1.0 / 24.0


def counts(model: ub.Model) -> tuple[int, int, int]:
    """Bodies and deformables; all nodes; free ones."""
    moving = sum(b.kind == "dynamic" for b in model.bodies)
    corners = sum(len(p.triangles()[0]) for b in model.bodies for p in b.shapes if not isinstance(p.shape, ub.Plane))
    vertices = sum(d.n for d in model.deformables)
    held = sum(len(a.vertices) for a in model.attachments) + sum(len(p.vertices) for p in model.prescribed)
    return len(model.bodies) - 1 + len(model.deformables), corners + vertices, vertices - held + 4 * moving


def watched(made: scenes.Scene, steps: int, parts: dict[str, tuple[Any, str]] = PARTS) -> dict[str, Any]:
    """Steps of a scene at the paper's dt after one that makes ready."""
    sim_solver = ub.Simulation(made.model, made.default_solver(), dt=DT)
    bound = sim_solver.bound
    state, memory = bound.start()
    control = np.zeros(made.model.nv_joints + 6 * made.model.n_bodies)
    clock, kept = Clock(parts), {name: getattr(*where) for name, where in parts.items()}
    contacts, iterations, each = [], [], []
    for step in range(steps + 1):
        if step == 1:
            watch(clock, parts, kept)
        began = time.process_time()
        out = bound.step(state, memory, control, DT)
        taken = time.process_time() - began
        state, memory = out.state, out.memory
        if step:
            each.append(taken)
            iterations.append(out.report.iterations)
            contacts.append(int(out.report.notes[0].split()[0]))
    for name, (owner, method) in parts.items():
        setattr(owner, method, kept[name])
    return {"contacts": np.array(contacts), "iterations": np.array(iterations), "each": np.array(each), "spent": clock.spent}


def watch(clock: Clock, parts: dict[str, tuple[Any, str]], kept: dict[str, Callable]) -> None:
    for name, (owner, method) in parts.items():
        setattr(owner, method, clock.watch(name, kept[name]))


def measure(case: Case, quick: bool, most: int | None) -> list[object]:
    made = scenes.make(case.scene, **(case.small if quick else case.full))
    whole = round(made.duration / DT)
    steps = whole if most is None else min(most, whole)
    bodies, nodes, free = counts(made.model)
    r = watched(made, steps)
    total, seconds = max(1, int(r["iterations"].sum())), float(r["each"].sum())
    ms = 1e3 * seconds / total
    paper_nodes, paper_iterations, paper_ms = case.paper
    row: list[object] = [
        case.name, f"{steps}/{whole}", bodies, nodes, f"{paper_nodes:.0f}", free, r["contacts"].max(), f"{r['contacts'].mean():.0f}",
        f"{r['iterations'].mean():.1f}", paper_iterations, f"{ms:.1f}", paper_ms, case.goal,
    ]  # fmt: skip
    shares = [100.0 * r["spent"][part] / seconds for part in PARTS]
    return [*row, *(f"{share:.0f}" for share in shares), f"{100.0 - sum(shares):.0f}"]


HEAD = (
    "scene", "steps", "bodies", "nodes", "paper", "free", "most contacts", "mean", "its/step", "paper", "ms/it", "paper", "goal",
    *(f"{part} %" for part in PARTS), "rest %",
)  # fmt: skip


def draw(rows: list[list[object]], path: str) -> None:
    """Fig. 24: shares of the parts, scenes in ascending order of the share of linear solves."""
    from unibody.view.style import pyplot

    plt = pyplot()
    names = [*PARTS, "rest"]
    shares = np.array([[float(str(x)) for x in row[-len(names) :]] for row in rows])
    order = np.argsort(shares[:, names.index("solve")])
    figure, axes = plt.subplots(figsize=(7.0, 0.6 * len(rows) + 1.4))
    left = np.zeros(len(rows))
    for k, name in enumerate(names):
        axes.barh([str(rows[i][0]) for i in order], shares[order, k], left=left, label=name)
        left += shares[order, k]
    axes.set_xlabel("% of processor time")
    axes.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.25), fontsize=8)
    figure.savefig(path, bbox_inches="tight", dpi=120)


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments

    def option(name: str) -> str | None:
        return arguments[arguments.index(name) + 1] if name in arguments else None

    scene, most, rows = option("--scene"), option("--steps"), []
    for case in CASES:
        if scene in (None, case.name):
            rows.append(measure(case, "--quick" in arguments, None if most is None else int(most)))
            print(f"{case.name}: {rows[-1][8]} iterations a step, {rows[-1][10]} ms", flush=True)
    print(table(HEAD, rows))
    if (path := option("--breakdown")) is not None:
        draw(rows, path)
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
