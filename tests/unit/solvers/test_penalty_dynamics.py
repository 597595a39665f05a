"""Penalised bodies beside contact: answers group by group are those of everything at once."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.solvers.penalty.dynamics import PenaltyDynamics, run_indices
from unibody.solvers.penalty.system import Gains, PenaltyParameters


def mixed(loop: bool) -> ub.Model:
    """Two free bodies, one hinged to the ground, two hinged to each other and limited; with a loop, the last two tied to the first."""
    b = ub.Builder()
    bodies = [
        b.body(f"b{k}", mass=1.0 + k, inertia=(0.1, 0.2, 0.25), com=(0.1, 0, 0.02 * k), X_WB=ub.Pose.about((1, 2, 3), 0.3 * k, p=(k, 0, 0)))
        for k in range(2)
    ]
    for k, (parent, at) in enumerate(((b.world, 2.0), (b.world, 3.0), (None, 1.0))):
        bodies.append(b.body(f"j{k}", mass=2.0, inertia=(0.3, 0.2, 0.25), com=(0.0, 0.1, 0.0)))
        frame = ub.Pose((at, 0, 0))
        b.joint(f"h{k}", ub.Revolute((0, 1, 0)), bodies[3] if parent is None else parent, bodies[-1], X_PF=frame, q=0.2)
    b.add(ub.PointPlane(bodies[4].at(), b.world.at(), normal=(0, 0, 1)), name="floor")
    if loop:
        b.add(ub.Distance(bodies[4].at(), bodies[0].at(), length=4.0), name="rod")
    b.add(ub.Contact())
    return b.build()


@pytest.mark.parametrize("loop", [False, True])
def test_answers_in_groups_are_those_of_the_whole(loop: bool) -> None:
    model = mixed(loop)
    held = PenaltyDynamics(model, PenaltyParameters(None, 1e3, lambda h: Gains(100.0, 1.0, 200.0), True))
    q, v = held.start()
    held.prepare(0.01)
    assert held.look(0.0, q, v, model.neutral_control())
    bodies = np.array([(1, 2), (0, 1), (2, 3), (4, 5), (1, 5), (0, 3), (2, 1)])
    wrenches = np.random.default_rng(0).standard_normal((len(bodies), 3, 2, 6))
    own = held.pushing_rows()[0]
    found = held.respond(held.pushing_islands(own), bodies, wrenches)
    J = np.concatenate([own, held.wrench_rows(np.repeat(bodies, 3, axis=0), wrenches.reshape(-1, 2, 6))])
    np.testing.assert_allclose(found.dense(), J @ held.responses(J).T, atol=1e-9)
    assert len(own) == 1 and len(held.islands.first) - 1 == (3 if loop else 4)


def test_runs_follow_each_other() -> None:
    assert run_indices(np.array([4, 0, 9]), np.array([6, 0, 12])).tolist() == [4, 5, 9, 10, 11]
