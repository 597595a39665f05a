"""Friction in joints that grows with what they carry: closed forms.

With four points on each rim a pin under a load F across it rubs with μ r F (|cos φ| + |sin φ|), φ the angle of the load from the nearest
points, which turn with the child; under a load along it with μ r F. Steps are linearly implicit, so a constant effort acts exactly.
Both solvers that know the element show most of them.
"""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G, MU, R, L, MASS = 9.81, 0.3, 0.02, 0.05, 2.0


def run(b, duration, dt=1e-2, **options):
    return ub.Simulation(b.build(), ub.solvers.RedMax(**options), dt=dt).run(duration)


def step_by_impulses(b, duration, dt=1e-2):
    return ub.Simulation(b.build(), ub.solvers.Complementarity(), dt=dt).run(duration)


both = pytest.mark.parametrize("run", [run, step_by_impulses], ids=["redmax", "complementarity"])


def wheel(speed=20.0, points=None, up=(0, 0, 1), radius=R, mu=MU, load=G):
    b = ub.Builder(gravity=tuple(-load * np.array(up, float)))
    body = b.body("wheel", mass=MASS, inertia=(0.02, 0.02, 0.03))
    b.joint("axle", ub.Revolute(axis=(0, 0, 1)), b.world, body, v=speed)
    b.add(ub.JointFriction("axle", mu, radius=radius, height=L, points=points), name="rub")
    return b


@both
def test_wheel_on_a_thrust_bearing_slows_down_evenly_and_stops_on_time(run):
    """ω = ω₀ − μ r m g t / I, at rest after I ω₀ / (μ r m g)."""
    slowing = MU * R * MASS * G / 0.03
    rec = run(wheel(speed=3.0), 1.0)
    moving = rec.t < 3.0 / slowing - 1e-2
    np.testing.assert_allclose(rec.v[moving, 0], 3.0 - slowing * rec.t[moving], rtol=1e-10)
    np.testing.assert_allclose(rec.v[rec.t > 3.0 / slowing + 1e-2], 0.0, atol=1e-13)
    rub = rec.joint_friction("rub")
    np.testing.assert_allclose(rub.effort[1:][moving[1:], 0], -MU * R * MASS * G, rtol=1e-10)
    np.testing.assert_allclose(rub.normal_forces, MASS * G / 8.0, rtol=1e-10)
    assert rub.sliding[1:5].all() and not rub.sliding[-5:].any()
    np.testing.assert_allclose(rec.energy.total, rec.energy.total[0] + rec.energy.damper_work, atol=1e-12)


@pytest.mark.parametrize("points", [4, 32])
def test_wheel_on_a_loaded_journal(points):
    """μ r F (2/n) Σ |cos(θ_k − φ)| at every step, with the angle at its beginning; 4/π μ r F for many points: even, and on time."""
    rec = run(wheel(speed=4.0, points=points, up=(1, 0, 0)), 0.6)
    theta = 2.0 * np.pi * np.arange(points) / points
    shape = 2.0 / points * np.abs(np.cos(theta + rec.q[:-1])).sum(axis=1)
    effort = rec.joint_friction("rub").effort[1:, 0]
    moving = rec.v[1:, 0] > 0.0
    np.testing.assert_allclose(effort[moving], -(MU * R * MASS * G * shape)[moving], rtol=1e-9)
    if points == 32:
        stop = 0.03 * 4.0 / (4.0 / np.pi * MU * R * MASS * G)
        assert moving[rec.t[1:] < 0.99 * stop - 1e-2].all() and not moving[rec.t[1:] > 1.01 * stop + 1e-2].any()


