"""The incremental potential over bodies, free, attached and prescribed vertices, and points on which springs act: derivatives by finite
differences, the mixed matrix against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unibody as ub
from mixed_matrices import random_mixed
from unibody.algebra.block.mixed import MixedMatrix, MixedPattern
from unibody.algebra.block.mixed_solver import MixedSolver
from unibody.algebra.block.reduced_pcg import ChangeOfVariables
from unibody.solvers.barrier.posed_step import pose
from unibody.solvers.barrier.step import stiffened


def everything() -> ub.Model:
    """Two jointed bodies, a solid that is attached to one, cloth that is attached to the solid and prescribed at a corner, springs and
    dampers between a vertex, a point of a face and a body; all of it near enough to touch."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static", X_WB=ub.Pose((0, 0, -0.0505)))
    one = b.body("one", shape=ub.Box((0.1, 0.1, 0.1)), X_WB=ub.Pose((0, 0, 0.0005)))
    two = b.body("two", shape=ub.Box((0.1, 0.1, 0.1)), X_WB=ub.Pose((0, 0.15, 0.0005)))
    b.joint("hinge", ub.Revolute((1, 0, 0)), one, two, X_PF=ub.Pose((0, 0.075, 0)), X_BM=ub.Pose((0, -0.075, 0)))
    solid = b.soft(
        "solid",
        ub.TetMesh.box((0.05, 0.05, 0.05), cells=(1, 1, 1)),
        ub.NeoHookean(young=1e5, poisson=0.3, damping=1e-3),
        density=1000,
        X_WB=ub.Pose((0.085, 0, 0)),
    )
    b.attach(solid.vertices[solid.vertices.x[:, 0] < 0.061], one)
    cloth = b.cloth(
        "cloth",
        ub.TriMesh.grid((0.1, 0.1), spacing=0.05),
        ub.Fabric(young=1e5, poisson=0.3, thickness=1e-3),
        density=500,
        X_WB=ub.Pose((0.16, 0.025, 0.0265)),
    )
    b.body("ball", shape=ub.Sphere(0.03), X_WB=ub.Pose((0.16, 0.025, -0.0055)))
    top = np.flatnonzero((solid.vertices.x > [0.1, 0.0, 0.0]).all(axis=1))[0]
    near = np.linalg.norm(cloth.vertices.x - solid.vertices.x[top], axis=1).argsort()
    b.attach(cloth.vertices[near[:1]], solid.vertices[[int(top)]])
    b.prescribe(cloth.vertices[near[-1:]], lambda t: cloth.vertices.x[near[-1:]] + [0, 0, 0.01 * t])
    b.add(ub.SpringDamper(cloth.at(face=0), two.at(0, 0, 0.05), stiffness=50.0, damping=1.0, rest_length=0.02))
    b.add(ub.SpringDamper(cloth.vertex(int(near[0])), solid.vertex(0), stiffness=20.0, damping=0.5))
    b.add(ub.Contact(friction=0.5, damping=1e-3, self_contact=True, reach=3e-3))
    return b.build()


@pytest.fixture(scope="module")
def posed():
    """Ψ of the second step, and a place near its beginning."""
    bound = ub.solvers.Barrier().bind(everything())
    system = bound.system
    state, memory = bound.start()
    made = bound.step(state, memory, bound.model.neutral_control(), 2e-3)
    state, memory = made.state, made.memory
    a, begun = system.affine, system.beginning(state, memory, bound.model.neutral_control(), 2e-3)
    rule = system.rule.predict(begun, system.memory.view(memory).joint_q)
    out = pose(system, begun, stiffened(system, begun, memory), rule)
    begun = begun.x
    assert out.friction.renew(out.barrier.contacts(begun), begun)
    x = begun.copy()
    a.put_unknown(a.unknown(begun) + 1e-5 * np.random.default_rng(3).standard_normal(a.unknowns), x)
    assert np.isfinite(out.problem.value(x))
    return out.problem, a, x


