"""Is this checkout as fast as another one? Usage: python tools/compare_speed.py OTHER_CHECKOUT [--rounds 12] [--pairs 3] [case ...]

One process per checkout; they take turns A B B A A B …, so that a busy moment meets both, and each turn goes on where its last one ended.
So do several pairs of processes one after the other, for where a process has its memory makes up to a third (a tree of 1023 joints).
A turn's time is the thread's processor time. The ratio is this one's least time over the other's, of all pairs; the middle ratio is that
of the medians. Cases use public names that both versions have.

A pile falls into another state wherever two versions differ in the last digit: the same pile of eight dolls has 75 contacts in one and 90
in the other. So a case of piles is the sum over several, each with its own seed. Those whose problems are solved to the end take as many
sweeps as their states ask for (20 to 80 of 100 spheres); `-swept` ones make the same number in every step.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def forward_dynamics(kind: str) -> Callable[[], None]:
    import numpy as np

    import unibody as ub
    import zoo

    rng = np.random.default_rng(0)
    models = {"chain-100": lambda: zoo.chain(100), "humanoid": lambda: zoo.humanoid(rng), "tree-1023": lambda: zoo.binary_tree(10, rng)}
    model = models[kind]()
    lean = ub.solvers.Articulated().bind(model).forward_dynamics_function()
    q, v = zoo.random_state(model, rng)
    lean(q, v, rng.uniform(-1.0, 1.0, model.nv))
    times = 200 if kind == "tree-1023" else 2000

    def turn() -> None:
        for _ in range(times):
            lean.evaluate()

    return turn


def steps(model: Any, solver: Any, dt: float, count: int, first: int = 0, one_by_one: bool = False) -> Callable[[], None]:
    """`count` steps of a model, after `first` ones; within a rollout, or called one by one."""
    bound = solver.bind(model)
    control = model.neutral_control()
    at = [*bound.start()]

    def forward(times: int) -> None:
        if one_by_one:
            for _ in range(times):
                made = bound.step(at[0], at[1], control, dt)
                at[:] = made.state, made.memory
        else:
            at[0], at[1] = bound.rollout(at[0], at[1], control, dt, times, times, False)[:2]

    if first:
        forward(first)
    return lambda: forward(count)


def scene(name: str, solver: str, dt: float, count: int, first: int = 0, one_by_one: bool = False, **options: Any) -> Callable[[], None]:
    import unibody as ub

    parameters = options.pop("parameters", {})
    model = ub.scenes.build(name, **parameters)
    return steps(getattr(model, "model", model), getattr(ub.solvers, solver)(**options), dt, count, first, one_by_one)


def together(turns: list[Callable[[], None]]) -> Callable[[], None]:
    def turn() -> None:
        for one in turns:
            one()

    return turn


def piles(seeds: int, count: int, box: bool, turn: int, **options: Any) -> Callable[[], None]:
    from contact_piles import pile

    import unibody as ub

    shape, solver = ub.Box((1.0, 1.0, 1.0)) if box else ub.Sphere(0.5), ub.solvers.Complementarity(**options)
    return together([steps(pile(count, shape, seed), solver, 5e-3, turn, 200, True) for seed in range(seeds)])


def doll_piles(seeds: int, count: int, turn: int, **options: Any) -> Callable[[], None]:
    from contact_piles import dolls

    import unibody as ub

    solver = ub.solvers.Complementarity(**options)
    return together([steps(dolls(count, seed), solver, 5e-3, turn, 1000, True) for seed in range(seeds)])


def lagrange_chain(n: int, times: int) -> Callable[[], None]:
    import unibody as ub
    import zoo

    return steps(zoo.chain(n), ub.solvers.Lagrange(), 1e-4, times)


def barrier_pile(n: int) -> Callable[[], None]:
    """n × n towers of four cubes, as in benchmarks/barrier_pile.py, which imports modules that other versions may have elsewhere."""
    import numpy as np

    import unibody as ub

    rng, b = np.random.default_rng(0), ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    for k in range(4 * n * n):
        x, y = 1.15 * np.array([k % n, k // n % n]) + 0.1 * rng.random(2)
        b.body(f"c{k}", shape=ub.Box((1.0, 1.0, 1.0)), X_WB=ub.Pose(p=(x, y, 0.55 + 1.05 * (k // (n * n)))))
    b.add(ub.Contact(friction=0.3, reach=1e-2))
    return steps(b.build(), ub.solvers.Barrier(), 0.01, 3, 2, True)


CASES: dict[str, Callable[[], Callable[[], None]]] = {
    "forward-chain-100": lambda: forward_dynamics("chain-100"),
    "forward-humanoid": lambda: forward_dynamics("humanoid"),
    "forward-tree-1023": lambda: forward_dynamics("tree-1023"),
    "lagrange-chain-1000": lambda: lagrange_chain(1000, 40),
    "redmax-bridge": lambda: scene("bridge", "RedMax", 0.01, 60, parameters={"n": 80}),
    "redmax-umbrella": lambda: scene("umbrella", "RedMax", 0.01, 30),
    "stiff-chain": lambda: scene("stiff-chain", "RedMax", 0.01, 200),
    "stack": lambda: scene("stack", "Complementarity", 5e-3, 60, 40, True),
    "spheres-100": lambda: piles(32, 100, False, 40),
    "spheres-100-swept": lambda: piles(8, 100, False, 40, method="pgs", iterations=4),
    "spheres-1000": lambda: piles(2, 1000, False, 5, method="pgs", iterations=4),
    "boxes-100": lambda: piles(8, 100, True, 20),
    "boxes-100-swept": lambda: piles(8, 100, True, 20, method="pgs", iterations=4),
    "boxes-1000": lambda: piles(2, 1000, True, 4, method="pgs", iterations=4),
    "dolls-8": lambda: doll_piles(32, 8, 20),
    "dolls-8-swept": lambda: doll_piles(16, 8, 20, method="pgs", iterations=4),
    "barrier-pile": lambda: barrier_pile(4),
    "barrier-windmill": lambda: scene("windmill", "Barrier", 1 / 240, 3, 10, True, parameters={"levels": 2}),
}


def serve(checkout: Path) -> None:
    """A worker: reads the name of a case or `turn`, answers with seconds."""
    sys.path[:0] = [str(checkout / "src"), str(ROOT / "tests"), str(ROOT / "benchmarks")]
    run: Callable[[], None] | None = None
    for line in sys.stdin:
        word = line.strip()
        began = time.thread_time()
        try:
            if word == "turn":
                assert run is not None
                run()
            else:
                run = CASES[word]()
                run()
            print(f"= {time.thread_time() - began}", flush=True)
        except Exception as error:  # told to the other side, which names the case
            print(f"! {type(error).__name__}: {error}", flush=True)


class Worker:
    def __init__(self, checkout: Path):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(checkout)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, word: str) -> float:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("= "):
                return float(line[2:])
            if line.startswith("! "):
                raise RuntimeError(line[2:].strip())
        raise RuntimeError("the worker ended")

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--serve"]:
        serve(Path(arguments[1]))
        return 0
    if not arguments:
        print(__doc__)
        return 2
    other, arguments = Path(arguments[0]).resolve(), arguments[1:]
    counts = {"--rounds": 12, "--pairs": 3}
    for option in counts:
        if option in arguments:
            at = arguments.index(option)
            counts[option], arguments = int(arguments[at + 1]), arguments[:at] + arguments[at + 2 :]
    unknown = [name for name in arguments if name not in CASES]
    if unknown:
        print(f"no case {', '.join(unknown)}; there are {', '.join(CASES)}")
        return 2
    print(f"{'case':24s} {'this ms':>10s} {'other ms':>10s} {'ratio':>7s} {'middle':>7s}")
    for case in arguments or CASES:
        taken: dict[str, list[float]] = {"this": [], "other": []}
        try:
            for _ in range(counts["--pairs"]):
                workers = {"this": Worker(ROOT), "other": Worker(other)}
                for worker in workers.values():
                    worker.ask(case)
                for k in range(counts["--rounds"]):
                    for name in list(workers) if k % 2 else list(reversed(workers)):
                        taken[name].append(workers[name].ask("turn"))
                for worker in workers.values():
                    worker.end()
        except RuntimeError as error:
            print(f"{case:24s} {error}", flush=True)
            continue
        least = {name: min(times) for name, times in taken.items()}
        middle = {name: statistics.median(times) for name, times in taken.items()}
        print(
            f"{case:24s} {1e3 * least['this']:10.2f} {1e3 * least['other']:10.2f} {least['this'] / least['other']:7.3f}"
            f" {middle['this'] / middle['other']:7.3f}", flush=True,
        )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
