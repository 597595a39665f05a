"""Ranges of joints and distances in the barrier solver: never exceeded, bouncing as damping says, refused where a start leaves no room."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError, Unsupported
from unibody.solvers import Barrier, RedMax

GRAVITY = 9.81


def kept(damping: float, dt: float, rule: str) -> float:
    """The part of the energy that is left when the board has bounced once."""
    made = ub.scenes.make("rotating-board", damping=damping, degrees=10.0)
    sim = ub.Simulation(made.model, Barrier(rule=rule, tolerance=1e-7), dt=dt)
    hinge = made.model.joint("hinge")
    start = sim.observe().kinetic
    for _ in range(int(0.6 / dt)):
        sim.step()
        seen = sim.observe()
        assert abs(seen.joint_q[hinge.q_start]) < np.radians(10.0)
        if seen.joint_v[hinge.v_start] < 0.0 and seen.joint_q[hinge.q_start] < np.radians(10.0) - 0.05:
            return float(seen.kinetic / start)
    raise AssertionError("the board does not come back")


def test_a_board_keeps_its_energy_with_bdf2_and_damping_orders_the_losses():
    """Paper 003, §6.2 and Figure 19 (right)."""
    energies = [kept(kd, 2e-3, "bdf2") for kd in (0.0, 1e-3, 3e-3, 1e-2)]
    assert 0.99 < energies[0] < 1.001
    assert (np.diff(energies) < -0.02).all() and energies[-1] < 0.7
    assert kept(0.0, 2e-3, "implicit") < energies[0] - 0.02


def test_damping_of_a_range_without_a_measure():
    """A screw's angle has none: its limit is damped all the same."""
    left = []
    for kd in (0.0, 3e-3):
        b = ub.Builder(gravity=None)
        nut = b.body("nut", mass=1.0, inertia=(0.1, 0.1, 0.1))
        b.joint("screw", ub.Screw((0, 0, 1), pitch=0.01), b.world, nut, v=1.0)
        b.add(ub.JointLimit("screw", upper=0.1, damping=kd, reach=0.05, stiffness=0.05), name="stop")
        sim = ub.Simulation(b.build(), Barrier(rule="bdf2"), dt=5e-3)
        assert "stop" in sim.bound.system.rows.ranges
        rec = sim.run(0.3)
        assert rec.joint("screw").max() < 0.1
        left.append(abs(rec.joint_velocity("screw")[-1, 0]))
    assert left[0] > 0.9 and left[1] < left[0] - 0.02


def pendulum(**limit) -> ub.Model:
    b = ub.Builder()
    rod = b.body("rod", mass=2.0, inertia=(0.06, 0.06, 0.01))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, rod, X_BM=ub.Pose((0, 0, 0.3)), q=0.5)
    b.add(ub.JointLimit("hinge", **limit), name="stop")
    return b.build()


@pytest.mark.parametrize(("lower", "says"), [(0.6, "'stop' is outside its range by 0.1 rad"), (0.5, "'stop' is exactly on the bound")])
def test_a_start_outside_a_range_is_refused(lower, says):
    with pytest.raises(ModelError, match=says):
        ub.Simulation(pendulum(lower=lower), Barrier(), assemble=False)


def test_other_solvers_refuse_what_belongs_to_a_barrier():
    for given in ({"damping": 0.1}, {"reach": 0.1}, {"stiffness": 1.0}):
        with pytest.raises(Unsupported, match="'stop'.*barrier"):
            ub.Simulation(pendulum(upper=1.0, **given), RedMax())
    ub.Simulation(pendulum(upper=1.0), RedMax())


@pytest.mark.parametrize("speed", [10.0, 100.0])
@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_ranges_hold_at_any_speed(speed, rule):
    """Ways of up to 4 rad and 4 m a step against ranges of less than 1."""
    b = ub.Builder()
    shape = ub.Box((0.1, 0.1, 0.6))
    arm, fore = b.body("arm", shape=shape), b.body("fore", shape=shape)
    car, bob = b.body("car", shape=shape), b.body("bob", shape=shape, X_WB=ub.Pose((4, 0, 0)), V_WB=(0, 0, 0, 0, speed, 0))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, arm, X_BM=ub.Pose((0, 0, 0.35)), v=speed, limits=(-0.5, 0.5))
    b.joint("ball", ub.Ball(), arm, fore, X_PF=ub.Pose((0, 0, -0.35)), X_BM=ub.Pose((0, 0, 0.35)), v=(speed, 0.0, speed))
    b.add(ub.JointLimit("ball", angle=0.5, twist=(-0.4, 0.4)))
    b.joint("slide", ub.Prismatic((1, 0, 0)), b.world, car, X_PF=ub.Pose((2, 0, 0)), v=speed, limits=(-0.2, 0.2))
    b.add(ub.DistanceRange(bob.at(0, 0, 0), b.world.at(4, 0, 1.0), lower=0.5, upper=1.2))
    sim = ub.Simulation(b.build(), Barrier(rule=rule), dt=1.0 / 24.0)
    system = sim.bound.system
    for _ in range(10):
        sim.step()
        assert system.measured.gaps(system.affine.whole(sim.state.q, sim.state.t), system.memory.view(sim._memory).joint_q).min() > 0.0


SCENES = [("hinge-boards", 1.0, {}), ("monocular", 6.2, {}), ("nunchaku", 1.0, {"motion": "twist"}), ("ragdolls", 0.6, {})]


@pytest.mark.parametrize(("name", "duration", "given"), SCENES)
@pytest.mark.parametrize("dt", [1e-2, 1.0 / 24.0])
def test_ranges_are_never_exceeded(name, duration, given, dt):
    made = ub.scenes.make(name, **given)
    sim = ub.Simulation(made.model, Barrier(), dt=dt)
    system = sim.bound.system
    ranges = system.measured.stiff == 0
    assert ranges.any() and not system.rows.ranges
    for _ in range(int(duration / dt)):
        sim.step()
        gaps = system.measured.gaps(system.affine.whole(sim.state.q, sim.state.t), system.memory.view(sim._memory).joint_q)
        assert gaps[ranges].min() > 0.0


def test_a_rope_falls_taut_and_carries():
    """A ball on a slack rope in all solvers that know ranges: it falls freely, then hangs; the multiplier is its weight."""
    b = ub.Builder()
    ball = b.body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1), X_WB=ub.Pose((0.1, 0, -0.3)))
    b.add(ub.DistanceRange(ball.at(0, 0, 0), b.world.at(0, 0, 0), upper=0.5), name="rope")
    b.add(ub.BodyDamping(ball, linear=4.0, angular=0.1))
    model = b.build()
    for solver in (Barrier(), RedMax()):
        rec = ub.Simulation(model, solver, dt=1e-2).run(6.0)
        distance = np.linalg.norm(rec.point("ball"), axis=1)
        assert distance.max() < 0.5 + (0.0 if isinstance(solver, Barrier) else 1e-3)
        assert rec.multiplier("rope")[3, 0] == 0.0
        assert rec.multiplier("rope")[-1, 0] == pytest.approx(2.0 * GRAVITY, rel=1e-2)
        assert distance[-1] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("given", "says"), [({"lower": 2.0, "upper": 1.0}, "not below upper"), ({}, "limits nothing"), ({"upper": -1.0}, "upper")]
)
def test_refusals_of_distance_ranges(given, says):
    b = ub.Builder()
    ball = b.body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    with pytest.raises(ModelError, match=says):
        ub.DistanceRange(ball.at(0, 0, 0), b.world.at(0, 0, 1), **given)
