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


def lines(s: ub.scenes.Scene) -> str:
    return "\n".join(s.left_out)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"minimum_separation_distance": 1e-3}, ""),
        ({"barrier_type": "poly_log"}, 'barrier_type "poly_log"'),
        ({"trajectory_type": "rigid"}, 'trajectory_type "rigid"'),
        ({"detection_method": "hash_grid"}, 'detection_method "hash_grid"'),
        ({"glow": 1}, "distance_barrier_constraint: 'glow' is not known"),
        ({"minimum_separation_distance": 0, "barrier_type": "ipc"}, ""),
    ],
)
def test_settings_of_the_barrier_are_honoured_or_named(folder, settings, said):
    s = scene(folder, {"mesh": "cube.obj"}, distance_barrier_constraint=settings)
    assert said in lines(s) and bool(s.left_out) == bool(said)


def test_settings_of_solvers_are_named(folder):
    more = {"ipc_solver": {"velocity_conv_tol": 1e-3}, "friction_constraints": {"iterations": -1}, "solver": "ipc_solver"}
    s = scene(folder, {"mesh": "cube.obj"}, **more)
    assert "velocity_conv_tol" in lines(s) and "iterations" in lines(s) and len(s.left_out) == 2


@pytest.mark.parametrize(
    ("times", "lasts", "said"),
    [
        ({"max_iterations": 50, "timestep": 0.02}, 1.0, ""),
        ({"max_time": 3.0}, 3.0, ""),
        ({"max_time": -1, "max_iterations": 20}, 0.2, ""),
        ({}, 10.0, ""),
        ({"max_time": 3.0, "max_iterations": 20}, 3.0, "max_iterations 20"),
    ],
)
def test_a_scene_lasts_for_its_time_or_its_steps(folder, times, lasts, said):
    s = scene(folder, {"mesh": "cube.obj"}, **times)
    assert s.duration == pytest.approx(lasts) and said in lines(s)


def test_a_kinematic_body_stops_at_its_time(folder):
    """1 m/s and 90°/s about its own centre (0.5, 0.5, 0.5) for 0.2 s, in the run as well as in the motion."""
    twist = {"linear_velocity": [1, 0, 0], "angular_velocity": [0, 0, 90]}
    body = {"mesh": "cube.obj", "type": "kinematic", "kinematic_max_time": 0.2, **twist}
    s = scene(folder, body)
    motion = s.model.bodies[1].motion
    assert motion is not None and motion(0.1).p == pytest.approx((0.6, 0.5, 0.5))
    for t in (0.2, 0.7):
        assert motion(t).p == pytest.approx((0.7, 0.5, 0.5)) and motion(t).wxyz[3] == pytest.approx(math.sin(math.radians(9.0)))
    poses = scene(folder, {**body, "kinematic_poses": [{"position": [k, 0, 0]} for k in range(1, 50)], "timestep": 0.01})
    moved = poses.model.bodies[1].motion
    assert moved is not None
    for t in (0.2, 5.0):
        assert moved(t).p == pytest.approx((20.5, 0.5, 0.5))


def test_what_has_no_effect_on_a_body_of_its_kind_is_named(folder):
    acts = {"force": [1, 0, 0], "torque": [0, 1, 0], "linear_velocity": [1, 0, 0], "angular_velocity": [0, 1, 0]}
    kinematic = scene(folder, {"mesh": "cube.obj", "type": "kinematic", **acts, "is_dof_fixed": [True] + 5 * [False]})
    assert "kinematic: force [1, 0, 0], torque [0, 1, 0], is_dof_fixed" in lines(kinematic)
    static = scene(folder, {"mesh": "cube.obj", "type": "static", **acts})
    assert all(key in lines(static) for key in acts)
    dynamic = scene(folder, {"mesh": "cube.obj", **acts, "kinematic_max_time": 1.0, "kinematic_poses": [{"position": [1, 0, 0]}]})
    assert lines(dynamic) == "body 'cube0' is dynamic: kinematic_poses, kinematic_max_time without effect"
    held = scene(folder, {"mesh": "cube.obj", "type": "kinematic", "is_dof_fixed": True, "linear_velocity": [1, 0, 0]})
    assert held.model.bodies[1].kind == "static" and "linear_velocity" in lines(held)


