"""Series for ParaView, read back as VTK reads them: points, cells and arrays are those of the recording."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import unibody as ub
from unibody.errors import ModelError

sys.path.insert(0, str(Path(__file__).parents[1] / "simulation"))
from test_recorded_deformables import recording

TYPES = {"Float64": "<f8", "Int64": "<i8", "UInt8": "u1"}
SIZES = {3: 2, 5: 3, 10: 4, 24: 10}
"""Points of VTK's lines, triangles and tetrahedra."""


class Piece:
    """A .vtu file read anew."""

    def __init__(self, path: Path):
        root = ElementTree.parse(path).getroot()
        assert root.attrib == {"type": "UnstructuredGrid", "version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64"}
        piece = root.find("UnstructuredGrid/Piece")
        assert piece is not None
        (self.points,) = arrays(piece, "Points").values()
        cells = arrays(piece, "Cells")
        assert len(self.points) == int(piece.attrib["NumberOfPoints"]) and len(cells["types"]) == int(piece.attrib["NumberOfCells"])
        (self.kind,) = set(cells["types"].tolist())
        size = SIZES[self.kind]
        assert np.array_equal(cells["offsets"], size * np.arange(1, len(cells["types"]) + 1))
        self.cells = cells["connectivity"].reshape(-1, size)
        self.at_points, self.at_cells = arrays(piece, "PointData"), arrays(piece, "CellData")
        assert all(len(x) == len(self.points) for x in self.at_points.values())
        assert all(len(x) == len(self.cells) for x in self.at_cells.values())


def arrays(piece: Any, place: str) -> dict[str, np.ndarray]:
    out = {}
    for element in piece.find(place):
        assert element.attrib["format"] == "binary"
        data = base64.b64decode(element.text)
        assert int(np.frombuffer(data[:8], "<u8")[0]) == len(data) - 8
        values = np.frombuffer(data[8:], TYPES[element.attrib["type"]])
        width = int(element.attrib.get("NumberOfComponents", 1))
        out[element.attrib["Name"]] = values.reshape(-1, width) if "NumberOfComponents" in element.attrib else values
    return out


def series(pvd: Path) -> dict[str, list[tuple[float, Piece]]]:
    """Times and pieces by the name of the part, in the order of the file."""
    root = ElementTree.parse(pvd).getroot()
    assert root.attrib["type"] == "Collection"
    out: dict[str, list[tuple[float, Piece]]] = {}
    parts: dict[str, set[str]] = {}
    for item in root.findall("Collection/DataSet"):
        out.setdefault(item.attrib["name"], []).append((float(item.attrib["timestep"]), Piece(pvd.parent / item.attrib["file"])))
        parts.setdefault(item.attrib["name"], set()).add(item.attrib["part"])
    assert all(len(numbers) == 1 for numbers in parts.values()) and len(set.union(*parts.values())) == len(parts)
    return out


def test_everything_is_read_back_as_it_was_recorded(tmp_path):
    rec = recording()
    path = rec.to_vtu(tmp_path / "film.pvd")
    assert path == tmp_path / "film.pvd"
    found = series(path)
    kinds = {"flag": (5, "faces"), "rope": (3, "edges"), "block": (24, "tets"), "lid": (5, "faces")}
    assert set(found) == {*kinds, "bodies"}
    for name, (kind, cells) in kinds.items():
        info = rec.model.deformable(name)
        assert [t for t, _ in found[name]] == rec.t.tolist()
        for k, (_, piece) in enumerate(found[name]):
            assert piece.kind == kind and np.array_equal(piece.cells, getattr(info.mesh, cells))
            assert np.array_equal(piece.points, rec.vertices(name)[k])
            assert np.array_equal(piece.at_points["velocity"], rec.velocities(name)[k])
            assert np.array_equal(piece.at_points["contact force"], rec.contact_forces(name)[k])
            strain = rec.strain(name)[k]
            np.testing.assert_allclose(piece.at_cells["strain"], strain, rtol=0, atol=1e-14)
            largest = piece.at_cells["largest strain"]
            np.testing.assert_allclose(np.abs(largest), np.abs(strain).max(axis=1), rtol=0, atol=1e-14)
            assert (np.abs(strain - largest[:, None]).min(axis=1) < 1e-14).all()


