"""The nearest point on rows of equations and inequalities.

    minimise ½ |y|²   subject to   c(y) = 0,  or c(y) ≥ 0 where `bounded`,      A(y) = ∂c/∂y

Three parts. **Closing** goes to the rows from anywhere by the steps of Levenberg and Marquardt, y ← y − Aᵀ(AAᵀ + μ)⁻¹ c with μ ~ |c|²: it
converges quadratically also where rows repeat each other (Fan and Yuan 2005), and ends where Aᵀ c = 0 with c ≠ 0. Rows c ≥ 0 count while
they are below zero. **Sliding** then goes along the rows to the nearest point: a Newton step in the null space Z of the rows that are held,
with the reduced Hessian 1 − Zᵀ(∂Aᵀλ/∂y) Z by differences, closed again and kept if it came nearer. At the end y = Aᵀλ, with λ ≥ 0 where
bounded (Karush, Kuhn, Tucker); bounded multipliers come from non-negative least squares (Lawson and Hanson 1974, ch. 23).

An eigenvalue of the reduced Hessian near zero says that the nearest point is not unique, or that a small change of the origin moves it far.
Linear rows, B y = −b and G y ≥ −g, have the nearest point in closed form (`least_linear`; Lawson and Hanson, problem LDP); so have sparse
ones, B y = b, of which many may repeat others (`least_sparse`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

CLOSED, BEST = 1e-10, 1e-13
"""Largest relative violation of rows that count as closed, and that at which no better is asked for."""
CLOSINGS, SLIDES = 120, 60
LONGEST = 0.5
"""A step's largest part (rad, or lengths of bodies)."""
RANK = 3e-6
"""Singular values of scaled rows below this say that rows repeat others."""
NOISE = 1e-9
"""Singular values below this part of the largest are round-off of rows that repeat others: what they ask for is not followed."""
STATIONARY = 1e-9
"""Part of |y| that may be left of its component along the rows."""
SHARED = 1e-12
"""What is added to the diagonal of BBᵀ, which is 1, so that rows may repeat others."""
EMPTY = 1e-11
"""Of the largest row: rows below it are round-off."""
MOST_CURVED = 40
"""Null spaces up to this size have their curvature examined."""

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class LeastChangeProblem(NamedTuple):
    """`evaluate(y)` gives c and A, rows scaled to comparable size; `relative` makes c a violation relative to the size of what rows hold;
    `shape` makes a step of y one in rad and lengths of bodies."""

    evaluate: Evaluate
    bounded: np.ndarray
    relative: np.ndarray
    shape: np.ndarray

    def counted(self, c: np.ndarray) -> np.ndarray:
        """c, without the part of inequalities that is satisfied."""
        return np.where(self.bounded, np.minimum(c, 0.0), c)

    def violation(self, c: np.ndarray) -> float:
        return float(np.abs(self.relative * self.counted(c)).max(initial=0.0))

    def length(self, step: np.ndarray) -> float:
        return float(np.abs(self.shape @ step).max(initial=0.0))


class Closed(NamedTuple):
    """Where closing ended, what was left, and whether it ended there because no step helps."""

    y: np.ndarray
    left: float
    stuck: bool

    @property
    def good(self) -> bool:
        return self.left <= CLOSED


class Nearest(NamedTuple):
    """The point; |y − Aᵀλ| / |y|; the least eigenvalue of the reduced Hessian with its direction (None: not examined); whether the way
    led over a saddle."""

    y: np.ndarray
    left: float
    stationary: float
    curvature: float
    direction: np.ndarray | None
    saddle: bool


