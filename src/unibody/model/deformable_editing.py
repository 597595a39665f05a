"""Deformables that a Builder holds already: under other names, without what is gone, changed, and at another place.

Names of their points (`flag.vertex[3]`) follow the names of their deformables wherever elements and attachments hold them, and so do names
of attachments that were made of them (`flag.attach.0`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.model.builder import Builder
from unibody.model.checking import frozen
from unibody.model.deformable import AskedDeformable
from unibody.model.deformable_points import joined_name, split_name
from unibody.model.editing import DEFORMED, Editing
from unibody.model.model import Model, look_up
from unibody.spatial.moved import HERE, MovedPlaces
from unibody.spatial.pose import Pose

Parts = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]
"""Deformables, attachments and prescribed vertices by name."""


def parts_of(b: Editing) -> Parts:
    """What a Builder holds of deformables."""
    return b._deformables, b._attachments, b._prescribed


def put_deformables(b: Editing, parts: Parts) -> None:
    """Take these for all that the Builder holds of deformables."""
    for key, things in zip(DEFORMED, parts, strict=True):
        setattr(b, key, things)


def owner_of(name: str) -> str:
    """The deformable of a point's name; other names are their own."""
    parts = split_name(name)
    return name if parts is None else parts[0]


def renamed_point(name: str, names: Mapping[str, str]) -> str:
    """The name of a point, or of a deformable, under other names of deformables."""
    parts = split_name(name)
    if parts is None:
        return names.get(name, name)
    return joined_name(names.get(parts[0], parts[0]), *parts[1:])


def point_names(b: Editing, names: Mapping[str, str]) -> dict[str, str]:
    """Old → new, of the deformables and of all their points that elements name."""
    asked = {body for e in b._elements.values() for body in e.bodies() if body not in b._bodies and owner_of(body) in names}
    return {name: renamed_point(name, names) for name in (*names, *asked)}


def renamed_parts(b: Editing, bodies: Mapping[str, str], names: Mapping[str, str], prefix: str = "") -> Parts:
    """All of a Builder's deformables under other names of bodies and of deformables. Names of attachments get the prefix; without one,
    those made of a deformable's name follow it."""

    def held(name: str, deformable: str) -> str:
        follows = not prefix and deformable in names and name.startswith(f"{deformable}.")
        return names[deformable] + name[len(deformable) :] if follows else prefix + name

    def new(name: str) -> str:
        return names.get(name, name)

    deformables = {new(n): replace(d, name=new(n)) for n, d in b._deformables.items()}
    attachments = {}
    for n, a in b._attachments.items():
        points = tuple(renamed_point(p, names) for p in a.points)
        called = held(n, a.deformable)
        attachments[called] = replace(a, name=called, deformable=new(a.deformable), body=bodies.get(a.body, a.body), points=points)
    prescribed = {
        held(n, p.deformable): replace(p, name=held(n, p.deformable), deformable=new(p.deformable)) for n, p in b._prescribed.items()
    }
    return deformables, attachments, prescribed


def parts_without(b: Editing, gone: Collection[str]) -> tuple[Parts, tuple[str, ...]]:
    """What stays of the deformables when these bodies and deformables are gone, and the names of attachments and prescribed vertices that
    go with them."""
    lost = [n for n, a in b._attachments.items() if {a.deformable, a.body, *map(owner_of, a.points)} & set(gone)]
    lost += [n for n, p in b._prescribed.items() if p.deformable in gone]
    deformables = {n: d for n, d in b._deformables.items() if n not in gone}
    attachments = {n: a for n, a in b._attachments.items() if n not in lost}
    prescribed = {n: p for n, p in b._prescribed.items() if n not in lost}
    return (deformables, attachments, prescribed), tuple(lost)


def change_deformable(b: Editing, name: str, given: dict[str, Any]) -> None:
    """Told anew with what is given, so that everything is checked as on creation."""
    old: AskedDeformable = look_up(name, b._deformables, "deformable")
    told: dict[str, Any] = {key: getattr(old, key) for key in ("mesh", "material", "density", "X_WB", "V_WB", "start", "pressure")}
    if "mesh" in given:
        users = list(users_of(b, name))
        if users:
            said = ", ".join(f"'{user}'" for user in users[:4])
            raise ModelError(f"{old.kind} '{name}': another mesh numbers vertices anew, which {said} name; remove them first")
        told["start"] = None
    told |= given
    if old.kind != "cloth" and not told.pop("pressure"):
        told.pop("pressure", None)
    elif old.kind != "cloth":
        raise ModelError(f"{old.kind} '{name}': pressure is for cloth that is closed; leave it out")
    scratch = Builder(gravity=None)
    getattr(scratch, old.kind)(name, told.pop("mesh"), **told)
    look = None if "mesh" in given else old.look
    b._deformables = {n: replace(scratch._deformables[n], look=look) if n == name else d for n, d in b._deformables.items()}


def users_of(b: Editing, name: str) -> Iterator[str]:
    """What names vertices or points of a deformable."""
    yield from (n for n, a in b._attachments.items() if name in (a.deformable, *map(owner_of, a.points)))
    yield from (n for n, p in b._prescribed.items() if p.deformable == name)
    yield from (n for n, e in b._elements.items() if any(body not in b._bodies and owner_of(body) == name != body for body in e.bodies()))


def moved_parts(parts: Parts, X: Pose | None, host: str, X_H: Pose) -> Parts:
    """Deformables of a model whose world stands at X in ours, and at X_H in a body `host`; X None: the host moves."""
    deformables, attachments, prescribed = parts
    if X is None and deformables:
        first = next(iter(deformables))
        raise ModelError(f"include: deformable '{first}' cannot move with '{host}' at the start; include into what stands still")
    if X is None:
        return parts
    out = {n: _moved(d, X) for n, d in deformables.items()}
    held = {n: replace(a, body=host, at=_placed(a.at, X_H)) if a.body == "world" else a for n, a in attachments.items()}
    driven = {n: p if p.motion is None or X == HERE else replace(p, motion=MovedPlaces(p.motion, X)) for n, p in prescribed.items()}
    return out, held, driven


def _placed(at: np.ndarray | None, X: Pose) -> np.ndarray | None:
    return at if at is None or X == HERE else frozen(at @ X.R.T + np.array(X.p))


def _moved(asked: AskedDeformable, X: Any) -> AskedDeformable:
    if X == HERE:
        return asked
    V = np.array(asked.V_WB)
    turned = tuple(np.concatenate([X.R @ V[:3], X.R @ V[3:]]).tolist()) if V.any() else asked.V_WB
    return replace(asked, X_WB=X @ asked.X_WB, V_WB=turned)



def bodies_alone(model: Model) -> Model:
    """The model without its deformables and without elements on their points; the same model where there are none."""
    if not model.deformables:
        return model
    b = Builder.load(model)
    for name in list(b.deformables):
        b.remove_deformable(name)
    return b.build()
