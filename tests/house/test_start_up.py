"""`import unibody` is quick, because the heavy libraries wait until they are needed."""

from __future__ import annotations

import subprocess
import sys

LONGEST = 0.5
"""Seconds, best of three, on a machine that has nothing else to do; NumPy alone takes NUMPY there, and a busy machine stretches both."""
NUMPY = 0.07
HEAVY = ("numba", "llvmlite", "scipy", "matplotlib", "viser", "mujoco", "pinocchio", "pybullet")


def printed_by(script: str) -> str:
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_import_takes_less_than_half_a_second() -> None:
    script = "import time; began = time.perf_counter(); import {}; print(time.perf_counter() - began)"
    numpy, ours = (min(float(printed_by(script.format(name))) for _ in range(3)) for name in ("numpy", "unibody"))
    assert ours <= LONGEST * max(1.0, numpy / NUMPY)


def test_import_leaves_heavy_libraries_alone() -> None:
    assert printed_by(f"import sys, unibody; print(*(name for name in {HEAVY} if name in sys.modules))") == ""


def test_import_brings_the_public_names() -> None:
    names = "Builder Pose Simulation Revolute Box SpringDamper solvers"
    assert printed_by(f"import unibody; print(*(n for n in {names.split()} if not hasattr(unibody, n)))") == ""
