"""Where the results of a study stand: in memory, or in a Zarr store on disk that grows while runs end.

Every variable is one array over the dimensions of the design, then its own; a run is one chunk. Of a run its variables are written first,
then its message, and its status last: a run counts from the moment at which its status stands there, so a study that was killed goes on
with those that do not, and none is lost or made twice. Arrays appear whole, by a rename; so do chunks, which Zarr writes that way.

A store says which study it belongs to. Another one is refused, with what differs.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.simulation.whole_file import remedy
from unibody.studies.design import Design
from unibody.studies.one_run import FAILED, OK, PENDING, STATUS, Outcome

FORMAT = 1
LONGEST = 400
"""Characters kept of a message."""
HEAD = "unibody_study"
RESERVED = ("status", "message", "seconds")
"""What is kept of every run."""
UNITS = {"time": "s", "seconds": "s"}


class Arrays:
    """Arrays by name, in memory. `attributes` are those of the whole."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._told: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {}

    def names(self) -> list[str]:
        return list(self._arrays)

    def create(self, name: str, dims: tuple[str, ...], values: np.ndarray, chunks: tuple[int, ...], attributes: Mapping[str, Any]) -> None:
        """A new array. One of runs is full of one number, and written later, run by run."""
        self._arrays[name], self._told[name] = np.array(values), (dims, dict(attributes))

    def put(self, name: str, place: tuple[int, ...], values: Any) -> None:
        self._arrays[name][place] = values

    def get(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def shape(self, name: str) -> tuple[int, ...]:
        return self._arrays[name].shape

    def dataset(self, attributes: Mapping[str, Any]) -> Any:
        import xarray

        variables = {name: xarray.Variable(self._told[name][0], x, self._told[name][1]) for name, x in self._arrays.items()}
        data = xarray.Dataset(variables, attrs=dict(attributes))
        return data.set_coords([name for name, (_, told) in self._told.items() if told.get("role") == "coordinate"])


class ZarrArrays(Arrays):
    """The same in a folder."""

    def __init__(self, path: Path) -> None:
        import zarr

        super().__init__()
        self.path = path
        self._zarr = zarr
        self._group = zarr.open_group(path, mode="r+", zarr_format=2)

    def names(self) -> list[str]:
        return list(self._group.array_keys())

    def create(self, name: str, dims: tuple[str, ...], values: np.ndarray, chunks: tuple[int, ...], attributes: Mapping[str, Any]) -> None:
        # made in a folder of its own and renamed, so that an array is there as a whole or not at all
        making = self.path / f".{name}.part"
        shutil.rmtree(making, ignore_errors=True)
        fill = values.flat[0] if chunks != values.shape and values.size else 0
        apart = self._zarr.open_group(making, mode="w", zarr_format=2)
        kind = {"dtype": values.dtype, "fill_value": "" if values.dtype.kind == "U" else fill}
        made = apart.create_array(name, shape=values.shape, chunks=tuple(max(1, n) for n in chunks), **kind)
        made.attrs.update({**attributes, "_ARRAY_DIMENSIONS": list(dims)})
        if chunks == values.shape and values.size:
            made[...] = values
        os.replace(making / name, self.path / name)
        shutil.rmtree(making, ignore_errors=True)

    def put(self, name: str, place: tuple[int, ...], values: Any) -> None:
        if np.size(values):
            self._group[name][place] = values

    def get(self, name: str) -> np.ndarray:
        return self._group[name][...]

    def shape(self, name: str) -> tuple[int, ...]:
        return self._group[name].shape

    def dataset(self, attributes: Mapping[str, Any]) -> Any:
        import xarray

        data = xarray.open_zarr(self.path, consolidated=False, zarr_format=2, chunks=None, decode_cf=False).assign_attrs(attributes)
        return data.set_coords([str(name) for name, x in data.variables.items() if x.attrs.get("role") == "coordinate"])


class Results:
    """The runs of a design: what was kept of each, its status, message and time."""

    def __init__(self, design: Design, arrays: Arrays):
        self._design, self._arrays = design, arrays
        if "status" not in arrays.names():
            self._begin()
        self.status: np.ndarray = np.asarray(arrays.get("status")).astype(np.int64).ravel()
        """(runs,) of every run."""
        self._laid = any(name not in self._own() for name in arrays.names())

    def _own(self) -> set[str]:
        return {*RESERVED, *self._design.values}

    def _begin(self) -> None:
        """Parameters, then status: a store that has one is complete."""
        for name, (dims, x) in self._design.values.items():
            self._arrays.create(name, dims, x, x.shape, {"role": "coordinate"})
        dims, shape = tuple(self._design.sizes), self._design.shape
        each = (1,) * len(shape)
        self._arrays.create("seconds", dims, np.full(shape, np.nan), each, {"units": "s", "long_name": "time that the run took"})
        self._arrays.create("message", dims, np.zeros(shape, f"<U{LONGEST}"), each, {"long_name": "why the run failed"})
        words = {"flag_values": list(range(len(STATUS))), "flag_meanings": " ".join(STATUS)}
        self._arrays.create("status", dims, np.full(shape, PENDING, np.int8), each, words)

    def waiting(self) -> list[int]:
        """Numbers of the runs that are not done."""
        return np.flatnonzero(self.status == PENDING).tolist()

    def count(self, status: int) -> int:
        return int((self.status == status).sum())

    def record(self, run: int, outcome: Outcome) -> None:
        """Write down what a run gave. One whose variables are not those of the first good run counts as failed."""
        if outcome.status == OK and not self._laid:
            self._lay_out(outcome)
        if outcome.status == OK and (why := self._misfit(outcome)) is not None:
            outcome = replace(outcome, status=FAILED, message=why)
        place = self._design.place(run)
        if outcome.status == OK:
            for name, variable in outcome.kept.items():
                self._arrays.put(name, place, variable.values)
        self._arrays.put("seconds", place, outcome.seconds)
        if outcome.message:
            self._arrays.put("message", place, outcome.message[:LONGEST])
        self._arrays.put("status", place, outcome.status)
        self.status[run] = outcome.status

    def _lay_out(self, outcome: Outcome) -> None:
        """Arrays for the variables of the first good run, and names along their dimensions."""
        mine, sizes = self._own() | set(self._design.sizes), self._design.shape
        self._check_dimensions(outcome)
        for dim, labels in outcome.labels.items():
            if dim in mine:
                raise ModelError(f"measure: dimension '{dim}' is a parameter's name; give the parameter or the dimension another")
            if dim not in self._arrays.names():
                self._arrays.create(dim, (dim,), labels, labels.shape, {"role": "coordinate", **_units(UNITS.get(dim, ""))})
        for name, variable in outcome.kept.items():
            if name in mine or name in outcome.labels or "/" in name:
                raise ModelError(f"measure '{name}': the name is taken, or holds a slash; give another")
            if name not in self._arrays.names():
                shape = (*sizes, *variable.values.shape)
                chunks = (*(1 for _ in sizes), *variable.values.shape)
                dims = (*self._design.sizes, *variable.dims)
                self._arrays.create(name, dims, np.full(shape, np.nan), chunks, _units(variable.units))
        self._laid = True

    def _check_dimensions(self, outcome: Outcome) -> None:
        """That every dimension is one, of one length, and no parameter's."""
        lengths = {dim: len(x) for dim, x in outcome.labels.items()}
        for name, variable in outcome.kept.items():
            if len(set(variable.dims)) != len(variable.dims):
                raise ModelError(f"measure '{name}': a dimension stands twice in ({', '.join(variable.dims)}); give each a name of its own")
            for dim, n in zip(variable.dims, variable.values.shape, strict=True):
                if dim in self._design.sizes or dim in self._design.values or "/" in dim:
                    raise ModelError(f"measure '{name}': dimension '{dim}' is a parameter's name, or holds a slash; give another")
                if lengths.setdefault(dim, n) != n:
                    raise ModelError(f"measure '{name}': dimension '{dim}' has {n} places, elsewhere {lengths[dim]}; give it another name")

    def _misfit(self, outcome: Outcome) -> str | None:
        """What of a run does not fit into the arrays of the others."""
        own = self._own()
        labels = set(outcome.labels)
        there = {name for name in self._arrays.names() if name not in own} - labels
        if there != set(outcome.kept):
            return f"keeps {', '.join(sorted(outcome.kept))} where other runs keep {', '.join(sorted(there))}"
        for name, variable in outcome.kept.items():
            shape = self._arrays.shape(name)[len(self._design.sizes) :]
            if variable.values.shape != shape:
                return f"'{name}' has shape {variable.values.shape}, that of other runs {shape}; give all runs one duration, dt and model"
        for dim, called in outcome.labels.items():
            if not np.array_equal(self._arrays.get(dim), called):
                return f"'{dim}' is named otherwise than in other runs; give all runs one duration, dt and model"
        return None

    def dataset(self, attributes: Mapping[str, Any]) -> Any:
        """All of it, as an xarray.Dataset."""
        return self._arrays.dataset(attributes)


def opened_store(path: Any, design: Design, settings: Mapping[str, Any]) -> Results:
    """The results of a study in a folder: a new one, or what is there of the same study."""
    for name in (*design.values, *design.sizes):
        if name in RESERVED:
            raise ModelError(f"parameter '{name}': a study keeps its runs' own {name} under this name; give the parameter another")
    if path is None:
        return Results(design, Arrays())
    bad = [name for name in design.values if "/" in name or name.startswith(".")]
    if bad:
        raise ModelError(f"parameter '{bad[0]}': no name for an array of a store; run without store=, or change it in build()")
    folder = Path(path)
    told = json.loads(json.dumps(settings))
    model = {"model": told.pop("model")}  # last: it differs with most others
    head = {"format": FORMAT, **told, "parameters": _told(design), **model}
    with writing(folder):
        if not folder.exists():
            _make(folder, head)
        _check(folder, head)
        _clean(folder)
        return Results(design, ZarrArrays(folder))


class writing:
    """Errors of the disk in one line, with what is kept and the remedy."""

    def __init__(self, path: Path | None):
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, OSError) and self._path is not None:
            why = error.strerror or str(error)
            raise ModelError(f"store '{self._path}': {why}; {remedy(error)} and call again: runs that are done are kept") from error


