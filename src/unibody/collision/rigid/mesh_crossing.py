"""Where the surfaces of two polyhedra cross: the curves of intersection, and the contact that parts them.

Faces of A and B that cross share a segment between two points at which an edge of one passes through the face of the other; every such
point belongs to two segments, so that these make closed curves. The part of ∂A inside B that a curve bounds has the vector area

    S = ∫ n_A dA = ½ ∮ (x − c) × dx          dx along n_A × n_B, c any point

which is minus the gradient of the common volume with the position of B: along n = S / |S|, from A to B, they come apart fastest. No vertex
has to be inside and no edge has to be convex, so that edges across edges, and tubes in the hollows of others, have a normal too. The depth
is how far that part of ∂A goes beyond the part of ∂B inside A,

    d = max n · a − min n · b

over points of the curve and the ends of edges next to it that are inside. A curve gives a contact where vertices and ridges (`mesh_pairs`)
have found none that is as deep along about the same normal.
"""

from __future__ import annotations

from unibody.arena import part
from unibody.collision.intersect import volume
from unibody.collision.rigid.emit import RECORD
from unibody.collision.rigid.mesh_data import BOXES, ENDS, FACE_EDGES, FACES, LEAVES, RANGES, VERTICES
from unibody.collision.rigid.on_mesh import entry, put_in_world, reaches
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, store3, sub3

MOST_SEGMENTS = 512
"""Kept of one pair of shapes; what is crossed by more is no contact."""
CROSSING_FLOATS, CROSSING_INTS = 12 * MOST_SEGMENTS, 6 * MOST_SEGMENTS
"""Room: per segment its ends and, for each end, the end of the edge there that is inside; the names of its ends, each an edge and a face,
the number of its curve, and whether its second edge is of the first shape."""
AS_DEEP, ALIKE = 0.5, 0.7
"""A contact as deep as this part of a curve, with a normal up to this cosine, says what the curve would."""
CLEAR = 1e-9
"""Of sizes: what is crossed by less touches."""
AREA = 1e-6
"""Of the squared length of a curve: the least area from which there is a normal."""


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


@kernel
def number_curves(n: int, ints_out: Ints) -> None:
    """The number of the curve of every segment: the first segment of it."""
    for k in range(n):
        ints_out[6 * k + 4] = k
    for k in range(n):
        for l in range(k):
            if ints_out[6 * l + 4] != ints_out[6 * k + 4] and share_end(k, l, ints_out):
                old, new = max(ints_out[6 * l + 4], ints_out[6 * k + 4]), min(ints_out[6 * l + 4], ints_out[6 * k + 4])
                for m in range(k + 1):
                    if ints_out[6 * m + 4] == old:
                        ints_out[6 * m + 4] = new


@device
def passes_on(k, end, n, count_i, count_j, ints):
    """Whether the edge at an end of segment k crosses another face too: then its end is not known to be inside."""
    name = ints[6 * k + end]
    width = count_j if name % 2 == 1 else count_i
    for l in range(n):
        for m in range(2):
            other = ints[6 * l + m]
            if other != name and other % 2 == name % 2 and (other // 2) // width == (name // 2) // width:
                return True
    return False


@device
def curve_of(curve, n, count_i, count_j, floats, ints):
    """Of one curve: its middle, its vector area, how far A goes beyond its middle along the area's direction, and how deep."""
    middle = (0.0, 0.0, 0.0)
    length = 0.0
    for k in range(curve, n):
        if ints[6 * k + 4] == curve:
            a, b = load3(floats, 12 * k), load3(floats, 12 * k + 3)
            part_of = norm3(sub3(b, a))
            middle = add3(middle, scale3(0.5 * part_of, add3(a, b)))
            length += part_of
    middle = scale3(1.0 / length, middle) if length > 0.0 else load3(floats, 12 * curve)
    area = (0.0, 0.0, 0.0)
    for k in range(curve, n):
        if ints[6 * k + 4] == curve:
            area = add3(area, scale3(0.5, cross(sub3(load3(floats, 12 * k), middle), sub3(load3(floats, 12 * k + 3), middle))))
    size = norm3(area)
    if size <= AREA * length * length:
        return middle, area, 0.0, 0.0
    normal = scale3(1.0 / size, area)
    top, bottom = -1e300, 1e300
    for k in range(curve, n):
        if ints[6 * k + 4] != curve:
            continue
        for end in range(2):
            height = dot3(normal, sub3(load3(floats, 12 * k + 3 * end), middle))
            top, bottom = max(top, height), min(bottom, height)
            if not passes_on(k, end, n, count_i, count_j, ints):
                height = dot3(normal, sub3(load3(floats, 12 * k + 6 + 3 * end), middle))
                if ints[6 * k + 2 + end] == 1:
                    top = max(top, height)
                else:
                    bottom = min(bottom, height)
    return middle, area, top, top - bottom


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
    number_curves(count, ints_out)
    S = load9(frames, 12 * j)
    q = load3(frames, 12 * j + 9)
    count_i = entry(whole, whole_at, RANGES, 8 * mesh_of[i] + 3) - entry(whole, whole_at, RANGES, 8 * mesh_of[i] + 2)
    count_j = entry(whole, whole_at, RANGES, 8 * mesh_of[j] + 3) - entry(whole, whole_at, RANGES, 8 * mesh_of[j] + 2)
    size = hull[6 * j + 3] + hull[6 * j + 4] + hull[6 * j + 5] + hull[6 * i + 3] + hull[6 * i + 4] + hull[6 * i + 5]
    for curve in range(count):
        if ints_out[6 * curve + 4] != curve:
            continue
        middle, area, top, depth = curve_of(curve, count, count_i, count_j, floats_out, ints_out)
        if depth <= CLEAR * size or depth > limit:
            continue
        normal = scale3(1.0 / norm3(area), area)
        if not is_said(first, n, depth, rotate(S, normal), records_out):
            name = (1 << 30) + ((ints_out[6 * curve] * 40503 + curve) & 0x3FFFFFFF)
            n = put_in_world(n, pair, name, False, margin, add3(middle, scale3(top, normal)), normal, -depth, S, q, tags_out, records_out)
    return n
