"""What an SDF file says, collected before anything is built: its models, links, joints and frames by scoped names, and what is not read."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from typing import Any

from unibody.errors import ModelError
from unibody.files.sdf_frames import WORLD, Frames, pose_in
from unibody.files.xml_safety import Folders, checked_xml
from unibody.spatial.pose import Pose

DEEPEST = 20
"""Files that include each other, at most."""
READ = {
    "sdf": "model world light actor",
    "world": "model gravity include joint frame name",
    "model": "pose link joint frame model include static self_collide allow_auto_disable",
    "link": "pose inertial collision visual self_collide must_be_base_link",
    "inertial": "pose mass inertia frame",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "joint": "pose parent child axis axis2 thread_pitch screw_thread_pitch gearbox_ratio gearbox_reference_body",
    "axis": "xyz limit dynamics mimic use_parent_model_frame initial_position",
    "limit": "lower upper effort velocity stiffness dissipation",
    "dynamics": "damping friction spring_reference spring_stiffness",
    "mimic": "multiplier offset reference",
    "frame": "pose",
    "include": "uri name pose static",
}
"""Which children of an element are looked at; others are listed."""


@dataclass
class SdfLink:
    element: Any
    name: str
    """In the model that is built."""
    scope: str
    static: bool


@dataclass
class SdfSource:
    """What a file says, collected before anything is built."""

    folders: Folders
    version: tuple[int, ...] = (1, 12)
    frames: Frames = field(default_factory=Frames)
    links: dict[str, SdfLink] = field(default_factory=dict)
    joints: list[tuple[str, Any, str]] = field(default_factory=list)
    """Scoped name, element, scope."""
    gravity: Any = None
    world: bool = False
    asides: dict[str, list[str]] = field(default_factory=dict)
    apart: list[list[str]] = field(default_factory=list)
    """Links, by scoped names, of models whose links do not touch each other."""

    def aside(self, what: str, name: str) -> None:
        names = self.asides.setdefault(what, [])
        if name not in names:
            names.append(name)

    def unread(self, element: Any, kind: str, name: str) -> None:
        known = READ[kind].split()
        for child in element:
            if isinstance(child.tag, str) and child.tag not in known:
                self.aside(f"<{child.tag}> of {kind}s {{}}: not read", name)

    def model(self, element: Any, scope: str, depth: int, static: bool = False, place: tuple[Pose, str] | None = None) -> None:
        """Collect a model; `scope` is '' or ends in '::', and a frame of that name stands for the scope around it."""
        own = (element.get("name") or "").strip()
        what = f"model '{own}'"
        if not own:
            raise ModelError("a <model> has no name; give it one")
        here = f"{scope}{own}::"
        self.unread(element, "model", own)
        static = static or truth(element, "static")
        pose, relative = place or pose_in(element, what)
        if element.get("placement_frame"):
            raise ModelError(f"{what}: placement_frame is not read; give the pose of the model's own frame")
        self.frames.add(here, pose, self.scoped(relative, scope) if relative else scope, what)
        mine = []
        for link in element.findall("link"):
            name = name_of(link, "link", own)
            pose, relative = pose_in(link, f"link '{name}'")
            self.frames.add(here + name, pose, self.scoped(relative, here) if relative else here, f"link '{name}' of {what}")
            self.links[here + name] = SdfLink(link, name, here, static)
            mine.append(here + name)
        for frame in element.findall("frame"):
            name = name_of(frame, "frame", own)
            self.unread(frame, "frame", name)
            pose, relative = pose_in(frame, f"frame '{name}'")
            held = self.scoped(frame.get("attached_to", ""), here) if frame.get("attached_to") else here
            self.frames.add(here + name, pose, self.scoped(relative, here) if relative else held, f"frame '{name}' of {what}")
        for joint in element.findall("joint"):
            name = name_of(joint, "joint", own)
            child = self.scoped(text_of(joint, "child", f"joint '{name}'"), here)
            pose, relative = pose_in(joint, f"joint '{name}'")
            self.frames.add(here + name, pose, self.scoped(relative, here) if relative else child, f"joint '{name}' of {what}")
            self.joints.append((here + name, joint, here))
        for nested in element.findall("model"):
            self.model(nested, here, depth, static)
        for include in element.findall("include"):
            self.include(include, here, depth, static)
        if not truth(element, "self_collide") and len(mine) > 1:
            self.apart.append(mine)

    def include(self, element: Any, scope: str, depth: int, static: bool = False) -> None:
        uri = text_of(element, "uri", "include")
        self.unread(element, "include", uri)
        if depth >= DEEPEST:
            raise ModelError(f"include '{uri}': more than {DEEPEST} files include each other; take one out")
        path = self.folders.resolve(uri.replace("model://", "package://"), "include")
        if path.is_dir():
            path = path / "model.sdf"
        if not path.is_file():
            raise ModelError(f"include '{uri}': '{path}' is no file; correct it, or give its folder by packages=")
        root = ElementTree.fromstring(checked_xml(path))
        found = root.find("model") if root.tag == "sdf" else None
        if found is None:
            raise ModelError(f"include '{uri}': no <model> in '{path}'; give a file with one")
        if element.find("name") is not None:
            found.set("name", text_of(element, "name", f"include '{uri}'"))
        place = pose_in(element, f"include '{uri}'") if element.find("pose") is not None else None
        self.model(found, scope, depth + 1, static or truth(element, "static"), place)

    def scoped(self, name: str, scope: str) -> str:
        """A name as it is known in the whole file: of the scope where it is said, `__model__`, or the world."""
        name = name.strip()
        if name == "__model__":
            return scope
        if name == WORLD:
            return WORLD if scope == "" or f"{scope}{WORLD}" not in self.links else f"{scope}{WORLD}"
        return f"{scope}{name}"


def version_of(root: Any) -> tuple[int, ...]:
    text = (root.get("version") or "").strip()
    try:
        version = tuple(int(part) for part in text.split("."))
    except ValueError:
        version = ()
    if len(version) < 2 or version[0] != 1:
        raise ModelError(f"version '{text}' of <sdf> is not read; give 1.4 … 1.12")
    return version


def name_of(element: Any, kind: str, where: str) -> str:
    name = (element.get("name") or "").strip()
    if not name:
        raise ModelError(f"a <{kind}> of '{where}' has no name; give it one")
    if "::" in name:
        raise ModelError(f"{kind} '{name}': '::' stands between a model and what is in it; choose another name")
    return name


def text_of(element: Any, tag: str, what: str) -> str:
    found = element.find(tag)
    text = "" if found is None else (found.text or "").strip()
    if not text:
        raise ModelError(f"{what}: no <{tag}>; give one")
    return text


def truth(element: Any, tag: str) -> bool:
    return (element.findtext(tag) or "false").strip().lower() in ("true", "1")
