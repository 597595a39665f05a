"""Pieces of a step with impulses: what memory recalls, cones, which rows act, who is in a hurry, and the problem of what overlaps."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import nnls

from unibody.algebra.contact.delassus import DelassusFactors
from unibody.algebra.contact.depenetration import DEPENETRATION_SLOTS, ROW_RECORD, depenetrate_rows
from unibody.algebra.contact.problem import bounded, contacts, join, unilateral
from unibody.collision.rigid.contacts import FEATURE_BITS, arrange_touches
from unibody.element import LEDGER
from unibody.memory import Field, MemorySchema
from unibody.stepping.contact_margin import fastest_beyond
from unibody.stepping.depenetration import CORRECTED, FASTEST, OVERLAP, impulses_apart, wish_apart
from unibody.stepping.impulses import WARM, ImpulseOptions, inside, nothing_acts, solve
from unibody.stepping.memory import CONTACT, METHODS, WIDTH, SteppingMemory, write_step, write_touches
from unibody.stepping.step_arrays import MOVED, PUSHED, SOFT, STEERED, add_works, fill_targets, lay_problem, order_upwards


def ids_of(pairs: list[tuple[int, int]]) -> np.ndarray:
    return np.array([(pair << FEATURE_BITS) + feature for pair, feature in pairs], np.int64)


def test_impulses_are_recalled_by_name_whatever_their_order_within_a_pair() -> None:
    layout = SteppingMemory(nq=0, nv=0, rows=0, contacts=6)
    memory = np.zeros(layout.schema.size)
    was = ids_of([(3, 7), (3, 1), (2**31 - 1, 5), (2**31 - 1, 2**31 - 1)])
    kept = layout.view(memory)
    rng = np.random.default_rng(0)
    impulse, after = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    gaps = np.array([0.1, -0.2, 0.3, 0.4])
    least = write_touches(0.5, 3, was, gaps, impulse.ravel(), -after.ravel(), after.ravel(), np.zeros(0), layout.table(memory))
    assert least == -0.2
    np.testing.assert_allclose(kept.contacts.gap[:4], gaps + 0.5 * after[:, 0])
    np.testing.assert_allclose(kept.contacts.slip[:4], np.linalg.norm(after[:, 1:], axis=1))
    np.testing.assert_allclose(kept.contacts.approach[:4], np.maximum(after[:, 0], 0.0))
    kept.contact_count, kept.step_length = 4, 0.5
    now = ids_of([(1, 7), (3, 1), (3, 2), (3, 7), (9, 1), (2**31 - 1, 2**31 - 1), (2**31 - 1, 5)])
    found = layout.warm(memory, 1.0)(now, 3)
    wanted = np.zeros((7, 3))
    wanted[[1, 3, 5, 6]] = 2.0 * impulse[[1, 0, 3, 2]]
    np.testing.assert_allclose(found, wanted)


def test_impulses_of_limits_are_recalled_for_the_length_of_the_step() -> None:
    layout = SteppingMemory(nq=2, nv=1, rows=3, contacts=1)
    memory = np.zeros(layout.schema.size)
    layout.view(memory).constraint_impulse = (1.0, -2.0, 3.0)
    assert not layout.warm(memory, 1.0).constraints.any()  # before the first step
    layout.view(memory).step_length = 0.5
    np.testing.assert_allclose(layout.warm(memory, 1.0).constraints, (2.0, -4.0, 6.0))


def test_memory_keeps_as_many_contacts_as_it_has_room_for() -> None:
    table = np.zeros(2 * WIDTH)
    ids, ones = ids_of([(1, k) for k in range(4)]), np.ones(12)
    assert write_touches(0.1, 3, ids, np.array([4.0, 3.0, 2.0, 1.0]), ones, ones, ones, np.arange(4.0), table) == 1.0
    kept = CONTACT.view(table.reshape(2, WIDTH))
    assert kept.impulse[:, 0].tolist() == [1.0, 1.0] and kept.approach.tolist() == [0.0, 1.0]


def test_impulses_come_to_lie_within_their_cones() -> None:
    blocks = join(unilateral(1), contacts([0.5, 0.5]), contacts(np.array([[0.5, 0.0]])), contacts(np.array([[1.0, 1.0, 0.1]])))
    given = np.array([-1.0, 2.0, 0.6, 0.8, -1.0, 0.3, 0.0, 1.0, 0.4, 0.4, 1.0, 0.6, 0.8, 0.1])
    found = inside(given, blocks)
    assert found[:4].tolist() == given[:4].tolist()  # single rows, and what lies on the cone, stay
    assert found[4:7].tolist() == [0.0, 0.0, 0.0] and found[7:10].tolist() == [1.0, 0.4, 0.0]
    assert found[10] == 1.0 and np.linalg.norm(found[11:] / [1.0, 1.0, 0.1]) == pytest.approx(1.0)
    np.testing.assert_allclose(found[11:] * np.sqrt(2.0), given[11:])


@pytest.mark.parametrize("method", ["auto", "pgs", "augmented"])
def test_a_solution_to_begin_with_is_named_as_such(method: str) -> None:
    """A body on four points: found at first by some method; from there on there is nothing to do, and no method is said to have done it."""
    first, rows, islands = np.array([0, 6], np.int64), np.full(4, 3, np.int64), np.tile(np.array([0, -1], np.int64), (4, 1))
    J = np.zeros((12, 6))
    for k, (x, y) in enumerate(((1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0))):
        J[3 * k : 3 * k + 3, 3:] = np.eye(3)[[2, 0, 1]]
        J[3 * k : 3 * k + 3, :3] = np.cross((x, y, -1.0), np.eye(3)[[2, 0, 1]])
    W = DelassusFactors.from_whole(first, rows, islands, J, J / 2.0, np.arange(6))
    b, blocks = J @ np.array([0.0, 0.0, 0.0, 0.1, 0.0, -1.0]), contacts(np.full(4, 0.5))
    options = ImpulseOptions(method, "coulomb", 0, 1e-10, 0)
    cold = solve(W, b, blocks, options, np.zeros(12))
    again = solve(W, b, blocks, options, cold.impulse)
    assert cold.converged and cold.method != WARM and cold.method in METHODS and WARM in METHODS
    assert cold.impulse[::3].sum() == pytest.approx(2.0) and cold.velocity == pytest.approx(0.0, abs=1e-9)  # 2 kg come to rest
    assert (again.method, again.iterations) == (WARM, 0) and again.converged
    np.testing.assert_allclose(again.impulse, cold.impulse, atol=1e-15)


def test_nothing_acts_where_no_row_is_passed_nor_pulled() -> None:
    blocks = join(unilateral(1), contacts([0.5]))
    b = np.array([0.0, 1.0, -5.0, 5.0])
    assert nothing_acts(blocks.rows, blocks.lower, b)
    for wrong in (-1e-12, np.nan):
        assert not nothing_acts(blocks.rows, blocks.lower, np.array([0.0, wrong, 0.0, 0.0]))
    rubbing = bounded(np.array([-1.0]), np.array([1.0]))
    assert not nothing_acts(rubbing.rows, rubbing.lower, np.array([1.0]))


def pushing_rows(seed: int) -> tuple[DelassusFactors, np.ndarray, np.ndarray]:
    """Three single rows, one that rubs and four contacts on islands of all kinds of sizes, fewer rows than velocities; J and M⁻¹ whole."""
    rng = np.random.default_rng(seed)
    sizes = rng.permutation([6, 2, 6, 15, 1, 8])
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.array([1, 1, 1, 1, 3, 4, 2, 3], np.int64)
    islands = np.array([(g, -1) if rng.random() < 0.3 else (g, (g + rng.integers(1, 6)) % 6) for g in rng.integers(0, 6, 8)], np.int64)
    islands[5] = islands[5, ::-1]
    inverse, J = np.zeros((first[-1], first[-1])), np.zeros((rows.sum(), first[-1]))
    for a, b in pairwise(first):
        G = rng.standard_normal((b - a, b - a + 1))
        inverse[a:b, a:b] = G @ G.T
    for k, at in enumerate(np.cumsum(rows) - rows):
        for g in islands[k][islands[k] >= 0]:
            J[at : at + rows[k], first[g] : first[g + 1]] = rng.standard_normal((rows[k], sizes[g]))
    return DelassusFactors.from_whole(first, rows, islands, J, J @ inverse, np.arange(first[-1])), J, inverse


@pytest.mark.parametrize("seed", range(6))
def test_impulses_that_part_are_those_of_least_squares(seed: int) -> None:
    """0 ≤ λ ⟂ W λ + b ≥ 0 is the least ‖Aλ − c‖ with W = AᵀA and b = −Aᵀc, which SciPy finds by active sets. A row that rubs is left out,
    and the order of sweeps does not matter."""
    W, J, inverse = pushing_rows(seed)
    rng = np.random.default_rng(100 + seed)
    normals = [0, 1, 2, 4, 7, 11, 13]
    A = np.linalg.cholesky(inverse).T @ J[normals].T
    c = rng.standard_normal(len(A)) - 0.3
    expected, _ = nnls(A, c)
    b, impulse, order = -A.T @ c, np.empty(7), rng.permutation(8)
    ints = np.zeros(ROW_RECORD * 7 + W.first.size + 2 * DEPENETRATION_SLOTS, np.int64)
    need = -depenetrate_rows(
        3, 4, 10_000, 1e-12, order, W.first, W.unit, W.flat_islands, W.start, W.place, W.J, W.Y, b, ints, np.zeros(1), impulse
    )
    work = np.full(need, np.nan)
    done = depenetrate_rows(3, 4, 10_000, 1e-12, order, W.first, W.unit, W.flat_islands, W.start, W.place, W.J, W.Y, b, ints, work, impulse)
    assert done < 10_000 and (expected > 0.0).any()
    np.testing.assert_allclose(impulse, expected, atol=1e-8 * (1.0 + expected.max()))
    rough = np.empty(7)
    assert depenetrate_rows(3, 4, 2, 0.0, order, W.first, W.unit, W.flat_islands, W.start, W.place, W.J, W.Y, b, ints, work, rough) == 2
    assert (rough >= 0.0).all()
    root, unit = np.eye(len(inverse)), (np.diff(W.first) == 6).astype(np.int64)
    for k in np.flatnonzero(unit):
        at = slice(W.first[k], W.first[k + 1])
        root[at, at] = np.linalg.cholesky(inverse[at, at])
    mass = np.linalg.solve(root, np.linalg.solve(root, inverse).T)  # 1 of islands of six, which then have J alone
    V = replace(DelassusFactors.from_whole(W.first, W.rows, W.islands, J @ root, J @ root @ mass, np.arange(len(inverse))), unit=unit)
    same = np.empty(7)
    assert depenetrate_rows(3, 4, 2, 0.0, order, V.first, V.unit, V.flat_islands, V.start, V.place, V.J, V.Y, b, ints, work, same) == 2
    np.testing.assert_allclose(same, rough, atol=1e-10 * (1.0 + rough.max()))


def test_rows_that_nothing_answers_to_get_no_impulse() -> None:
    W, J, _ = pushing_rows(0)
    W.J[: W.place[1]] = W.Y[: W.place[1]] = 0.0
    gaps, after, order = np.full(4, 0.1), np.zeros((4, 3)), np.arange(8)
    assert impulses_apart(W, 0.01, 4, 0, 1.0, np.ones(3), np.array([-OVERLAP, 0.1, 0.1]), np.zeros(3), gaps, after, order) is None
    found = impulses_apart(W, 0.01, 4, 0, 1.0, np.ones(3), np.array([-0.01, -0.01, 0.1]), np.zeros(3), gaps, after, order)
    assert found is not None and found[0] == 0.0 and found[1] > 0.0 and np.isfinite(found).all()
    u = J[1] @ W.motion(spread_out(found))
    assert u >= CORRECTED - 1e-6, "0.3 of 1 cm in 1 cs"


def spread_out(found: np.ndarray) -> np.ndarray:
    """Impulses of all rows from those of single rows and normals."""
    out = np.zeros(16)
    out[[0, 1, 2, 4, 7, 11, 13]] = found
    return out


def test_what_overlaps_wants_to_part_and_others_may_come_closer() -> None:
    h, wish = 0.1, np.zeros(4)
    residual, gaps = np.array([-0.01, 0.02]), np.array([-1e3, 0.03])
    most = wish_apart(h, 3, residual, np.array([0.0, 0.25]), gaps, np.array([9.0, 0, 0, -0.1, 0, 0]), wish)
    assert most == FASTEST
    np.testing.assert_allclose(-wish, [CORRECTED * 0.01 / h, -(0.02 / h + 0.25 - 0.02 / h), -FASTEST * -1.0, -(0.03 / h - 0.1)])


def test_contacts_of_moving_bodies_come_in_the_order_of_pairs() -> None:
    """Shapes 0 … 4 on bodies 0, 0, 1, 2, 3, of which only 2 moves; pairs (1, 2), (2, 3), (3, 4), found from the last to the first."""
    body, pairs = np.array([0, 0, 1, 2, 3]), np.array([1, 2, 2, 3, 3, 4])
    tags, records = np.array([2, 9, 2, 8, 1, 7, 0, 6]), np.arange(28.0)
    out = np.zeros(8, np.int64), np.zeros(12), np.zeros(12), np.zeros(4), np.zeros(4, np.int64)
    count = arrange_touches(4, tags, records, pairs, body, 3, np.array([0, 0, 1, 0]), *out)
    assert count == 3 and out[0][:6].tolist() == [1, 2, 2, 3, 2, 3] and out[3][:3].tolist() == [20.0, 6.0, 13.0]
    assert out[4][:3].tolist() == [((2 * 5 + 3) << FEATURE_BITS) + 7, ((3 * 5 + 4) << FEATURE_BITS) + 9, ((3 * 5 + 4) << FEATURE_BITS) + 8]
    assert out[2][:3].tolist() == [17.0, 18.0, 19.0] and out[1][:3].tolist() == [14.0 + 10.0 * 17, 15.0 + 10.0 * 18, 16.0 + 10.0 * 19]


def test_the_fastest_body_is_named() -> None:
    velocity = np.zeros(18)
    velocity[6], velocity[17] = 3.0, -4.0
    asked = ((2.0, 0), (3.5, 0), (3.9, 3), (4.0, 3))
    assert [fastest_beyond(velocity, limit, part) for limit, part in asked] == [1, -1, 2, -1]


def test_points_are_put_in_order_from_below_and_those_of_one_height_stay_so() -> None:
    rng = np.random.default_rng(5)
    for n in (0, 1, 2, 3, 7, 64, 100):
        points, up = rng.integers(-6, 6, size=(n, 3)).astype(float), np.array([0.0, 0.6, 0.8])
        order = np.zeros(2 + n, np.int64)
        order_upwards(2, up, points.reshape(-1), order)
        heights = points[:, 1] * 0.6 + points[:, 2] * 0.8
        assert order.tolist() == [0, 1, *(2 + np.lexsort((np.arange(n), heights))).tolist()]


def test_targets_of_the_rows_of_the_book() -> None:
    role, h, k_v, k_q = np.array([STEERED, SOFT, MOVED, PUSHED, PUSHED]), 0.5, 3.0, 7.0
    residual, rate, acceleration, b = np.array([1.0, 1, 1, 1, -1]), np.full(5, 2.0), np.full(5, 10.0), np.zeros(5)
    fill_targets(role, h, k_v, k_q, -1.0, residual, rate, acceleration, b)
    assert b.tolist() == [0.5 * (10 + 6 + 7), 5.0, 2.0 + 5.0, 2.0 + 5.0 + 2.0, 2.0 + 5.0]
    fill_targets(role, h, 0.0, 0.0, 1e-6, residual, np.array([0.0, 0, 0, 0, -1]), acceleration, b)
    assert b.tolist() == [5.0, 5.0, 5.0, np.inf, 5.0]


def test_the_problem_is_laid_out_with_laws_and_what_was_had() -> None:
    out = np.zeros(9), np.zeros(9), np.zeros(5), np.zeros(5), np.zeros(15)
    b, u = np.array([1.0, 2.0, 3.0]), np.arange(6.0)
    lay_problem(
        3, 1, 0.5, b, u, np.array([10.0, 20.0]), np.array([7.0, 8.0, 9.0]), 0.1 * u, np.array([4.0, 6.0]), np.array([0.5, -1.0]),
        np.arange(1.0, 7.0), np.array([1.0, 2.0]), *out,
    )  # fmt: skip
    right, warm, lower, upper, friction = (x.tolist() for x in out)
    assert right == [1.0, 2.0, 3.0, 10.0, 1.0, 2.0, 23.0, 4.0, 5.0] and warm[:3] == [7.0, 8.0, 9.0] and warm[3:] == (0.1 * u).tolist()
    assert lower == [0.0, -2.5, -2.0, 0.0, 0.0] and upper == [np.inf, 1.5, 4.0, np.inf, np.inf]
    assert friction == [0.0] * 9 + [1.0, 2.0, 3.0, 8.0, 10.0, 12.0]


def test_works_of_impulses_over_a_step() -> None:
    """Of a body of 2 kg that impulses of 1, 2 and 4 kg m/s stop or turn: half the sum of velocities times impulse each."""
    total, sums = np.zeros(3), np.zeros(4)
    impulse, before = np.array([1.0, 2.0, 4.0]), np.array([-2.0])
    free, after = before + 0.5, before + 0.5 + 4.0 / 2.0
    velocity = np.array([3.0, 5.0, after[0]])
    residual, rate = np.array([9.0, 9.0, 0.2]), np.array([1.0, 9.0, -4.0])
    none = np.zeros(0)
    add_works(1, 0.1, impulse, velocity, np.array([2, 0]), residual, rate, before, free, after, none, total, sums)
    assert total.tolist() == [2.0, 0.0, 1.0]
    over = 1 * (-4 + 3 - 2) + 2 * (1 + 5) + 4 * (before + after)[0]
    np.testing.assert_allclose(sums, [4 * (free + after)[0], 4 * (2 * before + 2.0)[0], over, 6.0])
    # what the middle of the step adds to velocities is no motion that impulses work on
    turned, turn = np.zeros(4), np.array([0.3])
    add_works(1, 0.1, impulse, velocity, np.array([2, 0]), residual, rate, before, free + turn, after + turn, turn, total, turned)
    np.testing.assert_allclose(turned, sums)


def test_a_step_is_written_where_memory_is_read() -> None:
    friction = MemorySchema(Field("friction", (1,), "N", "in one joint"))
    layout = SteppingMemory(nq=2, nv=1, rows=1, contacts=2, midpoints=1, friction=friction)
    memory = np.zeros(layout.schema.size)
    kept = layout.view(memory)
    write_step(
        0.1, 5, 1e-3, 2, 0.5, 1, 2, 3, ids_of([(1, 1), (2, 2)]), np.array([0.3, 0.2]), np.arange(6.0), np.ones(6), np.ones(6), np.zeros(0),
        np.array([7.0, 8.0]), np.array([9.0]), np.array([12.0]), np.array([13.0]), np.array([10.0]), np.array([11.0]), 1, memory,
    )  # fmt: skip
    assert kept.change.tolist() == [12.0] and kept.next_change.tolist() == [13.0]
    assert kept.begun_q.tolist() == [7.0, 8.0] and kept.begun_v.tolist() == [9.0] and kept.constraint_impulse.tolist() == [10.0]
    assert kept.joint_friction.friction.tolist() == [11.0] and kept.contacts.impulse[1, :3].tolist() == [3.0, 4.0, 5.0]
    assert kept.step_length == 0.1 and kept.contact_count == 2 and kept.least_gap == 0.2 and kept.gains == 1
    assert kept.iterations == 5 and kept.residual == 1e-3 and kept.method == 2 and kept.gained == 0.5 and kept.converged == 1
    one = np.zeros(3)
    write_step(
        0.1, 5, 1e-3, 2, 0.0, 1, 2, 3, ids_of([(1, 1)]), np.array([0.3]), one, one, one, np.zeros(0), np.zeros(2), np.zeros(1), np.zeros(1),
        np.zeros(1), np.zeros(1), np.zeros(0), 1, memory,
    )  # fmt: skip
    assert not layout.table(memory)[WIDTH:].any() and kept.joint_friction.friction.tolist() == [11.0] and kept.gains == 1
    memory[:] = np.arange(1.0, memory.size + 1.0)
    begun = layout.view(layout.fresh(memory, np.zeros(LEDGER), 0.25))
    assert begun.last_step == 0.25 and begun.contact_count == 0 and begun.step_length == kept.step_length and begun.gains == kept.gains
    assert not any(np.any(x) for x in (begun.begun_q, begun.begun_v, begun.constraint_impulse, begun.contacts.impulse))
