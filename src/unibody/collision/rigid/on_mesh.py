"""Spheres and capsules on triangle meshes and terrain.

A sphere touches where its centre's distance to the surface has a local minimum: in the middle of a face, on an edge from which no adjacent
face is nearer, at a vertex likewise. So a ball that rolls over the seams of a flat floor meets no edges, and a ball in a valley meets both
walls. A centre inside has one contact, with the nearest point. A capsule touches with its two end balls, and in between where its segment
passes an edge or a vertex: from outside, or from inside if the point of the segment really is. Behind an edge is not yet inside, for the
solid may be thinner than the capsule.
"""

from __future__ import annotations

from math import sqrt

from unibody.arena import part
from unibody.collision.rigid.contacts import put
from unibody.collision.rigid.kinds import CAPSULE
from unibody.collision.rigid.mesh_data import (
    BOXES,
    EDGE_FACES,
    EDGE_NORMALS,
    EDGE_START,
    EDGES,
    ENDS,
    FACE_EDGES,
    FACE_NORMALS,
    FACES,
    LEAVES,
    RANGES,
    RIDGES,
    VERTEX_FACES,
    VERTEX_NORMALS,
    VERTEX_START,
    VERTICES,
)
from unibody.collision.rigid.nearest import NOWHERE
from unibody.collision.rigid.thinning import thin_out
from unibody.collision.stencils import closest_of_edges, closest_on_segment, closest_on_triangle
from unibody.kernel import Floats, Ints, device, inlined, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, sub3

SAME = 1e-12
"""Relative difference of squared distances that counts as none."""
CLOSE = 1e-9
"""Of sizes: at smaller distances round-off decides on the direction between two points."""
THIN = 1.1e-7
"""Of lengths: faces that are thinner count as their edges (`stencils.FLAT`), so that what lies over them may seem to lie beside an edge."""
FEATURES = 1 << 26
"""Vertices come first in the numbers of features, then edges and faces, each with this much room."""


@device
def entry(arena, layout, slot, k):
    """Entry k of a slot of an arena; cheaper to compile than a part of it."""
    return arena[layout[2 * slot] + k]


@device
def entry3(arena, layout, slot, k):
    """Entries k, k + 1, k + 2 of a slot of an arena."""
    return load3(arena, layout[2 * slot] + k)


@device
def corner(f, k, real, real_at, whole, whole_at):
    """Corner k of face f."""
    return entry3(real, real_at, VERTICES, 3 * entry(whole, whole_at, FACES, 3 * f + k))


@device
def corners(f, real, real_at, whole, whole_at):
    """All three of face f."""
    i = whole_at[2 * FACES] + 3 * f
    v = real_at[2 * VERTICES]
    return load3(real, v + 3 * whole[i]), load3(real, v + 3 * whole[i + 1]), load3(real, v + 3 * whole[i + 2])


@device
def reaches(boxes, node, low, high):
    """Whether the node's box meets the box low … high."""
    b = 6 * node
    if boxes[b] > high[0] or boxes[b + 1] > high[1] or boxes[b + 2] > high[2]:
        return False
    return boxes[b + 3] >= low[0] and boxes[b + 4] >= low[1] and boxes[b + 5] >= low[2]


@device
def to_face(y, f, real, real_at, whole, whole_at):
    """Squared distance of y to face f."""
    r = sub3(y, on_face(f, weights(y, f, real, real_at, whole, whole_at), y, real, real_at, whole, whole_at))
    return dot3(r, r)


@device
def feature_at(f, beta, whole, whole_at):
    """What the weights lie on: (0, vertex), (1, edge) or (2, face)."""
    faces = part(whole, whole_at, FACES)
    zero = 0
    last = 0
    for k in range(3):
        if beta[k] == 0.0:
            zero += 1
        else:
            last = k
    if zero == 0:
        return 2, f
    if zero == 2:
        return 0, faces[3 * f + last]
    for k in range(3):
        if beta[k] == 0.0:
            return 1, entry(whole, whole_at, FACE_EDGES, 3 * f + k)
    return 2, f


@device
def feature_normal(kind, index, real, real_at):
    """Pointing outwards, not of unit length; zero where there is no inside."""
    if kind == 0:
        return entry3(real, real_at, VERTEX_NORMALS, 3 * index)
    if kind == 1:
        return entry3(real, real_at, EDGE_NORMALS, 3 * index)
    return entry3(real, real_at, FACE_NORMALS, 3 * index)


