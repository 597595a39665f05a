"""A joint of one's own, in a few lines: a bead on a helix. Every solver takes it; nothing in the package knows it.

The bead moves along  p(q) = (r cos q, r sin q, c q)  without turning, so S = (0, p′(q)), and the bias is Ṡ v = (0, p″(q) v²).
Released at rest on a vertical helix it slides down like on an incline: q̈ = −g c / (r² + c²).

    python examples/custom_joint.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import unibody as ub
from unibody.joints import Joint

GRAVITY = 9.81


@dataclass(frozen=True)
class Helix(Joint):
    """Sliding without turning along a helix about z: `radius` [m], `rise` [m/rad]."""

    radius: float
    rise: float

    nq = 1
    nv = 1

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(3), np.array([self.radius * np.cos(q[0]), self.radius * np.sin(q[0]), self.rise * q[0]])

    def motion(self, q: np.ndarray) -> np.ndarray:
        return np.array([[0.0, 0.0, 0.0, -self.radius * np.sin(q[0]), self.radius * np.cos(q[0]), self.rise]]).T

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return v[0] ** 2 * np.array([0.0, 0.0, 0.0, -self.radius * np.cos(q[0]), -self.radius * np.sin(q[0]), 0.0])


HELIX = Helix(radius=0.5, rise=0.1)


def build() -> ub.Model:
    b = ub.Builder(gravity=(0, 0, -GRAVITY))
    bead = b.body("bead", shape=ub.Sphere(0.05))
    b.joint("wire", HELIX, b.world, bead)
    return b.build()


def simulate() -> list[ub.Recording]:
    model = build()
    solvers = (ub.solvers.Articulated(rule="rk4"), ub.solvers.Lagrange(rule="rk4"))
    return [ub.Simulation(model, solver, dt=1e-2).run(1.0, every=10) for solver in solvers]


def check(recordings: list[ub.Recording]) -> None:
    for rec in recordings:
        exact = -0.5 * GRAVITY * HELIX.rise / (HELIX.radius**2 + HELIX.rise**2) * rec.t**2
        # A parabola in time is exact for Runge–Kutta 4 in q; in maximal coordinates the path is curved: 1e-2⁴ times some powers of v.
        assert np.abs(rec.joint("wire")[:, 0] - exact).max() < (1e-9 if rec.solver.name == "articulated" else 1e-4)


if __name__ == "__main__":
    both = simulate()
    check(both)
    for rec in both:
        print(f"{rec.solver.name:12s} q(1 s) = {rec.joint('wire')[-1, 0]:.9f} rad   {'; '.join(rec.reports[0].notes)}")
