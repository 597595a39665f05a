"""Rows in velocities in which masses are one, against dense algebra: A Aᵀ = J M⁻¹ Jᵀ, and the way down gives M⁻¹ Jᵀ λ; velocities swept
again are those of the sweep."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.stepping.test_tree_delassus import looked_at

from unibody.algebra.contact.delassus import write_gram
from unibody.algebra.tree.aba import ROW, C, P, V, W
from unibody.arena import part
from unibody.coordinates.reduced.kinematics import sweep_velocities
from unibody.coordinates.reduced.workspace import BODIES, COLUMNS, MIDDLE_WIDTH, ROWS, TABLE_C
from unibody.coordinates.workspace import SIGNALS
from unibody.stepping.island_roots import begin_roots, leave_roots, root_row, root_three_rows, root_wrenches
from unibody.stepping.islands import FIRST, OF_BODY, lay_blocks

NAMES = ["tree", "zoo", "tied zoo", "driven", "loose", "flying"]


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_rows_with_unit_masses_give_the_dense_delassus_operator_and_motion(name: str, width: int) -> None:
    """Of the constraint rows and of wrenches on pairs of bodies: of one island, of two, on the world."""
    system, M, J, _ = looked_at(name)
    rng, n, count = np.random.default_rng(width), system.model.n_bodies, 12
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(count)])
    wrenches = rng.normal(size=(count, width, 2, 6))
    constraints, (spots, table) = system.constraint_rows(), system.islands.tables
    k, (first, of_body) = len(constraints.rows.rows), (part(table, spots, slot) for slot in (FIRST, OF_BODY))
    rows, islands = np.empty(k + count, np.int64), np.empty(2 * (k + count), np.int64)
    start, place = np.empty(k + count + 1, np.int64), np.empty(k + count + 1, np.int64)
    lay_blocks(of_body, first, constraints.rows.rows, constraints.rows.flat_islands, pairs.ravel(), width, rows, islands, start, place)
    roots, A = np.empty(len(M)), np.full(place[-1] + 1, np.nan)
    begin_roots(system.layout, system.ints, system.work, roots)
    make = root_three_rows if width == 3 else root_wrenches
    given = system.layout, system.ints, spots, table
    make(*given, place[k:], pairs.ravel(), width, wrenches.ravel(), system.flat_com, system.work, roots, A)
    for r in range(k):
        root_row(*given, place[r], islands[2 * r], islands[2 * r + 1], constraints.rows.J, roots, system.work, A)
    whole = np.concatenate([constraints.J, np.einsum("krsj,ksvj->krv", wrenches, J[pairs]).reshape(-1, len(M))])
    wanted = whole @ np.linalg.solve(M, whole.T)
    found = np.empty(len(whole) ** 2)
    write_gram(first, islands, start, place, A, np.empty(len(M), np.int64), found)
    found = found.reshape(wanted.shape)
    np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())
    assert (found == found.T).all()
    # m = Aᵀ λ, and down the tree
    impulse = rng.normal(size=len(whole))
    motion = np.zeros(len(M))
    for block in range(k + count):
        p = place[block]
        for g in islands[2 * block : 2 * block + 2]:
            if g >= 0:
                size, r = first[g + 1] - first[g], rows[block]
                numbers = A[p : p + r * size].reshape(size, r)
                motion[first[g] : first[g + 1]] += numbers @ impulse[start[block] : start[block + 1]]
                p += r * size
    leave_roots(*given, roots, system.work, motion)
    answer = np.linalg.solve(M, whole.T @ impulse)
    np.testing.assert_allclose(motion[system.islands.place], answer, atol=1e-9 * np.abs(answer).max())


@pytest.mark.parametrize("name", NAMES)
def test_velocities_swept_alone_are_those_of_the_sweep(name: str) -> None:
    """V, ζ and the gyroscopic wrenches, to round-off; all else stiction as it was."""
    system, _, _, q = looked_at(name)
    rng, size = np.random.default_rng(1), len(system.start()[1])
    one, other = rng.normal(size=size), rng.normal(size=size)
    system.dynamics.sweep(q, other)
    wanted = system.view(ROWS).copy().reshape(-1, ROW)
    bias = system.view(TABLE_C).copy()
    system.dynamics.sweep(q, one)
    before, kept = system.view(ROWS).copy().reshape(-1, ROW), np.zeros(MIDDLE_WIDTH * len(wanted))
    sweep_velocities(
        system.view(BODIES), bias, other, system.view(SIGNALS), system.view(COLUMNS), MIDDLE_WIDTH, kept, system.view(ROWS)
    )
    found, kept = system.view(ROWS).reshape(-1, ROW), kept.reshape(-1, MIDDLE_WIDTH)
    for at, mine in ((V, kept[1:, :6]), (C, kept[1:, 6:12]), (W, found[1:, W : W + 6])):
        scale = np.abs(wanted[1:, at : at + 6]).max()
        np.testing.assert_allclose(mine, wanted[1:, at : at + 6], atol=1e-13 * scale)
    same = [i for i in range(ROW) if not W <= i < W + 6]
    assert P not in range(W, W + 6) and (found[:, same] == before[:, same]).all()
    looked_at.cache_clear()  # the arrays of the system are those of another state now
