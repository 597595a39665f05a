"""The tree LDLᵀ against numpy's dense solution of the same saddle problem."""

import os
import subprocess
import sys

import numpy as np
import pytest
from forests import CLOSE, MODULES, factored, forest, parents, relative


@pytest.mark.parametrize("w", [3, 6])
@pytest.mark.parametrize("shape", ["chain", "star", "binary", "random"])
@pytest.mark.parametrize("compliance", [0.0, 1.0])
def test_tree_solution_matches_dense_solution(w, shape, compliance):
    for seed in range(3):
        rows = np.random.default_rng(seed).integers(0, w + 1, 14)
        p = forest(w, parents(shape, 14, seed), rows, compliance, seed)
        tree, plan, factor = factored(p)
        y, multipliers = np.full((2, p.f.size), np.nan)
        tree.solve_tree(p.parent, p.rows, plan, factor, p.f, p.b, y, multipliers)
        y_dense, multipliers_dense = p.solve()
        assert relative(y, y_dense) < CLOSE
        assert relative(multipliers, multipliers_dense) < CLOSE


@pytest.mark.parametrize("w", [3, 6])
def test_every_number_of_rows_matches_dense_solution(w):
    for r in range(w + 1):
        p = forest(w, parents("random", 9, r), np.full(9, r), 0.1, r)
        tree, plan, factor = factored(p)
        y, multipliers = np.full((2, p.f.size), np.nan)
        tree.solve_tree(p.parent, p.rows, plan, factor, p.f, p.b, y, multipliers)
        assert relative(y, p.solve()[0]) < CLOSE
        assert np.abs(multipliers - p.solve()[1]).max() < CLOSE * (1 + np.abs(multipliers).max())


