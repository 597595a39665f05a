"""The text form of a model: every body, joint and element as plain data that JSON can hold, and back. It is what scene files hold (the
format is published in docs/schema) and what recordings carry in their heads.

    {"world": {"gravity": […], "planar": false}, "bodies": [{"name": …}, …], "joints": [{"name": …, "type": …}, …],
     "elements": [{"name": …, "type": …}, …]}

Written is what the Builder was told, not what it made of it, and it is told the same again when reading: nothing drifts. People may write
less than we do: all but names and types has the Builder's defaults, and bodies may be given by shapes and density.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from unibody import constraints, energies, forces, joints, meshes, shapes
from unibody.constraints.base import Constraint
from unibody.energies.base import Energy
from unibody.errors import ModelError
from unibody.forces import Gravity
from unibody.forces.base import Force
from unibody.joints import Joint
from unibody.model.builder import Builder
from unibody.model.deformable_text import DEFORMABLES, deformables_to_text
from unibody.model.model import Model
from unibody.model.reading import Reader
from unibody.model.trust import Trust
from unibody.model.values import Writer, complaint, entry_of, numbers, shown
from unibody.shapes import ContactMaterial, Placed, Shape
from unibody.spatial.moved import Moved, MovedPlaces
from unibody.spatial.table import Table

MODEL = ("world", "bodies", "joints", "elements", *DEFORMABLES)
WORLD = ("gravity", "planar", "normal")
BODY = ("name", "kind", "mass", "com", "inertia", "density", "shape", "shapes", "X_WB", "V_WB", "motion")
JOINT = (
    "name", "type", "parent", "child", "X_PF", "X_BM", "q", "v", "armature", "effort_limit", "stiffness", "damping", "rest", "limits",
    "parts",
)  # fmt: skip
ELEMENT = ("name", "type")
SHAPE = ("type", "X_BS", "colour", "visible", "solid", "material")
NORMAL = (0.0, -1.0, 0.0)


def _classes(*packages: tuple[ModuleType, type]) -> dict[str, type]:
    """The element classes that packages export, by name."""
    found = ((name, getattr(package, name), base) for package, base in packages for name in getattr(package, "__all__", ()))
    return {name: cls for name, cls, base in found if inspect.isclass(cls) and issubclass(cls, base) and cls is not base}


CLASSES = {
    **_classes((joints, Joint), (forces, Force), (constraints, Constraint), (shapes, Shape), (energies, Energy), (meshes, object)),
    "ContactMaterial": ContactMaterial, "Moved": Moved, "MovedPlaces": MovedPlaces, "Table": Table,
    "Pulley": forces.Pulley, "TendonWrap": forces.TendonWrap,
}  # fmt: skip
"""The classes that a file names by their bare names."""


def model_to_text(model: Model, strict: bool = False) -> dict[str, Any]:
    """Plain data from which `model_from_text` builds the same model. Functions that cannot be found again by their name are noted, so that
    reading refuses them, or refused here if `strict`."""
    d, writer = model.description, Writer(CLASSES, strict)
    elements = dict(d["elements"])
    first = next(iter(elements.items()), ("", None))
    usual = first[0] == "gravity" and type(first[1]) is Gravity
    gravity = elements.pop("gravity").g if usual else None
    return {
        "world": {"gravity": writer.plain(gravity, "gravity"), "planar": d["plane_normal"] is not None,
                  "normal": writer.plain(d["plane_normal"], "normal")},
        "bodies": [_body_to_text(body, writer) for name, body in d["bodies"].items() if name != "world"],
        "joints": [_joint_to_text(joint, writer) for joint in d["joints"].values()],
        "elements": [{"name": name, **writer.element(e, f"'{name}'", ELEMENT)} for name, e in elements.items()],
        **deformables_to_text(d, writer),
    }  # fmt: skip


def model_from_text(text: Any, where: str, trust: bool | Sequence[str] = ()) -> Model:
    """The model again; `trust` says whose code the text may name, see `unibody.model.trust`."""
    reader = Reader(CLASSES, Trust(trust))
    entry = entry_of(text, MODEL, (), where)
    b = _world_from_text(entry.get("world", {}), f"{where}: world")
    readers: dict[str, Callable[..., None]] = {"bodies": _read_body, "joints": _read_joint, **DEFORMABLES, "elements": _read_element}
    for what, read in readers.items():
        for k, item in enumerate(_list_of(entry.get(what, []), f"{where}: {what}")):
            if not isinstance(item, dict):
                raise ModelError(f"{where}: {what}[{k}] {shown(item)} is not an object; give {{ … }}")
            name = item.get("name")
            place = f"{where}: {what}[{k}]"
            located = f"{place} '{name}'" if isinstance(name, str) else place
            if what in DEFORMABLES:
                _attempt(partial(read, b, item, located, reader), place)
            else:
                read(b, item, located, place, reader)
    return _attempt(b.build, where)


def element_to_text(element: Any, known: Mapping[str, type] = CLASSES) -> dict[str, Any]:
    """Plain data of one element, a solver for instance."""
    return Writer(known).element(element, type(element).__name__)


def element_from_text(
    text: Any, where: str, known: Mapping[str, type] = CLASSES, trust: bool | Sequence[str] = (), base: Any = object
) -> Any:
    """The element again, of a class derived from `base`."""
    return Reader(known, Trust(trust)).element(text, where, base)


def _body_to_text(body: Any, writer: Writer) -> dict[str, Any]:
    what = f"body '{body.name}'"
    out = {
        "name": body.name, "kind": body.kind, "mass": writer.plain(body.mass, what), "com": body.com.tolist(),
        "inertia": body.inertia.tolist(), "shapes": [_shape_to_text(s, what, writer) for s in body.shapes],
        "X_WB": writer.plain(body.X_WB, what), "V_WB": writer.plain(body.V_WB, what),
    }  # fmt: skip
    return out if body.motion is None else {**out, "motion": writer.plain(body.motion, what)}


def _shape_to_text(placed: Placed, what: str, writer: Writer) -> dict[str, Any]:
    out = writer.element(placed.shape, what, SHAPE)
    for key in SHAPE[1:-1]:
        out[key] = writer.plain(getattr(placed, key), what)
    return out if placed.material is None else {**out, "material": writer.plain(placed.material, what)}


def _joint_to_text(joint: Any, writer: Writer) -> dict[str, Any]:
    what = f"joint '{joint.name}'"
    ends = {"parent": joint.parent, "child": joint.child}
    rest = ("X_PF", "X_BM", "q", "v", "armature", "effort_limit")
    held = {key: getattr(joint, key) for key in rest}
    numbers_too = {key: writer.plain(value if key.startswith("X") else tuple(value.tolist()), what) for key, value in held.items()}
    named = {"parts": list(joint.parts)} if joint.parts else {}
    return {"name": joint.name, **writer.element(joint.element, what, JOINT), **ends, **numbers_too, **named}


def _world_from_text(data: Any, place: str) -> Builder:
    entry = entry_of(data, WORLD, (), place)
    planar, normal, gravity = entry.get("planar", False), entry.get("normal"), entry.get("gravity")
    if not isinstance(planar, bool):
        raise ModelError(f"{place}: planar {shown(planar)} is neither true nor false")
    if normal is not None and not planar:
        raise ModelError(f"{place}: a normal in a world that is not planar; give \"planar\": true, or leave it out")
    told = {"gravity": _maybe(gravity, f"{place} gravity"), "normal": NORMAL if normal is None else numbers(normal, f"{place} normal")}
    return _attempt(lambda: Builder(planar=planar, **told), place)


def _read_body(b: Builder, data: dict[str, Any], place: str, number: str, reader: Reader) -> None:
    entry = entry_of(data, BODY, ("name",), place)
    if "shape" in entry and "shapes" in entry:
        raise ModelError(f"{place}: both shape and shapes; give one of them")
    if "density" in entry and ("com" in entry or "inertia" in entry):
        raise ModelError(f"{place}: density beside com or inertia says nothing; leave it out, or those")
    plain = ("density", "mass", "com", "inertia", "V_WB")
    told: dict[str, Any] = {key: _maybe(entry[key], f"{place} {key}") for key in plain if key in entry}
    given = [entry["shape"]] if "shape" in entry else _list_of(entry.get("shapes", []), f"{place} shapes")
    told["shape"] = [_shape_from_text(s, f"{place} shapes[{k}]", reader) for k, s in enumerate(given)]
    if entry.get("X_WB") is not None:
        told["X_WB"] = reader.pose(entry["X_WB"], f"{place} X_WB")
    if entry.get("motion") is not None:
        told["motion"] = reader.value(entry["motion"], f"{place} motion")
        if not callable(told["motion"]):
            raise ModelError(f"{place}: motion {shown(told['motion'])} is not a function of time; give {{\"function\": \"module:name\"}}")
    _attempt(lambda: b.body(entry["name"], kind=entry.get("kind", "dynamic"), **told), number)


def _shape_from_text(data: Any, place: str, reader: Reader) -> Placed:
    if not isinstance(data, dict):
        raise ModelError(f"{place}: {shown(data)} is no shape; give {{\"type\": \"Sphere\", \"radius\": 0.1}}")
    shape = reader.element(data, place, Shape, SHAPE)
    pose = reader.pose(data.get("X_BS") or {}, f"{place} X_BS")
    colour = _maybe(data.get("colour"), f"{place} colour")
    look = {key: data.get(key, True) for key in ("visible", "solid")}
    for key, value in look.items():
        if not isinstance(value, bool):
            raise ModelError(f"{place}: {key} {shown(value)} is neither true nor false")
    material = _material(data.get("material"), f"{place} material", reader)
    return _attempt(lambda: Placed(shape, pose, colour, **look, material=material), place)


def _material(data: Any, place: str, reader: Reader) -> ContactMaterial | None:
    """Its type need not be said: there is one only."""
    given = {"type": "ContactMaterial", **data} if isinstance(data, dict) else data
    return None if data is None else reader.element(given, place, ContactMaterial)


def _read_joint(b: Builder, data: dict[str, Any], place: str, number: str, reader: Reader) -> None:
    for key in ("name", "type", "parent", "child"):
        if key not in data:
            raise ModelError(f"{place}: no '{key}'; give it")
    joint = reader.element(data, place, Joint, JOINT)
    told: dict[str, Any] = {key: reader.pose(data[key], f"{place} {key}") for key in ("X_PF", "X_BM") if data.get(key) is not None}
    plain = ("q", "v", "armature", "effort_limit", "stiffness", "damping", "rest", "limits")
    told |= {key: numbers(data[key], f"{place} {key}") for key in plain if data.get(key) is not None}
    if data.get("parts") is not None:
        told["parts"] = _list_of(data["parts"], f"{place} parts")
    _attempt(lambda: b.joint(data["name"], joint, data["parent"], data["child"], **told), number)


def _read_element(b: Builder, data: dict[str, Any], place: str, number: str, reader: Reader) -> None:
    element = reader.element(data, place, Force | Constraint, ELEMENT)
    _attempt(lambda: b.add(element, name=data.get("name")), number)


def _list_of(data: Any, place: str) -> list[Any]:
    if not isinstance(data, list):
        raise ModelError(f"{place}: {shown(data)} is not a list; give [ … ]")
    return data


def _maybe(data: Any, place: str) -> Any:
    return None if data is None else numbers(data, place)


def _attempt(act: Any, place: str) -> Any:
    """What `act` gives; what it refuses is told with its place."""
    try:
        return act()
    except ModelError as error:
        raise ModelError(f"{place}: {complaint(error)}") from None
    except (TypeError, ValueError, ArithmeticError, AttributeError, LookupError) as error:
        raise ModelError(f"{place}: {complaint(error)}; correct the values") from None
