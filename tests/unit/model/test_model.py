"""Numbering, loops, free, static and kinematic bodies, planar worlds, mass from shapes, states, controls, and the model as text."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import unibody as ub
from unibody.model.text import model_from_text, model_to_text

UNIT = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
HINGE = ub.Revolute(axis=(0, 1, 0))
SOLVERS = [name for name in ("articulated", "lagrange") if name in ub.solvers.REGISTRY]
solvers = pytest.mark.parametrize("solver", SOLVERS)


def names(model):
    return [body.name for body in model.bodies]


def test_parents_come_before_children_whatever_the_order_of_definition():
    b = ub.Builder()
    for name in ("hand", "arm", "shoulder", "other"):
        b.body(name, **UNIT)
    b.joint("wrist", HINGE, "arm", "hand")
    b.joint("elbow", HINGE, "shoulder", "arm")
    b.joint("base", HINGE, b.world, "shoulder")
    model = b.build()
    assert names(model) == ["world", "shoulder", "arm", "hand", "other"]
    assert model.parent.tolist() == [-1, 0, 1, 2, 0]
    assert all(j.parent < j.child for j in model.tree_joints)
    assert [j.name for j in model.joints] == ["base", "elbow", "wrist", "other"]


def test_coordinates_run_through_tree_joints_then_loops():
    b = ub.Builder()
    for name in ("a", "b", "c"):
        b.body(name, **UNIT)
    b.joint("first", ub.Ball(), b.world, "a")
    b.joint("second", HINGE, "a", "b")
    b.joint("third", ub.Universal(), "b", "c")
    b.joint("closing", ub.Ball(), b.world, "c")
    model = b.build()
    assert [(j.name, j.q_start, j.v_start, j.loop) for j in model.joints] == [
        ("first", 0, 0, False), ("second", 4, 3, False), ("third", 5, 4, False), ("closing", 7, 6, True),
    ]  # fmt: skip
    assert (model.nq, model.nv, model.nq_joints, model.nv_joints) == (7, 6, 11, 9)


def test_a_second_parent_closes_a_loop_and_its_coordinate_is_fitted():
    b = ub.Builder()
    a, c = b.body("a", **UNIT), b.body("c", **UNIT)
    b.joint("left", HINGE, b.world, a, q=0.3)
    b.joint("right", HINGE, b.world, c, q=0.3, X_PF=ub.Pose(p=(1, 0, 0)))
    arm = ub.Pose(p=(0, 0, 1))
    rod = b.body("rod", **UNIT)
    b.joint("up", HINGE, a, rod, X_PF=arm, q=-0.3)
    b.joint("closing", HINGE, c, rod, X_PF=arm, X_BM=ub.Pose(p=(1, 0, 0)), q=0.0)
    model = b.build()
    assert [j.name for j in model.loop_joints] == ["closing"]
    # The rod is level, c turned by 0.3: the guess 0 is replaced by −0.3, to round-off of the fit.
    assert model.joint("closing").q0 == pytest.approx([-0.3], abs=1e-12)


def test_a_cycle_without_the_world_is_a_loop_on_a_free_body():
    b = ub.Builder()
    for name in ("a", "b", "c"):
        b.body(name, **UNIT)
    for name, parent, child in (("ab", "a", "b"), ("bc", "b", "c"), ("ca", "c", "a")):
        b.joint(name, HINGE, parent, child)
    model = b.build()
    assert [j.name for j in model.loop_joints] == ["ca"]
    free = model.joint("a")
    assert free.implicit and isinstance(free.element, ub.Free) and model.nv == 8


def test_bodies_without_joints_get_implicit_ones_named_after_them():
    b = ub.Builder(gravity=(0, 0, 0))
    b.body("ball", X_WB=ub.Pose(p=(1, 2, 3)), V_WB=(0, 0, 0, 1, 0, 0), **UNIT)
    b.body("post", kind="static", X_WB=ub.Pose(p=(0, 0, 1)))
    model = b.build()
    assert isinstance(model.joint("ball").element, ub.Free) and isinstance(model.joint("post").element, ub.Weld)
    rec = ub.Simulation(model, dt=0.1).run(1.0, every=10)
    np.testing.assert_allclose(rec.joint("ball")[-1, :3], (2, 2, 3), atol=1e-12)  # straight ahead, round-off
    np.testing.assert_array_equal(rec.pose("post")[-1], (0, 0, 1, 1, 0, 0, 0))
    flat = ub.Builder(planar=True)
    flat.body("disk", **UNIT)
    assert isinstance(flat.build().joint("disk").element, ub.Planar)


@solvers
def test_pendulum_on_a_static_body_is_one_on_the_world(solver):
    def build(on_post):
        b = ub.Builder()
        post = b.body("post", kind="static", X_WB=ub.Pose.about((0, 0, 1), 0.4, (1, 2, 3)))
        bob = b.body("bob", mass=2.0, com=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
        parent, X_PF = (post, ub.Pose()) if on_post else (b.world, ub.Pose.about((0, 0, 1), 0.4, (1, 2, 3)))
        b.joint("pivot", HINGE, parent, bob, X_PF=X_PF, q=1.0)
        return b.build()

    first, second = (ub.Simulation(build(on), solver=solver, dt=1e-3).run(0.5, every=100) for on in (True, False))
    # The same numbers in another order of operations.
    np.testing.assert_allclose(first.pose("bob"), second.pose("bob"), atol=1e-12)
    np.testing.assert_allclose(first.reaction("pivot"), second.reaction("pivot"), atol=1e-10)


def moving_base(**motion):
    b = ub.Builder()
    base = b.body("base", kind="kinematic", **motion)
    bob = b.body("bob", mass=1.0, com=(0, 0, -1.0), inertia=(1e-9, 1e-9, 1e-9))
    b.joint("pivot", ub.Revolute(axis=(0, -1, 0)), base, bob, q=0.5)
    return b.build()


@solvers
def test_pendulum_on_a_base_in_steady_motion_swings_as_at_rest(solver):
    """Galileo: the same angles, shifted places."""
    resting = ub.scenes.make("pendulum", angle=0.5)
    model = moving_base(V_WB=(0, 0, 0, 2.0, 0, 1.0))
    rec = ub.Simulation(model, solver=ub.solvers.REGISTRY[solver](rule="rk4"), dt=1e-3).run(2.0, every=100)
    # Order 4 at 3 rad/s.
    np.testing.assert_allclose(rec.joint("pivot")[:, 0], resting.exact.angle(rec.t), atol=1e-8)
    np.testing.assert_allclose(rec.pose("base")[:, :3], np.outer(rec.t, (2.0, 0, 1.0)), atol=1e-12)
    np.testing.assert_allclose(rec.twist("base"), np.tile((0, 0, 0, 2.0, 0, 1.0), (len(rec), 1)), atol=1e-12)


def accelerating(t):
    """2.5 m/s² to the right."""
    return ub.Pose(p=(1.25 * t * t, 0, 0))


def test_pendulum_on_an_accelerating_base_swings_about_the_apparent_vertical():
    """Apparent gravity (−a, 0, −g): the pendulum of θ' = θ + atan(a/g) with √(g² + a²)."""
    from unibody.scenes.pendulums import PendulumSolution

    tilt = math.atan2(2.5, 9.81)
    exact = PendulumSolution(math.sqrt(math.hypot(2.5, 9.81)), 0.5 + tilt)
    for solver in SOLVERS:
        rec = ub.Simulation(moving_base(motion=accelerating), solver=ub.solvers.REGISTRY[solver](rule="rk4"), dt=1e-3).run(2.0, every=100)
        # Order 4, and the differences of the motion: 1e-16 / (2 ms)² ≈ 1e-10 m/s².
        np.testing.assert_allclose(rec.joint("pivot")[:, 0], exact.angle(rec.t) - tilt, atol=1e-7, err_msg=solver)


