"""Deformables at starts in rigid coordinates: what holds them carries them, and strain that comes of it is told."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

ROPE = ub.RodMaterial(young=1e6)


def hung(turn: float = 0.0, spin: float = 0.0) -> ub.Builder:
    """A pendulum."""
    b = ub.Builder()
    bob = b.body("bob", ub.Box((0.1, 0.1, 0.1)), mass=1.0)
    b.joint("pivot", ub.Revolute((0, 1, 0)), b.world, bob, X_BM=ub.Pose((0, 0, 0.5)), q=turn, v=spin)
    return b


def with_matter(b: ub.Builder, X: ub.Pose, spin: float = 0.0) -> ub.Model:
    """A rope on its bob, which is at X, a strip of cloth on the end of the rope, and a stone that nothing holds."""
    Y = X @ ub.Pose((0, 0, -0.3))
    V, U = ((0.0, spin, 0.0, *np.cross((0, spin, 0), Z.p)) for Z in (X, Y))
    rope = b.rod("rope", np.linspace((0, 0, -0.05), (0, 0, -0.3), 6), 2e-3, ROPE, 1000, X_WB=X, V_WB=V)
    strip = b.cloth("strip", ub.TriMesh.grid((0.1, 0.2), 0.1), ub.Fabric(1e5, 0.3, 1e-3), 200, X_WB=Y, V_WB=U)
    b.attach(rope.vertices[[0]], "bob")
    b.attach(strip.vertices[[3]], rope.vertex(5))
    b.soft("stone", ub.TetMesh.box((0.1, 0.1, 0.1), (1, 1, 1)), ub.NeoHookean(1e5, 0.3), 1000, X_WB=ub.Pose((2, 0, 0)))
    return b.build()


def test_what_hangs_on_a_body_is_carried_with_it_and_moves_with_it():
    """A state of joint angles with a model built upright: everything is where, and as fast as, it is if the model is built turned."""
    turn, spin = 0.7, -2.0
    model = with_matter(hung(), ub.Pose((0, 0, -0.5)))
    state = ub.State(0.0, np.array([turn]), np.array([spin]))
    rec = ub.Simulation(model, "barrier", dt=0.01, state=state).run(0.01)
    X = ub.Pose.about((0, 1, 0), turn) @ ub.Pose((0, 0, -0.5))
    for name, local in (("rope", np.zeros(3)), ("strip", np.array([0, 0, -0.3]))):
        rest = model.deformable(name).X + local
        place = rest @ X.R.T + X.p
        assert np.abs(rec.vertices(name)[0] - place).max() < 1e-14
        assert np.abs(rec.velocities(name)[0] - np.cross((0, spin, 0), place)).max() < 1e-13
    assert rec.energy.elastic[0] < 1e-14  # round-off: E times the volumes is 2 J; strains of 0.1 % would store 1e-6 of it
    assert np.array_equal(rec.vertices("stone")[0], model.deformable("stone").x0)  # nothing holds it
    turned = with_matter(hung(turn, spin), X, spin)
    other = ub.Simulation(turned, "barrier", dt=0.01).run(0.01)
    assert np.abs(other.vertices("strip")[-1] - rec.vertices("strip")[-1]).max() < 1e-9  # Newton's tolerance, 1e-5 m/s · dt, bounds both


def test_what_is_attached_to_a_driven_body_is_attached_where_its_motion_begins():
    """Not where the Builder was told, or not told, that it is: a rope from a crane that begins at x = 1 hangs there, as long as it was."""
    b = ub.Builder()
    crane = b.body("crane", kind="kinematic", motion=lambda t: ub.Pose((1.0 + t, 0, 0)))
    rope = b.rod("rope", np.linspace((1, 0, 0), (1, 0, -0.3), 4), 2e-3, ROPE, 1000)
    b.attach(rope.vertices[[0]], crane)
    rec = ub.Simulation(b.build(), "barrier", dt=0.01).run(0.02)
    assert np.array_equal(rec.vertices("rope")[0], np.linspace((1, 0, 0), (1, 0, -0.3), 4))
    assert rec.vertices("rope")[-1, 0] == pytest.approx([1.02, 0.0, 0.0], abs=1e-12)


def test_the_models_own_start_is_not_touched():
    """A state that says what the model says gives its start bit for bit."""
    model = with_matter(hung(0.3, 1.0), ub.Pose.about((0, 1, 0), 0.3) @ ub.Pose((0, 0, -0.5)), 2.0)
    states = [None, ub.State(0.0, model.start_q(), model.start_v())]
    a, b = (ub.Simulation(model, "barrier", dt=0.01, state=state).state for state in states)
    assert np.array_equal(a.q, b.q)
    assert np.array_equal(a.v, b.v)


def test_bodies_that_stand_otherwise_to_each_other_strain_what_is_between_them_and_it_is_said():
    """A rope between the world and a slide that a state moves by 0.1: it is stretched evenly from one to the other, and told."""
    b = ub.Builder(gravity=None)
    slide = b.body("slide", mass=1.0, inertia=(1, 1, 1))
    b.joint("rail", ub.Prismatic((1, 0, 0)), b.world, slide)
    rope = b.rod("rope", np.linspace((-0.5, 0, 0), (0, 0, 0), 6), 2e-3, ROPE, 1000)
    b.attach(rope.vertices[[0]], b.world)
    b.attach(rope.vertices[[-1]], slide)
    model = b.build()
    with pytest.warns(ub.UnibodyWarning, match="'rope' begins strained: 'world', 'slide', which hold it, stand otherwise.*by 0.1 m"):
        simulation = ub.Simulation(model, "barrier", dt=0.01, state=ub.State(0.0, np.array([0.1]), np.array([0.0])))
    x = ub.Simulation(model, "barrier", dt=0.01, state=simulation.state).run(0.01).vertices("rope")[0, :, 0]
    assert x[0] == -0.5
    assert x[-1] == pytest.approx(0.1, abs=1e-15)
    assert (np.diff(x) > 0.1).all() and (np.diff(x) < 0.1 * 1.8).all()  # no edge takes all of it: 0.2 of 0.1 m would be that
    simulation.reset()  # the model's own start is not strained
    assert not [n for n in simulation.notes if "strained" in n]
