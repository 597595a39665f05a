"""Contact with friction as data: u = W λ + b, one law per block of rows. Nothing here knows a body's name or a time step.

    free          u = 0                                     (joints, rolling; λ of any sign)
    unilateral    u ≥ 0 ⟂ λ ≥ 0                             (limits, contact without friction)
    box           |λ| ≤ c, u = 0 inside, u against λ at ±c  (dry friction of constant bound: Eq. 26 and 49 of paper 002)
    contact       rows (normal; tangents t): λ in the cone K = {Σ (λ_i / μ_i)² ≤ λ_n²}, and with ‖u_t‖_μ = (Σ (μ_i u_i)²)^½
                  law "coulomb":  u + ‖u_t‖_μ e_n in K*, orthogonal to λ   (De Saxcé's form of: u_n ≥ 0 ⟂ λ_n ≥ 0, maximum dissipation)
                  law "convex":   u in K*, orthogonal to λ                 (Anitescu and Potra: sliding contacts lift off by μ‖u_t‖)

One tangent makes a planar contact, two a spatial one (μ₁ ≠ μ₂: elliptic), a third row is the spin about the normal with its bound μ_r
λ_n (a length), on one ellipsoid with the others, so that a contact which slides resists spin less: Contensou. With `directions` > 0 the
cone is the polyhedral one of Stewart and Trinkle (Eq. 45–49), inscribed in K, with maximum dissipation among its generators.

W = J M⁻¹ Jᵀ + diag(R), symmetric and positive semidefinite, comes whole (`Dense`) or in factors (`Factored`): rows that touch at most
two islands of six velocities, and 6×6 blocks of M⁻¹, so that a sweep over n contacts costs O(n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Law = Literal["coulomb", "convex"]
LAWS: tuple[Law, ...] = ("coulomb", "convex")


@dataclass(frozen=True)
class Dense:
    """W as an m×m array, without the compliance R."""

    W: np.ndarray


@dataclass(frozen=True)
class Factored:
    """W = J M⁻¹ Jᵀ. J: (m, 2, 6), the rows' parts in the two islands of six that they touch; islands: (m, 2), −1 for none (the ground);
    inverse_mass: (n, 6, 6). Rows of one contact touch the same islands."""

    J: np.ndarray
    islands: np.ndarray
    inverse_mass: np.ndarray


@dataclass
class Blocks:
    """The laws, block by block. rows: (k,) how many each has; lower, upper: (k,) bounds on λ where it is one row; friction: (k, 3)
    coefficients of a contact's tangents, where it is more."""

    rows: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    friction: np.ndarray

    @property
    def size(self) -> int:
        return int(self.rows.sum())

    @property
    def contact(self) -> np.ndarray:
        """Which blocks are contacts."""
        return self.rows > 1


def bounded(lower: np.ndarray, upper: np.ndarray) -> Blocks:
    """Single rows with lower ≤ λ ≤ upper; u = 0 inside, u ≥ 0 at the lower end, u ≤ 0 at the upper."""
    lower, upper = np.atleast_1d(np.asarray(lower, float)), np.atleast_1d(np.asarray(upper, float))
    return Blocks(np.ones(lower.size, np.int64), lower, upper, np.zeros((lower.size, 3)))


def free(count: int) -> Blocks:
    """Rows with u = 0."""
    return bounded(np.full(count, -np.inf), np.full(count, np.inf))


def unilateral(count: int) -> Blocks:
    """Rows with u ≥ 0 ⟂ λ ≥ 0."""
    return bounded(np.zeros(count), np.full(count, np.inf))


def box(bound: np.ndarray | Sequence[float]) -> Blocks:
    """Rows with |λ| ≤ bound."""
    bound = np.asarray(bound, float)
    return bounded(-bound, bound)


def contacts(friction: np.ndarray | Sequence[float], planar: bool = False) -> Blocks:
    """Contacts of three rows from μ (n,) or (μ₁, μ₂) (n, 2); of four from (μ₁, μ₂, μ_r) (n, 3); `planar`: of two rows, from μ (n,)."""
    mu = np.asarray(friction, float)
    if mu.ndim == 1:
        mu = mu[:, None] if planar else np.stack([mu, mu], axis=1)
    count, tangents = mu.shape
    wide = np.zeros((count, 3))
    wide[:, :tangents] = mu
    return Blocks(np.full(count, 1 + tangents, np.int64), np.zeros(count), np.full(count, np.inf), wide)


def join(*blocks: Blocks) -> Blocks:
    """The blocks one after the other."""
    names = ("rows", "lower", "upper", "friction")
    return Blocks(*(np.concatenate([getattr(b, name) for b in blocks]) for name in names)) if blocks else free(0)


