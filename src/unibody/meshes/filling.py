"""Tetrahedra within a surface, by fTetWild (Hu et al. 2020), which the extra `tetrahedra` installs as wildmeshing (MPL 2.0).

Whatever the surface is like, open, doubled or crossing itself, the solid is what its winding number says is inside; its boundary follows
the surface within a tolerance. The tool speaks without end and may take the process down with it, so it runs in one of its own.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.meshes.cage import triangles_of

EDGE, TOLERANCE = 0.05, 1e-3
"""Of the surface's diagonal: edges, and how far the boundary may be from it."""
PROGRAM = """
import sys
import numpy as np
import wildmeshing
given = np.load(sys.argv[1])
tool = wildmeshing.Tetrahedralizer(max_threads=1, epsilon=float(given["tolerance"]), edge_length_r=float(given["edge"]))
tool.set_mesh(given["vertices"], given["faces"])
tool.tetrahedralize()
vertices, tets = tool.get_tet_mesh()[:2]
np.savez(sys.argv[2], vertices=vertices, tets=tets)
"""


def fill_tets(surface: Any, edge: Any = None, tolerance: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and tetrahedra within a surface; lengths in metres."""
    if find_spec("wildmeshing") is None:
        remedy = "pip install 'unibody[tetrahedra]', or take TetMesh.cage, which needs nothing"
        raise ModelError(f"TetMesh.fill: wildmeshing, which fills surfaces, is not installed; {remedy}")
    x, faces = triangles_of(surface, "TetMesh.fill")
    diagonal = float(np.linalg.norm(np.ptp(x[np.unique(faces)], axis=0)))
    length, apart = _part(edge, EDGE, diagonal, "edge"), _part(tolerance, TOLERANCE, diagonal, "tolerance")
    with TemporaryDirectory() as folder:
        source, target = Path(folder) / "surface.npz", Path(folder) / "solid.npz"
        np.savez(source, vertices=np.asarray(x, float), faces=np.asarray(faces, np.int32), edge=length, tolerance=apart)
        ended = subprocess.run([sys.executable, "-c", PROGRAM, str(source), str(target)], capture_output=True, check=False, cwd=folder)
        if ended.returncode or not target.exists():
            last = ended.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no word"]
            said = f"wildmeshing ended with {ended.returncode} ({last[0][:160]})"
            raise ModelError(f"TetMesh.fill: {said}; mend the surface, or take TetMesh.cage")
        with np.load(target) as found:
            vertices, tets = found["vertices"], found["tets"].astype(np.int64)
    if not len(tets):
        raise ModelError("TetMesh.fill: nothing is within the surface; close it, or take TetMesh.cage")
    used, index = np.unique(tets, return_inverse=True)
    tets = index.reshape(-1, 4)
    D = vertices[used][tets[:, 1:]] - vertices[used][tets[:, :1]]
    turned = np.linalg.det(D) < 0.0
    tets[turned] = tets[turned][:, [0, 2, 1, 3]]
    return vertices[used], tets


def _part(length: Any, usual: float, diagonal: float, word: str) -> float:
    """A length as a part of the diagonal."""
    try:
        part = usual if length is None else float(length) / diagonal
    except (TypeError, ValueError, ZeroDivisionError):
        part = np.nan
    if not 0.0 < part < 1.0:
        raise ModelError(f"TetMesh.fill: {word} {length!r} is no length of this surface; give metres between 0 and {diagonal:.3g}")
    return part
