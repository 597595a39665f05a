"""Staggered projections on small problems with known answers: blocks on planes, beads between walls, boxes against SciPy, discs by their
conditions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from staggered_projections import staggered_projections
from unibody.algebra.friction.bounded import friction_residual, solve_friction
from unibody.algebra.friction.staggered import FrictionPoint, stagger

G, H = 9.81, 0.01


def one(n):
    return np.ones(n, np.int64)


def spd(rng, n, rank=None):
    A = rng.standard_normal((rank or n, n))
    return A.T @ A


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rank", [None, 4])
def test_bounded_numbers_are_those_of_scipy(seed, rank):
    """½ |A u + c|² within ±b; where H is singular the slip is still unique."""
    rng = np.random.default_rng(seed)
    n = 9
    A, c, b = rng.standard_normal((rank or n, n)), rng.standard_normal(rank or n), rng.uniform(0.0, 0.6, n)
    other = lsq_linear(A, -c, (-b - 1e-300, b + 1e-300), tol=1e-14, max_iter=500, method="bvls").x
    u = solve_friction(A.T @ A, A.T @ c, one(n), b, np.zeros(n))
    assert (np.abs(u) <= b + 1e-12).all()
    np.testing.assert_allclose(A @ u, A @ other, atol=1e-8)
    assert friction_residual(A.T @ A, A.T @ c, b, u) < 1e-10


@pytest.mark.parametrize("seed", range(5))
def test_discs_stop_slip_or_oppose_it_at_the_bound(seed):
    """Coulomb's conditions block by block, whichever holds."""
    rng = np.random.default_rng(seed)
    n = 5
    response, s, b = spd(rng, 2 * n), rng.standard_normal(2 * n), rng.uniform(0.02, 0.5, n)
    u = solve_friction(response, s, np.full(n, 2), b, np.zeros(2 * n)).reshape(n, 2)
    slip = (s + response @ u.ravel()).reshape(n, 2)
    sizes, speeds = np.linalg.norm(u, axis=1), np.linalg.norm(slip, axis=1)
    assert (sizes <= b + 1e-12).all()
    sliding = sizes > b - 1e-9
    assert sliding.any()
    np.testing.assert_allclose(speeds[~sliding], 0.0, atol=1e-7)
    np.testing.assert_allclose(u[sliding], -b[sliding, None] * slip[sliding] / speeds[sliding, None], atol=1e-7)


def test_nothing_to_rub_gives_nothing():
    assert solve_friction(np.zeros((0, 0)), np.zeros(0), one(0), np.zeros(0), np.zeros(0)).size == 0


def test_friction_without_a_response_pushes_as_hard_as_it_may():
    u = solve_friction(np.zeros((2, 2)), np.array([3.0, 4.0]), np.array([2]), np.array([10.0]), np.zeros(2))
    np.testing.assert_allclose(u, [-6.0, -8.0])


def on_a_plane(mu, v, mass=2.0, **options):
    """A block on z = 0 after a step of gravity: v⁺, α, friction."""
    v = np.array([*v, -G * H])
    N, T = np.array([[0.0, 0.0, 1.0]]), np.eye(3)[:2]
    return staggered_projections(lambda X: X / mass, N, T, v, lambda a: mu * np.abs(a), np.array([2]), np.zeros(2), **options)


def test_block_slides_with_coulombs_deceleration():
    v, alpha, found = on_a_plane(0.4, (3.0, 4.0))
    np.testing.assert_allclose(v, [3.0 - 0.6 * 0.4 * G * H, 4.0 - 0.8 * 0.4 * G * H, 0.0], atol=1e-12)
    assert alpha == pytest.approx([2.0 * G * H])
    assert found.converged and found.iterations <= 2


def test_slow_block_sticks():
    v, _, found = on_a_plane(0.4, (0.6 * 0.39 * G * H, 0.8 * 0.39 * G * H))
    np.testing.assert_allclose(v, 0.0, atol=1e-12)
    assert np.linalg.norm(found.friction) == pytest.approx(2.0 * 0.39 * G * H)


