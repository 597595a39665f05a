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

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unibody.constraints import Coupling
from unibody.element import number
from unibody.errors import ModelError
from unibody.files.python_scene import DURATION, STEP
from unibody.files.urdf_grammar import listed, named, read_robot
from unibody.files.urdf_links import Bodies, as_bodies, pose_of
from unibody.files.urdf_shapes import Wardrobe, moved
from unibody.files.xml_safety import Folders
from unibody.forces import DryFriction
from unibody.joints import Ball, Free, Joint, Planar, Prismatic, Revolute, Weld
from unibody.model import Builder
from unibody.model.model import look_up
from unibody.scenes import Scene
from unibody.shapes import Placed
from unibody.spatial.pose import Pose, vector3

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
    name_of = _add_bodies(b, order, bodies, wardrobe.shapes())
    joints = _Joints(b, bodies, name_of, limits)
    joints.add_root(order[0], floating, {j.name for j in robot.joints})
    joints.add(robot)
    left_out = [*listed(read), *bodies.said, *joints.left_out()]
    if wardrobe.skipped:
        left_out.append(f"meshes of links {named(wardrobe.skipped)}: not read, since meshes=false")
    if wardrobe.textured:
        left_out.append(f"textures of materials {named(wardrobe.textured)}: surfaces have one colour")
    if wardrobe.empty:
        left_out.append(f"shapes of links {named(wardrobe.empty)}: a size of theirs is 0")
    if wardrobe.clipped:
        left_out.append(f"colours of links {named(wardrobe.clipped)}: brought into 0 … 1")
    renamed = [f"'{link}' to '{name}'" for link, name in name_of.items() if link != name and name != "world"]
    left_out += [f"link names changed, since 'world' is taken: {', '.join(renamed)}"] if renamed else []
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


def _add_bodies(b: Builder, order: list[str], bodies: Bodies, shapes: dict[str, list[Placed]]) -> dict[str, str]:
    """The bodies, and the name of each by its link's."""
    name_of: dict[str, str] = {}
    for host in (link for link in order if bodies.host[link] == link):
        placed = [moved(s, bodies.X_BL[link]) for link in order if bodies.host[link] == host for s in shapes[link]]
        mass = bodies.mass[host]
        if host == order[0] == "world" and not placed:
            name_of[host] = "world"
            continue
        name = host
        while name == "world" or name in name_of.values():
            name += "_link"
        name_of[host] = name
        if mass is None:
            b.body(name, placed, kind="static")
        else:
            b.body(name, placed, mass=mass.mass, com=mass.com, inertia=mass.inertia)
    return name_of


