"""Sweeps over groups of rows against dense algebra in numpy."""

import numpy as np
import pytest

from unibody.algebra.saddle.gauss_seidel import factor_groups, sweep_groups, sweep_memory


def problem(width: int, seed: int):
    """Five bodies in a chain, groups of 1 … width rows between neighbours; the first body also hangs on the ground."""
    rng = np.random.default_rng(seed)
    n = 5
    A = rng.standard_normal((n, width, width))
    inverse = np.einsum("nij,nkj->nik", A, A) + np.eye(width)
    groups, starts, entry, place, blocks = [], [0], [], [], []
    row = 0
    for k in range(n):
        count = 1 + (k + seed) % (width // 2)
        groups += [row, count]
        for _ in range(count):
            for body in (k - 1, k):
                entry.append(len(place))
                place.append(width * body if body >= 0 else -1)
                blocks.append(rng.standard_normal(width))
            starts.append(len(entry))
            row += 1
    as_ints = [np.array(x, np.int64) for x in (groups, starts, entry, place)]
    return n, inverse, *as_ints, np.array(blocks)


def dense(n, width, inverse, starts, entry, place, blocks):
    J = np.zeros((len(starts) - 1, n * width))
    for r in range(len(J)):
        for e in entry[starts[r] : starts[r + 1]]:
            if place[e] >= 0:
                J[r, place[e] : place[e] + width] += blocks[e]
    M_inverse = np.zeros((n * width, n * width))
    for i in range(n):
        M_inverse[width * i : width * (i + 1), width * i : width * (i + 1)] = inverse[i]
    return J, M_inverse


@pytest.mark.parametrize(("width", "repeated"), [(3, False), (6, False), (6, True)])
def test_sweeps_reach_the_solution_of_the_whole(width, repeated):
    n, inverse, groups, starts, entry, place, blocks = problem(width, 1)
    if repeated:  # the second row of a group is twice its first: its right side too, so that there is a solution
        g = next(k for k in range(n) if groups[2 * k + 1] > 1)
        first = groups[2 * g]
        blocks[entry[starts[first + 1] : starts[first + 2]]] = 2.0 * blocks[entry[starts[first] : starts[first + 1]]]
    J, M_inverse = dense(n, width, inverse, starts, entry, place, blocks)
    rows = len(J)
    right = J @ np.random.default_rng(4).standard_normal(n * width)
    memory = np.zeros(sweep_memory(width, len(place), len(groups) // 2))
    y, impulse = np.zeros(n * width), np.zeros(rows)
    factor_groups(width, groups, starts, entry, place, blocks.ravel(), inverse.ravel(), memory)
    sweep_groups(400, width, groups, starts, entry, place, blocks.ravel(), right, memory, y, impulse)
    expected = M_inverse @ J.T @ np.linalg.lstsq(J @ M_inverse @ J.T, right, rcond=1e-12)[0]
    assert np.abs(J @ y - right).max() < 1e-9
    assert np.abs(y - expected).max() < 1e-8
    assert np.abs(y - M_inverse @ J.T @ impulse).max() < 1e-9


def test_one_group_is_solved_exactly_in_its_turn():
    n, inverse, groups, starts, entry, place, blocks = problem(6, 2)
    J, _ = dense(n, 6, inverse, starts, entry, place, blocks)
    right = np.arange(1.0, len(J) + 1)
    memory = np.zeros(sweep_memory(6, len(place), len(groups) // 2))
    y, impulse = np.zeros(6 * n), np.zeros(len(J))
    factor_groups(6, groups, starts, entry, place, blocks.ravel(), inverse.ravel(), memory)
    sweep_groups(1, 6, groups, starts, entry, place, blocks.ravel(), right, memory, y, impulse)
    last = slice(groups[-2], groups[-2] + groups[-1])
    assert np.abs((J @ y - right)[last]).max() < 1e-12
