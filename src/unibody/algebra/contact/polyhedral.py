"""The polyhedral problem of Stewart and Trinkle as a linear complementarity problem (LCP1 of paper 002, Eq. 45–54), for Lemke's
pivoting.

In scaled variables, cones ‖x_t‖ ≤ x_n, a contact's tangents are x_t = Σ α_j d_j over directions d_j that reach all around:

    u_n ≥ 0 ⟂ x_n ≥ 0,     d_jᵀ û_t + β ≥ 0 ⟂ α_j ≥ 0,     x_n − Σ α_j ≥ 0 ⟂ β ≥ 0            (Eq. 47, 46)

Under the convex law, x = Σ γ_j (1; d_j) with (1; d_j)ᵀ û ≥ 0 ⟂ γ_j ≥ 0. A bounded row is x = lower + y, û + β ≥ 0 ⟂ y ≥ 0,
upper − lower − y ≥ 0 ⟂ β ≥ 0 (Eq. 49). Free rows are eliminated (Eq. 51–54) by eigenvectors, so that repeated rows do no harm.

The inscribed cone of k directions reaches the round one to 1 − cos(π / k) of the friction. Stewart and Trinkle take them in opposite pairs;
all that is needed is that 0 lies inside their hull, so that β = max −d_jᵀ û_t ≥ 0: A is copositive then too, zᵀ A z = xᵀ W x + x_n β.
"""

from __future__ import annotations

import numpy as np

from unibody.algebra.contact.problem import CONVEX
from unibody.algebra.contact.scaling import Progress, ScaledProblem
from unibody.algebra.lcp import solve_lcp

DIRECTIONS = 8
RANK = 1e-12
"""The part of the largest eigenvalue that counts as zero among free rows."""


def directions(tangents: int, count: int) -> np.ndarray:
    """(k, tangents) unit vectors around 0: both senses of a line; `count` even angles, 3 or more; both senses of the axes and a spiral over
    half a sphere with, as far as the count goes, its opposites: six or more."""
    if tangents == 1:
        return np.array([[1.0], [-1.0]])
    if tangents == 2:
        angle = 2.0 * np.pi * np.arange(count) / count
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    more = max(0, (count - 6 + 1) // 2)
    z = (np.arange(more) + 0.5) / max(more, 1)
    angle = np.pi * (1.0 + 5.0**0.5) * np.arange(more)
    ring = np.sqrt(1.0 - z * z)
    half = np.concatenate([np.eye(3), np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)])
    return np.concatenate([half, -half])[: max(count, 6)]


