"""Bodies that fly and spin in reduced coordinates: without forces nothing gains speed, and nothing leaves its straight line."""

from __future__ import annotations

import numpy as np
import pytest
from running import com_motion, momenta, run

import unibody as ub
from unibody.coordinates.stages import KICK_STAGE

SPIN = np.array([20.0, -30.0, 35.0])
"""Of length 50: at steps of 1 ms a velocity in body axes, v + h v̇, would grow 3.5-fold in a second."""

VELOCITY = np.array([0.6, 0.0, -0.8])


def alone(b: ub.Builder) -> str:
    """One body, centre of mass at its origin."""
    b.body("body", mass=2.0, inertia=(1.0, 1.0, 1.0), V_WB=(*SPIN, *VELOCITY))
    return "body"


def framed(b: ub.Builder) -> str:
    """One body on a Free joint whose frames are turned and away from it."""
    body = b.body("body", mass=2.0, inertia=(0.7, 0.7, 0.7))
    X_PF, X_BM = ub.Pose(p=(1, 2, 3), wxyz=(1, 2, 0, -1)), ub.Pose(p=(0.2, -0.1, 0.3), wxyz=(3, 0, 1, 1))
    turn, arm = X_PF.R.T, X_BM.R.T
    # R_FM = 1 at the start, so that M's axes are F's there; M's origin moves with the body.
    spin = turn @ SPIN
    v = turn @ VELOCITY + np.cross(spin, arm @ np.array(X_BM.p))
    b.joint("flight", ub.Free(), b.world, body, X_PF, X_BM, v=(*spin, *v))
    return "body"


def loaded(b: ub.Builder) -> str:
    """A body with a welded passenger on either side, so that it does not fly alone; together they are round."""
    body = b.body("body", mass=2.0, inertia=(1.0, 1.0, 1.0), V_WB=(*SPIN, *VELOCITY))
    for name, side in (("left", 1.0), ("right", -1.0)):
        passenger = b.body(name, mass=0.5, inertia=(0.3, 0.2, 0.2))
        # with the pair's 2 · 0.5 · 0.1 about y and z, 0.6 about every axis
        reach = np.sqrt(0.1)
        b.joint(f"weld {name}", ub.Weld(), body, passenger, X_PF=ub.Pose(p=(side * reach, 0, 0)))
    return "body"


def composed(b: ub.Builder) -> str:
    """Free as part of a composite."""
    body = b.body("body", mass=2.0, inertia=(1.0, 1.0, 1.0))
    b.joint("flight", ub.Composite(ub.Weld(), ub.Free()), b.world, body, v=(*SPIN, *VELOCITY))
    return "body"


def on_a_sledge(b: ub.Builder) -> str:
    """Free relative to a sledge that slides by itself."""
    sledge = b.body("sledge", mass=1.0, inertia=(1.0, 1.0, 1.0))
    body = b.body("body", mass=2.0, inertia=(1.0, 1.0, 1.0))
    b.joint("slide", ub.Prismatic(axis=(1, 0, 0)), b.world, sledge, v=0.5)
    b.joint("flight", ub.Free(), sledge, body, v=(*SPIN, *(VELOCITY - (0.5, 0, 0))))
    return "body"


@pytest.mark.parametrize("start", [alone, framed, loaded, composed, on_a_sledge])
def test_a_spinning_body_flies_straight_at_constant_speed(start):
    b = ub.Builder(gravity=None)
    name = start(b)
    rec = run(b.build(), "articulated", "semi-implicit", 1e-3, 1.0, every=50)
    x, velocity = com_motion(rec, name)
    # A thousand steps of numbers of order 1.
    assert np.abs(np.linalg.norm(velocity, axis=1) - 1.0).max() < 1e-12
    assert np.abs(x - x[0] - rec.t[:, None] * VELOCITY).max() < 1e-12


@pytest.mark.parametrize("start", [alone, loaded, composed])
def test_with_weight_it_flies_the_parabola_of_the_rule(start):
    """v_n = v + n h g, p_n = p + Σ h v_k = p + n h v + h² g n (n + 1)/2."""
    b = ub.Builder(gravity=(0, 0, -9.81))
    name, h = start(b), 1e-3
    rec = run(b.build(), "articulated", "semi-implicit", h, 1.0, every=50)
    x, velocity = com_motion(rec, name)
    n, g = np.round(rec.t / h)[:, None], np.array([0.0, 0.0, -9.81])
    # A thousand steps of numbers of order 10.
    assert np.abs(velocity - VELOCITY - n * h * g).max() < 2e-12
    assert np.abs(x - x[0] - n * h * VELOCITY - h * h * g * n * (n + 1) / 2).max() < 2e-12


def test_a_body_alone_keeps_its_momenta_wherever_its_origin_is():
    b = ub.Builder(gravity=None)
    b.body("body", mass=2.0, com=(0.3, -0.1, 0.2), inertia=(0.5, 0.9, 1.2), V_WB=(10.0, 20.0, -15.0, 0.3, 0.2, 0.1))
    linear, angular = momenta(run(b.build(), "articulated", "semi-implicit", 1e-3, 1.0, every=20))
    # Momenta of order 20 through a thousand steps, each with the round-off of J and of its inverse.
    assert np.abs(linear - linear[0]).max() < 1e-10 and np.abs(angular - angular[0]).max() < 1e-10


