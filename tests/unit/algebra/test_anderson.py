"""Anderson's mixing: on linear maps it is GMRES in disguise, and ends after as many steps as there are unknowns."""

import numpy as np
import pytest

from unibody.algebra.anderson import Anderson, DampedAnderson


@pytest.mark.parametrize("successive", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_linear_map_of_n_unknowns_is_solved_after_n_steps(successive, weighted):
    """x = A x + b with |A| > 1, where the iteration itself diverges; by Cayley and Hamilton n differences span all that is left."""
    generator, n = np.random.default_rng(3), 4
    A, b = 1.5 * generator.standard_normal((n, n)), generator.standard_normal(n)
    exact, weight = np.linalg.solve(np.eye(n) - A, b), generator.uniform(0.5, 2.0, n)
    mixing, x = Anderson(memory=n, cutoff=1e-14, successive=successive), np.zeros(n)
    for _ in range(n + 1):
        g = A @ x + b
        x = g - (mixing.correction(g - x, g=g, weight=weight) if weighted else mixing.correction(g - x, x))
    np.testing.assert_allclose(x, exact, rtol=1e-8)


def test_what_grows_is_damped_and_begins_anew():
    """‖f‖ = 1, then 3: half a step from x, and no memory of what was before."""
    mixing = DampedAnderson()
    np.testing.assert_allclose(mixing.next(np.array([1.0]), np.array([2.0])), 2.0)
    np.testing.assert_allclose(mixing.next(np.array([2.0]), np.array([5.0])), 3.5)
    np.testing.assert_allclose(mixing.next(np.array([3.5]), np.array([3.6])), 3.6)


def test_iterates_stay_at_zero_or_above():
    """From f = 1 at 1 and 1.9 at 2 the secant leads to −1/9."""
    mixing = DampedAnderson()
    mixing.next(np.array([1.0]), np.array([2.0]))
    assert mixing.next(np.array([2.0]), np.array([3.9]))[0] == 0.0
