"""Names for what touches when two convex shapes meet with polygons, lines or corners.

Every corner and edge that a shape offers has a number of its own: of a mesh those of its vertices and of the edges between its polygons, of
a box those of `box_features`, of a cylinder the corners of its caps, then the lowest points of its two rims, wherever they are, and the
line between them. The name of a contact is the pair of features that meet, a corner of a, a corner of b, or two edges, whichever face was
cut to which. 0 is the nearest point where it is none of these.
"""

from __future__ import annotations

from unibody.collision.rigid.clip import NEW, SIDES
from unibody.kernel import device

RIMS = 32
"""Of a cylinder: the first of the numbers that follow its caps."""


@device
def corner_tag(corner, of_b):
    """Of a contact of that corner."""
    return 1 + 2 * (corner & 0x1FFFFFFF) + (1 if of_b else 0)


@device
def crossing_tag(edge_a, edge_b):
    """Of a contact of two edges; one of its own while there are fewer than 2¹⁵ of each."""
    return (1 << 30) + (((edge_a << 15) + edge_b) & 0x3FFFFFFF)


@device
def cut_tag(name, own, m, at, other, numbers):
    """Of what `cut` calls `name` when the polygon at `other` of one shape is cut to that of m corners at `at`; `own`: the latter is a's.
    `numbers`: of the corners, and of the edges that leave them."""
    if name < NEW:
        return corner_tag(numbers[2 * (other + name)], own)
    label = (name - NEW) // SIDES
    side = (name - NEW) % SIDES
    if label >= SIDES // 2:
        before = label - SIDES // 2
        return corner_tag(numbers[2 * (at + (side if (before + 1) % m == side else before))], not own)
    edge = numbers[2 * (other + label) + 1]
    rim = numbers[2 * (at + side) + 1]
    return crossing_tag(rim, edge) if own else crossing_tag(edge, rim)
