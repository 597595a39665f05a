"""Elastic bodies at rest against closed forms: rubber, rods, cables, columns, bars, plates, roofs and hanging strips.

Numbers are those of the books that the cases name; tolerances come from the order of the discretisation at the mesh of the test.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg as la
from elastic_statics import Statics, box, end_load, line, sheet, stiffness, vertex_areas
from scipy.sparse.linalg import splu

import unibody as ub
from unibody.energies import Stencils
from unibody.energies.base import EXACT, GRADIENT
from unibody.energies.evaluate import EnergyTables

AFFINE = np.array([[1.1, 0.1, 0.05], [-0.05, 0.95, 0.1], [0.02, 0.05, 1.05]])


@pytest.mark.parametrize("order", (1, 2))
@pytest.mark.parametrize("law", (ub.NeoHookean, ub.CoRotated, ub.StVK))
def test_patch_of_a_solid_follows_its_boundary(law: type, order: int) -> None:
    """Inner vertices of an irregular mesh follow the affine map of the boundary, to 1e-10."""
    mesh = box((1.0, 1.0, 1.0), (2, 2, 2), order)
    X = mesh.vertices
    inner = ((X > 1e-9) & (X < 1.0 - 1e-9)).all(axis=1)
    corners = np.arange(len(X)) < 27
    X[inner & corners] += 0.1 * np.random.default_rng(0).standard_normal((int((inner & corners).sum()), 3))
    x = X @ AFFINE.T
    x[inner] += 0.01 * np.random.default_rng(1).standard_normal((int(inner.sum()), 3))
    statics = Statics(law(1e3, 0.3).stencils(mesh), np.repeat(~inner[:, None], 3, axis=1))
    np.testing.assert_allclose(statics.settled(x, np.zeros(X.shape), 1e-12), X @ AFFINE.T, rtol=0.0, atol=1e-10)


def test_patches_of_sheets_and_rods_follow_their_boundary() -> None:
    """Under tension, since sheets that are pushed together buckle."""
    mesh = sheet((1.0, 1.0), (4, 4), "random")
    X = mesh.vertices
    inner = ((X[:, :2] > 1e-9) & (X[:, :2] < 1.0 - 1e-9)).all(axis=1)
    for stencils in (ub.Fabric(1e3, 0.3, 0.05).stencils(mesh), ub.Fabric(1e3, 0.2, 0.05, warp=400.0).stencils(mesh)):
        target = X @ (1.2 * AFFINE.T)
        x = target.copy()
        x[inner] += 0.005 * np.random.default_rng(1).standard_normal((int(inner.sum()), 3))
        settled = Statics(stencils, np.repeat(~inner[:, None], 3, axis=1)).settled(x, np.zeros(X.shape), 1e-12)
        np.testing.assert_allclose(settled, target, rtol=0.0, atol=1e-10)
    rod = line(np.outer([0.0, 0.2, 0.5, 0.6, 1.0], [1.0, 0.0, 0.0]), 0.1)
    fixed = np.zeros((5, 3), bool)
    fixed[[0, -1]] = True
    x = 1.1 * rod.vertices
    x[1:-1] += 0.01
    settled = Statics(ub.RodMaterial(1e3).stencils(rod), fixed).settled(x, np.zeros((5, 3)), 1e-13)
    np.testing.assert_allclose(settled, 1.1 * rod.vertices, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("order", (1, 2))
@pytest.mark.parametrize(("stretch", "transverse", "stress"), [(1.2, 0.928699, 17188.06), (1.5, 0.846028, 36529.45)])
def test_rubber_pulled_along_one_axis(order: int, stretch: float, transverse: float, stress: float, published: Any) -> None:
    """E = 1e5, ν = 0.4; the state is uniform, so any mesh has it; the numbers have seven digits."""
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), order)
    X = mesh.vertices
    fixed = X < 1e-9
    end = X[:, 0] > 1.0 - 1e-9
    fixed[end, 0] = True
    statics = Statics(ub.NeoHookean(1e5, 0.4).stencils(mesh), fixed)
    x = statics.settled(X * (stretch, 1.0, 1.0), np.zeros(X.shape), 1e-12)
    statics.tables.evaluate(x, GRADIENT)
    subject = f"Neo-Hookean rubber stretched to {stretch}"
    published(subject, "transverse stretch", transverse, x[X[:, 1] > 1.0 - 1e-9, 1].mean(), rtol=1e-6)
    published(subject, "nominal stress", stress, statics.tables.gradient.reshape(-1, 3)[end, 0].sum(), rtol=1e-6, unit="Pa")


def elastica(alpha: float, n: int) -> np.ndarray:
    """The tip of a rod of length and rigidity 1, clamped at the middle of its first edge, under a dead load α across it."""
    h = 1.0 / (n - 0.5)
    points = np.outer(h * (np.arange(n + 1) - 0.5), (1.0, 0.0, 0.0))
    rod = line(points, 0.01)
    fixed = np.zeros(points.shape, bool)
    fixed[:2], fixed[:, 2] = True, True
    f = np.zeros(points.shape)
    f[-1, 1] = alpha
    return Statics([*ub.RodStretch(1e5).stencils(rod), *ub.RodBend(1.0).stencils(rod)], fixed).settled(points, f, 1e-10)[-1, :2]


@pytest.mark.parametrize(("alpha", "tip"), [(1, (0.943567, 0.301721)), (2, (0.839358, 0.493457)), (5, (0.612372, 0.713792))])
def test_elastica_under_a_tip_load(alpha: float, tip: tuple[float, float], published: Any) -> None:
    """Bisshopp and Drucker (1945): 0.2 % with 50 edges; twice as many edges leave a quarter of the error (3 or more)."""
    coarse, fine = (np.abs(elastica(alpha, n) - tip).max() for n in (25, 50))
    assert coarse > 3.0 * fine
    published(f"Elastica, P L²/B = {alpha}", "tip / L", tip, elastica(alpha, 50), rtol=2e-3)


def test_catenary_of_a_rope(published: Any) -> None:
    """Length 1.2 over a span of 1, nearly inextensible: 0.2 % with 100 edges, of which the stretch is 1e-5."""
    n = 100
    s = np.linspace(0.0, 1.0, n + 1)
    (stretch,) = ub.RodStretch(1e5).stencils(line(np.outer(1.2 * s, (1.0, 0.0, 0.0)), 0.01))
    x = np.stack([s, 0.0 * s, -1.2 * s * (1.0 - s)], axis=1)
    fixed = np.zeros(x.shape, bool)
    fixed[[0, -1]], fixed[:, 1] = True, True
    f = np.zeros(x.shape)
    f[:, 2] = -1.2 / n
    f[[0, -1], 2] *= 0.5
    statics = Statics([stretch], fixed)
    x = statics.settled(x, f, 1e-8)
    statics.tables.evaluate(x, GRADIENT)
    pull = statics.tables.gradient.reshape(-1, 3)[-1] - f[-1]
    published("Catenary of a rope, length / span 1.2", "sag / span", 0.292344, -x[:, 2].min(), rtol=2e-3)
    published("Catenary of a rope, length / span 1.2", "tension at the end / w", 0.761885, np.linalg.norm(pull), rtol=2e-3)


def buckling_load(statics: Statics, X: np.ndarray, squeezed: np.ndarray, load: float) -> float:
    """Where the matrix, linear in the load, is no longer positive."""
    K = statics.matrix(X).toarray()
    geometric = statics.matrix(squeezed).toarray() - K
    return load / float(la.eigh(-geometric, K, eigvals_only=True).max())


@pytest.mark.parametrize("kind", ("pinned", "clamped"))
def test_euler_buckling_of_a_rod(kind: str, published: Any) -> None:
    """π² B/L² between pins, π² B/4 L² clamped and free: 1 %, second order with 50 edges."""
    n, EA, squeeze = 50, 1e6, 1e-8
    h = 1.0 / n if kind == "pinned" else 1.0 / (n - 0.5)
    X = np.outer(h * np.arange(n + 1) - (0.0 if kind == "pinned" else 0.5 * h), (1.0, 0.0, 0.0))
    rod = line(X, 0.01)
    fixed = np.zeros(X.shape, bool)
    fixed[:, 2], fixed[0] = True, True
    if kind == "pinned":
        fixed[-1, 1] = True
    else:
        fixed[1] = True
    statics = Statics([*ub.RodStretch(EA).stencils(rod), *ub.RodBend(1.0).stencils(rod)], fixed)
    exact = np.pi**2 if kind == "pinned" else np.pi**2 / 4.0
    load = buckling_load(statics, X, X * (1.0 - squeeze, 1.0, 1.0), EA * squeeze)
    published("Euler's column", f"critical load / (B/L²), {kind}", exact, load, rtol=1e-2)


def test_euler_buckling_of_a_strip() -> None:
    """A strip of a sheet between pins, ν = 0: 1 %."""
    mesh = sheet((1.0, 0.1), (24, 2))
    X = mesh.vertices
    fixed = np.zeros(X.shape, bool)
    fixed[:, 1] = True
    fixed[X[:, 0] < 1e-9] = True
    fixed[X[:, 0] > 1.0 - 1e-9, 2] = True
    stencils = [*ub.Membrane(1e6, 0.0, 1e-2).stencils(mesh), *ub.ShellBending(1.0, 0.0).stencils(mesh)]
    squeeze = 1e-7
    load = buckling_load(Statics(stencils, fixed), X, X * (1.0 - squeeze, 1.0, 1.0), 1e4 * squeeze)
    assert load == pytest.approx(np.pi**2, rel=1e-2)


def cantilever(cells: int, order: int, nu: float) -> float:
    """Deflection of a bar of 10 × 1 × 1 under a tip load over Timoshenko's; its root is held along the bar, and sheared by the load."""
    L, E, load = 10.0, 1e6, 1.0
    mesh = box((L, 1.0, 1.0), (10 * cells, cells, cells), order)
    X = mesh.vertices
    root, tip = X[:, 0] < 1e-9, X[:, 0] > L - 1e-9
    fixed = np.zeros(X.shape, bool)
    fixed[root, 0] = True
    fixed[np.argmin(np.linalg.norm(X - (0.0, 0.5, 0.5), axis=1)), 1:] = True
    fixed[np.argmin(np.linalg.norm(X - (0.0, 0.5, 1.0), axis=1)), 1] = True
    share = end_load(mesh, tip)
    f = np.zeros(X.shape)
    f[:, 2] = load * (share - end_load(mesh, root))
    u = Statics(ub.NeoHookean(E, nu).stencils(mesh), fixed).linear(X, f)
    shear = E / (2.0 * (1.0 + nu)) * 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
    return float(share @ u[:, 2]) / (load * L**3 / (3.0 * E / 12.0) + load * L / shear)


