"""Newton's method in one kernel beside the methods that go through Python, and beside the laws themselves."""

from __future__ import annotations

import numpy as np
import pytest

from unibody.algebra.contact.newton import CONVERGED, RESIDUAL, STEPS, newton_small
from unibody.algebra.contact.problem import CONVEX, COULOMB, Blocks, ContactProblem, contacts, join, unilateral
from unibody.algebra.contact.solve import solve_contacts
from unibody.algebra.dense import solve_pivoted


def run(W: np.ndarray, b: np.ndarray, blocks: Blocks, law: int = COULOMB, warm: np.ndarray | None = None, steps: int = 60):
    impulse, velocity, facts = np.empty(b.size), np.empty(b.size), np.empty(3)
    start = np.zeros(b.size) if warm is None else warm
    newton_small(law, 1e-10, steps, 3, blocks.rows, blocks.lower, blocks.upper, np.ascontiguousarray(blocks.friction).ravel(), W.ravel(), b,
                 start, impulse, velocity, facts)  # fmt: skip
    return impulse, velocity, facts


def random_problem(rng: np.random.Generator, n: int, limits: int, extra: int) -> tuple[np.ndarray, np.ndarray, Blocks]:
    """W of full rank (`extra` more velocities than rows) or not, contacts that are pressed together at random speeds."""
    m = 3 * n + limits
    J = rng.standard_normal((m, m + extra)) * np.exp(rng.uniform(-2.0, 2.0, m))[:, None]
    blocks = join(unilateral(limits), contacts(rng.uniform(0.1, 1.0, n)))
    return J @ J.T / (m + extra), rng.standard_normal(m), blocks


def laws_missed(impulse: np.ndarray, velocity: np.ndarray, blocks: Blocks) -> float:
    """By how much Coulomb's law is missed, written down once more: signs, complementarity, cone, direction."""
    worst, at = 0.0, 0
    for rows, mu in zip(blocks.rows.tolist(), blocks.friction, strict=True):
        l, u = impulse[at : at + rows], velocity[at : at + rows]
        worst = max(worst, -l[0], -u[0], abs(l[0] * u[0]))
        if rows == 3:
            bound, slip = mu[0] * l[0], float(np.linalg.norm(u[1:]))
            worst = max(worst, float(np.linalg.norm(l[1:])) - bound, float(np.linalg.norm(l[1:] * slip + bound * u[1:])))
        at += rows
    return worst


@pytest.mark.parametrize("seed", range(40))
def test_laws_of_coulomb_hold_wherever_the_kernel_says_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W, b, blocks = random_problem(rng, int(rng.integers(1, 9)), int(rng.integers(0, 4)), 4)
    impulse, velocity, facts = run(W, b, blocks)
    assert np.allclose(velocity, W @ impulse + b, rtol=0.0, atol=1e-12 * (1.0 + np.abs(W).max() * np.abs(impulse).max()))
    if facts[CONVERGED]:
        assert laws_missed(impulse, velocity, blocks) < 1e-8 * (1.0 + np.abs(impulse).max()) * (1.0 + np.abs(W).max())
    found = solve_contacts(ContactProblem(W, b, blocks))
    if facts[CONVERGED] and found.converged:  # both satisfy the laws; velocities may differ only where these leave a choice
        assert laws_missed(found.impulse, found.velocity, blocks) < 1e-8 * (1.0 + np.abs(impulse).max()) * (1.0 + np.abs(W).max())


def test_most_problems_of_a_robots_size_are_solved_by_the_kernel_alone() -> None:
    """Newton's method may stall, and is then helped by others; where it mostly did, the kernel would be of no use."""
    solved = 0
    for seed in range(40):
        W, b, blocks = random_problem(np.random.default_rng(seed), 6, 2, 4)
        solved += int(run(W, b, blocks)[2][CONVERGED])
    assert solved >= 30


def test_convex_problems_have_the_solution_of_the_proximal_method() -> None:
    """Under the convex law velocities are unique: those of the proximal method, to the square root of both tolerances."""
    for seed in range(10):
        W, b, blocks = random_problem(np.random.default_rng(seed), 5, 1, 4)
        _, velocity, facts = run(W, b, blocks, CONVEX)
        other = solve_contacts(ContactProblem(W, b, blocks, law="convex"), method="proximal")
        assert facts[CONVERGED] and other.converged
        assert np.abs(velocity - other.velocity).max() < 1e-6


def test_a_warm_start_that_is_a_solution_takes_no_step() -> None:
    W, b, blocks = random_problem(np.random.default_rng(3), 5, 1, 4)
    first = run(W, b, blocks)
    again = run(W, b, blocks, warm=first[0])
    assert first[2][CONVERGED] and again[2][STEPS] == 0 and again[2][RESIDUAL] <= 1e-10
    assert np.abs(again[0] - first[0]).max() <= 1e-12 * np.abs(first[0]).max()


def test_a_face_on_the_ground_shares_its_load_evenly() -> None:
    """Four corners of a box at rest: W has rank 6 of 12 rows; each carries a quarter of what the box loses, h g m / 4."""
    corners = np.array([(x, y, 0.5) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
    J = np.concatenate([np.concatenate([axis, np.cross(r, axis)])[None] for r in corners for axis in np.eye(3)[[2, 0, 1]]])
    W = J @ np.diag([1, 1, 1, 2, 2, 2]) @ J.T
    b = J @ np.array([0, 0, -0.0981, 0, 0, 0])
    impulse, velocity, facts = run(W, b, contacts(np.full(4, 0.5)))
    assert facts[CONVERGED] and np.abs(velocity).max() < 1e-9
    assert np.allclose(impulse.reshape(4, 3), [[0.0981 / 4, 0, 0]] * 4, atol=1e-8)  # ε lets 1e-8 of round-off through


def test_tangents_without_friction_carry_nothing() -> None:
    W, b, _ = random_problem(np.random.default_rng(1), 4, 0, 4)
    impulse, velocity, facts = run(W, b, contacts(np.zeros(4)))
    l, u = impulse.reshape(4, 3), velocity.reshape(4, 3)
    assert facts[CONVERGED] and not l[:, 1:].any()
    assert (l[:, 0] >= 0.0).all() and u[:, 0].min() > -1e-9 and np.abs(l[:, 0] * u[:, 0]).max() < 1e-8


def test_general_systems_are_solved_as_by_lapack() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 30):
        A, x = rng.standard_normal((n, n)), rng.standard_normal(n)
        A[0, 0] = 0.0 if n > 1 else 1.0  # needs an exchange
        y = x.copy()
        assert solve_pivoted(n, A.copy().ravel(), y)
        assert np.abs(A @ y - x).max() < 1e-10
    assert not solve_pivoted(2, np.array([1.0, 2.0, 2.0, 4.0]), np.ones(2))
    assert not solve_pivoted(2, np.array([np.nan, 2.0, 2.0, 4.0]), np.ones(2))
