"""Differences of configurations of the tree, q₁ ⊖ q₀: the velocity over a unit of time that leads from the one to the other."""

from __future__ import annotations

import numpy as np

from unibody.joints.base import Joint
from unibody.model.model import Model
from unibody.spatial.pose import vector_from_rotation


def difference_own(model: Model, q_0: np.ndarray, q_1: np.ndarray) -> np.ndarray:
    """q_1 ⊖ q_0 of the tree joints: the velocity over a unit of time that leads from the one to the other."""
    out = np.zeros(model.nv)
    for j in model.tree_joints:
        q, v = j.q_start, j.v_start
        for part in j.element.parts():
            out[v : v + part.nv] = displacement(part, q_0[q : q + part.nq], q_1[q : q + part.nq])
            q, v = q + part.nq, v + part.nv
    return out


def displacement(joint: Joint, q_0: np.ndarray, q_1: np.ndarray) -> np.ndarray:
    """d with q_0 ⊕ d = q_1; of joints that do not say, by Newton's method on the pose."""
    if joint.nq == joint.nv or type(joint).difference is not Joint.difference:
        return joint.difference(q_0, q_1)
    R, p = joint.pose(q_1)
    d = np.zeros(joint.nv)
    for _ in range(20):
        q = joint.advance(q_0, d, 1.0)
        R_0, p_0 = joint.pose(q)
        error = np.concatenate([vector_from_rotation(R_0.T @ R), R_0.T @ (p - p_0)])
        step = np.linalg.lstsq(joint.motion(q), error, rcond=1e-10)[0]
        d = d + step
        if np.abs(step).max(initial=0.0) < 1e-14 * (1.0 + np.abs(d).max(initial=0.0)):
            break
    return d
