"""Copies of models: within the process (`copy.deepcopy`) and into another (`pickle`, `cloudpickle`).

What travels are the fields of a model. What elements made of functions of time (tracks with their derivatives) does not: it is made
anew from the elements that arrive, in the same order, so that it belongs to the copy. A bound solver holds addresses and never travels;
it is bound anew, see `Bound.__reduce__`.

The standard pickler takes functions and classes by their names alone. Before it is handed a model, every part is tried by itself, so that
the part that cannot go is named. Picklers that take code, such as cloudpickle's, are let through.
"""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from unibody.errors import ModelError
from unibody.model.contents import Contents

Copied = TypeVar("Copied", bound=Contents)
MADE = "signal_functions"
"""The field that is made anew; what travels instead says where each function goes."""


def pickled_model(model: Contents, frame: Any) -> tuple[Any, ...]:
    """What `Model.__reduce_ex__` returns to the pickler that called from `frame`."""
    if not takes_code(frame):
        for what, part in parts_of(model):
            try:
                pickle.dumps(part)
            except Exception as error:
                raise ModelError(f"{what} cannot be pickled ({_line(error)}); {_remedy(error)}") from None
    return arrived_model, (type(model), _values(model))


def deep_copied_model(model: Copied, memo: dict[int, Any]) -> Copied:
    """A model that shares nothing with this one but functions, which are shared by every deep copy."""
    for what, part in parts_of(model):
        try:
            copy.deepcopy(part, memo)
        except ModelError:
            raise
        except Exception as error:
            remedy = "leave it out, or give its class a __deepcopy__"
            raise ModelError(f"{what} cannot be copied ({_line(error)}); {remedy}") from None
    return arrived_model(type(model), copy.deepcopy(_values(model), memo))


def arrived_model(cls: type[Any], values: dict[str, Any]) -> Any:
    """The model of fields that have been copied."""
    from unibody.model.tables import Names

    for array in _arrays(values):
        array.flags.writeable = False
    expected = values[MADE]
    made = cls(**{**values, MADE: ()})
    collected: list[tuple[int, int, Callable[[float], Any], str]] = []
    names = Names(made, collected)
    elements: list[tuple[str, Any]] = [*made.forces, *made.constraints]
    for name, element in elements:
        element.row(names, name)
    if [(slot, count, what) for slot, count, _, what in collected] != expected:
        raise ModelError("copy of a model: its elements ask for other functions of time than the model holds; copy what build() returned")
    object.__setattr__(made, MADE, tuple(collected))
    return made


def parts_of(model: Contents) -> Iterator[tuple[str, Any]]:
    """Bodies, joints, forces and constraints, as the model holds them and as they were asked for, with the words for them."""
    told = model.description
    for body in (*model.bodies, *told.get("bodies", {}).values()):
        yield f"body '{body.name}'", body
    for joint in (*model.joints, *told.get("joints", {}).values()):
        yield f"joint '{joint.name}'", joint
    for held in ("deformables", "attachments", "prescribed"):
        for thing in (*getattr(model, held), *told.get(held, {}).values()):
            yield f"'{thing.name}'", thing
    for name, element in (*model.forces, *model.constraints, *told.get("elements", {}).items()):
        yield f"'{name}' ({type(element).__name__})", element


def takes_code(frame: Any) -> bool:
    """Whether the pickler at work takes functions with their code. The frame that calls into a pickler written in C, and every frame of
    one in Python, belongs to a method of the pickler, if that is anything but the standard one."""
    pickler = frame.f_locals.get("self") if frame is not None else None
    if isinstance(pickler, pickle._Pickler):
        return type(pickler) is not pickle._Pickler
    return isinstance(pickler, pickle.Pickler) and hasattr(pickler, "reducer_override")


def caller() -> Any:
    """The frame that called the method that asks."""
    return sys._getframe(2)


def _values(model: Contents) -> dict[str, Any]:
    values = {field.name: getattr(model, field.name) for field in fields(model)}
    return {**values, MADE: [(slot, count, what) for slot, count, _, what in model.signal_functions]}


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """Every array within plain containers and dataclasses of this package, whose arrays are read-only."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _arrays(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _arrays(item)
    elif is_dataclass(value) and not isinstance(value, type) and type(value).__module__.startswith("unibody."):
        for field in fields(value):
            yield from _arrays(getattr(value, field.name))


def _line(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else f"{text[:200]} …"


def _remedy(error: Exception) -> str:
    if "lambda" in str(error) or "local" in str(error) or "attribute lookup" in str(error):
        return "give a unibody.Table, or a function or class defined at the top level of a module, or use cloudpickle"
    return "hold plain data in it, or give its class a __reduce__"
