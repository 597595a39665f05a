"""Record which kernels runs of scenes ask for, into src/unibody/simulation/foreseen.json.

    python tools/make_foreseen.py [SCENE …]

Every scene with the solver it is made for, a few of them with every solver that takes them, some steps each, in a forked process, so that
none knows what another has loaded. A kernel is kept with the features that all runs of a solver that asked for it had in common, if at
least half of the runs with these features did ask for it.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import signal
import sys
import time
import warnings
from pathlib import Path

SECONDS = 40.0
"""A run that takes longer is left out."""
SHARE = 0.5
SOLVERS = ("articulated", "lagrange", "redmax", "complementarity", "impulse", "penalty", "barrier")
BY_ALL = ("stack", "pendulum", "double-pendulum", "four-bar", "bouncing-ball", "dominoes", "billiards", "ragdoll-pile", "bridge")
OUT = Path(__file__).resolve().parent.parent / "src" / "unibody" / "simulation" / "foreseen.json"


def run(scene: str, solver: str) -> tuple[frozenset[str], list[str]]:
    import unibody as ub
    from unibody import kernel
    from unibody.simulation.ahead import features

    simulation = ub.Simulation(scene, solver)
    recording = simulation.run(6 * simulation.dt, progress=False)
    _ = recording.observations, recording.energy.total
    return features(simulation.model, simulation.solver), [":".join(name.rsplit(".", 1)) for name, _, _ in kernel.compiled]


def recorded(scene: str, solver: str) -> tuple[frozenset[str], list[str]] | None:
    """In a child; None if the solver does not take the scene, or takes too long."""
    mine, its = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(mine)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(its, "wb") as pipe:
                pickle.dump(run(scene, solver), pipe)
        finally:
            os._exit(0)
    os.close(its)
    end, content = time.monotonic() + SECONDS, b""
    with os.fdopen(mine, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
            if not (part := pipe.read(1 << 16)):
                break
            content += part
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        return pickle.loads(content) if content else None
    except (pickle.UnpicklingError, EOFError):
        return None


def parted(name: str, group: list[frozenset[str]], asked: list[tuple[frozenset[str], frozenset[str]]]) -> list[list[frozenset[str]]]:
    """Runs that asked for a kernel: those with closed loops apart, if no run with loops that is otherwise alike went without it."""
    idle = [found for found, names in asked if frozenset.intersection(*group) <= found and name not in names]
    if not idle or any("loops" in found for found in idle):
        return [group]
    return [part for part in ([f for f in group if "loops" in f], [f for f in group if "loops" not in f]) if part]


def needs(runs: list[tuple[frozenset[str], list[str]]]) -> dict[str, list[list[str]]]:
    """Solver by solver, what all runs that asked for a kernel had in common; see above."""
    out: dict[str, list[list[str]]] = {}
    asked = [(found, frozenset(names)) for found, names in runs]
    for name in dict.fromkeys(name for _, names in runs for name in names):
        groups: dict[str, list[frozenset[str]]] = {}
        for found in (found for found, names in asked if name in names):
            groups.setdefault(min(each for each in found if each.startswith("solver ")), []).append(found)
        for common in (frozenset.intersection(*part) for group in groups.values() for part in parted(name, group, asked)):
            like = [names for found, names in asked if common <= found]
            if sum(name in names for names in like) >= SHARE * len(like):
                out.setdefault(name, []).append(sorted(common))
    return out


def main(scenes: list[str]) -> int:
    warnings.simplefilter("ignore")
    os.environ["UNIBODY_COMPILERS"] = "0"
    import numba  # noqa: F401 - once, before the children

    from unibody.scenes import names

    runs = []
    jobs = [(scene, "auto") for scene in scenes or names()] + [(scene, solver) for scene in scenes or BY_ALL for solver in SOLVERS]
    for scene, solver in jobs:
        if (made := recorded(scene, solver)) is not None:
            runs.append(made)
            print(f"{scene} {solver}: {len(made[1])} kernels", flush=True)
    OUT.write_text(json.dumps(needs(runs), indent=0) + "\n", encoding="utf-8")
    print(f"{len(runs)} runs: {OUT}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
