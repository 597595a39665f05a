"""What `doctor` finds out: versions, the cache of compiled kernels, extras, and whether a pendulum keeps its energy."""

from __future__ import annotations

import platform
import time
from importlib import metadata, util
from pathlib import Path
from typing import Any

import numpy as np

from unibody import kernel, kernel_cache

EXTRAS = {
    "plot": ("matplotlib",), "render": ("PIL", "imageio_ffmpeg"), "view": ("viser",), "collision": ("coal",), "gym": ("gymnasium",),
    "import": ("yourdfpy", "trimesh", "lxml", "collada", "mujoco"),
    "studies": ("xarray", "zarr"), "dask": ("distributed",),
    "peers": ("mujoco", "pinocchio", "pybullet"),
}  # fmt: skip
"""Extra → the modules it brings."""
LENGTH = 1.0
"""Of the pendulum [m]."""
TOLERANCE = 1e-4
"""Of m g l: semi-implicit Euler errs by dt g t / (2 l) = 5e-5 while the pendulum falls for 0.1 s in steps of 0.1 ms; twice that may be."""


def check_up() -> dict[str, Any]:
    """Everything, as plain data."""
    return {
        "versions": {"unibody": metadata_version("unibody"), "python": platform.python_version()}
        | {name: metadata_version(name) for name in ("numpy", "scipy", "numba", "llvmlite", "typer")},
        "platform": f"{platform.system()} {platform.machine()}",
        "jit": kernel.JIT,
        "extras": {extra: [name for name in modules if util.find_spec(name) is None] for extra, modules in EXTRAS.items()},
        "self_check": self_check(),
        "cache": {"folder": str(kernel.cache_root()), "bytes": folder_bytes(kernel.cache_root())},
    }


def metadata_version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        if name == "unibody":
            import unibody

            return unibody.__version__
        return "not installed"


def self_check() -> dict[str, Any]:
    """A tenth of a second of a pendulum; how long it took to compile or load it, and how well it kept its energy."""
    from unibody import scenes
    from unibody.simulation import Simulation
    from unibody.view.motion import energy_drift

    began = time.perf_counter()
    recording = Simulation(scenes.build("pendulum", length=LENGTH), "articulated", dt=1e-4).run(0.1, every=100, progress=False)
    weight = recording.model.total_mass * float(np.linalg.norm(recording.model.gravity))
    relative = float(np.abs(energy_drift(recording)).max() / (weight * LENGTH))
    return {
        "seconds": time.perf_counter() - began,
        "kernels": len(kernel.compiled),
        "kernel_seconds": sum(s for _, s, _ in kernel.compiled),
        "from_cache": all(cached for _, _, cached in kernel.compiled),
        "energy_drift": relative,
        "tolerance": TOLERANCE,
        "passed": relative <= TOLERANCE,
    }


def folder_bytes(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else 0


def clear_cache() -> tuple[Path, int]:
    """Remove the compiled kernels, and nothing else that may lie in that folder; where, and how many bytes."""
    root = kernel.cache_root()
    before = folder_bytes(root)
    kernel_cache.clear(root)
    return root, before - folder_bytes(root)
