"""What may stand in a URDF: which elements inside which, which attributes they need, and which of these are numbers.

The text is walked once before yourdfpy reads it, because that parser invents what is missing (an inertia of 1) and skips what it does not
know. Here what is missing or no number is refused with its line, and what is not represented is collected, so that it can be listed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.files.xml_safety import checked_xml

CHILDREN = {
    "robot": ("link", "joint", "material"),
    "link": ("inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("origin", "geometry", "material"),
    "collision": ("origin", "geometry"),
    "geometry": ("box", "cylinder", "sphere", "capsule", "mesh"),
    "material": ("color", "texture"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
}
MANY = ("link", "joint", "visual", "collision")
ATTRIBUTES = {
    "robot": ("name", "version"), "link": ("name",), "visual": ("name",), "collision": ("name",), "material": ("name",),
    "origin": ("xyz", "rpy"), "mass": ("value",), "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "box": ("size",),
    "cylinder": ("radius", "length"), "capsule": ("radius", "length"), "sphere": ("radius",), "mesh": ("filename", "scale"),
    "color": ("rgba",), "texture": ("filename",), "joint": ("name", "type"), "parent": ("link",), "child": ("link",), "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity"), "dynamics": ("damping", "friction"), "mimic": ("joint", "multiplier", "offset"),
}  # fmt: skip
NEEDED_ATTRIBUTES = {
    "link": ("name",), "joint": ("name", "type"), "mass": ("value",), "inertia": ("ixx", "iyy", "izz"), "box": ("size",),
    "cylinder": ("radius", "length"), "capsule": ("radius", "length"), "sphere": ("radius",), "mesh": ("filename",), "parent": ("link",),
    "child": ("link",), "mimic": ("joint",), "color": ("rgba",),
}  # fmt: skip
NEEDED_CHILDREN = {"joint": ("parent", "child"), "visual": ("geometry",), "collision": ("geometry",), "inertial": ("mass",)}
WORDS = ("name", "type", "link", "joint", "filename", "version")
COUNTS = {"xyz": (3,), "rpy": (3,), "size": (3,), "scale": (1, 3), "rgba": (3, 4)}
JOINTS = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating", "spherical")
"""`spherical` is Bullet's extension."""


@dataclass
class Read:
    """A robot as yourdfpy read it, and what the walk found beside it."""

    robot: Any
    capsules: set[int] = field(default_factory=set)
    """Numbers of visual and collision elements, counted through the file, that are capsules (yourdfpy sees cylinders)."""
    unread: dict[str, list[str]] = field(default_factory=dict)
    """Elements and attributes without meaning here: `link/contact` to the names of the links that have them."""


def read_robot(path: Path) -> Read:
    """The robot of a file; ModelError for what is no URDF."""
    data = checked_xml(path)
    try:
        from lxml import etree
        from yourdfpy import URDF
    except ImportError as error:
        raise ModelError(f"reading URDF files needs {error.name}, which is not installed; pip install unibody[import]") from None
    # Bullet's files call themselves XML 0.0, which lxml refuses.
    data = re.sub(rb"""(<\?xml\s+version\s*=\s*)(["'])0\.0\2""", rb"\1\g<2>1.0\2", data[:200]) + data[200:]
    root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True))
    if root.tag != "robot":
        raise ModelError(f"the root element is <{root.tag}>; a URDF has <robot>")
    read = Read(None)
    _walk(root, "robot", read)
    if root.get("name") is None:
        root.set("name", path.stem)
    for number, shape in enumerate(e for link in root.iter("link") for tag in ("visual", "collision") for e in link.findall(tag)):
        capsule = shape.find("geometry/capsule")
        if capsule is not None:
            read.capsules.add(number)
            capsule.tag = "cylinder"
    cleaned = io.BytesIO(etree.tostring(root))
    read.robot = URDF.load(cleaned, build_scene_graph=False, load_meshes=False).robot
    return read


