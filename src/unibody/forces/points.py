"""Blocks of forces that act on points of bodies, exact.

A point p of a body at (R, p_WB) with twist V; δξ = (δω, δ) displaces the body by X_WB ← X_WB exp(δξ):

    Γ = [−[p]×, 1]                   x = p_WB + R p,   δx = R Γ δξ
    ẋ = R Γ V                        δẋ = R Γ δV − R [Γ V]× δω
    F = Γᵀ Rᵀ f                      δF = Γᵀ (Rᵀ δf + [Rᵀ f]× δω)

A law says how the world forces f_i change with the points' positions and velocities; the sums over points of one body follow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unibody.element import Kinematics, Point
from unibody.forces.base import Blocks
from unibody.spatial.pose import skew


def point_stiffness(
    kinematics: Kinematics, points: Sequence[Point], forces: np.ndarray, by_position: np.ndarray, by_velocity: np.ndarray
) -> Blocks:
    """K from the forces f_i (n×3), ∂f_i/∂x_j and ∂f_i/∂ẋ_j (both n×n×3×3), all in world axes."""
    blocks: Blocks = {}
    shifts = [point_shift(kinematics, p) for p in points]
    turns = [_velocity_turn(kinematics, p) for p in points]
    for i, a in enumerate(points):
        R, _ = kinematics.pose(a.body)
        geometric = np.zeros((6, 6))
        geometric[:, :3] = _gamma(a).T @ skew(R.T @ forces[i])
        _add(blocks, a, a, geometric)
        for j, b in enumerate(points):
            _add(blocks, a, b, shifts[i].T @ (by_position[i, j] @ shifts[j] + by_velocity[i, j] @ turns[j]))
    return blocks


def point_damping(kinematics: Kinematics, points: Sequence[Point], by_velocity: np.ndarray) -> Blocks:
    """D from ∂f_i/∂ẋ_j (n×n×3×3), in world axes."""
    blocks: Blocks = {}
    shifts = [point_shift(kinematics, p) for p in points]
    for i, a in enumerate(points):
        for j, b in enumerate(points):
            _add(blocks, a, b, shifts[i].T @ by_velocity[i, j] @ shifts[j])
    return blocks


def point_shift(kinematics: Kinematics, point: Point) -> np.ndarray:
    """R Γ (3×6): how the point moves in the world with its body; its transpose turns forces on the point into wrenches."""
    return kinematics.pose(point.body)[0] @ _gamma(point)


def _gamma(point: Point) -> np.ndarray:
    return np.concatenate([-skew(np.array(point.p)), np.eye(3)], axis=1)


def _velocity_turn(kinematics: Kinematics, point: Point) -> np.ndarray:
    """−R [Γ V]× (3×6, zero for translations): how the point's velocity turns with its body."""
    R, _ = kinematics.pose(point.body)
    out = np.zeros((3, 6))
    out[:, :3] = -R @ skew(_gamma(point) @ kinematics.twist(point.body))
    return out


def _add(blocks: Blocks, a: Point, b: Point, block: np.ndarray) -> None:
    key = (a.body, b.body)
    blocks[key] = blocks[key] + block if key in blocks else block
