"""Robots from files at work: one stands, one holds, one drives, one falls; each judged by what its task says."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from peers.robots import BULLET, find, force_from_ground, lowest, weight

pytestmark = pytest.mark.peers


def test_a1_stands_for_a_minute_without_drift() -> None:
    """Twelve servos hold the pose of standing; from the third second on the trunk moves by less than a micrometre."""
    b = ub.Builder.load(find(f"{BULLET}/a1/a1.urdf"), floating=True, floor=True)
    legs = ("FR", "FL", "RR", "RL")
    b.start({f"{leg}_upper_joint": 0.8 for leg in legs} | {f"{leg}_lower_joint": -1.6 for leg in legs})
    b.place("trunk", ub.Pose((0.0, 0.0, -lowest(b.build()) + 1e-3)))
    b.motors(stiffness=200.0, damping=5.0)
    model = b.build()
    recording = ub.Simulation(model, dt=5e-3).run(60.0, every=200)
    place = recording.pose("trunk")[:, :3]
    assert recording.solver.name == "complementarity"
    assert place[-1, 2] > 0.15
    assert np.abs(place[4:] - place[4]).max() < 1e-6
    assert abs(force_from_ground(recording)[2] / weight(model) - 1.0) < 1e-6


def test_panda_lifts_a_cube_and_holds_it_for_a_minute() -> None:
    """Fingers close on a cube that stands on a table, the arm lifts it; it then keeps its place in the hand to 10 µm for a minute (of what
    sticks nothing creeps; the servos of the fingers settle exponentially)."""
    b = ub.Builder.load(find(f"{BULLET}/franka_panda/panda.urdf"), floor=True, contact=0.8)
    home = dict(zip((f"panda_joint{k}" for k in range(1, 8)), (0, -np.pi / 4, 0, -3 * np.pi / 4, 0, np.pi / 2, np.pi / 4), strict=True))
    b.start({**home, "panda_finger_joint1": 0.04, "panda_finger_joint2": 0.04})
    start = b.build()
    hand = start.bodies[start.body("panda_hand")].X_WB
    middle = hand.apply((0.0, 0.0, 0.1))
    side = 0.05
    b.body("cube", shape=ub.Box((side, side, side)), mass=0.2, X_WB=ub.Pose(middle, hand.wxyz))
    b.body("table", shape=ub.Box((0.3, 0.3, 0.1)), kind="static", X_WB=ub.Pose((middle[0], middle[1], middle[2] - 0.5 * side - 0.05)))
    b.motors(stiffness=4000.0, damping=400.0, joints=list(home))
    fingers = ["panda_finger_joint1", "panda_finger_joint2"]
    b.motors(stiffness=2000.0, damping=200.0, joints=fingers, target=dict.fromkeys(fingers, 0.0), limit=30.0)
    model = b.build()

    def lift(t: float, state: ub.State, control: ub.Control) -> None:
        share = min(max(t - 1.0, 0.0), 1.0)
        control.set_target("panda_joint2.motor", -np.pi / 4 - 0.35 * share)

    recording = ub.Simulation(model, "complementarity", dt=5e-3).run(62.0, control=lift, every=100)
    cube, grip = recording.pose("cube"), recording.pose("panda_hand")
    assert cube[-1, 2] > cube[0, 2] + 0.05
    held = [ub.Pose(g[:3], g[3:]).inverse().apply(c[:3]) for c, g in zip(cube, grip, strict=True)]
    assert np.abs(np.array(held[8:]) - held[8]).max() < 1e-5
