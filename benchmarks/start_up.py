"""How long until something moves: `import unibody`, and `unibody run double-pendulum` with an empty and with a filled kernel cache.

    python benchmarks/start_up.py [--quick]

Each time is that of a fresh process. A cold start compiles every kernel that the scene needs; a warm one reads them from the cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import machine, table

import unibody

SCENE = "double-pendulum"


def seconds(arguments: list[str], cache: str) -> float:
    """Wall-clock time of a process that must succeed."""
    package = str(Path(unibody.__file__).resolve().parents[1])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"UNIBODY_CACHE_DIR": cache, "PYTHONPATH": path}
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
    return time.perf_counter() - began


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    rounds = 2 if quick else 5
    run = ["-m", "unibody.cli", "run", SCENE]
    bare: list[float] = []
    imported: list[float] = []
    warm: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        cold = seconds(run, folder)
        kernels = len(list(Path(folder).rglob("*.nbi")))
        for _ in range(rounds):
            bare.append(seconds(["-c", "pass"], folder))
            imported.append(seconds(["-c", "import unibody"], folder))
            warm.append(seconds(run, folder))
    rows = [
        ["python -c pass", f"{min(bare):.2f}", f"{np.median(bare):.2f}"],
        ["import unibody", f"{min(imported):.2f}", f"{np.median(imported):.2f}"],
        [f"unibody run {SCENE}, warm", f"{min(warm):.2f}", f"{np.median(warm):.2f}"],
        [f"unibody run {SCENE}, cold: {kernels} kernels compiled", f"{cold:.2f}", "once"],
    ]
    print(table(["seconds, whole process", "least", "median"], rows))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
