"""Surfaces filled with tetrahedra by wildmeshing, where it is installed, and what is said where it is not."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import unibody as ub
from unibody.meshes import filling

installed = pytest.mark.skipif(find_spec("wildmeshing") is None, reason="the extra tetrahedra is not installed")


@installed
def test_a_box_is_filled_to_its_faces() -> None:
    """Its volume, boundary and middle to the tolerance; edges of about the length asked for."""
    mesh = ub.TetMesh.fill(ub.Box((1.0, 0.5, 0.25)), edge=0.25, tolerance=1e-3)
    area = 2.0 * (0.5 + 0.25 + 0.125)
    assert mesh.volume == pytest.approx(0.125, abs=1e-3 * area)
    assert np.abs(np.abs(mesh.vertices).max(axis=0) - (0.5, 0.25, 0.125)).max() < 1e-3
    ends = mesh.vertices[mesh.tets[:, [0, 1, 2, 3]]]
    lengths = np.linalg.norm(ends[:, [0, 0, 0, 1, 1, 2]] - ends[:, [1, 2, 3, 2, 3, 3]], axis=2)
    assert 0.1 < np.median(lengths) < 0.5
    model = ub.Builder()
    model.soft("block", mesh, ub.NeoHookean(1e5, 0.3), density=1000)
    assert model.build().deformable("block").mass.sum() == pytest.approx(125.0, rel=0.02)


@installed
def test_a_surface_with_a_hole_is_filled() -> None:
    """An octahedron without one of its eight faces."""
    x = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float)
    faces = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5]])
    mesh = ub.TetMesh.fill(ub.TriMesh(x, faces), edge=0.8, tolerance=0.01)
    assert mesh.volume == pytest.approx(4.0 / 3.0, rel=0.15)


def test_where_it_is_missing_it_is_said_what_to_install(monkeypatch) -> None:
    monkeypatch.setattr(filling, "find_spec", lambda name: None)
    with pytest.raises(ub.ModelError, match=r"wildmeshing, .* not installed; pip install 'unibody\[tetrahedra\]', or take TetMesh.cage"):
        ub.TetMesh.fill(ub.Box((1, 1, 1)))


@pytest.mark.parametrize("edge", [0.0, -1.0, 100.0, "long", np.nan])
def test_lengths_that_are_none_are_refused(monkeypatch, edge) -> None:
    monkeypatch.setattr(filling, "find_spec", lambda name: True)
    with pytest.raises(ub.ModelError, match="TetMesh.fill: edge .* is no length of this surface"):
        ub.TetMesh.fill(ub.Box((1, 1, 1)), edge=edge)


def test_a_tool_that_ends_badly_is_told(monkeypatch) -> None:
    monkeypatch.setattr(filling, "find_spec", lambda name: True)
    monkeypatch.setattr(filling, "PROGRAM", "import sys; sys.exit('out of ideas')")
    with pytest.raises(ub.ModelError, match=r"wildmeshing ended with 1 \(out of ideas\); mend the surface"):
        ub.TetMesh.fill(ub.Box((1, 1, 1)))
