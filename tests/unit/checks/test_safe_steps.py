"""The largest safe step is where simulations begin to blow up: just below it they stay bounded, just above they do not.

Closed forms: a mass m on a spring k and a damper c, ω = √(k/m), ζ = c/(2 √(k m)). Semi-implicit Euler is stable for
h ω < 2 (√(1 + ζ²) − ζ) (from det < 1 and 1 + trace + det > 0 of its step's matrix, with the damper taken from the old velocity),
Runge–Kutta 4 without damping for h ω < 2 √2, and for a pure damper (rate d = c/m) up to h d = 2.7852935634.
"""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.checks.flying import in_fixed_axes
from unibody.checks.linear import INERTIAL, linearise
from unibody.checks.stability import DENSE, modes_of
from unibody.coordinates.instant import Instant


def mass_on_spring(stiffness: float, damping: float = 0.0, mass: float = 2.0) -> ub.Model:
    b = ub.Builder(gravity=None)
    bob = b.body("bob", shape=ub.Sphere(0.1), mass=mass)
    rest = 0.0 if stiffness else None
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, bob, q=1e-3, v=1e-3, stiffness=stiffness, damping=damping, rest=rest)
    return b.build()


@pytest.mark.parametrize("stiffness", [1e2, 1e5, 1e8])
@pytest.mark.parametrize("zeta", [0.0, 0.3, 2.0])
def test_one_oscillator_has_the_limits_of_the_books(stiffness, zeta):
    omega = np.sqrt(stiffness / 2.0)
    found = ub.check(mass_on_spring(stiffness, 2.0 * zeta * np.sqrt(stiffness * 2.0)))
    # Roots of μ² − (2 − 2ζx − x²) μ + (1 − 2ζx), x = h ω: |μ| ≤ 1 until μ = −1, where 4 − 4ζx − x² = 0.
    limit = 2.0 * (np.sqrt(1.0 + zeta**2) - zeta) / omega
    for solver in ("articulated", "lagrange"):
        step = found.safe_step(solver, "semi-implicit")
        assert step.dt == pytest.approx(limit, rel=1e-2) and step.element == "slide.spring" and not step.estimate
    for rule in ("linearly-implicit", "implicit", "bdf2"):
        assert np.isinf(found.safe_step("redmax", rule).dt)
    if zeta == 0.0:
        assert found.safe_step("articulated", "rk4").dt == pytest.approx(2.0 * np.sqrt(2.0) / omega, rel=1e-2)


def test_a_damper_alone_limits_too():
    found = ub.check(mass_on_spring(0.0, damping=500.0))
    assert found.safe_step("articulated", "semi-implicit").dt == pytest.approx(2.0 / 250.0, rel=1e-2)
    assert found.safe_step("lagrange", "euler").dt == pytest.approx(2.0 / 250.0, rel=1e-2)
    assert found.safe_step("articulated", "rk4").dt == pytest.approx(2.7852935634 / 250.0, rel=1e-2)


def bounded(model: ub.Model, solver: ub.solvers.Solver, dt: float) -> bool:
    """Whether no step fails for energy from nowhere and no velocity grows a thousandfold within 150 steps."""
    sim = ub.Simulation(model, solver, dt=dt)
    first = 0.0
    for k in range(150):
        try:
            sim.step()
        except ub.StepFailed:
            return False
        largest = float(np.abs(sim.state.v).max())
        first = max(first, largest) if k < 5 else first
        if largest > 1e3 * first:
            return False
    return True


def two_sprung_bodies() -> ub.Model:
    """Two bodies of unlike mass between springs and dampers; nothing here is one oscillator."""
    b = ub.Builder(gravity=None)
    heavy = b.body("heavy", shape=ub.Box((0.2, 0.2, 0.2)), mass=5.0)
    light = b.body("light", shape=ub.Box((0.1, 0.1, 0.1)), mass=0.3)
    b.joint("first", ub.Prismatic(axis=(1, 0, 0)), b.world, heavy, stiffness=1e3, damping=8.0, rest=0.0, q=0.001)
    b.joint("second", ub.Prismatic(axis=(1, 0, 0)), heavy, light, X_PF=ub.Pose(p=(0.5, 0, 0)))
    b.add(ub.SpringDamper(heavy.at(0, 0, 0), light.at(0, 0, 0), stiffness=2e6, damping=60.0, rest_length=0.4995), name="stiff")
    return b.build()


