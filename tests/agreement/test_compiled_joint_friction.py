"""Friction in the joints of trees, compiled, beside the same projections in NumPy: hinges, balls and slides in one tree, with steps that
begin slower because the motion is not resolved."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub


def hinges(b, speed):
    last = b.world
    for k in range(3):
        body = b.body(f"link{k}", mass=1.0, inertia=(0.01, 0.05, 0.05), com=(0.25, 0.0, 0.0))
        b.joint(f"hinge{k}", ub.Revolute(axis=(0, 0.6, 0.8)), last, body, X_PF=ub.Pose(p=(0.5 * (k > 0), 0, 0)), v=speed * (-1) ** k)
        b.add(ub.JointFriction(f"hinge{k}", 0.3, radius=0.03, height=0.08), name=f"rub{k}")
        last = body
    return last


def mixed(b, speed):
    last = hinges(b, speed)
    ball = b.body("ball", mass=0.5, inertia=(0.004, 0.005, 0.006), com=(0.1, 0.02, 0.0))
    b.joint("socket", ub.Ball(), last, ball, X_PF=ub.Pose(p=(0.5, 0, 0)), v=(1.0, -2.0, 0.5))
    b.add(ub.JointFriction("socket", 0.2, radius=0.04), name="rub ball")
    slider = b.body("slider", mass=0.3, inertia=(0.001, 0.001, 0.001))
    b.joint("slide", ub.Prismatic(axis=(0, 0, 1)), ball, slider, X_PF=ub.Pose(p=(0.2, 0, 0)), v=0.3)
    b.add(ub.JointFriction("slide", 0.4, width=0.05, height=0.1), name="rub slide")


CASES = [(hinges, 0.5, 1e-2, False), (mixed, 0.5, 1e-2, False), (hinges, 25.0, 5e-2, True)]


@pytest.mark.parametrize(("make", "speed", "dt", "curbed"), CASES)
def test_compiled_steps_are_those_in_numpy(make, speed, dt, curbed):
    b = ub.Builder()
    make(b, speed)
    compiled, numpy = (ub.Simulation(b.build(), "redmax", dt=dt) for _ in range(2))
    numpy.bound.roll.compiled = None
    for _ in range(12):
        one, other = compiled.step(), numpy.step()
        assert one.iterations == other.iterations
        for x, y in zip((compiled.state.q, compiled.state.v, compiled._memory), (numpy.state.q, numpy.state.v, numpy._memory), strict=True):
            np.testing.assert_allclose(x, y, atol=1e-9 * max(1.0, np.abs(y).max()))
    assert (compiled.memory.curbed > 0) == curbed


def test_a_run_is_its_single_steps_also_where_one_is_taken_in_numpy(monkeypatch):
    """The compiled loop gives up at some steps, as where friction is not found; records and the rest of the run are the same."""
    import unibody.solvers.redmax.friction_steps as rubbed

    b = ub.Builder()
    hinges(b, 0.5)
    singles, whole = (ub.Simulation(b.build(), "redmax", dt=1e-2) for _ in range(2))
    for _ in range(12):
        singles.step()
    roll = rubbed.roll_joint_friction

    def gives_up(*given):
        done, steps = given[12:14]
        return roll(*given[:13], min(steps, done + done % 3), *given[14:])

    monkeypatch.setattr(rubbed, "roll_joint_friction", gives_up)
    rec = whole.run(0.12, every=2)
    np.testing.assert_allclose(rec.q[-1], singles.state.q, atol=1e-12)
    np.testing.assert_allclose(rec.v[-1], singles.state.v, atol=1e-12)
    np.testing.assert_allclose(rec.t, 0.02 * np.arange(7), atol=1e-12)
