"""Scene files hold deformables to the last bit: meshes, materials, attachments, motions and points that elements act on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scene_parts import round_trip

import unibody as ub
from soft_parts import Bars, builder, rise
from unibody.files import save_json
from unibody.files.scene_json import scene_from_json, scene_to_json

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "schema" / "scene-1.json"


@pytest.fixture(scope="module")
def faults():
    """What the published schema says against a text."""
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    return lambda text: [error.message[:200] for error in validator.iter_errors(json.loads(text))]


def everything():
    b = builder()
    shown = ub.Mesh(*ub.Sphere(0.2).triangles(12))
    cage = b.soft("cage", ub.TetMesh.cage(shown, 3), Bars(1 / 3), 1000 / 3, X_WB=ub.Pose.about((1, -2, 3), 0.7, (0.1, -0.0, 7)))
    cage.embed(shown)
    b.cloth("balloon", ub.TriMesh(*ub.Sphere(0.1).triangles(8)), Bars(), 900, pressure=1e3 / 7, start=1.01 * ub.Sphere(0.1).triangles(8)[0])
    b.rod("ring", [(np.cos(a), np.sin(a), 9) for a in np.arange(12) * np.pi / 6], 0.01, Bars(), 1100, closed=True)
    flat = ub.TriMesh([(0, 0, 5), (1, 0, 5), (0, 1, 5)], [(0, 1, 2)], flat=[(0, 0), (1, 0.1), (0, 0.9)])
    sheet = b.cloth("sheet", flat, Bars(), 470)
    b.prescribe(sheet.vertices[0], ub.Table((0.0, 0.5, 1.0), ((0, 0, 5), (0, 0.1, 5), (0, -0.0, 5 + 1 / 3))))
    b.attach(sheet.vertices[[1, 2]], "hull", at=[(1 / 3, 0, 0), (0, 1 / 7, 0)])
    return b


def test_everything_survives_its_file_to_the_last_bit(tmp_path, faults):
    round_trip(everything().build(), tmp_path)
    text = (tmp_path / "first.json").read_text("utf-8")
    assert faults(text) == []
    data = json.loads(text)
    assert [d["name"] for d in data["deformables"]] == ["flag", "rope", "block", "lid", "cage", "balloon", "ring", "sheet"]


def test_a_model_without_any_says_nothing_of_them():
    text = scene_to_json(ub.scenes.make("pendulum"))
    assert "deformables" not in json.loads(text) and "attachments" not in json.loads(text)


def test_builders_save_and_load_them(tmp_path):
    path = everything().save(tmp_path / "all.json")
    b = ub.Builder.load(path)
    assert list(b.deformables) == list(everything().deformables) and b.prescribed["lid.prescribe.0"].motion is rise
    b.include(path, prefix="again_", at=ub.Pose((0, 0, 20), (1, 0, 0.1, 0)))
    round_trip(b.build(), tmp_path)  # motions seen from elsewhere are written, too


def test_functions_without_a_name_become_tables(tmp_path):
    """z = t, which a table's cubics hold exactly."""
    b = ub.Builder()
    lid = b.cloth("lid", ub.TriMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), Bars(), 1)
    b.prescribe(lid.vertices[:2], lambda t: [(0, 0, t), (1, 0, -2 * t)])
    with pytest.raises(ub.ModelError, match="prescribed 'lid.prescribe.0' holds a lambda or local function.*tabulate="):
        save_json(b.build(), tmp_path / "x.json")
    again = round_trip(b.build(), tmp_path, tabulate=0.1)
    np.testing.assert_allclose(again.model.prescribed[0].motion(0.37), [(0, 0, 0.37), (1, 0, -0.74)], atol=1e-14)


