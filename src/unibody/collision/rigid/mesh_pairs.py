"""Polyhedra on triangle meshes: boxes, prisms, convex and other meshes on terrain and on each other.

Surfaces touch where a vertex of one is near the other (as a ball without radius, see `on_mesh`) and where two ridges cross. A vertex counts
only if its own surface falls away from the normal, two ridges only if both do, up to a slack that lets tilted faces keep all corners of
their manifold. A surface without inside is touched from the side on which most of what hangs at the vertex lies. Gaps are signed: a
vertex inside has the negative distance to the nearest face, crossing ridges the distance along their common normal, which points away from
the second surface's inside. Penetrations beyond a quarter of the smaller shape are not seen.

Two ridges have crossed only if each goes through what is behind the other: of thin bodies the far ridges face each other as crossed ones
would. So each must have its point on the plane that halves the other's edge, which is where it is deepest, inside, and the way out over
that edge must be about the shortest: what lies on a plate has not crossed the plate's sides. Where one surface has no inside, the crossing
must be no deeper than half of the other shape, for otherwise it is the other side's ridge that has crossed.
"""

from __future__ import annotations

from unibody.arena import part
from unibody.collision.rigid.contacts import RECORD, exchange
from unibody.collision.rigid.mesh_crossing import put_curves
from unibody.collision.rigid.mesh_data import (
    BOXES,
    EDGE_FACES,
    EDGE_NORMALS,
    EDGE_START,
    EDGES,
    ENDS,
    FACE_EDGES,
    FACES,
    LEAVES,
    RANGES,
    RIDGES,
    SIDED,
    VERTEX_FACES,
    VERTEX_START,
    VERTICES,
)
from unibody.collision.rigid.on_mesh import CLOSE, ball_on_mesh, bulges_towards, entry, entry3, is_inside, put_in_world, reaches
from unibody.collision.rigid.thinning import thin_out
from unibody.collision.stencils import closest_of_edges
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, compose_back, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, store3, sub3

VERTEX_SLACK = 0.35
RIDGE_SLACK = 0.1
"""Sines of the angles by which a surface may rise towards the other around what touches."""
SHORTEST = 0.5
"""Of the depth behind the faces at a crossed ridge: nearer, no other part of the surface may be."""


@device
def seen_box(u, w, frames, hull, reach):
    """The box of shape w in the frame of shape u, widened."""
    R = load9(frames, 12 * u)
    S = load9(frames, 12 * w)
    C = compose_back(R, S)
    c = add3(load3(frames, 12 * w + 9), rotate(S, load3(hull, 6 * w)))
    c = rotate_back(R, sub3(c, load3(frames, 12 * u + 9)))
    h = load3(hull, 6 * w + 3)
    e = (
        abs(C[0]) * h[0] + abs(C[1]) * h[1] + abs(C[2]) * h[2] + reach, abs(C[3]) * h[0] + abs(C[4]) * h[1] + abs(C[5]) * h[2] + reach,
        abs(C[6]) * h[0] + abs(C[7]) * h[1] + abs(C[8]) * h[2] + reach,
    )  # fmt: skip
    return sub3(c, e), add3(c, e)


@device
def falls_away(v, outward, real, real_at, whole, whole_at):
    """Whether the surface around vertex v stays below the plane across `outward`, up to the slack."""
    vertices = part(real, real_at, VERTICES)
    faces = part(whole, whole_at, FACES)
    start = part(whole, whole_at, VERTEX_START)
    around = part(whole, whole_at, VERTEX_FACES)
    x = load3(vertices, 3 * v)
    for k in range(start[v], start[v + 1]):
        for c in range(3):
            arm = sub3(load3(vertices, 3 * faces[3 * around[k] + c]), x)
            if dot3(outward, arm) > VERTEX_SLACK * norm3(arm):
                return False
    return True


@device
def turned_back(v, outward, gap, real, real_at, whole, whole_at):
    """Whether vertex v has passed a surface without inside, `gap` beyond it along −outward, less than half as far as its neighbours
    still lie before it."""
    vertices = part(real, real_at, VERTICES)
    faces = part(whole, whole_at, FACES)
    start = part(whole, whole_at, VERTEX_START)
    around = part(whole, whole_at, VERTEX_FACES)
    x = load3(vertices, 3 * v)
    behind = 0.0
    for k in range(start[v], start[v + 1]):
        for c in range(3):
            behind = max(behind, dot3(outward, sub3(load3(vertices, 3 * faces[3 * around[k] + c]), x)))
    return gap < 0.5 * behind and falls_away(v, scale3(-1.0, outward), real, real_at, whole, whole_at)


