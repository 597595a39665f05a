"""The text form of deformables, part of that of models (`unibody.model.text`). A model without any says nothing of them.

    "deformables": [{"name": "flag", "kind": "cloth", "mesh": {"type": "TriMesh", …}, "material": {"type": "Fabric", …}, "density": 470, …}]
    "attachments": [{"name": "flag.attach.0", "deformable": "flag", "vertices": [0, 9], "body": "hull"},
                    {…, "points": ["flag.face[12](0.2, 0.3, 0.5)"]}]
    "prescribed":  [{"name": "flag.prescribe.0", "deformable": "flag", "vertices": [3], "motion": {"type": "Table", …}}]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.meshes import RodMesh, TetMesh, TriMesh
from unibody.model.builder import Builder
from unibody.model.checking import check_new
from unibody.model.deformable_points import Vertices
from unibody.model.model import look_up
from unibody.model.reading import Reader
from unibody.model.values import Writer, entry_of, numbers, shown

DEFORMABLE = ("name", "kind", "mesh", "material", "density", "X_WB", "V_WB", "start", "pressure", "look", "mass")
ATTACHMENT = ("name", "deformable", "vertices", "body", "points", "at")
PRESCRIBED = ("name", "deformable", "vertices", "motion")
MESHES: dict[str, type] = {"soft": TetMesh, "cloth": TriMesh, "rod": RodMesh}
"""Of a kind of deformable the class of its mesh."""


def deformables_to_text(description: Mapping[str, Any], writer: Writer) -> dict[str, Any]:
    """The entries of all that there are."""
    written: dict[str, Callable[[Any, Writer], dict[str, Any]]] = {
        "deformables": _deformable, "attachments": _attachment, "prescribed": _prescribed,
    }  # fmt: skip
    return {what: [write(x, writer) for x in description[what].values()] for what, write in written.items() if description.get(what)}


def _deformable(asked: Any, writer: Writer) -> dict[str, Any]:
    what = f"{asked.kind} '{asked.name}'"
    out = {
        "name": asked.name, "kind": asked.kind, "mesh": writer.element(asked.mesh, what), "material": writer.element(asked.material, what),
        "density": writer.plain(asked.density, what), "X_WB": writer.plain(asked.X_WB, what), "V_WB": writer.plain(asked.V_WB, what),
    }  # fmt: skip
    told = {"start": asked.start, "pressure": asked.pressure or None, "look": asked.look}
    told["mass"] = None if asked.mass == "lumped" else asked.mass
    return out | {key: writer.plain(value, what) for key, value in told.items() if value is not None}


def _attachment(asked: Any, writer: Writer) -> dict[str, Any]:
    what = f"attachment '{asked.name}'"
    out: dict[str, Any] = {"name": asked.name, "deformable": asked.deformable, "vertices": writer.plain(asked.vertices, what)}
    out |= {"body": asked.body} if asked.body else {"points": list(asked.points)}
    return out if asked.at is None else {**out, "at": writer.plain(asked.at, what)}


def _prescribed(asked: Any, writer: Writer) -> dict[str, Any]:
    what = f"prescribed '{asked.name}'"
    out: dict[str, Any] = {"name": asked.name, "deformable": asked.deformable, "vertices": writer.plain(asked.vertices, what)}
    return out if asked.motion is None else {**out, "motion": writer.plain(asked.motion, what)}


def _read_deformable(b: Builder, data: dict[str, Any], place: str, reader: Reader) -> None:
    entry = entry_of(data, DEFORMABLE, ("name", "kind", "mesh", "material", "density"), place)
    kind = entry["kind"]
    if not isinstance(kind, str) or kind not in MESHES:
        raise ModelError(f"{place}: kind {shown(kind)} is unknown; give one of {', '.join(MESHES)}")
    told: dict[str, Any] = {"density": numbers(entry["density"], f"{place} density")}
    told["material"] = reader.element(entry["material"], f"{place} material")
    mesh = reader.element(entry["mesh"], f"{place} mesh", MESHES[kind])
    if entry.get("X_WB") is not None:
        told["X_WB"] = reader.pose(entry["X_WB"], f"{place} X_WB")
    for key in ("V_WB", "start", "pressure"):
        if entry.get(key) is not None:
            told[key] = reader.value(entry[key], f"{place} {key}")
    if "pressure" in told and kind != "cloth":
        raise ModelError(f"{place}: pressure is for cloth that is closed, and this is a {kind}; leave it out")
    if entry.get("mass") is not None:
        told["mass"] = entry["mass"]
    handle = getattr(b, kind)(entry["name"], mesh, **told)
    if entry.get("look") is not None:
        handle.embed(reader.element(entry["look"], f"{place} look"))


def _read_attachment(b: Builder, data: dict[str, Any], place: str, reader: Reader) -> None:
    entry = entry_of(data, ATTACHMENT, ("name", "deformable", "vertices"), place)
    chosen = _vertices(b, entry, place, reader)
    body, points = entry.get("body", ""), entry.get("points", [])
    if (body == "") == (points == []) or not isinstance(body, str) or not _texts(points):
        raise ModelError(f"{place}: body {shown(body)} and points {shown(points)}; give the name of a body, or a list of names of points")
    at = None if entry.get("at") is None else reader.value(entry["at"], f"{place} at")
    check_new(entry["name"], {**b._attachments, **b._prescribed}, "attachment")
    b._attach(entry["name"], chosen.deformable, chosen.index, body, tuple(points), at)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(x, str) for x in value)


def _read_prescribed(b: Builder, data: dict[str, Any], place: str, reader: Reader) -> None:
    entry = entry_of(data, PRESCRIBED, ("name", "deformable", "vertices"), place)
    motion = None if entry.get("motion") is None else reader.value(entry["motion"], f"{place} motion")
    b.prescribe(_vertices(b, entry, place, reader), motion, name=entry["name"])


def _vertices(b: Builder, entry: Mapping[str, Any], place: str, reader: Reader) -> Vertices:
    """The vertices that an entry names, all of them there."""
    owner = entry["deformable"]
    asked = look_up(owner if isinstance(owner, str) else shown(owner), b._deformables, f"{place}: deformable")
    given, n = np.asarray(reader.value(entry["vertices"], f"{place} vertices")), len(asked.mesh.vertices)
    if given.ndim != 1 or not given.size or given.dtype.kind not in "iu" or (given < 0).any() or (given >= n).any():
        raise ModelError(f"{place}: vertices {shown(entry['vertices'])} are not all vertices of '{owner}'; give a list of 0 … {n - 1}")
    return Vertices(asked.name, given.astype(np.int64))


DEFORMABLES: dict[str, Callable[[Builder, dict[str, Any], str, Reader], None]] = {
    "deformables": _read_deformable, "attachments": _read_attachment, "prescribed": _read_prescribed,
}  # fmt: skip
"""The lists of a text that speak of deformables, and how an entry of each is told to a Builder."""
