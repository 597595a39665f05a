"""Contact with friction: closed forms, agreement of unlike methods, Clarabel as an outside witness, and problems meant to hurt."""

import numpy as np
import pytest
from contact_cases import FALL, BodyRows, of_bodies, scattered, sphere_pile, tower, violation, with_law

from unibody.algebra.contact.cones import alart_curnier
from unibody.algebra.contact.interior_point import interior
from unibody.algebra.contact.newton import newton
from unibody.algebra.contact.polyhedral import directions
from unibody.algebra.contact.problem import ContactProblem, bounded, box, contacts, free, join, unilateral
from unibody.algebra.contact.scaling import ScaledProblem
from unibody.algebra.contact.solve import solve_contacts

EXACT = ("newton", "proximal", "pgs", "augmented", "auto")
DIRECT = 1e-10


def single(seed, rows, law="coulomb"):
    """One contact with a full matrix of its own."""
    generator = np.random.default_rng(seed)
    G = generator.standard_normal((rows, rows + 1))
    mu = generator.uniform(0.1, 0.9, (1, rows - 1))
    blocks = contacts(mu[:, 0], planar=True) if rows == 2 else contacts(mu)
    return ContactProblem(G @ G.T, 2.0 * generator.standard_normal(rows), blocks, law=law)


@pytest.mark.parametrize("method", [*EXACT, "lemke"])
def test_a_block_that_sticks_slides_or_leaves(method):
    """Unit mass, μ = ½: λ_n stops the fall; friction stops what it can, and no more than half of λ_n."""
    for b, expected in (
        ([-1.0, 0.3, 0.0], [1.0, -0.3, 0.0]),
        ([-1.0, 2.0, 0.0], [1.0, -0.5, 0.0]),
        ([0.5, 2.0, 1.0], [0.0, 0.0, 0.0]),
    ):
        found = solve_contacts(ContactProblem(np.eye(3), np.array(b), contacts([0.5])), method)
        np.testing.assert_allclose(found.impulse, expected, atol=1e-9)
        assert found.converged and found.method in (method, "lemke")


@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("rows", [2, 3, 4])
def test_one_contact_is_solved_in_its_turn(rows, law):
    """A single sweep is exact whatever the coupling of normal, tangents and spin; the second look only confirms it."""
    for seed in range(40):
        problem = single(seed, rows, law)
        found = solve_contacts(problem, "pgs", iterations=1)
        assert violation(problem, found) < 1e-11 and found.residual.velocity < 1e-11


@pytest.mark.parametrize("seed", range(6))
def test_methods_agree_on_random_problems(seed):
    problem = scattered(6, 8, 0.3, seed)
    found = {method: solve_contacts(problem, method, tolerance=1e-11, iterations=20000) for method in EXACT}
    for method, s in found.items():
        assert s.converged and violation(problem, s) < 1e-9, (method, s.note)
        np.testing.assert_allclose(s.velocity, found["newton"].velocity, atol=1e-8, err_msg=method)
        np.testing.assert_allclose(s.impulse, found["newton"].impulse, atol=1e-8, err_msg=method)  # W is regular: λ is unique
    assert found["newton"].residual.velocity < DIRECT


@pytest.mark.parametrize("seed", range(6))
def test_random_problems_of_every_kind_are_solved(seed):
    """Isotropic, elliptic, torsional; friction up to 2, more rows than motions in every third."""
    generator = np.random.default_rng(seed)
    problem = scattered(int(generator.integers(2, 6)), int(generator.integers(1, 8)), generator.choice([0.1, 0.5, 1.0, 2.0]), seed)
    count = problem.b.size // 3
    if seed % 3 == 1:
        problem = ContactProblem(problem.delassus, problem.b, contacts(generator.uniform(0.0, 1.0, (count, 2))))
    elif seed % 3 == 2:
        J = generator.standard_normal((4 * count + 1, max(2, 3 * count)))
        blocks = join(contacts(generator.uniform(0.0, 1.0, (count, 3))), unilateral(1))
        problem = ContactProblem(J @ J.T, J @ generator.standard_normal(J.shape[1]), blocks)
    for method in ("newton", "auto"):
        found = solve_contacts(problem, method)
        assert found.converged and violation(problem, found) < 1e-8, found.note
    pivoted = solve_contacts(problem, "lemke")
    assert pivoted.converged and pivoted.residual.velocity < DIRECT, pivoted.note


