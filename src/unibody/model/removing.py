"""Removing bodies, joints and elements from a Builder, with everything that would refer to what is gone.

What stays, stays where it was: a body whose joint is gone starts at the pose and with the twist it had, and a joint that has closed a loop
and now carries a body starts where the loop had put it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from unibody.constraints import Contact
from unibody.errors import ModelError
from unibody.model.builder import Builder
from unibody.model.changes import put_in
from unibody.model.deformable_editing import owner_of, parts_without, put_deformables
from unibody.model.editing import Editing, Removed, skeleton, with_origin
from unibody.model.model import look_up
from unibody.model.renaming import with_arguments


def remove_any(b: Editing, name: str) -> Removed:
    kinds: dict[str, dict[str, Any]] = {"body": b._bodies, "joint": {**b._joints, **b._parts}, "element": b._elements}
    kinds |= {"deformable": b._deformables, "attachment": {**b._attachments, **b._prescribed}}
    found = [kind for kind, things in kinds.items() if name in things]
    if len(found) > 1:
        calls = " or ".join(f"remove_{kind}" for kind in found)
        raise ModelError(f"'{name}' is the name of a {' and of a '.join(found)}; say which: {calls}")
    if not found:
        what = "body, joint, element, deformable or attachment" if b._deformables else "body, joint or element"
        look_up(name, {n: None for things in kinds.values() for n in things}, what)
    return getattr(b, f"remove_{found[0]}")(name)


def remove_body(b: Editing, name: str, with_children: bool = False) -> Removed:
    look_up(name, b._bodies, "body")
    if name == "world":
        raise ModelError("body 'world' is the ground and stays; give another body")
    children: dict[str, list[str]] = {}
    for child, joint in _tree(b).items():
        if not joint.implicit:
            children.setdefault(joint.parent, []).append(child)
    gone, stack = [], [name]
    while stack:
        gone.append(stack.pop())
        stack += reversed(children.get(gone[-1], []))
    if not isinstance(with_children, bool):
        raise ModelError(f"remove_body: with_children {with_children!r} is neither True nor False; give one of them")
    if len(gone) > 1 and not with_children:
        carried = ", ".join(f"'{n}'" for n in gone[1:4]) + (f" and {len(gone) - 4} more" if len(gone) > 4 else "")
        raise ModelError(f"body '{name}' carries {carried}, left without it; give with_children=True, or join them to others first")
    joints = [n for n, j in b._joints.items() if j.parent in gone or j.child in gone]
    return _without(b, gone, joints)


def remove_joint(b: Editing, name: str) -> Removed:
    if name in b._parts:
        whole = b._parts[name]
        raise ModelError(f"joint '{name}' is a part of '{whole}'; remove that, or change it by change_joint('{whole}', joint=…)")
    look_up(name, b._joints, "joint")
    return _without(b, [], [name])


def remove_deformable(b: Editing, name: str) -> Removed:
    look_up(name, b._deformables, "deformable")
    parts, lost = parts_without(b, (name,))
    points = [body for e in b._elements.values() for body in e.bodies() if body not in b._bodies and owner_of(body) == name]
    left = {n: _shorter(e, n, (name, *points), (), b._elements.values()) for n, e in b._elements.items()}
    b._elements = {n: e for n, e in left.items() if e is not None}
    put_deformables(b, parts)
    return Removed(elements=tuple(n for n, e in left.items() if e is None), deformables=(name,), attachments=lost)


def _tree(b: Editing) -> dict[str, Any]:
    """Each body's joint to its parent."""
    bare = Builder(gravity=None)
    bare._bodies, bare._joints, bare._plane = b._bodies, b._joints, b._plane
    return bare._span(dict(b._joints))


def _without(b: Editing, bodies: Collection[str], joints: Collection[str]) -> Removed:
    before, placed = _tree(b), skeleton(b)
    named = {*joints, *(part for n in joints for part in b._joints[n].parts), *(n for n in bodies if n not in b._joints)}
    left: dict[str, Any] = {}
    removed: list[str] = []
    for name, element in b._elements.items():
        kept = _shorter(element, name, bodies, named, b._elements.values())
        if kept is None:
            removed.append(name)
        else:
            left[name] = kept
    after = Builder(gravity=None)
    after._plane = b._plane
    after._bodies = {n: body for n, body in b._bodies.items() if n not in bodies}
    after._joints = {n: j for n, j in b._joints.items() if n not in joints}
    for body, joint in _tree(after).items():
        if not joint.implicit and before[body].name != joint.name:  # a loop that now carries: where the loop had put it
            fitted = placed.joint(joint.name)
            after._joints[joint.name] = replace(joint, q=fitted.q0, v=fitted.v0)
        elif joint.implicit and not before[body].implicit and joint.element.nv:
            info = placed.bodies[placed.body(body)]
            after._bodies[body] = replace(after._bodies[body], X_WB=info.X_WB, V_WB=info.V_WB)
    put_in(b, after._bodies, after._joints, left)
    parts, lost = parts_without(b, bodies)
    put_deformables(b, parts)
    frames = {key: {n: s for n, s in states.items() if n not in named} for key, states in b._origin.keyframes.items()}
    with_origin(b, keyframes=frames)
    return Removed(tuple(bodies), tuple(joints), tuple(removed), (), lost)


def _shorter(element: Any, name: str, bodies: Collection[str], joints: Collection[str], others: Collection[Any]) -> Any:
    """The element if it refers to nothing that is gone; a Contact with what is left of its lists; else None."""
    if not any(n in bodies for n in element.bodies()) and not any(n in joints for n in element.joints()):
        return element
    if not isinstance(element, Contact) or element.between is None:
        return None
    sides = [tuple(n for n in ((side,) if isinstance(side, str) else side) if n not in bodies) for side in element.between]
    if not all(sides) or (sides[0] == sides[1] and len(sides[0]) == 1):
        return None
    shorter = with_arguments(element, name, {"between": tuple(sides)})
    if shorter.narrowness > element.narrowness:  # lists of one each: what another says of the same two has always held before it
        pair = set(shorter.between)
        if any(isinstance(o, Contact) and o.narrowness == 2 and set(o.between) == pair for o in others):
            return None
    return shorter
