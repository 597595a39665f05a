"""Changes of bodies, joints and elements of a Builder, and new names. What is not given stays; the thing is then told to a Builder anew, so
that everything is checked as on creation, and takes the place of the old one.

    mass m alone        inertia J m / m₀, about the same centre of mass
    com alone           the inertia about the centre of mass stays
    shape alone         mass, centre of mass and inertia stay
    density             all three from the shapes;      shape and mass: from the shapes, scaled to the mass
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unibody.constraints import JointLimit
from unibody.constraints.base import Constraint
from unibody.element import is_word, number
from unibody.errors import ModelError
from unibody.forces import TorsionSpring
from unibody.forces.base import Force
from unibody.joints import Joint
from unibody.model.builder import Builder
from unibody.model.checking import KINDS, check_new, joint_limit
from unibody.model.contents import AskedJoint
from unibody.model.deformable_editing import point_names, put_deformables, renamed_parts
from unibody.model.editing import Editing, skeleton, with_origin
from unibody.model.model import BodyInfo, look_up
from unibody.model.parts import part_places
from unibody.model.renaming import renamed, with_arguments


def change_body(b: Editing, name: str, given: dict[str, Any]) -> None:
    what = f"body '{name}'"
    old = look_up(name, b._bodies, "body")
    if "kind" in given and not is_word(given["kind"], KINDS):
        raise ModelError(f"{what}: kind {given['kind']!r} is unknown; give one of {', '.join(KINDS)}")
    if name == "world":
        raise ModelError("body 'world' is the ground and has nothing to change; give another body")
    _refuse_placing(b, old, given)
    told = {"kind": old.kind, "X_WB": old.X_WB, "V_WB": old.V_WB, "shape": old.shapes, "motion": old.motion}
    told |= {key: value for key, value in given.items() if key in told}
    if old.kind == "dynamic" != told["kind"] and "X_WB" not in given:  # it stops where it starts, whatever joint has put it there
        placed = skeleton(b)
        told["X_WB"] = placed.bodies[placed.body(name)].X_WB
    if told["kind"] != "kinematic" and "motion" not in given:
        told["motion"] = None
    if told["kind"] == "static" and "V_WB" not in given:
        told["V_WB"] = None
    scratch = Builder(gravity=None)
    scratch.body(name, **told, **_mass_of(old, given, told["kind"], what))
    b._bodies[name] = scratch._bodies[name]


def _mass_of(old: BodyInfo, given: Mapping[str, Any], kind: str, what: str) -> dict[str, Any]:
    """What to say of the mass: see the head of this file."""
    asked = {key: given[key] for key in ("mass", "com", "inertia", "density") if key in given}
    if "density" in asked:
        if len(asked) > 1:
            others = ", ".join(key for key in asked if key != "density")
            raise ModelError(f"{what}: both density {asked['density']!r} and {others} given; give density alone, or the others")
        solid = [s for s in (old.shapes if "shape" not in given else _listed(given["shape"])) if getattr(s, "solid", True)]
        if not solid:
            raise ModelError(f"{what}: density {asked['density']!r} without a solid shape says nothing; give shape=, or mass= and inertia=")
        return asked
    from_shape = "shape" in given and "mass" in asked and len(asked) == 1
    if from_shape or (old.kind != "dynamic" and kind == "dynamic"):  # what stands still never had a mass of its own
        return asked
    mass = number(asked.get("mass", old.mass), f"{what} mass", positive=True)
    inertia = asked.get("inertia", old.inertia * (mass / old.mass) if mass != old.mass else old.inertia)
    return {"mass": mass, "com": asked.get("com", old.com), "inertia": inertia}


def _listed(shape: Any) -> Sequence[Any]:
    return shape if isinstance(shape, list | tuple) else (shape,)


def _refuse_placing(b: Editing, old: BodyInfo, given: Mapping[str, Any]) -> None:
    """The start of a body that hangs on a joint is the joint's business."""
    placing = [key for key in ("X_WB", "V_WB") if key in given]
    joint = next((j for j in b._joints.values() if j.child == old.name), None) if placing else None
    if joint is not None and given.get("kind", old.kind) == "dynamic":
        remedy = f"give b.start({{'{joint.name}': …}}), b.place('{old.name}', …) or b.change_joint('{joint.name}', …)"
        raise ModelError(f"body '{old.name}': {' and '.join(placing)} say nothing, since joint '{joint.name}' places it; {remedy}")


