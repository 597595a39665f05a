"""The matrix of a small tree against numpy: J from the recursion, forces between points from the motions of their points."""

import numpy as np
import pytest

from unibody.algebra.tree.aba import BODY, COLUMN, ROW, P
from unibody.algebra.tree.joint_matrix import (
    POINTS,
    factor_joint_matrix,
    fill_joint_matrix,
    scratch_size,
    solve_joint_matrix,
    stride_of,
    ways_and_moves,
)
from unibody.spatial.pose import skew

PACKING = [(i, j) for i in range(3) for j in range(i, 3)] + [(i, j) for i in range(3) for j in range(3, 6)]
PACKING += [(i, j) for i in range(3, 6) for j in range(i, 6)]


class Tree:
    """A random tree with up to three columns a node (some with none), blocks, couplings and forces between points."""

    def __init__(self, seed: int, nodes: int, forces: int, couplings: int, chain: bool = False):
        g = np.random.default_rng(seed)
        n = self.n = nodes + 1
        self.parent = np.array([0, *(i - 1 if chain else int(g.integers(max(0, i - 4), i)) for i in range(1, n))])
        count = np.array([0, *g.integers(0 if seed % 2 else 1, 4, nodes)])
        count[1] = max(1, count[1])
        first = np.concatenate([[0], np.cumsum(count)[:-1]])
        self.nv = int(count.sum())
        self.body = np.zeros((n, BODY), np.int64)
        self.body[:, 0], self.body[:, 1], self.body[:, 2] = self.parent, first, count
        self.p = np.vstack([np.zeros(3), g.uniform(-2, 2, (nodes, 3))])
        self.rows = np.zeros((n, ROW))
        self.rows[:, P : P + 3] = self.p
        self.columns = np.zeros((self.nv, COLUMN))
        self.columns[:, :6] = g.standard_normal((self.nv, 6))
        roots = g.standard_normal((n, 6, 6))
        self.B = roots @ roots.transpose(0, 2, 1) + np.eye(6)
        self.B[0] = 0.0
        self.diagonal = g.uniform(0, 1, self.nv)
        self.J = np.zeros((n, 6, self.nv))
        for i in range(1, n):
            T = np.eye(6)
            T[3:, :3] = -skew(self.p[i] - self.p[self.parent[i]])
            self.J[i] = T @ self.J[self.parent[i]]
            self.J[i][:, first[i] : first[i] + count[i]] += self.columns[first[i] : first[i] + count[i], :6].T
        # couplings come with blocks of their own, so that the whole stays positive
        self.pairs = np.array([g.choice(np.arange(1, n), 2, replace=False) for _ in range(couplings)], np.int64).reshape(-1, 2)
        self.N = np.zeros((couplings, 6, 6))
        for m, (a, b) in enumerate(self.pairs):
            Q = g.standard_normal((3, 12))
            K = Q.T @ Q
            self.B[a] += K[:6, :6]
            self.B[b] += K[6:, 6:]
            self.N[m] = K[:6, 6:]
        self.ends = np.array([[*g.integers(0, n, 2), 0] for _ in range(forces)], np.int64).reshape(-1, 3)
        self.forces = np.zeros((forces, POINTS))
        self.S = np.zeros((forces, 3, 3))
        for e in range(forces):
            x = g.uniform(-2, 2, (2, 3))
            root = g.standard_normal((3, 3))
            S = root @ root.T if self.ends[e, 0] != self.ends[e, 1] else np.zeros((3, 3))
            self.S[e] = S
            self.forces[e] = [*x.ravel(), *g.standard_normal(3), *np.diag(S), S[1, 2], S[2, 0], S[0, 1], 0.0]

    def matrix(self) -> np.ndarray:
        A = np.diag(self.diagonal) + np.einsum("nij,nik,nkl->jl", self.J, self.B, self.J)
        for (a, b), N in zip(self.pairs, self.N, strict=True):
            across = self.J[a].T @ N @ self.J[b]
            A += across + across.T
        for (a, b, _), numbers, S in zip(self.ends, self.forces, self.S, strict=True):
            D = self.motion(b, numbers[3:6]) - self.motion(a, numbers[:3])
            A += D.T @ S @ D
        return A

    def motion(self, node: int, x: np.ndarray) -> np.ndarray:
        return self.J[node][3:] - skew(x - self.p[node]) @ self.J[node][:3]

    def written(self) -> np.ndarray:
        plan = ways_and_moves(self.body.ravel(), [(int(a), int(b)) for a, b, _ in self.ends])
        A = np.full(stride_of(self.nv) * self.nv, np.nan)
        blocks = np.array([[B[i, j] for i, j in PACKING] for B in self.B])
        scratch = np.full(scratch_size(self.n, self.nv, plan) + 4, np.nan)
        fill_joint_matrix(
            self.body.ravel(), self.rows.ravel(), self.columns.ravel(), blocks.ravel(), self.diagonal, self.pairs.ravel(), self.N.ravel(),
            self.ends.ravel(), plan, self.forces.ravel(), scratch, A,
        )  # fmt: skip
        return A


@pytest.mark.parametrize("chain", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_matrix_and_solution_are_numpys(seed, chain):
    tree = Tree(seed, 3 + seed % 9, (0, 4, 9)[seed % 3], (0, 3)[seed // 3 % 2], chain)
    exact = tree.matrix()
    A = tree.written()
    upper = np.triu(A.reshape(tree.nv, -1)[:, : tree.nv])
    # sums of some hundred terms
    np.testing.assert_allclose(upper, np.triu(exact), atol=1e-12 * np.abs(exact).max())
    state = np.zeros(tree.nv)
    assert factor_joint_matrix(tree.nv, A, state) == -1
    x = np.zeros(stride_of(tree.nv))
    x[: tree.nv] = right = np.random.default_rng(seed).standard_normal(tree.nv)
    solve_joint_matrix(tree.nv, A, state, x)
    # elimination leaves a residual of round-off, whatever the condition
    residual = np.abs(exact @ x[: tree.nv] - right).max()
    assert residual <= 1e-12 * (np.abs(exact).max() * np.abs(x).max() + 1.0)


def test_a_pivot_that_is_not_positive_is_told():
    tree = Tree(2, 6, 4, 0)
    tree.diagonal[3] -= 2.0 * np.diag(tree.matrix())[3]
    assert np.linalg.eigvalsh(tree.matrix())[0] < 0.0
    A = tree.written()
    failed = factor_joint_matrix(tree.nv, A, np.zeros(tree.nv))
    leading = [np.linalg.eigvalsh(tree.matrix()[: k + 1, : k + 1])[0] > 0.0 for k in range(tree.nv)]
    assert failed == leading.index(False)
