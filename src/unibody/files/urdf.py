"""URDF: a robot as links and joints, in which a link's frame is the frame of the joint above it.

    X_PF = the joint's origin in the parent link,   X_BM = 1,   X_FM(q) = the joint

The text goes through yourdfpy, the format's maintained reader in Python (a wheel without compiled parts; urdfdom comes only with a robotics
stack); before that `urdf_grammar` refuses what is broken and collects what is not read.

| URDF | here |
|---|---|
| link | a body; without mass or inertia, part of the one it is fixed to (`urdf_links`) |
| fixed, revolute, continuous, prismatic, floating, spherical | Weld, Revolute, Revolute, Prismatic, Free, Ball |
| planar | Planar, its z axis turned to the joint's axis by the shortest way |
| limit | JointLimit `<joint>.limit`, effort_limit; velocity is listed |
| dynamics | damping in `<joint>.spring`, DryFriction `<joint>.friction` |
| mimic | Coupling `<joint>.mimic` |
| visual, collision, material | shapes that are seen and shapes that are touched (`urdf_shapes`) |

The root is welded to the world by a joint with the root's name, or floats by it; a root called `world` is the world. The robot starts at
q = 0, or where its limits begin if they leave 0 out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unibody.element import number
from unibody.errors import ModelError
from unibody.files.python_scene import DURATION, STEP
from unibody.files.urdf_grammar import listed, named, read_robot
from unibody.files.urdf_joints import Joints
from unibody.files.urdf_links import Bodies, as_bodies
from unibody.files.urdf_shapes import Wardrobe, moved
from unibody.files.xml_safety import Folders
from unibody.model import Builder
from unibody.model.model import look_up
from unibody.scenes import Scene
from unibody.shapes import Placed

GRAVITY = (0.0, 0.0, -9.81)


def load_urdf(
    path: str | Path, *, packages: tuple[str, ...] = (), floating: bool = False, allow_outside: bool = False,
    gravity: tuple[float, float, float] = GRAVITY, limits: bool = True, meshes: bool = True, massless: float | None = None,
    repair_inertia: bool = False,
) -> Scene:  # fmt: skip
    """The robot of a URDF file.

    `packages`: folders, or name=folder, for package:// and for files beside the model. `floating`: the root is free. `limits`: False leaves
    the joint limits out, which only some solvers can honour. `meshes`: False leaves them unread. `massless` [kg]: given to links that move
    without mass. `repair_inertia`: replace inertias that no body has. What was left out or changed is listed in the scene.
    """
    source = Path(path)
    try:
        return _loaded(source, Folders(source.parent, packages, allow_outside), floating, gravity, limits, meshes, massless, repair_inertia)
    except ModelError as error:
        begins = str(error).split("'")[0]
        opening = "" if begins == "file " else f"file '{source}' " if begins.startswith("line ") else f"file '{source}': "
        raise ModelError(f"{opening}{error}") from error


def _loaded(
    source: Path, folders: Folders, floating: bool, gravity: Any, limits: bool, meshes: bool, massless: float | None, repair: bool
) -> Scene:
    if massless is not None:
        number(massless, "massless", positive=True)
    read = read_robot(source)
    robot = read.robot
    order = _root_first(robot)
    if floating and order[0] == "world":
        raise ModelError("floating=true, but the root link is 'world'; rename it, or leave floating out")
    bodies = as_bodies(robot, order, floating, massless, repair)
    wardrobe = Wardrobe(read, folders, meshes)
    b = Builder(gravity=gravity)
    name_of = _add_bodies(b, order[0], bodies, wardrobe.shapes(), {j.name for j in robot.joints})
    joints = Joints(b, bodies, name_of, limits)
    joints.add_root(order[0], floating, {j.name for j in robot.joints})
    joints.add(robot)
    left_out = [*listed(read), *bodies.said, *joints.left_out()]
    if wardrobe.skipped:
        left_out.append(f"meshes of links {named(wardrobe.skipped)}: not read, since meshes=false")
    if wardrobe.textured:
        left_out.append(f"textures of materials {named(wardrobe.textured)}: surfaces have one colour")
    if wardrobe.empty:
        left_out.append(f"shapes of links {named(wardrobe.empty)}: a size of theirs is 0")
    if wardrobe.unpainted:
        left_out.append(f"materials of links {named(wardrobe.unpainted)}: nothing in the file says what they look like")
    if wardrobe.clipped:
        left_out.append(f"colours of links {named(wardrobe.clipped)}: brought into 0 … 1")
    renamed = [f"'{link}' to '{name}'" for link, name in name_of.items() if link != name and name != "world"]
    left_out += [f"link names changed, since they are taken: {', '.join(renamed)}"] if renamed else []
    notes = joints.notes()
    merged = bodies.merged()
    if merged:
        notes.append("links that are part of another: " + ", ".join(f"'{link}' of '{host}'" for link, host in merged))
    return Scene(b.build(), DURATION, STEP, notes="; ".join(notes), left_out=tuple(left_out), name=robot.name)


def _root_first(robot: Any) -> list[str]:
    """The links, parents before children; refuses what is no tree."""
    links: dict[str, Any] = {}
    for link in robot.links:
        if link.name in links:
            raise ModelError(f"two links are called '{link.name}'; give each a name of its own")
        links[link.name] = link
    if not links:
        raise ModelError("no <link>; a robot has at least one")
    seen: set[str] = set()
    above: dict[str, Any] = {}
    for j in robot.joints:
        what = f"joint '{j.name}'"
        if j.name in seen:
            raise ModelError(f"two joints are called '{j.name}'; give each a name of its own")
        seen.add(j.name)
        for end in (j.parent, j.child):
            look_up(end, links, f"{what}: link")
        if j.parent == j.child:
            raise ModelError(f"{what}: joins link '{j.child}' to itself; give two different links")
        if j.child in above:
            both = f"'{above[j.child].name}' and '{j.name}'"
            raise ModelError(f"link '{j.child}' is the child of two joints, {both}; a URDF is a tree, take one out")
        above[j.child] = j
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        raise ModelError(f"several links have no parent: {named(roots)}; connect them by joints, a URDF has one root")
    order = roots[:]
    children: dict[str, list[str]] = {}
    for j in robot.joints:
        children.setdefault(j.parent, []).append(j.child)
    for name in order:
        order += children.get(name, [])
    circle = [above[name].name for name in links if name not in set(order)]
    if circle:
        raise ModelError(f"joints {named(circle)} form a circle; a URDF is a tree, take one out")
    return order


def _add_bodies(b: Builder, root: str, bodies: Bodies, shapes: dict[str, list[Placed]], joints: set[str]) -> dict[str, str]:
    """The bodies in the order of the file's links, and the name of each by its link's. Ground has a joint of its own name."""
    name_of: dict[str, str] = {}
    for host in (link for link in shapes if bodies.host[link] == link):
        placed = [moved(s, bodies.X_BL[link]) for link in shapes if bodies.host[link] == host for s in shapes[link]]
        mass = bodies.mass[host]
        if host == root == "world" and not placed:
            name_of[host] = "world"
            continue
        name = host
        while name == "world" or name in name_of.values() or (mass is None and name in joints):
            name += "_link"
        name_of[host] = name
        if mass is None:
            b.body(name, placed, kind="static")
        else:
            b.body(name, placed, mass=mass.mass, com=mass.com, inertia=mass.inertia)
    return name_of
