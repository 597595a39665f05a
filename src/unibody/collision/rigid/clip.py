"""Polygons and segments cut by half-planes (Sutherland and Hodgman), with names for their corners that persist; and from these the names
of what touches when two boxes meet.

A polygon lies in `work_out` from a given place: u, v and height w of each corner; in `labels_out` stand the corner's name and the label of
the edge that leaves it. A corner within `eps` of a cutting line counts as inside and keeps its name, so that aligned faces keep theirs
under round-off; a new corner is named after the edge and the side that cross there. Two corners are a segment, one is a point.

Corner `code` of a box has the bits x, y, z (1, 2, 4: positive). An edge is its direction and the corner where it begins. The name of a
contact of two boxes is the pair of features that meet: a corner of a on a face of b, a corner of b on a face of a, or two edges. It does
not say by which axis or over which face they were found, so that contacts keep their names, and solvers what they remember of them, when
the axis changes.
"""

from __future__ import annotations

from math import sqrt

from unibody.kernel import device

ROOM = 128
"""Corners that a polygon may have."""
WORK = 6 * ROOM
LABELS = 4 * ROOM
SIDES = 64
NEW = 256
"""Names from here on belong to crossings."""


@device
def put_corner(m, at, u, v, w, name, label, work_out, labels_out):
    """Append a corner to the polygon of m corners at `at`."""
    if m < ROOM:
        work_out[3 * (at + m)] = u
        work_out[3 * (at + m) + 1] = v
        work_out[3 * (at + m) + 2] = w
        labels_out[2 * (at + m)] = name
        labels_out[2 * (at + m) + 1] = label
    return min(m + 1, ROOM)


@device
def cut(m, side, nu, nv, c, eps, source, target, work_out, labels_out):
    """The part of the polygon at `source` with nu u + nv v ≤ c, written to `target`; gives its number of corners."""
    kept = 0
    for k in range(m):
        i = source + k
        j = source + (k + 1 if k + 1 < m else 0)
        here = nu * work_out[3 * i] + nv * work_out[3 * i + 1] - c
        there = nu * work_out[3 * j] + nv * work_out[3 * j + 1] - c
        label = labels_out[2 * i + 1]
        crossing = m > 2 or k + 1 < m
        if here <= eps:
            leaves = crossing and there > eps
            touches = leaves and here >= -eps
            kept = put_corner(
                kept, target, work_out[3 * i], work_out[3 * i + 1], work_out[3 * i + 2], labels_out[2 * i],
                SIDES // 2 + side if touches else label, work_out, labels_out,
            )  # fmt: skip
            crossing = leaves and not touches
        else:
            crossing = crossing and there < -eps
        if crossing:
            t = here / (here - there)
            u = work_out[3 * i] + t * (work_out[3 * j] - work_out[3 * i])
            v = work_out[3 * i + 1] + t * (work_out[3 * j + 1] - work_out[3 * i + 1])
            w = work_out[3 * i + 2] + t * (work_out[3 * j + 2] - work_out[3 * i + 2])
            follows = SIDES // 2 + side if here <= eps else label
            kept = put_corner(kept, target, u, v, w, NEW + SIDES * label + side, follows, work_out, labels_out)
    return kept


@device
def cut_to_rectangle(m, hu, hv, eps, work_out, labels_out):
    """The part of the polygon at 0 within |u| ≤ hu, |v| ≤ hv, again at 0."""
    for side in range(4):
        turn = 1.0 if side < 2 else -1.0
        along_u = side % 2 == 0
        nu = turn if along_u else 0.0
        nv = 0.0 if along_u else turn
        at = ROOM * (side % 2)
        m = cut(m, side, nu, nv, hu if along_u else hv, eps, at, ROOM - at, work_out, labels_out)
    return m


@device
def drop_flat(m, least, work_out, labels_out):
    """Leave out corners of the polygon at 0 that stand out over the line through their neighbours by less than `least`, the flattest first,
    while there are more than four; never one that is lower than both. Gives how many are left."""
    while m > 4:
        flattest = -1
        height = least
        for k in range(m):
            i = 3 * (k - 1 if k > 0 else m - 1)
            j = 3 * (k + 1 if k + 1 < m else 0)
            u = work_out[j] - work_out[i]
            v = work_out[j + 1] - work_out[i + 1]
            x = work_out[3 * k] - work_out[i]
            y = work_out[3 * k + 1] - work_out[i + 1]
            length = max(sqrt(u * u + v * v), 1e-300)
            if min(work_out[i + 2], work_out[j + 2]) - work_out[3 * k + 2] <= 1e-6 * least and abs(u * y - v * x) < height * length:
                height = abs(u * y - v * x) / length
                flattest = k
        if flattest < 0:
            break
        m -= 1
        for k in range(flattest, m):
            for c in range(3):
                work_out[3 * k + c] = work_out[3 * k + 3 + c]
            labels_out[2 * k] = labels_out[2 * k + 2]
    return m


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
