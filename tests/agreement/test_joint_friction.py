"""Friction in joints in two formulations: bilateral staggered projections in reduced coordinates (RedMax), and staggered projections of
bodies that contact points hold together, in maximal ones (paper 000, Alg. 2), on the same chain of hinges at 45°.

With multipliers of either sign both are the same law and move alike. Multipliers that only push distribute loads otherwise: of a force
across a pin one side carries all instead of half, which is the same sum, but of a torque and a thrust together the points that a
bilateral pin pulls at are missing; here the first step of two links is an eighth slower.
"""

from __future__ import annotations

import numpy as np
import pytest
from paper_friction import Paper, chain, rubbed

import unibody as ub

H, STEPS = 0.01, 25


def reduced(case):
    return ub.Simulation(rubbed(case).build(), ub.solvers.RedMax(inertia="explicit"), dt=H).run(H * STEPS)


def maximal(case, bilateral, steps=STEPS, most=500, tolerance=1e-9):
    """Velocities of the joints after each step, and the iterations of each."""
    bodies, rates, iterations = Paper(case), [], []
    for _ in range(steps):
        iterations.append(bodies.staggered_step(bilateral, tolerance, most))
        rates.append(bodies.v.copy())
    return np.array(rates), np.array(iterations)


@pytest.mark.parametrize("mu", [0.05, 0.3])
def test_contacts_that_hold_both_ways_move_the_chain_alike(mu):
    case = chain(3, mu, H)
    ours = reduced(case)
    rates, iterations = maximal(case, bilateral=True)
    np.testing.assert_allclose(ours.v[1:], rates, atol=1e-5 * np.abs(rates).max())
    own = [report.iterations for report in ours.reports[1:]]
    assert np.mean(own) < np.mean(iterations)  # what joints hold by themselves need not be iterated for


def test_contacts_that_only_push_distribute_the_load_differently():
    """The first step, from rest: by how much."""
    case = chain(2, 0.1, H)
    both, _ = maximal(case, bilateral=True, steps=1)
    push, _ = maximal(case, bilateral=False, steps=1, tolerance=1e-6)
    assert push[0, 0] / both[0, 0] == pytest.approx(0.872, abs=0.002)
