"""Elements whose world stands elsewhere: at a pose X of ours, or in a body of ours at X.

    points of the world                 points of the new host, X p
    directions beside such points       turned with X
    places, poses and axes of the world moved with X, which needs a host that stands still: a moving one has no place to speak of

An element of somebody's own may give a method `moved(X)` that returns it as it is with its world at X. Without one its points are moved,
and then it is tried: with all bodies moved by X it must do to each what it did before, in that body's axes, for random motions. What does
something else speaks of the world where nobody can see it, and is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from unibody.constraints import Contact, FixedPoint, PointOnLine, PointPlane, PrescribedFrame, PrescribedPoint, Rolling
from unibody.element import Kinematics, Point
from unibody.errors import ModelError
from unibody.forces import AppliedWrench
from unibody.forces.base import Force, Loads
from unibody.model.renaming import renamed, with_arguments, with_points
from unibody.model.values import arguments_of
from unibody.spatial.moved import HERE, moved_motion, moved_value
from unibody.spatial.pose import Pose

if TYPE_CHECKING:
    from unibody.model.model import Model

ALIKE = 1e-8
"""Parts of the largest number by which what an element does may differ: round-off, and differences of motions that are functions."""


@dataclass(frozen=True)
class Host:
    """Where a world goes: a body of ours, the pose X of that world in it, and its pose in our world, if that stays."""

    body: str
    X: Pose
    X_W: Pose | None
    world: str = "world"
    """What goes there: the world, or a static body of it that becomes part of the host."""

    @property
    def nothing(self) -> bool:
        """Whether this world stays as it is."""
        return self.body == self.world and self.X == HERE

    def still(self, what: str) -> Pose:
        """X_W, or a refusal of what cannot move along."""
        if self.X_W is None:
            remedy = "remove it first, or include into what stands still"
            raise ModelError(f"{what} is held in the world, and body '{self.body}' moves; {remedy}")
        return self.X_W


def moved(element: Any, name: str, host: Host) -> Any:
    """The element with its world at the host; what acts in joints alone knows no world. Elements of classes that are not ours must be
    tried afterwards: `same_deeds`."""
    if host.nothing:
        return element
    what = f"'{name}' ({type(element).__name__})"
    own = getattr(element, "moved", None)
    if callable(own) and host.X_W is not None and host.world == "world":
        return own(host.X_W)
    fields = _fields(element, host, what) if host.world == "world" or isinstance(element, BESIDE) else {}
    cls: Any = type(element)
    given = {a: fields.get(a, getattr(element, f)) for a, (f, _) in arguments_of(cls).items()} if element.bodies() else {}

    def point(p: Point) -> Point:
        return Point(host.body, tuple(host.X.apply(p.p).tolist())) if p.body == host.world else p

    at_points = {a: with_points(value, point) for a, value in given.items()}
    changed = {a: value for a, value in at_points.items() if value is not given[a] or a in fields}
    out = with_arguments(element, name, changed) if changed else element
    return renamed(out, name, {host.world: host.body}, {})


BESIDE = (PointOnLine, PointPlane, Contact)
"""Classes with directions in the axes of a body that they name."""


@singledispatch
def _fields(element: Any, host: Host, what: str) -> dict[str, Any]:
    """Arguments that speak of the world otherwise than by points."""
    return {}


@_fields.register
def _(element: AppliedWrench, host: Host, what: str) -> dict[str, Any]:
    if element.axes == "body" or not (callable(element.torque) or callable(element.force) or any((*element.torque, *element.force))):
        return {}
    X = host.still(what)
    return {key: moved_motion(getattr(element, key), X, "direction") for key in ("torque", "force")}


@_fields.register
def _(element: FixedPoint, host: Host, what: str) -> dict[str, Any]:
    X = host.still(what)
    return {} if element.position is None else {"position": moved_value(element.position, X, "place")}


@_fields.register
def _(element: PointOnLine, host: Host, what: str) -> dict[str, Any]:
    return {"direction": moved_value(element.direction, host.X, "direction")} if element.on.body == host.world else {}


@_fields.register
def _(element: PointPlane, host: Host, what: str) -> dict[str, Any]:
    return {"normal": moved_value(element.normal, host.X, "direction")} if element.origin.body == host.world else {}


@_fields.register
def _(element: Rolling, host: Host, what: str) -> dict[str, Any]:
    return {"normal": moved_value(element.normal, host.still(what), "direction")}


@_fields.register
def _(element: Contact, host: Host, what: str) -> dict[str, Any]:
    first = element.between[0] if element.between is not None else ()
    turns = first == host.world and element.direction is not None
    return {"direction": moved_value(element.direction, host.X, "direction")} if turns else {}


@_fields.register
def _(element: PrescribedFrame, host: Host, what: str) -> dict[str, Any]:
    return {"motion": moved_motion(element.motion, host.still(what), "pose")}


@_fields.register
def _(element: PrescribedPoint, host: Host, what: str) -> dict[str, Any]:
    X = host.still(what)
    if len(element.axes) < 3 and not np.array_equal(X.R, np.eye(3)):
        raise ModelError(f"{what} holds axes {element.axes} of the world, which cannot be turned; hold all three, or include it unturned")
    return {
        "motion": moved_motion(element.motion, X, "place"), "rate": moved_motion(element.rate, X, "direction"),
        "acceleration": moved_motion(element.acceleration, X, "direction"),
    }  # fmt: skip


def is_house(element: Any) -> bool:
    """Whether its class is one of this package, of which it is known what speaks of the world."""
    return type(element).__module__.startswith("unibody.")


def same_deeds(
    before: Model, after: Model, elements: Mapping[str, str], bodies: Mapping[str, str], joints: Mapping[str, str], X: Pose,
    host: str = "world",
) -> None:  # fmt: skip
    """Refuse elements (old name → new) that do not do in `after`, with everything moved by X, what they do in `before`. Bodies that are
    not in `bodies` have become part of the host, as the world has."""
    old: dict[str, Any] = dict([*before.forces, *before.constraints])
    new: dict[str, Any] = dict([*after.forces, *after.constraints])
    rng = np.random.default_rng(1)
    for trial in range(4):
        first = _anyhow(before, rng, 0.1 * trial)
        second = _moved_along(first, before, after, bodies, joints, X)
        for name, given in elements.items():
            gone = {b.name for b in before.bodies if b.name not in bodies}
            deeds = _deeds(old[name], first, bodies, joints, gone), _deeds(new[given], second, {}, {}, {host})
            if not _alike(*deeds, loose=not isinstance(old[name], Force) and not old[name].unilateral):
                remedy = "give the class a method moved(X) that returns it with its world at X, or include it where it was"
                raise ModelError(f"'{name}' ({type(old[name]).__name__}) does something else where its world stands elsewhere; {remedy}")


def _anyhow(model: Model, rng: np.random.Generator, t: float) -> Kinematics:
    """All bodies near their starts, turned and moving at random; joints too."""
    from unibody.model.tables import Names

    poses = [b.X_WB for b in model.bodies]
    size = 0.5 + float(np.abs([X.p for X in poses]).max(initial=0.0))
    rows = []
    for body, pose in zip(model.bodies, poses, strict=True):
        if body.kind == "dynamic":
            pose = Pose(np.array(pose.p) + rng.uniform(-size, size, 3), rng.standard_normal(4))
        rows.append(np.concatenate([pose.R.ravel(), pose.p]))
    rows += [np.concatenate([np.eye(3).ravel(), rng.uniform(-size, size, 3)]) for _ in model.vertex_points]
    still = [b.kind != "dynamic" for b in model.bodies] + [False for _ in model.vertex_points]
    V = rng.uniform(-1.0, 1.0, (len(rows), 6)) * ~np.array(still)[:, None]
    q = np.concatenate([np.zeros(0), *(j.element.advance(j.q0, rng.uniform(-1.0, 1.0, j.nv), 1.0) for j in model.joints)])
    v = rng.uniform(-1.0, 1.0, model.nv_joints)
    return Kinematics(t, np.array(rows), V, q, v, np.array(model.signals), model.neutral_control(), Names(model))


def _moved_along(k: Kinematics, before: Model, after: Model, bodies: Mapping[str, str], joints: Mapping[str, str], X: Pose) -> Kinematics:
    """The same motion, moved by X, of the bodies and joints in another model."""
    from unibody.model.tables import Names

    rows = np.array([np.concatenate([b.X_WB.R.ravel(), b.X_WB.p]) for b in after.bodies])
    rows = np.concatenate([rows, np.zeros((len(after.vertex_points), 12))])
    V, q, v = np.zeros((len(rows), 6)), after.start_q(), np.zeros(after.nv_joints)
    for name, given in bodies.items():
        i, j = before.body(name), after.body(given)
        R, p = k.X[i, :9].reshape(3, 3), k.X[i, 9:]
        rows[j], V[j] = np.concatenate([(X.R @ R).ravel(), X.apply(p)]), k.V[i]
    for name, given in joints.items():
        a, b = before.joint(name), after.joint(given)
        q[b.q_start : b.q_start + b.nq] = k.q[a.q_start : a.q_start + a.nq]
        v[b.v_start : b.v_start + b.nv] = k.v[a.v_start : a.v_start + a.nv]
    return Kinematics(k.t, rows, V, q, v, np.array(after.signals), after.neutral_control(), Names(after))


def _deeds(
    element: Any, k: Kinematics, bodies: Mapping[str, str], joints: Mapping[str, str], gone: Collection[str]
) -> tuple[dict[Any, np.ndarray], ...]:
    """What an element does to bodies (but to its world) and joints, by their new names; of a constraint also its rows."""
    if isinstance(element, Force):
        loads = Loads()
        element.apply(k, loads)
        by_joint = {("effort", joints.get(j, j)): e for j, e in loads.efforts.items()}
        by_joint |= {("drive", joints.get(j, j)): e for j, e in loads.actuation.items()}
        by_body = {("body", bodies.get(b, b)): w for b, w in loads.wrenches.items() if b not in gone}
        return by_body | by_joint, {"energy": np.array([element.energy(k)])}
    rows = element.evaluate(k)
    drift = np.zeros_like(rows.residual) if rows.drift is None else rows.drift
    blocks = {("body", bodies.get(b, b)): np.asarray(G) for b, G in rows.G.items() if b not in gone}
    blocks |= {("joint", joints.get(j, j)): np.asarray(J) for j, J in rows.J.items()}
    return blocks, {"residual": rows.residual, "bias": rows.bias, "drift": drift}


def _alike(first: tuple[dict[Any, np.ndarray], ...], second: tuple[dict[Any, np.ndarray], ...], loose: bool) -> bool:
    """Whether both do the same to the same; rows that hold C = 0 may be other combinations of each other."""
    if set(first[0]) != set(second[0]):
        return False
    shared = list(first[0])
    a = [np.asarray(first[0][key], float) for key in shared] + [np.asarray(x, float) for x in first[1].values()]
    b = [np.asarray(second[0][key], float) for key in shared] + [np.asarray(x, float) for x in second[1].values()]
    if loose:
        wide = [np.concatenate([x.reshape(len(x), -1) for x in side], axis=1) for side in (a, b)]
        if wide[0].shape != wide[1].shape:
            return False
        mixed = wide[1] @ np.linalg.pinv(wide[0])
        a, b = [mixed @ wide[0]], [wide[1]]
    size = max((float(np.abs(x).max(initial=0.0)) for x in (*a, *b)), default=0.0)
    return all(x.shape == y.shape and np.abs(x - y).max(initial=0.0) <= ALIKE * max(size, 1e-12) for x, y in zip(a, b, strict=True))
