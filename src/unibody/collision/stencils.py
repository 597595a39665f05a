"""Closest points of a point and a triangle and of two edges, as weights: r = Σ cᵢ xᵢ is the shortest vector between them.

With the weights of the closest points, the derivative of the distance d = |r| is ∂d/∂xᵢ = cᵢ n, n = r / d, whichever corners or edges the
closest points lie on (they are optimal or held at the boundary). A point and a triangle: c = (1, −β₁, −β₂, −β₃); two edges:
c = (1 − s, s, −(1 − t), −t). Regions as in Ericson, Real-Time Collision Detection, §5.1.
"""

from __future__ import annotations

from unibody.kernel import device
from unibody.spatial.devices import add3, dot3, scale3, sub3


@device
def closest_on_triangle(p, a, b, c):
    """Barycentric weights (β₁, β₂, β₃) of the point of the triangle nearest to p."""
    ab = sub3(b, a)
    ac = sub3(c, a)
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
        v = d1 / (d1 - d3) if d1 > d3 else 0.0
        return (1.0 - v, v, 0.0)
    cp = sub3(p, c)
    d5 = dot3(ab, cp)
    d6 = dot3(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return (0.0, 0.0, 1.0)
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6) if d2 > d6 else 0.0
        return (1.0 - w, 0.0, w)
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        total = (d4 - d3) + (d5 - d6)
        w = (d4 - d3) / total if total > 0.0 else 0.0
        return (0.0, 1.0 - w, w)
    total = va + vb + vc
    v = vb / total
    w = vc / total
    return (1.0 - v - w, v, w)


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
    s = 0.0
    if det > 1e-20 * uu * vv:
        s = min(1.0, max(0.0, (uv * vr - ur * vv) / det))
    t = (uv * s + vr) / vv if vv > 0.0 else 0.0
    if t < 0.0:
        t = 0.0
        s = min(1.0, max(0.0, -ur / uu)) if uu > 0.0 else 0.0
    elif t > 1.0:
        t = 1.0
        s = min(1.0, max(0.0, (uv - ur) / uu)) if uu > 0.0 else 0.0
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
