"""Forward dynamics with arguments prepared once: the same numbers as M⁻¹ (τ − bias), on arrays that stay where they are."""

from __future__ import annotations

import gc

import numpy as np

import unibody as ub


def test_evaluations_in_place_solve_the_equations_of_motion():
    rng = np.random.default_rng(3)
    model = ub.scenes.build("serial-arm", n=4)
    bound = ub.solvers.Articulated().bind(model)
    f = ub.solvers.Articulated().bind(model).forward_dynamics_function()  # nothing but f keeps its bound solver's arrays
    gc.collect()
    for _ in range(3):
        f.q[:], f.v[:], f.effort[:] = rng.normal(size=(3, model.nv))
        f.evaluate()
        expected = np.linalg.solve(bound.mass_matrix(f.q), f.effort - bound.inverse_dynamics(f.q, f.v, np.zeros(model.nv)))
        assert np.allclose(f.acceleration, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_a_call_copies_in_and_answers_with_its_own_array():
    model = ub.scenes.build("double-pendulum")
    f = ub.solvers.Articulated().bind(model).forward_dynamics_function()
    first = f([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    kept = first.copy()
    assert f([0.4, -0.2], [1.0, 0.0]) is first and not np.allclose(first, kept)
    assert f.q.tolist() == [0.4, -0.2] and f.effort.tolist() == [0.0, 0.0]
