"""The normal of two convex shapes made exact: the signed distance is the greatest separation s(n) over all directions n.

s(n) = n · (b − a) with a the point of the first shape farthest along n and b that of the second farthest along −n. Every n gives a lower
bound, so that the best of several guesses (coal's, the line of middles, faces) is right to choose from, and a guess that an iteration got
wrong does no harm. The gradient on the sphere is b − a; Newton's method with differences of it, taken only uphill, ends at a smooth
maximum. A maximum at a kink is a face's normal, which is among the guesses, or stays as coal found it.

A shape level with a face that it is not over passes it (see `flush`): then the gap stays, and the face's normal is the normal; level with
two faces, it touches nowhere, and the gap is infinite.
"""

from __future__ import annotations

from math import sqrt

from unibody.collision.rigid.contacts import flush_within
from unibody.collision.rigid.hull_climbing import farthest_corner
from unibody.collision.rigid.kinds import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE
from unibody.collision.rigid.nearest import any_perpendicular
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, load9, norm3, rotate, rotate_back, scale3, store3, sub3

STEP = 1e-4
"""Of differences [rad]."""
ALONG, ACROSS = 1.0 - 1e-12, 0.1
"""Cosines from which a normal is a face's, and up to which it is across it."""


@device
def farthest(i, d, kind, frames, size, range_of, start, corners):
    """The point of shape i farthest along d, in the world."""
    R = load9(frames, 12 * i)
    y = rotate_back(R, d)
    s = load3(size, 4 * i)
    x = (0.0, 0.0, 0.0)
    if kind[i] == SPHERE or kind[i] == CAPSULE:
        x = scale3(s[0], y)
        if kind[i] == CAPSULE:
            x = add3(x, (0.0, 0.0, s[1] if y[2] >= 0.0 else -s[1]))
    elif kind[i] == BOX:
        x = (s[0] if y[0] >= 0.0 else -s[0], s[1] if y[1] >= 0.0 else -s[1], s[2] if y[2] >= 0.0 else -s[2])
    elif kind[i] == CYLINDER:
        across = sqrt(y[0] * y[0] + y[1] * y[1])
        r = s[0] / across if across > 0.0 else 0.0
        x = (r * y[0], r * y[1], s[1] if y[2] >= 0.0 else -s[1])
    elif kind[i] == ELLIPSOID:
        z = (s[0] * y[0], s[1] * y[1], s[2] * y[2])
        z = scale3(1.0 / norm3(z), z)
        x = (s[0] * z[0], s[1] * z[1], s[2] * z[2])
    else:
        x = load3(corners, 3 * farthest_corner(i, y, range_of, start, corners))
    return add3(load3(frames, 12 * i + 9), rotate(R, x))


@device
def between(i, j, n, kind, frames, size, range_of, start, corners):
    """b − a of the direction n."""
    a = farthest(i, n, kind, frames, size, range_of, start, corners)
    return sub3(farthest(j, scale3(-1.0, n), kind, frames, size, range_of, start, corners), a)


@device
def turned(n, e1, e2, x, y):
    """n moved by (x, y) in its tangent plane."""
    m = add3(n, add3(scale3(x, e1), scale3(y, e2)))
    return scale3(1.0 / norm3(m), m)


@device
def climb(i, j, n, kind, frames, size, range_of, start, corners):
    """Newton's method uphill from n: the direction and separation it ends with."""
    # the separation along n is n · r(n); its gradient over turns of n is r in the tangent plane
    r = between(i, j, n, kind, frames, size, range_of, start, corners)
    best = dot3(n, r)
    for _ in range(12):
        e1 = any_perpendicular(n)
        e2 = cross(n, e1)
        gx = dot3(r, e1)
        gy = dot3(r, e2)
        # its Hessian by central differences of r
        hxx = -best
        hyy = -best
        hxy = 0.0
        for k in range(4):
            step = STEP if k % 2 == 0 else -STEP
            m = turned(n, e1, e2, step if k < 2 else 0.0, step if k >= 2 else 0.0)
            q = between(i, j, m, kind, frames, size, range_of, start, corners)
            slope = (dot3(q, e1) / (2.0 * step), dot3(q, e2) / (2.0 * step))
            if k < 2:
                hxx += slope[0]
                hxy += 0.5 * slope[1]
            else:
                hyy += slope[1]
                hxy += 0.5 * slope[0]
        # Newton's step at a maximum, else a step along the gradient; at most 0.3 rad
        det = hxx * hyy - hxy * hxy
        scale = norm3(r) + abs(best) + 1e-300
        if hxx + hyy < 0.0 and det > 1e-12 * scale * scale:
            x = -(hyy * gx - hxy * gy) / det
            y = -(hxx * gy - hxy * gx) / det
        else:
            x = gx / scale
            y = gy / scale
        length = sqrt(x * x + y * y)
        if length > 0.3:
            x *= 0.3 / length
            y *= 0.3 / length
        # halved until the separation rises
        rose = False
        for _ in range(12):
            m = turned(n, e1, e2, x, y)
            q = between(i, j, m, kind, frames, size, range_of, start, corners)
            if dot3(m, q) > best:
                n = m
                r = q
                best = dot3(m, q)
                rose = True
                break
            x *= 0.5
            y *= 0.5
        if not rose or length < 1e-9:
            break
    return n, best


