"""Linear systems of joined bodies against dense ones: single groups, groups that touch, groups of every size, matrices that fail."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unibody.algebra.block import reduced_pcg
from unibody.algebra.block.cholesky import BlockMatrix
from unibody.algebra.block.reduced_pcg import ChangeOfVariables, solve_reduced, solve_reduced_directly


def system(rng, sizes, touching, stiff=1e4):
    """H over bodies in groups (chains that share points), and touching bodies; N of pairs that share their first three numbers."""
    m = sum(sizes)
    group = np.repeat(np.arange(len(sizes)), sizes)
    pairs = [(b, b + 1) for b in range(m - 1) if group[b] == group[b + 1]]
    G = rng.normal(size=(m, 12, 12))
    diagonal = G @ np.swapaxes(G, 1, 2) * stiff + np.eye(12)
    rows, between = [], []
    for a, b in sorted({*pairs, *touching}):
        J = rng.normal(size=(2, 4, 12))
        rows.append((a, b))
        between.append(J[0].T @ J[1])
        diagonal[a] += J[0].T @ J[0]
        diagonal[b] += J[1].T @ J[1]
    at = np.array(rows, np.int64).reshape(-1, 2)
    H = BlockMatrix(diagonal, at[:, 0].copy(), at[:, 1].copy(), np.array(between).reshape(-1, 12, 12))
    blocks, z_group, columns = [], [], 0
    for b in range(m):
        shares = b > 0 and group[b] == group[b - 1]
        own = np.eye(12)[:, 3:] if shares else np.eye(12)
        blocks.append((b, columns, own))
        if shares:
            blocks.append((b, columns - 3, np.eye(12)[:, :3] + 0.0))  # the last three of the body before
        columns += own.shape[1]
        z_group += [group[b]] * own.shape[1]
    N = np.zeros((12 * m, columns))
    for b, at_z, block in blocks:
        N[12 * b : 12 * b + 12, at_z : at_z + block.shape[1]] += block
    return H, ChangeOfVariables.of(sp.csr_matrix(N), group, np.array(z_group)), N


def check(H, change, N, rng, rel=1e-7):
    b = rng.normal(size=N.shape[0])
    A = N.T @ H.sparse().toarray() @ N
    exact = N @ np.linalg.solve(A, N.T @ b)
    for found in (solve_reduced(H, change, b), solve_reduced_directly(H, change, b)):
        np.testing.assert_allclose(found, exact, atol=rel * np.abs(exact).max())


def test_spread_and_gather_are_the_matrix_and_its_transpose(rng):
    H, change, N = system(rng, [2, 1, 3], [])
    z, x = rng.normal(size=N.shape[1]), rng.normal(size=N.shape[0])
    np.testing.assert_allclose(change.spread(z), N @ z, atol=1e-14)
    np.testing.assert_allclose(change.gather(x), N.T @ x, atol=1e-13)
    np.testing.assert_allclose(H.product(x), H.sparse() @ x, rtol=1e-12)


@pytest.mark.parametrize(("sizes", "touching"), [([4], []), ([1, 1], [(0, 1)]), ([3, 2, 1], [(0, 4), (2, 5), (3, 5)])])
@pytest.mark.parametrize("dense", [400, 15])
def test_solutions_are_those_of_the_dense_matrix(sizes, touching, dense, rng, monkeypatch):
    """Also when groups of more than 15 unknowns are factored as sparse ones."""
    monkeypatch.setattr(reduced_pcg, "DENSE", dense)
    check(*system(rng, sizes, touching), rng)


def test_a_group_that_is_not_positive_has_no_answer_but_a_direct_one(rng):
    H, change, N = system(rng, [2, 1], [])
    H.diagonal[2] -= 1e9 * np.eye(12)
    assert solve_reduced(H, change, np.ones(36)) is None
    A = N.T @ H.sparse().toarray() @ N
    exact = N @ np.linalg.solve(A, N.T @ np.ones(36))
    np.testing.assert_allclose(solve_reduced_directly(H, change, np.ones(36)), exact, atol=1e-9 * np.abs(exact).max())


def test_sums_of_block_matrices(rng):
    one, two = (system(rng, [2, 2], touching)[0] for touching in ([(0, 3)], [(1, 2)]))
    np.testing.assert_allclose(one.plus(0.5, two).sparse().toarray(), one.sparse().toarray() + 0.5 * two.sparse().toarray(), rtol=1e-14)
