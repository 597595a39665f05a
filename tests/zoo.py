"""Seeded random models that tests and benchmarks share: trees of every joint type in random frames, with springs, motors and loops.

    random_tree(rng, 12)                                   every joint type, springs, motors, armature
    random_tree(rng, 12, joints=HINGES, springs=False)     only what is named
    random_tree(rng, 12, loops=2)                          two more joints that close loops, consistent in position and velocity

Masses are within a factor of ten and frames within a metre, so that a relative error means the same in all of them. Every
type in `joints` appears if there are bodies enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import unibody as ub
from unibody.joints.base import Joint
from unibody.model.model import JointInfo, start_poses, start_twists
from unibody.spatial.pose import Pose, adjoint

Random = np.random.Generator


def direction(rng: Random) -> np.ndarray:
    """A unit vector."""
    a = rng.standard_normal(3)
    return a / np.linalg.norm(a)


def pose(rng: Random) -> Pose:
    """Any orientation, within half a metre."""
    return Pose(rng.uniform(-0.5, 0.5, 3), rng.standard_normal(4))


def revolute(rng: Random) -> Joint:
    return ub.Revolute(direction(rng))


def prismatic(rng: Random) -> Joint:
    return ub.Prismatic(direction(rng))


def screw(rng: Random) -> Joint:
    return ub.Screw(direction(rng), float(rng.uniform(-0.3, 0.3)))


def universal(rng: Random) -> Joint:
    """Two axes that are not nearly parallel, and not at right angles either."""
    a = direction(rng)
    b = np.cross(a, direction(rng))
    return ub.Universal(a, b / np.linalg.norm(b) + 0.4 * a)


def hinges(rng: Random) -> Joint:
    """Slides and hinges in a row: a composite that every engine knows."""
    return ub.Composite(prismatic(rng), revolute(rng), prismatic(rng), revolute(rng))


def ball_on_slide(rng: Random) -> Joint:
    return ub.Composite(prismatic(rng), ub.Ball())


def composite(rng: Random) -> Joint:
    """Any parts, quaternions in the middle included."""
    choices: list[Callable[[], Joint]] = [
        lambda: ub.Composite(screw(rng), universal(rng), prismatic(rng)),
        lambda: ub.Composite(ub.Ball(), prismatic(rng), revolute(rng)),
        lambda: ub.Composite(ub.Planar(), ub.Composite(revolute(rng), prismatic(rng))),
        lambda: ub.Composite(revolute(rng), ub.Translational()),
    ]
    return choices[rng.integers(len(choices))]()


JOINTS: dict[str, Callable[[Random], Joint]] = {
    "revolute": revolute,
    "prismatic": prismatic,
    "screw": screw,
    "universal": universal,
    "ball": lambda rng: ub.Ball(),
    "planar": lambda rng: ub.Planar(),
    "translational": lambda rng: ub.Translational(),
    "free": lambda rng: ub.Free(),
    "weld": lambda rng: ub.Weld(),
    "hinges": hinges,
    "ball on slide": ball_on_slide,
    "composite": composite,
}
"""How to draw a joint of each type."""

ALL = tuple(JOINTS)
HINGES = ("revolute", "prismatic", "hinges", "universal")
LOOPS = ("ball", "universal", "planar", "ball on slide")
"""Types for joints that close loops: they leave a small tree some freedom."""


def position(joint: Joint, rng: Random) -> np.ndarray:
    """A q away from the neutral one: about a radian or a metre."""
    return joint.advance(joint.neutral(), rng.uniform(-1.2, 1.2, joint.nv), 1.0)


def inertia(rng: Random, mass: float) -> np.ndarray:
    """About the centre of mass, of random points within 0.3 m: full, and possible for a real body."""
    points = rng.uniform(-0.3, 0.3, (6, 3))
    points -= points.mean(axis=0)
    second = mass * points.T @ points / len(points)
    return np.trace(second) * np.eye(3) - second


@dataclass
class _Drawn:
    """A joint before it is given to a builder."""

    name: str
    element: Joint
    parent: str
    child: str
    X_PF: Pose
    X_BM: Pose
    q: np.ndarray
    v: np.ndarray
    options: dict[str, Any]


def random_tree(
    rng: Random, n: int, joints: Iterable[str] = ALL, springs: bool | str = True, motors: bool = True, loops: int = 0,
    armature: bool = True, shared: bool = False, still: bool = False,
) -> ub.Model:  # fmt: skip
    """A model of n bodies, with random q and v at the start (`still`: v = 0).

    `springs="joints"` gives joint springs and dampers only, the same about all axes of a ball or a free joint.
    `shared` keeps to what all engines can say: free joints on the world and without armature, one armature for all axes of a ball.
    """
    names = list(joints)
    kinds = [names[k % len(names)] for k in range(n)]
    rng.shuffle(kinds)
    b = ub.Builder(gravity=rng.uniform(-10.0, 10.0, 3))
    drawn = []
    for i, kind in enumerate(kinds):
        mass = float(rng.uniform(0.5, 5.0))
        b.body(f"body{i}", mass=mass, com=rng.uniform(-0.3, 0.3, 3), inertia=inertia(rng, mass))
        element = JOINTS[kind](rng)
        free = shared and isinstance(element, ub.Free)
        parent = "world" if i == 0 or free else f"body{rng.integers(max(0, i - 3), i)}"
        v = np.zeros(element.nv) if still else rng.uniform(-2.0, 2.0, element.nv)
        rotors = _armature(element, rng, shared) if armature and not free else np.zeros(element.nv)
        frames = pose(rng), pose(rng)
        drawn.append(_Drawn(f"joint{i}", element, parent, f"body{i}", *frames, position(element, rng), v, {"armature": rotors}))
    if loops:
        drawn = _with_loops(b, drawn, rng, loops)
    for d in drawn:
        b.joint(d.name, d.element, parent=d.parent, child=d.child, X_PF=d.X_PF, X_BM=d.X_BM, q=d.q, v=d.v, **d.options)
    if springs == "joints":
        _add_even_joint_springs(b, drawn[:n], rng)
    elif springs:
        _add_springs(b, drawn[:n], rng)
    if motors:
        _add_motors(b, drawn[:n], rng)
    return b.build()


def _armature(joint: Joint, rng: Random, even: bool) -> np.ndarray:
    out = rng.uniform(0.0, 0.2, joint.nv)
    at = 0
    for part in joint.parts():
        if even and isinstance(part, ub.Ball):
            out[at : at + 3] = out[at]
        at += part.nv
    return out


def _add_springs(b: ub.Builder, drawn: list[_Drawn], rng: Random) -> None:
    """Joint springs where a joint can have them, springs and a cable between bodies, drag, a wrench."""
    for d in drawn:
        parts = d.element.parts()
        sprung = [p.nq == p.nv or isinstance(p, ub.Ball) for p in parts for _ in range(p.nv)]
        if rng.random() < 0.6 and any(sprung):
            stiffness = rng.uniform(0.5, 20.0, d.element.nv) * sprung
            b.add(ub.TorsionSpring(d.name, stiffness=stiffness, damping=rng.uniform(0.0, 2.0, d.element.nv)))
    bodies = ["world"] + [d.child for d in drawn]

    def point() -> Any:
        return ub.model.builder.Body(bodies[rng.integers(len(bodies))]).at(*rng.uniform(-0.4, 0.4, 3))

    for _ in range(max(1, len(drawn) // 4)):
        b.add(ub.SpringDamper(point(), point(), stiffness=float(rng.uniform(5, 50)), damping=float(rng.uniform(0, 3)), rest_length=0.3))
    b.add(ub.Cable([point(), point(), point()], stiffness=30.0, damping=0.5, rest_length=0.2))
    b.add(ub.BodyDamping(drawn[-1].child, angular=0.3, linear=0.2))
    b.add(ub.AppliedWrench(drawn[0].child, torque=rng.uniform(-2, 2, 3), force=rng.uniform(-5, 5, 3), at=rng.uniform(-0.3, 0.3, 3)))
    b.add(ub.AppliedWrench(drawn[-1].child, force=rng.uniform(-5, 5, 3), axes="body"))


def _add_even_joint_springs(b: ub.Builder, drawn: list[_Drawn], rng: Random) -> None:
    for d in drawn:
        stiffness: list[float] = []
        damping: list[float] = []
        for part in d.element.parts():
            even = part.nq != part.nv
            k = rng.uniform(0.5, 20.0, 1 if even else part.nv)
            c = rng.uniform(0.0, 2.0, 1 if even else part.nv)
            stiffness += (part.nv * [0.0 if isinstance(part, ub.Free) else float(k[0])]) if even else k.tolist()
            damping += (part.nv * [float(c[0])]) if even else c.tolist()
        if damping:
            b.add(ub.TorsionSpring(d.name, stiffness=stiffness, damping=damping))


def _add_motors(b: ub.Builder, drawn: list[_Drawn], rng: Random) -> None:
    """Motors on every third joint that can move, half of them with a law."""
    movable = [d for d in drawn if d.element.nv]
    for k, d in enumerate(movable[:: 3 if len(movable) > 3 else 1]):
        scalar = d.element.parts()[0].nq == d.element.parts()[0].nv and d.element.parts()[0].nv > 0
        law = {"kp": 8.0, "kd": 0.7, "target": 0.4, "target_rate": -0.2} if scalar and k % 2 == 0 else {}
        b.add(ub.Motor(d.name, effort=float(rng.uniform(-3, 3)), **law))


def _with_loops(b: ub.Builder, drawn: list[_Drawn], rng: Random, loops: int) -> list[_Drawn]:
    """The joints with `loops` more, which fit the poses at the start, and velocities that they admit."""
    tree = ub.Builder(gravity=None)
    tree._bodies = b._bodies
    for d in drawn:
        tree.joint(d.name, d.element, parent=d.parent, child=d.child, X_PF=d.X_PF, X_BM=d.X_BM, q=d.q, v=d.v)
    model = tree.build()
    index = {body.name: i for i, body in enumerate(model.bodies)}
    X_W = [body.X_WB for body in model.bodies]
    closing = []
    for k in range(loops):
        element = JOINTS[LOOPS[rng.integers(len(LOOPS))]](rng)
        child = drawn[rng.integers(len(drawn) // 2, len(drawn))]
        others = [x for x in ("world", *(d.child for d in drawn)) if x not in (child.child, child.parent)]
        parent = others[rng.integers(len(others))]
        q, X_PF = position(element, rng), pose(rng)
        X_BM = X_W[index[child.child]].inverse() @ X_W[index[parent]] @ X_PF @ Pose.from_rotation(*element.pose(q))
        closing.append(_Drawn(f"loop{k}", element, parent, child.child, X_PF, X_BM, q, np.zeros(element.nv), {}))
    v = _admitted(model, closing, index)
    for j in model.tree_joints:
        own = next(d for d in drawn if d.name == j.name)
        own.v = v[j.v_start : j.v_start + j.nv]
    return [*drawn, *closing]


def _admitted(model: ub.Model, closing: list[_Drawn], index: dict[str, int]) -> np.ndarray:
    """The start's v without what the closing joints forbid."""
    poses = start_poses(model.bodies, model.joints)

    def forbidden(v: np.ndarray) -> np.ndarray:
        joints: list[JointInfo] = [replace(j, v0=v[j.v_start : j.v_start + j.nv]) for j in model.joints]
        V = start_twists(model.bodies, joints, poses)
        rows = []
        for d in closing:
            X_MB = d.X_BM.inverse()
            X_MP = X_MB @ poses[index[d.child]].inverse() @ poses[index[d.parent]]
            across = adjoint(X_MB.R, np.array(X_MB.p)) @ V[index[d.child]] - adjoint(X_MP.R, np.array(X_MP.p)) @ V[index[d.parent]]
            S = np.linalg.qr(d.element.motion(d.q))[0]
            rows.append(across - S @ (S.T @ across))
        return np.concatenate(rows)

    K = np.stack([forbidden(e) for e in np.eye(model.nv)], axis=1)
    v = model.start_v()
    return v - np.linalg.pinv(K, rcond=1e-9) @ (K @ v)


