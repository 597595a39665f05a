"""Elimination with a border against dense numpy."""

from __future__ import annotations

import numpy as np
import pytest

from unibody.algebra.supernodal.border import BorderedPlan, recover_border, reduce_border


def lattice(rng: np.random.Generator, cells: int, strings: int, border: int):
    """A chain of lattices of free nodes (3 unknowns), some nodes tied to nodes of a border (6 unknowns): dense matrix and entries."""
    places = np.array([(x, y, z) for s in range(strings) for x in range(cells) for y in range(3) for z in range(2)], float)
    places[:, 0] += np.repeat(np.arange(strings) * (cells + 5.0), cells * 6)
    k = len(places)
    near = np.linalg.norm(places[:, None] - places[None], axis=2) < 1.5
    pairs = [(i, j) for i in range(k) for j in range(i + 1) if near[i, j]]
    ties = sorted({(int(rng.integers(k)), int(b)) for b in np.repeat(np.arange(border), 3)})
    n, m = 3 * k, 6 * border
    A, rows, columns = np.zeros((n + m, n + m)), [], []
    node = np.concatenate([np.repeat(np.arange(k), 3), np.repeat(k + np.arange(border), 6)])
    for i, j in pairs:
        block = rng.normal(size=(3, 3))
        for r in range(3):
            for c in range(3):
                if i != j or r >= c:
                    value = 60.0 * (r == c) + block[r, c] if i == j else block[r, c]
                    A[3 * i + r, 3 * j + c] = A[3 * j + c, 3 * i + r] = value
                    rows.append(3 * i + r), columns.append(3 * j + c)
    for i, b in ties:
        for r in range(3):
            for c in range(6):
                A[3 * i + r, n + 6 * b + c] = A[n + 6 * b + c, 3 * i + r] = rng.normal()
                rows.append(3 * i + r), columns.append(n + 6 * b + c)
    return A, n, m, np.array(rows), np.array(columns), node, places


@pytest.mark.parametrize("dissected", [True, False])
@pytest.mark.parametrize("strings, border", [(1, 4), (3, 7), (1, 0)])
def test_the_update_is_the_schur_complement_and_the_halves_solve(dissected: bool, strings: int, border: int) -> None:
    A, n, m, rows, columns, node, places = lattice(np.random.default_rng(3), 7, strings, border)
    plan = BorderedPlan.of(n, m, rows, columns, node, places if dissected else None)
    work = plan.pivots.workspace()
    factor = plan.pivots.factor(A[rows, columns], work)
    assert factor.bad < 0
    S = np.zeros((m, m))
    np.add.at(S, (plan.rows, plan.columns), work.stack[plan.at])
    S = S + np.tril(S, -1).T
    B = A[n:, :n]
    assert np.allclose(S, -B @ np.linalg.solve(A[:n, :n], B.T), atol=1e-11)
    # a solution with z given: x = A⁻¹ (b − Bᵀ z), and the reduced right side c − B A⁻¹ b
    rng = np.random.default_rng(4)
    b, z = rng.normal(size=n + m), rng.normal(size=m)
    s = plan.pivots.nodes
    given = s.column_first, s.lower_first, s.lower, s.factor_at, plan.pivots.order, work.L
    y, x, scratch = np.empty(n + m), np.empty(n + m), np.empty(plan.pivots.tallest)
    reduce_border(*given, b, scratch, y)
    assert np.allclose(y[n:], b[n:] - B @ np.linalg.solve(A[:n, :n], b[:n]), atol=1e-11)
    y[n:] = z
    recover_border(*given, scratch, y, x)
    assert np.allclose(x[:n], np.linalg.solve(A[:n, :n], b[:n] - B.T @ z), atol=1e-11)
    assert np.array_equal(x[n:], z)


def test_what_no_tree_of_pivots_meets_twice_is_not_coupled() -> None:
    """Three separate lattices, each tied to its own node of the border: the update has no entry between them."""
    rows, columns = [], []
    for k in range(3):
        rows += [3 * k + r for r in range(3) for _ in range(r + 1)] + [3 * k + r for r in range(3) for _ in range(6)]
        columns += [3 * k + c for r in range(3) for c in range(r + 1)] + [9 + 6 * k + c for _ in range(3) for c in range(6)]
    node = np.concatenate([np.repeat(np.arange(3), 3), np.repeat(3 + np.arange(3), 6)])
    plan = BorderedPlan.of(9, 18, np.array(rows), np.array(columns), node)
    assert (plan.rows // 6 == plan.columns // 6).all()
    assert len(plan.rows) == 3 * 21
