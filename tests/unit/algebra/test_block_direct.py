"""Systems of affine bodies by supernodal factors against dense ones, with joints and without; what decides between them and iterations."""

from __future__ import annotations

import numpy as np
import pytest
from test_block_cholesky import coupled
from test_block_reduced_pcg import system

from unibody.algebra.block.cholesky import BlockMatrix
from unibody.algebra.block.direct import DirectPlan, NewtonSolver

JOINED = [([4], []), ([1, 1], [(0, 1)]), ([3, 2, 1], [(0, 4), (2, 5), (3, 5)]), ([5] * 8, [(0, 6), (3, 39)])]


@pytest.mark.parametrize(("sizes", "touching"), JOINED)
def test_reduced_solutions_are_those_of_the_dense_matrix(sizes, touching, rng):
    H, change, N = system(rng, sizes, touching)
    b = rng.normal(size=N.shape[0])
    exact = N @ np.linalg.solve(N.T @ H.sparse().toarray() @ N, N.T @ b)
    for way in ("auto", "direct", "pcg"):
        found, direct = NewtonSolver(way, change).solve(H, b, False)
        assert direct == (way != "pcg")  # so few bodies are factored
        np.testing.assert_allclose(found, exact, atol=1e-7 * np.abs(exact).max())


def test_bodies_without_joints():
    H, b = coupled(40), np.random.default_rng(2).standard_normal(480)
    found, _ = NewtonSolver("direct", None).solve(H, b, False)
    exact = np.linalg.solve(H.sparse().toarray(), b)
    np.testing.assert_allclose(found, exact, atol=1e-8 * np.abs(exact).max())  # stiffness ratios of 1e6 in the blocks


def test_a_matrix_that_is_not_positive_has_no_direction_unless_it_is_the_careful_one(rng):
    H, change, N = system(rng, [2, 1], [(1, 2)])
    H.diagonal[2] -= 1e9 * np.eye(12)
    solver = NewtonSolver("direct", change)
    assert solver.solve(H, np.ones(36), False)[0] is None
    exact = N @ np.linalg.solve(N.T @ H.sparse().toarray() @ N, N.T @ np.ones(36))
    np.testing.assert_allclose(solver.solve(H, np.ones(36), True)[0], exact, atol=1e-9 * np.abs(exact).max())


def test_a_matrix_whose_blocks_are_positive_but_not_the_whole_is_refused():
    """Sparse LU does not notice that."""
    H = coupled(6)
    H = BlockMatrix(H.diagonal, H.rows, H.columns, 1e3 * H.between)
    assert np.linalg.eigvalsh(H.diagonal).min() > 0.0 > np.linalg.eigvalsh(H.sparse().toarray())[0]
    assert NewtonSolver("direct", None).solve(H, np.ones(72), False)[0] is None


def test_work_decides_for_large_systems():
    """A chain of bodies fills little in and is factored; a cube of 8 × 8 × 8 bodies that touch their neighbours is cut by 64
    bodies at best, (12 · 64)³ / 3 flops, and is iterated."""
    assert NewtonSolver("auto", None).direct(coupled(400))
    number = np.arange(512).reshape(8, 8, 8)
    faces = ((number[1:], number[:-1]), (number[:, 1:], number[:, :-1]), (number[:, :, 1:], number[:, :, :-1]))
    columns, rows = (np.concatenate([pair[k].ravel() for pair in faces]) for k in (0, 1))
    cube, solver = BlockMatrix(np.tile(np.eye(12), (512, 1, 1)), rows, columns, np.zeros((len(rows), 12, 12))), NewtonSolver("auto", None)
    assert solver.plan(cube).flops > (12 * 64) ** 3 / 3
    assert not solver.direct(cube)
    assert NewtonSolver("direct", None).direct(cube) and not NewtonSolver("pcg", None).direct(coupled(3))


def test_a_plan_is_kept_while_pairs_stay_and_gives_the_same_bits(rng):
    H, change, _ = system(rng, [3, 2, 1], [(0, 4), (2, 5)])
    other, _, _ = system(rng, [3, 2, 1], [(0, 4), (1, 5)])
    b, solver = rng.normal(size=72), NewtonSolver("direct", change)
    first = solver.solve(H, b, False)[0]
    plan = solver.plan(H)
    solver.solve(H.between_this_and(H, 0.5), 2.0 * b, False)
    assert solver.plan(H) is plan
    assert solver.plan(other) is not plan
    solver.solve(other, b, False)
    assert np.array_equal(solver.solve(H, b, False)[0], first)
    assert np.array_equal(DirectPlan(6, H.rows, H.columns, change).solve(H, b), first)
