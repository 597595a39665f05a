"""What the semi-implicit rule of reduced coordinates makes of the linear motion: Free joints are kicked in axes that do not turn.

The rule (`unibody.coordinates.kick`) moves w = T(q) v by ẇ = T a + Ṫ v. Near the start, with displacements ξ and in the axes of the start,

    δw = δv + C ξ,      δẇ = δa + E_v δv + E_q ξ,      so that      A_v ← A_v + E_v,      A_q ← A_q + E_q − (A_v + E_v) C

For a Free joint w_lin is the velocity u of M's origin, with the rate v̇_lin + ω × v_lin, and w_ang = ω. For a body that flies alone it is
the velocity s of its centre of mass c, and w_ang = J⁻¹ L. What turns alone then leaves nothing in A_v, and nothing grows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unibody.checks.linear import Linear, accelerations
from unibody.coordinates.instant import Instant
from unibody.coordinates.kick import free_joints
from unibody.model.model import BodyInfo, JointInfo
from unibody.spatial.pose import skew


class Turning(NamedTuple):
    """C, E_v and E_q."""

    C: np.ndarray
    E_v: np.ndarray
    E_q: np.ndarray


def in_fixed_axes(here: Instant, motion: Linear) -> tuple[np.ndarray, np.ndarray]:
    """A_q and A_v as the rule meets them."""
    nv, N = here.model.nv, motion.N
    free = free_joints(here.model)
    if not free or not N.shape[1]:
        return motion.A_q, motion.A_v
    a = accelerations(here).a
    whole = Turning(*(np.zeros((nv, nv)) for _ in range(3)))
    for _, v, body, joint in free:
        span = slice(v, v + 6)
        for total, own in zip(whole, turning_of(here.v[span], a[span], body, joint)):
            total[span, span] = own
    C, E_v, E_q = (N.T @ here.mass @ total @ N for total in whole)
    A_v = motion.A_v + E_v
    return motion.A_q + E_q - A_v @ C, A_v


def turning_of(v: np.ndarray, a: np.ndarray, body: BodyInfo | None, joint: JointInfo) -> Turning:
    """C, E_v and E_q (6×6) of a Free joint, or of a body that flies alone."""
    out = Turning(*(np.zeros((6, 6)) for _ in range(3)))
    o, c = v[:3], np.zeros(3)
    if body is not None:
        X_MB = joint.X_BM.inverse()
        c, J = X_MB.apply(body.com), X_MB.R @ body.inertia @ X_MB.R.T
        L, torque = J @ o, J @ a[:3] + np.cross(o, J @ o)
        out.C[:3, :3] = -np.linalg.solve(J, skew(L))
        out.E_v[:3, :3] = np.linalg.solve(J, skew(o) @ J - skew(L))
        out.E_q[:3, :3] = -np.linalg.solve(J, skew(torque))
    s = v[3:] + np.cross(o, c)
    rate = a[3:] + np.cross(a[:3], c) + np.cross(o, s)
    out.C[3:, :3] = skew(c) @ out.C[:3, :3] - skew(s)
    out.E_v[3:, :3] = skew(c) @ out.E_v[:3, :3] - skew(s) - skew(o) @ skew(c)
    out.E_v[3:, 3:] = skew(o)
    out.E_q[3:, :3] = skew(c) @ out.E_q[:3, :3] - skew(rate)
    return out
