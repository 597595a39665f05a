"""Where the surfaces of two polyhedra cross: the curves of intersection, and the contact that parts them.

Faces of A and B that cross share a segment between two points at which an edge of one passes through the face of the other; every such
point belongs to two segments, so that these make closed curves. A part of ∂A inside B, bounded by one curve or by several that edges inside
join (a ring that lies flat in a floor: two circles), has the vector area

    S = ∫ n_A dA = ½ ∮ (x − c) × dx          dx along n_A × n_B, c any point

which is minus the gradient of the common volume with the position of B: along n = S / |S|, from A to B, they come apart fastest. No vertex
has to be inside and no edge has to be convex, so that edges across edges, and tubes in the hollows of others, have a normal too. The depth
is how thick the common part is along n: the longest way from a point of ∂A inside B along −n, or of ∂B inside A along n, to the other
surface. The points are the ends of edges next to the curve that are inside, and the middles of what of an edge is inside. Such a part gives
a contact where vertices and ridges (`mesh_pairs`) have found none that is as deep along about the same normal.

Curves that do not close (edges that pass through edges, faces in one plane) tell nothing and are left out. Some crossings have no way out
that is known: deeper than can be told from thickness, a bar that goes in on one side and out on the other (its curves cancel: S = 0), or
more curves than there is room for. They are written down as unresolved, for whoever takes steps to refuse them.
"""

from __future__ import annotations

from math import sqrt

from unibody.arena import part
from unibody.collision.intersect import volume
from unibody.collision.rigid.contacts import RECORD
from unibody.collision.rigid.mesh_data import BOXES, ENDS, FACE_EDGES, FACES, LEAVES, RANGES, VERTICES
from unibody.collision.rigid.on_mesh import corners, entry, is_inside, nearest_face, put_in_world, reaches
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, store3, sub3

MOST_SEGMENTS = 512
"""Kept of one pair of shapes; what is crossed by more is no contact."""
CROSSING_FLOATS, CROSSING_INTS = 12 * MOST_SEGMENTS, 6 * MOST_SEGMENTS + 1
"""Room: per segment its ends and, for each end, the end of the edge there that is inside; the names of its ends, each an edge and a face,
whether the edges there are of the first shape, and the numbers of its part and its curve. The last integer: 1 + the first pair that is
unresolved."""
AS_DEEP, ALIKE = 0.5, 0.7
"""A contact as deep as this part of a curve, with a normal up to this cosine, says what the curve would."""
STEEP = 4.0
"""How much farther it is to a surface along a normal than the shortest way."""
CLEAR = 1e-9
"""Of sizes: what is crossed by less touches."""
AREA = 1e-6
"""Of the squared length of a curve: the least area from which there is a normal."""
OPEN = 1e-6
"""Of the length of a curve: how far its ends may be apart."""
THICK, CANCEL = 1e-4, 1e-4
"""Of sizes: what a bar goes through is at least as thick. Of the largest area of its curves: their sum is less."""


@device
def place(v, R, p, real, vertices):
    """Vertex v (of all) at the pose R, p."""
    return add3(p, rotate(R, load3(real, vertices + 3 * v)))


@device
def pierced(p, q, a, b, c):
    """Where the edge p … q passes through the triangle, as a part of it; −1 if it does not."""
    below = volume(p, a, b, c)
    above = volume(q, a, b, c)
    if below * above >= 0.0:
        return -1.0
    u = volume(p, q, a, b)
    v = volume(p, q, b, c)
    w = volume(p, q, c, a)
    if (u > 0.0 and v > 0.0 and w > 0.0) or (u < 0.0 and v < 0.0 and w < 0.0):
        return below / (below - above)
    return -1.0


@device
def overlapping(a, b, c, x, y, z):
    """Whether the boxes of two triangles meet."""
    for k in range(3):
        if min(a[k], min(b[k], c[k])) > max(x[k], max(y[k], z[k])) or max(a[k], max(b[k], c[k])) < min(x[k], min(y[k], z[k])):
            return False
    return True


@device
def note_end(n, end, name, first, at, inside, floats_out, ints_out):
    """One end of segment n: the crossing `name` at a point, with an edge of the first shape or not, whose inner end is given."""
    store3(at, 12 * n + 3 * end, floats_out)
    store3(inside, 12 * n + 6 + 3 * end, floats_out)
    ints_out[6 * n + end] = name
    ints_out[6 * n + 2 + end] = 1 if first else 0


