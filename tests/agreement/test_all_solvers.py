"""All solvers move mechanisms of joints alike as steps shrink, each at the order of its rule.

One reference for all: the adaptive rule of Dormand and Prince in reduced coordinates, to a tolerance far below the errors measured here. It
is itself confirmed by Runge–Kutta steps in maximal coordinates, at fourth order. (Rules of first order can hit an error by chance: a
four-bar linkage whose crank already turns makes implicit Euler's vanish near here. So it starts at rest.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import unibody as ub
import zoo
from unibody.solvers import REGISTRY, Articulated, Barrier, Complementarity, Lagrange, Penalty, RedMax, Solver
from unibody.solvers.base import elements_of

LENGTH = 0.2


def springy_tree() -> ub.Model:
    """Six bodies on joints of many kinds, with springs and dampers between them."""
    rng = np.random.default_rng(7)
    b = ub.Builder()
    bodies = [b.world]
    kinds = (ub.Ball(), ub.Revolute((1, 0.2, 0)), ub.Universal(), ub.Ball(), ub.Prismatic((0, 0.3, 1)), ub.Revolute((0, 1, 1)))
    for i, joint in enumerate(kinds):
        body = b.body(f"body{i}", mass=float(rng.uniform(0.5, 2.0)), com=rng.uniform(-0.05, 0.05, 3), inertia=zoo.inertia(rng, 2.0))
        X_PF = ub.Pose(rng.uniform(-0.3, 0.3, 3), rng.standard_normal(4))
        parent, v = bodies[rng.integers(len(bodies))], rng.uniform(-1, 1, joint.nv)
        b.joint(f"joint{i}", joint, parent, body, X_PF=X_PF, X_BM=ub.Pose((0, 0, 0.3)), v=v, stiffness=8.0, damping=0.3)
        bodies.append(body)
    b.add(ub.SpringDamper(bodies[3].at(0.1, 0, 0), b.world.at(1, 1, 0), stiffness=10.0, damping=0.4, rest_length=0.5))
    b.add(ub.SpringDamper(bodies[5].at(0, 0.1, 0), bodies[6].at(0, 0, 0.1), stiffness=20.0, damping=0.2, rest_length=0.3))
    return b.build()


SCENES: dict[str, Callable[[], ub.Model]] = {
    "pendulum": cache(lambda: ub.scenes.build("pendulum")),
    "double pendulum": cache(lambda: ub.scenes.build("double-pendulum")),
    "four-bar": cache(lambda: ub.scenes.build("four-bar")),
    "slider-crank": cache(lambda: ub.scenes.build("slider-crank", angle=0.8, rate=4.0)),
    "tree with springs": cache(springy_tree),
}

CHOICES: dict[str, tuple[Solver, int]] = {
    "articulated": (Articulated(), 1),
    "articulated rk4": (Articulated(rule="rk4"), 4),
    "lagrange": (Lagrange(), 1),
    "lagrange rk4": (Lagrange(rule="rk4"), 4),
    "redmax": (RedMax(), 1),
    "redmax bdf2": (RedMax(rule="bdf2"), 2),
    "complementarity": (Complementarity(), 1),
    "complementarity maximal": (Complementarity(coordinates="maximal"), 1),
    "penalty": (Penalty(), 1),
    "penalty explicit": (Penalty(rule="semi-implicit"), 1),
    "barrier": (Barrier(tolerance=1e-8), 1),
    **({"impulse": (REGISTRY["impulse"](), 1)} if "impulse" in REGISTRY else {}),
}
"""Solvers and the orders of their rules."""

STEPS = {1: 50, 2: 25, 4: 10}
"""The fewest steps by order; then twice and four times as many."""


def places(model: ub.Model, solver: Solver, steps: int) -> np.ndarray:
    """Where a point of each body ends up."""
    rec = ub.Simulation(model, solver, dt=LENGTH / steps).run(LENGTH, every=steps)
    return np.array([rec.point(b.name, (0.3, -0.2, 0.1))[-1] for b in model.bodies[1:]])


@cache
def reference(scene: str) -> np.ndarray:
    return places(SCENES[scene](), Articulated(rule="dopri5", rtol=1e-11, atol=1e-13), 4)


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("choice", CHOICES)
def test_errors_shrink_at_the_order_of_the_rule(choice: str, scene: str) -> None:
    solver, order = CHOICES[choice]
    model = SCENES[scene]()
    reasons = [r for _, e in elements_of(model) if (r := solver.handles(e, model)) is not None]
    if reasons:
        pytest.skip(f"{solver.name} says: {reasons[0]}")
    coarse = 20 if choice == "barrier" else STEPS[order]
    errors = np.array([np.abs(places(model, solver, coarse * 2**k) - reference(scene)).max() for k in range(3)])
    orders = np.log2(errors[:-1] / errors[1:])
    assert errors[-1] < 5e-3
    assert orders[0] == pytest.approx(order, abs=0.5) and orders[1] == pytest.approx(order, abs=0.25), errors
