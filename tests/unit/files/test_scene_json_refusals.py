"""What is wrong with a scene file is told in one line, with the file, the place in it and the remedy; nothing is ignored."""

from __future__ import annotations

import copy
import json

import pytest

import unibody as ub
from unibody.files import load_json, save_json
from unibody.files.scene_json import scene_from_json, scene_to_json

GOOD = {
    "unibody": {"scene": 1},
    "bodies": [
        {"name": "upper", "mass": 1, "inertia": [1, 1, 1]},
        {"name": "lower", "shape": {"type": "Mesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                                    "faces": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]}},
    ],
    "joints": [
        {"name": "shoulder", "type": "Ball", "parent": "world", "child": "upper"},
        {"name": "elbow", "type": "Revolute", "axis": [0, 1, 0], "parent": "upper", "child": "lower"},
    ],
    "elements": [{"name": "s", "type": "SpringDamper", "a": {"body": "lower"}, "b": {"body": "world", "p": [0, 0, 3]}, "stiffness": 1}],
}  # fmt: skip


def changed(path: str, value: object) -> str:
    """GOOD with something else at `bodies.0.mass`; … means: without it."""
    data = copy.deepcopy(GOOD)
    at: object = data
    *way, last = (int(piece) if piece.isdigit() else piece for piece in path.split("."))
    for piece in way:
        at = at[piece]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return json.dumps(data)


CHANGES = [
    ("joints.1.axsi", [0, 0, 1], r"joints\[1\] 'elbow': key 'axsi' is unknown; did you mean 'axis'\?"),
    ("joints.1.type", "Revolut", r"joints\[1\] 'elbow': type 'Revolut' is unknown; did you mean 'Revolute'"),
    ("joints.1.type", "Box", r"joints\[1\] 'elbow': type 'Box' is unknown"),
    ("joints.1.type", ..., r"joints\[1\] 'elbow': no 'type'"),
    ("joints.1.type", 5, r"joints\[1\] 'elbow': type 5"),
    ("joints.1.parent", "uper", r"joints\[1\]: joint 'elbow': body 'uper' is unknown; did you mean 'upper'"),
    ("joints.1.parent", ["upper"], r"joints\[1\]: joint 'elbow' parent"),
    ("joints.1.child", ..., r"joints\[1\] 'elbow': no 'child'"),
    ("joints.1.name", ..., r"joints\[1\]: no 'name'"),
    ("joints.1.name", 3, r"joints\[1\]: joint name 3"),
    ("joints.1.axis", [0, 0, 0], r"joints\[1\] 'elbow': .*no direction"),
    ("joints.1.axis", [0, 0], r"joints\[1\] 'elbow': .*give 3 numbers"),
    ("joints.1.axis", {"turn": 1}, r"joints\[1\] 'elbow' axis: .*'turn'"),
    ("joints.1.q", ["0.5"], r"joints\[1\] 'elbow' q: '0.5' is not a number"),
    ("joints.1.q", [0.5, 0.5], r"joints\[1\]: joint 'elbow' q"),
    ("joints.1.q", ["inf"], r"joints\[1\]: joint 'elbow' q: .*finite"),
    ("joints.1.q", True, r"joints\[1\] 'elbow' q: True is not a number"),
    ("joints.1.X_PF", {"q": [1, 0, 0, 0]}, r"joints\[1\] 'elbow' X_PF: key 'q' is unknown"),
    ("joints.1.X_PF", {"wxyz": [0, 0, 0, 0]}, r"joints\[1\] 'elbow' X_PF: .*no direction"),
    ("joints.1.X_PF", [0, 0, 1], r"joints\[1\] 'elbow' X_PF: .* is not an object"),
    ("joints.1.armature", -1, r"joints\[1\]: joint 'elbow' armature"),
    ("joints.1.limits", [1], r"joints\[1\]: joint 'elbow' limits"),
    ("joints", {}, r"joints: {} is not a list"),
    ("joints.1", "elbow", r"joints\[1\] 'elbow' is not an object"),
    ("bodies.0.mas", 1, r"bodies\[0\] 'upper': key 'mas' is unknown; did you mean 'mass'"),
    ("bodies.0.mass", -1, r"bodies\[0\]: body 'upper' mass: -1"),
    ("bodies.0.mass", "heavy", r"bodies\[0\] 'upper' mass: 'heavy' is not a number"),
    ("bodies.0.inertia", [1, 1], r"bodies\[0\]: body 'upper' inertia"),
    ("bodies.0.inertia", [1, 1, 5], r"bodies\[0\]: body 'upper': no body has the principal inertias"),
    ("bodies.0.inertia", ..., r"bodies\[0\]: body 'upper': no inertia"),
    ("bodies.0.density", 5, r"bodies\[0\] 'upper': density beside"),
    ("bodies.0.kind", "soft", r"bodies\[0\]: body 'upper': kind 'soft'"),
    ("bodies.0.kind", ["soft"], r"bodies\[0\]: body 'upper': kind"),
    ("bodies.0.name", "lower", r"bodies\[1\]: body 'lower' exists already"),
    ("bodies.0.name", ..., r"bodies\[0\]: no 'name'"),
    ("bodies.0.motion", 3, r"bodies\[0\] 'upper': motion 3 is not a function"),
    ("bodies.1.shapes", [], r"bodies\[1\] 'lower': both shape and shapes"),
    ("bodies.1.shape", "Box", r"bodies\[1\] 'lower' shapes\[0\]: 'Box' is no shape"),
    ("bodies.1.shape.visible", "yes", r"shapes\[0\]: visible 'yes' is neither true nor false"),
    ("bodies.1.shape.colour", [2, 0, 0], r"shapes\[0\]: Placed: colour"),
    ("bodies.1.shape.faces", [[0, 1, 2]], r"shapes\[0\]: Mesh"),
    ("bodies.1.shape.vertices", {"base64": "AAAA", "dtype": "float64", "shape": [1, 3]}, r"shapes\[0\] vertices: no array of float64"),
    ("bodies.1.shape.vertices", {"base64": "!", "dtype": "float64", "shape": [1, 3]}, r"shapes\[0\] vertices: no array"),
    ("bodies.1.shape.vertices", {"base64": "", "dtype": "float64", "shape": [-1, 3]}, r"shapes\[0\] vertices: no array.*shape"),
    ("bodies.1.shape.vertices", {"array": [1], "dtype": "object"}, r"shapes\[0\] vertices: dtype 'object' is unknown"),
    ("elements.0.stifness", 1, r"elements\[0\] 's': key 'stifness' is unknown; did you mean 'stiffness'"),
    ("elements.0.a", ..., r"elements\[0\] 's': no 'a', which SpringDamper needs"),
    ("elements.0.a", "lower", r"elements\[0\] 's': SpringDamper a: 'lower' is not a point"),
    ("elements.0.a", {"body": 4}, r"elements\[0\] 's' a: body 4 is no name"),
    ("elements.0.a", {"body": "lowr"}, r"'s': body 'lowr' is unknown; did you mean 'lower'"),
    ("elements.0.type", "Revolute", r"elements\[0\] 's': type 'Revolute' is unknown"),
    ("elements.0.stiffness", {"function": "math:sin"}, r"elements\[0\] 's': SpringDamper stiffness"),
    ("elements.0.stiffness", {"function": 4}, r"elements\[0\] 's' stiffness: 4 names no code"),
    ("elements.0.stiffness", {"times": 4, "values": []}, r"elements\[0\] 's' stiffness: 4 is not a list"),
    ("elements.0.stiffness", {"dict": [[[], 1], 2]}, r"elements\[0\] 's' stiffness: no dictionary"),
    ("world", {"gravty": [0, 0, 1]}, r"world: key 'gravty' is unknown; did you mean 'gravity'"),
    ("world", {"gravity": [0, 1]}, r"world: Gravity g"),
    ("world", {"planar": 1}, r"world: planar 1 is neither"),
    ("world", {"normal": [0, 0, 1]}, r"world: a normal in a world that is not planar"),
    ("world", {"planar": True, "normal": [0, 0, 0]}, r"world: Builder normal"),
    ("unibody", ..., r'no "unibody"'),
    ("unibody", {"scene": 2}, r"scene format 2 is unknown, this version reads 1; update"),
    ("unibody", {"scene": True}, r"scene format True is unknown"),
    ("unibody", 1, r"unibody: 1 is not an object"),
    ("duration", -1, r"duration: -1 is not positive"),
    ("dt", "fast", r"dt: 'fast' is not a number"),
    ("name", 5, r"name 5 is not a text"),
    ("left_out", "all", r"left_out 'all'"),
    ("keyframes", {"home": {"q": [0], "v": [0]}}, r"keyframes 'home': q is not a list of 5 numbers"),
    ("keyframes", [], r"keyframes: \[\] is not an object"),
    ("boddies", [], r"key 'boddies' is unknown; did you mean 'bodies'"),
]


def test_what_is_changed_below_was_right():
    assert scene_from_json(json.dumps(GOOD), "here").model.nv == 4


@pytest.mark.parametrize(("path", "value", "says"), CHANGES, ids=[f"{p}-{k}" for k, (p, _, _) in enumerate(CHANGES)])
def test_mistake_is_told_with_its_place(path, value, says):
    with pytest.raises(ub.ModelError, match=says) as error:
        scene_from_json(changed(path, value), "scene 'x.json'")
    assert str(error.value).startswith("scene 'x.json'") and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "line 1 column 1: not JSON"),
        (b'{"unibody": {"scene": 1},\n "name" 5}', "line 2 column 9: not JSON"),
        (b'{"unibody": {"scene": 1}, "bodies": [', "line 1 .*not JSON"),
        (b'{"unibody": {"scene": 1}, "duration": NaN}', 'NaN is not JSON; write "inf"'),
        (b'{"unibody": {"scene": 1}, "dt": 1, "dt": 2}', "key 'dt' stands twice"),
        (b"[1, 2]", "is not an object"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b"[" * 200_000, "within each other without end"),
        (b'{"unibody": {"scene": 1}, "dt": ' + b"9" * 5000 + b"}", "not JSON that can be read"),
    ],
)
def test_what_is_no_scene_is_told(text, says, tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(text)
    with pytest.raises(ub.ModelError, match=says) as error:
        load_json(path)
    assert "x.json" in str(error.value) and "\n" not in str(error.value)


def test_values_within_values_end_somewhere():
    deep = json.loads("[" * 60 + "]" * 60)
    with pytest.raises(ub.ModelError, match=r"elements\[0\] 's' stiffness: more than 40 values within each other"):
        scene_from_json(changed("elements.0.stiffness", deep), "here")
    bottomless = changed("keyframes", None).replace("null", "[" * 900 + "]" * 900)
    with pytest.raises(ub.ModelError):
        scene_from_json(bottomless, "here")
    with pytest.raises(ub.ModelError):
        scene_from_json(changed("bodies.0.com", None).replace("null", "[" * 900 + "]" * 900), "here")


JUNK = [
    None, True, -1, 0, "inf", "nan", "", "x", "world", [], {}, [[]], [1, 2], [1, 2, 3], [None], ["a", "b"], {"type": "Box"}, {"p": [1]},
    {"type": "Revolute"}, {"body": "upper"}, {"function": "math:sqrt"}, {"times": [0, 1], "values": [0, 1]}, {"list": [1]}, {"dict": []},
    {"array": [[1]], "dtype": "int64"}, {"array": [], "dtype": "float64"}, {"text": "inf"}, 10**400,
    {"type": "Table", "times": [], "values": 1},
]  # fmt: skip


def places(data, way=()):
    yield way
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(value, (*way, key))


@pytest.mark.parametrize("name", ["four-bar", "catenary", "bridge"])
def test_junk_anywhere_is_taken_or_refused_in_one_line(name, rng):
    scene = ub.scenes.make(name)
    text = scene_to_json(scene)
    refused = 0
    for _ in range(150):
        data = json.loads(text)
        at, way = data, (everywhere := [w for w in places(data) if w])[rng.integers(len(everywhere))]
        for key in way[:-1]:
            at = at[key]
        at[way[-1]] = JUNK[rng.integers(len(JUNK))]
        try:
            scene_from_json(json.dumps(data), "here")
        except ub.ModelError as error:
            assert str(error).startswith("here") and "\n" not in str(error) and len(str(error)) < 1000
            refused += 1
    assert refused > 100


def test_cut_file_is_refused_wherever_it_is_cut(tmp_path):
    whole = save_json(ub.scenes.make("four-bar"), tmp_path / "a.json").read_bytes()
    for end in range(0, len(whole) - 2, 97):
        (tmp_path / "cut.json").write_bytes(whole[:end])
        with pytest.raises(ub.ModelError, match="not JSON"):
            load_json(tmp_path / "cut.json")


def test_missing_file_and_large_file_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ub.ModelError, match="does not exist"):
        load_json(tmp_path / "none.json")
    path = save_json(ub.scenes.make("pendulum"), tmp_path / "a.json")
    monkeypatch.setattr("unibody.files.scene_json.LARGEST", 100)
    with pytest.raises(ub.ModelError, match="bytes, more than the 100"):
        load_json(path)


def test_schema_refuses_mistakes_too(root):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads((root / "docs" / "schema" / "scene-1.json").read_text("utf-8")))
    assert validator.is_valid(GOOD)
    for path in ("joints.1.axsi", "bodies.0.mas", "elements.0.stifness", "boddies"):
        assert not validator.is_valid(json.loads(changed(path, 1))), path
    for path, value in (("joints.1.type", "Revolut"), ("joints.1.child", ...), ("unibody", {"scene": 2}), ("bodies.0.mass", "heavy"),
                        ("elements.0.a", ...), ("bodies.0.kind", "soft"), ("joints.1.q", ["0.5"])):  # fmt: skip
        assert not validator.is_valid(json.loads(changed(path, value))), path