RICH = {
    "scene_type": "distance_barrier_rb_problem", "solver": "ipc_solver", "timestep": 0.01, "max_time": 1.0,
    "distance_barrier_constraint": {"initial_barrier_activation_distance": 1e-3, "barrier_type": "ipc"},
    "rigid_body_problem": {
        "gravity": [0, -9.8, 0], "coefficient_friction": 0.1, "coefficient_restitution": -1,
        "rigid_bodies": [
            {
                "mesh": "cube.obj", "position": [0, 5, 0], "rotation": [0, 0, 30], "scale": 2, "density": 100, "force": [1, 0, 0],
                "torque": [1, 0, 0], "linear_velocity": [1, 0, 0], "angular_velocity": [0, 1, 0], "group_id": 1, "enabled": True,
                "is_dof_fixed": False, "type": "dynamic", "split_components": False,
            },
            {
                "mesh": "cube.obj", "dimensions": [1, 1, 1], "type": "kinematic", "kinematic_max_time": 1.0,
                "kinematic_poses": [{"position": [0, 0, 0], "rotation": [0, 0, 0]}],
            },
        ],
    },
}  # fmt: skip


def keys(data, path=()):
    """Where every key of nested objects stands."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        if isinstance(data, dict):
            yield (*path, key)
        yield from keys(value, (*path, key))


@pytest.mark.parametrize("path", list(keys(RICH)), ids=lambda path: ".".join(map(str, path)))
def test_a_key_that_nobody_knows_is_named_wherever_it_stands(folder, path):
    """Each key of a scene that has all of them, misspelt in turn: the file is refused, or says so."""
    data = json.loads(json.dumps(RICH))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[f"{path[-1]}x"] = place.pop(path[-1])
    (folder / "scene.json").write_text(json.dumps(data))
    try:
        s = load_rigid_ipc(folder / "scene.json")
    except ub.ModelError as error:
        assert "\n" not in str(error)
    else:
        assert f"'{path[-1]}x' is not known" in lines(s)


@pytest.mark.parametrize("factors", [[-1, 1, 1], [-2, -1, -1], [1, 1, -3], -1, [-1, -1, 1]])
def test_scales_that_mirror_keep_the_volume_positive(folder, factors):
    s = scene(folder, {"mesh": "cube.obj", "scale": factors})
    size = abs(float(np.prod(np.broadcast_to(factors, 3))))
    assert s.left_out == () and isinstance(s.model.bodies[1].shapes[0].shape, ub.Mesh)
    assert s.model.bodies[1].mass == pytest.approx(1000.0 * size)


def test_dimensions_that_mirror_keep_the_volume_positive(folder):
    s = scene(folder, {"mesh": "cube.obj", "dimensions": [-2, 1, 1]})
    assert s.model.bodies[1].mass == pytest.approx(2000.0)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"mesh": "cube.obj", "group_id": "a"}, "group_id"),
        ({"mesh": "cube.obj", "type": "kinematic", "kinematic_poses": [3]}, "kinematic_poses"),
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
    assert len(files) >= 41
    for path in files:
        s = load_rigid_ipc(path)
        data = json.loads(path.read_text())
        assert s.dt == data["timestep"]
        assert s.model.n_bodies >= 2
        named = "\n".join(s.left_out)
        honoured = {key for path in keys(RICH) for key in path} | {"distance_barrier_constraints", "max_iterations"}
        for key in (path[-1] for path in keys(data)):
            assert key.startswith("#") or key in honoured or key in named, f"{path.name}: {key}"


def test_minimum_separation_is_the_thickness_of_contact(folder):
    s = scene(folder, {"mesh": "cube.obj"}, distance_barrier_constraint={"minimum_separation_distance": 2e-3})
    assert dict(s.model.constraints)["contact"].thickness == 2e-3 and not s.left_out


def test_lines_and_points_without_faces(folder):
    """Three lines of an L weigh density × length × 1 m², three points density × 1 m³ each, about their centres; parts are told apart."""
    (folder.parents[1] / "meshes" / "bent.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 2 0\nv 9 9 9\nl 1 2 3\n")
    (folder.parents[1] / "meshes" / "dots.obj").write_text("v 0 0 0\nv 3 0 0\nv 0 3 0\n")
    (folder.parents[1] / "meshes" / "two.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\nl 1 2\nl 3 4\n")
    place = {"position": [0, 5, 0]}
    s = scene(folder, {"mesh": "bent.obj", "density": 2.0, **place}, {"mesh": "dots.obj", "density": 2.0},
              {"mesh": "two.obj", "density": 2.0, "split_components": True, "position": [0, 9, 0]})  # fmt: skip
    bent, dots, one, other = s.model.bodies[1:]
    assert bent.mass == pytest.approx(6.0) and bent.X_WB.p == pytest.approx([(0.5 + 2.0) / 3.0, 5.0 + 2.0 / 3.0, 0.0])
    c = np.array([2.5 / 3.0, 2.0 / 3.0])
    along = 2.0 * ((1.0 / 12.0 + (0.5 - c[0]) ** 2 + c[1] ** 2) + 2.0 * (4.0 / 12.0 + (1.0 - c[1]) ** 2 + (1.0 - c[0]) ** 2))
    assert bent.inertia[2, 2] == pytest.approx(along, rel=1e-3)  # and the little that keeps straight lines from turning freely
    assert isinstance(bent.shapes[0].shape, ub.Wire) and len(bent.shapes[0].shape.points) == 3
    assert isinstance(dots.shapes[0].shape, ub.PointCloud) and dots.mass == pytest.approx(6.0) and dots.X_WB.p == pytest.approx([1, 1, 0])
    assert (one.mass, other.mass) == (2.0, 2.0) and other.X_WB.p == pytest.approx([0.5, 9.0, 1.0])
    assert sum("no faces" in line for line in s.left_out) == 4


def test_lines_from_files_collide(folder):
    """A bent wire falls onto a static one and is held up by it and by the sheet below: nothing goes through."""
    (folder.parents[1] / "meshes" / "line.obj").write_text("v -1 0 0\nv 1 0 0\nl 1 2\n")
    s = scene(folder, {"mesh": "line.obj", "type": "static"}, {"mesh": "line.obj", "rotation": [0, 90, 0], "position": [0, 0.01, 0]},
              {"mesh": "sheet.obj", "type": "static", "scale": 3, "position": [0, -0.1, 0]}, timestep=0.01, max_time=0.3)  # fmt: skip
    rec = ub.Simulation(s.model, "barrier", dt=s.dt).run(s.duration)
    assert (rec.pose("line1")[:, 1] > 0.0).all() and rec.pose("line1")[-1, 1] < 0.01


@pytest.mark.parametrize(
    ("text", "said"),
    [("v 0 0 0\nl 1 2\n", "1 vertices"), ("v 0 0 0\nv 1 0 0\nl 1\n", "line 3: 'l 1' is not a vertex or line"),
     ("v 0 0 0\nv 0 0 0\nl 1 2\n", "no line with a length"), ("# nothing\n", "no faces")],
)  # fmt: skip
def test_bad_lines_are_refused_in_one_line(folder, text, said):
    (folder / "bad.obj").write_text(text)
    with pytest.raises(ub.ModelError, match=said) as caught:
        scene(folder, {"mesh": "bad.obj"})
    assert "\n" not in str(caught.value)
