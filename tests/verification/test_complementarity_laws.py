"""Complementarity: laws of friction beyond one number, and supports in prescribed motion, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G = 9.81


def runner(contact: dict, velocity: tuple[float, float] = (0.0, 0.0), lean: float = 0.0) -> ub.Model:
    """A ball of 2 kg that slides on the ground and cannot turn, gravity leaning towards +x."""
    b = ub.Builder(gravity=(G * np.sin(lean), 0, -G * np.cos(lean)))
    ground = b.body("ground", shape=ub.Plane(), kind="static")
    ball = b.body("ball", shape=ub.Sphere(0.1), mass=2.0)
    b.joint("way", ub.Translational(), b.world, ball, q=(0, 0, 0.1), v=(*velocity, 0))
    b.add(ub.Contact(between=(ground, ball), **contact))
    return b.build()


def velocity(model: ub.Model, time: float, dt: float, **options: object) -> np.ndarray:
    sim = ub.Simulation(model, ub.solvers.Complementarity(**options), dt=dt)
    return sim.run(time, every=round(time / dt)).twist("ball")[-1, 3:]


def test_polyhedral_cones_tend_to_the_round_one() -> None:
    """Sliding at 17°: k directions miss friction by no more than the angle π/k between them and the slip; with 64 it is round to 2 %."""
    heading = np.array([np.cos(np.radians(17.0)), np.sin(np.radians(17.0)), 0.0])
    model = runner({"friction": 0.4}, tuple(2.0 * heading[:2]))
    exact = (2.0 - 0.4 * G * 0.1) * heading
    assert velocity(model, 0.1, 1e-2) == pytest.approx(exact, abs=1e-9)
    missed = []
    for k in (4, 5, 8, 9, 16, 32, 64):
        missed.append(np.linalg.norm(velocity(model, 0.1, 1e-2, method="lemke", directions=k) - exact) / (0.4 * G * 0.1))
        assert missed[-1] <= 2.0 * np.sin(0.5 * np.pi / k) + 1e-9
    assert missed[-1] < 0.02 and missed[0] > 0.2


@pytest.mark.parametrize(("slope", "starts"), [(0.49, False), (0.51, True)])
def test_static_friction_decides_the_start_and_sliding_friction_the_motion(slope: float, starts: bool) -> None:
    """Static 0.5, sliding 0.3: held at tan θ = 0.49; at 0.51 it goes with g (sin θ − 0.3 cos θ), and on the level it stops by 0.3 g."""
    lean = np.arctan(slope)
    contact = {"friction": 0.3, "static": 0.5}
    speed = velocity(runner(contact, lean=lean), 0.2, 1e-2)[0]
    assert speed == pytest.approx(0.2 * G * (np.sin(lean) - 0.3 * np.cos(lean)) if starts else 0.0, abs=1e-9)
    assert velocity(runner(contact, (1.0, 0.0)), 0.2, 1e-2)[0] == pytest.approx(1.0 - 0.2 * 0.3 * G, abs=1e-9)


@pytest.mark.parametrize(("mu", "sticks"), [(0.50, True), (0.49, False)])
def test_threshold_of_a_slope_of_26_565_degrees(mu: float, sticks: bool) -> None:
    """The published pair of coefficients: tan 26.565° = 0.49999… (paper 003 §6.1, there for cloth)."""
    lean = np.radians(26.565)
    speed = velocity(runner({"friction": mu}, lean=lean), 0.5, 2e-2)[0]
    assert speed == pytest.approx(0.0 if sticks else 0.5 * G * (np.sin(lean) - mu * np.cos(lean)), abs=1e-9)


def test_grain_oblique_to_the_slip() -> None:
    """μ₁ = 0.1 along x, μ₂ = 0.5 along y, slip at 45°: the most work on the ellipse is −g μ_i² u_i / (Σ (μ_j u_j)²)^½."""
    model = runner({"friction": 0.1, "across": 0.5, "direction": (1, 0, 0)}, (1.0, 1.0))
    rate = (velocity(model, 1e-5, 1e-6)[:2] - 1.0) / 1e-5
    assert rate == pytest.approx(-G * np.array([0.01, 0.25]) / np.hypot(0.1, 0.5), rel=1e-4)


@pytest.mark.parametrize("slip", [0.0, 1.0])
def test_sliding_lowers_torsional_friction(slip: float) -> None:
    """Contensou: force and torque share one ellipsoid. With I = m r² slip u and spin r ω fade together, (u² + r²ω²)^½ by μ g: what slides
    at u = 1 m/s keeps turning √2 times longer per speed than what only turns."""
    r, mu, m, spin = 0.05, 0.4, 1.0, 20.0
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    disc = b.body("ball", shape=ub.Sphere(0.1), mass=m, inertia=(m * r * r,) * 3)
    way = ub.Composite(ub.Prismatic((1, 0, 0)), ub.Prismatic((0, 0, 1)), ub.Revolute((0, 0, 1)))
    b.joint("way", way, b.world, disc, q=(0, 0.1, 0), v=(slip, 0, spin))
    b.add(ub.Contact(friction=mu, torsion=r))
    recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(0.2, every=5)
    left = 1.0 - mu * G * recording.t / np.hypot(slip, r * spin)
    assert recording.twist("ball")[:, 2] == pytest.approx(spin * left, abs=1e-7)
    assert recording.twist("ball")[:, 3] == pytest.approx(slip * left, abs=1e-8)


def test_every_pair_of_materials_has_its_own_law() -> None:
    """Ice, wood and rubber on one ground, by name; the last by the rule for all."""
    b = ub.Builder()
    ground = b.body("ground", shape=ub.Plane(), kind="static")
    for k, name in enumerate(("ice", "wood", "rubber")):
        ball = b.body(name, shape=ub.Sphere(0.1), mass=1.0 + k)
        b.joint(f"way {name}", ub.Translational(), b.world, ball, q=(0, k, 0.1), v=(3, 0, 0))
        if name != "rubber":
            b.add(ub.Contact(between=(ground, ball), friction=0.02 if name == "ice" else 0.35))
    b.add(ub.Contact(friction=0.8))
    recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(0.2, every=20)
    ends = [recording.twist(name)[-1, 3] for name in ("ice", "wood", "rubber")]
    assert ends == pytest.approx([3.0 - 0.2 * mu * G for mu in (0.02, 0.35, 0.8)], abs=1e-8)


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
@pytest.mark.parametrize("a", [3.0, 6.0])
def test_block_on_an_accelerating_belt(a: float, coordinates: str) -> None:
    """x = a t²/2: carried along while a < μ g = 4.9 m/s², else pulled with μ g. The instant says the same."""
    b = ub.Builder()
    b.body("belt", shape=ub.Box((4, 1, 0.2)), kind="kinematic", motion=lambda t: ub.Pose((0.5 * a * t * t, 0, -0.1)))
    block = b.body("block", shape=ub.Sphere(0.1), mass=3.0)
    b.joint("way", ub.Translational(), b.world, block, q=(0, 0, 0.1))
    b.add(ub.Contact(friction=0.5))
    model = b.build()
    carried = min(a, 0.5 * G)
    if coordinates == "reduced":
        here = ub.contact_instant(model)
        assert here.only.accelerations[2] == pytest.approx([0, 0, 0, carried, 0, 0], abs=1e-5)
        assert set(here.only.modes) == {"sticks" if a < 0.5 * G else "starts to slide"}
    recording = ub.Simulation(model, ub.solvers.Complementarity(coordinates=coordinates), dt=5e-3).run(0.2, every=40)
    assert recording.twist("block")[-1, 3] == pytest.approx(0.2 * carried, rel=2e-3)
    assert recording.contacts[-1].on(2) == pytest.approx([3.0 * carried, 0, 3.0 * G], rel=1e-3, abs=1e-3)


def test_block_on_a_turntable_that_speeds_up() -> None:
    """φ = α t²/2: at r the block needs ((α r)² + (α² t² r)²)^½ of friction; it is shed when that is μ g."""
    alpha, r, mu = 2.0, 0.5, 0.3
    b = ub.Builder()


    def turn(t: float) -> ub.Pose:
        return ub.Pose.about((0, 0, 1), 0.5 * alpha * t * t, p=(0, 0, -0.1))

    b.body("table", shape=ub.Box((2, 2, 0.2)), kind="kinematic", motion=turn)
    coin = b.body("coin", shape=ub.Sphere(0.05), mass=0.1)
    b.joint("way", ub.Translational(), b.world, coin, q=(r, 0, 0.05))
    b.add(ub.Contact(friction=mu))
    recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(1.4)
    shed = (((mu * G) ** 2 - (alpha * r) ** 2) / r**2) ** 0.25 / alpha
    slides = np.array([c.sliding.any() for c in recording.contacts])
    assert recording.t[np.flatnonzero(slides[1:])[0] + 1] == pytest.approx(shed, abs=0.05)
    before = recording.t < shed - 0.1
    assert np.linalg.norm(recording.pose("coin")[before, :2], axis=1) == pytest.approx(r, abs=5e-3)  # order 1: chords of a circle


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_driven_piston_pushes_what_stands_before_it(coordinates: str) -> None:
    """A piston of 2 kg prescribed to x = a t²/2 pushes 3 kg: m a between them, (m + M) a from the drive."""
    a = 2.0
    b = ub.Builder(gravity=None)
    piston = b.body("piston", shape=ub.Box((0.2, 0.2, 0.2)), mass=2.0)
    b.joint("drive", ub.Prismatic((1, 0, 0)), b.world, piston)
    b.body("load", shape=ub.Sphere(0.1), mass=3.0, X_WB=ub.Pose((0.2, 0, 0)))
    b.add(ub.PrescribedJoint("drive", lambda t: 0.5 * a * t * t, rate=lambda t: a * t, acceleration=lambda t: a), name="ramp")
    b.add(ub.Contact())
    model = b.build()
    bound = ub.solvers.Complementarity(coordinates=coordinates).bind(model)
    here = bound.contact_instant().only
    assert here.normal_forces == pytest.approx([3.0 * a], rel=1e-9) and here.multipliers["ramp"] == pytest.approx([5.0 * a], rel=1e-9)
    recording = ub.Simulation(model, ub.solvers.Complementarity(coordinates=coordinates), dt=1e-2).run(0.3, every=30)
    assert recording.twist("load")[-1, 3] == pytest.approx(0.3 * a, rel=0.02)
    assert recording.contacts[-1].normal_forces == pytest.approx([3.0 * a], rel=0.02)
    assert recording.multiplier("ramp")[-1] == pytest.approx([5.0 * a], rel=0.02)
