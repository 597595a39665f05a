"""What the Contact elements of a model say of pairs of bodies, as arrays over contacts.

The element without `between` holds for all pairs, one with `between` for its own.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from unibody.collision.filters import contact_rules
from unibody.constraints.contact import IMPACTS, Contact
from unibody.kernel import Ints, kernel
from unibody.model.model import Model


class Laws:
    """Of n contacts, each with a row of the table of laws, columns as `PairLaws` has them."""

    def __init__(self, which: np.ndarray, columns: tuple[np.ndarray, ...]):
        self.which, self._columns = which, columns

    def picked(self, which: np.ndarray, friction: np.ndarray) -> Laws:
        """Of other contacts, with these rows of the table, and their coefficients of friction (n, 3)."""
        out = Laws(which, self._columns)
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


def _coefficients(c: Contact) -> tuple[float, float, float]:
    """Along, across, and about the normal."""
    across = c.friction if c.across is None else c.across
    return c.friction, across, c.torsion * max(c.friction, across)


class PairLaws:
    """Laws by pair of bodies."""

    def __init__(self, model: Model):
        rules = contact_rules(model)
        self._n = model.n_bodies
        everyone = next((c for c in rules if c.between is None), Contact())
        pairs = {self._key(*map(model.body, pair)): (c, model.body(pair[0])) for c in rules for pair in c.pairs()}
        self.keys = np.array(sorted(pairs), np.int64)
        self._table = [everyone, *(pairs[k][0] for k in sorted(pairs))]
        owners = [0, *(pairs[k][1] for k in sorted(pairs))]
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
    def none(self) -> Laws:
        """Of no contacts."""
        return Laws(np.zeros(0, np.int64), self._columns)

    def of(self, bodies: np.ndarray) -> Laws:
        """Of contacts between pairs of bodies (n, 2)."""
        which = np.zeros(len(bodies), np.int64)
        if self.keys.size:
            look_up_pairs(np.ascontiguousarray(bodies, np.int64).ravel(), self._n, self.keys, which)
        return Laws(which, self._columns)
