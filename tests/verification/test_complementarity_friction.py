"""Complementarity: sticking, sliding, toppling and rolling against closed forms; numbers marked (reference) are those of the collected
benchmarks, plain arithmetic from the same formulas."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G = 9.81


def incline(theta: float, mu: float, sides: tuple[float, float, float] = (0.4, 0.2, 0.1)) -> ub.Model:
    """A block on the ground, gravity leaning by theta towards +x."""
    b = ub.Builder(gravity=(G * np.sin(theta), 0, -G * np.cos(theta)))
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("block", shape=ub.Box(sides), density=500.0, X_WB=ub.Pose((0, 0, 0.5 * sides[2])))
    b.add(ub.Contact(friction=mu))
    return b.build()


def ball(lean: float = 0.0, mu: float = 0.5, speed: float = 0.0) -> ub.Model:
    b = ub.Builder(gravity=(G * np.sin(lean), 0, -G * np.cos(lean)))
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.5), mass=1.0, X_WB=ub.Pose((0, 0, 0.5)), V_WB=(0, 0, 0, speed, 0, 0))
    b.add(ub.Contact(friction=mu))
    return b.build()


def test_block_that_sticks_does_not_creep() -> None:
    """μ = 1.2 tan θ over 10 s: less than 1e-6 m (reference); it comes out nine digits better. Friction and load are those of statics."""
    theta = np.radians(30.0)
    model = incline(theta, 1.2 * np.tan(theta))
    recording = ub.Simulation(model, "complementarity", dt=2e-2).run(10.0, every=100)
    block = recording.pose("block")
    assert np.abs(block - block[0]).max() < 1e-9
    weight = 500.0 * 0.4 * 0.2 * 0.1 * G
    for contacts in (recording.contacts[0], recording.contacts[-1]):
        assert contacts.on(model.body("block")) == pytest.approx([-weight * np.sin(theta), 0.0, weight * np.cos(theta)], abs=1e-7 * weight)
        assert not contacts.sliding.any() and len(contacts) == 4


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_block_slides_with_the_acceleration_of_coulomb(coordinates: str) -> None:
    """g (sin θ − μ cos θ) at 30°, μ = 0.2: 3.205858157774931 m/s² (reference), within 0.1 %."""
    solver = ub.solvers.Complementarity(coordinates=coordinates)
    recording = ub.Simulation(incline(np.radians(30.0), 0.2), solver, dt=1e-2).run(0.5, every=10)
    assert recording.twist("block")[-1, 3] / recording.t[-1] == pytest.approx(3.205858157774931, rel=1e-6)
    contacts = recording.contacts[-1]
    assert contacts.sliding.all()
    assert np.linalg.norm(contacts.friction, axis=1) == pytest.approx(0.2 * contacts.normal_forces, rel=1e-6)


@pytest.mark.parametrize("side", [-1, 1])
def test_block_topples_where_its_weight_leaves_its_base(side: int) -> None:
    """w/h = 0.5: at tan θ 1 % below it stands still, 1 % above it begins to turn about its lower edge as the torque says."""
    w, h = 0.2, 0.4
    theta = np.arctan(w / h * (1.0 + 0.01 * side))
    recording = ub.Simulation(incline(theta, 0.9, (w, w, h)), "complementarity", dt=2e-3).run(0.1, every=10)
    turn = recording.twist("block")[-1, 1]
    if side < 0:  # at rest, which falling freely is not
        assert abs(turn) < 1e-8 and np.abs(recording.pose("block") - recording.pose("block")[0]).max() < 1e-8
        return
    inertia = (w * w + h * h) / 3.0
    start, growth = (0.5 * G * x / inertia for x in (h * np.sin(theta) - w * np.cos(theta), h * np.cos(theta) + w * np.sin(theta)))
    k = np.sqrt(growth)  # near the start the torque grows with the angle: φ̈ = start + growth φ
    assert turn == pytest.approx(start * np.sinh(0.1 * k) / k, rel=0.02)


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_ball_rolls_down(coordinates: str) -> None:
    """5/7 g sin θ at 20°: 2.396584004303436 m/s² (reference) if μ ≥ 2/7 tan θ = 0.10399 (reference); below it slides."""
    theta = np.radians(20.0)
    solver = ub.solvers.Complementarity(coordinates=coordinates)
    rolling = ub.Simulation(ball(theta, 0.105), solver, dt=1e-2).run(0.3, every=30)
    assert rolling.twist("ball")[-1, 3] / 0.3 == pytest.approx(2.396584004303436, rel=1e-8)
    assert rolling.twist("ball")[-1, 1] * 0.5 == pytest.approx(rolling.twist("ball")[-1, 3], rel=1e-7)
    assert not rolling.contacts[-1].sliding[0]
    sliding = ub.Simulation(ball(theta, 0.103), solver, dt=1e-2).run(0.3, every=30)
    assert sliding.twist("ball")[-1, 3] / 0.3 == pytest.approx(G * (np.sin(theta) - 0.103 * np.cos(theta)), rel=1e-8)
    assert sliding.contacts[-1].sliding[0]


def test_ball_slips_until_it_rolls() -> None:
    """v₀ = 7, μ = 0.2: rolls from t = 2 v₀/(7 μ g) = 1.019367991845056 s (reference) with 5/7 v₀ = 5 m/s."""
    dt = 5e-3
    recording = ub.Simulation(ball(mu=0.2, speed=7.0), "complementarity", dt=dt).run(1.1)
    slides = np.array([c.sliding[0] for c in recording.contacts])
    assert slides[1:200].all() and not slides[-5:].any()
    assert recording.t[np.flatnonzero(slides)[-1]] == pytest.approx(1.019367991845056, abs=dt)
    assert recording.twist("ball")[-1, 3] == pytest.approx(5.0, rel=1e-9)
    assert np.abs(recording.pose("ball")[:, 2] - 0.5).max() < 1e-10  # neither sinks nor lifts off


def test_friction_keeps_its_cone_and_acts_against_the_slip() -> None:
    """A box thrown onto the ground, spinning: at every contact of every step |λ_t| ≤ μ λ_n, and where it slips, μ λ_n against the slip."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("box", shape=ub.Box((0.3, 0.2, 0.1)), density=800.0, X_WB=ub.Pose((0, 0, 0.2), (0.9, 0.3, 0.2, 0.1)), V_WB=(1, 4, 6, 2, -1, -1))
    b.add(ub.Contact(friction=0.4))
    model = b.build()
    sim = ub.Simulation(model, "complementarity", dt=5e-3)
    slipped = 0
    for _ in range(80):
        rule, system = sim.bound.rule, sim.bound.system
        q, v, _ = sim.bound._unpack(sim.state, sim.bound.start(sim.state)[1])
        system.prepare(5e-3)
        system.look(sim.state.t, q, v, sim.control.flat)
        held = rule.solve_step(5e-3)
        normal, friction, slip = held.impulse[:, 0], held.impulse[:, 1:], held.after[:, 1:]
        scale = max(1e-12, normal.max(initial=0.0))
        assert (normal >= -1e-12).all() and (np.linalg.norm(friction, axis=1) <= 0.4 * normal + 1e-8 * scale).all()
        fast = (np.linalg.norm(slip, axis=1) > 1e-4) & (normal > 1e-3 * scale)
        slipped += int(fast.sum())
        for f, u, n in zip(friction[fast], slip[fast], normal[fast], strict=True):
            assert f == pytest.approx(-0.4 * n * u / np.linalg.norm(u), abs=1e-6 * scale)
        sim.step()
        assert sim.report.residual < 1e-8
    assert slipped > 20


