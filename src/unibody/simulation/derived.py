"""What follows from a recording as a whole: momentum, the centre of mass, tensions of springs and cables, tables for other programs.

    p = Σ m ċ,    L = Σ c × m ċ + I ω about the world's origin,    c̄ = Σ m c / Σ m

over the bodies that move freely and the vertices of deformables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unibody.element import Kinematics, Point
from unibody.errors import ModelError
from unibody.model.model import look_up
from unibody.model.tables import Names
from unibody.spatial.pose import rotation_from_quaternion


def momenta(recording: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p (T, 3) [kg m/s], L (T, 3) [kg m²/s], c̄ (T, 3) [m]."""
    model = recording.model
    which = [i for i, b in enumerate(model.bodies) if b.kind == "dynamic"]
    bodies = [model.bodies[i] for i in which]
    rows = len(recording)
    places = np.array([o.poses[which] for o in recording.observations]).reshape(rows, len(which), 7)
    twists = np.array([o.twists[which] for o in recording.observations]).reshape(rows, len(which), 6)
    R = np.array([[rotation_from_quaternion(wxyz) for wxyz in row] for row in places[..., 3:]]).reshape(rows, len(which), 3, 3)
    arm = np.einsum("tnij,nj->tni", R, np.array([b.com for b in bodies]).reshape(-1, 3))
    m = np.array([b.mass for b in bodies])[:, None]
    linear = m * (twists[..., 3:] + np.cross(twists[..., :3], arm))
    inertia = np.array([b.inertia for b in bodies]).reshape(-1, 3, 3)
    spin = np.einsum("tnij,njk,tnlk,tnl->tni", R, inertia, R, twists[..., :3])
    centres = places[..., :3] + arm
    p, L, moment, mass = linear.sum(axis=1), (np.cross(centres, linear) + spin).sum(axis=1), (m * centres).sum(axis=1), float(m.sum())
    for d in model.deformables:
        x, own = (recording._of_vertices(d.every, what) for what in ("vertices", "vertex_velocities"))
        own = d.momenta(own)
        p, L, moment, mass = p + own.sum(axis=1), L + np.cross(x, own).sum(axis=1), moment + d.mass @ x, mass + float(d.mass.sum())
    return p, L, moment / mass if mass > 0.0 else np.full((rows, 3), np.nan)


def tension(recording: Any, name: str) -> np.ndarray:
    """(T,) of a spring or cable [N], by its name: what pulls its points together; below 0 where a spring pushes. (T, spans) of a cable
    whose wheels rub or grip, so that its spans differ."""
    force = look_up(name, dict(recording.model.forces), "force")
    if hasattr(force, "tensions"):
        return _course_tensions(recording, force)
    if not hasattr(force, "tension"):
        raise ModelError(f"tension of '{name}': {type(force).__name__} has none; ask for a SpringDamper or a Cable")
    points: tuple[Point, ...] = force.points if hasattr(force, "points") else (force.a, force.b)
    moved = [_moved(recording, p) for p in points]
    x, velocity = (np.stack([each[k] for each in moved], axis=1) for k in range(2))
    segments = np.diff(x, axis=1)
    lengths = np.linalg.norm(segments, axis=2)
    along = np.divide(segments, lengths[..., None], out=np.zeros_like(segments), where=lengths[..., None] > 0.0)
    rates = np.einsum("tsi,tsi->ts", along, np.diff(velocity, axis=1))
    return force.tension(lengths.sum(axis=1), rates.sum(axis=1))


def _course_tensions(recording: Any, force: Any) -> np.ndarray:
    """Of a cable over wheels, span by span where one tension does not rule all along."""
    rows = [force.tensions(kinematics_of(recording.model, o)) for o in recording.observations]
    out = np.array(rows).reshape(len(rows), -1)
    return out if force.several_tensions else out[:, 0]


