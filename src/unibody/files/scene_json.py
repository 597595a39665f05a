"""Scenes as JSON: our own format, which keeps every element bit for bit. docs/scene-format.md explains it, docs/schema publishes it.

    {"unibody": {"scene": 1}, "name": …, "duration": …, "dt": …, "notes": …, "left_out": […], "keyframes": {…},
     "world": {…}, "bodies": […], "joints": […], "elements": […]}

The last four are the text form of the model (`unibody.model.text`). A scene's `exact` solution is Python code and no part of a file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from unibody.constraints.base import Constraint
from unibody.element import number
from unibody.errors import ModelError
from unibody.files.python_scene import DURATION, STEP
from unibody.model import Model
from unibody.model.text import MODEL, model_from_text, model_to_text
from unibody.model.trust import path_of
from unibody.model.values import Writer, entry_of, numbers, shown
from unibody.scenes import Scene
from unibody.simulation.whole_file import is_file, path_given, whole_file
from unibody.spatial.table import Table

VERSION = 1
HEAD = ("$schema", "unibody", "name", "duration", "dt", "notes", "left_out", "keyframes")
LARGEST = 1 << 29
"""Bytes of a file that are read."""
WIDTH = 140


def save_json(scene: Scene | Model, path: str | Path, name: str | None = None, tabulate: float | None = None) -> Path:
    """Write the scene, whole or not at all. `name` stands in the file (default: the scene's own). Functions of time that cannot be found
    again by their name are refused, or with `tabulate` [s] written as tables with that step, as long as the scene lasts."""
    if isinstance(scene, Model):
        scene = Scene(scene, DURATION, STEP)
    if name is not None:
        scene = replace(scene, name=name)
    try:
        text = scene_to_json(scene, tabulate)
    except ModelError as error:
        raise ModelError(f"scene '{path}': {error}") from None
    with whole_file(path) as file:
        file.write(text.encode())
    return Path(path)


def load_json(path: str | Path, trust: bool | Sequence[str] = ()) -> Scene:
    """The scene of a file. `trust` names modules whose code the file may use, beside your own that are imported already (True: all)."""
    source = path_given(path)
    if not is_file(source):
        raise ModelError(f"file '{source}' does not exist; give the path of a scene in JSON")
    if source.stat().st_size > LARGEST:
        raise ModelError(f"scene '{source}' has {source.stat().st_size} bytes, more than the {LARGEST} that are read; make it smaller")
    try:
        text = source.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"scene '{source}' is not text in UTF-8 (byte {error.start}); give a scene in JSON") from None
    return scene_from_json(text, f"scene '{source}'", trust)


def scene_to_json(scene: Scene, tabulate: float | None = None) -> str:
    """The text of a scene's file; the same scene always gives the same text."""
    if not isinstance(getattr(scene, "model", None), Model):
        raise ModelError(f"save: {scene!r} is not a scene; give Scene(model), or call Builder.save")
    if not isinstance(scene.name, str):
        raise ModelError(f"save: name {scene.name!r} is no text; give one")
    model = scene.model if tabulate is None else _tabulated(scene.model, scene.duration, number(tabulate, "tabulate", positive=True))
    states = {key: {"q": _numbers(q), "v": _numbers(v)} for key, (q, v) in scene.keyframes.items()}
    data: dict[str, Any] = {
        "unibody": {"scene": VERSION}, "name": scene.name, "duration": float(scene.duration), "dt": float(scene.dt), "notes": scene.notes,
        "left_out": list(scene.left_out), "keyframes": states, **model_to_text(model, strict=True),
    }  # fmt: skip
    return _laid_out(data, 0) + "\n"


def scene_from_json(text: str, where: str, trust: bool | Sequence[str] = ()) -> Scene:
    """The scene of such a text; `where` names it in errors."""
    data = entry_of(_parsed(text, where), (*HEAD, *MODEL), (), where)
    _check_version(data, where)
    for key in ("name", "notes", "$schema"):
        if not isinstance(data.get(key, ""), str):
            raise ModelError(f"{where}: {key} {shown(data[key])} is not a text; give one")
    left_out = data.get("left_out", [])
    if not isinstance(left_out, list) or not all(isinstance(line, str) for line in left_out):
        raise ModelError(f"{where}: left_out {shown(left_out)} is not a list of texts; give one")
    model = model_from_text({key: data[key] for key in MODEL if key in data}, where, trust)
    duration, dt = (_positive(data.get(key, usual), f"{where}: {key}") for key, usual in (("duration", DURATION), ("dt", STEP)))
    return Scene(
        model, duration, dt, notes=data.get("notes", ""), left_out=tuple(left_out), name=data.get("name", ""),
        keyframes=_keyframes(data.get("keyframes", {}), model, f"{where}: keyframes"),
    )  # fmt: skip


def _numbers(values: Any) -> Any:
    return Writer({}).plain(tuple(np.asarray(values, float).tolist()), "keyframe")


def _positive(value: Any, what: str) -> float:
    return number(numbers(value, what), what, positive=True)


def _parsed(text: str, where: str) -> Any:
    def constant(word: str) -> Any:
        raise ModelError(f'{where}: {word} is not JSON; write "inf", "-inf" or "nan" in quotes')

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) < len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise ModelError(f"{where}: key '{twice}' stands twice in one object; keep one")
        return out

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise ModelError(f"{where} line {error.lineno} column {error.colno}: not JSON ({error.msg}); correct the file") from None
    except RecursionError:
        raise ModelError(f"{where}: lists or objects within each other without end; write it flatter") from None
    except ModelError:
        raise
    except ValueError as error:
        raise ModelError(f"{where}: not JSON that can be read ({error}); correct the file") from None