@device
def try_direction(i, j, m, n, best, kind, frames, size, range_of, start, corners):
    """The better of the directions m and n, of which n separates by `best`."""
    s = dot3(m, between(i, j, m, kind, frames, size, range_of, start, corners))
    if s > best + 1e-12 * abs(best):
        return m, s
    return n, best


@device
def seen_from(i, j, k, n, kind, frames, size, range_of, start, corners):
    """The point nearest along n of the other shape, in the frame of k, one of i and j: no face of k separates the two by more than the
    height of that point over it."""
    x = farthest(j, scale3(-1.0, n), kind, frames, size, range_of, start, corners)
    if k == j:
        x = farthest(i, n, kind, frames, size, range_of, start, corners)
    return rotate_back(load9(frames, 12 * k), sub3(x, load3(frames, 12 * k + 9)))


@device
def try_axes(i, j, k, n, best, kind, frames, size, range_of, start, corners, normals):
    """Normals of the flat faces of shape k, one of i and j, against the direction n."""
    if kind[k] == BOX or kind[k] == CYLINDER:
        for c in range(0 if kind[k] == BOX else 2, 3):
            m = (frames[12 * k + c], frames[12 * k + 3 + c], frames[12 * k + 6 + c])
            n, best = try_direction(i, j, m, n, best, kind, frames, size, range_of, start, corners)
            n, best = try_direction(i, j, scale3(-1.0, m), n, best, kind, frames, size, range_of, start, corners)
    elif range_of[2 * k + 1] > range_of[2 * k]:
        R = load9(frames, 12 * k)
        side = 1.0 if k == i else -1.0
        seen = seen_from(i, j, k, n, kind, frames, size, range_of, start, corners)
        for c in range(range_of[2 * k], range_of[2 * k + 1]):
            up = load3(normals, 3 * c)
            m = scale3(side, rotate(R, up))
            if dot3(m, n) > 0.9 and dot3(up, sub3(seen, load3(corners, 3 * start[c]))) > best:
                n, best = try_direction(i, j, m, n, best, kind, frames, size, range_of, start, corners)
    return n, best


@device
def extent(i, kind, size, range_of, start, corners):
    """Least half side or radius of shape i, and the greatest."""
    s = load3(size, 4 * i)
    if kind[i] == BOX or kind[i] == ELLIPSOID:
        return min(s[0], min(s[1], s[2])), max(s[0], max(s[1], s[2]))
    if kind[i] == SPHERE:
        return s[0], s[0]
    if kind[i] == CYLINDER:
        return min(s[0], s[1]), max(s[0], s[1])
    if kind[i] == CAPSULE:
        return s[0], s[0] + s[1]
    least = 1e300
    most = 0.0
    for c in range(3):
        low = 1e300
        high = -1e300
        for k in range(start[range_of[2 * i]], start[range_of[2 * i + 1]]):
            low = min(low, corners[3 * k + c])
            high = max(high, corners[3 * k + c])
        least = min(least, 0.5 * (high - low))
        most = max(most, 0.5 * (high - low))
    return least, most