@device
def feature_name(kind, index, mesh, whole, whole_at):
    """Number of a feature within its mesh."""
    ranges = part(whole, whole_at, RANGES)
    if kind == 0:
        return index - ranges[8 * mesh + 6]
    if kind == 1:
        return FEATURES + index - ranges[8 * mesh + 4]
    return 2 * FEATURES + index - ranges[8 * mesh + 2]


@device
def is_local_minimum(y, f, kind, index, squared, real, real_at, whole, whole_at):
    """Whether no face around the feature is nearer to y, and f is the first of them."""
    if kind == 2:
        return True
    start = part(whole, whole_at, VERTEX_START if kind == 0 else EDGE_START)
    around = part(whole, whole_at, VERTEX_FACES if kind == 0 else EDGE_FACES)
    if around[start[index]] != f:
        return False
    nearer = squared * (1.0 - SAME) - SAME * SAME * dot3(y, y)  # of distances that are round-off none is nearer
    for k in range(start[index] + 1, start[index + 1]):
        if to_face(y, around[k], real, real_at, whole, whole_at) < nearer:
            return False
    return True


@device
def put_in_world(n, pair, name, flip, margin, q, normal, gap, R, p, tags_out, records_out):
    """A contact at the point q of the mesh, given in its frame."""
    return put(n, pair, name, flip, margin, add3(p, rotate(R, q)), rotate(R, normal), gap, tags_out, records_out)


@inlined
def nearest_face(y, reach, mesh, real, real_at, whole, whole_at):
    """The face of the mesh nearest to y, −1 if none is within reach, and the squared distance."""
    boxes = part(real, real_at, BOXES)
    ends = part(whole, whole_at, ENDS)
    leaves = part(whole, whole_at, LEAVES)
    ranges = part(whole, whole_at, RANGES)
    low = (y[0] - reach, y[1] - reach, y[2] - reach)
    high = (y[0] + reach, y[1] + reach, y[2] + reach)
    best = reach * reach
    found = -1
    node = ranges[8 * mesh]
    while node < ranges[8 * mesh + 1]:
        if not reaches(boxes, node, low, high):
            node = ends[node]
            continue
        for f in range(leaves[2 * node], leaves[2 * node] + leaves[2 * node + 1]):
            d = to_face(y, f, real, real_at, whole, whole_at)
            if d < best * (1.0 - SAME):
                best = d
                found = f
        node += 1
    return found, best


@device
def is_inside(y, by, reach, mesh, real, real_at, whole, whole_at):
    """Whether y, with some of the surface within reach, is behind its nearest feature, and as far as `by`."""
    f, squared = nearest_face(y, reach, mesh, real, real_at, whole, whole_at)
    if f < 0 or squared < by * by:
        return False
    beta = weights(y, f, real, real_at, whole, whole_at)
    kind, index = feature_at(f, beta, whole, whole_at)
    return dot3(sub3(y, on_face(f, beta, y, real, real_at, whole, whole_at)), feature_normal(kind, index, real, real_at)) < 0.0


