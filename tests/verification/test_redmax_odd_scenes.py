"""Scenes that contradict, repeat or degenerate: RedMax gives the right answer, names what cannot hold, or says in one line why not."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.algebra.qp import Infeasible, solve_bounded
from unibody.forces import Force
from unibody.solvers import RedMax
from unibody.spatial.pose import rotation_from_vector

H = 1e-2
G = 9.81
RULES = ["linearly-implicit", "implicit", "bdf2"]
MASS, LEVER = 2.0, 0.5


def run(model, duration, every=1, **options):
    return ub.Simulation(model, solver=RedMax(**options), dt=H).run(duration, every=every)


def pendulum(b=None, **start):
    """A level arm of 2 kg, its centre of mass half a metre out; q counts upwards. The builder and the body."""
    b = b or ub.Builder(gravity=(0, 0, -G))
    arm = b.body("arm", mass=MASS, com=(LEVER, 0, 0), inertia=(0.01, 0.1, 0.1))
    b.joint("hinge", ub.Revolute(axis=(0, -1, 0)), b.world, arm, **start)
    return b, arm


def bead(joint=None, gravity=0.0, q=(0, 0, 0), v=(0, 0, 0), mass=1.0):
    b = ub.Builder(gravity=(0, 0, -gravity))
    body = b.body("bead", mass=mass, inertia=(0.1, 0.1, 0.1))
    b.joint("slide", joint or ub.Translational(), b.world, body, q=q, v=v)
    return b, body


# Contradictions.


@pytest.mark.parametrize("rule", RULES)
def test_two_motions_of_one_joint_are_named_and_met_halfway(rule):
    b, _ = pendulum()
    b.add(ub.PrescribedJoint("hinge", 0.0), name="still")
    b.add(ub.PrescribedJoint("hinge", lambda t: 0.1 * t), name="turning")
    rec = run(b.build(), 0.1, rule=rule)
    assert any("contradict each other: still, turning" in note for note in rec.reports[-1].notes)
    # equal rows, least squares: the mean
    assert rec.q[-1, 0] == pytest.approx(0.005, rel=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_a_motion_through_a_stop_fails_where_they_meet_and_names_both(rule):
    b, _ = pendulum()
    b.add(ub.PrescribedJoint("hinge", lambda t: -0.5 * t), name="drive")
    b.add(ub.JointLimit("hinge", lower=-0.012), name="stop")
    sim = ub.Simulation(b.build(), solver=RedMax(rule=rule), dt=H)
    with pytest.raises(ub.StepFailed, match="'drive', 'stop' contradict each other; remove one") as failed:
        sim.run(0.1)
    # −0.5 t passes −0.012 in the third step: two are kept
    assert sim.state.t == pytest.approx(0.02)
    assert sim.state.q[0] == pytest.approx(-0.01, abs=1e-9)
    assert len(failed.value.recording) == 3
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize("rule", RULES)
def test_a_loop_that_cannot_close_stays_finite_and_is_reported(rule):
    b, arm = pendulum()
    b.add(ub.Distance(arm.at(1, 0, 0), b.world.at(3, 0, 0), length=0.5), name="rod")
    try:
        rec = run(b.build(), 0.3, rule=rule)
    except ub.StepFailed as failed:
        assert "rod" in str(failed) or "hinge" in str(failed)
        rec = failed.recording
    assert np.isfinite(rec.q).all() and np.isfinite(rec.v).all()
    # the nearest the arm can come: 2 m − 0.5 m
    assert min(report.violation for report in rec.reports) >= 1.5 - 1e-9


# Repetitions and singular positions.


@pytest.mark.parametrize("rule", RULES)
def test_a_four_bar_in_space_reports_its_three_redundant_rows(rule):
    """Four parallel hinges: 3 · 6 − 4 · 5 = −2 by counting, 1 in truth."""
    rec = run(ub.scenes.build("spatial-four-bar"), 0.2, rule=rule)
    assert rec.reports[-1].redundant == 3
    assert rec.reports[-1].redundant_names
    assert rec.violation.max() < 1e-6


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("linear", ["auto", "dense"])
def test_two_equal_rods_share_the_load(rule, linear):
    b, arm = pendulum()
    for name in ("left", "right"):
        b.add(ub.Distance(arm.at(LEVER, 0, 0), b.world.at(LEVER, 0, 1)), name=name)
    rec = run(b.build(), 0.2, rule=rule, linear=linear)
    assert set(rec.reports[-1].redundant_names) == {"left", "right"}
    for name in ("left", "right"):
        assert rec.multiplier(name)[-1, 0] == pytest.approx(-0.5 * MASS * G, rel=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_a_four_bar_at_dead_centre_stays_finite_and_closed(rule):
    """A parallelogram folded onto one line, the rocker turned back: all rows across it are one."""
    b = ub.Builder(gravity=(0, 0, 0))
    parent, X_PF = b.world, ub.Pose()
    for i, (length, q, rate) in enumerate(((1.0, 0.0, 1.0), (2.0, 0.0, -1.0), (1.0, np.pi, 1.0))):
        link = b.body(f"link{i}", mass=1.0, inertia=(0.01, 0.1, 0.1))
        b.joint(f"joint{i}", ub.Revolute(axis=(0, -1, 0)), parent, link, X_PF, ub.Pose(p=(-0.5 * length, 0, 0)), q=q, v=rate)
        parent, X_PF = link, ub.Pose(p=(0.5 * length, 0, 0))
    b.joint("closing", ub.Revolute(axis=(0, -1, 0)), b.world, parent, ub.Pose(p=(2.0, 0, 0)), X_PF, q=np.pi)
    rec = run(b.build(), 0.3, rule=rule)
    assert "closing" in rec.reports[0].redundant_names
    assert np.isfinite(rec.q).all()
    assert rec.violation.max() < 1e-6


# Springs without length, within a body, to bodies that are moved.


@pytest.mark.parametrize("rule", ["linearly-implicit", "implicit"])
@pytest.mark.parametrize(("rest", "x", "v"), [(0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.5, 0.0, 1.0), (0.5, 0.5, -1.0)])
def test_a_stiff_spring_that_starts_without_length_comes_to_rest(rule, rest, x, v):
    b, body = bead(q=(x, 0, 0), v=(v, 0, 0))
    b.add(ub.SpringDamper(body.at(), b.world.at(), stiffness=1e6, rest_length=rest))
    rec = run(b.build(), 1.0, rule=rule)
    # h² k / m = 100: a vibration loses a factor of 100 in energy in a step. Without length and speed there is no direction to move in.
    still = x == 0.0 and v == 0.0
    assert np.abs(rec.q[-1]) == pytest.approx([0.0 if still else rest, 0, 0], abs=1e-9)
    assert np.diff(rec.energy.total).max() <= 1e-9 * max(1.0, rec.energy.total[0])


@pytest.mark.parametrize("stiffness", [1.0, 1e6, 1e12])
def test_a_spring_of_no_rest_length_passes_through_its_end(stiffness):
    """Its force −k x is linear, so a step is exactly x⁺ = x + h v⁺, (m + h² k) v⁺ = m v − h k x: also across zero."""
    b, body = bead(q=(0.005, 0, 0), v=(-1.0, 0, 0))
    b.add(ub.SpringDamper(body.at(), b.world.at(), stiffness=stiffness, rest_length=0.0))
    rec = run(b.build(), 0.05)
    x, v = 0.005, -1.0
    for k in range(1, len(rec)):
        v = (v - H * stiffness * x) / (1.0 + H * H * stiffness)
        x = x + H * v
        assert rec.q[k, 0] == pytest.approx(x, rel=1e-6, abs=2e-12)


def test_a_spring_of_no_rest_length_comes_to_rest_under_implicit_steps():
    b, body = bead(v=(1, 0, 0))
    b.add(ub.SpringDamper(body.at(), b.world.at(), stiffness=1e6, rest_length=0.0))
    assert np.abs(run(b.build(), 0.5, rule="implicit").q[-1]).max() < 1e-9


def test_a_spring_within_one_body_does_nothing():
    with_spring, body = bead(gravity=G)
    with_spring.add(ub.SpringDamper(body.at(1, 0, 0), body.at(0, 1, 0), stiffness=1e12, damping=1e9, rest_length=0.1))
    without, _ = bead(gravity=G)
    a, c = run(with_spring.build(), 0.2), run(without.build(), 0.2)
    assert np.abs(a.q - c.q).max() <= 1e-9


@pytest.mark.parametrize("kind", ["static", "kinematic"])
def test_a_spring_to_a_body_that_is_moved_follows_it(kind):
    b = ub.Builder(gravity=(0, 0, 0))
    motion = {"motion": lambda t: ub.Pose(p=(0.5 * t, 0, 0))} if kind == "kinematic" else {}
    hook = b.body("hook", mass=1.0, inertia=(1, 1, 1), kind=kind, **motion)
    bob = b.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("slide", ub.Translational(), b.world, bob, q=(1, 0, 0))
    b.add(ub.SpringDamper(hook.at(), bob.at(), stiffness=1e8), name="spring")
    rec = run(b.build(), 1.0)
    assert np.isfinite(rec.q).all()
    moved = 0.5 if kind == "kinematic" else 0.0
    # the hook's speed is not in the linearised force: the mass trails by one step of it
    assert rec.q[-1, 0] == pytest.approx(1.0 + moved, abs=0.5 * H + 1e-6)


@pytest.mark.parametrize("stiffness", [0.0, 1e8])
@pytest.mark.parametrize("heavy", ["first", "last"])
@pytest.mark.parametrize("linear", ["auto", "direct", "pcg", "dense"])
def test_masses_may_differ_by_a_factor_of_1e9(linear, heavy, stiffness):
    """A double pendulum that hangs at rest stays there, and its hinge carries both."""
    masses = (1e6, 1e-3) if heavy == "first" else (1e-3, 1e6)
    b = ub.Builder(gravity=(0, 0, -G))
    parent, X_PF, links = b.world, ub.Pose(), []
    for i, m in enumerate(masses):
        link = b.body(f"link{i}", mass=m, inertia=(0.1 * m, 0.1 * m, 0.1 * m))
        b.joint(f"joint{i}", ub.Revolute(axis=(0, 1, 0)), parent, link, X_PF, ub.Pose(p=(0, 0, 0.5)))
        parent, X_PF, links = link, ub.Pose(p=(0, 0, -0.5)), [*links, link]
    if stiffness:
        b.add(ub.SpringDamper(links[0].at(0.2, 0, 0), links[1].at(0.2, 0, 0), stiffness=stiffness), name="spring")
    rec = run(b.build(), 0.2, linear=linear)
    assert np.abs(rec.q).max() < 1e-9
    assert rec.reaction("joint0")[-1, 5] == pytest.approx(sum(masses) * G, rel=1e-6)
    assert rec.reaction("joint1")[-1, 5] == pytest.approx(masses[1] * G, rel=1e-6)


# Stops.


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("linear", ["auto", "dense", "pcg", "direct"])
def test_a_pendulum_rests_on_its_stop_with_the_static_reaction(rule, linear):
    b, _ = pendulum(q=-0.3)
    b.add(ub.JointLimit("hinge", lower=-0.4), name="stop")
    rec = run(b.build(), 0.5, rule=rule, linear=linear)
    assert rec.q[-1, 0] == pytest.approx(-0.4, abs=1e-6)
    # The stop's effort is what gravity asks for, m g l cos q of a level arm's q.
    assert rec.multiplier("stop")[-1, 0] == pytest.approx(MASS * G * LEVER * np.cos(0.4), rel=1e-5)
    assert rec.q[:, 0].min() >= -0.4 - 1e-6


def test_limits_hold_joints_of_every_kind():
    down = ub.Pose(p=(0.1, 0.05, -0.5))
    cases: list[tuple[Any, dict]] = [
        (ub.Prismatic(axis=(0, 0, 1)), {"lower": -0.1}),
        (ub.Universal(), {"lower": (-0.1, -0.1), "upper": (0.1, 0.1)}),
        (ub.Ball(), {"upper": 0.1}),
        (ub.Ball(), {"twist": (-0.1, 0.1), "axis": (0, 1, 0)}),
        (ub.Free(), {"lower": (-0.1, -0.1, -0.1), "upper": 0.1, "angle": 0.1}),
        (ub.Planar(), {"lower": (-0.1, -0.1, -0.1), "upper": 0.05}),
        (ub.Screw(axis=(0, 0, 1), pitch=0.3), {"lower": -0.1}),
        (ub.Translational(), {"lower": (-0.1, -0.1, -0.1)}),
        (ub.Composite(ub.Prismatic(axis=(0, 0, 1)), ub.Ball()), {"lower": -0.1, "angle": 0.1}),
        (ub.Composite(ub.Weld(), ub.Free()), {"lower": -0.1, "angle": 0.1}),
        (ub.Composite(ub.Prismatic(axis=(0, 0, 1)), ub.Revolute(axis=(0, 1, 0))), {"lower": -0.1, "dof": 0}),
    ]
    for joint, limit in cases:
        b = ub.Builder(gravity=(0, 0, -G))
        body = b.body("body", mass=1.0, com=down.p, inertia=(0.05, 0.05, 0.05))
        lying = ub.Pose((0, 0, 0), (np.sqrt(0.5), 0, np.sqrt(0.5), 0)) if isinstance(joint, ub.Planar) else ub.Pose()  # F's x downwards
        b.joint("joint", joint, b.world, body, X_PF=lying, damping=1.0)
        b.add(ub.JointLimit("joint", **limit), name="stop")
        rec = run(b.build(), 1.0, every=10)
        # C is what is left of the way, rows by rows; the violation is its negative part
        assert rec.violation.max() < 1e-6, joint
        assert rec.multiplier("stop").min() >= -1e-9, joint
        if not isinstance(joint, ub.Universal):
            assert rec.multiplier("stop")[-1].max() > 0.1, joint


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("spin", [(0, 0, 0), (0.5, -0.3, 2.0)], ids=["falling", "turning"])
def test_a_free_body_rests_on_the_floor_of_its_limit_with_its_weight(rule, spin):
    """The limit holds the origin of M, here the centre of mass: the body may go on turning, and the reaction is m g along F's z."""
    b = ub.Builder(gravity=(0, 0, -G))
    b.body("box", mass=3.0, inertia=(0.2, 0.2, 0.2), X_WB=ub.Pose((0.3, -0.2, 0.1), (0.9, 0.1, -0.3, 0.2)), V_WB=(*spin, 0, 0, 0))
    b.add(ub.JointLimit("box", lower=(-np.inf, -np.inf, 0.05)), name="floor")
    rec = run(b.build(), 0.4, rule=rule)
    assert rec.pose("box")[:, 2].min() >= 0.05 - 1e-6
    assert rec.pose("box")[-1, 2] == pytest.approx(0.05, abs=1e-6)
    assert rec.multiplier("floor")[-1, 0] == pytest.approx(3.0 * G, rel=1e-5)
    # the twist is in axes that turn by ω h in a step, which is the error of a rule of the first order
    np.testing.assert_allclose(rec.pose("box")[-1, :2], (0.3, -0.2), atol=1e-9 if not any(spin) else 2.0 * H * 0.4)


