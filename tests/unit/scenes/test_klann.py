"""The walking machine: its linkage closes at every angle of the crank, has the paper's degrees of freedom, and its drives feel friction."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.scenes.klann import CF, CH, CRANK, EF, EG, ELBOW_ROCKER, FG, FH, HIP_ROCKER, SCALE, leg_points


@pytest.mark.parametrize("facing", [-1.0, 1.0])
def test_links_keep_their_lengths_over_a_turn_and_the_foot_steps(facing):
    legs = [leg_points(angle, facing) for angle in np.linspace(0.0, 2.0 * np.pi, 49)]
    lengths = {"CF": CF, "CH": CH, "FH": FH, "EF": EF, "EG": EG, "FG": FG, "BH": ELBOW_ROCKER, "DE": HIP_ROCKER}
    for leg in legs:
        assert np.linalg.norm(leg["C"]) == pytest.approx(SCALE * CRANK)
        for (p, q), length in lengths.items():
            assert np.linalg.norm(leg[p] - leg[q]) == pytest.approx(SCALE * length, rel=1e-9)
    feet = np.array([leg["G"] for leg in legs])
    assert np.abs(np.diff(feet, axis=0)).max() < 0.02  # no jump to another branch
    assert (np.sign(feet[:, 0]) == facing).all() and np.ptp(feet[:, 0]) > 0.25 and np.ptp(feet[:, 1]) > 0.1


def test_degrees_of_freedom_are_those_of_the_paper():
    """26 joint velocities, 24 rows of loops, two drives."""
    model = ub.scenes.make("klann").model
    bound = ub.solvers.RedMax().bind(model)
    assert model.nv == 26 and len(model.loop_joints) == 12 and bound.system.book.joint_rows == 24 and bound.system.book.rows == 26


@pytest.mark.slow
def test_drives_work_harder_the_rougher_the_pins():
    """Fig. 5c: the mean torque grows with μ; without friction legs push the crank in parts of a turn."""
    means, least = [], []
    for mu in (0.0, 0.2, 0.4, 0.8):
        scene = ub.scenes.make("klann", coefficient=mu)
        rec = ub.Simulation(scene.model, "redmax", dt=2e-2).run(1.0)
        torque = np.concatenate([rec.multiplier(f"{side} drive")[25:, 0] for side in ("left", "right")])
        means.append(torque.mean())
        least.append(torque.min())
        assert rec.violation.max() < 1e-6
        assert max(report.residual for report in rec.reports) <= 1e-7
    assert (np.diff(means) > 0.0).all() and least[0] < 0.0
