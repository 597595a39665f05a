"""Manifolds of convex shapes from one contact: the faces or lines that each turns towards the other, cut to each other.

coal gives the nearest points and the normal. Along it each shape offers a polygon (a face of a box or a mesh, the cap of a cylinder), a
line (an edge, the mantle of a cylinder or capsule) or a point, if the normal is within some degrees of being theirs. The other's polygon
or line is cut to a polygon; two nearly parallel lines share a piece. What coal found is kept where none of these points says the same, in
place of one that is where it is. Contacts have the names of `hull_features`.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

from unibody.collision.rigid.clip import LABELS, ROOM, bit, cut, face_corner, put_corner
from unibody.collision.rigid.contacts import RECORD, put, put_once
from unibody.collision.rigid.hull_climbing import farthest_corner
from unibody.collision.rigid.hull_features import RIMS, corner_tag, cut_tag
from unibody.collision.rigid.kinds import BOX, CAPSULE, CONVEX, CYLINDER
from unibody.collision.rigid.nearest import any_perpendicular
from unibody.collision.rigid.thinning import thin_out
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, store3, sub3

FACE = 0.95
"""Cosine from which a face is turned towards the other."""
LINE = 0.17
"""Sine up to which a line is."""
CAP = 16
"""Corners of a cylinder's cap."""
MOST_CORNERS = 32
FLAT = 1e-6
"""Of the cosine of a normal with a face's: less is none."""
SAME = 1e-6
"""Of the distance of two shapes' middles: points this near are one."""


@device
def put_point(at, x, corner, edge, points_out, numbers_out):
    """The corner x of what is offered, its number and that of the edge which leaves it."""
    store3(x, 3 * at, points_out)
    numbers_out[2 * at] = corner
    numbers_out[2 * at + 1] = edge


@device
def offer_box(d, h, R, p, at, points_out, numbers_out):
    """Face or edge of a box towards d: number of points."""
    k = 0
    if abs(d[1]) > abs(d[k]):
        k = 1
    if abs(d[2]) > abs(d[k]):
        k = 2
    i = (k + 1) % 3
    j = (k + 2) % 3
    if abs(d[k]) > FACE:
        for c in range(4):
            e = 1.0 if c == 0 or c == 3 else -1.0
            f = 1.0 if c < 2 else -1.0
            x = (axis3(k, d[k] / abs(d[k]) * h[k]), axis3(i, e * h[i]), axis3(j, f * h[j]))
            code = face_corner(k, d[k] > 0.0, c)
            along = i if c % 2 == 0 else j
            number = 8 * along + (code & ~(1 << along))
            put_point(at + c, add3(p, rotate(R, add3(x[0], add3(x[1], x[2])))), code, number, points_out, numbers_out)
        return 4
    k = 0
    if abs(d[1]) < abs(d[k]):
        k = 1
    if abs(d[2]) < abs(d[k]):
        k = 2
    if abs(d[k]) < LINE:
        x = (h[0] if d[0] > 0.0 else -h[0], h[1] if d[1] > 0.0 else -h[1], h[2] if d[2] > 0.0 else -h[2])
        x = sub3(x, axis3(k, x[k]))
        code = box_corner(d) & ~(1 << k)
        for end in range(2):
            y = add3(x, axis3(k, h[k] if end == 1 else -h[k]))
            put_point(at + end, add3(p, rotate(R, y)), code + (end << k), 8 * k + code, points_out, numbers_out)
        return 2
    return 1


@device
def box_corner(d):
    """Code of the corner of a box towards d."""
    return bit(0, d[0] > 0.0) | bit(1, d[1] > 0.0) | bit(2, d[2] > 0.0)


@device
def axis3(k, s):
    return (s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0)


@device
def offer_round(d, radius, half, capped, R, p, at, points_out, numbers_out):
    """Cap or mantle line of a cylinder (capped) or capsule about z."""
    across = sqrt(d[0] * d[0] + d[1] * d[1])
    if capped and abs(d[2]) > FACE:
        z = half if d[2] > 0.0 else -half
        for c in range(CAP):
            turn = 2.0 * pi * c / CAP
            number = c + (CAP if d[2] > 0.0 else 0)
            put_point(at + c, add3(p, rotate(R, (radius * cos(turn), radius * sin(turn), z))), number, number, points_out, numbers_out)
        return CAP
    if abs(d[2]) < LINE:
        x = radius * d[0] / across
        y = radius * d[1] / across
        for end in range(2):
            z = half if end == 1 else -half
            put_point(at + end, add3(p, rotate(R, (x, y, z))), RIMS + end, RIMS, points_out, numbers_out)
        return 2
    return 1


