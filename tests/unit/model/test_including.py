"""Several models in one world: each moves as it does alone, moved to where it stands; names follow, and what cannot move is refused.

The law: mechanics does not depend on where the world's frame stands. With everything moved by X (and gravity along with it, or none) poses
are X times those before, and what acts on a body is the same in that body's axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub
import zoo
from unibody.element import Kinematics, Point
from unibody.forces import Force, Loads
from unibody.model.moving import same_deeds

TURNED = ub.Pose.about((1.0, -2.0, 0.5), 1.1, (0.4, -3.0, 2.0))
UPRIGHT = ub.Pose.about((0.0, 0.0, 1.0), 0.7, (3.0, 1.0, 0.5))


def poses(model: ub.Model, names: list[str], solver: str = "articulated", duration: float = 0.05) -> np.ndarray:
    """Homogeneous matrices (bodies, 4, 4) at the end."""
    rec = ub.Simulation(model, solver, dt=1e-3).run(duration)
    return np.array([ub.Pose(rec.pose(n)[-1, :3], rec.pose(n)[-1, 3:]).matrix() for n in names])


def loose(gravity: Any = None) -> ub.Builder:
    """Bodies that fly, hang, stand and are driven, with everything that speaks of the world."""
    b = ub.Builder(gravity=gravity)
    ball = b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((0.3, 0.0, 0.5)), V_WB=(1.0, 2.0, 3.0, 0.3, -0.2, 0.1))
    box = b.body("box", shape=ub.Box((0.1, 0.2, 0.3)), X_WB=ub.Pose.about((1.0, 1.0, 0.0), 0.5, (-0.4, 0.2, 0.1)))
    rod = b.body("rod", shape=ub.Box((0.05, 0.05, 0.5)))
    ends = {"X_PF": ub.Pose((0.0, 0.6, 0.0)), "X_BM": ub.Pose((0.0, 0.0, 0.25))}
    b.joint("pin", ub.Revolute(axis=(0.0, 1.0, 0.0)), b.world, rod, q=0.4, damping=0.01, **ends)
    b.body("rock", kind="static", shape=ub.Box((1.0, 1.0, 0.1)), X_WB=ub.Pose((0.0, 0.0, -2.0)))
    b.body("lift", kind="kinematic", shape=ub.Sphere(0.05), X_WB=ub.Pose((0.1, 0.0, 0.0)), V_WB=(0.0, 0.0, 0.5, 0.0, 0.0, 0.2))
    b.body("swing", kind="kinematic", shape=ub.Sphere(0.05), motion=swinging)
    b.add(ub.SpringDamper(ball.at(0.1), b.world.at(0.0, 0.1, 1.0), stiffness=30.0, damping=0.2, rest_length=0.3), name="cord")
    b.add(ub.Cable([ball.at(), b.bodies["lift"].at(), box.at(0.05), b.bodies["swing"].at()], stiffness=20.0, rest_length=0.1), name="rope")
    b.add(ub.AppliedWrench("box", torque=(0.01, 0.02, 0.03), force=(0.3, -0.1, 0.2)), name="push")
    b.add(ub.AppliedWrench("box", force=pushing), name="shove")
    b.add(ub.AppliedWrench("box", force=(0.1, 0.0, 0.0), axes="body"), name="thrust")
    b.add(ub.BodyDamping("ball", angular=0.1, linear=0.2), name="drag")
    return b


def swinging(t: float) -> ub.Pose:
    return ub.Pose.about((0.0, 1.0, 0.0), t, (0.2 * t, 0.1, 0.0))


def pushing(t: float) -> tuple[float, float, float]:
    return (0.1 + t, 0.0, 0.3)


def constrained() -> ub.Builder:
    """Every constraint of the house that speaks of the world."""
    b = ub.Builder(gravity=None)
    names = ["a", "b", "c", "d", "e", "f", "g", "h"]
    bodies = {n: b.body(n, shape=ub.Box((0.1, 0.2, 0.3)), X_WB=ub.Pose((0.5 * k, 0.1 * k, 0.3))) for k, n in enumerate(names)}
    b.add(ub.FixedPoint(bodies["a"].at(0.05), (0.1, 0.2, 0.3)), name="fixed")
    b.add(ub.PointOnLine(bodies["b"].at(0.0, 0.1), b.world.at(0.1), (1.0, 2.0, 0.0)), name="line")
    b.add(ub.PointPlane(bodies["c"].at(0.0, 0.1), (0.0, 0.0, -0.2), (0.1, 0.0, 1.0)), name="plane")
    b.add(ub.PrescribedPoint(bodies["d"].at(0.0, 0.1), pushing), name="led")
    b.add(ub.PrescribedPoint(bodies["d"].at(0.1), ((0.0, 0.5, 1.0), ((0, 0, 0), (1, 0, 0), (1, 1, 0)))), name="table")
    b.add(ub.PrescribedFrame("e", swinging), name="frame")
    b.add(ub.PrescribedFrame("f", ub.Pose((1.0, 2.0, 3.0))), name="pose")
    b.add(ub.Rolling(bodies["g"].at(), 0.1, (0.2, 0.0, 1.0)), name="rolling")
    b.add(ub.Distance(bodies["h"].at(), b.world.at(0.0, 1.0, 0.0), 0.5), name="rod")
    b.add(ub.DistanceRange(bodies["h"].at(0.1), b.world.at(0.0, 1.0, 0.0), 0.2, 0.9), name="range")
    b.add(ub.KnifeEdge(bodies["g"].at(0.1), (0.0, 1.0, 0.0)), name="skate")
    return b


@dataclass(frozen=True)
class Tied(Force):
    """A user's spring without length between two points."""

    a: Point
    b: Point
    k: float

    def bodies(self) -> list[str]:
        return [self.a.body, self.b.body]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        pull = self.k * (kinematics.position(self.b) - kinematics.position(self.a))
        loads.add_force_at(kinematics, self.a.body, self.a.p, pull)
        loads.add_force_at(kinematics, self.b.body, self.b.p, -pull)


