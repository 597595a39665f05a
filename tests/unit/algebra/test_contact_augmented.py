"""Proximal steps by Newton's method: their factors against dense algebra, and problems with far more rows than motions."""

import numpy as np
import pytest
from contact_cases import FALL, brick_wall, scattered, sphere_pile, tower, violation

from unibody.algebra.contact.augmented import press
from unibody.algebra.contact.augmented_islands import augmented_islands
from unibody.algebra.contact.augmented_restart import augmented
from unibody.algebra.contact.block_lu import factor_blocks, fill_blocks, solve_blocks
from unibody.algebra.contact.delassus import gather, spread
from unibody.algebra.contact.problem import ContactProblem, Dense, Factored, bounded, box, contacts, free, join, unilateral
from unibody.algebra.contact.scaled_delassus import ScaledVelocities
from unibody.algebra.contact.scaling import Units
from unibody.algebra.contact.solve import solve_contacts
from unibody.kernel import JIT


def times(motion, units, x):
    """J Yᵀ x."""
    m, u = np.zeros(motion.first[-1]), np.zeros(units.size)
    spread(motion.first, motion.islands, units.start, motion.place, motion.Y, x, m)
    gather(motion.first, motion.islands, units.start, motion.place, motion.J, m, u)
    return u


def dense_rows(motion, units, numbers):
    """J or Y as an array."""
    n = motion.first[-1]
    rows = np.zeros((units.size, n))
    for i in range(n):
        e, column = np.zeros(n), np.zeros(units.size)
        e[i] = 1.0
        gather(motion.first, motion.islands, units.start, motion.place, numbers, e, column)
        rows[:, i] = column
    return rows


@pytest.mark.parametrize("make", [lambda: scattered(7, 12, 0.5, 3), lambda: sphere_pile(3, 2), lambda: brick_wall(3, 3)])
@pytest.mark.parametrize("whole", [False, True])
def test_rows_over_islands_are_the_matrix(make, whole):
    problem = make()
    if whole:
        problem = ContactProblem(Dense(problem.W.whole()), problem.b, problem.blocks)
    units = Units(problem)
    motion, x = ScaledVelocities.of(units), np.random.default_rng(0).standard_normal(units.size)
    np.testing.assert_allclose(times(motion, units, x), units.dense_matrix() @ x, atol=1e-12)


@pytest.mark.parametrize("make", [lambda: scattered(7, 12, 0.5, 3), lambda: sphere_pile(3, 3), lambda: brick_wall(3, 3)])
def test_block_factors_solve_what_numpy_solves(make):
    """C not symmetric, some blocks zero."""
    units = Units(make())
    motion, generator = ScaledVelocities.of(units), np.random.default_rng(1)
    plan, n, k = motion.plan, motion.first[-1], units.rows.size
    C = np.zeros((k, 4, 4))
    C[:, :3, :3] = np.eye(3) + 0.3 * generator.standard_normal((k, 3, 3))
    C[::4] = 0.0
    weight, A, scratch, pivot = generator.uniform(0.1, 1.0, k), np.empty(plan.size + 1), np.empty(64), np.empty(6, np.int64)
    fill_blocks(
        motion.first,
        motion.islands,
        units.start,
        motion.place,
        plan.where,
        plan.diagonal,
        motion.J,
        motion.Y,
        C.ravel(),
        weight,
        scratch,
        A,
    )
    assert factor_blocks(motion.first, plan.column, plan.row, plan.diagonal, plan.lower, plan.upper, plan.target, scratch, pivot, A) == 0
    right = generator.standard_normal(n)
    found = right.copy()
    solve_blocks(motion.first, plan.column, plan.row, plan.diagonal, plan.lower, plan.upper, A, scratch, found)
    J, Y = dense_rows(motion, units, motion.J), dense_rows(motion, units, motion.Y)
    whole = np.zeros((units.size, units.size))
    for block in range(k):
        at = units.start[block]
        whole[at : at + 3, at : at + 3] = C[block, :3, :3] / weight[block]
    np.testing.assert_allclose(found, np.linalg.solve(np.eye(n) + Y.T @ whole @ J, right), atol=1e-9)


