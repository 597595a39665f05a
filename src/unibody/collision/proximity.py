"""Contacts over control points: which, along which normal, how far apart.

Everything that touches is a point x = Σ wₖ xₖ over at most four control points: a vertex of an affine body over the four of its body,
Q = (t, a₁, a₂, a₃), with w = (1, X, Y, Z); a free vertex over itself. A stencil with weights cᵢ therefore has r = Σ uₖ xₖ over four
control points on each side, u = Σ cᵢ wᵢ, and the derivative of its distance d = |r| to xₖ is uₖ n, n = r / d. So a contact is two
lists of four control points, two 4-vectors, a normal and a distance, whatever points, faces and edges it came from. Between two bodies
the control points are 4 b … 4 b + 3, and the pair of bodies says all.

Things have a radius (of a wire; half of the thickness that a Contact asks for): what counts is the gap d − ξ, ξ the sum of the two.

Nearly parallel edges are softened by m(c) = (2 − c/ε) c/ε for c = |e_a × e_b|² below ε = 10⁻³ of the squared lengths' product, without
which the derivative of the distance jumps (Li et al. 2020).

Record of a contact, 33 numbers: u_a (4), u_b (4), n (3), gap, area (times the pair's part of κ), m, m′, material edges f (4), g (4), their
vectors Σ fₖ xₖ (3), Σ gₖ xₖ (3), the kind: which way the closest points may move, along f and g; d; the radius of the first side; and which
share of the reach the pair has, the larger of its two. Of two edges f lies on the first side, g on the second; of a point and a face both
lie on the second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.collision.broad import Candidates
from unibody.collision.stencils import edge_edge, point_triangle
from unibody.collision.surface import Surface
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import cross, dot3, load3, norm3, scale3, store3, sub3

WIDTH = 33
GAP, DISTANCE, RADIUS, SHARE = 11, 30, 31, 32
"""Where a record holds the gap, the distance, the first side's radius and the share of the reach."""
FLAT, CORNER, ON_EDGE, ON_FACE, ALONG_A, ALONG_B, ALONG_BOTH = -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
"""Kinds: a half-space; two corners; a corner and an edge of a face (along f); a corner and a face (f and g); along the first edge only
(f); along the second only (g); along both."""
PARALLEL = 1e-3


@device
def add_weight(c, w, v, corner, rigid, at, record_out):
    """Add c times vertex v, a corner of its primitive, to weights over the control points of its side: those of its body, or the corners
    themselves if they are free."""
    if v < rigid:
        for k in range(4):
            record_out[at + k] += c * w[4 * v + k]
    else:
        record_out[at + corner] += c


@device
def add_nodes(i, j, l, corners, node, rigid, at, node_out):
    """The control points of a side whose primitive has so many corners; −1 where there is none."""
    if i < rigid:
        for k in range(4):
            node_out[at + k] = node[i] + k
    else:
        node_out[at] = node[i]
        node_out[at + 1] = node[j] if corners > 1 else -1
        node_out[at + 2] = node[l] if corners > 2 else -1
        node_out[at + 3] = -1


@device
def add_edge(i, j, corner_i, corner_j, w, x, rigid, material, vector, record_out):
    """The edge from vertex i to j, corners of a primitive: its material vector, and what it is in the world."""
    add_weight(1.0, w, j, corner_j, rigid, material, record_out)
    add_weight(-1.0, w, i, corner_i, rigid, material, record_out)
    store3(sub3(load3(x, 3 * j), load3(x, 3 * i)), vector, record_out)


@device
def apart(low, high, lowest, highest, reach):
    """Whether two intervals are farther from each other than reach."""
    return low - highest >= reach or lowest - high >= reach


