"""Claims of `test_forces` for tendons around spheres and cylinders, and lengths of helices and great circles."""

from __future__ import annotations

import runpy
from math import acos, pi, sqrt
from pathlib import Path

import numpy as np
import pytest

from unibody.element import DAMPER_POWER, SPRING_ENERGY, Point
from unibody.errors import ModelError
from unibody.forces import AddForces, Tendon, TendonWrap

claims = runpy.run_path(str(Path(__file__).parent / "test_forces.py"))
STEP, RTOL = claims["STEP"], claims["RTOL"]
A, B = Point("a", (2.3, -0.2, 0.5)), Point("b", (0.1, 1.7, -0.3))
C, W = Point("c", (0.5, 0.5, 2.0)), Point("world", (1, 2, 3))


def between(world, a: Point, b: Point, body: str, off=(0.05, 0.02, -0.03)) -> Point:
    """A point of a body near the middle of the line between two points."""
    R, p = world.kinematics.pose(body)
    middle = 0.5 * (world.kinematics.position(a) + world.kinematics.position(b)) + np.array(off)
    return Point(body, tuple(R.T @ (middle - p)))


def made(world, kind: str) -> Tendon:
    sphere = TendonWrap(between(world, A, B, "c"), 0.2)
    tube = TendonWrap(between(world, A, B, "world"), 0.3, axis=(1, 2, 1))
    centre = between(world, B, W, "a")
    beside = TendonWrap(centre, 0.15, axis=(0, 1, 1), side=Point("a", tuple(np.add(centre.p, (0.5, 0.3, 0.1)))))
    ball = TendonWrap(centre, 0.15, side=Point("a", tuple(np.add(centre.p, (0.3, 0.5, 0.1)))))
    law = {"stiffness": 30.0, "damping": 2.0, "rest": (0.1, 0.4)}
    return {
        "sphere": lambda: Tendon([[A, sphere, B]], **law),
        "cylinder": lambda: Tendon([[A, tube, B]], **law),
        "sides": lambda: Tendon([[A, tube, B, beside, W]], **law),
        "ball beside": lambda: Tendon([[B, ball, W]], **law),
        "branches": lambda: Tendon([[A, sphere, B], [B, W, C]], divisors=(1.0, 3.0), **law),
        "pushes": lambda: Tendon([[A, sphere, B]], 30.0, 2.0, rest=(40.0, 50.0)),
    }[kind]()


KINDS = ("sphere", "cylinder", "sides", "ball beside", "branches", "pushes")


@pytest.mark.parametrize("kind", KINDS)
def test_kernel_agrees_with_numpy_and_wraps(world, kind):
    force = made(world, kind)
    straight = 0.0
    for branch, divisor in zip(force.branches, force.divisors, strict=True):
        x = np.array([world.kinematics.position(node) for node in branch if isinstance(node, Point)])
        straight += float(np.linalg.norm(np.diff(x, axis=0), axis=1).sum()) / divisor
    assert force.length(world.kinematics) > straight + 1e-4  # it does go around something
    assert AddForces.admits(Tendon.add_kernel)
    ours, theirs = world.kernel_loads([force, force]), world.loads(force)
    for field in ("F", "ledger"):
        wanted = 2.0 * getattr(theirs, field)
        np.testing.assert_allclose(getattr(ours, field), wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_the_slopes_of_the_loads_and_loads_those_of_the_energy(world, kind):
    force = made(world, kind)
    k = world.kinematics
    still = Tendon(force.branches, 30.0, 0.0, force.rest, force.divisors)
    K, D = force.stiffness_blocks(k), force.damping_blocks(k)
    for a, na, move, _ in claims["states"](world, force):
        slope = claims["slopes"](move, a, na, still.energy)
        np.testing.assert_allclose(claims["load_on"](world, still, a, k), -slope, rtol=RTOL, atol=RTOL * (1 + np.abs(slope).max()))
        for b, nb, shift, push in claims["states"](world, force):
            for blocks, change in ((K, shift), (D, push)):
                slope = claims["slopes"](change, b, nb, lambda moved, a=a: claims["load_on"](world, force, a, moved))
                np.testing.assert_allclose(blocks[a, b], slope, rtol=RTOL, atol=10 * RTOL * (1 + np.abs(slope).max()))


@pytest.mark.parametrize("kind", KINDS)
def test_power_of_the_loads_is_what_the_ledger_says(world, kind):
    force, k = made(world, kind), world.kinematics
    loads = world.loads(force)
    rate = (force.energy(world.coasted(STEP)) - force.energy(world.coasted(-STEP))) / (2 * STEP)
    assert loads.ledger[SPRING_ENERGY] == pytest.approx(force.energy(k), rel=1e-14)
    assert np.sum(loads.F * k.V) == pytest.approx(loads.ledger[DAMPER_POWER] - rate, rel=1e-6, abs=1e-6)


def test_lengths_of_a_helix_and_of_a_great_circle(world):
    """Points at distance d from the axis, opposite each other: two tangents and a half-turn less two arccos r/d, unrolled."""
    p, q = Point("world", (-2.0, 0.0, 0.0)), Point("world", (2.0, 0.01, 1.5))
    d, d2, r = 2.0, sqrt(4.0 + 1e-4), 0.5
    turn = pi - np.arctan2(0.01, 2.0)
    flat = sqrt(d * d - r * r) + sqrt(d2 * d2 - r * r) + r * (turn - acos(r / d) - acos(r / d2))
    tube = Tendon([[p, TendonWrap(Point("world"), r, axis=(0, 0, 2)), q]], 1.0, rest=0.0)
    assert tube.length(world.kinematics) == pytest.approx(sqrt(flat**2 + 1.5**2), rel=1e-13)
    level = Point("world", (2.0, 0.01, 0.0))
    ball = Tendon([[p, TendonWrap(Point("world"), r), level]], 1.0, rest=0.0)
    assert ball.length(world.kinematics) == pytest.approx(flat, rel=1e-13)
    # on the other side: the long way around is the other turn
    below = Tendon([[p, TendonWrap(Point("world"), r, side=Point("world", (0, -1, 0))), level]], 1.0, rest=0.0)
    assert below.length(world.kinematics) == pytest.approx(flat + r * (2.0 * pi - 2.0 * turn), rel=1e-13)
    drawn = below.drawn(world.kinematics)
    assert drawn[:, 1].min() == pytest.approx(-r, abs=0.01)
    along = np.linalg.norm(np.diff(drawn, axis=0), axis=1).sum()
    assert along == pytest.approx(below.length(world.kinematics), rel=1e-2)  # chords of an arc in twelve points


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: TendonWrap(A, 0.0), "radius: 0.0 is not positive"),
        (lambda: TendonWrap(A, 1.0, axis=(0, 0, 0)), "has no direction"),
        (lambda: TendonWrap(A, 1.0, side=B), "give one of the same body"),
        (lambda: TendonWrap(A, 1.0, side=Point("a", (2.3, 0.0, 0.5))), "lies within it"),
        (lambda: Tendon([[A, TendonWrap(C, 0.1)]]), "does not go from point to point"),
        (lambda: Tendon([]), "no branches"),
        (lambda: Tendon([[A, B]], divisors=(1, 2)), "2 divisors for 1 branches"),
        (lambda: Tendon([[A, B]], rest=(2, 1)), "exchange them"),
    ],
)
def test_refusals(make, says):
    with pytest.raises(ModelError, match=says):
        make()