def moved(a, x, i, d):
    y, own = x.copy(), a.unknown(x)
    own[i] += d
    a.put_unknown(own, y)
    return y


def test_contacts_of_bodies_and_of_vertices_are_there(posed):
    problem, a, x = posed
    pairs = next(p for p in problem.potentials if hasattr(p, "contacts")).contacts(x).pair
    names = {tuple(sorted(a.name_of(i) for i in pair)) for pair in pairs.tolist()}
    assert names == {("ground", "one"), ("ground", "two"), ("ball", "cloth")}


def test_the_gradient_is_that_of_the_value(posed):
    problem, a, x = posed
    g, d = problem.gradient(x), 1e-8
    numeric = [(problem.value(moved(a, x, i, d)) - problem.value(moved(a, x, i, -d))) / (2.0 * d) for i in range(a.unknowns)]
    assert np.abs(numeric - g).max() < 1e-5 * np.abs(g).max()


def test_the_exact_matrix_is_the_derivative_of_the_gradient(posed):
    """But for springs, whose matrices are made positive in any case: on the directions that do not stretch them it is the same."""
    problem, a, x = posed
    H, d = problem.matrix(x, False), 1e-8
    dense = np.array([H.product(e) for e in np.eye(a.unknowns)])
    assert np.abs(dense - dense.T).max() < 1e-12 * np.abs(dense).max()
    numeric = np.array(
        [(problem.gradient(moved(a, x, i, d)) - problem.gradient(moved(a, x, i, -d))) / (2.0 * d) for i in range(a.unknowns)]
    )
    assert np.abs(numeric - dense).max() < 1e-5 * np.abs(dense).max()


def test_the_careful_matrix_is_positive(posed):
    problem, a, x = posed
    H = problem.matrix(x, True)
    dense = np.array([H.product(e) for e in np.eye(a.unknowns)])
    scale = 1.0 / np.sqrt(np.diag(dense))
    assert np.linalg.eigvalsh(scale[:, None] * dense * scale)[0] > -1e-12


@pytest.mark.parametrize(("m", "n"), [(3, 5), (0, 6), (4, 0), (1, 1)])
@pytest.mark.parametrize("jointed", [False, True])
def test_a_mixed_matrix_multiplies_and_solves_like_the_dense_one(m, n, jointed):
    """With a change of variables, N of random columns by mechanism, the solution is N (NᵀAN)⁻¹ Nᵀ b."""
    rng = np.random.default_rng(10 * m + n)
    H, dense = random_mixed(rng, m, n)
    b = rng.standard_normal(len(dense))
    assert H.product(b) == pytest.approx(dense @ b, abs=1e-10)
    change, N = None, np.eye(len(dense))
    if jointed and m:
        widths = [6] * m
        body = sp.block_diag([rng.standard_normal((12, k)) for k in widths], format="csr")
        change = ChangeOfVariables.of(body, np.arange(m), np.repeat(np.arange(m), widths))
        N = sp.block_diag([body, np.eye(3 * n)]).toarray() if n else body.toarray()
    found = MixedSolver(change, rng.standard_normal((m + n, 3))).solve(H, b)
    assert found == pytest.approx(N @ np.linalg.solve(N.T @ dense @ N, N.T @ b), abs=1e-9)
    wider = H.pattern.plus(
        MixedPattern.of(m, n, np.array([k for k in range(m * m) if k // m < k % m], np.int64), *np.triu_indices(4 * m + n))
    )
    assert H.widened(wider).product(b) == pytest.approx(dense @ b, abs=1e-10)


def test_a_matrix_that_is_not_positive_is_refused():
    H, dense = random_mixed(np.random.default_rng(0), 2, 3)
    values = H.values.copy()
    values[H.pattern.starts[2]] = -1.0
    assert MixedSolver(None, np.zeros((5, 3)) + np.arange(5)[:, None]).solve(MixedMatrix(H.pattern, values), np.ones(len(dense))) is None
