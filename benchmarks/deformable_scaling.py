"""Cost of a step over the size of a deformable: cloth of 1 000 to 30 000 vertices, solids of 1 000 to 20 000 tetrahedra.

    python benchmarks/deformable_scaling.py [--quick] [--steps N] [--breakdown FILE.png]

The same piece of cloth falls on a ball and folds over it, and the same block of rubber falls on the ground, at dt = 1/24 s: only the mesh
becomes finer. Solver `barrier` with contact, self-contact and friction. Each size runs in a process of its own, whose memory is what it had
at most beyond a run of the smallest size of all. Times are processor time; exponents are slopes over the logarithms of vertices or
tetrahedra. Parts are those of Fig. 24 of paper 003.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
from common import machine, table
from deformable_table2 import PARTS, draw, watched

import unibody as ub

CLOTH, SOLID = (1000, 3000, 10_000, 30_000), (1000, 3000, 8000, 20_000)
SMALL = 200
STEPS = 3


@dataclass
class Made:
    """What `watched` runs."""

    model: ub.Model

    def default_solver(self) -> str:
        return "barrier"


def cloth(vertices: int) -> tuple[ub.Model, int]:
    """0.5 m × 0.5 m, a hair above a ball."""
    b = ub.Builder()
    b.body("ball", ub.Sphere(0.1), kind="static")
    # n triangles of side a cover about n a² √3 / 4, and there are two a vertex
    mesh = ub.TriMesh.grid((0.5, 0.5), spacing=0.5 * np.sqrt(2.0 / np.sqrt(3.0) / vertices))
    sheet = b.cloth("cloth", mesh, ub.Fabric(young=4e5, poisson=0.3, thickness=1e-3), density=400, X_WB=ub.Pose((0, 0, 0.103)))
    b.add(ub.Contact(friction=0.3, self_contact=True, reach=1e-3))
    return b.build(), len(sheet.vertices)


def solid(tetrahedra: int) -> tuple[ub.Model, int]:
    """A cube of 0.2 m, tilted and a hair above the ground."""
    b = ub.Builder()
    b.body("ground", ub.Plane(), kind="static")
    n = max(1, round((tetrahedra / 6.0) ** (1.0 / 3.0)))
    mesh = ub.TetMesh.box((0.2, 0.2, 0.2), cells=(n, n, n))
    b.soft("cube", mesh, ub.NeoHookean(young=5e4, poisson=0.4), density=1000, X_WB=ub.Pose.about((1, 0, 0), 0.1, p=(0, 0, 0.112)))
    b.add(ub.Contact(friction=0.3, self_contact=True, reach=1e-3))
    return b.build(), len(mesh.tets)


KINDS = {"cloth": cloth, "solid": solid}


def peak() -> float:
    """Of this process, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def one(kind: str, size: int, steps: int) -> dict[str, object]:
    """A size, in this process."""
    watched(Made(KINDS[kind](SMALL)[0]), 1)
    before = peak()
    model, count = KINDS[kind](size)
    r = watched(Made(model), steps)
    seconds, iterations = float(r["each"].sum()), max(1, int(r["iterations"].sum()))
    return {
        "count": count, "contacts": int(r["contacts"].max()), "iterations": iterations / steps, "step": 1e3 * seconds / steps,
        "iteration": 1e3 * seconds / iterations, "memory": peak() - before,
        "shares": [100.0 * r["spent"][part] / seconds for part in PARTS],
    }  # fmt: skip


def slope(x: list[float], y: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0]) if len(x) > 1 else np.nan


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if "--one" in arguments:
        at = arguments.index("--one")
        print(json.dumps(one(arguments[at + 1], int(arguments[at + 2]), int(arguments[at + 3]))))
        return 0
    quick = "--quick" in arguments
    steps = int(arguments[arguments.index("--steps") + 1]) if "--steps" in arguments else 1 if quick else STEPS
    rows, parts = [], []
    for kind, sizes in (("cloth", CLOTH), ("solid", SOLID)):
        found = []
        for size in sizes[:2] if quick else sizes:
            ask = [sys.executable, __file__, "--one", kind, str(size), str(steps)]
            found.append(json.loads(subprocess.run(ask, check=True, capture_output=True, text=True).stdout.splitlines()[-1]))
            f = found[-1]
            shares = [*f["shares"], 100.0 - sum(f["shares"])]
            rows.append([kind, f["count"], f["contacts"], f"{f['iterations']:.1f}", f"{f['step']:.0f}", f"{f['iteration']:.1f}",
                         f"{f['memory']:.0f}", *(f"{share:.0f}" for share in shares)])  # fmt: skip
            parts.append([f"{kind} {f['count']}", *(f"{share:.0f}" for share in shares)])
            print(" ".join(map(str, rows[-1])), flush=True)
        many = [f["count"] for f in found]
        exponents = {what: slope(many, [max(f[what], 1e-3) for f in found]) for what in ("step", "iteration", "memory")}
        print(f"{kind}: exponents", {what: round(e, 2) for what, e in exponents.items()}, flush=True)
    head = ("kind", "size", "contacts", "its/step", "ms/step", "ms/it", "MB", *(f"{part} %" for part in PARTS), "rest %")
    print(table(head, rows))
    if "--breakdown" in arguments:
        draw(parts, arguments[arguments.index("--breakdown") + 1])
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
