"""Whose code an exception came out of: steps call elements and functions of users, which may raise anything or return nonsense."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from unibody.model import Model


def element_of(error: BaseException, model: Model) -> str | None:
    """The name of the body, joint, force, constraint or prescribed vertices in whose code, or in the handling of whose answer, an exception
    was raised."""
    named: dict[int, str] = {}
    codes: dict[Any, str] = {}
    things: list[tuple[str, Any]] = [*model.forces, *model.constraints]
    for joint in model.joints:
        named[id(joint)] = joint.name
        things += [(joint.name, part) for part in (joint.element, *joint.element.parts())]
    for held in model.prescribed:
        named[id(held.motion)] = held.name
    for body in model.bodies:
        named[id(body)] = body.name
        codes[_code(body.motion)] = body.name
    for name, thing in things:
        named[id(thing)] = name
        if is_dataclass(thing):
            codes.update({_code(getattr(thing, field.name, None)): name for field in fields(thing)})
    codes.pop(None, None)
    found, trace = None, error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        found = codes.get(frame.f_code, found)
        for value in frame.f_locals.values():
            found = named.get(id(value), found)
        trace = trace.tb_next
    return found


def _code(function: Any) -> Any:
    function = getattr(function, "__func__", function)
    function = getattr(function, "func", function)  # of a functools.partial
    return getattr(function, "__code__", None)
