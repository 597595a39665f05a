"""Values from plain data, as `unibody.model.values` writes them or as people do: elements are made by their constructors, so that their own
checks run; everything that is refused is told with its place in the file.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any

import numpy as np

from unibody.element import Point
from unibody.errors import ModelError
from unibody.model.model import look_up
from unibody.model.trust import Trust
from unibody.model.values import DTYPES, WORDS, arguments_of, complaint, entry_of, key_of, numbers, shown
from unibody.spatial.pose import Pose

DEEPEST = 40
"""Values within values that are read."""


@dataclass(frozen=True)
class Reader:
    """`known`: classes by their bare names; `trust`: what else may be named."""

    known: Mapping[str, type]
    trust: Trust = field(default_factory=Trust)

    def value(self, data: Any, place: str, depth: int = 0) -> Any:
        if depth > DEEPEST:
            raise ModelError(f"{place}: more than {DEEPEST} values within each other; write it flatter")
        if isinstance(data, str):
            return WORDS.get(data, data)
        if isinstance(data, list):
            return tuple(x if type(x) is float else self.value(x, place, depth + 1) for x in data)
        if not isinstance(data, dict):
            return data
        for tag, read in READERS.items():
            if tag in data:
                return read(self, data, place, depth + 1)
        if set(data) <= {"p", "wxyz"}:
            return self.pose(data, place)
        keys = ", ".join(map(repr, list(data)[:5]))
        raise ModelError(f"{place}: nobody knows what an object with the keys {keys} is; give one with 'type', 'p', 'body', 'times', …")

    def element(self, data: dict[str, Any], place: str, base: Any = object, taken: Collection[str] = ("type",), depth: int = 0) -> Any:
        """The element of an entry, made by its constructor."""
        if not isinstance(data, dict):
            raise ModelError(f"{place}: {shown(data)} is not an object; give {{\"type\": … }}")
        cls = self._class(data.get("type"), place, base)
        arguments = arguments_of(cls)
        keys = {key_of(name, taken): name for name in arguments}
        given: dict[str, Any] = {}
        for key, value in data.items():
            if key not in taken:
                given[look_up(key, keys, f"{place}: key")] = self.value(value, f"{place} {key}", depth)
        several: tuple[Any, ...] = ()
        for name, (_, parameter) in arguments.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                several = given.pop(name, ())
            elif parameter.default is parameter.empty and name not in given:
                raise ModelError(f"{place}: no '{name}', which {cls.__name__} needs; give it")
        try:
            return cls(*several, **given)
        except ModelError as error:
            raise ModelError(f"{place}: {complaint(error)}") from None
        except Exception as error:
            raise ModelError(f"{place}: {cls.__name__} refuses these values ({complaint(error)}); correct them") from None

    def pose(self, data: Any, place: str) -> Pose:
        entry = entry_of(data, ("p", "wxyz"), (), place)
        parts = {key: tuple(numbers(value, f"{place} {key}")) for key, value in entry.items() if isinstance(value, list)}
        if len(parts) < len(entry):
            raise ModelError(f"{place}: {shown(data)} is no pose; give {{\"p\": [x, y, z], \"wxyz\": [w, x, y, z]}}")
        try:
            return Pose(**parts)
        except ModelError as error:
            raise ModelError(f"{place}: {complaint(error)}") from None

    def _class(self, name: Any, place: str, base: Any) -> type:
        if not isinstance(name, str):
            raise ModelError(f"{place}: no 'type'; give the name of a class" if name is None else f"{place}: type {shown(name)} is no name")
        if ":" not in name:
            cls = look_up(name, {n: c for n, c in self.known.items() if issubclass(c, base)}, f"{place}: type")
        else:
            cls = self.trust.find(name, place)
        if not isinstance(cls, type) or not issubclass(cls, base) or not (base is not object or is_dataclass(cls)):
            raise ModelError(f"{place}: '{name}' is not a class that can stand here; give an element's")
        return cls

    def _point(self, data: dict[str, Any], place: str, depth: int) -> Point:
        entry = entry_of(data, ("body", "p"), ("body",), place)
        if not isinstance(entry["body"], str):
            raise ModelError(f"{place}: body {shown(entry['body'])} is no name; give that of a body, or \"world\"")
        try:
            return Point(entry["body"], numbers(entry.get("p", [0.0, 0.0, 0.0]), f"{place} p"))
        except ModelError as error:
            raise ModelError(f"{place}: {complaint(error)}") from None

    def _array(self, data: dict[str, Any], place: str, depth: int) -> np.ndarray:
        entry = entry_of(data, ("array", "base64", "dtype", "shape"), ("dtype",), place)
        dtype = entry["dtype"]
        if dtype not in DTYPES:
            raise ModelError(f"{place}: dtype {shown(dtype)} is unknown; give one of {', '.join(DTYPES)}")
        try:
            if "base64" in entry:
                raw = base64.b64decode(entry["base64"], validate=True)
                array = np.frombuffer(raw, np.dtype(dtype).newbyteorder("<")).astype(dtype)
            else:
                array = np.array(self.value(entry["array"], place, depth), dtype=dtype)
            shape = entry.get("shape", list(array.shape))
            if not all(type(n) is int and n >= 0 for n in shape):
                raise ValueError(f"shape {shown(shape)}")
            return array.reshape(shape)
        except (TypeError, ValueError, OverflowError, binascii.Error) as error:
            remedy = "give lists of numbers, or base64 of little-endian ones and shape"
            raise ModelError(f"{place}: no array of {dtype} ({complaint(error)}); {remedy}") from None

    def _function(self, data: dict[str, Any], place: str, depth: int) -> Any:
        function = self.trust.find(entry_of(data, ("function",), (), place)["function"], place)
        if not callable(function) or isinstance(function, type):
            raise ModelError(f"{place}: '{data['function']}' is not a function; give a function of time")
        return function

    def _unnamed(self, data: dict[str, Any], place: str, depth: int) -> Any:
        holder = data["unnamed function"]
        raise ModelError(f"{place}: {holder} holds a lambda or local function, which a file cannot keep; load with model=")

    def _text(self, data: dict[str, Any], place: str, depth: int) -> str:
        return str(entry_of(data, ("text",), (), place)["text"])

    def _list(self, data: dict[str, Any], place: str, depth: int) -> list[Any]:
        return list(self._items(entry_of(data, ("list",), (), place)["list"], place, depth))

    def _table(self, data: dict[str, Any], place: str, depth: int) -> tuple[Any, Any]:
        entry = entry_of(data, ("times", "values"), ("times", "values"), place)
        return self._items(entry["times"], place, depth), self._items(entry["values"], place, depth)

    def _dictionary(self, data: dict[str, Any], place: str, depth: int) -> dict[Any, Any]:
        pairs = self._items(entry_of(data, ("dict",), (), place)["dict"], place, depth)
        try:
            return dict(pairs)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"{place}: no dictionary; give [[key, value], …] with keys that are numbers or texts") from None

    def _items(self, data: Any, place: str, depth: int) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise ModelError(f"{place}: {shown(data)} is not a list; give [ … ]")
        return self.value(data, place, depth)

    def _nested_element(self, data: dict[str, Any], place: str, depth: int) -> Any:
        return self.element(data, place, depth=depth)


READERS = {
    "type": Reader._nested_element, "body": Reader._point, "times": Reader._table, "array": Reader._array, "base64": Reader._array,
    "function": Reader._function, "unnamed function": Reader._unnamed, "text": Reader._text, "list": Reader._list,
    "dict": Reader._dictionary,
}  # fmt: skip
"""By the key that tells what an object is."""
