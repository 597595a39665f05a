"""What a hinge has to hold: the reaction of a swinging rod, against the closed form.

A uniform rod of length l swings from its end, released at the angle θ₀ from the vertical. Along the rod the hinge pulls with

    R = m g (cos θ + 3/2 (cos θ − cos θ₀)),       and across it with  m g sin θ / 4.

    python examples/pendulum_reactions.py
"""

from __future__ import annotations

import numpy as np

import unibody as ub

LENGTH, MASS, GRAVITY, RELEASE = 1.0, 2.0, 9.81, 1.2


def build() -> ub.Model:
    b = ub.Builder(gravity=(0, 0, -GRAVITY))
    slender = MASS * LENGTH**2 / 12.0
    rod = b.body("rod", shape=ub.Box((0.04, 0.04, LENGTH)), mass=MASS, com=(0, 0, 0), inertia=(slender, slender, 1e-6))
    b.joint("hinge", ub.Revolute(axis=(0, -1, 0)), b.world, rod, X_BM=ub.Pose(p=(0, 0, 0.5 * LENGTH)), q=RELEASE)
    return b.build()


def simulate() -> ub.Recording:
    return ub.Simulation(build(), solver=ub.solvers.Articulated(rule="rk4"), dt=1e-3).run(2.0, every=20)


def held(rec: ub.Recording) -> np.ndarray:
    """(T, 2): the hinge's force along the rod, towards the hinge, and the size of the force across it [N]."""
    theta, force = rec.joint("hinge")[:, 0], rec.reaction("hinge")[:, 3:]
    along = np.stack([-np.sin(theta), np.zeros_like(theta), np.cos(theta)], axis=1)
    pull = np.einsum("ti,ti->t", force, along)
    return np.stack([pull, np.linalg.norm(force - pull[:, None] * along, axis=1)], axis=1)


def check(rec: ub.Recording) -> None:
    theta = rec.joint("hinge")[:, 0]
    weight = MASS * GRAVITY
    exact = weight * np.stack([np.cos(theta) + 1.5 * (np.cos(theta) - np.cos(RELEASE)), np.abs(np.sin(theta)) / 4.0], axis=1)
    # Runge–Kutta 4 at 1 ms keeps the energy, and with it the speed, to about 1e-9 of the weight.
    assert np.abs(held(rec) - exact).max() < 1e-6 * weight


if __name__ == "__main__":
    recording = simulate()
    check(recording)
    most = held(recording)[:, 0].max()
    print(f"the hinge holds up to {most:.2f} N, {most / (MASS * GRAVITY):.2f} times the rod's weight")
