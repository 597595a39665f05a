"""Gmsh's .msh, written here byte by byte as its manual says."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import unibody as ub
from unibody.meshes.gmsh import read_msh

X = np.array(
    [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0, 0), (0.5, 0.5, 0), (0, 0.5, 0), (0, 0, 0.5), (0.5, 0, 0.5), (0, 0.5, 0.5)]
)
"""A quadratic tetrahedron in our order: middles of 01 12 02 03 13 23."""
TAGS = [11, 7, 3, 20, 5, 6, 8, 9, 30, 31]
GMSH = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]
"""Gmsh has the middle of 23 before that of 13."""


def text_41() -> bytes:
    nodes = "\n".join(map(str, TAGS)) + "\n" + "\n".join(" ".join(map(str, x)) for x in X)
    cell = " ".join(str(TAGS[k]) for k in GMSH)
    return (
        f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 10 3 31\n3 1 0 10\n{nodes}\n$EndNodes\n"
        f"$Elements\n2 2 1 2\n2 1 2 1\n1 11 3 7\n3 1 11 1\n2 {cell}\n$EndElements\n"
    ).encode()


def binary_41() -> bytes:
    nodes = struct.pack("<4Q3iQ10Q", 1, 10, 3, 31, 3, 1, 0, 10, *TAGS) + X.astype("<f8").tobytes()
    cells = struct.pack("<4Q3iQ4Q", 2, 2, 1, 2, 2, 1, 2, 1, 1, 11, 3, 7) + struct.pack("<3iQ11Q", 3, 1, 11, 1, 2, *(TAGS[k] for k in GMSH))
    head = b"$MeshFormat\n4.1 1 8\n" + struct.pack("<i", 1) + b"\n$EndMeshFormat\n"
    return head + b"$Nodes\n" + nodes + b"\n$EndNodes\n$Elements\n" + cells + b"\n$EndElements\n"


def text_22() -> bytes:
    nodes = "\n".join(f"{tag} {x} {y} {z}" for tag, (x, y, z) in zip(TAGS, X, strict=True))
    cell = " ".join(str(TAGS[k]) for k in GMSH)
    return (
        f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n{nodes}\n$EndNodes\n"
        f"$Elements\n2\n1 2 2 0 1 11 3 7\n2 11 3 0 1 4 {cell}\n$EndElements\n"
    ).encode()


def binary_22() -> bytes:
    nodes = b"".join(struct.pack("<i3d", tag, *x) for tag, x in zip(TAGS, X, strict=True))
    cells = struct.pack("<3i6i", 2, 1, 2, 1, 0, 1, 11, 3, 7) + struct.pack("<3i13i", 11, 1, 2, 2, 0, 1, *(TAGS[k] for k in GMSH))
    head = b"$MeshFormat\n2.2 1 8\n" + struct.pack("<i", 1) + b"\n$EndMeshFormat\n"
    return head + b"$Nodes\n10\n" + nodes + b"\n$EndNodes\n$Elements\n2\n" + cells + b"\n$EndElements\n"


@pytest.mark.parametrize("made", [text_41, binary_41, text_22, binary_22])
def test_points_and_cells_of_every_version(tmp_path, made):
    path = tmp_path / "one.msh"
    path.write_bytes(made())
    x, cells = read_msh(path)
    assert np.array_equal(x, X)
    assert cells["tetra10"].tolist() == [list(range(10))] and cells["triangle"].tolist() == [[0, 2, 1]]
    mesh = ub.TetMesh.load(path)
    assert mesh.order == 2 and mesh.volume == pytest.approx(1.0 / 6.0)


def test_files_that_are_not_as_they_say(tmp_path):
    path = tmp_path / "one.msh"
    for data, said in (
        (text_41()[:-40], "cut off"),
        (text_41().replace(b"1 11 3 7", b"1 11 3 77"), "vertex 77"),
        (text_41().replace(b"3 1 11 1", b"3 1 99 1"), "a cell of kind 99"),
        (binary_41().replace(struct.pack("<i", 1) + b"\n$End", struct.pack(">i", 1) + b"\n$End"), "other byte order"),
        (text_41().replace(b"4.1", b"4.0"), "version '4.0'; export it as Gmsh 2.2 or 4.1"),
    ):
        path.write_bytes(data)
        with pytest.raises(ub.ModelError, match=said):
            read_msh(path)


@pytest.mark.parametrize("old, new", [("\n1\n", "\n1.5\n"), ("\n2\n", "\nnan\n"), ("\n3\n", "\n1e300\n"), ("4.1 0 8", "4.1")])
def test_numbers_that_are_not_whole_are_refused_in_one_line(tmp_path, old, new):
    path = tmp_path / "odd.msh"
    text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 0 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"
    text += "$Elements\n1 1 1 1\n3 0 4 1\n1 1 2 3 4\n$EndElements\n"
    path.write_text(text)
    assert len(ub.TetMesh.load(path).tets) == 1
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ub.ModelError, match=r"not readable|version"):
        ub.TetMesh.load(path)
