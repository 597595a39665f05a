"""Geoms of MJCF: MuJoCo computes masses from them, and so do our shapes; rays that it shoots hit our terrain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unibody as ub
from unibody.files.mjcf import load_mjcf
from unibody.shapes import combine

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.peers

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
OPEN = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n"
SOLIDS = {
    "sphere": '<geom type="sphere" size=".2" pos=".1 .2 .3"/>',
    "box": '<geom type="box" size=".1 .2 .3" pos=".1 .2 .3" euler="10 20 30"/>',
    "capsule": '<geom type="capsule" size=".1 .2" pos=".1 .2 .3" euler="10 20 30"/>',
    "capsule from to": '<geom type="capsule" size=".1" fromto="0 0 0 .3 .4 1.2"/>',
    "cylinder": '<geom type="cylinder" size=".1 .2" pos=".1 .2 .3" euler="10 20 30"/>',
    "ellipsoid": '<geom type="ellipsoid" size=".1 .2 .3" pos=".1 .2 .3" euler="10 20 30"/>',
    "mesh": '<geom type="mesh" mesh="t" pos=".1 .2 .3" euler="10 20 30"/>',
    "mesh, scaled and mirrored": '<geom type="mesh" mesh="s" pos=".1 .2 .3" euler="10 20 30"/>',
    "several": '<geom type="box" size=".1 .2 .3" pos="1 0 0"/><geom size=".3" pos="0 1 0"/>',
}


def read(tmp_path: Path, text: str) -> tuple[Any, ub.scenes.Scene]:
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco>{text}</mujoco>")
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    (tmp_path / "open.obj").write_text(OPEN)
    return mujoco.MjModel.from_xml_path(str(path)), load_mjcf(path)


@pytest.mark.parametrize("geoms", SOLIDS.values(), ids=SOLIDS)
def test_shapes_weigh_what_mujoco_says(tmp_path, geoms: str) -> None:
    asset = '<asset><mesh name="t" file="t.obj"/><mesh name="s" file="t.obj" scale="1 -2 .5"/></asset>'
    m, scene = read(tmp_path, f'{asset}<worldbody><body name="b"><freejoint/>{geoms}</body></worldbody>')
    body = scene.model.bodies[scene.model.body("b")]
    found = combine([shape.mass_properties(1000.0) for shape in body.shapes])
    assert len(body.shapes) == m.ngeom and all(shape.solid and shape.visible for shape in body.shapes)
    np.testing.assert_allclose(found.mass, m.body_mass[1], rtol=1e-6)  # MuJoCo keeps meshes in single precision
    np.testing.assert_allclose(found.com, body.com, atol=1e-7)
    np.testing.assert_allclose(found.inertia, body.inertia, atol=1e-6 * np.abs(body.inertia).max())


def test_what_is_seen_and_what_is_touched(tmp_path) -> None:
    _, scene = read(
        tmp_path,
        """<asset><mesh file="t.obj"/><mesh file="open.obj" inertia="shell"/><material name="gold" rgba=".9 .8 .1 .5"/></asset>
        <worldbody><body name="b"><freejoint/>
        <geom size=".1" rgba="1 0 0 1"/><geom size=".2" material="gold"/><geom size=".3" group="3"/><geom size=".4" rgba="0 0 0 0"/>
        <geom type="mesh" mesh="t" contype="0" conaffinity="0"/><geom type="mesh" mesh="open"/><geom type="mesh" mesh="t"/>
        <geom name="ghost" size=".5" group="4" contype="0" conaffinity="0"/></body></worldbody>""",
    )
    shapes = scene.model.bodies[scene.model.body("b")].shapes
    kinds = [(type(s.shape).__name__, s.visible, s.solid) for s in shapes]
    spheres = [("Sphere", True, True), ("Sphere", True, True), ("Sphere", False, True), ("Sphere", False, True)]
    open_one = [("Mesh", False, True), ("OpenMesh", True, False)]  # its hull is touched
    assert kinds == [*spheres, ("OpenMesh", True, False), *open_one, ("Mesh", True, True)]
    np.testing.assert_allclose(shapes[0].colour, (1, 0, 0, 1))
    np.testing.assert_allclose(shapes[1].colour, (0.9, 0.8, 0.1, 0.5), atol=1e-7)
    assert any("'ghost'" in line and "neither touch nor show" in line for line in scene.left_out)


def test_a_body_that_would_show_nothing_shows_its_solid_geoms(tmp_path) -> None:
    hidden = '<geom size=".1" group="4"/><geom size=".2" group="4" rgba="0 0 0 0"/><geom size=".3" group="4" contype="0" conaffinity="0"/>'
    _, scene = read(tmp_path, f'<worldbody><body name="b"><freejoint/>{hidden}</body></worldbody>')
    assert [(s.shape.radius, s.visible) for s in scene.model.bodies[1].shapes] == [(0.1, True), (0.2, False)]


def test_the_world_has_its_geoms_on_a_static_ground(tmp_path) -> None:
    _, scene = read(
        tmp_path, '<worldbody><geom type="plane" size="3 4 1" pos="0 0 -1"/><geom type="plane" size="0 0 1" euler="90 0 0"/></worldbody>'
    )
    ground = scene.model.bodies[scene.model.body("ground")]
    assert ground.kind == "static" and [type(s.shape) for s in ground.shapes] == [ub.Plane, ub.Plane]
    assert ground.shapes[0].shape.size == 8.0 and ground.shapes[0].X_BS.p == (0.0, 0.0, -1.0)


def test_without_contact_nothing_is_solid(tmp_path) -> None:
    flag = '<option><flag contact="disable"/></option>'
    _, scene = read(tmp_path, f'{flag}<worldbody><body name="b"><freejoint/><geom size=".1"/></body></worldbody>')
    assert [s.solid for s in scene.model.bodies[1].shapes] == [False]
    assert not any(line.startswith("contact") for line in scene.left_out)


def test_rays_hit_the_terrain_where_it_is(tmp_path, rng) -> None:
    """MuJoCo's rays against the triangles of our surface."""
    rows, columns = 5, 7
    heights = " ".join(f"{x:.6f}" for x in rng.uniform(0.0, 1.0, rows * columns))
    m, scene = read(
        tmp_path,
        f"""<asset><hfield name="hills" nrow="{rows}" ncol="{columns}" size="2 1.5 .8 .1" elevation="{heights}"/></asset>
        <worldbody><geom type="hfield" hfield="hills" pos=".3 .2 .5" euler="0 0 30"/></worldbody>""",
    )
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    vertices, faces = scene.model.bodies[scene.model.body("ground")].shapes[0].triangles()
    struck = 0
    for _ in range(30):
        start = np.array([*rng.uniform((-1.2, -1.0), (1.2, 1.0)), 5.0])
        length = mujoco.mj_ray(m, d, start, np.array([0.0, 0.0, -1.0]), None, 1, -1, np.zeros(1, np.int32), None)
        heights_here = [h for h in (height_under(vertices[f], start) for f in faces) if h is not None]
        if heights_here:
            struck += 1
            assert max(heights_here) == pytest.approx(5.0 - length, abs=1e-6)
    assert struck > 20


def height_under(triangle: np.ndarray, point: np.ndarray) -> float | None:
    """z of the triangle on the vertical line through the point."""
    a, b, c = triangle
    try:
        u, v = np.linalg.solve(np.stack([b - a, c - a], axis=1)[:2], (point - a)[:2])
    except np.linalg.LinAlgError:
        return None
    return float(a[2] + u * (b - a)[2] + v * (c - a)[2]) if u >= 0 and v >= 0 and u + v <= 1 else None
