"""What may stand in a URDF: which elements inside which, which attributes they need, and which of these are numbers.

The text is walked once before yourdfpy reads it, because that parser invents what is missing (an inertia of 1) and skips what it does not
know. Here what is missing or no number is refused with its line, and what is not represented is collected, so that it can be listed.

Slips that leave no doubt about what is meant are mended, and said: numbers behind the third of three, elements and links that occur twice
and are the same, joints of one name. Friction of links, in Bullet's words and in Gazebo's, is kept for `urdf_contact`.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.files.urdf_text import HARMLESS, LEFT, filled_in, readable_xml, xacro_word

CHILDREN = {
    "robot": ("link", "joint", "material"),
    "link": ("inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("origin", "geometry", "material"),
    "collision": ("origin", "geometry"),
    "geometry": ("box", "cylinder", "sphere", "capsule", "mesh", "plane"),
    "material": ("color", "texture"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
}
MANY = ("link", "joint", "visual", "collision")
ATTRIBUTES = {
    "robot": ("name", "version"), "link": ("name", "concave"), "visual": ("name",), "collision": ("name", "concave"), "material": ("name",),
    "plane": ("normal",),
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
NEEDED_CHILDREN = {"joint": ("parent", "child"), "inertial": ("mass",)}
WORDS = ("name", "type", "link", "joint", "filename", "version", "concave")
COUNTS = {"xyz": (3,), "rpy": (3,), "size": (3,), "scale": (1, 3), "rgba": (3, 4), "normal": (3,)}
BULLET = ("lateral_friction", "rolling_friction", "spinning_friction", "restitution")
"""Bullet's words for surfaces that are kept; `<contact>` has others."""
GAZEBO = ("mu1", "mu2", "mu")
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
    planes: dict[int, tuple[float, ...]] = field(default_factory=dict)
    """Normals of the elements, counted likewise, that are half-spaces (Bullet's `<plane>`; yourdfpy sees spheres)."""
    concave: set[int] = field(default_factory=set)
    """Numbers of collision elements whose meshes are to be taken as they are (Bullet's `concave`)."""
    surfaces: dict[str, dict[str, float]] = field(default_factory=dict)
    """What links say of their friction, in BULLET's and GAZEBO's words."""
    other: set[str] = field(default_factory=set)
    """Links that say more of their contact than is kept."""
    said: list[str] = field(default_factory=list)
    """What was mended."""


def read_robot(path: Path, join: str = "") -> Read:
    """The robot of a file; ModelError for what is no URDF. `join`: the type of joints by which several roots hang on the world."""
    read = Read(None)
    data = readable_xml(path, read.said)
    try:
        from lxml import etree
        from yourdfpy import URDF
    except ImportError as error:
        raise ModelError(f"reading URDF files needs {error.name}, which is not installed; pip install unibody[import]") from None
    # What is well-formed and still a fault for lxml are prefixes without a namespace: such elements are of other programs.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True, recover=True)
    root = etree.fromstring(data, parser)
    if root is None or root.tag != "robot":
        raise ModelError(f"the root element is <{None if root is None else root.tag}>; a URDF has <robot>")
    _walk(root, "robot", read)
    _single(root, read)
    if join:
        _joined(root, join, read)
    if root.get("name") is None:
        root.set("name", path.stem)
    for number, shape in enumerate(e for link in root.iter("link") for tag in ("visual", "collision") for e in link.findall(tag)):
        _special(shape, number, read)
    cleaned = io.BytesIO(etree.tostring(root))
    read.robot = URDF.load(cleaned, build_scene_graph=False, load_meshes=False).robot
    return read


