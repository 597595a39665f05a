"""What goes wrong is said in one line that names the file, the element, the value and the remedy; exit codes tell whose fault it was."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import unibody as ub


def test_failed_simulation_exits_with_1_and_keeps_the_recording(unibody, exploding, tmp_path):
    answer = unibody("run", str(exploding), "-s", "articulated")
    assert answer.code == 1
    assert "FAILED" in answer.out
    assert "t = " in answer.err and "bob" in answer.err and "exploding_spring-failed.npz" in answer.err
    rec = ub.Recording.load(tmp_path / "exploding_spring-failed.npz")
    assert len(rec) >= 1 and np.isfinite(rec.q).all()


def test_failed_simulation_saves_where_asked_and_reports_in_json(unibody, exploding, tmp_path):
    answer = unibody("run", str(exploding), "-s", "articulated", "--out", "mine.npz", "--json")
    assert answer.code == 1 and (tmp_path / "mine.npz").exists()
    data = answer.data  # strict JSON although energies overflowed
    assert data["status"] == "failed" and data["files"]["recording"] == "mine.npz"
    assert data["element"] and data["steps"] < 100


def test_failed_simulation_is_drawn_as_far_as_it_came(unibody, exploding, tmp_path):
    answer = unibody("run", str(exploding), "-s", "articulated", "--picture", "a.png", "--json")
    assert answer.code == 1 and answer.data["files"] == {"recording": "exploding_spring-failed.npz", "picture": "a.png"}
    assert (tmp_path / "a.png").exists()


def test_the_remedy_of_a_stiff_spring_is_the_solver_that_is_chosen_without_one(unibody, exploding):
    assert "is stiff for solver 'articulated'" in (failed := unibody("run", str(exploding), "-s", "articulated")).err
    assert "solver='redmax'" in failed.err and "about dt = " in failed.err
    answer = unibody("run", str(exploding), "--json")
    assert answer.code == 0 and answer.data["solver"] == "redmax" and "is stiff" in answer.data["choice"]
    assert answer.data["notes"][0].startswith("solver 'redmax' chosen: ")


def test_contacts_are_counted(unibody):
    """Five boxes of 4 kg on each other: four corners each, and the weights of 5, 4, 3, 2 and 1 of them."""
    answer = unibody("run", "stack", "--duration", "0.1", "--json").data["contacts"]
    assert answer["end"] == answer["most"] == 20 and answer["mean_normal_force"] == pytest.approx(15 * 4.0 * 9.81, rel=1e-6)
    assert "contacts" in unibody("run", "stack", "--duration", "0.1").out
    assert unibody("run", "pendulum", "--duration", "0.1", "--json").data["contacts"] is None


def test_newcomers_lines_are_told_once(unibody, tmp_path):
    (tmp_path / "ball.py").write_text("import unibody as ub\n\n\ndef build():\n    b = ub.Builder()\n    b.body('ball', ub.Sphere(0.1))\n"
                                      "    return b.build()\n")  # fmt: skip
    answer = unibody("run", "ball.py", "--duration", "5", "--dt", "0.01")
    assert answer.code == 0 and answer.out.count("falls for ever") == 1 and answer.out.count("has fallen") == 1 and answer.err == ""


BALL = "    b.body('ball', ub.Sphere(0.1), X_WB=ub.Pose((0, 0, {height})))\n"
FLOOR, CONTACT = "    b.body('floor', ub.Plane(), kind='static')\n", "    b.add(ub.Contact(friction=0.5))\n"
GEARED = """    for name, at in (('a', 0.2), ('c', 0.0)):
        b.joint(name, ub.Revolute((0, 0, 1)), b.world, b.body(name, ub.Box((0.4, 0.1, 0.1))), q=at)
    b.add(ub.JointCoupling(['a', 'c'], [1.0, -1.0]), name='belt')
