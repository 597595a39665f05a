"""Proximal steps by Newton's method: their factors against dense algebra, and problems with far more rows than motions."""

import numpy as np
import pytest
from contact_cases import FALL, BodyRows, brick_wall, of_bodies, scattered, sphere_pile, tower, violation

from unibody.algebra.block.lu import factor_blocks, fill_blocks, solve_blocks
from unibody.algebra.contact.augmented import ScaledFactors, augmented, solve_augmented
from unibody.algebra.contact.delassus import gather, spread
from unibody.algebra.contact.problem import ContactProblem, bounded, box, contacts, free, join, unilateral
from unibody.algebra.contact.proximal_newton import evaluate_map
from unibody.algebra.contact.scaling import ScaledProblem, scale_factors
from unibody.algebra.contact.solve import solve_contacts
from unibody.kernel import JIT


def scaled_factors(problem):
    """Ŵ in factors over bodies, and where blocks begin."""
    W, k = problem.factors(), problem.blocks.rows.size
    J, Y, b, D, own = W.J.copy(), W.Y.copy(), problem.b.copy(), np.empty(W.size), np.empty(16 * k)
    scale_factors(W.start, W.place, problem.blocks.friction.ravel(), b, J, Y, D, own)
    return ScaledFactors.of(np.diff(W.first), W.islands, W.place, J, Y), W.start


def times(W, start, x):
    """J Yᵀ x."""
    m, u = np.zeros(W.first[-1]), np.zeros(x.size)
    spread(W.first, W.islands, start, W.place, W.Y, x, m)
    gather(W.first, W.islands, start, W.place, W.J, m, u)
    return u


def dense_rows(W, start, numbers):
    """J or Y as an array."""
    n = W.first[-1]
    rows = np.zeros((start[-1], n))
    for i in range(n):
        e, column = np.zeros(n), np.zeros(start[-1])
        e[i] = 1.0
        gather(W.first, W.islands, start, W.place, numbers, e, column)
        rows[:, i] = column
    return rows


@pytest.mark.parametrize("make", [lambda: scattered(7, 12, 0.5, 3), lambda: sphere_pile(3, 2), lambda: brick_wall(3, 3)])
@pytest.mark.parametrize("whole", [False, True])
def test_factors_over_islands_are_the_matrix(make, whole):
    """Over bodies, and over one island by Cholesky's method."""
    problem = make()
    scaled = ScaledProblem(problem)
    W, start = (ScaledFactors.from_dense(scaled), scaled.start) if whole else scaled_factors(problem)
    x = np.random.default_rng(0).standard_normal(scaled.size)
    np.testing.assert_allclose(times(W, start, x), scaled.W @ x, atol=1e-12)


@pytest.mark.parametrize("make", [lambda: scattered(7, 12, 0.5, 3), lambda: sphere_pile(3, 3), lambda: brick_wall(3, 3)])
def test_block_factors_solve_what_numpy_solves(make):
    """C not symmetric, some blocks zero."""
    (W, start), generator = scaled_factors(make()), np.random.default_rng(1)
    plan, n, k = W.plan, W.first[-1], start.size - 1
    C = np.zeros((k, 4, 4))
    C[:, :3, :3] = (np.eye(3) + 0.3 * generator.standard_normal((k, 3, 3))) / generator.uniform(0.1, 1.0, k)[:, None, None]
    C[::4] = 0.0
    weight, A, scratch, pivot = 0.7, np.empty(plan.size + 1), np.empty(64), np.empty(6, np.int64)
    fill_blocks(W.first, W.islands, start, W.place, plan.where, plan.diagonal, W.J, W.Y, C.ravel(), weight, scratch, A)
    assert factor_blocks(W.first, plan.column, plan.row, plan.diagonal, plan.lower, plan.upper, plan.target, scratch, pivot, A) == 0
    right = generator.standard_normal(n)
    found = right.copy()
    solve_blocks(W.first, plan.column, plan.row, plan.diagonal, plan.lower, plan.upper, A, scratch, found)
    J, Y = dense_rows(W, start, W.J), dense_rows(W, start, W.Y)
    whole = np.zeros((start[-1], start[-1]))
    for block, at in enumerate(start[:-1]):
        whole[at : at + 3, at : at + 3] = C[block, :3, :3] / weight
    np.testing.assert_allclose(found, np.linalg.solve(np.eye(n) + Y.T @ whole @ J, right), atol=1e-9)