def kinematics_of(model: Any, o: Any) -> Kinematics:
    """Where bodies and held vertices are in an observation, and how they move."""
    R, p = np.array([rotation_from_quaternion(wxyz) for wxyz in o.poses[:, 3:]]), o.poses[:, :3]
    V = np.einsum("nji,nkj->nki", R, o.twists.reshape(-1, 2, 3)).reshape(-1, 6)
    X = np.concatenate([R.reshape(-1, 9), p], axis=1)
    for held in model.vertex_points:
        X = np.concatenate([X, [[*np.eye(3).ravel(), *(held.weights @ o.vertices[held.vertices])]]])
        V = np.concatenate([V, [[0.0, 0.0, 0.0, *(held.weights @ o.vertex_velocities[held.vertices])]]])
    none = np.zeros(0)
    return Kinematics(o.time, X, V, o.joint_q, o.joint_v, none, none, Names(model))


def _moved(recording: Any, point: Point) -> tuple[np.ndarray, np.ndarray]:
    """(T, 3) where a point of a body or of a deformable is, and how fast."""
    for held in recording.model.vertex_points:
        if held.name == point.body:
            seen, used = recording.observations, held.vertices
            x, v = (np.array([held.weights @ getattr(o, what)[used] for o in seen]) for what in ("vertices", "vertex_velocities"))
            return x, v
    x, twist, place = recording.point(point.body, point.p), recording.twist(point.body), recording.pose(point.body)
    return x, twist[:, 3:] + np.cross(twist[:, :3], x - place[:, :3])


def table(recording: Any) -> dict[str, np.ndarray]:
    """Columns with a number for every recorded state: time, energies, violation, joints' coordinates, poses; then joints' velocities,
    bodies' twists, reactions, tensions, and where the solver knows surfaces the number of contacts and the force on each body and
    deformable."""
    model, energy = recording.model, recording.energy
    elastic = ("elastic",) if model.deformables else ()
    out = {"t": recording.t} | {name: getattr(energy, name) for name in ("kinetic", "gravity", "springs", *elastic, "total")}
    out["violation"] = recording.violation
    moving = [j for j in model.joints if j.nq]
    for j in moving:
        out |= {f"{j.name}.q{k}": x for k, x in enumerate(recording.joint(j.name).T)}
    for body in model.bodies[1:]:
        out |= dict(zip(_of(body.name, "x y z qw qx qy qz"), recording.pose(body.name).T, strict=True))
    for j in moving:
        out |= {f"{j.name}.v{k}": x for k, x in enumerate(recording.joint_velocity(j.name).T)}
    for body in model.bodies[1:]:
        out |= dict(zip(_of(body.name, "wx wy wz vx vy vz"), recording.twist(body.name).T, strict=True))
    for j in model.joints:
        if not j.implicit:
            out |= dict(zip(_of(j.name, "tx ty tz fx fy fz"), recording.reaction(j.name).T, strict=True))
    for name, force in model.forces:
        if hasattr(force, "tension") or hasattr(force, "tensions"):
            pull = tension(recording, name)
            out |= {f"{name}.tension": pull} if pull.ndim == 1 else {f"{name}.tension{k}": x for k, x in enumerate(pull.T)}
    seen = [o.contacts for o in recording.observations]
    if seen and all(c is not None for c in seen) and any(len(c) for c in seen):
        out["contacts"] = np.array([len(c) for c in seen], float)
        for i, name in enumerate(recording._touching_names):
            if any((c.bodies == i).any() for c in seen):
                out |= dict(zip(_of(name, "contact_fx contact_fy contact_fz"), np.array([c.on(i) for c in seen]).T, strict=True))
    return out


def deformed(recording: Any) -> dict[str, np.ndarray]:
    """Arrays of deformables, n vertices in all: deformable_names (m,), deformable_first (m,) the number of the first vertex of each;
    vertices (T, n, 3) [m], vertex_velocities (T, n, 3) [m/s], vertex_contacts (T, n, 3) [N]; elastic (T,) [J]. Nothing where there are
    none."""
    model, seen = recording.model, recording.observations
    if not model.deformables or any(o.vertices is None for o in seen):
        return {}
    names = ("vertices", "vertex_velocities", "vertex_contacts")
    return {
        "deformable_names": np.array([d.name for d in model.deformables]),
        "deformable_first": np.array([d.first for d in model.deformables]),
        **{name: np.array([getattr(o, name) for o in seen]).reshape(len(seen), -1, 3) for name in names},
        "elastic": recording.energy.elastic,
    }


def _of(name: str, words: str) -> list[str]:
    return [f"{name}.{word}" for word in words.split()]