@device
def ball_on_mesh(n, pair, base, times, y, radius, depth, mesh, R, p, flip, margin, real, real_at, whole, whole_at, tags_out, records_out):
    """Contacts of the mesh (first) with the ball about y in the mesh's frame, also if y is up to `depth` inside; names are base + times ·
    feature."""
    boxes = part(real, real_at, BOXES)
    ends = part(whole, whole_at, ENDS)
    leaves = part(whole, whole_at, LEAVES)
    ranges = part(whole, whole_at, RANGES)
    # the nearest feature of the mesh: its point q, its outward normal, the distance d
    reach = radius + depth + margin
    found, best = nearest_face(y, reach, mesh, real, real_at, whole, whole_at)
    if found < 0:
        return n
    beta = weights(y, found, real, real_at, whole, whole_at)
    kind, index = feature_at(found, beta, whole, whole_at)
    q = on_face(found, beta, y, real, real_at, whole, whole_at)
    outward = feature_normal(kind, index, real, real_at)
    size = norm3(outward)
    d = sqrt(best)
    r = sub3(y, q)
    # the middle lies inside: one contact, along the normal of a flat feature, else along what leads out
    if size > 0.0 and (dot3(r, outward) < 0.0 or d <= NOWHERE * (radius + norm3(q))):
        seen = d > nearby(kind, found, CLOSE * (reach + norm3(q)), real, real_at, whole, whole_at)
        normal = scale3(1.0 / size, outward) if is_flat(kind, index, whole, whole_at) or not seen else scale3(-1.0 / d, r)
        name = base + times * feature_name(kind, index, mesh, whole, whole_at)
        return put_in_world(n, pair, name, flip, margin, q, normal, -d - radius, R, p, tags_out, records_out)
    # the middle lies outside: a contact for every face, edge or corner whose distance is a local minimum
    reach = radius + margin
    low = (y[0] - reach, y[1] - reach, y[2] - reach)
    high = (y[0] + reach, y[1] + reach, y[2] + reach)
    node = ranges[8 * mesh]
    while node < ranges[8 * mesh + 1]:
        if not reaches(boxes, node, low, high):
            node = ends[node]
            continue
        for f in range(leaves[2 * node], leaves[2 * node] + leaves[2 * node + 1]):
            beta = weights(y, f, real, real_at, whole, whole_at)
            q = on_face(f, beta, y, real, real_at, whole, whole_at)
            r = sub3(y, q)
            squared = dot3(r, r)
            if squared <= reach * reach:
                kind, index = feature_at(f, beta, whole, whole_at)
                outward = feature_normal(kind, index, real, real_at)
                if dot3(r, outward) >= 0.0 and is_local_minimum(y, f, kind, index, squared, real, real_at, whole, whole_at):
                    d = sqrt(squared)
                    normal = away(kind, index, f, r, d, CLOSE * (reach + norm3(q)), outward, real, real_at, whole, whole_at)
                    name = base + times * feature_name(kind, index, mesh, whole, whole_at)
                    n = put_in_world(n, pair, name, flip, margin, q, normal, d - radius, R, p, tags_out, records_out)
        node += 1
    return n


@device
def weights(y, f, real, real_at, whole, whole_at):
    """Of the corners of face f at its point nearest to y."""
    a, b, c = corners(f, real, real_at, whole, whole_at)
    return closest_on_triangle(y, a, b, c)


@device
def on_face(f, beta, y, real, real_at, whole, whole_at):
    """The point of face f nearest to y, with these weights; within the face that is y's foot, which weights of needles tell badly."""
    a, b, c = corners(f, real, real_at, whole, whole_at)
    if beta[0] > 0.0 and beta[1] > 0.0 and beta[2] > 0.0:
        n = cross(sub3(b, a), sub3(c, a))
        return sub3(y, scale3(dot3(n, sub3(y, a)) / dot3(n, n), n))
    return add3(add3(scale3(beta[0], a), scale3(beta[1], b)), scale3(beta[2], c))


@device
def is_flat(kind, index, whole, whole_at):
    """Whether a feature is a face, or an edge that is no ridge."""
    return kind == 2 or (kind == 1 and entry(whole, whole_at, RIDGES, index) == 0)


@device
def nearby(kind, f, close, real, real_at, whole, whole_at):
    """The distance from a feature of face f up to which its direction means nothing: more for edges, whose face may be thin."""
    if kind != 1:
        return close
    a, b, c = corners(f, real, real_at, whole, whole_at)
    return max(close, THIN * max(norm3(sub3(b, a)), max(norm3(sub3(c, b)), norm3(sub3(a, c)))))


@device
def edge_upwards(e, real, real_at, whole, whole_at):
    """The normal of the face around edge e that has one; z where none has."""
    start = part(whole, whole_at, EDGE_START)
    around = part(whole, whole_at, EDGE_FACES)
    best = (0.0, 0.0, 1.0)
    most = 0.0
    for k in range(start[e], start[e + 1]):
        a, b, c = corners(around[k], real, real_at, whole, whole_at)
        n = cross(sub3(b, a), sub3(c, a))
        length = norm3(n)
        if length > most:
            most = length
            best = scale3(1.0 / length, n)
    return best


@device
def upwards(f, real, real_at, whole, whole_at):
    """The normal of face f from its corners; z where it has no area."""
    a, b, c = corners(f, real, real_at, whole, whole_at)
    u = sub3(b, a)
    v = sub3(c, a)
    n = cross(u, v)
    length = norm3(n)
    if length <= 1e-12 * (dot3(u, u) + dot3(v, v)):
        return (0.0, 0.0, 1.0)
    return scale3(1.0 / length, n)