def _check_version(data: dict[str, Any], where: str) -> None:
    if "unibody" not in data:
        raise ModelError(f'{where}: no "unibody", so it is no scene of ours; begin with "unibody": {{"scene": {VERSION}}}')
    version = entry_of(data["unibody"], ("scene",), ("scene",), f"{where}: unibody")["scene"]
    if version != VERSION or isinstance(version, bool):
        raise ModelError(f"{where}: scene format {shown(version)} is unknown, this version reads {VERSION}; update, or save it again")


def _keyframes(data: Any, model: Model, place: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    if not isinstance(data, dict):
        raise ModelError(f"{place}: {shown(data)} is not an object; give {{name: {{\"q\": […], \"v\": […]}}}}")
    out = {}
    for name, state in data.items():
        entry = entry_of(state, ("q", "v"), ("q", "v"), f"{place} '{name}'")
        pair = []
        for key, size in (("q", model.nq_joints), ("v", model.nv_joints)):
            values = numbers(entry[key], f"{place} '{name}' {key}")
            if not isinstance(values, list) or len(values) != size or any(isinstance(x, list) for x in values):
                raise ModelError(f"{place} '{name}': {key} is not a list of {size} numbers, as the model has coordinates; correct it")
            pair.append(np.array(values, float))
        out[name] = (pair[0], pair[1])
    return out


MOST_ROWS = 1_000_000
"""Of a table in place of a function."""


def _tabulated(model: Model, duration: float, step: float) -> Model:
    """The model whose elements hold tables in place of functions of time that have no name."""
    if not duration / step <= MOST_ROWS:
        raise ModelError(f"tabulate {step:g} s: {duration:g} s in such steps are more than {MOST_ROWS:g} rows; give a longer step")
    times = np.linspace(0.0, duration, max(3, int(np.ceil(duration / step)) + 1)).tolist()
    elements = {name: _with_tables(element, times) for name, element in model.description["elements"].items()}
    held = {name: _told_by_table(asked, times) for name, asked in model.description.get("prescribed", {}).items()}
    return replace(model, description={**model.description, "elements": elements, "prescribed": held})


def _told_by_table(asked: Any, times: list[float]) -> Any:
    """Prescribed vertices whose motion is a table, if it was a function of time that has no name."""
    motion = asked.motion
    if motion is None or hasattr(type(motion), "__dataclass_fields__") or path_of(motion) is not None:
        return asked
    return replace(asked, motion=Table.of(lambda t: np.ravel(motion(t)), times))


def _with_tables(element: Any, times: list[float]) -> Any:
    constraint = isinstance(element, Constraint)
    held = {f.name: getattr(element, f.name) for f in fields(element) if f.init}
    nameless = [name for name, value in held.items() if callable(value) and not hasattr(type(value), "__dataclass_fields__")]
    nameless = [name for name in nameless if path_of(held[name]) is None]
    if not nameless:
        return element
    if not constraint:
        return replace(element, **{name: Table.of(held[name], times) for name in nameless})
    if "motion" in held and callable(held["motion"]):
        return replace(element, motion=(times, [held["motion"](t) for t in times]), rate=None, acceleration=None)
    return element


def _laid_out(data: Any, depth: int) -> str:
    """JSON that people can read: what fits into a line stands in one, numbers fill lines."""
    flat = json.dumps(data, ensure_ascii=False, allow_nan=False)
    if len(flat) + 2 * depth <= WIDTH or not data or not isinstance(data, dict | list):
        return flat
    indent, end = "  " * (depth + 1), "  " * depth
    if isinstance(data, dict):
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(value, depth + 1)}" for key, value in data.items()]
        return "{\n" + ",\n".join(indent + line for line in lines) + "\n" + end + "}"
    if any(isinstance(x, dict | list) for x in data):
        return "[\n" + ",\n".join(indent + _laid_out(x, depth + 1) for x in data) + "\n" + end + "]"
    lines = [""]
    for item in (json.dumps(x, ensure_ascii=False) for x in data):
        if lines[-1] and len(lines[-1]) + len(item) + len(indent) + 3 > WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + item + ","
    return "[\n" + "\n".join(indent + line for line in lines)[:-1] + "\n" + end + "]"
