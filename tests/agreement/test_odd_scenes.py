"""Scenes that are legal and unusual: both formulations must still tell the same story."""

from dataclasses import dataclass

import numpy as np
import pytest

import unibody as ub
from unibody.spatial.pose import rotation_from_vector

INERTIA = (0.02, 0.03, 0.04)


def both(model, duration=0.3):
    solvers = (ub.solvers.Articulated(rule="rk4"), ub.solvers.Lagrange(rule="rk4"))
    return [ub.Simulation(model, solver=s, dt=1e-3).run(duration, every=50) for s in solvers]


def assert_same(a, b):
    for body in a.model.bodies[1:]:
        # rk4 at dt = 1e-3 in two sets of coordinates: differences of its error, some 1e-9 here
        assert np.abs(a.point(body.name) - b.point(body.name)).max() < 1e-7, body.name
    for joint in a.model.joints:
        assert np.abs(a.reaction(joint.name)[0] - b.reaction(joint.name)[0]).max() < 1e-8, joint.name


def test_a_bushing_with_six_freedoms_that_closes_a_loop_pulls_in_both():
    b = ub.Builder()
    left, right = b.body("left", mass=1.0, inertia=INERTIA), b.body("right", mass=1.0, inertia=INERTIA)
    b.joint("a", ub.Revolute((0, 1, 0)), b.world, left, X_BM=ub.Pose(p=(-0.5, 0, 0)))
    b.joint("c", ub.Revolute((0, 1, 0)), b.world, right, X_PF=ub.Pose(p=(0, 0.3, 0)), X_BM=ub.Pose(p=(-0.5, 0, 0)), q=0.5)
    b.joint("bush", ub.Composite(ub.Translational(), ub.Ball()), left, right, stiffness=50.0, damping=1.0)
    runs = both(b.build())
    assert_same(*runs)
    assert np.abs(runs[0].reaction("bush")[0]).max() > 1.0


@dataclass(frozen=True)
class Geared(ub.Joint):
    """A hinge that turns twice as far as its coordinate."""

    nq = 1
    nv = 1

    def pose(self, q):
        return rotation_from_vector((0.0, 2.0 * q[0], 0.0)), np.zeros(3)

    def motion(self, q):
        return np.array([[0.0, 2.0, 0.0, 0.0, 0.0, 0.0]]).T

    def bias(self, q, v):
        return np.zeros(6)


@dataclass(frozen=True)
class Skewed(Geared):
    """A hinge whose frames do not coincide at zero."""

    def pose(self, q):
        return rotation_from_vector((0.0, 2.0 * q[0], 0.0)) @ rotation_from_vector((0.3, 0.0, 0.0)), np.zeros(3)

    def motion(self, q):
        axis = rotation_from_vector((0.3, 0.0, 0.0)).T @ np.array([0.0, 2.0, 0.0])
        return np.concatenate([axis, np.zeros(3)])[:, None]


@pytest.mark.parametrize("joint", [Geared(), Skewed()])
def test_hinges_of_ones_own_are_not_taken_for_plain_ones(joint):
    b = ub.Builder()
    rod = b.body("rod", mass=1.0, inertia=INERTIA)
    b.joint("own", joint, b.world, rod, X_BM=ub.Pose(p=(-0.4, 0.1, 0)), q=0.3)
    runs = both(b.build())
    assert_same(*runs)
    for rec in runs:
        assert np.ptp(rec.energy.total) < 1e-7  # rk4 at dt = 1e-3


def test_a_state_of_joint_coordinates_keeps_its_turns_in_maximal_coordinates():
    b = ub.Builder(gravity=(0, 0, 0))
    nut = b.body("nut", mass=1.0, inertia=INERTIA)
    b.joint("thread", ub.Screw((0, 1, 0), 0.1), b.world, nut, v=50.0)
    model = b.build()
    first = ub.Simulation(model, ub.solvers.Articulated(rule="rk4"), dt=1e-3)
    first.run(0.5)
    then = ub.Simulation(model, ub.solvers.Lagrange(rule="rk4"), dt=1e-3, state=first.state)
    rec = then.run(0.1, every=100)
    assert rec.violation.max() < 1e-9
    assert rec.joint("thread")[-1, 0] == pytest.approx(30.0, abs=1e-6)
    back = ub.Simulation(model, "articulated", dt=1e-3, state=then.state)
    assert back.state.q[0] == pytest.approx(30.0, abs=1e-6)


@dataclass(frozen=True)
class Broken(ub.Force):
    def bodies(self):
        return ["rod"]

    def apply(self, kinematics, loads):
        if kinematics.t > 0.005:
            raise RuntimeError("out of fuel")


@pytest.mark.parametrize("solver", ["articulated", "lagrange"])
def test_an_element_that_raises_is_named(solver):
    b = ub.Builder()
    b.body("rod", mass=1.0, inertia=INERTIA)
    b.add(Broken(), name="rocket")
    sim = ub.Simulation(b.build(), solver, dt=1e-3)
    with pytest.raises(ub.StepFailed, match=r"rocket.*out of fuel") as caught:
        sim.run(0.1)
    assert caught.value.element == "rocket"
    assert 0.004 < sim.state.t < 0.007
    assert len(caught.value.recording) > 3


def test_a_run_of_no_length_records_the_start():
    b = ub.Builder()
    b.body("ball", mass=1.0, inertia=INERTIA)
    for solver in (ub.solvers.Articulated(), ub.solvers.Articulated(rule="dopri5")):
        for control in (None, lambda t, state, control: None):
            rec = ub.Simulation(b.build(), solver).run(0.0, control=control)
            assert len(rec) == 1
            assert rec.q.shape == (1, 7)


def test_control_of_another_model_is_refused():
    b = ub.Builder()
    b.body("ball", mass=1.0, inertia=INERTIA)
    one = b.build()
    b.body("other", mass=1.0, inertia=INERTIA)
    with pytest.raises(ub.ModelError, match="control holds"):
        ub.Simulation(one, control=ub.Control(b.build()))
