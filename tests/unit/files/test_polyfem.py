"""Scenes of PolyFEM's dialect, written here."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import unibody as ub
from unibody.files.polyfem_functions import DisplacedPoints, Formula
from unibody.files.polyfem_places import rotation

TET = """$MeshFormat
4.1 0 8
$EndMeshFormat
$Nodes
1 {n} 1 {n}
3 0 0 {n}
{tags}
{points}
$EndNodes
$Elements
1 {m} 1 {m}
3 0 4 {m}
{cells}
$EndElements
"""
CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
RUBBER = {"type": "NeoHookean", "E": 1e5, "nu": 0.4, "rho": 1000, "id": 1}
SHEET = "v -5 0 5\nv 5 0 5\nv -5 0 -5\nv 5 0 -5\nf 2 3 1\nf 2 4 3\n"


def msh(points, cells) -> str:
    return TET.format(
        n=len(points), m=len(cells), tags="\n".join(str(k + 1) for k in range(len(points))),
        points="\n".join(" ".join(map(str, p)) for p in points),
        cells="\n".join(f"{k + 1} " + " ".join(str(i + 1) for i in c) for k, c in enumerate(cells)),
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "tet.msh").write_text(msh(CORNERS, [(0, 1, 2, 3)]))
    two = [*CORNERS, *(tuple(c + 5 for c in p) for p in CORNERS)]
    (tmp_path / "meshes" / "two.msh").write_text(msh(two, [(0, 1, 2, 3), (4, 5, 6, 7)]))
    (tmp_path / "meshes" / "sheet.obj").write_text(SHEET)
    (tmp_path / "scenes").mkdir()
    return tmp_path / "scenes"


def scene(folder, *geometry: dict, name: str = "scene", **more) -> ub.scenes.Scene:
    path = folder / f"{name}.json"
    data = {"geometry": list(geometry), "materials": [RUBBER], "time": {"tend": 1, "dt": 0.1}, "contact": {"enabled": True}, **more}
    path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}))
    return ub.load(path)


def solid(**more) -> dict:
    return {"mesh": "../meshes/tet.msh", "volume_selection": 1, **more}


def test_what_a_scene_becomes(folder):
    s = scene(
        folder, solid(transformation={"translation": [0, 2, 0], "scale": 2}),
        {"mesh": "../meshes/sheet.obj", "is_obstacle": True, "transformation": {"dimensions": [2, 0, 4]}},
        boundary_conditions={"rhs": [0, 9.81, 0]}, contact={"enabled": True, "dhat": 2e-3, "friction_coefficient": 0.3, "epsv": 1e-4},
        solver={"contact": {"friction_iterations": -1}, "advanced": {"lump_mass_matrix": True}},
        time={"tend": 3, "time_steps": 30, "integrator": {"type": "BDF", "steps": 2}},
    )  # fmt: skip
    soft, sheet, contact = s.model.deformables[0], s.model.bodies[1], dict(s.model.constraints)["contact"]
    assert np.array_equal(soft.x0, 2.0 * np.array(CORNERS) + [0, 2, 0])
    assert soft.mass.sum() == pytest.approx(1000.0 * 8.0 / 6.0) and (soft.material.young, soft.material.poisson) == (1e5, 0.4)
    assert np.ptp(sheet.shapes[0].triangles()[0], axis=0) == pytest.approx([2.0, 0.0, 4.0]) and sheet.kind == "static"
    assert tuple(s.model.gravity) == (0.0, -9.81, 0.0) and (s.dt, s.duration) == (pytest.approx(0.1), 3.0)
    assert (contact.friction, contact.reach, contact.self_contact) == (0.3, 2e-3, True)
    solver = ub.Simulation(s.model, s.solver, dt=s.dt).solver
    assert (solver.rule, solver.slip_speed, solver.friction_iterations, solver.tolerance) == ("bdf2", 1e-4, 0, 1e-6)
    assert s.left_out == ()


def test_axes_turn_in_the_order_of_the_mode():
    x, y = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    assert rotation([90, 0, 90], "xyz", "") @ y == pytest.approx([0, 0, 1])  # x first: y → z, which z leaves alone
    assert rotation([90, 0, 90], "zyx", "") @ x == pytest.approx([0, 0, 1])  # z first: x → y, then x: y → z
    assert rotation(90, "z", "") @ x == pytest.approx(y)
    assert rotation([90, 0, 0, 2], "axis_angle", "") @ x == pytest.approx(y)
    assert rotation([0, 0, 90], "rotation_vector", "") @ x == pytest.approx(y)
    assert rotation([0, 0, math.sin(math.pi / 4), math.cos(math.pi / 4)], "quaternion", "") @ x == pytest.approx(y)


def test_vertices_of_chosen_faces_go_where_formulas_say(folder):
    """The face x + y + z = 1 has its middle at (1, 1, 1)/3; those of the others lie on planes of coordinates."""
    s = scene(
        folder, solid(surface_selection=[{"id": 7, "normal": [1, 1, 1], "point": [0.3, 0.3, 0.3]}, 4]),
        boundary_conditions={"dirichlet_boundary": [{"id": 7, "value": ["t*y", "-min(t, 0.5)", 0]}, {"id": 4, "value": [0, 0, 0]}]},
    )  # fmt: skip
    moved, held = s.model.prescribed
    assert moved.vertices.tolist() == [1, 2, 3] and held.vertices.tolist() == [0] and held.motion is None
    assert moved.motion(2.0) == pytest.approx(np.array([(1, -0.5, 0), (2, 0.5, 0), (0, -0.5, 1)]))
    rec = ub.Simulation(s.model, s.solver, dt=0.1).run(0.2)
    assert rec.vertices("tet0")[-1, 2] == pytest.approx([0.2, 0.8, 0.0])


@pytest.mark.parametrize(
    "selection", [{"axis": "-x", "position": 0.01}, {"axis": -1, "position": 0.01, "relative": True},
        {"box": [[-1, -1, -1], [0.01, 2, 2]]}, {"center": [0, 1 / 3, 1 / 3], "radius": 0.1}],
)  # fmt: skip
def test_ways_to_choose_a_face(folder, selection):
    held = {"dirichlet_boundary": {"id": 3, "value": [0, 0, 0]}}
    s = scene(folder, solid(surface_selection={"id": 3, **selection}), boundary_conditions=held)
    assert s.model.prescribed[0].vertices.tolist() == [0, 2, 3]


def test_middles_of_a_chosen_face_go_with_it(folder):
    s = scene(
        folder, solid(surface_selection={"id": 3, "axis": "-x", "position": 0.01}), space={"discr_order": 2},
        boundary_conditions={"dirichlet_boundary": {"id": 3, "value": [0, 0, 0]}},
    )  # fmt: skip
    x = s.model.deformables[0].x0
    assert len(x) == 10 and np.array_equal(s.model.prescribed[0].vertices, np.flatnonzero(x[:, 0] == 0.0))


def test_pieces_planes_obstacles_that_move_and_initial_velocities(folder):
    s = scene(
        folder, {"mesh": "../meshes/two.msh", "volume_selection": 1}, {"type": "ground", "height": -1, "is_obstacle": True},
        {"mesh": "../meshes/sheet.obj", "is_obstacle": True, "surface_selection": 5, "transformation": {"translation": [0, -0.5, 0]}},
        boundary_conditions={"obstacle_displacements": [{"id": 5, "value": ["2*t", 0, 0]}]},
        initial_conditions={"velocity": [{"id": 1, "value": [1, 2, 3]}]},
    )  # fmt: skip
    assert [d.n for d in s.model.deformables] == [4, 4] and s.model.deformables[0].v0[0].tolist() == [1, 2, 3]
    ground, sheet = s.model.bodies[1:]
    assert ground.X_WB.p[1] == -1.0 and ground.X_WB.R[:, 2] == pytest.approx([0, 1, 0])
    assert sheet.kind == "kinematic" and sheet.motion(0.5).p == (1.0, 0.0, 0.0)


def test_common_files_and_patches(folder):
    scene(folder, solid(), name="base")
    (folder / "more.json").write_text(
        json.dumps({"common": "base.json", "time": {"dt": 0.2}, "patch": [{"op": "replace", "path": "/materials/0/E", "value": 5e5}]})
    )
    s = ub.load(folder / "more.json")
    assert s.dt == 0.2 and s.duration == 1.0 and s.model.deformables[0].material.young == 5e5
    (folder / "wrong.json").write_text(json.dumps({"common": "base.json", "patch": [{"op": "replace", "path": "/time/x", "value": 1}]}))
    with pytest.raises(ub.ModelError, match="replace at '/time/x' finds nothing"):
        ub.load(folder / "wrong.json")
    (folder / "self.json").write_text(json.dumps({"common": "self.json", "patch": []}))
    with pytest.raises(ub.ModelError, match="do they name each other"):
        ub.load(folder / "self.json")


def test_files_elsewhere_are_not_opened(folder, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "tet.msh").write_text(msh(CORNERS, [(0, 1, 2, 3)]))
    with pytest.raises(ub.ModelError, match="outside the model's folder"):
        scene(folder, solid(mesh="../outside/tet.msh"))
    assert ub.load(folder / "scene.json", allow_outside=True).model.deformables


def test_what_is_not_honoured_is_listed(folder):
    s = scene(
        folder, solid(points=3, transformation={"shear": 1}), contact={"enabled": True, "use_convergent_formulation": True},
        solver={"linear": {"solver": "x"}}, output={"json": "y"}, tests={"err_l2": 1}, units={},
        boundary_conditions={"neumann_boundary": []},
    )  # fmt: skip
    said = "\n".join(s.left_out)
    for word in ("'points'", "'shear'", "use_convergent_formulation", "linear", "output", "tests", "neumann_boundary", "'units'", "lumped"):
        assert word in said


@pytest.mark.parametrize(
    ("change", "said"), [
        ({"materials": [{**RUBBER, "type": "LinearElasticity"}]}, 'type "LinearElasticity" has no law here'),
        ({"materials": [{**RUBBER, "id": 2}]}, "no material has the id 1"),
        ({"materials": [{**RUBBER, "nu": 0.5}]}, "0.5"),
        ({"time": None}, "no 'time'"), ({"time": {"tend": 1}}, "two of tend, dt and time_steps"),
        ({"time": {"tend": 1, "dt": 0.1, "integrator": "ImplicitNewmark"}}, "ImplicitNewmark"),
        ({"space": {"discr_order": 3}}, "discr_order: 3"),
        ({"boundary_conditions": {"rhs": ["x", 0, 0]}}, "3 finite numbers"),
        ({"boundary_conditions": {"dirichlet_boundary": {"id": 1, "value": ["q", 0, 0]}}}, "'q' in 'q' is unknown"),
        ({"boundary_conditions": {"dirichlet_boundary": {"id": 1, "value": [0, 0, 0], "dimension": [True, False, True]}}}, "dimension"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused_by_name(folder, change, said):
    with pytest.raises(ub.ModelError, match=said):
        scene(folder, solid(surface_selection=1), **change)


def test_formulas():
    assert Formula("y*cos((-0.4*pi)*t)-z*sin((-0.4*pi)*t)-y")(0.0, 1.0, 2.0, 1.25) == pytest.approx(2.0 - 1.0)
    assert Formula("2^3 + max(x, -y)/4")(1.0, -6.0, 0.0, 0.0) == 8.0 + 1.5
    still = DisplacedPoints(((1.0, 2.0, 3.0),), (Formula("0"), Formula("t"), Formula("x*t")))
    assert still(2.0).tolist() == [[1.0, 4.0, 5.0]]
    for text, said in (
        ("__import__('os')", "'__import__'"), ("x.real", "no formula"), ("-x^2", "two ways"), ("x^y^z", "two ways"), ("log(x)", "'log'"),
        ("'a'", "no number"), ("x if t else y", "no formula"), ("min(x)", "give 2"), ("1 +", "no formula"), ("x" * 3000, "3000 characters"),
    ):  # fmt: skip
        with pytest.raises(ub.ModelError, match=said):
            Formula(text)


@pytest.mark.parametrize(
    "change",
    [
        {"geometry": [solid(surface_selection=10**30)]},
        {"geometry": [solid(transformation={"rotation": [[1, 2], [3]]})]},
        {"geometry": [solid(transformation={"rotation": [30, 0, 0, 0], "rotation_mode": "axis_angle"})]},
        {"geometry": [solid(transformation={"translation": [1e300, 0, 0]})]},
        {"geometry": [solid(), {"type": "plane", "is_obstacle": True, "normal": [0, 0, 0]}]},
        {"materials": [{**RUBBER, "type": []}]},
        {"boundary_conditions": {"dirichlet_boundary": [{"id": [[1, 2], [3]], "value": [0, 0, 0]}]}},
        {"boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [None, 0, 0]}]}},
        {"boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0], "dimension": 3}]}},
    ],
)  # fmt: skip
def test_values_that_no_scene_has_are_refused_in_one_line(folder, change):
    path = folder / "odd.json"
    path.write_text(json.dumps({"geometry": [solid(surface_selection=1)], "materials": [RUBBER], "time": {"tend": 1, "dt": 0.1}, **change}))
    with pytest.raises(ub.ModelError) as told:
        ub.load(path)
    assert "\n" not in str(told.value)


def test_large_whole_numbers_of_a_formula_keep_their_digits(folder):
    s = scene(
        folder, solid(surface_selection=1),
        boundary_conditions={"dirichlet_boundary": [{"id": 1, "value": [1234567, 0, 0]}]},
    )  # fmt: skip
    moved = np.array(s.model.prescribed[0].motion(1.0)).reshape(-1, 3)
    assert moved[:, 0].min() == pytest.approx(1234567.0, abs=1e-6)
