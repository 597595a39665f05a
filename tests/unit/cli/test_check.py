"""`unibody check`: text, JSON, exit codes; and --json of every command."""

from __future__ import annotations

import json

import pytest
from typer.main import get_command

from unibody.cli import app

COMMANDS = get_command(app).commands  # type: ignore[attr-defined]


def test_check_says_limits_and_findings(unibody):
    answer = unibody("check", "spatial-four-bar")
    assert answer.code == 0 and "3 rows repeat" in answer.out and "largest safe dt" in answer.out
    assert all(name in answer.out for name in ("articulated:rule=rk4", "lagrange:rule=euler", "redmax:rule=bdf2"))


def test_check_in_json_gives_numbers(unibody):
    """stiff-chain: the same numbers as in Python."""
    import unibody as ub

    data = unibody("check", "stiff-chain", "--dt", "0.001", "--json").data
    found = ub.check(ub.scenes.build("stiff-chain"), dt=1e-3)
    assert data["ok"] is True and data["dt"] == 1e-3
    limits = {(s["solver"], s["rule"]): s["largest_dt"] for s in data["steps"]}
    assert limits["articulated", "rk4"] == found.safe_step("articulated", "rk4").dt
    assert limits["redmax", "implicit"] is None and next(s for s in data["steps"] if s["rule"] == "implicit")["unlimited"]


def test_errors_give_exit_code_1_and_bad_input_2(unibody, exploding):
    """The spring of `exploding` is stable below 2/√k = 6.3e-5 s."""
    answer = unibody("check", str(exploding), "-s", "articulated")
    assert answer.code == 1 and "unstable at dt = 0.01 s" in answer.out and "6.32e-05 s" in answer.out
    assert unibody("check", str(exploding), "-s", "redmax").code == 0
    assert unibody("check", str(exploding), "-s", "articulated", "--dt", "5e-5").code == 0
    assert unibody("check", "no-such-scene").code == 2
    assert unibody("check", str(exploding), "-s", "no-such-solver").code == 2


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_json(name):
    flags = [flag for parameter in COMMANDS[name].params for flag in parameter.opts]
    assert "--json" in flags


SHORT = ("--duration", "0.02", "--dt", "0.01")
CHEAP = {
    "scenes": [],
    "info": ["pendulum"],
    "run": ["pendulum", *SHORT],
    "compare": ["pendulum", "-s", "articulated", *SHORT],
    "bench": [],
    "check": ["pendulum"],
}


@pytest.mark.parametrize("name", CHEAP)
def test_json_parses_and_nothing_else_is_printed(name, unibody):
    answer = unibody(name, *CHEAP[name], "--json")
    assert answer.code == 0 and json.loads(answer.out) is not None


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"scenes", "bench", "doctor", "verify", "warm-up"}))
def test_bad_input_is_json_too(name, unibody):
    """Every command that takes something refuses what is not there with one object, one line and exit code 2."""
    answer = unibody(name, "no-such-thing", *(["--html", "a.html"] if name == "export" else []), "--json")
    assert answer.code == 2 and answer.data["status"] == "bad input" and answer.err.count("\n") == 1


OPEN = """
import unibody as ub
def build():
    b = ub.Builder()
    turn = ub.Revolute(axis=(0, 1, 0))
    for name, q, v in (("a", 0.2, 3.0), ("c", 0.0, 0.0)):
        b.joint(name, turn, b.world, b.body(name, mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1)), q=q, v=v)
    ball = b.body("ball", mass=1.0, inertia=(1, 1, 1), X_WB=ub.Pose((5, 0, 0.3)))
    b.add(ub.FixedPoint(ball.at(), (5, 0, 0)), name="nail")
    b.add(ub.JointCoupling(["a", "c"], [1.0, -1.0]), name="belt")
    return b.build()
"""


def test_check_shows_and_saves_an_assembled_start(unibody, tmp_path):
    """Equal wheels meet in the middle, what rests follows; the saved scene begins there and nothing is left to do."""
    path = tmp_path / "open.py"
    path.write_text(OPEN)
    answer = unibody("check", str(path), "--assemble", "--out", "start.json")
    assert answer.code == 0
    for words in ("assembled by the least change", "belt", "0.2 rad", "3 rad/s", "0.1 rad", "saved start.json"):
        assert words in answer.out
    data = unibody("check", str(path), "--assemble", "--fixed", "a", "--json").data["assembly"]
    assert data["outcome"] == "converged" and {c["joint"] for c in data["moved"] if c["unit"] == "rad"} == {"c"}
    assert {v["element"] for v in data["violation"]} == {"belt", "nail"} and all(v["after"] < 1e-12 for v in data["violation"])
    again = unibody("check", "start.json", "--assemble", "--json").data
    assert again["assembly"]["outcome"] == "unchanged" and again["ok"]
    assert not {f["code"] for f in again["findings"]} & {"start violates constraints", "start velocity violates constraints"}
    both = unibody("check", str(path), "--assemble", "--fixed", "a", "--fixed", "c", "--json")
    assert both.code == 1 and both.data["assembly"]["outcome"] == "impossible" and both.data["assembly"]["elements"] == ["belt"]
    assert unibody("check", str(path), "--out", "x.json").code == 2


def test_check_says_that_a_consistent_start_is_one(unibody):
    answer = unibody("check", "four-bar", "--assemble")
    assert answer.code == 0 and "start: consistent, nothing moves" in answer.out