@pytest.mark.parametrize("law", [0, 1])
def test_the_map_and_its_slope_by_differences(law):
    """Every kind of block, away from kinks."""
    start, lower = np.array([0, 1, 2, 4, 7, 11]), np.array([0.0, -0.5, 0.0, 0.0, 0.0])
    upper = np.array([np.inf, 0.5, np.inf, np.inf, np.inf])
    generator = np.random.default_rng(5)
    for _ in range(30):
        z, X, slope = generator.standard_normal(11), np.empty(11), np.empty(80)
        evaluate_map(law, start, lower, upper, z, X, slope)
        for k in range(5):
            for c in range(start[k], start[k + 1]):
                h, up, down, unused = np.zeros(11), np.empty(11), np.empty(11), np.empty(80)
                h[c] = 1e-6
                evaluate_map(law, start, lower, upper, z + h, up, unused)
                evaluate_map(law, start, lower, upper, z - h, down, unused)
                count = start[k + 1] - start[k]
                expected = (up - down)[start[k] : start[k + 1]] / 2e-6
                np.testing.assert_allclose(slope.reshape(5, 4, 4)[k, :count, c - start[k]], expected, atol=1e-5)


def over_bodies(problem, tolerance):
    """Solved with W in factors over bodies."""
    return solve_augmented(problem.factors(), problem.b, problem.blocks, problem.law, None, tolerance, 300)


@pytest.mark.parametrize("push", [0.0, 0.5])
@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_a_wall_of_bricks(push, law):
    """Four points wherever two bricks overlap: about 24 rows for the 6 motions of a brick."""
    problem = brick_wall(5, 6, push=push, law=law) if JIT else brick_wall(2, 2, push=push, law=law)
    found = over_bodies(problem, 1e-9)
    assert found.converged and violation(problem, found) < 1e-7, found.note


def test_masses_that_grow_a_million_times_upwards():
    """What is left of velocities, in terms of FALL, adds up over the layers: 8e-10 / FALL < 1e-8."""
    problem = tower(8, mass=np.geomspace(1.0, 1e6, 8))
    found = over_bodies(problem, 1e-10)
    assert found.converged and found.residual.velocity < 1e-10, found.note
    layers = found.impulse[::3].reshape(8, 4).sum(axis=1)
    np.testing.assert_allclose(layers, FALL * np.cumsum(np.geomspace(1.0, 1e6, 8)[::-1])[::-1], rtol=1e-8)


def test_the_same_contact_many_times_over():
    """Twenty copies of each contact, next to each other up to round-off, share what one would carry."""
    once = scattered(4, 3, 0.4, 8)
    J = np.concatenate([np.tile(once.W[3 * k : 3 * k + 3], (20, 1)) for k in range(3)])
    rows = np.concatenate([np.tile(np.arange(3 * k, 3 * k + 3), 20) for k in range(3)])
    many = ContactProblem(J[:, rows], once.b[rows], contacts(np.full(60, 0.4)))
    found, alone = solve_contacts(many, "augmented"), solve_contacts(once, "newton")
    assert found.converged
    np.testing.assert_allclose(found.velocity, alone.velocity[rows], atol=1e-9)


def doubled(problem, by, seed):
    """Every contact twice, the rows of its copy moved a little."""
    rows, generator = problem.rows, np.random.default_rng(seed)
    moved = rows.J + by * generator.standard_normal(rows.J.shape) * (rows.bodies >= 0)[:, :, None]
    both = BodyRows(np.concatenate([rows.J, moved]), np.concatenate([rows.bodies, rows.bodies]), rows.inverse_mass)
    mu = np.tile(problem.blocks.friction[:, :2], (2, 1))
    return of_bodies(both, np.tile(problem.b, 2), contacts(mu), law=problem.law)


