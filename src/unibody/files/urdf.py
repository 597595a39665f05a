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
| `<robot>.loops.yaml` beside it | joints that close loops, couplings (`urdf_loops`) |
| contact, gazebo mu1 | friction with the floor, if contact is asked for (`urdf_contact`) |

The root is welded to the world by a joint with the root's name, or floats by it; a root called `world` is the world. The robot starts at
q = 0, or where its limits begin if they leave 0 out, with its root where the file's frame is, or where `at` and `height` put it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from unibody.constraints import Contact
from unibody.element import is_word, number
from unibody.errors import ModelError
from unibody.files.python_scene import DURATION, STEP
from unibody.files.urdf_contact import FRICTION, Touch, lowest
from unibody.files.urdf_grammar import listed, named, read_robot
from unibody.files.urdf_joints import Joints
from unibody.files.urdf_links import Bodies, as_bodies, moved
from unibody.files.urdf_loops import add_loops, loops_of
from unibody.files.urdf_shapes import Wardrobe
from unibody.files.xml_safety import Folders
from unibody.model import Builder, Model
from unibody.model.model import look_up
from unibody.scenes import Scene
from unibody.shapes import Placed
from unibody.simulation.whole_file import path_given
from unibody.spatial.pose import Pose

GRAVITY = (0.0, 0.0, -9.81)
ON_FLOOR = "on floor"


@dataclass(frozen=True)
class _Wanted:
    """The parameters of `load_urdf`."""

    floating: bool
    gravity: Any
    limits: bool
    meshes: Any
    massless: float | None
    repair_inertia: bool
    repair: bool
    floor: Any
    contact: Any
    self_collision: bool
    at: Any
    height: Any
    roots: str
    mimic: bool
    loops: Any

    def __post_init__(self) -> None:
        if self.massless is not None:
            number(self.massless, "massless", positive=True)
        if not (isinstance(self.meshes, bool) or is_word(self.meshes, ("convex", "exact", "skip"))):
            raise ModelError(f"meshes={self.meshes!r}; give convex, exact, skip or false")
        if not is_word(self.roots, ("refuse", "join")):
            raise ModelError(f"roots={self.roots!r}; give refuse or join")
        if isinstance(self.height, str) and self.height != ON_FLOOR:
            raise ModelError(f"height={self.height!r}; give metres, or {ON_FLOOR!r}")
        if self.height == ON_FLOOR and self.ground is None:
            raise ModelError(f"height={ON_FLOOR!r} without a floor; give floor=true, or its height in metres")

    @property
    def ground(self) -> float | None:
        """The height of the floor."""
        if self.floor is None or self.floor is False:
            return None
        return 0.0 if self.floor is True else number(self.floor, "floor")

    @property
    def touch(self) -> Any:
        """None, a friction, or a Contact."""
        if self.contact is None:
            return None if self.ground is None else FRICTION
        if isinstance(self.contact, bool):
            return FRICTION if self.contact else None
        return self.contact if isinstance(self.contact, Contact) else number(self.contact, "contact", minimum=0.0)

    @property
    def place(self) -> Pose:
        """Where the root is to be, but for what the floor decides."""
        X = Pose() if self.at is None else self.at if isinstance(self.at, Pose) else Pose(p=self.at)
        if self.height is None or self.height == ON_FLOOR:
            return X
        return Pose(p=(X.p[0], X.p[1], number(self.height, "height")), wxyz=X.wxyz)

    @property
    def shapes(self) -> str:
        return "none" if self.meshes is False else "convex" if self.meshes is True else str(self.meshes)


def load_urdf(
    path: str | Path, *, packages: tuple[str, ...] = (), floating: bool = False, allow_outside: bool = False,
    gravity: tuple[float, float, float] = GRAVITY, limits: bool = True, meshes: bool | Literal["convex", "exact", "skip"] = True,
    massless: float | None = None, repair_inertia: bool = False, repair: bool = True, floor: float | bool | None = None,
    contact: float | bool | Contact | None = None, self_collision: bool = True, at: tuple[float, float, float] | Pose | None = None,
    height: float | Literal["on floor"] | None = None, roots: Literal["refuse", "join"] = "refuse", mimic: bool = True,
    loops: str | bool | None = None,
) -> Scene:  # fmt: skip
    """The robot of a URDF file.

    `packages`: folders, or name=folder, for package:// and for files beside the model. `floating`: the root is free. `limits`, `mimic`:
    False leaves joint limits, or joints that follow others, out. `meshes`: what touches is "convex" hulls (True), or "exact" where it
    closes; "skip" leaves out files that are missing, False leaves all unread. What was left out or changed is listed in the scene.

    `floor`: True or a height [m] adds a plane. `contact`: True, a friction coefficient or a Contact; unless given, on where there is a
    floor. `self_collision`: whether links touch each other. `at`: where the root starts; `height` [m]: its z, or "on floor", which lets
    the lowest point of the robot touch the floor.

    `loops`: a YAML file of joints that close loops, and couplings (`urdf_loops`); None: `<robot>.loops.yaml`, if it is there; False: none.

    `repair`: take inertias that are missing, impossible or absurd from the shapes. Without it they are refused, or with `repair_inertia`
    replaced by the nearest possible. `massless` [kg]: given to links that move without mass. `roots`: "join" hangs several on the world.
    """
    source = path_given(path)
    try:
        wanted = _Wanted(floating, gravity, limits, meshes, massless, repair_inertia, repair, floor, contact, self_collision, at, height,
                         roots, mimic, loops)  # fmt: skip
        return _loaded(source, Folders(source.parent, packages, allow_outside), wanted)
    except ModelError as error:
        begins = str(error).split("'")[0]
        opening = "" if begins == "file " else f"file '{source}' " if begins.startswith("line ") else f"file '{source}': "
        raise ModelError(f"{opening}{error}") from error