@pytest.mark.parametrize("rule", RULES)
def test_a_free_body_that_tilts_rests_in_its_cone(rule):
    """On a post (all displacements held to 0) with the centre of mass above: it tips until its cone takes m g l sin φ."""
    b = ub.Builder(gravity=(0, 0, -G))
    top = b.body("top", mass=2.0, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.02))
    b.joint("base", ub.Free(), b.world, top, q=(0, 0, 0, np.cos(0.1), np.sin(0.1), 0, 0), damping=0.5,
            limits={"lower": 0.0, "upper": 0.0, "angle": 0.4})  # fmt: skip
    rec = run(b.build(), 1.5, rule=rule)
    assert rec.violation.max() < 1e-6
    assert rec.multiplier("base.limit")[-1, -1] == pytest.approx(2.0 * G * 0.5 * np.sin(0.4), rel=1e-3)
    # of the six bounds of the displacement those along z carry the weight
    assert rec.multiplier("base.limit")[-1, 4] - rec.multiplier("base.limit")[-1, 5] == pytest.approx(2.0 * G, rel=1e-3)


@pytest.mark.parametrize("rule", RULES)
def test_a_wheel_on_a_ball_rests_at_the_end_of_its_twist(rule):
    """A weight at the rim, about a level axis: the range of the turn takes its moment."""
    b = ub.Builder(gravity=(0, 0, -G))
    wheel = b.body("wheel", mass=2.0, com=(0.3, 0, 0), inertia=(0.03, 0.05, 0.03))
    b.joint("hub", ub.Ball(), b.world, wheel, damping=1.0, limits={"axis": (0, 1, 0), "twist": (-0.5, 0.5)})
    rec = run(b.build(), 1.5, rule=rule)
    assert rec.violation.max() < 1e-6
    assert rec.multiplier("hub.limit")[-1].max() == pytest.approx(2.0 * G * 0.3 * np.cos(0.5), rel=1e-3)


