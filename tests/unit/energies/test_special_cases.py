"""Single stencils where something special happens: moduli at small strain, equal and vanishing stretches, patterns, folds."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import unibody as ub
from unibody.energies.base import PROJECTED
from unibody.energies.evaluate import EnergyTables
from unibody.energies.hinge import angles
from unibody.energies.principal_stretches import positive_pair, positive_triple, singular_values, singular_values_sheet

SQUARE = SimpleNamespace(vertices=np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), faces=np.array([[0, 1, 2], [0, 2, 3]]))


@pytest.mark.parametrize("law", (ub.NeoHookean, ub.CoRotated, ub.StVK))
def test_all_laws_are_hookes_at_small_strain(law: type) -> None:
    """∂P/∂F at rest is μ (dF + dFᵀ) + λ tr dF."""
    mu, lam = law(1e3, 0.3).lame
    eye, one = np.eye(3), np.eye(3).ravel()
    hooke = mu * (np.eye(9) + np.einsum("ad,bc->abcd", eye, eye).reshape(9, 9)) + lam * np.outer(one, one)
    np.testing.assert_allclose(law(1e3, 0.3).tangent(eye), hooke, rtol=0.0, atol=1e-9)


def test_membranes_are_in_plane_stress() -> None:
    """A pull along one axis with free sides: E ε, and −ν ε across."""
    E, nu = 1e3, 0.3
    for energy in (ub.Membrane(E, nu, 1.0), ub.WovenMembrane(E, E, nu, 1.0)):
        D = energy.tangent(np.eye(3)[:, :2]).reshape(3, 2, 3, 2)
        stress = np.array([D[0, 0, 0, 0] - nu * D[0, 0, 1, 1], D[1, 1, 0, 0] - nu * D[1, 1, 1, 1], D[0, 1, 0, 1] + D[0, 1, 1, 0]])
        np.testing.assert_allclose(stress, (E, 0.0, E / (1.0 + nu)), rtol=0.0, atol=1e-9)


def test_warp_and_weft_pull_with_their_own_moduli() -> None:
    """In Green's strain of 10 %, ν = 0: ½ E e² t A along u, and the pattern says which way u lies."""
    fabric = ub.Fabric(1.0, 0.0, 1e-3, warp=4e6, weft=1e6, bending=0.0)
    k = np.sqrt(1.2)
    turned = SimpleNamespace(vertices=SQUARE.vertices, faces=SQUARE.faces, flat=SQUARE.vertices[:, [1, 0]] * (1.0, -1.0))
    for mesh, (along, across) in ((SQUARE, (4e6, 1e6)), (turned, (1e6, 4e6))):
        t = EnergyTables(fabric.stencils(mesh), 4)
        assert t.evaluate(SQUARE.vertices * (k, 1.0, 1.0)) == pytest.approx(0.5 * along * 0.01 * 1e-3, rel=1e-9)
        assert t.evaluate(SQUARE.vertices * (1.0, k, 1.0)) == pytest.approx(0.5 * across * 0.01 * 1e-3, rel=1e-9)


@pytest.mark.parametrize(
    "stretches", [(1.0, 1.0, 1.0), (2.0, 2.0, -2.0), (1.0, 1e-9, 1e-15), (3.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, -1.0, 0.5)]
)
def test_singular_values_of_special_matrices(stretches: tuple[float, ...], rng: np.random.Generator) -> None:
    """U and V are rotations, σ₀ ≥ σ₁ ≥ |σ₂|, and U Σ Vᵀ is F to round-off."""
    A, B = (np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2))
    F = A @ np.diag(stretches) @ B.T
    U, s, V = (np.array(part) for part in singular_values(tuple(F.ravel())))
    U, V = U.reshape(3, 3), V.reshape(3, 3)
    np.testing.assert_allclose(U @ np.diag(s) @ V.T, F, rtol=0.0, atol=1e-14)
    for R in (U, V):
        np.testing.assert_allclose(R @ R.T, np.eye(3), rtol=0.0, atol=1e-13)
        assert np.linalg.det(R) > 0.0
    assert s[0] >= s[1] >= abs(s[2]) - 1e-15