def test_convex_relaxation_lifts_what_slides() -> None:
    """Anitescu and Potra: u_n = μ |u_t| where it slides, so that a gap of μ h |u_t| opens; in the limit of sticking it is Coulomb's law."""
    theta, mu, dt = np.radians(30.0), 0.2, 1e-2
    relaxed = ub.solvers.Complementarity(relaxation="anitescu-potra")
    recording = ub.Simulation(incline(theta, mu), relaxed, dt=dt).run(0.2)
    gaps = np.array([c.gaps.max() for c in recording.contacts[5:]])
    speeds = recording.twist("block")[5:, 3]
    assert gaps == pytest.approx(mu * dt * speeds, rel=0.1)
    stuck = ub.Simulation(incline(theta, 1.2 * np.tan(theta)), relaxed, dt=dt).run(0.5, every=50)
    assert np.abs(stuck.pose("block")[-1] - stuck.pose("block")[0]).max() < 1e-9


def test_polyhedral_cone_by_pivoting_bounds_the_round_one_from_inside() -> None:
    """Lemke with four directions: sliding along one of them is exact, between two of them friction is smaller by cos 45°."""
    solver = ub.solvers.Complementarity(method="lemke", directions=4)
    recording = ub.Simulation(incline(np.radians(30.0), 0.2), solver, dt=1e-2).run(0.1)
    friction = (G * np.sin(np.pi / 6) - recording.twist("block")[-1, 3] / 0.1) / (G * np.cos(np.pi / 6))
    assert 0.2 * np.cos(np.pi / 4) - 1e-9 <= friction <= 0.2 + 1e-9


