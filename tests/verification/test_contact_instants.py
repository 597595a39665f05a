"""Contact at an instant: Painlevé's rod, ladders, wheels and blocks against closed forms; how steps go on where there is
no solution."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G = 9.81


def rod(theta: float, mu: float, spin: float = 0.0, speed: float = -1.0, contact: dict | None = None) -> ub.Model:
    """A thin uniform rod of length 1 and mass 1 whose lower end slides on the ground with `speed`, its upper end at +x, at an angle theta
    from the ground, turning about y with `spin`."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    r, lean = 1e-3, np.array([np.cos(theta), 0.0, np.sin(theta)])
    centre = np.array([0.0, 0.0, r]) + 0.5 * lean
    turn = np.array([0.0, spin, 0.0])
    velocity = np.array([speed, 0.0, 0.0]) + np.cross(turn, centre)
    b.body(
        "rod", shape=ub.Capsule(r, 1.0), mass=1.0, inertia=(1 / 12, 1 / 12, 1e-5),
        X_WB=ub.Pose.about((0, 1, 0), np.pi / 2 - theta, p=tuple(centre)), V_WB=(*turn, *velocity),
    )  # fmt: skip
    b.add(ub.Contact(friction=mu, **(contact or {})), name="contact")
    return b.build()


def answers(theta: float) -> np.ndarray:
    """W of the rod's end, normal and along +x: m = 1, I = 1/12, arm 1/2 (the end's radius of 1 mm adds as much to the arm's height)."""
    x, z = -0.5 * np.cos(theta), -0.5 * np.sin(theta) - 1e-3
    n, t = -x, z  # torques about y of unit forces along z and x
    return np.eye(2) + 12.0 * np.outer((n, t), (n, t))


@pytest.mark.parametrize("spin", [0.0, 6.0])
@pytest.mark.parametrize("theta", [0.4, 1.1])
def test_painleves_rod(theta: float, spin: float) -> None:
    """p = W_nn − μ |W_nt| and q = ω²(l/2) sin θ − g: unique where p > 0; where p < 0 none if q < 0 and two if q > 0."""
    W = answers(theta)
    critical = W[0, 0] / abs(W[0, 1])
    q = spin**2 * 0.5 * np.sin(theta) - G
    for mu in (0.3, 0.97 * critical, 1.03 * critical, 2.5 * critical):
        p = W[0, 0] - mu * abs(W[0, 1])
        here = ub.contact_instant(rod(theta, mu, spin))
        assert here.proved and here.answers == pytest.approx([p], rel=1e-9)
        if p > 0.0:
            assert here.verdict == "unique" and here.causes == ()
            assert here.only.normal_forces == pytest.approx([max(0.0, -q / p)], rel=1e-8, abs=1e-12)
            assert here.only.friction[0] == pytest.approx([mu * max(0.0, -q / p), 0.0, 0.0], rel=1e-8, abs=1e-9)
        elif q < 0.0:
            assert here.verdict == "none" and here.causes == (0,) and here.outcomes == []
            assert "'rod' on 'ground'" in str(here)
        else:
            assert here.verdict == "several" and here.causes == (0,)
            assert sorted(o.normal_forces[0] for o in here.outcomes) == pytest.approx([0.0, -q / p], rel=1e-7)
            assert {o.modes[0] for o in here.outcomes} == {"slides", "separates"}
        away = ub.contact_instant(rod(theta, mu, spin, speed=1.0))  # dragged the other way friction lifts the rod
        assert away.verdict == "unique"


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_recordings_begin_with_the_forces_of_the_instant(coordinates: str) -> None:
    """The end of a rod that turns while it slides carries less by m ω² l/2 sin θ: (g − ω² l/2 sin θ) / p, as the first row tells."""
    theta, mu, spin = 1.1, 0.3, 3.0
    W = answers(theta)
    expected = (G - spin**2 * 0.5 * np.sin(theta)) / (W[0, 0] - mu * abs(W[0, 1]))
    sim = ub.Simulation(rod(theta, mu, spin), ub.solvers.Complementarity(coordinates=coordinates), dt=1e-3)
    contacts = sim.observe().contacts
    assert contacts is not None and contacts.normal_forces == pytest.approx([expected], rel=1e-4)


