"""Claims that hold for every force: kernel ≡ NumPy, wrenches are slopes of energies, blocks are slopes of wrenches, power adds up."""

from __future__ import annotations

import numpy as np
import pytest

from unibody.element import APPLIED_POWER, DAMPER_POWER, MOTOR_POWER, SPRING_ENERGY, Point
from unibody.forces import AddForces, AppliedWrench, BodyDamping, Cable, DryFriction, Motor, SpringDamper, TorsionSpring

A, A2 = Point("a", (0.3, -0.2, 0.5)), Point("a", (-0.4, 0.1, 0.2))
B, C, W = Point("b", (0.1, 0.7, -0.3)), Point("c"), Point("world", (1, 2, 3))

POTENTIAL = [
    SpringDamper(A, B, 30.0, rest_length=0.4),
    SpringDamper(A, W, 30.0, rest_length=0.0),
    SpringDamper(A, A2, 30.0, rest_length=0.1),
    Cable([A, B], 30.0, rest_length=0.4),
    Cable([A, W, B, A2, C], 30.0, rest_length=0.4),
    TorsionSpring("hinge", 7.0, rest=0.2),
    TorsionSpring("ball", 7.0),
    TorsionSpring("ball", (7.0, 2.0, 0.5), rest=(0.5, -0.5, 0.1, 0.3)),
    TorsionSpring("ball", 7.0, dof=1),
    TorsionSpring("cardan", (7.0, 3.0)),
    TorsionSpring("cardan", 7.0, rest=0.4, dof=1),
    TorsionSpring("mixed", (7.0, 3.0, 1.0, 2.0, 5.0), rest=(0.1, 0.9, 0.1, -0.2, 0.3, 0.6)),
]
DAMPED = [
    SpringDamper(A, B, 30.0, 4.0, rest_length=0.4),
    Cable([A, W, B, A2, C], 30.0, 1.0, rest_length=0.4),
    TorsionSpring("hinge", 7.0, 2.0),
    TorsionSpring("ball", (7.0, 1.0, 2.0), (2.0, 1.0, 0.3)),
    TorsionSpring("ball", 0.0, 2.0),
    TorsionSpring("free", 0.0, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),
    TorsionSpring("mixed", (7.0, 0.0, 0.0, 0.0, 5.0), 3.0),
    BodyDamping("a", 0.3, 0.7),
]
RUBBED = [
    DryFriction("hinge", 0.4, slip_speed=0.6),
    DryFriction("free", (1.0, 2.0, 0.0, 4.0, 5.0, 6.0), slip_speed=0.8),
    DryFriction("mixed", 2.0, slip_speed=1.5, dof=3),
]
GIVEN = [
    AppliedWrench("a", (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (0.1, 0.2, 0.3), "world"),
    AppliedWrench("a", (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (0.1, 0.2, 0.3), "body"),
    AppliedWrench("b", lambda t: (t, 2.0, np.sin(t)), lambda t: (1.0, t * t, 0.0), axes="body"),
]
MOTORS = [
    Motor("hinge", effort=2.0),
    Motor("hinge", kp=3.0, kd=0.5, target=np.cos, target_rate=lambda t: -np.sin(t)),
    Motor("mixed", kp=3.0, kd=0.5, dof=4),
    Motor("ball", effort=np.sin, kd=1.0, target_rate=2.0, dof=2),
    Motor("hinge", kp=300.0, target=9.0, limit=1.5),
    Motor("hinge", kp=300.0, target=-9.0, limit=1.5),
]
ALL = [*POTENTIAL, *DAMPED, *RUBBED, *GIVEN, *MOTORS]
STEP = 1e-5
RTOL = 1e-6  # central differences: STEP² and round-off / STEP, both about 1e-10, times curvatures that reach some hundreds


def label(force) -> str:
    return f"{ALL.index(force)}-{type(force).__name__}"


def states(world, force):
    """(name, nv, move, push) for every body and joint the force touches."""
    for body in force.bodies():
        if body != "world":
            yield body, 6, world.moved, world.pushed
    for joint in force.joints():
        yield joint, world.joint(joint).nv, world.turned, world.hastened


def load_on(world, force, name, kinematics):
    loads = world.loads(force, kinematics)
    if name in world.joints:
        j = world.joint(name)
        return (loads.effort + loads.actuation)[j.v_start : j.v_start + j.nv]
    return loads.F[world.body(name)]


def slopes(move, name, n, function):
    """Central differences of function along the n displacements of a body or joint (last axis)."""
    ahead = [np.asarray(function(move(name, STEP * e))) for e in np.eye(n)]
    behind = [np.asarray(function(move(name, -STEP * e))) for e in np.eye(n)]
    return np.stack([(a - b) / (2 * STEP) for a, b in zip(ahead, behind, strict=True)], axis=-1)


@pytest.mark.parametrize("kind", [SpringDamper, Cable, TorsionSpring, BodyDamping, DryFriction, AppliedWrench, Motor])
def test_kernel_has_the_signature_of_forces_and_agrees_with_numpy(world, kind):
    assert AddForces.admits(kind.add_kernel)
    forces = [f for f in ALL if type(f) is kind]
    by_kernel = world.kernel_loads(forces)
    for field in ("F", "effort", "actuation", "ledger"):
        by_numpy = sum(getattr(world.loads(f), field) for f in forces)
        np.testing.assert_allclose(getattr(by_kernel, field), by_numpy, rtol=1e-13, atol=1e-13 * (1 + np.abs(by_numpy).max()))


@pytest.mark.parametrize("force", POTENTIAL, ids=label)
def test_load_is_minus_the_slope_of_the_energy(world, force):
    energy = force.energy(world.kinematics)
    assert energy > 0.0
    for name, n, move, _ in states(world, force):
        slope = slopes(move, name, n, force.energy)
        load = load_on(world, force, name, world.kinematics)
        np.testing.assert_allclose(load, -slope, rtol=RTOL, atol=RTOL * (1 + np.abs(slope).max()))


@pytest.mark.parametrize("force", POTENTIAL, ids=label)
def test_ledger_holds_the_energy(world, force):
    ledger = world.loads(force).ledger
    assert ledger[SPRING_ENERGY] == pytest.approx(force.energy(world.kinematics), rel=1e-14)
    assert ledger[DAMPER_POWER] == ledger[APPLIED_POWER] == ledger[MOTOR_POWER] == 0.0


@pytest.mark.parametrize("force", [f for f in ALL if f not in RUBBED], ids=label)
def test_blocks_are_the_slopes_of_the_loads(world, force):
    K, D = force.stiffness_blocks(world.kinematics), force.damping_blocks(world.kinematics)
    for a, na, _, _ in states(world, force):
        for b, nb, move, push in states(world, force):
            for blocks, change in ((K, move), (D, push)):
                slope = slopes(change, b, nb, lambda k, a=a: load_on(world, force, a, k))
                block = blocks.get((a, b), np.zeros((na, nb)))
                np.testing.assert_allclose(block, slope, rtol=RTOL, atol=RTOL * (1 + np.abs(slope).max()))


@pytest.mark.parametrize("force", ALL, ids=label)
def test_power_of_the_loads_is_what_the_ledger_says(world, force):
    """F·V = −Ė + damper power + applied power; Ė by differences along the motion. Motors' power is not booked here."""
    k, loads = world.kinematics, world.loads(force)
    power = np.sum(loads.F * k.V) + loads.effort @ k.v
    rate = (force.energy(world.coasted(STEP)) - force.energy(world.coasted(-STEP))) / (2 * STEP)
    booked = loads.ledger[DAMPER_POWER] + loads.ledger[APPLIED_POWER]
    assert power == pytest.approx(booked - rate, rel=1e-7, abs=1e-7)
    assert loads.ledger[DAMPER_POWER] <= 0.0
    assert loads.ledger[MOTOR_POWER] == 0.0


@pytest.mark.parametrize("force", [f for f in ALL if isinstance(f, SpringDamper | Cable)], ids=label)
def test_action_is_reaction(world, force):
    F, total, moment = world.loads(force).F, np.zeros(3), np.zeros(3)
    for body in force.bodies():
        R, p = world.kinematics.pose(body)
        torque, pull = R @ F[world.body(body), :3], R @ F[world.body(body), 3:]
        total += pull
        moment += torque + np.cross(p, pull)
    # Round-off of pulls of some hundred newtons at some metres.
    np.testing.assert_allclose(total, 0.0, atol=1e-12)
    np.testing.assert_allclose(moment, 0.0, atol=1e-12)
