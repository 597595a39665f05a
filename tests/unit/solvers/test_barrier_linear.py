"""Option `linear` of the barrier solver: factors and iterations lead to the same motion, and the report tells which."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError
from unibody.solvers.barrier.solver import Barrier


def mechanisms() -> ub.Model:
    """Two double pendulums of boxes that swing into a free box."""
    b = ub.Builder()
    for side in (-1.0, 1.0):
        upper = b.body(f"upper{side:+.0f}", shape=ub.Box((0.1, 0.1, 0.4)), X_WB=ub.Pose(p=(0.6 * side, 0, 0)))
        lower = b.body(f"lower{side:+.0f}", shape=ub.Box((0.1, 0.1, 0.4)), X_WB=ub.Pose(p=(0.6 * side, 0, -0.5)))
        hinge, down, up = ub.Revolute((0, 1, 0)), ub.Pose(p=(0, 0, -0.25)), ub.Pose(p=(0, 0, 0.25))
        b.joint(f"shoulder{side:+.0f}", hinge, b.world, upper, X_PF=ub.Pose(p=(0.6 * side, 0, 0.25)), X_BM=up, v=2.0 * side)
        b.joint(f"elbow{side:+.0f}", hinge, upper, lower, X_PF=down, X_BM=up)
    b.body("box", shape=ub.Box((0.8, 0.3, 0.3)), X_WB=ub.Pose(p=(0, 0, -0.6)))
    b.add(ub.Contact(friction=0.2, reach=1e-2))
    return b.build()


def test_factors_and_iterations_lead_to_the_same_motion():
    ends = {}
    for linear in ("auto", "direct", "pcg"):
        sim = ub.Simulation(mechanisms(), Barrier(linear=linear, tolerance=1e-8), dt=5e-3)
        rec = sim.run(0.08)
        ends[linear] = np.array([rec.pose(name)[-1] for name in ("box", "lower-1", "lower+1")])
        assert sim.report.minimum_distance < 1e-2  # they touch
        count = sim.report.notes[0].split("; ")[1]
        assert ("by factors, 0 by conjugate gradients" in count) == (linear != "pcg")
        assert ("Newton's systems: 0 by factors" in count) == (linear == "pcg")
    assert np.array_equal(ends["auto"], ends["direct"])  # five bodies are few
    np.testing.assert_allclose(ends["pcg"], ends["direct"], atol=1e-7)  # both to the tolerance of Newton's method, 16 steps


def test_unknown_ways_are_refused():
    with pytest.raises(ModelError, match="linear 'lu' is unknown; give one of auto, direct, pcg"):
        Barrier(linear="lu")