def test_quadratic_tetrahedra_have_their_middles_where_vtk_wants_them(tmp_path):
    """VTK's quadratic tetrahedron: vertices 4 … 9 halve edges 01, 12, 02, 03, 13, 23."""
    rec = recording()
    piece = series(rec.to_vtu(tmp_path / "film.pvd"))["block"][0][1]
    corners = piece.points[piece.cells]
    for k, (i, j) in enumerate(((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))):
        np.testing.assert_allclose(corners[:, 4 + k], 0.5 * (corners[:, i] + corners[:, j]), atol=1e-12)
    a, b, c, d = np.moveaxis(corners[:, :4], 1, 0)
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) > 0.0).all()  # turned as VTK turns them


def test_bodies_are_triangles_where_they_are(tmp_path):
    """The box's corners, and an area of 2 (ab + bc + ca)."""
    b = ub.Builder()
    b.body("brick", shape=ub.Box((0.1, 0.2, 0.3)), X_WB=ub.Pose((0, 0, 1)), V_WB=(3, 2, 1, 0, 0, 1))
    b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((1, 0, 1)))
    b.body("floor", shape=ub.Plane(), kind="static")
    rec = ub.Simulation(b.build(), dt=1e-2).run(0.1)
    found = series(rec.to_vtu(tmp_path / "film.pvd"))
    assert set(found) == {"bodies"} and len(found["bodies"]) == len(rec)
    for k, (_, piece) in enumerate(found["bodies"]):
        own = piece.at_cells["body"] == rec.model.body("brick")
        assert set(piece.at_cells["body"]) == {rec.model.body("brick"), rec.model.body("ball")}
        corners = np.unique(np.round(piece.points[piece.cells[own]].reshape(-1, 3), 9), axis=0)
        exact = np.unique(np.round(rec.vertices("brick")[k], 9), axis=0)
        np.testing.assert_allclose(corners, exact, atol=2e-9)
        x = piece.points[piece.cells[own]]
        area = 0.5 * np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1).sum()
        assert area == pytest.approx(2.0 * (0.02 + 0.06 + 0.03), rel=1e-9)


def test_a_folder_and_fewer_frames(tmp_path):
    rec = recording(states=11)
    path = rec.to_vtu(tmp_path / "runs" / "film", fps=5.0)
    assert path == tmp_path / "runs" / "film" / "film.pvd"
    found = series(path)
    np.testing.assert_allclose([t for t, _ in found["flag"]], np.arange(6) * 0.2, atol=1e-12)


def test_names_cannot_leave_the_folder_or_the_quotes(tmp_path):
    from soft_parts import Bars

    b = ub.Builder(gravity=None)
    name = '../<a> "b" & c'
    b.cloth(name, ub.TriMesh.grid((1, 1), 0.5, "regular"), Bars(), 470)
    rec = ub.Simulation(b.build(), "barrier", dt=1e-2).run(0.0)
    found = series(rec.to_vtu(tmp_path / "film.pvd"))
    assert list(found) == [name]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["film", "film.pvd"] and len(list((tmp_path / "film").iterdir())) == 1


def test_what_cannot_be_written_is_said(tmp_path):
    (tmp_path / "film").write_text("in the way")
    with pytest.raises(ModelError, match=r"film.pvd' cannot be written"):
        recording().to_vtu(tmp_path / "film.pvd")
    with pytest.raises(ModelError, match="the recording is empty"):
        recording(states=0).to_vtu(tmp_path / "other.pvd")
