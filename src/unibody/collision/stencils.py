"""Closest points of a point and a triangle and of two edges, as weights: r = Σ cᵢ xᵢ is the shortest vector between them.

With the weights of the closest points, the derivative of the distance d = |r| is ∂d/∂xᵢ = cᵢ n, n = r / d, whichever corners or edges the
closest points lie on (they are optimal or held at the boundary). A point and a triangle: c = (1, −β₁, −β₂, −β₃); two edges:
c = (1 − s, s, −(1 − t), −t). Regions as in Ericson, Real-Time Collision Detection, §5.1.
"""

from __future__ import annotations

from unibody.kernel import device
from unibody.spatial.devices import add3, cross, dot3, scale3, sub3

FLAT = 1e-14
"""Squared sine below which a triangle is no more than its edges, and two edges are parallel."""


@device
def closest_on_segment(p, a, b):
    """The parameter of the point of the segment nearest to p, and its squared distance."""
    u = sub3(b, a)
    uu = dot3(u, u)
    t = min(1.0, max(0.0, dot3(sub3(p, a), u) / uu)) if uu > 0.0 else 0.0
    r = sub3(sub3(p, a), scale3(t, u))
    return t, dot3(r, r)


@device
def closest_on_edges(p, a, b, c):
    """As `closest_on_triangle`, of the three edges only."""
    s, best = closest_on_segment(p, a, b)
    beta = (1.0 - s, s, 0.0)
    t, other = closest_on_segment(p, b, c)
    if other < best:
        best = other
        beta = (0.0, 1.0 - t, t)
    t, other = closest_on_segment(p, c, a)
    if other < best:
        beta = (t, 0.0, 1.0 - t)
    return beta


@device
def closest_on_triangle(p, a, b, c):
    """Barycentric weights (β₁, β₂, β₃) of the point of the triangle nearest to p."""
    ab = sub3(b, a)
    ac = sub3(c, a)
    bc = sub3(c, b)
    area = cross(ab, ac)
    longest = max(dot3(ab, ab), max(dot3(ac, ac), dot3(bc, bc)))
    if dot3(area, area) <= FLAT * longest * longest:
        return closest_on_edges(p, a, b, c)
    ap = sub3(p, a)
    d1 = dot3(ab, ap)
    d2 = dot3(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return (1.0, 0.0, 0.0)
    bp = sub3(p, b)
    d3 = dot3(ab, bp)
    d4 = dot3(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return (0.0, 1.0, 0.0)
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3)
        return (1.0 - v, v, 0.0)
    cp = sub3(p, c)
    d5 = dot3(ab, cp)
    d6 = dot3(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return (0.0, 0.0, 1.0)
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
        return (1.0 - w, 0.0, w)
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return (0.0, 1.0 - w, w)
    total = va + vb + vc
    v = vb / total
    w = vc / total
    return (1.0 - v - w, v, w)


@device
def closest_at_ends(a, b, c, d):
    """As `closest_of_edges`, with one of the two points at an end: enough where edges are parallel or have no length."""
    t, best = closest_on_segment(a, c, d)
    at = (0.0, t)
    t, other = closest_on_segment(b, c, d)
    if other < best:
        best = other
        at = (1.0, t)
    s, other = closest_on_segment(c, a, b)
    if other < best:
        best = other
        at = (s, 0.0)
    s, other = closest_on_segment(d, a, b)
    if other < best:
        at = (s, 1.0)
    return at


@device
def closest_of_edges(a, b, c, d):
    """Parameters (s, t) of the nearest points a + s (b − a) and c + t (d − c)."""
    u = sub3(b, a)
    v = sub3(d, c)
    r = sub3(a, c)
    uu = dot3(u, u)
    vv = dot3(v, v)
    uv = dot3(u, v)
    ur = dot3(u, r)
    vr = dot3(v, r)
    det = uu * vv - uv * uv
    if det <= FLAT * uu * vv:
        return closest_at_ends(a, b, c, d)
    s = min(1.0, max(0.0, (uv * vr - ur * vv) / det))
    t = (uv * s + vr) / vv
    if t < 0.0:
        t = 0.0
        s = min(1.0, max(0.0, -ur / uu))
    elif t > 1.0:
        t = 1.0
        s = min(1.0, max(0.0, (uv - ur) / uu))
    return (s, t)


@device
def point_triangle(p, a, b, c):
    """Weights of the three corners and the vector from the nearest point of the triangle to p."""
    beta = closest_on_triangle(p, a, b, c)
    near = add3(scale3(beta[0], a), add3(scale3(beta[1], b), scale3(beta[2], c)))
    return beta, sub3(p, near)


@device
def edge_edge(a, b, c, d):
    """Parameters (s, t) and the vector from the nearest point of the second edge to that of the first."""
    at = closest_of_edges(a, b, c, d)
    first = add3(scale3(1.0 - at[0], a), scale3(at[0], b))
    second = add3(scale3(1.0 - at[1], c), scale3(at[1], d))
    return at, sub3(first, second)
