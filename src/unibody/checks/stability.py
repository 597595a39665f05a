"""Which steps of a rule do not let the linear motion ÿ = A_q y + A_v ẏ grow.

    explicit Euler      μ = 1 + h λ                                 λ: eigenvalues of the motion, λ² x = A_q x + λ A_v x
    Runge–Kutta 4       μ = 1 + z + z²/2 + z³/6 + z⁴/24,   z = h λ
    semi-implicit       ẏ⁺ = ẏ + h (A_q y + A_v ẏ),   y⁺ = y + h ẏ⁺
    linearly implicit   (1 + h D° + h² K°) (ẏ⁺ − ẏ) = h (A_q y + A_v ẏ) − h² K° ẏ,   y⁺ = y + h ẏ⁺

A step is safe when no eigenvalue μ of the step grows faster than e-fold in a second (of slow motions: in a hundred radians), except those
that follow a growth which the motion itself has (an inverted pendulum falls in every rule). So much must be allowed because rules of first
order gain a little wherever a spring is undamped (explicit Euler) or a body spins (all that take gyroscopic forces from the beginning of
the step). The last two rules mix A_q and A_v in a way of their own, so μ is computed from the whole step's matrix, or, for many degrees of
freedom, mode by mode as if each were an oscillator of its own: an estimate.

The largest stable step is the first at which stability is lost, found by going up geometrically and then by bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

SLACK = 1e-6
"""Of |μ| ≤ 1: double roots of free motions are only known to the square root of round-off."""
GROWTH = 1.0
"""Growth [1/s] that is let pass, if it is also below this part of the motion's own rate, and below this part in one step:"""
TURNING, A_STEP = 0.01, 1e-3
QUIET = 0.02
"""Growth [1/s] that says nothing: free motions have double roots at 0, known only to the square root of round-off."""
WHOLE = 40
"""Degrees of freedom up to which whole steps are looked at."""
DENSE = 400
"""Degrees of freedom up to which all modes are found; beyond, the fastest ones."""
LOWEST = 1e-7
"""h |λ| of the fastest motion from which steps are tried."""

