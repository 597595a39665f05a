"""Scene files keep everything to the last bit, whoever wrote them, and refuse what they cannot keep."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scene_parts import Keeper, numbers_of, round_trip, squared

import unibody as ub
from unibody.files import load, load_json, save_json
from unibody.files.scene_json import scene_from_json, scene_to_json
from unibody.model.text import CLASSES
from unibody.spatial.table import Table

ROOT = Path(__file__).resolve().parents[3]
WITH_LAMBDAS = {"cable-toy": "'winch'", "hand": "'elbow.drive'", "hagfish": "'joint1.muscle0'", "starfish": "'drive0'", "fish": "'drive1'"}


def tool(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def valid():
    """Whether the published schema says that a text is a scene."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "schema" / "scene-1.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return lambda text: jsonschema.Draft202012Validator(schema).is_valid(json.loads(text))


@pytest.mark.parametrize("name", [n for n in ub.scenes.names() if n not in WITH_LAMBDAS])
def test_every_scene_survives_its_file_to_the_last_bit(name, tmp_path, valid):
    scene = ub.scenes.make(name)
    again = round_trip(scene, tmp_path, name=name)
    assert (again.duration, again.dt, again.notes, again.name, again.exact) == (scene.duration, scene.dt, scene.notes, name, None)
    assert name == "umbrella" or valid((tmp_path / "first.json").read_text("utf-8"))  # the largest takes the validator seconds


@pytest.mark.parametrize(("name", "element"), WITH_LAMBDAS.items())
def test_lambdas_are_refused_by_the_name_of_their_element(name, element, tmp_path):
    with pytest.raises(ub.ModelError, match=f"x.json.*{element} holds a lambda.*top level of a module.*tabulate=") as error:
        save_json(ub.scenes.make(name), tmp_path / "x.json")
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


def test_lambdas_of_time_become_tables(tmp_path, valid):
    """The winch turns by 0.5 A sin(2π f t): a cubic through a table errs by less than its third derivative times h³."""
    scene = ub.scenes.make("cable-toy")
    again = round_trip(scene, tmp_path, tabulate=0.01)
    assert valid((tmp_path / "first.json").read_text("utf-8"))
    exact, table = (dict(s.model.forces)["winch"].target for s in (scene, again))
    assert isinstance(table, Table)
    for t in np.linspace(0.0, scene.duration, 37):
        assert table(t) == pytest.approx(exact(t), abs=1e-5)
    with pytest.raises(ub.ModelError, match="outside its table"):
        table(scene.duration + 1.0)
    round_trip(ub.scenes.make("hand"), tmp_path, tabulate=0.5)


def test_table_goes_through_its_values_and_is_exact_for_parabolas():
    table = Table((0.0, 0.5, 2.0), [(1.0, 0.0), (1.25, 0.25), (5.0, 4.0)])  # 1 + t², t²
    np.testing.assert_allclose(table(1.3), (1.0 + 1.69, 1.69), rtol=1e-14)
    assert Table((0, 1), (0, 2))(0.25) == 0.5 and isinstance(Table((0, 1), (0, 2))(0.25), float)
    assert Table.of(math.cos, (0.0, 0.1, 0.2)).values == (1.0, math.cos(0.1), math.cos(0.2))
    with pytest.raises(ub.ModelError, match="Table"):
        Table((0.0, 0.0), (1.0, 2.0))


CAPABILITIES = tool("make_capabilities")
EXAMPLES = {**CAPABILITIES.EXAMPLES, "FunctionCoupling": ub.Coupling(["knee"], ["hip"], function=squared)}


def kind_of(name: str) -> str:
    return next(kind for kind, _, base in CAPABILITIES.KINDS if issubclass(CLASSES[name], base))


ELEMENTS = {name for name, cls in CLASSES.items() if any(issubclass(cls, base) for _, _, base in CAPABILITIES.KINDS)} - {"Placed"}


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_every_element_survives_its_file(name, tmp_path, valid):
    model = CAPABILITIES.model_with(kind_of(name), EXAMPLES[name])
    round_trip(model, tmp_path)
    assert valid((tmp_path / "first.json").read_text("utf-8"))


def test_cables_over_pulleys_survive(tmp_path, valid):
    b = ub.Builder()
    load = b.body("load", ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((1.0, 0.0, 0.0)))
    wheel = ub.Pulley(b.world.at(0.5, 0.0, 1.0), 0.1, axis=(0, 1, 0), side=1, friction=0.2, turns=1)
    b.add(ub.Cable([b.world.at(0, 0, 0), wheel, load.at(0, 0, 0)], stiffness=1e4, damping=10.0))
    round_trip(b.build(), tmp_path)
    assert valid((tmp_path / "first.json").read_text("utf-8"))


