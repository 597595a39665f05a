"""Each finding comes when its trouble is there, names it with its value, and stays away when it is not."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

HINGE = ub.Revolute(axis=(0, 1, 0))


def codes(found: ub.Findings) -> set[str]:
    return {f.code for f in found}


def only(found: ub.Findings, code: str) -> ub.Finding:
    (one,) = [f for f in found if f.code == code]
    return one


def ball(b: ub.Builder, name: str, x: float = 0.0, **more):
    return b.body(name, **({"shape": ub.Sphere(0.1), "mass": 1.0, "X_WB": ub.Pose(p=(x, 0, 0))} | more))


def test_a_body_beside_a_connected_one_floats():
    b = ub.Builder()
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, ball(b, "held"))
    ball(b, "loose", 3.0)
    found = ub.check(b.build())
    assert only(found, "floating bodies").elements == ("loose",) and only(found, "falls freely").elements == ("loose",)
    assert only(found, "falls freely").level == "note" and only(found, "floating bodies").level == "warning"


def test_bodies_that_may_touch_the_ground_are_meant_to_fall():
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("cube", shape=ub.Box((1, 1, 1)), X_WB=ub.Pose(p=(0, 0, 2)))
    b.body("ghost", mass=1.0, inertia=(1, 1, 1), X_WB=ub.Pose(p=(5, 0, 2)))
    b.add(ub.Contact(between=("ground", "cube")))
    assert only(ub.check(b.build()), "falls freely").elements == ("cube", "ghost")
    b.add(ub.Contact())
    assert only(ub.check(b.build()), "falls freely").elements == ("ghost",)


def test_free_bodies_by_themselves_are_no_mistake():
    b = ub.Builder(gravity=None)
    ball(b, "one")
    ball(b, "two", 1.0)
    assert not ub.check(b.build())


@pytest.mark.parametrize("tie", ["spring", "constraint", "joint"])
def test_what_ties_a_part_to_the_ground_makes_it_connected(tie):
    b = ub.Builder()
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, ball(b, "held"))
    one, two = ball(b, "one", 1.0), ball(b, "two", 2.0)
    b.add(ub.SpringDamper(one.at(0, 0, 0), two.at(0, 0, 0), stiffness=10.0))
    loose = ub.check(b.build())
    assert only(loose, "disconnected part").elements == ("one", "two")
    if tie == "spring":
        b.add(ub.SpringDamper(one.at(0, 0, 0), b.world.at(0, 0, 1), stiffness=10.0))
    elif tie == "constraint":
        b.add(ub.FixedPoint(two.at(0, 0, 0), None))
    else:
        b.joint("ball", ub.Ball(), b.world, two, X_PF=ub.Pose(p=(2, 0, 0)))
    assert not codes(ub.check(b.build())) & {"disconnected part", "falls freely", "floating bodies"}


def test_bodies_in_one_place_without_relation():
    b = ub.Builder(gravity=None)
    ball(b, "one", shape=None, inertia=(1, 1, 1))
    ball(b, "two", shape=None, inertia=(1, 1, 1))
    assert only(ub.check(b.build()), "same pose").elements == ("one", "two")


def rod_between(distance: float, length: float) -> ub.Model:
    """A pendulum of length 1 and a rod of given length from its end to a point in its plane."""
    b = ub.Builder()
    bob = b.body("bob", shape=ub.Sphere(0.1), mass=1.0)
    b.joint("hinge", HINGE, b.world, bob, X_BM=ub.Pose(p=(0, 0, 1)))
    b.add(ub.Distance(bob.at(0, 0, 0), b.world.at(distance, 0, 0), length=length), name="rod")
    return b.build()


def test_a_rod_that_cannot_reach_contradicts():
    """The end stays within 1 of the origin, so it never comes closer to a point at 3 than 2; the best leaves 2 − 0.5."""
    found = ub.check(rod_between(3.0, 0.5))
    one = only(found, "conflicting constraints")
    assert one.level == "error" and one.elements == ("rod",) and "1.5 m" in one.message and not found.ok


def test_a_rod_that_can_reach_is_assembled():
    """At the start the end is √(1 + 4) from a point at 2; a rod of 1.5 is too short by √5 − 1.5."""
    found = ub.check(rod_between(2.0, 1.5))
    one = only(found, "start violates constraints")
    assert one.level == "warning" and one.elements == ("rod",) and f"{np.sqrt(5) - 1.5:.3g}" in one.message and found.ok


def test_two_rods_that_contradict_are_both_named():
    b = ub.Builder()
    bob = ball(b, "bob")
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, bob)
    b.add(ub.Distance(bob.at(0, 0, 0), b.world.at(5, 0, 0), length=4.0), name="right")
    b.add(ub.Distance(bob.at(0, 0, 0), b.world.at(-5, 0, 0), length=4.0), name="left")
    one = only(ub.check(b.build()), "conflicting constraints")
    assert set(one.elements) == {"left", "right"}


def test_repeated_rows_are_counted_and_the_loop_is_named():
    """A planar four-bar of 3D hinges repeats three rows (Grübler: 6·3 − 5·4 = −2, yet it moves)."""
    one = only(ub.check(ub.scenes.build("spatial-four-bar")), "redundant constraints")
    assert one.message.startswith("3 rows") and len(one.elements) == 4 and one.level == "note"
    assert "redundant constraints" not in codes(ub.check(ub.scenes.build("four-bar")))


def test_a_start_that_moves_against_a_constraint():
    b = ub.Builder()
    bob = ball(b, "bob")
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, bob, v=2.0)
    b.add(ub.FixedPoint(bob.at(0, 0, 0), None), name="pin")
    one = only(ub.check(b.build()), "start velocity violates constraints")
    assert one.elements == ("pin",) and "2 m/s" in one.message


def test_drives_that_contradict_each_other():
    b = ub.Builder(gravity=None)
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, ball(b, "bob"))
    b.add(ub.PrescribedJoint("slide", lambda t: 1.0 * t), name="slow")
    b.add(ub.PrescribedJoint("slide", lambda t: 3.0 * t), name="fast")
    one = only(ub.check(b.build()), "conflicting velocities")
    assert set(one.elements) == {"slow", "fast"} and one.level == "error"


def test_a_joint_that_starts_outside_its_limit():
    b = ub.Builder()
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, ball(b, "bob"), q=1.5, limits=(-1.0, 1.0))
    found = ub.check(b.build())
    one = only(found, "outside joint limit")
    assert one.level == "warning" and "slide" in one.elements and "0.5" in one.message and "-1 … 1" in one.message
    assert "unilateral" in found.safe_step("articulated", "rk4").remark


def test_solver_that_cannot_is_an_error_only_if_asked_for():
    b = ub.Builder()
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, ball(b, "bob"), limits=(-1.0, 1.0))
    model = b.build()
    assert ub.check(model).ok
    assert only(ub.check(model, solver="articulated"), "solver cannot").level == "error"
    assert ub.check(model, solver="redmax").ok


def test_inertias_sizes_and_masses():
    b = ub.Builder(gravity=None)
    cube = ub.Box((0.2, 0.2, 0.2))
    J = 1.0 * 0.2**2 / 6
    good = b.body("good", shape=cube, mass=1.0)
    tiny = b.body("tiny", shape=cube, mass=1.0, com=(0, 0, 0), inertia=(1e-9, 1e-9, 1e-9), X_WB=ub.Pose(p=(1, 0, 0)))
    huge = b.body("huge", shape=cube, mass=1.0, com=(0, 0, 0), inertia=(9.0, 9.0, 9.0), X_WB=ub.Pose(p=(2, 0, 0)))
    away = b.body("away", shape=cube, mass=1.0, com=(0, 0, 0.5), inertia=(J, J, J), X_WB=ub.Pose(p=(3, 0, 0)))
    lead = b.body("lead", shape=cube, mass=8e4 * 0.2**3, X_WB=ub.Pose(p=(4, 0, 0)))
    b.body("island", shape=ub.Box((3000, 1, 1)), X_WB=ub.Pose(p=(0, 50, 0)))
    assert good and tiny and huge and away and lead
    found = ub.check(b.build())
    expected = {"tiny inertia": "tiny", "huge inertia": "huge", "centre of mass outside": "away", "odd density": "lead"}
    expected |= {"odd size": "island"}
    assert {f.code: f.elements for f in found if f.code in expected} == {code: (name,) for code, name in expected.items()}
    assert "0.4 m outside" in only(found, "centre of mass outside").message
    assert "8e+04 kg/m³" in only(found, "odd density").message


def test_mass_ratios_along_joints_and_springs():
    b = ub.Builder(gravity=None)
    light, heavy = ball(b, "light", mass=1e-3), ball(b, "heavy", 1.0, mass=50.0)
    b.joint("root", ub.Ball(), b.world, light)
    b.joint("arm", ub.Ball(), light, heavy, X_BM=ub.Pose(p=(-1, 0, 0)))
    one = only(ub.check(b.build()), "mass ratio")
    assert one.elements == ("heavy", "light", "arm") and "5e+04 times" in one.message


SHAPES = {
    "sphere": ub.Sphere(0.5),
    "box": ub.Box((1.0, 1.0, 1.0)),
    "capsule": ub.Capsule(0.5, 1.0),
    "cylinder": ub.Cylinder(0.5, 1.0),
    "ellipsoid": ub.Ellipsoid((0.5, 0.5, 0.5)),
}


@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("second", ["sphere", "box"])
def test_shapes_inside_each_other(first, second):
    """All reach 0.5 along x: at a distance of 0.9 they overlap by 0.1, at 1.01 they do not."""
    pytest.importorskip("coal")

    def apart(x: float) -> ub.Findings:
        b = ub.Builder(gravity=None)
        b.body("a", shape=SHAPES[first], mass=1.0)
        b.body("b", shape=SHAPES[second], mass=1.0, X_WB=ub.Pose(p=(x, 0, 0)))
        return ub.check(b.build())

    one = only(apart(0.9), "intersecting shapes")
    assert one.elements == ("a", "b") and one.level == "warning"
    assert float(one.message.split(" by ")[1].split(" m;")[0]) == pytest.approx(0.1, abs=1e-3)
    assert "intersecting shapes" not in codes(apart(1.01))


def test_the_ground_meshes_and_what_is_left_out():
    pytest.importorskip("coal")
    cube = ub.Mesh(*ub.Box((1.0, 1.0, 1.0)).triangles())

    def found(shape, height: float, solid: bool = True) -> set[str]:
        b = ub.Builder(gravity=None)
        b.body("ground", shape=ub.Plane(), kind="static")
        placed = ub.Placed(shape, ub.Pose(), solid=solid)
        b.body("thing", shape=placed, mass=1.0, inertia=(1, 1, 1), com=(0, 0, 0), X_WB=ub.Pose(p=(0, 0, height)))
        return codes(ub.check(b.build()))

    for shape in (ub.Sphere(0.5), cube):
        assert "intersecting shapes" in found(shape, 0.4) and "intersecting shapes" not in found(shape, 0.5 + 1e-9)
        assert "intersecting shapes" not in found(shape, 0.4, solid=False)
    b = ub.Builder(gravity=None)
    b.body("shell", shape=cube, mass=1.0)
    b.body("inside", shape=ub.Sphere(0.1), mass=1.0)
    b.body("crossing", shape=cube, mass=1.0, X_WB=ub.Pose(p=(0.9, 0.05, 0.03)))
    pairs = {f.elements for f in ub.check(b.build()) if f.code == "intersecting shapes"}
    assert pairs == {("shell", "inside"), ("shell", "crossing")}


def test_neighbours_at_a_joint_may_overlap():
    pytest.importorskip("coal")
    b = ub.Builder()
    upper = b.body("upper", shape=ub.Capsule(0.1, 1.0))
    lower = b.body("lower", shape=ub.Capsule(0.1, 1.0))
    b.joint("shoulder", HINGE, b.world, upper, X_BM=ub.Pose(p=(0, 0, 0.5)))
    b.joint("elbow", HINGE, upper, lower, X_PF=ub.Pose(p=(0, 0, -0.5)), X_BM=ub.Pose(p=(0, 0, 0.5)))
    assert "intersecting shapes" not in codes(ub.check(b.build()))


def test_without_coal_it_says_so(monkeypatch):
    monkeypatch.setattr("unibody.checks.overlaps.find_spec", lambda name: None)
    b = ub.Builder(gravity=None)
    ball(b, "a")
    ball(b, "b", 0.1)
    assert "pip install unibody[collision]" in only(ub.check(b.build()), "intersections not checked").message


def test_findings_read_as_text_and_by_level():
    found = ub.check(rod_between(3.0, 0.5))
    assert repr(found).startswith("1 error, no warnings") and "largest safe dt" in repr(found)
    assert [f.level for f in found] == sorted((f.level for f in found), key=("error", "warning", "note").index)
    with pytest.raises(ub.ModelError, match="not a Model"):
        ub.check("pendulum")
    with pytest.raises(ub.ModelError, match="dt"):
        ub.check(rod_between(3.0, 0.5), dt=-1.0)


@pytest.mark.parametrize("name", ["pendulum", "bennett", "cable-toy", "closed-ring", "catenary", "spinning-body", "hand"])
def test_scenes_of_the_house_have_no_errors(name):
    scene = ub.scenes.make(name)
    assert ub.check(scene.model, scene.dt, None).ok


def test_a_free_joint_of_ones_own_connects_nothing():
    b = ub.Builder()
    trunk, leg = ball(b, "trunk"), ball(b, "leg")
    b.joint("root", ub.Free(), b.world, trunk, q=(0, 0, 1, 1, 0, 0, 0))
    b.joint("hip", HINGE, trunk, leg, X_PF=ub.Pose(p=(0, 0, -0.5)), damping=0.2)
    found = ub.check(b.build(), dt=1e-2)
    assert only(found, "falls freely").elements == ("trunk", "leg")
    assert found.safe_step("redmax", "linearly-implicit").dt > 0.1  # the roots at 0 of a free body are no instability


def test_many_overlaps_are_counted_not_listed():
    """Nine balls in one heap are 36 pairs."""
    pytest.importorskip("coal")
    b = ub.Builder(gravity=None)
    for k in range(9):
        ball(b, f"ball{k}", 0.01 * k)
    lines = [f for f in ub.check(b.build()) if f.code == "intersecting shapes"]
    assert len(lines) == 7 and lines[-1].message.startswith("30 more pairs")


def test_surfaces_that_intersect_are_an_error_where_they_must_not_touch():
    def boxes(apart: float, *more) -> ub.Model:
        b = ub.Builder()
        for k in range(2):
            b.body(f"box{k}", shape=ub.Box((1, 1, 1)), X_WB=ub.Pose(p=(apart * k, 0.1 * k, 0)))
        for element in more:
            b.add(element)
        return b.build()

    found = ub.check(boxes(0.5, ub.Contact()))
    assert not found.ok and only(found, "start refused").elements == ("box0", "box1")
    assert "start refused" not in codes(ub.check(boxes(0.5)))
    assert "start refused" not in codes(ub.check(boxes(1.5, ub.Contact())))
    assert "start refused" not in codes(ub.check(boxes(0.5, ub.Contact(), ub.Contact(between=("box0", "box1"), on=False))))
    assert "start refused" not in codes(ub.check(boxes(0.5, ub.Contact()), solver="articulated"))


def test_a_start_that_simulations_assemble_is_not_refused():
    """Wheels apart, tied to turn alike and 0.2 rad out of step: assembled, it touches nothing. A check says what a simulation does."""

    def wheels(apart: float) -> ub.Model:
        b = ub.Builder(gravity=None)
        for k, (name, at) in enumerate((("a", 0.7), ("c", 0.5))):
            body = b.body(name, shape=ub.Box((0.4, 0.1, 0.1)))
            b.joint(name, ub.Revolute((0, 0, 1)), b.world, body, X_PF=ub.Pose((0, 0, apart * k)), q=at)
            b.add(ub.JointLimit(name, upper=0.4), name=f"stop {name}")
        b.add(ub.Contact())
        return b.build()

    assert "start refused" not in codes(ub.check(wheels(0.5)))
    ub.Simulation(wheels(0.5), "barrier", dt=1e-3).step()
    with pytest.raises(ub.ModelError, match="stop"):
        ub.Simulation(wheels(0.5), "barrier", dt=1e-3, assemble=False)
    assert "start refused" in codes(ub.check(wheels(0.05)))
