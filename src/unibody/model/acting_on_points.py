"""Which elements may act on points of deformables, checked when a model is built.

A point of a deformable is a place with a velocity: it has no axes and takes no torque. So springs, cables, and constraints between places
act on it as on points of bodies; what asks for a body's axes there, or turns it, is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unibody.constraints import KnifeEdge, PointOnLine, PointPlane, PrescribedFrame, Rolling
from unibody.element import Point
from unibody.errors import ModelError
from unibody.forces import AppliedWrench


def check_points(element: Any, name: str, packing: Any) -> None:
    """Refuse names of bodies that nobody knows, and elements on points of deformables that ask for more than a place."""
    surfaces = getattr(element, "surfaces", False)
    for body in element.bodies():
        if body in packing.bodies or (surfaces and body in packing.deformables):
            continue
        try:
            packing.body(body)
        except ModelError as error:
            raise ModelError(f"'{name}': {error}") from None
        why = _refusal(element, body)
        if why is not None:
            raise ModelError(f"'{name}': {type(element).__name__} on '{body}': a point of a deformable {why}")


def _refusal(element: Any, body: str) -> str | None:
    """Why an element cannot act on a point of a deformable, if it cannot."""
    if isinstance(element, AppliedWrench):
        plain = element.axes == "world" and not callable(element.torque) and not any((*element.torque, *element.at))
        return None if plain else "takes a force in the world's axes, no torque and no other axes; give force= alone"
    mine = [p for p in points_in(element) if p.body == body]
    axes = {PointOnLine: "on", PointPlane: "origin", KnifeEdge: "point", Rolling: "centre"}
    seer = next((field for cls, field in axes.items() if isinstance(element, cls)), None)
    if not mine or isinstance(element, PrescribedFrame) or (seer is not None and getattr(element, seer).body == body):
        return "has no axes; give a body there, or an element on points"
    if any(any(p.p) for p in mine):
        return "is where it is; leave p out"
    return None


def points_in(element: Any) -> Iterator[Point]:
    """All points in the fields of an element."""
    stack = [getattr(element, field) for field in getattr(element, "__dataclass_fields__", {})]
    while stack:
        value = stack.pop()
        if isinstance(value, Point):
            yield value
        elif isinstance(value, tuple | list):
            stack += value