@pytest.mark.parametrize("seed", range(2))
def test_a_pile_with_fewer_motions_than_rows(seed):
    """λ is not unique. Under the convex law velocities are, and are compared; under Coulomb's law not even they, so the laws are judged."""
    problem = sphere_pile(3, 2, seed=seed)
    newton = solve_contacts(problem, "newton")
    assert newton.residual.velocity < DIRECT and violation(problem, newton) < 1e-9, newton.note
    proximal = solve_contacts(problem, "proximal", tolerance=1e-6)
    assert proximal.converged and violation(problem, proximal) < 1e-5, proximal.note
    convex = with_law(problem, "convex")
    newton, proximal = solve_contacts(convex, "newton"), solve_contacts(convex, "proximal", tolerance=1e-9)
    assert newton.residual.velocity < DIRECT
    np.testing.assert_allclose(proximal.velocity, newton.velocity, atol=1e-7)


def clarabel_solution(problem):
    """λ and u of: minimise ½ λᵀ W λ + bᵀ λ over the cones, by Clarabel."""
    clarabel = pytest.importorskip("clarabel")
    import scipy.sparse as sp

    W, mu = problem.W, problem.blocks.friction[:, :2]
    scale = np.ones(problem.b.size)
    scale[1::3], scale[2::3] = 1.0 / mu[:, 0], 1.0 / mu[:, 1]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    cones = [clarabel.SecondOrderConeT(3)] * len(mu)
    A = sp.csc_matrix(-np.diag(scale))
    solved = clarabel.DefaultSolver(sp.csc_matrix(np.triu(W)), problem.b, A, np.zeros(problem.b.size), cones, settings).solve()
    return np.array(solved.x), W @ np.array(solved.x) + problem.b


def energy(problem, impulse):
    return 0.5 * impulse @ problem.W @ impulse + problem.b @ impulse


@pytest.mark.parametrize("method", EXACT)
def test_the_convex_law_is_clarabels_conic_program(method):
    for problem in (scattered(6, 8, 0.4, 1, "convex"), sphere_pile(2, 2, law="convex"), tower(2, law="convex", push=0.5)):
        found = solve_contacts(problem, method, tolerance=1e-10, iterations=50000 if method == "pgs" else None)
        assert violation(problem, found) < 1e-8, found.note
        impulse, velocity = clarabel_solution(problem)
        assert abs(energy(problem, found.impulse) - energy(problem, impulse)) < 1e-9
        np.testing.assert_allclose(found.velocity, velocity, atol=2e-6)  # Clarabel's own accuracy where W is singular


def test_convex_and_exact_law_differ_by_the_lift_of_sliding_contacts():
    """Unit mass sliding at 2 with μ = ½: Coulomb stays on the ground, the convex law leaves it with μ‖u_t‖."""
    problem = ContactProblem(np.eye(3), np.array([-1.0, 2.0, 0.0]), contacts([0.5]))
    assert abs(solve_contacts(problem).velocity[0]) < 1e-12
    lifted = solve_contacts(with_law(problem, "convex")).velocity
    np.testing.assert_allclose(lifted[0], 0.5 * abs(lifted[1]), atol=1e-12)
    assert lifted[0] > 0.1


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_planar_contacts_have_two_directions_and_lemke_is_exact(law):
    generator = np.random.default_rng(3)
    for count in (1, 3, 6):
        J = generator.standard_normal((2 * count, 2 * count + 1))
        b = J @ generator.standard_normal(2 * count + 1)
        problem = ContactProblem(J @ J.T, b, contacts(np.full(count, 0.3), planar=True), law=law)
        pivoted, newton = solve_contacts(problem, "lemke"), solve_contacts(problem, "newton")
        assert pivoted.residual.velocity < DIRECT and violation(problem, pivoted) < 1e-9
        np.testing.assert_allclose(pivoted.velocity, newton.velocity, atol=1e-8)


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_lemke_without_friction_is_exact(law):
    problem = sphere_pile(2, 2, friction=0.0, law=law)
    pivoted, newton = solve_contacts(problem, "lemke"), solve_contacts(problem, "newton")
    assert pivoted.residual.velocity < DIRECT
    np.testing.assert_allclose(pivoted.velocity, newton.velocity, atol=1e-9)


