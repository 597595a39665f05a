"""Penalty against closed forms: how far it gives way, how it settles, where it becomes unstable, and what it conserves."""

from __future__ import annotations

import numpy as np
import pytest
from running import momenta

import unibody as ub
from unibody.solvers import Lagrange, Penalty
from unibody.solvers.penalty.solver import RULES

G = 9.81
rules = pytest.mark.parametrize("rule", RULES)


def welded(mass: float = 2.0, gravity: float = G, v: float = 0.0, planar: bool = False) -> ub.Model:
    """One body, held by nothing but rows."""
    b = ub.Builder(gravity=(0, 0, -gravity), planar=planar)
    block = b.body("block", mass=mass, inertia=(1.0, 1.0, 1.0), V_WB=(0, 0, 0, 0, 0, v))
    b.add(ub.FixedPoint(block.at(), (0, 0, 0)), name="pin")
    return b.build()


def heights(model: ub.Model, solver: Penalty, dt: float, length: float, every: int = 1) -> ub.Recording:
    return ub.Simulation(model, solver, dt=dt, assemble=False).run(length, every=every)


@rules
@pytest.mark.parametrize("omega", [50.0, 100.0, 200.0])
def test_a_row_gives_way_by_its_load_over_alpha_omega_squared(rule: str, omega: float) -> None:
    rec = heights(welded(2.0), Penalty(rule=rule, alpha=3.0, omega=omega), 4e-3, 0.8, 200)
    assert rec.pose("block")[-1, 2] == pytest.approx(-2.0 * G / (3.0 * omega**2), rel=1e-6)
    assert rec.violation[-1] == pytest.approx(2.0 * G / (3.0 * omega**2), rel=1e-6)
    assert rec.multiplier("pin")[-1] == pytest.approx([0, 0, 2.0 * G], abs=1e-5)
    assert rec.energy.springs[-1] == pytest.approx(0.5 * (2.0 * G) ** 2 / (3.0 * omega**2), rel=1e-6)