@device
def away(kind, index, f, r, d, close, outward, real, real_at, whole, whole_at):
    """The unit normal of the feature of face f towards r off it, of length d: off a face its own, for r tells less the nearer it is."""
    size = norm3(outward)
    flat = is_flat(kind, index, whole, whole_at)
    if flat and size > 0.0:
        return scale3(1.0 / size, outward)
    up = edge_upwards(index, real, real_at, whole, whole_at) if kind == 1 else upwards(f, real, real_at, whole, whole_at)
    if d > nearby(kind, f, close, real, real_at, whole, whole_at):
        if flat:
            return up if dot3(up, r) > 0.0 else scale3(-1.0, up)
        return scale3(1.0 / d, r)
    return scale3(1.0 / size, outward) if size > 0.0 else up


@device
def bulges_towards(normal, e, q, slack, real, real_at, whole, whole_at):
    """Whether every face at edge e falls away from its point q in the direction of the normal, up to the sine `slack`."""
    start = part(whole, whole_at, EDGE_START)
    around = part(whole, whole_at, EDGE_FACES)
    edges = part(whole, whole_at, EDGES)
    vertices = part(real, real_at, VERTICES)
    a = load3(vertices, 3 * edges[2 * e])
    u = sub3(load3(vertices, 3 * edges[2 * e + 1]), a)
    uu = dot3(u, u)
    for k in range(start[e], start[e + 1]):
        f = around[k]
        for c in range(3):
            if entry(whole, whole_at, FACE_EDGES, 3 * f + c) == e:
                w = sub3(corner(f, c, real, real_at, whole, whole_at), a)
                w = sub3(w, scale3(dot3(w, u) / uu, u))
                if dot3(normal, w) > slack * norm3(w):
                    return False
    return True


@device
def segment_on_edge(n, pair, a, b, radius, e, f, mesh, R, p, flip, margin, real, real_at, whole, whole_at, tags_out, records_out):
    """The middle of a capsule against a ridge."""
    edges = part(whole, whole_at, EDGES)
    vertices = part(real, real_at, VERTICES)
    c = load3(vertices, 3 * edges[2 * e])
    v = sub3(load3(vertices, 3 * edges[2 * e + 1]), c)
    s, t = closest_of_edges(a, b, c, add3(c, v))
    if s <= 1e-9 or s >= 1.0 - 1e-9 or t <= 1e-9 or t >= 1.0 - 1e-9:
        return n
    x = add3(a, scale3(s, sub3(b, a)))
    q = add3(c, scale3(t, v))
    r = sub3(x, q)
    d = norm3(r)
    if d > radius + margin:
        return n
    outward = entry3(real, real_at, EDGE_NORMALS, 3 * e)
    name = 2 + 4 * feature_name(1, e, mesh, whole, whole_at)
    if d <= NOWHERE * (radius + norm3(q)):
        if dot3(outward, outward) == 0.0:
            return n
        u = sub3(b, a)
        normal = cross(u, v)
        normal = scale3((1.0 if dot3(normal, outward) >= 0.0 else -1.0) / norm3(normal), normal)
        return put_in_world(n, pair, name, flip, margin, q, normal, -radius, R, p, tags_out, records_out)
    if dot3(r, outward) >= 0.0:
        if not is_local_minimum(x, f, 1, e, d * d, real, real_at, whole, whole_at):
            return n
        return put_in_world(n, pair, name, flip, margin, q, scale3(1.0 / d, r), d - radius, R, p, tags_out, records_out)
    normal = scale3(-1.0 / d, r)
    if d > radius or not bulges_towards(normal, e, q, 1e-9, real, real_at, whole, whole_at):
        return n
    if not is_inside(x, 0.0, 2.0 * d, mesh, real, real_at, whole, whole_at):
        return n
    return put_in_world(n, pair, name, flip, margin, q, normal, -d - radius, R, p, tags_out, records_out)


