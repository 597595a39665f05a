"""Contacts that give way: the law row by row, the same forces from dense and sparse matrices, and a block whose forces are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unibody.algebra.contact.compliant import (
    ComplianceSlopes,
    CompliantContacts,
    DenseRows,
    DenseVelocities,
    SparseVelocities,
    compliant_forces,
    response_of,
)
from unibody.algebra.contact.delassus import DelassusFactors


def heap(seed: int, bodies: int, contacts: int, singles: int = 3, width: int = 3) -> CompliantContacts:
    """Bodies of six velocities with random masses, pressed together at random; some slide, some stick, some part."""
    rng = np.random.default_rng(seed)
    islands = np.array([rng.choice(bodies, 2, replace=False) for _ in range(singles + contacts)])
    islands[::4, 1] = -1
    rows = np.array([1] * singles + [width] * contacts, np.int64)
    out = DelassusFactors.zeros(6 * np.arange(bodies + 1, dtype=np.int64), rows, islands)
    inverse = []
    for _ in range(bodies):
        root = 0.3 * rng.standard_normal((6, 6)) + np.eye(6)
        inverse.append(root @ root.T)
    for k in range(singles + contacts):
        at = out.place[k]
        for g in islands[k][islands[k] >= 0]:
            J = rng.standard_normal((6, rows[k]))
            out.J[at : at + J.size], out.Y[at : at + J.size] = J.ravel(), (inverse[g] @ J).ravel()
            at += J.size
    felt = out.diagonal(len(rows))[np.concatenate([np.arange(singles), singles + width * np.arange(contacts)])]
    coefficient = rng.choice([0.0, 0.3, 0.8], contacts)
    free = 0.02 * rng.standard_normal((contacts, width - 1))
    return CompliantContacts(out, rng.normal(4.0, 5.0, singles + contacts), felt / 4e3, coefficient, free, 1e-2, 0.01)


def misses(problem: CompliantContacts, forces: np.ndarray) -> float:
    """The largest deviation from the law, row by row, of the largest force; W from the whole J and Y."""
    u = problem.rows.dense() @ forces
    m, width = len(problem.right) - len(problem.free), problem.free.shape[1] + 1
    wanted = np.zeros_like(forces)
    for k, (right, soft) in enumerate(zip(problem.right, problem.soft, strict=True)):
        row = k if k < m else m + width * (k - m)
        wanted[row] = max(0.0, (right - u[row]) / soft)
        if k >= m:
            w = problem.free[k - m] + problem.h * u[row + 1 : row + width]
            wanted[row + 1 : row + width] = -problem.coefficient[k - m] * wanted[row] * w / max(np.linalg.norm(w), problem.slip_speed)
    return float(np.abs(wanted - forces).max() / np.abs(forces).max())


@pytest.mark.parametrize("seed, width", [(2, 3), (3, 3), (2, 2)])
def test_forces_obey_the_law_and_do_not_depend_on_the_matrix(seed: int, width: int) -> None:
    problem = heap(seed, 8, 20, width=width)
    dense, sparse = compliant_forces(problem), compliant_forces(problem, dense=0)
    assert dense.residual <= 1e-9 and sparse.residual <= 1e-9 and dense.iterations <= 30
    np.testing.assert_allclose(sparse.forces, dense.forces, atol=1e-8 * np.abs(dense.forces).max())
    np.testing.assert_allclose(dense.motion, problem.rows.dense() @ dense.forces, atol=1e-8 * np.abs(dense.motion).max())
    assert misses(problem, dense.forces) < 1e-9 and misses(problem, sparse.forces) < 1e-9
    pushes, _ = problem.split(dense.forces)
    w = problem.free + problem.h * problem.split(dense.motion)[1]
    slip = np.linalg.norm(w, axis=1)[(pushes[3:] > 0.0) & (problem.coefficient > 0.0)]
    assert (pushes == 0.0).any() and (slip > problem.slip_speed).any() and (slip < problem.slip_speed).any()


@pytest.mark.parametrize("seed", range(6))
def test_crowded_heaps_in_which_much_slips_and_sticks_are_solved(seed: int) -> None:
    """Sixty contacts on ten bodies, with friction up to 0.8 and a slip speed a hundred times as small as their slips."""
    problem = replace(heap(seed, 10, 60), slip_speed=2e-4)
    found = compliant_forces(problem)
    assert found.residual <= 1e-9 and misses(problem, found.forces) < 2e-9


def test_rows_without_contacts() -> None:
    """One-sided rows alone, as where only limits push: an obstacle problem, whose solution the law row by row tells."""
    problem = heap(3, 5, 0, singles=12)
    found = compliant_forces(problem)
    assert found.residual <= 1e-9 and misses(problem, found.forces) < 1e-9 and (found.forces > 0.0).any() and (found.forces == 0.0).any()


def test_slopes_are_those_of_the_law_by_differences() -> None:
    problem, rng = heap(5, 6, 12), np.random.default_rng(1)
    u, d = 3.0 * rng.standard_normal(problem.rows.size), rng.standard_normal(problem.rows.size)
    bound = problem.bounds(problem.pushes(u))
    for follow, given in ((1.0, None), (0.0, bound)):
        wanted = (problem.law(u + 1e-6 * d, given) - problem.law(u - 1e-6 * d, given)) / 2e-6
        np.testing.assert_allclose(problem.slopes(u, bound, follow).times(d), wanted, atol=1e-6 * np.abs(wanted).max())


def test_every_space_gives_the_same_answer() -> None:
    problem, rng = heap(4, 6, 9), np.random.default_rng(5)
    J, Y = problem.rows.wholes()
    slopes = ComplianceSlopes(-rng.uniform(0.0, 9.0, 3), -np.array([a @ a.T for a in rng.standard_normal((9, 3, 3))]))
    slopes.blocks[4] = 0.0  # a contact that does not push
    missing = rng.standard_normal(30)
    ways = (DenseRows(J, Y), DenseVelocities(J, Y), SparseVelocities(*problem.rows.sparse_parts(), (3, 9, 3)))
    for way in ways:
        for _ in range(2):  # again with other zeros
            force, motion = way.solve(slopes, missing)
            np.testing.assert_allclose(force, missing + slopes.times(motion), atol=1e-9)
            np.testing.assert_allclose(motion, J @ (Y.T @ force), atol=1e-9)
            np.testing.assert_allclose(way.motion(missing), J @ (Y.T @ missing), atol=1e-9)
            slopes.blocks[4] = -np.eye(3)


def test_the_smallest_space_is_chosen() -> None:
    few, many = heap(6, 12, 6), heap(7, 4, 20)
    assert isinstance(response_of(few.rows, 3, 3), DenseRows) and isinstance(response_of(many.rows, 3, 3), DenseVelocities)
    assert isinstance(response_of(many.rows, 3, 3, dense=20), SparseVelocities)


@pytest.mark.parametrize("pull, slides", [(3.0, False), (30.0, True)])
def test_a_block_that_is_pulled_sticks_or_slides(pull: float, slides: bool) -> None:
    """m = 2 kg, on ground that gives way: p = m (right − u), with u = p/m; then friction against the pull, in closed form."""
    mass, h, mu, slow, soft, right = 2.0, 0.01, 0.5, 1e-3, 1e-4, 10.0
    eye = np.eye(6)[:, 3:]
    rows = DelassusFactors.zeros(np.array([0, 6], np.int64), np.array([3], np.int64), np.array([[0, -1]]))
    rows.J[:], rows.Y[:] = eye.ravel(), eye.ravel() / mass
    free = np.array([[h * pull / mass, 0.0]])
    found = compliant_forces(CompliantContacts(rows, np.array([right]), np.array([soft]), np.array([mu]), free, slow, h))
    p = right / (1.0 / mass + soft)
    f = -mu * p if slides else -pull / (1.0 + slow * mass / (mu * p * h))
    assert found.forces == pytest.approx([p, f, 0.0], rel=1e-9, abs=1e-12)