def _walk(element: Any, owner: str, read: Read) -> None:
    """Check an element and those in it, take out those without meaning, and collect them."""
    tag, line = element.tag, f"line {element.sourceline}"
    if tag in ("link", "joint") and element.get("name"):
        owner = f"{tag} '{element.get('name')}'"
    for name in NEEDED_ATTRIBUTES.get(tag, ()):
        if not (element.get(name) or "").strip():
            raise ModelError(f"{line}: <{tag}> of {owner} has no {name}; give {name}=\"…\"")
    for name, value in element.attrib.items():
        if name not in ATTRIBUTES.get(tag, ()):
            read.unread.setdefault(f"{tag} {name}=", []).append(_plain(owner))
        elif name not in WORDS:
            _check_numbers(value, name, f"{line}: <{tag}> of {owner}", infinite=tag == "limit")
            element.set(name, value.replace(",", " "))
    if tag == "joint" and element.get("type") not in JOINTS:
        raise ModelError(f"{line}: {owner} is of the unknown type '{element.get('type')}'; give one of {', '.join(JOINTS)}")
    for child in list(element):
        if child.tag not in CHILDREN.get(tag, ()):
            element.remove(child)
            name = child.get("name") or child.get("reference")
            path = child.tag if tag == "robot" else f"{tag}/{child.tag}"
            read.unread.setdefault(f"<{path}>", []).append(name or _plain(owner))
            continue
        if child.tag not in MANY and not (tag == "robot" and child.tag == "material") and element.find(child.tag) is not child:
            raise ModelError(f"line {child.sourceline}: a second <{child.tag}> in <{tag}> of {owner}; give one")
        _walk(child, owner, read)
    for name in NEEDED_CHILDREN.get(tag, ()):
        if element.find(name) is None:
            raise ModelError(f"{line}: <{tag}> of {owner} has no <{name}>; give one")
    if tag == "geometry" and len(element) > 1:
        raise ModelError(f"{line}: <geometry> of {owner} has several shapes; give one")
    if tag == "link":
        for shape in [e for e in element if e.tag in ("visual", "collision") and len(e.find("geometry")) == 0]:
            element.remove(shape)
            read.unread.setdefault(f"<{shape.tag}>", []).append(_plain(owner))


def _plain(owner: str) -> str:
    return owner.partition("'")[2].rstrip("'") or owner


def _check_numbers(text: str, name: str, what: str, infinite: bool) -> None:
    counts = COUNTS.get(name, (1,))
    try:
        values = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise ModelError(f"{what}: {name}=\"{text}\" is not numeric; give {' or '.join(map(str, counts))} numbers") from None
    if len(values) not in counts:
        raise ModelError(f"{what}: {name}=\"{text}\" has {len(values)} numbers; give {' or '.join(map(str, counts))}")
    if np.isnan(values).any() or (np.isinf(values).any() and not infinite):
        raise ModelError(f"{what}: {name}=\"{text}\" is not finite; give finite numbers")


def listed(read: Read) -> list[str]:
    """One line for each kind of thing that has no meaning here."""
    return [f"{kind} of {named(names)}: {REASONS.get(kind, 'has no meaning here')}" for kind, names in read.unread.items()]


REASONS = {
    "<transmission>": "no gearing between motors and joints",
    "<gazebo>": "settings of another simulator",
    "<sensor>": "no sensors",
    "<ros2_control>": "settings of a controller",
    "<joint/safety_controller>": "no controller watches over joints",
    "<joint/calibration>": "no calibration of encoders",
    "<link/contact>": "contact settings of another simulator",
    "<visual>": "no shape is in it",
    "<collision>": "no shape is in it",
}


def named(names: Iterable[str]) -> str:
    """'a', 'b' (2 times), 'c'."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"'{name}'" + (f" ({count} times)" if count > 1 else "") for name, count in counts.items())
