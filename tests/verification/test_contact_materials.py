"""Contact by materials of single shapes, against closed forms: a sledge on a slope, rest at margins, free fall through ghosts, spin."""

import math

import numpy as np
import pytest

import unibody as ub

G = 9.81
M = ub.ContactMaterial
HALF, WIDE, RADIUS, HEIGHT, MASS = 0.5, 0.3, 0.05, 0.2, 4.0
"""Of the sledge: feet at ±HALF along and ±WIDE across, their radius, the centre of mass over the ground."""
SLOPE = 0.6
"""[rad]"""
SHARP = {"complementarity": 1e-6, "impulse": 1e-6, "penalty": 1e-3}
"""Relative tolerance of an acceleration: impulses meet Coulomb's law to the tolerance of the solver; penalty forces sink in by gravity
while they find it, which rocks the sledge for a while."""


def sledge(uphill, downhill, ground, contacts):
    """Four spherical feet under a block, two materials, on a plane; gravity is turned instead of the slope."""
    b = ub.Builder(gravity=(G * math.sin(SLOPE), 0.0, -G * math.cos(SLOPE)))
    b.body("ground", shape=ub.Placed(ub.Plane(), ub.Pose(), material=ground), kind="static")
    feet = [
        ub.Placed(ub.Sphere(RADIUS), ub.Pose(p=(x, y, RADIUS - HEIGHT)), material=material)
        for x, material in ((-HALF, uphill), (HALF, downhill)) for y in (-WIDE, WIDE)
    ]  # fmt: skip
    b.body("sledge", shape=feet, mass=MASS, com=(0, 0, 0), inertia=np.diag([0.1, 0.2, 0.25]), X_WB=ub.Pose(p=(0, 0, HEIGHT)))
    for c in contacts:
        b.add(c)
    return b.build()


def expected(mu_1: float, mu_2: float) -> float:
    """Acceleration down the slope. With N₁ + N₂ = N = m g cos, F = μ₁ N₁ + μ₂ N₂ and moments about the centre of mass
    HEIGHT F = HALF (N₂ − N₁):  F = ½ (μ₁ + μ₂) N / (1 − (μ₂ − μ₁) HEIGHT / (2 HALF))."""
    force = 0.5 * (mu_1 + mu_2) * G * math.cos(SLOPE) / (1.0 - (mu_2 - mu_1) * HEIGHT / (2.0 * HALF))
    return G * math.sin(SLOPE) - force


