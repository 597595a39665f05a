"""A recording as plain named arrays for other programs: rows are recorded states, names say what columns are. Nothing here is needed to go
on simulating; `Recording.save` keeps that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unibody.simulation.contact_table import contact_columns

if TYPE_CHECKING:
    from unibody.simulation.recording import Recording


def plain_arrays(recording: Recording) -> dict[str, np.ndarray]:
    """By name, with T states, n bodies (the world first) and m joints:

    t (T,) [s]; body_names (n,); poses (T, n, 7) p then wxyz; twists (T, n, 6) angular then linear, world axes;
    joint_names (m,); coordinate_names (nq,) and joint_q (T, nq); velocity_names (nv,) and joint_v (T, nv);
    reactions (T, m, 6) torque then force on the child at the joint frame, world axes; kinetic, gravity, springs, total, damper_work,
    motor_work, applied_work (T,) [J]; violation (T,) [m or rad]; q, v, the solver's own; dt (), solver (); where the solver knows surfaces
    and some are asked to touch, the columns of `contact_table.contact_columns`.
    """
    model, seen, energy = recording.model, recording.observations, recording.energy
    rows, bodies, joints = len(recording), len(model.bodies), len(model.joints)
    works = ("kinetic", "gravity", "springs", "total", "damper_work", "motor_work", "applied_work")
    return {
        "t": recording.t,
        "body_names": _names(b.name for b in model.bodies),
        "poses": np.stack([recording.pose(b.name) for b in model.bodies], axis=1),
        "twists": np.array([o.twists for o in seen]).reshape(rows, bodies, 6),
        "joint_names": _names(j.name for j in model.joints),
        "coordinate_names": _names(f"{j.name}.q{k}" for j in model.joints for k in range(j.nq)),
        "joint_q": _columns([recording.joint(j.name) for j in model.joints], rows),
        "velocity_names": _names(f"{j.name}.v{k}" for j in model.joints for k in range(j.nv)),
        "joint_v": _columns([recording.joint_velocity(j.name) for j in model.joints], rows),
        "reactions": np.array([o.reactions for o in seen]).reshape(rows, joints, 6),
        **{name: np.asarray(getattr(energy, name)) for name in works},
        "violation": recording.violation,
        "q": recording.q, "v": recording.v, "dt": np.array(recording.dt), "solver": np.array(recording.solver.name),
        **(contact_columns(recording) if seen and all(o.contacts is not None for o in seen) else {}),
    }  # fmt: skip


def _names(names: object) -> np.ndarray:
    return np.array(list(names), dtype=str)  # type: ignore[call-overload]


def _columns(parts: list[np.ndarray], rows: int) -> np.ndarray:
    return np.concatenate(parts, axis=1) if parts else np.zeros((rows, 0))
