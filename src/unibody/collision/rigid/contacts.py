"""What a contact of two rigid shapes is, how kernels of the narrow phase write it down, and contacts as arrays, sorted by pair.

Shapes a and b are numbered by the table of shapes, a < b, so that body_a < body_b. The normal points from a to b; gap > 0 means apart. The
id of a contact is the pair of its shapes and the features that touch (2³¹ · (a n + b) + feature), the same from step to step while they do.

**Written down** it is seven numbers (point on a, unit normal from a to b, signed gap; the point on b is point + gap · normal) and two
integers (the number of its pair, the feature that touches). Kernels write behind what is there and give the new number; past the end of
the arrays they only count, and the caller runs them again with longer ones.

**Flush faces.** A normal and a gap say where the other shape must not go: n · Δx ≥ −gap. Beside a box whose top is level with the lowest
point of what comes along, its side would forbid a motion that is free: over the top, with an overlap of zero area. So of a face m with the
separation |s(m)| ≤ ε, to which the nearest points are not opposed,

    two boxes have no contact: there is no area in which they touch or would touch on their way;
    others keep their true gap, but along m. They may pass, and may fall by that gap: what rolls off an edge neither hangs in the air nor
    goes in, and once it has fallen by more than ε, it has its true normal again. Level with two faces, they have no contact, too.

ε is twice what solvers leave of an overlap (1e-6 m), for that is how deep bodies rest; less for shapes of less than 0.2 mm, and never less
than round-off. Steps higher than ε are steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, scale3, store3

FEATURE_BITS = 31
"""Of an id."""
RECORD = 7
"""Numbers of a contact."""
FLUSH = 2e-6
"""[m] Overlaps and gaps along a face's normal up to this are none."""
SHARE = 1e-2
"""Of the least half side or radius: not more than this."""
ROUND_OFF = 1e-9
"""Of the size: not less than this."""


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


@device
def put(n, pair, feature, flip, margin, point, normal, gap, tags_out, records_out):
    """Write the contact of a pair unless it is farther than the margin: `point` on the first shape, `normal` to the second; `flip` if
    the pair lists them the other way round. Gives the number of contacts now."""
    if gap > margin:
        return n
    if RECORD * (n + 1) <= records_out.size:
        tags_out[2 * n] = pair
        tags_out[2 * n + 1] = feature
        store3(add3(point, scale3(gap, normal)) if flip else point, RECORD * n, records_out)
        store3(scale3(-1.0, normal) if flip else normal, RECORD * n + 3, records_out)
        records_out[RECORD * n + 6] = gap
    return n + 1


@device
def put_once(first, n, instead, pair, feature, margin, point, normal, gap, tags_out, records_out):
    """As `put`, but where one of the contacts first … n has that feature already, it stays, or is written over if `instead`."""
    for i in range(first, min(n, records_out.size // RECORD)):
        if tags_out[2 * i + 1] == feature:
            if instead and gap <= margin:
                put(i, pair, feature, False, margin, point, normal, gap, tags_out, records_out)
            return n
    return put(n, pair, feature, False, margin, point, normal, gap, tags_out, records_out)


@device
def exchange(i, j, tags_out, records_out):
    """Contacts i and j change places."""
    for k in range(2):
        kept = tags_out[2 * i + k]
        tags_out[2 * i + k] = tags_out[2 * j + k]
        tags_out[2 * j + k] = kept
    for k in range(RECORD):
        held = records_out[RECORD * i + k]
        records_out[RECORD * i + k] = records_out[RECORD * j + k]
        records_out[RECORD * j + k] = held


@device
def flush_within(least, size):
    """ε of two shapes with this least half side or radius, and of this size together."""
    return max(ROUND_OFF * size, min(FLUSH, SHARE * least))
