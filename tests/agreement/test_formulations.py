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


@pytest.mark.parametrize("method", METHODS)
def test_articulated_and_lagrange_give_the_same_accelerations(method):
    worst = 0.0
    for seed in range(TREES):
        rng = np.random.default_rng(seed)
        model = random_tree(rng, int(rng.integers(2, 12)), springs=True, motors=True)
        effort = rng.normal(size=model.nv)
        expected = body_accelerations_articulated(model, effort)
        bound = ub.solvers.Lagrange(method=method).bind(model)
        state, _ = bound.start()
        found = bound.accelerations(state, effort)
        worst = max(worst, np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))
    assert worst < TOLERANCE


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