# each moves as alone


def test_two_trees_in_one_world_move_as_each_alone(rng):
    """All joints, springs and motors; gravity down, turned about it. Numbering changes sums: 1e-10 after 50 steps of motion of size 1."""
    trees = [ub.Builder.load(zoo.random_tree(rng, n)) for n in (6, 5)]
    for tree in trees:
        tree.change("gravity", g=(0.0, 0.0, -9.81))
    first, second = (tree.build() for tree in trees)
    b = ub.Builder.load(first)
    b.include(second, prefix="other_", at=UPRIGHT)
    both = b.build()
    mine, theirs = ([x.name for x in m.bodies[1:]] for m in (first, second))
    assert np.allclose(poses(both, mine), poses(first, mine), atol=1e-10)
    assert np.allclose(poses(both, [f"other_{n}" for n in theirs]), UPRIGHT.matrix() @ poses(second, theirs), atol=1e-10)


def test_a_world_without_gravity_may_stand_anyhow():
    alone = loose().build()
    names = [x.name for x in alone.bodies[1:]]
    b = ub.Builder(gravity=None)
    assert b.include(loose(), prefix="x_", at=TURNED) == [f"x_{n}" for n in names]
    # round-off of 50 steps; motions that are functions are differentiated to 1e-9 of a velocity
    assert np.allclose(poses(b.build(), [f"x_{n}" for n in names]), TURNED.matrix() @ poses(alone, names), atol=1e-9)


@pytest.mark.parametrize("solver", ["lagrange", "redmax"])
def test_other_solvers_agree(solver):
    alone = loose().build()
    names = ["ball", "box", "rod"]
    b = ub.Builder(gravity=None)
    b.include(loose(), at=TURNED)
    assert np.allclose(poses(b.build(), names, solver), TURNED.matrix() @ poses(alone, names, solver), atol=1e-9)


def test_where_nothing_moves_nothing_changes():
    b = ub.Builder(gravity=None)
    b.include(loose())
    alone, again = loose().build(), b.build()
    for key in ("q", "v"):
        a, c = (getattr(ub.Simulation(m, "articulated", dt=1e-3).state, key) for m in (alone, again))
        assert a.tobytes() == c.tobytes()
    assert poses(again, ["ball", "rod"]).tobytes() == poses(alone, ["ball", "rod"]).tobytes()


