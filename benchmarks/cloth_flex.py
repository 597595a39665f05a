"""A pinned cloth of 45 × 45 vertices swings down without contact, beside MuJoCo's flex (`discrete`): time to equal error.

    python benchmarks/cloth_flex.py [--quick]

1 m × 1 m, held along one side, released level. Same masses, moduli and thickness, stretch and bending; ours is
neo-Hookean with the bending of plates, MuJoCo's St. Venant-Kirchhoff with its own. The error is that of the time steps: the root mean
square over all vertices at the end, against the same engine with much smaller steps; how far apart these references are is printed, too.
One thread, the thread's processor time, least of some turns; starting up is not timed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from common import machine, table

import unibody as ub
from unibody.solvers import Barrier, RedMax

YOUNG, POISSON, THICKNESS, DENSITY = 1e6, 0.3, 1e-3, 200.0
SECONDS, TURNS, FEW = 0.3, 2, 24
STEPS = (6, 12, 24, 48, 96, 192)
MUJOCO = """<mujoco><option timestep="{dt}" integrator="discrete" gravity="0 0 -9.81"/>
<worldbody><flexcomp name="cloth" type="grid" dim="2" count="{n} {n} 1" spacing="{s} {s} 0.1" radius="0.001" mass="{mass}">
<contact contype="0" conaffinity="0" selfcollide="none"/><edge equality="false"/>
<elasticity young="{E}" poisson="{nu}" thickness="{t}" damping="0" elastic2d="both"/>
<pin gridrange="0 0 {last} 0"/></flexcomp></worldbody></mujoco>"""


def flex(n: int, dt: float, steps: int) -> tuple[np.ndarray, float]:
    """MuJoCo's vertices at the end, and the time it took."""
    import mujoco

    values = {"E": YOUNG, "nu": POISSON, "t": THICKNESS, "mass": DENSITY * THICKNESS, "dt": dt, "n": n, "s": 1.0 / (n - 1), "last": n - 1}
    model = mujoco.MjModel.from_xml_string(MUJOCO.format(**values))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    began = time.thread_time()
    mujoco.mj_step(model, data, nstep=steps)
    spent = time.thread_time() - began
    mujoco.mj_forward(model, data)
    return data.flexvert_xpos.copy(), spent


def scene(n: int, like: np.ndarray) -> ub.Model:
    """The same cloth, on MuJoCo's vertices, held where two rows of its grid are fixed."""
    b = ub.Builder()
    # squares of its grid, cut by one diagonal
    i, j = np.meshgrid(np.arange(n - 1), np.arange(n - 1), indexing="ij")
    a = (i * n + j).ravel()
    faces = np.concatenate([np.stack([a, a + n, a + n + 1], axis=1), np.stack([a, a + n + 1, a + 1], axis=1)])
    sheet = b.cloth("cloth", ub.TriMesh(like, faces), ub.Fabric(young=YOUNG, poisson=POISSON, thickness=THICKNESS), density=DENSITY)
    b.attach(sheet.vertices[np.abs(like[:, 1] - like[:, 1].min()) < 1e-9], b.world)
    return b.build()


def ours(model: ub.Model, solver: object, dt: float, steps: int) -> tuple[np.ndarray, float]:
    """Our vertices at the end, and the time it took."""
    sim = ub.Simulation(model, solver, dt=dt)
    began = time.thread_time()
    rec = sim.run(steps * dt, every=steps)
    return rec.vertices("cloth")[-1], time.thread_time() - began


def rms(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.sqrt(((x - y) ** 2).sum(axis=1).mean()))


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    n, counts, turns = (9, STEPS[:3], 1) if quick else (45, STEPS, TURNS)
    start, _ = flex(n, 1e-9, 1)
    model = scene(n, start)
    contenders: dict[str, Callable[[float, int], tuple[np.ndarray, float]]] = {
        "MuJoCo, discrete": partial(flex, n), "redmax": partial(ours, model, RedMax()),
        "redmax, bdf2": partial(ours, model, RedMax(rule="bdf2")), "barrier": partial(ours, model, Barrier()),
        "barrier, bdf2": partial(ours, model, Barrier(rule="bdf2")),
    }  # fmt: skip
    fine = 8 * counts[-1]
    theirs, _ = flex(n, SECONDS / fine, fine)
    own, _ = ours(model, RedMax(rule="bdf2"), SECONDS / (2 * counts[-1]), 2 * counts[-1])
    print(f"{n} × {n} vertices, {SECONDS} s: references are {1e3 * rms(theirs, own):.2f} mm apart, root mean square")
    rows = []
    for name, run in contenders.items():
        for steps in counts:
            try:
                tries = [run(SECONDS / steps, steps) for _ in range(turns if steps <= FEW else 1)]
            except ub.StepFailed as failed:
                rows.append([name, steps, "-", "-", str(failed)[:40]])
                continue
            spent = min(seconds for _, seconds in tries)
            error = rms(tries[0][0], theirs if name.startswith("MuJoCo") else own)
            rows.append([name, steps, f"{1e3 * spent / steps:.1f}", f"{spent:.3f}", f"{1e3 * error:.3f}"])
            print(" ".join(map(str, rows[-1])), flush=True)
    print(table(("method", "steps", "ms/step", "s", "error mm"), rows))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
