"""The barrier: values of the formula, derivatives by differences through the whole chain from coordinates to energy, positive blocks."""

from __future__ import annotations

import numpy as np
import pytest
from pairs import Pair, dense, difference

import unibody as ub
from unibody.collision.proximity import SHARE, WIDTH
from unibody.contact.barrier import barrier, contact_forces
from unibody.solvers.barrier.contact_potential import (
    add_barrier_blocks,
    add_barrier_gradient,
    add_curvature_blocks,
    add_exact_blocks,
    barrier_value,
)  # fmt: skip
from unibody.solvers.barrier.incremental_potential import pair_places

KAPPA, REACH = 1e5, 0.1
BOX = ub.Box((1.0, 0.8, 0.6))
TETRAHEDRON = ub.Mesh(np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float), np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]))

CASES = {
    "face on face, parallel": (BOX, BOX, ub.Pose(), ub.Pose(p=(0.1, 0.07, 0.63))),
    "face on face, nearly parallel": (BOX, BOX, ub.Pose(), ub.Pose.about((0.3, 1.0, 0.2), 0.02, p=(0.1, 0.07, 0.64))),
    "edge on edge": (BOX, BOX, ub.Pose.about((1, 0, 0), 0.7), ub.Pose.about((0, 1, 0), 0.7, p=(0.05, 0.02, 1.12))),
    "corner on face": (TETRAHEDRON, BOX, ub.Pose(), ub.Pose.about((1.0, -0.7, 0.1), 0.8, p=(0.1, 0.15, -0.71))),
    "corner on corner": (TETRAHEDRON, TETRAHEDRON, ub.Pose(), ub.Pose.about((1.0, 1.0, 0.2), 2.9, p=(0.02, 0.03, 1.05))),
    "over a half-space": (ub.Plane(), BOX, ub.Pose.about((1, 0, 0), 0.3), ub.Pose.about((1, 0, 0), 0.28, p=(0.1, 0.0, 0.37))),
    "crossed at a small angle": (BOX, BOX, ub.Pose(), ub.Pose.about((0, 0, 1), 0.02, p=(1.02, 0.83, 0.05))),
}


@pytest.fixture(params=CASES, scope="module")
def pair(request):
    return Pair(*CASES[request.param], REACH)


def value(pair, Q):
    return barrier_value(pair.contacts(Q).record.reshape(-1), KAPPA, REACH)


def gradient(pair, Q):
    c, out = pair.contacts(Q), np.zeros(Q.size)
    add_barrier_gradient(c.pair.reshape(-1), c.record.reshape(-1), KAPPA, REACH, 1.0, out)
    return out


def matrix(pair, Q, add=add_barrier_blocks):
    c = pair.contacts(Q)
    keys, places = pair_places([c.pair], len(Q))
    own, between = np.zeros(144 * len(Q)), np.zeros(144 * len(keys))
    add(c.pair.reshape(-1), places[0], c.record.reshape(-1), KAPPA, REACH, 1.0, own, between)
    return dense(own, between, keys, len(Q))


def around(pair, seed, size=3e-3):
    """Coordinates near the pair's, not rigid: the derivative is that of affine bodies. A half-space stays rigid."""
    rng = np.random.default_rng(seed)
    Q = pair.Q + size * rng.standard_normal(pair.Q.shape)
    if len(pair.surface.plane_body):
        Q[1] = pair.Q[1]
    return Q


def moving(pair):
    """Coordinates that have a say: half-spaces lie on bodies with known motion."""
    return slice(24, 36) if len(pair.surface.plane_body) else slice(12, 36)


def test_formula():
    """B = −κ A d̂ (ξ − 1)² ln ξ with the values of a pocket calculator at ξ = ½, and smooth at ξ = 1."""
    b, b1, b2 = barrier(np.array([0.5, 1.0, 1.5]))
    assert b == pytest.approx([0.25 * np.log(2.0), 0.0, 0.0])
    assert b1 == pytest.approx([-np.log(2.0) - 0.5, 0.0, 0.0]) and b2 == pytest.approx([2.0 * np.log(2.0) + 5.0, 0.0, 0.0])
    xi, h = np.linspace(0.02, 0.999999, 97), 1e-7
    for f, df in ((0, 1), (1, 2)):
        slope = (barrier(xi + h)[f] - barrier(xi - h)[f]) / (2 * h)
        assert np.allclose(slope, barrier(xi)[df], rtol=1e-5, atol=1e-5)
    assert barrier(np.array([1e-9]))[0] > 20.0


def test_infinite_where_nothing_is_between():
    record = np.zeros(WIDTH)
    record[12:14] = record[SHARE] = 1.0
    assert barrier_value(record, KAPPA, REACH) == np.inf