@device
def flush_with(i, j, k, level, n, kind, frames, size, range_of, start, corners, normals):
    """With how many flat faces of shape k, one of i and j, the other is level, those along n aside, and the normal (from i to j) of one."""
    side = 1.0 if k == i else -1.0
    R = load9(frames, 12 * k)
    m = n
    faces = 0
    if kind[k] == BOX or kind[k] == CYLINDER:
        for c in range(0 if kind[k] == BOX else 4, 6):
            sign = side if c % 2 == 0 else -side
            up = (sign * R[c // 2], sign * R[3 + c // 2], sign * R[6 + c // 2])
            if dot3(up, n) < ALONG and abs(dot3(up, between(i, j, up, kind, frames, size, range_of, start, corners))) <= level:
                m = up
                faces += 1
    elif range_of[2 * k + 1] > range_of[2 * k]:
        seen = seen_from(i, j, k, n, kind, frames, size, range_of, start, corners)
        for c in range(range_of[2 * k], range_of[2 * k + 1]):
            if dot3(load3(normals, 3 * c), sub3(seen, load3(corners, 3 * start[c]))) < -2.0 * level:
                continue
            up = scale3(side, rotate(R, load3(normals, 3 * c)))
            if dot3(up, n) < ALONG and abs(dot3(up, between(i, j, up, kind, frames, size, range_of, start, corners))) <= level:
                m = up
                faces += 1
    return faces, m


@device
def below(j, m, x, kind, frames, size, range_of, start, corners):
    """Of the points of shape j that are farthest along −m, one near x."""
    if kind[j] == ELLIPSOID:
        return farthest(j, scale3(-1.0, m), kind, frames, size, range_of, start, corners)
    axis = (frames[12 * j + 2], frames[12 * j + 5], frames[12 * j + 8])
    if kind[j] == CYLINDER and abs(dot3(axis, m)) < 1e-6:
        lowest = farthest(j, scale3(-1.0, m), kind, frames, size, range_of, start, corners)
        return add3(lowest, scale3(dot3(sub3(x, lowest), axis), axis))
    return x


@kernel
def refine(
    order: Ints, pairs: Ints, kind: Ints, frames: Floats, size: Floats, range_of: Ints, start: Ints, corners: Floats, normals: Floats,
    touching_out: Floats,
) -> None:  # fmt: skip
    """Make the contacts (point on a, normal, gap) of the pairs in `order` exact where better normals are found; flush faces pass."""
    for k in range(order.size):
        i = pairs[2 * order[k]]
        j = pairs[2 * order[k] + 1]
        given = load3(touching_out, 7 * k + 3)
        n = given
        first = dot3(n, between(i, j, n, kind, frames, size, range_of, start, corners))
        best = first
        d = sub3(load3(frames, 12 * j + 9), load3(frames, 12 * i + 9))
        if norm3(d) > 0.0:
            n, best = try_direction(i, j, scale3(1.0 / norm3(d), d), n, best, kind, frames, size, range_of, start, corners)
        n, best = try_axes(i, j, i, n, best, kind, frames, size, range_of, start, corners, normals)
        n, best = try_axes(i, j, j, n, best, kind, frames, size, range_of, start, corners, normals)
        n, best = climb(i, j, n, kind, frames, size, range_of, start, corners)
        point = load3(touching_out, 7 * k)
        if kind[i] == ELLIPSOID:
            point = farthest(i, n, kind, frames, size, range_of, start, corners)
        elif kind[j] == ELLIPSOID or dot3(n, given) < 0.99:
            point = sub3(farthest(j, scale3(-1.0, n), kind, frames, size, range_of, start, corners), scale3(best, n))
        least_i, most_i = extent(i, kind, size, range_of, start, corners)
        least_j, most_j = extent(j, kind, size, range_of, start, corners)
        level = flush_within(min(least_i, least_j), most_i + most_j)
        if best >= -level:
            faces, m = flush_with(i, j, i, level, n, kind, frames, size, range_of, start, corners, normals)
            if faces > 0:
                point = sub3(below(j, m, add3(point, scale3(best, n)), kind, frames, size, range_of, start, corners), scale3(best, m))
            else:
                faces, m = flush_with(i, j, j, level, n, kind, frames, size, range_of, start, corners, normals)
                if faces > 0:
                    point = below(i, scale3(-1.0, m), point, kind, frames, size, range_of, start, corners)
            if faces > 1 or (faces == 1 and best <= level and dot3(m, n) < ACROSS):
                best = 1e300
            n = m
        store3(point, 7 * k, touching_out)
        store3(n, 7 * k + 3, touching_out)
        touching_out[7 * k + 6] = best