def test_the_polyhedral_cone_approaches_the_round_one_with_the_square_of_its_directions():
    problem = scattered(4, 5, 0.3, 7)
    exact = solve_contacts(problem, "newton").velocity
    errors = []
    for count in (8, 16, 48):
        found = solve_contacts(ContactProblem(problem.delassus, problem.b, problem.blocks, directions=count))
        assert found.method == "lemke" and found.residual.velocity < DIRECT, found.note
        errors.append(np.abs(found.velocity - exact).max())
        # directions are π / count from the slip at most, so is friction from its direction; its size misses 1 − cos(π / count)
        assert errors[-1] < 4.0 * np.abs(problem.b).max() * np.pi / count
    assert errors[-1] < 0.2 * errors[0]


def test_directions_are_as_many_as_asked_and_reach_all_around():
    """Of any vector some direction points half-way along it or more, as far as so many can: cos π/k in a plane, 1/√3 for the axes."""
    generator = np.random.default_rng(8)
    for tangents, count in ((1, 2), (2, 3), (2, 5), (2, 8), (3, 6), (3, 7), (3, 20), (3, 21)):
        d = directions(tangents, count)
        assert d.shape == (count, tangents)
        np.testing.assert_allclose(np.linalg.norm(d, axis=1), 1.0)
        x = generator.standard_normal((1000, tangents))
        least = {1: 1.0, 2: np.cos(np.pi / count), 3: 3.0**-0.5}[tangents]
        assert ((x / np.linalg.norm(x, axis=1, keepdims=True)) @ d.T).max(axis=1).min() >= least - 1e-12
    assert len(directions(3, 4)) == 6


@pytest.mark.parametrize("count", [3, 5, 7, 4, 6])
def test_friction_of_a_polygon_is_its_reach_against_the_slip(count):
    """Unit mass, x_n = 1, μ = ½, slip ±2 along the first direction: against it a corner reaches ½, along it an odd polygon ½ cos π/k."""
    for sign, reach in ((-1.0, 1.0), (1.0, np.cos(np.pi / count) if count % 2 else 1.0)):
        problem = ContactProblem(np.eye(3), np.array([-1.0, 2.0 * sign, 0.0]), contacts([0.5]), directions=count)
        found = solve_contacts(problem)
        assert found.method == "lemke" and found.converged, found.note
        np.testing.assert_allclose(found.velocity, [0.0, sign * (2.0 - 0.5 * reach), 0.0], atol=1e-12)


@pytest.mark.parametrize("method", ["newton", "augmented", "auto", "proximal"])
def test_tower_of_two_hundred_contacts_carries_its_weight(method):
    """Fifty cubes on four corners each: W is singular; the four normal impulses of an interface are the momentum of all above."""
    problem = tower(50)
    found = solve_contacts(problem, method, tolerance=1e-9 if method == "proximal" else 1e-10)
    assert found.converged and violation(problem, found) < 1e-7, found.note
    np.testing.assert_allclose(found.velocity, 0.0, atol=1e-8)
    layers = found.impulse[::3].reshape(50, 4).sum(axis=1)
    np.testing.assert_allclose(layers, FALL * np.arange(50, 0, -1), rtol=1e-6)


@pytest.mark.parametrize("push", [0.1, 1.0])
def test_pushed_tower(push):
    """One cube in the middle is hit sideways: contacts stick, slide and open at once."""
    problem = tower(8, push=push)
    newton = solve_contacts(problem, "newton", iterations=600)
    assert newton.converged and violation(problem, newton) < 1e-9, newton.note


