"""Models written as URDF and read again: the same accelerations at random states; what cannot be said is refused by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
import zoo
from unibody.files import load_urdf, save_urdf
from unibody.files.urdf_export import roll_pitch_yaw

pytest.importorskip("yourdfpy")

SAID = ("weld", "revolute", "prismatic", "planar", "free")


def tree(seed: int, forces: bool) -> ub.Model:
    """Random joints in random frames, some with damping, friction and bounds of effort."""
    rng = np.random.default_rng(seed)
    b = ub.Builder()
    for i in range(12):
        joint = zoo.JOINTS[SAID[int(rng.integers(len(SAID)))] if i > 4 else SAID[i]](rng)
        mass = rng.uniform(0.5, 3.0)
        b.body(f"body {i}", mass=mass, com=rng.uniform(-0.2, 0.2, 3), inertia=zoo.inertia(rng, mass))
        parent = b.world if i == 0 else f"body {rng.integers(i)}"
        options = {"damping": rng.uniform(0.0, 1.0), "effort_limit": rng.uniform(5.0, 9.0)} if forces and joint.nv else {}
        b.joint(f"joint {i}", joint, parent=parent, child=f"body {i}", X_PF=zoo.pose(rng), X_BM=zoo.pose(rng), **options)
        if forces and joint.nv and i % 2:
            b.add(ub.DryFriction(f"joint {i}", rng.uniform(0.1, 0.5)))
    return b.build()


@pytest.mark.parametrize("forces", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_accelerations_after_a_round_trip(tmp_path: Path, seed: int, forces: bool) -> None:
    model = tree(seed, forces)
    assert save_urdf(model, tmp_path / "tree.urdf") == ()
    again = load_urdf(tmp_path / "tree.urdf").model
    assert [j.name for j in again.tree_joints] == [j.name for j in model.tree_joints]
    assert again.total_mass == pytest.approx(model.total_mass, rel=1e-14)
    ours, theirs = (ub.solvers.Articulated().bind(m) for m in (model, again))
    rng = np.random.default_rng(seed)
    for _ in range(3):
        q, v = zoo.random_state(model, rng, speed=2.0)
        effort = rng.uniform(-10.0, 10.0, model.nv)
        a = ours.forward_dynamics(q, v, effort)
        np.testing.assert_allclose(theirs.forward_dynamics(q, v, effort), a, rtol=0.0, atol=1e-10 * np.abs(a).max())


@pytest.mark.parametrize("pitch", [0.3, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 + 1e-7])
def test_angles_give_the_rotation_back_also_where_axes_coincide(pitch: float) -> None:
    def turn(axis: int, angle: float) -> np.ndarray:
        return ub.Pose.about(np.eye(3)[axis], angle).R

    R = turn(2, 0.7) @ turn(1, pitch) @ turn(0, -1.9)
    roll, pitch, yaw = roll_pitch_yaw(R)
    np.testing.assert_allclose(turn(2, yaw) @ turn(1, pitch) @ turn(0, roll), R, rtol=0.0, atol=4e-15)


def arm(**options: object) -> ub.Builder:
    b = ub.Builder()
    b.body("upper", [ub.Placed(ub.Capsule(0.05, 0.4), ub.Pose((0, 0, 0.1)), colour=(0.8, 0.2, 0.1))], mass=1.0)
    shapes = [ub.Box((0.1, 0.1, 0.5)), ub.Placed(ub.Ellipsoid((0.1, 0.2, 0.1)), ub.Pose((0, 0, 0.3)), visible=False)]
    b.body("fore", shapes, density=300.0)
    b.joint("shoulder", ub.Revolute(axis=(0, 1, 0)), b.world, "upper", X_BM=ub.Pose((0, 0, 0.3)), limits=(-1.0, 2.0))
    b.joint("elbow", ub.Revolute(axis=(1, 1, 0)), "upper", "fore", X_PF=ub.Pose((0, 0, -0.3)), X_BM=ub.Pose((0, 0, 0.25)))
    return b


def test_shapes_limits_and_colours_come_back(tmp_path: Path) -> None:
    save_urdf(arm().build(), tmp_path / "arm.urdf")
    model = load_urdf(tmp_path / "arm.urdf", meshes="exact").model
    limit = dict(model.constraints)["shoulder.limit"]
    assert (np.ravel(limit.lower), np.ravel(limit.upper)) == (-1.0, 2.0)
    upper, fore = (model.bodies[model.body(n)] for n in ("upper", "fore"))
    seen = [s for s in upper.shapes if s.visible]
    assert [type(s.shape) for s in seen] == [ub.Cylinder, ub.Sphere, ub.Sphere]
    assert {s.colour[:3] for s in seen} == {(0.8, 0.2, 0.1)}
    touched = [s.shape for s in fore.shapes if s.solid]
    assert [type(s) for s in touched] == [ub.Box, ub.Mesh]
    assert touched[0].sides == (0.1, 0.1, 0.5)
    assert touched[1].volume == pytest.approx(4.0 / 3.0 * np.pi * 0.1 * 0.2 * 0.1, rel=0.03)  # a polyhedron with 32 sides within
    assert not any(isinstance(s.shape, ub.OpenMesh) for s in fore.shapes)  # what was invisible is not seen now


def test_couplings_become_mimic_joints(tmp_path: Path) -> None:
    """2 shoulder − 4 elbow = 0.8: shoulder = 2 elbow + 0.4."""
    b = arm()
    b.add(ub.JointCoupling(["shoulder", "elbow"], [2.0, -4.0], 0.8))
    save_urdf(b.build(), tmp_path / "arm.urdf")
    coupling = dict(load_urdf(tmp_path / "arm.urdf").model.constraints)["shoulder.mimic"]
    assert coupling.matrix == ((2.0,),) and coupling.offset == (0.4,)
    assert coupling.dependent == (("shoulder", 0),) and coupling.independent == (("elbow", 0),)


def test_everything_that_cannot_be_said_is_listed_at_once(tmp_path: Path) -> None:
    b = arm()
    b.body("ball", ub.Sphere(0.1), mass=1.0)
    b.joint("socket", ub.Ball(), "fore", "ball")
    b.body("rotor", mass=1.0, inertia=(1, 1, 1))
    b.joint("axle", ub.Revolute(), b.world, "rotor", armature=0.1, stiffness=3.0)
    b.body("floor", ub.Plane(), kind="static")
    b.joint("closing", ub.Weld(), b.world, "fore")
    b.add(ub.BodyDamping("rotor", 0.1), name="air")
    b.add(ub.Distance(ub.model.Body("ball").at(), b.world.at(0, 0, 3)), name="rope")
    with pytest.raises(ub.ModelError) as caught:
        save_urdf(b.build(), tmp_path / "arm.urdf")
    parts = ("joint 'socket' (Ball)", "armature of joint 'axle'", "'axle.spring'", "'closing'", "'air'", "'rope'", "Plane of body 'floor'")
    for word in parts:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())
    said = save_urdf(b.build(), tmp_path / "arm.urdf", partial=True)
    assert len(said) == 7
    again = load_urdf(tmp_path / "arm.urdf").model
    assert isinstance(again.joint("socket").element, ub.Weld) and "rotor" in [x.name for x in again.bodies]


def test_start_and_gravity_are_remarks(tmp_path: Path) -> None:
    b = ub.Builder(gravity=(0, 0, -1.62))
    b.body("bob", ub.Sphere(0.1), mass=1.0)
    b.joint("hinge", ub.Revolute(), b.world, "bob", q=0.3)
    said = save_urdf(b.build(), tmp_path / "moon.urdf")
    assert "hinge" in said[0] and "gravity=(0.0, 0.0, -1.62)" in said[1]


@pytest.mark.peers
def test_pinocchio_reads_what_was_written(tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    model = replace(tree(3, forces=False))
    save_urdf(model, tmp_path / "tree.urdf")
    theirs = pin.buildModelFromUrdf(str(tmp_path / "tree.urdf"))
    assert theirs.nv == model.nv
    assert pin.computeTotalMass(theirs) == pytest.approx(model.total_mass - _held(model), rel=1e-12)


def _held(model: ub.Model) -> float:
    """The mass of bodies welded to the world."""
    fixed = {0}
    for j in model.tree_joints:
        if j.nv == 0 and j.parent in fixed:
            fixed.add(j.child)
    return sum(model.bodies[i].mass for i in fixed if i)
