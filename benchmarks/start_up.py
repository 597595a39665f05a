"""How long until something moves: `import unibody`, and `unibody run SCENE` with an empty and with a filled kernel cache.

    python benchmarks/start_up.py [--quick] [SCENE ...]        # double-pendulum and stack, unless told

Each time is that of a fresh process. A cold start compiles every kernel that the scene needs, by all processors; a warm one reads them from
the cache. The processor time is that of all processes together: on a busy machine it is what can be compared.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import machine, table

import unibody
from unibody.kernel_cache import SUFFIX

SCENES = ("double-pendulum", "stack")


def seconds(arguments: list[str], cache: str) -> tuple[float, float]:
    """Times of a process that must succeed, with its children: by the clock, and of processors."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    package = str(Path(unibody.__file__).resolve().parents[1])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"UNIBODY_CACHE_DIR": cache, "PYTHONPATH": path}
    began, before = time.perf_counter(), spent()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
    return time.perf_counter() - began, spent() - before


def row(name: str, times: list[tuple[float, float]]) -> list[str]:
    clock, processor = np.array(times).T
    return [name, f"{clock.min():.2f}", f"{np.median(clock):.2f}" if len(times) > 1 else "once", f"{processor.min():.2f}"]


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    rounds = 2 if "--quick" in given else 5
    scenes = tuple(each for each in given if not each.startswith("-")) or SCENES
    rows: list[list[str]] = []
    for scene in scenes:
        run = ["-m", "unibody.cli", "run", scene]
        with tempfile.TemporaryDirectory() as folder:
            cold = seconds(run, folder)
            functions = len(list(Path(folder).rglob(f"*{SUFFIX}")))
            if not rows:
                rows.append(row("python -c pass", [seconds(["-c", "pass"], folder) for _ in range(rounds)]))
                rows.append(row("import unibody", [seconds(["-c", "import unibody"], folder) for _ in range(rounds)]))
            rows.append(row(f"unibody run {scene}, warm", [seconds(run, folder) for _ in range(rounds)]))
            rows.append(row(f"unibody run {scene}, cold: {functions} functions compiled", [cold]))
    print(table(["seconds, whole process", "least", "median", "of processors"], rows))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
