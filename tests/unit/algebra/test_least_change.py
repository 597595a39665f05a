"""The nearest point on rows: closed forms of circles and planes, repeated rows, bounds, contradictions."""

from __future__ import annotations

import numpy as np
import pytest

from unibody.algebra.least_change import Contradiction, LeastChangeProblem, close, hold, least_linear, slide


def problem(look, bounded, n: int) -> LeastChangeProblem:
    return LeastChangeProblem(look, np.array(bounded, bool), np.ones(len(bounded)), np.eye(n))


def circle(centre, radius: float = 1.0, repeat: int = 1):
    """|y − centre|² = radius², written as often as asked."""
    centre = np.array(centre, float)

    def look(y):
        d = y - centre
        return np.full(repeat, 0.5 * (d @ d - radius**2)), np.tile(d, (repeat, 1))

    return look


@pytest.mark.parametrize("repeat", [1, 3])
@pytest.mark.parametrize("start", [(3.0, 1.0), (0.3, -2.0), (1.2, 0.1)])
def test_the_nearest_point_of_a_circle_lies_on_the_line_to_its_centre(start, repeat: int) -> None:
    """Circle of radius 1 about (2, 1): from the origin (2, 1) (1 − 1/√5), whatever point of it closing found first."""
    p = problem(circle((2.0, 1.0), repeat=repeat), [False] * repeat, 2)
    found = close(p, np.array(start))
    assert found.good
    nearest = slide(p, found.y)
    np.testing.assert_allclose(nearest.y, np.array([2.0, 1.0]) * (1.0 - 1.0 / np.sqrt(5.0)), atol=1e-9)
    assert nearest.stationary < 1e-8 and nearest.curvature == pytest.approx(np.sqrt(5.0), rel=1e-5)  # 1 + |y|/radius: convex from outside


def test_a_circle_about_the_origin_has_no_nearest_point() -> None:
    p = problem(circle((0.0, 0.0)), [False], 2)
    assert abs(slide(p, close(p, np.array([0.4, 0.3])).y).curvature) < 1e-6


def test_the_far_side_of_a_circle_is_a_saddle_that_is_left() -> None:
    """From (2, 0) + (1, 0), stationary and the farthest: sliding ends at the nearest point, (1, 0)."""
    p = problem(circle((2.0, 0.0)), [False], 2)
    nearest = slide(p, np.array([3.0, 0.0]))
    assert nearest.saddle
    np.testing.assert_allclose(nearest.y, (1.0, 0.0), atol=1e-8)


def test_bounds_hold_only_where_they_push() -> None:
    """y₁ + y₂ = 1 and y₁ ≥ 0.7: without the bound (½, ½), with it (0.7, 0.3); a bound y₁ ≥ 0.2 does nothing."""
    for least, expected in ((0.7, (0.7, 0.3)), (0.2, (0.5, 0.5))):
        rows = np.array([[1.0, 1.0], [1.0, 0.0]])
        p = problem(lambda y, least=least, rows=rows: (rows @ y - [1.0, least], rows), [False, True], 2)
        nearest = slide(p, close(p, np.zeros(2)).y)
        np.testing.assert_allclose(nearest.y, expected, atol=1e-10)
        held = hold(p, nearest.y, *p.evaluate(nearest.y))
        assert held.pushing.tolist() == [True, least == 0.7] and (held.multiplier[1] >= 0.0)


def test_circles_that_do_not_meet_leave_half_of_their_distance_each() -> None:
    """Radii 1 about 0 and (4, 0): stuck at (2, 0) by symmetry, where each row has ½ (2² − 1)."""
    def look(y):
        one, other = circle((0.0, 0.0))(y), circle((4.0, 0.0))(y)
        return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])

    found = close(problem(look, [False, False], 2), np.array([1.1, 0.4]))
    assert found.stuck and not found.good and found.left == pytest.approx(1.5, rel=1e-3)


def test_linear_rows_have_their_nearest_point_in_closed_form() -> None:
    """y₁ + y₂ = 2 in space: (1, 1, 0); with y₃ ≥ 1 and y₁ ≥ −5 too: (1, 1, 1). Rows that contradict each other are told."""
    B, b = np.array([[1.0, 1.0, 0.0]]), np.array([-2.0])
    none = np.zeros((0, 3)), np.zeros(0)
    np.testing.assert_allclose(least_linear(B, b, *none, np.full(1, 1e-9)), (1, 1, 0), atol=1e-12)
    np.testing.assert_allclose(least_linear(np.vstack([B, 2 * B]), np.array([-2.0, -4.0]), *none, np.full(2, 1e-9)), (1, 1, 0), atol=1e-12)
    G, g = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), np.array([-1.0, 5.0])
    np.testing.assert_allclose(least_linear(B, b, G, g, np.full(3, 1e-9)), (1, 1, 1), atol=1e-9)
    with pytest.raises(Contradiction):
        least_linear(np.vstack([B, B]), np.array([-2.0, -3.0]), *none, np.full(2, 1e-9))
    with pytest.raises(Contradiction):
        least_linear(B, b, np.array([[-1.0, -1.0, 0.0]]), np.array([1.0]), np.full(2, 1e-9))


def test_the_least_solution_of_sparse_rows_is_the_pseudoinverse_also_where_rows_repeat_others() -> None:
    import scipy.sparse as sp

    from unibody.algebra.least_change import least_sparse

    rng = np.random.default_rng(4)
    B = rng.normal(size=(5, 9)) * 10.0 ** rng.uniform(-3, 3, (5, 1))
    B = np.concatenate([B, 3.0 * B[:2]])
    b, size = B @ rng.normal(size=9), np.linalg.norm(B, axis=1)
    # scaled, so that the small rows count; 1e-12 on the diagonal, refined once, is felt as its square
    wanted = np.linalg.pinv(B / size[:, None], rcond=1e-9) @ (b / size)
    np.testing.assert_allclose(least_sparse(sp.csr_matrix(B), b), wanted, atol=1e-10 * np.abs(wanted).max())
    # a row of zeros, and one of round-off that asks for something
    B, b = np.concatenate([B, np.zeros((1, 9)), 1e-14 * rng.normal(size=(1, 9))]), np.append(b, (0.0, 1e-14))
    np.testing.assert_allclose(least_sparse(sp.csr_matrix(B), b), wanted, atol=1e-10 * np.abs(wanted).max())
