"""Scenes are found by name, take parameters as values or strings, and say what is wrong in one line."""

from __future__ import annotations

from typing import Literal

import pytest

from unibody import scenes
from unibody.errors import ModelError
from unibody.scenes.base import Parameter, Scene, SceneEntry, scene

EXPECTED = {
    "bennett", "binary-tree", "bricard", "bridge", "cable-toy", "catenary", "closed-ring", "conical-pendulum", "double-pendulum",
    "four-bar", "hagfish", "hand", "heavy-chain", "n-four-bar", "peaucellier", "pendulum", "precessing-top", "serial-arm", "slider-crank",
    "spatial-four-bar", "spinning-body", "stiff-chain", "umbrella",
}  # fmt: skip


@pytest.fixture
def echo():
    """A scene that returns its parameters instead of a model, and leaves no trace."""

    @scene("echo", summary="for this test")
    def function(
        *,
        count: int = 3,
        size: float = 1.0,
        flag: bool = False,
        kind: Literal["a", "b"] = "a",
        vector: tuple[float, float, float] = (1.0, 2.0, 3.0),
        numbers: tuple[int, ...] = (1,),
        maybe: float | None = None,
        word: str = "w",
    ) -> Scene:
        return Scene((count, size, flag, kind, vector, numbers, maybe, word), 1.0, 0.1)

    yield function
    scenes.base._ENTRIES.pop("echo")


def test_all_families_are_found_without_a_list():
    assert set(scenes.names()) >= EXPECTED
    assert scenes.names() == sorted(scenes.names())


def test_every_scene_has_a_summary_and_documented_typed_parameters():
    for name in EXPECTED:
        entry = scenes.get(name)
        assert entry.summary and "\n" not in entry.summary
        assert entry.function.__doc__
        assert all(parameter.kind_name for parameter in entry.parameters)


def test_parameters_from_a_command_line_are_converted_by_their_annotation(echo):
    given = {
        "count": "5",
        "size": "2",
        "flag": "yes",
        "kind": "b",
        "vector": "1,2,3.5",
        "numbers": "(4, 5)",
        "maybe": "0.5",
        "word": "7",
    }
    assert scenes.build("echo", **given) == (5, 2.0, True, "b", (1.0, 2.0, 3.5), (4, 5), 0.5, "7")
    assert scenes.build("echo", maybe="none", flag="0", count=4.0, vector=[1, 2, 3]) == (
        4,
        1.0,
        False,
        "a",
        (1.0, 2.0, 3.0),
        (1,),
        None,
        "w",
    )


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"count": "2.5"}, r"count='2.5' is not int; give for example count=3"),
        ({"count": 2.5}, r"count=2.5 is not int"),
        ({"size": "big"}, r"size='big' is not float; give for example size=1.0"),
        ({"size": True}, r"size=True is not float"),
        ({"flag": "maybe"}, r"flag='maybe' is not bool"),
        ({"kind": "c"}, r"kind='c' is not a\|b; give for example kind=a"),
        ({"vector": "1,2"}, r"vector='1,2' is not .*; give for example vector=1.0,2.0,3.0"),
        ({"maybe": "x"}, r"maybe='x' is not"),
        ({"cuont": 1}, r"no parameter 'cuont'; did you mean 'count'\?"),
        ({"zzz": 1}, r"no parameter 'zzz'; parameters are count, size"),
    ],
)
def test_bad_parameters_are_refused_naming_scene_value_and_remedy(echo, given, complaint):
    with pytest.raises(ModelError, match=rf"^scene 'echo': {complaint}") as caught:
        scenes.build("echo", **given)
    assert "\n" not in str(caught.value)


def test_unknown_scene_names_its_neighbours_in_one_line():
    with pytest.raises(ModelError, match=r"^no scene 'pendulm'; did you mean 'pendulum'") as caught:
        scenes.get("pendulm")
    assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match=r"^no scene 'xyzzy'; scenes are arch, bennett, billiards"):
        scenes.build("xyzzy")


def test_scene_functions_must_have_typed_keyword_parameters_with_defaults():
    with pytest.raises(TypeError, match="parameter 'n' must be keyword-only"):

        @scene("bad", summary="")
        def positional(n: int = 1) -> Scene: ...


def test_a_name_is_taken_once():
    def elsewhere() -> Scene: ...

    elsewhere.__module__ = "somewhere.else"
    with pytest.raises(ModelError, match="scene 'pendulum' exists already"):
        scenes.get("pendulum")
        scene("pendulum", summary="")(elsewhere)


def test_entries_show_their_parameters():
    entry = scenes.get("serial-arm")
    assert isinstance(entry, SceneEntry)
    assert Parameter("n", int, 10) in entry.parameters
    assert {p.name: p.kind_name for p in entry.parameters}["base"] == "fixed|free"
