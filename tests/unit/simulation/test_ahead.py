"""Kernels that a run will ask for are foreseen from its model and solver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import unibody as ub
from unibody import kernel, kernel_crew
from unibody.kernel import Kernel
from unibody.scenes import build
from unibody.simulation import ahead


def test_every_foreseen_kernel_exists():
    names = json.loads(Path(ahead.__file__).with_name("foreseen.json").read_text())
    assert len(names) > 100 and all(isinstance(kernel_crew.found(name), Kernel) for name in names)


def test_a_kernel_of_an_older_list_is_passed_over(monkeypatch):
    monkeypatch.setattr(ahead, "_needs", lambda: {"unibody.arrays:gone": [frozenset()], "unibody.nothing:such": [frozenset()]})
    assert kernel_crew.missing(ahead.foreseen(frozenset())) == []


def test_features_name_what_there_is():
    found = ahead.features(build("stack"), ub.solvers.Complementarity())
    assert {"solver complementarity", "joint Free", "shape Box", "shape Plane", "Contact"} <= found and "joint Revolute" not in found


PROGRAM = """
import json, unibody as ub
from unibody import kernel
from unibody.simulation import ahead
sim = ub.Simulation("stack")
rec = sim.run(6 * sim.dt, progress=False)
_ = rec.observations, rec.energy.total
asked = {":".join(name.rsplit(".", 1)) for name, _, _ in kernel.compiled}
print(json.dumps([sorted(asked), ahead.foreseen(ahead.features(sim.model, sim.solver))]))
"""


@pytest.mark.skipif(not kernel.JIT, reason="kernels run as plain Python")
def test_what_a_stack_asks_for_is_foreseen():
    """The list is recorded, so it may fall behind the code; when this fails, run tools/make_foreseen.py."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=os.environ | {"UNIBODY_COMPILERS": "0"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    asked, foreseen = map(set, json.loads(done.stdout))
    assert len(asked & foreseen) >= 0.8 * len(asked), asked - foreseen
    assert len(foreseen - asked) <= 0.3 * len(asked), foreseen - asked


def test_it_is_done_once_where_it_is_worth_it_and_said(monkeypatch, capsys):
    made = []
    monkeypatch.setattr(ahead.kernel_crew, "compile_ahead", lambda wanted, crew, tell: made.append((wanted, crew)))
    monkeypatch.setenv("UNIBODY_COMPILERS", "2")
    model, solver = build("stack"), ub.solvers.Complementarity()
    monkeypatch.setattr(ahead.kernel_crew, "missing", lambda names: [(20.0, "unibody.arrays:inner"), (2.0, "unibody.arrays:largest")])
    monkeypatch.setattr(ahead, "_seen", set())
    ahead.compile_for(model, solver)
    ahead.compile_for(model, solver)
    assert [len(wanted) for wanted, _ in made] == ([2] if kernel.JIT else [])
    if kernel.JIT:
        assert "compiling 2 kernels, once: about 22 seconds by 2 processes" in capsys.readouterr().err  # 20 s of the longest, 1.5 to start
    ahead._seen.clear()
    monkeypatch.setattr(ahead.kernel_crew, "missing", lambda names: [(1.0, "unibody.arrays:inner")])
    ahead.compile_for(model, solver)
    ahead._seen.clear()
    monkeypatch.setenv("UNIBODY_COMPILERS", "0")
    monkeypatch.setattr(ahead.kernel_crew, "missing", lambda names: [(20.0, "unibody.arrays:inner")])
    ahead.compile_for(model, solver)
    assert len(made) <= 1 and not capsys.readouterr().err
