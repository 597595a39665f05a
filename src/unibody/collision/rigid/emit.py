"""How kernels of the narrow phase write contacts down.

A contact is seven numbers (point on a, unit normal from a to b, signed gap; the point on b is point + gap · normal) and two integers (the
number of its pair, the feature that touches). Kernels write behind what is there and give the new number; past the end of the arrays
they only count, and the caller runs them again with longer ones.
"""

from __future__ import annotations

from unibody.kernel import device
from unibody.spatial.devices import add3, scale3, store3

RECORD = 7


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