@pytest.mark.parametrize("law", [0, 1])
def test_the_map_and_its_slope_by_differences(law):
    """Every kind of block, away from kinks."""
    start, lower = np.array([0, 1, 2, 4, 7, 11]), np.array([0.0, -0.5, 0.0, 0.0, 0.0])
    upper = np.array([np.inf, 0.5, np.inf, np.inf, np.inf])
    generator = np.random.default_rng(5)
    for _ in range(30):
        z, X, slope = generator.standard_normal(11), np.empty(11), np.empty(80)
        press(law, start, lower, upper, z, X, slope)
        for k in range(5):
            for c in range(start[k], start[k + 1]):
                h, up, down, unused = np.zeros(11), np.empty(11), np.empty(11), np.empty(80)
                h[c] = 1e-6
                press(law, start, lower, upper, z + h, up, unused)
                press(law, start, lower, upper, z - h, down, unused)
                count = start[k + 1] - start[k]
                expected = (up - down)[start[k] : start[k + 1]] / 2e-6
                np.testing.assert_allclose(slope.reshape(5, 4, 4)[k, :count, c - start[k]], expected, atol=1e-5)


@pytest.mark.parametrize("push", [0.0, 0.5])
@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_a_wall_of_bricks(push, law):
    """Four points wherever two bricks overlap: about 24 rows for the 6 motions of a brick."""
    problem = brick_wall(5, 6, push=push, law=law) if JIT else brick_wall(2, 2, push=push, law=law)
    found = solve_contacts(problem, "augmented", tolerance=1e-9)
    assert found.converged and violation(problem, found) < 1e-7, found.note


def test_masses_that_grow_a_million_times_upwards():
    """What is left of velocities, in terms of FALL, adds up over the layers: 8e-10 / FALL < 1e-8."""
    problem = tower(8, mass=np.geomspace(1.0, 1e6, 8))
    found = solve_contacts(problem, "augmented", tolerance=1e-10)
    assert found.converged and found.residual.velocity < 1e-10, found.note
    layers = found.impulse[::3].reshape(8, 4).sum(axis=1)
    np.testing.assert_allclose(layers, FALL * np.cumsum(np.geomspace(1.0, 1e6, 8)[::-1])[::-1], rtol=1e-8)


def test_the_same_contact_many_times_over():
    """Twenty copies of each contact, next to each other up to round-off, share what one would carry."""
    once = scattered(4, 3, 0.4, 8)
    J = np.concatenate([np.tile(once.W.whole()[3 * k : 3 * k + 3], (20, 1)) for k in range(3)])
    rows = np.concatenate([np.tile(np.arange(3 * k, 3 * k + 3), 20) for k in range(3)])
    many = ContactProblem(Dense(J[:, rows]), once.b[rows], contacts(np.full(60, 0.4)))
    found, alone = solve_contacts(many, "augmented"), solve_contacts(once, "newton")
    assert found.converged
    np.testing.assert_allclose(found.velocity, alone.velocity[rows], atol=1e-9)


def doubled(problem, by, seed):
    """Every contact twice, the rows of its copy moved a little."""
    W, generator = problem.operator, np.random.default_rng(seed)
    moved = W.J + by * generator.standard_normal(W.J.shape) * (W.islands >= 0)[:, :, None]
    operator = Factored(np.concatenate([W.J, moved]), np.concatenate([W.islands, W.islands]), W.inverse_mass)
    mu = np.tile(problem.blocks.friction[:, :2], (2, 1))
    return ContactProblem(operator, np.tile(problem.b, 2), contacts(mu), law=problem.law)


@pytest.mark.parametrize("seed", range(4) if JIT else range(2))
def test_contacts_that_nearly_repeat_each_other(seed):
    """Copies a millionth away: W has eigenvalues of 1e-12, ε goes down to 1e-8, and what round-off leaves in its equations is made good."""
    for place in (1, 2):
        problem = doubled(scattered(5, 20, 0.5, place), 1e-6, seed)
        found = solve_contacts(problem, "augmented", tolerance=1e-11)
        assert found.converged and found.residual.velocity < 1e-11 and found.iterations < 60, found.note
        assert violation(problem, found) < 1e-9


def test_plans_are_kept_for_the_same_contacts():
    first = brick_wall(2, 2)
    one, same = (ScaledVelocities.of(Units(p)) for p in (first, brick_wall(2, 2, push=0.5)))
    assert one.plan is same.plan and one.J is not same.J
    islands = first.operator.islands.copy()
    last = np.flatnonzero((islands >= 0).all(axis=1))[-3:]
    islands[last, 1] = -1  # a contact between bricks becomes one with the ground
    other = ContactProblem(Factored(first.operator.J, islands, first.operator.inverse_mass), first.b, first.blocks)
    motion, units = ScaledVelocities.of(Units(other)), Units(other)
    assert motion.plan is not one.plan
    x = np.random.default_rng(2).standard_normal(units.size)
    np.testing.assert_allclose(times(motion, units, x), units.dense_matrix() @ x, atol=1e-12)


