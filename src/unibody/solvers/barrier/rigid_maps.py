"""From affine coordinates to what elements speak about: rigid poses, twists, and the pose of one joint frame in another.

Poses are polar projections. Their derivative T (6×12) takes δQ to the displacement δξ in body axes, so that a wrench F becomes Tᵀ F and a
block K becomes T_aᵀ K T_b.
"""

from __future__ import annotations

import numpy as np

from unibody.coordinates.affine.body import polar
from unibody.joints.base import Joint
from unibody.model.model import JointInfo
from unibody.spatial.pose import adjoint, vector_from_rotation


def relative(j: JointInfo, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and p of M in F."""
    R_P, p_P, R_C, p_C = X[j.parent, :9].reshape(3, 3), X[j.parent, 9:], X[j.child, :9].reshape(3, 3), X[j.child, 9:]
    R_F, p_F = R_P @ j.X_PF.R, p_P + R_P @ j.X_PF.p
    R_M, p_M = R_C @ j.X_BM.R, p_C + R_C @ j.X_BM.p
    return R_F.T @ R_M, R_F.T @ (p_M - p_F)


def relative_twist(j: JointInfo, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A_c, A_p (6×6): the twist of M in F, in M's axes, is A_c V_c + A_p V_p."""
    R_P, p_P, R_C, p_C = X[j.parent, :9].reshape(3, 3), X[j.parent, 9:], X[j.child, :9].reshape(3, 3), X[j.child, 9:]
    R_MB, p_MB = j.X_BM.R.T, -j.X_BM.R.T @ j.X_BM.p
    A_c = adjoint(R_MB, p_MB)
    R_MP = R_MB @ R_C.T @ R_P
    p_MP = R_MB @ (R_C.T @ (p_P - p_C)) + p_MB
    return A_c, -adjoint(R_MP, p_MP)


def nearest(joint: Joint, R: np.ndarray, p: np.ndarray, q: np.ndarray, arm: float) -> np.ndarray:
    """The q with the least arm² |φ|² + |d|² of the turn φ and the way d from X_FM(q) to (R, p), from a q near to it: Gauss–Newton."""
    if not joint.nv:
        return q
    root = np.array([arm] * 3 + [1.0] * 3)
    for _ in range(20):
        R0, p0 = joint.pose(q)
        xi = np.concatenate([vector_from_rotation(R0.T @ R), R0.T @ (p - p0)])
        S = root[:, None] * joint.motion(q)
        step = np.linalg.lstsq(S, root * xi, rcond=1e-10)[0]
        q = joint.advance(q, step, 1.0)
        if np.abs(step).max() < 1e-11:
            break
    return q


def twist_maps(Q: np.ndarray) -> np.ndarray:
    """T (n, 6, 12): δξ = T δQ in body axes, the derivative of the polar projection."""
    R, S = polar(Q)
    n = len(Q)
    D = np.linalg.inv(np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S)
    out = np.zeros((n, 6, 4, 3))
    # In body axes: L = Rᵀ δA, whose column k is Rᵀ δa_k; axial(L − Lᵀ) = Σ_k e_k × L_k, and ω_B = D axial.
    for k in range(3):
        x, y, z = np.eye(3)[k]
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        out[:, :3, k + 1, :] = np.einsum("nij,jl,nml->nim", D, cross, R)
    out[:, 3:, 0, :] = np.swapaxes(R, 1, 2)
    return out.reshape(n, 6, 12)
