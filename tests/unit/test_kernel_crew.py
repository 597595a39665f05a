"""Kernels compiled ahead by several processes: the same kernels, whoever makes them, whatever becomes of the helpers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from unibody import kernel, kernel_crew
from unibody.errors import UnibodyError

pytestmark = pytest.mark.skipif(not kernel.JIT, reason="kernels run as plain Python")

KERNELS = ["unibody.joints.base:advance_straight", "unibody.constraints.distance:fill_distances"]
KERNELS += ["unibody.arrays:inner", "unibody.arrays:largest"]

PROGRAM = """
import json, sys
from unibody import kernel, kernel_crew
exec(sys.argv[3])
wanted = kernel_crew.missing(json.loads(sys.argv[1]))
told = []
lost = kernel_crew.compile_ahead(wanted, int(sys.argv[2]), lambda done, of: told.append((done, of)))
here = [name for name, _, _ in kernel.compiled]
print(json.dumps([len(wanted), sorted(told), lost, here, kernel_crew.missing(json.loads(sys.argv[1]))]))
"""


def crew(cache, processes, before=""):
    """(kernels wanted, what was told, helpers lost, kernels that the process itself compiled, what is still missing)."""
    told = os.environ | {"UNIBODY_CACHE_DIR": str(cache)}
    words = [sys.executable, "-c", PROGRAM, json.dumps(KERNELS), str(processes), before]
    done = subprocess.run(words, env=told, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("processes", [1, 2])
def test_all_kernels_are_in_the_cache_in_the_end(tmp_path, processes):
    wanted, told, lost, here, missing = crew(tmp_path, processes)
    assert wanted == 4 and told == [[k, 4] for k in (1, 2, 3, 4)] and lost == 0 and not missing
    assert len(here) == 4 if processes == 1 else 1 <= len(here) <= 4
    assert crew(tmp_path, processes)[0] == 0  # nothing is left to do


@pytest.mark.parametrize(
    "harm",
    [
        "kernel_crew.HELPER = 'raise SystemExit(3)'",
        "kernel_crew.HELPER = 'import os, sys; sys.stdin.readline(); sys.stdin.readline(); os.kill(os.getpid(), 9)'",
        "kernel_crew.HELPER = 'import sys; sys.stdin.readline(); print(len(sys.stdin.readline()), flush=True); input()'",
        "kernel_crew.PATIENCE = 0.1; kernel_crew.HELPER = 'import time; time.sleep(1000)'",
    ],
    ids=["cannot start", "killed at work", "answers nonsense", "hangs"],
)
def test_a_lost_helper_costs_time_and_nothing_else(tmp_path, harm):
    wanted, told, lost, here, missing = crew(tmp_path, 2, harm)
    assert wanted == 4 and lost == 1 and len(here) == 4 and not missing and told[-1] == [4, 4]


def test_without_a_program_to_start_this_process_does_it(tmp_path):
    wanted, _, lost, here, missing = crew(tmp_path, 2, "sys.executable = '/no/such/program'")
    assert wanted == 4 and lost == 0 and len(here) == 4 and not missing


def test_the_longest_come_first_and_length_counts_what_is_called_once():
    assert kernel.length(kernel_crew.found("unibody.arrays:largest").function) > 0
    from unibody.algebra.contact.newton import newton_in_workspace, newton_small

    assert kernel.length(newton_small.function) > kernel.length(newton_in_workspace.function) > 10_000


def test_the_number_of_processes(monkeypatch):
    monkeypatch.setenv("UNIBODY_COMPILERS", "3")
    assert kernel_crew.processes() == 3
    monkeypatch.setenv("UNIBODY_COMPILERS", "many")
    with pytest.raises(UnibodyError, match="UNIBODY_COMPILERS=many: not a whole number"):
        kernel_crew.processes()
    monkeypatch.delenv("UNIBODY_COMPILERS")
    assert 1 <= kernel_crew.processes() <= kernel_crew.MOST

