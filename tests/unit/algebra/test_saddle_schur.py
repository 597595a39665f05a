"""Schur complement, dense LDLᵀ and tree give one solution; auxiliary rows against numpy's minimum-norm least squares."""

import numpy as np
import pytest
from forests import CLOSE, factored, forest, parents, relative

from unibody.algebra.saddle import schur
from unibody.algebra.saddle.auxiliary import anticipate, solve_semidefinite

METHODS = {
    "schur": (schur.solve_schur, schur.schur_work),
    "dense": (schur.solve_dense, schur.dense_work),
}

RELATIVE_TOLERANCE = 1e-9


def solved(method, p, K=None, c=None):
    """failed, rank, y, λ, μ."""
    solve, work_size = METHODS[method]
    k = 0 if K is None else len(K)
    K, c = (np.empty(0), np.empty(0)) if K is None else (K.ravel(), c)
    work = np.full(work_size(p.w, k, p.n, int(p.rows.sum())), np.nan)
    y, multipliers, mu = np.full(p.f.size, np.nan), np.full(p.f.size, np.nan), np.full(k, np.nan)
    failed = solve(p.w, k, p.parent, p.rows, p.M, p.Gc, p.Gp, p.C, K, p.f, p.b, c, RELATIVE_TOLERANCE, work, y, multipliers, mu)
    return failed, work[0], y, multipliers, mu


@pytest.mark.parametrize("w", [3, 6])
def test_schur_dense_and_tree_agree(w):
    for seed, shape in enumerate(["chain", "star", "binary", "random"]):
        rows = np.random.default_rng(seed).integers(0, w + 1, 8)
        p = forest(w, parents(shape, 8, seed), rows, 0.3 * (seed % 2), seed)
        tree, plan, factor = factored(p)
        y, multipliers = np.full((2, p.f.size), np.nan)
        tree.solve_tree(p.parent, p.rows, plan, factor, p.f, p.b, y, multipliers)
        for method in METHODS:
            failed, _, y_other, multipliers_other, _ = solved(method, p)
            assert failed == -1
            assert relative(y_other, y) < CLOSE
            assert relative(multipliers_other, multipliers) < CLOSE


def redundant_rows(p, generator):
    """Three independent rows, one combination of them with another unit, one that a joint already implies, one of zeros."""
    K = generator.standard_normal((3, p.n * p.w))
    joints = p.jacobian()
    return np.concatenate([K, [1e3 * (K[0] - 2 * K[1])], [joints[1] + 0.5 * joints[2]], [0 * K[0]]])


@pytest.mark.parametrize("w", [3, 6])
@pytest.mark.parametrize("method", ["schur", "dense", "tree"])
def test_redundant_auxiliary_rows_get_minimum_norm_multipliers(w, method):
    generator = np.random.default_rng(1)
    p = forest(w, parents("binary", 7), np.full(7, w - 1), 0.0, 4)
    K = redundant_rows(p, generator)
    k, size = K.shape
    feasible = np.linalg.lstsq(p.jacobian(), p.b[p.used()], rcond=None)[0]
    feasible += np.linalg.svd(p.jacobian())[2][-1]
    c = K @ feasible
    if method == "tree":
        tree, plan, factor = factored(p)
        y, multipliers = np.zeros((2, size))
        response, unused = np.zeros((2, k * size))
        tree.solve_tree(p.parent, p.rows, plan, factor, p.f, p.b, y, multipliers)
        tree.solve_tree_many(k, p.parent, p.rows, plan, factor, K.ravel(), np.empty(0), response, unused)
        A, reference, mu = np.zeros(k * k), np.zeros(k), np.zeros(k)
        anticipate(k, w, p.M, K.ravel(), response, A, reference)
        rank = solve_semidefinite(k, A, c - K @ y, reference, RELATIVE_TOLERANCE, mu, np.zeros(k * k), np.zeros(3 * k))
        tree.solve_tree(p.parent, p.rows, plan, factor, p.f + K.T @ mu, p.b, y, multipliers)
    else:
        failed, rank, y, multipliers, mu = solved(method, p, K, c)
        assert failed == -1
    assert rank == 3
    # The rows a joint implies get no force at all: their null direction is resolved towards zero by dropping them. The
    # remaining four (three independent) have the least-norm multipliers among all solutions.
    assert np.abs(mu[4:]).max() == 0.0
    y_free, _ = p.solve()
    response = np.array([p.solve(row, np.zeros(size))[0] for row in K[:4]])
    mu_numpy = np.linalg.lstsq(K[:4] @ response.T, c[:4] - K[:4] @ y_free, rcond=1e-12)[0]
    # The 1e3 between units costs three digits of the ten.
    assert relative(mu[:4], mu_numpy) < 1e-7
    assert np.abs(p.mass() @ y - p.jacobian().T @ multipliers[p.used()] - K.T @ mu - p.f).max() < 1e-8
    assert np.abs(p.jacobian() @ y - p.b[p.used()]).max() < 1e-8
    assert np.abs((K @ y - c) / np.maximum(1.0, np.abs(K).max(axis=1))).max() < 1e-8


@pytest.mark.parametrize("method", ["schur", "dense"])
def test_failing_pivot_names_the_body(method):
    p = forest(3, parents("chain", 6), np.full(6, 2), 0.0, 3)
    p.Gc.reshape(6, 3, 3)[4, 1] = 2.0 * p.Gc.reshape(6, 3, 3)[4, 0]
    p.Gp.reshape(6, 3, 3)[4, 1] = 2.0 * p.Gp.reshape(6, 3, 3)[4, 0]
    assert solved(method, p)[0] == 4
