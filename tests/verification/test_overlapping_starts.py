"""Bodies that begin inside each other are parted without any speed, or refused by name; what joints hold is left alone, and told."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import unibody as ub
from unibody.cli.app import app
from unibody.solvers import Penalty

STEP = 5e-3
STEPPING = ("complementarity", "impulse")


def spheres(b: ub.Builder, depth: float) -> None:
    b.body("one", shape=ub.Sphere(0.5), mass=1.0)
    b.body("two", shape=ub.Sphere(0.3), mass=3.0, X_WB=ub.Pose(p=(0.8 - depth, 0.0, 0.0)))


def boxes(b: ub.Builder, depth: float) -> None:
    b.body("one", shape=ub.Box((1, 1, 1)), density=1000.0)
    b.body("two", shape=ub.Box((0.4, 0.4, 0.4)), density=1000.0, X_WB=ub.Pose(p=(0.7 - depth, 0.1, 0.2)))


def compounds(b: ub.Builder, depth: float) -> None:
    """A cross of two bars, and two balls on its arm."""
    b.body("one", shape=[ub.Box((2.0, 0.2, 0.2)), ub.Placed(ub.Box((0.2, 0.6, 0.2)), ub.Pose(p=(0, -0.4, 0)))], density=1000.0)
    b.body("two", shape=[ub.Placed(ub.Sphere(0.2), ub.Pose(p=(x, 0, 0))) for x in (-0.3, 0.3)], density=1000.0,
           X_WB=ub.Pose(p=(0.1, 0.3 - depth, 0)))  # fmt: skip


def welded(b: ub.Builder, depth: float) -> None:
    """Two dumb-bells, each of two balls that are bodies of their own, welded by a bar between them."""
    for name, x in (("one", 0.0), ("two", 1.0 - depth)):
        ends = [b.body(f"{name} {k}", shape=ub.Sphere(0.5), mass=1.0, X_WB=ub.Pose(p=(x, 0, 2.0 * k))) for k in range(2)]
        bar = b.body(f"{name} bar", shape=ub.Box((0.1, 0.1, 1.5)), mass=0.5, X_WB=ub.Pose(p=(x, 0, 1.0)))
        for k, end in enumerate(ends):
            b.joint(f"{name} weld {k}", ub.Weld(), bar, end, X_PF=ub.Pose(p=(0, 0, 2.0 * k - 1.0)))


SCENES = {"spheres": spheres, "boxes": boxes, "compounds": compounds, "welded": welded}


def model_of(scene: str, depth: float, velocity=(0.0, 0.0, 0.0)) -> ub.Model:
    b = ub.Builder(gravity=None)
    SCENES[scene](b, depth)
    b.add(ub.Contact(friction=0.5))
    return b.build()


def middle(model: ub.Model, rec: ub.Recording) -> np.ndarray:
    """(rows, 3) the centre of mass."""
    total = sum(body.mass * rec.point(body.name, body.com) for body in model.bodies[1:])
    return total / sum(body.mass for body in model.bodies[1:])


@pytest.mark.parametrize("depth", [1e-3, 0.05, 0.2])
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("solver", STEPPING)
def test_overlaps_are_parted_without_speed(solver, scene, depth):
    """Nothing moves at the start, so that nothing may have a speed at any time; the least motion moves the centre of mass of two bodies not
    at all; and what is left of an overlap after 0.6 s, of which a part goes in every step, is what solvers leave alone (1e-6 m)."""
    model = model_of(scene, depth)
    rec = ub.Simulation(model, solver, dt=STEP).run(0.6)
    assert rec.energy.kinetic.max() < 1e-20
    assert np.abs(middle(model, rec) - middle(model, rec)[0]).max() < 1e-11  # round-off of every move
    assert rec.reports[-1].minimum_distance > -1e-5  # of the radius, which is less than a metre: what is left alone
    assert rec.reports[1].minimum_distance == pytest.approx(-depth, rel=1e-9)


@pytest.mark.parametrize("solver", STEPPING)
def test_overlapping_bodies_that_fly_together_keep_their_velocity(solver):
    b = ub.Builder(gravity=None)
    for name, x in (("one", 0.0), ("two", 0.7)):
        b.body(name, shape=ub.Sphere(0.5), mass=2.0, X_WB=ub.Pose(p=(x, 0, 0)), V_WB=(0, 0, 0, 0.3, -0.2, 0.5))
    b.add(ub.Contact())
    rec = ub.Simulation(b.build(), solver, dt=STEP).run(0.5)
    for name in ("one", "two"):
        assert np.abs(rec.twist(name)[:, 3:] - (0.3, -0.2, 0.5)).max() < 1e-13
    apart = np.linalg.norm(rec.pose("one")[-1, :3] - rec.pose("two")[-1, :3])
    assert apart == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("solver", ["penalty", "barrier"])
@pytest.mark.parametrize("scene", ["spheres", "boxes", "compounds"])
def test_solvers_that_do_not_part_refuse_by_name(solver, scene):
    with pytest.raises(ub.ModelError, match="bodies 'one' and 'two' (overlap|intersect) at the start"):
        ub.Simulation(model_of(scene, 0.05), solver, dt=STEP).run(STEP)


def test_the_penalty_law_takes_what_its_springs_give_by_themselves():
    """A box put onto the floor sinks in by up to 2 g/(r Ω²): from any depth in between it never leaves the floor."""
    omega = 40.0
    rest = 9.81 / omega**2
    for depth, refused in ((1.9 * rest, False), (3.0 * rest, True)):
        b = ub.Builder()
        b.body("floor", shape=ub.Plane(), kind="static")
        b.body("box", shape=ub.Box((1, 1, 1)), mass=1.0, X_WB=ub.Pose(p=(0, 0, 0.5 - depth)))
        b.add(ub.Contact())
        simulation = ub.Simulation(b.build(), Penalty(omega=omega, ratio=1.0), dt=1e-3)
        if refused:
            with pytest.raises(ub.ModelError, match=r"'floor' and 'box' overlap at the start by 0\.01"):
                simulation.run(1e-3)
        else:
            assert simulation.run(0.5).pose("box")[:, 2].max() < 0.5


def walker(neighbours: bool) -> ub.Model:
    """A trunk, parts welded to it, and limbs that are hinged to these and reach into the trunk: as robots' files have them."""
    b = ub.Builder()
    trunk = b.body("trunk", shape=ub.Sphere(0.25), mass=1.0, X_WB=ub.Pose(p=(0, 0, 5.0)))
    for k, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        part, limb = (b.body(f"{what} {k}", shape=ub.Capsule(0.08, 0.2), mass=0.1) for what in ("part", "limb"))
        out = ub.Pose.about((-y, x, 0), np.pi / 2, p=0.1 * np.array((x, y, 0.0)) / np.sqrt(2.0))
        b.joint(f"weld {k}", ub.Weld(), trunk, part, X_PF=out)
        b.joint(f"hip {k}", ub.Revolute(axis=(1, 0, 0)), part, limb, X_PF=ub.Pose(p=(0, 0, 0.125)), X_BM=ub.Pose(p=(0, 0, -0.125)))
    b.add(ub.Contact(friction=1.0, neighbours=neighbours))
    return b.build()