def test_linear_tetrahedra_lock_and_unlock_with_order_two() -> None:
    """What a bar is too stiff by falls to a quarter with twice the cells (3 to 5 times, on such coarse meshes)."""
    coarse, fine = (1.0 / cantilever(n, 1, 0.3) - 1.0 for n in (2, 4))
    assert 0.1 < fine < coarse and 3.0 < coarse / fine < 5.0


@pytest.mark.parametrize("nu", (0.3, 0.45))
def test_quadratic_tetrahedra_bend(nu: float, published: Any) -> None:
    subject = "Cantilever of quadratic tetrahedra, 2 cells across"
    published(subject, f"deflection / Timoshenko's, ν = {nu}", 1.0, cantilever(2, 2, nu), rtol=0.02)


def torsion(cells: int, order: int) -> float:
    """The torsion constant of a twisted bar of 2 × 1 × 1 whose ends may warp, over 0.140577 a⁴."""
    nu, E, L, twist = 0.3, 1e6, 2.0, 1e-4
    mesh = box((L, 1.0, 1.0), (2 * cells, cells, cells), order)
    X = mesh.vertices
    X[:, 1:] -= 0.5
    ends = [X[:, 0] < 1e-9, X[:, 0] > L - 1e-9]
    fixed = np.zeros(X.shape, bool)
    fixed[ends[0] | ends[1], 1:] = True
    fixed[np.argmin(np.linalg.norm(X, axis=1)), 0] = True
    u = np.zeros(X.shape)
    u[ends[1], 1], u[ends[1], 2] = -twist * X[ends[1], 2], twist * X[ends[1], 1]
    statics = Statics(ub.NeoHookean(E, nu).stencils(mesh), fixed)
    statics.tables.evaluate(X, EXACT)
    K, moved, free = stiffness(statics.tables), u.ravel(), statics.free
    moved[free] = -splu(K[free][:, free].tocsc()).solve((K @ moved)[free])
    return float(moved @ K @ moved) * L / (E / (2.0 * (1.0 + nu)) * twist**2) / 0.140577


