"""Springs, dampers and servos in joints that a step of `complementarity` cannot follow: linearly implicit, by closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

H, INERTIA = 0.01, 0.5


def rotor(**joint: float) -> ub.Builder:
    """A wheel about a vertical axis."""
    b = ub.Builder()
    b.body("wheel", mass=1.0, inertia=(INERTIA, INERTIA, INERTIA))
    b.joint("axle", ub.Revolute((0, 0, 1)), b.world, "wheel", **joint)
    return b


def run(b: ub.Builder, steps: int, h: float = H) -> ub.Recording:
    return ub.Simulation(b.build(), "complementarity", dt=h).run(steps * h)


@pytest.mark.parametrize("ratio", [1.5, 40.0, 1e6])
def test_a_strong_damper_only_damps(ratio: float) -> None:
    """v_n = v₀ / (1 + h d / I)ⁿ, for h d / I = 1.5 (where a step at its beginning's velocities would turn back), 40, a million."""
    rec = run(rotor(v=3.0, damping=ratio * INERTIA / H), 5)
    assert np.allclose(rec.joint_velocity("axle").ravel(), 3.0 / (1.0 + ratio) ** np.arange(6), rtol=1e-12, atol=1e-15)


def test_a_damper_that_a_step_follows_stays_at_its_beginning() -> None:
    """h d / I = 0.5: v_n = v₀ (1 − h d / I)ⁿ, as before."""
    rec = run(rotor(v=3.0, damping=0.5 * INERTIA / H), 5)
    assert np.allclose(rec.joint_velocity("axle").ravel(), 3.0 * 0.5 ** np.arange(6), rtol=1e-12)


@pytest.mark.parametrize("ratio", [2.0, 100.0, 1e8])
def test_a_stiff_spring_follows_the_implicit_recurrence(ratio: float) -> None:
    """(1 + h² k / I)(v⁺ − v) = −(h k / I)(x + h v), x⁺ = x + h v⁺: its amplitude falls for every stiffness."""
    stiffness = ratio * INERTIA / H**2
    rec = run(rotor(q=0.1, stiffness=stiffness), 40)
    x, v, told = 0.1, 0.0, [0.1]
    for _ in range(40):
        v += -(ratio / H) * (x + H * v) / (1.0 + ratio)
        x += H * v
        told.append(x)
    assert np.allclose(rec.joint("axle").ravel(), told, rtol=0.0, atol=1e-9)
    assert np.abs(rec.joint("axle")).max() <= 0.1 + 1e-12


def test_a_servo_at_its_limit_pushes_with_its_limit() -> None:
    """kd so strong that h kd / I = 200; at its limit it accelerates the wheel by limit / I, no less."""
    b = rotor()
    b.add(ub.Motor("axle", kd=200.0 * INERTIA / H, target_rate=1e3, limit=4.0), name="motor")
    rec = run(b, 10)
    assert np.allclose(rec.joint_velocity("axle").ravel(), 4.0 / INERTIA * H * np.arange(11), rtol=1e-12)


def test_a_stiff_servo_holds_an_arm_where_statics_says() -> None:
    """An arm on the level, held by kp: q = −m g l cos q / kp; the servo is far beyond what 10 ms follow."""
    b = ub.Builder()
    b.body("arm", mass=2.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    b.joint("shoulder", ub.Revolute((0, -1, 0)), b.world, "arm")
    b.add(ub.Motor("shoulder", kp=2e4, kd=500.0, target=0.0), name="servo")
    q = float(run(b, 300).joint("shoulder")[-1, 0])
    assert abs(2e4 * q + 2.0 * 9.81 * 0.5 * np.cos(q)) < 1e-6 * 9.81


def test_strong_dampers_keep_what_they_hang_on_moving_freely() -> None:
    """Two wheels on one axis, the second on the first by a damper that no step follows: the angular momentum of both is kept, and they end
    with one velocity, v = I₁ v₁ / (I₁ + I₂)."""
    b = rotor(v=2.0)
    b.body("rider", mass=1.0, inertia=(0.2, 0.2, 0.2))
    b.joint("clutch", ub.Revolute((0, 0, 1)), "wheel", "rider", v=-2.0, damping=1e5)
    rec = run(b, 20)
    first, slip = rec.joint_velocity("axle").ravel(), rec.joint_velocity("clutch").ravel()
    assert np.allclose(INERTIA * first + 0.2 * (first + slip), INERTIA * 2.0, rtol=1e-12)
    assert abs(slip[-1]) < 1e-12 and abs(first[-1] - INERTIA * 2.0 / (INERTIA + 0.2)) < 1e-12


def test_a_foot_on_a_damped_leg_rests_with_its_weight() -> None:
    """A leg on a slide with a damper beyond what a step follows comes to rest on the ground with its weight under the foot."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("hip", mass=3.0, inertia=(0.1, 0.1, 0.1))
    b.body("foot", shape=ub.Sphere(0.1), mass=0.01)
    b.joint("rail", ub.Prismatic((0, 0, 1)), b.world, "hip", X_PF=ub.Pose((0, 0, 0.6)))
    b.joint("leg", ub.Prismatic((0, 0, 1)), "hip", "foot", X_PF=ub.Pose((0, 0, -0.45)), stiffness=5e3, damping=200.0)
    b.add(ub.Contact(friction=0.5))
    rec = run(b, 400)
    assert abs(rec.contacts[-1].normal_forces.sum() - 3.01 * 9.81) < 1e-6 * 3.01 * 9.81
    # the spring carries the hip: k s = m g
    assert abs(5e3 * float(rec.joint("leg")[-1, 0]) - 3.0 * 9.81) < 1e-5 * 3.0 * 9.81
