"""Scenes of the rigid-ipc dialect: a small one written here, and the suite's own where it is at hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody.files.rigid_ipc import Poses, load_rigid_ipc, open_moments

SUITE = Path(__file__).parents[4] / "shared" / "reference" / "rigid-ipc"
CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {a} {b} {c}\n"
    for a, b, c in (
        (1, 2, 4), (1, 4, 3), (5, 7, 8), (5, 8, 6), (1, 5, 6), (1, 6, 2), (3, 4, 8), (3, 8, 7), (1, 3, 7), (1, 7, 5), (2, 6, 8), (2, 8, 4),
    )
)  # fmt: skip
SHEET = "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 1 3 2\nf 1 4 3\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "cube.obj").write_text(CUBE)
    (tmp_path / "meshes" / "sheet.obj").write_text(SHEET)
    (tmp_path / "scenes" / "deep").mkdir(parents=True)
    return tmp_path / "scenes" / "deep"


def scene(folder: Path, *bodies: dict, **more) -> ub.scenes.Scene:
    problem = {"gravity": [0, -9.8, 0], "rigid_bodies": list(bodies), **more.pop("problem", {})}
    path = folder / "scene.json"
    path.write_text(json.dumps({"scene_type": "distance_barrier_rb_problem", "rigid_body_problem": problem, **more}))
    return ub.load(path)


def test_places_scales_and_turns_about_the_origin_of_the_mesh(folder):
    """The cube's corner (1, 1, 1), doubled, turned by 90° about x and then 90° about z: (2, 2, 2) → (2, −2, 2) → (2, 2, 2); then moved."""
    s = scene(folder, {"mesh": "cube.obj", "scale": 2, "rotation": [90, 0, 90], "position": [10, 0, 0]})
    body = s.model.bodies[1]
    x = body.shapes[0].triangles()[0] + body.X_WB.p
    Rx, Rz = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]), np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    corners = np.array([[a, b, c] for a in (0, 2) for b in (0, 2) for c in (0, 2)])
    expected = corners @ (Rz @ Rx).T + [10, 0, 0]
    assert {tuple(np.round(p, 9) + 0.0) for p in x} == {tuple(np.round(p, 9) + 0.0) for p in expected}
    assert body.mass == pytest.approx(8000.0)
    assert np.abs(body.com).max() < 1e-12


def test_dimensions_win_and_flat_axes_keep_their_scale(folder):
    s = scene(folder, {"mesh": "sheet.obj", "dimensions": [4, 7, 6], "scale": 3, "type": "static"})
    x = s.model.bodies[1].shapes[0].triangles()[0]
    assert np.ptp(x, axis=0) == pytest.approx([4.0, 0.0, 6.0])


def test_defaults_degrees_and_loads(folder):
    s = scene(
        folder,
        {"mesh": "cube.obj", "angular_velocity": [0, 90, 0], "linear_velocity": [1, 2, 3], "force": [4, 0, 0], "torque": [0, 0, 180]},
        {"mesh": "sheet.obj", "is_dof_fixed": True, "position": [0, -5, 0]}, {"mesh": "cube.obj", "enabled": False},
        problem={"coefficient_friction": 0.3}, **{"#note": "a comment"},
    )  # fmt: skip
    body, ground = s.model.bodies[1], s.model.bodies[2]
    assert len(s.model.bodies) == 3
    assert np.allclose(body.V_WB, [0, math.pi / 2, 0, 1, 2, 3])
    assert ground.kind == "static"
    assert s.dt == 0.01
    contact = next(c for n, c in s.model.constraints if n == "contact")
    assert (contact.friction, contact.reach) == (0.3, 1e-3)
    load = next(f for _, f in s.model.forces if isinstance(f, ub.AppliedWrench))
    assert np.allclose(load.force, [4, 0, 0])
    assert np.allclose(load.torque, [0, 0, math.pi])
    assert s.left_out == ()


def test_groups_pass_through_each_other(folder):
    s = scene(folder, *({"mesh": "cube.obj", "position": [0.5 * k, 0, 0], "group_id": 1} for k in range(2)))
    assert [c.between for _, c in s.model.constraints if not c.on] == [("cube0", "cube1")]


def test_some_degrees_of_freedom_held(folder):
    """Free to move along x and to turn about z only."""
    flags = [False, True, True, True, True, False]
    s = scene(folder, {"mesh": "cube.obj", "is_dof_fixed": flags, "linear_velocity": [2, 0, 0], "angular_velocity": [0, 0, 90]})
    assert s.model.nv == 2
    rec = ub.Simulation(s.model, "barrier", dt=0.01).run(0.02)
    assert np.allclose(rec.twist("cube0")[-1], [0, 0, math.pi / 2, 2, 0, 0], atol=1e-2)


def test_sheets_weigh_their_area(folder):
    """A square of 2 m at 1000 kg/m³: 4000 kg, m a²/12 about its own lines and twice that about its normal."""
    s = scene(folder, {"mesh": "sheet.obj"})
    body = s.model.bodies[1]
    assert body.mass == pytest.approx(4000.0)
    assert np.diag(body.inertia) == pytest.approx([4000 * 4 / 12, 4000 * 8 / 12, 4000 * 4 / 12])
    assert "does not close" in s.left_out[0]


def test_nearly_closed_meshes_weigh_their_volume():
    """A cube without one of its twelve triangles, that which the origin sees edge-on."""
    faces = np.array([[int(i) - 1 for i in line.split()[1:]] for line in CUBE.splitlines() if line.startswith("f")])
    x = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], float)
    mass, com, inertia, how = open_moments(x, faces[1:], 1000.0)
    assert mass == pytest.approx(1000.0)
    assert com == pytest.approx([0.5, 0.5, 0.5])
    assert inertia == pytest.approx(np.eye(3) * 1000.0 / 6.0)
    assert "volume" in how


def test_scripted_poses():
    poses = Poses(((0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 1.0), (1, 2, 0, 0, 0, 1.0)), 0.1)
    assert poses(0.05).p == pytest.approx((0.5, 0, 0))
    assert poses(0.05).wxyz == pytest.approx((math.cos(0.25), 0, 0, math.sin(0.25)))
    assert poses(5.0).p == pytest.approx((1, 2, 0))


def test_what_is_unknown_is_said(folder):
    s = scene(folder, {"mesh": "cube.obj", "glow": 3}, wind=1)
    assert s.left_out == ("body 0: 'glow' is not known", "the scene: 'wind' is not known")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"mesh": "../../secret.obj"}, "secret"),
        ({"mesh": "none.obj"}, "does not exist"),
        ({"mesh": "cube.obj", "position": [1, 2]}, "three finite"),
        ({"mesh": "cube.obj", "type": "ghost"}, "ghost"),
        ({"mesh": "cube.obj", "is_dof_fixed": [True, False]}, "six"),
        ({"mesh": "cube.obj", "density": -1}, "density"),
        ({"position": [0, 0, 0]}, "no file name"),
    ],
)
def test_refuses(folder, body, said):
    (folder.parents[1] / "secret.obj").write_text(CUBE)
    with pytest.raises(ub.ModelError, match=said):
        scene(folder, body)


def test_every_scene_of_the_suite_loads():
    if not SUITE.is_dir():
        pytest.skip("the rigid-ipc reference data are not at hand")
    files = sorted((SUITE / "scenes").rglob("*.json"))
    assert len(files) == 41
    for path in files:
        s = load_rigid_ipc(path)
        data = json.loads(path.read_text())
        assert s.dt == data["timestep"]
        assert s.model.n_bodies >= 2
