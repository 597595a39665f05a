"""Scalar coordinates of joints, as constraints name them: a joint (its first degree of freedom) or a pair (joint, dof)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unibody.element import JointView, Packing, name_of
from unibody.errors import ModelError

Coordinate = tuple[str, int]


def coordinate_of(given: Any, what: str) -> Coordinate:
    """(joint name, dof) from a joint, or from a pair."""
    joint, dof = given if isinstance(given, tuple | list) and len(given) == 2 else (given, 0)
    if not is_dof(dof):
        raise ModelError(f"{what}: {given!r} names no degree of freedom; give a joint, or (joint, dof) with dof 0, 1, ...")
    return name_of(joint, f"{what} joints"), int(dof)


def coordinates_of(given: Any, what: str) -> tuple[Coordinate, ...]:
    """A list of coordinates, none of them twice."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise ModelError(f"{what}: {given!r} is not a list of joints; give names, handles or pairs (joint, dof)")
    coordinates = tuple(coordinate_of(g, what) for g in given)
    for joint, dof in coordinates:
        if coordinates.count((joint, dof)) > 1:
            raise ModelError(f"{what}: joint '{joint}' dof {dof} is given more than once; give each once")
    return coordinates


def place_of(packing: Packing, coordinate: Coordinate, what: str) -> int:
    """The q index of a coordinate; refuses degrees of freedom that have none."""
    name, dof = coordinate
    joint = packing.joint(name)
    if dof >= joint.nv:
        raise ModelError(f"{what}: joint '{name}' has no dof {dof}; it has {joint.nv} degrees of freedom, counted from 0")
    if dof not in joint.scalar_dofs():
        kind = type(joint.element).__name__
        raise ModelError(f"{what}: joint '{name}' dof {dof} of {kind} has no scalar coordinate; give angles or slides")
    return joint.scalar_dofs()[dof]


def chosen_dofs(joint: JointView, dof: Any, what: str) -> tuple[int, ...]:
    """The degrees of freedom meant by `dof`: None all, a number that one, a sequence those; all must have scalar coordinates."""
    if dof is None:
        if not joint.nv:
            raise ModelError(f"{what}: joint '{joint.name}' has no degree of freedom; give a joint that moves")
        if len(joint.scalar_dofs()) < joint.nv:
            kind, scalar = type(joint.element).__name__, ", ".join(map(str, joint.scalar_dofs()))
            remedy = f"give dof= one of {scalar}" if scalar else "give a joint with angles or slides"
            raise ModelError(f"{what}: joint '{joint.name}' of {kind} has degrees of freedom without scalar coordinates; {remedy}")
        return tuple(range(joint.nv))
    dofs = tuple(dof) if isinstance(dof, tuple | list) else (dof,)
    if not dofs or not all(is_dof(d) for d in dofs) or len(set(dofs)) < len(dofs):
        raise ModelError(f"{what} on joint '{joint.name}': dof {dof!r} names no degrees of freedom; give 0, 1, ..., or several, each once")
    return tuple(int(d) for d in dofs)


def unit_of(joint: JointView, dof: int) -> str:
    """The unit of a coordinate: "m" if it only slides."""
    column = joint.element.motion(joint.element.neutral())[:, dof]
    return "m" if not np.any(column[:3]) else "rad"


def is_dof(dof: Any) -> bool:
    """Whether it is a whole number from 0 on."""
    return not isinstance(dof, bool) and isinstance(dof, int | np.integer) and int(dof) >= 0