@both
def test_no_friction_is_no_element(run):
    """μ = 0: bit for bit the run without it."""
    def chain(rubbed):
        b = ub.Builder()
        upper, lower = (b.body(n, mass=1.0, inertia=(0.1, 0.2, 0.3)) for n in ("upper", "lower"))
        b.joint("hip", ub.Ball(), b.world, upper, X_BM=ub.Pose(p=(0, 0.1, 0.5)), v=(0.3, 1.0, -0.4))
        b.joint("knee", ub.Revolute(axis=(1, 1, 0)), upper, lower, ub.Pose(p=(0, 0, -0.5)), ub.Pose(p=(0, 0, 0.5)), q=0.4)
        if rubbed:
            b.add(ub.JointFriction("hip", 0.0, radius=R))
            b.add(ub.JointFriction("knee", 0.0, radius=R, height=L))
        return run(b, 0.5)

    plain, rubbed = chain(False), chain(True)
    np.testing.assert_array_equal(rubbed.q, plain.q)
    np.testing.assert_array_equal(rubbed.v, plain.v)
    np.testing.assert_array_equal(rubbed.reaction("knee")[1:], plain.reaction("knee")[1:])


def pendulum(angle, mu=MU, radius=0.1, arm=0.5, axis=(0, 1, 0)):
    b = ub.Builder()
    bob = b.body("bob", mass=MASS, inertia=(0.01, 0.01, 0.01))
    b.joint("pivot", ub.Revolute(axis=axis), b.world, bob, X_BM=ub.Pose(p=(0, 0, arm)), q=angle)
    b.add(ub.JointFriction("pivot", mu, radius=radius, height=L), name="rub")
    return b


def friction_angle(mu=MU, radius=0.1, arm=0.5):
    """arm sin θ = μ r (|cos θ| + |sin θ|): points turn with the bob, the weight does not."""
    return float(np.arctan(mu * radius / (arm - mu * radius)))


@both
@pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
def test_pendulum_within_the_friction_angle_stays(part, run):
    angle = part * friction_angle()
    rec = run(pendulum(angle), 1.0)
    np.testing.assert_allclose(rec.q, angle, atol=1e-12)
    rub = rec.joint_friction("rub")
    np.testing.assert_allclose(rub.effort[:, 0], MASS * G * 0.5 * np.sin(angle), rtol=1e-9, atol=1e-12)
    assert not rub.sliding.any()


@both
def test_pendulum_beyond_the_friction_angle_moves(run):
    rec = run(pendulum(1.01 * friction_angle()), 0.2)
    assert rec.q[-1, 0] < 1.01 * friction_angle() - 1e-5


def test_pendulum_comes_to_rest_within_the_friction_angle_for_good():
    rec = run(pendulum(0.5), 4.0)
    rest = rec.t > 3.5
    assert np.abs(rec.q[-1, 0]) <= friction_angle() + 1e-9
    np.testing.assert_allclose(rec.q[rest], rec.q[-1, 0], atol=1e-12)
    assert np.diff(rec.energy.total).max() < 1e-12


def slope(angle, mu, load=0.0):
    b = ub.Builder()
    block = b.body("block", mass=MASS, inertia=(0.01, 0.01, 0.01), com=(load, 0, 0))
    turned = ub.Pose.about((0, 1, 0), angle)
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, block, X_PF=turned)
    b.add(ub.JointFriction("slide", mu, width=0.04, height=0.1), name="rub")
    return b


@both
@pytest.mark.parametrize("mu", [0.1, 0.5, 0.9])
def test_slide_on_an_incline_sticks_below_its_friction_angle_and_slides_above(mu, run):
    """tan φ = μ; above it a = g (sin φ − μ cos φ)."""
    stuck = run(slope(np.arctan(mu) - 1e-6, mu), 10.0, dt=0.05)
    assert np.abs(stuck.q).max() < 1e-12
    angle = np.arctan(mu) + 0.1
    rec = run(slope(angle, mu), 0.3)
    np.testing.assert_allclose(rec.v[:, 0], G * (np.sin(angle) - mu * np.cos(angle)) * rec.t, rtol=1e-9)


