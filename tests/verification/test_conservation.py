"""What motion conserves: energy, linear and angular momentum; exactly in nature, to the order of the rule in steps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from running import SOLVERS, com_motion, momenta, run

import unibody as ub

solvers = pytest.mark.parametrize("solver", SOLVERS)
rules = pytest.mark.parametrize(("rule", "order"), [("semi-implicit", 1), ("rk4", 4)])


@solvers
def test_semi_implicit_energy_of_a_pendulum_stays_bounded_for_a_hundred_thousand_steps(solver):
    h, steps = 2e-3, 100_000
    rec = run(ub.scenes.build("pendulum"), solver, "semi-implicit", h, h * steps, every=97)
    error = np.abs(rec.energy.total - rec.energy.total[0])
    tenth = len(rec) // 10
    # A first-order rule errs by about h max|θ̇ V'|/2, 0.3 % of m g l; 85 swings later it must err no more than in the first eight.
    assert error[-tenth:].max() < 1.1 * error[:tenth].max()
    assert error.max() < 0.05 * 9.81


def test_semi_implicit_energy_of_a_pendulum_follows_the_modified_hamiltonian():
    """Symplectic Euler conserves H − (h/2) θ̇ V'(θ) to second order (Hairer, Lubich and Wanner, IX.3)."""
    leftover = []
    for h in (2e-3, 1e-3):
        rec = run(ub.scenes.build("pendulum"), "articulated", "semi-implicit", h, 20.0, every=round(2e-2 / h))
        theta, rate = rec.joint("pivot")[:, 0], rec.joint_velocity("pivot")[:, 0]
        leftover.append(np.abs(rec.energy.total - rec.energy.total[0] - 0.5 * h * rate * 9.81 * np.sin(theta)).max())
    # Halving h quarters what is left; it is small beside the first-order term, 0.5 h · 23 W ≈ 1e-2 J.
    assert leftover[1] < 1e-4 and leftover[0] / leftover[1] == pytest.approx(4.0, rel=0.1)


def floating(rng: np.random.Generator) -> ub.Model:
    """Five bodies in free fall without gravity: ball joints, a hinge, a slide, springs within; everything turns."""
    b = ub.Builder(gravity=(0, 0, 0))
    bodies = []
    for k in range(5):
        principal = rng.uniform(0.5, 1.0, 3)  # any two exceed the third
        start = {"V_WB": (0.3, -0.8, 0.5, 0.4, 0.1, -0.2)} if k == 0 else {}
        bodies.append(b.body(f"body{k}", mass=rng.uniform(1.0, 3.0), com=rng.uniform(-0.2, 0.2, 3), inertia=principal, **start))

    def frame():
        return ub.Pose(p=rng.uniform(-0.5, 0.5, 3), wxyz=rng.normal(size=4))

    b.joint("ball1", ub.Ball(), bodies[0], bodies[1], frame(), frame(), q=rng.normal(size=4), v=rng.normal(size=3))
    b.joint("ball2", ub.Ball(), bodies[1], bodies[2], frame(), frame(), q=rng.normal(size=4), v=rng.normal(size=3))
    b.joint("hinge", ub.Revolute(axis=(1, 2, 3)), bodies[0], bodies[3], frame(), frame(), q=0.4, v=1.0)
    b.joint("slide", ub.Prismatic(axis=(0, 1, 0)), bodies[3], bodies[4], frame(), frame(), q=0.1, v=-0.5, stiffness=20.0)
    b.add(ub.SpringDamper(bodies[2].at(0.3, 0, 0), bodies[4].at(0, 0.2, 0), stiffness=15.0, rest_length=0.5))
    b.add(ub.SpringDamper(bodies[1].at(0, 0, 0.3), bodies[3].at(0.1, 0.2, 0), stiffness=10.0, rest_length=0.2))
    return b.build()


def drift(values: np.ndarray) -> float:
    return float(np.abs(values - values[0]).max())


