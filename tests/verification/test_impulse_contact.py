"""Impulse: contact, friction, impacts, limits and dry friction beside closed forms and other solvers."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G = 9.81


def block_on_slope(angle: float, friction: float) -> ub.Model:
    """A box on a plane through the origin, turned about y."""
    b = ub.Builder()
    slope = ub.Pose.about((0, 1, 0), angle)
    b.body("slope", shape=ub.Plane(), kind="static", X_WB=slope)
    b.body("block", shape=ub.Box((0.4, 0.3, 0.2)), mass=2.0, X_WB=slope @ ub.Pose((0, 0, 0.1)))
    b.add(ub.Contact(friction=friction))
    return b.build()


def test_block_sticks_on_a_slope() -> None:
    """tan 20° < μ: it does not creep, and the slope carries its weight."""
    recording = ub.Simulation(block_on_slope(np.radians(20.0), 0.5), "impulse", dt=1e-2).run(1.0, every=10)
    p = recording.pose("block")[:, :3]
    assert np.abs(p - p[0]).max() < 1e-8
    contacts = recording.contacts[-1]
    assert contacts.normal_forces.sum() == pytest.approx(2.0 * G * np.cos(np.radians(20.0)), rel=1e-6)
    assert not contacts.sliding.any()


def test_block_slides_down_a_slope() -> None:
    """a = g (sin θ − μ cos θ)."""
    angle, mu = np.radians(30.0), 0.2
    recording = ub.Simulation(block_on_slope(angle, mu), "impulse", dt=5e-3).run(0.5, every=10)
    speed = np.linalg.norm(recording.twist("block")[-1, 3:])
    assert speed == pytest.approx(0.5 * G * (np.sin(angle) - mu * np.cos(angle)), rel=1e-3)
    assert recording.contacts[-1].sliding.all()


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_ball_bounces_to_e_squared_of_its_height(restitution: float) -> None:
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 1.1)))
    b.add(ub.Contact(restitution=restitution))
    length = 1.1 if restitution < 1.0 else 1.3
    recording = ub.Simulation(b.build(), "impulse", dt=1e-3).run(length, every=4)
    t, z = recording.t, recording.pose("ball")[:, 2] - 0.1
    fall, began = np.sqrt(2.0 / G), np.sqrt(2.0 / G)
    for n in range(1, 3 if restitution < 1.0 else 2):
        flight = 2.0 * restitution**n * fall
        assert z[(t > began) & (t < began + flight)].max() == pytest.approx(restitution ** (2 * n), rel=0.015)
        began += flight
    assert z.min() > -1e-3


def test_sphere_rolls_down_a_slope() -> None:
    """5/7 g sin θ without slip."""
    angle, r = np.radians(20.0), 0.1
    b = ub.Builder()
    slope = ub.Pose.about((0, 1, 0), angle)
    b.body("slope", shape=ub.Plane(), kind="static", X_WB=slope)
    b.body("ball", shape=ub.Sphere(r), mass=1.0, X_WB=slope @ ub.Pose((0, 0, r)))
    b.add(ub.Contact(friction=0.6))
    recording = ub.Simulation(b.build(), "impulse", dt=2e-3).run(0.5, every=25)
    speed, spin = (np.linalg.norm(recording.twist("ball")[-1, k]) for k in (slice(3, 6), slice(0, 3)))
    assert speed == pytest.approx(0.5 * 5 / 7 * G * np.sin(angle), rel=1e-3)
    assert spin * r == pytest.approx(speed, rel=1e-6)


def test_rod_rests_on_its_limit() -> None:
    """Held at 30°: the multiplier is m g/2 sin 30°, the angle never passes it."""
    b = ub.Builder()
    rod = b.body("rod", shape=ub.Box((0.05, 0.05, 1.0)), mass=2.0)
    b.joint("hinge", ub.Revolute((0, -1, 0)), b.world, rod, X_BM=ub.Pose((0, 0, 0.5)), q=0.8)
    b.add(ub.JointLimit("hinge", lower=np.pi / 6), name="stop")
    recording = ub.Simulation(b.build(), "impulse", dt=5e-3).run(1.0, every=5)
    angle = recording.joint("hinge")[:, 0]
    assert angle.min() > np.pi / 6 - 1e-9 and angle[-1] == pytest.approx(np.pi / 6, abs=1e-9)
    assert recording.multiplier("stop")[-1, 0] == pytest.approx(2.0 * G * 0.5 * np.sin(np.pi / 6), rel=1e-6)
    assert recording.reaction("hinge")[-1, 3:] == pytest.approx([0.0, 0.0, 2.0 * G], abs=1e-5)
    assert recording.violation.max() < 1e-10 and recording.reports[-1].redundant == 0


def test_dry_friction_sticks_below_its_bound_and_slides_above() -> None:
    for bound, expected in ((3.5, 0.0), (2.5, 0.5)):
        b = ub.Builder(gravity=None)
        sled = b.body("sled", mass=2.0, inertia=(1, 1, 1))
        b.joint("slide", ub.Prismatic((1, 0, 0)), b.world, sled)
        b.add(ub.AppliedWrench(sled, force=(3.0, 0, 0)))
        b.add(ub.DryFriction("slide", bound=bound))
        recording = ub.Simulation(b.build(), "impulse", dt=1e-2).run(2.0, every=50)
        assert recording.joint_velocity("slide")[-1, 0] == pytest.approx(expected, abs=1e-10)


def walker() -> ub.Model:
    """A four-bar on a base that stands on the floor, driven, with a limit: loop, contact and limit in one scene."""
    turn = np.arcsin(0.2 * np.sin(1.2) / 0.25)
    end = -0.3 + 0.2 * np.cos(1.2) + 0.6 + 0.25 * np.cos(turn)
    b = ub.Builder()
    b.body("floor", shape=ub.Plane(), kind="static")
    base = b.body("base", shape=ub.Box((1.2, 0.4, 0.1)), mass=5.0, X_WB=ub.Pose((0, 0, 0.05)))
    bars = [b.body(f"bar{k}", mass=0.5, inertia=(0.01, 0.02, 0.02)) for k in range(3)]
    b.joint("a", ub.Revolute((0, 1, 0)), base, bars[0], X_PF=ub.Pose((-0.3, 0, 0.1)), X_BM=ub.Pose((-0.1, 0, 0)), q=-1.2)
    b.joint("b", ub.Revolute((0, 1, 0)), bars[0], bars[1], X_PF=ub.Pose((0.1, 0, 0)), X_BM=ub.Pose((-0.3, 0, 0)), q=1.2)
    b.joint("c", ub.Revolute((0, 1, 0)), bars[1], bars[2], X_PF=ub.Pose((0.3, 0, 0)), X_BM=ub.Pose((-0.125, 0, 0)), q=turn)
    b.joint("d", ub.Revolute((0, 1, 0)), base, bars[2], X_PF=ub.Pose((end, 0, 0.1)), X_BM=ub.Pose((0.125, 0, 0)))
    b.add(ub.Motor("a", kp=0.0, kd=0.0, effort=-1.5))
    b.add(ub.JointLimit("a", lower=-1.5), name="stop")
    b.add(ub.Contact(friction=0.4))
    return b.build()


def test_loop_closes_while_its_base_stands_on_the_floor() -> None:
    """No joint is apart by more than 1e-9 at any state, the crank stops at its limit, and in the end the floor carries all the weight."""
    model = walker()
    recording = ub.Simulation(model, "impulse", dt=5e-3).run(1.0, every=20)
    assert recording.violation.max() < 1e-9
    assert recording.pose("base")[:, 2].min() > 0.05 - 1e-5
    crank = recording.joint("a")[:, 0]
    assert crank.min() > -1.5 - 1e-8 and crank[-1] == pytest.approx(-1.5, abs=1e-6)
    assert recording.contacts[-1].on(model.body("floor")) == pytest.approx([0, 0, -6.5 * G], abs=1e-4)


def test_steps_depend_on_their_inputs_only(tmp_path) -> None:
    """Same input, same bits, whatever was looked at in between; a saved run goes on as if nothing had been."""
    whole, half = (ub.Simulation(walker(), "impulse", dt=5e-3) for _ in range(2))
    for _ in range(8):
        whole.step()
    half.run(0.02)
    loaded = ub.Simulation.load(half.save(tmp_path / "half.npz"))
    loaded.run(0.02, every=1)
    assert loaded.state.t == whole.state.t
    assert loaded.state.q.tobytes() == whole.state.q.tobytes() and loaded.state.v.tobytes() == whole.state.v.tobytes()


def test_motion_agrees_with_complementarity_as_steps_shrink() -> None:
    """The same walker: both are of order 1, so that their difference halves with the step."""
    gaps = []
    for dt in (4e-3, 2e-3):
        ends = [ub.Simulation(walker(), solver, dt=dt).run(0.1, every=25) for solver in ("impulse", "complementarity")]
        gaps.append(max(np.abs(ends[0].pose(f"bar{k}")[-1, :3] - ends[1].pose(f"bar{k}")[-1, :3]).max() for k in range(3)))
    assert gaps[1] < 0.7 * gaps[0] and gaps[1] < 5e-3


def test_stack_stands_and_carries_as_in_complementarity() -> None:
    """Four boxes, the highest a thousand times as heavy as the others: one preview a step, and the same loads."""
    recordings = []
    for solver in (ub.solvers.Impulse(), ub.solvers.Complementarity()):
        b = ub.Builder()
        b.body("ground", shape=ub.Plane(), kind="static")
        for k in range(4):
            b.body(f"box{k}", shape=ub.Box((0.2, 0.2, 0.2)), mass=1e3 if k == 3 else 1.0, X_WB=ub.Pose((0, 0, 0.1 + 0.2 * k)))
        b.add(ub.Contact(friction=0.5))
        recordings.append(ub.Simulation(b.build(), solver, dt=5e-3).run(0.2))
    for recording in recordings:
        assert max(np.abs(recording.pose(f"box{k}") - recording.pose(f"box{k}")[0]).max() for k in range(4)) < 1e-8
        for k, weight in enumerate((1003.0, 1002.0, 1001.0, 1000.0)):
            ground, contacts = recording.model.body("ground"), recording.contacts[-1]
            below = ground if k == 0 else recording.model.body(f"box{k - 1}")
            pair = np.isin(contacts.bodies, (below, recording.model.body(f"box{k}"))).all(axis=1)
            assert contacts.normal_forces[pair].sum() == pytest.approx(9.81 * weight, rel=1e-7)
    assert recordings[0].reports[-1].iterations == 1


def test_balls_that_collide_keep_their_momentum() -> None:
    """A ball tied to another hits a third, off centre, with friction: linear and angular momentum to round-off of the solution."""
    b = ub.Builder(gravity=None)
    one = b.body("one", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 0)), V_WB=(0, 0, 0, 2, 0, 0))
    two = b.body("two", shape=ub.Sphere(0.1), mass=0.5, X_WB=ub.Pose((-0.5, 0, 0)), V_WB=(0, 0, 0, 2, 0, 0))
    b.body("three", shape=ub.Sphere(0.1), mass=2.0, X_WB=ub.Pose((0.4, 0.1, 0.05)))
    b.add(ub.Distance(one.at(), two.at()))
    b.add(ub.Contact(friction=0.3, restitution=0.8))
    recording = ub.Simulation(b.build(), "impulse", dt=2e-3).run(0.4, every=20)
    P = sum(m * recording.twist(n)[:, 3:] for n, m in (("one", 1.0), ("two", 0.5), ("three", 2.0)))
    assert np.abs(P - P[0]).max() < 1e-9
    assert np.abs(recording.twist("three")[-1, 3:]).max() > 0.1


def test_what_is_refused_is_named() -> None:
    b = ub.Builder()
    b.body("ball", shape=ub.Sphere(0.1), mass=1.0)
    b.add(ub.Contact(friction=0.3), name="touch")
    model = b.build()
    with pytest.raises(ub.Unsupported, match="'touch'.*method='tree'"):
        ub.Simulation(model, ub.solvers.Impulse(method="local"))
    flat = ub.Builder(planar=True)
    flat.body("ball", shape=ub.Sphere(0.1), mass=1.0)
    flat.add(ub.Contact(friction=0.3), name="touch")
    with pytest.raises(ub.ModelError, match="'touch' needs coordinates 'maximal'"):
        ub.Simulation(flat.build(), ub.solvers.Impulse(coordinates="planar"))
