"""The chain with rough pins: it stops sooner with larger pins, then from the root on, and for good."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

DT = 0.02


def run(duration, **parameters):
    """The recording, and when each joint last moved."""
    rec = ub.Simulation(ub.scenes.make("friction-chain", **parameters).model, "redmax", dt=DT).run(duration)
    return rec, np.array([rec.t[np.abs(v) > 1e-2].max(initial=0.0) for v in rec.v.T])


def test_larger_pins_stop_the_chain_earlier_and_from_the_root_on():
    large, stops = run(1.6, radius=0.03)
    assert (np.diff(stops) >= 0.0).all() and stops[0] < stops[-1] < 1.5
    assert np.abs(large.v[-5:]).max() < 1e-9  # sticks, without creep
    small, later = run(1.6, radius=0.02)
    assert later.max() == small.t[-1] > stops.max()  # the smaller pins still turn
    for rec in (large, small):
        assert np.diff(rec.energy.total).max() < 1e-9


def test_small_pins_let_it_swing_once_more_and_the_root_stops_last():
    rec = ub.Simulation(ub.scenes.make("friction-chain", radius=0.02).model, "redmax", dt=5e-3).run(3.0)
    stops = np.array([rec.t[np.abs(v) > 1e-9].max(initial=0.0) for v in rec.v.T])
    assert np.argmax(stops) == 0  # what its notes say; there is no exact solution to compare times with


def test_pins_near_the_root_carry_more():
    rec, _ = run(0.1)
    carried = [rec.joint_friction(f"pin{k}").normal_forces[-1].sum() for k in range(5)]
    assert (np.diff(carried) < 0.0).all()


@pytest.mark.parametrize("wrong", [{"n": 0}, {"radius": 0.2}, {"height": 0.0}, {"points": 2}, {"coefficient": -1.0}])
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ub.ModelError, match="friction-chain"):
        ub.scenes.make("friction-chain", **wrong)