def _special(shape: Any, number: int, read: Read) -> None:
    """Remember what yourdfpy does not know: capsules, half-spaces, concave meshes."""
    capsule, plane = shape.find("geometry/capsule"), shape.find("geometry/plane")
    if capsule is not None:
        read.capsules.add(number)
        capsule.tag = "cylinder"
    if plane is not None:
        x, y, z = (float(word) for word in plane.get("normal", "0 0 1").split())
        read.planes[number] = (x, y, z)
        plane.tag = "sphere"
        plane.set("radius", "1")
    asked = (shape.get("concave") or shape.getparent().get("concave") or "no").strip().lower()
    if shape.tag == "collision" and asked in ("yes", "true", "1"):
        read.concave.add(number)


def _walk(element: Any, owner: str, read: Read) -> None:
    """Check an element and those in it, take out those without meaning, and collect them."""
    tag, line = element.tag, f"line {element.sourceline}"
    if tag in ("link", "joint") and element.get("name"):
        owner = f"{tag} '{element.get('name')}'"
    for name in NEEDED_ATTRIBUTES.get(tag, ()):
        if not (element.get(name) or "").strip():
            raise ModelError(f'{line}: <{tag}> of {owner} has no {name}; give {name}="…"')
    for name, value in element.attrib.items():
        if name not in ATTRIBUTES.get(tag, ()):
            read.unread.setdefault(f"{tag} {name}=", []).append(_plain(owner))
        elif name not in WORDS:
            element.set(name, _numbers(value, name, f"{line}: <{tag}> of {owner}", tag == "limit", read.said))
    if tag == "joint" and element.get("type") not in JOINTS:
        raise ModelError(f"{line}: {owner} is of the unknown type '{element.get('type')}'; give one of {', '.join(JOINTS)}")
    for child in list(element):
        if child.tag not in CHILDREN.get(tag, ()):
            _put_aside(element, child, owner, read)
            continue
        first = element.find(child.tag)
        if child.tag not in MANY and not (tag == "robot" and child.tag == "material") and first is not child:
            if dict(child.attrib) != dict(first.attrib) or len(child) or len(first):
                raise ModelError(f"line {child.sourceline}: a second <{child.tag}> in <{tag}> of {owner}; give one")
            element.remove(child)
            read.said.append(f"line {child.sourceline}: a second <{child.tag}> in <{tag}> of {owner}: it says the same, and was left out")
            continue
        _walk(child, owner, read)
    for name in NEEDED_CHILDREN.get(tag, ()):
        if element.find(name) is None:
            raise ModelError(f"{line}: <{tag}> of {owner} has no <{name}>; give one")
    if tag == "geometry" and len(element) > 1:
        raise ModelError(f"{line}: <geometry> of {owner} has several shapes; give one")
    if tag == "link":
        for shape in [e for e in element if e.tag in ("visual", "collision") and e.find("geometry/*") is None]:
            element.remove(shape)
            read.unread.setdefault(f"<{shape.tag}>", []).append(_plain(owner))


def _put_aside(element: Any, child: Any, owner: str, read: Read) -> None:
    """Take out an element without meaning here, and keep what it says of friction."""
    tag = element.tag
    element.remove(child)
    word = xacro_word(child.tag)
    if word is not None and word not in HARMLESS:
        what = f"line {child.sourceline}: <xacro:{word}> in <{tag}> of {owner}"
        raise ModelError(f"{what}: the file is for xacro, not yet a URDF; run `xacro file.xacro > robot.urdf` and load the result")
    name = child.get("name") or child.get("reference")
    link = _plain(owner) if tag == "link" and child.tag == "contact" else child.get("reference") if child.tag == "gazebo" else None
    kept: dict[str, float] = {}
    for part in child.iter() if link is not None else ():
        text = part.get("value") if part.tag in BULLET else part.text if part.tag in GAZEBO else None
        if text is not None:
            try:
                kept["mu1" if part.tag == "mu" else part.tag] = float(text)
            except ValueError:
                read.said.append(f"line {part.sourceline}: <{part.tag}> of '{link}': {text!r} is no number, and was left out")
    if link is not None and kept:
        read.surfaces.setdefault(link, {}).update(kept)
        if len(kept) == sum(1 for part in child.iter() if part is not child and not len(part)):
            return
        read.other.add(link)
    path = child.tag if tag == "robot" else f"{tag}/{child.tag}"
    read.unread.setdefault(f"<{path}>", []).append(name or _plain(owner))