@device
def faces_cross(n, f, g, a, b, c, x, y, z, span_i, span_j, whole, whole_at, floats_out, ints_out):
    """The segment that face f of shape i with corners a, b, c and face g of shape j with corners x, y, z share, as number n, pointing along
    n_A × n_B; gives how many segments there are then. `span`: first edge, first face and number of faces of each mesh."""
    ends = 0
    for k in range(6):
        of_i = k < 3
        m = k % 3
        if of_i:
            p, q = (b, c) if m == 0 else (c, a) if m == 1 else (a, b)
            t = pierced(p, q, x, y, z)
        else:
            p, q = (y, z) if m == 0 else (z, x) if m == 1 else (x, y)
            t = pierced(p, q, a, b, c)
        if t < 0.0:
            continue
        if ends == 2:
            return n
        if of_i:
            name = (entry(whole, whole_at, FACE_EDGES, 3 * f + m) - span_i[0]) * span_j[2] + g - span_j[1]
            inner = p if volume(p, x, y, z) > 0.0 else q
        else:
            name = (entry(whole, whole_at, FACE_EDGES, 3 * g + m) - span_j[0]) * span_i[2] + f - span_i[1]
            inner = p if volume(p, a, b, c) > 0.0 else q
        note_end(n, ends, 2 * name + (1 if of_i else 0), of_i, add3(p, scale3(t, sub3(q, p))), inner, floats_out, ints_out)
        ends += 1
    if ends < 2:
        return n
    along = cross(cross(sub3(b, a), sub3(c, a)), cross(sub3(y, x), sub3(z, x)))
    if dot3(sub3(load3(floats_out, 12 * n + 3), load3(floats_out, 12 * n)), along) < 0.0:
        for m in range(3):
            for pair in range(2):
                kept = floats_out[12 * n + 6 * pair + m]
                floats_out[12 * n + 6 * pair + m] = floats_out[12 * n + 6 * pair + 3 + m]
                floats_out[12 * n + 6 * pair + 3 + m] = kept
        for pair in range(2):
            held = ints_out[6 * n + 2 * pair]
            ints_out[6 * n + 2 * pair] = ints_out[6 * n + 2 * pair + 1]
            ints_out[6 * n + 2 * pair + 1] = held
    return n + 1


