"""What the Contact elements of a model say of pairs of bodies, as arrays over contacts.

The element without `between` holds for all pairs, one with `between` for its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.constraints.contact import IMPACTS, Contact
from unibody.model.model import Model


@dataclass(frozen=True)
class Laws:
    """Of n contacts: coefficients of friction and restitution, and the law of impact as its number in IMPACTS."""

    friction: np.ndarray
    restitution: np.ndarray
    impact: np.ndarray


class PairLaws:
    """Laws by pair of bodies."""

    def __init__(self, model: Model):
        rules = [c for _, c in model.constraints if isinstance(c, Contact)]
        self._n = model.n_bodies
        everyone = next((c for c in rules if c.between is None), Contact())
        pairs = {self._key(*(model.body(b) for b in c.between)): c for c in rules if c.between is not None}
        self._keys = np.array(sorted(pairs), np.int64)
        self._table = [everyone, *(pairs[k] for k in sorted(pairs))]
        self.reach = everyone.reach

    def _key(self, a: int, b: int) -> int:
        return min(a, b) * self._n + max(a, b)

    def of(self, bodies: np.ndarray) -> Laws:
        """Of contacts between pairs of bodies (n, 2)."""
        key = bodies.min(axis=1) * self._n + bodies.max(axis=1)
        which = np.zeros(len(bodies), np.int64)
        if self._keys.size:
            at = np.minimum(np.searchsorted(self._keys, key), self._keys.size - 1)
            which = np.where(self._keys[at] == key, at + 1, 0)

        def column(value: Any) -> np.ndarray:
            return np.array([value(c) for c in self._table])[which]

        return Laws(column(lambda c: c.friction), column(lambda c: c.restitution), column(lambda c: IMPACTS.index(c.impact)))
