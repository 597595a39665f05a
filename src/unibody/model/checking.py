"""What a Builder accepts: names, poses, shapes, masses, numbers per degree of freedom, limits and contacts, checked when they are given."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from unibody.constraints import JointLimit
from unibody.constraints.contact import Contact
from unibody.element import number
from unibody.errors import ModelError
from unibody.joints import Free, Joint
from unibody.model.model import BodyInfo
from unibody.shapes import MassProperties, Placed, Shape, combine
from unibody.spatial.pose import Pose, vector3

UNWRITABLE = ("Cc", "Cs", "Zl", "Zp")
"""Control characters, lone surrogates, and separators of lines and paragraphs, which no name may hold."""
KINDS = ("dynamic", "static", "kinematic")
NOWHERE_ELSE = Pose()

FARTHEST, FASTEST = 1e15, 1e12
"""[m, rad] and [m/s, rad/s]: what a start may be at most."""
LIGHTEST, HEAVIEST = 1e-40, 1e40
"""[kg]"""


def check_new(name: Any, taken: Any, what: str) -> None:
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what} name {name!r} is not a non-empty string; give one")
    if not name.isprintable() and any(unicodedata.category(c) in UNWRITABLE for c in name):
        raise ModelError(f"{what} name {name[:60]!r} holds a line break, control character or lone surrogate; give one that can be printed")
    if name in taken:
        raise ModelError(f"{what} '{name}' exists already; give each {what} a name of its own")


def frozen(array: np.ndarray) -> np.ndarray:
    array = np.array(array)
    array.flags.writeable = False
    return array


def on_manifold(joint: Joint, q: np.ndarray) -> np.ndarray:
    """q with its quaternions made unit (the same numbers if they are); NaN where one has no direction."""
    try:
        unit = joint.advance(q, np.zeros(joint.nv), 0.0)
        return q if np.abs(unit - q).max(initial=0.0) < 1e-15 else unit
    except ZeroDivisionError:
        return np.full(joint.nq, np.nan)


def checked_pose(value: Any, what: str) -> Pose:
    if value is None:
        return NOWHERE_ELSE
    if not isinstance(value, Pose):
        raise ModelError(f"{what}: {value!r} is not a Pose; give Pose(p=..., wxyz=...) or Pose.from_matrix(...)")
    return value


def listed_shapes(shape: Any, what: str) -> Sequence[Any]:
    shapes = [] if shape is None else list(shape) if isinstance(shape, list | tuple) else [shape]
    for s in shapes:
        if not isinstance(s, Shape | Placed):
            raise ModelError(f"{what}: {s!r} is not a shape; give one such as Box((0.1, 0.1, 1.0)) or Placed(shape, X_BS)")
    return shapes


def joint_limit(name: str, limits: Any, joint: Joint) -> JointLimit:
    """(lower, upper) for all coordinates, or one such pair for each (of a Free the displacements); or keywords of `JointLimit`."""
    if isinstance(limits, dict):
        try:
            return JointLimit(name, **limits)
        except TypeError:
            raise ModelError(f"joint '{name}' limits: {list(limits)} are not all of lower, upper, dof, axis, angle, twist") from None
    try:
        pairs = np.array(limits, float)
    except (TypeError, ValueError, OverflowError):
        pairs = np.zeros(0)
    count = sum(3 if isinstance(part, Free) else part.nv if part.nq == part.nv else 0 for part in joint.parts())
    if pairs.shape not in ((2,), (count, 2)):
        raise ModelError(f"joint '{name}' limits: {limits!r} are no bounds; give (lower, upper) or {count} such pairs")
    lower, upper = pairs if pairs.ndim == 1 else (tuple(pairs[:, 0]), tuple(pairs[:, 1]))
    return JointLimit(name, lower, upper)


def per_dof(value: Any, nv: int, what: str, minimum: float, infinite: bool = False) -> np.ndarray:
    if type(value) is float and minimum <= value and (value < np.inf or infinite):
        return np.full(nv, value)
    try:
        values = np.broadcast_to(np.asarray(value, float), (nv,)) if np.ndim(value) == 0 else np.asarray(value, float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: {value!r} is not numeric; give one number or {nv}") from None
    if values.shape != (nv,):
        raise ModelError(f"{what}: shape {values.shape}; give one number or {nv}")
    for x in values:
        number(x, what, minimum=minimum, infinite=infinite)
    return np.array(values)


def checked_mass(
    what: str, kind: str, shapes: Sequence[Placed], density: float | None, mass: float | None, com: Any, inertia: Any
) -> MassProperties:
    if density is not None:
        number(density, f"{what} density", positive=True)
    if mass is not None:
        number(mass, f"{what} mass", positive=True)
    shapes = [s for s in shapes if s.solid and (kind == "dynamic" or 0.0 < s.volume < np.inf)]  # ground and scenery weigh nothing
    if shapes and inertia is None and com is None:
        if density is not None and mass is not None:
            raise ModelError(f"{what}: both density {density!r} and mass {mass!r} given; give one of them")
        properties = combine([s.mass_properties(density or 1000.0) for s in shapes])
        if mass is not None:
            properties = MassProperties(mass, properties.com, np.array(properties.inertia) * (mass / properties.mass))
    elif mass is None and kind != "dynamic":
        properties = MassProperties(1.0, np.zeros(3), np.eye(3))
    elif mass is None or inertia is None:
        missing = "mass" if mass is None else "inertia"
        raise ModelError(f"{what}: no {missing}; give a shape (with density or mass), or mass= and inertia=")
    else:
        try:
            matrix = np.array(inertia, float)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(f"{what} inertia: {inertia!r} is not numeric; give a 3×3 matrix or three principal values") from None
        matrix = np.diag(matrix) if matrix.shape == (3,) else matrix
        if matrix.shape != (3, 3):
            raise ModelError(f"{what} inertia: shape {matrix.shape}; give a 3×3 matrix or three principal values")
        properties = MassProperties(mass, vector3((0.0, 0.0, 0.0) if com is None else com, f"{what} com"), matrix)
    properties.check(what)
    if not LIGHTEST <= properties.mass <= HEAVIEST:
        raise ModelError(f"{what}: mass {properties.mass:g} kg is beyond the scales of mechanics; give {LIGHTEST:g} … {HEAVIEST:g} kg")
    return properties


def within(values: np.ndarray, most: float, what: str) -> np.ndarray:
    """The values if none is larger than `most`, else ModelError."""
    for value in values:
        if abs(value) > most:
            raise ModelError(f"{what}: {value:g} is beyond the scales of mechanics; give at most {most:g} in SI units")
    return values


def check_contacts(contacts: Sequence[tuple[str, Contact]], bodies: Mapping[str, BodyInfo], deformables: Collection[str] = ()) -> None:
    """Refuse Contacts that speak of the same bodies, of which one would be ignored, and those that no shape can follow. One about two
    bodies holds before one about lists."""
    for_all = [name for name, contact in contacts if contact.everywhere]
    if len(for_all) > 1:
        raise ModelError(f"'{for_all[0]}' and '{for_all[1]}': two Contacts for all bodies; keep one, and give the other between=(…, …)")
    said: dict[tuple[str, str, int], str] = {}
    known = {s.material.name for body in bodies.values() for s in body.shapes if s.solid and s.material is not None}
    for name, contact in contacts:
        for material in contact.materials or ():
            if material not in known:
                raise ModelError(f"'{name}': no solid shape has a material named '{material}'; give one, or leave the Contact out")
        for a, b in {tuple(sorted(contact.materials))} if contact.materials else ():
            if (other := said.setdefault((a, b, contact.narrowness), name)) != name:
                raise ModelError(f"'{other}' and '{name}': both are about materials '{a}' and '{b}'; keep one")
        if contact.between is None:
            continue
        for side in contact.between:
            group = (side,) if isinstance(side, str) else side
            if any(body in deformables for body in group):
                continue
            if contact.on and not any(shape.solid for body in group for shape in bodies[body].shapes):
                who = f"body '{group[0]}' has" if len(group) == 1 else f"bodies {', '.join(group)} have"
                raise ModelError(f"'{name}': {who} no solid shape and can touch nothing; give one (shape=…), or leave the Contact out")
        for a, b in {(min(pair), max(pair)) for pair in contact.pairs()}:
            if (other := said.setdefault((a, b, contact.narrowness), name)) != name:
                raise ModelError(f"'{other}' and '{name}': both are about bodies '{a}' and '{b}'; keep one, or name just these two in it")