@pytest.mark.parametrize("heavy", ["above", "below"])
def test_masses_a_million_apart(heavy):
    mass = np.geomspace(1.0, 1e6, 5)[:: 1 if heavy == "above" else -1]
    problem = tower(5, mass=mass)
    found = solve_contacts(problem, "newton")
    assert found.converged and found.residual.velocity < 1e-7, found.note  # round-off: 1e6 · 0.1 · 1e-16 · terms
    above = np.cumsum(mass[::-1])[::-1] * FALL
    np.testing.assert_allclose(found.impulse[::3].reshape(5, 4).sum(axis=1), above, rtol=1e-6)


def table(method, push=0.0):
    """A plate on four legs: one way to share the load too many."""
    legs = [np.array([x, y, -0.5]) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    J = np.zeros((12, 2, 6))
    for k, leg in enumerate(legs):
        for r, e in enumerate(np.eye(3)[[2, 0, 1]]):
            J[3 * k + r, 0] = np.r_[np.cross(leg, e), e]
    inverse = np.diag([6.0, 6.0, 6.0, 1.0, 1.0, 1.0])[None]
    b = J[:, 0] @ np.array([0.0, 0.0, 0.0, push, 0.0, -1.0])
    problem = of_bodies(BodyRows(J, np.tile([0, -1], (12, 1)), inverse), b, contacts(np.full(4, 0.4)))
    return problem, solve_contacts(problem, method, iterations=20000 if method == "pgs" else None)


@pytest.mark.parametrize("method", EXACT)
def test_table_on_four_legs(method):
    problem, found = table(method)
    assert found.converged and violation(problem, found) < 1e-9
    np.testing.assert_allclose(found.impulse[::3].sum(), 1.0, atol=1e-9)
    problem, found = table(method, push=5.0)
    assert found.converged and violation(problem, found) < 1e-8, found.note
    np.testing.assert_allclose(found.velocity, table("newton", push=5.0)[1].velocity, atol=1e-7)


@pytest.mark.parametrize("method", [*EXACT, "lemke"])
def test_boxes_bounds_and_compliance_in_closed_form(method):
    blocks = join(box([2.0, 0.3]), unilateral(2), bounded([-np.inf], [0.5]), bounded([0.2], [0.2]), free(1))
    problem = ContactProblem(
        np.diag([1.0, 1.0, 4.0, 1.0, 1.0, 1.0, 2.0]), np.array([-1.5, 1.0, -2.0, 1.0, -3.0, 1.0, 3.0]), blocks,
        compliance=np.array([0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 1.0]),
    )  # fmt: skip
    found = solve_contacts(problem, method)
    np.testing.assert_allclose(found.impulse, [1.5, -0.3, 0.2, 0.0, 0.5, 0.2, -1.0], atol=1e-9)
    assert found.converged and found.residual.velocity < 1e-9


@pytest.mark.parametrize("method", [*EXACT, "lemke"])
def test_free_rows_equal_their_elimination(method):
    """Joints beside contacts; one joint row is given twice."""
    generator = np.random.default_rng(5)
    J = generator.standard_normal((8, 9))
    J = np.concatenate([J[:2], J[1:2], J[2:]])
    W, b = J @ J.T, J @ generator.standard_normal(9)
    problem = ContactProblem(W, b, join(free(3), contacts([0.3, 0.2])), directions=0)
    found = solve_contacts(problem, method, iterations=50000 if method == "pgs" else None)
    assert found.converged, found.note
    np.testing.assert_allclose(found.velocity[:3], 0.0, atol=1e-8)
    inverse = np.linalg.pinv(W[:3, :3])
    reduced = ContactProblem(W[3:, 3:] - W[3:, :3] @ inverse @ W[:3, 3:], b[3:] - W[3:, :3] @ inverse @ b[:3], contacts([0.3, 0.2]))
    alone = solve_contacts(reduced, "lemke" if method == "lemke" else "newton")
    np.testing.assert_allclose(found.velocity[3:], alone.velocity, atol=1e-7)


def test_only_free_rows_are_a_linear_system():
    generator = np.random.default_rng(2)
    G = generator.standard_normal((5, 5))
    W, b = G @ G.T, generator.standard_normal(5)
    for method in ("newton", "lemke", "proximal"):
        np.testing.assert_allclose(solve_contacts(ContactProblem(W, b, free(5)), method).impulse, np.linalg.solve(W, -b), rtol=1e-6)


def test_elliptic_friction_pushes_along_the_normal_of_its_ellipse():
    """Slip (1, 1) with μ = (0.8, 0.2): maximum dissipation gives λ_t ∝ −(μ₁² , μ₂²)."""
    found = solve_contacts(ContactProblem(np.diag([1.0, 1e-9, 1e-9]), np.array([-1.0, 1.0, 1.0]), contacts([[0.8, 0.2]])))
    expected = -np.array([0.64, 0.04]) / np.hypot(0.8, 0.2)
    np.testing.assert_allclose(found.impulse[1:], expected, atol=1e-6)


def test_spin_is_braked_less_where_the_contact_slides():
    """Spin alone meets the whole bound μ_r λ_n; with sliding at speed v beside spin ω, the share is μ_r ω / |(μ v, μ_r ω)|."""
    for slip, share in ((0.0, 1.0), (1.0, 0.1 * 3.0 / np.hypot(0.5, 0.3))):
        b = np.array([-1.0, slip, 0.0, 3.0])
        found = solve_contacts(ContactProblem(np.diag([1.0, 1e-9, 1e-9, 1e-9]), b, contacts([[0.5, 0.5, 0.1]])))
        np.testing.assert_allclose(found.impulse[3], -0.1 * share, atol=1e-6)


@pytest.mark.parametrize("method", EXACT)
def test_degenerate_problems(method):
    """Rows of zeros, no friction, contacts that only just touch, the same contact five times, one elliptic without a second friction."""
    zeros = ContactProblem(np.zeros((3, 3)), np.array([0.0, 0.5, 0.0]), contacts([0.5]))
    touching = ContactProblem(np.eye(3), np.array([0.0, 0.5, 0.0]), contacts([0.5]))
    row = np.random.default_rng(0).standard_normal((3, 6))
    J = np.tile(row, (5, 1))
    v = np.linalg.lstsq(row, np.array([-1.0, 0.2, 0.1]), rcond=None)[0]
    parallel = ContactProblem(J @ J.T, J @ v, contacts(np.full(5, 0.5)))
    smooth = ContactProblem(np.eye(6), np.array([-1.0, 1.0, 1.0, -1.0, 1.0, 1.0]), contacts([[0.0, 0.0], [0.5, 0.0]]))
    for problem in (zeros, touching, parallel, smooth):
        found = solve_contacts(problem, method)
        assert found.converged and violation(problem, found) < 1e-9, found.note
    np.testing.assert_allclose(solve_contacts(smooth, method).impulse, [1.0, 0.0, 0.0, 1.0, -0.5, 0.0], atol=1e-9)
    empty = solve_contacts(ContactProblem(np.zeros((0, 0)), np.zeros(0), contacts([])), method)
    assert empty.converged and empty.impulse.size == 0


@pytest.mark.parametrize("method", [*EXACT, "lemke"])
def test_problems_without_solution_are_reported(method):
    walls = ContactProblem(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, -1.0]), unilateral(2))
    stuck = ContactProblem(np.zeros((3, 3)), np.array([-1.0, 0.0, 0.0]), contacts([0.5]))
    torn = ContactProblem(np.ones((2, 2)), np.array([0.0, 1.0]), free(2))
    # Jammed: two contacts of high friction between closing walls, after Painlevé; no impulse opens both.
    n = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    J = np.concatenate([n, -n])
    jammed = ContactProblem(J @ J.T, np.array([-1.0, 0.3, -1.0, 0.3]), contacts([1.5, 1.5], planar=True))
    for problem in (walls, stuck, torn, jammed):
        found = solve_contacts(problem, method, iterations=200 if method != "lemke" else None)
        assert not found.converged and found.residual.velocity > 0.1
        assert "no solution" in found.note
        assert np.isfinite(found.impulse).all() and np.isfinite(found.velocity).all()


