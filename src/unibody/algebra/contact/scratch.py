"""Room that kernels work in: numbers that mean nothing before a call or after it.

Memory that is asked for anew at every step comes in pages that the system has to clear, which costs more than the sweeps of a large pile;
this stays, and grows where a kernel says that it needs more. Slots (`unibody.arena`) begin at multiples of four numbers.
"""

from __future__ import annotations

import threading

import numpy as np

from unibody.kernel import device

LINE = 8
"""Numbers in a line of the cache."""


def aligned(size: int, dtype: type) -> np.ndarray:
    """So many numbers from the beginning of a line on."""
    whole = np.empty(size + LINE, dtype)
    shift = -(whole.ctypes.data // 8) % LINE
    return whole[shift : shift + size]


class Room(threading.local):
    """What a thread's kernels work in."""

    def __init__(self) -> None:
        self.floats, self.ints = aligned(1024, np.float64), aligned(256, np.int64)

    def have(self, floats: int, ints: int) -> None:
        """Be at least so large."""
        if self.floats.size < floats:
            self.floats = aligned(floats + floats // 4, np.float64)
        if self.ints.size < ints:
            self.ints = aligned(ints + ints // 4, np.int64)


room = Room()


@device
def lay_slot(slot, size, layout_out):
    """The slot comes after the one before."""
    begin = (layout_out[2 * slot - 1] + 3) // 4 * 4 if slot > 0 else 0
    layout_out[2 * slot] = begin
    layout_out[2 * slot + 1] = begin + size
