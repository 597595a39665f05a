"""Anything on a plane: the points of the shape that are lowest over it.

Gap = height over the plane; contact points of polyhedra are their vertices. A cylinder touches with eight points of its lower rim, one of
them the lowest, and with the lowest point of its other rim: it stands on a ring, rolls on a line and tips over the true point.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

from unibody.collision.rigid.contacts import put
from unibody.collision.rigid.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from unibody.collision.rigid.thinning import thin_out
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, dot3, load3, load9, norm3, rotate, rotate_back, scale3, sub3

RIM = 8
UPRIGHT = 1e-7
"""Sine of the tilt below which a cylinder stands on its fixed points alone."""


@device
def put_over(n, pair, feature, flip, margin, x, foot, up, tags_out, records_out):
    """The point x of a shape over the plane through foot."""
    gap = dot3(sub3(x, foot), up)
    return put(n, pair, feature, flip, margin, sub3(x, scale3(gap, up)), up, gap, tags_out, records_out)


@device
def cylinder_over(n, pair, j, flip, margin, frames, size, foot, up, tags_out, records_out):
    """Rims of a cylinder over a plane."""
    R = load9(frames, 12 * j)
    p = load3(frames, 12 * j + 9)
    r = size[4 * j]
    down = rotate_back(R, scale3(-1.0, up))
    tilt = sqrt(down[0] * down[0] + down[1] * down[1])
    lower = 1.0 if down[2] >= 0.0 else -1.0
    nearest = -1
    if tilt > UPRIGHT:
        nearest = int(atan2(down[1], down[0]) * RIM / (2.0 * pi) + RIM + 0.5) % RIM
        for end in range(2):
            z = lower * size[4 * j + 1] * (1.0 if end == 0 else -1.0)
            x = add3(p, rotate(R, (r * down[0] / tilt, r * down[1] / tilt, z)))
            n = put_over(n, pair, 32 + (1 if z > 0.0 else 0), flip, margin, x, foot, up, tags_out, records_out)
    for k in range(RIM):
        if k != nearest:
            turn = 2.0 * pi * k / RIM
            x = add3(p, rotate(R, (r * cos(turn), r * sin(turn), lower * size[4 * j + 1])))
            n = put_over(n, pair, k + (RIM if lower > 0.0 else 0), flip, margin, x, foot, up, tags_out, records_out)
    return n


@device
def vertices_over(n, pair, first, last, flip, margin, R, p, vertices, foot, up, tags_out, records_out):
    """Vertices first … last of a mesh over a plane."""
    low = dot3(sub3(p, foot), up)
    a = rotate_back(R, up)
    for v in range(first, last):
        y = load3(vertices, 3 * v)
        if low + dot3(a, y) <= margin:
            n = put_over(n, pair, v - first, flip, margin, add3(p, rotate(R, y)), foot, up, tags_out, records_out)
    return n


@kernel
def plane_contacts(
    n: int, order: Ints, pairs: Ints, kind: Ints, frames: Floats, size: Floats, vertex_range: Ints, vertices: Floats, margin: float,
    tags_out: Ints, records_out: Floats,
) -> int:  # fmt: skip
    """Contacts of the pairs listed in `order`, of which one is a plane; gives how many contacts there are now."""
    for k in range(order.size):
        pair = order[k]
        # i is the plane, j the other shape
        flip = kind[pairs[2 * pair]] != PLANE
        i = pairs[2 * pair + 1] if flip else pairs[2 * pair]
        j = pairs[2 * pair] if flip else pairs[2 * pair + 1]
        first = n
        up = (frames[12 * i + 2], frames[12 * i + 5], frames[12 * i + 8])
        foot = load3(frames, 12 * i + 9)
        R = load9(frames, 12 * j)
        p = load3(frames, 12 * j + 9)
        # what is lowest over the plane, for each kind: one point of a sphere, the two ends of a capsule, eight corners of a box …
        if kind[j] == SPHERE:
            n = put_over(n, pair, 0, flip, margin, sub3(p, scale3(size[4 * j], up)), foot, up, tags_out, records_out)
        elif kind[j] == CAPSULE:
            for end in range(2):
                z = size[4 * j + 1] if end == 1 else -size[4 * j + 1]
                x = add3(p, rotate(R, (0.0, 0.0, z)))
                n = put_over(n, pair, end, flip, margin, sub3(x, scale3(size[4 * j], up)), foot, up, tags_out, records_out)
        elif kind[j] == BOX:
            for corner in range(8):
                x = size[4 * j] if corner & 1 else -size[4 * j]
                y = size[4 * j + 1] if corner & 2 else -size[4 * j + 1]
                z = size[4 * j + 2] if corner & 4 else -size[4 * j + 2]
                n = put_over(n, pair, corner, flip, margin, add3(p, rotate(R, (x, y, z))), foot, up, tags_out, records_out)
        elif kind[j] == CYLINDER:
            n = cylinder_over(n, pair, j, flip, margin, frames, size, foot, up, tags_out, records_out)
        # of an ellipsoid: x = p − R S² Rᵀ n / |S Rᵀ n|
        elif kind[j] == ELLIPSOID:
            s = load3(size, 4 * j)
            y = rotate_back(R, up)
            y = (s[0] * y[0], s[1] * y[1], s[2] * y[2])
            low = -1.0 / norm3(y)
            x = add3(p, rotate(R, (low * s[0] * y[0], low * s[1] * y[1], low * s[2] * y[2])))
            n = put_over(n, pair, 0, flip, margin, x, foot, up, tags_out, records_out)
        else:
            a = vertex_range[2 * j]
            b = vertex_range[2 * j + 1]
            n = vertices_over(n, pair, a, b, flip, margin, R, p, vertices, foot, up, tags_out, records_out)
        n = thin_out(first, n, i, j, frames, tags_out, records_out)
    return n
