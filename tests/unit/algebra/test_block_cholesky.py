"""Block matrices against dense ones: products, direct and iterated solutions, and matrices that are not positive."""

from __future__ import annotations

import numpy as np
import pytest

from unibody.algebra.block import cholesky
from unibody.algebra.block.cholesky import BlockMatrix, multiply


def coupled(m: int, seed: int = 0, stiff: float = 1e6) -> BlockMatrix:
    """Stiff bodies in a row with a few long couplings: A = D + Σ JᵀJ."""
    rng = np.random.default_rng(seed)
    rows, columns = np.arange(m - 1), np.arange(1, m)
    rows, columns = np.concatenate([rows, np.arange(0, m - 3, 3)]), np.concatenate([columns, np.arange(3, m, 3)])
    diagonal = np.zeros((m, 12, 12))
    for k in range(m):
        B = rng.standard_normal((6, 12))
        diagonal[k] = np.eye(12) + stiff * B.T @ B
    between = []
    for a, b in zip(rows, columns, strict=True):
        J = rng.standard_normal((2, 24))
        diagonal[a] += J[:, :12].T @ J[:, :12]
        diagonal[b] += J[:, 12:].T @ J[:, 12:]
        between.append(J[:, :12].T @ J[:, 12:])
    return BlockMatrix(diagonal, rows.astype(np.int64), columns.astype(np.int64), np.array(between))


@pytest.fixture(params=[0, 10_000], ids=["iterated", "direct"])
def way(request, monkeypatch):
    monkeypatch.setattr(cholesky, "DIRECT", request.param)


def test_product_and_sparse_form():
    A, rng = coupled(9), np.random.default_rng(1)
    dense, x = A.sparse().toarray(), rng.standard_normal(108)
    assert np.allclose(dense, dense.T, rtol=1e-12)
    y = np.zeros(108)
    multiply(A.diagonal.ravel(), A.rows, A.columns, A.between.ravel(), np.ascontiguousarray(np.swapaxes(A.between, 1, 2)).ravel(), x, y)
    assert y == pytest.approx(dense @ x, rel=1e-12, abs=1e-6)


def test_solution(way):
    A, b = coupled(30), np.random.default_rng(2).standard_normal(360)
    x = A.solve(b, accuracy=1e-12)
    assert np.abs(A.sparse() @ x - b).max() < 1e-6


def test_rough_iterations_still_go_down(way):
    A, b = coupled(30), np.random.default_rng(3).standard_normal(360)
    x = A.solve(b, accuracy=0.1)
    assert b @ x > 0.0 and 0.5 * x @ (A.sparse() @ x) - b @ x < -0.25 * b @ np.linalg.solve(A.sparse().toarray(), b)


def test_without_coupling():
    A = coupled(5)
    alone = BlockMatrix(A.diagonal, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 12, 12)))
    b = np.random.default_rng(4).standard_normal(60)
    assert alone.solve(b) == pytest.approx(np.linalg.solve(A.diagonal, b.reshape(5, 12, 1)).ravel(), rel=1e-6, abs=1e-9)


def test_not_positive(monkeypatch):
    A = coupled(6)
    A.diagonal[3] -= 1e9 * np.eye(12)
    assert A.solve(np.ones(72)) is None
    monkeypatch.setattr(cholesky, "DIRECT", 0)
    B = coupled(6)
    assert BlockMatrix(B.diagonal, B.rows, B.columns, 1e9 * B.between).solve(np.ones(72)) is None