@pytest.mark.parametrize("build", [loose, constrained])
def test_every_element_does_the_same_where_its_world_stands_elsewhere(build):
    """Wrenches and rows in the bodies' axes, at random motions moved by X."""
    source = build()
    b = ub.Builder(gravity=None)
    b.body("ours", shape=ub.Sphere(0.1))
    b.include(source, prefix="x_", at=TURNED)
    before, after = source.build(), b.build()
    bodies = {x.name: f"x_{x.name}" for x in before.bodies[1:]}
    joints = {j.name: f"x_{j.name}" for j in before.joints}
    elements = {n: f"x_{n}" for n, _ in (*before.forces, *before.constraints)}
    assert len(elements) >= 7
    same_deeds(before, after, elements, bodies, joints, TURNED)


def test_an_element_left_behind_would_be_noticed():
    """The test above fails on a model that was not moved."""
    source = constrained()
    b = ub.Builder(gravity=None)
    b.include(source, prefix="x_")
    before, after = source.build(), b.build()
    bodies = {x.name: f"x_{x.name}" for x in before.bodies[1:]}
    joints = {j.name: f"x_{j.name}" for j in before.joints}
    for name in ("fixed", "line", "plane", "led", "table", "frame", "pose", "rolling", "rod", "range"):
        with pytest.raises(ub.ModelError, match=f"'{name}'.*does something else"):
            same_deeds(before, after, {name: f"x_{name}"}, bodies, joints, TURNED)


def test_a_hand_on_an_arm_moves_as_one_built_there():
    """A gripper included on the last link, against the same described by hand."""

    def base() -> ub.Builder:
        b = ub.Builder()
        link = b.body("arm", shape=ub.Box((0.1, 0.1, 1.0)))
        b.joint("shoulder", ub.Revolute(axis=(0, 1, 0)), b.world, link, X_BM=ub.Pose((0, 0, 0.5)), q=0.5)
        return b

    def hand(b: ub.Builder, parent: Any, X: ub.Pose, prefix: str = "") -> None:
        palm = b.body(f"{prefix}palm", shape=ub.Box((0.1, 0.1, 0.1)))
        tip = b.body(f"{prefix}tip", shape=ub.Box((0.02, 0.02, 0.1)))
        b.joint(f"{prefix}mount", ub.Weld(), parent, palm, X_PF=X)
        ends = {"X_PF": ub.Pose((0, 0, 0.05)), "X_BM": ub.Pose((0, 0, -0.05))}
        b.joint(f"{prefix}finger", ub.Revolute(axis=(1, 0, 0)), palm, tip, stiffness=2.0, **ends)
        hook = Point(parent if isinstance(parent, str) else parent.name, tuple(X.apply((0.1, 0, 0))))
        b.add(ub.SpringDamper(tip.at(), hook, stiffness=3.0))

    X = ub.Pose.about((1, 0, 0), 0.6, (0.0, 0.0, -0.5))
    other = ub.Builder()
    hand(other, other.world, ub.Pose())
    b, by_hand = base(), base()
    b.include(other, prefix="h_", at=X, parent="arm")
    hand(by_hand, "arm", X, "h_")
    names = ["arm", "h_palm", "h_tip"]
    assert np.allclose(poses(b.build(), names), poses(by_hand.build(), names), atol=1e-12)
    assert b.joints["h_mount"].parent == "arm" and b.elements["h_SpringDamper[0]"].b.body == "arm"