def _loaded(source: Path, folders: Folders, wanted: _Wanted) -> Scene:
    read = read_robot(source, "" if wanted.roots == "refuse" else "floating" if wanted.floating else "fixed")
    robot = read.robot
    order = _root_first(robot)
    floating = wanted.floating and not (wanted.roots == "join" and order[0] == "world")
    if floating and order[0] == "world":
        raise ModelError("floating=true, but the root link is 'world'; rename it, or leave floating out")
    # links as bodies, with shapes
    wardrobe = Wardrobe(read, folders, wanted.shapes, set() if floating else _still(robot, order[0]))
    shapes = wardrobe.shapes()
    known = shapes if wanted.repair else None
    bodies = as_bodies(robot, order, floating, wanted.massless, wanted.repair_inertia, known, frozenset(wardrobe.unread))

    # loops, which the format does not know, from a file beside it
    loops = loops_of(source, wanted.loops)

    def assembled(X_WL: Pose) -> tuple[Builder, dict[str, str], Joints, Model]:
        """The robot with its root at a pose."""
        b = Builder(gravity=wanted.gravity)
        taken = {j.name for j in robot.joints}
        name_of = _add_bodies(b, order[0], bodies, shapes, taken, X_WL)
        joints = Joints(b, bodies, name_of, wanted.limits, wanted.mimic)
        joints.add_root(order[0], floating, taken, X_WL)
        joints.add(robot)
        if loops is not None:
            add_loops(b, loops, bodies, name_of, {j.name for j in robot.joints})
        return b, name_of, joints, b.build()

    # Where it starts: the floor decides the height of a robot that stands on it.
    X_WL = wanted.place
    b, name_of, joints, model = assembled(X_WL)
    if wanted.height == ON_FLOOR and wanted.ground is not None:
        X_WL = Pose(p=(X_WL.p[0], X_WL.p[1], X_WL.p[2] + wanted.ground - lowest(model)), wxyz=X_WL.wxyz)
        b, name_of, joints, model = assembled(X_WL)
    # what it touches, and what of the file is left out or changed
    touch = Touch(read, {link: name_of[host] for link, host in bodies.host.items()}, wanted.ground, wanted.touch, wanted.self_collision)
    touch.add(b, model, fixed=not wanted.floating)
    left_out = [*listed(read), *bodies.said, *joints.left_out(), *wardrobe.left_out(), *touch.left_out]
    renamed = [f"'{link}' to '{name}'" for link, name in name_of.items() if link != name and name != "world"]
    left_out += [f"link names changed, since they are taken: {', '.join(renamed)}"] if renamed else []
    closed = [] if loops is None else [f"{len(loops.joints)} loops and {len(loops.couplings)} couplings of '{loops.path.name}'"]
    notes = [*closed, *joints.notes(), *wardrobe.notes(), *touch.notes]
    if X_WL != Pose():
        notes.append(f"the root '{order[0]}' starts at ({', '.join(f'{x:.6g}' for x in X_WL.p)})")
    merged = bodies.merged()
    if merged:
        notes.append("links that are part of another: " + ", ".join(f"'{link}' of '{host}'" for link, host in merged))
    return Scene(b.build(), DURATION, STEP, notes="; ".join(notes), left_out=tuple(left_out), name=robot.name)


def _still(robot: Any, root: str) -> set[str]:
    """The links that are fixed to a root which does not move."""
    still = [root]
    for name in still:
        still += [j.child for j in robot.joints if j.parent == name and j.type == "fixed"]
    return set(still)


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
        raise ModelError(
            f"several links have no parent: {named(roots)}; connect them by joints, or load with roots=join, which hangs each on the world"
        )
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


def _add_bodies(b: Builder, root: str, bodies: Bodies, shapes: dict[str, list[Placed]], joints: set[str], X_WL: Pose) -> dict[str, str]:
    """The bodies in the order of the file's links, and the name of each by its link's. Ground has a joint of its own name."""
    name_of: dict[str, str] = {}
    for host in (link for link in shapes if bodies.host[link] == link):
        placed = [moved(s, bodies.X_BL[link]) for link in shapes if bodies.host[link] == host for s in shapes[link]]
        mass = bodies.mass[host]
        if host == root == "world" and not placed:
            if X_WL != Pose():
                raise ModelError("at or height, but the root link is 'world', which is where it is; rename it, or leave them out")
            name_of[host] = "world"
            continue
        name = host
        while name == "world" or name in name_of.values() or (mass is None and name in joints):
            name += "_link"
        name_of[host] = name
        if mass is None:
            here = bodies.host[root] == host
            b.body(name, placed, kind="static", X_WB=X_WL @ bodies.X_BL[root].inverse() if here else None)
        else:
            b.body(name, placed, mass=mass.mass, com=mass.com, inertia=mass.inertia)
    return name_of
