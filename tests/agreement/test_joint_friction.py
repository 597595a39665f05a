"""Friction in joints in two formulations: bilateral staggered projections in reduced coordinates (RedMax), and staggered projections of
bodies that contact points hold together, in maximal ones (paper 000, Alg. 2), on the same chain of hinges at 45°.

With multipliers of either sign both are the same law and move alike. Multipliers that only push distribute loads otherwise: of a force
across a pin one side carries all instead of half, which is the same sum, but of a torque and a thrust together the points that a
bilateral pin pulls at are missing; here the first step of two links is an eighth slower.
"""

from __future__ import annotations

import numpy as np
import pytest
from paper_friction import Paper
from redmax_scenes import builder_of

import unibody as ub
from unibody.algebra.staggered import staggered_projections

H, STEPS = 0.01, 25


def chain(n, mu):
    """As the scenes of `redmax_friction.json`, in m, kg, s."""
    turned = np.sqrt(0.5)
    link = {"inertia": [0.01, 0.05, 0.05, 1.0], "E_ji": [1, 0, 0, 0.25, 0, 1, 0, 0, 0, 0, 1, 0]}
    root = {
        "type": "JointRevolute", "parent": 0, "axis": [0, 0, 1], "q0": [0.0], "qdot0": [0.0], "contact_radius": 0.05, "contact_height": 0.1,
        "E_pj0": [1, 0, 0, 0, 0, turned, -turned, 0, 0, turned, turned, 0],
    }  # fmt: skip
    straight = [1, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 1, 0]
    joints = [root, *({**root, "parent": k, "E_pj0": straight, "q0": [0.2 * (-1) ** k]} for k in range(1, n))]
    return {
        "h": H, "gravity": [0, 0, -9.81], "bodies": [link] * n, "joints": joints, "constraints": [], "springs": [], "coefficient": mu
    }  # fmt: skip


def reduced(case):
    b = builder_of(case)
    for k, pin in enumerate(case["joints"], 1):
        b.add(ub.JointFriction(f"joint{k}", case["coefficient"], radius=pin["contact_radius"], height=pin["contact_height"]))
    return ub.Simulation(b.build(), ub.solvers.RedMax(inertia="explicit"), dt=H).run(H * STEPS)


def maximal(case, bilateral, steps=STEPS, most=500, tolerance=1e-9):
    """Velocities of the joints after each step, and the iterations of each."""
    bodies = Paper(case)
    u, rates, iterations = bodies.u, [], []
    for _ in range(steps):
        J, curved = bodies.move()
        # Rows hold at the end of the step as they do here: what bodies must follow, J̇ v, is no slip.
        w = J @ bodies.v + H * (bodies.loads(J @ bodies.v) / bodies.inertia - curved)
        N = np.concatenate([bodies.rows(a, b, X, made.N) for a, b, (made, X) in bodies.rubs])
        T = np.concatenate([bodies.rows(a, b, X, made.T[:, 0]) for a, b, (made, X) in bodies.rubs])
        V, _, found = staggered_projections(
            lambda X: X / bodies.inertia[:, None], N, T, w, lambda a: case["coefficient"] * np.abs(a).reshape(-1, 2).sum(axis=1),
            np.ones(len(T), np.int64), u, bilateral=bilateral, tolerance=tolerance, most=most,
        )  # fmt: skip
        u = found.friction
        bodies.v = np.linalg.lstsq(J, V, rcond=None)[0]
        np.testing.assert_allclose(J @ bodies.v, V, atol=1e-7)  # no joint comes apart
        bodies.q = bodies.q + H * bodies.v
        rates.append(bodies.v.copy())
        iterations.append(found.iterations)
    return np.array(rates), np.array(iterations)


@pytest.mark.parametrize("mu", [0.05, 0.3])
def test_contacts_that_hold_both_ways_move_the_chain_alike(mu):
    case = chain(3, mu)
    ours = reduced(case)
    rates, iterations = maximal(case, bilateral=True)
    np.testing.assert_allclose(ours.v[1:], rates, atol=1e-5 * np.abs(rates).max())
    own = [report.iterations for report in ours.reports[1:]]
    assert np.mean(own) < np.mean(iterations)  # what joints hold by themselves need not be iterated for


def test_contacts_that_only_push_distribute_the_load_differently():
    """The first step, from rest: by how much."""
    case = chain(2, 0.1)
    both, _ = maximal(case, bilateral=True, steps=1)
    push, _ = maximal(case, bilateral=False, steps=1, tolerance=1e-6)
    assert push[0, 0] / both[0, 0] == pytest.approx(0.872, abs=0.002)