def _single(root: Any, read: Read) -> None:
    """Names that occur twice: links that are the same, once; joints, by another name. Names that xacro has not filled in are told."""
    from lxml import etree

    links: dict[str, bytes] = {}
    for link in root.findall("link"):
        name, text = link.get("name"), b" ".join(etree.tostring(link).split())
        if links.setdefault(name, text) != text:
            raise ModelError(f"two links are called '{name}'; give each a name of its own")
        if sum(1 for other in root.findall("link") if other.get("name") == name) > 1:
            root.remove(link)
            read.said.append(f"link '{name}' occurs twice and is the same; it was taken once")
    taken = {j.get("name") for j in root.findall("joint")}
    seen: set[str] = set()
    for joint in root.findall("joint"):
        name = new = joint.get("name")
        number = 2
        while new in seen:
            new, number = (f"{name}_{number}", number + 1) if f"{name}_{number}" not in taken else (new, number + 1)
        if new != name:
            joint.set("name", new)
            taken.add(new)
            read.said.append(f"two joints are called '{name}': the one of link '{joint.find('child').get('link')}' is '{new}' here")
        seen.add(new)
    left = [e.get("name") for e in root.iter("link", "joint") if LEFT.search(e.get("name"))]
    if left:
        read.said.append(f"names {named(left)}: xacro has not filled them in, and they were taken as they are")


def _joined(root: Any, kind: str, read: Read) -> None:
    """Let several links without a parent hang on a link `world`."""
    from lxml import etree

    children = {c.get("link") for c in root.findall("joint/child")}
    roots = [link.get("name") for link in root.findall("link") if link.get("name") not in children]
    if len(roots) < 2:
        return
    if "world" not in roots:
        root.insert(0, etree.Element("link", name="world"))
    names = {j.get("name") for j in root.findall("joint")}
    for name in (r for r in roots if r != "world"):
        called = name
        while called in names:
            called += "_base"
        joint = etree.SubElement(root, "joint", name=called, type=kind)
        etree.SubElement(joint, "parent", link="world")
        etree.SubElement(joint, "child", link=name)
    read.said.append(f"several links have no parent: {named(r for r in roots if r != 'world')}; each hangs on the world, since roots=join")


def _plain(owner: str) -> str:
    return owner.partition("'")[2].rstrip("'") or owner


def _numbers(text: str, name: str, what: str, infinite: bool, said: list[str]) -> str:
    """The numbers of an attribute, with blanks between them."""
    counts = COUNTS.get(name, (1,))
    given = filled_in(text, f"{what}: {name}", said)
    words = given.replace(",", " ").replace(";", " ").split()
    try:
        values = [float(word) for word in words]
    except ValueError:
        raise ModelError(f'{what}: {name}="{text}" is not numeric; give {" or ".join(map(str, counts))} numbers') from None
    if len(values) > max(counts) > 1:
        said.append(f'{what}: {name}="{text}": the first {max(counts)} numbers were taken')
        values, words = values[: max(counts)], words[: max(counts)]
    if len(values) not in counts:
        raise ModelError(f'{what}: {name}="{text}" has {len(values)} numbers; give {" or ".join(map(str, counts))}')
    if np.isnan(values).any() or (np.isinf(values).any() and not infinite):
        raise ModelError(f'{what}: {name}="{text}" is not finite; give finite numbers')
    return " ".join(words)


def listed(read: Read) -> list[str]:
    """One line for each kind of thing that has no meaning here."""
    return [*read.said, *(f"{kind} of {named(names)}: {REASONS.get(kind, 'has no meaning here')}" for kind, names in read.unread.items())]


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