@dataclass(frozen=True)
class ContactProblem:
    """u = (W + diag(R)) λ + b with the laws of `blocks`, rows in their order. compliance: R, (m,) ≥ 0. directions: of the polyhedral cone,
    0 for the round one.

    >>> ball = ContactProblem(Dense(np.diag([1.0, 3.5, 3.5])), np.array([-2.0, 7.0, 0.0]), contacts([0.2]))
    >>> ball.W.rows, ball.law
    (3, 'coulomb')
    """

    operator: Dense | Factored
    b: np.ndarray
    blocks: Blocks
    compliance: np.ndarray | None = None
    law: Law = "coulomb"
    directions: int = 0
    W: Operator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        m = self.blocks.size
        b = np.ascontiguousarray(self.b, float)
        R = np.zeros(m) if self.compliance is None else np.ascontiguousarray(self.compliance, float)
        if self.law not in LAWS:
            raise ValueError(f"law {self.law!r} is none of {', '.join(LAWS)}")
        if b.shape != (m,) or R.shape != (m,):
            raise ValueError(f"the blocks have {m} rows; b has shape {b.shape}, compliance {R.shape}")
        if self.directions and self.directions < 3:
            raise ValueError(f"a polyhedral cone needs at least 3 directions, got {self.directions}")
        if not (np.isfinite(b).all() and np.isfinite(R).all() and (R >= 0.0).all()):
            raise ValueError("b and compliance must be finite, compliance not negative")
        blocks = self.blocks
        if not (np.isfinite(blocks.friction).all() and (blocks.friction >= 0.0).all()):
            raise ValueError("coefficients of friction must be finite and not negative")
        if not (blocks.lower <= blocks.upper).all() or (blocks.lower == np.inf).any() or (blocks.upper == -np.inf).any():
            raise ValueError("bounds must be in order, and leave some impulse")
        object.__setattr__(self, "W", Operator(self.operator, R, np.repeat(np.arange(blocks.rows.size), blocks.rows)))
        object.__setattr__(self, "b", b)


class Operator:
    """W + diag(R), dense or in factors."""

    def __init__(self, source: Dense | Factored, R: np.ndarray, block_of: np.ndarray):
        self.R, self.rows = R, R.size
        self.dense: np.ndarray | None = None
        if isinstance(source, Dense):
            W = np.ascontiguousarray(source.W, float)
            if W.shape != (self.rows, self.rows) or not np.isfinite(W).all():
                raise ValueError(f"{self.rows} rows need a finite {self.rows} × {self.rows} matrix, got shape {W.shape}")
            self.dense = W + np.diag(R) if R.any() else W
            return
        self.J = np.ascontiguousarray(source.J, float).reshape(-1, 2, 6)
        self.islands = np.ascontiguousarray(source.islands, np.int64).reshape(-1, 2)
        self.inverse_mass = np.ascontiguousarray(source.inverse_mass, float).reshape(-1, 6, 6)
        if self.J.shape[0] != self.rows or self.islands.shape[0] != self.rows:
            raise ValueError(f"{self.rows} rows need as many rows of J and islands, got {self.J.shape[0]} and {self.islands.shape[0]}")
        if self.islands.max(initial=-1) >= len(self.inverse_mass) or self.islands.min(initial=-1) < -1:
            raise ValueError(f"islands must lie in −1 … {len(self.inverse_mass) - 1}")
        if not (np.isfinite(self.J).all() and np.isfinite(self.inverse_mass).all()):
            raise ValueError("J and inverse_mass must be finite")
        same = block_of[1:] == block_of[:-1]
        if (self.islands[1:] != self.islands[:-1])[same].any():
            raise ValueError("rows of one contact must touch the same two islands")
        self.J = np.where(self.islands[:, :, None] < 0, 0.0, self.J)
        twice = self.islands[:, 0] == self.islands[:, 1]
        self.J[twice, 0] += self.J[twice, 1]
        self.J[twice, 1] = 0.0
        self.islands = np.where(twice[:, None] & np.array([False, True]), -1, self.islands)

    def times(self, x: np.ndarray) -> np.ndarray:
        """(W + R) x."""
        if self.dense is not None:
            return self.dense @ x
        motion = np.zeros((len(self.inverse_mass) + 1, 6))
        np.add.at(motion, self.islands.ravel(), (self.J * x[:, None, None]).reshape(-1, 6))
        motion[:-1] = np.einsum("nij,nj->ni", self.inverse_mass, motion[:-1])
        return np.einsum("rgi,rgi->r", self.J, motion[self.islands]) + self.R * x

    def whole(self) -> np.ndarray:
        """W + R as an m×m array."""
        return self.dense if self.dense is not None else self.sparse().toarray()

    def sparse(self):
        """W + R as a SciPy matrix of the entries that are not zero."""
        import scipy.sparse as sp

        if self.dense is not None:
            return sp.csr_array(self.dense)
        n, at = len(self.inverse_mass), np.arange(6)
        columns = (np.maximum(self.islands, 0)[:, :, None] * 6 + at).ravel()
        J = sp.csr_array((self.J.ravel(), (np.repeat(np.arange(self.rows), 12), columns)), shape=(self.rows, 6 * n))
        M = sp.bsr_array((self.inverse_mass, np.arange(n), np.arange(n + 1)), shape=(6 * n, 6 * n))
        return (J @ M @ J.T + sp.diags_array(self.R)).tocsr()


@dataclass
class Residual:
    """By how much the laws are missed, as the natural map λ − P_K(λ − u / g) of each block with its own g (diagonal of W) sees it.

    velocity: the largest, times g, in units of u: a rate of penetration, a creep, or a force not where dissipation is largest.
    impulse: the largest, as a part of the largest impulse."""

    velocity: float
    impulse: float


@dataclass
class Solution:
    """λ, u = (W + R) λ + b, how well they satisfy the laws, the work it took, by which method, and what there is to say.

    `converged`: the residual's velocity is below the tolerance, or below what round-off allows."""

    impulse: np.ndarray
    velocity: np.ndarray
    residual: Residual
    iterations: int
    method: str
    note: str
    converged: bool