"""
MISTAKES = {
    "no floor": (BALL.format(height=1), (), 0, ("'ball' falls for ever", "add a floor", "ub.Plane()")),
    "no contact": (BALL.format(height=1) + FLOOR, (), 0, ("ground 'floor' touches nothing", "ub.Contact(friction=0.5)")),
    "wrong solver": (BALL.format(height=1) + FLOOR + CONTACT, ("-s", "articulated"), 2, ("'articulated' cannot honour", "complementarity")),
    "overlap": (BALL.format(height=0.06) + FLOOR + CONTACT, (), 0, ("begin 0.04 m inside each other", "move them apart")),
    "overlap, barrier": (BALL.format(height=0.06) + FLOOR + CONTACT, ("-s", "barrier"), 2, ("'ball' and 'floor'", "move them apart")),
    "violated start": (GEARED, (), 0, ("start: 'belt' was violated by 0.2 rad", "changed 'a' by 0.1 rad")),
}
"""What a file builds, options of the command, its exit code, and the words of its one line."""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_newcomers_mistake_gets_one_line(mistake, unibody, tmp_path):
    built, options, code, words = MISTAKES[mistake]
    (tmp_path / "mine.py").write_text(f"import unibody as ub\n\n\ndef build():\n    b = ub.Builder()\n{built}    return b.build()\n")
    answer = unibody("run", "mine.py", "--duration", "0.02", *options)
    said = answer.err if code else answer.out
    assert answer.code == code and (answer.out if code else answer.err) == ""
    lines = [line for line in said.splitlines() if any(word in line for word in words)]
    assert len(lines) == 1 and all(word in lines[0] for word in words)


def test_info_gives_every_reason_once_and_the_choice(unibody):
    out = unibody("info", "stack").out
    assert out.count("Contact is unilateral") == 1 and "cannot: articulated, lagrange: 'contact'" in out
    assert "auto takes complementarity" in out


def test_softer_spring_of_the_same_file_runs(unibody, exploding):
    assert unibody("run", str(exploding), "--param", "stiffness=100").code == 0


def test_comparison_with_a_failing_solver_exits_with_1_and_shows_the_rest(unibody, exploding):
    answer = unibody("compare", str(exploding), "--solvers", "articulated,articulated:rule=rk4", "--json")
    assert answer.code == 1
    assert [row["status"] for row in answer.data["solvers"]] == ["failed", "failed"]
    assert len(answer.data["files"]) == 2


# command: words that the line must hold
BAD = {
    ("run", "pendulumm"): ("pendulumm", "did you mean", "'pendulum'"),
    ("run", "pendulum", "--param", "length=long"): ("pendulum", "length", "'long'", "length=1.0"),
    ("run", "pendulum", "--param", "lenght=2"): ("lenght", "'length'"),
    ("run", "pendulum", "--param", "length"): ("length", "key=value"),
    ("run", "pendulum", "--solver", "articulate"): ("articulate", "'articulated'"),
    ("run", "pendulum", "--option", "rule=rk5"): ("rk5", "rk4"),
    ("run", "pendulum", "--option", "rul=rk4"): ("rul", "'rule'"),
    ("run", "pendulum", "--option", "rtol=small"): ("rtol", "small", "float"),
    ("run", "pendulum", "--dt", "-1"): ("dt", "-1", "above 0"),
    ("run", "pendulum", "--dt", "0"): ("dt", "0.0", "above 0"),
    ("run", "pendulum", "--duration", "-1"): ("duration", "-1"),
    ("run", "pendulum", "--duration", "1e300"): ("steps", "shorter time"),
    ("run", "pendulum", "--out", "a.npz", "--csv", "a.npz"): ("a.npz", "--out", "same file"),
    ("run", "pendulum", "--out", "a.txt"): ("a.txt", ".npz"),
    ("run", "pendulum", "--out", "nowhere/a.npz"): ("nowhere", "does not exist"),
    ("run", "pendulum", "--picture", "a.txt"): ("a.txt", ".png"),
    ("run", "missing.py"): ("missing.py", "does not exist", ".urdf"),
    ("compare", "pendulum", "--solvers", "articulated,nothing"): ("nothing", "unknown"),
    ("compare", "nothing-like-it"): ("nothing-like-it", "scenes are"),
    ("info", "pendulum", "--param", "kind=rope"): ("kind", "rope", "point|rod"),
}


@pytest.mark.parametrize("command", BAD, ids=" ".join)
def test_bad_input_exits_with_2_and_one_line(command, unibody):
    answer = unibody(*command)
    assert answer.code == 2 and answer.out == ""
    assert len(answer.err.splitlines()) == 1 and "Traceback" not in answer.err
    for words in BAD[command]:
        assert words in answer.err


def test_bad_input_in_json_is_one_object(unibody):
    answer = unibody("run", "pendulumm", "--json")
    assert answer.code == 2 and answer.data["status"] == "bad input" and "pendulumm" in answer.data["error"]


# contents of scene.py: words that the line must hold
FILES = {
    "x = (": ("scene.py", "line 1"),
    "import no_such_module_here": ("scene.py", "line 1", "no_such_module_here"),
    "def make(): pass": ("scene.py", "no function build()"),
    "def build():\n    return 3": ("scene.py", "int", "return b.build()"),
    "def build(n): pass": ("scene.py", "build() needs n"),
    "def build():\n    return 1 / 0": ("scene.py", "line 2", "ZeroDivisionError"),
    "import unibody as ub\ndef build():\n    b = ub.Builder()\n    b.body('a', mass=-1.0, inertia=(1, 1, 1))\n    return b.build()":
        ("scene.py", "line 4", "'a'", "mass"),
}  # fmt: skip


@pytest.mark.parametrize("source", FILES)
def test_bad_file_is_named_with_line_and_remedy(source, unibody, tmp_path, monkeypatch):
    (tmp_path / "scene.py").write_text(source + "\n")
    monkeypatch.delitem(sys.modules, "scene", raising=False)
    answer = unibody("run", "scene.py")
    assert answer.code == 2 and len(answer.err.splitlines()) == 1
    for words in FILES[source]:
        assert words in answer.err


def test_file_of_another_kind_is_refused(unibody, tmp_path):
    (tmp_path / "robot.step").write_text("ISO-10303-21;")
    answer = unibody("run", "robot.step")
    assert answer.code == 2 and "robot.step" in answer.err and ".urdf" in answer.err and answer.err.count("\n") == 1


def test_picture_without_matplotlib_says_what_to_install(unibody, monkeypatch):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "matplotlib" else found(name, *rest))
    answer = unibody("run", "pendulum", "--picture", "a.png")
    assert answer.code == 2 and "pip install unibody[plot]" in answer.err