def _make(folder: Path, head: dict[str, Any]) -> None:
    """An empty store, whole or not at all."""
    import zarr

    making = folder.with_name(f".{folder.name}.part-{os.getpid()}")
    shutil.rmtree(making, ignore_errors=True)
    try:
        zarr.open_group(making, mode="w", zarr_format=2).attrs[HEAD] = head
        os.replace(making, folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _check(folder: Path, head: dict[str, Any]) -> None:
    """That the folder holds this study."""
    import zarr

    try:
        found = zarr.open_group(folder, mode="r", zarr_format=2).attrs.get(HEAD)
    except (FileNotFoundError, ValueError, NotADirectoryError):
        found = None
    if not isinstance(found, dict):
        raise ModelError(f"store '{folder}' is there and holds no study; give another place")
    for key in (*head, *found):
        if found.get(key) != head.get(key):
            was, now = json.dumps(found.get(key))[:80], json.dumps(head.get(key))[:80]
            raise ModelError(f"store '{folder}' holds another study: {key} is {was}, here {now}; give another place, or remove it")


def _clean(folder: Path) -> None:
    """Parts that a killed writer left."""
    for part in (*folder.glob(".*.part"), *folder.glob("*/*.partial")):
        shutil.rmtree(part, ignore_errors=True) if part.is_dir() else part.unlink(missing_ok=True)


def _told(design: Design) -> dict[str, Any]:
    """A design as JSON."""
    return {name: [list(dims), x.tolist()] for name, (dims, x) in design.values.items()}


def _units(units: str) -> dict[str, str]:
    return {"units": units} if units else {}


