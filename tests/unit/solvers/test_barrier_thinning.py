"""Sheets by conjugate gradients on factors without couplings across hinges: against dense solutions and against whole factors."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from mixed_matrices import random_mixed
from unibody.algebra.block.mixed import MixedMatrix
from unibody.algebra.block.mixed_solver import ACCURATE, ROUGH, MixedSolver, Thinning
from unibody.solvers.barrier.energy_potential import across_hinges
from unibody.solvers.barrier.incremental_potential import LEAST_SHARE, PATIENCE, Shares
from verification.soft_meshes import sheet


def some_far(H: MixedMatrix) -> np.ndarray:
    rows, columns = H.pattern.points
    return H.pattern.pairs[rows < columns][::2]


@pytest.mark.parametrize(("m", "n"), [(2, 6), (0, 9)])
def test_iterations_solve_as_whole_factors_do(m, n):
    """The error in the preconditioner's norm is what iterations end at; that norm is within a few of the maximum's here."""
    rng = np.random.default_rng(m)
    H, dense = random_mixed(rng, m, n)
    b = rng.standard_normal(len(dense))
    far = some_far(H)
    assert len(far) > 2
    found = MixedSolver(None, rng.standard_normal((m + n, 3)), far, 0).solve(H, b)
    x = np.linalg.solve(dense, b)
    assert np.abs(found - x).max() < 30.0 * ACCURATE * np.abs(x).max()
    assert np.abs(found - x).max() > 0.0  # whole factors were not asked


def test_a_rough_solution_is_one_within_its_tolerance_and_leads_down():
    """As above, of a hundred times the error; conjugate gradients from 0 always lead down: −gᵀ x < 0 with b = −g."""
    rng = np.random.default_rng(3)
    H, dense = random_mixed(rng, 0, 40)
    b = rng.standard_normal(len(dense))
    found = MixedSolver(None, rng.standard_normal((40, 3)), some_far(H), 0).solve(H, b, rough=True)
    x = np.linalg.solve(dense, b)
    e = found - x
    assert ACCURATE**2 < (e @ dense @ e) / (x @ dense @ x) < (3.0 * ROUGH) ** 2
    assert b @ found > 0.0


def test_what_is_left_out_is_lumped():
    """Motions that all points share see the same matrix, up to the antisymmetric parts of blocks."""
    H, _ = random_mixed(np.random.default_rng(4), 0, 7)
    blocks, far = H.values.reshape(-1, 9), some_far(H)
    dropped = np.isin(H.pattern.pairs, far)
    blocks[dropped] = blocks[dropped].reshape(-1, 3, 3).transpose(0, 2, 1).reshape(-1, 9) + blocks[dropped]
    M = Thinning(far).thinner(H)
    assert len(M.pattern.pairs) == len(H.pattern.pairs) - len(far)
    for axis in range(3):
        ones = np.tile(np.eye(3)[axis], 7)
        assert M.product(ones) == pytest.approx(H.product(ones), abs=1e-10)


def test_a_matrix_that_is_not_positive_is_refused():
    H, dense = random_mixed(np.random.default_rng(0), 0, 6)
    values = H.values.copy()
    values[H.pattern.starts[2]] = -1.0
    solver = MixedSolver(None, np.arange(18.0).reshape(6, 3), some_far(H), 0)
    assert solver.solve(MixedMatrix(H.pattern, values), np.ones(len(dense))) is None


def test_couplings_across_hinges():
    """Two triangles with a common edge: bending couples the corners across it, and nothing else that no edge joins."""
    b = ub.Builder()
    mesh = ub.TriMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [(0, 1, 2), (2, 1, 3)])
    b.cloth("two", mesh, ub.Fabric(young=1e6, poisson=0.3, thickness=1e-3), density=500)
    model = b.build()
    assert across_hinges(model, np.arange(4)).tolist() == [0 * 4 + 3]
    assert across_hinges(model, np.array([1, 2, 3])).tolist() == []  # vertex 0 is held


def test_a_sheet_moves_as_with_whole_factors():
    """A pinned sheet falls; steps end at the same places, to far less than Newton's tolerance of 1e-5 m/s allows."""
    end = []
    for thin in (True, False):
        b = ub.Builder()
        cloth = b.cloth("cloth", sheet((0.5, 0.5), (12, 12)), ub.Fabric(young=1e6, poisson=0.3, thickness=1e-3), density=500)
        b.prescribe(cloth.vertices[[0, 12]])
        model = b.build()
        sim = ub.Simulation(model, "barrier", dt=0.02)
        system = sim.bound.system
        if thin:
            system.mixed._thinning = Thinning(across_hinges(model, system.affine.vertices.free))
        end.append(sim.run(0.2).vertices("cloth")[-1])
        assert (system.mixed._thin_plan is not None) == thin
    assert np.ptp(end[0][:, 2]) > 0.1
    assert np.abs(end[0] - end[1]).max() < 0.2 * 1e-5


def searched(needs: list[float]) -> list[list[float]]:
    """What directions try until the part that each needs."""
    shares, out = Shares(), []
    for need in needs:
        tries = shares.tries()
        out.append([t for t in tries if t < need] + [next(t for t in tries if t >= need)])
        shares.learn(out[-1][-1])
    return out


def test_parts_of_the_careful_matrix_follow_what_a_search_needs():
    assert searched([0.0, 0.0]) == [[0.0], [0.0]]
    # a little is needed for long: one trial in vain each, or none
    assert searched([0.01] * 3) == [[0.0, LEAST_SHARE], [0.0, LEAST_SHARE], [0.0, LEAST_SHARE]]
    assert searched([0.1] * 3) == [[0.0, LEAST_SHARE, 0.25], [LEAST_SHARE, 0.25], [LEAST_SHARE, 0.25]]
    # and when no more is needed, exact matrices come back
    assert searched([0.1, 0.0, 0.0])[1:] == [[LEAST_SHARE], [0.0]]


def test_matrices_that_fail_are_tried_ever_less_often():
    """One careful direction after the first failure, then up to PATIENCE."""
    tried = searched([1.0] * 12)
    waits = "".join("." if len(t) == 1 else "x" for t in tried)
    assert waits == ("x." + 2 * ("x" + "." * PATIENCE) + "x.")[:12]