def test_what_stands_still_becomes_part_of_a_body_that_moves():
    """A manipulator with a base without mass, on a cart, against the same described by hand."""

    def cart() -> ub.Builder:
        b = ub.Builder()
        b.joint("rail", ub.Prismatic((1, 0, 0)), b.world, b.body("cart", shape=ub.Box((0.5, 0.3, 0.1)), mass=3.0), v=0.5)
        return b

    def links(b: ub.Builder, base: str, X: ub.Pose, prefix: str = "") -> None:
        arm = b.body(f"{prefix}arm", shape=ub.Box((0.05, 0.05, 0.5)))
        ends = {"X_PF": X @ ub.Pose((0, 0, 0.1)), "X_BM": ub.Pose((0, 0, -0.25))}
        b.joint(f"{prefix}shoulder", ub.Revolute(axis=(0, 1, 0)), base, arm, q=0.3, **ends)
        b.add(ub.SpringDamper(arm.at(0, 0, 0.2), Point(base, tuple(X.apply((0.3, 0, 0)))), stiffness=20.0), name=f"{prefix}cord")

    X, base = ub.Pose.about((1, 2, 0), 0.4, (0.1, 0.0, 0.05)), ub.Pose.about((0, 0, 1), 0.5, (0.0, 0.0, 0.02))
    other = ub.Builder()
    foot = other.body("foot", kind="static", shape=ub.Cylinder(0.1, 0.1), X_WB=base)
    links(other, "foot", ub.Pose())
    other.add(Tied(foot.at(0, 0, 0.2), other.bodies["arm"].at(), 7.0), name="tied")
    b, by_hand = cart(), cart()
    assert b.include(other, prefix="a_", at=X, parent="cart") == ["a_arm"]
    links(by_hand, "cart", X @ base, "a_")
    by_hand.add(Tied(Point("cart", tuple((X @ base).apply((0, 0, 0.2)))), by_hand.bodies["a_arm"].at(), 7.0), name="a_tied")
    assert np.allclose(poses(b.build(), ["cart", "a_arm"]), poses(by_hand.build(), ["cart", "a_arm"]), atol=1e-12)  # round-off
    assert len(b.bodies["cart"].shapes) == 2 and b.bodies["cart"].mass == 3.0
    assert np.allclose(b.bodies["cart"].shapes[1].X_BS.matrix(), (X @ base).matrix(), atol=1e-15)


def test_directions_in_a_body_that_stood_still_turn_with_its_host():
    """Rows of a line and a plane fixed in a static body, in the bodies' axes, when that body is part of a moving one."""
    other = ub.Builder(gravity=None)
    foot = other.body("foot", kind="static", shape=ub.Sphere(0.1), X_WB=UPRIGHT)
    arm = other.body("arm", shape=ub.Sphere(0.1))
    other.joint("slide", ub.Translational(), foot, arm)
    other.add(ub.PointOnLine(arm.at(0.1), foot.at(0.2), (1.0, 2.0, 3.0)), name="line")
    other.add(ub.PointPlane(arm.at(0.1), foot.at(0.0, 0.2), (0.0, 2.0, 3.0)), name="plane")
    b = ub.Builder(gravity=None)
    b.body("cart", shape=ub.Sphere(0.1), X_WB=TURNED)
    b.include(other, prefix="x_", at=UPRIGHT, parent="cart")
    elements = {"line": "x_line", "plane": "x_plane"}
    same_deeds(other.build(), b.build(), elements, {"arm": "x_arm"}, {"slide": "x_slide"}, TURNED @ UPRIGHT, "cart")
    b.change("x_line", direction=(1.0, 2.0, 3.0))
    with pytest.raises(ub.ModelError, match="'line'"):
        same_deeds(other.build(), b.build(), elements, {"arm": "x_arm"}, {"slide": "x_slide"}, TURNED @ UPRIGHT, "cart")


def test_imported_robots_stand_side_by_side():
    """Two quadrupeds and a humanoid, held by motors, as each alone."""
    data, assets = pytest.importorskip("pybullet_data"), pytest.importorskip("gymnasium")
    pytest.importorskip("mujoco")
    dog = Path(data.getDataPath()) / "a1" / "a1.urdf"
    man = Path(assets.__file__).parent / "envs" / "mujoco" / "assets" / "humanoid.xml"
    b = ub.Builder()
    for name, at in (("left_", ub.Pose()), ("right_", UPRIGHT)):
        b.include(dog, prefix=name, at=at, floating=True, limits=False, meshes=False)
    b.include(man, prefix="man_", at=ub.Pose((0, 5, 0)), limits=False)
    both = b.build()
    for source, prefix, at, options in (
        (dog, "left_", ub.Pose(), {"floating": True, "meshes": False}), (dog, "right_", UPRIGHT, {"floating": True, "meshes": False}),
        (man, "man_", ub.Pose((0, 5, 0)), {}),
    ):  # fmt: skip
        alone = ub.load(source, limits=False, **options).model
        names = [x.name for x in alone.bodies[1:] if x.kind == "dynamic"]
        seen = poses(both, [prefix + n for n in names], duration=0.01)
        assert np.allclose(seen, at.matrix() @ poses(alone, names, duration=0.01), atol=1e-11)  # round-off of ten steps
    assert both.joint("man_right_hip_y").whole == "man_right_hip_x+right_hip_z+right_hip_y"


