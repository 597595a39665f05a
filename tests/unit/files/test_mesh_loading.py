"""Mesh files: units, poses, colours, mirrors; nothing beside the file is opened but an OBJ's colours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.files.mesh_loading import load_mesh

pytest.importorskip("trimesh")
pytest.importorskip("collada")

VERTICES = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
TETRAHEDRON = VERTICES + "usemtl paint\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON>
  <newparam sid="s"><surface type="2D"><init_from>lost</init_from></surface></newparam>
  <newparam sid="t"><sampler2D><source>s</source></sampler2D></newparam>
  <technique sid="common"><lambert><diffuse><texture texture="t" texcoord="UV"/></diffuse></lambert></technique>
</profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="pa" count="12">0 0 0 100 0 0 0 100 0 0 0 100</float_array>
    <technique_common><accessor source="#pa" count="4" stride="3">
      <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <triangles count="4" material="m"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><translate>0 0 500</translate><instance_geometry url="#g">
  <bind_material><technique_common><instance_material symbol="m" target="#m"/></technique_common></bind_material>
</instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_colours_of_an_obj_without_its_textures(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, "t.mtl", "newmtl paint\nKd 1 0.5 0\nmap_Kd ../../secret.png\n")
    (part,) = load_mesh(written(tmp_path, "t.obj", "mtllib t.mtl\n" + TETRAHEDRON), "mesh")
    assert part.colour == pytest.approx((1.0, 0.5, 0.0), abs=0.005)
    assert isinstance(part.solid(), ub.Mesh) and part.solid().volume == pytest.approx(1.0 / 6.0)
    (plain,) = load_mesh(written(tmp_path, "u.obj", "mtllib ../t.mtl\n" + TETRAHEDRON), "mesh")
    assert plain.colour is None and capfd.readouterr() == ("", "")


def test_mirrored_meshes_are_not_inside_out(tmp_path: Path) -> None:
    (part,) = load_mesh(written(tmp_path, "t.obj", TETRAHEDRON), "mesh")
    assert part.solid((-1.0, 2.0, 3.0)).volume == pytest.approx(1.0)


def test_dae_units_poses_and_lost_textures(tmp_path: Path) -> None:
    """100 cm are 1 m, the node lifts by 5 m, and a texture that is not there turns grey and takes no triangle with it."""
    (part,) = load_mesh(written(tmp_path, "t.dae", DAE), "mesh")
    assert part.solid().volume == pytest.approx(1.0 / 6.0)
    np.testing.assert_allclose(part.vertices.max(axis=0), (1.0, 1.0, 6.0))
    assert part.colour == pytest.approx((0.7, 0.7, 0.7), abs=0.005)


def test_a_triangle_is_open(tmp_path: Path) -> None:
    (part,) = load_mesh(written(tmp_path, "t.obj", VERTICES + "f 1 2 3\n"), "mesh")
    assert isinstance(part.solid(), ub.OpenMesh)


@pytest.mark.parametrize("name, text, message", [
    ("a.stl", "solid x\nendsolid x\n", "no triangles"), ("a.obj", "v 0 0 0\n", "a.obj'"), ("a.dae", "<COLLADA>", "not well-formed"),
    ("a.ply", "ply\nnonsense\n", "cannot be read"), ("a.txt", "", "ending '.txt' are not read"),
    ("b.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "b.obj'"),
])  # fmt: skip
def test_broken_files_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(ub.ModelError, match=f"mesh of 'x': .*{message}"):
        load_mesh(written(tmp_path, name, text), "mesh of 'x'")
