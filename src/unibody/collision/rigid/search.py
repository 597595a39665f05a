"""Which shapes may touch: a hierarchy of grids over boxes, in linear time.

Every shape has a box in the world, widened by half the margin. Boxes of similar size (within a factor of two) form a level; a level is
a grid of cells at least as wide as its boxes, so that of two boxes that meet the smaller one's middle lies at most one cell away from the
larger one's cell. So each shape looks at half of the 27 cells around it in its own level and at all of them in every coarser one, through
a table of hashes. Planes have no box: they are held against every shape's height. Pairs come sorted by their shapes' numbers.
"""

from __future__ import annotations

from math import exp, floor, log, sqrt

import numpy as np

from unibody.collision.broad import listed, overlap
from unibody.collision.rigid.kinds import CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, compose_rotations, dot3, load3, load9, rotate, store3, store9, sub3

ROOMY = 1.25
"""Width of the usual cell, at most, by that of the usual box, their geometric mean: turned boxes vary by about as much."""
USUAL = 30
"""Its level."""
FURTHEST = 2**50
"""Cells beyond this count as the same."""


@device
def extents(kind, i, R, hull, size):
    """Half extents of a shape's box in the world."""
    if kind[i] == SPHERE:
        return (size[4 * i], size[4 * i], size[4 * i])
    if kind[i] == CAPSULE:
        r = size[4 * i]
        h = size[4 * i + 1]
        return (r + h * abs(R[2]), r + h * abs(R[5]), r + h * abs(R[8]))
    if kind[i] == CYLINDER:
        r = size[4 * i]
        h = size[4 * i + 1]
        return (
            r * sqrt(max(0.0, 1.0 - R[2] * R[2])) + h * abs(R[2]), r * sqrt(max(0.0, 1.0 - R[5] * R[5])) + h * abs(R[5]),
            r * sqrt(max(0.0, 1.0 - R[8] * R[8])) + h * abs(R[8]),
        )  # fmt: skip
    a = hull[6 * i + 3]
    b = hull[6 * i + 4]
    c = hull[6 * i + 5]
    if kind[i] == ELLIPSOID:
        return (
            sqrt((a * R[0]) ** 2 + (b * R[1]) ** 2 + (c * R[2]) ** 2), sqrt((a * R[3]) ** 2 + (b * R[4]) ** 2 + (c * R[5]) ** 2),
            sqrt((a * R[6]) ** 2 + (b * R[7]) ** 2 + (c * R[8]) ** 2),
        )  # fmt: skip
    return (
        a * abs(R[0]) + b * abs(R[1]) + c * abs(R[2]), a * abs(R[3]) + b * abs(R[4]) + c * abs(R[5]),
        a * abs(R[6]) + b * abs(R[7]) + c * abs(R[8]),
    )  # fmt: skip