def closed_loop() -> ub.Model:
    """A four-bar of unequal bars, held by a torsion spring and pulled by a spring across."""
    b = ub.Builder(gravity=None, planar=True)
    rods = {}
    for name, p in (("crank", (0, 0, 0.25)), ("coupler", (0.5, 0, 0.5)), ("rocker", (1, 0, 0.25))):
        rods[name] = b.body(name, shape=ub.Box((0.05, 0.05, 0.5) if name != "coupler" else (1.0, 0.05, 0.05)), X_WB=ub.Pose(p=p))
    hinge = ub.Revolute(axis=(0, -1, 0))
    b.joint("A", hinge, b.world, rods["crank"], X_BM=ub.Pose(p=(0, 0, -0.25)), v=0.01)
    b.joint("B", hinge, rods["crank"], rods["coupler"], X_PF=ub.Pose(p=(0, 0, 0.25)), X_BM=ub.Pose(p=(-0.5, 0, 0)), v=-0.01)
    b.joint("D", hinge, b.world, rods["rocker"], X_PF=ub.Pose(p=(1, 0, 0)), X_BM=ub.Pose(p=(0, 0, -0.25)), v=0.01)
    b.joint("C", hinge, rods["coupler"], rods["rocker"], X_PF=ub.Pose(p=(0.5, 0, 0)), X_BM=ub.Pose(p=(0, 0, 0.25)))
    b.add(ub.SpringDamper(b.world.at(0, 0, 0.5), rods["rocker"].at(0, 0, 0.25), stiffness=3e5, damping=20.0), name="across")
    return b.build()


SOLVERS = {
    ("articulated", "semi-implicit"): ub.solvers.Articulated(),
    ("articulated", "rk4"): ub.solvers.Articulated(rule="rk4"),
    ("lagrange", "semi-implicit"): ub.solvers.Lagrange(),
}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("build", [two_sprung_bodies, closed_loop, lambda: mass_on_spring(1e8, 1e3), lambda: mass_on_spring(1e2, 30.0)])
def test_simulations_blow_up_above_the_limit_and_not_below(name, build):
    model = build()
    limit = ub.check(model).safe_step(*name).dt
    assert bounded(model, SOLVERS[name], 0.9 * limit)
    assert not bounded(model, SOLVERS[name], 1.15 * limit)


def test_the_stiff_element_is_named():
    found = ub.check(two_sprung_bodies())
    assert found.safe_step("articulated", "semi-implicit").element == "stiff"
    assert ub.check(closed_loop()).safe_step("lagrange", "rk4").element == "across"


def test_weight_gives_a_hanging_chain_its_modes():
    """A pendulum that hangs: ω² = m g l / (m l²); semi-implicit Euler takes h < 2/ω."""
    b = ub.Builder()
    bob = b.body("bob", mass=1.0, inertia=(1e-8, 1e-8, 1e-8), com=(0, 0, -0.5))
    b.joint("hinge", ub.Revolute(axis=(0, 1, 0)), b.world, bob)
    step = ub.check(b.build()).safe_step("articulated", "semi-implicit")
    assert step.dt == pytest.approx(2.0 / np.sqrt(9.81 / 0.5), rel=1e-2) and step.element == INERTIAL


def test_an_inverted_pendulum_falls_in_every_rule_and_is_no_instability():
    b = ub.Builder()
    bob = b.body("bob", mass=1.0, inertia=(1e-8, 1e-8, 1e-8), com=(0, 0, 0.5))
    b.joint("hinge", ub.Revolute(axis=(0, 1, 0)), b.world, bob)
    assert ub.check(b.build(), dt=1e-2).safe_step("articulated", "semi-implicit").dt > 0.1


