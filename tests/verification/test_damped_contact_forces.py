"""Forces that are told of damped contacts are those that the momentum of bodies has felt, step by step."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub

G, DT = 9.81, 2e-3


def dropped(soft: bool) -> ub.Model:
    """A box, or a cube of rubber, that falls onto a plane, and a box beside it that meets it from the side."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    X, V = ub.Pose((0, 0, 0.07), (1, 0.02, 0.05, 0)), (0, 0, 0, 0.2, 0, -1.0)
    if soft:
        b.soft("thing", ub.TetMesh.box((0.1, 0.1, 0.1), (2, 2, 2)), ub.NeoHookean(1e6, 0.3), density=1000, X_WB=X, V_WB=V)
    else:
        b.body("thing", ub.Box((0.1, 0.1, 0.1)), density=1000, X_WB=X, V_WB=V)
    b.body("driven", ub.Box((0.1, 0.1, 0.1)), kind="kinematic", motion=lambda t: ub.Pose((0.12 - 0.3 * t, 0, 0.06)))
    b.add(ub.Contact(reach=5e-3, damping=2e-3))
    return b.build()


@pytest.mark.parametrize("soft", [False, True])
def test_contact_forces_with_damping_are_what_momentum_has_felt(soft: bool) -> None:
    """Σ f h = Δ(m v) − m g h in each step of implicit Euler, to Newton's tolerance, while it bounces: dampers push, and pull where things
    part, by multiples of the weight. (Friction is lagged: told at the end of a step, felt with the normal forces of its beginning.)"""
    model = dropped(soft)
    rec = ub.Simulation(model, ub.solvers.Barrier(tolerance=1e-9), dt=DT).run(0.1)
    if soft:
        m = model.deformable("thing").mass
        p = (m[:, None] * rec.velocities("thing")).sum(axis=1)
        told, number = rec.contact_forces("thing").sum(axis=1), model.n_bodies
        assert np.abs(told - [c.on(number) for c in rec.contacts]).max() < 1e-9
    else:
        p = 1.0 * rec.twist("thing")[:, 3:]
        told = np.array([c.on(model.body("thing")) for c in rec.contacts])
    felt = np.diff(p, axis=0) / DT + np.array([0.0, 0.0, 1.0 * G])
    hit = np.abs(felt).max()
    assert hit > 10.0 * G  # it bounces
    assert np.abs(felt - told[1:]).max() < 1e-5 * hit
