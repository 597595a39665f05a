"""Names of parts: a joint that consists of several (a Composite of three hinges, say) may name each, and such a name means that part alone.

A part is shown as a joint of its own, with its element, its place in q and v, and its share of what the whole holds: whoever asks the model
for a joint by name reads or drives the part alone. Elements of this package that name a part are turned into elements on the whole joint
when the model is built (`lifted`), so that solvers never hear of parts:

    Motor("knee_y", dof=d)            Motor("knee_x+knee_y", dof=first + d)
    TorsionSpring, DryFriction        one number per degree of freedom of the whole, 0 beside the part
    JointLimit, PrescribedJoint       the part's degrees of freedom; of rotations, the part's place among them
    JointCoupling, Coupling           (whole, first + dof)

An element of somebody's own keeps the part's name and is shown the part; what it gives back is written on the whole.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, singledispatch
from typing import Any

import numpy as np

from unibody.constraints import Coupling, JointCoupling, JointLimit, PrescribedJoint
from unibody.constraints.base import Constraint, Rows
from unibody.constraints.joint_coordinates import coordinates_of
from unibody.element import Kinematics
from unibody.errors import ModelError
from unibody.forces import DryFriction, JointFriction, Motor, TorsionSpring
from unibody.forces.base import Blocks, Force, Loads
from unibody.joints import Ball, Free, Joint
from unibody.model.contents import JointInfo


def checked_parts(given: Any, joint: Joint, what: str) -> tuple[str, ...]:
    """The names of a joint's parts, one for each; () where none are given."""
    if not (given is None or isinstance(given, Iterable)):
        raise ModelError(f"{what}: parts {given!r} are no names; give one for each part, or none")
    names = () if given is None else (given,) if isinstance(given, str) else tuple(given)
    if names and len(names) != len(joint.parts()):
        counted = f"{len(joint.parts())} part{'' if len(joint.parts()) == 1 else 's'}"
        raise ModelError(f"{what}: {len(names)} names of parts, and {type(joint).__name__} has {counted}; give one for each, or none")
    if len(names) == 1 and len(joint.parts()) == 1:
        raise ModelError(f"{what}: one part '{names[0]}' is the joint itself; leave parts out")
    if len(set(names)) < len(names):
        raise ModelError(f"{what}: parts {', '.join(map(str, names))} have the same name; give each a name of its own")
    return names


def part_places(joint: Joint) -> list[tuple[Joint, slice, slice]]:
    """(part, its q, its v) of every part, counted from the joint's first."""
    out, q, v = [], 0, 0
    for part in joint.parts():
        out.append((part, slice(q, q + part.nq), slice(v, v + part.nv)))
        q, v = q + part.nq, v + part.nv
    return out


def views_of(joint: JointInfo) -> dict[str, JointInfo]:
    """Part's name → the part as a joint of its own. X_PF and X_BM stay those of the whole: what lies between moves."""
    out = {}
    for name, (part, q, v) in zip(joint.parts, part_places(joint.element), strict=False):
        out[name] = replace(
            joint, name=name, element=part, q_start=joint.q_start + q.start, v_start=joint.v_start + v.start, q0=joint.q0[q],
            v0=joint.v0[v], armature=joint.armature[v], effort_limit=joint.effort_limit[v], parts=(), whole=joint.name,
        )  # fmt: skip
    return out


@singledispatch
def lifted(element: Any, part: JointInfo, whole: JointInfo) -> Any:
    """An element that has been started on a part, on the whole joint; None for classes of somebody's own."""
    return None


def _first(part: JointInfo, whole: JointInfo) -> int:
    return part.v_start - whole.v_start


def _spread(values: Any, part: JointInfo, whole: JointInfo, missing: float = 0.0) -> tuple[float, ...]:
    """Values of the part's degrees of freedom among those of the whole."""
    out = np.full(whole.nv, missing)
    out[_first(part, whole) : _first(part, whole) + part.nv] = values
    return tuple(out.tolist())


