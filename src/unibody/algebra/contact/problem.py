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

W = J M⁻¹ Jᵀ, the Delassus operator, is symmetric and positive semidefinite. Here it is an m×m array, which direct methods need; problems of
many rows keep it in factors (`delassus`), so that a sweep over n contacts costs O(n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Law = Literal["coulomb", "convex"]
LAWS: tuple[Law, ...] = ("coulomb", "convex")
COULOMB, CONVEX = range(2)
"""The laws as kernels know them: their places in `LAWS`."""


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
    """u = W λ + b, W = delassus + diag(compliance), with the laws of `blocks`, rows in their order. delassus: (m, m); compliance: (m,) ≥ 0.
    directions: of the polyhedral cone, 0 for the round one.

    >>> ball = ContactProblem(np.diag([1.0, 3.5, 3.5]), np.array([-2.0, 7.0, 0.0]), contacts([0.2]))
    >>> ball.W.shape, ball.law
    ((3, 3), 'coulomb')
    """

    delassus: np.ndarray
    b: np.ndarray
    blocks: Blocks
    compliance: np.ndarray | None = None
    law: Law = "coulomb"
    directions: int = 0
    W: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        m, blocks = self.blocks.size, self.blocks
        b, W = np.ascontiguousarray(self.b, float), np.ascontiguousarray(self.delassus, float)
        R = np.zeros(m) if self.compliance is None else np.ascontiguousarray(self.compliance, float)
        if self.law not in LAWS:
            raise ValueError(f"law {self.law!r} is none of {', '.join(LAWS)}")
        if b.shape != (m,) or R.shape != (m,):
            raise ValueError(f"the blocks have {m} rows; b has shape {b.shape}, compliance {R.shape}")
        if self.directions and self.directions < 3:
            raise ValueError(f"a polyhedral cone needs at least 3 directions, got {self.directions}")
        if not (np.isfinite(b).all() and np.isfinite(R).all() and (R >= 0.0).all()):
            raise ValueError("b and compliance must be finite, compliance not negative")
        if not (np.isfinite(blocks.friction).all() and (blocks.friction >= 0.0).all()):
            raise ValueError("coefficients of friction must be finite and not negative")
        if not (blocks.lower <= blocks.upper).all() or (blocks.lower == np.inf).any() or (blocks.upper == -np.inf).any():
            raise ValueError("bounds must be in order, and leave some impulse")
        if W.shape != (m, m) or not np.isfinite(W).all():
            raise ValueError(f"{m} rows need a finite {m} × {m} matrix, got shape {W.shape}")
        object.__setattr__(self, "W", W + np.diag(R) if R.any() else W)
        object.__setattr__(self, "b", b)


@dataclass
class Residual:
    """By how much the laws are missed, as the natural map λ − P_K(λ − u / g) of each block with its own g (diagonal of W) sees it.

    velocity: the largest, times g, in units of u: a rate of penetration, a creep, or a force not where dissipation is largest.
    impulse: the largest, as a part of the largest impulse."""

    velocity: float
    impulse: float

    @classmethod
    def of(cls, velocity: float, impulse: float, largest: float) -> Residual:
        """From the largest miss in units of velocity, the one in units of impulse, and the largest impulse."""
        return cls(velocity, impulse / largest if largest else float(impulse > 0.0))


@dataclass
class Solution:
    """λ, u = W λ + b, how well they satisfy the laws, the work it took, by which method, and what there is to say.

    `converged`: the residual's velocity is below the tolerance, or below what round-off allows."""

    impulse: np.ndarray
    velocity: np.ndarray
    residual: Residual
    iterations: int
    method: str
    note: str
    converged: bool
