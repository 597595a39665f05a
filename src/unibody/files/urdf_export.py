"""A model as URDF, where URDF has words for it.

A link's frame is the frame M of the joint above it, so that everything of a body B is moved by X_LB = X_BM⁻¹:

    origin of a joint = X_LP X_PF,    centre of mass = X_LB c,    inertia = R_LB I R_LBᵀ,    origin of a shape = X_LB X_BS

The root is the link `world`, to which all trees are joined. Primitives are written as such (a capsule as a cylinder and two spheres), all
other shapes as STL files in a folder beside the file. What URDF cannot say is collected, and refused in one error that lists it.

URDF has neither gravity nor a start: they are remarks, not refusals.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from unibody.constraints import Coupling, JointCoupling, JointLimit
from unibody.errors import ModelError
from unibody.files.urdf import GRAVITY
from unibody.files.urdf_joints import BEYOND
from unibody.forces import DryFriction, TorsionSpring
from unibody.forces.dry_friction import SLIP_SPEED
from unibody.joints import Free, Planar, Prismatic, Revolute, Weld
from unibody.model import Model
from unibody.model.model import JointInfo
from unibody.scenes import Scene
from unibody.shapes import Box, Capsule, Cylinder, Placed, Plane, Shape, Sphere
from unibody.simulation.whole_file import remove_forgotten, whole_file
from unibody.spatial.pose import Pose

KINDS = {Weld: "fixed", Revolute: "continuous", Prismatic: "prismatic", Planar: "planar", Free: "floating"}


@dataclass
class _UrdfJoint:
    """What stands in a joint's element beside its frames."""

    lower: float = -math.inf
    upper: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    mimic: tuple[str, float, float] | None = None


@dataclass
class _Export:
    model: Model
    joints: dict[str, _UrdfJoint] = field(default_factory=dict)
    cannot: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def info(self, name: str) -> JointInfo:
        return self.model.joint(name)