class Polyhedral:
    """w = A z + c with x = offset + B z: what each complementary variable contributes to x, and the rows without velocity (bounds)."""

    def __init__(self, scaled: ScaledProblem, count: int):
        self.scaled = scaled
        columns: list[np.ndarray] = []
        links: list[tuple[int, int, float]] = []  # (bound's variable, variable, coefficient): w_bound gets it, w_variable gets one times β
        right: list[tuple[int, float]] = []
        self.offset, self.free = np.zeros(scaled.size), []
        self.bound: list[bool] = []

        def add(column: np.ndarray | None) -> int:
            columns.append(np.zeros(scaled.size) if column is None else column)
            self.bound.append(column is None)
            return len(columns) - 1

        def unit(row: int, sign: float = 1.0) -> np.ndarray:
            found = np.zeros(scaled.size)
            found[row] = sign
            return found

        # the variables of each block: y (and β) of a bounded row, γ_j of a convex cone, x_n, α_j and β of Coulomb's
        for k, rows in enumerate(scaled.rows):
            at = scaled.start[k]
            if rows == 1:
                low, high = scaled.lower[k], scaled.upper[k]
                if low == -np.inf and high == np.inf:
                    self.free.append(int(at))
                    continue
                self.offset[at] = low if low > -np.inf else high
                y = add(unit(at, 1.0 if low > -np.inf else -1.0))
                if low > -np.inf and high < np.inf:
                    beta = add(None)
                    links.append((beta, y, -1.0))
                    right.append((beta, high - low))
                continue
            d = directions(rows - 1, count)
            if scaled.law == CONVEX:
                for direction in d:
                    column = unit(at)
                    column[at + 1 : at + rows] = direction
                    add(column)
                continue
            normal = add(unit(at))
            alphas = []
            for direction in d:
                column = np.zeros(scaled.size)
                column[at + 1 : at + rows] = direction
                alphas.append(add(column))
            beta = add(None)
            links += [(beta, normal, 1.0)] + [(beta, a, -1.0) for a in alphas]
        # w = A z + c without free rows, then the links of bounds
        self.B = np.array(columns).reshape(-1, scaled.size).T
        n = self.B.shape[1]
        W, b = self._without_free(scaled.W, scaled.b)
        self.A, self.c = self.B.T @ W @ self.B, self.B.T @ (W @ self.offset + b)
        for beta, variable, coefficient in links:
            self.A[beta, variable] += coefficient
            if coefficient < 0.0:
                self.A[variable, beta] += 1.0
        for beta, value in right:
            self.c[beta] += value
        assert self.A.shape == (n, n)

    def _without_free(self, W: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W and b of the other rows once the free ones follow them; S₁₁ of Eq. 53."""
        f = self.free
        self.W, self.b = W, b
        self.contradiction = 0.0
        if not f:
            return W, b
        values, Q = np.linalg.eigh(W[np.ix_(f, f)])
        kept = values > RANK * max(values.max(), 1e-300)
        self.inverse = (Q[:, kept] / values[kept]) @ Q[:, kept].T
        self.contradiction = float(np.abs(Q[:, ~kept].T @ b[f]).max(initial=0.0))
        response = self.inverse @ W[f]
        return W - W[:, f] @ response, b - W[:, f] @ (self.inverse @ b[f])

    def impulse(self, z: np.ndarray) -> np.ndarray:
        """x, free rows included."""
        x = self.offset + self.B @ z
        if self.free:
            f = self.free
            x[f] = 0.0
            for _ in range(2):  # the second time removes what round-off left
                x[f] -= self.inverse @ (self.W[f] @ x + self.b[f])
        return x

    def violation(self, z: np.ndarray, w: np.ndarray) -> tuple[float, float]:
        """The largest |min(z, w)| in units of velocity, and as a part of the largest impulse."""
        missed = np.abs(np.minimum(z, w))
        D = self.scaled.D
        size = np.abs(self.B) * D[:, None]
        reach = size.max(axis=0) if self.B.size else np.zeros(0)
        bound = np.array(self.bound, bool)
        owner = D.max(initial=1.0)
        impulse = missed * np.where(bound, owner, reach)
        finest = np.where(np.abs(self.B) > 1e-9, 1.0 / D[:, None], 0.0).max(axis=0) if self.B.size else np.zeros(0)
        velocity = missed * np.where(bound, finest.max(initial=0.0), finest)
        largest = np.abs(D * self.impulse(z)).max(initial=0.0)
        f = self.free
        rest = np.abs((self.W[f] @ self.impulse(z) + self.b[f]) / D[f]).max(initial=0.0) if f else 0.0
        worst = float(impulse.max(initial=0.0))
        return max(float(velocity.max(initial=0.0)), float(rest)), worst / largest if largest else float(worst > 0.0)


def lemke(scaled: ScaledProblem, count: int, pivots: int) -> tuple[Progress, float, float]:
    """x in scaled, and the violation of the polyhedral law in velocity and in part of the largest impulse."""
    problem = Polyhedral(scaled, count)
    found = solve_lcp(problem.A, problem.c, pivots=pivots)
    best = Progress(problem.impulse(found.z), 0.0, found.pivots)
    velocity, impulse = problem.violation(found.z, found.w)
    best.notes.append(f"{found.pivots} pivots" + (f"; {found.why}" if found.why else ""))
    return best, velocity, impulse
