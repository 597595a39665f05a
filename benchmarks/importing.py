"""Robots that ship in wheels: how long reading them takes, with meshes and without, and how large they are.

    python benchmarks/importing.py [--quick]

Each is read once to warm the parsers and MuJoCo's cache of assets, then three times; the least is given. MuJoCo's own compilation of the
same MJCF file stands beside.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from common import machine, table

import unibody as ub

URDF = {
    "panda": "panda_description/urdf/panda.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "tiago dual": "tiago_description/robots/tiago_dual.urdf",
    "g1 with hands": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
}
MJCF = {
    "humanoid": "suite/humanoid.xml",
    "quadruped": "suite/quadruped.xml",
    "fruitfly": "locomotion/walkers/assets/fruitfly_v2/fruitfly.xml",
    "dog": "suite/dog.xml",
}


def urdf_file(name: str) -> Path | None:
    """A file of example-robot-data."""
    try:
        found = [f for f in files("example-robot-data") or [] if str(f).endswith(f"example-robot-data/robots/{name}")]
    except PackageNotFoundError:
        return None
    return Path(str(found[0].locate())) if found else None


def mjcf_file(name: str) -> Path | None:
    """A file of dm_control."""
    spec = find_spec("dm_control")
    path = Path(spec.submodule_search_locations[0]) / name if spec is not None and spec.submodule_search_locations else None
    return path if path is not None and path.is_file() else None


def least(read: Callable[[], Any], times: int) -> float:
    read()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        read()
        taken.append(time.perf_counter() - began)
    return min(taken)


def triangles(model: ub.Model) -> int:
    return sum(len(s.shape.faces) for b in model.bodies for s in b.shapes if hasattr(s.shape, "faces"))


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    times, rows = (1, []) if quick else (3, [])
    for name, file in URDF.items():
        path = urdf_file(file)
        if path is None or (quick and name not in ("panda", "tiago dual")):
            continue
        options = {"floating": True} if name in ("anymal", "g1 with hands") else {}
        model = ub.load(path, **options).model
        whole = least(lambda path=path, options=options: ub.load(path, **options), times)
        bare = least(lambda path=path, options=options: ub.load(path, meshes=False, **options), times)
        counts = [str(model.n_bodies - 1), str(model.nv), f"{triangles(model) / 1e3:.0f}"]
        rows.append([f"{name} (URDF)", *counts, f"{1e3 * whole:.0f}", f"{1e3 * bare:.0f}", "–"])
    for name, file in MJCF.items():
        path = mjcf_file(file)
        if path is None or (quick and name != "humanoid"):
            continue
        import mujoco

        model = ub.load(path).model
        whole = least(lambda path=path: ub.load(path), times)
        theirs = least(lambda path=path: mujoco.MjModel.from_xml_path(str(path)), times)
        counts = [str(model.n_bodies - 1), str(model.nv), f"{triangles(model) / 1e3:.0f}"]
        rows.append([f"{name} (MJCF)", *counts, f"{1e3 * whole:.0f}", "–", f"{1e3 * theirs:.0f}"])
    if not rows:
        print("no robots here; pip install unibody[import,peers]")
        return 0
    print(table(["robot", "bodies", "freedoms", "1000 triangles", "ms", "ms without meshes", "MuJoCo alone ms"], rows))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
