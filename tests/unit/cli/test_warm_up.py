"""`unibody warm-up` compiles what later processes find, with as many processes as asked for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from unibody import kernel
from unibody.cli import warming

SMALL = ["unibody.joints.base:advance_straight", "unibody.constraints.distance:fill_distances", "unibody.arrays:inner"]
compiled_code = pytest.mark.skipif(not kernel.JIT, reason="kernels run as plain Python")


def test_every_kernel_of_the_package_is_known_once():
    names = warming.kernel_names()
    assert len(names) == len(set(names)) and set(SMALL) <= set(names)
    modules = {name.split(":")[0] for name in names}
    assert {"unibody.solvers.complementarity.compiled_step", "unibody.energies.neo_hookean", "unibody.collision.proximity"} <= modules


@compiled_code
def test_what_is_made_in_several_processes_is_read_by_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setenv("UNIBODY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(warming, "kernel_names", lambda: SMALL)
    told = []
    first = warming.warm_up(jobs=2, tell=lambda done, of, made: told.append((done, of)))
    assert sorted(one.name for one in first) == sorted(SMALL) and not any(one.from_cache for one in first)
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert all(one.from_cache for one in warming.warm_up(jobs=2))
    program = f"from unibody.cli import warming; print([warming.make(n).from_cache for n in {SMALL!r}])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[True, True, True]"


@compiled_code
def test_the_command_says_how_many_are_ready(monkeypatch, capsys):
    from unibody.cli.app import app

    monkeypatch.setattr(warming, "kernel_names", lambda: SMALL)
    app(["warm-up", "--jobs", "1", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["kernels"] == 3


def test_plain_python_has_nothing_to_compile(monkeypatch):
    monkeypatch.setattr(kernel, "JIT", False)
    with pytest.raises(warming.UnibodyError, match="UNIBODY_JIT=0"):
        warming.warm_up()
