"""Inertia, stiffness and loads of affine bodies in a step: derivatives by differences, and what stiffness means."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.affine.body import affine_of_pose, strain_energy
from unibody.solvers.barrier.affine_system import AffineSystem
from unibody.solvers.barrier.body_potential import BodyPotential
from unibody.spatial.pose import rotation_from_vector

MODULUS = 300.0


def some_bodies(rng, strain: float) -> np.ndarray:
    R = np.array([rotation_from_vector(rng.normal(size=3)) for _ in range(4)])
    Q = affine_of_pose(R, rng.normal(size=(4, 3)))
    return Q + strain * rng.normal(size=Q.shape)


@pytest.fixture
def system() -> AffineSystem:
    """The world and three bodies, of which the second is static."""
    b = ub.Builder()
    for k in range(3):
        b.body(f"b{k}", shape=ub.Box((0.2, 0.3, 0.1 + 0.2 * k)), density=20.0, kind="static" if k == 1 else "dynamic")
    return AffineSystem(b.build(), touching=False)


def potential(system: AffineSystem, rng, factor: float = 1.0, loads: float = 1.0) -> BodyPotential:
    predicted = some_bodies(rng, 0.0)[system.moving]
    return BodyPotential(system, predicted, loads * rng.normal(size=(len(system.moving), 12)), MODULUS * system.stiffness_volumes, factor)


def flat_gradient(term: BodyPotential, x: np.ndarray) -> np.ndarray:
    out = np.zeros(x.size)
    term.add_gradient(x, out)
    return out


def blocks(term: BodyPotential, x: np.ndarray, careful: bool) -> np.ndarray:
    out = np.zeros(144 * (x.size // 12))
    term.add_blocks(x, (), careful, out, np.zeros(0))
    return out.reshape(-1, 12, 12)


def test_gradient(system, rng):
    term, x, h = potential(system, rng, 0.7), some_bodies(rng, 0.05).ravel(), 1e-6
    g = flat_gradient(term, x)
    expected = [(term.value(x + d) - term.value(x - d)) / (2 * h) for d in h * np.eye(x.size)]
    np.testing.assert_allclose(g, expected, atol=1e-7 * np.abs(g).max())
    assert not g.reshape(-1, 12)[system.place < 0].any()


def test_exact_blocks_are_second_derivatives(system, rng):
    term, x, h = potential(system, rng, 0.7), some_bodies(rng, 0.1).ravel(), 1e-6
    H = blocks(term, x, False)
    for k in range(12):
        step = np.zeros((4, 12))
        step[:, k] = h
        column = (flat_gradient(term, x + step.ravel()) - flat_gradient(term, x - step.ravel())) / (2 * h)
        np.testing.assert_allclose(H[:, :, k], column.reshape(-1, 12), atol=1e-6 * np.abs(H).max())


def test_careful_blocks_are_positive_and_those_of_stretched_bodies(system, rng):
    """E positive: nothing is projected away; elsewhere they are positive all the same."""
    term, x = potential(system, rng), some_bodies(rng, 0.02)
    x[:, 1:] *= 1.2
    np.testing.assert_allclose(blocks(term, x.ravel(), True), blocks(term, x.ravel(), False), atol=1e-10)
    H = blocks(term, some_bodies(rng, 0.5).ravel(), True)[system.moving]
    assert np.linalg.eigvalsh(H).min() > 0.0


def test_stiffness_is_nothing_of_rigid_bodies_and_the_strain_energy_of_others(system, rng):
    """At the prediction, without loads, only P is left: Y V |AᵀA − 1|² / 8."""
    rigid, bent = some_bodies(rng, 0.0), some_bodies(rng, 0.1)
    for Q in (rigid, bent):
        term = BodyPotential(system, Q[system.moving], np.zeros((len(system.moving), 12)), MODULUS * system.stiffness_volumes, 2.0)
        E = np.einsum("nki,nli->nkl", Q[system.moving, 1:], Q[system.moving, 1:]) - np.eye(3)
        expected = 2.0 * MODULUS / 8.0 * float(system.stiffness_volumes @ (E**2).sum(axis=(1, 2)))
        assert term.value(Q.ravel()) == pytest.approx(expected, rel=1e-12, abs=1e-25)
        energy = strain_energy(Q[system.moving], MODULUS * system.stiffness_volumes)
        assert 2.0 * energy.sum() == pytest.approx(expected, rel=1e-12, abs=1e-25)


def test_stretch_is_the_strain_that_derivatives_do_not_tell(system, rng):
    """k/2 |D|², k = β h² Y V / 4, D = A₁ᵀA₁ − AᵀA − L; its gradient by differences; a stretch that derivatives tell exactly is none."""
    term, x, h, m = potential(system, rng, 0.7), some_bodies(rng, 0.05), 1e-6, system.moving
    first, p = 0.1 * rng.normal(size=x.shape), 0.1 * rng.normal(size=x.shape)
    A, dA, A1 = (np.swapaxes(M[m, 1:], 1, 2) for M in (x, first, x + p))
    T = np.swapaxes
    D = T(A1, 1, 2) @ A1 - T(A, 1, 2) @ A - T(A, 1, 2) @ dA - T(dA, 1, 2) @ A
    expected = 0.7 * MODULUS / 8.0 * float(system.stiffness_volumes @ (D**2).sum(axis=(1, 2)))
    excess, gradient, _ = term.stretch(x.ravel(), first.ravel(), p.ravel())
    assert excess == pytest.approx(expected, rel=1e-12)
    for k in range(12):
        step = np.zeros((4, 12))
        step[m, k] = h
        both = [term.stretch(x.ravel(), first.ravel(), p.ravel() + sign * step.ravel())[0] for sign in (1.0, -1.0)]
        slope = gradient.reshape(-1, 12)[:, k].sum()
        assert (both[0] - both[1]) / (2.0 * h) == pytest.approx(slope, abs=1e-6 * np.abs(gradient).max())
    still = np.zeros_like(first)
    still[:, 0] = first[:, 0]  # translations
    assert term.stretch(x.ravel(), still.ravel(), still.ravel())[0] == pytest.approx(0.0, abs=1e-20)
