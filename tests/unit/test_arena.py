"""Memory that is given back stays with the process: told by its page faults, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import resource
import numpy as np
from unibody.arena import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        parts = [np.zeros(10 * 2**17) for _ in range(10)]
        for part in parts:
            part[::512] = 1.0
        del parts, part
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

free = faults()
kept = keep_freed_memory()
faults()
print(int(kept), free, faults())
"""
PAGES = 10 * 10 * 10 * 256
"""Of 10 rounds of 10 arrays of 10 MB: 4 kB each."""


def counted(**environment: str) -> tuple[int, int, int]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=clean | environment, capture_output=True, text=True, check=True)
    kept, before, after = map(int, done.stdout.split())
    return kept, before, after


def test_memory_that_is_given_back_is_kept_where_the_library_can():
    kept, before, after = counted()
    if not kept:
        pytest.skip("the C library is not glibc")
    assert after < 0.01 * PAGES
    assert before == 0 or after < 0.1 * before


def test_what_the_environment_says_is_left_alone():
    assert counted(MALLOC_TRIM_THRESHOLD_="131072")[0] == 0
