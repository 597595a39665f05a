"""What touches: contacts as arrays, sorted by pair of shapes, and the kernel that puts them in order.

Shapes a and b are numbered by the table of shapes, a < b, so that body_a < body_b. The normal points from a to b; gap > 0 means apart. The
id of a contact is the pair of its shapes and the features that touch (2³¹ · (a n + b) + feature), the same from step to step while they do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.collision.rigid.emit import RECORD
from unibody.kernel import Floats, Ints, kernel

FEATURE_BITS = 31


@dataclass(frozen=True)
class RigidContacts:
    """n contacts. Arrays are views of memory that the next `find` writes again: `copy()` what shall last."""

    body: np.ndarray
    """(n, 2) bodies a < b."""
    shape: np.ndarray
    """(n, 2) shapes a < b."""
    id: np.ndarray
    """(n,) int64, persistent."""
    point_a: np.ndarray
    """(n, 3) on a, in the world [m]."""
    point_b: np.ndarray
    """(n, 3) on b: point_a + gap · normal."""
    normal: np.ndarray
    """(n, 3) unit, from a to b."""
    gap: np.ndarray
    """(n,) [m], negative inside."""

    def __len__(self) -> int:
        return len(self.gap)

    @property
    def body_a(self) -> np.ndarray:
        return self.body[:, 0]

    @property
    def body_b(self) -> np.ndarray:
        return self.body[:, 1]

    @property
    def point(self) -> np.ndarray:
        """(n, 3) midway between the two surfaces [m]."""
        return 0.5 * (self.point_a + self.point_b)

    def copy(self) -> RigidContacts:
        """The same contacts in memory of their own."""
        return RigidContacts(*(getattr(self, name).copy() for name in ("body", "shape", "id", "point_a", "point_b", "normal", "gap")))


@kernel
def rest_apart(
    count: int, margin: float, shapes: Ints, classes: int, offset: Floats, pairs: Ints, tags_out: Ints, records_out: Floats
) -> int:
    """Measure gaps from where surfaces rest, `offset` (classes, classes) apart, with points midway as they were; those that are farther
    than the margin then are left out. `shapes`: classes of shapes. Gives how many are left."""
    kept = 0
    for c in range(count):
        pair = tags_out[2 * c]
        off = offset[classes * shapes[pairs[2 * pair]] + shapes[pairs[2 * pair + 1]]]
        gap = records_out[RECORD * c + 6] - off
        if gap > margin:
            continue
        tags_out[2 * kept] = pair
        tags_out[2 * kept + 1] = tags_out[2 * c + 1]
        for k in range(RECORD):
            records_out[RECORD * kept + k] = records_out[RECORD * c + k]
        for k in range(3):
            records_out[RECORD * kept + k] += 0.5 * off * records_out[RECORD * kept + 3 + k]
        records_out[RECORD * kept + 6] = gap
        kept += 1
    return kept


@kernel
def arrange(
    count: int, tags: Ints, records: Floats, pairs: Ints, body: Ints, start_out: Ints, body_out: Ints, shape_out: Ints, id_out: Ints,
    point_a_out: Floats, point_b_out: Floats, normal_out: Floats, gap_out: Floats,
) -> None:  # fmt: skip
    """Contacts in the order of pairs, those of one pair as they were found; `start_out` is work space, one more than there are pairs."""
    for k in range(start_out.size):
        start_out[k] = 0
    for c in range(count):
        start_out[tags[2 * c] + 1] += 1
    for k in range(start_out.size - 1):
        start_out[k + 1] += start_out[k]
    for c in range(count):
        pair = tags[2 * c]
        at = start_out[pair]
        start_out[pair] += 1
        i = pairs[2 * pair]
        j = pairs[2 * pair + 1]
        shape_out[2 * at] = i
        shape_out[2 * at + 1] = j
        body_out[2 * at] = body[i]
        body_out[2 * at + 1] = body[j]
        id_out[at] = ((i * body.size + j) << FEATURE_BITS) + tags[2 * c + 1]
        gap = records[RECORD * c + 6]
        gap_out[at] = gap
        for k in range(3):
            point_a_out[3 * at + k] = records[RECORD * c + k]
            normal_out[3 * at + k] = records[RECORD * c + 3 + k]
            point_b_out[3 * at + k] = records[RECORD * c + k] + gap * records[RECORD * c + 3 + k]


@kernel
def arrange_touches(
    count: int, tags: Ints, records: Floats, pairs: Ints, body: Ints, pair_count: int, moving: Ints, body_out: Ints, point_out: Floats,
    normal_out: Floats, gap_out: Floats, id_out: Ints,
) -> int:  # fmt: skip
    """As `arrange`, but only contacts in which some body is `moving`, at points midway between the surfaces; gives how many."""
    start = np.zeros(pair_count + 1, np.int64)
    for c in range(count):
        pair = tags[2 * c]
        if moving[body[pairs[2 * pair]]] != 0 or moving[body[pairs[2 * pair + 1]]] != 0:
            start[pair + 1] += 1
    for k in range(pair_count):
        start[k + 1] += start[k]
    total = start[pair_count]
    for c in range(count):
        pair = tags[2 * c]
        i, j = pairs[2 * pair], pairs[2 * pair + 1]
        if moving[body[i]] == 0 and moving[body[j]] == 0:
            continue
        at = start[pair]
        start[pair] += 1
        body_out[2 * at] = body[i]
        body_out[2 * at + 1] = body[j]
        id_out[at] = ((i * body.size + j) << FEATURE_BITS) + tags[2 * c + 1]
        gap = records[RECORD * c + 6]
        gap_out[at] = gap
        for k in range(3):
            normal_out[3 * at + k] = records[RECORD * c + 3 + k]
            x = records[RECORD * c + k]
            point_out[3 * at + k] = 0.5 * (x + (x + gap * records[RECORD * c + 3 + k]))
    return total
