"""Which shapes may touch, and how far apart they rest, where shapes have materials of their own.

Shapes of one material are a class; what two shapes may do depends on their classes and bodies, in this order:

    a Contact with `materials` names both classes      as it says; neighbours only if it says so
    a Contact with `between` names both bodies         as it says
    categories and masks of the materials              touch if one wants to, and the bodies may (`filters`)

Bodies that never move against each other never touch. Surfaces of two classes rest apart by their `offset`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unibody.collision.broad import Filter
from unibody.collision.filters import Pairs, body_filter, contact_filter, contact_rules, immovable, neighbours
from unibody.constraints.contact import Contact
from unibody.model import Model
from unibody.shapes import ContactMaterial

FORBIDDEN, KEPT_APART, BY_BODIES, ASKED, ASKED_OF_NEIGHBOURS = range(5)
"""What shapes of two classes may do: nothing, as a Contact with their names says; nothing, by their masks, unless a Contact names their
bodies; what their bodies may; touch, as a Contact with their names says; also if a joint connects their bodies."""


@dataclass(frozen=True)
class ShapeClasses:
    """k classes of a model's n solid shapes."""

    materials: tuple[ContactMaterial, ...]
    of_shape: np.ndarray
    """(n,) in the order of bodies and of each body's list."""
    body: np.ndarray
    """(n,)"""
    state: np.ndarray
    """(k, k) of the numbers above."""
    offset: np.ndarray
    """(k, k) [m]"""
    named: dict[tuple[int, int], Contact]
    """Contacts about two classes by name, by both orders."""

    def of_body(self, i: int) -> list[int]:
        """The classes of a body's shapes."""
        return sorted(set(self.of_shape[self.body == i].tolist()))


def materials_of(body: Any) -> Iterator[ContactMaterial | None]:
    """Of each solid shape of a body; of placements within placements the outer one's."""
    for placed in body.shapes:
        solid, material = True, None
        while hasattr(placed, "X_BS"):
            material = placed.material if material is None else material
            solid, placed = solid and placed.solid, placed.shape
        if solid:
            yield material


def given_materials(model: Model) -> set[ContactMaterial]:
    """All that solid shapes have."""
    return {m for body in model.bodies for m in materials_of(body) if m is not None}


def has_materials(model: Model) -> bool:
    """Whether a solid shape has a material."""
    return any(m is not None for body in model.bodies for m in materials_of(body))


def shape_classes(model: Model, rules: Iterable[Contact]) -> ShapeClasses | None:
    """None where no shape has a material."""
    if not has_materials(model):
        return None
    number: dict[ContactMaterial, int] = {}
    found = [(i, number.setdefault(m or ContactMaterial(), len(number))) for i, body in enumerate(model.bodies) for m in materials_of(body)]
    k, materials = len(number), tuple(number)
    category, mask = (np.array([getattr(m, what) for m in materials], object) for what in ("category", "mask"))
    meets = np.array([[bool(c & m) for m in mask] for c in category], bool).reshape(k, k)
    state = np.where(meets | meets.T, BY_BODIES, KEPT_APART)
    margin = np.array([m.margin for m in materials])
    offset = margin[:, None] + margin[None, :]
    named: dict[tuple[int, int], Contact] = {}
    for c in rules:
        if c.materials is None:
            continue
        first, second = ([i for i, m in enumerate(materials) if m.name == name] for name in c.materials)
        for i, j in ((i, j) for i in first for j in second):
            for pair in ((i, j), (j, i)):
                named[pair] = c
                state[pair] = FORBIDDEN if not c.on else ASKED_OF_NEIGHBOURS if c.neighbours else ASKED
                offset[pair] = offset[pair] if c.margin is None else c.margin
    of_shape, body = (np.array([x[at] for x in found], np.int64) for at in (1, 0))
    return ShapeClasses(materials, of_shape, body, state, offset, named)


class ShapeRights:
    """What the Contact elements and materials of a model let touch."""

    def __init__(self, model: Model):
        rules = contact_rules(model)
        self.model = model
        self.filter: Filter = body_filter(model, *contact_filter(model, rules))
        self.classes = shape_classes(model, rules)
        self._rules = rules

    @cached_property
    def fixed(self) -> Pairs:
        """Pairs of bodies that cannot move against each other."""
        return immovable(self.model)

    @cached_property
    def near(self) -> Pairs:
        """Neighbours that contact leaves out unless asked of them, and `fixed`."""
        asked = any(c.everywhere and c.neighbours for c in self._rules)
        return self.fixed if asked else self.fixed | neighbours(self.model)

    @cached_property
    def named(self) -> Pairs:
        """Pairs of bodies about which a Contact speaks that lets them touch: materials hold after it."""
        bodies = [(c.on, *map(self.model.body, pair)) for c in self._rules for pair in c.pairs()]
        last = {(min(a, b), max(a, b)): on for on, a, b in bodies}
        return {pair for pair, on in last.items() if on}

    @cached_property
    def excluded(self) -> set[int]:
        """As in the filter of bodies, a n + b with a < b."""
        return set(self.filter.excluded.tolist())

    def bodies(self, a: int, b: int) -> bool:
        """Whether two bodies may touch, by what is said of bodies."""
        f, a, b = self.filter, min(a, b), max(a, b)
        masks = (f.mask[a] >> f.group[b]) & 1 and (f.mask[b] >> f.group[a]) & 1
        return bool(a != b and (f.moving[a] or f.moving[b]) and masks and a * len(f.moving) + b not in self.excluded)

    def shapes(self, a: int, b: int, one: int, other: int) -> bool:
        """Whether shapes of classes one and other may touch, of bodies a and b."""
        if self.classes is None:
            return self.bodies(a, b)
        state, pair = self.classes.state[one, other], (min(a, b), max(a, b))
        if a == b or not (self.filter.moving[a] or self.filter.moving[b]) or state == FORBIDDEN:
            return False
        if state == ASKED or state == ASKED_OF_NEIGHBOURS:
            return pair not in (self.near if state == ASKED else self.fixed)
        return self.bodies(a, b) and (state == BY_BODIES or pair in self.named)

    def flat(self) -> np.ndarray:
        """As kernels read it (`rigid.allowing`): empty without materials."""
        c = self.classes
        if c is None:
            return np.zeros(0, np.int64)
        n = self.model.n_bodies
        lists = [partners(n, np.array(sorted(a * n + b for a, b in pairs), np.int64)) for pairs in (self.fixed, self.near, self.named)]
        head = 5
        states = head + len(c.of_shape)
        starts = states + c.state.size + np.cumsum([0, *(len(x) for x in lists[:-1])])
        return np.concatenate([[len(c.materials), states], starts, c.of_shape, c.state.ravel(), *lists]).astype(np.int64)


def partners(n: int, keys: np.ndarray) -> np.ndarray:
    """Of pairs of n bodies, sorted numbers a n + b with a < b: where the partners of each a begin, then all partners."""
    starts = n + 1 + np.concatenate([[0], np.cumsum(np.bincount(keys // n, minlength=n))])
    return np.concatenate([starts, keys % n]).astype(np.int64)