@rules
@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 2.0])
def test_it_settles_as_a_damped_oscillator_at_first_order(rule: str, mu: float) -> None:
    """(m + α) C̈ + 2 α Ω μ Ċ + α Ω² C = −m g, from rest."""
    m, alpha, omega, length = 2.0, 3.0, 20.0, 0.2
    s = alpha / (m + alpha)
    A = np.array([[0.0, 1.0], [-s * omega**2, -2.0 * s * omega * mu]])
    rest = np.array([-m * G / (alpha * omega**2), 0.0])
    from scipy.linalg import expm

    exact = [(rest - expm(A * t) @ rest)[0] for t in np.linspace(0.0, length, 21)]
    errors = []
    for steps in (100, 200):
        rec = heights(welded(m), Penalty(rule=rule, alpha=alpha, omega=omega, mu=mu), length / steps, length, steps // 20)
        errors.append(np.abs(rec.pose("block")[:, 2] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.12) and errors[1] < 0.06 * abs(rest[0])


def tree(closed: bool) -> ub.Model:
    """Joints of several kinds, and a distance that closes a loop."""
    rng = np.random.default_rng(4)
    b = ub.Builder()
    parent = b.world
    for k, joint in enumerate((ub.Ball(), ub.Revolute((0, 1, 0.3)), ub.Universal(), ub.Prismatic((1, 0, 0)))):
        body = b.body(f"body{k}", mass=1.0 + k, com=(0.1, 0, 0.05), inertia=(0.1, 0.2, 0.15))
        at = {"X_PF": ub.Pose((0.3, 0, 0.1)), "X_BM": ub.Pose((-0.3, 0, 0))}
        b.joint(f"joint{k}", joint, parent=parent, child=body, v=rng.standard_normal(joint.nv), armature=0.1 * (k % 2), **at)
        parent = body
    if closed:
        b.add(ub.Distance(parent.at(), b.world.at()))
    return b.build()


@pytest.mark.parametrize("closed", [False, True])
def test_accelerations_tend_to_those_of_multipliers_as_alpha_grows(closed: bool) -> None:
    model = tree(closed)
    state = ub.Simulation(model, "lagrange").state
    exact = Lagrange().bind(model).accelerations(state)
    errors = [np.abs(Penalty(ratio=r).bind(model).accelerations(state) - exact).max() / np.abs(exact).max() for r in (1e3, 1e5, 1e7)]
    assert errors[0] / errors[1] == pytest.approx(100.0, rel=0.1) and errors[1] / errors[2] == pytest.approx(100.0, rel=0.1)
    assert errors[2] < 1e-5


@rules
def test_a_knife_edge_stops_sideways_motion_at_its_rate(rule: str) -> None:
    """(m + α) u̇ = −α ν u."""
    m, alpha, rate, length = 2.0, 3.0, 8.0, 0.3
    b = ub.Builder(gravity=None)
    sledge = b.body("sledge", mass=m, inertia=(1, 1, 1), V_WB=(0, 0, 0, 0.5, 1.0, 0))
    b.add(ub.KnifeEdge(sledge.at(), (0, 1, 0)))
    model = b.build()
    exact = np.exp(-rate * alpha / (m + alpha) * length)
    errors = [abs(heights(model, Penalty(rule=rule, alpha=alpha, rate=rate), length / n, length, n).v[-1, 4] - exact) for n in (100, 200)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.05) and errors[1] < 5e-3


@rules
def test_a_turning_sledge_goes_in_a_circle(rule: str) -> None:
    """Radius v/ω, and the side force m v ω."""
    m, speed, turn = 2.0, 1.0, 2.0
    b = ub.Builder(gravity=None)
    sledge = b.body("sledge", mass=m, inertia=(1, 1, 1), V_WB=(0, 0, turn, speed, 0, 0))
    b.add(ub.KnifeEdge(sledge.at(), (0, 1, 0)), name="edge")
    rec = heights(b.build(), Penalty(rule=rule), 2e-3, 1.0, 50)
    centre = np.array([0, speed / turn, 0])
    assert np.abs(np.linalg.norm(rec.pose("sledge")[:, :3] - centre, axis=1) - speed / turn).max() < 4e-3
    assert rec.multiplier("edge")[5:] == pytest.approx(m * speed * turn, rel=1e-2)


@rules
def test_a_ball_rolls_down_a_slope(rule: str) -> None:
    """5/7 g sin θ, with the friction 2/7 m g sin θ."""
    m, theta = 3.0, 0.3
    b = ub.Builder(gravity=(G * np.sin(theta), 0, -G * np.cos(theta)))
    ball = b.body("ball", shape=ub.Sphere(0.2), mass=m, X_WB=ub.Pose((0, 0, 0.2)))
    b.add(ub.Rolling(ball.at(), 0.2), name="roll")
    b.add(ub.PointPlane(ball.at(), (0, 0, 0.2)), name="plane")
    rec = heights(b.build(), Penalty(rule=rule), 2e-3, 0.5, 250)
    assert rec.pose("ball")[-1, 0] == pytest.approx(0.5 * 5 / 7 * G * np.sin(theta) * 0.25, rel=1e-2)
    assert np.linalg.norm(rec.multiplier("roll")[-1]) == pytest.approx(2 / 7 * m * G * np.sin(theta), rel=5e-3)
    assert rec.multiplier("plane")[-1] == pytest.approx(m * G * np.cos(theta), rel=1e-3)


def chain_of_welds() -> ub.Model:
    b = ub.Builder(gravity=None)
    parent = b.world
    for k, mass in enumerate((1.0, 4.0, 0.3)):
        body = b.body(f"body{k}", mass=mass, com=(0.02, 0.1, 0), inertia=(0.1, 0.2, 0.15))
        b.joint(f"weld{k}", ub.Weld(), parent=parent, child=body, X_PF=ub.Pose((0, 0, -0.5)))
        parent = body
    b.add(ub.FixedPoint(parent.at(), (0, 0, -1.5)))
    return b.build()


@pytest.mark.parametrize("mu", [0.0, 0.2, 1.5])
@pytest.mark.parametrize("alpha", [0.5, None])
def test_the_largest_stable_step_is_where_growth_begins(mu: float, alpha: float | None) -> None:
    """Rows of every kind, three parts in a hundred below and above."""
    solver, model = Penalty(rule="semi-implicit", alpha=alpha, omega=40.0, mu=mu), chain_of_welds()
    limit = solver.bind(model).largest_dt()
    assert alpha is not None or limit == pytest.approx(2.0 * (np.sqrt(1.0 + mu**2) - mu) / 40.0, rel=2e-3)
    rest = ub.Simulation(model, solver).state
    start = ub.State(0.0, rest.q, 1e-9 * np.random.default_rng(0).standard_normal(rest.v.size), "maximal")
    for factor, stable in ((0.97, True), (1.03, False)):
        sim = ub.Simulation(model, solver, dt=factor * limit, state=start)
        sim.step()
        assert "largest stable dt" in sim.report.notes[-1] and ("exceeds" in sim.report.notes[-1]) == (not stable)
        assert largest_growth(sim, 400) < 20.0 if stable else largest_growth(sim, 400) == np.inf


def largest_growth(sim: ub.Simulation, steps: int) -> float:
    """By which factor velocities exceed those of the start; infinite where a step fails since nothing explains its energy."""
    start, largest = np.abs(sim.state.v).max(), 0.0
    try:
        for _ in range(0, steps, 20):
            sim.run(20 * sim.dt, every=20)
            largest = max(largest, float(np.abs(sim.state.v).max() / start))
    except ub.StepFailed as failed:
        assert failed.report.status == "unexplained energy"
        return np.inf
    return largest


def test_a_nonholonomic_row_has_its_own_largest_step() -> None:
    """(m + α) u̇ = −α ν u is stable for h ν α/(m + α) < 2."""
    b = ub.Builder(gravity=None)
    sledge = b.body("sledge", mass=2.0, inertia=(1, 1, 1), V_WB=(0, 0, 0, 0, 1e-3, 0))
    b.add(ub.KnifeEdge(sledge.at(), (0, 1, 0)))
    model, solver = b.build(), Penalty(rule="semi-implicit", alpha=3.0, rate=50.0)
    limit = solver.bind(model).largest_dt()
    assert limit == pytest.approx(2.0 / 50.0 * 5.0 / 3.0)
    assert np.abs(heights(model, solver, 0.99 * limit, 500 * 0.99 * limit, 500).v[-1]).max() < 1e-6
    assert largest_growth(ub.Simulation(model, solver, dt=1.01 * limit, assemble=False), 500) == np.inf


def test_the_implicit_rule_is_stable_and_loses_energy_at_any_step() -> None:
    """Without damping, Ω h = 50: ½ (m + α) Ċ² + ½ α Ω² C² falls at every step."""
    m, alpha, omega = 2.0, 3.0, 5e3
    rec = heights(welded(m, gravity=0.0, v=1.0), Penalty(alpha=alpha, omega=omega, mu=0.0), 1e-2, 0.5)
    energy = 0.5 * (m + alpha) * rec.v[:, 5] ** 2 + 0.5 * alpha * omega**2 * rec.pose("block")[:, 2] ** 2
    assert (np.diff(energy) <= 1e-15).all() and energy[-1] < 1e-6 * energy[0]


@rules
def test_free_systems_keep_their_momentum(rule: str) -> None:
    """Linear and angular, although the joints begin violated and give way."""
    rng = np.random.default_rng(1)
    b = ub.Builder(gravity=None)
    parent = b.body("body0", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.15), V_WB=rng.standard_normal(6))
    for k, joint in enumerate((ub.Ball(), ub.Revolute((0, 1, 0.3)), ub.Universal(), ub.Prismatic((1, 0, 0)))):
        body = b.body(f"body{k + 1}", mass=1.0 + k, inertia=(0.1, 0.2, 0.15))
        at = {"X_PF": ub.Pose((0.3, 0, 0.1)), "X_BM": ub.Pose((-0.3, 0, 0))}
        b.joint(f"joint{k}", joint, parent=parent, child=body, v=rng.standard_normal(joint.nv), **at)
        parent = body
    rec = heights(b.build(), Penalty(rule=rule, ratio=5.0, omega=30.0), 2e-3, 0.4, 40)
    assert rec.violation.max() > 1e-4
    for momentum in momenta(rec):
        assert np.abs(momentum - momentum[0]).max() < 1e-12 * (1.0 + np.abs(momentum[0]).max())


@rules
def test_the_books_balance_at_first_order(rule: str) -> None:
    """Kinetic, gravity and springs (the penalties' among them), less the work of dampers (the rest of the penalties)."""
    b = ub.Builder()
    parent = b.world
    for k in range(3):
        rod = b.body(f"rod{k}", shape=ub.Box((0.1, 0.1, 1.0)), mass=1.0 + k)
        at = ub.Pose((0, 0, -0.5)) if k else ub.Pose()
        b.joint(f"hinge{k}", ub.Revolute((0, 1, 0.2)), parent=parent, child=rod, X_PF=at, X_BM=ub.Pose((0, 0, 0.5)), q=0.7)
        parent = rod
    model, gaps = b.build(), []
    for dt in (2e-3, 1e-3):
        e = heights(model, Penalty(rule=rule, ratio=2.0, omega=60.0, mu=0.5), dt, 0.2).energy
        gaps.append(np.abs(e.total - e.total[0] - e.damper_work).max())
        assert e.springs.max() > 1e-3 and e.damper_work.min() < -1e-2
    assert gaps[1] < 0.65 * gaps[0] and gaps[1] < 0.05 * np.ptp(e.gravity)


@rules
def test_limits_and_planes_only_push(rule: str) -> None:
    """A ball falls on a plane and a flap on its stop: they come to rest where the penalties carry them, and nothing ever pulls."""
    b = ub.Builder()
    ball = b.body("ball", shape=ub.Sphere(0.1), mass=2.0, X_WB=ub.Pose((0, 0, 0.2)))
    flap = b.body("flap", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, flap, X_BM=ub.Pose((-0.5, 0, 0)), limits=(-1.0, 0.3))
    b.add(ub.PointPlane(ball.at(0, 0, -0.1)), name="plane")
    rec = heights(b.build(), Penalty(rule=rule, alpha=4.0, omega=100.0), 2e-3, 0.8, 5)
    assert rec.pose("ball")[-1, 2] == pytest.approx(0.1 - 2.0 * G / 4e4, abs=1e-6)
    assert rec.multiplier("plane").min() >= 0.0 and rec.multiplier("hinge.limit").min() >= 0.0
    torque = 0.5 * G * np.cos(0.3)
    assert np.sort(rec.multiplier("hinge.limit")[-1]) == pytest.approx([0.0, torque], rel=1e-2)
    assert abs(rec.joint("hinge")[-1, 0]) == pytest.approx(0.3 + torque / 4e4, rel=1e-3)
    assert rec.pose("ball")[:, 2].max() == pytest.approx(0.2)


SLIDES = (
    ub.Prismatic((1, 0, 0)), ub.Prismatic((0.6, 0, 0.8)), ub.Prismatic((-2, 3, 0.1)), ub.Planar(), ub.Translational(),
    ub.Composite(ub.Prismatic((1, 0, 0)), ub.Revolute((0, 0, 1))), ub.Composite(ub.Revolute((1, 2, 0)), ub.Prismatic((1, 2, 0))),
)  # fmt: skip


@pytest.mark.parametrize("joint", SLIDES, ids=lambda j: type(j).__name__)
def test_sliding_joints_are_as_stiff_as_masses_and_moments_say_however_axes_lie(joint: ub.Joint) -> None:
    """α = ratio · m of rows that keep from sliding, ratio · I of those that keep from turning."""
    b = ub.Builder(gravity=(0, 0, 0))
    slide = b.body("slide", mass=2.0, inertia=(3.0, 3.0, 3.0))
    b.joint("joint", joint, b.world, slide, v=np.ones(joint.nv))
    model = b.build()
    turns = 3 - sum(isinstance(part, ub.Revolute) for part in joint.parts()) - isinstance(joint, ub.Planar)
    alpha = np.sort(Penalty().bind(model).system.rows.alpha)
    assert alpha == pytest.approx([2000.0] * (6 - joint.nv - turns) + [3000.0] * turns, rel=1e-12)
    energy = ub.Simulation(model, Penalty(), dt=1e-2).run(0.3, every=10).energy
    # nothing holds it back: round-off of speeds near 1 m/s, squared, times α Ω² = 3e7
    assert np.abs([energy.springs, energy.damper_work]).max() < 1e-15


@rules
def test_redundant_rows_share_the_load(rule: str) -> None:
    b = ub.Builder()
    block = b.body("block", mass=2.0, inertia=(1, 1, 1))
    for k in range(3):
        b.add(ub.FixedPoint(block.at(), (0, 0, 0)), name=f"pin{k}")
    rec = heights(b.build(), Penalty(rule=rule), 2e-3, 0.2, 100)
    for k in range(3):
        assert rec.multiplier(f"pin{k}")[-1, 2] == pytest.approx(2.0 * G / 3.0, rel=1e-6)


@rules
def test_planar_and_maximal_coordinates_move_alike(rule: str) -> None:
    b = ub.Builder(planar=True)
    parent = b.world
    for k in range(2):
        rod = b.body(f"rod{k}", shape=ub.Box((0.1, 0.1, 1.0)), mass=1.0 + k)
        at = ub.Pose((0, 0, -0.5)) if k else ub.Pose()
        b.joint(f"hinge{k}", ub.Revolute((0, -1, 0)), parent=parent, child=rod, X_PF=at, X_BM=ub.Pose((0, 0, 0.5)), q=1.0)
        parent = rod
    model = b.build()
    recs = [heights(model, Penalty(rule=rule, coordinates=c, omega=50.0, alpha=10.0), 1e-3, 0.3, 100) for c in ("planar", "maximal")]
    assert np.abs(recs[0].pose("rod1")[:, :3] - recs[1].pose("rod1")[:, :3]).max() < 1e-9
    assert min(rec.violation.max() for rec in recs) > 1e-4


def test_options_are_checked() -> None:
    for bad in ({"rule": "rk4"}, {"alpha": 0.0}, {"omega": -1.0}, {"mu": -0.1}, {"ratio": 0.0}, {"coordinates": "reduced"}):
        with pytest.raises(ub.ModelError, match="Penalty"):
            Penalty(**bad)
    with pytest.raises(ub.ModelError, match="planar"):
        Penalty(coordinates="planar").bind(welded())
