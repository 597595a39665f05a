"""The text form of a model: every body, joint and element as plain data that JSON can hold, and back.

An element is {"class": "module:Name", fields…}; so a class in a user's own file is written and read like those of the house, as long as its
module can be imported. Functions of time are written by their import path; a lambda or a local function cannot be, and is refused by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.model.builder import Builder
from unibody.model.model import Model


def model_to_text(model: Model) -> dict[str, Any]:
    """Plain data from which `model_from_text` builds the same model; functions that cannot be named are noted, not written."""
    d = model.description
    return {
        "plane_normal": d["plane_normal"],
        "bodies": [_plain(b, f"body '{n}'") for n, b in d["bodies"].items() if n != "world"],
        "joints": [_plain(j, f"joint '{n}'") for n, j in d["joints"].items()],
        "elements": [[n, _plain(e, f"'{n}'")] for n, e in d["elements"].items()],
    }


def model_from_text(text: dict[str, Any], where: str) -> Model:
    """The model again."""
    normal = text["plane_normal"]
    b = Builder(gravity=None, planar=normal is not None, normal=normal or (0.0, -1.0, 0.0))
    for body in text["bodies"]:
        info = _element(body, where)
        b._bodies[info.name] = info
    for joint in text["joints"]:
        made = _element(joint, where)
        b._joints[made.name] = made
    for name, element in text["elements"]:
        b.add(_element(element, where), name=name)
    return b.build()


def element_to_text(element: Any) -> dict[str, Any]:
    """Plain data of one element, a solver for instance."""
    return _plain(element, type(element).__name__)


def element_from_text(text: dict[str, Any], where: str) -> Any:
    return _element(text, where)


def _plain(value: Any, what: str) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        return {"array": [_plain(x, what) for x in value.tolist()] if value.ndim == 1 else value.tolist(), "type": str(value.dtype)}
    if isinstance(value, list | tuple):
        return {"tuple" if isinstance(value, tuple) else "list": [_plain(v, what) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[_plain(k, what), _plain(v, what)] for k, v in value.items()]}
    if is_dataclass(value) and not isinstance(value, type):
        cls = type(value)
        data = {f.name: _plain(getattr(value, f.name), what) for f in fields(value)}
        return {"class": f"{cls.__module__}:{cls.__qualname__}", "fields": data}
    if callable(value):
        return _function_to_text(value, what)
    raise ModelError(f"{what}: {value!r} cannot be written as text; use numbers, tuples, dataclasses or importable functions")


def _function_to_text(function: Callable[..., Any], what: str) -> dict[str, str]:
    name = getattr(function, "__qualname__", "")
    if not name or "<" in name or getattr(function, "__module__", None) is None:
        return {"unnamed function": what}
    return {"function": f"{function.__module__}:{name}"}


def _named(path: str, where: str) -> Any:
    module, _, name = path.partition(":")
    try:
        out: Any = importlib.import_module(module)
        for piece in name.split("."):
            out = getattr(out, piece)
    except (ImportError, AttributeError):
        raise ModelError(f"{where}: '{path}' cannot be imported; put its module on the path, or load with model=") from None
    return out


def _element(data: Any, where: str) -> Any:
    if isinstance(data, list):
        return [_element(x, where) for x in data]
    if not isinstance(data, dict):
        return data
    if "float" in data:
        return float(data["float"])
    if "array" in data:
        values = [_element(x, where) for x in data["array"]]
        return np.array(values, dtype=data["type"])
    if "tuple" in data:
        return tuple(_element(x, where) for x in data["tuple"])
    if "list" in data:
        return [_element(x, where) for x in data["list"]]
    if "dict" in data:
        return {_element(k, where): _element(v, where) for k, v in data["dict"]}
    if "function" in data:
        return _named(data["function"], where)
    if "unnamed function" in data:
        holder = data["unnamed function"]
        raise ModelError(f"{where}: {holder} holds a lambda or local function, which a file cannot keep; load with model=")
    cls = _named(data["class"], where)
    made = object.__new__(cls)
    for name, value in data["fields"].items():
        object.__setattr__(made, name, _element(value, where))
    return made


