"""Affine coordinates (paper 003, §3.2): a body is x = t + X a₁ + Y a₂ + Z a₃, Q = (t, a₁, a₂, a₃), 12 numbers.

Mass: M = ∫ ρ w wᵀ ⊗ 1, w = (1, X, Y, Z): the 4×4 moments  ( m  m cᵀ ; m c  S ),  S = ½ tr(I) 1 − I + m c cᵀ with the inertia I about
the centre of mass: exact, and all there is to know of the mass. Rigid by a stiff potential of the volume V

    P(A) = (Y V / 8) |AᵀA − 1|²,   ∂P/∂A = (Y V / 2) A E,   E = AᵀA − 1,   δ²P = (Y V / 4) |δAᵀA + AᵀδA|² + (Y V / 2) δA E : δA

the last term with the positive part of E. Rigid poses are polar projections, A = R S; twists follow from Ȧ = [ω] A.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unibody.model import Model
from unibody.model.model import BodyInfo
from unibody.spatial.pose import Pose

DENSITY = 1000.0
"""Gives a volume to bodies without shapes [kg/m³]."""


def moments(body: BodyInfo) -> np.ndarray:
    """∫ ρ w wᵀ, (4, 4)."""
    c, I = np.asarray(body.com), np.asarray(body.inertia)
    out = np.empty((4, 4))
    out[0, 0], out[0, 1:], out[1:, 0] = body.mass, body.mass * c, body.mass * c
    out[1:, 1:] = 0.5 * np.trace(I) * np.eye(3) - I + body.mass * np.outer(c, c)
    return out


def volume(body: BodyInfo) -> float:
    """[m³] Of its shapes; of bodies without any, and of thin ones, what their mass would take of a common material."""
    if any(p.solid and p.skeleton() is not None for p in body.shapes):
        return body.mass / DENSITY
    solid = [p.volume for p in body.shapes if p.solid and 0.0 < p.volume < np.inf]
    return float(sum(solid)) if solid else body.mass / DENSITY


def radius(body: BodyInfo) -> float:
    """√(½ tr I / m), of gyration about the centre of mass [m]; 1 if the body has none."""
    return float(np.sqrt(0.5 * np.trace(body.inertia) / body.mass)) if body.mass > 0.0 and np.trace(body.inertia) > 0.0 else 1.0


def affine_of_pose(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Q (…, 4, 3) of rigid poses R (…, 3, 3), p (…, 3)."""
    return np.concatenate([p[..., None, :], np.swapaxes(R, -1, -2)], axis=-2)


def polar(Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R (…, 3, 3) nearest to A, and the stretch S with A = R S."""
    A = np.swapaxes(Q[..., 1:, :], -1, -2)
    U, s, Vt = np.linalg.svd(A)
    R = U @ Vt
    return R, np.swapaxes(Vt, -1, -2) @ (s[..., None] * Vt)


def rate_of_twist(Q: np.ndarray, omega: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Q̇ (…, 4, 3) of a body that turns with ω and whose origin moves with `velocity`, world axes (…, 3)."""
    return np.concatenate([velocity[..., None, :], np.cross(omega[..., None, :], Q[..., 1:, :])], axis=-2)


def affine_of_motion(poses: Sequence[Pose], twists: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Q and its rates (n, 4, 3) of rigid bodies with twists in their own axes."""
    R, p, V = np.array([X.R for X in poses]), np.array([X.p for X in poses]), np.array(twists)
    Q = affine_of_pose(R, p)
    return Q, rate_of_twist(Q, np.einsum("nij,nj->ni", R, V[:, :3]), np.einsum("nij,nj->ni", R, V[:, 3:]))


def twist_of_rate(Q: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """(…, 6) ω then the origin's velocity, world axes: the rotation rate of the polar factor."""
    R, S = polar(Q)
    L = np.swapaxes(rate[..., 1:, :], -1, -2) @ np.swapaxes(R, -1, -2)
    skew = L - np.swapaxes(L, -1, -2)
    axial = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
    RSR = R @ S @ np.swapaxes(R, -1, -2)
    trace = np.trace(RSR, axis1=-2, axis2=-1)[..., None, None] * np.eye(3)
    omega = np.linalg.solve(trace - RSR, axial[..., None])[..., 0]
    return np.concatenate([omega, rate[..., 0, :]], axis=-1)


def strain_energy(Q: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """(n,) P [J] of bodies with stiffnesses Y V (n,)."""
    return 0.125 * stiffness * (strain(Q) ** 2).sum(axis=(1, 2))


def strain(Q: np.ndarray) -> np.ndarray:
    """AᵀA − 1, (n, 3, 3)."""
    a = Q[:, 1:]
    return np.einsum("nki,nli->nkl", a, a) - np.eye(3)


def masses(model: Model, bodies: list[int]) -> np.ndarray:
    """(n, 4, 4) moments of the bodies listed."""
    return np.array([moments(model.bodies[i]) for i in bodies]).reshape(-1, 4, 4)