def test_people_may_write_less(tmp_path, faults):
    """Bare lists, and nothing that has a default."""
    text = json.dumps({
        "unibody": {"scene": 1},
        "deformables": [{
            "name": "flag", "kind": "cloth", "density": 470, "material": {"type": "soft_parts:Bars"},
            "mesh": {"type": "TriMesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], "faces": [[0, 1, 2], [1, 3, 2]]},
        }],
        "attachments": [{"name": "pin", "deformable": "flag", "vertices": [0, 2], "body": "world"}],
        "prescribed": [{"name": "held", "deformable": "flag", "vertices": [1]}],
        "elements": [{"name": "band", "type": "SpringDamper", "a": {"body": "flag.vertex[3]"}, "b": {"body": "world"}, "stiffness": 4}],
    })  # fmt: skip
    assert faults(text) == []
    model = scene_from_json(text, "x", trust=("soft_parts",)).model
    assert model.free_vertices.tolist() == [3] and model.attachments[0].body == 0 and model.prescribed[0].motion is None


def changed(change):
    data = json.loads(scene_to_json(ub.scenes.Scene(everything().build(), 1.0, 1e-3)))
    change(data)
    return json.dumps(data)


def put(what, k, **fields):
    return lambda data: data[what][k].update(fields)


@pytest.mark.parametrize(("change", "said"), [
    (put("deformables", 0, kind="carpet"), r"deformables\[0\] 'flag': kind 'carpet' is unknown; give one of soft, cloth, rod"),
    (put("deformables", 0, kind="rod"), r"deformables\[0\] 'flag' mesh: type: 'TriMesh'|mesh: type 'TriMesh' is unknown"),
    (put("deformables", 0, densty=3), r"deformables\[0\] 'flag': key 'densty' is unknown; did you mean 'density'"),
    (put("deformables", 0, density=-3), r"deformables\[0\]: cloth 'flag' density: -3 is not positive"),
    (put("deformables", 0, material={"type": "Box", "sides": [1, 1, 1]}), r"deformables\[0\]: cloth .flag.: material Box"),
    (put("deformables", 1, name="flag"), r"deformables\[1\]: rod 'flag' exists already"),
    (put("deformables", 1, pressure=3.0), r"pressure is for cloth that is closed, and this is a rod"),
    (put("deformables", 3, mesh={"type": "TriMesh", "vertices": [[0, 0, 0]] * 3, "faces": [[0, 1, 2]]}), r"faces\[0\] .* has no area"),
    (put("attachments", 0, deformable="flog"), r"attachments\[0\] 'flag.attach.0': deformable 'flog' is unknown; did you mean 'flag'"),
    (put("attachments", 0, vertices=[0, 99]), r"vertices \[0, 99\] are not all vertices of 'flag'; give a list of 0 … 8"),
    (put("attachments", 0, vertices=[0.5]), r"vertices \[0.5\] are not all vertices"),
    (put("attachments", 0, body="hall"), r"body 'hall' is unknown; did you mean 'hull'"),
    (put("attachments", 0, points=["lid.vertex[0]"]), r"body 'hull' and points .*; give the name of a body, or a list"),
    (put("attachments", 2, points=["flag"]), r"'flag' is no point of a deformable"),
    (put("attachments", 2, points=["flag.face[99](1, 0, 0)"]), r"'flag' has no face 99"),
    (put("attachments", 1, name="flag.attach.0"), r"attachment 'flag.attach.0' exists already"),
    (put("prescribed", 0, motion=3), r"motion 3 is no function of time"),
    (put("prescribed", 0, vertices=[]), r"vertices \[\] are not all vertices of 'lid'"),
    (lambda data: data.update(attachments={}), r"attachments: \{\} is not a list"),
    (lambda data: data["elements"][0].update(a={"body": "block.vertex[999]"}), r"'block' has no vertex 999"),
])  # fmt: skip
def test_what_is_wrong_in_a_file_is_refused_with_its_place(change, said):
    with pytest.raises(ub.ModelError, match=said) as caught:
        scene_from_json(changed(change), "scene 'x'", trust=("soft_parts",))
    assert "\n" not in str(caught.value) and str(caught.value).startswith("scene 'x'")


def test_materials_of_modules_that_are_not_trusted_are_refused():
    text = changed(put("deformables", 0, material={"type": "some_module:Silk"}))
    with pytest.raises(ub.ModelError, match="some_module"):
        scene_from_json(text, "scene 'x'")