@pytest.mark.parametrize("moving", [False, True])
def test_static_friction_holds_more_than_sliding_friction(moving: bool) -> None:
    """tan θ = 0.5 between μ = 0.3 and 0.6: at rest it stays, once pushed it slides on with g (sin θ − 0.3 cos θ)."""
    theta = np.arctan(0.5)
    b = ub.Builder(gravity=(G * np.sin(theta), 0, -G * np.cos(theta)))
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("block", shape=ub.Box((0.4, 0.2, 0.1)), mass=2.0, X_WB=ub.Pose((0, 0, 0.05)), V_WB=(0, 0, 0, 0.1 if moving else 0.0, 0, 0))
    b.add(ub.Contact(friction=0.3, static=0.6))
    recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(0.3, every=30)
    expected = 0.1 + 0.3 * G * (np.sin(theta) - 0.3 * np.cos(theta)) if moving else 0.0
    assert recording.twist("block")[-1, 3] == pytest.approx(expected, abs=1e-8)


def test_torsion_slows_a_spinning_ball() -> None:
    """ω = ω₀ − μ r m g t / I about the normal, until it stands."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((0, 0, 0.1)), V_WB=(0, 0, 5.0, 0, 0, 0))
    b.add(ub.Contact(friction=0.4, torsion=0.005))
    recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(1.5, every=10)
    slowing = 0.4 * 0.005 * G / (0.4 * 0.1**2)
    assert recording.twist("ball")[:, 2] == pytest.approx(np.maximum(5.0 - slowing * recording.t, 0.0), abs=1e-8)
    assert np.abs(recording.twist("ball")[:, [0, 1, 3, 4, 5]]).max() < 1e-9


@pytest.mark.parametrize("angle", [0.0, np.pi / 2])
def test_friction_along_and_across(angle: float) -> None:
    """μ = 0.1 along the grain, which lies at 30° in the ground, 0.5 across: a block thrown along either slows by its μ g, and straight."""
    b = ub.Builder()
    ground = b.body("ground", shape=ub.Plane(), kind="static")
    heading = np.array([np.cos(np.pi / 6 + angle), np.sin(np.pi / 6 + angle), 0.0])
    block = b.body("block", shape=ub.Box((0.4, 0.4, 0.05)), mass=2.0, X_WB=ub.Pose((0, 0, 0.025)), V_WB=(0, 0, 0, *(2.0 * heading)))
    b.add(ub.Contact(between=(ground, block), friction=0.1, across=0.5, direction=(np.cos(np.pi / 6), np.sin(np.pi / 6), 0)))
    recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(0.2, every=20)
    assert recording.twist("block")[-1, 3:] == pytest.approx((2.0 - (0.5 if angle else 0.1) * G * 0.2) * heading, abs=1e-8)


def test_books_of_work_close() -> None:
    """A block slides to its stop: kinetic energy and the work of friction add up, −μ m g s, to the order of the step."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("block", shape=ub.Box((0.4, 0.4, 0.05)), mass=2.0, X_WB=ub.Pose((0, 0, 0.025)), V_WB=(0, 0, 0, 2.0, 0, 0))
    b.add(ub.Contact(friction=0.5))
    recording = ub.Simulation(b.build(), "complementarity", dt=2e-3).run(0.5, every=25)
    energy = recording.energy
    assert energy.kinetic - energy.damper_work == pytest.approx(np.full(len(recording), 4.0), rel=1e-6)
    assert energy.damper_work[-1] == pytest.approx(-4.0, rel=1e-6)
    assert recording.pose("block")[-1, 0] == pytest.approx(4.0 / (0.5 * 2.0 * G), rel=0.01)
