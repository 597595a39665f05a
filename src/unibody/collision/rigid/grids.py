"""Pairs of boxes that meet, by a hierarchy of grids, in linear time.

Boxes of similar size (within a factor of two) form a level; a level is a grid of cells at least as wide as its boxes, so that of two boxes
that meet the smaller one's middle lies at most one cell away from the larger one's cell. So each shape looks at half of the 27 cells around
it in its own level and at all of them in every coarser one, through a table of hashes.
"""

from __future__ import annotations

from math import exp, floor, log

from unibody.collision.broad import overlap
from unibody.collision.rigid.allowing import may_touch, note
from unibody.collision.rigid.kinds import PLANE
from unibody.kernel import Floats, Ints, device, kernel

ROOMY = 1.25
"""Width of the usual cell, at most, by that of the usual box, their geometric mean: turned boxes vary by about as much."""
USUAL = 30
"""Its level."""
FURTHEST = 2**50
"""Cells beyond this count as the same."""


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


@kernel
def find_by_grids(
    kind: Ints, body: Ints, boxes: Floats, moving: Ints, group: Ints, mask: Ints, excluded: Ints, classes: Ints, begin: int,
    levels_out: Ints, cells_out: Ints, heads_out: Ints, next_out: Ints, keys_out: Ints,
) -> int:  # fmt: skip
    """Pairs of shapes with boxes behind the first `begin` pairs; gives how many there are then, also if there is no room."""
    n = kind.size
    found = begin
    # the usual width: the largest box that is not much wider than the geometric mean of all
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
    # every shape enters one cell of the level whose cells are as wide as its box, in a table with chains
    present = 0
    for k in range(heads_out.size):
        heads_out[k] = -1
    for i in range(n):
        if kind[i] == PLANE:
            levels_out[i] = -1
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
    # every shape looks into 27 cells of its own level and of all wider ones
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
                            if overlap(boxes, 6 * i, boxes, 6 * j) and may_touch(i, j, body, moving, group, mask, excluded, classes):
                                found = note(i, j, found, keys_out)
                        j = next_out[j]
            size *= 2.0
            level += 1
    return found