def chain(n: int, axis: Any = (0.0, 1.0, 0.0), link: float = 0.1, mass: float = 0.1, alternate: bool = False) -> ub.Model:
    """n slender links hung from the world by hinges, stretched out along x at the start; `alternate` turns every other axis."""
    b = ub.Builder()
    parent, X_PF = b.world, Pose()
    across = mass * (0.02**2 + 0.02**2) / 12.0
    along = mass * (link**2 + 0.02**2) / 12.0
    for i in range(n):
        body = b.body(f"link{i}", mass=mass, inertia=(across, along, along))
        turned = (0.0, 0.0, 1.0) if alternate and i % 2 else axis
        b.joint(f"joint{i}", ub.Revolute(turned), parent=parent, child=body, X_PF=X_PF, X_BM=Pose((-0.5 * link, 0.0, 0.0)))
        parent, X_PF = body, Pose((0.5 * link, 0.0, 0.0))
    return b.build()


def binary_tree(depth: int, rng: Random) -> ub.Model:
    """2^depth − 1 bodies on hinges with random axes and frames, two children each."""
    b = ub.Builder()
    for i in range(2**depth - 1):
        mass = float(rng.uniform(0.5, 2.0))
        body = b.body(f"body{i}", mass=mass, com=rng.uniform(-0.1, 0.1, 3), inertia=inertia(rng, mass))
        parent = "world" if i == 0 else f"body{(i - 1) // 2}"
        b.joint(f"joint{i}", revolute(rng), parent=parent, child=body, X_PF=pose(rng), X_BM=pose(rng))
    return b.build()


