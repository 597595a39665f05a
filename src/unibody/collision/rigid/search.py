"""Where shapes are, and which may touch: few by sorting their boxes along an axis, many by a hierarchy of grids (`grids`).

Every shape has a frame in the world, and a box widened by half the margin. Up to FEW boxes are put in the order of their lower ends along
the axis on which they are spread most, starting from the order of the last search, and each is held against those that begin before it
ends. Planes have no box: they are held against every shape's height. Pairs come sorted by their shapes' numbers.

From step to step little changes. A search with a wider margin M at poses X° names all pairs that a search with a margin m finds later, as
long as m + 2 δ ≤ M, where no point of any shape has come farther than δ from where it was: of a body with shapes up to r from its origin
|p − p°| + r ‖R − R°‖. Until then only those pairs are looked at, by the same test (`pairs_hold`, `pick_pairs`).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from unibody.collision.rigid.allowing import may_touch, note
from unibody.collision.rigid.grids import find_by_grids
from unibody.collision.rigid.kinds import CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, compose_rotations, dot3, load3, load9, rotate, store3, store9, sub3

FEW = 512
"""Shapes up to which they are sorted along an axis: pairs that overlap there grow as n^(5/3) in a heap, which is then still faster."""
ONLY_PLANES, MOST_ASKED = -1, 128
"""In the place of FEW: shapes may touch planes, but not each other. More shapes than these are not asked."""
WIDER, CERTAIN = 5.0, 0.999
"""The margin of a search whose pairs are kept, in terms of the one that is asked for; and the part of it that round-off leaves."""


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


@device
def place_shape(i, X, body, kind, pose, size, hull, margin, frames_out, boxes_out):
    """The frame of a shape in the world and its box."""
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
        place_shape(i, X, body, kind, pose, size, hull, margin, frames_out, boxes_out)
    return -1


def only_planes(kind: np.ndarray, body: np.ndarray, rights: np.ndarray, bodies: int) -> bool:
    """Whether no two of a few shapes may touch of which none is a plane, as with a robot on a floor that does not touch itself."""
    solid = np.flatnonzero(kind != PLANE).tolist()
    if len(solid) > MOST_ASKED:
        return False
    moving, group, mask, excluded = rights[:bodies], rights[bodies : 2 * bodies], rights[2 * bodies : 3 * bodies], rights[3 * bodies :]
    classes = excluded[excluded[bodies] :]
    return not any(may_touch(i, j, body, moving, group, mask, excluded, classes) for k, i in enumerate(solid) for j in solid[k + 1 :])


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
def find_on_planes(
    kind: Ints, body: Ints, frames: Floats, boxes: Floats, moving: Ints, group: Ints, mask: Ints, excluded: Ints, classes: Ints,
    margin: float, keys_out: Ints,
) -> int:  # fmt: skip
    """Pairs of planes and shapes with boxes; gives their count, also if there is no room."""
    found = 0
    for i in range(kind.size):
        if kind[i] == PLANE:
            for j in range(kind.size):
                if kind[j] != PLANE and height_over(i, j, frames, boxes) <= 0.5 * margin:
                    if may_touch(i, j, body, moving, group, mask, excluded, classes):
                        found = note(i, j, found, keys_out)
    return found


@device
def widest_axis(kind, boxes):
    """The axis along which the middles of boxes vary most."""
    axis, most = 0, -1.0
    for k in range(3):
        total, squares, count = 0.0, 0.0, 0
        first = 0.0
        for i in range(kind.size):
            if kind[i] != PLANE:
                x = boxes[6 * i + k] + boxes[6 * i + 3 + k]
                if count == 0:
                    first = x
                total += x - first
                squares += (x - first) ** 2
                count += 1
        spread = squares - total * total / max(count, 1)
        if spread > most:
            axis, most = k, spread
    return axis


@kernel
def find_along_axis(
    kind: Ints, body: Ints, boxes: Floats, moving: Ints, group: Ints, mask: Ints, excluded: Ints, classes: Ints, begin: int,
    order_out: Ints, keys_out: Ints,
) -> int:  # fmt: skip
    """As `find_by_grids`; `order_out` holds all shapes, as they lay in the last search, if there was one."""
    n, found, axis = kind.size, begin, widest_axis(kind, boxes)
    low = np.empty(n)
    for s in range(n):
        shape = order_out[s]
        x = boxes[6 * shape + axis] if kind[shape] != PLANE else -np.inf
        at = s
        while at > 0 and low[at - 1] > x:
            low[at] = low[at - 1]
            order_out[at] = order_out[at - 1]
            at -= 1
        low[at] = x
        order_out[at] = shape
    one, two = (axis + 1) % 3, (axis + 2) % 3
    for s in range(n):
        i = order_out[s]
        if kind[i] == PLANE:
            continue
        end = boxes[6 * i + 3 + axis]
        low_one, high_one, low_two, high_two = boxes[6 * i + one], boxes[6 * i + 3 + one], boxes[6 * i + two], boxes[6 * i + 3 + two]
        t = s + 1
        while t < n and low[t] <= end:
            j = order_out[t]
            if boxes[6 * j + one] <= high_one and boxes[6 * j + 3 + one] >= low_one:
                if boxes[6 * j + two] <= high_two and boxes[6 * j + 3 + two] >= low_two:
                    if may_touch(i, j, body, moving, group, mask, excluded, classes):
                        found = note(i, j, found, keys_out)
            t += 1
    return found


@kernel
def sort_keys(shapes: int, keys_out: Ints) -> None:
    """Numbers of pairs in order: by their second shapes, then by their first, each by counting."""
    start, copy = np.empty(shapes + 1, np.int64), np.empty(keys_out.size, np.int64)
    for turn in range(2):
        start[:] = 0
        for k in range(copy.size):
            copy[k] = keys_out[k]
            start[shape_of(copy[k], turn) + 1] += 1
        for i in range(shapes):
            start[i + 1] += start[i]
        for k in range(copy.size):
            i = shape_of(copy[k], turn)
            keys_out[start[i]] = copy[k]
            start[i] += 1


@device
def shape_of(key, turn):
    """The second shape of a pair, then the first."""
    return key & ((1 << 31) - 1) if turn == 0 else key >> 31


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
    X: Floats, body: Ints, kind: Ints, pose: Floats, size: Floats, hull: Floats, rights: Ints, family: Ints, kinds: int, few: int,
    margin: float, frames_out: Floats, boxes_out: Floats, grid_out: Ints, last_out: Ints, keys_out: Ints, pairs_out: Ints, order_out: Ints,
    start_out: Ints,
) -> int:  # fmt: skip
    """All of the search, from poses to pairs by families: their count, also if there is no room for them, which leaves the pairs out; or
    −1 − the first body without a finite pose. `rights`: as `rights_of` has them; `few`: the most shapes that are sorted along an axis, or
    ONLY_PLANES where nothing else may touch; `grid_out`: room for grids, `last_out`: what is left alone between searches."""
    lost = place_shapes(X, body, kind, pose, size, hull, margin, frames_out, boxes_out)
    if lost >= 0:
        return -1 - lost
    n, bodies = kind.size, X.size // 12
    moving, group, mask, excluded = rights[:bodies], rights[bodies : 2 * bodies], rights[2 * bodies : 3 * bodies], rights[3 * bodies :]
    # the list of what is excluded ends where its last body's partners do
    classes = excluded[excluded[bodies] :]
    found = find_on_planes(kind, body, frames_out, boxes_out, moving, group, mask, excluded, classes, margin, keys_out)
    if few >= 0 and n <= few:
        found = find_along_axis(kind, body, boxes_out, moving, group, mask, excluded, classes, found, last_out, keys_out)
    elif few >= 0:
        levels, cells, heads = grid_out[:n], grid_out[n : 4 * n], grid_out[4 * n :]
        found = find_by_grids(
            kind, body, boxes_out, moving, group, mask, excluded, classes, found, levels, cells, heads, last_out, keys_out
        )
    if found <= keys_out.size:
        sort_keys(n, keys_out[:found])
        sort_pairs(keys_out[:found], kind, family, kinds, start_out.size - 1, pairs_out, order_out, start_out)
    return found


@kernel
def pairs_hold(X: Floats, reach: Floats, margin: float, kept: Floats) -> bool:
    """Whether the pairs within a margin are among those of the search at `kept`: poses, and last the margin of that search, below 0 for
    none. `reach`: how far shapes are from the origins of bodies at most."""
    allowed = 0.5 * (CERTAIN * kept[X.size] - margin)
    if not allowed >= 0.0:
        return False
    for i in range(reach.size):
        turned, went = 0.0, 0.0
        for k in range(12 * i, 12 * i + 9):
            turned += (X[k] - kept[k]) ** 2
        for k in range(12 * i + 9, 12 * i + 12):
            went += (X[k] - kept[k]) ** 2
        if turned + went != 0.0 and not sqrt(went) + reach[i] * sqrt(turned) <= allowed:
            return False
    return True


@kernel
def pick_pairs(
    X: Floats, body: Ints, kind: Ints, pose: Floats, size: Floats, hull: Floats, near: Ints, margin: float, placed_out: Ints,
    frames_out: Floats, boxes_out: Floats, keys_out: Ints,
) -> int:  # fmt: skip
    """Of the pairs `near`, sorted, those that a search with this margin would find, as numbers: how many. Only their shapes are placed."""
    placed_out[:] = 0
    found = 0
    for k in range(near.size):
        i, j = near[k] >> 31, near[k] & ((1 << 31) - 1)
        for shape in (i, j):
            if placed_out[shape] == 0:
                placed_out[shape] = 1
                place_shape(shape, X, body, kind, pose, size, hull, margin, frames_out, boxes_out)
        if kind[i] == PLANE:
            meets = height_over(i, j, frames_out, boxes_out) <= 0.5 * margin
        elif kind[j] == PLANE:
            meets = height_over(j, i, frames_out, boxes_out) <= 0.5 * margin
        else:
            meets = True
            for m in range(3):
                meets = meets and boxes_out[6 * i + m] <= boxes_out[6 * j + 3 + m] and boxes_out[6 * j + m] <= boxes_out[6 * i + 3 + m]
        if meets:
            keys_out[found] = near[k]
            found += 1
    return found
