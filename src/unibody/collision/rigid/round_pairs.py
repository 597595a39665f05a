"""Spheres and capsules against each other, and spheres against boxes, cylinders and ellipsoids: closed forms.

A capsule is the set of points within its radius of a segment, a sphere that of a point; two of them touch where these cores are nearest.
Nearly parallel capsules touch along a line: the ends of the common part are contacts too. Cores that meet have no direction between
them; then the normal lies across both. A sphere level with a face that it is not over passes it (see `flush`).
"""

from __future__ import annotations

from unibody.collision.rigid.contacts import flush_within, put
from unibody.collision.rigid.kinds import BOX, CAPSULE, CYLINDER, SPHERE
from unibody.collision.rigid.nearest import NOWHERE, any_perpendicular, nearest_of_box, nearest_of_cylinder, nearest_of_ellipsoid
from unibody.collision.stencils import closest_of_edges, closest_on_segment
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, sub3

PARALLEL = 1e-2
"""Squared sine below which two capsules touch along a line (6°)."""


@device
def axis_end(frames, i, z):
    """The point (0, 0, z) of shape i in the world."""
    k = 12 * i
    return (frames[k + 9] + z * frames[k + 2], frames[k + 10] + z * frames[k + 5], frames[k + 11] + z * frames[k + 8])


@device
def between_cores(p, q, spare, small):
    """Unit direction from p to q and their distance; `spare` where there is none."""
    r = sub3(q, p)
    d = norm3(r)
    if d <= small:
        return spare, 0.0
    return scale3(1.0 / d, r), d


@device
def past_box(d, n, y, h, radius):
    """The distance d and normal n from a box of half sides h to the middle y of a ball, where it is level with a face: along that one;
    nowhere where it is level with two."""
    level = flush_within(min(radius, min(h[0], min(h[1], h[2]))), radius + h[0] + h[1] + h[2])
    faces = 0
    m = n
    for k in range(3):
        if abs(abs(y[k]) - h[k] - radius) <= level:
            faces += 1
            s = 1.0 if y[k] >= 0.0 else -1.0
            m = (s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0)
    return d if faces < 2 else 1e300, m


@device
def sphere_in(i, j, kind, frames, size):
    """The sphere i against the solid j in closed form: (gap, normal from i to j, point on i)."""
    R = load9(frames, 12 * j)
    c = load3(frames, 12 * i + 9)
    y = rotate_back(R, sub3(c, load3(frames, 12 * j + 9)))
    if kind[j] == BOX:
        d, n, _ = nearest_of_box(y, load3(size, 4 * j))
        if d > 0.0:
            d, n = past_box(d, n, y, load3(size, 4 * j), size[4 * i])
    elif kind[j] == CYLINDER:
        d, n, _ = nearest_of_cylinder(y, size[4 * j], size[4 * j + 1])
    else:
        d, n, _ = nearest_of_ellipsoid(y, load3(size, 4 * j))
    normal = scale3(-1.0, rotate(R, n))
    return d - size[4 * i], normal, add3(c, scale3(size[4 * i], normal))


@device
def spare_direction(u, v, uu, vv):
    """Across both axes where they have directions; upwards for two points."""
    w = cross(u, v)
    if dot3(w, w) > 1e-12 * uu * vv:
        return scale3(1.0 / norm3(w), w)
    if uu > 0.0:
        return any_perpendicular(u)
    if vv > 0.0:
        return any_perpendicular(v)
    return (0.0, 0.0, 1.0)


@device
def round_with_round(n, pair, i, j, kind, frames, size, margin, tags_out, records_out):
    """Two spheres or capsules."""
    ri = size[4 * i]
    rj = size[4 * j]
    hi = size[4 * i + 1] if kind[i] == CAPSULE else 0.0
    hj = size[4 * j + 1] if kind[j] == CAPSULE else 0.0
    a = axis_end(frames, i, -hi)
    b = axis_end(frames, i, hi)
    c = axis_end(frames, j, -hj)
    d = axis_end(frames, j, hj)
    u = sub3(b, a)
    v = sub3(d, c)
    uu = dot3(u, u)
    vv = dot3(v, v)
    s, t = closest_of_edges(a, b, c, d)
    spare = spare_direction(u, v, uu, vv)
    small = NOWHERE * (ri + rj)
    low = 2.0
    high = -1.0
    w = cross(u, v)
    if uu > 0.0 and vv > 0.0 and dot3(w, w) < PARALLEL * uu * vv:
        e = dot3(sub3(c, a), u) / uu
        f = dot3(sub3(d, a), u) / uu
        low = max(0.0, min(e, f))
        high = min(1.0, max(e, f))
    if high - low < 1e-3:
        p = add3(a, scale3(s, u))
        normal, distance = between_cores(p, add3(c, scale3(t, v)), spare, small)
        return put(n, pair, 0, False, margin, add3(p, scale3(ri, normal)), normal, distance - ri - rj, tags_out, records_out)
    for k in range(2):
        p = add3(a, scale3(low if k == 0 else high, u))
        t_end, _ = closest_on_segment(p, c, d)
        normal, distance = between_cores(p, add3(c, scale3(t_end, v)), spare, small)
        n = put(n, pair, 1 + k, False, margin, add3(p, scale3(ri, normal)), normal, distance - ri - rj, tags_out, records_out)
    if min(s - low, high - s) > 0.05 * (high - low):
        p = add3(a, scale3(s, u))
        normal, distance = between_cores(p, add3(c, scale3(t, v)), spare, small)
        n = put(n, pair, 0, False, margin, add3(p, scale3(ri, normal)), normal, distance - ri - rj, tags_out, records_out)
    return n


@kernel
def round_contacts(
    n: int, order: Ints, pairs: Ints, kind: Ints, frames: Floats, size: Floats, margin: float, tags_out: Ints, records_out: Floats
) -> int:
    """Contacts of the pairs listed in `order`; gives how many contacts there are now."""
    for k in range(order.size):
        pair = order[k]
        i = pairs[2 * pair]
        j = pairs[2 * pair + 1]
        if kind[i] == SPHERE and kind[j] == SPHERE:
            p = load3(frames, 12 * i + 9)
            normal, distance = between_cores(p, load3(frames, 12 * j + 9), (0.0, 0.0, 1.0), NOWHERE * (size[4 * i] + size[4 * j]))
            gap = distance - size[4 * i] - size[4 * j]
            n = put(n, pair, 0, False, margin, add3(p, scale3(size[4 * i], normal)), normal, gap, tags_out, records_out)
        elif kind[i] <= CAPSULE and kind[j] <= CAPSULE:
            n = round_with_round(n, pair, i, j, kind, frames, size, margin, tags_out, records_out)
        elif kind[i] == SPHERE:
            gap, normal, point = sphere_in(i, j, kind, frames, size)
            n = put(n, pair, 0, False, margin, point, normal, gap, tags_out, records_out)
        else:
            gap, normal, point = sphere_in(j, i, kind, frames, size)
            n = put(n, pair, 0, True, margin, point, normal, gap, tags_out, records_out)
    return n
