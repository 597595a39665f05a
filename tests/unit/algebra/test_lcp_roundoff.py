"""Lemke's method where every ratio is a tie: no relative change of 10⁻¹⁵ of its input may end it on a ray, or bring one to an end.

The judge is the problem itself, w = A z + b, w ≥ 0, z ≥ 0, wᵀ z = 0, in extended precision, and never another run.
"""

from itertools import product

import numpy as np
import pytest

from unibody.algebra.lcp import LcpSolution, solve_lcp

SHAKES = 25
SHAKEN = 1e-15
"""Some units in the last place: what another processor's sums differ by."""
CLOSE = 1e-10
"""Of what a row adds up, or of z's largest: matrices of contacts have condition numbers up to 10⁵ here, solved to round-off."""


def with_friction(J, tangents, friction, v, directions):
    """Stewart and Trinkle's matrix: normal rows, then directions of friction per contact, then bounds; copositive, not semidefinite."""
    n = len(friction)
    N = J[:n]
    D = np.concatenate([np.einsum("d,x->dx", [1.0, -1.0], t[0]) if directions == 2 else round_about(t, directions) for t in tangents])
    E = np.kron(np.eye(n), np.ones((directions, 1)))
    rows = np.concatenate([N, D])
    size = len(rows)
    A = np.zeros((size + n, size + n))
    A[:size, :size] = rows @ rows.T
    A[n:size, size:] = E
    A[size:, :n], A[size:, n:size] = np.diag(friction), -E.T
    return A, np.concatenate([rows @ v, np.zeros(n)])


def round_about(pair, directions):
    angle = 2.0 * np.pi * np.arange(directions) / directions
    return np.outer(np.cos(angle), pair[0]) + np.outer(np.sin(angle), pair[1])


def random_planar(n):
    generator = np.random.default_rng(n - 5)
    J = generator.standard_normal((2 * n, n + 2))
    return with_friction(J, J[n:].reshape(n, 1, -1), generator.uniform(0.1, 0.9, n), generator.standard_normal(n + 2), 2)


def box_on_its_corners(directions, v):
    """Four corners of a unit cube on a plane: six velocities, twelve rows, and nothing that tells the corners apart."""
    normals, tangents = [], []
    for x, y in product((-0.5, 0.5), repeat=2):
        r = np.array([x, y, -0.5])
        lever = [np.concatenate([np.sqrt(6.0) * np.cross(r, e), e]) for e in np.eye(3)]
        normals.append(lever[2])
        tangents.append([lever[0], lever[1]])
    return with_friction(np.array(normals), np.array(tangents), np.full(4, 0.5), np.array(v), directions)


def planar_tower(boxes, slip):
    """Boxes on each other, two contacts below each, all falling with one speed and the lowest pushed sideways."""
    normals, tangents = [], []
    for i in range(boxes):
        for x in (-0.5, 0.5):
            n, t = np.zeros(3 * boxes), np.zeros(3 * boxes)
            for body, sign, y in ((i, 1.0, -0.5), (i - 1, -1.0, 0.5)):
                if body >= 0:
                    n[3 * body : 3 * body + 3] = sign * np.array([0.0, 1.0, np.sqrt(6.0) * x])
                    t[3 * body : 3 * body + 3] = sign * np.array([1.0, 0.0, -np.sqrt(6.0) * y])
            normals.append(n)
            tangents.append([t])
    v = np.zeros(3 * boxes)
    v[1::3] = -1.0
    v[0] = slip
    return with_friction(np.array(normals), np.array(tangents), np.full(2 * boxes, 0.25), v, 2)


def repeated(times):
    rows = np.repeat(np.array([[1.0, 0.5], [0.0, 1.0], [1.0, 0.5]]), times, axis=0)
    return rows @ rows.T, rows @ np.array([-1.0, -1.0])


def heavy_on_light(decades):
    mass = np.geomspace(1.0, 10.0**decades, 7)
    J = np.eye(7) - np.eye(7, k=-1)
    return J @ np.diag(1.0 / mass) @ J.T, J @ np.full(7, -1.0)


PROBLEMS = {
    **{f"planar contacts {n}": (random_planar, n) for n in (5, 9, 13, 15)},
    "box falls": (box_on_its_corners, 4, [0, 0, 0, 0, 0, -1.0]),
    "box slides": (box_on_its_corners, 4, [0, 0, 0, 1.0, 0, -1.0]),
    "box slides askew": (box_on_its_corners, 8, [0, 0, 0, 1.0, 0.5, -1.0]),
    "box spins": (box_on_its_corners, 8, [0, 0, 1.0, 0, 0, -1.0]),
    "box tips": (box_on_its_corners, 8, [1.0, 0, 0, 0, 0, 0]),
    "tower": (planar_tower, 4, 0.0),
    "tower pushed": (planar_tower, 3, 1.0),
    "repeated": (repeated, 6),
    "heavy on light": (heavy_on_light, 6),
}


def shaken(generator, A, b):
    def shake(x):
        return x * (1.0 + SHAKEN * generator.uniform(-1.0, 1.0, x.shape))

    return shake(A), shake(b)


def assert_solved(A, b, found):
    assert found.why == ""
    z = found.z.astype(np.longdouble)
    w = A.astype(np.longdouble) @ z + b
    size = np.abs(A) @ np.full(b.size, found.z.max()) + np.abs(b)
    assert z.min() >= 0.0
    assert (w >= -CLOSE * size).all()
    assert (np.minimum(z / z.max() * size, w) <= CLOSE * size).all()
    assert (np.abs(found.w - w) <= 1e-13 * size).all()


@pytest.mark.parametrize("name", PROBLEMS)
def test_round_off_in_the_input_never_ends_the_path_on_a_ray(name, rng):
    make, *arguments = PROBLEMS[name]
    A, b = make(*arguments)
    for _ in range(SHAKES):
        assert_solved(*(problem := shaken(rng, A, b)), solve_lcp(*problem))


@pytest.mark.parametrize(
    "A, b",
    [
        ([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]),  # two walls that close on one body
        ([[-1.0, 0.0], [0.0, 1.0]], [-1.0, -1.0]),
        ([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [-1.0, 0.5, -1.0]),
        ([[0.0, 0.0], [0.0, 1.0]], [-1.0, 1.0]),
    ],
)
def test_round_off_never_makes_a_solution_where_there_is_none(A, b, rng):
    for _ in range(SHAKES):
        assert solve_lcp(*shaken(rng, np.array(A), np.array(b))).why == "ends on a ray"


def test_units_of_rows_do_not_matter(rng):
    """S A S and S b have the solutions S⁻¹ z: masses in tons, lengths in millimetres, and each row in its own."""
    A, b = random_planar(8)
    for _ in range(SHAKES):
        S = 10.0 ** rng.uniform(-6.0, 6.0, b.size)
        found = solve_lcp(S[:, None] * A * S, S * b)
        assert_solved(A, b, LcpSolution(S * found.z, found.w / S, found.residual, found.pivots, found.why))