def turning(t):
    """3 rad/s about the vertical, by a function instead of a constant twist."""
    return ub.Pose.about((0, 0, 1), 3.0 * t)


@solvers
def test_motion_by_function_is_that_by_constant_twist(solver):
    """Spinning base: the bob feels the centrifugal acceleration either way."""
    by_twist, by_function = (
        ub.Simulation(moving_base(**motion), solver=solver, dt=1e-3).run(1.0, every=100)
        for motion in ({"V_WB": (0, 0, 3.0, 0, 0, 0)}, {"motion": turning})
    )
    # Differences of fourth order at 2 ms: (3 rad/s · 2 ms)⁴ relative in the acceleration.
    np.testing.assert_allclose(by_function.joint("pivot"), by_twist.joint("pivot"), atol=1e-7)
    np.testing.assert_allclose(by_function.pose("bob"), by_twist.pose("bob"), atol=1e-7)


@solvers
def test_bob_on_a_spinning_base_rests_at_the_angle_of_equal_pulls(solver):
    """ω² sin θ cos θ = g sin θ / l: at cos θ = g/(l ω²) it stays."""
    omega = 5.0
    angle = math.acos(9.81 / omega**2)
    b = ub.Builder()
    base = b.body("base", kind="kinematic", V_WB=(0, 0, omega, 0, 0, 0))
    bob = b.body("bob", mass=1.0, com=(0, 0, -1.0), inertia=(1e-9, 1e-9, 1e-9))
    b.joint("pivot", ub.Revolute(axis=(0, -1, 0)), base, bob, q=angle)
    rec = ub.Simulation(b.build(), solver=ub.solvers.REGISTRY[solver](rule="rk4"), dt=1e-3).run(1.0, every=100)
    # A stable equilibrium; inertia of the "point" 1e-9, order 4 at 5 rad/s.
    np.testing.assert_allclose(rec.joint("pivot")[:, 0], angle, atol=1e-7)


