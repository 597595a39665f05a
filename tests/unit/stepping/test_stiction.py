"""Back onto constraints while what sticks stays: the least motion, held rows before sticking ones, and no energy from it."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.stepping.stiction import displacement, least_motion

HELD, STAYS = np.array([0, 1]), np.array([2, 3])


def problem(rng):
    root = rng.standard_normal((8, 8))
    M = root @ root.T + np.eye(8)
    J = rng.standard_normal((4, 8))
    return M, J, np.linalg.solve(M, J.T).T


def test_both_kinds_of_rows_are_met_by_the_least_motion(rng):
    """The one of least yᵀ M y with J y = −c is −Y W⁻¹ c."""
    _, J, Y = problem(rng)
    off = rng.standard_normal(4)
    y = least_motion(np.zeros(8), J, Y, HELD, off[:2], STAYS, off[2:])
    np.testing.assert_allclose(y, -Y.T @ np.linalg.solve(J @ Y.T, off), atol=1e-10)


def test_velocities_lose_energy_only(rng):
    M, J, Y = problem(rng)
    for _ in range(20):
        v = rng.standard_normal(8)
        after = v + least_motion(np.zeros(8), J, Y, HELD, J[HELD] @ v, STAYS, J[STAYS] @ v)
        np.testing.assert_allclose(J @ after, 0.0, atol=1e-10)
        assert after @ M @ after <= v @ M @ v


def test_held_rows_come_before_sticking_ones_that_contradict_them(rng):
    """The last row repeats the first: what it asks for is left alone, and the others are as if it were not there."""
    _, J, Y = problem(rng)
    J[3], Y[3] = 2.0 * J[0], 2.0 * Y[0]
    y = least_motion(np.zeros(8), J, Y, HELD, np.array([0.1, 0.2]), STAYS, np.array([0.3, 5.0]))
    np.testing.assert_allclose(J[:3] @ y, [-0.1, -0.2, -0.3], atol=1e-10)


def test_nothing_is_asked_for_nothing_moves():
    y = least_motion(np.ones(3), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, int), np.zeros(0), np.zeros(0, int), np.zeros(0))
    np.testing.assert_array_equal(y, 1.0)


@pytest.mark.parametrize("joint", [ub.Ball(), ub.Free(), ub.Planar(), ub.Composite(ub.Revolute((1, 0, 0)), ub.Prismatic((0, 0, 1)))])
def test_displacement_undoes_a_small_advance(joint, rng):
    q, v = joint.neutral(), 1e-5 * rng.standard_normal(joint.nv)
    # Joints whose velocities do not commute: of second order.
    np.testing.assert_allclose(displacement(joint, q, joint.advance(q, v, 1.0)), v, atol=1e-9)
