"""Arenas: many named arrays in one flat array, so that a compiled function takes three arguments and not thirty.

A layout is two numbers (start, end) per slot; slots are numbered by constants of the module that owns the kernels. Compiled code
takes a slot with `part(arena, layout, SLOT)`, Python with `Arena.view(SLOT)`: the same memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
