"""Supernodal factors against SciPy's and NumPy's, on matrices of many structures; what is not definite is refused by its row."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from matrices import Blocks, chain, grid, scattered, sprung

from unibody.algebra.supernodal.entries import csc_entries
from unibody.algebra.supernodal.plan import SupernodalPlan

CASES = {
    "single": chain(1, 1), "one body": chain(1, 12), "two": chain(2, 3), "chain of bodies": chain(40, 12), "long chain": chain(300, 3),
    "grid": grid((14, 11), 3), "strip": grid((60, 3), 3), "box": grid((6, 5, 4), 3), "scalars": grid((30, 30), 1),
    "bodies": grid((5, 5), 12), "apart": scattered(60, 25, 0),
    "mixed": scattered(50, 120, 1), "dense": scattered(20, 300, 2), "many": scattered(200, 500, 3),
}  # fmt: skip


def backward_error(A: sp.csc_matrix, x: np.ndarray, b: np.ndarray) -> float:
    """‖A x − b‖ / (‖A‖ ‖x‖ + ‖b‖), which a stable factorisation keeps near the unit round-off whatever the condition number."""
    return float(np.abs(A @ x - b).max() / (spl.norm(A, np.inf) * np.abs(x).max() + np.abs(b).max()))


def least_flops(A: sp.csc_matrix, order: np.ndarray) -> float:
    """Σ over columns of (numbers below the diagonal)² of L, with the elimination carried out on sets."""
    place = np.empty(len(order), int)
    place[order] = np.arange(len(order))
    C = A.tocoo()
    below = [set() for _ in order]
    for i, j in zip(place[C.row], place[C.col], strict=True):
        if i > j:
            below[j].add(i)
    total = 0.0
    for rows in below:
        if rows:
            below[min(rows)] |= rows - {min(rows)}
        total += len(rows) ** 2
    return total


@pytest.mark.parametrize("dissected", (False, True))
@pytest.mark.parametrize("name", CASES)
def test_solution_is_that_of_scipy(name: str, dissected: bool) -> None:
    case = CASES[name]
    if dissected and case.positions is None:
        case = Blocks(case.widths, case.rows, case.columns, case.values, np.random.default_rng(5).random((len(case.widths), 3)))
    A, (_, _, values, _) = case.matrix, case.entries
    b = np.random.default_rng(1).standard_normal(A.shape[0])
    factor = case.plan(dissected).factor(values)
    assert factor.bad == -1
    x, exact = factor.solve(b), spl.splu(A).solve(b)
    assert backward_error(A, x, b) < 1e-15 * A.shape[0]
    np.testing.assert_allclose(x, exact, atol=1e-10 * np.abs(exact).max())  # the matrices have conditions up to 1e5


@pytest.mark.parametrize("name", CASES)
def test_factor_is_the_dense_one_in_the_order_of_the_plan(name: str) -> None:
    case = CASES[name]
    (_, _, values, _), plan = case.entries, case.plan()
    factor, n = plan.factor(values), len(plan.order)
    assert sorted(plan.order.tolist()) == list(range(n))
    dense = np.linalg.cholesky(case.matrix.toarray()[np.ix_(plan.order, plan.order)])
    s, seen = plan.nodes, np.zeros((n, n), bool)
    for k in range(len(s.child)):
        own = np.arange(s.column_first[k], s.column_first[k + 1])
        rows = np.concatenate([own, s.lower[s.lower_first[k] : s.lower_first[k + 1]]])
        L = factor.L[s.factor_at[k] :][: len(rows) * len(own)].reshape(len(own), len(rows)).T
        np.testing.assert_allclose(np.tril(L), np.tril(dense[np.ix_(rows, own)]), atol=1e-12 * np.abs(dense).max() * n)
        seen[np.ix_(rows, own)] = True
    assert not dense[~seen & np.tri(n, dtype=bool)].any()  # L has nothing outside the plan


@pytest.mark.parametrize("name", CASES)
def test_flops_are_counted(name: str) -> None:
    """Σ (numbers below the diagonal)² of the columns of L, and the zeros that merged supernodes add."""
    case = CASES[name]
    plan = case.plan()
    exact = least_flops(case.matrix, plan.order)
    n = len(plan.order)
    assert exact <= plan.flops + n * n  # the count of fronts leaves out what is linear and quadratic
    assert plan.flops < 2.0 * exact + 50.0 * n * n


def test_orders_reduce_fill() -> None:
    """On a 40 × 40 grid both orders must beat the natural, banded one, whose flops are n · band²."""
    case = grid((40, 40), 1)
    natural = least_flops(case.matrix, np.arange(1600))
    assert least_flops(case.matrix, case.plan().order) < 0.5 * natural
    assert least_flops(case.matrix, case.plan(dissected=True).order) < 0.5 * natural


def test_a_tree_of_scalars_has_no_fill() -> None:
    rng = np.random.default_rng(0)
    pairs = np.array([(rng.integers(0, k), k) for k in range(1, 400)])
    case = sprung(np.ones(400, int), pairs, np.ones(399), np.ones(400))
    A = case.matrix
    assert least_flops(A, case.plan().order) == 399.0  # one number below each diagonal but the root's


@pytest.mark.parametrize("many", (1, 3, 4, 5, 17))
def test_many_right_sides(many: int) -> None:
    case = CASES["mixed"]
    (_, _, values, _), A = case.entries, case.matrix
    B = np.random.default_rng(2).standard_normal((A.shape[0], many))
    X = case.plan().factor(values).solve(B)
    assert X.shape == B.shape
    exact = spl.splu(A).solve(B)
    np.testing.assert_allclose(X, exact, atol=1e-10 * np.abs(exact).max())


def test_empty() -> None:
    none = np.zeros(0, np.int64)
    plan = SupernodalPlan.of(0, none, none)
    factor = plan.factor(np.zeros(0))
    assert factor.bad == -1 and plan.flops == 0.0
    assert factor.solve(np.zeros(0)).shape == (0,)
    assert factor.solve(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("form", ("lower", "upper", "full"))
def test_csc_matrices_of_either_triangle(form: str) -> None:
    A = CASES["mixed"].matrix
    given = {"lower": sp.tril(A), "upper": sp.triu(A), "full": A}[form].tocsc()
    rows, columns, take = csc_entries(given)
    b = np.ones(A.shape[0])
    x = SupernodalPlan.of(A.shape[0], rows, columns).factor(given.data[take]).solve(b)
    assert backward_error(A, x, b) < 1e-13


def test_repeated_entries_add_up() -> None:
    plan = SupernodalPlan.of(2, np.array([0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 1]))
    x = plan.factor(np.array([4.0, 0.5, 2.0, 0.5, 1.0])).solve(np.array([5.0, 4.0]))  # [[4, 1], [1, 3]] x = (5, 4)
    np.testing.assert_allclose(x, [1.0, 1.0], rtol=1e-15)


@pytest.mark.parametrize("row", (0, 17, 100, 461))
def test_a_row_that_is_not_positive_is_named(row: int) -> None:
    case = CASES["grid"]
    rows, columns, values, node = case.entries
    # with everything else of it zero, no order can find another row first
    values = np.where((rows == row) ^ (columns == row), 0.0, values)
    values[(rows == row) & (columns == row)] = -1.0
    assert SupernodalPlan.of(462, rows, columns, node).factor(values).bad == row


@pytest.mark.parametrize("value", (np.nan, -np.inf))
def test_numbers_that_are_none_are_refused(value: float) -> None:
    case = CASES["grid"]
    _, _, values, _ = case.entries
    values = values.copy()
    values[0] = value
    assert case.plan().factor(values).bad >= 0


def test_definite_or_not_is_found_as_the_eigenvalues_say() -> None:
    """A − s 1 is positive definite exactly for s below the least eigenvalue."""
    case = CASES["box"]
    rows, columns, values, _ = case.entries
    plan, least = case.plan(), np.linalg.eigvalsh(case.matrix.toarray())[0]
    for part, definite in ((0.999, True), (1.001, False)):
        bad = plan.factor(values - part * least * (rows == columns)).bad
        assert (bad == -1) == definite


def test_nearly_singular_and_stiff() -> None:
    """Stiffness 1e8 : 1, and a ground that hardly holds: the residual stays at round-off though the condition number is 1e13."""
    n = 12
    number = np.arange(n * n).reshape(n, n)
    pairs = np.concatenate(
        [np.stack([number[:-1].ravel(), number[1:].ravel()], 1), np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1)]
    )
    k = np.where(np.arange(len(pairs)) % 3 == 0, 1e8, 1.0)
    case = sprung(np.full(n * n, 3), pairs, k, np.r_[1.0, np.full(n * n - 1, 1e-5)])
    (_, _, values, _), A = case.entries, case.matrix
    factor = case.plan().factor(values)
    b = np.random.default_rng(0).standard_normal(A.shape[0])
    assert factor.bad == -1
    assert backward_error(A, factor.solve(b), b) < 1e-14


def test_pinned_rows_decouple() -> None:
    """Rows of a unit matrix among others give back their right side, bit for bit."""
    case = CASES["grid"]
    rows, columns, values, node = case.entries
    pinned = (node == 5)[rows] | (node == 5)[columns]
    values = np.where(pinned, (rows == columns).astype(float), values)
    b = np.random.default_rng(3).standard_normal(462)
    x = case.plan().factor(values).solve(b)
    assert np.array_equal(x[node == 5], b[node == 5])


def test_a_plan_used_again_gives_the_same_bits() -> None:
    case = CASES["many"]
    _, _, values, _ = case.entries
    b = np.random.default_rng(4).standard_normal(int(case.widths.sum()))
    plan, other = case.plan(), case.plan()
    room = plan.workspace()
    fresh = other.factor(values)
    plan.factor(3.0 * values, room)
    again = plan.factor(values, room)
    assert np.array_equal(plan.order, other.order)
    assert np.array_equal(again.solve(b), fresh.solve(b))
    # a failed factorisation leaves nothing behind
    plan.factor(-values, room)
    assert np.array_equal(plan.factor(values, room).solve(b), fresh.solve(b))


def test_nodes_are_found_where_they_are_not_given() -> None:
    case = CASES["grid"]
    rows, columns, _, _ = case.entries
    given, found = case.plan(), SupernodalPlan.of(462, rows, columns)
    assert found.flops == given.flops
    assert np.array_equal(found.order, given.order)
