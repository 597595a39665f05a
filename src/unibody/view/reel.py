"""A recording as media that play it need it: some of its states, as arrays over time.

Of the recorded states those nearest to 0, 1/fps, 2/fps, … are taken, and the last. Quaternions keep their sign from frame to frame, because
q and −q are one rotation but the way between them is not short.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.coordinates.observation import Observation
from unibody.element import number
from unibody.errors import ModelError
from unibody.model import Model
from unibody.simulation import Recording
from unibody.view.look import Look, quaternions, rotations
from unibody.view.snapshot import with_rates
from unibody.view.soft import with_points

MOST_JOINTS = 40
"""Angles and slides that are kept for plots."""
FARTHEST = 1e9
"""Positions beyond this [m] come from runs that failed."""


@dataclass(frozen=True)
class Reel:
    """F frames of what `look` shows. Arrays run over frames first, then over bodies (the world first), strands or joint frames."""

    look: Look
    t: np.ndarray
    """(F,) [s]"""
    poses: np.ndarray
    """(F, bodies, 7) p_WB then wxyz; behind the bodies the points of deformables that strands run through, which never turn."""
    x: np.ndarray
    """(F, n, 3) vertices of all deformables [m]."""
    tension: np.ndarray
    """(F, strands) [N], NaN where unknown."""
    force: np.ndarray
    """(F, frames, 3) of the joints on their children, world axes [N]."""
    energies: np.ndarray
    """(4, F) kinetic, potential and total energy [J], constraint violation [m or rad]."""
    joints: np.ndarray
    """(n, F) angles and slides of joints [rad or m], of the first `MOST_JOINTS`."""
    joint_names: tuple[str, ...]
    contact: np.ndarray
    """(F,) the sum of the sizes of all contact forces [N]."""

    @property
    def placed(self) -> tuple[np.ndarray, np.ndarray]:
        """R (F, bodies, 3, 3) and p (F, bodies, 3)."""
        return rotations(self.poses[..., 3:]), self.poses[..., :3]

    @staticmethod
    def of(recording: Recording, fps: float | None = None) -> Reel:
        """Frames of a recording, `fps` [1/s] of its own time or all."""
        if not len(recording):
            raise ModelError("the recording is empty, so there is nothing to show; run the simulation first")
        look, rows = Look(recording.model), chosen_rows(recording.t, fps)
        seen = [recording.observations[k] for k in rows]
        x = np.array([look.start_vertices if o.vertices is None else o.vertices for o in seen])
        poses = _with_points(look, continuous(np.array([o.poses for o in seen])), x)
        places = np.concatenate([poses[..., :3], x], axis=1)
        if not np.abs(places).max() < FARTHEST or not np.isfinite(poses).all():
            raise ModelError("the recording holds bodies that are nowhere or beyond 1e9 m, which nothing shows; take a run that went well")
        R, p = rotations(poses[..., 3:]), poses[..., :3]
        tension = np.array([look.tensions(R[k], p[k], with_rates(look, o), o.multipliers, o.joint_q, o.time) for k, o in enumerate(seen)])
        tension = tension.reshape(len(seen), -1)
        joints = [f.joint for f in look.frames]
        force = np.array([o.reactions[joints, 3:] for o in seen]).reshape(len(seen), -1, 3)
        potential = np.array([o.gravity + o.springs for o in seen])
        kinetic = np.array([o.kinetic for o in seen])
        energies = np.array([kinetic, potential, kinetic + potential, [o.violation for o in seen]])
        names, dofs = _angles(recording.model)
        angles = np.array([[o.joint_q[q] for q in dofs] for o in seen]).reshape(len(seen), -1).T
        contact = np.array([_contact(o) for o in seen])
        return Reel(look, recording.t[rows], poses, x, tension, force, energies, angles, names, contact)

    @staticmethod
    def still(model: Model) -> Reel:
        """One frame: the start of a model."""
        look = Look(model)
        R, p = look.start
        poses = np.concatenate([p, quaternions(R)], axis=-1)[None]
        unknown = np.full((1, len(look.strands)), np.nan)
        forces, none = np.zeros((1, len(look.frames), 3)), np.zeros((0, 1))
        return Reel(look, np.zeros(1), poses, look.start_vertices[None], unknown, forces, np.zeros((4, 1)), none, (), np.zeros(1))


def _angles(model: Model) -> tuple[tuple[str, ...], list[int]]:
    """Names of the angles and slides of all joints, and where they stand in the joint coordinates."""
    found = []
    for joint in model.joints:
        dofs = joint.scalar_dofs()
        found += [(joint.name if len(dofs) == 1 else f"{joint.name} [{k}]", q) for k, q in enumerate(dofs.values())]
    return tuple(name for name, _ in found[:MOST_JOINTS]), [q for _, q in found[:MOST_JOINTS]]


def _contact(o: Observation) -> float:
    """Between bodies, and on deformables."""
    bodies = np.linalg.norm(o.contacts.forces, axis=1).sum() if o.contacts is not None and len(o.contacts) else 0.0
    soft = np.linalg.norm(o.vertex_contacts, axis=1).sum() if o.vertex_contacts is not None else 0.0
    return float(bodies + soft)


def _with_points(look: Look, poses: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Poses with the points of deformables behind them."""
    points = with_points(look.model, rotations(poses[..., 3:]), poses[..., :3], x)[1][:, poses.shape[1] :]
    unturned = np.broadcast_to((1.0, 0.0, 0.0, 0.0), (*points.shape[:2], 4))
    return np.concatenate([poses, np.concatenate([points, unturned], axis=-1)], axis=1)


def chosen_rows(t: np.ndarray, fps: float | None) -> np.ndarray:
    """Rows nearest to times 1/fps apart, each once, with the first and the last.

    >>> chosen_rows(np.arange(11) * 0.01, fps=25.0).tolist()
    [0, 4, 8, 10]
    """
    if fps is None or len(t) < 3:
        return np.arange(len(t))
    number(fps, "fps", positive=True)
    frames = int(np.floor((t[-1] - t[0]) * fps * (1.0 + 1e-9)))
    if frames >= len(t):
        return np.arange(len(t))
    wanted = t[0] + np.arange(frames + 1) / fps
    after = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
    nearest = np.where(wanted - t[after - 1] <= t[after] - wanted, after - 1, after)
    return np.unique([0, *nearest, len(t) - 1])


def continuous(poses: np.ndarray) -> np.ndarray:
    """Poses (F, …, 7) whose quaternions do not jump sign along the first axis."""
    turns = np.einsum("...k,...k->...", poses[1:, ..., 3:], poses[:-1, ..., 3:])
    sign = np.cumprod(np.where(turns < 0.0, -1.0, 1.0), axis=0)
    out = poses.copy()
    out[1:, ..., 3:] *= sign[..., None]
    return out