def test_rows_of_all_kinds_beside_the_contacts():
    plain = scattered(6, 6, 0.3, 3)
    blocks = join(free(3), unilateral(2), bounded([-0.2], [0.1]), box([0.1, 0.0, 0.3]), contacts([0.3, 0.3]), contacts([[0.4, 0.1]]))
    for law in ("coulomb", "convex"):
        problem = ContactProblem(plain.operator, plain.b, blocks, np.linspace(0.0, 0.3, 18), law)
        found, other = solve_contacts(problem, "augmented", tolerance=1e-11), solve_contacts(problem, "newton", tolerance=1e-11)
        assert found.converged and violation(problem, found) < 1e-9
        np.testing.assert_allclose(found.impulse, other.impulse, atol=1e-8)


def test_a_limit_of_steps_is_kept_and_the_best_is_returned():
    problem = brick_wall(3, 3, push=0.5)
    units = Units(problem)
    start = units.start_from(None)
    few = augmented(units, start.copy(), 1e-10, 3)
    assert few.iterations <= 3 + 12  # ends where a proximal step ends
    assert few.velocity <= units.residual(start, units.velocity(start)).velocity
    np.testing.assert_allclose(few.velocity, units.residual(few.x, units.velocity(few.x)).velocity, rtol=1e-6)


class Grouped:
    """Rows on two bodies, written down as islands of velocities; `fused`: so many bodies make one island."""

    def __init__(self, problem, fused=1):
        units, W = Units(problem), problem.W
        n, k = len(W.inverse_mass), problem.blocks.rows.size
        self.problem, self.rows, self.start = problem, problem.blocks.rows, np.concatenate([[0], np.cumsum(problem.blocks.rows)])
        self.first = np.minimum(6 * fused * np.arange(-(-n // fused) + 1), 6 * n)
        bodies = W.islands[self.start[:-1]]
        self.islands, parts, place = np.full((k, 2), -1), ([], []), [0]
        assert units.size == problem.b.size
        for b in range(k):
            own = sorted({int(g) // fused for g in bodies[b] if g >= 0})
            self.islands[b, : len(own)] = own
            for row_numbers, out in zip((W.J, np.einsum("rgij,rgj->rgi", W.inverse_mass[W.islands], W.J)), parts):
                whole = np.zeros((3, 6 * n))
                for side in range(2):
                    if bodies[b, side] >= 0:
                        at = 6 * bodies[b, side]
                        whole[:, at : at + 6] += row_numbers[3 * b : 3 * b + 3, side]
                for g in own:
                    out.append(whole[:, self.first[g] : self.first[g + 1]].T.ravel())
            place.append(sum(map(len, parts[0])))
        self.J, self.Y = (np.concatenate(part) for part in parts)
        self.place = np.array(place)

    def times(self, x):
        return self.problem.W.times(x)


@pytest.mark.parametrize("fused", [1, 3])
@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_rows_on_islands_of_any_size_give_the_same(fused, law):
    """Groups of one body and of three; from no impulses, and at once from the solution."""
    for problem in (scattered(7, 9, 0.4, 6, law), brick_wall(2, 2, push=0.2, law=law)):
        rows = Grouped(problem, fused)
        found = augmented_islands(rows, problem.b, problem.blocks, law, None, 1e-9, 300)
        other = solve_contacts(problem, "augmented", tolerance=1e-9)
        assert found.converged and violation(problem, found) < 1e-7, found.note
        if law == "convex" or problem.b.size < 30:  # where velocities are unique
            np.testing.assert_allclose(found.velocity, other.velocity, atol=1e-5)  # a residual of 1e-9 leaves its root at most
        again = augmented_islands(rows, problem.b, problem.blocks, law, found.impulse, 1e-8, 300)
        assert again.iterations == 0 and again.converged
    smooth = ContactProblem(problem.operator, problem.b, contacts(np.zeros(len(problem.blocks.rows))), law=law)
    found = augmented_islands(rows, smooth.b, smooth.blocks, law, None, 1e-9, 300)
    assert found.converged and violation(smooth, found) < 1e-7 and not found.impulse.reshape(-1, 3)[:, 1:].any()
