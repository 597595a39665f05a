"""How stiff a scene RedMax bears at dt = 1e-2, from mechanics alone.

A mass m on a spring (k, at rest at the length L) that starts across it with speed v: the linearised force of the step, −k u uᵀ δx, does
not see a motion across the spring, so the first linearly implicit step goes straight, and the spring is left stretched by

    s = √(L² + v² h²) − L ≈ (v h)² / (2 L),     with the energy ½ k s² ≈ k (v h)⁴ / (8 L²)

which nothing had paid for. The next step takes it back in one go, at a speed of at most s / h = v (v h / 2 L): total energy can rise with
k, kinetic energy does not while v h < 2 L. A fully implicit step with constant masses loses energy step by step where V is convex; with
masses that depend on q it may give back some of what it lost, but no more.

Inertial forces are those of the beginning of a step in the linearly implicit rule, whatever the springs: a loose chain that whips at
dt = 1e-2 creates kinetic energy until numbers end. The rule keeps a book of it and takes it out, at the latest when it is as much as all
that forces ever gave. What forces gave is their work, not a change of potential, so that nothing is taken from a motion that is resolved.
"""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.solvers import Articulated, RedMax

H = 1e-2
G = 9.81
STIFFNESSES = [1.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12]
IMPLICIT = ["linearly-implicit", "implicit"]


def mass_on_spring(stiffness=0.0, damping=0.0, speed=0.0, gravity=0.0, mass=1.0, length=1.0):
    """A point mass at (length, 0, 0) on a spring to the origin, at rest in it, that moves along y."""
    b = ub.Builder(gravity=(0, 0, -gravity))
    bob = b.body("bob", mass=mass, inertia=(1e-3, 1e-3, 1e-3))
    b.joint("slide", ub.Translational(), b.world, bob, q=(length, 0, 0), v=(0, speed, 0))
    b.add(ub.SpringDamper(bob.at(), b.world.at(), stiffness=stiffness, damping=damping), name="spring")
    return b.build()


def chain(stiffness):
    return ub.scenes.build("stiff-chain", n=6, stiffness=stiffness, every=3)


def tree_of_hinges(stiffness, seed):
    """Six bodies on hinges, each on any earlier one or the world, and four springs between any two, at rest at the start."""
    rng = np.random.default_rng(100 + seed)
    b = ub.Builder(gravity=(0, 0, -G))
    bodies = [b.world]
    for i in range(6):
        parent = bodies[rng.integers(0, len(bodies))]
        body = b.body(f"body{i}", mass=rng.uniform(0.5, 2.0), inertia=rng.uniform(0.02, 0.03, 3))
        axis, X_PF, X_BM = rng.normal(size=3), ub.Pose(p=rng.uniform(-0.5, 0.5, 3)), ub.Pose(p=rng.uniform(-0.5, 0.5, 3))
        b.joint(f"joint{i}", ub.Revolute(axis=axis), parent, body, X_PF, X_BM)
        bodies.append(body)
    for s in range(4):
        i, j = rng.choice(7, 2, replace=False)
        ends = bodies[i].at(*rng.uniform(-0.3, 0.3, 3)), bodies[j].at(*rng.uniform(-0.3, 0.3, 3))
        b.add(ub.SpringDamper(*ends, stiffness=stiffness), name=f"spring{s}")
    return b.build()


def gravity_gives(model):
    """Σ m g (height now + the longest way from the world to the centre of mass): what falling as far as joints let can give [J]."""
    total, reach = 0.0, {0: 0.0}
    for i, joint in enumerate(model.tree_joints, start=1):
        body = model.bodies[i]
        reach[i] = reach[joint.parent] + float(np.linalg.norm(joint.X_PF.p) + np.linalg.norm(joint.X_BM.p))
        total += body.mass * G * (body.X_WB.p[2] + reach[i])
    return total


def run(model, duration, every=1, rule="linearly-implicit", **options):
    return ub.Simulation(model, solver=RedMax(rule=rule, **options), dt=H).run(duration, every=every)


