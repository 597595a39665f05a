"""What forces refuse: one line that names the class, the value and the remedy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from unibody.element import Point
from unibody.errors import ModelError
from unibody.forces import AppliedWrench, BodyDamping, Cable, DryFriction, Gravity, JointFriction, Motor, SpringDamper, TorsionSpring

A, B, NAN = Point("a"), Point("b"), float("nan")

AT_ONCE = [
    (lambda: Gravity((0, 0)), "Gravity g"),
    (lambda: Gravity((0, 0, NAN)), "not finite"),
    (lambda: SpringDamper(A, (0, 0, 0), 1.0), "body.at"),
    (lambda: SpringDamper(A, B, -1.0), "SpringDamper stiffness: -1.0"),
    (lambda: SpringDamper(A, B, NAN), "finite"),
    (lambda: SpringDamper(A, B, 1.0, -2.0), "SpringDamper damping"),
    (lambda: SpringDamper(A, B, 1.0, rest_length=-0.1), "SpringDamper rest_length: -0.1"),
    (lambda: SpringDamper(A, B, "stiff"), "not a number"),
    (lambda: Cable([A], 1.0), "1 points; give at least two"),
    (lambda: Cable(A, 1.0), "not a list"),
    (lambda: Cable([A, "b"], 1.0), "body.at"),
    (lambda: Cable([A, B], -1.0), "Cable stiffness"),
    (lambda: Cable([A, B], 1.0, NAN), "Cable damping"),
    (lambda: Cable([A, B], 1.0, rest_length=-1.0), "Cable rest_length"),
    (lambda: TorsionSpring("hinge", -1.0), "joint 'hinge': stiffness -1.0 is negative"),
    (lambda: TorsionSpring("hinge", (1.0, NAN)), "finite"),
    (lambda: TorsionSpring("hinge", [[1.0]]), "shape"),
    (lambda: TorsionSpring("hinge", 1.0, "much"), "numeric"),
    (lambda: TorsionSpring("hinge", 1.0, rest=NAN), "rest"),
    (lambda: TorsionSpring("hinge", rest=0.5), "rest given without stiffness"),
    (lambda: TorsionSpring("cardan", (0.0, 0.0), 1.0, rest=(0.1, 0.2)), "rest given without stiffness"),
    (lambda: TorsionSpring("hinge", 1.0, dof=-1), "dof -1"),
    (lambda: TorsionSpring("hinge", (1.0, 2.0), dof=0), "give one number"),
    (lambda: TorsionSpring(3, 1.0), "handle"),
    (lambda: DryFriction("hinge", -1.0), "joint 'hinge': bound: -1.0 is below 0"),
    (lambda: DryFriction("hinge", NAN), "finite"),
    (lambda: DryFriction("hinge", 1.0, slip_speed=0.0), "slip_speed: 0.0 is not positive"),
    (lambda: DryFriction("hinge", 1.0, dof=-1), "dof -1"),
    (lambda: DryFriction("cardan", (1.0, 2.0), dof=0), "give one number"),
    (lambda: BodyDamping("a", -1.0), "BodyDamping angular"),
    (lambda: BodyDamping("a", linear=NAN), "BodyDamping linear"),
    (lambda: AppliedWrench("a", torque=(1, 2)), "AppliedWrench torque"),
    (lambda: AppliedWrench("a", force=(1, 2, NAN)), "AppliedWrench force"),
    (lambda: AppliedWrench("a", at="here"), "AppliedWrench at"),
    (lambda: AppliedWrench("a", axes="local"), "axes 'local' is unknown; give 'world' or 'body'"),
    (lambda: JointFriction("hinge", -0.1), "joint 'hinge': coefficient: -0.1 is below 0"),
    (lambda: JointFriction("hinge", 0.1, radius=0.0), "radius: 0.0 is not positive"),
    (lambda: JointFriction("hinge", 0.1, radius=1.0, height=NAN), "finite"),
    (lambda: JointFriction("slide", 0.1, width=(1.0, 2.0, 3.0)), "has 3 numbers; give one or two"),
    (lambda: JointFriction("hinge", 0.1, points=2), "points 2"),
    (lambda: JointFriction(None, 0.1), "handle"),
    (lambda: Motor("hinge", kp=-1.0), "Motor kp"),
    (lambda: Motor("hinge", effort=NAN), "Motor effort"),
    (lambda: Motor("hinge", limit=-1.0), "Motor limit"),
    (lambda: Motor("hinge", limit=NAN), "Motor limit"),
    (lambda: Motor("hinge", dof=0.5), "dof 0.5"),
    (lambda: Motor("hinge", target=1.0), "target without kp"),
    (lambda: Motor("hinge", kp=1.0, target_rate=1.0), "target_rate without kd"),
]
AT_START = [
    (TorsionSpring("hinge", 1.0, dof=1), "dof 1"),
    (DryFriction("hinge", 1.0, dof=1), "dof 1"),
    (DryFriction("hinge", (1.0, 2.0)), "2 bounds for 1"),
    (JointFriction("cardan", 0.1, radius=1.0), "a Universal has no shape here"),
    (JointFriction("hinge", 0.1, radius=1.0), "needs height="),
    (JointFriction("hinge", 0.1, radius=1.0, height=1.0, width=1.0), "has no width; leave it out"),
    (JointFriction("ball", 0.1, radius=1.0, height=1.0), "a Ball has no height"),
    (JointFriction("ball", 0.1, radius=1.0, points=7), "points 7 do not lie evenly"),
    (TorsionSpring("cardan", (1.0, 2.0, 3.0)), "3 values of stiffness for 2"),
    (TorsionSpring("cardan", 1.0, (1.0, 2.0, 3.0)), "3 values of damping for 2"),
    (TorsionSpring("cardan", 1.0, rest=0.5), "rest 0.5 is one number"),
    (TorsionSpring("ball", 1.0, rest=(1.0, 0.0, 0.0)), "rest has 3 numbers; a position of this joint has 4"),
    (TorsionSpring("ball", 1.0, rest=(0.0, 0.0, 0.0, 0.0)), "no direction"),
    (TorsionSpring("free", 1.0), "SpringDamper"),
    (Motor("hinge", dof=1), "dof 1 of a joint with 1 degree of freedom"),
    (Motor("ball", kp=1.0), "kp = 1 needs a scalar coordinate, and Ball has none"),
    (Motor("mixed", kp=1.0, dof=2), "dof 2"),
]


@pytest.mark.parametrize("make, says", AT_ONCE)
def test_refused_at_once(make, says):
    with pytest.raises(ModelError) as error:
        make()
    assert says in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("force, says", AT_START)
def test_refused_when_the_joint_is_known(world, force, says):
    for ask in (force.started, force.row):
        with pytest.raises(ModelError) as error:
            ask(world, "f")
        assert says in str(error.value) and f"joint '{force.joint}'" in str(error.value) and "\n" not in str(error.value)


def test_function_of_time_must_give_three_numbers(world):
    AppliedWrench("a", torque=lambda t: (1.0, t)).row(world, "gust")
    with pytest.raises(ModelError, match="AppliedWrench 'gust': torque at t = 2"):
        world.signals[0](2.0)


def test_handles_are_stored_by_name():
    handle = SimpleNamespace(name="hinge")
    assert TorsionSpring(handle, np.float64(1.0)).joint == Motor(handle).joint == BodyDamping(handle).body == "hinge"
    assert AppliedWrench(handle).bodies() == ["hinge"]