@pytest.mark.parametrize("method", EXACT)
def test_a_row_far_from_its_limit_hides_no_failure(method):
    """With W = g gᵀ, g = (½, 1, 0), the impulse (2, −1, 0) is in the cone of μ = 1 and moves nothing: no slip y with ½ y − 0.001 ≥ |y|
    exists, there is no solution, and impulses may grow without end. A limit that is a turn away adds a row that parts with 2000 rad/s."""
    g = np.array([0.5, 1.0, 0.0])
    W = np.zeros((4, 4))
    W[0, 0], W[1:, 1:] = 1.0, np.outer(g, g)
    for far in (0.0, 2000.0):
        problem = ContactProblem(W, np.array([far, -1e-3, 0.0, 0.0]), join(unilateral(1), contacts([1.0])))
        found = solve_contacts(problem, method, warm=1e13 * np.array([0.0, 2.0, -1.0, 0.0]))
        assert not found.converged and found.residual.velocity > 1e-5 and "no solution within" in found.note


def test_a_warm_start_from_the_solution_ends_at_once():
    problem = scattered(6, 8, 0.3, 4)
    first = solve_contacts(problem, "newton", tolerance=1e-12)
    for method in EXACT:
        again = solve_contacts(problem, method, warm=first.impulse)
        assert again.iterations == 0, method
        np.testing.assert_allclose(again.impulse, first.impulse, atol=1e-12)


