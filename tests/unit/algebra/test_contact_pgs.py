"""Rows on islands of velocities: products, whole matrices and held rows against NumPy; sweeps against the laws as they are written."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from contact_cases import scattered, sphere_pile, tower, violation

from unibody.algebra.contact.delassus import DelassusFactors
from unibody.algebra.contact.local_solve import LOCAL, TABLE
from unibody.algebra.contact.pgs import solve_pgs
from unibody.algebra.contact.pgs_layout import AXES_OWN, B_OWN, D_OWN, RECORD, TABLES, scratch
from unibody.algebra.contact.problem import ContactProblem, bounded, contacts, join, unilateral
from unibody.algebra.contact.scaling import ScaledProblem
from unibody.arena import part

SIZES = (1, 4, 6, 9, 2)


def random_rows(seed, rows=(3, 1, 2, 4, 3, 3, 1, 1), sizes=SIZES):
    """Blocks on random pairs of five islands with random masses: the operator, M⁻¹ and J whole."""
    g = np.random.default_rng(seed)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    inverse = np.zeros((first[-1], first[-1]))
    for a, b in pairwise(first):
        G = g.standard_normal((b - a, b - a + 2))
        inverse[a:b, a:b] = G @ G.T
    rows = np.array(rows, np.int64)
    islands = np.array([(*g.choice(5, 1), -1) if g.random() < 0.3 else g.choice(5, 2, replace=False) for _ in rows])
    J = np.zeros((rows.sum(), first[-1]))
    at = 0
    for d, pair in zip(rows, islands):
        for k in pair[pair >= 0]:
            J[at : at + d, first[k] : first[k + 1]] = g.standard_normal((d, first[k + 1] - first[k]))
        at += d
    return DelassusFactors.from_whole(first, rows, islands, J, J @ inverse, np.arange(first[-1])), inverse, J


@pytest.mark.parametrize("seed", range(4))
def test_products_and_matrices_are_those_of_numpy(seed):
    W, inverse, J = random_rows(seed)
    whole = J @ inverse @ J.T
    x = np.random.default_rng(seed).standard_normal(W.size)
    np.testing.assert_allclose(W.dense(), whole, atol=1e-12)
    J_sparse, Y_sparse = W.sparse_parts()
    np.testing.assert_allclose((J_sparse @ Y_sparse.T).toarray(), whole, atol=1e-12)
    np.testing.assert_allclose(W.times(x), whole @ x, atol=1e-11)
    np.testing.assert_allclose(W.pull(x), J.T @ x, atol=1e-12)
    np.testing.assert_allclose(W.responses(W.pull(x)), whole @ x, atol=1e-11)
    begin = np.cumsum(W.rows) - W.rows
    np.testing.assert_allclose(W.some(np.array([4, 1, 0])).dense(), whole[np.ix_(s := [*range(10, 13), 3, 0, 1, 2], s)], atol=1e-12)
    np.testing.assert_allclose(W.some(np.arange(8), row=0).dense(), whole[np.ix_(begin, begin)], atol=1e-12)
    both = W.some(np.array([0, 1])).followed_by(W.some(np.arange(2, 8)))
    np.testing.assert_allclose(both.dense(), whole, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_hold_are_eliminated_within_their_islands(seed):
    """W − W_rh W_hh⁻¹ W_hr, with two held rows in one island and one in another."""
    W, inverse, J = random_rows(seed)
    g = np.random.default_rng(100 + seed)
    H = np.zeros((3, J.shape[1]))
    H[[0, 2], 5:11], H[1, 11:20] = g.standard_normal((2, 6)), g.standard_normal(9)
    held = DelassusFactors.from_whole(
        W.first, np.ones(3, np.int64), np.array([(2, -1), (3, -1), (2, -1)]), H, H @ inverse, np.arange(J.shape[1])
    )
    inner = np.linalg.inv(H @ inverse @ H.T)
    expected = J @ inverse @ J.T - J @ inverse @ H.T @ inner @ H @ inverse @ J.T
    np.testing.assert_allclose(W.holding(held, inner).dense(), expected, atol=1e-10)


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_scaling_is_that_of_the_other_algorithms(law):
    """D, and S of a block in the axes of its table, as `ScaledProblem` finds them by LAPACK."""
    W, inverse, J = random_rows(3, rows=(3, 4, 2, 1, 4))
    mu = np.array([[0.3, 0.3, 0.0], [0.5, 0.2, 0.1], [0.4, 0.0, 0.0], [0.0, 0.0, 0.0], [0.2, 0.6, 0.3]])
    blocks = join(contacts(mu[:1, :2]), contacts(mu[1:2]), contacts(mu[2:3, 0], planar=True), unilateral(1), contacts(mu[4:]))
    solve_pgs(W, np.ones(W.size), blocks, law, None, 0.0, 0)
    layout = scratch.ints[RECORD * 5 + W.first.size :]
    D, table, axes, b = (part(scratch.floats, layout, slot) for slot in (D_OWN, TABLES, AXES_OWN, B_OWN))
    scaled = ScaledProblem(ContactProblem(J @ inverse @ J.T, np.zeros(W.size), blocks, law=law))
    np.testing.assert_allclose(D, scaled.D, rtol=1e-12)
    np.testing.assert_allclose((b[:-1] ** 2).sum(), (D**2).sum(), rtol=1e-12)  # turned only

    def whole(numbers, axes):
        t, V = numbers.copy(), axes.reshape(-1, 3, 3).copy()
        t[W.rows == 1, 1:] = V[W.rows == 1] = 0.0  # bounds, and what nothing looks at
        return t[:, 0], np.einsum("kij,kj->ki", V, t[:, 1:4]), np.einsum("kij,kj,klj->kil", V, t[:, 4:7], V)

    others = scaled.local.reshape(-1, LOCAL)
    for ours, theirs in zip(whole(table.reshape(-1, TABLE), axes), whole(others, others[:, 7:16])):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("make", [lambda: scattered(6, 8, 0.3, 1), lambda: tower(3, push=0.05), lambda: sphere_pile(3, 2)])
def test_sweeps_end_at_the_laws(make):
    problem = make()
    W = problem.factors()
    np.testing.assert_allclose(W.dense(), problem.W, atol=1e-12)
    found = solve_pgs(W, problem.b, problem.blocks, "coulomb", None, 1e-10, 5000)
    assert found.converged and violation(problem, found) < 1e-8
    again = solve_pgs(W, problem.b, problem.blocks, "coulomb", found.impulse, 1e-9, 5000)
    assert again.iterations == 0, "a solution to begin with is seen to be one"


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_limits_friction_bounds_and_contacts_without_friction_among_the_blocks(law):
    W, inverse, J = random_rows(7, rows=(3, 1, 1, 4, 2, 1, 3), sizes=(7, 8, 6, 9, 12))
    blocks = join(
        contacts([0.4]), unilateral(1), bounded(np.array([-0.2]), np.array([0.3])), contacts(np.array([[0.5, 0.2, 0.1]])),
        contacts([0.6], planar=True), unilateral(1), contacts([0.0]),
    )  # fmt: skip
    b = np.random.default_rng(0).standard_normal(W.size) - 1.0
    problem = ContactProblem(J @ inverse @ J.T, b, blocks, law=law)
    found = solve_pgs(W, b, blocks, law, None, 1e-11, 20000)
    assert found.converged and violation(problem, found) < 1e-8


@pytest.mark.parametrize("sweeps", [0, 1, 3, 40])
@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_unit_masses_change_nothing_but_what_is_read(law, sweeps):
    """In velocities in which M of some islands of six is 1 (by Cholesky's factor of M⁻¹), W and all sweeps are the same: some blocks have J
    alone, some J and Y, some an island of each kind. With all islands unit, Y is not even there."""
    W, inverse, J = random_rows(11, rows=(3, 1, 3, 4, 3, 3, 1, 2, 3, 3), sizes=(6, 6, 8, 6, 6))
    blocks = join(
        contacts([0.4]), unilateral(1), contacts([0.0]), contacts(np.array([[0.5, 0.2, 0.1]])), contacts([0.7]), contacts([0.3]),
        bounded(np.array([0.1]), np.array([0.4])), contacts([0.6], planar=True), contacts([0.2]), contacts([0.9]),
    )  # fmt: skip
    b = np.random.default_rng(1).standard_normal(W.size) - 0.5
    warm = np.maximum(np.random.default_rng(2).standard_normal(W.size), 0.0) if sweeps % 2 else None
    order = np.random.default_rng(3).permutation(len(W.rows))
    plain = solve_pgs(W, b, blocks, law, warm, 0.0, sweeps, order)
    for which in ((0, 1, 3), (0, 1, 2, 3, 4)):
        root, unit = np.eye(len(inverse)), np.zeros(5, np.int64)
        for k in which:
            at = slice(W.first[k], W.first[k + 1])
            root[at, at], unit[k] = np.linalg.cholesky(inverse[at, at]), 1
        at = np.concatenate([unit[k] * np.ones(W.first[k + 1] - W.first[k]) for k in range(5)]) > 0.5
        mass = np.where(at[:, None] | at, np.eye(len(inverse)), inverse)
        made = DelassusFactors.from_whole(W.first, W.rows, W.islands, J @ root, J @ root @ mass, np.arange(len(inverse)))
        made = replace(made, Y=made.J if unit.all() else made.Y, unit=unit)
        np.testing.assert_allclose(made.dense(), W.dense(), atol=1e-12)
        found = solve_pgs(made, b, blocks, law, warm, 0.0, sweeps, order)
        assert found.iterations == plain.iterations
        np.testing.assert_allclose(found.impulse, plain.impulse, atol=1e-10)
        np.testing.assert_allclose(found.velocity, plain.velocity, atol=1e-10)
        assert found.residual.velocity == pytest.approx(plain.residual.velocity, abs=1e-10)


def test_what_is_not_reached_is_said():
    problem = tower(12)
    W = problem.factors()
    found = solve_pgs(W, problem.b, problem.blocks, "coulomb", None, 1e-12, 3)
    assert not found.converged and found.residual.velocity > 1e-6 and "residual" in found.note
    assert violation(problem, found) < 10.0 * found.residual.velocity
