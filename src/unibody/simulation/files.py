"""Files of simulations and recordings: one .npz with arrays, the model and the solver as text, written whole or not at all.

The model's text is that of scene files (`unibody.model.text`), so the same rules hold for code that it names. A fingerprint over model and
solver says whether the text is the one that was written. What is read is checked before anything runs on it: names, kinds, shapes and sizes
of arrays by `archive`, finite numbers and growing times here, and what a solver remembers by `Bound.memory_fault`. The head also lists the
fields of memory: a file whose memory has another layout than this version's is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.memory import MemorySchema
from unibody.model import Model
from unibody.model.text import element_from_text, element_to_text, model_from_text, model_to_text
from unibody.model.values import shown
from unibody.simulation.archive import Archive
from unibody.simulation.whole_file import whole_file
from unibody.solvers import REGISTRY, Bound, Solver

FORMAT = 4

KINDS = ("simulation", "recording")
ARRAYS = ("t", "q", "v", "memory", "control", "run")


def write_npz(path: str | Path, kind: str, bound: Bound, arrays: dict[str, np.ndarray]) -> Path:
    """The arrays, with a head that says what they belong to."""
    model, solver = model_to_text(bound.model), element_to_text(bound.solver, _solvers("unibody."))
    head = {
        "format": FORMAT, "kind": kind, "model": model, "solver": solver, "fingerprint": _fingerprint(model, solver),
        "memory": _layout(bound.memory_schema),
    }  # fmt: skip
    with whole_file(path) as file:
        np.savez(file, head=np.array(json.dumps(head)), **arrays)  # type: ignore[arg-type]
    return Path(path)


def read_npz(path: str | Path, kind: str, model: Model | None, trust: bool | Sequence[str] = ()) -> tuple[Bound, Archive]:
    """The bound solver and the arrays of a file; `trust` says whose code its head may name."""
    if model is not None and not isinstance(model, Model):
        raise ModelError(f"model={shown(model)} is not a Model; give the one that was saved")
    archive = Archive(path, kind, ARRAYS)
    head, source = archive.head, archive.path
    if (holds := head.get("kind")) != kind:
        raise ModelError(f"file '{source}' holds a {holds if holds in KINDS else shown(holds)}, not a {kind}; load it as that")
    version = head.get("format")
    if version != FORMAT or isinstance(version, bool | float):
        raise ModelError(f"file '{source}' has format {shown(version)}, this version reads {FORMAT}; run it again and save that")
    text, options = head.get("model"), head.get("solver")
    if head.get("fingerprint") != _fingerprint(text, options):
        raise archive.fault("its model or solver is not the one that was saved (the fingerprint differs)")
    if model is None:
        model = model_from_text(text, f"file '{source}'", trust)
    elif (place := _difference(text, json.loads(json.dumps(model_to_text(model))), "model")) is not None:
        raise ModelError(f"file '{source}' was saved with another model than the one given: {place} differs; give the same model")
    solver = element_from_text(options, f"solver of '{source}'", _solvers(), trust, Solver)
    bound = solver.bind(model)
    if head.get("memory") != _layout(bound.memory_schema):
        raise ModelError(f"file '{source}' has memory of another layout than this version's {solver.name}; run it again and save that")
    return bound, archive


def checked_rows(archive: Archive, bound: Bound, rows: int | None) -> dict[str, np.ndarray]:
    """t, q, v, memory and control of a file, each with one row per state (`rows` None: one state, without rows), fit to go on with."""
    count = 1 if rows is None else rows
    widths = {"q": bound.nq, "v": bound.nv, "memory": bound.memory_schema.size, "control": bound.model.neutral_control().size}
    out = {"t": archive.array("t", (count,))}
    for name, width in widths.items():
        empty = rows == 0 and archive.shapes[name] == (0,)  # so are lists of no rows written
        shape = (width,) if rows is None else (0,) if empty else (rows, width)
        out[name] = archive.array(name, shape).reshape(count, width)
    targets = bound.model.nv_joints + 6 * bound.model.n_bodies
    for name, values in (("t", out["t"]), ("q", out["q"]), ("v", out["v"]), ("control", out["control"][:, :targets])):
        if not np.isfinite(values).all():
            raise archive.fault(f"'{name}' is not finite")
    if np.isinf(out["control"]).any():
        raise archive.fault("'control' holds a target that is infinite")
    if (np.diff(out["t"]) < 0.0).any():
        raise archive.fault("its times do not grow")
    why = bound.state_fault(out["q"]) or bound.memory_fault(out["t"], out["memory"])
    if why is not None:
        raise archive.fault(why)
    return out


def _fingerprint(model: Any, solver: Any) -> str:
    """A digest of the texts of a model and a solver."""
    return hashlib.sha256(json.dumps([model, solver], sort_keys=True).encode()).hexdigest()


def _layout(schema: MemorySchema) -> list[list[Any]]:
    """Names and shapes of all fields, in their order."""
    return [[name, *field.shape] for name, _, field in schema.leaves()]


def _difference(saved: Any, given: Any, place: str) -> str | None:
    """Where two texts of models differ; what the file could not keep may be anything."""
    if isinstance(saved, dict) and "unnamed function" in saved:
        return None
    if isinstance(saved, dict) and isinstance(given, dict) and saved.keys() == given.keys():
        pairs = [(f"{place}.{key}", saved[key], given[key]) for key in saved]
    elif isinstance(saved, list) and isinstance(given, list) and len(saved) == len(given):
        pairs = [(f"{place}[{k}]", *pair) for k, pair in enumerate(zip(saved, given, strict=True))]
    else:
        return None if type(saved) is type(given) and saved == given else place
    return next((found for where, one, other in pairs if (found := _difference(one, other, where)) is not None), None)


def _solvers(ours: str = "") -> dict[str, type]:
    """Solvers by the names of their classes, as heads name them. Written are only those of this package; others as `module:Name`."""
    return {cls.__name__: cls for cls in REGISTRY.values() if cls.__module__.startswith(ours)}
