"""What the Contact elements and materials of a model say of pairs of shapes, as arrays over contacts.

The element for all holds for all pairs, materials before it, one with `between` before these for its bodies, and one with `materials` for
shapes of these. Of two materials hold, at equal priority, the larger friction μ, the larger bound on turning μ · torsion and the
larger restitution, what they do not say being that of the element for all; else those of the higher priority.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from unibody.collision.filters import contact_rules
from unibody.collision.rigid.contacts import FEATURE_BITS
from unibody.collision.shape_rights import ShapeClasses, shape_classes
from unibody.constraints.contact import IMPACTS, Contact
from unibody.errors import ModelError
from unibody.kernel import Ints, kernel
from unibody.model.model import Model
from unibody.shapes import ContactMaterial


class ContactLaws:
    """Of n contacts, each with a row of the table of laws, columns as `PairLaws` has them."""

    def __init__(self, which: np.ndarray, columns: tuple[np.ndarray, ...]):
        self.which, self._columns = which, columns

    def picked(self, which: np.ndarray, friction: np.ndarray) -> ContactLaws:
        """Of other contacts, with these rows of the table, and their coefficients of friction (n, 3)."""
        out = ContactLaws(which, self._columns)
        out.__dict__["friction"] = friction
        return out

    @cached_property
    def friction(self) -> np.ndarray:
        """(n, 3) coefficients along, across and about the normal (a length)."""
        return self._columns[0][self.which]

    @cached_property
    def stick(self) -> np.ndarray:
        """(n,) how many times larger they are for what does not slide."""
        return self._columns[1][self.which]

    @cached_property
    def restitution(self) -> np.ndarray:
        """(n,)"""
        return self._columns[2][self.which]

    @cached_property
    def impact(self) -> np.ndarray:
        """(n,) the law of impact as its number in IMPACTS."""
        return self._columns[3][self.which]

    @cached_property
    def direction(self) -> np.ndarray:
        """(n, 3) of the first coefficient, not numbers where there is none."""
        return self._columns[4][self.which]

    @cached_property
    def owner(self) -> np.ndarray:
        """(n,) the body in which it is fixed."""
        return self._columns[5][self.which]


@kernel
def look_up_pairs(bodies: Ints, n: int, keys: Ints, which_out: Ints) -> None:
    """The place of each pair of bodies among the sorted keys, counted from 1; 0 where it is not there."""
    for k in range(which_out.size):
        a, b = bodies[2 * k], bodies[2 * k + 1]
        key = min(a, b) * n + max(a, b)
        low, high = 0, keys.size
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        which_out[k] = low + 1 if low < keys.size and keys[low] == key else 0


@kernel
def look_up_laws(bodies: Ints, ids: Ints, n: int, keys: Ints, classes: Ints, which_out: Ints) -> None:
    """The row of the table of laws of each contact: of its pair of bodies, else of the classes of its shapes; `classes` as
    `PairLaws.classes` has them, empty without materials."""
    look_up_pairs(bodies, n, keys, which_out)
    if classes.size == 0:
        return
    shapes, count = classes[0], classes[1]
    for k in range(which_out.size):
        pair = ids[k] >> FEATURE_BITS
        row = classes[2 + shapes + count * classes[2 + pair // shapes] + classes[2 + pair % shapes]]
        if row < 0:
            which_out[k] = -row
        elif which_out[k] == 0:
            which_out[k] = row


def combined(a: ContactMaterial, b: ContactMaterial, everyone: Contact) -> Contact:
    """The law of shapes of two materials.

    >>> combined(ContactMaterial(friction=0.2), ContactMaterial(friction=0.7), Contact()).friction
    0.7
    """
    said = [a, b] if a.priority == b.priority else [max(a, b, key=lambda m: m.priority)]
    own = any(m.friction is not None for m in said)
    friction = [everyone.friction if m.friction is None else m.friction for m in said]
    bound = max(f * (everyone.torsion if m.torsion is None else m.torsion) for f, m in zip(friction, said, strict=True))
    most = max(friction)
    return Contact(
        friction=most, torsion=bound / most if most > 0.0 else 0.0, impact=everyone.impact, static=None if own else everyone.static,
        restitution=max(everyone.restitution if m.restitution is None else m.restitution for m in said),
    )  # fmt: skip


def _coefficients(c: Contact) -> tuple[float, float, float]:
    """Along, across, and about the normal."""
    across = c.friction if c.across is None else c.across
    return c.friction, across, c.torsion * max(c.friction, across)


class PairLaws:
    """Laws by pair of bodies, and of shapes where these have materials."""

    def __init__(self, model: Model):
        rules = contact_rules(model)
        self._n = model.n_bodies
        everyone = next((c for c in rules if c.everywhere), Contact())
        pairs = {self._key(*map(model.body, pair)): (c, model.body(pair[0])) for c in rules for pair in c.pairs()}
        self.keys = np.array(sorted(pairs), np.int64)
        self._table = [everyone, *(pairs[k][0] for k in sorted(pairs))]
        owners = [0, *(pairs[k][1] for k in sorted(pairs))]
        classes = shape_classes(model, rules)
        self.classes = np.zeros(0, np.int64) if classes is None else self._by_class(classes, everyone)
        """Empty without materials, else numbers of shapes and classes, the class of each shape, and for each pair of classes the row of the
        table that holds where no Contact names the bodies, or minus the row that holds anyway."""
        owners += [0] * (len(self._table) - len(owners))
        self._columns = (
            np.array([_coefficients(c) for c in self._table]),
            np.array([1.0 if c.static is None or c.friction == 0.0 else c.static / c.friction for c in self._table]),
            np.array([c.restitution for c in self._table]), np.array([IMPACTS.index(c.impact) for c in self._table]),
            np.array([np.full(3, np.nan) if c.direction is None else c.direction for c in self._table], float), np.array(owners),
        )  # fmt: skip
        self.coefficients = self._columns[0].ravel()
        """Of friction, three a law, that of all other pairs first, then those of `keys`."""
        self.spins = any(c.torsion > 0.0 for c in self._table)
        """Whether some pair holds turns about the normal."""
        self.bounces = any(c.restitution > 0.0 for c in self._table)
        """Whether some pair bounces."""
        self.sticks = bool((self._columns[1] > 1.0).any())
        """Whether some pair holds more than it does when it slides."""
        self.directed = any(c.direction is not None for c in self._table)
        """Whether the friction of some pair has axes of its own."""

    def _key(self, a: int, b: int) -> int:
        return min(a, b) * self._n + max(a, b)

    @cached_property
    def none(self) -> ContactLaws:
        """Of no contacts."""
        return ContactLaws(np.zeros(0, np.int64), self._columns)

    def of(self, bodies: np.ndarray, ids: np.ndarray | None = None) -> ContactLaws:
        """Of contacts between pairs of bodies (n, 2), with these ids (n,), which models without materials can do without."""
        which = np.zeros(len(bodies), np.int64)
        if self.classes.size and ids is None:
            raise ModelError("PairLaws: shapes have materials, so that laws depend on shapes, not only on bodies; give ids of contacts")
        if self.keys.size or self.classes.size:
            numbers = np.zeros(len(bodies), np.int64) if ids is None else np.ascontiguousarray(ids, np.int64)
            look_up_laws(np.ascontiguousarray(bodies, np.int64).ravel(), numbers, self._n, self.keys, self.classes, which)
        return ContactLaws(which, self._columns)

    def _by_class(self, classes: ShapeClasses, everyone: Contact) -> np.ndarray:
        """`classes`, with the laws of pairs of classes behind the others in the table."""
        count, known = len(classes.materials), {everyone: 0}
        rows = np.zeros((count, count), np.int64)
        for i, a in enumerate(classes.materials):
            for j, b in enumerate(classes.materials):
                named = classes.named.get((i, j))
                law = combined(a, b, everyone) if named is None else named
                if law not in known:
                    known[law] = len(self._table)
                    self._table.append(law)
                rows[i, j] = known[law] if named is None else -known[law]
        return np.concatenate([[len(classes.of_shape), count], classes.of_shape, rows.ravel()]).astype(np.int64)
