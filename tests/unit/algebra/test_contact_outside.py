"""Our methods against solvers of others, Clarabel (conic) and PIQP (quadratic), on random, degenerate and singular problems."""

from dataclasses import replace

import numpy as np
import pytest
from contact_cases import FALL, brick_wall, scattered, sphere_pile, tower

from unibody.algebra.contact.newton import newton
from unibody.algebra.contact.problem import ContactProblem, unilateral
from unibody.algebra.contact.scaling import ScaledProblem
from unibody.algebra.contact.solve import solve_contacts
from unibody.algebra.lcp import solve_lcp
from unibody.kernel import JIT

DIRECT = 1e-10
PROBLEMS = {
    "random": lambda: scattered(6, 8, 0.4, 1),
    "more rows than motions": lambda: scattered(3, 6, 0.4, 5),
    "degenerate": lambda: sphere_pile(3, 2),
    "pushed": lambda: tower(4, push=0.5),
    "wall": lambda: brick_wall(2, 3, push=0.3),
    "singular tower": lambda: tower(50 if JIT else 8),
}


def judge_by_clarabel(problem, found, shift):
    """Clarabel's least of E(x) = ½ xᵀ Ŵ x + (b̂ + shift e_n)ᵀ x over the cones is no lower than ours; by convexity the difference bounds
    that of the velocities, ½ ‖x − x'‖²_Ŵ ≤ E' − E, which are compared within what Clarabel leaves on a singular Ŵ."""
    clarabel = pytest.importorskip("clarabel")
    import scipy.sparse as sp

    scaled = ScaledProblem(problem)
    W, b = scaled.W, scaled.b.copy()
    b[scaled.start[:-1]] += shift * scaled.D[scaled.start[:-1]]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    cones, none = [clarabel.SecondOrderConeT(3)] * scaled.rows.size, np.zeros(scaled.size)
    solver = clarabel.DefaultSolver(sp.csc_matrix(sp.triu(W)), b, -sp.eye(scaled.size, format="csc"), none, cones, settings)
    theirs = np.array(solver.solve().x)
    ours = found.impulse[scaled.keep] / scaled.D

    def energy(x):
        return 0.5 * x @ (W @ x) + b @ x

    gap = energy(theirs) - energy(ours)
    assert -1e-9 * (1.0 + abs(energy(ours))) < gap < 1e-6 * (1.0 + abs(energy(ours)))
    np.testing.assert_allclose(W @ theirs, W @ ours, atol=np.sqrt(2.0 * max(gap, 0.0)) + 1e-6)  # the diagonal of Ŵ is one


@pytest.mark.parametrize("method", ["augmented", "auto"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_coulombs_law_is_a_fixed_point_of_clarabels_program(name, method):
    """With De Saxcé's term ‖μ u_t‖ of our velocities held, Clarabel's program has these velocities again (its λ need not be ours)."""
    problem = PROBLEMS[name]()
    found = solve_contacts(problem, method, tolerance=DIRECT)
    assert found.converged and found.residual.velocity <= DIRECT, found.note
    slip = np.linalg.norm(problem.blocks.friction[:, :2] * found.velocity.reshape(-1, 3)[:, 1:], axis=1)
    judge_by_clarabel(replace(problem, law="convex"), found, slip)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_convex_law_has_clarabels_velocities(name):
    problem = replace(PROBLEMS[name](), law="convex")
    found = solve_contacts(problem, "augmented", tolerance=DIRECT)
    assert found.converged and found.residual.velocity <= DIRECT, found.note
    judge_by_clarabel(problem, found, 0.0)


def piqp_velocity(A, b):
    """A z + b at the least ½ zᵀ A z + bᵀ z with z ≥ 0."""
    piqp = pytest.importorskip("piqp")
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-12
    solver.setup(A, b, x_l=np.zeros(b.size), x_u=np.full(b.size, np.inf))
    solver.solve()
    return A @ solver.result.x + b


@pytest.mark.parametrize("kind", ["feasible", "degenerate", "singular tower"])
def test_lemke_and_newton_have_the_velocities_of_a_quadratic_program(kind):
    """Complementarity without friction; λ is not unique in the last two. Newton's method with nothing to help it."""
    generator = np.random.default_rng(4)
    if kind == "singular tower":
        W = tower(50 if JIT else 8)
        A, b = W.W[::3, ::3], W.b[::3]
    else:
        J = generator.standard_normal((30, 40 if kind == "feasible" else 8))
        J = J if kind == "feasible" else np.concatenate([J, J])  # every contact twice
        A, b = J @ J.T, J @ generator.standard_normal(J.shape[1])
    expected = piqp_velocity(A, b)
    pivoted = solve_lcp(A, b)
    assert pivoted.why == "" and pivoted.residual <= DIRECT
    np.testing.assert_allclose(pivoted.w, expected, atol=2e-6)
    problem = ContactProblem(A, b, unilateral(b.size))
    scaled = ScaledProblem(problem)
    found = newton(scaled, scaled.start_from(None), 1e-11, 200)
    assert found.velocity <= DIRECT, (found.velocity, found.notes)
    np.testing.assert_allclose(scaled.velocity(found.x) / scaled.D, expected, atol=2e-6)
    if kind == "singular tower":
        boxes = b.size // 4
        np.testing.assert_allclose(pivoted.z.reshape(boxes, 4).sum(axis=1), FALL * np.arange(boxes, 0, -1), rtol=1e-9)