@pytest.mark.parametrize("rule", RULES)
def test_a_start_outside_its_limits_comes_back_without_a_kick(rule):
    """Within some stabilisation times τ = 10 h: C decays as e^(−t/τ) or faster, so no faster than C₀ / τ."""
    b, _ = pendulum(b=ub.Builder(gravity=(0, 0, 0)), q=-0.5)
    b.add(ub.JointLimit("hinge", lower=-0.4), name="stop")
    rec = run(b.build(), 1.0, rule=rule)
    assert rec.q[-1, 0] >= -0.4 - 1e-4
    inertia = 0.1 + MASS * LEVER**2
    assert rec.energy.kinetic.max() <= 0.5 * inertia * (0.1 / (10 * H)) ** 2 * (1.0 + 1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_a_box_on_four_points_stands_with_a_quarter_of_its_weight_on_each(rule):
    b = ub.Builder(gravity=(0, 0, -G))
    box = b.body("box", shape=ub.Box((1.0, 0.6, 0.4)), mass=4.0, X_WB=ub.Pose(p=(0, 0, 0.25)))
    for k, (x, y) in enumerate(product((-0.5, 0.5), (-0.3, 0.3))):
        b.add(ub.PointPlane(box.at(x, y, -0.2)), name=f"foot{k}")
    rec = run(b.build(), 0.5, rule=rule)
    assert rec.pose("box")[-1, 2] == pytest.approx(0.2, abs=1e-6)
    # four points, three needed: the multipliers of least norm are equal
    for k in range(4):
        assert rec.multiplier(f"foot{k}")[-1, 0] == pytest.approx(G, rel=1e-4)


def test_a_loop_on_a_stop_is_closed_and_stopped():
    """A rocker of two equal rods between hinges at the same height carries a bar; its stop takes what the three weigh along q."""
    b = ub.Builder(gravity=(0, 0, -G))
    rods = [b.body(n, mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1)) for n in ("left", "right")]
    bar = b.body("bar", mass=1.0, inertia=(0.01, 0.1, 0.1))
    axis = (0, -1, 0)
    b.joint("a", ub.Revolute(axis=axis), b.world, rods[0], q=0.5)
    b.joint("b", ub.Revolute(axis=axis), b.world, rods[1], ub.Pose(p=(2, 0, 0)), q=0.5)
    b.joint("c", ub.Revolute(axis=axis), rods[0], bar, ub.Pose(p=(1, 0, 0)), ub.Pose(p=(-1, 0, 0)), q=-0.5)
    b.joint("d", ub.Revolute(axis=axis), rods[1], bar, ub.Pose(p=(1, 0, 0)), ub.Pose(p=(1, 0, 0)))
    b.add(ub.JointLimit("a", lower=0.3), name="stop")
    rec = run(b.build(), 0.5)
    assert rec.violation.max() < 1e-6
    assert rec.joint("a")[-1, 0] == pytest.approx(0.3, abs=1e-6)
    # virtual work: each rod's middle falls by ½ cos q, the bar by cos q
    assert rec.multiplier("stop")[-1, 0] == pytest.approx((0.5 + 0.5 + 1.0) * G * np.cos(0.3), rel=1e-4)


