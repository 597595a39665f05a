"""Candidates: pairs of bodies whose boxes overlap, then points with faces and edges with edges whose boxes do.

Boxes hold everything between two positions x₀ and x₁ of the vertices (equal ones for an instant), widened by their radii and half the
margin, so that no pair with a gap below the margin at any time between is missed. Bodies are sorted along x and swept; of two bodies only
what lies in the overlap of their boxes is looked at, by trees (`hierarchy`) that are refitted only for bodies that are near others, and
for static ones once. What bends may touch itself: then its pairs come once, without those that share a vertex. Points are in order, with
the bodies that they may touch in order too; edges in the order of pairs of bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unibody.collision.hierarchy import STACK, WIDTH, Hierarchy, begin_box, meet, overlap, search, widen
from unibody.collision.surface import Surface
from unibody.kernel import Floats, Ints, device, kernel

UNLIMITED = 1 << 60


@kernel
def fill_body_boxes(x0: Floats, x1: Floats, start: Ints, radius: Floats, margin: float, boxes_out: Floats) -> None:
    """The box of each body over the way of its vertices from x0 to x1; empty where it has none."""
    for b in range(start.size - 1):
        begin_box(6 * b, boxes_out)
        for v in range(start[b], start[b + 1]):
            widen(6 * b, x0, v, boxes_out)
            widen(6 * b, x1, v, boxes_out)
        wide = 0.5 * margin + radius[b]
        for k in range(3):
            boxes_out[6 * b + k] -= wide
            boxes_out[6 * b + 3 + k] += wide


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
def match(a_boxes, a_count, b_boxes, b_first, b_count, lists, found, swap, own, pairs_out):
    """Pairs of two gathered lists whose boxes meet, appended to pairs_out as (a, b), or (b, a) if swap; gives how many there are now. Of
    a list with itself (`own`) every pair once."""
    for i in range(a_count):
        p = lists[i]
        for j in range(i + 1 if own else 0, b_count):
            f = lists[b_first + j]
            if overlap(a_boxes, 6 * p, b_boxes, 6 * f):
                if 2 * found + 1 < pairs_out.size:
                    pairs_out[2 * found] = f if swap else p
                    pairs_out[2 * found + 1] = p if swap else f
                found += 1
    return found


@device
def pair_up(
    u, w, body_boxes, u_tree, u_order, u_boxes, u_nodes, w_tree, w_order, w_boxes, w_nodes, found, swap, own, stack_out, lists_out,
    pairs_out,
):  # fmt: skip
    """Primitives of body u with those of body w whose boxes meet, appended to pairs_out; gives how many there are now."""
    if u_tree[WIDTH * u + 2] > 0 and w_tree[WIDTH * w + 2] > 0:
        return meet(u, w, u_tree, u_order, u_boxes, u_nodes, w_tree, w_order, w_boxes, w_nodes, found, swap, own, stack_out, pairs_out)
    n = search(body_boxes, 6 * w, u, u_tree, u_order, u_boxes, u_nodes, 0, stack_out, lists_out)
    if n == 0:
        return found
    m = search(body_boxes, 6 * u, w, w_tree, w_order, w_boxes, w_nodes, n, stack_out, lists_out)
    return match(u_boxes, n, w_boxes, n, m, lists_out, found, swap, own, pairs_out)


@kernel
def find_meeting(
    pairs: Ints, body_boxes: Floats, u_tree: Ints, u_order: Ints, u_boxes: Floats, u_nodes: Floats, w_tree: Ints, w_order: Ints,
    w_boxes: Floats, w_nodes: Floats, alike: bool, most: int, stack_out: Ints, lists_out: Ints, pairs_out: Ints,
) -> int:  # fmt: skip
    """Pairs of primitives (of kind u, of kind w) of pairs of bodies whose boxes meet; gives their number, room for them or not. It
    ends with the pair of bodies at which there are more than `most`.

    Two kinds: u of either body with w of the other. `alike`, the kinds are one: of the first body, of the second. A pair (a, a) is a body
    with itself."""
    found = 0
    for k in range(pairs.size // 2):
        a = pairs[2 * k]
        b = pairs[2 * k + 1]
        if found > most:
            break
        swap = alike and u_tree[WIDTH * b + 1] < u_tree[WIDTH * a + 1]
        for side in range(1 if alike or a == b else 2):
            first = a if (side == 0) != swap else b
            found = pair_up(
                first, b if first == a else a, body_boxes, u_tree, u_order, u_boxes, u_nodes, w_tree, w_order, w_boxes, w_nodes, found,
                swap, alike and a == b, stack_out, lists_out, pairs_out,
            )  # fmt: skip
    return found


@kernel
def keep_strangers(
    one: Ints, other: Ints, wide: int, across: int, attached_to: Ints, body: Ints, itself: bool, found_out: Ints
) -> int:  # fmt: skip
    """Of pairs of primitives, of `wide` vertices and of `across`, those come first of which none is attached to the other's body and which
    (`itself`) share no vertex; gives their number."""
    kept = 0
    for k in range(found_out.size // 2):
        u = wide * found_out[2 * k]
        w = across * found_out[2 * k + 1]
        near = False
        if attached_to.size > 0:
            for i in range(wide):
                near = near or attached_to[one[u + i]] == body[other[w]]
            for j in range(across):
                near = near or attached_to[other[w + j]] == body[one[u]]
        if itself:
            for i in range(wide):
                for j in range(across):
                    near = near or one[u + i] == other[w + j]
        if not near:
            found_out[2 * kept] = found_out[2 * k]
            found_out[2 * kept + 1] = found_out[2 * k + 1]
            kept += 1
    return kept


@dataclass(frozen=True)
class Filter:
    """Which bodies may touch: flags of bodies that move, group and mask per body, and excluded pairs (a · n + b, a < b, sorted); numbers of
    those that may touch themselves; and for every vertex the body that it is attached to, which nothing with that vertex touches (−1: none,
    empty: none at all)."""

    moving: np.ndarray
    group: np.ndarray
    mask: np.ndarray
    excluded: np.ndarray
    touching_itself: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    attached_to: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True)
class Candidates:
    """Points against faces (n, 2), edges against edges (m, 2), points against half-spaces (l, 2)."""

    points: np.ndarray
    edges: np.ndarray
    planes: np.ndarray

    def __len__(self) -> int:
        """How many were found: all but those of half-spaces, which are always the same."""
        return len(self.points) + len(self.edges)


class Broad:
    """Finds candidates on one surface; keeps its work space between calls."""

    def __init__(self, surface: Surface, rules: Filter):
        self._surface, self._rules = surface, rules
        X, bodies = surface.rest, len(surface.vertex_start) - 1
        single = np.arange(len(X), dtype=np.int64)[:, None]
        self._vertex_trees = Hierarchy(single, surface.vertex_start, X)
        self._edge_trees = Hierarchy(surface.edges, surface.edge_start, X)
        self._face_trees = Hierarchy(surface.faces, surface.face_start, X)
        self._body_boxes, self._body_radius = np.zeros(6 * bodies), np.zeros(bodies)
        np.maximum.at(self._body_radius, surface.body, surface.radius)
        self._fitted: dict[int, tuple[float, np.ndarray]] = {}
        self._pairs = np.zeros(64, np.int64)
        self._room = np.zeros(256, np.int64)
        most = max(len(surface.w), len(surface.edges)) + max(len(surface.edges), len(surface.faces)) + 1
        self._lists, self._stack = np.zeros(most, np.int64), np.zeros(STACK, np.int64)
        self.plane_pairs = self._plane_pairs()
        """(l, 2) vertices and half-spaces that may touch."""

    @property
    def body_of_vertex(self) -> np.ndarray:
        """(V,)"""
        return self._surface.body

    @property
    def moves(self) -> np.ndarray:
        """(bodies and free meshes,) flags of those that move."""
        return self._rules.moving.astype(bool)

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
                own = range(s.vertex_start[b], s.vertex_start[b + 1])
                out += [(v, k) for v in own if not len(r.attached_to) or r.attached_to[v] != on]
        return np.array(out, np.int64).reshape(-1, 2)

    def body_pairs(self, x0: np.ndarray, x1: np.ndarray, margin: float) -> np.ndarray:
        """(n, 2) bodies that may come nearer than the margin on the straight ways from x0 to x1, sorted; their trees are then ready."""
        s, r = self._surface, self._rules
        flat0, flat1 = np.ascontiguousarray(x0).ravel(), np.ascontiguousarray(x1).ravel()
        body_boxes = self._body_boxes
        fill_body_boxes(flat0, flat1, s.vertex_start, self._body_radius, margin, body_boxes)
        order = np.argsort(body_boxes[::6], kind="stable").astype(np.int64)
        while (found := find_body_pairs(body_boxes, order, r.moving, r.group, r.mask, r.excluded, self._pairs)) * 2 > self._pairs.size:
            self._pairs = np.zeros(4 * found, np.int64)
        pairs = self._pairs[: 2 * found].reshape(-1, 2)
        if len(r.touching_itself):
            pairs = np.concatenate([pairs, np.stack([r.touching_itself, r.touching_itself], axis=1)])
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        bodies = np.array([b for b in np.unique(pairs) if r.moving[b] or not self._stands(int(b), x0, x1, margin)], np.int64)
        for trees in (self._vertex_trees, self._edge_trees, self._face_trees):
            trees.refit(bodies, flat0, flat1, s.radius, margin)
        return pairs

    def _stands(self, body: int, x0: np.ndarray, x1: np.ndarray, margin: float) -> bool:
        """Whether the boxes of a static body are right already."""
        own = slice(self._surface.vertex_start[body], self._surface.vertex_start[body + 1])
        known = self._fitted.get(body)
        rests = x1 is x0 or np.array_equal(x0[own], x1[own])
        if known is not None and rests and known[0] == margin and np.array_equal(known[1], x0[own]):
            return True
        self._fitted[body] = (margin if rests else np.nan, x0[own].copy())
        return False

    def own_spacing(self, x: np.ndarray) -> np.ndarray:
        """(bodies,) the mean length of the edges at x (V, 3) of what touches itself, ∞ of others."""
        edges = self._surface.edges
        out, body = np.full(len(self._rules.moving), np.inf), self._surface.body[edges[:, 0]]
        length, count = (np.bincount(body, w, len(out)) for w in (np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1), None))
        own = self._rules.touching_itself[count[self._rules.touching_itself] > 0]
        out[own] = length[own] / count[own]
        return out

    def edges_at_faces(self, pairs: np.ndarray) -> np.ndarray:
        """(k, 2) edges and faces of these pairs of bodies, as `body_pairs` gave them, that may cross."""
        found = self._meeting(pairs, self._edge_trees, self._face_trees, UNLIMITED)
        assert found is not None
        return self._strangers(found, self._surface.edges, self._surface.faces)

    def _strangers(self, found: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Pairs of primitives without those that share a vertex, which only what touches itself has, and those of which one is attached to
        the other's body."""
        to, itself = self._rules.attached_to, len(self._rules.touching_itself) > 0
        if not len(to) and not itself:
            return found
        flat, sides = np.ascontiguousarray(found).ravel(), [np.ascontiguousarray(kind).ravel() for kind in (one, other)]
        left = keep_strangers(*sides, one.shape[1], other.shape[1], to, self._surface.body, itself, flat)
        return flat[: 2 * left].reshape(-1, 2).copy()

    def _meeting(self, pairs: np.ndarray, one: Hierarchy, other: Hierarchy, most: int) -> np.ndarray | None:
        """None if there are more than `most`."""
        flat, trees = np.ascontiguousarray(pairs).ravel(), (*one.arrays, *other.arrays)
        while True:
            found = find_meeting(flat, self._body_boxes, *trees, one is other, most, self._stack, self._lists, self._room)
            if found > most:
                return None
            if 2 * found <= self._room.size:
                return self._room[: 2 * found].reshape(-1, 2).copy()
            self._room = np.zeros(3 * found, np.int64)

    def between(self, x0: np.ndarray, x1: np.ndarray, margin: float) -> Candidates:
        """Everything that may come nearer than the margin on the straight ways from x0 to x1, (V, 3) each."""
        found = self.at_most(UNLIMITED, x0, x1, margin)
        assert found is not None
        return found

    def at_most(self, most: int, x0: np.ndarray, x1: np.ndarray, margin: float) -> Candidates | None:
        """What `between` gives, or None if that were more than `most` points with faces, or edges with edges."""
        pairs = self.body_pairs(x0, x1, margin)
        points = self._meeting(pairs, self._vertex_trees, self._face_trees, most)
        edges = self._meeting(pairs, self._edge_trees, self._edge_trees, most) if points is not None else None
        if points is None or edges is None:
            return None
        points = self._strangers(points, np.arange(len(self._surface.w))[:, None], self._surface.faces)
        edges = self._strangers(edges, self._surface.edges, self._surface.edges)
        return Candidates(points[np.argsort(points[:, 0], kind="stable")], edges, self.plane_pairs)


def plane_heights(pairs: np.ndarray, point: np.ndarray, normal: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(l,) heights of vertices over half-spaces."""
    return np.einsum("li,li->l", x[pairs[:, 0]] - point[pairs[:, 1]], normal[pairs[:, 1]])
