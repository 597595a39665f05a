"""Which solvers are verified, how their runs are made, and what follows from recordings by mechanics alone."""

from __future__ import annotations

import numpy as np

import unibody as ub
from unibody.spatial.pose import rotation_from_quaternion

SOLVERS = ["articulated", "lagrange"]


def run(model: ub.Model, solver: str, rule: str, dt: float, duration: float, every: int = 1) -> ub.Recording:
    """A run of `duration` with the solver and time rule of these names."""
    return ub.Simulation(model, solver=ub.solvers.REGISTRY[solver](rule=rule), dt=dt).run(duration, every=every)


def at(rec: ub.Recording, t: float) -> int:
    """The row recorded at time t."""
    row = int(np.argmin(np.abs(rec.t - t)))
    assert abs(rec.t[row] - t) < 1e-9 * max(1.0, t), f"nothing was recorded at t = {t}"
    return row


def rotations(rec: ub.Recording, body: str) -> np.ndarray:
    """R_WB, (T, 3, 3)."""
    return np.array([rotation_from_quaternion(row[3:]) for row in rec.pose(body)])


def com_motion(rec: ub.Recording, body: str) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity of a body's centre of mass, (T, 3) each."""
    info, twist = rec.model.bodies[rec.model.body(body)], rec.twist(body)
    arm = rotations(rec, body) @ info.com
    return rec.pose(body)[:, :3] + arm, twist[:, 3:] + np.cross(twist[:, :3], arm)


def spin(rec: ub.Recording, body: str) -> np.ndarray:
    """Angular momentum R I Rᵀ ω of a body about its centre of mass, world axes, (T, 3)."""
    R, inertia = rotations(rec, body), rec.model.bodies[rec.model.body(body)].inertia
    return np.einsum("tij,jk,tlk,tl->ti", R, inertia, R, rec.twist(body)[:, :3])


def momenta(rec: ub.Recording) -> tuple[np.ndarray, np.ndarray]:
    """Linear momentum, and angular momentum about the world's origin, of all dynamic bodies together, (T, 3) each."""
    linear, angular = np.zeros((len(rec), 3)), np.zeros((len(rec), 3))
    for info in rec.model.bodies:
        if info.kind != "dynamic":
            continue
        c, velocity = com_motion(rec, info.name)
        linear += info.mass * velocity
        angular += np.cross(c, info.mass * velocity) + spin(rec, info.name)
    return linear, angular
