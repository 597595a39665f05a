"""Contact: the solid shapes of bodies do not go through each other, and have friction. It exists where it is asked for.

One element without `between` turns contact on among all bodies; further ones with `between` change what holds for one pair, or for all
pairs of two groups. Without the former only pairs that are named touch. Bodies that a joint connects are left out unless `neighbours`.
Shapes may have materials (`ContactMaterial`), which hold before the element for all; one with `between` holds before them, and one with
`materials`, about shapes of two named materials, before all others.
It has no rows: solvers that know surfaces (`surfaces`) find points and forces themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unibody.constraints.base import Constraint, unit_direction
from unibody.element import is_word, name_of, number
from unibody.errors import ModelError

__all__ = ["Contact"]

IMPACTS = ("newton", "poisson", "stronge")
"""Laws of impact."""


@dataclass(frozen=True)
class Contact(Constraint):
    """`friction`: Coulomb's μ. `damping` [s]: k_d of the barrier, the larger the less a body bounces. `reach` [m]: how near is near
    (None: 1/1000 of the scene). `pressure` [Pa]: stiffness of the barrier (None: from masses, speeds and step). `thickness` [m]: how far
    apart surfaces stay at least; gaps count from there. `between`: two bodies, or two lists of bodies (one list twice: among these), else
    all. `on`: False lets them pass through each other. `neighbours`: also between bodies that a joint connects. `restitution` e, from 0
    to 1, by the law `impact`: "newton" (of velocities), "poisson" (of impulses), "stronge" (of energies).

    Friction of more than one number: `static`, μ of what does not slide (None: `friction`); `torsion` [m], the length by which friction
    also holds turns about the normal, up to μ · torsion · force; `across`, μ across `direction` where `friction` is that along it,
    `direction` being fixed in the first body of `between`.

    `self_contact`: deformables also touch themselves.

    `materials`: the names of two materials (or one twice); then it holds for their shapes, and `margin` [m] says how far apart these rest
    (None: the sum of their own margins).

    >>> Contact(friction=0.5).friction
    0.5
    """

    friction: float = 0.0
    damping: float = 0.0
    reach: float | None = None
    pressure: float | None = None
    between: Any = None
    on: bool = True
    neighbours: bool = False
    restitution: float = 0.0
    impact: str = "newton"
    static: float | None = None
    torsion: float = 0.0
    across: float | None = None
    direction: Any = None
    materials: Any = None
    margin: float | None = None
    thickness: float = 0.0
    self_contact: bool = False

    rows = 0
    units = ()
    unilateral = True
    surfaces = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "friction", number(self.friction, "Contact friction", minimum=0.0))
        object.__setattr__(self, "damping", number(self.damping, "Contact damping", minimum=0.0))
        object.__setattr__(self, "thickness", number(self.thickness, "Contact thickness", minimum=0.0))
        object.__setattr__(self, "restitution", number(self.restitution, "Contact restitution", minimum=0.0))
        if self.restitution > 1.0:
            raise ModelError(f"Contact restitution {self.restitution} would create energy; give a number from 0 to 1")
        if not is_word(self.impact, IMPACTS):
            raise ModelError(f"Contact impact {self.impact!r} is unknown; give one of {', '.join(IMPACTS)}")
        for name in ("reach", "pressure"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, number(getattr(self, name), f"Contact {name}", positive=True))
        self._check_friction()
        self._check_materials()
        if self.between is None:
            return
        given = self.between if isinstance(self.between, tuple | list) and len(self.between) == 2 else None
        pair = tuple(_group(side) for side in given) if given is not None else ()
        if not all(pair) or len(pair) != 2 or (pair[0] == pair[1] and len(pair[0]) < 2):
            raise ModelError(f"Contact between: {self.between!r} is not a pair; give two different bodies, or two lists of bodies")
        if self.reach is not None or self.pressure is not None or self.thickness > 0.0 or self.self_contact:
            what = "reach, pressure, thickness and self_contact hold for all pairs; give them to the Contact without between"
            raise ModelError(f"Contact between {pair}: {what}")
        object.__setattr__(self, "between", tuple(side[0] if len(side) == 1 else side for side in pair))

    def _check_materials(self) -> None:
        if self.materials is None:
            if self.margin is not None:
                raise ModelError(f"Contact margin {self.margin} without materials: shapes have margins; give ContactMaterial(margin=…)")
            return
        given = self.materials if isinstance(self.materials, tuple | list) else ()
        if len(given) != 2 or not all(isinstance(name, str) and name for name in given):
            raise ModelError(f"Contact materials: {self.materials!r} are not two names; give those of two ContactMaterials")
        if self.between is not None or self.reach is not None or self.pressure is not None or self.damping > 0.0 or self.thickness > 0.0:
            what = "between, reach, pressure, thickness and damping are not theirs; leave them out"
            raise ModelError(f"Contact of materials {given}: {what}")
        object.__setattr__(self, "materials", tuple(given))
        if self.margin is not None:
            object.__setattr__(self, "margin", number(self.margin, "Contact margin", minimum=0.0))

    def _check_friction(self) -> None:
        object.__setattr__(self, "torsion", number(self.torsion, "Contact torsion", minimum=0.0))
        if self.static is not None:
            object.__setattr__(self, "static", number(self.static, "Contact static", minimum=0.0))
            if self.static < self.friction:
                raise ModelError(f"Contact static {self.static} lies below friction {self.friction}; give at least that")
            if self.friction == 0.0 and self.static > 0.0:
                raise ModelError("Contact static without friction: what slides would have none; give friction above 0")
        if (self.across is None) != (self.direction is None) or (self.direction is not None and self.between is None):
            raise ModelError("Contact across and direction belong together, and to a Contact between two bodies; give both, with between")
        if self.across is not None:
            object.__setattr__(self, "across", number(self.across, "Contact across", minimum=0.0))
            object.__setattr__(self, "direction", unit_direction(self.direction, "Contact", "direction"))

    @property
    def plain(self) -> bool:
        """Whether its friction is one number."""
        return self.static is None and self.torsion == 0.0 and self.across is None

    @property
    def narrowness(self) -> int:
        """How closely it speaks of a pair: 0 about all bodies, 1 about lists, 2 about two bodies, 3 about materials. The narrower holds."""
        if self.materials is not None:
            return 3
        return 0 if self.between is None else 2 if all(isinstance(side, str) for side in self.between) else 1

    @property
    def everywhere(self) -> bool:
        """Whether it is the one about all bodies."""
        return self.between is None and self.materials is None

    def bodies(self) -> list[str]:
        return list(dict.fromkeys(name for side in self.between or () for name in _group(side)))

    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of different bodies it is about, the first of the first group; none if it is about all."""
        first, second = (_group(side) for side in self.between) if self.between is not None else ((), ())
        return [(a, b) for a in first for b in second if a != b]


def _group(side: Any) -> tuple[str, ...]:
    """Names of a body, or of a list of bodies."""
    return tuple(name_of(b, "Contact between") for b in (side if isinstance(side, tuple | list) else (side,)))
