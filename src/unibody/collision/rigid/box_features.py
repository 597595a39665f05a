"""Corners and edges of a box, and names for what touches when two boxes meet.

Corner `code` has the bits x, y, z (1, 2, 4: positive). An edge is its direction and the corner where it begins. The name of a contact is
the pair of features that meet: a corner of a on a face of b, a corner of b on a face of a, or two edges. It does not say by which axis or
over which face they were found, so that contacts keep their names, and solvers what they remember of them, when the axis changes.
"""

from __future__ import annotations

from unibody.collision.rigid.clip import NEW, SIDES
from unibody.kernel import device


@device
def column(R, k):
    return (R[k], R[3 + k], R[6 + k])


@device
def corner_of(h, code):
    """Corner `code` of the box with half sides h."""
    return (h[0] if code & 1 else -h[0], h[1] if code & 2 else -h[1], h[2] if code & 4 else -h[2])


@device
def edge_start(e):
    """The corner where edge e = 4 axis + k begins."""
    axis = e // 4
    k = e % 4
    low = k & 1
    high = k >> 1
    if axis == 0:
        return 2 * low + 4 * high
    if axis == 1:
        return low + 4 * high
    return low + 2 * high


@device
def corner_name(code, of_b):
    """Of a contact of corner `code`."""
    return code + (8 if of_b else 0)


@device
def crossing_name(i, start_i, j, start_j):
    """Of a contact of a's edge along axis i from the corner start_i (or from where it ends) with b's along axis j."""
    return 16 + 24 * (8 * i + (start_i & ~(1 << i))) + 8 * j + (start_j & ~(1 << j))


@device
def bit(k, positive):
    return 1 << k if positive else 0


@device
def face_corner(k, up, c):
    """Code of the corner c (0–3, in the order (+, +), (−, +), (−, −), (+, −) of the axes after k) of the face along ±k."""
    return bit(k, up) | bit((k + 1) % 3, c == 0 or c == 3) | bit((k + 2) % 3, c < 2)


@device
def rim_corner(axis, up, side):
    """Code of a corner on a side of the face along ±axis (0–3: along the first axis after it, the second, against the first, second)."""
    return bit(axis, up) | bit((axis + 1) % 3 if side % 2 == 0 else (axis + 2) % 3, side < 2)


@device
def clipped_name(name, own, axis, up, k, down):
    """Of what `clip` calls `name` when the face along ±k of one box is cut to the face along ±axis of the other; `own`: that other is a."""
    if name < NEW:
        return corner_name(face_corner(k, down, name), own)
    label = (name - NEW) // SIDES
    side = (name - NEW) % SIDES
    rim = rim_corner(axis, up, side)
    if label >= SIDES // 2:
        return corner_name(rim | rim_corner(axis, up, label - SIDES // 2), not own)
    along = (k + 1) % 3 if label % 2 == 0 else (k + 2) % 3
    across = (axis + 2) % 3 if side % 2 == 0 else (axis + 1) % 3
    start = face_corner(k, down, label)
    return crossing_name(across, rim, along, start) if own else crossing_name(along, start, across, rim)
