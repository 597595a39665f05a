"""The start of a step and the way out of a deep contact: arcs of what turns, secants of barriers; both by closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.collision.proximity import SHARE, WIDTH
from unibody.solvers.barrier.contact_potential import loosen_records
from unibody.solvers.barrier.start_iterate import carried_on, made, steady, turned
from unibody.spatial.pose import rotation_from_vector


def affine(R, t=(0.0, 0.0, 0.0)):
    """(1, 4, 3) of a body at t whose axes are those of R (3, 3)."""
    return np.concatenate([np.reshape(t, (1, 3)), R.T])[None]


def test_axes_turn_by_their_angle_and_origins_glide():
    rng = np.random.default_rng(5)
    w, v, h = rng.standard_normal(3), rng.standard_normal(3), 0.7
    A = rotation_from_vector(rng.standard_normal(3)) @ np.diag([1.0, 1.01, 0.99])
    Q, V = affine(A, rng.standard_normal(3)), affine(np.cross(w, A.T).T, v)
    found = turned(Q, *steady(Q, V, h))
    assert found[0, 0] == pytest.approx(Q[0, 0] + h * v, abs=1e-14)
    assert found[0, 1:].T == pytest.approx(rotation_from_vector(h * w) @ A, abs=1e-13)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 2.0, 3.1])
def test_a_motion_from_one_pose_to_another_is_its_way_and_turn(angle):
    n = np.array([2.0, -1.0, 2.0]) / 3.0
    before = affine(rotation_from_vector(np.array([0.3, 0.2, -0.9])))
    after = turned(before, np.array([[1.0, 2.0, 3.0]]), angle * n[None])
    way, turn = made(before, after)
    assert way[0] == pytest.approx([1.0, 2.0, 3.0])
    assert turn[0] == pytest.approx(angle * n, abs=1e-13)


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_steady_turns_are_carried_on_to_the_third_order(rule):
    """Of a body that turns steadily on a circle, with the rates that the rule makes of its poses: the place errs by R θ³, for the way of
    a point of the circle is a chord; the turn by nothing, for all its changes are the same."""
    radius, rate = 0.5, {"implicit": (1.0, -1.0, 0.0), "bdf2": (1.5, -2.0, 0.5)}[rule]
    errors = []
    for h in (0.1, 0.05):
        turns = [rotation_from_vector(np.array([0, 0, k * h])) for k in range(5)]
        poses = [affine(R, radius * R[:, 0]) for R in turns]
        V_last, V = (sum(f * poses[k - j] for j, f in enumerate(rate)) / h for k in (2, 3))
        found = turned(poses[3], *carried_on(poses[2], V_last, poses[3], V, h))
        assert found[0, 1:] == pytest.approx(poses[4][0, 1:], abs=1e-12)
        errors.append(np.abs(found[0, 0] - poses[4][0, 0]).max())
    assert 2.7 < np.log2(errors[0] / errors[1]) < 3.3
    assert errors[0] < 1.5 * radius * 0.1**3


def test_what_does_not_turn_keeps_its_axes():
    Q, V = np.zeros((2, 4, 3)), np.zeros((2, 4, 3))
    Q[:, 1:], V[:, 0] = np.eye(3), (1.0, 2.0, 3.0)
    assert (turned(Q, *steady(Q, V, 0.5))[:, 1:] == np.eye(3)).all()


def test_a_secant_leads_from_deep_in_a_barrier_to_its_minimum():
    """f d − μ ln d: Newton's step from d gives δ = 1 − d/d*, d* = μ/f. With the second derivative times the share that the record is given,
    a step leads to d* itself; what Newton's step does not double stays."""
    mu, force, reach = 3.0, 20.0, 1.0
    best = mu / force
    for d, loose in ((1e-5, True), (1e-3, True), (0.6 * best, False)):
        record, p = np.zeros(WIDTH), np.zeros(24)
        record[0], record[4], record[10], record[11], record[12], record[SHARE] = 1.0, -1.0, 1.0, d, 1.0, 1.0
        p[2] = d * (1.0 - d / best)
        assert loosen_records(np.array([0, 1]), p, reach, record) == int(loose)
        step = (mu / d - force) / (record[12] * mu / d**2)
        assert d + step == pytest.approx(best if loose else d + p[2], rel=1e-12)


def test_nothing_is_led_farther_than_the_reach():
    record, p = np.zeros(WIDTH), np.zeros(24)
    record[0], record[4], record[10], record[11], record[12], record[SHARE] = 1.0, -1.0, 1.0, 1e-6, 1.0, 1.0
    p[2] = 3e-6  # something pulls it out as well
    assert loosen_records(np.array([0, 1]), p, 1e-3, record) == 1
    assert record[12] == pytest.approx(1e-3)


def test_a_wheel_that_turns_steadily_is_found_where_it_will_be():
    """About an axle without load: the arc of the last step's speed is the motion itself, but for the brake of the rule, ω² h² / 2 of the
    angle; from the step's beginning Newton's method would turn it there, by chords."""
    b = ub.Builder(gravity=(0, 0, 0))
    wheel = b.body("wheel", shape=ub.Box((1.0, 0.1, 1.0)))
    b.joint("axle", ub.Revolute((0, 1, 0)), b.world, wheel, v=2.0)
    rec = ub.Simulation(b.build(), "barrier", dt=0.01).run(0.2)
    assert max(report.iterations for report in rec.reports[1:]) <= 2
    turn = rec.joint("axle")[-1, 0]
    assert 0.4 * (1.0 - 0.5 * 2.0**2 * 0.01 * 0.2 * 1.1) < turn < 0.4


@pytest.mark.parametrize("wall", [ub.Box((2.0, 2.0, 0.1)), ub.Plane()])
def test_a_step_that_collision_detection_holds_up_names_the_bodies(wall):
    """At 1 km/s before a wall, in a single iteration; another pair, of a box that rests before the floor, is not named."""
    b = ub.Builder(gravity=(0, 0, 0))
    b.body("wall", shape=wall, kind="static", X_WB=ub.Pose.about((0, 1, 0), -0.5 * np.pi))  # its z is −x
    b.body("floor", shape=ub.Box((9.0, 9.0, 0.1)), kind="static", X_WB=ub.Pose(p=(0, 0, -2)))
    b.body("shot", shape=ub.Box((0.1, 0.1, 0.1)), X_WB=ub.Pose(p=(-0.5, 0, 0)), V_WB=(0, 0, 0, 1000.0, 0, 0))
    b.body("sleeper", shape=ub.Box((0.1, 0.1, 0.1)), X_WB=ub.Pose(p=(-3, 0, -1.899)))
    b.add(ub.Contact(reach=2e-3))
    with pytest.raises(ub.StepFailed, match=r"collision detection allows .* of its direction, between '(wall' and 'shot|shot' and 'wall)'"):
        ub.Simulation(b.build(), ub.solvers.Barrier(iterations=1), dt=0.01).run(0.01)