@device
def vertex_on_mesh(n, pair, side, u, w, v, depth, frames, mesh_of, margin, real, real_at, whole, whole_at, tags_out, records_out):
    """Vertex v of shape u on the mesh of shape w; `side`: 0 if u is the pair's first shape."""
    R = load9(frames, 12 * u)
    S = load9(frames, 12 * w)
    q = load3(frames, 12 * w + 9)
    x = add3(load3(frames, 12 * u + 9), rotate(R, entry3(real, real_at, VERTICES, 3 * v)))
    first = n
    number = v - entry(whole, whole_at, RANGES, 8 * mesh_of[u] + 6)
    n = ball_on_mesh(
        n, pair, 0, 1, rotate_back(S, sub3(x, q)), 0.0, depth, mesh_of[w], S, q, side == 0, margin, real, real_at, whole, whole_at,
        tags_out, records_out,
    )  # fmt: skip
    if RECORD * n > records_out.size:
        return n
    kept = first
    for i in range(first, n):
        normal = load3(records_out, RECORD * i + 3)
        outward = rotate_back(R, normal if side == 0 else scale3(-1.0, normal))
        stays = falls_away(v, outward, real, real_at, whole, whole_at)
        if not stays and entry(whole, whole_at, SIDED, mesh_of[w]) == 0:
            gap = records_out[RECORD * i + 6]
            stays = turned_back(v, outward, gap, real, real_at, whole, whole_at)
            if stays:
                store3(scale3(-1.0, normal), RECORD * i + 3, records_out)
                records_out[RECORD * i + 6] = -gap
        if stays:
            tags_out[2 * i + 1] = 8 * (number & 0xFFFFF) + 2 * min(kept - first, 3) + side
            exchange(kept, i, tags_out, records_out)
            kept += 1
    return kept


@device
def vertices_on_mesh(n, pair, side, u, w, depth, frames, hull, mesh_of, margin, real, real_at, whole, whole_at, tags_out, records_out):
    """All vertices of shape u near shape w."""
    boxes = part(real, real_at, BOXES)
    ends = part(whole, whole_at, ENDS)
    leaves = part(whole, whole_at, LEAVES)
    ranges = part(whole, whole_at, RANGES)
    faces = part(whole, whole_at, FACES)
    start = part(whole, whole_at, VERTEX_START)
    around = part(whole, whole_at, VERTEX_FACES)
    low, high = seen_box(u, w, frames, hull, margin)
    node = ranges[8 * mesh_of[u]]
    while node < ranges[8 * mesh_of[u] + 1]:
        if not reaches(boxes, node, low, high):
            node = ends[node]
            continue
        for f in range(leaves[2 * node], leaves[2 * node] + leaves[2 * node + 1]):
            for k in range(3):
                v = faces[3 * f + k]
                x = entry3(real, real_at, VERTICES, 3 * v)
                inside = low[0] <= x[0] <= high[0] and low[1] <= x[1] <= high[1] and low[2] <= x[2] <= high[2]
                if inside and around[start[v]] == f:
                    n = vertex_on_mesh(
                        n, pair, side, u, w, v, depth, frames, mesh_of, margin, real, real_at, whole, whole_at, tags_out, records_out
                    )
        node += 1
    return n


@device
def towards_middle(r, u, v, outward):
    """How far along u to go from r off an edge along v, in parts of u, to be on the plane that halves it, which `outward` lies in."""
    m = cross(v, outward)
    across = dot3(m, u)
    if abs(across) <= 1e-6 * norm3(m) * norm3(u):
        return 0.0
    return -dot3(m, r) / across


