"""VTK's XML files for ParaView: one .vtu per deformable and state, one per state for all bodies, and a .pvd that lists them by time.

The cells of a deformable are those that it was made of (segments, triangles, tetrahedra with 4 or 10 points), not those of an embedded
surface. Points have `velocity` [m/s] and `contact force` [N] where the solver tells them; cells have `strain`, the principal strains λ − 1,
the largest first, and `largest strain`, the one that is largest in size. Bodies are their visible shapes in triangles, with `body`, the
number of the body. Arrays are base64 of the number of bytes and the bytes; numbers are double precision, little endian.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from unibody.errors import ModelError
from unibody.meshes.strain import principal_strains
from unibody.model.deformable import DeformableInfo
from unibody.simulation import Recording
from unibody.simulation.whole_file import remedy, whole_file
from unibody.view.look import Look
from unibody.view.reel import Reel, chosen_rows
from unibody.view.soft import largest_in_size

LINE, TRIANGLE, TETRA, QUADRATIC_TETRA = 3, 5, 10, 24
"""VTK's numbers of cells."""
TYPES = {"<f8": "Float64", "<i8": "Int64", "|u1": "UInt8"}
VTK_FILE = '<?xml version="1.0"?>\n<VTKFile type="{}" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'


@dataclass(frozen=True)
class Grid:
    """One .vtu file: points (n, 3), cells (m, k) of one kind, and arrays by name at points and cells."""

    points: np.ndarray
    cells: np.ndarray
    kind: int
    at_points: Mapping[str, np.ndarray]
    at_cells: Mapping[str, np.ndarray]

    def text(self) -> str:
        m, k = self.cells.shape
        out = [VTK_FILE.format("UnstructuredGrid"), f'<UnstructuredGrid><Piece NumberOfPoints="{len(self.points)}" NumberOfCells="{m}">\n']
        out += ["<Points>\n", _array("points", self.points), "</Points>\n<Cells>\n", _array("connectivity", self.cells.ravel())]
        out += [_array("offsets", k * np.arange(1, m + 1)), _array("types", np.full(m, self.kind, np.uint8)), "</Cells>\n"]
        for place, arrays in (("PointData", self.at_points), ("CellData", self.at_cells)):
            out += [f"<{place}>\n", *(_array(name, values) for name, values in arrays.items()), f"</{place}>\n"]
        return "".join([*out, "</Piece></UnstructuredGrid>\n</VTKFile>\n"])


def write_vtu(recording: Recording, path: str | Path, *, fps: float | None = None) -> Path:
    """Write all states, or `fps` per second of the recording's time: `a.pvd` with its files in the folder `a` beside it; of another name, a
    folder, `folder/folder.pvd` and its files in `folder/data`. The path of the .pvd file."""
    given = Path(path)
    listed, folder = (given, given.with_suffix("")) if given.suffix.lower() == ".pvd" else (given / f"{given.name}.pvd", given / "data")
    if not len(recording):
        raise ModelError("the recording is empty, so there is nothing to write; run the simulation first")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lines = []
        for time, part, name, file_name, grid in _series(recording, fps):
            _write(folder / file_name, grid.text())
            there = f"{folder.name}/{file_name}"
            lines.append(f'<DataSet timestep="{time!r}" part="{part}" name={quoteattr(name)} file={quoteattr(there)}/>\n')
        _write(listed, VTK_FILE.format("Collection") + "<Collection>\n" + "".join(lines) + "</Collection>\n</VTKFile>\n")
    except OSError as error:
        raise ModelError(f"'{listed}' cannot be written ({error.strerror}); {remedy(error)}") from None
    return listed


def _series(recording: Recording, fps: float | None) -> Iterator[tuple[float, int, str, str, Grid]]:
    """Time, number and name of a part, name of the file, and what is in it."""
    model, rows = recording.model, chosen_rows(recording.t, fps)
    reel = Reel.of(recording, fps)
    digits = len(str(len(rows) - 1))
    names = [d.name for d in model.deformables]
    for part, d in enumerate(model.deformables):
        for k, row in enumerate(rows):
            seen = recording.observations[row]
            told = {"velocity": seen.vertex_velocities, "contact force": seen.vertex_contacts}
            grid = _deformable(d, reel.x[k, d.vertices], {name: x[d.vertices] for name, x in told.items() if x is not None})
            yield float(reel.t[k]), part, d.name, _file_name(part, d.name, k, digits), grid
    if any(group.kind != "plane" for group in reel.look.solids):
        R, p = reel.placed
        for k in range(len(rows)):
            yield float(reel.t[k]), len(names), "bodies", _file_name(len(names), "bodies", k, digits), _bodies(reel.look, R[k], p[k])


def _deformable(d: DeformableInfo, x: np.ndarray, at_points: Mapping[str, np.ndarray]) -> Grid:
    cells = next(getattr(d.mesh, name) for name in ("tets", "faces", "edges") if hasattr(d.mesh, name))
    kind = {2: LINE, 3: TRIANGLE, 4: TETRA, 10: QUADRATIC_TETRA}[cells.shape[1]]
    strain = principal_strains(d.mesh, x)
    return Grid(x, cells, kind, at_points, {"strain": strain, "largest strain": largest_in_size(strain)})


def _bodies(look: Look, R: np.ndarray, p: np.ndarray) -> Grid:
    """Triangles of all visible shapes but planes, which have no end."""
    points, faces, of, n = [], [], [], 0
    for group in look.solids:
        if group.kind != "plane":
            R_WS, p_WS = group.placed(R, p)
            x = np.einsum("nij,nvj->nvi", R_WS, group.scale[:, None, :] * group.vertices) + p_WS[:, None, :]
            V = len(group.vertices)
            points.append(x.reshape(-1, 3))
            faces.append((group.faces + n + V * np.arange(len(group))[:, None, None]).reshape(-1, 3))
            of.append(np.repeat(group.body, len(group.faces)))
            n += V * len(group)
    return Grid(np.concatenate(points), np.concatenate(faces), TRIANGLE, {}, {"body": np.concatenate(of)})


def _file_name(part: int, name: str, k: int, digits: int) -> str:
    """The part's number makes it unique, whatever the name is."""
    return f"{part}-{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}-{k:0{digits}d}.vtu"


def _array(name: str, values: np.ndarray) -> str:
    kind = "<f8" if values.dtype.kind == "f" else "|u1" if values.dtype == np.uint8 else "<i8"
    data = np.ascontiguousarray(values, kind)
    text = base64.b64encode(np.array(data.nbytes, "<u8").tobytes() + data.tobytes()).decode("ascii")
    width = f' NumberOfComponents="{data.shape[1]}"' if data.ndim > 1 else ""
    return f'<DataArray type="{TYPES[kind]}" Name="{name}"{width} format="binary">{text}</DataArray>\n'


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode("utf-8"))