HUMANOID = (
    # limb, its parent limb, number of hinges
    ("waist", None, 3),
    ("neck", "waist", 3),
    ("left arm", "waist", 7),
    ("right arm", "waist", 7),
    ("left leg", None, 2),
    ("right leg", None, 2),
)
"""A pelvis with six degrees of freedom and limbs of hinges: 30 in all."""


def humanoid(rng: Random) -> ub.Model:
    """A floating pelvis, waist, neck, arms and legs of hinges: 30 degrees of freedom, 25 bodies."""
    b = ub.Builder()

    def add(name: str) -> Any:
        mass = float(rng.uniform(0.5, 3.0))
        return b.body(name, mass=mass, com=rng.uniform(-0.05, 0.05, 3), inertia=inertia(rng, mass))

    pelvis = add("pelvis")
    b.joint("root", ub.Free(), parent=b.world, child=pelvis, q=(0, 0, 1, 1, 0, 0, 0))
    ends = {None: pelvis}
    for limb, on, count in HUMANOID:
        parent = ends[on]
        for k in range(count):
            body = add(f"{limb} {k}")
            axis = np.eye(3)[k % 3]
            X_PF, X_BM = Pose((0.05, 0.02, -0.15)), Pose((0.0, 0.0, 0.1))
            b.joint(f"{limb} joint {k}", ub.Revolute(axis), parent=parent, child=body, X_PF=X_PF, X_BM=X_BM)
            parent = body
        ends[limb] = parent
    return b.build()


def random_state(model: ub.Model, rng: Random, speed: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """q and v of the tree joints, away from the start."""
    q, v = np.zeros(model.nq), rng.uniform(-speed, speed, model.nv)
    for j in model.tree_joints:
        q[j.q_start : j.q_start + j.nq] = position(j.element, rng)
    return q, v


def angle_plate(h: float) -> ub.Mesh:
    """A closed plate of thickness h in the form of an L, which is not convex."""
    outline = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]) - 0.8
    x = np.concatenate([np.column_stack([outline, np.full(6, z)]) for z in (-0.5 * h, 0.5 * h)])
    fan = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    wall = [t for i in range(6) for t in ((i, (i + 1) % 6, (i + 1) % 6 + 6), (i, (i + 1) % 6 + 6, i + 6))]
    return ub.Mesh(x, np.concatenate([fan[:, ::-1], fan + 6, wall]))
