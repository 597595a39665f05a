"""How far everything may move along straight lines without touching: separating planes, one after the other.

Between the closest points of two convex pieces stands a plane with normal n that keeps them apart; every difference of a corner of
one and a corner of the other, n · (x₁ − x₂), moves linearly in time, and the distance is never less than the smallest of them. So until the
first has fallen to the part s of the distance that there was, nothing can have touched. There the closest points are sought again, and so
on, until the distance itself has fallen so far, or the end is reached. Bodies that slide along each other, however near, need one plane;
rules that count on speed alone would creep. Never more than is safe; at the cap of iterations it returns what it has, which is safe too.
How far a stencil may go does not depend on the others, so the least of all does not depend on how many were asked that are free.
Of things with a radius the gap counts, the distance less both radii.

Of points against half-spaces that move, the height is a cubic in time (a quadratic if the normal does not turn, usually linear); it
lies above its Bernstein polygon, whose first zero is safe.
"""

from __future__ import annotations

from unibody.collision.stencils import edge_edge, point_triangle
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, cross, dot3, load3, norm3, scale3, sub3

ITERATIONS = 100
KEEP = 0.1
"""s: the part of a distance that is left for the next step."""
NEARLY = 1.1
"""A distance below this many times its part s has fallen to it."""

FINE = 1e-6
"""Distances below this part of the coordinates: r is then so short that r/|r| leans by more than the pieces are apart, and n is taken from
the directions that it is perpendicular to."""
ROUND_OFF = 1e-14
"""Distances below this part of the coordinates have no direction any more: nothing moves."""


@device
def along(x, d, t):
    return add3(x, scale3(t, d))


@device
def mean4(a, b, c, d):
    return scale3(0.25, add3(add3(a, b), add3(c, d)))


@device
def largest(a):
    return max(abs(a[0]), max(abs(a[1]), abs(a[2])))


@device
def free_until(n, x, dx, y, dy, t, most, least):
    """Until when n · (x − y) ≥ least, from x and y at time t; at most `most`."""
    falls = -dot3(n, sub3(dx, dy))
    if falls <= 0.0:
        return most
    return min(most, t + max(0.0, dot3(n, sub3(x, y)) - least) / falls)


@device
def on_plane(n, e, f):
    """The normal of the plane of e and f, on the side of n; n itself where they are nearly parallel."""
    c = cross(e, f)
    size = norm3(c)
    if size <= FINE * norm3(e) * norm3(f):
        return on_line(n, e)
    return scale3((1.0 if dot3(n, c) >= 0.0 else -1.0) / size, c)


@device
def on_line(n, e):
    """n made perpendicular to e."""
    c = sub3(n, scale3(dot3(n, e) / dot3(e, e), e))
    return scale3(1.0 / norm3(c), c)


@device
def exact_normal(kind, n, a, b, c, d):
    """The normal n of the closest points of a stencil, perpendicular to where they may go."""
    if kind == 0:
        beta = point_triangle(a, b, c, d)[0]
        if beta[0] > 0.0 and beta[1] > 0.0 and beta[2] > 0.0:
            return on_plane(n, sub3(c, b), sub3(d, b))
        if beta[0] > 0.0 and beta[1] > 0.0:
            return on_line(n, sub3(c, b))
        if beta[0] > 0.0 and beta[2] > 0.0:
            return on_line(n, sub3(d, b))
        if beta[1] > 0.0 and beta[2] > 0.0:
            return on_line(n, sub3(d, c))
        return n
    at = edge_edge(a, b, c, d)[0]
    first = at[0] > 0.0 and at[0] < 1.0
    second = at[1] > 0.0 and at[1] < 1.0
    if first and second:
        return on_plane(n, sub3(b, a), sub3(d, c))
    if first:
        return on_line(n, sub3(b, a))
    if second:
        return on_line(n, sub3(d, c))
    return n


