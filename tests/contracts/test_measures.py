"""What measures promise: joints' measures are their coordinates, constraints' measures are their rows, and what a user writes works."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from test_constraints import EVERY, tree
from test_joints import JOINTS, label

import unibody as ub
from unibody.constraints import Constraint, Rows
from unibody.coordinates.affine.body import affine_of_pose
from unibody.coordinates.affine.measures import BodyMeasure, MeasureTable, between_bodies
from unibody.coordinates.instant import Instant
from unibody.element import Point
from unibody.joints import Joint
from unibody.measure import DISTANCE, OWN, Measure, MeasuredRow, distance, from_vectors, slide, turn
from unibody.model.tables import Names
from unibody.solvers import Barrier
from unibody.spatial.pose import Pose, rotation_from_vector


def affine(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    return affine_of_pose(np.asarray(R), np.asarray(p))


@pytest.mark.parametrize("joint", [j for j in JOINTS if j.measures()], ids=label)
def test_measures_of_a_joint_are_its_coordinates(joint, rng):
    q = joint.advance(joint.neutral(), rng.uniform(-1.2, 1.2, joint.nv), 1.0)
    known = joint.measures()
    table = MeasureTable([BodyMeasure(known[k], 1, 0) for k in sorted(known)])
    x = np.concatenate([affine(np.eye(3), np.zeros(3)).ravel(), affine(*joint.pose(q)).ravel()])
    np.testing.assert_allclose(table.coordinates(x, q[sorted(known)] + 0.1), q[sorted(known)], atol=1e-13)


@pytest.mark.parametrize("joint", [j for j in JOINTS if j.quaternion is not None], ids=label)
def test_a_promised_quaternion_is_that_of_the_pose(joint, rng):
    q, v = joint.advance(joint.neutral(), rng.uniform(-1.2, 1.2, joint.nv), 1.0), rng.uniform(-1.0, 1.0, joint.nv)
    R, p = joint.pose(q)
    np.testing.assert_allclose(Pose(wxyz=q[joint.quaternion : joint.quaternion + 4]).R, R, atol=1e-14)
    np.testing.assert_allclose(q[: joint.quaternion], p[: joint.quaternion], atol=1e-14)
    np.testing.assert_allclose(joint.motion(q) @ v, [*v, *np.zeros(6 - v.size)], atol=1e-14)


@pytest.mark.parametrize("element", [c for c in EVERY if type(c).measures is not Constraint.measures], ids=lambda c: type(c).__name__)
def test_measures_of_a_constraint_are_its_rows(element):
    """sign (x − bound) at the start of a tree, whose bodies are rigid, is the residual that the constraint itself gives."""
    model = tree(element)
    (_, constraint) = next((n, c) for n, c in model.constraints)
    rows = constraint.measures(Names(model))
    assert len(rows) == constraint.rows
    Q = np.array([affine(b.X_WB.R, b.X_WB.p) for b in model.bodies])
    found = []
    for row in rows:
        if row.bodies is not None:
            seen = between_bodies(row.measure, *(model.body(name) for name in row.bodies))
            near = 0.0
        else:
            j = model.joint(row.joint)
            given = row.measure if row.measure is not None else j.element.measures()[row.place - j.q_start]
            assert row.measure is None or row.within is j.element
            seen, near = between_bodies(given, j.child, j.parent, j.X_BM, j.X_PF), model.start_q()[row.place] if row.place >= 0 else 0.0
        found.append(row.sign * (MeasureTable([seen]).coordinates(Q.ravel(), np.array([near]))[0] - row.bound))
    expected = constraint.evaluate(Instant(model).kinematics()).residual
    np.testing.assert_allclose(found, expected, atol=1e-12)


# as a user writes them


@dataclass(frozen=True)
class OwnHinge(Joint):
    """A hinge about z, with the measure of its angle."""

    nq = 1
    nv = 1

    def pose(self, q):
        return rotation_from_vector((0.0, 0.0, q[0])), np.zeros(3)

    def motion(self, q):
        return np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]).T

    def measures(self):
        return {0: turn((0, 0, 1))}


def test_a_joint_of_ones_own_with_a_measure_has_limits_and_counts_turns():
    """It spins freely by more than a turn, φ = 10 t, until its limit sends it back."""
    b = ub.Builder(gravity=None)
    wheel = b.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("own", OwnHinge(), b.world, wheel, v=10.0)
    b.add(ub.JointLimit("own", upper=8.0), name="stop")
    sim = ub.Simulation(b.build(), Barrier(rule="bdf2"), dt=5e-3)
    assert sim.bound.system.measured.names == ["stop"] and not sim.bound.system.remainders
    angle = sim.run(1.0).joint("own")[:, 0]
    assert angle[140] == pytest.approx(7.0, rel=1e-2) and 7.5 < angle.max() < 8.0 and angle[-1] < angle.max() - 0.1


@dataclass(frozen=True)
class OwnRod(Constraint):
    """Two points stay a length apart, told by a measure of the house."""

    a: Point
    b: Point
    length: float

    rows = 1
    units = ("m",)

    def bodies(self):
        return [self.a.body, self.b.body]

    def measures(self, packing):
        return [MeasuredRow(self.length, 1.0, self.measure(), (self.a.body, self.b.body))]

    def measure(self) -> Measure:
        return distance(self.a, self.b)

    def evaluate(self, kinematics) -> Rows:
        return ub.Distance(self.a, self.b, self.length).evaluate(kinematics)


class OwnDistance(Measure):
    """|y₀| by NumPy."""

    def value(self, y, near):
        return float(np.linalg.norm(y[0]))

    def slope(self, y):
        return np.concatenate([y[0] / np.linalg.norm(y[0]), np.zeros(9)])

    def curve(self, y):
        d, out = np.linalg.norm(y[0]), np.zeros((12, 12))
        out[:3, :3] = np.eye(3) / d - np.outer(y[0], y[0]) / d**3
        return out


@dataclass(frozen=True)
class OwnMeasuredRod(OwnRod):
    """The same, told by a measure of one's own."""

    def measure(self):
        of_the_house = distance(self.a, self.b)
        return OwnDistance(OWN, of_the_house.on_first, of_the_house.on_second)


