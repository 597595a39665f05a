"""Solver `barrier` with its default options on published mechanisms: implicit Euler converges at order one, BDF-2 at order two.

A body that stretches where it should be rigid leaves an error that no smaller step removes, and the order falls: so this is also a test of
how rigid bodies are. Published values are those of `test_published_mechanisms` and `test_fast_spins`; where there are none, articulated
bodies with a rule of order four at much smaller steps take their place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from test_fast_spins import PUBLISHED, gyroscope, linked_tops, squeezer, top

import unibody as ub
from unibody.solvers import Articulated, Barrier


class Mechanism(NamedTuple):
    """What to build, until when it runs, what is seen of it at the end, what that should be (None: by articulated bodies), how many steps
    the coarser of two runs takes by each rule (0: none that ends soon), and by how much the measured order may be off: the next term of the
    error is felt."""

    build: Callable[[], ub.Model]
    duration: float
    see: Callable[[ub.Recording], np.ndarray]
    exact: tuple[float, ...] | None
    implicit: int
    bdf2: int
    off: float = 0.25


def bob(rec: ub.Recording) -> np.ndarray:
    return rec.point("bob", (0, 0, -1.0))[-1, [0, 2]]


def absolute_angles(rec: ub.Recording) -> np.ndarray:
    return np.cumsum([rec.joint(name)[-1, 0] for name in ("shoulder", "elbow")])


def squeezer_angles(rec: ub.Recording) -> np.ndarray:
    """Those of the bars that do not turn round."""
    return np.array([np.ravel(rec.joint(name)[-1])[0] for name in ("gamma", "delta", "phi", "epsilon", "omega")])


def poses(rec: ub.Recording) -> np.ndarray:
    """Places of three points of every body."""
    arms = np.concatenate([np.zeros((1, 3)), 0.1 * np.eye(3)])
    return np.concatenate([rec.point(b.name, p)[-1] for b in rec.model.bodies[1:] for p in arms])


MECHANISMS = {
    "IFToMM A01": Mechanism(lambda: ub.scenes.build("pendulum"), 1.0, bob, (-0.9862917511318754, -0.165010853125541), 400, 100),
    "double pendulum": Mechanism(
        lambda: ub.scenes.build("double-pendulum"), 0.5, absolute_angles, (0.5704720512329774, 1.203875111158257), 100, 50
    ),
    "IFToMM A02": Mechanism(lambda: ub.scenes.build("n-four-bar", n=1), 0.5, poses, None, 100, 50),
    "four-bar": Mechanism(lambda: ub.scenes.build("four-bar", rate=3.0), 0.5, poses, None, 100, 50),
    "Andrews' squeezer": Mechanism(
        squeezer, 0.03, squeezer_angles, tuple(PUBLISHED[n] for n in ("gamma", "delta", "phi", "epsilon", "omega")), 0, 1500
    ),
    "heavy top": Mechanism(top, 0.2, poses, None, 1600, 400),
    "linked tops": Mechanism(linked_tops, 0.1, poses, None, 1600, 400),
    "gyroscope in a universal joint": Mechanism(gyroscope, 0.1, poses, None, 1600, 400),
}


RUNS = [(name, rule) for name, m in MECHANISMS.items() for rule in ("implicit", "bdf2") if getattr(m, rule)]


@pytest.mark.parametrize(("name", "rule"), RUNS)
def test_published_mechanisms_converge_with_the_order_of_the_rule(name: str, rule: str) -> None:
    m = MECHANISMS[name]
    model, steps, order = m.build(), getattr(m, rule), 1.0 if rule == "implicit" else 2.0

    def end(solver: ub.solvers.Solver, n: int) -> np.ndarray:
        return m.see(ub.Simulation(model, solver, dt=m.duration / n).run(m.duration, every=n))

    exact = np.array(m.exact) if m.exact is not None else end(Articulated(rule="rk4"), 20 * steps)
    errors = [np.abs(end(Barrier(rule=rule), n) - exact).max() for n in (steps, 2 * steps)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=m.off), errors