def test_block_that_leaves_is_neither_pushed_nor_rubbed():
    v, alpha, found = on_a_plane(0.4, (3.0, 4.0))
    N, T = np.array([[0.0, 0.0, 1.0]]), np.eye(3)[:2]
    up = np.array([3.0, 4.0, 1.0])
    v, alpha, found = staggered_projections(lambda X: X, N, T, up, lambda a: 0.4 * np.abs(a), np.array([2]), np.zeros(2))
    np.testing.assert_array_equal(v, up)
    assert not alpha.any() and not found.friction.any()


def test_bead_between_walls_shares_its_load_with_both_if_they_hold_both_ways():
    """A bead of 1 kg between two walls, pressed by 6 N s against one: unilateral contacts give (6, 0), bilateral ones (3, −3); the bounds
    μ Σ |α| are the same, and so is the motion."""
    N, T, v = np.array([[0.0, 1.0], [0.0, -1.0]]), np.array([[1.0, 0.0]]), np.array([5.0, -6.0])
    results = [
        staggered_projections(lambda X: X, N, T, v, lambda a: np.array([0.5 * np.abs(a).sum()]), one(1), np.zeros(1), bilateral=both)
        for both in (False, True)
    ]
    np.testing.assert_allclose(results[0][1], [6.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(results[1][1], [3.0, -3.0], atol=1e-12)
    for moved, _, _ in results:
        np.testing.assert_allclose(moved, [2.0, 0.0], atol=1e-12)


def test_ladder_needs_several_turns_and_ends_where_statics_says():
    """A rod against a rough wall and on a rough floor, too steep to slip: it stays."""
    angle, length, mass, mu = np.radians(75.0), 2.0, 3.0, 0.4
    half = 0.5 * length * np.array([np.cos(angle), np.sin(angle)])
    inertia = np.diag([mass, mass, mass * length**2 / 12.0])

    def row(p, n):
        return np.array([*n, p[0] * n[1] - p[1] * n[0]])

    foot, head = np.array([half[0], -half[1]]), np.array([-half[0], half[1]])
    N = np.array([row(foot, (0.0, 1.0)), row(head, (1.0, 0.0))])
    T = np.array([row(foot, (1.0, 0.0)), row(head, (0.0, 1.0))])
    inverse = np.linalg.inv(inertia)
    v, alpha, found = staggered_projections(
        lambda X: inverse @ X, N, T, np.array([0.0, -G * H, 0.0]), lambda a: mu * np.abs(a), one(2), np.zeros(2), tolerance=1e-12, most=500
    )
    assert found.converged and found.iterations > 2
    np.testing.assert_allclose(v, 0.0, atol=1e-9)
    assert (np.abs(found.friction) <= mu * alpha + 1e-9).all()
    # Balance of forces: floor and wall friction carry the weight, wall and floor friction cancel across.
    assert alpha[0] + found.friction[1] == pytest.approx(mass * G * H, rel=1e-9)
    assert alpha[1] + found.friction[0] == pytest.approx(0.0, abs=1e-9)


def growing(a, c, s=-10.0):
    """A load a + c u that friction u enlarges; slip s + u."""

    def contact(u):
        load = np.array([a + c * abs(u[0])])
        return FrictionPoint(load, load, s + u, np.eye(1))

    return contact


def test_bounds_that_depend_on_friction_end_at_the_fixed_point():
    """|u| = a + c |u|: u = a / (1 − c)."""
    found = stagger(growing(2.0, 0.5), one(1), np.zeros(1), tolerance=1e-13)
    assert found.converged and found.friction == pytest.approx([4.0], rel=1e-11)


def test_warm_start_needs_one_turn():
    cold = stagger(growing(2.0, 0.3), one(1), np.zeros(1), tolerance=1e-10)
    warm = stagger(growing(2.0, 0.3), one(1), cold.friction, tolerance=1e-9)
    assert cold.iterations > 5 and warm.iterations == 1


def test_self_locking_sticks():
    """Friction that enlarges its own bound more than itself can only stick."""
    found = stagger(growing(2.0, 1.5), one(1), np.zeros(1))
    assert found.converged and found.friction == pytest.approx([10.0])


def test_what_does_not_settle_says_so():
    flips = iter(range(1000))

    def contact(u):
        load = np.array([1.0 + next(flips) % 2])
        return FrictionPoint(load, load, -10.0 + u, np.eye(1))

    found = stagger(contact, one(1), np.zeros(1), most=20)
    assert not found.converged and found.iterations == 20 and found.change > 0.4
