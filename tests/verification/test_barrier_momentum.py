"""Momenta of free bodies that are jointed and hit each other: linear to the tolerance of the solution, angular to the order of the rule."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.affine.body import moments
from unibody.solvers import Barrier


def meeting(friction: float) -> ub.Model:
    """Two boxes on a hinge, which turn, are hit by a third off their middle; barriers are wide, so that steps resolve the blow."""
    b = ub.Builder(gravity=None)
    left = b.body("left", shape=ub.Box((0.4, 0.2, 0.2)), V_WB=(0, 0, 0.5, 0, 0, 0))
    right = b.body("right", shape=ub.Box((0.4, 0.2, 0.2)))
    b.joint("hinge", ub.Revolute((0, 0, 1)), left, right, X_PF=ub.Pose((0.22, 0, 0)), X_BM=ub.Pose((-0.22, 0, 0)), q=0.3, v=-1.0)
    b.body("stone", shape=ub.Box((0.2,) * 3), X_WB=ub.Pose.about((1, 2, 3), 0.4, p=(0.5, 0.52, 0.05)), V_WB=(1, 0, 2, -0.2, -2.0, 0))
    b.add(ub.Contact(friction=friction, reach=0.04, pressure=2e4))
    return b.build()


def momenta(model: ub.Model, rule: str, dt: float, duration: float = 0.2):
    """Of all bodies in every state, from affine coordinates: p = Σ M₀ₐ vₐ, L = Σ Mₐᵦ qₐ × vᵦ; and how many contacts there were at most."""
    rec = ub.Simulation(model, Barrier(rule=rule, tolerance=1e-10), dt=dt).run(duration)
    M = np.array([moments(body) for body in model.bodies[1:]])
    Q, V = (x.reshape(len(rec), -1, 4, 3)[:, : len(M)] for x in (rec.q, rec.v))
    linear = np.einsum("na,tnai->ti", M[:, 0], V)
    angular = np.einsum("nab,tnabi->ti", M, np.cross(Q[:, :, :, None], V[:, :, None]))
    return linear, angular, max(len(c) for c in rec.contacts)


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_linear_momentum_is_kept_to_the_tolerance(rule, friction):
    linear, _, contacts = momenta(meeting(friction), rule, 4e-3)
    assert contacts > 0
    assert np.abs(linear - linear[0]).max() < 1e-8 * np.abs(linear[0]).max()


@pytest.mark.parametrize(("rule", "expected"), [("implicit", 1), ("bdf2", 2)])
def test_angular_momentum_is_kept_to_the_order_of_the_rule(rule, expected):
    model = meeting(0.0)
    drift = []
    for dt in (2e-3, 1e-3):
        _, angular, contacts = momenta(model, rule, dt)
        assert contacts > 0
        drift.append(np.abs(angular[-1] - angular[0]).max() / np.abs(angular[0]).max())
    assert drift[0] < (0.05 if rule == "implicit" else 5e-3)
    assert np.log2(drift[0] / drift[1]) > expected - 0.4
