"""One run of a study, wherever it runs: in this thread, in another process, on another machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unibody.errors import ModelError, UnibodyError
from unibody.simulation import Simulation
from unibody.studies.measures import Variable, measured
from unibody.studies.source import build_run

PENDING, OK, FAILED = range(3)
STATUS = ("pending", "ok", "failed")


@dataclass(frozen=True)
class Task:
    """What all runs of a study have in common."""

    source: Any
    solver: Any
    duration: float | None
    dt: float | None
    every: int
    measure: Any


@dataclass(frozen=True)
class Outcome:
    """What a run gave. A failed one has a message and keeps nothing else."""

    status: int
    message: str = ""
    kept: Mapping[str, Variable] = field(default_factory=dict)
    labels: Mapping[str, np.ndarray] = field(default_factory=dict)
    seconds: float = 0.0


def told_of(point: Mapping[str, Any]) -> str:
    """The parameters of a run in words."""
    return ", ".join(f"{name}={value!r}" for name, value in point.items()) or "no parameters"


def perform(task: Task, point: Mapping[str, Any]) -> Outcome:
    """Run it. What this package refuses or cannot finish is a failed run; errors of the user's own code are raised with the point that
    they happened at."""
    began = time.perf_counter()
    try:
        made = build_run(task.source, point)
        duration = task.duration if task.duration is not None else made.duration
        if duration is None:
            raise ModelError("sweep: no duration; give duration=, or return a Scene that has one")
        dt = task.dt if task.dt is not None else made.dt
        solver = made.solver if made.solver and task.solver == "auto" else task.solver
        rec = Simulation(made.model, solver, dt).run(duration, every=task.every, progress=False)
        kept, labels = measured(task.measure, rec)
    except UnibodyError as error:
        return Outcome(FAILED, str(error), seconds=time.perf_counter() - began)
    except Exception as error:
        error.add_note(f"in the run of a study with {told_of(point)}")
        raise
    return Outcome(OK, "", kept, labels, time.perf_counter() - began)
