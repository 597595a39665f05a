"""One instant as every medium shows it: where bodies are, how strands pull, what joints carry, and the numbers of the plots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unibody.coordinates.observation import Observation
from unibody.simulation import Recording
from unibody.view.look import Look, rotations
from unibody.view.soft import with_points


@dataclass(frozen=True)
class Snapshot:
    """Arrays run over bodies (the world first), over the look's strands, or over its frames."""

    time: float
    R: np.ndarray
    """(bodies, 3, 3) R_WB"""
    p: np.ndarray
    """(bodies, 3) [m]"""
    x: np.ndarray
    """(n, 3) vertices of all deformables [m]."""
    tension: np.ndarray
    """(strands,) [N], NaN where unknown."""
    joint_p: np.ndarray
    """(frames, 3) origins of the joint frames M in the world [m]."""
    joint_R: np.ndarray
    """(frames, 3, 3)"""
    force: np.ndarray
    """(frames, 3) of the joint's reaction on the child, world axes [N]."""
    torque: np.ndarray
    """(frames, 3) [N m]"""
    observation: Observation
    """Everything else: energies, violation, joint coordinates, multipliers."""

    @staticmethod
    def of(look: Look, seen: Observation) -> Snapshot:
        """What `look` shows of the model at an observed state."""
        R, p = with_points(look.model, rotations(seen.poses[:, 3:]), seen.poses[:, :3], seen.vertices)
        joint, body, p_BM, R_BM = look.frame_arrays
        joint_p, joint_R = p[body] + np.einsum("nij,nj->ni", R[body], p_BM), R[body] @ R_BM
        wrench = seen.reactions[joint].reshape(-1, 6)
        tension = look.tensions(R, p, with_rates(look, seen), seen.multipliers, seen.joint_q, seen.time)
        x = look.start_vertices if seen.vertices is None else seen.vertices
        return Snapshot(seen.time, R, p, x, tension, joint_p, joint_R, wrench[:, 3:], wrench[:, :3], seen)


def with_rates(look: Look, seen: Observation) -> np.ndarray:
    """Twists of bodies, and behind them of points of deformables, which only move."""
    if not look.model.vertex_points or seen.vertex_velocities is None:
        return seen.twists
    v = seen.vertex_velocities
    rates = [np.concatenate([np.zeros(3), q.weights @ v[q.vertices]]) for q in look.model.vertex_points]
    return np.concatenate([seen.twists, rates])


def snapshots(look: Look, recording: Recording) -> Iterator[Snapshot]:
    """One per recorded state."""
    return (Snapshot.of(look, o) for o in recording.observations)