@device
def safe_time(kind, a, b, c, d, da, db, dc, dd, most, gap, cap):
    """The largest safe t ≤ most of a stencil: kind 0 point a against triangle b c d, kind 1 edge a b against edge c d."""
    # what all four have in common brings nothing nearer
    mean = mean4(da, db, dc, dd)
    da = sub3(da, mean)
    db = sub3(db, mean)
    dc = sub3(dc, mean)
    dd = sub3(dd, mean)
    t = 0.0
    least = -1.0
    size = max(max(largest(a), largest(b)), max(largest(c), largest(d)))
    rough = ROUND_OFF * size
    for _ in range(cap):
        # closest points at time t
        p = along(a, da, t)
        q = along(b, db, t)
        r = along(c, dc, t)
        w = along(d, dd, t)
        if kind == 0:
            apart = point_triangle(p, q, r, w)[1]
        else:
            apart = edge_edge(p, q, r, w)[1]
        distance = norm3(apart)
        if least < 0.0:
            least = gap + KEEP * (distance - gap)
        if distance <= gap + rough:
            return t
        if t > 0.0 and distance - gap <= NEARLY * (least - gap):
            return t
        # until when their plane keeps all differences of corners apart
        n = scale3(1.0 / distance, apart)
        if distance < FINE * size:
            n = exact_normal(kind, n, p, q, r, w)
        ahead = free_until(n, p, da, r, dc, t, most, least)
        ahead = free_until(n, p, da, w, dd, t, ahead, least)
        if kind == 0:
            ahead = free_until(n, p, da, q, db, t, ahead, least)
        else:
            ahead = free_until(n, q, db, r, dc, t, ahead, least)
            ahead = free_until(n, q, db, w, dd, t, ahead, least)
        if ahead >= most:
            return most
        if t > 0.0 and ahead - t < 1e-9 * ahead:
            return ahead
        t = ahead
    return t


@device
def lowest(x, dx, i, k, t):
    """The least k-th coordinate of vertex i on its way until t."""
    a = x[3 * i + k]
    return min(a, a + t * dx[3 * i + k])


@device
def highest(x, dx, i, k, t):
    a = x[3 * i + k]
    return max(a, a + t * dx[3 * i + k])


@device
def point_is_far(x, dx, v, i, j, l, t, near):
    """Whether the boxes of the ways of a point and a triangle are farther apart than `near`."""
    for k in range(3):
        if lowest(x, dx, v, k, t) - near > max(highest(x, dx, i, k, t), max(highest(x, dx, j, k, t), highest(x, dx, l, k, t))):
            return True
        if highest(x, dx, v, k, t) + near < min(lowest(x, dx, i, k, t), min(lowest(x, dx, j, k, t), lowest(x, dx, l, k, t))):
            return True
    return False


@device
def edge_is_far(x, dx, i, j, l, m, t, near):
    """Whether the boxes of the ways of two edges are farther apart than `near`."""
    for k in range(3):
        if min(lowest(x, dx, i, k, t), lowest(x, dx, j, k, t)) - near > max(highest(x, dx, l, k, t), highest(x, dx, m, k, t)):
            return True
        if max(highest(x, dx, i, k, t), highest(x, dx, j, k, t)) + near < min(lowest(x, dx, l, k, t), lowest(x, dx, m, k, t)):
            return True
    return False


