"""Newton's method on problems with known minima: quadratics, Rosenbrock's valley, a barrier's feasible set; why it ends when it fails."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from unibody.algebra.minimise import Direction, minimise


class Smooth:
    """A function with gradient and positive matrix; remembers the values of accepted and tried points."""

    def __init__(self, f, g, H):
        self.f, self.g, self.H, self.tried, self.asked = f, g, H, [], []

    def value(self, x):
        self.tried.append(self.f(x))
        return self.tried[-1]

    def direction(self, x, careful):
        self.asked.append(careful)
        p = np.linalg.solve(self.H(x), -self.g(x))
        return Direction(p, float(self.g(x) @ p), float(np.abs(p).max()), careful=careful)

    def reach(self, x, p):
        return 1.0


def quadratic(seed=0, n=8):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A, b = A @ A.T + np.eye(n), rng.standard_normal(n)
    return Smooth(lambda x: 0.5 * x @ A @ x - b @ x, lambda x: A @ x - b, lambda x: A), np.linalg.solve(A, b)


def test_a_quadratic_takes_one_step():
    problem, solution = quadratic()
    found = minimise(problem, np.zeros(8), 1e-9, 20)
    assert found.converged and found.iterations == 1 and found.steps == [1.0]
    assert found.x == pytest.approx(solution, abs=1e-12) and found.why == ""


def rosenbrock():
    def H(x):
        """Gauss–Newton of r = (1 − x, 10 (y − x²))."""
        J = np.array([[-1.0, 0.0], [-20.0 * x[0], 10.0]])
        return 2.0 * J.T @ J

    def g(x):
        return np.array([-2 * (1 - x[0]) - 400 * x[0] * (x[1] - x[0] ** 2), 200 * (x[1] - x[0] ** 2)])

    return Smooth(lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2, g, H)


def test_rosenbrock_goes_down_all_the_way():
    problem = rosenbrock()
    values, x = [], np.array([-1.2, 1.0])
    for _ in range(60):
        found = minimise(problem, x, 1e-10, 1)
        values.append(found.value)
        x = found.x
    assert x == pytest.approx([1.0, 1.0], abs=1e-8)
    assert all(b <= a for a, b in pairwise(values))
    whole = minimise(rosenbrock(), np.array([-1.2, 1.0]), 1e-10, 100)
    assert whole.converged and min(whole.steps) < 1.0


def test_a_barrier_keeps_the_search_feasible():
    """min x − μ ln x has its minimum at μ; steps to the other side of 0 are cut to nine tenths of the way."""

    class Barred(Smooth):
        def reach(self, x, p):
            return 1.0 if p[0] >= 0.0 else min(1.0, 0.9 * x[0] / -p[0])

    mu = 1e-3
    problem = Barred(
        lambda x: x[0] - mu * np.log(x[0]) if x[0] > 0.0 else np.inf,
        lambda x: np.array([1.0 - mu / x[0]]),
        lambda x: np.array([[mu / x[0] ** 2]]),
    )
    found = minimise(problem, np.array([0.5]), 1e-12, 100)
    assert found.converged and found.x[0] == pytest.approx(mu, rel=1e-9)
    assert np.isfinite(problem.tried).all() and found.steps[0] < 1.0


def test_after_a_halved_step_a_careful_direction_is_asked_for():
    problem = Smooth(
        lambda x: np.sqrt(1.0 + x[0] ** 2), lambda x: x / np.sqrt(1.0 + x**2), lambda x: np.array([[(1.0 + x[0] ** 2) ** -1.5]])
    )
    found = minimise(problem, np.array([2.0]), 1e-10, 50)
    assert found.converged and abs(found.x[0]) < 1e-10
    assert problem.asked[0] is False and problem.asked[1] is True and found.steps[0] < 1.0
    assert not any(a and b for a, b in pairwise(problem.asked))


def test_reasons_of_failure():
    problem, _ = quadratic()
    up = Smooth(problem.f, lambda x: -problem.g(x), problem.H)
    found = minimise(up, np.zeros(8), 1e-9, 20)
    assert not found.converged and "no descent" in found.why and found.x == pytest.approx(np.zeros(8))
    nothing = Smooth(lambda x: np.inf, problem.g, problem.H)
    assert "not feasible" in minimise(nothing, np.zeros(8), 1e-9, 20).why
    broken = Smooth(problem.f, lambda x: np.full(8, np.nan), problem.H)
    assert "not finite" in minimise(broken, np.zeros(8), 1e-9, 20).why
    assert "not converged in 3" in minimise(rosenbrock(), np.array([-1.2, 1.0]), 1e-10, 3).why


def test_what_must_still_move_forbids_the_end():
    problem, _ = quadratic()
    asked = []

    def finish(x):
        asked.append(x)
        return len(asked) > 2

    found = minimise(problem, np.zeros(8), 1e-6, 20, finish)
    assert found.converged and found.iterations == 3


def test_it_ends_where_round_off_hides_what_is_left():
    """A parabola on a pedestal of 1e10, whose directions are never shorter than 1e-3 for the noise of its gradient."""
    A, b = np.diag([1.0, 2.0]), np.array([1.0, -1.0])
    noise = np.random.default_rng(1)

    class Noisy(Smooth):
        def direction(self, x, careful):
            d = super().direction(x, careful)
            p = d.p + 1e-3 * noise.standard_normal(2)
            return Direction(p, float(self.g(x) @ p), float(np.abs(p).max()))

    problem = Noisy(lambda x: 1e10 + 0.5 * x @ A @ x - b @ x, lambda x: A @ x - b, lambda x: A)
    found = minimise(problem, np.zeros(2), 1e-6, 100)
    assert found.converged and "round-off" in found.why and found.iterations < 15
    assert found.x == pytest.approx([1.0, -0.5], abs=1e-2)


class Disc:
    """½ |x − a|² − μ ln d inside a disc of radius 1, d = 1 − |x|, along straight ways that leave a tenth of d; with `leaves`, a direction
    that is cut short gets a secant of the barrier instead."""

    a, mu = np.array([0.6, 0.6]), 1e-4

    def __init__(self, leaves):
        self.leaves = leaves

    def value(self, x):
        d = 1.0 - np.linalg.norm(x)
        return 0.5 * float((x - self.a) @ (x - self.a)) - self.mu * np.log(d) if d > 0.0 else np.inf

    def direction(self, x, careful, share=1.0):
        r = np.linalg.norm(x)
        n, d = x / r, 1.0 - r
        g = x - self.a + self.mu / d * n
        p = np.linalg.solve(np.eye(2) + share * self.mu / d**2 * np.outer(n, n), -g)
        growth = -float(n @ p) / d
        other = (lambda: self.direction(x, careful, max(1.0 - growth, d))) if self.leaves and share == 1.0 and growth > 0.5 else None
        return Direction(p, float(g @ p), float(np.abs(p).max()), change=abs(growth), outward=other)

    def reach(self, x, p):
        keep = 1.0 - 0.1 * (1.0 - np.linalg.norm(x))  # |x + t p|² = keep²
        a, b, c = float(p @ p), 2.0 * float(x @ p), float(x @ x) - keep**2
        return min(1.0, (-b + np.sqrt(b * b - 4.0 * a * c)) / (2.0 * a))


def test_what_lies_beside_a_curved_wall_leaves_it_to_go_along():
    """From 10⁻⁹ off the wall, 2.6 rad along it: a straight way ends after √(2 d) = 4·10⁻⁵, unless it leads away from the wall first."""
    start = (1.0 - 1e-9) * np.array([np.cos(-1.8), np.sin(-1.8)])
    found = minimise(Disc(leaves=True), start, 1e-10, 40)
    assert found.converged
    # By symmetry the minimum lies towards a, at |x| = s with s − |a| + μ/(1 − s) = 0.
    size = np.linalg.norm(Disc.a)
    s = 0.5 * (1.0 + size - np.sqrt((1.0 - size) ** 2 + 4.0 * Disc.mu))
    assert found.x == pytest.approx(s * Disc.a / size, abs=1e-8)
    assert not minimise(Disc(leaves=False), start, 1e-10, 40).converged