@pytest.mark.parametrize("stiffness", STIFFNESSES)
def test_the_first_step_of_an_orbit_stores_k_vh4_over_8_l2(stiffness):
    v, L = 2.0, 1.0
    energy = run(mass_on_spring(stiffness, speed=v), H).energy
    assert energy.springs[1] == pytest.approx(0.5 * stiffness * (np.hypot(L, v * H) - L) ** 2, rel=1e-9)
    # the next term of the root is (v h / L)² / 2 of it
    assert energy.springs[1] == pytest.approx(stiffness * (v * H) ** 4 / (8 * L**2), rel=(v * H / L) ** 2)
    assert energy.kinetic[1] == pytest.approx(energy.kinetic[0], rel=1e-12)


@pytest.mark.parametrize("stiffness", STIFFNESSES)
def test_an_orbit_of_any_stiffness_stays_as_fast_and_as_far_as_it_was(stiffness):
    v, L = 2.0, 1.0
    rec = run(mass_on_spring(stiffness, speed=v), 5.0)
    assert rec.energy.kinetic.max() <= rec.energy.kinetic[0] * (1 + 1e-9)
    # ½ k s² ≤ ½ m v², plus what a step may leave
    stretch = np.linalg.norm(rec.point("bob"), axis=1) - L
    assert stretch.max() <= v / np.sqrt(stiffness) + (v * H) ** 2 / L


@pytest.mark.parametrize("stiffness", STIFFNESSES)
def test_a_swing_of_any_stiffness_is_no_faster_than_its_fall(stiffness):
    rec = run(mass_on_spring(stiffness, gravity=G), 5.0)
    # The most of −m g z − ½ k s²: a pendulum's m g L, and (m g)² / 2 k of the spring's sag.
    assert rec.energy.kinetic.max() <= G * 1.0 + G**2 / (2 * stiffness)


@pytest.mark.parametrize("stiffness", STIFFNESSES[1:])
def test_a_chain_of_any_stiffness_is_no_faster_than_its_fall(stiffness):
    model = chain(stiffness)
    assert run(model, 5.0, every=5).energy.kinetic.max() <= gravity_gives(model)


def test_a_loose_chain_that_whips_stays_as_fast_as_the_book_allows():
    """Twice its fall; explicit inertial forces alone end in numbers that are none, here and in articulated bodies."""
    model = chain(1.0)
    rec = run(model, 10.0)
    assert rec.energy.kinetic.max() <= 2.0 * gravity_gives(model)
    assert any("that no force explains was taken out" in note for note in rec.reports[-1].notes)
    assert blows_up(model, RedMax(inertia="explicit"), gravity_gives(model), 10.0)
    assert blows_up(model, Articulated(), gravity_gives(model), 10.0)


@pytest.mark.parametrize("scene", ["orbit", "swing"])
def test_nothing_is_taken_where_masses_are_constant(scene):
    """C = 0 and M is constant: the book stays empty but for round-off, whatever the springs do."""
    model = SCENES[scene](1e8)
    bounded, explicit = (run(model, 2.0, inertia=kind) for kind in ("bounded", "explicit"))
    np.testing.assert_array_equal(bounded.q, explicit.q)
    assert not any("taken out" in note for note in bounded.reports[-1].notes)


@pytest.mark.parametrize("stiffness", STIFFNESSES)
@pytest.mark.parametrize("seed", range(6))
def test_a_tree_with_springs_of_any_stiffness_is_no_faster_than_its_fall(seed, stiffness):
    model = tree_of_hinges(stiffness, seed)
    assert run(model, 5.0, every=5).energy.kinetic.max() <= gravity_gives(model)


SCENES = {
    "orbit": lambda k: mass_on_spring(k, speed=2.0),
    "swing": lambda k: mass_on_spring(k, gravity=G),
    "chain": chain,
    "tree": lambda k: tree_of_hinges(k, 1),
}


IMPLICIT_RUNS = [*((scene, k) for scene in SCENES for k in STIFFNESSES), *((f"tree {i}", k) for i in (0, 2, 3, 4, 5) for k in (1.0, 1e12))]


