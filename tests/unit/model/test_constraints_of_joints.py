"""Limits that a joint brings along, couplings in order, and what is refused when a model is built; files keep what they can."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.model.text import model_from_text, model_to_text


class Rolling(ub.Joint):
    """A turn about z written as (cos, sin): two coordinates for one velocity."""

    nq, nv = 2, 1

    def pose(self, q):
        return np.array([[q[0], -q[1], 0.0], [q[1], q[0], 0.0], [0.0, 0.0, 1.0]]), np.zeros(3)

    def motion(self, q):
        return np.eye(6)[:, 2:3]

    def bias(self, q, v):
        return np.zeros(6)

    def rate(self, q, v):
        return np.array([-q[1], q[0]]) * v[0]

    def neutral(self):
        return np.array([1.0, 0.0])


def ramp(t: float) -> float:
    return 0.5 * t


def arm(limits=None, joint=None) -> ub.Builder:
    b = ub.Builder()
    last = b.world
    for i in range(4):
        body = b.body(f"body{i}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        b.joint(f"j{i}", joint or ub.Revolute((0, 1, 0)), last, body, X_BM=ub.Pose((0, 0, 0.5)), limits=limits)
        last = body
    return b


def test_limits_of_a_joint_become_an_element() -> None:
    elements = dict(arm(limits=(-0.5, 1.0)).build().constraints)
    assert [*elements] == [f"j{i}.limit" for i in range(4)]
    assert elements["j1.limit"].lower == (-0.5,) and elements["j1.limit"].rows == 2


def test_limits_by_degree_of_freedom_hold_only_finite_bounds() -> None:
    element = dict(arm(limits=((-0.5, np.inf), (-0.2, 0.3)), joint=ub.Universal()).build().constraints)["j0.limit"]
    assert element.rows == 3 and element.units == ("rad",) * 3
    slides = dict(arm(limits=(0.0, 0.3), joint=ub.Prismatic((1, 0, 0))).build().constraints)["j0.limit"]
    assert slides.units == ("m", "m")


def test_cone_of_a_ball_is_one_row() -> None:
    element = dict(arm(limits=(0.0, 0.4), joint=ub.Ball()).build().constraints)["j0.limit"]
    assert element.rows == 1 and element.cone


def test_couplings_stand_in_the_order_in_which_they_give() -> None:
    b = arm()
    b.add(ub.Coupling(["j3"], ["j2"], [[2.0]]), name="third")
    b.add(ub.Distance(ub.model.Body("body3").at(), b.world.at(0, 0, 1)), name="rod")
    b.add(ub.Coupling(["j2"], ["j1"], [[3.0]], 0.5), name="second")
    b.add(ub.Coupling(["j1"], ["j0"], function=lambda q: q**2), name="first")
    model = b.build()
    assert [name for name, _ in model.constraints] == ["first", "rod", "second", "third"]
    q = np.array([0.4, 9.0, 9.0, 9.0])
    for _, element in model.constraints:
        if isinstance(element, ub.Coupling):
            element.place(model, q)
    np.testing.assert_allclose(q, [0.4, 0.16, 0.98, 1.96], rtol=1e-14)


def test_file_keeps_motions_by_name_and_tables_by_value() -> None:
    b = arm()
    b.add(ub.PrescribedJoint("j0", ramp), name="drive")
    b.add(ub.PrescribedPoint(ub.model.Body("body3").at(), ([0.0, 1.0], [(0, 0, 0), (1, 0, 0)]), axes=0), name="hand")
    b.add(ub.PrescribedFrame("body2", ([0.0, 1.0], [ub.Pose(), ub.Pose((1, 0, 0))]), held=(1, 3)), name="frame")
    b.add(ub.Coupling(["j2"], ["j1"], [[3.0]], 0.5), name="gear")
    b.add(ub.JointLimit("j3", upper=1.0), name="stop")
    model = b.build()
    again = model_from_text(model_to_text(model), "here")
    assert again.constraints == model.constraints
    assert again.signals == pytest.approx(model.signals) and len(again.signal_functions) == 3


AT_BUILD = [
    (lambda b: b.add(ub.Coupling(["j1"], ["j0"], [[1.0]])) and b.add(ub.Coupling(["j1"], ["j2"], [[1.0]])), "dependent in Coupling"),
    (lambda b: b.add(ub.Coupling(["j1"], ["j0"], [[1.0]])) and b.add(ub.Coupling(["j0"], ["j1"], [[1.0]])), "in a circle"),
    (lambda b: b.add(ub.Coupling([("j1", 1)], ["j0"], [[1.0]])), "has no dof 1"),
    (lambda b: b.add(ub.Coupling(["j1"], ["j0"], function=lambda q: (1.0, 2.0))), "Coupling function"),
    (lambda b: b.add(ub.Coupling(["j1"], ["j0"], function=lambda q: q, jacobian=lambda q: np.eye(2))), "Coupling jacobian"),
    (lambda b: b.add(ub.PrescribedJoint("j0", lambda t: (1.0, 2.0))), "give 1 numbers"),
    (lambda b: b.add(ub.PrescribedJoint("j0", ([0.0, 1.0], [(1, 2), (3, 4)]))), "2 numbers a time; give 1"),
    (lambda b: b.add(ub.PrescribedJoint("j0", ([1.0, 2.0], [1, 2]))), "t = 0 is outside its table"),
    (lambda b: b.add(ub.PrescribedJoint("j0", 0.0, dof=2)), "has no dof 2"),
    (lambda b: b.add(ub.PrescribedJoint("j9", 0.0)), "j9"),
    (lambda b: b.add(ub.PrescribedFrame("body0", lambda t: t)), "must return a Pose"),
    (lambda b: b.add(ub.JointLimit("j0", (0.0, 1.0), 2.0)), "2 lower bounds for 1"),
    (lambda b: b.add(ub.JointLimit("free", (0.0, 1.0), 2.0)), "2 lower bounds for 3"),
    (lambda b: b.add(ub.JointLimit("free", 0.0, dof=1)), "dof 1 of joint 'free' of Free is a rotation"),
    (lambda b: b.add(ub.JointLimit("free", 0.0, dof=6)), "has no dof 6"),
    (lambda b: b.add(ub.JointLimit("free", angle=(0.3, 0.4))), "2 bounds of angle for 1 rotations"),
    (lambda b: b.add(ub.JointLimit("j0", angle=0.3)), "has no Ball or Free to bound by angle"),
    (lambda b: b.add(ub.JointLimit("ball", upper=0.3, angle=0.4)), "both name the cone"),
    (lambda b: b.add(ub.JointLimit("rolling", 0.0)), "no coordinate whose rate is its velocity"),
    (lambda b: b.add(ub.JointLimit("fixed", 0.0)), "no degree of freedom"),
    (lambda b: b.add(ub.PrescribedJoint("free", 0.0)), "without scalar coordinates"),
    (lambda b: b.add(ub.JointLimit("ball", 0.1, 0.4)), "a Ball has no scalar coordinate"),
    (lambda b: b.add(ub.JointLimit("ball", upper=4.0)), "no angle of a Ball's cone"),
    (lambda b: b.add(ub.JointLimit("mixed", 0.0, dof=2)), "give angle or twist, or dof= one of 0"),
    (lambda b: b.add(ub.JointLimit("mixed", (0.0, 1.0))), "2 lower bounds for 1"),
]


@pytest.mark.parametrize("add, says", AT_BUILD)
def test_refused_when_built(add, says) -> None:
    b = arm()
    b.body("free", mass=1.0, inertia=(0.1, 0.1, 0.1))
    mixed = ub.Composite(ub.Prismatic((1, 0, 0)), ub.Ball())
    for name, joint in (("ball", ub.Ball()), ("mixed", mixed), ("rolling", Rolling()), ("fixed", ub.Weld())):
        b.joint(name, joint, b.world, b.body(f"on {name}", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    with pytest.raises(ub.ModelError) as error:
        add(b)
        b.build()
    assert says in str(error.value) and "\n" not in str(error.value)


def test_limits_of_a_free_body_are_displacements_and_a_cone() -> None:
    b = ub.Builder()
    for name, limits in (("box", ((-1, 1), (-1, 1), (0, np.inf))), ("top", {"lower": 0.0, "dof": 5, "angle": 0.4, "twist": (-1.0, 2.0)})):
        b.joint(name, ub.Free(), b.world, b.body(f"{name} body", mass=1.0, inertia=(0.1, 0.1, 0.1)), limits=limits)
    model = b.build()
    elements = dict(model.constraints)
    assert elements["box.limit"].units == ("m",) * 5 and elements["top.limit"].units == ("m", "rad", "rad", "rad")
    assert model_from_text(model_to_text(model), "here").constraints == model.constraints


def test_one_bound_for_each_rotation_of_a_composite() -> None:
    b = ub.Builder()
    b.joint("pair", ub.Composite(ub.Ball(), ub.Ball()), b.world, b.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    b.add(ub.JointLimit("pair", angle=(np.inf, 0.3), twist=((-1.0, 1.0), (-np.inf, 0.5))), name="stop")
    assert dict(b.build().constraints)["stop"].rows == 4


def test_keywords_of_limits_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ub.ModelError, match="joint 'j0' limits: .*'most'.* are not all of lower, upper"):
        arm(limits={"most": 1.0})


@pytest.mark.parametrize("limits", [(1.0,), "tight", ((0.0, 1.0), (0.0, 1.0))])
def test_limits_that_are_no_bounds_are_refused(limits) -> None:
    with pytest.raises(ub.ModelError, match="joint 'j0' limits: .* are no bounds"):
        arm(limits=limits)


def test_multiplier_of_what_is_not_there_is_refused() -> None:
    b = arm()
    b.add(ub.PrescribedJoint("j0", ramp), name="drive")
    with pytest.raises(ub.ModelError, match="no such constraint; there are drive"):
        ub.Simulation(b.build(), "articulated").run(0.002).multiplier("drift")