@solvers
@pytest.mark.parametrize("name", ["double-pendulum", "catenary", "slider-crank", "serial-arm"])
def test_planar_world_moves_like_the_3d_one(name, solver):
    if name == "serial-arm":  # its 3D twin bends across the plane: hinge the flat one up by hand
        models = [_arm(planar) for planar in (True, False)]
    else:
        given = {"catenary": {"n": 6, "start": "vee"}, "slider-crank": {"rate": 3.0}}.get(name, {})
        models = [ub.scenes.build(name, planar=planar, **given) for planar in (True, False)]
    flat, spatial = (ub.Simulation(m, solver=ub.solvers.REGISTRY[solver](rule="rk4"), dt=1e-3).run(0.5, every=100) for m in models)
    for body in flat.model.bodies[1:]:
        # The same order-4 solution of the same equations, in other coordinates: below the rule's own error.
        np.testing.assert_allclose(flat.pose(body.name), spatial.pose(body.name), atol=1e-7)
    for joint in flat.model.tree_joints:
        np.testing.assert_allclose(flat.joint_velocity(joint.name), spatial.joint_velocity(joint.name), atol=1e-6)


def _arm(planar):
    b = ub.Builder(planar=planar)
    parent, X_PF = b.world, ub.Pose()
    for k in range(3):
        body = b.body(f"body{k}", shape=ub.Box((0.1, 0.1, 1.0)), mass=1.0)
        b.joint(f"joint{k}", ub.Revolute(axis=(0, -1, 0)), parent, body, X_PF, ub.Pose(p=(0, 0, 0.5)), q=0.4, v=0.5 * k)
        parent, X_PF = body, ub.Pose(p=(0, 0, -0.5))
    b.add(ub.SpringDamper(parent.at(0, 0, -0.5), b.world.at(1, 0, -1), stiffness=20.0, damping=0.5, rest_length=0.3))
    return b.build()


@solvers
def test_planar_world_of_another_normal_is_the_same_world_turned(solver):
    """x–z and x–y: the same free body with the same plane coordinates."""
    results = []
    for normal, up in (((0, -1, 0), (0, 0, 1)), ((0, 0, 1), (0, 1, 0))):
        b = ub.Builder(gravity=-9.81 * np.array(up), planar=True, normal=normal)
        spin, slide = 2.0 * np.array(normal), np.array((1.0, 0, 0)) + 3.0 * np.array(up)
        b.body("plate", mass=1.0, inertia=(0.1, 0.1, 0.1), V_WB=(*spin, *slide))
        results.append(ub.Simulation(b.build(), solver=solver, dt=1e-3).run(0.3, every=100).joint("plate"))
    np.testing.assert_allclose(results[0], results[1], atol=1e-12)  # round-off


