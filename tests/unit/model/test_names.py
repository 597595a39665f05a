"""Names go into lines of text, files and tables: what cannot be printed is refused, and what a spreadsheet would run is made harmless."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import pytest

import unibody as ub
from unibody.errors import readable
from unibody.files import load_json, save_json

UNPRINTABLE = ("\udc80", "arm\ud800", "two\nlines", "ends\r", "tab\tbed", "nul\0", "\x1b[31mred", "bell\x07", "\u2028", "\x85", "\x9b2J")


@pytest.mark.parametrize("name", UNPRINTABLE, ids=ascii)
def test_names_that_no_line_can_hold_are_refused(name):
    b = ub.Builder()
    body = b.body("arm", mass=1.0, inertia=(1, 1, 1))
    for act in (
        lambda: b.body(name, mass=1.0, inertia=(1, 1, 1)), lambda: b.joint(name, ub.Ball(), b.world, body),
        lambda: b.add(ub.BodyDamping(body, linear=1.0), name=name),
    ):  # fmt: skip
        with pytest.raises(ub.ModelError, match="can be printed") as error:
            act()
        str(error.value).encode()
        assert str(error.value).isprintable()
    assert list(b.build()._body_index) == ["world", "arm"]


@pytest.mark.parametrize("name", ["Arm 1", "Überrolle", "腕", "роботрука", "🦾", "a\u200db", "naïve", "x" * 500, "=SUM(A1)", "-", "%s{0}"])
def test_every_other_name_is_fine(name, tmp_path):
    b = ub.Builder()
    b.body(name, mass=1.0, inertia=(1, 1, 1))
    model = b.build()
    assert name in model.summary() and model.body(name) == 1
    rec = ub.Simulation(model, dt=1e-2).run(0.02)
    again = ub.Recording.load(rec.save(tmp_path / "r.npz"))
    assert again.model.bodies[1].name == name


def test_files_with_such_names_are_refused_in_a_line_that_prints(tmp_path):
    b = ub.Builder()
    b.body("arm", mass=1.0, inertia=(1, 1, 1))
    path = tmp_path / "a.json"
    save_json(ub.scenes.Scene(b.build(), 1.0, 1e-2), path)
    text = path.read_text()
    for name in UNPRINTABLE:
        path.write_text(text.replace('"arm"', json.dumps(name)))
        with pytest.raises(ub.ModelError) as error:
            load_json(path)
        str(error.value).encode()
        assert "\n" not in str(error.value)


def test_messages_can_be_printed_whatever_they_quote():
    """Paths that are no UTF-8 come to Python with lone surrogates."""
    for kind in (ub.ModelError, ub.Unsupported, ub.StepFailed):
        assert str(kind("file '\udcff.json' does not exist")) == "file '\\udcff.json' does not exist"
    assert readable("Größe ∞") == "Größe ∞"


def test_the_command_line_survives_a_path_that_is_no_text(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff\xfe.json")
    run = [sys.executable, "-c", "from unibody.cli import main; main()", "info", path]
    done = subprocess.run(run, capture_output=True, timeout=300)
    assert done.returncode == 2 and b"Traceback" not in done.stderr + done.stdout and b"\\udcff" in done.stderr + done.stdout


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    b = ub.Builder()
    names = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "honest"]
    b.body("ground", shape=ub.Plane(), kind="static")
    for k, name in enumerate(names):
        ball = b.body(name, shape=ub.Sphere(0.1), mass=1.0)
        b.joint(f"{name[0]}joint{k}", ub.Free(), b.world, ball, q=(k, 0, 0.1, 1, 0, 0, 0))
    b.add(ub.Contact())
    rec = ub.Simulation(b.build(), "complementarity", 1e-2).run(0.02)
    for path in (rec.to_csv(tmp_path / "r.csv"), rec.contacts_to_csv(tmp_path / "c.csv")):
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        assert len(rows) > 2
        words = [word for row in rows for word in row if not _is_number(word)]
        assert any("cmd" in word for word in words) and any(word.startswith("honest") for word in words)
        assert not any(word.startswith(("=", "+", "-", "@", "\t", "\r")) for word in words)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
