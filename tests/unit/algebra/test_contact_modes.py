"""Modes at an instant: all solutions of random problems, against plain enumeration of complementary bases and the laws themselves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from unibody.algebra.contact.mode_parts import HOLD, PUSH, REST, SLIDE, ModePart, pivoted
from unibody.algebra.contact.modes import solve_modes


def gram(rng: np.random.Generator, rows: int, freedom: int) -> np.ndarray:
    J = rng.normal(size=(rows, freedom))
    return J @ J.T


def bases(A: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """All z ≥ 0 ⟂ A z + b ≥ 0 of a problem without degeneracy."""
    out = []
    for held in product((False, True), repeat=b.size):
        at = np.flatnonzero(held)
        z = np.zeros(b.size)
        z[at] = np.linalg.solve(A[np.ix_(at, at)], -b[at])
        if (z >= 0.0).all() and (A @ z + b >= -1e-9).all():
            out.append(z)
    return out


@pytest.mark.parametrize("seed", range(6))
def test_sliding_contacts_have_all_solutions_of_their_problem(seed: int) -> None:
    """Four contacts with large friction: none, one or many; the very ones that enumeration finds."""
    rng = np.random.default_rng(seed)
    seen = set()
    for _ in range(8):
        W, b = gram(rng, 8, 8), rng.normal(size=8)
        k = rng.uniform(-3.0, 3.0, size=4)
        parts = [ModePart(SLIDE, np.array([2 * c, 2 * c + 1]), k[c : c + 1]) for c in range(4)]
        P = np.zeros((8, 4))
        P[2 * np.arange(4), np.arange(4)], P[2 * np.arange(4) + 1, np.arange(4)] = 1.0, -k
        expected = bases(W[::2] @ P, b[::2])
        (island,) = solve_modes(W, b, parts)
        assert island.complete and len(island.found) == len(expected)
        seen.add(min(len(expected), 2))
        ours = sorted(tuple(f.x[::2].round(7)) for f in island.found)
        theirs = sorted(tuple(z.round(7)) for z in expected)
        assert np.abs(np.array(ours) - np.array(theirs)).max(initial=0.0) < 1e-6
        one = pivoted(W, b, parts)
        assert one is None or np.abs(np.array(theirs) - one[::2]).max(axis=1).min() < 1e-6
    assert len(seen) > 1


def laws(W: np.ndarray, b: np.ndarray, parts: list[ModePart], x: np.ndarray) -> float:
    """By how much x misses the laws."""
    a, worst = W @ x + b, 0.0
    for p in parts:
        n, t = p.rows[0], p.rows[1:]
        if p.kind == HOLD:
            c = p.numbers[0]
            misses = [abs(x[n]) - c, min(abs(a[n]), abs(x[n] + c * np.sign(a[n])))]
        else:
            misses = [-x[n], -a[n], min(x[n], a[n])]
        if p.kind == SLIDE:
            misses += list(np.abs(x[t] + p.numbers * x[n]))
        if p.kind == REST:
            size, push = float(np.linalg.norm(x[t] / p.numbers)), p.numbers * a[t]
            misses.append(size - x[n])
            if np.linalg.norm(push) > 1e-7:
                misses += list(np.abs(x[t] / p.numbers + x[n] * push / np.linalg.norm(push)))
        worst = max(worst, *misses)
    return worst


@pytest.mark.parametrize("tangents", [1, 2, 3])
def test_every_solution_keeps_the_laws(tangents: int) -> None:
    """Contacts at rest, one that slides, a limit and a dry joint: at rest alone there is always a solution."""
    rng = np.random.default_rng(tangents)
    w = 1 + tangents
    for trial in range(3):
        rows = 2 * w + 4
        W, b = gram(rng, rows, rows), rng.normal(size=rows)
        parts = [ModePart(REST, w * c + np.arange(w), rng.uniform(0.2, 0.8, size=tangents)) for c in range(2)]
        parts += [ModePart(PUSH, np.array([2 * w]), np.zeros(0)), ModePart(HOLD, np.array([2 * w + 1]), np.array([0.3]))]
        if trial % 2:
            parts.append(ModePart(SLIDE, np.array([2 * w + 2, 2 * w + 3]), np.array([rng.uniform(0.1, 0.5)])))
        (island,) = solve_modes(W, b, parts)
        assert island.found and island.complete == (tangents == 1)
        for f in island.found:
            used = np.concatenate([p.rows for p in parts])
            assert laws(W, b, parts, f.x) < 1e-7
            assert np.abs(f.a - (W @ f.x + b))[used].max() < 1e-9


def test_forces_that_are_not_determined_and_parts_apart() -> None:
    """A table on four legs: one motion, more forces than one. A ball beside it is an island of its own."""
    legs = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, -1.0]])
    W = np.zeros((5, 5))
    W[:4, :4], W[4, 4] = legs @ legs.T, 2.0
    first, second = solve_modes(W, np.array([-8.0, -8.0, -8.0, -8.0, -1.0]), [ModePart(PUSH, np.array([r]), np.zeros(0)) for r in range(5)])
    assert first.parts == (0, 1, 2, 3) and second.parts == (4,)
    assert len(first.found) == 1 and not first.found[0].forces_unique and first.found[0].x.sum() == pytest.approx(8.0)
    assert second.found[0].x[4] == pytest.approx(0.5) and second.found[0].forces_unique


def test_many_parts_are_left_to_pivoting() -> None:
    """Forty limits: one solution, by Lemke's method, without the claim that it is the only one."""
    rng = np.random.default_rng(5)
    W, b = gram(rng, 40, 60), rng.normal(size=40)
    (island,) = solve_modes(W, b, [ModePart(PUSH, np.array([r]), np.zeros(0)) for r in range(40)])
    assert not island.complete and len(island.found) == 1
    z, w = island.found[0].x, W @ island.found[0].x + b
    assert np.abs(np.minimum(z, w)).max() < 1e-8
    with pytest.raises(ValueError, match="finite"):
        solve_modes(np.eye(1), np.array([np.nan]), [ModePart(PUSH, np.array([0]), np.zeros(0))])