def test_a_slack_cable_counts_as_taut_and_a_clamped_motor_as_free():
    b = ub.Builder(gravity=None)
    bob = b.body("bob", shape=ub.Sphere(0.1), mass=1.0)
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, bob, q=0.5)
    b.add(ub.Cable([b.world.at(0, 0, 0), bob.at(0, 0, 0)], stiffness=1e6, rest_length=0.6), name="slack")
    assert ub.check(b.build()).safe_step("articulated", "semi-implicit").dt == pytest.approx(2e-3, rel=1e-2)
    c = ub.Builder(gravity=None)
    arm = c.body("arm", shape=ub.Sphere(0.1), mass=1.0)
    c.joint("slide", ub.Prismatic(axis=(1, 0, 0)), c.world, arm, q=0.5)
    c.add(ub.Motor("slide", kp=1e4, kd=1.0, limit=1.0), name="servo")
    step = ub.check(c.build()).safe_step("articulated", "semi-implicit")
    assert step.dt == pytest.approx(2e-2, rel=2e-2) and step.element == "servo"


def test_the_linear_motion_is_the_derivative_of_the_accelerations():
    """A_q and A_v of a moving three-link arm with springs, against differences of forward dynamics."""
    b = ub.Builder()
    before = b.world
    for k in range(3):
        rod = b.body(f"rod{k}", shape=ub.Box((0.1, 0.1, 0.6)), density=300.0)
        joint = ub.Ball() if k == 1 else ub.Revolute(axis=(0, 1, 0.3))
        q = (0.9, 0.1, 0.3, 0.2) if k == 1 else 0.4
        v = (0.3, -0.2, 0.5) if k == 1 else 0.7
        b.joint(f"j{k}", joint, before, rod, X_PF=ub.Pose(p=(0, 0, 0.3)), X_BM=ub.Pose(p=(0, 0, -0.3)), q=q, v=v)
        before = rod
    b.add(ub.SpringDamper(b.world.at(1, 0, 0), before.at(0, 0, 0.3), stiffness=400.0, damping=5.0, rest_length=0.2), name="spring")
    model = b.build()
    bound = ub.solvers.Articulated().bind(model)
    here = Instant(model)
    motion = linearise(here)
    q, v, h = here.q.copy(), here.v.copy(), 1e-6
    inverse = np.linalg.inv(motion.N)
    for k in range(model.nv):
        y = motion.N[:, k]
        a = [bound.forward_dynamics(here.moved(s * h * y), v) for s in (1.0, -1.0)]
        assert inverse @ (a[0] - a[1]) / (2 * h) == pytest.approx(motion.A_q[:, k], abs=2e-4 * np.abs(motion.A_q).max())
        a = [bound.forward_dynamics(q, v + s * h * y) for s in (1.0, -1.0)]
        assert inverse @ (a[0] - a[1]) / (2 * h) == pytest.approx(motion.A_v[:, k], abs=2e-4 * np.abs(motion.A_v).max())


def test_a_force_without_blocks_is_differentiated():
    from tests.unit.checks.own_force import Field

    b = ub.Builder(gravity=None)
    bob = b.body("bob", shape=ub.Sphere(0.1), mass=1.0)
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, bob, q=0.5)
    b.add(Field("bob", 1e6), name="field")
    found = ub.check(b.build())
    assert found.safe_step("articulated", "semi-implicit").dt == pytest.approx(2e-3, rel=1e-2)
    # It has no implicit terms, so it limits the linearly implicit rule as well.
    assert found.safe_step("redmax", "linearly-implicit").dt == pytest.approx(2e-3, rel=1e-2)


