"""Polygons and segments cut by half-planes (Sutherland and Hodgman), with names for their corners that persist.

A polygon lies in `work_out` from a given place: u, v and height w of each corner; in `labels_out` stand the corner's name and the label of
the edge that leaves it. A corner within `eps` of a cutting line counts as inside and keeps its name, so that aligned faces keep theirs
under round-off; a new corner is named after the edge and the side that cross there. Two corners are a segment, one is a point.
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
