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
    height = ub.Simulation(model, "complementarity", dt=1e-2).run(0.5, every=5, progress=False).pose("left00")[:, 2]
    if stands:
        assert np.ptp(height[1:]) < 1e-8 and height[-1] > 0.99 * height[0]
    else:
        assert height[-1] < 0.1 * height[0]


def test_a_house_of_cards_stands() -> None:
    """Two levels: pairs under load, and a flat card between them."""
    model = ub.scenes.build("card-house", levels=2, friction=0.6)
    recording = ub.Simulation(model, "complementarity", dt=1e-2).run(0.6, every=5, progress=False)
    height = recording.pose("left10")[:, 2]
    assert np.ptp(height[2:]) < 1e-6 and height[-1] > 0.99 * height[0]