@pytest.mark.parametrize("rows", ["contacts", "mixed"])
def test_an_interior_point_alone_solves_the_convex_law(rows):
    """Clarabel's velocities in a pile; closed forms of bounds in `test_boxes_bounds_and_compliance_in_closed_form` by the same code."""
    problem = sphere_pile(3, 2, law="convex")
    if rows == "mixed":
        blocks = join(free(3), box(np.full(3, 0.02)), contacts(np.full(problem.b.size // 3 - 2, 0.4)))
        problem = ContactProblem(problem.delassus, problem.b, blocks, law="convex")
    scaled = ScaledProblem(problem)
    found = interior(scaled, 1e-9, 60)
    assert found.velocity < 1e-5 and found.iterations < 40  # the end is Newton's business
    ended = newton(scaled, found.x.copy(), 1e-11, 20, first=0)
    assert ended.velocity < 1e-10
    if rows == "contacts":
        impulse, velocity = clarabel_solution(problem)
        gap = energy(problem, impulse) - energy(problem, scaled.impulse(ended.x))
        assert -1e-12 < gap < 2e-6  # ours is the lower, by what Clarabel leaves on a singular W; velocities differ by its root
        np.testing.assert_allclose(scaled.velocity(ended.x) / scaled.D, velocity, atol=2e-4)


def test_the_same_problem_gives_the_same_bits():
    for method in (*EXACT, "lemke"):
        a, b = (solve_contacts(scattered(5, 6, 0.5, 9), method).impulse for _ in range(2))
        assert (a == b).all(), method


def test_the_residual_has_the_units_of_velocity_and_does_not_depend_on_units_of_mass():
    """Nothing done about a fall of 0.3 misses the law by 0.3 whatever the masses; λ is missed by a whole impulse."""
    for mass in (1e-3, 1.0, 1e3):
        problem = ContactProblem(np.eye(3) / mass, np.array([-0.3, 0.0, 0.0]), contacts([0.5]))
        found = solve_contacts(problem, "pgs", iterations=0)
        np.testing.assert_allclose([found.residual.velocity, found.residual.impulse], [0.3, 1.0], rtol=1e-12)
        assert not found.converged


def test_auto_says_what_it_did():
    assert "sweeps" in solve_contacts(scattered(3, 2, 0.3, 0)).note
    assert "Newton" in solve_contacts(tower(6)).note


def test_bad_input_is_refused_in_words():
    good = dict(delassus=np.eye(3), b=np.zeros(3), blocks=contacts([0.5]))
    for change, words in (
        ({"b": np.zeros(2)}, "3 rows"),
        ({"b": np.array([np.nan, 0.0, 0.0])}, "finite"),
        ({"delassus": np.eye(2)}, "3 × 3"),
        ({"blocks": contacts([-0.5])}, "not negative"),
        ({"law": "other"}, "law"),
        ({"directions": 2}, "at least 3"),
        ({"compliance": -np.ones(3)}, "not negative"),
    ):
        with pytest.raises(ValueError, match=words):
            ContactProblem(**{**good, **change})
    with pytest.raises(ValueError, match="method"):
        solve_contacts(ContactProblem(**good), "magic")
    with pytest.raises(ValueError, match="warm start"):
        solve_contacts(ContactProblem(**good), warm=np.zeros(2))
    with pytest.raises(ValueError, match="round cone"):
        solve_contacts(ContactProblem(**good, directions=8), "newton")


@pytest.mark.parametrize("law", [0, 1])
def test_the_map_is_zero_at_solutions_only_and_has_its_slopes(law):
    """Slopes by differences at random points; zeros at one of each kind of solution, and none beside them."""
    start, lower = np.array([0, 1, 2, 3, 4, 6, 9, 13]), np.array([0.0, -np.inf, -0.5, -np.inf, 0.0, 0.0, 0.0])
    upper = np.array([np.inf, 0.3, 0.5, np.inf, np.inf, np.inf, np.inf])
    generator, m, k = np.random.default_rng(2), 13, 7
    F, A, B, up, down = np.empty(m), np.empty(16 * k), np.empty(16 * k), np.empty(m), np.empty(m)
    unused = np.empty(16 * k), np.empty(16 * k)
    for _ in range(20):
        x, u = generator.standard_normal((2, m))
        alart_curnier(law, start, lower, upper, x, u, F, A, B)
        for b in range(k):
            for c in range(start[b], start[b + 1]):
                h, rows = np.zeros(m), slice(start[b], start[b + 1])
                h[c] = 1e-6
                for slope, (dx, du) in ((A, (h, 0 * h)), (B, (0 * h, h))):
                    alart_curnier(law, start, lower, upper, x + dx, u + du, up, *unused)
                    alart_curnier(law, start, lower, upper, x - dx, u - du, down, *unused)
                    found = slope.reshape(k, 4, 4)[b, : start[b + 1] - start[b], c - start[b]]
                    np.testing.assert_allclose(found, (up - down)[rows] / 2e-6, atol=2e-5)
    lift = 0.0 if law == 0 else 0.6
    x = np.array([0.0, 0.3, 0.2, 5.0, 1.0, 0.5, 2.0, 1.2, -1.6, 0.0, 0.0, 0.0, 0.0])
    u = np.array([0.7, -0.4, 0.0, 0.0, 0.0, 0.0, lift, -0.36, 0.48, 0.9, 0.1, -0.2, 0.3])
    alart_curnier(law, start, lower, upper, x, u, F, A, B)
    np.testing.assert_allclose(F, 0.0, atol=1e-12)
    for i in range(m):
        for dx, du in ((0.1, 0.0), (-0.1, 0.0)):
            moved_x, moved_u = x.copy(), u.copy()
            moved_x[i] += dx
            moved_u[i] += du
            alart_curnier(law, start, lower, upper, moved_x, moved_u, F, A, B)
            inside = i in (2, 3, 4, 5)  # where a whole range of x goes with u = 0
            assert (np.abs(F).max() > 1e-3) != inside


def test_newton_alone():
    """No other method helps: contacts that stick, slide and open, fewer and more rows than motions; bounds; a tower of twenty contacts."""
    mixed = scattered(5, 5, 0.3, 3)
    blocks = join(free(3), unilateral(3), box([0.1, 0.1, 0.1]), contacts([0.3, 0.3]))
    bounds = ContactProblem(mixed.delassus, mixed.b, blocks, np.linspace(0.0, 0.2, 15))
    for problem in (scattered(6, 8, 0.3, 1), scattered(6, 8, 0.3, 2), sphere_pile(2, 2), bounds, tower(5), sphere_pile(2, 2, law="convex")):
        scaled = ScaledProblem(problem)
        found = newton(scaled, scaled.start_from(None), 1e-11, 200)
        assert found.velocity < DIRECT, (found.velocity, found.notes)
    assert solve_contacts(mixed, "newton").converged