def test_the_paradox_needs_friction_above_four_thirds() -> None:
    """min over θ of (1 + 3 cos² θ) / (3 sin θ cos θ) = 4/3, at tan θ = 2."""
    theta = np.arctan(2.0)
    assert ub.contact_instant(rod(theta, 1.327)).verdict == "unique"
    assert ub.contact_instant(rod(theta, 1.340)).verdict == "none"
    assert all(ub.contact_instant(rod(t, 1.327)).verdict == "unique" for t in (0.3, 0.8, 1.4))


@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_steps_pass_the_paradox_by_an_impulse_without_collision(coordinates: str) -> None:
    """Where no force will do, an impulse does, however short the step: the end stops at once, by W⁻¹ (0, −u_t) within the cone."""
    theta, mu = np.arctan(2.0), 2.0
    model = rod(theta, mu)
    impulse = np.linalg.solve(answers(theta), [0.0, 1.0])
    assert abs(impulse[1]) < mu * impulse[0]
    for dt in (1e-5, 1e-6):
        sim = ub.Simulation(model, ub.solvers.Complementarity(coordinates=coordinates), dt=dt)
        sim.step()
        contacts = sim.observe().contacts
        assert contacts is not None
        assert contacts.normal_forces[0] * dt == pytest.approx(impulse[0], abs=50.0 * dt)
        assert contacts.friction[0, 0] * dt == pytest.approx(impulse[1], abs=50.0 * dt)
        assert not contacts.sliding[0] and sim.report.residual < 1e-9
    recording = ub.Simulation(model, "complementarity", dt=2e-3).run(0.06)
    energy = recording.energy.total
    assert (np.diff(energy) < 1e-4 * energy[0]).all() and np.isfinite(recording.q).all()


def test_check_names_a_start_without_forces() -> None:
    found = [f for f in ub.check(rod(np.arctan(2.0), 2.0)) if f.code == "no contact forces"]
    assert len(found) == 1 and found[0].level == "warning" and found[0].elements == ("rod", "ground")
    assert "Painlevé" in found[0].message and "1.33" in found[0].message
    many = [f for f in ub.check(rod(np.arctan(2.0), 2.0, spin=6.0)) if f.code == "several contact forces"]
    assert len(many) == 1 and many[0].elements == ("rod", "ground")
    assert not [f for f in ub.check(rod(np.arctan(2.0), 1.0)) if "contact forces" in f.code]


@pytest.mark.parametrize(("mu", "speed"), [(0.8, 0.0), (0.4, 0.0), (0.4, 0.5), (0.0, 0.0)])
def test_block_on_a_slope(mu: float, speed: float) -> None:
    """At 30°: held by m g sin θ below μ = tan θ, else sliding with g (sin θ − μ cos θ). Four corners share the load in more ways than one;
    the motion is the same."""
    theta, m = np.radians(30.0), 3.0
    b = ub.Builder(gravity=(G * np.sin(theta), 0, -G * np.cos(theta)))
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("block", shape=ub.Box((0.4, 0.2, 0.1)), mass=m, X_WB=ub.Pose((0, 0, 0.05)), V_WB=(0, 0, 0, speed, 0, 0))
    b.add(ub.Contact(friction=mu))
    model = b.build()
    here = ub.contact_instant(model)
    assert here.verdict == "unique" and len(here) == 4
    out = here.only
    a = G * (np.sin(theta) - mu * np.cos(theta)) if mu < np.tan(theta) else 0.0
    assert out.accelerations[model.body("block")] == pytest.approx([0, 0, 0, a, 0, 0], abs=1e-7)
    total = out.normal_forces @ here.normals + out.friction.sum(axis=0)
    assert total == pytest.approx([m * (a - G * np.sin(theta)), 0.0, m * G * np.cos(theta)], abs=1e-6)
    assert (np.linalg.norm(out.friction, axis=1) <= mu * out.normal_forces + 1e-6).all()
    assert not out.forces_unique
    doing = "presses" if mu == 0.0 else "sticks" if a == 0.0 else "slides" if speed else "starts to slide"
    assert set(out.modes) == {doing}


def ladder(theta: float, floor: float, wall: float) -> ub.Model:
    """Length 2, mass 5, ends of radius 1 cm, leaning at theta from the ground."""
    b = ub.Builder()
    ground = b.body("ground", shape=ub.Plane(), kind="static")
    side = b.body("wall", shape=ub.Plane(), kind="static", X_WB=ub.Pose.about((0, 1, 0), -np.pi / 2, p=(2.0 * np.cos(theta) + 0.01, 0, 0)))
    pose = ub.Pose.about((0, 1, 0), np.pi / 2 - theta, p=(np.cos(theta), 0, np.sin(theta) + 0.01))
    body = b.body("ladder", shape=ub.Capsule(0.01, 2.0), mass=5.0, inertia=(5 / 3, 5 / 3, 1e-3), X_WB=pose)
    b.add(ub.Contact(friction=floor, between=(ground, body)))
    b.add(ub.Contact(friction=wall, between=(side, body)))
    return b.build()


