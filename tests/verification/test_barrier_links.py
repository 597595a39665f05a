"""Virtual links of the barrier solver: joints of several parts are exact, move as in other formulations, and start anywhere."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.convert import to_maximal
from unibody.model import State
from unibody.solvers import Articulated, Barrier

KINDS = {
    "universal": ub.Universal((1, 0, 0), (0, 1, 0)),
    "gimbal": ub.Composite(ub.Revolute((0, 1, 0)), ub.Revolute((1, 0, 0)), ub.Revolute((0, 0, 1))),
}


def pendulum(kind: str) -> ub.Model:
    """A ball pendulum whose bob carries another on the joint in question: both bodies of the joint move."""
    b = ub.Builder()
    upper = b.body("upper", mass=1.0, inertia=(0.02, 0.03, 0.01))
    lower = b.body("lower", mass=0.7, com=(0.02, 0, 0), inertia=(0.02, 0.015, 0.008))
    b.joint("top", ub.Ball(), b.world, upper, X_BM=ub.Pose((0, 0, 0.3)), v=(0.4, 1.0, 2.0))
    joint = KINDS[kind]
    q, v = np.array([0.5, -0.4, 0.3])[: joint.nv], np.array([-1.0, 0.8, 1.5])[: joint.nv]
    b.joint("joint", joint, upper, lower, X_PF=ub.Pose((0, 0, -0.3)), X_BM=ub.Pose((0, 0, 0.25)), q=q, v=v)
    return b.build()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rule", "order", "steps"), [("implicit", 1, (100, 200)), ("bdf2", 2, (50, 100))])
def test_motion_converges_to_that_of_joint_coordinates(kind, rule, order, steps):
    model, end = pendulum(kind), 0.25
    exact = ub.Simulation(model, Articulated(rule="rk4"), dt=1e-3).run(end)
    errors = []
    for n in steps:
        rec = ub.Simulation(model, Barrier(rule=rule, tolerance=1e-7), dt=end / n).run(end)
        assert rec.violation.max() < 1e-11
        errors.append(np.abs(np.concatenate([rec.joint(j)[-1] - exact.joint(j)[-1] for j in ("joint",)])).max())
    assert errors[0] < 0.05
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_of_parts_holds_for_ten_seconds_on_material_points(kind):
    """Points of each hinge's axis, in both of its bodies: the upper body, the links one after the other, the lower body."""
    model = pendulum(kind)
    sim = ub.Simulation(model, Barrier(), dt=0.05)
    system = sim.bound.system
    parts = [p for p in system.affine.parts if p.name == "joint"]
    worst = 0.0
    for _ in range(200):
        sim.step()
        Q = system.affine.whole(sim.state.q, sim.state.t)
        for part in parts:
            axis = np.array(part.element.axis)
            for s in (-0.1, 0.1):
                F, M = part.X_PF.apply(s * axis), part.X_BM.apply(s * axis)
                worst = max(worst, np.abs(Q[part.parent, 0] + F @ Q[part.parent, 1:] - Q[part.child, 0] - M @ Q[part.child, 1:]).max())
    assert worst < 1e-12


def test_links_are_told_and_leave_no_stiff_potential():
    sim = ub.Simulation(pendulum("gimbal"), Barrier(), dt=1e-2)
    notes = " ".join(sim.step().notes)
    assert "virtual links" in notes and "joint" in notes and "stiff" not in notes
    assert sim.bound.system.affine.links[0].mass == pytest.approx(0.7e-6)


