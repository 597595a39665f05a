"""Friction where joints repeat each other: how they share a load must not depend on units.

Contact points share as springs of one stiffness would. A door on two hinges 2a apart, its weight at a distance c: with four points on each
of two rims a hinge answers to a displacement across its axis with k = 4 and to a tilt with κ = 4 (H²/4 + r²), so that turning the door by φ
takes 2 (k a² + κ) φ and each hinge carries F = k a φ, τ = κ φ of the couple m g c:

    F = m g c a / (2 (a² + H²/4 + r²)),     bound μ r (m g / 2 + F)      (the tilt loads one rim as much as it relieves the other)
"""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G, MASS, MU, RADIUS, HEIGHT, A, C = 9.81, 10.0, 0.2, 0.01, 0.05, 0.8, 0.4
SOLVERS = {
    "redmax": ub.solvers.RedMax(), "reduced": ub.solvers.Complementarity(), "maximal": ub.solvers.Complementarity(coordinates="maximal"),
}  # fmt: skip


def door(unit: float, speed: float = 0.0, rubbed: tuple[str, ...] = ("upper", "lower")) -> ub.Model:
    """The same door in units of 1/unit metres."""
    b = ub.Builder(gravity=(0, 0, -G * unit))
    leaf = b.body("leaf", mass=MASS, com=(C * unit, 0, 0), inertia=np.array((1.0, 1.5, 1.0)) * unit**2)
    for name, z in (("upper", A), ("lower", -A)):
        place = ub.Pose((0, 0, z * unit))
        b.joint(name, ub.Revolute((0, 0, 1)), b.world, leaf, X_PF=place, X_BM=place, v=speed)
        if name in rubbed:
            b.add(ub.JointFriction(name, MU, radius=RADIUS * unit, height=HEIGHT * unit), name=f"rub {name}")
    return b.build()


@pytest.mark.parametrize("unit", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_hinges_of_a_door_share_its_weight_as_their_points_would_give_way(solver: str, unit: float) -> None:
    rec = ub.Simulation(door(unit), SOLVERS[solver], dt=1e-2).run(0.02)
    force = MASS * G * C * A / (2.0 * (A**2 + HEIGHT**2 / 4.0 + RADIUS**2))
    for name, side in (("upper", -1.0), ("lower", 1.0)):
        rub = rec.joint_friction(f"rub {name}")
        # Round-off of a load that is 10³ times what rows repeat, in the worst of these units.
        np.testing.assert_allclose(rub.bound[1:] / unit**2, MU * RADIUS * (MASS * G / 2.0 + force), rtol=1e-9)
        np.testing.assert_allclose(rub.reaction[1:, 3] / unit, side * force, rtol=1e-9)
        # The reaction that is reported is the one that rubs.
        np.testing.assert_allclose(rec.reaction(name)[1:, 3:], rub.reaction[1:, 3:], rtol=1e-9, atol=1e-9 * unit)


@pytest.mark.parametrize("rubbed", [("upper", "lower"), ("lower",)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_door_slows_down_alike_in_every_unit(solver: str, rubbed: tuple[str, ...]) -> None:
    """Also where one of two hinges does not rub: it still bears its part, so the other bears less than all of the couple and the weight."""
    speeds, bounds = [], []
    for unit in (0.01, 1.0, 100.0):  # beyond, drift in maximal coordinates exceeds the 1e-2 below which it is projected away
        rec = ub.Simulation(door(unit, 1.0, rubbed), SOLVERS[solver], dt=1e-2).run(0.1)
        speeds.append(float(rec.joint_velocity("lower")[-1, 0]))
        bounds.append(float(rec.joint_friction("rub lower").bound[-1]) / unit**2)
    # The frictions of a step are found to 1e-7 of their bounds.
    np.testing.assert_allclose(bounds, bounds[1], rtol=1e-6)
    assert 0.5 * MU * RADIUS * MASS * G / 2.0 < bounds[1] < MU * RADIUS * MASS * G
    np.testing.assert_allclose(speeds, speeds[1], rtol=1e-6)
    assert speeds[1] < 1.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_contacts_carry_reaction_and_friction_in_a_loop(solver: str) -> None:
    """Nᵀ α + friction = reaction + effort, at M, while the door turns."""
    from unibody.contact.joint_friction import contacts_of

    rec = ub.Simulation(door(1.0, 1.0), SOLVERS[solver], dt=1e-2).run(0.05)
    made = contacts_of(ub.JointFriction("j", MU, radius=RADIUS, height=HEIGHT), ub.Revolute((0, 0, 1)))
    for name in ("upper", "lower"):
        rub = rec.joint_friction(f"rub {name}")
        for row in range(1, len(rec)):
            borne = made.N.T @ rub.multipliers[row].ravel() + np.einsum("pk,pki->i", rub.friction[row], made.T)
            held = rub.reaction[row] + made.along[:, 0] * rub.effort[row, 0]
            # Round-off of sums over points; the share of friction is iterated to 1e-13.
            np.testing.assert_allclose(borne, held, atol=1e-10)
