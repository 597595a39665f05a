"""Knots: a curve that is tied once, and the invariant that tells a tied curve from one that only looks so.

The determinant of a knot is its Alexander polynomial at −1, without sign: 1 for a curve that is not knotted, 3 for a trefoil, 5 for a
figure eight. It follows from any projection: each of its c crossings gives a row 2 (arc above) − (arc that goes in below) − (arc that comes
out below) over the c arcs from one passage below to the next, and the determinant is that of any minor of order c − 1 (Fox's colourings).

A curve with ends has no knot; `closed` leads both ends straight on, far away from the rest, and joins them there.
"""

from __future__ import annotations

import numpy as np

# fmt: off
OVERHAND = 1e-3 * np.array([
    (0, 0, 0), (9.9, 0.8, 0.9), (19.5, 2.8, 3), (28.5, 6, 6), (37.1, 10.2, 8.9), (45.5, 15.2, 10.7), (54.2, 20.2, 10.5),
    (62.8, 24.4, 7.8), (71, 26.8, 2.7), (78.2, 26.4, -4.2), (83.6, 22.9, -11.7), (86.4, 16.2, -18.5), (86.1, 7.4, -22.9),
    (83, -2, -24.1), (77.9, -10.3, -22.3), (71.5, -16.9, -18.3), (64.6, -21.6, -12.9), (57.3, -24.4, -6.6), (50, -25.3, 0.1),
    (42.6, -24.4, 6.8), (35.4, -21.6, 13.1), (28.4, -17, 18.6), (22.1, -10.3, 22.6), (17, -2, 24.3), (13.8, 7.4, 23.2),
    (13.5, 16.2, 18.8), (16.3, 22.9, 12), (21.7, 26.4, 4.4), (28.9, 26.8, -2.4), (37.2, 24.4, -7.5), (45.8, 20.2, -10.2),
    (54.4, 15.2, -10.4), (62.9, 10.2, -8.6), (71.5, 6, -5.7), (80.5, 2.8, -2.7), (90, 0.8, -0.6), (100, 0, 0.3),
])
# fmt: on
"""Points [m], 1 cm apart, of an overhand knot: of all curves of 0.36 m that stay 21.5 mm from themselves and whose ends are led along x,
0.1 m apart, the one that bends least (least ∫κ² ds, found numerically). Its tightest bend has a radius of 21 mm."""


def determinant(points: np.ndarray) -> int:
    """The determinant of the closed polygon through the points, (n, 3)."""
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))  # a direction of projection along which nothing is special
    p = np.asarray(points, float) @ turn.T
    n = len(p)
    q = np.roll(p, -1, axis=0)
    i, j = np.triu_indices(n, 2)
    i, j = i[(i > 0) | (j < n - 1)], j[(i > 0) | (j < n - 1)]
    a, b, c = q[i] - p[i], q[j] - p[j], p[j] - p[i]
    area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    area[area == 0.0] = np.inf
    u, w = (c[:, 0] * b[:, 1] - c[:, 1] * b[:, 0]) / area, (c[:, 0] * a[:, 1] - c[:, 1] * a[:, 0]) / area
    cross = (u > 0.0) & (u < 1.0) & (w > 0.0) & (w < 1.0)
    i, j, u, w, a, b = i[cross], j[cross], u[cross], w[cross], a[cross], b[cross]
    first_above = p[i, 2] + u * a[:, 2] > p[j, 2] + w * b[:, 2]
    above, below = np.where(first_above, i + u, j + w), np.where(first_above, j + w, i + u)
    crossings = below.size
    if crossings < 3:
        return 1
    ends = np.sort(below)  # arc m lies between ends m − 1 and m
    rows, into = np.arange(crossings), np.searchsorted(ends, below)
    matrix = np.zeros((crossings, crossings))
    np.add.at(matrix, (rows, np.searchsorted(ends, above) % crossings), 2.0)
    np.add.at(matrix, (rows, into), -1.0)
    np.add.at(matrix, (rows, (into + 1) % crossings), -1.0)
    return round(abs(np.linalg.det(matrix[1:, 1:])))


def closed(points: np.ndarray) -> np.ndarray:
    """The curve with its ends led on far away and joined there."""
    p = np.asarray(points, float)
    far = 100.0 * np.linalg.norm(np.ptp(p, axis=0))
    ahead, back = p[-1] - p[-2], p[0] - p[1]
    last, first = p[-1] + far * ahead / np.linalg.norm(ahead), p[0] + far * back / np.linalg.norm(back)
    aside = np.cross(last - p[-1], first - p[0]) + far * far * np.array([0.1, 0.2, 0.3])
    return np.concatenate([[first], p, [last, p.mean(axis=0) + 10.0 * far * aside / np.linalg.norm(aside)]])


def arclength(points: np.ndarray) -> np.ndarray:
    """The way along a polygon to each of its points, (n,)."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