@device
def have_crossed(i, j, s, t, a, u, c, v, e, f, normal, gap, frames, hull, mesh_of, real, real_at, whole, whole_at):
    """Whether the edges e of shape i, a + s u, and f of shape j, c + t v (in the frame of j) with a negative gap are inside each other."""
    R = load9(frames, 12 * i)
    S = load9(frames, 12 * j)
    d = sub3(load3(frames, 12 * i + 9), load3(frames, 12 * j + 9))
    r = sub3(add3(a, scale3(s, u)), add3(c, scale3(t, v)))
    if entry(whole, whole_at, SIDED, mesh_of[j]) == 1:
        outward = entry3(real, real_at, EDGE_NORMALS, 3 * f)
        k = min(1.0, max(0.0, s + towards_middle(r, u, v, outward)))
        arm = add3(r, scale3(k - s, u))
        by = -0.5 * SHORTEST * dot3(arm, outward)  # half of it, for the normal is the sum of two
        if not is_inside(add3(a, scale3(k, u)), max(by, 0.0), 2.0 * norm3(arm), mesh_of[j], real, real_at, whole, whole_at):
            return False
    else:
        n = rotate_back(R, rotate(S, normal))
        if -gap > abs(n[0]) * hull[6 * i + 3] + abs(n[1]) * hull[6 * i + 4] + abs(n[2]) * hull[6 * i + 5]:
            return False
    if entry(whole, whole_at, SIDED, mesh_of[i]) == 1:
        outward = rotate_back(S, rotate(R, entry3(real, real_at, EDGE_NORMALS, 3 * e)))
        k = min(1.0, max(0.0, t + towards_middle(scale3(-1.0, r), v, u, outward)))
        arm = sub3(scale3(k - t, v), r)
        by = -0.5 * SHORTEST * dot3(arm, outward)
        y = rotate_back(R, sub3(rotate(S, add3(c, scale3(k, v))), d))
        return is_inside(y, max(by, 0.0), 2.0 * norm3(arm), mesh_of[i], real, real_at, whole, whole_at)
    return -gap <= abs(normal[0]) * hull[6 * j + 3] + abs(normal[1]) * hull[6 * j + 4] + abs(normal[2]) * hull[6 * j + 5]


@device
def ridge_with_ridge(
    n, pair, i, j, e, f, a, b, R, S, q, depth, frames, hull, mesh_of, margin, real, real_at, whole, whole_at, tags_out, records_out
):
    """Edge e of shape i (rotation R), whose ends are a, b in the frame (S, q) of shape j, with that shape's edge f."""
    edges = part(whole, whole_at, EDGES)
    vertices = part(real, real_at, VERTICES)
    c = load3(vertices, 3 * edges[2 * f])
    v = sub3(load3(vertices, 3 * edges[2 * f + 1]), c)
    u = sub3(b, a)
    normal = cross(u, v)
    length = norm3(normal)
    if length * length <= 1e-8 * dot3(u, u) * dot3(v, v):
        return n
    s, t = closest_of_edges(a, b, c, add3(c, v))
    if s <= 1e-9 or s >= 1.0 - 1e-9 or t <= 1e-9 or t >= 1.0 - 1e-9:
        return n
    x = add3(a, scale3(s, u))
    y = add3(c, scale3(t, v))
    r = sub3(x, y)
    if norm3(r) > max(margin, depth):
        return n
    outward = entry3(real, real_at, EDGE_NORMALS, 3 * f)
    if dot3(outward, outward) == 0.0:
        outward = scale3(-1.0, rotate_back(S, rotate(R, entry3(real, real_at, EDGE_NORMALS, 3 * e))))
    if dot3(outward, outward) == 0.0:
        outward = r
    normal = scale3((1.0 if dot3(normal, outward) >= 0.0 else -1.0) / length, normal)
    gap = dot3(normal, r)
    if gap < -depth or not bulges_towards(normal, f, y, RIDGE_SLACK, real, real_at, whole, whole_at):
        return n
    back = scale3(-1.0, rotate_back(R, rotate(S, normal)))
    if not bulges_towards(back, e, y, RIDGE_SLACK, real, real_at, whole, whole_at):
        return n
    if gap < -CLOSE * (norm3(u) + norm3(v) + norm3(y)):  # of less, round-off would decide
        if not have_crossed(i, j, s, t, a, u, c, v, e, f, normal, gap, frames, hull, mesh_of, real, real_at, whole, whole_at):
            return n
    name = (1 << 24) + ((e * 104729 + f) & 0x1FFFFFFF)
    return put_in_world(n, pair, name, True, margin, y, normal, gap, S, q, tags_out, records_out)