def close(problem: LeastChangeProblem, y: np.ndarray, limit: int = CLOSINGS) -> Closed:
    """From y onto the rows, judged relative to sizes."""
    def evaluate(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c, A = problem.evaluate(y)
        return problem.relative * c, problem.relative[:, None] * A

    c, A = evaluate(y)
    damping = 1e-2
    for _ in range(limit):
        r = problem.counted(c)
        off = float(np.abs(r).max(initial=0.0))
        if not (np.isfinite(off) and np.isfinite(A).all()):
            return Closed(y, np.inf, True)
        if not off > BEST:
            return Closed(y, off, False)
        held = r != 0.0
        U, s, Vt = np.linalg.svd(A[held], full_matrices=False)
        along = U.T @ r[held]
        size = float(r @ r)
        # no direction helps: the rows that are left contradict each other here
        if float(np.linalg.norm(s * along)) <= 1e-9 * float(s.max(initial=0.0)) * np.sqrt(size) or not s.size:
            return Closed(y, off, True)
        for _ in range(24):
            mu = damping * s[0] ** 2 * min(1.0, off) ** 2
            step = -Vt.T @ (s / (s * s + mu) * along * (s > NOISE * s[0]))
            step *= min(1.0, LONGEST / max(problem.length(step), 1e-300))
            c_new, A_new = evaluate(y + step)
            r_new = problem.counted(c_new)
            gained = size - float(r_new @ r_new)
            predicted = size - float(np.sum((r[held] + A[held] @ step) ** 2)) - float(np.sum(r[~held] ** 2))
            if gained > 1e-4 * max(predicted, 0.0) and gained > 0.0:
                break
            damping = max(4.0 * damping, 1e-6)
        else:  # round-off of what is closed, or the bottom of a valley
            return Closed(y, off, off > CLOSED)
        damping = damping * (0.1 if gained > 0.5 * predicted else 1.0 if gained > 0.1 * predicted else 4.0)
        slow = gained < 1e-6 * size
        y, c, A = y + step, c_new, A_new
        if slow:
            off = float(np.abs(problem.counted(c)).max(initial=0.0))
            return Closed(y, off, off > CLOSED)
    return Closed(y, float(np.abs(problem.counted(c)).max(initial=0.0)), False)


def row_basis(A: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """An orthonormal basis (n × rank) of what rows can push."""
    if not A.size:
        return np.zeros((A.shape[1], 0))
    _, s, Vt = np.linalg.svd(A, full_matrices=False)
    return Vt[: int(np.sum(s > RANK * scale))].T


class HeldRows(NamedTuple):
    """At a closed point: the rest of y beside the rows' pushes, which rows push, their multipliers, and a basis of what they leave free."""

    rest: np.ndarray
    pushing: np.ndarray
    multiplier: np.ndarray
    free: np.ndarray


def hold(problem: LeastChangeProblem, y: np.ndarray, c: np.ndarray, A: np.ndarray) -> HeldRows:
    from scipy.optimize import nnls

    equal = ~problem.bounded
    V = row_basis(A[equal])
    rest = y - V @ (V.T @ y)
    near = np.flatnonzero(problem.bounded & (problem.relative * c <= 1e-9))
    pushing = equal.copy()
    if near.size:
        across = A[near] - (A[near] @ V) @ V.T
        nu, _ = nnls(across.T, rest)
        # a row that the others imply pushes nothing
        strong = nu * np.linalg.norm(across, axis=1) > 1e-12 * max(float(np.linalg.norm(y)), 1e-300)
        pushing[near[strong]] = True
    W = row_basis(A[pushing])
    rest = y - W @ (W.T @ y)
    multiplier = np.zeros(c.size)
    multiplier[pushing] = np.linalg.lstsq(A[pushing].T, y - rest, rcond=RANK)[0]
    return HeldRows(rest, pushing, multiplier, null_of(W))


def null_of(W: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what is across the columns of W."""
    n, r = W.shape
    if r == 0:
        return np.eye(n)
    return np.linalg.qr(W, mode="complete")[0][:, r:]


def _curvature(problem: LeastChangeProblem, y: np.ndarray, held: HeldRows) -> np.ndarray:
    """The reduced Hessian, by central differences of y − A(y)ᵀλ."""
    Z, columns = held.free, []
    for z in Z.T:
        step = z * (1e-5 / max(problem.length(z), 1e-300))
        ahead, behind = (problem.evaluate(y + sign * step)[1].T @ held.multiplier for sign in (1.0, -1.0))
        columns.append(z - (ahead - behind) / (2.0 * float(np.linalg.norm(step))))
    H = Z.T @ np.stack(columns, axis=1)
    return 0.5 * (H + H.T)


def slide(problem: LeastChangeProblem, y: np.ndarray) -> Nearest:
    """From a closed point along the rows to the nearest one."""
    saddle, curvature, direction = False, 1.0, None
    c, A = problem.evaluate(y)
    for _ in range(SLIDES):
        held = hold(problem, y, c, A)
        size, rest = float(np.linalg.norm(y)), float(np.linalg.norm(held.rest))
        if size == 0.0 or held.free.shape[1] == 0:
            break
        examined = held.free.shape[1] <= MOST_CURVED
        if examined:
            values, vectors = np.linalg.eigh(_curvature(problem, y, held))
            curvature, direction = float(values[0]), held.free @ vectors[:, 0]
        stationary = rest <= STATIONARY * size
        if stationary and (not examined or curvature > -1e-6):
            break
        if stationary:  # a saddle: off it, to either side
            saddle = True
            assert direction is not None
            p = direction * (1e-2 / max(problem.length(direction), 1e-300))
        elif examined:
            p = -held.free @ (vectors @ ((vectors.T @ (held.free.T @ held.rest)) / np.maximum(np.abs(values), 1e-3)))
        else:
            p = -held.rest
        p *= min(1.0, LONGEST / max(problem.length(p), 1e-300))
        for _ in range(20):
            found = close(problem, y + p)
            nearer = float(found.y @ found.y) <= size * size * (1.0 - 1e-15) if rest > 1e-6 * size or stationary else True
            if found.good and nearer:
                break
            p = 0.5 * p
        else:
            break
        c_new, A_new = problem.evaluate(found.y)
        if not stationary and rest <= 1e-6 * size:  # distances say nothing any more: what is left must shrink
            left = float(np.linalg.norm(hold(problem, found.y, c_new, A_new).rest))
            if left > 0.9 * rest:
                break
        y, c, A = found.y, c_new, A_new
    size = float(np.linalg.norm(y))
    rest = float(np.linalg.norm(hold(problem, y, c, A).rest)) / size if size > 0.0 else 0.0
    return Nearest(y, problem.violation(c), rest, curvature if size > 0.0 else 1.0, direction, saddle)


class Contradiction(ValueError):
    """Linear rows without a solution; `left` is what remains of them."""

    def __init__(self, left: np.ndarray):
        super().__init__("the rows contradict each other")
        self.left = left


def least_linear(B: np.ndarray, b: np.ndarray, G: np.ndarray, g: np.ndarray, slack: np.ndarray) -> np.ndarray:
    """The least y with B y + b = 0 and G y + g ≥ 0, to `slack` a row (of B, then of G)."""
    from scipy.optimize import nnls

    n = B.shape[1]
    V = row_basis(B)
    y = -V @ (np.linalg.lstsq(B @ V, b, rcond=None)[0] if V.shape[1] else np.zeros(0))
    left = B @ y + b
    if (np.abs(left) > slack[: b.size]).any():
        raise Contradiction(np.concatenate([left, np.zeros(g.size)]))
    h = -(G @ y + g)
    if not (h > slack[b.size :]).any():
        return y
    Z = null_of(V)
    E = np.concatenate([(G @ Z).T, h[None, :]])
    f = np.zeros(Z.shape[1] + 1)
    f[-1] = 1.0
    u, _ = nnls(E, f)
    r = E @ u - f
    z = -r[:-1] / r[-1] if abs(r[-1]) > 1e-14 else np.zeros(n - V.shape[1])
    y = y + Z @ z
    below = np.minimum(G @ y + g, 0.0)
    if (-below > slack[b.size :]).any():
        raise Contradiction(np.concatenate([np.zeros(b.size), below]))
    return y


def least_sparse(B: Any, b: np.ndarray) -> np.ndarray:
    """The least y with B y = b, y = Bᵀ (BBᵀ)⁻¹ b, for a SciPy sparse B, rows in units of their own size; rows that repeat others share, and
    rows that are round-off ask for nothing. Refined once, so that what is added to the diagonal is not felt."""
    from scipy.sparse import diags_array, eye_array
    from scipy.sparse.linalg import splu

    size = np.sqrt(np.asarray(B.multiply(B).sum(axis=1)).ravel())
    counts = size > EMPTY * size.max(initial=0.0)
    rows = diags_array(1.0 / size[counts]) @ B[np.flatnonzero(counts)]
    right, y = b[counts] / size[counts], np.zeros(B.shape[1])
    if not counts.any():
        return y
    gram = (rows @ rows.T + SHARED * eye_array(len(right))).tocsc()
    factor = splu(gram, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    for _ in range(2):
        y = y + rows.T @ factor.solve(right - rows @ y)
    return y


__all__ = [
    "Closed", "Contradiction", "LeastChangeProblem", "Nearest", "close", "hold", "least_linear", "least_sparse", "null_of", "row_basis",
    "slide",
]  # fmt: skip