def test_torsion_of_a_square_bar(published: Any) -> None:
    """Linear: the error falls as h² (3 to 5 times with twice the cells). Quadratic: 4 % with 2 cells across, 0.5 % with 4 (order 3)."""
    coarse, fine = (torsion(n, 1) - 1.0 for n in (4, 8))
    assert 0.0 < fine < 0.12 and 3.0 < coarse / fine < 5.0
    published("Torsion of a square bar, quadratic tetrahedra", "J / 0.140577 a⁴, 2 cells", 1.0, torsion(2, 2), rtol=0.04)
    published("Torsion of a square bar, quadratic tetrahedra", "J / 0.140577 a⁴, 4 cells", 1.0, torsion(4, 2), rtol=0.005)


@pytest.mark.parametrize("kind", ("one-diagonal", "rows", "random"))
def test_plate_on_simple_supports(kind: str, published: Any) -> None:
    """0.004062 q a⁴/D at the centre, ν = 0.3: 3 % with 16 cells."""
    mesh = sheet((1.0, 1.0), (16, 16), kind)
    X = mesh.vertices
    fixed = np.ones(X.shape, bool)
    fixed[:, 2] = ((X[:, :2] < 1e-9) | (X[:, :2] > 1.0 - 1e-9)).any(axis=1)
    f = np.zeros(X.shape)
    f[:, 2] = vertex_areas(mesh)
    u = Statics(ub.ShellBending(1.0, 0.3).stencils(mesh), fixed).linear(X, f)
    centre = np.argmin(np.linalg.norm(X - (0.5, 0.5, 0.0), axis=1))
    published(f"Simply supported square plate, {kind}", "deflection / (q a⁴/D)", 0.004062, u[centre, 2], rtol=0.03)