@pytest.mark.parametrize("inertia", [(1.0, 1.0, 1.8), (1.0, 1.0, 0.4)])
def test_a_top_alone_keeps_its_nutation(inertia):
    """|ω⊥| of a symmetric top is constant. Explicit Euler lets it grow by h λ²/2 per second, λ = Ω (I₃ − I₁)/I₁: 0.8 and 0.45 here."""
    b = ub.Builder(gravity=None)
    b.body("top", mass=1.0, inertia=inertia, V_WB=(0.5, 0, 50.0, 0, 0, 0))
    sim = ub.Simulation(b.build(), "articulated", dt=1e-3)
    for _ in range(400):
        sim.step()
    # What is left is of the next order, h³ Ω⁴ = 0.006 per second.
    assert np.hypot(*sim.state.v[:2]) == pytest.approx(0.5, rel=0.0025)


SOLVERS = {"maximal": ub.solvers.Complementarity(coordinates="maximal"), "impulse": ub.solvers.Impulse(), "penalty": ub.solvers.Penalty()}


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_bodies_alone_turn_with_order_two_in_maximal_coordinates_too(solver):
    """A body with three different moments: energy errs by a quarter as much at half the step, where order one would give a half."""
    errors = []
    for h in (2e-3, 1e-3):
        b = ub.Builder(gravity=None)
        b.body("body", mass=1.0, inertia=(1.0, 1.5, 2.2), V_WB=(8.0, 10.0, -6.0, 0, 0, 0))
        rec = ub.Simulation(b.build(), solver, dt=h).run(0.4)
        errors.append(np.abs(rec.energy.kinetic / rec.energy.kinetic[0] - 1.0).max())
    assert errors[1] < 2e-5 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


def test_a_tree_whose_origin_circles_around_its_centre_of_mass_keeps_its_momentum():
    """M's origin goes on a circle of radius r: its own velocity errs by up to h Ω² r, the momentum of its tree does not."""
    h, spin, r = 1e-3, 30.0, 0.2
    b = ub.Builder(gravity=None)
    body = b.body("body", mass=2.0, com=(r, 0, 0), inertia=(1.0, 1.0, 1.5), V_WB=(0, 0, spin, 0.3, 0.2, 0.1))
    passenger = b.body("passenger", mass=1e-9, inertia=(1e-9, 1e-9, 1e-9))
    b.joint("weld", ub.Weld(), body, passenger, X_PF=ub.Pose(p=(r, 0, 0)))
    linear, _ = momenta(run(b.build(), "articulated", "semi-implicit", h, 2.0, every=7))
    error = np.abs(linear - linear[0]).max(axis=1) / 2.0
    # 2000 steps of numbers of order Ω² r h
    assert error.max() < 2000 * 1e-15 * h * spin**2 * r + 1e-11


def free_chain() -> ub.Model:
    """Three bodies, a ball joint and a hinge between them; everything turns, nothing is held."""
    b = ub.Builder(gravity=None)
    rods = [b.body(f"rod{k}", mass=1.0 + k, com=(0.05, 0, 0.1), inertia=(0.3, 0.4, 0.2)) for k in range(3)]
    b.joint("flight", ub.Free(), b.world, rods[0], v=(1.0, -2.0, 1.5, 0.5, 0.2, -0.3))
    b.joint("ball", ub.Ball(), rods[0], rods[1], X_PF=ub.Pose(p=(0, 0, 0.5)), X_BM=ub.Pose(p=(0, 0, -0.5)), v=(0.5, 1.0, -1.0))
    b.joint("hinge", ub.Revolute((0, 1, 0)), rods[1], rods[2], X_PF=ub.Pose(p=(0, 0, 0.5)), X_BM=ub.Pose(p=(0, 0, -0.5)), q=0.4, v=-1.5)
    return b.build()


def test_a_free_chain_converges_with_order_one():
    model = free_chain()
    exact = ub.Simulation(model, ub.solvers.Articulated(rule="dopri5", rtol=1e-11, atol=1e-12), dt=0.5).run(0.5)
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        rec = run(model, "articulated", "semi-implicit", h, 0.5, every=round(0.5 / h))
        ends = [np.concatenate([r.pose(f"rod{k}")[-1], r.twist(f"rod{k}")[-1]]) for r in (rec, exact) for k in range(3)]
        errors.append(float(np.abs(np.array(ends[:3]) - ends[3:]).max()))
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1) and errors[1] / errors[2] == pytest.approx(2.0, rel=0.05)


def test_single_steps_and_a_rollout_agree_to_the_last_bit():
    model = free_chain()
    rec = ub.Simulation(model, "articulated", dt=1e-3).run(0.03)
    sim = ub.Simulation(model, "articulated", dt=1e-3)
    for _ in range(30):
        sim.step()
    assert np.array_equal(rec.q[-1], sim.state.q) and np.array_equal(rec.v[-1], sim.state.v)


def test_only_models_with_free_joints_are_kicked():
    for model, kicked in ((free_chain(), True), (ub.scenes.build("pendulum"), False)):
        bound = ub.solvers.Articulated().bind(model)
        assert bool(bound.system.stages(model.neutral_control())[KICK_STAGE]) == kicked
    still = ub.solvers.Articulated(rule="rk4").bind(free_chain())
    assert not still.system.stages(still.model.neutral_control())[KICK_STAGE]