@device
def offer_polygon(d, first, last, start, corners, normals, numbers, R, p, at, points_out, numbers_out):
    """The polygon of a convex mesh that faces d most."""
    best = FACE
    chosen = -1
    for k in range(first, last):
        facing = dot3(d, load3(normals, 3 * k))
        if facing > best + 1e-9:
            best = facing
            chosen = k
    if chosen < 0:
        return 1
    m = 0
    count = start[chosen + 1] - start[chosen]
    for c in range(min(count, MOST_CORNERS)):
        k = start[chosen] + (c if count <= MOST_CORNERS else c * count // MOST_CORNERS)
        put_point(at + m, add3(p, rotate(R, load3(corners, 3 * k))), numbers[2 * k], numbers[2 * k + 1], points_out, numbers_out)
        m += 1
    return m


@device
def plane_of(m, at, towards, points):
    """Unit normal of a polygon, on the side of `towards`."""
    normal = (0.0, 0.0, 0.0)
    a = load3(points, 3 * at)
    for k in range(1, m - 1):
        normal = add3(normal, cross(sub3(load3(points, 3 * (at + k)), a), sub3(load3(points, 3 * (at + k + 1)), a)))
    return scale3((1.0 if dot3(normal, towards) >= 0.0 else -1.0) / norm3(normal), normal)


@device
def cut_polygons(n, pair, own, m, at, mi, at_i, up, margin, points, numbers, tags_out, records_out, work_out, labels_out):
    """The polygon or line of mi points at `at_i` cut to the polygon of m points at `at` with the normal up; gives contacts, least gap."""
    e1 = any_perpendicular(up)
    e2 = cross(up, e1)
    o = load3(points, 3 * at)
    scale = 0.0
    for c in range(mi):
        r = sub3(load3(points, 3 * (at_i + c)), o)
        scale = max(scale, norm3(r))
        put_corner(c, 0, dot3(r, e1), dot3(r, e2), dot3(r, up), c, c, work_out, labels_out)
    area = 0.0
    for k in range(1, m - 1):
        a = sub3(load3(points, 3 * (at + k)), o)
        b = sub3(load3(points, 3 * (at + k + 1)), o)
        area += dot3(cross(a, b), up)
    turn = 1.0 if area >= 0.0 else -1.0
    left = mi
    source = 0
    for k in range(m):
        a = sub3(load3(points, 3 * (at + k)), o)
        b = sub3(load3(points, 3 * (at + (k + 1) % m)), o)
        nu = turn * dot3(sub3(b, a), e2)
        nv = -turn * dot3(sub3(b, a), e1)
        length = sqrt(nu * nu + nv * nv)
        if length > 0.0:
            nu /= length
            nv /= length
            left = cut(left, k, nu, nv, nu * dot3(a, e1) + nv * dot3(a, e2), 1e-9 * scale, source, ROOM - source, work_out, labels_out)
            source = ROOM - source
    least = 1e300
    for c in range(left):
        i = source + c
        gap = work_out[3 * i + 2]
        least = min(least, gap)
        x = add3(o, add3(scale3(work_out[3 * i], e1), add3(scale3(work_out[3 * i + 1], e2), scale3(gap, up))))
        name = cut_tag(labels_out[2 * i], own, m, at, at_i, numbers)
        n = put(n, pair, name, not own, margin, sub3(x, scale3(gap, up)), up, gap, tags_out, records_out)
    return n, least


@device
def share_lines(n, pair, normal, margin, points, numbers, tags_out, records_out):
    """Ends of the common piece of two nearly parallel lines, the second at MOST_CORNERS; gives contacts, least gap."""
    a = load3(points, 0)
    u = sub3(load3(points, 3), a)
    c = load3(points, 3 * MOST_CORNERS)
    v = sub3(load3(points, 3 * MOST_CORNERS + 3), c)
    uu = dot3(u, u)
    uv = dot3(u, v)
    if dot3(cross(u, v), cross(u, v)) > 1e-2 * uu * dot3(v, v):
        return n, 1e300
    e = dot3(sub3(c, a), u) / uu
    f = e + uv / uu
    low = max(0.0, min(e, f))
    high = min(1.0, max(e, f))
    least = 1e300
    if high - low < 1e-3:
        return n, least
    for k in range(2):
        s = low if k == 0 else high
        x = add3(a, scale3(s, u))
        y = add3(c, scale3((s - e) / (f - e), v))
        gap = dot3(sub3(y, x), normal)
        least = min(least, gap)
        of_b = 0.0 < low if k == 0 else high < 1.0
        end = MOST_CORNERS + ((k + (1 if f < e else 0)) % 2) if of_b else k
        n = put(n, pair, corner_tag(numbers[2 * end], of_b), False, margin, x, normal, gap, tags_out, records_out)
    return n, least


@device
def offer(i, d, at, kind, frames, size, range_of, start, corners, normals, numbers, points_out, numbers_out):
    """What shape i turns towards the direction d (in the world): number of points written at `at`."""
    R = load9(frames, 12 * i)
    p = load3(frames, 12 * i + 9)
    y = rotate_back(R, d)
    if kind[i] == BOX:
        return offer_box(y, load3(size, 4 * i), R, p, at, points_out, numbers_out)
    if kind[i] == CYLINDER or kind[i] == CAPSULE:
        return offer_round(y, size[4 * i], size[4 * i + 1], kind[i] == CYLINDER, R, p, at, points_out, numbers_out)
    if kind[i] == CONVEX:
        return offer_polygon(
            y, range_of[2 * i], range_of[2 * i + 1], start, corners, normals, numbers, R, p, at, points_out, numbers_out
        )
    return 1


@device
def top_corner(i, d, kind, frames, range_of, start, corners, numbers):
    """Number of the corner of shape i that is farthest along d (in the world)."""
    y = rotate_back(load9(frames, 12 * i), d)
    if kind[i] == BOX:
        return box_corner(y)
    if kind[i] != CONVEX:
        return RIMS + (1 if y[2] > 0.0 else 0)
    return numbers[2 * farthest_corner(i, y, range_of, start, corners)]


@device
def tag_at(first, n, x, gap, tilt, size, tag, tags, records):
    """The tag of the one of contacts first … n whose point on a is x, up to what the tilt of its normal moves it, or else `tag`."""
    for i in range(first, min(n, records.size // RECORD)):
        r = sub3(load3(records, RECORD * i), x)
        if norm3(r) <= SAME * size + tilt * (abs(gap) + abs(records[RECORD * i + 6])):
            return tags[2 * i + 1]
    return tag


@kernel
def manifolds(
    n: int, order: Ints, touching: Floats, pairs: Ints, kind: Ints, frames: Floats, size: Floats, range_of: Ints, start: Ints,
    corners: Floats, normals: Floats, numbers: Ints, margin: float, tags_out: Ints, records_out: Floats, work_out: Floats,
    labels_out: Ints, points_out: Floats,
) -> int:  # fmt: skip
    """Contacts of the pairs in `order`, of each of which one (point on a, normal, gap) is known; gives how many there are now. Numbers of
    corners and edges on offer stand in `labels_out` behind the labels."""
    numbers_out = labels_out[LABELS:]
    for k in range(order.size):
        pair = order[k]
        i = pairs[2 * pair]
        j = pairs[2 * pair + 1]
        point = load3(touching, 7 * k)
        normal = load3(touching, 7 * k + 3)
        gap = touching[7 * k + 6]
        if gap > margin:
            continue
        # what each shape turns towards the other: a point, a line or a polygon of m corners
        first = n
        back = scale3(-1.0, normal)
        ma, mb = 1, 1
        for side in range(2):
            d = normal if side == 0 else back
            at = side * MOST_CORNERS
            m = offer(
                i if side == 0 else j, d, at, kind, frames, size, range_of, start, corners, normals, numbers, points_out, numbers_out
            )
            if side == 0:
                ma = m
            else:
                mb = m
        # planes of polygons, and how much they face the normal
        least = 1e300
        up, down = normal, back
        own, other = 0.0, 0.0
        if ma > 2:
            up = plane_of(ma, 0, normal, points_out)
            own = dot3(up, normal)
        if mb > 2:
            down = plane_of(mb, MOST_CORNERS, back, points_out)
            other = dot3(down, back)
        facing = 1.0
        # a polygon cuts the other's polygon or line; the one that faces the normal better is the reference
        if max(ma, mb) > 2 and min(ma, mb) > 1:
            of_a = ma > 2 and other <= own + 1e-9
            facing = own if of_a else other
            at = 0 if of_a else MOST_CORNERS
            n, least = cut_polygons(
                n, pair, of_a, ma if of_a else mb, at, mb if of_a else ma, MOST_CORNERS - at, up if of_a else down, margin, points_out,
                numbers_out, tags_out, records_out, work_out, labels_out,
            )  # fmt: skip
        if ma == 2 and mb == 2:
            n, least = share_lines(n, pair, normal, margin, points_out, numbers_out, tags_out, records_out)
        # the contact that is known stays where none of these is as deep, or where no face has its normal
        scale = norm3(sub3(load3(frames, 12 * i + 9), load3(frames, 12 * j + 9)))
        if least > gap + SAME * (abs(gap) + scale) or facing < 1.0 - FLAT:
            tag = 0
            if max(own, other) > 1.0 - FLAT:
                of_b = own > other
                tag = top_corner(j if of_b else i, back if of_b else normal, kind, frames, range_of, start, corners, numbers)
                tag = corner_tag(tag, of_b)
            tag = tag_at(first, n, point, gap, sqrt(max(0.0, 1.0 - facing * facing)), scale, tag, tags_out, records_out)
            n = put_once(first, n, True, pair, tag, margin, point, normal, gap, tags_out, records_out)
        n = thin_out(first, n, i, j, frames, tags_out, records_out)
    return n