LONGEST = 10.0
"""Steps [s] beyond which nothing is tried."""

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""A_q, A_v, K°, D°."""


class Modes(NamedTuple):
    """Eigenvalues λ (n), modes x (m×n) of unit length; whether they are all."""

    rates: np.ndarray
    shapes: np.ndarray
    complete: bool


class Limit(NamedTuple):
    """The largest stable step (inf: none, 0: none is stable), the mode that ends it, its eigenvalue, and whether it is an estimate."""

    dt: float
    mode: np.ndarray | None
    rate: complex
    estimate: bool


def modes_of(A_q: np.ndarray, A_v: np.ndarray) -> Modes:
    """The modes of the motion; of large systems the 24 fastest, by Arnoldi iterations."""
    m = len(A_q)
    if m > DENSE:
        from scipy.sparse.linalg import LinearOperator, eigs

        def times(z: np.ndarray) -> np.ndarray:
            z = z.ravel()
            return np.concatenate([z[m:], A_q @ z[:m] + A_v @ z[m:]])

        operator = LinearOperator((2 * m, 2 * m), matvec=times, dtype=float)
        rates, vectors = eigs(operator, k=24, which="LM", v0=np.ones(2 * m), tol=1e-6)
    else:
        state = np.block([[np.zeros((m, m)), np.eye(m)], [A_q, A_v]])
        rates, vectors = np.linalg.eig(state)
    shapes = vectors[:m]
    sizes = np.linalg.norm(shapes, axis=0)
    shapes = np.where(sizes > 0.0, shapes, vectors[m:]) / np.where(sizes > 0.0, sizes, np.linalg.norm(vectors[m:], axis=0))
    return Modes(rates, shapes, m <= DENSE)


def by_rates(step: Callable[[np.ndarray], np.ndarray], modes: Modes) -> Limit:
    """The limit of a rule whose step is a function of h λ."""

    def grows(h: float) -> np.ndarray:
        return _grows(step(h * modes.rates)[:, None], h, modes.rates)

    return _by_modes(grows, modes, not modes.complete)


def by_steps(matrices: Matrices, modes: Modes) -> Limit:
    """The limit of the linearly implicit rule, which without K° and D° is the semi-implicit one."""
    A_q, _, K, D = matrices
    if len(A_q) <= WHOLE:
        return _by_matrix(matrices, modes)
    stiff, damp = (np.einsum("in,ij,jn->n", modes.shapes.conj(), B, modes.shapes).real for B in (K, D))
    pairs = np.abs(modes.rates.imag) > 1e-9 * np.abs(modes.rates)
    own_k = np.where(pairs, -np.abs(modes.rates) ** 2, 0.0)
    own_d = np.where(pairs, 2.0, 1.0) * modes.rates.real

    def grows(h: float) -> np.ndarray:
        b = 1.0 + h * damp + h * h * stiff
        k, d = own_k / b, (own_d - h * stiff) / b
        step = np.array([[1.0 + h * h * k, h * (1.0 + h * d)], [h * k, 1.0 + h * d]]).transpose(2, 0, 1)
        return _grows(np.linalg.eigvals(step), h, modes.rates)

    return _by_modes(grows, modes, True)


def _by_matrix(matrices: Matrices, modes: Modes) -> Limit:
    A_q, A_v, K, D = matrices
    m, one = len(A_q), np.eye(len(A_q))

    def step(h: float) -> np.ndarray:
        B = np.linalg.inv(one + h * D + h * h * K)
        k, d = B @ A_q, B @ (A_v - h * K)
        return np.block([[one + h * h * k, h * (one + h * d)], [h * k, one + h * d]])

    def grows(h: float) -> bool:
        return bool(_grows(np.linalg.eigvals(step(h))[:, None], h, modes.rates).any())

    low, high = _first(grows, float(np.abs(modes.rates).max(initial=0.0)), 1.25)
    if np.isinf(high):
        return Limit(np.inf, None, 0.0, False)
    mu, vectors = np.linalg.eig(step(high))
    at = np.flatnonzero(_grows(mu[:, None], high, modes.rates))
    x = vectors[:m, at[np.argmax(np.abs(mu[at]))]]
    x = x / np.linalg.norm(x)
    alike = np.abs(modes.shapes.conj().T @ x)
    nearest = np.flatnonzero(alike > 0.9 * alike.max())
    rate = modes.rates[nearest[np.argmax(np.abs(modes.rates[nearest]))]]
    return Limit(low, x, complex(rate), False)


def _grows(mu: np.ndarray, h: float, rates: np.ndarray) -> np.ndarray:
    """For sets of μ (n, k): whether one lies outside the circle without a growth of the motion itself to follow."""
    outside = ~(np.abs(mu) <= 1.0 + SLACK)
    if not outside.any():
        return np.zeros(len(mu), bool)
    bad = outside.copy()
    finite = outside & np.isfinite(mu)
    grown = (np.log(np.abs(mu[finite])) + 1j * np.angle(mu[finite])) / h
    passes = grown.real <= np.maximum(min(QUIET, A_STEP / h), np.minimum(min(GROWTH, A_STEP / h), TURNING * np.abs(grown)))
    own = rates[rates.real > 0.0]
    if own.size:
        slow = np.abs(grown.imag[:, None]) <= 1.5 * np.abs(own.imag) + 0.3 * np.abs(own)
        passes |= (slow & (grown.real[:, None] <= 1.5 * own.real)).any(axis=1)
    bad[finite] = ~passes
    return bad.any(axis=1)


def _by_modes(grows: Callable[[float], np.ndarray], modes: Modes, estimate: bool) -> Limit:
    sizes = np.abs(modes.rates)
    low, high = _first(lambda h: bool(grows(h).any()), float(sizes.max(initial=0.0)), 1.1)
    if np.isinf(high):
        return Limit(np.inf, None, 0.0, estimate)
    at = np.flatnonzero(grows(high))
    worst = at[np.argmax(sizes[at])]
    return Limit(low, modes.shapes[:, worst], complex(modes.rates[worst]), estimate)


def _first(grows: Callable[[float], bool], fastest: float, factor: float) -> tuple[float, float]:
    """Steps just below and just above where growth begins, going up from far below the fastest rate; (inf, inf) if it never does."""
    if fastest < 1e-3:
        return np.inf, np.inf
    low, high = 0.0, LOWEST / fastest
    while not grows(high):
        low, high = high, factor * high
        if high > LONGEST:
            return np.inf, np.inf
    while high - low > 1e-6 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if grows(middle) else (middle, high)
    return low, high