@lifted.register
def _(element: Motor, part: Any, whole: Any) -> Motor:
    return replace(element, joint=whole.name, dof=_first(part, whole) + element.dof)


@lifted.register
def _(element: TorsionSpring, part: Any, whole: Any) -> TorsionSpring:
    k, c = (element._per_dof(getattr(element, field), field, part.nv) for field in ("stiffness", "damping"))
    rest = None
    if element.rest is not None:
        values = np.array(whole.element.neutral(), float)
        at = part.q_start - whole.q_start
        values[at : at + part.nq] = element._rest(part)
        rest = tuple(values.tolist())
    return replace(element, joint=whole.name, stiffness=_spread(k, part, whole), damping=_spread(c, part, whole), rest=rest, dof=None)


@lifted.register
def _(element: DryFriction, part: Any, whole: Any) -> DryFriction:
    return replace(element, joint=whole.name, bound=_spread(element.bounds_on(part), part, whole), dof=None)


@lifted.register
def _(element: JointFriction, part: Any, whole: Any) -> JointFriction:
    remedy = "give DryFriction, or a joint that is not made of several"
    raise ModelError(f"JointFriction on joint '{part.name}': a part of '{whole.name}' has no reaction of its own; {remedy}")


@lifted.register
def _(element: PrescribedJoint, part: Any, whole: Any) -> PrescribedJoint:
    return replace(element, joint=whole.name, dof=tuple(_first(part, whole) + d for d in element.dof))


@lifted.register
def _(element: JointLimit, part: Any, whole: Any) -> JointLimit:
    """Bounds of coordinates by their degrees of freedom; those of rotations by their place among the rotations of the whole."""
    first = _first(part, whole)
    dof = None if element.dof is None else tuple(first + d for d in np.atleast_1d(element.dof).tolist())
    if element.angle is None and element.twist is None:
        return replace(element, joint=whole.name, dof=dof)
    turning = [v.start for joint, _, v in part_places(whole.element) if isinstance(joint, Ball | Free)]
    mine = turning.index(first)
    angles, twists = [np.inf] * len(turning), [(-np.inf, np.inf)] * len(turning)
    if element.angle is not None:
        angles[mine] = float(np.ravel(element.angle)[0])
    if element.twist is not None:
        twists[mine] = tuple(np.ravel(element.twist).tolist())
    return replace(
        element, joint=whole.name, dof=dof, angle=None if element.angle is None else tuple(angles),
        twist=None if element.twist is None else tuple(twists),
    )  # fmt: skip


def element_on_wholes(element: Any, name: str, packing: Any, joints: Mapping[str, JointInfo]) -> Any:
    """The element, started; if it names parts, then on the whole joints. `joints` holds wholes and parts."""
    parts = {joint: joints[joint] for joint in element.joints() if joints[joint].whole}
    if not parts:
        return element.started(packing, name)
    wholes = {part: joints[info.whole] for part, info in parts.items()}
    if isinstance(element, Coupling | JointCoupling):
        return _coupled(element, parts, wholes).started(packing, name)
    started = element.started(packing, name)
    if len(parts) == 1:
        (part,) = parts
        on_whole = lifted(started, parts[part], wholes[part])
        if on_whole is not None:
            return on_whole.started(packing, name)
    return _shown_parts(started, {part: (whole.name, _first(parts[part], whole), whole.nv) for part, whole in wholes.items()})


def _coupled(element: Any, parts: Mapping[str, JointInfo], wholes: Mapping[str, JointInfo]) -> Any:
    """A Coupling or JointCoupling with (part, dof) as (whole, first + dof)."""

    def placed(coordinates: Any) -> list[tuple[str, int]]:
        out = []
        for joint, dof in coordinates:
            if joint in parts and dof >= parts[joint].nv:
                raise ModelError(f"{type(element).__name__}: joint '{joint}' has no dof {dof}; it has {parts[joint].nv}, counted from 0")
            out.append((wholes[joint].name, _first(parts[joint], wholes[joint]) + dof) if joint in parts else (joint, dof))
        return out

    out = copy.copy(element)
    for field in ("coordinates", "dependent", "independent"):
        if hasattr(element, field):
            object.__setattr__(out, field, coordinates_of(placed(getattr(element, field)), f"{type(element).__name__} {field}"))
    return out


