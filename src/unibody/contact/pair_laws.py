"""What the Contact elements of a model say of pairs of bodies, as arrays over contacts.

The element without `between` holds for all pairs, one with `between` for its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.constraints.contact import IMPACTS, Contact
from unibody.model.model import Model


@dataclass(frozen=True)
class Laws:
    """Of n contacts: coefficients of friction (n, 3), along, across and about the normal (a length), and how many times larger they are
    for what does not slide; restitution; the law of impact as its number in IMPACTS; the direction of the first coefficient (n, 3), not
    numbers where there is none, and the body in which it is fixed."""

    friction: np.ndarray
    stick: np.ndarray
    restitution: np.ndarray
    impact: np.ndarray
    direction: np.ndarray
    owner: np.ndarray


def _coefficients(c: Contact) -> tuple[float, float, float]:
    """Along, across, and about the normal."""
    across = c.friction if c.across is None else c.across
    return c.friction, across, c.torsion * max(c.friction, across)


class PairLaws:
    """Laws by pair of bodies."""

    def __init__(self, model: Model):
        rules = [c for _, c in model.constraints if isinstance(c, Contact)]
        self._n = model.n_bodies
        everyone = next((c for c in rules if c.between is None), Contact())
        pairs = {self._key(*map(model.body, pair)): (c, model.body(pair[0])) for c in rules for pair in c.pairs()}
        self._keys = np.array(sorted(pairs), np.int64)
        self._table = [everyone, *(pairs[k][0] for k in sorted(pairs))]
        owners = [0, *(pairs[k][1] for k in sorted(pairs))]
        self._columns = (
            np.array([_coefficients(c) for c in self._table]),
            np.array([1.0 if c.static is None or c.friction == 0.0 else c.static / c.friction for c in self._table]),
            np.array([c.restitution for c in self._table]), np.array([IMPACTS.index(c.impact) for c in self._table]),
            np.array([np.full(3, np.nan) if c.direction is None else c.direction for c in self._table], float), np.array(owners),
        )  # fmt: skip
        self.spins = any(c.torsion > 0.0 for c in self._table)
        """Whether some pair holds turns about the normal."""

    def _key(self, a: int, b: int) -> int:
        return min(a, b) * self._n + max(a, b)

    def of(self, bodies: np.ndarray) -> Laws:
        """Of contacts between pairs of bodies (n, 2)."""
        key = bodies.min(axis=1) * self._n + bodies.max(axis=1)
        which = np.zeros(len(bodies), np.int64)
        if self._keys.size:
            at = np.minimum(np.searchsorted(self._keys, key), self._keys.size - 1)
            which = np.where(self._keys[at] == key, at + 1, 0)

        return Laws(*(column[which] for column in self._columns))
