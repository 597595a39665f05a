"""Slots and arenas; and memory that is given back stays with the process: told by its page faults, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from unibody.arena import Arenas, SlotBlock, part
from unibody.errors import ModelError

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


def test_blocks_are_numbered_behind_those_that_they_extend():
    """Two blocks that extend the same one use the same numbers, whatever is declared elsewhere."""
    shared = SlotBlock("shared")
    first, second = shared.work("FIRST", "(3,) [m]"), shared.integers("SECOND", "(2,)")
    here, there = SlotBlock("here", shared), SlotBlock("there", shared)
    assert (first, second, here.constants("A", "(1,)"), there.work("B", "(1,)"), here.work("C", "(1,)")) == (0, 1, 2, 2, 3)
    with pytest.raises(ModelError, match="slot LATE: block 'shared' is extended already"):
        shared.work("LATE", "")
    with pytest.raises(ModelError, match="slot A: block 'here' has it"):
        here.work("A", "")


def test_arenas_hold_what_is_given_and_nothing_else():
    """Slots of three arenas, in any order; integers are frozen; a slot that is not given is empty; `repr` says what stands where."""
    block = SlotBlock("a system")
    poses, table, gain, rest = (
        block.work("POSES", "(2, 3) [m]"),
        block.integers("TABLE", "(2,)"),
        block.constants("GAIN", "(1,) [1/s]"),
        block.work("REST", "(k,)"),
    )
    made = Arenas(block, {gain: np.array([2.0]), poses: 6, table: [5, 7]})
    made.view(poses)[:] = np.arange(6.0)
    assert made.work.tolist() == list(range(6)) and made.ints.tolist() == [5, 7] and made.constants.tolist() == [2.0]
    assert part(made.work, made.layout, poses).size == 6 and made.view(rest).size == 0
    assert not made.view(table).flags.writeable and made.view(gain).flags.writeable
    assert "POSES                      6  (2, 3) [m]" in repr(made) and "REST" not in repr(made)
    with pytest.raises(ModelError, match="slot 4: a number alone does not say of which block; use slots of 'a system'"):
        Arenas(block, {4: 1})


def test_a_slot_of_a_sibling_block_is_refused_where_it_is_bound_and_where_it_is_read():
    """The numbers of siblings are equal, the arrays behind them are not."""
    shared = SlotBlock("shared")
    common = shared.work("COMMON", "(1,)")
    here, there = SlotBlock("here", shared), SlotBlock("there", shared)
    mine, foreign = here.work("MINE", "(2,)"), there.work("FOREIGN", "(2,)")
    assert mine == foreign
    made = Arenas(here, {common: 1, mine: 2})
    assert made.view(common).size == 1 and made.view(mine).size == 2
    told = "slot FOREIGN is of block 'there', whose numbers mean other arrays in block 'here'; use slots of 'here' or 'shared'"
    with pytest.raises(ModelError, match=told):
        Arenas(here, {foreign: 2})
    with pytest.raises(ModelError, match=told):
        made.view(foreign)
    # what extends a block has its slots, not the other way round
    with pytest.raises(ModelError, match="slot MINE is of block 'here'"):
        Arenas(shared, {common: 1}).view(mine)
