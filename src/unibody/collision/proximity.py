"""Contacts in affine coordinates: which bodies, along which normal, how far apart.

A vertex of a body is x = Qᵀ w with Q (4, 3) = (t, a₁, a₂, a₃) and w = (1, X, Y, Z). A stencil with weights cᵢ therefore has
r = Q_aᵀ u_a + Q_bᵀ u_b with u_a = Σ cᵢ wᵢ over the vertices on a, and likewise u_b: the derivative of its distance d = |r| to Q_a is
u_a ⊗ n, n = r / d. So a contact is two bodies, two 4-vectors, a normal and a distance, whatever points, faces and edges it came from.

Nearly parallel edges are softened by m(c) = (2 − c/ε) c/ε for c = |e_a × e_b|² below ε = 10⁻³ of the squared lengths' product, without
which the derivative of the distance jumps (Li et al. 2020).

Record of a contact, 30 numbers: u_a (4), u_b (4), n (3), d, area (times the pair's part of κ), m, m′, material edges f (4), g (4), their
vectors Qᵀ f (3), Qᵀ g (3), and the kind: which way the closest points may move, along f and g. Of two edges f lies on the first body, g on
the second; of a point and a face both lie on the second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.collision.broad import Candidates
from unibody.collision.stencils import edge_edge, point_triangle
from unibody.collision.surface import Surface
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import cross, dot3, load3, norm3, scale3, store3, sub3

WIDTH = 30
GAP = 11
"""Where a record holds the distance."""
FLAT, CORNER, ON_EDGE, ON_FACE, ALONG_A, ALONG_B, ALONG_BOTH = -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
"""Kinds: a half-space; two corners; a corner and an edge of a face (along f); a corner and a face (f and g); along the first edge only
(f); along the second only (g); along both."""
PARALLEL = 1e-3


@device
def add_weight(c, w, v, at, record_out):
    for k in range(4):
        record_out[at + k] += c * w[4 * v + k]


@device
def add_edge(i, j, w, x, material, vector, record_out):
    """The edge from vertex i to j: its material vector, and what it is in the world."""
    add_weight(1.0, w, j, material, record_out)
    add_weight(-1.0, w, i, material, record_out)
    store3(sub3(load3(x, 3 * j), load3(x, 3 * i)), vector, record_out)


@device
def apart(low, high, lowest, highest, reach):
    """Whether two intervals are farther from each other than reach."""
    return low - highest >= reach or lowest - high >= reach


@kernel
def find_point_contacts(
    points: Ints, faces: Ints, patch: Ints, body: Ints, w: Floats, area: Floats, part: Floats, x: Floats, reach: float, touched_out: Ints,
    pair_out: Ints, record_out: Floats,
) -> int:  # fmt: skip
    """Contacts of points and faces nearer than `reach`; gives how many there are, room for them or not. A point has one contact with a flat
    patch, with the nearest of its faces; touched_out remembers points and patches."""
    found = 0
    for k in range(points.size // 2):
        v = points[2 * k]
        if area[v] == 0.0:
            continue
        f = 3 * points[2 * k + 1]
        i = faces[f]
        j = faces[f + 1]
        l = faces[f + 2]
        # bounding boxes first, axis by axis: most candidates end here
        far = False
        for m in range(3):
            p = x[3 * v + m]
            a = x[3 * i + m]
            b = x[3 * j + m]
            c = x[3 * l + m]
            far = far or apart(p, p, min(a, min(b, c)), max(a, max(b, c)), reach)
        if far:
            continue
        # r = x − Σ β x of the nearest point of the face, d = |r|
        beta, r = point_triangle(load3(x, 3 * v), load3(x, 3 * i), load3(x, 3 * j), load3(x, 3 * l))
        d = norm3(r)
        if d >= reach:
            continue
        # The same point on the same patch, if it has been there: candidates of a point with one body follow each other.
        place = min(found, record_out.size // WIDTH) - 1
        while place >= 0 and touched_out[2 * place] == v and touched_out[2 * place + 1] != patch[f // 3]:
            place -= 1
        if place < 0 or touched_out[2 * place] != v:
            place = found
            found += 1
        elif record_out[WIDTH * place + 11] <= d:
            continue
        if WIDTH * (place + 1) <= record_out.size:
            at = WIDTH * place
            touched_out[2 * place] = v
            touched_out[2 * place + 1] = patch[f // 3]
            for m in range(WIDTH):
                record_out[at + m] = 0.0
            # u_a of the point, u_b = −Σ β w of the face, the normal n = r / d, and half of the area of the vertex
            add_weight(1.0, w, v, at, record_out)
            add_weight(-beta[0], w, i, at + 4, record_out)
            add_weight(-beta[1], w, j, at + 4, record_out)
            add_weight(-beta[2], w, l, at + 4, record_out)
            store3(scale3(1.0 / d if d > 0.0 else 0.0, r), at + 8, record_out)
            record_out[at + 11] = d
            record_out[at + 12] = 0.5 * area[v] * max(part[body[v]], part[body[i]])
            record_out[at + 13] = 1.0
            # Corners that have a part in the nearest point: the first, and up to two others.
            start = i if beta[0] > 0.0 else (j if beta[1] > 0.0 else l)
            if beta[0] > 0.0 and beta[1] > 0.0:
                add_edge(start, j, w, x, at + 15, at + 23, record_out)
                record_out[at + 29] = ON_EDGE
                if beta[2] > 0.0:
                    add_edge(start, l, w, x, at + 19, at + 26, record_out)
                    record_out[at + 29] = ON_FACE
            elif start != l and beta[2] > 0.0:
                add_edge(start, l, w, x, at + 15, at + 23, record_out)
                record_out[at + 29] = ON_EDGE
            pair_out[2 * place] = body[v]
            pair_out[2 * place + 1] = body[i]
    return found


@kernel
def find_edge_contacts(
    pairs: Ints, edges: Ints, body: Ints, w: Floats, area: Floats, length: Floats, part: Floats, x: Floats, reach: float, first: int,
    pair_out: Ints, record_out: Floats,
) -> int:  # fmt: skip
    """Contacts of edges and edges, as `find_point_contacts`."""
    found = first
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
        # bounding boxes first, axis by axis: most candidates end here
        if apart(min(a[0], b[0]), max(a[0], b[0]), min(c[0], d[0]), max(c[0], d[0]), reach):
            continue
        if apart(min(a[1], b[1]), max(a[1], b[1]), min(c[1], d[1]), max(c[1], d[1]), reach):
            continue
        if apart(min(a[2], b[2]), max(a[2], b[2]), min(c[2], d[2]), max(c[2], d[2]), reach):
            continue
        # r between the closest points a + s (b − a) and c + t (d − c)
        at_edges, r = edge_edge(a, b, c, d)
        distance = norm3(r)
        if distance >= reach:
            continue
        if WIDTH * (found + 1) <= record_out.size:
            at = WIDTH * found
            for n in range(WIDTH):
                record_out[at + n] = 0.0
            # u_a and u_b with the weights 1 − s, s and t − 1, −t; the normal n = r / d, and a quarter of the areas of both edges
            s = at_edges[0]
            t = at_edges[1]
            add_weight(1.0 - s, w, i, at, record_out)
            add_weight(s, w, j, at, record_out)
            add_weight(t - 1.0, w, l, at + 4, record_out)
            add_weight(-t, w, m, at + 4, record_out)
            store3(scale3(1.0 / distance if distance > 0.0 else 0.0, r), at + 8, record_out)
            record_out[at + 11] = distance
            record_out[at + 12] = 0.25 * (area[e] + area[f]) * max(part[body[i]], part[body[l]])
            # m(c) and m′(c) of c = |e_a × e_b|², so that the derivative stays continuous where edges become parallel
            u = sub3(b, a)
            v = sub3(d, c)
            n = cross(u, v)
            size = dot3(n, n)
            epsilon = PARALLEL * length[e] * length[e] * length[f] * length[f]
            record_out[at + 13] = 1.0
            if size < epsilon:
                share = size / epsilon
                record_out[at + 13] = (2.0 - share) * share
                record_out[at + 14] = 2.0 * (1.0 - share) / epsilon
            add_edge(i, j, w, x, at + 15, at + 23, record_out)
            add_edge(l, m, w, x, at + 19, at + 26, record_out)
            # the closest point moves along an edge only where it is not an end of it
            free_s = s > 0.0 and s < 1.0
            free_t = t > 0.0 and t < 1.0
            record_out[at + 29] = (ALONG_BOTH if free_t else ALONG_A) if free_s else (ALONG_B if free_t else CORNER)
            pair_out[2 * found] = body[i]
            pair_out[2 * found + 1] = body[l]
        found += 1
    return found


@kernel
def find_plane_contacts(
    pairs: Ints, plane_body: Ints, point: Floats, normal: Floats, body: Ints, w: Floats, area: Floats, part: Floats,
    Q: Floats, x: Floats, reach: float, first: int, pair_out: Ints, record_out: Floats,
) -> int:  # fmt: skip
    """Contacts of points and half-spaces, as `find_point_contacts`; bodies with half-spaces are rigid."""
    found = first
    for k in range(pairs.size // 2):
        v = pairs[2 * k]
        if area[v] == 0.0:
            continue
        plane = pairs[2 * k + 1]
        n = load3(normal, 3 * plane)
        height = dot3(sub3(load3(x, 3 * v), load3(point, 3 * plane)), n)
        if height >= reach:
            continue
        if WIDTH * (found + 1) <= record_out.size:
            at = WIDTH * found
            for m in range(WIDTH):
                record_out[at + m] = 0.0
            on = plane_body[plane]
            foot = sub3(sub3(load3(x, 3 * v), scale3(height, n)), load3(Q, 12 * on))
            add_weight(1.0, w, v, at, record_out)
            record_out[at + 4] = -1.0
            for m in range(3):
                record_out[at + 5 + m] = -dot3(load3(Q, 12 * on + 3 * (m + 1)), foot)
            store3(n, at + 8, record_out)
            record_out[at + 11] = height
            record_out[at + 12] = area[v] * max(part[body[v]], part[on])
            record_out[at + 13] = 1.0
            record_out[at + 29] = FLAT
            pair_out[2 * found] = body[v]
            pair_out[2 * found + 1] = on
        found += 1
    return found


@dataclass(frozen=True)
class ContactSet:
    """n contacts: bodies (n, 2) and records (n, 30)."""

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
        """(n,) share of the surface [m²], times the pair's part of κ, softened for parallel edges."""
        return self.record[:, 12] * self.record[:, 13]


