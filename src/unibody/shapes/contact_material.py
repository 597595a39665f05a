"""What a shape is made of, as far as contact asks: friction, bounce, a margin, and what it touches at all.

Two shapes may touch if one's category has a bit in common with the other's mask. Of two different materials hold, at equal priority, the
larger friction, the larger bound on turning (friction · torsion) and the larger restitution; else those of the higher priority. Margins add
up: surfaces rest that far apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from unibody.errors import ModelError

__all__ = ["ContactMaterial"]


@dataclass(frozen=True)
class ContactMaterial:
    """Given to a shape by `Placed(shape, X_BS, material=…)`. None means what the model's `Contact` says.

    >>> ice, rubber = ContactMaterial(friction=0.05), ContactMaterial(friction=0.9, margin=0.001)
    >>> ghost = ContactMaterial(category=2, mask=2)
    >>> ice.touches(rubber), ice.touches(ghost)
    (True, False)
    """

    friction: float | None = None
    """Coulomb's μ."""
    torsion: float | None = None
    """[m] The length by which friction also holds turns about the normal, up to μ · torsion · force."""
    restitution: float | None = None
    """From 0 to 1."""
    margin: float = 0.0
    """[m] How far from the surface contact begins: two surfaces rest apart by the sum of their margins."""
    category: int = 1
    """A set of bits: what it is."""
    mask: int = 1
    """A set of bits: the categories that it touches; it is enough if one of two shapes wants to."""
    priority: int = 0
    """Of two materials the one with the higher priority gives friction, torsion and restitution."""
    name: str | None = None
    """By which `Contact(materials=(…, …))` speaks of it."""

    def __post_init__(self) -> None:
        for what in ("friction", "torsion", "restitution", "margin"):
            value = getattr(self, what)
            if value is not None or what == "margin":
                object.__setattr__(self, what, _not_negative(value, what))
        if self.restitution is not None and self.restitution > 1.0:
            raise ModelError(f"ContactMaterial restitution {self.restitution} would create energy; give a number from 0 to 1")
        for what in ("category", "mask", "priority"):
            object.__setattr__(self, what, _whole(getattr(self, what), what))
        for what in ("category", "mask"):
            if getattr(self, what) < 0:
                raise ModelError(f"ContactMaterial {what} {getattr(self, what)} is no set of bits; give a whole number, 0 or more")
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise ModelError(f"ContactMaterial name {self.name!r} is no name; give a word, or None")

    def touches(self, other: ContactMaterial) -> bool:
        """Whether shapes of these two may touch."""
        return bool(self.category & other.mask or other.category & self.mask)


def _not_negative(value: Any, what: str) -> float:
    try:
        x = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        x = math.nan
    if not (math.isfinite(x) and x >= 0.0):
        raise ModelError(f"ContactMaterial {what}: {value!r} is no finite number of 0 or more; give one")
    return x


def _whole(value: Any, what: str) -> int:
    try:
        x = int(value)
    except Exception:  # whatever kinds of numbers raise
        x = None
    if x is None or isinstance(value, bool | str) or x != value:
        raise ModelError(f"ContactMaterial {what}: {value!r} is not whole; give a whole number")
    return x