@pytest.mark.parametrize("stretches", [(1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 2.0), (2.0, 1e-12)])
def test_singular_values_of_special_sheets(stretches: tuple[float, float], rng: np.random.Generator) -> None:
    A = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    F = A[:, :2] * stretches
    Q, s, (c, sine) = singular_values_sheet(tuple(F.ravel()))
    Q = np.array(Q).reshape(3, 3)
    np.testing.assert_allclose((Q[:, :2] * s) @ np.array([[c, -sine], [sine, c]]), F, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("values", [(1.0, 2.0, 3.0), (1.0, -1.0, 0.0), (-1.0, -2.0, -3.0), (5.0, 5.0, -5.0), (0.0, 0.0, 0.0)])
def test_positive_parts_are_those_of_the_eigenvalues(values: tuple[float, ...], rng: np.random.Generator) -> None:
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    A, wanted = (R @ np.diag(v) @ R.T for v in (values, np.maximum(values, 0.0)))
    upper = np.triu_indices(3)
    np.testing.assert_allclose(positive_triple(tuple(A[upper])), wanted[upper], rtol=0.0, atol=1e-13)
    A, wanted = (R[:2, :2] @ np.diag(v[:2]) @ R[:2, :2].T for v in (values, np.maximum(values, 0.0)))
    w, axes = np.linalg.eigh(A)
    wanted = (axes * np.maximum(w, 0.0)) @ axes.T
    np.testing.assert_allclose(positive_pair(A[0, 0], A[0, 1], A[1, 1]), wanted[np.triu_indices(2)], rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("law", (ub.CoRotated, ub.StVK))
def test_a_tetrahedron_squashed_to_a_point_is_finite(law: type) -> None:
    mesh = SimpleNamespace(vertices=np.vstack([np.zeros(3), np.eye(3)]), tets=np.array([[0, 1, 2, 3]]))
    t = EnergyTables(law(1e3, 0.3).stencils(mesh), 4)
    assert np.isfinite(t.evaluate(np.zeros((4, 3)), PROJECTED)) and np.isfinite(t.block_values).all()


def test_angle_of_a_hinge_is_the_turn_between_its_triangles() -> None:
    """Positive where the wings rise, up to a closed fold."""
    for turn in (-3.0, -0.4, 0.0, 0.4, 3.0):
        wing = [0.5, -np.cos(turn), np.sin(turn)]
        assert angles(np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 1, 0], wing])) == pytest.approx(turn, abs=1e-12)


def test_curved_rest_shapes_of_rods_and_shells_have_no_moments() -> None:
    """A ring and a dome, at rest as they are; straightened they cost B/2L κ̄² a bend."""
    s = 2.0 * np.pi * np.arange(8) / 8
    edges = np.stack([np.arange(8), (np.arange(8) + 1) % 8], axis=1)
    ring = SimpleNamespace(vertices=np.stack([np.cos(s), np.sin(s), 0.0 * s], axis=1), edges=edges, closed=True)
    (bend,) = ub.RodBend(2.0).stencils(ring)
    assert len(bend.index) == 8 and EnergyTables([bend], 8).evaluate(ring.vertices) == pytest.approx(0.0, abs=1e-25)
    straight = np.outer(np.arange(8.0), (1.0, 0.0, 0.0))
    kappa, length = 2.0 * np.tan(np.pi / 8.0), 2.0 * np.sin(np.pi / 8.0)
    inner = np.flatnonzero((np.diff(bend.index, axis=1) == 1).all(axis=1))
    open_part = type(bend)(bend.energy, bend.index[inner], bend.parameters[inner])
    assert EnergyTables([open_part], 8).evaluate(straight) == pytest.approx(len(inner) * kappa**2 / length, rel=1e-12)


def test_triangles_three_at_a_vertex_do_not_lock() -> None:
    """A vertex amid a triangle: its three hinges cannot tell all curvatures; the form is finite, and costs something to lift."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 0]])
    mesh = SimpleNamespace(vertices=corners, faces=np.array([[0, 1, 3], [1, 2, 3], [2, 0, 3]]))
    t = EnergyTables(ub.ShellBending(1.0, 0.3).stencils(mesh), 4)
    lifted = corners + np.array([0.0, 0.0, 1e-3]) * (np.arange(4) == 3)[:, None]
    assert 1e-6 < t.evaluate(lifted) < 1e-3  # κ ≈ 1e-2 … 1 over an area of ½


def test_edges_of_three_triangles_have_no_hinge() -> None:
    """Leaves of a book bend freely about their spine."""
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, -1, 0], [0.5, 0, 1]])
    mesh = SimpleNamespace(vertices=vertices, faces=np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]]))
    assert [len(s.index) for s in ub.ShellBending(1.0, 0.3).stencils(mesh)] == [0]
