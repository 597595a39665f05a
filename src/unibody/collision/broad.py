"""Candidates: pairs of bodies whose boxes overlap, then points with faces and edges with edges whose boxes do.

Boxes hold everything between two positions x₀ and x₁ of the vertices (equal ones for an instant), widened by half the margin, so that no
pair nearer than the margin at any time between is missed. Bodies are sorted along x and swept; of two bodies only what lies in
the overlap of their boxes is looked at. Lists come in the order of bodies and indices, whatever the threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.collision.surface import Surface
from unibody.kernel import Floats, Ints, device, kernel


@device
def overlap(a, i, b, j):
    """Whether box i of a and box j of b share a point; boxes are 6 numbers, low then high."""
    if a[i] > b[j + 3] or b[j] > a[i + 3] or a[i + 1] > b[j + 4]:
        return False
    return b[j + 1] <= a[i + 4] and a[i + 2] <= b[j + 5] and b[j + 2] <= a[i + 5]


@device
def widen(at, x, v, box_out):
    """Let box `at` hold vertex v."""
    for k in range(3):
        box_out[at + k] = min(box_out[at + k], x[3 * v + k])
        box_out[at + 3 + k] = max(box_out[at + 3 + k], x[3 * v + k])


@device
def begin_box(at, box_out):
    for k in range(3):
        box_out[at + k] = np.inf
        box_out[at + 3 + k] = -np.inf


@kernel
def fill_boxes(x0: Floats, x1: Floats, members: Ints, per: int, margin: float, boxes_out: Floats) -> None:
    """Boxes of primitives with `per` vertices each, listed in `members`, over the way from x0 to x1."""
    for i in range(members.size // per):
        begin_box(6 * i, boxes_out)
        for k in range(per):
            widen(6 * i, x0, members[per * i + k], boxes_out)
            widen(6 * i, x1, members[per * i + k], boxes_out)
        for k in range(3):
            boxes_out[6 * i + k] -= 0.5 * margin
            boxes_out[6 * i + 3 + k] += 0.5 * margin


@kernel
def join_boxes(boxes: Floats, start: Ints, body_boxes_out: Floats) -> None:
    """The box of each body from those of its vertices; empty where it has none."""
    for b in range(start.size - 1):
        begin_box(6 * b, body_boxes_out)
        for i in range(start[b], start[b + 1]):
            for k in range(3):
                body_boxes_out[6 * b + k] = min(body_boxes_out[6 * b + k], boxes[6 * i + k])
                body_boxes_out[6 * b + 3 + k] = max(body_boxes_out[6 * b + 3 + k], boxes[6 * i + 3 + k])


@device
def listed(excluded, key):
    """Whether the sorted list holds key."""
    low = 0
    high = excluded.size
    while low < high:
        middle = (low + high) // 2
        if excluded[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < excluded.size and excluded[low] == key


@kernel
def find_body_pairs(boxes: Floats, order: Ints, moving: Ints, group: Ints, mask: Ints, excluded: Ints, pairs_out: Ints) -> int:
    """Pairs (a, b), a < b, that may touch: boxes overlap, one moves, groups are in each other's mask, and the pair is not excluded.

    Gives their number, also if `pairs_out` is too short for them."""
    n = moving.size
    found = 0
    for i in range(order.size):
        a = order[i]
        if boxes[6 * a] > boxes[6 * a + 3]:
            continue
        for j in range(i + 1, order.size):
            b = order[j]
            if boxes[6 * b] > boxes[6 * a + 3]:
                break
            if not overlap(boxes, 6 * a, boxes, 6 * b) or moving[a] + moving[b] == 0:
                continue
            if (mask[a] >> group[b]) & 1 == 0 or (mask[b] >> group[a]) & 1 == 0 or listed(excluded, min(a, b) * n + max(a, b)):
                continue
            if 2 * found + 1 < pairs_out.size:
                pairs_out[2 * found] = min(a, b)
                pairs_out[2 * found + 1] = max(a, b)
            found += 1
    return found


@device
def gather(boxes, first, last, other, at, where, list_out):
    """Primitives first … last whose box meets box `at` of `other`, written to list_out from `where`; gives their number."""
    count = 0
    for i in range(first, last):
        if overlap(boxes, 6 * i, other, at):
            list_out[where + count] = i
            count += 1
    return count


@device
def match(a_boxes, a_count, b_boxes, b_first, b_count, lists, found, swap, pairs_out):
    """Pairs of two gathered lists whose boxes meet, appended to pairs_out as (a, b), or (b, a) if swap; gives how many there are now."""
    for i in range(a_count):
        p = lists[i]
        for j in range(b_count):
            f = lists[b_first + j]
            if overlap(a_boxes, 6 * p, b_boxes, 6 * f):
                if 2 * found + 1 < pairs_out.size:
                    pairs_out[2 * found] = f if swap else p
                    pairs_out[2 * found + 1] = p if swap else f
                found += 1
    return found


@kernel
def find_stencils(
    pairs: Ints, body_boxes: Floats, vertex_boxes: Floats, edge_boxes: Floats, face_boxes: Floats, vertex_start: Ints, edge_start: Ints,
    face_start: Ints, lists_out: Ints, counts_out: Ints, points_out: Ints, edges_out: Ints,
) -> None:  # fmt: skip
    """Candidates (vertex, face) and (edge of a, edge of b) of all pairs of bodies; counts_out tells how many there are of each."""
    points = 0
    edges = 0
    for k in range(pairs.size // 2):
        a = pairs[2 * k]
        b = pairs[2 * k + 1]
        for side in range(2):
            u = a if side == 0 else b
            w = b if side == 0 else a
            n = gather(vertex_boxes, vertex_start[u], vertex_start[u + 1], body_boxes, 6 * w, 0, lists_out)
            m = gather(face_boxes, face_start[w], face_start[w + 1], body_boxes, 6 * u, n, lists_out)
            points = match(vertex_boxes, n, face_boxes, n, m, lists_out, points, False, points_out)
        n = gather(edge_boxes, edge_start[a], edge_start[a + 1], body_boxes, 6 * b, 0, lists_out)
        m = gather(edge_boxes, edge_start[b], edge_start[b + 1], body_boxes, 6 * a, n, lists_out)
        edges = match(edge_boxes, n, edge_boxes, n, m, lists_out, edges, False, edges_out)
    counts_out[0] = points
    counts_out[1] = edges


@dataclass(frozen=True)
class Filter:
    """Which bodies may touch: flags of bodies that move, group and mask per body, and excluded pairs (a · n + b, a < b, sorted)."""

    moving: np.ndarray
    group: np.ndarray
    mask: np.ndarray
    excluded: np.ndarray


@dataclass(frozen=True)
class Candidates:
    """Points against faces (n, 2), edges against edges (m, 2), points against half-spaces (l, 2)."""

    points: np.ndarray
    edges: np.ndarray
    planes: np.ndarray


class Broad:
    """Finds candidates on one surface; keeps its work space between calls."""

    def __init__(self, surface: Surface, rules: Filter):
        self._surface, self._rules = surface, rules
        self._vertices = np.arange(len(surface.w), dtype=np.int64)
        self._boxes = [np.zeros(6 * n) for n in (len(surface.w), len(surface.edges), len(surface.faces), len(surface.vertex_start) - 1)]
        self._pairs = np.zeros(64, np.int64)
        self._points, self._edges = np.zeros(256, np.int64), np.zeros(256, np.int64)
        most = max(len(surface.w) + len(surface.faces), 2 * len(surface.edges), 1)
        self._lists, self._counts = np.zeros(most, np.int64), np.zeros(2, np.int64)
        self.plane_pairs = self._plane_pairs()
        """(l, 2) vertices and half-spaces that may touch."""

    def _plane_pairs(self) -> np.ndarray:
        """(l, 2) every vertex of a moving body with every half-space it may touch."""
        s, r = self._surface, self._rules
        n, out = len(r.moving), []
        for k, on in enumerate(s.plane_body):
            for b in range(n):
                key = min(b, on) * n + max(b, on)
                seen = (r.mask[b] >> r.group[on]) & 1 and (r.mask[on] >> r.group[b]) & 1
                if b == on or not (r.moving[b] or r.moving[on]) or not seen or key in r.excluded:
                    continue
                out += [(v, k) for v in range(s.vertex_start[b], s.vertex_start[b + 1])]
        return np.array(out, np.int64).reshape(-1, 2)

    @property
    def boxes(self) -> list[np.ndarray]:
        """Of vertices, edges, faces and bodies, of the last call."""
        return self._boxes

    def body_pairs(self, x0: np.ndarray, x1: np.ndarray, margin: float) -> np.ndarray:
        """(n, 2) bodies that may come nearer than the margin on the straight ways from x0 to x1, sorted."""
        s, r = self._surface, self._rules
        flat0, flat1 = np.ascontiguousarray(x0).reshape(-1), np.ascontiguousarray(x1).reshape(-1)
        vertex_boxes, edge_boxes, face_boxes, body_boxes = self._boxes
        fill_boxes(flat0, flat1, self._vertices, 1, margin, vertex_boxes)
        fill_boxes(flat0, flat1, s.edges.reshape(-1), 2, margin, edge_boxes)
        fill_boxes(flat0, flat1, s.faces.reshape(-1), 3, margin, face_boxes)
        join_boxes(vertex_boxes, s.vertex_start, body_boxes)
        order = np.argsort(body_boxes[::6], kind="stable").astype(np.int64)
        while (found := find_body_pairs(body_boxes, order, r.moving, r.group, r.mask, r.excluded, self._pairs)) * 2 > self._pairs.size:
            self._pairs = np.zeros(4 * found, np.int64)
        pairs = self._pairs[: 2 * found].reshape(-1, 2)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def between(self, x0: np.ndarray, x1: np.ndarray, margin: float) -> Candidates:
        """Everything that may come nearer than the margin on the straight ways from x0 to x1, (V, 3) each."""
        s = self._surface
        pairs = np.ascontiguousarray(self.body_pairs(x0, x1, margin)).reshape(-1)
        vertex_boxes, edge_boxes, face_boxes, body_boxes = self._boxes
        while True:
            find_stencils(
                pairs, body_boxes, vertex_boxes, edge_boxes, face_boxes, s.vertex_start, s.edge_start, s.face_start,
                self._lists, self._counts, self._points, self._edges,
            )  # fmt: skip
            points, edges = (int(c) for c in self._counts)
            if 2 * points <= self._points.size and 2 * edges <= self._edges.size:
                break
            self._points, self._edges = np.zeros(max(256, 3 * points), np.int64), np.zeros(max(256, 3 * edges), np.int64)
        return Candidates(
            self._points[: 2 * points].reshape(-1, 2).copy(), self._edges[: 2 * edges].reshape(-1, 2).copy(), self.plane_pairs
        )


def plane_heights(pairs: np.ndarray, point: np.ndarray, normal: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(l,) heights of vertices over half-spaces."""
    return np.einsum("li,li->l", x[pairs[:, 0]] - point[pairs[:, 1]], normal[pairs[:, 1]])
