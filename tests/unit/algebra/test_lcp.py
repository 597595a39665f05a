"""Lemke's pivoting against enumeration of all bases, PIQP, quantecon's numbers, and problems with no solution or many."""

from itertools import product

import numpy as np
import pytest

from unibody.algebra.lcp import solve_lcp

CLOSE = 1e-10


def solutions(A, b):
    """Every nondegenerate solution, by trying all 2ⁿ choices of what is basic."""
    found = []
    for held in product([False, True], repeat=b.size):
        held = np.array(held)
        z = np.zeros(b.size)
        try:
            z[held] = np.linalg.solve(A[np.ix_(held, held)], -b[held])
        except np.linalg.LinAlgError:
            continue
        if (z >= -1e-9).all() and (A @ z + b >= -1e-9).all():
            found.append(z)
    return found


def stewart_trinkle(n, generator):
    """The matrix of n planar contacts (normal, two directions, bound): not symmetric, copositive, not positive semidefinite."""
    J = generator.standard_normal((2 * n, n + 2))
    W = J @ J.T
    N, T = W[:n], W[n:]
    friction = np.diag(generator.uniform(0.1, 0.9, n))
    E, O = np.eye(n), np.zeros((n, n))
    A = np.block([
        [N[:, :n], N[:, n:], -N[:, n:], O],
        [T[:, :n], T[:, n:], -T[:, n:], E],
        [-T[:, :n], -T[:, n:], T[:, n:], E],
        [friction, -E, -E, O],
    ])  # fmt: skip
    v = J @ generator.standard_normal(n + 2)
    return A, np.concatenate([v, -v[n:], np.zeros(n)])


@pytest.mark.parametrize("seed", range(20))
def test_it_finds_one_of_the_solutions_that_enumeration_finds(seed):
    generator = np.random.default_rng(seed)
    if seed % 2:
        A, b = stewart_trinkle(2, generator)
    else:
        G = generator.standard_normal((6, 6))
        A, b = G @ G.T + 0.5 * (G - G.T), generator.standard_normal(6)
    found = solve_lcp(A, b)
    assert found.why == "" and found.residual < CLOSE
    assert min(np.abs(found.z - z).max() for z in solutions(A, b)) < 1e-8


@pytest.mark.parametrize("n", [5, 30, 60])
def test_semidefinite_problems_give_the_velocities_of_a_quadratic_program(n):
    piqp = pytest.importorskip("piqp")
    generator = np.random.default_rng(n)
    J = generator.standard_normal((n, max(2, n // 3)))
    A, b = J @ J.T, J @ generator.standard_normal(J.shape[1])
    found = solve_lcp(A, b)
    assert found.why == "" and found.residual < CLOSE
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-12
    solver.setup(A, b, x_l=np.zeros(n), x_u=np.full(n, np.inf))
    solver.solve()
    assert np.abs(A @ solver.result.x + b - found.w).max() < 1e-6  # PIQP's own residual on a singular matrix


def test_contacts_with_friction_are_solved_though_the_matrix_is_not_semidefinite():
    for seed in range(12):
        A, b = stewart_trinkle(5 + seed, np.random.default_rng(seed))
        found = solve_lcp(A, b)
        assert found.why == "" and found.residual < CLOSE


def test_cottles_cycling_example_ends():
    """Kostreva 1979: without a rule against ties, Lemke's method cycles here."""
    A, b = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]]), np.array([-1.0, -1.0, -1.0])
    found = solve_lcp(A, b)
    np.testing.assert_allclose(found.z, np.full(3, 1 / 3), atol=1e-14)


def test_murtys_problem_takes_its_exponential_path_and_still_ends():
    """Upper triangular ones and twos: the unique solution is (0, …, 0, 1), a classical bad case of complementary pivoting."""
    n = 8
    A = np.triu(np.full((n, n), 2.0), 1) + np.eye(n)
    found = solve_lcp(A, -np.ones(n))
    assert found.why == ""
    np.testing.assert_allclose(found.z, np.eye(n)[-1], atol=1e-12)


@pytest.mark.parametrize("repeats", [2, 20])
def test_degenerate_ties_end_in_a_solution(repeats):
    """The same contact many times over, gaps closing and at rest: every ratio is a tie."""
    rows = np.repeat(np.array([[1.0, 0.5], [0.0, 1.0], [1.0, 0.5]]), repeats, axis=0)
    for v in ([-1.0, -1.0], [0.0, -1.0], [-1.0, 2.0], [0.0, 0.0]):
        found = solve_lcp(rows @ rows.T, rows @ np.array(v))
        assert found.why == "" and found.residual < 1e-12


def test_a_problem_without_solution_ends_on_a_ray():
    found = solve_lcp(np.array([[-1.0, 0.0], [0.0, 1.0]]), np.array([-1.0, -1.0]))
    assert found.why == "ends on a ray" and np.isfinite(found.z).all() and found.residual > 0.5
    wall = np.array([[1.0, -1.0], [-1.0, 1.0]])  # two walls that close on one body
    assert solve_lcp(wall, np.array([-1.0, -1.0])).why == "ends on a ray"


def test_matrices_of_zeros_and_empty_problems():
    assert solve_lcp(np.zeros((0, 0)), np.zeros(0)).z.size == 0
    assert solve_lcp(np.zeros((2, 2)), np.array([1.0, 0.0])).residual == 0.0
    assert solve_lcp(np.zeros((2, 2)), np.array([1.0, -1.0])).why != ""
    with pytest.raises(ValueError, match="finite"):
        solve_lcp(np.array([[np.nan]]), np.array([-1.0]))


def test_badly_scaled_masses():
    """A stack whose masses grow by 10⁶ from bottom to top: impulses are the weights above, in closed form."""
    mass = np.geomspace(1.0, 1e6, 7)
    J = np.eye(7) - np.eye(7, k=-1)  # gap of body i over body i − 1
    A = J @ np.diag(1 / mass) @ J.T
    found = solve_lcp(A, J @ np.full(7, -1.0))
    expected = np.cumsum(mass[::-1])[::-1]
    np.testing.assert_allclose(found.z, expected, rtol=1e-9)


def test_quantecons_lemke_agrees():
    """z of quantecon 0.11.4's `lcp_lemke` (another implementation, run apart): positive definite; a planar contact that slides."""
    A = np.array([[2.0, -1, 0, 3], [1, 3, -2, 0], [0, 1, 4, -1], [-2, 0, 1, 5]])
    b = np.array([-4.0, 3, -7, -2])
    np.testing.assert_allclose(solve_lcp(A, b).z, [1.2272727272727273, 0.0, 1.8787878787878787, 0.5151515151515151], atol=1e-12)
    A = np.array([[3.0, 1, -1, 0], [1, 2, -2, 1], [-1, -2, 2, 1], [0.5, -1, -1, 0]])
    np.testing.assert_allclose(solve_lcp(A, np.array([-6.0, 4, -4, 0])).z, [2.4, 0.0, 1.2, 4.0], atol=1e-12)
