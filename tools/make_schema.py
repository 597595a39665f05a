"""Writes docs/schema/scene-1.json: the JSON Schema (2020-12) of scene files, made from the element classes themselves.

    python tools/make_schema.py            write docs/schema/scene-1.json
    python tools/make_schema.py --check    exit with 1 if it is not what would be written

Arguments of constructors become properties; their type hints say what values they take. What is hinted `Any` takes any value that files
know; the element's own checks say more when the file is read.
"""

from __future__ import annotations

import inspect
import json
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

import numpy as np  # noqa: E402

from unibody.constraints.base import Constraint  # noqa: E402
from unibody.element import Point  # noqa: E402
from unibody.energies.base import Energy  # noqa: E402
from unibody.files.scene_json import VERSION  # noqa: E402
from unibody.forces.base import Force  # noqa: E402
from unibody.joints import Joint  # noqa: E402
from unibody.model.checking import KINDS  # noqa: E402
from unibody.model.deformable_text import ATTACHMENT, DEFORMABLE, MESHES, PRESCRIBED  # noqa: E402
from unibody.model.deforming import MASSES  # noqa: E402
from unibody.model.text import BODY, CLASSES, ELEMENT, JOINT, SHAPE, WORLD  # noqa: E402
from unibody.model.values import DTYPES, WORDS, arguments_of, key_of  # noqa: E402
from unibody.shapes import Placed, Shape  # noqa: E402
from unibody.simulation.whole_file import whole_text  # noqa: E402
from unibody.spatial.pose import Pose  # noqa: E402

PAGE = ROOT / "docs" / "schema" / f"scene-{VERSION}.json"
Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "minLength": 1}
NULL: Schema = {"type": "null"}
TRUTH: Schema = {"type": "boolean"}


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


NUMBER, VALUE = ref("number"), ref("value")


def several(item: Schema, count: int | None = None) -> Schema:
    return {"type": "array", "items": item} | ({} if count is None else {"minItems": count, "maxItems": count})


def either(*options: Schema) -> Schema:
    unique = [option for k, option in enumerate(options) if option not in options[:k]]
    return unique[0] if len(unique) == 1 else {"anyOf": unique}