def test_iterations_find_the_fastest_of_many_modes():
    """A chain of n equal masses and springs between walls: ω_max = 2 √(k/m) sin(n π / (2 (n + 1)))."""
    n = DENSE + 50
    A = -1e4 * (2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    modes = modes_of(A, np.zeros((n, n)))
    assert not modes.complete
    assert np.abs(modes.rates).max() == pytest.approx(200.0 * np.sin(n * np.pi / (2 * (n + 1))), rel=1e-3)


def test_dt_above_the_limit_of_the_chosen_solver_is_an_error_with_remedies():
    model = mass_on_spring(1e8)
    chosen = ub.check(model, dt=1e-3, solver="articulated")
    assert [f.code for f in chosen.errors] == ["unstable step"] and "redmax" in chosen.errors[0].message
    anyone = ub.check(model, dt=1e-3)
    assert anyone.ok and {f.code for f in anyone.warnings} == {"unstable step"}
    assert ub.check(model, dt=1e-3, solver=ub.solvers.RedMax()).ok
    assert not ub.check(model, dt=1e-5).warnings or all("euler" in f.message for f in ub.check(model, dt=1e-5).warnings)


def test_a_force_left_explicit_limits_the_linearly_implicit_rule():
    """The same spring, implicit and explicit; the limit of the second is where the simulation blows up."""
    model = two_sprung_bodies()
    solver = ub.solvers.RedMax(explicit=("stiff",))
    assert np.isinf(ub.check(model, solver="redmax").safe_step("redmax", "linearly-implicit").dt)
    step = ub.check(model, solver=solver).safe_step("redmax", "linearly-implicit")
    assert step.element == "stiff"
    assert bounded(model, solver, 0.9 * step.dt) and not bounded(model, solver, 1.15 * step.dt)


def spinning_top(rider: bool) -> ub.Model:
    """A top at Ω = 50 about z that also nutates and flies; with a rider too light to matter, it does not fly alone."""
    b = ub.Builder(gravity=None)
    top = b.body("top", mass=1.0, inertia=(1.0, 1.0, 1.8), V_WB=(0.5, 0, 50.0, 1.0, 0, 0))
    if rider:
        b.joint("seat", ub.Weld(), top, b.body("rider", mass=1e-9, inertia=(1e-9, 1e-9, 1e-9)))
    return b.build()


@pytest.mark.parametrize(("solver", "rider"), [("articulated", False), ("articulated", True), ("lagrange", False)])
def test_a_spinning_top_grows_only_where_its_turning_is_taken_from_the_old_velocity(solver, rider):
    """In the axes of a top that spins at Ω, what nutates turns at λ = Ω (I₃ − I₁)/I₁ = 40; a Free joint that carries more than one body
    takes it from the old velocity and lets it grow like explicit Euler, by h λ²/2 per second, which simulations do. The limit lets pass 1
    per second and a hundredth of λ. Where momenta are carried over, of a body alone or in maximal coordinates, speeds stay with them."""
    model = spinning_top(rider)
    limit = ub.check(model).safe_step(solver, "semi-implicit").dt
    sim = ub.Simulation(model, solver, dt=1e-3)
    for _ in range(200):
        sim.step()
    assert np.linalg.norm(sim.observe().twists[1][3:]) == pytest.approx(1.0, abs=1e-12)
    if rider:
        assert limit == pytest.approx(2.0 * min(1.0, 0.01 * 40.0) / 40.0**2, rel=0.05)
        assert np.hypot(*sim.state.v[:2]) == pytest.approx(0.5 * np.exp(1e-3 * 40.0**2 / 2 * 0.2), rel=1e-2)
    else:
        assert limit > 0.1


def spinning_on_a_spring() -> ub.Model:
    """A round body at 50 rad/s on a spring without rest length: in axes that do not turn, an oscillator with ω² = k/m."""
    b = ub.Builder(gravity=None)
    body = b.body("body", mass=2.0, inertia=(1.0, 1.0, 1.0), X_WB=ub.Pose(p=(1e-3, 0, 0)), V_WB=(10.0, -20.0, 44.0, 1.0, 0.5, 0))
    b.add(ub.SpringDamper(b.world.at(0, 0, 0), body.at(0, 0, 0), stiffness=2e5, rest_length=0.0), name="spring")
    return b.build()


def test_the_limit_of_a_spring_does_not_depend_on_spin():
    model = spinning_on_a_spring()
    step = ub.check(model).safe_step("articulated", "semi-implicit")
    assert step.dt == pytest.approx(2.0 / np.sqrt(1e5), rel=1e-2) and step.element == "spring"
    assert bounded(model, ub.solvers.Articulated(), 0.9 * step.dt)
    assert not bounded(model, ub.solvers.Articulated(), 1.15 * step.dt)


def flying_pair(alone: bool) -> ub.Model:
    b = ub.Builder()
    body = b.body("body", mass=2.0, inertia=(0.3, 0.5, 0.6), com=(0.1, -0.2, 0.05))
    b.joint("flight", ub.Free(), b.world, body, q=(0.1, 0.2, 0.3, 0.9, 0.1, 0.3, 0.2), v=(1.0, -2.0, 1.5, 0.5, 0.8, -0.3))
    if not alone:
        rod = b.body("rod", shape=ub.Box((0.1, 0.1, 0.6)), density=300.0)
        b.joint("hinge", ub.Revolute((0, 1, 0.3)), body, rod, X_PF=ub.Pose(p=(0, 0, 0.3)), X_BM=ub.Pose(p=(0, 0, -0.3)), q=0.4, v=0.7)
    b.add(ub.SpringDamper(b.world.at(1, 0, 0), body.at(0, 0.1, 0.3), stiffness=400.0, damping=5.0, rest_length=0.2), name="spring")
    return b.build()


@pytest.mark.parametrize("alone", [True, False])
def test_the_motion_in_fixed_axes_is_the_derivative_of_its_accelerations(alone):
    """A_q and A_v against differences of ẇ(q, w), w the velocity (of a body alone: the momenta over m and J) in the axes of the start."""
    model = flying_pair(alone)
    bound, here = ub.solvers.Articulated().bind(model), Instant(model)
    motion = linearise(here)
    q0, v0, h = here.q.copy(), here.v.copy(), 1e-6
    info = model.bodies[1]
    c, J = (info.com, info.inertia) if alone else (np.zeros(3), None)
    R_0 = ub.Free().pose(q0[:7])[0]

    def turned(R, x):
        """What is x in the axes R, in those of the start; angular parts as momenta over J, linear ones at c, given at M's origin."""
        spin = x[:3] if J is None else np.linalg.solve(J, R_0.T @ R @ J @ x[:3])
        return np.concatenate([spin, R_0.T @ R @ (x[3:6] + np.cross(x[:3], c)) - np.cross(spin, c), x[6:]])

    def back(R, w):
        spin = w[:3] if J is None else np.linalg.solve(J, R.T @ R_0 @ J @ w[:3])
        return np.concatenate([spin, R.T @ R_0 @ (w[3:6] + np.cross(w[:3], c)) - np.cross(spin, c), w[6:]])

    def rate(q, w):
        R = ub.Free().pose(q[:7])[0]
        v = back(R, w)
        assert turned(R, v) == pytest.approx(w, abs=1e-12)
        a = bound.forward_dynamics(q, v)
        o, s = v[:3], v[3:6] + np.cross(v[:3], c)
        if J is not None:
            a[:3] += np.linalg.solve(J, np.cross(o, J @ o))
            a[3:6] -= np.cross(np.linalg.solve(J, np.cross(o, J @ o)), c)
        a[3:6] += np.cross(o, s)
        return turned(R, a)

    A_q, A_v = in_fixed_axes(here, motion)
    inverse = np.linalg.inv(motion.N)
    for k in range(model.nv):
        y = motion.N[:, k]
        found = inverse @ (rate(here.moved(h * y), v0) - rate(here.moved(-h * y), v0)) / (2 * h)
        assert found == pytest.approx(A_q[:, k], abs=2e-4 * np.abs(A_q).max())
        found = inverse @ (rate(q0, v0 + h * y) - rate(q0, v0 - h * y)) / (2 * h)
        assert found == pytest.approx(A_v[:, k], abs=2e-4 * np.abs(A_v).max())
