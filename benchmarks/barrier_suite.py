"""The scenes of the rigid-ipc test suite with the barrier solver, at the settings of their files and at the defaults of the solver.

    python benchmarks/barrier_suite.py [--quick] [--scene PART] [--folder DIRECTORY] [--seconds MOST]

Every scene of the folder (../shared/reference/rigid-ipc/scenes) runs for its own time with its own step (--quick: a tenth of a second), for
at most so many seconds of processor time (60): contacts, iterations, milliseconds a step, the slowest step in units of the median, and in
how many of a hundred states that are looked at, at most, bodies intersect, by an exact test that knows nothing of the solver. Files name
slip speeds and renewals of friction; defaults are those of `Barrier()`. A step that fails is told.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from common import machine, table

import unibody as ub
from unibody.files.rigid_ipc import load_rigid_ipc
from unibody.solvers import Barrier

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "verification"))
from crossings import intersections

LOOKS = 100


def of_file(path: Path) -> Barrier:
    """The options that a scene's file asks for; Newton's method ends far below the slip speed."""
    asked = json.loads(path.read_text(encoding="utf-8")).get("friction_constraints", {})
    slip = asked.get("static_friction_speed_bound", 1e-3)
    return Barrier(slip_speed=slip, friction_iterations=max(0, asked.get("iterations", 1)), tolerance=min(1e-5, 1e-2 * slip))


def measure(path: Path, solver: Barrier, seconds: float, duration: float | None) -> list[object]:
    """A row of the table; the first step, in which kernels are read, is not timed."""
    made = load_rigid_ipc(path)
    simulation = ub.Simulation(made.model, solver, dt=made.dt)
    steps = max(2, round((duration or made.duration) / made.dt))
    look, began, told = max(1, steps // LOOKS), time.process_time(), "end"
    spent, iterations, contacts, bad = [], [], [0], 0
    for k in range(steps):
        start = time.process_time()
        try:
            if k % look:
                report = simulation.step()
            else:
                rec = simulation.run(made.dt)
                report = simulation.report
        except ub.StepFailed as failed:
            told = str(failed)[:90]
            break
        iterations.append(report.iterations)
        contacts.append(int(report.notes[0].split()[0]))
        if k % look:
            spent.append(1e3 * (time.process_time() - start))
        else:
            bad += bool(intersections(rec))
        if time.process_time() - began > seconds:
            told = f"{(k + 1) * made.dt:.2f} s"
            break
    of = np.array(spent or [np.nan])
    return [
        len(iterations), made.model.n_bodies - 1, max(contacts), f"{np.mean(iterations or [np.nan]):.1f}", max(iterations, default=0),
        f"{of.mean():.1f}", f"{np.median(of):.1f}", f"{of.max() / np.median(of):.1f}", bad, told,
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments

    def given(name: str, usual: str) -> str:
        return arguments[arguments.index(name) + 1] if name in arguments else usual

    folder = Path(given("--folder", str(Path(__file__).resolve().parents[2] / "shared" / "reference" / "rigid-ipc" / "scenes")))
    part, seconds, quick = given("--scene", ""), float(given("--seconds", "60")), "--quick" in arguments
    found = [path for path in sorted(folder.rglob("*.json")) if part in str(path)]
    if not found:
        print(f"no scenes in {folder}; give --folder")
        return 1
    head = ["scene", "settings", "steps", "bodies", "contacts", "its/step", "most", "ms/step", "median", "slowest/median", "intersect"]
    head.append("until")
    print("  ".join(head), flush=True)
    rows = []
    warnings.simplefilter("ignore")
    for path in found:
        for name, solver in (("file", of_file(path)), ("default", Barrier())):
            row = [path.stem, name, *measure(path, solver, seconds, 0.1 if quick else None)]
            print("  ".join(map(str, row)), flush=True)
            rows.append(row)
    print(table(head, rows))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
