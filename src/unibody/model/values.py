"""Values as plain data that JSON can hold, bit for bit; `unibody.model.reading` is the way back.

    numbers        as they are, whole ones whole; "inf", "-inf", "nan" where they are not finite (a text that says so is {"text": "inf"})
    tuples         lists; Python lists {"list": […]}, dictionaries {"dict": [[key, value], …]}
    arrays         {"array": [[…], …], "dtype": "float64"}; long ones {"base64": "…", "dtype": …, "shape": […]}, little-endian, row by row
    poses, points  {"p": […], "wxyz": […]}, {"body": "arm", "p": […]}
    tables         {"times": […], "values": […]}, as the pair (times, values)
    elements       {"type": "Box", its arguments}; the class of a user's own is "module:Name"
    functions      {"function": "module:name"}

An element is written by the arguments of its constructor and made again by calling it, so that its own checks run. An argument that has
the name of a key of the entry it stands in (`name`, `type`, …) is written with an underscore behind it.
"""

from __future__ import annotations

import base64
import inspect
import math
import reprlib
import sys
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from unibody.element import Point
from unibody.errors import ModelError
from unibody.model.model import look_up
from unibody.model.trust import path_of
from unibody.spatial.motion import is_table
from unibody.spatial.pose import Pose

WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
DTYPES = ("float64", "int64", "float32", "int32", "uint8", "bool")
LONGEST = 500
HUGE = sys.float_info.max
READABLE = 600
"""Numbers of an array up to which it is written as lists."""


@cache
def arguments_of(cls: type) -> dict[str, tuple[str, inspect.Parameter]]:
    """Argument of the constructor → the field that holds it, and what the signature says."""
    made = cls.__init__  # type: ignore[misc]
    signature = [] if made is object.__init__ else list(inspect.signature(made).parameters.values())[1:]
    given = [p for p in signature if p.kind is not p.VAR_KEYWORD]
    names = [f.name for f in fields(cls)] if is_dataclass(cls) else []
    lost = [p.name for p in given if p.name not in names]
    spare = [f.name for f in fields(cls) if f.init and f.name not in {p.name for p in given}] if is_dataclass(cls) else []
    if lost and not len(lost) == len(spare) == 1:
        raise ModelError(f"class {cls.__name__}: no fields hold its arguments {', '.join(lost)}, as files need them; make it a dataclass")
    return {p.name: (p.name if p.name in names else spare[0], p) for p in given}


def key_of(argument: str, taken: Collection[str]) -> str:
    """The key under which an argument is written beside the keys of its entry."""
    return argument + "_" if argument in taken else argument


