"""The tool that follows a step through the rooms: what it counts, and that it sees the steps of today."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import walk


def test_a_change_is_a_call_in_another_room_than_the_call_before() -> None:
    f, g, h, ground = ("a/x.py", "f", False), ("a/y.py", "g", False), ("b/z.py", "h", False), ("kernel.py", "k", False)
    device = ("c/w.py", "d", True)

    def counted(*calls: tuple[str, str, bool]) -> tuple[int, ...]:
        n = walk.measured(list(calls))
        return tuple(n[name] for name in ("files", "ground", "arithmetic", "rooms", "changes", "read once"))

    assert counted(f, g, ground, f) == (3, 1, 0, 1, 0, 0)
    assert counted(f, device, f, h) == (3, 0, 1, 3, 1, 1)
    assert counted(f, h, f, h, g) == (3, 0, 0, 2, 4, 2)  # read once: f h g
    assert counted() == (0, 0, 0, 0, 0, 0)


def test_examples_in_docstrings_hold() -> None:
    failed, tried = doctest.testmod(walk)
    assert tried and not failed


def test_a_goal_that_is_not_met_is_told_and_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = [("a/x.py", "f", False), ("b/z.py", "h", False)]
    monkeypatch.setattr(walk, "traces", lambda checkout, names, first: dict.fromkeys(names, step * 5))
    assert walk.main(["--check"]) == 0 and "not met" not in capsys.readouterr().out
    monkeypatch.setattr(walk, "traces", lambda checkout, names, first: {**dict.fromkeys(names, step), "redmax": step * 20})
    assert walk.main([]) == 0 and walk.main(["--check"]) == 1
    assert capsys.readouterr().out.count("not met") == 2  # one walk, printed twice


def test_walks_go_through_the_method_they_are_named_after(root: Path) -> None:
    """Calls of kernels are seen, devices are known as such, and the second step in complementarity is the one in one kernel."""
    walks = walk.traces(root, list(walk.WALKS), first=False)
    for name, calls in walks.items():
        n = walk.measured(calls)
        assert 3 <= n["rooms"] <= n["files"] and n["rooms"] - 1 <= n["read once"] <= n["changes"], name
        assert calls[0][1] == "Simulation.step"
        assert {device for file, _, device in calls if file == "spatial/devices.py"} <= {True}
        assert any(device for _, _, device in calls) and not calls[0][2]
    files = {name: {file for file, _, _ in calls} for name, calls in walks.items()}
    assert any("spring" in file for file in files["spring in barrier"]) and any("spring" in file for file in files["redmax"])
    for name, seen in files.items():
        assert name == "spring in barrier" or any(file.startswith("collision/") for file in seen) == name.startswith("contact"), name
    first = walk.traces(root, ["contact in complementarity"], first=True)["contact in complementarity"]
    assert set(first) - set(walks["contact in complementarity"])  # what only the long way calls
