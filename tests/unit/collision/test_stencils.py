"""Closest points against brute force: the least over the interior, the edges and the corners, each solved by least squares."""

from __future__ import annotations

import numpy as np
import pytest

from unibody.collision.stencils import closest_of_edges, closest_on_triangle, edge_edge, point_triangle


def nearest_of(target, origin, spans):
    """Distance of a point to origin + span of the columns, and the coefficients."""
    A = np.stack(spans, axis=1)
    c = np.linalg.lstsq(A, target - origin, rcond=None)[0]
    return np.linalg.norm(origin + A @ c - target), c


def point_segment(p, a, b):
    best = min(np.linalg.norm(p - a), np.linalg.norm(p - b))
    if np.linalg.norm(b - a) > 0.0:
        d, c = nearest_of(p, a, [b - a])
        if 0.0 <= c[0] <= 1.0:
            best = min(best, d)
    return best


def point_triangle_brute(p, a, b, c):
    best = min(point_segment(p, *e) for e in ((a, b), (b, c), (c, a)))
    d, w = nearest_of(p, a, [b - a, c - a])
    return min(best, d) if w.min() >= 0.0 and w.sum() <= 1.0 else best


def edge_edge_brute(a, b, c, d):
    best = min(point_segment(a, c, d), point_segment(b, c, d), point_segment(c, a, b), point_segment(d, a, b))
    far, w = nearest_of(c, a, [b - a, -(d - c)])
    return min(best, far) if w.min() >= 0.0 and w.max() <= 1.0 else best


def points(rng, kind):
    """Four points in general position, or in one that makes trouble."""
    x = rng.uniform(-1.0, 1.0, (4, 3))
    if kind == "coplanar":
        x[:, 2] = 0.0
    elif kind == "grid":
        x = rng.integers(-1, 2, (4, 3)).astype(float)
    elif kind == "line":
        x = np.outer(rng.uniform(-1.0, 1.0, 4), rng.standard_normal(3))
    elif kind == "parallel":
        x[3] = x[2] + rng.uniform(-2.0, 2.0) * (x[1] - x[0])
    elif kind == "nearly parallel":
        x[3] = x[2] + rng.uniform(-2.0, 2.0) * (x[1] - x[0]) + 10.0 ** rng.uniform(-12, -4) * rng.standard_normal(3)
    elif kind == "needle":
        x[3] = x[1] + rng.uniform(0.0, 1.5) * (x[2] - x[1]) + 10.0 ** rng.uniform(-12, -4) * rng.standard_normal(3)
    elif kind == "point":
        x[2] = x[3] = x[1]
    return x


KINDS = ("general", "coplanar", "grid", "line", "parallel", "nearly parallel", "needle", "point")


@pytest.mark.parametrize("kind", KINDS)
def test_point_triangle(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(300):
        p, a, b, c = points(rng, kind)
        beta, r = point_triangle(*(tuple(v) for v in (p, a, b, c)))
        assert min(beta) >= -1e-12 and sum(beta) == pytest.approx(1.0, abs=1e-12)
        assert np.linalg.norm(r) == pytest.approx(point_triangle_brute(p, a, b, c), abs=1e-8 if kind == "needle" else 1e-12)
        assert np.allclose(np.array(r), p - np.array(beta) @ np.array([a, b, c]), atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_edge_edge(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(300):
        a, b, c, d = points(rng, kind)
        (s, t), r = edge_edge(*(tuple(v) for v in (a, b, c, d)))
        assert 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0
        assert np.linalg.norm(r) == pytest.approx(edge_edge_brute(a, b, c, d), abs=1e-8 if "nearly" in kind or kind == "needle" else 1e-12)
        assert np.allclose(np.array(r), (1 - s) * a + s * b - (1 - t) * c - t * d, atol=1e-14)


@pytest.mark.parametrize("kind", ["general", "coplanar", "grid"])
def test_same_as_ipctk(kind):
    ipctk = pytest.importorskip("ipctk")
    rng = np.random.default_rng(5)
    for _ in range(200):
        x = points(rng, kind)
        v = [tuple(p) for p in x]
        if np.linalg.norm(x[1] - x[0]) * np.linalg.norm(x[3] - x[2]) > 0.0:
            assert np.linalg.norm(edge_edge(*v)[1]) ** 2 == pytest.approx(ipctk.edge_edge_distance(*x), abs=1e-12)
        if np.linalg.norm(np.cross(x[2] - x[1], x[3] - x[1])) > 1e-6:
            assert np.linalg.norm(point_triangle(*v)[1]) ** 2 == pytest.approx(ipctk.point_triangle_distance(*x), abs=1e-12)


def test_corners_and_touching():
    a, b, c = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    assert closest_on_triangle((-1.0, -1.0, 2.0), a, b, c) == (1.0, 0.0, 0.0)
    assert closest_on_triangle((3.0, -1.0, 2.0), a, b, c) == (0.0, 1.0, 0.0)
    assert closest_on_triangle((0.0, 0.0, 0.0), a, b, c) == (1.0, 0.0, 0.0)
    assert closest_on_triangle((0.5, 0.5, 0.0), a, b, c) == pytest.approx((0.0, 0.5, 0.5))
    assert closest_on_triangle((0.25, 0.25, -3.0), a, b, c) == pytest.approx((0.5, 0.25, 0.25))
    assert closest_of_edges(a, b, b, c) == pytest.approx((1.0, 0.0))
    assert np.linalg.norm(edge_edge(a, b, (0.5, 0.0, 0.0), (2.0, 0.0, 0.0))[1]) == 0.0


def test_derivative_is_weight_times_normal():
    """∂d/∂xᵢ = cᵢ n, in every region, by central differences."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        x, dx, h = points(rng, "general"), rng.standard_normal((4, 3)), 1e-6

        def far(x, which):
            return np.linalg.norm(which(*(tuple(p) for p in x))[1])

        beta, r = point_triangle(*(tuple(p) for p in x))
        c = np.array([1.0, *(-b for b in beta)])
        assert (far(x + h * dx, point_triangle) - far(x - h * dx, point_triangle)) / (2 * h) == pytest.approx(
            c @ dx @ (np.array(r) / np.linalg.norm(r)), abs=1e-5
        )
        (s, t), r = edge_edge(*(tuple(p) for p in x))
        c = np.array([1 - s, s, t - 1, -t])
        assert (far(x + h * dx, edge_edge) - far(x - h * dx, edge_edge)) / (2 * h) == pytest.approx(
            c @ dx @ (np.array(r) / np.linalg.norm(r)), abs=1e-4
        )