@both
@pytest.mark.parametrize("roll", [0.0, 0.3, np.pi / 4])
def test_slide_on_a_crooked_rail_rubs_by_the_roll_of_its_box(roll, run):
    """A load N across the axis, at an angle φ from the first width, presses on two pairs of walls: μ N (|cos φ| + |sin φ|)."""
    angle, mu = np.radians(35.0), 0.4
    axis = np.array([0.6 * np.cos(angle), 0.8 * np.cos(angle), -np.sin(angle)])
    up = np.array([0.0, 0.0, 1.0]) - axis[2] * axis
    up /= np.linalg.norm(up)
    b = ub.Builder()
    block = b.body("block", mass=MASS, inertia=(0.01, 0.01, 0.01))
    b.joint("slide", ub.Prismatic(axis), b.world, block, v=1.0)
    direction = np.cos(roll) * up + np.sin(roll) * np.cross(axis, up) + 5.0 * axis  # what lies along the axis does not count
    b.add(ub.JointFriction("slide", mu, width=0.04, height=0.1, direction=direction), name="rub")
    rec = run(b, 0.02)
    normal = MASS * G * np.cos(angle)
    np.testing.assert_allclose(rec.joint_friction("rub").bound[1:], mu * normal * (np.cos(roll) + np.sin(roll)), rtol=1e-9)


@both
def test_slide_with_its_weight_off_the_axis_pinches(run):
    """Weight ahead of the slide loads its ends, one up and one down: more friction for the same weight."""
    even, high = (run(slope(0.6, 0.1, load), 0.2).v[-1, 0] for load in (0.0, 0.2))
    assert 0.1 * even < high < 0.99 * even


@both
def test_ball_turning_across_its_load_slows_down_as_a_hinge(run):
    """Load at the poles of an octahedron: μ r F about axes across it, and none about the load itself."""
    b = ub.Builder(gravity=(0, 0, -G))
    body = b.body("top", mass=MASS, inertia=(0.05, 0.05, 0.05))
    b.joint("pivot", ub.Ball(), b.world, body, v=(2.0, 0.0, 0.0))
    b.add(ub.JointFriction("pivot", MU, radius=R), name="rub")
    rec = run(b, 0.01, dt=1e-3)
    np.testing.assert_allclose(rec.joint_friction("rub").effort[1], [-MU * R * MASS * G, 0.0, 0.0], rtol=1e-9, atol=1e-12)
    assert rec.v[1, 0] == pytest.approx(2.0 - 1e-3 * MU * R * MASS * G / 0.05, rel=1e-9)
    b = ub.Builder(gravity=(0, 0, -G))
    body = b.body("top", mass=MASS, inertia=(0.05, 0.05, 0.05))
    b.joint("pivot", ub.Ball(), b.world, body, v=(0.0, 0.0, 2.0))
    b.add(ub.JointFriction("pivot", MU, radius=R), name="rub")
    np.testing.assert_allclose(run(b, 0.01, dt=1e-3).v[-1], [0.0, 0.0, 2.0], atol=1e-9)


@both
def test_ball_on_a_cube_of_points_has_pivot_friction(run):
    """√2 μ r F about the load: slows down evenly while it turns about it, and stops."""
    b = ub.Builder(gravity=(0, 0, -G))
    body = b.body("top", mass=MASS, inertia=(0.05, 0.05, 0.05))
    b.joint("pivot", ub.Ball(), b.world, body, v=(0.0, 0.0, 0.5))
    b.add(ub.JointFriction("pivot", MU, radius=R, points=8), name="rub")
    rec = run(b, 0.3)
    slowing = np.sqrt(2.0) * MU * R * MASS * G / 0.05
    moving = rec.t < 0.5 / slowing
    np.testing.assert_allclose(rec.v[moving, 2], 0.5 - slowing * rec.t[moving], rtol=1e-6)
    np.testing.assert_allclose(rec.v[rec.t > 0.5 / slowing + 1e-2], 0.0, atol=1e-7)


@both
def test_hanging_ball_pendulum_sticks_aside(run):
    """m g a sin θ below μ r m g: at most as much as its points can hold."""
    b = ub.Builder()
    bob = b.body("bob", mass=MASS, inertia=(0.01, 0.01, 0.01))
    turned = ub.Pose.about((1, 0, 0), 0.05)
    b.joint("pivot", ub.Ball(), b.world, bob, X_BM=ub.Pose(p=(0, 0, 0.5)), q=turned.wxyz)
    b.add(ub.JointFriction("pivot", 0.5, radius=0.1), name="rub")
    rec = run(b, 0.5)
    assert np.abs(rec.v).max() < 1e-9
    assert rec.joint_friction("rub").effort[-1, 0] == pytest.approx(MASS * G * 0.5 * np.sin(0.05), rel=1e-6)


