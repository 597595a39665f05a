"""A closed loop: the joint whose child already has a parent closes it, in reduced and in maximal coordinates alike.

    python examples/four_bar_loop.py
"""

from __future__ import annotations

import math

import numpy as np

import unibody as ub

CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.9, 0.7, 1.0
HINGE = ub.Revolute(axis=(0, -1, 0))


def build() -> ub.Model:
    """The crank stands upright; angles count from the x axis, counter-clockwise."""
    A, D = np.array([0.0, CRANK]), np.array([GROUND, 0.0])
    span = D - A
    reach = float(np.linalg.norm(span))
    along = (COUPLER**2 - ROCKER**2 + reach**2) / (2.0 * reach)
    B = A + along / reach * span + math.sqrt(COUPLER**2 - along**2) / reach * np.array([-span[1], span[0]])
    coupler_angle, rocker_angle = math.atan2(*(B - A)[::-1]), math.atan2(*(B - D)[::-1])

    b = ub.Builder(planar=True)
    crank = b.body("crank", shape=ub.Box((CRANK, 0.04, 0.04)))
    coupler = b.body("coupler", shape=ub.Box((COUPLER, 0.04, 0.04)))
    rocker = b.body("rocker", shape=ub.Box((ROCKER, 0.04, 0.04)))
    start, end = (lambda l: ub.Pose(p=(-0.5 * l, 0, 0))), (lambda l: ub.Pose(p=(0.5 * l, 0, 0)))
    b.joint("O", HINGE, b.world, crank, X_BM=start(CRANK), q=0.5 * math.pi)
    b.joint("A", HINGE, crank, coupler, X_PF=end(CRANK), X_BM=start(COUPLER), q=coupler_angle - 0.5 * math.pi)
    b.joint("D", HINGE, b.world, rocker, X_PF=ub.Pose(p=(GROUND, 0, 0)), X_BM=start(ROCKER), q=rocker_angle)
    b.joint("B", HINGE, coupler, rocker, X_PF=end(COUPLER), X_BM=end(ROCKER), q=rocker_angle - coupler_angle)  # closes the loop
    return b.build()


def simulate() -> list[ub.Recording]:
    model = build()
    solvers = (ub.solvers.Articulated(rule="rk4"), ub.solvers.Lagrange(rule="rk4"))
    return [ub.Simulation(model, solver, dt=1e-3).run(1.0, every=10) for solver in solvers]


def check(recordings: list[ub.Recording]) -> None:
    reduced, maximal = recordings
    for rec in recordings:
        apart = rec.point("coupler", (0.5 * COUPLER, 0, 0)) - rec.point("rocker", (0.5 * ROCKER, 0, 0))
        assert np.abs(apart).max() < 1e-9  # the loop stays closed: steps end with a projection to 1e-11 or better
        energy = rec.energy.total
        assert np.ptp(energy) < 1e-4 * rec.energy.kinetic.max()  # fourth order at 1 ms; projection costs a little
    # Two formulations of one mechanism: they differ by their discretisation only.
    assert np.abs(reduced.pose("coupler")[:, :3] - maximal.pose("coupler")[:, :3]).max() < 1e-3


if __name__ == "__main__":
    both = simulate()
    check(both)
    for rec in both:
        print(f"{rec.solver.name:12s} loop closed to {rec.violation.max():.1e} m, energy kept to {np.ptp(rec.energy.total):.1e} J")
