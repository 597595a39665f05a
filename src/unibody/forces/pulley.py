"""Pulley: a wheel in the course of a `Cable`, at its centre about an axis fixed in a body. It is no element by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unibody.element import number, point_of
from unibody.errors import ModelError
from unibody.joints.base import unit_axis

__all__ = ["Pulley"]

MOST_TURNS = 1000
SIDES = {None: None, 1: 1, -1: -1, "left": 1, "right": -1}


@dataclass(frozen=True)
class Pulley:
    """A wheel of `radius` [m] (to the middle of the cable) at `center`, a point of a body, about `axis` in that body's axes.

    `side`: 1 if the cable turns around the axis by the right hand as it goes on, −1 if against it; None: as the centres of its neighbours
    ask for at the start. `friction`: μ of the cable on the wheel (None: the cable's). `turns`: whole turns more than the tangents show.
    `grip`: the cable does not slip on the wheel, and turns the body, which hangs in a Revolute about this axis; at an end of a cable such a
    wheel is the drum of a winch. The cable stays in the groove, also where it leaves at an angle to the wheel's plane, and leaves the wheel
    where it would bend the other way, unless there are turns or grip.

    >>> from unibody.element import Point
    >>> Pulley(Point("block", (0.0, 0.0, 0.1)), 0.05, axis=(0, 1, 0)).radius
    0.05
    """

    center: Any
    radius: float
    axis: Any = (0.0, 1.0, 0.0)
    side: Any = None
    friction: float | None = None
    turns: int = 0
    grip: bool = False

    def __post_init__(self) -> None:
        point_of(self.center, "Pulley center")
        what = f"Pulley on '{self.center.body}'"
        object.__setattr__(self, "radius", number(self.radius, f"{what}: radius", positive=True))
        object.__setattr__(self, "axis", unit_axis(self.axis, what))
        if self.side not in tuple(SIDES):
            raise ModelError(f"{what}: side {self.side!r} is no sense of turning; give 1 (right hand about the axis), -1 or None")
        object.__setattr__(self, "side", SIDES[self.side])
        if self.friction is not None:
            object.__setattr__(self, "friction", number(self.friction, f"{what}: friction", minimum=0.0))
        turns = number(self.turns, f"{what}: turns", minimum=0.0)
        if turns != int(turns):
            raise ModelError(f"{what}: turns {self.turns!r} is not whole; give 0, 1, 2 …, the tangents say the rest")
        if turns > MOST_TURNS:
            raise ModelError(f"{what}: turns {turns:g} is more than any drum holds; give at most {MOST_TURNS}")
        object.__setattr__(self, "turns", int(turns))
        if not isinstance(self.grip, bool):
            raise ModelError(f"{what}: grip {self.grip!r} is neither True nor False")
        if self.grip and self.friction:
            raise ModelError(f"{what}: grip and friction {self.friction:g} together; give one of them")
