"""Complementarity: odd input, with a right answer or a clear error."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G = 9.81


def run(b: ub.Builder, time: float, dt: float = 1e-2, **contact: float) -> ub.Recording:
    b.add(ub.Contact(**{"friction": 0.5, **contact}))
    return ub.Simulation(b.build(), "complementarity", dt=dt).run(time)


def load(recording: ub.Recording, body: str) -> np.ndarray:
    return recording.contacts[-1].on(recording.model.body(body))


def least_gap(recording: ub.Recording, row: int = -1) -> float:
    return float(recording.contacts[row].gaps.min(initial=0.0))


@pytest.mark.parametrize("shape", [ub.Sphere(0.1), ub.Capsule(0.1, 0.4), ub.Box((0.2, 0.2, 0.2))])
def test_bodies_in_the_same_place_part(shape: ub.Sphere) -> None:
    """By their thickness, each by as much as the other, and without speed."""
    b = ub.Builder(gravity=None)
    for name in ("one", "two"):
        b.body(name, shape=shape, mass=1.0)
    recording = run(b, 0.5)
    one, two = recording.pose("one")[-1, :3], recording.pose("two")[-1, :3]
    assert np.linalg.norm(two - one) == pytest.approx(0.2, abs=3e-6) and np.abs(one + two).max() < 1e-9
    assert recording.energy.kinetic.max() < 1e-20


HOOKED, INERTIA, TIP = 0.3, 0.35, 0.02
"""[rad, kg m², m]"""


def hook(speed: float) -> ub.Model:
    """An arm of 1 m that turns about a pin, with a ball at its end that comes to a wall from behind when the arm is HOOKED off the normal:
    the wall can only hold the arm back, and that along the arm, since tan 0.3 < μ. So the arm jams there and stops dead."""
    b = ub.Builder(gravity=None)
    arm = b.body("arm", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, INERTIA - 0.25), shape=ub.Placed(ub.Sphere(TIP), ub.Pose((1, 0, 0))))
    b.joint("pin", ub.Revolute((0, 0, 1)), b.world, arm, v=speed)
    facing = ub.Pose.about((0, 1, 0), 0.5 * np.pi)
    b.body("wall", shape=ub.Plane(), kind="static", X_WB=ub.Pose((np.cos(HOOKED) - TIP, 0, 0), facing.wxyz))
    b.add(ub.Contact(friction=0.8))
    return b.build()


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
@pytest.mark.parametrize("speed", [1.0, 5.0, 20.0])
def test_a_hook_jams_and_its_forces_stop_the_arm_and_do_no_more(speed: float, dt: float) -> None:
    """The moment of all impulses about the pin is the arm's spin I ω, and none of them is out of proportion; where friction leaves open how
    large they are, forces of 10⁹ N and more were told before. As the tip turns within the step it is off by the fourth order of ω h."""
    recording = ub.Simulation(hook(speed), "complementarity", dt=dt).run((round(0.6 / speed / dt) + 10) * dt)
    assert all(report.residual < 1e-9 for report in recording.reports)
    moments, largest = 0.0, 0.0
    for touching in recording.contacts:
        force = touching.normal_forces[:, None] * touching.normals + touching.friction
        moments += dt * float(np.cross(touching.points, force)[:, 2].sum())
        largest = max(largest, float(touching.normal_forces.max(initial=0.0)))
    assert abs(moments) == pytest.approx(INERTIA * speed, rel=0.02)
    assert largest * dt < 5.0 * INERTIA * speed
    assert abs(recording.v[-1][0]) < 1e-9 and recording.q[-1][0] == pytest.approx(HOOKED, abs=0.1 * (speed * dt) ** 3 + 1e-9)


def floor(extra: np.ndarray, faces: list[tuple[int, int, int]]) -> ub.OpenMesh:
    corners = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float)
    return ub.OpenMesh(np.concatenate([corners, extra]), np.array(faces))


FLOORS = {
    "needles": floor(np.array([(0.0, -1.0 + 1e-9, 0.0)]), [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]),
    "slivers": floor(np.array([(0, 0, 0), (1e-12, 0, 0)], float), [(0, 1, 4), (1, 5, 4), (1, 2, 5), (2, 3, 5), (3, 4, 5), (3, 0, 4)]),
    "no area": floor(np.array([(0, 0, 0)], float), [(0, 1, 2), (0, 2, 3), (0, 4, 4), (4, 4, 4)]),
}


@pytest.mark.parametrize("kind", FLOORS)
@pytest.mark.parametrize("shape", [ub.Sphere(0.1), ub.Box((0.2, 0.2, 0.2))])
def test_needles_slivers_and_triangles_without_area_carry(kind: str, shape: ub.Sphere) -> None:
    """What rests on them stays, with its weight."""
    b = ub.Builder()
    b.body("floor", shape=FLOORS[kind], kind="static")
    b.body("load", shape=shape, mass=2.0, X_WB=ub.Pose((0, 0, 0.1)))
    recording = run(b, 0.1)
    assert np.abs(recording.pose("load") - recording.pose("load")[0]).max() < 1e-9
    assert load(recording, "load") == pytest.approx([0, 0, 2.0 * G], abs=1e-6)


@pytest.mark.parametrize("shape", [ub.Box((0.2, 0.2, 0.2)), ub.Cylinder(0.1, 0.2)])
@pytest.mark.parametrize("width", [0.6, 1e-7])
def test_what_slides_over_seams_and_needles_of_a_flat_floor_meets_none(shape: ub.Box, width: float) -> None:
    """Without friction it keeps its velocity, and its height but for what a needle measures too much."""
    x = [(-1, -1, 0), (0, -1, 0), (1, -1, 0), (1, 1, 0), (0.5 * width, 1, 0), (-0.5 * width, 1, 0), (-1, 1, 0)]
    b = ub.Builder()
    b.body("floor", shape=ub.OpenMesh(x, [(0, 1, 5), (0, 5, 6), (1, 4, 5), (1, 2, 4), (2, 3, 4)]), kind="static")
    b.body("load", shape=shape, mass=1.0, X_WB=ub.Pose((-0.4, 0.013, 0.1)), V_WB=(0, 0, 0, 2, 0, 0))
    recording = run(b, 0.4, friction=0.0)
    assert np.abs(recording.pose("load")[:, 2] - 0.1).max() < 2e-7 and recording.pose("load")[-1, 0] == pytest.approx(0.4, abs=1e-6)
    assert recording.twist("load")[-1] == pytest.approx([0, 0, 0, 2, 0, 0], abs=1e-4)


@pytest.mark.parametrize("aside", [(0.6, 0.0), (0.6, 0.6)])
def test_contact_without_area(aside: tuple[float, float]) -> None:
    """A box beside a table, their edges (or corners) flush: it falls, freely or over the edge, without gain and without going in."""
    b = ub.Builder()
    b.body("table", shape=ub.Box((1, 1, 0.2)), kind="static")
    b.body("box", shape=ub.Box((0.2, 0.2, 0.2)), mass=1.0, X_WB=ub.Pose((*aside, 0.2)))
    recording = run(b, 0.15, 5e-3)
    assert recording.pose("box")[-1, 2] < 0.2 - 0.03 and (np.diff(recording.energy.total) < 1e-6).all()
    assert min(least_gap(recording, k) for k in range(len(recording))) > -1e-4


def test_parallel_edges_and_lines() -> None:
    """A box with an edge on the edge of another falls to a side, without gain. A capsule on a capsule along it is carried at both ends."""
    b = ub.Builder()
    b.body("ridge", shape=ub.Box((0.2, 1, 0.2)), kind="static", X_WB=ub.Pose.about((0, 1, 0), np.pi / 4))
    b.body("box", shape=ub.Box((0.2, 1, 0.2)), mass=1.0, X_WB=ub.Pose.about((0, 1, 0), np.pi / 4, p=(0, 0, 0.2 * np.sqrt(2))))
    recording = run(b, 0.1, 5e-3)
    assert np.isfinite(recording.q).all() and (np.diff(recording.energy.total) < 1e-4).all()
    assert min(least_gap(recording, k) for k in range(len(recording))) > -1e-3
    b = ub.Builder()
    along = ub.Pose.about((0, 1, 0), np.pi / 2)
    b.body("log", shape=ub.Capsule(0.1, 1.0), kind="static", X_WB=along)
    b.body("top", shape=ub.Capsule(0.1, 1.0), mass=3.0, X_WB=ub.Pose((0, 0, 0.2), along.wxyz))
    recording = run(b, 0.1)
    assert len(recording.contacts[-1]) == 2 and load(recording, "top") == pytest.approx([0, 0, 3.0 * G], rel=1e-6, abs=1e-6)


def test_bodies_that_start_deep_inside_come_out() -> None:
    """Out of the ground at 1 m/s at most, and no faster when they are out; out of a box by the nearest side."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("box", shape=ub.Box((0.2, 0.2, 0.2)), mass=1.0, X_WB=ub.Pose((0, 0, -0.2)))
    recording = run(b, 0.8)
    z = recording.pose("box")[:, 2]
    assert z[-1] == pytest.approx(0.1, abs=3e-6) and (np.diff(z) < 1.0 * 1e-2 + 1e-9).all() and recording.energy.kinetic.max() < 1e-12
    b = ub.Builder(gravity=None)
    b.body("big", shape=ub.Box((1, 1, 1)), kind="static")
    b.body("small", shape=ub.Box((0.2, 0.2, 0.2)), mass=1.0, X_WB=ub.Pose((0.1, 0, 0.05)))
    recording = run(b, 0.8)
    assert recording.pose("small")[-1, :3] == pytest.approx([0.6, 0.0, 0.05], abs=3e-6)
    assert recording.energy.kinetic.max() < 1e-12


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_what_is_taken_apart_keeps_its_course(coordinates: str) -> None:
    """Two boxes, one inside the other, fly alike: they are turned and moved apart, and no force ever acts, so both go on as they went."""
    course = np.array([0.0, 0.0, 0.0, 10.0, 0.0, 0.0])
    b = ub.Builder(gravity=None)
    b.body("a", shape=ub.Box((0.4, 0.4, 0.1)), mass=1.0, V_WB=tuple(course))
    placed = ub.Placed(ub.Box((0.2, 0.2, 0.2)), ub.Pose((0.05, 0.0, 0.0)))
    at = ub.Pose.about((1, 0.3, 0), 0.7, p=(0.07, 0.1, 0.19))
    b.body("c", shape=[placed], density=125.0, X_WB=at, V_WB=tuple(course))
    b.add(ub.Contact(friction=0.5))
    solver = ub.solvers.Complementarity(coordinates=coordinates)
    recording = ub.Simulation(b.build(), solver, dt=1e-2).run(0.5, progress=False)
    assert recording.contacts[0].gaps.min() < -0.01 and recording.contacts[-1].gaps.min(initial=0.0) > -1e-5
    assert max(c.normal_forces.max(initial=0.0) for c in recording.contacts) == 0.0
    for body in ("a", "c"):
        np.testing.assert_allclose(recording.twist(body), np.tile(course, (len(recording), 1)), atol=1e-12)  # round-off of 50 steps