@pytest.mark.parametrize("w", [3, 6])
def test_factor_and_solve_in_one_call_leaves_the_same_factor_and_solution(w):
    p = forest(w, parents("random", 20, 5), np.random.default_rng(5).integers(0, w + 1, 20), 0.0, 5)
    tree, plan, factor = factored(p)
    y, multipliers, y_one, multipliers_one = np.full((4, p.f.size), np.nan)
    tree.solve_tree(p.parent, p.rows, plan, factor, p.f, p.b, y, multipliers)
    factor_one = np.full(plan[-1], np.nan)
    failed = tree.factor_solve_tree(p.parent, p.rows, plan, p.M, p.Gc, p.Gp, p.C, p.f, p.b, factor_one, y_one, multipliers_one)
    assert failed == -1
    runs = int((w * (w + 1) // 2 + (2 * w + 1) * p.rows + p.rows * (p.rows - 1) // 2).sum())
    assert np.array_equal(factor[-runs:], factor_one[-runs:])
    # Same operations up to the order of a few sums.
    assert relative(y_one, y) < 1e-13
    assert relative(multipliers_one, multipliers) < 1e-13


@pytest.mark.parametrize("w", [3, 6])
def test_many_right_hand_sides_match_one_by_one(w):
    p = forest(w, parents("random", 17, 2), np.random.default_rng(2).integers(0, w + 1, 17), 0.0, 2)
    tree, plan, factor = factored(p)
    k, size = 4, p.f.size
    f = np.zeros((k, size))
    for j in range(k):
        f[j, 3 * j * w : 3 * j * w + w] = np.random.default_rng(j).standard_normal(w)
    y, multipliers = np.full((2, k * size), np.nan)
    tree.solve_tree_many(k, p.parent, p.rows, plan, factor, f.ravel(), np.empty(0), y, multipliers)
    for j in range(k):
        y_dense, multipliers_dense = p.solve(f[j], np.zeros(size))
        # A welded tree does not answer at all, so errors are measured against the force.
        assert np.abs(y.reshape(k, size)[j] - y_dense).max() < CLOSE * np.abs(f).max()
        assert np.abs(multipliers.reshape(k, size)[j] - multipliers_dense).max() < CLOSE * np.abs(f).max()
    b = np.random.default_rng(9).standard_normal((k, size))
    tree.solve_tree_many(k, p.parent, p.rows, plan, factor, f.ravel(), b.ravel(), y, multipliers)
    for j in range(k):
        assert relative(y.reshape(k, size)[j], p.solve(f[j], b[j])[0]) < CLOSE


# Kernels divide first and look at the pivot afterwards; without compilation numpy warns of that.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("w", [3, 6])
def test_indefinite_mass_and_dependent_rows_name_the_body_without_nan(w):
    tree = MODULES[w]
    for spoil in ("zero mass", "negative mass", "nan mass", "dependent rows"):
        for r in range(2, w + 1):
            p = forest(w, parents("chain", 8), np.full(8, r), 0.0, 3)
            if spoil == "dependent rows":
                p.Gc.reshape(8, w, w)[4, r - 1] = 2.0 * p.Gc.reshape(8, w, w)[4, 0]
            else:
                # The last body of the chain: any other would be helped by its children.
                p.M.reshape(8, w, w)[7] = {"zero mass": 0.0, "negative mass": -1.0, "nan mass": np.nan}[spoil]
            plan = tree.plan_tree(p.parent, p.rows)
            factor = np.zeros(plan[-1])
            y, multipliers = np.zeros((2, p.f.size))
            expected = 4 if spoil == "dependent rows" else 7
            assert tree.factor_tree(p.parent, p.rows, plan, p.M, p.Gc, p.Gp, p.C, factor) == expected
            failed = tree.factor_solve_tree(p.parent, p.rows, plan, p.M, p.Gc, p.Gp, p.C, p.f, p.b, factor, y, multipliers)
            assert failed == expected
            assert np.isfinite(factor).all()
            assert np.isfinite(y).all()
            assert np.isfinite(multipliers).all()


@pytest.mark.parametrize("w", [3, 6])
def test_long_chain_satisfies_its_equations(w):
    n = 2000
    p = forest(w, parents("chain", n), np.full(n, w - 1), 0.0, 1)
    tree, plan, factor = factored(p)
    y, multipliers = np.zeros((2, n * w))
    tree.solve_tree(p.parent, p.rows, plan, factor, p.f, p.b, y, multipliers)
    M, Gc, Gp = (a.reshape(n, w, w) for a in (p.M, p.Gc, p.Gp))
    y, multipliers, b = y.reshape(n, w), multipliers.reshape(n, w), p.b.reshape(n, w)
    residual = np.einsum("nij,nj->ni", M, y) - np.einsum("nji,nj->ni", Gc, multipliers) - p.f.reshape(n, w)
    residual[:-1] -= np.einsum("nji,nj->ni", Gp[1:], multipliers[1:])
    rows = np.einsum("nij,nj->ni", Gc, y)
    rows[1:] += np.einsum("nij,nj->ni", Gp[1:], y[:-1])
    # Backward stable: residuals are round-off of the largest term in them.
    assert np.abs(residual).max() < 1e-11 * np.abs(multipliers).max()
    assert np.abs((rows - b)[:, : w - 1]).max() < 1e-11 * np.abs(y).max()


def test_kernels_run_without_compilation():
    code = """
import sys
sys.path.insert(0, {here!r})
import test_saddle_auxiliary, test_saddle_schur, test_saddle_baraff
assert "numba" not in sys.modules
for w in (3, 6):
    test_saddle_baraff.test_tree_solution_matches_dense_solution(w, "random", 0.0)
    test_saddle_baraff.test_many_right_hand_sides_match_one_by_one(w)
    test_saddle_baraff.test_indefinite_mass_and_dependent_rows_name_the_body_without_nan(w)
    test_saddle_schur.test_schur_dense_and_tree_agree(w)
test_saddle_auxiliary.test_redundant_system_has_the_minimum_norm_solution(7, 4)
assert "numba" not in sys.modules
"""
    here = os.path.dirname(__file__)
    subprocess.run(
        [sys.executable, "-c", code.format(here=here)],
        env={**os.environ, "UNIBODY_JIT": "0", "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