@solvers
@rules
def test_momentum_and_energy_of_floating_bodies_are_kept_to_the_order_of_the_rule(solver, rule, order, rng):
    model = floating(rng)
    base = 0.01 if order == 4 else 0.002
    found = {"linear": [], "angular": [], "energy": []}
    for h in (base, base / 2, base / 4):
        rec = run(model, solver, rule, h, 1.0, every=round(0.1 / h))
        linear, angular = momenta(rec)
        for name, values in zip(found, (linear, angular, rec.energy.total), strict=True):
            found[name].append(drift(values))
    for name, errors in found.items():
        for coarse, fine in pairwise(errors):
            # Halving h divides the error by 2^order, or better where the method conserves more than it must; below 1e-11 it is round-off.
            assert fine < max(coarse / 2 ** (order - 0.35), 1e-11), (name, errors)


@pytest.mark.parametrize("h", [2e-3, 1e-2])
def test_momenta_of_floating_bodies_are_kept_to_round_off_where_the_update_is_written_in_them(h, rng):
    """Lagrange's semi-implicit rule adds inner impulses in pairs to world momenta, whatever the step."""
    rec = run(floating(rng), "lagrange", "semi-implicit", h, 1.0, every=10)
    linear, angular = momenta(rec)
    assert drift(linear) < 1e-12  # hundreds of sums of numbers of order 10
    assert drift(angular) < 1e-10  # joints close to 1e-11 m, and the pair of impulses has that lever


@solvers
def test_damped_inner_springs_leave_the_momentum_alone(solver, rng):
    """Inner forces are pairs, dampers and motors included: they change the energy and not the momentum."""
    b = ub.Builder(gravity=(0, 0, 0))
    first = b.body("first", mass=1.0, inertia=(0.1, 0.2, 0.25), V_WB=(0.5, 1.0, -0.3, 0.2, 0, 0))
    second = b.body("second", mass=2.0, inertia=(0.3, 0.2, 0.25))
    hinge = b.joint("hinge", ub.Universal(), first, second, ub.Pose(p=(0.4, 0, 0)), ub.Pose(p=(-0.3, 0.1, 0)), v=(1.0, -2.0), damping=0.5)
    b.add(ub.Motor(hinge, effort=0.7, dof=1))
    b.add(ub.SpringDamper(first.at(0, 0.2, 0), second.at(0, 0, 0.3), stiffness=30.0, damping=2.0, rest_length=0.1))
    rec = run(b.build(), solver, "rk4", 2e-3, 1.0, every=50)
    linear, angular = momenta(rec)
    assert np.ptp(rec.energy.total) > 0.5
    # Order 4 at rates of 3 rad/s and 2 ms.
    assert drift(linear) < 1e-9 and drift(angular) < 1e-9


@solvers
def test_center_of_mass_of_floating_bodies_falls_along_the_parabola(solver):
    scene = ub.scenes.make("serial-arm", n=4, base="free", bend=0.3, rate=0.7)
    rec = run(scene.model, solver, "rk4", 5e-3, 1.0, every=20)
    com = sum(com_motion(rec, f"block{k}")[0] for k in range(4)) / 4.0
    # Order 4 at 2 rad/s and arms of 10 m.
    np.testing.assert_allclose(com, scene.exact.com(rec.t), atol=1e-8)


@solvers
@rules
def test_free_body_keeps_momentum_and_energy(solver, rule, order):
    """A tumbling body whose frame is off its centre of mass: the centre moves straight, spin and energy stay, to the rule's order."""
    b = ub.Builder(gravity=(0, 0, 0))
    b.body("body", mass=2.0, com=(0.3, -0.1, 0.2), inertia=(0.5, 0.9, 1.2), V_WB=(1.0, 2.0, -1.5, 0.3, 0.2, 0.1))
    model = b.build()
    base = 0.02 if order == 4 else 0.004
    errors = []
    for h in (base, base / 2):
        rec = run(model, solver, rule, h, 2.0, every=round(0.2 / h))
        linear, angular = momenta(rec)
        c, velocity = com_motion(rec, "body")
        straight = c - c[0] - rec.t[:, None] * velocity[0]
        errors.append([drift(linear), drift(angular), drift(rec.energy.kinetic), float(np.abs(straight).max())])
    for coarse, fine in zip(*errors, strict=True):
        assert fine < max(coarse / 2 ** (order - 0.35), 1e-11), errors
    # At the finer step: velocities of 3 m/s turning at 3 rad/s.
    assert max(errors[1]) < (1e-6 if order == 4 else 0.1)
