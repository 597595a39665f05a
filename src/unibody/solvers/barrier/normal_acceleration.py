"""The part of accelerations that keeps affine bodies rigid, on the equations of their joints and on constraints, whatever forces act.

    minimise ½ |ẍ|²_M   subject to   ẍ = T V̇ + ω × (ω × a),   C ẍ = 0,   G V̇_B = r

V̇ = (α, v̇) are rates of twists in world axes, T V̇ = (v̇, α × a₁, α × a₂, α × a₃); C are the linear equations, G V̇_B = r constraints, which
speak of twists in body axes. ẍ is what Gauss's principle gives where nothing acts: M ẍ is a force of joints, constraints and stiffness
alone, and does no work along motions that these allow. Driven bodies have accelerations of their own, which joints pass on.

A step that holds positions at its end makes velocities means over it. Where earlier steps have left such velocities, differences of
them are accelerations; a start has those of the instant, and its first step would find half of ẍ. So it begins with v − ½ h ẍ (`step`).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from unibody.algebra.least_change import least_sparse
from unibody.coordinates.affine.body import polar, twist_of_rate
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.instant import InstantRow

RANK = 1e-12
"""Of the inertia of a body about its axes: below it, it has none."""


def normal_acceleration(
    system: AffineSystem, t: float, Q: np.ndarray, V: np.ndarray, h: float, constraints: list[InstantRow]
) -> np.ndarray:
    """ẍ (moving, 4, 3) at coordinates Q and rates V (bodies and links, 4, 3); 0 where a step h would turn velocities by more than
    themselves: no step of this length follows such motions."""
    moving, n, reduction = system.moving, len(system.moving), system.reduction
    # what bends with V̇ = 0: ω × (ω × a), and all of what is driven
    omega, bent = twist_of_rate(Q[moving], V[moving])[:, None, :3], np.zeros_like(Q)
    bent[moving, 1:] = np.cross(omega, np.cross(omega, Q[moving, 1:]))
    for i, rate in system.driven_accelerations(t).items():
        bent[i] = rate
    # T (12×6) of every body, TᵀMT with M = M4 ⊗ 1, and its inverse as R Rᵀ
    T = np.zeros((n, 4, 3, 6))
    T[:, 0, :, 3:] = np.eye(3)
    T[:, 1:, :, :3] = np.cross(np.eye(3), Q[moving, 1:, None]).swapaxes(-1, -2)
    inertia = np.einsum("npia,npq,nqib->nab", T, system.M4, T)
    size = np.sqrt(np.maximum(np.einsum("naa->na", inertia), 1e-300))
    values, axes = np.linalg.eigh(inertia / (size[:, :, None] * size[:, None, :]))
    R = axes * np.where(values > RANK, 1.0 / np.sqrt(np.maximum(values, RANK)), 0.0)[:, None, :] / size[:, :, None]
    # the motion of bodies alone, V̇ = R y, and the least that joints and constraints add
    y = -np.einsum("nab,npia,npq,nqi->nb", R, T, system.M4, bent[moving]).ravel()
    rows = []
    if reduction.rows:
        TR = sp.block_diag(list(T.reshape(n, 12, 6) @ R), format="csr")
        rows.append((reduction.C @ TR, -(reduction.residual(bent) + reduction.right)))
    rows += [_on_roots(system, row, Q, V, bent, R) for row in constraints]
    if rows:
        B, b = sp.vstack([B for B, _ in rows], format="csr"), np.concatenate([b for _, b in rows])
        y += least_sparse(B, b - B @ y)
    out = np.einsum("npia,nab,nb->npi", T, R, y.reshape(n, 6)) + bent[moving]
    norms = [np.einsum("npi,npq,nqi->", x, system.M4, x) for x in (h * out, V[moving])]
    return out if np.isfinite(out).all() and norms[0] <= norms[1] else np.zeros_like(out)


def _on_roots(
    system: AffineSystem, row: InstantRow, Q: np.ndarray, V: np.ndarray, bent: np.ndarray, R: np.ndarray
) -> tuple[sp.csr_matrix, np.ndarray]:
    """G V̇_B = r as B y = b: V̇_B = (Aᵀ α, Aᵀ v̇ − ω_B × v_B) with A the rotation of the body."""
    B, b = np.zeros((len(row.right), 6 * len(R))), np.array(row.right, float)
    for i, G in row.parts.items():
        A = polar(Q[i])[0]
        turn, speed = (A.T @ part for part in np.split(twist_of_rate(Q[i], V[i]), 2))
        b += G[:, 3:] @ np.cross(turn, speed)
        at = system.place[i]
        if at >= 0:
            B[:, 6 * at : 6 * at + 6] += np.concatenate([G[:, :3] @ A.T, G[:, 3:] @ A.T], axis=1) @ R[at]
        else:
            b -= G[:, :3] @ A.T @ _spin(Q[i], bent[i]) + G[:, 3:] @ A.T @ bent[i, 0]
    return sp.csr_matrix(B), b


def _spin(Q: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """α of a rigid body from its second derivative: Σ a × ä = 2 α, for Σ a × (ω × (ω × a)) = 0."""
    return 0.5 * np.cross(Q[1:], rate[1:]).sum(axis=0)
