"""SDF, the format of Gazebo and Drake: worlds and models of links and joints, in which joints may close loops.

    X_PF = X_P⁻¹ X_J,   X_BM = X_C⁻¹ X_J:   at the file's poses, every joint is at 0

| SDF (1.4 … 1.12) | here |
|---|---|
| world, model, nested model, include of a file | names `model::link` where there are several models; one alone keeps its names |
| link | a body; `static` models stand; without <inertial> SDF's 1 kg and 1 kg m² |
| fixed, revolute, continuous, prismatic, ball, screw, universal, revolute2 | Weld, Revolute, Prismatic, Ball, Screw, two Revolutes |
| a joint to a link that has one | closes a loop |
| limit, effort | `<joint>.limit`, effort_limit; velocity is listed |
| dynamics | damping, DryFriction `<joint>.friction`, spring in `<joint>.spring` |
| mimic | Coupling `<joint>.mimic` |
| gearbox | Coupling `<joint>.gearbox` of the two joints that turn about its axes; without such joints it is listed |
| velocity_decay | listed: Gazebo's is no law of physics |
| visual, collision, diffuse, mu, restitution_coefficient | shapes that are seen and touched, colours, contact materials |

What is not read (sensors, lights, plugins, physics engines' options …) is listed. Contact is asked for by `contact=`, or by a <world>;
links of one model touch each other only where it says <self_collide>.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np

from unibody.constraints import Contact
from unibody.element import number
from unibody.errors import ModelError
from unibody.files.python_scene import DURATION, STEP
from unibody.files.sdf_frames import WORLD, floats, pose_in
from unibody.files.sdf_joints import SdfJoints
from unibody.files.sdf_shapes import SdfShapes
from unibody.files.sdf_source import READ, SdfLink, SdfSource, name_of, text_of, version_of
from unibody.files.urdf_grammar import named
from unibody.files.xml_safety import Folders, checked_xml
from unibody.model import Builder
from unibody.scenes import Scene
from unibody.simulation.whole_file import path_given
from unibody.spatial.pose import Pose


def load_sdf(
    path: str | Path, *, packages: tuple[str, ...] = (), allow_outside: bool = False, gravity: tuple[float, float, float] | None = None,
    limits: bool = True, contact: float | bool | Contact | None = None,
) -> Scene:  # fmt: skip
    """The models of an SDF file. `packages`: folders, or name=folder, for model:// and package://. `gravity`: instead of the file's.
    `limits`: False leaves joint limits out. `contact`: True, a friction coefficient or a Contact; unless given, on in files of a world.
    What was left out is listed in the scene."""
    source = path_given(path)
    try:
        return _loaded(source, Folders(source.parent, packages, allow_outside), gravity, limits, contact)
    except ModelError as error:
        raise ModelError(str(error) if str(error).startswith("file ") else f"file '{source}': {error}") from error


def _loaded(source: Path, folders: Folders, gravity: Any, limits: bool, contact: Any) -> Scene:
    root = ElementTree.fromstring(checked_xml(source))
    if root.tag != "sdf":
        raise ModelError(f"its first element is <{root.tag}>; an SDF file begins with <sdf>")
    r = SdfSource(folders, version_of(root))
    # what the file says
    worlds = root.findall("world")
    if len(worlds) > 1:
        raise ModelError(f"{len(worlds)} worlds; give a file for each")
    top = worlds[0] if worlds else root
    r.world = bool(worlds)
    r.unread(root, "sdf", "the file")
    if worlds:
        r.unread(top, "world", top.get("name") or "world")
        r.gravity = floats(top.findtext("gravity"), (3,), "world gravity") if top.find("gravity") is not None else None
        for frame in top.findall("frame"):
            name = name_of(frame, "frame", "the world")
            pose, relative = pose_in(frame, f"frame '{name}'")
            r.frames.add(name, pose, relative or frame.get("attached_to", ""), f"frame '{name}'")
    r.frames.given[WORLD] = (Pose(), "", "the world")
    # models, included files, and joints between them
    for model in top.findall("model"):
        r.model(model, "", 0)
    for include in top.findall("include"):
        r.include(include, "", 0)
    for joint in top.findall("joint"):
        name = name_of(joint, "joint", "the world")
        pose, relative = pose_in(joint, f"joint '{name}'")
        r.frames.add(name, pose, relative or text_of(joint, "child", f"joint '{name}'"), f"joint '{name}'")
        r.joints.append((name, joint, ""))
    if not r.links:
        raise ModelError("no <link>; a model has at least one")
    # the model
    # bodies, joints, contact, under names as short as may be
    g = gravity if gravity is not None else r.gravity if r.gravity is not None else (0.0, 0.0, -9.8)
    b = Builder(gravity=g)
    shorter = len({link.scope for link in r.links.values()}) == 1
    for link in r.links.values():
        link.name = link.name if shorter and link.name != WORLD else f"{link.scope}{link.name}"
    shapes = SdfShapes(folders, r.aside)
    touching = _add_bodies(b, r, shapes)
    SdfJoints(b, r, limits, shorter).add()
    on = contact if contact is not None else (True if r.world else None)
    if on is not None and on is not False and touching:
        _add_contact(b, r, on)
    # what is said of it
    left_out = [line.format(named(names)) for line, names in r.asides.items()]
    name = top.get("name") or next(iter(r.links.values())).scope.removesuffix("::")
    notes = "; ".join(shapes.notes())
    return Scene(b.build(), DURATION, STEP, notes=notes, left_out=tuple(left_out), name=name)


def _add_bodies(b: Builder, r: SdfSource, shapes: SdfShapes) -> bool:
    touching = False
    for scoped, link in r.links.items():
        what = f"link '{link.name}'"
        r.unread(link.element, "link", link.name)
        placed = shapes.of(link.element, link.name)
        touching = touching or any(s.solid for s in placed)
        X = r.frames.of(scoped, what)
        if link.static:
            b.body(link.name, placed, kind="static", X_WB=X)
            continue
        mass, com, inertia = _mass(r, link, what)
        b.body(link.name, placed, mass=mass, com=com, inertia=inertia, X_WB=X)
    return touching


def _mass(r: SdfSource, link: SdfLink, what: str) -> tuple[float, np.ndarray, np.ndarray]:
    inertial = link.element.find("inertial")
    if inertial is None:
        r.aside("links {} say nothing of their mass: SDF's 1 kg and 1 kg m² were taken", link.name)
        return 1.0, np.zeros(3), np.eye(3)
    r.unread(inertial, "inertial", link.name)
    if inertial.get("auto", "false").strip() in ("true", "1"):
        raise ModelError(f"{what}: inertial auto='true' asks for inertia from shapes, which is not read; give mass and inertia")
    mass = number(inertial.findtext("mass", "1"), f"{what} mass", positive=True)
    X, relative = pose_in(inertial, f"{what} inertial")
    if relative:
        raise ModelError(f"{what}: the pose of its inertial is relative to '{relative}'; give it in the link's frame")
    moments = inertial.find("inertia")
    value = {k: 1.0 if k in ("ixx", "iyy", "izz") else 0.0 for k in READ["inertia"].split()}
    if moments is not None:
        r.unread(moments, "inertia", link.name)
        value |= {k: number(moments.findtext(k), f"{what} {k}") for k in value if moments.find(k) is not None}
    xx, xy, xz, yy, yz, zz = (value[k] for k in READ["inertia"].split())
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return mass, np.array(X.p), X.R @ inertia @ X.R.T


def _add_contact(b: Builder, r: SdfSource, contact: Any) -> None:
    rule = (
        contact if isinstance(contact, Contact) else Contact(friction=1.0 if contact is True else number(contact, "contact", minimum=0.0))
    )
    b.add(rule, name="contact")
    for k, scoped in enumerate(r.apart):
        mine = _solid(r, scoped)
        if len(mine) > 1:
            b.add(Contact(between=(mine, mine), on=False), name=f"contact.self{k or ''}")


def _solid(r: SdfSource, scoped: list[str]) -> list[str]:
    """Of these links those that can touch."""
    return [r.links[s].name for s in scoped if r.links[s].element.find("collision") is not None and not r.links[s].static]