def test_mass_comes_from_shapes_and_density_or_is_scaled_to_mass():
    b = ub.Builder()
    b.body("water", shape=ub.Box((0.1, 0.2, 0.3)))
    b.body("lead", shape=ub.Box((0.1, 0.2, 0.3)), density=11340.0)
    b.body("scaled", shape=ub.Box((0.1, 0.2, 0.3)), mass=12.0)
    bodies = {body.name: body for body in b.build().bodies}
    assert bodies["water"].mass == pytest.approx(6.0) and bodies["lead"].mass == pytest.approx(68.04) and bodies["scaled"].mass == 12.0
    expected = np.diag([0.2**2 + 0.3**2, 0.3**2 + 0.1**2, 0.1**2 + 0.2**2]) / 12.0
    for body in (bodies["water"], bodies["lead"], bodies["scaled"]):
        np.testing.assert_allclose(body.inertia, body.mass * expected, rtol=1e-14)


def test_several_shapes_add_up_by_steiner():
    """Two balls of radius 0.1 on a line, 1 m apart: 2 (2/5 m r²) along it, 2 m (2/5 r² + 1/4) across."""
    ball = ub.Sphere(0.1)
    b = ub.Builder()
    b.body("dumbbell", shape=[ub.Placed(ball, ub.Pose(p=(x, 0, 1))) for x in (-0.5, 0.5)], mass=4.0)
    body = b.build().bodies[1]
    np.testing.assert_allclose(body.com, (0, 0, 1), atol=1e-15)
    across = 4.0 * (0.4 * 0.01 + 0.25)
    np.testing.assert_allclose(body.inertia, np.diag([4.0 * 0.4 * 0.01, across, across]), atol=1e-14)


def test_given_mass_properties_override_those_of_the_picture():
    b = ub.Builder()
    b.body("odd", shape=ub.Sphere(1.0), mass=2.0, com=(0, 0, 0.1), inertia=(1, 2, 2.5))
    body = b.build().bodies[1]
    assert body.mass == 2.0 and len(body.shapes) == 1
    np.testing.assert_array_equal(body.inertia, np.diag([1, 2, 2.5]))


def test_model_and_state_cannot_be_written():
    model = ub.scenes.build("four-bar")
    sim = ub.Simulation(model)
    state = sim.state
    for array in (state.q, state.v, model.gravity, model.parent, model.joints[0].q0):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        state.t = 1.0
    with pytest.raises(FrozenInstanceError):
        model.nq = 3
    before = np.array(state.q)
    sim.step()
    np.testing.assert_array_equal(state.q, before)
    assert sim.state is not state


def test_a_state_is_a_copy_of_what_it_was_made_from():
    q = np.zeros(1)
    state = ub.State(0.0, q, np.zeros(1))
    q[0] = 5.0
    assert state.q[0] == 0.0


def test_control_is_written_by_name_or_by_array_and_copies_are_apart():
    b = ub.Builder()
    a = b.body("a", **UNIT)
    hinge = b.joint("hinge", ub.Universal(), b.world, a)
    motor = b.add(ub.Motor(hinge, kp=1.0, target=0.2))
    sim = ub.Simulation(b.build())
    control = sim.control
    control.set_effort(hinge, (1.0, 2.0))
    np.testing.assert_array_equal(control.effort, (1.0, 2.0))
    control.set_effort("hinge", 3.0)
    np.testing.assert_array_equal(control.effort, (3.0, 3.0))
    control.set_wrench(a, (1, 2, 3, 4, 5, 6))
    np.testing.assert_array_equal(control.wrench[1], (1, 2, 3, 4, 5, 6))
    control.set_target(motor, 0.5)
    copy = control.copy()
    copy.effort[0] = 9.0
    assert control.effort[0] == 3.0
    assert not np.shares_memory(ub.Simulation(sim.model, control=control).control.flat, control.flat)


