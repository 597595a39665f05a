"""Forward and inverse dynamics undo each other on random trees of all joints, with springs, motors, wrenches and armature."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
import zoo


@pytest.mark.parametrize("seed", range(200))
def test_inverse_of_forward_dynamics_is_the_effort(seed: int) -> None:
    """rnea(aba(τ)) = τ. The errors of the two O(n) recursions grow with the accelerations; 1e-11 of the largest torque they balance."""
    rng = np.random.default_rng(seed)
    model = zoo.random_tree(rng, int(rng.integers(1, 26)))
    bound = ub.solvers.Articulated().bind(model)
    q, v = zoo.random_state(model, rng, speed=3.0)
    effort = rng.uniform(-10.0, 10.0, model.nv)
    a = bound.forward_dynamics(q, v, effort)
    size = max(1.0, float(np.abs(np.diag(bound.mass_matrix(q)) * a).max(initial=0.0)))
    np.testing.assert_allclose(bound.inverse_dynamics(q, v, a), effort, rtol=0.0, atol=1e-11 * size)


@pytest.mark.parametrize("seed", range(20))
def test_mass_matrix_times_acceleration_is_the_change_of_effort(seed: int) -> None:
    """M (a(τ) − a(0)) = τ: the dense matrix and the elimination are two ways to one operator."""
    rng = np.random.default_rng(500 + seed)
    model = zoo.random_tree(rng, int(rng.integers(1, 26)))
    bound = ub.solvers.Articulated().bind(model)
    q, v = zoo.random_state(model, rng)
    effort = rng.uniform(-10.0, 10.0, model.nv)
    change = bound.forward_dynamics(q, v, effort) - bound.forward_dynamics(q, v)
    M = bound.mass_matrix(q)
    np.testing.assert_allclose(M @ change, effort, rtol=0.0, atol=1e-12 * np.linalg.cond(M) + 1e-11)
    np.testing.assert_allclose(M, M.T, rtol=0.0, atol=1e-13 * np.abs(M).max())
    assert np.linalg.eigvalsh(M).min() > 0.0


def test_every_joint_type_is_among_the_trees() -> None:
    """The zoo draws what it promises: each joint class of the house, in a tree of a dozen bodies."""
    model = zoo.random_tree(np.random.default_rng(0), len(zoo.ALL))
    drawn = {type(part) for j in model.joints for part in j.element.parts()} | {type(j.element) for j in model.joints}
    house = "Weld Revolute Prismatic Screw Universal Ball Planar Translational Free Composite"
    assert {getattr(ub, name) for name in house.split()} <= drawn


@pytest.mark.parametrize("seed", range(20))
def test_loops_of_the_zoo_are_closed_at_the_start(seed: int) -> None:
    model = zoo.random_tree(np.random.default_rng(seed), 10, loops=1)
    recording = ub.Simulation(model, "articulated", dt=1e-4).run(1e-4)
    assert recording.violation[0] < 1e-12
    assert recording.violation[1] < 1e-6