def test_contacts_of_what_is_driven_do_not_decide_the_others() -> None:
    """A slide drives a ball along the ground into another, at rest: the driven one cannot answer, whatever the convex law asks of it, and
    both coordinates and all methods find the same finite impulses."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    slide = b.body("slide", shape=ub.Sphere(0.1), mass=1.0)
    b.joint("j", ub.Prismatic((1, 0, 0)), b.world, slide, X_PF=ub.Pose((0, 0, 0.1)), v=0.6)
    b.add(ub.PrescribedJoint("j", lambda t: 0.6 * t))
    b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0.2, 0, 0.1)))
    b.add(ub.Contact(friction=0.5))
    model = b.build()
    for relaxation in ("none", "anitescu-potra"):
        found = []
        for coordinates in ("reduced", "maximal"):
            for method in ("auto", "pgs", "augmented"):
                solver = ub.solvers.Complementarity(coordinates=coordinates, method=method, relaxation=relaxation)
                recording = ub.Simulation(model, solver, dt=1e-2).run(1e-2, progress=False)
                assert recording.reports[-1].residual <= 1e-10
                # a momentum of 0.6 kg m/s within 10 ms, and less for rubbing
                assert recording.contacts[-1].normal_forces.max() < 10 * 0.6 / 1e-2
                found.append(recording.twist("ball")[-1])
        np.testing.assert_allclose(found, np.tile(found[0], (6, 1)), atol=1e-8)


def test_box_on_the_ridge_of_a_mesh() -> None:
    """Balanced on it, face on edge: carried at both sides of the face."""
    roof = [(-1, -1, -1), (-1, 1, -1), (0, -1, 0), (0, 1, 0), (1, -1, -1), (1, 1, -1)]
    b = ub.Builder()
    b.body("roof", shape=ub.OpenMesh(np.array(roof, float), np.array([(0, 2, 1), (1, 2, 3), (2, 4, 3), (3, 4, 5)])), kind="static")
    b.body("box", shape=ub.Box((0.4, 0.4, 0.2)), mass=1.0, X_WB=ub.Pose((0, 0, 0.1)))
    recording = run(b, 0.2)
    assert np.abs(recording.pose("box") - recording.pose("box")[0]).max() < 1e-9
    assert load(recording, "box") == pytest.approx([0, 0, G], abs=1e-6) and len(recording.contacts[-1]) == 2


def test_huge_speeds() -> None:
    """10⁶ m/s against a plane bounces as it should; what passes a wall fails; what may have, or turns too far in a step, is named."""
    b = ub.Builder(gravity=None)
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 5)), V_WB=(0, 0, 0, 0, 0, -1e6))
    recording = run(b, 0.03, restitution=0.5)
    assert recording.twist("ball")[-1, 5] == pytest.approx(5e5, rel=1e-9)
    for aside in (0.0, 2.0):
        b = ub.Builder()
        b.body("wall", shape=ub.Box((1, 1, 0.01)), kind="static")
        b.body("bullet", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((aside, 0, 5)), V_WB=(0, 0, 0, 0, 0, -1e6))
        if aside:
            assert any("'bullet' goes 1e+04 m in a step" in note for note in run(b, 0.01).reports[-1].notes)
        else:
            with pytest.raises(ub.StepFailed, match="'wall' and 'bullet' go through each other"):
                run(b, 0.01)
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("top", shape=ub.Box((0.2, 0.1, 0.3)), mass=1.0, X_WB=ub.Pose((0, 0, 0.2)), V_WB=(1e3, 0, 3e2, 0, 0, -1))
    recording = run(b, 0.01)
    assert any("'top' turns by 10 rad in a step" in note for note in recording.reports[-1].notes) and np.isfinite(recording.q).all()


def test_numbers_that_are_not_finite_are_refused_by_name() -> None:
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    ball = b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 0.1)))
    b.add(ub.Contact())
    model = b.build()
    with pytest.raises(ub.ModelError, match="not finite"):
        ub.Simulation(model, "complementarity", state=ub.State(0.0, np.array([0, 0, np.nan, 1, 0, 0, 0]), np.zeros(6)))
    sim = ub.Simulation(model, "complementarity")
    sim.control.wrench[2, 5] = np.nan
    with pytest.raises(ub.ModelError, match="not finite"):
        sim.run(0.01)
    b.add(ub.SpringDamper(ball.at(), b.world.at(0, 0, 1.0), stiffness=1e300, rest_length=0.0))
    with np.errstate(all="ignore"), pytest.raises(ub.StepFailed, match="'ball'") as failed:
        ub.Simulation(b.build(), "complementarity", dt=5e-3).run(0.1)
    assert failed.value.element == "ball"


def test_static_bodies_that_overlap_are_no_contact() -> None:
    b = ub.Builder()
    b.body("one", shape=ub.Box((1, 1, 1)), kind="static")
    b.body("two", shape=ub.Box((1, 1, 1)), kind="static", X_WB=ub.Pose((0.5, 0, 0)))
    b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0.2, 0, 0.6)))
    recording = run(b, 0.1)
    assert all((c.bodies == recording.model.body("ball")).any(axis=1).all() for c in recording.contacts)
    assert load(recording, "ball") == pytest.approx([0, 0, G], rel=1e-9)


def test_a_million_to_one_on_top_of_a_stack() -> None:
    """Two boxes of 1 kg below one of 10⁶ kg: the lowest carries all of it, and nothing moves faster than the tolerance allows.

    Sideways, velocities that are zero to 1e-7 m/s are forces of 10⁶ kg · 1e-7 m/s / h = 10 N."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    for k in range(3):
        b.body(f"box{k}", shape=ub.Box((0.2, 0.2, 0.2)), mass=1e6 if k == 2 else 1.0, X_WB=ub.Pose((0, 0, 0.1 + 0.2 * k)))
    recording = run(b, 0.2)
    assert load(recording, "ground") == pytest.approx([0, 0, -(1e6 + 2.0) * G], rel=1e-6, abs=10.0)
    assert np.abs(recording.v).max() < 1e-5 and abs(recording.pose("box2")[-1, 2] - 0.5) < 1e-6