@kernel
def place_shapes(
    X: Floats, body: Ints, kind: Ints, pose: Floats, size: Floats, hull: Floats, margin: float, frames_out: Floats, boxes_out: Floats
) -> int:
    """Frames of all shapes in the world and their boxes, from the poses of bodies; gives the first body without a finite pose, or −1."""
    for b in range(X.size // 12):
        for k in range(12):
            if not abs(X[12 * b + k]) < np.inf:
                return b
    for i in range(body.size):
        R_WB = load9(X, 12 * body[i])
        R = compose_rotations(R_WB, load9(pose, 12 * i))
        p = add3(load3(X, 12 * body[i] + 9), rotate(R_WB, load3(pose, 12 * i + 9)))
        store9(R, 12 * i, frames_out)
        store3(p, 12 * i + 9, frames_out)
        if kind[i] != PLANE:
            c = add3(p, rotate(R, load3(hull, 6 * i)))
            e = extents(kind, i, R, hull, size)
            for k in range(3):
                # round-off of places far from the origin must not lose a pair
                slack = 0.5 * margin + 1e-14 * abs(c[k])
                boxes_out[6 * i + k] = c[k] - e[k] - slack
                boxes_out[6 * i + 3 + k] = c[k] + e[k] + slack
    return -1


@device
def width(boxes, i):
    """Of a box, its longest side."""
    return max(boxes[6 * i + 3] - boxes[6 * i], max(boxes[6 * i + 4] - boxes[6 * i + 1], boxes[6 * i + 5] - boxes[6 * i + 2]))


@device
def cell(boxes, i, k, size):
    """The cell of a box's middle along axis k."""
    return int(max(-float(FURTHEST), min(float(FURTHEST), floor(0.5 * (boxes[6 * i + k] + boxes[6 * i + 3 + k]) / size))))


@device
def slot(x, y, z, level, mask):
    """Of a cell in the table."""
    # multiples of numbers without a common pattern spread the cells of a grid evenly
    return ((x * 0x4F1BBCD9 + y * 0x42F5E53B + z * 0x6159571F + level * 0x2C1B3C6D) >> 14) & mask


@device
def allowed(a, b, moving, group, mask, excluded):
    """Whether two bodies may touch."""
    if a == b or moving[a] + moving[b] == 0:
        return False
    if (mask[a] >> group[b]) & 1 == 0 or (mask[b] >> group[a]) & 1 == 0:
        return False
    return not listed(excluded, min(a, b) * moving.size + max(a, b))


@device
def note(i, j, found, keys_out):
    """Write a pair down as one number."""
    if found < keys_out.size:
        keys_out[found] = (min(i, j) << 31) + max(i, j)
    return found + 1


@device
def height_over(i, j, frames, boxes):
    """Of the box of shape j, widened by half the margin, over the plane i."""
    up = (frames[12 * i + 2], frames[12 * i + 5], frames[12 * i + 8])
    c = (
        0.5 * (boxes[6 * j] + boxes[6 * j + 3]), 0.5 * (boxes[6 * j + 1] + boxes[6 * j + 4]), 0.5 * (boxes[6 * j + 2] + boxes[6 * j + 5])
    )  # fmt: skip
    height = dot3(sub3(c, load3(frames, 12 * i + 9)), up)
    for k in range(3):
        height -= 0.5 * (boxes[6 * j + 3 + k] - boxes[6 * j + k]) * abs(up[k])
    return height


@kernel
def find_pairs(
    kind: Ints, body: Ints, frames: Floats, boxes: Floats, moving: Ints, group: Ints, mask: Ints, excluded: Ints, margin: float,
    levels_out: Ints, cells_out: Ints, heads_out: Ints, next_out: Ints, keys_out: Ints,
) -> int:  # fmt: skip
    """Pairs of shapes whose boxes meet and whose bodies may touch, as numbers to sort; gives their count, also if there is no room."""
    n = kind.size
    found = 0
    total = 0.0
    counted = 0
    for i in range(n):
        if kind[i] != PLANE:
            total += log(max(width(boxes, i), 1e-300))
            counted += 1
    most = ROOMY * exp(total / max(counted, 1))
    usual = 0.0
    for i in range(n):
        if kind[i] != PLANE and width(boxes, i) <= most:
            usual = max(usual, width(boxes, i))
    usual = usual * (1.0 + 2e-9) if usual > 0.0 else most
    present = 0
    for k in range(heads_out.size):
        heads_out[k] = -1
    for i in range(n):
        if kind[i] == PLANE:
            levels_out[i] = -1
            for j in range(n):
                if kind[j] != PLANE and allowed(body[i], body[j], moving, group, mask, excluded):
                    if height_over(i, j, frames, boxes) <= 0.5 * margin:
                        found = note(i, j, found, keys_out)
            continue
        level = USUAL
        size = usual
        w = width(boxes, i) * (1.0 + 1e-9)
        while size < w and level < 2 * USUAL:
            size *= 2.0
            level += 1
        while 0.5 * size >= w and level > 0:
            size *= 0.5
            level -= 1
        levels_out[i] = level
        present |= 1 << level
        for k in range(3):
            cells_out[3 * i + k] = cell(boxes, i, k, size)
        at = slot(cells_out[3 * i], cells_out[3 * i + 1], cells_out[3 * i + 2], level, heads_out.size - 1)
        next_out[i] = heads_out[at]
        heads_out[at] = i
    for i in range(n):
        if levels_out[i] < 0:
            continue
        level = levels_out[i]
        size = usual * 2.0 ** (level - USUAL)
        while present >> level:
            if (present >> level) & 1:
                x = cell(boxes, i, 0, size)
                y = cell(boxes, i, 1, size)
                z = cell(boxes, i, 2, size)
                # of its own level half of the cells: the other half looks back
                for c in range(13 if level == levels_out[i] else 0, 27):
                    u = x + c % 3 - 1
                    v = y + (c // 3) % 3 - 1
                    w_ = z + c // 9 - 1
                    j = heads_out[slot(u, v, w_, level, heads_out.size - 1)]
                    while j >= 0:
                        ahead = c != 13 or level > levels_out[i] or j > i
                        here = cells_out[3 * j] == u and cells_out[3 * j + 1] == v and cells_out[3 * j + 2] == w_
                        if ahead and here and levels_out[j] == level:
                            if overlap(boxes, 6 * i, boxes, 6 * j) and allowed(body[i], body[j], moving, group, mask, excluded):
                                found = note(i, j, found, keys_out)
                        j = next_out[j]
            size *= 2.0
            level += 1
    return found


@kernel
def sort_keys(shapes: int, keys_out: Ints) -> None:
    """Numbers of pairs in order: by their first shapes at once, those of one by insertion, as they come almost in order."""
    start, copy = np.zeros(shapes + 1, np.int64), keys_out.copy()
    for k in range(copy.size):
        start[(copy[k] >> 31) + 1] += 1
    for i in range(shapes):
        start[i + 1] += start[i]
    for k in range(copy.size):
        first = copy[k] >> 31
        keys_out[start[first]] = copy[k]
        start[first] += 1
    for k in range(1, copy.size):
        key = keys_out[k]
        at = k
        while at > 0 and keys_out[at - 1] > key:
            keys_out[at] = keys_out[at - 1]
            at -= 1
        keys_out[at] = key


@kernel
def sort_pairs(keys: Ints, kind: Ints, family: Ints, kinds: int, families: int, pairs_out: Ints, order_out: Ints, start_out: Ints) -> None:
    """Sorted numbers as pairs of shapes, and the pairs of every family one after another: those of family f from start_out[f] on."""
    for f in range(families + 1):
        start_out[f] = 0
    for k in range(keys.size):
        i = keys[k] >> 31
        j = keys[k] & ((1 << 31) - 1)
        pairs_out[2 * k] = i
        pairs_out[2 * k + 1] = j
        f = family[kinds * kind[i] + kind[j]]
        if f >= 0:
            start_out[f + 1] += 1
    for f in range(families):
        start_out[f + 1] += start_out[f]
    for k in range(keys.size):
        f = family[kinds * kind[pairs_out[2 * k]] + kind[pairs_out[2 * k + 1]]]
        if f >= 0:
            order_out[start_out[f]] = k
            start_out[f] += 1
    for f in range(families, 0, -1):
        start_out[f] = start_out[f - 1]
    start_out[0] = 0


@kernel
def pair_up(
    X: Floats, body: Ints, kind: Ints, pose: Floats, size: Floats, hull: Floats, moving: Ints, group: Ints, mask: Ints, excluded: Ints,
    family: Ints, kinds: int, margin: float, frames_out: Floats, boxes_out: Floats, levels_out: Ints, cells_out: Ints, heads_out: Ints,
    next_out: Ints, keys_out: Ints, pairs_out: Ints, order_out: Ints, start_out: Ints,
) -> int:  # fmt: skip
    """All of the search, from poses to pairs by families: their count, also if there is no room for them, which leaves the pairs out; or
    −1 − the first body without a finite pose."""
    lost = place_shapes(X, body, kind, pose, size, hull, margin, frames_out, boxes_out)
    if lost >= 0:
        return -1 - lost
    found = find_pairs(
        kind, body, frames_out, boxes_out, moving, group, mask, excluded, margin, levels_out, cells_out, heads_out, next_out, keys_out
    )
    if found <= keys_out.size:
        sort_keys(kind.size, keys_out[:found])
        sort_pairs(keys_out[:found], kind, family, kinds, start_out.size - 1, pairs_out, order_out, start_out)
    return found