@pytest.mark.parametrize(("scene", "stiffness"), IMPLICIT_RUNS)
def test_fully_implicit_steps_lose_energy(scene, stiffness):
    """Over 100 steps, and in every step where masses are constant. Where they are not, q₀ is seen from the end of the step: T(q₀), and a
    potential that is not convex in q, are off by h², which now and then is more than the h² that is lost: some percent of T here."""
    make = SCENES.get(scene) or (lambda k: tree_of_hinges(k, int(scene[-1])))
    energy = run(make(stiffness), 1.0, rule="implicit").energy
    total = energy.total
    # Corrections end at 1e-11 of velocities, and at 4e-15 m or rad, against forces of some 100 N
    allowed = 1e-9 * max(1.0, np.abs(total).max())
    if scene in ("orbit", "swing"):
        assert np.diff(total).max() <= allowed
    assert total.max() <= total[0] + allowed
    assert (total - np.minimum.accumulate(total)).max() <= allowed + 0.05 * energy.kinetic.max()


def blows_up(model, solver, bound, duration=5.0):
    """Whether the step fails or kinetic energy passes a thousand times the bound."""
    try:
        rec = ub.Simulation(model, solver=solver, dt=H).run(duration)
    except ub.StepFailed:
        return True
    return not rec.energy.kinetic.max() < 1e3 * bound


@pytest.mark.parametrize("scene", ["orbit", "swing"])
def test_semi_implicit_steps_blow_up_beyond_h2_k_over_m_of_4(scene):
    calm, wild = SCENES[scene](3.0 / H**2), SCENES[scene](5.0 / H**2)
    assert not blows_up(calm, Articulated(), G)
    assert blows_up(wild, Articulated(), G)
    assert not blows_up(wild, RedMax(), G)


def test_a_stiff_chain_blows_up_under_semi_implicit_steps():
    model = chain(1e8)
    assert blows_up(model, Articulated(), gravity_gives(model))


def test_a_force_named_explicit_is_explicit():
    wild = mass_on_spring(1e6, speed=2.0)
    assert not blows_up(wild, RedMax(), 2.0)
    assert blows_up(wild, RedMax(explicit=("spring",)), 2.0)


def test_an_explicit_force_that_does_not_exist_is_refused():
    with pytest.raises(ub.ModelError, match=r"no force is named 'sprung'; the forces are .*spring"):
        ub.Simulation(mass_on_spring(1.0), solver=RedMax(explicit=("sprung",)), dt=H)


