"""Fast spins and fast loops in time stepping with impulses, against closed forms, published values and accurate integration.

A top at rest on its tip, Andrews' squeezer (Schiehlen 1990; Hairer and Wanner, Solving ODEs II, §VII.7: the angles at 30 ms to 1e-10), a
gyroscope that hangs in a universal joint and two linked tops turn by up to a tenth of a radian a step.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest

import unibody as ub
from unibody.solvers import Articulated, Complementarity

REDUCED, MAXIMAL = Complementarity(), Complementarity(coordinates="maximal")

START = {
    "beta": -0.0617138900142764496, "theta": 0.0, "gamma": 0.455279819163070380, "delta": 0.487364979543842550, "phi": 0.222668390165885885,
    "epsilon": 1.23054744454982119, "omega": -0.222668390165885885,
}  # fmt: skip
PUBLISHED = {
    "beta": 15.81077119629904, "theta": -15.75637105984298, "gamma": 0.04082224013073101, "delta": 0.5244099658805304,
    "phi": -0.5347301163226948, "epsilon": 1.048080741042263, "omega": 0.5347301163226948,
}  # fmt: skip
"""[rad] At t = 0 and at t = 0.03 s."""


def squeezer() -> ub.Model:
    """Seven bars, three loops at one point, a stiff spring and a motor that turns the crank two and a half times in 30 ms."""
    b = ub.Builder(gravity=None, planar=True)

    def at(x: float, y: float) -> ub.Pose:
        return ub.Pose((x, 0, y))

    def bar(name: str, mass: float, inertia: float, x: float, y: float):
        return b.body(name, mass=mass, com=(x, 0, y), inertia=(inertia,) * 3)

    pin, A, B = ub.Revolute((0, -1, 0)), at(-0.06934, -0.00227), at(-0.03635, 0.03273)
    k1, k2 = bar("K1", 0.04325, 2.194e-6, 0.00092, 0.0), bar("K2", 0.00365, 4.410e-7, -0.0115, 0.0)
    k3 = bar("K3", 0.02373, 5.255e-6, 0.01043, -0.01874)
    k5, k4 = bar("K5", 0.07050, 1.169e-5, 0.02308, 0.00916), bar("K4", 0.00706, 5.667e-7, 0.0, -0.00579)
    k7, k6 = bar("K7", 0.05498, 1.912e-5, 0.01228, -0.00449), bar("K6", 0.00706, 5.667e-7, 0.00579, 0.0)
    for name, parent, child, frame in (
        ("beta", b.world, k1, at(0, 0)), ("theta", k1, k2, at(0.007, 0)), ("gamma", b.world, k3, B), ("delta", b.world, k5, A),
        ("phi", k5, k4, at(0.04, 0)), ("epsilon", b.world, k7, A), ("omega", k7, k6, at(0, -0.04)),
    ):  # fmt: skip
        b.joint(name, pin, parent, child, frame, q=START[name])
    for child, end in ((k3, at(0, -0.035)), (k4, at(0, -0.02)), (k6, at(0.02, 0))):
        b.joint(f"E {child.name}", pin, k2, child, at(-0.028, 0), end)
    b.add(ub.SpringDamper(k3.at(0.02, 0, -0.018), b.world.at(0.014, 0, 0.072), 4530.0, rest_length=0.07785))
    b.add(ub.Motor("beta", effort=0.033))
    return b.build()


def top(spin: float = 60.0, tilt: float = 0.5) -> ub.Model:
    """A heavy top on its tip, let go without precession."""
    b = ub.Builder()
    body = b.body("top", mass=1.0, inertia=(0.002, 0.002, 0.001))
    b.joint("tip", ub.Ball(), b.world, body, X_BM=ub.Pose((0, 0, -0.1)), q=(cos(tilt / 2), 0, sin(tilt / 2), 0), v=(0, 0, spin))
    return b.build()


def linked_tops() -> ub.Model:
    """Two tops without symmetry, one on the other, that turn against each other."""
    b = ub.Builder()
    low, high = b.body("low", mass=1.0, inertia=(0.002, 0.003, 0.001)), b.body("high", mass=0.5, inertia=(0.001, 0.0015, 0.0012))
    b.joint("tip", ub.Ball(), b.world, low, X_BM=ub.Pose((0, 0, -0.1)), q=(cos(0.2), 0, sin(0.2), 0), v=(0, 0, 40.0))
    b.joint("mid", ub.Ball(), low, high, X_PF=ub.Pose((0, 0, 0.1)), X_BM=ub.Pose((0, 0, -0.05)), v=(0, 0, -40.0))
    return b.build()


def gyroscope() -> ub.Model:
    """A rotor in a frame that hangs on a universal joint."""
    b = ub.Builder()
    frame, rotor = b.body("frame", mass=0.2, inertia=(1e-4,) * 3), b.body("rotor", mass=1.0, inertia=(0.001, 0.001, 0.002))
    b.joint("hook", ub.Universal(), b.world, frame, q=(0.3, 0.4))
    b.joint("axle", ub.Revolute((0, 0, 1)), frame, rotor, X_PF=ub.Pose((0, 0, 0.1)), v=100.0)
    return b.build()


def ends(model: ub.Model, solver: object, dt: float, duration: float) -> np.ndarray:
    """Poses of all bodies at the end."""
    rec = ub.Simulation(model, solver, dt=dt).run(duration, every=round(duration / dt))
    return rec.observe(len(rec) - 1).poses


def error(model: ub.Model, solver: object, dt: float, duration: float) -> float:
    """[m, rad] The largest at the end, against a rule of order four with steps of 20 µs."""
    return float(np.abs(ends(model, solver, dt, duration) - ends(model, Articulated(rule="rk4"), 2e-5, duration)).max())


@pytest.mark.parametrize("solver", [Articulated(rule="rk4"), REDUCED, MAXIMAL, "impulse"], ids=["rk4", "reduced", "maximal", "impulse"])
def test_squeezer_reaches_the_published_angles(solver: object) -> None:
    """At 10 µs the crank, which turned by 15.9 rad, may be 6e-4 of that behind or ahead: by order one, the first step leads by h/2."""
    rec = ub.Simulation(squeezer(), solver, dt=1e-5).run(0.03, every=3000)
    for name, angle in PUBLISHED.items():
        off = np.ravel(rec.joint(name)[-1])[0] - angle
        off = np.angle(np.exp(1j * off)) if solver in (MAXIMAL, "impulse") else off  # joints of maximal coordinates count no turns
        assert abs(off) < (1e-8 if isinstance(solver, Articulated) else 1e-2), name


@pytest.mark.parametrize("dt", [1e-4, 1e-5])
def test_squeezer_is_no_worse_than_by_impulses(dt: float) -> None:
    """Its errors were forty times those of `impulse`."""
    model = squeezer()
    least = error(model, "impulse", dt, 0.03)
    for solver in (REDUCED, MAXIMAL):
        assert error(model, solver, dt, 0.03) < 1.5 * least


@pytest.mark.parametrize("make, duration", [(top, 1.0), (linked_tops, 0.5), (gyroscope, 0.5)])
def test_tops_are_no_worse_than_by_impulses(make, duration: float) -> None:
    """Reduced coordinates are far better, maximal ones the same step."""
    model = make()
    least = error(model, "impulse", 1e-3, duration)
    assert error(model, REDUCED, 1e-3, duration) < 0.2 * least
    assert error(model, MAXIMAL, 1e-3, duration) < 1.5 * least


def test_terms_in_velocities_are_of_order_two() -> None:
    """Without weight and from a steady state no force makes the first step lag, and errors fall by four."""
    b = ub.Builder(gravity=None)
    low, high = b.body("low", mass=1.0, inertia=(0.002, 0.003, 0.001)), b.body("high", mass=0.5, inertia=(0.001, 0.0015, 0.0012))
    b.joint("tip", ub.Ball(), b.world, low, X_BM=ub.Pose((0, 0, -0.1)), v=(1.0, 2.0, 10.0))
    b.joint("mid", ub.Ball(), low, high, X_PF=ub.Pose((0, 0, 0.1)), X_BM=ub.Pose((0, 0, -0.05)), v=(0, 3.0, -10.0))
    model = b.build()
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        first = ub.Simulation(model, REDUCED, dt=dt)
        # velocities of the rule are half a step behind: begin it with those
        behind = ub.Simulation(model, Articulated(rule="rk4"), dt=dt / 64).run(dt / 2, every=32)
        state = first.state
        earlier = ub.State(0.0, state.q, 2.0 * state.v - behind.v[-1])
        rec = ub.Simulation(model, REDUCED, dt=dt, state=earlier).run(0.5, every=round(0.5 / dt))
        errors.append(np.abs(rec.observe(len(rec) - 1).poses - ends(model, Articulated(rule="rk4"), 1e-4, 0.5)).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.6).all(), errors


@pytest.mark.parametrize("make", [top, linked_tops, gyroscope])
def test_what_spins_in_joints_keeps_its_energy(make) -> None:
    """Two thousand steps that each turn by 0.04 … 0.1 rad, and falls in between: energy stays within 1.5 % of what moves."""
    rec = ub.Simulation(make(), REDUCED, dt=1e-3).run(2.0, every=20)
    assert np.abs(rec.energy.total - rec.energy.total[0]).max() < 0.015 * rec.energy.kinetic.max()


def test_reactions_balance_the_motion_that_was_made() -> None:
    """What the tip carries over a step is the change of momentum less the weight: m Δv_c / h = F + m g, with the velocities of the step."""
    h, m = 2e-3, 1.0
    sim = ub.Simulation(top(), REDUCED, dt=h)
    rec = sim.run(0.1)
    c = np.array([ub.Pose(p[:3], wxyz=p[3:]).apply((0, 0, 0)) for p in rec.pose("top")])
    v_mid = np.diff(c, axis=0) / h
    force = m * np.diff(v_mid, axis=0) / h - m * np.array([0, 0, -9.81])
    told = np.array([rec.observe(k).reactions[0, 3:] for k in range(2, len(rec))])
    # both are of the step that ended; the arc of a step of 0.1 rad is shorter than its chord's sum by 1e-3
    assert np.abs(told - force).max() < 0.02 * np.abs(force).max()


def test_a_top_spins_on_a_box_that_stands_as_on_the_ground() -> None:
    """Friction holds the box in its place: it stays to the tolerance of contact, and the top moves as on a tip that is fixed."""
    tilt, spin, h = 0.5, 60.0, 1e-3
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    box = b.body("box", shape=ub.Box((0.4, 0.4, 0.2)), mass=5.0, X_WB=ub.Pose((0, 0, 0.1)))
    body = b.body("top", mass=1.0, inertia=(0.002, 0.002, 0.001))
    q = (cos(tilt / 2), 0, sin(tilt / 2), 0)
    b.joint("tip", ub.Ball(), box, body, X_PF=ub.Pose((0, 0, 0.1)), X_BM=ub.Pose((0, 0, -0.1)), q=q, v=(0, 0, spin))
    b.add(ub.Contact(friction=0.8))
    rec = ub.Simulation(b.build(), REDUCED, dt=h).run(0.5, every=50)
    alone = ub.Simulation(top(spin, tilt), REDUCED, dt=h).run(0.5, every=50)
    assert np.abs(rec.pose("box") - rec.pose("box")[0]).max() < 1e-8  # 500 steps of h times 1e-10 m/s, and what levers make of it
    assert np.abs(rec.pose("top") - alone.pose("top") - [0, 0, 0.2, 0, 0, 0, 0]).max() < 1e-6


def test_contact_far_away_changes_nothing() -> None:
    """A ground ten metres below the gyroscope: where nothing acts, steps are those of a scene without contact, to round-off."""
    poses = []
    for ground in (False, True):
        b = ub.Builder()
        frame, rotor = b.body("frame", mass=0.2, inertia=(1e-4,) * 3), b.body("rotor", mass=1.0, inertia=(0.001, 0.001, 0.002))
        b.joint("hook", ub.Universal(), b.world, frame, q=(0.3, 0.4))
        b.joint("axle", ub.Revolute((0, 0, 1)), frame, rotor, X_PF=ub.Pose((0, 0, 0.1)), v=100.0)
        if ground:
            b.body("ground", shape=ub.Plane(), kind="static", X_WB=ub.Pose((0, 0, -10)))
            b.add(ub.Contact())
        poses.append(ub.Simulation(b.build(), REDUCED, dt=1e-3).run(0.5, every=50).pose("rotor"))
    assert np.abs(poses[0] - poses[1]).max() < 1e-10  # 500 steps; kernels add the same numbers in the same order
