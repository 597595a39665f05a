"""Scenes of bodies that touch: each builds, passes the check, and steps without intersection."""

from __future__ import annotations

import math

import numpy as np
import pytest

import unibody as ub
from unibody.collision.intersect import crossing
from unibody.solvers import Barrier

SMALL = {
    "falling-box": {}, "box-stack": {"n": 3}, "slope": {}, "turntable": {}, "newtons-cradle": {"n": 3}, "card-house": {"levels": 2},
    "arch": {"stones": 5}, "wrecking-ball": {"links": 3, "columns": 2, "rows": 2}, "windmill": {"levels": 1}, "triple-rod-pendulum": {},
    "hinge-boards": {}, "rotating-board": {}, "monocular": {}, "nunchaku": {}, "nunchakus": {"n": 2}, "unicycle": {}, "ragdolls": {},
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_steps_without_intersection(name):
    s = ub.scenes.make(name, **SMALL[name])
    sim = ub.Simulation(s.model, Barrier(), dt=s.dt)
    rec = sim.run(3 * s.dt)
    assert all((c.gaps > 0.0).all() for c in rec.contacts)
    a = sim._bound.system.affine
    Q = sim._bound.system.whole(rec.states[-1].q, rec.t[-1])
    assert crossing(a.surface, a.broad, a.surface.positions(Q), a.surface.planes(Q)) is None
    assert rec.violation.max() < 1e-6


@pytest.mark.parametrize("name", SMALL)
def test_passes_the_check(name):
    findings = ub.check(ub.scenes.make(name, **SMALL[name]).model)
    assert not [f for f in findings if f.level == "error"]


@pytest.mark.parametrize("motion", ["horizontal", "vertical", "twist"])
def test_nunchakus_motions(motion):
    s = ub.scenes.make("nunchaku", motion=motion)
    rec = ub.Simulation(s.model, Barrier(), dt=s.dt).run(2 * s.dt)
    assert rec.violation.max() < 1e-9


def test_the_large_windmill_has_468_cubes():
    model = ub.scenes.build("windmill", levels=6, columns=13)
    assert sum(b.name.startswith("cube") for b in model.bodies) == 468


def test_a_ragdoll_has_eleven_bodies_and_ten_joints():
    model = ub.scenes.build("ragdolls", n=2)
    assert sum(b.kind == "dynamic" for b in model.bodies) == 22
    assert sum(not j.implicit and j.nv < 6 for j in model.joints) == 20


def test_parameters_that_make_no_sense_are_refused():
    for name, wrong in (("falling-box", {"height": -1.0}), ("turntable", {"radius": 5.0}), ("card-house", {"levels": 0})):
        with pytest.raises(ub.ModelError, match=name):
            ub.scenes.make(name, **wrong)


def test_contact_forces_of_a_resting_body_carry_its_weight():
    """A box at rest on a slope of 20°, held by friction: all contact forces together are its weight, upwards."""
    b = ub.Builder()
    X = ub.Pose.about((0, 1, 0), math.radians(20.0))
    b.body("slope", shape=ub.Box((4, 4, 0.5)), kind="static", X_WB=ub.Pose.about((0, 1, 0), math.radians(20.0), p=X.R @ [0.0, 0.0, -0.25]))
    b.body("block", shape=ub.Box((0.5, 0.5, 0.2)), X_WB=ub.Pose.about((0, 1, 0), math.radians(20.0), p=X.R @ [0.0, 0.0, 0.1008]))
    b.add(ub.Contact(friction=0.8, reach=1e-3, pressure=1e6))
    solver = Barrier(tolerance=1e-9, friction_iterations=0, slip_speed=1e-4)
    rec = ub.Simulation(b.build(), solver, dt=0.02).run(0.6)
    contacts, weight = rec.contacts[-1], 50.0 * 9.81
    assert contacts.on(2) == pytest.approx([0.0, 0.0, weight], abs=1e-6 * weight)
    assert contacts.on(1) == pytest.approx([0.0, 0.0, -weight], abs=1e-6 * weight)
    assert not contacts.sliding.any()
    assert np.abs(np.abs(contacts.normals @ X.R[:, 2]) - 1.0).max() < 1e-3
    assert contacts.normal_forces.sum() == pytest.approx(weight * math.cos(math.radians(20.0)), rel=0.02)


def test_contacts_of_a_sliding_body():
    b = ub.Builder()
    b.body("floor", shape=ub.Plane(), kind="static")
    b.body("block", shape=ub.Box((0.4, 0.4, 0.1)), X_WB=ub.Pose(p=(0, 0, 0.05095)), V_WB=(0, 0, 0, 2, 0, 0))
    b.add(ub.Contact(friction=0.3, reach=1e-3, pressure=1e5))
    contacts = ub.Simulation(b.build(), Barrier(), dt=0.01).run(0.05).contacts[-1]
    assert contacts.sliding.all()
    ratio = np.linalg.norm(contacts.friction, axis=1) / contacts.normal_forces
    assert ratio == pytest.approx(np.full(len(contacts), 0.3), rel=1e-9)
    assert (contacts.friction[:, 0] * np.where(contacts.bodies[:, 0] == 2, -1.0, 1.0) > 0.0).all()


def test_solvers_without_surfaces_have_no_contacts():
    b = ub.Builder()
    b.body("ball", shape=ub.Sphere(0.1))
    rec = ub.Simulation(b.build(), dt=0.01).run(0.01)
    with pytest.raises(ub.ModelError, match="knows no surfaces"):
        _ = rec.contacts


def test_a_card_house_stands_with_friction_and_falls_without():
    """The top pair of three levels, 0.24 m up; five seconds."""
    solver = Barrier(slip_speed=1e-5, tolerance=1e-7)
    rec = ub.Simulation(ub.scenes.build("card-house"), solver, dt=0.02).run(5.0, every=25)
    height = rec.point("left20")[:, 2]
    assert height.min() > 0.95 * height[0]
    fallen = ub.Simulation(ub.scenes.build("card-house", friction=0.0), Barrier(), dt=0.01).run(0.6, every=10)
    assert fallen.point("left20")[-1, 2] < 0.5 * height[0]
