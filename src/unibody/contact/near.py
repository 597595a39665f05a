"""Contacts in affine coordinates: which bodies, along which normal, how far apart.

A vertex of a body is x = Qᵀ w with Q (4, 3) = (t, a₁, a₂, a₃) and w = (1, X, Y, Z). A stencil with weights cᵢ therefore has
r = Q_aᵀ u_a + Q_bᵀ u_b with u_a = Σ cᵢ wᵢ over the vertices on a, and likewise u_b: the derivative of its distance d = |r| to Q_a is
u_a ⊗ n, n = r / d. So a contact is two bodies, two 4-vectors, a normal and a distance, whatever points, faces and edges it came from.

Nearly parallel edges are softened by m(c) = (2 − c/ε) c/ε for c = |e_a × e_b|² below ε = 10⁻³ of the squared lengths' product, without
which the derivative of the distance jumps (Li et al. 2020).

Record of a contact, 29 numbers: u_a (4), u_b (4), n (3), d, area, m, m′, material edges f_a (4), f_b (4) with e = Qᵀ f, e_a (3), e_b (3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.collision.broad import Candidates, plane_heights
from unibody.collision.stencils import edge_edge, point_triangle
from unibody.collision.surface import Surface
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import cross, dot3, load3, norm3, scale3, store3, sub3

WIDTH = 29
PARALLEL = 1e-3


@device
def add_weight(c, w, v, record_out, at):
    for k in range(4):
        record_out[at + k] += c * w[4 * v + k]


@kernel
def find_point_contacts(
    points: Ints, faces: Ints, body: Ints, w: Floats, area: Floats, x: Floats, reach: float, pair_out: Ints, record_out: Floats
) -> int:
    """Contacts of points and faces nearer than `reach`; gives how many there are, also if there is no room for them."""
    found = 0
    for k in range(points.size // 2):
        v = points[2 * k]
        f = 3 * points[2 * k + 1]
        i = faces[f]
        j = faces[f + 1]
        l = faces[f + 2]
        beta, r = point_triangle(load3(x, 3 * v), load3(x, 3 * i), load3(x, 3 * j), load3(x, 3 * l))
        d = norm3(r)
        if d >= reach:
            continue
        if WIDTH * (found + 1) <= record_out.size:
            at = WIDTH * found
            for m in range(WIDTH):
                record_out[at + m] = 0.0
            add_weight(1.0, w, v, record_out, at)
            add_weight(-beta[0], w, i, record_out, at + 4)
            add_weight(-beta[1], w, j, record_out, at + 4)
            add_weight(-beta[2], w, l, record_out, at + 4)
            store3(scale3(1.0 / d if d > 0.0 else 0.0, r), at + 8, record_out)
            record_out[at + 11] = d
            record_out[at + 12] = 0.5 * area[v]
            record_out[at + 13] = 1.0
            pair_out[2 * found] = body[v]
            pair_out[2 * found + 1] = body[i]
        found += 1
    return found


@kernel
def find_edge_contacts(
    pairs: Ints, edges: Ints, body: Ints, w: Floats, area: Floats, length: Floats, x: Floats, reach: float,
    pair_out: Ints, record_out: Floats,
) -> int:  # fmt: skip
    """Contacts of edges and edges nearer than `reach`; gives how many there are, also if there is no room for them."""
    found = 0
    for k in range(pairs.size // 2):
        e = pairs[2 * k]
        f = pairs[2 * k + 1]
        i = edges[2 * e]
        j = edges[2 * e + 1]
        l = edges[2 * f]
        m = edges[2 * f + 1]
        a = load3(x, 3 * i)
        b = load3(x, 3 * j)
        c = load3(x, 3 * l)
        d = load3(x, 3 * m)
        at_edges, r = edge_edge(a, b, c, d)
        distance = norm3(r)
        if distance >= reach:
            continue
        if WIDTH * (found + 1) <= record_out.size:
            at = WIDTH * found
            for n in range(WIDTH):
                record_out[at + n] = 0.0
            s = at_edges[0]
            t = at_edges[1]
            add_weight(1.0 - s, w, i, record_out, at)
            add_weight(s, w, j, record_out, at)
            add_weight(t - 1.0, w, l, record_out, at + 4)
            add_weight(-t, w, m, record_out, at + 4)
            store3(scale3(1.0 / distance if distance > 0.0 else 0.0, r), at + 8, record_out)
            record_out[at + 11] = distance
            record_out[at + 12] = 0.25 * (area[e] + area[f])
            u = sub3(b, a)
            v = sub3(d, c)
            n = cross(u, v)
            size = dot3(n, n)
            epsilon = PARALLEL * length[e] * length[e] * length[f] * length[f]
            record_out[at + 13] = 1.0
            if size < epsilon:
                part = size / epsilon
                record_out[at + 13] = (2.0 - part) * part
                record_out[at + 14] = 2.0 * (1.0 - part) / epsilon
                add_weight(1.0, w, j, record_out, at + 15)
                add_weight(-1.0, w, i, record_out, at + 15)
                add_weight(1.0, w, m, record_out, at + 19)
                add_weight(-1.0, w, l, record_out, at + 19)
                store3(u, at + 23, record_out)
                store3(v, at + 26, record_out)
            pair_out[2 * found] = body[i]
            pair_out[2 * found + 1] = body[l]
        found += 1
    return found


@dataclass(frozen=True)
class Contacts:
    """n contacts: bodies (n, 2) and records (n, 29)."""

    pair: np.ndarray
    record: np.ndarray

    def __len__(self) -> int:
        return len(self.pair)

    @property
    def u(self) -> np.ndarray:
        """(n, 2, 4) material weights on the two bodies."""
        return self.record[:, :8].reshape(-1, 2, 4)

    @property
    def normal(self) -> np.ndarray:
        """(n, 3) from the second body to the first."""
        return self.record[:, 8:11]

    @property
    def distance(self) -> np.ndarray:
        return self.record[:, 11]

    @property
    def area(self) -> np.ndarray:
        """(n,) share of the surface [m²], softened for parallel edges."""
        return self.record[:, 12] * self.record[:, 13]


class Nearness:
    """Finds contacts among candidates on one surface; keeps its work space between calls."""

    def __init__(self, surface: Surface):
        self._surface = surface
        self._w, self._edges, self._faces = surface.w.reshape(-1), surface.edges.reshape(-1), surface.faces.reshape(-1)
        ends = surface.w[surface.edges, 1:]
        self._length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        self._room = [(np.zeros(2 * 64, np.int64), np.zeros(WIDTH * 64)) for _ in range(2)]

    def contacts(self, candidates: Candidates, Q: np.ndarray, x: np.ndarray, reach: float) -> Contacts:
        """Everything nearer than `reach` among the candidates; Q (bodies, 4, 3), x (V, 3)."""
        s, flat = self._surface, np.ascontiguousarray(x).reshape(-1)
        points, edges = candidates.points.reshape(-1), candidates.edges.reshape(-1)

        def find_points(pair: np.ndarray, record: np.ndarray) -> int:
            return find_point_contacts(points, self._faces, s.body, self._w, s.vertex_area, flat, reach, pair, record)

        def find_edges(pair: np.ndarray, record: np.ndarray) -> int:
            return find_edge_contacts(edges, self._edges, s.body, self._w, s.edge_area, self._length, flat, reach, pair, record)

        parts = [self._with_room(0, find_points), self._with_room(1, find_edges), self._with_planes(candidates.planes, Q, x, reach)]
        return Contacts(np.concatenate([p for p, _ in parts]), np.concatenate([r for _, r in parts]))

    def _with_room(self, which: int, find) -> tuple[np.ndarray, np.ndarray]:
        pair, record = self._room[which]
        while (found := find(pair, record)) * WIDTH > record.size:
            pair, record = self._room[which] = (np.zeros(4 * found, np.int64), np.zeros(2 * WIDTH * found))
        return pair[: 2 * found].reshape(-1, 2).copy(), record[: WIDTH * found].reshape(-1, WIDTH).copy()

    def _with_planes(self, pairs: np.ndarray, Q: np.ndarray, x: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        s = self._surface
        point, normal = s.planes(Q)
        height = plane_heights(pairs, point, normal, x)
        near = height < reach
        vertex, plane = pairs[near].T if near.any() else np.zeros((2, 0), np.int64)
        record = np.zeros((len(vertex), WIDTH))
        record[:, :4] = s.w[vertex]
        on = s.plane_body[plane]
        foot = x[vertex] - height[near, None] * normal[plane]
        record[:, 4] = -1.0
        record[:, 5:8] = -np.einsum("nik,nk->ni", Q[on, 1:], foot - Q[on, 0])
        record[:, 8:11], record[:, 11] = normal[plane], height[near]
        record[:, 12], record[:, 13] = s.vertex_area[vertex], 1.0
        return np.stack([s.body[vertex], on], axis=1).reshape(-1, 2), record