# Quadratic programs.


def brute(A, b, bounded):
    """The best ½ xᵀ A x − bᵀ x over all choices of what is held at zero; None without a minimum."""
    best = None
    for choice in product([False, True], repeat=int(bounded.sum())):
        held = ~bounded
        held[bounded] = choice
        x = np.zeros(b.size)
        x[held] = np.linalg.lstsq(A[np.ix_(held, held)], b[held], rcond=1e-10)[0]
        rest = A @ x - b
        if (x[bounded] >= -1e-9).all() and np.abs(rest[held]).max(initial=0.0) < 1e-8 and (rest[~held] >= -1e-8).all():
            value = 0.5 * x @ A @ x - b @ x
            best = value if best is None else min(best, value)
    return best


@pytest.mark.parametrize("seed", range(60))
def test_bounded_problems_are_solved_as_by_trying_all_active_sets(seed):
    rng = np.random.default_rng(seed)
    n = 1 + seed % 6
    # every third has fewer columns than rows, so that A is singular; b in its range keeps it solvable
    root = rng.normal(size=(n, max(1, n - 1) if seed % 3 == 0 and n > 1 else n + 1))
    A = root @ root.T
    b = root @ rng.normal(size=root.shape[1]) if seed % 3 == 0 else rng.normal(size=n)
    bounded = rng.random(n) < 0.7

    def solve(held):
        x = np.zeros(n)
        x[held] = np.linalg.lstsq(A[np.ix_(held, held)], b[held], rcond=1e-10)[0]
        return x

    x, _ = solve_bounded(A, b, bounded, solve)
    expected = brute(A, b, bounded)
    assert expected is not None
    assert (x[bounded] >= -1e-8).all()
    # the value is flat at the minimum: what SLACK leaves is squared, round-off is of the terms
    assert 0.5 * x @ A @ x - b @ x == pytest.approx(expected, abs=1e-7 * (1 + abs(expected)))