def spinning_top(damping):
    """A round body that turns and flies, with drag on both."""
    b = ub.Builder(gravity=(0, 0, 0))
    top = b.body("top", mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.joint("float", ub.Composite(ub.Translational(), ub.Ball()), b.world, top, v=(1, 0, 0, 3, 2, 1))
    b.add(ub.BodyDamping(top, angular=damping, linear=damping))
    return b.build()


def damped_hinge(damping):
    b = ub.Builder(gravity=(0, 0, 0))
    door = b.body("door", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.joint("hinge", ub.Revolute(axis=(0, 0, 1)), b.world, door, X_BM=ub.Pose(p=(-0.5, 0, 0)), v=4.0, damping=damping)
    return b.build()


def dashpot(damping):
    """A mass that moves along its damper."""
    b = ub.Builder(gravity=(0, 0, 0))
    bob = b.body("bob", mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    b.joint("slide", ub.Translational(), b.world, bob, q=(1, 0, 0), v=(2, 0, 0))
    b.add(ub.SpringDamper(bob.at(), b.world.at(), damping=damping))
    return b.build()


DAMPED = {"dashpot": dashpot, "drag": spinning_top, "hinge": damped_hinge}


@pytest.mark.parametrize("damping", [1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("scene", DAMPED)
@pytest.mark.parametrize("rule", IMPLICIT)
def test_dampers_only_slow_down(rule, scene, damping):
    """Where masses do not depend on the position, so that kinetic energy is that of v alone."""
    kinetic = run(DAMPED[scene](damping), 1.0, rule=rule).energy.kinetic
    assert np.diff(kinetic).max() <= 1e-9 * kinetic[0]
    assert kinetic[-1] < kinetic[0]


@pytest.mark.parametrize("damping", [1.0, 1e3])
def test_a_damper_that_turns_only_slows_down_under_fully_implicit_steps(damping):
    kinetic = run(mass_on_spring(damping=damping, speed=2.0), 1.0, rule="implicit").energy.kinetic
    assert np.diff(kinetic).max() <= 1e-9 * kinetic[0]


def test_a_stiff_damper_that_turns_only_slows_down():
    """With exact terms ½ h² c w (w = v / L) stands beside the diagonal (m + h c, m), singular where (h² c w / 2)² = m (m + h c); the
    definite terms leave it out."""
    kinetic = run(mass_on_spring(damping=1e6, speed=2.0), 0.1).energy.kinetic
    assert kinetic.max() <= 1.01 * kinetic[0]


def arm(limit=np.inf, kp=1e4, kd=1e3, target=0.0, mass=2.0, lever=0.5):
    """A level arm under gravity with a motor in its hinge; q counts upwards."""
    b = ub.Builder(gravity=(0, 0, -G))
    body = b.body("arm", mass=mass, com=(lever, 0, 0), inertia=(0.01, 0.1, 0.1))
    b.joint("hinge", ub.Revolute(axis=(0, -1, 0)), b.world, body)
    b.add(ub.Motor("hinge", kp=kp, kd=kd, target=target, limit=limit), name="motor")
    return b.build()


@pytest.mark.parametrize("kp", [1e2, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("rule", IMPLICIT)
def test_motors_of_any_gain_hold_their_targets_but_for_the_sag(rule, kp):
    rec = run(arm(kp=kp, kd=0.1 * kp), 2.0, rule=rule)
    q = rec.joint("hinge")[:, 0]
    # kp q + m g l cos q = 0, approached within ten time constants kd / kp = 0.1 s and more: e^-20 of the sag remains
    sag = 2.0 * G * 0.5 * np.cos(q[-1]) / kp
    assert q[-1] == pytest.approx(-sag, rel=1e-6, abs=1e-13)
    assert np.abs(q).max() <= 1.3 * sag + 1e-13


@pytest.mark.parametrize("rule", IMPLICIT)
def test_a_motor_at_its_limit_gives_no_more_than_that(rule):
    """A limit below m g l lets the arm fall: (I + m l²) q̈ = limit − m g l cos q."""
    limit, inertia = 4.0, 0.1 + 2.0 * 0.25
    rec = run(arm(limit=limit, kp=1e12, kd=1e9, target=0.5), 0.1, rule=rule)
    v = rec.joint_velocity("hinge")[:, 0]
    # cos q stays above 0.995 in 0.1 s
    assert v[-1] == pytest.approx((limit - 2.0 * G * 0.5) / inertia * 0.1, rel=6e-3)


def test_a_motor_whose_limit_holds_the_load_reaches_its_target():
    """With gains whose band, limit / kp, the steps resolve."""
    rec = run(arm(limit=30.0, kp=200.0, kd=40.0, target=0.5), 5.0)
    q = rec.joint("hinge")[-1, 0]
    assert 200.0 * (0.5 - q) == pytest.approx(2.0 * G * 0.5 * np.cos(q), rel=1e-6)


def test_a_spring_at_the_centre_of_a_free_body_does_not_turn_it():
    b = ub.Builder(gravity=(0, 0, -G))
    ball = b.body("ball", mass=1.0, inertia=(0.004, 0.005, 0.006), X_WB=ub.Pose(p=(1, 0, 0)), V_WB=(0, 0, 0, 0, 2, 0))
    b.add(ub.SpringDamper(ball.at(), b.world.at(), stiffness=1e3), name="spring")
    assert np.abs(run(b.build(), 0.5).twist("ball")[:, :3]).max() < 1e-9