def test_everything_about_shapes_survives(tmp_path, valid):
    """A look, a shape within a shape, a mesh short enough for lists and one that is not, normals and −0.0."""
    b = ub.Builder(gravity=None)
    ball = ub.Mesh(*ub.Sphere(0.1).triangles(20))
    turned = ub.Pose.about((1.0, 2.0, -3.0), 0.7, (0.1, -0.0, 0.3))
    shapes = [
        ub.Placed(ub.Placed(ub.Box((1, 2, 3)), turned), turned, colour=(0.1, 0.2, 0.3, 0.5)),
        ub.Placed(ball, ub.Pose(), visible=False),
        ub.Placed(ub.OpenMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), turned, solid=False),
    ]
    b.body("a", shape=shapes, density=3.3)
    b.body("ground", kind="static", shape=ub.Plane())
    round_trip(b.build(), tmp_path)
    text = (tmp_path / "first.json").read_text("utf-8")
    assert valid(text) and '"base64"' in text and '"array": [[0.0, 0.0, 0.0]' in text and "-0.0" in text


def test_keyframes_and_what_was_left_out_survive(tmp_path, valid):
    model = ub.scenes.build("double-pendulum")
    states = {"home": (np.array([0.1, -0.0]), np.array([1 / 3, 0.2])), "naïve “name”": (np.zeros(2), np.ones(2))}
    scene = ub.scenes.Scene(model, 2, 0.01, notes="one\ntwo", left_out=("geom 'x': no", "more"), keyframes=states)
    again = round_trip(scene, tmp_path)
    assert (again.notes, again.left_out, list(again.keyframes)) == (scene.notes, scene.left_out, list(states))
    for name, (q, v) in states.items():
        assert again.keyframes[name][0].tobytes() == q.tobytes() and again.keyframes[name][1].tobytes() == v.tobytes()
    assert valid((tmp_path / "first.json").read_text("utf-8"))


ROBOTS = [
    ("pybullet_data", "r2d2.urdf"), ("pybullet_data", "kuka_iiwa/model.urdf"), ("dm_control", "suite/walker.xml"),
    ("dm_control", "suite/dog.xml"),
]  # fmt: skip


@pytest.mark.parametrize(("package", "file"), ROBOTS)
def test_imported_robots_survive_our_file(package, file, tmp_path):
    """Meshes, limits, couplings, tendons, actuators and keyframes of other programs' files."""
    folder = Path(pytest.importorskip(package).__file__).parent
    pytest.importorskip("yourdfpy" if file.endswith("urdf") else "mujoco")
    scene = load(folder / file)
    again = round_trip(scene, tmp_path)
    assert again.left_out == scene.left_out and list(again.keyframes) == list(scene.keyframes)


FLOATS = st.floats(-10.0, 10.0)
SIZES = st.floats(0.01, 10.0)
DIRECTIONS = st.tuples(FLOATS, FLOATS, FLOATS).filter(lambda a: np.linalg.norm(a) > 1e-3)
POSES = st.builds(ub.Pose.about, DIRECTIONS, FLOATS, st.tuples(FLOATS, FLOATS, FLOATS))
SIMPLE = st.one_of(
    st.builds(ub.Revolute, DIRECTIONS), st.builds(ub.Prismatic, DIRECTIONS), st.builds(ub.Screw, DIRECTIONS, FLOATS), st.just(ub.Ball()),
    st.just(ub.Planar()), st.just(ub.Translational()),
)  # fmt: skip
JOINTS = st.one_of(SIMPLE, st.just(ub.Free()), st.just(ub.Weld()), st.builds(ub.Composite, st.builds(ub.Revolute, DIRECTIONS), SIMPLE))
LINKS = st.tuples(JOINTS, POSES, POSES, SIZES, DIRECTIONS, FLOATS, st.booleans())


@given(st.lists(LINKS, min_size=1, max_size=4), POSES, st.booleans())
def test_any_chain_survives_its_file(links, loose, springs):
    """Axes and quaternions are made unit when they are given: a second time must not turn their last bits."""
    b = ub.Builder(gravity=(0.1, -0.0, -9.81 / 3))
    parent = b.world
    for k, (joint, X_PF, X_BM, size, direction, x, hangs) in enumerate(links):
        body = b.body(f"body{k}", shape=ub.Box((size, 2 * size, 0.3)), mass=size)
        q = joint.advance(joint.neutral(), np.full(joint.nv, x / 7), 1.0) * (1.0 + 1e-9)
        b.joint(f"j{k}", joint, parent if hangs else b.world, body, X_PF, X_BM, q=q, v=np.full(joint.nv, x), armature=size / 3)
        b.add(ub.PointPlane(body.at(*direction), (0, 0, -1), direction))
        if springs:
            b.add(ub.SpringDamper(body.at(0, 0, 20.0 + x), b.world.at(*direction), stiffness=size))
        parent = body
    b.body("loose", shape=ub.Sphere(0.1), X_WB=loose, V_WB=(1, 2, 3, 4, 5, 1 / 3))
    scene = ub.scenes.Scene(b.build(), 1.0, 1e-3)
    text = scene_to_json(scene)
    again = scene_from_json(text, "here")
    assert scene_to_json(again) == text and numbers_of(again.model) == numbers_of(scene.model)


