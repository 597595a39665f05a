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
    model = ub.scenes.make("klann", floor=False).model
    bound = ub.solvers.RedMax().bind(model)
    assert (
        model.nv == 26
        and len(model.loop_joints) == 12
        and bound.system.constraints.joint_rows == 24
        and bound.system.constraints.rows == 26
    )


@pytest.mark.slow
def test_drives_work_harder_the_rougher_the_pins():
    """Fig. 5c: the mean torque grows with μ; without friction legs push the crank in parts of a turn."""
    means, least = [], []
    for mu in (0.0, 0.2, 0.4, 0.8):
        scene = ub.scenes.make("klann", floor=False, coefficient=mu)
        rec = ub.Simulation(scene.model, "redmax", dt=2e-2).run(1.0)
        torque = np.concatenate([rec.multiplier(f"{side} drive")[25:, 0] for side in ("left", "right")])
        means.append(torque.mean())
        least.append(torque.min())
        assert rec.violation.max() < 1e-6
        assert max(report.residual for report in rec.reports) <= 1e-7
    assert (np.diff(means) > 0.0).all() and least[0] < 0.0


def walk(mu, duration, dt=1e-2):
    sim = ub.Simulation(ub.scenes.make("klann", coefficient=mu).model, "complementarity", dt=dt)
    return sim.run(duration)


def test_it_has_a_frame_and_six_feet_more_on_the_floor():
    model = ub.scenes.make("klann").model
    assert model.nv == 29 and len(model.loop_joints) == 12
    bound = ub.solvers.Complementarity().bind(model)
    assert bound.system.constraints.joint_rows == 24


def test_it_walks_at_the_pace_of_its_feet_and_stays_upright():
    """A foot that stands moves the frame by what the linkage moves the foot: over a half turn of the crank, the ground below the lowest
    feet. The frame neither sinks nor pitches more than feet differ in height over their distance."""
    rec = walk(0.2, 1.2)
    start, end = (int(np.searchsorted(rec.t, t)) for t in (0.4, 1.19))
    angle = rec.joint("left crank")[:, 0]
    way = rec.pose("frame")[end, 0] - rec.pose("frame")[start, 0]
    turned = angle[end] - angle[start]
    assert 0.13 * turned < way < 0.16 * turned  # the feet's way on the ground, 0.15 m over a radian
    heights, pitch = rec.pose("frame")[:, 2], 2.0 * np.abs(rec.pose("frame")[:, 5])
    assert np.ptp(heights) < 0.02 and pitch.max() < 0.06
    forces = np.array([sum(c.forces @ np.array([0, 0, 1.0])) for c in rec.contacts[1:]])
    weight = 9.81 * sum(b.mass for b in rec.model.bodies if b.kind == "dynamic")
    assert forces[start:].mean() == pytest.approx(weight, rel=0.05)
    for touching in rec.contacts[1:]:
        assert (np.linalg.norm(touching.friction, axis=1) <= 0.8 * touching.normal_forces + 1e-9).all()
    assert rec.violation.max() < 1e-6
    assert not any("did not" in note for o in rec.observations for note in o.notes)


@pytest.mark.slow
def test_drives_work_harder_on_the_floor_the_rougher_the_pins():
    """Fig. 5c with μ from 0 to 0.8: the mean torque grows; without friction the legs push the motors at times."""
    means, least = [], []
    for mu in (0.0, 0.2, 0.4, 0.8):
        rec = walk(mu, 1.0, dt=1e-2)
        torque = np.concatenate([rec.multiplier(f"{side} drive")[34:, 0] for side in ("left", "right")])
        means.append(torque.mean())
        least.append(torque.min())
    assert (np.diff(means) > 0.0).all() and least[0] < 0.0
