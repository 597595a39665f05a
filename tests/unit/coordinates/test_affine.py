"""Affine coordinates: mass from moments, the stiffness that keeps bodies rigid, poses and twists."""

from __future__ import annotations

import numpy as np

import unibody as ub
from unibody.coordinates.affine.body import (
    affine_of_pose,
    moments,
    polar,
    rate_of_twist,
    twist_of_rate,
)
from unibody.coordinates.affine.polar import project_bodies
from unibody.coordinates.convert import poses_and_twists
from unibody.spatial.pose import rotation_from_vector


def some_bodies(rng, n=4, strain=0.05):
    R = np.array([rotation_from_vector(rng.normal(size=3)) for _ in range(n)])
    Q = affine_of_pose(R, rng.normal(size=(n, 3)))
    return Q + strain * rng.normal(size=Q.shape)


def test_moments_are_integrals_over_the_body(rng):
    """∫ ρ w wᵀ of a box that is turned and moved in its body, by Gauss's rule, which is exact for squares."""
    b = ub.Builder()
    half, density = np.array([0.1, 0.2, 0.35]), 700.0
    X = ub.Pose((0.3, -0.1, 0.2), (1.0, 0.3, -0.2, 0.5))
    b.body("box", shape=ub.Placed(ub.Box(2.0 * half), X), density=density)
    body = b.build().bodies[1]
    node = np.array([-1.0, 1.0]) / np.sqrt(3.0)
    points = np.stack(np.meshgrid(node, node, node, indexing="ij"), axis=-1).reshape(-1, 3) * half
    w = np.array([np.append(1.0, X.apply(x)) for x in points])
    exact = density * 8.0 * half.prod() / len(w) * w.T @ w
    np.testing.assert_allclose(moments(body), exact, rtol=1e-12, atol=1e-12 * exact.max())


def test_poses_and_twists_there_and_back(rng):
    R = np.array([rotation_from_vector(rng.normal(size=3)) for _ in range(5)])
    Q, omega, v = affine_of_pose(R, rng.normal(size=(5, 3))), rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    np.testing.assert_allclose(polar(Q)[0], R, atol=1e-14)
    np.testing.assert_allclose(twist_of_rate(Q, rate_of_twist(Q, omega, v)), np.concatenate([omega, v], axis=1), atol=1e-13)


def test_projections_are_the_polar_ones_and_their_maps_the_derivative(rng):
    Q, dQ, h = some_bodies(rng), rng.normal(size=(4, 4, 3)), 1e-6
    X, T = np.empty(Q.size), np.empty(6 * Q.size)
    project_bodies(np.ascontiguousarray(Q).reshape(-1), X, T)
    np.testing.assert_allclose(X.reshape(-1, 12)[:, :9].reshape(-1, 3, 3), polar(Q)[0], atol=1e-14)
    xi = np.einsum("nij,nj->ni", T.reshape(-1, 6, 12), dQ.reshape(-1, 12))
    R, up, down = polar(Q)[0], polar(Q + h * dQ)[0], polar(Q - h * dQ)[0]
    W = np.swapaxes(R, 1, 2) @ (up - down) / (2 * h)
    np.testing.assert_allclose(xi[:, :3], np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1), atol=1e-8)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", R, xi[:, 3:]), dQ[:, 0], atol=1e-13)


def test_other_solvers_go_on_from_an_affine_state_and_back():
    b = ub.Builder()
    rod = b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.02))
    b.joint("hinge", ub.Revolute((0, 1, 0)), parent=b.world, child=rod, X_BM=ub.Pose((0, 0, 0.5)), q=0.7, v=1.5)
    b.body("stone", mass=2.0, inertia=(0.1, 0.2, 0.3), X_WB=ub.Pose((1, 2, 3), (1, 0.2, 0.3, 0.1)), V_WB=(1, 2, 3, 4, 5, 6))
    model = b.build()
    affine = ub.Simulation(model, "barrier").state
    assert affine.coordinates == "affine"
    for solver in ("articulated", "lagrange"):
        there = ub.Simulation(model, solver, state=affine)
        own = ub.Simulation(model, solver)
        np.testing.assert_allclose(there.state.q, own.state.q, atol=1e-12)
        np.testing.assert_allclose(there.state.v, own.state.v, atol=1e-12)
        back = ub.Simulation(model, "barrier", state=there.state).state
        np.testing.assert_allclose(back.q, affine.q, atol=1e-12)
        np.testing.assert_allclose(back.v, affine.v, atol=1e-12)
    poses, _ = poses_and_twists(model, affine)
    np.testing.assert_allclose(poses[2].p, (1, 2, 3), atol=1e-15)