@dataclass(frozen=True)
class Writer:
    """`known`: classes that are written by their bare name. `strict`: what cannot be found again is refused, not noted."""

    known: Mapping[str, type]
    strict: bool = False

    def plain(self, value: Any, what: str) -> Any:
        if value is None or isinstance(value, bool | np.bool_):
            return value if value is None else bool(value)
        if isinstance(value, str):
            return {"text": value} if value in WORDS else value
        if isinstance(value, int | np.integer):
            return int(value)
        if isinstance(value, float | np.floating):
            return float(value) if math.isfinite(value) else repr(float(value))
        if isinstance(value, np.ndarray):
            return self._array(value, what)
        if isinstance(value, tuple):
            return self._each(value, what)
        if isinstance(value, list):
            return {"list": self._each(value, what)}
        if isinstance(value, dict):
            return {"dict": [[self.plain(k, what), self.plain(v, what)] for k, v in value.items()]}
        if isinstance(value, Pose):
            return {"p": self._each(value.p, what), "wxyz": self._each(value.wxyz, what)}
        if isinstance(value, Point):
            return {"body": value.body, "p": self._each(value.p, what)}
        if is_dataclass(value) and not isinstance(value, type):
            return self.element(value, what)
        if callable(value):
            return self._function(value, what)
        raise ModelError(f"{what}: {value!r} cannot be written as text; use numbers, tuples, dataclasses or importable functions")

    def element(self, element: Any, what: str, taken: Collection[str] = ("type",)) -> dict[str, Any]:
        """{"type": …, its arguments}; arguments named like a key of the entry only if they say something."""
        cls: Any = type(element)
        out: dict[str, Any] = {"type": self._class(cls, what)}
        defaults = {f.name: f.default for f in fields(cls)} if is_dataclass(cls) else {}
        for argument, (name, _) in arguments_of(cls).items():
            value = getattr(element, name)
            default = defaults.get(name, MISSING)
            if argument in taken and default is not MISSING and type(value) is type(default) and value == default:
                continue
            table = argument == "motion" and isinstance(value, tuple) and is_table(value)
            out[key_of(argument, taken)] = self._table(value, what) if table else self.plain(value, what)
        return out

    def _each(self, values: Any, what: str) -> list[Any]:
        return [x if type(x) is float and math.isfinite(x) else self.plain(x, what) for x in values]

    def _table(self, table: Any, what: str) -> dict[str, Any]:
        return {"times": self._each(table[0], what), "values": self._each(table[1], what)}

    def _array(self, array: np.ndarray, what: str) -> dict[str, Any]:
        dtype = array.dtype.name
        if dtype not in DTYPES:
            raise ModelError(f"{what}: an array of {dtype} cannot be written; give one of {', '.join(DTYPES)}")
        if array.size > READABLE:
            raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
            return {"base64": base64.b64encode(raw).decode(), "dtype": dtype, "shape": list(array.shape)}
        out = {"array": self._nested(array.tolist()), "dtype": dtype}
        return out if array.size else {**out, "shape": list(array.shape)}

    def _nested(self, values: Any) -> Any:
        return [self._nested(v) for v in values] if isinstance(values, list) else self.plain(values, "array")

    def _class(self, cls: type, what: str) -> str:
        if self.known.get(cls.__name__) is cls:
            return cls.__name__
        path = path_of(cls)
        if path is None and self.strict:
            raise ModelError(f"{what}: class {cls.__qualname__} cannot be found again by its name; define it at the top level of a module")
        return path or f"{cls.__module__}:{cls.__qualname__}"

    def _function(self, function: Any, what: str) -> dict[str, str]:
        path = path_of(function)
        if path is not None:
            return {"function": path}
        if self.strict:
            remedy = "define it at the top level of a module, or, if it is one of time, save with tabulate="
            raise ModelError(f"{what} holds a lambda or local function, which a file cannot keep; {remedy}")
        return {"unnamed function": what}


def entry_of(data: Any, keys: Collection[str], needed: Collection[str], place: str) -> dict[str, Any]:
    """`data` as an object with no keys but these, and all that are needed."""
    if not isinstance(data, dict):
        raise ModelError(f"{place}: {shown(data)} is not an object; give {{ … }}")
    for key in data:
        look_up(key, dict.fromkeys(keys), f"{place}: key")
    for key in needed:
        if key not in data:
            raise ModelError(f"{place}: no '{key}'; give it")
    return data


def numbers(data: Any, place: str, deep: int = 3) -> Any:
    """Numbers and lists of them, words for those that are not finite; everything else is refused."""
    if isinstance(data, list) and deep:
        return [numbers(x, place, deep - 1) for x in data]
    if isinstance(data, str) and data in WORDS:
        return WORDS[data]
    if isinstance(data, bool) or not isinstance(data, int | float) or abs(data) > HUGE:
        raise ModelError(f"{place}: {shown(data)} is not a number; give one")
    return data


def shown(data: Any) -> str:
    """What stands in a file, short enough for a message."""
    return reprlib.repr(data)


def complaint(error: Exception) -> str:
    """What an error says, in one line that is not too long."""
    text = " ".join(str(error).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
