"""Onto the constraints again, while what sticks stays where it was.

A friction row that does not slip holds J(q) v⁺ = 0 at the beginning of a step. Where J turns within the step that leaves c = h² J̇ v⁺ / 2 of
displacement in every step, in one direction: creep. So the least motion in the sense of M that brings a state back onto the rows C = 0
that are held also takes back what sticking rows have moved since the step began,

    y = −Y_h W_h⁺ C,      W_h = J_h Y_h,   Y = M⁻¹ Jᵀ
    y ← y − Z (J_s Z)⁺ (c + J_s y),      Z = Y_s − Y_h W_h⁺ J_h Y_s          sticking rows as they respond where others hold

and Ċ, J_s v in place of C, c for velocities, whose kinetic energy a projection in the sense of M can only lessen. Bilateral rows are first:
what sticks goes back as far as they leave it free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unibody.joints.base import Joint
from unibody.model.model import JointInfo
from unibody.spatial.pose import vector_from_rotation

STAYED = 1e-13
"""[m, rad] What may be left of a displacement; less than of constraints, because it adds up from step to step."""

LEFT_FREE = 1e-8
"""Of what a sticking row would respond to its impulse by itself, the part below which others hold it."""


@dataclass(frozen=True)
class Stiction:
    """Constraint rows that stick, each a degree of freedom of a joint. `q`: coordinates of all joints when the step began."""

    rows: np.ndarray
    places: Sequence[tuple[JointInfo, int]]
    q: np.ndarray

    def away(self, q: np.ndarray) -> np.ndarray:
        """By how much each row has moved since [m, rad]; q: coordinates of all joints."""
        out = np.empty(self.rows.size)
        for k, (joint, dof) in enumerate(self.places):
            own = slice(joint.q_start, joint.q_start + joint.nq)
            out[k] = displacement(joint.element, self.q[own], q[own])[dof]
        return out

    @staticmethod
    def enough(away: np.ndarray) -> bool:
        """Whether nothing is away by more than STAYED."""
        return not np.abs(away).max(initial=0.0) > STAYED


def displacement(joint: Joint, q_0: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(nv,) from q_0 to q, along its degrees of freedom; of joints that know none of their own, from the poses.

    >>> from unibody.joints import Revolute
    >>> displacement(Revolute(), np.array([0.5]), np.array([0.75]))
    array([0.25])
    """
    if joint.nq == joint.nv or type(joint).difference is not Joint.difference:
        return joint.difference(q_0, q)
    (R_0, p_0), (R, p) = joint.pose(q_0), joint.pose(q)
    moved = np.concatenate([vector_from_rotation(R_0.T @ R), R_0.T @ (p - p_0)])
    return np.linalg.lstsq(joint.motion(q_0), moved, rcond=1e-10)[0]


def least_motion(
    y: np.ndarray, J: np.ndarray, Y: np.ndarray, rows: np.ndarray, off_rows: np.ndarray, stiction: np.ndarray, off_stays: np.ndarray
) -> np.ndarray:
    """y, and the least motion beside it that takes `off_rows` from `rows`, then `off_stays` from the rows `stiction`; J, Y (k, nv) of all
    rows."""
    J_h, Y_h = J[rows], Y[rows]
    inverse = np.zeros((rows.size, rows.size))
    if rows.size:
        W = J_h @ Y_h.T
        inverse = np.linalg.pinv(0.5 * (W + W.T), rcond=1e-9, hermitian=True)
        y = y - Y_h.T @ (inverse @ (off_rows + J_h @ y))
    if not stiction.size:
        return y
    J_s, Y_s = J[stiction], Y[stiction]
    size = np.sqrt(np.maximum(np.sum(J_s * Y_s, axis=1), 1e-300))
    Z = (Y_s - (Y_s @ J_h.T) @ inverse @ Y_h) / size[:, None]
    W = (J_s / size[:, None]) @ Z.T
    values, vectors = np.linalg.eigh(0.5 * (W + W.T))
    free = values > LEFT_FREE
    wanted = vectors[:, free].T @ ((off_stays + J_s @ y) / size)
    return y - Z.T @ (vectors[:, free] @ (wanted / values[free]))
