"""Robots whose joints are held by springs, dropped on a floor until they rest; and the same files in MuJoCo, put where ours rests.

Every hinge and slide between two links gets the spring and damper

    k = STIFFNESS · weight · size [N m/rad],   k / size² [N/m] of slides,   c = DELAY · k

in both engines, in place of what the file has there, at rest where the robot starts. A robot thus comes to rest within some seconds, and
where it rests depends on shapes, masses, joints, limits, servos and contact of the file. Joints that place a robot in the world (free ones,
and the slides and hinges of planar robots) stay as they are.

MuJoCo reads the same file: MJCF as it is, URDF without what is only seen, with the paths of its meshes written out, and with our inertias
for those that it refuses. Its contacts and limits are made as hard as it takes.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import unibody as ub
from peers.robots import CLEARANCE, find, lowest, qpos_of, speeds, stiffened, weight
from unibody.files.xml_safety import Folders

STIFFNESS, DELAY = 4.0, 0.05
"""[1, s] Of a robot of 1 m: modes of some 20 rad/s, damped by half."""
FRICTION = 0.8
"""Of all links of a URDF, in both engines; what MJCF files say of friction holds."""
INSIDE = 0.02
"""Of a joint's range: how far inside its limits it starts, since MuJoCo throws a joint that begins outside."""
QUIET = 1e-7
"""[m/s, rad/s] Slower is rest: what is left of the weight's acceleration is then far below 10⁻⁶ of it."""
STRETCH = 0.25
"""[s] Between two looks whether it rests."""


@dataclass(frozen=True)
class Held:
    """A robot on a floor, and its springs: joint → (stiffness, damping, rest)."""

    robot: str
    builder: ub.Builder
    springs: dict[str, tuple[float, float, float]]


def held(robot: str, stiffness: float = STIFFNESS, delay: float = DELAY) -> Held:
    """The robot above a floor with its joints held."""
    path = find(robot)
    if path.suffix == ".urdf":
        b = ub.Builder.load(path, floating=True, floor=True, contact=ub.Contact(friction=FRICTION), mimic=False)
    else:
        b = ub.Builder.load(path)
        if not any(isinstance(e, ub.Contact) for e in b.elements.values()):
            b.add(ub.Contact(friction=1.0))
    between = list(scalar_joints(b.build()))
    rest = {name: inside(b, name, at) for name, _, at in between}
    if rest:
        b.start(rest)
    above_floor(b, urdf=path.suffix == ".urdf")
    model = b.build()
    size, springs = extent(model), {}
    for name, slides, _ in between:
        k = stiffness * weight(model) * size / (size * size if slides else 1.0)
        springs[name] = (k, delay * k, rest[name])
        b.change_joint(name, stiffness=k, damping=delay * k, rest=rest[name])
    return Held(robot, b, springs)


def scalar_joints(model: ub.Model) -> Iterator[tuple[str, bool, float]]:
    """Of hinges and slides between links: the name in the file, whether it slides, where it starts."""
    for j in model.tree_joints:
        if j.parent == 0 or model.bodies[j.parent].kind != "dynamic":
            continue
        q = 0
        for name, part in zip(j.parts or (j.name,), j.element.parts(), strict=True):
            if isinstance(part, ub.Revolute | ub.Prismatic):
                yield name, isinstance(part, ub.Prismatic), float(j.q0[q])
            q += part.nq


def inside(b: ub.Builder, joint: str, q: float) -> float:
    limit = b.elements.get(f"{joint}.limit")
    if limit is None:
        return q
    low, high = float(limit.lower), float(limit.upper)
    room = INSIDE * (high - low) if np.isfinite(high - low) else 0.0
    return float(np.clip(q, low + room, high - room))


def above_floor(b: ub.Builder, urdf: bool) -> None:
    """Move a URDF's root so that the robot begins a little above the floor; put a floor below an MJCF that has none."""
    model = b.build()
    if urdf:
        root = next(body for body in model.bodies[1:] if body.kind == "dynamic")
        b.place(root.name, ub.Pose((0.0, 0.0, root.X_WB.p[2] - lowest(model) + CLEARANCE), root.X_WB.wxyz))
    elif not any(body.kind == "static" and body.shapes for body in model.bodies[1:]):
        b.body("floor below", shape=ub.Plane(), kind="static", X_WB=ub.Pose((0.0, 0.0, lowest(model) - CLEARANCE)))


def extent(model: ub.Model) -> float:
    """[m] The diagonal of the box around what moves."""
    points = [
        placed.triangles()[0] @ np.asarray(body.X_WB.R).T + np.asarray(body.X_WB.p)
        for body in model.bodies if body.kind == "dynamic" for placed in body.shapes if placed.solid
    ]  # fmt: skip
    return float(np.linalg.norm(np.ptp(np.concatenate(points), axis=0)))