def four_bar(mu):
    """A parallelogram that hangs, its loop closed by a hinge."""
    b = ub.Builder()
    crank, coupler, rocker = (b.body(n, mass=1.0, inertia=(0.01, 0.05, 0.05)) for n in ("crank", "coupler", "rocker"))
    hinge = ub.Revolute(axis=(0, 1, 0))
    b.joint("A", hinge, b.world, crank, ub.Pose(), ub.Pose(p=(0, 0, 0.2)), q=0.5)
    b.joint("B", hinge, crank, coupler, ub.Pose(p=(0, 0, -0.2)), ub.Pose(p=(-0.3, 0, 0)), q=-0.5)
    b.joint("C", hinge, coupler, rocker, ub.Pose(p=(0.3, 0, 0)), ub.Pose(p=(0, 0, -0.2)), q=0.5)
    b.joint("D", hinge, b.world, rocker, ub.Pose(p=(0.6, 0, 0)), ub.Pose(p=(0, 0, 0.2)), q=0.5)
    for name in "ABCD":
        b.add(ub.JointFriction(name, mu, radius=0.05, height=L), name=f"rub {name}")
    return b


@both
def test_loop_rubs_in_all_its_hinges_and_balances_its_energy(run):
    rec = run(four_bar(0.3), 0.3, dt=4e-3)
    assert np.diff(rec.energy.total).max() < 1e-9
    assert all(np.abs(rec.joint_friction(f"rub {name}").effort).max() > 0.01 for name in "ABCD")
    # Explicit inertial forces and the loop's projection err by h.
    lost = rec.energy.total[0] - rec.energy.total[-1]
    assert lost == pytest.approx(-rec.energy.damper_work[-1], rel=0.02)


@both
def test_loop_sticks_where_its_hinges_can_hold_it(run):
    rec = run(four_bar(5.0), 0.5)
    np.testing.assert_allclose(rec.v, 0.0, atol=1e-9)


def test_friction_never_exceeds_what_the_load_allows():
    """At every recorded step, in a tree with every kind."""
    b = ub.Builder()
    cart, arm, bob = (b.body(n, mass=1.0, inertia=(0.02, 0.03, 0.04)) for n in ("cart", "arm", "bob"))
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, cart, v=1.0)
    b.joint("elbow", ub.Revolute(axis=(1, 2, 3)), cart, arm, ub.Pose(p=(0, 0, -0.1)), ub.Pose(p=(0, 0, 0.3)), q=1.0)
    b.joint("wrist", ub.Ball(), arm, bob, ub.Pose(p=(0, 0, -0.3)), ub.Pose(p=(0, 0.1, 0.2)), v=(3.0, 2.0, 1.0))
    b.add(ub.JointFriction("slide", 0.2, width=0.05, height=0.1), name="slide rub")
    b.add(ub.JointFriction("elbow", 0.3, radius=0.03, height=L), name="elbow rub")
    b.add(ub.JointFriction("wrist", 0.4, radius=0.03, points=8), name="wrist rub")
    rec = run(b, 0.2, dt=1e-2)
    for name, mu in (("slide rub", 0.2), ("elbow rub", 0.3), ("wrist rub", 0.4)):
        rub = rec.joint_friction(name)
        pushed = np.linalg.norm(rub.friction, axis=2)
        assert (pushed <= mu * rub.normal_forces + 1e-6 * rub.normal_forces.max()).all()
        assert rub.sliding.any()
    assert (np.diff(rec.energy.damper_work) <= 1e-12).all()
    assert max(r.residual for r in rec.reports) <= 1e-7
    assert all(r.iterations >= 1 for r in rec.reports[1:])


