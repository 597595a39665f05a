"""How far everything may move along straight lines without touching: additive continuous collision detection (Li et al. 2021, §4.3).

Relative to their common motion, no point of a stencil moves faster than l = max |δᵢ| + max |δⱼ| (over the two sides), so a distance of
d − ξ lasts for at least (1 − s)(d − ξ) / l; these times are added up until the distance has fallen to the part s of what there was, or the
end is reached. Never more than is safe; at the cap of iterations it returns what it has, which is safe too.
Points against half-spaces are linear in time and solved at once.
"""

from __future__ import annotations

import numpy as np

from unibody.collision.stencils import edge_edge, point_triangle
from unibody.kernel import Floats, Ints, device, kernel
from unibody.spatial.devices import add3, load3, norm3, scale3, sub3

ITERATIONS = 400
KEEP = 0.1
"""s: the part of a distance that is left for the next step."""


@device
def along(x, d, t):
    return add3(x, scale3(t, d))


@device
def mean4(a, b, c, d):
    return scale3(0.25, add3(add3(a, b), add3(c, d)))


@device
def safe_time(kind, a, b, c, d, da, db, dc, dd, most, gap, cap):
    """The largest safe t ≤ most of a stencil: kind 0 point a against triangle b c d, kind 1 edge a b against edge c d."""
    mean = mean4(da, db, dc, dd)
    da = sub3(da, mean)
    db = sub3(db, mean)
    dc = sub3(dc, mean)
    dd = sub3(dd, mean)
    if kind == 0:
        speed = norm3(da) + max(norm3(db), max(norm3(dc), norm3(dd)))
    else:
        speed = max(norm3(da), norm3(db)) + max(norm3(dc), norm3(dd))
    if speed == 0.0:
        return most
    t = 0.0
    keep = -1.0
    for _ in range(cap):
        p = along(a, da, t)
        q = along(b, db, t)
        r = along(c, dc, t)
        w = along(d, dd, t)
        if kind == 0:
            apart = point_triangle(p, q, r, w)[1]
        else:
            apart = edge_edge(p, q, r, w)[1]
        distance = norm3(apart) - gap
        if keep < 0.0:
            keep = KEEP * distance
        if t > 0.0 and distance <= keep:
            return t
        ahead = t + (1.0 - KEEP) * distance / speed
        if t > 0.0 and ahead - t < 1e-12 * most:
            return t
        t = ahead
        if t >= most:
            return most
    return t


@kernel
def safe_step(points: Ints, edge_pairs: Ints, faces: Ints, edges: Ints, x: Floats, dx: Floats, gap: float, most: float, cap: int) -> float:
    """The largest part t ≤ most of the motion dx from x that no candidate forbids, in at most `cap` iterations for each."""
    t = most
    for k in range(points.size // 2):
        v = points[2 * k]
        f = 3 * points[2 * k + 1]
        i = faces[f]
        j = faces[f + 1]
        l = faces[f + 2]
        t = safe_time(
            0, load3(x, 3 * v), load3(x, 3 * i), load3(x, 3 * j), load3(x, 3 * l),
            load3(dx, 3 * v), load3(dx, 3 * i), load3(dx, 3 * j), load3(dx, 3 * l), t, gap, cap,
        )  # fmt: skip
    for k in range(edge_pairs.size // 2):
        e = 2 * edge_pairs[2 * k]
        f = 2 * edge_pairs[2 * k + 1]
        t = safe_time(
            1, load3(x, 3 * edges[e]), load3(x, 3 * edges[e + 1]), load3(x, 3 * edges[f]), load3(x, 3 * edges[f + 1]),
            load3(dx, 3 * edges[e]), load3(dx, 3 * edges[e + 1]), load3(dx, 3 * edges[f]), load3(dx, 3 * edges[f + 1]), t, gap, cap,
        )  # fmt: skip
    return t


def safe_step_from_planes(height: np.ndarray, change: np.ndarray, gap: float, most: float) -> float:
    """The largest part of a motion that leaves points above half-spaces at KEEP of their heights: heights and their changes, (l,) each."""
    falling = change < 0.0
    if not falling.any():
        return most
    return float(min(most, ((1.0 - KEEP) * (height[falling] - gap) / -change[falling]).min()))
