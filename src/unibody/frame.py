"""Frames: addresses of kernels and of arrays in one array of whole numbers, so that a kernel takes one argument and not sixty.

Slots are numbered by constants of the module that owns the kernel: first those of kernels, one number each, then those of arrays, address
and size. Compiled code calls `Prototype(frame[SLOT], …)` and takes `floats_in(frame, SLOT)` or `ints_in(frame, SLOT)`; Python points slots
at arrays, which the frame keeps alive. Unlike the arrays of an arena, these may belong to different owners and be replaced by larger ones.
"""

from __future__ import annotations

import numpy as np

from unibody.kernel import Floats, Ints, Kernel, device, floats_at, ints_at


@device
def floats_in(frame, slot) -> Floats:
    """The array of floats in a slot; `slot` is its place in the frame."""
    return floats_at(frame[slot], frame[slot + 1])


@device
def ints_in(frame, slot) -> Ints:
    """The array of whole numbers in a slot."""
    return ints_at(frame[slot], frame[slot + 1])


class CallFrame:
    """Kernels in the slots 0 … kernels − 1, arrays at the even places behind them."""

    def __init__(self, kernels: int, arrays: int):
        self.flat = np.zeros(kernels + 2 * arrays, np.int64)
        self._kept: dict[int, np.ndarray] = {}

    def call(self, slot: int, kernel: Kernel) -> None:
        """Put the address of a kernel in a slot."""
        self.flat[slot] = kernel.address

    def point(self, slot: int, array: np.ndarray) -> None:
        """Point a slot at a contiguous array of float64 or int64; nothing to do where it is the one that is there."""
        if self._kept.get(slot) is not array:
            assert array.flags.c_contiguous and array.itemsize == 8
            self._kept[slot] = array
            self.flat[slot], self.flat[slot + 1] = array.ctypes.data, array.size