@both
def test_hinge_at_its_stop_rubs_with_the_load_of_the_stop(run):
    """A limit holds the bob aside; friction and stop together keep it there, and nothing creeps."""
    b = pendulum(0.8)
    b.add(ub.JointLimit("pivot", lower=0.79))
    rec = run(b, 1.0)
    assert np.abs(rec.v[-20:]).max() < 1e-9 and rec.q[-1, 0] == pytest.approx(0.79, abs=1e-6)


@pytest.mark.parametrize("solver", ["articulated", "lagrange", "barrier"])
def test_solvers_that_find_no_reactions_refuse(solver):
    with pytest.raises(ub.Unsupported, match="'rub': JointFriction grows with the joint's reaction.*that can: redmax, complementarity"):
        ub.Simulation(wheel().build(), solver, dt=1e-2)


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_other_rules_refuse(rule):
    with pytest.raises(ub.Unsupported, match="rule 'linearly-implicit' only, not in"):
        ub.Simulation(wheel().build(), ub.solvers.RedMax(rule=rule), dt=1e-2)


def test_single_steps_and_checkpoints_go_on_as_a_run_does(tmp_path):
    whole = run(wheel(points=4, up=(1, 0, 0)), 0.1)
    sim = ub.Simulation(wheel(points=4, up=(1, 0, 0)).build(), "redmax", dt=1e-2)
    sim.run(0.05)
    again = ub.Simulation.load(sim.save(tmp_path / "half.npz"))
    for _ in range(5):
        again.step()
    np.testing.assert_array_equal(again.state.v, whole.v[-1])
    loaded = ub.Recording.load(whole.save(tmp_path / "run.npz"))
    np.testing.assert_array_equal(loaded.joint_friction("rub").effort, whole.joint_friction("rub").effort)


def test_recording_without_friction_says_so():
    b = ub.Builder()
    b.body("stone", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ub.ModelError, match="no such JointFriction; there are none"):
        run(b, 0.02).joint_friction("rub")


@pytest.mark.parametrize("linear", ["auto", "pcg", "direct", "plain"])
def test_ways_to_solve_agree_where_springs_couple_rubbing_links(linear):
    """Against the dense matrix; iterations end at 1e-7 of the velocity."""

    def swing(linear):
        b = ub.Builder()
        parent, X_PF, links = b.world, ub.Pose(), []
        for k in range(3):
            links.append(b.body(f"link{k}", mass=1.0, inertia=(0.01, 0.02, 0.02)))
            b.joint(f"joint{k}", ub.Revolute(axis=(0, 1, k)), parent, links[-1], X_PF, ub.Pose(p=(-0.2, 0, 0)))
            b.add(ub.JointFriction(f"joint{k}", 0.2, radius=R, height=L))
            parent, X_PF = links[-1], ub.Pose(p=(0.2, 0, 0))
        b.add(ub.SpringDamper(links[0].at(), links[2].at(), stiffness=1e4, damping=1.0))
        return run(b, 0.1, linear=linear)

    found, dense = swing(linear), swing("dense")
    np.testing.assert_allclose(found.v, dense.v, atol=1e-5 * np.abs(dense.v).max())


def test_scene_file_keeps_friction(tmp_path):
    from unibody.files import load_json, save_json

    model = wheel(points=6).build()
    path = tmp_path / "wheel.json"
    save_json(model, path)
    assert dict(load_json(path).model.forces)["rub"] == dict(model.forces)["rub"]


@both
def test_driven_hinge_pays_for_its_friction(run):
    """A PrescribedJoint's effort is what friction takes: μ r m g under thrust."""
    b = wheel(speed=2.0)
    b.add(ub.PrescribedJoint("axle", lambda t: 2.0 * t, rate=lambda t: 2.0, acceleration=lambda t: 0.0), name="drive")
    rec = run(b, 0.1)
    np.testing.assert_allclose(rec.multiplier("drive")[1:, 0], MU * R * MASS * G, rtol=1e-9)
    np.testing.assert_allclose(rec.v[:, 0], 2.0, rtol=1e-12)
