"""What every medium draws: solids that cover the shapes, strands whose tension is their force, colours, the inertia box, rotations."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.element import Kinematics, Point
from unibody.forces.base import Loads
from unibody.shapes.placed import Placed
from unibody.view.look import Look, ground_height, inertia_box, quaternions, rotations
from unibody.view.snapshot import Snapshot, snapshots
from unibody.view.style import PULL, PUSH, SLACK, body_colours, rgb, tension_colours


def strung() -> ub.Model:
    """Three moving bodies with two springs, one of them damped, and two cables, one of them slack."""
    b = ub.Builder(gravity=(0, 0, 0))
    for k, name in enumerate(("a", "b", "c")):
        b.body(name, shape=ub.Box((0.1, 0.2, 0.3)), X_WB=ub.Pose((0.7 * k, 0.1 * k, 0.0)), V_WB=(0.3, -0.2, 0.5, 0.4 * k, -0.3, 0.2 * k))
    b.add(ub.SpringDamper(Point("a", (0.1, 0, 0)), Point("b", (0, 0.2, 0)), stiffness=40.0, damping=3.0, rest_length=0.3), name="damped")
    b.add(ub.SpringDamper(Point("b"), Point("c", (0, 0, 0.1)), stiffness=70.0, damping=0.0, rest_length=2.0), name="pushes")
    through = (Point("a", (0, 0, 0.1)), Point("b", (0, 0, 0.2)), Point("c"), Point("world", (1, 2, 3)))
    b.add(ub.Cable(through, stiffness=25.0, damping=2.0, rest_length=1.0), name="taut")
    b.add(ub.Cable(through[:3], stiffness=25.0, damping=2.0, rest_length=50.0), name="slack")
    return b.build()


def end_force(model: ub.Model, name: str, seen) -> np.ndarray:
    """The force (3) on the body of the strand's first point, world axes, by the element's own `apply` in NumPy."""
    element = dict(model.forces)[name]
    R = rotations(seen.poses[:, 3:])
    X = np.concatenate([R.reshape(-1, 9), seen.poses[:, :3]], axis=1)
    V = np.concatenate([np.einsum("nji,nj->ni", R, seen.twists[:, :3]), np.einsum("nji,nj->ni", R, seen.twists[:, 3:])], axis=1)
    kinematics = Kinematics(0.0, X, V, np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), model)  # type: ignore[arg-type]
    loads = Loads()
    element.apply(kinematics, loads)
    first = element.a if hasattr(element, "a") else element.points[0]
    return R[model.body(first.body)] @ loads.wrenches.get(first.body, np.zeros(6))[3:]


def test_tension_is_the_force_at_the_end_of_a_strand():
    model = strung()
    rec = ub.Simulation(model, dt=1e-2).run(0.1, every=5)
    look = Look(model)
    names = [s.name for s in look.strands]
    assert dict(zip(names, (s.kind for s in look.strands), strict=True)) == {
        "damped": "spring", "pushes": "spring", "taut": "cable", "slack": "cable"
    }  # fmt: skip
    for snapshot in snapshots(look, rec):
        for k, strand in enumerate(look.strands):
            force = end_force(model, strand.name, snapshot.observation)
            x = strand.points(snapshot.R, snapshot.p)
            along = (x[1] - x[0]) / np.linalg.norm(x[1] - x[0])
            assert snapshot.tension[k] == pytest.approx(force @ along, rel=1e-9, abs=1e-9), strand.name
            assert np.linalg.norm(force) == pytest.approx(abs(snapshot.tension[k]), rel=1e-9, abs=1e-9)
        by_name = dict(zip(names, snapshot.tension, strict=True))
        assert by_name["pushes"] < 0.0 == by_name["slack"] < by_name["taut"]


def test_rod_carries_the_weight_that_hangs_on_it():
    b = ub.Builder(gravity=(0, 0, -10.0))
    b.body("weight", shape=ub.Sphere(0.1), mass=3.0, X_WB=ub.Pose((0, 0, -1)))
    b.add(ub.Distance(Point("world"), Point("weight"), 1.0), name="rod")
    rec = ub.Simulation(b.build(), "lagrange", dt=1e-3).run(0.0)
    look = Look(rec.model)
    assert [s.kind for s in look.strands] == ["rod"]
    assert next(snapshots(look, rec)).tension[0] == pytest.approx(30.0)


def test_solids_cover_the_shapes_wherever_bodies_are():
    b = ub.Builder()
    turned = ub.Pose((0.1, -0.2, 0.3), (0.8, 0.1, 0.5, 0.2))
    shapes = (ub.Box((0.1, 0.2, 0.3)), ub.Sphere(0.2), ub.Ellipsoid((0.1, 0.2, 0.4)), ub.Cylinder(0.1, 0.5), ub.Capsule(0.1, 0.4))
    for k, shape in enumerate(shapes):
        b.body(f"body{k}", shape=Placed(shape, turned), X_WB=ub.Pose((k, 1, 2), (0.6, 0, 0.8, 0)))
    look = Look(b.build())
    R, p = look.start
    placed = {}
    for group in look.solids:
        R_WS, p_WS = group.placed(R, p)
        for k, body in enumerate(group.body):
            placed[int(body)] = np.einsum("ij,vj->vi", R_WS[k], group.scale[k] * group.vertices) + p_WS[k]
    for k, shape in enumerate(shapes):
        X = look.model.bodies[look.model.body(f"body{k}")].X_WB @ turned
        wanted = np.array(shape.triangles(24)[0]) @ X.R.T + X.p
        got = placed[look.model.body(f"body{k}")]
        assert got.min(axis=0) == pytest.approx(wanted.min(axis=0), abs=2e-2 * 0.5)
        assert got.max(axis=0) == pytest.approx(wanted.max(axis=0), abs=2e-2 * 0.5)
        assert np.linalg.norm(got.mean(axis=0) - wanted.mean(axis=0)) < 1e-9


def test_thousand_bodies_are_few_meshes():
    b = ub.Builder()
    for k in range(300):
        b.body(f"box{k}", shape=ub.Box((0.1, 0.1 + 1e-3 * k, 0.2)), X_WB=ub.Pose((k, 0, 0)))
        b.body(f"ball{k}", shape=ub.Sphere(0.1 + 1e-3 * k), X_WB=ub.Pose((k, 1, 0)))
    look = Look(b.build())
    assert sorted((s.kind, len(s)) for s in look.solids) == [("box", 300), ("ellipsoid", 300)]


def test_colours_are_the_shapes_own_or_the_bodies():
    b = ub.Builder()
    b.body("painted", shape=Placed(ub.Sphere(0.1), ub.Pose(), colour=(0.2, 0.4, 0.6)))
    b.body("glass", shape=Placed(ub.Sphere(0.1), ub.Pose(), colour=(0.2, 0.4, 0.6, 0.5)))
    b.body("plain", shape=ub.Sphere(0.1))
    look = Look(b.build())
    colours = {int(i): (tuple(c), g.opacity) for g in look.solids for i, c in zip(g.body, g.colour, strict=True)}
    assert colours[look.model.body("painted")] == ((0.2, 0.4, 0.6), 1.0)
    assert colours[look.model.body("glass")] == ((0.2, 0.4, 0.6), 0.5)
    assert colours[look.model.body("plain")][0] == pytest.approx(tuple(body_colours(3)[look.model.body("plain") - 1]))


def test_tension_colours_run_from_blue_over_grey_to_red():
    colours = tension_colours(np.array([-5.0, 0.0, np.nan, 2.5, 5.0, 50.0]), 5.0)
    assert colours[[0, 1, 2, 4, 5]] == pytest.approx(np.array([rgb(c) for c in (PUSH, SLACK, SLACK, PULL, PULL)]))
    assert colours[3] == pytest.approx(0.5 * (np.array(rgb(SLACK)) + np.array(rgb(PULL))))
    assert tension_colours(np.zeros(2), 0.0) == pytest.approx(np.array([rgb(SLACK)] * 2))


@pytest.mark.parametrize("seed", range(5))
def test_inertia_box_has_the_inertia_it_is_made_from(seed):
    rng = np.random.default_rng(seed)
    sides, mass = np.sort(rng.uniform(0.1, 1.0, 3)), float(rng.uniform(0.5, 5.0))
    turn = ub.Pose(wxyz=rng.standard_normal(4)).R
    a, b, c = sides
    inertia = turn @ np.diag(mass / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])) @ turn.T
    found, axes = inertia_box(mass, inertia)
    assert np.sort(found) == pytest.approx(sides)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    x, y, z = found
    own = np.diag(mass / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y]))
    assert axes @ own @ axes.T == pytest.approx(inertia, abs=1e-12)


def test_body_without_a_shape_is_its_inertia_box_at_its_centre_of_mass():
    b = ub.Builder()
    b.body("mass", mass=12.0, com=(1, 2, 3), inertia=np.diag([5.0, 10.0, 13.0]))
    (group,) = Look(b.build()).solids
    assert (group.kind, group.p_BS[0].tolist()) == ("box", [1, 2, 3])
    assert np.abs(group.R_BS[0] @ group.scale[0]) == pytest.approx([3.0, 2.0, 1.0])


def test_quaternions_and_rotations_are_inverse_of_each_other():
    rng = np.random.default_rng(0)
    R = np.array([ub.Pose(wxyz=q).R for q in rng.standard_normal((50, 4))]).reshape(5, 10, 3, 3)
    q = quaternions(R)
    assert q.shape == (5, 10, 4) and np.linalg.norm(q, axis=-1) == pytest.approx(np.ones((5, 10)))
    assert rotations(q) == pytest.approx(R)


def test_snapshot_has_the_joint_frames_and_what_they_carry():
    b = ub.Builder(gravity=(0, 0, -9.81))
    rod = b.body("rod", shape=ub.Box((0.1, 0.1, 1.0)), mass=2.0)
    b.joint("pivot", ub.Revolute((0, 1, 0)), parent=b.world, child=rod, X_PF=ub.Pose((1, 2, 3)), X_BM=ub.Pose((0, 0, 0.5)))
    rec = ub.Simulation(b.build(), dt=1e-3).run(0.0)
    now = Snapshot.of(Look(rec.model), rec.observations[0])
    assert now.joint_p == pytest.approx(np.array([[1, 2, 3]]))
    assert now.force == pytest.approx(np.array([[0, 0, 2.0 * 9.81]]))
    assert now.torque == pytest.approx(np.zeros((1, 3)), abs=1e-9)


def test_bounds_hold_everything_but_the_ground():
    b = ub.Builder()
    b.body("floor", shape=ub.Plane(50.0), kind="static")
    b.body("box", shape=ub.Box((1, 2, 3)), X_WB=ub.Pose((10, 0, 5)))
    look = Look(b.build())
    low, high = look.bounds(*look.start)
    assert look.has_ground
    assert (low.tolist(), high.tolist()) == ([9.5, -1, 3.5], [10.5, 1, 6.5])


@pytest.mark.parametrize(("low", "high", "height"), [(0.0, 1.0, 0.0), (0.2, 1.0, 0.0), (-1.0, 0.0, -1.12), (5.0, 6.0, 4.88)])
def test_ground_is_at_zero_when_things_stand_there_else_a_little_below(low, high, height):
    assert ground_height(np.array([0, 0, low]), np.array([0.5, 0.5, high])) == pytest.approx(height)
