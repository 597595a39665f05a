"""Complementarity: what stands does not move. Stacks over thousands of steps and with masses a million apart, a pair of cards."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub


def load_between(recording: ub.Recording, upper: str, lower: str) -> float:
    """The normal forces [N] between two bodies in the last recorded state."""
    contacts, pair = recording.contacts[-1], sorted((recording.model.body(upper), recording.model.body(lower)))
    return float(contacts.normal_forces[(np.sort(contacts.bodies, axis=1) == pair).all(axis=1)].sum())


def test_a_stack_stands_still_for_two_thousand_steps() -> None:
    """No drift, no sinking, no jitter. benchmarks/standing_stack.py does the same for 10⁵ steps."""
    s = ub.scenes.make("stack", n=3)
    recording = ub.Simulation(s.model, "complementarity", dt=1e-2).run(20.0, every=200, progress=False)
    poses = np.array([recording.observe(k).poses for k in range(len(recording))])
    assert np.abs(poses - poses[0]).max() < 1e-9
    assert np.abs(recording.v).max() < 1e-8
    for k in range(3):
        assert load_between(recording, f"box{k}", "ground" if k == 0 else f"box{k - 1}") == pytest.approx(s.exact.force(k), rel=1e-7)


@pytest.mark.parametrize("ratio", [1e6, 1e-6])
@pytest.mark.parametrize("n", [2, 5])
def test_masses_a_million_apart(ratio: float, n: int) -> None:
    """The heavy on the light and the light on the heavy: every contact carries the weights above it to 1e-6, and nothing moves."""
    s = ub.scenes.make("stack", n=n, ratio=ratio)
    recording = ub.Simulation(s.model, "complementarity", dt=1e-2).run(0.3, every=30, progress=False)
    for k in range(n):
        assert load_between(recording, f"box{k}", "ground" if k == 0 else f"box{k - 1}") == pytest.approx(s.exact.force(k), rel=1e-6)
    assert np.abs(recording.observe(1).poses - recording.observe(0).poses).max() < 1e-8


@pytest.mark.parametrize(("share", "stands"), [(0.95, False), (1.05, True)])
def test_a_pair_of_cards_stands_above_the_bound_of_statics(share: float, stands: bool) -> None:
    bound = ub.scenes.make("card-house", levels=1, edges="round").exact.least_friction
    assert bound == pytest.approx(0.5 / np.tan(np.radians(68.0)), rel=0.02)
    model = ub.scenes.build("card-house", levels=1, edges="round", friction=share * bound)
    recording = ub.Simulation(model, "complementarity", dt=1e-2).run(0.5, every=5, progress=False)
    for card in ("left00", "right00"):
        pose = recording.pose(card)
        if stands:
            assert np.ptp(pose[1:], axis=0).max() < 1e-8 and pose[-1, 2] > 0.99 * pose[0, 2]
        else:
            assert pose[-1, 2] < 0.1 * pose[0, 2]


def test_a_house_of_cards_stands() -> None:
    """Two levels: pairs under load, and a flat card between them. Every card stays where it landed, as it was turned."""
    model = ub.scenes.build("card-house", levels=2, friction=0.6)
    recording = ub.Simulation(model, "complementarity", dt=1e-2).run(0.6, every=5, progress=False)
    cards = [b.name for b in model.bodies if b.kind == "dynamic"]
    assert len(cards) == 7
    for card in cards:
        pose = recording.pose(card)
        assert np.ptp(pose[2:], axis=0).max() < 1e-6 and pose[-1, 2] > 0.99 * pose[0, 2]


@pytest.mark.parametrize("law", ["newton", "poisson", "stronge"])
@pytest.mark.parametrize("e", [0.3, 1.0])
def test_what_lies_on_each_other_does_not_hop(law: str, e: float) -> None:
    """Boxes on boxes, aside, with restitution: nothing approaches anything, so nothing bounces; also pressed with a hundred weights."""
    for press in (0.0, 1e6):
        b = ub.Builder()
        b.body("ground", shape=ub.Plane(), kind="static")
        for k in range(3):
            body = b.body(f"box{k}", shape=ub.Box((1.0, 1.0, 1.0)), mass=1000.0, X_WB=ub.Pose((0.1 * (k % 2), 0.0, 0.5 + k)))
        if press:
            b.add(ub.AppliedWrench(body, force=(0, 0, -press)))
        b.add(ub.Contact(friction=0.5, restitution=e, impact=law))
        recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(0.3, progress=False)
        assert not len(recording.impacts)
        # what the tolerance of 1e-10 m/s leaves, three bodies high
        assert np.abs(recording.v).max() < 1e-8


def test_what_falls_on_a_stack_still_bounces() -> None:
    """A ball that falls by 1 m on two boxes with e = 1/2 leaves with half its speed where they hardly give: 1e6 times its mass."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    for k in range(2):
        b.body(f"box{k}", shape=ub.Box((1.0, 1.0, 1.0)), mass=1e6, X_WB=ub.Pose((0.0, 0.0, 0.5 + k)))
    b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0.0, 0.0, 3.1)))
    b.add(ub.Contact(restitution=0.5))
    recording = ub.Simulation(b.build(), "complementarity", dt=1e-3).run(0.9, progress=False)
    # the way up from v/2 is a quarter of the fall; impacts are seen within a step, 2 v h of the height
    top = recording.point("ball")[500:, 2].max() - 2.1
    assert top == pytest.approx(0.25, abs=0.01)
    assert np.abs(recording.twist("box1")).max() < 1e-4
