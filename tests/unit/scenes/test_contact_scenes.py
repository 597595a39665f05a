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
    "arch": {"stones": 5}, "wrecking-ball": {"links": 1, "columns": 2, "rows": 2}, "windmill": {"levels": 1}, "triple-rod-pendulum": {},
    "hinge-boards": {}, "rotating-board": {}, "monocular": {}, "nunchaku": {}, "nunchakus": {"n": 2}, "unicycle": {}, "ragdolls": {},
    "terrain-vehicle": {"cells": 24, "sides": 12}, "bolt-nut": {"sides": 12},
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_steps_without_intersection(name):
    s = ub.scenes.make(name, **SMALL[name])
    sim = ub.Simulation(s.model, Barrier(), dt=s.dt)
    rec = sim.run(3 * s.dt)
    assert all((c.gaps > 0.0).all() for c in rec.contacts)
    if any(isinstance(c, ub.Contact) for _, c in s.model.constraints):  # others may pass through each other
        a = sim._bound.system.affine
        Q = a.whole(rec.states[-1].q, rec.t[-1])
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
    joints = [j for j in model.joints if not j.implicit]
    assert len(joints) == 20 and all(j.nv == 3 for j in joints)
    limits = {name: c for name, c in model.constraints if isinstance(c, ub.JointLimit)}
    assert len(limits) == 20
    elbow = limits["doll1.elbow_right.range"]
    assert np.allclose(np.degrees([elbow.lower, elbow.upper]), [(-135, -5, -10), (0, 5, 10)])


def test_a_vehicle_has_ten_bodies_and_as_many_nodes_as_asked():
    model = ub.scenes.build("terrain-vehicle", cells=260)
    assert model.n_bodies - 1 == 10
    assert 33e3 < sum(len(s.triangles()[0]) for b in model.bodies for s in b.shapes) < 36e3


def test_the_engine_drives_its_wheel_forwards_whatever_the_angle():
    """Power of the pull on a crank that turns forwards is positive but at dead centres: F r |sin θ| to first order in r / l."""
    from unibody.element import APPLIED_POWER
    from unibody.forces.base import Loads
    from unibody.scenes.vehicle import CRANK, ROD, ValvedPull

    class Cranking:
        def __init__(self, angle):
            slope = -CRANK * math.sin(angle) * (1.0 + CRANK * math.cos(angle) / math.sqrt(ROD**2 - (CRANK * math.sin(angle)) ** 2))
            self.at = {"crank": (angle, 1.0), "piston": (0.0, slope)}

        def joint_q(self, name):
            return np.array([self.at[name][0]])

        def joint_v(self, name):
            return np.array([self.at[name][1]])

    for angle in np.linspace(0.3, 2.0 * math.pi - 0.3, 40):
        loads = Loads()
        ValvedPull("piston", "crank", 100.0).apply(Cranking(angle), loads)
        assert loads.ledger[APPLIED_POWER] >= 0.5 * 100.0 * CRANK * abs(math.sin(angle)) * math.tanh(abs(math.sin(angle)) / 0.1)


@pytest.mark.parametrize("link", ["hinge", "cone-twist"])
def test_nunchakus_links(link):
    model = ub.scenes.build("nunchakus", n=2, link=link)
    assert [j.nv for j in model.joints if not j.implicit] == [1 if link == "hinge" else 3] * 4


def test_rings_of_a_chain_hang_in_each_other():
    """Linking number ±1 of neighbours' middle lines, by Gauss' double sum."""
    from unibody.scenes.wrecking_ball import PITCH, ring

    x = ring().vertices.reshape(14, 8, 3).mean(axis=1)
    y = x[:, (1, 0, 2)] * (1, -1, 1) - (0, 0, PITCH)

    def fine(p):
        s = np.linspace(0, 1, 40, endpoint=False)[:, None]
        return np.concatenate([a + s * (b - a) for a, b in zip(p, np.roll(p, -1, axis=0), strict=True)])

    a, b = fine(x), fine(y)
    da, db = np.roll(a, -1, axis=0) - a, np.roll(b, -1, axis=0) - b
    r = (a + 0.5 * da)[:, None] - (b + 0.5 * db)[None]
    turns = (np.einsum("ijk,ijk->ij", r, np.cross(da[:, None], db[None])) / np.linalg.norm(r, axis=2) ** 3).sum() / (4 * math.pi)
    assert abs(turns) == pytest.approx(1.0, abs=1e-2)


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
    """Three levels, five seconds: every card stays as high as it was, and as steep; without friction the top pair falls from 0.24 m."""
    solver = Barrier(slip_speed=1e-5, tolerance=1e-7)
    rec = ub.Simulation(ub.scenes.build("card-house"), solver, dt=0.02).run(5.0, every=25)
    for card in (b.name for b in rec.model.bodies if b.kind == "dynamic"):
        height, turn = rec.point(card)[:, 2], np.abs(rec.pose(card)[:, 3:] @ rec.pose(card)[0, 3:])
        assert height.min() > 0.95 * height[0]
        assert turn.min() > math.cos(math.radians(2.5))  # half of 5° in a quaternion
    fallen = ub.Simulation(ub.scenes.build("card-house", friction=0.0), Barrier(), dt=0.01).run(0.6, every=10)
    assert fallen.point("left20")[-1, 2] < 0.5 * fallen.point("left20")[0, 2]