@kernel
def find_point_contacts(
    points: Ints, faces: Ints, patch: Ints, body: Ints, node: Ints, rigid: int, w: Floats, area: Floats, radius: Floats, part: Floats,
    share: Floats, x: Floats, reach: float, touched_out: Ints, node_out: Ints, pair_out: Ints, record_out: Floats,
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
        thick = radius[v] + radius[i]
        far = False
        for m in range(3):
            p = x[3 * v + m]
            a = x[3 * i + m]
            b = x[3 * j + m]
            c = x[3 * l + m]
            far = far or apart(p, p, min(a, min(b, c)), max(a, max(b, c)), reach + thick)
        if far:
            continue
        # r = x − Σ β x of the nearest point of the face, d = |r|
        beta, r = point_triangle(load3(x, 3 * v), load3(x, 3 * i), load3(x, 3 * j), load3(x, 3 * l))
        d = norm3(r)
        if d - thick >= reach:
            continue
        # The same point on the same patch, if it has been there: candidates of a point with one body follow each other.
        place = min(found, record_out.size // WIDTH) - 1
        while place >= 0 and touched_out[2 * place] == v and touched_out[2 * place + 1] != patch[f // 3]:
            place -= 1
        if place < 0 or touched_out[2 * place] != v:
            place = found
            found += 1
        elif record_out[WIDTH * place + DISTANCE] <= d:
            continue
        if WIDTH * (place + 1) <= record_out.size:
            at = WIDTH * place
            touched_out[2 * place] = v
            touched_out[2 * place + 1] = patch[f // 3]
            for m in range(WIDTH):
                record_out[at + m] = 0.0
            # u_a of the point, u_b = −Σ β w of the face, the normal n = r / d, and half of the area of the vertex
            add_weight(1.0, w, v, 0, rigid, at, record_out)
            add_weight(-beta[0], w, i, 0, rigid, at + 4, record_out)
            add_weight(-beta[1], w, j, 1, rigid, at + 4, record_out)
            add_weight(-beta[2], w, l, 2, rigid, at + 4, record_out)
            store3(scale3(1.0 / d if d > 0.0 else 0.0, r), at + 8, record_out)
            record_out[at + GAP] = d - thick
            record_out[at + DISTANCE] = d
            record_out[at + RADIUS] = radius[v]
            record_out[at + SHARE] = max(share[body[v]], share[body[i]])
            record_out[at + 12] = 0.5 * area[v] * max(part[body[v]], part[body[i]])
            record_out[at + 13] = 1.0
            # Corners that have a part in the nearest point: the first, and up to two others.
            corner = 0 if beta[0] > 0.0 else (1 if beta[1] > 0.0 else 2)
            start = i if corner == 0 else (j if corner == 1 else l)
            if beta[0] > 0.0 and beta[1] > 0.0:
                add_edge(start, j, 0, 1, w, x, rigid, at + 15, at + 23, record_out)
                record_out[at + 29] = ON_EDGE
                if beta[2] > 0.0:
                    add_edge(start, l, 0, 2, w, x, rigid, at + 19, at + 26, record_out)
                    record_out[at + 29] = ON_FACE
            elif start != l and beta[2] > 0.0:
                add_edge(start, l, corner, 2, w, x, rigid, at + 15, at + 23, record_out)
                record_out[at + 29] = ON_EDGE
            pair_out[2 * place] = body[v]
            pair_out[2 * place + 1] = body[i]
            if node_out.size > 0:
                add_nodes(v, v, v, 1, node, rigid, 8 * place, node_out)
                add_nodes(i, j, l, 3, node, rigid, 8 * place + 4, node_out)
    return found


@kernel
def find_edge_contacts(
    pairs: Ints, edges: Ints, body: Ints, node: Ints, rigid: int, w: Floats, area: Floats, length: Floats, radius: Floats, part: Floats,
    share: Floats, x: Floats, reach: float, first: int, node_out: Ints, pair_out: Ints, record_out: Floats,
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
        thick = radius[i] + radius[l]
        if apart(min(a[0], b[0]), max(a[0], b[0]), min(c[0], d[0]), max(c[0], d[0]), reach + thick):
            continue
        if apart(min(a[1], b[1]), max(a[1], b[1]), min(c[1], d[1]), max(c[1], d[1]), reach + thick):
            continue
        if apart(min(a[2], b[2]), max(a[2], b[2]), min(c[2], d[2]), max(c[2], d[2]), reach + thick):
            continue
        # r between the closest points a + s (b − a) and c + t (d − c)
        at_edges, r = edge_edge(a, b, c, d)
        distance = norm3(r)
        if distance - thick >= reach:
            continue
        if WIDTH * (found + 1) <= record_out.size:
            at = WIDTH * found
            for n in range(WIDTH):
                record_out[at + n] = 0.0
            # u_a and u_b with the weights 1 − s, s and t − 1, −t; the normal n = r / d, and a quarter of the areas of both edges
            s = at_edges[0]
            t = at_edges[1]
            add_weight(1.0 - s, w, i, 0, rigid, at, record_out)
            add_weight(s, w, j, 1, rigid, at, record_out)
            add_weight(t - 1.0, w, l, 0, rigid, at + 4, record_out)
            add_weight(-t, w, m, 1, rigid, at + 4, record_out)
            store3(scale3(1.0 / distance if distance > 0.0 else 0.0, r), at + 8, record_out)
            record_out[at + GAP] = distance - thick
            record_out[at + DISTANCE] = distance
            record_out[at + RADIUS] = radius[i]
            record_out[at + SHARE] = max(share[body[i]], share[body[l]])
            record_out[at + 12] = 0.25 * (area[e] + area[f]) * max(part[body[i]], part[body[l]])
            # m(c) and m′(c) of c = |e_a × e_b|², so that the derivative stays continuous where edges become parallel
            u = sub3(b, a)
            v = sub3(d, c)
            n = cross(u, v)
            size = dot3(n, n)
            epsilon = PARALLEL * length[e] * length[e] * length[f] * length[f]
            record_out[at + 13] = 1.0
            if size < epsilon:
                aslant = size / epsilon
                record_out[at + 13] = (2.0 - aslant) * aslant
                record_out[at + 14] = 2.0 * (1.0 - aslant) / epsilon
            add_edge(i, j, 0, 1, w, x, rigid, at + 15, at + 23, record_out)
            add_edge(l, m, 0, 1, w, x, rigid, at + 19, at + 26, record_out)
            # the closest point moves along an edge only where it is not an end of it
            free_s = s > 0.0 and s < 1.0
            free_t = t > 0.0 and t < 1.0
            record_out[at + 29] = (ALONG_BOTH if free_t else ALONG_A) if free_s else (ALONG_B if free_t else CORNER)
            pair_out[2 * found] = body[i]
            pair_out[2 * found + 1] = body[l]
            if node_out.size > 0:
                add_nodes(i, j, j, 2, node, rigid, 8 * found, node_out)
                add_nodes(l, m, m, 2, node, rigid, 8 * found + 4, node_out)
        found += 1
    return found


@kernel
def find_plane_contacts(
    pairs: Ints, plane_body: Ints, point: Floats, normal: Floats, body: Ints, node: Ints, rigid: int, w: Floats, area: Floats,
    radius: Floats, plane_radius: float, part: Floats, share: Floats, Q: Floats, x: Floats, reach: float, first: int, node_out: Ints,
    pair_out: Ints, record_out: Floats,
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
        # the gap is the height less both radii
        thick = radius[v] + plane_radius
        if height - thick >= reach:
            continue
        if WIDTH * (found + 1) <= record_out.size:
            at = WIDTH * found
            for m in range(WIDTH):
                record_out[at + m] = 0.0
            # u_a of the point, u_b of its foot on the plane, in the frame of the plane's body
            on = plane_body[plane]
            foot = sub3(sub3(load3(x, 3 * v), scale3(height, n)), load3(Q, 12 * on))
            add_weight(1.0, w, v, 0, rigid, at, record_out)
            record_out[at + 4] = -1.0
            for m in range(3):
                record_out[at + 5 + m] = -dot3(load3(Q, 12 * on + 3 * (m + 1)), foot)
            store3(n, at + 8, record_out)
            record_out[at + GAP] = height - thick
            record_out[at + DISTANCE] = height
            record_out[at + RADIUS] = radius[v]
            record_out[at + SHARE] = max(share[body[v]], share[on])
            record_out[at + 12] = area[v] * max(part[body[v]], part[on])
            record_out[at + 13] = 1.0
            record_out[at + 29] = FLAT
            pair_out[2 * found] = body[v]
            pair_out[2 * found + 1] = on
            if node_out.size > 0:
                add_nodes(v, v, v, 1, node, rigid, 8 * found, node_out)
                for m in range(4):
                    node_out[8 * found + 4 + m] = 4 * on + m
        found += 1
    return found


@dataclass(frozen=True)
class ContactSet:
    """n contacts: bodies, or free meshes behind them, (n, 2), and records (n, 33); `free_nodes` (n, 8) where there are free vertices."""

    pair: np.ndarray
    record: np.ndarray
    free_nodes: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.pair)

    @property
    def nodes(self) -> np.ndarray:
        """(n, 8) control points of the first side, then of the second; −1 where there is none."""
        if self.free_nodes is not None:
            return self.free_nodes
        return (4 * self.pair[:, :, None] + np.arange(4)).reshape(-1, 8)

    def among(self, which: np.ndarray) -> ContactSet:
        """Some of them, by a mask or by numbers."""
        nodes = self.free_nodes[which] if self.free_nodes is not None else None
        return ContactSet(self.pair[which], np.ascontiguousarray(self.record[which]), nodes)

    def at_surfaces(self, x: np.ndarray) -> ContactSet:
        """The same with weights of the points on the surfaces, radii away from the closest points, at control points x (flat): there bodies
        rub. Free vertices have no frame in which such a point could ride."""
        second = self.record[:, DISTANCE] - self.record[:, GAP] - self.record[:, RADIUS]
        if not (self.record[:, RADIUS].any() or second.any()):
            return self
        record, X, nodes = self.record.copy(), x.reshape(-1, 3), self.nodes.reshape(-1, 2, 4)
        for side, shift in ((0, -self.record[:, RADIUS]), (1, -second)):
            body = np.flatnonzero((nodes[:, side, 3] >= 0) & (shift != 0.0))
            axes = np.swapaxes(X[nodes[body, side, 1:]], 1, 2)
            moved = np.linalg.solve(axes, (shift[body, None] * self.normal[body])[:, :, None])[:, :, 0]
            record[body[:, None], 4 * side + np.arange(1, 4)] += moved
        return ContactSet(self.pair, record, self.free_nodes)

    @property
    def u(self) -> np.ndarray:
        """(n, 2, 4) weights of the control points of the two sides."""
        return self.record[:, :8].reshape(-1, 2, 4)

    @property
    def normal(self) -> np.ndarray:
        """(n, 3) from the second side to the first."""
        return self.record[:, 8:11]

    @property
    def distance(self) -> np.ndarray:
        """(n,) gaps: how far apart things are, their radii taken off [m]."""
        return self.record[:, GAP]

    @property
    def area(self) -> np.ndarray:
        """(n,) share of the surface [m²], times the pair's part of κ, softened for parallel edges."""
        return self.record[:, 12] * self.record[:, 13]


class Proximity:
    """Finds contacts among candidates on one surface; keeps its work space between calls."""

    def __init__(self, surface: Surface):
        self._surface = surface
        self._w, self._edges, self._faces = surface.w.ravel(), surface.edges.ravel(), surface.faces.ravel()
        ends = surface.rest[surface.edges]
        self._length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        self._room = self._rooms(256)

    def _rooms(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Points and patches that touch, control points (only where some are free), pairs and records of so many contacts."""
        free = self._surface.rigid < len(self._surface.w)
        touched, node, pair = (np.zeros(k * count, np.int64) for k in (2, 8 if free else 0, 2))
        return touched, node, pair, np.zeros(WIDTH * count)

    def contacts(
        self, candidates: Candidates, Q: np.ndarray, x: np.ndarray, reach: float, part: np.ndarray, share: np.ndarray | None = None
    ) -> ContactSet:  # fmt: skip
        """All gaps below `reach` among the candidates; Q control points (bodies, 4, 3), or flat with free vertices behind; x (V, 3); `part`
        (bodies and free meshes,) of κ that each asks for, `share` of the reach (all of it, unless given)."""
        share = np.ones(len(part)) if share is None else share
        s, flat, Q = self._surface, np.ascontiguousarray(x).ravel(), np.ascontiguousarray(Q, dtype=float)
        points, edges, planes = candidates.points.ravel(), candidates.edges.ravel(), candidates.planes.ravel()
        point, normal = (np.ascontiguousarray(a).ravel() for a in s.planes(Q))
        on = s.body, s.node, s.rigid, self._w
        while True:
            touched, node, pair, record = self._room
            n = find_point_contacts(
                points, self._faces, s.patch, *on, s.vertex_area, s.radius, part, share, flat, reach, touched, node, pair,
                record,
            )  # fmt: skip
            n = find_edge_contacts(
                edges, self._edges, *on, s.edge_area, self._length, s.radius, part, share, flat, reach, n, node, pair, record
            )
            n = find_plane_contacts(
                planes, s.plane_body, point, normal, *on, s.vertex_area, s.radius, s.plane_radius, part, share, Q.ravel(), flat, reach, n,
                node, pair, record,
            )  # fmt: skip
            if n * WIDTH <= record.size:
                nodes = node[: 8 * n].reshape(-1, 8).copy() if node.size else None
                return ContactSet(pair[: 2 * n].reshape(-1, 2).copy(), record[: WIDTH * n].reshape(-1, WIDTH).copy(), nodes)
            self._room = self._rooms(2 * n)