@pytest.mark.parametrize("bounded", [(False, False), (True, False), (True, True)])
def test_bounded_problems_without_a_minimum_are_refused(bounded):
    """A = ((1, −1), (−1, 1)) and b = (1, 1): along x₁ = x₂ the value falls for ever."""
    A, b = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.ones(2)

    def solve(held):
        x = np.zeros(2)
        x[held] = np.linalg.lstsq(A[np.ix_(held, held)], b[held], rcond=1e-10)[0]
        return x

    with pytest.raises(Infeasible):
        solve_bounded(A, b, np.array(bounded), solve)


# Planes and elements of one's own.


@pytest.mark.parametrize("rule", RULES)
def test_a_planar_world_moves_as_the_same_in_space(rule):
    runs = [run(ub.scenes.build("stiff-chain", n=4, stiffness=1e6, planar=planar), 0.3, rule=rule) for planar in (True, False)]
    # the same equations, the rest is round-off times the condition h² k / m
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-8
    assert runs[0].energy.total[-1] == pytest.approx(runs[1].energy.total[-1], rel=1e-8)


@dataclass(frozen=True)
class Tether(Force):
    """f = −k x on a body's origin, NumPy only, with its derivative."""

    body: str
    stiffness: float

    def bodies(self):
        return [self.body]

    def apply(self, kinematics, loads):
        loads.add_force_at(kinematics, self.body, (0.0, 0.0, 0.0), -self.stiffness * kinematics.pose(self.body)[1])

    def stiffness_blocks(self, kinematics):
        block = np.zeros((6, 6))
        block[3:, 3:] = -self.stiffness * np.eye(3)
        return {(self.body, self.body): block}


