"""What a study keeps of a run: named variables over dimensions, with units.

A measure is a function of a recording that returns name → value, a value being a number, an array over time (T, …), or (dimensions,
array[, units]). Those here are asked for by name:

    joints      q and v of all joints                       (time, coordinate), (time, velocity)
    poses       position and orientation of all bodies      (time, body, axis), (time, body, quaternion)
    energies    kinetic, potential, total                   (time)
    reactions   what goes through all joints                (time, joint, axis)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.model.values import shown
from unibody.simulation import Recording

AXES = ("x", "y", "z")
USUAL = ("joints", "poses", "energies")
"""What is kept if nobody says what."""


@dataclass(frozen=True)
class Variable:
    """One array of a run."""

    dims: tuple[str, ...]
    values: np.ndarray
    units: str = ""


Labels = dict[str, np.ndarray]
"""What the places along a dimension are called."""


def joints(rec: Recording) -> tuple[dict[str, Variable], Labels]:
    listed = rec.model.joints
    q = np.concatenate([rec.joint(j.name) for j in listed], axis=1) if listed else np.zeros((len(rec), 0))
    v = np.concatenate([rec.joint_velocity(j.name) for j in listed], axis=1) if listed else np.zeros((len(rec), 0))
    labels = {
        "coordinate": _numbered([(j.name, j.nq) for j in listed]),
        "velocity": _numbered([(j.name, j.nv) for j in listed]),
    }
    kept = {"q": Variable(("time", "coordinate"), q, "rad or m"), "v": Variable(("time", "velocity"), v, "rad/s or m/s")}
    return kept, labels


def poses(rec: Recording) -> tuple[dict[str, Variable], Labels]:
    names = [b.name for b in rec.model.bodies[1:]]
    every = np.array([rec.pose(name) for name in names]).reshape(len(names), len(rec), 7).transpose(1, 0, 2)
    kept = {
        "position": Variable(("time", "body", "axis"), every[:, :, :3], "m"),
        "orientation": Variable(("time", "body", "quaternion"), every[:, :, 3:], "1"),
    }
    return kept, {"body": np.array(names, str), "axis": np.array(AXES), "quaternion": np.array(["w", *AXES])}


def energies(rec: Recording) -> tuple[dict[str, Variable], Labels]:
    return {name: Variable(("time",), getattr(rec.energy, name), "J") for name in ("kinetic", "potential", "total")}, {}


def reactions(rec: Recording) -> tuple[dict[str, Variable], Labels]:
    names = [j.name for j in rec.model.joints if not j.implicit]
    every = np.array([rec.reaction(name) for name in names]).reshape(len(names), len(rec), 6).transpose(1, 0, 2)
    kept = {
        "reaction_torque": Variable(("time", "joint", "axis"), every[:, :, :3], "N m"),
        "reaction_force": Variable(("time", "joint", "axis"), every[:, :, 3:], "N"),
    }
    return kept, {"joint": np.array(names, str), "axis": np.array(AXES)}


NAMED: dict[str, Callable[[Recording], tuple[dict[str, Variable], Labels]]] = {
    "joints": joints, "poses": poses, "energies": energies, "reactions": reactions,
}  # fmt: skip


def checked_measure(measure: Any) -> Any:
    """A function, or the names of measures; None: the usual ones."""
    if measure is None:
        return USUAL
    if callable(measure):
        return measure
    names = (measure,) if isinstance(measure, str) else tuple(measure) if isinstance(measure, Sequence) else ()
    for name in names:
        if name not in NAMED:
            raise ModelError(f"measure {shown(name)} is not known; give a function of a recording, or some of {', '.join(NAMED)}")
    if not names:
        raise ModelError(f"measure {shown(measure)} keeps nothing; give a function of a recording, or some of {', '.join(NAMED)}")
    return names


def measured(measure: Any, rec: Recording) -> tuple[dict[str, Variable], Labels]:
    """The variables of a run, and what the places along their dimensions are called."""
    kept: dict[str, Variable] = {}
    labels: Labels = {"time": rec.t}
    if callable(measure):
        answer = measure(rec)
        if not isinstance(answer, Mapping):
            raise ModelError(f"measure gave {shown(answer)}; return a mapping of names to numbers or arrays")
        for name, value in answer.items():
            kept[name] = _variable(name, value, len(rec))
    else:
        for name in measure:
            more, called = NAMED[name](rec)
            kept |= more
            labels |= called
    used = {dim for variable in kept.values() for dim in variable.dims}
    return kept, {dim: x for dim, x in labels.items() if dim in used}


def _variable(name: Any, value: Any, rows: int) -> Variable:
    """What a user's measure gave under a name."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"measure: {shown(name)} is no name; give a word for every value")
    dims: tuple[str, ...] | None = None
    units = ""
    if isinstance(value, tuple) and value and not isinstance(value[0], float | int | np.number):
        dims = (value[0],) if isinstance(value[0], str) else tuple(value[0]) if isinstance(value[0], Sequence) else (None,)
        if not all(isinstance(dim, str) and dim for dim in dims) or not 2 <= len(value) <= 3:
            raise ModelError(f"measure '{name}': {shown(value)}; give a number, an array, or (dimensions, array, units)")
        value, units = value[1], str(value[2]) if len(value) > 2 else ""
    if value is None:
        raise ModelError(f"measure '{name}': None is no number and no array; give one")
    try:
        x = np.asarray(value, float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"measure '{name}': {shown(value)} is no number and no array; give one") from None
    if dims is None:
        dims = tuple("time" if k == 0 and n == rows else f"{name}_{k}" for k, n in enumerate(x.shape))
    if len(dims) != x.ndim:
        raise ModelError(f"measure '{name}': {len(dims)} dimensions ({', '.join(dims)}) for an array of {x.ndim}; name each")
    return Variable(dims, x, units)


def _numbered(names: list[tuple[str, int]]) -> np.ndarray:
    """A joint's name, with a number where it has several coordinates."""
    return np.array([name if n == 1 else f"{name}[{k}]" for name, n in names for k in range(n)], str)
