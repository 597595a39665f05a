"""Files of simulations and recordings: one .npz with arrays, the model and the solver as text, written whole or not at all.

The model's text is that of scene files (`unibody.model.text`), so the same rules hold for code that it names.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unibody.errors import ModelError
from unibody.model import Model
from unibody.model.text import element_from_text, element_to_text, model_from_text, model_to_text
from unibody.simulation.whole_file import whole_file
from unibody.solvers import REGISTRY, Bound, Solver

FORMAT = 2


def write_npz(path: str | Path, kind: str, bound: Bound, arrays: dict[str, np.ndarray]) -> Path:
    """The arrays, with a head that says what they belong to."""
    solver = element_to_text(bound.solver, _solvers())
    head = json.dumps({"format": FORMAT, "kind": kind, "model": model_to_text(bound.model), "solver": solver})
    with whole_file(path) as file:
        np.savez(file, head=np.array(head), **arrays)  # type: ignore[arg-type]
    return Path(path)


def read_npz(
    path: str | Path, kind: str, model: Model | None, trust: bool | Sequence[str] = ()
) -> tuple[Bound, dict[str, np.ndarray]]:
    """The bound solver and the arrays of a file; `trust` says whose code its head may name."""
    source = Path(path)
    if not source.is_file():
        raise ModelError(f"file '{source}' does not exist; give the path of a saved {kind}")
    try:
        with np.load(source, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        head = json.loads(str(arrays.pop("head")))
        if not isinstance(head, dict):
            raise ValueError("its head says nothing")
    except (OSError, ValueError, TypeError, AttributeError, KeyError, EOFError, RecursionError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelError(f"file '{source}' is not a saved {kind} ({error}); give one written by save()") from None
    if head.get("kind") != kind:
        raise ModelError(f"file '{source}' holds a {head.get('kind')}, not a {kind}; load it as that")
    if head.get("format") != FORMAT:
        raise ModelError(f"file '{source}' has format {head.get('format')}, this version reads {FORMAT}; save it again")
    if model is None:
        model = model_from_text(head.get("model"), f"file '{source}'", trust)
    solver = element_from_text(head.get("solver"), f"solver of '{source}'", _solvers(), trust, Solver)
    return solver.bind(model), arrays


def _solvers() -> dict[str, type]:
    """By the names of their classes, as heads name them."""
    return {cls.__name__: cls for cls in REGISTRY.values()}
