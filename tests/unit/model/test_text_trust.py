"""A file names code only where somebody vouches for it, and imports none by itself."""

from __future__ import annotations

import json
import sys

import pytest

import unibody as ub
from unibody.model.text import model_from_text, model_to_text
from unibody.model.trust import Trust, path_of

MODULE = """
import os
from dataclasses import dataclass
import unibody as ub

def ramp(t):
    return 0.5 * t

class Tool:
    pass

@dataclass(frozen=True)
class Idle(ub.Force):
    stiffness: float = 1.0

    def __post_init__(self):
        if self.stiffness < 0:
            raise ub.ModelError("Idle: stiffness is negative; give 0 or more")

    def apply(self, kinematics, loads):
        pass
"""


def local_ramp(t):
    return 2.0 * t


def with_element(**element):
    return {"bodies": [{"name": "a", "mass": 1, "inertia": [1, 1, 1]}], "joints": [
        {"name": "j", "type": "Revolute", "parent": "world", "child": "a"}], "elements": [element]}  # fmt: skip


def driven(function):
    return with_element(type="Motor", joint="j", kp=1.0, target={"function": function})


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """A module that could be imported, and has not been."""
    (tmp_path / "strange_scene_code.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "strange_scene_code"
    sys.modules.pop("strange_scene_code", None)


@pytest.mark.parametrize("text", [driven("strange_scene_code:ramp"), with_element(type="strange_scene_code:Idle")])
def test_nothing_is_imported_unless_it_is_trusted(stranger, text):
    with pytest.raises(ub.ModelError, match=r"elements\[0\].*nobody vouches for; load with trust=\('strange_scene_code',\)") as error:
        model_from_text(text, "here")
    assert stranger not in sys.modules and "\n" not in str(error.value)
    with pytest.raises(ub.ModelError, match="nobody vouches"):
        model_from_text(text, "here", trust=("strange", "another"))
    assert stranger not in sys.modules
    for trust in ((stranger,), stranger, True):
        assert len(model_from_text(text, "here", trust=trust).forces) == 1


def test_trusted_elements_pass_their_own_checks(stranger):
    with pytest.raises(ub.ModelError, match=r"elements\[0\]: Idle: stiffness is negative"):
        model_from_text(with_element(type=f"{stranger}:Idle", stiffness=-1), "here", trust=(stranger,))
    with pytest.raises(ub.ModelError, match="key '__class__' is unknown"):
        model_from_text(with_element(type=f"{stranger}:Idle", __class__="x"), "here", trust=(stranger,))


NOT_MINE = ["os:getcwd", "sys:exit", "builtins:exec", "subprocess:run", "numpy:load", "unibody.cli:main", "pytest:exit"]
BY_WAYS = ["unibody.scenes.base:importlib.import_module", "unibody.scenes.base:np.load", "math:__loader__.load_module"]


@pytest.mark.parametrize("path", NOT_MINE)
def test_imported_modules_that_are_not_ones_own_are_not_trusted(path):
    __import__(path.partition(":")[0])
    with pytest.raises(ub.ModelError, match="nobody vouches"):
        model_from_text(driven(path), "here")
    with pytest.raises(ub.ModelError, match="nobody vouches"):
        model_from_text(with_element(type=path), "here")


@pytest.mark.parametrize("path", BY_WAYS)
def test_harmless_modules_are_no_way_to_others(path):
    with pytest.raises(ub.ModelError, match="nobody vouches|cannot be imported"):
        model_from_text(driven(path), "here")


def test_trusted_module_is_no_way_to_others(stranger):
    for path in (f"{stranger}:os.getcwd", f"{stranger}:os.system"):
        with pytest.raises(ub.ModelError, match="leads to .* nobody vouches"):
            model_from_text(driven(path), "here", trust=(stranger,))


@pytest.mark.parametrize(
    ("path", "says"),
    [("strange_scene_code:none", "cannot be imported"), ("strange_scene_code", "names no code"), (":x", "names no code"),
     ("strange_scene_code:Idle", "not a function")],
)  # fmt: skip
def test_path_that_leads_nowhere_is_told(stranger, path, says):
    with pytest.raises(ub.ModelError, match=says):
        model_from_text(driven(path), "here", trust=True)


def test_class_that_is_no_element_is_refused(stranger):
    with pytest.raises(ub.ModelError, match="not a class that can stand here"):
        model_from_text(with_element(type=f"{stranger}:Tool"), "here", trust=True)
    with pytest.raises(ub.ModelError, match="not a class that can stand here"):
        model_from_text(with_element(type="Motor", joint="j", kp=1, target={"type": f"{stranger}:Tool"}), "here", trust=True)


def test_trust_wants_names():
    with pytest.raises(ub.ModelError, match="are no modules"):
        Trust((1, 2))


def test_modules_of_ones_own_that_are_imported_need_no_word():
    assert model_from_text(driven(path_of(local_ramp)), "here").signal_functions[0][2] is local_ramp


def test_functions_are_written_only_if_they_are_found_again():
    import math

    assert path_of(math.sin) == "math:sin" and path_of(local_ramp).endswith("test_text_trust:local_ramp")
    assert path_of(lambda t: t) is None and path_of([].append) is None and path_of(Trust().find) is None


def test_recordings_keep_the_same_rule(stranger, tmp_path):
    model = model_from_text(driven(f"{stranger}:ramp"), "here", trust=(stranger,))
    rec = ub.Simulation(model).run(0.002)
    rec.save(tmp_path / "r.npz")
    sim = ub.Simulation(model)
    sim.save(tmp_path / "s.npz")
    sys.modules.pop(stranger)
    for load, file in ((ub.Recording.load, "r.npz"), (ub.Simulation.load, "s.npz")):
        with pytest.raises(ub.ModelError, match="nobody vouches"):
            load(tmp_path / file)
        assert stranger not in sys.modules
    assert len(ub.Recording.load(tmp_path / "r.npz", trust=(stranger,))) == len(rec)
    assert ub.Simulation.load(tmp_path / "s.npz", trust=True).state.t == 0.0


def test_recordings_hold_the_text_of_scene_files(tmp_path):
    import numpy as np

    model = ub.scenes.build("four-bar")
    path = ub.Simulation(model).run(0.002).save(tmp_path / "r.npz")
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    head = json.loads(str(arrays["head"]))
    assert head["format"] == 4 and head["model"] == json.loads(json.dumps(model_to_text(model, strict=True)))
    arrays["head"] = np.array(json.dumps({**head, "format": 1}))
    np.savez(path, **arrays)
    with pytest.raises(ub.ModelError, match="has format 1, this version reads 4; run it again and save that"):
        ub.Recording.load(path)