def change_joint(b: Editing, name: str, given: dict[str, Any]) -> None:
    whole = b._parts.get(name, name)
    old: AskedJoint = look_up(name if whole not in b._joints else whole, _known(b), "joint")
    what = f"joint '{name}'"
    told = _whole_told(old, given, what) if whole == name else _part_told(old, name, given, what)
    scratch = Builder(gravity=None)
    scratch._bodies = b._bodies
    scratch._joints = {n: j for n, j in b._joints.items() if n != whole}
    scratch._parts = {part: n for part, n in b._parts.items() if n != whole}
    scratch.joint(whole, **told)
    new = scratch._joints[whole]
    elements = dict(b._elements)
    place = _Place(name, new, whole)
    if {"stiffness", "damping", "rest"} & set(given):
        _change_spring(elements, place, given)
    if "limits" in given:
        _change_limit(elements, place, given["limits"])
    b._joints = {n: new if n == whole else j for n, j in b._joints.items()}
    b._parts = {part: n for n, j in b._joints.items() for part in j.parts}
    b._elements = elements


def _known(b: Editing) -> dict[str, Any]:
    return {**b._joints, **dict.fromkeys(b._parts)}


def _whole_told(old: AskedJoint, given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """All arguments of `Builder.joint` but spring and limit."""
    element = given.get("joint", old.element)
    if not isinstance(element, Joint):
        raise ModelError(f"{what}: {element!r} is not a joint; give one such as Revolute(axis=(0, 1, 0))")
    told: dict[str, Any] = {"joint": element, "parent": old.parent, "child": old.child, "X_PF": old.X_PF, "X_BM": old.X_BM}
    told |= {"parts": old.parts, "armature": old.armature, "effort_limit": old.effort_limit}
    alike = [type(part) for part in element.parts()] == [type(part) for part in old.element.parts()]
    if alike and (element.nq, element.nv) == (old.element.nq, old.element.nv):
        told |= {"q": old.q, "v": old.v}
    else:
        if "q" not in given and (not np.array_equal(old.q, old.element.neutral()) or old.v.any()):
            raise ModelError(f"{what}: it starts at q = {old.q.tolist()}, which means something else in {type(element).__name__}; give q=")
        for key in ("armature", "effort_limit"):
            values = getattr(old, key)
            usual = {"armature": 0.0, "effort_limit": np.inf}[key]
            if key not in given and values.size != element.nv and (values != (values[0] if values.size else usual)).any():
                raise ModelError(f"{what}: {key} {values.tolist()} does not fit {element.nv} degrees of freedom; give {key}=")
            told[key] = values if values.size == element.nv else float(values[0]) if values.size else usual
        if "parts" not in given and old.parts and len(element.parts()) != len(old.parts):
            count = len(element.parts())
            raise ModelError(f"{what}: its parts are {', '.join(old.parts)}, and it would have {count}; give parts= (() for none)")
    return told | {key: value for key, value in given.items() if key in told or key in ("q", "v")}


def _part_told(old: AskedJoint, name: str, given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The whole joint with other numbers for one of its parts."""
    wrong = [key for key in ("joint", "parent", "child", "X_PF", "X_BM", "parts") if key in given]
    if wrong:
        raise ModelError(f"{what}: {', '.join(wrong)} belongs to joint '{old.name}', of which it is a part; change that one")
    part, q, v = part_places(old.element)[old.parts.index(name)]
    told: dict[str, Any] = {key: getattr(old, key) for key in ("parent", "child", "X_PF", "X_BM", "parts")} | {"joint": old.element}
    for key, span, size in (("q", q, part.nq), ("v", v, part.nv), ("armature", v, part.nv), ("effort_limit", v, part.nv)):
        values = np.array(getattr(old, key))
        if key in given:
            try:
                own = np.array(given[key], float)
            except (TypeError, ValueError, OverflowError):
                raise ModelError(f"{what} {key}: {given[key]!r} is not numeric; give {size} numbers") from None
            if own.shape not in ((), (size,)) or (own.ndim == 0 and key in ("q", "v") and size != 1):
                raise ModelError(f"{what} {key}: shape {own.shape}; give {size} number{'' if size == 1 else 's'}")
            values[span] = own
        told[key] = values
    return told


class _Place:
    """A joint, or a part of one, as springs and limits see it: its name, its element, and its span among the degrees of freedom."""

    def __init__(self, name: str, new: AskedJoint, whole: str):
        self.name, self.whole, self.of = name, whole, new
        self.element: Joint = new.element
        self.v, self.q = slice(0, new.element.nv), slice(0, new.element.nq)
        if name != whole:
            self.element, self.q, self.v = part_places(new.element)[new.parts.index(name)]

    def touches(self, element: Any) -> bool:
        """Whether a spring or limit acts in the span: on the part, or on the whole there."""
        if element.joint != self.whole:
            return element.joint == self.name or (self.name == self.whole and element.joint in self.of.parts)
        return self.name == self.whole or bool(set(_dofs(element, self.of.element.nv)) & set(range(self.v.start, self.v.stop)))

    def only(self, element: Any) -> bool:
        """Whether it acts nowhere else."""
        if element.joint != self.whole:
            return element.joint == self.name
        return set(_dofs(element, self.of.element.nv)) <= set(range(self.v.start, self.v.stop))


def _dofs(element: Any, nv: int) -> list[int]:
    """Degrees of freedom in which a spring or limit acts."""
    if element.dof is not None:
        return [int(d) for d in np.atleast_1d(element.dof)]
    if isinstance(element, TorsionSpring):
        k, c = (np.broadcast_to(x, nv) if np.size(x) in (1, nv) else np.ones(nv) for x in (element.stiffness, element.damping))
        return [d for d in range(nv) if k[d] or c[d]]
    return list(range(nv))


def _own(elements: Mapping[str, Any], place: _Place, cls: type, ending: str) -> Any:
    """The element `<joint>.<ending>`, if it is there; others of its kind on the joint are refused by name."""
    name = f"{place.name}.{ending}"
    others = [n for n, e in elements.items() if isinstance(e, cls) and n != name and place.touches(e)]
    if others:
        raise ModelError(f"joint '{place.name}': its {ending} is '{others[0]}'; use b.change('{others[0]}', …), or remove it first")
    own = elements.get(name)
    if own is not None and not (isinstance(own, cls) and place.only(own)):
        raise ModelError(f"joint '{place.name}': '{name}' is a {type(own).__name__} that acts elsewhere too; use b.change('{name}', …)")
    return own


def _change_spring(elements: dict[str, Any], place: _Place, given: Mapping[str, Any]) -> None:
    name, nv = f"{place.name}.spring", place.element.nv
    own = _own(elements, place, TorsionSpring, "spring")
    k: Any = 0.0
    c: Any = 0.0
    rest: Any = None
    if own is not None:
        k, c, rest = own.stiffness, own.damping, own.rest
        if own.joint == place.whole and (place.name != place.whole or own.dof is not None):  # numbers of the whole: this part's share
            k, c = (tuple(own._per_dof(x, "", place.of.element.nv)[place.v].tolist()) for x in (k, c))
            if rest is not None:
                rest = tuple(_rest(own, place)[place.q].tolist())
    k, c, rest = given.get("stiffness", k), given.get("damping", c), given.get("rest", rest)
    TorsionSpring(place.name, stiffness=k, damping=c)  # numbers that are none are refused here
    if not np.any(k):
        if "rest" in given:
            raise ModelError(f"joint '{place.name}': rest given without stiffness; give stiffness= or leave rest out")
        rest = None
    spring = TorsionSpring(place.name, stiffness=k, damping=c, rest=rest)
    for key in ("stiffness", "damping"):
        if np.size(getattr(spring, key)) not in (1, nv):
            raise ModelError(f"joint '{place.name}' {key}: {np.size(getattr(spring, key))} numbers; give one number or {nv}")
    if np.any(spring.stiffness) or np.any(spring.damping):
        elements[name] = spring
    else:
        elements.pop(name, None)


def _rest(spring: TorsionSpring, place: _Place) -> np.ndarray:
    """The rest position of the whole joint."""
    neutral = np.array(place.of.element.neutral(), float)
    if isinstance(spring.rest, tuple):
        return np.array(spring.rest)
    neutral[place.q] = spring.rest
    return neutral


def _change_limit(elements: dict[str, Any], place: _Place, limits: Any) -> None:
    own = _own(elements, place, JointLimit, "limit")
    new = joint_limit(place.name, limits, place.element)
    if own is not None:  # the barrier before it stays, unless it is given too
        kept = {key: getattr(own, key) for key in ("damping", "reach", "stiffness") if not (isinstance(limits, dict) and key in limits)}
        new = replace(new, **kept)
    elements[f"{place.name}.limit"] = new


def change_element(b: Editing, name: str, fields: Mapping[str, Any]) -> None:
    b._elements[name] = with_arguments(look_up(name, b._elements, "element"), name, fields)


def replace_element(b: Editing, name: str, element: Any) -> None:
    look_up(name, b._elements, "element")
    if not isinstance(element, Force | Constraint):
        raise ModelError(f"'{name}': {element!r} is neither a force nor a constraint; bodies and joints have change_body and change_joint")
    b._elements[name] = element


def rename(b: Editing, bodies: dict[str, str], joints: dict[str, str], elements: dict[str, str], deformables: dict[str, str]) -> None:
    """Names of everything at once, so that two may change places."""
    for old in deformables:
        look_up(old, b._deformables, "deformable")
    if "world" in bodies:
        raise ModelError("body 'world' is the ground and keeps its name; give another body")
    for new_names, known, what in ((bodies, b._bodies, "body"), (joints, _known(b), "joint"), (elements, b._elements, "element")):
        for old in new_names:
            look_up(old, known, what)
        for new in new_names.values():
            check_new(new, (), what)
    elements = {**_named_after(b, joints), **elements}
    taken: list[set[str]] = []
    for new_names, known, what in ((bodies, b._bodies, "body"), (joints, _known(b), "joint"), (elements, b._elements, "element")):
        taken.append(set())
        for old in known:
            check_new(new_names.get(old, old), taken[-1], what)
            taken[-1].add(new_names.get(old, old))
    for old in b._deformables:
        check_new(deformables.get(old, old), taken[0], "deformable")
        taken[0].add(deformables.get(old, old))
    parts = renamed_parts(b, bodies, deformables)
    put_in(b, *relabelled(b, {**bodies, **point_names(b, deformables)}, joints, elements))
    put_deformables(b, parts)


def _named_after(b: Editing, joints: Mapping[str, str]) -> dict[str, str]:
    """Elements `<joint>.<word>` on a joint or part that gets another name."""
    out = {}
    for name, element in b._elements.items():
        for joint in sorted(element.joints(), key=len, reverse=True):
            parts = b._joints[joint].parts if joint in b._joints else ()
            named = next((n for n in (joint, *parts) if name.startswith(f"{n}.") and n in joints), None)
            if named is not None:
                out[name] = joints[named] + name[len(named) :]
                break
    return out


def relabelled(
    b: Editing, bodies: Mapping[str, str], joints: Mapping[str, str], elements: Mapping[str, str]
) -> tuple[dict[str, BodyInfo], dict[str, AskedJoint], dict[str, Any]]:
    """Bodies, joints and elements of a Builder under other names."""
    new_bodies = {bodies.get(n, n): replace(body, name=bodies.get(n, n)) for n, body in b._bodies.items()}
    new_joints = {}
    for n, j in b._joints.items():
        parts = tuple(joints.get(p, p) for p in j.parts)
        parent, child = bodies.get(j.parent, j.parent), bodies.get(j.child, j.child)
        new_joints[joints.get(n, n)] = replace(j, name=joints.get(n, n), parent=parent, child=child, parts=parts)
    implicit = {n: new for n, new in bodies.items() if n not in b._joints}  # an element may name the implicit joint of a body
    joints = {**implicit, **joints}
    new_elements = {elements.get(n, n): renamed(e, n, bodies, joints) for n, e in b._elements.items()}
    with_origin(b, keyframes=renamed_keyframes(b, joints))
    return new_bodies, new_joints, new_elements


def renamed_keyframes(b: Editing, joints: Mapping[str, str]) -> dict[str, Any]:
    return {key: {joints.get(n, n): state for n, state in states.items()} for key, states in b._origin.keyframes.items()}


def put_in(b: Editing, bodies: dict[str, BodyInfo], joints: dict[str, AskedJoint], elements: dict[str, Any]) -> None:
    """Take these for all that the Builder holds."""
    b._bodies, b._joints, b._elements = bodies, joints, elements
    b._parts = {part: name for name, j in joints.items() for part in j.parts}