def test_energy_and_momentum_are_those_of_the_bodies():
    """Of rigid bodies at the start, from their masses and twists; then, without weight and in free flight, both are kept."""
    b = ub.Builder(gravity=None)
    one = b.body("one", mass=1.0, inertia=(0.02, 0.03, 0.01), V_WB=(0.3, -0.2, 0.5, 0.4, 0, 0))
    two = b.body("two", mass=0.7, inertia=(0.02, 0.015, 0.008))
    b.joint("cross", ub.Universal(), one, two, X_PF=ub.Pose((0, 0, -0.3)), X_BM=ub.Pose((0, 0, 0.25)), v=(2.0, -1.5))
    model = b.build()
    exact = ub.Simulation(model, Articulated(rule="rk4"), dt=1e-3).run(0.2)
    rec = ub.Simulation(model, Barrier(rule="bdf2", tolerance=1e-10), dt=1e-3).run(0.2)
    assert rec.energy.kinetic[0] == pytest.approx(exact.energy.kinetic[0], rel=1e-12)
    mass = np.array([1.0, 0.7])
    p = sum(m * rec.twist(n)[:, 3:] for m, n in zip(mass, ("one", "two"), strict=True))
    np.testing.assert_allclose(p, np.tile(p[0], (len(p), 1)), atol=1e-5)
    assert rec.energy.total[-1] == pytest.approx(rec.energy.total[0], rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_starts_from_other_coordinates_and_from_its_own(kind, tmp_path):
    """Links stand where the joint's coordinates say, whatever the start was written in; a copied state goes on bit for bit."""
    model = pendulum(kind)
    other = ub.Simulation(model, Articulated(), dt=1e-3)
    other.run(0.05)
    maximal = State(other.state.t, *to_maximal(model, other.state), "maximal")
    found = []
    for state in (other.state, maximal):
        sim = ub.Simulation(model, Barrier(), dt=1e-2, state=state)
        system = sim.bound.system
        Q, V = system.affine.whole(sim.state.q, sim.state.t), system.affine.rates(sim.state.v, sim.state.t)
        assert np.abs(system.reduction.residual(Q)).max() < 1e-12
        assert np.abs(system.reduction.put_rates(V) - V).max() < 1e-8
        found.append(sim.state.q)
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)
    sim = ub.Simulation(model, Barrier(), dt=1e-2)
    sim.run(0.05)
    saved = sim.save(tmp_path / "half")
    sim.run(0.05)
    again = ub.Simulation.load(saved)
    again.run(0.05)
    assert np.array_equal(again.state.q, sim.state.q) and np.array_equal(again.state.v, sim.state.v)
    back = ub.Simulation(model, Articulated(), dt=1e-3, state=sim.state)
    np.testing.assert_allclose(back.run(0.0).joint("joint"), sim.run(0.0).joint("joint"), atol=1e-6)


def test_a_range_of_a_gimbal_carries_the_weight_at_rest():
    """A rod falls on the stop of the first of three hinges: its torque goes over two links, and is no constraint wrench."""
    b = ub.Builder()
    post = b.body("post", kind="kinematic")
    rod = b.body("rod", mass=2.0, inertia=(0.06, 0.06, 0.01))
    b.joint("joint", KINDS["gimbal"], post, rod, X_BM=ub.Pose((0, 0, 0.3)), q=(0.9, 0.0, 0.0), damping=1.0)
    b.add(ub.JointLimit("joint", lower=(np.pi / 6, -1.0, -1.0), upper=(2.0, 1.0, 1.0)), name="stop")
    rec = ub.Simulation(b.build(), Barrier(), dt=2e-2).run(3.0)
    q = rec.joint("joint")[-1]
    assert 0.0 < q[0] - np.pi / 6 < 0.01 and np.abs(q[1:]).max() < 1e-6
    moment = 2.0 * 9.81 * 0.3 * np.sin(q[0])
    assert rec.multiplier("stop")[-1].max() == pytest.approx(moment, rel=1e-3)
    assert np.abs(rec.reaction("joint")[-1] - [0, moment, 0, 0, 0, 2.0 * 9.81]).max() < 1e-2
    assert np.abs(rec.constraint_wrench("joint")[-1] - [0, 0, 0, 0, 0, 2.0 * 9.81]).max() < 1e-2


def test_a_driven_parent_takes_a_universal_joint_along():
    """A shaft driven at constant speed turns another at 30° to it through a cross: tan φ₂ = tan φ₁ cos 30°."""
    b = ub.Builder(gravity=None)
    tilt = np.pi / 6
    shaft = b.body("shaft", kind="kinematic", V_WB=(2.0, 0, 0, 0, 0, 0))
    out = b.body("out", mass=0.5, inertia=(0.01, 0.02, 0.02), X_WB=ub.Pose.about((0, 0, 1), tilt))
    b.joint("bearing", ub.Revolute((1, 0, 0)), b.world, out, X_PF=ub.Pose.about((0, 0, 1), tilt), v=2.0 * np.cos(tilt))
    b.joint("cross", ub.Universal((0, 0, 1), (0, 1, 0)), shaft, out, q=(tilt, 0.0), v=(0.0, 2.0 * np.sin(tilt)))
    sim = ub.Simulation(b.build(), Barrier(tolerance=1e-8), dt=1e-2)
    assert len(sim.bound.system.affine.links) == 1
    rec = sim.run(1.5)
    drive = 2.0 * rec.t
    angle = rec.joint("bearing")[:, 0]
    # The cross's first arm turns with the shaft, the second with the output, at right angles to each other.
    exact = np.unwrap(np.arctan2(np.sin(drive) * np.cos(tilt), np.cos(drive)))
    np.testing.assert_allclose(angle, exact, atol=1e-6)