@pytest.mark.parametrize(("solver", "neighbours"), [("complementarity", False), ("impulse", False), ("penalty", False), ("barrier", False),
                                                    ("complementarity", True), ("impulse", True)])  # fmt: skip
def test_a_robot_whose_parts_overlap_at_its_joints_falls_freely(solver, neighbours):
    """Δz = −½ g t² to what a rule of order one leaves, h g t. Asked for contact of neighbours too, joints hold the overlaps as they are,
    which the report tells; limbs do not turn."""
    model = walker(neighbours)
    rec = ub.Simulation(model, solver, dt=STEP).run(0.5)
    fall = -0.5 * 9.81 * rec.t**2
    for body in ("trunk", "limb 2", "part 1"):
        off = rec.pose(body)[:, :3] - rec.pose(body)[0, :3]
        assert np.abs(off[:, 2] - fall).max() < 1.01 * STEP * 9.81 * 0.5 and np.abs(off[:, :2]).max() < 1e-5
    assert any("joints hold them so" in note for note in rec.reports[-1].notes) == neighbours


SCENE = """
import unibody as ub
def build():
    b = ub.Builder()
    b.body("floor", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.5), mass=1.0, X_WB=ub.Pose(p=(0, 0, 0.45)))
    b.body("crate", shape=ub.Box((1, 1, 1)), mass=1.0, X_WB=ub.Pose(p=(0.8, 0, 0.5)))
    b.body("far", shape=ub.Sphere(0.5), mass=1.0, X_WB=ub.Pose(p=(5, 0, 0.5)))
    b.add(ub.Contact(friction=0.5))
    return b.build()
"""


def test_check_and_run_tell_which_bodies_overlap_and_how_deep(tmp_path):
    """The ball is 0.05 m in the floor, and reaches 0.5 m towards the crate, whose side is 0.3 m away."""
    file = tmp_path / "inside.py"
    file.write_text(SCENE)
    asked = ["run", str(file), "-s", "complementarity", "--dt", "0.005", "--duration", "0.01"]
    said = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)["overlaps"]
    assert [o["bodies"] for o in said] == [["ball", "crate"], ["floor", "ball"]]
    assert [o["depth"] for o in said] == pytest.approx([0.2, 0.05], abs=1e-12)
    text = CliRunner().invoke(app, asked).stdout
    assert "'ball' and 'crate' begin 0.2 m inside each other" in text and "'floor' and 'ball' begin 0.05 m inside each other" in text
    assert "'far'" not in text
    text = CliRunner().invoke(app, ["check", str(file), "-s", "complementarity"]).stdout
    assert "'ball', 'crate' intersect at the start, by 0.2 m" in text and "'floor', 'ball' intersect at the start, by 0.05 m" in text


def test_check_knows_the_pairs_that_contact_knows():
    """Neighbours through welds may overlap; two limbs may not, nor neighbours that contact is asked for; what Contact turns off may."""
    assert not [f for f in ub.check(walker(False)) if f.code == "intersecting shapes"]
    found = {frozenset(f.elements) for f in ub.check(walker(True)) if f.code == "intersecting shapes"}
    assert found and all(any(name.startswith("limb") for name in pair) for pair in found if len(pair) == 2)
    b = ub.Builder(gravity=None)
    spheres(b, 0.1)
    b.add(ub.Contact())
    b.add(ub.Contact(between=("one", "two"), on=False))
    assert not [f for f in ub.check(b.build()) if f.code == "intersecting shapes"]