PLAIN = (ub.Contact(),)
SLEDGES = {
    "two materials": ((M(friction=0.2), M(friction=0.5), None, PLAIN), (0.2, 0.5)),
    "the larger friction": ((M(friction=0.2), M(friction=0.5), M(friction=0.4), PLAIN), (0.4, 0.5)),
    "the higher priority": ((M(friction=0.2), M(friction=0.5), M(friction=0.1, priority=1), PLAIN), (0.1, 0.1)),
    "one foot of higher priority": ((M(friction=0.0, priority=2), M(friction=0.5), M(friction=0.3, priority=1), PLAIN), (0.0, 0.3)),
    "what is not said": ((M(), M(friction=0.5), None, (ub.Contact(friction=0.3),)), (0.3, 0.5)),
    "between bodies": (
        (M(friction=0.1), M(friction=0.5), None, (ub.Contact(), ub.Contact(friction=0.25, between=("ground", "sledge")))), (0.25, 0.25)
    ),
    "by name": (
        (M(friction=0.5, name="ice"), M(friction=0.4), M(name="floor"),
         (ub.Contact(), ub.Contact(friction=0.05, materials=("floor", "ice")))), (0.05, 0.4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("solver", SHARP)
@pytest.mark.parametrize("case", SLEDGES.values(), ids=SLEDGES)
def test_a_sledge_slides_as_the_friction_of_each_foot_lets_it(case, solver):
    """From the second half of a slide: what penalty forces need to settle is over, and speeds of all solvers are linear in time."""
    arguments, coefficients = case
    recording = ub.Simulation(sledge(*arguments), solver, dt=1e-3).run(0.4)
    speed, half = recording.twist("sledge")[:, 3], 200
    found = (speed[-1] - speed[half]) / (recording.t[-1] - recording.t[half])
    assert found == pytest.approx(expected(*coefficients), rel=SHARP[solver])
    assert abs(recording.pose("sledge")[-1, 2] - HEIGHT) < 1e-3  # it stays on its feet


def test_a_foot_that_holds_holds_the_sledge():
    """(μ₁ + μ₂)/2 … enough to stop what slides, by one pair of feet alone: at rest friction is m g sin in all."""
    recording = ub.Simulation(sledge(M(friction=0.0), M(friction=2.0), None, PLAIN), "complementarity", dt=1e-3).run(0.2)
    assert abs(recording.pose("sledge")[-1, 0]) < 1e-9
    last = recording.contacts[-1]
    front = last.points[:, 0] > 0.0
    assert np.abs(last.friction[front].sum(axis=0)[0]) == pytest.approx(MASS * G * math.sin(SLOPE), rel=1e-6)
    assert np.abs(last.friction[~front]).max() == 0.0


def dropped(*shapes, ground=None, contacts=PLAIN, spin: float = 0.0, height: float = 0.3):
    """Bodies '0', '1', … 2 m apart over a plane."""
    b = ub.Builder()
    b.body("ground", shape=ub.Placed(ub.Plane(), ub.Pose(), material=ground), kind="static")
    for i, (shape, material) in enumerate(shapes):
        placed = ub.Placed(shape, ub.Pose(), material=material)
        b.body(str(i), shape=placed, X_WB=ub.Pose(p=(2.0 * i, 0, height)), V_WB=(0, 0, spin, 0, 0, 0))
    for c in contacts:
        b.add(c)
    return b.build()


SHAPES = (ub.Sphere(0.1), ub.Box((0.2, 0.3, 0.2)), ub.Capsule(0.1, 0.3), ub.Cylinder(0.1, 0.2), ub.Ellipsoid((0.12, 0.15, 0.1)))
RESTS = (0.1, 0.1, 0.25, 0.1, 0.1)


@pytest.mark.parametrize("solver", ("complementarity", "impulse"))
def test_what_has_margins_rests_their_sum_above(solver):
    """The overlap that is left alone is 10⁻⁵ of the smallest body, 2 µm."""
    model = dropped(*((s, M(margin=0.013)) for s in SHAPES), ground=M(margin=0.007), height=0.4)
    recording = ub.Simulation(model, solver, dt=2e-3).run(0.6)
    for i, rest in enumerate(RESTS):
        assert recording.pose(str(i))[-1, 2] == pytest.approx(rest + 0.02, abs=3e-6), SHAPES[i]


def test_margins_hold_between_moving_bodies_and_on_meshes():
    """A ball between two walls of its own kind cannot be nearer to either than margins say: a stack of three, a terrain below."""
    b = ub.Builder()
    b.body("hills", shape=ub.Placed(ub.HeightField(np.zeros((3, 3))), ub.Pose(), material=M(margin=0.001)), kind="static")
    for k in range(3):
        own = ub.Placed(ub.Box((0.2, 0.2, 0.1)), ub.Pose(), material=M(margin=0.002 * (k + 1)))
        b.body(str(k), shape=own, X_WB=ub.Pose(p=(0, 0, 0.06 + 0.12 * k)))
    b.add(ub.Contact(friction=0.5))
    recording = ub.Simulation(b.build(), "complementarity", dt=2e-3).run(0.5)
    heights = [recording.pose(str(k))[-1, 2] for k in range(3)]
    np.testing.assert_allclose(heights, [0.053, 0.053 + 0.106, 0.053 + 0.106 + 0.110], atol=3e-6)  # 3 × 10⁻⁶: the overlap left alone


def test_penalty_forces_begin_at_the_margin():
    """They sink in by a part of the free fall of their own time; margins move the whole by their sum."""
    heights = []
    for margin in (0.0, 0.02):
        recording = ub.Simulation(dropped((ub.Sphere(0.1), M(margin=margin)), height=0.1 + margin), "penalty", dt=1e-3).run(0.5)
        heights.append(recording.pose("0")[-1, 2])
    assert heights[1] - heights[0] == pytest.approx(0.02, abs=1e-9)


def test_what_masks_keep_apart_falls_freely():
    """The step is semi-implicit: after n steps a body has fallen g h² n (n + 1)/2, exactly. The other stands on the same ground."""
    model = dropped((ub.Sphere(0.1), M(category=2, mask=2)), (ub.Sphere(0.1), M()), height=0.1)
    h, n = 2e-3, 200
    recording = ub.Simulation(model, "complementarity", dt=h).run(n * h)
    assert recording.pose("0")[-1, 2] == pytest.approx(0.1 - 0.5 * G * h * h * n * (n + 1), abs=1e-9)
    assert recording.pose("1")[-1, 2] == pytest.approx(0.1, abs=2e-6)


def test_a_named_pair_touches_although_masks_forbid_it():
    ghost = M(category=0, mask=0, name="ghost")
    contacts = (ub.Contact(), ub.Contact(materials=("ghost", "floor"), margin=0.01))
    model = dropped((ub.Sphere(0.1), ghost), ground=M(name="floor"), contacts=contacts)
    assert ub.Simulation(model, "complementarity", dt=2e-3).run(0.5).pose("0")[-1, 2] == pytest.approx(0.11, abs=2e-6)


@pytest.mark.parametrize(("ball", "ground"), ((M(0.5, 0.02), None), (M(0.2, 0.01), M(0.5, 0.02)), (M(0.5, 0.02, priority=1), M(0.9, 0.3))))
def test_torsional_friction_stops_what_spins_when_its_closed_form_says(ball, ground):
    """A ball that spins about the vertical on one point: J ω̇ = −μ · torsion · m g, J = ⅖ m r²; it stops after ⅖ r² ω₀ / (μ torsion g)."""
    radius, spin = 0.1, 4.0
    stops = 0.4 * radius**2 * spin / (0.5 * 0.02 * G)
    h = stops / 200
    model = dropped((ub.Sphere(radius), ball), ground=ground, spin=spin, height=radius)
    recording = ub.Simulation(model, "complementarity", dt=h).run(1.5 * stops)
    rate = recording.twist("0")[:, 2]
    np.testing.assert_allclose(rate[:200], spin * (1.0 - np.arange(200) / 200), atol=1e-6 * spin)
    assert np.abs(rate[202:]).max() < 1e-6


def test_a_spinning_disc_stops_by_its_rim_and_its_torsion_together():
    """A cylinder that stands on its ring of contacts. Slip ω R and spin ω share one cone, whose force takes the most power,
    μ N √((ω R)² + (ω torsion)²): with J = ½ m R² it stops after ½ R² ω₀ / (μ √(R² + torsion²) g)."""
    radius, torsion, mu, spin = 0.1, 0.05, 0.3, 3.0
    stops = 0.5 * radius**2 * spin / (mu * math.hypot(radius, torsion) * G)
    h = stops / 100
    model = dropped((ub.Cylinder(radius, 0.02), M(mu, torsion)), spin=spin, height=0.01)
    recording = ub.Simulation(model, "complementarity", dt=h).run(1.5 * stops)
    rate = recording.twist("0")[:, 2]
    time = float(recording.t[np.argmax(np.abs(rate) < 1e-3 * spin)])
    assert time == pytest.approx(stops, abs=2.0 * h)  # the step in which it stops is not known better; without torsion it is 12 later
    assert np.abs(rate[104:]).max() < 1e-6


def test_materials_bounce_by_the_larger_restitution():
    """A ball that falls from rest returns to e² of its height, first step's bounce law to O(h)."""
    b = dropped((ub.Sphere(0.1), M(restitution=0.8)), ground=M(restitution=0.3), height=0.1 + 0.5)
    recording = ub.Simulation(b, "complementarity", dt=5e-4).run(0.7)
    z = recording.pose("0")[:, 2] - 0.1
    first = int(np.argmin(z[: int(0.4 / 5e-4)]))
    assert z[first:].max() == pytest.approx(0.64 * 0.5, rel=5e-3)  # half a step of way at the impact, 0.8 mm


def test_a_barrier_reduces_materials_to_bodies():
    """The same motion, number for number, as with friction and exclusions said of bodies."""

    def block(material, ghost, *contacts):
        b = ub.Builder(gravity=(G * math.sin(SLOPE), 0.0, -G * math.cos(SLOPE)))
        b.body("ground", shape=ub.Placed(ub.Plane(), ub.Pose(), material=None if material is None else M(friction=0.1)), kind="static")
        b.body("block", shape=ub.Placed(ub.Box((0.2, 0.2, 0.1)), ub.Pose(), material=material), X_WB=ub.Pose(p=(0, 0, 0.0505)))
        b.body("ghost", shape=ub.Placed(ub.Box((0.2, 0.2, 0.1)), ub.Pose(), material=ghost), X_WB=ub.Pose(p=(0, 0, 0.0505)))
        for c in (ub.Contact(reach=1e-3), *contacts):
            b.add(c)
        return ub.Simulation(b.build(), "barrier", dt=5e-3).run(0.2)

    apart = [ub.Contact(between=("ghost", other), on=False) for other in ("ground", "block")]
    said = block(None, None, *apart, ub.Contact(between=("ground", "block"), friction=0.4))
    found = block(M(friction=0.4), M(category=2, mask=2))
    np.testing.assert_array_equal(found.pose("block"), said.pose("block"))
    assert found.pose("ghost")[-1, 2] < -0.05 < 0.05 < found.pose("block")[-1, 2]