@solvers
def test_control_wrench_acts_in_world_axes_at_the_bodys_origin(solver):
    b = ub.Builder(gravity=(0, 0, 0))
    b.body("a", mass=2.0, inertia=(1.0, 1.0, 1.0), X_WB=ub.Pose.about((1, 2, 3), 1.0))
    sim = ub.Simulation(b.build(), solver=solver, dt=1e-3)
    sim.control.set_wrench("a", (0, 0, 0, 4.0, 0, 0))
    rec = sim.run(0.5, every=500)
    # Constant acceleration 2 m/s²: velocities exact, places of a first-order rule to h v/2.
    np.testing.assert_allclose(rec.twist("a")[-1], (0, 0, 0, 1.0, 0, 0), atol=1e-12)
    assert rec.pose("a")[-1, 0] == pytest.approx(0.25, abs=1e-3)
    assert rec.energy.applied_work[-1] == pytest.approx(rec.energy.kinetic[-1], rel=5e-3)


@solvers
def test_effort_limit_clamps_the_sum_of_motors_and_control(solver):
    b = ub.Builder(gravity=(0, 0, 0))
    wheel = b.body("wheel", mass=1.0, inertia=(1.0, 1.0, 1.0))
    b.joint("axle", HINGE, b.world, wheel, effort_limit=2.0)
    b.add(ub.Motor("axle", effort=5.0))
    sim = ub.Simulation(b.build(), solver=solver, dt=1e-3)
    sim.control.set_effort("axle", 5.0)
    # 2 N m on 1 kg m² for 1 s; exact but for round-off.
    assert sim.run(1.0, every=1000).joint_velocity("axle")[-1, 0] == pytest.approx(2.0, abs=1e-10)


def gust(t):
    return (math.sin(t), 0.0, 0.0)


def test_model_text_round_trip_builds_the_same_model():
    b = ub.Builder(gravity=(0.1, 0, -9.0))
    post = b.body("post", kind="static", shape=ub.Box((1, 1, 1)), X_WB=ub.Pose(p=(0, 0, 1)))
    base = b.body("base", kind="kinematic", motion=accelerating)
    arm = b.body("arm", shape=[ub.Placed(ub.Capsule(0.1, 1.0), ub.Pose(p=(0, 0, 0.2))), ub.Sphere(0.2)], density=500.0)
    ball = b.body("ball", X_WB=ub.Pose.about((1, 1, 0), 0.3, (1, 2, 3)), V_WB=(1, 2, 3, 4, 5, 6), **UNIT)
    both = ub.Composite(HINGE, ub.Prismatic(axis=(0, 0, 1)))
    b.joint("hinge", both, post, arm, q=(0.1, 0.2), v=(1, 2), stiffness=(1.0, 2.0), armature=0.1, effort_limit=4.0)
    b.add(ub.SpringDamper(arm.at(0, 0, 1), ball.at(0, 0, 0.5), stiffness=10.0))
    b.add(ub.Cable([base.at(), arm.at(0, 0, 1), ball.at()], stiffness=5.0))
    b.add(ub.Motor("hinge", kp=1.0, target=math.sin, dof=1), name="drive")
    b.add(ub.AppliedWrench(ball, force=gust))
    b.add(ub.Distance(arm.at(), ball.at()))
    model = b.build()
    text = json.loads(json.dumps(model_to_text(model)))
    again = model_from_text(text, "here")
    assert model_to_text(again) == model_to_text(model)
    assert repr(again) == repr(model) and names(again) == names(model)
    np.testing.assert_array_equal(again.start_q(), model.start_q())
    for mine, theirs in zip(again.bodies, model.bodies, strict=True):
        assert mine.X_WB == theirs.X_WB and mine.mass == theirs.mass
        np.testing.assert_array_equal(mine.inertia, theirs.inertia)
    first, second = (ub.Simulation(m, dt=1e-3).run(0.02) for m in (model, again))
    np.testing.assert_array_equal(first.q, second.q)


def test_model_text_of_a_planar_world_stays_planar():
    model = ub.scenes.build("four-bar")
    again = model_from_text(json.loads(json.dumps(model_to_text(model))), "here")
    assert again.planar
    np.testing.assert_array_equal(again.plane, model.plane)
