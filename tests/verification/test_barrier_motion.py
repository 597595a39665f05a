"""Motion without contact under the barrier solver: closed forms, conservation, checkpoints."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.affine.body import moments
from unibody.solvers import Barrier

ORDERS = [("implicit", 1), ("bdf2", 2)]


def order(error, steps) -> float:
    first, second = (error(n) for n in steps)
    return float(np.log2(first / second))


@pytest.mark.parametrize(("rule", "expected"), ORDERS)
def test_a_projectile_flies_its_parabola_to_the_order_of_the_rule(rule, expected):
    b = ub.Builder()
    b.body("stone", mass=2.0, inertia=(0.1, 0.2, 0.25), V_WB=(0, 0, 0, 3, 0, 5))
    model = b.build()

    def error(n):
        end = ub.Simulation(model, Barrier(rule=rule, tolerance=1e-9), dt=0.5 / n).run(0.5, every=n).point("stone")[-1]
        return np.abs(end - (1.5, 0, 2.5 - 0.5 * 9.81 * 0.25)).max()

    assert order(error, (20, 40)) == pytest.approx(expected, abs=0.15)


@pytest.mark.parametrize(("rule", "expected"), ORDERS)
def test_a_turning_body_keeps_its_momenta(rule, expected):
    """Linear momentum to the tolerance, angular to the order of the rule."""
    b = ub.Builder(gravity=None)
    b.body("stone", mass=2.0, com=(0.1, 0, 0.05), inertia=(0.1, 0.2, 0.25), V_WB=(2, 1, -1.5, 1, 0, 0.5))
    model = b.build()

    M = moments(model.bodies[1])

    def momenta(n):
        rec = ub.Simulation(model, Barrier(rule=rule, tolerance=1e-9), dt=0.5 / n).run(0.5, every=n)
        Q, V = rec.q.reshape(-1, 4, 3), rec.v.reshape(-1, 4, 3)
        linear = np.einsum("a,tai->ti", M[0], V)
        angular = np.einsum("ab,tabi->ti", M, np.cross(Q[:, :, None], V[:, None]))
        return np.abs(linear[-1] - linear[0]).max(), np.abs(angular[-1] - angular[0]).max()

    coarse, fine = momenta(100), momenta(200)
    assert max(coarse[0], fine[0]) < 1e-8
    assert np.log2(coarse[1] / fine[1]) > expected - 0.3


def test_the_period_of_a_pendulum():
    """A rod of 1 m at 10°: 2π √(2 L / 3 g) (1 + θ²/16)."""
    b = ub.Builder()
    rod = b.body("rod", shape=ub.Box((0.02, 0.02, 1.0)))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, rod, X_BM=ub.Pose((0, 0, 0.5)), q=np.radians(10))
    rec = ub.Simulation(b.build(), Barrier(rule="bdf2"), dt=2e-3).run(1.7)
    q, t = rec.joint("hinge")[:, 0], rec.t
    down = np.flatnonzero((q[:-1] > 0) & (q[1:] <= 0))[0]
    up = np.flatnonzero((q[:-1] < 0) & (q[1:] >= 0))[0]
    crossing = [t[k] - q[k] * (t[k + 1] - t[k]) / (q[k + 1] - q[k]) for k in (down, up)]
    length = 2.0 / 3.0 * (1.0 + 0.02**2 / 1.0**2 / 4.0)
    exact = 2 * np.pi * np.sqrt(length / 9.81) * (1 + np.radians(10) ** 2 / 16)
    assert 2 * (crossing[1] - crossing[0]) == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_a_saved_run_goes_on_bit_for_bit(rule, tmp_path):
    b = ub.Builder()
    rod = b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.02))
    b.joint("ball", ub.Ball(), b.world, rod, X_BM=ub.Pose((0, 0, 0.5)), v=(1, 2, 3), damping=0.1)
    whole = ub.Simulation(b.build(), Barrier(rule=rule), dt=1e-2)
    whole.run(0.1)
    half = ub.Simulation.load(whole.save(tmp_path / "half.npz"))
    a, c = whole.run(0.1), half.run(0.1)
    assert a.q.tobytes() == c.q.tobytes() and a.v.tobytes() == c.v.tobytes()
