"""Arenas and frames: many named arrays in one flat array, so that a compiled function takes three arguments and not thirty.

A layout is two numbers (start, end) per slot; slots are numbered by constants of the module that owns the kernels. Compiled code
takes a slot with `part(arena, layout, SLOT)`, Python with `Arena.view(SLOT)`: the same memory.

A bound system has three arenas, integers, constants and work, under one layout (`Arenas`). What may stand in them is declared slot by slot,
with a name and a meaning, in a `SlotBlock`. A block that extends another is numbered behind it: a new system declares slots of its own
beside its kernels and edits nothing. Numbers depend on the blocks that are extended and on nothing else, so that compiled code, which has
them as constants, can be kept. Two blocks that extend the same one use the same numbers, in different systems: so a number knows its block
(`SlotNumber`), and a system refuses those that are not of its own.

Where arrays have several owners and may grow, a *frame* (`CallFrame`) holds addresses: of the kernels to call and of the arrays to read, in
one array of whole numbers, so that a kernel takes one argument and not sixty. Its slots are constants of the module that owns the kernel:
first those of kernels, one number each, then those of arrays, address and size. Compiled code calls `Prototype(frame[SLOT], …)` and takes
`floats_in(frame, SLOT)` or `ints_in(frame, SLOT)`; Python points slots at arrays, which the frame keeps alive.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from unibody.errors import ModelError
from unibody.kernel import Floats, Ints, Kernel, device, floats_at, ints_at, slot_of

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


INTEGERS, CONSTANTS, WORK = range(3)
"""The arenas of a system: what stays (frozen), numbers that seldom change, and what every evaluation writes."""


class Slot(NamedTuple):
    """What a number of a layout stands for."""

    name: str
    arena: int
    meaning: str


class SlotNumber(int):
    """A whole number, for kernels as for people, that knows the block that declares it."""

    block: SlotBlock


class SlotBlock:
    """The slots of a kind of system, behind those of the block that it extends.

    >>> shared = SlotBlock("shared")
    >>> POSES = shared.work("POSES", "(n, 12) [m]")
    >>> own = SlotBlock("own", shared)
    >>> GAINS = own.constants("GAINS", "(2,) [1/s]")
    >>> POSES, GAINS, own
    (0, 1, SlotBlock own: POSES, GAINS)
    """

    __slots__ = ("_extended", "family", "name", "numbers", "slots")  # declared once, shared by all bound systems

    def __init__(self, name: str, extends: SlotBlock | None = None):
        self.name, self._extended = name, False
        self.family: tuple[SlotBlock, ...] = (self,)
        """The block and those that it extends, itself first."""
        self.slots: list[Slot] = []
        self.numbers: list[SlotNumber] = []
        """Those that it declares itself."""
        if extends is not None:
            extends._extended = True
            self.family += extends.family
            self.slots += extends.slots

    def integers(self, name: str, meaning: str) -> SlotNumber:
        """Declare a slot of whole numbers that stay as they are: its number."""
        return self._declare(Slot(name, INTEGERS, meaning))

    def constants(self, name: str, meaning: str) -> SlotNumber:
        """Declare a slot of numbers that kernels only read: its number."""
        return self._declare(Slot(name, CONSTANTS, meaning))

    def work(self, name: str, meaning: str) -> SlotNumber:
        """Declare a slot that kernels write: its number."""
        return self._declare(Slot(name, WORK, meaning))

    def _declare(self, slot: Slot) -> SlotNumber:
        if self._extended or any(slot.name == known.name for known in self.slots):
            why = f"block '{self.name}' is extended already" if self._extended else f"block '{self.name}' has it"
            raise ModelError(f"slot {slot.name}: {why}; declare it in a block of its own, SlotBlock(…, extends)")
        number = SlotNumber(len(self.slots))
        number.block = self
        self.slots.append(slot)
        self.numbers.append(number)
        return number

    def own(self, number: int) -> SlotNumber:
        """The number, if it is a slot of this block or of one that it extends."""
        if isinstance(number, SlotNumber) and number.block in self.family:
            return number
        if isinstance(number, SlotNumber):
            stands = f"slot {number.block.slots[number].name} is of block '{number.block.name}'"
            raise ModelError(f"{stands}, whose numbers mean other arrays in block '{self.name}'; use slots of {self.told()}")
        raise ModelError(f"slot {number}: a number alone does not say of which block; use slots of {self.told()}")

    def told(self) -> str:
        """The names of the family, for errors."""
        return " or ".join(f"'{block.name}'" for block in self.family)

    def __repr__(self) -> str:
        return f"SlotBlock {self.name}: {', '.join(slot.name for slot in self.slots)}"


class Arenas:
    """The arrays of a bound system, by the slots of a block; a slot is given as its numbers, or as how many zeros, and is empty if it is
    not given."""

    def __init__(self, block: SlotBlock, given: Mapping[int, Any]):
        self.block, count = block, len(block.slots)
        given = {block.own(slot): value for slot, value in given.items()}
        layout, flat = np.zeros((count, 2), np.int64), []
        for arena, dtype in ((INTEGERS, np.int64), (CONSTANTS, np.float64), (WORK, np.float64)):
            mine = [k for k, slot in enumerate(block.slots) if slot.arena == arena]
            made = Arena([given.get(k, 0) for k in mine], dtype, frozen=arena == INTEGERS)
            layout[mine] = made.layout.reshape(-1, 2)
            flat.append(made.flat)
        self.layout = layout.ravel()
        self.layout.flags.writeable = False
        self.ints, self.constants, self.work = flat
        self._views: dict[int, np.ndarray] = {}

    def view(self, slot: int) -> np.ndarray:
        """The slot's own memory."""
        found = self._views.get(id(slot))  # blocks keep their numbers, and numbers of siblings are equal
        if found is None:
            arena = (self.ints, self.constants, self.work)[self.block.slots[self.block.own(slot)].arena]
            found = self._views[id(slot)] = arena[self.layout[2 * slot] : self.layout[2 * slot + 1]]
        return found

    def __repr__(self) -> str:
        """Every slot that is not empty: its name, how many numbers, and what they mean."""
        sizes = np.diff(self.layout.reshape(-1, 2), axis=1).ravel()
        lines = [f"  {slot.name:20}{size:8}  {slot.meaning}" for slot, size in zip(self.block.slots, sizes, strict=True) if size]
        return "\n".join([f"Arenas of {self.block.name}:", *lines])


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