def save_urdf(model: Model | Scene, path: str | Path, *, name: str | None = None, partial: bool = False) -> tuple[str, ...]:
    """Write the model; returns remarks. What URDF has no words for is refused, or with `partial` left out and named in the remarks:
    joints of other kinds are then written as fixed, in their start position."""
    if isinstance(model, Scene):
        name, model = name or model.name, model.model
    target = Path(path)
    export = _Export(model)
    _judge(export)
    meshes: dict[str, bytes] = {}
    root = _robot(export, name or target.stem, f"{target.stem}_meshes", meshes)
    if export.cannot and not partial:
        raise ModelError(f"URDF has no words for {'; '.join(export.cannot)}; change the model, or give partial=True to leave them out")
    ET.indent(root)
    with _written(target.parent / f"{target.stem}_meshes", meshes), whole_file(target) as out:
        out.write(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")
    return (*export.cannot, *export.remarks)


@contextlib.contextmanager
def _written(folder: Path, meshes: dict[str, bytes]) -> Iterator[None]:
    """The meshes are there before the URDF that names them; if it cannot be written, those that are new go again."""
    new = [folder / file for file in meshes if not (folder / file).exists()]
    made = bool(meshes) and not folder.exists()
    try:
        if meshes:
            folder.mkdir(exist_ok=True)
            remove_forgotten(folder)
        for file, data in meshes.items():
            with whole_file(folder / file) as out:
                out.write(data)
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for path in new:
                path.unlink(missing_ok=True)
            if made:
                folder.rmdir()
        raise


def _judge(export: _Export) -> None:
    """Read every element but bodies: into joints, or into what cannot be said."""
    model, cannot = export.model, export.cannot
    export.joints = {j.name: _UrdfJoint() for j in model.tree_joints}
    for j in model.tree_joints:
        if type(j.element) not in KINDS:
            cannot.append(f"joint '{j.name}' ({type(j.element).__name__})")
        if j.armature.any():
            cannot.append(f"armature of joint '{j.name}'")
        if j.nv > 1 and np.isfinite(j.effort_limit).any() and np.ptp(j.effort_limit) > 0.0:
            cannot.append(f"effort limits of joint '{j.name}' that differ")
        if j.v0.any() or not np.array_equal(j.q0, j.element.neutral()):
            export.remarks.append(f"joint '{j.name}': URDF has no start; it starts at 0 and at rest")
    cannot += [f"joint '{j.name}' that closes a loop" for j in model.loop_joints]
    cannot += [f"body '{b.name}' that is moved" for b in model.bodies if b.kind == "kinematic"]
    for name, force in model.forces:
        if not _takes_force(export, force):
            cannot.append(f"force '{name}' ({type(force).__name__})")
    for name, constraint in model.constraints:
        if not _takes_constraint(export, constraint):
            cannot.append(f"constraint '{name}' ({type(constraint).__name__})")
    if not np.array_equal(model.gravity, GRAVITY):
        export.remarks.append(f"URDF has no gravity; load it with gravity={tuple(model.gravity.tolist())}")
    if model.planar:
        export.remarks.append("the world is planar, and its file is not; the motion is the same")


def _takes_force(export: _Export, force: Any) -> bool:
    """Damping and dry friction that are the same in all degrees of freedom."""
    if type(force) not in (TorsionSpring, DryFriction) or force.joint not in export.joints:
        return False
    info, words = export.info(force.joint), export.joints[force.joint]
    given = force.damping if isinstance(force, TorsionSpring) else force.bound
    values = np.broadcast_to(given, info.nv)
    if np.ptp(values) > 0.0 or (force.dof is not None and info.nv > 1) or (isinstance(force, TorsionSpring) and np.any(force.stiffness)):
        return False
    if isinstance(force, TorsionSpring):
        words.damping += float(values[0])
        return True
    if words.friction:
        return False
    words.friction = float(values[0])
    if force.slip_speed != SLIP_SPEED:
        export.remarks.append(f"joint '{force.joint}': URDF has no slip speed of friction; it becomes {SLIP_SPEED:g}")
    return True


def _takes_constraint(export: _Export, constraint: Any) -> bool:
    """Limits of single coordinates, and couplings of two."""
    if type(constraint) is JointLimit:
        info = export.info(constraint.joint)
        if type(info.element) not in (Revolute, Prismatic) or info.loop:
            return False
        words = export.joints[constraint.joint]
        words.lower = max(words.lower, float(np.atleast_1d(constraint.lower)[0]))
        words.upper = min(words.upper, float(np.atleast_1d(constraint.upper)[0]))
        if constraint.barred:
            export.remarks.append(f"joint '{constraint.joint}': URDF has no barrier before a stop; damping, reach, stiffness are left out")
        return True
    if type(constraint) is Coupling:
        matrix = np.array(constraint.matrix)
        if (np.count_nonzero(matrix, axis=1) != 1).any():
            return False
        followers = [
            (joint, constraint.independent[int(np.flatnonzero(row)[0])][0], float(row[np.flatnonzero(row)[0]]), offset)
            for (joint, _), row, offset in zip(constraint.dependent, matrix, constraint.offset, strict=True)
        ]
    elif type(constraint) is JointCoupling and len(constraint.coordinates) == 2 and all(constraint.coefficients):
        (follower, _), (leader, _) = constraint.coordinates
        a, b = constraint.coefficients
        followers = [(follower, leader, -b / a, constraint.offset / a)]
    else:
        return False
    for follower, leader, *_ in followers:
        single = all(type(export.info(j).element) in (Revolute, Prismatic) and not export.info(j).loop for j in (follower, leader))
        if not single or export.joints[follower].mimic is not None:
            return False
    for follower, leader, factor, offset in followers:
        export.joints[follower].mimic = (leader, factor, float(offset))
    return True


def _robot(export: _Export, name: str, folder: str, meshes: dict[str, bytes]) -> ET.Element:
    root = ET.Element("robot", name=name)
    ET.SubElement(root, "link", name="world")
    model = export.model
    X_LB = {0: Pose()} | {j.child: j.X_BM.inverse() for j in model.tree_joints}
    for j in model.tree_joints:
        body = model.bodies[j.child]
        link = ET.SubElement(root, "link", name=body.name)
        if body.kind == "dynamic":
            _inertial(link, body, X_LB[j.child])
        for number, placed in enumerate(body.shapes):
            _shape(export, link, placed, X_LB[j.child], f"{_plain(body.name)}_{number}", folder, meshes)
    for j in model.tree_joints:
        _joint(export, root, j, X_LB[j.parent] @ j.X_PF)
    return root


def _joint(export: _Export, root: ET.Element, j: JointInfo, X: Pose) -> None:
    model, words = export.model, export.joints[j.name]
    kind = KINDS.get(type(j.element), "fixed")
    if type(j.element) not in KINDS:
        R, p = j.element.pose(j.q0)
        X = X @ Pose.from_rotation(R, p)
    limited = math.isfinite(words.lower) or math.isfinite(words.upper)
    if kind == "continuous" and limited:
        kind = "revolute"
    element = ET.SubElement(root, "joint", name=j.name, type=kind)
    ET.SubElement(element, "parent", link=model.bodies[j.parent].name)
    ET.SubElement(element, "child", link=model.bodies[j.child].name)
    _origin(element, X)
    if kind == "fixed":
        return
    if isinstance(j.element, Revolute | Prismatic):
        ET.SubElement(element, "axis", xyz=_numbers(j.element.axis))
    elif kind == "planar":
        ET.SubElement(element, "axis", xyz="0 0 1")
    effort = float(j.effort_limit.min())
    if kind in ("revolute", "prismatic") or math.isfinite(effort):
        ends = {"lower": repr(max(words.lower, -BEYOND)), "upper": repr(min(words.upper, BEYOND))}
        bounds = {"effort": repr(min(effort, BEYOND)), "velocity": repr(BEYOND)}
        ET.SubElement(element, "limit", (ends if kind in ("revolute", "prismatic") else {}) | bounds)
    if words.damping or words.friction:
        ET.SubElement(element, "dynamics", damping=repr(words.damping), friction=repr(words.friction))
    if words.mimic is not None:
        leader, factor, offset = words.mimic
        ET.SubElement(element, "mimic", joint=leader, multiplier=repr(factor), offset=repr(offset))


def _inertial(link: ET.Element, body: Any, X_LB: Pose) -> None:
    element = ET.SubElement(link, "inertial")
    R = X_LB.R
    inertia = R @ np.array(body.inertia) @ R.T
    ET.SubElement(element, "origin", xyz=_numbers(X_LB.apply(body.com)), rpy="0 0 0")
    ET.SubElement(element, "mass", value=repr(float(body.mass)))
    places = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    ET.SubElement(element, "inertia", {key: repr(float(inertia[at])) for key, at in places.items()})


def _shape(export: _Export, link: ET.Element, placed: Placed, X_LB: Pose, name: str, folder: str, meshes: dict[str, bytes]) -> None:
    shape, X_BS = _innermost(placed)
    if isinstance(shape, Plane):
        export.cannot.append(f"a Plane of body '{link.get('name')}'")
        return
    if placed.solid and placed.material is not None and (said := f"the ContactMaterial of body '{link.get('name')}'") not in export.cannot:
        export.cannot.append(said)
    tags = [t for t, wanted in (("visual", placed.visible), ("collision", placed.solid)) if wanted]
    pieces = _primitives(shape)
    if tags and not pieces:
        data = stl(*shape.triangles(32))
        file = f"{name}-{hashlib.sha256(data).hexdigest()[:12]}.stl"  # other content, other name: an older URDF keeps its meshes
        meshes[file] = data
        pieces = [(Pose(), "mesh", {"filename": f"{folder}/{file}"})]
    for tag in tags:
        for X_SG, kind, attributes in pieces:
            element = ET.SubElement(link, tag)
            _origin(element, X_LB @ X_BS @ X_SG)
            ET.SubElement(ET.SubElement(element, "geometry"), kind, attributes)
            if tag == "visual" and placed.colour is not None:
                rgba = _numbers((*placed.colour, 1.0)[:4])
                ET.SubElement(ET.SubElement(element, "material", name=f"colour {rgba}"), "color", rgba=rgba)


def _innermost(placed: Placed) -> tuple[Shape, Pose]:
    if isinstance(placed.shape, Placed):
        shape, X = _innermost(placed.shape)
        return shape, placed.X_BS @ X
    return placed.shape, placed.X_BS


def _primitives(shape: Shape) -> list[tuple[Pose, str, dict[str, str]]]:
    """The shape as URDF's own ones with their poses in its frame; nothing if it is none of them."""
    if type(shape) is Box:
        return [(Pose(), "box", {"size": _numbers(shape.sides)})]
    if type(shape) is Sphere:
        return [(Pose(), "sphere", {"radius": repr(shape.radius)})]
    if type(shape) is Cylinder:
        return [(Pose(), "cylinder", {"radius": repr(shape.radius), "length": repr(shape.length)})]
    if type(shape) is Capsule:
        ends = [(Pose((0.0, 0.0, z)), "sphere", {"radius": repr(shape.radius)}) for z in (-0.5 * shape.length, 0.5 * shape.length)]
        return [(Pose(), "cylinder", {"radius": repr(shape.radius), "length": repr(shape.length)}), *ends]
    return []


def _origin(element: ET.Element, X: Pose) -> None:
    ET.SubElement(element, "origin", xyz=_numbers(X.p), rpy=_numbers(roll_pitch_yaw(X.R)))


def roll_pitch_yaw(R: np.ndarray) -> tuple[float, float, float]:
    """The angles with R = R_z(yaw) R_y(pitch) R_x(roll). Pitch and roll are taken from what is left after the yaw is undone, so that the
    product is R to round-off also where yaw and roll turn about the same axis."""
    yaw = math.atan2(R[1, 0], R[0, 0]) if math.hypot(R[1, 0], R[0, 0]) > 1e-12 else 0.0
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, pitch, yaw


def stl(vertices: np.ndarray, faces: np.ndarray) -> bytes:
    """A binary STL file: 80 bytes of title, the number of triangles, and for each its normal, corners and two bytes of nothing."""
    corners = np.asarray(vertices)[np.asarray(faces)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    rows = np.zeros(len(corners), np.dtype([("numbers", "<f4", (4, 3)), ("attribute", "<u2")]))
    rows["numbers"][:, 0], rows["numbers"][:, 1:] = normals, corners
    return b"unibody".ljust(80) + np.uint32(len(rows)).tobytes() + rows.tobytes()


def _numbers(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "body"