@pytest.mark.parametrize("seed", range(4) if JIT else range(2))
def test_contacts_that_nearly_repeat_each_other(seed):
    """Copies a millionth away: W has eigenvalues of 1e-12, ε goes down to 1e-8, and what round-off leaves in its equations is made good."""
    for place in (1, 2):
        problem = doubled(scattered(5, 20, 0.5, place), 1e-6, seed)
        found = over_bodies(problem, 1e-11)
        assert found.converged and found.residual.velocity < 1e-11 and found.iterations < 60, found.note
        assert violation(problem, found) < 1e-9


def test_plans_are_kept_for_the_same_contacts():
    first = brick_wall(2, 2)
    one, same = (scaled_factors(p)[0] for p in (first, brick_wall(2, 2, push=0.5)))
    assert one.plan is same.plan and one.J is not same.J
    bodies, J = first.rows.bodies.copy(), first.rows.J.copy()
    last = np.flatnonzero((bodies >= 0).all(axis=1))[-3:]
    bodies[last, 1] = -1  # a contact between bricks becomes one with the ground
    other = of_bodies(BodyRows(J, bodies, first.rows.inverse_mass), first.b, first.blocks)
    W, start = scaled_factors(other)
    assert W.plan is not one.plan
    x = np.random.default_rng(2).standard_normal(first.b.size)
    np.testing.assert_allclose(times(W, start, x), ScaledProblem(other).W @ x, atol=1e-12)


def test_rows_of_all_kinds_beside_the_contacts():
    plain = scattered(6, 6, 0.3, 3)
    blocks = join(free(3), unilateral(2), bounded([-0.2], [0.1]), box([0.1, 0.0, 0.3]), contacts([0.3, 0.3]), contacts([[0.4, 0.1]]))
    for law in ("coulomb", "convex"):
        problem = ContactProblem(plain.delassus, plain.b, blocks, np.linspace(0.0, 0.3, 18), law)
        found, other = solve_contacts(problem, "augmented", tolerance=1e-11), solve_contacts(problem, "newton", tolerance=1e-11)
        assert found.converged and violation(problem, found) < 1e-9
        np.testing.assert_allclose(found.impulse, other.impulse, atol=1e-8)


def test_a_limit_of_steps_is_kept_and_the_best_is_returned():
    problem = brick_wall(3, 3, push=0.5)
    scaled = ScaledProblem(problem)
    start = scaled.start_from(None)
    few = augmented(scaled, start.copy(), 1e-10, 3)
    assert few.iterations <= 3 + 12  # ends where a proximal step ends
    assert few.velocity <= scaled.residual(start, scaled.velocity(start)).velocity
    np.testing.assert_allclose(few.velocity, scaled.residual(few.x, scaled.velocity(few.x)).velocity, rtol=1e-6)


@pytest.mark.parametrize("fused", [1, 3])
@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_rows_on_islands_of_any_size_give_the_same(fused, law):
    """Groups of one body and of three; from no impulses, and at once from the solution."""
    for problem in (scattered(7, 9, 0.4, 6, law), brick_wall(2, 2, push=0.2, law=law)):
        W = problem.factors(fused)
        found = solve_augmented(W, problem.b, problem.blocks, law, None, 1e-9, 300)
        other = solve_contacts(problem, "augmented", tolerance=1e-9)
        assert found.converged and violation(problem, found) < 1e-7, found.note
        if law == "convex" or problem.b.size < 30:  # where velocities are unique
            np.testing.assert_allclose(found.velocity, other.velocity, atol=1e-5)  # a residual of 1e-9 leaves its root at most
        again = solve_augmented(W, problem.b, problem.blocks, law, found.impulse, 1e-8, 300)
        assert again.iterations == 0 and again.converged
    smooth = ContactProblem(problem.delassus, problem.b, contacts(np.zeros(len(problem.blocks.rows))), law=law)
    found = solve_augmented(W, smooth.b, smooth.blocks, law, None, 1e-9, 300)
    assert found.converged and violation(smooth, found) < 1e-7 and not found.impulse.reshape(-1, 3)[:, 1:].any()