def run_to_rest(model: ub.Model, seconds: float, dt: float = 5e-3) -> ub.Recording:
    """Its last stretch: that after which nothing moves, or the last within these seconds."""
    simulation = ub.Simulation(model, "complementarity", dt=dt)
    for _ in range(round(seconds / STRETCH)):
        recording = simulation.run(STRETCH, every=round(STRETCH / dt))
        if speeds(recording) < QUIET:
            break
    return recording


def in_mujoco(robot: Held, model: ub.Model) -> Any:
    """The same file in MuJoCo, with our floor where it has none, and its joints held as ours are."""
    import mujoco

    path = find(robot.robot)
    if path.suffix == ".urdf":
        spec = mujoco.MjSpec.from_string(urdf_for_mujoco(path, model))
        spec.worldbody.first_body().add_freejoint(name=next(j.name for j in model.tree_joints if isinstance(j.element, ub.Free)))
        for geom in spec.geoms:
            geom.friction[0] = FRICTION
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[9, 9, 1], friction=[FRICTION, 0, 0])
        exclude(spec, model)
    else:
        spec = mujoco.MjSpec.from_file(str(path))
        for body in model.bodies:
            if body.name == "floor below":
                spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[9, 9, 1], pos=body.X_WB.p)
    m = stiffened(spec.compile())
    m.opt.integrator = int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)  # dampers this strong are too much for explicit rules
    for name, (stiffness, damping, rest) in robot.springs.items():
        joint = m.joint(name)
        m.jnt_stiffness[joint.id] = stiffness
        m.dof_damping[joint.dofadr[0]], m.qpos_spring[joint.qposadr[0]] = damping, rest
    return m


def urdf_for_mujoco(path: Path, model: ub.Model) -> str:
    """The file without what is only seen, with the places of its meshes, and with our inertias where MuJoCo refuses its own."""
    root = ElementTree.parse(path).getroot()
    ours = {body.name: body for body in model.bodies}
    for link in root.iter("link"):
        for seen in link.findall("visual"):
            link.remove(seen)
        inertial = link.find("inertial")
        if inertial is None or possible(inertial):
            continue
        if link.get("name") in ours:
            link.remove(inertial)
            link.append(inertial_of(ours[str(link.get("name"))]))
        elif (inertia := inertial.find("inertia")) is not None:  # part of another body, to which it adds a point's mass
            inertia.attrib.update(dict.fromkeys(inertia.attrib, "0"))
    folders = Folders(path.parent)
    for mesh in root.iter("mesh"):
        mesh.set("filename", str(folders.resolve(mesh.get("filename"), "mesh")))
    for own in root.findall("mujoco"):
        root.remove(own)
    told = {"strippath": "false", "fusestatic": "true", "inertiafromgeom": "false"}
    ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler", told)
    return ElementTree.tostring(root, encoding="unicode")


def possible(inertial: ElementTree.Element) -> bool:
    """Whether it is that of a body: positive, and no moment larger than the two others together."""
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None or float(mass.get("value", "0")) <= 0.0:
        return False
    xx, xy, xz, yy, yz, zz = (float(inertia.get(f"i{axes}", "0")) for axes in ("xx", "xy", "xz", "yy", "yz", "zz"))
    least, middle, most = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return bool(least > 0.0 and least + middle >= most)


def inertial_of(body: Any) -> ElementTree.Element:
    """In the link's frame, which is the body's."""
    out = ElementTree.Element("inertial")
    J = body.inertia
    ElementTree.SubElement(out, "origin", xyz=" ".join(repr(float(x)) for x in body.com))
    ElementTree.SubElement(out, "mass", value=repr(float(body.mass)))
    six = {"ixx": J[0, 0], "iyy": J[1, 1], "izz": J[2, 2], "ixy": J[0, 1], "ixz": J[0, 2], "iyz": J[1, 2]}
    ElementTree.SubElement(out, "inertia", {name: repr(float(x)) for name, x in six.items()})
    return out


def exclude(spec: Any, model: ub.Model) -> None:
    """What our loader keeps from touching, links that overlap where the robot starts, by the moving links that they are fixed to."""

    def moving(name: str) -> str:
        body = spec.body(name)
        while not body.joints:
            body = body.parent
        return str(body.name)

    for _, contact in model.constraints:
        for a, b in contact.pairs() if isinstance(contact, ub.Contact) and not contact.on else ():
            if moving(a) != moving(b):
                spec.add_exclude(bodyname1=moving(a), bodyname2=moving(b))


def heights_after(m: Any, model: ub.Model, q: np.ndarray, seconds: float = 0.5) -> dict[str, float]:
    """[m] Of MuJoCo's bodies by name, so long after it was put at rest into our coordinates."""
    import mujoco

    d = mujoco.MjData(m)
    d.qpos[:] = qpos_of(m, model, q)
    for _ in range(round(seconds / m.opt.timestep)):
        mujoco.mj_step(m, d)
    assert not any(w.number for w in d.warning), "MuJoCo warns of its own run"
    mujoco.mj_kinematics(m, d)
    return {m.body(i).name or f"body {i}": float(d.xpos[i, 2]) for i in range(1, m.nbody)}
