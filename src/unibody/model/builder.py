"""`Builder`: collects elements, checks names and connectivity, numbers bodies and joints. Thin: elements check themselves."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unibody.constraints import Coupling
from unibody.constraints.base import Constraint
from unibody.constraints.contact import Contact
from unibody.constraints.coupling import in_order
from unibody.element import Point, at_start, is_word, name_of, number, several
from unibody.errors import ModelError
from unibody.forces import Gravity, TorsionSpring
from unibody.forces.base import Force
from unibody.joints import Free, Joint, Planar, Weld
from unibody.model.acting_on_points import check_points
from unibody.model.contents import AskedJoint
from unibody.model.deformable import AskedAttachment, AskedDeformable, AskedPrescribed, VertexPoint
from unibody.model.deformable_points import point_of_name
from unibody.model.deformed import Deformed, deformed
from unibody.model.deforming import Deforming
from unibody.model.editing import Editing, Origin
from unibody.model.model import BodyInfo, JointInfo, Model, look_up, start_poses, start_twists, with_parts
from unibody.model.parts import checked_parts, element_on_wholes
from unibody.model.plane import check_plane, plane_axes, plane_frame
from unibody.shapes import MassProperties, Placed, Shape
from unibody.spatial.pose import Pose, adjoint, vector, vector_from_rotation

from unibody.model.checking import (  # isort: skip
    FARTHEST, FASTEST, KINDS, check_contacts, check_new, checked_mass, checked_pose, frozen, joint_limit, listed_shapes, on_manifold,
    per_dof, within,
)  # fmt: skip


@dataclass(frozen=True)
class Body:
    """A handle to a body under construction."""

    name: str

    def at(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Point:
        """A point fixed in the body, in its axes [m]."""
        return Point(self.name, (x, y, z))


@dataclass(frozen=True)
class JointHandle:
    """A handle to a joint under construction."""

    name: str


@dataclass
class _Packing:
    """Names to numbers while the model is being built."""

    bodies: dict[str, int]
    joints: dict[str, JointInfo]
    poses: list[Pose]
    values: list[float] = field(default_factory=list)
    functions: list[tuple[int, int, Callable[[float], Any], str]] = field(default_factory=list)
    targets: dict[str, int] = field(default_factory=dict)
    first_target: int = 0
    deformables: Mapping[str, AskedDeformable] = field(default_factory=dict)
    deformed: Deformed = field(default_factory=Deformed)
    points: dict[str, VertexPoint] = field(default_factory=dict)

    def body(self, name: str) -> int:
        if name not in self.bodies:
            found = point_of_name(name, self.deformables)
            if found is not None:
                first = next(d.first for d in self.deformed.deformables if d.name == found[0])
                self.points.setdefault(name, VertexPoint(name, frozen(first + found[1]), frozen(found[2])))
                return len(self.bodies) + list(self.points).index(name)
        return look_up(name, self.bodies, "body")

    def joint(self, name: str) -> JointInfo:
        return look_up(name, self.joints, "joint")

    def joint_above(self, body: str) -> JointInfo | None:
        i = self.body(body)
        return next((j for j in self.joints.values() if j.child == i and not j.loop), None)

    def signal(self, value: Any, what: str) -> int:
        slot = len(self.values)
        if callable(value):
            self.functions.append((slot, 1, value, what))
            value = at_start(value, what)
        self.values.append(number(value, f"{what} at t = 0"))
        return slot

    def signal_vector(self, value: Any, count: int, what: str) -> int:
        slot = len(self.values)
        if callable(value):
            self.functions.append((slot, count, value, what))
            value = at_start(value, what)
        self.values += vector(value, count, f"{what} at t = 0").tolist()
        return slot

    def motor_target(self, name: str) -> int:
        return self.targets.setdefault(name, self.first_target + 2 * len(self.targets))

    def start_position(self, point: Point) -> np.ndarray:
        k = self.body(point.body)
        if k >= len(self.bodies):
            on = self.points[point.body]
            return on.weights @ np.concatenate([d.x0 for d in self.deformed.deformables])[on.vertices]
        return self.poses[k].apply(point.p)


class Builder(Deforming, Editing):
    """Describe bodies, joints, forces and constraints; `build()` returns the model. What has been described, or loaded from a file by
    `Builder.load`, can be looked up, changed, removed and combined: see `unibody.model.editing`.

    >>> b = Builder()
    >>> ball = b.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    >>> b.build().nv
    6
    """

    def __init__(self, gravity: Any = (0.0, 0.0, -9.81), planar: bool = False, normal: Any = (0.0, -1.0, 0.0)):
        self.world = Body("world")
        ground = BodyInfo("world", "static", 0.0, frozen(np.zeros(3)), frozen(np.zeros((3, 3))), (), Pose(), (0.0,) * 6)
        self._bodies: dict[str, BodyInfo] = {"world": ground}
        self._joints: dict[str, AskedJoint] = {}
        self._parts: dict[str, str] = {}  # part → joint
        self._elements: dict[str, Force | Constraint] = {}
        self._deformables: dict[str, AskedDeformable] = {}
        self._attachments: dict[str, AskedAttachment] = {}
        self._prescribed: dict[str, AskedPrescribed] = {}
        self._counts: Counter[type] = Counter()
        self._origin = Origin()
        self._like: tuple[Any, Any, Any, tuple[Placed, ...], MassProperties] | None = None  # the last body: often the next is like it
        self._plane = plane_axes(normal) if planar else None
        if gravity is not None:
            self.add(Gravity(gravity), name="gravity")

    def body(
        self, name: str, shape: Any = None, density: float | None = None, mass: float | None = None, com: Any = None, inertia: Any = None,
        kind: str = "dynamic", X_WB: Pose | None = None, V_WB: Any = None, motion: Callable[[float], Pose] | None = None,
    ) -> Body:  # fmt: skip
        """A body from shapes and density, or from mass, centre of mass and inertia about it (body axes)."""
        what = f"body '{name}'"
        check_new(name, ChainMap(self._bodies, self._deformables), "body")
        if not is_word(kind, KINDS):
            raise ModelError(f"{what}: kind {kind!r} is unknown; give one of {', '.join(KINDS)}")
        if motion is not None and kind != "kinematic":
            raise ModelError(f"{what}: motion= moves only kinematic bodies, this one is {kind}; give kind='kinematic'")
        of_shape = isinstance(shape, Shape | Placed) and com is None and inertia is None
        last = self._like
        if of_shape and last is not None and shape is last[0] and density == last[1] and mass == last[2]:
            shapes, properties = last[3:]
        else:
            shapes = tuple(s if isinstance(s, Placed) else Placed(s, Pose()) for s in listed_shapes(shape, what))
            properties = checked_mass(what, kind, shapes, density, mass, com, inertia)
            self._like = (shape, density, mass, shapes, properties) if of_shape else None
        twist = tuple(float(x) for x in within(vector((0.0,) * 6 if V_WB is None else V_WB, 6, f"{what} V_WB"), FASTEST, f"{what} V_WB"))
        if kind == "static" and any(twist):
            raise ModelError(f"{what}: V_WB {twist} on a static body; give kind='kinematic' or leave V_WB out")
        at = checked_pose(X_WB, f"{what} X_WB")
        within(at.p, FARTHEST, f"{what} X_WB")
        self._bodies[name] = BodyInfo(
            name, kind, properties.mass, frozen(properties.com), frozen(properties.inertia), shapes, at, twist, motion,
        )  # fmt: skip
        return Body(name)

    def joint(
        self, name: str, joint: Joint, parent: Any, child: Any, X_PF: Pose | None = None, X_BM: Pose | None = None, q: Any = None,
        v: Any = None, stiffness: Any = 0.0, damping: Any = 0.0, rest: Any = None, armature: Any = 0.0, effort_limit: Any = np.inf,
        limits: Any = None, parts: Sequence[str] = (),
    ) -> JointHandle:  # fmt: skip
        """Connect frame F of the parent with frame M of the child. If the child already has a parent, this closes a loop. `parts` names the
        joints that a Composite consists of: their names then stand for them alone wherever a joint is read or driven."""
        what = f"joint '{name}'"
        check_new(name, self._joint_names(), "joint")
        if not isinstance(joint, Joint):
            raise ModelError(f"{what}: {joint!r} is not a joint; give one such as Revolute(axis=(0, 1, 0))")
        # what it connects
        p, c = name_of(parent, f"{what} parent"), name_of(child, f"{what} child")
        for end in (p, c):
            look_up(end, self._bodies, f"{what}: body")
        if p == c:
            raise ModelError(f"{what}: joins body '{p}' to itself; give two different bodies")
        # how it starts, and what acts in it
        start = joint.neutral() if q is None else within(vector(q if several(q) else [q], joint.nq, f"{what} q"), FARTHEST, f"{what} q")
        speed = np.zeros(joint.nv) if v is None else within(vector(v if several(v) else [v], joint.nv, f"{what} v"), FASTEST, f"{what} v")
        start = on_manifold(joint, start) if q is not None else start
        if not np.isfinite(start).all():
            raise ModelError(f"{what} q: {q!r} has no direction as a quaternion; give a unit quaternion wxyz")
        springs = per_dof(stiffness, joint.nv, f"{what} stiffness", minimum=0.0)
        dampers = per_dof(damping, joint.nv, f"{what} damping", minimum=0.0)
        rotors = per_dof(armature, joint.nv, f"{what} armature", minimum=0.0)
        most = per_dof(effort_limit, joint.nv, f"{what} effort_limit", minimum=0.0, infinite=True)
        if rest is not None and not springs.any():
            raise ModelError(f"{what}: rest given without stiffness; give stiffness= or leave rest out")
        # where it sits, and names of its parts
        on_parent, on_child = checked_pose(X_PF, f"{what} X_PF"), checked_pose(X_BM, f"{what} X_BM")
        named = checked_parts(parts, joint, what)
        for part in named:
            check_new(part, (name,) if part == name else self._joint_names(), "joint")
        # elements of its own, checked before anything is kept
        own: dict[str, Any] = {}
        if springs.any() or dampers.any():
            own[f"{name}.spring"] = TorsionSpring(name, stiffness=springs, damping=dampers, rest=rest)
        if limits is not None:
            own[f"{name}.limit"] = joint_limit(name, limits, joint)
        for title in own:
            check_new(title, self._elements, "element")
        self._parts |= dict.fromkeys(named, name)
        start, speed, rotors, most = (frozen(x) for x in (start, speed, rotors, most))
        self._joints[name] = AskedJoint(name, joint, p, c, on_parent, on_child, start, speed, rotors, most, parts=named)
        for title, element in own.items():
            self.add(element, name=title)
        return JointHandle(name)

    def _joint_names(self) -> Mapping[str, Any]:
        """All that may not be a joint's name again."""
        return ChainMap(self._joints, self._parts)

    def add(self, element: Any, name: str | None = None) -> str:
        """A force or a constraint; returns its name."""
        if not isinstance(element, Force | Constraint):
            raise ModelError(f"{element!r} is neither a force nor a constraint; bodies and joints have b.body and b.joint")
        unnamed = name is None
        while name is None or (unnamed and name in self._elements):  # after changes a number may be taken
            name = f"{type(element).__name__}[{self._counts[type(element)]}]"
            self._counts[type(element)] += name in self._elements
        check_new(name, self._elements, "element")
        self._elements[name] = element
        self._counts[type(element)] += 1
        return name

    def build(self) -> Model:
        """Check everything, number it and freeze it."""
        description = self._describe()
        # which joint carries each body, and so the order of the bodies
        joints = dict(self._joints)
        tree = self._span(joints)
        order = self._order(tree)
        carriers = {a.body for a in self._attachments.values()}
        bodies = [_driven_to_start(self._bodies[name]) if name in carriers else self._bodies[name] for name in order]
        number_of = {name: i for i, name in enumerate(order)}
        infos: list[JointInfo] = []
        q_at = v_at = 0
        chosen = [tree[name] for name in order[1:]]
        in_tree = {id(j) for j in chosen}
        loops = [j for j in joints.values() if id(j) not in in_tree]
        nq = nv = 0
        for j in [*chosen, *loops]:
            loop = id(j) not in in_tree
            info = JointInfo(
                j.name, j.element, number_of[j.parent], number_of[j.child], j.X_PF, j.X_BM, q_at, v_at, frozen(j.q), frozen(j.v),
                frozen(j.armature), frozen(j.effort_limit), loop, j.implicit, j.parts,
            )  # fmt: skip
            infos.append(info)
            q_at, v_at = q_at + info.nq, v_at + info.nv
            if not loop:
                nq, nv = q_at, v_at
        # where everything starts: bodies by their joints, loops fitted to these, vertices by what holds them
        poses = start_poses(bodies, infos)
        twists = start_twists(bodies, infos, poses)
        infos = [_fit_loop(j, poses, twists) if j.loop else j for j in infos]
        bodies = [_started(b, X, V) for b, X, V in zip(bodies, poses, twists, strict=True)]
        soft = deformed(self._deformables, self._attachments, self._prescribed, number_of, poses, twists)
        # elements with numbers for names
        packing = _Packing(
            number_of, with_parts(infos), poses, first_target=v_at + 6 * len(bodies), deformables=self._deformables, deformed=soft
        )
        forces, constraints, gravity = self._resolve(packing)
        model = Model(
            bodies=tuple(bodies), joints=tuple(infos), forces=tuple(forces), constraints=tuple(constraints), gravity=frozen(gravity),
            plane=None if self._plane is None else tuple(frozen(a) for a in self._plane),  # type: ignore[arg-type]
            parent=frozen(np.array([-1] + [j.parent for j in infos if not j.loop], np.int64)), nq=nq, nv=nv,
            nq_joints=q_at, nv_joints=v_at, signals=frozen(np.array(packing.values)), signal_functions=tuple(packing.functions),
            motor_targets=dict(packing.targets), description=description, deformables=soft.deformables, attachments=soft.attachments,
            prescribed=soft.prescribed, vertex_points=tuple(packing.points.values()),
        )  # fmt: skip
        if self._plane is not None:
            check_plane(model, poses)
        return model

    def _resolve(self, packing: _Packing) -> tuple[list[tuple[str, Force]], list[tuple[str, Constraint]], np.ndarray]:
        """Check the names that elements refer to and let them fill in what depends on the start."""
        forces: list[tuple[str, Force]] = []
        constraints: list[tuple[str, Constraint]] = []
        gravity = np.zeros(3)
        for name, element in self._elements.items():
            check_points(element, name, packing)
            for joint in element.joints():
                look_up(joint, packing.joints, f"'{name}': joint")
            started = element_on_wholes(element, name, packing, packing.joints)
            if isinstance(started, Gravity):
                gravity = gravity + np.array(started.g)
            elif isinstance(started, Force):
                forces.append((name, started))
            else:
                constraints.append((name, started))
        check_contacts([(name, c) for name, c in constraints if isinstance(c, Contact)], self._bodies, self._deformables)
        ordered = iter(in_order([(name, c) for name, c in constraints if isinstance(c, Coupling)]))
        constraints = [next(ordered) if isinstance(c, Coupling) else (name, c) for name, c in constraints]
        packing.values.clear()
        packing.functions.clear()
        packing.targets.clear()
        for name, force in forces:
            force.row(packing, name)
        for name, constraint in constraints:
            constraint.row(packing, name)
        return forces, constraints, gravity

    def _span(self, joints: dict[str, AskedJoint]) -> dict[str, AskedJoint]:
        """Each body's joint to its parent: the first that can be, else an implicit one to the world."""
        tree: dict[str, AskedJoint] = {}
        above: dict[str, str] = {}  # some ancestor of a body that hangs on one, nearer to the top with every look

        def top(body: str) -> str:
            path = []
            while body in above:
                path.append(body)
                body = above[body]
            above.update(dict.fromkeys(path, body))
            return body

        for j in joints.values():
            if self._bodies[j.child].kind == "dynamic" and j.child not in tree and top(j.parent) != j.child:
                tree[j.child] = j
                above[j.child] = j.parent
        for name, body in self._bodies.items():
            if name != "world" and name not in tree:
                tree[name] = self._implicit(body)
        named = {*joints, *(part for j in joints.values() for part in j.parts)}
        for name in tree:
            if tree[name].implicit and name in named and joints.get(name) is not tree[name]:
                raise ModelError(f"joint '{name}' has the name of body '{name}', whose implicit joint needs it; rename the joint")
        return tree

    def _implicit(self, body: BodyInfo) -> AskedJoint:
        none = np.zeros(0)
        if body.kind != "dynamic":
            at = Pose() if body.kind == "kinematic" else body.X_WB  # a drive gives the whole pose of its body in the world
            return AskedJoint(body.name, Weld(), "world", body.name, at, Pose(), none, none, none, none, implicit=True)
        R = body.X_WB.R
        V = np.concatenate([R.T @ np.array(body.V_WB[:3]), R.T @ np.array(body.V_WB[3:])])
        if self._plane is None:
            joint: Joint = Free()
            return AskedJoint(
                body.name, joint, "world", body.name, Pose(), Pose(), np.concatenate([body.X_WB.p, body.X_WB.wxyz]), V, np.zeros(6),
                np.full(6, np.inf), implicit=True,
            )  # fmt: skip
        joint, frame = Planar(), plane_frame(self._plane)
        X_FB = frame.inverse() @ body.X_WB
        n = self._plane[2]
        turned = vector_from_rotation(R)
        angle = float(n @ turned)
        if np.abs(turned - n * angle).max() < 1e-12:
            X_BM = Pose(wxyz=frame.wxyz)
        else:
            angle, X_BM = 0.0, Pose(wxyz=body.X_WB.inverse().wxyz) @ Pose(wxyz=frame.wxyz)
        speed = frame.R.T @ np.array(body.V_WB[3:])
        turn = frame.R.T @ np.array(body.V_WB[:3])
        if max(abs(speed[2]), abs(turn[0]), abs(turn[1])) > 1e-9 or abs(X_FB.p[2]) > 1e-9:
            raise ModelError(f"body '{body.name}': starts or moves out of the plane (X_WB, V_WB); keep it in the plane or use a 3D world")
        return AskedJoint(
            body.name, joint, "world", body.name, frame, X_BM, np.array([X_FB.p[0], X_FB.p[1], angle]),
            np.array([speed[0], speed[1], turn[2]]), np.zeros(3), np.full(3, np.inf), implicit=True,
        )  # fmt: skip

    def _order(self, tree: dict[str, AskedJoint]) -> list[str]:
        """The world, then all bodies, parents before children, otherwise as they were added."""
        order = ["world"]
        placed = {"world"}
        for name in self._bodies:
            chain = []
            while name not in placed:
                chain.append(name)
                name = tree[name].parent
            order += reversed(chain)
            placed.update(chain)
        return order

    def _describe(self) -> dict[str, Any]:
        """Everything that was asked for, for the text form of the model."""
        return {
            "bodies": dict(self._bodies), "joints": dict(self._joints), "elements": dict(self._elements),
            "plane_normal": None if self._plane is None else tuple(float(x) for x in self._plane[2]),
            "deformables": dict(self._deformables), "attachments": dict(self._attachments), "prescribed": dict(self._prescribed),
        }  # fmt: skip


