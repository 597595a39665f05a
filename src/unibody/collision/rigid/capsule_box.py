"""A capsule and a box: the segment of the capsule against the faces and edges of the box.

Separating axes are the three faces and the three edge directions across the segment. Apart, the nearest points lie at an end of the segment
or between it and an edge. Over a face the segment is cut to it and both ends of what is left are contacts, so that a lying capsule rests
on two points. A capsule level with a face that it is not over passes it (see `flush`), each end with its own gap.
"""

from __future__ import annotations

from unibody.collision.rigid.box_pairs import ALMOST_FACE
from unibody.collision.rigid.clip import corner_of, cut_to_rectangle, edge_start, put_corner
from unibody.collision.rigid.contacts import flush_within, put
from unibody.collision.rigid.kinds import CAPSULE
from unibody.collision.rigid.nearest import nearest_of_box
from unibody.collision.rigid.thinning import thin_out
from unibody.collision.stencils import closest_of_edges
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, sub3


@device
def along(k, s):
    """s times the axis k."""
    return (s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0)


@device
def deepest_axis(a, b, h):
    """Greatest separation of the segment and the box, its outward normal, and the axis (0–2 faces, 3–5 edges)."""
    c = scale3(0.5, add3(a, b))
    d = scale3(0.5, sub3(b, a))
    best = -1e300
    normal = (0.0, 0.0, 1.0)
    code = 0
    for k in range(3):
        s = abs(c[k]) - h[k] - abs(d[k])
        if s > best + 1e-12 * h[k]:
            best = s
            normal = along(k, 1.0 if c[k] >= 0.0 else -1.0)
            code = k
    for k in range(3):
        n = cross(along(k, 1.0), d)
        length = norm3(n)
        if length > 1e-6 * norm3(d):
            n = scale3(1.0 / length, n)
            s = abs(dot3(n, c)) - h[0] * abs(n[0]) - h[1] * abs(n[1]) - h[2] * abs(n[2])
            if s > best + 1e-10 * (h[0] + h[1] + h[2]):
                best = s
                normal = n if dot3(n, c) >= 0.0 else scale3(-1.0, n)
                code = 3 + k
    return best, normal, code