class Proximity:
    """Finds contacts among candidates on one surface; keeps its work space between calls."""

    def __init__(self, surface: Surface):
        self._surface = surface
        self._w, self._edges, self._faces = surface.w.ravel(), surface.edges.ravel(), surface.faces.ravel()
        ends = surface.w[surface.edges, 1:]
        self._length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        self._room = (np.zeros(2 * 256, np.int64), np.zeros(2 * 256, np.int64), np.zeros(WIDTH * 256))

    def contacts(self, candidates: Candidates, Q: np.ndarray, x: np.ndarray, reach: float, part: np.ndarray) -> ContactSet:
        """Everything nearer than `reach` among the candidates; Q (bodies, 4, 3), x (V, 3); `part` (bodies,) of κ that a body asks for."""
        s, flat = self._surface, np.ascontiguousarray(x).ravel()
        points, edges, planes = candidates.points.ravel(), candidates.edges.ravel(), candidates.planes.ravel()
        point, normal = (np.ascontiguousarray(a).ravel() for a in s.planes(Q))
        while True:
            touched, pair, record = self._room
            n = find_point_contacts(
                points, self._faces, s.patch, s.body, self._w, s.vertex_area, part, flat, reach, touched, pair, record
            )
            n = find_edge_contacts(edges, self._edges, s.body, self._w, s.edge_area, self._length, part, flat, reach, n, pair, record)
            n = find_plane_contacts(
                planes, s.plane_body, point, normal, s.body, self._w, s.vertex_area, part, np.ascontiguousarray(Q).ravel(), flat, reach,
                n, pair, record,
            )  # fmt: skip
            if n * WIDTH <= record.size:
                return ContactSet(pair[: 2 * n].reshape(-1, 2).copy(), record[: WIDTH * n].reshape(-1, WIDTH).copy())
            self._room = (np.zeros(4 * n, np.int64), np.zeros(4 * n, np.int64), np.zeros(2 * WIDTH * n))
