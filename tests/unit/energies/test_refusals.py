"""Constants and meshes that cannot be are refused in one line, which names the element, the value and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import unibody as ub

TRIANGLE = SimpleNamespace(vertices=np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), faces=np.array([[0, 1, 2]]))
STEEP = SimpleNamespace(vertices=TRIANGLE.vertices[:, [2, 0, 1]], faces=TRIANGLE.faces)
LINE = SimpleNamespace(vertices=np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]]), edges=np.array([[0, 1], [1, 2]]), radius=0.1, closed=False)


def tets(*corners: int, flat: bool = False) -> Any:
    vertices = TRIANGLE.vertices * ((1.0, 1.0, 0.0) if flat else (1.0, 1.0, 1.0))
    return SimpleNamespace(vertices=vertices, tets=np.array([[0, 1, 2, 3], list(corners)]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ub.NeoHookean(1e5, 0.5), r"NeoHookean poisson: 0.5 is not between -1 and 0.5; .*\(0.49 keeps volume nearly\)"),
        (lambda: ub.CoRotated(1e5, -1.0), "CoRotated poisson: -1 is not between -1 and 0.5"),
        (lambda: ub.StVK(0.0, 0.3), "StVK young: 0.0 is not positive; give a number above 0"),
        (lambda: ub.StVK(1.0, 0.3, damping=-1.0), "StVK damping: -1.0 is below 0"),
        (lambda: ub.Fabric(1e5, 0.3, -1e-3), "Fabric thickness: -0.001 is not positive"),
        (lambda: ub.Fabric(1e5, 1.0, 1e-3), "Fabric poisson: 1 is not between -1 and 1"),
        (lambda: ub.Fabric(1e5, 0.3, 1e-3, convention="hinge"), "Fabric convention: 'hinge' is not known; give one of plate, c-ipc"),
        (lambda: ub.Fabric(1e5, 0.3, 1e-3, strain_limit=0.0), "Fabric strain_limit: 0.0 is not positive"),
        (lambda: ub.Fabric(1e5, 0.3, 1e-3, bending=-1.0), "Fabric bending: -1.0 is below 0"),
        (lambda: ub.Fabric(1e5, 0.5, 1e-3, warp=1e3), "WovenMembrane poisson: 0.5 with these moduli gives energy away; give less than 0.1"),
        (lambda: ub.RodMaterial("stiff"), "RodMaterial young: 'stiff' is not a number"),
        (lambda: ub.RodMaterial(1e6, twist="yes"), "RodMaterial twist: .yes. is neither True nor False"),
        (lambda: ub.NeoHookean(1e5, 0.3).stencils(tets(0, 2, 1, 3)), "NeoHookean: tet 1 has the volume -0.167 m³ at rest; swap two"),
        (lambda: ub.NeoHookean(1e5, 0.3).stencils(tets(0, 1, 2, 3, flat=True)), "NeoHookean: tet 0 has the volume 0 m³ at rest; mend"),
        (lambda: ub.StVK(1e5, 0.3).stencils(SimpleNamespace(vertices=np.eye(3), tets=np.zeros((2, 5)))), r"StVK: tets of shape \(2, 5\)"),
        (
            lambda: ub.Membrane(1e5, 0.3, 1e-3).stencils(
                SimpleNamespace(vertices=TRIANGLE.vertices, faces=np.array([[0, 1, 2], [0, 1, 1]]))
            ),
            "Membrane: triangle 1 has the area 0 m² at rest; mend the mesh",
        ),
        (lambda: ub.Fabric(1e5, 0.3, 1e-3, warp=1e4).stencils(STEEP), "WovenMembrane: triangle 0 is perpendicular to x .* flat coord"),
        (lambda: ub.RodMaterial(1e5).stencils(LINE), "RodStretch: edge 0 has no length at rest; put its two vertices apart"),
        (
            lambda: ub.RodBend(1.0).stencils(SimpleNamespace(vertices=TRIANGLE.vertices, edges=np.array([[0, 1], [2, 3]]), closed=False)),
            "RodBend: edge 0 ends at vertex 1, the next begins at 2; give edges in order",
        ),
        (
            lambda: ub.RodBend(1.0).stencils(SimpleNamespace(vertices=TRIANGLE.vertices, edges=np.array([[0, 1], [1, 0]]), closed=False)),
            "RodBend: the rod is folded back on itself at bend 0; round the corner",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ub.ModelError, match=words) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_quadratic_tetrahedra_in_another_order_are_refused() -> None:
    """Gmsh's last two middles are those of 23 and 13."""
    edges = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
    X = TRIANGLE.vertices
    vertices = np.concatenate([X, [0.5 * (X[a] + X[b]) for a, b in edges]])
    right, wrong = ([0, 1, 2, 3, 4, 5, 6, 7, *last] for last in ((8, 9), (9, 8)))
    ub.StVK(1e5, 0.3).stencils(SimpleNamespace(vertices=vertices, tets=np.array([right])))
    with pytest.raises(ub.ModelError, match="StVK: tet 0 has the volume .* middle vertices are those of the edges 01, 12, 02, 03, 13, 23"):
        ub.StVK(1e5, 0.3).stencils(SimpleNamespace(vertices=vertices, tets=np.array([wrong])))
