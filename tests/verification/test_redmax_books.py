"""What RedMax says of forces and work is what mechanics says, whatever its options: multipliers, works, feedback."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.solvers import RedMax

H = 1e-3


def test_a_stone_on_a_string_is_pulled_by_m_v2_over_l():
    """Also with q and v put onto the rows after each step: the rows are aimed along their curves, so projection has no force to give."""
    b = ub.Builder(gravity=None)
    stone = b.body("stone", ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((1, 0, 0)), V_WB=(0, 0, 0, 0, 3, 0))
    b.add(ub.Distance(stone.at(), b.world.at()), name="string")
    for options in ({}, {"project": False}, {"rule": "implicit"}):
        rec = ub.Simulation(b.build(), RedMax(**options), dt=H).run(0.05)
        # of first order: v h / L = 3e-3
        assert rec.multiplier("string")[-1, 0] == pytest.approx(-9.0, rel=5e-3)


def test_a_slide_that_follows_2t2_takes_4_newton():
    b = ub.Builder(gravity=None)
    b.joint("slide", ub.Prismatic((1, 0, 0)), b.world, b.body("block", ub.Sphere(0.1), mass=1.0))
    b.add(ub.PrescribedJoint("slide", lambda t: 2 * t * t), name="drive")
    rec = ub.Simulation(b.build(), RedMax(), dt=H).run(0.05)
    # fourth-order differences of the motion
    assert rec.multiplier("drive")[-1, 0] == pytest.approx(4.0, rel=1e-6)
    assert rec.q[-1, 0] == pytest.approx(2 * 0.05**2, rel=1e-9)


@pytest.mark.parametrize("rule", ["linearly-implicit", "implicit"])
@pytest.mark.parametrize("damping", [1.0, 1e4, 1e8])
def test_a_damper_takes_the_energy_that_is_lost(rule, damping):
    b = ub.Builder(gravity=None)
    b.joint("slide", ub.Prismatic((1, 0, 0)), b.world, b.body("block", ub.Sphere(0.1), mass=1.0), v=1.0, damping=damping)
    rec = ub.Simulation(b.build(), RedMax(rule=rule), dt=1e-2).run(0.2)
    assert rec.energy.damper_work[-1] == pytest.approx(rec.energy.total[-1] - rec.energy.total[0], rel=1e-9)


def test_armature_in_a_loop_counts_however_the_system_is_solved():
    b = ub.Builder()
    hinge, links = ub.Revolute((0, 1, 0)), [b.body(f"link{i}", ub.Box((0.4, 0.05, 0.05)), mass=1) for i in range(4)]
    ahead, behind = ub.Pose((0.2, 0, 0)), ub.Pose((-0.2, 0, 0))
    b.joint("j0", hinge, b.world, links[0], X_BM=behind)
    for i, q in ((1, 1.2), (2, np.pi - 1.2), (3, 1.2)):
        b.joint(f"j{i}", hinge, links[i - 1], links[i], X_PF=ahead, X_BM=behind, q=q)
    b.joint("last", hinge, links[3], links[0], X_PF=ahead, X_BM=behind, armature=0.05)
    b.add(ub.SpringDamper(links[0].at(), links[2].at(0.1, 0, 0), 200.0, 1.0))
    model = b.build()
    ends = {}
    for linear in ("dense", "pcg", "direct", "auto"):
        sim = ub.Simulation(model, RedMax(linear=linear), dt=2e-3)
        sim.run(0.1)
        ends[linear] = sim.state.v
    explicit = ub.Simulation(model, "articulated", dt=2e-3)
    explicit.run(0.1)
    assert max(np.abs(v - ends["dense"]).max() for v in ends.values()) < 1e-6
    assert np.abs(ends["dense"] - explicit.state.v).max() < 1e-2  # both of first order


def test_feedback_faster_than_the_step_is_as_fast_as_the_step():
    b = ub.Builder(gravity=None)
    body = b.body("body", ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 0.3)))
    b.add(ub.FixedPoint(body.at(), (0, 0, 0)))
    violation = ub.Simulation(b.build(), RedMax(stabilisation_time=1e-3), dt=1e-2, assemble=False).run(0.1).violation
    assert violation[0] == pytest.approx(0.3) and violation[1:].max() < 1e-12


@pytest.mark.parametrize("rule", ["linearly-implicit", "implicit", "bdf2"])
def test_a_plane_far_below_another_carries_nothing(rule):
    b = ub.Builder()
    body = b.body("body", ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 0.001)))
    b.add(ub.PointPlane(body.at(), (0, 0, 0)), name="near")
    b.add(ub.PointPlane(body.at(), (0, 0, -5)), name="far")
    rec = ub.Simulation(b.build(), RedMax(rule=rule), dt=H).run(0.05)
    assert rec.multiplier("near")[-1, 0] == pytest.approx(9.81, rel=1e-9)
    assert rec.multiplier("far")[-1, 0] == 0.0


@pytest.mark.parametrize(
    "options, said", [({"explicit": 3}, "explicit 3"), ({"project": "no"}, "project 'no'"), ({"tolerance": 1.0}, "tolerance 1.0"),
                      ({"linear": "lu"}, "linear 'lu'"), ({"rule": "rk4"}, "rule 'rk4'"), ({"geometric": "no"}, "geometric 'no'"),
                      ({"limits": 3}, "limits 3"), ({"stabilisation_time": 0}, "stabilisation_time")],
)  # fmt: skip
def test_bad_options_are_refused(options, said):
    with pytest.raises(ub.ModelError, match=said):
        RedMax(**options)


@pytest.mark.parametrize("rule", ["linearly-implicit", "implicit", "bdf2"])
@pytest.mark.parametrize("kind", ["limit", "plane"])
def test_what_a_limit_takes_is_booked(rule, kind):
    """A fall from h onto a stop: E falls by m g h, and the work of dampers says so, to the order of the step: m g h v for each step of
    v = √(2 g h), in which the rules themselves change E by m g h v/2."""
    b, dt, fall, mass = ub.Builder(), 1e-3, 1.0, 2.0
    stone = b.body("stone", mass=mass, inertia=(1, 1, 1))
    b.joint("rail", ub.Prismatic((0, 0, 1)), b.world, stone, q=fall)
    b.add(ub.JointLimit("rail", lower=0.0) if kind == "limit" else ub.PointPlane(stone.at()), name="stop")
    energy = ub.Simulation(b.build(), ub.solvers.RedMax(rule=rule), dt=dt).run(1.0, every=1000).energy
    one_step = mass * 9.81 * dt * np.sqrt(2.0 * 9.81 * fall)
    assert energy.total[-1] - energy.total[0] == pytest.approx(-mass * 9.81 * fall, abs=1e-9)
    assert energy.damper_work[-1] == pytest.approx(-mass * 9.81 * fall, abs=one_step)


@pytest.mark.parametrize("rule", ["linearly-implicit", "implicit", "bdf2"])
def test_a_start_across_a_knife_edge_is_put_right_in_one_step(rule):
    """m v⁺ = m v + Gᵀ μ with G v⁺ = 0: of (1, 0.5) along and across the edge, (1, 0) is left; turning, it goes in a circle from there."""
    for spin in (0.0, 2.0):
        b = ub.Builder(gravity=(0, 0, 0))
        sledge = b.body("sledge", mass=1.0, inertia=(1, 1, 1), V_WB=(0, 0, spin, 1, 0.5, 0))
        b.add(ub.KnifeEdge(sledge.at(), (0, 1, 0)), name="edge")
        rec = ub.Simulation(b.build(), ub.solvers.RedMax(rule=rule), dt=1e-3).run(0.5)
        R = [ub.Pose(p=pose[:3], wxyz=pose[3:]).R for pose in rec.pose("sledge")]
        across = [r.T @ v for r, v in zip(R, rec.twist("sledge")[:, 3:], strict=True)][1:]
        assert np.abs(across)[:, 1].max() < 3.0 * spin * 1e-3 + 1e-9  # the linear rule holds the row of the beginning of the step
        assert np.array(across)[:, 0] == pytest.approx(np.ones(len(across)), abs=5e-3)


@pytest.mark.parametrize("rule", ["implicit", "bdf2"])
def test_a_ball_thrown_without_spin_rolls_with_five_sevenths_of_its_speed(rule):
    """Angular momentum about the point of contact stays: m v r = (m r² + 2/5 m r²) ω."""
    radius = 0.1
    b = ub.Builder(gravity=(0, 0, 0))
    ball = b.body("ball", mass=1.0, inertia=[0.4 * radius**2] * 3, X_WB=ub.Pose((0, 0, radius)), V_WB=(0, 0, 0, 1.4, 0, 0))
    b.add(ub.Rolling(ball.at(), radius), name="rolls")
    rec = ub.Simulation(b.build(), ub.solvers.RedMax(rule=rule), dt=1e-3).run(0.05)
    speed, spin = rec.twist("ball")[1:, 3], rec.twist("ball")[1:, 1]
    assert speed == pytest.approx(radius * spin, abs=1e-9)  # Newton's method ends at 1e-11 of the velocity
    assert speed == pytest.approx(np.ones(50), abs=5e-3)  # its own axes turn by h ω = 0.01 in a step
