"""How far tetrahedra may go before they lose their volume: against J sampled along the way, and ways that come back upright."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import unibody as ub
from unibody.energies.upright import LEFT, largest_upright_step

EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
LAW = ub.NeoHookean(1e3, 0.3)


def tetrahedron(rng: np.random.Generator, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Places at rest, and parameters of its stencil."""
    X = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float) + 0.1 * rng.standard_normal((4, 3))
    if order == 2:
        X = np.concatenate([X, [0.5 * (X[a] + X[b]) for a, b in EDGES]])
    stencil = LAW.stencils(SimpleNamespace(vertices=X, tets=np.arange(len(X))[None]))[0]
    return X, stencil


def volumes(stencil: ub.energies.Stencils, x: np.ndarray) -> list[float]:
    """J at its points."""
    return [float(np.linalg.det(x.T @ g)) for g, _ in stencil.energy.points(stencil.parameters[0])]


@pytest.mark.parametrize("order", [1, 2])
def test_it_ends_where_the_first_volume_is_nearly_gone(order: int) -> None:
    """Of 100 samples along the way all before it keep more than a hundredth of J, and just beyond it one does not; 1 where none does."""
    rng, bounded = np.random.default_rng(order), 0
    for _ in range(150):
        X, stencil = tetrahedron(rng, order)
        x, p = X + 0.03 * rng.standard_normal(X.shape), 1.5 * rng.standard_normal(X.shape)
        t = largest_upright_step(stencil.index, stencil.parameters, x.ravel(), p.ravel(), 1.0)
        begun = np.array(volumes(stencil, x))
        left = np.array([np.array(volumes(stencil, x + s * t * p)) / begun for s in np.linspace(0.0, 1.0, 100)])
        assert left.min() > LEFT - 1e-9
        if t < 1.0:
            bounded += 1
            beyond = np.array(volumes(stencil, x + (t + 1e-6) * p)) / begun
            assert beyond.min() < LEFT + 1e-9
    assert 50 < bounded


def test_a_way_through_a_point_and_on_is_stopped_at_the_point() -> None:
    """All corners through the middle, to twice as far on the other side but for a mirror that makes it upright there: J(1) > 0, where a
    look at the end sees nothing."""
    X, stencil = tetrahedron(np.random.default_rng(5), 1)
    middle = X.mean(axis=0)
    turned = middle + (X - middle) * (-1.0, -1.0, 1.0)  # half a turn, by straight ways through a line
    p = turned - X
    assert volumes(stencil, X + p)[0] == pytest.approx(1.0)
    t = largest_upright_step(stencil.index, stencil.parameters, X.ravel(), p.ravel(), 1.0)
    assert t == pytest.approx(0.5 * (1.0 - np.sqrt(LEFT)), abs=1e-9)  # J = (1 − 2 t)²


def test_laws_that_may_be_inside_out_are_not_stopped() -> None:
    assert ub.NeoHookean.upright and not ub.StVK.upright and not ub.CoRotated.upright
    quadratic = LAW.stencils(ub.TetMesh.box((1, 1, 1), (1, 1, 1)).quadratic())[0].energy
    assert quadratic.upright