@pytest.mark.parametrize("seed", range(4))
def test_gradient(pair, seed):
    Q = around(pair, seed)
    assert len(pair.contacts(Q)) > 0
    g, fd = gradient(pair, Q), difference(lambda Q: value(pair, Q), Q, 1e-7)
    at = moving(pair)
    assert np.abs(g[at]).max() > 1.0
    assert np.allclose(g[at], fd[at], rtol=2e-5, atol=2e-5 * np.abs(g).max())


def test_energy_has_no_kinks_along_a_way(pair):
    """Moving the second body across the first, through all regions: the gradient is the slope of the energy everywhere."""
    rng = np.random.default_rng(0)
    direction = np.zeros_like(pair.Q)
    direction[2] = rng.standard_normal((4, 3)) * 0.03
    ways = np.linspace(-1.0, 1.0, 801)
    values = np.array([value(pair, pair.Q + s * direction) for s in ways])
    slopes = np.array([gradient(pair, pair.Q + s * direction) @ direction.ravel() for s in ways])
    ok = np.isfinite(values[2:]) & np.isfinite(values[:-2]) & np.isfinite(slopes[1:-1])
    good = ok & (np.array([pair.contacts(pair.Q + s * direction).distance.min(initial=1.0) for s in ways[1:-1]]) > 0.01)
    rise = (values[2:] - values[:-2]) / (ways[2:] - ways[:-2])
    assert good.sum() > 50
    assert np.abs(rise - slopes[1:-1])[good].max() < 2e-2 * np.abs(slopes[1:-1][good]).max()


def test_blocks_are_symmetric_and_positive(pair):
    for seed in range(3):
        H = matrix(pair, around(pair, seed))
        assert np.abs(H).max() > 1.0 and np.allclose(H, H.T, rtol=1e-12, atol=1e-9 * np.abs(H).max())
        values = np.linalg.eigvalsh(H)
        assert values.min() > -1e-9 * values.max()


def test_blocks_are_the_second_derivative_but_for_the_curvature_of_distances(pair):
    """∂²B = B″ ∇d ∇dᵀ + B′ ∇²d: along the way on which distances change most, the first term is nearly all."""
    Q = around(pair, 1, 1e-4)
    at = moving(pair)
    H, fd = matrix(pair, Q)[at, at], difference(lambda Q: gradient(pair, Q), Q, 1e-7)[at, at]
    w = np.linalg.eigh(H)[1][:, -1]
    assert w @ fd @ w == pytest.approx(w @ H @ w, rel=0.15)
    if len(pair.surface.plane_body):
        assert np.allclose(H, fd, rtol=1e-4, atol=1e-4 * np.abs(H).max())


@pytest.mark.parametrize("seed", range(4))
def test_exact_blocks_are_the_second_derivative(pair, seed):
    Q = around(pair, seed)
    at = moving(pair)
    H, fd = matrix(pair, Q, add_exact_blocks)[at, at], difference(lambda Q: gradient(pair, Q), Q, 1e-8)[at, at]
    assert np.allclose(H, H.T, rtol=1e-9, atol=1e-9 * np.abs(H).max())
    assert np.allclose(H, fd, rtol=1e-4, atol=1e-5 * np.abs(H).max())


def test_curvature_made_positive(pair):
    """With it the blocks lie above the exact ones, but for what softening adds, and are still positive."""
    for seed in range(3):
        Q = around(pair, seed)
        C = matrix(pair, Q, add_curvature_blocks)
        assert np.allclose(C, C.T, rtol=1e-9, atol=1e-9 * np.abs(C).max(initial=1.0))
        values = np.linalg.eigvalsh(C)
        assert values.min() > -1e-9 * max(values.max(), 1.0)
        if not (pair.contacts(Q).record[:, 14] != 0.0).any():
            gap = np.linalg.eigvalsh(matrix(pair, Q) + C - matrix(pair, Q, add_exact_blocks))
            assert gap.min() > -1e-9 * np.abs(matrix(pair, Q)).max()


def test_forces_are_the_slope_of_the_barrier(pair):
    c = pair.contacts(pair.Q)
    force, h = contact_forces(c, KAPPA, REACH), 1e-8
    for k in range(min(5, len(c))):
        up, down = c.record[k].copy(), c.record[k].copy()
        up[11] += h
        down[11] -= h
        assert force[k] == pytest.approx(
            (barrier_value(down, KAPPA, REACH) - barrier_value(up, KAPPA, REACH)) / (2 * h), rel=1e-4, abs=1e-3
        )


def test_actions_are_equal_and_opposite(pair):
    """Neither net force nor net torque: translations and rotations of both bodies together do no work."""
    if len(pair.surface.plane_body):
        return
    Q = around(pair, 2)
    g = gradient(pair, Q).reshape(-1, 4, 3)
    assert np.abs(g[:, 0].sum(axis=0)).max() < 1e-9 * np.abs(g).max()
    torque = np.einsum("bki,bkj->ij", Q, g)
    assert np.abs(torque - torque.T).max() < 1e-9 * np.abs(g).max()
