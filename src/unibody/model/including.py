"""One model within another: all names with a prefix, and its world at a pose in one of our bodies.

With X the pose of its world in the host, and X_W that pose in our world at the start,

    joints at its world          hang on the host:  X_PF ← X X_PF, or X_BM ← X X_BM where its world is the child
    free and static bodies       X_WB ← X_W X_WB, twists turned with it;  driven ones: their motion too
    points, directions, planes   see `unibody.model.moving`

The host may move if nothing of the other model is held in the world by itself; static bodies then become part of it, with their shapes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from unibody.constraints import Contact
from unibody.element import is_word, name_of
from unibody.errors import ModelError
from unibody.forces import Gravity
from unibody.joints import Free
from unibody.model.builder import Builder
from unibody.model.changes import relabelled
from unibody.model.checking import check_new, checked_pose
from unibody.model.deformable_editing import moved_parts, parts_of, point_names, put_deformables, renamed_parts
from unibody.model.editing import Editing, copied, skeleton, with_origin
from unibody.model.model import BodyInfo, look_up
from unibody.model.moving import Host, is_house, moved, same_deeds
from unibody.model.posing import _still
from unibody.spatial.moved import HERE, moved_motion
from unibody.spatial.pose import Pose


def include(
    b: Editing, other: Any, prefix: str, at: Pose | None, parent: Any, gravity: str, contact: str | None, parameters: dict[str, Any]
) -> list[str]:
    guest = Builder.load(other, **parameters)
    if not isinstance(prefix, str):
        raise ModelError(f"include: prefix {prefix!r} is no text; give one such as 'left_'")
    _refuse_words(gravity, contact)
    _same_plane(b, guest)
    _same_gravity(b, guest, gravity)
    # everything under its new name
    host = _host(b, parent, checked_pose(at, "include at"))
    original = copied(guest)
    names = _prefixed(guest, prefix)
    soft = {n: prefix + n for n in guest._deformables}
    parts = renamed_parts(guest, names[0], soft, prefix)
    bodies, joints, elements = relabelled(guest, {**names[0], **point_names(guest, soft)}, *names[1:])
    del bodies["world"]
    _refuse_taken(b, {**bodies, **parts[0]}, joints, elements, "another" if prefix else "a", {**parts[1], **parts[2]})
    # what of both cannot be, and what of the guest becomes part of a host that moves
    ours, theirs = _contacts(b, elements, contact, bodies)
    hosts = [host, *_folded(bodies, joints, host)]
    base = _with_shapes(b._bodies[host.body], bodies, hosts[1:])
    folded = {h.world for h in hosts[1:]}
    hanging = {j.child for j in joints.values()}
    # all of it at its new place
    bodies = {name: _moved_body(body, host, name in hanging) for name, body in bodies.items() if name not in folded}
    elements = {name: e for name, e in elements.items() if name not in theirs}
    for place in hosts:
        joints = {name: _moved_joint(j, place) for name, j in joints.items()}
        elements = {name: moved(e, name, place) for name, e in elements.items()}
    parts = moved_parts(parts, host.X_W, host.body, host.X)
    # both as one, tried before it is taken
    out = copied(b, Builder)
    out._bodies, out._joints = {**b._bodies, host.body: base, **bodies}, {**b._joints, **joints}
    out._elements = {**{n: e for n, e in b._elements.items() if n not in ours}, **elements}
    out._parts = {**b._parts, **_parts(joints)}
    put_deformables(out, tuple({**ours, **theirs} for ours, theirs in zip(parts_of(b), parts, strict=True)))  # type: ignore[arg-type]
    _try(out, original, host, ({**names[0], **point_names(original, soft)}, *names[1:]), elements, folded)
    said = f"included {prefix!r}" if prefix else "included"
    notes = [f"{said}: {line}" for line in (*guest.left_out, *_notes(b, original, gravity, theirs, ours))]
    frames = {f"{prefix}{key}": _moved_states(joints, states, host) for key, states in guest._origin.keyframes.items()}
    for key, states in guest._origin.keyframes.items():
        if lost := [name for name in states if name not in frames[f"{prefix}{key}"]]:
            notes.append(f"{said}: keyframe '{key}': no coordinates of {', '.join(lost)} where the plane's origin is another")
    put_deformables(b, parts_of(out))
    b._bodies, b._joints, b._elements, b._parts = out._bodies, out._joints, out._elements, out._parts
    with_origin(b, left_out=(*b.left_out, *notes), keyframes={**frames, **b._origin.keyframes})
    return list(bodies)


def _refuse_taken(
    b: Editing, bodies: Mapping[str, Any], joints: Mapping[str, Any], elements: Mapping[str, Any], word: str, held: Mapping[str, Any]
) -> None:
    """Names that are ours already."""
    known: list[tuple[Mapping[str, Any], Mapping[str, Any], str]] = [
        (bodies, {**b._bodies, **b._deformables}, "body"), ({**joints, **_parts(joints)}, {**b._joints, **b._parts}, "joint"),
        (elements, b._elements, "element"), (held, {**b._attachments, **b._prescribed}, "attachment"),
    ]  # fmt: skip
    for new, taken, what in known:
        for name in new:
            if name in taken:
                raise ModelError(f"include: {what} '{name}' exists already; give {word} prefix=, such as prefix='second_'")
            check_new(name, (), what)


def _refuse_words(gravity: str, contact: str | None) -> None:
    if not is_word(gravity, ("same", "ours")):
        raise ModelError(f"include: gravity {gravity!r} is unknown; give 'same' or 'ours'")
    if contact is not None and not is_word(contact, ("ours", "theirs")):
        raise ModelError(f"include: contact {contact!r} is unknown; give 'ours' or 'theirs', or leave it out")


def _same_plane(b: Editing, guest: Editing) -> None:
    planes = [None if x._plane is None else tuple(np.round(x._plane[2], 12)) for x in (b, guest)]
    if planes[0] != planes[1]:
        words = ["in space" if p is None else f"in the plane with normal {tuple(float(x) for x in p)}" for p in planes]
        raise ModelError(f"include: one model moves {words[0]} and the other {words[1]}; include a model of the same kind")


def _gravity_of(b: Editing) -> np.ndarray:
    return sum((np.array(e.g, float) for e in b._elements.values() if isinstance(e, Gravity)), np.zeros(3))


def _same_gravity(b: Editing, guest: Editing, gravity: str) -> None:
    ours, theirs = _gravity_of(b), _gravity_of(guest)
    if gravity == "same" and not np.array_equal(ours, theirs):
        shown = [f"({', '.join(f'{x:g}' for x in g)})" for g in (ours, theirs)]
        raise ModelError(f"include: gravity is {shown[0]} here and {shown[1]} there; make them equal, or give gravity='ours'")


def _host(b: Editing, parent: Any, X: Pose) -> Host:
    name = "world" if parent is None else name_of(parent, "include parent")
    look_up(name, b._bodies, "include parent: body")
    if name == "world":
        return Host("world", X, X)
    model = skeleton(b)
    number = model.body(name)
    return Host(name, X, model.bodies[number].X_WB @ X if _still(model, number) else None)


def _at_start(b: Editing, host: Host) -> Pose:
    """X_W at the start, whether the host moves or not."""
    if host.X_W is not None:
        return host.X_W
    model = skeleton(b)
    return model.bodies[model.body(host.body)].X_WB @ host.X


def _prefixed(guest: Editing, prefix: str) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """New names of bodies, joints (with their parts) and elements."""
    for name in [n for n, e in guest._elements.items() if isinstance(e, Gravity)]:
        del guest._elements[name]
    bodies = {name: prefix + name for name in guest._bodies if name != "world"}
    joints = {name: prefix + name for name in (*guest._joints, *guest._parts)}
    return bodies, joints, {name: prefix + name for name in guest._elements}


def _parts(joints: Mapping[str, Any]) -> dict[str, str]:
    return {part: name for name, j in joints.items() for part in j.parts}


def _contacts(b: Editing, elements: Mapping[str, Any], contact: str | None, bodies: Mapping[str, BodyInfo]) -> tuple[list[str], list[str]]:
    """Which of our Contacts and of theirs for all bodies to leave out."""
    ours, theirs = ([n for n, e in x.items() if isinstance(e, Contact) and e.between is None] for x in (b._elements, elements))
    if not theirs:
        return [], []
    if contact is not None:
        return (ours, []) if contact == "theirs" else ([], theirs)
    if ours and b._elements[ours[0]] == elements[theirs[0]]:
        return [], theirs
    remedy = "give contact='ours' or contact='theirs', whose then holds for all"
    if ours:
        mine, other = b._elements[ours[0]], elements[theirs[0]]
        fields = [f for f in mine.__dataclass_fields__ if getattr(mine, f) != getattr(other, f)]
        said = ", ".join(f"{f} {getattr(mine, f)!r} and {getattr(other, f)!r}" for f in fields)
        raise ModelError(f"include: '{ours[0]}' here and '{theirs[0]}' there are both for all bodies, and differ ({said}); {remedy}")
    if any(s.solid for n, body in b._bodies.items() for s in body.shapes):
        raise ModelError(f"include: '{theirs[0]}' is for all bodies and would let ours touch, which do not yet; {remedy}")
    return [], []


def _folded(bodies: Mapping[str, BodyInfo], joints: Mapping[str, Any], host: Host) -> list[Host]:
    """Static bodies of a world that goes into a body that moves: they become part of that body."""
    if host.X_W is not None:
        return []
    static = {n: body for n, body in bodies.items() if body.kind == "static"}
    for name, j in joints.items():
        if {j.parent, j.child} <= {"world", *static}:
            raise ModelError(f"include: joint '{name}' holds what stands still to what stands still, and cannot move; remove it first")
    return [Host(host.body, host.X @ body.X_WB, None, n) for n, body in static.items()]


def _with_shapes(base: BodyInfo, bodies: Mapping[str, BodyInfo], folded: list[Host]) -> BodyInfo:
    """The host with the shapes of static bodies that it takes; its mass stays."""
    more = [replace(s, X_BS=place.X @ s.X_BS) for place in folded for s in bodies[place.world].shapes]
    return replace(base, shapes=(*base.shapes, *more)) if more else base


def _moved_body(body: BodyInfo, host: Host, hangs: bool) -> BodyInfo:
    if host.nothing or host.X_W == HERE:
        return body
    if body.kind == "dynamic" and hangs:
        return body
    if host.X_W is None:
        what = "is not held by a joint" if body.kind == "dynamic" else f"is {body.kind}"
        remedy = "join it to something first, or include into what stands still"
        raise ModelError(f"include: body '{body.name}' {what} and cannot move with '{host.body}'; {remedy}")
    R = host.X_W.R
    turned = np.concatenate([R @ np.array(body.V_WB[:3]), R @ np.array(body.V_WB[3:])])
    V = tuple(turned.tolist()) if any(body.V_WB) else body.V_WB
    return replace(body, X_WB=host.X_W @ body.X_WB, V_WB=V, motion=moved_motion(body.motion, host.X_W, "pose"))


def _moved_joint(joint: Any, host: Host) -> Any:
    """A joint at its world, at the host."""
    frames = {"X_PF": joint.X_PF, "X_BM": joint.X_BM}
    ends = {"parent": joint.parent, "child": joint.child}
    for end, frame in (("parent", "X_PF"), ("child", "X_BM")):
        if ends[end] == host.world:
            ends[end] = host.body
            frames[frame] = frames[frame] if host.X == HERE else host.X @ frames[frame]
    return replace(joint, **ends, **frames)


def _try(
    out: Builder, original: Builder, host: Host, names: tuple[dict[str, str], ...], kept: Mapping[str, Any], folded: Collection[str]
) -> None:
    """Let classes of somebody's own prove that they were moved rightly."""
    foreign = {n: new for n, new in names[2].items() if new in kept and not is_house(kept[new]) and kept[new].bodies()}
    if host.nothing or not foreign:
        return
    before, after = original.build(), out.build()
    bodies = {n: new for n, new in names[0].items() if new not in folded and n in before._body_index}
    joints = {**names[1], **{n: new for n, new in bodies.items() if n in before._joint_index and n not in names[1]}}
    same_deeds(before, after, foreign, bodies, joints, _at_start(out, host), host.body)


def _notes(b: Editing, guest: Editing, gravity: str, theirs: list[str], ours: list[str]) -> list[str]:
    out = []
    if gravity == "ours" and not np.array_equal(_gravity_of(b), _gravity_of(guest)):
        out.append(f"gravity ({', '.join(f'{x:g}' for x in _gravity_of(guest))}) m/s²: ours holds")
    out += [f"'{name}': the Contact for all bodies of the model that it came into holds" for name in theirs]
    out += [f"'{name}': the Contact for all bodies of the included model holds" for name in ours]
    return out


def _moved_states(joints: Mapping[str, Any], states: Mapping[str, Any], host: Host) -> dict[str, Any]:
    """A keyframe; free bodies without a joint of their own have coordinates in the world."""
    out = dict(states)
    if host.X_W is None or host.X_W == HERE:
        return out
    for name, (q, v) in states.items():
        if name not in joints and np.size(q) == Free().nq:
            X = host.X_W @ Pose(q[:3], q[3:])
            out[name] = (np.concatenate([X.p, X.wxyz]), v)
        elif name not in joints and np.size(q):
            del out[name]
    return out
