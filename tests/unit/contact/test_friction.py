"""Friction as a potential: the smooth law, and exact first and second derivatives in the coordinates of both bodies."""

from __future__ import annotations

import numpy as np
import pytest
from pairs import Pair, dense, difference

import unibody as ub
from unibody.contact.barrier import contact_forces
from unibody.contact.friction import LaggedFriction, smooth
from unibody.solvers.barrier.contact_potential import add_friction_blocks, add_friction_gradient, friction_value
from unibody.solvers.barrier.incremental_potential import pair_places

SLIP = 1e-3
BOX = ub.Box((1.0, 0.8, 0.6))


def test_smooth_law():
    """f₁ = f₀′ runs from 0 to 1 without a kink at ε."""
    e, h = 0.3, 1e-6
    for y in (0.01, 0.1, 0.2999, 0.3, 0.3001, 2.0):
        _, over, slope = smooth(y, e)
        assert (smooth(y + h, e)[0] - smooth(y - h, e)[0]) / (2 * h) == pytest.approx(over * y, abs=1e-6)
        assert ((y + h) * smooth(y + h, e)[1] - (y - h) * smooth(y - h, e)[1]) / (2 * h) == pytest.approx(slope, abs=2e-5)
    assert smooth(0.0, e) == pytest.approx((e / 3.0, 2.0 / e, 2.0 / e)) and smooth(5.0, e)[1] * 5.0 == 1.0


@pytest.fixture(params=["sticking", "sliding", "resting", "half-space"])
def rubbing(request):
    """Potential, gradient and blocks of two bodies whose relative displacement is below, above and at nothing of the slip."""
    first = ub.Plane() if request.param == "half-space" else BOX
    z = 0.33 if request.param == "half-space" else 0.63
    pair = Pair(first, BOX, ub.Pose(), ub.Pose.about((0.1, 0.2, 1.0), 0.05, p=(0.1, 0.07, z)), 0.1)
    c = pair.contacts(pair.Q)
    lag = LaggedFriction.of(c, contact_forces(c, 1e5, 0.1), np.full(len(c), 0.4))
    size = {"sticking": 1e-4, "sliding": 3e-2, "resting": 0.0, "half-space": 6e-4}[request.param]
    Q0 = pair.Q
    Q = Q0 + size * np.random.default_rng(1).standard_normal(Q0.shape)
    at, slips = (lag.contacts.pair.reshape(-1), lag.contacts.record.reshape(-1)), np.full(len(lag.bound), SLIP)

    def value(Q):
        return friction_value(*at, lag.bound, slips, Q.reshape(-1), Q0.reshape(-1))

    def gradient(Q):
        out = np.zeros(Q.size)
        add_friction_gradient(*at, lag.bound, slips, 1.0, Q.reshape(-1), Q0.reshape(-1), out)
        return out

    def matrix(Q):
        keys, places = pair_places([lag.contacts.pair], len(Q))
        own, between = np.zeros(144 * len(Q)), np.zeros(144 * len(keys))
        add_friction_blocks(at[0], places[0], at[1], lag.bound, slips, 1.0, Q.reshape(-1), Q0.reshape(-1), False, own, between)
        return dense(own, between, keys, len(Q))

    assert len(lag.bound) > 3
    return Q, value, gradient, matrix


def test_gradient(rubbing):
    Q, value, gradient, _ = rubbing
    scale = max(1.0, np.abs(gradient(Q)).max())
    assert np.allclose(gradient(Q), difference(value, Q, 1e-8), rtol=1e-4, atol=1e-4 * scale)


def test_second_derivative_is_exact_and_positive(rubbing):
    Q, _, gradient, matrix = rubbing
    H = matrix(Q)
    assert np.allclose(H, H.T, rtol=1e-12, atol=1e-9 * np.abs(H).max())
    assert np.allclose(H, difference(gradient, Q, 1e-9), rtol=1e-3, atol=1e-3 * np.abs(H).max())
    values = np.linalg.eigvalsh(H)
    assert values.min() > -1e-9 * values.max() and values.max() > 0.0


def test_only_what_presses_rubs():
    pair = Pair(BOX, BOX, ub.Pose(), ub.Pose(p=(0.1, 0.07, 0.63)), 0.1)
    c = pair.contacts(pair.Q)
    force = contact_forces(c, 1e5, 0.1)
    assert len(LaggedFriction.of(c, force, np.zeros(len(c))).bound) == 0
    some = np.where(np.arange(len(c)) % 2 == 0, 0.3, 0.0)
    lag = LaggedFriction.of(c, force, some)
    assert lag.bound == pytest.approx((0.3 * force)[(some > 0.0) & (force > 0.0)])