# names follow


@dataclass(frozen=True)
class Wind(Force):
    """A user's force: `body` in a field called otherwise, a word that looks like a name, a nested table of points and joints."""

    who: str
    style: str = "body"
    grips: Any = ()
    strength: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.style not in ("body", "world"):
            raise ub.ModelError(f"style {self.style!r}")

    def bodies(self) -> list[str]:
        return [self.who, *(g["at"].body for g in self.grips)]

    def joints(self) -> list[str]:
        return list(self.strength)

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        loads.add_wrench(self.who, np.zeros(3), np.array([0.0, 0.0, 1.0]))
        for joint, effort in self.strength.items():
            loads.add_effort(joint, np.full(kinematics.names.joint(joint).nv, effort))


@dataclass(frozen=True)
class Draught(Force):
    """A wind along the world's x axis, which nobody can see from outside."""

    who: str

    def bodies(self) -> list[str]:
        return [self.who]

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        loads.add_force_at(kinematics, self.who, (0.0, 0.0, 0.0), np.array([1.0, 0.0, 0.0]))


@dataclass(frozen=True)
class TurningDraught(Draught):
    """The same, which says how it moves and how it is renamed."""

    direction: tuple[float, ...] = (1.0, 0.0, 0.0)

    def apply(self, kinematics: Kinematics, loads: Loads) -> None:
        loads.add_force_at(kinematics, self.who, (0.0, 0.0, 0.0), np.array(self.direction))

    def moved(self, X: ub.Pose) -> TurningDraught:
        return TurningDraught(self.who, tuple((X.R @ np.array(self.direction)).tolist()))

    def renamed(self, bodies: Any, joints: Any) -> TurningDraught:
        return TurningDraught(bodies.get(self.who, self.who), self.direction)


@dataclass(frozen=True)
class Hidden(Force):
    """One that keeps its body where nobody finds it."""

    get: Any = None

    def bodies(self) -> list[str]:
        return [self.get()]


def room(force: Force) -> ub.Builder:
    """A body and a joint that are both called `body`, and another called `world ` like a word."""
    b = ub.Builder(gravity=None)
    b.joint("body", ub.Revolute(axis=(0, 0, 1)), b.world, b.body("body", shape=ub.Box((0.1, 0.2, 0.3))))
    b.add(force, name="it")
    return b


def test_a_force_of_somebodys_own_is_renamed_field_by_field():
    wind = Wind("body", "body", ({"at": Point("body", (1, 2, 3)), "word": "joint"},), {"body": 2.0})
    b = ub.Builder(gravity=None)
    b.include(room(wind), prefix="left_")
    b.include(room(wind), prefix="right_", at=TURNED)
    assert b.elements["left_it"] == Wind("left_body", "body", ({"at": Point("left_body", (1, 2, 3)), "word": "joint"},), {"left_body": 2.0})
    b.rename(bodies={"left_body": "trunk"}, joints={"left_body": "neck"})
    assert b.elements["left_it"] == Wind("trunk", "body", ({"at": Point("trunk", (1, 2, 3)), "word": "joint"},), {"neck": 2.0})
    assert b.elements["right_it"].joints() == ["right_body"]
    b.build()


def test_words_that_look_like_names_stay_words():
    """A body called `body` and the axes "body" of an AppliedWrench; one called `newton` and a law of impact."""
    b = ub.Builder(gravity=None)
    b.body("body", shape=ub.Sphere(0.1))
    b.body("newton", shape=ub.Sphere(0.1), X_WB=ub.Pose((1, 0, 0)))
    b.add(ub.AppliedWrench("body", force=(1, 0, 0), axes="body"), name="push")
    b.add(ub.Contact(between=("newton", "body"), impact="newton", restitution=0.5), name="touch")
    b.rename(bodies={"body": "a", "newton": "b"})
    assert b.elements["push"] == ub.AppliedWrench("a", force=(1, 0, 0), axes="body")
    assert b.elements["touch"] == ub.Contact(between=("b", "a"), impact="newton", restitution=0.5)