@dataclass(frozen=True)
class OwnRope(OwnMeasuredRod):
    """At most as far apart."""

    unilateral = True

    def measures(self, packing):
        return [MeasuredRow(self.length, -1.0, self.measure(), (self.a.body, self.b.body))]

    def evaluate(self, kinematics) -> Rows:
        return ub.DistanceRange(self.a, self.b, upper=self.length).evaluate(kinematics)


def pendulum(make) -> ub.Recording:
    b = ub.Builder()
    bob = b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), X_WB=Pose((0.6, 0, -0.7)))
    other = b.body("other", mass=0.5, inertia=(0.01, 0.01, 0.01), X_WB=Pose((1.2, 0, -0.7)))
    b.add(make(b.world.at(0, 0, 0), bob.at(0, 0, 0), float(np.hypot(0.6, 0.7))), name="rod")
    b.add(make(bob.at(0, 0, 0.05), other.at(0, 0, 0), float(np.hypot(0.6, 0.05))), name="second")
    return ub.Simulation(b.build(), "barrier", dt=2e-3).run(0.2)


@pytest.mark.parametrize("cls", [OwnRod, OwnMeasuredRod])
def test_constraints_of_ones_own_by_measures_are_those_of_the_house(cls):
    """The same potential by another class, and by a measure that only NumPy evaluates: its last digits differ."""
    ours, theirs = pendulum(ub.Distance), pendulum(cls)
    np.testing.assert_allclose(theirs.point("other"), ours.point("other"), atol=1e-9)


def test_a_range_of_ones_own_measure_is_kept():
    """A rope that is slack at the start, pulled tight by weight: never longer than it is, and as good as tight in the end."""
    rope = pendulum(lambda a, b, length: OwnRope(a, b, 1.1 * length))
    length = np.linalg.norm(rope.point("bob"), axis=1)
    assert length.max() < 1.1 * np.hypot(0.6, 0.7) and length[-1] > np.hypot(0.6, 0.7) + 0.01


def test_vectors_that_are_not_given_are_nothing():
    assert not from_vectors(DISTANCE, (np.ones(4), np.zeros(4))).on_first[1:].any() and slide((1, 0, 0)).on_second[1, 1] == 1.0
