"""Timed runs: compile first, then measure; and what is said of a recording."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from unibody import kernel
from unibody.constraints import Contact
from unibody.element import number, step_length
from unibody.errors import StepFailed
from unibody.model import Model
from unibody.scenes import Scene
from unibody.simulation import Recording, Simulation
from unibody.simulation.simulation import check_count
from unibody.solvers import Choice, Solver
from unibody.spatial import Pose

RECORDED = 600
"""States kept of a run unless --every says otherwise: enough for a smooth curve."""


@dataclass(frozen=True)
class RunOutcome:
    """A run: its recording, how long making ready took, and the failure if there was one."""

    recording: Recording
    ready_seconds: float
    kernels: int
    from_cache: bool
    failure: StepFailed | None
    notes: tuple[str, ...] = ()
    """What the simulation noted."""

    @property
    def failed(self) -> bool:
        return self.failure is not None


@dataclass(frozen=True)
class Summary:
    """What is said of a run. Energies in J, violation in m or rad, times in s."""

    solver: str
    status: str
    steps: int
    time: float
    dt: float
    seconds_per_step: float
    ready_seconds: float
    kernels: int
    kernels_from_cache: bool
    energy_start: float
    energy_end: float
    energy_drift: float
    energy_drift_relative: float
    violation: float
    redundant: int
    redundant_elements: tuple[str, ...]
    choice: str | None
    """Why the solver was chosen, where none was asked for."""
    notes: tuple[str, ...]
    contacts: dict[str, float] | None
    """Of a model with contact: how many there are at the `end` and at `most`, and the `mean_normal_force` of all together [N]."""
    overlaps: tuple[dict[str, object], ...]
    """Bodies that are inside each other at the start, the deepest first: `bodies`, `depth` [m]."""
    error: str | None
    element: str | None

    def plain(self) -> dict[str, object]:
        return asdict(self)


def rows_apart(duration: float, dt: float, every: int | None) -> int:
    """Steps between recorded states; of its own choice one that divides the run, so that its end is recorded."""
    step_length(dt, "dt")
    number(duration, "duration", minimum=0.0)
    check_count(duration, dt)
    if every is not None:
        return every
    steps = round(duration / dt)
    wanted = max(1, steps // RECORDED)
    return next((k for k in range(wanted, wanted // 2, -1) if steps % k == 0), wanted)


def timed(scene: Scene | Model, solver: Solver, dt: float, duration: float, every: int, progress: bool | None) -> RunOutcome:
    """Run; two steps and one look on a throw-away simulation come first, so that no compilation is in the time per step."""
    known, began = len(kernel.compiled), time.perf_counter()
    with _told(f"making '{solver.name}' ready; a first run compiles for some tens of seconds …", progress), contextlib.suppress(StepFailed):
        first = Simulation(scene, solver, dt=dt).run(2 * dt, progress=False)
        _ = first.observations
    ready, made = time.perf_counter() - began, kernel.compiled[known:]
    simulation, failure = Simulation(scene, solver, dt=dt), None
    try:
        recording = simulation.run(duration, every=every, progress=progress)
    except StepFailed as failed:
        failure = failed
        recording = failed.recording
    return RunOutcome(recording, ready, len(made), all(cached for _, _, cached in made), failure, simulation.notes)


@contextlib.contextmanager
def _told(message: str, progress: bool | None) -> Iterator[None]:
    """A line on the terminal for as long as it lasts."""
    on = sys.stderr.isatty() if progress is None else progress
    if on:
        sys.stderr.write(message)
        sys.stderr.flush()
    try:
        yield
    finally:
        if on:
            sys.stderr.write("\r" + " " * len(message) + "\r")
            sys.stderr.flush()


def summary(label: str, outcome: RunOutcome, choice: Choice | None = None) -> Summary:
    """Numbers of a run. A failed one may hold states that overflow; they count as they are."""
    from unibody.view.motion import energy_drift, energy_scale

    recording, failure = outcome.recording, outcome.failure
    with np.errstate(all="ignore"):
        drift, scale = energy_drift(recording), energy_scale(recording)
        worst = float(np.abs(drift).max())
        energy = recording.energy.total
        violation = float(recording.violation.max())
    seen = max(recording.observations, key=lambda o: o.redundant)
    steps, told = recording.steps, [] if choice is None else [choice.line]
    told += [note for note in outcome.notes if "inside each other" not in note]  # of which `overlaps` has all
    return Summary(
        solver=label, status="failed" if failure else "done", steps=steps, time=float(recording.t[0] + steps * recording.dt),
        dt=recording.dt, seconds_per_step=recording.seconds / steps if steps else float("nan"), ready_seconds=outcome.ready_seconds,
        kernels=outcome.kernels, kernels_from_cache=outcome.from_cache, energy_start=float(energy[0]), energy_end=float(energy[-1]),
        energy_drift=worst, energy_drift_relative=worst / scale if scale > 0.0 else 0.0, violation=violation, redundant=seen.redundant,
        redundant_elements=tuple(seen.redundant_names), choice=None if choice is None else choice.reason,
        notes=tuple(dict.fromkeys([*told, *recording.reports[0].notes])), contacts=contact_counts(recording),
        overlaps=start_overlaps(recording),
        error=None if failure is None else " ".join(str(failure).split()), element=None if failure is None else failure.element,
    )  # fmt: skip


def contact_counts(recording: Recording) -> dict[str, float] | None:
    """Contacts at the last recorded state, the most at one, and what all of them press together, on average; None without contact."""
    if not any(isinstance(c, Contact) for _, c in recording.model.constraints):
        return None
    each = recording.contacts
    pressed = [float(np.sum(c.normal_forces)) for c in each]
    return {"end": len(each[-1]), "most": max(map(len, each)), "mean_normal_force": float(np.mean(pressed))}


def start_overlaps(recording: Recording) -> tuple[dict[str, object], ...]:
    """What is inside each other where a recording begins, as far as contact knows it."""
    from unibody.collision.rigid.overlapping import overlaps

    model, X = recording.model, np.tile(np.r_[np.eye(3).ravel(), np.zeros(3)], (recording.model.n_bodies, 1))
    for i, body in enumerate(model.bodies[1:], start=1):
        at = recording.pose(body.name)[0]
        X[i, :9], X[i, 9:] = np.ravel(Pose(p=at[:3], wxyz=at[3:]).R), at[:3]
    return tuple({"bodies": [o.one, o.other], "depth": o.depth} for o in overlaps(model, X))


def keep_failed(recording: Recording, name: str, out: Path | None) -> Path:
    """Save what there is of a failed run: where asked, else beside the user under a name that says what it is."""
    return recording.save(out or Path(f"{name}-failed.npz"))
