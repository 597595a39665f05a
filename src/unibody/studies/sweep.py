"""`sweep`: one call, many runs, one Dataset.

    for every point of the design:   scene = build(**point),   rec = Simulation(scene, solver, dt).run(duration),   keep measure(rec)

A run is what a `Simulation` of that scene is, whatever the executor, so its numbers are the same to the last bit. Runs end in any order;
each is written down when it does.
"""

from __future__ import annotations

import hashlib
import json
import queue
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unibody.element import number, step_length, whole_number
from unibody.errors import ModelError, UnibodyError, UnibodyWarning
from unibody.model.text import model_to_text
from unibody.studies.design import MOST_RUNS, Design
from unibody.studies.executors import opened
from unibody.studies.measures import checked_measure
from unibody.studies.one_run import FAILED, PENDING, Task, perform, told_of
from unibody.studies.source import build_run
from unibody.studies.store import Results, opened_store, writing

AHEAD = 256
"""Runs that are handed out at a time."""


def sweep(
    build: Any, parameters: Any, solver: Any = "auto", duration: float | None = None, measure: Any = None, dt: float | None = None,
    every: int = 1, executor: Any = "threads", workers: int | None = None, store: str | Path | None = None, progress: bool | None = None,
) -> Any:  # fmt: skip
    """Run a scene for all points of a design; an `xarray.Dataset` over the parameters' dimensions, then those of what is measured.

    `build`: a function of the parameters that returns a Builder, Model or Scene; or a scene's name, a file, a Scene, a Model or a Builder,
    whose parameters are their own or paths such as "elbow.damping". `parameters`: a mapping of names to lists of values (a grid), a design
    (`listed`, `latin_hypercube`, `sobol`, `normal`), or a sequence of these, of which the product is taken.

    `measure`: a function of a recording that returns name → number or array, or names of those in `unibody.studies.measures`. `executor`:
    "threads", "processes", "serial", any `concurrent.futures.Executor`, or a Dask client. `store`: a folder, written as Zarr while runs
    end; the same call goes on with what is there.

    Failed runs are kept: their `status` is 2 (`flag_meanings`), their `message` says why, and their numbers are NaN.

    >>> import unibody as ub
    >>> data = ub.sweep("pendulum", {"length": [0.5, 1.0]}, duration=0.1, measure=lambda rec: {"angle": rec.joint("pivot")[-1, 0]})
    >>> data["angle"].dims, bool((data["status"] == 1).all())
    (('length',), True)
    """
    # what is asked for, checked before anything runs
    for needed in ("xarray", *(["zarr"] if store is not None else [])):
        if find_spec(needed) is None:
            raise ModelError(f"sweep needs {needed}, which is not installed; pip install unibody[studies]")
    design = Design.of(parameters)
    if not 0 < len(design) <= MOST_RUNS:
        raise ModelError(f"sweep: the design has {len(design)} runs; give 1 … {MOST_RUNS}")
    task = Task(
        build, solver, number(duration, "sweep duration", minimum=0.0) if duration is not None else None,
        step_length(dt, "sweep dt") if dt is not None else None, whole_number(every, "sweep every"), checked_measure(measure),
    )  # fmt: skip
    # results that are there already, and the runs that are not
    settings = _settings(task, design) if store is not None else {}
    results = opened_store(store, design, settings)
    place = Path(store) if store is not None else None
    with opened(executor, workers) as pool:
        _run_all(task, design, results, pool, place, _Progress(results, progress))
    # one Dataset of all
    told = {"runs": len(design), "failed": results.count(FAILED), "solver": str(solver)}
    data = results.dataset(told)
    if told["failed"] == len(design):
        why = str(data["message"].values.ravel()[0])
        warnings.warn(f"sweep: all {len(design)} runs failed, the first because: {why}", UnibodyWarning, stacklevel=2)
    return data


def _run_all(task: Task, design: Design, results: Results, pool: Any, store: Path | None, progress: _Progress) -> None:
    """Hand out the runs that are waiting, some ahead, and write down each that ends."""
    ended: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
    waiting: Iterator[int] = iter(results.waiting())
    out: dict[int, Any] = {}

    def hand_out() -> None:
        run = next(waiting, None)
        if run is not None:
            out[run] = pool.submit(perform, task, design.point(run))
            out[run].add_done_callback(lambda future, run=run: ended.put((run, future)))

    try:
        for _ in range(AHEAD):
            hand_out()
        while out:
            run, future = ended.get()
            del out[run]
            outcome = future.result()
            with writing(store):
                results.record(run, outcome)
            progress.show()
            hand_out()
    except (BrokenExecutor, CancelledError) as error:
        left = results.count(PENDING)
        kept = f"; {len(design) - left} of {len(design)} are in '{store}'" if store is not None else ""
        remedy = "call again with store= to go on, or use a Dask client, which replaces workers"
        raise ModelError(f"sweep: a worker died with {left} runs to go ({type(error).__name__}){kept}; {remedy}") from error
    except (AttributeError, TypeError) as error:  # of pickling, before anything has run
        if "pickle" in str(error).lower() or "local object" in str(error):
            raise ModelError(f"sweep: {error}; give functions of a module, or executor='threads'") from error
        raise
    finally:
        for future in out.values():
            future.cancel()
        progress.close()


def _settings(task: Task, design: Design) -> dict[str, Any]:
    """What makes a study another one, as JSON; of a function its name, and the model that it builds at the first point."""
    measure = task.measure if isinstance(task.measure, tuple) else f"{task.measure.__module__}.{task.measure.__qualname__}"
    try:
        text = json.dumps(model_to_text(build_run(task.source, design.point(0)).model), sort_keys=True)
        model = hashlib.sha256(text.encode()).hexdigest()[:16]
    except UnibodyError:  # functions that cannot be written down, or a first point that is refused
        model = ""
    except Exception as error:
        error.add_note(f"in the run of a study with {told_of(design.point(0))}")
        raise
    solver = task.solver if isinstance(task.solver, str) else repr(task.solver)
    source = getattr(task.source, "__qualname__", None) or (task.source if isinstance(task.source, str) else type(task.source).__name__)
    return {
        "source": source, "model": model, "solver": solver, "duration": task.duration, "dt": task.dt, "every": task.every,
        "measure": list(measure) if isinstance(measure, tuple) else measure,
    }  # fmt: skip


class _Progress:
    """A line on a terminal: how many runs are done, and how long the rest will take at the pace so far."""

    def __init__(self, results: Results, on: bool | None):
        self._results, self._on = results, sys.stderr.isatty() if on is None else on
        self._total, self._before = len(results.status), len(results.status) - results.count(PENDING)
        self._began, self._last, self._done = time.perf_counter(), 0.0, 0

    def show(self) -> None:
        self._done += 1
        now = time.perf_counter()
        done = self._before + self._done
        if not self._on or (now - self._last < 0.1 and done < self._total):
            return
        self._last = now
        left = (now - self._began) / self._done * (self._total - done)
        failed = self._results.count(FAILED)
        sys.stderr.write(f"\r{done} of {self._total} runs, {failed} failed, {_span(left)} left   ")
        sys.stderr.flush()

    def close(self) -> None:
        if self._on and self._done:
            sys.stderr.write("\n")


def _span(seconds: float) -> str:
    """A time in the units that people read."""
    if seconds < 60.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


