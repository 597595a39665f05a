"""Files of simulations and recordings: one .npz with arrays, the model and the solver as text, written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np

from unibody.errors import ModelError
from unibody.model import Model
from unibody.model.text import element_from_text, element_to_text, model_from_text, model_to_text
from unibody.solvers import Bound

FORMAT = 1


def write_npz(path: str | Path, kind: str, bound: Bound, arrays: dict[str, np.ndarray]) -> Path:
    """Write beside the target, flush to disk, then rename over it: a killed process leaves the old file whole."""
    target = Path(path)
    head = json.dumps({"format": FORMAT, "kind": kind, "model": model_to_text(bound.model), "solver": element_to_text(bound.solver)})
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent or Path("."))
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, head=np.array(head), **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    return target


def read_npz(path: str | Path, kind: str, model: Model | None) -> tuple[Bound, dict[str, np.ndarray]]:
    """The bound solver and the arrays of a file."""
    source = Path(path)
    if not source.is_file():
        raise ModelError(f"file '{source}' does not exist; give the path of a saved {kind}")
    try:
        with np.load(source, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        head = json.loads(str(arrays.pop("head")))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelError(f"file '{source}' is not a saved {kind} ({error}); give one written by save()") from None
    if head.get("kind") != kind:
        raise ModelError(f"file '{source}' holds a {head.get('kind')}, not a {kind}; load it as that")
    if head.get("format") != FORMAT:
        raise ModelError(f"file '{source}' has format {head.get('format')}, this version reads {FORMAT}; save it again")
    if model is None:
        model = model_from_text(head["model"], str(source))
    solver = element_from_text(head["solver"], f"solver of '{source}'")
    return solver.bind(model), arrays