@dataclass
class _Joints:
    """Adds joints and collects what is said about them."""

    b: Builder
    bodies: Bodies
    name_of: dict[str, str]
    limits: bool

    def __post_init__(self) -> None:
        self.asides: dict[str, list[str]] = {}
        self.moved: list[str] = []
        self.limited = False

    def add_root(self, root: str, floating: bool, taken: set[str]) -> None:
        """Weld the root to the world, or free it; what is ground already stays as it is."""
        host = self.bodies.host[root]
        if self.bodies.mass[host] is None:
            return
        name = root
        while name in taken:
            name += "_base"
        self.b.joint(name, Free() if floating else Weld(), parent=self.b.world, child=self.name_of[host], X_BM=self.bodies.X_BL[root])

    def add(self, robot: Any) -> None:
        start = self._start(robot)
        for j in robot.joints:
            self._add_joint(j, start)
        for j in robot.joints:
            if j.mimic is not None and _scalar(j):
                self.b.add(Coupling([j.name], [j.mimic.joint], [[j.mimic.multiplier]], j.mimic.offset), name=f"{j.name}.mimic")

    def _add_joint(self, j: Any, start: dict[str, float]) -> None:
        parent, child = self.bodies.host[j.parent], self.bodies.host[j.child]
        if j.type == "fixed":
            self._unused(j)
            if parent == child:
                return
        element, turn = _element(j)
        options: dict[str, Any] = {"q": start[j.name]} if j.name in start and start[j.name] != 0.0 else {}
        options |= self._limits(j) | self._dynamics(j, element)
        X_PF = self.bodies.X_BL[j.parent] @ pose_of(j.origin) @ turn
        X_BM = self.bodies.X_BL[j.child] @ turn
        self.b.joint(j.name, element, self.name_of[parent], self.name_of[child], X_PF=X_PF, X_BM=X_BM, **options)
        friction = 0.0 if j.dynamics is None else float(j.dynamics.friction or 0.0)
        if friction and element.nv:
            self.b.add(DryFriction(j.name, friction), name=f"{j.name}.friction")

    def _dynamics(self, j: Any, element: Joint) -> dict[str, Any]:
        damping = 0.0 if j.dynamics is None else float(j.dynamics.damping or 0.0)
        return {"damping": damping} if damping and element.nv else {}

    def _limits(self, j: Any) -> dict[str, Any]:
        if j.limit is None or j.type == "fixed":
            return {}
        out: dict[str, Any] = {}
        if j.limit.effort is not None:
            if j.limit.effort > 0.0:
                out["effort_limit"] = float(j.limit.effort)
            else:
                self._aside("effort limits that are not above 0", "taken as none", j.name)
        if j.limit.velocity:
            self._aside("velocity limits", "no solver bounds speeds", j.name)
        ends = _range(j)
        if ends is not None and not self.limits:
            self._aside("limits", "left out, since limits=false", j.name)
        elif ends is not None:
            self.limited = True
            out["limits"] = ends
        elif j.type in ("revolute", "prismatic"):
            self._aside("limits without a lower and an upper end in this order", "taken as none", j.name)
        elif j.limit.lower is not None or j.limit.upper is not None:
            self._aside(f"lower and upper limits of type '{j.type}'", "such joints have none", j.name)
        return out

    def _unused(self, j: Any) -> None:
        """A fixed joint may say anything about motion."""
        moves = [n for n in ("limit", "dynamics", "mimic") if getattr(j, n) is not None]
        if moves:
            self._aside(f"<{'>, <'.join(moves)}> of type 'fixed'", "such joints do not move", j.name)

    def _start(self, robot: Any) -> dict[str, float]:
        """Where scalar joints start: within their limits, followers where their leaders put them."""
        by_name = {j.name: j for j in robot.joints}
        start = {j.name: 0.0 for j in robot.joints if _scalar(j)}
        for name in start:
            ends = _range(by_name[name])
            if ends is not None and self.limits:
                start[name] = float(np.clip(0.0, *ends))
        following = [j for j in robot.joints if j.mimic is not None]
        for j in following:
            look_up(j.mimic.joint, by_name, f"joint '{j.name}' mimic: joint")
            if not (_scalar(j) and _scalar(by_name[j.mimic.joint])):
                if j.type != "fixed":
                    raise ModelError(f"joint '{j.name}' mimics '{j.mimic.joint}', and one of them has not one coordinate; take <mimic> out")
        for _ in following:
            for j in following:
                if j.name in start:
                    start[j.name] = j.mimic.multiplier * start[j.mimic.joint] + j.mimic.offset
        self.moved = [f"'{name}' at {q:g}" for name, q in start.items() if q != 0.0]
        return start

    def _aside(self, what: str, why: str, joint: str) -> None:
        self.asides.setdefault(f"{what} of joints {{}}: {why}", []).append(joint)

    def left_out(self) -> list[str]:
        return [line.format(named(joints)) for line, joints in self.asides.items()]

    def notes(self) -> list[str]:
        out = []
        if self.limited:
            out.append("joint limits need a solver that holds one-sided constraints (redmax); limits=false leaves them out")
        if self.moved:
            out.append(f"joints that do not start at 0: {', '.join(self.moved)}")
        return out


def _scalar(j: Any) -> bool:
    return j.type in ("revolute", "continuous", "prismatic")


def _range(j: Any) -> tuple[float, float] | None:
    """The ends of a joint's way, if it has two in the right order."""
    if j.type not in ("revolute", "prismatic") or j.limit is None or (j.limit.lower is None and j.limit.upper is None):
        return None
    lower, upper = float(j.limit.lower or 0.0), float(j.limit.upper or 0.0)
    return (lower, upper) if lower < upper and np.isfinite([lower, upper]).any() else None


def _element(j: Any) -> tuple[Joint, Pose]:
    """The joint, and the turn of its frames that brings its axes to the file's."""
    if j.type == "fixed":
        return Weld(), Pose()
    if j.type == "floating":
        return Free(), Pose()
    if j.type == "spherical":
        return Ball(), Pose()
    axis = vector3(j.axis, f"joint '{j.name}' axis")
    size = float(np.linalg.norm(axis))
    if size < 1e-9:
        raise ModelError(f"joint '{j.name}': axis {tuple(axis.tolist())} has no direction; give one such as 0 0 1")
    axis = axis / size
    if j.type == "planar":
        return Planar(), _turned_to(axis)
    return (Prismatic(axis) if j.type == "prismatic" else Revolute(axis)), Pose()


def _turned_to(axis: np.ndarray) -> Pose:
    """The shortest turn that takes z to the axis."""
    cross = np.array([-axis[1], axis[0], 0.0])
    if not cross.any():
        return Pose() if axis[2] > 0.0 else Pose.about((1.0, 0.0, 0.0), np.pi)
    return Pose.about(cross, float(np.arctan2(np.linalg.norm(cross), axis[2])))