def test_what_speaks_of_the_world_unseen_is_refused_and_what_says_how_is_moved():
    b = ub.Builder(gravity=None)
    with pytest.raises(ub.ModelError, match=r"'it' \(Draught\) does something else where its world .*; give the class a method moved"):
        b.include(room(Draught("body")), at=TURNED)
    assert not b.bodies
    b.include(room(Draught("body")), prefix="here_")
    b.include(room(TurningDraught("body")), prefix="there_", at=TURNED)
    moved = b.elements["there_it"]
    assert moved.who == "there_body" and np.allclose(moved.direction, TURNED.R[:, 0], atol=1e-15)
    with pytest.raises(ub.ModelError, match="'it': Hidden holds names where they cannot be changed; .*renamed"):
        b.include(room(Hidden(lambda: "body")), prefix="h_")


def test_couplings_limits_and_drives_follow_their_joints():
    b = ub.Builder(gravity=None)
    above: Any = b.world
    for k in range(3):
        link = b.body(f"l{k}", shape=ub.Box((0.1, 0.1, 0.4)))
        b.joint(f"j{k}", ub.Revolute(axis=(0, 1, 0)), above, link, X_BM=ub.Pose((0, 0, 0.2)), limits=(-1, 1), stiffness=1.0)
        above = link
    b.add(ub.JointCoupling(["j0", ("j1", 0)], (1.0, -2.0)), name="gear")
    b.add(ub.Coupling(["j2"], ["j1"], [[0.5]]), name="mimic")
    b.add(ub.PrescribedJoint("j0", ((0.0, 1.0), (0.0, 0.5))), name="drive")
    out = ub.Builder(gravity=None)
    out.include(b, prefix="x_")
    assert out.elements["x_gear"].coordinates == (("x_j0", 0), ("x_j1", 0))
    assert (out.elements["x_mimic"].dependent, out.elements["x_mimic"].independent) == ((("x_j2", 0),), (("x_j1", 0),))
    assert out.elements["x_drive"].joint == "x_j0" and out.elements["x_j1.limit"].joint == "x_j1"
    assert out.build().nv == 3


# what cannot be


def ball(contact: ub.Contact | None = None, **options: Any) -> ub.Builder:
    b = ub.Builder(**options)
    b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((0, 0, 1)))
    if contact is not None:
        b.add(contact, name="touch")
    return b


def driven() -> ub.Builder:
    b = ub.Builder()
    b.body("lift", kind="kinematic", shape=ub.Sphere(0.05), V_WB=(0, 0, 0, 0, 0, 0.1))
    return b


def test_gravity_is_the_same_or_left_out_with_a_note():
    b = ub.Builder()
    with pytest.raises(ub.ModelError, match=r"gravity is \(0, 0, -9.81\) here and \(0, 0, -1.62\) there; .*give gravity='ours'"):
        b.include(ball(gravity=(0, 0, -1.62)))
    b.include(ball(gravity=(0, 0, -1.62)), prefix="moon_", gravity="ours")
    assert b.build().gravity.tolist() == [0, 0, -9.81] and b.left_out == ("included 'moon_': gravity (0, 0, -1.62) m/s²: ours holds",)


def test_contacts_for_all_bodies_are_merged_chosen_or_refused():
    b = ball(ub.Contact(friction=0.5))
    b.include(ball(ub.Contact(friction=0.5)), prefix="a_")
    assert [n for n in b.elements if "touch" in n] == ["touch"]
    with pytest.raises(ub.ModelError, match="differ \\(friction 0.5 and 0.8\\); give contact='ours' or contact='theirs'"):
        b.include(ball(ub.Contact(friction=0.8)), prefix="b_")
    b.include(ball(ub.Contact(friction=0.8)), prefix="b_", contact="ours")
    assert b.elements["touch"].friction == 0.5 and "b_touch" not in b.elements
    b.include(ball(ub.Contact(friction=0.8)), prefix="c_", contact="theirs")
    assert "touch" not in b.elements and b.elements["c_touch"].friction == 0.8
    b.build()
    with pytest.raises(ub.ModelError, match="'x_touch' is for all bodies and would let ours touch"):
        ball().include(ball(ub.Contact()), prefix="x_")
    empty = ub.Builder()
    empty.include(ball(ub.Contact()), prefix="x_")
    assert "x_touch" in empty.elements