Places = Mapping[str, tuple[str, int, int]]
"""Part → its whole joint, its first degree of freedom there, and how many the whole has."""


def _shown_parts(element: Any, places: Places) -> Any:
    """An element of somebody's own that names parts: of a class derived from its own, which writes what it gives on the wholes."""
    out = copy.copy(element)
    cls: Any = type(element)
    object.__setattr__(out, "__class__", _on_wholes(cls))
    object.__setattr__(out, "part_places", dict(places))
    return out


def _rejoined(element: Any, places: Places) -> Any:
    """How a copy of such an element is made again, since its class has no name of its own."""
    return _shown_parts(element, places)


@cache
def _on_wholes(cls: type) -> type:
    made: dict[str, Any] = {"joints": _whole_joints, "__reduce_ex__": _reduced, "__module__": cls.__module__, "__slots__": ()}
    base: Any = Force if issubclass(cls, Force) else Constraint
    wrapped: dict[str, Callable[..., Any]] = {"apply": _applied, "evaluate": _evaluated}
    wrapped |= {"stiffness_blocks": _blocks, "damping_blocks": _blocks}
    for method, wrap in wrapped.items():
        if hasattr(base, method) and getattr(cls, method) is not getattr(base, method):
            made[method] = wrap(getattr(cls, method))
    return type(cls.__name__, (cls,), {**made, "part_class": cls})


def _reduced(self: Any, protocol: Any) -> tuple[Any, ...]:
    plain = object.__new__(self.part_class)
    plain.__dict__.update({key: value for key, value in self.__dict__.items() if key != "part_places"})
    return _rejoined, (plain, self.part_places)


def _whole_joints(self: Any) -> list[str]:
    named = self.part_class.joints(self)
    return list(dict.fromkeys(self.part_places[joint][0] if joint in self.part_places else joint for joint in named))


def _applied(method: Callable[..., None]) -> Callable[..., None]:
    def apply(self: Any, kinematics: Kinematics, loads: Loads) -> None:
        own = Loads()
        method(self, kinematics, own)
        for body, wrench in own.wrenches.items():
            loads.add_wrench(body, wrench[:3], wrench[3:])
        for table, add in ((own.efforts, loads.add_effort), (own.actuation, loads.add_actuation)):
            for joint, effort in table.items():
                whole, at, nv = self.part_places.get(joint, (joint, 0, np.size(effort)))
                wide = np.zeros(nv)
                wide[at : at + np.size(effort)] = effort
                add(whole, wide)
        loads.ledger += own.ledger

    return apply


def _blocks(method: Callable[..., Blocks]) -> Callable[..., Blocks]:
    def blocks(self: Any, kinematics: Kinematics) -> Blocks:
        out: Blocks = {}
        for pair, block in method(self, kinematics).items():
            (a, i, n), (b, j, m) = (self.part_places.get(name, (name, 0, size)) for name, size in zip(pair, block.shape, strict=True))
            wide = np.zeros((n, m))
            wide[i : i + block.shape[0], j : j + block.shape[1]] = block
            out[a, b] = out.get((a, b), 0.0) + wide
        return out

    return blocks


def _evaluated(method: Callable[..., Rows]) -> Callable[..., Rows]:
    def evaluate(self: Any, kinematics: Kinematics) -> Rows:
        rows = method(self, kinematics)
        J: dict[str, np.ndarray] = {}
        for joint, block in rows[2].items():
            block = np.asarray(block, float)
            whole, at, nv = self.part_places.get(joint, (joint, 0, block.shape[1]))
            wide = np.zeros((block.shape[0], nv))
            wide[:, at : at + block.shape[1]] = block
            J[whole] = J.get(whole, 0.0) + wide
        return Rows(rows[0], rows[1], J, *rows[3:])

    return evaluate
