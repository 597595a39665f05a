"""Semidefinite systems by minimum norm, eigenvalues, and small Cholesky factors, against numpy."""

import numpy as np
import pytest

from unibody.algebra.dense import factor_cholesky, solve_cholesky
from unibody.algebra.saddle.auxiliary import solve_semidefinite, symmetric_eigen

RELATIVE_TOLERANCE = 1e-9


def solve(A, b):
    k = b.size
    x, null, work = np.full(k, np.nan), np.full(k * k, np.nan), np.full(3 * k, np.nan)
    rank = solve_semidefinite(k, A.ravel(), b, np.empty(0), RELATIVE_TOLERANCE, x, null, work)
    return rank, x, null.reshape(k, k)[: k - rank]


@pytest.mark.parametrize(("k", "rank"), [(1, 1), (2, 1), (7, 4), (12, 12), (40, 25), (90, 60)])
def test_redundant_system_has_the_minimum_norm_solution(k, rank):
    generator = np.random.default_rng(k)
    B = generator.standard_normal((k, rank)) * generator.uniform(0.1, 10.0, k)[:, None]
    A = B @ B.T
    b = A @ generator.standard_normal(k)
    found, x, null = solve(A, b)
    assert found == rank
    minimum = np.linalg.pinv(A, rcond=1e-11, hermitian=True) @ b
    # A's condition is the square of B's, about 1e7 here, times the round-off of both computations.
    assert np.abs(x - minimum).max() < 1e-7 * np.abs(minimum).max()
    assert np.abs(null @ null.T - np.eye(k - rank)).max(initial=0.0) < 1e-12
    assert np.abs(A @ null.T).max(initial=0.0) < 1e-10 * np.abs(A).max()


def test_rank_does_not_depend_on_units():
    generator = np.random.default_rng(0)
    B = generator.standard_normal((6, 4))
    units = 10.0 ** np.array([-6, 0, 6, 3, -3, 1])
    rank, x, _ = solve(units[:, None] * (B @ B.T) * units, units * (B @ generator.standard_normal(4)))
    assert rank == 4
    assert np.isfinite(x).all()


def test_inconsistent_right_hand_side_is_solved_by_least_squares():
    B = np.random.default_rng(0).standard_normal((5, 3))
    B /= np.linalg.norm(B, axis=1)[:, None]
    b = np.arange(1.0, 6.0)
    _, x, _ = solve(B @ B.T, b)
    assert np.allclose(x, np.linalg.lstsq(B @ B.T, b, rcond=1e-10)[0], rtol=1e-9)


def test_zero_matrix_gives_zero():
    rank, x, null = solve(np.zeros((3, 3)), np.ones(3))
    assert rank == 0
    assert np.array_equal(x, np.zeros(3))
    assert np.allclose(null @ null.T, np.eye(3))


@pytest.mark.parametrize("n", [1, 2, 3, 10, 50])
def test_eigenvalues_match_numpy(n):
    B = np.random.default_rng(n).standard_normal((n, n))
    A = B + B.T
    V, d, e = A.ravel().copy(), np.zeros(n), np.zeros(n)
    symmetric_eigen(n, V, d, e)
    V = V.reshape(n, n)
    assert np.allclose(np.sort(d), np.linalg.eigvalsh(A), atol=1e-12 * n)
    assert np.allclose(V @ V.T, np.eye(n), atol=1e-13 * n)
    assert np.allclose(V.T @ np.diag(d) @ V, A, atol=1e-12 * n)


@pytest.mark.parametrize("n", [1, 2, 9, 150])
def test_cholesky_solves_and_names_the_first_bad_pivot(n):
    generator = np.random.default_rng(n)
    B = generator.standard_normal((n, n))
    A = B @ B.T + n * np.eye(n)
    U, x, b = A.ravel().copy(), np.zeros(n), generator.standard_normal(n)
    x[:] = b
    assert factor_cholesky(n, U) == -1
    solve_cholesky(n, U, x)
    assert np.abs(A @ x - b).max() < 1e-11
    A[n // 2] = A[:, n // 2] = 0.0
    assert factor_cholesky(n, A.ravel().copy()) == n // 2