@pytest.mark.parametrize(
    ("act", "complaint"),
    [
        (lambda b: b.include(ball()), "body 'ball' exists already; give a prefix="),
        (lambda b: b.include(ball(), prefix=3), "prefix 3 is no text"),
        (lambda b: b.include(ball(), prefix="x_", parent="bal"), "did you mean 'ball'"),
        (lambda b: b.include(ball(), prefix="x_", at=(1, 2, 3)), "is not a Pose"),
        (lambda b: b.include(ball(), prefix="x_", parent="ball"), "body 'x_ball' is not held by a joint and cannot move with 'ball'"),
        (lambda b: b.include(loose((0, 0, -9.81)), prefix="x_", parent="ball"), "cannot move with 'ball'"),
        (lambda b: b.include(driven(), prefix="x_", parent="ball"), "body 'x_lift' is kinematic and cannot move with 'ball'"),
        (lambda b: b.include(ball(planar=True), prefix="x_"), "one model moves in space and the other in the plane"),
        (lambda b: b.include(ball(), prefix="x_", gravity="none"), "gravity 'none' is unknown"),
        (lambda b: b.include(ball(), prefix="x_", contact="both"), "contact 'both' is unknown"),
        (lambda b: b.include("no-such-scene"), "no scene 'no-such-scene'"),
    ],
)  # fmt: skip
def test_refusals_are_one_line_and_change_nothing(act, complaint):
    b = ball()
    before = list(b.bodies), list(b.elements)
    with pytest.raises(ub.ModelError) as error:
        act(b)
    assert complaint in str(error.value) and "\n" not in str(error.value)
    assert (list(b.bodies), list(b.elements)) == before


def test_what_is_held_in_the_world_cannot_ride_on_what_moves():
    for force, complaint in ((ub.AppliedWrench("leg", force=(1, 0, 0)), "push"), (ub.FixedPoint(Point("leg")), "push")):
        other = ub.Builder(gravity=None)
        other.joint("hip", ub.Revolute(axis=(0, 1, 0)), other.world, other.body("leg", shape=ub.Sphere(0.1)))
        other.add(force, name="push")
        b = ball(gravity=None)
        with pytest.raises(ub.ModelError, match=f"'{complaint}'.* is held in the world, and body 'ball' moves"):
            b.include(other, parent="ball")
    other = ub.Builder(gravity=None)
    other.joint("hip", ub.Revolute(axis=(0, 1, 0)), other.world, other.body("leg", shape=ub.Sphere(0.1)))
    other.add(ub.PrescribedPoint(other.bodies["leg"].at(), (0, 0, 0), axes=(0, 2)), name="led")
    with pytest.raises(ub.ModelError, match=r"'led'.*holds axes \(0, 2\) of the world, which cannot be turned"):
        ub.Builder(gravity=None).include(other, at=TURNED)


# files


def test_moved_motions_are_saved_and_loaded(tmp_path):
    b = ub.Builder(gravity=None)
    b.include(constrained(), prefix="x_", at=TURNED)
    b.include(loose(), prefix="y_", at=UPRIGHT)
    b.save(tmp_path / "both.json")
    again = ub.Builder.load(tmp_path / "both.json", trust=(__name__,))
    model, other = b.build(), again.build()
    assert model.signals.tobytes() == other.signals.tobytes() and model.start_q().tobytes() == other.start_q().tobytes()
    lift, twin = (m.bodies[m.body("y_swing")].motion(0.3) for m in (model, other))
    assert np.array_equal(lift.matrix(), twin.matrix()) and np.allclose(lift.matrix(), (UPRIGHT @ swinging(0.3)).matrix(), atol=1e-15)


def test_keyframes_come_along_under_the_prefix():
    scene = ub.scenes.make("double-pendulum")
    states = {"up": (np.array([0.3, 0.4]), np.zeros(2))}
    b = ub.Builder.load(scene)
    b.include(ub.scenes.Scene(scene.model, 1.0, 0.01, keyframes=states), prefix="second_", at=ub.Pose((1, 0, 0)))
    assert b.keyframes == ("second_up",)
    first = np.array(b.build().start_q())
    b.start(keyframe="second_up")
    assert b.build().start_q().tolist() == [*first[:2], 0.3, 0.4]
