"""Random saddle problems on forests, and their dense solution in numpy."""

from dataclasses import dataclass

import numpy as np

from unibody.algebra.saddle import baraff, baraff_planar

MODULES = {3: baraff_planar, 6: baraff}
# H of these random forests has a condition number up to 1e4; 1e-10 leaves round-off two orders of room.
CLOSE = 1e-10


@dataclass
class Forest:
    """Flat arrays of a problem, as the kernels take them, and the same thing as one dense matrix."""

    w: int
    parent: np.ndarray
    rows: np.ndarray
    M: np.ndarray
    Gc: np.ndarray
    Gp: np.ndarray
    C: np.ndarray
    f: np.ndarray
    b: np.ndarray

    @property
    def n(self) -> int:
        return self.parent.size

    def jacobian(self) -> np.ndarray:
        """G, one row per joint row, in the order of the joints."""
        n, w = self.n, self.w
        blocks = []
        for i in range(n):
            G = np.zeros((self.rows[i], n * w))
            G[:, i * w : i * w + w] = self.Gc.reshape(n, w, w)[i, : self.rows[i]]
            if self.parent[i] >= 0:
                p = self.parent[i]
                G[:, p * w : p * w + w] = self.Gp.reshape(n, w, w)[i, : self.rows[i]]
            blocks.append(G)
        return np.concatenate(blocks)

    def used(self) -> np.ndarray:
        """Which entries of b, C and λ belong to a row."""
        return (np.arange(self.w) < self.rows[:, None]).ravel()

    def mass(self) -> np.ndarray:
        n, w = self.n, self.w
        M = np.zeros((n * w, n * w))
        for i in range(n):
            M[i * w : i * w + w, i * w : i * w + w] = self.M.reshape(n, w, w)[i]
        return M

    def matrix(self, K: np.ndarray | None = None) -> np.ndarray:
        """H of paper 001, §3, with compliance, and with auxiliary rows K if given."""
        G = self.jacobian()
        C = self.C[self.used()]
        if K is not None:
            G, C = np.concatenate([G, K]), np.concatenate([C, np.zeros(len(K))])
        return np.block([[self.mass(), -G.T], [G, np.diag(C)]])

    def solve(self, f=None, b=None) -> tuple[np.ndarray, np.ndarray]:
        """y and λ (zeros where there is no row) by numpy."""
        f, b = self.f if f is None else f, self.b if b is None else b
        x = np.linalg.solve(self.matrix(), np.concatenate([f, b[self.used()]]))
        multipliers = np.zeros(self.n * self.w)
        multipliers[self.used()] = x[self.n * self.w :]
        return x[: self.n * self.w], multipliers


def parents(shape: str, n: int, seed: int = 0) -> np.ndarray:
    if shape == "chain":
        return np.arange(-1, n - 1)
    if shape == "star":
        return np.array([-1] + [0] * (n - 1))
    if shape == "binary":
        return (np.arange(n) - 1) // 2
    generator = np.random.default_rng(seed)
    return np.array([-1] + [int(generator.integers(-1, i)) for i in range(1, n)])


def forest(w: int, parent: np.ndarray, rows: np.ndarray, compliance: float = 0.0, seed: int = 0) -> Forest:
    generator = np.random.default_rng(seed)
    n = parent.size
    A = generator.standard_normal((n, w, w))
    M = A @ A.transpose(0, 2, 1) + w * np.eye(w)
    # Unused rows hold rubbish on purpose: no method may let it into its answer.
    Gc, Gp = generator.standard_normal((2, n, w, w))
    return Forest(
        w,
        parent.astype(np.int64),
        np.asarray(rows, np.int64),
        M.ravel(),
        Gc.ravel(),
        Gp.ravel(),
        compliance * generator.random(n * w),
        generator.standard_normal(n * w),
        generator.standard_normal(n * w),
    )


def relative(a, b):
    return np.abs(a - b).max() / max(np.abs(b).max(), 1e-300)


def factored(p):
    tree = MODULES[p.w]
    plan = tree.plan_tree(p.parent, p.rows)
    factor = np.full(plan[-1], np.nan)
    assert tree.factor_tree(p.parent, p.rows, plan, p.M, p.Gc, p.Gp, p.C, factor) == -1
    return tree, plan, factor
