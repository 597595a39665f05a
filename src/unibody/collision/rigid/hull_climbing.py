"""The corner of a convex polyhedron that is farthest along a direction, without asking all of them.

On a convex polyhedron a corner that is not the farthest has a neighbour that is farther. So one walks uphill along edges, from a corner
that is farthest along a direction nearby: those of CELLS directions are known, the middles of the fields of a grid on the faces of a cube.
The walk takes a few steps, however many corners there are. Where faces are flat only to round-off, it may end that much too low.

The table of a mesh is a part of `start` (see `hull_polygons`): the first corner for every cell; for each corner where its list stands; and
the lists, number of neighbours and neighbours. Corners are counted as in `corners`, where a vertex stands once for each of its faces: it is
named by the first.
"""

from __future__ import annotations

import numpy as np

from unibody.kernel import device
from unibody.spatial.devices import dot3, load3

SIDE = 6
CELLS = 6 * SIDE * SIDE
SCANNED = 128
"""Corners of all faces up to which all are asked."""


def climbing_tables(ranges: np.ndarray, start: np.ndarray, corners: np.ndarray, vertex: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the tables of shapes stand, 0 of those without (n,), and `start` with the tables behind it. `ranges`: (n, 2) of polygons."""
    places, known, out = np.zeros(len(ranges), np.int64), dict[tuple[int, int], int](), start
    for i, (a, b) in enumerate(ranges.tolist()):
        first, last = start[a], start[b]
        if last - first <= SCANNED:
            continue
        if (a, b) not in known:
            known[a, b] = len(out)
            out = np.concatenate([out, climbing_table(first, len(out), corners[first:last], vertex[first:last], start[a : b + 1])])
        places[i] = known[a, b]
    return places, out


def climbing_table(first: int, at: int, corners: np.ndarray, vertex: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The table of a mesh whose polygons begin at `start`, with places and vertices of their corners, of which the first has the number
    `first`; the table will stand at `at`."""
    named, where = np.unique(vertex, return_index=True)
    name = where[np.searchsorted(named, vertex)]
    beside: dict[int, set[int]] = {int(k): set() for k in where}
    for a, b in zip(start[:-1] - first, start[1:] - first, strict=True):
        ring = name[a:b].tolist()
        for k, m in zip(ring, ring[1:] + ring[:1], strict=True):
            beside[k].add(m)
            beside[m].add(k)
    x = corners[where]
    begin = [where[int(np.argmax(x @ direction))] + first for direction in directions()]
    lists, places = list[int](), np.zeros(len(vertex), np.int64)
    for k, found in sorted(beside.items()):
        places[k] = at + CELLS + len(vertex) + len(lists)
        lists += [len(found), *(m + first for m in sorted(found))]
    return np.concatenate([np.array(begin, np.int64), places, np.array(lists, np.int64)])


def directions() -> np.ndarray:
    """(CELLS, 3) the middles of all cells."""
    side = (np.arange(SIDE) + 0.5) * 2.0 / SIDE - 1.0
    out = np.zeros((3, 2, SIDE, SIDE, 3))
    for axis in range(3):
        for k, sign in enumerate((-1.0, 1.0)):
            out[axis, k, :, :, axis] = sign
            out[axis, k, :, :, (axis + 1) % 3] = side[:, None]
            out[axis, k, :, :, (axis + 2) % 3] = side
    return out.reshape(-1, 3)


@device
def cell_of(y):
    """The cell of a direction."""
    axis = 0
    if abs(y[1]) > abs(y[axis]):
        axis = 1
    if abs(y[2]) > abs(y[axis]):
        axis = 2
    half = 0.5 * SIDE / max(abs(y[axis]), 1e-300)
    u = min(int(half * y[(axis + 1) % 3] + 0.5 * SIDE), SIDE - 1)
    v = min(int(half * y[(axis + 2) % 3] + 0.5 * SIDE), SIDE - 1)
    return ((2 * axis + (1 if y[axis] > 0.0 else 0)) * SIDE + u) * SIDE + v


@device
def farthest_corner(i, y, range_of, start, corners):
    """The number of the corner of the convex mesh i that is farthest along y, in its frame."""
    first = start[range_of[2 * i]]
    last = start[range_of[2 * i + 1]]
    if last - first <= SCANNED:
        best = first
        most = dot3(y, load3(corners, 3 * first))
        for k in range(first + 1, last):
            here = dot3(y, load3(corners, 3 * k))
            if here > most:
                most = here
                best = k
        return best
    table = range_of[range_of.size // 3 * 2 + i]
    best = start[table + cell_of(y)]
    most = dot3(y, load3(corners, 3 * best))
    while True:
        at = start[table + CELLS + best - first]
        before = best
        for k in range(at + 1, at + 1 + start[at]):
            here = dot3(y, load3(corners, 3 * start[k]))
            if here > most:
                most = here
                best = start[k]
        if best == before:
            return best