@pytest.mark.parametrize("kind", ("one-diagonal", "rows"))
def test_scordelis_lo_roof(kind: str, published: Any) -> None:
    """0.3024 at the middle of the free edge: 5 % with 32 cells, whose triangles of constant strain are a little too stiff."""
    R, L, half = 25.0, 50.0, np.radians(40.0)
    mesh = sheet((L, 2.0), (32, 32), kind)
    s = mesh.vertices.copy()
    phi = half * (s[:, 1] - 1.0)
    mesh.vertices = np.stack([s[:, 0], R * np.sin(phi), R * np.cos(phi)], axis=1)
    fixed = np.zeros(s.shape, bool)
    fixed[(s[:, 0] < 1e-9) | (s[:, 0] > L - 1e-9), 1:] = True
    fixed[np.argmin(np.linalg.norm(s - (0.5 * L, 1.0, 0.0), axis=1)), 0] = True
    f = np.zeros(s.shape)
    f[:, 2] = -90.0 * vertex_areas(mesh)
    u = Statics(ub.Fabric(4.32e8, 0.0, 0.25).stencils(mesh), fixed).linear(mesh.vertices, f)
    edge = np.argmin(np.linalg.norm(s - (0.5 * L, 0.0, 0.0), axis=1))
    published(f"Scordelis-Lo roof, {kind}", "vertical displacement", 0.3024, -u[edge, 2], rtol=0.05)