def thing(properties: Schema, required: Sequence[str] = (), **more: Any) -> Schema:
    """An object with no properties but these."""
    return {**more, "type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def schema_of(hint: Any) -> Schema:
    """What a type hint says of a value in a file."""
    origin, options = get_origin(hint), get_args(hint)
    plain = {
        float: NUMBER, int: {"type": "integer"}, bool: TRUTH, str: ref("text"), type(None): NULL, Pose: ref("pose"), Point: ref("point"),
        np.ndarray: either(ref("array"), several(several(NUMBER))),
    }  # fmt: skip
    if hint in plain:
        return plain[hint]
    if origin in (Union, types.UnionType):
        return either(*map(schema_of, options))
    if origin is Literal:
        return {"enum": list(options)}
    if origin is tuple:
        alike = options[-1] is not Ellipsis and len(set(options)) == 1
        return several(schema_of(options[0]), len(options) if alike else None)
    if origin in (list, Sequence):
        return several(schema_of(options[0]))
    if origin is Callable or hint is Callable:
        return either(ref("function"), ref("Table"))
    if isinstance(hint, type) and issubclass(hint, Joint):
        return ref("part")
    return VALUE


def hints_of(cls: type) -> dict[str, Any]:
    """Type hints, with those names that a module imports for the type checker alone."""
    known = {"Pose": Pose, "Point": Point}
    return get_type_hints(cls, localns=known)


def element(cls: type, entry: Schema, taken: Sequence[str]) -> Schema:
    """The entry of one class: its arguments beside the keys of the entry."""
    hints, properties, needed = hints_of(cls), {}, []
    for argument, (name, parameter) in arguments_of(cls).items():
        key = key_of(argument, taken)
        hint = hints.get(name, Any)
        mixed = get_origin(hint) is tuple and get_args(hint)[-1] is Ellipsis and get_origin(get_args(hint)[0]) is tuple
        wide = name != argument or hint is Any or mixed  # pairs (joint, dof), and what its constructor understands beside it
        properties[key] = VALUE if wide else schema_of(hint)
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL:
            needed.append(key)
    told = " ".join((inspect.getdoc(cls) or "").split(">>>")[0].split())
    required = [key for key in ("name", "parent", "child") if key in entry and "parent" in entry]
    return thing({**entry, "type": {"const": cls.__name__}, **properties}, ["type", *required, *needed], description=told)


def foreign(entry: Schema, required: Sequence[str]) -> Schema:
    """The entry of a class that is not one of this package; its arguments are its own business."""
    kind = {"type": "string", "pattern": "^[^:]+:[^:]+$"}
    told = "A class of somebody's own, module:Name; read only where the module is trusted."
    return {"description": told, "type": "object", "properties": {**entry, "type": kind}, "required": ["type", *required]}


def values() -> Schema:
    """Everything that may stand for an argument."""
    pose, point = {"p": several(NUMBER, 3), "wxyz": several(NUMBER, 4)}, {"body": NAME, "p": several(NUMBER, 3)}
    dtype = {"enum": list(DTYPES)}
    shape = several({"type": "integer", "minimum": 0})
    items = several(VALUE)
    return {
        "number": {"description": "A number; those that are not finite in words.", "anyOf": [{"type": "number"}, {"enum": list(WORDS)}]},
        "numbers": either(NUMBER, several(ref("numbers"))),
        "text": either(TEXT, thing({"text": TEXT}, ["text"], description="A text that would read as a number: inf, -inf, nan.")),
        "pose": thing(pose, description="Position [m] and unit quaternion of a frame; identity where left out."),
        "point": thing(point, ["body"], description="A point [m] fixed in a body, in its axes."),
        "array": either(
            thing({"array": items, "dtype": dtype, "shape": shape}, ["array", "dtype"]),
            thing({"base64": {**TEXT, "contentEncoding": "base64"}, "dtype": dtype, "shape": shape}, ["base64", "dtype", "shape"],
                  description="Little-endian, row by row."),
        ),
        "function": thing({"function": {"type": "string", "pattern": "^[^:]+:[^:]+$"}}, ["function"],
                          description="A function in Python, module:name; read only where the module is trusted."),
        "table": thing({"times": several(NUMBER), "values": items}, ["times", "values"], description="A motion: values at times [s]."),
        "part": either(*(ref(f"part.{n}") for n in of(Joint)), foreign({}, [])),
        "value": either(
            NULL, TRUTH, NUMBER, TEXT, items, *(ref(n) for n in ("text", "pose", "point", "array", "function", "table", "part")),
            ref("Table"), ref("Moved"), ref("MovedPlaces"), ref("ContactMaterial"), ref("Pulley"), ref("TendonWrap"),
            thing({"list": items}, ["list"], description="A Python list; bare lists are tuples."),
            thing({"dict": several(several(VALUE, 2))}, ["dict"]),
        ),
        "Table": element(CLASSES["Table"], {}, ("type",)),
        "Moved": element(CLASSES["Moved"], {}, ("type",)),
        "MovedPlaces": element(CLASSES["MovedPlaces"], {}, ("type",)),
        "Pulley": element(CLASSES["Pulley"], {}, ("type",)),
        "TendonWrap": element(CLASSES["TendonWrap"], {}, ("type",)),
        "ContactMaterial": {**element(CLASSES["ContactMaterial"], {}, ("type",)), "required": []},
    }  # fmt: skip


def of(*bases: type) -> list[str]:
    return sorted(name for name, cls in CLASSES.items() if issubclass(cls, bases))


def schema() -> Schema:
    numbers, pose = ref("numbers"), either(ref("pose"), NULL)
    shape = {"X_BS": pose, "colour": either(several(NUMBER), NULL), "visible": TRUTH, "solid": TRUTH}
    shape["material"] = either(ref("ContactMaterial"), NULL)
    joint = {"name": NAME, "parent": NAME, "child": NAME, "X_PF": pose, "X_BM": pose} | {key: either(numbers, NULL) for key in JOINT[6:-1]}
    joint |= {"parts": several(NAME)}
    body = {
        "name": NAME, "kind": {"enum": list(KINDS)}, "mass": either(NUMBER, NULL), "com": either(several(NUMBER, 3), NULL),
        "inertia": either(several(NUMBER, 3), several(several(NUMBER, 3), 3), NULL), "density": either(NUMBER, NULL), "shape": ref("shape"),
        "shapes": several(ref("shape")), "X_WB": pose, "V_WB": either(several(NUMBER, 6), NULL), "motion": either(VALUE, NULL),
    }  # fmt: skip
    world = {"gravity": either(several(NUMBER, 3), NULL), "planar": TRUTH, "normal": either(several(NUMBER, 3), NULL)}
    entry = {"name": NAME}
    vertices = either(several({"type": "integer", "minimum": 0}), ref("array"))
    held = {"name": NAME, "deformable": NAME, "vertices": vertices}
    attachment = {**held, "body": NAME, "points": several(NAME), "at": either(VALUE, NULL)}
    prescribed = {**held, "motion": either(VALUE, NULL)}
    deformable = {
        "name": NAME, "kind": {"enum": list(MESHES)}, "mesh": either(*(ref(cls.__name__) for cls in MESHES.values())),
        "material": either(*map(ref, of(Energy)), foreign({}, [])), "density": {**NUMBER, "description": "[kg/m³]"}, "X_WB": pose,
        "V_WB": either(several(NUMBER, 6), NULL), "start": either(VALUE, NULL), "pressure": {**NUMBER, "description": "[Pa]"},
        "look": either(ref("TriMesh"), ref("Mesh"), NULL), "mass": {"enum": list(MASSES)},
    }  # fmt: skip
    described = ((body, BODY), (world, WORLD), (joint, JOINT), (shape, SHAPE), (entry, ELEMENT))
    for mine, keys in (*described, (deformable, DEFORMABLE), (attachment, ATTACHMENT), (prescribed, PRESCRIBED)):
        assert set(mine) | {"type"} == set(keys) | {"type"}, f"keys are {keys}, described are {tuple(mine)}"
    parts = {f"part.{n}": element(CLASSES[n], {}, ("type",)) for n in of(Joint)}
    named = {n: element(CLASSES[n], joint, JOINT) for n in of(Joint)}
    named |= {n: element(CLASSES[n], entry, ELEMENT) for n in of(Force, Constraint)}
    named |= {n: element(CLASSES[n], shape, SHAPE) for n in of(Shape)}
    named |= {cls.__name__: element(cls, {}, ("type",)) for cls in MESHES.values()}
    named |= {n: element(CLASSES[n], {}, ("type",)) for n in of(Energy)}
    named[Placed.__name__]["properties"]["shape"] = ref("shape")
    kinds = {
        "shape": either(*map(ref, of(Shape)), foreign(shape, [])),
        "joint": either(*map(ref, of(Joint)), foreign(joint, ["name", "parent", "child"])),
        "element": either(*map(ref, of(Force, Constraint)), foreign(entry, [])),
        "deformable": thing(deformable, DEFORMABLE[:5], description="Cloth, a rod or a soft solid: its mesh at rest and its material."),
        "attachment": thing(attachment, ATTACHMENT[:3], description="Vertices that are points of a body, or of other deformables by name."),
        "prescribed": thing(prescribed, PRESCRIBED[:3], description="Vertices that move as a function of time says; held without one."),
        "body": thing(body, ["name"], description="A body by shapes and density, or by mass [kg], com [m] and inertia about it [kg m²]."),
    }
    state = thing({"q": several(NUMBER), "v": several(NUMBER)}, ["q", "v"])
    top = {
        "$schema": TEXT, "unibody": thing({"scene": {"const": VERSION}}, ["scene"]), "name": TEXT,
        "duration": {**NUMBER, "description": "[s]"}, "dt": {**NUMBER, "description": "[s]"}, "notes": TEXT, "left_out": several(TEXT),
        "keyframes": {"type": "object", "additionalProperties": state}, "world": thing(world),
        "bodies": several(ref("body")), "joints": several(ref("joint")), "elements": several(ref("element")),
        "deformables": several(ref("deformable")), "attachments": several(ref("attachment")), "prescribed": several(ref("prescribed")),
    }  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"Unibody scene, format {VERSION}",
        **thing(top, ["unibody"]), "$defs": {**kinds, **values(), **parts, **named},
    }  # fmt: skip


def main(arguments: list[str]) -> int:
    if set(arguments) - {"--check"}:
        print(__doc__, file=sys.stderr)
        return 2
    text = json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
    if "--check" not in arguments:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        with whole_text(PAGE) as file:
            file.write(text)
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"docs/schema/{PAGE.name} is not what the elements say; run `python tools/make_schema.py`")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
