"""Piles of cubes that fall on each other with the barrier solver: iterations per step, ms per iteration and where they go, over sizes.

    python benchmarks/barrier_pile.py [--quick] [--plot FILE.png]

n × n towers of four cubes each, 1 m, a little apart and out of line, fall 5 cm and more on a plane and on each other; μ = 0.3,
reach 1 cm, dt = 0.01 s, 30 steps after a first one that makes ready. Times are processor time of this process, so that
neighbours on a shared machine count little. Each part's time is without that of the parts it calls.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from common import machine, plot, table

import unibody as ub
from unibody.algebra.block.direct import NewtonSolver
from unibody.collision.broad import Broad
from unibody.collision.proximity import Proximity
from unibody.constraints.contact import Contact
from unibody.solvers.barrier.incremental_potential import IncrementalPotential
from unibody.solvers.barrier.solver import Barrier

LAYERS, STEPS, DT = 4, 30, 0.01
PARTS: dict[str, tuple[Any, str]] = {
    "broad": (Broad, "between"), "contacts": (Proximity, "contacts"), "assemble": (IncrementalPotential, "matrix"),
    "plan": (NewtonSolver, "plan"), "solve": (NewtonSolver, "solve"), "line search": (IncrementalPotential, "value"),
    "CCD": (IncrementalPotential, "reach"), "gradient": (IncrementalPotential, "gradient"),
}  # fmt: skip


class Clock:
    """Time spent in methods, each without the others that it calls."""

    def __init__(self, parts: Iterable[str] = PARTS) -> None:
        self.spent = dict.fromkeys(parts, 0.0)
        self._inner: list[float] = []

    def watch(self, name: str, method: Callable) -> Callable:
        def timed(*arguments: Any, **named: Any) -> Any:
            self._inner.append(0.0)
            began = time.process_time()
            out = method(*arguments, **named)
            whole = time.process_time() - began
            self.spent[name] += whole - self._inner.pop()
            if self._inner:
                self._inner[-1] += whole
            return out

        return timed


def pile(n: int) -> ub.Model:
    rng, b = np.random.default_rng(0), ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    box = ub.Box((1.0, 1.0, 1.0))
    for k in range(LAYERS * n * n):
        x, y, z = k % n, k // n % n, k // (n * n)
        b.body(f"c{k}", shape=box, X_WB=ub.Pose(p=(1.15 * x + 0.1 * rng.random(), 1.15 * y + 0.1 * rng.random(), 0.55 + 1.05 * z)))
    b.add(Contact(friction=0.3, reach=1e-2))
    return b.build()


def run(n: int, steps: int) -> dict[str, Any]:
    return watched(pile(n), DT, 1, steps)


def watched(model: ub.Model, dt: float, first: int, steps: int) -> dict[str, Any]:
    """Steps of a model after `first` ones that make ready: bodies; contacts, iterations and seconds of every step; seconds in all and by
    part."""
    bound = Barrier().bind(model)
    state, memory = bound.start()
    control = np.zeros(model.nv_joints + 6 * model.n_bodies)
    for _ in range(first):
        made = bound.step(state, memory, control, dt)
        state, memory = made.state, made.memory
    clock = Clock()
    kept = {name: getattr(*where) for name, where in PARTS.items()}
    contacts, iterations, each = [], [], []
    for name, (owner, method) in PARTS.items():
        setattr(owner, method, clock.watch(name, kept[name]))
    began = time.process_time()
    for _ in range(steps):
        step_began = time.process_time()
        made = bound.step(state, memory, control, dt)
        each.append(time.process_time() - step_began)
        state, memory = made.state, made.memory
        iterations.append(made.report.iterations)
        contacts.append(int(made.report.notes[0].split()[0]))
    whole = time.process_time() - began
    for name, (owner, method) in PARTS.items():
        setattr(owner, method, kept[name])
    moving = sum(b.kind == "dynamic" for b in model.bodies)
    return {
        "bodies": moving, "contacts": np.array(contacts), "iterations": np.array(iterations), "each": np.array(each), "seconds": whole,
        "spent": clock.spent,
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    run(2, STEPS)
    rows, drawn = [], []
    for n in (3, 5, 7) if quick else (3, 5, 7, 10, 16):
        r = run(n, STEPS)
        total = r["iterations"].sum()
        each = r["seconds"] / total
        parts = [f"{1e3 * r['spent'][p] / total:.2f}" for p in PARTS]
        rest = f"{1e3 * (r['seconds'] - sum(r['spent'].values())) / total:.2f}"
        rows.append(
            [r["bodies"], r["contacts"].max(), f"{r['iterations'].mean():.1f} ({r['iterations'].max()})", f"{1e3 * each:.2f}", *parts, rest]
        )
        drawn.append(("per iteration", float(r["bodies"]), each))
    print(table(["bodies", "contacts", "iterations per step (most)", "ms per iteration", *PARTS, "rest"], rows))
    sizes, times = np.log([d[1] for d in drawn]), np.log([d[2] for d in drawn])
    print(f"\ntime per iteration grows as bodies^{np.polyfit(sizes, times, 1)[0]:.2f}. {machine()}")
    print(plot(drawn, "Barrier: piles of cubes"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
