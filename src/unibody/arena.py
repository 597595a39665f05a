"""Arenas: many named arrays in one flat array, so that a compiled function takes three arguments and not thirty.

A layout is two numbers (start, end) per slot; slots are numbered by constants of the module that owns the kernels. Compiled code
takes a slot with `part(arena, layout, SLOT)`, Python with `Arena.view(SLOT)`: the same memory.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from unibody.errors import ModelError
from unibody.kernel import slot_of

part = slot_of
"""`part(arena, layout, slot)`: the slot of an arena."""


class Arena:
    """A flat array of one type with numbered slots, filled in once, in order."""

    def __init__(self, sizes_or_arrays: list[Any], dtype: Any, frozen: bool = False):
        arrays = [np.zeros(a, dtype) if isinstance(a, int) else np.asarray(a, dtype).ravel() for a in sizes_or_arrays]
        ends = np.cumsum([0] + [a.size for a in arrays])
        self.layout = np.stack([ends[:-1], ends[1:]], axis=1).ravel().astype(np.int64)
        self.flat = np.concatenate(arrays) if arrays else np.zeros(0, dtype)
        self.flat.flags.writeable = not frozen

    def view(self, slot: int) -> np.ndarray:
        """The slot's own memory."""
        return self.flat[self.layout[2 * slot] : self.layout[2 * slot + 1]]


class HoldsAddresses:
    """What holds addresses of compiled code and of its own arrays: a copy of it, or its twin in another process, would point nowhere."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        remedy = "copy the Simulation, the Model or the bound solver, which bind anew"
        raise ModelError(f"{type(self).__name__} holds addresses of this process and can be neither copied nor pickled; {remedy}")


MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1
"""Names of two settings of glibc's `mallopt`."""
LARGEST, KEPT = 1 << 25, 1 << 30
"""[bytes] Arrays up to the first, which is the most that glibc allows, come from memory of which it gives none back below the second."""


def keep_freed_memory() -> bool:
    """Ask the C library to keep the memory that arrays give back, for the next ones; whether it will.

    Steps that make arrays of many megabytes anew otherwise get every page of them from the operating system, cleared, each time: a third of
    the time of piles of a hundred and more boxes. It holds for the process, which stays as large as it ever was, up to KEPT; where the
    environment says something of its own (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, GLIBC_TUNABLES), or the C library is another
    one, nothing is changed.
    """
    if any(name in os.environ for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")):
        return False
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018  (others have a mallopt with other numbers)
        return bool(library.mallopt(MMAP_THRESHOLD, LARGEST)) and bool(library.mallopt(TRIM_THRESHOLD, KEPT))
    except (OSError, AttributeError, TypeError):
        return False
