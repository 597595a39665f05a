"""Nearest points of solids to a point given in their own frame, inside and out, with signed distances.

Each function gives (signed distance, outward unit normal, point of the surface). Inside, the nearest point of the surface counts and the
distance is negative. Where several points are equally near (the axis of a cylinder, the middle of a box) the first axis decides, so that
the answer is always the same and never undefined.

Ellipsoid: the nearest point is xᵢ = sᵢ² yᵢ / (t + sᵢ²) with g(t) = Σ (sᵢ yᵢ / (t + sᵢ²))² − 1 = 0 at its largest root. g falls and is
convex there, so that Newton's method from the left, t₀ = max(sᵢ |yᵢ| − sᵢ²), climbs to it without fail.
"""

from __future__ import annotations

from math import sqrt

from unibody.kernel import device
from unibody.spatial.devices import cross, dot3, norm3, scale3, sub3

NOWHERE = 1e-14
"""Lengths below this part of a shape's size give no direction."""


@device
def any_perpendicular(a):
    """A unit vector across a (not zero), the same for the same a."""
    if abs(a[0]) <= abs(a[1]) and abs(a[0]) <= abs(a[2]):
        b = cross(a, (1.0, 0.0, 0.0))
    elif abs(a[1]) <= abs(a[2]):
        b = cross(a, (0.0, 1.0, 0.0))
    else:
        b = cross(a, (0.0, 0.0, 1.0))
    return scale3(1.0 / norm3(b), b)


@device
def nearest_of_box(y, h):
    """Of the box with half sides h."""
    q = (min(h[0], max(-h[0], y[0])), min(h[1], max(-h[1], y[1])), min(h[2], max(-h[2], y[2])))
    r = sub3(y, q)
    d = norm3(r)
    if d > 0.0:
        return d, scale3(1.0 / d, r), q
    face = h[0] - abs(y[0])
    axis = 0
    if h[1] - abs(y[1]) < face:
        face = h[1] - abs(y[1])
        axis = 1
    if h[2] - abs(y[2]) < face:
        face = h[2] - abs(y[2])
        axis = 2
    side = 1.0 if y[axis] >= 0.0 else -1.0
    if axis == 0:
        return -face, (side, 0.0, 0.0), (side * h[0], y[1], y[2])
    if axis == 1:
        return -face, (0.0, side, 0.0), (y[0], side * h[1], y[2])
    return -face, (0.0, 0.0, side), (y[0], y[1], side * h[2])


@device
def nearest_of_cylinder(y, radius, half):
    """Of the cylinder about z."""
    rho = sqrt(y[0] * y[0] + y[1] * y[1])
    side = 1.0 if y[2] >= 0.0 else -1.0
    ux = 1.0
    uy = 0.0
    if rho > NOWHERE * radius:
        ux = y[0] / rho
        uy = y[1] / rho
    if rho <= radius and abs(y[2]) <= half:
        if radius - rho < half - abs(y[2]):
            return rho - radius, (ux, uy, 0.0), (radius * ux, radius * uy, y[2])
        return abs(y[2]) - half, (0.0, 0.0, side), (y[0], y[1], side * half)
    out = max(rho - radius, 0.0)
    up = max(abs(y[2]) - half, 0.0)
    d = sqrt(out * out + up * up)
    at = min(rho, radius)
    n = (out / d * ux, out / d * uy, up / d * side)
    x = at * ux if rho > radius else y[0]
    z = at * uy if rho > radius else y[1]
    return d, n, (x, z, side * min(abs(y[2]), half))


@device
def ellipsoid_root(y, s):
    """The largest root t of g, and whether it is the pole itself (the point is on the plane of the short axis, deep inside)."""
    t = max(s[0] * abs(y[0]) - s[0] * s[0], max(s[1] * abs(y[1]) - s[1] * s[1], s[2] * abs(y[2]) - s[2] * s[2]))
    least = min(s[0], min(s[1], s[2]))
    if t <= -least * least * (1.0 - 1e-14):
        left = 0.0
        for k in range(3):
            away = s[k] * s[k] - least * least
            if away > 1e-14 * s[k] * s[k]:
                left += (s[k] * y[k] / away) ** 2
        if left <= 1.0:
            return -least * least, True
        t = -least * least * (1.0 - 1e-14)
    for _ in range(200):
        g = -1.0
        slope = 0.0
        for k in range(3):
            away = t + s[k] * s[k]
            if y[k] != 0.0 and away > 0.0:
                part = (s[k] * y[k] / away) ** 2
                g += part
                slope -= 2.0 * part / away
        if g <= 1e-15 or slope == 0.0:
            break
        before = t
        t -= g / slope
        if t == before:
            break
    return t, False


@device
def nearest_of_ellipsoid(y, s):
    """Of the ellipsoid with semi-axes s."""
    t, pole = ellipsoid_root(y, s)
    if pole:
        axis = 0
        if s[1] < s[axis]:
            axis = 1
        if s[2] < s[axis]:
            axis = 2
        least = s[axis] * s[axis]
        x0 = s[0] * s[0] * y[0] / (s[0] * s[0] - least) if s[0] * s[0] - least > 1e-14 * s[0] * s[0] else 0.0
        x1 = s[1] * s[1] * y[1] / (s[1] * s[1] - least) if s[1] * s[1] - least > 1e-14 * s[1] * s[1] else 0.0
        x2 = s[2] * s[2] * y[2] / (s[2] * s[2] - least) if s[2] * s[2] - least > 1e-14 * s[2] * s[2] else 0.0
        rest = sqrt(max(0.0, 1.0 - (x0 / s[0]) ** 2 - (x1 / s[1]) ** 2 - (x2 / s[2]) ** 2))
        side = 1.0 if y[axis] >= 0.0 else -1.0
        if axis == 0:
            x0 = side * s[0] * rest
        elif axis == 1:
            x1 = side * s[1] * rest
        else:
            x2 = side * s[2] * rest
        x = (x0, x1, x2)
    else:
        x = (s[0] * s[0] * y[0] / (t + s[0] * s[0]), s[1] * s[1] * y[1] / (t + s[1] * s[1]), s[2] * s[2] * y[2] / (t + s[2] * s[2]))
    n = (x[0] / (s[0] * s[0]), x[1] / (s[1] * s[1]), x[2] / (s[2] * s[2]))
    n = scale3(1.0 / norm3(n), n)
    return dot3(sub3(y, x), n), n, x