@given(DIRECTIONS)
def test_any_plane_survives_its_file(normal):
    b = ub.Builder(gravity=None, planar=True, normal=normal)
    b.body("a", shape=ub.Sphere(0.1))
    scene = ub.scenes.Scene(b.build(), 1.0, 1e-3)
    text = scene_to_json(scene)
    again = scene_from_json(text, "here")
    assert scene_to_json(again) == text and numbers_of(again.model) == numbers_of(scene.model)


def test_every_kind_of_value_survives_to_the_last_bit(tmp_path, valid):
    held = (
        1, 1.0, -0.0, 0.1 + 0.2, 5e-324, math.inf, -math.inf, True, None, "inf", "text", [1, (2.0, [])], {"a": 1, 2: (3.0,)},
        ub.Pose((1, 2, 3)), np.float64(0.1), np.arange(6).reshape(2, 3), np.array([math.inf, -0.0]), np.zeros((0, 3)), np.arange(1000.0),
        np.array([True, False]), np.array([1.5], np.float32), math.sin, squared, ub.Revolute((1, 2, 3)), (), 10**30,
    )  # fmt: skip
    b = ub.Builder()
    b.body("a", shape=ub.Sphere(0.1))
    b.add(Keeper(held, name="inf", type=3), name="keeper")
    again = dict(round_trip(b.build(), tmp_path).model.forces)["keeper"]
    assert valid((tmp_path / "first.json").read_text("utf-8"))
    assert (again.name, again.type) == ("inf", 3)
    for mine, theirs in zip(again.held, held, strict=True):
        if isinstance(theirs, np.ndarray):
            assert (mine.dtype, mine.shape, mine.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())
        else:
            assert mine == theirs and (type(mine) is type(theirs) or type(theirs) is np.float64)
    assert math.copysign(1.0, again.held[2]) == -1.0
    b.add(Keeper(math.nan), name="nobody's")
    assert math.isnan(dict(load_json(save_json(b.build(), tmp_path / "n.json")).model.forces)["nobody's"].held)


def test_values_that_no_file_can_hold_are_refused_by_name(tmp_path):
    for value in ({1, 2}, object(), np.array(["a"]), b"bytes", Keeper(1).bodies):
        b = ub.Builder()
        b.body("a", shape=ub.Sphere(0.1))
        b.add(Keeper(value), name="odd")
        with pytest.raises(ub.ModelError, match="'odd'") as error:
            save_json(b.build(), tmp_path / "x.json")
        assert "\n" not in str(error.value)


def test_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = save_json(ub.scenes.make("pendulum"), tmp_path / "a.json")
    before = path.read_bytes()

    def crash(source, target):
        assert Path(source).stat().st_size > 0
        raise OSError("power cut")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="power cut"):
        save_json(ub.scenes.make("four-bar"), path)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_page_shows_a_file_that_runs(tmp_path, valid):
    """Rod of aluminium: ρ (π r² L + 4/3 π r³), the Builder's numbers and those of the file being the same."""
    page = (ROOT / "docs" / "scene-format.md").read_text("utf-8")
    text = re.search(r"```json\n(.*?)```", page, re.DOTALL)[1]
    assert valid(text) and len(page.splitlines()) <= 100
    (tmp_path / "swing.json").write_text(text)
    scene = load_json(tmp_path / "swing.json")
    model = scene.model
    rod = model.bodies[model.body("rod")]
    assert rod.mass == pytest.approx(2700 * (math.pi * 0.02**2 * 0.5 + 4 / 3 * math.pi * 0.02**3), rel=1e-12)
    assert rod.com == pytest.approx((0, 0, -0.25)) and (scene.name, scene.duration, scene.dt) == ("swing", 2.0, 0.001)
    assert [n for n, _ in model.forces] == ["shoulder.spring", "band", "drive"] and model.start_q() == pytest.approx((0.4, 0, 0.1))
    assert dict(model.forces)["band"].rest_length > 0.5 and tuple(model.gravity) == (0, 0, -9.81)
    rec = ub.Simulation(model, dt=scene.dt).run(0.005)
    assert np.isfinite(rec.q).all() and np.abs(rec.v[-1]).max() > 0
    round_trip(scene, tmp_path)


def test_file_with_nothing_but_a_body_is_enough():
    scene = scene_from_json('{"unibody": {"scene": 1}, "bodies": [{"name": "a", "shape": {"type": "Sphere", "radius": 1}}]}', "here")
    assert scene.model.nv == 6 and not scene.model.gravity.any() and scene.model.total_mass == pytest.approx(4000 / 3 * math.pi)
