"""What friction holds in a joint stays exactly where it is, while what it hangs on turns: coordinates and velocities, in every solver
that has friction with bounds."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

SPEED = 3.0
MAXIMAL = ub.solvers.Complementarity(coordinates="maximal")
SOLVERS = {"maximal": MAXIMAL, "reduced": ub.solvers.Complementarity(), "impulse": ub.solvers.Impulse()}
FOUND = 1e-11
"""[rad, m] To which coordinates of joints are fitted to poses in maximal coordinates; round-off of the steps lies below."""


def turntable(joint: ub.joints.Joint | ub.Revolute, drive: bool = True, **start) -> ub.Builder:
    """An arm on a base that turns evenly about the vertical."""
    b = ub.Builder()
    base = b.body("base", mass=1.0, inertia=(0.1, 0.1, 0.1))
    arm = b.body("arm", mass=1.0, inertia=(0.01, 0.02, 0.03))
    b.joint("spin", ub.Revolute((0, 0, 1)), b.world, base, v=SPEED)
    if drive:
        b.add(ub.PrescribedJoint("spin", lambda t: SPEED * t))
    b.joint("arm", joint, base, arm, X_PF=ub.Pose((0.2, 0, 0)), X_BM=ub.Pose((-0.5, 0, 0)), **start)
    return b


HINGE = ub.Revolute((1, 0.3, 0.2))
WELDED = {"maximal": 1e-9, "reduced": 1e-9, "impulse": 1e-9}
"""Round-off over 50 steps."""


@pytest.mark.parametrize("dt", [1e-2, 5e-3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_hinge_held_by_dry_friction_does_not_creep_on_a_turning_base(solver: str, dt: float) -> None:
    b = turntable(HINGE, q=0.4)
    b.add(ub.DryFriction("arm", 50.0))
    rec = ub.Simulation(b.build(), SOLVERS[solver], dt=dt).run(0.5)
    np.testing.assert_allclose(rec.joint("arm"), 0.4, atol=FOUND)
    np.testing.assert_allclose(rec.joint_velocity("arm"), 0.0, atol=1e-12)  # round-off of SPEED, over the steps


@pytest.mark.parametrize(
    ("joint", "friction"),
    [
        (HINGE, ub.JointFriction("arm", 2.0, radius=0.3, height=0.3)),
        (ub.Prismatic((1, 0.3, 0.2)), ub.JointFriction("arm", 5.0, width=0.1, height=0.1)),
        (ub.Ball(), ub.JointFriction("arm", 5.0, radius=0.3, points=8)),
        (ub.Universal(), ub.DryFriction("arm", 50.0)),
    ],
    ids=["hinge", "slide", "ball", "universal"],
)  # fmt: skip
@pytest.mark.parametrize("solver", ["maximal", "reduced"])
def test_joint_held_by_friction_keeps_its_pose_on_a_turning_base(solver: str, joint, friction) -> None:
    b = turntable(joint)
    b.add(friction)
    rec = ub.Simulation(b.build(), SOLVERS[solver], dt=1e-2).run(0.3)
    np.testing.assert_allclose(rec.joint("arm"), rec.joint("arm")[0] * np.ones((len(rec), 1)), atol=10 * FOUND)
    np.testing.assert_allclose(rec.joint_velocity("arm"), 0.0, atol=1e-9)  # the tolerance with which impulses are found: 1e-10 m/s


@pytest.mark.parametrize("solver", SOLVERS)
def test_stuck_joint_on_a_free_base_moves_as_a_weld_does(solver: str) -> None:
    """One rigid body, whatever holds its two parts together: no energy comes from holding them by friction."""
    found = []
    for joint in (HINGE, ub.Weld()):
        b = turntable(joint, drive=False)
        if joint is HINGE:
            b.add(ub.DryFriction("arm", 50.0))
        found.append(ub.Simulation(b.build(), SOLVERS[solver], dt=1e-2).run(0.5))
    stuck, welded = found
    np.testing.assert_allclose(stuck.pose("arm"), welded.pose("arm"), atol=WELDED[solver])
    np.testing.assert_allclose(stuck.energy.kinetic, welded.energy.kinetic, rtol=WELDED[solver])


def test_hinge_that_slides_is_not_held() -> None:
    """Below its load the bound brakes and does not hold: both coordinates move alike as steps shrink."""
    ends = []
    for solver in ("maximal", "reduced"):
        b = turntable(HINGE)
        b.add(ub.DryFriction("arm", 0.5))
        ends.append(ub.Simulation(b.build(), SOLVERS[solver], dt=1e-3).run(0.2).joint("arm")[-1, 0])
    assert abs(ends[1]) > 1e-2
    assert ends[0] == pytest.approx(ends[1], rel=0.02)  # order 1 at h = 1 ms


@pytest.mark.parametrize("dt", [1e-2, 5e-3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_arm_pressed_against_its_stop_does_not_creep_through(solver: str, dt: float) -> None:
    """An overlap is made by the turn of J within a step, (h ω)² / 2 at most, and a part of it is taken away in every step."""
    b = turntable(HINGE)
    b.add(ub.JointLimit("arm", lower=0.0))
    b.add(ub.JointLimit("arm", upper=0.0))
    rec = ub.Simulation(b.build(), SOLVERS[solver], dt=dt).run(1.0)
    angle = rec.joint("arm")[:, 0]
    assert np.abs(angle).max() <= 2.0 * (dt * SPEED) ** 2
    assert np.abs(angle[-20:]).max() <= np.abs(angle[:40]).max() + 1e-9
