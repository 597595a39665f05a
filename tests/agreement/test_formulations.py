"""One scene, every formulation: accelerations of the articulated sweep and of all three Lagrange methods are the same."""

import numpy as np
import pytest
from tests.zoo import random_tree

import unibody as ub

METHODS = ("tree", "schur", "dense")
TREES = 200
TOLERANCE = 1e-10  # relative; both are direct methods, conditioning of these trees costs three to four of sixteen digits


def body_accelerations_articulated(model, effort):
    bound = ub.solvers.Articulated().bind(model)
    state, _ = bound.start()
    a = bound.forward_dynamics(state.q, state.v, effort)
    moving = [i for i, b in enumerate(model.bodies) if b.kind == "dynamic"]
    return (bound.push(state.q, a) + bound.bias(state.q, state.v))[moving]


def test_articulated_and_all_lagrange_methods_give_the_same_accelerations():
    worst = dict.fromkeys(METHODS, 0.0)
    for seed in range(TREES):
        rng = np.random.default_rng(seed)
        model = random_tree(rng, int(rng.integers(2, 12)), springs=True, motors=True)
        effort = rng.normal(size=model.nv)
        expected = body_accelerations_articulated(model, effort)
        for method in METHODS:
            bound = ub.solvers.Lagrange(method=method).bind(model)
            state, _ = bound.start()
            found = bound.accelerations(state, effort)
            worst[method] = max(worst[method], np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))
    assert max(worst.values()) < TOLERANCE, worst


def test_feedback_makes_violations_decay_as_the_critically_damped_oscillator():
    """A bob hung 1 mm off its point: C(t) = C₀ (1 + t/τ) e^(−t/τ), to the order of the rule."""
    tau, dt = 0.05, 1e-4
    b = ub.Builder(gravity=(0, 0, 0))
    bob = b.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.add(ub.FixedPoint(bob.at(0, 0, 0), position=(0, 0, 1e-3)))
    for gains in ({"feedback_time": tau}, {"k_q": tau**-2}):
        rec = ub.Simulation(b.build(), ub.solvers.Lagrange(rule="rk4", project=False, **gains), dt=dt, assemble=False).run(0.3, every=100)
        x = rec.t / tau
        assert np.abs(rec.violation - 1e-3 * (1 + x) * np.exp(-x)).max() < 1e-9  # rk4 at dt/τ = 2e-3 errs by 1e-11 of 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_planar_coordinates_give_the_same_accelerations_as_space(method):
    scenes = (("serial-arm", {"n": 7}), ("binary-tree", {"height": 3}), ("four-bar", {}), ("peaucellier", {}), ("closed-ring", {}))
    for name, parameters in scenes:
        model = ub.scenes.build(name, **parameters)
        planar = ub.solvers.Lagrange(method=method).bind(model)
        space = ub.solvers.Lagrange(method=method, coordinates="maximal").bind(model)
        state, _ = space.start()
        flat = planar.accelerations(state)
        full = space.accelerations(state)
        spin = np.linalg.norm(full[:, :3], axis=1)
        slide = np.linalg.norm(full[:, 3:], axis=1)
        scale = max(1.0, np.abs(full).max())
        assert np.abs(np.abs(flat[:, 0]) - spin).max() < TOLERANCE * scale, name
        assert np.abs(np.linalg.norm(flat[:, 1:], axis=1) - slide).max() < TOLERANCE * scale, name