@device
def nearest_apart(a, b, h):
    """Nearest points of a segment and a box that are apart: distance, outward normal, point of the box, feature."""
    d, normal, q = nearest_of_box(a, h)
    feature = 10
    e, other, x = nearest_of_box(b, h)
    if e < d:
        d, normal, q = e, other, x
        feature = 11
    for k in range(12):
        c = corner_of(h, edge_start(k))
        f = corner_of(h, edge_start(k) + (1 << (k // 4)))
        s, t = closest_of_edges(a, b, c, f)
        x = add3(c, scale3(t, sub3(f, c)))
        r = sub3(add3(a, scale3(s, sub3(b, a))), x)
        length = norm3(r)
        if 0.0 < length < d * (1.0 - 1e-12):
            d, normal, q = length, scale3(1.0 / length, r), x
            feature = 20 + k
    return d, normal, q, feature


@device
def flush_faces(a, b, h, radius):
    """With how many faces of the box the capsule is level, and the outward normal of the last."""
    level = flush_within(min(radius, min(h[0], min(h[1], h[2]))), radius + h[0] + h[1] + h[2])
    c = scale3(0.5, add3(a, b))
    d = scale3(0.5, sub3(b, a))
    faces = 0
    up = (0.0, 0.0, 0.0)
    for k in range(3):
        if abs(abs(c[k]) - abs(d[k]) - h[k] - radius) <= level:
            faces += 1
            up = along(k, 1.0 if c[k] >= 0.0 else -1.0)
    return faces, up


@device
def edge_point(k, normal, a, b, h):
    """The point of the box's support edge along axis k that is nearest to the line of the segment."""
    c = (h[0] if normal[0] > 0.0 else -h[0], h[1] if normal[1] > 0.0 else -h[1], h[2] if normal[2] > 0.0 else -h[2])
    u = along(k, 1.0)
    c = sub3(c, along(k, c[k]))
    v = sub3(b, a)
    r = sub3(a, c)
    vv = dot3(v, v)
    uv = dot3(u, v)
    s = (dot3(r, u) * vv - dot3(r, v) * uv) / (vv - uv * uv)
    return add3(c, along(k, min(h[k], max(-h[k], s))))


@device
def over_face(n, pair, axis, side, a, b, h, R, p, radius, flip, margin, tags_out, records_out, work_out, labels_out):
    """The ends of the part of the segment over a face."""
    i1 = (axis + 1) % 3
    i2 = (axis + 2) % 3
    put_corner(0, 0, a[i1], a[i2], side * a[axis] - h[axis], 0, 0, work_out, labels_out)
    put_corner(1, 0, b[i1], b[i2], side * b[axis] - h[axis], 1, 1, work_out, labels_out)
    m = cut_to_rectangle(2, h[i1], h[i2], 1e-9 * (h[i1] + h[i2]), work_out, labels_out)
    up = rotate(R, along(axis, side))
    for c in range(m):
        x = add3(along(i1, work_out[3 * c]), add3(along(i2, work_out[3 * c + 1]), along(axis, side * h[axis])))
        gap = work_out[3 * c + 2] - radius
        name = 1000 + 10 * (2 * axis + (1 if side > 0.0 else 0)) + c
        n = put(n, pair, name, flip, margin, add3(p, rotate(R, x)), up, gap, tags_out, records_out)
    return n


@device
def box_with_capsule(n, pair, a, b, radius, h, R, p, flip, margin, tags_out, records_out, work_out, labels_out):
    """All contacts of a box and the segment a, b, given in the box's frame, with its radius."""
    # the axis of least overlap of the segment and the box: a face's, or a cross product with an edge
    depth, normal, code = deepest_axis(a, b, h)
    if depth - radius > margin:
        return n
    point = (0.0, 0.0, 0.0)
    feature = 100 + code
    passes = False
    # apart: the nearest points instead; a capsule level with one face takes that face's normal, one level with two touches nothing
    if depth > 0.0:
        depth, normal, point, feature = nearest_apart(a, b, h)
        faces, up = flush_faces(a, b, h, radius)
        if faces > 1:
            return n
        if faces == 1 and dot3(up, normal) < 1.0 - 1e-12:
            point = add3(point, scale3(depth, sub3(normal, up)))
            normal = up
            passes = True
    elif code >= 3:
        point = edge_point(code - 3, normal, a, b, h)
    # the face that the normal is nearest to; the segment cut to it gives up to two contacts
    axis = 0
    if abs(normal[1]) > abs(normal[axis]):
        axis = 1
    if abs(normal[2]) > abs(normal[axis]):
        axis = 2
    before = n
    if abs(normal[axis]) > ALMOST_FACE:
        side = 1.0 if normal[axis] > 0.0 else -1.0
        n = over_face(n, pair, axis, side, a, b, h, R, p, radius, flip, margin, tags_out, records_out, work_out, labels_out)
    # where the normal is the face's own, these are all
    flat = abs(normal[axis]) > 1.0 - 1e-12
    if flat and n > before:
        return n
    # level with the face and not over it: its ends
    if passes:
        for end in range(2):
            c = a if end == 0 else b
            d, _, _ = nearest_of_box(c, h)
            x = add3(p, rotate(R, sub3(c, scale3(d, normal))))
            n = put(n, pair, 10 + end, flip, margin, x, rotate(R, normal), d - radius, tags_out, records_out)
        if feature < 20:
            return n
    # what is left is one contact: inside, the lower end, put onto the face
    if flat and depth <= 0.0:
        side = 1.0 if normal[axis] > 0.0 else -1.0
        low = a if side * a[axis] < side * b[axis] else b
        point = add3(sub3(low, along(axis, low[axis])), along(axis, side * h[axis]))
    return put(n, pair, feature, flip, margin, add3(p, rotate(R, point)), rotate(R, normal), depth - radius, tags_out, records_out)


@kernel
def capsule_box_contacts(
    n: int, order: Ints, pairs: Ints, kind: Ints, frames: Floats, size: Floats, margin: float, tags_out: Ints, records_out: Floats,
    work_out: Floats, labels_out: Ints,
) -> int:  # fmt: skip
    """Contacts of the pairs of a capsule and a box listed in `order`; gives how many contacts there are now."""
    for k in range(order.size):
        pair = order[k]
        flip = kind[pairs[2 * pair]] == CAPSULE
        i = pairs[2 * pair + 1] if flip else pairs[2 * pair]
        j = pairs[2 * pair] if flip else pairs[2 * pair + 1]
        R = load9(frames, 12 * i)
        p = load3(frames, 12 * i + 9)
        c = rotate_back(R, sub3(load3(frames, 12 * j + 9), p))
        u = rotate_back(R, (frames[12 * j + 2], frames[12 * j + 5], frames[12 * j + 8]))
        a = sub3(c, scale3(size[4 * j + 1], u))
        b = add3(c, scale3(size[4 * j + 1], u))
        first = n
        n = box_with_capsule(
            n, pair, a, b, size[4 * j], load3(size, 4 * i), R, p, flip, margin, tags_out, records_out, work_out, labels_out
        )
        n = thin_out(first, n, i, j, frames, tags_out, records_out)
    return n