def test_ladder_against_a_smooth_wall() -> None:
    """Floor m g, wall H = m g cos θ / (2 sin θ + r), held if μ ≥ H / m g. On ice it falls with θ̈ = −3 g cos θ / (2 L)."""
    theta, weight = 1.0, 5.0 * G
    H = weight * np.cos(theta) / (2.0 * np.sin(theta) + 0.01)
    held = ub.contact_instant(ladder(theta, 1.01 * H / weight, 0.0))
    assert held.verdict == "unique" and held.only.forces_unique
    at = {names[1]: k for k, names in enumerate(held.names)}
    assert held.only.normal_forces[at["ground"]] == pytest.approx(weight, rel=1e-9)
    assert held.only.normal_forces[at["wall"]] == pytest.approx(H, rel=1e-9)
    assert held.only.friction[at["ground"]] == pytest.approx([H, 0.0, 0.0], abs=1e-8)
    slips = ub.contact_instant(ladder(theta, 0.99 * H / weight, 0.0))
    assert slips.verdict == "unique" and slips.only.modes[at["ground"]] == "starts to slide"
    ice = ub.contact_instant(ladder(theta, 0.0, 0.0))
    assert ice.only.accelerations[3, 1] == pytest.approx(1.5 * G * np.cos(theta) / 2.0, rel=1e-9)
    assert not ub.contact_instant(ladder(theta, 0.6, 0.6)).only.forces_unique  # two cones: statics leave one force open


@pytest.mark.parametrize("torque", [1.0, 20.0])
def test_driven_wheel_rolls_or_spins(torque: float) -> None:
    """Rolls with τ r / (I + m r²) while its friction m a is below μ m g; else starts to spin with (τ − μ m g r) / I."""
    m, r, mu = 4.0, 0.3, 0.5
    inertia = 0.4 * m * r * r
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    wheel = b.body("wheel", shape=ub.Sphere(r), mass=m, X_WB=ub.Pose((0, 0, r)), V_WB=(0, 2.0 / r, 0, 2.0, 0, 0))
    b.add(ub.AppliedWrench(wheel, torque=(0, torque, 0)))
    b.add(ub.Contact(friction=mu))
    model = b.build()
    out = ub.solvers.Complementarity(coordinates="maximal").bind(model).contact_instant().only
    a = torque * r / (inertia + m * r * r)
    grip = m * a <= mu * m * G
    assert grip == (torque == 1.0) and out.modes == ("sticks" if grip else "starts to slide",)
    turn = a / r if grip else (torque - mu * m * G * r) / inertia
    assert out.accelerations[model.body("wheel")] == pytest.approx([0, turn, 0, a if grip else mu * G, 0, 0], abs=1e-8)


def test_static_friction_torsion_and_grain_at_an_instant() -> None:
    """Static friction holds what sliding friction does not; a spinning ball has μ r N about its normal; across the grain another μ."""
    theta = np.arctan(0.5)
    for static, held in ((0.6, True), (0.45, False)):
        b = ub.Builder(gravity=(G * np.sin(theta), 0, -G * np.cos(theta)))
        b.body("ground", shape=ub.Plane(), kind="static")
        runner = b.body("runner", shape=ub.Sphere(0.1), mass=2.0)
        b.joint("way", ub.Translational(), b.world, runner, q=(0, 0, 0.1))
        b.add(ub.Contact(friction=0.3, static=static))
        a = ub.contact_instant(b.build()).only.accelerations[2, 3]
        assert a == pytest.approx(0.0 if held else G * (np.sin(theta) - 0.3 * np.cos(theta)), abs=1e-7)
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.1), mass=2.0, X_WB=ub.Pose((0, 0, 0.1)), V_WB=(0, 0, 5.0, 0, 0, 0))
    b.add(ub.Contact(friction=0.4, torsion=0.005))
    spun = ub.contact_instant(b.build()).only
    assert spun.torsion == pytest.approx([-0.4 * 0.005 * 2.0 * G], rel=1e-9)
    b = ub.Builder()
    ground = b.body("ground", shape=ub.Plane(), kind="static")
    block = b.body("block", shape=ub.Box((0.4, 0.4, 0.05)), mass=2.0, X_WB=ub.Pose((0, 0, 0.025)), V_WB=(0, 0, 0, 1.0, 1.0, 0))
    b.add(ub.Contact(between=(ground, block), friction=0.1, across=0.5, direction=(1, 0, 0)))
    grain = ub.contact_instant(b.build()).only.accelerations[2, 3:5]
    expected = -G * np.array([0.1**2, 0.5**2]) / np.hypot(0.1, 0.5)  # μ_i² u_i / |μ u|: the most work on the ellipse
    assert grain == pytest.approx(expected, rel=1e-6)