def hanging_angle(kind: str, cells: tuple[int, int], weight: float) -> float:
    """[°] of the chord of a strip of length and rigidity 1 that is clamped horizontally and hangs under its weight per area."""
    h = 1.0 / (cells[0] - 0.5)
    mesh = sheet((cells[0] * h, 0.25), cells, kind)
    X = mesh.vertices
    X[:, 0] -= 0.5 * h
    fixed = np.repeat(X[:, :1] < 0.5 * h + 1e-9, 3, axis=1)
    f = np.zeros(X.shape)
    f[:, 2] = -weight * vertex_areas(mesh)
    statics = Statics([*ub.Membrane(1e6, 0.0, 1e-2).stencils(mesh), *ub.ShellBending(1.0, 0.0).stencils(mesh)], fixed)
    x = X
    for share in (0.25, 0.5, 1.0):
        x = statics.settled(x, share * f, 1e-6)
    tip = x[X[:, 0] > X[:, 0].max() - 1e-9].mean(axis=0)
    return float(np.degrees(np.arctan2(-tip[2], tip[0])))


@pytest.mark.parametrize(
    ("direction", "kind", "cells"),
    [("0°", "one-diagonal", (24, 6)), ("45°", "columns", (40, 5)), ("90°", "other-diagonal", (24, 6)), ("equilateral", "columns", (24, 5))],
)
def test_peirce_strip_hangs_alike_in_all_directions_of_the_mesh(direction: str, kind: str, cells: tuple[int, int], published: Any) -> None:
    """Peirce (1930): chord at 41.5° where w L³/B = 8.004; 2 %."""
    loads = [7.7, 8.3]
    weight = np.interp(41.5, [hanging_angle(kind, cells, w) for w in loads], loads, left=0.0, right=np.inf)
    published(f"Peirce's strip, mesh at {direction}", "w L³/B at 41.5°", 8.004, weight, rtol=0.02)


FORMS = {"cylinder along x": (1.0, 0.0, 0.0), "cylinder at 45°": (0.5, 0.5, 0.5), "sphere": (1.0, 1.0, 0.0), "saddle": (1.0, -1.0, 0.0)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ("one-diagonal", "rows"))
def test_inner_triangles_have_the_bending_energy_of_plates(kind: str, form: str) -> None:
    """Of surfaces of constant curvature, away from the edges, on meshes with symmetric hinges: 1 %, for rows that only nearly are
    equilateral."""
    nu, k = 0.3, FORMS[form]
    mesh = sheet((1.0, 1.0), (14, 16), kind)
    (s,) = ub.ShellBending(1.0, nu).stencils(mesh)
    centre = mesh.vertices[s.index[:, :3]].mean(axis=1)
    inner = (np.abs(centre[:, :2] - 0.5) < 0.3).all(axis=1)
    X = mesh.vertices.copy()
    X[:, 2] = 1e-4 * (0.5 * k[0] * X[:, 0] ** 2 + 0.5 * k[1] * X[:, 1] ** 2 + k[2] * X[:, 0] * X[:, 1])
    energy = EnergyTables([Stencils(s.energy, s.index[inner], s.parameters[inner])], len(X)).evaluate(X)
    corners = mesh.vertices[s.index[inner, :3]]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    plate = 0.5e-8 * ((k[0] + k[1]) ** 2 - 2.0 * (1.0 - nu) * (k[0] * k[1] - k[2] ** 2))
    assert energy == pytest.approx(area * plate, rel=0.01)


def test_hinges_of_others_are_as_stiff_as_they_are_there() -> None:
    """W = k θ² 3 l²/(A₁ + A₂) with k = D/2 on a grid: a cylinder along x costs 3 times what a plate does, which is known."""
    mesh = sheet((1.0, 1.0), (40, 40))
    fabric = ub.Fabric(1.0, 0.0, 12.0 ** (1.0 / 3.0), convention="c-ipc")  # D = 1
    (hinges,) = [s for s in fabric.stencils(mesh) if isinstance(s.energy, ub.HingeBending)]
    X = mesh.vertices.copy()
    X[:, 2] = 0.5e-4 * X[:, 0] ** 2
    assert EnergyTables([hinges], len(X)).evaluate(X) == pytest.approx(3.0 * 0.5e-8, rel=0.05)