@device
def segment_on_vertex(n, pair, a, b, radius, v, f, mesh, R, p, flip, margin, real, real_at, whole, whole_at, tags_out, records_out):
    """The middle of a capsule against a vertex."""
    q = entry3(real, real_at, VERTICES, 3 * v)
    s, squared = closest_on_segment(q, a, b)
    reach = radius + margin
    if s <= 1e-9 or s >= 1.0 - 1e-9 or squared > reach * reach:
        return n
    d = sqrt(squared)
    if d <= NOWHERE * (radius + norm3(q)):
        return n
    x = add3(a, scale3(s, sub3(b, a)))
    r = sub3(x, q)
    outside = dot3(r, entry3(real, real_at, VERTEX_NORMALS, 3 * v)) >= 0.0
    if not outside or not is_local_minimum(x, f, 0, v, squared, real, real_at, whole, whole_at):
        return n
    name = 2 + 4 * feature_name(0, v, mesh, whole, whole_at)
    return put_in_world(n, pair, name, flip, margin, q, scale3(1.0 / d, r), d - radius, R, p, tags_out, records_out)


@device
def middle_on_mesh(n, pair, a, b, radius, mesh, R, p, flip, margin, real, real_at, whole, whole_at, tags_out, records_out):
    """The segment of a capsule, ends aside, against edges and vertices."""
    boxes = part(real, real_at, BOXES)
    leaves = part(whole, whole_at, LEAVES)
    ranges = part(whole, whole_at, RANGES)
    ends = part(whole, whole_at, ENDS)
    faces = part(whole, whole_at, FACES)
    edge_start = part(whole, whole_at, EDGE_START)
    vertex_start = part(whole, whole_at, VERTEX_START)
    reach = radius + margin
    low = (min(a[0], b[0]) - reach, min(a[1], b[1]) - reach, min(a[2], b[2]) - reach)
    high = (max(a[0], b[0]) + reach, max(a[1], b[1]) + reach, max(a[2], b[2]) + reach)
    node = ranges[8 * mesh]
    while node < ranges[8 * mesh + 1]:
        if not reaches(boxes, node, low, high):
            node = ends[node]
            continue
        for f in range(leaves[2 * node], leaves[2 * node] + leaves[2 * node + 1]):
            for k in range(3):
                e = entry(whole, whole_at, FACE_EDGES, 3 * f + k)
                if entry(whole, whole_at, RIDGES, e) == 1 and entry(whole, whole_at, EDGE_FACES, edge_start[e]) == f:
                    n = segment_on_edge(
                        n, pair, a, b, radius, e, f, mesh, R, p, flip, margin, real, real_at, whole, whole_at, tags_out, records_out
                    )
                v = faces[3 * f + k]
                if entry(whole, whole_at, VERTEX_FACES, vertex_start[v]) == f:
                    n = segment_on_vertex(
                        n, pair, a, b, radius, v, f, mesh, R, p, flip, margin, real, real_at, whole, whole_at, tags_out, records_out
                    )
        node += 1
    return n


@kernel
def mesh_contacts(
    n: int, order: Ints, pairs: Ints, kind: Ints, frames: Floats, size: Floats, mesh_of: Ints, real: Floats, real_at: Ints, whole: Ints,
    whole_at: Ints, margin: float, tags_out: Ints, records_out: Floats,
) -> int:  # fmt: skip
    """Contacts of the pairs of a sphere or capsule and a mesh listed in `order`; gives how many contacts there are now."""
    for k in range(order.size):
        pair = order[k]
        flip = kind[pairs[2 * pair]] <= CAPSULE
        i = pairs[2 * pair + 1] if flip else pairs[2 * pair]
        j = pairs[2 * pair] if flip else pairs[2 * pair + 1]
        R = load9(frames, 12 * i)
        p = load3(frames, 12 * i + 9)
        c = rotate_back(R, sub3(load3(frames, 12 * j + 9), p))
        first = n
        ends = 2 if kind[j] == CAPSULE else 1
        u = rotate_back(R, (frames[12 * j + 2], frames[12 * j + 5], frames[12 * j + 8]))
        arm = scale3(size[4 * j + 1] if ends == 2 else 0.0, u)
        a = sub3(c, arm)
        b = add3(c, arm)
        for end in range(ends):
            n = ball_on_mesh(
                n, pair, end, 4, a if end == 0 else b, size[4 * j], size[4 * j], mesh_of[i], R, p, flip, margin, real, real_at,
                whole, whole_at, tags_out, records_out,
            )  # fmt: skip
        if ends == 2:
            n = middle_on_mesh(
                n, pair, a, b, size[4 * j], mesh_of[i], R, p, flip, margin, real, real_at, whole, whole_at, tags_out, records_out
            )
        n = thin_out(first, n, i, j, frames, tags_out, records_out)
    return n