def test_what_hits_has_no_accelerations_yet() -> None:
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((0, 0, 0.1)), V_WB=(0, 0, 0, 0, 0, -1.0))
    b.body("other", shape=ub.Sphere(0.1), X_WB=ub.Pose((1, 0, 0.1)), V_WB=(0, 0, 0, 0, 0, 1.0))
    b.add(ub.Contact())
    here = ub.contact_instant(b.build())
    assert here.verdict == "impact" and here.names == [("ball", "ground")] and here.causes == (0,)
    with pytest.raises(ValueError, match="0 outcomes"):
        _ = here.only


def test_joints_loops_and_limits_beside_contact() -> None:
    """A four-bar in gravity whose coupler rests on a post, one crank at its stop, dry friction in a pin: forces and accelerations are the
    limit of ever shorter steps; power balances."""
    b = ub.Builder()
    links = [b.body(f"link{k}", mass=1.0 + k, inertia=(0.05, 0.06, 0.02), shape=ub.Box((0.96, 0.04, 0.04))) for k in range(3)]
    b.joint("a", ub.Revolute((0, 1, 0)), b.world, links[0], X_BM=ub.Pose((-0.5, 0, 0)), q=-1.0)
    b.joint("b", ub.Revolute((0, 1, 0)), links[0], links[1], X_PF=ub.Pose((0.5, 0, 0)), X_BM=ub.Pose((-0.5, 0, 0)), q=1.0)
    b.joint("c", ub.Revolute((0, 1, 0)), links[1], links[2], X_PF=ub.Pose((0.5, 0, 0)), X_BM=ub.Pose((-0.5, 0, 0)), q=1.0)
    b.joint("d", ub.Revolute((0, 1, 0)), b.world, links[2], X_PF=ub.Pose((2.0 * np.cos(1.0) + 1.0, 0, 0)), X_BM=ub.Pose((0.5, 0, 0)))
    b.add(ub.DryFriction("b", bound=0.3))
    top = np.sin(1.0) + 0.02
    b.body("egg", shape=ub.Sphere(0.1), mass=2.0, X_WB=ub.Pose((1.2, 0, top + 0.1)))
    b.add(ub.Contact(friction=0.6))
    model = b.build()
    here = ub.contact_instant(model)
    assert here.verdict == "unique" and len(here) == 1
    sim = ub.Simulation(model, ub.solvers.Complementarity(tolerance=1e-14), dt=1e-6)
    sim.step()
    contacts = sim.observe().contacts
    assert contacts is not None and here.only.normal_forces[0] == pytest.approx(contacts.normal_forces[0], rel=1e-4)
    assert sim.observe().twists[-1, 3:] / 1e-6 == pytest.approx(here.only.accelerations[-1, 3:], abs=1e-3)
    assert here.only.accelerations[-1, 5] < -0.1 and here.only.normal_forces[0] < 2.0 * G
    assert here.only.normal_forces[0] == pytest.approx(2.0 * (G + here.only.accelerations[-1, 5]), rel=1e-6)

    b = ub.Builder()
    bar = b.body("bar", shape=ub.Box((0.05, 0.05, 1.0)), mass=2.0)
    b.joint("hinge", ub.Revolute((0, -1, 0)), b.world, bar, X_BM=ub.Pose((0, 0, 0.5)), q=np.pi / 6)
    b.add(ub.JointLimit("hinge", lower=np.pi / 6), name="stop")
    stopped = ub.contact_instant(b.build())
    assert stopped.verdict == "unique" and stopped.only.multipliers["stop"] == pytest.approx([2.0 * G * 0.25], rel=1e-9)
    assert stopped.only.reactions["hinge"][3:] == pytest.approx([0.0, 0.0, 2.0 * G], abs=1e-9)