@kernel
def find_segments(
    i: int, j: int, frames: Floats, hull: Floats, mesh_of: Ints, real: Floats, real_at: Ints, whole: Ints, whole_at: Ints,
    floats_out: Floats, ints_out: Ints,
) -> int:  # fmt: skip
    """All segments that faces of shapes i and j share, in the frame of j; how many, at most MOST_SEGMENTS."""
    boxes = part(real, real_at, BOXES)
    ends = part(whole, whole_at, ENDS)
    leaves = part(whole, whole_at, LEAVES)
    faces = part(whole, whole_at, FACES)
    ranges = part(whole, whole_at, RANGES)
    R = load9(frames, 12 * i)
    S = load9(frames, 12 * j)
    d = sub3(load3(frames, 12 * i + 9), load3(frames, 12 * j + 9))
    # i in the frame of j: C x + e
    C = (
        dot3((S[0], S[3], S[6]), (R[0], R[3], R[6])), dot3((S[0], S[3], S[6]), (R[1], R[4], R[7])),
        dot3((S[0], S[3], S[6]), (R[2], R[5], R[8])), dot3((S[1], S[4], S[7]), (R[0], R[3], R[6])),
        dot3((S[1], S[4], S[7]), (R[1], R[4], R[7])), dot3((S[1], S[4], S[7]), (R[2], R[5], R[8])),
        dot3((S[2], S[5], S[8]), (R[0], R[3], R[6])), dot3((S[2], S[5], S[8]), (R[1], R[4], R[7])),
        dot3((S[2], S[5], S[8]), (R[2], R[5], R[8])),
    )  # fmt: skip
    e = rotate_back(S, d)
    # of each mesh: its first edge, its first face and its number of faces
    span_i = (ranges[8 * mesh_of[i] + 4], ranges[8 * mesh_of[i] + 2], ranges[8 * mesh_of[i] + 3] - ranges[8 * mesh_of[i] + 2])
    span_j = (ranges[8 * mesh_of[j] + 4], ranges[8 * mesh_of[j] + 2], ranges[8 * mesh_of[j] + 3] - ranges[8 * mesh_of[j] + 2])
    vertices = real_at[2 * VERTICES]
    n = 0
    node = ranges[8 * mesh_of[i]]
    root = ranges[8 * mesh_of[j]]
    while node < ranges[8 * mesh_of[i] + 1]:
        # the node's box in the frame of j
        b = 6 * node
        m = (0.5 * (boxes[b] + boxes[b + 3]), 0.5 * (boxes[b + 1] + boxes[b + 4]), 0.5 * (boxes[b + 2] + boxes[b + 5]))
        h = (0.5 * (boxes[b + 3] - boxes[b]), 0.5 * (boxes[b + 4] - boxes[b + 1]), 0.5 * (boxes[b + 5] - boxes[b + 2]))
        m = add3(e, rotate(C, m))
        h = (
            abs(C[0]) * h[0] + abs(C[1]) * h[1] + abs(C[2]) * h[2], abs(C[3]) * h[0] + abs(C[4]) * h[1] + abs(C[5]) * h[2],
            abs(C[6]) * h[0] + abs(C[7]) * h[1] + abs(C[8]) * h[2],
        )  # fmt: skip
        low, high = sub3(m, h), add3(m, h)
        # a node that misses the other mesh is skipped with all below it; only leaves are compared
        if not reaches(boxes, root, low, high):
            node = ends[node]
            continue
        if leaves[2 * node + 1] == 0:
            node += 1
            continue
        other = root
        while other < ranges[8 * mesh_of[j] + 1]:
            if not reaches(boxes, other, low, high):
                other = ends[other]
                continue
            for f in range(leaves[2 * node], leaves[2 * node] + leaves[2 * node + 1]):
                if leaves[2 * other + 1] == 0:
                    break
                p = place(faces[3 * f], C, e, real, vertices)
                q = place(faces[3 * f + 1], C, e, real, vertices)
                r = place(faces[3 * f + 2], C, e, real, vertices)
                for g in range(leaves[2 * other], leaves[2 * other] + leaves[2 * other + 1]):
                    x = load3(real, vertices + 3 * faces[3 * g])
                    y = load3(real, vertices + 3 * faces[3 * g + 1])
                    z = load3(real, vertices + 3 * faces[3 * g + 2])
                    if n < MOST_SEGMENTS and overlapping(p, q, r, x, y, z):
                        n = faces_cross(n, f, g, p, q, r, x, y, z, span_i, span_j, whole, whole_at, floats_out, ints_out)
            other += 1
        node += 1
    return n


@device
def share_end(k, l, ints):
    """Whether two segments meet in a crossing of the same edge and face."""
    a, b, c, d = ints[6 * k], ints[6 * k + 1], ints[6 * l], ints[6 * l + 1]
    return a == c or a == d or b == c or b == d


@device
def merge(one, other, n, column, ints_out):
    """Give the segments of two numbers the lesser."""
    old, new = max(one, other), min(one, other)
    for m in range(n):
        if ints_out[6 * m + column] == old:
            ints_out[6 * m + column] = new


