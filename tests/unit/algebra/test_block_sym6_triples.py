"""Triples and blocks of triples against dense algebra in NumPy, and the sines of triples against the library's."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unibody.algebra.block.sym6_triples import (
    fetch_block,
    plus_block,
    plus_rigid,
    put_block,
    shifted,
    shifted_wrench,
    times_angular,
    times_motion,
    without,
)
from unibody.coordinates.reduced.kinematics import fill_turns
from unibody.kernel import Floats, kernel
from unibody.spatial.triples import composed, crossed, fetch_columns, put_columns, rotated, rotated_symmetric

from unibody.triple import (  # isort: skip
    across_x, across_y, across_z, back, fetch, fetch_four, join, join_four, minus, plus, put, put_four, put_only, spread, spread_four, sums,
    swap, total, total_four, totals, turn, x_of, y_of, z_of,
)  # fmt: skip


@kernel
def work_on_block(
    block: Floats, rigid: Floats, twist: Floats, r: Floats, factor: float, sum_out: Floats, drop_out: Floats, u_out: Floats
) -> None:
    b = plus_rigid(fetch_block(block, 0), rigid, 0)
    s = fetch(twist, 0)
    t = fetch(twist, 3)
    put_block(plus_block(b, b), 0, sum_out)
    put_block(without(shifted(b, fetch(r, 0)), s, t, factor), 0, drop_out)
    a, l = times_motion(b, s, t)
    put(a, 0, u_out)
    put(l, 3, u_out)
    a, l = times_angular(b, s)
    put(a, 6, u_out)
    put(l, 9, u_out)
    put_only(shifted_wrench(s, t, fetch(r, 0)), 12, u_out)


@kernel
def work_on_triples(x: Floats, y_out: Floats) -> None:
    a = fetch(x, 0)
    b = fetch(x, 3)
    put(crossed(a, b), 0, y_out)
    put(turn(a) + 2.0 * back(b), 3, y_out)
    put(plus(a, b, total(a)), 6, y_out)
    put(minus(spread(1.0), a, b), 9, y_out)
    put_only(join(z_of(a), x_of(a), y_of(a) - plus(1.0, 2.0, 3.0)), 12, y_out)


@kernel
def work_on_fours(x: Floats, y_out: Floats) -> None:
    a, b, c = fetch_four(x, 0), fetch_four(x, 4), fetch_four(x, 8)
    put_four(plus(a * 2.0, b, c) - spread_four(3.0), 0, y_out)
    put_only(totals(a, b, c), 4, y_out)
    y_out[7] = total_four(b)
    p, q, r, s = fetch(x, 0), fetch(x, 3), fetch(x, 6), fetch(x, 9)
    put_four(across_x(p, q, r, s), 8, y_out)
    put_four(across_y(p, q, r, s), 12, y_out)
    put_four(across_z(p, q, r, s), 16, y_out)
    put_only(swap(q), 20, y_out)
    put_four(join_four(x[3], x[2], x[1], x[0]), 23, y_out)
    put_only(sums(p, q, r), 27, y_out)


@kernel
def work_on_rotation(R: Floats, a: Floats, y_out: Floats) -> None:
    turned = fetch_columns(R, 0)
    put_columns(composed(turned, a, 0), 0, y_out)
    put(rotated(turned, a, 9), 9, y_out)
    diagonal, beside = rotated_symmetric(turned, a, 12)
    put(diagonal, 12, y_out)
    put_only(beside, 15, y_out)


def packed(B: np.ndarray) -> np.ndarray:
    """A symmetric block as `algebra.cyclic` keeps it."""
    i, j, k = np.arange(3), (np.arange(3) + 1) % 3, (np.arange(3) + 2) % 3
    A, M, C = B[:3, :3], B[:3, 3:], B[3:, 3:]
    return np.concatenate([A[i, i], A[j, k], M[i, i], M[i, j], M[i, k], C[i, i], C[j, k]])


def skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def test_fours(rng: np.random.Generator) -> None:
    x, y = rng.standard_normal(13), np.zeros(30)
    work_on_fours(x, y)
    a, b, c = x[:12].reshape(3, 4)
    np.testing.assert_allclose(y[:4], 2.0 * a + b * c - 3.0, atol=1e-15)
    np.testing.assert_allclose(y[4:8], [a.sum(), b.sum(), c.sum(), b.sum()], atol=1e-15)
    np.testing.assert_array_equal(y[8:20].reshape(3, 4), x[:12].reshape(4, 3).T)
    assert y[20:27].tolist() == x[[3, 5, 4, 3, 2, 1, 0]].tolist()
    np.testing.assert_allclose(y[27:], x[:9].reshape(3, 3).sum(axis=1), atol=1e-15)


def test_blocks(rng: np.random.Generator) -> None:
    B = rng.standard_normal((6, 6))
    B = B + B.T
    mass, h, J, twist, r = 1.7, rng.standard_normal(3), rng.standard_normal((3, 3)), rng.standard_normal(6), rng.standard_normal(3)
    J = J + J.T
    rigid = np.concatenate([[mass], h, np.diag(J), [J[1, 2], J[2, 0], J[0, 1]], [0.0]])
    whole = B + np.block([[J, skew(h)], [-skew(h), mass * np.eye(3)]])
    T = np.block([[np.eye(3), np.zeros((3, 3))], [-skew(r), np.eye(3)]])
    twice, drop, u = np.zeros(22), np.zeros(22), np.full(16, 7.0)
    work_on_block(np.append(packed(B), 0.0), rigid, np.append(twist, 0.0), np.append(r, 0.0), 0.3, twice, drop, u)
    assert twice[:21] == pytest.approx(packed(2.0 * whole), rel=1e-14)
    assert drop[:21] == pytest.approx(packed(T.T @ whole @ T - 0.3 * np.outer(twist, twist)), rel=1e-12, abs=1e-13)
    assert u[:6] == pytest.approx(whole @ twist, rel=1e-13)
    assert u[6:12] == pytest.approx(whole[:, :3] @ twist[:3], rel=1e-13)
    assert u[12:15] == pytest.approx((T.T @ twist)[:3], rel=1e-13)
    assert u[15] == 7.0


def test_triples(rng: np.random.Generator) -> None:
    x, y = rng.standard_normal(7), np.full(16, 7.0)
    a, b = x[:3], x[3:6]
    work_on_triples(x, y)
    expected = [np.cross(a, b), a[[1, 2, 0]] + 2.0 * b[[2, 0, 1]], a + b * a.sum(), 1.0 - a * b, [a[2], a[0], a[1] - 7.0], [7.0]]
    assert y == pytest.approx(np.concatenate(expected), rel=1e-14, abs=1e-15)


def test_rotations(rng: np.random.Generator) -> None:
    R, Q, J = np.linalg.qr(rng.standard_normal((3, 3)))[0], rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    v = rng.standard_normal(3)
    J = J + J.T
    y = np.full(19, 7.0)
    work_on_rotation(np.concatenate([R.T.ravel(), [0.0]]), np.concatenate([Q.ravel(), v, J[np.triu_indices(3)]]), y)
    turned = R @ J @ R.T
    beside = [turned[1, 2], turned[2, 0], turned[0, 1]]
    assert y == pytest.approx(np.concatenate([(R @ Q).T.ravel(), R @ v, np.diag(turned), beside, [7.0]]), rel=1e-13, abs=1e-14)


def test_sines_of_triples(rng: np.random.Generator) -> None:
    near = np.concatenate([rng.uniform(-1.0, 1.0, 300), rng.uniform(-1e5, 1e5, 300), 0.5 * math.pi * np.arange(-30, 30)])
    far = np.array([1e5, -3e7, 1e300])
    for angles in (near, far, np.array([0.0, math.nan, 1.0])):
        places = np.stack([np.arange(angles.size), 2 * np.arange(angles.size)], axis=1).reshape(-1, 3, 2).swapaxes(1, 2)
        table = np.zeros(2 * angles.size)
        fill_turns(places.ravel(), angles, table)
        for found, sought in ((table[0::2], np.cos(angles)), (table[1::2], np.sin(angles))):
            assert np.array_equal(np.isnan(found), np.isnan(angles))
            known = ~np.isnan(angles)
            # the library errs by half a unit in the last place or a little more, and so do we
            assert np.all(np.abs(found - sought)[known] <= 1.01 * np.spacing(np.abs(sought[known])))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)