@kernel
def safe_step(
    points: Ints, edge_pairs: Ints, faces: Ints, edges: Ints, x: Floats, dx: Floats, radius: Floats, near: float, most: float, cap: int
) -> float:
    """The largest part t ≤ most of the motion dx from x that no candidate forbids, in at most `cap` iterations for each, of vertices with
    radii. Gaps that stay above `near` are not looked at."""
    t = most
    for k in range(points.size // 2):
        v = points[2 * k]
        f = 3 * points[2 * k + 1]
        i = faces[f]
        j = faces[f + 1]
        l = faces[f + 2]
        gap = radius[v] + radius[i]
        if point_is_far(x, dx, v, i, j, l, t, near + gap):
            continue
        t = safe_time(
            0, load3(x, 3 * v), load3(x, 3 * i), load3(x, 3 * j), load3(x, 3 * l),
            load3(dx, 3 * v), load3(dx, 3 * i), load3(dx, 3 * j), load3(dx, 3 * l), t, gap, cap,
        )  # fmt: skip
    for k in range(edge_pairs.size // 2):
        i = edges[2 * edge_pairs[2 * k]]
        j = edges[2 * edge_pairs[2 * k] + 1]
        l = edges[2 * edge_pairs[2 * k + 1]]
        m = edges[2 * edge_pairs[2 * k + 1] + 1]
        gap = radius[i] + radius[l]
        if edge_is_far(x, dx, i, j, l, m, t, near + gap):
            continue
        t = safe_time(
            1, load3(x, 3 * i), load3(x, 3 * j), load3(x, 3 * l), load3(x, 3 * m),
            load3(dx, 3 * i), load3(dx, 3 * j), load3(dx, 3 * l), load3(dx, 3 * m), t, gap, cap,
        )  # fmt: skip
    return t


@device
def cubic_falls(c0, c1, c2, c3, most):
    """A time ≤ most up to which c₀ + c₁ t + c₂ t² + c₃ t³ ≥ 0, c₀ > 0: the first zero of its Bernstein polygon's hull."""
    t = most
    b1 = c0 + c1 * most / 3.0
    b2 = c0 + (2.0 * c1 + c2 * most) * most / 3.0
    b3 = c0 + (c1 + (c2 + c3 * most) * most) * most
    if b1 < 0.0:
        t = min(t, most / 3.0 * c0 / (c0 - b1))
    if b2 < 0.0:
        t = min(t, 2.0 * most / 3.0 * c0 / (c0 - b2))
    if b3 < 0.0:
        t = min(t, most * c0 / (c0 - b3))
    return t


@kernel
def safe_step_over_planes(
    pairs: Ints, frame: Floats, d_frame: Floats, x: Floats, dx: Floats, radius: Floats, plane_radius: float, most: float
) -> float:
    """The largest part t ≤ most of a motion that leaves points above half-spaces at KEEP of their gaps.

    frame: per half-space a point and two tangents (9 numbers), whose cross product points outwards; d_frame: their motion. Where radii ρ
    are taken off, r · m − ρ |m| ≥ 0 is held with |m₀ + m₁ t + m₂ t²| ≤ |m₀| + |m₁| t + |m₂| t²."""
    t = most
    for k in range(pairs.size // 2):
        v = 3 * pairs[2 * k]
        f = 9 * pairs[2 * k + 1]
        # r = x − p and m = a × b along the way: r · m is a cubic in time
        r = sub3(load3(x, v), load3(frame, f))
        dr = sub3(load3(dx, v), load3(d_frame, f))
        a = load3(frame, f + 3)
        b = load3(frame, f + 6)
        da = load3(d_frame, f + 3)
        db = load3(d_frame, f + 6)
        m0 = cross(a, b)
        m1 = add3(cross(a, db), cross(da, b))
        m2 = cross(da, db)
        c0 = dot3(r, m0)
        c1 = dot3(r, m1) + dot3(dr, m0)
        c2 = dot3(r, m2) + dot3(dr, m1)
        c3 = dot3(dr, m2)
        # less the radii
        thick = radius[pairs[2 * k]] + plane_radius
        if thick > 0.0:
            c0 -= thick * norm3(m0)
            c1 -= thick * norm3(m1)
            c2 -= thick * norm3(m2)
        if c0 <= 0.0:
            return 0.0
        # as far as KEEP of the gap is left for certain
        least = KEEP * c0
        at = 0.0
        for _ in range(8):
            value = c0 + (c1 + (c2 + c3 * at) * at) * at - least
            ahead = cubic_falls(value, c1 + (2.0 * c2 + 3.0 * c3 * at) * at, c2 + 3.0 * c3 * at, c3, t - at)
            at += ahead
            if at >= t or ahead <= 1e-3 * t or value <= 0.1 * least:
                break
        t = min(t, at)
    return t