@dataclass(frozen=True)
class Geared(ub.Joint):
    """A hinge about −y that turns twice as far as its coordinate, NumPy only."""

    nq = 1
    nv = 1

    def pose(self, q):
        return rotation_from_vector((0.0, -2.0 * q[0], 0.0)), np.zeros(3)

    def motion(self, q):
        return np.array([[0.0, -2.0, 0.0, 0.0, 0.0, 0.0]]).T

    def bias(self, q, v):
        return np.zeros(6)


@pytest.mark.parametrize("rule", ["linearly-implicit", "implicit"])
def test_a_stiff_force_of_ones_own_is_implicit(rule):
    b, _ = bead(q=(1, 0, 0), v=(0, 2, 0))
    b.add(Tether("bead", 1e6), name="tether")
    rec = run(b.build(), 0.1, rule=rule)
    x, v = np.array([1.0, 0, 0]), np.array([0, 2.0, 0])
    for k in range(1, len(rec)):
        v = (v - H * 1e6 * x) / (1 + H * H * 1e6)
        x = x + H * v
        assert rec.q[k] == pytest.approx(x, rel=1e-6, abs=1e-9)
    assert any("Tether" in note for note in rec.reports[-1].notes)


@pytest.mark.parametrize("rule", RULES)
def test_a_joint_of_ones_own_falls_as_the_hinge_it_is(rule):
    b = ub.Builder(gravity=(0, 0, -G))
    arm = b.body("arm", mass=MASS, com=(LEVER, 0, 0), inertia=(0.01, 0.1, 0.1))
    b.joint("hinge", Geared(), b.world, arm)
    plain, _ = pendulum()
    own, hinge = run(b.build(), 0.3, rule=rule), run(plain.build(), 0.3, rule=rule)
    assert 2.0 * own.q == pytest.approx(hinge.q, abs=1e-9)


# Failures.


@dataclass(frozen=True)
class Breaks(Force):
    """Raises once its body is lower than −0.05."""

    body: str

    def bodies(self):
        return [self.body]

    def apply(self, kinematics, loads):
        if kinematics.pose(self.body)[1][2] < -0.05:
            raise RuntimeError("the thread is torn")


@pytest.mark.parametrize("rule", RULES)
def test_a_failed_step_loses_nothing_and_names_the_element(rule):
    b, _ = bead(gravity=G)
    b.add(Breaks("bead"), name="thread")
    sim = ub.Simulation(b.build(), solver=RedMax(rule=rule), dt=H)
    with pytest.raises(ub.StepFailed, match="near 'thread': RuntimeError: the thread is torn") as failed:
        sim.run(1.0)
    kept = failed.value.recording
    assert np.array_equal(kept.q[-1], sim.state.q)
    assert kept.t[-1] == sim.state.t
    assert np.isfinite(sim.state.q).all()
    before = sim.state.q.copy()
    with pytest.raises(ub.StepFailed):
        sim.step()
    assert np.array_equal(before, sim.state.q)
