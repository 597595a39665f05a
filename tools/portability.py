"""Does the test suite hold where numbers are rounded differently? Usage: python tools/portability.py [--only NAME ...] [pytest arguments]

The suite runs once in each of these ways, one after the other, and every one must pass:

    blas-…    linear algebra by OpenBLAS's kernels for another processor (OPENBLAS_CORETYPE), of those that this one can run
    generic   kernels compiled for any x86-64 (NUMBA_CPU_NAME=generic), with a cache of their own
    shake-…   every scene changed by relative 1e-15 (pytest --shake; tests/shaking.py)

It takes the time of the suite for each, so it is for once a week (`make portability`, or WEEKLY=1 .ci/run), not for every change.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLAS = {
    # kernels of OpenBLAS, and what the processor must have for them
    "Prescott": {"sse3"}, "Nehalem": {"sse4_2"}, "Sandybridge": {"avx"}, "Haswell": {"avx2", "fma"}, "Zen": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512dq", "avx512bw", "avx512vl"},
}  # fmt: skip


def features(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str]:
    """What this processor has, by Linux's names; only the oldest of x86-64 where that cannot be read."""
    try:
        lines = [line for line in cpuinfo.read_text(encoding="utf-8").splitlines() if line.startswith("flags")]
    except OSError:
        lines = []
    return {"sse3"} | set(lines[0].split(":")[1].split() if lines else ())


def ways(has: set[str]) -> dict[str, tuple[dict[str, str], list[str]]]:
    """(environment, arguments of pytest) by name."""
    cache = str(ROOT / "build" / "portability-cache")
    return {
        **{f"blas-{kind}": ({"OPENBLAS_CORETYPE": kind}, []) for kind, needs in BLAS.items() if needs <= has},
        "generic": ({"NUMBA_CPU_NAME": "generic", "UNIBODY_CACHE_DIR": cache}, []),
        **{f"shake-{seed}": ({}, ["--shake", str(seed)]) for seed in (1, 2)},
    }


def main(arguments: list[str]) -> int:
    only: list[str] = []
    while arguments[:1] == ["--only"]:
        only, arguments = [*only, *arguments[1:2]], arguments[2:]
    every = ways(features())
    unknown = [name for name in only if name not in every]
    if unknown:
        print(f"no way {', '.join(unknown)} on this processor; there are {', '.join(every)}")
        return 2
    failed = []
    for name in only or every:
        environment, options = every[name]
        print(f"== {name}: {' '.join(f'{k}={v}' for k, v in environment.items())} pytest {' '.join(options)}", flush=True)
        command = [sys.executable, "-m", "pytest", *options, *arguments]
        if subprocess.run(command, cwd=ROOT, env=os.environ | environment).returncode:
            failed.append(name)
    print(f"portability: {'FAILED in ' + ', '.join(failed) if failed else 'passed in ' + ', '.join(only or every)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
