"""Claims of `test_forces` and of implicit terms for cables over wheels in any planes, that rub or grip: kernel ≡ NumPy, slopes, power."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unibody.element import DAMPER_POWER, MOTOR_POWER, SPRING_ENERGY, Point
from unibody.errors import ModelError
from unibody.forces import AddForces, Cable, Pulley
from unibody.model.implicit_tables import UPPER

claims = runpy.run_path(str(Path(__file__).parent / "test_forces.py"))
STEP, RTOL = claims["STEP"], claims["RTOL"]
A, A2 = Point("a", (0.3, -0.2, 0.5)), Point("a", (-0.4, 0.1, 0.2))
B, C, W = Point("b", (0.1, 0.7, -0.3)), Point("c"), Point("world", (1, 2, 3))


def wheel(body: str, p, axis, side=1, r=0.15, **more) -> Pulley:
    return Pulley(Point(body, p), r, axis=axis, side=side, **more)


FREE = {
    "one wheel": lambda: Cable([A, wheel("b", (0, 0, 0), (1, 2, 3)), W], 30.0, 2.0, rest_length=0.3),
    "wheel to wheel": lambda: Cable([A, wheel("b", (0.1, 0, 0), (1, 2, 3)), wheel("c", (0, 0.2, 0), (1, -1, 1), -1), W], 30.0, 2.0,
                                    rest_length=0.3),
    "two on one body": lambda: Cable([A, wheel("b", (0.5, 0, 0), (0, 1, 0)), wheel("b", (-0.5, 0, 0), (0, 1, 0.2), -1), A2, C], 30.0, 2.0,
                                     rest_length=0.3),
    "turns": lambda: Cable([A, wheel("world", (3, -2, 0), (0, 0, 1), turns=2), B], 30.0, 2.0, rest_length=0.3),
    "grip": lambda: Cable([A, wheel("b", (0, 0, 0), (0, 1, 0), grip=True), wheel("c", (0, 0.1, 0), (1, 1, 0)), W], 30.0, 2.0,
                          rest_length=0.3),
    "drum": lambda: Cable([wheel("b", (0, 0, 0), (0, -1, 0), -1, grip=True), A, C], 30.0, 2.0, rest_length=0.3),
    "winch": lambda: Cable([A, wheel("b", (0, 0, 0), (1, 2, 3)), W], 30.0, 2.0, rest_length=0.3, winch=np.sin),
}  # fmt: skip
RUBBED = {
    "bollard": lambda: Cable([A, wheel("world", (3, -2, 0), (0, 0, 1), turns=1), B], 30.0, 2.0, rest_length=0.3, friction=0.2,
                             slip_speed=0.7),
    "two that rub": lambda: Cable([A, wheel("b", (0.1, 0, 0), (1, 2, 3), turns=1), wheel("c", (0, 0.2, 0), (1, -1, 1), -1, turns=1), W],
                                  30.0, 2.0, rest_length=0.3, friction=0.1, slip_speed=2.0),
}  # fmt: skip
ALL = FREE | RUBBED


def taut(world, kind: str):
    """Started in the world, and taut there."""
    force = ALL[kind]().started(world, "rope")
    force = force.taut(world.kinematics)
    assert (force.tensions(world.kinematics) > 0.0).any()
    return force


def undamped(force):
    sides, numbers = force.resolved
    table = np.array(numbers)
    table[:, 18] = 0.0
    return replace(force, resolved=(sides, tuple(map(tuple, table.tolist()))))


@pytest.mark.parametrize("kind", ALL)
def test_kernel_agrees_with_numpy(world, kind):
    force = taut(world, kind)
    assert AddForces.admits(type(force).add_kernel)
    ours, theirs = world.kernel_loads([force, force]), world.loads(force)
    for field in ("F", "ledger"):
        wanted = 2.0 * getattr(theirs, field)
        np.testing.assert_allclose(getattr(ours, field), wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("kind", [k for k in FREE if k != "winch"])
def test_load_is_minus_the_slope_of_the_energy(world, kind):
    force = undamped(taut(world, kind))
    for name, n, move, _ in claims["states"](world, force):
        slope = claims["slopes"](move, name, n, force.energy)
        load = claims["load_on"](world, force, name, world.kinematics)
        np.testing.assert_allclose(load, -slope, rtol=RTOL, atol=RTOL * (1 + np.abs(slope).max()))


@pytest.mark.parametrize("kind", FREE)
def test_blocks_are_the_slopes_of_the_loads(world, kind):
    force = taut(world, kind)
    K, D = force.stiffness_blocks(world.kinematics), force.damping_blocks(world.kinematics)
    for a, na, _, _ in claims["states"](world, force):
        for b, nb, move, push in claims["states"](world, force):
            for blocks, change in ((K, move), (D, push)):
                slope = claims["slopes"](change, b, nb, lambda k, a=a: claims["load_on"](world, force, a, k))
                block = blocks.get((a, b), np.zeros((na, nb)))
                np.testing.assert_allclose(block, slope, rtol=RTOL, atol=10 * RTOL * (1 + np.abs(slope).max()))


@pytest.mark.parametrize("kind", ALL)
def test_power_of_the_loads_is_what_the_ledger_says(world, kind):
    """F·V = −Ė + dampers + winch; Ė by differences along the motion. Friction never gives."""
    force = taut(world, kind)
    k, loads = world.kinematics, world.loads(force)
    assert loads.ledger[SPRING_ENERGY] == pytest.approx(force.energy(k), rel=1e-14)
    rate = (force.energy(world.coasted(STEP)) - force.energy(world.coasted(-STEP))) / (2 * STEP)
    booked = loads.ledger[DAMPER_POWER] + loads.ledger[MOTOR_POWER]
    if kind in ("grip", "drum"):  # here q does not follow the pose, as it does in a model
        assert np.isfinite(booked)
    assert np.sum(loads.F * k.V) == pytest.approx(booked - rate, rel=1e-6, abs=1e-6)
    assert loads.ledger[DAMPER_POWER] <= 1e-12


@pytest.mark.parametrize("project", [0, 1])
@pytest.mark.parametrize("kind", ALL)
def test_implicit_kernel_has_the_symmetric_part_of_the_blocks(world, kind, project):
    """B = −h D − h² K and h K V exactly, projected semidefinite and the same along the cable."""
    force, h, k = taut(world, kind), 0.02, world.kinematics
    bodies, pairs = k.X.shape[0], force.pairs()
    index, parameters = type(force).pack([("rope", force)], world)
    signals = np.array([s(k.t) if callable(s) else s for s in world.signals], float)
    shared = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    places = np.array([shared[pair] for pair in pairs], np.int64)
    F, own, coupling = np.zeros(6 * bodies), np.zeros(21 * bodies), np.zeros(36 * len(shared))
    limit, effort, diagonal = np.zeros(k.v.size), np.zeros(k.v.size), np.zeros(k.v.size)
    type(force).implicit_kernel(
        index, parameters, signals, k.X.ravel(), k.V.ravel(), k.q, k.v, k.control, limit, places, h, project, F, effort, own, coupling,
        diagonal,
    )  # fmt: skip
    B = np.zeros((bodies, 6, bodies, 6))
    for i in range(bodies):
        B[i][UPPER[0], i, UPPER[1]] = B[i][UPPER[1], i, UPPER[0]] = own[21 * i : 21 * i + 21]
    for (a, b), block in zip(shared, coupling.reshape(-1, 6, 6), strict=True):
        B[world.body(a), :, world.body(b)] += block
        B[world.body(b), :, world.body(a)] += block.T
    wanted, load = np.zeros_like(B), np.zeros((bodies, 6))
    for blocks, factor in ((force.stiffness_blocks(k), h * h), (force.damping_blocks(k), h)):
        for (a, b), block in blocks.items():
            i, j = world.body(a), world.body(b)
            wanted[i, :, j] -= 0.5 * factor * block
            wanted[j, :, i] -= 0.5 * factor * block.T
            if factor == h * h:
                load[i] += 0.5 * h * block @ k.V[j]
                load[j] += 0.5 * h * block.T @ k.V[i]
    if kind == "winch":  # what it hauls in during the step, ṗ = cos t: −∂E/∂ξ of a rest length that grows by h ṗ, to the first order
        k0 = 30.0
        along = -world.loads(force).F / force.tensions(k)[0]
        load -= h * k0 * np.cos(k.t) * -along
    size = np.abs(wanted).max()
    if project == 0:
        np.testing.assert_allclose(B, wanted, rtol=0.0, atol=1e-12 * size)
        np.testing.assert_allclose(F.reshape(-1, 6), load, rtol=0.0, atol=(1e-8 if kind == "winch" else 1e-11) * np.abs(load).max())
    flat = B.reshape(6 * bodies, -1)
    assert project == 0 or np.linalg.eigvalsh(flat).min() > -1e-12 * size


def test_a_wheel_that_is_left_is_passed_without_a_jump(world):
    """A wheel pushed through a straight cable, in its plane: length and pull are continuous where it is left."""
    rope = Cable([Point("world", (-1, 0, 0)), wheel("a", (0, 0, 0), (0, 1, 0)), Point("world", (1, 0, 0))], 30.0, rest_length=1.9)
    k = world.kinematics
    k.V[:] = 0.0
    k.X[1, :9] = np.eye(3).ravel()

    def at(height):
        k.X[1, 9:] = (0.1, 0.0, height)
        return rope_started.lengths(k)[0]

    k.X[1, 9:] = (0.1, 0.0, 0.3)
    rope_started = rope.started(world, "rope")
    # a cable that turns by the right hand about y runs over the top of the wheel: it touches while the wheel is higher than −r
    r = 0.15
    for inside, touches in ((1e-4, True), (-1e-4, False)):
        length = at(-r + inside)
        assert (length > 2.0) == touches
        assert length == pytest.approx(2.0, abs=1e-7)
    assert at(-r - 0.5) == 2.0
    # far in: two tangents of length √(d² − r²) and the arc between them
    d1, d2 = np.hypot(1.1, 0.3), np.hypot(0.9, 0.3)
    arc = np.pi - (np.pi - np.arctan2(0.3, 1.1) - np.arctan2(0.3, 0.9)) + 0.0
    arc = np.arctan2(0.3, 1.1) + np.arctan2(0.3, 0.9) + np.arcsin(r / d1) + np.arcsin(r / d2)
    assert at(0.3) == pytest.approx(np.sqrt(d1**2 - r**2) + np.sqrt(d2**2 - r**2) + r * arc, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Pulley(A, -1.0), "radius: -1.0 is not positive"),
        (lambda: Pulley(A, 0.1, axis=(0, 0, 0)), "axis.*no direction"),
        (lambda: Pulley(A, 0.1, side=2), "side 2"),
        (lambda: Pulley(A, 0.1, turns=0.5), "turns 0.5 is not whole"),
        (lambda: Pulley(A, 0.1, grip=True, friction=0.3), "grip and friction"),
        (lambda: Cable([A, B], 1.0, friction=0.1), "friction 0.1 without a Pulley"),
        (lambda: Cable([A, B], 1.0, winch=3.0), "winch 3.0 is no function"),
        (lambda: Cable([Pulley(A, 0.1, side=1), B], 1.0), "end of the cable.*grip=True"),
        (lambda: Cable([Pulley(A, 0.1, axis=(0, 1, 0), grip=True), B], 1.0), "give side=1 or side=-1"),
        (lambda: Cable([A, Pulley(Point("a", (0.3, -0.2, 0.55)), 0.1, side=1), B], 1.0), "point 0 lies within pulley 1"),
        (lambda: Cable([A, Pulley(B, 0.1, axis=(1, 0, 0), side=1, grip=True), W], 1.0), "turns about another axis"),
    ],
)
def test_refusals(world, make, says):
    with pytest.raises(ModelError, match=says):
        made = make()
        made.started(world, "rope")
