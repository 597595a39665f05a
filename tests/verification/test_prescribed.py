"""Prescribed motions and couplings against closed forms: inverse dynamics, inverse kinematics, Newton–Euler."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

SOLVERS = [ub.solvers.Articulated(), ub.solvers.Articulated(rule="rk4"), ub.solvers.Lagrange(), ub.solvers.Lagrange(rule="rk4")]
names = {"ids": lambda s: f"{s.name}:{s.rule}"}
M, L, I, G = 1.5, 0.7, 0.2, 9.81


def pendulum(**start) -> ub.Builder:
    """A bob L below a hinge about y."""
    b = ub.Builder()
    bob = b.body("bob", mass=M, inertia=(0.1, I, 0.3))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, bob, X_BM=ub.Pose((0, 0, L)), **start)
    return b


@pytest.mark.parametrize("solver", SOLVERS, **names)
def test_drive_of_a_pendulum_gives_the_effort_of_inverse_dynamics(solver) -> None:
    """τ = (I + m L²) q̈ + m g L sin q with q = sin t; the multiplier is read at the recorded state, where q̈ = −sin t."""
    b = pendulum(v=1.0)
    b.add(ub.PrescribedJoint("hinge", np.sin), name="drive")
    recording = ub.Simulation(b.build(), solver, dt=1e-2).run(2.0, every=20)
    q = np.sin(recording.t)
    np.testing.assert_allclose(recording.joint("hinge")[:, 0], q, atol=1e-9)  # brought back to 1e-11 after every step
    np.testing.assert_allclose(recording.joint_velocity("hinge")[:, 0], np.cos(recording.t), atol=1e-9)
    exact = -(I + M * L * L) * q + M * G * L * np.sin(q)
    np.testing.assert_allclose(recording.multiplier("drive")[:, 0], exact, atol=1e-6)  # m̈ by differences: round-off 1e-9, times mass


def test_table_and_exact_derivatives_drive_as_the_function_does() -> None:
    times = np.linspace(0.0, 1.0, 101)
    end = []
    for motion, more in ((np.sin, {}), (np.sin, {"rate": np.cos, "acceleration": lambda t: -np.sin(t)}), ((times, np.sin(times)), {})):
        b = pendulum(v=1.0)
        b.add(ub.PrescribedJoint("hinge", motion, **more), name="drive")
        recording = ub.Simulation(b.build(), "articulated", dt=1e-2).run(1.0, every=100)
        end.append((recording.joint("hinge")[-1, 0], recording.multiplier("drive")[-1, 0]))
    assert end[1] == pytest.approx(end[0], abs=1e-6)
    assert end[2][0] == pytest.approx(end[0][0], abs=1e-6)  # cubic Hermite with slopes of second order: error of order 0.01³


def test_beyond_its_table_a_motion_fails_by_name() -> None:
    b = pendulum()
    b.add(ub.PrescribedJoint("hinge", ([0.0, 0.05, 0.1], [0.0, 0.1, 0.2])), name="drive")
    with pytest.raises(ub.StepFailed, match="PrescribedJoint 'drive'.*outside its table") as failed:
        ub.Simulation(b.build(), "articulated", dt=1e-2).run(1.0)
    assert isinstance(failed.value.__cause__, ub.ModelError) and failed.value.time == pytest.approx(0.1, abs=0.011)


@pytest.mark.parametrize("solver", SOLVERS, **names)
def test_point_on_a_circle_turns_an_arm_as_inverse_kinematics_says(solver) -> None:
    """Two links of length 1 and 0.8 in the x–z plane; the elbow angle by the law of cosines."""
    one, two, centre, radius = 1.0, 0.8, np.array([1.0, 0.2]), 0.3

    def place(t: float) -> np.ndarray:
        return np.array([centre[0] + radius * np.cos(t), 0.0, centre[1] + radius * np.sin(t)])

    def angles(t: float) -> np.ndarray:
        x, _, z = place(t)
        elbow = np.arccos((x * x + z * z - one**2 - two**2) / (2 * one * two))
        shoulder = np.arctan2(-z, x) - np.arctan2(two * np.sin(elbow), one + two * np.cos(elbow))
        return np.array([shoulder, elbow])  # turns about +y take x to −z

    h = 1e-4
    q, v = angles(0.0), (angles(h) - angles(-h)) / (2 * h)
    b = ub.Builder()
    upper = b.body("upper", mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    lower = b.body("lower", mass=0.8, com=(0.4, 0, 0), inertia=(0.01, 0.1, 0.1))
    b.joint("shoulder", ub.Revolute((0, 1, 0)), b.world, upper, q=q[0], v=v[0])
    b.joint("elbow", ub.Revolute((0, 1, 0)), upper, lower, X_PF=ub.Pose((one, 0, 0)), q=q[1], v=v[1])
    b.add(ub.PrescribedPoint(lower.at(two), place, axes=(0, 2)))
    recording = ub.Simulation(b.build(), solver, dt=1e-2).run(2.0, every=50)
    got = np.concatenate([recording.joint("shoulder"), recording.joint("elbow")], axis=1)
    np.testing.assert_allclose(got, [angles(t) for t in recording.t], atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS, **names)
def test_frame_in_motion_carries_a_body_by_the_wrench_of_newton_and_euler(solver) -> None:
    """Steady spin about z on a circle: force m (a − g), torque ω × J ω with a tilted inertia, in body axes."""
    spin, radius = 1.3, 0.4
    inertia = np.array([[0.2, 0.0, 0.05], [0.0, 0.3, 0.02], [0.05, 0.02, 0.25]])

    def motion(t: float) -> ub.Pose:
        return ub.Pose.about((0, 0, 1), spin * t, p=(radius * np.cos(spin * t), radius * np.sin(spin * t), 0.0))

    b = ub.Builder()
    V = (0, 0, spin, 0, radius * spin, 0)
    b.body("table", mass=M, inertia=inertia, X_WB=motion(0.0), V_WB=V)
    b.add(ub.PrescribedFrame("table", motion), name="hand")
    recording = ub.Simulation(b.build(), solver, dt=1e-2).run(2.0, every=50)
    for t, pose, wrench in zip(recording.t, recording.pose("table"), recording.multiplier("hand"), strict=True):
        np.testing.assert_allclose(pose[:3], motion(t).p, atol=1e-9)
        np.testing.assert_allclose(ub.Pose(wxyz=pose[3:]).R, motion(t).R, atol=1e-9)
        o = np.array([0, 0, spin])
        force = M * np.array([-radius * spin**2, 0.0, G])
        np.testing.assert_allclose(wrench, [*np.cross(o, inertia @ o), *force], atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS, **names)
def test_coupling_equals_joint_coupling_and_its_function(solver) -> None:
    """q₂ = 2 q₁ + 0.1 said in three ways."""
    ends = []
    for element in (
        ub.JointCoupling(["a", "b"], (2.0, -1.0), -0.1),
        ub.Coupling(["b"], ["a"], [[2.0]], 0.1),
        ub.Coupling(["b"], ["a"], function=lambda q: 2.0 * q + 0.1),
    ):
        b = ub.Builder()
        for name, q in (("a", 0.3), ("b", 0.7)):
            bob = b.body(f"bob {name}", mass=M, inertia=(0.1, I, 0.3))
            b.joint(name, ub.Revolute((0, 1, 0)), b.world, bob, X_BM=ub.Pose((0, 0, L)), q=q)
        b.add(element)
        recording = ub.Simulation(b.build(), solver, dt=5e-3).run(1.0, every=50)
        ends.append(np.concatenate([recording.joint("a"), recording.joint("b")], axis=1))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-8)