@device
def way_out(k, end, n, count_i, count_j, floats, ints):
    """Where the edge at an end of segment k comes out again before its inner end: at which segment (−1 if it does not), and the point."""
    name = ints[6 * k + end]
    width = count_j if name % 2 == 1 else count_i
    x = load3(floats, 12 * k + 3 * end)
    inwards = sub3(load3(floats, 12 * k + 6 + 3 * end), x)
    nearest, found, at = 1e300, -1, x
    for l in range(n):
        for m in range(2):
            other = ints[6 * l + m]
            if other != name and other % 2 == name % 2 and (other // 2) // width == (name // 2) // width:
                y = load3(floats, 12 * l + 3 * m)
                ahead = dot3(sub3(y, x), inwards)
                if 0.0 < ahead < nearest:
                    nearest, found, at = ahead, l, y
    return found, at


@kernel
def number_parts(n: int, count_i: int, count_j: int, floats: Floats, ints_out: Ints) -> None:
    """The numbers of the part and of the curve of every segment: the first segment of each."""
    for k in range(n):
        ints_out[6 * k + 5] = k
        for l in range(k):
            if ints_out[6 * l + 5] != ints_out[6 * k + 5] and share_end(k, l, ints_out):
                merge(ints_out[6 * l + 5], ints_out[6 * k + 5], k + 1, 5, ints_out)
    for k in range(n):
        ints_out[6 * k + 4] = ints_out[6 * k + 5]
    for k in range(n):
        for end in range(2):
            out, _ = way_out(k, end, n, count_i, count_j, floats, ints_out)
            if out >= 0 and ints_out[6 * out + 4] != ints_out[6 * k + 4]:
                merge(ints_out[6 * out + 4], ints_out[6 * k + 4], n, 4, ints_out)


@device
def area_of(number, column, n, floats, ints):
    """Middle, vector area and length of a part or curve; no length where it does not close."""
    middle = (0.0, 0.0, 0.0)
    around = (0.0, 0.0, 0.0)
    length = 0.0
    for k in range(number, n):
        if ints[6 * k + column] == number:
            a, b = load3(floats, 12 * k), load3(floats, 12 * k + 3)
            part_of = norm3(sub3(b, a))
            middle = add3(middle, scale3(0.5 * part_of, add3(a, b)))
            around = add3(around, sub3(b, a))
            length += part_of
    if length == 0.0 or norm3(around) > OPEN * length:
        return middle, (0.0, 0.0, 0.0), 0.0
    middle = scale3(1.0 / length, middle)
    area = (0.0, 0.0, 0.0)
    for k in range(number, n):
        if ints[6 * k + column] == number:
            area = add3(area, scale3(0.5, cross(sub3(load3(floats, 12 * k), middle), sub3(load3(floats, 12 * k + 3), middle))))
    return middle, area, length


@device
def goes_through(number, area, n, size, count_i, count_j, floats, ints):
    """Whether the curves of a part cancel, and what lies between them is thick."""
    largest, wide = 0.0, 0.0
    for k in range(number, n):
        if ints[6 * k + 4] == number:
            if ints[6 * k + 5] == k:
                _, own, _ = area_of(k, 5, n, floats, ints)
                largest = max(largest, norm3(own))
            for end in range(2):
                out, y = way_out(k, end, n, count_i, count_j, floats, ints)
                if out >= 0 and ints[6 * out + 5] != ints[6 * k + 5]:
                    wide = max(wide, norm3(sub3(y, load3(floats, 12 * k + 3 * end))))
    return wide > THICK * size and norm3(area) <= CANCEL * largest


@device
def to_surface(x, d, length, mesh, real, real_at, whole, whole_at):
    """How far it is from x along the unit vector d to the mesh, in its frame; 0 if it is farther than `length`."""
    boxes = part(real, real_at, BOXES)
    ends = part(whole, whole_at, ENDS)
    leaves = part(whole, whole_at, LEAVES)
    ranges = part(whole, whole_at, RANGES)
    y = add3(x, scale3(length, d))
    low = (min(x[0], y[0]), min(x[1], y[1]), min(x[2], y[2]))
    high = (max(x[0], y[0]), max(x[1], y[1]), max(x[2], y[2]))
    nearest = 2.0
    node = ranges[8 * mesh]
    while node < ranges[8 * mesh + 1]:
        if not reaches(boxes, node, low, high):
            node = ends[node]
            continue
        for f in range(leaves[2 * node], leaves[2 * node] + leaves[2 * node + 1]):
            a, b, c = corners(f, real, real_at, whole, whole_at)
            t = pierced(x, y, a, b, c)
            if t >= 0.0:
                nearest = min(nearest, t)
        node += 1
    return nearest * length if nearest <= 1.0 else 0.0


@device
def thickness(x, d, limit, mesh, real, real_at, whole, whole_at):
    """How far x, if it is inside the mesh, is from its surface along d; 0 outside. Not more than STEEP times the distance in any direction:
    so near to the surface that round-off decides, the way along d may miss it."""
    f, squared = nearest_face(x, 4.0 * limit, mesh, real, real_at, whole, whole_at)
    if f < 0 or not is_inside(x, 0.0, 4.0 * limit, mesh, real, real_at, whole, whole_at):
        return 0.0
    least = sqrt(squared)
    along = to_surface(x, d, 8.0 * limit, mesh, real, real_at, whole, whole_at)
    return min(along, STEEP * least) if along > 0.0 else least


@device
def depth_of(number, n, i, j, normal, limit, count_i, count_j, frames, mesh_of, real, real_at, whole, whole_at, floats, ints):
    """How deep the shapes are inside each other along the normal of a part."""
    R = load9(frames, 12 * i)
    S = load9(frames, 12 * j)
    d = sub3(load3(frames, 12 * i + 9), load3(frames, 12 * j + 9))
    towards = rotate_back(R, rotate(S, normal))
    back = scale3(-1.0, normal)
    depth = 0.0
    for k in range(number, n):
        if ints[6 * k + 4] != number:
            continue
        for end in range(2):
            out, y = way_out(k, end, n, count_i, count_j, floats, ints)
            inner = scale3(0.5, add3(load3(floats, 12 * k + 3 * end), y)) if out >= 0 else load3(floats, 12 * k + 6 + 3 * end)
            if ints[6 * k + 2 + end] == 1:
                depth = max(depth, thickness(inner, back, limit, mesh_of[j], real, real_at, whole, whole_at))
            else:
                own = rotate_back(R, sub3(rotate(S, inner), d))
                depth = max(depth, thickness(own, towards, limit, mesh_of[i], real, real_at, whole, whole_at))
    return depth


@device
def is_said(first, n, depth, normal, records):
    """Whether one of the contacts first … n says that the shapes overlap by about this depth along about this normal."""
    for k in range(first, min(n, records.size // RECORD)):
        if records[RECORD * k + 6] <= -AS_DEEP * depth and dot3(load3(records, RECORD * k + 3), normal) > ALIKE:
            return True
    return False


@device
def put_curves(
    n, first, pair, i, j, limit, frames, hull, mesh_of, margin, real, real_at, whole, whole_at, floats_out, ints_out, tags_out, records_out
):
    """Contacts of the curves along which shapes i and j cross, behind those that are there from `first` on; no deeper than `limit`."""
    count = find_segments(i, j, frames, hull, mesh_of, real, real_at, whole, whole_at, floats_out, ints_out)
    if count == 0:
        return n
    S = load9(frames, 12 * j)
    q = load3(frames, 12 * j + 9)
    count_i = entry(whole, whole_at, RANGES, 8 * mesh_of[i] + 3) - entry(whole, whole_at, RANGES, 8 * mesh_of[i] + 2)
    count_j = entry(whole, whole_at, RANGES, 8 * mesh_of[j] + 3) - entry(whole, whole_at, RANGES, 8 * mesh_of[j] + 2)
    size = hull[6 * j + 3] + hull[6 * j + 4] + hull[6 * j + 5] + hull[6 * i + 3] + hull[6 * i + 4] + hull[6 * i + 5]
    number_parts(count, count_i, count_j, floats_out, ints_out)
    unresolved = count == MOST_SEGMENTS
    for number in range(count):
        if ints_out[6 * number + 4] != number:
            continue
        middle, area, length = area_of(number, 4, count, floats_out, ints_out)
        if length == 0.0:
            continue
        if goes_through(number, area, count, size, count_i, count_j, floats_out, ints_out):
            unresolved = True
            continue
        if norm3(area) <= AREA * length * length:
            continue
        normal = scale3(1.0 / norm3(area), area)
        depth = depth_of(
            number, count, i, j, normal, limit, count_i, count_j, frames, mesh_of, real, real_at, whole, whole_at, floats_out, ints_out
        )
        if depth > limit:
            unresolved = True
        elif depth > CLEAR * size and not is_said(first, n, depth, rotate(S, normal), records_out):
            name = (1 << 30) + ((ints_out[6 * number] * 40503 + number) & 0x3FFFFFFF)
            at = add3(middle, scale3(0.5 * depth, normal))
            n = put_in_world(n, pair, name, False, margin, at, normal, -depth, S, q, tags_out, records_out)
    if unresolved and ints_out[CROSSING_INTS - 1] == 0:
        ints_out[CROSSING_INTS - 1] = 1 + pair
    return n
