"""Consistent masses of deformables: their matrices, frequencies above the continuum's where lumped ones are below, momentum, books."""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.model.text import model_from_text, model_to_text
from unibody.model.vertex_masses import quadratic_shares


def test_the_matrix_of_a_quadratic_tetrahedron_is_the_published_one() -> None:
    """m/420 times 6, 1 between corners, −4 and −6 between a corner and the middles of its own and of other edges, 32, 16 of middles that
    share a corner and 8 of opposite ones (for example Zienkiewicz and Taylor)."""
    edges = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]
    M = 420.0 * quadratic_shares()
    for a in range(4):
        for b in range(4):
            assert M[a, b] == pytest.approx(6.0 if a == b else 1.0)
        for k, edge in enumerate(edges):
            assert M[a, 4 + k] == M[4 + k, a] == pytest.approx(-4.0 if a in edge else -6.0)
    for k, one in enumerate(edges):
        for l, other in enumerate(edges):
            shared = len({*one} & {*other})
            assert M[4 + k, 4 + l] == pytest.approx({2: 32.0, 1: 16.0, 0: 8.0}[shared])


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_a_bar_of_few_edges_swings_with_the_frequency_of_its_masses(mass: str) -> None:
    """n edges of a bar that is held at one end, κ = π/2L, h = L/n: lumped ω² = 2 c² (1 − cos κh)/h², consistent ω² =
    6 c² (1 − cos κh)/(2 + cos κh)h², 2 % apart with three edges; of the continuum κ c."""
    L, n, young, density = 0.3, 3, 1e5, 1000.0
    b = ub.Builder(gravity=None)
    X = np.linspace((0, 0, 0), (L, 0, 0), n + 1)
    kappa, h, c2 = np.pi / (2.0 * L), L / n, young / density
    start = X + np.sin(kappa * X[:, :1]) * (1e-4, 0, 0)
    rod = b.rod("rod", X, 0.01, ub.RodMaterial(young, bending=0.0), density, start=start, mass=mass)
    b.attach(rod.vertices[[0]], b.world)
    cos = np.cos(kappa * h)
    omega = np.sqrt((2.0 * (1.0 - cos) if mass == "lumped" else 6.0 * (1.0 - cos) / (2.0 + cos)) * c2) / h
    period = 2.0 * np.pi / omega
    rec = ub.Simulation(b.build(), ub.solvers.Barrier(rule="bdf2", tolerance=1e-10), dt=period / 400).run(1.3 * period)
    u = rec.vertices("rod")[:, -1, 0] - L
    # zeros at a quarter and at five quarters of a period
    down = np.flatnonzero((u[:-1] > 0.0) & (u[1:] <= 0.0))
    zeros = rec.t[down] + u[down] / (u[down] - u[down + 1]) * rec.dt
    assert np.diff(zeros)[0] == pytest.approx(period, rel=1e-3)  # BDF-2: (ω dt)²/3 = 8e-5


@pytest.mark.parametrize("order", [1, 2])
def test_momenta_of_a_tumbling_solid_are_kept(order: int) -> None:
    """Σ M v to round-off, Σ x × M v to the order of BDF-2, and falls with g."""
    b = ub.Builder()
    b.soft(
        "cube", ub.TetMesh.box((0.1, 0.2, 0.1), (1, 2, 1)), ub.NeoHookean(1e5, 0.3), density=1000, V_WB=(3.0, 1.0, 2.0, 0.5, -0.2, 0.1),
        order=order, mass="consistent",
    )  # fmt: skip
    model = b.build()
    d = model.deformable("cube")
    assert d.mass.sum() == pytest.approx(2.0)
    rec = ub.Simulation(model, ub.solvers.Barrier(rule="bdf2", tolerance=1e-10), dt=2e-3).run(0.1)
    p = rec.momentum
    assert np.abs(p[:, :2] - p[0, :2]).max() < 1e-9
    assert p[-1, 2] == pytest.approx(p[0, 2] - 2.0 * 9.81 * 0.1, rel=1e-9)
    x, Mv = rec.vertices("cube"), d.momenta(rec.velocities("cube"))
    centre = np.einsum("n,tni->ti", d.mass, x) / 2.0
    L = np.cross(x - centre[:, None], Mv).sum(axis=1)
    assert np.abs(L - L[0]).max() < 5e-4 * np.linalg.norm(L[0])  # (ω dt)² = 6e-5 a radian


@pytest.mark.parametrize("held", ["vertices", "body"])
def test_what_shakes_a_bar_feels_its_inertia_and_does_its_work(held: str) -> None:
    """Reactions are the change of all momentum less the weight; books close to second order: both with what is between vertices that are
    free and those whose motion is known."""

    def way(t: float) -> np.ndarray:
        return np.array([0.0, 0.0, 0.02 * (1.0 - np.cos(8.0 * t))])

    left: list[float] = []
    for dt in (8e-3, 4e-3):
        b = ub.Builder()
        bar = b.soft("bar", ub.TetMesh.box((0.2, 0.1, 0.1), (3, 1, 1)), ub.NeoHookean(2e4, 0.3), density=1000, mass="consistent")
        end = bar.vertices[bar.vertices.x[:, 0] < -0.1 + 1e-9]
        x = bar.vertices.x[end.index]
        if held == "vertices":
            name = b.prescribe(end, lambda t, x=x: x + way(t))
        else:
            name = b.attach(end, b.body("arm", kind="kinematic", motion=lambda t: ub.Pose(way(t))))
        model = b.build()
        rec = ub.Simulation(model, ub.solvers.Barrier(rule="bdf2", tolerance=1e-8), dt=dt).run(0.32)
        e = rec.energy
        left.append(np.abs(e.total - e.work - e.total[0]).max() / np.ptp(e.drive_work))
        p = model.deformable("bar").momenta(rec.velocities("bar")).sum(axis=1)
        rate = (p[4:] - p[2:-2]) / (2.0 * dt)
        felt = rec.reaction(name).sum(axis=1)[3:-1] + 2.0 * np.array([0, 0, -9.81])
        assert np.abs(felt - rate).max() < (0.1 if dt > 5e-3 else 0.03) * np.abs(rate).max()
    assert left[1] < 0.02
    assert left[0] > 3.0 * left[1]


def test_words_for_masses_are_checked_and_kept() -> None:
    """Others are refused; files hold the word; solvers that lump say so."""
    b = ub.Builder()
    with pytest.raises(ub.ModelError, match="masses 'heavy' are unknown; give one of lumped, consistent"):
        b.cloth("c", ub.TriMesh.grid((1, 1), 0.5), ub.Fabric(1e5, 0.3, 1e-3), 100, mass="heavy")
    b.cloth("c", ub.TriMesh.grid((1, 1), 0.5), ub.Fabric(1e5, 0.3, 1e-3), 100, mass="consistent")
    model = b.build()
    again = model_from_text(model_to_text(model), "here")
    assert again.deformable("c").inertia is not None
    with pytest.raises(ub.Unsupported, match="'c': material frames, and masses that are not lumped, need solver 'barrier'"):
        ub.Simulation(model, "redmax", dt=0.01)
