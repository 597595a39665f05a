"""Bodies. What has no joint between it and the world is static, mocap bodies are kinematic, all others dynamic.

A body without a joint that hangs on a moving one is welded to it. If nothing real could have its mass and inertia (MuJoCo allows frames
without any), it becomes part of the body it hangs on: shapes, sites and joints move there, masses add up. A moving body without
inertia of its own takes in all that is welded to it. Gravity compensation is the force −m g at the centre of mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.files.mjcf_contact import MjcfContacts
from unibody.files.mjcf_reading import BodyPlace, Reading, frame, listed
from unibody.files.mjcf_shapes import moved, shapes_of
from unibody.forces import AppliedWrench
from unibody.shapes import MassProperties, Placed, combine
from unibody.spatial.pose import Pose

UNIT = MassProperties(1.0, np.zeros(3), np.eye(3))
"""Of what never moves by its mass: any will do."""


def add_bodies(r: Reading, mocap: dict[int, Pose]) -> MjcfContacts | None:
    """All bodies, and `r.bodies`; gives what may touch, None where contact is not read. `mocap`: where mocap bodies start."""
    m = r.m
    kinds = _kinds(m)
    host = _hosts(m, kinds)
    X = _poses_in_hosts(m, host)
    shapes, touching = shapes_of(r, host)
    placed: dict[int, list[Placed]] = {}
    masses: dict[int, list[MassProperties]] = {}
    for i in range(m.nbody):
        placed.setdefault(host[i], []).extend(moved(shapes.get(i, []), X[i]) if host[i] != i else shapes.get(i, []))
        if m.body_mass[i] > 0.0:
            masses.setdefault(host[i], []).append(own_mass(m, i).moved(X[i].R, X[i].p))
    r.bodies[0] = BodyPlace("world", Pose())
    places = {0: Pose()}
    for i in range(1, m.nbody):
        if host[i] != i:
            r.bodies[i] = BodyPlace(r.bodies[host[i]].name, X[i])
            continue
        name = r.body_name(r.name("body", i))
        mass = combine(masses[i]) if i in masses else UNIT
        if kinds[i] != "dynamic":
            places[i] = mocap.get(i) or places[host[m.body_parentid[i]]] @ X[m.body_parentid[i]] @ _local(m, i)
            mass = mass if _sound(mass) else UNIT
        r.builder.body(
            name, shape=placed.get(i), mass=mass.mass, com=mass.com, inertia=mass.inertia, kind=kinds[i], X_WB=places.get(i)
        )  # fmt: skip
        r.bodies[i] = BodyPlace(name, Pose())
        (r.moving if kinds[i] == "dynamic" else r.fixed).add(name)
    if placed.get(0):
        r.ground = r.body_name("ground")
        r.fixed.add(r.ground)
        r.builder.body(r.ground, shape=placed[0], mass=UNIT.mass, com=UNIT.com, inertia=UNIT.inertia, kind="static")
    absorbed = [i for i in range(1, m.nbody) if host[i] != i]
    why = "have no joint and cannot stand alone (no inertia, or fixed to a mocap body); part of the body they hang on"
    r.leave_all("bodies", "body", absorbed, why)
    _compensate_gravity(r, masses, host, X)
    return touching


def own_mass(m: Any, i: int) -> MassProperties:
    """Mass, centre of mass and inertia in the body's frame."""
    R = frame((0, 0, 0), m.body_iquat[i]).R
    return MassProperties(float(m.body_mass[i]), np.array(m.body_ipos[i]), R @ np.diag(m.body_inertia[i]) @ R.T)


def _local(m: Any, i: int) -> Pose:
    return frame(m.body_pos[i], m.body_quat[i])


def _kinds(m: Any) -> list[str]:
    kinds = ["static"]
    for i in range(1, m.nbody):
        above = kinds[m.body_parentid[i]]
        kinds.append("kinematic" if m.body_mocapid[i] >= 0 else "dynamic" if m.body_jntnum[i] else above)
    return kinds


def _hosts(m: Any, kinds: list[str]) -> list[int]:
    """The body that each becomes part of; most are their own."""
    host = [0]
    for i in range(1, m.nbody):
        above = host[m.body_parentid[i]]
        joined = m.body_jntnum[i] == 0 and m.body_mocapid[i] < 0
        if joined and kinds[i] == "kinematic":
            host.append(above)
        elif joined and kinds[i] == "dynamic" and not (_sound(own_mass(m, i)) and _sound(own_mass(m, above))):
            host.append(above)
        else:
            host.append(i)
    return host


def _poses_in_hosts(m: Any, host: list[int]) -> list[Pose]:
    X: list[Pose] = []
    for i in range(m.nbody):
        X.append(Pose() if host[i] == i else X[m.body_parentid[i]] @ _local(m, i))
    return X


def _sound(properties: MassProperties) -> bool:
    try:
        properties.check("body")
    except ModelError:
        return False
    return True


def _compensate_gravity(r: Reading, masses: dict[int, list[MassProperties]], host: list[int], X: list[Pose]) -> None:
    m = r.m
    if r.off("gravity"):
        return
    for i in range(1, m.nbody):
        if not m.body_gravcomp[i] or m.body_mass[i] <= 0.0 or m.body_weldid[i] == 0:
            continue
        force = -float(m.body_mass[i] * m.body_gravcomp[i]) * np.array(m.opt.gravity)
        name = r.element(f"{r.name('body', i)}.gravcomp", "force")
        r.builder.add(AppliedWrench(r.bodies[i].name, force=tuple(force), at=tuple(X[i].apply(m.body_ipos[i]))), name=name)
    held = [r.name("joint", j) for j in range(m.njnt) if m.jnt_actgravcomp[j]]
    if held:
        r.leave(f"joints: {listed(held)}: gravity compensation counts as an applied force here, not as the actuator's (actgravcomp)")
