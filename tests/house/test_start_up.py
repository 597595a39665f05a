"""`import unibody` is quick, because the heavy libraries wait until they are needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

LONGEST = 0.5
"""Seconds of the processor, in the best of a few tries, on a machine that has nothing else to do; NumPy alone takes NUMPY there, and what
shares the processor stretches both."""
NUMPY, TRIES = 0.07, 8
HEAVY = ("numba", "llvmlite", "scipy", "matplotlib", "viser", "mujoco", "pinocchio", "pybullet")


def printed_by(script: str, bytecode: Path | None = None) -> str:
    """What a fresh process prints; with `bytecode` it keeps compiled modules there, as any installation does after its first run."""
    environment = dict(os.environ)
    if bytecode is not None:
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_import_takes_less_than_half_a_second(tmp_path: Path) -> None:
    script = "import time; began = time.process_time(); import {}; print(time.process_time() - began)"
    shares = []
    for _ in range(TRIES):
        numpy, ours = (float(printed_by(script.format(name), tmp_path)) for name in ("numpy", "unibody"))
        shares.append(ours / (LONGEST * max(1.0, numpy / NUMPY)))
        if shares[-1] <= 1.0:
            break
    assert min(shares) <= 1.0, shares


def test_import_leaves_heavy_libraries_alone() -> None:
    assert printed_by(f"import sys, unibody; print(*(name for name in {HEAVY} if name in sys.modules))") == ""


def test_import_brings_the_public_names() -> None:
    names = "Builder Pose Simulation Revolute Box SpringDamper solvers"
    assert printed_by(f"import unibody; print(*(n for n in {names.split()} if not hasattr(unibody, n)))") == ""