@device
def ridge_on_mesh(n, pair, i, j, e, depth, frames, hull, mesh_of, margin, real, real_at, whole, whole_at, tags_out, records_out):
    """Edge e of shape i with all ridges of shape j near it."""
    boxes = part(real, real_at, BOXES)
    ends = part(whole, whole_at, ENDS)
    leaves = part(whole, whole_at, LEAVES)
    ranges = part(whole, whole_at, RANGES)
    edges = part(whole, whole_at, EDGES)
    vertices = part(real, real_at, VERTICES)
    R = load9(frames, 12 * i)
    S = load9(frames, 12 * j)
    q = load3(frames, 12 * j + 9)
    d = sub3(load3(frames, 12 * i + 9), q)
    a = rotate_back(S, add3(d, rotate(R, load3(vertices, 3 * edges[2 * e]))))
    b = rotate_back(S, add3(d, rotate(R, load3(vertices, 3 * edges[2 * e + 1]))))
    start = part(whole, whole_at, EDGE_START)
    reach = max(margin, depth)
    low = (min(a[0], b[0]) - reach, min(a[1], b[1]) - reach, min(a[2], b[2]) - reach)
    high = (max(a[0], b[0]) + reach, max(a[1], b[1]) + reach, max(a[2], b[2]) + reach)
    node = ranges[8 * mesh_of[j]]
    while node < ranges[8 * mesh_of[j] + 1]:
        if not reaches(boxes, node, low, high):
            node = ends[node]
            continue
        for g in range(leaves[2 * node], leaves[2 * node] + leaves[2 * node + 1]):
            for k in range(3):
                f = entry(whole, whole_at, FACE_EDGES, 3 * g + k)
                if entry(whole, whole_at, RIDGES, f) == 1 and entry(whole, whole_at, EDGE_FACES, start[f]) == g:
                    n = ridge_with_ridge(
                        n, pair, i, j, e, f, a, b, R, S, q, depth, frames, hull, mesh_of, margin, real, real_at, whole, whole_at, tags_out,
                        records_out,
                    )  # fmt: skip
        node += 1
    return n


@device
def ridges_on_mesh(n, pair, i, j, depth, frames, hull, mesh_of, margin, real, real_at, whole, whole_at, tags_out, records_out):
    """All ridges of shape i near shape j."""
    boxes = part(real, real_at, BOXES)
    ends = part(whole, whole_at, ENDS)
    leaves = part(whole, whole_at, LEAVES)
    ranges = part(whole, whole_at, RANGES)
    start = part(whole, whole_at, EDGE_START)
    low, high = seen_box(i, j, frames, hull, margin)
    node = ranges[8 * mesh_of[i]]
    while node < ranges[8 * mesh_of[i] + 1]:
        if not reaches(boxes, node, low, high):
            node = ends[node]
            continue
        for g in range(leaves[2 * node], leaves[2 * node] + leaves[2 * node + 1]):
            for k in range(3):
                e = entry(whole, whole_at, FACE_EDGES, 3 * g + k)
                if entry(whole, whole_at, RIDGES, e) == 1 and entry(whole, whole_at, EDGE_FACES, start[e]) == g:
                    n = ridge_on_mesh(
                        n, pair, i, j, e, depth, frames, hull, mesh_of, margin, real, real_at, whole, whole_at, tags_out, records_out
                    )
        node += 1
    return n


@kernel
def polyhedron_contacts(
    n: int, order: Ints, pairs: Ints, frames: Floats, hull: Floats, mesh_of: Ints, real: Floats, real_at: Ints, whole: Ints,
    whole_at: Ints, margin: float, tags_out: Ints, records_out: Floats, floats_out: Floats, ints_out: Ints,
) -> int:  # fmt: skip
    """Contacts of the pairs of polyhedra listed in `order`; gives how many contacts there are now."""
    for k in range(order.size):
        pair = order[k]
        i = pairs[2 * pair]
        j = pairs[2 * pair + 1]
        wide_i = max(hull[6 * i + 3], max(hull[6 * i + 4], hull[6 * i + 5]))
        wide_j = max(hull[6 * j + 3], max(hull[6 * j + 4], hull[6 * j + 5]))
        depth = 0.25 * min(wide_i, wide_j)
        first = n
        for side in range(2):
            n = vertices_on_mesh(
                n, pair, side, i if side == 0 else j, j if side == 0 else i, depth, frames, hull, mesh_of, margin, real, real_at, whole,
                whole_at, tags_out, records_out,
            )  # fmt: skip
        n = ridges_on_mesh(n, pair, i, j, depth, frames, hull, mesh_of, margin, real, real_at, whole, whole_at, tags_out, records_out)
        if entry(whole, whole_at, SIDED, mesh_of[i]) == 1 and entry(whole, whole_at, SIDED, mesh_of[j]) == 1:
            n = put_curves(
                n, first, pair, i, j, depth, frames, hull, mesh_of, margin, real, real_at, whole, whole_at, floats_out, ints_out, tags_out,
                records_out,
            )  # fmt: skip
        n = thin_out(first, n, i, j, frames, tags_out, records_out)
    return n