def _driven_to_start(body: BodyInfo) -> BodyInfo:
    """The body where its motion begins, so that vertices are attached to it there."""
    from dataclasses import replace

    if body.motion is None:
        return body
    X = at_start(body.motion, f"body '{body.name}' motion")
    return replace(body, X_WB=X) if isinstance(X, Pose) else body


def _started(body: BodyInfo, X: Pose, V: np.ndarray) -> BodyInfo:
    """The body with the pose and twist (world axes) that it starts with, by whatever joint it hangs on."""
    from dataclasses import replace

    if body.kind != "dynamic":
        return body
    if not V.any():
        return replace(body, X_WB=X, V_WB=(0.0,) * 6)
    R = X.R
    return replace(body, X_WB=X, V_WB=tuple(float(x) for x in np.concatenate([R @ V[:3], R @ V[3:]])))


def _fit_loop(j: JointInfo, poses: Sequence[Pose], twists: Sequence[np.ndarray]) -> JointInfo:
    """A loop-closing joint with its coordinate fitted to the start."""
    from dataclasses import replace

    X_FM = (poses[j.parent] @ j.X_PF).inverse() @ poses[j.child] @ j.X_BM
    q = j.element.fit(X_FM.R, np.array(X_FM.p), np.array(j.q0)) if j.nq else np.zeros(0)
    X_MB = j.X_BM.inverse()
    X_MP = X_MB @ poses[j.child].inverse() @ poses[j.parent]
    V = adjoint(X_MB.R, np.array(X_MB.p)) @ twists[j.child] - adjoint(X_MP.R, np.array(X_MP.p)) @ twists[j.parent]
    v = np.linalg.lstsq(j.element.motion(q), V, rcond=None)[0] if j.nv else np.zeros(0)
    return replace(j, q0=frozen(q), v0=frozen(v))
